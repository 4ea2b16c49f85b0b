//! `planproof doctor`: whether the agents that are configured here are held to rules.
//!
//! `known.rs` has what is known of them, `found.rs` reads their configurations, `standing.rs` says what holds their
//! calls (`hooks.rs` for hooks), and `attempt.rs` tries it.

mod attempt;
mod doubts;
mod found;
mod hooks;
mod known;
mod standing;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use planproof_guard::GuardMode;
use planproof_output::failure::{ExitCode, Failure, unless_closed};
use planproof_output::print::{self, Printing};
use planproof_output::question::agrees;
use planproof_output::runtime::runtime;
use planproof_output::terminal::inline;
use planproof_output::{layout, tell, terminal};
use serde_json::json;

use crate::arguments::doctor::DoctorArguments;
use crate::coding_agents::Folders;
use crate::line::ReadLine;
use attempt::Sign;
use known::Owner;
use standing::{Guarding, Standing, Way};

/// The name of the format of `--json`.
const SCHEMA: &str = "planproof/doctor/v1";

/// Columns of the names of ways.
const NAME_COLUMNS: usize = 24;

/// The command. `read` reads command lines of planproof in configurations.
///
/// # Errors
/// There is no folder or home to look into, nobody can be asked, or the result cannot be printed.
pub fn run(arguments: &DoctorArguments, printing: Printing, read: ReadLine) -> Result<ExitCode, Failure> {
    let folder = std::env::current_dir()
        .map_err(|error| Failure::outside(format!("the current folder cannot be used: {error}")))?;
    let folders = Folders::find(|name| std::env::var_os(name), &folder)
        .ok_or_else(|| Failure::usage("the environment names no home: set HOME"))?;
    let agents = found::agents(&folders);
    let mut ways: Vec<Way> = agents.iter().flat_map(|agent| standing::ways(agent, &folder, read)).collect();
    if arguments.try_out {
        try_out(&mut ways, arguments, &folder)?;
    }
    let is_guarded = !ways.is_empty() && ways.iter().all(|way| way.standing == Standing::Enforced);
    unless_closed(if printing.json { print_json(&ways, is_guarded) } else { print(&ways, arguments) })?;
    Ok(if is_guarded { ExitCode::Passed } else { ExitCode::Failed })
}

/// Tries what guards the ways, and has them stand as that showed.
fn try_out(ways: &mut [Way], arguments: &DoctorArguments, folder: &Path) -> Result<(), Failure> {
    // What guards several ways is started once.
    let mut guards: BTreeMap<String, Guarding> = BTreeMap::new();
    for guard in ways.iter().filter_map(|way| way.guard.as_ref()) {
        if guard.scope() != Owner::Project || arguments.project {
            guards.entry(key(guard)).or_insert_with(|| guard.clone());
        }
    }
    if !guards.is_empty() {
        tell!("These are started, or asked, as the agents do:");
        guards.values().for_each(|guard| tell!("  {}", inline(&guard.line())));
        if !arguments.yes {
            if !terminal::is_interactive() {
                return Err(Failure::usage("nothing was started, because nobody can be asked: pass --yes"));
            }
            if !agrees("Start them? [y/N] ") {
                return Err(Failure::usage("nothing was started"));
            }
        }
    }
    let runtime = runtime()?;
    let signs: BTreeMap<String, Sign> = guards
        .into_iter()
        .map(|(key, guard)| {
            let sign = runtime.block_on(async {
                match &guard {
                    Guarding::Hook(hook) => attempt::hook(hook, folder).await,
                    Guarding::Server(server) | Guarding::Starter(server) => {
                        attempt::server(server, folder).await
                    }
                    Guarding::Listener(server) => attempt::listener(server).await,
                }
            });
            (key, sign)
        })
        .collect();
    for way in ways {
        let Some(guard) = &way.guard else { continue };
        match signs.get(&key(guard)) {
            Some(sign) => {
                let heard = match guard {
                    Guarding::Listener(_) => Some("a guard listens at the server's address"),
                    Guarding::Starter(_) => Some("its program starts a guard"),
                    Guarding::Hook(_) | Guarding::Server(_) => None,
                };
                if let Some(reason) = heard {
                    stand_as_heard(way, sign, reason);
                }
                settle(way, sign);
            }
            None => {
                way.reason += "; not tried: name --project to start what files of the project name";
            }
        }
    }
    Ok(())
}

fn key(guard: &Guarding) -> String {
    match guard {
        Guarding::Hook(hook) => format!("{}\n{}", hook.event, guard.line()),
        Guarding::Server(server) | Guarding::Listener(server) | Guarding::Starter(server) => {
            format!("{}\n{}\n{}", server.file.display(), server.name, guard.line())
        }
    }
}

/// Has a way stand higher where there is a guard that no file speaks of, for this reason.
fn stand_as_heard(way: &mut Way, sign: &Sign, reason: &str) {
    if let Sign::Guarded(mode) = sign {
        (way.standing, way.mend) = match mode {
            GuardMode::Enforce => (Standing::Enforced, None),
            GuardMode::Shadow => {
                (Standing::Advisory, Some("start that guard with --enforce, and not --shadow".to_owned()))
            }
        };
        reason.clone_into(&mut way.reason);
    }
}

/// Has a way stand as a trial showed. No trial shows that an agent does what it says where a guard fails.
fn settle(way: &mut Way, sign: &Sign) {
    way.is_tried = true;
    match sign {
        Sign::Guarded(GuardMode::Enforce) => way.reason += "; it rejected the canary",
        Sign::Guarded(GuardMode::Shadow) => {
            way.standing = way.standing.min(Standing::Advisory);
            way.reason += "; it rejected the canary, and would reject nothing else";
        }
        // The agent does not ask it, or not about every call, whatever it says.
        Sign::Denied(reason) if way.standing < Standing::Enforced => {
            way.reason += &format!("; it denies every call: {reason}");
        }
        Sign::Denied(reason) => way.reason = format!("every call is denied: {reason}"),
        Sign::Passed(why) => {
            way.standing = Standing::Unguarded;
            way.reason.clone_from(why);
        }
    }
}

fn print(ways: &[Way], arguments: &DoctorArguments) -> Result<(), Failure> {
    let mut out = terminal::text();
    if ways.is_empty() {
        writeln!(out, "No agent is configured here that planproof knows, so none is held to rules.")?;
        return Ok(());
    }
    let mut last = None;
    for way in ways {
        if last != Some(way.agent.name) {
            writeln!(out, "{}{}", if last.is_some() { "\n" } else { "" }, way.agent.name)?;
            last = Some(way.agent.name);
        }
        let name = match &way.server {
            Some(server) => format!("server {}", inline(server)),
            None => "own tools".to_owned(),
        };
        let how = if way.is_tried { "tried" } else { "configured" };
        writeln!(out, "  {name:NAME_COLUMNS$} {} ({how})", way.standing)?;
        writeln!(out, "{}", layout::folded("    ", &inline(&way.reason), 4))?;
        if !way.file.as_os_str().is_empty() {
            writeln!(out, "    in {} ({})", inline(&way.file.display().to_string()), way.scope.word())?;
        }
        if let Some(mend) = &way.mend {
            writeln!(out, "    mend: {}", inline(mend))?;
        }
    }
    let count = |standing| ways.iter().filter(|way| way.standing == standing).count();
    writeln!(
        out,
        "\n{} enforced, {} advisory, {} unguarded{}",
        count(Standing::Enforced),
        count(Standing::Advisory),
        count(Standing::Unguarded),
        if arguments.try_out { "" } else { "; --try starts what guards them, and shows whether it works" }
    )?;
    Ok(())
}

fn print_json(ways: &[Way], is_guarded: bool) -> Result<(), Failure> {
    let ways: Vec<_> = ways
        .iter()
        .map(|way| {
            json!({
                "agent": way.agent.name, "server": way.server, "file": way.file.display().to_string(),
                "scope": way.scope.word(), "state": way.standing.to_string(), "tried": way.is_tried,
                "reason": way.reason, "mend": way.mend,
            })
        })
        .collect();
    print::print_json(&json!({ "schema": SCHEMA, "enforced": is_guarded, "ways": ways }))
}
