//! How TravelPlanner's published evaluator judges plans.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result};
use planproof_travel::TripCompat;
use planproof_travel::evaluate::{CheckResult, TripCheck, TripJudgement, judge};
use planproof_travel::plan::TripPlan;
use planproof_travel::query::Query;
use planproof_travel::tables::{
    ACCOMMODATIONS_FILE, ATTRACTIONS_FILE, CITIES_FILE, DISTANCES_FILE, FLIGHTS_FILE, FlightsBuilder,
    RESTAURANTS_FILE, STATES_FILE, Texts, TripDatabase,
};
use serde_json::{Value, json};

/// The published query sets that the cases refer to.
const SETS: [&str; 2] = ["train", "validation"];

/// The files of cases.
const FILES: [&str; 4] = ["annotated", "perturbed", "llm", "probe"];

pub(super) fn lines(directory: &Path) -> Result<Vec<String>> {
    let database = database(&directory.join("data/database"))?;
    let mut queries = HashMap::new();
    for set in SETS {
        let file = format!("data/queries/{set}.jsonl");
        for query in Query::read_all(&read(&directory.join(&file))?, &file)? {
            queries.insert((set, query.idx), query);
        }
    }
    let mut all = Vec::new();
    for file in FILES {
        let text = read(&directory.join(format!("cases_{file}.jsonl")))?;
        for line in text.lines() {
            let mut case: Value = serde_json::from_str(line)?;
            let query = query(&case, &queries).with_context(|| format!("{file}: {}", case["case_id"]))?;
            let plan = TripPlan(case["plan"].take());
            let judgement = judge(&database, &query, &plan, TripCompat::Original);
            all.push(recorded(file, &case["case_id"], &judgement).to_string());
        }
    }
    Ok(all)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))
}

/// All tables below a directory.
fn database(directory: &Path) -> Result<TripDatabase> {
    let path = directory.join(FLIGHTS_FILE);
    let file = File::open(&path).with_context(|| format!("{} cannot be read", path.display()))?;
    let mut flights = FlightsBuilder::new(FLIGHTS_FILE);
    for line in BufReader::new(file).lines() {
        flights.line(&line?)?;
    }
    let text = |name: &str| read(&directory.join(name));
    let texts = Texts {
        accommodations: &text(ACCOMMODATIONS_FILE)?,
        restaurants: &text(RESTAURANTS_FILE)?,
        attractions: &text(ATTRACTIONS_FILE)?,
        distances: &text(DISTANCES_FILE)?,
        states: &text(STATES_FILE)?,
        cities: &text(CITIES_FILE)?,
    };
    Ok(TripDatabase::read(&texts, flights.finish())?)
}

/// The query of a case, with the changes the case makes to it.
fn query(case: &Value, queries: &HashMap<(&str, u64), Query>) -> Result<Query> {
    let set = case["set"].as_str().context("there is no set")?;
    let idx = case["idx"].as_u64().context("there is no idx")?;
    let query = queries.get(&(set, idx)).with_context(|| format!("{set} has no query {idx}"))?;
    // Some perturbed cases change fields of their query, such as the number of people, and not the plan.
    let Some(changes) = case["query_override"].as_object() else { return Ok(query.clone()) };
    let mut changed = serde_json::to_value(query)?;
    changed.as_object_mut().context("a query is no object")?.extend(changes.clone());
    Ok(Query::read(&changed.to_string())?)
}

fn recorded(file: &str, case_id: &Value, judgement: &TripJudgement) -> Value {
    json!({
        "file": file,
        "case_id": case_id,
        "delivered": judgement.delivered,
        "commonsense": marks(&TripCheck::COMMONSENSE, judgement.commonsense.as_ref().map(<[CheckResult; 8]>::as_slice)),
        "hard": marks(&TripCheck::HARD, judgement.hard.as_ref().map(<[CheckResult; 5]>::as_slice)),
        "total_cost": judgement.total_cost,
        "crash": judgement.crash.is_some(),
        "commonsense_pass": judgement.commonsense_pass(),
        "hard_pass": judgement.hard_pass(),
        "final_pass": judgement.final_pass(),
    })
}

fn marks(checks: &[TripCheck], marks: Option<&[CheckResult]>) -> Value {
    let Some(marks) = marks else { return Value::Null };
    let value = |mark: &CheckResult| match mark {
        CheckResult::Passed => json!(true),
        CheckResult::Failed => json!(false),
        CheckResult::NotAsked => Value::Null,
        CheckResult::Raised(_) => json!("error"),
    };
    checks.iter().zip(marks).map(|(check, mark)| (check.key(), value(mark))).collect()
}
