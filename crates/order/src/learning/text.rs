//! Learning data of agents that write their calls as text: each original request of their model, from the first wrong
//! reply on, with a reply that executes the correct plan in the agent's own language.

use planproof_agents::behaviour::retrace::{Demonstrated, ModelInput, PendingCall, Retracer};
use planproof_model::Message;
use planproof_synth::{CaseTool, JudgeOptions, OracleVerdict, PlanningCase};
use planproof_trace::{Event, EventKind, Tool, ToolCall, WrittenObject, paired_calls};
use serde_json::{Value, json};

use super::{Form, LeftOut, call, target, tools_of};
use crate::GuardState;

/// The lines of a failed run. `retracer` belongs to the agent's specification.
pub(super) fn lines(
    case: &PlanningCase,
    verdict: &OracleVerdict,
    options: JudgeOptions,
    events: &[Event],
    retracer: &Retracer,
    form: Form,
) -> Result<Vec<WrittenObject>, LeftOut> {
    let tools: Vec<Tool> = case.tools.iter().map(CaseTool::to_tool).collect();
    let is_spec = |event: &&Event| matches!(event.kind, EventKind::Spec { .. });
    let has_samples = events.iter().filter(is_spec).count() > 1;
    let turns = retracer.retrace(&tools, events).map_err(|_| match has_samples {
        true => LeftOut::Votes,
        false => LeftOut::OtherSpecification,
    })?;
    let made = paired_calls(events);
    // Ids may be reused within a run; the last call with the id is the one of this turn.
    let result_of = |call: &ToolCall| made.iter().rev().find(|it| it.call.id == call.id)?.result;
    let mut state = GuardState::new(case.clone(), options);
    for turn in &turns {
        let before = state.clone();
        let is_right = turn.calls.iter().all(|call| {
            let is_executed = result_of(call).is_some_and(|(_, result)| !result.is_error);
            let is_right = is_executed && state.objection(call).is_none();
            if is_right {
                state.executed(call);
            }
            is_right
        });
        // A turn is also wrong if it ends the run before everything is done.
        if is_right && !turn.has_failed && (!turn.is_end || state.is_complete()) {
            continue;
        }
        // From the state before this turn: its reply is replaced as a whole, with the calls in it that were right.
        let plan = rest_of_plan(case, verdict, before)?;
        let mocks = tools_of(case).ok_or(LeftOut::NoPlan)?;
        let mut answer = |call: &ToolCall| mocks.answer(call).text;
        let shown = turn
            .demonstrate(&plan, case.time.is_some(), &mut answer)
            .map_err(|why| LeftOut::NotItsLanguage(why.to_string()))?;
        return match form {
            Form::Chat => Ok(shown.iter().map(|it| chat_line(it).into()).collect()),
            Form::Preference => {
                // Only the first reply answers the request of the rejected one; the others have other requests.
                let first = shown.first().ok_or(LeftOut::NothingWrong)?;
                Ok(vec![preference_line(turn.input(), &first.reply, turn.text).into()])
            }
        };
    }
    Err(LeftOut::NothingWrong)
}

/// The calls that are left, as near to the verdict's correct plan as possible.
fn rest_of_plan(
    case: &PlanningCase,
    verdict: &OracleVerdict,
    mut state: GuardState,
) -> Result<Vec<PendingCall>, LeftOut> {
    let target = target(case, verdict);
    let mut plan = Vec::new();
    while !state.is_complete() {
        let right = super::nearest_right(&state, &target).ok_or(LeftOut::NoPlan)?;
        let call = call(case, right.action, right.start, plan.len());
        state.executed(&call);
        let task = case.actions[right.action].text.clone();
        plan.push(PendingCall { tool: call.name, arguments: call.arguments, task });
    }
    Ok(plan)
}

fn chat_line(shown: &Demonstrated) -> Value {
    match &shown.input {
        ModelInput::Text(prompt) => json!({ "prompt": prompt, "completion": shown.reply }),
        ModelInput::Messages(messages) => {
            // Text that is already in the conversation must not be learnt.
            let mut messages: Vec<Value> = messages.iter().map(|it| message(it, true)).collect();
            messages.push(json!({ "role": "assistant", "content": shown.reply, "weight": 1 }));
            json!({ "messages": messages })
        }
    }
}

fn preference_line(input: ModelInput, chosen: &str, rejected: &str) -> Value {
    match input {
        ModelInput::Text(prompt) => json!({ "prompt": prompt, "chosen": chosen, "rejected": rejected }),
        ModelInput::Messages(messages) => {
            let messages: Vec<Value> = messages.iter().map(|it| message(it, false)).collect();
            json!({
                "input": { "messages": messages },
                "preferred_output": [{ "role": "assistant", "content": chosen }],
                "non_preferred_output": [{ "role": "assistant", "content": rejected }],
            })
        }
    }
}

fn message(message: &Message, is_weighted: bool) -> Value {
    match message {
        Message::System { text } => json!({ "role": "system", "content": text }),
        Message::User { text } => json!({ "role": "user", "content": text }),
        Message::Assistant { text, .. } if is_weighted => {
            json!({ "role": "assistant", "content": text, "weight": 0 })
        }
        Message::Assistant { text, .. } | Message::Tool { text, .. } => {
            json!({ "role": "assistant", "content": text })
        }
    }
}
