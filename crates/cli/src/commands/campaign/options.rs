//! The stored options of a campaign for the commands, including those of campaigns of orders.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use planproof_agents::{REPLY_TOKENS, RunLimits};
use planproof_campaign::{ProgramOptions, StoredOptions};
use planproof_engine::Campaign;
use planproof_engine::SynthesisUse;
use planproof_engine::studies::ShrinkOptions;
use planproof_order::synth::{JudgeOptions, TopicBank};
use planproof_order::{DissectOptions, DrawnCases};
use planproof_report::CommandLines;
use planproof_suite::{OptionUse, Suite};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::cases::{self, Drawn};
use crate::arguments::{STORE_DEFAULT, TIMEOUT_SECONDS};
use crate::failure::Failure;
use crate::suites::KeptOptions;
use crate::{secrets, suites};

/// The suite of a campaign that names none.
pub(crate) const ORDER: &str = "order";

/// Options that only campaigns of one suite have: all of them are for orders, except those of tools.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct OrderOptions {
    pub(crate) repeated_fails: bool,
    pub(crate) distractor_fails: bool,
    pub(crate) at_once_fails: bool,
    /// How failures are dissected; absent if they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dissect: Option<DissectOptions>,
    /// How failures are shrunk; absent if they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shrink: Option<ShrinkOptions>,
    /// The user's own topics of its cases; absent if they come with planproof.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) topics: Option<TopicBank>,
    /// How the cases of a search for a limit were drawn, of which the store only names those that were not run; absent
    /// in other campaigns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) levels: Option<Vec<Drawn>>,
    /// What a suite keeps for its tools. Its keys stand among the others.
    #[serde(skip)]
    pub(crate) kept: KeptOptions,
}

impl Default for OrderOptions {
    fn default() -> Self {
        Self::judging(JudgeOptions::default())
    }
}

impl OrderOptions {
    /// The options of cases with this judge, and nothing else.
    pub(crate) fn judging(judge: JudgeOptions) -> Self {
        let JudgeOptions { repeated_fails, distractor_fails, at_once_fails } = judge;
        Self {
            repeated_fails,
            distractor_fails,
            at_once_fails,
            dissect: None,
            shrink: None,
            topics: None,
            levels: None,
            kept: KeptOptions::default(),
        }
    }

    /// Those of a campaign.
    ///
    /// # Errors
    /// They cannot be read.
    pub(crate) fn of(options: &StoredOptions) -> Result<Self, Failure> {
        Self::read(options.of_suite.clone())
            .map_err(|error| Failure::usage(format!("the options of the campaign are invalid: {error}")))
    }

    fn read(mut of_suite: Map<String, Value>) -> Result<Self, serde_json::Error> {
        let mut kept = KeptOptions::default();
        for name in of_suite.keys().cloned().collect::<Vec<_>>() {
            let value = of_suite.get(&name).and_then(Value::as_str).map(str::to_owned);
            // What has another type is left, and refused below.
            if let Some(value) = value.filter(|_| suites::has(&name, OptionUse::Tools)) {
                of_suite.remove(&name);
                kept.0.insert(name, value);
            }
        }
        Ok(Self { kept, ..serde_json::from_value(Value::Object(of_suite))? })
    }

    /// As a campaign keeps them.
    pub(crate) fn to_map(&self) -> Map<String, Value> {
        // All keys are strings, so it is a map.
        let mut map = match serde_json::to_value(self) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        };
        map.extend(self.kept.0.iter().map(|(name, value)| (name.clone(), value.clone().into())));
        map
    }

    pub(crate) fn judge(&self) -> JudgeOptions {
        let Self { repeated_fails, distractor_fails, at_once_fails, .. } = *self;
        JudgeOptions { repeated_fails, distractor_fails, at_once_fails }
    }

    /// How its cases are drawn again that the store only names.
    ///
    /// # Errors
    /// The options make no sense.
    pub(crate) fn drawn(&self) -> Result<Option<DrawnCases>, Failure> {
        self.levels.as_deref().map(|levels| cases::drawn_again(levels, self.bank())).transpose()
    }

    /// The topics that its cases are about.
    pub(crate) fn bank(&self) -> &TopicBank {
        self.topics.as_ref().unwrap_or_else(|| TopicBank::shipped())
    }
}

/// The stored options of a campaign, parsed completely.
#[derive(Debug, Clone)]
pub(crate) struct CampaignOptions {
    pub(crate) kept: StoredOptions,
    pub(crate) order: OrderOptions,
}

impl CampaignOptions {
    /// Those that the store has.
    ///
    /// # Errors
    /// What does not make sense in them.
    pub(crate) fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let kept: StoredOptions = serde_json::from_str(text)?;
        let order = OrderOptions::read(kept.of_suite.clone())?;
        Ok(Self { kept, order })
    }

    /// The kind of its cases.
    ///
    /// # Errors
    /// This planproof does not know it.
    pub(crate) fn suite(&self) -> Result<Arc<dyn Suite>, Failure> {
        suites::of_campaign(&self.kept, &self.order)
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
        commands(&self.kept, &self.order, agent, store)
    }
}

/// The options of a campaign with a simulated model, and the defaults for the rest.
pub(crate) fn of_simulation(campaign: &Campaign, synthesis: SynthesisUse) -> StoredOptions {
    let Campaign { seed, concurrency, limits, .. } = campaign;
    let mut options = StoredOptions::new(*seed, *concurrency, limits.wall, limits.iterations);
    options.iterations_follow_case = limits.iterations_follow_case;
    options.reply_tokens = limits.reply_tokens;
    options.of_suite = OrderOptions::default().to_map();
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
pub(super) fn commands(
    options: &StoredOptions,
    order: &OrderOptions,
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
    let judging = [
        ("--allow-repeats", !order.repeated_fails),
        ("--allow-distractors", !order.distractor_fails),
        ("--fail-at-once", order.at_once_fails),
    ];
    words.extend(judging.into_iter().filter(|(_, is_set)| *is_set).map(|(option, _)| option.to_owned()));
    let store = (store != Path::new(STORE_DEFAULT)).then(|| store.to_string_lossy());
    // A header or a command may hold a key, and the lines are shown and kept.
    let held = secrets::held();
    let words: Vec<_> = words.iter().map(|word| held.redact(word)).collect();
    CommandLines::new(&command_of(options), store.as_deref(), words.iter().map(|word| &**word))
}
