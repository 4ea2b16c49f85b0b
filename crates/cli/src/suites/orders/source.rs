//! Where campaigns of orders have their cases from: drawn, from a file, or those of an earlier campaign.

use std::cell::OnceCell;
use std::num::NonZeroU32;
use std::path::Path;

use planproof_campaign::{CASES_MAX, Cases, CasesOrigin, RequestedCampaign};
use planproof_doors::OwnOptions;
use planproof_doors::orders::arguments::{CaseArguments, ShapeArguments};
use planproof_doors::orders::{draw_cases, draw_levels, draw_of, of_orders, read_cases, topic_bank};
use planproof_engine::LimitPlan;
use planproof_order::synth::TopicBank;
use planproof_order::{OrderDraw, OrderOptions, OrderSuite};
use planproof_output::failure::Failure;

use super::agreement;
use super::like::Like;
use crate::arguments::{Global, LimitArguments, TestArguments};
use crate::commands::campaign::{Agreement, BesideReplay, CampaignPlan, CaseSource, WantedCases};
use crate::values::{AUTO_CASES_MAX, CaseCount};

/// The topics that a command line names, read when they are first needed: their file may be standard input.
#[derive(Debug)]
struct Topics<'a> {
    file: Option<&'a Path>,
    bank: OnceCell<TopicBank>,
}

impl<'a> Topics<'a> {
    fn new(shape: &'a ShapeArguments) -> Self {
        Self { file: shape.topics.as_deref(), bank: OnceCell::new() }
    }

    /// The topics to draw from.
    fn bank(&self) -> Result<&TopicBank, Failure> {
        once(&self.bank, || topic_bank(self.file))
    }

    /// The topics and not their file, which may change before the campaign is resumed; `None` for the built-in ones.
    fn own(&self) -> Result<Option<TopicBank>, Failure> {
        self.file.map(|_| self.bank().cloned()).transpose()
    }

    /// The same for a recording: in full if they are about topics of the user's own, whose file may have changed by
    /// then.
    fn with(&self, cases: Cases) -> Cases {
        match self.file {
            Some(_) => {
                Cases { origin: CasesOrigin::Given(cases.cases.len()), drawn: Some(cases.origin), ..cases }
            }
            None => cases,
        }
    }
}

/// The value of a cell, made when it is first needed.
fn once<T>(cell: &OnceCell<T>, make: impl FnOnce() -> Result<T, Failure>) -> Result<&T, Failure> {
    match cell.get() {
        Some(made) => Ok(made),
        None => {
            let made = make()?;
            Ok(cell.get_or_init(|| made))
        }
    }
}

/// The cases of `planproof test`, if it is for synthesised orders.
pub(crate) struct TestCases<'a> {
    arguments: &'a TestArguments,
    global: &'a Global,
    topics: Topics<'a>,
    like: OnceCell<Like>,
}

impl<'a> TestCases<'a> {
    pub(crate) fn new(arguments: &'a TestArguments, global: &'a Global) -> Self {
        Self { arguments, global, topics: Topics::new(&arguments.draw.shape), like: OnceCell::new() }
    }

    /// What the command line asks for.
    ///
    /// # Errors
    /// An option of a sequel has no such value.
    pub(crate) fn plan(&self) -> Result<CampaignPlan<'_>, Failure> {
        let TestArguments { from, shrink_to, all, .. } = self.arguments;
        let named = [from, shrink_to].into_iter().filter_map(Option::as_deref);
        Ok(CampaignPlan {
            sequels: self.arguments.sequels.asked()?,
            files: named.chain(all.files.paths()).collect(),
            faults: all.faults,
            fail_over: all.fail_over,
            is_drawn: from.is_none() && self.arguments.like.is_none(),
            until_decided: CaseCount::from(self.arguments.cases) == CaseCount::Auto,
            writes_smallest: shrink_to.is_some(),
            ..CampaignPlan::new(self, all.repeat)
        })
    }

    /// The earlier campaign whose cases are run again, if the command line names one.
    fn like(&self) -> Result<Option<&Like>, Failure> {
        let read = |run: &String| once(&self.like, || Like::read(&self.arguments.campaign, run, self.global));
        self.arguments.like.as_ref().map(read).transpose()
    }

    fn options(&self) -> Result<OrderOptions, Failure> {
        let judge = self.arguments.campaign.judge.options();
        let mut options = OrderOptions { topics: self.topics.own()?, ..OrderOptions::judging(judge) };
        if let Some(like) = self.like()? {
            like.judge(&mut options, self.global);
        }
        Ok(options)
    }
}

impl CaseSource for TestCases<'_> {
    fn kept(&self, _seed: u64) -> Result<OwnOptions, Failure> {
        Ok(OwnOptions::of_orders(self.options()?))
    }

    fn take_over(&self, new: &mut RequestedCampaign) -> Result<(), Failure> {
        if let Some(like) = self.like()? {
            like.run(new, self.global);
        }
        Ok(())
    }

    fn make(&self, seed: u64, wanted: WantedCases) -> Result<Cases, Failure> {
        if let Some(like) = self.like()? {
            return Ok(like.cases(&self.options()?));
        }
        let suite = OrderSuite::new(self.arguments.campaign.judge.options());
        let Some(file) = &self.arguments.from else {
            let count = match (self.arguments.cases.into(), wanted.most) {
                (CaseCount::Auto, Some(most)) => most.min(AUTO_CASES_MAX),
                (count, _) => count.most(),
            };
            let draw = draw_of(&self.arguments.draw, seed, count)?;
            return Ok(self.topics.with(draw_cases(draw, &suite, self.topics.bank()?, wanted.shard)?));
        };
        Ok(of_orders(&suite, read_cases(file)?))
    }

    fn agree(
        &self,
        agreement: &mut Agreement<'_>,
        plan: &CampaignPlan<'_>,
        beside: &BesideReplay<'_>,
    ) -> Result<(), Failure> {
        agreement::judging(agreement, &self.arguments.campaign.judge, beside);
        agreement.seed(beside);
        agreement::topics(agreement, self.topics.file, beside)?;
        agreement::drawn_cases(agreement, self.arguments, plan, beside)?;
        agreement.repeats(plan, beside);
        agreement::sequels(agreement, plan, beside);
        Ok(())
    }
}

/// The cases of a search for a limit with this plan, level by level. Each number of actions has its own range of the
/// seed's sequence, so that its cases are the same in every search and no two cases share an id.
pub(crate) struct LimitCases<'a> {
    plan: LimitPlan,
    arguments: &'a LimitArguments,
    topics: Topics<'a>,
}

impl<'a> LimitCases<'a> {
    pub(crate) fn new(plan: LimitPlan, arguments: &'a LimitArguments) -> Self {
        Self { plan, arguments, topics: Topics::new(&arguments.shape) }
    }

    /// What `planproof limit` asks for.
    pub(crate) fn plan(&self) -> CampaignPlan<'_> {
        CampaignPlan {
            files: self.arguments.html.as_deref().into_iter().collect(),
            is_drawn: true,
            limit: Some(self.plan),
            ..CampaignPlan::new(self, NonZeroU32::MIN)
        }
    }

    /// How the cases are drawn.
    fn levels(&self, seed: u64) -> Result<Vec<OrderDraw>, Failure> {
        let count: u64 = self.plan.levels().map(|(_, cases)| u64::from(cases)).sum();
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
                shape: self.arguments.shape.clone(),
            };
            draw_of(&draw, seed, count.into())
        };
        self.plan.levels().map(level).collect()
    }
}

impl CaseSource for LimitCases<'_> {
    fn kept(&self, seed: u64) -> Result<OwnOptions, Failure> {
        let judge = self.arguments.campaign.judge.options();
        let (topics, levels) = (self.topics.own()?, Some(self.levels(seed)?));
        Ok(OwnOptions::of_orders(OrderOptions { topics, levels, ..OrderOptions::judging(judge) }))
    }

    fn make(&self, seed: u64, _: WantedCases) -> Result<Cases, Failure> {
        let suite = OrderSuite::new(self.arguments.campaign.judge.options());
        Ok(self.topics.with(draw_levels(self.levels(seed)?, &suite, self.topics.bank()?)?))
    }

    fn agree(
        &self,
        agreement: &mut Agreement<'_>,
        _plan: &CampaignPlan<'_>,
        beside: &BesideReplay<'_>,
    ) -> Result<(), Failure> {
        agreement::judging(agreement, &self.arguments.campaign.judge, beside);
        agreement.seed(beside);
        agreement::topics(agreement, self.topics.file, beside)?;
        agreement::search(agreement, &self.plan, &self.arguments.shape, beside)
    }
}
