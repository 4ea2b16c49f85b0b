//! Clock times in the formats of tools and texts.

use std::fmt;

/// Minutes of a day.
const DAY_MINUTES: u16 = 24 * 60;

/// A clock time, to the minute: "14:30".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeOfDay(u16);

impl TimeOfDay {
    /// The time this many minutes after midnight; `None` above 24:00, which is the end of a day.
    pub const fn from_minute(minute: u16) -> Option<Self> {
        if minute <= DAY_MINUTES { Some(Self(minute)) } else { None }
    }

    /// Minutes since midnight.
    pub const fn minute(self) -> u16 {
        self.0
    }

    /// Reads hours and minutes with a colon between them and nothing around, "00:00" to "23:59". An hour below ten
    /// may have one digit, because "9:30" is unambiguous. Everything else is `None`: "25:00", "2 pm", "14:00:00",
    /// "noon".
    pub fn parse(text: &str) -> Option<Self> {
        let (hours, minutes) = text.split_once(':')?;
        let number = |digits: &str| {
            // `parse` alone would accept a plus sign.
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| digits.parse::<u16>().ok()).flatten()
        };
        let (hour, minute) = (number(hours)?, number(minutes)?);
        let is_time = hours.len() <= 2 && minutes.len() == 2 && hour < 24 && minute < 60;
        is_time.then(|| Self(hour * 60 + minute))
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_minute_reads_back() {
        for minute in 0..DAY_MINUTES {
            let time = TimeOfDay::from_minute(minute).expect("it is within the day");
            assert_eq!(TimeOfDay::parse(&time.to_string()), Some(time));
            assert_eq!(time.minute(), minute);
        }
        assert_eq!(TimeOfDay::from_minute(DAY_MINUTES).map(|time| time.to_string()), Some("24:00".into()));
        assert_eq!(TimeOfDay::from_minute(DAY_MINUTES + 1), None);
        assert_eq!(TimeOfDay::parse("9:05"), TimeOfDay::from_minute(545));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "25:00", "24:00", "2 pm", "2:00 pm", "14:00:00", "noon", "14", "14:5", "14:60", "114:00",
            "10651:30", "-1:00", "+9:00", "", ":", ":30", "9:", " 9:30", "9:30 ", "09.30", "1430", "９:30",
            "14:٣0",
        ] {
            assert_eq!(TimeOfDay::parse(text), None, "{text:?}");
        }
    }
}
