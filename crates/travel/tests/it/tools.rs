//! The tools over the data set of our own.

use std::sync::LazyLock;

use planproof_travel::tables::TripDatabase;
use planproof_travel::tools::{INVALID_ACTION, ToolAnswer, TripTools, cost_enquiry};
use planproof_travel::{TripCompat, own};
use serde_json::json;

static DATABASE: LazyLock<TripDatabase> = LazyLock::new(|| own::database().expect("tables"));

fn act(line: &str, compat: TripCompat) -> ToolAnswer {
    TripTools::new(&*DATABASE, compat).act(line)
}

fn says(line: &str, text: &str, is_success: bool) {
    let expected = ToolAnswer { text: text.to_owned(), is_success };
    assert_eq!(act(line, TripCompat::Original), expected, "{line}");
}

const CITIES: &str = "['Marlow Bay', 'Quarry Hill', 'Fennel Ford', 'Tarnwick', 'Oakhaven', 'Port Lissa']";

#[test]
fn searches_give_tables() {
    let answer = act("AccommodationSearch[Port Lissa]", TripCompat::Right);
    let lines: Vec<&str> = answer.text.lines().collect();
    assert_eq!(lines.len(), 9);
    assert_eq!(
        lines[0].split("  ").map(str::trim).filter(|it| !it.is_empty()).collect::<Vec<_>>(),
        [
            "NAME",
            "price",
            "room type",
            "house_rules",
            "minimum nights",
            "maximum occupancy",
            "review rate number",
            "city"
        ]
    );
    let widths: Vec<usize> = lines.iter().map(|line| line.chars().count()).collect();
    assert!(widths.iter().all(|width| *width == widths[0]), "{widths:?}");
    assert!(
        act("AccommodationSearch[Oakhaven]", TripCompat::Right).text.contains("Sunny\\nRoom with two Lines")
    );
    assert!(!act("AccommodationSearch[Oakhaven]", TripCompat::Right).text.contains("House without Stars"));
    assert!(act("RestaurantSearch[Tarnwick]", TripCompat::Right).text.contains(" Plum Cart "));
    assert!(act("AttractionSearch[Tarnwick]", TripCompat::Right).text.ends_with("Tarnwick"));
    let flight = DATABASE.flights.numbered("F1000001").next().expect("a flight");
    let line = format!("FlightSearch[{}, {}, {}]", flight.origin, flight.destination, flight.date);
    let text = act(&line, TripCompat::Original).text;
    assert!(text.starts_with("Flight Number  Price DepTime ArrTime  ActualElapsedTime FlightDate"), "{text}");
    assert!(text.contains("     F1000001 "), "{text}");
}

#[test]
fn nothing_found_is_said_as_published() {
    says(
        "FlightSearch[Oakhaven, Fennel Ford, 2022-03-01]",
        "There is no flight from Oakhaven to Fennel Ford on 2022-03-01.",
        true,
    );
    says("CitySearch[Nowhere]", "Invalid State", true);
    assert!(!act("CitySearch[Nowhere]", TripCompat::Right).is_success);
    says("CitySearch[Birchshire]", "['Oakhaven', 'Port Lissa']", true);
    says("GoogleDistanceMatrix[Port Lissa, Tarnwick, taxi]", "No valid information.", true);
    says("GoogleDistanceMatrix[Port Lissa, Quarry Hill, taxi]", "No valid information.", true);
    says("GoogleDistanceMatrix[A, B, taxi]", "taxi, from A to B, no valid information.", true);
    let way = DATABASE.distances.get("Marlow Bay", "Tarnwick").expect("a way");
    let text = |mode, cost| {
        let (duration, distance) = (&way.duration, &way.distance);
        format!(
            "{mode}, from Marlow Bay to Tarnwick, duration: {duration}, distance: {distance}, cost: {cost}"
        )
    };
    says("GoogleDistanceMatrix[Marlow Bay, Tarnwick, train]", &text("train", "None"), true);
    let km = way.distance.trim_end_matches(" km");
    says("GoogleDistanceMatrix[Marlow Bay, Tarnwick, taxi]", &text("taxi", km), true);
}

#[test]
fn wrong_arguments_are_failures() {
    says("FlightSearch[A, B, 16 March]", "'16 March' is not in the format YYYY-MM-DD", false);
    let unknown = |city: &str| format!("{city} is not valid city in {CITIES}.");
    says("FlightSearch[A, B, 2022-03-16]", &unknown("A"), false);
    says("FlightSearch[Oakhaven, B, 2022-03-16]", &unknown("B"), false);
    for tool in ["AccommodationSearch", "RestaurantSearch", "AttractionSearch"] {
        says(&format!("{tool}[Oakhaven(Birchshire)]"), &unknown("Oakhaven(Birchshire)"), false);
    }
    assert!(act("FlightSearch[Oakhaven, Tarnwick, 2022-02-30]", TripCompat::Original).is_success);
    assert!(!act("FlightSearch[Oakhaven, Tarnwick, 2022-02-30]", TripCompat::Right).is_success);
    says("FlightSearch[Oakhaven]", "Illegal Flight Search. Please try again.", false);
    says("CitySearch[a, b]", "Illegal City Search. Please try again.", false);
    says("GoogleDistanceMatrix[a]", "Illegal GoogleDistanceMatrix. Please try again.", false);
    for line in ["Search[Oakhaven]", "CitySearch", "", "CitySearch [Birchshire]"] {
        says(line, INVALID_ACTION, false);
    }
}

#[test]
fn the_notebook_keeps_the_last_search() {
    let mut sandbox = TripTools::new(&*DATABASE, TripCompat::Right);
    assert!(sandbox.act("NotebookWrite[too early]").text.ends_with("its index is 0."));
    sandbox.act("RestaurantSearch[Tarnwick]");
    sandbox.act("CitySearch[Birchshire]");
    sandbox.act("RestaurantSearch[Nowhere]");
    assert_eq!(
        sandbox.act("NotebookWrite[meals, in Tarnwick]").text,
        "The information has been recorded in Notebook, and its index is 1."
    );
    let notes = sandbox.notebook().notes();
    assert_eq!((notes[0].content.as_str(), notes[1].description.as_str()), ("None", "meals, in Tarnwick"));
    assert!(notes[1].content.contains("Plum Cart"));
    let text = sandbox.notebook().planner_input();
    assert!(
        text.starts_with("[{'index': 0, 'Short Description': 'too early', 'Content': 'None'}, {'index': 1, ")
    );
}

#[test]
fn a_day_costs_what_its_entries_cost() {
    let [meal, other] =
        ["Plum Cart", "Jade Reed"].map(|name| DATABASE.restaurants.named(name, "Tarnwick").expect("a row"));
    let stay = DATABASE.stays.named("Fell Farmhouse", "Tarnwick").expect("a row");
    let km = DATABASE
        .distances
        .cost("Oakhaven", "Tarnwick", planproof_travel::tables::RoadMode::Taxi)
        .expect("a way");
    let mut day = json!({"people_number": 5, "current_city": "from Oakhaven to Tarnwick", "transportation": "Taxi",
        "breakfast": "-", "lunch": "Plum Cart, Tarnwick", "dinner": "Jade Reed, Tarnwick", "attraction": "-",
        "accommodation": "-"});
    let meals = 5 * u64::from(meal.average_cost + other.average_cost);
    let total = meals + 2 * km as u64;
    let said = |day: &serde_json::Value| cost_enquiry(&DATABASE, &day.to_string());
    assert_eq!(said(&day), format!("Cost: The cost of your plan is {total} dollars."));
    day["accommodation"] = json!("Fell Farmhouse, Tarnwick");
    let total = total as f64 + stay.price * 2.0;
    assert_eq!(said(&day), format!("Cost: The cost of your plan is {total:.1} dollars."));
    day["breakfast"] = json!("at home");
    day["lunch"] = json!("Plum, Tarnwick");
    day["transportation"] = json!("Flight Number: F1, from Oakhaven to Tarnwick");
    assert_eq!(
        said(&day),
        "Sorry, the cost of your plan is not available because of the following reasons:\n\
         1. Flight Number: F1, from Oakhaven to Tarnwick is not in the database.\n\
         2. Plum, Tarnwick is not in the database."
    );
    for argument in ["", "{", "[]", "{}", "{\"people_number\": 0}", "{\"people_number\": \"two\"}"] {
        let text = cost_enquiry(&DATABASE, argument);
        assert_eq!(text, "The sub plan can not be parsed into json format, please check.");
    }
}
