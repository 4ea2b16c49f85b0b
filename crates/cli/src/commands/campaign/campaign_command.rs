//! The command that requests a campaign.

use std::num::NonZeroU32;
use std::path::Path;

use planproof_engine::LimitPlan;
use planproof_engine::studies::ShrinkOptions;
use planproof_order::DissectOptions;
use planproof_order::synth::TopicBank;

use planproof_campaign::{Cases, Shard, StoredOptions};
use planproof_suite::EffortLimits;
use planproof_trace::faults::FaultShares;

use super::cases::{self, Drawn};
use super::options::command_of;
use crate::arguments::{LimitArguments, TestArguments};
use crate::commands::check::judge_options;
use crate::failure::Failure;
use crate::suites::KeptOptions;
use crate::values::{AUTO_CASES_MAX, CaseCount};

/// The command that requests a campaign, with its own options for a new one.
#[derive(Debug, Clone, Copy)]
pub(in crate::commands) enum CampaignCommand<'a> {
    /// `test`.
    Test(&'a TestArguments),
    /// `limit`, for a search with this plan in cases of this shape.
    Limit(LimitPlan, &'a LimitArguments),
    /// `bench`, for these cases of any suite, each with this number of runs.
    Bench(&'a dyn MakesCases, NonZeroU32),
}

/// The maker of the cases of a new campaign of `bench`.
pub(in crate::commands) trait MakesCases: std::fmt::Debug {
    /// The name of their suite.
    fn suite(&self) -> &str;

    /// What their campaign keeps for their tools.
    ///
    /// # Errors
    /// It cannot be kept.
    fn kept(&self) -> Result<KeptOptions, Failure> {
        Ok(KeptOptions::default())
    }

    /// The files that the command line names beside those of every campaign: data, and reports.
    fn files(&self) -> Vec<&Path>;

    /// How their tools fail, if the command line says so.
    fn faults(&self) -> Option<FaultShares>;

    /// Limits on what runs take, if the command line gives some.
    fn fail_over(&self) -> Option<EffortLimits>;

    /// Whether the seed determines the cases.
    fn draws(&self) -> bool {
        false
    }

    /// Whether only as many of them are run as it takes to compare the campaign with a baseline.
    fn until_decided(&self) -> bool {
        false
    }

    /// The cases, of this seed if it determines them.
    ///
    /// # Errors
    /// The named data cannot be read, or is empty.
    fn make(&self, seed: u64) -> Result<Cases, Failure>;
}

impl CampaignCommand<'_> {
    /// The cases, drawn from this bank unless they are in a file; at most `most` where their number is left open. Of a
    /// `shard`, all cases or its own.
    pub(super) fn cases(
        &self,
        seed: u64,
        bank: &TopicBank,
        (most, shard): (Option<u64>, Option<Shard>),
    ) -> Result<Cases, Failure> {
        match self {
            Self::Test(arguments) => cases::of(arguments, seed, bank, (most, shard)),
            Self::Limit(plan, arguments) => {
                let judge = judge_options(&arguments.campaign.judge);
                cases::of_levels(plan, &arguments.shape, seed, (judge, bank))
            }
            Self::Bench(makes, _) => {
                let mut made = makes.make(seed)?;
                if makes.until_decided() {
                    let most = most.map_or(AUTO_CASES_MAX, |most| most.min(AUTO_CASES_MAX));
                    made.cases.truncate(most as usize);
                    made = Cases::given(made.suite, made.cases);
                }
                Ok(made)
            }
        }
    }

    /// How the cases of a search for a limit are drawn.
    pub(super) fn levels(&self, seed: u64) -> Result<Option<Vec<Drawn>>, Failure> {
        match self {
            Self::Limit(plan, arguments) => cases::levels(plan, &arguments.shape, seed).map(Some),
            Self::Test(_) | Self::Bench(..) => Ok(None),
        }
    }

    /// What the campaign keeps for the tools of a benchmark.
    pub(in crate::commands) fn kept(&self) -> Result<KeptOptions, Failure> {
        match self {
            Self::Test(_) | Self::Limit(..) => Ok(KeptOptions::default()),
            Self::Bench(makes, _) => makes.kept(),
        }
    }

    /// Whether the seed determines the cases.
    pub(super) fn draws_cases(&self) -> bool {
        match self {
            Self::Test(arguments) => arguments.from.is_none() && arguments.like.is_none(),
            Self::Limit(..) => true,
            Self::Bench(makes, _) => makes.draws(),
        }
    }

    /// Whether the seed determines the cases.
    pub(super) fn is_drawn(&self) -> bool {
        self.draws_cases()
    }

    /// The files that the command line names beside those of every campaign: cases or data, and reports.
    pub(super) fn files(&self) -> Vec<&Path> {
        match self {
            Self::Test(arguments) => {
                let TestArguments { from, shrink, all, .. } = arguments;
                let named = [from, &shrink.shrink_to].into_iter().filter_map(Option::as_deref);
                named.chain(all.files.paths()).collect()
            }
            Self::Limit(_, arguments) => arguments.html.as_deref().into_iter().collect(),
            Self::Bench(makes, _) => makes.files(),
        }
    }

    /// The cases of a benchmark, of this seed if it determines them, with the failures of their tools that it gives.
    ///
    /// # Errors
    /// Those of [`MakesCases::make`], and of [`Cases::with_faults`].
    pub(in crate::commands) fn cases_of_suite(&self, seed: u64) -> Result<Cases, Failure> {
        match self {
            Self::Bench(makes, _) => match makes.faults() {
                Some(shares) => makes.make(seed)?.with_faults(shares, seed).map_err(Failure::from),
                None => makes.make(seed),
            },
            Self::Test(_) | Self::Limit(..) => Err(Failure::usage("orders are made by `planproof test`")),
        }
    }

    /// How the tools of the cases fail, if they do.
    pub(super) fn faults(&self) -> Option<FaultShares> {
        match self {
            Self::Test(arguments) => arguments.all.faults,
            Self::Bench(makes, _) => makes.faults(),
            Self::Limit(..) => None,
        }
    }

    /// Limits on what runs take, if the command line gives some.
    pub(super) fn fail_over(&self) -> Option<EffortLimits> {
        match self {
            Self::Test(arguments) => arguments.all.fail_over,
            Self::Bench(makes, _) => makes.fail_over(),
            Self::Limit(..) => None,
        }
    }

    /// The campaign whose cases are run again, if there is one.
    pub(super) fn like(&self) -> Option<&str> {
        match self {
            Self::Test(arguments) => arguments.like.as_deref(),
            Self::Limit(..) | Self::Bench(..) => None,
        }
    }

    /// The file of topics, if the user has one.
    pub(super) fn topics(&self) -> Option<&Path> {
        match self {
            Self::Test(arguments) => arguments.draw.shape.topics.as_deref(),
            Self::Limit(_, arguments) => arguments.shape.topics.as_deref(),
            Self::Bench(..) => None,
        }
    }

    /// The name of the suite, unless the command is for orders.
    pub(super) fn suite(&self) -> Option<&str> {
        match self {
            Self::Test(_) | Self::Limit(..) => None,
            Self::Bench(makes, _) => Some(makes.suite()),
        }
    }

    /// How often each case is run.
    pub(super) fn repeats(&self) -> NonZeroU32 {
        match self {
            Self::Test(arguments) => arguments.all.repeat,
            Self::Bench(_, repeat) => *repeat,
            Self::Limit(..) => NonZeroU32::MIN,
        }
    }

    pub(super) fn dissect(&self) -> Option<DissectOptions> {
        match self {
            Self::Test(arguments) => arguments.dissect.options(),
            Self::Limit(..) | Self::Bench(..) => None,
        }
    }

    pub(super) fn shrink(&self) -> Option<ShrinkOptions> {
        match self {
            Self::Test(arguments) => arguments.shrink.options(),
            Self::Limit(..) | Self::Bench(..) => None,
        }
    }

    /// Makes sure that failures are shrunk if the smallest cases are requested.
    pub(super) fn must_be_shrunk(&self, how: Option<&ShrinkOptions>) -> Result<(), Failure> {
        let Self::Test(TestArguments { shrink, .. }) = self else { return Ok(()) };
        if shrink.shrink_to.is_some() && how.is_none() {
            let what = "--shrink-to: the failures of the campaign are not shrunk; add --shrink";
            return Err(Failure::usage(what));
        }
        Ok(())
    }

    /// Whether only as many cases are run as it takes to compare the campaign with a baseline.
    pub(super) fn until_decided(&self) -> bool {
        match self {
            Self::Test(arguments) => CaseCount::from(arguments.cases) == CaseCount::Auto,
            Self::Bench(makes, _) => makes.until_decided(),
            Self::Limit(..) => false,
        }
    }

    pub(super) fn limit(&self) -> Option<LimitPlan> {
        match self {
            Self::Test(_) | Self::Bench(..) => None,
            Self::Limit(plan, _) => Some(*plan),
        }
    }

    /// Makes sure that an earlier campaign, called `what`, belongs to this command. If not, explains how to resume it
    /// with `go_on`: the words before the command, and the option after it.
    pub(in crate::commands) fn must_fit(
        &self,
        options: &StoredOptions,
        what: &str,
        go_on: (&str, &str),
    ) -> Result<(), Failure> {
        let (words, option) = go_on;
        let now = match self {
            Self::Test(_) => "test".to_owned(),
            Self::Limit(..) => "limit".to_owned(),
            Self::Bench(makes, _) => format!("bench {}", makes.suite()),
        };
        let before = command_of(options);
        if now == before {
            return Ok(());
        }
        let is = match before.as_str() {
            "test" if now == "limit" => "no search for a limit".to_owned(),
            "test" => "a test".to_owned(),
            "limit" => "a search for a limit".to_owned(),
            other => format!("one of `planproof {other}`"),
        };
        Err(Failure::usage(format!("{what} is {is}; {words} `planproof {before} {option}`")))
    }
}
