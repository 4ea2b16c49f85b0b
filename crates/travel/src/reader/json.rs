//! Readings as JSON, parsed strictly because models write them.

use serde::Deserialize;

use super::QueryReading;
use crate::query::{DAYS_MAX, HouseRule, LocalConstraint, PEOPLE_MAX, RoomType, TransportRule, is_date};

/// Maximum length of a reading's JSON, in bytes.
pub const JSON_BYTES_MAX: usize = 20_000;

/// Maximum number of cuisines of a reading.
const CUISINES_MAX: usize = 50;

/// A reading that is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ReadingError(
    /// What is wrong, and how to fix it.
    pub String,
);

/// The JSON form. Every key may be absent or null; unknown and repeated keys are rejected.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    org: Option<String>,
    dest: Option<String>,
    days: Option<usize>,
    visiting_city_number: Option<usize>,
    date: Option<Vec<String>>,
    people_number: Option<u32>,
    local_constraint: Option<Local>,
    budget: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Local {
    #[serde(rename = "house rule")]
    house_rule: Option<HouseRule>,
    cuisine: Option<Vec<String>>,
    #[serde(rename = "room type")]
    room_type: Option<RoomType>,
    transportation: Option<TransportRule>,
}

impl QueryReading {
    /// Parses the JSON of a reading: an object with the keys of a query (`org`, `dest`, `days`,
    /// `visiting_city_number`, `date`, `people_number`, `local_constraint` with its four keys, `budget`), each of
    /// which may be absent or null.
    ///
    /// # Errors
    /// The text is not such an object, has an unknown or repeated key, or a value is out of range.
    pub fn read_json(text: &str) -> Result<Self, ReadingError> {
        let fault = |what: String| Err(ReadingError(what));
        if text.len() > JSON_BYTES_MAX {
            return fault(format!("it has {} bytes; write at most {JSON_BYTES_MAX}", text.len()));
        }
        let form: Form =
            planproof_trace::json::read(text.as_bytes()).map_err(|error| ReadingError(error.to_string()))?;
        for (name, place) in [("org", &form.org), ("dest", &form.dest)] {
            if place.as_ref().is_some_and(|place| place.trim().is_empty()) {
                return fault(format!("`{name}` is empty; name a place or write null"));
            }
        }
        for (name, days) in [("days", form.days), ("visiting_city_number", form.visiting_city_number)] {
            if days.is_some_and(|days| !(1..=DAYS_MAX).contains(&days)) {
                return fault(format!("`{name}` is {}; write 1 to {DAYS_MAX}", days.unwrap_or_default()));
            }
        }
        if let Some(date) = form.date.iter().flatten().find(|date| !is_date(date)) {
            return fault(format!("`date` has {date:?}; write dates such as \"2022-03-16\""));
        }
        if form.date.as_ref().is_some_and(|date| !(1..=DAYS_MAX).contains(&date.len())) {
            return fault(format!("`date` is no list of 1 to {DAYS_MAX} days; list each day or write null"));
        }
        if let Some(people) = form.people_number.filter(|people| !(1..=PEOPLE_MAX).contains(people)) {
            return fault(format!("`people_number` is {people}; write 1 to {PEOPLE_MAX}"));
        }
        if let Some(budget) = form.budget.filter(|budget| *budget < 0.0) {
            return fault(format!("`budget` is {budget}; write dollars"));
        }
        let local = form.local_constraint.map_or_else(LocalConstraint::default, |local| LocalConstraint {
            house_rule: local.house_rule,
            cuisine: local.cuisine,
            room_type: local.room_type,
            transportation: local.transportation,
        });
        let cuisines = local.cuisine.as_ref().map_or(0, Vec::len);
        if cuisines > CUISINES_MAX {
            return fault(format!("`cuisine` has {cuisines} items; write at most {CUISINES_MAX}"));
        }
        Ok(Self {
            org: form.org,
            dest: form.dest,
            days: form.days,
            visiting_city_number: form.visiting_city_number,
            date: form.date,
            people_number: form.people_number,
            local_constraint: local,
            budget: form.budget,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_come_back_as_they_went_in() {
        let text = r#"{"org": "Reno", "days": 3, "date": ["2022-03-16"], "people_number": 2, "budget": 900,
            "local_constraint": {"room type": "entire room", "cuisine": ["Thai"], "house rule": null}}"#;
        let reading = QueryReading::read_json(text).expect("a reading");
        assert_eq!(reading.local_constraint.room_type, Some(RoomType::Entire));
        assert_eq!(QueryReading::read_json(&serde_json::to_string(&reading).expect("JSON")), Ok(reading));
        assert_eq!(QueryReading::read_json("{}"), Ok(QueryReading::default()));
    }

    #[test]
    fn faults_are_named() {
        let cases = [
            (r#"{"origin": "Reno"}"#, "unknown field `origin`"),
            (r#"{"org": "Reno", "org": "Elko"}"#, "duplicate field `org`"),
            (r#"{"org": " "}"#, "`org` is empty"),
            (r#"{"days": 400}"#, "`days` is 400; write 1 to 31"),
            (r#"{"days": "3"}"#, "expected usize"),
            (r#"{"date": ["March 1st"]}"#, "`date` has \"March 1st\""),
            (r#"{"date": []}"#, "`date` is no list"),
            (r#"{"people_number": 0}"#, "`people_number` is 0"),
            (r#"{"budget": -5}"#, "`budget` is -5"),
            (r#"{"local_constraint": {"room type": "suite"}}"#, "unknown variant `suite`"),
            (r#"{"local_constraint": {"room": "entire room"}}"#, "unknown field `room`"),
            ("[1]", "expected"),
            ("{} trailing", "trailing characters"),
            ("", "EOF"),
        ];
        for (text, what) in cases {
            let error = QueryReading::read_json(text).expect_err(text);
            assert!(error.to_string().contains(what), "{text}: {error}");
        }
    }
}
