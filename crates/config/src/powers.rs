//! What each key of a configuration file can do beyond saying what is tested and how that is shown. It decides how far
//! a file may go that nobody named (`reach.rs`). A test fails for a key that is in no group.

use crate::keys::{ConfigKey, ValueKind};

/// What a key can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Power {
    /// Nothing else: numbers, switches and words that say what is drawn, asked, counted and shown, and how much of it.
    /// Any file may. What it says is on stderr, in the command line that the store keeps, and in the report.
    Harmless,
    /// Name an agent, a model, tools or a server: those of ours, a program, or an address.
    Place,
    /// Name a file of servers and programs.
    Servers,
    /// Name a program, whatever the text is.
    Program,
    /// Send a text in which `${NAME}` stands for a variable.
    Filled,
    /// Send a variable.
    Variable,
    /// Decide which program a name means, by the folder in which it is looked up.
    Folder,
    /// Set variables of the program that is started: which code it loads, and whom it sends its keys to.
    Environment,
    /// Say where this machine is, and so where calls and conversations are sent.
    Host,
    /// Loosen what holds the agent, in some of its values.
    Isolation,
    /// Say what tokens cost, and so when a budget is used up.
    Prices,
    /// Speak to a model that has real tools, as the person at the keyboard does.
    Speech,
    /// Have a file read.
    Reads,
    /// Have a file or a folder written.
    Writes,
}

/// The keys of all sections, by what they can do. A name means the same in each section that has it.
const POWERS: [(Power, &[&str]); 14] = [
    (
        Power::Place,
        &["agent", "evaluator", "judge", "model", "pages", "rewrite", "serve-model", "tools", "url"],
    ),
    (Power::Servers, &["media"]),
    (Power::Program, &["player"]),
    (Power::Filled, &["header"]),
    // Where the variable of `key-env` goes is `key-in`, which alone is nothing.
    (Power::Variable, &["env", "key-env"]),
    (Power::Folder, &["cwd"]),
    (Power::Environment, &["env-file"]),
    (Power::Host, &["allow-host"]),
    (Power::Isolation, &["agent-memory", "isolate"]),
    (Power::Prices, &["prices"]),
    (Power::Speech, &["system"]),
    (
        Power::Reads,
        &[
            "body",
            "case",
            "data",
            "from",
            "guard",
            "input",
            "inputs",
            "places",
            "policy",
            "rules",
            "scenarios",
            "topics",
        ],
    ),
    (
        Power::Writes,
        &["cache", "csv", "html", "inspect", "junit", "output", "recordings", "step-summary", "store"],
    ),
    (Power::Harmless, &HARMLESS),
];

/// Those that say how much is done (`cases`, `concurrency`, `max-cost`, `timeout`), what counts (`success-min`,
/// `allow-repeats`), what is drawn (`seed`, `actions`) and what is shown (`findings`, `quiet`) among them: this is what
/// a configuration is for, and no default of them protects anything but the time of the person who reads it.
const HARMLESS: [&str; 108] = [
    "actions",
    "activities",
    "allow-distractors",
    "allow-repeats",
    "alternatives",
    "answer",
    "as-is",
    "at-least",
    "attempts",
    "by",
    "cases",
    "cases-max",
    "cases-per-pair",
    "compare-results",
    "compat",
    "compose-executors",
    "concurrency",
    "continuation",
    "correction",
    "count",
    "day",
    "days",
    "deny-warnings",
    "details",
    "dissect",
    "dissect-k",
    "dissect-max",
    "dissect-reruns",
    "distractors",
    "durations",
    "evaluation",
    "examples",
    "fail-at-once",
    "fail-if-worse",
    "fail-over",
    "faults",
    "findings",
    "first",
    "form",
    "format",
    "frequent",
    "gate-metric",
    "grammar",
    "hard",
    "hints",
    "infeasible",
    "inputs-each",
    "iterations",
    "job",
    "jobs",
    "key-in",
    "label",
    "level",
    "limit",
    "list-max",
    "long-model",
    "margin",
    "max-cost",
    "max-tokens",
    "minutes",
    "mode",
    "most",
    "no-check",
    "no-early-stop",
    "parse-text-calls",
    "past-limit",
    "path-tools",
    "port",
    "queries",
    "queries-max",
    "quiet",
    "raters",
    "relative-depth",
    "repeat",
    "reply-tokens",
    "request-timeout",
    "requests-per-second",
    "require-pass",
    "restarts-max",
    "samples",
    "scoring",
    "secret",
    "seed",
    "sentences-max",
    "sequences",
    "shrink",
    "shrink-max",
    "shrink-repeat",
    "shrink-runs",
    "shuffle",
    "statistics",
    "store-pages-max",
    "sub-sentences-max",
    "success-min",
    "summary",
    "text",
    "think",
    "threshold",
    "time",
    "timeout",
    "to",
    "tool-timeout",
    "tools-max",
    "tools-min",
    "topic",
    "tries-max",
    "turns",
    "verify",
];

impl Power {
    /// What a file of servers does, for a message.
    pub(crate) const SERVERS: &'static str = "names a file of servers and programs";

    /// That of a key. Keys of kinds of cases that others add are not known here, so their texts may name anything, and
    /// their files are read.
    pub(crate) fn of(key: &ConfigKey) -> Self {
        let is_in = |(_, names): &&(Self, &[&str])| names.contains(&key.name.as_str());
        match (POWERS.iter().find(is_in), &key.kind) {
            (Some((power, _)), _) => *power,
            (None, ValueKind::Path) => Self::Reads,
            (None, ValueKind::Text | ValueKind::Scalar) => Self::Place,
            (None, _) => Self::Harmless,
        }
    }
}

/// The names of all keys of which it is decided what they can do, each with whether that is nothing.
pub fn decided_keys() -> impl Iterator<Item = (&'static str, bool)> {
    let of = |(power, names): &(Power, &'static [&'static str])| {
        let is_harmless = *power == Power::Harmless;
        names.iter().map(move |name| (*name, is_harmless))
    };
    POWERS.iter().flat_map(of)
}
