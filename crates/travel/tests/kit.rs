//! What the published evaluator says of plans, where the kit that records it is at hand. Where it is not, the tests are
//! *ignored*, which the usual harness cannot say at run time; with `PLANPROOF_CI` set they fail.

#![expect(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

#[path = "../../qa/tests/support/kit.rs"]
mod recorded;

#[path = "kit/reading.rs"]
mod reading;
#[path = "kit/solving.rs"]
mod solving;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::LazyLock;

use libtest_mimic::{Arguments, Trial};
use planproof_travel::TripCompat;
use planproof_travel::evaluate::{CheckResult, TripCheck, TripJudgement, TripScores, judge};
use planproof_travel::plan::TripPlan;
use planproof_travel::query::Query;
use planproof_travel::tables::{
    ACCOMMODATIONS_FILE, ATTRACTIONS_FILE, CITIES_FILE, DISTANCES_FILE, FLIGHTS_FILE, FlightsBuilder,
    RESTAURANTS_FILE, STATES_FILE, Texts, TripDatabase,
};
use serde_json::{Value, json};

fn main() -> ExitCode {
    let trials = vec![
        trial("tables_have_the_published_rows", "data/database", tables_are_read),
        trial("plans_are_judged_as_published", "expected_perturbed.jsonl", plans_are_judged),
        trial("denominators_are_the_published_ones", "data/queries", denominators_are_the_published_ones),
        trial("all_queries_are_solved_in_both_modes", "data/queries", solving::all_are_solved),
        trial(
            "a_dollar_less_is_proved_to_be_too_little",
            "data/queries",
            solving::a_dollar_less_is_too_little,
        ),
        trial("queries_are_read_from_their_words", "data/queries", reading::queries_are_read),
        trial("queries_are_solved_from_their_words", "data/queries", reading::queries_are_solved),
        trial("loopholes_are_closed_in_the_right_mode", "cases_probe.jsonl", loopholes_are_closed),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A test that needs a file of the kit.
fn trial(name: &str, needs: &str, test: fn()) -> Trial {
    recorded::trial(name, kit(needs), test)
}

fn kit(name: &str) -> PathBuf {
    recorded::path("travelplanner", name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(kit(name)).unwrap()
}

fn table(name: &str) -> String {
    text(&format!("data/database/{name}"))
}

fn lines(name: &str) -> Vec<Value> {
    text(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

static DATABASE: LazyLock<TripDatabase> = LazyLock::new(|| {
    let mut flights = FlightsBuilder::new(FLIGHTS_FILE);
    for line in table(FLIGHTS_FILE).lines() {
        flights.line(line).unwrap();
    }
    let texts = Texts {
        accommodations: &table(ACCOMMODATIONS_FILE),
        restaurants: &table(RESTAURANTS_FILE),
        attractions: &table(ATTRACTIONS_FILE),
        distances: &table(DISTANCES_FILE),
        states: &table(STATES_FILE),
        cities: &table(CITIES_FILE),
    };
    TripDatabase::read(&texts, flights.finish()).unwrap()
});

static QUERIES: LazyLock<BTreeMap<&str, Vec<Query>>> = LazyLock::new(|| {
    let read = |set| {
        let file = format!("data/queries/{set}.jsonl");
        (set, Query::read_all(&text(&file), &file).unwrap())
    };
    ["train", "validation"].map(read).into_iter().collect()
});

fn tables_are_read() {
    let counts = [
        DATABASE.stays.rows().len(),
        DATABASE.restaurants.rows().len(),
        DATABASE.attractions.rows().len(),
        DATABASE.flights.len(),
        DATABASE.cities.accepted().len(),
    ];
    assert_eq!(counts, [4285, 9551, 5302, 2011, 311]);
    let counts = QUERIES.values().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(counts, [45, 180]);
}

/// The query of a case, with what the case changes of it.
fn query(case: &Value) -> Query {
    let idx = case["idx"].as_u64().unwrap();
    let query = QUERIES[case["set"].as_str().unwrap()].iter().find(|query| query.idx == idx).unwrap();
    let Some(changes) = case["query_override"].as_object() else { return query.clone() };
    let mut changed = serde_json::to_value(query).unwrap();
    changed.as_object_mut().unwrap().extend(changes.clone());
    Query::read(&changed.to_string()).unwrap()
}

fn value(mark: CheckResult) -> Value {
    match mark {
        CheckResult::Passed => json!(true),
        CheckResult::Failed => json!(false),
        CheckResult::NotAsked => Value::Null,
        CheckResult::Raised(_) => json!("error"),
    }
}

fn marks<const N: usize>(checks: [TripCheck; N], marks: Option<[CheckResult; N]>) -> Value {
    let Some(marks) = marks else { return Value::Null };
    checks.iter().zip(marks).map(|(check, mark)| (check.key(), json!({"v": value(mark)}))).collect()
}

/// All that the kit says of a plan, in its words.
fn recorded(judgement: &TripJudgement, case_id: &Value) -> Value {
    json!({
        "case_id": case_id,
        "delivered": judgement.delivered,
        "commonsense": marks(TripCheck::COMMONSENSE, judgement.commonsense),
        "hard": marks(TripCheck::HARD, judgement.hard),
        "hard_ungated": marks(TripCheck::HARD, judgement.hard_ungated),
        "total_cost": judgement.total_cost,
        "crash": judgement.crash.map(|(check, raised)| format!("{}:{raised}", check.key())),
        "commonsense_pass": judgement.commonsense_pass(),
        "hard_pass": judgement.hard_pass(),
        "final_pass": judgement.final_pass(),
    })
}

const FILES: [(&str, usize); 4] = [("annotated", 29), ("llm", 656), ("perturbed", 813), ("probe", 146)];

fn plans_are_judged() {
    let mut faults = Vec::new();
    for (file, at_least) in FILES {
        let cases = lines(&format!("cases_{file}.jsonl"));
        let cases: HashMap<&str, &Value> =
            cases.iter().map(|case| (case["case_id"].as_str().unwrap(), case)).collect();
        let expected = lines(&format!("expected_{file}.jsonl"));
        assert!(expected.len() >= at_least, "{file} has only {} cases", expected.len());
        for expected in &expected {
            let case = cases[expected["case_id"].as_str().unwrap()];
            let plan = TripPlan(case["plan"].clone());
            let judgement = judge(&DATABASE, &query(case), &plan, TripCompat::Original);
            let found = recorded(&judgement, &case["case_id"]);
            for (key, expected) in expected.as_object().unwrap() {
                if found[key] != *expected {
                    faults.push(format!(
                        "{} {} {key}: {} and not {expected}",
                        case["case_id"], case["kind"], found[key]
                    ));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{} differ:\n{}", faults.len(), faults.join("\n"));
}

/// Per file: plans that are good in both modes, in the original one alone, and in the right one alone.
const GOOD: [(&str, [usize; 3]); 4] = [
    // The one that is lost looks at sights of another city on a day without travel.
    ("annotated", [44, 1, 0]),
    ("llm", [30, 3, 0]),
    ("perturbed", [242, 108, 57]),
    // Those that are lost fill in the least that passes.
    ("probe", [155, 69, 0]),
];

fn loopholes_are_closed() {
    for (file, expected) in GOOD {
        let mut counts = [0; 3];
        for case in lines(&format!("cases_{file}.jsonl")) {
            let (query, plan) = (query(&case), TripPlan(case["plan"].clone()));
            let original = judge(&DATABASE, &query, &plan, TripCompat::Original).final_pass();
            let right = judge(&DATABASE, &query, &plan, TripCompat::Right);
            match (original, right.final_pass()) {
                (true, true) => counts[0] += 1,
                (true, false) => {
                    assert!(!right.loopholes().is_empty(), "{}: {:?}", case["case_id"], right.findings);
                    counts[1] += 1;
                }
                (false, true) => counts[2] += 1,
                (false, false) => {}
            }
        }
        assert_eq!(counts, expected, "{file}");
    }
}

/// The constants of the published scores come out of the queries.
fn denominators_are_the_published_ones() {
    for (set, commonsense, hard) in [("train", 360, 105), ("validation", 1440, 420)] {
        let mut scores = TripScores::default();
        for query in &QUERIES[set] {
            scores.add(query, &judge(&DATABASE, query, &TripPlan(Value::Null), TripCompat::Original));
        }
        let rates = scores.rates(|_, _| true);
        assert_eq!((rates.commonsense_micro.of, rates.hard_micro.of), (commonsense, hard), "{set}");
    }
}
