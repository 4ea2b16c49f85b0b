//! From the events of a run to a verdict.

use planproof_measure::ANSWER_MARK;
use planproof_measure::echo::outside_of_echo;
use planproof_measure::supporting::SupportingFact;
use planproof_suite::{Class, MISSING, Score, Scored, Unscored, Verdict};
use planproof_trace::{Event, paired_calls};
use serde::{Deserialize, Serialize};

use super::answer::{ANSWER_LINE, short_answer};
use super::benchmark::{Benchmark, CLASSES, FLAGS};
use super::case::{ANSWER_FORM, QuestionCase};
use super::facts::{self, FactFigures};
use crate::scoring::Scoring;
use planproof_suite::runs::{Ended, KeptCall, shortened};

/// Most characters of an agent's answer in a verdict: for a longer one the beginning and the end.
pub const ANSWER_CHARACTERS_MAX: usize = 2_000;

/// Most calls in a verdict. All are counted.
pub const CALLS_KEPT_MAX: usize = 100;

/// Most characters of a call's arguments, and of its answer, in a verdict.
pub const CALL_CHARACTERS_MAX: usize = 300;

/// Name of the figure: F1 by the rule of the run's scoring, 0 to 1.
pub(super) const F1_SCORE: &str = "f1";

/// Name of the figure: 1 if the answer is right by the official rule, else 0.
pub(super) const OFFICIAL_SCORE: &str = "official";

/// Name of the figure: 1 if the answer is right by the rule of the paper's code, else 0.
pub(super) const PAPER_SCORE: &str = "paper";

/// Name of the figure: how many calls the run made.
pub(super) const CALLS_SCORE: &str = "calls";

/// The names of all figures.
pub(super) const SCORE_NAMES: [&str; 12] = {
    let [facts, facts_f1, facts_precision, facts_recall, joint, joint_f1, joint_precision, joint_recall] =
        facts::SCORE_NAMES;
    [
        F1_SCORE,
        OFFICIAL_SCORE,
        PAPER_SCORE,
        CALLS_SCORE,
        facts,
        facts_f1,
        facts_precision,
        facts_recall,
        joint,
        joint_f1,
        joint_precision,
        joint_recall,
    ]
};

/// The judge's whole result for a run: the document of a verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuestionDetail {
    /// [`Benchmark::verdict_schema`].
    pub schema: String,
    /// Id of the case.
    pub case: String,
    /// Whether the answer is right by the rule of the scoring.
    pub passed: bool,
    pub scoring: Scoring,
    /// The class of the failure; `None` when passed.
    pub class: Option<String>,
    /// All flags that apply.
    pub flags: Vec<String>,
    pub gold: String,
    /// The short answer that was found; `None` if the agent did not answer or wrote nothing.
    pub found: Option<String>,
    /// Whether it is right by the official rule.
    pub official: bool,
    /// Whether it is right by the rule of the paper's code.
    pub paper: bool,
    /// Its F1 by the rule of the scoring.
    pub f1: f64,
    /// The figures of a prediction's supporting sentences; `None` if predictions have none, as in runs of agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<FactFigures>,
    /// The agent's answer, of a long text both ends; `None` if it did not answer.
    pub answer: Option<String>,
    /// Why the run ended, unless the agent ended it by an answer.
    pub ended: Option<String>,
    /// The calls, the first [`CALLS_KEPT_MAX`] of them.
    pub calls: Vec<KeptCall>,
    /// How many calls there were.
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub calls_total: u64,
}

/// Judges a run of a question.
pub(super) fn judge(question: &QuestionCase, events: &[Event]) -> Result<Verdict, Unscored> {
    let ended = Ended::of(question, events)?;
    let calls = paired_calls(events);
    let calls = calls.iter().map(|paired| KeptCall::of(paired, CALL_CHARACTERS_MAX));
    Ok(verdict(question, Some(&ended), calls.collect(), None))
}

/// The short answer that a run with these events is judged by, if it has one.
pub(super) fn found_in_run(question: &QuestionCase, events: &[Event]) -> Option<String> {
    found_in(question, Ended::of(question, events).ok()?.answer()?)
}

/// The short answer in an answer.
fn found_in(question: &QuestionCase, answer: &str) -> Option<String> {
    // The published scripts look for no short answer.
    if question.is_original() {
        return Some(answer.to_owned());
    }
    // An answer may have two lines, or look like a label or an echo itself.
    if is_itself(answer, question.right()) {
        return Some(question.right().to_owned());
    }
    // What an agent repeats of our instruction is not its answer.
    let itself = outside_of_echo(answer, ANSWER_FORM);
    Some(short_answer(&itself)).filter(|found| !found.is_empty()).map(str::to_owned)
}

/// The verdict on a run with these calls and this end; without an end, on a missing prediction. `named` are the
/// supporting sentences of a prediction of HotpotQA, if predictions have any: then `Some(None)` is a prediction without
/// them.
pub(super) fn verdict(
    question: &QuestionCase,
    ended: Option<&Ended<'_>>,
    mut calls: Vec<KeptCall>,
    named: Option<Option<&[SupportingFact]>>,
) -> Verdict {
    let answer = ended.and_then(Ended::answer);
    let found = answer.and_then(|text| found_in(question, text));
    let found = found.as_deref();
    // Always by both rules, because scores and flags compare them.
    let officially = found.map(|found| question.officially(found)).unwrap_or_default();
    let by_paper = found.map(|found| question.by_paper(found)).unwrap_or_default();
    let agreement = match question.scoring() {
        Scoring::Official => officially,
        Scoring::Paper => by_paper,
    };
    let passed = agreement.is_exact;
    let class = match ended {
        // Only an answer can pass, so the other ends below are failures.
        _ if passed => None,
        None => Some(MISSING),
        Some(ended) if ended.class().is_some() => ended.class(),
        _ if found.is_none() => Some("no_answer"),
        _ => Some("wrong_answer"),
    };
    let class = class.and_then(|name| Class::find(&CLASSES, name));
    let applies = |flag: &str| match flag {
        "searched" => calls.iter().any(KeptCall::is_done),
        "search_error" => calls.iter().any(|call| call.is_error),
        "official_only" => officially.is_exact && !by_paper.is_exact,
        "paper_only" => by_paper.is_exact && !officially.is_exact,
        "partly" => !passed && agreement.f1 > 0.0,
        _ => false,
    };
    let flags: Vec<&'static str> = FLAGS.iter().map(|flag| flag.name).filter(|flag| applies(flag)).collect();
    // The official script combines facts with its own rule for answers, whatever rule decides here.
    let facts = named.map(|named| FactFigures::of(question, officially, named));
    let calls_total = calls.len();
    // Only now, because flags and numbers are about all calls.
    calls.truncate(CALLS_KEPT_MAX);
    let detail = QuestionDetail {
        schema: question.benchmark().verdict_schema().to_owned(),
        case: question.id().to_owned(),
        passed,
        scoring: question.scoring(),
        class: class.map(|class| class.as_str().to_owned()),
        flags: flags.iter().map(ToString::to_string).collect(),
        gold: shortened(question.right(), ANSWER_CHARACTERS_MAX),
        found: found.map(|text| shortened(text, CALL_CHARACTERS_MAX)),
        official: officially.is_exact,
        paper: by_paper.is_exact,
        f1: agreement.f1,
        facts,
        answer: answer.map(|text| shortened(text, ANSWER_CHARACTERS_MAX)),
        ended: ended.and_then(|ended| ended.why(ANSWER_CHARACTERS_MAX)),
        calls,
        calls_total: calls_total as u64,
    };
    let one = |holds: bool| f64::from(u8::from(holds));
    let mut scores = vec![
        Score::new(F1_SCORE, agreement.f1),
        Score::new(OFFICIAL_SCORE, one(officially.is_exact)),
        Score::new(PAPER_SCORE, one(by_paper.is_exact)),
        Score::new(CALLS_SCORE, calls_total as f64),
    ];
    scores.extend(facts.into_iter().flat_map(FactFigures::scores));
    Verdict::new(Scored { class, flags, scores }, &detail)
}

/// Whether a text is the right answer, letter by letter, or ends with it behind the label or the mark.
fn is_itself(text: &str, right: &str) -> bool {
    let Some(before) = text.trim().strip_suffix(right.trim()) else { return false };
    let before = before.trim_end_matches(|it: char| it.is_whitespace() || it == '*');
    let is_label = |rest: &str| rest.eq_ignore_ascii_case(ANSWER_LINE);
    before.is_empty()
        || before.ends_with(ANSWER_MARK)
        || before.len().checked_sub(ANSWER_LINE.len()).and_then(|at| before.get(at..)).is_some_and(is_label)
}

impl QuestionDetail {
    /// The document of a verdict of these suites; `None` for that of another, or a broken one.
    pub fn of(verdict: &Verdict) -> Option<Self> {
        let is_ours = |detail: &Self| {
            [Benchmark::HotpotQa, Benchmark::TriviaQa].iter().any(|it| it.verdict_schema() == detail.schema)
        };
        serde_json::from_str(&verdict.detail).ok().filter(is_ours)
    }
}

#[cfg(test)]
mod tests {
    use planproof_suite::Case;
    use planproof_trace::notation::parse;

    use super::*;

    fn question(scoring: &str) -> QuestionCase {
        let line = r#"{"schema":"planproof/triviaqa/v1","id":"q","question":"Who?","answer":"Ann O'Dell",
            "accepted":["Ann O'Dell","Lady Ann"],"scoring":"SCORING"}"#;
        QuestionCase::read(Benchmark::TriviaQa, &line.replace("SCORING", scoring)).unwrap()
    }

    #[track_caller]
    fn check(scoring: &str, events: &str, class: Option<&str>, flags: &[&str]) -> QuestionDetail {
        let verdict = question(scoring).judge(&parse(events).unwrap()).unwrap();
        assert_eq!(verdict.class().map(Class::as_str), class, "{events}");
        assert_eq!(verdict.scored.flags, flags, "{events}");
        let detail = QuestionDetail::of(&verdict).unwrap();
        assert_eq!((detail.passed, detail.class.as_deref()), (class.is_none(), class));
        assert!(!verdict.detail.contains('\n'));
        detail
    }

    #[test]
    fn runs_are_judged_by_the_rule_of_their_scoring() {
        check("official", r#"answer "Well.\nAnswer: lady Ann!""#, None, &["official_only"]);
        check("paper", r#"answer "Answer: lady Ann!""#, Some("wrong_answer"), &["official_only", "partly"]);
        check("paper", r#"answer "Ann ODell""#, None, &["paper_only"]);
        let detail = check("official", r#"answer "Ann""#, Some("wrong_answer"), &["partly"]);
        assert!((detail.f1 - 2.0 / 3.0).abs() < 1e-12);
        check("official", r#"answer "Bob""#, Some("wrong_answer"), &[]);
        check("official", r#"answer " ""#, Some("no_answer"), &[]);
        check("official", "limit wall_ms 5", Some("timeout"), &[]);
        check("official", "limit reply_tokens 5", Some("reply_limit"), &[]);
        check("official", r#"failed "exit status 1""#, Some("agent_failed"), &[]);
    }

    #[test]
    fn an_echo_of_the_instruction_is_no_answer_and_hides_none() {
        let answered = |text: &str| format!("answer {}", serde_json::Value::from(text));
        for echo in [ANSWER_FORM, "Write it as the last line, behind `Answer:`."] {
            check("official", &answered(echo), Some("no_answer"), &[]);
            for right in ["Lady Ann", "Answer: Lady Ann", "She is a lady.\nAnswer: Lady Ann."] {
                for text in
                    [format!("{right}\n\n{echo}"), format!("{right} {echo}"), format!("{echo}\n{right}")]
                {
                    check("official", &answered(&text), None, &["official_only"]);
                }
            }
        }
    }

    #[test]
    fn the_named_answer_is_right_whatever_it_is() {
        let aliases = [r#"[]"#, r#"["other"]"#, r#"["The Other","an alias"]"#];
        for benchmark in [Benchmark::HotpotQa, Benchmark::TriviaQa] {
            for right in [
                "The",
                "?",
                "A.",
                "yes",
                "no",
                "noanswer",
                "Yes",
                "42",
                "1,000",
                "-3.5",
                ".5",
                "$5",
                "Answer: Me",
                "Answer:",
                "[Answer]",
                "one\ntwo",
                "\u{c9}a",
                "**bold**",
                "Ann O'Dell",
                "new-york",
                "a few words at most",
                "the last line",
                " Paris ",
                "\u{6771}\u{4eac}",
                "AC/DC",
                "_",
                "`",
            ] {
                for accepted in aliases {
                    let line = format!(
                        r#"{{"schema":"{}","id":"q","question":"Who?","answer":{},"accepted":{accepted}}}"#,
                        benchmark.case_schema(),
                        serde_json::Value::from(right)
                    );
                    for scoring in [Scoring::Official, Scoring::Paper] {
                        let question = QuestionCase::read(benchmark, &line).unwrap().scored(scoring);
                        for text in [
                            right.to_owned(),
                            format!("Answer: {right}"),
                            format!("It is known.\n**Answer:** {right}\n"),
                            format!("So.\n[Answer] {right}"),
                        ] {
                            let verdict = verdict(&question, Some(&Ended::Answered(&text)), Vec::new(), None);
                            assert!(verdict.passed(), "{text:?} {line}");
                        }
                        let wrong = question.gold().unwrap().wrong_answer;
                        let verdict = verdict(&question, Some(&Ended::Answered(&wrong)), Vec::new(), None);
                        assert!(!verdict.passed(), "{wrong:?} {line}");
                    }
                }
            }
        }
    }

    #[test]
    fn as_originally_the_whole_text_is_compared_with_the_aliases() {
        let question = question("official").compared_originally(true);
        let passes = |text: &str| verdict(&question, Some(&Ended::Answered(text)), Vec::new(), None).passed();
        assert!(passes("lady Ann!") && !passes("Answer: lady Ann") && !passes(""));
        let line = r#"{"schema":"planproof/triviaqa/v1","id":"q","question":"Who?","answer":"Ann","accepted":["x"]}"#;
        let named = QuestionCase::read(Benchmark::TriviaQa, line).unwrap();
        assert!(
            named.officially("Ann").is_exact && !named.compared_originally(true).officially("Ann").is_exact
        );
    }

    #[test]
    fn calls_are_counted_and_kept() {
        let events = r#"call search {"title":"Ann"} | ok "A lady." | call lookup {"text":"x"} | err "no page" |
            call search {"title":"B"} | answer "Lady Ann""#;
        let detail = check("official", events, None, &["searched", "search_error", "official_only"]);
        assert_eq!(detail.calls[0].call, r#"search {"title":"Ann"}"#);
        assert_eq!((detail.calls_total, detail.calls[2].result.as_deref()), (3, None));
    }

    #[test]
    fn runs_that_say_nothing_are_unscored() {
        let judged = |events: &str| question("official").judge(&parse(events).unwrap());
        assert_eq!(judged(r#"unscored "gone""#).unwrap_err(), Unscored::Outside { reason: "gone".into() });
        assert_eq!(judged(r#"say "Ann""#).unwrap_err(), Unscored::CutOff);
    }
}
