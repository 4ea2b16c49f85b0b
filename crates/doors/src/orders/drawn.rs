//! Drawing the cases of campaigns of orders, and drawing them again.

use std::sync::Arc;
use std::time::Instant;

use planproof_assembly::errors::OrFail as _;
use planproof_campaign::{CASES_MAX, Cases, CasesOrigin, Shard};
use planproof_engine::SynthesisUse;
use planproof_order::synth::{
    MessageRange, PlanningCase, SynthesisCounts, SynthesisOptions, Synthesizer, TimeOptions, TopicBank,
    Wordings, case_id,
};
use planproof_order::{DrawnCases, OrderDraw, OrderMaking, OrderOptions, OrderSuite, SolverMeter};
use planproof_output::failure::Failure;
use planproof_suite::Case;
use serde_json::Value;

use super::arguments::CaseArguments;
use super::files::{no_synthesis, synthesis_failure};
use crate::written::{Written, switch};

/// Orders that are there already.
pub fn of_orders(suite: &OrderSuite, cases: Vec<PlanningCase>) -> Cases {
    let cases = cases.into_iter().map(|case| -> Arc<dyn Case> { suite.wrap(case) }).collect();
    Cases::given(Arc::new(suite.clone()), cases)
}

/// So many cases of a seed, with default options.
///
/// # Errors
/// None can be drawn.
pub fn first_cases(seed: u64, count: u64) -> Result<Vec<Arc<dyn Case>>, Failure> {
    let (options, bank) = (SynthesisOptions::default(), TopicBank::shipped());
    let synthesizer = Synthesizer::new(options, Wordings::shipped(), bank).map_err(synthesis_failure)?;
    let suite = OrderSuite::default();
    let mut counts = SynthesisCounts::default();
    let cases = (0..count).map(|index| -> Result<Arc<dyn Case>, Failure> {
        Ok(suite.wrap(synthesizer.case(seed, index, &mut counts, &mut ()).map_err(synthesis_failure)?))
    });
    cases.collect()
}

/// Makes cases again as they were made, with the topics that come with planproof.
pub(crate) fn make_again(order: &OrderOptions, how: &Value) -> Result<Cases, Failure> {
    let (suite, bank) = (OrderSuite::new(order.judge()), TopicBank::shipped());
    match OrderMaking::read(how)? {
        OrderMaking::Drawn(draw) => draw_cases(draw, &suite, bank, None),
        OrderMaking::Levels(levels) => draw_levels(levels, &suite, bank),
    }
}

/// Draws the cases of a search for a limit, level by level.
pub fn draw_levels(levels: Vec<OrderDraw>, suite: &OrderSuite, bank: &TopicBank) -> Result<Cases, Failure> {
    let mut all = Cases::given(Arc::new(suite.clone()), Vec::new());
    let mut made = SynthesisUse::default();
    for draw in &levels {
        let level = draw_cases(draw.clone(), suite, bank, None)?;
        all.cases.extend(level.cases);
        let level = level.synthesis.unwrap_or_default();
        made.solver_calls += level.solver_calls;
        made.solver_time += level.solver_time;
        made.time += level.time;
    }
    all.synthesis = Some(made);
    // Checked again, because the levels may come from a recording.
    if all.cases.len() as u64 > CASES_MAX {
        return Err(Failure::usage(format!("a campaign has at most {CASES_MAX} cases")));
    }
    Ok(Cases { origin: origin(&OrderMaking::Levels(levels)), named: Some(DrawnCases::line), ..all })
}

/// As a recording says it.
fn origin(how: &OrderMaking) -> CasesOrigin {
    // All its keys are strings, so it can be written.
    CasesOrigin::Made(serde_json::to_value(how).unwrap_or_default())
}

fn invalid() -> Failure {
    Failure::usage("the seed or the number of the drawn cases is invalid")
}

/// How so many cases of a seed are drawn for these arguments.
///
/// # Errors
/// The sequence of the seed ends before.
pub fn draw_of(draw: &CaseArguments, seed: u64, count: u64) -> Result<OrderDraw, Failure> {
    // Only for its error: the sequence of a seed has an end.
    draw.places(count)?;
    Ok(OrderDraw::new(draw.options(), seed, draw.first, count))
}

/// Draws the cases, or those of a shard.
pub fn draw_cases(
    draw: OrderDraw,
    suite: &OrderSuite,
    bank: &TopicBank,
    shard: Option<Shard>,
) -> Result<Cases, Failure> {
    // A recording may come from anywhere, so its numbers are checked as if they were typed.
    let seed = draw.seed()?;
    let end = draw.first.checked_add(draw.count).filter(|_| draw.count <= CASES_MAX);
    let end = end.ok_or_else(invalid)?;
    let synthesizer = Synthesizer::new(draw.options(), Wordings::shipped(), bank)
        .map_err(|error| no_synthesis(error, bank))?;
    let mut counts = SynthesisCounts::default();
    let mut solver = SolverMeter::default();
    let start = Instant::now();
    // Dealt out by their ids, which are known before: with forty shards, each case would be drawn forty times.
    let ids = (draw.first..end).map(|index| case_id(seed, index));
    let dealt = shard.map(|shard| shard.deal(ids)).transpose().or_fail()?;
    let indexes: Vec<u64> = match &dealt {
        Some(dealt) => dealt.places.iter().map(|place| draw.first + u64::from(*place)).collect(),
        None => (draw.first..end).collect(),
    };
    let cases = indexes
        .into_iter()
        .map(|index| synthesizer.case(seed, index, &mut counts, &mut solver))
        .collect::<Result<Vec<PlanningCase>, _>>()
        .map_err(synthesis_failure)?;
    let synthesis =
        SynthesisUse { solver_calls: solver.calls, solver_time: solver.time, time: start.elapsed() };
    let origin = origin(&OrderMaking::Drawn(draw));
    Ok(Cases { origin, synthesis: Some(synthesis), dealt, ..of_orders(suite, cases) })
}

/// The options that draw these cases.
pub fn as_written(draw: &OrderDraw) -> Vec<Written> {
    fn text<T: ToString>(value: &Option<T>) -> Option<String> {
        value.as_ref().map(T::to_string)
    }
    fn range<T: PartialEq + ToString>(low: &T, high: &T) -> String {
        if low == high { low.to_string() } else { format!("{}..{}", low.to_string(), high.to_string()) }
    }
    let options = draw.options();
    let day = |time: &TimeOptions| {
        let [start, end] = [time.day.start, time.day.end].map(|at| format!("{:02}:{:02}", at / 60, at % 60));
        format!("{start}-{end}")
    };
    let time = options.time.as_ref();
    let durations = time.and_then(|time| Some(range(&time.duration_min?, &time.duration_max?)));
    // An id that no argument has would not be noticed: as it can never be given, it would never be compared.
    vec![
        ("cases", Some(draw.count.to_string())),
        ("first", Some(draw.first.to_string())),
        ("actions", Some(range(&options.actions_min, &options.actions_max))),
        ("infeasible", options.infeasible.map(|share| share.get().to_string())),
        ("turns", options.turns.map(|MessageRange { min, max }| range(&min, &max))),
        ("topic", options.topic.clone()),
        ("distractors", Some(options.distractors.to_string())),
        ("sentences_max", text(&options.sentences_max)),
        ("sub_sentences_max", Some(options.sub_sentences_max.to_string())),
        ("list_max", text(&options.list_max)),
        ("relative_depth", Some(options.relative_depth.to_string())),
        ("tries_max", Some(options.tries_max.to_string())),
        ("hard", switch(options.hard)),
        ("time", switch(time.is_some())),
        ("day", time.map(day)),
        ("durations", durations),
        ("restarts_max", time.and_then(|time| text(&time.restarts_max))),
    ]
}
