//! A model that writes texts for commands, such as topics and queries, wrapped in a meter and a cache.

use std::path::Path;
use std::sync::Arc;

use planproof_assembly::arguments::AskingArguments;
use planproof_assembly::errors::OrFail as _;
use planproof_campaign::{Budgets, ModelForm, Models, Wrapping, key_needed, open_cache};
use planproof_model::metering::{Meter, Spent};
use planproof_model::{Model, ModelError};
use planproof_output::failure::Failure;
use planproof_output::terminal::inline;
use planproof_output::{progress, secrets, signals};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::world::Outside;

/// The model with its meter and its limits.
pub struct HelperModel {
    pub model: Arc<dyn Model>,
    /// A second model, which shares meter, limits and cache.
    pub(crate) second: Option<Arc<dyn Model>>,
    pub meter: Arc<Meter>,
    deadline: Option<Instant>,
    /// The time budget, with its unit.
    time: String,
    is_cached: bool,
}

impl HelperModel {
    /// The model with that name. Sends no request yet.
    pub fn find(name: &str, arguments: &AskingArguments) -> Result<Self, Failure> {
        Self::find_both(name, None, arguments)
    }

    /// The model with that name, and a second one for which the same budget and cache hold. Sends no request yet.
    pub(crate) fn find_both(
        name: &str,
        second: Option<&str>,
        arguments: &AskingArguments,
    ) -> Result<Self, Failure> {
        // The store is hidden from programs, and this is a model.
        let world = Outside { asking: &arguments.model, is_quiet: false, store: Path::new("") };
        let models = Models::live(&world, key_needed(arguments.cache.as_deref()));
        let model = models.find(name, ModelForm::Chat)?;
        let second = second.map(|name| models.find(name, ModelForm::Chat)).transpose()?;
        let budgets = Budgets::of(&(&arguments.budget).into());
        let prices = budgets.prices(&world)?;
        budgets.check(&models.names(), &prices).or_fail()?;
        let open = |path: &Path| open_cache(&world, path, secrets::held());
        let cache = arguments.cache.as_deref().map(open).transpose().or_fail()?;
        let meter = Arc::new(Meter::new(budgets.budget(), models.with_cost(Spent::default(), &prices)));
        models.connect(&Wrapping { meter: &meter, prices: &prices, file: cache.as_ref() });
        Ok(Self {
            model,
            second,
            meter,
            deadline: budgets.deadline(Instant::now()),
            time: budgets.time(),
            is_cached: cache.is_some(),
        })
    }

    /// Cancelled when the time is over or a signal asks us to stop. Must be called within a Tokio runtime.
    pub fn stop(&self) -> CancellationToken {
        let (stop, deadline) = (CancellationToken::new(), self.deadline);
        let (cancelled, signal) = (stop.clone(), signals::stop_requested());
        // In a task of its own, because the caller waits for the model meanwhile.
        tokio::spawn(async move {
            let over = async {
                match deadline {
                    Some(deadline) => tokio::time::sleep_until(deadline).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = signal => {}
                () = over => {}
            }
            cancelled.cancel();
        });
        stop
    }

    /// Why the work that it did is incomplete, if it is: the model `failed`, or was stopped.
    pub fn why(&self, failed: Option<&ModelError>, is_stopped: bool) -> Option<String> {
        match failed {
            Some(error) => Some(inline(&error.to_string())),
            None => is_stopped.then(|| self.stopped_by()),
        }
    }

    /// Why it was stopped.
    pub fn stopped_by(&self) -> String {
        let is_over = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if is_over { format!("--minutes: {} are over", self.time) } else { "interrupted".to_owned() }
    }

    /// What to do after a failure.
    pub fn advice(&self) -> &'static str {
        if self.is_cached {
            "; run it again to continue: the answers so far are in the cache"
        } else {
            "; with --cache FILE the answers are kept for the next attempt"
        }
    }

    /// Says what it took.
    pub fn tell_spent(&self, quiet: bool) {
        let Spent { usage, cost, is_estimate } = self.meter.spent();
        let about = if is_estimate { "about " } else { "" };
        let models = || [Some(&self.model), self.second.as_ref()].into_iter().flatten();
        // Nobody is paid for a simulation.
        let cost = cost.filter(|_| !models().all(|model| model.is_simulated()));
        let cost = cost.map(|cost| format!(", {about}{cost}"));
        let names: Vec<&str> = models().map(|model| model.name()).collect();
        progress::say(
            quiet,
            &format!(
                "{}: {} tokens in, {} out{}",
                names.join(" and "),
                usage.input_tokens,
                usage.output_tokens,
                cost.unwrap_or_default()
            ),
        );
        if models().any(|model| model.is_simulated()) {
            progress::say(
                quiet,
                "SIMULATION: a simulated model answered, which knows only what comes with planproof",
            );
        }
    }
}
