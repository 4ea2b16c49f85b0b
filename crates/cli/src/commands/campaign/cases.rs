//! The cases of a campaign of orders that the command line asks for: drawn, or from a file.

use planproof_campaign::{CASES_MAX, Cases, CasesOrigin};
use planproof_engine::LimitPlan;
use planproof_order::OrderSuite;
use planproof_order::synth::{JudgeOptions, TopicBank};

use crate::arguments::{CaseArguments, ShapeArguments, TestArguments};
use crate::failure::Failure;
use crate::orders::{Drawn, draw_levels, of_orders};
use crate::select;
use crate::values::{AUTO_CASES_MAX, CaseCount};

/// The requested cases.
///
/// `most` is the number of them that can be compared with a baseline.
pub(super) fn of(
    arguments: &TestArguments,
    seed: u64,
    bank: &TopicBank,
    most: Option<u64>,
) -> Result<Cases, Failure> {
    let suite = OrderSuite::new(arguments.campaign.judge.options());
    let Some(file) = &arguments.from else {
        let count = match (arguments.cases.into(), most) {
            (CaseCount::Auto, Some(most)) => most.min(AUTO_CASES_MAX),
            (count, _) => count.most(),
        };
        let drawn = Drawn::of(&arguments.draw, seed, count)?.draw_from(&suite, bank)?;
        return Ok(of_topics(drawn, &arguments.draw.shape));
    };
    Ok(of_orders(&suite, select::read_cases(file)?))
}

/// The same for a recording: in full if they are about topics of the user's own, whose file may have changed by then.
fn of_topics(cases: Cases, shape: &ShapeArguments) -> Cases {
    match shape.topics {
        Some(_) => {
            Cases { origin: CasesOrigin::Given(cases.cases.len()), drawn: Some(cases.origin), ..cases }
        }
        None => cases,
    }
}

/// The cases of a search for a limit, level by level. Each number of actions has its own range of the seed's
/// sequence, so that its cases are the same in every search and no two cases share an id.
pub(super) fn of_levels(
    plan: &LimitPlan,
    shape: &ShapeArguments,
    seed: u64,
    (judge, bank): (JudgeOptions, &TopicBank),
) -> Result<Cases, Failure> {
    let levels = levels(plan, shape, seed)?;
    Ok(of_topics(draw_levels(levels, &OrderSuite::new(judge), bank)?, shape))
}

/// How these are drawn.
pub(super) fn levels(plan: &LimitPlan, shape: &ShapeArguments, seed: u64) -> Result<Vec<Drawn>, Failure> {
    let count: u64 = plan.levels().map(|(_, cases)| u64::from(cases)).sum();
    if count > CASES_MAX {
        return Err(Failure::usage(format!(
            "all numbers of actions together need {count} cases; a campaign has at most {CASES_MAX}"
        )));
    }
    let level = |(actions, count): (u32, u32)| {
        // A campaign has at most CASES_MAX cases, so the ranges of two numbers of actions never overlap.
        let first = u64::from(actions) * CASES_MAX;
        let draw = CaseArguments {
            actions: (actions, actions),
            first,
            infeasible: None,
            turns: None,
            shape: shape.clone(),
        };
        Drawn::of(&draw, seed, count.into())
    };
    plan.levels().map(level).collect()
}
