//! What the user says later: from when on a demand binds, and until when.

use planproof_scenario::Scenarios;
use planproof_suite::{Case, Suite as _, Verdict};
use planproof_trace::{EndReason, Event, EventKind};
use serde_json::{Value, json};

use crate::{load, run};

fn case(expected: &str) -> std::sync::Arc<dyn Case> {
    load(&file(expected)).expect("the case is good").remove(0)
}

fn file(expected: &str) -> String {
    format!(
        "schema: planproof/scenario/v1
tools:
  - {{name: order, arguments: {{id: integer}}}}
  - {{name: refund, arguments: {{id: integer}}}}
  - {{name: mail}}
cases:
  - id: x
    query: Look up order 17.
    turns: [\"No, order 18, and refund it.\", Mail him.]
    expect:
{expected}"
    )
}

/// The verdict on calls such as `o17|r18|m`, in which `|` stands for the next message.
fn judged(case: &dyn Case, letters: &str) -> Verdict {
    let mut kinds = vec![EventKind::Query { text: "q".to_owned() }];
    let calls = |part: &str| -> Vec<(&'static str, Value)> {
        let call = |word: &str| match (&word[..1], word[1..].parse::<u64>()) {
            ("o", Ok(id)) => ("order", json!({ "id": id })),
            ("r", Ok(id)) => ("refund", json!({ "id": id })),
            _ => ("mail", json!({})),
        };
        part.split_whitespace().map(call).collect()
    };
    for (number, part) in letters.split('|').enumerate() {
        if number > 0 {
            kinds.push(EventKind::Query { text: "next".to_owned() });
        }
        // The ids of a run begin anew, and are free again once they are answered.
        let mut events: Vec<EventKind> =
            run(case, &calls(part)).into_iter().map(|event| event.kind).collect();
        events.pop();
        kinds.extend(events);
    }
    kinds.push(EventKind::End(EndReason::Answered { text: "Done.".to_owned() }));
    let events: Vec<Event> =
        kinds.into_iter().enumerate().map(|(at, kind)| Event::new(at as u64, kind)).collect();
    case.judge(&events).expect("a verdict")
}

#[test]
fn a_demand_binds_from_its_message_on() {
    let refund = "      - {with: {call: refund, where: {/id: 18}}, words: \"order 18, and refund it\"}\n";
    let withdrawn = "      - {never: {call: refund, where: {/id: 17}}, from: 2}\n";
    let first = "      - {with: {call: order, where: {/id: 17}}, until: 1}\n";
    let needs = "      - {requires: {call: refund, done: order}, from: 2}\n";
    let once = "      - {at-most: {call: mail, times: 1}, from: 3}\n";
    let then = "      - {followed-by: {done: refund, call: mail}, from: 2}\n";
    let mail = "      - {do: [mail], words: Mail him}\n";
    let never_after = "      - {never-after: {call: order, done: refund}, from: 2, until: 2}\n";
    for (expected, letters, class) in [
        (refund, "o17|r18|", "passed"),
        (refund, "o17|r17|", "missed_message"),
        (refund, "o17||r18", "passed"),
        // It was done before it was asked for, which nobody wanted then.
        (refund, "r18||", "missed_message"),
        (withdrawn, "r17||", "passed"),
        (withdrawn, "|r17|", "missed_message"),
        (first, "o17||", "passed"),
        (first, "|o17|", "missing_call"),
        // What was done before still counts.
        (needs, "o17|r17|", "passed"),
        (needs, "r17|o17 r17|", "passed"),
        (needs, "|r17|", "missed_message"),
        (once, "m m|m|m", "passed"),
        (once, "||m m", "missed_message"),
        (then, "r17||", "passed"),
        (then, "|r17|", "missed_message"),
        (then, "|r17|m", "passed"),
        (mail, "m|m|", "missed_message"),
        (mail, "||m", "passed"),
        (never_after, "r17|o17|", "missed_message"),
        (never_after, "r17 o17||o17", "passed"),
        // An agent that was given no later message could not follow it.
        (mail, "m", "missed_message"),
    ] {
        let case = case(expected);
        let verdict = judged(&*case, letters);
        let found = verdict.class().map_or("passed", |class| class.as_str());
        assert_eq!(found, class, "{expected} {letters}\n{}", verdict.detail);
        // The session that is shown as right is right, and a stored case is the same.
        let gold = case.gold().expect("a right session");
        let letter = |call: &planproof_suite::GoldCall| match call.arguments.get("id") {
            Some(id) => format!("{}{id}", &call.tool[..1]),
            None => "m".to_owned(),
        };
        let letters: Vec<String> = gold.calls.iter().map(letter).collect();
        let starts = std::iter::once(0).chain(gold.turns.iter().copied());
        let ends = gold.turns.iter().copied().chain([letters.len()]);
        let parts: Vec<String> = starts.zip(ends).map(|(start, end)| letters[start..end].join(" ")).collect();
        assert_eq!(parts.len(), 3);
        assert!(judged(&*case, &parts.join("|")).passed(), "{expected} {parts:?}");
        let again = Scenarios::default().read(&case.to_line()).expect("it reads");
        assert_eq!((again.to_line(), again.later()), (case.to_line(), case.later()));
    }
}

#[test]
fn a_finding_says_what_was_missing_of_a_later_message() {
    for (expected, letters, said) in [
        (
            "{at-least: {call: order, times: 2}, from: 2, until: 2}",
            "o17|o18|",
            "fewer than 2 such calls of order came",
        ),
        (
            "{at-least: {done: order, times: 2}, from: 2}",
            "o17|o18|",
            "fewer than 2 such results of order came",
        ),
        (
            "{at-least: {call: order, times: 1}, from: 2, until: 2}",
            "o17||o18",
            "no such call of order came when it",
        ),
        ("{do: [mail], from: 3}", "m||", "no such result of mail came when it was due"),
        ("{do: [mail], from: 3}", "||", "mail was not called"),
    ] {
        let case = case(&format!("      - {expected}\n"));
        let shown = format!("{:?}", case.explain(&judged(&*case, letters)).facts);
        assert!(shown.contains(said), "{expected} {letters}: {shown}");
    }
}

#[test]
fn messages_are_read_with_their_faults() {
    let fault = |expected: &str| load(&file(expected)).err().unwrap_or_default();
    insta::assert_snapshot!(
        [
            "      - {do: [mail], from: 4}",
            "      - {do: [mail], from: 0}",
            "      - {do: [mail], until: x}",
            "      - {do: [mail], from: 3, until: 2}",
            "      - {last: {call: mail}, until: 2}",
            "      - {formula: \"(always call:mail)\", from: 2}",
            "      - {do: [mail], words: Call him}",
            // Nobody can do in the first message what must not be done before the second.
            "      - {do: [mail], until: 1}\n      - {never: {call: mail}, until: 1}",
        ]
        .map(fault)
        .join("\n")
    );
    let text = file("      - {do: [mail]}");
    assert!(
        load(&text.replace("turns: [", "turns: [3, ")).unwrap_err().contains("a message is `3`, not a text")
    );
    let many = format!("turns: [{}", "a, ".repeat(30));
    assert!(load(&text.replace("turns: [", &many)).unwrap_err().contains("it may have 20"));
}
