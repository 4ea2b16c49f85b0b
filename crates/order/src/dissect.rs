//! Dissection: from a failed case to the cause of the failure (PDoctor, section 4.5, Algorithm 2).
//!
//! The agent gets the same query again, then variants of it, from small changes to large ones
//! ([`planproof_synth::Mutator`]). The first one that it passes names the cause. Each run is a *trial*; the trials of
//! a campaign are a campaign of their own, with the variants as its cases, so that the store, budgets and recordings
//! handle them like all runs.
//!
//! Trials are run in rounds: each undecided error has one trial per round. So the same seed gives the same trials in
//! the same places, whatever the concurrency.

mod part;
mod report;
mod run;
mod search;
mod sequel;

use std::sync::Arc;

use planproof_synth::{Mutation, Mutator, PlanningCase, Replacement};
use planproof_trace::Draw;
use serde::{Deserialize, Serialize};

use crate::{OrderCase, OrderOutcome, OrderRun};
use search::Search;

pub use planproof_engine::studies::{
    Cause, CauseShare, ChangedPiece, DissectedCase, DissectionReport, Enough, EnoughCounts, ReportedTrial,
    SkippedTrial, TopicErrors,
};
pub use report::{errors_by_topic, report};
pub use run::DissectionRun;
pub(crate) use sequel::{DissectionSequel, OPTIONS};

/// Most trials of one step: reruns, or variants of one kind.
pub const TRIALS_MAX: u32 = 100;

/// How errors are dissected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DissectOptions {
    /// Variants of each kind, the paper's K: 1 to [`TRIALS_MAX`].
    pub variants: u32,
    /// Reruns of the same query: 0 to [`TRIALS_MAX`].
    pub reruns: u32,
    /// Most errors that are dissected; they are drawn at random. `None` for all.
    pub errors_max: Option<u32>,
    /// As the paper prints its algorithm: the first failed variant with another structure names the constraint as the
    /// cause.
    pub original: bool,
}

impl Default for DissectOptions {
    /// Three reruns as in the paper, five variants of each kind (the paper does not print its K), all errors.
    fn default() -> Self {
        Self { variants: 5, reruns: 3, errors_max: None, original: false }
    }
}

/// The change of a trial. In the order of the algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TrialStep {
    /// Nothing: the same query at another seed.
    Rerun,
    /// Wordings, and tasks within the same job.
    Terminal,
    /// The wordings of a terminal variant that the agent passed, without its tasks.
    Wordings,
    /// The tasks of a terminal variant that the agent passed, without its wordings.
    Actions,
    Topic,
    /// The paragraph, with equivalent constraints.
    Structure,
}

impl TrialStep {
    /// All steps.
    pub const ALL: [Self; 6] =
        [Self::Rerun, Self::Terminal, Self::Wordings, Self::Actions, Self::Topic, Self::Structure];

    /// The word used in ids and files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rerun => "rerun",
            Self::Terminal => "terminal",
            Self::Wordings => "wordings",
            Self::Actions => "actions",
            Self::Topic => "topic",
            Self::Structure => "structure",
        }
    }

    /// The change, and the stream that its seed is drawn from: the parts of a terminal variant share the stream of
    /// the whole.
    fn mutation(self) -> Option<(Mutation, &'static str)> {
        match self {
            Self::Rerun => None,
            Self::Terminal => Some((Mutation::Terminals, "dissect/words")),
            Self::Wordings => Some((Mutation::Wordings, "dissect/words")),
            Self::Actions => Some((Mutation::Actions, "dissect/words")),
            Self::Topic => Some((Mutation::Topic, "dissect/topic")),
            Self::Structure => Some((Mutation::Structure, "dissect/form")),
        }
    }
}

/// One run of the dissection of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Trial {
    pub step: TrialStep,
    /// Which of that kind, from 1.
    pub number: u32,
}

/// A trial with what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialRecord {
    /// Index of the failed case in its campaign.
    pub error: u32,
    pub trial: Trial,
    /// The case for the agent; its id is that of the failed case, a full stop, step, hyphen and number.
    pub case: PlanningCase,
    /// The changed places; empty for a rerun.
    pub changes: Vec<Replacement>,
    /// The outcome; `None` if it was not run to its end. Its index is that of the trial.
    pub outcome: Option<OrderOutcome>,
}

/// What is known of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Passed,
    Failed,
    /// There is no such variant.
    Impossible,
    /// It was not run, or its outcome says nothing.
    Nothing,
}

/// What is to be done about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Try(Trial),
    /// Nothing: the cause is found.
    Found(Cause, Option<Enough>),
    /// Nothing: the agent passed no trial, but there were no variants of a kind, so the cause may be of that kind.
    Undecided,
}

/// Algorithm 2, by what is known so far.
fn next(options: &DissectOptions, seen: impl Fn(Trial) -> Seen) -> Next {
    let mut is_whole = true;
    for (step, cause, count) in [
        (TrialStep::Rerun, Cause::Probability, options.reruns),
        (TrialStep::Terminal, Cause::Terminal, options.variants),
        (TrialStep::Topic, Cause::Topic, options.variants),
        (TrialStep::Structure, Cause::Structure, options.variants),
    ] {
        let mut were_tried = 0;
        for number in 1..=count {
            let trial = Trial { step, number };
            match seen(trial) {
                // One trial at a time: the first one that the agent passes ends the search, which saves the others.
                Seen::Nothing => return Next::Try(trial),
                Seen::Impossible => continue,
                // Wordings and tasks were changed together; two more trials tell which of them was enough.
                Seen::Passed if step == TrialStep::Terminal => return enough(number, seen),
                Seen::Passed => return Next::Found(cause, None),
                // With `--compat original`: as the paper prints Algorithm 2, the first failed variant is enough.
                Seen::Failed if step == TrialStep::Structure && options.original => {
                    return Next::Found(Cause::Constraint, None);
                }
                Seen::Failed => were_tried += 1,
            }
        }
        // A kind without a single variant cannot be ruled out; a kind that was not asked for does not count.
        is_whole &= were_tried > 0 || count == 0;
    }
    if is_whole { Next::Found(Cause::Constraint, None) } else { Next::Undecided }
}

/// Which part of the terminal variant of that number was sufficient.
fn enough(number: u32, seen: impl Fn(Trial) -> Seen) -> Next {
    let mut alone = [false; 2];
    for (alone, step) in alone.iter_mut().zip([TrialStep::Wordings, TrialStep::Actions]) {
        let trial = Trial { step, number };
        *alone = match seen(trial) {
            Seen::Nothing => return Next::Try(trial),
            // A part that cannot be made alone was not enough alone.
            seen => seen == Seen::Passed,
        };
    }
    let enough = match alone {
        [true, true] => Enough::Either,
        [true, false] => Enough::Wordings,
        [false, true] => Enough::Actions,
        [false, false] => Enough::Both,
    };
    Next::Found(Cause::Terminal, Some(enough))
}

/// The errors to dissect: the failed cases, or a limited number of them drawn by the seed; in the order of the
/// campaign. Infeasible cases are left out: they have no variants (see [`Mutator::mutate`]), because a cause is one
/// of wrong planning.
pub fn pick_errors(outcomes: &[OrderOutcome], options: &DissectOptions, seed: u64) -> Vec<u32> {
    let failed = outcomes.iter().filter(|outcome| is_error(outcome));
    let mut errors: Vec<u32> = failed.map(|outcome| outcome.ordinal).collect();
    // Several failed repeats of a case are one error.
    errors.sort_unstable();
    errors.dedup();
    if let Some(most) = options.errors_max {
        draw(&mut errors, most, seed);
    }
    errors
}

/// Whether a run is a planning error: a failure of a feasible case.
fn is_error(outcome: &OrderOutcome) -> bool {
    outcome.passed() == Some(false) && !outcome.is_infeasible()
}

/// Keeps at most `most` errors, drawn by the seed; in the order of the campaign.
fn draw(errors: &mut Vec<u32>, most: u32, seed: u64) {
    Draw::new(seed, 0, "dissect/errors").shuffle(errors);
    errors.truncate(most as usize);
    errors.sort_unstable();
}

#[derive(Debug, Clone, PartialEq)]
pub struct DissectedError {
    /// Index of the failed case in its campaign.
    pub error: u32,
    /// The cause; `None` if it is not known yet.
    pub cause: Option<Cause>,
    /// For [`Cause::Terminal`]: the sufficient part.
    pub enough: Option<Enough>,
    /// There are trials left: the dissection was interrupted, or a trial says nothing because something else failed.
    pub is_open: bool,
    /// Trials that could not be made, with the reasons.
    pub impossible: Vec<(Trial, String)>,
}

/// All dissected errors of a campaign, with their trials.
#[derive(Debug, Clone, PartialEq)]
pub struct Dissection {
    /// How it was done.
    pub options: DissectOptions,
    /// In the order of the campaign.
    pub errors: Vec<DissectedError>,
    /// In the order in which they were begun.
    pub trials: Vec<TrialRecord>,
}

impl Dissection {
    /// The result of the existing trials. `cases` and `seed` are those of the campaign, `errors` are those of
    /// [`pick_errors`].
    ///
    /// # Panics
    /// If an error is not the index of a case.
    pub fn of_trials(
        cases: &[Arc<OrderCase>],
        errors: &[u32],
        options: DissectOptions,
        seed: u64,
        mutator: Mutator<'_>,
        trials: Vec<TrialRecord>,
    ) -> Self {
        Search::new(cases, errors, options, seed, mutator, trials).conclude()
    }

    /// Whether every error is decided, or cannot be.
    pub fn is_complete(&self) -> bool {
        self.errors.iter().all(|error| !error.is_open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates the algorithm with an agent that passes these trials; returns the trials and the end.
    fn follow(
        options: DissectOptions,
        passes: &[(TrialStep, u32)],
        impossible: &[TrialStep],
    ) -> (Vec<Trial>, Next) {
        let mut tried = Vec::new();
        loop {
            let seen = |trial: Trial| match tried.contains(&trial) {
                _ if impossible.contains(&trial.step) => Seen::Impossible,
                false => Seen::Nothing,
                true if passes.contains(&(trial.step, trial.number)) => Seen::Passed,
                true => Seen::Failed,
            };
            match next(&options, seen) {
                Next::Try(trial) => tried.push(trial),
                end => return (tried, end),
            }
        }
    }

    #[test]
    fn the_first_passed_trial_names_the_cause() {
        let ours = DissectOptions::default();
        for (passes, trials, end) in [
            (vec![(TrialStep::Rerun, 3)], 3, Next::Found(Cause::Probability, None)),
            (vec![(TrialStep::Terminal, 2)], 3 + 2 + 2, Next::Found(Cause::Terminal, Some(Enough::Both))),
            (
                vec![(TrialStep::Terminal, 5), (TrialStep::Wordings, 5), (TrialStep::Actions, 4)],
                3 + 5 + 2,
                Next::Found(Cause::Terminal, Some(Enough::Wordings)),
            ),
            (
                vec![(TrialStep::Terminal, 1), (TrialStep::Actions, 1)],
                3 + 1 + 2,
                Next::Found(Cause::Terminal, Some(Enough::Actions)),
            ),
            (
                vec![(TrialStep::Terminal, 1), (TrialStep::Actions, 1), (TrialStep::Wordings, 1)],
                3 + 1 + 2,
                Next::Found(Cause::Terminal, Some(Enough::Either)),
            ),
            (vec![(TrialStep::Topic, 5)], 3 + 5 + 5, Next::Found(Cause::Topic, None)),
            (vec![(TrialStep::Structure, 5)], 3 + 15, Next::Found(Cause::Structure, None)),
            (vec![(TrialStep::Structure, 6)], 3 + 15, Next::Found(Cause::Constraint, None)),
        ] {
            let (tried, found) = follow(ours, &passes, &[]);
            assert_eq!((tried.len(), found), (trials, end), "{passes:?}");
        }
    }

    #[test]
    fn the_original_stops_at_the_first_failed_structure() {
        let original = DissectOptions { original: true, ..DissectOptions::default() };
        let (tried, end) = follow(original, &[(TrialStep::Structure, 2)], &[]);
        assert_eq!((tried.len(), end), (3 + 5 + 5 + 1, Next::Found(Cause::Constraint, None)));
        let (_, end) = follow(original, &[(TrialStep::Structure, 1)], &[]);
        assert_eq!(end, Next::Found(Cause::Structure, None));
    }

    #[test]
    fn what_could_not_be_tried_is_not_ruled_out() {
        let options = DissectOptions { variants: 2, reruns: 0, ..DissectOptions::default() };
        let (tried, end) = follow(options, &[], &[TrialStep::Structure]);
        assert_eq!((tried.len(), end), (4, Next::Undecided));
        let (_, end) = follow(options, &[(TrialStep::Structure, 1)], &[TrialStep::Topic]);
        assert_eq!(end, Next::Found(Cause::Structure, None));
        assert_eq!(follow(options, &[], &[]).1, Next::Found(Cause::Constraint, None));
    }
}
