//! Agents as papers have them: `--compat original`.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::stand_in::{StandIn, answer, failure, model_command, say};
use crate::support::{Place, Run, json_lines};

/// The specifications of the paper, with replies that make a call and replies that make none.
const FIGURES: [(&str, &str, &[&str], &[&str]); 5] = [
    (
        "react",
        include_str!("../../../spec/testdata/published/react.spec"),
        &[
            "[Thought] t\n[Action] calculator\n[Action Input] 17 * 23\n[Observation]",
            "[Final Thought] f\n[Answer] 391",
        ],
        &["[Final Thought] f\n[Answer] 391"],
    ),
    (
        "pass",
        include_str!("../../../spec/testdata/published/pass.spec"),
        &[
            "[Thought] t\n[Action] calculator\n[Action Input] 17 * 23\n[Summary]",
            "It is 391.",
            "[Final Thought] f\n[Answer] 391",
        ],
        &["[Final Thought] f\n[Answer] 391"],
    ),
    (
        "rewoo",
        include_str!("../../../spec/testdata/published/rewoo.spec"),
        &["[Plan] p\n[Action Label] #E1\n[Action] calculator\n[Action Input] 17 * 23\n[Answer]", "391"],
        &["[Answer]", "391"],
    ),
    (
        "reflexion",
        include_str!("../../../spec/testdata/published/reflexion.spec"),
        &[
            "[Thought] t\n[Action] calculator\n[Action Input] 17 * 23\n[Observation]",
            "[Final Thought] f\n[Proposed Answer] 391\n[Evaluation]",
            "[Reflection] r\n[Answer] 391",
        ],
        &["[Answer] 391"],
    ),
    (
        "cot",
        include_str!("../../../spec/testdata/published/cot.spec"),
        &["[Thought] t\n[Answer] 391"],
        &["[Thought] t\n[Answer] 391"],
    ),
];

/// A reply, as a stream if it was asked for as one.
pub(crate) fn written(text: &str, body: &Value) -> String {
    if body["stream"] != true {
        return say(text);
    }
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        format!("data: {}\n\n", json!({"id": "x", "object": "chat.completion.chunk", "choices": [choice]}))
    };
    let whole = [
        chunk(json!({"role": "assistant", "content": text}), Value::Null),
        chunk(json!({}), json!("stop")),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat();
    answer("200 OK", "", &whole).replace("application/json", "text/event-stream")
}

/// A model that replies with these texts in turn, and then with the last one.
fn scripted(script: &'static [&'static str]) -> StandIn {
    // The server is also asked what it is, which is not a turn.
    let turns = AtomicUsize::new(0);
    StandIn::start(move |_, body| match body["messages"].is_array() {
        true => {
            let turn = turns.fetch_add(1, Ordering::Relaxed);
            written(script[turn.min(script.len() - 1)], body)
        }
        false => failure("404 Not Found", "there is no such page"),
    })
}

fn run_with(place: &Place, server: &StandIn, line: &str) -> Run {
    Run::of(model_command(place, line, server.base_url()), "")
}

#[test]
#[ignore = "slow"]
fn the_figures_run_in_all_three_commands() {
    for (name, figure, with_call, without) in FIGURES {
        let place = Place::new();
        place.write("figure.spec", figure);
        let server = scripted(with_call);
        let line = "run spec:figure.spec@openai/m multiply --tools calculator --compat original --trace t.jsonl -y -q";
        let ran = run_with(&place, &server, line).code(0);
        assert!(ran.out.contains("391"), "{name}: {ran:?}");
        let trace = std::fs::read_to_string(place.path("t.jsonl")).unwrap();
        let calls = json_lines(&trace).iter().filter(|line| line["type"] == "call").count();
        assert_eq!(calls, usize::from(with_call != without), "{name}: {trace}");
        // The order cases are done with calls, which this agent never makes.
        let commands = if name == "cot" { &["bench gsm8k"][..] } else { &["test", "bench gsm8k"] };
        for command in commands.iter().copied() {
            let agent = "spec:figure.spec@openai/m --compat original";
            let only = if command == "test" { "--cases 1" } else { "--limit 1" };
            let server = scripted(without);
            let line =
                format!("{command} {agent} {only} --no-check --record {}.jsonl --json -q", &command[..4]);
            let report = run_with(&place, &server, &line).code(1).json();
            assert_eq!(report["agent"], "spec:figure.spec:compat=original@openai/m", "{name}");
            let trace = place.run("runs export last").code(0).out;
            assert!(trace.contains(r#""reason":"answered","text":"391""#), "{name} {command}: {trace}");
            // The choice is the campaign's: a replay has it, and no other one.
            let replay = format!("--replay {}.jsonl -q", &command[..4]);
            place.run(&format!("{command} spec:figure.spec:compat=original@openai/m {replay}")).code(0);
            place.run(&format!("{command} spec:figure.spec@openai/m {replay}")).code(2);
        }
        let help = place.run("run spec:figure.spec@sim/perfect x").err;
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(help.contains("--compat original"), name != "cot", "{name}: {help}");
    }
}

#[test]
fn shipped_agents_take_it_too() {
    let place = Place::new();
    for kind in ["cot", "react", "rewoo", "pass", "reflexion"] {
        let command = match kind {
            "cot" => "bench gsm8k cot@sim/gold --limit 3".to_owned(),
            kind => format!("test {kind}@sim/perfect --cases 3"),
        };
        let report = place.run(&format!("{command} --compat original --json -q")).code(0).json();
        assert!(
            report["agent"].as_str().unwrap().starts_with(&format!("{kind}:compat=original@")),
            "{report}"
        );
        let resumed =
            place.run(&format!("{} --resume last --json -q", &command[..command.find(kind).unwrap()]));
        assert_eq!(resumed.code(0).json()["agent"], report["agent"]);
    }
    place.run("test fallback:cot,react@sim/perfect --compat original --cases 1 -q");
    let shown = place.run("runs show last").out;
    assert!(shown.contains("fallback:cot,react:compat=original@sim/perfect"), "{shown}");
}

/// A model that answers in the middle of its thoughts: our correction takes that, and the published one insists.
#[test]
fn the_corrections_differ() {
    let place = Place::new();
    let mut asked = Vec::new();
    for option in ["", "--compat original"] {
        let server = scripted(&["[Thought] t\n[Answer] 391"]);
        let line = format!(
            "run react@openai/m multiply --tools calculator {option} --iterations 5 --trace t.jsonl -q"
        );
        let _ = run_with(&place, &server, &line);
        let trace = std::fs::read_to_string(place.path("t.jsonl")).unwrap();
        let corrections = trace.lines().filter(|line| line.contains("\"correct")).count();
        asked.push((server.requests(), corrections));
    }
    assert_ne!(asked[0], asked[1]);
}

#[test]
fn what_it_is_not_for_is_refused() {
    let place = Place::new();
    for (line, said) in [
        (
            "test tools@sim/perfect --compat original",
            "--compat is for agents that are made from a specification",
        ),
        ("test react:correction=ours@sim/perfect --compat original", "leave out correction=ours"),
        (
            "test react:compat=new@sim/perfect",
            "\"new\" is no value of the option compat: write ours or original",
        ),
        (
            "test react:compat=original@sim/perfect --compat original",
            "--compat stands in the agent's name already",
        ),
        ("test --resume last --compat original", "--compat has no effect on `planproof test` with --resume"),
        ("bench gsm8k --resume last --compat original", "--compat"),
        (
            "bench mnms plan@sim/gold --compat original --set agent.format=code --set agent.strategy=step-by-step",
            "writes no programs step by step",
        ),
    ] {
        let run = place.run(line).code(2);
        assert!(run.err.contains(said), "{line}: {run:?}");
    }
    // There it is about the dissection, and the agent is the usual one.
    let report =
        place.run("test react@sim/perfect --cases 2 --dissect --compat original --json -q").code(0).json();
    assert_eq!(report["agent"], "react@sim/perfect");
}

#[test]
fn the_planning_agent_of_mnms_takes_it() {
    let place = Place::new();
    for options in ["", ":format=code", ":strategy=step-by-step"] {
        let line = format!("bench mnms plan{options}@sim/gold --compat original --limit 4 --json -q");
        let report = place.run(&line).code(0).json();
        assert_eq!(report["passed"], 4, "{options}: {report}");
        assert!(report["agent"].as_str().unwrap().contains("compat=original"), "{report}");
    }
    let run = place.run("bench mnms plan:format=code,strategy=step-by-step,compat=original@sim/gold").code(2);
    assert!(run.err.contains("writes no programs step by step"), "{run:?}");
    // An empty plan is one there, and none here, which asks again.
    let turns = |compat: &str| {
        let server = StandIn::start(|_, body| written(r#"{"nodes": []}"#, body));
        let line = format!("bench mnms plan:feedback=PV{compat}@openai/m --limit 1 --no-check -q");
        let _ = run_with(&place, &server, &line);
        server.requests()
    };
    assert_eq!(turns(",compat=original"), 1);
    assert!(turns("") > 1);
}
