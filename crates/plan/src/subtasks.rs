//! Plans that are lists of sub-tasks, each with the one tool that does it, and the words by which the prompts of agents
//! that write them and their traces are read. (The agents are TPTU-OA and TPTU-SA of "TPTU: Large Language Model-based
//! AI Agents for Task Planning and Tool Usage", section 2.3; the words are ours.)
//!
//! Who writes the prompts, who answers them in a simulation, and who reads a trace share these alone. From a reply to
//! sub-tasks is in `subtasks/read.rs`, the arguments of a call in `subtasks/arguments.rs`, and what a trace says of a
//! plan in `subtasks/of_run.rs`.

mod arguments;
mod of_run;
mod read;

use std::fmt;

use serde_json::{Map, Value as Json};

pub use arguments::read_arguments;
pub use of_run::PlanOfRun;
pub use read::{PlanFault, PlanFaultKind, read_groups, read_next, read_plan};

/// The most sub-tasks of a plan, whether they are written at once or one at a time.
pub const SUB_TASKS_MAX: usize = 20;

/// The most groups of sub-tasks of a plan.
pub const GROUPS_MAX: usize = 10;

/// What a model replies that has no further sub-task.
pub const DONE: &str = "DONE";

/// A sub-task with the tool that does it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The name of the tool.
    pub tool: String,
    /// What it is to do, in words.
    pub text: String,
}

impl Pair {
    /// The pair as JSON: `{"sql": "Count the songs"}`.
    pub fn to_json(&self) -> Json {
        Json::Object(Map::from_iter([(self.tool.clone(), Json::from(self.text.as_str()))]))
    }

    /// The pair of such a value.
    pub fn of_json(value: &Json) -> Option<Self> {
        let members = value.as_object().filter(|members| members.len() == 1)?;
        let (tool, text) = members.iter().next()?;
        Some(Self { tool: tool.clone(), text: text.as_str()?.to_owned() })
    }
}

/// How a task is divided into sub-tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Division {
    /// All sub-tasks at once, before the first is carried out (TPTU-OA).
    AtOnce,
    /// One sub-task at a time, each after the result of the one before (TPTU-SA).
    OneByOne,
    /// Groups at once, and the sub-tasks of each one by one. (The paper names such an agent and leaves it out.)
    Grouped,
}

impl Division {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::AtOnce, Self::OneByOne, Self::Grouped];

    /// The kind of agent that divides tasks in this way, as its name has it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AtOnce => "one-step",
            Self::OneByOne => "sequential",
            Self::Grouped => "hierarchical",
        }
    }
}

impl fmt::Display for Division {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a model is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Asking {
    /// All sub-tasks of a task.
    Plan,
    /// The next sub-task.
    Next,
    /// Groups of sub-tasks.
    Groups,
    /// The arguments of a call.
    Call,
    /// The answer, from what all sub-tasks gave.
    Summary,
}

impl Asking {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Plan, Self::Next, Self::Groups, Self::Call, Self::Summary];

    /// The sentence with which the prompt begins.
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Plan => "You divide a task into sub-tasks for tools, all of them at once.",
            Self::Next => "You divide a task into sub-tasks for tools, one after the other.",
            Self::Groups => "You divide a task into groups of sub-tasks.",
            Self::Call => "You write the arguments with which a tool is called.",
            Self::Summary => "You answer a task from what its sub-tasks gave.",
        }
    }

    /// The actor in the trace that asks for this.
    pub const fn actor(self) -> &'static str {
        match self {
            Self::Plan | Self::Next | Self::Groups => "planner",
            Self::Call => "caller",
            Self::Summary => "summariser",
        }
    }
}

/// What a judge model is asked of a sub-task.
pub mod judging {
    /// The sentence with which the question begins.
    pub const MARK: &str = "You compare two sub-tasks of one task.";

    /// The sub-task that is right.
    pub const RIGHT: &str = "# Right";

    /// The one that was planned.
    pub const PLANNED: &str = "# Planned";

    /// The first word of a reply that they are the same.
    pub const YES: &str = "YES";

    /// The first word of a reply that they are not.
    pub const NO: &str = "NO";

    /// What a reply says: its first word, whatever stands around it; `None` where that is neither of the two.
    pub fn read(reply: &str) -> Option<bool> {
        let word = reply.split(|it: char| !it.is_alphanumeric()).find(|word| !word.is_empty())?;
        match word.to_ascii_uppercase().as_str() {
            YES => Some(true),
            NO => Some(false),
            _ => None,
        }
    }
}

/// The headings of prompts. Each stands on a line of its own, and what it is of goes on to the next one.
pub mod headings {
    /// The task, as the case states it.
    pub const TASK: &str = "# Task";

    /// The tools, a line for each: `- name: description`.
    pub const TOOLS: &str = "# Tools";

    /// The tool that is called.
    pub const TOOL: &str = "# Tool";

    /// The group that sub-tasks are wanted of.
    pub const GROUP: &str = "# Group";

    /// The sub-task that a call is for.
    pub const SUB_TASK: &str = "# Sub-task";

    /// What earlier sub-tasks gave.
    pub const RESULTS: &str = "# Results";

    /// What earlier runs have taught, a line for each lesson.
    pub const LESSONS: &str = "# Lessons of earlier runs";

    /// What to reply, and in which form.
    pub const REPLY: &str = "# Reply";

    /// Before the result of the sub-task whose number follows.
    pub const RESULT_OF: &str = "## ";
}

/// The states of sections in a trace. The note of one that is about a sub-task is its number, from 1.
pub mod sections {
    /// The prompt with which a conversation with the model begins.
    pub const PROMPT: &str = "prompt";

    /// The tool set: the names of all tools, a line for each.
    pub const TOOLS: &str = "tools";

    /// A plan in order: all pairs as a list of JSON. The last one is carried out.
    pub const PLAN: &str = "plan";

    /// Groups in order, as a list of texts in JSON.
    pub const GROUPS: &str = "groups";

    /// A sub-task that is carried out now, as a pair in JSON.
    pub const SUB_TASK: &str = "sub_task";

    /// What is wrong with a reply, which the model is then asked to mend. The note is the kind of fault.
    pub const FAULTS: &str = "faults";

    /// How many lessons of earlier runs can be recalled, where the agent has a memory. The note is the number.
    pub const MEMORY: &str = "memory";

    /// The lessons in the prompt that comes next, a line for each. The note is a list of the runs that taught them, in
    /// JSON: of each the campaign, the case and which repeat of it.
    pub const LESSONS: &str = "lessons";

    /// What a sub-task gave, in words of the environment where there is no result of a call.
    pub const FAILURE: &str = "failure";
}
