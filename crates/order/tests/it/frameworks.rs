//! Simulated models behind frameworks: tools under other names, tools of the framework's own, histories in text.

use std::sync::Arc;

use planproof_engine::Campaign;
use planproof_model::{ChatRequest, Message, Model, Settings};
use planproof_order::{OrderOutcome, OrderRun as _, OrderSuite, mock_tools};
use planproof_sim::{SimKind, SimModel};
use planproof_synth::{InfeasibleShare, JudgeOptions, PlanningCase, SynthesisOptions, TimeOptions, judge};
use planproof_tools::{SchemaCache, Toolbox};
use planproof_trace::{Clock as _, EndReason, Event, EventKind, LogicalClock, Tool, ToolCall, ToolResult};

use crate::{campaign, cases, for_engine, run_typed};

/// What a framework makes of tools and conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// Puts the server's name in front of each tool's.
    Prefix,
    /// The same, cut off at a length, with a digest instead of the end.
    Digest,
    /// Gives results as a list of blocks in JSON.
    Blocks,
    /// Takes the answer by a tool.
    Ending,
    /// Writes calls and results as text, in which the tools' names stay.
    Text,
    /// Shows its tools when they are searched for.
    Search,
}

const STYLES: [Style; 6] =
    [Style::Prefix, Style::Digest, Style::Blocks, Style::Ending, Style::Text, Style::Search];

fn offered(style: Style, own: &[Tool], has_searched: bool) -> Arc<[Tool]> {
    let renamed = |(place, tool): (usize, &Tool)| match style {
        Style::Prefix => Tool { name: format!("mcp_127_0_0_1_{}", tool.name), ..tool.clone() },
        Style::Digest => Tool {
            name: format!("mcp_server_{place}_9f3a"),
            description: format!("Tool Description: {}", tool.description),
            ..tool.clone()
        },
        Style::Blocks | Style::Ending | Style::Text | Style::Search => tool.clone(),
    };
    let mut tools: Vec<Tool> = own.iter().enumerate().map(renamed).collect();
    let of_framework = |name: &str, argument: &str| {
        let schema = serde_json::json!({"type": "object", "properties": {argument: {"type": "string"}},
            "required": [argument]});
        let input_schema = schema.into();
        Tool { name: name.into(), description: "Of the framework.".into(), input_schema }
    };
    match style {
        Style::Ending => tools.push(of_framework("submit", "answer")),
        Style::Text => tools.push(of_framework("final_answer", "answer")),
        Style::Search if !has_searched => tools = vec![of_framework("tool_search", "query")],
        _ => {}
    }
    tools.into()
}

/// A whole run of the case behind such a framework: its events.
async fn run_behind(kind: SimKind, case: &PlanningCase, style: Style) -> Vec<Event> {
    let model = SimModel::new(kind);
    let tools = mock_tools(case, &SchemaCache::default()).expect("the case is good");
    let clock = LogicalClock::default();
    let mut events = Vec::new();
    let mut note = |kind| events.push(Event::new(clock.now(), kind));
    let mut messages = vec![Message::User { text: case.query.clone() }];
    let mut has_searched = false;
    for turn in 0..100 {
        let shown = offered(style, tools.tools(), has_searched);
        let request = ChatRequest {
            messages: messages.clone(),
            tools: Arc::clone(&shown),
            settings: Settings::default(),
            previous: None,
        };
        let reply = model.chat(&request).await.expect("it answers");
        let ends = |call: &ToolCall| ["submit", "final_answer"].contains(&call.name.as_str());
        if reply.calls.is_empty() || reply.calls.iter().any(ends) {
            assert_eq!(reply.calls.is_empty(), !matches!(style, Style::Ending | Style::Text), "{style:?}");
            if let Some(call) = reply.calls.first() {
                assert!(call.arguments.to_text().contains("\"answer\":\""), "{call:?}");
            }
            note(EventKind::End(EndReason::Answered { text: reply.text }));
            return events;
        }
        let (mut results, mut listed) = (Vec::new(), Vec::new());
        for (number, call) in reply.calls.iter().enumerate() {
            if call.name == "tool_search" {
                has_searched = true;
                results.push((call.id.clone(), "Found all.".to_owned()));
                continue;
            }
            let place = shown.iter().position(|tool| tool.name == call.name);
            let name = place.map_or("no such tool", |place| &tools.tools()[place].name).to_owned();
            let made = ToolCall {
                id: planproof_trace::CallId::new(format!("{turn}.{number}")),
                name,
                ..call.clone()
            };
            note(EventKind::Call(made.clone()));
            let result = tools.answer(&made);
            listed.push(format!(
                "{{'id': '{}', 'function': {{'name': '{}', 'arguments': {}}}}}",
                call.id,
                call.name,
                call.arguments.to_text().replace('"', "'")
            ));
            let text = match style {
                Style::Blocks => serde_json::json!([{"type": "text", "text": result.text}]).to_string(),
                _ => result.text.clone(),
            };
            results.push((call.id.clone(), text));
            note(EventKind::Result(ToolResult { id: made.id, ..result }));
        }
        if style == Style::Text {
            let text = format!("Calling tools:\n[{}]", listed.join(", "));
            messages.push(Message::assistant(text, Vec::new()));
            // As they came.
            let lines: Vec<&str> = results.iter().rev().map(|(_, text)| text.as_str()).collect();
            messages.push(Message::User { text: format!("Observation:\n{}", lines.join("\n")) });
        } else {
            messages.push(Message::assistant(String::new(), reply.calls));
            messages.extend(results.into_iter().map(|(id, text)| Message::Tool { id, text }));
        }
    }
    note(EventKind::End(EndReason::AgentFailed { reason: "it goes on for ever".into() }));
    events
}

#[tokio::test]
async fn what_plans_rightly_passes_behind_every_framework() {
    let infeasible = Some(InfeasibleShare::new(0.4).expect("it is a share"));
    let forms = [
        SynthesisOptions { actions_max: 6, ..SynthesisOptions::default() },
        SynthesisOptions {
            actions_max: 5,
            time: Some(TimeOptions::default()),
            ..SynthesisOptions::default()
        },
        SynthesisOptions { actions_max: 6, infeasible, ..SynthesisOptions::default() },
    ];
    for options in forms {
        for case in cases(options, 12).iter() {
            for kind in [SimKind::Perfect, SimKind::Parallel] {
                for style in STYLES {
                    let events = run_behind(kind, case, style).await;
                    let verdict = judge(case, &events, JudgeOptions::default()).expect("the run is scored");
                    assert!(verdict.passed, "{kind:?} {style:?} {}: {verdict:?}", case.id);
                }
            }
        }
    }
}

/// A history in a form that nobody told it of, as DSPy's and others', is said not to be understood.
#[tokio::test]
async fn a_strange_history_is_said_not_to_be_understood() {
    let case = &cases(SynthesisOptions::default(), 1)[0];
    let tools = mock_tools(case, &SchemaCache::default()).expect("the case is good");
    let request = ChatRequest {
        messages: vec![
            Message::User { text: case.query.clone() },
            Message::assistant("[[ ## next_tool_name ## ]] a_tool".into(), Vec::new()),
            Message::User { text: "[[ ## observation_0 ## ]] done".into() },
        ],
        tools: Arc::clone(tools.tools()),
        settings: Settings::default(),
        previous: None,
    };
    let reply = SimModel::new(SimKind::Perfect).chat(&request).await.expect("it answers");
    assert_eq!(
        (reply.text.as_str(), reply.calls.len()),
        ("I do not understand my turns in this conversation.", 0)
    );
}

/// In our own loop: many calls in a reply, made one after the other as they were written.
#[tokio::test]
async fn several_calls_of_one_reply_are_made_in_their_order() {
    let cases = cases(SynthesisOptions { actions_min: 4, actions_max: 6, ..SynthesisOptions::default() }, 40);
    let plain = campaign(Arc::new(SimModel::new(SimKind::Parallel)), &*cases);
    let flagged = |outcomes: &[OrderOutcome]| -> Vec<u32> {
        let is_flagged = |outcome: &&OrderOutcome| {
            let verdict = outcome.verdict.as_ref().expect("the run is scored");
            verdict.flags.contains(&planproof_synth::Flag::AtOnce)
        };
        outcomes.iter().filter(is_flagged).map(|outcome| outcome.ordinal).collect()
    };
    let outcomes = run_typed(&plain).await;
    assert!(outcomes.iter().all(|outcome| outcome.passed() == Some(true)));
    let at_once = flagged(&outcomes);
    assert!(at_once.len() > 5 && at_once.len() < 35, "{at_once:?}");
    let strict = OrderSuite::new(JudgeOptions { at_once_fails: true, ..JudgeOptions::default() });
    let cases: Vec<_> = cases.iter().map(|case| strict.wrap(case.clone())).collect();
    let strict = run_typed(&Campaign { cases: for_engine(&cases), ..plain }).await;
    let failed =
        strict.iter().filter(|outcome| outcome.passed() == Some(false)).map(|outcome| outcome.ordinal);
    assert_eq!(failed.collect::<Vec<_>>(), at_once);
}
