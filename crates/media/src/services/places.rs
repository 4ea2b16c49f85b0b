//! Where places are, and their forecasts.

use serde_json::{Map, Value};

use super::Servers;
use crate::client::Ask;
use crate::failure::{ToolFailure, quoted};
use crate::settings::Service;

/// All that the server says of the first place of this name; `lon` and `lat` are texts.
pub(crate) async fn location(servers: &Servers, city: &str) -> Result<Map<String, Value>, ToolFailure> {
    let client = servers.client(Service::Geocoding)?;
    let parameters = vec![("q", city.to_owned()), ("format", "json".to_owned()), ("limit", "1".to_owned())];
    let places: Vec<Map<String, Value>> = client.ask(&Ask::get("/search", parameters)).await?;
    let Some(mut place) = places.into_iter().next() else {
        return Err(ToolFailure::call(format!(
            "no place is called {}: give the name of a city",
            quoted(city)
        )));
    };
    for key in ["lon", "lat"] {
        // Other tools take both as texts, and servers differ in whether they send texts or numbers.
        let is_number = |text: &str| text.parse::<f64>().is_ok_and(f64::is_finite);
        let text = match place.get(key) {
            Some(Value::String(text)) if is_number(text) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => return Err(client.nonsense(&format!("the place has no `{key}`"))),
        };
        place.insert(key.to_owned(), text.into());
    }
    Ok(place)
}

/// The days of the forecast for a place.
pub(crate) async fn weather(
    servers: &Servers,
    lon: &str,
    lat: &str,
) -> Result<Vec<Map<String, Value>>, ToolFailure> {
    let client = servers.client(Service::Weather)?;
    let degrees = |name: &str, text: &str, most: f64| {
        let number = text.trim().parse::<f64>().ok().filter(|number| number.abs() <= most);
        number.map(|_| text.trim().to_owned()).ok_or_else(|| {
            ToolFailure::call(format!(
                "`{name}` has to be a number of degrees from -{most} to {most}, not {}",
                quoted(text)
            ))
        })
    };
    let parameters = vec![("lat", degrees("lat", lat, 90.0)?), ("lon", degrees("lon", lon, 180.0)?)];
    let mut answer: Map<String, Value> = client.ask(&Ask::get("/forecast/daily", parameters)).await?;
    let days = answer.remove("data").map(serde_json::from_value);
    days.and_then(Result::ok).ok_or_else(|| client.nonsense("it has no list of days in `data`"))
}
