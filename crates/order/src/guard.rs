//! Live repair: a guard between agent and tools, which denies every call after which the run could no longer pass.
//! (The idea of the paper's section 7.)
//!
//! The agent learns that the call was not made, why, and which calls are right at this point, in the words of tasks
//! and tools. The guard does not show it the constraints, and never calls a tool by itself: tasks that an agent does
//! not call stay undone.

use std::sync::Arc;

use planproof_constraint::{Order, Timetable, Variable, variables_in};
use planproof_suite::{Decision, Guard, GuardDenial};
use planproof_synth::{
    GUARD_NOT_DONE, GUARD_RIGHT_NOW, JudgeOptions, PlanningCase, REPORT_TOOL, Rule, START_TIME_ARGUMENT,
    clock_time,
};
use planproof_trace::{TimeOfDay, ToolCall, ToolResult};

/// The state of a run: the finished actions, and those that may come next. Costs some microseconds a call.
///
/// In an infeasible case no task may be done, and a conflict has to be reported; the guard does not say which.
#[derive(Debug, Clone)]
pub struct GuardState {
    case: Arc<PlanningCase>,
    options: JudgeOptions,
    problem: Arc<Requirements>,
    /// The set of the actions that are done.
    done: u64,
    /// In the time form, the end of the last task, in minutes from midnight.
    minute: u16,
    /// A conflict was reported.
    has_reported: bool,
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one of it for each run, behind a pointer")]
enum Requirements {
    Order(Order),
    Timetable(Timetable),
    Infeasible,
}

/// A call that is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RightCall {
    /// Place of the action in the case.
    pub action: usize,
    /// In the time form the earliest start, in minutes from midnight.
    pub start: Option<u16>,
}

impl GuardState {
    /// A run of the case before its first call. `options` say whether repeats and distractors fail it.
    ///
    /// # Panics
    /// Never for a synthesised case or one from a file: in both cases a feasible case was checked to be satisfiable.
    pub fn new(case: impl Into<Arc<PlanningCase>>, options: JudgeOptions) -> Self {
        let case = case.into();
        let problem = match case.timed_problem() {
            // First, for both forms: there is no order or schedule to build.
            _ if !case.is_feasible() => Requirements::Infeasible,
            Some(problem) => Requirements::Timetable(problem.timetable().clone()),
            None => Requirements::Order(case.problem().order().expect("a feasible case is satisfiable")),
        };
        let mut state =
            Self { case, options, problem: Arc::new(problem), done: 0, minute: 0, has_reported: false };
        state.begin();
        state
    }

    /// Nothing is done.
    fn begin(&mut self) {
        self.done = 0;
        self.minute = self.case.time.as_ref().map_or(0, |time| time.day.start);
    }

    /// Whether every action is done; in an infeasible case, whether a conflict is reported.
    pub fn is_complete(&self) -> bool {
        if !self.case.is_feasible() {
            return self.has_reported;
        }
        self.done.count_ones() as usize == self.case.actions.len()
    }

    /// The calls that leave a correct continuation, by the indices of their actions. Empty if everything is done, if
    /// the search reached its limits, and in an infeasible case.
    pub fn right_now(&self) -> Vec<RightCall> {
        let call = |variable: Variable, start| RightCall { action: variable.index(), start };
        match &*self.problem {
            Requirements::Infeasible => Vec::new(),
            Requirements::Order(order) => {
                variables_in(order.correct_next(self.done)).map(|variable| call(variable, None)).collect()
            }
            Requirements::Timetable(table) => {
                let next = table.correct_next(self.done, self.minute).unwrap_or_default();
                let start = |variable| table.earliest_start(variable, self.minute);
                variables_in(next).map(|variable| call(variable, start(variable))).collect()
            }
        }
    }

    /// Why the run could not pass after this call, for the agent; `None` if it could, or if no tool executes the call
    /// anyway. If no right call is left, there is no objection.
    pub fn objection(&self, call: &ToolCall) -> Option<String> {
        let right = self.right_now();
        // Either no correct plan is left any more, or the search was not decided: nothing could be advised.
        if right.is_empty() && !self.is_complete() && self.case.is_feasible() {
            return None;
        }
        let reason = self.reason(call)?;
        Some(format!("{GUARD_NOT_DONE}{reason}. {}", self.advice(&right)))
    }

    /// Whether the call is a step of a right plan from here on (`true`), or one after which the run could not pass
    /// (`false`). `None` for calls that change nothing, where no right plan is left, and where it is not known.
    pub fn is_right(&self, call: &ToolCall) -> Option<bool> {
        let right = self.right_now();
        if right.is_empty() && !self.is_complete() && self.case.is_feasible() {
            return None;
        }
        if self.reason(call).is_some() {
            return Some(false);
        }
        let is_due_report = !self.case.is_feasible() && !self.has_reported && self.case.is_report(&call.name);
        let action = self.case.action_of_tool(&call.name);
        let is_step = action.is_some_and(|action| right.iter().any(|right| right.action == action));
        (is_step || is_due_report).then_some(true)
    }

    fn reason(&self, call: &ToolCall) -> Option<String> {
        let Some(action) = self.case.action_of_tool(&call.name) else {
            if self.case.is_report(&call.name) {
                let is_wrong = self.case.is_feasible();
                return is_wrong.then(|| {
                    "all that was asked for can be done, so there is no conflict to report".to_owned()
                });
            }
            let is_other = self.case.tool(&call.name).is_some() && !self.case.is_restart(&call.name);
            // Denied only if it would fail the run: the guard is never stricter than the oracle.
            let is_wrong = is_other && self.options.distractor_fails;
            return is_wrong.then(|| format!("none of the tasks that were asked for needs `{}`", call.name));
        };
        let (task, variable) = (&self.case.actions[action].text, Variable::new(action));
        let is_again = self.done & variable.bit() != 0;
        if is_again && self.options.repeated_fails {
            return Some(format!("\"{task}\" is done already, and each task is to be done once"));
        }
        let reason = self.out_of_order(call, variable, is_again, task);
        reason.or_else(|| self.wrong_value(call))
    }

    /// The value that an earlier tool returned for the call, if the call passes another one.
    fn wrong_value(&self, call: &ToolCall) -> Option<String> {
        let passed = |name: &str| call.arguments.as_object().and_then(|arguments| arguments.get(name));
        let (name, _) =
            self.case.flow_arguments(&call.name).find(|(name, value)| passed(name) != Some(value))?;
        let from = self.case.rules().find(|stated| {
            matches!(&stated.rule, Some(Rule::Flow { argument, .. }) if argument == name)
                && self.case.actions[stated.second].tool == call.name
        })?;
        let from = &self.case.actions[from.first].text;
        Some(format!("{name} has to be what the call for \"{from}\" returned"))
    }

    /// Why the task must not be done at this point.
    fn out_of_order(
        &self,
        call: &ToolCall,
        variable: Variable,
        is_again: bool,
        task: &str,
    ) -> Option<String> {
        match &*self.problem {
            Requirements::Infeasible => {
                Some("not all that was asked for can hold together, so no task is to be done".to_owned())
            }
            Requirements::Order(order) => {
                let is_right = is_again || order.correct_next(self.done) & variable.bit() != 0;
                (!is_right)
                    .then(|| format!("it is too early for \"{task}\", other tasks have to be done before"))
            }
            Requirements::Timetable(table) => {
                // Without a start there is nothing to object to: the tool refuses the call itself.
                let start = start_of(call)?;
                let day_start = self.case.time.as_ref()?.day.start;
                if start < day_start {
                    return Some(format!("the day begins at {}", clock_time(day_start)));
                }
                if start < self.minute {
                    return Some(format!("the task before ends only at {}", clock_time(self.minute)));
                }
                let is_right = if is_again {
                    // An allowed repeat does nothing new, but takes its time.
                    table.leaves_room(self.done, start.saturating_add(table.duration(variable)))
                } else {
                    // `correct_next` starts each task as early as possible, so the written start is
                    // checked against the window, too.
                    let is_in_time = table.earliest_start(variable, start) == Some(start);
                    table.correct_next(self.done, start).map(|next| is_in_time && next & variable.bit() != 0)
                };
                // Not decided is not wrong.
                let is_wrong = is_right == Ok(false);
                let start = clock_time(start);
                is_wrong.then(|| {
                    format!(
                        "with \"{task}\" at {start} no schedule is left in which all that was asked for fits"
                    )
                })
            }
        }
    }

    /// The right calls, in words for the agent.
    fn advice(&self, right: &[RightCall]) -> String {
        if !self.case.is_feasible() && !self.has_reported {
            return format!(
                "{GUARD_RIGHT_NOW}`{REPORT_TOOL}` with the numbers of the sentences that cannot hold together."
            );
        }
        if !self.case.is_feasible() {
            return "The conflict is reported: no more calls are needed.".to_owned();
        }
        if right.is_empty() {
            return "All tasks are done: no more calls are needed.".to_owned();
        }
        let calls = right.iter().map(|call| {
            let action = &self.case.actions[call.action];
            match call.start {
                None => format!("`{}` for \"{}\"", action.tool, action.text),
                Some(start) => format!(
                    "`{}` for \"{}\" with {START_TIME_ARGUMENT} \"{}\"",
                    action.tool,
                    action.text,
                    clock_time(start)
                ),
            }
        });
        format!("{GUARD_RIGHT_NOW}{}.", calls.collect::<Vec<_>>().join(", or "))
    }

    /// Records a call that its tool has executed.
    pub fn executed(&mut self, call: &ToolCall) {
        if self.case.is_restart(&call.name) {
            self.begin();
            return;
        }
        self.has_reported |= self.case.is_report(&call.name);
        let Some(action) = self.case.action_of_tool(&call.name) else { return };
        let variable = Variable::new(action);
        self.done |= variable.bit();
        if let (Requirements::Timetable(table), Some(start)) = (&*self.problem, start_of(call)) {
            self.minute = start.saturating_add(table.duration(variable));
        }
    }
}

/// The start time in a call, if it has one.
fn start_of(call: &ToolCall) -> Option<u16> {
    let start = call.arguments.as_object()?.get(START_TIME_ARGUMENT)?.as_str()?;
    TimeOfDay::parse(start).map(TimeOfDay::minute)
}

/// The guard of one run: its state decides which calls are allowed.
#[derive(Debug, Clone)]
pub(crate) struct OrderGuard {
    state: GuardState,
}

impl OrderGuard {
    pub(crate) fn new(state: GuardState) -> Self {
        Self { state }
    }
}

impl Guard for OrderGuard {
    fn before(&mut self, _number: u64, call: &ToolCall) -> Decision {
        match self.state.objection(call) {
            Some(why) => Decision::Deny(GuardDenial::new(why)),
            None => Decision::Allow,
        }
    }

    fn after(&mut self, _number: u64, call: &ToolCall, result: &ToolResult) {
        // A refused call has changed nothing.
        if !result.is_error {
            self.state.executed(call);
        }
    }

    /// What is right depends on the calls that were executed.
    fn is_sequential(&self) -> bool {
        true
    }

    fn is_right(&self, call: &ToolCall) -> Option<bool> {
        self.state.is_right(call)
    }
}
