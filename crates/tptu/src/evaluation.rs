//! The required output of an agent, and so the scoring.

use planproof_plan::subtasks::PlanForm;
use serde::{Deserialize, Serialize};

use crate::tool::ToolName;

/// One of the evaluations of the paper (its tables 3 to 11). The last one is run with the one-step agent and with the
/// sequential agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PaperEvaluation {
    /// A list of tools in their order.
    ToolOrder,
    /// Two lists of the same length: tools, and their sub-tasks.
    ToolSubtaskLists,
    /// A list of {tool: sub-task}.
    Pairs,
    /// The same, with ten unrelated tools offered as well.
    PairsUnrelated,
    /// One {tool: sub-task} a turn.
    SequentialPairs,
    /// A statement about one table.
    SimpleSql,
    /// A nested statement, requested directly.
    NestedSqlDirect,
    /// The same, asked for clause by clause.
    NestedSqlCot,
    MathCode,
    /// The answer, from several tools.
    EndToEnd,
}

impl PaperEvaluation {
    /// All of them, in the order of the paper.
    pub const ALL: [Self; 10] = [
        Self::ToolOrder,
        Self::ToolSubtaskLists,
        Self::Pairs,
        Self::PairsUnrelated,
        Self::SequentialPairs,
        Self::SimpleSql,
        Self::NestedSqlDirect,
        Self::NestedSqlCot,
        Self::MathCode,
        Self::EndToEnd,
    ];

    /// The form in which all sub-tasks are to be written at once; `None` where that is not what it asks for.
    pub const fn plan_form(self) -> Option<PlanForm> {
        match self {
            Self::ToolOrder => Some(PlanForm::Tools),
            Self::ToolSubtaskLists => Some(PlanForm::Lists),
            Self::Pairs | Self::PairsUnrelated => Some(PlanForm::Pairs),
            _ => None,
        }
    }

    /// Its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ToolOrder => "tool-order",
            Self::ToolSubtaskLists => "tool-subtask-lists",
            Self::Pairs => "pairs",
            Self::PairsUnrelated => "pairs-unrelated",
            Self::SequentialPairs => "sequential-pairs",
            Self::SimpleSql => "simple-sql",
            Self::NestedSqlDirect => "nested-sql-direct",
            Self::NestedSqlCot => "nested-sql-cot",
            Self::MathCode => "math-code",
            Self::EndToEnd => "end-to-end",
        }
    }

    /// The evaluation of that name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// Whether a plan is asked for.
    pub const fn is_planning(self) -> bool {
        matches!(
            self,
            Self::ToolOrder
                | Self::ToolSubtaskLists
                | Self::Pairs
                | Self::PairsUnrelated
                | Self::SequentialPairs
        )
    }

    /// Whether a statement is asked for.
    pub const fn is_sql(self) -> bool {
        matches!(self, Self::SimpleSql | Self::NestedSqlDirect | Self::NestedSqlCot)
    }

    /// Whether a single tool is used exactly once.
    pub const fn wants_one_step(self) -> bool {
        self.is_sql() || matches!(self, Self::MathCode)
    }

    /// Its tool, if it is about a single one.
    pub const fn tool(self) -> Option<ToolName> {
        match self {
            Self::SimpleSql | Self::NestedSqlDirect | Self::NestedSqlCot => Some(ToolName::Sql),
            Self::MathCode => Some(ToolName::Python),
            _ => None,
        }
    }

    /// Whether the ten unrelated tools are offered.
    pub const fn has_unrelated_tools(self) -> bool {
        matches!(self, Self::PairsUnrelated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_files() {
        for evaluation in PaperEvaluation::ALL {
            assert_eq!(serde_json::to_value(evaluation).unwrap(), evaluation.name());
            assert_eq!(PaperEvaluation::find(evaluation.name()), Some(evaluation));
        }
        assert_eq!(PaperEvaluation::find("planning"), None);
    }
}
