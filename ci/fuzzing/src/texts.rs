//! Texts that are read whole.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use futures::FutureExt as _;
use planproof_model::prices::Prices;
use planproof_model::recording::Recording;
use planproof_plan::{
    Plan, PlanProgram, read_json, read_python, read_step_json, step_to_json, to_json_text, to_python,
};
use planproof_scenario::Scenarios;
use planproof_spec::rules::{Phase, RuleSet, Session, SessionEvent};
use planproof_spec::{Automaton, Compat, Monitor, MonitorOptions, SHIPPED, load};
use planproof_suite::{CaseSelection, Data, Suite as _};
use planproof_synth::TopicBank;
use planproof_synth::file::{read_case, write_case};
use planproof_synth::read::{Directions, read};
use planproof_trace::wire::v1::{read_trace, read_traces, write_trace};
use planproof_trace::{Arguments, CallId, EndReason, Event, EventKind, ToolCall};
use serde_json::json;

/// A text as it came, with what is not UTF-8 replaced.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What is read is printed and read as the same; the places of faults lie in the source.
pub(crate) fn specification(bytes: &[u8]) {
    let source = text(bytes);
    if let Ok(spec) = planproof_spec::read(&source) {
        let printed = spec.to_string();
        assert_eq!(planproof_spec::read(&printed).as_ref(), Ok(&spec), "{printed}");
    }
    if let Err(faulty) = load(&source, Compat::Ours) {
        for label in faulty.diagnostics.iter().flat_map(|fault| &fault.labels) {
            assert!(source.get(label.span.start..label.span.end).is_some(), "{label:?}");
        }
    }
}

/// A rule is held, after each event, if and only if its definition says so, and faults have places in the text.
pub(crate) fn rules(bytes: &[u8]) {
    let source = text(bytes);
    let rules = match RuleSet::read(&source) {
        Ok(rules) => Arc::new(rules),
        Err(faults) => {
            // A carriage return alone breaks a line of YAML.
            let lines = source.split(['\n', '\r']).count();
            assert!(
                faults.iter().all(|fault| (1..=lines + 1).contains(&(fault.place.line as usize))),
                "{faults:?}"
            );
            return;
        }
    };
    // Events of the tools that the rules name, drawn by the bytes.
    let tools = planproof_spec::rules::search::tools(&rules);
    let arguments = [json!({}), json!({"k": 1}), json!({"k": 2, "n": 101})];
    let outcome = json!({"k": 1, "ok": true});
    let draw = |byte: &u8| {
        let byte = usize::from(*byte);
        let tool = tools.get(byte % (tools.len() + 1)).map_or("other", String::as_str);
        let event = SessionEvent::new(Phase::ALL[byte / 7 % 3], tool, &arguments[byte / 21 % 3]);
        if event.moment == Phase::Call { event } else { event.with_outcome(&outcome) }
    };
    let events: Vec<SessionEvent<'_>> = bytes.iter().rev().take(6).map(draw).collect();
    let mut session = Session::new(&rules);
    for length in 0..events.len() {
        session.observe(&events[length]).expect("few values");
        for (number, rule) in rules.rules().iter().enumerate().take(20) {
            let expected = planproof_spec::rules::textbook::is_held(rule, &events[..=length]);
            assert_eq!(
                session.verdict(number).is_held_at_end(),
                expected,
                "{rule}: {:?}",
                &events[..=length]
            );
        }
    }
}

/// A case is the same after its line, and the session that is found for it passes; faults have places in the text.
pub(crate) fn scenario(bytes: &[u8]) {
    let source = text(bytes);
    let suite = Scenarios::default();
    let cases = match suite.load(Some(Data { text: &source, file: "f" }), &CaseSelection::First, Some(20)) {
        Ok(cases) => cases,
        Err(error) => {
            let line = error.what.strip_prefix("f:").and_then(|rest| rest.split(':').next()?.parse().ok());
            // A carriage return alone breaks a line of YAML.
            let lines = source.split(['\n', '\r']).count();
            assert!(line.is_some_and(|line| (1..=lines + 1).contains(&line)), "{error}");
            // Whatever is wrong with one of its cases, a file that can be read can be looked at.
            if error.what.contains("cannot be satisfied") && source.len() < 600 {
                let reviews = suite.review(Data { text: &source, file: "f" }).expect("a file that was read");
                assert!(reviews.iter().any(|review| review.blame.is_some()), "{error}");
            }
            return;
        }
    };
    for case in cases {
        let again = suite.read(&case.to_line()).expect("a line of ours");
        assert_eq!(again.to_line(), case.to_line());
        let Some(gold) = case.gold() else { continue };
        let tools = case.toolbox().expect("tools that were read");
        let mut events = Vec::new();
        for (number, call) in gold.calls.into_iter().enumerate() {
            let id = CallId::new(number.to_string());
            let call = ToolCall { id, name: call.tool, arguments: Arguments::Object(call.arguments) };
            let result = tools.execute(&call).now_or_never().expect("a world waits for nothing");
            events.extend([EventKind::Call(call), EventKind::Result(result)]);
        }
        events.push(EventKind::End(EndReason::Answered { text: gold.answer }));
        let events: Vec<Event> =
            events.into_iter().enumerate().map(|(at, kind)| Event::new(at as u64, kind)).collect();
        let verdict = case.judge(&events).expect("a verdict");
        assert!(verdict.passed(), "{}: {}", case.card().id, verdict.detail);
    }
}

static AUTOMATA: LazyLock<Vec<Arc<Automaton>>> = LazyLock::new(|| {
    SHIPPED.iter().filter_map(|(_, source)| Some(load(source, Compat::Ours).ok()?.automaton)).collect()
});

/// Wherever a text is cut, a monitor comes to the same.
pub(crate) fn marks(bytes: &[u8]) {
    let [which, cut, bytes @ ..] = bytes else { return };
    let Some(automaton) = AUTOMATA.get(usize::from(*which) % AUTOMATA.len().max(1)) else { return };
    let came = |pieces: &mut dyn Iterator<Item = &[u8]>| {
        let mut monitor = Monitor::new(Arc::clone(automaton), MonitorOptions::default());
        monitor.question("What?");
        for piece in pieces {
            monitor.push(piece);
        }
        monitor.end_of_output();
        let sections: Vec<String> = monitor.sections().map(|section| format!("{section:?}")).collect();
        (format!("{:?}", monitor.step()), monitor.text().to_owned(), sections)
    };
    let whole = came(&mut std::iter::once(bytes));
    let size = usize::from(*cut) % 7 + 1;
    assert_eq!(came(&mut bytes.chunks(size)), whole, "cut into pieces of {size}");
}

/// What is read is written and read as the same.
pub(crate) fn case(bytes: &[u8]) {
    if let Ok(case) = read_case(&text(bytes)) {
        let line = write_case(&case);
        let again = read_case(&line).expect("our own line");
        assert_eq!(write_case(&again), line);
    }
}

static ACTIONS: [&str; 4] = ["wash the car", "bake bread", "send mail", "paint the fence"];

pub(crate) fn reader(bytes: &[u8]) {
    let paragraph = text(bytes);
    let activities = TopicBank::shipped().topics()[0].activities.iter().map(|it| it.text.as_ref());
    let actions: Vec<&str> = activities.chain(ACTIONS).collect();
    drop(read(&paragraph, &actions, Directions::shipped()));
}

/// What is read is written and read as the same.
pub(crate) fn topics(bytes: &[u8]) {
    if let Ok(bank) = TopicBank::from_json(&text(bytes)) {
        let written = bank.to_json();
        assert_eq!(TopicBank::from_json(&written).expect("our own text").to_json(), written);
    }
}

/// What is read is written and read as the same.
pub(crate) fn trace(bytes: &[u8]) {
    let source = text(bytes);
    read_traces(&source).for_each(drop);
    if let Ok(trace) = read_trace(&source) {
        let mut written = Vec::new();
        write_trace(&trace, &mut written);
        let written = String::from_utf8(written).expect("UTF-8");
        assert_eq!(read_trace(&written).expect("our own text"), trace, "{written}");
    }
}

pub(crate) fn prices(bytes: &[u8]) {
    if let Ok(prices) = Prices::read(&text(bytes)) {
        let _ = prices.find("openai/gpt-5-mini");
    }
}

/// What is read is written and read as the same; what is wrong with it can be said.
pub(crate) fn configuration(bytes: &[u8]) {
    if let Ok(written) = planproof::configuration_written_anew(&text(bytes)) {
        assert_eq!(planproof::configuration_written_anew(&written).as_ref(), Ok(&written), "{written}");
    }
}

/// A recording is a file.
pub(crate) fn recording(bytes: &[u8]) {
    let place = PathBuf::from("/dev/shm");
    let place = if place.is_dir() { place } else { std::env::temp_dir() };
    let thread = std::thread::current().id();
    let path = place.join(format!("planproof-fuzzing-{}-{thread:?}.jsonl", std::process::id()));
    fs::write(&path, bytes).expect("a file");
    drop(Recording::read(&path));
    let _ = fs::remove_file(&path);
}

/// A plan comes back from either form as it went in.
fn comes_back(plan: &Plan) {
    let json = to_json_text(plan);
    assert_eq!(read_json(&json).as_ref(), Ok(plan), "{json}");
    let python = to_python(plan);
    if let Ok(PlanProgram { plan: Some(again), .. }) = read_python(&python) {
        assert_eq!(&again, plan, "{python}");
    }
}

pub(crate) fn plan_json(bytes: &[u8]) {
    let reply = text(bytes);
    if let Ok(plan) = read_json(&reply) {
        comes_back(&plan);
    }
    if let Ok(step) = read_step_json(&reply) {
        drop(step_to_json(&step));
    }
}

pub(crate) fn plan_python(bytes: &[u8]) {
    if let Ok(PlanProgram { plan: Some(plan), .. }) = read_python(&text(bytes)) {
        comes_back(&plan);
    }
}
