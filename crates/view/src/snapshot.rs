//! The changing parts of a page at one moment.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};

use maud::Markup;
use serde_json::{Map, Value, json};

/// The content of an element.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    /// All of it.
    Whole(String),
    /// Its children one by one, of which mostly the last ones change.
    Rows(Vec<String>),
}

/// The changing parts of a page, by the ids of their elements.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Snapshot {
    pub(crate) parts: Vec<(&'static str, Part)>,
    /// Nothing will change any more.
    pub(crate) is_over: bool,
}

impl Snapshot {
    pub(crate) fn whole(&mut self, id: &'static str, markup: Markup) {
        self.parts.push((id, Part::Whole(markup.into_string())));
    }

    pub(crate) fn rows(&mut self, id: &'static str, rows: Vec<Markup>) {
        self.parts.push((id, Part::Rows(rows.into_iter().map(Markup::into_string).collect())));
    }

    /// The content of an element, for the page as it is sent first.
    pub(crate) fn content(&self, id: &str) -> maud::PreEscaped<String> {
        let part = self.parts.iter().find(|(it, _)| *it == id);
        maud::PreEscaped(match part.map(|(_, part)| part) {
            None => String::new(),
            Some(Part::Whole(text)) => text.clone(),
            Some(Part::Rows(rows)) => rows.concat(),
        })
    }

    /// Its name: equal states have equal names, and others different ones.
    pub(crate) fn name(&self) -> String {
        // With fixed keys, so the name is the same in another process.
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    /// What has to be done to make this state of `before`, as JSON: for each changed element its content, or from which
    /// child on others follow.
    pub(crate) fn since(&self, before: Option<&Self>) -> String {
        let mut parts = Map::new();
        for (id, part) in &self.parts {
            let before = before.and_then(|before| before.parts.iter().find(|(it, _)| it == id));
            let change = match (part, before.map(|(_, part)| part)) {
                (part, Some(before)) if part == before => continue,
                (Part::Whole(text), _) => json!({ "html": text }),
                (Part::Rows(rows), Some(Part::Rows(before))) => {
                    let from = rows.iter().zip(before).take_while(|(row, before)| row == before).count();
                    json!({ "from": from, "rows": &rows[from..] })
                }
                (Part::Rows(rows), _) => json!({ "from": 0, "rows": rows }),
            };
            parts.insert((*id).to_owned(), change);
        }
        json!({ "parts": Value::Object(parts), "name": self.name() }).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(text: &str, rows: &[&str]) -> Snapshot {
        let rows = rows.iter().map(|row| (*row).to_owned()).collect();
        Snapshot { parts: vec![("a", Part::Whole(text.to_owned())), ("b", Part::Rows(rows))], is_over: false }
    }

    /// What a browser does with a change.
    fn applied(before: &Snapshot, change: &str) -> Snapshot {
        let change: Value = serde_json::from_str(change).expect("is JSON");
        let mut after = before.clone();
        for (id, part) in &mut after.parts {
            let Some(change) = change["parts"].get(*id) else { continue };
            match part {
                Part::Whole(text) => *text = change["html"].as_str().expect("is text").to_owned(),
                Part::Rows(rows) => {
                    rows.truncate(
                        usize::try_from(change["from"].as_u64().expect("is a number")).expect("fits"),
                    );
                    let new = change["rows"].as_array().expect("is a list").iter();
                    rows.extend(new.map(|row| row.as_str().expect("is text").to_owned()));
                }
            }
        }
        after
    }

    #[test]
    fn a_change_makes_the_new_state_of_the_old_one() {
        let states = [
            snapshot("", &[]),
            snapshot("x", &["1"]),
            snapshot("x", &["1", "2", "3"]),
            snapshot("y", &["1", "2b"]),
            snapshot("y", &["0", "2b", "3"]),
        ];
        for before in &states {
            for after in &states {
                assert_eq!(applied(before, &after.since(Some(before))), *after);
                assert_eq!(applied(before, &after.since(None)), *after);
                assert_eq!(before.name() == after.name(), before == after);
            }
        }
        let change = states[2].since(Some(&states[1]));
        assert!(
            change.contains(r#""b":{"from":1,"rows":["2","3"]}"#) && !change.contains(r#""a""#),
            "{change}"
        );
    }
}
