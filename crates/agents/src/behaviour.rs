//! Agents made from a specification: one loop, which asks a model for text, holds what it writes to the specification with
//! a [`Monitor`](planproof_spec::Monitor), and does what the states of the environment ask for. (Crouse et al., arXiv
//! 2310.08535.)
//!
//! Every run that is answered is in the language of the specification, whatever the model writes. How a model is told to
//! go on with its text depends on what it can do ([`Continuation`]); the trace says which way was used, which sections
//! there are, and what was corrected.

mod continuation;
mod handlers;
mod instructions;
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

use planproof_model::{BoxFuture, Model};
use planproof_spec::monitor::{CORRECTIONS_MAX, TEXT_BYTES_MAX};
use planproof_spec::{Automaton, Compat, Handler};
use planproof_tools::SchemaCache;
use planproof_trace::{Continuation, EventKind};
use thiserror::Error;

use crate::InProcessRun;
use evaluator::Evaluator;
use run_loop::Session;
use schemas::Schemas;
use voting::InProcess;

pub use instructions::instructions;

/// How an agent made from a specification is run.
#[derive(Debug, Clone)]
pub struct BehaviourOptions {
    /// How the model is asked to go on; `None` for the best way that it has.
    pub continuation: Option<Continuation>,
    /// 0 (always the likeliest token) to 2.
    pub temperature: f64,
    /// Which ways of the published implementation to follow.
    pub compat: Compat,
    /// Corrections after which a run is given up: the agent has failed.
    pub corrections_max: u32,
    /// Bytes of a run's text, a limit of the run.
    pub text_bytes_max: usize,
    /// What of calls and their summary the handler `summarise` writes.
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
            corrections_max: CORRECTIONS_MAX,
            text_bytes_max: TEXT_BYTES_MAX,
            summary: summary::Choice::default(),
            evaluator: Evaluator::default(),
        }
    }
}

/// Why there is no agent of this specification and this model.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BehaviourError {
    /// The model cannot be asked in the way that was wanted.
    #[error("{model} cannot be asked in the way \"{continuation}\"")]
    Continuation {
        /// The model.
        model: String,
        /// The way.
        continuation: Continuation,
    },
    /// Nobody writes the content of a state.
    #[error("the environment writes the state `{state}`, but the specification does not say how: add (:handler {handlers})",
        handlers = Handler::RunCall)]
    NoHandler {
        /// The state.
        state: String,
    },
}

/// An agent made from a specification.
#[derive(Clone)]
pub struct BehaviourAgent {
    model: Arc<dyn Model>,
    automaton: Arc<Automaton>,
    options: BehaviourOptions,
    continuation: Continuation,
    schemas: Arc<Schemas>,
}

impl BehaviourAgent {
    /// An agent that keeps to `automaton` and asks `model`.
    ///
    /// # Errors
    /// The model cannot be asked as the options say, or a state of the environment has no handler.
    pub fn new(
        model: Arc<dyn Model>,
        automaton: Arc<Automaton>,
        options: BehaviourOptions,
    ) -> Result<Self, BehaviourError> {
        let continuation =
            continuation::way(model.capabilities(), options.continuation).map_err(|continuation| {
                BehaviourError::Continuation { model: model.name().to_owned(), continuation }
            })?;
        for state in automaton.spec().states.iter().filter(|state| state.is_environment) {
            if state.handler.is_none() {
                return Err(BehaviourError::NoHandler { state: state.name.value.clone() });
            }
        }
        let schemas = Arc::new(Schemas(SchemaCache::default()));
        Ok(Self { model, automaton, options, continuation, schemas })
    }

    /// The model it asks.
    pub fn model(&self) -> &Arc<dyn Model> {
        &self.model
    }

    /// How it asks its model.
    pub fn continuation(&self) -> Continuation {
        self.continuation
    }

    /// The specification it keeps to.
    pub fn automaton(&self) -> &Arc<Automaton> {
        &self.automaton
    }

    /// Runs until the end, which is the last event recorded. Dropping the future ends the run without one.
    ///
    /// An answer is the content of the last state of a finished run. A model that has to be corrected too often, or writes
    /// content that breaks a rule again and again, makes the agent fail; the limits of the run and of its text are limits
    /// reached, unless the run may end where it then is.
    pub fn run<'a>(&'a self, run: InProcessRun<'a>) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            run.recorder.record(EventKind::Query { text: run.query.to_owned() });
            let end = match Session::new(self, run) {
                Ok(session) => session.run().await,
                Err(end) => end,
            };
            run.recorder.end(end);
        })
    }
}

impl InProcess for BehaviourAgent {
    fn run<'a>(&'a self, run: InProcessRun<'a>) -> BoxFuture<'a, ()> {
        self.run(run)
    }
}

impl fmt::Debug for BehaviourAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BehaviourAgent")
            .field("spec", &self.automaton.spec().name.value)
            .field("model", &self.model.name())
            .field("continuation", &self.continuation)
            .finish_non_exhaustive()
    }
}
