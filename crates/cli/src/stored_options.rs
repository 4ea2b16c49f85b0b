//! The stored options of a campaign, including those that it keeps for its suite, and how to resume it with them.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use planproof_agents::{REPLY_TOKENS, RunLimits};
use planproof_assembly::arguments::TIMEOUT_SECONDS;
use planproof_campaign::{ProgramOptions, StoredOptions};
use planproof_doors::{ORDER, OwnOptions, SuiteOptions};
use planproof_engine::{Campaign, SynthesisUse};
use planproof_output::failure::Failure;
use planproof_output::secrets;
use planproof_report::CommandLines;
use planproof_suite::Suite;

use crate::arguments::STORE_DEFAULT;

/// The stored options of a campaign, parsed completely.
#[derive(Debug, Clone)]
pub(crate) struct CampaignOptions {
    pub(crate) kept: StoredOptions,
    pub(crate) of_suite: SuiteOptions,
}

impl CampaignOptions {
    /// Those that the store has.
    ///
    /// # Errors
    /// What does not make sense in them.
    pub(crate) fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let kept: StoredOptions = serde_json::from_str(text)?;
        let of_suite = SuiteOptions::read(&kept)?;
        Ok(Self { kept, of_suite })
    }

    /// The kind of its cases.
    ///
    /// # Errors
    /// This planproof does not know it.
    pub(crate) fn suite(&self) -> Result<Arc<dyn Suite>, Failure> {
        planproof_doors::of_campaign(self.kept.suite.as_deref(), &self.of_suite.own, &self.of_suite.kept)
    }

    /// Refuses a campaign with another kind of cases, for that reason.
    pub(crate) fn must_be_of_orders(&self, campaign: &str, why: &str) -> Result<(), Failure> {
        match &self.kept.suite {
            None => Ok(()),
            Some(suite) => Err(Failure::usage(format!("campaign {campaign} is of the suite {suite}; {why}"))),
        }
    }

    /// How to resume a campaign of this agent in this store.
    pub(crate) fn commands(&self, agent: &str, store: &Path) -> CommandLines {
        commands(&self.kept, &self.of_suite, agent, store)
    }
}

/// The options of a campaign with a simulated model, and the defaults for the rest.
pub(crate) fn of_simulation(campaign: &Campaign, synthesis: SynthesisUse) -> StoredOptions {
    let Campaign { seed, concurrency, limits, .. } = campaign;
    let mut options = StoredOptions::new(*seed, *concurrency, limits.wall, limits.iterations);
    options.iterations_follow_case = limits.iterations_follow_case;
    options.reply_tokens = limits.reply_tokens;
    options.of_suite = OwnOptions::defaults(ORDER).to_map();
    options.set_synthesis(Some(synthesis));
    options
}

/// The command that a campaign belongs to.
pub(crate) fn command_of(options: &StoredOptions) -> String {
    match (&options.suite, &options.limit) {
        (Some(suite), _) => format!("bench {suite}"),
        (None, Some(_)) => "limit".to_owned(),
        (None, None) => "test".to_owned(),
    }
}

/// How to resume a campaign of this agent in this store.
pub(crate) fn commands(
    options: &StoredOptions,
    of_suite: &SuiteOptions,
    agent: &str,
    store: &Path,
) -> CommandLines {
    let mut words = vec![agent.to_owned()];
    if let Some(model) = &options.serve_model {
        words.extend(["--serve-model".to_owned(), model.clone()]);
    }
    // All fields are named, so that a new option cannot be forgotten here. Options with their default values are left
    // out, because the line is read by people; `hidden` has no option.
    let ProgramOptions {
        env,
        env_file,
        cwd,
        allow_hosts,
        headers,
        body,
        answer,
        isolate,
        agent_memory,
        hidden: _,
    } = &options.program;
    words.extend(env.iter().flat_map(|name| ["--env".to_owned(), name.clone()]));
    words.extend(allow_hosts.iter().flat_map(|name| ["--allow-host".to_owned(), name.clone()]));
    words.extend(headers.iter().flat_map(|header| ["--header".to_owned(), header.clone()]));
    for (option, text) in [("--body", body), ("--answer", answer)] {
        words.extend(text.iter().flat_map(|text| [option.to_owned(), text.clone()]));
    }
    for (option, path) in [("--env-file", env_file), ("--cwd", cwd)] {
        words.extend(path.iter().flat_map(|path| [option.to_owned(), path.to_string_lossy().into_owned()]));
    }
    if !isolate.is_default() {
        words.extend(["--isolate".to_owned(), isolate.as_str().to_owned()]);
    }
    if !agent_memory.is_default() {
        words.extend(["--agent-memory".to_owned(), agent_memory.to_string()]);
    }
    let timeout = options.timeout();
    if timeout != Duration::from_secs_f64(TIMEOUT_SECONDS) {
        words.extend(["--timeout".to_owned(), timeout.as_secs_f64().to_string()]);
    }
    if !options.iterations_follow_case && options.iterations != RunLimits::default().iterations {
        words.extend(["--iterations".to_owned(), options.iterations.to_string()]);
    }
    if let Some(tokens) = options.reply_tokens.filter(|tokens| *tokens != REPLY_TOKENS) {
        words.extend(["--reply-tokens".to_owned(), tokens.to_string()]);
    }
    words.extend(of_suite.own.in_words().into_iter().map(str::to_owned));
    let store = (store != Path::new(STORE_DEFAULT)).then(|| store.to_string_lossy());
    // A header or a command may hold a key, and the lines are shown and kept.
    let held = secrets::held();
    let words: Vec<_> = words.iter().map(|word| held.redact(word)).collect();
    CommandLines::new(&command_of(options), store.as_deref(), words.iter().map(|word| &**word))
}
