//! The fewest rounds of an order against a twin that tries every way to put its variables into rounds.

use planproof_constraint::Order;
use proptest::prelude::*;

use crate::twin::{Pairs, all_relations, any_satisfiable, problem};

/// The smallest number of rounds for which some assignment of rounds puts the first of each pair before the second.
fn fewest_rounds(n: usize, pairs: &[(usize, usize)]) -> Option<usize> {
    let is_right = |rounds: &[usize]| pairs.iter().all(|(first, second)| rounds[*first] < rounds[*second]);
    (0..=n).find(|most| {
        let mut all = vec![Vec::new()];
        for _ in 0..n {
            let longer =
                |begun: Vec<usize>| (0..*most).map(move |round| [begun.as_slice(), &[round]].concat());
            all = all.into_iter().flat_map(longer).collect();
        }
        all.iter().any(|rounds| is_right(rounds))
    })
}

fn depth(n: usize, pairs: &Pairs) -> Option<usize> {
    problem(n, pairs).order().ok().map(|order| order.depth())
}

#[test]
fn known_orders_have_known_depths() {
    for (n, pairs, expected) in [
        (0, vec![], 0),
        (1, vec![], 1),
        (5, vec![], 1),
        (3, vec![(0, 1), (1, 2)], 3),
        (4, vec![(0, 1), (2, 3)], 2),
        (4, vec![(3, 0), (0, 2), (1, 2)], 3),
    ] {
        assert_eq!(depth(n, &pairs), Some(expected), "{n} {pairs:?}");
    }
    let chain: Pairs = (1..64).map(|second| (second - 1, second)).collect();
    assert_eq!(depth(64, &chain), Some(64));
    assert_eq!(Order::new(64).map(|order| order.depth()), Some(1));
}

#[test]
fn every_small_order_needs_as_many_rounds_as_its_depth() {
    let mut orders = 0;
    for n in 0..=3 {
        for pairs in all_relations(n, false) {
            assert_eq!(depth(n, &pairs), fewest_rounds(n, &pairs), "{n} {pairs:?}");
            orders += usize::from(depth(n, &pairs).is_some());
        }
    }
    // The relations without a cycle over 0, 1, 2 and 3 variables.
    assert_eq!(orders, 1 + 1 + 3 + 25);
}

proptest! {
    #[test]
    fn an_order_needs_as_many_rounds_as_its_depth((n, pairs) in any_satisfiable(4..=5)) {
        prop_assert_eq!(depth(n, &pairs), fewest_rounds(n, &pairs));
    }
}

/// The twin tells a wrong depth from the right one: the number of variables with a predecessor, plus one, is another
/// figure for some order.
#[test]
fn the_twin_refutes_a_wrong_depth() {
    let wrong = |n: usize, pairs: &Pairs| {
        let order = problem(n, pairs).order().ok()?;
        let later = planproof_constraint::variables_in(order.correct_next(0)).count();
        Some(n - later + 1)
    };
    let refuted = all_relations(3, false).filter(|pairs| wrong(3, pairs) != fewest_rounds(3, pairs)).count();
    assert!(refuted > 0);
}
