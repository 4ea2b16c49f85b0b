//! Execution of sub-tasks: for each the model writes the arguments of its tool, and the tool is called with them.

use planproof_model::Message;
use planproof_plan::subtasks::{Asking, read_arguments, sections};
use planproof_plan::team::review::ReviewReason;
use planproof_tools::execute_recorded;
use planproof_trace::{Arguments, Author, CallId, Tool, ToolCall};
use serde_json::Value;

use super::conversation::{Desk, mend};
use super::steps::{StepEnd, Steps};
use super::{prompts, remembering, review};
use crate::asking::outside_of_instructions;
use crate::stop::Stop;

/// Executes all sub-tasks that have not ended, in order. A failure of one is its result.
pub(super) async fn carry_out(desk: &mut Desk<'_>, steps: &mut Steps) -> Result<(), Stop> {
    // Looked up anew each time, because a person may have had an earlier sub-task run again.
    while let Some((place, step)) = steps.next() {
        let (pair, number) = (step.pair.clone(), place + 1);
        let text = pair.to_json().to_string();
        desk.note(Asking::Plan, sections::SUB_TASK, Author::Model, &text, &number.to_string());
        let end = one(desk, steps, place).await?;
        steps.end(place, end);
        review::ask(desk, steps, &ReviewReason::Ended { sub_task: number.to_string() }).await?;
    }
    Ok(())
}

/// What one sub-task gives.
async fn one(desk: &mut Desk<'_>, steps: &Steps, place: usize) -> Result<StepEnd, Stop> {
    let run = desk.run();
    // There is one, because the caller has just found it.
    let Some((_, step)) = steps.next() else {
        return Ok(StepEnd { text: String::new(), is_failure: true });
    };
    let number = (place + 1).to_string();
    let Some(tool) = run.toolbox.tools().iter().find(|tool| tool.name == step.pair.tool) else {
        // It was checked when it was read, but a toolbox may change its tools.
        let text = format!("there is no tool `{}` any more", step.pair.tool);
        desk.note(Asking::Call, sections::FAILURE, Author::Environment, &text, &number);
        return Ok(StepEnd { text, is_failure: true });
    };
    let lessons = remembering::of_tool(desk, &step.pair);
    let prompt = prompts::call(run.query, tool, &step.pair, &steps.results(None), &lessons);
    desk.note_prompt(Asking::Call, &prompt, &number);
    let mut messages = vec![Message::User { text: prompt }];
    let mut asked_again = 0;
    loop {
        let reply = desk.turn(Asking::Call, &messages).await?;
        let words = match read_arguments(&outside_of_instructions(&reply, &messages), only_text(tool)) {
            Ok(arguments) => {
                let call = ToolCall {
                    id: CallId::new(format!("call-{}", desk.next_call())),
                    name: tool.name.clone(),
                    arguments: Arguments::Object(arguments),
                };
                let result = execute_recorded(&**run.toolbox, &desk.recorder(Asking::Call), &call).await;
                if !result.is_error {
                    return Ok(StepEnd { text: result.text, is_failure: false });
                }
                // The model may correct its arguments after an error of the tool, too.
                result.text
            }
            Err(fault) => {
                let kind = fault.kind.as_str();
                desk.note(Asking::Call, sections::FAULTS, Author::Environment, &fault.words, kind);
                fault.words
            }
        };
        if asked_again == desk.replies_max() {
            desk.note(Asking::Call, sections::FAILURE, Author::Environment, &words, &number);
            return Ok(StepEnd { text: words, is_failure: true });
        }
        asked_again += 1;
        mend(&mut messages, reply, &words);
    }
}

/// The name of a tool's only argument, if that is a text.
fn only_text(tool: &Tool) -> Option<&str> {
    let Some(Value::Object(properties)) = tool.input_schema.get("properties") else { return None };
    match (properties.len(), properties.iter().next()) {
        (1, Some((name, schema))) if schema.get("type").and_then(Value::as_str) == Some("string") => {
            Some(name)
        }
        _ => None,
    }
}
