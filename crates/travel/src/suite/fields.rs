//! The fields of a query that an agent wrote, against the right ones: exact match for each field.

use serde_json::{Map, Value, json};

use crate::query::Query;

/// The fields, in the order of reports.
pub const FIELDS: [&str; 11] = [
    "org",
    "dest",
    "days",
    "date",
    "visiting_city_number",
    "people_number",
    "budget",
    "house rule",
    "cuisine",
    "room type",
    "transportation",
];

/// The fields of what a query asks for beside them.
const LOCAL: [&str; 4] = ["house rule", "cuisine", "room type", "transportation"];

/// The right fields as one object of JSON, in the form that agents are asked for.
pub fn of_query(query: &Query) -> Value {
    let mut members = Map::new();
    let whole = serde_json::to_value(query).unwrap_or_default();
    for field in FIELDS.into_iter().filter(|field| !LOCAL.contains(field)) {
        members.insert(field.to_owned(), whole.get(field).cloned().unwrap_or_default());
    }
    let local: Map<String, Value> = LOCAL
        .into_iter()
        .map(|field| {
            (field.to_owned(), whole.pointer(&format!("/local_constraint/{field}")).cloned().unwrap_or_default())
        })
        .collect();
    members.insert("local_constraint".to_owned(), json!(local));
    Value::Object(members)
}

/// Whether each field of [`FIELDS`] is right. Texts are compared without regard to blanks around them, numbers by their
/// value, cuisines as sets. A field that is not there is null.
pub fn compare(right: &Query, written: &Value) -> [bool; FIELDS.len()] {
    let right = of_query(right);
    FIELDS.map(|field| {
        let of = |value: &Value| match LOCAL.contains(&field) {
            true => value.get("local_constraint").and_then(|it| it.get(field)).cloned(),
            false => value.get(field).cloned(),
        };
        let [right, written] = [&right, written].map(|value| even(&of(value).unwrap_or_default()));
        right == written
    })
}

/// A value in the form in which it is compared.
fn even(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(text.trim()),
        Value::Number(number) => json!(number.as_f64()),
        // The days of a trip are in their order already; cuisines have none.
        Value::Array(items) => {
            let mut items: Vec<String> = items.iter().map(|item| even(item).to_string()).collect();
            items.sort();
            items.dedup();
            json!(items)
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_compared_one_by_one() {
        let queries = crate::own::queries().expect("our own queries");
        for query in &queries {
            let mut written = of_query(query);
            assert_eq!(compare(query, &written), [true; FIELDS.len()], "{}", query.idx);
            written["budget"] = json!(query.budget + 1.0);
            written["local_constraint"]["house rule"] = json!("singing");
            let wrong = compare(query, &written).into_iter().zip(FIELDS).filter(|(is_right, _)| !is_right);
            assert_eq!(wrong.map(|(_, field)| field).collect::<Vec<_>>(), ["budget", "house rule"]);
            assert_eq!(compare(query, &json!(7)).into_iter().filter(|it| *it).count(), {
                LOCAL.into_iter().filter(|field| of_query(query)["local_constraint"][*field].is_null()).count()
            });
        }
    }
}
