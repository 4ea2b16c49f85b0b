//! Agents made from a specification. One loop asks a model for text, holds the text to the specification with a
//! [`Monitor`](planproof_spec::Monitor), and does what the states of the environment require. (Crouse et al., arXiv
//! 2310.08535.)
//!
//! Every run that is answered is in the language of the specification, whatever the model writes. How a model is
//! asked to continue its text depends on what it supports ([`Continuation`]); the trace records which way was used,
//! which sections there are, and what was corrected.

mod continuation;
mod conversing;
mod handlers;
mod instructions;
mod plan;
mod run_loop;
mod schemas;
mod writing;

pub mod evaluator;
pub mod evidence;
pub mod plain;
pub mod retrace;
pub mod solve;
pub mod summary;
pub mod votes;
pub mod voting;

use std::fmt;
use std::sync::Arc;

use planproof_model::{BoxFuture, Model, ModelError, run_time};
use planproof_spec::monitor::{CORRECTIONS_MAX, TEXT_BYTES_MAX};
use planproof_spec::{Automaton, Compat, Handler, State};
use planproof_trace::{Continuation, EndReason, EventKind};
use thiserror::Error;

use crate::{Agent, Ran, RunContext, RunError};
use conversing::Conversing;
use evaluator::Evaluator;
use run_loop::Session;
pub(crate) use run_loop::filtered;

pub use instructions::instructions;
pub use schemas::Schemas;

/// How an agent made from a specification is run.
#[derive(Debug, Clone)]
pub struct BehaviourOptions {
    /// How the model is asked to continue; `None` for the best way that it supports, which may require a request to
    /// its server. A way other than [`Continuation::Text`] also applies to requests beside the text: answers from
    /// evidence, summaries, judgements.
    pub continuation: Option<Continuation>,
    /// 0 (always the likeliest token) to 2.
    pub temperature: f64,
    /// Which details of the published implementation to follow.
    pub compat: Compat,
    /// Whose corrections are made: those of the published implementation, or ours.
    pub correction: Compat,
    /// When the server is given a grammar, if it takes one.
    pub grammar: GrammarUse,
    /// Number of corrections after which a run is given up: the agent has failed.
    pub corrections_max: u32,
    /// Bytes of a run's text, a limit of the run.
    pub text_bytes_max: usize,
    /// Which text about calls the handler `summarise` writes.
    pub summary: summary::Choice,
    /// Who judges for the handler `evaluate`.
    pub evaluator: Evaluator,
}

impl Default for BehaviourOptions {
    fn default() -> Self {
        Self {
            continuation: None,
            temperature: 0.0,
            compat: Compat::Ours,
            correction: Compat::Ours,
            grammar: GrammarUse::default(),
            corrections_max: CORRECTIONS_MAX,
            text_bytes_max: TEXT_BYTES_MAX,
            summary: summary::Choice::default(),
            evaluator: Evaluator::default(),
        }
    }
}

/// When a request holds the grammar of what may come next. A grammar changes nothing in what is accepted: the monitor
/// judges every text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GrammarUse {
    Off,
    /// After a reply that was rejected.
    #[default]
    Corrections,
    Always,
}

impl GrammarUse {
    pub const ALL: [Self; 3] = [Self::Off, Self::Corrections, Self::Always];

    /// The word used on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Corrections => "corrections",
            Self::Always => "auto",
        }
    }
}

/// Why no agent can be made of this specification and this model.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BehaviourError {
    /// The model cannot be asked in the requested way.
    #[error("{model} cannot be asked in the way \"{continuation}\"")]
    Continuation { model: String, continuation: Continuation },
    /// Nobody writes the content of a state.
    #[error("the environment writes the state `{state}`, but the specification does not say how: add (:handler {handlers})",
        handlers = Handler::RunCall)]
    NoHandler { state: String },
}

/// An agent made from a specification.
#[derive(Clone)]
pub struct BehaviourAgent {
    model: Arc<dyn Model>,
    /// The same model, for requests beside the text.
    side_model: Arc<dyn Model>,
    automaton: Arc<Automaton>,
    options: BehaviourOptions,
    schemas: Arc<Schemas>,
}

impl BehaviourAgent {
    /// An agent that follows `automaton` and asks `model`.
    ///
    /// # Errors
    /// The model cannot be asked in the way the options require, or a state of the environment has no handler.
    pub fn new(
        model: Arc<dyn Model>,
        automaton: Arc<Automaton>,
        mut options: BehaviourOptions,
    ) -> Result<Self, BehaviourError> {
        continuation::way(model.capabilities(), options.continuation).map_err(|continuation| {
            BehaviourError::Continuation { model: model.name().to_owned(), continuation }
        })?;
        for state in automaton.spec().states.iter().filter(|state| state.is_environment) {
            if state.handler.is_none() {
                return Err(BehaviourError::NoHandler { state: state.name.value.clone() });
            }
        }
        let schemas = Arc::new(Schemas::default());
        let mut side_model = Arc::clone(&model);
        if options.continuation.is_some_and(|way| way != Continuation::Text) {
            side_model = Arc::new(Conversing(side_model));
            if let Evaluator::Judge(judge) = &mut options.evaluator {
                *judge = Arc::new(Conversing(Arc::clone(judge)));
            }
        }
        Ok(Self { model, side_model, automaton, options, schemas })
    }

    /// The model it asks.
    pub fn model(&self) -> &Arc<dyn Model> {
        &self.model
    }

    /// How the agent asks its model, as far as the model's capabilities are known: the model's server may have to be
    /// asked.
    pub fn continuation(&self) -> Continuation {
        let way = continuation::way(self.model.capabilities(), self.options.continuation);
        way.unwrap_or(Continuation::Chat)
    }

    /// How it asks its model: as it was told to, or as the model's server says that it can be asked.
    async fn settled_continuation(&self) -> Result<Continuation, ModelError> {
        if self.options.continuation.is_none() {
            self.model.settle().await?;
        }
        Ok(self.continuation())
    }

    /// When its model's server is given a grammar: never if it takes none.
    fn grammar(&self) -> GrammarUse {
        if self.model.capabilities().grammar { self.options.grammar } else { GrammarUse::Off }
    }

    /// The specification it keeps to.
    pub fn automaton(&self) -> &Arc<Automaton> {
        &self.automaton
    }
}

/// An answer is the content of the last state of a finished run. A model that needs too many corrections, or writes
/// content that breaks a rule again and again, makes the agent fail. Limits of the run and of its text end the run as
/// limits reached, unless the run may end at that point.
impl Agent for BehaviourAgent {
    fn run<'a>(&'a self, run: RunContext<'a>) -> BoxFuture<'a, Result<Ran, RunError>> {
        Box::pin(async move {
            run.recorder.record(EventKind::Query { text: run.query.to_owned() });
            // To ask a server what it can do may take as long as any request.
            let end = match run_time::within(run.limits.wall, self.settled_continuation()).await {
                Ok(Ok(continuation)) => match Session::new(self, run, continuation) {
                    Ok(session) => session.run().await,
                    Err(end) => end,
                },
                Ok(Err(error)) => EndReason::Unscored { reason: error.to_string() },
                Err(over) => run.limits.out_of_time(&over),
            };
            Ok(Ran::in_process(end))
        })
    }

    fn can_call(&self) -> bool {
        self.automaton.spec().states.iter().any(State::completes_call)
    }
}

impl fmt::Debug for BehaviourAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BehaviourAgent")
            .field("spec", &self.automaton.spec().name.value)
            .field("model", &self.model.name())
            .field("continuation", &self.continuation())
            .finish_non_exhaustive()
    }
}
