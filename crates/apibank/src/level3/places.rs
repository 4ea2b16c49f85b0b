//! The location of places, their weather, what to wear, and where to eat.

use super::tables::{
    Outcome, argument, field, is_original, list, lookup, number, number_argument, part, single, unknown,
};
use crate::api::{ApiFault, PythonError};
use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};
use crate::world::ApiWorld;

/// Mean radius of the earth, in metres.
const EARTH_METRES: f64 = 6_371_000.0;

/// Maximum difference, in degrees, between coordinates of the same place: half a unit of the fourth decimal.
const SAME_PLACE_DEGREES: f64 = 0.000_05;

/// The upper limits of cold, cool and warm, in degrees Celsius; above the last it is hot.
const COLD_COOL_WARM: [f64; 3] = [10.0, 20.0, 30.0];

/// The humidity, in per cent, above which an umbrella is recommended.
const DAMP_PERCENT: f64 = 70.0;

pub(super) fn geocoding(arguments: Dict, world: &mut ApiWorld) -> Result<ApiRecord, ApiFault> {
    let address = argument(&arguments, "address");
    let found = part(world, "Geocoding", "address_to_coordinates").and_then(|places| {
        let found = lookup(places, address).and_then(coordinates);
        found.ok_or_else(|| unknown(world, "place", address))
    });
    let found = found.map(|[latitude, longitude]| {
        let named = [("latitude", latitude), ("longitude", longitude)];
        PythonValue::Dict(named.map(|(name, value)| (name.to_owned(), PythonValue::Float(value))).into())
    });
    ApiRecord::new(Some("Geocoding"), arguments, found)
}

/// A pair of numbers.
pub(super) fn coordinates(value: &PythonValue) -> Option<[f64; 2]> {
    match value.as_list()? {
        [latitude, longitude] => Some([number(latitude)?, number(longitude)?]),
        _ => None,
    }
}

pub(super) fn get_weather_for_coordinates(
    arguments: Dict,
    world: &mut ApiWorld,
) -> Result<ApiRecord, ApiFault> {
    let found = weather(&arguments, world);
    ApiRecord::new(Some("GetWeatherForCoordinates"), arguments, found)
}

fn weather(arguments: &Dict, world: &ApiWorld) -> Outcome {
    let rows = list(world, "GetWeatherForCoordinates", "coordinates_to_weather")?;
    let wanted = [argument(arguments, "latitude"), argument(arguments, "longitude")];
    let is_there = |place: &PythonValue| match is_original(world) {
        true => place.as_list().is_some_and(|place| place.iter().eq(wanted)),
        false => match (coordinates(place), wanted.map(number)) {
            (Some(place), [Some(latitude), Some(longitude)]) => {
                (place[0] - latitude).abs() <= SAME_PLACE_DEGREES
                    && (place[1] - longitude).abs() <= SAME_PLACE_DEGREES
            }
            _ => false,
        },
    };
    let found = rows.iter().find_map(|row| match row.as_list()? {
        [place, weather] if is_there(place) => Some(weather),
        _ => None,
    });
    let Some(found) = found else {
        // The original accesses a result that it did not find, and only catches other errors.
        return Err(match is_original(world) {
            true => PythonError::types("'NoneType' object is not subscriptable").into(),
            false => ApiFault::caught("There is no weather for these coordinates."),
        });
    };
    let part = |name: &str| {
        let value = field(found, name).cloned().ok_or_else(|| PythonError::key(name))?;
        Ok((name.to_owned(), value))
    };
    let parts: Result<Dict, PythonError> =
        ["temperature", "humidity", "description"].into_iter().map(part).collect();
    Ok(PythonValue::Dict(parts?))
}

pub(super) fn clothing_recommendation(arguments: Dict, _: &mut ApiWorld) -> Result<ApiRecord, ApiFault> {
    let found = clothes(&arguments);
    ApiRecord::new(Some("ClothingRecommendation"), arguments, found)
}

fn clothes(arguments: &Dict) -> Outcome {
    let temperature = number_argument(arguments, "temperature")?;
    let humidity = number_argument(arguments, "humidity")?;
    let conditions = argument(arguments, "weather_conditions");
    let [cold, cool, warm] = COLD_COOL_WARM;
    let mut clothes: Vec<&str> = Vec::new();
    if temperature < cold {
        clothes.extend(["Warm coat", "Hat", "Gloves"]);
    } else if temperature < cool {
        clothes.extend(["Light jacket", "Long-sleeved shirt"]);
    } else if temperature < warm {
        clothes.extend(["T-shirt", "Shorts"]);
    } else if temperature >= warm {
        clothes.extend(["Sun hat", "Sunglasses", "Loose-fitting clothes"]);
    }
    if humidity > DAMP_PERCENT {
        clothes.extend(["Umbrella", "Waterproof shoes"]);
    }
    // Checked only here, because the original calls `lower` after it has compared the numbers.
    let Some(conditions) = conditions.as_text() else {
        return Err(ApiFault::Caught(format!("'{}' object has no attribute 'lower'", conditions.class())));
    };
    if conditions.to_lowercase().contains("rain") {
        clothes.push("Raincoat");
    }
    let clothes: Vec<PythonValue> = clothes.into_iter().map(PythonValue::from).collect();
    Ok(single("clothing_options", clothes.into()))
}

pub(super) fn nearby_restaurants(arguments: Dict, world: &mut ApiWorld) -> Result<ApiRecord, ApiFault> {
    let found = match is_original(world) {
        true => part(world, "NearbyRestaurants", "restaurants").cloned(),
        false => within(&arguments, world),
    };
    let found = found.map(|restaurants| single("restaurants", restaurants));
    ApiRecord::new(Some("NearbyRestaurants"), arguments, found)
}

/// The restaurants within a distance, nearest first.
fn within(arguments: &Dict, world: &ApiWorld) -> Outcome {
    let place = [number_argument(arguments, "latitude")?, number_argument(arguments, "longitude")?];
    let distance = number_argument(arguments, "distance")?;
    let rows = list(world, "NearbyRestaurants", "restaurants")?.iter();
    let near = rows.filter_map(|row| {
        let metres = metres(place, coordinates(field(row, "coordinates")?)?);
        (metres <= distance).then_some((metres, row))
    });
    let mut near: Vec<(f64, &PythonValue)> = near.collect();
    // A stable sort: places at the same distance keep the order of the table.
    near.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    Ok(near.into_iter().map(|(_, row)| row.clone()).collect::<Vec<_>>().into())
}

/// The great-circle distance of two places, in whole metres, so that rounding does not depend on the machine.
fn metres(one: [f64; 2], other: [f64; 2]) -> f64 {
    let [one, other] = [one, other].map(|place| place.map(f64::to_radians));
    let half = |one: f64, other: f64| ((one - other) / 2.0).sin().powi(2);
    let square = half(one[0], other[0]) + one[0].cos() * other[0].cos() * half(one[1], other[1]);
    // Rounding may take the root beyond 1, where the arc sine is undefined.
    (2.0 * EARTH_METRES * square.sqrt().min(1.0).asin()).round()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_a_sphere() {
        // A minute of arc along a meridian is a nautical mile, which is 1852 metres for a slightly different radius
        // of the earth.
        assert_eq!(metres([48.0, 11.0], [48.0 + 1.0 / 60.0, 11.0]), 1853.0);
        // A degree of longitude at 60 degrees north is half as long as at the equator.
        let [north, equator] = [60.0, 0.0].map(|it| metres([it, 10.0], [it, 10.01]));
        assert!((north * 2.0 - equator).abs() <= 2.0, "{north} {equator}");
        assert_eq!(metres([0.0, 0.0], [0.0, 0.0]), 0.0);
    }
}
