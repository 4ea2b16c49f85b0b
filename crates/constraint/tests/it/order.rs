//! Closure, solving and continuing.

use planproof_constraint::{Cycle, Order, VARIABLES_MAX, Variable, variables_in};
use proptest::prelude::*;

use crate::twin::{
    Pairs, all_relations, any_relation, any_satisfiable, cases, correct, indexes, problem, variables,
};

/// The closure as a matrix, by Floyd and Warshall.
fn closure(n: usize, pairs: &[(usize, usize)]) -> Vec<Vec<bool>> {
    let mut before = vec![vec![false; n]; n];
    for &(first, second) in pairs {
        before[first][second] = true;
    }
    for via in 0..n {
        for first in 0..n {
            for second in 0..n {
                before[first][second] |= before[first][via] && before[via][second];
            }
        }
    }
    before
}

fn assert_is_closure(order: &Order, before: &[Vec<bool>]) {
    let n = before.len();
    assert_eq!(order.len(), n);
    for (first, row) in before.iter().enumerate() {
        for (second, is_before) in row.iter().enumerate() {
            assert_eq!(order.is_before(Variable::new(first), Variable::new(second)), *is_before);
        }
        let after = (0..n).filter(|second| row[*second]);
        assert!(variables_in(order.successors(Variable::new(first))).map(Variable::index).eq(after));
        let earlier = (0..n).filter(|second| before[*second][first]);
        assert!(variables_in(order.predecessors(Variable::new(first))).map(Variable::index).eq(earlier));
    }
}

/// Adds pair by pair, and compares with the matrix after each one, accepted or not.
fn check_incremental(n: usize, pairs: &[(usize, usize)]) {
    let mut order = Order::new(n).unwrap();
    let mut accepted = Pairs::new();
    for &(first, second) in pairs {
        let before = closure(n, &accepted);
        let unchanged = order.clone();
        let [a, b] = [first, second].map(Variable::new);
        let result = order.try_before(a, b);
        if first == second || before[second][first] {
            assert_eq!(result, Err(Cycle { first: a, second: b }));
            assert_eq!(order, unchanged);
        } else {
            assert_eq!(result, Ok(!before[first][second]));
            accepted.push((first, second));
        }
        assert_is_closure(&order, &closure(n, &accepted));
    }
}

/// Solving and continuing, against all permutations.
fn check_solutions(n: usize, pairs: &[(usize, usize)]) {
    let correct = correct(n, pairs);
    let problem = problem(n, pairs);
    let solution = problem.solve().ok();
    assert_eq!(solution.as_deref().map(indexes).as_ref(), correct.first(), "{pairs:?}");
    let Ok(order) = problem.order() else { return };
    assert_eq!(solution, Some(order.first_sequence()));
    assert_eq!(order.count_sequences(), Some(correct.len() as u128), "{pairs:?}");
    let mut next_of = vec![None; 1 << n];
    for sequence in &correct {
        let mut done = 0_usize;
        for next in sequence {
            *next_of[done].get_or_insert(0_u64) |= 1 << next;
            done |= 1 << next;
        }
        next_of[done] = Some(0);
    }
    for (done, next) in next_of.iter().enumerate() {
        if let Some(next) = next {
            assert_eq!(order.correct_next(done as u64), *next, "{pairs:?} after {done:b}");
        }
    }
}

#[test]
fn all_small_relations() {
    for n in 0..=4 {
        for pairs in all_relations(n, n < 4) {
            check_incremental(n, &pairs);
            check_solutions(n, &pairs);
        }
    }
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn sampled_closures((n, pairs) in any_relation(12)) {
        check_incremental(n, &pairs);
    }

    #[test]
    fn sampled_solutions((n, pairs) in any_relation(7)) {
        check_solutions(n, &pairs);
    }

    #[test]
    fn sampled_satisfiable_solutions((n, pairs) in any_satisfiable(5..=7)) {
        check_solutions(n, &pairs);
    }

    #[test]
    fn orders_as_wide_as_a_word((n, pairs) in any_satisfiable(50..=VARIABLES_MAX)) {
        let problem = problem(n, &pairs);
        let order = problem.order().unwrap();
        assert_is_closure(&order, &closure(n, &pairs));
        let solution = indexes(&order.first_sequence());
        let mut sorted = solution.clone();
        sorted.sort_unstable();
        prop_assert_eq!(sorted, (0..n).collect::<Vec<_>>());
        let position = |variable| solution.iter().position(|other| *other == variable);
        prop_assert!(pairs.iter().all(|(first, second)| position(*first) < position(*second)));
    }
}

#[test]
fn a_chain_of_64_backwards() {
    let pairs: Pairs = (1..VARIABLES_MAX).map(|index| (index, index - 1)).collect();
    let order = problem(VARIABLES_MAX, &pairs).order().unwrap();
    let descending: Vec<_> = (0..VARIABLES_MAX).rev().collect();
    assert_eq!(indexes(&order.first_sequence()), descending);
    assert_eq!(order.predecessors(Variable::new(0)), u64::MAX - 1);
    assert_eq!(order.correct_next(0), 1 << 63);
    assert_eq!(order.correct_next(u64::MAX), 0);
    assert_eq!(order.first_wrong(&variables(&descending)), None);
    assert_eq!(order.nearest(&variables(&descending)), variables(&descending));
}

#[test]
fn a_wrong_done_set_frees_only_what_has_everything_before_it() {
    let order = problem(4, &[(0, 1), (1, 2)]).order().unwrap();
    assert_eq!(order.correct_next(0b0010), 0b1001);
    assert_eq!(order.correct_next(0b0100), 0b1001);
}

#[test]
fn orders_are_equal_when_their_closures_are() {
    let stated_long = problem(3, &[(0, 1), (1, 2), (0, 2)]).order().unwrap();
    assert_eq!(problem(3, &[(1, 2), (0, 1)]).order().unwrap(), stated_long);
    assert_ne!(problem(3, &[(0, 1), (0, 2)]).order().unwrap(), stated_long);
    assert_ne!(Order::new(2), Order::new(3));
}

#[test]
fn sizes_from_none_to_too_many() {
    let nothing = Order::new(0).unwrap();
    assert!(nothing.is_empty());
    assert_eq!(nothing.first_sequence(), []);
    assert_eq!(nothing.correct_next(0), 0);
    assert_eq!(Order::new(VARIABLES_MAX + 1), None);
    assert_eq!(Order::new(VARIABLES_MAX).unwrap().correct_next(0), u64::MAX);
}

#[test]
fn variables_out_of_range_are_unrelated_to_all_others() {
    let order = problem(2, &[(0, 1)]).order().unwrap();
    for outside in [2, 63, 64, 255, 256, usize::MAX].map(Variable::new) {
        assert!(!order.is_before(outside, Variable::new(1)) && !order.is_before(Variable::new(0), outside));
        assert_eq!(order.predecessors(outside) | order.successors(outside), 0);
        assert_eq!(order.first_wrong(&[outside, Variable::new(0)]), None);
        assert_eq!(order.nearest(&[outside, Variable::new(1)]), variables(&[0, 1]));
    }
    assert_eq!(Variable::new(63).bit(), 1 << 63);
    assert_eq!(Variable::new(64).bit(), 0);
}

#[test]
#[should_panic(expected = "is not below 2")]
fn a_pair_out_of_range_is_a_bug_of_the_caller() {
    let _ = Order::new(2).unwrap().try_before(Variable::new(0), Variable::new(2));
}

#[test]
fn a_copy_over_another_order_is_the_same_as_a_clone() {
    let chain =
        |n: usize| problem(n, &(1..n).map(|index| (index - 1, index)).collect::<Pairs>()).order().unwrap();
    for (from, over) in [(3, 3), (3, 9), (9, 3), (0, VARIABLES_MAX), (VARIABLES_MAX, 0)] {
        let mut copy = chain(over);
        copy.clone_from(&chain(from));
        assert_eq!(copy, chain(from), "{from} over {over}");
    }
}
