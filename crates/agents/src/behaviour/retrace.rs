//! Runs of agents made from specifications, retraced from their traces: the request before each reply of the model,
//! and how the text could have continued from there so that certain calls are made.

mod way;

use std::sync::Arc;

use planproof_model::{Message, Settings};
use planproof_spec::monitor::StateContent;
use planproof_spec::{Automaton, ContentRule, Handler, MonitorOutcome, NextStep, State};
use planproof_trace::{Arguments, Author, Event, EventKind, FinishReason, Tool, ToolCall, paired_calls};
use thiserror::Error;

use super::continuation::Request;
use super::evaluator::NOBODY_TEXT;
use super::evidence::EvidenceRules;
use super::handlers::{NOTHING_CALLED, text_of};
use super::plan::Plan;
use super::schemas::Schemas;
use super::summary::results_text;
use super::writing::Writing;
use super::{BehaviourOptions, GrammarUse};
use way::{Beginning, Rules, shortest_way};

/// A specification for retracing runs that were held to it.
#[derive(Debug, Clone)]
pub struct Retracer {
    automaton: Arc<Automaton>,
    schemas: Arc<Schemas>,
}

/// A reply of the model in its run.
#[derive(Clone)]
pub struct RetracedTurn<'e> {
    /// What the model wrote.
    pub text: &'e str,
    /// The calls that it completed, in order. Some may not have been executed.
    pub calls: Vec<ToolCall>,
    /// There was no request after it, because the text was at its end.
    pub is_end: bool,
    /// The text could not be mended after it, and the run was given up.
    pub has_failed: bool,
    before: Writing,
}

/// What a model was asked.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelInput {
    /// To go on with this text.
    Text(String),
    /// Continue this conversation. If its last message is the assistant's, continue that message.
    Messages(Vec<Message>),
}

/// A call that is to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingCall {
    pub tool: String,
    /// What it is called with.
    pub arguments: Arguments,
    /// Its purpose, in words, for texts such as thoughts.
    pub task: String,
}

/// A request, and a reply that is right.
#[derive(Debug, Clone, PartialEq)]
pub struct Demonstrated {
    /// What the model is asked.
    pub input: ModelInput,
    pub reply: String,
}

/// The trace is not one of an agent of this specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the trace is not one of a run under this specification")]
pub struct NotRetraced;

/// Why no text makes the calls.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotDemonstrated {
    /// The specification allows no sequence of states with these calls.
    #[error("its specification leaves no way to make the calls")]
    NoWay,
    /// It allows one only if calls are written before the results of the previous ones are known.
    #[error("its specification has calls written before it is seen what came of those before")]
    Unseen,
    /// A section needs a content that we cannot write.
    #[error("its section {mark} has to be of a kind that only the model can write")]
    Content {
        /// The mark of the section.
        mark: String,
    },
    /// The request came in the midst of a section.
    #[error("the model was asked in the midst of a section")]
    AmidSection,
}

/// The answer once all calls are made.
const DONE: &str = "All tasks are done.";

impl Retracer {
    /// One for agents of this specification.
    pub fn new(automaton: Arc<Automaton>) -> Self {
        Self { automaton, schemas: Arc::new(Schemas::default()) }
    }

    /// Retraces the run of these events; if there are several agents in them, as with samples, the last one that
    /// begins. `tools` are those of the run. Takes time in proportion to the square of the run's text, because each
    /// turn gets the text before it.
    ///
    /// # Errors
    /// The events are those of a different agent.
    pub fn retrace<'e>(
        &self,
        tools: &[Tool],
        events: &'e [Event],
    ) -> Result<Vec<RetracedTurn<'e>>, NotRetraced> {
        let question = events.iter().find_map(|event| match &event.kind {
            EventKind::Query { text } => Some(text),
            _ => None,
        });
        let begun = events.iter().enumerate().rev().find_map(|(place, event)| match &event.kind {
            EventKind::Spec { name, continuation } => Some((place, &event.actor, name, *continuation)),
            _ => None,
        });
        let (Some(question), Some((place, actor, name, continuation))) = (question, begun) else {
            return Err(NotRetraced);
        };
        if *name != self.automaton.spec().name.value {
            return Err(NotRetraced);
        }
        // No event states the options of the run. Where others would have made a difference, the sections do not match
        // at the end.
        let options = BehaviourOptions::default();
        let mut writing = Writing::new(
            &self.automaton,
            tools,
            question,
            &options,
            (continuation, GrammarUse::Off),
            &self.schemas,
        )
        .map_err(|_| NotRetraced)?;
        // Other agents of the run may have continued in parallel.
        let own = events[place + 1..].iter().filter(|event| event.actor == *actor);
        let events: Vec<&Event> = own.collect();
        let mut rest = events.iter().map(|event| &event.kind);
        let mut turns: Vec<RetracedTurn<'e>> = Vec::new();
        let mut known = 0;
        loop {
            match writing.monitor.step() {
                NextStep::Continue => {
                    // The run was cut off before its next reply. What it has is retraced.
                    let Some((text, finish)) = rest.find_map(reply) else { break };
                    known = writing.monitor.calls().len();
                    let before = writing.clone();
                    writing.take_reply(text, finish);
                    turns.push(RetracedTurn {
                        text,
                        before,
                        calls: Vec::new(),
                        is_end: false,
                        has_failed: false,
                    });
                }
                NextStep::Violation => drop(writing.correct()),
                NextStep::Environment => {
                    let Some(text) = rest.find_map(by_environment) else { break };
                    // As in the run, the plan is settled before its answer is written.
                    carry_out(&mut writing, &events);
                    writing.monitor.environment(text);
                }
                NextStep::Ended => {}
            }
            let is_end = writing.monitor.step() == NextStep::Ended;
            // Repeated after each step, because what follows a reply (a correction, the environment) can still decide
            // how its turn ended.
            if let Some(turn) = turns.last_mut() {
                let calls = writing.monitor.calls().get(known..).unwrap_or_default();
                turn.calls = calls.iter().map(|call| call.call.clone()).collect();
                turn.is_end = is_end;
                turn.has_failed = matches!(writing.monitor.outcome(), Some(MonitorOutcome::Failed(_)));
            }
            if is_end {
                break;
            }
        }
        if fits(&writing, &events) { Ok(turns) } else { Err(NotRetraced) }
    }
}

/// Executes a plan the way its run did, if one is to be solved: by the calls among the events, decided again.
fn carry_out(writing: &mut Writing, events: &[&Event]) {
    let monitor = &writing.monitor;
    if monitor.request().and_then(|request| request.handler) != Some(Handler::Solve) {
        return;
    }
    let made = paired_calls(events.iter().copied());
    let mut plan = Plan::new(monitor, EvidenceRules::Ours);
    for call in monitor.calls() {
        let paired = made.iter().find(|paired| paired.call.id == call.call.id);
        let answer = paired.and_then(|paired| paired.result).map(|(_, result)| text_of(result));
        plan.next_call(&call.call);
        match paired.map(|paired| paired.call) {
            _ if !call.is_waiting => plan.note(answer.unwrap_or_default()),
            // The trace has denied calls as well, with an error for a result. So each call is decided again.
            Some(made) if plan.check(monitor, made).is_ok() => {
                plan.execute(made.clone(), answer.unwrap_or_default());
            }
            Some(_) => plan.deny(),
            None => return,
        }
    }
    let (_, execution) = plan.end();
    writing.monitor.settle(execution);
}

/// A reply of a model among events.
fn reply(kind: &EventKind) -> Option<(&str, FinishReason)> {
    match kind {
        EventKind::Turn { text, finish, .. } => Some((text, *finish)),
        _ => None,
    }
}

/// What the environment wrote, among events.
fn by_environment(kind: &EventKind) -> Option<&str> {
    match kind {
        EventKind::Section { author: Author::Environment, text, .. } => Some(text),
        _ => None,
    }
}

/// Whether the retraced sections equal those of the trace.
fn fits(writing: &Writing, events: &[&Event]) -> bool {
    let recorded = events.iter().filter_map(|event| match &event.kind {
        EventKind::Section { state, text, .. } => Some((state, text)),
        _ => None,
    });
    let mut sections = writing.monitor.sections();
    // The shorter list decides where the comparison ends: a section that was incomplete at the end of the run is not in
    // the trace.
    recorded.zip(sections.by_ref()).all(|((state, text), section)| {
        let name = &writing.monitor.automaton().state(section.state).name.value;
        name == state && section.content == text
    })
}

impl RetracedTurn<'_> {
    /// What the model was asked.
    pub fn input(&self) -> ModelInput {
        model_input(&self.before)
    }

    /// How the text could have continued instead of this reply, so that exactly these calls are made and the run
    /// ends: each request with its reply. A reply holds as much as can be written without the environment. Its own
    /// sections announce what comes next, or that everything is done. `answer` provides the results of tools;
    /// summaries are the results themselves, nobody judges, and a solver answers that everything is done.
    ///
    /// With `sees_each` no call may be written before the result of the previous one is known.
    ///
    /// # Errors
    /// No such text exists, or none that we can write.
    pub fn demonstrate(
        &self,
        plan: &[PendingCall],
        sees_each: bool,
        answer: &mut dyn FnMut(&ToolCall) -> String,
    ) -> Result<Vec<Demonstrated>, NotDemonstrated> {
        let mut writing = self.before.clone();
        let before = writing.monitor.calls().len();
        let mut shown = Vec::new();
        // Each round enters at least one state, and a path has fewer states than this.
        let rounds_max = (plan.len() + 1) * writing.monitor.automaton().positions();
        for _ in 0..=rounds_max {
            match writing.monitor.step() {
                NextStep::Continue => {
                    let made = writing.monitor.calls().len() - before;
                    let input = model_input(&writing);
                    let reply = next_reply(&writing, plan.get(made..).unwrap_or_default(), sees_each)?;
                    writing.take_reply(&reply, FinishReason::Stop);
                    if !reply.trim().is_empty() {
                        shown.push(Demonstrated { input, reply });
                    }
                }
                NextStep::Environment => {
                    let text = by_handler(&writing, answer);
                    writing.monitor.environment(&text);
                }
                // A reply of ours that needs a correction demonstrates nothing. The comparison below then fails.
                NextStep::Violation | NextStep::Ended => break,
            }
        }
        // The text is not trusted because we wrote it: the monitor must have read exactly these calls and reached the
        // end.
        let made = writing.monitor.calls()[before..].iter();
        let is_as_planned = made
            .map(|call| (&call.call.name, &call.call.arguments))
            .eq(plan.iter().map(|it| (&it.tool, &it.arguments)));
        let is_right = is_as_planned && writing.monitor.outcome() == Some(&MonitorOutcome::Finished);
        if is_right { Ok(shown) } else { Err(NotDemonstrated::NoWay) }
    }
}

fn model_input(writing: &Writing) -> ModelInput {
    match writing.request(Settings::default()) {
        Request::Completion(request) => ModelInput::Text(request.prompt),
        Request::Chat(request) => ModelInput::Messages(request.messages),
    }
}

/// What the environment writes.
fn by_handler(writing: &Writing, answer: &mut dyn FnMut(&ToolCall) -> String) -> String {
    let Some(request) = writing.monitor.request() else { return String::new() };
    let calls = match request.handler {
        Some(Handler::Evaluate) => return NOBODY_TEXT.to_owned(),
        Some(Handler::Solve) => return DONE.to_owned(),
        Some(Handler::RunCalls | Handler::Summarise) => request.calls,
        None | Some(Handler::RunCall) => &request.calls[request.calls.len().saturating_sub(1)..],
    };
    let texts: Vec<String> = calls.iter().map(|call| answer(&call.call)).collect();
    match texts.as_slice() {
        [] => NOTHING_CALLED.to_owned(),
        texts => {
            results_text(&texts.iter().map(String::as_str).collect::<Vec<_>>(), planproof_spec::Compat::Ours)
        }
    }
}

/// The model's text that makes these calls, up to where the environment writes.
fn next_reply(writing: &Writing, plan: &[PendingCall], sees_each: bool) -> Result<String, NotDemonstrated> {
    let monitor = &writing.monitor;
    let automaton = monitor.automaton();
    let open = monitor.sections().next_back().filter(|section| !section.is_complete);
    let begun = open.map(|section| (section.state, section.content));
    let rest = monitor.text().get(monitor.settled()..).unwrap_or_default();
    // The beginning of a mark that was already written for the model.
    let hint = if begun.is_some() { "" } else { rest.trim_start() };
    // Content without rules can stay as it is. Content that has to fit a rule cannot be completed without guessing what
    // the model meant.
    if let Some((state, content)) = begun
        && !content.is_empty()
        && !automaton.state(state).content.is_empty()
    {
        return Err(NotDemonstrated::AmidSection);
    }
    let calls: Vec<ToolCall> = plan.iter().map(PendingCall::call).collect();
    let rules = Rules { calls: &calls, sees_each, hint };
    let beginning = Beginning {
        position: monitor.position(),
        open: begun.map(|(state, _)| state),
        waiting: waiting(monitor.sections()),
    };
    // The second search only finds out which of the two reasons to report.
    let way = shortest_way(automaton, &beginning, &rules).ok_or_else(|| {
        let unseen = Rules { sees_each: false, ..rules };
        match shortest_way(automaton, &beginning, &unseen) {
            Some(_) => NotDemonstrated::Unseen,
            None => NotDemonstrated::NoWay,
        }
    })?;
    let is_environment = |state: &planproof_spec::StateId| automaton.state(*state).is_environment;
    // The model also writes the mark of the environment's state, and its turn ends there.
    let end = way.iter().position(is_environment).map_or(way.len(), |place| place + 1);
    let mut made = 0;
    let mut reply = String::new();
    for (place, id) in way[..end].iter().copied().enumerate() {
        let state = automaton.state(id);
        let mark = state.prompt.value.as_str();
        match begun {
            Some((_, content)) if place == 0 && !content.is_empty() => continue,
            Some(_) if place == 0 => {}
            _ => {
                // A mark begins a line, unless the text has just ended one or the beginning of the mark is already
                // written.
                let is_at_line = reply.is_empty() && (monitor.text().ends_with('\n') || !hint.is_empty());
                reply.push_str(if is_at_line { "" } else { "\n" });
                reply.push_str(if place == 0 { &mark[hint.len()..] } else { mark });
            }
        }
        if state.is_environment {
            break;
        }
        // Words concern the calls up to the next words.
        let until = way[place + 1..].iter().take_while(|next| !is_words(automaton.state(**next)));
        let coming = until.filter(|next| automaton.state(**next).completes_call()).count();
        let coming = plan.get(made..).unwrap_or_default().iter().take(coming);
        let number = monitor.calls().len() + made + 1;
        let content = content(state, number, coming, plan.get(made))?;
        made += usize::from(state.completes_call());
        // If the mark is also the beginning of a longer one, a space and the content could complete that one. A line
        // break cannot.
        let begins_another = automaton.spec().states.iter().any(|other| {
            let other = other.prompt.value.as_str();
            other.len() > mark.len() && other.starts_with(mark)
        });
        reply.push(if begins_another { '\n' } else { ' ' });
        reply.push_str(&content);
    }
    Ok(reply)
}

/// How many calls wait for the environment.
fn waiting<'m>(sections: impl DoubleEndedIterator<Item = StateContent<'m>>) -> usize {
    let since = sections.rev().take_while(|section| section.author != Author::Environment);
    since.filter(|section| section.call.is_some()).count()
}

impl PendingCall {
    fn call(&self) -> ToolCall {
        let id = planproof_trace::CallId::new("planned");
        ToolCall { id, name: self.tool.clone(), arguments: self.arguments.clone() }
    }
}

/// Whether the model writes words into a state, as opposed to a part of a call.
fn is_words(state: &State) -> bool {
    !state.is_environment && !state.names_tool() && !state.names_label() && !state.completes_call()
}

/// The content of a section by the model: `coming` are the calls that words in it are about, `next` is the next call,
/// and `number` its number in the run.
fn content<'p>(
    state: &State,
    number: usize,
    coming: impl Iterator<Item = &'p PendingCall>,
    next: Option<&PendingCall>,
) -> Result<String, NotDemonstrated> {
    let tasks: Vec<String> = coming.map(|call| format!("\"{}\"", call.task)).collect();
    let said = match tasks.as_slice() {
        [] => DONE.to_owned(),
        tasks => format!("Next: {}.", tasks.join(", then ")),
    };
    // Alternatives. The rules of the state keep those that fit: a rule may allow only one spelling of a label, or only
    // a short text.
    let mut texts = match next {
        _ if state.names_label() => vec![format!("#E{number}"), format!("E{number}"), number.to_string()],
        Some(next) if state.names_tool() => vec![next.tool.clone()],
        Some(next) if state.completes_call() => vec![next.arguments.to_text()],
        _ => vec![said, DONE.to_owned()],
    };
    for rule in &state.content {
        match &rule.value {
            ContentRule::Tool | ContentRule::Arguments | ContentRule::Label => {}
            ContentRule::Matches(pattern) => texts.retain(|text| pattern.matches(text)),
            // We cannot make up content for an arbitrary schema.
            ContentRule::Json(_) => texts.clear(),
            ContentRule::MaxLength(limit) => {
                let limit = *limit as usize;
                texts.retain(|text| text.chars().count() <= limit);
            }
        }
    }
    let mark = || state.prompt.value.clone();
    texts.into_iter().next().ok_or_else(|| NotDemonstrated::Content { mark: mark() })
}
