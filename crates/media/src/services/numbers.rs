//! Facts about numbers and days, in the format of numbersapi.com.

use serde_json::{Map, Value};

use super::Servers;
use crate::client::Ask;
use crate::failure::{ToolFailure, quoted};
use crate::settings::Service;

/// Days of each month; every day that a year can have is a day.
const DAYS: [u32; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
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
/// Number of letters that identify a month's name.
const MONTH_LETTERS_MIN: usize = 3;

/// What a fact is about.
pub(crate) enum Fact {
    /// A day of the year, in any of the ways that [`day`] reads.
    Date(String),
    /// A year, in digits.
    Year(String),
    /// A number, in digits.
    Math(String),
    /// A number, in digits.
    Trivia(String),
}

/// All that the server says of it; `text` is the fact.
pub(crate) async fn fact(servers: &Servers, fact: Fact) -> Result<Map<String, Value>, ToolFailure> {
    let client = servers.client(Service::Numbers)?;
    let path = match fact {
        Fact::Date(date) => {
            let [month, day] = day(&date).ok_or_else(|| {
                ToolFailure::call(format!(
                    "{} is no day of a year: write it as `6/21` (the month first), `2012-06-21` or `June 21`",
                    quoted(&date)
                ))
            })?;
            format!("/{month}/{day}/date")
        }
        Fact::Year(year) => format!("/{year}/year"),
        Fact::Math(number) => format!("/{number}/math"),
        Fact::Trivia(number) => format!("/{number}/trivia"),
    };
    let answer: Map<String, Value> = client.ask(&Ask::get(path, vec![("json", "true".to_owned())])).await?;
    if answer.get("text").is_some_and(Value::is_string) {
        return Ok(answer);
    }
    Err(client.nonsense("it has no `text`"))
}

/// Month and day of `6/21`, `06-21`, `6/21/2012`, `2012-06-21`, `June 21`, `jun 21st, 2012`, `21 June`.
fn day(text: &str) -> Option<[u32; 2]> {
    let parts: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|part| {
            !part.is_empty() && !part.eq_ignore_ascii_case("of") && !part.eq_ignore_ascii_case("the")
        })
        .map(str::to_lowercase)
        .collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse::<u32>().ok();
    let ordinal = |text: &str| number(text.trim_end_matches(['s', 't', 'n', 'd', 'r', 'h']));
    let month = |text: &str| {
        let names = |name: &&str| text.len() >= MONTH_LETTERS_MIN && name.starts_with(text);
        MONTHS.iter().position(names).and_then(|place| u32::try_from(place + 1).ok())
    };
    let [month, day] = match parts.as_slice() {
        // A year in front means that the month follows, as in ISO 8601. A third part at the end can only be the year.
        [year, month, day] if year.len() == 4 && number(year).is_some() => [number(month)?, number(day)?],
        [one, two] | [one, two, _] => match (month(one), month(two)) {
            (Some(month), _) => [month, ordinal(two)?],
            (None, Some(month)) => [month, ordinal(one)?],
            (None, None) => [number(one)?, number(two)?],
        },
        _ => return None,
    };
    let days = DAYS.get(usize::try_from(month.checked_sub(1)?).ok()?)?;
    (1..=*days).contains(&day).then_some([month, day])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_however_people_write_them() {
        for text in [
            "6/21",
            "06/21",
            "6-21",
            "06-21",
            "6/21/2012",
            "2012-06-21",
            "2012/6/21",
            "June 21",
            "june 21st",
            "Jun 21, 2012",
            "21 June",
            "21st of June",
            "the 21st of June 2012",
        ] {
            assert_eq!(day(text), Some([6, 21]), "{text}");
        }
        assert_eq!(day("2/29"), Some([2, 29]));
        for text in
            ["", "today", "6", "21/6", "13/1", "2/30", "0/1", "1/0", "June", "Ju 21", "6/21/x/y", "../../x"]
        {
            assert_eq!(day(text), None, "{text}");
        }
    }
}
