//! What a predicted plan has in common with the right one, as the figures that verdicts store.

use planproof_suite::Scored;
use serde_json::Value;

use crate::Literal;
use crate::case::RequestCase;
use crate::entailment::Entailed;
use crate::evaluation::original::PredictionFormat;
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
    pub(crate) fn of(counts: &LabelCounts, first: &LabelCounts, alternative: usize) -> Self {
        Self {
            gained: [counts.plan_tool && !first.plan_tool, counts.plan_argname && !first.plan_argname],
            values: values(counts),
            tools_right: counts.plan_tool,
            argnames_right: counts.plan_argname,
            argvalues_right: counts.plan_argvalue,
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

/// Compares a prediction with the right plan of the task that it has most in common with. `None` is an empty plan.
pub(crate) fn compare(task: &RequestCase, found: Option<&PredictedPlan>) -> Compared {
    let (prediction, format) =
        found.map_or_else(|| (Literal::List(Vec::new()), PredictionFormat::Json), as_written);
    let reading = ours::read(&prediction, format);
    let (plan, alternatives) = task.right_plans();
    let gold = ours::OurGold::new(&plan, &alternatives);
    let (alternative, counts) = gold.compare(&reading, !alternatives.is_empty());
    let first = if alternative > 0 { gold.compare(&reading, false).1 } else { counts };
    Compared::of(&counts, &first, alternative)
}

/// A predicted plan in the form used by the evaluation.
pub(crate) fn as_written(found: &PredictedPlan) -> (Literal, PredictionFormat) {
    match found {
        PredictedPlan::Program(text) => (Literal::Text(text.clone()), PredictionFormat::Code),
        PredictedPlan::Nodes(nodes) => (literal(nodes), PredictionFormat::Json),
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
