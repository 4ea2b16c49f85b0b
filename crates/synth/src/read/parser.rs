//! All parses of a sentence, by recursive descent that returns every alternative.

use planproof_trace::TimeOfDay;

use super::lexicon::{ClockMeaning, Directions, Edge, Limit, Number, Part, Side};
use super::tokens::Token;
use super::{ReadBound, ReadError, ReadPair, Reading, STEPS_MAX};
use crate::clock::Bound;
use crate::text::Source;

/// An alternative: where it ends, and its statements.
type Alternatives<T> = Vec<(usize, T)>;

/// Something stated.
#[derive(Debug, Clone, Copy)]
enum Statement {
    Pair { first: usize, second: usize },
    Bound { action: usize, bound: Bound },
}

/// A statement with its tokens: first and one past the last.
#[derive(Debug, Clone, Copy)]
struct Found {
    statement: Statement,
    sub_sentence: u32,
    from: usize,
    to: usize,
}

#[derive(Debug, Clone)]
struct Phrase {
    /// Actions of the list itself.
    list: Vec<usize>,
    /// Tokens of the list.
    from: usize,
    to: usize,
    /// What its relative clause states.
    found: Vec<Found>,
}

/// A sub-sentence: its subject, which a joined sub-sentence can omit, and its statements.
#[derive(Debug, Clone)]
struct Clause {
    subject: Vec<usize>,
    found: Vec<Found>,
}

pub(super) fn read(
    tokens: &[Token<'_>],
    actions: &[&str],
    directions: &Directions,
) -> Result<Reading, ReadError> {
    let words: Vec<Vec<&str>> = actions.iter().map(|text| text.split_whitespace().collect()).collect();
    let mut at = 0;
    let mut sentence = 0;
    let mut reading = Reading { readings: 1, pairs: Vec::new(), bounds: Vec::new() };
    if tokens.is_empty() {
        return Err(unexpected(tokens, 0, 0, vec!["a sentence"]));
    }
    while at < tokens.len() {
        let end = tokens[at..]
            .iter()
            // A full stop always ends a sentence, so each one is parsed alone.
            .position(|token| token.text == ".")
            .map_or(tokens.len(), |stop| at + stop + 1);
        let mut parser = Parser {
            tokens: &tokens[..end],
            words: &words,
            directions,
            steps: 0,
            farthest: at,
            expected: Vec::new(),
            begin: at,
        };
        let parses = parser.sentence(at);
        // Checked first: a parser that gave up returns only a part of its parses.
        if parser.steps > STEPS_MAX {
            return Err(ReadError::TooAmbiguous { sentence });
        }
        let Some(first) = parses.first() else {
            return Err(unexpected(tokens, sentence, parser.farthest, parser.expected));
        };
        // Sentences are read independently, so their numbers of readings multiply.
        reading.readings = reading.readings.saturating_mul(parses.len() as u64);
        // One reading is enough for the statements; with several, `readings` says that they are not certain.
        for found in first {
            let source = Source {
                sentence: sentence as u32,
                sub_sentence: found.sub_sentence,
                start: tokens[found.from].start,
                end: tokens[found.to - 1].end,
            };
            match found.statement {
                Statement::Pair { first, second } => reading.pairs.push(ReadPair { first, second, source }),
                Statement::Bound { action, bound } => {
                    reading.bounds.push(ReadBound { action, bound, source });
                }
            }
        }
        at = end;
        sentence += 1;
    }
    Ok(reading)
}

fn unexpected(
    tokens: &[Token<'_>],
    sentence: usize,
    at: usize,
    mut expected: Vec<&'static str>,
) -> ReadError {
    expected.sort_unstable();
    expected.dedup();
    let (start, end, found) = match tokens.get(at) {
        Some(token) => (token.start as usize, token.end as usize, format!("\"{}\"", token.text)),
        None => {
            let end = tokens.last().map_or(0, |token| token.end as usize);
            (end, end, "the end".to_owned())
        }
    };
    ReadError::Unexpected { sentence, start, end, found, expected }
}

struct Parser<'a> {
    tokens: &'a [Token<'a>],
    words: &'a [Vec<&'a str>],
    directions: &'a Directions,
    steps: u64,
    farthest: usize,
    expected: Vec<&'static str>,
    /// First token of the sentence: its word may have a capital letter.
    begin: usize,
}

impl Parser<'_> {
    /// Records that `what` would have been possible at a token, for the error message.
    fn wanted(&mut self, at: usize, what: &'static str) {
        self.steps += 1;
        // The farthest token that any alternative reached is where the text leaves the grammar.
        if at > self.farthest {
            self.farthest = at;
            self.expected.clear();
        }
        if at == self.farthest && !self.expected.contains(&what) {
            self.expected.push(what);
        }
    }

    fn is(&mut self, at: usize, text: &'static str) -> bool {
        self.wanted(at, quoted(text));
        self.tokens.get(at).is_some_and(|token| token.text == text)
    }

    fn spent(&self) -> bool {
        self.steps > STEPS_MAX
    }

    /// `S ::= s (j s)* "."`, each parse with its pairs.
    fn sentence(&mut self, at: usize) -> Vec<Vec<Found>> {
        let mut complete = Vec::new();
        let mut open: Vec<(usize, u32, Clause)> =
            self.sub_sentence(at, 0).into_iter().map(|(end, clause)| (end, 0, clause)).collect();
        while let Some((at, sub_sentence, Clause { subject, found })) = open.pop() {
            // Alternatives can grow exponentially, so every loop over them looks at the limit.
            if self.spent() {
                break;
            }
            if self.is(at, ".") {
                complete.push(found);
                continue;
            }
            for (end, next) in self.joined(at, &subject, sub_sentence + 1) {
                let found = [found.clone(), next.found].concat();
                open.push((end, sub_sentence + 1, Clause { subject: next.subject, found }));
            }
        }
        complete
    }

    /// `j s`. After a comma and a conjunction, `SC cd` is also possible: "A follows B, but before C and D happen"
    /// omits the subject A in its second part. (The generator writes no such sentence, but its sentences could be
    /// read as one.)
    fn joined(&mut self, at: usize, subject: &[usize], number: u32) -> Alternatives<Clause> {
        let Some(next) = self.joiner(at) else { return Vec::new() };
        let mut all = self.sub_sentence(next, number);
        if self.is(at, ",") {
            let left_out = Phrase { list: subject.to_vec(), from: next, to: next, found: Vec::new() };
            for (clause, part) in self.parts(next, "a conjunction") {
                let Part::Conjunction(side) = part else { continue };
                for (to, other) in self.neutral_clause(clause, number) {
                    all.push((to, relate(&left_out, &other, side, number, next, to)));
                }
            }
        }
        all
    }

    /// `j`: where the next sub-sentence may begin.
    fn joiner(&mut self, at: usize) -> Option<usize> {
        if self.is(at, ";") {
            return Some(at + 1);
        }
        let comma = self.is(at, ",");
        (comma && ["and", "but", "yet", "while", "whereas"].into_iter().any(|word| self.is(at + 1, word)))
            .then_some(at + 2)
    }

    fn sub_sentence(&mut self, at: usize, number: u32) -> Alternatives<Clause> {
        let mut all = Vec::new();
        for (end, subject) in self.noun_phrase(at, number) {
            self.after_subject(at, end, &subject, number, &mut all);
        }
        for (end, part) in self.parts(at, "a preposition") {
            match part {
                Part::Preposition(side) => self.fronted_phrase(at, end, side, number, &mut all),
                Part::Conjunction(side) => self.fronted_clause(at, end, side, number, &mut all),
                Part::ClockPreposition(limit) => self.fronted_clock(at, end, limit, number, &mut all),
                Part::Verb(..) | Part::Neutral(_) | Part::ClockVerb(..) | Part::Boundary(..) => {}
            }
        }
        all
    }

    /// `subj VP obj`, `subj VP0 P obj`, `cd SC cd'`, and forms that end in a clock time.
    fn after_subject(
        &mut self,
        from: usize,
        at: usize,
        subject: &Phrase,
        number: u32,
        all: &mut Alternatives<Clause>,
    ) {
        for (end, side) in self.link(at, subject.list.len()) {
            for (to, object) in self.noun_phrase(end, number) {
                all.push((to, relate(subject, &object, side, number, from, object.to)));
            }
        }
        for (to, bound) in self.clock_bound(at, subject.list.len()) {
            all.push((to, bind(subject, bound, number, from, to)));
        }
        for (end, ()) in self.neutral(at, subject.list.len()) {
            for (clause, part) in self.parts(end, "a conjunction") {
                let Part::Conjunction(side) = part else { continue };
                for (to, other) in self.neutral_clause(clause, number) {
                    all.push((to, relate(subject, &other, side, number, from, to)));
                }
            }
        }
    }

    /// `P obj "," subj VP0`.
    fn fronted_phrase(
        &mut self,
        from: usize,
        at: usize,
        side: Side,
        number: u32,
        all: &mut Alternatives<Clause>,
    ) {
        for (end, object) in self.noun_phrase(at, number) {
            if self.is(end, ",") {
                for (to, subject) in self.neutral_clause(end + 1, number) {
                    all.push((to, relate(&subject, &object, side, number, from, to)));
                }
            }
        }
    }

    /// `P t "," subj VPb`.
    fn fronted_clock(
        &mut self,
        from: usize,
        at: usize,
        limit: Limit,
        number: u32,
        all: &mut Alternatives<Clause>,
    ) {
        let Some(minute) = self.clock_time(at) else { return };
        if !self.is(at + 1, ",") {
            return;
        }
        for (end, subject) in self.noun_phrase(at + 2, number) {
            for (to, part) in self.parts(end, "a verb phrase that agrees") {
                if let Part::Boundary(edge, agreeing) = part
                    && agrees(agreeing, subject.list.len())
                    && let Some(bound) = meaning(edge, limit)
                {
                    all.push((to, bind(&subject, bound(minute), number, from, to)));
                }
            }
        }
    }

    /// `VPend t`, `VPstart t` or `VPb P t`, with their statement about the subject.
    fn clock_bound(&mut self, at: usize, subjects: usize) -> Alternatives<Bound> {
        let mut all = Vec::new();
        for (end, part) in self.parts(at, "a verb phrase that agrees") {
            match part {
                Part::ClockVerb(meaning, number) if agrees(number, subjects) => {
                    let bound = match meaning {
                        ClockMeaning::EndsBy => Bound::EndsBy,
                        ClockMeaning::StartsFrom => Bound::StartsFrom,
                    };
                    all.extend(self.clock_time(end).map(|minute| (end + 1, bound(minute))));
                }
                Part::Boundary(edge, number) if agrees(number, subjects) => {
                    for (end, part) in self.parts(end, "a preposition") {
                        if let Part::ClockPreposition(limit) = part
                            && let Some(bound) = meaning(edge, limit)
                        {
                            all.extend(self.clock_time(end).map(|minute| (end + 1, bound(minute))));
                        }
                    }
                }
                _ => {}
            }
        }
        all
    }

    /// The minute that a clock time names.
    fn clock_time(&mut self, at: usize) -> Option<u16> {
        self.wanted(at, "a clock time");
        self.tokens.get(at).and_then(|token| TimeOfDay::parse(token.text)).map(TimeOfDay::minute)
    }

    /// `SC cd' "," cd`.
    fn fronted_clause(
        &mut self,
        from: usize,
        at: usize,
        side: Side,
        number: u32,
        all: &mut Alternatives<Clause>,
    ) {
        for (end, other) in self.neutral_clause(at, number) {
            if self.is(end, ",") {
                for (to, main) in self.neutral_clause(end + 1, number) {
                    all.push((to, relate(&main, &other, side, number, from, to)));
                }
            }
        }
    }

    fn neutral_clause(&mut self, at: usize, number: u32) -> Alternatives<Phrase> {
        let mut all = Vec::new();
        for (end, subject) in self.noun_phrase(at, number) {
            all.extend(
                self.neutral(end, subject.list.len()).into_iter().map(|(to, ())| (to, subject.clone())),
            );
        }
        all
    }

    /// `VP` or `VP0 P`, with the side of the subject.
    fn link(&mut self, at: usize, subjects: usize) -> Alternatives<Side> {
        let mut all = Vec::new();
        for (end, part) in self.parts(at, "a verb phrase that agrees") {
            match part {
                Part::Verb(side, number) if agrees(number, subjects) => all.push((end, side)),
                Part::Neutral(number) if agrees(number, subjects) => {
                    for (end, part) in self.parts(end, "a preposition") {
                        if let Part::Preposition(side) = part {
                            all.push((end, side));
                        }
                    }
                }
                _ => {}
            }
        }
        all
    }

    fn neutral(&mut self, at: usize, subjects: usize) -> Alternatives<()> {
        let parts = self.parts(at, "a verb phrase that agrees");
        parts
            .into_iter()
            .filter(|(_, part)| matches!(part, Part::Neutral(number) if agrees(*number, subjects)))
            .map(|(end, _)| (end, ()))
            .collect()
    }

    fn parts(&mut self, at: usize, what: &'static str) -> Alternatives<Part> {
        self.wanted(at, what);
        let mut all = Vec::new();
        if !self.spent() {
            self.directions.each_at(self.tokens, at, &mut |end, part| all.push((end, part)));
        }
        all
    }

    /// `a+` or `a+ "," cr ","`. The closing comma may be replaced by the following mark: a full stop or semicolon, or
    /// the comma of a joiner, of a fronted phrase, or of an outer relative clause.
    fn noun_phrase(&mut self, at: usize, number: u32) -> Alternatives<Phrase> {
        let mut all = Vec::new();
        if self.spent() {
            return all;
        }
        for (end, list) in self.list(at) {
            let plain = Phrase { list, from: at, to: end, found: Vec::new() };
            if self.is(end, ",") && self.is(end + 1, "which") {
                for (to, found) in self.relative(end + 2, &plain, number) {
                    let phrase = Phrase { found, ..plain.clone() };
                    match self.tokens.get(to).map(|token| token.text) {
                        Some(",") => {
                            all.push((to + 1, phrase.clone()));
                            all.push((to, phrase));
                        }
                        Some("." | ";") => all.push((to, phrase)),
                        _ => self.wanted(to, "\",\" behind the relative clause"),
                    }
                }
            }
            // Also without the relative clause: what follows may be another sub-sentence.
            all.push((end, plain));
        }
        all
    }

    /// `cr` after "which", or `cr j s` if a comma and a conjunction continue it. It is about the whole list before it
    /// or about its last item; the number of its verb decides, if the verb shows one.
    fn relative(&mut self, at: usize, list: &Phrase, number: u32) -> Alternatives<Vec<Found>> {
        let mut antecedents = vec![list.clone()];
        if let [_, .., last] = list.list[..] {
            antecedents.push(Phrase {
                list: vec![last],
                from: list.to - self.words[last].len(),
                ..list.clone()
            });
        }
        let mut clauses = Vec::new();
        for antecedent in &antecedents {
            for (end, side) in self.link(at, antecedent.list.len()) {
                for (to, object) in self.noun_phrase(end, number) {
                    let clause = relate(antecedent, &object, side, number, antecedent.from, object.to);
                    clauses.push((to, clause));
                }
            }
            for (to, bound) in self.clock_bound(at, antecedent.list.len()) {
                clauses.push((to, bind(antecedent, bound, number, antecedent.from, to)));
            }
        }
        let mut all = Vec::new();
        for (to, Clause { subject, found }) in clauses {
            // What is joined by a comma can belong to the clause instead of the sentence: the reading
            // that the generator must avoid.
            if self.tokens.get(to).is_some_and(|token| token.text == ",") {
                for (to, more) in self.joined(to, &subject, number) {
                    all.push((to, [found.clone(), more.found].concat()));
                }
            }
            all.push((to, found));
        }
        all
    }

    /// A list of actions: "A", "A and B", "A, B and C", "A, B, and C", and "A, and B" as well.
    fn list(&mut self, at: usize) -> Alternatives<Vec<usize>> {
        let mut all = Vec::new();
        let mut open: Alternatives<Vec<usize>> =
            self.action(at).into_iter().map(|(end, action)| (end, vec![action])).collect();
        while let Some((at, list)) = open.pop() {
            if self.spent() {
                break;
            }
            let comma = self.is(at, ",");
            let behind = if comma { at + 1 } else { at };
            if self.is(behind, "and") {
                for (end, action) in self.action(behind + 1) {
                    // After "and" the list is complete, so it is not extended any more.
                    all.push((end, [list.clone(), vec![action]].concat()));
                }
            } else if comma {
                for (end, action) in self.action(behind) {
                    open.push((end, [list.clone(), vec![action]].concat()));
                }
            }
            // Without a final "and" only a single task is a list.
            if list.len() == 1 {
                all.push((at, list));
            }
        }
        all
    }

    fn action(&mut self, at: usize) -> Alternatives<usize> {
        self.wanted(at, "a task of the case");
        let mut all = Vec::new();
        for (action, words) in self.words.iter().enumerate() {
            let end = at + words.len();
            let Some(here) = self.tokens.get(at..end) else { continue };
            // The first word of a sentence has a capital letter, which is the only change of a text.
            let same = here.iter().zip(words).enumerate().all(|(place, (token, word))| {
                token.text == *word
                    || (at + place == self.begin
                        && (token.text.eq_ignore_ascii_case(word)
                            || (!(token.text.is_ascii() && word.is_ascii())
                                && token.text.to_lowercase() == word.to_lowercase())))
            });
            if same && !words.is_empty() {
                all.push((end, action));
            }
        }
        all
    }
}

fn quoted(text: &'static str) -> &'static str {
    match text {
        "." => "\".\"",
        "," => "\",\"",
        ";" => "\";\"",
        "and" => "\"and\"",
        "which" => "\"which\"",
        _ => "a conjunction",
    }
}

fn agrees(number: Number, subjects: usize) -> bool {
    match number {
        Number::One => subjects == 1,
        Number::Many => subjects > 1,
        Number::Any => true,
    }
}

/// The pairs between two lists, and those of their relative clauses.
fn relate(
    subject: &Phrase,
    object: &Phrase,
    side: Side,
    sub_sentence: u32,
    from: usize,
    to: usize,
) -> Clause {
    let mut all = Vec::new();
    for &x in &subject.list {
        for &y in &object.list {
            let (first, second) = match side {
                Side::Earlier => (x, y),
                Side::Later => (y, x),
            };
            all.push(Found { statement: Statement::Pair { first, second }, sub_sentence, from, to });
        }
    }
    all.extend(&object.found);
    all.extend(&subject.found);
    Clause { subject: subject.list.clone(), found: all }
}

/// The meaning of a clock time for the edge that a verb phrase is about; empty for two combinations, which the
/// grammar cannot express.
fn meaning(edge: Edge, limit: Limit) -> Option<fn(u16) -> Bound> {
    match (edge, limit) {
        (Edge::End, Limit::Latest) => Some(Bound::EndsBy),
        (Edge::Start, Limit::Earliest) => Some(Bound::StartsFrom),
        (Edge::End, Limit::Earliest) | (Edge::Start, Limit::Latest) => None,
    }
}

/// The bound of each action of a list, and the statements of its relative clause.
fn bind(subject: &Phrase, bound: Bound, sub_sentence: u32, from: usize, to: usize) -> Clause {
    let found =
        |&action: &usize| Found { statement: Statement::Bound { action, bound }, sub_sentence, from, to };
    let found = subject.list.iter().map(found).chain(subject.found.iter().copied()).collect();
    Clause { subject: subject.list.clone(), found }
}
