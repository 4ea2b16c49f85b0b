//! Ratings of the results of executed plans, and how well metrics correlate with them (the paper, appendix E: Table
//! 15 and Figure 16).
//!
//! A row of such a sheet is a query in a setting, such as an agent with its feedback; its id is `SETTING#ID`.

use std::collections::BTreeMap;

use csv::ReaderBuilder;

use super::agreement::{Undefined, pearson};
use super::sheet::Ratings;

/// Maximum number of settings, and of metrics.
const SIDE_MAX: usize = 1000;

/// How well a setting did.
#[derive(Debug, Clone, PartialEq)]
pub struct RatedSetting {
    pub setting: String,
    /// The number of its results that were rated.
    pub rated: usize,
    /// The mean rating of its results in per cent. The rating of a result is the mean over its raters.
    pub accuracy: f64,
}

/// How well a metric correlates with the ratings.
#[derive(Debug, Clone, PartialEq)]
pub struct Correlation {
    pub metric: String,
    /// The number of settings that have both.
    pub settings: usize,
    /// Pearson's correlation over them.
    pub pearson: Result<f64, Undefined>,
}

/// What is wrong with ratings of results or with a table of metrics.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResultsError {
    /// An id does not contain its setting.
    #[error("id \"{id}\" is not of the form SETTING#ID")]
    Id { id: String },
    /// The table cannot be used.
    #[error("line {line}: {why}")]
    Table {
        /// The number of the line, from 1; 0 if there is none.
        line: u64,
        why: String,
    },
    /// No setting of the table is rated.
    #[error("no setting of the table is one of those that are rated: {rated}")]
    Apart {
        /// The settings that are rated.
        rated: String,
    },
}

/// The id of a result.
pub fn result_id(setting: &str, id: &str) -> String {
    format!("{setting}#{id}")
}

/// The accuracy of each setting, ordered by name. Results without a rating do not count.
///
/// # Errors
/// An id does not contain its setting.
pub fn accuracies(ratings: &Ratings) -> Result<Vec<RatedSetting>, ResultsError> {
    let mut by_setting: BTreeMap<&str, (usize, f64)> = BTreeMap::new();
    for (id, row) in &ratings.rows {
        // From the right, so that the name of a setting may contain a `#`.
        let (setting, _) = id.rsplit_once('#').ok_or_else(|| ResultsError::Id { id: id.clone() })?;
        let given: Vec<f64> = row.iter().flatten().copied().collect();
        if !given.is_empty() {
            let (rated, sum) = by_setting.entry(setting).or_default();
            *rated += 1;
            *sum += given.iter().sum::<f64>() / given.len() as f64;
        }
    }
    let setting = |(setting, (rated, sum)): (&str, (usize, f64))| RatedSetting {
        setting: setting.to_owned(),
        rated,
        accuracy: 100.0 * sum / rated as f64,
    };
    Ok(by_setting.into_iter().map(setting).collect())
}

/// Correlates the ratings with a table of metrics in CSV. The first column is `setting`, and every other column is
/// a metric; an empty cell means no value.
///
/// # Errors
/// The table cannot be used, or contains none of the settings.
pub fn correlations(rated: &[RatedSetting], table: &str) -> Result<Vec<Correlation>, ResultsError> {
    let mut reader =
        ReaderBuilder::new().from_reader(table.strip_prefix('\u{feff}').unwrap_or(table).as_bytes());
    let fail = |line, why: String| ResultsError::Table { line, why };
    let csv = |error: csv::Error| fail(error.position().map_or(0, csv::Position::line), error.to_string());
    let names = reader.headers().map_err(csv)?.clone();
    if names.get(0).map(str::trim) != Some("setting") || names.len() < 2 {
        return Err(fail(1, "the columns are not \"setting\" and then metrics".to_owned()));
    }
    if names.len() > SIDE_MAX {
        return Err(fail(1, format!("there are more than {SIDE_MAX} metrics")));
    }
    let mut points: Vec<Vec<(f64, f64)>> = vec![Vec::new(); names.len() - 1];
    let (mut seen, mut is_shared) = (Vec::new(), false);
    for record in reader.records() {
        let record = record.map_err(csv)?;
        let line = record.position().map_or(0, csv::Position::line);
        let name = record.get(0).unwrap_or_default().trim().to_owned();
        // A linear search: there are at most `SIDE_MAX` settings.
        if seen.contains(&name) {
            return Err(fail(line, format!("setting \"{name}\" is in an earlier row already")));
        }
        let of = rated.iter().find(|rated| rated.setting == name);
        is_shared |= of.is_some();
        seen.push(name);
        if seen.len() > SIDE_MAX {
            return Err(fail(line, format!("there are more than {SIDE_MAX} settings")));
        }
        for (cell, points) in record.iter().skip(1).map(str::trim).zip(&mut points) {
            if cell.is_empty() {
                continue;
            }
            let value: Option<f64> = cell.parse().ok().filter(|value: &f64| value.is_finite());
            let value = value.ok_or_else(|| fail(line, format!("\"{cell}\" is no number")))?;
            // A setting without ratings is left out, but only after its cells have been checked.
            points.extend(of.map(|rated| (value, rated.accuracy)));
        }
    }
    if !is_shared {
        let rated: Vec<&str> = rated.iter().map(|rated| rated.setting.as_str()).collect();
        return Err(ResultsError::Apart { rated: rated.join(", ") });
    }
    let correlation = |(metric, points): (&str, Vec<(f64, f64)>)| Correlation {
        metric: metric.trim().to_owned(),
        settings: points.len(),
        pearson: pearson(&points),
    };
    Ok(names.iter().skip(1).zip(points).map(correlation).collect())
}

#[cfg(test)]
mod tests {
    use super::super::sheet::{Scale, read_sheet};
    use super::*;

    fn rated() -> Vec<RatedSetting> {
        let sheet = "id,query,rating A,rating B\njson P#1,x,1,0.5\njson P#2,x,1,\njson P#3,x,,\ncode#a#1,x,0,0.5\nstep#1,x,0.5,0.5\n";
        accuracies(&read_sheet(sheet, Scale::Halves).unwrap()).unwrap()
    }

    #[test]
    fn the_accuracy_of_a_setting_is_the_mean_of_its_results() {
        let found: Vec<_> =
            rated().into_iter().map(|rated| (rated.setting, rated.rated, rated.accuracy)).collect();
        assert_eq!(
            found,
            [("code#a".to_owned(), 1, 25.0), ("json P".to_owned(), 2, 87.5), ("step".to_owned(), 1, 50.0)]
        );
        let bad = read_sheet("id,rating A\n17,1\n", Scale::Halves).unwrap();
        assert_eq!(accuracies(&bad), Err(ResultsError::Id { id: "17".to_owned() }));
    }

    #[test]
    fn metrics_are_correlated_over_the_settings_that_have_both() {
        let table =
            "setting,tool_f1,pass_rate,turns\njson P,87.5,10,1\ncode#a,25,30,1\nstep,50,,1\nother,3,3,3\n";
        let found = correlations(&rated(), table).unwrap();
        let [tool, pass, turns] = &found[..] else { panic!("{found:?}") };
        assert_eq!((tool.metric.as_str(), tool.settings, tool.pearson), ("tool_f1", 3, Ok(1.0)));
        assert_eq!((pass.settings, pass.pearson), (2, Ok(-1.0)));
        assert_eq!(turns.pearson, Err(Undefined::NoSpread));
    }

    #[test]
    fn what_is_wrong_with_a_table_is_said() {
        for (table, why) in [
            ("", "line 1: the columns are not \"setting\""),
            ("metric,json P\n", "line 1: the columns are not"),
            ("setting\njson P\n", "line 1: the columns are not"),
            ("setting,f1\njson P,x\n", "line 2: \"x\" is no number"),
            ("setting,f1\njson P,inf\n", "\"inf\" is no number"),
            ("setting,f1\njson P,1\njson P,2\n", "line 3: setting \"json P\" is in an earlier row"),
            ("setting,f1\njson P,1,2\n", "line 2"),
            (
                "setting,f1\nother,1\n",
                "no setting of the table is one of those that are rated: code#a, json P, step",
            ),
        ] {
            let said = correlations(&rated(), table).unwrap_err().to_string();
            assert!(said.contains(why), "{table:?}: {said}");
        }
    }
}
