//! Tasks about places: their restaurants and weather.

use planproof_trace::Draw;

use super::english::{and, capital, count, degrees, garment, inside, is, sky};
use super::facts::Facts;
use super::script::{Place, Script};
use super::words::{Words, any, each, pick, say};
use crate::level3::tables::{field, number};
use crate::value::PythonValue;

/// Walking distances to a restaurant, in metres. None of our restaurants is close to the limit of one.
pub(super) const DISTANCES: [i64; 5] = [500, 800, 1000, 1500, 2000];

/// Maximum number of restaurants that a reply lists.
const RESTAURANTS_MAX: usize = 8;

pub(super) fn text<'v>(row: &'v PythonValue, name: &str) -> Option<&'v str> {
    field(row, name)?.as_text()
}

/// The coordinates of a place that is named by an earlier call or by the requirement.
pub(super) fn locate(
    script: &mut Script,
    address: &str,
    from: &[Place],
) -> Option<(Place, [PythonValue; 2])> {
    let place = script.call("Geocoding", &[("address", address.into())], from)?;
    let coordinates = [script.output(place, "latitude")?.clone(), script.output(place, "longitude")?.clone()];
    Some((place, coordinates))
}

/// Restaurants near a place, by name, and a sentence about them.
pub(super) fn restaurants(
    script: &mut Script,
    (place, [latitude, longitude]): (Place, [PythonValue; 2]),
    distance: i64,
) -> Option<Vec<String>> {
    let arguments = [("latitude", latitude), ("longitude", longitude), ("distance", distance.into())];
    let found = script.call("NearbyRestaurants", &arguments, &[place])?;
    let names: Option<Vec<String>> =
        script.list(found, "restaurants")?.iter().map(|row| Some(text(row, "name")?.to_owned())).collect();
    // Without a restaurant there is nothing to list, and with many the reply is unreadable.
    names.filter(|names| (1..=RESTAURANTS_MAX).contains(&names.len()))
}

/// The weather at a place.
pub(super) struct Weather {
    place: Place,
    temperature: PythonValue,
    humidity: PythonValue,
    description: String,
}

impl Weather {
    pub(super) fn ask(
        script: &mut Script,
        (place, [latitude, longitude]): (Place, [PythonValue; 2]),
    ) -> Option<Self> {
        let arguments = [("latitude", latitude), ("longitude", longitude)];
        let place = script.call("GetWeatherForCoordinates", &arguments, &[place])?;
        Some(Self {
            place,
            temperature: script.output(place, "temperature")?.clone(),
            humidity: script.output(place, "humidity")?.clone(),
            description: script.text(place, "description")?,
        })
    }

    /// `it is sunny in Oslo, at 18 degrees and a humidity of 40 %` if `place` is ` in Oslo`; it may be empty.
    pub(super) fn in_words(&self, place: &str) -> Option<String> {
        let (temperature, humidity) = (number(&self.temperature)?, number(&self.humidity)?);
        Some(format!(
            "{}{place}, at {} and a humidity of {humidity} %",
            sky(&self.description),
            degrees(temperature)
        ))
    }

    /// What a reply has to name of it, if the requirement asks what it is like.
    pub(super) fn asked(&self, requirement: &str) -> Vec<Vec<String>> {
        if !requirement.contains("the weather is like")
            && !requirement.starts_with("What is the weather like")
        {
            return Vec::new();
        }
        let temperature = self.temperature.to_text();
        any([self.description.clone(), format!("{temperature} degrees"), format!("{temperature} C")])
    }

    /// What to wear in this weather.
    pub(super) fn clothes(&self, script: &mut Script) -> Option<Vec<String>> {
        let arguments = [
            ("temperature", self.temperature.clone()),
            ("humidity", self.humidity.clone()),
            ("weather_conditions", self.description.as_str().into()),
        ];
        let found = script.call("ClothingRecommendation", &arguments, &[self.place])?;
        script.texts(found, "clothing_options")
    }
}

/// Garments with their articles: `a hat, an umbrella and gloves`.
pub(super) fn in_words(garments: &[String]) -> String {
    and(&garments.iter().map(|name| garment(name)).collect::<Vec<_>>())
}

/// `is one restaurant`, `are three restaurants`.
pub(super) fn there(number: usize) -> String {
    format!("{} {}", is(number), count(number, "restaurant"))
}

/// Place, coordinates, weather, clothes.
pub(super) fn outfit(draw: &mut Draw, facts: &Facts, script: &mut Script) -> Option<Words> {
    let place = if draw.chance(1, 2) { pick(draw, &facts.cities)? } else { pick(draw, &facts.addresses)? };
    let located = locate(script, place, &[])?;
    let weather = Weather::ask(script, located)?;
    let garments = weather.clothes(script)?;
    let clothes = in_words(&garments);
    let at = if place.contains(',') { "at" } else { "in" };
    let requirement = say(
        draw,
        [
            format!(
                "What is the weather like {at} {} right now, and what should I wear for it?",
                inside(place)
            ),
            format!("I am on my way to {place}. Check the weather there and recommend what to put on."),
            format!("Recommend clothes that suit the present weather {at} {place}."),
        ],
    )?;
    let (there, weather_now) = (weather.in_words(&format!(" {at} {place}"))?, weather.in_words("")?);
    let reply = say(
        draw,
        [
            format!("{}. You should wear {clothes}.", capital(&there)),
            format!("For {} I recommend {clothes}, because {weather_now}.", inside(place)),
        ],
    )?;
    let asks = [each(&garments), weather.asked(&requirement)].concat();
    Some(Words { requirement, reply, asks })
}

/// Address, coordinates, restaurants.
pub(super) fn dinner(draw: &mut Draw, facts: &Facts, script: &mut Script) -> Option<Words> {
    let place = pick(draw, &facts.addresses)?;
    let distance = *pick(draw, &DISTANCES)?;
    let located = locate(script, place, &[])?;
    let names = restaurants(script, located, distance)?;
    let requirement = say(
        draw,
        [
            format!("We are meeting at {place}. Which restaurants are within {distance} metres?"),
            format!("List all restaurants that are at most {distance} metres from {place}."),
            format!("I would like to eat near {place}. Show me every restaurant within {distance} metres."),
        ],
    )?;
    let asks = each(&names);
    let (there, names) = (there(names.len()), and(&names));
    let reply = say(
        draw,
        [
            format!("There {there} within {distance} metres of {place}: {names}."),
            format!("Near {} you can eat at {names}.", inside(place)),
        ],
    )?;
    Some(Words { requirement, reply, asks })
}

/// Account, address, coordinates, weather and clothes.
pub(super) fn at_home(draw: &mut Draw, facts: &Facts, script: &mut Script) -> Option<Words> {
    let account = pick(draw, &facts.accounts)?;
    let (username, password) = (account.username.as_str(), account.password.as_str());
    let (place, address) = super::accounts::address(script, username, password)?;
    let located = locate(script, &address, &[place])?;
    let weather = Weather::ask(script, located)?;
    let garments = weather.clothes(script)?;
    let clothes = in_words(&garments);
    let requirement = say(
        draw,
        [
            format!(
                "My username is {username} and my password is {password}. I am about to leave home: look up the \
                 address in my account, check the weather there, and tell me what to wear."
            ),
            format!(
                "Which clothes suit the weather at the address that is stored in my account? I log in as \
                 {username} with the password {password}."
            ),
        ],
    )?;
    let (weather_now, there) = (weather.in_words("")?, weather.in_words(" there")?);
    let reply = say(
        draw,
        [
            format!("At {} {weather_now}. Wear {clothes}.", inside(&address)),
            format!("Your address is {address}. {}, so wear {clothes}.", capital(&there)),
        ],
    )?;
    Some(Words { requirement, reply, asks: each(&garments) })
}

/// Account, address, coordinates, restaurants.
pub(super) fn dinner_at_home(draw: &mut Draw, facts: &Facts, script: &mut Script) -> Option<Words> {
    let account = pick(draw, &facts.accounts)?;
    let (username, password) = (account.username.as_str(), account.password.as_str());
    let distance = *pick(draw, &DISTANCES)?;
    let (place, address) = super::accounts::address(script, username, password)?;
    let located = locate(script, &address, &[place])?;
    let names = restaurants(script, located, distance)?;
    let requirement = say(
        draw,
        [
            format!(
                "I am {} and want to go out for dinner near home. My username is {username}, my password \
                 {password}: find the restaurants within {distance} metres of the address in my account.",
                account.name
            ),
            format!(
                "Which restaurants are within {distance} metres of the address in my account? My username is \
                 {username} and the password is {password}."
            ),
        ],
    )?;
    let asks = each(&names);
    let (there, names) = (there(names.len()), and(&names));
    let reply = say(
        draw,
        [
            format!("There {there} within {distance} metres of {address}: {names}."),
            format!("Your address is {address}. Close to it you find {names}."),
        ],
    )?;
    Some(Words { requirement, reply, asks })
}
