//! The databases of level 3, and worlds created from them.

use std::sync::{Arc, LazyLock};

use planproof_trace::Draw;

use crate::catalogue::ApiCatalogue;
use crate::value::{Dict, PythonValue};
use crate::world::{ApiCompat, ApiWorld, TODAY};

/// Longest text of databases, in bytes. The original's has about 10,000.
pub const BYTES_MAX: usize = 64 * 1024 * 1024;

/// The databases that come with planproof. People, places, flights and everything else are invented, except the
/// cities and their coordinates.
static OWN: LazyLock<Dict> = LazyLock::new(|| {
    // The file is part of the crate, and a test parses it.
    serde_json::from_str(include_str!("../../data/level3_databases.json")).unwrap_or_default()
});

/// A text that does not contain databases.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the databases of level 3 cannot be read: {0}; they must be a JSON object with an object for each tool"
)]
pub struct TaskDataError(String);

/// A world with our databases and the right tools.
pub fn own() -> ApiWorld {
    with(OWN.clone(), ApiCompat::Right)
}

/// Creates a world with the databases in a JSON text: an object keyed by the names of tools. Tools can share data:
/// if `PersonalInfoUpdate` has no accounts, those of `AccountInfo` serve for it too.
///
/// `ToolSearcher` finds tools in our catalogue, with our descriptions. To compare its records with published ones,
/// put the published catalogue into the world.
///
/// # Errors
/// The text is too long, or is not JSON of this form.
pub fn read(text: &str, compat: ApiCompat) -> Result<ApiWorld, TaskDataError> {
    if text.len() > BYTES_MAX {
        return Err(TaskDataError(format!("the text is longer than {BYTES_MAX} bytes")));
    }
    let databases: Dict = serde_json::from_str(text).map_err(|error| TaskDataError(error.to_string()))?;
    if let Some((name, _)) = databases.iter().find(|(_, tables)| tables.as_dict().is_none()) {
        return Err(TaskDataError(format!("what stands under `{name}` is no object")));
    }
    Ok(with(databases, compat))
}

/// The names of the tables of a tool.
pub(super) fn parts_of(tool: &str) -> impl Iterator<Item = &'static str> {
    // The published tool has accounts of its own; ours has those of the other.
    let tool = if tool == "PersonalInfoUpdate" { "AccountInfo" } else { tool };
    let tables = OWN.get(tool).and_then(PythonValue::as_dict);
    tables.into_iter().flat_map(|tables| tables.keys().map(String::as_str))
}

pub(super) fn with(mut databases: Dict, compat: ApiCompat) -> ApiWorld {
    if !databases.contains_key("PersonalInfoUpdate")
        && let Some(accounts) = databases.get("AccountInfo").cloned()
    {
        databases.insert("PersonalInfoUpdate".to_owned(), accounts);
    }
    // No tool of level 3 uses randomness.
    let mut world = ApiWorld::new(TODAY, Draw::new(0, 0, "apibank level 3"));
    world.compat = compat;
    world.catalogue = Arc::new(ApiCatalogue::level3().clone());
    for (name, tables) in databases {
        world.put(&name, tables);
    }
    world
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level3::tables::{field, list, part};

    fn lengths(world: &ApiWorld, tool: &str, name: &str) -> usize {
        let part = part(world, tool, name).unwrap();
        part.as_list().map_or_else(|| part.as_dict().unwrap().len(), <[PythonValue]>::len)
    }

    #[test]
    fn our_databases_are_larger_than_the_originals() {
        let world = own();
        for (tool, name, least) in [
            ("FlightSearch", "flight_data", 40),
            ("HotelAvailability", "hotel_database", 30),
            ("Geocoding", "address_to_coordinates", 25),
            ("OrganizationMembers", "database", 15),
            ("TravelStatus", "database", 60),
            ("UserPosts", "database", 40),
            ("LikeCount", "database", 100),
            ("MovieRecommendations", "database", 8),
            ("GetOccupationSalary", "salary_info", 25),
            ("NearbyRestaurants", "restaurants", 100),
        ] {
            assert!(lengths(&world, tool, name) >= least, "{tool}");
        }
    }

    /// Everything that one table refers to exists in the other.
    #[test]
    fn our_databases_fit_together() {
        let world = own();
        let table = |tool, name| part(&world, tool, name).unwrap().as_dict().unwrap();
        let places = table("Geocoding", "address_to_coordinates");
        let people = table("TravelStatus", "database");
        let names = |value: &PythonValue| -> Vec<String> {
            value.as_list().unwrap().iter().map(|name| name.as_text().unwrap().to_owned()).collect()
        };
        for members in table("OrganizationMembers", "database").values() {
            assert!(names(members).iter().all(|name| people.contains_key(name)));
        }
        for hotel in table("HotelAvailability", "hotel_database").values() {
            assert!(places.contains_key(field(hotel, "address").unwrap().as_text().unwrap()), "{hotel:?}");
        }
        let weather = list(&world, "GetWeatherForCoordinates", "coordinates_to_weather").unwrap();
        for (place, coordinates) in places {
            assert!(weather.iter().any(|row| row.as_list().unwrap()[0] == *coordinates), "{place}");
        }
        let genres = table("MovieRecommendations", "database");
        for liked in table("UserMoviePreferences", "database").values() {
            assert!(names(liked).iter().all(|genre| genres.contains_key(genre)));
        }
        let films: Vec<String> = genres.values().flat_map(names).collect();
        for seen in table("UserWatchedMovies", "database").values() {
            assert!(names(seen).iter().all(|film| films.contains(film)));
        }
    }

    /// The published form of calls cannot express quotes.
    #[test]
    fn our_databases_have_no_quotes_in_them() {
        let text = serde_json::to_string(&*OWN).unwrap();
        assert!(!text.contains('\'') && !text.contains("\\"), "a quote or what is escaped");
    }

    #[test]
    fn what_are_no_databases_is_refused() {
        assert!(read("[]", ApiCompat::Right).unwrap_err().to_string().contains("must be a JSON object"));
        let error = read(r#"{"UserPosts": []}"#, ApiCompat::Right).unwrap_err().to_string();
        assert!(error.contains("what stands under `UserPosts` is no object"), "{error}");
    }
}
