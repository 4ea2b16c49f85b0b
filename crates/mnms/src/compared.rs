//! What a predicted plan has in common with the right one, as the figures that verdicts store.

use planproof_suite::Scored;
use serde_json::Value;

use crate::Literal;
use crate::case::RequestCase;
use crate::entailment::Entailed;
use crate::evaluation::original::PredictionFormat;
use crate::evaluation::ours::right::{ArgumentsRight, arguments_right};
use crate::evaluation::{LabelCounts, LabelTally, ToolSet, ours};
use crate::prediction::PredictedPlan;

/// The names of the figures, from which the metrics of a corpus are computed.
pub(crate) const NAMES: [&str; 18] = [
    "tools_right",
    "tools_extra",
    "tools_missing",
    "unknown_tools",
    "argname_right",
    "argname_extra",
    "argname_missing",
    "argvalue_right",
    "argvalue_extra",
    "argvalue_missing",
    "edge_right",
    "edge_extra",
    "edge_missing",
    "plan_tool",
    "plan_argname",
    "plan_argvalue",
    "steps_alike",
    "steps_both",
];

/// A predicted plan compared with the nearest right plan.
pub(crate) struct Compared {
    /// The values of [`NAMES`]. A set of tools is stored as a bit set, which is exact because there are 33 tools.
    pub(crate) values: [f64; NAMES.len()],
    /// Whether all tools are right, in the right order.
    pub(crate) tools_right: bool,
    /// Whether the names of all arguments are right as well.
    pub(crate) argnames_right: bool,
    /// Whether all values are right as well.
    pub(crate) argvalues_right: bool,
    /// Where the names of all arguments are right: whether results go where they should, and the values that the
    /// request determines are right. The published rules know neither, and take both for granted.
    pub(crate) meaning: ArgumentsRight,
    /// Whether a step calls a nonexistent tool.
    pub(crate) has_unknown_tool: bool,
    /// The index of the nearest right plan: 0 for the plan itself, then its alternatives.
    pub(crate) alternative: usize,
    /// Whether the tools, and the tools with their arguments, are right only by an alternative.
    pub(crate) gained: [bool; 2],
    /// The figures that also count values a judge model calls equivalent; `None` if no judge was asked.
    pub(crate) entailed: Option<Entailed>,
}

impl Compared {
    /// The comparison from the counts of a prediction against the plan at this index, and against the first plan.
    pub(crate) fn of(
        counts: &LabelCounts,
        first: &LabelCounts,
        alternative: usize,
        meaning: ArgumentsRight,
    ) -> Self {
        Self {
            gained: [counts.plan_tool && !first.plan_tool, counts.plan_argname && !first.plan_argname],
            values: values(counts),
            tools_right: counts.plan_tool,
            argnames_right: counts.plan_argname,
            argvalues_right: counts.plan_argvalue,
            meaning,
            has_unknown_tool: counts.unknown_tools > 0,
            alternative,
            entailed: None,
        }
    }

    /// The same, with the judge model's answers.
    pub(crate) fn with(self, entailed: Option<Entailed>) -> Self {
        Self { entailed, ..self }
    }
}

/// A prediction compared with the right plans of a task, and how it could be read.
pub(crate) struct Comparison {
    pub(crate) compared: Compared,
    /// The number of its steps.
    pub(crate) steps: usize,
    /// Whether it, or a part of it, is not a plan.
    pub(crate) is_malformed: bool,
}

/// Compares a prediction by our rules with the right plan of the task that it has most in common with, where a plan by
/// which it is right comes before all others. `None` is an empty plan.
pub(crate) fn compare(
    task: &RequestCase,
    found: Option<&PredictedPlan>,
    with_alternatives: bool,
) -> Comparison {
    let (plan, alternatives) = task.right_plans();
    let alternatives = if with_alternatives { &alternatives[..] } else { &[] };
    // The reading of calls depends on the right plan, that of anything else does not.
    let once = match found {
        Some(PredictedPlan::Calls(_)) => None,
        _ => Some(read(found, None)),
    };
    let mut best: Option<([f64; 4], Comparison)> = None;
    let mut first = None;
    for (place, plan) in std::iter::once(&plan).chain(alternatives).enumerate() {
        let right = ours::read(plan, PredictionFormat::Json);
        let beside;
        let reading = match &once {
            Some(reading) => reading,
            None => {
                beside = read(found, Some(&right.steps));
                &beside
            }
        };
        let counts = reading.counts(&right);
        let meaning = match counts.plan_argname {
            true => arguments_right(&reading.steps, &right.steps, task.request()),
            false => ArgumentsRight { flow: false, values: false },
        };
        let first = *first.get_or_insert(counts);
        let [tools, argnames, argvalues] = ours::fit(&counts);
        let is_right = f64::from(u8::from(meaning.flow && meaning.values));
        // Arrays compare element by element: arguments only break ties between tools, and values between arguments.
        let fit = [is_right, tools, argnames, argvalues];
        if best.as_ref().is_none_or(|(other, _)| fit > *other) {
            let comparison = Comparison {
                compared: Compared::of(&counts, &first, place, meaning),
                steps: reading.labels.tools.len(),
                is_malformed: reading.has_malformed,
            };
            best = Some((fit, comparison));
        }
    }
    best.expect("the right plan itself was compared").1
}

/// A prediction, read for a comparison with these steps of a right plan.
fn read(found: Option<&PredictedPlan>, right: Option<&[ours::Step]>) -> ours::OurReading {
    let (prediction, format) = match found {
        None => (Literal::List(Vec::new()), PredictionFormat::Json),
        Some(found) => as_written(found, right),
    };
    ours::read(&prediction, format)
}

/// A predicted plan in the form used by the evaluation, for a comparison with these steps of a right plan.
pub(crate) fn as_written(found: &PredictedPlan, right: Option<&[ours::Step]>) -> (Literal, PredictionFormat) {
    match found {
        PredictedPlan::Program(text) => (Literal::Text(text.clone()), PredictionFormat::Code),
        PredictedPlan::Nodes(nodes) => (literal(nodes), PredictionFormat::Json),
        PredictedPlan::Calls(made) => (literal(&made.nodes(right)), PredictionFormat::Json),
    }
}

/// The right plan at that index: 0 is the plan itself, followed by the alternatives.
pub(crate) fn right_plan(task: &RequestCase, alternative: usize) -> Literal {
    let (plan, alternatives) = task.right_plans();
    let place = alternative.checked_sub(1);
    place.and_then(|place| alternatives.into_iter().nth(place)).unwrap_or(plan)
}

/// A JSON value as the value type that plans use.
fn literal(value: &Value) -> Literal {
    // Anything just written as JSON can be read back, unless it is nested too deeply; such a plan yields nothing.
    Literal::from_json(&value.to_string()).unwrap_or(Literal::List(Vec::new()))
}

fn values(counts: &LabelCounts) -> [f64; NAMES.len()] {
    let LabelCounts { argname, argvalue, edge, .. } = counts;
    let count = |tally: &LabelTally| [tally.right as f64, tally.extra as f64, tally.missing as f64];
    let [[a, b, c], [d, e, f], [g, h, i]] = [count(argname), count(argvalue), count(edge)];
    let truth = |holds: bool| f64::from(u8::from(holds));
    [
        // In the order of `NAMES`, by which `counts` reads them back.
        counts.tools_right.0 as f64,
        counts.tools_extra.0 as f64,
        counts.tools_missing.0 as f64,
        counts.unknown_tools as f64,
        a,
        b,
        c,
        d,
        e,
        f,
        g,
        h,
        i,
        truth(counts.plan_tool),
        truth(counts.plan_argname),
        truth(counts.plan_argvalue),
        counts.alike as f64,
        counts.steps as f64,
    ]
}

/// The figures of a verdict as counts.
pub(crate) fn counts(scored: &Scored) -> LabelCounts {
    // They were whole numbers when written.
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r] =
        NAMES.map(|name| scored.score(name).unwrap_or_default() as u64);
    let tally = |[right, extra, missing]: [u64; 3]| LabelTally { right, extra, missing };
    LabelCounts {
        tools_right: ToolSet(a),
        tools_extra: ToolSet(b),
        tools_missing: ToolSet(c),
        unknown_tools: d,
        argname: tally([e, f, g]),
        argvalue: tally([h, i, j]),
        edge: tally([k, l, m]),
        plan_tool: n > 0,
        plan_argname: o > 0,
        plan_argvalue: p > 0,
        alike: q,
        steps: r,
    }
}
