//! Conflicts, wrong calls, and errors.

use planproof_constraint::{Constraint, Problem, ProblemError, Relation, VARIABLES_MAX, Variable};
use proptest::prelude::*;

use crate::twin::{
    Pairs, all_relations, any_calls, any_relation, cases, correct, first_calls, keeps, permutations, plans,
    problem, variables,
};

/// The pairs with these indexes.
fn chosen(pairs: &[(usize, usize)], indexes: impl IntoIterator<Item = usize>) -> Pairs {
    indexes.into_iter().map(|index| pairs[index]).collect()
}

/// A conflict is one, is none without any of its members, and is walked from its smallest variable.
fn check_conflict(n: usize, pairs: &[(usize, usize)]) -> Option<Vec<usize>> {
    let conflict = problem(n, pairs).order().err()?.constraints;
    assert_eq!(correct(n, &chosen(pairs, conflict.clone())), [[0; 0]; 0], "{pairs:?}: {conflict:?}");
    for left_out in &conflict {
        let rest = conflict.iter().copied().filter(|index| index != left_out);
        assert_ne!(correct(n, &chosen(pairs, rest)), [[0; 0]; 0], "{pairs:?}: {conflict:?} less {left_out}");
    }
    let walk = chosen(pairs, conflict.clone());
    let starts: Vec<_> = walk.iter().map(|pair| pair.0).collect();
    let mut ends: Vec<_> = walk.iter().map(|pair| pair.1).collect();
    ends.rotate_right(1);
    assert_eq!(starts, ends);
    assert_eq!(starts.iter().min(), starts.first());
    Some(conflict)
}

#[test]
fn all_small_conflicts() {
    for n in 0..=4 {
        let mut conflicts = 0;
        for pairs in all_relations(n, n < 4) {
            conflicts += usize::from(check_conflict(n, &pairs).is_some());
        }
        // The rest are the acyclic graphs of labelled vertices: 1, 1, 3, 25, 543.
        assert_eq!(conflicts, [0, 1, 13, 512 - 25, 4096 - 543][n]);
    }
}

#[test]
fn no_smaller_conflict_exists() {
    for pairs in all_relations(3, true) {
        let Some(conflict) = check_conflict(3, &pairs) else { continue };
        for set in 0_u32..1 << pairs.len() {
            if (set.count_ones() as usize) < conflict.len() {
                let subset = chosen(&pairs, (0..pairs.len()).filter(|bit| set >> bit & 1 == 1));
                assert!(
                    !correct(3, &subset).is_empty(),
                    "{pairs:?}: {subset:?} is smaller than {conflict:?}"
                );
            }
        }
    }
}

#[test]
fn the_conflict_is_the_shortest_cycle_wherever_it_is() {
    // A ring of 64 with one chord back over two steps.
    let mut pairs: Pairs = (0..VARIABLES_MAX).map(|index| (index, (index + 1) % VARIABLES_MAX)).collect();
    let ring = problem(VARIABLES_MAX, &pairs).solve().unwrap_err();
    assert_eq!(ring.constraints, (0..VARIABLES_MAX).collect::<Vec<_>>());
    pairs.push((42, 40));
    assert_eq!(problem(VARIABLES_MAX, &pairs).solve().unwrap_err().constraints, [40, 41, 64]);
    // The same pair stated again: the first statement is the one to show.
    pairs.push((42, 40));
    assert_eq!(problem(VARIABLES_MAX, &pairs).solve().unwrap_err().constraints, [40, 41, 64]);
    pairs.push((7, 7));
    assert_eq!(problem(VARIABLES_MAX, &pairs).solve().unwrap_err().constraints, [66]);
}

/// Where calls went wrong and why, against all permutations that begin like the calls.
fn check_wrong_call(n: usize, pairs: &[(usize, usize)], calls: &[usize]) {
    let correct = correct(n, pairs);
    if correct.is_empty() {
        return;
    }
    let begins =
        |permutation: &&Vec<usize>, index: usize| permutation.starts_with(&first_calls(n, &calls[..=index]));
    let wrong =
        (0..calls.len()).find(|&index| !correct.iter().any(|permutation| begins(&permutation, index)));
    let problem = problem(n, pairs);
    let order = problem.order().unwrap();
    assert_eq!(order.first_wrong(&variables(calls)), wrong, "{pairs:?}: {calls:?}");
    let blocking = problem.blocking(&variables(calls));
    assert_eq!(blocking.as_ref().map(|blocking| blocking.0), wrong, "{pairs:?}: {calls:?}");
    let Some((index, core)) = blocking else { return };
    // A single constraint that no continuation keeps, and the first such one. The empty set forbids nothing, so a
    // single one is minimal.
    let all = permutations(n);
    let continuations: Vec<_> = all.iter().filter(|permutation| begins(permutation, index)).collect();
    let first = pairs
        .iter()
        .position(|pair| !continuations.iter().any(|permutation| keeps(permutation, *pair)))
        .unwrap();
    assert_eq!(core, [first], "{pairs:?}: {calls:?}");
}

#[test]
fn all_small_wrong_calls() {
    for n in 0..=3 {
        for pairs in all_relations(n, false) {
            for calls in plans(n) {
                check_wrong_call(n, &pairs, &calls);
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn sampled_conflicts((n, pairs) in any_relation(6)) {
        check_conflict(n, &pairs);
    }

    #[test]
    fn sampled_wrong_calls((n, mut pairs) in any_relation(6), calls in any_calls()) {
        pairs.truncate(n);
        check_wrong_call(n, &pairs, &calls);
    }
}

#[test]
fn in_a_conflict_the_first_violation_blocks() {
    let problem = problem(3, &[(0, 1), (1, 0), (2, 2)]);
    assert_eq!(problem.blocking(&variables(&[0, 1])), Some((0, vec![1])));
    assert_eq!(problem.blocking(&variables(&[2])), Some((0, vec![2])));
    assert_eq!(problem.blocking(&[]), None);
}

#[test]
fn sources_stay_with_their_constraints() {
    let problem = problem(3, &[(0, 1), (2, 1)]);
    assert_eq!(problem.variables(), 3);
    assert!(problem.constraints().iter().map(|constraint| constraint.source).eq(0..2));
}

#[test]
fn errors_say_what_and_where() {
    let before = |first, second| Constraint {
        relation: Relation::Before { first: Variable::new(first), second: Variable::new(second) },
        source: (),
    };
    let error = Problem::<()>::new(65, vec![]).unwrap_err();
    assert_eq!(error, ProblemError::TooManyVariables { given: 65, limit: 64 });
    assert_eq!(error.to_string(), "65 variables are too many: at most 64 are supported; split the plan");
    let error = Problem::new(2, vec![before(0, 1), before(1, 2)]).unwrap_err();
    assert_eq!(error.to_string(), "constraint 1 names variable 2, but the 2 variables are counted from 0");
    let error = Problem::new(64, vec![before(64, 0)]).unwrap_err();
    assert_eq!(error, ProblemError::VariableOutOfRange { constraint: 0, variable: 64, variables: 64 });
    let error = Problem::new(2, vec![before(0, 1), before(1, 0)]).unwrap().solve().unwrap_err();
    assert_eq!(error.to_string(), "the constraints [0, 1] cannot hold together; drop one of them");
    let mut order = problem(2, &[(0, 1)]).order().unwrap();
    let error = order.try_before(Variable::new(1), Variable::new(0)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "variable 1 cannot come before variable 0: the order already has it the other way round"
    );
}
