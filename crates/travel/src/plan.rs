//! Plans as an agent wrote them, which may contain any values instead of days or texts.
//!
//! A plan is a list of days. Each day has the keys of [`KEYS`], all with text values, and
//! [`NOTHING`](crate::entry::NOTHING) means that an entry is empty. Anything else is kept as it is: a plan that
//! makes no sense is a failed plan, not an error.

use std::borrow::Cow;

use serde_json::Value;

use crate::python::{PythonException, is_true};

/// The key of the city, or of the journey, of a day.
pub const CITY: &str = "current_city";
/// The key of the means of travel.
pub const TRANSPORTATION: &str = "transportation";
/// The key of the attractions.
pub const ATTRACTION: &str = "attraction";
/// The key of the accommodation.
pub const ACCOMMODATION: &str = "accommodation";
/// The keys of the meals of a day, in order.
pub const MEALS: [&str; 3] = ["breakfast", "lunch", "dinner"];
/// The keys of a day's activities, in the order in which the evaluator checks them.
pub const KEYS: [&str; 6] = [TRANSPORTATION, MEALS[0], MEALS[1], MEALS[2], ATTRACTION, ACCOMMODATION];

/// The text in place of a day that is not needed.
pub const NOT_NEEDED: &str = "You don't need to fill in the information for this or later days.";

/// A plan as it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct TripPlan(pub Value);

impl TripPlan {
    /// Whether there is a plan: it is neither null nor empty.
    pub fn is_delivered(&self) -> bool {
        is_true(&self.0)
    }

    /// The number of days, by Python's rules.
    ///
    /// # Errors
    /// The plan is a number or a truth value.
    pub fn len(&self) -> Result<usize, PythonException> {
        match &self.0 {
            Value::Array(days) => Ok(days.len()),
            Value::Object(members) => Ok(members.len()),
            Value::String(text) => Ok(text.chars().count()),
            Value::Null | Value::Bool(_) | Value::Number(_) => Err(PythonException::Type),
        }
    }

    /// Whether it has no days, by Python's rules.
    ///
    /// # Errors
    /// Same as [`TripPlan::len`].
    pub fn is_empty(&self) -> Result<bool, PythonException> {
        Ok(self.len()? == 0)
    }

    /// The first `days` days, which are those that the published evaluator reads. Access to each of them may fail.
    ///
    /// # Errors
    /// Same as [`TripPlan::len`].
    pub fn days(&self, days: usize) -> Result<Vec<Result<Cow<'_, Value>, PythonException>>, PythonException> {
        let number = days.min(self.len()?);
        Ok(match &self.0 {
            Value::Array(all) => all.iter().take(number).map(|day| Ok(Cow::Borrowed(day))).collect(),
            Value::String(text) => {
                text.chars().take(number).map(|it| Ok(Cow::Owned(Value::from(it.to_string())))).collect()
            }
            // Indices are not keys.
            _ => vec![Err(PythonException::Key); number],
        })
    }
}

impl From<Value> for TripPlan {
    fn from(value: Value) -> Self {
        Self(value)
    }
}

/// A line of a file of plans: `{"idx": .., "query": .., "plan": [..] or null}`. The published evaluator uses the
/// line number, not `idx`.
#[derive(Debug, Clone, PartialEq)]
pub struct Submission {
    /// The number of the query according to the line.
    pub idx: Option<u64>,
    /// The plan; null if the line has none.
    pub plan: TripPlan,
}

impl Submission {
    /// Parses a file of plans, one per line. Blank lines are skipped.
    ///
    /// # Errors
    /// A line is not a JSON object, or has no `plan`.
    pub fn read_all(text: &str, file: &str) -> Result<Vec<Self>, PlanError> {
        let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        lines
            .map(|(number, line)| {
                let fault = |what: String| PlanError { file: file.to_owned(), line: number, what };
                let mut value: Value =
                    serde_json::from_str(line).map_err(|error| fault(error.to_string()))?;
                let Some(members) = value.as_object_mut() else {
                    return Err(fault("it is no object; write {\"idx\": .., \"plan\": [..]}".to_owned()));
                };
                // A plan that was not delivered is written as null, so a line without one is another kind of file.
                let plan = members.remove("plan").ok_or_else(|| {
                    fault(
                        "it has no `plan`; write {\"idx\": .., \"plan\": [..]}, or null where there is none"
                            .to_owned(),
                    )
                })?;
                Ok(Self { idx: members.get("idx").and_then(Value::as_u64), plan: TripPlan(plan) })
            })
            .collect()
    }
}

/// A file of plans that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {what}")]
pub struct PlanError {
    pub file: String,
    /// The line number, from 1.
    pub line: usize,
    /// What is wrong, and how to fix it.
    pub what: String,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn days_are_as_many_as_asked_for() {
        let plan = TripPlan(json!([{"days": 1}, null, 3]));
        assert_eq!(plan.days(2).map(|it| it.len()), Ok(2));
        assert_eq!(TripPlan(json!({"a": 1})).days(2), Ok(vec![Err(PythonException::Key)]));
        assert_eq!(TripPlan(json!(7)).days(2), Err(PythonException::Type));
        assert!(!TripPlan(json!([])).is_delivered() && !TripPlan(Value::Null).is_delivered());
    }

    #[test]
    fn submissions_keep_what_they_hold() {
        let text = "{\"idx\": 2, \"plan\": \"none\"}\n\n{\"query\": \"\", \"plan\": null}\n";
        let all = Submission::read_all(text, "p.jsonl").expect("two lines");
        assert_eq!((all[0].idx, &all[0].plan.0), (Some(2), &json!("none")));
        assert_eq!((all[1].idx, &all[1].plan.0), (None, &Value::Null));
        for (line, what) in [("[]", "it is no object"), ("{\"idx\": 1, \"plans\": []}", "it has no `plan`")] {
            let error = Submission::read_all(&format!("{text}{line}"), "p.jsonl").expect_err(line);
            assert!(error.to_string().starts_with(&format!("p.jsonl:4: {what}; write ")), "{error}");
        }
    }
}
