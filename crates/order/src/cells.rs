//! The cells of a case and of a run in tables of runs. They are raw: the writer of a table keeps spreadsheets from
//! reading them as formulas.

use planproof_suite::Columns;
use planproof_synth::{ConflictVerdict, OneLook, OracleVerdict, PlanningCase, clock_time};

use crate::words::plan;

/// Separates the members of a list in a cell.
const SEPARATOR: &str = "; ";

/// The columns, in the order of [`of_case`] and [`of_run`].
pub(crate) const COLUMNS: Columns = Columns {
    of_case: &[
        ("topic", "the job that the case is about"),
        ("actions", "number of tasks"),
        ("constraints", "number of distinct constraints"),
        (
            "correct_plans",
            "how many of the `n!` orders are right; empty above 20 actions; 0 in infeasible cases",
        ),
        ("bits", "`log2(n!/correct_plans)`; empty above 20 actions and in infeasible cases"),
        (
            "one_look",
            "the one-look heuristics that pass the case, separated by blanks: `mention`, `reverse`, `first_word`, \
             `most_words`, `each_sentence`",
        ),
    ],
    of_run: &[
        ("calls", "the tasks done, in order, separated by `; `"),
        ("start_times", "time form only: the starts of `calls`, as `HH:MM`, separated by `; `"),
        ("violated", "the words that state what was violated, separated by `; `"),
        (
            "first_wrong_call",
            "place in `calls`, from 0, after which no correct plan was possible; empty if there is none",
        ),
        ("repair", "the nearest correct plan, separated by `; `; empty where `calls` is one"),
        ("repair_start_times", "time form only: the starts of `repair`"),
        (
            "conflict",
            "infeasible cases only: the numbers of the sentences that cannot hold together, separated by `; `",
        ),
        (
            "reported",
            "the numbers of the sentences that the agent reported to be in conflict; empty where nothing was reported",
        ),
        (
            "named",
            "what `reported` is beside `conflict`, as in verdict v1; empty where nothing was reported, and in feasible \
             cases",
        ),
    ],
};

/// The cells that are the same in all runs of a case.
pub(crate) fn of_case(case: &PlanningCase) -> Vec<String> {
    let difficulty = &case.difficulty;
    vec![
        case.topic.clone(),
        difficulty.actions.to_string(),
        difficulty.constraints.to_string(),
        number(difficulty.correct_plans),
        number(difficulty.bits),
        OneLook::passing(case).map(OneLook::as_str).collect::<Vec<_>>().join(" "),
    ]
}

/// The cells of a verdict; without a readable one, those of the case.
pub(crate) fn of_run(case: &PlanningCase, verdict: Option<&OracleVerdict>) -> Vec<String> {
    let written = |tell: &dyn Fn(&OracleVerdict) -> String| verdict.map_or(String::new(), tell);
    let conflict = verdict.and_then(|verdict| verdict.conflict.as_ref());
    vec![
        written(&|verdict| plan(case, &verdict.calls, SEPARATOR)),
        written(&|verdict| verdict.time.as_ref().map_or(String::new(), |time| times(&time.starts))),
        written(&|verdict| violated_words(verdict).join(SEPARATOR)),
        written(&|verdict| number(verdict.first_wrong_call)),
        written(&|verdict| plan(case, &verdict.repair, SEPARATOR)),
        written(&|verdict| verdict.time.as_ref().map_or(String::new(), |time| times(&time.repair_starts))),
        numbers(case.conflict.as_deref().unwrap_or_default()),
        conflict.and_then(|conflict| conflict.reported.as_deref()).map_or(String::new(), numbers),
        conflict.and_then(ConflictVerdict::named).map_or(String::new(), |named| named.as_str().to_owned()),
    ]
}

/// Times of day, from minutes after midnight.
fn times(minutes: &[u16]) -> String {
    minutes.iter().map(|minute| clock_time(*minute)).collect::<Vec<_>>().join(SEPARATOR)
}

fn numbers(numbers: &[impl ToString]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(SEPARATOR)
}

/// Each once: the same words can state several constraints.
fn violated_words(verdict: &OracleVerdict) -> Vec<&str> {
    let mut words: Vec<&str> = Vec::new();
    for violated in &verdict.violated {
        if !words.contains(&violated.words.as_str()) {
            words.push(&violated.words);
        }
    }
    words
}

fn number(value: Option<impl ToString>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}
