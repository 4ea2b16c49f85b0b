//! Whether a command line about orders agrees with a recording: how runs are judged, how cases are drawn, and which
//! sequels there are.

use std::path::Path;

use planproof_campaign::CasesOrigin;
use planproof_engine::LimitPlan;
use planproof_order::{OrderMaking, OrderSuite};
use planproof_output::failure::Failure;
use planproof_suite::Suite as _;

use crate::arguments::TestArguments;
use crate::commands::campaign::{Agreement, BesideReplay, CampaignPlan, are_same, option_in_words};
use planproof_doors::orders::arguments::{CaseArguments, JudgeArguments, ShapeArguments};
use planproof_doors::orders::{as_written, draw_of, of_orders, read_cases, topic_bank};
use planproof_doors::{SequelOptions, Written, switch};

/// Compares what counts as a failure.
pub(super) fn judging(agreement: &mut Agreement<'_>, now: &JudgeArguments, beside: &BesideReplay<'_>) {
    let then = beside.of_suite.own.orders().judge();
    for (id, then, now) in [
        ("allow_repeats", !then.repeated_fails, now.allow_repeats),
        ("allow_distractors", !then.distractor_fails, now.allow_distractors),
        ("fail_at_once", then.at_once_fails, now.fail_at_once),
    ] {
        agreement.option(id, switch(then).as_deref(), switch(now).as_deref());
    }
}

/// Compares topics by their content: the recording holds the topics themselves, and their file may be elsewhere by now.
pub(super) fn topics(
    agreement: &mut Agreement<'_>,
    file: Option<&Path>,
    beside: &BesideReplay<'_>,
) -> Result<(), Failure> {
    let Some(file) = file.filter(|_| agreement.has("topics")) else { return Ok(()) };
    let shown = file.display();
    match &beside.of_suite.own.orders().topics {
        Some(bank) if *bank == topic_bank(Some(file))? => {}
        Some(_) => agreement.contradict(format!("recorded with topics that differ from --topics {shown}")),
        None => agreement.contradict(format!("recorded without --topics, now with --topics {shown}")),
    }
    Ok(())
}

/// Compares the cases of a test.
pub(super) fn drawn_cases(
    agreement: &mut Agreement<'_>,
    test: &TestArguments,
    plan: &CampaignPlan<'_>,
    beside: &BesideReplay<'_>,
) -> Result<(), Failure> {
    let (campaign, cases) = (&beside.recorded.campaign, &beside.all.cases);
    if let Some(file) = &test.from {
        let orders = OrderSuite::new(beside.of_suite.own.orders().judge());
        let now = plan.failing(of_orders(&orders, read_cases(file)?), campaign.options.seed)?.cases;
        if !are_same(&now, cases) {
            let (recorded, shown, now) = (cases.len(), file.display(), now.len());
            agreement.contradict(format!(
                "recorded with {recorded} cases that are not the {now} of --from {shown} now"
            ));
        }
        return Ok(());
    }
    let now = as_written(&draw_of(&test.draw, beside.seed, test.cases)?);
    let origin = campaign.drawn.as_ref().unwrap_or(&campaign.cases);
    match (made(origin)?, origin) {
        (Some(OrderMaking::Drawn(drawn)), _) => agreement.options(as_written(&drawn), &now),
        // The only known fact about cases from a file is their number.
        (None, CasesOrigin::Given(count)) => {
            agreement.option("cases", Some(&count.to_string()), Some(&test.cases.to_string()));
            for (id, now) in now.into_iter().filter(|(id, _)| *id != "cases") {
                if agreement.has(id) {
                    let now = option_in_words(id, now.as_deref());
                    agreement.contradict(format!("recorded with cases from a file, now {now}"));
                }
            }
        }
        // `must_fit` has refused the recording of a search for a limit.
        (Some(OrderMaking::Levels(_)) | None, _) => {}
    }
    Ok(())
}

/// Compares a search for a limit.
pub(super) fn search(
    agreement: &mut Agreement<'_>,
    plan: &LimitPlan,
    shape: &ShapeArguments,
    beside: &BesideReplay<'_>,
) -> Result<(), Failure> {
    let note = &beside.recorded.campaign;
    agreement.options(note.options.limit.as_ref().map(searching).unwrap_or_default(), &searching(plan));
    if let Some(OrderMaking::Levels(levels)) = made(note.drawn.as_ref().unwrap_or(&note.cases))? {
        // Any number of actions will do here, because it is not compared.
        let now = CaseArguments {
            actions: (plan.from, plan.from),
            first: 0,
            infeasible: None,
            turns: None,
            shape: shape.clone(),
        };
        let now = as_written(&draw_of(&now, beside.seed, 1)?);
        let shape = levels.first().map(as_written).unwrap_or_default();
        // These differ from level to level; `searching` has compared the search they follow from.
        let of_level = ["cases", "first", "actions", "infeasible", "turns"];
        agreement.options(shape.into_iter().filter(|(id, _)| !of_level.contains(id)).collect(), &now);
    }
    Ok(())
}

/// Compares the options of the sequels.
pub(super) fn sequels(agreement: &mut Agreement<'_>, plan: &CampaignPlan<'_>, beside: &BesideReplay<'_>) {
    for sequel in OrderSuite::default().sequels() {
        let written = |all: &SequelOptions| sequel.written(all.get(sequel.option()));
        agreement.options(written(&beside.of_suite.sequels), &written(&plan.sequels));
    }
}

/// How cases were made, unless they were given.
fn made(origin: &CasesOrigin) -> Result<Option<OrderMaking>, Failure> {
    match origin {
        CasesOrigin::Made(how) => OrderMaking::read(how).map(Some).map_err(Failure::from),
        CasesOrigin::Given(_) => Ok(None),
    }
}

fn searching(plan: &LimitPlan) -> Vec<Written> {
    let LimitPlan { from, to, cases_per_pair, cases_max, threshold, early_stop, past_limit } = *plan;
    let number = |number: u32| Some(number.to_string());
    vec![
        ("from", number(from)),
        ("to", number(to)),
        // Rounded to six decimals: 0.55 * 100 is not 55 in floating point.
        ("threshold", Some(format!("{}%", (threshold * 1e8).round() / 1e6))),
        ("cases_per_pair", number(cases_per_pair)),
        ("cases_max", number(cases_max)),
        ("no_early_stop", switch(!early_stop)),
        ("past_limit", switch(past_limit)),
    ]
}
