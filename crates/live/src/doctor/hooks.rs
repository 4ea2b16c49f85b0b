//! What a hook of planproof does for an agent.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use planproof_guard::{HookDialect, HookOutput, HookReply};
use planproof_tools::process::shell_word;
use serde_json::Value;

use super::found::{FoundAgent, FoundHook};
use super::known::{DENIED_STATUS, KnownAgent, Owner};
use super::standing::{Judged, Standing, Words, command_of, enforced, program, shown};
use crate::coding_agents::{HookForm, is_planproof, looks_installed, names_planproof};
use crate::hook;
use crate::line::{LiveCommand, ReadLine};

/// The hook of planproof that does most for an agent.
pub(super) fn best_hook(agent: &FoundAgent, folder: &Path, read: ReadLine) -> (Option<FoundHook>, Judged) {
    let none = || {
        let (reason, mend) = match (agent.known.before, agent.known.installed_as) {
            (None, _) => ("planproof knows no hooks of this agent".to_owned(), None),
            (Some(event), None) => {
                let mend =
                    "docs/guard-reference.md says how this agent asks planproof (Other agents)".to_owned();
                (format!("there is nothing of planproof for `{event}`"), Some(mend))
            }
            (Some(event), Some(name)) => {
                let mend = format!("planproof hook install {name} --rules RULES.yaml --enforce");
                (format!("there is no hook of planproof for `{event}`"), Some(mend))
            }
        };
        Judged { standing: Standing::Unguarded, reason, mend }
    };
    let is_before = |hook: &&FoundHook| {
        Some(hook.event.as_str()) == agent.known.before && (is_ours(hook) || hook.is_plugin)
    };
    let judged = agent
        .hooks
        .iter()
        .filter(is_before)
        .map(|hook| (Some(hook.clone()), judge(agent, hook, folder, read)));
    judged.max_by_key(|(_, judged)| judged.standing).unwrap_or_else(|| (None, none()))
}

fn is_ours(hook: &FoundHook) -> bool {
    is_planproof(&hook.words, "hook") || is_of_other_name(hook) || is_started_by_another(hook)
}

/// Whether another program starts a hook of planproof, to all appearance.
fn is_started_by_another(hook: &FoundHook) -> bool {
    !is_planproof(&hook.words, "hook") && names_planproof(&hook.words, "hook")
}

/// Whether it looks like a hook that was installed by a program that is not called planproof.
fn is_of_other_name(hook: &FoundHook) -> bool {
    let is_installed = hook.known.installed_as.is_some_and(|agent| looks_installed(&hook.words, agent));
    is_installed && !is_planproof(&hook.words, "hook")
}

fn judge(agent: &FoundAgent, hook: &FoundHook, folder: &Path, read: ReadLine) -> Judged {
    let known = agent.known;
    if hook.is_plugin {
        let reason = "a plugin that calls planproof; where it cannot be loaded, calls pass";
        return Judged { standing: Standing::Advisory, reason: reason.to_owned(), mend: None };
    }
    let words = Words::of(&hook.words);
    let install = known.installed_as.map(|name| {
        let rules = words.rules.map_or("RULES.yaml".to_owned(), shell_word);
        let project = if hook.scope == Owner::Project { " --project" } else { "" };
        format!("planproof hook install {name} --rules {rules} --enforce{project}")
    });
    let unguarded =
        |reason: String, mend: Option<String>| Judged { standing: Standing::Unguarded, reason, mend };
    if let Some(why) = switched_off(agent, hook) {
        return unguarded(
            format!("it does not run, because of {why}"),
            Some("remove that setting".to_owned()),
        );
    }
    if let Some(skipped) = &hook.skipped {
        let trust = "start `codex` in this project, trust it if you are asked, and enter /hooks";
        let mend = if skipped.is_untrusted { Some(trust.to_owned()) } else { install };
        return unguarded(skipped.why.clone(), mend);
    }
    let is_there = program(&hook.words, folder);
    if !is_there && !hook.is_closed {
        let reason = format!("the program of the hook, `{}`, is not there", shown(&hook.words[..1]));
        return unguarded(reason, install);
    }
    if is_started_by_another(hook) {
        let program = shown(&hook.words[..1]);
        return Judged {
            standing: Standing::Advisory,
            reason: format!("the hook starts `{program}`, and what that does is not known"),
            mend: install,
        };
    }
    let line = HookLine::read(hook, read);
    match &line {
        HookLine::Passes(why) => return unguarded(why.clone(), install),
        HookLine::Learns(_) => {
            return unguarded(
                format!("the dialect of the hook takes `{}` for a result", hook.event),
                install,
            );
        }
        _ => {}
    }
    let advisory = |reason: String| Judged { standing: Standing::Advisory, reason, mend: install.clone() };
    if let HookLine::Doubtful(why) = &line {
        return advisory((*why).to_owned());
    }
    if is_of_other_name(hook) {
        let program = shown(&hook.words[..1]);
        return advisory(format!("the program of the hook is `{program}`, which may not be planproof"));
    }
    if let Some(doubt) = &hook.doubt {
        return advisory(doubt.clone());
    }
    if !matches!(line, HookLine::Wrong)
        && let Some(how) = words.watches(folder)
    {
        return advisory(format!("the hook only watches ({how})"));
    }
    if !HookForm::matches_all(hook.matcher.as_deref()) {
        return advisory(format!("the hook is {}", matching(hook)));
    }
    if let HookLine::Decides(memory) = &line
        && let Some(why) =
            known.after.iter().find_map(|event| unknown_results(agent, event, memory, folder, read))
    {
        return advisory(why);
    }
    if let HookLine::Decides(memory) = &line
        && let Some(kept) = open_memory(memory, folder)
    {
        let kept = kept.display().to_string();
        return Judged {
            standing: Standing::Advisory,
            reason: format!("other users can write to {kept}, where the hook remembers calls"),
            mend: Some(format!("chmod go-w {}", shell_word(&kept))),
        };
    }
    if !hook.is_closed {
        return match known.closed {
            Some((key, value)) => {
                advisory(format!("where the hook fails, calls pass: it lacks \"{key}\": {value}"))
            }
            None => Judged {
                standing: Standing::Advisory,
                reason: format!("where the hook fails, {} lets calls pass", known.name),
                mend: None,
            },
        };
    }
    let all_denied = |why: String| Judged {
        standing: Standing::Enforced,
        reason: format!("every call is denied: {why}"),
        mend: install.clone(),
    };
    if !is_there {
        return all_denied(format!("`{}` is not there", shown(&hook.words[..1])));
    }
    match line {
        HookLine::DeniesAll(why) => return all_denied(why.to_owned()),
        HookLine::Wrong => return all_denied("its command line is wrong".to_owned()),
        _ => {}
    }
    enforced(&words, folder, format!("the hook denies, and {} does so where the hook fails", known.name))
}

/// The setting because of which a hook does not run.
fn switched_off<'a>(agent: &'a FoundAgent, hook: &FoundHook) -> Option<&'a String> {
    let others = agent.only_managed.as_ref().filter(|_| hook.scope != Owner::Administrator);
    agent.no_hooks.as_ref().or(others)
}

fn matching(hook: &FoundHook) -> String {
    format!("for tools that match `{}` only", hook.matcher.as_deref().unwrap_or_default())
}

/// Why the hook that decides does not learn from this event, if it does not.
fn unknown_results(
    agent: &FoundAgent,
    event: &str,
    memory: &Memory,
    folder: &Path,
    read: ReadLine,
) -> Option<String> {
    let fault = |hook: &FoundHook| -> Option<String> {
        if let Some(why) = switched_off(agent, hook) {
            return Some(format!("does not run, because of {why}"));
        }
        if !program(&hook.words, folder) {
            return Some("names a program that is not there".to_owned());
        }
        let why = hook.skipped.as_ref().map(|skipped| &skipped.why).or(hook.doubt.as_ref());
        if let Some(why) = why {
            return Some(format!("may do nothing ({why})"));
        }
        if !HookForm::matches_all(hook.matcher.as_deref()) {
            return Some(format!("is {}", matching(hook)));
        }
        match HookLine::read(hook, read) {
            HookLine::Learns(own) if own == *memory => None,
            HookLine::Learns(_) => Some("has another memory than the one that decides".to_owned()),
            _ => Some("does not take it for a result".to_owned()),
        }
    };
    let ours = agent.hooks.iter().filter(|hook| hook.event == event && is_ours(hook));
    let mut first = None;
    for hook in ours {
        let fault = fault(hook)?;
        first.get_or_insert(format!("results are not known: the hook for `{event}` {fault}"));
    }
    Some(first.unwrap_or_else(|| format!("there is no hook for `{event}`, so results are not known")))
}

/// Where a hook keeps its session: the folder, the history, and the name in it.
type Memory = (Option<PathBuf>, Option<PathBuf>, Option<String>);

/// The folder in which a hook remembers calls, if others can write to it, and so have it forget them.
fn open_memory((state, history, _): &Memory, folder: &Path) -> Option<PathBuf> {
    let kept = state.as_deref().or_else(|| history.as_deref()?.parent())?;
    let kept = folder.join(kept);
    planproof_files::others_can_write(&kept).then_some(kept)
}

/// What a hook does at its event, by its command line, which is read as the hook itself reads it.
enum HookLine {
    /// It decides on the call, and the agent reads what it answers.
    Decides(Memory),
    /// It remembers the result.
    Learns(Memory),
    /// It denies every call, unless it only watches, for this reason.
    DeniesAll(&'static str),
    /// It denies every call, because it cannot read its command line.
    Wrong,
    /// It may deny calls, and this is why it may not.
    Doubtful(&'static str),
    /// It lets all calls pass, for this reason.
    Passes(String),
}

impl HookLine {
    fn read(hook: &FoundHook, read: ReadLine) -> Self {
        let arguments = match command_of(&hook.words, read) {
            Ok(LiveCommand::Hook(arguments)) => arguments,
            Err(ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
                return Self::Doubtful("the command line of the hook asks for help");
            }
            _ => {
                let words: Vec<OsString> = hook.words.iter().map(OsString::from).collect();
                return Self::if_read(hook, hook::probable(&words).as_ref(), Self::Wrong);
            }
        };
        if arguments.command.is_some() {
            return Self::Passes(
                "the command of the hook changes configurations, and takes no event".to_owned(),
            );
        }
        let Ok(dialect) = hook::dialect(&arguments) else {
            return Self::if_read(hook, None, Self::DeniesAll("its dialect cannot be used"));
        };
        let held = &arguments.held;
        let memory = (held.state.clone(), held.history.clone(), arguments.session_name.clone());
        if dialect.learns_from(&hook.event) {
            Self::Learns(memory)
        } else if !dialect.knows(&hook.event) {
            Self::if_read(hook, Some(&dialect), Self::DeniesAll("its dialect does not know the event"))
        } else if dialect.decides_on(&hook.event) {
            Self::if_read(hook, Some(&dialect), Self::Decides(memory))
        } else {
            Self::Passes(format!("the dialect of the hook does not take `{}` for a call", hook.event))
        }
    }

    /// This, where the agent reads the denials of the dialect, or of an unknown one.
    fn if_read(hook: &FoundHook, dialect: Option<&HookDialect>, line: Self) -> Self {
        let denial = match dialect {
            Some(dialect) => dialect.output(&HookReply::Deny("no".to_owned())),
            None => HookDialect::denial_of_unknown("no"),
        };
        match is_read(hook.known, &hook.event, &denial) {
            true => line,
            false => Self::Passes(format!("{} does not read how the hook denies a call", hook.known.name)),
        }
    }
}

/// Whether an agent takes this answer of a hook for a denial.
fn is_read(known: KnownAgent, event: &str, answer: &HookOutput) -> bool {
    match i32::from(answer.status) {
        0 => {
            let said = answer.stdout.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok());
            said.is_some_and(|said| known.reads_denial(event, &said))
        }
        // What is on stderr is the reason, without which some pass over it.
        DENIED_STATUS => answer.stderr.is_some(),
        _ => false,
    }
}
