//! Whether the twin would notice, and whether what it is asked about is worth it.

use planproof_constraint::choice::{
    ChoiceAnswer, ChoiceProblem, Constraint, Demand, FieldValue, Number, Objective, Op, SlotField, Term,
};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use super::Twin;
use super::draw::{Instance, any_instance};

/// The twin has to notice when the solver solves something else: constraints that lack one, or have one more.
#[test]
fn the_twin_catches_planted_faults() {
    let mut runner = TestRunner::deterministic();
    let (mut lacking, mut added, mut costly, mut large) = (0, 0, 0, 0);
    for _ in 0..400 {
        let Instance { slots, constraints, objective, .. } =
            any_instance().new_tree(&mut runner).unwrap().current();
        let twin = Twin::new(&slots, &constraints, &objective);
        let is_caught = |constraints: &[Constraint], objective: &Objective| {
            let problem = ChoiceProblem::new(slots.clone(), constraints.to_vec()).unwrap();
            let answer = problem.solve(objective).unwrap();
            // A conflict of constraints that the twin does not know is as good as caught.
            let is_foreign = matches!(&answer, ChoiceAnswer::Conflict(conflict)
                if conflict.constraints.iter().any(|id| twin.constraints.iter().all(|it| it.id != *id)));
            u32::from(is_foreign || twin.judge(objective, &answer, true).is_err())
        };
        let Some((last, fewer)) = constraints.split_last() else { continue };
        lacking += is_caught(fewer, &objective);
        let sum = Term::once(SlotField::new("s0", "price"));
        let bound = FieldValue::Number(Number::whole(-1).unwrap());
        let demand = Demand::Sum { terms: vec![sum.clone()], op: Op::AtMost, bound };
        let one_more = Constraint { id: "more".to_owned(), text: "more".to_owned(), demand };
        added += is_caught(&[constraints.as_slice(), &[one_more]].concat(), &objective);
        let problem = ChoiceProblem::new(slots.clone(), constraints.clone()).unwrap();
        match problem.solve(&Objective::Maximise(vec![sum.clone()])).unwrap() {
            ChoiceAnswer::Solved(solved) => {
                let objective = Objective::Minimise(vec![sum]);
                let twin = Twin::new(&slots, &constraints, &objective);
                costly += u32::from(twin.judge(&objective, &ChoiceAnswer::Solved(solved), true).is_err());
            }
            ChoiceAnswer::Conflict(mut conflict) => {
                if !conflict.constraints.contains(&last.id) {
                    conflict.constraints.push(last.id.clone());
                    large += u32::from(twin.judge_conflict(&conflict, true).is_err());
                }
            }
            ChoiceAnswer::Undecided(_) => {}
        }
    }
    assert!(lacking > 20 && added > 20 && costly > 20 && large > 20, "{lacking} {added} {costly} {large}");
}

/// The instances are worth asking about: answers of every kind, and conflicts of many sizes.
#[test]
fn the_instances_are_of_many_kinds() {
    let mut runner = TestRunner::deterministic();
    let mut solved = 0;
    let mut conflicts = [0; 5];
    for _ in 0..1500 {
        let Instance { slots, constraints, objective, .. } =
            any_instance().new_tree(&mut runner).unwrap().current();
        match ChoiceProblem::new(slots, constraints).unwrap().solve(&objective).unwrap() {
            ChoiceAnswer::Conflict(conflict) => conflicts[conflict.constraints.len().min(4)] += 1,
            _ => solved += 1,
        }
    }
    assert!(solved > 300, "{solved}");
    assert!(conflicts[0] > 20 && conflicts[1] > 20 && conflicts[2] > 20 && conflicts[3] > 2, "{conflicts:?}");
}
