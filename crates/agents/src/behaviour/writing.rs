//! A run's text under its monitor, and the requests to a model about it. This module sends no request and calls no
//! tool, so that a run can be retraced from its trace.

use std::borrow::Cow;
use std::sync::Arc;

use planproof_model::Settings;
use planproof_spec::export::{Scope, gbnf};
use planproof_spec::monitor::{Decoding, Echo, Violation};
use planproof_spec::{Automaton, Compat, Monitor, MonitorOptions, NextStep, StateId};
use planproof_trace::{Continuation, EndReason, EventKind, FinishReason, Tool};

use super::continuation::{Parts, Plain, Request, TAIL_CHARACTERS};
use super::instructions::{marks_no_question, plain};
use super::schemas::Schemas;
use super::{BehaviourOptions, GrammarUse, instructions};

/// The text of one run.
#[derive(Clone)]
pub(super) struct Writing {
    pub(super) monitor: Monitor,
    pub(super) instructions: Arc<str>,
    /// The alternative instructions and the original question, if everything the model writes is an answer.
    plain: Option<(Arc<str>, Arc<str>)>,
    continuation: Continuation,
    /// The bytes at the beginning of the text that a conversation leaves out: the mark of the question.
    question_mark: usize,
    /// The latest violation and its explanation for the model, until it has been asked again.
    corrected: Option<Corrected>,
    /// The latest output was cut off by a limit on its length.
    is_amid_output: bool,
    /// Bytes that were discarded up to the latest correction.
    discarded_before: u64,
    /// Replies in a row in which the model said nothing that could be taken.
    unheard: u32,
    /// Replies in a row that were rejected without adding anything to the text.
    rejected: u32,
    /// Bytes of the text when the model was asked last.
    asked_at: usize,
    /// How the model was asked again, until the trace says so.
    pub(super) remedy: Option<String>,
    /// When a grammar is sent, if the server takes one.
    grammar: GrammarUse,
    /// Corrections are those of the published implementation, which repeats a request unchanged.
    is_published: bool,
    tools: Arc<[String]>,
}

/// By how much a request that was rejected twice is warmer than the one before, and the warmest.
const WARMER: f64 = 0.3;
const WARMEST: f64 = 1.0;

/// Replies in a row without anything that can be taken, after which the agent has failed.
pub(super) const UNHEARD_MAX: u32 = 3;

#[derive(Clone)]
struct Corrected {
    instruction: String,
    /// The text alone does not show the model its mistake.
    is_of_content: bool,
}

impl Writing {
    /// A text that begins with this question; `grammar` is for a server that takes one. The error is the end of a run
    /// that cannot succeed with any model.
    pub(super) fn new(
        automaton: &Arc<Automaton>,
        tools: &[Tool],
        question: &str,
        options: &BehaviourOptions,
        (continuation, grammar): (Continuation, GrammarUse),
        schemas: &Arc<Schemas>,
    ) -> Result<Self, EndReason> {
        let automaton = for_tools(automaton, tools)?;
        let instructions = instructions(&automaton, tools, continuation).into();
        let plain = only_answer(&automaton)
            .map(|answer| (plain(&automaton, automaton.state(answer)).into(), question.trim().into()));
        let is_published = options.compat == Compat::Original || options.correction == Compat::Original;
        let grammar = if is_published { GrammarUse::Off } else { grammar };
        let names = tools.iter().map(|tool| tool.name.clone()).collect();
        let options = MonitorOptions {
            compat: options.compat,
            // A greedy model would repeat a mistake at the same point, so the monitor must not wait for another
            // attempt.
            decoding: if options.temperature > 0.0 { Decoding::Sampled } else { Decoding::Greedy },
            corrections_max: options.corrections_max,
            text_bytes_max: options.text_bytes_max,
            correction: options.correction,
            tools: Some(tools.to_vec()),
            validator: Some(Arc::clone(schemas) as Arc<_>),
            ..MonitorOptions::default()
        };
        let question_mark = match automaton.valid(automaton.start()) {
            [state, ..] if marks_no_question(&automaton) => automaton.state(*state).prompt.value.len(),
            _ => 0,
        };
        let mut monitor = Monitor::new(automaton, options);
        monitor.question(question);
        Ok(Self {
            monitor,
            instructions,
            plain,
            continuation,
            question_mark,
            corrected: None,
            is_amid_output: false,
            discarded_before: 0,
            unheard: 0,
            rejected: 0,
            asked_at: 0,
            remedy: None,
            grammar,
            is_published,
            tools: names,
        })
    }

    /// What the model is asked now.
    pub(super) fn request(&self, mut settings: Settings) -> Request {
        settings.stop = self.monitor.stop_sequences().into_iter().map(str::to_owned).collect();
        settings.grammar = self.grammar();
        let corrected = self.corrected.as_ref();
        let hint = corrected.map(|corrected| match self.rejected {
            0 | 1 => Cow::Borrowed(corrected.instruction.as_str()),
            _ if self.is_published => Cow::Borrowed(corrected.instruction.as_str()),
            // A request that was rejected is never repeated as it was, not even to a model without a temperature.
            count => Cow::Owned(format!("{} The last {count} attempts were wrong.", corrected.instruction)),
        });
        let hint = hint.as_deref();
        if let Some(temperature) = self.temperature(settings.temperature) {
            settings.temperature = Some(temperature);
            settings.seed = settings.seed.map(|seed| seed.wrapping_add(u64::from(self.rejected)));
        }
        let parts = Parts {
            instructions: &self.instructions,
            text: self.monitor.text(),
            question_end: self.monitor.question_end(),
            question_mark: self.question_mark,
            remark: hint.filter(|_| corrected.is_some_and(|corrected| corrected.is_of_content)),
            again: self.monitor.open_prompt(),
            hint,
            plain: self.plain.as_ref().map(|(instructions, question)| Plain {
                instructions,
                question,
                // Section 0 is the question.
                answer: self.monitor.sections().nth(1).map_or("", |section| section.content),
            }),
            settings,
        };
        Request::new(self.continuation, parts)
    }

    /// The grammar of what may come next, if the server is to get one.
    fn grammar(&self) -> Option<Arc<str>> {
        match self.grammar {
            GrammarUse::Off => return None,
            GrammarUse::Corrections if self.rejected == 0 => return None,
            GrammarUse::Corrections | GrammarUse::Always => {}
        }
        let is_open = self.monitor.sections().next_back().is_some_and(|section| !section.is_complete);
        // A grammar begins before or behind a mark, and not within one that was begun for the model.
        if !is_open && self.monitor.settled() < self.monitor.text().trim_end().len() {
            return None;
        }
        let tools: Vec<&str> = self.tools.iter().map(String::as_str).collect();
        let scope = Scope { tools: Some(&tools), ..Scope::next(&self.monitor) };
        gbnf(self.monitor.automaton(), scope).ok().map(Into::into)
    }

    /// A higher temperature for a request that was rejected twice; `None` if it stays.
    fn temperature(&self, usual: Option<f64>) -> Option<f64> {
        let steps = self.rejected.checked_sub(2)? + 1;
        let warmer = (f64::from(steps) * WARMER).min(WARMEST);
        (!self.is_published && usual.is_some_and(|usual| usual < warmer)).then_some(warmer)
    }

    /// How the next request differs from the one that was rejected.
    fn next_remedy(&self) -> String {
        let temperature = self.temperature(Some(0.0)).map(|it| format!(" at temperature {it}"));
        let grammar = if self.grammar().is_some() { " under a grammar" } else { "" };
        format!("asked again with the reason{grammar}{}", temperature.unwrap_or_default())
    }

    /// What brings a reply to the monitor.
    pub(super) fn feed(&mut self) -> Feed<'_> {
        self.asked_at = self.monitor.text().len();
        // What came before may be in the trace.
        self.monitor.seal();
        // Even a model that continues text repeats a mark that was written for it. Only its own text that was cut off
        // at a length limit continues without a seam.
        let has_seam = self.continuation == Continuation::Chat || !self.is_amid_output;
        let echo = has_seam.then(|| Echo::new(self.monitor.text(), TAIL_CHARACTERS));
        Feed { monitor: &mut self.monitor, echo }
    }

    /// Reports how the reply ended that was passed to [`feed`](Self::feed), and whether it had no text; `before` is
    /// the number of bytes in the text before it. Returns whether the reply answered a correction.
    pub(super) fn end_reply(&mut self, finish: FinishReason, is_blank: bool, before: usize) -> bool {
        self.is_amid_output = finish == FinishReason::Length;
        let is_correction = self.corrected.take().is_some();
        let has_progressed = self.monitor.text().len() > before;
        // Counts replies in a row: a reply that can be taken resets it to 0.
        let unheard = std::mem::take(&mut self.unheard) + 1;
        // Otherwise the monitor stopped the text itself, and how the reply ended does not matter.
        if self.monitor.step() == NextStep::Continue {
            match finish {
                // It is simply asked to continue, but not for ever if it adds nothing.
                FinishReason::Length if has_progressed => {}
                // Tools are called in the text only.
                FinishReason::ToolCalls => {
                    let instruction = "Call tools only by writing their sections as text.".to_owned();
                    self.reject(Corrected { instruction, is_of_content: true });
                    self.unheard = unheard;
                }
                // An answer that was left blank is not one.
                _ if self.monitor.would_end_blank() => {
                    let instruction = match is_blank {
                        true => "Your last message was empty. Write the next section.",
                        false => "The last section was empty. Write it.",
                    };
                    let instruction = instruction.to_owned();
                    self.reject(Corrected { instruction, is_of_content: true });
                    self.unheard = unheard;
                }
                // Servers do not report whether they stopped at one of our stop texts, so the monitor decides.
                FinishReason::Stop => drop(self.monitor.end_at_stop()),
                _ => drop(self.monitor.end_of_output()),
            }
        }
        if self.monitor.step() != NextStep::Violation && self.unheard == 0 {
            self.rejected = 0;
        }
        is_correction
    }

    /// Why the agent has failed, if the model writes nothing that can be used.
    pub(super) fn failure(&self) -> Option<String> {
        (self.unheard >= UNHEARD_MAX).then(|| {
            format!("the model wrote nothing that could be taken {UNHEARD_MAX} times in a row: no text, or calls that it was not offered")
        })
    }

    /// Takes a whole reply the way a run that ended like this took it.
    pub(super) fn take_reply(&mut self, text: &str, finish: FinishReason) {
        let before = self.monitor.text().len();
        let mut feed = self.feed();
        feed.push(text);
        if finish != FinishReason::Cut {
            feed.end();
        }
        self.end_reply(finish, text.trim().is_empty(), before);
    }

    /// Notes that a reply was rejected, and what the model is to know of it.
    fn reject(&mut self, corrected: Corrected) {
        self.rejected = self.rejected.saturating_add(1);
        self.corrected = Some(corrected);
    }

    /// Mends the model's text. Returns the event that reports it, if there was something to mend and it could be
    /// mended.
    pub(super) fn correct(&mut self) -> Option<EventKind> {
        let violation = self.monitor.violation()?;
        let words = violation.describe(self.monitor.automaton());
        let is_of_content = matches!(violation, Violation::Content { .. });
        let before = self.monitor.counts().corrections;
        let correction = self.monitor.correct();
        let counts = self.monitor.counts();
        // The corrections are used up, and the monitor has ended the run instead.
        if counts.corrections == before {
            return None;
        }
        let discarded_bytes = counts.discarded_bytes - self.discarded_before;
        self.discarded_before = counts.discarded_bytes;
        let kept = self.monitor.text().len() - correction.appended.len();
        if kept > self.asked_at {
            self.rejected = 0;
        }
        self.reject(Corrected { instruction: correction.instruction, is_of_content });
        if is_of_content && self.monitor.step() == NextStep::Continue {
            self.remedy = Some(self.next_remedy());
        }
        Some(EventKind::Correction { violation: words, appended: correction.appended, discarded_bytes })
    }
}

/// The state that the model writes, if a run consists of the question and this one state.
fn only_answer(automaton: &Automaton) -> Option<StateId> {
    let [question] = automaton.valid(automaton.start()) else { return None };
    let asked = automaton.after(automaton.start(), *question)?;
    let ([answer], false) = (automaton.valid(asked), automaton.is_accepting(asked)) else { return None };
    let state = automaton.state(*answer);
    let is_last = !state.completes_call()
        && automaton.after(asked, *answer).is_some_and(|end| automaton.valid(end).is_empty());
    (is_last && !state.is_environment && !state.names_tool() && !state.names_label()).then_some(*answer)
}

/// The automaton without calls of nonexistent tools.
fn for_tools(automaton: &Arc<Automaton>, tools: &[Tool]) -> Result<Arc<Automaton>, EndReason> {
    let is_there = |name: &str| tools.iter().any(|tool| tool.name == name);
    // Without any tools, even a specification that names none must be cut down, because it may call any.
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
pub(super) struct Feed<'m> {
    monitor: &'m mut Monitor,
    /// For a model that repeats itself.
    echo: Option<Echo>,
}

impl Feed<'_> {
    pub(super) fn push(&mut self, piece: &str) -> NextStep {
        match &mut self.echo {
            Some(echo) => {
                let new = echo.push(piece.as_bytes());
                self.monitor.push(&new)
            }
            None => self.monitor.push(piece.as_bytes()),
        }
    }

    /// The reply is over.
    pub(super) fn end(&mut self) {
        if let Some(mut echo) = self.echo.take() {
            let rest = echo.end();
            self.monitor.push(&rest);
        }
    }
}
