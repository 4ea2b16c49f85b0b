//! A verdict in plain words, for reports that are text: what was called, what that violated, what would have been
//! right. The words of a case, of an agent and of the world outside come in as they are; escaping is the report's.

use planproof_bench::violated_places;
use planproof_synth::{ActionId, Case, Class, Flag, Source, Verdict};

use crate::ReportedCampaign;

/// Most characters of one line of an explanation; a run can have thousands of calls.
pub(crate) const LINE_CHARACTERS_MAX: usize = 2000;

/// Most refused calls that are told one by one.
const REFUSED_SHOWN_MAX: usize = 5;

/// The constraints that one piece of the text states and that were violated. Lists state several with the same words.
struct Violation<'a> {
    words: &'a str,
    /// `a before b`.
    pairs: Vec<String>,
}

fn violations<'a>(case: &Case, verdict: &'a Verdict) -> Vec<Violation<'a>> {
    let mut by_words: Vec<Violation<'a>> = Vec::new();
    for violated in &verdict.violated {
        let Some(stated) = case.constraints.iter().find(|stated| stated.id == violated.id) else { continue };
        let [first, second] = [stated.first, stated.second].map(|place| &case.actions[place].text);
        let pair = format!("{first} before {second}");
        match by_words.iter_mut().find(|violation| violation.words == violated.words) {
            Some(violation) => violation.pairs.push(pair),
            None => by_words.push(Violation { words: &violated.words, pairs: vec![pair] }),
        }
    }
    by_words
}

/// The words of an action.
fn text<'a>(case: &'a Case, id: &'a ActionId) -> &'a str {
    case.actions.iter().find(|action| action.id == *id).map_or(id.as_str(), |action| &action.text)
}

/// The words of a plan's actions, joined by `separator`.
pub(crate) fn plan(case: &Case, ids: &[ActionId], separator: &str) -> String {
    ids.iter().map(|id| text(case, id)).collect::<Vec<_>>().join(separator)
}

/// The paragraph in pieces that are marked, because they state what was violated, or not.
pub(crate) fn pieces<'a>(case: &'a Case, verdict: &Verdict) -> Vec<(&'a str, bool)> {
    let mut pieces = Vec::new();
    let mut at = 0;
    let mut take = |start, end, is_marked| {
        let words = case.words_at(&Source { sentence: 0, sub_sentence: 0, start, end });
        if !words.is_empty() {
            pieces.push((words, is_marked));
        }
    };
    for mark in violated_places(case, verdict) {
        take(at, mark.start, false);
        take(mark.start, mark.end, true);
        at = mark.end;
    }
    take(at, u32::MAX, false);
    pieces
}

/// What went wrong, in one line; `passed` if nothing did.
pub(crate) fn summary(case: &Case, verdict: &Verdict) -> String {
    let Some(class) = verdict.class else { return "passed".to_owned() };
    let cut_short = || verdict.cut_short.as_deref().map(one_line);
    let what = match class {
        Class::Timeout => cut_short(),
        Class::ActError => match verdict.refused.first() {
            Some(refused) => Some(one_line(&format!(
                "{} was refused: {}{}",
                refused.tool,
                refused.answer,
                more(&verdict.refused)
            ))),
            None => cut_short(),
        },
        Class::ActionLost => Some(format!("never done: {}", missing(case, verdict).join(", "))),
        Class::OrderError => {
            let violations = violations(case, verdict);
            violations.first().and_then(|violation| {
                let pair = violation.pairs.first()?;
                Some(format!("not {pair}: \"{}\"{}", violation.words, more(&verdict.violated)))
            })
        }
        Class::Repeated => Some(format!("done again: {}", repeated(case, verdict).join(", "))),
        Class::Distractor => Some("a tool that belongs to no task was called".to_owned()),
        Class::ParameterError => None,
    };
    what.unwrap_or_else(|| class.as_str().to_owned())
}

/// ` (and 2 more)` behind the first of several.
fn more<T>(all: &[T]) -> String {
    match all.len() {
        0 | 1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    }
}

fn missing<'a>(case: &'a Case, verdict: &Verdict) -> Vec<&'a str> {
    let lost = case.actions.iter().filter(|action| !verdict.calls.contains(&action.id));
    lost.map(|action| action.text.as_str()).collect()
}

/// The actions that were done more than once, in the order of the case.
fn repeated<'a>(case: &'a Case, verdict: &Verdict) -> Vec<&'a str> {
    let times = |id: &ActionId| verdict.calls.iter().filter(|call| *call == id).count();
    case.actions.iter().filter(|action| times(&action.id) > 1).map(|action| action.text.as_str()).collect()
}

/// All there is to say of a verdict beside its class and the paragraph: lines of a label and a text, in the order in
/// which people ask. No text has more than [`LINE_CHARACTERS_MAX`] characters or a line break.
pub(crate) fn lines(case: &Case, verdict: &Verdict) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    let mut line = |label, text: String| lines.push((label, short(&one_line(&text), LINE_CHARACTERS_MAX)));
    line(
        "called",
        if verdict.calls.is_empty() { "nothing".to_owned() } else { plan(case, &verdict.calls, ", ") },
    );
    for violation in violations(case, verdict) {
        line("violated", format!("\"{}\", that is, {}", violation.words, violation.pairs.join("; ")));
    }
    let missing = missing(case, verdict);
    if !missing.is_empty() {
        line("missing", missing.join(", "));
    }
    for refused in verdict.refused.iter().take(REFUSED_SHOWN_MAX) {
        line("refused", format!("{}: {}", refused.tool, refused.answer));
    }
    if let Some(left_out) = verdict.refused.len().checked_sub(REFUSED_SHOWN_MAX).filter(|count| *count > 0) {
        line("refused", format!("and {left_out} more"));
    }
    if let Some(reason) = &verdict.cut_short {
        line("ended", reason.clone());
    }
    if verdict.flags.contains(&Flag::Class(Class::Distractor)) {
        line("note", "a tool that belongs to no task was called".to_owned());
    }
    if verdict.flags.contains(&Flag::Concurrent) {
        line("note", "calls overlapped in time".to_owned());
    }
    if let Some(wrong) = verdict.first_wrong_call {
        let called = verdict.calls.get(wrong).map(|id| text(case, id)).unwrap_or_default();
        let right = verdict.correct_next.get(wrong).map(|ids| plan(case, ids, ", ")).unwrap_or_default();
        line("wrong", format!("call {}, {called}; right there: {right}", wrong + 1));
    }
    if !verdict.repair.is_empty() {
        line("right", plan(case, &verdict.repair, ", "));
    }
    lines
}

/// The paragraph with the words that state what was violated between « and », and below it what there is to say.
pub(crate) fn full_text(case: &Case, verdict: &Verdict) -> String {
    let mut out = String::new();
    for (words, is_marked) in pieces(case, verdict) {
        out += &if is_marked { format!("«{words}»") } else { words.to_owned() };
    }
    out += "\n\n";
    for (label, text) in lines(case, verdict) {
        out += &labelled(label, &text);
    }
    out
}

/// A line of a label and a text, with all texts one below the other.
pub(crate) fn labelled(label: &str, text: &str) -> String {
    format!("{:<10}{text}\n", format!("{label}:"))
}

/// The command that shows the run of a case with its trace.
pub(crate) fn command_to_see(campaign: &ReportedCampaign<'_>, case: &Case) -> String {
    let store = match campaign.store_option {
        "" => String::new(),
        option => format!(" {option}"),
    };
    format!("planproof runs show {} --case {}{store}", shell_word(campaign.id), shell_word(&case.id))
}

/// The command that tries again what could not be scored, and runs what was not.
pub(crate) fn command_to_resume(campaign: &ReportedCampaign<'_>) -> String {
    let store = match campaign.store_option {
        "" => String::new(),
        option => format!(" {option}"),
    };
    format!("planproof test --resume {}{store}", shell_word(campaign.id))
}

/// The text as one word of a POSIX shell.
fn shell_word(text: &str) -> String {
    let is_plain =
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:@%+=".contains(c));
    if is_plain { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// The text without line breaks and other control characters, and without blanks at its ends.
pub(crate) fn one_line(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    text.trim().to_owned()
}

/// At most `most` characters, with a mark where something was left out.
pub(crate) fn short(text: &str, most: usize) -> String {
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(most.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_with_a_mark() {
        for (text, most, expected) in [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("äöü", 2, "ä…"), ("", 0, "")]
        {
            assert_eq!(short(text, most), expected);
        }
        assert_eq!(one_line(" a\r\nb\u{7} "), "a  b");
    }

    #[test]
    fn ids_are_one_word_of_a_shell() {
        for (text, expected) in
            [("7-3", "7-3"), ("", "''"), ("a b", "'a b'"), ("it's;$(x)", r"'it'\''s;$(x)'")]
        {
            assert_eq!(shell_word(text), expected);
        }
    }
}
