//! The published tables of queries: CSV with a header, in which dates, constraints, reference information and plans
//! are Python literals.

use csv::{ReaderBuilder, StringRecord};
use serde::Deserialize;
use serde_json::Value;

use super::{Level, LocalConstraint, Query, QueryError};
use crate::plan::TripPlan;
use crate::python::literal;

/// The columns of all tables.
const COLUMNS: [&str; 6] = ["org", "dest", "days", "date", "query", "level"];
/// The columns of what plans are judged by. The published test set has none of them.
const JUDGED_BY: [&str; 4] = ["visiting_city_number", "people_number", "local_constraint", "budget"];
const REFERENCE: &str = "reference_information";
/// The additional column of the training set.
const PLAN: &str = "annotated_plan";

/// Maximum number of characters of a cell that an error quotes.
const CELL_CHARACTERS_MAX: usize = 80;

/// A query with the data published with it.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedQuery {
    /// The query. Its number is its position in the table, from 1.
    pub query: Query,
    /// The reference information for sole-planning agents; empty if the table has none.
    pub reference: Vec<ReferencePiece>,
    /// A human-annotated plan, in the training set.
    pub annotated_plan: Option<TripPlan>,
    /// It is of the test set, so the fields that plans are judged by have the least values that they can have.
    pub unjudged: bool,
}

/// A piece of the reference information for sole-planning agents.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ReferencePiece {
    /// Its description, such as `Restaurants in Reno`.
    #[serde(rename = "Description")]
    pub description: String,
    /// The result of a search.
    #[serde(rename = "Content")]
    pub content: String,
}

/// Parses a published table of queries. Columns may be in any order, and others are ignored. The time is linear in
/// the length of the text.
///
/// # Errors
/// The line and the column that cannot be parsed.
pub fn read_published(text: &str, file: &str) -> Result<Vec<PublishedQuery>, QueryError> {
    // Spreadsheet programs write a byte order mark, which would become part of the first column's name.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = ReaderBuilder::new().from_reader(text.as_bytes());
    let fault = |error: &csv::Error| {
        let line = error.position().map_or(1, csv::Position::line);
        let what = match error.kind() {
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => format!(
                "it has {len} cells, the header has {expected_len}; is a quote missing, or the file cut off?"
            ),
            _ => error.to_string(),
        };
        QueryError { place: Some((file.to_owned(), line as usize)), what }
    };
    let header = reader.headers().map_err(|error| fault(&error))?.clone();
    let is_absent = |name: &&&str| header.iter().all(|it| it != **name);
    let unjudged = JUDGED_BY.iter().all(|name| is_absent(&name));
    let needed = COLUMNS.iter().chain(if unjudged { &[][..] } else { &JUDGED_BY });
    if let Some(missing) = needed.into_iter().find(is_absent) {
        let what = format!("there is no column `{missing}`");
        return Err(QueryError { place: Some((file.to_owned(), 1)), what });
    }
    let mut queries = Vec::new();
    let mut record = StringRecord::new();
    while reader.read_record(&mut record).map_err(|error| fault(&error))? {
        let line = record.position().map_or(0, csv::Position::line) as usize;
        let row = Row { header: &header, record: &record, unjudged };
        let query = row.query(queries.len() as u64 + 1);
        queries.push(query.map_err(|error| QueryError { place: Some((file.to_owned(), line)), ..error })?);
    }
    Ok(queries)
}

struct Row<'r> {
    header: &'r StringRecord,
    record: &'r StringRecord,
    /// The columns in [`JUDGED_BY`] are absent.
    unjudged: bool,
}

impl<'r> Row<'r> {
    fn query(&self, idx: u64) -> Result<PublishedQuery, QueryError> {
        let query = Query {
            idx,
            org: self.text("org").to_owned(),
            dest: self.text("dest").to_owned(),
            days: self.number("days")?,
            visiting_city_number: if self.unjudged { 1 } else { self.number("visiting_city_number")? },
            date: self.value("date", "a list of dates such as ['2022-03-16']")?,
            people_number: if self.unjudged { 1 } else { self.number("people_number")? },
            local_constraint: match self.unjudged {
                true => LocalConstraint::default(),
                false => self.value::<LocalConstraint>(
                    "local_constraint",
                    "a dictionary such as {'house rule': None, 'cuisine': None, 'room type': None, 'transportation': \
                     None}",
                )?,
            },
            budget: if self.unjudged { 0.0 } else { self.number("budget")? },
            query: self.text("query").to_owned(),
            level: Level::ALL
                .into_iter()
                .find(|level| level.name() == self.text("level"))
                .ok_or_else(|| self.wrong("level", "easy, medium or hard"))?,
        };
        query.check()?;
        Ok(PublishedQuery {
            query,
            reference: self
                .optional(REFERENCE, "a list of {'Description': .., 'Content': ..}")?
                .unwrap_or_default(),
            annotated_plan: self.plan()?,
            unjudged: self.unjudged,
        })
    }

    /// The cell of a column; empty if the column is absent.
    fn text(&self, name: &str) -> &'r str {
        let at = self.header.iter().position(|it| it == name);
        at.and_then(|at| self.record.get(at)).unwrap_or_default()
    }

    fn wrong(&self, name: &str, wanted: &str) -> QueryError {
        let cell: String = self.text(name).chars().take(CELL_CHARACTERS_MAX).collect();
        QueryError::new(format!("`{name}` is {cell:?}; write {wanted}"))
    }

    fn number<T: std::str::FromStr>(&self, name: &str) -> Result<T, QueryError> {
        self.text(name).trim().parse().map_err(|_| self.wrong(name, "a number"))
    }

    fn value<T: for<'de> Deserialize<'de>>(&self, name: &str, wanted: &str) -> Result<T, QueryError> {
        let value = literal(self.text(name))
            .map_err(|what| QueryError::new(format!("`{name}` cannot be read: {what}; write {wanted}")))?;
        T::deserialize(value).map_err(|error| QueryError::new(format!("`{name}`: {error}; write {wanted}")))
    }

    fn optional<T: for<'de> Deserialize<'de>>(
        &self,
        name: &str,
        wanted: &str,
    ) -> Result<Option<T>, QueryError> {
        if self.text(name).is_empty() { Ok(None) } else { self.value(name, wanted).map(Some) }
    }

    /// The plan, which is published in a list after its query.
    fn plan(&self) -> Result<Option<TripPlan>, QueryError> {
        let wanted = "a list of the query and its days";
        let Some(Value::Array(mut items)) = self.optional(PLAN, wanted)? else { return Ok(None) };
        match items.get_mut(1).map(Value::take) {
            Some(days @ Value::Array(_)) => Ok(Some(TripPlan(days))),
            _ => Err(self.wrong(PLAN, wanted)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::HouseRule;

    const HEADER: &str = "org,dest,days,visiting_city_number,date,people_number,local_constraint,budget,query,level,\
        annotated_plan,reference_information";
    const ROW: &str = r#"A,B,3,1,"['2022-03-01', '2022-03-02', '2022-03-03']",2,"{'house rule': 'smoking', 'cuisine': ['Thai', 'French'], 'room type': None, 'transportation': None}",900,"Two
        lines.",hard,"[{'org': 'A'}, [{'days': 1, 'current_city': 'from A to B'}, {}]]","[{'Description': 'Restaurants in B', 'Content': ""It's \n here""}]""#;

    #[test]
    fn a_row_is_read_with_what_stands_beside_it() {
        let queries = read_published(&format!("{HEADER}\n{ROW}\n{ROW}\n"), "train.csv").expect("queries");
        assert_eq!(queries.iter().map(|it| it.query.idx).collect::<Vec<_>>(), [1, 2]);
        let PublishedQuery { query, reference, annotated_plan, unjudged: _ } = &queries[0];
        assert_eq!((query.days, query.people_number, query.budget), (3, 2, 900.0));
        assert_eq!(query.date, ["2022-03-01", "2022-03-02", "2022-03-03"]);
        assert_eq!(query.local_constraint.house_rule, Some(HouseRule::Smoking));
        assert_eq!(
            query.local_constraint.cuisine.as_deref(),
            Some(&["Thai".to_owned(), "French".to_owned()][..])
        );
        assert_eq!((query.level, query.local_constraint.room_type), (Level::Hard, None));
        assert_eq!(reference[0].content, "It's \n here");
        assert_eq!(annotated_plan.as_ref().and_then(|plan| plan.len().ok()), Some(2));
    }

    #[test]
    fn the_validation_set_has_no_plans() {
        let header = HEADER.replace("annotated_plan,", "").replace(",reference_information", "");
        let row = ROW.split(",\"[{'org'").next().expect("a row");
        let queries = read_published(&format!("\u{feff}{header}\n{row}\n"), "v.csv").expect("a query");
        assert_eq!((&queries[0].annotated_plan, queries[0].reference.len()), (&None, 0));
    }

    #[test]
    fn faults_have_line_and_column() {
        for (from, to, what) in [
            (",3,1,", ",three,1,", "q.csv:4: `days` is \"three\"; write a number"),
            (",3,1,", ",4,1,", "q.csv:4: `date` has 3 days, `days` says 4"),
            (
                "['2022-03-01'",
                "[2022-03-01",
                "q.csv:4: `date` cannot be read: there is no number at character 2; write a list of dates such as \
                 ['2022-03-16']",
            ),
            ("hard,", "harder,", "q.csv:4: `level` is \"harder\"; write easy, medium or hard"),
            (
                "}, [{'days'",
                "}, {'days'",
                "q.csv:4: `annotated_plan` cannot be read: something follows the value at character 63; \
                write a list of the query and its days",
            ),
            (
                "'Content'",
                "'Contents'",
                "q.csv:4: `reference_information`: missing field `Content`; write a list of \
                {'Description': .., 'Content': ..}",
            ),
            (",900,", ",nan,", "q.csv:4: `budget` is NaN; give dollars"),
        ] {
            let changed = ROW.replace(from, to);
            assert_ne!(changed, ROW);
            let error = read_published(&format!("{HEADER}\n{ROW}\n{changed}\n"), "q.csv").expect_err(to);
            assert_eq!(error.to_string(), what);
        }
        let smoke = ROW.replace("'smoking'", "'loud music'");
        let error =
            read_published(&format!("{HEADER}\n{smoke}\n"), "q.csv").expect_err("a fault").to_string();
        assert!(
            error.starts_with("q.csv:2: `local_constraint`: unknown variant `loud music`, expected one of"),
            "{error}"
        );
        for (header, missing) in [
            ("days,query,level", "org"),
            (&HEADER.replace(",budget", ",x"), "budget"),
            ("org,dest,days,date,query,level,people_number", "visiting_city_number"),
        ] {
            let error = read_published(&format!("{header}\n"), "test.csv").expect_err("no columns");
            assert_eq!(error.to_string(), format!("test.csv:1: there is no column `{missing}`"));
        }
    }

    #[test]
    fn the_test_set_has_nothing_to_judge_by() {
        let table = "org,dest,days,date,query,level,reference_information\n\
                     A,B,3,\"['2022-03-01', '2022-03-02', '2022-03-03']\",Go.,hard,\"[]\"\n";
        let queries = read_published(table, "test.csv").expect("a query");
        let PublishedQuery { query, unjudged, .. } = &queries[0];
        assert!(*unjudged && query.check().is_ok());
        assert_eq!((&*query.query, query.level), ("Go.", Level::Hard));
        assert!(!read_published(&format!("{HEADER}\n{ROW}\n"), "v.csv").expect("a query")[0].unjudged);
    }
}
