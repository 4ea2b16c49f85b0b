//! Times of day and durations, as the tables write them.

/// Minutes per hour.
const HOUR: u16 = 60;

/// Formats minutes of the day, such as `06:05`.
pub fn clock(minutes: u16) -> String {
    format!("{:02}:{:02}", minutes / HOUR, minutes % HOUR)
}

/// Formats a duration in minutes, such as `2 hours 24 minutes`.
pub fn elapsed(minutes: u16) -> String {
    format!("{} hours {} minutes", minutes / HOUR, minutes % HOUR)
}

/// Parses a time of day into minutes. `24:00` is valid.
pub(super) fn read_clock(text: &str) -> Option<u16> {
    let (hours, minutes) = text.split_once(':')?;
    let (hours, minutes): (u16, u16) = (digits(hours)?, digits(minutes)?);
    (hours <= 24 && minutes < HOUR && text.len() == 5).then(|| hours * HOUR + minutes)
}

/// Parses a duration into minutes.
pub(super) fn read_elapsed(text: &str) -> Option<u16> {
    let (hours, minutes) = text.strip_suffix(" minutes")?.split_once(" hours ")?;
    let minutes = digits(minutes).filter(|&minutes| minutes < HOUR)?;
    digits(hours)?.checked_mul(HOUR)?.checked_add(minutes)
}

/// Parses a number that consists only of digits.
fn digits(text: &str) -> Option<u16> {
    let are_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    are_digits.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_back_as_they_went_in() {
        for text in ["00:00", "06:05", "23:59", "24:00"] {
            assert_eq!(read_clock(text).map(clock).as_deref(), Some(text));
        }
        for text in ["0 hours 47 minutes", "12 hours 0 minutes"] {
            assert_eq!(read_elapsed(text).map(elapsed).as_deref(), Some(text));
        }
        assert_eq!([read_clock("6:05"), read_clock("25:00"), read_clock("+6:05")], [None; 3]);
        assert_eq!([read_clock("1093:00"), read_clock("65535:59")], [None; 2]);
        assert_eq!([read_elapsed("1 hour 2 minutes"), read_elapsed("1 hours 60 minutes")], [None; 2]);
    }
}
