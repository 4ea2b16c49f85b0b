//! What guards of one session remember of each other: each reads the lines that all have written.

use std::sync::Arc;

use planproof_guard::{
    CarriedCall, DecisionLog, GuardMode, HeldKeys, HookEvent, HookReply, HookSession, LineGuard, LoggedLine,
    McpGuard, happened, replay,
};
use planproof_spec::rules::{Phase, RuleSet};
use planproof_trace::Secrets;
use serde_json::{Value, json};

use crate::support::{call, is_passed, result, rules};

const TOKEN: &str = "ghp_Abcdef1234567890";
const OTHER: &str = "staging-west";
const PIN: &str = "48151623422";

const ONCE: &str = "- {id: once, at-most: {call: pay, times: 1}}\n";
const NEVER_AFTER: &str = "- {id: na, never-after: [{call: pay}, {call: Bash}]}\n";
const NO_BASH: &str = "- {id: nobash, never: {call: Bash}}\n";

fn keys() -> HeldKeys {
    let named = [("GITHUB_TOKEN", TOKEN), ("OTHER_TOKEN", OTHER), ("PIN", PIN)];
    let named = named.map(|(name, key)| (name.to_owned(), key.to_owned()));
    HeldKeys::new(Secrets::new(named.iter().map(|(_, key)| key.clone())), named)
}

/// A hook with these rules, of which nothing is kept but the lines of the session.
#[derive(Clone)]
struct Hook {
    rules: Arc<RuleSet>,
    log: DecisionLog,
}

/// The lines of a session.
type Lines = Vec<String>;

fn read(lines: &Lines) -> Vec<LoggedLine> {
    lines.iter().map(|line| LoggedLine::read(line).unwrap()).collect()
}

fn log(text: &str, seam: &str, mode: GuardMode) -> DecisionLog {
    DecisionLog::new("s", seam, mode, text, keys()).as_memory()
}

impl Hook {
    fn new(text: &str, mode: GuardMode) -> Self {
        Self { rules: rules(text), log: log(text, "claude-code", mode) }
    }

    fn at(self, place: &str) -> Self {
        Self { log: self.log.at(place), ..self }
    }

    fn take(&self, lines: &mut Lines, event: &HookEvent) -> bool {
        let mut session = HookSession::resume(&self.rules, read(lines).into_iter(), &self.log);
        if let Some(state) = session.state(&self.log) {
            assert!(!has_key(&state.to_string()), "{state}");
            session = HookSession::with_state(&self.rules, &state, &self.log).unwrap();
        }
        let answer = session.take(event, &self.log, 0);
        if let Some(line) = answer.line {
            assert!(!has_key(&line), "{line}");
            lines.push(line);
        }
        answer.reply == HookReply::Allow
    }

    fn before(&self, lines: &mut Lines, id: &str, tool: &str, arguments: &Value) -> bool {
        self.take(lines, &HookEvent::Before(carried(id, tool, arguments)))
    }

    fn after(&self, lines: &mut Lines, id: &str, tool: &str, arguments: &Value, outcome: &Value) {
        let (call, outcome) = (carried(id, tool, arguments), outcome.clone());
        self.take(lines, &HookEvent::After { call, is_error: false, outcome });
    }
}

fn has_key(text: &str) -> bool {
    [TOKEN, OTHER, PIN].iter().any(|key| text.contains(key))
}

/// A call with a name, or with none.
fn carried(id: &str, tool: &str, arguments: &Value) -> CarriedCall {
    let id = (!id.is_empty()).then(|| id.to_owned());
    CarriedCall { id, server: None, tool: tool.to_owned(), arguments: arguments.clone() }
}

/// A guard before a server, with the lines that the session has so far.
struct Proxy {
    guard: McpGuard,
    read: usize,
    id: u64,
}

impl Proxy {
    fn new(text: &str, mode: GuardMode) -> Self {
        Self::of(text, log(text, "mcp", mode))
    }

    fn of(text: &str, log: DecisionLog) -> Self {
        Self { guard: McpGuard::new(Ok(&rules(text)), log), read: 0, id: 0 }
    }

    fn before(&mut self, lines: &mut Lines, tool: &str, arguments: &Value) -> bool {
        let all = read(lines);
        self.guard.catch_up(&all[self.read..]);
        self.id += 1;
        let heard = self.guard.from_client(call(self.id, tool, arguments).as_bytes());
        lines.extend(self.guard.decision_line(&heard, 0));
        self.read = lines.len();
        is_passed(&heard)
    }

    fn server(&mut self, lines: &mut Lines, line: &str) {
        lines.extend(self.guard.from_server(line.as_bytes()));
        self.read = lines.len();
    }
}

#[test]
fn what_has_a_key_in_it_is_remembered_as_it_was() {
    let once = "- {id: once, at-most: {call: deploy, times: 1}, per: /o}\n";
    let look = "- {id: look, requires: {call: refund, done: look}, per: /o}\n";
    let takes = "- {id: takes, takes: {call: send, argument: /o, from: find, value: /m}}\n";
    for (value, others) in [
        (
            json!(TOKEN),
            vec![json!(OTHER), json!("[key]"), json!("[key GITHUB_TOKEN]"), json!(TOKEN.to_uppercase())],
        ),
        (json!(format!("curl -H 'Bearer {TOKEN}' x")), vec![json!(format!("curl -H 'Bearer {OTHER}' x"))]),
        (json!("[key GITHUB_TOKEN]"), vec![json!(TOKEN), json!("[key: GITHUB_TOKEN]"), json!("[key]")]),
        (json!(48_151_623_422_u64), vec![json!(148_151_623_422_u64), json!("[key#][key PIN]")]),
        (json!(PIN), vec![json!("48151623423"), json!("[key PIN]")]),
        (json!(TOKEN.to_uppercase()), vec![json!(TOKEN)]),
        // It lacks one character of a key.
        (json!(format!("{}x", &TOKEN[..TOKEN.len() - 1])), vec![json!(TOKEN), json!("[key]x")]),
    ] {
        let call = json!({"o": value});
        let mut lines = Lines::new();
        let hook = Hook::new(once, GuardMode::Enforce);
        assert!(hook.before(&mut lines, "1", "deploy", &call), "{value}");
        assert!(!hook.before(&mut lines, "2", "deploy", &call), "{value}");
        // A guard before a server that was started since.
        assert!(!Proxy::new(once, GuardMode::Enforce).before(
            &mut lines.clone(),
            "deploy",
            &json!({"o": value, "x": 1})
        ));
        for (rules, before, then) in [(look, "look", "refund"), (takes, "find", "send")] {
            let (mut lines, hook) = (Lines::new(), Hook::new(rules, GuardMode::Enforce));
            hook.before(&mut lines, "1", before, &call);
            hook.after(&mut lines, "1", before, &call, &json!({"m": value}));
            for other in &others {
                assert!(
                    !hook.before(&mut lines, "2", then, &json!({"o": other})),
                    "{then} {other} of {value}"
                );
            }
            assert!(hook.before(&mut lines, "3", then, &call), "{then} {value}");
        }
        // Without a name for the call, its result is found all the same; and a server's guard knows the call.
        let (mut lines, hook) = (Lines::new(), Hook::new(ONCE, GuardMode::Enforce));
        assert!(hook.before(&mut lines, "", "pay", &call));
        assert!(Proxy::new(ONCE, GuardMode::Enforce).before(&mut lines, "pay", &call), "{value}");
        hook.after(&mut lines, "", "pay", &call, &json!("ok"));
        assert!(lines.last().unwrap().contains("\"result\""), "{value}");
    }
}

#[test]
fn a_key_in_a_form_that_cannot_be_compared_is_refused_where_lines_are_the_memory() {
    for text in
        [&format!("gHp_{}", &TOKEN[4..]), "Z2hwX0FiY2RlZjEyMzQ1Njc4OTA=", "ghp\\u005fAbcdef1234567890"]
    {
        let arguments = json!({"o": [text]});
        for (mode, passes) in [(GuardMode::Enforce, false), (GuardMode::Shadow, true)] {
            let mut lines = Lines::new();
            assert_eq!(Hook::new(ONCE, mode).before(&mut lines, "1", "pay", &arguments), passes, "{text}");
            assert!(lines[0].contains("a key of the environment in a form"), "{}", lines[0]);
            assert_eq!(Proxy::new(ONCE, mode).before(&mut lines, "look", &arguments), passes, "{text}");
        }
        // A guard of its own remembers what it has seen.
        let own = DecisionLog::new("s", "mcp", GuardMode::Enforce, "", keys());
        let (mut lines, mut proxy) = (Lines::new(), Proxy::of(ONCE, own));
        assert!(proxy.before(&mut lines, "pay", &arguments) && !proxy.before(&mut lines, "pay", &arguments));
    }
}

#[test]
fn results_of_calls_that_are_only_noted_are_kept() {
    for id in ["1", ""] {
        let (mut lines, hook) = (Lines::new(), Hook::new(NO_BASH, GuardMode::Shadow));
        assert!(hook.before(&mut lines, id, "Bash", &json!({})));
        hook.after(&mut lines, id, "Bash", &json!({}), &json!("ok"));
        hook.before(&mut lines, "2", "pay", &json!({}));
        let lines = read(&lines);
        let happened = happened(lines.iter());
        let phases: Vec<_> = happened.iter().map(|event| (event.phase, &*event.tool)).collect();
        assert_eq!(phases, [(Phase::Call, "Bash"), (Phase::Done, "Bash"), (Phase::Call, "pay")], "{id}");
    }
}

#[test]
fn a_call_that_others_noted_has_happened() {
    use GuardMode::{Enforce, Shadow};
    for (first, reader, passes) in [
        // The guard of another file, and the same one that enforces by now.
        ((NO_BASH, Shadow), (NEVER_AFTER, Enforce), false),
        ((NEVER_AFTER, Shadow), (NEVER_AFTER, Enforce), false),
        ((NO_BASH, Enforce), (NEVER_AFTER, Enforce), true),
    ] {
        for is_proxy in [false, true] {
            let mut lines = Lines::new();
            Hook::new(first.0, first.1).before(&mut lines, "1", "Bash", &json!({}));
            let passed = match is_proxy {
                true => Proxy::new(reader.0, reader.1).before(&mut lines, "pay", &json!({})),
                false => Hook::new(reader.0, reader.1).before(&mut lines, "2", "pay", &json!({})),
            };
            assert_eq!(passed, passes, "{first:?} {reader:?} {is_proxy}");
        }
    }
    // To a guard in shadow mode, what it has noted itself did not happen.
    let rules = format!("{NO_BASH}{NEVER_AFTER}");
    let (mut lines, hook) = (Lines::new(), Hook::new(&rules, Shadow));
    hook.before(&mut lines, "1", "Bash", &json!({}));
    hook.before(&mut lines, "2", "pay", &json!({}));
    assert!(lines[0].contains("\"noted\"") && lines[1].contains("\"passed\""), "{lines:?}");
}

/// A call that one guard lets pass is decided on by the rules of the next, which the first does not know.
#[test]
fn each_guard_on_the_way_of_a_call_holds_it_to_its_own_rules() {
    use GuardMode::{Enforce, Shadow};
    let never = "- {id: never, never: {call: pay}}\n";
    for ((first, mode), second, passes) in [
        ((ONCE, Enforce), never, false),
        ((never, Shadow), never, false),
        ((never, Shadow), ONCE, true),
        ((NO_BASH, Enforce), ONCE, true),
    ] {
        for is_proxy in [false, true] {
            let mut lines = Lines::new();
            assert!(Hook::new(first, mode).before(&mut lines, "", "pay", &json!({})));
            let passed = match is_proxy {
                true => Proxy::new(second, Enforce).before(&mut lines, "pay", &json!({})),
                false => Hook::new(second, Enforce).at("2").before(&mut lines, "", "pay", &json!({})),
            };
            assert_eq!(passed, passes, "{first} {mode:?}, {second}");
            // It was counted once, or did not happen.
            let lines = read(&lines);
            assert_eq!(happened(lines.iter()).len(), usize::from(passes));
        }
    }
}

#[test]
fn what_a_call_passes_twice_counts_once_and_two_calls_count_twice() {
    let arguments = json!({"o": 1});
    let proxy = |place: &str| {
        let log = log(ONCE, "mcp", GuardMode::Enforce);
        Proxy::of(ONCE, if place.is_empty() { log } else { log.at(place) })
    };
    for (first, second, passes) in [("", "2", true), ("", "", false), ("2", "2", false)] {
        let mut lines = Lines::new();
        assert!(proxy(first).before(&mut lines, "pay", &arguments));
        // The second may also be the first one after a restart.
        assert_eq!(proxy(second).before(&mut lines, "pay", &arguments), passes, "{first:?} {second:?}");
        let mut lines = Lines::new();
        let hook = |place: &str| Hook::new(ONCE, GuardMode::Enforce).at(place);
        assert!(hook(first).before(&mut lines, "", "pay", &arguments));
        assert_eq!(hook(second).before(&mut lines, "", "pay", &arguments), passes);
        if passes {
            assert!(!hook(first).before(&mut lines, "", "pay", &arguments), "a second call");
            assert!(!hook(second).before(&mut lines, "", "pay", &arguments), "a second call");
        }
        // Whichever of them has the result.
        hook(second).after(&mut lines, "", "pay", &arguments, &json!("ok"));
        assert!(lines.last().unwrap().contains("\"result\""));
    }
}

/// Whoever asks next, and in whichever process.
#[test]
fn an_answer_that_could_not_be_read_ends_all_guards_of_the_session() {
    let never_after = "- {id: na, never-after: {call: reply, done: close, result: {/s: 1}}}\n";
    let twice = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"s":1,"s":1}}}"#;
    for first in [GuardMode::Enforce, GuardMode::Shadow] {
        let (mut lines, mut proxy) = (Lines::new(), Proxy::new(never_after, first));
        assert!(proxy.before(&mut lines, "close", &json!({})));
        proxy.server(&mut lines, twice);
        let passes = first == GuardMode::Shadow;
        assert_eq!(proxy.before(&mut lines.clone(), "reply", &json!({})), passes);
        for mode in [GuardMode::Enforce, GuardMode::Shadow] {
            let passes = mode == GuardMode::Shadow;
            assert_eq!(Proxy::new(never_after, mode).before(&mut lines.clone(), "reply", &json!({})), passes);
            assert_eq!(
                Hook::new(never_after, mode).before(&mut lines.clone(), "1", "reply", &json!({})),
                passes
            );
        }
    }
    // So does a message that is too long to be read, also for a call that is on its way.
    let (mut lines, mut proxy) = (Lines::new(), Proxy::new(ONCE, GuardMode::Enforce));
    assert!(proxy.before(&mut lines, "look", &json!({})));
    assert!(Hook::new(ONCE, GuardMode::Enforce).before(&mut lines, "1", "pay", &json!({})));
    lines.extend(proxy.guard.unread());
    assert!(!proxy.before(&mut lines, "pay", &json!({})));
    assert!(!Hook::new(ONCE, GuardMode::Enforce).before(&mut lines, "2", "other", &json!({})));
}

#[test]
fn sessions_of_two_programs_stay_apart_in_one_log() {
    let mut lines = Lines::new();
    let mut programs =
        ["a", "b"].map(|own| LineGuard::new(Ok(rules(ONCE)), GuardMode::Enforce, "", own, keys()));
    for question in [
        json!({"do": "begin", "session": "conv-1"}),
        json!({"do": "begin", "session": TOKEN}),
        json!({"do": "before", "session": "conv-1", "tool": "pay"}),
        json!({"do": "before", "session": TOKEN, "tool": "pay"}),
        json!({"do": "before", "tool": "pay"}),
        json!({"do": "end", "session": "conv-1"}),
    ] {
        for program in &mut programs {
            lines.extend(program.take(question.to_string().as_bytes(), &|| 0).log);
        }
    }
    let mut names: Vec<_> = read(&lines).iter().map(|line| line.session().to_owned()).collect();
    names.sort();
    names.dedup();
    assert_eq!(names, ["a", "a/[key GITHUB_TOKEN]", "a/conv-1", "b", "b/[key GITHUB_TOKEN]", "b/conv-1"]);
}

#[test]
fn two_keys_stay_apart_in_a_log() {
    let once = "- {id: once, at-most: {call: pay, times: 1}, per: /o}\n";
    let (mut lines, mut proxy) = (Lines::new(), Proxy::new(once, GuardMode::Enforce));
    for (value, passes) in [(TOKEN, true), (OTHER, true), ("[key OTHER_TOKEN]", true), (OTHER, false)] {
        assert_eq!(proxy.before(&mut lines, "pay", &json!({"o": value})), passes, "{value}");
    }
    let (rules, lines) = (rules(once), read(&lines));
    let ends = rules.hold(&happened(lines.iter())).unwrap();
    assert!(ends.iter().all(|end| end.verdict.is_held_at_end()), "{lines:?}");
    assert!(replay(&rules, lines.into_iter()).all(|call| !call.is_changed()));
}

/// Of a version that wrote all keys alike.
#[test]
fn older_lines_are_read() {
    let (mut lines, hook) = (Lines::new(), Hook::new(ONCE, GuardMode::Enforce));
    assert!(hook.before(&mut lines, "1", "pay", &json!({"o": TOKEN})));
    let older = lines[0].replace("[key GITHUB_TOKEN]", "[key]");
    assert_ne!(older, lines[0]);
    lines[0] = older;
    assert!(!hook.before(&mut lines, "2", "pay", &json!({"o": TOKEN})));
    let mut proxy = Proxy::new(ONCE, GuardMode::Enforce);
    assert!(!proxy.before(&mut lines, "pay", &json!({"o": 1})));
    proxy.server(&mut lines, &result(1, false, "ok"));
}
