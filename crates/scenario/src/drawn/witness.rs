//! The search for a right session: a shortest one in which calls that are due are made and all rules hold.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::Arc;

use planproof_spec::rules::search::SampleCall;
use planproof_spec::rules::{RuleSet, RuleVerdict, Session};

use crate::limits::DRAWN_SEARCH_MAX;

/// What a search came to.
#[derive(Debug, PartialEq)]
pub(super) enum Witness {
    /// The numbers of the calls, in their order.
    Session(Vec<usize>),
    /// There is none among these calls.
    None,
    /// There were too many sessions.
    TooMany,
}

/// The shortest session of these calls in which those that are `due` are made, and all rules hold in the end.
pub(super) fn witness(rules: &Arc<RuleSet>, calls: &[SampleCall], due: &BTreeSet<usize>) -> Witness {
    let due_bits: u32 = due.iter().fold(0, |bits, call| bits | 1 << call);
    let is_right = |session: &Session, made: u32| {
        made & due_bits == due_bits
            && (0..rules.rules().len()).all(|rule| session.verdict(rule).is_held_at_end())
    };
    let start = Session::new(rules);
    if is_right(&start, 0) {
        return Witness::Session(Vec::new());
    }
    let mut seen: HashSet<(u32, String)> = HashSet::new();
    // The last call of each session that was reached, and the number of the session before it.
    let mut steps: Vec<(usize, Option<usize>)> = Vec::new();
    let mut open = VecDeque::from([(start, 0_u32, None)]);
    while let Some((session, made, reached)) = open.pop_front() {
        for (number, call) in calls.iter().enumerate() {
            let mut next = session.clone();
            if !call.observe(&mut next) {
                return Witness::TooMany;
            }
            if (0..rules.rules().len()).any(|rule| next.verdict(rule) == RuleVerdict::Violated) {
                continue;
            }
            let made = made | 1 << number;
            if is_right(&next, made) {
                let mut way = vec![number];
                let mut at = reached;
                while let Some((number, before)) = at.and_then(|at: usize| steps.get(at)) {
                    way.push(*number);
                    at = *before;
                }
                way.reverse();
                return Witness::Session(way);
            }
            if seen.insert((made & due_bits, next.memory())) {
                if seen.len() >= DRAWN_SEARCH_MAX {
                    return Witness::TooMany;
                }
                steps.push((number, reached));
                open.push_back((next, made, Some(steps.len() - 1)));
            }
        }
    }
    Witness::None
}
