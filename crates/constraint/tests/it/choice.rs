//! Choosing: problems as a model writes them, and answers in words.

use planproof_constraint::choice::{
    ChoiceAnswer, ChoiceProblem, ChoiceTask, Condition, ConflictSize, Constraint, Demand, FACTOR_MAX, Faults,
    FieldValue, NUMBER_MAX, Number, Objective, Op, Record, SearchLimits, Slot, SlotField, Term, ValueTest,
    read_constraint, read_record, read_task,
};
use serde_json::json;

pub(crate) const TRIP: &str = r#"{
    "slots": {
        "flight": [
            {"to": "Rome", "price": 320, "arrival": "10:40"},
            {"to": "Milan", "price": 180.5, "arrival": "19:55"},
            {"to": "Rome", "price": 250, "arrival": "21:30"}
        ],
        "hotel": [
            {"city": "Rome", "price": 140, "stars": 3, "has": ["wifi", "pool"]},
            {"city": "Milan", "price": 120, "stars": 4, "has": ["wifi"]},
            {"city": "Rome", "price": 90, "stars": 2, "has": []}
        ],
        "show": {"optional": true, "candidates": [
            {"city": "Rome", "price": 60, "starts": "21:00"},
            {"city": "Milan", "price": 45, "starts": "20:30"}
        ]}
    },
    "constraints": [
        {"id": "budget", "text": "no more than 800 dollars in all", "kind": "sum",
         "terms": ["flight.price", {"field": "hotel.price", "factor": 3}, "show.price"], "op": "<=", "bound": 800},
        {"id": "city", "text": "a hotel where the plane lands", "kind": "compare",
         "left": "hotel.city", "op": "==", "right": "flight.to"},
        {"id": "stars", "text": "at least three stars", "kind": "compare",
         "left": "hotel.stars", "op": ">=", "value": 3},
        {"id": "wifi", "text": "with wifi", "kind": "member", "field": "hotel.has", "has": "wifi"},
        {"id": "time", "text": "45 minutes to get to the show", "kind": "time",
         "from": "flight.arrival", "to": "show.starts", "op": ">=", "minutes": 45},
        {"id": "where", "text": "a show in the same town", "kind": "same",
         "fields": ["show.city", "hotel.city", "flight.to"]},
        {"id": "fun", "text": "see a show", "kind": "filled", "slot": "show"}
    ],
    "objective": {"minimise": ["flight.price", {"field": "hotel.price", "factor": 3}, "show.price"]}
}"#;

fn task(text: &str) -> ChoiceTask {
    read_task(text).unwrap_or_else(|faults| panic!("{faults}"))
}

/// The trip, with another constraint instead of that of an id.
fn trip_with(id: &str, constraint: &serde_json::Value) -> Result<ChoiceTask, Faults> {
    let mut json: serde_json::Value = serde_json::from_str(TRIP).unwrap();
    let constraints = json["constraints"].as_array_mut().unwrap();
    let place = constraints.iter().position(|it| it["id"] == id).unwrap();
    constraints[place] = constraint.clone();
    read_task(&json.to_string())
}

fn words(task: &ChoiceTask, chosen: [(&str, Option<usize>); 3]) -> Vec<String> {
    let selection = task.problem.selection(chosen).unwrap();
    task.problem.check(&selection).unwrap().into_iter().map(|verdict| verdict.words).collect()
}

#[test]
fn the_cheapest_choice_is_found_and_proved() {
    let ChoiceTask { problem, objective } = task(TRIP);
    let ChoiceAnswer::Solved(solved) = problem.solve(&objective).unwrap() else { panic!("it can be solved") };
    assert_eq!(
        problem.record(&solved.selection, "flight").unwrap().get("to"),
        Some(&FieldValue::from("Rome"))
    );
    assert_eq!(solved.selection.chosen, [Some(0), Some(0), Some(0)]);
    assert_eq!(solved.cost.unwrap().to_string(), "800");
    let local: Vec<&str> =
        problem.constraints().iter().filter(|it| it.is_local()).map(|it| it.id.as_str()).collect();
    assert_eq!(local, ["stars", "wifi", "fun"]);
}

#[test]
fn the_largest_sum_is_found_too() {
    let problem = task(TRIP).problem;
    let stars = Objective::Maximise(vec![Term::once(SlotField::new("hotel", "stars"))]);
    let ChoiceAnswer::Solved(solved) = problem.solve(&stars).unwrap() else { panic!("it can be solved") };
    assert_eq!(solved.cost.unwrap().to_string(), "3");
    let first = problem.solve(&Objective::First).unwrap();
    assert!(matches!(first, ChoiceAnswer::Solved(solved) if solved.cost.is_none()));
}

#[test]
fn verdicts_say_why() {
    let task = task(TRIP);
    assert_eq!(
        words(&task, [("flight", Some(1)), ("hotel", Some(2)), ("show", Some(1))]),
        [
            "The sum of flight.price, 3 times hotel.price and show.price is 495.5, at most 800 \
             (budget: \"no more than 800 dollars in all\").",
            "hotel.city is \"Rome\", but flight.to is \"Milan\" (city: \"a hotel where the plane lands\").",
            "hotel.stars is 2, less than 3 (stars: \"at least three stars\").",
            "hotel.has does not have \"wifi\" (wifi: \"with wifi\").",
            "From flight.arrival (19:55) to show.starts (20:30) it is 35 minutes, less than 45 \
             (time: \"45 minutes to get to the show\").",
            "show.city is \"Milan\", but hotel.city is \"Rome\" (where: \"a show in the same town\").",
            "Something is chosen for show (fun: \"see a show\").",
        ]
    );
    assert_eq!(
        words(&task, [("flight", Some(0)), ("hotel", Some(0)), ("show", None)])[4..],
        [
            "Nothing is chosen for show, so it asks for nothing (time: \"45 minutes to get to the show\").",
            "All of show.city, hotel.city and flight.to that are chosen are \"Rome\" \
             (where: \"a show in the same town\").",
            "Nothing is chosen for show (fun: \"see a show\").",
        ]
    );
}

#[test]
fn a_conflict_is_in_the_words_of_the_task() {
    let less = json!({"id": "budget", "text": "no more than 700", "kind": "sum", "op": "<=", "bound": 700,
        "terms": ["flight.price", {"field": "hotel.price", "factor": 3}, "show.price"]});
    let ChoiceTask { problem, objective } = trip_with("budget", &less).unwrap();
    let ChoiceAnswer::Conflict(conflict) = problem.solve(&objective).unwrap() else {
        panic!("it has a conflict")
    };
    // To Milan the flight is too late for the show.
    assert_eq!(conflict.constraints, ["budget", "stars", "time", "where", "fun"]);
    assert_eq!(conflict.size, ConflictSize::Smallest);
    assert!(!conflict.has_objective);
    assert_eq!(
        conflict.words,
        "These cannot hold together: budget: \"no more than 700\", stars: \"at least three stars\", time: \
         \"45 minutes to get to the show\", where: \"a show in the same town\" and fun: \"see a show\". The sum of \
         flight.price, 3 times hotel.price and show.price is at least 800, more than 700."
    );
    let limits = SearchLimits { conflict_tests: 0, ..SearchLimits::default() };
    let ChoiceAnswer::Conflict(conflict) = problem.solve_within(&objective, &limits).unwrap() else {
        panic!()
    };
    assert_eq!(conflict.size, ConflictSize::Irreducible);
    let limits = SearchLimits { conflict_steps: 0, ..SearchLimits::default() };
    let ChoiceAnswer::Conflict(conflict) = problem.solve_within(&objective, &limits).unwrap() else {
        panic!()
    };
    assert_eq!((conflict.size, conflict.constraints.len()), (ConflictSize::Unknown, 7));
    let limits = SearchLimits { search_steps: 3, ..SearchLimits::default() };
    assert!(
        matches!(problem.solve_within(&objective, &limits).unwrap(), ChoiceAnswer::Undecided(it) if it.steps_max == 3)
    );
}

#[test]
fn one_slot_alone_can_be_the_conflict() {
    let five = json!({"id": "stars", "text": "five stars", "kind": "compare",
        "left": "hotel.stars", "op": "==", "value": 5});
    let problem = trip_with("stars", &five).unwrap().problem;
    let ChoiceAnswer::Conflict(conflict) = problem.solve(&Objective::First).unwrap() else {
        panic!("it has a conflict")
    };
    assert_eq!(
        conflict.words,
        "No choice meets this: stars: \"five stars\". None of the 3 candidates of hotel meets it."
    );
    let nothing = r#"{"slots": {"a": [], "b": [{"x": 1}], "c": {"optional": true, "candidates": []}}}"#;
    let ChoiceAnswer::Conflict(conflict) = task(nothing).problem.solve(&Objective::First).unwrap() else {
        panic!("it has a conflict")
    };
    assert_eq!((conflict.constraints.len(), conflict.words.as_str()), (0, "There is no candidate for a."));
}

#[test]
fn a_wrong_choice_is_changed_as_little_as_possible() {
    let problem = task(TRIP).problem;
    let json = json!({"flight": 0, "hotel": 2, "show": 0});
    let wrong = problem.read_selection(&json).unwrap();
    let ChoiceAnswer::Solved(nearest) = problem.nearest(&wrong).unwrap() else { panic!("it can be solved") };
    assert_eq!(nearest.selection.chosen, [Some(0), Some(0), Some(0)]);
    assert_eq!(nearest.cost.unwrap().to_string(), "1");
}

#[test]
fn a_result_is_checked_on_its_own() {
    let problem = task(TRIP).problem;
    let record = read_record(&json!({"city": "Bonn", "stars": 1, "has": ["wifi"], "other": null})).unwrap();
    let verdicts = problem.check_local("hotel", &record).unwrap();
    let met: Vec<(&str, bool)> = verdicts.iter().map(|it| (it.constraint.as_str(), it.is_met)).collect();
    assert_eq!(met, [("stars", false), ("wifi", true)]);
    let record = read_record(&json!({"city": "Bonn", "has": []})).unwrap();
    assert_eq!(
        problem.check_local("hotel", &record).unwrap()[0].words,
        "What is chosen for hotel has no stars (stars: \"at least three stars\")."
    );
    let record = read_record(&json!({"stars": "four", "has": []})).unwrap();
    assert_eq!(
        problem.check_local("hotel", &record).unwrap_err().to_string(),
        "- `slots.hotel[0].stars`, constraint `stars`: \"four\" is used with numbers without a unit, but it is not a \
         number of digits with at most one decimal point. Write it as such, or leave the field out."
    );
    // Before there are any candidates.
    let early = r#"{"slots": {"hotel": []}, "constraints": [{"id": "stars", "text": "three stars", "kind": "compare",
        "left": "hotel.stars", "op": ">=", "value": 3}]}"#;
    let record = read_record(&json!({"stars": 3})).unwrap();
    assert!(task(early).problem.check_local("hotel", &record).unwrap()[0].is_met);
    assert!(problem.check_local("hostel", &record).is_err());
}

#[test]
fn a_reply_may_have_words_around_the_problem() {
    for text in [format!("Here it is:\n```json\n{TRIP}\n```\nDone."), format!("I think {TRIP} is it")] {
        assert_eq!(task(&text).problem.slots().len(), 3, "{text}");
    }
}

#[test]
fn a_selection_has_to_fit() {
    let problem = task(TRIP).problem;
    let fault = |json: serde_json::Value| problem.read_selection(&json).unwrap_err().to_string();
    assert_eq!(
        fault(json!({"flight": 3})),
        "- `flight`: there is no such candidate. Choose a number from 0 to 2."
    );
    assert_eq!(
        fault(json!({"plane": 0})),
        "- `plane`: there is no slot `plane`. Use `flight`, `hotel` or `show`."
    );
    assert_eq!(
        fault(json!({"flight": "first"})),
        "- `flight`: it is a text. Write the index of a candidate, from 0, or null."
    );
    let empty = problem.selection([("flight", Some(0))]).unwrap();
    assert_eq!(
        problem.check(&empty).unwrap_err().to_string(),
        "- `hotel`: nothing is chosen, and the slot is not optional. Choose a candidate."
    );
}

/// Weights at the limits, which no sum must overflow.
#[test]
fn the_largest_numbers_fit() {
    let largest = |sign: i64| FieldValue::Number(Number::whole(sign * NUMBER_MAX).unwrap());
    let factor = |sign: i64| Number::whole(sign * FACTOR_MAX).unwrap();
    let slot = |place: usize| {
        let record = |sign| Record::from_iter([("x", largest(sign))]);
        Slot { name: format!("s{place}"), candidates: vec![record(1), record(-1)], is_optional: false }
    };
    let terms = |sign: i64| -> Vec<Term> {
        (0..256)
            .map(|it| Term { field: SlotField::new(format!("s{}", it % 64), "x"), factor: factor(sign) })
            .collect()
    };
    let constraint = |id: &str, sign, op| Constraint {
        id: id.to_owned(),
        text: id.to_owned(),
        demand: Demand::Sum { terms: terms(sign), op, bound: FieldValue::Number(Number::whole(1).unwrap()) },
    };
    let constraints = vec![constraint("one", 1, Op::AtMost), constraint("other", -1, Op::AtLeast)];
    let problem = ChoiceProblem::new((0..64).map(slot).collect(), constraints).unwrap();
    let ChoiceAnswer::Solved(solved) = problem.solve(&Objective::Minimise(terms(1))).unwrap() else {
        panic!()
    };
    let least = i128::from(NUMBER_MAX) * i128::from(FACTOR_MAX) * 256;
    assert_eq!(solved.cost.unwrap().to_string(), format!("-{least}"));
    let ChoiceAnswer::Solved(solved) = problem.solve(&Objective::Maximise(terms(1))).unwrap() else {
        panic!()
    };
    // One of them below nothing, as nothing itself is not allowed.
    assert_eq!(solved.cost.unwrap().to_string(), "-8000000000000000000");
}

#[test]
fn units_are_shown_as_they_were_written() {
    let text = r#"{"slots": {"a": [{"fee": "EUR 30.5"}, {"fee": "eur 12"}], "b": [{"fee": "EUR 9"}]}, "constraints": [
        {"id": "fees", "text": "at least 40 euros", "kind": "sum",
         "terms": ["a.fee", "b.fee"], "op": ">=", "bound": "EUR 40"}],
        "objective": {"maximise": ["a.fee", "b.fee"]}}"#;
    let ChoiceTask { problem, objective } = task(text);
    let ChoiceAnswer::Conflict(conflict) = problem.solve(&objective).unwrap() else {
        panic!("39.50 is not enough")
    };
    assert_eq!(
        conflict.words,
        "No choice meets this: fees: \"at least 40 euros\". The sum of a.fee and b.fee is at most EUR 39.5, less than \
         EUR 40."
    );
}

#[test]
fn a_constraint_is_read_on_its_own() {
    let json = json!({"id": "i", "text": "fish goes with white wine", "kind": "implies",
        "if": {"kind": "compare", "left": "dish.kind", "op": "==", "value": "fish"},
        "then": {"kind": "member", "field": "wine.colour", "in": ["white"], "not": false}});
    let dish = Condition::Passes {
        field: SlotField::new("dish", "kind"),
        test: ValueTest::Is(Op::Equal, "fish".into()),
    };
    let test = ValueTest::Among { values: vec!["white".into()], is_in: true };
    let wine = Condition::Passes { field: SlotField::new("wine", "colour"), test };
    assert_eq!(read_constraint(&json).unwrap().demand, Demand::Implies { premise: dish, conclusion: wine });
}
