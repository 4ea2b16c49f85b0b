//! Judging infeasible cases, and reports of a conflict in any case. **(ours)**

use planproof_trace::TimeOfDay;

use super::time::{TimeVerdict, is_clear, is_without_arguments, written_start};
use super::{CallRecord, Ended, Flag, JudgeOptions, OracleVerdict, OrderClass, Refused, primary_class};
use crate::case::{ConstraintId, PlanningCase};
use crate::infeasible::{Naming, reported_sentences};

/// The conflict of the case, and the agent's report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictVerdict {
    /// The numbers of the conflicting sentences, from 1 and ascending; empty in a feasible case.
    pub sentences: Vec<u32>,
    /// The reported numbers, ascending, each once: those of the last accepted report. They may not be numbers of
    /// existing sentences. `None` if nothing was reported.
    pub reported: Option<Vec<u64>>,
}

impl ConflictVerdict {
    /// `None` in a feasible case without a report.
    pub(super) fn of(case: &PlanningCase, calls: &[CallRecord<'_>]) -> Option<Self> {
        let is_taken =
            |call: &&CallRecord<'_>| matches!(call.answered, Some((_, None))) && case.is_report(call.tool);
        // The last report counts, since an agent may correct itself.
        let reported = calls.iter().rfind(is_taken).map(|call| reported_sentences(call.arguments));
        let is_known = reported.is_some() || !case.is_feasible();
        is_known.then(|| Self { sentences: case.conflict.clone().unwrap_or_default(), reported })
    }

    /// Whether the case is infeasible.
    pub fn is_infeasible(&self) -> bool {
        !self.sentences.is_empty()
    }

    /// The reported sentences compared with the conflict; `None` if nothing was reported, and in a feasible case.
    pub fn named(&self) -> Option<Naming> {
        let reported = self.reported.as_deref().filter(|_| self.is_infeasible())?;
        Some(Naming::of(reported, &self.sentences))
    }
}

/// Judges a run of an infeasible case, of either form: whether a conflict was reported, and no action executed in the
/// whole run. Actions cleared by a restart count as executed.
pub(super) fn judge(
    case: &PlanningCase,
    calls: &[CallRecord<'_>],
    ended: Ended,
    options: JudgeOptions,
) -> OracleVerdict {
    let Ended { mut flags, denied, cut_short, conflict, messages: _ } = ended;
    let (mut refused, mut executed, mut starts, mut restarts) = (Vec::new(), Vec::new(), Vec::new(), 0);
    let mut has_acted = false;
    for call in calls {
        match (call.answered, case.action_of_tool(call.tool)) {
            (None, _) => {}
            // A restart beyond the limit is refused although the call itself is correct, so it is not an act error.
            (Some((_, Some(_))), _) if case.is_restart(call.tool) && is_without_arguments(call) => {
                flags.insert(Flag::RestartLimit);
            }
            (Some((_, Some(answer))), _) => {
                flags.insert(Flag::Class(OrderClass::ActError));
                refused.push(Refused { tool: call.tool.to_owned(), answer: answer.to_owned() });
            }
            (Some((_, None)), None) if is_clear(case, call) => restarts += 1,
            (Some((_, None)), None) if case.is_report(call.tool) => {}
            (Some((_, None)), None) => {
                flags.insert(Flag::Class(OrderClass::Distractor));
            }
            (Some((_, None)), Some(action)) => {
                has_acted = true;
                let start = written_start(call).and_then(TimeOfDay::parse).map(TimeOfDay::minute);
                // Our tools refuse a start that is not a clock time; a foreign trace may contain one.
                if case.time.is_none() || start.is_some() {
                    executed.push(case.actions[action].id.clone());
                    starts.extend(start.filter(|_| case.time.is_some()));
                }
            }
        }
    }
    let has_reported = conflict.as_ref().is_some_and(|conflict| conflict.reported.is_some());
    // A task that was done cannot be undone, whatever was reported.
    if has_acted || !has_reported {
        flags.insert(Flag::Class(OrderClass::ConflictMissed));
    }
    // As elsewhere, a refused call can explain an omission: here, of a report.
    let explains = |it: &Refused| case.is_report(&it.tool) || case.tool(&it.tool).is_none();
    let is_explained = !has_reported && refused.iter().any(explains);
    let class = primary_class(&flags, is_explained, options);
    let ids: Vec<&ConstraintId> = case.constraint_ids().collect();
    let core = case.conflict_constraints().into_iter().map(|place| ids[place].clone()).collect();
    OracleVerdict {
        passed: class.is_none(),
        class,
        flags,
        calls: executed,
        violated: Vec::new(),
        wrong_values: Vec::new(),
        undetermined: Vec::new(),
        first_wrong_call: None,
        core,
        repair: Vec::new(),
        correct_next: Vec::new(),
        refused,
        denied,
        failed: Vec::new(),
        waived: Vec::new(),
        turns: Vec::new(),
        cut_short,
        answer: None,
        conflict,
        time: case.time.is_some().then(|| TimeVerdict {
            next_starts: Vec::new(),
            starts,
            parameter_errors: Vec::new(),
            late: Vec::new(),
            restarts,
            repair_starts: Vec::new(),
            is_decided: true,
        }),
    }
}
