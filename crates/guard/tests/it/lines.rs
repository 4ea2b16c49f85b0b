//! Questions of programs that make their calls themselves.

use planproof_guard::{
    AskedCall, CANARY_TOOL, GuardMode, GuardedSession, LineAnswer, LineGuard, LoggedLine, OPEN_SESSIONS_MAX,
    mode_of_canary, replay,
};
use planproof_trace::{Draw, Secrets};
use serde_json::{Value, json};

use crate::support::rules;

const RULES: &str = "- {id: look-first, requires: {call: refund, done: look, result: {/paid: true}}, per: /id}\n\
                     - {id: once, at-most: {call: refund, times: 1}, per: /id}\n\
                     - {id: thrice, at-most: {done: pay, times: 3}}\n\
                     - {id: tell, followed-by: {done: refund, call: mail}}\n";

/// A program and its guard.
struct Program {
    guard: LineGuard,
    log: Vec<String>,
}

impl Program {
    fn new(mode: GuardMode) -> Self {
        Self::by(RULES, mode)
    }

    fn by(text: &str, mode: GuardMode) -> Self {
        let guard = LineGuard::new(Ok(rules(text)), mode, "sha256:00", "own", Secrets::none());
        Self { guard, log: Vec::new() }
    }

    fn ask(&mut self, question: &Value) -> Value {
        self.say(question.to_string().as_bytes())
    }

    fn say(&mut self, line: &[u8]) -> Value {
        let answer = self.guard.take(line, &|| 7);
        self.log.extend(answer.log.clone());
        read(&answer)
    }

    fn before(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask(&json!({"id": 1, "do": "before", "tool": tool, "arguments": arguments}))
    }

    fn after(&mut self, number: u64, result: &Value) -> Value {
        self.ask(&json!({"do": "after", "number": number, "result": result}))
    }
}

fn read(answer: &LineAnswer) -> Value {
    serde_json::from_str(&answer.answer).unwrap()
}

#[test]
fn the_protocol_in_one_session() {
    let mut program = Program::new(GuardMode::Enforce);
    let mut said = vec![serde_json::from_str::<Value>(&program.guard.greeting()).unwrap()];
    said.push(program.before("refund", &json!({"id": 17})));
    said.push(program.before("look", &json!({"id": 17})));
    said.push(program.after(2, &json!("{\"paid\": true}")));
    said.push(program.before("refund", &json!({"id": 17})));
    said.push(program.ask(&json!({"id": "x", "do": "after", "number": 3, "error": "The bank is closed."})));
    said.push(program.ask(&json!({"id": 4, "do": "end"})));
    assert_eq!(
        said[0],
        json!({"schema": "planproof/decide/v1", "mode": "enforce", "digest": "sha256:00", "session": "own", "rules": 4})
    );
    assert_eq!(
        (&said[1]["id"], &said[1]["verdict"], &said[1]["number"]),
        (&json!(1), &json!("reject"), &json!(1))
    );
    assert_eq!(said[1]["rules"][0]["missing"], "a result of look with /paid true");
    assert_eq!(said[1]["right"], json!([{"tool": "look", "arguments": {"id": 17}}]));
    assert_eq!((&said[2]["verdict"], &said[2]["reason"]), (&json!("approve"), &Value::Null));
    assert_eq!(said[3], json!({"id": null, "counted": true}));
    assert_eq!(said[4]["verdict"], "approve");
    assert_eq!(said[5], json!({"id": "x", "counted": true}));
    assert_eq!(said[6], json!({"id": 4, "unsatisfied": [], "pending": []}));
    // The decision that was answered is the line of the log.
    let lines: Vec<Value> = program.log.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = lines.iter().filter_map(|line| line["kind"].as_str()).collect();
    assert_eq!(kinds, ["decision", "decision", "result", "decision", "result", "end"]);
    assert_eq!((&lines[0], &lines[3]), (&said[1]["decision"], &said[4]["decision"]));
    assert_eq!((&lines[0]["seam"], &lines[0]["microseconds"]), (&json!("decide"), &json!(7)));
    assert_eq!(lines[4]["is_error"], true);
}

#[test]
fn what_cannot_be_understood_is_never_approved() {
    for (line, words) in [
        (&b"hello"[..], "not valid JSON"),
        (b"[]", "not an object"),
        (b"{\"do\":\"before\",\"tool\":\"x\",\"tool\":\"y\"}", "stands twice"),
        (b"{\"tool\":\"x\"}", "`do` is missing"),
        (b"{\"do\":\"Before\",\"tool\":\"x\"}", "`do` is `Before`"),
        (b"{\"do\":\"before\"}", "`tool` is missing"),
        (b"{\"do\":\"before\",\"tool\":3}", "`tool` is not a text"),
        (b"{\"do\":\"before\",\"tool\":\"x\",\"args\":{}}", "`before` has no `args`"),
        (b"{\"do\":\"before\",\"tool\":\"x\",\"arguments\":[]}", "`arguments` is not an object"),
        (b"{\"do\":\"before\",\"tool\":\"x\",\"session\":\"other\"}", "begin it"),
        (b"{\"do\":\"begin\"}", "`session`, its name, is missing"),
        (b"{\"do\":\"begin\",\"session\":\"own\"}", "open already"),
        (b"{\"do\":\"after\",\"result\":1}", "`number`"),
        (b"{\"do\":\"after\",\"number\":-1,\"result\":1}", "`number`"),
        (b"{\"do\":\"after\",\"number\":1}", "either a `result` or an `error`"),
        (b"{\"do\":\"after\",\"number\":1,\"result\":1,\"error\":\"\"}", "either a `result` or an `error`"),
        (b"{\"do\":\"end\",\"session\":\"\"}", "not open"),
    ] {
        let mut program = Program::new(GuardMode::Enforce);
        let answer = program.say(line);
        assert!(answer["fault"].as_str().is_some_and(|fault| fault.contains(words)), "{answer}: {words}");
        assert_eq!((&answer["verdict"], program.log.len()), (&json!("reject"), 0));
        // One that only watches approves, and says the same.
        assert_eq!(Program::new(GuardMode::Shadow).say(line)["verdict"], "approve");
    }
    let answer = Program::new(GuardMode::Enforce).say(b"{\"id\":5,\"do\":\"before\",\"tool\":\"\\ud83d\"}");
    assert_eq!((&answer["id"], &answer["verdict"]), (&json!(5), &json!("reject")));
    // These are calls, with a number and a line in the log, that never happened.
    let mut program = Program::new(GuardMode::Enforce);
    for call in
        [("Refund", json!({})), ("re\u{ad}fund", json!({})), ("x", json!({"n": 9_007_199_254_740_993_u64}))]
    {
        let answer = program.before(call.0, &call.1);
        assert_eq!(
            (&answer["verdict"], &answer["decision"]["action"]),
            (&json!("reject"), &json!("blocked"))
        );
    }
    assert_eq!(program.before("look", &json!({"id": 1}))["number"], 4);
    assert_eq!(program.log.len(), 4);
}

#[test]
fn without_rules_the_mode_decides() {
    let guard = |mode| LineGuard::new(Err("no rules".to_owned()), mode, "", "own", Secrets::none());
    let question = json!({"do": "before", "tool": "x"}).to_string();
    for (mode, verdict, reason) in [
        (GuardMode::Enforce, "reject", "The call is denied: no rules."),
        (GuardMode::Shadow, "approve", "The call would be denied: no rules."),
    ] {
        let mut guard = guard(mode);
        assert!(guard.greeting().contains("\"fault\":\"no rules\""));
        let answer = read(&guard.take(question.as_bytes(), &|| 0));
        assert_eq!((&answer["verdict"], &answer["reason"]), (&json!(verdict), &json!(reason)));
    }
}

/// Whoever makes this call learns that the guard is there, and whether it enforces; no rule has seen the call.
#[test]
fn the_canary_is_rejected_in_either_mode() {
    for mode in [GuardMode::Enforce, GuardMode::Shadow] {
        let mut program = Program::new(mode);
        let answer = program.before(CANARY_TOOL, &json!({}));
        assert_eq!(answer["verdict"], "reject");
        assert_eq!(mode_of_canary(answer["reason"].as_str().unwrap()), Some(mode));
        assert_eq!((&answer["rules"], &answer["right"]), (&json!([]), &json!([])));
        assert_eq!(program.ask(&json!({"do": "end"}))["pending"], json!([]));
    }
}

/// What Python and JavaScript write for a text that was cut within a character.
#[test]
fn half_a_character_does_not_cost_a_result_and_is_refused_in_a_call() {
    let mut program = Program::by("- {id: need, requires: {call: pay, done: look}}\n", GuardMode::Enforce);
    assert_eq!(program.before("look", &json!({}))["verdict"], "approve");
    let answer = program.say(br#"{"id":2,"do":"after","number":1,"result":{"ok":"\ud83d"}}"#);
    assert_eq!(answer, json!({"id": 2, "counted": true}));
    assert!(program.log.last().unwrap().contains("\"outcome\":{\"ok\":\"\u{fffd}\"}"));
    assert_eq!(program.before("pay", &json!({}))["verdict"], "approve");
    for question in [
        &br#"{"id":3,"do":"before","tool":"look","arguments":{"a":"\ud83d"}}"#[..],
        br#"{"id":3,"do":"begin","session":"\ud83d"}"#,
        br#"["\ud83d"]"#,
    ] {
        let answer = program.say(question);
        assert!(answer["fault"].as_str().unwrap().contains("not valid JSON"), "{answer}");
        assert_eq!(answer["verdict"], "reject");
    }
}

#[test]
fn what_is_not_logged_is_not_approved() {
    let mut program = Program::new(GuardMode::Enforce);
    let question = json!({"id": 1, "do": "before", "tool": "pay"}).to_string();
    for _ in 0..9 {
        let answer = program.guard.take(question.as_bytes(), &|| 0);
        let answer = read(&program.guard.unlogged(answer, "the disk is full"));
        assert_eq!((&answer["id"], &answer["verdict"]), (&json!(1), &json!("reject")));
        assert_eq!(answer["reason"], "The call is denied: the disk is full.");
    }
    // Their results will not come, so they keep no other from being made.
    assert_eq!(program.before("pay", &json!({}))["verdict"], "approve");
    // They never happened.
    let mut program = Program::by("- {id: needs-a, requires: [{call: b}, {call: a}]}\n", GuardMode::Enforce);
    let question_a = json!({"do": "before", "tool": "a"}).to_string();
    let answer = program.guard.take(question_a.as_bytes(), &|| 0);
    program.guard.unlogged(answer, "the disk is full");
    assert_eq!(program.before("b", &json!({}))["verdict"], "reject");
    let mut shadow = Program::new(GuardMode::Shadow);
    let answer = shadow.guard.take(question.as_bytes(), &|| 0);
    assert_eq!(read(&shadow.guard.unlogged(answer, "the disk is full"))["verdict"], "approve");
}

#[test]
fn there_are_so_many_sessions() {
    let mut program = Program::new(GuardMode::Enforce);
    for number in 1..OPEN_SESSIONS_MAX {
        let begun = program.ask(&json!({"do": "begin", "session": number.to_string()}));
        assert_eq!(begun["begun"], number.to_string());
    }
    let more = json!({"do": "begin", "session": "more"});
    assert!(program.ask(&more)["fault"].as_str().unwrap().contains("end some"));
    program.ask(&json!({"do": "end", "session": "1"}));
    assert_eq!(program.ask(&more)["begun"], "more");
}

/// Random sessions at once, each with random results in any order: every decision is that of the session alone, and a
/// replay of the log.
#[test]
fn it_decides_as_the_others_do() {
    let (mut rejected, mut approved) = (0, 0);
    for seed in 0..300 {
        let mut draw = Draw::new(seed, 0, "lines");
        let mut program = Program::new(GuardMode::Enforce);
        let names = ["own", "a", "b"];
        for name in &names[1..] {
            program.ask(&json!({"do": "begin", "session": name}));
        }
        let rules = rules(RULES);
        let mut alone: Vec<GuardedSession> = names.iter().map(|_| GuardedSession::new(&rules)).collect();
        let mut open: Vec<(usize, u64)> = Vec::new();
        for _ in 0..40 {
            if !open.is_empty() && draw.chance(2, 5) {
                let (place, number) = open.swap_remove(draw.place(open.len()));
                let result = json!({"paid": draw.chance(7, 10)});
                let is_error = draw.chance(1, 5);
                let key = if is_error { "error" } else { "result" };
                let counted = program
                    .ask(&json!({"do": "after", "session": names[place], "number": number, key: result.to_string()}));
                assert_eq!(counted["counted"], true);
                alone[place].finished(number, is_error, &result);
                continue;
            }
            let place = draw.place(3);
            let tool = ["look", "refund", "pay", "mail"][draw.place(4)];
            let arguments = json!({"id": draw.below(2)});
            let answer = program
                .ask(&json!({"do": "before", "session": names[place], "tool": tool, "arguments": arguments}));
            let ruling = alone[place].decide(AskedCall { server: None, tool, arguments: &arguments });
            assert_eq!(answer["verdict"] == "approve", ruling.refusal.is_none(), "{answer}");
            assert_eq!(answer["number"], ruling.number);
            match ruling.refusal {
                None => open.push((place, ruling.number)),
                Some(refusal) => {
                    assert_eq!(answer["reason"], alone[place].explain(&refusal));
                    // What it says would be right is approved.
                    for right in answer["right"].as_array().unwrap() {
                        let tool = right["tool"].as_str().unwrap();
                        let asked = AskedCall { server: None, tool, arguments: &right["arguments"] };
                        assert_eq!(alone[place].clone().decide(asked).refusal, None, "{answer}");
                    }
                    rejected += 1;
                    continue;
                }
            }
            approved += 1;
        }
        let lines: Vec<LoggedLine> = program.log.iter().map(|line| LoggedLine::read(line).unwrap()).collect();
        assert!(replay(&rules, lines.into_iter()).all(|call| !call.is_changed()));
    }
    assert!(rejected > 1000 && approved > 1000, "{rejected} {approved}");
}
