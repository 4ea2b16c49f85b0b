//! Cases that are drawn from rules: for `planproof test --rules`, and as a file of scenarios.

use std::collections::BTreeSet;
use std::path::Path;

use planproof_assembly::sources;
use planproof_live::rules::rules_of;
use planproof_output::failure::Failure;
use planproof_output::layout::counted;
use planproof_output::{tell, text_files};
use planproof_scenario::{Drawing, RulesShown, Scenario, listed_tools};
use planproof_spec::rules::{Fault, KnownTool, RuleSet};
use planproof_suite::CaseError;
use planproof_tools::SchemaCache;
use planproof_trace::Tool;
use serde_json::Value;

/// The tools of these sources: those of `planproof run --tools`, or JSON files with lists of tools.
pub fn tools_of(asked: &[String], quiet: bool) -> Result<Vec<Tool>, Failure> {
    let is_list = |source: &&String| source.ends_with(".json") && !source.contains(':');
    let (lists, others): (Vec<&String>, Vec<&String>) = asked.iter().partition(is_list);
    let mut tools: Vec<Tool> = Vec::new();
    for list in lists {
        let fail = |what: String| Failure::usage(format!("{list}: {what}"));
        let value: Value = serde_json::from_str(&text_files::read_json(Path::new(list))?)
            .map_err(|error| fail(format!("the file is not JSON: {error}")))?;
        tools.extend(listed_tools(&value).map_err(fail)?);
    }
    let others: Vec<String> = others.into_iter().cloned().collect();
    if !others.is_empty() {
        tools.extend(sources::listed(&others, quiet)?);
    }
    let fail = |what: String| Err(Failure::usage(format!("--tools {}: {what}", asked.join(" "))));
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
pub fn drawing(
    file: Option<&Path>,
    tools: &[String],
    policy: Option<&str>,
    quiet: bool,
) -> Result<Drawing, Failure> {
    let file = file.ok_or_else(|| Failure::usage("--rules names the file of rules"))?;
    let rules = rules_of(file)?;
    let tools = tools_of(tools, quiet)?;
    let name = file.display();
    let faults = unknown(&rules, &tools);
    if let Some(first) = faults.first() {
        return Err(Failure::usage(format!("{name}:{first}")));
    }
    let shown = shown(policy, &rules)?;
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
pub fn drawn(drawing: &mut Drawing, seed: u64, count: u64) -> Result<Vec<Scenario>, Failure> {
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

/// What rules say of tools and arguments that there are not, in the order of the text.
pub fn unknown(rules: &RuleSet, tools: &[Tool]) -> Vec<Fault> {
    let names: Vec<String> = tools.iter().map(|tool| tool.name.clone()).collect();
    let known: Vec<KnownTool<'_>> =
        tools.iter().map(|tool| KnownTool { name: &tool.name, schema: &tool.input_schema }).collect();
    let mut faults = rules.unknown_tools(&names);
    faults.extend(rules.unknown_arguments(&known));
    faults.sort_by_key(|fault| fault.place);
    faults
}
