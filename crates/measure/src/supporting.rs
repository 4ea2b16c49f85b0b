//! Supporting facts: the sentences that support an answer, compared as in HotpotQA's `hotpot_evaluate_v1.py`.
//!
//! A fact is a page's title and the position of a sentence in the page, from 0. Both sides are sets: duplicates
//! count once. Titles are compared character by character, without normalisation.

use std::collections::HashSet;

use crate::answers::AnswerAgreement;

/// A sentence: its page's title and its position in the page, from 0.
pub type SupportingFact = (String, i64);

/// Compares the facts that were named with those that are needed. Exact if both are the same set. Takes time
/// proportional to their number.
pub fn facts(named: &[SupportingFact], needed: &[SupportingFact]) -> AnswerAgreement {
    let named: HashSet<&SupportingFact> = named.iter().collect();
    let needed: HashSet<&SupportingFact> = needed.iter().collect();
    let shared = named.intersection(&needed).count();
    // As in the script, a side without facts has a share of 0.
    let share = |of: usize| if of > 0 { shared as f64 / of as f64 } else { 0.0 };
    with_f1(named == needed, share(named.len()), share(needed.len()))
}

/// Combines an answer with its facts: exact if both are, with precision and recall multiplied.
pub fn joint(answer: AnswerAgreement, facts: AnswerAgreement) -> AnswerAgreement {
    let is_exact = answer.is_exact && facts.is_exact;
    with_f1(is_exact, answer.precision * facts.precision, answer.recall * facts.recall)
}

fn with_f1(is_exact: bool, precision: f64, recall: f64) -> AnswerAgreement {
    let sum = precision + recall;
    let f1 = if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 };
    AnswerAgreement { is_exact, f1, precision, recall }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn set(facts: &[(&str, i64)]) -> Vec<SupportingFact> {
        facts.iter().map(|(title, place)| ((*title).to_owned(), *place)).collect()
    }

    #[test]
    fn facts_are_compared_as_sets() {
        let needed = set(&[("A", 0), ("B", 1)]);
        let found = facts(&set(&[("B", 1), ("A", 0), ("A", 0)]), &needed);
        assert_eq!((found.is_exact, found.f1), (true, 1.0));
        let found = facts(&set(&[("A", 0), ("A", 1), ("a", 0), ("B", 0)]), &needed);
        assert_eq!((found.is_exact, found.precision, found.recall), (false, 0.25, 0.5));
        assert!((found.f1 - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(facts(&[], &needed), AnswerAgreement::default());
        assert_eq!(facts(&[], &[]), AnswerAgreement { is_exact: true, ..AnswerAgreement::default() });
    }

    #[test]
    fn both_together_are_products() {
        let answer = AnswerAgreement { is_exact: true, f1: 0.8, precision: 1.0, recall: 2.0 / 3.0 };
        let found = joint(answer, facts(&set(&[("A", 0)]), &set(&[("A", 0), ("B", 1)])));
        assert_eq!((found.is_exact, found.precision), (false, 1.0));
        assert!((found.recall - 1.0 / 3.0).abs() < 1e-12 && (found.f1 - 0.5).abs() < 1e-12);
        assert_eq!(joint(AnswerAgreement::default(), facts(&[], &[])), AnswerAgreement::default());
    }

    proptest! {
        #[test]
        fn no_figure_leaves_its_range(named in prop::collection::vec(("[AB]", 0_i64..3), 0..6),
                                      needed in prop::collection::vec(("[AB]", 0_i64..3), 0..6)) {
            let found = facts(&named, &needed);
            for figure in [found.f1, found.precision, found.recall] {
                prop_assert!((0.0..=1.0).contains(&figure));
            }
            // Counted one by one, as in the script.
            let mut distinct = named.clone();
            distinct.sort();
            distinct.dedup();
            let hits = distinct.iter().filter(|fact| needed.contains(fact)).count();
            let all_found = needed.iter().all(|fact| named.contains(fact));
            prop_assert_eq!(found.is_exact, hits == distinct.len() && all_found);
            prop_assert_eq!(found.precision > 0.0, hits > 0);
        }
    }
}
