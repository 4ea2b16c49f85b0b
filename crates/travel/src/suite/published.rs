//! Published figures of other agents on these queries (Zhang et al., PMC, tables 1 to 3 and 5 to 7), as data.
//!
//! The paper contradicts itself in two places. The column of GPT-4 + PMC on all 308 test queries repeats that of
//! the hard ones (except for the delivery rate); [`RECOMPUTED`] contains the figures that follow from its tables by
//! level. Table 3 has 4.10 for GPT-4 + ReAct at the medium level where table 6 has 1.92, which agrees with table 1.

/// The tables of rates, one row per system.
const RATES: &str = include_str!("../../data/published.tsv");
/// Table 3: shares by check and level.
const CHECKS: &str = include_str!("../../data/published_checks.tsv");

/// GPT-4 + PMC with hints on all 308 test queries, in per cent, from tables 5 to 7: (53 + 36 + 35) / 308 for the last.
pub const RECOMPUTED: [f64; 6] = [97.40, 89.73, 51.30, 51.52, 44.16, 40.26];

/// The names of the rates.
pub const RATE_NAMES: [&str; 6] =
    ["delivery", "commonsense micro", "commonsense macro", "hard micro", "hard macro", "final"];

/// The rates of a system.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedRates {
    /// The number of the table.
    pub table: u8,
    /// Whether planners got the unconventional hints.
    pub hints: bool,
    pub set: &'static str,
    /// `all`, or a level.
    pub level: &'static str,
    /// The number of queries, all for three days.
    pub queries: u32,
    pub system: &'static str,
    /// In per cent, in the order of [`RATE_NAMES`].
    pub rates: [f64; 6],
}

pub fn rates() -> Vec<PublishedRates> {
    RATES.lines().skip(1).filter_map(row).collect()
}

fn row(line: &'static str) -> Option<PublishedRates> {
    let cells: Vec<&'static str> = line.split('\t').collect();
    let [table, hints, set, level, queries, system, rates @ ..] = cells.as_slice() else { return None };
    let rates: Vec<f64> = rates.iter().filter_map(|cell| cell.parse().ok()).collect();
    Some(PublishedRates {
        table: table.parse().ok()?,
        hints: *hints == "with",
        set,
        level,
        queries: queries.parse().ok()?,
        system,
        rates: rates.try_into().ok()?,
    })
}

/// Table 3: its columns, and its rows, each with a check of the paper and its shares in per cent as printed.
pub fn checks() -> (Vec<&'static str>, Vec<Vec<&'static str>>) {
    let mut lines = CHECKS.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    (lines.next().unwrap_or_default(), lines.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_rows_are_read() {
        let rates = rates();
        assert_eq!(rates.len(), RATES.lines().count() - 1);
        assert_eq!(rates.len(), 10 + 12 + 30);
        let (columns, rows) = checks();
        assert!(rows.len() == 14 && rows.iter().all(|row| row.len() == columns.len()));
    }

    #[test]
    fn tables_by_level_give_the_rates_of_all_queries() {
        let final_of = |system: &str| -> f64 {
            let rates = rates();
            let of = rates.iter().filter(|it| it.set == "test" && it.table >= 5 && it.system == system);
            let passed: f64 = of.map(|it| (it.rates[5] * f64::from(it.queries) / 100.0).round()).sum();
            (passed / 308.0 * 10_000.0).round() / 100.0
        };
        assert_eq!(final_of("GPT-4 + PMC").to_string(), RECOMPUTED[5].to_string());
        assert_eq!(final_of("GPT-4 + ReAct").to_string(), "2.92");
        assert_eq!(final_of("GPT-4, sole-planning").to_string(), "14.94");
    }
}
