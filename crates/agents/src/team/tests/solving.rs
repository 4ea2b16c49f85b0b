//! A team whose deliverer has a solver choose, and whose executors' reports are checked.

use planproof_plan::team::TeamUse;

use super::*;

async fn run_solving(model: &Arc<Scripted>) -> (EndReason, Vec<Event>) {
    let chat: Arc<dyn Model> = Arc::clone(model) as Arc<dyn Model>;
    let worker = crate::FunctionCallingAgent::new(Arc::clone(&chat)).unwrap();
    let options = TeamOptions { deliver: Deliver::Solver, ..TeamOptions::default() };
    let team = TeamAgent::of_one(&chat, Arc::new(worker), options);
    run_team(&team).await
}

/// Hotels with at least three stars, and flights, for at most 500 in all.
fn journey(budget: u32) -> [String; 2] {
    let stars = json!({"id": "stars", "text": "at least three stars", "kind": "compare", "left": "hotel.stars",
                       "op": ">=", "value": 3});
    let graph = json!({"sub_tasks": [
        {"id": "flight", "task": "Find flights.", "executor": "worker"},
        {"id": "hotel", "task": "Find hotels.", "executor": "worker",
         "constraints": [{"words": "at least three stars", "typed": stars}]},
    ]});
    let problem = json!({
        "slots": {
            "flight": [{"price": 320}, {"price": 180}],
            "hotel": [{"price": 150, "stars": 3}, {"price": 400, "stars": 5}],
        },
        "constraints": [{"id": "budget", "text": format!("at most {budget} dollars in all"), "kind": "sum",
                         "terms": ["flight.price", "hotel.price"], "op": "<=", "bound": budget}],
        "objective": {"minimise": ["flight.price", "hotel.price"]},
    });
    [graph.to_string(), problem.to_string()]
}

#[tokio::test]
async fn what_the_solver_chose_stands_before_the_answer() {
    let [graph, problem] = journey(500);
    let hotels =
        "Two hotels:\n```json\n[{\"price\": 150, \"stars\": 3}, {\"price\": 400, \"stars\": 5}]\n```";
    let model = Scripted::new(&[
        (Role::Manager, &[&graph]),
        // The flights, hotels that are not good enough, and others.
        (Role::Executor, &["Flights for 320 and 180.", "[{\"stars\": 2}]", hotels]),
        (Role::Deliverer, &["no JSON", &problem, "The cheap flight and the hotel for 150."]),
    ]);
    let (end, events) = run_solving(&model).await;
    let EndReason::Answered { text } = end else { panic!("{end:?}") };
    insta::assert_snapshot!(text, @r#"
    The solver has chosen, and proved that every constraint holds:
    - flight: price 180
    - hotel: price 150, stars 3
    The objective comes to 330, and no choice is better.
    The sum of flight.price and hotel.price is 330, at most 500 (budget: "at most 500 dollars in all").

    The cheap flight and the hotel for 150.
    "#);
    // The report that did not fit went back to its executor, the text without JSON to the deliverer.
    let used = TeamUse::of(&events).unwrap();
    assert_eq!((used.executor.faults, used.deliverer.faults, used.finished), (1, 1, 2));
    let asked = model.asked.lock().unwrap();
    assert!(
        asked.iter().any(|prompt| prompt.contains("object 1: hotel.stars is 2, less than 3")),
        "{asked:?}"
    );
    assert!(asked[0].contains("Where a constraint can be checked, also give it in a typed form"));
}

#[tokio::test]
async fn what_cannot_be_met_is_said_in_the_words_of_the_task() {
    let [graph, problem] = journey(300);
    let model = Scripted::new(&[
        (Role::Manager, &[&graph]),
        (Role::Executor, &["[{\"stars\": 4}]"]),
        (Role::Deliverer, &[&problem, "It cannot be done for that money."]),
    ]);
    let (end, events) = run_solving(&model).await;
    let EndReason::Answered { text } = end else { panic!("{end:?}") };
    insta::assert_snapshot!(text, @r#"
    The solver has proved that there is no choice that meets every constraint. No choice meets this: budget: "at most 300 dollars in all". The sum of flight.price and hotel.price is at least 330, more than 300.

    It cannot be done for that money.
    "#);
    assert_eq!(noted(&events, sections::PROOF).len(), 1);
}

#[tokio::test]
async fn a_report_that_never_fits_is_a_failed_sub_task() {
    let [graph, problem] = journey(500);
    let model = Scripted::new(&[
        (Role::Manager, &[&graph]),
        (Role::Executor, &["Flights.", "[{\"stars\": 1}]"]),
        (Role::Deliverer, &[&problem, "x"]),
    ]);
    let (_, events) = run_solving(&model).await;
    let [(id, why)] = noted(&events, sections::FAILURE)[..] else { panic!() };
    assert_eq!(id, "hotel");
    assert!(why.contains("violates constraints:\n- object 1: hotel.stars is 1, less than 3"), "{why}");
    // A graph whose typed constraints make no sense goes back to the manager.
    let broken = graph.replace("hotel.stars", "flight.stars");
    let model = Scripted::new(&[
        (Role::Manager, &[&broken, &graph]),
        (Role::Executor, &["[{\"stars\": 4}]"]),
        (Role::Deliverer, &[&problem, "x"]),
    ]);
    let (_, events) = run_solving(&model).await;
    assert!(noted(&events, sections::FAULTS)[0].1.contains("speaks of flight"), "{events:?}");
}
