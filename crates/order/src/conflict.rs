//! Conflicts in plain words: why a case is infeasible, and what the agent reported.

use planproof_suite::Fact;
use planproof_synth::{ConflictVerdict, Naming, OracleVerdict, PlanningCase};

use crate::stated::Stated;

/// Most sentence numbers that are listed; an agent can report any.
const NUMBERS_MAX: usize = 20;

/// The description of a conflict: the conflicting sentences in their words, the contradiction, and the agent's
/// report. Empty if there was no conflict and none was reported.
pub(crate) fn conflict_facts(case: &PlanningCase, verdict: &OracleVerdict) -> Vec<Fact> {
    let Some(conflict) = &verdict.conflict else { return Vec::new() };
    let mut facts = Vec::new();
    if conflict.is_infeasible() {
        facts.push(Fact::text("conflict", cannot_hold(conflict)));
        for (number, place) in conflict.sentences.iter().zip(case.conflict_places()) {
            facts.push(Fact::text("sentence", format!("{number}, \"{}\"", case.words_at(&place))));
        }
        let demands: Vec<String> = core(case, verdict).map(|stated| stated.in_words(case)).collect();
        if !demands.is_empty() {
            facts.push(Fact::text("that is", demands.join("; ")));
        }
    }
    facts.push(Fact::text("reported", reported(conflict)));
    facts
}

/// The requirements of the conflict.
fn core<'a>(case: &'a PlanningCase, verdict: &'a OracleVerdict) -> impl Iterator<Item = Stated<'a>> {
    let is_conflict = verdict.conflict.as_ref().is_some_and(ConflictVerdict::is_infeasible);
    let ids = if is_conflict { verdict.core.as_slice() } else { &[] };
    ids.iter().filter_map(|id| Stated::find(case, id))
}

/// "sentences 1 and 3 cannot hold together".
fn cannot_hold(conflict: &ConflictVerdict) -> String {
    let numbers: Vec<u64> = conflict.sentences.iter().map(|number| u64::from(*number)).collect();
    format!("{} cannot hold together", sentences(&numbers))
}

/// The agent's report, and how good it is.
pub(crate) fn reported(conflict: &ConflictVerdict) -> String {
    let Some(numbers) = &conflict.reported else { return "nothing".to_owned() };
    let named = match conflict.named() {
        None => "although everything can hold together",
        Some(Naming::Exact) => "which is the conflict",
        Some(Naming::Superset) => "which is more than the conflict needs",
        Some(Naming::Other) => "which is not the conflict",
    };
    format!("{}, {named}", sentences(numbers))
}

/// What a false alarm was, in one line.
pub(crate) fn false_alarm(verdict: &OracleVerdict) -> Option<String> {
    let numbers = verdict.conflict.as_ref()?.reported.as_ref()?;
    Some(format!("reported as a conflict: {}, although everything can hold together", sentences(numbers)))
}

/// How a conflict was missed, in one line.
pub(crate) fn missed(case: &PlanningCase, verdict: &OracleVerdict) -> String {
    let what = verdict.conflict.as_ref().map(cannot_hold).unwrap_or_default();
    let has_reported = verdict.conflict.as_ref().is_some_and(|conflict| conflict.reported.is_some());
    let acted = match verdict.calls.len() {
        0 => String::new(),
        1 => "a task was done".to_owned(),
        // Repeats are calls, too, so there can be more of them than tasks.
        count => format!("{count} of {} tasks were done", case.actions.len().max(count)),
    };
    match (has_reported, acted.as_str()) {
        (false, "") => format!("{what}, which was not reported"),
        (false, acted) => format!("{what}, which was not reported; {acted}"),
        (true, acted) => format!("{what}, which was reported, but {acted}"),
    }
}

/// "sentence 2", "sentences 1, 2 and 3".
pub(crate) fn sentences(numbers: &[u64]) -> String {
    let mut shown: Vec<String> = numbers.iter().take(NUMBERS_MAX).map(u64::to_string).collect();
    if let Some(more @ 1..) = numbers.len().checked_sub(NUMBERS_MAX) {
        shown.push(format!("{more} more"));
    }
    match shown.as_slice() {
        [] => "no sentence".to_owned(),
        [one] => format!("sentence {one}"),
        [first @ .., last] => format!("sentences {} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_an_english_list() {
        assert_eq!(sentences(&[]), "no sentence");
        assert_eq!(sentences(&[2]), "sentence 2");
        assert_eq!(sentences(&[1, 3]), "sentences 1 and 3");
        assert_eq!(sentences(&[1, 2, 3]), "sentences 1, 2 and 3");
        let many: Vec<u64> = (1..=25).collect();
        assert!(sentences(&many).ends_with("19, 20 and 5 more"), "{}", sentences(&many));
    }
}
