//! `planproof models`: whether models and their servers can be tested.

use std::io::Write as _;
use std::sync::Arc;

use planproof_campaign::{KeyNeeded, ModelForm};
use planproof_doors::orders;
use planproof_model::check::{Depth, ModelCheck, Standing, check, conversation_tokens};
use planproof_output::failure::{ExitCode, Failure, unless_closed};
use planproof_output::print::print_json;
use planproof_output::runtime::runtime;
use planproof_output::terminal::inline;
use planproof_output::{progress, secrets, terminal};
use planproof_suite::Case;
use planproof_trace::Tool;

use crate::arguments::{CheckModelsArguments, Global, ModelsCommand, ModelsCommands};

/// Cases with default options whose largest one the context has to hold.
const CASES_SEEN: u64 = 20;

pub(crate) fn run(arguments: &ModelsCommands, global: &Global) -> Result<ExitCode, Failure> {
    match &arguments.command {
        ModelsCommand::Check(arguments) => check_models(arguments, global),
    }
}

fn check_models(arguments: &CheckModelsArguments, global: &Global) -> Result<ExitCode, Failure> {
    let find = |name: &String| {
        planproof_assembly::model(name, ModelForm::Chat, &arguments.asking, KeyNeeded::AtOnce)
    };
    let models = arguments.models.iter().map(find).collect::<Result<Vec<_>, _>>()?;
    if let Some(model) =
        models.iter().find(|model| model.is_simulated() || model.name().starts_with("replay/"))
    {
        return Err(Failure::usage(format!("{} has no server, so there is nothing to check", model.name())));
    }
    let needed = needed_by_default(global.seed)?;
    let checks = runtime()?.block_on(async {
        let mut checks = Vec::new();
        for model in &models {
            progress::say(global.quiet, &format!("checking {}", model.name()));
            let found = without_keys(check(&**model, Some(needed), Depth::Thorough).await);
            if !global.json {
                write_check(&found)?;
            }
            checks.push(found);
        }
        Ok::<_, Failure>(checks)
    });
    let checks = match checks {
        Err(Failure::OutputClosed) => return Ok(ExitCode::Passed),
        checks => checks?,
    };
    if global.json {
        unless_closed(print_json(&checks))?;
    }
    Ok(if checks.iter().any(|check| !check.is_reached) {
        ExitCode::Outside
    } else if checks.iter().any(|check| check.wrong().next().is_some()) {
        ExitCode::Failed
    } else {
        ExitCode::Passed
    })
}

/// What a check found, without the keys in URLs and in the words of servers.
fn without_keys(mut check: ModelCheck) -> ModelCheck {
    let held = secrets::held();
    check.model = held.redact(&check.model).into_owned();
    for finding in &mut check.findings {
        finding.seen = held.redact(&finding.seen).into_owned();
        finding.mend = finding.mend.take().map(|mend| held.redact(&mend).into_owned());
    }
    check
}

/// One line for each question, and one below for what mends it.
fn write_check(check: &ModelCheck) -> Result<(), Failure> {
    let mut out = terminal::text();
    writeln!(out, "{}", inline(&check.model))?;
    for finding in &check.findings {
        let mark = match finding.standing {
            Standing::Fine => "ok",
            Standing::Unsure => "?",
            Standing::Wrong => "WRONG",
        };
        let mend = finding.mend.as_ref().map(|mend| format!(": {}", inline(mend))).unwrap_or_default();
        writeln!(out, "  {mark:<5}  {:<15}  {}{mend}", finding.about, inline(&finding.seen))?;
    }
    out.flush()?;
    Ok(())
}

/// The tokens of the largest conversation of a campaign with default options.
fn needed_by_default(seed: u64) -> Result<u64, Failure> {
    let mut largest = 0;
    for case in orders::first_cases(seed, CASES_SEEN)? {
        largest = largest.max(tokens_of_case(&*case)?);
    }
    Ok(largest)
}

/// The tokens of a conversation about a case in which each of its tools is called once.
fn tokens_of_case(case: &dyn Case) -> Result<u64, Failure> {
    let toolbox =
        case.toolbox().map_err(|error| planproof_assembly::fault_of_case(&case.card().id, &error))?;
    let tools: Arc<[Tool]> = toolbox.tools().iter().cloned().collect();
    let calls = tools.len();
    Ok(conversation_tokens(case.prompt(), tools, calls))
}
