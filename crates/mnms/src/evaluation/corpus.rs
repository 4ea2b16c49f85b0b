//! The metrics of many predictions.

use std::collections::BTreeMap;

use super::counts::{LabelCounts, LabelTally};

/// How many tools there are.
pub(crate) const TOOLS: usize = 33;

/// Counts of many predictions, added up. Every sum is exact, so neither order nor grouping affects a metric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corpus {
    /// The number of predictions.
    pub samples: u64,
    tools: [LabelTally; TOOLS],
    tool: LabelTally,
    argname: LabelTally,
    argvalue: LabelTally,
    edge: LabelTally,
    plan_tool: u64,
    plan_argname: u64,
    plan_argvalue: u64,
    /// Sums of similarities, keyed by their denominators.
    likeness: BTreeMap<u64, u64>,
}

impl Default for Corpus {
    fn default() -> Self {
        Self {
            samples: 0,
            tools: [LabelTally::default(); TOOLS],
            tool: LabelTally::default(),
            argname: LabelTally::default(),
            argvalue: LabelTally::default(),
            edge: LabelTally::default(),
            plan_tool: 0,
            plan_argname: 0,
            plan_argvalue: 0,
            likeness: BTreeMap::new(),
        }
    }
}

/// Precision, recall and F1, from 0 to 1. `None` if there was nothing to be right or wrong about.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Shares {
    /// The share of predicted labels that are right.
    pub precision: Option<f64>,
    /// The share of right labels that are predicted.
    pub recall: Option<f64>,
    pub f1: Option<f64>,
}

impl Shares {
    /// The shares of a tally.
    pub(crate) fn of(tally: LabelTally) -> Self {
        let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        Self {
            precision: share(tally.right, tally.right + tally.extra),
            recall: share(tally.right, tally.right + tally.missing),
            f1: share(2 * tally.right, 2 * tally.right + tally.extra + tally.missing),
        }
    }

    /// The same with 0 for undefined values, as in the published code.
    fn or_zero(self) -> Self {
        let or_zero = |value: Option<f64>| Some(value.unwrap_or(0.0));
        Self { precision: or_zero(self.precision), recall: or_zero(self.recall), f1: or_zero(self.f1) }
    }

    /// The mean of each over classes; `None` without classes.
    fn mean(classes: &[Self]) -> Self {
        let mean = |value: fn(&Self) -> Option<f64>| {
            // A tool that was never predicted has no precision, and one that is in no right plan has no recall. In a
            // mean over tools both count as 0.
            let sum: f64 = classes.iter().map(|class| value(class).unwrap_or(0.0)).sum();
            (!classes.is_empty()).then(|| sum / classes.len() as f64)
        };
        Self { precision: mean(|it| it.precision), recall: mean(|it| it.recall), f1: mean(|it| it.f1) }
    }
}

/// The metrics of a corpus. All are shares from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CorpusMetrics {
    /// Means over the tools: over all 33 as published, or only over those that occur.
    pub tool_macro: Shares,
    /// Pooled tools, with names of nonexistent tools counted as extra. The published code has no such metric.
    pub tool: Shares,
    /// Tools with the names of their arguments, pooled.
    pub argname: Shares,
    /// Tools with their arguments and values, pooled.
    pub argvalue: Shares,
    /// Pairs of tools, pooled.
    pub edge: Shares,
    /// The share of plans with the right tools in the right order.
    pub plan_tool_accuracy: f64,
    /// The same, with the right argument names as well.
    pub plan_argname_accuracy: f64,
    /// The same, with the right values as well.
    pub plan_argvalue_accuracy: f64,
    /// How different the orders of tools are. Lower is better.
    pub tool_normalized_edit_distance: f64,
    /// The counts behind [`argname`](Self::argname), [`argvalue`](Self::argvalue) and [`edge`](Self::edge).
    pub tallies: [LabelTally; 3],
}

impl Corpus {
    /// Adds a prediction.
    pub fn add(&mut self, counts: &LabelCounts) {
        self.samples += 1;
        for (place, tally) in self.tools.iter_mut().enumerate() {
            tally.right += u64::from(counts.tools_right.has(place));
            tally.extra += u64::from(counts.tools_extra.has(place));
            tally.missing += u64::from(counts.tools_missing.has(place));
        }
        self.tool.add(counts.tool());
        self.argname.add(counts.argname);
        self.argvalue.add(counts.argvalue);
        self.edge.add(counts.edge);
        self.plan_tool += u64::from(counts.plan_tool);
        self.plan_argname += u64::from(counts.plan_argname);
        self.plan_argvalue += u64::from(counts.plan_argvalue);
        // Two plans without steps are equal.
        let (alike, steps) = if counts.steps == 0 { (1, 1) } else { (counts.alike, counts.steps) };
        *self.likeness.entry(steps).or_default() += alike;
    }

    /// The correct metrics: the mean over tools covers only those that occur, and a metric is undefined if there was
    /// nothing to be right or wrong about. `None` without predictions.
    pub fn metrics(&self) -> Option<CorpusMetrics> {
        let occurs = |tally: &&LabelTally| tally.right + tally.extra + tally.missing > 0;
        let classes: Vec<Shares> = self.tools.iter().filter(occurs).map(|tally| Shares::of(*tally)).collect();
        self.with(Shares::mean(&classes), |shares| shares)
    }

    /// The metrics as the published code computes them: the mean over tools covers all 33, and 0 replaces undefined
    /// values. `None` without predictions, for which that code fails.
    pub fn original_metrics(&self) -> Option<CorpusMetrics> {
        let classes = self.tools.map(Shares::of);
        self.with(Shares::mean(&classes), Shares::or_zero)
    }

    fn with(&self, tool_macro: Shares, settle: fn(Shares) -> Shares) -> Option<CorpusMetrics> {
        if self.samples == 0 {
            return None;
        }
        let samples = self.samples as f64;
        // Whole numbers are divided only here, in the order of the denominators, so that rounding does not depend on
        // the order in which predictions were added.
        let likeness: f64 = self.likeness.iter().map(|(steps, alike)| *alike as f64 / *steps as f64).sum();
        Some(CorpusMetrics {
            tool_macro,
            tool: settle(Shares::of(self.tool)),
            argname: settle(Shares::of(self.argname)),
            argvalue: settle(Shares::of(self.argvalue)),
            edge: settle(Shares::of(self.edge)),
            plan_tool_accuracy: self.plan_tool as f64 / samples,
            plan_argname_accuracy: self.plan_argname as f64 / samples,
            plan_argvalue_accuracy: self.plan_argvalue as f64 / samples,
            tool_normalized_edit_distance: 1.0 - likeness / samples,
            tallies: [self.argname, self.argvalue, self.edge],
        })
    }
}

/// The name of the one metric that the published code rounds differently.
pub(super) const EDIT_DISTANCE: &str = "tool_normalized_edit_distance";

impl CorpusMetrics {
    /// The published metrics as percentages, by their published names.
    pub fn figures(&self) -> [(&'static str, Option<f64>); 16] {
        [
            ("tool_macro_precision", self.tool_macro.precision),
            ("tool_macro_recall", self.tool_macro.recall),
            ("tool_macro_f1", self.tool_macro.f1),
            ("argname_precision", self.argname.precision),
            ("argname_recall", self.argname.recall),
            ("argname_f1", self.argname.f1),
            ("argvalue_precision", self.argvalue.precision),
            ("argvalue_recall", self.argvalue.recall),
            ("argvalue_f1", self.argvalue.f1),
            ("edge_precision", self.edge.precision),
            ("edge_recall", self.edge.recall),
            ("edge_f1", self.edge.f1),
            ("plan_tool_accuracy", Some(self.plan_tool_accuracy)),
            ("plan_argname_accuracy", Some(self.plan_argname_accuracy)),
            ("plan_argvalue_accuracy", Some(self.plan_argvalue_accuracy)),
            (EDIT_DISTANCE, Some(self.tool_normalized_edit_distance)),
        ]
        .map(|(name, share)| (name, share.map(|share| share * 100.0)))
    }

    /// The same with two decimals, rounded as in the published code: the distance by its exact decimal value, all
    /// others after scaling.
    pub fn rounded_figures(&self) -> [(&'static str, Option<f64>); 16] {
        self.figures().map(|(name, value)| {
            let round = if name == EDIT_DISTANCE { round_as_python } else { round_as_numpy };
            (name, value.map(round))
        })
    }
}

/// Rounds to two decimals as NumPy does: scales by 100, rounds to the nearest whole number (ties to even), and scales
/// back.
pub fn round_as_numpy(value: f64) -> f64 {
    (value * 100.0).round_ties_even() / 100.0
}

/// Rounds to two decimals as Python does: to the nearest of the exact value, ties to even.
pub fn round_as_python(value: f64) -> f64 {
    // Formatting goes by the exact decimal value. Scaling by 100 first would already round.
    format!("{value:.2}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_in_two_ways() {
        // As Python 3.11 prints `round(value, 2)` and `round(value * 100) / 100`.
        let cases = [
            (0.125, 0.12, 0.12),
            (0.375, 0.38, 0.38),
            (2.675, 2.67, 2.68),
            (1.005, 1.0, 1.0),
            (66.665, 66.67, 66.67),
            (0.285, 0.28, 0.28),
            (33.335, 33.34, 33.34),
            (100.0, 100.0, 100.0),
        ];
        for (value, python, numpy) in cases {
            assert_eq!((round_as_python(value), round_as_numpy(value)), (python, numpy), "{value}");
        }
    }

    #[test]
    fn the_order_of_predictions_does_not_show() {
        let counts = |alike, steps| LabelCounts {
            tools_right: super::super::ToolSet(1),
            tools_extra: super::super::ToolSet(0),
            tools_missing: super::super::ToolSet(2),
            unknown_tools: 1,
            argname: LabelTally { right: 1, extra: 2, missing: 3 },
            argvalue: LabelTally::default(),
            edge: LabelTally::default(),
            plan_tool: false,
            plan_argname: false,
            plan_argvalue: false,
            alike,
            steps,
        };
        let all = [counts(2, 3), counts(2, 7), counts(0, 0), counts(4, 9), counts(2, 3)];
        let sum = |order: &[usize]| {
            let mut corpus = Corpus::default();
            order.iter().for_each(|place| corpus.add(&all[*place]));
            corpus
        };
        assert_eq!(sum(&[0, 1, 2, 3, 4]), sum(&[4, 2, 0, 3, 1]));
        let metrics = sum(&[0, 1, 2, 3, 4]).metrics().unwrap();
        assert_eq!(metrics.edge, Shares::default(), "nothing to be right about");
        assert_eq!(metrics.tool_macro.f1, Some(0.5), "two tools occur, and one is always right");
        assert_eq!(metrics.tool.precision, Some(0.5), "names that no tool has are extra");
        assert_eq!(Corpus::default().metrics(), None);
    }
}
