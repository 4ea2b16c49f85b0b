//! Checking what was executed.

use planproof_constraint::{Execution, Status, Variable};
use proptest::prelude::*;

use crate::twin::{any_calls, any_relation, cases, first_calls, problem, variables};

use Status::{Satisfied, Undetermined, Violated};

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn sequences_are_checked_by_position((n, pairs) in any_relation(7), calls in any_calls()) {
        let firsts = first_calls(n, &calls);
        let at = |variable| firsts.iter().position(|call| *call == variable);
        let expected: Vec<_> = pairs
            .iter()
            .map(|&(first, second)| match (at(first), at(second)) {
                (Some(first), Some(second)) if first < second => Satisfied,
                (Some(_), Some(_)) => Violated,
                _ => Undetermined,
            })
            .collect();
        let execution = Execution::from_sequence(n, &variables(&calls));
        prop_assert_eq!(problem(n, &pairs).check(&execution), expected);
        for variable in 0..n {
            prop_assert_eq!(execution.has(Variable::new(variable)), at(variable).is_some());
        }
    }
}

/// The statuses of "0 before 1" and "1 before 0" when the two are executed in these intervals.
fn statuses(first: (u64, u64), second: (u64, u64)) -> [Status; 2] {
    let mut execution = Execution::new(2);
    execution.set(Variable::new(0), first.0, first.1);
    execution.set(Variable::new(1), second.0, second.1);
    problem(2, &[(0, 1), (1, 0)]).check(&execution).try_into().unwrap()
}

#[test]
fn overlapping_and_touching_calls_are_in_no_order() {
    assert_eq!(statuses((1, 2), (3, 4)), [Satisfied, Violated]);
    assert_eq!(statuses((5, 9), (3, 4)), [Violated, Satisfied]);
    assert_eq!(statuses((1, 3), (2, 4)), [Violated, Violated]);
    assert_eq!(statuses((1, 9), (2, 4)), [Violated, Violated]);
    assert_eq!(statuses((1, 2), (2, 4)), [Violated, Violated]);
    assert_eq!(statuses((2, 2), (2, 2)), [Violated, Violated]);
    assert_eq!(statuses((0, 0), (u64::MAX, u64::MAX)), [Satisfied, Violated]);
}

#[test]
fn an_end_before_the_start_is_the_start() {
    assert_eq!(statuses((5, 1), (3, 4)), [Violated, Satisfied]);
    assert_eq!(statuses((5, 1), (6, 0)), [Satisfied, Violated]);
}

#[test]
fn the_first_time_counts() {
    let mut execution = Execution::new(2);
    execution.set(Variable::new(1), 4, 5);
    execution.set(Variable::new(0), 6, 7);
    execution.set(Variable::new(0), 1, 2);
    assert_eq!(problem(2, &[(0, 1)]).check(&execution), [Violated]);
}

#[test]
fn what_is_out_of_range_was_not_executed() {
    let mut execution = Execution::new(usize::MAX);
    execution.set(Variable::new(64), 0, 1);
    assert!(!execution.has(Variable::new(64)));
    let shorter = Execution::from_sequence(1, &variables(&[0, 1]));
    assert_eq!(problem(2, &[(0, 1)]).check(&shorter), [Undetermined]);
}
