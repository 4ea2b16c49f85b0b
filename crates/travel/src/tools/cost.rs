//! The cost of a day, for agents that ask while they plan.

use serde_json::Value;

use crate::entry::{NOTHING, flight_number, from_to, name_city, strip_parenthesis};
use crate::plan::{ACCOMMODATION, CITY, MEALS, TRANSPORTATION};
use crate::query::PEOPLE_MAX;
use crate::tables::{CityTable, Place, RoadMode, TripDatabase};

const UNREADABLE: &str = "The sub plan can not be parsed into json format, please check.";
const SORRY: &str = "Sorry, the cost of your plan is not available because of the following reasons:";

/// `CostEnquiry[day]`: the cost of a day of a plan, given as an object that also has `people_number`. Names must
/// match exactly. Entries without a name and a city are skipped silently, as by the published tool; the reasons
/// that it lists are in our own words.
pub fn cost_enquiry(database: &TripDatabase, argument: &str) -> String {
    let Ok(Value::Object(day)) = serde_json::from_str(argument) else { return UNREADABLE.to_owned() };
    let people = day.get("people_number").and_then(Value::as_u64).and_then(|it| u32::try_from(it).ok());
    let Some(people) = people.filter(|people| (1..=PEOPLE_MAX).contains(people)) else {
        return UNREADABLE.to_owned();
    };
    let entry = |key: &str| day.get(key).and_then(Value::as_str).filter(|it| !matches!(*it, "" | NOTHING));
    let mut bill = Bill::default();
    if let Some(text) = entry(TRANSPORTATION) {
        let leg = from_to(text).or_else(|| entry(CITY).and_then(from_to));
        bill.add(text, leg.and_then(|leg| travel(database, text, leg, people)));
    }
    for text in MEALS.into_iter().filter_map(entry) {
        let Some(found) = named(&database.restaurants, text) else { continue };
        bill.add(text, found.map(|row| f64::from(row.average_cost) * f64::from(people)));
    }
    if let Some(text) = entry(ACCOMMODATION)
        && let Some(found) = named(&database.stays, text)
    {
        bill.add(text, found.map(|row| row.night(people)));
        bill.has_fraction = true;
    }
    bill.text()
}

/// The sum of the costs, and the entries without a known cost.
#[derive(Default)]
struct Bill {
    total: f64,
    /// Whether Python would print the sum as a float, because prices of rooms are floats.
    has_fraction: bool,
    reasons: Vec<String>,
}

impl Bill {
    fn add(&mut self, entry: &str, cost: Option<f64>) {
        match cost {
            Some(cost) => self.total += cost,
            None => self.reasons.push(format!("{entry} is not in the database.")),
        }
    }

    fn text(&self) -> String {
        if !self.reasons.is_empty() {
            let reasons =
                self.reasons.iter().zip(1..).map(|(reason, number)| format!("\n{number}. {reason}"));
            return format!("{SORRY}{}", reasons.collect::<String>());
        }
        // `{:?}` writes `120.0`, as Python does.
        let total = if self.has_fraction { format!("{:?}", self.total) } else { self.total.to_string() };
        format!("Cost: The cost of your plan is {total} dollars.")
    }
}

/// The cost of an entry for all travellers, if the tables know it.
fn travel(database: &TripDatabase, text: &str, (from, to): (&str, &str), people: u32) -> Option<f64> {
    let lower = text.to_lowercase();
    if lower.contains("flight number") {
        let flight = database.flights.numbered(flight_number(text)?).next()?;
        return Some(flight.price() * f64::from(people));
    }
    let mode = if lower.contains("self-driving") {
        RoadMode::SelfDriving
    } else if lower.contains("taxi") {
        RoadMode::Taxi
    } else {
        // Other means are free, as they are for the published evaluator.
        return Some(0.0);
    };
    let cost = database.distances.cost(strip_parenthesis(from), strip_parenthesis(to), mode)?;
    Some(cost as f64 * f64::from(mode.cars(people)))
}

/// The row of an entry; `None` if the entry has no name and city, `Some(None)` if there is no such row.
fn named<'t, T: Place>(table: &'t CityTable<T>, text: &str) -> Option<Option<&'t T>> {
    let (name, city) = name_city(text);
    if (name, city) == (NOTHING, NOTHING) {
        return None;
    }
    Some(table.in_city(city).find(|row| row.name() == name))
}
