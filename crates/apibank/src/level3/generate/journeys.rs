//! Tasks about journeys: flights and hotels.

use planproof_trace::Draw;

use super::english::{Day, amount, and, capital, clock, count};
use super::facts::Facts;
use super::places::{DISTANCES, Weather, in_words, locate, restaurants, text, there};
use super::script::Script;
use super::words::{Words, each, pick, say};
use crate::level3::tables::{field, number};
use crate::value::PythonValue;

/// Maximum number of nights of a stay.
const NIGHTS_MAX: u32 = 5;

/// Formats days, all in one of two styles.
fn on<const N: usize>(draw: &mut Draw, days: [Day; N]) -> [String; N] {
    let is_iso = draw.chance(1, 3);
    days.map(|day| if is_iso { day.iso() } else { day.english() })
}

/// The row with the lowest price, if it is unique.
fn cheapest(rows: &[PythonValue]) -> Option<PythonValue> {
    let price = |row: &PythonValue| field(row, price_name(row)).and_then(number);
    let lowest = rows.iter().filter_map(price).min_by(f64::total_cmp)?;
    let mut all = rows.iter().filter(|row| price(row) == Some(lowest));
    let first = all.next()?;
    // With two of them, the requirement would have two right answers.
    all.next().is_none().then(|| first.clone())
}

fn price_name(row: &PythonValue) -> &'static str {
    if field(row, "price_per_night").is_some() { "price_per_night" } else { "price" }
}

/// Flight, hotel, address, restaurants.
pub(super) fn trip(draw: &mut Draw, facts: &Facts, script: &mut Script) -> Option<Words> {
    let route = pick(draw, &facts.routes)?;
    let (source, destination) = (route.source.as_str(), route.destination.as_str());
    let nights = 1 + draw.below(NIGHTS_MAX);
    let distance = *pick(draw, &DISTANCES)?;
    let arguments = [
        ("source", source.into()),
        ("destination", destination.into()),
        ("travel_dates", route.day.iso().into()),
    ];
    let flights = script.call("FlightSearch", &arguments, &[])?;
    let flight = cheapest(script.list(flights, "flights")?)?;
    // The stay begins on the day of arrival, which may be the day after the departure.
    let arrival = Day::read(text(&flight, "arrival_date")?)?;
    let departure = arrival.plus(i64::from(nights));
    let hotels = script.call("HotelAvailability", &stay(destination, arrival, departure), &[flights])?;
    let hotel = cheapest(script.list(hotels, "hotels")?)?;
    let located = locate(script, text(&hotel, "address")?, &[hotels])?;
    let names = restaurants(script, located, distance)?;
    let ([day], nights) = (on(draw, [route.day]), count(nights as usize, "night"));
    let requirement = say(
        draw,
        [
            format!(
                "I am flying from {source} to {destination} on {day}. Please find me the cheapest flight, the \
                 cheapest hotel in {destination} with a room for {nights} from the day I arrive, and the \
                 restaurants within {distance} metres of that hotel."
            ),
            format!(
                "Plan a trip for me: the cheapest flight from {source} to {destination} on {day}, then {nights} in \
                 the cheapest hotel there, starting on the day of arrival. I would also like to know which \
                 restaurants lie within {distance} metres of the hotel."
            ),
            format!(
                "Which flight from {source} to {destination} is the cheapest on {day}? I stay for {nights} from \
                 the day it lands: name the cheapest hotel that has a room, and every restaurant at most \
                 {distance} metres from it."
            ),
        ],
    )?;
    let (number, leaves) = (text(&flight, "flight_number")?, text(&flight, "departure_date")?);
    let hotel_text = hotel_words(&hotel)?;
    let asks = each([number, text(&hotel, "name")?].into_iter().chain(names.iter().map(String::as_str)));
    let (there, names) = (there(names.len()), and(&names));
    let leaves = clock(leaves);
    let reply = say(
        draw,
        [
            format!(
                "Take flight {number}, which leaves {source} at {leaves}. {hotel_text}. Within {distance} metres \
                 of the hotel there {there}: {names}."
            ),
            format!(
                "The cheapest flight is {number}, leaving at {leaves}. {hotel_text}. You can eat at {names}, no \
                 more than {distance} metres away."
            ),
        ],
    )?;
    Some(Words { requirement, reply, asks })
}

fn stay(destination: &str, from: Day, to: Day) -> [(&'static str, PythonValue); 3] {
    [
        ("destination", destination.into()),
        ("check_in_date", from.iso().into()),
        ("check_out_date", to.iso().into()),
    ]
}

/// `The Old Lion at 3 Mill Lane, Oslo, costs 95 a night`
fn hotel_words(hotel: &PythonValue) -> Option<String> {
    let price = amount(number(field(hotel, "price_per_night")?)?);
    Some(format!("{} at {}, costs {price} a night", text(hotel, "name")?, text(hotel, "address")?))
}

/// Hotel, address, restaurants.
pub(super) fn stay_and_eat(draw: &mut Draw, facts: &Facts, script: &mut Script) -> Option<Words> {
    let room = pick(draw, &facts.rooms)?;
    let city = room.destination.as_str();
    let from = room.from.plus(i64::from(draw.below(2)));
    let to = from.plus(1 + i64::from(draw.below(NIGHTS_MAX)));
    let distance = *pick(draw, &DISTANCES)?;
    // The drawn room has to be free for the whole stay: otherwise the search may find none.
    if to > room.to {
        return None;
    }
    let hotels = script.call("HotelAvailability", &stay(city, from, to), &[])?;
    let hotel = cheapest(script.list(hotels, "hotels")?)?;
    let located = locate(script, text(&hotel, "address")?, &[hotels])?;
    let names = restaurants(script, located, distance)?;
    let [from, to] = on(draw, [from, to]);
    let requirement = say(
        draw,
        [
            format!(
                "I need a room in {city} from {from} to {to}. What is the cheapest hotel, and which restaurants \
                 are within {distance} metres of it?"
            ),
            format!(
                "Find the cheapest hotel in {city} that has a room from {from} until {to}, and list all \
                 restaurants no more than {distance} metres away from it."
            ),
        ],
    )?;
    let asks = each([text(&hotel, "name")?].into_iter().chain(names.iter().map(String::as_str)));
    let (hotel_text, there, names) = (hotel_words(&hotel)?, there(names.len()), and(&names));
    let reply = say(
        draw,
        [
            format!("{hotel_text}. There {there} within {distance} metres: {names}."),
            format!("{hotel_text}. Within {distance} metres of it you find {names}."),
        ],
    )?;
    Some(Words { requirement, reply, asks })
}

/// Flight, coordinates of the destination, weather, clothes.
pub(super) fn packing(draw: &mut Draw, facts: &Facts, script: &mut Script) -> Option<Words> {
    let route = pick(draw, &facts.routes)?;
    let (source, destination) = (route.source.as_str(), route.destination.as_str());
    let arguments = [
        ("source", source.into()),
        ("destination", destination.into()),
        ("travel_dates", route.day.iso().into()),
    ];
    let flights = script.call("FlightSearch", &arguments, &[])?;
    let flight = cheapest(script.list(flights, "flights")?)?;
    // The destination of the flight that was found, so that the call depends on the search for it.
    let located = locate(script, text(&flight, "destination")?, &[flights])?;
    let weather = Weather::ask(script, located)?;
    let garments = weather.clothes(script)?;
    let clothes = in_words(&garments);
    let [day] = on(draw, [route.day]);
    let requirement = say(
        draw,
        [
            format!(
                "I want to take the cheapest flight from {source} to {destination} on {day}. Tell me which one it \
                 is, what the weather is like in {destination}, and what I should wear there."
            ),
            format!(
                "Please look up the cheapest flight from {source} to {destination} on {day}, and check the current \
                 weather in {destination} so that I know which clothes to pack."
            ),
        ],
    )?;
    let number = text(&flight, "flight_number")?;
    let asks = each([number].into_iter().chain(garments.iter().map(String::as_str)));
    let asks = [asks, weather.asked(&requirement)].concat();
    let (weather_now, there) = (weather.in_words("")?, weather.in_words(&format!(" in {destination}"))?);
    let reply = say(
        draw,
        [
            format!("The cheapest flight is {number}. In {destination} {weather_now}. Take {clothes}."),
            format!("Flight {number} is the cheapest. {}, so pack {clothes}.", capital(&there)),
        ],
    )?;
    Some(Words { requirement, reply, asks })
}
