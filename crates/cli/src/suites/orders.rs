//! Campaigns of orders: where their cases come from (`source.rs`, `like.rs`), whether a command line agrees with a
//! recording (`agreement.rs`), a part of a dissection, learning data (`learning.rs`), and the commands that begin
//! campaigns of orders alone, or judge plans.

mod agreement;
pub(crate) mod arguments;
pub(crate) mod check;
pub(crate) mod demo;
pub(crate) mod learning;
mod like;
pub(crate) mod limit;
mod source;

use planproof_engine::Outcome;
use planproof_engine::studies::{DissectionReport, TopicErrors};
use planproof_order::dissect::report as dissection_report;
use planproof_order::{
    DissectOptions, Dissection, Failed, LedTo, OrderOutcome, OrderReader, errors_by_topic, typed,
};
use planproof_output::failure::Failure;
use planproof_suite::{Card, RunResult};
use serde::Deserialize as _;

pub(crate) use source::TestCases;

use crate::stored::Stored;

/// The name of the dissection among the sequels of orders.
const DISSECTION: &str = "dissection";

/// The dissection of some of a campaign's errors.
pub(crate) struct PartOfDissection {
    pub(crate) report: DissectionReport,
    /// How many errors those of the report were drawn from.
    pub(crate) dissected: u64,
    pub(crate) topics: Vec<TopicErrors>,
}

impl PartOfDissection {
    /// The dissection of the errors in cases that `counts`, at most `errors_max` of them, drawn by the seed of the
    /// campaign; how many there were to draw from, and the failures of every topic in these cases. `None` without a
    /// dissection.
    ///
    /// # Errors
    /// Its cases are not orders.
    pub(crate) fn of(
        stored: &Stored,
        counts: impl Fn(&Card) -> bool,
        errors_max: u32,
    ) -> Result<Option<Self>, Failure> {
        let found = stored.sequels.iter().find(|(planned, _)| planned.sequel.name() == DISSECTION);
        let Some((planned, begun)) = found.and_then(|(planned, _)| Some((planned, planned.begun.as_ref()?)))
        else {
            return Ok(None);
        };
        let wrong = || Failure::usage("the trials are not those of a dissection");
        let how = DissectOptions::deserialize(&planned.how).map_err(|_| wrong())?;
        let (campaign, order) = (&stored.campaign, stored.options.of_suite.own.orders());
        let reader = OrderReader { options: order.judge(), ..OrderReader::default() };
        let cases = reader.typed(&campaign.cases).map_err(Failure::from)?;
        let mut outcomes: Vec<OrderOutcome> = campaign.outcomes.iter().map(typed).collect();
        let results: Vec<RunResult> = begun.outcomes.iter().map(Outcome::result).collect();
        let trials = LedTo::new(&begun.cases, &results).map_err(Failure::from)?;
        let failed = Failed { cases: &cases, outcomes: &outcomes, seed: stored.options.kept.seed };
        let mut part = Dissection::read(failed, how, order.bank(), trials).ok_or_else(wrong)?;
        let counts =
            |ordinal: u32| campaign.cases.get(ordinal as usize).is_some_and(|case| counts(case.card()));
        // The cases are limited before the errors are drawn, so that the draw is from those that count.
        part.retain(counts);
        let dissected = part.errors.len() as u64;
        part.draw(errors_max, stored.options.kept.seed);
        outcomes.retain(|outcome| counts(outcome.ordinal));
        let id = planproof_campaign::sequel_id(&campaign.row.id, DISSECTION);
        Ok(Some(Self {
            report: dissection_report(&id, &part, &cases, &outcomes),
            dissected,
            topics: errors_by_topic(&cases, &outcomes),
        }))
    }
}
