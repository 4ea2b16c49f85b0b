//! The agent's prompt. The wording is ours: the paper shows its prompts as pictures.

use planproof_trace::template::fill;

use crate::evaluation::PaperEvaluation;
use crate::question::ToolQuestion;
use crate::tool::ToolName;

/// The prompt of a question under an evaluation. `schema` are the tables of the database.
pub(crate) fn prompt(evaluation: PaperEvaluation, question: &ToolQuestion, schema: &str) -> String {
    let tools: Vec<String> = ToolName::shown(evaluation.has_unrelated_tools())
        .iter()
        .map(|tool| format!("- {} (`{}`): {}", tool.title(), tool.call_name(), tool.about()))
        .collect();
    fill(
        template(evaluation).trim_end(),
        &[
            ("question", question.question.trim()),
            ("tools", &tools.join("\n")),
            ("schema", schema),
            ("clauses", clauses(evaluation)),
            ("form", form(evaluation).trim_end()),
        ],
    )
}

/// What the prompts of an evaluation have in common: our instructions, without a question, tools and tables.
pub(crate) fn instructions(evaluation: PaperEvaluation) -> String {
    fill(
        template(evaluation),
        &[("clauses", clauses(evaluation)), ("form", form(evaluation)), ("question", ""), ("schema", "")],
    )
}

fn template(evaluation: PaperEvaluation) -> &'static str {
    match evaluation {
        it if it.is_planning() => include_str!("../prompts/planning.txt"),
        it if it.is_sql() => include_str!("../prompts/sql.txt"),
        PaperEvaluation::MathCode => include_str!("../prompts/code.txt"),
        _ => include_str!("../prompts/answer.txt"),
    }
}

/// The form of a plan.
fn form(evaluation: PaperEvaluation) -> &'static str {
    match evaluation {
        PaperEvaluation::ToolOrder => include_str!("../prompts/tool_order.txt"),
        PaperEvaluation::ToolSubtaskLists => include_str!("../prompts/tool_subtask_lists.txt"),
        PaperEvaluation::SequentialPairs => include_str!("../prompts/sequential_pairs.txt"),
        it if it.is_planning() => include_str!("../prompts/pairs.txt"),
        _ => "",
    }
}

/// How to come to the statement.
fn clauses(evaluation: PaperEvaluation) -> &'static str {
    match evaluation {
        PaperEvaluation::NestedSqlDirect => include_str!("../prompts/nested_direct.txt"),
        PaperEvaluation::NestedSqlCot => include_str!("../prompts/nested_cot.txt"),
        _ => "",
    }
}
