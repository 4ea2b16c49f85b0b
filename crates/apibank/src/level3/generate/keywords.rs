//! Keywords that find a tool. A test verifies each with planproof's own search.

/// The keywords with which this tool can be found.
pub(super) fn keywords(api: &str) -> &'static [&'static str] {
    match api {
        "AccountInfo" => &["account info", "user account e-mail and phone", "user account information"],
        "AddMeeting" => &["add meeting", "book a meeting with participants"],
        "Calculator" => &["calculator", "arithmetic formula calculator"],
        "ClothingRecommendation" => &["clothing recommendation", "what clothing to wear"],
        "EmailReminder" => &["email reminder", "send an email reminder"],
        "FlightSearch" => &["flight search", "search flights on a date"],
        "Geocoding" => &["geocoding", "geocoding of an address"],
        "GetOccupationSalary" => &["occupation salary", "salary of an occupation"],
        "GetWeatherForCoordinates" => &["weather for coordinates", "get weather"],
        "HotelAvailability" => &["hotel availability", "available hotel rooms"],
        "LikeCount" => &["like count", "count likes of a post"],
        "MovieRecommendations" => &["movie recommendations", "recommend movies"],
        "NearbyRestaurants" => &["nearby restaurants", "restaurants nearby"],
        "OrganizationMembers" => &["organization members", "members of an organization"],
        "PersonalInfoUpdate" => &["personal info update", "update personal info"],
        "QueryMeeting" => &["query meeting", "query meetings of a user"],
        "TaxCalculator" => &["tax calculator", "salary after tax calculator"],
        "TravelStatus" => &["travel status", "travel status of a member"],
        "UserMoviePreferences" => &["user movie preferences", "movie preferences of a user"],
        "UserPosts" => &["user posts", "posts of a user"],
        "UserWatchedMovies" => &["user watched movies", "watched movies"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::ApiCatalogue;
    use crate::level3::{SEARCHER, carry_out, data};
    use crate::value::{Dict, PythonValue};

    #[test]
    fn all_words_find_their_tool() {
        let mut world = data::own();
        let mut wrong = Vec::new();
        for spec in ApiCatalogue::level3().specs().iter().filter(|spec| spec.name != SEARCHER) {
            assert!(keywords(&spec.name).len() >= 2, "{}", spec.name);
            for words in keywords(&spec.name) {
                let arguments = Dict::from([("keywords".to_owned(), (*words).into())]);
                let record = carry_out(SEARCHER, &arguments, &mut world).unwrap();
                let found = record.output.as_dict().and_then(|found| found.get("name"));
                if found.and_then(PythonValue::as_text) != Some(spec.name.as_str()) {
                    wrong.push(format!("{words}: {found:?}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
