//! The decoding monitor: holds a model's text to a specification while it is written.
//!
//! A [`Monitor`] knows nothing about models or tools. It is given text and says what is to be done next:
//!
//! ```text
//!             ┌──────────────── correct ◄────────────────┐
//!             ▼                                          │
//!   start ► push ... push ── end_of_output ──► Step::Violation
//!             ▲                    │
//!             │                    ├─────────► Step::Environment ─► environment ─► (as after push)
//!             └── Step::Continue ◄─┤
//!                                  └─────────► Step::Ended
//! ```
//!
//! [`Monitor::text`] is the run so far, which a request continues. A model that continues text gets it unchanged; a
//! chat model that continues a message of its own gets it as that message; any other gets it with an instruction to
//! continue ([`Correction::instruction`]), and its reply goes through an [`Echo`] first, because such models repeat
//! the end of the text. Requests may be streamed, with each piece pushed as it comes, and cut off at any step except
//! [`NextStep::Continue`]; or pushed whole. The result does not depend on how the bytes are cut into pieces.
//!
//! # Rules
//!
//! - Prompts are found leftmost, and the longest at each position. A line break before a prompt and white space
//!   around content are ignored.
//! - In a JSON string, if content begins as JSON and its state requires JSON or arguments, there are no prompts; a
//!   string ends on its line.
//! - The environment's text and the question are not split: prompts in them are broken by a character that occurs
//!   in no prompt. Otherwise a page that a tool fetched could move the agent to its answer.
//! - When the model writes the prompt of a state of the environment in a valid place, the rest of its output is
//!   discarded.
//! - A run ends if nothing can follow and the output ends or another prompt comes; or if the run may end and the
//!   next part must not follow.
//! - At the first part that must not come, the text is cut back to its beginning. If exactly one of the possible
//!   next states may be followed by the attempted one, the prompt of that state is appended. Otherwise the longest
//!   common prefix of the possible next prompts is appended, and the next output must complete one of them. If there
//!   is not a common prefix, or the violation is repeated, a whole prompt is appended: that of a state on the shortest
//!   path to the attempted one; if there are several, and if nothing possible was attempted, the prompt nearest to
//!   the output, if one is near, otherwise the first in the order of the specification.
//! - Before that, a label that was wrong is mended: if the part may come once earlier sections of the same output are
//!   taken for sections of other states, for which their content is valid too, those that require the fewest changes
//!   are ([`StateContent::written_as`]). A prompt that would then come twice in a row is dropped, and the two sections
//!   are one. Sections that are parts of calls stay as they are.
//! - Emphasis and other markup around a prompt, and a colon behind it, are not content.
//! - If the output ends and only the environment can continue, it does.
//! - Content that violates a rule is cut back: to the longest part that can still match a regular expression, to
//!   the maximum length, otherwise to its beginning. The model is informed and writes it again. After the number of
//!   attempts that the rule allows, the run ends with the reason.
//! - A forbidden call is content that violates a rule: it is refused before it is made. So is one that the
//!   requirements allow to be written but not to be executed. If all calls are executed at the end, and arguments
//!   contain labels of earlier ones, which will be replaced by evidence, they are checked before the call is
//!   executed: see [`PlanExecution`].

mod complete;
mod content;
mod decoder;
mod decoration;
mod echo;
mod execution;
mod options;
mod relabel;
mod run;
mod tools;
mod violation;
mod write;

use std::ops::Range;
use std::sync::Arc;

use crate::prompts::{Found, Match, Prompts};
use crate::{Automaton, Compat, Entered, Handler, Position, StateId};
use content::Departure;
pub(crate) use content::{Progress, StringEnd};
use decoder::Decoder;
use execution::Labels;

pub use echo::Echo;
pub use execution::{Denial, PlanExecution};
pub use options::{
    CONTENT_RETRIES_MAX, CORRECTIONS_MAX, Decoding, MonitorOptions, SCHEMA_RETRIES_MAX, SchemaValidator,
    TEXT_BYTES_MAX,
};
pub use run::{Author, Call, MonitorCounts, NextStep, Request, StateContent};
pub use tools::{arguments_from, check_arguments, match_tool};
pub use violation::{Correction, Fault, MonitorOutcome, RunFailure, Violation};

/// Holds one run to a specification.
///
/// Each piece of text takes time in proportion to its bytes, whatever the length of the run, and no memory beyond the
/// text itself. A copy is an independent run from there on.
#[derive(Debug, Clone)]
pub struct Monitor {
    shared: Arc<Shared>,
    text: String,
    /// Up to here the text is understood.
    scanned: usize,
    decoder: Decoder,
    mode: Mode,
    /// After all complete states; a state that completes a call is not complete before its content.
    position: Position,
    sections: Vec<Part>,
    calls: Vec<Call>,
    /// Calls before this one have been given to the environment.
    calls_from: usize,
    /// The labels for the calls of a plan.
    labels: Labels,
    /// The label and the tool of the next call.
    label: Option<String>,
    tool: Option<String>,
    progress: Progress,
    /// The beginning of a prompt or of content, written by the monitor for the model.
    hint: Range<usize>,
    /// Violations since a state was last entered.
    violations_here: u32,
    /// The model stopped behind sections whose labels may be wrong, and has not gone on yet.
    has_stopped: bool,
    /// How often the content of the current section violated a rule.
    faults_here: u32,
    /// What stands between the last mark and its content has been looked at.
    has_passed_decoration: bool,
    /// Sections before this one are final: their states can no longer change.
    sealed: usize,
    /// By how much the text has grown by mending labels.
    mended_bytes: isize,
    violation: Option<Violation>,
    outcome: Option<MonitorOutcome>,
    counts: MonitorCounts,
}

#[derive(Debug)]
struct Shared {
    automaton: Arc<Automaton>,
    prompts: Prompts,
    options: MonitorOptions,
    /// Calls are executed only when the plan is solved.
    is_solved: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// The model writes the content of the last section, or the next prompt.
    Open,
    /// A prompt must come. Otherwise the text is cut back to this byte.
    Closed(usize),
    /// The environment writes.
    Environment,
    /// The model wrote what may not come.
    Violated,
    Ended,
}

/// A section, as places in the text.
#[derive(Debug, Clone)]
struct Part {
    state: StateId,
    author: Author,
    content: Range<usize>,
    call: Option<usize>,
    /// Where the run was before the state.
    before: Position,
    /// The state under whose prompt the model wrote it, if that was wrong.
    written_as: Option<StateId>,
    /// Another prompt of the same state was dropped within its content.
    is_joined: bool,
}

impl Monitor {
    /// A run before its beginning. Takes time in proportion to the size of the specification's prompts.
    pub fn new(automaton: Arc<Automaton>, options: MonitorOptions) -> Self {
        let prompts = Prompts::new(automaton.spec(), options.compat);
        let position = automaton.start();
        let spec = automaton.spec();
        let runs = |handler: &Handler| spec.has_handler(*handler);
        // If another handler can run a call at once, its arguments must be complete when they are written.
        let is_solved = runs(&Handler::Solve)
            && ![Handler::RunCall, Handler::RunCalls, Handler::Summarise].iter().any(runs);
        Self {
            shared: Arc::new(Shared { automaton, prompts, options, is_solved }),
            text: String::new(),
            scanned: 0,
            decoder: Decoder::default(),
            mode: Mode::Closed(0),
            position,
            sections: Vec::new(),
            calls: Vec::new(),
            calls_from: 0,
            labels: Labels::default(),
            label: None,
            tool: None,
            progress: Progress::default(),
            hint: 0..0,
            violations_here: 0,
            has_stopped: false,
            faults_here: 0,
            has_passed_decoration: false,
            sealed: 0,
            mended_bytes: 0,
            violation: None,
            outcome: None,
            counts: MonitorCounts::default(),
        }
    }

    /// Begins the run with a question: the content of the first state, which is the first in the order of the
    /// specification if there are several. Without this the model writes the first state, too.
    ///
    /// Once the run has begun it does nothing.
    pub fn question(&mut self, text: &str) -> NextStep {
        let first = self.automaton().valid(self.position).first().copied();
        let (Some(state), true) = (first, self.text.is_empty() && self.mode == Mode::Closed(0)) else {
            return self.step();
        };
        self.text.push_str(&self.shared.automaton.state(state).prompt.value);
        self.open(state, self.text.len(), Author::User);
        self.write_escaped(text);
        self.leave_written()
    }

    /// Takes a piece of the model's output. Anything after a violation, or while it is not the model's turn, is
    /// discarded and counted.
    pub fn push(&mut self, bytes: &[u8]) -> NextStep {
        // Taken out, because its callback needs the whole monitor.
        let mut decoder = std::mem::take(&mut self.decoder);
        decoder.push(bytes, |text| self.take(text));
        self.decoder = decoder;
        self.step()
    }

    /// Says that the model's output has ended. Not for an output that was cut off by a limit on its length: then the
    /// model is simply asked to continue.
    pub fn end_of_output(&mut self) -> NextStep {
        self.end_piece();
        if self.is_writing() {
            self.scan(true);
        }
        if self.mode == Mode::Open && !self.close(self.text.len()) {
            return self.step();
        }
        if let Mode::Closed(at) = self.mode {
            // The end is preferred to a state of the environment, and both to a correction, which costs a request.
            if self.automaton().is_accepting(self.position) {
                self.finish(at);
            } else if let Some(state) = self.only_environment() {
                // Only white space can stand here: the scan has reported anything else.
                self.cut(at);
                self.write_prompt(state);
            } else {
                self.has_stopped |= self.violations_here == 0 && self.next_or_mended().is_some();
                self.violate(at, Violation::Ended);
            }
        }
        self.step()
    }

    /// As [`end_of_output`](Self::end_of_output), for a server with [`stop_sequences`](Self::stop_sequences) that
    /// does not report whether it stopped at one, which it omits: if a call waits for its result, or nothing is
    /// needed to judge, and exactly one state of the environment may come next, that state is entered although the
    /// model could continue.
    pub fn end_at_stop(&mut self) -> NextStep {
        self.end_piece();
        if self.is_writing() {
            self.scan(true);
        }
        if self.mode == Mode::Open && !self.close(self.text.len()) {
            return self.step();
        }
        if let Mode::Closed(at) = self.mode
            && !self.automaton().is_accepting(self.position)
            && let Some(state) = self.expected_environment()
        {
            self.cut(at);
            self.write_prompt(state);
            return self.step();
        }
        // Nothing is left to scan, so the first steps change nothing the second time.
        self.end_of_output()
    }

    /// Corrects a [`NextStep::Violation`]: appends the required text, from which the model continues.
    pub fn correct(&mut self) -> Correction {
        let Some(violation) = self.violation.take().filter(|_| self.mode == Mode::Violated) else {
            return Correction { step: self.step(), appended: String::new(), instruction: String::new() };
        };
        // The rest of a character from the request that was cut off must not join what follows.
        self.decoder = Decoder::default();
        // Worded before the correction, which can change what may come next.
        let instruction = violation.instruction(self);
        let (begin, entered, mended) = (self.text.len(), self.sections.len(), self.mended_bytes);
        if self.counts.corrections >= self.shared.options.corrections_max {
            self.end(MonitorOutcome::Failed(RunFailure::Corrections {
                max: self.counts.corrections,
                last: violation,
            }));
        } else {
            self.counts.corrections += 1;
            self.mend(&violation);
        }
        let step = self.step();
        // Labels before it may have been mended.
        let begin = begin.saturating_add_signed(self.mended_bytes - mended);
        let appended = self.text.get(begin..).unwrap_or_default().to_owned();
        let instruction = match self.sections.get(entered) {
            // Nothing is left to choose.
            Some(part) => format!("Go on with {}.", self.automaton().state(part.state).prompt.value),
            None => instruction,
        };
        Correction {
            step,
            appended,
            instruction: if step == NextStep::Ended { String::new() } else { instruction },
        }
    }

    /// Says that the [final sections](Self::final_sections) are known outside, so that their states must not change any
    /// more. To be called before each output of the model.
    pub fn seal(&mut self) {
        self.sealed = self.final_sections();
    }

    /// How many sections, from the first on, are complete and keep their states. Where the model has stopped too early,
    /// what it writes next may show that the labels of its last sections were wrong.
    pub fn final_sections(&self) -> usize {
        match self.mode {
            Mode::Ended => self.sections.len(),
            _ if self.has_stopped => self.first_of_words(),
            _ => self.sections.len() - usize::from(self.is_content_open()),
        }
    }

    /// The request to the environment, after [`NextStep::Environment`].
    pub fn request(&self) -> Option<Request<'_>> {
        let part = self.sections.last().filter(|_| self.mode == Mode::Environment)?;
        let handler = self.automaton().state(part.state).handler.as_ref().map(|handler| handler.value);
        Some(Request { state: part.state, handler, calls: &self.calls[self.calls_from..] })
    }

    /// Takes the environment's text. Ignored except after [`NextStep::Environment`].
    pub fn environment(&mut self, text: &str) -> NextStep {
        if self.mode != Mode::Environment {
            return self.step();
        }
        self.decoder = Decoder::default();
        // First, because it depends on where the new calls begin.
        self.note_executed();
        self.calls_from = self.calls.len();
        match self.shared.options.compat {
            Compat::Ours => {
                self.write_escaped(text);
                self.leave_written()
            }
            Compat::Original => {
                self.text.push(' ');
                self.mode = Mode::Open;
                self.take(text);
                if self.is_writing() {
                    self.scan(true);
                }
                if self.is_writing() {
                    // The environment has written the last section, so there is no prompt to hint at.
                    if self.automaton().valid(self.position).is_empty() && self.is_by_environment() {
                        self.finish(self.text.len());
                    } else {
                        self.write_common_prefix();
                    }
                }
                self.step()
            }
        }
    }

    /// Whether the end of the output would end the run in a state that the model was to write and left blank.
    pub fn would_end_blank(&self) -> bool {
        self.mode == Mode::Open && self.automaton().is_accepting(self.position) && self.left_blank().is_some()
    }

    /// The state of the last section if the model was to write its content and has written none. A state whose rules
    /// take an empty text is a mere mark, which is complete without content.
    fn left_blank(&self) -> Option<StateId> {
        let part = self.sections.last().filter(|part| part.author == Author::Model)?;
        let content = part.content.start..part.content.end.min(self.text.len());
        let is_blank = self.text.get(content).is_none_or(|content| content.trim().is_empty());
        let state = self.automaton().state(part.state);
        let is_mark = content::pattern(state).is_some_and(|pattern| pattern.matches(""));
        (is_blank && !is_mark && !state.completes_call()).then_some(part.state)
    }

    /// Has the model write the content of the last section, which it left blank before another prompt.
    fn refuse_blank(&mut self, state: StateId) {
        let Some(part) = self.sections.last_mut() else { return };
        part.content.end = usize::MAX;
        let start = part.content.start;
        self.violate(start, Violation::Content { state, fault: Fault::Blank });
    }

    /// Says that a limit of the run is reached: the text is final. The run is finished if it may end here.
    pub fn stop(&mut self) -> NextStep {
        self.end_piece();
        self.end_here(MonitorOutcome::Stopped);
        self.step()
    }

    /// What is to be done next.
    pub fn step(&self) -> NextStep {
        match self.mode {
            Mode::Open | Mode::Closed(_) => NextStep::Continue,
            Mode::Environment => NextStep::Environment,
            Mode::Violated => NextStep::Violation,
            Mode::Ended => NextStep::Ended,
        }
    }

    /// The part that must not come, after [`NextStep::Violation`].
    pub fn violation(&self) -> Option<&Violation> {
        self.violation.as_ref()
    }

    /// How the run ended, after [`NextStep::Ended`].
    pub fn outcome(&self) -> Option<&MonitorOutcome> {
        self.outcome.as_ref()
    }

    /// The run so far, from the first prompt on: the text for the model to continue. A possible beginning of a
    /// prompt, not interpreted yet, is included at its end.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How many bytes of the text are final. The rest may still be cut back: content that is checked when it is
    /// complete, and a possible beginning of a prompt.
    pub fn settled(&self) -> usize {
        match (self.mode, self.sections.last()) {
            (Mode::Open, Some(part)) => {
                // Content with rules is checked once more when it is complete, and can then be cut back entirely.
                let rules = &self.automaton().state(part.state).content;
                if rules.is_empty() { self.scanned } else { part.content.start }
            }
            (Mode::Closed(at), _) => at,
            _ => self.text.len(),
        }
    }

    /// The states of the run with their contents, in order. The content of the last one may be incomplete.
    pub fn sections(&self) -> impl DoubleEndedIterator<Item = StateContent<'_>> + ExactSizeIterator {
        self.sections.iter().map(|part| {
            // The end of open content is `usize::MAX`.
            let end = part.content.end.min(self.text.len());
            StateContent {
                state: part.state,
                author: part.author,
                content: self.text[part.content.start..end].trim(),
                call: part.call.map(|call| &self.calls[call]),
                is_complete: part.content.end != usize::MAX,
                written_as: part.written_as,
            }
        })
    }

    /// The calls of the run, in order.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// The run as a word of the automaton's language: with the calls as executed, as far as they were.
    pub fn word(&self) -> impl Iterator<Item = Entered<'_>> {
        self.sections().map(|section| Entered {
            state: section.state,
            call: section.call.map(|call| &call.call),
            fate: section.call.map(|call| call.fate).unwrap_or_default(),
        })
    }

    /// The content of the last state of a finished run.
    pub fn answer(&self) -> Option<&str> {
        let section = self.sections().next_back()?;
        (self.outcome == Some(MonitorOutcome::Finished)).then_some(section.content)
    }

    /// What was counted.
    pub fn counts(&self) -> MonitorCounts {
        self.counts
    }

    /// The automaton.
    pub fn automaton(&self) -> &Automaton {
        &self.shared.automaton
    }

    /// The position of the run in the automaton: after all complete states. A state that completes a call is not
    /// complete before its content.
    pub fn position(&self) -> Position {
        self.position
    }

    /// The state whose content the model is writing, and the position before it.
    pub(crate) fn open_state(&self) -> Option<(StateId, Position)> {
        let part = self.sections.last().filter(|_| self.mode == Mode::Open)?;
        Some((part.state, part.before))
    }

    /// Bytes at the beginning of the text for the question: the model's turn follows them. 0 if the run did not begin
    /// with a question.
    pub fn question_end(&self) -> usize {
        let is_by_user = |part: &&Part| part.author == Author::User;
        // With the line break that follows the question.
        self.sections.first().filter(is_by_user).map_or(0, |part| (part.content.end + 1).min(self.text.len()))
    }

    /// Texts at which a server should stop writing: the prompts of the environment's states.
    pub fn stop_sequences(&self) -> Vec<&str> {
        let states = &self.automaton().spec().states;
        states.iter().filter(|state| state.is_environment).map(|state| state.prompt.value.as_str()).collect()
    }

    /// Whether the content of the last section has not ended.
    fn is_content_open(&self) -> bool {
        self.sections.last().is_some_and(|part| part.content.end == usize::MAX)
    }

    fn is_by_environment(&self) -> bool {
        self.sections.last().is_some_and(|part| part.author == Author::Environment)
    }

    fn is_writing(&self) -> bool {
        matches!(self.mode, Mode::Open | Mode::Closed(_))
    }

    /// The bytes of the text as it was written, before labels were mended: the limit applies to these, so that it does
    /// not depend on how the text is cut into pieces.
    fn written_length(&self) -> usize {
        self.text.len().saturating_add_signed(-self.mended_bytes)
    }

    /// Takes decoded text, up to the limit.
    fn take(&mut self, text: &str) {
        let mut rest = text;
        if self.is_writing() {
            let mut room =
                self.shared.options.text_bytes_max.saturating_sub(self.written_length()).min(text.len());
            // The limit counts bytes, and no character is split.
            while !text.is_char_boundary(room) {
                room -= 1;
            }
            let (taken, too_much) = text.split_at(room);
            self.text.push_str(taken);
            self.scan(false);
            if self.is_writing() && !too_much.is_empty() {
                self.end_for_length();
            }
            rest = too_much;
        }
        self.counts.discarded_bytes += rest.len() as u64;
    }

    /// An incomplete character at the end of the output stays incomplete.
    fn end_piece(&mut self) {
        let mut decoder = std::mem::take(&mut self.decoder);
        decoder.end(|text| self.take(text));
    }

    /// Ends a run whose text is too long: it is finished if it may end here.
    fn end_for_length(&mut self) {
        let bytes_max = self.shared.options.text_bytes_max;
        self.end_here(MonitorOutcome::Failed(RunFailure::Text { bytes_max }));
    }

    /// Ends a run with the text so far: finished if it may end here, otherwise with this outcome.
    fn end_here(&mut self, otherwise: MonitorOutcome) {
        if self.is_writing() {
            // The possible beginning of a longer prompt turns out to be complete.
            self.scan(true);
        }
        let is_blank = self.mode == Mode::Open && self.left_blank().is_some();
        if self.mode == Mode::Open {
            self.close(self.text.len());
        }
        match self.mode {
            Mode::Ended => {}
            Mode::Closed(_) if is_blank && self.shared.options.compat == Compat::Ours => self.end(otherwise),
            Mode::Closed(at) if self.automaton().is_accepting(self.position) => self.finish(at),
            _ => self.end(otherwise),
        }
    }

    /// Interprets the rest of the text as far as possible; all of it if the text has ended.
    fn scan(&mut self, is_whole: bool) {
        loop {
            if self.mode == Mode::Open && !self.pass_decoration(is_whole) {
                return;
            }
            let (from, length) = (self.scanned, self.text.len());
            match self.mode {
                Mode::Open => match self.find_prompt(from, is_whole) {
                    Found::Prompt { start, end, state } => {
                        if !self.read_content(start) {
                            // The violation has changed the mode, in which the rest is looked at again.
                            continue;
                        }
                        if self.close(start) {
                            self.meet(state, self.undecorated(start), end);
                        }
                    }
                    // What may become a prompt is not content yet.
                    Found::Undecided { start } => {
                        if self.read_content(start) {
                            return;
                        }
                    }
                    Found::None => {
                        if self.read_content(length) {
                            return;
                        }
                    }
                },
                Mode::Closed(at) => {
                    let rest = &self.text[from..];
                    let start = length - rest.trim_start().len();
                    self.scanned = start;
                    if start == length {
                        return;
                    }
                    match self.shared.prompts.at(self.text.as_bytes(), start, is_whole) {
                        // From `at`, so that a prompt that must not come is cut off with the white space before it.
                        Match::Prompt { state, end } => self.meet(state, at, end),
                        Match::Undecided => return,
                        Match::None if self.after_decoration(start) == length && !is_whole => return,
                        Match::None => {
                            let bare = self.after_decoration(start);
                            match self.shared.prompts.at(self.text.as_bytes(), bare, is_whole) {
                                Match::Prompt { state, end } => {
                                    self.meet(state, at, end);
                                    continue;
                                }
                                Match::Undecided => return,
                                Match::None => {}
                            }
                            let Some(tried) = self.stray(start, is_whole) else { return };
                            if self.automaton().is_accepting(self.position) {
                                self.finish(at);
                            } else {
                                self.violate(at, Violation::NoState { tried });
                            }
                        }
                    }
                }
                Mode::Environment | Mode::Violated | Mode::Ended => return,
            }
        }
    }

    /// The first prompt from a byte of open content on. A JSON string, which ends on its line, contains no prompts.
    fn find_prompt(&mut self, from: usize, is_whole: bool) -> Found {
        let part = self.sections.last().filter(|part| part.author == Author::Model);
        let is_json = part.is_some_and(|part| self.shared.automaton.state(part.state).is_json());
        if !is_json || self.shared.options.compat == Compat::Original {
            return self.shared.prompts.find(self.text.as_bytes(), from, is_whole);
        }
        let mut from = from;
        loop {
            let found = self.shared.prompts.find(self.text.as_bytes(), from, is_whole);
            let (Found::Prompt { start, .. } | Found::Undecided { start }) = found else { return found };
            match self.progress.end_of_string(&self.text, start) {
                StringEnd::None => return found,
                StringEnd::At(end) => from = end,
                // A string without an end is none, so the prompt counts.
                StringEnd::Open if is_whole => return found,
                StringEnd::Open => return Found::Undecided { start },
            }
        }
    }

    /// The beginning of text in place of a prompt: as much as the longest prompt, or up to the end of its line.
    /// `None` if that much has not been received yet, so that the report does not depend on how the text is cut into
    /// pieces.
    fn stray(&self, start: usize, is_whole: bool) -> Option<String> {
        let rest = &self.text[start..];
        let line = rest.find('\n');
        let window = self.shared.prompts.longest();
        if line.is_none() && rest.len() < window && !is_whole {
            return None;
        }
        let mut end = line.unwrap_or(rest.len()).min(window);
        while !rest.is_char_boundary(end) {
            end -= 1;
        }
        Some(rest[..end].to_owned())
    }

    /// Reads content up to byte `to`. False if it violated a rule, which has been handled.
    fn read_content(&mut self, to: usize) -> bool {
        let Some(part) = self.sections.last() else { return true };
        if part.author != Author::Model {
            // Only the model's content has rules. In the published dialect the environment's text is scanned, too.
            self.scanned = to;
            return true;
        }
        let id = part.state;
        let state = self.shared.automaton.state(id);
        let departure = self.progress.read(state, &self.text, self.scanned, to);
        self.scanned = to;
        match departure {
            Ok(()) => return true,
            // The text before it is complete, so only another section may come now.
            Err(Departure::Pattern { at, is_match: true }) => {
                let pattern = content::pattern(state).map(|pattern| pattern.as_str().to_owned());
                self.cut_content(at, id, Fault::Pattern { pattern: pattern.unwrap_or_default() });
            }
            Err(Departure::Length { at }) => {
                let characters = content::max_length(state).unwrap_or_default();
                self.cut_content(at, id, Fault::Length { characters_max: characters });
            }
            // The text before it is incomplete, so the model has to continue it.
            Err(Departure::Pattern { at, is_match: false }) => {
                let pattern = content::pattern(state).map(|pattern| pattern.as_str().to_owned());
                let fault = Fault::Pattern { pattern: pattern.unwrap_or_default() };
                self.violate(at, Violation::Content { state: id, fault });
            }
        }
        false
    }

    /// Cuts overlong content back to its complete part.
    fn cut_content(&mut self, at: usize, state: StateId, fault: Fault) {
        self.cut(at);
        if !self.close(at) {
            return;
        }
        // As before any part that must not come, the run ends if it may.
        if self.automaton().is_accepting(self.position) {
            self.finish(at);
        } else {
            self.violate(at, Violation::Content { state, fault });
        }
    }

    /// Handles a prompt after text that is complete up to byte `at`.
    fn meet(&mut self, state: StateId, at: usize, end: usize) {
        if self.automaton().is_valid(self.position, state) {
            self.enter(state, end);
        } else if self.automaton().is_accepting(self.position) {
            match self.left_blank() {
                Some(blank) if self.shared.options.compat == Compat::Ours => self.refuse_blank(blank),
                _ => self.finish(at),
            }
        } else if let Some(shift) = self.relabel(state) {
            self.enter(state, end.saturating_add_signed(shift));
        } else if self.join(state, at, end) {
            // The model goes on with the section that it has announced a second time.
        } else {
            let requirement = self.broken_by(state);
            self.violate(at, Violation::State { tried: state, requirement });
        }
    }

    /// Enters a state whose prompt ends at byte `end` of the text.
    fn enter(&mut self, state: StateId, end: usize) {
        self.violations_here = 0;
        self.has_stopped = false;
        if self.automaton().state(state).is_environment {
            // The environment writes the content, so what the model has written of it is discarded.
            self.cut(end);
            self.open(state, end, Author::Environment);
            self.mode = Mode::Environment;
        } else {
            self.open(state, end, Author::Model);
            self.mode = Mode::Open;
        }
    }

    /// Begins a section whose content begins at a byte.
    fn open(&mut self, id: StateId, start: usize, author: Author) {
        let before = self.position;
        let state = self.shared.automaton.state(id);
        // A call is known only once its content is.
        if !state.completes_call() || author != Author::Model {
            self.position = self.shared.automaton.after(before, id).unwrap_or(before);
        }
        self.progress = Progress::new(state, start);
        self.faults_here = 0;
        self.has_passed_decoration = false;
        self.scanned = start;
        let content = start..usize::MAX;
        self.sections.push(Part {
            state: id,
            author,
            content,
            call: None,
            before,
            written_as: None,
            is_joined: false,
        });
    }

    /// Ends the content of the last section before byte `end`, after which a prompt must come. False if it violates a
    /// rule, which has been handled.
    fn close(&mut self, end: usize) -> bool {
        let end = self.undecorated(end);
        if let Err((kept, violation)) = self.complete(end) {
            self.violate(kept, violation);
            return false;
        }
        if let Some(part) = self.sections.last_mut() {
            part.content.end = end;
        }
        self.mode = Mode::Closed(end);
        true
    }

    /// Cuts the text back, and counts the discarded bytes.
    fn cut(&mut self, at: usize) {
        // An unused hint is removed, too; but it was not the model's.
        let kept = at.clamp(self.hint.start, self.hint.end);
        let hint = self.hint.end - kept;
        self.hint.end = kept;
        self.counts.discarded_bytes += self.text.len().saturating_sub(at).saturating_sub(hint) as u64;
        self.text.truncate(at);
        self.scanned = self.scanned.min(at);
    }

    /// Cuts the text back to its valid part, and waits for [`Monitor::correct`].
    fn violate(&mut self, at: usize, violation: Violation) {
        self.cut(at);
        self.violation = Some(violation);
        self.mode = Mode::Violated;
    }

    fn finish(&mut self, at: usize) {
        self.cut(at);
        self.end(MonitorOutcome::Finished);
    }

    fn end(&mut self, outcome: MonitorOutcome) {
        let end = self.text.len();
        // A refused or truncated section is incomplete.
        if let Some(part) = self.sections.last_mut()
            && (outcome == MonitorOutcome::Finished || part.content.end != usize::MAX)
        {
            part.content.end = part.content.end.min(end);
        }
        self.violation = None;
        self.mode = Mode::Ended;
        self.outcome = Some(outcome);
    }
}
