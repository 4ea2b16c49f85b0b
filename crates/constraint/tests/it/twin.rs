//! The slow, obviously right twin: all permutations, filtered by the positions of the pairs. It uses nothing of the
//! crate but its types.

use planproof_constraint::{Constraint, Problem, Relation, Variable};
use proptest::prelude::*;

/// A list of pairs (first, second) over `n` variables.
pub(crate) type Pairs = Vec<(usize, usize)>;

pub(crate) fn variables(indexes: &[usize]) -> Vec<Variable> {
    indexes.iter().copied().map(Variable::new).collect()
}

pub(crate) fn indexes(variables: &[Variable]) -> Vec<usize> {
    variables.iter().map(|variable| variable.index()).collect()
}

/// A problem whose constraints have their own index as source.
pub(crate) fn problem(n: usize, pairs: &[(usize, usize)]) -> Problem<usize> {
    let constraint = |(source, &(first, second))| Constraint {
        relation: Relation::Before { first: Variable::new(first), second: Variable::new(second) },
        source,
    };
    Problem::new(n, pairs.iter().enumerate().map(constraint).collect()).unwrap()
}

/// All permutations of `0..n`, in lexicographic order.
pub(crate) fn permutations(n: usize) -> Vec<Vec<usize>> {
    fn extend(n: usize, prefix: &mut Vec<usize>, all: &mut Vec<Vec<usize>>) {
        if prefix.len() == n {
            all.push(prefix.clone());
        }
        for next in 0..n {
            if !prefix.contains(&next) {
                prefix.push(next);
                extend(n, prefix, all);
                prefix.pop();
            }
        }
    }
    let mut all = Vec::new();
    extend(n, &mut Vec::new(), &mut all);
    all
}

/// Whether a permutation keeps a pair.
pub(crate) fn keeps(permutation: &[usize], (first, second): (usize, usize)) -> bool {
    let at = |variable| permutation.iter().position(|other| *other == variable).unwrap();
    at(first) < at(second)
}

/// All correct sequences, in lexicographic order.
pub(crate) fn correct(n: usize, pairs: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut all = permutations(n);
    all.retain(|permutation| pairs.iter().all(|pair| keeps(permutation, *pair)));
    all
}

/// The first call of each variable below `n`.
pub(crate) fn first_calls(n: usize, calls: &[usize]) -> Vec<usize> {
    let mut firsts = Vec::new();
    for call in calls {
        if *call < n && !firsts.contains(call) {
            firsts.push(*call);
        }
    }
    firsts
}

/// All sequences of different variables below `n`, of any length.
pub(crate) fn plans(n: usize) -> Vec<Vec<usize>> {
    let mut all: Vec<_> = permutations(n)
        .into_iter()
        .flat_map(|permutation| (0..=n).map(move |len| permutation[..len].to_vec()))
        .collect();
    all.sort();
    all.dedup();
    all
}

/// Every set of pairs over `n` variables, with pairs of a variable with itself or without.
pub(crate) fn all_relations(n: usize, with_loops: bool) -> impl Iterator<Item = Pairs> {
    let pairs: Pairs =
        (0..n).flat_map(|a| (0..n).map(move |b| (a, b))).filter(|(a, b)| with_loops || a != b).collect();
    (0_u32..1 << pairs.len())
        .map(move |set| (0..pairs.len()).filter(|bit| set >> bit & 1 == 1).map(|bit| pairs[bit]).collect())
}

/// Any pairs, mostly few, over up to `most` variables.
pub(crate) fn any_relation(most: usize) -> impl Strategy<Value = (usize, Pairs)> {
    (1..=most).prop_flat_map(|n| (Just(n), prop::collection::vec((0..n, 0..n), 0..=2 * n)))
}

/// Pairs without a cycle over `sizes` variables: a subset of the pairs of a hidden permutation.
pub(crate) fn any_satisfiable(
    sizes: std::ops::RangeInclusive<usize>,
) -> impl Strategy<Value = (usize, Pairs)> {
    sizes.prop_flat_map(|n| {
        let hidden = Just((0..n).collect::<Vec<_>>()).prop_shuffle();
        let pairs = prop::collection::vec((0..n, 0..n), 0..=2 * n);
        (hidden, pairs).prop_map(move |(hidden, mut pairs)| {
            pairs.retain(|(a, b)| a < b);
            (n, pairs.into_iter().map(|(a, b)| (hidden[a], hidden[b])).collect())
        })
    })
}

/// Calls with repeats, and some of variables that are not in the problem.
pub(crate) fn any_calls() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..9_usize, 0..12)
}

pub(crate) fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}
