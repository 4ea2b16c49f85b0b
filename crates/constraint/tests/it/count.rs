//! Numbers of correct sequences. Those of up to seven variables are compared with all permutations in `order`.

use std::collections::BTreeMap;

use planproof_constraint::{COUNTED_VARIABLES_MAX, Order};
use proptest::prelude::*;

use crate::twin::{Pairs, any_satisfiable, cases, problem};

fn count(n: usize, pairs: &[(usize, usize)]) -> Option<u128> {
    problem(n, pairs).order().unwrap().count_sequences()
}

fn chain(from: usize, to: usize) -> Pairs {
    (from + 1..to).map(|index| (index - 1, index)).collect()
}

fn factorial(n: u128) -> u128 {
    (1..=n).product()
}

/// Up, down, up, ...
fn fence(n: usize) -> Pairs {
    (1..n).map(|index| if index % 2 == 1 { (index - 1, index) } else { (index, index - 1) }).collect()
}

#[test]
fn known_numbers() {
    assert_eq!(count(0, &[]), Some(1));
    assert_eq!(count(20, &[]), Some(2_432_902_008_176_640_000));
    assert_eq!(count(20, &chain(0, 20)), Some(1));
    assert_eq!(count(20, &[chain(0, 10), chain(10, 20)].concat()), Some(184_756));
    // Two rows of ten, each row ascending and each column too: standard Young tableaux, the Catalan number.
    let columns: Pairs = (0..10).map(|index| (index, index + 10)).collect();
    assert_eq!(count(20, &[chain(0, 10), chain(10, 20), columns].concat()), Some(16_796));
    // One below 19 others.
    let star: Pairs = (1..20).map(|index| (0, index)).collect();
    assert_eq!(count(20, &star), Some(factorial(19)));
    // Ten below ten others.
    let bipartite: Pairs = (0..10).flat_map(|low| (10..20).map(move |high| (low, high))).collect();
    assert_eq!(count(20, &bipartite), Some(factorial(10) * factorial(10)));
}

#[test]
fn fences_are_counted_by_the_euler_numbers() {
    let euler = [
        1,
        1,
        1,
        2,
        5,
        16,
        61,
        272,
        1_385,
        7_936,
        50_521,
        353_792,
        2_702_765,
        22_368_256,
        199_360_981,
        1_903_757_312,
        19_391_512_145,
        209_865_342_976,
        2_404_879_675_441,
        29_088_885_112_832,
        370_371_188_237_525,
    ];
    assert_eq!(euler.len(), COUNTED_VARIABLES_MAX + 1);
    for (n, number) in euler.into_iter().enumerate() {
        assert_eq!(count(n, &fence(n)), Some(number), "{n}");
    }
}

#[test]
fn the_order_that_splits_least_is_counted() {
    // 0 is before 2 to 19, and 1 before 19 alone: 18! sequences without 1, which then goes anywhere before 19; at the
    // p-th place of the 19 (never the first), 19 has p places before it.
    let pairs: Pairs = (2..20).map(|index| (0, index)).chain([(1, 19)]).collect();
    assert_eq!(count(20, &pairs), Some(factorial(17) * (2..=19).sum::<u128>()));
}

#[test]
fn above_the_limit_nothing_is_counted() {
    assert_eq!(count(21, &chain(0, 21)), None);
    assert_eq!(Order::new(64).unwrap().count_sequences(), None);
}

/// By the last variable of the sequences of each set, remembering what was counted.
fn count_recursively(set: u64, pairs: &[(usize, usize)], known: &mut BTreeMap<u64, u128>) -> u128 {
    if set == 0 {
        return 1;
    }
    if let Some(count) = known.get(&set) {
        return *count;
    }
    let has = |variable: usize| set >> variable & 1 == 1;
    let last = (0..64).filter(|&last| has(last) && !pairs.iter().any(|pair| pair.0 == last && has(pair.1)));
    let count = last.map(|last| count_recursively(set & !(1 << last), pairs, known)).sum();
    known.insert(set, count);
    count
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn sampled((n, pairs) in any_satisfiable(8..=12)) {
        let expected = count_recursively((1 << n) - 1, &pairs, &mut BTreeMap::new());
        prop_assert_eq!(count(n, &pairs), Some(expected));
    }
}
