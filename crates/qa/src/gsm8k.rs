//! GSM8K: word problems whose answer is a number.

mod data;
mod explain;
mod figures;
mod judge;
mod predictions;
mod problem;
mod solution;

use std::sync::Arc;

use planproof_suite::{
    Card, Case, CaseError, CaseSelection, ClassInfo, Columns, Data, FlagInfo, Judged, Metric, OptionUse,
    PredictionVerdicts, Section, SizeUnit, Suite, SuiteOption,
};

use crate::scoring::Rules;
pub use crate::scoring::Scoring;
pub use data::{ID_PREFIX, OWN_ID_PREFIX, own, read_data};
pub use judge::{
    ANSWER_CHARACTERS_MAX, CALL_CHARACTERS_MAX, CALLS_KEPT_MAX, CalculatorCall, VERDICT_SCHEMA,
    WordProblemDetail,
};
pub use predictions::score;
pub use problem::{ANSWER_FORM, CASE_BYTES_MAX, CASE_SCHEMA, WordProblem};

/// The suite's name.
pub const NAME: &str = "gsm8k";

/// The classes of failures, by precedence.
pub(crate) static CLASSES: [ClassInfo; 7] = [
    ClassInfo::timeout(0),
    ClassInfo::reply_limit(1),
    ClassInfo::agent_failed(2),
    ClassInfo::unparsed_call(3),
    ClassInfo {
        name: "no_answer",
        meaning: "The agent answered, but the rule of the scoring finds no number in its answer.",
        rank: 4,
    },
    ClassInfo { name: "wrong_answer", meaning: "The number of the answer is not the right one.", rank: 5 },
    ClassInfo::missing(6),
];

/// The flags, in the order in which they are shown.
pub(crate) static FLAGS: [FlagInfo; 4] = [
    FlagInfo { name: "calculator_used", meaning: "A call of the calculator was answered with a value." },
    FlagInfo { name: "calculator_error", meaning: "A call was refused or answered with an error." },
    FlagInfo {
        name: "paper_only",
        meaning: "The answer is right by the paper's rule and wrong by the strict one.",
    },
    FlagInfo {
        name: "strict_only",
        meaning: "The answer is right by the strict rule and wrong by the paper's.",
    },
];

/// The figures of verdicts: whether the strict rule passes the answer, and the number of calls.
const SCORE_NAMES: [&str; 2] = [judge::STRICT_SCORE, judge::CALLS_SCORE];

/// The options of the suite.
static OPTIONS: [SuiteOption; 2] = [Scoring::OPTION, SuiteOption::compat(&[OptionUse::Scored])];

/// The suite of GSM8K.
#[derive(Debug, Clone, Copy)]
pub struct Gsm8k {
    rules: Rules,
}

/// Answers pass by the paper's rule.
impl Default for Gsm8k {
    fn default() -> Self {
        Self { rules: Rules { scoring: Scoring::Paper, is_original: false } }
    }
}

impl Suite for Gsm8k {
    fn name(&self) -> &'static str {
        NAME
    }

    fn about(&self) -> &'static str {
        "word problems of grade-school mathematics, answered with a number (GSM8K)"
    }

    fn read(&self, line: &str) -> Result<Arc<dyn Case>, CaseError> {
        Ok(Arc::new(WordProblem::read(line)?))
    }

    /// The original lines of JSON; without data ten problems of our own.
    fn load(
        &self,
        data: Option<Data<'_>>,
        selection: &CaseSelection,
        limit: Option<usize>,
    ) -> Result<Vec<Arc<dyn Case>>, CaseError> {
        let problems = match data {
            Some(Data { text, file }) => read_data(text, file),
            None => own(),
        };
        let problems = selection.take(problems.map_err(CaseError::new)?, limit)?;
        let case = |problem: WordProblem| -> Arc<dyn Case> { Arc::new(problem.scored(self.rules.scoring)) };
        Ok(problems.into_iter().map(case).collect())
    }

    fn places(&self, file: Data<'_>) -> Result<Vec<usize>, CaseError> {
        planproof_suite::rows::read_places(file.text, file.file).map_err(CaseError::new)
    }

    fn options(&self) -> &'static [SuiteOption] {
        &OPTIONS
    }

    fn with_options(&self, options: &[(&str, &str)]) -> Result<Option<Arc<dyn Suite>>, CaseError> {
        let rules = self.rules.chosen(options, NAME)?;
        Ok((rules != self.rules).then(|| -> Arc<dyn Suite> { Arc::new(Self { rules }) }))
    }

    fn score(&self, cases: &[Arc<dyn Case>], predictions: Data<'_>) -> Result<PredictionVerdicts, CaseError> {
        // The engine knows cases only by their traits, so the problems are read from their lines again.
        let problems = cases
            .iter()
            .map(|case| WordProblem::read(&case.to_line()))
            .map(|problem| Ok(problem?.compared_originally(self.rules.is_original)))
            .collect::<Result<Vec<WordProblem>, _>>()?;
        score(&problems, predictions.text, predictions.file).map_err(CaseError::new)
    }

    fn classes(&self) -> &'static [ClassInfo] {
        &CLASSES
    }

    fn flags(&self) -> &'static [FlagInfo] {
        &FLAGS
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
                ("steps", "Calculations of the worked solution, at least 1."),
                ("gold", "The right answer."),
            ],
            of_run: &[
                ("extracted", "The number of the answer by the paper's rule; empty where it finds none."),
                (
                    "extracted_strict",
                    "The number of the answer by the strict rule; empty where it finds none.",
                ),
                ("strict", "Whether the answer is right by the strict rule: 1 or 0."),
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

#[cfg(test)]
mod tests {
    use planproof_suite::Registry;

    use super::*;

    #[test]
    fn the_suite_can_be_registered() {
        let registry = Registry::new(vec![Arc::new(Gsm8k::default())]).unwrap();
        assert_eq!(registry.find(NAME).unwrap().unit().many, "steps");
    }

    #[test]
    fn scoring_is_an_option_of_predictions() {
        let data = Data { text: "{\"question\":\"Why?\",\"answer\":\"#### 18\"}", file: "data" };
        let passes = |suite: &dyn Suite, prediction: &str| {
            let cases = suite.load(Some(data), &CaseSelection::default(), None).unwrap();
            let text = serde_json::json!({"prediction": prediction}).to_string();
            suite.score(&cases, Data { text: &text, file: "x" }).unwrap().verdicts[0].passed()
        };
        let paper = Gsm8k::default();
        assert!(paper.scored_with(&[("scoring", "paper")]).unwrap().is_none());
        let official = paper.scored_with(&[("scoring", "official")]).unwrap().unwrap();
        for (prediction, by_paper, by_official) in [
            ("#### 18", true, true),
            ("18", true, false),
            ("#### 18/2", false, true),
            ("#### 18.0", true, false),
        ] {
            assert_eq!(passes(&paper, prediction), by_paper, "{prediction}");
            assert_eq!(passes(&*official, prediction), by_official, "{prediction}");
        }
        // The original rules differ only where no number of the published data is.
        // `compat=original` scores as the evaluator of the benchmark's authors does; a named `scoring` replaces it.
        let original = paper.scored_with(&[("compat", "original")]).unwrap().unwrap();
        assert!(!passes(&*original, "18") && passes(&*original, "#### 18/2"));
        assert!(!passes(&*original, "#### 18.0") && passes(&*original, "It is\n#### 18"));
        for options in
            [[("compat", "original"), ("scoring", "paper")], [("scoring", "paper"), ("compat", "original")]]
        {
            let by_paper = paper.scored_with(&options).unwrap().unwrap();
            assert!(passes(&*by_paper, "18") && !passes(&*by_paper, "#### 18/2"));
        }
        assert!(paper.scored_with(&[("compat", "paper")]).is_err());
    }
}
