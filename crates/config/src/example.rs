//! A command line for tests, with some of planproof's options.

use std::path::PathBuf;

use clap::{Arg, ArgAction, Command, value_parser};

use crate::command_line::CommandLine;

/// The command line.
pub(crate) const LINE: CommandLine = CommandLine {
    command,
    has_use: |_, _| true,
    is_kept: |_| false,
    is_recorded: |_| false,
    asks_servers: |_| true,
    servers: || vec![("love", vec!["url", "key-env"])],
};

fn text(name: &'static str) -> Arg {
    Arg::new(name).long(name)
}

fn texts(name: &'static str) -> Arg {
    text(name).action(ArgAction::Append)
}

fn file(name: &'static str) -> Arg {
    text(name).value_parser(value_parser!(PathBuf))
}

fn files(name: &'static str) -> Arg {
    file(name).action(ArgAction::Append)
}

fn number(name: &'static str) -> Arg {
    text(name).value_parser(value_parser!(u64))
}

fn switch(name: &'static str) -> Arg {
    text(name).action(ArgAction::SetTrue)
}

/// What takes one word or another, as no other kind of value does.
fn word(name: &'static str) -> Arg {
    text(name).value_parser(|text: &str| text.parse::<u32>().map(|number| (number, number)))
}

fn command() -> Command {
    let test = Command::new("test").args([
        Arg::new("agent"),
        number("cases"),
        word("actions"),
        switch("allow-repeats"),
        text("timeout").value_parser(value_parser!(f64)),
        file("from"),
        file("html"),
        file("store"),
        file("cwd"),
        file("prices"),
        file("step-summary").num_args(0..=1),
        texts("header"),
        texts("env"),
        text("label"),
        text("isolate"),
        word("agent-memory"),
        text("policy"),
    ]);
    Command::new("planproof").args([number("seed").global(true), switch("quiet").global(true)]).subcommands([
        test,
        Command::new("bench").args([Arg::new("agent"), text("media"), word("agent-memory")]),
        Command::new("limit").args([number("from"), file("env-file")]),
        Command::new("run").args([text("evaluator"), texts("tools"), text("system")]),
        Command::new("rules").subcommand(Command::new("check").arg(texts("tools"))),
        Command::new("score").arg(text("judge")),
        Command::new("serve-tools").arg(texts("allow-host")),
        Command::new("view").args([files("store"), number("port")]),
    ])
}
