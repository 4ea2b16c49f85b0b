//! One decision everywhere: the definitions, the monitor, the guard between messages in both generations of the
//! protocol, the log taken again, and the log held against the rules.

use std::sync::Arc;

use planproof_guard::{
    AskedCall, CarriedCall, DecisionLog, GuardMode, GuardedSession, HookEvent, HookReply, HookSession,
    LoggedLine, McpGuard, replay,
};
use planproof_spec::rules::{
    EventPattern, Phase, RecordedEvent, RuleDemand, RuleSet, RuleVerdict, Session, SessionEvent, textbook,
};
use planproof_trace::Secrets;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use crate::sessions::{LIVE, Move, PENDING_MAX, a_move, file};
use crate::support::{self, call, is_passed, rules};

fn event(phase: Phase, tool: &str, arguments: &Value, outcome: Option<Value>) -> RecordedEvent {
    RecordedEvent {
        phase,
        server: None,
        tool: tool.to_owned(),
        arguments: Arc::new(arguments.clone()),
        outcome,
    }
}

/// Whether nothing that comes can mend a session any more, by the definitions.
fn is_broken(demand: &RuleDemand, rule: &planproof_spec::rules::CallRule, session: &[RecordedEvent]) -> bool {
    let can_be_mended = match demand {
        RuleDemand::FollowedBy { .. } | RuleDemand::AtLeast(..) | RuleDemand::Last(_) => true,
        RuleDemand::Formula { source, .. } => LIVE.contains(&source.as_str()),
        _ => false,
    };
    let seen: Vec<SessionEvent<'_>> = session.iter().map(RecordedEvent::as_seen).collect();
    !can_be_mended && !textbook::is_held(rule, &seen)
}

/// What a tool may return, as far as the tests of `sessions.rs` tell results apart.
fn returned() -> [Value; 3] {
    [json!({"ok": true, "v": "x"}), json!({"ok": false, "v": 7}), json!("a text")]
}

/// Whether one of the calls can have its result next so that, whatever it is, a rule is broken then or by the results
/// of those after it.
fn can_break(
    rule: &planproof_spec::rules::CallRule,
    session: &mut Vec<RecordedEvent>,
    waiting: &[RecordedEvent],
) -> bool {
    let tests_results = rule.patterns().iter().any(|pattern| !pattern.outcome.is_empty());
    let returned = returned();
    // All are one to a rule that tests none.
    let returned = if tests_results { &returned[..] } else { &returned[..1] };
    (0..waiting.len()).any(|place| {
        let mut left = waiting.to_vec();
        let call = left.remove(place);
        returned.iter().all(|value| {
            session.push(event(Phase::Done, &call.tool, &call.arguments, Some(value.clone())));
            let is_so = is_broken(&rule.demand, rule, session) || can_break(rule, session, &left);
            session.pop();
            is_so
        })
    })
}

/// The numbers of the rules that reject a call, by the definitions: `docs/guard.md` in code.
fn rejecting(
    rules: &RuleSet,
    history: &[RecordedEvent],
    pending: &[(u64, RecordedEvent)],
    asked: &RecordedEvent,
) -> Vec<usize> {
    let is_against = |rule: &planproof_spec::rules::CallRule| {
        let value = |event: &RecordedEvent| {
            let value = event.arguments.pointer(rule.per.as_ref()?.as_str())?;
            // `1` and `1.0` are one number.
            Some(value.as_f64().map_or_else(|| value.to_string(), |number| number.to_string()))
        };
        let is_alike = |event: &RecordedEvent| rule.per.is_none() || value(event) == value(asked);
        let mut session: Vec<RecordedEvent> =
            history.iter().filter(|event| is_alike(event)).cloned().collect();
        if is_broken(&rule.demand, rule, &session) {
            let is_about = |pattern: &EventPattern| {
                let call = EventPattern { moment: Phase::Call, outcome: Vec::new(), ..pattern.clone() };
                call.matches(&asked.as_seen())
            };
            // What comes first is a question to all calls.
            let is_first = matches!(rule.demand, RuleDemand::First(_));
            return is_first || rule.patterns().into_iter().any(is_about);
        }
        let waiting: Vec<RecordedEvent> =
            pending.iter().map(|(_, call)| call).filter(|call| is_alike(call)).cloned().collect();
        let mut waiting = if can_break(rule, &mut session, &waiting) { Vec::new() } else { waiting };
        waiting.push(asked.clone());
        session.push(asked.clone());
        is_broken(&rule.demand, rule, &session) || can_break(rule, &mut session, &waiting)
    };
    (0..rules.rules().len()).filter(|number| is_against(&rules.rules()[*number])).collect()
}

/// A hook and a proxy that share the history of a session. The hook is a new process for each event, and knows the
/// session by its state; each approved call is seen by both.
struct Together {
    rules: Arc<RuleSet>,
    state: Value,
    hook_log: DecisionLog,
    proxy: McpGuard,
}

impl Together {
    fn new(rules: &Arc<RuleSet>) -> Self {
        let hook_log = DecisionLog::new("s", "hook", GuardMode::Enforce, "", Secrets::none());
        let hook = HookSession::resume(rules, std::iter::empty(), &hook_log);
        let proxy = support::guard(rules, GuardMode::Enforce);
        Self { rules: Arc::clone(rules), state: hook.state(&hook_log).unwrap(), hook_log, proxy }
    }

    fn hook<T>(&mut self, act: impl FnOnce(&mut HookSession, &DecisionLog) -> T) -> T {
        let mut hook = HookSession::with_state(&self.rules, &self.state, &self.hook_log).unwrap();
        let done = act(&mut hook, &self.hook_log);
        self.state = hook.state(&self.hook_log).unwrap();
        done
    }

    /// Whether the hook, and then the proxy, approve a call.
    fn approve(&mut self, number: u64, tool: &str, arguments: &Value) -> (bool, bool) {
        let asked = CarriedCall {
            id: Some(format!("call-{number}")),
            server: None,
            tool: tool.to_owned(),
            arguments: arguments.clone(),
        };
        let answer = self.hook(|hook, log| hook.take(&HookEvent::Before(asked), log, 0));
        self.proxy.catch_up(&[LoggedLine::read(&answer.line.unwrap()).unwrap()]);
        if answer.reply != HookReply::Allow {
            return (false, false);
        }
        let heard = self.proxy.from_client(call(number, tool, arguments).as_bytes());
        let line = LoggedLine::read(&self.proxy.decision_line(&heard, 0).unwrap()).unwrap();
        self.hook(|hook, log| hook.apply(&line, log));
        (true, is_passed(&heard))
    }

    fn finish(&mut self, line: &str) {
        for line in self.proxy.from_server(line.as_bytes()) {
            let line = LoggedLine::read(&line).unwrap();
            self.hook(|hook, log| hook.apply(&line, log));
        }
    }
}

/// Lets everything decide on a session. Gives how often a monitor that forgets the oldest pending call is wrong.
fn compare(text: &str, moves: &[Move]) -> Result<usize, TestCaseError> {
    let rules = rules(text);
    let mut session = GuardedSession::new(&rules);
    let mut monitor = Session::new(&rules);
    let mut older = support::guard(&rules, GuardMode::Enforce);
    let mut newer = support::guard(&rules, GuardMode::Enforce);
    older.from_client(br#"{"jsonrpc":"2.0","id":"hi","method":"initialize","params":{}}"#);
    older.from_server(br#"{"jsonrpc":"2.0","id":"hi","result":{}}"#);
    let mut shadow = support::guard(&rules, GuardMode::Shadow);
    let mut unsteady = support::guard(&rules, GuardMode::Enforce);
    let mut together = Together::new(&rules);
    let (mut history, mut pending, mut log) = (Vec::new(), Vec::<(u64, RecordedEvent)>::new(), Vec::new());
    let mut forgetful_errors = 0;
    for step in moves {
        match step {
            Move::Ask(..) if pending.len() >= PENDING_MAX => {}
            Move::Ask(tool, arguments) => {
                let asked = event(Phase::Call, tool, arguments, None);
                let expected = rejecting(&rules, &history, &pending, &asked);
                let seen: Vec<SessionEvent<'_>> = pending.iter().map(|(_, call)| call.as_seen()).collect();
                let objections = monitor.objections(&asked.as_seen(), &seen).unwrap();
                prop_assert_eq!(&objections, &expected, "the monitor on {} {}", tool, arguments);
                let forgetful =
                    monitor.objections(&asked.as_seen(), seen.get(1..).unwrap_or_default()).unwrap();
                forgetful_errors += usize::from(forgetful != expected);

                let ruling = session.decide(AskedCall { server: None, tool, arguments });
                let rejected = match &ruling.refusal {
                    None => Vec::new(),
                    Some(planproof_guard::Refusal::Rules(numbers)) => numbers.clone(),
                    other => panic!("{other:?}"),
                };
                prop_assert_eq!(&rejected, &expected, "the guard on {} {}", tool, arguments);
                let line = call(ruling.number, tool, arguments);
                let is_approved = expected.is_empty();
                for guard in [&mut older, &mut newer] {
                    let heard = guard.from_client(line.as_bytes());
                    prop_assert_eq!(is_passed(&heard), expected.is_empty(), "the proxy on {}", line);
                    log.extend(guard.decision_line(&heard, 0));
                }
                // A call that could not be logged at first, and is asked for again.
                let heard = unsteady.from_client(line.as_bytes());
                prop_assert_eq!(is_passed(&heard), is_approved, "with a log that fails, on {}", line);
                let heard = unsteady.unlogged(heard, "the disk is full");
                prop_assert!(!is_passed(&heard));
                let heard = unsteady.from_client(line.as_bytes());
                prop_assert_eq!(is_passed(&heard), is_approved, "with a log that failed, on {}", line);
                let both = together.approve(ruling.number, tool, arguments);
                prop_assert_eq!(both, (is_approved, is_approved), "a hook and a proxy on {}", line);
                // What shadow mode notes is what enforcement would reject.
                let heard = shadow.from_client(line.as_bytes());
                prop_assert!(is_passed(&heard));
                prop_assert_eq!(heard.reason.is_none(), expected.is_empty(), "shadow mode on {}", line);
                if expected.is_empty() {
                    monitor.observe(&asked.as_seen()).unwrap();
                    history.push(asked.clone());
                    pending.push((ruling.number, asked));
                }
            }
            Move::Finish(place, is_error, outcome) => {
                if pending.is_empty() {
                    continue;
                }
                let (number, made) = pending.remove(place % pending.len());
                session.finished(number, *is_error, outcome);
                let phase = if *is_error { Phase::Failed } else { Phase::Done };
                let done = event(phase, &made.tool, &made.arguments, Some(outcome.clone()));
                monitor.observe(&done.as_seen()).unwrap();
                history.push(done);
                let text = outcome.as_str().map_or_else(|| outcome.to_string(), str::to_owned);
                let line = support::result(number, *is_error, &text);
                for guard in [&mut older, &mut newer] {
                    log.extend(guard.from_server(line.as_bytes()));
                }
                shadow.from_server(line.as_bytes());
                unsteady.from_server(line.as_bytes());
                together.finish(&line);
            }
        }
    }
    // Both proxies have written the same lines.
    prop_assert_eq!(log.len() % 2, 0);
    let lines: Vec<LoggedLine> = log.iter().step_by(2).map(|line| LoggedLine::read(line).unwrap()).collect();
    for again in replay(&rules, lines.iter().cloned()) {
        prop_assert!(!again.is_changed(), "the log taken again: {:?}", again);
    }
    prop_assert_eq!(held(&rules, &lines), session.verdicts(), "the log held against the rules");
    prop_assert_eq!(older.unsatisfied().len(), session.unsatisfied().len());
    Ok(forgetful_errors)
}

/// The verdicts on what a log says has happened.
fn held(rules: &Arc<RuleSet>, lines: &[LoggedLine]) -> Vec<RuleVerdict> {
    let happened = planproof_guard::happened(lines.iter());
    rules.hold(&happened).unwrap().into_iter().map(|end| end.verdict).collect()
}

#[test]
#[ignore = "slow"]
fn one_decision_everywhere_and_a_forgetful_monitor_is_caught() {
    // 20,000 take some minutes.
    let cases = std::env::var("PLANPROOF_GUARD_SESSIONS").map_or(600, |text| text.parse().unwrap());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[34; 32]);
    let mut runner = TestRunner::new_with_rng(Config::with_cases(cases), rng);
    let forgetful_errors = std::cell::Cell::new(0);
    let session = (file(), prop::collection::vec(a_move(), 0..16));
    let compared = runner.run(&session, |(text, moves)| {
        let errors = compare(&text, &moves).map_err(|error| match error {
            TestCaseError::Fail(reason) => TestCaseError::fail(format!("{reason}\n{text}")),
            other => other,
        })?;
        forgetful_errors.set(forgetful_errors.get() + errors);
        Ok(())
    });
    compared.unwrap_or_else(|error| panic!("{error}"));
    let found = forgetful_errors.get();
    assert!(
        found > cases as usize / 100,
        "a monitor that forgets a pending call was caught {found} times only"
    );
}
