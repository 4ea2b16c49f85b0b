//! For each gap in the published checks, a plan that passes the check there and not in the right mode.

use std::sync::LazyLock;

use planproof_travel::evaluate::{CheckResult, Loophole, TripCheck, TripJudgement, judge};
use planproof_travel::plan::TripPlan;
use planproof_travel::query::Query;
use planproof_travel::tables::{Texts, TripDatabase};
use planproof_travel::{TripCompat, own};
use serde_json::{Value, json};

static DATABASE: LazyLock<TripDatabase> = LazyLock::new(|| own::database().expect("tables"));

/// The first query, a drive from Quarry Hill to Oakhaven and back in three days for one person, and its plan.
fn first() -> (Query, Value) {
    let query = own::queries().expect("queries").swap_remove(0);
    let plan = own::plans().expect("plans").swap_remove(0).plan.0;
    assert_eq!((query.org.as_str(), query.dest.as_str(), query.days), ("Quarry Hill", "Oakhaven", 3));
    (query, plan)
}

fn both(database: &TripDatabase, query: &Query, plan: &Value) -> [TripJudgement; 2] {
    let plan = TripPlan(plan.clone());
    [TripCompat::Original, TripCompat::Right].map(|compat| judge(database, query, &plan, compat))
}

/// Changes the first query and its plan, and checks that they slip through a gap in a check.
fn slips(loophole: Loophole, check: TripCheck, edit: impl FnOnce(&mut Query, &mut Value)) {
    slips_in(&DATABASE, loophole, check, edit);
}

fn slips_in(
    database: &TripDatabase,
    loophole: Loophole,
    check: TripCheck,
    edit: impl FnOnce(&mut Query, &mut Value),
) {
    let (mut query, mut plan) = first();
    edit(&mut query, &mut plan);
    let [original, right] = both(database, &query, &plan);
    assert_eq!(original.mark(check), Some(CheckResult::Passed), "{original:#?}");
    let is_found =
        |it: &planproof_travel::evaluate::TripFinding| it.check == check && it.loophole == Some(loophole);
    assert!(right.findings.iter().any(is_found), "{right:#?}");
    assert!(right.loopholes().contains(&loophole) && !right.final_pass());
}

#[test]
fn any_known_city_is_no_destination() {
    slips(Loophole::Destination, TripCheck::Route, |query, _| query.dest = "Port Lissa".to_owned());
}

#[test]
fn a_trip_begins_at_the_origin() {
    slips(Loophole::Start, TripCheck::Route, |_, plan| {
        for day in [0, 1, 2] {
            plan[day]["current_city"] = json!("Oakhaven");
        }
    });
}

#[test]
fn a_trip_goes_somewhere() {
    slips(Loophole::NoTrip, TripCheck::Route, |_, plan| {
        for day in [0, 1, 2] {
            plan[day]["current_city"] = json!("Quarry Hill");
        }
    });
}

/// No gap, but what both modes ask for.
#[test]
fn nobody_is_home_before_the_last_day() {
    let (query, mut plan) = first();
    plan[1]["current_city"] = json!("from Oakhaven to Quarry Hill");
    plan[2]["current_city"] = json!("Quarry Hill");
    for judgement in both(&DATABASE, &query, &plan) {
        assert_eq!(judgement.mark(TripCheck::Route), Some(CheckResult::Failed), "{judgement:#?}");
    }
}

#[test]
fn a_second_spelling_is_no_second_place() {
    slips(Loophole::Spelling, TripCheck::Restaurants, |_, plan| {
        plan[1]["lunch"] = json!("Agave Table,  Oakhaven");
    });
    slips(Loophole::Spelling, TripCheck::Attractions, |_, plan| {
        plan[1]["attraction"] = json!("Clock Tower, Oakhaven; Clock Tower, Oakhaven;");
    });
}

#[test]
fn a_last_sight_without_a_semicolon_is_one() {
    for (check, sights) in [
        (TripCheck::Sandbox, "Clock Tower, Oakhaven;Moon Base, Oakhaven"),
        (TripCheck::CurrentCity, "Clock Tower, Oakhaven;Fort Lissa, Port Lissa"),
        (TripCheck::Attractions, "Clock Tower, Oakhaven;Clock Tower, Oakhaven"),
    ] {
        slips(Loophole::LastAttraction, check, |_, plan| plan[1]["attraction"] = json!(sights));
    }
}

#[test]
fn nights_count_where_several_houses_fit_the_name() {
    let more = "52,Glasshouse Studio Annex,Entire home/apt,99.0,1.0,4.0,No pets,2,Oakhaven\n\
        53,Glasshouse Studio,Entire home/apt,99.0,3.0,4.0,No pets,2,Oakhaven\n";
    let accommodations: String = own::TEXTS
        .accommodations
        .lines()
        .filter(|line| !line.contains(",Glasshouse Studio,"))
        .fold(String::new(), |text, line| text + line + "\n")
        + more;
    let texts = Texts { accommodations: &accommodations, ..own::TEXTS };
    let database = TripDatabase::read(&texts, DATABASE.flights.clone()).expect("tables");
    slips_in(&database, Loophole::AmbiguousStay, TripCheck::MinimumNights, |_, plan| {
        plan[0]["accommodation"] = json!("Glasshouse Studio, Oakhaven");
        plan[1]["accommodation"] = json!("Glasshouse Studio, Oakhaven");
    });
}

#[test]
fn the_day_of_the_journey_home_is_no_night() {
    let stay = DATABASE.stays.in_city("Oakhaven").find(|stay| stay.minimum_nights == 3.0).expect("a house");
    slips(Loophole::LastDayNight, TripCheck::MinimumNights, |_, plan| {
        for day in [0, 1, 2] {
            plan[day]["accommodation"] = json!(format!("{}, Oakhaven", stay.name));
        }
    });
}

#[test]
fn letters_of_a_city_are_no_city() {
    slips(Loophole::Letters, TripCheck::CurrentCity, |_, plan| {
        plan[1]["lunch"] = json!("Gull & Crab, Port Lissa");
    });
    slips(Loophole::Letters, TripCheck::CurrentCity, |_, plan| {
        plan[1]["transportation"] = json!("Taxi, from Oakhaven to Port Lissa, via Oakhaven");
    });
    slips(Loophole::Letters, TripCheck::CurrentCity, |_, plan| {
        plan[1]["accommodation"] = json!("Captain's Room, Port Lissa");
    });
}

#[test]
fn a_city_has_to_stand_in_its_place() {
    slips(Loophole::CityInText, TripCheck::CurrentCity, |_, plan| {
        plan[0]["transportation"] = json!("Self-driving, from Oakhaven to Quarry Hill");
    });
    slips(Loophole::CityInText, TripCheck::CurrentCity, |_, plan| {
        plan[0]["accommodation"] = json!("Family Home Oakhaven, Port Lissa");
    });
}

#[test]
fn a_train_is_not_in_the_tables() {
    for entry in ["Train, from Quarry Hill to Oakhaven", "Flight, from Quarry Hill to Oakhaven", "On foot"] {
        slips(Loophole::AnyMeans, TripCheck::Sandbox, |_, plan| plan[0]["transportation"] = json!(entry));
    }
}

#[test]
fn a_flight_goes_on_its_day() {
    slips(Loophole::FlightDate, TripCheck::Sandbox, |query, plan| {
        let days = (1..=16).map(|day| format!("2022-03-{day:02}"));
        let flight = days
            .filter(|day| *day != query.date[0])
            .find_map(|day| DATABASE.flights.on("Quarry Hill", "Oakhaven", &day).next())
            .expect("a flight");
        plan[0]["transportation"] =
            json!(format!("Flight Number: {}, from Quarry Hill to Oakhaven", flight.number()));
    });
}

#[test]
fn a_part_of_a_name_is_no_name() {
    for name in ["Agave", "", "e"] {
        slips(Loophole::PartOfName, TripCheck::Sandbox, |_, plan| {
            plan[1]["breakfast"] = json!(format!("{name}, Oakhaven"));
        });
    }
}

#[test]
fn the_first_row_that_has_the_name_in_it_is_not_meant() {
    let (mut query, mut plan) = first();
    query.dest = "Marlow Bay".to_owned();
    plan[1]["current_city"] = json!("Marlow Bay");
    plan[1]["dinner"] = json!("Saffron Yard, Marlow Bay");
    let [original, right] = both(&DATABASE, &query, &plan);
    let cost = |name| f64::from(DATABASE.restaurants.named(name, "Marlow Bay").expect("a row").average_cost);
    let difference = original.total_cost.zip(right.total_cost).map(|(original, right)| original - right);
    assert_eq!(difference, Some(cost("Saffron Yard Garden") - cost("Saffron Yard")));
}

#[test]
fn null_fills_nothing_in() {
    for key in ["breakfast", "lunch", "dinner", "attraction"] {
        slips(Loophole::NullEntry, TripCheck::Complete, |_, plan| plan[1][key] = Value::Null);
    }
    slips(Loophole::NullEntry, TripCheck::Complete, |_, plan| plan[2]["transportation"] = Value::Null);
}

#[test]
fn numbers_of_days_fill_nothing_in() {
    slips(Loophole::OtherKeys, TripCheck::Complete, |_, plan| {
        for (day, meal) in [(0, "dinner"), (2, "breakfast"), (2, "lunch")] {
            plan[day][meal] = json!("-");
        }
    });
}

#[test]
fn days_after_the_last_are_too_many() {
    slips(Loophole::ExtraDays, TripCheck::Complete, |_, plan| {
        let day = plan[1].clone();
        plan.as_array_mut().expect("days").push(day);
    });
    let (query, mut plan) = first();
    plan.as_array_mut().expect("days").extend([
        json!({}),
        Value::Null,
        json!({"current_city": "-", "days": 5}),
    ]);
    assert!(both(&DATABASE, &query, &plan).iter().all(TripJudgement::final_pass));
}

#[test]
fn a_part_of_a_cuisine_is_no_cuisine() {
    slips(Loophole::PartOfCuisine, TripCheck::Cuisine, |query, plan| {
        query.local_constraint.cuisine = Some(vec!["Indian".to_owned()]);
        // The one that cooks it.
        assert_eq!(plan[2]["breakfast"], "Masala Grove, Oakhaven");
        plan[2]["breakfast"] = json!("Plum Cart, Tarnwick");
    });
}

#[test]
fn what_is_ruled_out_is_so_in_small_letters() {
    slips(Loophole::LowerCase, TripCheck::TransportRule, |query, plan| {
        query.local_constraint =
            serde_json::from_str(r#"{"transportation": "no self-driving"}"#).expect("a rule");
        for day in [0, 2] {
            let entry = plan[day]["transportation"].as_str().expect("a text").to_lowercase();
            plan[day]["transportation"] =
                json!(entry.replace("quarry hill", "Quarry Hill").replace("oakhaven", "Oakhaven"));
        }
    });
}
