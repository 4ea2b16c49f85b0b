//! Requests that try to get a forbidden call past a guard, as data (`tests/data/crafted.jsonl`).

use serde::Deserialize;

/// A request, as bytes.
pub(crate) struct Crafted {
    pub(crate) what: String,
    pub(crate) bytes: Vec<u8>,
    /// Whether it can be answered over stdio.
    pub(crate) is_answered: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    what: String,
    /// Its text, in which `@` stands for so many brackets as `deep` says.
    line: Option<String>,
    #[serde(default)]
    deep: usize,
    /// Its bytes, where they are not a text.
    hex: Option<String>,
    #[serde(default = "answered")]
    answered: bool,
}

fn answered() -> bool {
    true
}

/// All of them. Rules that forbid `refund`, and name the argument `/id`, reject each.
pub(crate) fn crafted() -> Vec<Crafted> {
    let lines = include_str!("../data/crafted.jsonl").lines();
    let read = |line: &str| -> Entry {
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
    };
    lines.map(read).map(Entry::crafted).collect()
}

impl Entry {
    fn crafted(self) -> Crafted {
        let bytes = match (self.line, self.hex) {
            (Some(line), None) => line.replace('@', &"[".repeat(self.deep)).into_bytes(),
            (None, Some(hex)) => bytes_of(&hex),
            _ => panic!("{}: either a line or bytes", self.what),
        };
        Crafted { what: self.what, bytes, is_answered: self.answered }
    }
}

fn bytes_of(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}
