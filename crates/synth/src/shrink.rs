//! Shrinking: from a case that an agent fails to a smallest one that it still fails.
//!
//! Delta debugging over the tree of the paragraph (`ddmin` of Zeller and Hildebrandt, 2002, without its tests of
//! subsets, which the removal of complements covers in the end): first fewer actions, then fewer requirements, then
//! fewer mentions of an action, then simpler sentences, then simpler words. Each step removes large parts first and
//! single ones last, and everything is repeated until nothing more can be removed: the result is *one-minimal*, which
//! means that no single step from it still fails.
//!
//! Removing a part removes nothing else: if a clause disappears, a relative clause that was attached to it becomes a
//! sentence of its own. So after a removal of actions the text states exactly the old requirements among the
//! remaining actions. For a fault that needs certain requirements, and always occurs with them, the result has
//! exactly the actions of these requirements.
//!
//! Each candidate is a proper case: it has one reading, and the oracle's constraints are those of its text.

mod reduce;
mod search;

use thiserror::Error;

use crate::case::{Difficulty, PlanningCase, StatedConstraint};
use crate::grammar::Sentences;
use crate::read::{Directions, verify};
use crate::recover::recover;
use crate::synthesis::{merge_pairs, merge_times};
use crate::text::{Written, write_paragraph};
use crate::time_form::TimeForm;
use crate::wording::Wordings;

pub use search::ShrinkSearch;

/// The kind of piece that a step removes. In the order of the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reduction {
    /// Actions, with their tools and all statements about them.
    Actions,
    /// Requirements: clauses and relative clauses.
    Clauses,
    /// Mentions of an action in a list with others.
    Mentions,
    /// Conjunctions between clauses, fronted phrases, and every other form but "A precedes B".
    Forms,
    /// Wordings that have a shorter alternative.
    Words,
}

impl Reduction {
    /// All of them, in the order of the steps.
    pub const ALL: [Self; 5] = [Self::Actions, Self::Clauses, Self::Mentions, Self::Forms, Self::Words];

    /// The word used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Actions => "actions",
            Self::Clauses => "clauses",
            Self::Mentions => "mentions",
            Self::Forms => "forms",
            Self::Words => "words",
        }
    }
}

/// A shrunk case.
#[derive(Debug, Clone, PartialEq)]
pub struct Shrunk {
    /// The smallest case that was found; its id is that of the original with `.shrunk` appended. The original itself
    /// if it did not fail again.
    pub case: PlanningCase,
    pub end: ShrinkEnd,
    /// Distinct cases that were tested, including the first one.
    pub tested: usize,
    /// The steps that removed something, in order, each with the number of its pieces.
    pub steps: Vec<(Reduction, usize)>,
}

/// How shrinking ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ShrinkEnd {
    /// No single piece can be removed any more.
    Minimal,
    /// The test had no result, so the case may not be the smallest.
    Unfinished,
    /// The case itself did not fail when it was tested.
    NotFailing,
}

impl ShrinkEnd {
    /// The word used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Unfinished => "unfinished",
            Self::NotFailing => "not_failing",
        }
    }
}

/// Why a case cannot be shrunk.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoShrinking {
    /// The paragraph does not consist of the generator's wordings, so its pieces are unknown.
    #[error("the paragraph is not one that the generator writes with its wordings")]
    ForeignParagraph,
    /// The paragraph does not occur exactly once in the query.
    #[error("the query does not hold the paragraph once")]
    ForeignQuery,
    /// The case contradicts itself: most parts of it would not, and would fail in another way.
    #[error("the case is infeasible, and only feasible ones are shrunk")]
    Infeasible,
    /// The text arrives in several messages, which say more than the paragraph.
    #[error("the text arrives in several messages, and only texts of one are shrunk")]
    Turns,
}

/// Shrinks cases.
#[derive(Debug, Clone, Copy)]
pub struct Shrinker<'a> {
    words: &'a Wordings,
    directions: &'a Directions,
}

impl<'a> Shrinker<'a> {
    /// With the wordings that the cases were written with, and their meanings for a reader.
    pub fn new(words: &'a Wordings, directions: &'a Directions) -> Self {
        Self { words, directions }
    }

    /// Shrinks a case as long as it `fails`. The case itself is tested first; no case is tested twice. A test without
    /// a result (`None`) ends the search with the smallest case so far. The same answers give the same result.
    ///
    /// Cost: at most about the square of the number of pieces in tests, usually some dozens; a tenth of a millisecond
    /// for each in addition to the test itself.
    ///
    /// # Errors
    /// [`NoShrinking`] says why its pieces are unknown.
    pub fn shrink(
        &self,
        case: &PlanningCase,
        fails: &mut impl FnMut(&PlanningCase) -> Option<bool>,
    ) -> Result<Shrunk, NoShrinking> {
        let mut search = self.search(case)?;
        while let Some(candidate) = search.candidate() {
            match fails(candidate) {
                Some(answer) => search.answer(answer),
                None => break,
            }
        }
        Ok(search.shrunk())
    }

    /// The same, one test at a time.
    ///
    /// # Errors
    /// [`NoShrinking`] says why its pieces are unknown.
    pub fn search(&self, case: &PlanningCase) -> Result<ShrinkSearch<'a>, NoShrinking> {
        if !case.is_feasible() {
            return Err(NoShrinking::Infeasible);
        }
        if case.turns.is_some() {
            return Err(NoShrinking::Turns);
        }
        let tree = recover(case, self.words).ok_or(NoShrinking::ForeignParagraph)?;
        // The query of a smaller case is made by replacing the paragraph, which needs exactly one place.
        if case.query.matches(&case.paragraph).count() != 1 {
            return Err(NoShrinking::ForeignQuery);
        }
        Ok(ShrinkSearch::new(*self, case.clone(), tree))
    }

    /// The case of a smaller tree. `None` if it is not a proper case.
    fn build(&self, case: &PlanningCase, tree: &Sentences) -> Option<PlanningCase> {
        let kept = reduce::mentioned(tree);
        // Fewer than two actions leave nothing to order.
        if kept.len() < 2 {
            return None;
        }
        let tree = reduce::renumbered(tree, &kept);
        let actions: Vec<_> = kept.iter().map(|place| case.actions[usize::from(*place)].clone()).collect();
        let texts: Vec<String> = actions.iter().map(|action| action.text.clone()).collect();
        let Written { text: paragraph, pairs, times } = write_paragraph(&tree, self.words, &texts);
        let mut constraints = merge_pairs(actions.len(), &pairs);
        let stated_pairs = constraints.len();
        // A rule goes only if one of its tasks is gone: it is not a piece that the paragraph states.
        constraints.extend(case.rules().filter_map(|rule| {
            let place = |old: usize| kept.iter().position(|kept| usize::from(*kept) == old);
            let (first, second) = (place(rule.first)?, place(rule.second)?);
            Some(StatedConstraint { first, second, ..rule.clone() })
        }));
        let time = case.time.as_ref().map(|time| TimeForm {
            durations: kept.iter().map(|place| time.durations[usize::from(*place)]).collect(),
            bounds: merge_times(stated_pairs, &times),
            ..time.clone()
        });
        let is_kept = |tool: &str| {
            case.action_of_tool(tool).is_none_or(|place| kept.iter().any(|kept| usize::from(*kept) == place))
        };
        let tools = case.tools.iter().filter(|tool| is_kept(&tool.name)).cloned().collect();
        let mut options = case.options;
        options.actions = actions.len() as u32;
        let stated = constraints.len() + time.as_ref().map_or(0, |time| time.bounds.len());
        let mut smaller = PlanningCase {
            id: format!("{}.smaller", case.id),
            seed: case.seed,
            options,
            topic: case.topic.clone(),
            query: String::new(),
            paragraph,
            // The number of correct plans follows below, once the text is known to be proper.
            difficulty: Difficulty::new(actions.len(), stated, None),
            actions,
            tools,
            constraints,
            time,
            conflict: None,
            rewritten: None,
            faults: case.faults.clone(),
            turns: None,
        };
        smaller.query = query_of(case, &smaller);
        // A removal can join what was apart and give the text a second reading; such a candidate would prove nothing.
        verify(&smaller, self.directions).ok()?;
        let order = smaller.problem().order().ok()?;
        let correct = match smaller.timed_problem() {
            None => order.count_sequences(),
            Some(problem) if problem.conflict().ok()?.is_none() => problem.timetable().count_sequences(),
            Some(_) => return None,
        };
        smaller.difficulty = Difficulty::new(smaller.actions.len(), stated, correct);
        Some(smaller)
    }
}

/// The query of a smaller case: the original query with the smaller paragraph, and with the remaining rules.
fn query_of(case: &PlanningCase, smaller: &PlanningCase) -> String {
    let query = case.query.replacen(&case.paragraph, &smaller.paragraph, 1);
    match (case.rules_text(), smaller.rules_text()) {
        (None, _) => query,
        (Some(old), Some(new)) => query.replacen(&old, &new, 1),
        // The block goes together with the blank line behind it.
        (Some(old), None) => query.replacen(&[old.as_str(), "\n\n"].concat(), "", 1),
    }
}
