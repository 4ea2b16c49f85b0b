//! The meaning of a sub-task's words.

use super::statement::Statement;
use super::{Bound, Comparison, Meaning, lexicon};
use crate::concepts::{concept, is_same};
use crate::tokens::Token;

/// Words of a comparison that stand directly before what is compared with.
const BEFORE: [(&[&str], Comparison); 4] = [
    (
        &[
            "over",
            "above",
            "exceeds",
            "exceed",
            "exceeding",
            "exceeded",
            "past",
            "beyond",
            "surpasses",
            "surpass",
            "surpassing",
            "upwards",
        ],
        Comparison::More,
    ),
    (&["under", "below", "beneath"], Comparison::Less),
    (&["minimum", "min", "reached", "turned"], Comparison::AtLeast),
    (&["exactly", "equals", "equal", "precisely"], Comparison::Equal),
];
/// Words of a comparison that need "than".
const WITH_THAN: [(&[&str], Comparison); 2] = [
    (&["more", "greater", "older", "higher", "larger", "bigger", "longer", "later"], Comparison::More),
    (&["less", "fewer", "younger", "lower", "smaller", "shorter", "earlier"], Comparison::Less),
];
/// Words between a comparison and its number that say nothing.
const FILLERS: [&str; 17] = [
    "the", "age", "ages", "of", "years", "year", "a", "an", "value", "is", "are", "be", "being", "number",
    "to", "that", "old",
];
/// Words behind "or" and a number.
const OR_MORE: [&str; 7] = ["older", "more", "above", "over", "higher", "greater", "up"];
const OR_LESS: [&str; 7] = ["younger", "less", "fewer", "below", "under", "lower", "smaller"];

const MOST: [&str; 14] = [
    "most", "highest", "maximum", "max", "largest", "greatest", "biggest", "top", "oldest", "latest",
    "longest", "maximal", "newest", "eldest",
];
const LEAST: [&str; 10] = [
    "least", "fewest", "lowest", "minimum", "min", "smallest", "youngest", "earliest", "shortest", "minimal",
];

const NEGATIONS: [&str; 36] = [
    "not",
    "no",
    "never",
    "without",
    "except",
    "excluding",
    "exclude",
    "excludes",
    "excepting",
    "neither",
    "nobody",
    "none",
    "cannot",
    "cant",
    "dont",
    "doesnt",
    "didnt",
    "isnt",
    "arent",
    "havent",
    "hasnt",
    "wasnt",
    "werent",
    "wont",
    "non",
    "lacks",
    "lack",
    "lacking",
    "missing",
    "apart",
    "besides",
    "unless",
    "absent",
    "nor",
    "aside",
    "barring",
];
/// Words that exclude only where the reference does: "other people".
const WEAK_NEGATIONS: [&str; 8] =
    ["other", "others", "another", "himself", "herself", "excluded", "else", "themselves"];
/// Words behind which a "but" excludes something: "everybody but Ann".
const ALL: [&str; 8] = ["all", "every", "each", "everybody", "everyone", "everything", "anybody", "anyone"];

/// Words that begin a clause behind a "but", which then excludes nothing: "all names, but only once".
const CLAUSES: [&str; 8] = ["only", "also", "with", "then", "just", "sort", "sorted", "order"];

/// What may be excluded without another meaning: that something comes twice.
const HARMLESS: [&str; 9] = [
    "duplicates",
    "duplicate",
    "duplication",
    "repetition",
    "repetitions",
    "repeats",
    "repeating",
    "doubles",
    "changing",
];

const SUMS: [&str; 9] =
    ["sum", "summing", "summed", "add", "adding", "together", "altogether", "combined", "aggregate"];

/// Words before the number of a step.
const OF_STEP: [&str; 5] = ["step", "task", "subtask", "result", "query"];

/// Reads the words of a text. `ours` are the words of the right sub-task, `question` those of the whole question.
pub(super) fn read(text: &[Token], ours: &[Token], question: &[Token], right: &Statement) -> Meaning {
    let text = without_number(text);
    let reader = Reader { text, right };
    let mut meaning = Meaning::default();
    // The words that belong to a comparison with a number mean nothing by themselves.
    let mut is_used = vec![false; text.len()];
    for (at, token) in text.iter().enumerate() {
        match token {
            Token::Number(number) => {
                if at > 0 && text[at - 1].word().is_some_and(|it| OF_STEP.contains(&it)) {
                    continue;
                }
                let comparison = reader.comparison(at, &mut is_used);
                match comparison {
                    Some(comparison) => meaning.bounds.push(Bound { comparison, number: *number }),
                    None => {
                        meaning.bounds.push(Bound { comparison: Comparison::Equal, number: *number });
                        meaning.numbers.push(*number);
                    }
                }
            }
            // "First, ...", and the first of something.
            Token::Ordinal(place) if *place > 1.0 => meaning.numbers.push(*place),
            Token::Word(word) if matches!(&**word, "several" | "multiple") => {
                meaning.bounds.push(Bound { comparison: Comparison::AtLeast, number: 2.0 });
            }
            _ => {}
        }
    }
    reader.directions(&is_used, &mut meaning);
    reader.extremes(&is_used, &mut meaning);
    reader.aggregates(&mut meaning);
    meaning.is_negated = reader.is_negated(&is_used, ours, question);
    meaning
}

/// A text without the number of its own step: "1. Count", "Step 2: Count".
fn without_number(text: &[Token]) -> &[Token] {
    match text {
        [Token::Number(_), Token::Sign(";" | ":" | ")"), rest @ ..] => rest,
        [Token::Word(step), Token::Number(_), Token::Sign(";" | ":" | ")" | "-" | ","), rest @ ..]
            if step == "step" =>
        {
            rest
        }
        [Token::Ordinal(_), Token::Sign(","), rest @ ..] => rest,
        _ => text,
    }
}

struct Reader<'t> {
    text: &'t [Token],
    right: &'t Statement,
}

impl Reader<'_> {
    fn word(&self, at: usize) -> &str {
        self.text.get(at).and_then(Token::word).unwrap_or_default()
    }

    /// The word so many places before, if there is one.
    fn before(&self, at: usize, by: usize) -> &str {
        at.checked_sub(by).map_or("", |at| self.word(at))
    }

    /// How the number there is compared.
    fn comparison(&self, at: usize, is_used: &mut [bool]) -> Option<Comparison> {
        self.comparison_behind(at, is_used).or_else(|| self.comparison_before(at, is_used))
    }

    /// "40 or older", "40+".
    fn comparison_behind(&self, at: usize, is_used: &mut [bool]) -> Option<Comparison> {
        let mut next = at + 1;
        if self.text.get(next) == Some(&Token::Sign("+")) {
            return Some(Comparison::AtLeast);
        }
        while ["years", "year", "old", "of", "age"].contains(&self.word(next)) {
            next += 1;
        }
        if !["or", "and"].contains(&self.word(next)) {
            return None;
        }
        let word = self.word(next + 1);
        let found = match (OR_MORE.contains(&word), OR_LESS.contains(&word)) {
            (true, _) => Some(Comparison::AtLeast),
            (_, true) => Some(Comparison::AtMost),
            _ => None,
        };
        // "Over 30 and younger than the doctor" begins another comparison.
        let found = found.filter(|_| self.word(next + 2) != "than");
        if found.is_some() {
            is_used[next + 1] = true;
        }
        found
    }

    fn comparison_before(&self, at: usize, is_used: &mut [bool]) -> Option<Comparison> {
        let mut from = at.checked_sub(1)?;
        if let Token::Sign(sign) = &self.text[from] {
            return match *sign {
                ">" => Some(Comparison::More),
                ">=" => Some(Comparison::AtLeast),
                "<" => Some(Comparison::Less),
                "<=" => Some(Comparison::AtMost),
                "=" => Some(Comparison::Equal),
                _ => None,
            };
        }
        while from > 0 && FILLERS.contains(&self.word(from)) {
            from -= 1;
        }
        // "Greater than or equal to 40".
        let mut is_or_equal = false;
        if self.word(from) == "equal" && self.before(from, 1) == "or" {
            is_or_equal = true;
            is_used[from] = true;
            from = from.checked_sub(2)?;
        }
        let (found, start) = if self.word(from) == "than" {
            let before = from.checked_sub(1)?;
            let word = self.word(before);
            let (_, found) = WITH_THAN.iter().find(|(words, _)| words.contains(&word))?;
            (*found, before)
        } else {
            self.phrase(from)?
        };
        is_used[start..=from].fill(true);
        let found = match (found, is_or_equal) {
            (Comparison::More, true) => Comparison::AtLeast,
            (Comparison::Less, true) => Comparison::AtMost,
            _ => found,
        };
        // "No older than", "not over", "have not yet turned".
        let negation = (1..=2).filter_map(|by| start.checked_sub(by)).find(|at| {
            let word = self.word(*at);
            NEGATIONS.contains(&word) && !["without", "except", "neither"].contains(&word)
        });
        let is_near = |place: usize| place + 1 == start || ["yet", "been"].contains(&self.word(place + 1));
        match negation.filter(|place| is_near(*place)) {
            Some(place) => {
                is_used[place] = true;
                Some(found.negated())
            }
            None => Some(found),
        }
    }

    /// The comparison that ends at a word, and where it begins.
    fn phrase(&self, at: usize) -> Option<(Comparison, usize)> {
        let word = self.word(at);
        match (self.before(at, 1), word) {
            ("at", "least") => return Some((Comparison::AtLeast, at - 1)),
            ("at", "most") | ("a", "maximum") => return Some((Comparison::AtMost, at - 1)),
            // The "to" is a filler, so that "up to" ends with its first word.
            (_, "up") => return Some((Comparison::AtMost, at)),
            _ => {}
        }
        BEFORE.iter().find(|(words, _)| words.contains(&word)).map(|(_, found)| (*found, at))
    }

    /// Comparisons with something that is looked up.
    fn directions(&self, is_used: &[bool], meaning: &mut Meaning) {
        for (at, token) in self.text.iter().enumerate().filter(|(at, _)| !is_used[*at]) {
            let comparison = match token {
                Token::Sign(">" | ">=") => self.is_no_number(at + 1).then_some(Comparison::More),
                Token::Sign("<" | "<=") => self.is_no_number(at + 1).then_some(Comparison::Less),
                Token::Word(word) => self.direction(at, word),
                _ => None,
            };
            match comparison {
                Some(Comparison::More) => meaning.directions.upper = true,
                Some(Comparison::Less) => meaning.directions.lower = true,
                _ => {}
            }
        }
    }

    fn is_no_number(&self, at: usize) -> bool {
        !matches!(self.text.get(at), Some(Token::Number(_)))
    }

    fn direction(&self, at: usize, word: &str) -> Option<Comparison> {
        if let Some((_, found)) = WITH_THAN.iter().find(|(words, _)| words.contains(&word)) {
            // "More albums than", but not "one or more covers" alone.
            let is_than = (at + 1..at + 8).any(|at| self.word(at) == "than");
            return is_than.then_some(*found);
        }
        let (_, found) = BEFORE.iter().find(|(words, _)| words.contains(&word))?;
        // "The average over all journals" compares nothing.
        let object =
            (at + 1..at + 4).find(|at| !FILLERS.contains(&self.word(*at)) || self.word(*at) == "that")?;
        let is_compared = ["over", "past", "under"].contains(&word).then(|| {
            let object = self.word(object);
            ["overall", "average", "mean", "that", "maximum", "minimum", "highest", "lowest"]
                .contains(&object)
        });
        is_compared.unwrap_or(true).then_some(*found)
    }

    fn extremes(&self, is_used: &[bool], meaning: &mut Meaning) {
        for at in (0..self.text.len()).filter(|at| !is_used[*at]) {
            let word = self.word(at);
            let is_bound = self.before(at, 1) == "at" || (word == "most" && self.word(at + 1) == "of");
            if is_bound {
                continue;
            }
            // Where rows are sorted by their time, the first and the last are extremes.
            let is_last = self.right.is_sorted && ["last", "recent", "recently"].contains(&word);
            let is_first = self.right.is_sorted
                && (word == "first" || self.text[at] == Token::Ordinal(1.0))
                && self.text.get(at + 1) != Some(&Token::Sign(","));
            meaning.extremes.upper |= MOST.contains(&word) || is_last;
            meaning.extremes.lower |= LEAST.contains(&word) || is_first;
        }
    }

    fn aggregates(&self, meaning: &mut Meaning) {
        for at in 0..self.text.len() {
            let word = self.word(at);
            let next = self.word(at + 1);
            if concept(word) == "average" {
                meaning.aggregates.average = true;
            }
            // "How many are there together" adds only where counts are looked up.
            let is_adverb = ["together", "altogether", "combined"].contains(&word);
            let is_of_counts = || next != "with" && (0..at).any(|at| lexicon::is_counted(self.word(at)));
            if SUMS.contains(&word) && (!is_adverb || is_of_counts()) {
                meaning.aggregates.sum = true;
            }
            // What is counted: of a column that holds counts, the value is meant.
            let noun = match (word, next) {
                ("how", "many" | "often") => Some(at + 2),
                // The song count of somebody is a value.
                ("number" | "count" | "amount", "of") if !lexicon::is_counted(self.before(at, 1)) => {
                    Some(at + 2)
                }
                ("count" | "counts" | "counting", _) if self.is_verb(at) => Some(at + 1),
                ("total", "of") => Some(at + 2),
                _ => None,
            };
            if let Some(noun) = noun {
                meaning.aggregates.amount = true;
                let noun = (noun..noun + 5).find(|at| {
                    let word = self.word(*at);
                    ![
                        "the",
                        "all",
                        "of",
                        "their",
                        "his",
                        "her",
                        "its",
                        "different",
                        "distinct",
                        "total",
                        "number",
                    ]
                    .contains(&word)
                });
                let is_column = noun.is_some_and(|at| lexicon::is_counted(self.word(at)));
                match (is_column, (1..=2).any(|by| self.before(at, by) == "total") || word == "total") {
                    (true, true) => meaning.aggregates.sum = true,
                    (true, false) => {}
                    (false, _) => meaning.aggregates.count = true,
                }
            }
            if word == "total" && lexicon::is_counted(next) {
                meaning.aggregates.sum = true;
            }
        }
    }

    /// Whether "count" there is what is to be done, not a name such as the cover count.
    fn is_verb(&self, at: usize) -> bool {
        let objects = [
            "the",
            "all",
            "how",
            "every",
            "everybody",
            "everyone",
            "those",
            "distinct",
            "rows",
            "only",
            "each",
            "number",
        ];
        let next = self.word(at + 1);
        let is_object = objects.contains(&next) || lexicon::is_table(next) || is_same(next, "person");
        let before = self.before(at, 1);
        is_object
            && !lexicon::is_counted(before)
            && !["cover", "the", "their", "maximum", "highest"].contains(&before)
    }

    fn is_negated(&self, is_used: &[bool], ours: &[Token], question: &[Token]) -> bool {
        (0..self.text.len()).filter(|at| !is_used[*at]).any(|at| {
            let (word, next) = (self.word(at), self.word(at + 1));
            let is_weak = WEAK_NEGATIONS.contains(&word) && (self.right.meaning.is_negated || next == "than");
            // "All people but the women".
            let is_but = word == "but"
                && (["the", "for", "not", "those", "men", "women"].contains(&next)
                    || (1..=4).any(|by| ALL.contains(&self.before(at, by))) && !CLAUSES.contains(&next));
            if !(NEGATIONS.contains(&word) || is_weak || is_but)
                || HARMLESS.contains(&next)
                || HARMLESS.contains(&self.word(at + 2))
            {
                return false;
            }
            // What the question itself excludes, such as a way to do it, and the reference does not.
            let is_asked = |text: &[Token]| {
                text.windows(2).any(|pair| {
                    let [first, second] = pair else { return false };
                    first.word() == Some(word) && second.word().is_some_and(|it| it == next)
                })
            };
            self.right.meaning.is_negated || !(is_asked(question) || is_asked(ours))
        })
    }
}
