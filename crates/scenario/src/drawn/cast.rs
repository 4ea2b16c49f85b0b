//! The people and things of a case: one value for each name of an argument, so that calls of different tools are about
//! the same order.

use std::collections::BTreeMap;

use planproof_trace::Draw;
use serde_json::{Map, Value, json};

use super::phrase::{identified, words_of};

const NAMES: [&str; 8] = ["Ann", "Bob", "Cleo", "Dan", "Eva", "Finn", "Gail", "Hugo"];
const CITIES: [&str; 8] = ["Oslo", "Rome", "Lyon", "Bern", "Graz", "Turin", "Porto", "Cork"];
const DAYS: [&str; 5] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"];
const BRANCHES: [&str; 4] = ["main", "hotfix", "develop", "login-page"];
const PLACES: [&str; 3] = ["staging", "production", "preview"];
const STREETS: [&str; 4] = ["Mill Lane", "Elm Road", "Dock Street", "High Street"];
const THINGS: [&str; 6] = ["alpha", "beta", "gamma", "delta", "omega", "sigma"];

/// Words of tools that write to people.
const MAIL: [&str; 6] = ["email", "invite", "mail", "message", "notify", "share"];
/// Words of tools that bring software somewhere.
const RELEASES: [&str; 6] = ["copy", "deploy", "promote", "publish", "release", "roll"];

fn is_about(tool: &[String], words: &[&str]) -> bool {
    tool.iter().any(|word| words.contains(&word.as_str()))
}

/// Texts that an agent words itself, by the last word of their names.
const WORDINGS: [&str; 14] = [
    "body",
    "comment",
    "content",
    "description",
    "explanation",
    "message",
    "note",
    "notes",
    "reason",
    "subject",
    "summary",
    "text",
    "title",
    "words",
];

/// Whether an argument is a text that each agent words itself.
pub(super) fn is_wording(name: &str, schema: Option<&Value>) -> bool {
    let may_be_text = schema.is_none_or(|schema| {
        schema.get("type").is_none_or(|kind| kind == "string")
            && schema.get("enum").is_none()
            && schema.get("const").is_none()
    });
    may_be_text && words_of(name).last().is_some_and(|word| WORDINGS.contains(&word.as_str()))
}

/// What a value of a case stands for. Places of one key have one value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    /// Arguments of this name, of tools to which it means the same.
    Argument(String),
    /// A place in the results of a tool.
    Result(String, String),
}

impl Key {
    pub(super) fn of_argument(name: &str, tool: &str) -> Self {
        // Where something goes to means something else for each kind of tool.
        let about = words_of(tool);
        Self::Argument(match name {
            "from" | "to" if is_about(&about, &MAIL) => format!("{name} mail"),
            "from" | "to" if is_about(&about, &RELEASES) => format!("{name} release"),
            name => name.to_owned(),
        })
    }
}

/// An argument that has to come from results: what is drawn for it stands in all places that are linked with it.
#[derive(Debug, Clone)]
pub(super) struct Linked {
    pub(super) key: Key,
    pub(super) name: String,
    pub(super) tool: String,
    pub(super) schema: Option<Value>,
}

/// The places that have to have the value of another one.
pub(super) type Links = BTreeMap<Key, Linked>;

/// The values of a case.
#[derive(Debug)]
pub(super) struct Cast<'a> {
    links: &'a Links,
    values: BTreeMap<Key, Value>,
}

impl<'a> Cast<'a> {
    pub(super) fn new(links: &'a Links) -> Self {
        Self { links, values: BTreeMap::new() }
    }

    /// The value for an argument of this name and schema, first used by this tool; `None` if the schema wants more than
    /// a plain value.
    pub(super) fn value(
        &mut self,
        name: &str,
        tool: &str,
        schema: Option<&Value>,
        draw: &mut Draw,
    ) -> Option<Value> {
        let key = Key::of_argument(name, tool);
        match self.links.get(&key) {
            Some(linked) => self.linked(linked, draw),
            None => self.of_key(&key, (name, tool, schema), draw),
        }
    }

    /// The value at a place in the results of a tool which calls of others have to take from there.
    pub(super) fn given(&mut self, tool: &str, place: &str, draw: &mut Draw) -> Option<Value> {
        let links = self.links;
        self.linked(links.get(&Key::Result(tool.to_owned(), place.to_owned()))?, draw)
    }

    /// Makes this the value of an argument that has to come from results.
    pub(super) fn set(&mut self, name: &str, tool: &str, value: Value) {
        let key = Key::of_argument(name, tool);
        let key = self.links.get(&key).map_or(key, |linked| linked.key.clone());
        self.values.insert(key, value);
    }

    fn linked(&mut self, linked: &Linked, draw: &mut Draw) -> Option<Value> {
        let Linked { key, name, tool, schema } = linked;
        self.of_key(key, (name, tool, schema.as_ref()), draw)
    }

    fn of_key(
        &mut self,
        key: &Key,
        (name, tool, schema): (&str, &str, Option<&Value>),
        draw: &mut Draw,
    ) -> Option<Value> {
        if let Some(value) = self.values.get(key) {
            return Some(value.clone());
        }
        let value = drawn(name, &words_of(tool), schema, draw)?;
        self.values.insert(key.clone(), value.clone());
        Some(value)
    }
}

fn pick<'c>(from: &[&'c str], draw: &mut Draw) -> &'c str {
    from[draw.place(from.len())]
}

fn drawn(name: &str, tool: &[String], schema: Option<&Value>, draw: &mut Draw) -> Option<Value> {
    let empty = Map::new();
    let schema = schema.and_then(Value::as_object).unwrap_or(&empty);
    if let Some(value) = schema.get("const") {
        return Some(value.clone());
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array).filter(|values| !values.is_empty()) {
        return Some(values[draw.place(values.len())].clone());
    }
    let words = words_of(name);
    let last = words.last().map(String::as_str).unwrap_or_default();
    match schema.get("type").and_then(Value::as_str) {
        Some("integer") => Some(json!(whole(name, last, schema, draw))),
        Some("number") => Some(json!(whole(name, last, schema, draw))),
        Some("boolean") => Some(json!(draw.chance(1, 2))),
        Some("string") | None => Some(Value::from(text(name, &words, last, tool, draw))),
        Some(_) => None,
    }
}

fn whole(name: &str, last: &str, schema: &Map<String, Value>, draw: &mut Draw) -> i64 {
    let range = if identified(name).is_some() {
        11..999
    } else if ["amount", "cost", "price", "sum", "total", "value"].contains(&last) {
        10..90
    } else {
        1..9
    };
    let value = range.start + i64::from(draw.below(u32::try_from(range.end - range.start).unwrap_or(1)));
    // Bounds are kept where they are plain; the schema decides in the end.
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let value = bound("minimum").map_or(value, |bound| value.max(bound.ceil() as i64));
    bound("maximum").map_or(value, |bound| value.min(bound.floor() as i64))
}

fn text(name: &str, words: &[String], last: &str, tool: &[String], draw: &mut Draw) -> String {
    if let Some(what) = identified(name) {
        let letter = what.chars().next().unwrap_or('n');
        return format!("{letter}-{}", 11 + draw.below(988));
    }
    let has = |word: &str| words.iter().any(|other| other == word);
    let person =
        ["customer", "guest", "name", "owner", "passenger", "person", "user", "recipient", "assignee"];
    match last {
        _ if has("email") || has("mail") => format!("{}@shop.example", pick(&NAMES, draw).to_lowercase()),
        _ if has("phone") => format!("555-01{:02}", draw.below(100)),
        _ if has("date") => format!("2026-{:02}-{:02}", 1 + draw.below(12), 1 + draw.below(28)),
        "from" | "to" if is_about(tool, &MAIL) => {
            format!("{}@shop.example", pick(&NAMES, draw).to_lowercase())
        }
        "from" | "to" if is_about(tool, &RELEASES) => pick(&PLACES, draw).to_owned(),
        // Two places differ.
        "from" => pick(&CITIES[..4], draw).to_owned(),
        "to" => pick(&CITIES[4..], draw).to_owned(),
        "time" => format!("{:02}:{:02}", 8 + draw.below(10), 15 * draw.below(4)),
        "day" => pick(&DAYS, draw).to_owned(),
        "city" | "destination" | "origin" | "location" => pick(&CITIES, draw).to_owned(),
        "country" => pick(&["Norway", "Italy", "France", "Spain", "Japan"], draw).to_owned(),
        "branch" => pick(&BRANCHES, draw).to_owned(),
        "environment" | "stage" | "target" => pick(&PLACES, draw).to_owned(),
        "address" | "street" => format!("{} {}", 1 + draw.below(40), pick(&STREETS, draw)),
        "url" | "link" => format!("https://shop.example/{}", pick(&THINGS, draw)),
        "path" | "file" | "filename" => format!("{}.txt", pick(&THINGS, draw)),
        "currency" => pick(&["EUR", "NOK", "CHF"], draw).to_owned(),
        "language" => pick(&["English", "Italian", "French"], draw).to_owned(),
        "expression" => format!("{} * {}", 2 + draw.below(8), 2 + draw.below(8)),
        "flight" | "hotel" | "booking" | "room" | "parcel" | "invoice" | "order" | "ticket" | "build" => {
            let letter = last.chars().next().unwrap_or('n').to_uppercase();
            format!("{letter}{}", 101 + draw.below(800))
        }
        word if person.contains(&word) => pick(&NAMES, draw).to_owned(),
        _ => pick(&THINGS, draw).to_owned(),
    }
}
