//! Dates, and the length of a trip.

use super::number::{count, number};
use super::token::{Kind, Token};
use crate::query::{DAYS_MAX, is_date};

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Words and marks that connect the first and the last day.
const JOINS: [&str; 9] = ["to", "through", "until", "till", "and", "-", "–", "—", "thru"];

/// Words that may come between two dates and carry no meaning.
const FILLERS: [&str; 12] =
    ["the", "of", "on", ",", "from", "and", "to", "ending", "concluding", "conclude", "end", "ends"];

/// Maximum number of [`FILLERS`] between two dates.
const FILLERS_MAX: usize = 4;

/// A date as written, with what it specifies.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Written {
    begin: usize,
    end: usize,
    month: Option<u32>,
    day: u32,
    year: Option<u32>,
}

/// A date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Day {
    year: u32,
    month: u32,
    day: u32,
}

/// What the text says about time.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Time {
    pub(super) days: Option<usize>,
    pub(super) date: Option<Vec<String>>,
    pub(super) doubt: Option<String>,
    /// The tokens that belong to dates.
    pub(super) taken: Vec<std::ops::Range<usize>>,
}

/// Finds the length and the dates of the trip.
pub(super) fn time(tokens: &[Token<'_>]) -> Time {
    let stated = length(tokens);
    let written = all_written(tokens);
    let taken = written.iter().map(|it| it.begin..it.end).collect();
    let (first, last) = ends(&written);
    let days = match (first, last, stated) {
        // Two dates determine the days even if the text states another length; that becomes a doubt below.
        (Some(first), Some(last), _) if first <= last => Some(range(first, last)),
        (Some(first), None, Some(count)) => Some(following(first, count)),
        _ => None,
    };
    let mut time = Time { days: stated, date: None, doubt: None, taken };
    let Some(days) = days else { return time };
    if days.len() > DAYS_MAX || days.is_empty() {
        time.doubt = Some(format!("the dates are more than {DAYS_MAX} days apart"));
        return time;
    }
    match stated {
        None => time.days = Some(days.len()),
        Some(count) if count != days.len() => {
            time.doubt = Some(format!("{count} days are asked for, the dates are {}", days.len()));
        }
        Some(_) => {}
    }
    time.date = Some(days.into_iter().map(Day::text).collect());
    time
}

/// The number of days, if it is stated: `3-day`, `five days`, `a week`.
fn length(tokens: &[Token<'_>]) -> Option<usize> {
    for (at, token) in tokens.iter().enumerate() {
        let factor = match token.word.as_str() {
            "day" | "days" => 1,
            "week" | "weeks" => 7,
            "fortnight" => 14,
            _ => continue,
        };
        // `per day`, `each day` and `budget a day` refer to money, `next week` to a date.
        let before = at.checked_sub(1).and_then(|at| tokens.get(at));
        if before.is_some_and(|it| it.is_any(&["per", "each", "every", "next", "last", "this"])) {
            continue;
        }
        // From the left, so that `twenty one days` is not taken for one day.
        let begin = (at.saturating_sub(3)..at).find(|&begin| {
            count(tokens, begin, DAYS_MAX as u32).is_some_and(|(_, length)| begin + length == at)
        });
        let number = match begin {
            Some(begin) => count(tokens, begin, DAYS_MAX as u32).map(|(value, _)| value as usize),
            // `a week` is one week, but `day` without a number states no length.
            None if factor > 1 => Some(1),
            None => None,
        };
        if let Some(number) = number.filter(|&number| number > 0 && number * factor <= DAYS_MAX) {
            return Some(number * factor);
        }
    }
    None
}

fn all_written(tokens: &[Token<'_>]) -> Vec<Written> {
    let mut all: Vec<Written> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let found = written(tokens, at).or_else(|| second(tokens, at, all.last()));
        match found {
            Some(found) => {
                at = found.end;
                all.push(found);
            }
            None => at += 1,
        }
    }
    // In `the 8th to the 10th of March`, the month follows the second day.
    for at in (1..all.len()).rev() {
        if all[at - 1].month.is_none() {
            all[at - 1].month = all[at].month;
        }
    }
    all.retain(|it| it.month.is_some());
    all
}

/// A day with its month, or an ordinal followed by such a day.
fn written(tokens: &[Token<'_>], at: usize) -> Option<Written> {
    if let Some(found) = in_digits(tokens, at) {
        return Some(found);
    }
    if let Some(month) = month(tokens.get(at)?) {
        let the = usize::from(tokens.get(at + 1).is_some_and(|it| it.is_any(&["the", "."])));
        let (day, length) = day(tokens, at + 1 + the)?;
        let end = at + 1 + the + length;
        let (year, end) = year(tokens, end);
        return Some(Written { begin: at, end, month: Some(month), day, year });
    }
    if let Some((found, month_at)) = before_month(tokens, at) {
        // In `5 March 6`, the month belongs to the following day.
        let is_ordinal = number(tokens, at).is_some_and(|it| it.is_ordinal);
        if is_ordinal || day(tokens, month_at + 1).is_none() {
            return Some(found);
        }
    }
    let (day, length) = day(tokens, at)?;
    let behind = at + length;
    if !tokens.get(behind).is_some_and(|it| it.is_any(&JOINS)) {
        return None;
    }
    // `9-13 March`, `the 8th to the 10th of March`.
    let follows = (behind + 1..=behind + FILLERS_MAX).take_while(|&next| {
        tokens.get(behind + 1..next).is_some_and(|it| it.iter().all(|it| it.is_any(&FILLERS)))
    });
    let is_first = follows.into_iter().any(|next| before_month(tokens, next).is_some());
    is_first.then_some(Written { begin: at, end: behind, month: None, day, year: None })
}

/// A day before its month, and where it ends: `5 March`, `the fifth of March`.
fn before_month(tokens: &[Token<'_>], at: usize) -> Option<(Written, usize)> {
    let (day, length) = day(tokens, at)?;
    let of = usize::from(tokens.get(at + length).is_some_and(|it| it.is("of")));
    let month_at = at + length + of;
    let month = month(tokens.get(month_at)?)?;
    let (year, end) = year(tokens, month_at + 1);
    Some((Written { begin: at, end, month: Some(month), day, year }, month_at))
}

/// A day without a month after a day with one, as in `March 16th to 22nd`.
fn second(tokens: &[Token<'_>], at: usize, before: Option<&Written>) -> Option<Written> {
    let before = before?;
    let between = tokens.get(before.end..at)?;
    let is_joined = between.iter().any(|it| it.is_any(&JOINS));
    if !is_joined
        || between.len() > FILLERS_MAX
        || !between.iter().all(|it| it.is_any(&FILLERS) || it.is_any(&JOINS))
    {
        return None;
    }
    let (day, length) = day(tokens, at)?;
    // `March 16th and 2 cities` contains one date.
    let is_plain = number(tokens, at).is_some_and(|it| !it.is_ordinal);
    let is_weak = between.iter().all(|it| it.is("and"));
    if is_plain && is_weak && tokens.get(at + length).is_some_and(|it| it.kind == Kind::Word) {
        return None;
    }
    let (year, end) = year(tokens, at + length);
    Some(Written { begin: at, end, month: before.month, day, year: year.or(before.year) })
}

/// `2022-03-16`, or `3/16/2022` with the month first.
fn in_digits(tokens: &[Token<'_>], at: usize) -> Option<Written> {
    let value = |at: usize| match tokens.get(at)?.kind {
        Kind::Number { value, is_ordinal: false } if value.fract() == 0.0 && value < 10_000.0 => {
            Some(value as u32)
        }
        _ => None,
    };
    // The two marks are between the three numbers.
    let mark = |mark: &str| (1..4).step_by(2).all(|next| tokens.get(at + next).is_some_and(|it| it.is(mark)));
    let numbers = (value(at)?, value(at + 2)?, value(at + 4)?);
    let (year, month, day) = match numbers {
        (year, month, day) if mark("-") => (year, month, day),
        (month, day, year) if mark("/") => (year, month, day),
        _ => return None,
    };
    // The year must have four digits, so that `3-5-7` is not a date.
    ((1..=12).contains(&month) && (1..=31).contains(&day) && year >= 1_000).then_some(Written {
        begin: at,
        end: at + 5,
        month: Some(month),
        day,
        year: Some(year),
    })
}

fn month(token: &Token<'_>) -> Option<u32> {
    // In lower case, `may` and `march` are verbs.
    let is_name = token.raw.chars().next().is_some_and(char::is_uppercase);
    let position = MONTHS.iter().position(|month| {
        let is_short = token.word.len() >= 3 && month.starts_with(&token.word) && token.word.len() <= 4;
        token.is(month) || is_short
    });
    position.filter(|_| is_name).map(|position| position as u32 + 1)
}

fn day(tokens: &[Token<'_>], at: usize) -> Option<(u32, usize)> {
    let number = number(tokens, at)?;
    let is_day = (1.0..=31.0).contains(&number.value) && number.value.fract() == 0.0;
    is_day.then_some((number.value as u32, number.length))
}

/// The year that follows a day, and where it ends.
fn year(tokens: &[Token<'_>], at: usize) -> (Option<u32>, usize) {
    let comma = usize::from(tokens.get(at).is_some_and(|it| it.is_any(&[",", "of", "in"])));
    match tokens.get(at + comma).map(|it| it.kind) {
        Some(Kind::Number { value, is_ordinal: false }) if (1_900.0..2_100.0).contains(&value) => {
            (Some(value as u32), at + comma + 1)
        }
        _ => (None, at),
    }
}

/// The first and the last date. If only one of them has a year, the other gets the same.
fn ends(written: &[Written]) -> (Option<Day>, Option<Day>) {
    let year = written.iter().find_map(|it| it.year);
    let known = |it: &Written| {
        let found = Day { year: it.year.or(year)?, month: it.month?, day: it.day };
        is_date(&found.text()).then_some(found)
    };
    let mut all = written.iter().filter_map(known);
    // With a single date, `last` is empty: the iterator does not yield the same item from both ends.
    let (Some(mut first), last) = (all.next(), all.next_back()) else { return (None, None) };
    // From December to January the year changes.
    if last.is_some_and(|last| last < first) && written.first().is_some_and(|it| it.year.is_none()) {
        first.year -= 1;
    }
    (Some(first), last.filter(|last| first <= *last))
}

fn range(first: Day, last: Day) -> Vec<Day> {
    let days = std::iter::successors(Some(first), |day| Some(day.next()));
    // One more than the limit, so that too many days are detected.
    days.take_while(|day| *day <= last).take(DAYS_MAX + 1).collect()
}

fn following(first: Day, count: usize) -> Vec<Day> {
    std::iter::successors(Some(first), |day| Some(day.next())).take(count).collect()
}

impl Day {
    fn text(self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }

    fn next(self) -> Self {
        let next = [
            Self { day: self.day + 1, ..self },
            Self { month: self.month + 1, day: 1, ..self },
            Self { year: self.year + 1, month: 1, day: 1 },
        ];
        // `is_date` knows the lengths of months, so the first valid candidate is the next day.
        next.into_iter().find(|day| is_date(&day.text())).unwrap_or(self)
    }
}

#[cfg(test)]
mod tests {
    use super::super::token::tokens;
    use super::*;

    #[test]
    fn dates_are_read_in_many_forms() {
        let cases = [
            ("from March 16th to March 18th, 2022", "2022-03-16", 3),
            ("from the 8th to the 10th of March, 2022", "2022-03-08", 3),
            ("the 23rd of March to the 29th of March, 2022", "2022-03-23", 7),
            ("between March 9th and 13th, 2022", "2022-03-09", 5),
            ("March 13th, 2022 to March 15th, 2022", "2022-03-13", 3),
            ("starting March 20 to March 26, 2022", "2022-03-20", 7),
            ("30 April until 2 May 2022", "2022-04-30", 3),
            ("Dec. 30 – Jan 2, 2023", "2022-12-30", 4),
            ("December 30th, 2022 to January 2nd, 2023", "2022-12-30", 4),
            ("2022-02-27 to 2022-03-01", "2022-02-27", 3),
            ("3/5/2022-3/9/2022", "2022-03-05", 5),
            ("a 4-day trip on the fifth of March 2022", "2022-03-05", 4),
            ("from March 3-5, 2022", "2022-03-03", 3),
            ("9-13 March 2022", "2022-03-09", 5),
            ("on the 30th and 31st of March 2022", "2022-03-30", 2),
            ("begin on March 8th and conclude on March 14th, 2022", "2022-03-08", 7),
            ("March 1st and 2 cities in 2022", "", 0),
        ];
        for (text, first, count) in cases {
            let date = time(&tokens(text)).date.unwrap_or_default();
            assert_eq!((date.first().map_or("", String::as_str), date.len()), (first, count), "{text}");
        }
    }

    #[test]
    fn lengths_are_read() {
        let cases = [
            ("a 3-day trip", Some(3)),
            ("for five days", Some(5)),
            ("a week-long trip", Some(7)),
            ("two weeks", Some(14)),
            ("$40 per day", None),
            ("90 days", None),
            ("March 3rd to March 5th, 2022", Some(3)),
        ];
        for (text, expected) in cases {
            assert_eq!(time(&tokens(text)).days, expected, "{text}");
        }
        let doubt = time(&tokens("5 days, March 3rd to March 5th, 2022")).doubt;
        assert_eq!(doubt.as_deref(), Some("5 days are asked for, the dates are 3"));
    }
}
