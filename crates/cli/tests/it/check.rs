//! `planproof check`: verdicts on given plans.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::{Place, Run, json_lines};

const PARAGRAPH: &str = "Shelter bed count depends on the completion of playgroup supervision. \
                         Addiction counselling has to come before shelter bed count.";

/// A case written by hand: a2 and a3, in any order, before a1.
pub(crate) fn small_case() -> Value {
    let texts = ["shelter bed count", "playgroup supervision", "addiction counselling"];
    let ids = ["a1", "a2", "a3"];
    let actions: Vec<Value> = ids
        .iter()
        .zip(texts)
        .map(|(id, text)| json!({"id": id, "text": text, "tool": text.replace(' ', "_")}))
        .collect();
    let tools: Vec<Value> = texts
        .iter()
        .map(|text| {
            let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
            json!({"name": text.replace(' ', "_"), "description": format!("Does {text}."), "input_schema": schema})
        })
        .collect();
    let source = |sentence: u32, start: usize, end: usize| json!([{"sentence": sentence, "sub_sentence": 0, "start": start, "end": end}]);
    let first_end = PARAGRAPH.find('.').unwrap();
    json!({
        "schema": "planproof/case/v1", "id": "small", "seed": "1",
        "options": {"actions": 3, "sentences_max": 3, "tries_max": 50, "list_max": 2, "sub_sentences_max": 3,
                    "relative_depth": 1, "distractors": 0},
        "form": "basic", "topic": "social worker", "query": format!("Do it.\n\n{PARAGRAPH}"), "paragraph": PARAGRAPH,
        "actions": actions, "tools": tools,
        "constraints": [
            {"id": "c1", "kind": "before", "first": "a2", "second": "a1", "source": source(0, 0, first_end)},
            {"id": "c2", "kind": "before", "first": "a3", "second": "a1",
             "source": source(1, first_end + 2, PARAGRAPH.len() - 1)},
        ],
        "feasible": true,
        "difficulty": {"actions": 3, "constraints": 2, "correct_plans": "2", "bits": 1.584963},
    })
}

fn place() -> Place {
    let place = Place::new();
    // Laid out over many lines, as an editor leaves it.
    place.write("c.json", &serde_json::to_string_pretty(&small_case()).unwrap());
    place
}

#[test]
fn a_plan_gets_its_verdict() {
    let place = place();
    let verdict = place.run("check --case c.json --calls a2,a1,a3 --json").code(1).json();
    let words = "Addiction counselling has to come before shelter bed count";
    assert_eq!(
        verdict,
        json!({
            "schema": "planproof/verdict/v1", "case": "small", "passed": false, "class": "order_error",
            "flags": ["order_error"], "calls": ["a2", "a1", "a3"], "violated": [{"id": "c2", "words": words}],
            "undetermined": [], "first_wrong_call": 1, "core": ["c2"], "repair": ["a2", "a3", "a1"],
            "correct_next": [["a2", "a3"], ["a3"], []], "refused": [], "cut_short": null,
        })
    );
    for right in ["a2,a3,a1", "a3,a2,a1", "addiction_counselling,a2,shelter_bed_count"] {
        let verdict = place.run(&format!("check --case c.json --json --calls {right}")).code(0).json();
        assert_eq!((&verdict["passed"], &verdict["class"]), (&json!(true), &Value::Null));
    }
    let class = |calls: &str, options: &str| {
        let line = format!("check --case c.json --json --calls {calls} {options}");
        place.run(&line).json()["class"].as_str().unwrap_or("passed").to_owned()
    };
    assert_eq!(class("a2,a3", ""), "action_lost");
    assert_eq!(class("a2,a2,a3,a1", ""), "repeated");
    assert_eq!(class("a2,a2,a3,a1", "--allow-repeats"), "passed");
}

#[test]
fn a_verdict_is_explained() {
    let run = place().run("check --case c.json --calls a2,a1,a3").code(1);
    assert_snapshot!(run.out, @r#"
    case small: order_error
      Shelter bed count depends on the completion of playgroup supervision. «Addiction counselling has to come before shelter bed count».
      called:   playgroup supervision, shelter bed count, addiction counselling
      violated: shelter bed count came before addiction counselling
      first wrong call: #2 shelter bed count (expected addiction counselling)
      right:    playgroup supervision, addiction counselling, shelter bed count
    "#);
}

#[test]
fn a_trace_is_judged_like_the_campaign_judged_it() {
    let place = Place::new();
    for model in ["careless", "clumsy"] {
        place.run(&format!("test tools@sim/{model} --cases 100 --distractors 1 -q")).code(1);
        for format in ["traces", "cases", "verdicts"] {
            let export = place.run(&format!("runs export last --format {format}")).code(0).out;
            place.write(&format!("{format}.jsonl"), &export);
        }
        let verdicts = place.run("check --case cases.jsonl --trace traces.jsonl --json").code(1).out;
        assert_eq!(verdicts, std::fs::read_to_string(place.path("verdicts.jsonl")).unwrap());
        assert_eq!(json_lines(&verdicts).len(), 100);
        let one = place.run("check --case cases.jsonl --trace traces.jsonl --json --id 7-42").out;
        assert_eq!(Some(one.trim_end()), verdicts.lines().nth(42));
    }
}

#[test]
fn a_trace_that_was_cut_off_is_unscored() {
    let place = Place::new();
    place.run("test tools@sim/perfect --cases 1 -q").code(0);
    let trace = place.run("runs export last").code(0).out;
    let lines: Vec<&str> = trace.lines().collect();
    place.write("cut.jsonl", &(lines[..lines.len() - 1].join("\n") + "\n"));
    let case = place.run("runs export last --format cases").code(0).out;
    let check = place.command(&["check", "--case", "-", "--trace", "cut.jsonl"]);
    let run = Run::of(check, &case).code(3);
    assert_snapshot!(run.out, @"case 7-0: unscored, the trace was cut off before the run ended");
}

#[test]
fn what_was_refused_and_how_a_run_broke_is_reported() {
    let place = place();
    let trace = |events: &str| {
        let header = r#"{"schema":"planproof/trace/v1","agent":"a","model":null,"simulated":false,"case":"small","repeat":0,"seed":"1","clock":"logical","version":"0"}"#;
        place.write("t.jsonl", &format!("{header}\n{events}"));
        place.run("check --case c.json --trace t.jsonl").code(1).out
    };
    let out = trace(
        "{\"at\":0,\"type\":\"call\",\"id\":\"x\",\"name\":\"do_it\",\"arguments\":{}}\n\
         {\"at\":1,\"type\":\"result\",\"id\":\"x\",\"text\":\"no such tool\",\"is_error\":true}\n\
         {\"at\":2,\"type\":\"end\",\"reason\":\"agent_failed\",\"message\":\"exit status 3:\\nkaboom\"}\n",
    );
    assert!(out.contains("  refused:  do_it: no such tool\n"), "{out}");
    assert!(out.contains("  ended:    exit status 3: kaboom\n"), "{out}");
    let out = trace(
        "{\"at\":0,\"type\":\"end\",\"reason\":\"limit_reached\",\"limit\":\"iterations\",\"value\":50}\n",
    );
    assert!(out.contains("  ended:    limit reached: iterations 50\n"), "{out}");
}
