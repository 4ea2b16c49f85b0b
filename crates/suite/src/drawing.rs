//! What says more as a picture than in words, as plain data: places on a map with the ways between them, what happens
//! when, and what has to come before what. Who draws them escapes texts, shortens them, and chooses measures and
//! colours; there is no markup in here that anybody would have to trust.

/// Places in a plane and the ways between them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Map {
    /// What it shows, and what it could not show; may be empty.
    pub caption: String,
    /// The places. One whose coordinates are not finite cannot be drawn.
    pub places: Vec<MapPlace>,
    /// The ways, in the order in which they are gone.
    pub ways: Vec<MapWay>,
}

/// A place of a map.
#[derive(Debug, Clone, PartialEq)]
pub struct MapPlace {
    /// Its name.
    pub name: String,
    /// How far it lies to the right, in the unit of [`north`](Self::north), whatever that is.
    pub east: f64,
    /// How far it lies up.
    pub north: f64,
}

/// A way between two places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapWay {
    /// Where it begins: a position in [`Map::places`].
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
    /// What it comes to, such as `$120`; may be empty.
    pub note: String,
    /// What is wrong with all of it, a sentence each.
    pub wrong: Vec<String>,
    /// What happens in it, in order.
    pub entries: Vec<PeriodEntry>,
}

/// Something that happens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PeriodEntry {
    /// What kind of thing it is, in a word or two: `lunch`.
    pub kind: &'static str,
    /// When: `06:05 to 07:10`; may be empty.
    pub when: String,
    /// What happens.
    pub text: String,
    /// What it comes to, such as `$30`; may be empty.
    pub note: String,
    /// What is wrong with it, a sentence each.
    pub wrong: Vec<String>,
}

/// What has to come before what, and how it fared.
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
    /// What else is demanded of it alone, in a few words; may be empty.
    pub note: String,
    /// The how-manieth thing it was that was done, from 1; `None` if it was not done.
    pub number: Option<usize>,
    /// It is the one with which it went wrong, or its own demand was violated.
    pub is_wrong: bool,
}

/// A demand that one thing comes before another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphEdge {
    /// What comes first: a position in [`Graph::nodes`].
    pub from: usize,
    /// What comes after it.
    pub to: usize,
    /// The demand in words.
    pub title: String,
    /// It was violated, or belongs to what cannot hold together.
    pub is_wrong: bool,
}

/// What took how long within one span of time, such as a day. The unit of all times is the same, whatever it is.
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
    /// The earliest beginning that was allowed, where one was named.
    pub not_before: Option<u32>,
    /// The latest end that was allowed, where one was named.
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
    /// All of it in one line.
    pub fn to_text(&self) -> String {
        let entries: Vec<String> = self.entries.iter().map(PeriodEntry::to_text).collect();
        let title = joined(&[&self.title, &self.note], &self.wrong);
        if entries.is_empty() { title } else { format!("{title}: {}", entries.join("; ")) }
    }
}

impl PeriodEntry {
    fn to_text(&self) -> String {
        joined(&[self.kind, &self.when, &self.text, &self.note], &self.wrong)
    }
}

/// What there is of these texts, and what is wrong behind them in parentheses.
fn joined(texts: &[&str], wrong: &[String]) -> String {
    let texts: Vec<&str> = texts.iter().copied().filter(|text| !text.is_empty()).collect();
    let wrong = if wrong.is_empty() { String::new() } else { format!(" (wrong: {})", wrong.join("; ")) };
    texts.join(" ") + &wrong
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
        assert_eq!(period.to_text(), "day 1: lunch Gil $10 (wrong: closed)");
    }
}
