//! The tools with their functions and checks.

use super::{checks, journeys, leisure, meetings, money, people, places};
use crate::api::{ApiFunction, ApiTool, RecordCheck};
use crate::tools;
use crate::world::ApiCompat;

/// A tool with its published check and its right check.
struct Tool(&'static str, ApiFunction, RecordCheck, RecordCheck);

static TOOLS: [Tool; 20] = [
    Tool("AccountInfo", people::account_info, checks::all_of_one_name, checks::all),
    Tool("AddMeeting", meetings::add_meeting, checks::meeting, checks::meeting_of_one_name),
    Tool("ClothingRecommendation", places::clothing_recommendation, checks::all_of_one_name, checks::all),
    Tool("EmailReminder", meetings::email_reminder, checks::reminder, checks::reminder_of_one_name),
    Tool("FlightSearch", journeys::flight_search, checks::all_of_one_name, checks::all),
    Tool("Geocoding", places::geocoding, checks::all_of_one_name, checks::all),
    Tool("GetOccupationSalary", money::get_occupation_salary, checks::all_of_one_name, checks::all),
    Tool("GetWeatherForCoordinates", places::get_weather_for_coordinates, checks::all_but_name, checks::all),
    Tool("HotelAvailability", journeys::hotel_availability, checks::hotels, checks::all),
    Tool("LikeCount", leisure::like_count, checks::all_of_one_name, checks::all),
    Tool("MovieRecommendations", leisure::movie_recommendations, checks::all_of_one_name, checks::all),
    Tool("NearbyRestaurants", places::nearby_restaurants, checks::input_of_one_name, checks::all),
    Tool("OrganizationMembers", people::organization_members, checks::all_of_one_name, checks::all),
    Tool(
        "PersonalInfoUpdate",
        people::personal_info_update,
        checks::input_and_output_of_one_name,
        checks::all,
    ),
    Tool("QueryMeeting", meetings::query_meeting, checks::all_of_one_name, checks::all),
    Tool("TaxCalculator", money::tax_calculator, checks::tax, checks::all),
    Tool("TravelStatus", people::travel_status, checks::all_of_one_name, checks::all),
    Tool("UserMoviePreferences", leisure::user_movie_preferences, checks::all_of_one_name, checks::all),
    Tool("UserPosts", leisure::user_posts, checks::all_of_one_name, checks::all),
    Tool("UserWatchedMovies", leisure::user_watched_movies, checks::all_of_one_name, checks::all),
];

/// The tool with this name. `Calculator` and `ToolSearcher` are those of the other levels.
pub fn get(name: &str, compat: ApiCompat) -> Option<ApiTool> {
    let shared = |right: RecordCheck| {
        let entry = tools::get(name)?;
        Some(ApiTool { check: if compat == ApiCompat::Right { right } else { entry.check }, ..*entry })
    };
    match name {
        "Calculator" => return shared(checks::result),
        super::SEARCHER => return shared(checks::same_tool),
        _ => {}
    }
    let Tool(name, call, published, right) = TOOLS.iter().find(|tool| tool.0 == name)?;
    let check = if compat == ApiCompat::Right { right } else { published };
    Some(ApiTool { name, optional: &[], call: *call, check: *check })
}
