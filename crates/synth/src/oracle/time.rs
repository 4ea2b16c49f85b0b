//! Judging the time form: only the calls after the last restart count, by the start times that the agent gave and the
//! durations that the tools returned.

use planproof_constraint::{Nearest, StartTime, TimedProblem, UndecidedSchedule, Variable, variables_in};
use planproof_trace::TimeOfDay;

use super::{
    CallRecord, Ended, Fared, Flag, JudgeOptions, OracleVerdict, OrderClass, Refused, explains_lost, fared,
    linearisation, note_overlap, primary_class, values::Passed,
};
use crate::case::{ActionId, PlanningCase};
use crate::time_form::{START_TIME_ARGUMENT, TimeForm};

/// The additions of the time form to a verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeVerdict {
    /// The start of each of [`OracleVerdict::calls`], in minutes from midnight.
    pub starts: Vec<u16>,
    /// Impossible starts, in the order of the calls.
    pub parameter_errors: Vec<ParameterError>,
    /// Actions that ended after the day.
    pub late: Vec<ActionId>,
    /// How often the agent cleared the day.
    pub restarts: u32,
    /// The starts of [`OracleVerdict::repair`].
    pub repair_starts: Vec<u16>,
    /// For each of [`OracleVerdict::correct_next`] the earliest correct start at that point.
    pub next_starts: Vec<Vec<u16>>,
    /// Whether every search was completed. If not, the first wrong call may be earlier than the stated one, or exist
    /// although none is stated; core, repair and right calls may be missing; and another repair may move fewer calls.
    pub is_decided: bool,
}

/// A call whose start cannot be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterError {
    pub tool: String,
    /// The start, as the agent wrote it.
    pub start: String,
    /// What is wrong with it.
    pub fault: StartFault,
}

/// What is wrong with a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartFault {
    /// It is not a clock time; the call was refused.
    NoClockTime,
    /// It is before the day begins.
    BeforeDay,
    /// It is before the end of the previous call.
    Overlap {
        /// The end of that call, in minutes from midnight.
        end: u16,
    },
}

impl StartFault {
    /// The word used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoClockTime => "no_clock_time",
            Self::BeforeDay => "before_day",
            Self::Overlap { .. } => "overlap",
        }
    }
}

/// Judges a run of a case of the time form.
pub(super) fn judge(
    case: &PlanningCase,
    time: &TimeForm,
    calls: &[CallRecord<'_>],
    ended: Ended,
    options: JudgeOptions,
) -> OracleVerdict {
    let Ended { mut flags, denied, cut_short, conflict, messages: _ } = ended;
    let is_restart = |call: &CallRecord<'_>| case.is_restart(call.tool);
    let has_cleared = |call: &CallRecord<'_>| is_clear(case, call);
    let calls = by_start_time(calls);
    let restarts = calls.iter().filter(|call| has_cleared(call)).count() as u32;
    // A restart clears the day, so only what follows the last one can be the plan.
    let restart = calls.iter().rposition(|call| has_cleared(call));
    let judged = &calls[restart.map_or(0, |restart| restart + 1)..];

    let mut refused = Vec::new();
    let mut parameter_errors = Vec::new();
    let mut starts: Vec<StartTime> = Vec::with_capacity(judged.len());
    // When each of these calls began.
    let mut begun: Vec<u64> = Vec::with_capacity(judged.len());
    let mut late = Vec::new();
    let mut executed: Vec<(u64, u64)> = Vec::new();
    let mut done = 0;
    let mut end = None;
    let mut passed = Passed::of(case);
    for call in judged {
        let Some((answered, error)) = call.answered else { continue };
        let written = written_start(call);
        let start = written.and_then(TimeOfDay::parse).map(TimeOfDay::minute);
        let mut wrong_start = |fault| {
            let (tool, start) = (call.tool.to_owned(), written.unwrap_or_default().to_owned());
            parameter_errors.push(ParameterError { tool, start, fault });
        };
        let action = match (error, case.action_of_tool(call.tool), start) {
            // The tool exists and the start is a text, so only the clock time is wrong. A missing or non-text start is
            // an act error, as for any other schema.
            (Some(_), _, None) if written.is_some() && case.tool(call.tool).is_some() => {
                wrong_start(StartFault::NoClockTime);
                continue;
            }
            (Some(_), ..) if is_restart(call) && is_without_arguments(call) => {
                flags.insert(Flag::RestartLimit);
                continue;
            }
            (Some(answer), ..) => {
                flags.insert(Flag::Class(OrderClass::ActError));
                refused.push(Refused { tool: call.tool.to_owned(), answer: answer.to_owned() });
                continue;
            }
            (None, None, _) if case.is_report(call.tool) => continue,
            (None, None, _) => {
                flags.insert(Flag::Class(OrderClass::Distractor));
                continue;
            }
            (None, Some(_), None) => {
                // Our tools refuse this; foreign traces may contain it.
                wrong_start(StartFault::NoClockTime);
                continue;
            }
            (None, Some(action), Some(minute)) => StartTime { variable: Variable::new(action), minute },
        };
        // The tool has executed the call nevertheless, so it is judged further, as a call at that time.
        if action.minute < time.day.start {
            wrong_start(StartFault::BeforeDay);
        } else if let Some(end) = end.filter(|end| action.minute < *end) {
            wrong_start(StartFault::Overlap { end });
        }
        let own_end = action.minute.saturating_add(time.durations[action.variable.index()]);
        // A repeat takes time, but the end of the first execution is the one that counts.
        if done & action.variable.bit() != 0 {
            flags.insert(Flag::Class(OrderClass::Repeated));
        } else if own_end > time.day.end {
            late.push(action.variable);
        }
        note_overlap(&mut executed, (call.start, answered), &mut flags);
        done |= action.variable.bit();
        end = Some(own_end);
        passed.note(action.variable.index(), starts.len(), call);
        starts.push(action);
        begun.push(call.start);
    }
    if !parameter_errors.is_empty() {
        flags.insert(Flag::Class(OrderClass::ParameterError));
    }
    let lost: Vec<usize> = (0..case.actions.len()).filter(|action| done & 1 << action == 0).collect();
    if !lost.is_empty() {
        flags.insert(Flag::Class(OrderClass::ActionLost));
    }
    let problem = case.timed_problem().expect("the case is of the time form");
    let statuses = problem.check(&starts);
    let Fared { violated, undetermined } = fared(case, &statuses);
    if !violated.is_empty() || !late.is_empty() {
        flags.insert(Flag::Class(OrderClass::OrderError));
    }
    let wrong = passed.wrong(case, &statuses, &mut flags);
    let class = primary_class(&flags, explains_lost(case, &refused, &lost), options);

    let id_of = |variable: Variable| case.actions[variable.index()].id.clone();
    // From here on searches are needed, which can end undecided. Class and flags never depend on one.
    let (blocking, is_blocking_known) = known(problem.blocking(&starts));
    let first_wrong_call = blocking.as_ref().map(|(call, _)| *call);
    let core = blocking.map(|(_, places)| ids_at(case, &places)).unwrap_or_default();
    let (first_wrong_call, core) = wrong.or_later(first_wrong_call, core);
    let (nearest, is_nearest_known) = known(problem.timetable().nearest(&starts));
    // A repair without proof that no other moves fewer calls leaves the verdict undecided, too.
    let is_nearest_known = is_nearest_known && nearest.as_ref().is_none_or(|nearest| nearest.is_proven);
    let repair =
        nearest.map(|Nearest { schedule, .. }| schedule).filter(|it| *it != starts).unwrap_or_default();
    let (next, is_next_known) = correct_next(&problem, &starts, first_wrong_call);
    // From here on in the order in which the calls began.
    let mut shown: Vec<usize> = (0..starts.len()).collect();
    shown.sort_by_key(|call| begun[*call]);
    let (correct_next, next_starts): (Vec<_>, Vec<_>) = shown
        .iter()
        .map(|call| {
            next[*call].iter().map(|it| (id_of(it.variable), it.minute)).unzip::<_, _, Vec<_>, Vec<_>>()
        })
        .unzip();
    OracleVerdict {
        passed: class.is_none(),
        class,
        flags,
        calls: shown.iter().map(|call| id_of(starts[*call].variable)).collect(),
        violated,
        wrong_values: wrong.values,
        undetermined,
        first_wrong_call: first_wrong_call.and_then(|wrong| shown.iter().position(|call| *call == wrong)),
        core,
        repair: repair.iter().map(|start| id_of(start.variable)).collect(),
        correct_next,
        refused,
        denied,
        failed: Vec::new(),
        waived: Vec::new(),
        turns: Vec::new(),
        cut_short,
        answer: None,
        conflict,
        time: Some(TimeVerdict {
            starts: shown.iter().map(|call| starts[*call].minute).collect(),
            parameter_errors,
            late: late.into_iter().map(id_of).collect(),
            restarts,
            repair_starts: repair.iter().map(|start| start.minute).collect(),
            next_starts,
            is_decided: is_blocking_known && is_nearest_known && is_next_known,
        }),
    }
}

/// The calls in the order in which they are judged: of calls that overlapped, the one with the earlier start time
/// comes first, because no plan with these start times can be right in another order.
fn by_start_time<'c, 'a>(calls: &'c [CallRecord<'a>]) -> Vec<&'c CallRecord<'a>> {
    let end = |call: &CallRecord<'_>| call.answered.map_or(call.start, |(end, _)| end);
    let spans: Vec<(u64, u64)> = calls.iter().map(|call| (call.start, end(call))).collect();
    let minute =
        |call: &CallRecord<'_>| written_start(call).and_then(TimeOfDay::parse).map(TimeOfDay::minute);
    let minutes: Vec<Option<u16>> = calls.iter().map(minute).collect();
    let order = linearisation(&spans, |next| {
        let earliest = next.iter().enumerate().min_by_key(|(_, place)| minutes[**place]);
        earliest.map_or(0, |(at, _)| at)
    });
    order.into_iter().map(|place| &calls[place]).collect()
}

/// Whether a call has cleared the day.
pub(super) fn is_clear(case: &PlanningCase, call: &CallRecord<'_>) -> bool {
    case.is_restart(call.tool) && matches!(call.answered, Some((_, None)))
}

/// The start in a call, if it is a string.
pub(super) fn written_start<'a>(call: &CallRecord<'a>) -> Option<&'a str> {
    call.arguments.as_object()?.get(START_TIME_ARGUMENT)?.as_str()
}

pub(super) fn is_without_arguments(call: &CallRecord<'_>) -> bool {
    call.arguments.as_object().is_some_and(serde_json::Map::is_empty)
}

/// The result of a search, and whether it was completed.
fn known<T>(found: Result<Option<T>, UndecidedSchedule>) -> (Option<T>, bool) {
    match found {
        Ok(found) => (found, true),
        Err(UndecidedSchedule) => (None, false),
    }
}

/// The ids of the constraints at these indices, in the order of the case.
fn ids_at(case: &PlanningCase, places: &[usize]) -> Vec<crate::case::ConstraintId> {
    let with_place = case.constraint_ids().enumerate();
    with_place.filter(|(place, _)| places.contains(place)).map(|(_, id)| id.clone()).collect()
}

/// For each call, the right alternatives, started as early as possible; empty once no correct schedule was possible.
/// Also whether all searches were completed.
fn correct_next(
    problem: &TimedProblem,
    starts: &[StartTime],
    first_wrong_call: Option<usize>,
) -> (Vec<Vec<StartTime>>, bool) {
    let table = problem.timetable();
    let mut all = Vec::with_capacity(starts.len());
    // Minute 0 restricts nothing, so the first task may start as early as its own window allows.
    let (mut done, mut minute, mut is_known) = (0, 0, true);
    for (call, start) in starts.iter().enumerate() {
        let right = match first_wrong_call {
            Some(wrong) if call > wrong => 0,
            _ => table.correct_next(done, minute).unwrap_or_else(|UndecidedSchedule| {
                is_known = false;
                0
            }),
        };
        let earliest =
            |variable| Some(StartTime { variable, minute: table.earliest_start(variable, minute)? });
        all.push(variables_in(right).filter_map(earliest).collect());
        done |= start.variable.bit();
        // The start that was written: what is right next depends on what was done.
        minute = start.minute.saturating_add(table.duration(start.variable));
    }
    (all, is_known)
}
