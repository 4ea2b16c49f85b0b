//! The loop: the model writes until the monitor stops it, then the environment writes, and so on until the end.

use std::sync::Arc;

use futures::StreamExt as _;
use planproof_model::{BoxStream, ChatDelta, ModelError, Settings, run_time};
use planproof_spec::monitor::RunFailure;
use planproof_spec::{MonitorOutcome, NextStep};
use planproof_trace::{Author, Continuation, EndReason, EventKind, FinishReason, LimitKind, Tally, Usage};

use super::BehaviourAgent;
use super::continuation::Request;
use super::handlers::{self, Written};
use super::writing::{Feed, Writing};
use crate::RunContext;
use crate::asking::CutBy;

/// Bytes of text that count as a token if nobody reports a count.
const BYTES_PER_TOKEN: usize = 4;

/// One run of an agent, from the question on.
pub(super) struct Session<'a> {
    agent: &'a BehaviourAgent,
    run: RunContext<'a>,
    writing: Writing,
    continuation: Continuation,
    /// Requests that the model was sent.
    requests: u32,
    /// Sections that are in the trace.
    recorded: usize,
    answers: handlers::Answers,
    /// How the environment produced its latest text, until that is in the trace.
    note: String,
    /// Tokens that the model has written in a row: since the question, or since the environment wrote last. A limit of
    /// a server can cut them into several replies.
    tokens_in_a_row: u64,
    /// All tokens and bytes that the model wrote.
    output_tokens: u64,
    output_bytes: u64,
    repeated_tokens: u64,
}

/// A reply as it came.
struct Reply {
    text: String,
    reasoning: String,
    /// Calls of tools by the provider's interface, although none were offered there.
    calls: u32,
    finish: FinishReason,
    usage: Usage,
}

impl<'a> Session<'a> {
    /// The error is the end of a run that cannot succeed with any model.
    pub(super) fn new(
        agent: &'a BehaviourAgent,
        run: RunContext<'a>,
        continuation: Continuation,
    ) -> Result<Self, EndReason> {
        let writing = Writing::new(
            &agent.automaton,
            run.toolbox.tools(),
            run.query,
            &agent.options,
            (continuation, agent.grammar()),
            &agent.schemas,
        )?;
        Ok(Self {
            agent,
            run,
            writing,
            continuation,
            requests: 0,
            recorded: 0,
            answers: handlers::Answers::new(),
            note: String::new(),
            tokens_in_a_row: 0,
            output_tokens: 0,
            output_bytes: 0,
            repeated_tokens: 0,
        })
    }

    /// Runs to the end, which is not yet recorded.
    pub(super) async fn run(mut self) -> EndReason {
        let name = self.agent.automaton.spec().name.value.clone();
        self.run.recorder.record(EventKind::Spec { name, continuation: self.continuation });
        self.record_sections();
        let wall = self.run.limits.wall;
        let end = match run_time::within(wall, self.go_on()).await {
            Ok(end) => end,
            // A model's server that hangs says nothing about the agent, even if the text could end here.
            Err(over) if over.asked.is_some() => self.run.limits.out_of_time(&over),
            Err(_) => self.out_of_time(),
        };
        // Some sections may have been completed just before the time was over.
        self.record_sections();
        self.run.recorder.record(EventKind::Tally(self.tally()));
        end
    }

    async fn go_on(&mut self) -> EndReason {
        loop {
            self.record_sections();
            match self.writing.monitor.step() {
                // The limit counts requests, so it is checked where one is due. Corrections need none.
                NextStep::Continue if self.requests >= self.run.limits.iterations => {
                    return self.stop(LimitKind::Iterations, u64::from(self.run.limits.iterations));
                }
                NextStep::Continue => {
                    if let Err(end) = self.turn().await {
                        return end;
                    }
                }
                NextStep::Violation => self.correct(),
                NextStep::Environment => {
                    if let Err(end) = self.environment().await {
                        return end;
                    }
                }
                NextStep::Ended => return self.end(),
            }
        }
    }

    /// Asks the model once, and gives the monitor what it writes. The error is the end of the run.
    async fn turn(&mut self) -> Result<(), EndReason> {
        let left =
            self.run.limits.reply_tokens.map(|most| {
                u64::from(most).saturating_sub(self.tokens_in_a_row).try_into().unwrap_or(u32::MAX)
            });
        if left == Some(0) {
            return Err(CutBy::Model.end(self.run.limits.reply_tokens.unwrap_or_default()));
        }
        let request = self.request(left);
        let allowed = request.output_tokens_max();
        self.requests += 1;
        let before = self.writing.monitor.text().len();
        let reply = self.read(&request).await;
        let reply = reply.map_err(|error| EndReason::Unscored { reason: error.to_string() })?;
        self.output_tokens += reply.usage.output_tokens;
        self.output_bytes += reply.text.len() as u64;
        let Reply { text, reasoning, calls, finish, usage } = reply;
        let (is_blank, bytes) = (text.trim().is_empty(), text.len());
        // A text that was cut is continued. Where there is none, the next reply would be cut like this one.
        let cut = allowed.filter(|_| finish == FinishReason::Length).map(|allowed| {
            let by =
                if text.is_empty() && calls == 0 { CutBy::of(&text, usage, allowed) } else { CutBy::Model };
            (by, allowed)
        });
        // Recorded before the filter is checked: the trace has to show what even a withheld reply cost.
        self.run.recorder.record(EventKind::Turn { text, reasoning, calls, finish, usage });
        if finish == FinishReason::ContentFilter {
            return Err(filtered());
        }
        if let Some((by, allowed)) = cut.filter(|(by, _)| *by != CutBy::Model) {
            return Err(by.end(allowed));
        }
        self.tokens_in_a_row += match usage.output_tokens {
            0 => bytes.div_ceil(BYTES_PER_TOKEN) as u64,
            tokens => tokens,
        };
        // To correct a text, the model has to read all of it once more. The tally states this price.
        if self.writing.end_reply(finish, is_blank, before) {
            self.repeated_tokens += usage.input_tokens;
        }
        match self.writing.failure() {
            Some(reason) => Err(EndReason::AgentFailed { reason }),
            None => Ok(()),
        }
    }

    fn request(&self, output_tokens_max: Option<u32>) -> Request {
        self.writing.request(Settings {
            temperature: Some(self.agent.options.temperature),
            output_tokens_max,
            seed: Some(self.run.seed),
            ..Settings::default()
        })
    }

    /// Feeds a reply to the monitor, as far as the monitor accepts it.
    async fn read(&mut self, request: &Request) -> Result<Reply, ModelError> {
        let model = Arc::clone(&self.agent.model);
        let mut feed = self.writing.feed();
        if !model.capabilities().streaming {
            let reply = match request {
                Request::Completion(request) => {
                    let reply = model.complete(request).await?;
                    let reasoning = String::new();
                    Reply { text: reply.text, reasoning, calls: 0, finish: reply.finish, usage: reply.usage }
                }
                Request::Chat(request) => {
                    let reply = model.chat(request).await?;
                    let calls = u32::try_from(reply.calls.len()).unwrap_or(u32::MAX);
                    let finish = finish_with(calls, reply.finish);
                    let reasoning = reply.state.reasoning();
                    Reply { text: reply.text, reasoning, calls, finish, usage: reply.usage }
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
        // The monitor ends a stream as soon as it stops the text. A provider counts tokens at the end of a reply, so
        // those of a reply that was cut are estimated.
        let reply = feed.take(stream).await?;
        Ok(reply.unwrap_or_else(|text| {
            let tokens = |bytes: usize| bytes.div_ceil(BYTES_PER_TOKEN) as u64;
            let usage = Usage::new(tokens(request.bytes()), tokens(text.len()));
            Reply { text, reasoning: String::new(), calls: 0, finish: FinishReason::Cut, usage }
        }))
    }

    /// Mends what the model wrote.
    fn correct(&mut self) {
        if let Some(correction) = self.writing.correct() {
            self.run.recorder.record(correction);
        }
    }

    /// Lets the environment write. The error is the end of the run.
    async fn environment(&mut self) -> Result<(), EndReason> {
        let handler = self.writing.monitor.request().and_then(|request| request.handler);
        let iterations = self.run.limits.iterations;
        // Requests of a handler count against the same limit as those for the text.
        if handler.is_some_and(|handler| handlers::asks(handler, self.agent)) && self.requests >= iterations {
            return Err(self.stop(LimitKind::Iterations, u64::from(iterations)));
        }
        let Writing { monitor, instructions, .. } = &self.writing;
        let written = handlers::write(self.agent, self.run, monitor, instructions, &mut self.answers).await;
        let Written { text, note, has_asked, execution } = written?;
        self.requests += u32::from(has_asked);
        self.note = note;
        // Before the monitor takes the answer, it has to learn which calls of the plan were denied: its position in the
        // automaton follows from the calls that were executed.
        if let Some(execution) = execution {
            self.writing.monitor.settle(execution);
        }
        self.writing.monitor.environment(&text);
        self.tokens_in_a_row = 0;
        Ok(())
    }

    /// Records the sections that have been completed and keep their states.
    fn record_sections(&mut self) {
        let last = self.writing.monitor.final_sections();
        let sections = self.writing.monitor.sections().take(last).skip(self.recorded);
        for section in sections.take_while(|section| section.is_complete) {
            let state = self.writing.monitor.automaton().state(section.state).name.value.clone();
            let (author, text) = (section.author, section.content.to_owned());
            let note = match author {
                Author::Environment => std::mem::take(&mut self.note),
                Author::Model => {
                    let automaton = self.writing.monitor.automaton();
                    let prompt = |state| &automaton.state(state).prompt.value;
                    let written_as = section.written_as.map(|written| {
                        format!("written as {}, taken as {}", prompt(written), prompt(section.state))
                    });
                    let notes = self.writing.remedy.take().into_iter().chain(written_as);
                    notes.collect::<Vec<_>>().join("; ")
                }
                Author::User => String::new(),
            };
            self.run.recorder.record(EventKind::Section { state, author, text, note });
            self.recorded += 1;
        }
    }

    /// The time is over. If a checker used it up, that says nothing about the agent.
    fn out_of_time(&mut self) -> EndReason {
        match handlers::checker_at_work(self.agent, &self.writing.monitor) {
            Some(name) => EndReason::Unscored {
                reason: format!(
                    "the checker {name} had not judged the answer when the {} seconds of the run were over",
                    self.run.limits.wall.as_secs_f64()
                ),
            },
            None => self.stop(LimitKind::WallMilliseconds, self.run.limits.wall_ms()),
        }
    }

    /// A limit is reached: that is the end, and an answer only if the text may end here.
    fn stop(&mut self, limit: LimitKind, value: u64) -> EndReason {
        self.writing.monitor.stop();
        match self.writing.monitor.answer() {
            Some(answer) => EndReason::Answered { text: answer.to_owned() },
            None => EndReason::LimitReached { limit, value },
        }
    }

    /// How the run ended, by its monitor.
    fn end(&self) -> EndReason {
        match self.writing.monitor.outcome() {
            Some(MonitorOutcome::Failed(RunFailure::Text { bytes_max })) => {
                EndReason::LimitReached { limit: LimitKind::TextBytes, value: *bytes_max as u64 }
            }
            Some(MonitorOutcome::Failed(failure)) => {
                EndReason::AgentFailed { reason: failure.describe(self.writing.monitor.automaton()) }
            }
            _ => EndReason::Answered { text: self.writing.monitor.answer().unwrap_or_default().to_owned() },
        }
    }

    fn tally(&self) -> Tally {
        let counts = self.writing.monitor.counts();
        // Only whole replies have a token count, so the discarded tokens are estimated from their share of the bytes.
        // Rounded up, so that a discarded byte never counts as no token.
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

/// The finish reason of a reply with this number of calls; some servers do not report that there are calls.
fn finish_with(calls: u32, finish: FinishReason) -> FinishReason {
    if calls > 0 && finish == FinishReason::Stop { FinishReason::ToolCalls } else { finish }
}

/// The end of a run whose model's output was withheld by a filter, which says nothing about the agent.
pub(crate) fn filtered() -> EndReason {
    EndReason::Unscored { reason: "the provider withheld the model's reply (content filter)".to_owned() }
}

impl Feed<'_> {
    /// Reads a stream up to its end, or up to where the rest is of no use: then `Err` with what was received.
    async fn take(
        mut self,
        mut stream: BoxStream<'_, Result<ChatDelta, ModelError>>,
    ) -> Result<Result<Reply, String>, ModelError> {
        let (mut text, mut reasoning, mut calls) = (String::new(), String::new(), 0_u32);
        while let Some(delta) = stream.next().await {
            match delta? {
                ChatDelta::Text(piece) => {
                    let step = self.push(&piece);
                    text.push_str(&piece);
                    if step != NextStep::Continue {
                        // Dropping the stream ends the request.
                        return Ok(Err(text));
                    }
                }
                // The model was given no tools, so there is nothing to execute.
                ChatDelta::CallStart { .. } => calls = calls.saturating_add(1),
                ChatDelta::CallArguments { .. } => {}
                ChatDelta::State(state) => reasoning = state.reasoning(),
                ChatDelta::End { finish, usage, .. } => {
                    self.end();
                    let finish = finish_with(calls, finish);
                    return Ok(Ok(Reply { text, reasoning, calls, finish, usage }));
                }
            }
        }
        // A stream without an end: what was received is everything.
        self.end();
        let finish = finish_with(calls, FinishReason::Stop);
        Ok(Ok(Reply { text, reasoning, calls, finish, usage: Usage::default() }))
    }
}
