//! Films, and the compatibility of names.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::Servers;
use crate::client::Ask;
use crate::failure::ToolFailure;
use crate::settings::Service;

/// What is returned of a film, in this order.
const MOVIE_FIELDS: [&str; 5] = ["Title", "Year", "Genre", "Director", "Plot"];

#[derive(Deserialize)]
struct Match {
    percentage: Value,
    result: String,
}

/// How two names are said to fit, from 0 to 100, and a sentence about it.
pub(crate) async fn love(servers: &Servers, first: &str, second: &str) -> Result<(u32, String), ToolFailure> {
    let client = servers.client(Service::Love)?;
    let parameters = vec![("fname", first.to_owned()), ("sname", second.to_owned())];
    let answer: Match = client.ask(&Ask::get("/getPercentage", parameters)).await?;
    let percentage = match &answer.percentage {
        Value::String(text) => text.trim().parse().ok(),
        number => number.as_u64().and_then(|number| u32::try_from(number).ok()),
    };
    match percentage.filter(|percentage| *percentage <= 100) {
        Some(percentage) => Ok((percentage, answer.result)),
        None => Err(client.nonsense("`percentage` is no whole number from 0 to 100")),
    }
}

/// The facts about a film, as lines of `key: value`. An empty year is any year.
pub(crate) async fn movie(servers: &Servers, title: &str, year: &str) -> Result<String, ToolFailure> {
    let client = servers.client(Service::Movies)?;
    let mut parameters = vec![("t", title.to_owned())];
    if !year.trim().is_empty() {
        parameters.push(("y", year.trim().to_owned()));
    }
    let answer: Map<String, Value> = client.ask(&Ask::get("/", parameters)).await?;
    let field = |name: &str| answer.get(name).and_then(Value::as_str);
    // An unknown film is not an HTTP error; only this field reports it.
    if field("Response") == Some("False") {
        return Err(client.refused(field("Error").unwrap_or("there is no such film")));
    }
    let lines: Vec<String> =
        MOVIE_FIELDS.iter().filter_map(|name| Some(format!("{name}: {}", field(name)?))).collect();
    if field("Title").is_none() {
        return Err(client.nonsense("it has no `Title`"));
    }
    Ok(lines.join("\n"))
}
