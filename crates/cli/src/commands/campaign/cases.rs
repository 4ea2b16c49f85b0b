//! The cases of campaigns of orders that command lines ask for: drawn, or from a file.

use std::num::NonZeroU32;

use planproof_campaign::{CASES_MAX, Cases, CasesOrigin};
use planproof_engine::LimitPlan;
use planproof_order::OrderSuite;
use planproof_order::synth::TopicBank;

use super::agreement::{Agreement, BesideReplay};
use super::plan::{CampaignPlan, CaseSource, WantedCases};
use crate::arguments::{CaseArguments, LimitArguments, ShapeArguments, TestArguments};
use crate::failure::Failure;
use crate::orders::{Drawn, draw_levels, of_orders};
use crate::select;
use crate::values::{AUTO_CASES_MAX, CaseCount};

impl TestArguments {
    /// What `planproof test` asks for, if it is for synthesised orders.
    pub(in crate::commands) fn plan(&self) -> CampaignPlan<'_> {
        let Self { from, shrink, all, draw, .. } = self;
        let named = [from, &shrink.shrink_to].into_iter().filter_map(Option::as_deref);
        CampaignPlan {
            sequels: self.sequels(),
            files: named.chain(all.files.paths()).collect(),
            faults: all.faults,
            fail_over: all.fail_over,
            is_drawn: from.is_none() && self.like.is_none(),
            until_decided: CaseCount::from(self.cases) == CaseCount::Auto,
            topics: draw.shape.topics.as_deref(),
            like: self.like.as_deref(),
            writes_smallest: shrink.shrink_to.is_some(),
            ..CampaignPlan::new(self, all.repeat)
        }
    }
}

impl CaseSource for TestArguments {
    fn make(&self, seed: u64, bank: &TopicBank, wanted: WantedCases) -> Result<Cases, Failure> {
        let suite = OrderSuite::new(self.campaign.judge.options());
        let Some(file) = &self.from else {
            let count = match (self.cases.into(), wanted.most) {
                (CaseCount::Auto, Some(most)) => most.min(AUTO_CASES_MAX),
                (count, _) => count.most(),
            };
            let drawn = Drawn::of(&self.draw, seed, count)?.draw_from(&suite, bank, wanted.shard)?;
            return Ok(of_topics(drawn, &self.draw.shape));
        };
        Ok(of_orders(&suite, select::read_cases(file)?))
    }

    fn agree(
        &self,
        agreement: &mut Agreement<'_>,
        plan: &CampaignPlan<'_>,
        beside: &BesideReplay<'_>,
    ) -> Result<(), Failure> {
        agreement.drawn_cases(self, plan, beside)?;
        agreement.repeats(plan, beside);
        agreement.sequels_of_orders(plan, beside);
        Ok(())
    }
}

/// The cases of a search for a limit with this plan, level by level. Each number of actions has its own range of the
/// seed's sequence, so that its cases are the same in every search and no two cases share an id.
pub(in crate::commands) struct LimitCases<'a> {
    pub(in crate::commands) plan: LimitPlan,
    pub(in crate::commands) arguments: &'a LimitArguments,
}

impl LimitCases<'_> {
    /// What `planproof limit` asks for.
    pub(in crate::commands) fn plan(&self) -> CampaignPlan<'_> {
        let Self { plan, arguments } = self;
        CampaignPlan {
            files: arguments.html.as_deref().into_iter().collect(),
            is_drawn: true,
            limit: Some(*plan),
            topics: arguments.shape.topics.as_deref(),
            ..CampaignPlan::new(self, NonZeroU32::MIN)
        }
    }
}

impl CaseSource for LimitCases<'_> {
    fn make(&self, seed: u64, bank: &TopicBank, _: WantedCases) -> Result<Cases, Failure> {
        let shape = &self.arguments.shape;
        let suite = OrderSuite::new(self.arguments.campaign.judge.options());
        Ok(of_topics(draw_levels(levels(&self.plan, shape, seed)?, &suite, bank)?, shape))
    }

    fn levels(&self, seed: u64) -> Result<Option<Vec<Drawn>>, Failure> {
        levels(&self.plan, &self.arguments.shape, seed).map(Some)
    }

    fn agree(
        &self,
        agreement: &mut Agreement<'_>,
        _plan: &CampaignPlan<'_>,
        beside: &BesideReplay<'_>,
    ) -> Result<(), Failure> {
        agreement.search(&self.plan, &self.arguments.shape, beside)
    }
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

/// How these are drawn.
fn levels(plan: &LimitPlan, shape: &ShapeArguments, seed: u64) -> Result<Vec<Drawn>, Failure> {
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
