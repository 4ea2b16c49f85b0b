//! The reader of queries in words.

use planproof_travel::own;
use planproof_travel::query::{HouseRule, RoomType, TransportRule};
use planproof_travel::reader::{Accuracy, QueryField, QueryReading, ReadingScore, read};
use planproof_travel::tables::Cities;
use proptest::prelude::*;

fn cities() -> Cities {
    own::database().expect("tables").cities
}

#[test]
fn queries_of_the_own_data_set_are_read() {
    let cities = cities();
    let mut accuracy = Accuracy::default();
    for query in own::queries().expect("queries") {
        let heard = read(&query.query, &cities);
        let score = ReadingScore::new(&heard.reading, &query);
        assert!(score.is_exact(), "{:?} of {:?}: {heard:?}", score.wrong().collect::<Vec<_>>(), query.query);
        assert_eq!(heard.reading.query(query.idx, query.level, &query.query), Ok(query));
        accuracy.add(&score);
    }
    assert_eq!((accuracy.readings, accuracy.exact, accuracy.right), (20, 20, [20; 11]));
}

/// One trip in other words.
#[test]
fn other_words_say_the_same() {
    let texts = [
        "My wife and I want to leave Tarnwick on March 9th, 2022 and be back on March 13th. We'd see two cities in \
         Alderland, spend no more than $2,400, and stay in a whole apartment that takes our dog. We won't fly. Thai and \
         French food, please!",
        "Trip for two people: Alderland, 2 different towns, setting off from Tarnwick, 9-13 March 2022. Budget: 2400 \
         dollars. Pet-friendly, entire homes only. Flights are to be avoided. Cuisines: Thai, French.",
        "We are a couple starting in Tarnwick. Between the 9th and the 13th of March, 2022 we would like to visit a couple \
         of cities in Alderland with a budget of $1,200 per person. We need an entire place to ourselves with no \
         restrictions on pets, would like Thai as well as French cuisine, and travel without flights.",
        "Could you plan a 5-day trip (2022-03-09 to 2022-03-13) for a group of 2 from Tarnwick, covering 2 cities of \
         Alderland? Our budget is two thousand four hundred dollars; we'd rather not take a plane. Pets must be allowed, \
         rooms should be entire rooms, and we love Thai and French cuisines.",
    ];
    let cities = cities();
    for text in texts {
        let heard = read(text, &cities);
        let reading = heard.reading;
        assert_eq!(reading.org.as_deref(), Some("Tarnwick"), "{text}");
        assert_eq!(reading.dest.as_deref(), Some("Alderland"), "{text}");
        assert_eq!((reading.days, reading.visiting_city_number), (Some(5), Some(2)), "{text}");
        assert_eq!(reading.date.as_ref().map(|date| date[0].as_str()), Some("2022-03-09"), "{text}");
        assert_eq!((reading.people_number, reading.budget), (Some(2), Some(2400.0)), "{text}");
        let local = reading.local_constraint;
        assert_eq!(local.house_rule, Some(HouseRule::Pets), "{text}");
        assert_eq!(local.room_type, Some(RoomType::Entire), "{text}");
        assert_eq!(local.transportation, Some(TransportRule::NoFlight), "{text}");
        assert_eq!(local.cuisine, Some(vec!["Thai".to_owned(), "French".to_owned()]), "{text}");
        assert!(heard.doubts.is_empty(), "{text}: {:?}", heard.doubts);
    }
}

#[test]
fn what_is_missing_or_does_not_fit_is_named() {
    let heard = read("We would like to go somewhere nice without smoking.", &cities());
    let missing = heard.reading.missing();
    assert_eq!(missing.len(), 7, "{missing:?}");
    assert!(missing.contains(&QueryField::People) && missing.contains(&QueryField::Budget));
    assert_eq!(heard.doubts, ["`smoking` is ruled out; a query holds only what has to be allowed"]);
    let query = own::queries().expect("queries").swap_remove(0);
    let error = heard.reading.query(1, query.level, "").expect_err("no query");
    let what = "the text does not give org, dest, days, visiting_city_number, date, people_number, budget";
    assert_eq!(error.to_string(), what);
}

#[test]
fn a_score_names_the_wrong_fields() {
    let query = own::queries().expect("queries").pop().expect("a query");
    let mut reading = QueryReading::of(&query);
    assert!(ReadingScore::new(&reading, &query).is_exact());
    reading.budget = None;
    reading.local_constraint.cuisine = Some(vec!["Martian".to_owned()]);
    let wrong: Vec<QueryField> = ReadingScore::new(&reading, &query).wrong().collect();
    assert_eq!(wrong, [QueryField::Cuisine, QueryField::Budget]);
    let json = serde_json::to_string(&reading).expect("JSON");
    assert_eq!(QueryReading::read_json(&json), Ok(reading));
}

/// Texts of what the reader looks for, in any order.
fn text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "from ",
        "to ",
        "March ",
        "31st",
        " 2022",
        "2022-",
        "02-30",
        "-",
        "–",
        " the 8th ",
        "three ",
        "hundred ",
        "and ",
        "$",
        "1,700",
        "9,99",
        "99999999999999999999",
        "1e400",
        "budget of ",
        "per person ",
        "days ",
        "week ",
        "party of ",
        "couple ",
        "cities ",
        "Tarnwick",
        "Alderland ",
        "St. ",
        "no ",
        "not ",
        "shared ",
        "private ",
        "room ",
        "flights ",
        "self-driving ",
        "ourselves ",
        "smoking ",
        "Thai ",
        ". ",
        ", ",
        "'",
        "’",
        "é",
        "ẞ",
        "\u{0}",
        "\u{2028}",
        "of ",
        "us ",
        "for ",
        "k",
        "2k ",
        "/",
        "3/5/2022",
    ]);
    prop::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_text_is_read(text in prop_oneof![3 => text(), 1 => any::<String>()]) {
        let cities = cities();
        let heard = read(&text, &cities);
        if let Some(date) = &heard.reading.date {
            prop_assert!((1..=31).contains(&date.len()));
        }
        // What was read can be written and taken back, or is refused with a reason.
        let json = serde_json::to_string(&heard.reading).expect("JSON");
        if let Err(error) = QueryReading::read_json(&json) {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}
