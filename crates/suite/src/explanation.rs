//! A verdict in words, as plain data that every report renders in its own way. All texts are as the case, the agent
//! and the outside world wrote them: the renderer escapes and shortens them.

use crate::Verdict;
use crate::drawing::{Bars, Graph, Map, Period};

/// A verdict in words.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Explanation {
    /// The text of the case that [`marks`](Self::marks) refer to.
    pub text: String,
    /// The places of the text that matter to the verdict, without overlaps, in the order of the text.
    pub marks: Vec<Mark>,
    /// What went wrong, in one line; `passed` if nothing did.
    pub gist: String,
    /// The agent's actions, in one line: the answer in the terms of other programs' logs.
    pub answer: String,
    /// The facts, in the order of interest.
    pub facts: Vec<Fact>,
    /// The demands, and whether each was met; violated ones first.
    pub checks: Vec<Check>,
    /// The demands on an order as a picture, for graphical reports.
    pub graph: Option<Graph>,
    /// The actions over time as a picture, for graphical reports.
    pub bars: Option<Bars>,
}

/// A marked place of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Its beginning, in Unicode scalar values from the beginning of the text.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
    /// The ids of the checks that are stated here.
    pub checks: Vec<String>,
    /// Why it is marked, in a sentence; may be empty.
    pub title: String,
}

/// A labelled piece of an explanation.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// A word or two in lower case, such as `called`. Neighbours may share one.
    pub label: &'static str,
    /// What there is to say.
    pub content: Content,
}

/// What a fact says.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// A text whose beginning says most.
    Text(String),
    /// A text whose end matters as much as its beginning, such as the output of a program before it crashed.
    Ends(String),
    /// A program, whose lines stay as they are.
    Code(String),
    /// Steps, one after the other.
    Steps(Vec<SequenceStep>),
    /// Places and the ways between them.
    Map(Map),
    /// What happens when.
    Timeline(Vec<Period>),
}

/// A step of a sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SequenceStep {
    /// What is done.
    pub text: String,
    /// Its time, if steps have times: `09:00 to 09:45`.
    pub when: Option<String>,
    /// It is the first wrong step.
    pub is_wrong: bool,
}

/// How a demand fared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckState {
    /// It belongs to a conflict.
    InConflict,
    /// It was violated.
    Violated,
    /// The run did not go far enough to decide.
    Undetermined,
    /// It held.
    Held,
    /// It was not judged.
    Unjudged,
}

/// Something that was demanded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Its id within the case.
    pub id: String,
    /// Its subject, which reports may emphasise.
    pub subject: String,
    /// Its demand on the subject: `before stock check`.
    pub demand: String,
    /// The words that state it, from each place in the text.
    pub sources: Vec<String>,
    /// How it fared.
    pub state: CheckState,
}

/// Remarks on one event of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventNote {
    /// Place of the event in the trace.
    pub event: usize,
    /// The number of the event's step, from 1.
    pub number: Option<usize>,
    /// What is odd about it, in a few words.
    pub remark: Option<&'static str>,
    /// It is the first wrong one; the text says what would have been right, and may be empty.
    pub wrong: Option<String>,
}

impl Explanation {
    /// Explains a verdict whose document cannot be read, by its class alone.
    pub fn of_class(text: String, verdict: &Verdict) -> Self {
        let gist = verdict.class().map_or("passed", crate::Class::as_str).to_owned();
        Self { text, gist, ..Self::default() }
    }

    /// The text in pieces, each with its mark if it has one.
    pub fn pieces(&self) -> Vec<(&str, Option<&Mark>)> {
        // Byte offsets of characters are requested in ascending order, so one pass over the text is enough.
        let mut offsets = self.text.char_indices().map(|(byte, _)| byte).enumerate().peekable();
        let mut byte_of = |character: u32| {
            while offsets.next_if(|(number, _)| *number < character as usize).is_some() {}
            offsets.peek().map_or(self.text.len(), |(_, byte)| *byte)
        };
        let mut pieces = Vec::with_capacity(2 * self.marks.len() + 1);
        let mut at = 0;
        for mark in &self.marks {
            let [start, end] = [mark.start, mark.end].map(&mut byte_of);
            if at < start {
                pieces.push((&self.text[at..start], None));
            }
            pieces.push((&self.text[start..end], Some(mark)));
            at = end;
        }
        if at < self.text.len() {
            pieces.push((&self.text[at..], None));
        }
        pieces
    }
}

impl Fact {
    /// A fact that is a text.
    pub fn text(label: &'static str, text: impl Into<String>) -> Self {
        Self { label, content: Content::Text(text.into()) }
    }

    /// A fact that is a text whose end matters, if there is one.
    pub fn ends(label: &'static str, text: Option<&String>) -> Option<Self> {
        text.map(|text| Self { label, content: Content::Ends(text.clone()) })
    }

    /// A fact that is a sequence of steps: the first ones, and how many more there are of `total`.
    pub fn steps(label: &'static str, first: impl IntoIterator<Item = SequenceStep>, total: u64) -> Self {
        let mut steps: Vec<SequenceStep> = first.into_iter().collect();
        let more = total.saturating_sub(steps.len() as u64);
        if more > 0 {
            steps.push(SequenceStep::new(format!("and {more} more"), false));
        }
        Self { label, content: Content::Steps(steps) }
    }
}

impl Content {
    /// All of it as one text: steps are separated by commas, ways and parts of a timeline by semicolons.
    pub fn to_text(&self) -> String {
        match self {
            Self::Text(text) | Self::Ends(text) | Self::Code(text) => text.clone(),
            Self::Steps(steps) => SequenceStep::list(steps),
            Self::Map(map) => map.to_text(),
            Self::Timeline(periods) => periods.iter().map(Period::to_text).collect::<Vec<_>>().join("; "),
        }
    }
}

impl SequenceStep {
    /// A step without a time.
    pub fn new(text: impl Into<String>, is_wrong: bool) -> Self {
        Self { text: text.into(), when: None, is_wrong }
    }

    /// The step with its time: `stock check 09:00 to 09:45`.
    pub fn to_text(&self) -> String {
        match &self.when {
            Some(when) => format!("{} {when}", self.text),
            None => self.text.clone(),
        }
    }

    /// Steps separated by commas, equal ones in a row once with their number; `nothing` if there are none.
    pub fn list(steps: &[Self]) -> String {
        if steps.is_empty() {
            return "nothing".to_owned();
        }
        let texts: Vec<String> = steps.iter().map(Self::to_text).collect();
        let runs = texts.chunk_by(|one, next| one == next).map(|run| match run.len() {
            1 => run[0].clone(),
            times => format!("{} ({times} times)", run[0]),
        });
        runs.collect::<Vec<_>>().join(", ")
    }
}

impl CheckState {
    /// The word for it, with a sign that is clear without colour.
    pub fn words(self) -> [&'static str; 2] {
        match self {
            Self::Violated => ["✗", "violated"],
            Self::Undetermined => ["?", "undetermined"],
            Self::Held => ["✓", "held"],
            Self::InConflict => ["✗", "in conflict"],
            Self::Unjudged => ["–", "not judged"],
        }
    }

    /// Whether it is a reason for the failure.
    pub fn is_broken(self) -> bool {
        matches!(self, Self::Violated | Self::InConflict)
    }
}

impl Check {
    /// The demand as a sentence: `payroll audit before stock check`.
    pub fn sentence(&self) -> String {
        if self.subject.is_empty() {
            self.demand.clone()
        } else {
            format!("{} {}", self.subject, self.demand)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(text: &str, places: &[[u32; 2]]) -> Explanation {
        let mark = |[start, end]: &[u32; 2]| Mark {
            start: *start,
            end: *end,
            checks: Vec::new(),
            title: String::new(),
        };
        Explanation {
            text: text.to_owned(),
            marks: places.iter().map(mark).collect(),
            ..Explanation::default()
        }
    }

    fn pieces(text: &str, places: &[[u32; 2]]) -> Vec<(String, bool)> {
        let explained = explained(text, places);
        explained.pieces().into_iter().map(|(text, mark)| (text.to_owned(), mark.is_some())).collect()
    }

    fn piece(text: &str, is_marked: bool) -> (String, bool) {
        (text.to_owned(), is_marked)
    }

    #[test]
    fn pieces_are_cut_at_characters() {
        let found = pieces("Äh, ünser Text", &[[0, 2], [6, 10]]);
        assert_eq!(
            found,
            [piece("Äh", true), piece(", ün", false), piece("ser ", true), piece("Text", false)]
        );
    }

    #[test]
    fn marks_beyond_the_text_do_no_harm() {
        assert_eq!(pieces("ab", &[[1, 99]]), [piece("a", false), piece("b", true)]);
        assert_eq!(pieces("", &[[1, 99]]), [piece("", true)]);
    }

    #[test]
    fn equal_steps_in_a_row_are_counted() {
        let steps = |texts: &[&str]| {
            let step = |text: &&str| SequenceStep::new(*text, false);
            SequenceStep::list(&texts.iter().map(step).collect::<Vec<_>>())
        };
        assert_eq!(steps(&[]), "nothing");
        assert_eq!(steps(&["a", "b", "a"]), "a, b, a");
        assert_eq!(steps(&["a", "b", "b", "b", "a"]), "a, b (3 times), a");
        assert_eq!(steps(&["a"; 50]), "a (50 times)");
    }
}
