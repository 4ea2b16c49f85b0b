//! A campaign that begins.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use planproof_agents::{AgentSpec, RunLimits};
use planproof_engine::{AgentUnderTest, GUARD_PREFIX, LimitPlan};
use planproof_model::metering::{Meter, Spent};
use planproof_suite::{Case, EffortLimits};
use planproof_trace::Usage;
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::budgets::{BudgetOptions, Budgets};
use crate::cases::{Cases, RUNS_MAX};
use crate::create::{NewRow, StoreOptions};
use crate::error::CampaignError;
use crate::guard::StoredGuard;
use crate::memory;
use crate::models::{Models, Wrapping, key_needed};
use crate::options::{Answers, ProgramOptions, StoredOptions};
use crate::paths::absolute;
use crate::prepared::{Parts, Prepared};
use crate::put_together::{AgentRequest, CONCURRENCY_EXTERNAL, CONCURRENCY_IN_PROCESS};
use crate::recording::{self, CampaignNote};
use crate::shard::Shard;
use crate::world::World;

/// A campaign that is asked for.
#[derive(Debug, Clone)]
pub struct RequestedCampaign {
    /// Whom it is about.
    pub agent: AgentSpec,
    /// How often each case is run.
    pub repeats: NonZeroU32,
    /// Seed of its runs.
    pub seed: u64,
    /// Whether that was drawn for it.
    pub seed_is_secret: bool,
    /// Longest time of a run.
    pub timeout: Duration,
    /// Most model turns of a run; `None` for the default, or more where a case needs more.
    pub iterations: Option<u32>,
    /// Most tokens of one reply.
    pub reply_tokens: u32,
    /// Most runs at once; `None` for the default of the kind of agent.
    pub concurrency: Option<NonZeroUsize>,
    /// The model that is served to an external agent.
    pub serve_model: Option<String>,
    /// Variables that a program gets in addition, although they look as if they held keys.
    pub program: ProgramOptions,
    /// What it may spend.
    pub budgets: BudgetOptions,
    /// What becomes of the model's answers.
    pub keeping: Keeping,
    /// Where it is kept.
    pub store: StoreOptions,
    /// The plan of the search, if the campaign searches for a limit.
    pub limit: Option<LimitPlan>,
    /// Whether only as many of its cases are run as it takes to compare it with a baseline.
    pub until_decided: bool,
    /// Limits on what its runs take.
    pub fail_over: Option<EffortLimits>,
    /// The rules that the agent is held to.
    pub guard: Option<StoredGuard>,
    /// The part of the cases that it is about; `None` for all.
    pub shard: Option<Shard>,
    /// The name of its suite; `None` for the first suite, as in campaigns from before there were several.
    pub suite: Option<String>,
    /// Options that only the campaigns of its suite have.
    pub of_suite: Map<String, Value>,
    /// The request, as a command line.
    pub command_line: String,
    /// What its user calls it.
    pub label: Option<String>,
    /// Whether its models and their servers are checked before the first run.
    pub is_checked: bool,
    /// Whether models of Ollama's think; `None` leaves it to them.
    pub think: Option<bool>,
}

/// What becomes of the model's answers.
#[derive(Debug, Clone)]
pub enum Keeping {
    Nowhere,
    /// They are written to this file.
    Record {
        file: PathBuf,
        /// Whether an existing file is overwritten.
        force: bool,
    },
    /// Requests that this file holds are answered from it, and all others are added to it.
    Cache(PathBuf),
}

impl Keeping {
    /// Where answers come from and where they are stored, if a model is asked through us.
    pub(crate) fn answers(&self, is_asked: bool) -> Result<Answers, CampaignError> {
        let (option, answers) = match self {
            Self::Nowhere => return Ok(Answers::Live),
            Self::Record { file, .. } => ("--record", Answers::Record(absolute(file)?)),
            Self::Cache(file) => ("--cache", Answers::Cache(absolute(file)?)),
        };
        if is_asked {
            return Ok(answers);
        }
        Err(CampaignError::usage(format!(
            "{option}: this agent asks its model itself, so planproof sees nothing to record; give a command: agent a model \
             with --serve-model"
        )))
    }
}

/// Begins a campaign on the cases that `make` returns. Everything that may be wrong with it is checked before the
/// store is touched.
///
/// # Errors
/// Something in the request is wrong, or the store or a file fails.
pub fn begin<W: World>(
    world: &W,
    new: &RequestedCampaign,
    make: impl FnOnce() -> Result<Cases, W::Error>,
) -> Result<Prepared, W::Error> {
    let began = Instant::now();
    let request = AgentRequest {
        world,
        agent: &new.agent,
        serve_model: new.serve_model.as_deref(),
        program: &new.program,
        guard: new.guard.as_ref(),
    };
    let key = match &new.keeping {
        Keeping::Cache(file) => key_needed(Some(file)),
        Keeping::Nowhere | Keeping::Record { .. } => key_needed(None),
    };
    let models = Models::live(world, key);
    // Cases are made after everything else is checked, because that can take long. Only a model that is handed the
    // answers needs them earlier.
    let mut make = Some(make);
    let mut made = None;
    if request.is_handed_answers()
        && let Some(make) = make.take()
    {
        let cases = make()?;
        models.hand(&cases.cases, new.seed);
        made = Some(cases);
    }
    // Its models are connected once there is a store and a recording.
    let (agent, served) = request.agent(&models)?;
    let budgets = Budgets::of(&new.budgets);
    let prices = budgets.prices(world)?;
    budgets.check(&models.names(), &prices)?;
    let answers = new.keeping.answers(!models.names().is_empty())?;
    // Either there are cases already, or `make` was not called yet.
    let cases = match (made, make) {
        (Some(cases), _) => cases,
        (None, Some(make)) => make()?,
        (None, None) => return Err(CampaignError::usage("there are no cases").into()),
    };
    let mut cases = cases;
    let shard = new.shard.map(|shard| shard.take(&mut cases)).transpose()?;
    let mut options = new.options(&request, &agent, &cases, answers)?;
    options.shard = shard;

    let secrets = world.secrets_apart_from(&cases.cases)?;
    let (recording, file) = match (&options.answers, &new.keeping) {
        (Answers::Cache(path), _) => (None, Some(recording::open_cache(world, path, secrets.clone())?)),
        (Answers::Record(path), Keeping::Record { force, .. }) => {
            let recording = recording::begin(world, path, *force, secrets.clone())?;
            let file = recording.file.clone();
            (Some(recording), Some(file))
        }
        _ => (None, None),
    };
    let store = new.store.open()?;
    let meter = Arc::new(Meter::new(budgets.budget(), models.with_cost(Spent::default(), &prices)));
    models.connect(&Wrapping { meter: &meter, prices: &prices, file: file.as_ref() });
    let served = request.served(served, Usage::default());
    options.memory = memory::visible_now(&store, &new.agent, cases.suite.name())?;
    let memory = memory::memory(&store, &new.agent, cases.suite.name(), options.memory)?;
    let row = NewRow {
        agent: &agent,
        cases: &cases.cases,
        named: cases.named,
        repeats: new.repeats,
        options: &options,
        budgets: &budgets,
        command_line: &new.command_line,
    };
    let (id, budgets) = row.create(&store, world)?;
    // From now on no other process can resume or delete it.
    store.hold([id.as_str()]).map_err(CampaignError::from)?;
    if new.label.is_some() {
        store.set_label(&id, new.label.as_deref()).map_err(CampaignError::from)?;
    }
    if let Some(recording) = &recording {
        let note = CampaignNote::new(&id, &agent, &options, new.repeats.get(), &cases);
        recording.write_campaign(&note, memory.as_ref(), &cases.cases).map_err(CampaignError::from)?;
    }
    // A program mostly asks its model with tools.
    let is_asked_with_tools = new.agent.is_program() || new.agent.is_service() || new.agent.calls_tools();
    let to_check = if new.is_checked { models.to_be_checked() } else { Vec::new() };
    let meter = (!models.names().is_empty()).then_some(meter);
    let Cases { suite, cases, .. } = cases;
    let (repeats, token) = (new.repeats, world.token());
    let parts = Parts { id, agent, suite, cases, repeats, options, secrets, token, memory };
    let bare = parts.prepared(store)?;
    Ok(Prepared {
        began,
        served,
        budgets,
        asked: models.found(),
        to_check,
        is_asked_with_tools,
        reads_text_calls: new.agent.options().is_some_and(|options| options.text_calls == Some(true)),
        meter,
        recording,
        ..bare
    })
}

impl RequestedCampaign {
    /// The options to store, if everything in the request fits together.
    pub(crate) fn options<W: World>(
        &self,
        request: &AgentRequest<'_, W>,
        agent: &AgentUnderTest,
        made: &Cases,
        answers: Answers,
    ) -> Result<StoredOptions, W::Error> {
        let Cases { suite, cases, synthesis, .. } = made;
        let count = cases.len();
        let runs = count as u64 * u64::from(self.repeats.get());
        if runs > RUNS_MAX {
            let what = format!(
                "--repeat {} makes {runs} runs of {count} cases; a campaign has at most {RUNS_MAX} runs",
                self.repeats
            );
            return Err(CampaignError::usage(what).into());
        }
        if agent.guarded && !cases.iter().any(|case| case.guard().is_some()) {
            let what = format!(
                "the suite {} has no guard for these cases: name the agent without {GUARD_PREFIX}",
                suite.name()
            );
            return Err(CampaignError::usage(what).into());
        }
        let takes_calls = |case: &Arc<dyn Case>| case.calls_needed().is_some_and(|calls| calls > 0);
        if !agent.agent.can_call() && cases.iter().all(takes_calls) {
            let what = format!(
                "{} answers without calling tools, and these cases cannot be done without calls: name an agent that calls \
                 tools, such as tools@MODEL or react@MODEL",
                agent.name
            );
            return Err(CampaignError::usage(what).into());
        }
        let is_played = self.agent.of_suite().is_some();
        if let Some(case) = cases.iter().find(|case| !case.later().is_empty())
            && !is_played
            && !agent.agent.can_converse()
        {
            let why = match agent.name.starts_with("url:") {
                true => {
                    "the body that it is sent has no {messages}, in which they would stand; write it into --body"
                }
                false => {
                    "it is over with its first answer; name one that carries a conversation: tools@MODEL, \
                     tools-cot@MODEL, responses@MODEL, worker:COMMAND or url:URL"
                }
            };
            let what = format!(
                "case {} has later messages of the user, and {} takes none: {why}",
                case.card().id,
                agent.name
            );
            return Err(CampaignError::usage(what).into());
        }
        if let Some(limits) = &self.fail_over {
            must_be_defined(limits, cases)?;
        }
        if let Some(name) = self.agent.of_suite()
            && !suite.agents().iter().any(|agent| agent.name == name)
        {
            let known: Vec<&str> = suite.agents().iter().map(|agent| agent.name).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            let what = format!("the suite {} has no agent `{name}` of its own; it has {known}", suite.name());
            return Err(CampaignError::usage(what).into());
        }
        if let Some(name) = self.agent.of_suite() {
            let refused = cases.iter().find_map(|case| case.can_be_played(name).err());
            if let Some(error) = refused {
                return Err(CampaignError::usage(error.to_string()).into());
            }
        }
        request.world.warn_of_tools(&self.agent, cases)?;
        let limits = RunLimits {
            iterations: self.iterations.unwrap_or(RunLimits::default().iterations),
            iterations_follow_case: self.iterations.is_none(),
            ..RunLimits::default()
        };
        let needed = cases.iter().filter_map(|case| case.calls_needed()).max().unwrap_or_default();
        let turns_per_call = agent.agent.turns_per_call();
        let highest = limits.for_case(Some(needed), turns_per_call).iterations;
        // The turns of the calls, and one for the answer.
        if needed.saturating_mul(turns_per_call) >= highest {
            request.world.note(&format!(
                "note: a right agent may need {needed} calls in one of these cases, for which --iterations {highest} leaves \
                 no room; such runs can end as timeouts"
            ));
        } else if highest > limits.iterations {
            request.world.note(&format!(
                "note: some of these cases may need more than {} model turns; the limit of a run follows from its case: up to \
                 {highest} turns",
                limits.iterations
            ));
        }
        let is_external = !agent.agent.is_in_process();
        let default = if is_external { CONCURRENCY_EXTERNAL } else { CONCURRENCY_IN_PROCESS };
        let concurrency = self.concurrency.or(NonZeroUsize::new(default)).unwrap_or(NonZeroUsize::MIN);
        request.allow_open_files(agent, concurrency.get().min(runs as usize))?;
        let mut options = StoredOptions {
            suite: self.suite.clone(),
            seed_is_secret: self.seed_is_secret,
            concurrency_is_default: self.concurrency.is_none(),
            reply_tokens: Some(self.reply_tokens),
            serve_model: self.serve_model.clone(),
            think: self.think,
            program: self.program.absolute()?,
            answers,
            limit: self.limit,
            until_decided: self.until_decided,
            fail_over: self.fail_over,
            guard: self.guard.clone(),
            of_suite: self.of_suite.clone(),
            iterations_follow_case: limits.iterations_follow_case,
            ..StoredOptions::new(self.seed, concurrency, self.timeout, limits.iterations)
        };
        options.set_synthesis(*synthesis);
        options.set_made_from(request.world.made_from(&self.agent)?);
        options.prompts = Some(request.world.prompts());
        Ok(options)
    }
}

/// Makes sure that limits on what runs take say something about each of these cases.
pub(crate) fn must_be_defined(limits: &EffortLimits, cases: &[Arc<dyn Case>]) -> Result<(), CampaignError> {
    for case in cases {
        if let Some(limit) = limits.undefined(case.card().needed) {
            let name = limit.split('=').next().unwrap_or_default();
            return Err(CampaignError::usage(format!(
                "--fail-over {limit}: nobody knows how many {name} case {} needs: name a number instead, as in {name}=12",
                case.card().id
            )));
        }
    }
    Ok(())
}
