//! The position of a run in text within its script, so that the script means the same in both forms.

use std::sync::Arc;

use planproof_model::ChatRequest;
use planproof_synth::{Draw, REPORT_TOOL};
use planproof_trace::{Arguments, TimeOfDay, Tool};

use crate::SimKind;
use crate::day::{DayScript, Known, start_in};
use crate::follow_guard::{Progress, is_right_call};
use crate::reading::task_of;
use crate::report::numbers;
use crate::script::Script;
use crate::step::{Slip, Step};

/// Most calls of a plan in words.
const CALLS_IN_WORDS_MAX: usize = 200;

/// The next thing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Call(NextCall),
    /// Nothing more; what there is to say.
    Say(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NextCall {
    /// The place of its tool.
    pub(super) tool: u16,
    /// The start of the task, in minutes from midnight, if the tool takes one.
    pub(super) start: Option<u16>,
    /// The sentences that it reports, a bit for each; none if it is not a report.
    pub(super) sentences: u64,
    /// What goes wrong with it.
    pub(super) slip: Slip,
    /// The model repeats the mistake if it is asked again.
    pub(super) insists: bool,
    /// How many of the calls right before it could just as well come after it.
    pub(super) free: usize,
}

/// A run so far.
#[derive(Debug, Clone)]
pub(super) struct ScriptedRun<'s> {
    kind: SimKind,
    script: &'s Script,
    key: u64,
    tools: Arc<[Tool]>,
    seed: u64,
    calls: usize,
    /// Calls without a result; they are the last ones.
    pending: usize,
    so_far: SoFar<'s>,
}

/// How far a script has got.
#[derive(Debug, Clone)]
enum SoFar<'s> {
    /// Turns that are over.
    Turns(Progress),
    Day(Day<'s>),
}

/// What is known of a day.
#[derive(Debug, Clone)]
struct Day<'s> {
    script: &'s DayScript,
    certain: Known,
    /// Also from the expected results of the open calls.
    expected: Known,
    /// Tool and start of each of these.
    open: Vec<(String, Option<u16>)>,
}

impl<'s> ScriptedRun<'s> {
    /// A run before its first call, for a request with that key.
    pub(super) fn new(kind: SimKind, script: &'s Script, key: u64, request: &ChatRequest) -> Self {
        let so_far = match script {
            Script::Turns { .. } => SoFar::Turns(Progress::default()),
            Script::Day(script) => {
                let known = script.nothing_known();
                SoFar::Day(Day { script, certain: known.clone(), expected: known, open: Vec::new() })
            }
        };
        let seed = request.settings.seed.unwrap_or_default();
        Self { kind, script, key, tools: Arc::clone(&request.tools), seed, calls: 0, pending: 0, so_far }
    }

    pub(super) fn calls(&self) -> usize {
        self.calls
    }

    pub(super) fn pending(&self) -> usize {
        self.pending
    }

    pub(super) fn tool(&self, place: u16) -> Option<&Tool> {
        self.tools.get(usize::from(place))
    }

    /// The index of a tool, whose name may differ in case.
    pub(super) fn place_of(&self, name: &str) -> Option<u16> {
        let same = |tool: &Tool| tool.name.eq_ignore_ascii_case(name.trim());
        self.tools.iter().position(same).and_then(|place| u16::try_from(place).ok())
    }

    /// The task that a tool does.
    pub(super) fn task(&self, place: u16) -> &str {
        self.tool(place).map_or("", task_of)
    }

    pub(super) fn is_restart(&self, place: u16) -> bool {
        matches!(self.script, Script::Day(script) if script.restart_tool() == place)
    }

    pub(super) fn next(&self) -> Next {
        let (step, free) = match (self.script, &self.so_far) {
            (Script::Turns { calls, end, free, report, .. }, SoFar::Turns(progress)) => {
                let (step, turn) = progress.next(calls, *report);
                // These counts hold for the plan as it was written. Advice changes the order.
                let free = turn.filter(|_| !progress.has_followed_advice()).and_then(|turn| free.get(turn));
                (step.unwrap_or_else(|| progress.end(*end, *report)), free.copied().unwrap_or_default())
            }
            // When a task may start depends on when the previous one ended.
            (_, SoFar::Day(day)) => (day.script.step_after(&day.expected), 0),
            (Script::Day(_), SoFar::Turns(_)) => return Next::Say(""),
        };
        match step {
            Step::Say(text) => Next::Say(text),
            Step::Call { tool, start, slip, sentences } => Next::Call(NextCall {
                tool,
                start,
                sentences,
                slip,
                insists: slip != Slip::None && self.insists(tool),
                free: usize::from(free),
            }),
        }
    }

    /// Whether a mistake in the next call is repeated when the model is asked again.
    fn insists(&self, tool: u16) -> bool {
        match (self.script, &self.so_far) {
            (Script::Turns { calls, .. }, SoFar::Turns(progress)) => {
                // The script corrects a mistake in the turn right after it. Without that turn, the model insists.
                !is_right_call(calls.get(progress.at() + 1), tool)
            }
            _ => self.draw("sim-insist/1").chance(1, 2),
        }
    }

    /// The draws for the next call.
    pub(super) fn draw(&self, purpose: &str) -> Draw {
        Draw::new(self.seed, self.key.wrapping_add(self.calls as u64), purpose)
    }

    /// The chance of a mistake with a call.
    pub(super) fn mistake_chance(&self) -> f64 {
        let actions = match self.script {
            Script::Turns { calls, .. } => {
                let tool = |step: &Step| match step {
                    Step::Call { tool, .. } => Some(*tool),
                    Step::Say(_) => None,
                };
                // The calls of one tool stand next to each other.
                let mut tools: Vec<Option<u16>> = calls.iter().map(tool).collect();
                tools.dedup();
                tools.len()
            }
            Script::Day(day) => day.tasks(),
        };
        self.kind.mistake_chance(actions)
    }

    /// A call has been written.
    pub(super) fn called(&mut self, name: &str, input: &str) {
        self.calls += 1;
        self.pending += 1;
        let is_known = self.place_of(name).is_some();
        match (self.script, &mut self.so_far) {
            (Script::Turns { calls, .. }, SoFar::Turns(progress)) => {
                // A model that called the tool correctly after all has no call to make up for.
                progress.called(calls, |slip| slip != Slip::WrongName || is_known);
            }
            (_, SoFar::Day(day)) => {
                let arguments = Arguments::from_text(input);
                let plain_time = || TimeOfDay::parse(input.trim()).map(TimeOfDay::minute);
                day.called(&self.tools, name.trim(), start_in(&arguments).or_else(plain_time));
            }
            (Script::Day(_), SoFar::Turns(_)) => {}
        }
    }

    /// The environment has written: the results of the open calls, if there are any.
    pub(super) fn answered(&mut self, content: &str) {
        self.pending = 0;
        match (self.script, &mut self.so_far) {
            (Script::Turns { calls, .. }, SoFar::Turns(progress)) => {
                let open = progress.open();
                // The environment numbers several results. Without numbers, the whole text is the result of each call.
                let answers = numbered(content, open);
                for number in 0..open {
                    let answer = answers.as_ref().and_then(|answers| answers.get(number).copied());
                    progress.answered(self.kind, calls, &self.tools, answer.unwrap_or(content));
                }
            }
            (_, SoFar::Day(day)) => day.answered(&self.tools, content),
            (Script::Day(_), SoFar::Turns(_)) => {}
        }
    }

    /// The whole plan in words, as far as it can be known.
    pub(super) fn in_words(&self) -> String {
        // The run is played on a copy, as if every call succeeded.
        let mut run = self.clone();
        let mut words = Vec::new();
        while let (Next::Call(call), true) = (run.next(), words.len() < CALLS_IN_WORDS_MAX) {
            let task = run.task(call.tool).to_owned();
            let name = run.tool(call.tool).map(|tool| tool.name.clone()).unwrap_or_default();
            let start = call.start.map(planproof_synth::clock_time).unwrap_or_default();
            words.push(match (start.as_str(), call.sentences) {
                ("", 0) => task,
                ("", sentences) => conflict_in_words(sentences),
                (start, _) => format!("{task} at {start}"),
            });
            run.called(&name, &start);
        }
        match run.next() {
            Next::Say(text) if words.is_empty() => text.to_owned(),
            _ => format!("The plan: {}.", words.join(", ")),
        }
    }
}

/// "there is a conflict between the sentences 1, 3".
pub(super) fn conflict_in_words(sentences: u64) -> String {
    let numbers: Vec<String> = numbers(sentences).map(|number| number.to_string()).collect();
    format!("there is a conflict between the sentences {}", numbers.join(", "))
}

impl Day<'_> {
    /// A call whose result is expected.
    fn called(&mut self, tools: &[Tool], name: &str, start: Option<u16>) {
        self.expected.calls += 1;
        let is_restart = tools.get(usize::from(self.script.restart_tool())).is_some_and(|it| it.name == name);
        let answer = match name {
            _ if is_restart => "The day is cleared.".to_owned(),
            REPORT_TOOL => "The conflict is reported.".to_owned(),
            _ => format!("It took {} minutes.", self.script.expected_minutes(&self.expected)),
        };
        self.script.learn(&mut self.expected, tools, name, start, &answer);
        self.open.push((name.to_owned(), start));
    }

    /// The results of all open calls, in one text.
    fn answered(&mut self, tools: &[Tool], content: &str) {
        let open = std::mem::take(&mut self.open);
        let answers = numbered(content, open.len());
        for (number, (name, start)) in open.iter().enumerate() {
            let answer = answers.as_ref().and_then(|answers| answers.get(number).copied());
            self.certain.calls += 1;
            self.script.learn(&mut self.certain, tools, name, *start, answer.unwrap_or(content));
        }
        // No call is open now, so nothing is merely expected.
        self.expected.clone_from(&self.certain);
    }
}

/// The `count` items of a numbered list; an item may span several lines.
fn numbered(text: &str, count: usize) -> Option<Vec<&str>> {
    // A single result has no number.
    if count < 2 {
        return None;
    }
    let mut items = Vec::new();
    let mut rest = text.trim_start().strip_prefix("1. ")?;
    for number in 2..=count {
        let (item, after) = rest.split_once(&format!("\n{number}. "))?;
        items.push(item);
        rest = after;
    }
    items.push(rest);
    Some(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_results_are_taken_apart() {
        assert_eq!(numbered("1. a\n2. b\nc\n3. d", 3), Some(vec!["a", "b\nc", "d"]));
        assert_eq!(numbered("1. a\n2. b", 3), None);
        assert_eq!(numbered("1. a", 1), None);
        assert_eq!(numbered("a", 2), None);
    }
}
