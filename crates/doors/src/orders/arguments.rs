//! The arguments of commands about orders.

use std::ops::Range;
use std::path::PathBuf;

use clap::Args;
use planproof_assembly::arguments::AskingArguments;
use planproof_order::synth::{
    Day, InfeasibleShare, JudgeOptions, MessageRange, SynthesisOptions, TimeOptions,
};
use planproof_output::failure::Failure;
use planproof_output::values::{file, share, whole};
use planproof_trace::TimeOfDay;

/// How cases are drawn.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Cases")]
pub struct CaseArguments {
    /// Number of actions: one number, or a range with both ends included.
    #[arg(long, default_value = "3..5", value_name = "N..M", value_parser = parse_range)]
    pub actions: (u32, u32),
    /// Index of the first case to take from the seed's sequence of cases.
    #[arg(long, default_value_t = 0, value_name = "INDEX", value_parser = whole(0, u64::MAX))]
    pub first: u64,
    /// Share of cases that contradict themselves on purpose, from 0 to 1.
    ///
    /// The right answer is to report which sentences contradict each other, with a tool that all cases then have. These
    /// cases are excluded from the rates of the others.
    #[arg(long, value_name = "SHARE", value_parser = share())]
    pub infeasible: Option<f64>,
    /// Number of messages that the text arrives in: one number, or a range with both ends included.
    ///
    /// Later messages come when the agent has ended its turn. They name more tasks, and can reverse or drop an order,
    /// or drop a task. A case with n tasks has at most n/2 messages, rounded up.
    #[arg(long, value_name = "N..M", value_parser = parse_range, conflicts_with_all = ["infeasible", "time"])]
    pub turns: Option<(u32, u32)>,
    #[command(flatten)]
    pub shape: ShapeArguments,
}

/// How cases are drawn, whatever their number of actions.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Cases")]
pub struct ShapeArguments {
    /// File of topics (topics v1) to draw from, instead of the built-in ones; `-` for stdin.
    ///
    /// `planproof topics generate` and `planproof topics from-mcp` write such files. With `planproof test --from`,
    /// dissection takes the tasks of its variants from this file.
    #[arg(long, value_name = "FILE", value_parser = file())]
    pub topics: Option<PathBuf>,
    /// Job of all cases; by default it is drawn for each case.
    ///
    /// `planproof topics` lists the jobs.
    #[arg(long, value_name = "JOB")]
    pub topic: Option<String>,
    /// Number of distractors per case: tools that belong to no task.
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = whole(0, u32::MAX))]
    pub distractors: u32,
    /// Maximum number of sentences; by default the number of actions.
    #[arg(long, value_name = "N", value_parser = whole(0, u32::MAX))]
    pub sentences_max: Option<u32>,
    /// Maximum number of sub-sentences per sentence.
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = whole(0, u8::MAX))]
    pub sub_sentences_max: u8,
    /// Maximum number of actions per list; by default 2, or 3 from six actions on.
    #[arg(long, value_name = "N", value_parser = whole(0, u8::MAX))]
    pub list_max: Option<u8>,
    /// Nesting depth of relative clauses, from 0 (none) to 3.
    ///
    /// 1 allows relative clauses, but none within another one.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = whole(0, u8::MAX))]
    pub relative_depth: u8,
    /// Draw only cases that need planning.
    ///
    /// Five orders that can be read off the text are wrong in these cases: the order of mention; its reverse; and
    /// whichever of these two is suggested by the first ordering word, by most ordering words, or sentence by sentence
    /// by the first ordering word of each. Infeasible cases are not filtered.
    #[arg(long)]
    pub hard: bool,
    /// Maximum number of attempts to draw a sentence.
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = whole(0, u32::MAX))]
    pub tries_max: u32,
    /// Draw cases in the time form: the text states clock times, and tasks take time.
    ///
    /// The agent gives each task a start time. Only the result of the call says how long the task took, so the agent
    /// may have to clear the day and plan again.
    #[arg(long)]
    pub time: bool,
    /// Period of the day in which all tasks must be done (time form).
    #[arg(long, default_value = "08:00-20:00", value_name = "HH:MM-HH:MM", value_parser = parse_day)]
    #[arg(requires = "time")]
    pub day: Day,
    /// Minutes per task: one number, or a range with both ends included (time form).
    ///
    /// By default up to 180, so that the tasks fill about two thirds of the day.
    #[arg(long, value_name = "N..M", value_parser = parse_minutes, requires = "time")]
    pub durations: Option<(u16, u16)>,
    /// Maximum number of times that the agent may clear the day to plan again (time form).
    ///
    /// By default the number of actions.
    #[arg(long, value_name = "N", value_parser = whole(0, u32::MAX), requires = "time")]
    pub restarts_max: Option<u32>,
}

impl CaseArguments {
    /// The places in the seed's sequence of that number of cases from `--first` on.
    pub fn places(&self, count: u64) -> Result<Range<u64>, Failure> {
        let end = self.first.checked_add(count);
        end.map(|end| self.first..end).ok_or_else(|| {
            Failure::usage(format!("--first {}: there are no {count} cases from there on", self.first))
        })
    }

    pub fn options(&self) -> SynthesisOptions {
        let infeasible = self.infeasible.and_then(InfeasibleShare::new);
        let turns = self.turns.map(|(min, max)| MessageRange { min, max });
        SynthesisOptions { infeasible, turns, ..self.shape.options(self.actions) }
    }
}

impl ShapeArguments {
    /// The options of cases with a number of actions between these, both included.
    pub fn options(&self, (actions_min, actions_max): (u32, u32)) -> SynthesisOptions {
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
            // Not a matter of shape: a search for a limit shares the shapes and has no infeasible cases.
            infeasible: None,
            turns: None,
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

pub fn parse_range(text: &str) -> Result<(u32, u32), &'static str> {
    let number = |part: &str| {
        part.parse::<u32>().map_err(|_| "write a whole number or a range of two, as in 4 or 3..5")
    };
    match text.split_once("..") {
        None => number(text).map(|both| (both, both)),
        // Both ends are included either way, so `3..=5`, as Rust writes it, is the same as `3..5`.
        Some((low, high)) => Ok((number(low)?, number(high.strip_prefix('=').unwrap_or(high))?)),
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              planproof synth --count 1 --text\n  \
              planproof synth --count 20 --actions 6..8 --hard --seed 1\n  \
              planproof synth --time --infeasible 0.2\n  \
              planproof synth --rewrite openai/gpt-5-mini --judge anthropic/claude-haiku-4-5\n\n\
              Exit status: 0 all cases were drawn, or with --rewrite tried; 2 usage or input error; 3 a model could \
              not be asked, or the budget was used up.")]
pub struct SynthArguments {
    #[command(flatten)]
    pub(crate) cases: CaseArguments,
    /// Number of cases.
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = whole(1, u64::MAX))]
    pub(crate) count: u64,
    /// Print the queries as text instead of JSON.
    #[arg(long, conflicts_with = "json")]
    pub(crate) text: bool,
    /// Print statistics of the synthesis to stderr.
    ///
    /// They say how many sentences were drawn, why some were rejected, and in how many ways the grammar expands a
    /// sub-sentence.
    #[arg(long)]
    pub(crate) statistics: bool,
    /// Model that writes the paragraph of each case in words of its own.
    ///
    /// Only cases whose new text is known to demand the same are written: it is read back by the reader of
    /// `planproof read`, or else by the model of `--judge`. Others are dropped, and counted on stderr.
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["infeasible", "turns"])]
    pub(crate) rewrite: Option<String>,
    /// Model that lists what a rewritten text demands, where the reader cannot read it.
    ///
    /// It must be another model than that of `--rewrite`, and it does not see the original. Without it such texts are
    /// dropped.
    #[arg(long, value_name = "MODEL", requires = "rewrite")]
    pub(crate) judge: Option<String>,
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              planproof synth --count 20 > cases.jsonl && planproof read cases.jsonl --verify\n  \
              planproof read --text 'Data entry precedes filing.' --task 'data entry' --task filing")]
pub struct ReadArguments {
    /// File of cases (case v1 lines); `-` for stdin.
    #[arg(required_unless_present = "text", conflicts_with = "text")]
    pub(crate) file: Option<PathBuf>,
    /// Check the text against the constraints of the case.
    ///
    /// Both must state the same pairs of actions, the text must have one reading, and it must mention every action.
    #[arg(long, conflicts_with = "text")]
    pub(crate) verify: bool,
    /// Paragraph to read.
    #[arg(long, requires = "task")]
    pub(crate) text: Option<String>,
    /// Task that the paragraph mentions. Repeatable, once per task.
    #[arg(long, value_name = "TEXT")]
    pub(crate) task: Vec<String>,
}

/// What counts as a failure.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Judging")]
pub struct JudgeArguments {
    /// Flag repeated actions, but do not fail the case.
    #[arg(long)]
    pub allow_repeats: bool,
    /// Flag calls of distractors, but do not fail the case.
    ///
    /// A distractor is a tool that belongs to no task.
    #[arg(long)]
    pub allow_distractors: bool,
    /// Fail cases in which one model reply contains calls that must follow each other.
    ///
    /// Such a case fails even if the calls are in the right order, because many frameworks execute the calls of a reply
    /// concurrently. By default such calls are only flagged.
    #[arg(long)]
    pub fail_at_once: bool,
}

impl JudgeArguments {
    /// What counts as a failure.
    pub fn options(&self) -> JudgeOptions {
        JudgeOptions {
            repeated_fails: !self.allow_repeats,
            distractor_fails: !self.allow_distractors,
            at_once_fails: self.fail_at_once,
        }
    }
}
