//! What a model that is given the right answers has for a prompt.

use planproof_model::shown_tools::shown_place;
use planproof_suite::{GoldCall, GoldSubTask};
use planproof_trace::Tool;

use crate::planning::Strike;

/// What the model was given for a prompt.
#[derive(Debug)]
pub(crate) struct Handed {
    /// The prompt, with normalised white space.
    pub(crate) prompt: String,
    /// The last paragraph of the prompt.
    pub(crate) echo: String,
    pub(crate) calls: Vec<GoldCall>,
    /// How many of them come before each later message.
    pub(crate) turns: Vec<usize>,
    /// Its sub-tasks in words, if there are any.
    pub(crate) sub_tasks: Vec<GoldSubTask>,
    /// How the answer is found, on one line.
    pub(crate) reasoning: String,
    /// What it answers, right or wrong.
    pub(crate) answer: String,
    /// The other answer, which it does not give: wrong or right.
    pub(crate) other_answer: String,
    /// Whether the answer is wrong, and for a plan in which way.
    pub(crate) strike: Option<Strike>,
}

impl Handed {
    /// The calls whose tools are among these, each with the tool.
    pub(crate) fn calls_with<'a>(
        &'a self,
        tools: &'a [Tool],
    ) -> impl Iterator<Item = (&'a Tool, &'a GoldCall)> + 'a {
        self.calls.iter().filter_map(|call| Some((&tools[shown_place(tools, &call.tool, "")?], call)))
    }
}
