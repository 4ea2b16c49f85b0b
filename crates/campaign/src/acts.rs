//! What a stored or recorded campaign makes planproof do outside, and the proof that its user began it.
//!
//! A store or a recording may come from anybody. Its *acts* are all that it could have done with the rights of whoever
//! opens it: start a program, ask a service or a model, send a variable of the environment, read or write a file.
//! Whether they are done is the caller's decision; here is what they are, and whether a secret of the user vouches for
//! them.

use std::path::Path;

use planproof_store::OwnKey;

use crate::budgets::Budgets;
use crate::error::CampaignError;
use crate::options::{Answers, ProgramOptions, StoredOptions};

/// What a proof is about, first of all, so that none can be taken for another.
const OF_CAMPAIGN: &str = "planproof campaign 1";
const OF_MATRIX: &str = "planproof matrix 1";

/// Something that a stored campaign makes planproof do outside, as the option that asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Act {
    /// The long name of the option, without hyphens.
    pub option: &'static str,
    pub value: String,
}

impl Act {
    /// That option with that value.
    pub fn new(option: &'static str, value: impl Into<String>) -> Self {
        Self { option, value: value.into() }
    }

    fn of_path(option: &'static str, path: &Path) -> Self {
        Self::new(option, path.to_string_lossy())
    }
}

impl StoredOptions {
    /// What these options make planproof do outside, except those of the suite, which the caller knows. Every field is
    /// named here, without a rest, so that a new one compiles only once somebody has decided whether it acts.
    pub fn acts(&self) -> Vec<Act> {
        let Self {
            // What is run how often, and for how long: a run that acts in no other way harms nobody.
            suite: _,
            seed: _,
            seed_is_secret: _,
            concurrency: _,
            concurrency_is_default: _,
            timeout_ms: _,
            iterations: _,
            iterations_follow_case: _,
            reply_tokens: _,
            think: _,
            limit: _,
            until_decided: _,
            fail_over: _,
            // A text in the store: it only takes calls from the agent.
            guard: _,
            shard: _,
            // Figures.
            solver_calls: _,
            solver_ns: _,
            synthesis_ns: _,
            // Texts in the store itself.
            memory: _,
            prompts: _,
            // Digests of files that the agent names.
            specifications: _,
            evaluator_files: _,
            team_files: _,
            prompt_files: _,
            // The caller's.
            of_suite: _,
            serve_model,
            program,
            answers,
            may_differ,
        } = self;
        let mut acts: Vec<Act> = serve_model.iter().map(|model| Act::new("serve-model", model)).collect();
        acts.extend(program.acts());
        match answers {
            Answers::Live => {}
            Answers::Record(file) => acts.push(Act::of_path("record", file)),
            Answers::Cache(file) => acts.push(Act::of_path("cache", file)),
            Answers::Replay(file) => acts.push(Act::of_path("replay", file)),
        }
        acts.extend(may_differ.iter().map(|file| Act::of_path("may-differ", file)));
        acts
    }
}

impl ProgramOptions {
    /// The same of how a program is started, or a service asked. Options with their default values are left out.
    pub fn acts(&self) -> Vec<Act> {
        let Self {
            env,
            env_file,
            cwd,
            allow_hosts,
            headers,
            body,
            answer,
            isolate,
            agent_memory,
            // It only takes from a program what it could see.
            hidden: _,
        } = self;
        let mut acts: Vec<Act> = env.iter().map(|name| Act::new("env", name)).collect();
        acts.extend(allow_hosts.iter().map(|name| Act::new("allow-host", name)));
        acts.extend(headers.iter().map(|header| Act::new("header", header)));
        acts.extend(body.iter().map(|body| Act::new("body", body)));
        acts.extend(answer.iter().map(|answer| Act::new("answer", answer)));
        acts.extend(env_file.iter().map(|file| Act::of_path("env-file", file)));
        acts.extend(cwd.iter().map(|folder| Act::of_path("cwd", folder)));
        if !isolate.is_default() {
            acts.push(Act::new("isolate", isolate.as_str()));
        }
        if !agent_memory.is_default() {
            acts.push(Act::new("agent-memory", agent_memory.to_string()));
        }
        acts
    }
}

/// What a campaign was begun with, and where it is stored, for its proof.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Owned<'a> {
    /// The run store. A copy elsewhere proves nothing: a relative name of a program means another one there.
    pub(crate) store: &'a Path,
    pub(crate) id: &'a str,
    pub(crate) agent: &'a str,
    /// As they are stored.
    pub(crate) options: &'a str,
    pub(crate) repeats: u32,
}

impl Owned<'_> {
    /// The budgets with the proof that the user of this secret has begun the campaign, or has named what it does.
    pub(crate) fn proved(self, budgets: Budgets, key: Option<&OwnKey>) -> Result<Budgets, CampaignError> {
        let limits = budgets.limits()?;
        Ok(budgets.with_proof(key.map(|key| {
            let repeats = self.repeats.to_string();
            key.proof(&self.texts(&place(self.store), &repeats, &limits))
        })))
    }

    /// Whether these budgets have that proof.
    fn is_proved(self, budgets: &Budgets, key: Option<&OwnKey>) -> Result<bool, CampaignError> {
        let (limits, repeats) = (budgets.limits()?, self.repeats.to_string());
        Ok(key.zip(budgets.proof()).is_some_and(|(key, proof)| {
            key.has_proved(&self.texts(&place(self.store), &repeats, &limits), proof)
        }))
    }

    fn texts<'t>(self, store: &'t str, repeats: &'t str, limits: &'t str) -> [&'t str; 7]
    where
        Self: 't,
    {
        [OF_CAMPAIGN, store, self.id, self.agent, self.options, repeats, limits]
    }
}

/// Whether the user of this secret began the stored campaign of this row, here, as it is.
///
/// # Errors
/// Its budgets cannot be read.
pub fn is_own(
    store: &Path,
    row: &planproof_store::CampaignRow,
    key: Option<&OwnKey>,
) -> Result<bool, CampaignError> {
    let owned = Owned { store, id: &row.id, agent: &row.agent, options: &row.options, repeats: row.repeats };
    owned.is_proved(&Budgets::stored(&row.progress)?, key)
}

/// The same of the budgets that the campaigns of a matrix share.
///
/// # Errors
/// They cannot be read.
pub fn is_own_matrix(
    store: &Path,
    row: &planproof_store::Matrix,
    key: Option<&OwnKey>,
) -> Result<bool, CampaignError> {
    let budgets = Budgets::read(&row.budgets)?;
    let limits = budgets.limits()?;
    let proof = key.zip(budgets.proof());
    Ok(proof.is_some_and(|(key, proof)| key.has_proved(&[OF_MATRIX, &place(store), &row.id, &limits], proof)))
}

/// The budgets of a matrix with that proof.
pub(crate) fn proved_matrix(
    store: &Path,
    id: &str,
    budgets: Budgets,
    key: Option<&OwnKey>,
) -> Result<Budgets, CampaignError> {
    let limits = budgets.limits()?;
    Ok(budgets.with_proof(key.map(|key| key.proof(&[OF_MATRIX, &place(store), id, &limits]))))
}

/// Where a store is, whatever it is called by.
fn place(store: &Path) -> String {
    let whole = store.canonicalize().or_else(|_| std::path::absolute(store));
    whole.unwrap_or_else(|_| store.to_owned()).to_string_lossy().into_owned()
}
