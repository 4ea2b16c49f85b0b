//! A campaign that resumes.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use planproof_agents::AgentSpec;
use planproof_engine::{Outcome, Unit};
use planproof_model::metering::Meter;
use planproof_store::{CampaignRow, Store, StoreError};
use planproof_suite::{Case, Suite};
use planproof_trace::{Event, Usage, wire};

use crate::acts::Owned;
use crate::budgets::{self, BudgetOptions, Budgets};
use crate::error::CampaignError;
use crate::memory;
use crate::models::{Models, Wrapping, key_needed};
use crate::options::{Answers, StoredOptions};
use crate::prepared::{Parts, Prepared, Replayed};
use crate::put_together::{AgentRequest, left_out};
use crate::recorded::RecordedCampaign;
use crate::recording;
use crate::sequels::{BegunSequel, Leading, PlannedSequel};
use crate::world::{KeyNeeded, World};

/// A campaign from the store, with the request to resume it.
pub struct Resumed {
    pub row: CampaignRow,
    /// The kind of its cases.
    pub suite: Arc<dyn Suite>,
    pub cases: Vec<Arc<dyn Case>>,
    /// Its agent, if the user has named it again: what is stored may lack a key.
    pub agent: Option<AgentSpec>,
    /// Its stored options, with the new ones.
    pub options: StoredOptions,
    /// Its finished runs, judged again. Unscored ones are repeated: the external failure may be over.
    pub outcomes: Vec<Outcome>,
    /// Its sequels, with what was run for them.
    pub sequels: Vec<PlannedSequel>,
    /// Budgets that replace its own.
    pub budgets: BudgetOptions,
}

/// Resumes a campaign.
///
/// # Errors
/// It cannot be resumed: a file has changed, a budget is used up, a key is missing, or the store or a file fails.
pub fn resume<W: World>(world: &W, store: Store, resumed: Resumed) -> Result<Prepared, W::Error> {
    let Resumed { row, suite, cases, agent: named, options, mut outcomes, sequels, budgets } = resumed;
    outcomes.retain(|outcome| outcome.verdict.is_ok());
    let leading = Leading {
        id: &row.id,
        cases: &cases,
        outcomes: &outcomes,
        seed: options.seed,
        of_suite: &options.of_suite,
    };
    let mut leads_on = false;
    for planned in &sequels {
        leads_on |= !planned.is_over(&leading).map_err(|error| CampaignError::usage(error.what))?;
    }
    let repeats = NonZeroU32::new(row.repeats)
        .ok_or_else(|| CampaignError::usage(format!("the campaign {} runs each case 0 times", row.id)))?;
    let is_complete = outcomes.len() as u64 == row.total() && !leads_on;
    let name = match named {
        Some(named) => named,
        None => AgentSpec::parse(&row.agent).map_err(|error| CampaignError::usage(error.to_string()))?,
    };
    if !is_complete {
        options.made_from().must_be_unchanged(|| world.made_from(&name))?;
        let now = world.prompts();
        if let Some(then) = options.prompts.as_ref().filter(|then| **then != now) {
            world.warn(&format!(
                "the campaign was started with the prompts {then}, and this version of planproof has {now}: further runs \
                 are asked in other words than those before"
            ));
        }
    }
    let recorded = match &options.answers {
        Answers::Replay(path) => Some(RecordedCampaign::read(world, path, options.may_differ.as_deref())?),
        _ => None,
    };
    let models = match &recorded {
        Some(recorded) => Models::recorded(world, Arc::clone(&recorded.recording)),
        // A complete campaign asks no model any more.
        None if is_complete => Models::live(world, KeyNeeded::ByRequests),
        None => Models::live(world, key_needed(options.answers.cache())),
    };
    let serve_model = options.serve_model.as_deref();
    let request = AgentRequest {
        world,
        agent: &name,
        serve_model,
        program: &options.program,
        guard: options.guard.as_ref(),
    };
    if recorded.is_none() && request.is_handed_answers() {
        models.hand(&cases, options.seed);
    }
    // Its models are connected later, so that errors are found before the recording is opened.
    let (mut agent, served) = request.agent(&models)?;
    let budgets = match is_complete {
        true => Budgets::of_complete(&row.progress)?,
        false => Budgets::of(&budgets).resumed(&row.progress)?,
    };
    let owned = Owned {
        store: store.path(),
        id: &row.id,
        agent: &row.agent,
        options: &row.options,
        repeats: row.repeats,
    };
    // With its new limits. Whoever calls this has made sure that the user wants all that the campaign does.
    let budgets = owned.proved(budgets, world.own_key())?;
    let prices = budgets.prices(world)?;
    budgets.check(&models.names(), &prices)?;
    request.allow_open_files(&agent, options.concurrency.min(cases.len() * repeats.get() as usize))?;
    let secrets = world.secrets_apart_from(&cases)?;
    let (recording, file) = match &options.answers {
        Answers::Cache(path) if !is_complete => {
            (None, Some(recording::open_cache(world, path, secrets.clone())?))
        }
        // A complete campaign asks no model any more, but its last verdicts and its end may not be recorded yet.
        Answers::Record(path) if !is_complete || recording::lacks_end(path, &row.id) => {
            let recording = recording::go_on(world, path, &row.id, secrets.clone())?;
            let file = recording.file.clone();
            (Some(recording), Some(file))
        }
        Answers::Live | Answers::Replay(_) | Answers::Cache(_) | Answers::Record(_) => (None, None),
    };
    let spent = models.with_cost(budgets::spent(&row.progress), &prices);
    let meter = Arc::new(Meter::new(budgets.budget(), spent));
    let served_before = Usage::new(row.progress.served_input_tokens, row.progress.served_output_tokens);
    models.connect(&Wrapping { meter: &meter, prices: &prices, file: file.as_ref() });
    let served = request.served(served, served_before);
    // The environment may name another model by now; the campaign keeps its own.
    agent.simulated |= row.simulated;
    agent.model = row.model;
    if let Some(recording) = &recording {
        // Runs whose verdicts were not written yet when the campaign was cut off.
        let own = outcomes.iter().filter_map(|outcome| Some((cases.get(outcome.ordinal as usize)?, outcome)));
        let further = sequels.iter().filter_map(|planned| planned.begun.as_ref());
        let further = further.flat_map(BegunSequel::scored);
        for (case, outcome) in own.chain(further) {
            recording.write_verdict(&**case, outcome).map_err(CampaignError::from)?;
        }
    }
    let meter = (!models.names().is_empty()).then_some(meter);
    let left_out = recorded.as_ref().map(|recorded| left_out(recorded, &cases, repeats)).unwrap_or_default();
    let asked = models.found();
    let replayed = recorded.map(|recorded| Replayed { recorded, models: models.into_replays() });
    let token = world.token();
    // A recording holds the answers of whole runs, so a replay cannot continue one.
    let can_resume = agent.agent.can_resume() && replayed.is_none() && !is_complete;
    let earlier = if can_resume { earlier(&store, &row.id)? } else { HashMap::new() };
    let memory = match &replayed {
        _ if is_complete => None,
        Some(replayed) => memory::replayed(options.memory, replayed.recorded.lessons()?)?,
        None => memory::memory(&store, &name, suite.name(), options.memory)?,
    };
    let parts = Parts { id: row.id, agent, suite, cases, repeats, options, secrets, token, memory };
    let bare = parts.prepared(store)?;
    Ok(Prepared {
        sequels,
        finished: outcomes,
        earlier,
        left_out,
        served,
        budgets,
        asked,
        meter,
        recording,
        replayed,
        ..bare
    })
}

/// The events of a campaign's runs that were cut off. A run with an unreadable trace is started again.
fn earlier(store: &Store, campaign: &str) -> Result<HashMap<Unit, Vec<Event>>, StoreError> {
    let mut earlier = HashMap::new();
    for (unit, run) in store.cut_off(campaign)? {
        let lines = store.trace_lines(run).collect::<Result<Vec<String>, _>>()?;
        if let Ok(trace) = wire::v1::read_trace(&(lines.join("\n") + "\n")) {
            earlier.insert(unit, trace.events);
        }
    }
    Ok(earlier)
}
