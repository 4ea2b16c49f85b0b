//! TravelPlanner as a suite: an agent plans a trip that a user asks for in words.
//!
//! # Module layout
//!
//! A query with its options (`suite/task.rs`), as a case (`suite/case.rs`), the prompts (`suite/prompt.rs`), the
//! tools (`suite/toolbox.rs`), the plan in an answer (`suite/answer.rs`), the verdict (`suite/judge.rs`), its
//! document (`suite/detail.rs`) and its explanation (`suite/explain.rs`), classes and flags (`suite/classes.rs`),
//! fields of queries (`suite/fields.rs`), the rules of the published loop (`suite/stop.rs`), and what the managers
//! of teams passed on (`suite/manager.rs`). Figures over many runs (`suite/figures.rs`, `suite/parts.rs`) by the
//! bits of cards (`suite/marks.rs`), published figures (`suite/published.rs`), and who sees what (`suite/arms.rs`).
//! The input of simulated models (`suite/gold.rs`), agents without a model (`suite/agents.rs`, `suite/greedy.rs`),
//! published data (`suite/data.rs`), our own reference information (`suite/reference.rs`), roles of a team
//! (`suite/team.rs`), and finished plans (`suite/predictions.rs`).

mod agents;
mod answer;
mod arms;
mod case;
mod classes;
mod data;
mod detail;
mod explain;
mod fields;
mod figures;
mod gold;
mod greedy;
mod judge;
mod manager;
mod marks;
mod parts;
mod predictions;
mod prompt;
mod published;
mod reference;
mod stop;
mod task;
mod team;
mod toolbox;

use std::path::Path;
use std::sync::Arc;

use planproof_suite::rows::read_places;
use planproof_suite::{
    AgentCard, Card, Case, CaseError, CaseSelection, Class, ClassInfo, Columns, Data, FlagInfo, Judged,
    Metric, OptionForm, OptionUse, OwnedData, PredictionVerdicts, Section, SizeUnit, Suite, SuiteAgent,
    SuiteOption,
};

pub use answer::{ANSWER_BYTES_MAX, object_in, plan_in};
pub use case::{OpenTables, TripCase};
pub use data::{PublishedSet, TextFile};
pub use detail::{Checked, ListedFinding, TripDetail, VERDICT_SCHEMA};
pub use fields::{FIELDS, compare, of_query};
pub use greedy::plan as greedy_plan;
pub use prompt::HINTS;
pub use published::{
    PublishedRates, RATE_NAMES, RECOMPUTED, checks as published_checks, rates as published_rates,
};
pub use stop::Stop;
pub use task::{CASE_SCHEMA, Folder, NAME, OWN_SET, QueryMode, QueryOptions, ReferenceInformation, TripTask};
pub use team::{ROLES, ROLES_NAME, ROLES_WITH_HINTS_NAME, ShippedRoles};

use crate::TripCompat;
use crate::own;
use crate::query::Level;

/// Maximum number of passing plans that a page shows.
const PASSED_SHOWN: usize = 20;

/// Reads what [`Suite::load`] takes of a folder; the set is the one that is asked for.
pub type ReadSet = Arc<dyn Fn(&Path, Option<&str>) -> Result<OwnedData, CaseError> + Send + Sync>;

/// The kind of the agent that works with the notebook and the planner of the sandbox.
const TWO_STAGE_AGENT: &str = "two-stage";

/// The kind of an agent that is a team.
const TEAM: &str = "team";

/// An option whose value is a word.
const fn word(
    name: &'static str,
    of: &'static [OptionUse],
    value: &'static str,
    help: &'static str,
    details: &'static str,
) -> SuiteOption {
    SuiteOption { name, form: OptionForm::Word, of, value, help, details }
}

/// The options of the suite.
static OPTIONS: [SuiteOption; 6] = [
    SuiteOption {
        name: "days",
        form: OptionForm::Count,
        of: &[OptionUse::Chosen],
        value: "N",
        help: "Take only cases with trips of this many days",
        details: "",
    },
    SuiteOption::level("For `travelplanner`: `easy`, `medium` or `hard`."),
    word("set", &[OptionUse::Data], "SET", "Queries of the folder: `train`, `validation` or `test`", ""),
    word(
        "mode",
        &[OptionUse::Asked],
        "MODE",
        "Task for agents: `two-stage`, `sole-planning` or `reading`",
        "`two-stage`: plan with the tools of the sandbox. `sole-planning`: plan from a prompt that contains all the \
         information needed. `reading`: write the fields of the query, and no plan.",
    ),
    word(
        "hints",
        &[OptionUse::Asked],
        "WHETHER",
        "Whether planners get two unconventional hints: `on` or `off` (the default)",
        "The hints are those of the paper on collaborating agents.",
    ),
    SuiteOption::compat(&[OptionUse::Judged, OptionUse::Scored]),
];

/// The suite.
#[derive(Clone, Default)]
pub struct TravelPlanner {
    options: QueryOptions,
    /// Selects queries with this number of days.
    days: Option<usize>,
    /// Selects queries of this level.
    level: Option<Level>,
    /// The set of the published data that is wanted.
    set: Option<String>,
    open: Option<OpenTables>,
    read: Option<ReadSet>,
}

impl TravelPlanner {
    /// The same suite with a function that opens tables in folders. Without it, only our own tables are available.
    #[must_use]
    pub fn with_tables(mut self, open: OpenTables) -> Self {
        self.open = Some(open);
        self
    }

    /// The same suite with a function that reads published data.
    #[must_use]
    pub fn with_folders(mut self, read: ReadSet) -> Self {
        self.read = Some(read);
        self
    }

    fn case(&self, task: TripTask) -> TripCase {
        TripCase::new(task, self.open.clone())
    }

    /// Our own queries.
    fn own(&self) -> Result<Vec<TripTask>, CaseError> {
        let queries = own::queries().map_err(CaseError::new)?;
        let tasks = queries.into_iter().map(|query| TripTask::new(OWN_SET, self.options, query));
        if self.options.mode != QueryMode::SolePlanning {
            return Ok(tasks.collect());
        }
        let database = own::database().map_err(CaseError::new)?;
        let with_reference =
            |task: TripTask| TripTask { reference: Some(reference::of(&database, &task.query)), ..task };
        Ok(tasks.map(with_reference).collect())
    }

    /// The same suite with one more option.
    fn with_option(mut self, name: &str, value: &str) -> Result<Self, CaseError> {
        let wrong = |known: &str| Err(CaseError::new(format!("there is no --{name} {value}: write {known}")));
        match name {
            "compat" => match value {
                "original" => self.options.compat = TripCompat::Original,
                "right" => self.options.compat = TripCompat::Right,
                _ => return wrong("original or right"),
            },
            "mode" => match QueryMode::ALL.into_iter().find(|mode| mode.name() == value) {
                Some(mode) => self.options.mode = mode,
                None => return wrong("two-stage, sole-planning or reading"),
            },
            "hints" => match value {
                "on" | "off" => self.options.hints = value == "on",
                _ => return wrong("on or off"),
            },
            "days" => match value.parse() {
                Ok(days) if (1..=crate::query::DAYS_MAX).contains(&days) => self.days = Some(days),
                _ => return wrong("a number of days such as 3"),
            },
            "level" => match Level::ALL.into_iter().find(|level| level.name() == value) {
                Some(level) => self.level = Some(level),
                None => return wrong("easy, medium or hard"),
            },
            "set" => self.set = Some(value.to_owned()),
            other => return Err(CaseError::new(format!("{NAME} has no option `{other}`"))),
        }
        Ok(self)
    }
}

impl Suite for TravelPlanner {
    fn name(&self) -> &'static str {
        NAME
    }

    fn about(&self) -> &'static str {
        "trips that keep to what was asked for and to common sense (TravelPlanner)"
    }

    fn read(&self, line: &str) -> Result<Arc<dyn Case>, CaseError> {
        Ok(Arc::new(self.case(TripTask::read(line)?)))
    }

    /// Loads the text of [`PublishedSet`]; without data, our own queries.
    fn load(
        &self,
        data: Option<Data<'_>>,
        selection: &CaseSelection,
        limit: Option<usize>,
    ) -> Result<Vec<Arc<dyn Case>>, CaseError> {
        let mut tasks = match data {
            None => self.own()?,
            Some(Data { text, file }) => match PublishedSet::of_text(text) {
                Some(published) => published.tasks(self.options)?,
                None => {
                    return Err(CaseError::new(format!(
                        "{file} is no folder: --data takes the published folder, with database and queries in it"
                    )));
                }
            },
        };
        // Before the selection, so that its places and its limit are among the queries that remain.
        tasks.retain(|task| {
            self.days.is_none_or(|days| task.query.days == days)
                && self.level.is_none_or(|level| task.query.level == level)
        });
        let tasks = selection.take(tasks, limit)?;
        Ok(tasks.into_iter().map(|task| Arc::new(self.case(task)) as Arc<dyn Case>).collect())
    }

    fn places(&self, file: Data<'_>) -> Result<Vec<usize>, CaseError> {
        read_places(file.text, file.file).map_err(CaseError::new)
    }

    fn options(&self) -> &'static [SuiteOption] {
        &OPTIONS
    }

    fn data(&self, path: &Path) -> Result<Option<OwnedData>, CaseError> {
        self.read.as_ref().map(|read| read(path, self.set.as_deref())).transpose()
    }

    fn own_kinds(&self) -> &'static [&'static str] {
        &[TWO_STAGE_AGENT]
    }

    /// A team gets the roles of this suite, unless it has others. Only a deciding deliverer gets hints; one that uses
    /// the solver does not. The two-stage agent needs the sandbox, with its notebook and its planner.
    fn agent_options(&self, agent: AgentCard<'_>) -> Result<Vec<(&'static str, String)>, CaseError> {
        let has_tools = self.options.mode == QueryMode::TwoStage;
        if agent.kind == TWO_STAGE_AGENT && !has_tools {
            return Err(CaseError::new(format!(
                "{TWO_STAGE_AGENT} is for {NAME} with --mode {}, whose tools it works with: {} cannot be run on this",
                QueryMode::TwoStage.name(),
                agent.name
            )));
        }
        // A manager that composes its executors needs none from a file.
        let has_roles =
            (agent.option)("roles").is_some() || (agent.option)("compose-executors") == Some("on");
        if agent.kind != TEAM || has_roles || !has_tools {
            return Ok(Vec::new());
        }
        let decides = (agent.option)("deliver").is_none_or(|deliver| deliver == "inference");
        let roles = if self.options.hints && decides { ROLES_WITH_HINTS_NAME } else { ROLES_NAME };
        Ok(vec![("roles", roles.to_owned())])
    }

    /// All options but those that select queries become part of the cases that [`load`](Self::load) returns.
    fn with_options(&self, options: &[(&str, &str)]) -> Result<Option<Arc<dyn Suite>>, CaseError> {
        if options.is_empty() {
            return Ok(None);
        }
        let with = |suite: Self, (name, value): &(&str, &str)| suite.with_option(name, value);
        Ok(Some(Arc::new(options.iter().try_fold(self.clone(), with)?)))
    }

    /// Lines of the published form, `{"idx": 1, "query": "...", "plan": [...]}`.
    fn score(&self, cases: &[Arc<dyn Case>], predictions: Data<'_>) -> Result<PredictionVerdicts, CaseError> {
        predictions::score(cases, &|task| self.case(task.clone()), predictions)
    }

    fn classes(&self) -> &'static [ClassInfo] {
        &classes::CLASSES
    }

    fn flags(&self) -> &'static [FlagInfo] {
        &classes::FLAGS
    }

    fn can_occur(&self, class: Class, cards: &mut dyn Iterator<Item = &Card>) -> bool {
        // All cases of a campaign have the same mode, so the first card is enough.
        let is_reading =
            cards.next().is_some_and(|card| marks::read(card.marks).options.mode == QueryMode::Reading);
        let name = class.as_str();
        match is_reading {
            true => classes::is_of_reading(name),
            false => !classes::OF_READING.contains(&name),
        }
    }

    fn unit(&self) -> SizeUnit {
        SizeUnit { one: "day", many: "days" }
    }

    fn score_names(&self) -> &'static [&'static str] {
        &judge::SCORE_NAMES
    }

    fn agents(&self) -> &'static [SuiteAgent] {
        &agents::AGENTS
    }

    fn columns(&self) -> Columns {
        Columns {
            of_case: &[
                ("level", "How hard the query is said to be."),
                ("trip_days", "Days of the trip."),
                ("budget", "Dollars for all people."),
            ],
            of_run: &[
                ("failed", "Checks that do not hold, or fields that are wrong."),
                ("cost", "What the trip costs for all, in dollars."),
                ("calls", "Calls of tools."),
                ("fault", "Why the plan is none at all."),
            ],
        }
    }

    /// A valid trip is worth seeing on a map, too.
    fn passed_shown(&self) -> usize {
        PASSED_SHOWN
    }

    fn metrics(&self, runs: &[Judged<'_>]) -> Vec<Metric> {
        figures::metrics(runs)
    }

    fn sections(&self, runs: &[Judged<'_>], planned: &[Card], _repeats: u32) -> Vec<Section> {
        let _ = planned;
        figures::sections(runs)
    }
}
