//! The suite.

use std::sync::Arc;

use planproof_suite::{
    Card, Case, CaseError, CaseSelection, ClassInfo, Columns, Data, FlagInfo, Judged, Metric, OptionForm,
    OptionUse, PredictionVerdicts, Section, SizeUnit, Suite, SuiteOption,
};

use crate::case::{MakeEvaluationTools, NAME, TptuCase};
use crate::evaluation::PaperEvaluation;
use crate::question::{ToolQuestion, own, read};
use crate::{fault, figures, judge, predictions};

/// The options of the suite.
static OPTIONS: [SuiteOption; 1] = [SuiteOption {
    name: "evaluation",
    form: OptionForm::Word,
    of: &[OptionUse::Chosen],
    value: "NAME",
    help: "Take only cases for this evaluation of the paper, as in `simple-sql`",
    details: "",
}];

/// Questions that require SQL and Python, in all or some evaluations of the paper.
#[derive(Clone)]
pub struct Tptu {
    evaluations: Vec<PaperEvaluation>,
    tools: Option<MakeEvaluationTools>,
}

impl Default for Tptu {
    fn default() -> Self {
        Self::new()
    }
}

impl Tptu {
    /// The suite with all evaluations. Its runs have only the tool `sql` until [`with_tools`](Self::with_tools) adds
    /// others, so that questions that require Python cannot be solved.
    pub fn new() -> Self {
        Self { evaluations: PaperEvaluation::ALL.into(), tools: None }
    }

    /// The same, with tools beside `sql`.
    #[must_use]
    pub fn with_tools(mut self, tools: MakeEvaluationTools) -> Self {
        self.tools = Some(tools);
        self
    }

    /// The same, with cases of these evaluations alone.
    #[must_use]
    pub fn with_evaluations(mut self, evaluations: impl IntoIterator<Item = PaperEvaluation>) -> Self {
        self.evaluations = evaluations.into_iter().collect();
        self
    }

    fn case(&self, case: TptuCase) -> Arc<dyn Case> {
        Arc::new(match &self.tools {
            Some(tools) => case.with_tools(Arc::clone(tools)),
            None => case,
        })
    }

    /// The cases of the questions: one evaluation after the other, in the order of the paper.
    fn cases(&self, questions: &[ToolQuestion]) -> Result<Vec<TptuCase>, CaseError> {
        // In the order of the paper, in whatever order they were chosen.
        let evaluations = PaperEvaluation::ALL.into_iter().filter(|it| self.evaluations.contains(it));
        let asked = evaluations.flat_map(|evaluation| {
            let asked = questions.iter().filter(move |question| question.evaluations.contains(&evaluation));
            asked.map(move |question| TptuCase::new(question.clone(), evaluation))
        });
        asked.collect()
    }
}

impl Suite for Tptu {
    fn name(&self) -> &'static str {
        NAME
    }

    fn about(&self) -> &'static str {
        "plans for SQL and Python, their statements and code, and answers from both (TPTU)"
    }

    fn read(&self, line: &str) -> Result<Arc<dyn Case>, CaseError> {
        Ok(self.case(TptuCase::read(line)?))
    }

    /// A file of questions about the same eight tables; without data the 120 of our own.
    fn load(
        &self,
        data: Option<Data<'_>>,
        selection: &CaseSelection,
        limit: Option<usize>,
    ) -> Result<Vec<Arc<dyn Case>>, CaseError> {
        let questions = match data {
            Some(Data { text, file }) => read(text, file),
            None => own(),
        };
        let cases = self.cases(&questions.map_err(CaseError::new)?)?;
        Ok(selection.take(cases, limit)?.into_iter().map(|case| self.case(case)).collect())
    }

    fn options(&self) -> &'static [SuiteOption] {
        &OPTIONS
    }

    /// The option is `evaluation`, which selects the cases of [`load`](Self::load).
    fn with_options(&self, options: &[(&str, &str)]) -> Result<Option<Arc<dyn Suite>>, CaseError> {
        let mut suite = None;
        for (name, value) in options {
            if *name != "evaluation" {
                let what =
                    format!("predictions of {NAME} are scored in one way only, not with {name}={value}");
                return Err(CaseError::new(what));
            }
            let found = PaperEvaluation::find(value).ok_or_else(|| {
                let known = PaperEvaluation::ALL.map(PaperEvaluation::name).join(", ");
                CaseError::new(format!("there is no --evaluation {value}: write one of {known}"))
            })?;
            suite = Some(Arc::new(self.clone().with_evaluations([found])) as Arc<dyn Suite>);
        }
        Ok(suite)
    }

    fn score(&self, cases: &[Arc<dyn Case>], given: Data<'_>) -> Result<PredictionVerdicts, CaseError> {
        predictions::score(cases, given)
    }

    fn classes(&self) -> &'static [ClassInfo] {
        &fault::CLASSES
    }

    fn flags(&self) -> &'static [FlagInfo] {
        &judge::FLAGS
    }

    fn unit(&self) -> SizeUnit {
        SizeUnit { one: "sub-task", many: "sub-tasks" }
    }

    fn score_names(&self) -> &'static [&'static str] {
        &judge::SCORE_NAMES
    }

    fn columns(&self) -> Columns {
        Columns {
            of_case: &[("evaluation", "What has to be produced."), ("gold", "What is right.")],
            of_run: &[
                ("found", "The plan, the statement, the value or the answer that was judged."),
                ("faults", "What is wrong with it."),
                ("calls", "Calls of tools."),
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
