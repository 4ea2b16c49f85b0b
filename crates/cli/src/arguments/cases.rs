//! The arguments of commands about cases.

use std::ops::Range;
use std::path::PathBuf;

use clap::Args;
use planproof_order::synth::{Day, InfeasibleShare, SynthesisOptions, TimeOptions};
use planproof_trace::TimeOfDay;

use crate::failure::Failure;
use crate::values::{file, share, whole};

/// How cases are drawn.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Cases")]
pub(crate) struct CaseArguments {
    /// Number of actions: one number, or a range with both ends included.
    #[arg(long, default_value = "3..5", value_name = "N..M", value_parser = parse_range)]
    pub(crate) actions: (u32, u32),
    /// Place of the first case in the seed's sequence.
    #[arg(long, default_value_t = 0, value_name = "INDEX", value_parser = whole(0, u64::MAX))]
    pub(crate) first: u64,
    /// How many of the cases contradict themselves on purpose, from 0 to 1: the right answer is to report
    /// which sentences cannot hold together, with a tool that all cases then offer. They are scored apart.
    #[arg(long, value_name = "SHARE", value_parser = share())]
    pub(crate) infeasible: Option<f64>,
    #[command(flatten)]
    pub(crate) shape: ShapeArguments,
}

/// How cases are drawn, whatever their number of actions.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Cases")]
pub(crate) struct ShapeArguments {
    /// Draw from the topics of this file (topics v1; `planproof topics generate` and `planproof topics
    /// from-mcp` write one) instead of those that come with planproof; `-` for stdin. With `--from`,
    /// dissection takes its tasks from it.
    #[arg(long, value_name = "FILE", value_parser = file())]
    pub(crate) topics: Option<PathBuf>,
    /// The job of all cases (`planproof topics` lists them); by default each case draws one.
    #[arg(long, value_name = "JOB")]
    pub(crate) topic: Option<String>,
    /// Number of tools that belong to no task of the case.
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = whole(0, u32::MAX))]
    pub(crate) distractors: u32,
    /// Most sentences; by default as many as actions.
    #[arg(long, value_name = "N", value_parser = whole(0, u32::MAX))]
    pub(crate) sentences_max: Option<u32>,
    /// Most sub-sentences of a sentence.
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = whole(0, u8::MAX))]
    pub(crate) sub_sentences_max: u8,
    /// Most actions of a list; by default 2, and 3 from six actions on.
    #[arg(long, value_name = "N", value_parser = whole(0, u8::MAX))]
    pub(crate) list_max: Option<u8>,
    /// Levels of relative clauses: 0 for none, 1 for relative clauses without another one inside, up to 3.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = whole(0, u8::MAX))]
    pub(crate) relative_depth: u8,
    /// Only cases that take planning: those that all one-look heuristics fail (the order of mention, its
    /// reverse, the one or the other by the first ordering word, by most of them, or sentence by sentence).
    #[arg(long)]
    pub(crate) hard: bool,
    /// Most tries for one sentence.
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = whole(0, u32::MAX))]
    pub(crate) tries_max: u32,
    /// The time form: tasks have start times and hidden durations, and the text names clock times.
    #[arg(long)]
    pub(crate) time: bool,
    /// Within which all tasks have to be done (time form).
    #[arg(long, default_value = "08:00-20:00", value_name = "HH:MM-HH:MM", value_parser = parse_day)]
    #[arg(requires = "time")]
    pub(crate) day: Day,
    /// Minutes that a task takes (time form): one number, or a range with both ends included; by default up to 180, and
    /// so that the tasks fill about two thirds of the day.
    #[arg(long, value_name = "N..M", value_parser = parse_minutes, requires = "time")]
    pub(crate) durations: Option<(u16, u16)>,
    /// How often the agent can clear the day to plan again (time form); by default as often as there are actions.
    #[arg(long, value_name = "N", value_parser = whole(0, u32::MAX), requires = "time")]
    pub(crate) restarts_max: Option<u32>,
}

impl CaseArguments {
    /// The places in the seed's sequence of that number of cases from `--first` on.
    pub(crate) fn places(&self, count: u64) -> Result<Range<u64>, Failure> {
        let end = self.first.checked_add(count);
        end.map(|end| self.first..end).ok_or_else(|| {
            Failure::usage(format!("--first {}: there are no {count} cases from there on", self.first))
        })
    }

    pub(crate) fn options(&self) -> SynthesisOptions {
        let infeasible = self.infeasible.and_then(InfeasibleShare::new);
        SynthesisOptions { infeasible, ..self.shape.options(self.actions) }
    }
}

impl ShapeArguments {
    /// The options of cases with a number of actions between these, both included.
    pub(crate) fn options(&self, (actions_min, actions_max): (u32, u32)) -> SynthesisOptions {
        SynthesisOptions {
            actions_min,
            actions_max,
            sentences_max: self.sentences_max,
            tries_max: self.tries_max,
            list_max: self.list_max,
            sub_sentences_max: self.sub_sentences_max,
            relative_depth: self.relative_depth,
            distractors: self.distractors,
            topic: self.topic.clone(),
            time: self.time.then(|| TimeOptions {
                day: self.day,
                duration_min: self.durations.map(|(shortest, _)| shortest),
                duration_max: self.durations.map(|(_, longest)| longest),
                restarts_max: self.restarts_max,
            }),
            infeasible: None,
            hard: self.hard,
        }
    }
}

fn parse_day(text: &str) -> Result<Day, &'static str> {
    let minute = |text: &str| match text {
        // The one time that only ends a day.
        "24:00" => Some(24 * 60),
        text => TimeOfDay::parse(text).map(TimeOfDay::minute),
    };
    text.split_once('-')
        .and_then(|(start, end)| Some(Day { start: minute(start)?, end: minute(end)? }))
        .ok_or("write two clock times with a hyphen between them, as in 08:00-20:00")
}

fn parse_minutes(text: &str) -> Result<(u16, u16), &'static str> {
    let (low, high) = parse_range(text)?;
    let minutes = |number: u32| u16::try_from(number).map_err(|_| "no task takes that many minutes");
    Ok((minutes(low)?, minutes(high)?))
}

pub(super) fn parse_range(text: &str) -> Result<(u32, u32), &'static str> {
    let number = |part: &str| {
        part.parse::<u32>().map_err(|_| "write a whole number or a range of two, as in 4 or 3..5")
    };
    match text.split_once("..") {
        None => number(text).map(|both| (both, both)),
        Some((low, high)) => Ok((number(low)?, number(high.strip_prefix('=').unwrap_or(high))?)),
    }
}

#[derive(Debug, Args)]
pub(crate) struct SynthArguments {
    #[command(flatten)]
    pub(crate) cases: CaseArguments,
    /// Number of cases.
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = whole(0, u64::MAX))]
    pub(crate) count: u64,
    /// Print the queries as text instead of JSON.
    #[arg(long, conflicts_with = "json")]
    pub(crate) text: bool,
    /// Print to stderr how many draws it took, and in how many ways the grammar expands.
    #[arg(long)]
    pub(crate) statistics: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReadArguments {
    /// File of case v1 lines; `-` for stdin.
    #[arg(required_unless_present = "text", conflicts_with = "text")]
    pub(crate) file: Option<PathBuf>,
    /// Compare what the text says with the constraints of the case: the same pairs, one reading, every action
    /// mentioned.
    #[arg(long, conflicts_with = "text")]
    pub(crate) verify: bool,
    /// Read this paragraph.
    #[arg(long, requires = "task")]
    pub(crate) text: Option<String>,
    /// A task that the paragraph speaks of; once for each.
    #[arg(long, value_name = "TEXT")]
    pub(crate) task: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// File of case v1 lines; `-` for stdin.
    #[arg(long, value_name = "FILE")]
    pub(crate) case: PathBuf,
    /// Which case of the file; needed if it holds several and no trace names one.
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// The plan: action ids or tool names, in the order of the calls; in the time form each with its start, as in
    /// a2@09:30, and restart_plan. A conflict is reported by the numbers of the sentences, as in report_conflict@1+3.
    #[arg(
        long,
        value_name = "ID,ID,...",
        value_delimiter = ',',
        required_unless_present = "trace",
        conflicts_with = "trace"
    )]
    pub(crate) calls: Vec<String>,
    /// File of trace v1 lines: the runs of this case are judged.
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) judge: JudgeArguments,
}

/// What counts as a failure.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Judging")]
pub(crate) struct JudgeArguments {
    /// A repeated action is flagged but does not fail the case.
    #[arg(long)]
    pub(crate) allow_repeats: bool,
    /// The call of a tool that belongs to no task is flagged but does not fail the case.
    #[arg(long)]
    pub(crate) allow_distractors: bool,
    /// Calls that have to come one after the other fail the case where one reply of the model has them, even
    /// in the right order, because many frameworks execute the calls of a reply at once. Without it they are
    /// flagged.
    #[arg(long)]
    pub(crate) fail_at_once: bool,
}
