//! API-Bank as a suite: tasks of level 3, in which an agent searches for the tools that it needs, calls them one
//! after the other, and reports the result.
//!
//! The agent is free-running, as in the paper on collaborating agents (PMC, section 5.1), and judged by that
//! paper's figures (see [`crate::level3::metrics`]). Our own tasks come from [`crate::level3::generate`], which
//! executes each gold call to verify it.
//!
//! # Module layout
//!
//! Calls of levels 1 and 2 are cases as well: a conversation up to a call, which the agent writes as text. They are
//! judged as in [`crate::evaluate`]. `suite/calls.rs` has a call as a case, and `suite/dialogues.rs` creates such
//! cases from the published dialogues.
//!
//! A task as a case (`suite/case.rs`), classes and flags (`suite/classes.rs`), its tools (`suite/toolbox.rs`), the
//! verdict (`suite/judge.rs`) and its explanation (`suite/explain.rs`), figures over many runs and published
//! figures (`suite/figures.rs`), and finished predictions (`suite/predictions.rs`, those in the published forms for
//! level 3 in `suite/forced.rs`). `suite/published_tasks.rs` creates cases from the published tasks, and
//! `suite/team.rs` has roles for teams.

mod calls;
mod case;
mod classes;
mod dialogues;
mod explain;
mod figures;
mod forced;
mod judge;
mod predictions;
mod published_tasks;
mod team;
mod toolbox;

use std::path::Path;
use std::sync::Arc;

use planproof_suite::rows::{lines, read_places};
use planproof_suite::{
    Card, Case, CaseError, CaseSelection, Class, ClassInfo, Columns, Data, FlagInfo, Judged, Metric,
    OptionUse, OwnedData, PredictionVerdicts, Section, SizeUnit, Suite, SuiteOption,
};

pub use calls::{CALL_BYTES_MAX, CALL_SCHEMA, CALL_VERDICT_SCHEMA, CallCase};
pub use case::TaskCase;
pub use classes::NAME;
pub use dialogues::{DialogueFile, PublishedDialogues};
pub use judge::{ApiDetail, CALLS_KEPT_MAX, RatedCall, TEXT_CHARACTERS_MAX, VERDICT_SCHEMA};
pub use published_tasks::PublishedTasks;
pub use team::{ROLES, ROLES_NAME, TaskRoles};

use crate::level3::generate::Generator;
use crate::level3::original::PUBLISHED_KIND;
use crate::level3::task::UserTask;
use classes::{CLASSES, FLAGS, OF_CALLS, OF_TASKS};

/// The default number of our own tasks.
const OWN_TASKS: usize = 50;

/// Maximum number of our own tasks created at once.
const OWN_TASKS_MAX: usize = 10_000;

/// The seed of our own tasks.
const OWN_SEED: u64 = 7;

/// The level of tasks; those below are of calls.
const TASKS_LEVEL: u32 = 3;

/// Reads what [`Suite::load`] takes of a file or folder; the level is the one that is asked for.
pub type ReadFolder = Arc<dyn Fn(&Path, Option<u32>) -> Result<OwnedData, CaseError> + Send + Sync>;

/// The options of the suite.
static OPTIONS: [SuiteOption; 2] =
    [SuiteOption::level("For `apibank`: `1`, `2` or `3`."), SuiteOption::compat(&[OptionUse::Scored])];

/// The suite.
#[derive(Clone, Default)]
pub struct ApiBank {
    /// Judges finished predictions as the published evaluators do.
    is_original: bool,
    /// Selects cases of this level.
    level: Option<u32>,
    read: Option<ReadFolder>,
}

impl ApiBank {
    /// The same suite, with a function that reads the published data.
    #[must_use]
    pub fn with_folders(self, read: ReadFolder) -> Self {
        Self { read: Some(read), ..self }
    }
}

impl Suite for ApiBank {
    fn name(&self) -> &'static str {
        NAME
    }

    fn about(&self) -> &'static str {
        "tasks for several tools, which have to be found first (API-Bank, level 3)"
    }

    fn read(&self, line: &str) -> Result<Arc<dyn Case>, CaseError> {
        match CallCase::is_named_by(line) {
            true => Ok(Arc::new(CallCase::read(line)?)),
            false => Ok(Arc::new(TaskCase::read(line)?)),
        }
    }

    /// Loads lines of tasks as written by [`Case::to_line`], the text of [`PublishedTasks`] or of a `level-3.json`, or
    /// that of [`PublishedDialogues`]; without data, creates 50 tasks of our own, or `limit` if that is larger.
    fn load(
        &self,
        data: Option<Data<'_>>,
        selection: &CaseSelection,
        limit: Option<usize>,
    ) -> Result<Vec<Arc<dyn Case>>, CaseError> {
        // A caller assembles the files of the published data into one text.
        if let Some(published) = data.and_then(|data| PublishedDialogues::of_text(data.text)) {
            let mut calls = published.cases(self.is_original)?;
            // Before the selection, so that its places and its limit are among the cases that remain.
            calls.retain(|call| self.level.is_none_or(|level| call.card().marks == level));
            let calls = selection.take(calls, limit)?;
            return Ok(calls.into_iter().map(|call| Arc::new(call) as Arc<dyn Case>).collect());
        }
        if let Some(level) = self.level.filter(|level| *level != TASKS_LEVEL) {
            let what = format!(
                "calls of level {level} are in the published data alone: name its folder, as in --data api-bank"
            );
            return Err(CaseError::new(what));
        }
        let tasks = match data {
            // At least the default number, so that a sample of fewer is drawn from all of these.
            None => own(limit.unwrap_or(OWN_TASKS).max(OWN_TASKS))?,
            Some(Data { text, file }) => match PublishedTasks::of_text(text) {
                Some(published) => published.cases(file, self.is_original)?,
                None => read_lines(text, file)?,
            },
        };
        let tasks = selection.take(tasks, limit)?;
        Ok(tasks.into_iter().map(|task| task as Arc<dyn Case>).collect())
    }

    fn places(&self, file: Data<'_>) -> Result<Vec<usize>, CaseError> {
        read_places(file.text, file.file).map_err(CaseError::new)
    }

    fn options(&self) -> &'static [SuiteOption] {
        &OPTIONS
    }

    fn data(&self, path: &Path) -> Result<Option<OwnedData>, CaseError> {
        self.read.as_ref().map(|read| read(path, self.level)).transpose()
    }

    fn with_options(&self, options: &[(&str, &str)]) -> Result<Option<Arc<dyn Suite>>, CaseError> {
        let mut suite = self.clone();
        for (name, value) in options {
            match (*name, *value) {
                ("compat", "original") => suite.is_original = true,
                ("compat", other) => {
                    return Err(CaseError::new(format!("there is no --compat {other}: write original")));
                }
                ("level", value) => match value.parse() {
                    Ok(level) if (1..=TASKS_LEVEL).contains(&level) => suite.level = Some(level),
                    _ => return Err(CaseError::new(format!("there is no --level {value}: write 1, 2 or 3"))),
                },
                (other, _) => {
                    return Err(CaseError::new(format!("predictions of {NAME} have no option `{other}`")));
                }
            }
        }
        let is_other = suite.is_original != self.is_original || suite.level != self.level;
        Ok(is_other.then(|| Arc::new(suite) as Arc<dyn Suite>))
    }

    /// For tasks of level 3, lines such as `{"id": "...", "calls": ["[Calculator(formula='1+1')]"], "reply": "..."}`,
    /// or the forms of the published script: `{"sample_id": 0, "api_id": 0, "pred": "[...]"}` for calls and
    /// `{"output": "...", "pred": "..."}` for replies. For calls of levels 1 and 2, the form of the published
    /// evaluator: `{"file": "...", "id": 0, "pred": "[...]"}`.
    fn score(&self, cases: &[Arc<dyn Case>], predictions: Data<'_>) -> Result<PredictionVerdicts, CaseError> {
        // All cases of a file are of one kind, so the first one tells which.
        match cases.first().map(|case| case.to_line()) {
            Some(line) if CallCase::is_named_by(&line) => {
                predictions::score_calls(cases, predictions, self.is_original)
            }
            _ => predictions::score(cases, predictions, self.is_original),
        }
    }

    fn classes(&self) -> &'static [ClassInfo] {
        &CLASSES
    }

    fn flags(&self) -> &'static [FlagInfo] {
        &FLAGS
    }

    fn can_occur(&self, class: Class, mut cards: &mut dyn Iterator<Item = &Card>) -> bool {
        let name = class.as_str();
        // The marks of a card are 0 for a task, and the level for a call.
        match (OF_TASKS.contains(&name), OF_CALLS.contains(&name)) {
            (true, _) => (&mut cards).any(|card| card.marks == 0),
            // The calls of published tasks may be predicted one by one, too.
            (_, true) => (&mut cards).any(|card| card.marks > 0 || card.label == PUBLISHED_KIND),
            _ => true,
        }
    }

    fn unit(&self) -> SizeUnit {
        SizeUnit { one: "call", many: "calls" }
    }

    fn score_names(&self) -> &'static [&'static str] {
        &judge::SCORE_NAMES
    }

    fn columns(&self) -> Columns {
        Columns {
            of_case: &[("kind", "The sort of task."), ("required", "Calls that the task needs.")],
            of_run: &[
                ("calls", "Calls that were made."),
                ("unique", "Needed calls that were made rightly."),
                ("repeats", "Right calls that were made once more."),
                ("rouge_l", "ROUGE-L of the reply against the right one, 0 to 1."),
            ],
        }
    }

    fn metrics(&self, runs: &[Judged<'_>]) -> Vec<Metric> {
        figures::metrics(runs)
    }

    fn sections(&self, runs: &[Judged<'_>], _planned: &[Card], _repeats: u32) -> Vec<Section> {
        figures::sections(runs)
    }
}

/// The first `count` tasks of our own, from a series that never changes.
fn own(count: usize) -> Result<Vec<Arc<TaskCase>>, CaseError> {
    if count > OWN_TASKS_MAX {
        return Err(CaseError::new(format!("at most {OWN_TASKS_MAX} tasks are made at once")));
    }
    let generator = Generator::new();
    let tasks = (0..count as u64).map(|index| generator.task(OWN_SEED, index));
    let tasks = tasks.collect::<Option<Vec<UserTask>>>();
    let tasks = tasks.ok_or_else(|| CaseError::new("no more tasks can be made"))?;
    tasks.into_iter().map(|task| Ok(Arc::new(TaskCase::new(task)?))).collect()
}

/// The tasks of a file, one per line.
fn read_lines(text: &str, file: &str) -> Result<Vec<Arc<TaskCase>>, CaseError> {
    let mut cases = Vec::new();
    for line in lines(text, file) {
        let (number, line) = line.map_err(CaseError::new)?;
        let refuse = |what: String| CaseError::new(format!("{file}:{number}: {what}"));
        let case = TaskCase::read(line).map_err(|error| refuse(error.to_string()))?;
        case.prove().map_err(refuse)?;
        cases.push(Arc::new(case));
    }
    match cases.is_empty() {
        true => Err(CaseError::new(format!("{file}: there are no tasks"))),
        false => Ok(cases),
    }
}
