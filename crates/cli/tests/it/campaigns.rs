//! `planproof test` with simulated models, and what `planproof runs` shows of it.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Place, json_lines};

/// Report of a campaign, checked for what all reports have in common.
fn report(place: &Place, line: &str, code: i32) -> Value {
    let run = place.run(&format!("{line} --json -q")).code(code);
    assert_eq!(run.err, "");
    let report = run.json();
    assert_eq!(report["schema"], "planproof/report/v1");
    let number = |key: &str| report[key].as_u64().unwrap();
    assert_eq!(number("cases"), number("passed") + number("failed") + number("unscored"));
    let classes: u64 =
        report["classes"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(classes, number("failed"));
    report
}

#[test]
#[ignore = "slow"]
fn each_simulated_model_fails_as_it_should() {
    let place = Place::new();
    for (model, class, failed) in [
        ("perfect", None, 0..=0),
        ("in-order", Some("order_error"), 150..=299),
        ("forgetful", Some("action_lost"), 30..=200),
        ("careless", Some("order_error"), 15..=150),
        ("clumsy", Some("act_error"), 30..=200),
        ("endless", Some("timeout"), 300..=300),
    ] {
        let line = format!("test tools@sim/{model} --cases 300 --distractors 1");
        let report = report(&place, &line, i32::from(class.is_some()));
        assert_eq!(report["agent"], format!("tools@sim/{model}"));
        assert_eq!(report["model"], format!("sim/{model}"));
        assert_eq!((&report["simulated"], &report["unscored"]), (&json!(true), &json!(0)));
        let count = report["failed"].as_u64().unwrap();
        assert!(failed.contains(&count), "{model}: {count} failed");
        if let Some(class) = class {
            assert_eq!(report["classes"][class], count, "{model}: another class of failure: {report}");
        }
    }
    let listed = place.run("runs list").code(0).out;
    assert_eq!(listed.matches("tools@sim/").count(), 6, "{listed}");
    assert!(!listed.contains("Model"), "the agents say it: {listed}");
}

#[test]
fn a_simulation_is_named_one() {
    let place = Place::new();
    let run = place.run("test tools@sim/careless --cases 60").code(1);
    assert!(run.out.contains("SIMULATION"), "{run:?}");
    assert!(run.out.contains(" (order_error "), "{run:?}");
    assert!(run.out.contains("Finding 1: order_error"), "{run:?}");
    assert!(run.err.contains(": 60 cases\n"), "{run:?}");
    assert!(place.run("runs show last").code(0).out.contains("SIMULATION"));
}

#[test]
#[ignore = "slow"]
fn exported_traces_are_the_same_bytes_each_time() {
    let traces = |line: &str| {
        let place = Place::new();
        place.run(line).code(1);
        place.run("runs export last").code(0).out
    };
    let first = traces("test tools@sim/careless --cases 200 --actions 3..8 -q");
    assert_eq!(first.lines().filter(|line| line.contains("\"schema\"")).count(), 200);
    // Neither time nor the order in which runs end shows in them.
    assert!(first == traces("test tools@sim/careless --cases 200 --actions 3..8 -q --concurrency 3"));
    assert!(first != traces("test tools@sim/careless --cases 200 --actions 3..8 -q --seed 8"));
    // Nor whether the conversation goes along or is kept.
    let kept = traces("test responses@sim/careless --cases 200 --actions 3..8 -q");
    assert!(kept == traces("test responses@sim/careless --cases 200 --actions 3..8 -q --concurrency 3"));
    assert!(kept.replace("responses@sim/careless", "tools@sim/careless") == first);
}

#[test]
fn former_campaigns_can_be_looked_at() {
    let place = Place::new();
    let printed = report(&place, "test tools@sim/perfect --cases 20", 0);
    let careless = report(&place, "test tools@sim/careless --cases 40", 1);
    let list = json_lines(&place.run("runs list --json").code(0).out);
    let agents: Vec<&Value> = list.iter().map(|campaign| &campaign["agent"]).collect();
    assert_eq!(agents, ["tools@sim/careless", "tools@sim/perfect"], "the newest first");
    assert_eq!(list[1]["finished"], 20);
    assert_eq!((&list[0]["passed"], &list[0]["failed"]), (&careless["passed"], &careless["failed"]));

    let id = list[1]["run"].as_str().unwrap();
    let mut shown = place.run(&format!("runs show {id} --json")).code(0).json();
    // Times are kept in whole milliseconds.
    shown["agent_seconds"] = printed["agent_seconds"].clone();
    assert_eq!(shown, printed);
    let last = place.run("runs show last").code(0).out;
    assert!(last.contains("Finding 1") && last.contains('«'), "{last}");
    let case = last.lines().find_map(|line| line.split_once(" --case ")).unwrap().1;
    let case = place.run(&format!("runs show last --case {case}")).code(0).out;
    assert!(
        case.starts_with("case 7-") && case.contains("order_error") && case.contains("\ntrace:\n"),
        "{case}"
    );
    assert!(case.contains('«'), "{case}");

    let export =
        |format: &str| json_lines(&place.run(&format!("runs export {id} --format {format}")).code(0).out);
    assert_eq!(export("cases"), json_lines(&place.run("synth --count 20").code(0).out));
    let verdicts = export("verdicts");
    assert_eq!(verdicts.len(), 20);
    assert!(
        verdicts
            .iter()
            .all(|verdict| verdict["schema"] == "planproof/verdict/v1" && verdict["passed"] == true)
    );
    assert_eq!(export("traces").iter().filter(|line| line["schema"] == "planproof/trace/v1").count(), 20);
}

/// A page without its markup, each stretch of white space as one blank.
fn without_markup(page: &str) -> String {
    let texts = page.split('<').map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text));
    let text = texts.collect::<Vec<_>>().join(" ");
    let text = text.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_terminal_and_the_page_say_the_same_of_a_run() {
    let place = Place::new();
    for (line, status) in [
        ("test tools@sim/careless --cases 30", 1),
        ("test react@sim/careless --cases 30", 1),
        ("test tools@sim/careless --cases 12 --time", 1),
        ("test tools@sim/careless --cases 20 --infeasible 1", 1),
    ] {
        place.run(&format!("{line} -q")).code(status);
        place.run("report last --html page.html -q").code(0);
        let page = without_markup(&fs::read_to_string(place.path("page.html")).unwrap());
        let shown = place.run("runs show last --findings 3").code(0).out;
        let failed =
            shown.lines().filter_map(|line| line.split_once(" --case ")).map(|(_, id)| id.to_owned());
        let mut cases: Vec<String> = failed.collect();
        assert!(!cases.is_empty(), "{line}: {shown}");
        // One that passed, which the page shows folded.
        let passed = page.split("Runs that passed").nth(1).and_then(|rest| rest.split("case ").nth(1));
        cases.extend(passed.and_then(|rest| rest.split(',').next()).map(str::to_owned));
        for case in cases {
            let details = place.run(&format!("runs show last --case {case}")).code(0).out;
            let (_, rest) = details.split_once("\nconstraints:\n").unwrap_or(("", details.as_str()));
            let (checks, trace) = rest.split_once("\ntrace:\n").unwrap();
            for check in checks.lines().filter(|line| !line.is_empty()) {
                // "  ✓ held      A before B (c1)"
                let check = check.split_whitespace().skip(2).collect::<Vec<_>>().join(" ");
                let check = check.replace(['(', ')'], "").replace("conflict ", "");
                assert!(page.contains(&check), "{line}, {case}: {check}");
            }
            for note in trace.lines().filter_map(|line| line.strip_prefix("    ")) {
                let (_, said) = note.split_once(": ").unwrap_or(("", note));
                let said = said.replace("first wrong call. ", "First wrong call. ");
                assert!(page.contains(&said), "{line}, {case}: {said}");
            }
            let wrong = details.lines().find_map(|line| line.trim_start().strip_prefix("first wrong call:"));
            if let Some(wrong) = wrong {
                assert!(page.contains(wrong.trim()), "{line}, {case}: {wrong}");
                assert!(trace.contains("first wrong call"), "{details}");
            }
            let took = details.lines().last().unwrap();
            assert!(took.contains("written by the model") && page.contains(took), "{line}, {case}: {took}");
        }
    }
}

#[test]
fn the_store_can_be_named_anywhere_in_the_line() {
    let place = Place::new();
    place.run("test tools@sim/perfect --cases 2 -q --store sub/other.db").code(0);
    assert!(place.path("sub/other.db").exists() && !place.path(".planproof").exists());
    for line in ["runs list --store sub/other.db", "runs --store sub/other.db list"] {
        assert!(place.run(line).code(0).out.contains("tools@sim/perfect"));
    }
    let mut command = place.command(&["runs", "list"]);
    command.env("PLANPROOF_STORE", "sub/other.db");
    assert!(crate::support::Run::of(command, "").code(0).out.contains("tools@sim/perfect"));
}

#[test]
fn a_finished_campaign_is_not_run_again() {
    let place = Place::new();
    let first = report(&place, "test tools@sim/careless --cases 50", 1);
    let (_, before) = crate::stored::finished(&place).unwrap();
    let again = report(&place, "test --resume last", 1);
    let (_, after) = crate::stored::finished(&place).unwrap();
    assert_eq!(before, after);
    assert_eq!((&again["classes"], &again["by_size"]), (&first["classes"], &first["by_size"]));
}

#[test]
fn cases_of_a_file_are_used_as_they_are() {
    let place = Place::new();
    place.write(
        "cases.jsonl",
        &place.run("synth --count 30 --seed 3 --actions 6 --distractors 2").code(0).out,
    );
    let from_file = report(&place, "test tools@sim/in-order --from cases.jsonl", 1);
    let drawn = report(&place, "test tools@sim/in-order --cases 30 --seed 3 --actions 6 --distractors 2", 1);
    assert_eq!((&from_file["passed"], &from_file["by_size"]), (&drawn["passed"], &drawn["by_size"]));
}

#[test]
fn few_iterations_are_a_timeout() {
    let place = Place::new();
    let report = report(&place, "test tools@sim/perfect --cases 20 --actions 4 --iterations 4", 1);
    // Four calls are made, but the answer would be the fifth turn.
    assert_eq!(report["classes"]["timeout"], 20);
    assert_eq!(report["flags"]["action_lost"], 0);
}

/// The default leaves room for what a right agent may need, in cases of any size and with all restarts.
#[test]
#[ignore = "slow"]
fn the_default_of_iterations_follows_from_the_case() {
    let place = Place::new();
    for (agent, options, most) in [
        ("tools@sim/perfect", "--actions 49", 54),
        ("tools@sim/perfect", "--actions 55 --distractors 3", 61),
        ("tools@sim/perfect", "--actions 64", 71),
        ("tools@sim/perfect", "--time --actions 24", 687),
        // These have a limit on sub-tasks as well, and need two turns for each.
        ("one-step@sim/perfect", "--actions 60", 133),
        ("sequential@sim/perfect", "--actions 60", 133),
        ("hierarchical@sim/perfect", "--actions 60", 133),
        ("team@sim/gold", "--actions 60", 67),
    ] {
        let run = place.run(&format!("test {agent} --cases 2 --json {options}")).code(0);
        assert_eq!(run.json()["passed"], 2, "{options}: {run:?}");
        assert!(run.err.contains(&format!("up to {most} turns")), "{options}: {run:?}");
        // It belongs to the campaign, so a resumed one has the same.
        place.run("test --resume last").code(0);
    }
    // A smaller one that is given by hand is warned of before anything is done.
    let run = place.run("test tools@sim/perfect --cases 4 --actions 55 --iterations 50 --json").code(1);
    assert_eq!(run.json()["classes"]["timeout"], 4);
    assert!(run.err.contains("a right agent may need 55 calls"), "{run:?}");
    let run = place.run("test tools@sim/perfect --cases 2 --actions 3 --json").code(0);
    assert!(!run.err.contains("model turns"), "{run:?}");
}

/// Findings come before figures, with numbers that the page has, too; what few need comes with --details alone.
#[test]
fn findings_come_first_and_details_when_asked() {
    let place = Place::new();
    let run = place.run("test tools@sim/in-order --cases 30 --actions 3..5 --html page.html").code(1);
    let at = |text: &str| run.out.find(text).unwrap_or_else(|| panic!("no {text:?} in {run:?}"));
    assert!(
        at("Passed:") < at("Finding 1: order_error, case ") && at("Finding 3: ") < at(" Actions   Cases")
    );
    assert!(at(" Actions   Cases") < at("All figures: planproof runs show"), "{run:?}");
    assert!(!run.out.contains("by wording and by what they demand"), "{run:?}");
    assert_eq!(run.out.matches("\nseal ").count(), 1, "{run:?}");
    // Each violated sentence is marked and not repeated; what was done is said.
    let (_, first) = run.out.split_once("Finding 1: ").unwrap();
    let violated = first.lines().find_map(|line| line.strip_prefix("  violated: ")).unwrap();
    assert!(violated.contains(" came before ") && !violated.contains('"'), "{violated}");
    let page = std::fs::read_to_string(place.path("page.html")).unwrap();
    for number in 1..=3 {
        let case = run.out.split(&format!("Finding {number}: order_error, case ")).nth(1).unwrap();
        let case = case.split(' ').next().unwrap();
        let shown = format!("Finding {number}</span> <span class=\"class\">order_error</span> case {case},");
        assert!(page.contains(&shown), "{shown}");
    }
    let details = place.run("runs show last --details").code(0).out;
    assert!(details.contains("by wording and by what they demand") && !details.contains("All figures:"));
}

/// An agent that does as one without a plan is said to; others are not.
#[test]
fn what_an_agent_behaves_like_is_said() {
    let place = Place::new();
    for (model, like) in
        [("in-order", Some("calling tools in the order of mention")), ("perfect", None), ("careless", None)]
    {
        let run = place.run(&format!("test tools@sim/{model} --cases 40 --html page.html"));
        let page = std::fs::read_to_string(place.path("page.html")).unwrap();
        assert_eq!(page.contains("Behaves like"), like.is_some(), "{model}");
        match like {
            Some(like) => {
                let said = format!("Behaves like {like}: 40 of 40 cases agree, 100.0 [91.2, 100.0] %");
                assert!(run.out.contains(&said), "{run:?}");
                let json = place.run("runs show last --json").code(0).json();
                assert_eq!(
                    (&json["behaves_like"]["name"], &json["behaves_like"]["alike"]),
                    (&json!("mention"), &json!(40))
                );
            }
            None => assert!(!run.out.contains("Behaves like"), "{run:?}"),
        }
    }
}

/// An agent that has changed is compared with itself on the same cases, whatever seed was drawn for it.
#[test]
fn a_campaign_like_another_has_its_cases_and_rules() {
    let place = Place::new();
    let first = "test tools@sim/in-order --cases 9 --actions 3..4 --seed 88 --distractors 1 --repeat 2 --allow-repeats \
                 --iterations 30 --timeout 77";
    place.run(first).code(1);
    let run = place.run("test tools@sim/careless --like last --label second");
    assert!(run.code <= 1, "{run:?}");
    let runs = json_lines(&place.run("runs list --json").code(0).out);
    let (second, first) = (runs[0]["run"].as_str().unwrap(), runs[1]["run"].as_str().unwrap());
    let compared = place.run(&format!("report {first} {second} --json")).code(0).json();
    assert_eq!(compared["common"], 9, "{compared}");
    let options = |run: &str| {
        let out = place.run(&format!("runs show {run} --json")).code(0).json();
        json!([out["cases"], out["repeats"], out["runs"]])
    };
    assert_eq!(options(first), options(second));
    let cases = |run: &str| place.run(&format!("runs export {run} --format cases")).code(0).out;
    assert_eq!(cases(first), cases(second));
    // The command line says otherwise.
    place.run(&format!("test tools@sim/perfect --like {first} --repeat 1 -q")).code(0);
    assert_eq!(place.run("runs show last --json").code(0).json()["runs"], 9);
    for (line, said) in [
        ("test tools@sim/perfect --like last --seed 3", "leave --seed out"),
        ("test tools@sim/perfect --like last --cases 3", "cannot be used with"),
        ("test tools@sim/perfect --like nothing", "nothing"),
    ] {
        let run = place.run(line).code(2);
        assert!(run.err.contains(said), "{line}: {run:?}");
    }
    place.run("bench gsm8k direct@sim/gold --limit 1 -q").code(0);
    let run = place.run("test tools@sim/perfect --like last").code(2);
    assert!(run.err.contains("is of the suite gsm8k"), "{run:?}");
}

/// Nobody counts the tokens of a program that brings a model of its own, or has none.
#[cfg(unix)]
#[test]
fn tokens_that_nobody_counted_are_unknown() {
    let place = Place::new();
    place.run("test command:true --cases 2 --csv r.csv --html page.html");
    let report = place.run("runs show last --json").json();
    assert!(report["tokens"].is_null(), "{report}");
    place.run("test tools@sim/perfect --cases 2 -q").code(0);
    assert!(place.run("runs show last --json").code(0).json()["tokens"]["input"].as_u64() > Some(0));
}
