//! The arguments of `planproof test`.

use std::path::PathBuf;

use clap::Args;

use super::campaign::{BEGINNING, SHAPE};
use super::{AllCasesArguments, CampaignArguments, CaseArguments, CompatChoice};
use crate::suites::orders::{CANDIDATE_RUNS_MAX, TRIALS_MAX};
use crate::values::{case_count, file, whole};

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
    "dissect_k",
    "dissect_reruns",
    "dissect_max",
    "shrink",
    "shrink_max",
    "shrink_runs",
    "shrink_repeat",
];

/// Options that say whether and how failures are dissected.
const DISSECTING: [&str; 5] = ["dissect", "dissect_k", "dissect_reruns", "dissect_max", "compat"];

/// Options that say how failures are shrunk.
const SHRINKING: [&str; 4] = ["shrink", "shrink_max", "shrink_runs", "shrink_repeat"];

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
    pub(crate) dissect: DissectArguments,
    #[command(flatten)]
    pub(crate) shrink: ShrinkArguments,
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

/// Whether the cause of each failure is looked for.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Causes of failures")]
pub(crate) struct DissectArguments {
    /// Find the cause of each failure.
    ///
    /// Reruns the failed case, then runs variants of it: with other words, with another topic, and with another
    /// paragraph of the same meaning. With `--resume`, this also works for a campaign that finished without
    /// `--dissect`. With `--compat original`, the dissection is the published algorithm, which names the constraint as
    /// the cause as soon as one variant with another paragraph fails.
    #[arg(long)]
    pub(crate) dissect: bool,
    /// Number of variants of each kind per failure; by default 5.
    #[arg(long, value_name = "N", value_parser = whole(1, TRIALS_MAX), requires = "dissect")]
    pub(crate) dissect_k: Option<u32>,
    /// Number of reruns of each failed case, before its variants; by default 3.
    #[arg(long, value_name = "N", value_parser = whole(0, TRIALS_MAX), requires = "dissect")]
    pub(crate) dissect_reruns: Option<u32>,
    /// Maximum number of failures to dissect; by default all.
    ///
    /// If there are more, this many are drawn with the seed.
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), requires = "dissect")]
    pub(crate) dissect_max: Option<u32>,
    /// Whom it follows, from `--compat`: the published algorithm names the constraint as the cause as soon as one
    /// variant with another paragraph fails. By default all such variants have to fail.
    #[arg(skip)]
    pub(crate) compat: Option<CompatChoice>,
}

/// Whether failures are made smaller.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Smaller failing cases")]
pub(crate) struct ShrinkArguments {
    /// Shrink the smallest failing cases.
    ///
    /// Removes actions, requirements and words as long as the agent still fails in the same way, by default in 2 of 3
    /// runs. These runs are kept in the run store and appear in all reports of the campaign.
    #[arg(long)]
    pub(crate) shrink: bool,
    /// Maximum number of failures to shrink; by default 3.
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), requires = "shrink")]
    pub(crate) shrink_max: Option<u32>,
    /// Maximum number of agent runs per failure to shrink; by default 200.
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), requires = "shrink")]
    pub(crate) shrink_runs: Option<u32>,
    /// Maximum number of runs of one smaller case; by default 3.
    ///
    /// More than half of them must fail.
    #[arg(long, value_name = "N", value_parser = whole(1, CANDIDATE_RUNS_MAX), requires = "shrink")]
    pub(crate) shrink_repeat: Option<u32>,
    /// Write the smallest failing cases to this file as case v1 lines, for `--from`.
    #[arg(long, value_name = "FILE", value_parser = file())]
    pub(crate) shrink_to: Option<PathBuf>,
}

/// The options that ask for the sequels of orders.
pub(crate) const DISSECT: &str = "dissect";
pub(crate) const SHRINK: &str = "shrink";
