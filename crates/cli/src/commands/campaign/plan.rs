//! What a command asks for, resolved once: the functions that prepare, run and report a campaign read it and do not ask
//! which command it was.

use std::num::NonZeroU32;
use std::path::Path;

use planproof_campaign::{Cases, RequestedCampaign, Shard, StoredOptions};
use planproof_doors::{KeptOptions, ORDER, OwnOptions, SequelOptions};
use planproof_engine::LimitPlan;
use planproof_output::failure::Failure;
use planproof_suite::EffortLimits;
use planproof_trace::faults::FaultShares;

use super::agreement::{Agreement, BesideReplay};
use crate::arguments::SHRINK;
use crate::stored_options::command_of;
use crate::values::AUTO_CASES_MAX;

/// Which of all cases are needed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WantedCases {
    /// How many at most, where their number is left open: those that can be compared with a baseline.
    pub(crate) most: Option<u64>,
    /// The shard that runs them. Whoever draws cases one by one may make its own alone, as [`Cases::dealt`] then says.
    pub(crate) shard: Option<Shard>,
}

/// Where the cases of a new campaign come from.
pub(crate) trait CaseSource {
    /// What the campaign keeps of its suite, beside the options of its tools and sequels, if its cases are of this
    /// seed.
    ///
    /// # Errors
    /// Something that the command line names cannot be read, or the suite refuses it.
    fn kept(&self, seed: u64) -> Result<OwnOptions, Failure> {
        let _ = seed;
        Ok(OwnOptions::default())
    }

    /// Takes over from an earlier campaign how this one is run, where its cases are run again.
    ///
    /// # Errors
    /// The earlier campaign cannot be read.
    fn take_over(&self, new: &mut RequestedCampaign) -> Result<(), Failure> {
        let _ = new;
        Ok(())
    }

    /// The cases, of this seed if it determines them.
    ///
    /// # Errors
    /// The named data cannot be read, or is empty.
    fn make(&self, seed: u64, wanted: WantedCases) -> Result<Cases, Failure>;

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
pub(crate) struct CampaignPlan<'a> {
    pub(crate) source: &'a dyn CaseSource,
    /// The name of the suite, unless the command is for orders.
    pub(crate) suite: Option<&'a str>,
    /// How often each case is run.
    pub(crate) repeats: NonZeroU32,
    /// What the campaign keeps for the tools of its suite.
    pub(crate) kept: KeptOptions,
    /// How the campaign's sequels are done, by the options that ask for them.
    pub(crate) sequels: SequelOptions,
    /// The files that the command line names beside those of every campaign: cases or data, and reports.
    pub(crate) files: Vec<&'a Path>,
    /// How the tools of the cases fail, if they do.
    pub(crate) faults: Option<FaultShares>,
    /// Limits on what runs take, if the command line gives some.
    pub(crate) fail_over: Option<EffortLimits>,
    /// Whether the seed determines the cases.
    pub(crate) is_drawn: bool,
    /// The search for a limit, if it is one.
    pub(crate) limit: Option<LimitPlan>,
    /// Whether only as many cases are run as it takes to compare the campaign with a baseline.
    pub(crate) until_decided: bool,
    /// Whether the smallest failing cases are written to a file.
    pub(crate) writes_smallest: bool,
}

impl<'a> CampaignPlan<'a> {
    /// A campaign of orders from this source, and nothing else.
    pub(crate) fn new(source: &'a dyn CaseSource, repeats: NonZeroU32) -> Self {
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
    pub(crate) fn cases(&self, seed: u64, wanted: WantedCases) -> Result<Cases, Failure> {
        self.failing(self.made(seed, wanted)?, seed)
    }

    /// The cases, whose tools do not fail.
    ///
    /// # Errors
    /// Those of [`CaseSource::make`].
    pub(super) fn made(&self, seed: u64, wanted: WantedCases) -> Result<Cases, Failure> {
        let mut made = self.source.make(seed, wanted)?;
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
    pub(crate) fn failing(&self, cases: Cases, seed: u64) -> Result<Cases, Failure> {
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
    pub(crate) fn must_fit(
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
