//! A simulated model's behaviour in the time form: its next call follows from the results so far.
//!
//! It plans with the durations it has seen and a guess for the others. Once its observations show that no plan is
//! left, it clears the day. With `n` tasks it does so at most `n` times: an attempt with all durations known from the
//! start is never refuted, so each refuted attempt has revealed a duration.

use std::collections::BTreeMap;

use planproof_constraint::{StartTime, Status, TimedProblem, TimedRelation, Timetable, Variable};
use planproof_model::{ChatRequest, Message};
use planproof_synth::{
    ACTIONS_MAX, Bound, Day, Draw, RESTART_DESCRIPTION, RESTART_TOOL, START_TIME_ARGUMENT,
};
use planproof_trace::{Arguments, CallId, TimeOfDay, Tool};

use crate::SimKind;
use crate::follow_guard::{Advised, advice, is_denied};
use crate::reading::{Found, is_among, user_texts};
use crate::report::{REPORTED, Report, report_tool};
use crate::step::{ALL_DONE, Slip, Step};
use planproof_model::shown_tools::shown_place;

/// What nothing is shorter than.
const SHORTEST: u16 = 1;
const DONE: Step = Step::Say(ALL_DONE);

/// What follows from the text, the tools and the seed of a request. Variables are tasks in the order of mention.
#[derive(Debug)]
pub(crate) struct DayScript {
    kind: SimKind,
    seed: u64,
    key: u64,
    day: Day,
    /// The places of the tasks' tools.
    tools: Vec<u16>,
    restart_tool: u16,
    /// What it notices in the text.
    relations: Vec<TimedRelation>,
    /// Tasks that it forgets.
    forgotten: u64,
    /// What it reports, where it can.
    report: Option<Report>,
}

/// What the conversation says.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    /// Of each task, once seen.
    durations: Vec<Option<u16>>,
    /// Tasks done since the day was last cleared.
    starts: Vec<StartTime>,
    /// Tasks that it will not try again.
    given_up: u64,
    /// What it was told to do next.
    advised: Option<StartTime>,
    /// The day cannot be cleared any more.
    no_restarts: bool,
    /// A guard said that there is a conflict to report.
    is_told_of_conflict: bool,
    /// It has reported a conflict, or has tried to and continued.
    has_reported: bool,
    /// Calls made, whatever came of them.
    pub(crate) calls: usize,
}

/// Whether a tool is the one that clears the day, which only the time form has.
pub(crate) fn is_restart(tool: &Tool) -> bool {
    shown_place(std::slice::from_ref(tool), RESTART_TOOL, RESTART_DESCRIPTION).is_some()
}

/// Whether the tools are those of the time form; if so, the index of the one that clears the day.
pub(crate) fn restart_tool(tools: &[Tool]) -> Option<u16> {
    let takes_start = |tool: &Tool| {
        tool.input_schema.get("properties").is_some_and(|it| it.get(START_TIME_ARGUMENT).is_some())
    };
    let place = shown_place(tools, RESTART_TOOL, RESTART_DESCRIPTION)?;
    tools.iter().any(takes_start).then(|| u16::try_from(place).unwrap_or(u16::MAX))
}

impl DayScript {
    pub(crate) fn write(
        kind: SimKind,
        request: &ChatRequest,
        found: &Found,
        restart_tool: u16,
        key: u64,
    ) -> Self {
        let seed = request.settings.seed.unwrap_or_default();
        let draw = &mut Draw::new(seed, key, "sim-day/1");
        let count = found.mentioned.len().min(ACTIONS_MAX);
        let mentioned = &found.mentioned[..count];
        let chance = kind.mistake_chance(count);
        let variable = |task: usize| mentioned.iter().position(|&other| other == task).map(Variable::new);
        let pairs = found.pairs.iter().filter_map(|pair| {
            let (first, second) = (variable(pair.first)?, variable(pair.second)?);
            Some((pair.place, TimedRelation::Before { first, second }))
        });
        let bounds = found.bounds.iter().filter_map(|(place, task, bound)| {
            let variable = variable(*task)?;
            let relation = match *bound {
                Bound::EndsBy(minute) => TimedRelation::EndsBy { variable, minute },
                Bound::StartsFrom(minute) => TimedRelation::StartsFrom { variable, minute },
            };
            Some((*place, relation))
        });
        // One draw for each sub-sentence: a model that ignores it ignores every relation in it.
        let mut noticed = BTreeMap::new();
        let mut notices = |place: (u32, u32)| {
            kind != SimKind::Careless || *noticed.entry(place).or_insert_with(|| draw.unit() >= chance)
        };
        // Collected now, because the draws that follow come from the same stream.
        let noticed: Vec<((u32, u32), TimedRelation)> =
            pairs.chain(bounds).filter(|(place, _)| notices(*place)).collect();
        let forgets = |draw: &mut Draw| kind == SimKind::Forgetful && draw.unit() < chance;
        let forgotten = (0..count).filter(|_| forgets(draw)).fold(0, |set, task| set | 1 << task);
        let day = user_texts(request).find_map(day_in).unwrap_or(Day { start: 0, end: 24 * 60 });
        let report = report_tool(&request.tools).map(|tool| {
            let places = found.pairs.iter().map(|pair| pair.place.0);
            let sentences = places.chain(found.bounds.iter().map(|((sentence, _), ..)| *sentence));
            let holds = |set: u64| {
                let is_in = |place: &(u32, u32)| is_among(set, place.0);
                let stated = noticed.iter().filter(|(place, _)| is_in(place)).map(|(_, relation)| *relation);
                // Durations are hidden, so a conflict counts only if it holds however short the tasks are.
                let problem = TimedProblem::new(&vec![SHORTEST; count], day, stated.collect());
                // Undecided cases are assumed to hold.
                problem.is_ok_and(|problem| problem.timetable().is_feasible().unwrap_or(true))
            };
            Report::look(kind, tool, sentences, chance, draw, holds)
        });
        Self {
            kind,
            seed,
            key,
            day,
            tools: mentioned.iter().map(|task| u16::try_from(*task).unwrap_or(u16::MAX)).collect(),
            restart_tool,
            relations: noticed.into_iter().map(|(_, relation)| relation).collect(),
            forgotten,
            report,
        }
    }

    /// The next turn of this conversation.
    pub(crate) fn step(&self, request: &ChatRequest) -> Step {
        let known = self.known(request);
        // Only this kind starts tasks by guessed durations, so only its tasks can overlap.
        if self.kind == SimKind::Parallel && !known.no_restarts && self.is_wrong(&known) {
            return self.restart();
        }
        self.step_after(&known)
    }

    /// The calls of a model that writes as many in one reply as it can foresee: up to the first task of unknown
    /// duration or, with `guesses`, all of them with guessed durations. With the durations that it has learnt, it
    /// clears the day if its calls so far are wrong, and does all tasks in the same reply.
    pub(crate) fn steps(&self, request: &ChatRequest, guesses: bool) -> Vec<Step> {
        let mut known = self.known(request);
        if known.advised.is_some() {
            // Advice from a guard is followed one call at a time.
            return vec![self.step_after(&known)];
        }
        let (mut steps, mut has_guessed) = (Vec::new(), false);
        if !known.no_restarts && self.is_wrong(&known) {
            steps.push(self.restart());
            // Only the starts are cleared: the durations that it has learnt are what makes the next attempt right.
            known.starts.clear();
        }
        // At most each task once, a restart, and each task once more.
        while steps.len() < 2 * self.tools.len() + 2 {
            let step = self.step_after(&known);
            let Step::Call { tool, start, .. } = step else { break };
            let task = self.tools.iter().position(|place| *place == tool);
            match (task, start) {
                (Some(task), Some(minute)) => {
                    steps.push(step);
                    if known.durations[task].is_none() {
                        // The start of the next task depends on how long this one takes.
                        if !guesses {
                            break;
                        }
                        has_guessed = true;
                        known.durations[task] = Some(self.guess(&known));
                    }
                    known.starts.push(StartTime { variable: Variable::new(task), minute });
                }
                // A guess refutes nothing.
                _ if tool == self.restart_tool && has_guessed => break,
                _ if tool == self.restart_tool => {
                    steps.push(step);
                    known.starts.clear();
                }
                _ => {
                    steps.push(step);
                    break;
                }
            }
            known.calls += 1;
        }
        if steps.is_empty() { vec![self.step_after(&known)] } else { steps }
    }

    /// The calls of a plan that is written before anything is known: all tasks, with guessed durations.
    pub(crate) fn plan(&self) -> Vec<Step> {
        let mut known = self.nothing_known();
        // A guess refutes nothing.
        known.no_restarts = true;
        let mut steps = Vec::new();
        while steps.len() < self.tools.len() {
            let step = self.step_after(&known);
            let Step::Call { tool, start, .. } = step else { break };
            steps.push(step);
            let task = self.tools.iter().position(|place| *place == tool);
            let (Some(task), Some(minute)) = (task, start) else { break };
            known.durations[task] = Some(self.guess(&known));
            known.starts.push(StartTime { variable: Variable::new(task), minute });
            known.calls += 1;
        }
        steps
    }

    /// The earliest start of a tool's task by a clock time that the model notices.
    pub(crate) fn begins(&self, tool: u16) -> Option<u16> {
        let task = self.tools.iter().position(|place| *place == tool)?;
        self.begins_from(Variable::new(task))
    }

    fn begins_from(&self, task: Variable) -> Option<u16> {
        let begins = self.relations.iter().filter_map(|relation| match relation {
            TimedRelation::StartsFrom { variable, minute } if *variable == task => Some(*minute),
            _ => None,
        });
        begins.max()
    }

    /// Whether tasks were started before the previous one had ended, or outside of the day.
    fn is_wrong(&self, known: &Known) -> bool {
        let mut end = self.day.start;
        known.starts.iter().any(|start| {
            // A duration that is not known yet counts as the shortest, so that no start is called wrong too early.
            let duration = known.durations[start.variable.index()].unwrap_or(SHORTEST);
            let is_wrong = start.minute < end || start.minute.saturating_add(duration) > self.day.end;
            end = start.minute.saturating_add(duration);
            is_wrong
        })
    }

    /// The next turn after what is known.
    pub(crate) fn step_after(&self, known: &Known) -> Step {
        if self.kind == SimKind::InOrder {
            return self.in_order(known);
        }
        if let Some(step) = self.step_to_report(known) {
            return step;
        }
        // Advice is followed even for a task that the model has forgotten.
        if let Some(StartTime { variable, minute }) = known.advised {
            let tool = self.tools[variable.index()];
            return Step::Call { tool, start: Some(minute), slip: Slip::None, sentences: 0 };
        }
        let done =
            known.starts.iter().fold(known.given_up | self.forgotten, |set, it| set | it.variable.bit());
        // The problem with the fewest minutes: where it has no plan, no durations allow one.
        let Some(shortest) = self.problem(known, SHORTEST) else { return DONE };
        if !known.no_restarts && self.is_refuted(&shortest, known, done) {
            return self.restart();
        }
        if done.count_ones() as usize == self.tools.len() {
            return if self.kind == SimKind::Endless { self.restart() } else { DONE };
        }
        let minute = self.minute(known);
        // Guessed durations make a better plan, but may leave no room for one. Then the shortest decide.
        let guess = self.problem(known, self.guess(known));
        let tables = guess.iter().chain([&shortest]).map(TimedProblem::timetable);
        let next = tables.into_iter().find_map(|table| self.next_of(table, done, minute, known.calls));
        // If there is neither a valid plan nor a restart left, the rest is done in any order.
        let next = next.or_else(|| {
            let task = (0..self.tools.len()).find(|task| done & 1 << task == 0)?;
            Some(StartTime { variable: Variable::new(task), minute })
        });
        next.map_or(DONE, |next| self.call(next, known.calls))
    }

    /// The next turn if there is a conflict to report, because the model sees one or a guard says so.
    fn step_to_report(&self, known: &Known) -> Option<Step> {
        let Report { tool, all, found } = self.report?;
        let sentences = if found == 0 && known.is_told_of_conflict { all } else { found };
        let call = |slip| Step::Call { tool, start: None, slip, sentences };
        match (sentences, known.has_reported) {
            (0, _) => None,
            (_, true) if self.kind == SimKind::Endless => Some(call(Slip::None)),
            (_, true) => Some(Step::Say(REPORTED)),
            (_, false) => Some(call(self.slip(known.calls, &[Slip::WrongName, Slip::ExtraArgument]))),
        }
    }

    /// The index of the tool that clears the day.
    pub(crate) fn restart_tool(&self) -> u16 {
        self.restart_tool
    }

    /// How many tasks there are.
    pub(crate) fn tasks(&self) -> usize {
        self.tools.len()
    }

    /// Its guess of a task's duration.
    pub(crate) fn expected_minutes(&self, known: &Known) -> u16 {
        self.guess(known)
    }

    /// What is known before the first call.
    pub(crate) fn nothing_known(&self) -> Known {
        Known {
            durations: vec![None; self.tools.len()],
            starts: Vec::new(),
            given_up: 0,
            advised: None,
            no_restarts: false,
            is_told_of_conflict: false,
            has_reported: false,
            calls: 0,
        }
    }

    /// Each task in the order of mention, once the previous one has ended and its own clock times allow it.
    fn in_order(&self, known: &Known) -> Step {
        if known.calls >= self.tools.len() {
            return DONE;
        }
        let variable = Variable::new(known.calls);
        let minute = self.minute(known).max(self.begins_from(variable).unwrap_or_default());
        self.call(StartTime { variable, minute }, known.calls)
    }

    /// When the last call ended.
    fn minute(&self, known: &Known) -> u16 {
        let duration = |start: &StartTime| known.durations[start.variable.index()].unwrap_or(SHORTEST);
        known.starts.last().map_or(self.day.start, |start| start.minute.saturating_add(duration(start)))
    }

    /// The problem as the model sees it, with `unknown` minutes for unseen durations.
    fn problem(&self, known: &Known, unknown: u16) -> Option<TimedProblem> {
        let durations: Vec<u16> = known.durations.iter().map(|it| it.unwrap_or(unknown)).collect();
        TimedProblem::new(&durations, self.day, self.relations.clone()).ok()
    }

    /// A duration to plan with: the mean of those seen, or half of the day's share for each.
    fn guess(&self, known: &Known) -> u16 {
        let seen: Vec<u16> = known.durations.iter().copied().flatten().collect();
        let guess = match seen.len() {
            0 => usize::from(self.day.minutes()) / (2 * known.durations.len().max(1)),
            count => seen.iter().copied().map(usize::from).sum::<usize>() / count,
        };
        u16::try_from(guess).unwrap_or(SHORTEST).max(SHORTEST)
    }

    /// Whether no plan is left, however short the unseen tasks are.
    fn is_refuted(&self, shortest: &TimedProblem, known: &Known, done: u64) -> bool {
        let minute = self.minute(known);
        minute > self.day.end
            || shortest.check(&known.starts).contains(&Status::Violated)
            // Not decided is not refuted.
            || shortest.timetable().leaves_room(done, minute) == Ok(false)
    }

    /// A possible next task: the one mentioned first, or a drawn one if the model is careless.
    fn next_of(&self, table: &Timetable, done: u64, minute: u16, calls: usize) -> Option<StartTime> {
        let variable = if self.kind == SimKind::Careless {
            let next = table.correct_next(done, minute).ok()?;
            Variable::new(usize::from(self.draw(calls, "sim-next/1").bit(next)?))
        } else {
            table.first_next(done, minute).ok()??.0
        };
        Some(StartTime { variable, minute: table.earliest_start(variable, minute)? })
    }

    /// The draws for the call after so many.
    fn draw(&self, calls: usize, purpose: &str) -> Draw {
        // A stream for each call: the model has no memory, so it cannot continue the draws of earlier turns.
        Draw::new(self.seed, self.key.wrapping_add(calls as u64), purpose)
    }

    fn restart(&self) -> Step {
        Step::Call { tool: self.restart_tool, start: None, slip: Slip::None, sentences: 0 }
    }

    fn call(&self, start: StartTime, calls: usize) -> Step {
        let slip = self.slip(calls, &[Slip::WrongName, Slip::ExtraArgument, Slip::NoClockTime]);
        Step::Call { tool: self.tools[start.variable.index()], start: Some(start.minute), slip, sentences: 0 }
    }

    /// The mistake of the call after `calls` calls.
    fn slip(&self, calls: usize, slips: &[Slip]) -> Slip {
        let mut draw = self.draw(calls, "sim-slip/1");
        let goes_wrong =
            self.kind == SimKind::Clumsy && draw.unit() < self.kind.mistake_chance(self.tools.len());
        if goes_wrong { slips[draw.place(slips.len())] } else { Slip::None }
    }

    fn known(&self, request: &ChatRequest) -> Known {
        let mut known = self.nothing_known();
        let mut open: Vec<(&CallId, &str, Option<u16>)> = Vec::new();
        for message in &request.messages {
            match message {
                Message::Assistant { calls, .. } => {
                    open.extend(
                        calls.iter().map(|call| (&call.id, call.name.as_str(), start_in(&call.arguments))),
                    );
                    known.calls += calls.len();
                }
                Message::Tool { id, text } => {
                    // Several calls may be open, with their results in any order.
                    let place = open.iter().position(|(open, ..)| *open == id);
                    if let Some((_, tool, start)) = place.map(|place| open.swap_remove(place)) {
                        self.learn(&mut known, &request.tools, tool, start, text);
                    }
                }
                Message::System { .. } | Message::User { .. } => {}
            }
        }
        known
    }

    /// The task that it does among the calls that an answer names as right: the one mentioned first; those it has
    /// forgotten come last.
    fn advised(&self, answer: &str, tools: &[Tool]) -> Option<StartTime> {
        let start = |advised: Advised| {
            let task = self.tools.iter().position(|place| *place == advised.tool)?;
            Some(StartTime { variable: Variable::new(task), minute: advised.start? })
        };
        let advised = advice(answer, tools).into_iter().filter_map(start);
        advised.min_by_key(|it| (self.forgotten & it.variable.bit() != 0, it.variable.index()))
    }

    /// Takes in what a tool answered.
    pub(crate) fn learn(
        &self,
        known: &mut Known,
        tools: &[Tool],
        tool: &str,
        start: Option<u16>,
        answer: &str,
    ) {
        // Advice is for the next call alone, so any answer ends it.
        known.advised = None;
        if is_denied(answer) {
            if self.kind != SimKind::InOrder {
                known.advised = self.advised(answer, tools);
                let report = self.report.map(|report| report.tool);
                known.is_told_of_conflict |= advice(answer, tools).iter().any(|it| Some(it.tool) == report);
            }
            return;
        }
        if tools.get(usize::from(self.restart_tool)).is_some_and(|it| it.name == tool) {
            match answer.contains("The day is cleared") {
                true => known.starts.clear(),
                false => known.no_restarts = true,
            }
            return;
        }
        // A wrong name is the right one with a prefix, so the task that was meant is known.
        let tool_name = tool.strip_prefix(crate::writing::WRONG_NAME_PREFIX).unwrap_or(tool);
        let is_it = |place: &u16| tools.get(usize::from(*place)).is_some_and(|tool| tool.name == tool_name);
        if self.report.is_some_and(|report| is_it(&report.tool)) {
            let is_taken = answer.contains("The conflict is reported");
            let gives_up =
                self.kind == SimKind::Clumsy && self.draw(known.calls, "sim-give-up/1").chance(1, 2);
            known.has_reported |= is_taken || gives_up;
            return;
        }
        let Some(task) = self.tools.iter().position(is_it) else { return };
        match (minutes_in(answer), start) {
            (Some(minutes), Some(minute)) => {
                known.durations[task] = Some(minutes);
                known.starts.push(StartTime { variable: Variable::new(task), minute });
            }
            // Refused: half of the time a clumsy model tries again, otherwise it continues.
            _ if self.kind == SimKind::Clumsy && self.draw(known.calls, "sim-give-up/1").chance(1, 2) => {
                known.given_up |= 1 << task;
            }
            _ => {}
        }
    }
}

/// The start time in a call, if it has one.
pub(crate) fn start_in(arguments: &Arguments) -> Option<u16> {
    let start = arguments.as_object()?.get(START_TIME_ARGUMENT)?.as_str()?;
    TimeOfDay::parse(start).map(TimeOfDay::minute)
}

/// The minutes in "It took 45 minutes."
pub(crate) fn minutes_in(answer: &str) -> Option<u16> {
    let (_, rest) = answer.split_once("It took ")?;
    rest.split(' ').next()?.parse().ok().filter(|minutes| (1..=24 * 60).contains(minutes))
}

/// The day in "from 08:00 to 20:00".
pub(crate) fn day_in(text: &str) -> Option<Day> {
    let minute = |word: &str| match word.trim_end_matches([':', ',', '.', ';']) {
        // A day may end at 24:00, which is not a clock time.
        "24:00" => Some(24 * 60),
        word => TimeOfDay::parse(word).map(TimeOfDay::minute),
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    words.windows(4).find_map(|four| match four {
        ["from", start, "to", end] => Some(Day { start: minute(start)?, end: minute(end)? }),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_and_queries_are_understood() {
        assert_eq!(minutes_in("The task \"x\" is done. It took 45 minutes."), Some(45));
        assert_eq!(minutes_in("It took 1 minute."), Some(1));
        assert_eq!(minutes_in("It took long."), None);
        assert_eq!(minutes_in("Done."), None);
        assert_eq!(
            day_in("go from here to there, from 08:00 to 24:00: no"),
            Some(Day { start: 480, end: 1440 })
        );
        assert_eq!(day_in("from 8 to 9"), None);
    }
}
