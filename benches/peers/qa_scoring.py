"""How long Python takes for what `cargo bench -p planproof-measure` times: the published rules for answers.

The published scripts cannot be installed from a registry, so this does the same work in the same way: regular
expressions and counters of the standard library. ROUGE-L is the package `rouge` itself, where it is
installed (`pip install rouge==1.0.1`).

    python benches/peers/qa_scoring.py
"""

import re
import string
import time
from collections import Counter

ANSWER = "The Aune Bridge, which was designed in 1887 by the engineer Oskar Telling of Karsholt."
RIGHT = "Aune Bridge of Oskar Telling"
SOLUTION = (
    "They have 3 crates of 28 jars, so 3 * 28 = 84 jars. Of these 7 break and 1,200 are bought, so that "
    "84 - 7 + 1,200 = 1,277 jars are left.\n#### 1277"
)
SPELLINGS = ["Aune", "Bridge", "of", "the", "Oskar", "Telling", "(1887)", "at", "Karsholt's", "crossing"]
WORDS = [f"word{number * 7 % 31}" for number in range(40)]


def hotpot_normal(text):
    exclude = set(string.punctuation)
    without = "".join(c for c in text.lower() if c not in exclude)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", without).split())


def trivia_normal(text):
    marks = set(string.punctuation + "\u2018\u2019\u00b4`")
    spaced = "".join(" " if c in marks else c for c in text.replace("_", " ").lower())
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", spaced).split()).strip()


def agreement(answer, right, normal):
    answer, right = normal(answer), normal(right)
    answered, wanted = answer.split(), right.split()
    shared = sum((Counter(answered) & Counter(wanted)).values())
    if shared == 0:
        return answer == right, 0.0
    precision, recall = shared / len(answered), shared / len(wanted)
    return answer == right, 2 * precision * recall / (precision + recall)


def hotpot():
    return agreement(ANSWER, RIGHT, hotpot_normal)


def trivia():
    rights = [" ".join(SPELLINGS[:count]) for count in range(1, len(SPELLINGS) + 1)]
    found = [agreement(ANSWER, right, trivia_normal) for right in rights]
    return max(exact for exact, _ in found), max(f1 for _, f1 in found)


def by_paper():
    text = SOLUTION.split("[Answer]")[-1].split("\n")[0] if "[Answer]" in SOLUTION else SOLUTION
    found = re.findall(r"-?\d+\.?\d*", text.replace(",", ""))
    return round(float(found[-1].rstrip(".")), 3) == round(float("1277"), 3)


def by_strict():
    return re.search(r"#### (\-?[0-9\.\,]+)", SOLUTION).group(1).strip().replace(",", "") == "1277"


def facts():
    named = {("Aune Bridge", 0), ("Oskar Telling", 2), ("Karsholt", 1)}
    needed = {("Aune Bridge", 0), ("Oskar Telling", 1)}
    hits = len(named & needed)
    precision, recall = hits / len(named), hits / len(needed)
    return named == needed, 2 * precision * recall / (precision + recall) if hits else 0.0


def rouge():
    from rouge import Rouge

    scorer = Rouge(metrics=["rouge-l"])
    one, other = " ".join(WORDS), " ".join(word for word in WORDS if word != "word7")
    return lambda: scorer.get_scores(one, other)


def timed(name, work):
    work()
    rounds = []
    for _ in range(5):
        count, begun = 0, time.perf_counter()
        while time.perf_counter() - begun < 0.2:
            work()
            count += 1
        rounds.append((time.perf_counter() - begun) / count)
    # The median of five rounds.
    print(f"{name}: {sorted(rounds)[2] * 1e6:.2f} microseconds")


if __name__ == "__main__":
    timed("HotpotQA: exact match and F1", hotpot)
    timed("TriviaQA: the best of 10 spellings", trivia)
    timed("GSM8K: the paper's rule", by_paper)
    timed("GSM8K: the strict rule", by_strict)
    timed("HotpotQA: supporting facts", facts)
    try:
        timed("ROUGE-L: 40 words", rouge())
    except ImportError:
        print("ROUGE-L: the package rouge is not installed")
