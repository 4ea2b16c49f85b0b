//! Facts that are clearer as a picture than in words, as plain data: places on a map with the ways between them,
//! timelines, and orders. The renderer escapes texts, shortens them, and chooses measures and colours; there is no
//! markup in here that would have to be trusted.

/// Places in a plane and the ways between them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Map {
    /// Its content, and what it could not show; may be empty.
    pub caption: String,
    /// The places. One whose coordinates are not finite cannot be drawn.
    pub places: Vec<MapPlace>,
    /// The ways, in the order in which they are travelled.
    pub ways: Vec<MapWay>,
}

/// A place of a map.
#[derive(Debug, Clone, PartialEq)]
pub struct MapPlace {
    /// Its name.
    pub name: String,
    /// The coordinate towards the right, in the same unit as [`north`](Self::north), which may be any.
    pub east: f64,
    /// How far it lies up.
    pub north: f64,
}

/// A way between two places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapWay {
    /// Its beginning: a position in [`Map::places`].
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// A few words for it, such as `flight $474`.
    pub label: String,
    /// Something is wrong with it.
    pub is_wrong: bool,
}

/// A part of a timeline, such as a day.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Period {
    /// What it is, such as `day 1, from Reno to Elko`.
    pub title: String,
    /// Its cost or result, such as `$120`; may be empty.
    pub note: String,
    /// The faults of the whole, a sentence each.
    pub wrong: Vec<String>,
    /// What happens in it, in order.
    pub entries: Vec<PeriodEntry>,
}

/// Something that happens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PeriodEntry {
    /// Its kind, in a word or two: `lunch`.
    pub kind: &'static str,
    /// When: `06:05 to 07:10`; may be empty.
    pub when: String,
    /// What happens.
    pub text: String,
    /// Its cost, such as `$30`; may be empty.
    pub note: String,
    /// Its faults, a sentence each.
    pub wrong: Vec<String>,
}

/// An order of things, and whether it was kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Graph {
    /// What comes.
    pub nodes: Vec<GraphNode>,
    /// What is demanded of them in pairs.
    pub edges: Vec<GraphEdge>,
}

/// Something that has a place in an order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GraphNode {
    /// Its name.
    pub name: String,
    /// Further demands on it alone, in a few words; may be empty.
    pub note: String,
    /// Its position in the order of execution, from 1; `None` if it was not done.
    pub number: Option<usize>,
    /// It is the first wrong one, or its own demand was violated.
    pub is_wrong: bool,
}

/// A demand that one thing comes before another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphEdge {
    /// The earlier thing: a position in [`Graph::nodes`].
    pub from: usize,
    /// What comes after it.
    pub to: usize,
    /// The demand in words.
    pub title: String,
    /// The later thing takes a value from the earlier one.
    pub is_flow: bool,
    /// It was violated, or belongs to a conflict.
    pub is_wrong: bool,
}

/// An order in the middle of a run: what was done so far, and which demands hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Board {
    /// The order. Its numbers are those of the calls that are finished, and what is wrong in it is wrong already.
    pub graph: Graph,
    /// For each edge of the graph, whether it holds; if it neither holds nor is wrong, it is still open.
    pub held: Vec<bool>,
    /// For each node of the graph, whether it was begun and is not finished.
    pub begun: Vec<bool>,
}

/// The durations of things within one span of time, such as a day. All times have the same unit, which may be any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bars {
    /// Where the span begins.
    pub from: u32,
    /// Where it ends.
    pub to: u32,
    /// Times that are written on the axis, with their words.
    pub ticks: Vec<(u32, String)>,
    /// The bars, from top to bottom.
    pub bars: Vec<Bar>,
}

/// Something that took its time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bar {
    /// What it is.
    pub text: String,
    /// When, in words.
    pub when: String,
    /// When it began.
    pub from: u32,
    /// When it ended.
    pub to: u32,
    /// The earliest allowed beginning, if one was stated.
    pub not_before: Option<u32>,
    /// The latest allowed end, if one was stated.
    pub not_after: Option<u32>,
    /// Something is wrong with it.
    pub is_wrong: bool,
}

impl Map {
    /// The ways in words: `Reno to Elko, flight $30; Elko to Reno, taxi $20`.
    pub fn to_text(&self) -> String {
        let name = |place: usize| self.places.get(place).map_or("?", |place| place.name.as_str());
        let way = |way: &MapWay| {
            let wrong = if way.is_wrong { " (wrong)" } else { "" };
            format!("{} to {}, {}{wrong}", name(way.from), name(way.to), way.label)
        };
        self.ways.iter().map(way).collect::<Vec<_>>().join("; ")
    }
}

impl Period {
    /// All of it in one line. Entries with faults are marked as wrong and no more: the facts beside them say why.
    pub fn to_text(&self) -> String {
        let entries: Vec<String> = self.entries.iter().map(PeriodEntry::to_text).collect();
        let wrong =
            if self.wrong.is_empty() { String::new() } else { format!("(wrong: {})", self.wrong.join("; ")) };
        let title = joined(&[&self.title, &self.note, &wrong]);
        if entries.is_empty() { title } else { format!("{title}: {}", entries.join("; ")) }
    }
}

impl PeriodEntry {
    fn to_text(&self) -> String {
        let wrong = if self.wrong.is_empty() { "" } else { "(wrong)" };
        joined(&[self.kind, &self.when, &self.text, &self.note, wrong])
    }
}

/// The non-empty ones of these texts.
fn joined(texts: &[&str]) -> String {
    let texts: Vec<&str> = texts.iter().copied().filter(|text| !text.is_empty()).collect();
    texts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_have_words() {
        let place = |name: &str| MapPlace { name: name.to_owned(), east: 0.0, north: 0.0 };
        let way = |from, to, label: &str, is_wrong| MapWay { from, to, label: label.to_owned(), is_wrong };
        let map = Map {
            caption: String::new(),
            places: vec![place("Reno"), place("Elko")],
            ways: vec![way(0, 1, "flight $30", false), way(1, 7, "taxi", true)],
        };
        assert_eq!(map.to_text(), "Reno to Elko, flight $30; Elko to ?, taxi (wrong)");
        let entry = PeriodEntry {
            kind: "lunch",
            text: "Gil".to_owned(),
            note: "$10".to_owned(),
            wrong: vec!["closed".to_owned()],
            ..PeriodEntry::default()
        };
        let period = Period { title: "day 1".to_owned(), entries: vec![entry], ..Period::default() };
        assert_eq!(period.to_text(), "day 1: lunch Gil $10 (wrong)");
    }
}
