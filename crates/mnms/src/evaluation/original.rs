//! The published evaluator as it is: its labels, how it pairs plans with predictions, and when it fails.
//!
//! Both sides become lines of code, each line is parsed on its own, and lines that cannot be parsed do not count
//! (specification section 6). Programs are parsed as Python 3.11 does.

use std::collections::HashMap;
use std::fmt;

use super::corpus::{Corpus, CorpusMetrics, round_as_numpy};
use super::counts::{LabelCounts, LabelTally, Unknown, tool_set};
use super::labels::{BETWEEN, Labels, joined};
use super::lines::{Call, Lines};
use super::nodes::{Malformed, program};
use crate::evaluation::counts::ToolSet;
use crate::literal::Literal;

/// How predictions are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PredictionFormat {
    /// Lists of nodes.
    #[default]
    Json,
    /// Programs.
    Code,
}

/// An exception that stops the published evaluator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}: {message}")]
pub struct EvaluatorException {
    pub kind: &'static str,
    pub message: String,
}

impl EvaluatorException {
    fn new(kind: &'static str, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

/// A prediction, parsed for comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginalReading {
    /// The lines of code of the prediction; empty if it is malformed.
    pub code: String,
    /// Why it counts as empty.
    pub malformed: Option<Malformed>,
    /// The labels to compare.
    pub labels: Labels,
}

/// A right plan with its alternatives, split into labels once for all predictions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginalGold {
    /// The right plan, then its alternatives.
    plans: Vec<OriginalReading>,
    /// The tools of each.
    tools: Vec<(ToolSet, u64)>,
}

/// Splits plans into labels. It caches lines, so using one evaluator for many plans saves most of the work.
#[derive(Debug, Default)]
pub struct PlanSplitter {
    lines: Lines,
}

impl PlanSplitter {
    /// A right plan and its alternatives.
    ///
    /// # Errors
    /// A plan contains a `**`, which a plan of nodes cannot have.
    pub fn gold<'a>(
        &mut self,
        plan: &'a Literal,
        alternatives: impl IntoIterator<Item = &'a Literal>,
    ) -> Result<OriginalGold, EvaluatorException> {
        let plans: Vec<OriginalReading> = std::iter::once(plan)
            .chain(alternatives)
            .map(|plan| self.read(plan, PredictionFormat::Json))
            .collect::<Result<_, _>>()?;
        let tools = plans.iter().map(|plan| tool_set(&plan.labels.tools)).collect();
        Ok(OriginalGold { plans, tools })
    }

    /// A prediction. If a program is expected, a value that is not a text is converted as by Python's `str`.
    ///
    /// # Errors
    /// A call contains a `**`, on which the published code fails.
    pub fn read(
        &mut self,
        prediction: &Literal,
        format: PredictionFormat,
    ) -> Result<OriginalReading, EvaluatorException> {
        let (code, malformed) = match format {
            PredictionFormat::Code => (prediction.python_str(), None),
            PredictionFormat::Json => match program(prediction) {
                Ok(code) => (code, None),
                Err(malformed) => (String::new(), Some(malformed)),
            },
        };
        let labels = labels(&self.lines.calls(&code))?;
        Ok(OriginalReading { code, malformed, labels })
    }
}

fn labels(calls: &[std::rc::Rc<Call>]) -> Result<Labels, EvaluatorException> {
    let mut labels = Labels::default();
    for call in calls {
        let names = call.arguments.iter().map(|(name, _)| name.clone().ok_or_else(|| raised_by_stars(call)));
        labels.argnames.push(joined(&call.tool, names.collect::<Result<_, _>>()?));
        let values = call.arguments.iter().filter_map(|(name, value)| {
            // Everything except the name is lower-cased before it is joined.
            Some(format!("{}={}", name.as_deref()?, value.to_lowercase()))
        });
        labels.argvalues.push(joined(&call.tool, values.collect()));
        labels.tools.push(call.tool.clone());
    }
    labels.edges = labels.tools.windows(2).map(|pair| pair.join(BETWEEN)).collect();
    Ok(labels)
}

/// The error from sorting names if one of them is `None`.
fn raised_by_stars(call: &Call) -> EvaluatorException {
    // With a single name, sorting compares nothing and joining fails. With several, Python compares the second with the
    // first, so its message depends on whether the `None` comes first.
    let message = match call.arguments.iter().position(|(name, _)| name.is_none()) {
        _ if call.arguments.len() == 1 => "sequence item 1: expected str instance, NoneType found",
        Some(0) => "'<' not supported between instances of 'str' and 'NoneType'",
        _ => "'<' not supported between instances of 'NoneType' and 'str'",
    };
    EvaluatorException::new("TypeError", message)
}

impl OriginalGold {
    /// The plan at that index: 0 is the right plan, followed by the alternatives.
    pub fn plan(&self, place: usize) -> Option<&OriginalReading> {
        self.plans.get(place)
    }

    /// The index of the plan whose set of tools fits a prediction best; in a tie, the first.
    pub fn best_match(&self, prediction: &OriginalReading) -> usize {
        let (predicted, unknown) = tool_set(&prediction.labels.tools);
        let mut best = (0, f64::MIN);
        for (place, (tools, _)) in self.tools.iter().enumerate() {
            let tally = LabelTally {
                right: u64::from((predicted.0 & tools.0).count_ones()),
                extra: u64::from((predicted.0 & !tools.0).count_ones()) + unknown,
                missing: u64::from((tools.0 & !predicted.0).count_ones()),
            };
            let all = 2 * tally.right + tally.extra + tally.missing;
            // Rounded before the comparison, as published: plans that
            // differ only in later digits tie, and the first one wins.
            let f1 = if all == 0 { 0.0 } else { round_as_numpy(200.0 * tally.right as f64 / all as f64) };
            if f1 > best.1 {
                best = (place, f1);
            }
        }
        best.0
    }

    /// Compares a prediction with the right plan, or with the plan from [`best_match`](Self::best_match).
    pub fn compare(&self, prediction: &OriginalReading, with_alternatives: bool) -> LabelCounts {
        let place = if with_alternatives { self.best_match(prediction) } else { 0 };
        LabelCounts::of(&prediction.labels, &self.plans[place].labels, Unknown::AllAlike)
    }
}

/// The alternatives in a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Alternatives {
    /// There is no such field.
    Absent,
    Null,
    /// The Python literal in the field.
    Literal(Literal),
}

/// A right plan in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct GoldRecord {
    /// Its id. `1` and `"1"` differ.
    pub id: Literal,
    pub plan: Literal,
    pub alternatives: Alternatives,
}

/// A prediction in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictionRecord {
    /// The id of the plan that it is for.
    pub id: Literal,
    /// The predicted value; `None` if the field is absent.
    pub prediction: Option<Literal>,
}

/// Which pairs are scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pairs {
    /// Each right plan with the last prediction for its id.
    #[default]
    OfGold,
    /// Each prediction, replaced by the last one with its id.
    OfPredictions,
}

/// The result of evaluating files.
#[derive(Debug, Clone, PartialEq)]
pub struct CorpusEvaluation {
    pub corpus: Corpus,
    pub metrics: CorpusMetrics,
    /// The number of predictions that count as empty because they are malformed.
    pub invalid: u64,
}

/// Evaluates files as the published command does, and fails whenever it fails.
///
/// # Errors
/// The exception that the published code raises.
pub fn evaluate(
    gold: &[GoldRecord],
    predictions: &[PredictionRecord],
    format: PredictionFormat,
    pairs: Pairs,
    with_alternatives: bool,
) -> Result<CorpusEvaluation, EvaluatorException> {
    let key = |id: &Literal| format!("{} {}", id.type_name(), id.python_str());
    let mut last: HashMap<String, &Literal> = HashMap::new();
    for record in predictions {
        let prediction =
            record.prediction.as_ref().ok_or_else(|| EvaluatorException::new("KeyError", "'prediction'"))?;
        // The last prediction for an id counts (specification, section 6.2).
        last.insert(key(&record.id), prediction);
    }
    let by_id: HashMap<String, &GoldRecord> = gold.iter().map(|record| (key(&record.id), record)).collect();
    let ids: Vec<&Literal> = match pairs {
        Pairs::OfGold => gold.iter().map(|record| &record.id).collect(),
        Pairs::OfPredictions => predictions.iter().map(|record| &record.id).collect(),
    };
    let mut evaluator = PlanSplitter::default();
    // An id that occurs several times among the predictions is scored each time, but parsed once.
    let mut readings: HashMap<String, OriginalReading> = HashMap::new();
    let mut golds: HashMap<String, OriginalGold> = HashMap::new();
    let (mut corpus, mut invalid) = (Corpus::default(), 0);
    for id in ids {
        let name = key(id);
        let unknown = || EvaluatorException::new("KeyError", Quoted(id).to_string());
        let record = by_id.get(&name).ok_or_else(unknown)?;
        if !golds.contains_key(&name) {
            let alternatives = if with_alternatives { plans_of(&record.alternatives)? } else { &[] };
            golds.insert(name.clone(), evaluator.gold(&record.plan, alternatives)?);
        }
        if !readings.contains_key(&name) {
            let prediction = last.get(&name).ok_or_else(unknown)?;
            readings.insert(name.clone(), evaluator.read(prediction, format)?);
        }
        let (Some(gold), Some(reading)) = (golds.get(&name), readings.get(&name)) else { continue };
        invalid += u64::from(reading.malformed.is_some());
        corpus.add(&gold.compare(reading, with_alternatives));
    }
    let metrics = corpus
        .original_metrics()
        .ok_or_else(|| EvaluatorException::new("ZeroDivisionError", "division by zero"))?;
    Ok(CorpusEvaluation { corpus, metrics, invalid })
}

fn plans_of(alternatives: &Alternatives) -> Result<&[Literal], EvaluatorException> {
    match alternatives {
        Alternatives::Absent => Err(EvaluatorException::new("KeyError", "'alt_plans_str'")),
        Alternatives::Null => {
            Err(EvaluatorException::new("TypeError", "eval() arg 1 must be a string, bytes or code object"))
        }
        Alternatives::Literal(Literal::List(plans)) => Ok(plans),
        Alternatives::Literal(other) => {
            let message = format!("can only concatenate list (not \"{}\") to list", other.type_name());
            Err(EvaluatorException::new("TypeError", message))
        }
    }
}

/// An id as Python writes it in a `KeyError`.
struct Quoted<'a>(&'a Literal);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Literal::Text(text) => {
                let mut out = String::new();
                planproof_measure::python::push_repr(text, &mut out);
                formatter.write_str(&out)
            }
            other => formatter.write_str(&other.python_str()),
        }
    }
}
