//! Cases that are drawn from rules: for `planproof test --rules`, and as a file of scenarios.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use planproof_campaign::Cases;
use planproof_live::rules::rules_of;
use planproof_output::failure::Failure;
use planproof_output::layout::counted;
use planproof_output::{tell, text_files};
use planproof_scenario::{Drawing, RulesShown, Scenario, Scenarios, listed_tools};
use planproof_spec::rules::RuleSet;
use planproof_suite::{Case, CaseError, Suite};
use planproof_tools::SchemaCache;
use planproof_trace::Tool;
use serde_json::Value;

use super::suite;
use crate::arguments::{AllCasesArguments, Global, RuleCasesArguments};
use crate::commands::campaign::{CampaignPlan, CaseSource, WantedCases};
use crate::commands::rules::unknown;
use crate::commands::spec::known_tools;
use crate::values::CaseCount;

/// The tools of these sources: those of `planproof run --tools`, or JSON files with lists of tools.
pub(crate) fn tools_of(sources: &[String], global: &Global) -> Result<Vec<Tool>, Failure> {
    let is_list = |source: &&String| source.ends_with(".json") && !source.contains(':');
    let (lists, others): (Vec<&String>, Vec<&String>) = sources.iter().partition(is_list);
    let mut tools: Vec<Tool> = Vec::new();
    for list in lists {
        let fail = |what: String| Failure::usage(format!("{list}: {what}"));
        let value: Value = serde_json::from_str(&text_files::read_json(Path::new(list))?)
            .map_err(|error| fail(format!("the file is not JSON: {error}")))?;
        tools.extend(listed_tools(&value).map_err(fail)?);
    }
    let others: Vec<String> = others.into_iter().cloned().collect();
    tools.extend(known_tools(&others, None, global)?.unwrap_or_default());
    let fail = |what: String| Err(Failure::usage(format!("--tools {}: {what}", sources.join(" "))));
    let schemas = SchemaCache::default();
    let mut names = BTreeSet::new();
    for tool in &tools {
        if !names.insert(tool.name.as_str()) {
            return fail(format!("two tools are called `{}`; rename one of them", tool.name));
        }
        if let Err(reason) = schemas.check_schema(&tool.input_schema) {
            return fail(format!("the input schema of tool `{}` cannot be used: {reason}", tool.name));
        }
    }
    Ok(tools)
}

/// What draws cases from the rules of a file with these tools. Rules that matter in no case are named on stderr.
pub(crate) fn drawing(arguments: &RuleCasesArguments, global: &Global) -> Result<Drawing, Failure> {
    let RuleCasesArguments { rules: Some(file), tools, policy } = arguments else {
        return Err(Failure::usage("--rules names the file of rules"));
    };
    let rules = rules_of(file)?;
    let tools = tools_of(tools, global)?;
    let name = file.display();
    let faults = unknown(&rules, &tools);
    if let Some(first) = faults.first() {
        return Err(Failure::usage(format!("{name}:{first}")));
    }
    let shown = shown(policy.as_deref(), &rules)?;
    let drawing = Drawing::new(&text_files::read_text(file)?, &tools, shown)
        .map_err(|CaseError { what, .. }| Failure::usage(format!("{name}: {what}")))?;
    for rule in drawing.not_drawn() {
        tell!(
            "{name}: warning: no case exercises `{rule}`: calls in the order of mention never violate it where another \
             session holds all rules; `planproof rules check` shows what it means"
        );
    }
    Ok(drawing)
}

/// How the agent gets to know the rules.
fn shown(policy: Option<&str>, rules: &RuleSet) -> Result<RulesShown, Failure> {
    match policy {
        None | Some("stated") => Ok(RulesShown::Stated),
        Some("hidden") => Ok(RulesShown::Hidden),
        Some(file) => {
            if !Path::new(file).exists() {
                let what = format!(
                    "--policy {file}: there is no such file; write stated, hidden, or the name of a file"
                );
                return Err(Failure::usage(what));
            }
            let text = text_files::read_text(Path::new(file))?;
            let ids: Vec<&str> = rules.rules().iter().map(|rule| rule.id.as_str()).collect();
            RulesShown::policy(&text, &ids).map_err(|fault| Failure::usage(format!("{file}:{fault}")))
        }
    }
}

/// So many cases of a seed. Where there are fewer, stderr says so.
pub(crate) fn drawn(drawing: &mut Drawing, seed: u64, count: u64) -> Result<Vec<Scenario>, Failure> {
    let wanted = usize::try_from(count).unwrap_or(usize::MAX);
    let cases = drawing.cases(seed, wanted).map_err(Failure::from)?;
    let found = drawing.not_drawn();
    let others: Vec<&str> =
        drawing.without(&cases).into_iter().filter(|rule| !found.contains(rule)).collect();
    if !others.is_empty() {
        let others: Vec<String> = others.into_iter().map(|rule| format!("`{rule}`")).collect();
        tell!("warning: no case exercises {}: ask for more cases with --cases", others.join(", "));
    }
    if cases.len() < wanted {
        let cases = counted(cases.len(), "case");
        tell!("{cases} instead of {count}: these rules and tools give no more that differ in what is asked");
    }
    Ok(cases)
}

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
        let mut drawing = drawing(self.arguments, self.global)?;
        let cases = drawn(&mut drawing, seed, self.count.most())?;
        let cases = cases.into_iter().map(|case| -> Arc<dyn Case> { Arc::new(case) }).collect();
        let suite: Arc<dyn Suite> = Arc::clone(&self.suite) as _;
        Ok(Cases::given(suite, cases))
    }
}
