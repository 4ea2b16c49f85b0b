//! The cases of `planproof test --scenarios`.

use std::path::Path;
use std::sync::Arc;

use planproof_campaign::Cases;
use planproof_doors::scenarios::{cases_of, suite};
use planproof_output::failure::Failure;
use planproof_scenario::Scenarios;
use planproof_suite::Suite;

use crate::arguments::AllCasesArguments;
use crate::commands::bench::fit;
use crate::commands::campaign::{CampaignPlan, CaseSource, WantedCases};

/// What makes the cases of a file of scenarios for `planproof test`.
#[derive(Debug)]
pub(crate) struct ScenarioCases<'a> {
    suite: Arc<Scenarios>,
    file: &'a Path,
    all: &'a AllCasesArguments,
}

impl<'a> ScenarioCases<'a> {
    pub(crate) fn new(file: &'a Path, all: &'a AllCasesArguments) -> Self {
        Self { suite: Arc::new(suite()), file, all }
    }

    /// What `planproof test --scenarios` asks for.
    pub(crate) fn plan(&self) -> CampaignPlan<'_> {
        CampaignPlan {
            suite: Some(self.suite.name()),
            files: std::iter::once(self.file).chain(self.all.files.paths()).collect(),
            faults: self.all.faults,
            fail_over: self.all.fail_over,
            ..CampaignPlan::new(self, self.all.repeat)
        }
    }
}

impl CaseSource for ScenarioCases<'_> {
    fn make(&self, _seed: u64, _: WantedCases) -> Result<Cases, Failure> {
        let cases = cases_of(&self.suite, self.file)?;
        let suite: Arc<dyn Suite> = Arc::clone(&self.suite) as _;
        Ok(Cases::given(suite, fit(cases, Some(self.file))?))
    }
}
