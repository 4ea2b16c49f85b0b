//! The nearest correct sequence, against all correct sequences.

use planproof_constraint::{VARIABLES_MAX, Variable};
use proptest::prelude::*;

use crate::twin::{
    all_relations, any_calls, any_satisfiable, cases, correct, first_calls, indexes, plans, problem,
    variables,
};

/// Whether `sequence` has the members of `part` in the order they have in `part`.
fn has_in_order(sequence: &[usize], part: &[usize]) -> bool {
    let mut rest = sequence.iter();
    part.iter().all(|member| rest.any(|other| other == member))
}

/// What the documentation of `nearest` says, word by word: of all parts of the called sequence that some correct
/// sequence has in order, the largest, then the one with the smallest ids; then the first correct sequence with it.
fn nearest(n: usize, correct: &[Vec<usize>], calls: &[usize]) -> Vec<usize> {
    let calls = first_calls(n, calls);
    let part = |set: usize| -> Vec<usize> {
        (0..calls.len()).filter(|bit| set >> bit & 1 == 1).map(|bit| calls[bit]).collect()
    };
    let can_stay = |part: &Vec<usize>| correct.iter().any(|sequence| has_in_order(sequence, part));
    let kept = (0..1 << calls.len())
        .map(part)
        .filter(can_stay)
        .min_by_key(|part| {
            let mut ids = part.clone();
            ids.sort_unstable();
            (n - part.len(), ids)
        })
        .unwrap();
    correct.iter().find(|sequence| has_in_order(sequence, &kept)).unwrap().clone()
}

fn check_nearest(n: usize, pairs: &[(usize, usize)], correct: &[Vec<usize>], calls: &[usize]) {
    let repaired = problem(n, pairs).order().unwrap().nearest(&variables(calls));
    assert_eq!(indexes(&repaired), nearest(n, correct, calls), "{pairs:?}: {calls:?}");
}

#[test]
fn all_small_plans() {
    for n in 0..=4 {
        let plans = plans(n);
        let mut seen = Vec::new();
        for pairs in all_relations(n, false) {
            let correct = correct(n, &pairs);
            if correct.is_empty() || seen.contains(&correct) {
                continue;
            }
            for calls in &plans {
                check_nearest(n, &pairs, &correct, calls);
            }
            seen.push(correct);
        }
        // Partial orders of labelled elements.
        assert_eq!(seen.len(), [1, 1, 3, 19, 219][n]);
    }
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn sampled_permutations(
        ((n, pairs), calls) in any_satisfiable(5..=7).prop_flat_map(|(n, pairs)| {
            (Just((n, pairs)), Just((0..n).collect::<Vec<_>>()).prop_shuffle())
        })
    ) {
        check_nearest(n, &pairs, &correct(n, &pairs), &calls);
    }

    #[test]
    fn sampled_calls_with_repeats((n, pairs) in any_satisfiable(1..=6), calls in any_calls()) {
        check_nearest(n, &pairs, &correct(n, &pairs), &calls);
    }

    #[test]
    fn repairs_of_64_are_correct_and_their_own_repair(
        (n, pairs) in any_satisfiable(VARIABLES_MAX..=VARIABLES_MAX),
        calls in Just((0..VARIABLES_MAX).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let order = problem(n, &pairs).order().unwrap();
        let repaired = order.nearest(&variables(&calls));
        prop_assert_eq!(repaired.len(), n);
        prop_assert_eq!(order.first_wrong(&repaired), None);
        prop_assert_eq!(order.nearest(&repaired), repaired);
    }
}

#[test]
fn extra_calls_go_and_missing_ones_come_by_id() {
    let order = problem(4, &[(0, 2)]).order().unwrap();
    let repaired = order.nearest(&variables(&[3, 9, 0, 3, 0, 2]));
    assert_eq!(indexes(&repaired), [1, 3, 0, 2]);
    assert_eq!(order.nearest(&[]), order.first_sequence());
}

#[test]
fn one_call_moves_when_one_is_enough() {
    // 0 was called too late for all others: it moves, they stay.
    let order = problem(5, &[(0, 1), (0, 2), (0, 3), (0, 4)]).order().unwrap();
    assert_eq!(indexes(&order.nearest(&variables(&[4, 3, 2, 1, 0]))), [0, 4, 3, 2, 1]);
}

#[test]
fn a_chain_of_64_called_backwards_keeps_its_smallest_id() {
    let pairs: Vec<_> = (1..VARIABLES_MAX).map(|index| (index - 1, index)).collect();
    let order = problem(VARIABLES_MAX, &pairs).order().unwrap();
    let backwards: Vec<_> = (0..VARIABLES_MAX).rev().map(Variable::new).collect();
    assert!(order.nearest(&backwards).into_iter().eq((0..VARIABLES_MAX).map(Variable::new)));
}
