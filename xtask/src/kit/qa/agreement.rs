//! Counts how many recorded values agree with ours.

use serde_json::Value;

/// The maximum number of differences shown for a file.
const SHOWN_MAX: usize = 5;

/// The count of one file.
pub(super) struct Agreement {
    file: &'static str,
    agree: usize,
    differ: usize,
}

impl Agreement {
    pub(super) fn new(file: &'static str) -> Self {
        Self { file, agree: 0, differ: 0 }
    }

    /// Compares everything recorded for a case with ours, which may contain more.
    pub(super) fn compare(&mut self, recorded: &Value, ours: &Value) {
        if is_within(recorded, ours) {
            self.agree += 1;
            return;
        }
        self.differ += 1;
        if self.differ <= SHOWN_MAX {
            eprintln!("{}: recorded {recorded}\n  ours {ours}", self.file);
        }
    }

    /// Says on stderr how many agree.
    pub(super) fn report(&self) {
        eprintln!("{}: {} of {} recorded cases agree", self.file, self.agree, self.agree + self.differ);
    }
}

/// Whether every key of `recorded` has the same value in `ours`. Numbers are compared by value, as in Python.
fn is_within(recorded: &Value, ours: &Value) -> bool {
    match (recorded, ours) {
        (Value::Object(recorded), Value::Object(ours)) => {
            recorded.iter().all(|(key, value)| ours.get(key).is_some_and(|ours| is_same(value, ours)))
        }
        _ => is_same(recorded, ours),
    }
}

fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        // `1` and `1.0` are equal in Python, and different values in JSON.
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| other.get(key).is_some_and(|other| is_same(value, other)))
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        _ => one == other,
    }
}
