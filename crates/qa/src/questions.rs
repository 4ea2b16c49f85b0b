//! Open questions with short answers: HotpotQA and TriviaQA.
//!
//! Both are run as in the paper on agents by specification (Crouse et al. 2024, section 4): the agent may search pages,
//! and its short answer is compared with the right one.

mod answer;
mod benchmark;
mod case;
mod data;
mod explain;
mod facts;
mod figures;
mod judge;
mod pages;

use std::collections::HashMap;
use std::sync::Arc;

use planproof_suite::{
    Card, Case, CaseError, CaseSelection, ClassInfo, Columns, Data, FlagInfo, Judged, Metric, OptionForm,
    OptionUse, PredictionVerdicts, Section, SizeUnit, Suite, SuiteOption,
};

pub use answer::{ANSWER_LINE, short_answer};
pub use benchmark::Benchmark;
pub use case::{
    ACCEPTED_MAX, ANSWER_FORM, CASE_BYTES_MAX, FACTS_MAX, QuestionCase, TEXT_BYTES_MAX, TITLES_MAX,
};
pub use data::{own, read_data};
pub use facts::{FactFigures, Figures};
pub use judge::{ANSWER_CHARACTERS_MAX, CALL_CHARACTERS_MAX, CALLS_KEPT_MAX, QuestionDetail};
pub use pages::{MakePageTools, OwnPages};

use crate::scoring::Rules;
pub use crate::scoring::Scoring;
use benchmark::{CLASSES, FLAGS};
use planproof_suite::rows::{matched, read_places};
use planproof_suite::runs::Ended;

/// Makes the tools over a source of pages, which is opened when they are first needed. An error says that there is no
/// such source.
pub type OpenPages = Arc<dyn Fn(&str) -> Result<MakePageTools, CaseError> + Send + Sync>;

/// The name of the option for pages.
const PAGES: &str = "pages";

/// The options of the suites.
static OPTIONS: [SuiteOption; 3] = [
    Scoring::OPTION,
    SuiteOption::compat(&[OptionUse::Scored]),
    SuiteOption {
        name: PAGES,
        form: OptionForm::Source,
        of: &[OptionUse::Tools],
        value: "SOURCE",
        help: "Pages that the tools search",
        details: "`search:FOLDER` or `wiki:URL`, as with `--tools` of `planproof run`. Without `--pages`, questions from \
                  your own data have no tools.",
    },
];

/// The suite of one of the two benchmarks.
#[derive(Clone)]
pub struct Questions {
    benchmark: Benchmark,
    rules: Rules,
    tools: Option<MakePageTools>,
    open: Option<OpenPages>,
}

impl Questions {
    /// The suite of a benchmark, scored officially. Our own questions come with our own pages; those of other data
    /// have no tools until [`with_tools`](Self::with_tools) adds some.
    pub fn new(benchmark: Benchmark) -> Self {
        let rules = Rules { scoring: Scoring::default(), is_original: false };
        Self { benchmark, rules, tools: None, open: None }
    }

    /// The same, with tools for every run, whatever data the questions come from.
    #[must_use]
    pub fn with_tools(mut self, tools: MakePageTools) -> Self {
        self.tools = Some(tools);
        self
    }

    /// The same, which opens pages for its option `pages` so.
    #[must_use]
    pub fn with_pages(mut self, open: OpenPages) -> Self {
        self.open = Some(open);
        self
    }

    /// Whether the official script scores each page of the web half.
    fn scores_pages(&self) -> bool {
        self.benchmark == Benchmark::TriviaQa && self.rules.is_original
    }

    fn question(&self, question: QuestionCase) -> Arc<dyn Case> {
        Arc::new(match &self.tools {
            Some(tools) => question.with_tools(Arc::clone(tools)),
            None => question,
        })
    }
}

/// A case for each page of a question, in the order of the data. A question without pages has none.
fn of_pages(
    questions: &[QuestionCase],
    pages: &HashMap<String, Vec<String>>,
) -> Result<Vec<QuestionCase>, CaseError> {
    let named = questions.iter().flat_map(|question| {
        let pages = pages.get(question.id()).into_iter().flatten();
        pages.map(move |page| question.with_id(&format!("{}--{page}", question.id())))
    });
    named.collect()
}

impl Suite for Questions {
    fn name(&self) -> &'static str {
        self.benchmark.name()
    }

    fn about(&self) -> &'static str {
        match self.benchmark {
            Benchmark::HotpotQa => {
                "questions that need facts of two pages, answered with a few words (HotpotQA)"
            }
            Benchmark::TriviaQa => "questions of quizzes, answered with a few words (TriviaQA)",
        }
    }

    fn read(&self, line: &str) -> Result<Arc<dyn Case>, CaseError> {
        Ok(self.question(QuestionCase::read(self.benchmark, line)?))
    }

    /// The original files; without data ten questions of our own.
    fn load(
        &self,
        data: Option<Data<'_>>,
        selection: &CaseSelection,
        limit: Option<usize>,
    ) -> Result<Vec<Arc<dyn Case>>, CaseError> {
        let questions = match data {
            Some(Data { text, file }) => read_data(self.benchmark, text, file),
            None => own(self.benchmark),
        };
        let mut questions = selection.take(questions.map_err(CaseError::new)?, limit)?;
        if let Some(Data { text, file }) = data.filter(|_| self.scores_pages()) {
            let pages = data::web_pages(text, file).map_err(CaseError::new)?;
            if let Some(pages) = pages {
                questions = of_pages(&questions, &pages)?;
            }
        }
        Ok(questions.into_iter().map(|it| self.question(it.scored(self.rules.scoring))).collect())
    }

    fn places(&self, file: Data<'_>) -> Result<Vec<usize>, CaseError> {
        read_places(file.text, file.file).map_err(CaseError::new)
    }

    fn options(&self) -> &'static [SuiteOption] {
        &OPTIONS
    }

    fn with_options(&self, options: &[(&str, &str)]) -> Result<Option<Arc<dyn Suite>>, CaseError> {
        let (of_tools, of_rules): (Vec<_>, Vec<_>) = options.iter().partition(|(name, _)| *name == PAGES);
        let rules = self.rules.chosen(&of_rules, self.name())?;
        let mut suite = Self { rules, ..self.clone() };
        if let Some((_, source)) = of_tools.last() {
            let open = self.open.as_ref().ok_or_else(|| CaseError::new("this program opens no pages"))?;
            suite.tools = Some(open(source)?);
        }
        let is_other = rules != self.rules || !of_tools.is_empty();
        Ok(is_other.then(|| -> Arc<dyn Suite> { Arc::new(suite) }))
    }

    fn prepare(&self, _cases: &[Arc<dyn Case>]) -> Result<(), CaseError> {
        self.tools.as_ref().map_or(Ok(()), |tools| tools().map(drop))
    }

    /// Lines such as `{"id": "...", "prediction": "..."}`, or the file format of the official scripts: one object
    /// with the answer of each question by its id, for HotpotQA under `answer`, with supporting facts under `sp`.
    fn score(&self, cases: &[Arc<dyn Case>], predictions: Data<'_>) -> Result<PredictionVerdicts, CaseError> {
        // The engine knows cases only by their traits, so the questions are read from their lines again.
        let questions = cases
            .iter()
            .map(|case| QuestionCase::read(self.benchmark, &case.to_line()))
            .map(|question| Ok(question?.compared_originally(self.rules.is_original)))
            .collect::<Result<Vec<QuestionCase>, _>>()?;
        let ids: Vec<&str> = questions.iter().map(QuestionCase::id).collect();
        let Data { text, file } = predictions;
        let facts = match self.benchmark {
            Benchmark::HotpotQa => data::official_facts(text, self.rules.is_original),
            Benchmark::TriviaQa => Ok(None),
        };
        let facts = facts.map_err(|what| CaseError::new(format!("{file}: {what}")))?;
        // The official form is tried first, because read as lines of predictions it would be an error.
        let answers = match data::official_predictions(text) {
            Some(answers) => ids.iter().map(|id| answers.get(*id).cloned()).collect(),
            None => {
                let found = matched(&ids, "question", text, file).map_err(CaseError::new)?;
                found.into_iter().map(|it| it.map(|(_, answer)| answer)).collect::<Vec<_>>()
            }
        };
        let mut predicted = PredictionVerdicts::default();
        for (question, answer) in questions.iter().zip(answers) {
            // In a file with supporting facts, a question without any gets `Some(None)`, which adds 0 to their figures.
            let named = facts.as_ref().map(|facts| facts.get(question.id()).map(Vec::as_slice));
            let ended = answer.as_deref().map(Ended::Answered);
            let verdict = judge::verdict(question, ended.as_ref(), Vec::new(), named);
            predicted.add(question.id(), verdict, answer.is_none());
        }
        Ok(predicted)
    }

    fn classes(&self) -> &'static [ClassInfo] {
        &CLASSES
    }

    fn flags(&self) -> &'static [FlagInfo] {
        &FLAGS
    }

    fn unit(&self) -> SizeUnit {
        SizeUnit { one: "page", many: "pages" }
    }

    fn score_names(&self) -> &'static [&'static str] {
        &judge::SCORE_NAMES
    }

    fn columns(&self) -> Columns {
        Columns {
            of_case: &[
                ("kind", "The sort of question, where the data says it."),
                ("gold", "The right answer."),
            ],
            of_run: &[
                ("found", "The short answer that was read out of the agent's answer."),
                ("f1", "Its best F1 with a right answer, 0 to 1."),
                ("official", "Whether it is right by the official rule: 1 or 0."),
                ("paper", "Whether it is right by the rule of the paper's code: 1 or 0."),
                ("calls", "Calls of tools."),
            ],
        }
    }

    fn metrics(&self, runs: &[Judged<'_>]) -> Vec<Metric> {
        figures::metrics(runs)
    }

    fn sections(&self, runs: &[Judged<'_>], _planned: &[Card], _repeats: u32) -> Vec<Section> {
        figures::sections(self.benchmark, runs)
    }
}

#[cfg(test)]
mod tests {
    use planproof_suite::Registry;

    use super::*;

    #[test]
    fn the_suites_can_be_registered() {
        let suites = [Benchmark::HotpotQa, Benchmark::TriviaQa].map(Questions::new);
        let suites = suites.into_iter().map(|it| -> Arc<dyn Suite> { Arc::new(it) }).collect();
        let registry = Registry::new(suites).unwrap();
        assert_eq!(registry.find("triviaqa").unwrap().unit().many, "pages");
    }

    #[test]
    fn scoring_is_an_option_of_predictions() {
        let suite = Questions::new(Benchmark::TriviaQa);
        assert!(suite.scored_with(&[("scoring", "official")]).unwrap().is_none());
        assert!(suite.scored_with(&[("scoring", "paper")]).unwrap().is_some());
        let refused = |options: &[(&str, &str)]| suite.scored_with(options).err().unwrap().what;
        assert!(refused(&[("scoring", "strict")]).contains("write official or paper"));
        assert!(suite.scored_with(&[("compat", "original")]).unwrap().is_some());
        assert!(refused(&[("compat", "paper")]).contains("write original"));
        assert!(refused(&[("level", "3")]).contains("no option `level`"));
    }

    /// The web half as `triviaqa_evaluation.py` counts it: by question and page, of a verified file the verified ones.
    #[test]
    fn the_web_half_is_counted_by_page_as_the_script_does() {
        let page = |name: &str, verified: bool| {
            format!(r#"{{"Filename":"{name}","DocPartOfVerifiedEval":{verified}}}"#)
        };
        let question = |id: &str, verified: bool, entities: &[String], results: &[String]| {
            format!(
                r#"{{"Question":"Q?","QuestionId":"{id}","QuestionPartOfVerifiedEval":{verified},
                    "Answer":{{"Value":"Sun","NormalizedAliases":["sun"]}},
                    "EntityPages":[{}],"SearchResults":[{}]}}"#,
                entities.join(","),
                results.join(",")
            )
        };
        let data = |domain: &str, verified: bool| {
            let questions = [
                question(
                    "t1",
                    true,
                    &[page("A.txt", true), page("B.txt", false)],
                    &[page("1/A.txt", true), page("A.txt", true)],
                ),
                question("t2", false, &[page("C.txt", true)], &[]),
                question("t3", true, &[], &[page("D.txt", true)]),
            ];
            format!(
                "{{\"Domain\": \"{domain}\", \"VerifiedEval\": {verified}, \"Data\": [{}]}}",
                questions.join(",")
            )
        };
        let predictions =
            r#"{"t1--A.txt":"sun","t1--B.txt":"moon","t1--1/A.txt":"sun","t2--C.txt":"sun","t3":"sun"}"#;
        let ours = Questions::new(Benchmark::TriviaQa);
        let original = ours.scored_with(&[("compat", "original")]).unwrap().unwrap();
        // What is right, of how many, of which how many are missing.
        let scored = |suite: &dyn Suite, data: &str| {
            let cases =
                suite.load(Some(Data { text: data, file: "d" }), &CaseSelection::default(), None).unwrap();
            let found = suite.score(&cases, Data { text: predictions, file: "p" }).unwrap();
            let right = found.verdicts.iter().filter(|verdict| verdict.passed()).count();
            (right, found.verdicts.len(), found.missing.len())
        };
        for (domain, verified, by_script, by_question) in [
            // A page that both lists name is one; a prediction for a question is none for its pages.
            ("Web", false, (3, 5, 1), (3, 3, 0)),
            ("Web", true, (2, 3, 1), (2, 2, 0)),
            ("Wikipedia", false, (3, 3, 0), (3, 3, 0)),
            ("Wikipedia", true, (2, 2, 0), (2, 2, 0)),
        ] {
            let data = data(domain, verified);
            assert_eq!(scored(&*original, &data), by_script, "{domain} {verified}");
            assert_eq!(scored(&ours, &data), by_question, "{domain} {verified}");
        }
        let silent = data("Web", true).replace(",\"DocPartOfVerifiedEval\":true", "");
        let load = |text: &str| {
            let data = Some(Data { text, file: "d" });
            original.load(data, &CaseSelection::default(), None).err().map(|error| error.what)
        };
        assert!(load(&silent).unwrap().contains("question t1: `VerifiedEval` is true"));
        let nameless = data("Web", false).replace("\"Filename\":\"C.txt\",", "");
        assert!(load(&nameless).unwrap().contains("question t2: a page has no `Filename`"));
    }

    #[test]
    fn supporting_facts_are_scored_where_predictions_name_them() {
        let data = r#"[{"_id":"a","question":"Q?","answer":"the red dog","supporting_facts":[["A",0],["B",1]]},
            {"_id":"b","question":"R?","answer":"x","supporting_facts":[["C",0]]},
            {"_id":"c","question":"S?","answer":"y","supporting_facts":[["C",0]]}]"#;
        let suite = Questions::new(Benchmark::HotpotQa);
        let cases =
            suite.load(Some(Data { text: data, file: "d" }), &CaseSelection::default(), None).unwrap();
        let scored = |text: &str| suite.score(&cases, Data { text, file: "p" });
        let predictions =
            r#"{"answer":{"a":"red cat","b":"x","c":"y"},"sp":{"a":[["A",0],["A",1]],"b":[["C",0]]}}"#;
        let verdicts = scored(predictions).unwrap().verdicts;
        let score = |at: usize, name: &str| verdicts[at].scored.score(name).unwrap();
        assert_eq!(["facts", "facts_precision", "facts_recall"].map(|it| score(0, it)), [0.0, 0.5, 0.5]);
        assert_eq!(["joint", "joint_precision", "joint_recall"].map(|it| score(0, it)), [0.0, 0.25, 0.25]);
        assert_eq!(["facts", "facts_f1", "joint", "joint_f1"].map(|it| score(1, it)), [1.0; 4]);
        // A prediction without facts adds nothing, whatever its answer.
        assert_eq!((verdicts[2].passed(), score(2, "joint"), score(2, "facts_f1")), (true, 0.0, 0.0));
        let judged = (0_u32..).zip(&verdicts).map(|(ordinal, verdict)| Judged {
            ordinal,
            repeat: 0,
            card: cases[ordinal as usize].card(),
            scored: Some(&verdict.scored),
        });
        let judged: Vec<Judged<'_>> = judged.collect();
        let metrics = suite.metrics(&judged);
        let metric = |name: &str| metrics.iter().find(|it| it.name == name).unwrap().value.unwrap();
        assert!((metric("joint_f1") - (0.25 + 1.0) / 3.0).abs() < 1e-12);
        assert!(suite.sections(&judged, &[], 1).iter().any(|it| it.key == "supporting_facts"));
        // Without them there are no figures of facts.
        let plain = scored(r#"{"answer":{"a":"x"}}"#).unwrap().verdicts;
        assert!(plain[0].scored.score("facts").is_none() && !plain[0].detail.contains("facts"));
        assert!(scored(r#"{"answer":{},"sp":[]}"#).unwrap_err().what.starts_with("p: the supporting facts"));
    }
}
