//! A recorded campaign, run again with the answers of the recording.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use planproof_agents::AgentSpec;
use planproof_suite::EffortLimits;
use planproof_trace::Usage;

use crate::begin::must_be_defined;
use crate::budgets::{BudgetOptions, Budgets};
use crate::cases::Cases;
use crate::create::{NewRow, StoreOptions};
use crate::error::CampaignError;
use crate::memory;
use crate::models::Models;
use crate::options::{Answers, ProgramOptions, StoredOptions, milliseconds};
use crate::paths::absolute;
use crate::prepared::{Parts, Prepared, Replayed};
use crate::put_together::{AgentRequest, CONCURRENCY_IN_PROCESS, left_out};
use crate::recorded::RecordedCampaign;
use crate::world::World;

/// A replay that is asked for.
#[derive(Debug, Clone)]
pub struct Replay {
    pub file: PathBuf,
    /// The file of what may differ in its requests.
    pub may_differ: Option<PathBuf>,
    /// The agent to run; `None` for the recorded one.
    pub agent: Option<AgentSpec>,
    /// Variables that a program gets in addition if a model is served to it. The user of the replay decides on them,
    /// as on the program.
    pub program: ProgramOptions,
    /// Longest time of a run; `None` for the recorded value.
    pub timeout: Option<Duration>,
    /// Most runs at once; `None` for the default.
    pub concurrency: Option<NonZeroUsize>,
    /// Its budgets, of which only the time counts.
    pub budgets: BudgetOptions,
    /// Where it is kept.
    pub store: StoreOptions,
    /// The request, as a command line.
    pub command_line: String,
    /// What its user calls it.
    pub label: Option<String>,
    /// Limits on what its runs take; `None` for the recorded ones.
    pub fail_over: Option<EffortLimits>,
}

/// Runs a recorded campaign again on its own cases. A recording may come from anybody, so the caller makes sure that
/// the user wants what its agent and its tools do outside.
///
/// # Errors
/// The recording holds no finished run, or the store fails.
pub fn replay<W: World>(
    world: &W,
    asked: &Replay,
    recorded: RecordedCampaign,
    cases: Cases,
) -> Result<Prepared, W::Error> {
    let note = &recorded.campaign;
    let name = asked.agent.as_ref().unwrap_or(&recorded.agent);
    note.options.made_from().must_be_unchanged(|| world.made_from(name))?;
    let repeats = NonZeroU32::new(note.repeats)
        .ok_or_else(|| CampaignError::usage("the recorded campaign runs each case 0 times"))?;
    let left_out = left_out(&recorded, &cases.cases, repeats);
    let runs = cases.cases.len() * repeats.get() as usize;
    recorded.check_end(world, runs, left_out.len())?;
    let models = Models::recorded(world, Arc::clone(&recorded.recording));
    let request = AgentRequest {
        world,
        agent: name,
        serve_model: note.options.serve_model.as_deref(),
        program: &asked.program,
        guard: note.options.guard.as_ref(),
    };
    let (mut agent, served) = request.agent(&models)?;
    let memory = memory::replayed(note.options.memory, recorded.lessons()?)?;
    let answers = Answers::Replay(absolute(&asked.file)?);
    let may_differ = asked.may_differ.as_deref().map(absolute).transpose()?;
    let program = asked.program.absolute()?;
    let mut options = StoredOptions { answers, may_differ, program, ..note.options.clone() };
    options.set_synthesis(cases.synthesis);
    if let Some(timeout) = asked.timeout {
        options.timeout_ms = milliseconds(timeout);
    }
    if let Some(concurrency) = asked.concurrency {
        options.concurrency = concurrency.get();
    }
    if let Some(limits) = asked.fail_over {
        must_be_defined(&limits, &cases.cases)?;
        options.fail_over = Some(limits);
    }
    if recorded.agent.is_program() {
        request.allow_open_files(&agent, options.concurrency.min(runs))?;
    } else if asked.concurrency.is_none() {
        // The answers are immediate, so there is no reason to limit the concurrency.
        options.concurrency = options.concurrency.max(CONCURRENCY_IN_PROCESS);
    }

    let store = asked.store.open()?;
    let served = request.served(served, Usage::default());
    agent.simulated |= note.simulated;
    // The recording knows whose answers these are.
    agent.model.clone_from(&note.model);
    let budgets = Budgets::of(&asked.budgets).of_time();
    let row = NewRow {
        agent: &agent,
        cases: &cases.cases,
        named: cases.named,
        repeats,
        options: &options,
        budgets: &budgets,
        command_line: &asked.command_line,
    };
    let (id, budgets) = row.create(&store, world)?;
    store.hold([id.as_str()]).map_err(CampaignError::from)?;
    if asked.label.is_some() {
        store.set_label(&id, asked.label.as_deref()).map_err(CampaignError::from)?;
    }
    let secrets = world.secrets_apart_from(&cases.cases)?;
    let Cases { suite, cases, .. } = cases;
    let token = world.token();
    let parts = Parts { id, agent, suite, cases, repeats, options, secrets, token, memory };
    let bare = parts.prepared(store)?;
    let replayed = Some(Replayed { recorded, models: models.into_replays() });
    Ok(Prepared { left_out, served, budgets, replayed, ..bare })
}
