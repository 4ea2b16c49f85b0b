//! The index answers as the table in memory does, whatever the rows.

use planproof_travel::own;
use planproof_travel::tables::{FLIGHTS_FILE, Flights, FlightsBuilder};
use proptest::prelude::*;

use crate::place::{HEADER, Place};

const CITIES: [&str; 4] = ["A", "B", "C d", "Ä"];
const DATES: [&str; 3] = ["2022-03-01", "2022-03-02", "2022-04-01"];

fn in_memory(text: &str) -> Flights {
    let mut builder = FlightsBuilder::new(FLIGHTS_FILE);
    for line in text.lines() {
        builder.line(line).unwrap();
    }
    builder.finish()
}

/// Every question about these cities, days and numbers has the same answer.
fn assert_same(one: &Flights, other: &Flights, (cities, dates, numbers): (&[&str], &[&str], &[String])) {
    assert_eq!(one.len(), other.len());
    for origin in cities {
        for destination in cities {
            for date in dates {
                let [ones, others] =
                    [one, other].map(|it| it.on(origin, destination, date).collect::<Vec<_>>());
                assert_eq!(ones, others, "{origin} {destination} {date}");
                let [ones, others] = [one, other].map(|it| it.cheapest(origin, destination, date));
                assert_eq!(ones, others);
            }
            for number in numbers {
                let [ones, others] = [one, other]
                    .map(|it| it.numbered_between(number, origin, destination).collect::<Vec<_>>());
                assert_eq!(ones, others);
            }
        }
    }
    for number in numbers {
        let [ones, others] = [one, other].map(|it| it.numbered(number).collect::<Vec<_>>());
        assert_eq!(ones, others, "{number}");
    }
    assert_eq!([one.outage(), other.outage()], [None; 2]);
}

prop_compose! {
    fn row()(
        number in 0..40u32, zeros in 0..3usize, price in 0..900u32, minutes in 0..600u32,
        date in 0..DATES.len(), from in 0..CITIES.len(), to in 0..CITIES.len(), is_empty in prop::bool::weighted(0.1),
    ) -> String {
        let price = if is_empty { String::new() } else { format!("{price}.5") };
        let (hours, minutes) = (minutes / 60, minutes % 60);
        format!(
            "F{}{number},{price},06:05,{hours:02}:{minutes:02},{hours} hours {minutes} minutes,{},{},{},{number}.25\n",
            "0".repeat(zeros), DATES[date], CITIES[from], CITIES[to],
        )
    }
}

fn numbers() -> Vec<String> {
    let of = |number: u32| (0..3).map(move |zeros| format!("F{}{number}", "0".repeat(zeros)));
    (0..41).flat_map(of).chain(["F".to_owned(), "x".to_owned()]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    #[ignore = "slow"]
    fn any_table(rows in prop::collection::vec(row(), 0..400)) {
        let place = Place::new();
        let text = rows.concat();
        let table = place.table("t.csv", &text);
        let memory = in_memory(&format!("{HEADER}{text}"));
        let with_unknown = [CITIES[0], CITIES[1], CITIES[2], CITIES[3], "E"];
        let questions = (&with_unknown[..], &[DATES[0], DATES[1], DATES[2], "x"][..], &numbers()[..]);
        for is_first in [true, false] {
            let (flights, is_made) = place.open(&table);
            prop_assert_eq!(is_made, is_first);
            assert_same(&flights.unwrap(), &memory, questions);
        }
    }
}

/// Many rows of one leg and one number, over several blocks.
#[test]
fn one_leg_and_one_number_of_many_rows() {
    let place = Place::new();
    let rows: String = (0..3_000)
        .map(|row| {
            let (number, to) = (if row % 3 == 0 { 7 } else { row }, if row % 2 == 0 { "B" } else { "Ä" });
            format!("F{number},{row},06:05,07:05,1 hours 0 minutes,2022-03-01,A,{to},1.0\n")
        })
        .collect();
    let table = place.table("t.csv", &rows);
    let flights = place.open(&table).0.unwrap();
    assert_eq!(flights.on("A", "B", "2022-03-01").count(), 1_500);
    assert_eq!(flights.numbered("F7").count(), 1_001);
    assert_same(
        &flights,
        &in_memory(&format!("{HEADER}{rows}")),
        (&["A", "B", "Ä"], &["2022-03-01"], &["F7".to_owned(), "F8".to_owned()]),
    );
}

#[test]
fn the_data_set_of_our_own() {
    let place = Place::new();
    let path = place.path("t.csv");
    std::fs::write(&path, own::FLIGHTS).unwrap();
    let (memory, flights) = (own::database().unwrap().flights, place.open(&path).0.unwrap());
    let records = own::FLIGHTS.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    let mut questions: [Vec<&str>; 3] = Default::default();
    for record in records {
        questions[0].extend([record[6], record[7]]);
        questions[1].push(record[5]);
        questions[2].push(record[0]);
    }
    for list in &mut questions {
        list.sort_unstable();
        list.dedup();
    }
    let numbers: Vec<String> = questions[2].iter().map(|it| (*it).to_owned()).collect();
    assert!(numbers.len() > 100 && questions[0].len() > 2);
    assert_same(&flights, &memory, (&questions[0], &questions[1], &numbers));
}
