//! Campaigns that a campaign leads to: the trials of the dissection of its failures, and the candidates of their
//! shrinking.

use std::num::NonZeroU32;

use planproof_campaign::milliseconds_now;
use planproof_engine::card_to_json;
use planproof_order::{OrderSuite, synth};
use planproof_report::CommandLines;
use planproof_store::{CampaignRow, DerivedCase, NewCampaign, NewCase, StoreError};
use planproof_suite::Case as _;

use super::prepared::Prepared;
use crate::failure::Failure;
use crate::secrets;

/// What a campaign leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Derived {
    Dissection,
    Shrinking,
}

impl Derived {
    /// The id of the campaign that this campaign leads to.
    pub(crate) fn id(self, campaign: &str) -> String {
        format!("{campaign}.{}", self.noun())
    }

    /// The one of this kind among the campaigns that a campaign led to.
    pub(crate) fn find(self, campaign: &str, derived: &[CampaignRow]) -> Option<CampaignRow> {
        derived.iter().find(|it| it.id == self.id(campaign)).cloned()
    }

    /// The campaign that led to the one with this id; `None` if there is none.
    pub(crate) fn parent(id: &str) -> Option<&str> {
        [Self::Dissection, Self::Shrinking]
            .iter()
            .find_map(|it| id.strip_suffix(it.noun())?.strip_suffix('.'))
    }

    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Dissection => "dissection",
            Self::Shrinking => "shrinking",
        }
    }

    fn option(self) -> &'static str {
        match self {
            Self::Dissection => "--dissect",
            Self::Shrinking => "--shrink",
        }
    }

    /// The options in a resumed campaign: those it was begun with, or those of the command line if there were none.
    pub(super) fn resumed<T: Copy + PartialEq>(
        self,
        now: Option<T>,
        stored: Option<T>,
        begun: Option<T>,
    ) -> Result<Option<T>, Failure> {
        // What was begun decides: it may have been requested only on an earlier resume, of which the campaign's own
        // options say nothing.
        let before = begun.or(stored);
        match (now, before) {
            (Some(now), Some(before)) if now != before => Err(Failure::usage(format!(
                "{}: the {} of the campaign was already started with other options; resume it without such options",
                self.option(),
                self.noun()
            ))),
            (now, before) => Ok(before.or(now)),
        }
    }
}

/// Such a campaign cannot resume alone: its next cases follow from the one that led to it.
pub(super) fn must_be_asked_for(campaign: &str, commands: &CommandLines) -> Result<(), Failure> {
    let Some(parent) = Derived::parent(campaign) else { return Ok(()) };
    Err(Failure::usage(format!(
        "{campaign} holds runs derived from the campaign {parent}: resume that one, `{}`",
        commands.resume(parent)
    )))
}

/// Puts the cases of such a campaign into the store.
pub(super) struct Keeper<'a> {
    prepared: &'a Prepared,
    of: Derived,
    /// Seed of its runs, and how often a case of it can be run.
    seed: u64,
    repeats: NonZeroU32,
    is_created: bool,
}

impl<'a> Keeper<'a> {
    pub(super) fn new(prepared: &'a Prepared, of: Derived, seed: u64, repeats: NonZeroU32) -> Self {
        Self { prepared, of, seed, repeats, is_created: false }
    }

    /// Adds cases, each with its origin, after the `first` ones that exist.
    pub(super) fn keep<'c>(
        &mut self,
        first: u32,
        cases: impl Iterator<Item = (&'c synth::PlanningCase, String)>,
    ) -> Result<(), StoreError> {
        let Prepared { run: planproof_campaign::Prepared { campaign, options, store, .. }, order, .. } =
            self.prepared;
        let id = self.of.id(&campaign.id);
        // Created with its first cases, so that a campaign without failures leads to none.
        if !self.is_created && self.of.find(&campaign.id, &store.derived(&campaign.id)?).is_none() {
            let mut options = options.clone();
            (options.seed, options.limit, options.fail_over) = (self.seed, None, None);
            // Nobody typed a command for it, and what its runs take is booked with the campaign that led to it.
            let row = NewCampaign {
                id: &id,
                created_ms: milliseconds_now(),
                command_line: "",
                agent: &campaign.agent.name,
                model: campaign.agent.model.as_deref(),
                simulated: campaign.agent.simulated,
                // All its keys are strings, so rendering cannot fail.
                options: &options.to_json(&secrets::held()).unwrap_or_default(),
                repeats: self.repeats.get(),
                budgets: "{}",
            };
            store.create_derived(&campaign.id, &row)?;
        }
        self.is_created = true;
        let orders = OrderSuite::new(order.judge());
        let cases: Vec<DerivedCase> =
            cases.map(|(case, origin)| derived_case(&orders, case, origin)).collect();
        store.add_cases(&id, first, &cases)
    }
}

fn derived_case(orders: &OrderSuite, case: &synth::PlanningCase, origin: String) -> DerivedCase {
    let case = orders.wrap(case.clone());
    DerivedCase {
        case: NewCase {
            id: case.card().id.clone(),
            json: case.to_line(),
            summary: Some(card_to_json(case.card())),
        },
        origin,
    }
}
