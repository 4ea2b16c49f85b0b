//! The supporting sentences in a prediction of HotpotQA.

use planproof_measure::answers::AnswerAgreement;
use planproof_measure::supporting::{SupportingFact, facts, joint};
use planproof_suite::{Figure, Judged, Metric, Score, Scored, Section};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::QuestionCase;

/// The names of the figures: of the facts, then of answer and facts together; each as 1 or 0 for all right, then F1,
/// precision and recall, 0 to 1.
pub(super) const SCORE_NAMES: [&str; 8] = [
    "facts",
    "facts_f1",
    "facts_precision",
    "facts_recall",
    "joint",
    "joint_f1",
    "joint_precision",
    "joint_recall",
];

/// Their displayed names.
const TITLES: [&str; 8] = [
    "supporting facts, exact match",
    "supporting facts, F1",
    "supporting facts, precision",
    "supporting facts, recall",
    "answer and facts, exact match",
    "answer and facts, F1",
    "answer and facts, precision",
    "answer and facts, recall",
];

/// The figures of one run, as in its verdict.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FactFigures {
    pub facts: Figures,
    /// Of answer and facts together.
    pub joint: Figures,
}

/// How one side agrees with the other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// All of it is right.
    pub exact: bool,
    /// F1, 0 to 1.
    pub f1: f64,
    /// Precision, 0 to 1.
    pub precision: f64,
    /// Recall, 0 to 1.
    pub recall: f64,
}

impl From<AnswerAgreement> for Figures {
    fn from(found: AnswerAgreement) -> Self {
        let AnswerAgreement { is_exact: exact, f1, precision, recall } = found;
        Self { exact, f1, precision, recall }
    }
}

impl Figures {
    fn values(self) -> [f64; 4] {
        [f64::from(u8::from(self.exact)), self.f1, self.precision, self.recall]
    }
}

impl FactFigures {
    /// The figures of a prediction: the comparison of its answer by the official rule, and its facts, if any. As in
    /// the official script a prediction without facts gets no partial score.
    pub(super) fn of(
        question: &QuestionCase,
        answer: AnswerAgreement,
        named: Option<&[SupportingFact]>,
    ) -> Self {
        let Some(named) = named else {
            let none = Figures::from(AnswerAgreement::default());
            return Self { facts: none, joint: none };
        };
        let found = facts(named, question.facts());
        Self { facts: found.into(), joint: joint(answer, found).into() }
    }

    pub(super) fn scores(self) -> impl Iterator<Item = Score> {
        let values = self.facts.values().into_iter().chain(self.joint.values());
        SCORE_NAMES.into_iter().zip(values).map(|(name, value)| Score::new(name, value))
    }
}

/// The means over all runs with the figures; `None` if there are none.
fn means(runs: &[Judged<'_>]) -> Option<(u64, [f64; 8])> {
    let scored: Vec<&Scored> = runs.iter().filter_map(|run| run.scored).collect();
    // Only predictions with supporting facts have these figures; runs of agents have none.
    let with: Vec<&&Scored> = scored.iter().filter(|it| it.score(SCORE_NAMES[0]).is_some()).collect();
    if with.is_empty() {
        return None;
    }
    let count = with.len() as f64;
    let mean = |name: &str| with.iter().filter_map(|it| it.score(name)).sum::<f64>() / count;
    Some((with.len() as u64, SCORE_NAMES.map(mean)))
}

/// The same as metrics.
pub(super) fn metrics(runs: &[Judged<'_>]) -> Vec<Metric> {
    let Some((_, means)) = means(runs) else { return Vec::new() };
    let metric = |(at, value): (usize, f64)| Metric {
        name: SCORE_NAMES[at],
        title: TITLES[at],
        value: Some(value),
        interval: None,
        is_share: true,
    };
    means.into_iter().enumerate().map(metric).collect()
}

/// The same as a section.
pub(super) fn section(runs: &[Judged<'_>]) -> Option<Section> {
    let (count, means) = means(runs)?;
    let figure = |(at, value): (usize, f64)| Figure {
        name: TITLES[at],
        value: format!("{:.1} %", 100.0 * value),
        note: String::new(),
    };
    let named = SCORE_NAMES.into_iter().zip(means).map(|(name, value)| (name.to_owned(), json!(value)));
    let mut document: serde_json::Map<String, serde_json::Value> = named.collect();
    document.insert("runs".to_owned(), json!(count));
    Some(Section {
        key: "supporting_facts",
        title: "Supporting facts",
        intro: "The predictions name the sentences that their answers rest on. These figures are those of HotpotQA's \
                official script: means over all questions, where one without a prediction adds 0."
            .to_owned(),
        figures: means.into_iter().enumerate().map(figure).collect(),
        json: document.into(),
        ..Section::default()
    })
}
