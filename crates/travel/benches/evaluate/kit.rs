//! The cases of the kit, judged by us and looked up in a plain way.

use std::collections::HashMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use planproof_travel::TripCompat;
use planproof_travel::entry::{flight_number, from_to, name_city, strip_parenthesis};
use planproof_travel::evaluate::judge;
use planproof_travel::plan::{ACCOMMODATION, ATTRACTION, MEALS, TRANSPORTATION, TripPlan};
use planproof_travel::query::Query;
use planproof_travel::tables::{
    ACCOMMODATIONS_FILE, ATTRACTIONS_FILE, CITIES_FILE, CityTable, DISTANCES_FILE, FLIGHTS_FILE,
    FlightsBuilder, Place, RESTAURANTS_FILE, STATES_FILE, Texts, TripDatabase,
};
use serde_json::Value;

const KIT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/kits/travelplanner");
const FILES: [&str; 4] = ["annotated", "llm", "perturbed", "probe"];
const ROUNDS: usize = 9;

/// Each case of so many is judged: a scan of all rows for all cases would take most of an hour.
const EVERY: usize = 16;

/// How often the published evaluator looks the same entry up: in the check of the sandbox, for the cost, and for what
/// was asked of meals and rooms.
const LOOK_UPS_OF_A_MEAL: usize = 3;
const LOOK_UPS_OF_A_STAY: usize = 5;
const LOOK_UPS_OF_A_WAY: usize = 2;

fn text(name: &str) -> String {
    std::fs::read_to_string(Path::new(KIT).join(name)).expect("a file of the kit")
}

struct Tables {
    database: TripDatabase,
    /// Number, origin and destination of each flight.
    flights: Vec<[String; 3]>,
    /// Origin and destination of each distance.
    distances: Vec<[String; 2]>,
}

fn tables() -> Tables {
    let table = |name: &str| text(&format!("data/database/{name}"));
    let rows = |text: &str, columns: &[&str]| -> Vec<Vec<String>> {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header = reader.headers().expect("a header").clone();
        let places: Vec<usize> =
            columns.iter().map(|name| header.iter().position(|it| it == *name).expect("a column")).collect();
        let records = reader.records().map(|record| record.expect("a row"));
        records.map(|record| places.iter().map(|&at| record[at].to_owned()).collect()).collect()
    };
    let (flights_text, distances) = (table(FLIGHTS_FILE), table(DISTANCES_FILE));
    let mut flights = FlightsBuilder::new(FLIGHTS_FILE);
    for line in flights_text.lines() {
        flights.line(line).expect("a flight");
    }
    let texts = Texts {
        accommodations: &table(ACCOMMODATIONS_FILE),
        restaurants: &table(RESTAURANTS_FILE),
        attractions: &table(ATTRACTIONS_FILE),
        distances: &distances,
        states: &table(STATES_FILE),
        cities: &table(CITIES_FILE),
    };
    let columns = ["Flight Number", "OriginCityName", "DestCityName"];
    Tables {
        database: TripDatabase::read(&texts, flights.finish()).expect("tables"),
        flights: rows(&flights_text, &columns).into_iter().filter_map(|row| row.try_into().ok()).collect(),
        distances: rows(&distances, &["origin", "destination"])
            .into_iter()
            .filter_map(|row| row.try_into().ok())
            .collect(),
    }
}

fn cases() -> Vec<(Query, TripPlan)> {
    let mut queries = HashMap::new();
    for set in ["train", "validation"] {
        let file = format!("data/queries/{set}.jsonl");
        for query in Query::read_all(&text(&file), &file).expect("queries") {
            queries.insert((set.to_owned(), query.idx), query);
        }
    }
    let mut cases = Vec::new();
    for file in FILES {
        for line in text(&format!("cases_{file}.jsonl")).lines() {
            let case: Value = serde_json::from_str(line).expect("a case");
            let key =
                (case["set"].as_str().unwrap_or_default().to_owned(), case["idx"].as_u64().unwrap_or(0));
            let mut query = serde_json::to_value(&queries[&key]).expect("a query");
            if let (Some(query), Some(changes)) = (query.as_object_mut(), case["query_override"].as_object())
            {
                query.extend(changes.clone());
            }
            cases.push((Query::read(&query.to_string()).expect("a query"), TripPlan(case["plan"].clone())));
        }
    }
    cases
}

/// The first row with part of a name in a city, by a scan of all rows.
fn scan<T: Place>(table: &CityTable<T>, entry: &str) -> Option<String> {
    let (name, city) = name_city(entry);
    let row = table.rows().iter().filter(|row| row.name().contains(name) && row.city() == city);
    row.map(|row| row.name().to_owned()).next()
}

/// Looks everything up that a plan names, as often as the published evaluator does, and judges nothing.
fn plain(tables: &Tables, query: &Query, plan: &TripPlan) -> usize {
    let Value::Array(days) = &plan.0 else { return 0 };
    let Tables { database, flights, distances } = tables;
    let mut found = 0;
    for day in days.iter().take(query.days) {
        let entry = |key: &str| day[key].as_str().filter(|it| !it.is_empty() && *it != "-");
        for meal in MEALS.into_iter().filter_map(entry) {
            for _ in 0..LOOK_UPS_OF_A_MEAL {
                found += usize::from(black_box(scan(&database.restaurants, meal)).is_some());
            }
        }
        for sight in entry(ATTRACTION).into_iter().flat_map(|it| it.split(';')) {
            found += usize::from(black_box(scan(&database.attractions, sight)).is_some());
        }
        if let Some(stay) = entry(ACCOMMODATION) {
            for _ in 0..LOOK_UPS_OF_A_STAY {
                found += usize::from(black_box(scan(&database.stays, stay)).is_some());
            }
        }
        let Some(way) = entry(TRANSPORTATION) else { continue };
        let Some((from, to)) = from_to(way) else { continue };
        let (from, to) = (strip_parenthesis(from), strip_parenthesis(to));
        for _ in 0..LOOK_UPS_OF_A_WAY {
            let is_there = match flight_number(way) {
                Some(number) => flights.iter().any(|it| it[0] == number && it[1] == from && it[2] == to),
                None => distances.iter().any(|it| it[0] == from && it[1] == to),
            };
            found += usize::from(black_box(is_there));
        }
    }
    found
}

/// One way to look at a plan: a number that depends on it, so that nothing is left out.
type Side<'a> = &'a dyn Fn(&Query, &TripPlan) -> usize;

/// Prints microseconds a plan and the ratios.
pub(crate) fn compare() {
    if !PathBuf::from(KIT).exists() {
        println!("there is no kit; its cases are left out");
        return;
    }
    let (tables, cases) = (tables(), cases().into_iter().step_by(EVERY).collect::<Vec<_>>());
    let sides: [(&str, Side<'_>); 3] = [
        ("published mode", &|query, plan| {
            usize::from(judge(&tables.database, query, plan, TripCompat::Original).delivered)
        }),
        ("right mode", &|query, plan| {
            usize::from(judge(&tables.database, query, plan, TripCompat::Right).delivered)
        }),
        ("plain look-ups alone", &|query, plan| plain(&tables, query, plan)),
    ];
    let mut times: [Vec<Duration>; 3] = Default::default();
    for _ in 0..ROUNDS {
        for (times, (_, side)) in times.iter_mut().zip(sides) {
            let begin = Instant::now();
            for (query, plan) in &cases {
                black_box(side(query, plan));
            }
            times.push(begin.elapsed());
        }
    }
    println!("{} plans, microseconds a plan: median (lowest to highest) of {ROUNDS} rounds", cases.len());
    let plan = |time: Duration| time.as_secs_f64() * 1e6 / cases.len() as f64;
    for (times, (name, _)) in times.iter_mut().zip(sides) {
        times.sort_unstable();
        let [low, middle, high] = [times[0], times[ROUNDS / 2], times[ROUNDS - 1]].map(plan);
        println!("{name}: {middle:.1} ({low:.1} to {high:.1})");
    }
    let median = |side: usize| times[side][ROUNDS / 2].as_secs_f64();
    println!(
        "plain / published mode: {:.0}; plain / right mode: {:.0}",
        median(2) / median(0),
        median(2) / median(1)
    );
}
