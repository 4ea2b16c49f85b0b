//! The simulation's answers in place of public data: all of them are made up.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Answer, Refusal, number_of};

/// Days of a forecast.
const FORECAST_DAYS: u64 = 7;
/// A title with more characters has no page.
const TITLE_CHARACTERS_MAX: usize = 60;

type Query = BTreeMap<String, String>;

fn asked<'q>(query: &'q Query, name: &str) -> Result<&'q str, Refusal> {
    let value = query.get(name).map(|value| value.trim()).filter(|value| !value.is_empty());
    value.ok_or_else(|| Refusal::bad(format!("the parameter `{name}` is missing")))
}

/// `NUMBER/KIND`, or `MONTH/DAY/date`.
pub(super) fn fact(path: &[&str]) -> Answer {
    let (subject, kind) = match path {
        [month, day, "date"] => (format!("day {day} of month {month}"), "date"),
        [number, kind @ ("year" | "math" | "trivia")] => (format!("the number {number}"), *kind),
        _ => return Err(Refusal::missing()),
    };
    let number = number_of(format!("{kind} {subject}").as_bytes()) % 1000;
    let text = format!("the stand-in made up {number} things about {subject}");
    Ok(json!({ "text": text, "type": kind, "found": true }))
}

pub(super) fn love(query: &Query) -> Answer {
    let (first, second) = (asked(query, "fname")?, asked(query, "sname")?);
    let percentage = number_of(format!("{first}\n{second}").as_bytes()) % 101;
    Ok(json!({ "percentage": percentage.to_string(), "result": "made up by the stand-in" }))
}

pub(super) fn place(query: &Query) -> Answer {
    let city = asked(query, "q")?;
    if !city.chars().any(char::is_alphabetic) {
        return Ok(json!([]));
    }
    let number = number_of(city.as_bytes());
    let degrees =
        |number: u64, most: u64| format!("{:.4}", (number % (20_000 * most)) as f64 / 10_000.0 - most as f64);
    Ok(json!([{ "lat": degrees(number, 60), "lon": degrees(number / 7, 180), "display_name": city }]))
}

pub(super) fn weather(query: &Query) -> Answer {
    let place = format!("{} {}", asked(query, "lat")?, asked(query, "lon")?);
    let day = |day: u64| {
        let number = number_of(format!("{place} {day}").as_bytes());
        let low = (number % 25) as i64 - 5;
        let high = low + 3 + (number / 25 % 10) as i64;
        json!({ "day": day, "min_temp": low, "max_temp": high, "precip": number / 250 % 12 })
    };
    Ok(json!({ "data": (1..=FORECAST_DAYS).map(day).collect::<Vec<Value>>() }))
}

pub(super) fn movie(query: &Query) -> Answer {
    let title = asked(query, "t")?;
    if !title.chars().any(char::is_alphabetic) {
        return Ok(json!({ "Response": "False", "Error": "Movie not found!" }));
    }
    let number = number_of(title.as_bytes());
    let genre = ["Comedy", "Drama", "Western"][(number % 3) as usize];
    let year = query.get("y").cloned().unwrap_or_else(|| (1920 + number % 100).to_string());
    Ok(json!({
        "Title": title,
        "Year": year,
        "Genre": genre,
        "Director": "The Stand-in",
        "Plot": format!("{} people look for something.", 2 + number % 9),
        "Response": "True",
    }))
}

/// The text with its words reversed.
pub(super) fn translate(fields: &Query) -> Answer {
    let (text, source, target) = (asked(fields, "q")?, asked(fields, "source")?, asked(fields, "target")?);
    if target == "xx" {
        return Err(Refusal::bad("xx is not supported"));
    }
    let words: Vec<&str> = text.split_whitespace().rev().collect();
    Ok(json!({ "translatedText": format!("[{source} to {target}] {}", words.join(" ")) }))
}

pub(super) fn search(query: &Query) -> Answer {
    let text = asked(query, "q")?;
    if asked(query, "format")? != "json" {
        return Err(Refusal::bad("only json is answered"));
    }
    let hit = |number: u64| {
        json!({
            "title": format!("Hit {number} for {text}"),
            "url": format!("https://example.org/{}", number_of(text.as_bytes()).wrapping_add(number) % 1000),
            "content": "Made up by the stand-in.",
            "engine": "stand-in",
        })
    };
    Ok(json!({ "results": (1..=12).map(hit).collect::<Vec<Value>>() }))
}

/// The part of MediaWiki's API that our client uses.
pub(super) fn wiki(query: &Query) -> Answer {
    if query.contains_key("meta") {
        return Ok(json!({ "query": { "extensions": [{ "name": "TextExtracts" }] } }));
    }
    if query.contains_key("list") {
        return Ok(json!({ "query": { "search": [] } }));
    }
    let title = query.get("titles").map(|title| title.trim_start_matches('\u{1f}')).unwrap_or_default();
    if title.chars().count() > TITLE_CHARACTERS_MAX {
        return Ok(json!({ "query": { "pages": [{ "title": title, "missing": true }] } }));
    }
    let extract = format!(
        "{title} is something of which the stand-in knows the name alone.\n\n\n== History ==\nThere is none."
    );
    Ok(json!({ "query": { "pages": [{ "title": title, "extract": extract }] } }))
}
