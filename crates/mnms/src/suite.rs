//! The suite of m&m's.

use std::sync::Arc;

use planproof_suite::{
    Card, Case, CaseError, CaseSelection, Class, ClassInfo, Columns, CombinationFigures, Data, FlagInfo,
    Judged, Metric, OptionForm, OptionUse, PredictionExtras, PredictionVerdicts, Section, SizeUnit, Suite,
    SuiteOption, Toolbox,
};
use planproof_trace::Event;

use crate::case::{NAME, RequestCase};
use crate::evaluation::ScoringRules;
use crate::judge::{CLASSES, FLAGS, MISSING, SCORE_NAMES};
use crate::results::CaseTools;
use crate::scoring::{self, Scoring};
use crate::{data, figures, paper_tables};

/// How many passed runs are shown if their tools are real.
const PASSED_SHOWN: usize = 12;

/// Carries out a program of a finished prediction with these tools. An error says why no program can be carried out.
pub type RunProgram = Arc<dyn Fn(&str, Arc<dyn Toolbox>) -> Result<ProgramRun, CaseError> + Send + Sync>;

/// How a program of a finished prediction was carried out.
#[derive(Debug, Clone)]
pub struct ProgramRun {
    /// A note of an execution, from `planproof_plan::findings`.
    pub note: &'static str,
    /// How it ended, as a sentence.
    pub how: String,
    /// Its calls with their results.
    pub events: Vec<Event>,
}

/// The tools over the servers and folders that a file names, which is read when they are first needed.
pub type OpenMedia = Arc<dyn Fn(&str) -> Arc<dyn CaseTools> + Send + Sync>;

/// The name of the option for the tools.
const MEDIA: &str = "media";

/// An option for finished predictions.
const fn scored(
    name: &'static str,
    (form, value): (OptionForm, &'static str),
    help: &'static str,
    details: &'static str,
) -> SuiteOption {
    SuiteOption { name, form, of: &[OptionUse::Scored], value, help, details }
}

/// The options of the suite.
static OPTIONS: [SuiteOption; 4] = [
    SuiteOption {
        name: MEDIA,
        form: OptionForm::File,
        of: &[OptionUse::Tools],
        value: "FILE",
        help: "TOML file that names servers and folders for the tools",
        details: "Without it these tools are simulated.",
    },
    scored(
        "format",
        (OptionForm::Word, "FORMAT"),
        "Format of the predictions",
        "`json` (lists of nodes) or `code`.",
    ),
    SuiteOption::compat(&[OptionUse::Scored]),
    scored(
        "alternatives",
        (OptionForm::Switch, ""),
        "With `--compat original`, compare each prediction with the right plan that fits it best",
        "By default, `--compat original` counts only the first right plan. Without `--compat original`, the right plan \
         that fits best always counts.",
    ),
];

/// The suite of m&m's.
#[derive(Clone, Default)]
pub struct Mnms {
    tools: Option<Arc<dyn CaseTools>>,
    programs: Option<RunProgram>,
    open: Option<OpenMedia>,
}

impl Mnms {
    /// The suite with tools other than the simulated ones.
    pub fn with_tools(tools: Arc<dyn CaseTools>) -> Self {
        Self { tools: Some(tools), ..Self::default() }
    }

    /// The same suite, which carries out programs among finished predictions to see what they do. Without this they are
    /// read.
    #[must_use]
    pub fn with_programs(self, programs: RunProgram) -> Self {
        Self { programs: Some(programs), ..self }
    }

    /// The same suite, which has these tools for the file of its option `media`. Without this it has no such tools.
    #[must_use]
    pub fn with_media(self, open: OpenMedia) -> Self {
        Self { open: Some(open), ..self }
    }
}

impl Suite for Mnms {
    fn name(&self) -> &'static str {
        NAME
    }

    fn about(&self) -> &'static str {
        "requests that take one to three of 33 multi-modal tools, answered with a plan (m&m's)"
    }

    fn read(&self, line: &str) -> Result<Arc<dyn Case>, CaseError> {
        Ok(Arc::new(RequestCase::read(line)?.with_tools(self.tools.clone())))
    }

    /// Loads the published JSON lines; without data, twelve tasks of our own.
    fn load(
        &self,
        data: Option<Data<'_>>,
        selection: &CaseSelection,
        limit: Option<usize>,
    ) -> Result<Vec<Arc<dyn Case>>, CaseError> {
        let tasks = match data {
            Some(data) => data::read(data)?,
            None => data::own()?,
        };
        let tasks = selection.take(tasks, limit)?;
        Ok(tasks
            .into_iter()
            .map(|task| -> Arc<dyn Case> { Arc::new(task.with_tools(self.tools.clone())) })
            .collect())
    }

    fn options(&self) -> &'static [SuiteOption] {
        &OPTIONS
    }

    fn with_options(&self, options: &[(&str, &str)]) -> Result<Option<Arc<dyn Suite>>, CaseError> {
        let mut suite = None;
        for (name, file) in options {
            let open = self.open.as_ref().filter(|_| *name == MEDIA);
            let open =
                open.ok_or_else(|| CaseError::new(format!("campaigns of {NAME} have no option `{name}`")))?;
            suite = Some(Arc::new(Self { tools: Some(open(file)), ..self.clone() }) as Arc<dyn Suite>);
        }
        Ok(suite)
    }

    fn prepare(&self, cases: &[Arc<dyn Case>]) -> Result<(), CaseError> {
        self.tools.as_ref().map_or(Ok(()), |tools| tools.prepare(cases))
    }

    fn scored_with(&self, options: &[(&str, &str)]) -> Result<Option<Arc<dyn Suite>>, CaseError> {
        let settings = scoring::settings(options)?;
        Ok(Some(Arc::new(Scoring { settings, programs: self.programs.clone() })))
    }

    fn score(&self, cases: &[Arc<dyn Case>], predictions: Data<'_>) -> Result<PredictionVerdicts, CaseError> {
        let scoring = Scoring { settings: scoring::settings(&[])?, programs: self.programs.clone() };
        scoring::score(cases, predictions, &scoring, &PredictionExtras::default())
    }

    fn classes(&self) -> &'static [ClassInfo] {
        &CLASSES
    }

    fn flags(&self) -> &'static [FlagInfo] {
        &FLAGS
    }

    /// A run has a case, and so it is never missing.
    fn can_occur(&self, class: Class, _cards: &mut dyn Iterator<Item = &Card>) -> bool {
        class.as_str() != MISSING
    }

    fn unit(&self) -> SizeUnit {
        SizeUnit { one: "step", many: "steps" }
    }

    fn score_names(&self) -> &'static [&'static str] {
        &SCORE_NAMES
    }

    fn columns(&self) -> Columns {
        Columns {
            of_case: &[
                ("steps", "Steps of the right plan."),
                ("tools", "The tools of the right plan, in its order."),
            ],
            of_run: &[
                ("plan", "The plan that was read, its steps separated by semicolons."),
                ("executed", "How carrying it out went: fine, faulty, unsupported, not or unknown."),
                ("turns", "Replies of the model."),
            ],
        }
    }

    fn metrics(&self, runs: &[Judged<'_>]) -> Vec<Metric> {
        figures::metrics(runs, ScoringRules::Ours)
    }

    /// Real tools produce pictures.
    fn passed_shown(&self) -> usize {
        if self.tools.is_some() { PASSED_SHOWN } else { 0 }
    }

    fn sections(&self, runs: &[Judged<'_>], _planned: &[Card], _repeats: u32) -> Vec<Section> {
        let of_results = figures::results(runs);
        let sections = figures::ways(runs).into_iter().chain(of_results);
        sections.chain(figures::sections(runs, ScoringRules::Ours)).collect()
    }

    fn matrix_sections(&self, combinations: &[CombinationFigures<'_>], _repeats: u32) -> Vec<Section> {
        paper_tables::of_matrix(combinations).into_iter().chain([paper_tables::published()]).collect()
    }
}
