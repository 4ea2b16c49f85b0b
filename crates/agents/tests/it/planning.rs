//! The planning agent: its requests, its feedback to the model, and the calls that it executes.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};

use planproof_agents::planning::{Feedback, PlanFormat, PlanOptions, Strategy};
use planproof_agents::{PlanningAgent, RunLimits};
use planproof_model::{
    BoxFuture, Capabilities, ChatReply, ChatRequest, Message, Model, ModelError, TurnState,
};
use planproof_spec::Compat;
use planproof_tools::Toolbox;
use planproof_trace::{
    Arguments, Catalogue, Demonstration, EndReason, Event, EventKind, FinishReason, Port, Signature, Tool,
    ToolCall, ToolResult, Usage,
};
use serde_json::{Value, json};

use crate::{QUERY, events_of_run};

/// Replies as scripted, and records its last request.
struct Scripted {
    script: Mutex<VecDeque<String>>,
    asked: Mutex<Vec<Message>>,
}

impl Model for Scripted {
    fn name(&self) -> &str {
        "sim/scripted"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        self.asked.lock().unwrap().clone_from(&request.messages);
        let text = self.script.lock().unwrap().pop_front().expect("the script is not at its end");
        let reply = ChatReply {
            text,
            calls: Vec::new(),
            finish: FinishReason::Stop,
            usage: Usage::new(3, 2),
            id: None,
            state: TurnState::default(),
        };
        Box::pin(std::future::ready(Ok(reply)))
    }
}

/// Draws pictures from words, and names what pictures show. It draws no dragons.
struct Studio {
    tools: Arc<[Tool]>,
    catalogue: Arc<Catalogue>,
}

impl Studio {
    fn new() -> Self {
        let port = |name: &str| vec![Port { name: name.to_owned(), kind: name.to_owned() }];
        let signature = |name: &str, takes: &str, gives: &str, next: usize| Signature {
            name: name.to_owned(),
            description: format!("Gives a {gives}."),
            arguments: port(takes),
            outputs: port(gives),
            successors: vec![next],
        };
        let catalogue = Catalogue::new(vec![
            signature("draw it", "text", "image", 1),
            signature("name it", "image", "text", 0),
        ]);
        let demonstration = Demonstration {
            request: "Draw a bee.".to_owned(),
            nodes: json!([{"id": 0, "name": "draw it", "args": {"text": "a bee"}}]),
            outputs: vec![json!({"image": "bee.png"})],
        };
        let tools = ["draw_it", "name_it"].map(|name| Tool::without_arguments(name, "")).to_vec();
        Self { tools: tools.into(), catalogue: Arc::new(catalogue.with_demonstrations(vec![demonstration])) }
    }
}

impl Toolbox for Studio {
    fn tools(&self) -> &Arc<[Tool]> {
        &self.tools
    }

    fn catalogue(&self) -> Option<&Arc<Catalogue>> {
        Some(&self.catalogue)
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        let given = |name: &str| match &call.arguments {
            Arguments::Object(object) => object.get(name).and_then(|it| it.as_str()).map(str::to_owned),
            Arguments::Malformed(_) => None,
        };
        let result = match (&*call.name, given("text"), given("image")) {
            ("draw_it", Some(text), None) if text.contains("dragon") => Err("dragons cannot be drawn"),
            ("draw_it", Some(text), None) => Ok(json!({"image": format!("{text}.png")})),
            ("name_it", None, Some(image)) => Ok(json!({"text": image.replace(".png", "")})),
            _ => Err("there is no such tool, or it takes something else"),
        };
        let result = match result {
            Ok(output) => ToolResult::ok(call.id.clone(), output.to_string()),
            Err(what) => ToolResult::error(call.id.clone(), what),
        };
        Box::pin(std::future::ready(result))
    }
}

/// The events of a run, one per line, with the messages of the last request.
struct Seen {
    lines: Vec<String>,
    asked: Vec<Message>,
    answer: String,
}

fn run(options: &str, script: &[&str]) -> Seen {
    let mut parsed = PlanOptions { replies_max: NonZeroU32::new(3).unwrap(), ..PlanOptions::default() };
    for word in options.split(' ') {
        let find = |all: &[&str]| all.contains(&word);
        if find(&["json", "code"]) {
            parsed.format = PlanFormat::ALL.into_iter().find(|it| it.as_str() == word).unwrap();
        } else if word == "original" {
            parsed.compat = Compat::Original;
        } else if find(&["multi-step", "step-by-step"]) {
            parsed.strategy = Strategy::ALL.into_iter().find(|it| it.as_str() == word).unwrap();
        } else {
            parsed.feedback = Feedback::ALL.into_iter().find(|it| it.as_str() == word).expect(word);
        }
    }
    let model = Arc::new(Scripted {
        script: Mutex::new(script.iter().map(|text| (*text).to_owned()).collect()),
        asked: Mutex::default(),
    });
    let agent = PlanningAgent::new(model.clone(), parsed);
    let toolbox: Arc<dyn Toolbox> = Arc::new(Studio::new());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let events = runtime.block_on(events_of_run(&agent, toolbox, &RunLimits::default(), 1));
    assert!(model.script.lock().unwrap().is_empty(), "the model was not asked for all replies");
    let Some(Event { kind: EventKind::End(EndReason::Answered { text: answer }), .. }) = events.last() else {
        panic!("{events:?}")
    };
    let answer = answer.clone();
    let asked = model.asked.lock().unwrap().clone();
    Seen { lines: events.iter().filter_map(line).collect(), asked, answer }
}

fn line(event: &Event) -> Option<String> {
    Some(match &event.kind {
        EventKind::Section { state, note, .. } if note.is_empty() => state.clone(),
        EventKind::Section { state, note, text, .. } if note == "faulty" => format!("{state} faulty: {text}"),
        EventKind::Section { state, note, .. } => format!("{state} {note}"),
        EventKind::Call(call) => format!("{} {} {}", call.id, call.name, call.arguments.to_text()),
        _ => return None,
    })
}

const RIGHT: &str = r#"{"nodes": [{"id": 0, "name": "draw it", "args": {"text": "a cat"}},
                       {"id": 1, "name": "name it", "args": {"image": "<node-0>.image"}}]}"#;

const CALLS: [&str; 2] = [r#"1.0 draw_it {"text":"a cat"}"#, r#"1.1 name_it {"image":"a cat.png"}"#];

#[test]
fn a_right_plan_is_carried_out_once_whatever_is_fed_back() {
    for (feedback, verified) in [("none", false), ("P", false), ("PV", true), ("PE", false), ("PVE", true)] {
        let seen = run(feedback, &[RIGHT]);
        let mut wanted = vec!["plan"];
        wanted.extend(verified.then_some("verification fine"));
        wanted.extend(CALLS);
        wanted.push("execution fine");
        assert_eq!(seen.lines, wanted, "{feedback}");
        assert_eq!(seen.asked.len(), 1);
        assert!(seen.answer.starts_with(r#"{"nodes""#), "{}", seen.answer);
    }
}

#[test]
fn a_program_is_a_plan() {
    let program = "```python\ndef solve():\n    picture = draw_it(text=\"a cat\")\n    \
                   name = name_it(image=picture['image'])\n    return {0: picture, 1: name}\n```";
    let seen = run("code PVE", &[program]);
    assert_eq!(seen.lines[2..4], CALLS);
    assert_eq!(seen.lines[4], "execution fine");
    assert!(seen.answer.starts_with("def solve():"), "{}", seen.answer);
}

#[test]
fn what_cannot_be_read_is_fed_back() {
    let seen = run("P", &["I would draw it.", RIGHT]);
    assert!(seen.lines[0].starts_with("parsing faulty"), "{:?}", seen.lines);
    assert_eq!(seen.lines[1], "plan");
    let Message::User { text } = &seen.asked[2] else { panic!("{:?}", seen.asked) };
    assert!(text.starts_with("This cannot be read"), "{text}");
    // A server would reject an empty turn in the conversation.
    let seen = run("P", &["", RIGHT]);
    let Message::Assistant { text, .. } = &seen.asked[1] else { panic!("{:?}", seen.asked) };
    assert_eq!(text, "(no text)");
    // Without feedback there is only one request.
    let seen = run("none", &["I would draw it."]);
    assert_eq!((seen.lines.len(), &*seen.answer), (1, r#"{"nodes": []}"#));
}

#[test]
fn what_does_not_fit_the_tools_is_fed_back() {
    let unknown = RIGHT.replace("draw it", "drew it");
    let seen = run("PV", &[&unknown, RIGHT]);
    assert!(
        seen.lines[1].starts_with("verification faulty") && seen.lines[1].contains("drew it"),
        "{:?}",
        seen.lines
    );
    assert_eq!(seen.lines[3..5], ["verification fine", CALLS[0]]);
    // With feedback only from parsing, nothing checks the tools: the plan is the answer, and fails when it is
    // executed.
    let seen = run("P", &[&unknown]);
    assert!(seen.lines.last().unwrap().starts_with("execution faulty"), "{:?}", seen.lines);
}

#[test]
fn what_goes_wrong_is_fed_back_and_the_last_plan_is_kept() {
    let dragon = RIGHT.replace("a cat", "a dragon");
    let seen = run("PE", &[&dragon, RIGHT]);
    assert_eq!(seen.lines[1], r#"1.0 draw_it {"text":"a dragon"}"#);
    assert!(seen.lines[2].contains("dragons cannot be drawn"));
    assert_eq!(seen.lines[4..6], CALLS.map(|call| call.replacen('1', "2", 1)));
    // At the limit of replies, the last plan that could be parsed is the answer.
    let seen = run("PE", &[&dragon, &dragon, "?", &dragon]);
    assert!(seen.answer.contains("dragon"));
    assert!(seen.lines.last().unwrap().starts_with("execution faulty"));
}

/// The tool repeats its text, so each step more than doubles it.
#[test]
fn references_stand_for_a_limited_number_of_bytes() {
    let text = |step: u32| match step.checked_sub(1) {
        Some(before) => format!("<node-{before}>.image<node-{before}>.image"),
        None => "a cat".to_owned(),
    };
    let node = |step: u32| json!({"id": step, "name": "draw it", "args": {"text": text(step)}});
    let nodes: Vec<Value> = (0..26).map(node).collect();
    let seen = run("none", &[&json!({ "nodes": nodes }).to_string()]);
    let last = seen.lines.last().unwrap();
    assert!(last.starts_with("execution faulty: step 2"), "{}", last.len());
    assert!(last.contains("more than 16777216 bytes of earlier results"), "{last}");
}

/// The kinds of replies of which the published parser and verifier think otherwise than ours.
#[test]
fn the_published_parser_and_verifier_think_otherwise() {
    let list = RIGHT.strip_prefix(r#"{"nodes": "#).and_then(|rest| rest.strip_suffix('}')).unwrap();
    let later = RIGHT.replace("<node-0>.image", "x.png").replace("\"a cat\"", "\"<node-1>.text\"");
    let odd = RIGHT.replace(r#""id": 0"#, r#""id": "a""#).replace("<node-0>.image", "x.png");
    // A bare list, and an object that is written twice: unreadable there, and a plan here.
    for reply in [list, &format!("{RIGHT}\n{RIGHT}")] {
        let theirs = run("original PV", &[reply, "TERMINATE"]);
        assert!(theirs.lines[0].starts_with("parsing faulty"), "{reply}: {:?}", theirs.lines);
        let Message::User { text } = &theirs.asked[2] else { panic!("{:?}", theirs.asked) };
        assert!(text.contains("as strict JSON. Change nothing of what the nodes say"), "{text}");
        let ours = run("PV", &[reply]);
        assert_eq!(ours.lines[..2], ["plan", "verification fine"], "{reply}");
    }
    // An empty plan, and a reference to a later step, pass the published verifier.
    let empty = r#"{"nodes": []}"#;
    let theirs = run("original PV", &[empty]);
    assert_eq!(
        (&theirs.lines[..], &*theirs.answer),
        (&["plan", "verification fine"].map(String::from)[..], r#"{"nodes":[]}"#)
    );
    let ours = run("PV", &[empty, "TERMINATE"]);
    assert!(ours.lines.iter().any(|line| line.contains("faulty")), "{:?}", ours.lines);
    let theirs = run("original PV", &[&later]);
    assert!(!theirs.lines.iter().any(|line| line.starts_with("verification faulty")), "{:?}", theirs.lines);
    let ours = run("PV", &[&later, "TERMINATE"]);
    assert!(ours.lines.iter().any(|line| line.starts_with("verification faulty")), "{:?}", ours.lines);
    // Ids that are not numbers can be read there, and make a plan that cannot be executed.
    let theirs = run("original PVE", &[&odd, RIGHT]);
    assert_eq!(theirs.lines[..2], ["plan", "verification fine"], "{:?}", theirs.lines);
    assert!(
        theirs.lines[2].starts_with("execution faulty: The plan cannot be carried out"),
        "{:?}",
        theirs.lines
    );
    let ours = run("PVE", &[&odd, RIGHT]);
    assert!(ours.lines[0].starts_with("parsing faulty"), "{:?}", ours.lines);
}

#[test]
fn published_feedback_names_its_codes() {
    let unknown = RIGHT.replace("name it", "named it");
    let seen = run("original PV", &[&unknown, RIGHT]);
    let Message::User { text } = &seen.asked[2] else { panic!("{:?}", seen.asked) };
    assert!(text.contains("Try again: mend tools in the plan behind # RESULT #"), "{text}");
    let Message::User { text } = &seen.asked[0] else { panic!("{:?}", seen.asked) };
    assert!(text.contains("draw it: Gives a image. Inputs: text. Outputs: image."), "{text}");
    // A step alone is checked by its tool and the names of its arguments, and any JSON counts as one.
    let seen = run("original step-by-step PVE", &[FIRST, SECOND, "TERMINATE"]);
    assert!(seen.lines.contains(&CALLS[1].replace("1.1", "0.1")), "{:?}", seen.lines);
    assert!(seen.answer.contains(r#""name":"name it""#), "{}", seen.answer);
    let Message::User { text } = &seen.asked[2] else { panic!("{:?}", seen.asked) };
    assert!(text.starts_with("OBSERVATION: The step gave"), "{text}");
    // A program has to be fenced there.
    let program = "def solve():\n    picture = draw_it(text=\"a cat\")\n    return {0: picture}";
    let seen = run("original code P", &[program, &format!("```python\n{program}\n```")]);
    assert!(seen.lines[0].starts_with("parsing faulty"), "{:?}", seen.lines);
    assert!(seen.answer.contains("draw_it"), "{}", seen.answer);
}

#[test]
fn a_prompt_of_the_users_takes_the_place_of_ours() {
    let shipped = PlanningAgent::template(PlanOptions::default());
    for name in ["{{tools}}", "{{examples}}", "{{request}}"] {
        assert!(shipped.contains(name), "{shipped}");
    }
    let asked = |template: Option<&str>| {
        let model = Arc::new(Scripted {
            script: Mutex::new(VecDeque::from([RIGHT.to_owned()])),
            asked: Mutex::default(),
        });
        let mut agent = PlanningAgent::new(model.clone(), PlanOptions::default());
        if let Some(template) = template {
            agent = agent.with_prompt(template).unwrap();
        }
        let toolbox: Arc<dyn Toolbox> = Arc::new(Studio::new());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(events_of_run(&agent, toolbox, &RunLimits::default(), 1));
        let Message::User { text } = model.asked.lock().unwrap()[0].clone() else { panic!("no question") };
        text
    };
    // The printed template makes the same prompt, byte by byte.
    assert_eq!(asked(Some(&shipped)), asked(None));
    let own = asked(Some("Tools:\n{{tools}}Do {{request}} with them."));
    assert!(own.starts_with("Tools:\ndraw it: ") && own.ends_with("with them."), "{own}");
    let model = Arc::new(Scripted { script: Mutex::default(), asked: Mutex::default() });
    let refused = PlanningAgent::new(model, PlanOptions::default()).with_prompt("{{tools}} {{task}}");
    assert_eq!(
        refused.unwrap_err().to_string(),
        "the prompt lacks {{request}}, where the request goes: it must have {{tools}}, {{request}}, and may have {{examples}}"
    );
}

#[test]
fn a_model_may_give_up() {
    let seen = run("PVE", &["I cannot: TERMINATE"]);
    assert_eq!((seen.lines.len(), &*seen.answer), (1, r#"{"nodes": []}"#));
}

const FIRST: &str =
    r#"THOUGHT 0: a picture. ACTION 0: {"id": 0, "name": "draw it", "args": {"text": "a cat"}}"#;

const SECOND: &str =
    r#"THOUGHT 1: its name. ACTION 1: {"id": 1, "name": "name it", "args": {"image": "<node-0>.image"}}"#;

#[test]
fn steps_are_taken_one_by_one() {
    let seen = run("step-by-step PVE", &[FIRST, SECOND, "TERMINATE"]);
    let wanted = [
        "verification fine",
        r#"0.0 draw_it {"text":"a cat"}"#,
        "plan",
        "execution fine",
        "verification fine",
        r#"0.1 name_it {"image":"a cat.png"}"#,
        "plan",
        "execution fine",
    ];
    assert_eq!(seen.lines, wanted);
    let Message::User { text } = &seen.asked[2] else { panic!("{:?}", seen.asked) };
    assert!(text.starts_with(r#"OBSERVATION 0: {"image":"a cat.png"}"#), "{text}");
}

#[test]
fn steps_that_were_not_tried_are_carried_out_at_the_end() {
    let seen = run("step-by-step P", &[FIRST, SECOND, "TERMINATE"]);
    assert_eq!(seen.lines[..2], ["plan", "plan"]);
    assert_eq!(seen.lines[seen.lines.len() - 3..seen.lines.len() - 1], CALLS);
    assert_eq!(seen.lines.last().unwrap(), "execution fine");
}

#[test]
fn a_step_that_fails_is_no_part_of_the_plan() {
    let dragon = FIRST.replace("a cat", "a dragon");
    let seen = run("step-by-step PE", &[&dragon, FIRST, SECOND, "TERMINATE"]);
    assert!(!seen.answer.contains("dragon"), "{}", seen.answer);
    assert!(seen.lines.contains(&r#"1.0 draw_it {"text":"a cat"}"#.to_owned()), "{:?}", seen.lines);
}

#[test]
fn steps_of_a_program_use_what_came_before() {
    let first = "THOUGHT 0: a picture.\nACTION 0: ```python\noutput0 = draw_it(text=\"a cat\")\n```";
    let second = "THOUGHT 1: its name.\nACTION 1: ```python\noutput1 = name_it(image=output0['image'])\n```";
    let seen = run("step-by-step code PVE", &[first, second, "TERMINATE"]);
    assert!(seen.lines.contains(&r#"0.1 name_it {"image":"a cat.png"}"#.to_owned()), "{:?}", seen.lines);
    assert!(seen.answer.contains("output1 = name_it(image=output0['image'])"), "{}", seen.answer);
    let two = "```python\noutput0 = draw_it(text=\"a cat\")\noutput1 = draw_it(text=\"a cat\")\n```";
    let seen = run("step-by-step code P", &[two, "TERMINATE"]);
    assert!(seen.lines[0].contains("one new call"), "{:?}", seen.lines);
}

#[test]
fn the_first_prompt_says_all() {
    let prompt = |options: &str, reply: &str| {
        let seen = run(options, &[reply]);
        let Message::User { text } = &seen.asked[0] else { panic!("{:?}", seen.asked) };
        text.clone()
    };
    let text = prompt("json none", RIGHT);
    for part in [
        "# TOOL LIST #:\ndraw it: Gives a image. Takes text (text). Gives image (image).\n",
        "<node-ID>.KEY",
        "# EXAMPLE #: 1\n# USER REQUEST #:\nDraw a bee.\n# RESULT #:\n{\"nodes\": [{",
        &format!("# USER REQUEST #:\n{QUERY}\n"),
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let text = prompt("code none", "TERMINATE");
    assert!(
        text.contains("draw_it(text) -> {image}: Gives a image.\n")
            && text.contains("```python\ndef solve():")
    );
    let text = prompt("step-by-step code none", "TERMINATE");
    assert!(text.contains("ACTION 0: ```python\noutput0 = draw_it(text=\"a bee\")\n```"), "{text}");
}
