//! The reader over the words of the published queries, and the planner behind it.

use planproof_travel::TripCompat;
use planproof_travel::evaluate::judge;
use planproof_travel::reader::{Accuracy, QueryField, ReadingScore, read};
use planproof_travel::solve::{SolveOptions, solve};

use super::{DATABASE, QUERIES};

/// How many queries of a set are read without a fault.
const EXACT: [(&str, usize); 2] = [("train", 45), ("validation", 178)];

/// The fields that are not read right everywhere, with how often they are in the validation set. Two faults cannot be
/// avoided: the number of people of one query, and the room type of another, are not what its words say.
const FAULTS: [(QueryField, usize); 2] = [(QueryField::People, 1), (QueryField::RoomType, 1)];

pub(super) fn queries_are_read() {
    for (set, exact) in EXACT {
        let mut accuracy = Accuracy::default();
        for query in &QUERIES[set] {
            let score = ReadingScore::new(&read(&query.query, &DATABASE.cities).reading, query);
            accuracy.add(&score);
            let wrong: Vec<&str> = score.wrong().map(QueryField::name).collect();
            if !wrong.is_empty() {
                println!("{set} {}: {}", query.idx, wrong.join(", "));
            }
        }
        for (field, right) in QueryField::ALL.into_iter().zip(accuracy.right) {
            println!("{set}: {} {right} of {}", field.name(), accuracy.readings);
            let faults = FAULTS.iter().find(|(it, _)| set == "validation" && *it == field);
            let expected = accuracy.readings - faults.map_or(0, |(_, count)| *count);
            assert_eq!(right, expected, "{set}: {}", field.name());
        }
        println!("{set}: all fields {} of {}", accuracy.exact, accuracy.readings);
        assert_eq!(accuracy.exact, exact, "{set}");
    }
}

/// How many queries are solved by a planner that has only their words, judged by their fields, in each mode. The
/// private rooms of a query whose fields ask for none that is shared are not shared either.
const SOLVED: [(&str, [usize; 2]); 2] = [("train", [45, 45]), ("validation", [179, 179])];

pub(super) fn queries_are_solved() {
    for (set, expected) in SOLVED {
        let solved = [TripCompat::Original, TripCompat::Right].map(|compat| {
            let good = QUERIES[set].iter().filter(|query| {
                let reading = read(&query.query, &DATABASE.cities).reading;
                let Ok(read) = reading.query(query.idx, query.level, &query.query) else { return false };
                let answer = solve(&DATABASE, &read, compat, &SolveOptions::default());
                let plan = answer.solved().map(|solved| &solved.plan);
                plan.is_some_and(|plan| judge(&DATABASE, query, plan, compat).final_pass())
            });
            good.count()
        });
        println!("{set}: {solved:?} of {} are solved from their words", QUERIES[set].len());
        assert_eq!(solved, expected, "{set}");
    }
}
