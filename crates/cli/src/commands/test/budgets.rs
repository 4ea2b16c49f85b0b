//! What a campaign may spend, and what it has spent.

use std::time::{Duration, Instant};

use planproof_model::metering::{Budget, Spent};
use planproof_model::prices::{DOLLARS_MAX, Money, Prices};
use planproof_store::{Progress, Spent as StoredSpent};
use planproof_trace::Usage;
use serde::{Deserialize, Serialize};

use crate::arguments::BudgetArguments;
use crate::failure::Failure;
use crate::select;

/// Longest time of a campaign, in minutes: a week.
const MINUTES_MAX: f64 = 7.0 * 24.0 * 60.0;

/// The budgets of a campaign, as the store keeps them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Budgets {
    max_cost_picodollars: Option<u64>,
    max_tokens: Option<u64>,
    minutes: Option<f64>,
}

impl Budgets {
    /// The budgets of the command line.
    pub(super) fn of(arguments: &BudgetArguments) -> Result<Self, Failure> {
        let max_cost = arguments.max_cost.map(|dollars| {
            let money = Money::from_dollars(dollars).filter(|money| *money > Money::default());
            money.ok_or_else(|| {
                Failure::usage(format!(
                    "--max-cost is {dollars}; it must be above 0 and at most {DOLLARS_MAX}"
                ))
            })
        });
        if arguments.max_tokens == Some(0) {
            return Err(Failure::usage("--max-tokens is 0; it must be at least 1"));
        }
        if let Some(minutes) =
            arguments.minutes.filter(|minutes| !(f64::MIN_POSITIVE..=MINUTES_MAX).contains(minutes))
        {
            return Err(Failure::usage(format!(
                "--minutes is {minutes}; it must be above 0 and at most {MINUTES_MAX}"
            )));
        }
        Ok(Self {
            max_cost_picodollars: max_cost.transpose()?.map(Money::picodollars),
            max_tokens: arguments.max_tokens,
            minutes: arguments.minutes,
        })
    }

    /// The budgets with which a campaign is gone on with: those that are given now, and its own for the rest.
    ///
    /// Those must leave something: a campaign that would end at once was meant otherwise.
    pub(super) fn resumed(self, stored: &Progress) -> Result<Self, Failure> {
        let before: Self = serde_json::from_str(&stored.budgets).map_err(|error| {
            Failure::usage(format!("the budgets of the stored campaign make no sense: {error}"))
        })?;
        let budgets = Self {
            max_cost_picodollars: self.max_cost_picodollars.or(before.max_cost_picodollars),
            max_tokens: self.max_tokens.or(before.max_tokens),
            minutes: self.minutes.or(before.minutes),
        };
        let spent = spent(stored);
        if let Some(most) = budgets.cost_max() {
            let Some(cost) = spent.cost else {
                return Err(Failure::usage(
                    "--max-cost: what the campaign has cost so far is not known; use --max-tokens",
                ));
            };
            let has_ended = self.cost_max().is_none() && stored.ended_by == Some(most.to_string());
            if cost >= most || has_ended {
                return Err(Failure::usage(format!(
                    "of the campaign's budget of {most}, {cost} are spent: give it a larger one with --max-cost"
                )));
            }
        }
        if let Some(most) = budgets.max_tokens {
            let tokens = spent.usage.input_tokens + spent.usage.output_tokens;
            let has_ended = self.max_tokens.is_none() && stored.ended_by == Some(format!("{most} tokens"));
            if tokens >= most || has_ended {
                return Err(Failure::usage(format!(
                    "of the campaign's budget of {most} tokens, {tokens} are spent: give it a larger one with --max-tokens"
                )));
            }
        }
        Ok(budgets)
    }

    /// Checks that the budgets can be held. `models` are those that are asked through us.
    pub(super) fn check(&self, models: &[String], prices: &Prices) -> Result<(), Failure> {
        let option = match (self.max_cost_picodollars, self.max_tokens) {
            (Some(_), _) => "--max-cost",
            (None, Some(_)) => "--max-tokens",
            (None, None) => return Ok(()),
        };
        if models.is_empty() {
            return Err(Failure::usage(format!(
                "{option}: planproof does not see what this agent's model takes; use --minutes, or give a command: agent \
                 a model with --serve-model"
            )));
        }
        if self.max_cost_picodollars.is_some()
            && let Some(model) = models.iter().find(|model| prices.find(model).is_none())
        {
            return Err(Failure::usage(format!(
                "--max-cost: the price of {model} is not known; give it with --prices FILE, or use --max-tokens"
            )));
        }
        Ok(())
    }

    /// What the meter holds the models to.
    pub(super) fn budget(&self) -> Budget {
        Budget { cost_max: self.cost_max(), tokens_max: self.max_tokens }
    }

    fn cost_max(&self) -> Option<Money> {
        self.max_cost_picodollars.map(Money::from_picodollars)
    }

    /// When the time is over of a campaign that begins now.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.minutes.map(|minutes| Instant::now() + Duration::from_secs_f64(minutes * 60.0))
    }

    /// The time budget, with its unit.
    pub(super) fn time(&self) -> String {
        let minutes = self.minutes.unwrap_or_default();
        if minutes == 1.0 { "1 minute".to_owned() } else { format!("{minutes} minutes") }
    }

    /// As the store keeps them.
    pub(super) fn to_json(self) -> Result<String, Failure> {
        serde_json::to_string(&self).map_err(|error| Failure::outside(error.to_string()))
    }
}

/// The prices that hold: those of the file if one is given.
pub(super) fn prices(arguments: &BudgetArguments) -> Result<Prices, Failure> {
    match &arguments.prices {
        None => Ok(Prices::shipped().clone()),
        Some(file) => Prices::read(&select::read_text(file)?)
            .map_err(|error| Failure::usage(format!("--prices {}: {error}", file.display()))),
    }
}

/// What a stored campaign has spent.
pub(super) fn spent(progress: &Progress) -> Spent {
    let StoredSpent { input_tokens, output_tokens, picodollars, is_estimate } = progress.spent;
    let usage = Usage { input_tokens, output_tokens };
    // A campaign that has taken nothing has cost nothing, whatever the price.
    let cost = picodollars.map(Money::from_picodollars).or((usage == Usage::default()).then(Money::default));
    Spent { usage, cost, is_estimate }
}

/// The same, for the store.
pub(super) fn to_stored(spent: Spent) -> StoredSpent {
    StoredSpent {
        input_tokens: spent.usage.input_tokens,
        output_tokens: spent.usage.output_tokens,
        picodollars: spent.cost.map(Money::picodollars),
        is_estimate: spent.is_estimate,
    }
}

/// The option that gives a larger budget in the place of one that was used up.
pub(in crate::commands) fn larger(ended_by: &str) -> &'static str {
    if ended_by.ends_with(" USD") {
        " --max-cost USD"
    } else if ended_by.ends_with(" tokens") {
        " --max-tokens N"
    } else {
        ""
    }
}
