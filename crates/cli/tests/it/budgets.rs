//! `--max-cost`, `--max-tokens`, `--minutes` and `--prices`.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::recording::{agent_command, with_agent, without_times};
use crate::stand_in::{StandIn, model_command, say};
use crate::stored::{assert_kept, finished};
use crate::support::{Place, Run, json_lines};

/// Prices for simulated models: a dollar for a million tokens read, ten for a million written.
fn write_prices(place: &Place) {
    let models =
        ["sim/careless", "sim/perfect"].map(|model| json!({"model": model, "input": 1, "output": 10}));
    let prices = json!({
        "schema": "planproof/prices/v1", "as_of": "2026-01-01", "unit": "USD per million tokens", "models": models
    });
    place.write("prices.json", &prices.to_string());
}

/// Numbers that do not depend on how often the campaign was begun.
fn results(report: &Value) -> Value {
    json!([report["passed"], report["classes"], report["flags"], report["by_size"], report["tokens"]])
}

#[test]
fn a_budget_is_kept_reported_and_enlarged() {
    let place = Place::new();
    write_prices(&place);
    let whole =
        place.run("test tools@sim/careless --cases 120 -q --json --prices prices.json").code(1).json();
    let cost = whole["cost"].as_f64().unwrap();
    let tokens = |name: &str| whole["tokens"][name].as_f64().unwrap();
    assert!((cost - (tokens("input") + 10.0 * tokens("output")) / 1e6).abs() < 1e-9, "{whole}");

    for concurrency in [1, 8, 64] {
        let place = Place::new();
        write_prices(&place);
        let budget = cost / 2.0;
        let line =
            format!("test tools@sim/careless --cases 120 --concurrency {concurrency} --prices prices.json");
        let run = place.run(&format!("{line} --max-cost {budget:.6} -q --json"));
        let report = run.json();
        let spent = report["cost"].as_f64().unwrap();
        assert!(spent <= budget + 1e-9, "{spent} of {budget}");
        let (done, left) = (report["cases"].as_u64().unwrap(), report["not_run"].as_u64().unwrap());
        // Each run in progress has reserved the maximum of its next request, so several of them end it early.
        assert!(done + left == 120 && left > 0 && (done > 20 || concurrency > 1), "{report}");
        assert_eq!((&report["unscored"], &report["cost_is_estimate"]), (&json!(0), &json!(false)));
        let ended_by = report["ended_by"].as_str().unwrap();
        assert!(ended_by.starts_with("0.") && ended_by.ends_with(" USD"), "{ended_by}");
        let (id, before) = finished(&place).unwrap();
        let again = format!("planproof test --resume {id} --max-cost USD");
        let said = format!(
            "Ended by the budget of {ended_by}: {left} of 120 cases were not run. Resume with: {again}"
        );
        assert_eq!(run.err.lines().last(), Some(said.as_str()));
        assert_eq!(before.len() as u64, done);

        // So says the store later.
        let shown = place.run("runs show last --json").code(0);
        assert_eq!(without_times(shown.json()), without_times(report.clone()));
        assert_eq!(shown.err.lines().last(), Some(said.as_str()));
        assert!(place.run("runs show last").code(0).out.contains(&format!("{said}\n")));
        let listed = json_lines(&place.run("runs list --json").code(0).out);
        assert_eq!((&listed[0]["cost"], &listed[0]["ended_by"]), (&report["cost"], &report["ended_by"]));

        // The same budget again would end it at once.
        let run = place.run("test --resume last").code(2);
        assert!(
            run.err.starts_with(&format!("error: of the campaign's budget of {ended_by}, 0.")),
            "{run:?}"
        );
        assert!(
            run.err.contains(" USD are spent") && run.err.ends_with(": set a larger one with --max-cost\n"),
            "{run:?}"
        );
        // The file of prices is known from the beginning.
        let resumed = place.run("test --resume last --max-cost 900 -q --json").code(1).json();
        assert_eq!(results(&resumed), results(&whole));
        assert_eq!((&resumed["ended_by"], &resumed["not_run"]), (&json!(null), &json!(0)));
        let total = resumed["cost"].as_f64().unwrap();
        assert!(
            total >= cost - 1e-9 && total < 2.0 * cost,
            "what was spent for nothing counts: {total} of {cost}"
        );
        assert_kept(&before, &finished(&place).unwrap().1);
    }
}

#[test]
fn a_budget_without_room_for_anything_exits_with_3() {
    let place = Place::new();
    let run = place.run("test tools@sim/perfect --cases 5 --max-tokens 10").code(3);
    assert!(run.out.contains("Ended by the budget of 10 tokens: 5 of 5 cases were not run."), "{run:?}");
    let run = place.run("test --resume last").code(2);
    assert!(
        run.err.starts_with(
            "error: of the campaign's budget of 10 tokens, 0 are spent, and the next request does not fit into the rest: set a \
             larger"
        ),
        "{run:?}"
    );
    assert_eq!(place.run("test --resume last --max-tokens 1000000 -q --json").code(0).json()["passed"], 5);
    // It is complete, so its old budget is no matter.
    place.run("test --resume last -q").code(0);
}

#[test]
fn budgets_that_make_no_sense_are_refused_before_anything_is_sent() {
    let place = Place::new();
    let server = StandIn::start(|_, _| say("Well."));
    place.write(
        "bad.json",
        "{\"schema\":\"planproof/prices/v1\",\"as_of\":\"2026\",\"unit\":\"EUR\",\"models\":[]}",
    );
    place.write("worse.json", "{\n\"schema\":");
    let not_seen = "planproof cannot see what this agent's model uses; use --minutes, or give a command: agent a model \
                    with --serve-model";
    for (line, message) in [
        (
            "test tools@openai/m --max-cost 1",
            "--max-cost: the price of openai/m is not known; give it with --prices FILE, or use --max-tokens"
                .to_owned(),
        ),
        ("test command:true --max-cost 1", format!("--max-cost: {not_seen}")),
        ("test command:true --max-tokens 1", format!("--max-tokens: {not_seen}")),
        ("test url:http://127.0.0.1:1/ --max-tokens 1", format!("--max-tokens: {not_seen}")),
        (
            "test tools@openai/m --max-cost 0",
            "--max-cost is 0; it must be above 0 and at most 1000000 US dollars".to_owned(),
        ),
        (
            "test tools@openai/m --max-cost nan",
            "--max-cost is nan; it must be above 0 and at most 1000000 US dollars".to_owned(),
        ),
        (
            "test tools@openai/m --max-tokens 0",
            "--max-tokens is 0; it must be a whole number from 1 to 18446744073709551615".to_owned(),
        ),
        (
            "test tools@openai/m --minutes 0",
            "--minutes is 0; it must be above 0 and at most 10080 minutes".to_owned(),
        ),
        (
            "test tools@openai/m --prices bad.json",
            "--prices bad.json: its unit is \"EUR\"; write the prices in \"USD per million tokens\""
                .to_owned(),
        ),
        (
            "test tools@openai/m --prices worse.json",
            "--prices worse.json: it is no file of prices: EOF while parsing a value at line 2 column 9; docs/files.md shows the form of one"
                .to_owned(),
        ),
        (
            "test tools@openai/m --prices missing.json",
            "cannot read missing.json: No such file or directory (os error 2)".to_owned(),
        ),
    ] {
        let run = Run::of(model_command(&place, line, server.base_url()), "").code(2);
        assert_eq!(run.err, format!("error: {message}\n"), "{line}");
    }
    assert_eq!(server.requests(), 0);
    assert!(!place.path(".planproof").exists(), "the store was touched");
}

#[test]
fn prices_of_the_environment_hold() {
    let place = Place::new();
    write_prices(&place);
    let mut command =
        place.command(&["test", "tools@sim/perfect", "--cases", "3", "--max-cost", "1", "-q", "--json"]);
    command.env("PLANPROOF_PRICES", "prices.json");
    let report = Run::of(command, "").code(0).json();
    assert!(report["cost"].as_f64().unwrap() > 0.0, "{report}");
    // Without a price there is no cost.
    assert_eq!(place.run("test tools@sim/perfect --cases 3 -q --json").code(0).json()["cost"], Value::Null);
    // A model that is well known has one.
    let server = StandIn::start(|_, _| say("Well."));
    let line = "test tools@openai/gpt-5-mini-2025-08-07 --cases 2 -q --json";
    let report = Run::of(model_command(&place, line, server.base_url()), "").code(1).json();
    // The server counts 11 tokens read and 7 written for each.
    assert_eq!(report["cost"], json!(2.0 * (11.0 * 0.25 + 7.0 * 2.0) / 1e6));
}

#[test]
fn the_time_of_a_campaign_has_an_end() {
    let place = Place::new();
    // The first four requests are answered, the others never.
    let server = StandIn::start(|number, _| {
        if number >= 4 {
            std::thread::sleep(Duration::from_secs(3600));
        }
        say("Well.")
    });
    let start = Instant::now();
    let line = "test tools@openai/m --cases 10 --concurrency 2 --minutes 0.02 -q --json";
    let run = Run::of(model_command(&place, line, server.base_url()), "").code(1);
    assert!(start.elapsed() < Duration::from_secs(60));
    let report = run.json();
    assert_eq!((&report["cases"], &report["failed"], &report["not_run"]), (&json!(4), &json!(4), &json!(6)));
    assert_eq!((&report["unscored"], &report["ended_by"]), (&json!(0), &json!("0.02 minutes")));
    let (id, before) = finished(&place).unwrap();
    let said = format!(
        "Ended by the budget of 0.02 minutes: 6 of 10 cases were not run. Resume with: planproof test --resume {id}"
    );
    assert_eq!(run.err.lines().last(), Some(said.as_str()));
    let server = StandIn::start(|_, _| say("Well."));
    let resumed = model_command(&place, "test --resume last --minutes 60 -q --json", server.base_url());
    let report = Run::of(resumed, "").code(1).json();
    assert_eq!((&report["cases"], &report["ended_by"]), (&json!(10), &json!(null)));
    assert_eq!(server.requests(), 6);
    assert_kept(&before, &finished(&place).unwrap().1);
}

#[test]
fn a_cache_costs_nothing() {
    let place = Place::new();
    write_prices(&place);
    let line = "test tools@sim/perfect --cases 6 --prices prices.json --cache c.jsonl -q --json";
    let first = place.run(line).code(0).json();
    assert!(first["cost"].as_f64().unwrap() > 0.0);
    let again = place.run(&format!("{line} --max-cost 0.000001")).code(0).json();
    assert_eq!((&again["cost"], &again["tokens"]), (&json!(0.0), &first["tokens"]));
}

#[test]
fn tokens_of_a_served_model_are_counted_and_held_to_a_budget() {
    let place = Place::new();
    let agent = agent_command();
    let words = |budget: &'static str| {
        [
            "test",
            &agent,
            "--serve-model",
            "sim/perfect",
            "--cases",
            "6",
            "--max-tokens",
            budget,
            "--concurrency",
            "2",
            "-q",
            "--json",
        ]
        .map(str::to_owned)
    };
    let run = |budget: &'static str| {
        let words = words(budget);
        with_agent(&place, &words.iter().map(String::as_str).collect::<Vec<_>>(), "Please:")
    };
    let whole = run("1000000").code(1).json();
    assert_eq!((&whole["cases"], &whole["not_run"]), (&json!(6), &json!(0)));
    let cut = run("2000").json();
    let (done, left) = (cut["cases"].as_u64().unwrap(), cut["not_run"].as_u64().unwrap());
    assert!(left > 0 && done + left == 6, "{cut}");
    assert_eq!(cut["ended_by"], "2000 tokens");
    let tokens = cut["tokens"]["input"].as_u64().unwrap() + cut["tokens"]["output"].as_u64().unwrap();
    assert!(tokens <= 2000, "{cut}");
    let words = ["test", "--resume", "last", "--max-tokens", "1000000", "-q", "--json"];
    let resumed = with_agent(&place, &words, "Please:").code(1).json();
    assert_eq!((&resumed["cases"], &resumed["classes"]), (&json!(6), &whole["classes"]));
}
