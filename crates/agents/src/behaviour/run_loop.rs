//! The loop: the model writes until the monitor stops it, the environment writes, until the end.

use std::sync::Arc;

use futures::StreamExt as _;
use planproof_model::{BoxStream, ChatDelta, ModelError, Settings};
use planproof_spec::monitor::{Decoding, Echo, Failure, Violation};
use planproof_spec::{Automaton, Monitor, Options, Outcome, Step};
use planproof_trace::{
    Author, Continuation, EndReason, EventKind, FinishReason, LimitKind, Tally, Tool, Usage,
};

use super::continuation::{Parts, Request};
use super::handlers::{self, Written};
use super::{BehaviourAgent, instructions};
use crate::InProcessRun;

/// Bytes of text that are taken for a token where nobody counted.
const BYTES_PER_TOKEN: usize = 4;

/// One run of an agent, from the question on.
pub(super) struct Session<'a> {
    agent: &'a BehaviourAgent,
    run: InProcessRun<'a>,
    monitor: Monitor,
    instructions: String,
    /// Requests that the model was sent.
    requests: u32,
    /// Sections that are in the trace.
    recorded: usize,
    /// How the environment came to what it wrote last, until that is in the trace.
    note: String,
    /// Bytes that were discarded up to the latest correction.
    discarded_before: u64,
    /// What the latest violation was and what the model is told about it, until it has been asked again.
    corrected: Option<Corrected>,
    /// The latest output was cut off by a limit on its length.
    is_amid_output: bool,
    /// All tokens and bytes that the model wrote.
    output_tokens: u64,
    output_bytes: u64,
    repeated_tokens: u64,
}

struct Corrected {
    instruction: String,
    /// The text alone does not show the model what was wrong.
    is_of_content: bool,
}

/// A reply as it came.
struct Reply {
    text: String,
    finish: FinishReason,
    usage: Usage,
}

impl<'a> Session<'a> {
    /// The error is the end of a run that no model could bring to another one.
    pub(super) fn new(agent: &'a BehaviourAgent, run: InProcessRun<'a>) -> Result<Self, EndReason> {
        let tools = run.toolbox.tools();
        let automaton = for_tools(&agent.automaton, tools)?;
        let instructions = instructions(&automaton, tools);
        let options = Options {
            compat: agent.options.compat,
            decoding: if agent.options.temperature > 0.0 { Decoding::Sampled } else { Decoding::Greedy },
            corrections_max: agent.options.corrections_max,
            text_bytes_max: agent.options.text_bytes_max,
            tools: Some(tools.to_vec()),
            validator: Some(Arc::clone(&agent.schemas) as Arc<_>),
            ..Options::default()
        };
        Ok(Self {
            agent,
            run,
            monitor: Monitor::new(automaton, options),
            instructions,
            requests: 0,
            recorded: 0,
            note: String::new(),
            discarded_before: 0,
            corrected: None,
            is_amid_output: false,
            output_tokens: 0,
            output_bytes: 0,
            repeated_tokens: 0,
        })
    }

    /// Runs to the end, which is not yet recorded.
    pub(super) async fn run(mut self) -> EndReason {
        let name = self.agent.automaton.spec().name.value.clone();
        self.run.recorder.record(EventKind::Spec { name, continuation: self.agent.continuation });
        self.monitor.question(self.run.query);
        self.record_sections();
        let wall = self.run.limits.wall;
        let end = match tokio::time::timeout(wall, self.go_on()).await {
            Ok(end) => end,
            Err(_) => self.stop(LimitKind::WallMilliseconds, self.run.limits.wall_ms()),
        };
        self.record_sections();
        self.run.recorder.record(EventKind::Tally(self.tally()));
        end
    }

    async fn go_on(&mut self) -> EndReason {
        loop {
            self.record_sections();
            match self.monitor.step() {
                Step::Continue if self.requests >= self.run.limits.iterations => {
                    return self.stop(LimitKind::Iterations, u64::from(self.run.limits.iterations));
                }
                Step::Continue => {
                    if let Err(error) = self.turn().await {
                        return EndReason::Unscored { reason: error.to_string() };
                    }
                }
                Step::Violation => self.correct(),
                Step::Environment => {
                    if let Err(end) = self.environment().await {
                        return end;
                    }
                }
                Step::Ended => return self.end(),
            }
        }
    }

    /// Asks the model once, and gives the monitor what it writes.
    async fn turn(&mut self) -> Result<(), ModelError> {
        let request = self.request();
        self.requests += 1;
        let before = self.monitor.text().len();
        let reply = self.read(&request).await?;
        self.output_tokens += reply.usage.output_tokens;
        self.output_bytes += reply.text.len() as u64;
        if self.corrected.take().is_some() {
            self.repeated_tokens += reply.usage.input_tokens;
        }
        let Reply { text, finish, usage } = reply;
        self.is_amid_output = finish == FinishReason::Length;
        self.run.recorder.record(EventKind::Turn { text, calls: 0, finish, usage });
        if self.monitor.step() == Step::Continue {
            let has_progressed = self.monitor.text().len() > before;
            match finish {
                // It is simply asked to go on; but not for ever, where nothing comes of it.
                FinishReason::Length if has_progressed => {}
                FinishReason::Stop => drop(self.monitor.end_at_stop()),
                _ => drop(self.monitor.end_of_output()),
            }
        }
        Ok(())
    }

    fn request(&self) -> Request {
        let settings = Settings {
            temperature: Some(self.agent.options.temperature),
            seed: Some(self.run.seed),
            stop: self.monitor.stop_sequences().into_iter().map(str::to_owned).collect(),
            ..Settings::default()
        };
        let corrected = self.corrected.as_ref();
        let hint = corrected.map(|corrected| corrected.instruction.as_str());
        let parts = Parts {
            instructions: &self.instructions,
            text: self.monitor.text(),
            question_end: self.monitor.question_end(),
            remark: hint.filter(|_| corrected.is_some_and(|corrected| corrected.is_of_content)),
            hint,
            settings,
        };
        Request::new(self.agent.continuation, parts)
    }

    /// Reads a reply into the monitor, and no further than it takes it.
    async fn read(&mut self, request: &Request) -> Result<Reply, ModelError> {
        let model = Arc::clone(&self.agent.model);
        // Even a model that continues text repeats a mark that was written for it. Only what it wrote itself up to a limit
        // of its length goes on without a seam.
        let has_seam = self.agent.continuation == Continuation::Chat || !self.is_amid_output;
        let echo = has_seam.then(|| Echo::new(self.monitor.text()));
        let mut feed = Feed { monitor: &mut self.monitor, echo };
        if !model.capabilities().streaming {
            let reply = match request {
                Request::Completion(request) => {
                    let reply = model.complete(request).await?;
                    Reply { text: reply.text, finish: reply.finish, usage: reply.usage }
                }
                Request::Chat(request) => {
                    let reply = model.chat(request).await?;
                    Reply { text: reply.text, finish: reply.finish, usage: reply.usage }
                }
            };
            feed.push(&reply.text);
            feed.end();
            return Ok(reply);
        }
        let stream = match request {
            Request::Completion(request) => model.complete_stream(request).await?,
            Request::Chat(request) => model.chat_stream(request).await?,
        };
        let reply = feed.take(stream).await?;
        Ok(reply.unwrap_or_else(|text| {
            let tokens = |bytes: usize| bytes.div_ceil(BYTES_PER_TOKEN) as u64;
            let usage = Usage { input_tokens: tokens(request.bytes()), output_tokens: tokens(text.len()) };
            Reply { text, finish: FinishReason::Cut, usage }
        }))
    }

    /// Mends what the model wrote.
    fn correct(&mut self) {
        let Some(violation) = self.monitor.violation() else { return };
        let words = violation.describe(self.monitor.automaton());
        let is_of_content = matches!(violation, Violation::Content { .. });
        let before = self.monitor.counts().corrections;
        let correction = self.monitor.correct();
        let counts = self.monitor.counts();
        if counts.corrections == before {
            return;
        }
        let discarded_bytes = counts.discarded_bytes - self.discarded_before;
        self.discarded_before = counts.discarded_bytes;
        let appended = correction.appended;
        self.run.recorder.record(EventKind::Correction { violation: words, appended, discarded_bytes });
        self.corrected = Some(Corrected { instruction: correction.instruction, is_of_content });
    }

    /// Lets the environment write. The error is the end of the run.
    async fn environment(&mut self) -> Result<(), EndReason> {
        let handler = self.monitor.request().and_then(|request| request.handler);
        let iterations = self.run.limits.iterations;
        if handler.is_some_and(|handler| handlers::asks(handler, self.agent)) && self.requests >= iterations {
            return Err(self.stop(LimitKind::Iterations, u64::from(iterations)));
        }
        let written = handlers::write(self.agent, self.run, &self.monitor, &self.instructions).await;
        let Written { text, note, has_asked } = written.map_err(|reason| EndReason::Unscored { reason })?;
        self.requests += u32::from(has_asked);
        self.note = note;
        self.monitor.environment(&text);
        Ok(())
    }

    /// Records the sections that have been completed.
    fn record_sections(&mut self) {
        for section in self.monitor.sections().skip(self.recorded).take_while(|section| section.is_complete) {
            let state = self.monitor.automaton().state(section.state).name.value.clone();
            let (author, text) = (section.author, section.content.to_owned());
            let is_written = author == Author::Environment;
            let note = if is_written { std::mem::take(&mut self.note) } else { String::new() };
            self.run.recorder.record(EventKind::Section { state, author, text, note });
            self.recorded += 1;
        }
    }

    /// A limit is reached: that is the end, and an answer only if the text may end here.
    fn stop(&mut self, limit: LimitKind, value: u64) -> EndReason {
        self.monitor.stop();
        match self.monitor.answer() {
            Some(answer) => EndReason::Answered { text: answer.to_owned() },
            None => EndReason::LimitReached { limit, value },
        }
    }

    /// How the run ended, by its monitor.
    fn end(&self) -> EndReason {
        match self.monitor.outcome() {
            Some(Outcome::Failed(Failure::Text { bytes_max })) => {
                EndReason::LimitReached { limit: LimitKind::TextBytes, value: *bytes_max as u64 }
            }
            Some(Outcome::Failed(failure)) => {
                EndReason::AgentFailed { reason: failure.describe(self.monitor.automaton()) }
            }
            _ => EndReason::Answered { text: self.monitor.answer().unwrap_or_default().to_owned() },
        }
    }

    fn tally(&self) -> Tally {
        let counts = self.monitor.counts();
        let share = u128::from(counts.discarded_bytes) * u128::from(self.output_tokens);
        let discarded_tokens = share.div_ceil(u128::from(self.output_bytes.max(1)));
        Tally {
            corrections: u64::from(counts.corrections),
            escalations: u64::from(counts.escalations),
            discarded_bytes: counts.discarded_bytes,
            discarded_tokens: u64::try_from(discarded_tokens).unwrap_or(u64::MAX).min(self.output_tokens),
            repeated_tokens: self.repeated_tokens,
        }
    }
}

/// The automaton without the calls of tools that there are not.
fn for_tools(automaton: &Arc<Automaton>, tools: &[Tool]) -> Result<Arc<Automaton>, EndReason> {
    let is_there = |name: &str| tools.iter().any(|tool| tool.name == name);
    if !tools.is_empty() && automaton.named_tools().all(is_there) {
        return Ok(Arc::clone(automaton));
    }
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    automaton.for_tools(&names).map(Arc::new).ok_or_else(|| {
        let name = &automaton.spec().name.value;
        let tools =
            if names.is_empty() { "no tools".to_owned() } else { format!("the tools {}", names.join(", ")) };
        EndReason::Unscored {
            reason: format!("nothing that the specification `{name}` allows can be done with {tools}"),
        }
    })
}

/// Brings a reply to the monitor.
struct Feed<'m> {
    monitor: &'m mut Monitor,
    /// For a model that repeats where it was.
    echo: Option<Echo>,
}

impl Feed<'_> {
    fn push(&mut self, piece: &str) -> Step {
        match &mut self.echo {
            Some(echo) => {
                let new = echo.push(piece.as_bytes());
                self.monitor.push(&new)
            }
            None => self.monitor.push(piece.as_bytes()),
        }
    }

    /// The reply is over.
    fn end(&mut self) {
        if let Some(mut echo) = self.echo.take() {
            let rest = echo.end();
            self.monitor.push(&rest);
        }
    }

    /// Takes a stream up to its end, or up to where nothing more of it is of use: then `Err` with what came.
    async fn take(
        mut self,
        mut stream: BoxStream<'_, Result<ChatDelta, ModelError>>,
    ) -> Result<Result<Reply, String>, ModelError> {
        let mut text = String::new();
        while let Some(delta) = stream.next().await {
            match delta? {
                ChatDelta::Text(piece) => {
                    let step = self.push(&piece);
                    text.push_str(&piece);
                    if step != Step::Continue {
                        return Ok(Err(text));
                    }
                }
                // It was given no tools.
                ChatDelta::CallStart { .. } | ChatDelta::CallArguments { .. } => {}
                ChatDelta::End { finish, usage, .. } => {
                    self.end();
                    return Ok(Ok(Reply { text, finish, usage }));
                }
            }
        }
        // A stream without its end: what came of it is all there is.
        self.end();
        Ok(Ok(Reply { text, finish: FinishReason::Stop, usage: Usage::default() }))
    }
}
