//! `prompt=FILE` and `form=`: the prompts of agents that plan.

use serde_json::{Value, json};

use crate::published::written;
use crate::stand_in::{StandIn, model_command};
use crate::support::{Place, Run, json_lines};

/// The plan of the latest campaign's only run.
fn plan_of(place: &Place) -> String {
    let lines = json_lines(&place.run("runs export last").code(0).out);
    let plan =
        lines.iter().find(|line| line["type"] == "section" && line["state"] == "plan").expect("a plan");
    plan["text"].as_str().unwrap().to_owned()
}

#[test]
fn the_printed_prompt_is_the_one_that_is_sent() {
    let place = Place::new();
    for (kind, suite) in [
        ("plan", "mnms"),
        ("plan:format=code,strategy=multi-step", "mnms"),
        ("one-step", "tptu"),
        ("one-step:form=lists", "tptu"),
        ("sequential", "tptu"),
        ("hierarchical", "tptu"),
    ] {
        let printed = place.run(&format!("prompts {kind}")).code(0).out;
        place.write("p.txt", &printed);
        let separator = if kind.contains(':') { "," } else { ":" };
        let ran = |options: &str| {
            let line = format!("bench {suite} {kind}{options}@sim/gold --limit 4 --json -q");
            let report = place.run(&line).code(0).json();
            let traces = json_lines(&place.run("runs export last").out);
            let turns =
                traces.iter().filter(|line| line["type"] == "turn").map(|line| line["tokens"].clone());
            (report["passed"].clone(), turns.collect::<Vec<_>>())
        };
        assert_eq!(ran(&format!("{separator}prompt=p.txt")), ran(""), "{kind}");
        let document = place.run(&format!("prompts {kind} --json")).code(0).json();
        assert_eq!(document["prompt"], printed.as_str());
        assert!(document["must_have"].as_array().unwrap().contains(&json!("tools")), "{document}");
    }
    for (kind, said) in [
        ("react", "planproof spec print"),
        ("team", "docs/team.md"),
        ("tools", "plan, one-step, sequential and hierarchical have one"),
        ("command:x", "not one of planproof's"),
    ] {
        let run = place.run(&format!("prompts {kind}")).code(2);
        assert!(run.err.contains(said), "{kind}: {run:?}");
    }
}

#[test]
fn a_campaign_keeps_its_prompt() {
    let place = Place::new();
    let printed = place.run("prompts one-step").code(0).out;
    place.write("p.txt", &printed);
    let line = "bench tptu one-step:prompt=p.txt@sim/gold --limit 2 --record r.jsonl --json -q";
    let report = place.run(line).code(0).json();
    assert_eq!(report["agent"], "one-step:prompt=p.txt@sim/gold");
    let replay = "bench tptu one-step:prompt=p.txt@sim/gold --replay r.jsonl -q";
    place.run(replay).code(0);
    // One that its budget ended is resumed.
    place.run("bench tptu one-step:prompt=p.txt@sim/gold --limit 4 --max-tokens 3000 -q").code(3);
    place.write("p.txt", &printed.replace("Reply with", "Now reply with"));
    for again in ["bench tptu --resume last --max-tokens 90000 -q", replay] {
        let refused = place.run(again).code(2);
        assert!(refused.err.contains("the prompt p.txt was changed"), "{again}: {refused:?}");
    }
}

#[test]
fn what_is_no_prompt_is_refused() {
    let place = Place::new();
    place.write("lacks.txt", "{{tools}} only");
    place.write("unknown.txt", "{{tools}} {{task}} {{request}}");
    place.write("long.txt", &"x".repeat(65_537));
    place.write("next.txt", "{{tools}} {{task}}");
    for (agent, said) in [
        (
            "one-step:prompt=lacks.txt",
            "lacks.txt: the prompt lacks {{task}}, where the task goes: it must have {{tools}}, {{task}}, and may have \
             {{lessons}}",
        ),
        ("one-step:prompt=unknown.txt", "unknown.txt: the prompt has {{request}}, which means nothing there"),
        ("sequential:prompt=long.txt", "the prompt has 65537 bytes; 65536 is the most"),
        ("sequential:memory=on,prompt=next.txt", "the prompt lacks {{lessons}}"),
        ("hierarchical:prompt=next.txt", "the prompt lacks {{group}}"),
        ("plan:prompt=none.txt", "cannot read none.txt"),
        ("plan:prompt=", "is no value of the option prompt: write the name of a file"),
        ("plan:prompt=-", "is no value of the option prompt"),
        ("react:prompt=next.txt", "react has no option prompt: that is for agents that plan"),
        ("sequential:form=lists", "sequential has no option form: that is for the one-step agent"),
        ("one-step:form=list", "write pairs, lists, tools or asked"),
    ] {
        let run = place.run(&format!("bench tptu {agent}@sim/gold --limit 1")).code(2);
        assert!(run.err.contains(said), "{agent}: {run:?}");
    }
}

/// The judge finds the plan of an agent whose prompt begins with words of the user's.
#[test]
fn a_plan_in_other_words_is_judged_as_a_plan() {
    let place = Place::new();
    let choice = "--evaluation tool-order --limit 1 --no-check --json -q";
    place.run(&format!("bench tptu one-step@sim/gold {choice}")).code(0);
    let plan = plan_of(&place);
    for kind in ["one-step", "sequential"] {
        place.write("p.txt", "Own words.\n{{tools}}\nFor {{task}}");
        let (plan, is_whole) = (plan.clone(), kind == "one-step");
        let pairs: Vec<Value> = serde_json::from_str(&plan).unwrap();
        let server = StandIn::start(move |_, body| {
            let messages = body["messages"].as_array().unwrap();
            let asked = messages[0]["content"].as_str().unwrap_or_default();
            let ended = messages.iter().filter(|message| message["role"] == "assistant").count();
            let text = match asked {
                _ if asked.starts_with("Own words.") && is_whole => plan.clone(),
                _ if asked.starts_with("Own words.") => {
                    pairs.get(ended).map_or_else(|| "DONE".to_owned(), Value::to_string)
                }
                _ if asked.contains("arguments") => r#"{"statement": "SELECT 1", "code": "1"}"#.to_owned(),
                _ => "x".to_owned(),
            };
            written(&text, body)
        });
        let line = format!("bench tptu {kind}:prompt=p.txt@openai/m {choice}");
        let report = Run::of(model_command(&place, &line, server.base_url()), "").code(0).json();
        assert_eq!(report["passed"], 1, "{kind}: {report}");
    }
}

#[test]
fn each_evaluation_can_have_its_own_form() {
    let place = Place::new();
    let report = place.run("bench tptu one-step:form=asked@sim/gold --json -q").code(0).json();
    assert_eq!(report["passed"], 200, "{report}");
    let shown = |case: &str| place.run(&format!("runs show last --case tptu-planning-01.{case}")).code(0).out;
    assert!(shown("tool-order").contains("Reply with one JSON list of the names of tools"));
    assert!(shown("tool-subtask-lists").contains("Reply with two JSON lists"));
    assert!(shown("pairs").contains("Reply with one JSON list of objects"));
    // Elsewhere nobody asks for a form.
    place.run("bench gsm8k one-step:form=asked@sim/gold --limit 3 -q").code(0);
    place.run("test one-step:form=lists@sim/perfect --cases 3 -q").code(0);
    // What was asked for in two lists, and comes in pairs, is of the wrong form: Table 4 against Table 5.
    let server = StandIn::start(|_, body| {
        let asked = body["messages"][0]["content"].as_str().unwrap_or_default();
        let plans = asked.starts_with("You divide a task");
        written(if plans { r#"[{"sql": "Count the people"}]"# } else { "x" }, body)
    });
    for (form, broken) in [("lists", true), ("pairs", false)] {
        let line = format!(
            "bench tptu one-step:form={form}@openai/m --evaluation tool-subtask-lists --limit 1 --no-check --json -q"
        );
        let report = Run::of(model_command(&place, &line, server.base_url()), "").json();
        assert_eq!(report["classes"]["wrong_format"] == 1, broken, "{form}: {report}");
    }
}
