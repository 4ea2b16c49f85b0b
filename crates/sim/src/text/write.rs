//! A simulated model's continuation of a text about tasks.

use planproof_synth::{SENTENCES_ARGUMENT, START_TIME_ARGUMENT};
use serde_json::{Map, Value};

use super::going_on::{Author, Plan};
use super::instructions::Instructions;
use super::order::{Given, Goal, Kind, Place, Role};
use super::scripted_run::{Next, NextCall, ScriptedRun, conflict_in_words};
use crate::SimKind;
use crate::step::Slip;
use crate::writing::{WRONG_NAME_PREFIX, start_text, write_arguments};

/// Replaces a mark when a clumsy model forgets its marks.
const STRAY: &str = "Let me see. ";

/// A text that is being written.
pub(super) struct Writer<'a> {
    kind: SimKind,
    instructions: &'a Instructions,
    run: ScriptedRun<'a>,
    place: Place,
    /// The tool that the next call is to be made of.
    named: Option<String>,
    /// The environment's latest section reports a fault.
    is_faulted: bool,
    /// A call has been begun: the text has a section on the way to it.
    is_calling: bool,
}

impl<'a> Writer<'a> {
    pub(super) fn new(kind: SimKind, instructions: &'a Instructions, run: ScriptedRun<'a>) -> Self {
        let place = instructions.order.start();
        Self { kind, instructions, run, place, named: None, is_faulted: false, is_calling: false }
    }

    fn has(&self, role: Role) -> bool {
        self.instructions.sections.iter().any(|section| section.role == role)
    }

    /// The arguments for the tool named last.
    fn input(&self, call: Option<NextCall>) -> String {
        let named = self.named.as_deref().unwrap_or_default();
        let place = self.run.place_of(named.strip_prefix(WRONG_NAME_PREFIX).unwrap_or(named));
        let place = place.or(call.map(|call| call.tool)).unwrap_or_default();
        // Somebody else may have named the tool.
        let slip = call.filter(|call| call.tool == place).map_or(Slip::None, |call| call.slip);
        let tool = self.run.tool(place);
        let properties = tool.and_then(|tool| tool.input_schema.get("properties")).and_then(Value::as_object);
        let takes_start = properties.is_some_and(|it| it.contains_key(START_TIME_ARGUMENT));
        let start = call.and_then(|call| call.start).filter(|_| takes_start);
        let start = start.map(|minute| start_text(minute, slip));
        let takes_sentences = properties.is_some_and(|it| it.contains_key(SENTENCES_ARGUMENT));
        let sentences = call.map_or(0, |call| call.sentences);
        let sentences = if takes_sentences { sentences } else { 0 };
        let is_right = slip != Slip::ExtraArgument;
        // A tool that takes nothing but a start gets the bare clock time.
        if let (Some(start), true, Some(1)) = (&start, is_right, properties.map(Map::len)) {
            return start.clone();
        }
        let arguments = write_arguments(tool, (start, sentences), slip, || self.run.task(place));
        Value::Object(arguments).to_string()
    }

    /// The words before a call.
    fn words_before(&self, kind: Kind, call: NextCall, plan: &Plan<Next>) -> String {
        if self.run.is_restart(call.tool) {
            return "The plan cannot work any more, so the day has to be cleared.".to_owned();
        }
        if call.sentences != 0 {
            return format!("No order can work: {}.", conflict_in_words(call.sentences));
        }
        let tasks = self.tasks_after(kind, call, plan);
        match tasks.split_last() {
            Some((last, rest)) if !rest.is_empty() => {
                format!("Next come the tasks {} and \"{last}\", in any order.", listed(rest))
            }
            _ => format!("Next comes the task \"{}\".", self.run.task(call.tool)),
        }
    }

    /// The tasks that are called before this kind of section, or one by others, comes again.
    fn tasks_after(&self, kind: Kind, call: NextCall, plan: &Plan<Next>) -> Vec<String> {
        let mut tasks = vec![self.run.task(call.tool).to_owned()];
        let order = &self.instructions.order;
        let role = |kind| self.instructions.role(kind);
        // Played on a copy, to see which calls can follow before the next words.
        let mut run = self.run.clone();
        let mut place = plan.way.iter().fold(self.place.clone(), |place, kind| order.after(&place, *kind));
        let mut call = call;
        while tasks.len() <= self.instructions.tools.len() {
            let name = run.tool(call.tool).map(|tool| tool.name.clone()).unwrap_or_default();
            run.called(&name, "");
            let Next::Call(next) = run.next() else { break };
            // The next call has to wait for the results of some of these.
            if run.pending() > next.free {
                break;
            }
            let way = order.way(&place, Goal::Call, Given::Avoid, !self.has(Role::Tool), role);
            let is_apart = |passed: &Kind| *passed == kind || role(*passed) == Role::Given;
            let Some(way) = way.filter(|way| !way.iter().any(is_apart)) else { break };
            place = way.iter().fold(place, |place, kind| order.after(&place, *kind));
            tasks.push(run.task(next.tool).to_owned());
            call = next;
        }
        tasks
    }

    /// The words when no call is to come any more.
    fn words_at_the_end(&self, kind: Kind, plan: &Plan<Next>) -> String {
        let mark = self.instructions.mark(kind).to_ascii_lowercase();
        let is_answer = plan.way == [kind] || mark.contains("answer");
        let can_call = self.has(Role::Arguments);
        match (is_answer, plan.next) {
            (true, _) if !can_call => self.run.in_words(),
            (true, Next::Say(text)) => text.to_owned(),
            (true, Next::Call(_)) => "What is left cannot be done.".to_owned(),
            (false, _) if mark.contains("reflection") && self.is_faulted => {
                "Fault was found with the answer, but there is nothing else to be done.".to_owned()
            }
            (false, _) if mark.contains("reflection") => "The answer can stay as it is.".to_owned(),
            (false, _) if !can_call => "The order follows from what has to come before what.".to_owned(),
            (false, _) => "Nothing is left to do.".to_owned(),
        }
    }

    /// A clumsy model may break the form before it begins a call. The mark that it writes instead is never that of an
    /// answer: a model that is led to an answer has given up.
    fn slip_in_form(&self, out: &mut String) {
        if self.kind != SimKind::Clumsy {
            return;
        }
        let mut draw = self.run.draw("sim-form/1");
        if draw.unit() >= self.run.mistake_chance() {
            return;
        }
        let allowed = self.instructions.order.next(&self.place);
        let answers = |kind: &Kind| self.instructions.mark(*kind).to_ascii_lowercase().contains("answer");
        let is_wrong = |kind: &Kind| {
            self.instructions.role(*kind) != Role::Given && !allowed.contains(kind) && !answers(kind)
        };
        let wrong: Vec<Kind> = (0..self.instructions.sections.len()).filter(is_wrong).collect();
        if !wrong.is_empty() && draw.chance(1, 2) {
            let kind = wrong[draw.place(wrong.len())];
            out.push_str(self.instructions.mark(kind));
            out.push(self.instructions.separator(kind));
            out.push_str(STRAY.trim_end());
            out.push('\n');
        } else {
            out.push_str(STRAY);
        }
    }
}

impl Author for Writer<'_> {
    type Next = Next;

    fn instructions(&self) -> &Instructions {
        self.instructions
    }

    fn place(&self) -> &Place {
        &self.place
    }

    fn plan(&self) -> Option<Plan<Next>> {
        let next = self.run.next();
        let is_named = self.named.is_some() || !self.has(Role::Tool);
        let way = |goal, given| {
            let role = |kind| self.instructions.role(kind);
            self.instructions.order.way(&self.place, goal, given, is_named, role)
        };
        let pending = self.run.pending();
        if let Next::Call(call) = next {
            let given = match pending {
                0 => Given::Free,
                // This call and the open ones may be made in any order, so they are written side by side.
                _ if pending <= call.free => Given::Avoid,
                _ => Given::Pass,
            };
            if let Some(way) = way(Goal::Call, given).or_else(|| way(Goal::Call, Given::Avoid)) {
                return Some(Plan { next, goal: Goal::Call, way });
            }
        }
        // Calls without a result are carried out before the end, if the order allows that.
        let passing = if pending > 0 { Given::Pass } else { Given::Free };
        let way = way(Goal::End, passing).or_else(|| way(Goal::End, Given::Free))?;
        Some(Plan { next, goal: Goal::End, way })
    }

    fn content(&self, kind: Kind, plan: &Plan<Next>, again: bool) -> String {
        let call = match (plan.goal, plan.next) {
            (Goal::Call, Next::Call(call)) => {
                Some(if again && !call.insists { NextCall { slip: Slip::None, ..call } } else { call })
            }
            _ => None,
        };
        match self.instructions.role(kind) {
            Role::Tool => {
                // A text that needs a call to end gets the first tool of the list.
                let tool = self.run.tool(call.map_or(0, |call| call.tool));
                let name = tool.map_or("none", |tool| tool.name.as_str());
                let prefix = match call {
                    Some(NextCall { slip: Slip::WrongName, .. }) => WRONG_NAME_PREFIX,
                    _ => "",
                };
                format!("{prefix}{name}")
            }
            Role::Arguments => self.input(call),
            Role::Given => String::new(),
            Role::Other if self.instructions.sections[kind].is_label => {
                format!("#E{}", self.run.calls() + 1)
            }
            Role::Other => {
                let words = match call {
                    Some(call) => self.words_before(kind, call, plan),
                    None => self.words_at_the_end(kind, plan),
                };
                self.instructions.without_marks(words)
            }
        }
    }

    fn enter(&mut self, kind: Kind, content: &str) {
        self.place = self.instructions.order.after(&self.place, kind);
        self.is_calling = true;
        match self.instructions.role(kind) {
            Role::Tool => self.named = Some(content.to_owned()),
            Role::Arguments => {
                let only = || self.instructions.tools.first().map(|tool| tool.name.clone());
                // Without a section for a tool's name, the call is of the first tool.
                let name = self.named.take().or_else(only);
                self.run.called(&name.unwrap_or_default(), content);
                self.is_calling = false;
            }
            Role::Given => {
                let lower = content.to_lowercase();
                self.is_faulted = ["wrong", "incorrect", "not correct"].iter().any(|it| lower.contains(it));
                self.run.answered(content);
                self.is_calling = false;
            }
            Role::Other => {}
        }
    }

    fn before_mark(&self, goal: Goal, out: &mut String) {
        if goal == Goal::Call && !self.is_calling {
            self.slip_in_form(out);
        }
    }
}

/// `"a", "b"`.
fn listed(tasks: &[String]) -> String {
    tasks.iter().map(|task| format!("\"{task}\"")).collect::<Vec<_>>().join(", ")
}
