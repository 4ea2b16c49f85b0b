//! The cases of `planproof test --rules`.

use std::path::PathBuf;
use std::sync::Arc;

use planproof_campaign::Cases;
use planproof_doors::scenarios::{drawing, drawn, suite};
use planproof_output::failure::Failure;
use planproof_scenario::Scenarios;
use planproof_suite::{Case, Suite};

use crate::arguments::{AllCasesArguments, Global, RuleCasesArguments};
use crate::commands::campaign::{CampaignPlan, CaseSource, WantedCases};
use crate::values::CaseCount;

/// What makes the cases of `planproof test --rules`.
#[derive(Debug)]
pub(crate) struct RuleCases<'a> {
    suite: Arc<Scenarios>,
    arguments: &'a RuleCasesArguments,
    /// The file of a policy, if the rules stand in one.
    policy: Option<PathBuf>,
    count: CaseCount,
    all: &'a AllCasesArguments,
    global: &'a Global,
}

impl<'a> RuleCases<'a> {
    pub(crate) fn new(
        arguments: &'a RuleCasesArguments,
        count: u64,
        all: &'a AllCasesArguments,
        global: &'a Global,
    ) -> Self {
        let file = arguments.policy.as_deref().filter(|policy| !["stated", "hidden"].contains(policy));
        let policy = file.map(PathBuf::from);
        let count = CaseCount::from(count);
        Self { suite: Arc::new(suite()), arguments, policy, count, all, global }
    }

    /// What `planproof test --rules` asks for.
    pub(crate) fn plan(&self) -> CampaignPlan<'_> {
        let named = self.arguments.rules.as_deref().into_iter().chain(self.policy.as_deref());
        CampaignPlan {
            suite: Some(self.suite.name()),
            files: named.chain(self.all.files.paths()).collect(),
            faults: self.all.faults,
            fail_over: self.all.fail_over,
            is_drawn: true,
            until_decided: self.count == CaseCount::Auto,
            ..CampaignPlan::new(self, self.all.repeat)
        }
    }
}

impl CaseSource for RuleCases<'_> {
    fn make(&self, seed: u64, _: WantedCases) -> Result<Cases, Failure> {
        let RuleCasesArguments { rules, tools, policy } = self.arguments;
        let mut drawing = drawing(rules.as_deref(), tools, policy.as_deref(), self.global.quiet)?;
        let cases = drawn(&mut drawing, seed, self.count.most())?;
        let cases = cases.into_iter().map(|case| -> Arc<dyn Case> { Arc::new(case) }).collect();
        let suite: Arc<dyn Suite> = Arc::clone(&self.suite) as _;
        Ok(Cases::given(suite, cases))
    }
}
