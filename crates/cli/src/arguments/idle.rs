//! Options that have no effect on a command, or on one of its modes. On the command line they are refused. The
//! configuration file is for all commands, so what it says is ignored where it has no effect.

use clap::{Arg, Command};
use planproof_config::Given;

use Users::{AllBut, Only};
use When::{If, IfWithout, Programs, Unless};

/// The commands that an option has an effect on.
#[derive(Debug)]
enum Users {
    Only(&'static [&'static str]),
    AllBut(&'static [&'static str]),
}

/// When options have no effect: an argument that is or is not given, by its id and in words; or agents that are all
/// programs or services, which ask their models themselves.
#[derive(Debug)]
enum When {
    If(&'static str, &'static str),
    Unless(&'static str, &'static str),
    /// The first is given and the second is not.
    IfWithout(&'static str, &'static str, &'static str),
    Programs,
}

/// Options that several commands share, by their ids, and who uses them.
///
/// `--secret` is not here: it is for messages as well, which all commands have. `--set` is checked where its keys are
/// known. Where `--json` changes nothing because the output is JSON anyway, it is not a mistake.
const SHARED: [(&str, Users); 10] = [
    (
        "config",
        AllBut(&[
            "init",
            "completions",
            "man",
            "prompts",
            "guard",
            "guard decide",
            "guard replay",
            "hook",
            "hook install",
            "hook uninstall",
            "doctor",
            SHARD_PLAN,
        ]),
    ),
    ("key_for", AllBut(&[SHARD_PLAN])),
    ("providers", AllBut(&[SHARD_PLAN])),
    // It also hides what comes from the configuration file, which all other commands say.
    ("quiet", AllBut(&["init", "completions", "man", "prompts", "guard decide", "hook"])),
    (
        "json",
        AllBut(&[
            "init",
            "completions",
            "man",
            "spec print",
            "spec graph",
            "spec compile",
            "rules schema",
            "guard",
            "hook",
            "hook install",
            "hook uninstall",
            SHARD_PLAN,
            "scenario schema",
            "scenario init",
            "scenario from-trace",
            "scenario from-cases",
            "scenario from-rules",
        ]),
    ),
    (
        "seed",
        Only(&[
            "demo",
            "synth",
            "topics generate",
            "topics from-mcp",
            "test",
            "bench",
            "bench models",
            "score",
            "limit",
            "mnms generate",
            "mnms sheet alternatives",
            "mnms sheet results",
            "mnms alternatives",
            "models check",
            "run",
            "tables",
            "scenario from-rules",
        ]),
    ),
    ("store_pages_max", Only(&["test", "bench", "limit", "tables"])),
    ("allow_repeats", Only(JUDGING_ORDERS)),
    ("allow_distractors", Only(JUDGING_ORDERS)),
    ("fail_at_once", Only(JUDGING_ORDERS)),
];

/// The commands that judge orders. `bench` has these options as well, because all campaigns share theirs.
const JUDGING_ORDERS: &[&str] = &["check", "test", "limit"];

/// A command line in a command line: what is named before the inner one would be lost.
const SHARD_PLAN: &str = "shard plan";

/// How a model is asked for texts, and what that may take.
const ASKING: &[&str] = &[
    "requests_per_second",
    "request_timeout",
    "attempts",
    "max_cost",
    "max_tokens",
    "minutes",
    "prices",
    "cache",
];

/// Any option but those in [`OF_ALL`].
const ANY: &[&str] = &["*"];

/// What has an effect on a list, too, and `--resume` and `--replay`, which are refused with better words.
const OF_ALL: [&str; 9] =
    ["json", "quiet", "config", "set", "secret", "providers", "key_for", "resume", "replay"];

/// Modes of commands, and the options that have no effect on them.
const MODES: [(&[&str], &[&str], When); 27] = [
    (&["bench"], ANY, Unless("suite", "without a suite")),
    (&["test", "bench", "limit"], &["seed"], If("resume", "with --resume: a campaign keeps its seed")),
    (&["test", "bench", "limit"], &["requests_per_second", "attempts", "prices", "reply_tokens"], Programs),
    (
        &["test"],
        &["compat"],
        IfWithout("resume", "dissect", "with --resume and without --dissect: a campaign keeps its agent"),
    ),
    (&["test", "bench"], &["margin", "gate_metric"], Unless("baseline", "without --baseline")),
    (&["report"], &["fail_if_worse"], Unless("others", "on one campaign: name two")),
    (&["report"], &["gate_metric"], Unless("fail_if_worse", "without --fail-if-worse")),
    (&["runs merge"], &["store", "store_pages_max"], If("into", ": it reads the stores that it is given")),
    (&["score"], &["seed"], Unless("judge", "without --judge")),
    (&["score"], ASKING, Unless("judge", "without --judge")),
    (&["synth"], ASKING, Unless("rewrite", "without --rewrite")),
    (&["mnms generate"], ASKING, Unless("model", "without --model")),
    (&["mnms generate"], &["json", "out", "force"], If("show_prompt", "with --show-prompt")),
    (&["mnms graph"], &["format"], If("json", "with --json")),
    (&["mnms sheet alternatives", "topics from-mcp"], &["seed"], Unless("model", "without --model")),
    (&["mnms sheet alternatives", "topics from-mcp"], ASKING, Unless("model", "without --model")),
    (&["mnms sheet results"], &["seed"], Unless("count", "without --count")),
    (&["read"], &["task"], If("file", "with a file of cases")),
    (&["serve-tools"], &["json"], If("stdio", "with --stdio")),
    (&["runs show"], &["findings", "details"], If("case", "with --case")),
    // Not of `test` and `bench`: the command line that a campaign keeps has the file's values, and must work again.
    (&["runs show", "report", "score"], &["findings", "details"], If("json", "with --json")),
    (&["report"], &["findings", "details"], If("others", "with several campaigns")),
    (&["report"], &["findings", "details"], If("html", "with --html")),
    (&["report"], &["findings", "details"], If("junit", "with --junit")),
    (&["report"], &["findings", "details"], If("csv", "with --csv")),
    (&["report"], &["findings", "details"], If("inspect", "with --inspect")),
    (&["report"], &["findings", "details"], If("step_summary", "with --step-summary")),
];

/// Whether the command has a use for the option with this id.
pub(crate) fn has_use(command: &str, id: &str) -> bool {
    SHARED.iter().filter(|(option, _)| *option == id).all(|(_, users)| match users {
        Only(commands) => commands.contains(&command),
        AllBut(commands) => !commands.contains(&command),
    })
}

/// The whole command line, with the options hidden that have no effect, as help, manual pages and completions show it.
pub(crate) fn without_idle_options(mut root: Command) -> Command {
    // Only a command that is built has the options that it shares with the others.
    root.build();
    root.mut_subcommands(|command| {
        let path = command.get_name().to_owned();
        hide_idle(command, &path)
    })
}

fn hide_idle(command: Command, path: &str) -> Command {
    let hide = |argument: Arg| match has_use(path, argument.get_id().as_str()) {
        true => argument,
        false => argument.hide(true),
    };
    command.mut_args(hide).mut_subcommands(|below| {
        let path = format!("{path} {}", below.get_name());
        hide_idle(below, &path)
    })
}

/// What to say of an option that has no effect on this command, if there is one among those of the command line
/// itself. `all` are those of the configuration file as well, and `agents` the agents that either names: they say what
/// the command does.
pub(crate) fn without_effect(command: &str, typed: &Given, all: &Given, agents: &[&str]) -> Option<String> {
    let refused = |id: &str, when: &str| {
        let option = id.replace('_', "-");
        format!("--{option} has no effect on `planproof {command}`{when}")
    };
    if let Some(id) = typed.ids().find(|id| !has_use(command, id)) {
        let instead = if command == SHARD_PLAN { ": name it behind `--`, with the campaign" } else { "" };
        return Some(refused(id, instead));
    }
    MODES.iter().filter(|(commands, ..)| commands.contains(&command)).find_map(|(_, options, when)| {
        let (is_so, words) = match *when {
            If(id, words) => (all.has(id), words),
            Unless(id, words) => (!all.has(id), words),
            IfWithout(id, other, words) => (all.has(id) && !all.has(other), words),
            Programs => (
                !all.has("serve_model") && are_programs(agents),
                "without --serve-model: the agent asks its model itself",
            ),
        };
        let is_idle = |id: &&str| match *options == ANY {
            // Groups of options have ids as well, which are the names of their types.
            true => !OF_ALL.contains(id) && id.starts_with(|first: char| first.is_ascii_lowercase()),
            false => options.contains(id),
        };
        let id = typed.ids().filter(|_| is_so).find(is_idle)?;
        Some(refused(id, &format!(" {words}")))
    })
}

/// Whether there are agents, and planproof asks no model for any of them.
fn are_programs(agents: &[&str]) -> bool {
    let is_program = |agent: &&str| {
        let agent = agent.strip_prefix("repair:").unwrap_or(agent);
        ["command:", "worker:", "url:"].iter().any(|kind| agent.starts_with(kind))
    };
    // Without a name, as with `--resume`, only the store knows the agent.
    !agents.is_empty() && agents.iter().all(is_program)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory as _;

    use super::*;
    use crate::arguments::Arguments;

    fn find<'c>(root: &'c Command, path: &str) -> &'c Command {
        path.split(' ').fold(root, |command, name| command.find_subcommand(name).expect(path))
    }

    fn given(ids: &[&str]) -> Given {
        Given::new(ids.iter().map(|id| (*id).to_owned()))
    }

    #[test]
    fn every_command_and_option_is_there() {
        let mut root = Arguments::command();
        root.build();
        let must_have = |path: &str, id: &str| {
            let is_there = find(&root, path).get_arguments().any(|argument| argument.get_id() == id);
            assert!(is_there, "{path} has no {id}");
        };
        for (id, users) in &SHARED {
            let (Only(commands) | AllBut(commands)) = users;
            commands.iter().for_each(|path| must_have(path, id));
        }
        for (commands, options, when) in &MODES {
            let condition = match when {
                If(id, _) | Unless(id, _) | IfWithout(id, ..) => id,
                Programs => "serve_model",
            };
            for path in *commands {
                must_have(path, condition);
                options.iter().filter(|id| **id != "*").for_each(|id| must_have(path, id));
            }
        }
    }

    /// Adds the commands below this one, with their paths.
    fn add_commands(command: &Command, path: &str, all: &mut Vec<(String, Command)>) {
        for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
            let path = format!("{path} {}", below.get_name()).trim().to_owned();
            all.push((path.clone(), below.clone()));
            add_commands(below, &path, all);
        }
    }

    /// Every option of planproof, on every command: it is taken, it is refused because it has no effect, or it is
    /// refused because the command has no such option.
    #[test]
    #[ignore = "slow"]
    fn every_command_takes_each_option_or_refuses_it() {
        let mut root = Arguments::command();
        root.build();
        let mut all = Vec::new();
        add_commands(&root, "", &mut all);
        let names = |argument: &Arg| -> Vec<String> {
            let names = argument.get_long_and_visible_aliases().unwrap_or_default();
            names.into_iter().map(str::to_owned).collect()
        };
        let longs = |command: &Command| -> Vec<String> { command.get_arguments().flat_map(names).collect() };
        let options: BTreeSet<String> = all.iter().flat_map(|(_, command)| longs(command)).collect();
        let (mut taken, mut idle, mut unknown) = (0, 0, 0);
        for (path, command) in &mut all {
            for option in options.iter().filter(|option| !["help", "version"].contains(&option.as_str())) {
                let found = command.get_arguments().find(|argument| names(argument).contains(option));
                let Some(id) = found.map(|argument| argument.get_id().to_string()) else {
                    // It is short for another option of the command.
                    if longs(command).iter().any(|long| long.starts_with(option.as_str())) {
                        continue;
                    }
                    let words = [path.clone(), format!("--{option}")];
                    let error = command.try_get_matches_from_mut(words).expect_err(option);
                    assert_eq!(error.exit_code(), 2, "{path} --{option}");
                    assert!(error.to_string().contains(&format!("--{option}")), "{path}: {error}");
                    unknown += 1;
                    continue;
                };
                if has_use(path, &id) {
                    taken += 1;
                    continue;
                }
                let typed = given(&[&id]);
                let said = without_effect(path, &typed, &typed, &[]).unwrap_or_default();
                // What to do instead may follow.
                let expected = format!("--{option} has no effect on `planproof {path}`");
                assert!(said.starts_with(&expected), "{expected}: {said}");
                idle += 1;
            }
        }
        // A table that nothing reads, or a command line without commands, would pass as well.
        assert!(taken > 1000 && idle > 100 && unknown > 5000, "{taken} {idle} {unknown}");
    }

    #[test]
    fn help_shows_only_what_has_an_effect() {
        let root = without_idle_options(Arguments::command());
        let is_hidden = |path: &str, id: &str| {
            let mut arguments = find(&root, path).get_arguments();
            arguments.find(|argument| argument.get_id() == id).expect(id).is_hide_set()
        };
        assert!(is_hidden("report", "seed") && is_hidden("spec print", "json") && is_hidden("man", "quiet"));
        assert!(
            !is_hidden("test", "seed") && !is_hidden("spec check", "json") && !is_hidden("report", "quiet")
        );
    }

    #[test]
    fn only_what_is_typed_is_refused() {
        let none = given(&[]);
        let seed = given(&["seed"]);
        assert_eq!(without_effect("report", &none, &seed, &[]), None);
        assert_eq!(without_effect("test", &seed, &seed, &[]), None);
        let said = without_effect("report", &seed, &seed, &[]);
        assert_eq!(said.as_deref(), Some("--seed has no effect on `planproof report`"));
        // What the file says decides on the mode, and is not refused itself.
        let (cost, judge) = (given(&["max_cost"]), given(&["max_cost", "judge"]));
        assert_eq!(without_effect("score", &cost, &judge, &[]), None);
        assert_eq!(without_effect("score", &none, &cost, &[]), None);
        let said = without_effect("score", &cost, &cost, &[]);
        assert_eq!(said.as_deref(), Some("--max-cost has no effect on `planproof score` without --judge"));
        // A list has no use for options of campaigns, nor do groups of options count.
        let all = given(&["CampaignArguments", "json", "timeout"]);
        let said = without_effect("bench", &all, &all, &[]);
        assert_eq!(said.as_deref(), Some("--timeout has no effect on `planproof bench` without a suite"));
        assert_eq!(without_effect("bench", &given(&["CampaignArguments", "json"]), &none, &[]), None);
    }

    #[test]
    fn a_program_asks_its_model_itself() {
        let attempts = given(&["attempts"]);
        let of = |agents: &[&str], all: &Given| without_effect("test", &attempts, all, agents);
        assert!(of(&["repair:command:python a.py"], &attempts).is_some());
        assert_eq!(of(&["command:a", "tools@sim/perfect"], &attempts), None);
        assert_eq!(of(&["url:http://localhost"], &given(&["attempts", "serve_model"])), None);
        assert_eq!(of(&[], &attempts), None);
    }
}
