//! Sentence fragments: lists, articles, numbers, days.

/// Numbers that are written as words.
const WORDS: [&str; 13] =
    ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

/// Names of the months.
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// `A`, `A and B`, `A, B and C`.
pub(super) fn and<T: AsRef<str>>(items: &[T]) -> String {
    match items {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", first.join(", "), last.as_ref())
        }
    }
}

/// A noun with its indefinite article. Our nouns start with a vowel sound exactly if they start with a vowel.
pub(super) fn a(noun: &str) -> String {
    let is_vowel = noun.chars().next().is_some_and(|it| "aeiouAEIOU".contains(it));
    format!("{} {noun}", if is_vowel { "an" } else { "a" })
}

/// `one night`, `three nights`, `40 nights`, for nouns with a plural in `s`.
pub(super) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", word(number))
}

/// `one`, `three`, `40`.
pub(super) fn word(number: usize) -> String {
    WORDS.get(number).map_or_else(|| number.to_string(), |word| (*word).to_owned())
}

/// `is` for one, `are` for zero or several.
pub(super) fn is(number: usize) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

/// The text with its first letter capitalized.
pub(super) fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// The text with its first letter in lower case, unless that letter stands alone, as in `T-shirt`.
pub(super) fn small(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) if characters.clone().next().is_some_and(char::is_alphabetic) => {
            first.to_lowercase().chain(characters).collect()
        }
        _ => text.to_owned(),
    }
}

/// `84,000`, `3,966.67`: with two decimals, or none.
pub(super) fn amount(number: f64) -> String {
    // Rounded before it is split into whole and cents, so that there are never 100 of these.
    let cents = (number.abs() * 100.0).round();
    let whole = (cents / 100.0).floor();
    let mut text = String::new();
    let digits = format!("{whole}");
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    let cents = cents - whole * 100.0;
    let sign = if number < 0.0 { "-" } else { "" };
    match cents > 0.0 {
        true => format!("{sign}{text}.{cents:02}"),
        false => format!("{sign}{text}"),
    }
}

/// An address or a city within a sentence: followed by a comma if it contains one.
pub(super) fn inside(place: &str) -> String {
    if place.contains(',') { format!("{place},") } else { place.to_owned() }
}

/// A garment with its article if it needs one: `a hat`, `an umbrella`, `gloves`.
pub(super) fn garment(name: &str) -> String {
    let name = small(name);
    if name.ends_with('s') { name } else { a(&name) }
}

/// `it is sunny`, `there is light rain`.
pub(super) fn sky(description: &str) -> String {
    let description = small(description);
    let is_noun = ["rain", "snow", "storm", "drizzle"].iter().any(|noun| description.ends_with(noun));
    format!("{} {description}", if is_noun { "there is" } else { "it is" })
}

/// `one degree`, `18 degrees`.
pub(super) fn degrees(number: f64) -> String {
    format!("{number} degree{}", if number == 1.0 { "" } else { "s" })
}

/// A calendar day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Day {
    year: i64,
    month: i64,
    day: i64,
}

impl Day {
    /// The day at the start of a text such as `2024-05-12` or `2024-05-12 08:10:00`.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut parts = text.get(..10)?.split('-').map(|part| part.parse().ok());
        let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
        ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some(Self { year, month, day })
    }

    /// The day that is this number of days later. Counts days from the first of March, so that leap days come last
    /// (proleptic Gregorian calendar).
    pub(super) fn plus(self, days: i64) -> Self {
        let year = self.year - i64::from(self.month <= 2);
        let month = (self.month + 9) % 12;
        // Counted from March, five months always have 153 days.
        let number = 365 * year + year.div_euclid(4) - year.div_euclid(100)
            + year.div_euclid(400)
            + (month * 153 + 2) / 5
            + self.day
            - 1
            + days;
        // An estimate by the mean year of 365.2425 days, which may be one year too high.
        let mut year = (10_000 * number + 14_780).div_euclid(3_652_425);
        let first = |year: i64| 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
        if number < first(year) {
            year -= 1;
        }
        let rest = number - first(year);
        let month = (100 * rest + 52) / 3060;
        let day = rest - (month * 306 + 5) / 10 + 1;
        Self { year: year + i64::from(month >= 10), month: (month + 2) % 12 + 1, day }
    }

    /// `2024-05-12`
    pub(super) fn iso(self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }

    /// `12 May 2024`
    pub(super) fn english(self) -> String {
        let month = usize::try_from(self.month - 1).ok().and_then(|place| MONTHS.get(place));
        format!("{} {} {}", self.day, month.copied().unwrap_or_default(), self.year)
    }
}

/// The hour and the minute of `2024-05-12 08:10:00`.
pub(super) fn clock(text: &str) -> &str {
    text.get(11..16).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_english() {
        assert_eq!(and(&["A", "B", "C"]), "A, B and C");
        assert_eq!(
            [a("baker"), a("accountant"), garment("Umbrella")],
            ["a baker", "an accountant", "an umbrella"]
        );
        assert_eq!([garment("Gloves"), garment("T-shirt")], ["gloves", "a T-shirt"]);
        assert_eq!(
            [count(1, "night"), count(3, "night"), count(13, "night")],
            ["one night", "three nights", "13 nights"]
        );
        assert_eq!(
            [sky("Light rain"), sky("Sunny"), degrees(1.0)],
            ["there is light rain", "it is sunny", "1 degree"]
        );
        assert_eq!(capital("light rain"), "Light rain");
    }

    #[test]
    fn amounts_have_thousands() {
        let amounts = [0.0, 999.0, 84_000.0, 3_966.666_666, 1_234_567.8, 0.05, 1.999, -1200.5].map(amount);
        assert_eq!(amounts, ["0", "999", "84,000", "3,966.67", "1,234,567.80", "0.05", "2", "-1,200.50"]);
    }

    #[test]
    fn days_follow_one_another() {
        let mut day = Day::read("1999-12-30").unwrap();
        let mut months = 0;
        for _ in 0..1500 {
            let next = day.plus(1);
            assert!(next > day && (next.day == day.day + 1 || next.day == 1), "{day:?} {next:?}");
            if next.day == 1 {
                months += 1;
                let lengths =
                    [31, if day.year % 4 == 0 { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
                assert_eq!(day.day, lengths[usize::try_from(day.month - 1).unwrap()]);
            }
            day = next;
        }
        assert_eq!(months, 50);
        assert_eq!(Day::read("2024-02-25 08:10:00").unwrap().plus(5).english(), "1 March 2024");
        assert_eq!(Day::read("2024-13-01"), None);
    }
}
