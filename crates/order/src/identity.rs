//! When a case is the same as another one with its id in another campaign.

use planproof_synth::{Bound, ConstraintId, PlanningCase, Source};
use serde_json::{Map, Number, Value, json};

/// A JSON text that is the same for two cases exactly if their queries, actions, tools, constraints, day, durations,
/// restarts, conflicts and faults of tools are equal. The origin of a case (its seed, its options) and what follows
/// from these data (its difficulty) are left out.
pub(crate) fn identity(case: &PlanningCase) -> String {
    let actions = case.actions.iter().map(|it| json!([it.id.as_str(), it.text, it.tool]));
    let tools = case.tools.iter().map(|it| {
        let schema = it.input_schema.clone().map(|schema| {
            let schema = schema.edited(|map| {
                if let Value::Object(sorted) = canonical(Value::Object(std::mem::take(map))) {
                    *map = sorted;
                }
            });
            // As a value it would lose the digits of long numbers.
            match schema.has_long_numbers() {
                true => Value::from(schema.to_string()),
                false => Value::Object(Map::clone(&schema)),
            }
        });
        json!([it.name, it.description, schema])
    });
    let constraints = case
        .constraints
        .iter()
        .map(|it| stated(&it.id, &json!([it.first, it.second]), &it.sources))
        .collect::<Vec<_>>();
    let time = case.time.as_ref().map(|time| {
        let bounds = time.bounds.iter().map(|it| {
            let kind = match it.bound {
                Bound::EndsBy(_) => "ends_by",
                Bound::StartsFrom(_) => "starts_from",
            };
            stated(&it.id, &json!([it.action, kind, it.bound.minute()]), &it.sources)
        });
        json!([[time.day.start, time.day.end], time.durations, time.restarts_max, bounds.collect::<Vec<_>>()])
    });
    let (actions, tools) = (actions.collect::<Vec<_>>(), tools.collect::<Vec<_>>());
    if let Some(turns) = &case.turns {
        // What changes follows from the texts, which read in one way, and from what holds in the end.
        let turns = json!([turns.later, turns.due]);
        return json!([case.query, actions, tools, constraints, time, case.conflict, turns]).to_string();
    }
    match &case.faults {
        None => json!([case.query, actions, tools, constraints, time, case.conflict]),
        Some(faults) => json!([case.query, actions, tools, constraints, time, case.conflict, faults]),
    }
    .to_string()
}

fn stated(id: &ConstraintId, demand: &Value, sources: &[Source]) -> Value {
    let place = |it: &Source| json!([it.sentence, it.sub_sentence, it.start, it.end]);
    json!([id.as_str(), demand, sources.iter().map(place).collect::<Vec<_>>()])
}

/// The same value in a canonical form, so that equal values have equal texts: the fields of objects sorted by name,
/// and no negative zero.
fn canonical(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut fields: Vec<(String, Value)> = object.into_iter().collect();
            fields.sort_by(|one, other| one.0.cmp(&other.0));
            Value::Object(fields.into_iter().map(|(name, value)| (name, canonical(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(canonical).collect()),
        Value::Number(number) if number.is_f64() && number.as_f64() == Some(0.0) => {
            Number::from_f64(0.0).map_or(Value::Number(number), Value::Number)
        }
        other => other,
    }
}
