//! Plans that are lists of sub-tasks, each with its tool, and the words that structure the prompts and traces of
//! agents that write them. (The agents are TPTU-OA and TPTU-SA of "TPTU: Large Language Model-based AI Agents for
//! Task Planning and Tool Usage", section 2.3; the words are ours.)
//!
//! The authors of prompts, the simulations that answer them, and the readers of traces share only these. Parsing a
//! reply to sub-tasks is in `subtasks/read.rs`, its forms in `subtasks/form.rs`, the arguments of a call in
//! `subtasks/arguments.rs`, and the plan in a trace in `subtasks/of_run.rs`.

mod arguments;
mod form;
mod of_run;
mod read;

use std::fmt;

use serde_json::{Map, Value as Json};

pub use arguments::read_arguments;
pub use form::PlanForm;
pub use of_run::PlanOfRun;
pub use read::{PlanFault, PlanFaultKind, read_groups, read_next, read_plan, read_plan_in};

/// The most sub-tasks of a plan, whether they are written at once or one at a time, unless a case may need more.
pub const SUB_TASKS_MAX: usize = 20;

/// The most groups of sub-tasks of a plan.
pub const GROUPS_MAX: usize = 10;

/// The reply of a model that has no further sub-task.
pub const DONE: &str = "DONE";

/// A sub-task with its tool.
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
    /// All sub-tasks at once, before the first is executed (TPTU-OA).
    AtOnce,
    /// One sub-task at a time, each after the result of the previous one (TPTU-SA).
    OneByOne,
    /// Groups at once, and the sub-tasks of each one by one. (The paper names such an agent and leaves it out.)
    Grouped,
}

impl Division {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::AtOnce, Self::OneByOne, Self::Grouped];

    /// The kind of agent that divides tasks in this way, as in its name.
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
    /// The answer, from the results of all sub-tasks.
    Summary,
}

impl Asking {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Plan, Self::Next, Self::Groups, Self::Call, Self::Summary];

    /// The sentence at the beginning of the prompt.
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

/// The question to a judge model about a sub-task.
pub mod judging {
    /// The sentence at the beginning of the question.
    pub const MARK: &str = "You compare two sub-tasks of one task.";

    /// The sub-task that is right.
    pub const RIGHT: &str = "# Right";

    /// The one that was planned.
    pub const PLANNED: &str = "# Planned";

    /// The first word of a reply that they are the same.
    pub const YES: &str = "YES";

    /// The first word of a reply that they are not.
    pub const NO: &str = "NO";

    /// The meaning of a reply: that of its first word, ignoring anything around it; `None` if that is neither of the
    /// two. Where the reply repeats the choice that it was given, [`YES`] or [`NO`], its first word comes behind that.
    pub fn read(reply: &str) -> Option<bool> {
        let words = reply.split(|it: char| !it.is_alphanumeric()).filter(|word| !word.is_empty());
        let words: Vec<String> = words.map(str::to_ascii_uppercase).collect();
        let meaning = |word: &String| match word.as_str() {
            YES => Some(true),
            NO => Some(false),
            _ => None,
        };
        let choice = words.windows(3).position(|words| words == [YES, "OR", NO]);
        match choice {
            // It is repeated behind an answer.
            Some(1..) if meaning(&words[0]).is_some() => meaning(&words[0]),
            Some(place) => words.get(place + 3).and_then(meaning),
            None => words.first().and_then(meaning),
        }
    }

    #[cfg(test)]
    mod tests {
        use super::read;

        #[test]
        fn a_choice_that_is_repeated_is_no_answer() {
            for (reply, expected) in [
                ("Yes.", Some(true)),
                ("**NO**, because another number is meant.", Some(false)),
                ("Perhaps", None),
                ("", None),
                ("YES or NO", None),
                ("Reply with one word, YES or NO.", None),
                ("Reply with one word, YES or NO.\n\nNO", Some(false)),
                ("YES. (You asked for YES or NO.)", Some(true)),
            ] {
                assert_eq!(read(reply), expected, "{reply:?}");
            }
        }
    }
}

/// The headings of prompts. Each is on a line of its own, and its part extends to the next one.
pub mod headings {
    /// The task, as the case states it.
    pub const TASK: &str = "# Task";

    /// The tools, a line for each: `- name: description`.
    pub const TOOLS: &str = "# Tools";

    /// The tool that is called.
    pub const TOOL: &str = "# Tool";

    /// The group whose sub-tasks are requested.
    pub const GROUP: &str = "# Group";

    /// The sub-task that a call is for.
    pub const SUB_TASK: &str = "# Sub-task";

    /// What earlier sub-tasks gave.
    pub const RESULTS: &str = "# Results";

    /// The lessons of earlier runs, one per line.
    pub const LESSONS: &str = "# Lessons of earlier runs";

    /// What to reply, and in which form.
    pub const REPLY: &str = "# Reply";

    /// Precedes the result of the sub-task whose number follows.
    pub const RESULT_OF: &str = "## ";
}

/// The states of sections in a trace. The note of one about a sub-task is its number, from 1.
pub mod sections {
    /// The prompt with which a conversation with the model begins.
    pub const PROMPT: &str = "prompt";

    /// The tool set: the names of all tools, a line for each.
    pub const TOOLS: &str = "tools";

    /// A valid plan: all pairs as a JSON list. The last one is executed.
    pub const PLAN: &str = "plan";

    /// Valid groups, as a JSON list of texts.
    pub const GROUPS: &str = "groups";

    /// A sub-task that is now executed, as a JSON pair.
    pub const SUB_TASK: &str = "sub_task";

    /// The fault of a reply, which the model is then asked to mend. The note is the kind of fault.
    pub const FAULTS: &str = "faults";

    /// How many lessons of earlier runs can be recalled, if the agent has a memory. The note is the number.
    pub const MEMORY: &str = "memory";

    /// The lessons in the next prompt, one per line. The note is a JSON list of the runs that taught them: for each
    /// the campaign, the case and the number of the repeat.
    pub const LESSONS: &str = "lessons";

    /// The result of a sub-task, in words of the environment if there is no result of a call.
    pub const FAILURE: &str = "failure";
}
