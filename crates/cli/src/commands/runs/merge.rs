//! `planproof runs merge`: the shards of a campaign as one campaign.

use std::io::Write as _;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use planproof_assembly::arguments::ModelArguments;
use planproof_campaign::{Merged, MissingShard, merge};
use planproof_doors::Outside;
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::terminal;
use planproof_suite::grouped;
use planproof_tools::process::shell_word;
use serde_json::json;

use super::print_json;
use crate::arguments::Global;

/// Most missing shards whose commands are printed.
const MISSING_SHOWN_MAX: usize = 20;

pub(super) fn run(stores: &[PathBuf], into: &Path, global: &Global) -> Result<ExitCode, Failure> {
    // No model is asked.
    let asking = ModelArguments {
        requests_per_second: None,
        request_timeout: None,
        attempts: NonZeroU32::MIN,
        think: None,
    };
    let world = Outside { asking: &asking, is_quiet: global.quiet, store: into };
    let merged = merge(&world, stores, into)?;
    let commands: Vec<String> = merged.missing.iter().map(|missing| command(&merged, missing)).collect();
    if global.json {
        let missing = merged.missing.iter().zip(&commands).map(|(missing, command)| {
            json!({
                "shard": missing.shard.to_string(),
                "unfinished": missing.begun.as_ref().map(|(_, runs)| runs),
                "command": command,
            })
        });
        print_json(&json!({
            "run": merged.campaign, "store": into, "shards": merged.shards, "cases": merged.cases.0,
            "cases_of_all": merged.cases.1, "runs": merged.runs, "seal": merged.seal.to_string(),
            "missing": missing.collect::<Vec<_>>(), "empty": merged.empty,
        }))?;
    } else {
        print(&merged, &commands, into)?;
    }
    Ok(if merged.missing.is_empty() { ExitCode::Passed } else { ExitCode::Outside })
}

fn print(merged: &Merged, commands: &[String], into: &Path) -> Result<(), Failure> {
    let mut out = terminal::text();
    let whole = merged.missing.iter().filter(|missing| missing.begun.is_none()).count();
    writeln!(
        out,
        "campaign {}: {} runs of {} cases from {} of {} shards, in {}",
        merged.campaign,
        grouped(merged.runs),
        grouped(merged.cases.0.into()),
        merged.shards as usize - whole,
        merged.shards,
        terminal::inline(&into.display().to_string())
    )?;
    writeln!(out, "seal {}", merged.seal)?;
    for path in &merged.empty {
        let path = terminal::inline(&path.display().to_string());
        writeln!(out, "{path} is empty: the process that made it ended before its shard began")?;
    }
    for (missing, command) in merged.missing.iter().zip(commands).take(MISSING_SHOWN_MAX) {
        let what = match &missing.begun {
            None => format!("shard {} is missing", missing.shard),
            Some((_, runs)) => format!("shard {} has {runs} unfinished runs", missing.shard),
        };
        writeln!(out, "{what}: {}", terminal::inline(command))?;
    }
    if merged.missing.len() > MISSING_SHOWN_MAX {
        writeln!(out, "and {} more: --json lists all", merged.missing.len() - MISSING_SHOWN_MAX)?;
    }
    Ok(())
}

/// The command that runs what a shard lacks.
fn command(merged: &Merged, missing: &MissingShard) -> String {
    let (line, known) = &merged.command_line;
    let store = missing.begun.as_ref().map(|(path, _)| shell_word(&path.display().to_string()));
    let store = store.unwrap_or_else(|| "FILE".to_owned());
    let mut words: Vec<String> = Vec::new();
    for word in line.split(' ') {
        let word = match (words.last().map(String::as_str), word) {
            (Some("--shard"), _) => missing.shard.to_string(),
            (Some("--store"), _) => store.clone(),
            (_, word) if word == format!("--shard={known}") => format!("--shard={}", missing.shard),
            (_, word) if word.starts_with("--store=") => format!("--store={store}"),
            (_, word) => word.to_owned(),
        };
        words.push(word);
    }
    words.join(" ")
}
