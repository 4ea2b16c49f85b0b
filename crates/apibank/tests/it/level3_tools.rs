//! The tools of level 3 over our databases: where the two modes differ, and that no argument breaks them.

use planproof_apibank::api::ApiFault;
use planproof_apibank::catalogue::ApiCatalogue;
use planproof_apibank::level3::metrics::{Miss, mean_reply_score, reply_score};
use planproof_apibank::level3::original::ReplyPrediction;
use planproof_apibank::level3::{carry_out, data, get, is_same};
use planproof_apibank::record::ApiRecord;
use planproof_apibank::value::{Dict, PythonValue};
use planproof_apibank::world::{ApiCompat, ApiWorld};

/// A small world, in the form of the original's databases.
const DATABASES: &str = r#"{
    "AccountInfo": {"database": [[["ann", "pw"], {"email": "ann@example.org", "phone": "1"}]]},
    "AddMeeting": {"database": []},
    "FlightSearch": {"flight_data": [
        {"source": "A", "destination": "B", "departure_date": "2024-05-01 08:00:00",
            "arrival_date": "2024-05-01 09:00:00"},
        {"source": "A", "destination": "B", "departure_date": "2024-05-02 08:00:00",
            "arrival_date": "2024-05-02 09:00:00"},
        {"source": "A", "destination": "C", "departure_date": "2024-05-01 08:00:00",
            "arrival_date": "2024-05-01 09:00:00"}]},
    "HotelAvailability": {"hotel_database": {
        "hotel_1": {"destination": "B", "check_in_date": "2024-05-01 00:00:00",
            "check_out_date": "2024-05-04 00:00:00"},
        "hotel_2": {"destination": "B", "check_in_date": "2024-05-03 00:00:00",
            "check_out_date": "2024-05-09 00:00:00"}}},
    "GetWeatherForCoordinates": {"coordinates_to_weather":
        [[[48.1, 11.5], {"temperature": 10, "humidity": 40, "description": "Sunny"}]]},
    "MovieRecommendations": {"database": {"Drama": ["X", "Y"], "Comedy": ["Y", "Z"]}},
    "NearbyRestaurants": {"restaurants":
        [{"coordinates": [48.11, 11.5], "name": "Far"}, {"coordinates": [48.101, 11.5], "name": "Near"}]},
    "OrganizationMembers": {"database": {"Firm": ["Ann", "Bob"]}},
    "QueryMeeting": {"database": {"Ann": [{"meeting_id": 7, "meeting_name": "Old"}]}},
    "TaxCalculator": {"tax_rates":
        [{"key": 0, "value": 0.0}, {"key": 1000, "value": 0.1}, {"key": "inf", "value": 0.4}]},
    "TravelStatus": {"database": {"Ann": "Travelling"}},
    "UserWatchedMovies": {"database": {"Ann": ["X"]}}
}"#;

fn world(compat: ApiCompat) -> ApiWorld {
    data::read(DATABASES, compat).unwrap()
}

fn run(world: &mut ApiWorld, api: &str, arguments: &str) -> ApiRecord {
    let arguments: Dict = serde_json::from_str(arguments).unwrap();
    carry_out(api, &arguments, world).unwrap()
}

/// The output as JSON, or the error behind an exclamation mark.
fn said(world: &mut ApiWorld, api: &str, arguments: &str) -> String {
    let record = run(world, api, arguments);
    match &record.exception {
        PythonValue::None => serde_json::to_string(&record.output).unwrap(),
        exception => format!("!{}", exception.to_text()),
    }
}

/// What both modes say: the original's, then the right one's.
fn both(api: &str, arguments: &str) -> [String; 2] {
    [ApiCompat::Original, ApiCompat::Right].map(|compat| said(&mut world(compat), api, arguments))
}

#[test]
fn outputs_are_bare_in_the_original_and_as_declared_in_the_right_mode() {
    assert_eq!(
        both("AccountInfo", r#"{"username": "ann", "password": "pw"}"#),
        [
            r#"{"email":"ann@example.org","phone":"1"}"#,
            r#"{"status":"success","account_info":{"email":"ann@example.org","phone":"1"}}"#
        ]
    );
    assert_eq!(
        both("TravelStatus", r#"{"member_name": "Ann"}"#),
        [r#""Travelling""#, r#"{"status":"Travelling"}"#]
    );
    assert_eq!(
        both("UserWatchedMovies", r#"{"user_name": "Ann"}"#),
        [r#"["X"]"#, r#"{"watched_movies":["X"]}"#]
    );
    let mail =
        r#"{"content": "x", "time": "2024-05-01 10:00:00", "location": "here", "recipient": "nobody"}"#;
    assert_eq!(both("EmailReminder", mail), ["\"success\"", "!`recipient` must be an e-mail address."]);
}

#[test]
fn what_is_unknown_has_no_name_in_the_original() {
    assert_eq!(
        both("OrganizationMembers", r#"{"organization": "X"}"#),
        ["!'X'", "!There is no organisation 'X'."]
    );
    assert_eq!(both("TaxCalculator", r#"{"salary": -1.0}"#), ["!", "!There is no rate for this salary."]);
    assert_eq!(both("TaxCalculator", r#"{"salary": 2000}"#), [r#"{"salary_after_tax":1800.0}"#; 2]);
    let nowhere =
        Dict::from([("latitude", 1.0), ("longitude", 2.0)].map(|(name, it)| (name.to_owned(), it.into())));
    let fault = carry_out("GetWeatherForCoordinates", &nowhere, &mut world(ApiCompat::Original)).unwrap_err();
    assert!(matches!(fault, ApiFault::Raised(error) if error.kind == "TypeError"));
    let weather =
        said(&mut world(ApiCompat::Right), "GetWeatherForCoordinates", r#"{"latitude": 1, "longitude": 2}"#);
    assert_eq!(weather, "!There is no weather for these coordinates.");
}

#[test]
fn what_was_given_out_once_disturbs_later_searches_of_the_original_alone() {
    for compat in [ApiCompat::Original, ApiCompat::Right] {
        let mut world = world(compat);
        let is_original = compat == ApiCompat::Original;
        let mut flights = |to: &str, day: &str| {
            said(
                &mut world,
                "FlightSearch",
                &format!(r#"{{"source": "A", "destination": "{to}", "travel_dates": "{day}"}}"#),
            )
        };
        let first = flights("B", "2024-05-01");
        assert!(first.starts_with(r#"{"flights":[{"source":"A""#));
        let error = "!'str' object has no attribute 'date'";
        assert_eq!(flights("B", "2024-05-01") == error, is_original);
        assert_eq!(flights("B", "2024-05-02") == error, is_original);
        assert!(flights("C", "2024-05-01").contains("2024-05-01 08:00:00"));
        let mut hotels = |from: &str, to: &str| {
            let arguments =
                format!(r#"{{"destination": "B", "check_in_date": "{from}", "check_out_date": "{to}"}}"#);
            said(&mut world, "HotelAvailability", &arguments)
        };
        assert!(hotels("2024-05-05", "2024-05-06").contains(r#""check_in_date":"2024-05-03""#));
        // The first hotel is found before the second fails, and is spoilt by that too.
        let error = "!'str' object has no attribute 'strftime'";
        assert_eq!(hotels("2024-05-03", "2024-05-04") == error, is_original);
        assert_eq!(hotels("2024-05-01", "2024-05-02") == error, is_original);
        assert_eq!(hotels("2024-05-20", "2024-05-21"), r#"{"hotels":[]}"#);
        let backwards = hotels("2024-05-04", "2024-05-03");
        assert_eq!(backwards.starts_with("!The check-out date"), !is_original);
    }
}

#[test]
fn tools_of_the_right_mode_see_what_others_did() {
    for compat in [ApiCompat::Original, ApiCompat::Right] {
        let mut world = world(compat);
        let is_right = compat == ApiCompat::Right;
        run(
            &mut world,
            "PersonalInfoUpdate",
            r#"{"username": "ann", "password": "pw", "address": "1 Road"}"#,
        );
        let account = said(&mut world, "AccountInfo", r#"{"username": "ann", "password": "pw"}"#);
        assert_eq!(account.contains("1 Road"), is_right);
        let meeting = r#"{"meeting_topic": "New", "start_time": "2024-05-01 10:00:00",
            "end_time": "2024-05-01 11:00:00", "location": "here", "attendees": ["Ann", "Bob"]}"#;
        run(&mut world, "AddMeeting", meeting);
        let meetings = said(&mut world, "QueryMeeting", r#"{"user_name": "Ann"}"#);
        assert_eq!(meetings.contains(r#""meeting_id":8,"meeting_name":"New""#), is_right, "{meetings}");
        let meetings = said(&mut world, "QueryMeeting", r#"{"user_name": "Bob"}"#);
        assert_eq!(meetings == "!'Bob'", !is_right);
        let late = said(&mut world, "AddMeeting", &meeting.replace("11:00", "09:00"));
        assert_eq!(late.starts_with("!The meeting must end"), is_right);
    }
}

#[test]
fn arguments_count_in_the_right_mode() {
    let near = r#"{"latitude": 48.1, "longitude": 11.5, "distance": 500}"#;
    let [all, near] = both("NearbyRestaurants", near);
    assert!(
        all.contains("Far") && near == r#"{"restaurants":[{"coordinates":[48.101,11.5],"name":"Near"}]}"#
    );
    let [first, each] = both("MovieRecommendations", r#"{"preferences": ["Drama", "Comedy"]}"#);
    assert_eq!(first, r#"{"recommended_movies":["X","Y","Y","Z"]}"#);
    assert_eq!(each, r#"{"recommended_movies":["X","Y","Z"]}"#);
    // The right mode refuses a text for a list before it comes to the tool.
    assert_eq!(
        said(&mut world(ApiCompat::Original), "MovieRecommendations", r#"{"preferences": "Drama"}"#),
        "!'D'"
    );
}

/// Every tool with every kind of value in every place: a record or an error, in both modes, and no check breaks.
#[test]
fn no_argument_breaks_a_tool() {
    let odd = [
        "null",
        "true",
        "-1",
        "1e300",
        "\"\"",
        "\"'\"",
        "[]",
        "[null, [1]]",
        "{}",
        "\"2024-02-30\"",
        "\"é)]\"",
    ];
    let odd: Vec<PythonValue> = odd.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    let mut records = 0;
    for compat in [ApiCompat::Original, ApiCompat::Right] {
        for start in [data::read(DATABASES, compat).unwrap(), {
            let mut own = data::own();
            own.compat = compat;
            own
        }] {
            for spec in ApiCatalogue::level3().specs() {
                assert!(get(&spec.name, compat).is_some(), "{}", spec.name);
                let mut before = None;
                for (number, value) in odd.iter().enumerate() {
                    let arguments: Dict = spec
                        .inputs
                        .iter()
                        .enumerate()
                        .map(|(place, parameter)| {
                            let other = odd.get((number + place) % odd.len()).cloned().unwrap_or_default();
                            (parameter.name.clone(), if place == 0 { value.clone() } else { other })
                        })
                        .collect();
                    let Ok(record) = carry_out(&spec.name, &arguments, &mut start.clone()) else { continue };
                    records += 1;
                    assert!(record.output.is_none() || record.exception.is_none(), "{record:?}");
                    let gold = before.get_or_insert_with(|| record.clone());
                    let _ = is_same(&spec.name, &record, gold, compat);
                }
            }
        }
    }
    assert!(records > 300, "only {records} calls got as far as their tool");
}

#[test]
fn databases_that_are_missing_are_an_outage() {
    let mut world = data::read("{}", ApiCompat::Right).unwrap();
    let arguments = Dict::from([("post_id".to_owned(), PythonValue::Int(1))]);
    let fault = carry_out("LikeCount", &arguments, &mut world).unwrap_err();
    assert!(matches!(fault, ApiFault::Outage { tool, .. } if tool == "LikeCount"));
}

#[test]
fn replies_are_scored_as_by_the_original() {
    assert_eq!(reply_score("AI: The end", "The end"), Ok(0.999_999_995));
    assert_eq!(reply_score(" User: ", "The end"), Ok(0.0));
    assert!(reply_score(".", "The end").is_err());
    let reply = |text: &str| ReplyPrediction { gold: "a b".to_owned(), text: text.to_owned() };
    let mean = mean_reply_score(&[reply("a b"), reply("."), reply("")]).unwrap();
    assert!((mean - 0.999_999_995 / 3.0).abs() < 1e-12);
    assert_eq!(mean_reply_score(&[]), None);
    assert!(Miss::NoCall < Miss::NoGold);
}
