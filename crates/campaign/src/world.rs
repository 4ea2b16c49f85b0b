//! The caller's part of a campaign: everything with a name outside.

use std::path::Path;
use std::sync::Arc;

use planproof_agents::AgentSpec;
use planproof_engine::AgentUnderTest;
use planproof_model::Model;
use planproof_model::recording::Origin;
use planproof_store::{OwnKey, StoreError};
use planproof_suite::{Case, Suite};
use planproof_tools::mcp::TOKEN_BYTES;
use planproof_trace::Secrets;
use serde_json::Value;

use crate::cases::Cases;
use crate::error::CampaignError;
use crate::key::Key;
use crate::made_from::MadeFrom;
use crate::options::{ProgramOptions, StoredOptions};

/// The form in which an agent needs its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ModelForm {
    /// Each request holds the whole conversation.
    Chat,
    /// The model stores its replies, and a request holds what is new.
    KeepsReplies,
}

/// When a missing key is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyNeeded {
    /// At once, before anything is begun.
    AtOnce,
    /// By the first request that is really sent: some answers already exist.
    ByRequests,
}

/// Gives the model of a name.
pub type FindModel<'a, E> = dyn Fn(&str, ModelForm) -> Result<Arc<dyn Model>, E> + 'a;

/// The caller's part of a campaign: everything with a name outside. It finds suites, agents and models by name, reads
/// files, and informs the user.
pub trait World {
    /// External errors, in addition to those that this crate finds itself.
    type Error: From<CampaignError> + From<StoreError>;

    /// The kind of the cases of a campaign.
    ///
    /// # Errors
    /// There is no such suite.
    fn suite(&self, options: &StoredOptions) -> Result<Arc<dyn Suite>, Self::Error>;

    /// Cases that were made, made again: `how` is the content of [`CasesOrigin::Made`](crate::CasesOrigin::Made).
    ///
    /// # Errors
    /// They cannot be made from that.
    fn made_again(&self, options: &StoredOptions, how: &Value) -> Result<Cases, Self::Error>;

    /// The model of that name. No request is sent yet.
    ///
    /// # Errors
    /// There is no such model, or its key is missing and needed at once.
    fn model(&self, name: &str, form: ModelForm, key: KeyNeeded) -> Result<Arc<dyn Model>, Self::Error>;

    /// Whether the model of that name is given the right answers.
    fn is_handed_answers(&self, model: &str) -> bool;

    /// The model of that name that is given the right answers, and errs by this seed; `None` if it is not given any.
    fn model_with_answers(
        &self,
        name: &str,
        form: ModelForm,
        keys: &[Key],
        seed: u64,
    ) -> Option<Result<Arc<dyn Model>, Self::Error>>;

    /// The agent of that name, with models from `find_model`. If it is a program, it is started with `program`.
    ///
    /// # Errors
    /// It cannot be assembled.
    fn agent(
        &self,
        name: &AgentSpec,
        program: &ProgramOptions,
        find_model: &FindModel<'_, Self::Error>,
    ) -> Result<AgentUnderTest, Self::Error>;

    /// The user's files that the agent of that name is made from, in their current state.
    ///
    /// # Errors
    /// One cannot be read.
    fn made_from(&self, name: &AgentSpec) -> Result<MadeFrom, Self::Error>;

    /// Warns if the agent of that name is made for other tools than those of these cases.
    ///
    /// # Errors
    /// The tools of a case cannot be made.
    fn warn_of_tools(&self, name: &AgentSpec, cases: &[Arc<dyn Case>]) -> Result<(), Self::Error>;

    /// The text of a file; `-` is standard input.
    ///
    /// # Errors
    /// It cannot be read.
    fn text(&self, path: &Path) -> Result<String, Self::Error>;

    /// The keys that we hold.
    fn secrets(&self) -> Secrets;

    /// The keys that we hold, except placeholders that occur in the cases themselves.
    ///
    /// # Errors
    /// A case contains a key. The texts of cases are stored and shown as they are.
    fn secrets_apart_from(&self, cases: &[Arc<dyn Case>]) -> Result<Secrets, Self::Error>;

    /// Makes sure that `runs` concurrent runs can have their connections and processes.
    ///
    /// # Errors
    /// The system does not allow that many.
    fn allow_runs(&self, runs: usize) -> Result<(), Self::Error>;

    /// The error, preceded by its subject.
    fn about(&self, what: &str, error: Self::Error) -> Self::Error;

    /// Who writes recordings.
    fn origin(&self) -> Origin;

    /// The version of all prompts that planproof sends, which changes with any of them.
    fn prompts(&self) -> String;

    /// The secret with which a campaign is proved to be the user's; `None` where none can be kept, so that nothing is.
    fn own_key(&self) -> Option<&OwnKey>;

    /// What draws the secret part of a run's URLs.
    fn token(&self) -> Token;

    /// Reports a warning, which is always shown.
    fn warn(&self, what: &str);

    /// Reports something useful, unless the user wants quiet.
    fn note(&self, what: &str);
}

/// Draws the secret part of a run's URLs.
pub type Token = fn() -> [u8; TOKEN_BYTES];
