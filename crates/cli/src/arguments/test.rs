//! The arguments of `planproof test`.

use std::path::PathBuf;

use clap::Args;
use planproof_doors::SequelArguments;
use planproof_doors::orders::arguments::CaseArguments;
use planproof_output::values::file;

use super::campaign::{BEGINNING, SHAPE};
use super::{AllCasesArguments, CampaignArguments};
use crate::values::case_count;

/// Options that say which cases there are.
const DRAWING: [&str; 10] =
    ["cases", "actions", "first", "infeasible", "turns", "from", "scenarios", "rules", "tools", "policy"];

/// Options about synthesised orders, beside `--cases` and those of their shape, which have no meaning for cases of
/// another kind.
const OF_ORDERS: [&str; 21] = [
    "actions",
    "first",
    "infeasible",
    "turns",
    "from",
    "like",
    "resume",
    "replay",
    "topics",
    "tries_max",
    "allow_repeats",
    "allow_distractors",
    "fail_at_once",
    "dissect",
    "dissect-k",
    "dissect-reruns",
    "dissect-max",
    "shrink",
    "shrink-max",
    "shrink-runs",
    "shrink-repeat",
];

/// Options that say whether and how failures are dissected.
const DISSECTING: [&str; 5] = ["dissect", "dissect-k", "dissect-reruns", "dissect-max", "compat"];

/// Options that say how failures are shrunk.
const SHRINKING: [&str; 4] = ["shrink", "shrink-max", "shrink-runs", "shrink-repeat"];

/// What a recording knows by itself.
pub(super) const RECORDED: [&[&str]; 4] = [&DRAWING, &DISSECTING, &SHRINKING, &["repeat", "faults"]];

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
                  planproof test tools@sim/careless --cases 200\n  \
                  planproof test react@openai/gpt-5-mini --actions 3..8 --max-cost 1 --record run.jsonl\n  \
                  planproof test 'command:python agent.py' --serve-model openai/gpt-5-mini\n  \
                  planproof test --resume last\n  \
                  planproof test tools@sim/gold --scenarios refunds.yaml\n  \
                  planproof test tools@sim/gold --rules rules.yaml --tools tools.json")]
#[command(mut_arg("agent", |arg| arg.required_unless_present_any(BEGINNING)))]
#[command(mut_arg("resume", |arg| {
    arg.conflicts_with_all(SHAPE).conflicts_with_all(DRAWING).conflicts_with_all(["topics", "repeat", "faults", "fail_over"])
}))]
pub(crate) struct TestArguments {
    /// Number of cases, or `auto` with --baseline.
    ///
    /// `auto` runs as many cases as it takes to decide whether the agent is worse.
    ///
    /// With `auto` the two campaigns are compared after 63 cases, 125 and so on up to 2,000, until the answer is worse
    /// or not worse, a budget is used up, or all cases of the baseline are run. docs/gate.md has more.
    #[arg(long, default_value = "50", value_name = "N", value_parser = case_count())]
    pub(crate) cases: u64,
    #[command(flatten)]
    pub(crate) draw: CaseArguments,
    /// Read the cases from this file (case v1 lines) instead of drawing them; `-` for stdin.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["cases", "actions", "first", "infeasible", "turns"], conflicts_with_all = SHAPE)]
    pub(crate) from: Option<PathBuf>,
    /// Run the cases of this campaign of the store again, with its seed, repeats, limits and rules.
    ///
    /// Its id, a prefix of the id, or `last`. `planproof report A B` then compares the two, case by case. What the
    /// command line names takes precedence.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["from", "resume", "replay", "cases", "actions", "first", "infeasible", "turns"], conflicts_with_all = SHAPE)]
    pub(crate) like: Option<String>,
    /// Run your own cases from this file (scenario v1) instead of synthesised ones.
    ///
    /// As `planproof bench scenario AGENT --data FILE` does. `planproof scenario check FILE` says first whether each
    /// case can be satisfied. Options about synthesised cases do not go with it.
    #[arg(long, value_name = "FILE", value_parser = file(), conflicts_with_all = OF_ORDERS, conflicts_with_all = SHAPE)]
    #[arg(conflicts_with_all = ["cases", "shrink_to"])]
    pub(crate) scenarios: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) of_rules: RuleCasesArguments,
    #[command(flatten)]
    pub(crate) campaign: CampaignArguments,
    #[command(flatten)]
    pub(crate) sequels: SequelArguments,
    /// Write the smallest failing cases to this file as case v1 lines, for `--from`.
    #[arg(long, value_name = "FILE", value_parser = file(), help_heading = "Smaller failing cases")]
    pub(crate) shrink_to: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) all: AllCasesArguments,
}

/// Cases that are drawn from rules on calls.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Cases from rules")]
pub(crate) struct RuleCasesArguments {
    /// Draw cases in which each rule of this file matters (rules v1), instead of orders.
    ///
    /// In every case, calls in the order of mention, all of them, whatever they return, violate one rule, and a right
    /// session violates none. The rules take turns. Options about orders do not go with it, apart from `--cases`.
    #[arg(long, value_name = "FILE", value_parser = file(), requires = "tools", conflicts_with = "scenarios")]
    #[arg(conflicts_with_all = OF_ORDERS, conflicts_with_all = SHAPE, conflicts_with = "shrink_to")]
    pub(crate) rules: Option<PathBuf>,
    /// Tools of these cases: sources as with `planproof run --tools`, or a JSON file with a list of tools. Repeatable.
    ///
    /// `mcp:COMMAND` starts an MCP server. The tools are listed, and never called: the cases have mock tools of the
    /// same names, which return what the rules tell apart.
    #[arg(long, value_name = "SOURCE", requires = "rules")]
    pub(crate) tools: Vec<String>,
    /// How the agent gets to know the rules: `stated` (below the query), `hidden` (not at all, because it has them in
    /// its own prompt), or a text file that comes before the query.
    ///
    /// A sentence of the file may end with the ids of the rules that it states, as in `Refund only what was looked up.
    /// [look-first]`. The agent does not see the ids; findings quote the sentence.
    #[arg(long, value_name = "stated|hidden|FILE", requires = "rules")]
    pub(crate) policy: Option<String>,
}

/// The options that ask for the sequels of orders.
pub(crate) const DISSECT: &str = "dissect";
pub(crate) const SHRINK: &str = "shrink";
