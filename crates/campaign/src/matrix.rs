//! Several campaigns in one request: all combinations of agents, models and settings, over the same cases and with
//! one budget. Each is an ordinary campaign of the store. They are created together, and from then on each is
//! resumed: so a matrix that is killed at any moment continues like one that was not.

use std::path::{Path, PathBuf};

use planproof_agents::{AGENT_OPTIONS, AgentSpec};
use planproof_engine::AgentUnderTest;
use planproof_model::prices::Money;
use planproof_store::{CampaignRow, Matrix, NewCampaign, OwnKey, Store};
use planproof_trace::Secrets;
use tokio::time::Instant;

use crate::acts::{self, Owned};
use crate::begin::{Keeping, RequestedCampaign};
use crate::budgets::{self, BudgetOptions, Budgets};
use crate::cases::Cases;
use crate::create::{campaign_id, case_row, milliseconds_now};
use crate::error::CampaignError;
use crate::memory;
use crate::models::{Models, key_needed};
use crate::options::{Answers, StoredOptions};
use crate::put_together::AgentRequest;
use crate::recording::{self, CampaignNote};
use crate::world::World;

/// Most combinations of a matrix.
pub const COMBINATIONS_MAX: usize = 100;

/// Seconds of a minute.
const MINUTE: f64 = 60.0;

/// The parts of an agent's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentNameParts {
    /// The kind, without model and settings.
    pub kind: String,
    /// The model, where the name has one.
    pub model: Option<String>,
    /// The settings, in the order of the name.
    pub settings: Vec<(&'static str, String)>,
}

/// Parses the name of an agent for a table.
pub fn parts(agent: &AgentSpec) -> AgentNameParts {
    let written = |option| Some((option, agent.option_written(option)?.to_owned()));
    let settings: Vec<_> = AGENT_OPTIONS.into_iter().filter_map(written).collect();
    let model = agent.model().map(str::to_owned);
    // A command in the name may have an `@` of its own, so the model is taken from the end.
    let kind = match &model {
        Some(model) => agent.as_str().strip_suffix(model.as_str()).and_then(|kind| kind.strip_suffix('@')),
        None => None,
    };
    let kind = kind.unwrap_or(agent.as_str());
    let places = settings.iter().filter_map(|(option, _)| kind.find(&format!(":{option}=")));
    let kind = places.min().map_or(kind, |place| &kind[..place]).to_owned();
    AgentNameParts { kind, model, settings }
}

/// All combinations of these agents and models with the values of these settings: an agent whose name contains its
/// model, or that has none, is not combined with models; of several settings the first changes slowest. An empty
/// value omits its setting.
///
/// # Errors
/// An agent is invalid, or refuses a setting; a model is useless; two combinations are the same, or there are more
/// than [`COMBINATIONS_MAX`].
pub fn combinations(
    agents: &[String],
    models: &[String],
    settings: &[(&'static str, Vec<String>)],
) -> Result<Vec<AgentSpec>, CampaignError> {
    let each = settings.iter().map(|(_, values)| values.len()).try_fold(1usize, usize::checked_mul);
    let count = each.and_then(|each| each.checked_mul(agents.len())?.checked_mul(models.len().max(1)));
    let too_many = |count: &str| {
        CampaignError::usage(format!(
            "agents, models and settings make {count} combinations; a matrix has at most {COMBINATIONS_MAX}"
        ))
    };
    let mut named: Vec<AgentSpec> = Vec::new();
    let mut takes_models = false;
    for agent in agents {
        match AgentSpec::parse(agent) {
            Ok(whole) => named.push(whole),
            Err(error) if models.is_empty() => {
                let hint = if agent.contains('@') { "" } else { "; or name its model with --model" };
                return Err(CampaignError::usage(format!("{error}{hint}")));
            }
            // It names a model already, so the error is about something else.
            Err(error) if agent.contains('@') => return Err(CampaignError::usage(error.to_string())),
            Err(_) => {
                takes_models = true;
                // Checked before the names are made: a huge request must not fill the memory first.
                if named.len() + models.len() > COMBINATIONS_MAX {
                    return Err(too_many(&count.map_or("countless".to_owned(), |count| count.to_string())));
                }
                for model in models {
                    let name = format!("{agent}@{model}");
                    let parsed = AgentSpec::parse(&name);
                    named.push(parsed.map_err(|error| CampaignError::usage(error.to_string()))?);
                }
            }
        }
    }
    if let (Some(model), false) = (models.first(), takes_models) {
        return Err(CampaignError::usage(format!(
            "--model {model} has no effect: every agent already names its model, or has its own; write the \
             agent without \
             `@`, as in direct"
        )));
    }
    let count = each.and_then(|each| each.checked_mul(named.len()));
    match count {
        Some(count) if count <= COMBINATIONS_MAX => {}
        Some(count) => return Err(too_many(&count.to_string())),
        None => return Err(too_many("countless")),
    }
    let mut all: Vec<AgentSpec> = Vec::new();
    for agent in &named {
        for chosen in choices(settings) {
            let combination = agent.with_options(&chosen).map_err(|error| {
                let keys: Vec<String> = chosen.iter().map(|(key, value)| format!("{key}={value}")).collect();
                CampaignError::usage(format!(
                    "the combination of {agent} with {} is not possible: {error}; leave out the agent or the \
                     setting, or run it separately",
                    keys.join(" and ")
                ))
            })?;
            if all.iter().any(|other| other.as_str() == combination.as_str()) {
                return Err(CampaignError::usage(format!(
                    "the combination {combination} occurs twice: name each agent, model and value once"
                )));
            }
            all.push(combination);
        }
    }
    Ok(all)
}

/// Every choice of one value for each setting.
fn choices(settings: &[(&'static str, Vec<String>)]) -> Vec<Vec<(&'static str, String)>> {
    settings.iter().fold(vec![Vec::new()], |chosen, (key, values)| {
        let with = |before: &Vec<(&'static str, String)>, value: &String| {
            let mut choice = before.clone();
            choice.extend((!value.is_empty()).then(|| (*key, value.clone())));
            choice
        };
        chosen.iter().flat_map(|before| values.iter().map(move |value| with(before, value))).collect()
    })
}

/// A combination that was checked and can be created.
struct Checked {
    id: String,
    agent: AgentUnderTest,
    options: StoredOptions,
}

/// Creates the campaigns of these agents, each like `new` except for its agent, on the cases that `make` returns.
/// Nothing is run. Everything that may be wrong with any of them is checked before the store is touched. Returns the
/// id of the matrix; the id of its campaign number N has the suffix `.N`.
///
/// A recording is written for each campaign, to a file with `.N` inserted before its extension.
///
/// # Errors
/// Something in the request is wrong, or the store or a file fails. The error names the combination.
pub fn begin_matrix<W: World>(
    world: &W,
    new: &RequestedCampaign,
    agents: &[AgentSpec],
    make: impl FnOnce() -> Result<Cases, W::Error>,
) -> Result<String, W::Error> {
    let cases = make()?;
    let budgets = Budgets::of(&new.budgets);
    let prices = budgets.prices(world)?;
    let created_ms = milliseconds_now();
    let matrix = campaign_id(created_ms, world);
    let mut all = Vec::new();
    for (number, agent) in (1..).zip(agents) {
        let each =
            RequestedCampaign { agent: agent.clone(), keeping: new.keeping.of_number(number), ..new.clone() };
        // In a closure, so that whatever is wrong is reported with the combination that it concerns.
        let check = || -> Result<Checked, W::Error> {
            let (serve_model, program) = (each.serve_model.as_deref(), &each.program);
            let request = AgentRequest { world, agent, serve_model, program, guard: new.guard.as_ref() };
            let cache = if let Keeping::Cache(file) = &each.keeping { Some(file.as_path()) } else { None };
            let models = Models::live(world, key_needed(cache));
            if request.is_handed_answers() {
                models.hand(&cases.cases, each.seed);
            }
            // Described and never run: each campaign is resumed from the store.
            let (agent, _) = request.agent(&models)?;
            budgets.check(&models.names(), &prices)?;
            let answers = each.keeping.answers(!models.names().is_empty())?;
            let options = each.options(&request, &agent, &cases, answers)?;
            Ok(Checked { id: format!("{matrix}.{number}"), agent, options })
        };
        all.push(check().map_err(|error| world.about(&format!("combination {number}, {agent}"), error))?);
    }
    let secrets = world.secrets_apart_from(&cases.cases)?;
    // Before the store is opened, because a file that exists is a mistake in the request.
    let mut recordings = Vec::new();
    for Checked { options, .. } in &all {
        recordings.push(match (&options.answers, &new.keeping) {
            (Answers::Record(path), Keeping::Record { force, .. }) => {
                Some(recording::begin(world, path, *force, secrets.clone())?)
            }
            _ => None,
        });
    }
    let store = new.store.open()?;
    for ((Checked { id, agent, options }, name), recording) in all.iter_mut().zip(agents).zip(recordings) {
        // Fixed for all of them now: the lessons of the first campaigns are not for the others.
        options.memory = memory::visible_now(&store, name, cases.suite.name())?;
        let Some(recording) = recording else { continue };
        let memory = memory::memory(&store, name, cases.suite.name(), options.memory)?;
        let note = CampaignNote::new(id, agent, options, new.repeats.get(), &cases);
        recording.write_campaign(&note, memory.as_ref(), &cases.cases).map_err(CampaignError::from)?;
    }
    let held = world.secrets();
    let command_line = held.redact(&new.command_line).into_owned();
    let options: Vec<String> = all.iter().map(|it| it.options.to_json(&held)).collect::<Result<_, _>>()?;
    let prove = |(Checked { id, agent, .. }, options): (&Checked, &String)| {
        let (store, repeats) = (store.path(), new.repeats.get());
        // The budgets are the matrix's. When a campaign is run, it gets what is left of them.
        Owned { store, id, agent: &agent.name, options, repeats }
            .proved(Budgets::default(), world.own_key())?
            .to_json(&held)
    };
    let proofs: Vec<String> = all.iter().zip(&options).map(prove).collect::<Result<_, _>>()?;
    let rows: Vec<NewCampaign<'_>> = all
        .iter()
        .zip(options.iter().zip(&proofs))
        .map(|(Checked { id, agent, .. }, (options, budgets))| NewCampaign {
            id,
            created_ms,
            command_line: &command_line,
            agent: &agent.name,
            model: agent.model.as_deref(),
            simulated: agent.simulated,
            options,
            repeats: new.repeats.get(),
            budgets,
        })
        .collect();
    let cases: Vec<_> = cases.cases.iter().map(case_row).collect();
    let row = Matrix {
        id: matrix.clone(),
        created_ms,
        command_line: command_line.clone(),
        budgets: acts::proved_matrix(store.path(), &matrix, budgets, world.own_key())?.to_json(&held)?,
    };
    store.create_matrix(&row, &rows, &cases)?;
    if new.label.is_some() {
        for row in &rows {
            store.set_label(row.id, new.label.as_deref())?;
        }
    }
    Ok(matrix)
}

impl Keeping {
    /// The same for the campaign of that number: each has a recording of its own.
    fn of_number(&self, number: u32) -> Self {
        match self {
            Self::Record { file, force } => Self::Record { file: numbered(file, number), force: *force },
            other => other.clone(),
        }
    }
}

/// The path with a number before its extension: `r.jsonl` becomes `r.3.jsonl`.
pub fn numbered(path: &Path, number: u32) -> PathBuf {
    match path.extension() {
        Some(end) => path.with_extension(format!("{number}.{}", end.to_string_lossy())),
        None => path.with_extension(number.to_string()),
    }
}

/// The path without the number that [`numbered`] put into it, or as it is.
pub fn unnumbered(path: &Path, number: u32) -> PathBuf {
    let end = path.extension().map(|end| end.to_string_lossy().into_owned()).unwrap_or_default();
    if end == number.to_string() {
        return path.with_extension("");
    }
    let stem = path.with_extension("");
    match stem.extension().is_some_and(|inner| *inner == *number.to_string()) {
        true => stem.with_extension(end),
        false => path.to_owned(),
    }
}

/// A matrix that resumes, and its remaining budget.
pub struct ResumedMatrix {
    pub row: Matrix,
    budgets: Budgets,
    deadline: Option<Instant>,
}

/// What is left of a matrix's budgets.
#[derive(Debug, Clone)]
pub enum Left {
    /// So much, for a campaign as a whole.
    Some(BudgetOptions),
    /// This one is used up.
    Nothing(String),
}

impl ResumedMatrix {
    /// Resumes a matrix, which the user of that secret has begun, or has named. New budgets replace the old ones; the
    /// time counts from `began`.
    ///
    /// # Errors
    /// Its budgets make no sense, or leave nothing for the unfinished part.
    pub fn open(
        store: &Store,
        row: Matrix,
        new: &BudgetOptions,
        began: Instant,
        key: Option<&OwnKey>,
    ) -> Result<Self, CampaignError> {
        let before = Budgets::read(&row.budgets)?;
        let budgets = acts::proved_matrix(store.path(), &row.id, Budgets::of(new).or(&before), key)?;
        let matrix = Self { deadline: budgets.deadline(began), row, budgets };
        let campaigns = store.campaigns_of_matrix(&matrix.row.id)?;
        let is_complete = campaigns.iter().all(is_complete);
        if let (Left::Nothing(budget), false) = (matrix.left(&campaigns, &matrix.row.id)?, is_complete) {
            // Only the name of the option is shown: its placeholder, in capitals, is trimmed.
            let option = match budgets::larger(&budget).trim_end_matches(char::is_uppercase).trim() {
                // A campaign that ended by its time has as much again when it resumes, so no option is named there.
                "" => "--minutes",
                option => option,
            };
            return Err(CampaignError::usage(format!(
                "the budget of {budget} of the matrix is used up: set a larger one with {option}"
            )));
        }
        // Only now: budgets that were refused must not replace the earlier ones. They have no findings, which could
        // hold a secret.
        store.set_matrix_budgets(&matrix.row.id, &matrix.budgets.to_json(&Secrets::none())?)?;
        Ok(matrix)
    }

    /// The remaining budget for the campaign of that id, if these are all: the expenses of the others are subtracted.
    ///
    /// # Errors
    /// The cost of one of them is unknown.
    pub fn left(&self, campaigns: &[CampaignRow], id: &str) -> Result<Left, CampaignError> {
        let BudgetOptions { max_cost, max_tokens, minutes, prices } = self.budgets.asked();
        let (mut own_cost, mut cost) = (Money::default(), Money::default());
        let (mut own_tokens, mut tokens) = (0, 0);
        for campaign in campaigns {
            let spent = budgets::spent(&campaign.progress);
            let taken = spent.usage.input_tokens + spent.usage.output_tokens;
            // Without a budget of money, it does not matter that the cost is unknown.
            let Some(paid) = spent.cost.or(max_cost.is_none().then(Money::default)) else {
                let what = "--max-cost: the cost of the matrix so far is not known; use --max-tokens";
                return Err(CampaignError::usage(what));
            };
            tokens += taken;
            cost = Money::from_picodollars(cost.picodollars().saturating_add(paid.picodollars()));
            if campaign.id == id {
                (own_cost, own_tokens) = (paid, taken);
            }
        }
        let most_cost = self.budgets.cost_max();
        if let Some(most) = most_cost.filter(|most| cost >= *most) {
            return Ok(Left::Nothing(most.to_string()));
        }
        if let Some(most) = max_tokens.filter(|most| tokens >= *most) {
            return Ok(Left::Nothing(format!("{most} tokens")));
        }
        let minutes = match self.deadline {
            None => minutes,
            Some(deadline) => match deadline.checked_duration_since(Instant::now()) {
                Some(left) if !left.is_zero() => Some(left.as_secs_f64() / MINUTE),
                _ => return Ok(Left::Nothing(self.budgets.time())),
            },
        };
        // A campaign's meter begins with the campaign's own expenses, so only those of the others are subtracted.
        let others = cost.picodollars() - own_cost.picodollars();
        let max_cost = most_cost.map(|most| Money::from_picodollars(most.picodollars() - others).dollars());
        let max_tokens = max_tokens.map(|most| most - (tokens - own_tokens));
        Ok(Left::Some(BudgetOptions { max_cost, max_tokens, minutes, prices }))
    }

    /// The budget of the matrix that limited a campaign's budget, which was exhausted.
    pub fn ended_by(&self, campaign: &str) -> String {
        let BudgetOptions { max_tokens, .. } = self.budgets.asked();
        match (self.budgets.cost_max(), max_tokens) {
            (Some(most), _) if campaign.ends_with(" USD") => most.to_string(),
            (_, Some(most)) if campaign.ends_with(" tokens") => format!("{most} tokens"),
            _ => self.budgets.time(),
        }
    }
}

/// Whether every run of a campaign has a score.
pub fn is_complete(campaign: &CampaignRow) -> bool {
    campaign.passed + campaign.failed == campaign.total()
}
