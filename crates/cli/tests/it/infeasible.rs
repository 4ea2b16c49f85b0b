//! Infeasible cases on the command line.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::{Place, json_lines};

/// A place with `c.json`: an infeasible case of four sentences, the conflict of which is between three.
fn place() -> (Place, Vec<u64>) {
    let place = Place::new();
    let cases = json_lines(&place.run("synth --infeasible 1 --count 40 --actions 4..5 --seed 3").code(0).out);
    let conflict = |case: &serde_json::Value| -> Vec<u64> {
        case["conflict"].as_array().unwrap().iter().filter_map(serde_json::Value::as_u64).collect()
    };
    let is_wanted = |case: &&serde_json::Value| {
        conflict(case).len() == 3 && case["paragraph"].as_str().unwrap().matches('.').count() == 4
    };
    let case = cases.iter().find(is_wanted).expect("there is one");
    place.write("c.json", &case.to_string());
    (place, conflict(case))
}

fn report(numbers: &[u64]) -> String {
    format!("report_conflict@{}", numbers.iter().map(u64::to_string).collect::<Vec<_>>().join("+"))
}

#[test]
fn a_report_gets_its_verdict() {
    let (place, conflict) = place();
    let check =
        |calls: &str, code: i32| place.run(&format!("check --case c.json --calls {calls}")).code(code);
    assert_snapshot!("exact", check(&report(&conflict), 0).out);
    assert_snapshot!("superset", check(&report(&[1, 2, 3, 4]), 0).out);
    assert_snapshot!("acted", check(&format!("a1,{}", report(&conflict)), 1).out);
    let other = check(&report(&conflict[..2]), 0).out;
    assert!(other.contains("which is not the conflict"), "{other}");
    // Again and out of any order is the same, and what is not there is only told.
    let again = check("report_conflict@9+9+1", 0).out;
    assert!(again.contains("reported: sentences 1 and 9, which is not the conflict"), "{again}");
    for (calls, reason) in [
        ("report_conflict@one+2", "\"one\" is not of type \"integer\""),
        ("report_conflict@0", "0 is less than the minimum of 1"),
        ("report_conflict@", "[] has less than 1 item"),
    ] {
        let refused = check(calls, 1).out;
        assert!(refused.contains("act_error") && refused.contains(reason), "{refused}");
    }
    let missing = place.run("check --case c.json --calls report_conflict").code(2);
    assert!(
        missing.err.contains("add the numbers of the sentences, as in report_conflict@1+3"),
        "{missing:?}"
    );
    let verdict =
        place.run(&format!("check --case c.json --json --calls {}", report(&conflict))).code(0).json();
    assert_eq!(verdict["conflict"], json!({"sentences": conflict, "reported": conflict, "named": "exact"}));
    // The file's own reader agrees that text and constraints say the same.
    place.run("read c.json --verify").code(0);
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let place = Place::new();
    for share in ["-0.1", "1.1", "NaN", "half", "20%"] {
        let run = place.run(&format!("synth --infeasible {share}")).code(2);
        assert!(run.err.contains("a number from 0 to 1, as 0.2"), "{share}: {run:?}");
    }
    let run = place.run("synth --infeasible 0.5 --sentences-max 1").code(2);
    assert!(
        run.err.contains("--sentences-max is 1; it must be at least 2 where cases are infeasible"),
        "{run:?}"
    );
    let run = place.run("test tools@sim/perfect --from c.json --infeasible 0.5").code(2);
    assert!(run.err.contains("--infeasible"), "{run:?}");
    let run = place.run("limit tools@sim/perfect --infeasible 0.5").code(2);
    assert!(run.err.contains("unexpected argument '--infeasible'"), "{run:?}");
    let crowded = "synth --infeasible 1 --actions 40 --sentences-max 2 --count 1";
    let run = place.run(crowded).code(2);
    assert!(run.err.contains("no infeasible case found in 1000 draws"), "{run:?}");
}

#[test]
#[ignore = "slow"]
fn a_campaign_scores_them_apart() {
    let place = Place::new();
    place.write("planproof.toml", "[test]\ninfeasible = 0.4\ncases = 60\n");
    let run = place.run("test tools@sim/careless --findings 0 -q").code(1);
    assert!(run.out.contains("cases and ") && run.out.contains(" infeasible ones"), "{run:?}");
    for row in [" detected ", " named exactly ", " false alarms "] {
        assert!(run.out.contains(row), "{run:?}");
    }
    let stored = place.run("runs show last --json").code(0).json();
    let again = place.run("runs show last --judge-again --json").code(0).json();
    assert_eq!(stored["infeasible"], again["infeasible"]);
    let all = stored["runs"].as_u64().unwrap() + stored["infeasible"]["runs"].as_u64().unwrap();
    assert_eq!(all, 60);
    // Those who detect all of them and pass all others have passed; who passes all others alone has not.
    place.run("test tools@sim/perfect -q").code(0);
    let ids: Vec<String> = json_lines(&place.run("runs list --json").code(0).out)
        .iter()
        .map(|run| run["run"].as_str().unwrap().to_owned())
        .collect();
    let compared = place.run(&format!("report {} {}", ids[1], ids[0])).code(0).out;
    assert!(compared.contains("Infeasible, scored separately: "), "{compared}");
    let table = place.run(&format!("report {} {} {}", ids[1], ids[0], ids[1])).code(0).out;
    assert!(table.contains("of the separately scored cases in all campaigns, "), "{table}");
    let only = place.run("test tools@sim/in-order --infeasible 1 --cases 5 -q --json").code(1).json();
    assert_eq!((&only["runs"], &only["infeasible"]["failed"]), (&json!(0), &json!(5)));
    // The cases of a campaign can be run again from a file.
    let cases = place.run("runs export last --format cases").code(0).out;
    place.write("cases.jsonl", &cases);
    let report = place.run("test tools@sim/perfect --from cases.jsonl -q --json").code(0).json();
    assert_eq!((&report["infeasible"]["exact"], &report["infeasible"]["runs"]), (&json!(5), &json!(5)));
}

#[test]
#[ignore = "slow"]
fn text_agents_external_agents_and_what_follows_a_failure_cope() {
    let place = Place::new();
    for agent in ["react@sim/perfect", "react@sim/careless", "rewoo@sim/perfect", "repair:tools@sim/in-order"]
    {
        let run = place.run(&format!("test {agent} --infeasible 0.5 --cases 20 -q --json"));
        let found = run.json()["infeasible"].clone();
        assert_eq!(found["runs"], found["detected"].as_u64().unwrap() + found["failed"].as_u64().unwrap());
        if agent == "react@sim/perfect" {
            assert_eq!(found["exact"], found["runs"], "{found}");
        }
    }
    let options = "--infeasible 0.5 --cases 12 -q --json --seed 2";
    let dissected = place.run(&format!("test tools@sim/in-order {options} --dissect")).code(1).json();
    assert_eq!(dissected["dissection"]["errors"], dissected["failed"]);
    let shrunk =
        place.run(&format!("test tools@sim/in-order {options} --shrink --shrink-max 12")).code(1).json();
    // Those are shrunk that a plan satisfies; the others are named.
    let skipped = shrunk["shrinking"]["skipped"].as_array().unwrap();
    assert_eq!(json!(skipped.len()), shrunk["infeasible"]["failed"], "{shrunk}");
    assert!(
        skipped.iter().all(|it| it["why"] == "the case is infeasible, and only feasible ones are shrunk")
    );
    let failures = shrunk["shrinking"]["failures"].as_array().unwrap();
    assert!(!failures.is_empty() && failures.iter().all(|it| it["class"] != "conflict_missed"), "{shrunk}");
    for format in ["chat-jsonl", "preference-jsonl"] {
        let lines = place.run(&format!("runs export last --format {format}")).code(0).out;
        assert!(lines.contains("report_conflict"), "{lines}");
    }
}

#[test]
#[ignore = "slow"]
fn every_failure_of_an_infeasible_case_has_a_right_message_to_be_learnt() {
    let place = Place::new();
    for (agent, options) in [
        ("tools@sim/in-order", ""),
        ("tools@sim/in-order", "--time"),
        ("repair:tools@sim/clumsy", "--cases 60"),
        ("tools@sim/endless", "--iterations 9"),
    ] {
        let run = place.run(&format!("test {agent} --infeasible 1 --seed 2 --json -q {options}"));
        let failed = run.code(1).json()["infeasible"]["failed"].as_u64().unwrap() as usize;
        let conflicts: Vec<Value> = json_lines(&place.run("runs export last --format cases").code(0).out)
            .into_iter()
            .map(|case| case["conflict"].clone())
            .collect();
        let exported = place.run("runs export last --format preference-jsonl").code(0);
        assert_eq!(exported.err, "", "{agent}");
        let pairs = json_lines(&exported.out);
        assert_eq!((pairs.len(), failed > 0), (failed, true), "{agent}");
        for pair in pairs {
            let chosen = &pair["preferred_output"][0];
            assert_ne!(*chosen, pair["non_preferred_output"][0]);
            if agent == "tools@sim/endless" {
                // It had reported the conflict, and reported it again and again.
                assert_eq!(chosen["content"], "The requirements cannot all hold, so no task is done.");
                assert_eq!(pair["input"]["messages"].as_array().unwrap().len(), 3, "query, report, answer");
                continue;
            }
            let call = &chosen["tool_calls"][0]["function"];
            assert_eq!(call["name"], "report_conflict", "{pair}");
            let named: Value = serde_json::from_str(call["arguments"].as_str().unwrap()).unwrap();
            assert!(conflicts.contains(&named["sentences"]), "{named}");
        }
    }
}
