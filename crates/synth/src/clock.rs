//! Clock times in texts, and the demands that name one.

use std::fmt;

use planproof_constraint::Day;
use planproof_trace::{Draw, TimeOfDay};

/// The demand of a requirement with a clock time on an action. Minutes count from midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bound {
    /// It ends at this minute or earlier: `<`.
    EndsBy(u16),
    /// It starts at this minute or later: `>`.
    StartsFrom(u16),
}

impl Bound {
    /// The minute it names.
    pub fn minute(self) -> u16 {
        match self {
            Self::EndsBy(minute) | Self::StartsFrom(minute) => minute,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EndsBy(minute) => write!(f, "ends by {}", clock_time(*minute)),
            Self::StartsFrom(minute) => write!(f, "starts from {} on", clock_time(*minute)),
        }
    }
}

/// The clock times that a paragraph can name: the multiples of a step within the day, excluding its ends, because a
/// bound at an end of the day would demand nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClockTimes {
    first: u16,
    step: u16,
    count: u16,
}

impl ClockTimes {
    pub(crate) fn of(day: Day) -> Self {
        let step = if day.minutes() >= 240 { 30 } else { 15 };
        // The first multiple after the start of the day, even if that is a multiple itself.
        let first = day.start / step * step + step;
        Self { first, step, count: (day.end.saturating_sub(1).saturating_sub(first)) / step + 1 }
    }

    pub(crate) fn draw(self, draw: &mut Draw) -> u16 {
        self.first + self.step * draw.below(u32::from(self.count)) as u16
    }
}

/// A minute of the day as in texts: "14:30". Above 24:00, where a task can end although no text names such a time,
/// the hours continue.
pub fn clock_time(minute: u16) -> String {
    TimeOfDay::from_minute(minute)
        .map_or_else(|| format!("{:02}:{:02}", minute / 60, minute % 60), |time| time.to_string())
}

#[cfg(test)]
mod tests {
    use planproof_constraint::MINUTE_MAX;

    use super::*;

    #[test]
    fn clock_times_lie_within_the_day() {
        for start in (0..1380).step_by(7) {
            for length in (60..=MINUTE_MAX - start).step_by(11) {
                let day = Day { start, end: start + length };
                let times = ClockTimes::of(day);
                let last = times.first + times.step * (times.count - 1);
                assert!(
                    times.first > start && last < day.end && last + times.step >= day.end,
                    "{day:?} {times:?}"
                );
            }
        }
        assert_eq!(clock_time(ClockTimes::of(Day { start: 480, end: 1200 }).first), "08:30");
    }
}
