//! Conversations with the model: sending requests, returning the faults of a reply, and recording both.

use planproof_model::{Message, Model, Settings};
use planproof_plan::subtasks::{Asking, PlanFault, sections};
use planproof_trace::{Author, EndReason, EventKind, LimitKind, Recorder};

use super::options::SubTaskOptions;
use super::prompts;
use crate::RunContext;
use crate::asking::{self, outside_of_instructions};
use crate::memory::Lessons;
use crate::stop::Stop;

/// The text of a reply without text in a conversation, because servers refuse an empty one.
const EMPTY_REPLY: &str = "(no text)";

/// The placeholder for the task in prompts as the trace has them.
const TASK_NOTED: &str = "(the query)";

/// Longest text of a section, in bytes: more than the largest possible plan takes.
const SECTION_BYTES_MAX: usize = 1024 * 1024;

/// Where the model is asked, with the number of requests so far.
pub(super) struct Desk<'a> {
    model: &'a dyn Model,
    options: SubTaskOptions,
    run: &'a RunContext<'a>,
    turns: u32,
    calls: u32,
}

impl<'a> Desk<'a> {
    pub(super) fn new(model: &'a dyn Model, options: SubTaskOptions, run: &'a RunContext<'a>) -> Self {
        Self { model, options, run, turns: 0, calls: 0 }
    }

    pub(super) fn run(&self) -> &'a RunContext<'a> {
        self.run
    }

    /// How often the model is asked again at most for one reply.
    pub(super) fn replies_max(&self) -> u32 {
        self.options.replies_max.get()
    }

    /// The lessons of earlier runs that the agent can recall, if it has a memory.
    pub(super) fn memory(&self) -> Option<&'a Lessons> {
        self.run.memory.filter(|_| self.options.remembers)
    }

    /// The number of the next call, from 1.
    pub(super) fn next_call(&mut self) -> u32 {
        self.calls += 1;
        self.calls
    }

    /// Begins a conversation with this prompt, and asks until `read` accepts a reply.
    ///
    /// # Errors
    /// The end of the run: no reply was accepted, the model is unavailable, or a limit was reached.
    pub(super) async fn ask<T>(
        &mut self,
        asking: Asking,
        prompt: String,
        read: impl Fn(&str) -> Result<T, PlanFault>,
    ) -> Result<T, Stop> {
        self.ask_on(asking, vec![Message::User { text: prompt }], true, read).await
    }

    /// The same with an existing conversation; `is_new` records its first message.
    pub(super) async fn ask_on<T>(
        &mut self,
        asking: Asking,
        mut messages: Vec<Message>,
        is_new: bool,
        read: impl Fn(&str) -> Result<T, PlanFault>,
    ) -> Result<T, Stop> {
        if let (true, Some(Message::User { text })) = (is_new, messages.first()) {
            self.note_prompt(asking, text, "");
        }
        let mut asked_again = 0;
        loop {
            let reply = self.turn(asking, &messages).await?;
            let fault = match read(&outside_of_instructions(&reply, &messages)) {
                Ok(read) => return Ok(read),
                Err(fault) => fault,
            };
            if asked_again == self.replies_max() {
                return Err(self.broken(asking, &fault));
            }
            asked_again += 1;
            self.note(asking, sections::FAULTS, Author::Environment, &fault.words, fault.kind.as_str());
            mend(&mut messages, reply, &fault.words);
        }
    }

    /// One reply.
    pub(super) async fn turn(&mut self, asking: Asking, messages: &[Message]) -> Result<String, Stop> {
        let limit = self.run.limits.iterations;
        if self.turns >= limit {
            let end = EndReason::LimitReached { limit: LimitKind::Iterations, value: u64::from(limit) };
            return Err(end.into());
        }
        self.turns += 1;
        let settings = Settings { temperature: Some(0.0), seed: Some(self.run.seed), ..Settings::default() };
        let text =
            asking::ask(self.model, messages.to_vec(), settings, self.run, &self.recorder(asking)).await?;
        Ok(text)
    }

    /// The end of a run after a fault that the model did not mend. The fault is recorded.
    pub(super) fn broken(&self, asking: Asking, fault: &PlanFault) -> Stop {
        self.note(asking, sections::FAULTS, Author::Environment, &fault.words, fault.kind.as_str());
        EndReason::AgentFailed { reason: format!("{}: {}", asking.actor(), fault.words) }.into()
    }

    /// The recorder of the actor that asks for this.
    pub(super) fn recorder(&self, asking: Asking) -> Recorder {
        // The names are ours and valid.
        self.run.recorder.as_actor(asking.actor()).unwrap_or_else(|_| self.run.recorder.clone())
    }

    /// Records a prompt, without the task, which is in the trace already.
    pub(super) fn note_prompt(&self, asking: Asking, prompt: &str, about: &str) {
        let task = self.run.query.trim();
        let text = if task.is_empty() { prompt.to_owned() } else { prompt.replacen(task, TASK_NOTED, 1) };
        self.note(asking, sections::PROMPT, Author::Environment, &text, about);
    }

    pub(super) fn note(&self, asking: Asking, state: &str, author: Author, text: &str, about: &str) {
        noted(&self.recorder(asking), author, state, text, about);
    }
}

/// Notes a section.
pub(super) fn noted(recorder: &Recorder, author: Author, state: &str, text: &str, about: &str) {
    let end = text.floor_char_boundary(SECTION_BYTES_MAX.min(text.len()));
    recorder.record(EventKind::Section {
        state: state.to_owned(),
        author,
        text: text[..end].to_owned(),
        note: about.to_owned(),
    });
}

/// Adds a reply and its fault.
pub(super) fn mend(messages: &mut Vec<Message>, reply: String, words: &str) {
    let text = if reply.trim().is_empty() { EMPTY_REPLY.to_owned() } else { reply };
    messages.push(Message::assistant(text, Vec::new()));
    messages.push(Message::User { text: prompts::mend(words) });
}
