//! The agent's prompt. The wording is ours: the paper shows its prompts as pictures.

use std::fmt::Write as _;

use crate::evaluation::PaperEvaluation;
use crate::question::ToolQuestion;
use crate::tool::ToolName;

/// The rules for dividing a plan, so that there is exactly one right division.
const DIVISION: &str = "Whatever is found in the database, counted or compared there, is one sub-task of the SQL generator \
                        for each thing that is asked for. Every calculation with numbers is one sub-task of the Python \
                        generator. The order is that in which the question names them; a sub-task that needs the result of \
                        another one comes after it.";

/// The prompt of a question under an evaluation. `schema` are the tables of the database.
pub(crate) fn prompt(evaluation: PaperEvaluation, question: &ToolQuestion, schema: &str) -> String {
    let mut text = question.question.trim().to_owned();
    text.push_str("\n\n");
    match evaluation {
        it if it.is_planning() => planning(it, schema, &mut text),
        it if it.is_sql() => {
            let _ = write!(text, "Write one SQLite statement that answers this. The tables are:\n{schema}\n\n{}", clauses(it));
            text.push_str("Write the statement at the end of your answer, in a code block that begins with ```sql.");
        }
        PaperEvaluation::MathCode => text.push_str(
            "Write Python code for this, with the value as its last expression, and run it with the tool `python`. Then \
             write the value as the last line of your answer, behind `Answer:`.",
        ),
        _ => {
            let _ = write!(
                text,
                "Use the tools `sql` and `python` instead of what you know by heart. The tables of the database are:\n{schema}\n\n\
                 Answer with a list that has an item for each part of the question, in their order: a number, or a text that \
                 names every row, such as [3.14, \"Ann, Bo\"] or [7, \"Ann: 31, Bo: 25\"]. Write the list as the last line."
            );
        }
    }
    text
}

fn planning(evaluation: PaperEvaluation, schema: &str, text: &mut String) {
    text.push_str("Plan which tools answer this, in which order. The tools are:\n");
    for tool in ToolName::shown(evaluation.has_unrelated_tools()) {
        let _ = writeln!(text, "- {} (`{}`): {}", tool.title(), tool.call_name(), tool.about());
    }
    let _ = write!(text, "The tables of the database are:\n{schema}\n\n{DIVISION}\n\n");
    text.push_str(match evaluation {
        PaperEvaluation::ToolOrder => {
            "Answer with the list of tools in their order, such as [\"SQL generator\", \"Python generator\"]."
        }
        PaperEvaluation::ToolSubtaskLists => {
            "Answer with two lists of the same length, the tools in their order and behind them their sub-tasks, such \
             as\n[\"SQL generator\", \"Python generator\"]\n[\"Count the songs\", \"Multiply their number by 3\"]"
        }
        PaperEvaluation::SequentialPairs => {
            "Give one step at a time, such as {\"SQL generator\": \"Count the songs\"}, and the next one once you know its \
             result. When nothing is left to do, say so. If you have a single turn, write one step a line."
        }
        _ => {
            "Answer with a list of pairs of a tool and its sub-task, such as [{\"SQL generator\": \"Count the songs\"}, \
             {\"Python generator\": \"Multiply their number by 3\"}]."
        }
    });
}

/// How to come to the statement.
fn clauses(evaluation: PaperEvaluation) -> &'static str {
    match evaluation {
        PaperEvaluation::NestedSqlDirect => {
            "It has to be a nested statement: one with another SELECT within.\n"
        }
        PaperEvaluation::NestedSqlCot => {
            "Think step by step: first what the inner SELECT has to find, with its FROM, WHERE, GROUP BY, HAVING and ORDER \
             BY where they are needed; then the clauses of the outer one around it.\n"
        }
        _ => "",
    }
}
