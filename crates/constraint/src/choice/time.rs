//! Times as integer minutes: of a day, or since the first day of the year 0.

/// Minutes of a day.
pub(super) const DAY_MINUTES: i64 = 24 * 60;

/// The written form of a time. Times of different forms cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TimeNotation {
    /// `HH:MM`, a time of any day.
    Clock,
    /// `YYYY-MM-DD`, the first minute of a day.
    Date,
    /// `YYYY-MM-DD HH:MM`, also with a `T` between them.
    DateTime,
}

impl TimeNotation {
    /// How it is written, for messages.
    pub fn pattern(self) -> &'static str {
        match self {
            Self::Clock => "HH:MM",
            Self::Date => "YYYY-MM-DD",
            Self::DateTime => "YYYY-MM-DD HH:MM",
        }
    }
}

/// The minutes of a text, and its form; `None` if it is not a time. An hour may have one digit.
pub(super) fn read_time(text: &str) -> Option<(TimeNotation, i64)> {
    if let Some((date, clock)) = text.split_once([' ', 'T']) {
        return Some((TimeNotation::DateTime, date_minutes(date)? + clock_minutes(clock)?));
    }
    match clock_minutes(text) {
        Some(minutes) => Some((TimeNotation::Clock, minutes)),
        None => Some((TimeNotation::Date, date_minutes(text)?)),
    }
}

fn clock_minutes(text: &str) -> Option<i64> {
    let (hour, minute) = text.split_once(':')?;
    let hour = digits(hour, 1..=2)?;
    let minute = digits(minute, 2..=2)?;
    (hour < 24 && minute < 60).then(|| hour * 60 + minute)
}

fn date_minutes(text: &str) -> Option<i64> {
    let mut parts = text.split('-');
    let year = digits(parts.next()?, 4..=4)?;
    let month = digits(parts.next()?, 2..=2)?;
    let day = digits(parts.next()?, 2..=2)?;
    let lengths = [31, 28 + i64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    // Month 0 fails here, and month 13 at the lookup below.
    let place = usize::try_from(month - 1).ok()?;
    if parts.next().is_some() || day < 1 || day > *lengths.get(place)? {
        return None;
    }
    // The year 0 is a leap year, so each completed year adds its 365 days, and the leap years among them one more.
    let leap_days = if year == 0 { 0 } else { (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400 + 1 };
    let days = year * 365 + leap_days + lengths[..place].iter().sum::<i64>() + day - 1;
    Some(days * DAY_MINUTES)
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn digits(text: &str, lengths: std::ops::RangeInclusive<usize>) -> Option<i64> {
    let are_digits = lengths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if are_digits { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_three_forms() {
        assert_eq!(read_time("10:40"), Some((TimeNotation::Clock, 640)));
        assert_eq!(read_time("9:05"), Some((TimeNotation::Clock, 545)));
        assert_eq!(read_time("0000-01-01"), Some((TimeNotation::Date, 0)));
        let minutes = |text| read_time(text).unwrap().1;
        assert_eq!(minutes("2024-03-01 00:10") - minutes("2024-02-28T23:50"), 24 * 60 + 20);
        for text in
            ["24:00", "10:60", "1:5", "10.40", "", "2023-02-29", "2024-13-01", "2024-1-01", "-1:00", "１0:00"]
        {
            assert_eq!(read_time(text), None, "{text}");
        }
    }

    #[test]
    fn days_follow_one_another() {
        let mut before = read_time("0000-01-01").unwrap().1 - DAY_MINUTES;
        for year in 0..=2105 {
            for month in 1..=12 {
                for day in 1..=31 {
                    if let Some((form, minutes)) = read_time(&format!("{year:04}-{month:02}-{day:02}")) {
                        assert_eq!((form, minutes), (TimeNotation::Date, before + DAY_MINUTES));
                        before = minutes;
                    }
                }
            }
        }
        // By the calendar of Python: `date(2105, 12, 31).toordinal() + 365`, as the year 0 has 366 days and 1-01-01 is
        // 1.
        assert_eq!(before / DAY_MINUTES, 769_200);
    }
}
