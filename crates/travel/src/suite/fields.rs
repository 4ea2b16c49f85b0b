//! Compares the fields of a query that an agent wrote with the right ones: exact match for each field, by the rules
//! of [`ReadingScore`].

use serde_json::{Map, Value, json};

use crate::query::Query;
use crate::reader::{QueryField, QueryReading, ReadingScore};

/// The fields by name, in the order of [`QueryField::ALL`].
pub const FIELDS: [&str; 11] = [
    "org",
    "dest",
    "days",
    "visiting_city_number",
    "date",
    "people_number",
    "house rule",
    "cuisine",
    "room type",
    "transportation",
    "budget",
];

/// The key of the local constraints.
const LOCAL: &str = "local_constraint";

/// The right fields as one JSON object, in the form that agents are asked for.
pub fn of_query(query: &Query) -> Value {
    // Serializing texts and numbers into memory cannot fail.
    serde_json::to_value(QueryReading::of(query)).unwrap_or_default()
}

/// Whether each field of [`FIELDS`] is right. An absent field counts as null; a field with an invalid value is
/// wrong, and does not affect the others.
pub fn compare(right: &Query, written: &Value) -> [bool; FIELDS.len()] {
    let mut is_right = [false; FIELDS.len()];
    for ((place, field), is_right) in QueryField::ALL.into_iter().enumerate().zip(&mut is_right) {
        let name = field.name();
        let value = written.get(name).filter(|_| !is_local(field));
        let local = written.get(LOCAL).and_then(|local| local.get(name)).filter(|_| is_local(field));
        // Each field is parsed by itself, because `read_json` rejects an object with any invalid field.
        let mut alone = Map::new();
        if let Some(value) = value {
            alone.insert(name.to_owned(), value.clone());
        } else if let Some(value) = local {
            alone.insert(LOCAL.to_owned(), json!({ name: value }));
        }
        if let Ok(reading) = QueryReading::read_json(&Value::Object(alone).to_string()) {
            *is_right = ReadingScore::new(&reading, right).right.get(place) == Some(&true);
        }
    }
    is_right
}

fn is_local(field: QueryField) -> bool {
    matches!(
        field,
        QueryField::HouseRule | QueryField::Cuisine | QueryField::RoomType | QueryField::Transportation
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_compared_one_by_one() {
        assert!(QueryField::ALL.map(QueryField::name) == FIELDS);
        let queries = crate::own::queries().expect("our own queries");
        for query in &queries {
            let mut written = of_query(query);
            assert_eq!(compare(query, &written), [true; FIELDS.len()], "{}", query.idx);
            written["budget"] = json!(query.budget + 1.0);
            written["local_constraint"]["house rule"] = json!("singing");
            written["mood"] = json!("good");
            let wrong = compare(query, &written).into_iter().zip(FIELDS).filter(|(is_right, _)| !is_right);
            assert_eq!(wrong.map(|(_, field)| field).collect::<Vec<_>>(), ["house rule", "budget"]);
            // If the value is not an object, every field is null.
            let none =
                compare(query, &json!(7)).into_iter().zip(QueryField::ALL).filter(|(is_right, _)| *is_right);
            assert!(none.into_iter().all(|(_, field)| is_local(field)));
        }
    }
}
