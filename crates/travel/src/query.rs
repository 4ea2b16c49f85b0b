//! Queries: what a traveller asks for, in words and in the fields that the evaluator uses.
//!
//! Some copies of the data include reference information about cities. It is ignored, because no planner may see
//! it. Queries come as JSON lines, or as the published tables (`query/published.rs`).

mod published;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use published::{PublishedQuery, ReferencePiece, read_published};

/// Maximum number of days of a trip. The published trips have 3, 5 or 7.
pub const DAYS_MAX: usize = 31;

/// Maximum number of travellers. The published queries have up to 8.
pub const PEOPLE_MAX: u32 = 1_000;

/// The nominal difficulty of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// One person, a budget, nothing else.
    Easy,
    Medium,
    Hard,
}

impl Level {
    /// All levels, from easy to hard.
    pub const ALL: [Self; 3] = [Self::Easy, Self::Medium, Self::Hard];

    /// Its name in the data.
    pub fn name(self) -> &'static str {
        match self {
            Self::Easy => "easy",
            Self::Medium => "medium",
            Self::Hard => "hard",
        }
    }
}

/// What the accommodation must allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum HouseRule {
    #[serde(rename = "parties")]
    Parties,
    #[serde(rename = "smoking")]
    Smoking,
    /// Children under 10.
    #[serde(rename = "children under 10")]
    Children,
    #[serde(rename = "visitors")]
    Visitors,
    #[serde(rename = "pets")]
    Pets,
}

impl HouseRule {
    /// The entry in an accommodation's rules that forbids it.
    pub fn forbidden(self) -> &'static str {
        match self {
            Self::Parties => "No parties",
            Self::Smoking => "No smoking",
            Self::Children => "No children under 10",
            Self::Visitors => "No visitors",
            Self::Pets => "No pets",
        }
    }
}

/// The kind of room requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RoomType {
    /// A shared room.
    #[serde(rename = "shared room")]
    Shared,
    /// Any but a shared room.
    #[serde(rename = "not shared room")]
    NotShared,
    /// A private room.
    #[serde(rename = "private room")]
    Private,
    /// An entire home.
    #[serde(rename = "entire room")]
    Entire,
}

impl RoomType {
    /// Whether a room type in the table satisfies the request.
    pub fn accepts(self, room_type: &str) -> bool {
        match self {
            Self::Shared => room_type == "Shared room",
            Self::NotShared => room_type != "Shared room",
            Self::Private => room_type == "Private room",
            Self::Entire => room_type == "Entire home/apt",
        }
    }
}

/// A means of travel that the travellers reject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TransportRule {
    #[serde(rename = "no flight")]
    NoFlight,
    /// No driving themselves.
    #[serde(rename = "no self-driving")]
    NoSelfDriving,
}

/// The local constraints. An absent field means no constraint.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalConstraint {
    /// What the accommodation must allow.
    #[serde(rename = "house rule", default)]
    pub house_rule: Option<HouseRule>,
    /// Cuisines, each of which must be eaten at least once.
    #[serde(default)]
    pub cuisine: Option<Vec<String>>,
    /// The kind of room.
    #[serde(rename = "room type", default)]
    pub room_type: Option<RoomType>,
    /// The rejected means of travel.
    #[serde(default)]
    pub transportation: Option<TransportRule>,
}

/// What a traveller asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Query {
    /// The number of the query in its set, from 1.
    pub idx: u64,
    /// The city where the trip begins and ends.
    pub org: String,
    /// The city to visit on a trip of 3 days, otherwise the state.
    pub dest: String,
    /// The number of days, from 1 to [`DAYS_MAX`].
    pub days: usize,
    /// The number of cities to visit.
    pub visiting_city_number: usize,
    /// The dates, such as `2022-03-16`; there are `days` of them.
    pub date: Vec<String>,
    /// The number of travellers, from 1 to [`PEOPLE_MAX`].
    pub people_number: u32,
    #[serde(default)]
    pub local_constraint: LocalConstraint,
    /// The budget for all travellers, in US dollars.
    pub budget: f64,
    /// The query in words.
    #[serde(default)]
    pub query: String,
    pub level: Level,
}

impl Query {
    /// Parses a query from a JSON line.
    ///
    /// # Errors
    /// See [`QueryError::what`].
    pub fn read(line: &str) -> Result<Self, QueryError> {
        let query: Self = serde_json::from_str(line).map_err(|error| QueryError::new(error.to_string()))?;
        query.check()?;
        Ok(query)
    }

    /// Parses a file of queries, one per line. Blank lines are skipped.
    ///
    /// # Errors
    /// [`Query::read`] rejects a line, or two queries have the same number.
    pub fn read_all(text: &str, file: &str) -> Result<Vec<Self>, QueryError> {
        let mut queries = Vec::new();
        let mut lines = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
            let at = |error: QueryError| QueryError { place: Some((file.to_owned(), number)), ..error };
            let query = Self::read(line).map_err(at)?;
            if let Some(earlier) = lines.insert(query.idx, number) {
                let what = format!("`idx` {} is that of line {earlier} too; give each its own", query.idx);
                return Err(at(QueryError::new(what)));
            }
            queries.push(query);
        }
        Ok(queries)
    }

    pub(crate) fn check(&self) -> Result<(), QueryError> {
        let fault = |what: String| Err(QueryError::new(what));
        if !(1..=DAYS_MAX).contains(&self.days) {
            return fault(format!("`days` is {}; give 1 to {DAYS_MAX}", self.days));
        }
        if self.date.len() != self.days {
            return fault(format!("`date` has {} days, `days` says {}", self.date.len(), self.days));
        }
        if let Some(date) = self.date.iter().find(|date| !is_date(date)) {
            return fault(format!("`date` has {date:?}; give dates such as \"2022-03-16\""));
        }
        if !(1..=PEOPLE_MAX).contains(&self.people_number) {
            return fault(format!("`people_number` is {}; give 1 to {PEOPLE_MAX}", self.people_number));
        }
        if !self.budget.is_finite() || self.budget < 0.0 {
            return fault(format!("`budget` is {}; give dollars", self.budget));
        }
        if self.org.is_empty() || self.dest.is_empty() {
            return fault("`org` or `dest` is empty; name a city or a state".to_owned());
        }
        Ok(())
    }

    /// Whether the destination is a state, with several cities to choose from, rather than a city.
    pub fn is_for_state(&self) -> bool {
        self.days > 3
    }
}

/// Whether a text is a calendar date such as `2022-03-16`.
pub fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return false;
    }
    let number = |part: Option<&str>| {
        part.filter(|it| it.bytes().all(|byte| byte.is_ascii_digit())).and_then(|it| it.parse::<u32>().ok())
    };
    // `get` instead of slicing, because a character of several bytes may lie across a boundary.
    let (year, month, day) = (number(text.get(..4)), number(text.get(5..7)), number(text.get(8..)));
    let (Some(year), Some(month), Some(day)) = (year, month, day) else { return false };
    let is_leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    year > 0 && (1..=days).contains(&day)
}

/// A query that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{what}", place.as_ref().map(|(file, line)| format!("{file}:{line}: ")).unwrap_or_default())]
pub struct QueryError {
    /// The file, and the line number in it, from 1.
    pub place: Option<(String, usize)>,
    /// What is wrong, and how to fix it.
    pub what: String,
}

impl QueryError {
    fn new(what: String) -> Self {
        Self { place: None, what }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"idx": 1, "org": "A", "dest": "B", "days": 3, "visiting_city_number": 1,
        "date": ["2022-03-01", "2022-03-02", "2022-03-03"], "people_number": 2, "budget": 900, "level": "hard",
        "local_constraint": {"house rule": "children under 10", "cuisine": ["Thai"], "room type": "entire room",
        "transportation": "no flight"}, "query": "", "ref_cities": ["B"]}"#;

    #[test]
    fn a_query_is_read_and_written_without_reference_cities() {
        let query = Query::read(LINE).expect("a query");
        assert_eq!(query.local_constraint.house_rule, Some(HouseRule::Children));
        assert_eq!(query.local_constraint.room_type, Some(RoomType::Entire));
        let written = serde_json::to_string(&query).expect("JSON");
        assert!(!written.contains("ref_cities"));
        assert_eq!(Query::read(&written), Ok(query));
    }

    #[test]
    fn faults_are_named() {
        for (from, to, what) in [
            ("\"days\": 3", "\"days\": 400", "`days` is 400; give 1 to 31"),
            ("\"days\": 3", "\"days\": 2", "`date` has 3 days, `days` says 2"),
            ("03-03", "02-30", "`date` has \"2022-02-30\"; give dates such as \"2022-03-16\""),
            ("\"people_number\": 2", "\"people_number\": 0", "`people_number` is 0; give 1 to 1000"),
            ("\"budget\": 900", "\"budget\": -1", "`budget` is -1; give dollars"),
        ] {
            let error = Query::read(&LINE.replace(from, to)).expect_err("a fault");
            assert_eq!(error.what, what);
        }
        let twice = format!("{0}\n\n{0}", LINE.replace('\n', " "));
        let error = Query::read_all(&twice, "q.jsonl").expect_err("a fault");
        assert_eq!(error.to_string(), "q.jsonl:3: `idx` 1 is that of line 1 too; give each its own");
    }

    #[test]
    fn dates_are_days_of_the_calendar() {
        assert!(is_date("2024-02-29") && is_date("2022-12-31"));
        for text in ["2022-02-29", "2022-13-01", "2022-3-1", "2022-03-00", "2022/03/01", "", "2022-03-é"] {
            assert!(!is_date(text), "{text}");
        }
    }
}
