//! The possible faults of an output, and their classes in the paper (section 3.4).

use std::fmt;

use planproof_plan::subtasks::PlanFaultKind;
use planproof_suite::ClassInfo;
use serde::{Deserialize, Serialize};

/// One fault. Places count from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum OutputFault {
    /// The output has no required list, or an unreadable one.
    NoList {
        /// What is wrong with it.
        what: String,
    },
    /// The list contains an item of the wrong form.
    WrongItem {
        place: usize,
        /// What it should be.
        wanted: String,
    },
    /// The numbers of tools and sub-tasks differ.
    Lengths { tools: usize, subtasks: usize },
    /// A turn has several steps instead of one.
    SeveralInTurn {
        /// Which turn, among those with steps.
        turn: usize,
        /// How many it has.
        steps: usize,
    },
    /// A name that no tool has.
    UnknownTool { place: usize, name: String },
    /// A tool that is not for the question.
    Distractor { place: usize, name: String },
    /// A sub-task that was solved before.
    Repeated {
        place: usize,
        /// The step that it repeats.
        of: usize,
    },
    /// Another tool belongs there.
    WrongTool {
        place: usize,
        /// The tool that belongs there.
        wanted: String,
        /// The one that stands there.
        found: String,
    },
    /// A step of the plan is missing.
    MissingStep { place: usize, tool: String },
    /// There are more steps than the question needs.
    ExtraStep {
        /// Which step is the first of them.
        place: usize,
    },
    /// The words of a sub-task do not name its required facts.
    WrongSubtask {
        place: usize,
        /// The fact that they lack.
        fact: String,
    },
    /// The words of a sub-task mean something else.
    OtherMeaning {
        place: usize,
        /// What they say, in a few words.
        what: String,
    },
    /// The call for a sub-task returned something else.
    WrongResult {
        place: usize,
        /// How it differs, in a few words.
        what: String,
    },
    /// A judge model considers a sub-task different.
    JudgedOther { place: usize },
    /// There is no statement or code.
    NothingToRun {
        /// The required output: `SQL statement` or `call of Python`.
        wanted: String,
    },
    /// The statement or code does not run.
    DoesNotRun { what: String },
    /// The statement selects other rows.
    WrongRows {
        /// How they differ, in a few words.
        what: String,
    },
    /// The value is another one.
    WrongValue {
        wanted: String,
        /// The one that was found.
        found: String,
    },
    /// The agent failed at a reply that its model did not mend.
    NotMended {
        /// The kind of the last fault: a word of [`PlanFaultKind`].
        kind: String,
        what: String,
    },
    /// A part of the answer is missing.
    MissingPart { part: usize },
    /// A part of the answer is wrong, and no tool returned it.
    WrongPart {
        part: usize,
        /// How it differs, in a few words.
        what: String,
    },
    /// A part of the answer is wrong although a tool had returned the right value.
    Unused {
        part: usize,
        /// How it differs, in a few words.
        what: String,
    },
    /// A part of the answer is wrong, and its tool was not called.
    FromMemory { part: usize, tool: String },
}

/// The classes of failures, by precedence. Four of them are those of the paper.
pub(crate) static CLASSES: [ClassInfo; 9] = [
    ClassInfo::agent_failed(0),
    ClassInfo {
        name: "endless_extension",
        meaning: "A sub-task that was solved already was solved again.",
        rank: 1,
    },
    ClassInfo::timeout(2),
    ClassInfo::reply_limit(3),
    ClassInfo::unparsed_call(4),
    ClassInfo {
        name: "wrong_format",
        meaning: "The output does not have the form that was demanded, such as a list.",
        rank: 5,
    },
    ClassInfo {
        name: "task_not_understood",
        meaning: "A tool or what it was to do does not fit the question.",
        rank: 6,
    },
    ClassInfo {
        name: "missing_summary",
        meaning: "The answer leaves out a part of the question, or what the tools gave.",
        rank: 7,
    },
    ClassInfo::missing(8),
];

impl OutputFault {
    /// The name of its class.
    pub fn class(&self) -> &'static str {
        match self {
            Self::NotMended { kind, .. } => match PlanFaultKind::find(kind) {
                Some(PlanFaultKind::UnknownTool) => "task_not_understood",
                Some(PlanFaultKind::Endless) => "endless_extension",
                Some(PlanFaultKind::NoSummary) => "missing_summary",
                // A verdict from another version can have a kind that this one does not know.
                Some(PlanFaultKind::Format | PlanFaultKind::Lengths) | None => "wrong_format",
            },
            Self::NoList { .. }
            | Self::WrongItem { .. }
            | Self::Lengths { .. }
            | Self::SeveralInTurn { .. }
            | Self::NothingToRun { .. } => "wrong_format",
            Self::Repeated { .. } => "endless_extension",
            Self::UnknownTool { .. }
            | Self::Distractor { .. }
            | Self::WrongTool { .. }
            | Self::MissingStep { .. }
            | Self::ExtraStep { .. }
            | Self::WrongSubtask { .. }
            | Self::OtherMeaning { .. }
            | Self::WrongResult { .. }
            | Self::JudgedOther { .. }
            | Self::DoesNotRun { .. }
            | Self::WrongRows { .. }
            | Self::WrongValue { .. }
            | Self::WrongPart { .. } => "task_not_understood",
            Self::MissingPart { .. } | Self::Unused { .. } | Self::FromMemory { .. } => "missing_summary",
        }
    }

    /// Whether it is about what a sub-task says or does, rather than about its tool.
    pub const fn is_about_sub_task(&self) -> bool {
        matches!(
            self,
            Self::WrongSubtask { .. }
                | Self::OtherMeaning { .. }
                | Self::WrongResult { .. }
                | Self::JudgedOther { .. }
        )
    }

    /// The step of the plan, from 1, if the fault is about one.
    pub const fn step(&self) -> Option<usize> {
        match self {
            Self::UnknownTool { place, .. }
            | Self::Distractor { place, .. }
            | Self::Repeated { place, .. }
            | Self::WrongTool { place, .. }
            | Self::MissingStep { place, .. }
            | Self::ExtraStep { place }
            | Self::JudgedOther { place }
            | Self::OtherMeaning { place, .. }
            | Self::WrongResult { place, .. }
            | Self::WrongSubtask { place, .. } => Some(*place),
            _ => None,
        }
    }
}

impl fmt::Display for OutputFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoList { what } => write!(f, "no list of the demanded form: {what}"),
            Self::WrongItem { place, wanted } => write!(f, "item {place} is no {wanted}"),
            Self::Lengths { tools, subtasks } => write!(f, "{tools} tools, but {subtasks} sub-tasks"),
            Self::SeveralInTurn { turn, steps } => write!(f, "turn {turn} has {steps} steps instead of one"),
            Self::UnknownTool { place, name } => write!(f, "step {place}: there is no tool `{name}`"),
            Self::Distractor { place, name } => write!(f, "step {place}: the {name} does not belong here"),
            Self::Repeated { place, of } => write!(f, "step {place} repeats step {of}"),
            Self::WrongTool { place, wanted, found } => {
                write!(f, "step {place}: {found} instead of {wanted}")
            }
            Self::MissingStep { place, tool } => write!(f, "step {place} is missing: {tool}"),
            Self::ExtraStep { place } => write!(f, "step {place} is one too many"),
            // With this mark, a fact is one that must not be named.
            Self::WrongSubtask { place, fact } => match fact.strip_prefix('!') {
                Some(fact) => write!(f, "step {place}: the sub-task says `{fact}`, which is something else"),
                // A fact lists the words of which any will do.
                None => {
                    write!(f, "step {place}: the sub-task does not name `{}`", fact.replace('|', "` or `"))
                }
            },
            Self::OtherMeaning { place, what } => {
                write!(f, "step {place}: the sub-task is another one: {what}")
            }
            Self::WrongResult { place, what } => {
                write!(f, "step {place}: its call returned something else: {what}")
            }
            Self::JudgedOther { place } => {
                write!(f, "step {place}: the judge model says that the sub-task is another one")
            }
            Self::NothingToRun { wanted } => write!(f, "there is no {wanted}"),
            Self::DoesNotRun { what } => write!(f, "it does not run: {what}"),
            Self::WrongRows { what } => write!(f, "other rows than the right ones: {what}"),
            Self::WrongValue { wanted, found } => write!(f, "{found} instead of {wanted}"),
            Self::NotMended { what, .. } => write!(f, "the agent broke: {what}"),
            Self::MissingPart { part } => write!(f, "part {part} of the answer is missing"),
            Self::WrongPart { part, what } => write!(f, "part {part} of the answer is wrong: {what}"),
            Self::Unused { part, what } => {
                write!(f, "part {part} of the answer is not what its tool gave: {what}")
            }
            Self::FromMemory { part, tool } => {
                write!(f, "part {part} of the answer is wrong, and the {tool} was not asked")
            }
        }
    }
}

/// The class of an output with these faults: the first by precedence; `None` without any.
pub fn class_of(faults: &[OutputFault]) -> Option<&'static str> {
    let rank = |name: &str| CLASSES.iter().position(|class| class.name == name);
    faults.iter().map(OutputFault::class).min_by_key(|name| rank(name))
}
