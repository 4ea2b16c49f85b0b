//! A new campaign like an earlier one: the same cases, run in the same way, with another agent or a changed one.
//!
//! Programs are tested on cases of a secret seed, so that they cannot draw them; only the store knows the cases of an
//! earlier campaign.

use std::num::NonZeroU32;
use std::time::Duration;

use planproof_campaign::{Cases, RequestedCampaign};
use planproof_order::synth::{JudgeOptions, PlanningCase, TopicBank, file::read_case};
use planproof_order::{DrawnCases, OrderOptions, OrderSuite};
use planproof_output::failure::Failure;
use planproof_store::{CampaignRow, DamagedRun, Signatures, Store};
use planproof_suite::EffortLimits;

use crate::arguments::{CampaignArguments, Global};
use crate::damage;
use crate::stored::{self, must_exist};
use planproof_doors::orders::of_orders;

/// What is taken from the earlier campaign.
#[derive(Debug)]
pub(super) struct Like {
    cases: Vec<PlanningCase>,
    topics: Option<TopicBank>,
    judge: JudgeOptions,
    seed: u64,
    seed_is_secret: bool,
    repeats: NonZeroU32,
    timeout: Duration,
    iterations: Option<u32>,
    reply_tokens: Option<u32>,
    fail_over: Option<EffortLimits>,
}

impl Like {
    /// Reads a campaign of orders in the run store of the command line.
    ///
    /// # Errors
    /// There is no such campaign, it has cases of another suite, or a seed is named, too.
    pub(super) fn read(arguments: &CampaignArguments, run: &str, global: &Global) -> Result<Self, Failure> {
        if global.given.has("seed") {
            return Err(Failure::usage("--like takes the seed of the other campaign: leave --seed out"));
        }
        let path = arguments.store.store.as_path();
        must_exist(path)?;
        let store = Store::open_read_only(path)?;
        let row = stored::find(&store, run)?;
        let options = stored::options(&row)?;
        options.must_be_of_orders(
            &row.id,
            "planproof test has orders: run the agent with planproof bench again",
        )?;
        // A case that was changed since its run would be another test under the same name.
        must_be_whole(&store, &row)?;
        let mut cases = Vec::new();
        for case in store.cases(&row.id)? {
            let case = case?;
            // A search for a limit only names the cases that it did not run.
            if DrawnCases::named(&case.json).is_some() {
                continue;
            }
            let read = read_case(&case.json);
            cases.push(
                read.map_err(|error| Failure::outside(format!("case {} of {}: {error}", case.id, row.id)))?,
            );
        }
        let (kept, order) = (&options.kept, options.of_suite.own.orders().into_owned());
        Ok(Self {
            cases,
            judge: order.judge(),
            topics: order.topics,
            seed: kept.seed,
            seed_is_secret: kept.seed_is_secret,
            repeats: NonZeroU32::new(row.repeats).unwrap_or(NonZeroU32::MIN),
            timeout: kept.timeout(),
            iterations: (!kept.iterations_follow_case).then_some(kept.iterations),
            reply_tokens: kept.reply_tokens,
            fail_over: kept.fail_over,
        })
    }

    /// Its cases for a judge with these options.
    pub(super) fn cases(&self, order: &OrderOptions) -> Cases {
        of_orders(&OrderSuite::new(order.judge()), self.cases.clone())
    }

    /// Takes over how it was judged, unless the command line says otherwise.
    pub(super) fn judge(&self, order: &mut OrderOptions, global: &Global) {
        let given = |option| global.given.has(option);
        let judge = self.judge;
        if !given("allow_repeats") {
            order.repeated_fails = judge.repeated_fails;
        }
        if !given("allow_distractors") {
            order.distractor_fails = judge.distractor_fails;
        }
        if !given("fail_at_once") {
            order.at_once_fails = judge.at_once_fails;
        }
        order.topics = order.topics.take().or_else(|| self.topics.clone());
    }

    /// Takes over how its runs were made, unless the command line says otherwise.
    pub(super) fn run(&self, new: &mut RequestedCampaign, global: &Global) {
        let given = |option| global.given.has(option);
        // What was hidden from a program stays hidden.
        (new.seed, new.seed_is_secret) = (self.seed, self.seed_is_secret);
        if !given("repeat") {
            new.repeats = self.repeats;
        }
        if !given("timeout") {
            new.timeout = self.timeout;
        }
        if !given("iterations") {
            new.iterations = self.iterations;
        }
        if let Some(tokens) = self.reply_tokens.filter(|_| !given("reply_tokens")) {
            new.reply_tokens = tokens;
        }
        new.fail_over = new.fail_over.or(self.fail_over);
    }
}

/// Makes sure that the runs of a campaign, and with them its cases, are what was written.
///
/// # Errors
/// Some are not.
fn must_be_whole(store: &Store, row: &CampaignRow) -> Result<(), Failure> {
    let seals = store.seals(&row.id, Signatures::Ends)?;
    let mut damaged = seals.as_ref().map(|seals| seals.damaged.clone()).unwrap_or_default();
    for run in store.runs(&row.id)? {
        let run = run?;
        damaged.extend(run.damage.map(|damage| DamagedRun { unit: run.unit, damage }));
    }
    // A run may be in both lists.
    damaged.sort_by_key(|run| run.unit);
    damaged.dedup_by_key(|run| run.unit);
    let named = planproof_campaign::name_damaged(store, &row.id, &damaged);
    damage::must_be_none(&row.id, &named, seals.as_ref())
}
