//! A campaign's budgets and expenses.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use planproof_isolation::Account;
use planproof_model::ServerFacts;
use planproof_model::metering::{Budget, Spent};
use planproof_model::prices::{Money, Prices};
use planproof_store::{Progress, StoredSpent};
use planproof_trace::{Secrets, Usage};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::acts::Act;
use crate::error::CampaignError;
use crate::paths::absolute;
use crate::world::World;

/// Why a budget is used up of which something is left.
const NO_ROOM: &str = ", and the next request does not fit into the rest";

/// The budgets of a campaign as stored, the prices for counting money, and findings about its models.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budgets {
    max_cost_picodollars: Option<u64>,
    max_tokens: Option<u64>,
    minutes: Option<f64>,
    /// The file of prices; `None` for the compiled-in ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    prices: Option<PathBuf>,
    /// Models that refused a temperature.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    without_temperature: BTreeSet<String>,
    /// How requests to its models were changed otherwise, a sentence each.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    changed_requests: BTreeSet<String>,
    /// Why the campaign was stopped: its set-up is broken.
    #[serde(skip_serializing_if = "Option::is_none")]
    broken_setup: Option<String>,
    /// The isolation of the agent's program in the runs so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    isolation: Option<Account>,
    /// What the servers of its models said of themselves, by model.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    servers: BTreeMap<String, ServerFacts>,
    /// The proof that the user who resumes the campaign began it with these limits. It is here because the limits may
    /// change when a campaign resumes, and the proof with them.
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<String>,
}

/// The requested budgets of a campaign.
#[derive(Debug, Clone, Default)]
pub struct BudgetOptions {
    /// Most money, in US dollars.
    pub max_cost: Option<f64>,
    /// Most tokens, read and written together.
    pub max_tokens: Option<u64>,
    /// Longest time, in minutes from when it begins or resumes, including the making of cases.
    pub minutes: Option<f64>,
    /// A file of prices.
    pub prices: Option<PathBuf>,
}

impl Budgets {
    /// The budgets that are asked for.
    pub fn of(asked: &BudgetOptions) -> Self {
        // Anything below the smallest amount that can be counted would be no budget at all.
        let money = |dollars| Money::from_dollars(dollars).map(Money::picodollars).map(|most| most.max(1));
        Self {
            max_cost_picodollars: asked.max_cost.and_then(money),
            max_tokens: asked.max_tokens,
            minutes: asked.minutes,
            prices: asked.prices.clone(),
            ..Self::default()
        }
    }

    /// What the campaign may spend, as in `5.00 USD, 1,000 tokens`; empty if it has no budget.
    pub fn in_words(&self) -> String {
        let cost = self.max_cost_picodollars.map(|most| Money::from_picodollars(most).to_string());
        let tokens = self.max_tokens.map(|most| format!("{} tokens", planproof_suite::grouped(most)));
        let minutes = self.minutes.map(|minutes| format!("{minutes} minutes"));
        [cost, tokens, minutes].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// The time budget alone, if nothing is paid for.
    pub(crate) fn of_time(self) -> Self {
        Self { minutes: self.minutes, ..Self::default() }
    }

    /// Those of a stored campaign.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn stored(progress: &Progress) -> Result<Self, CampaignError> {
        Self::read(&progress.budgets)
    }

    /// As the store keeps them.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn read(text: &str) -> Result<Self, CampaignError> {
        serde_json::from_str(text).map_err(|error| {
            CampaignError::usage(format!("the budgets of the stored campaign are invalid: {error}"))
        })
    }

    /// These budgets, with the earlier ones as defaults.
    pub(crate) fn or(self, before: &Self) -> Self {
        Self {
            max_cost_picodollars: self.max_cost_picodollars.or(before.max_cost_picodollars),
            max_tokens: self.max_tokens.or(before.max_tokens),
            minutes: self.minutes.or(before.minutes),
            prices: self.prices.or_else(|| before.prices.clone()),
            without_temperature: before.without_temperature.clone(),
            changed_requests: before.changed_requests.clone(),
            // The set-up may have been mended, so a resumed campaign tries it again.
            broken_setup: None,
            isolation: before.isolation.clone(),
            servers: before.servers.clone(),
            // Whoever resumes the campaign proves the new limits.
            proof: None,
        }
    }

    /// What the campaign may spend, in the form that its proof is about.
    pub(crate) fn limits(&self) -> Result<String, CampaignError> {
        // Every field is named here, without a rest, so that a new one compiles only once somebody has decided whether
        // it limits anything.
        let Self {
            max_cost_picodollars,
            max_tokens,
            minutes,
            prices,
            without_temperature: _,
            changed_requests: _,
            broken_setup: _,
            isolation: _,
            servers: _,
            proof: _,
        } = self;
        let prices = prices.as_deref().map(absolute).transpose()?;
        serde_json::to_string(&(max_cost_picodollars, max_tokens, minutes, prices))
            .map_err(|error| wrong(&error))
    }

    /// What reading these budgets makes planproof do: the file of prices is read.
    pub fn acts(&self) -> Vec<Act> {
        self.prices.iter().map(|file| Act::new("prices", file.to_string_lossy())).collect()
    }

    pub(crate) fn proof(&self) -> Option<&str> {
        self.proof.as_deref()
    }

    pub(crate) fn with_proof(self, proof: Option<String>) -> Self {
        Self { proof, ..self }
    }

    /// As they are asked for.
    pub(crate) fn asked(&self) -> BudgetOptions {
        BudgetOptions {
            max_cost: self.cost_max().map(Money::dollars),
            max_tokens: self.max_tokens,
            minutes: self.minutes,
            prices: self.prices.clone(),
        }
    }

    /// For a complete campaign: it has no limits any more, and the findings are kept.
    pub(crate) fn of_complete(progress: &Progress) -> Result<Self, CampaignError> {
        let Self { without_temperature, changed_requests, isolation, servers, .. } = Self::stored(progress)?;
        Ok(Self { without_temperature, changed_requests, isolation, servers, ..Self::default() })
    }

    /// Records models that refused a temperature.
    pub(crate) fn note_without_temperature(&mut self, models: impl IntoIterator<Item = String>) {
        self.without_temperature.extend(models);
    }

    /// The models that refused a temperature, by name.
    pub(crate) fn without_temperature(&self) -> Vec<String> {
        self.without_temperature.iter().cloned().collect()
    }

    /// Records what the server of a model said of itself.
    pub(crate) fn note_server(&mut self, model: &str, facts: ServerFacts) {
        self.servers.insert(model.to_owned(), facts);
    }

    /// What the servers of its models said of themselves, by model.
    pub(crate) fn servers(&self) -> &BTreeMap<String, ServerFacts> {
        &self.servers
    }

    /// Records how requests were changed because a server refused them.
    pub(crate) fn note_changed_requests(&mut self, changes: impl IntoIterator<Item = String>) {
        self.changed_requests.extend(changes);
    }

    /// How requests were changed because a server refused them, a sentence each.
    pub(crate) fn changed_requests(&self) -> Vec<String> {
        self.changed_requests.iter().cloned().collect()
    }

    /// Records the isolation of the agent's program in the runs from now on: only what held in all runs held.
    pub(crate) fn note_isolation(&mut self, now: Account) {
        self.isolation = Some(match self.isolation.take() {
            Some(before) => now.and(&before),
            None => now,
        });
    }

    /// The part of the isolation that held in all runs; `None` if the agent is not a program, or was run before this
    /// was recorded.
    pub(crate) fn isolation(&self) -> Option<&Account> {
        self.isolation.as_ref()
    }

    /// Records why the campaign was stopped, if its set-up is broken.
    pub(crate) fn note_broken_setup(&mut self, why: Option<String>) {
        self.broken_setup = why;
    }

    /// Why the campaign was stopped, if its set-up is broken.
    pub(crate) fn broken_setup(&self) -> Option<&str> {
        self.broken_setup.as_deref()
    }

    /// The budgets of a campaign that resumes: the new ones, with its own as defaults.
    ///
    /// They must leave something to spend: a campaign that would end at once is a mistake.
    pub(crate) fn resumed(&self, stored: &Progress) -> Result<Self, CampaignError> {
        let budgets = self.clone().or(&Self::stored(stored)?);
        let spent = spent(stored);
        if let Some(most) = budgets.cost_max() {
            let Some(cost) = spent.cost else {
                return Err(CampaignError::usage(
                    "--max-cost: the cost of the campaign so far is not known; use --max-tokens",
                ));
            };
            // A campaign ends below its budget if its next request does not fit. With the same budget it would end at
            // once.
            let has_ended = self.cost_max().is_none() && stored.ended_by == Some(most.to_string());
            if cost >= most || has_ended {
                let rest = if cost < most { NO_ROOM } else { "" };
                return Err(CampaignError::usage(format!(
                    "of the campaign's budget of {most}, {cost} are spent{rest}: set a larger one with --max-cost"
                )));
            }
        }
        if let Some(most) = budgets.max_tokens {
            let tokens = spent.usage.input_tokens + spent.usage.output_tokens;
            // The same holds for tokens.
            let has_ended = self.max_tokens.is_none() && stored.ended_by == Some(format!("{most} tokens"));
            if tokens >= most || has_ended {
                let rest = if tokens < most { NO_ROOM } else { "" };
                return Err(CampaignError::usage(format!(
                    "of the campaign's budget of {most} tokens, {tokens} are spent{rest}: set a larger one with --max-tokens"
                )));
            }
        }
        Ok(budgets)
    }

    /// Checks that the budgets can be enforced. `models` are those that are asked through us.
    pub fn check(&self, models: &[String], prices: &Prices) -> Result<(), CampaignError> {
        let option = match (self.max_cost_picodollars, self.max_tokens) {
            (Some(_), _) => "--max-cost",
            (None, Some(_)) => "--max-tokens",
            (None, None) => return Ok(()),
        };
        if models.is_empty() {
            return Err(CampaignError::usage(format!(
                "{option}: planproof cannot see what this agent's model uses; use --minutes, or give a command: agent \
                 a model with --serve-model"
            )));
        }
        if self.max_cost_picodollars.is_some()
            && let Some(model) = models.iter().find(|model| prices.find(model).is_none())
        {
            return Err(CampaignError::usage(format!(
                "--max-cost: the price of {model} is not known; give it with --prices FILE, or use --max-tokens"
            )));
        }
        Ok(())
    }

    /// The prices: those of the file if one is given.
    ///
    /// # Errors
    /// The file cannot be read, or holds no prices.
    pub fn prices<W: World>(&self, world: &W) -> Result<Prices, W::Error> {
        match &self.prices {
            None => Ok(Prices::shipped().clone()),
            Some(file) => Prices::read(&world.text(file)?).map_err(|error| {
                CampaignError::usage(format!("--prices {}: {error}", file.display())).into()
            }),
        }
    }

    /// What the meter holds the models to.
    pub fn budget(&self) -> Budget {
        Budget { cost_max: self.cost_max(), tokens_max: self.max_tokens }
    }

    pub(crate) fn cost_max(&self) -> Option<Money> {
        self.max_cost_picodollars.map(Money::from_picodollars)
    }

    /// The deadline of a campaign that began then, including the making of its cases.
    pub fn deadline(&self, began: Instant) -> Option<Instant> {
        self.minutes.map(|minutes| began + Duration::from_secs_f64(minutes * 60.0))
    }

    /// The time budget, with its unit.
    pub fn time(&self) -> String {
        let minutes = self.minutes.unwrap_or_default();
        if minutes == 1.0 { "1 minute".to_owned() } else { format!("{minutes} minutes") }
    }

    /// As the store keeps them: findings, which may quote an agent or a server, without these secrets.
    pub(crate) fn to_json(&self, secrets: &Secrets) -> Result<String, CampaignError> {
        // The campaign may resume from another folder.
        let prices = self.prices.as_deref().map(absolute).transpose()?;
        let text = |text: &String| secrets.redact(text).into_owned();
        let servers: BTreeMap<String, &ServerFacts> =
            self.servers.iter().map(|(model, facts)| (text(model), facts)).collect();
        let mut servers = serde_json::to_value(servers).map_err(|error| wrong(&error))?;
        secrets.redact_values(&mut servers);
        let kept = Self {
            prices,
            without_temperature: self.without_temperature.iter().map(text).collect(),
            changed_requests: self.changed_requests.iter().map(text).collect(),
            broken_setup: self.broken_setup.as_ref().map(text),
            servers: serde_json::from_value(servers).map_err(|error| wrong(&error))?,
            ..self.clone()
        };
        serde_json::to_string(&kept).map_err(|error| wrong(&error))
    }
}

fn wrong(error: &serde_json::Error) -> CampaignError {
    CampaignError::outside(error.to_string())
}

/// What a stored campaign has spent.
pub(crate) fn spent(progress: &Progress) -> Spent {
    let StoredSpent { input_tokens, output_tokens, picodollars, is_estimate } = progress.spent;
    let usage = Usage::new(input_tokens, output_tokens);
    // A campaign that has used no tokens has cost nothing, whatever the price.
    let cost = picodollars.map(Money::from_picodollars).or((usage == Usage::default()).then(Money::default));
    Spent { usage, cost, is_estimate }
}

/// The same, for the store.
pub(crate) fn to_stored(spent: Spent) -> StoredSpent {
    StoredSpent {
        input_tokens: spent.usage.input_tokens,
        output_tokens: spent.usage.output_tokens,
        picodollars: spent.cost.map(Money::picodollars),
        is_estimate: spent.is_estimate,
    }
}

/// The option for a larger budget instead of an exhausted one.
pub fn larger(ended_by: &str) -> &'static str {
    if ended_by.ends_with(" USD") {
        " --max-cost USD"
    } else if ended_by.ends_with(" tokens") {
        " --max-tokens N"
    } else {
        ""
    }
}
