//! A query as a case.

use std::fmt;
use std::sync::{Arc, LazyLock};

use planproof_suite::{
    Card, Case, CaseError, EventNote, Explanation, Gold, PublishedPrediction, Toolbox, Unscored, Verdict,
};
use planproof_trace::Event;
use serde_json::{Map, Value, json};

use super::task::{CASE_SCHEMA, Folder, QueryMode, TripTask};
use super::toolbox::SandboxTools;
use super::{agents, explain, gold, judge, marks, prompt};
use crate::own;
use crate::query::Query;
use crate::tables::TripDatabase;

/// Opens the tables in a folder, and verifies their digest. It may cache them.
pub type OpenTables = Arc<dyn Fn(&Folder) -> Result<Arc<TripDatabase>, CaseError> + Send + Sync>;

/// Our own tables.
static OWN: LazyLock<Result<Arc<TripDatabase>, String>> =
    LazyLock::new(|| own::database().map(Arc::new).map_err(|error| error.to_string()));

/// A query with everything that the engine needs.
#[derive(Clone)]
pub struct TripCase {
    task: TripTask,
    prompt: String,
    card: Card,
    open: Option<OpenTables>,
}

impl fmt::Debug for TripCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TripCase").field("task", &self.task).finish_non_exhaustive()
    }
}

impl TripCase {
    /// Creates a case from a query. Without `open` it can be judged only on our own tables.
    pub fn new(task: TripTask, open: Option<OpenTables>) -> Self {
        let query = &task.query;
        let detail_sizes = [query.visiting_city_number, constraints_of(query)];
        let card = Card {
            label: format!("{}, {} days", query.level.name(), query.days),
            marks: marks::of(&task),
            ..Card::counted(task.id(), query.days, detail_sizes)
        };
        let prompt = prompt::of(&task);
        Self { task, prompt, card, open }
    }

    /// The query with its options.
    pub fn task(&self) -> &TripTask {
        &self.task
    }

    /// The tables.
    ///
    /// # Errors
    /// They cannot be opened, or have changed since the case was created.
    pub fn database(&self) -> Result<Arc<TripDatabase>, CaseError> {
        match (&self.task.tables, &self.open) {
            (None, _) => OWN.as_ref().map(Arc::clone).map_err(CaseError::new),
            (Some(folder), Some(open)) => open(folder),
            (Some(folder), None) => {
                Err(CaseError::new(format!("the tables of {} are not at hand here", folder.path)))
            }
        }
    }
}

/// The number of a query's constraints besides its budget.
fn constraints_of(query: &Query) -> usize {
    let local = &query.local_constraint;
    [
        local.house_rule.is_some(),
        local.cuisine.is_some(),
        local.room_type.is_some(),
        local.transportation.is_some(),
    ]
    .into_iter()
    .filter(|it| *it)
    .count()
}

impl Case for TripCase {
    fn card(&self) -> &Card {
        &self.card
    }

    fn prompt(&self) -> &str {
        &self.prompt
    }

    fn to_line(&self) -> String {
        self.task.to_line()
    }

    /// Excludes the location of the tables, but not their content.
    fn identity(&self) -> String {
        let digest = self.task.tables.as_ref().map(|folder| &folder.digest);
        json!([CASE_SCHEMA, self.prompt, self.task.options, digest, self.task.query]).to_string()
    }

    fn toolbox(&self) -> Result<Arc<dyn Toolbox>, CaseError> {
        Ok(Arc::new(SandboxTools::new(self.database()?, self.task.options)))
    }

    fn judge(&self, events: &[Event]) -> Result<Verdict, Unscored> {
        judge::judge(self, events)
    }

    fn explain(&self, verdict: &Verdict) -> Explanation {
        explain::explain(self, verdict)
    }

    fn notes(&self, verdict: &Verdict, events: &[Event]) -> Option<Vec<EventNote>> {
        Some(explain::notes(verdict, events))
    }

    fn essence(&self, verdict: &Verdict) -> String {
        explain::essence(verdict)
    }

    /// A line `{"idx": .., "query": .., "plan": [..] or null}`; the fields of a query have no published form.
    fn published_prediction(&self, events: &[Event]) -> Option<PublishedPrediction> {
        let Query { idx, query, .. } = &self.task.query;
        (self.task.options.mode != QueryMode::Reading).then(|| {
            let plan = judge::plan_of(self, events);
            PublishedPrediction::Line(json!({ "idx": idx, "query": query, "plan": plan }))
        })
    }

    fn target(&self) -> String {
        match self.task.options.mode {
            QueryMode::Reading => super::fields::of_query(&self.task.query).to_string(),
            QueryMode::TwoStage | QueryMode::SolePlanning => "a plan of which all checks hold".to_owned(),
        }
    }

    fn gold(&self) -> Option<Gold> {
        if self.task.unjudged { None } else { gold::of(self) }
    }

    fn act(&self, agent: &str, seed: u64) -> Option<Result<Gold, CaseError>> {
        agents::act(self, agent, seed)
    }

    fn cells(&self) -> Vec<String> {
        let query = &self.task.query;
        let budget = if self.task.unjudged { String::new() } else { format!("{:.0}", query.budget) };
        vec![query.level.name().to_owned(), query.days.to_string(), budget]
    }

    fn run_cells(&self, verdict: &Verdict) -> Vec<String> {
        explain::run_cells(verdict)
    }

    fn metadata(&self, verdict: Option<&Verdict>) -> Map<String, Value> {
        explain::metadata(self, verdict)
    }
}
