//! Comparison of rows of a query with the right ones, and of numbers.

use planproof_tools::sql::{Rows, SqlValue};

/// The tolerance for a number that the paper prints with few digits: it truncates, as in 20.08 for e^3.
pub const PRINTED_DISTANCE: f64 = 1e-2;
/// The relative tolerance for a number of ours.
pub const RELATIVE_DISTANCE: f64 = 1e-6;

/// Most rows of a difference that are shown.
const SHOWN_MAX: usize = 3;

/// Whether a number is the right one.
pub fn is_near(found: f64, right: f64, is_printed: bool) -> bool {
    let distance = (found - right).abs();
    // NaN is close to nothing, and infinite values only to themselves.
    found == right
        || distance <= RELATIVE_DISTANCE * right.abs()
        // Relative to zero, every distance would be too large.
        || (right == 0.0 && distance <= RELATIVE_DISTANCE)
        || (is_printed && distance <= PRINTED_DISTANCE)
}

/// How rows differ from the right ones, in a few words; `None` if they are right. Names of columns are ignored. The
/// order of rows matters if `is_ordered`; otherwise both are sets, so that neither order nor repetition matters.
/// Takes time in proportion to the product of their lengths.
pub fn difference(
    found: &Rows,
    right: &[Vec<SqlValue>],
    is_ordered: bool,
    is_printed: bool,
) -> Option<String> {
    // The rows are incomplete, so there is no point in comparing them.
    if found.cut.is_some() {
        return Some(format!("more than {} rows", found.rows.len()));
    }
    let same = |a: &[SqlValue], b: &[SqlValue]| is_same_row(a, b, is_printed);
    let width = right.first().map(Vec::len);
    // First, because with other columns every single row is another one.
    if let (Some(width), Some(row)) = (width, found.rows.first())
        && row.len() != width
    {
        return Some(format!("{} columns instead of {width}", row.len()));
    }
    // With different lengths, the sets below show better what is missing or too much.
    if is_ordered && found.rows.len() == right.len() {
        let mut pairs = found.rows.iter().zip(right).enumerate();
        return pairs.find(|(_, (found, right))| !same(found, right)).map(|(index, (found, right))| {
            format!("row {} is {} instead of {}", index + 1, shown(found), shown(right))
        });
    }
    let missing: Vec<_> = right.iter().filter(|row| !found.rows.iter().any(|it| same(it, row))).collect();
    let extra: Vec<_> = found.rows.iter().filter(|row| !right.iter().any(|it| same(row, it))).collect();
    let list = |rows: &[&Vec<SqlValue>]| {
        let texts: Vec<String> = rows.iter().take(SHOWN_MAX).map(|row| shown(row)).collect();
        let more = rows.len().saturating_sub(SHOWN_MAX);
        if more > 0 { format!("{} and {more} more", texts.join("; ")) } else { texts.join("; ") }
    };
    match (missing.is_empty(), extra.is_empty()) {
        // The same rows, but some of them more or less often.
        (true, true) if is_ordered => Some(format!("{} rows instead of {}", found.rows.len(), right.len())),
        (true, true) => None,
        (false, true) => Some(format!("missing {}", list(&missing))),
        (true, false) => Some(format!("too many: {}", list(&extra))),
        (false, false) => Some(format!("missing {}; too many: {}", list(&missing), list(&extra))),
    }
}

fn is_same_row(found: &[SqlValue], right: &[SqlValue], is_printed: bool) -> bool {
    let same = |(found, right): (&SqlValue, &SqlValue)| match (found.as_number(), right.as_number()) {
        (Some(found), Some(right)) => is_near(found, right, is_printed),
        _ => found == right,
    };
    found.len() == right.len() && found.iter().zip(right).all(same)
}

/// A row in a line.
fn shown(row: &[SqlValue]) -> String {
    row.iter().map(SqlValue::to_string).collect::<Vec<_>>().join(" | ")
}

#[cfg(test)]
mod tests {
    use planproof_tools::sql::Cut;

    use super::*;

    fn text(text: &str) -> SqlValue {
        SqlValue::Text(text.to_owned())
    }

    fn rows(rows: &[&[SqlValue]]) -> Vec<Vec<SqlValue>> {
        rows.iter().map(|row| row.to_vec()).collect()
    }

    fn differs(found: &[&[SqlValue]], right: &[&[SqlValue]], is_ordered: bool) -> Option<String> {
        let found = Rows { columns: Vec::new(), rows: rows(found), cut: None };
        difference(&found, &rows(right), is_ordered, false)
    }

    #[test]
    fn rows_are_sets_or_lists() {
        let [a, b, c] = ["a", "b", "c"].map(text);
        let [a, b, c]: [&[SqlValue]; 3] = [&[a], &[b], &[c]];
        assert_eq!(differs(&[b, a, a], &[a, b], false), None);
        assert_eq!(differs(&[a, b], &[a, b], true), None);
        assert_eq!(differs(&[b, a], &[a, b], true).unwrap(), "row 1 is b instead of a");
        assert_eq!(differs(&[a, a, b], &[a, b], true).unwrap(), "3 rows instead of 2");
        assert_eq!(differs(&[a, c], &[a, b], false).unwrap(), "missing b; too many: c");
        assert_eq!(differs(&[a], &[a, b], false).unwrap(), "missing b");
        assert_eq!(differs(&[a, b, c], &[a], true).unwrap(), "too many: b; c");
        assert_eq!(differs(&[], &[a], false).unwrap(), "missing a");
        assert_eq!(differs(&[], &[], false), None);
        assert_eq!(differs(&[&[text("a"), text("b")]], &[a], false).unwrap(), "2 columns instead of 1");
    }

    #[test]
    fn numbers_are_near_and_texts_the_same() {
        let number = SqlValue::Real(35.16);
        assert_eq!(differs(&[&[SqlValue::Integer(12)]], &[&[SqlValue::Real(12.0)]], true), None);
        assert_eq!(differs(&[&[SqlValue::Real(35.160_000_1)]], &[&[number]], true), None);
        assert!(differs(&[&[text("12")]], &[&[SqlValue::Integer(12)]], true).is_some());
        assert!(differs(&[&[SqlValue::Null]], &[&[SqlValue::Integer(0)]], true).is_some());
        assert!(differs(&[&[text("a")]], &[&[text("A")]], true).is_some());
    }

    #[test]
    fn a_result_that_was_cut_is_not_the_right_one() {
        let found = Rows { columns: Vec::new(), rows: rows(&[&[text("a")]]), cut: Some(Cut::Rows) };
        assert_eq!(difference(&found, &rows(&[&[text("a")]]), false, false).unwrap(), "more than 1 rows");
    }

    #[test]
    fn printed_numbers_have_few_digits() {
        assert!(is_near(20.085_536_9, 20.08, true));
        assert!(!is_near(20.085_536_9, 20.08, false));
        assert!(!is_near(20.1, 20.08, true));
        assert!(is_near(1e-9, 0.0, false));
        assert!(!is_near(f64::NAN, 0.0, true));
        assert!(!is_near(f64::INFINITY, 1.0, true));
        assert!(is_near(-3.0, -3.000_000_1, false));
    }
}
