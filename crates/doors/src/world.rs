//! The command line as a campaign's world: agents, models and suites by their names, files, keys and messages.

use std::path::Path;
use std::sync::Arc;

use planproof_agents::AgentSpec;
use planproof_assembly::arguments::ModelArguments;
use planproof_assembly::errors::CommandFailure;
use planproof_assembly::isolation;
use planproof_campaign::{
    Cases, FindModel, Key, KeyNeeded, MadeFrom, ModelForm, ProgramOptions, StoredOptions, Token, World,
};
use planproof_engine::AgentUnderTest;
use planproof_model::recording::Origin;
use planproof_model::{KeepsReplies, Model};
use planproof_output::failure::Failure;
use planproof_output::own;
use planproof_output::random::random_bytes;
use planproof_output::{open_files, progress, secrets, tell, text_files};
use planproof_sim::{GoldModel, gold_faults};
use planproof_store::OwnKey;
use planproof_suite::{Case, Suite};
use planproof_trace::Secrets;
use serde_json::Value;

use crate::kept::SuiteOptions;
use crate::prompts;

/// The command line as a campaign's world.
pub struct Outside<'a> {
    /// How models are asked.
    pub asking: &'a ModelArguments,
    pub is_quiet: bool,
    /// The run store, which is hidden from programs.
    pub store: &'a Path,
}

impl World for Outside<'_> {
    type Error = CommandFailure;

    fn suite(&self, options: &StoredOptions) -> Result<Arc<dyn Suite>, CommandFailure> {
        let SuiteOptions { own, kept, .. } = SuiteOptions::of(options)?;
        Ok(crate::of_campaign(options.suite.as_deref(), &own, &kept)?)
    }

    fn made_again(&self, options: &StoredOptions, how: &Value) -> Result<Cases, CommandFailure> {
        Ok(crate::made_again(&SuiteOptions::of(options)?.own, how)?)
    }

    fn model(&self, name: &str, form: ModelForm, key: KeyNeeded) -> Result<Arc<dyn Model>, CommandFailure> {
        Ok(planproof_assembly::model(name, form, self.asking, key)?)
    }

    fn is_handed_answers(&self, model: &str) -> bool {
        gold_faults(model).is_some()
    }

    fn model_with_answers(
        &self,
        name: &str,
        form: ModelForm,
        keys: &[Key],
        seed: u64,
    ) -> Option<Result<Arc<dyn Model>, CommandFailure>> {
        let faults = match gold_faults(name)? {
            Ok(faults) => faults,
            Err(error) => return Some(Err(Failure::usage(error.to_string()).into())),
        };
        let key = |key: &Key| match faults.share > 0.0 {
            true => key.clone().with_mistake(),
            false => key.clone(),
        };
        let keys = keys.iter().map(key).map(|key| (key.prompt, key.gold)).collect();
        let mut model = GoldModel::new(keys, faults.share, seed);
        if let Some(role) = faults.role {
            model = model.playing_badly(role);
        }
        if let Some(fault) = faults.sub_tasks {
            model = model.with_bad_sub_tasks(fault);
        }
        if faults.echoes {
            model = model.with_echo();
        }
        Some(Ok(match form {
            ModelForm::Chat => Arc::new(model),
            ModelForm::KeepsReplies => Arc::new(KeepsReplies::new(Arc::new(model))),
        }))
    }

    fn agent(
        &self,
        name: &AgentSpec,
        program: &ProgramOptions,
        find_model: &FindModel<'_, CommandFailure>,
    ) -> Result<AgentUnderTest, CommandFailure> {
        let isolate = |file: &Path| isolation::of_program(program, self.store, file);
        let find_model = |name: &str, form: ModelForm| Ok(find_model(name, form)?);
        Ok(planproof_assembly::agent(name, program, &isolate, &find_model)?)
    }

    fn made_from(&self, name: &AgentSpec) -> Result<MadeFrom, CommandFailure> {
        Ok(planproof_assembly::made_from(name)?)
    }

    fn warn_of_tools(&self, name: &AgentSpec, cases: &[Arc<dyn Case>]) -> Result<(), CommandFailure> {
        Ok(planproof_assembly::warn_of_tools(name, || planproof_assembly::tools_of_cases(cases))?)
    }

    fn text(&self, path: &Path) -> Result<String, CommandFailure> {
        Ok(text_files::read_text(path)?)
    }

    fn secrets(&self) -> Secrets {
        secrets::held()
    }

    fn secrets_apart_from(&self, cases: &[Arc<dyn Case>]) -> Result<Secrets, CommandFailure> {
        Ok(secrets::held_apart_from(cases)?)
    }

    fn allow_runs(&self, runs: usize) -> Result<(), CommandFailure> {
        Ok(open_files::allow_runs(runs)?)
    }

    fn about(&self, what: &str, error: CommandFailure) -> CommandFailure {
        Failure::from(error).about(what).into()
    }

    fn origin(&self) -> Origin {
        // Not `args`, which panics where a word, such as the name of a file, is not UTF-8.
        let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
        let command = words.collect::<Vec<_>>().join(" ");
        Origin { version: env!("CARGO_PKG_VERSION").to_owned(), command }
    }

    fn prompts(&self) -> String {
        prompts::version()
    }

    fn own_key(&self) -> Option<&OwnKey> {
        own::key()
    }

    fn token(&self) -> Token {
        random_bytes
    }

    fn warn(&self, what: &str) {
        progress::warn(what);
    }

    fn note(&self, what: &str) {
        if !self.is_quiet {
            tell!("{what}");
        }
    }
}
