//! What a command asks for, resolved once: the functions that prepare, run and report a campaign read it and do not ask
//! which command it was.

use std::num::NonZeroU32;
use std::path::Path;

use planproof_campaign::{Cases, Shard, StoredOptions};
use planproof_engine::LimitPlan;
use planproof_order::synth::TopicBank;
use planproof_suite::EffortLimits;
use planproof_trace::faults::FaultShares;

use super::agreement::{Agreement, BesideReplay};
use crate::arguments::SHRINK;
use crate::failure::Failure;
use crate::orders::Drawn;
use crate::stored_options::{ORDER, SequelOptions, command_of};
use crate::suites::KeptOptions;
use crate::values::AUTO_CASES_MAX;

/// Which of all cases are needed.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::commands) struct WantedCases {
    /// How many at most, where their number is left open: those that can be compared with a baseline.
    pub(in crate::commands) most: Option<u64>,
    /// The shard that runs them. Whoever draws cases one by one may make its own alone, as [`Cases::dealt`] then says.
    pub(in crate::commands) shard: Option<Shard>,
}

/// Where the cases of a new campaign come from.
pub(in crate::commands) trait CaseSource {
    /// The cases, of this seed and about topics of this bank if these determine them.
    ///
    /// # Errors
    /// The named data cannot be read, or is empty.
    fn make(&self, seed: u64, bank: &TopicBank, wanted: WantedCases) -> Result<Cases, Failure>;

    /// How the cases of a search for a limit are drawn.
    ///
    /// # Errors
    /// There would be too many.
    fn levels(&self, seed: u64) -> Result<Option<Vec<Drawn>>, Failure> {
        let _ = seed;
        Ok(None)
    }

    /// Notes where the command line contradicts a recording about cases, and about how often they are run.
    ///
    /// # Errors
    /// Something that the command line names cannot be read.
    fn agree(
        &self,
        agreement: &mut Agreement<'_>,
        plan: &CampaignPlan<'_>,
        beside: &BesideReplay<'_>,
    ) -> Result<(), Failure> {
        agreement.made_cases(plan, beside)
    }
}

/// What a command asks for.
#[derive(Clone)]
pub(in crate::commands) struct CampaignPlan<'a> {
    pub(in crate::commands) source: &'a dyn CaseSource,
    /// The name of the suite, unless the command is for orders.
    pub(in crate::commands) suite: Option<&'a str>,
    /// How often each case is run.
    pub(in crate::commands) repeats: NonZeroU32,
    /// What the campaign keeps for the tools of its suite.
    pub(in crate::commands) kept: KeptOptions,
    /// How the campaign's sequels are done, by the options that ask for them.
    pub(in crate::commands) sequels: SequelOptions,
    /// The files that the command line names beside those of every campaign: cases or data, and reports.
    pub(in crate::commands) files: Vec<&'a Path>,
    /// How the tools of the cases fail, if they do.
    pub(in crate::commands) faults: Option<FaultShares>,
    /// Limits on what runs take, if the command line gives some.
    pub(in crate::commands) fail_over: Option<EffortLimits>,
    /// Whether the seed determines the cases.
    pub(in crate::commands) is_drawn: bool,
    /// The search for a limit, if it is one.
    pub(in crate::commands) limit: Option<LimitPlan>,
    /// Whether only as many cases are run as it takes to compare the campaign with a baseline.
    pub(in crate::commands) until_decided: bool,
    /// The file of topics, if the user has one.
    pub(in crate::commands) topics: Option<&'a Path>,
    /// The campaign whose cases are run again, if there is one.
    pub(in crate::commands) like: Option<&'a str>,
    /// Whether the smallest failing cases are written to a file.
    pub(in crate::commands) writes_smallest: bool,
}

impl<'a> CampaignPlan<'a> {
    /// A campaign of orders from this source, and nothing else.
    pub(in crate::commands) fn new(source: &'a dyn CaseSource, repeats: NonZeroU32) -> Self {
        Self {
            source,
            suite: None,
            repeats,
            kept: KeptOptions::default(),
            sequels: SequelOptions::new(),
            files: Vec::new(),
            faults: None,
            fail_over: None,
            is_drawn: false,
            limit: None,
            until_decided: false,
            topics: None,
            like: None,
            writes_smallest: false,
        }
    }

    /// Whether the campaign is of orders.
    pub(super) fn is_of_orders(&self) -> bool {
        self.suite.is_none_or(|suite| suite == ORDER)
    }

    /// The cases with the failures of their tools.
    ///
    /// # Errors
    /// Those of [`CaseSource::make`], and of [`Cases::with_faults`].
    pub(in crate::commands) fn cases(
        &self,
        seed: u64,
        bank: &TopicBank,
        wanted: WantedCases,
    ) -> Result<Cases, Failure> {
        self.failing(self.made(seed, bank, wanted)?, seed)
    }

    /// The cases, whose tools do not fail.
    ///
    /// # Errors
    /// Those of [`CaseSource::make`].
    pub(super) fn made(&self, seed: u64, bank: &TopicBank, wanted: WantedCases) -> Result<Cases, Failure> {
        let mut made = self.source.make(seed, bank, wanted)?;
        if self.until_decided && !self.is_of_orders() {
            let most = wanted.most.map_or(AUTO_CASES_MAX, |most| most.min(AUTO_CASES_MAX));
            made.cases.truncate(most as usize);
            made = Cases::given(made.suite, made.cases);
        }
        Ok(made)
    }

    /// These cases with the failures of their tools that the command line gives.
    ///
    /// # Errors
    /// Those of [`Cases::with_faults`].
    pub(super) fn failing(&self, cases: Cases, seed: u64) -> Result<Cases, Failure> {
        match self.faults {
            Some(shares) => cases.with_faults(shares, seed).map_err(Failure::from),
            None => Ok(cases),
        }
    }

    /// Makes sure that failures are shrunk if the smallest cases are requested.
    pub(super) fn must_be_shrunk(&self, how: &SequelOptions) -> Result<(), Failure> {
        if self.writes_smallest && !how.contains_key(SHRINK) {
            let what = "--shrink-to: the failures of the campaign are not shrunk; add --shrink";
            return Err(Failure::usage(what));
        }
        Ok(())
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
        let now = match (self.suite, &self.limit) {
            (Some(suite), _) => format!("bench {suite}"),
            (None, Some(_)) => "limit".to_owned(),
            (None, None) => "test".to_owned(),
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
