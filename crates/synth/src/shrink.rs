//! Shrinking: from a case that an agent fails to a smallest one that it still fails.
//!
//! Delta debugging over the tree of the paragraph (`ddmin` of Zeller and Hildebrandt, 2002, without its tests
//! of subsets, which the removal of complements covers in the end): first fewer actions, then fewer
//! requirements, then fewer mentions of an action, then plainer sentences, then plainer words. Each step
//! takes away large parts first and single ones last, and the whole is repeated until nothing more can go:
//! the end is *one-minimal*, no single step from it fails still.
//!
//! What is taken away takes nothing else with it: where a clause falls apart, a relative clause that hung on
//! it becomes a sentence of its own. So after a removal of actions the text states exactly the old
//! requirements among those that are left, and for a fault that needs certain requirements, and strikes
//! whenever they are there, the end has exactly the actions that these are about.
//!
//! Each candidate is a proper case: it is read back in one reading, and the oracle's constraints are those of its text.

mod reduce;
mod search;

use thiserror::Error;

use crate::case::{Case, Difficulty, StatedConstraint};
use crate::grammar::Sentences;
use crate::read::{Directions, verify};
use crate::recover::recover;
use crate::synthesis::{merge_pairs, merge_times};
use crate::text::{Written, write_paragraph};
use crate::time_form::TimeForm;
use crate::wording::Wordings;

pub use search::ShrinkSearch;

/// What a step takes away. In the order of the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reduction {
    /// Actions, with their tools and all that is said of them.
    Actions,
    /// Requirements: clauses and relative clauses.
    Clauses,
    /// Mentions of an action that stands in a list with others.
    Mentions,
    /// Conjunctions between clauses, fronted phrases, and every other form but "A precedes B".
    Forms,
    /// Wordings for which there is a shorter one.
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
    /// The smallest case that was found; its id is that of the other one with `.shrunk` behind it. The case
    /// itself where it did not fail again.
    pub case: Case,
    /// How it ended.
    pub end: ShrinkEnd,
    /// Distinct cases that were tested, the first one included.
    pub tested: usize,
    /// The steps that took something away, in their order, each with the number of its pieces.
    pub steps: Vec<(Reduction, usize)>,
}

/// How shrinking ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ShrinkEnd {
    /// No single piece can be taken away any more.
    Minimal,
    /// The test could not say any more, so the case may not be the smallest.
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
    /// The paragraph is not made of the generator's wordings, so that its pieces are not known.
    #[error("the paragraph is not one that the generator writes with its wordings")]
    ForeignParagraph,
    /// The paragraph does not stand in the query just once.
    #[error("the query does not hold the paragraph once")]
    ForeignQuery,
    /// The case contradicts itself: what is left of it would mostly do so no more, and be failed in another way.
    #[error("the case is infeasible, and only feasible ones are shrunk")]
    Infeasible,
}

/// Shrinks cases.
#[derive(Debug, Clone, Copy)]
pub struct Shrinker<'a> {
    words: &'a Wordings,
    directions: &'a Directions,
}

impl<'a> Shrinker<'a> {
    /// With the wordings that the cases were written with, and what they mean to a reader.
    pub fn new(words: &'a Wordings, directions: &'a Directions) -> Self {
        Self { words, directions }
    }

    /// Shrinks a case as long as it `fails`. The first that is tested is the case itself; none is tested
    /// twice. A test that cannot say (`None`) ends it with what was found by then. The same answers give the
    /// same end.
    ///
    /// Cost: about the square of the number of pieces in tests at most, most often some dozens; a tenth of a
    /// millisecond for each beside the test itself.
    ///
    /// # Errors
    /// [`NoShrinking`] says why its pieces are not known.
    pub fn shrink(
        &self,
        case: &Case,
        fails: &mut impl FnMut(&Case) -> Option<bool>,
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

    /// The same, a test at a time.
    ///
    /// # Errors
    /// [`NoShrinking`] says why its pieces are not known.
    pub fn search(&self, case: &Case) -> Result<ShrinkSearch<'a>, NoShrinking> {
        if !case.is_feasible() {
            return Err(NoShrinking::Infeasible);
        }
        let tree = recover(case, self.words).ok_or(NoShrinking::ForeignParagraph)?;
        if case.query.matches(&case.paragraph).count() != 1 {
            return Err(NoShrinking::ForeignQuery);
        }
        Ok(ShrinkSearch::new(*self, case.clone(), tree))
    }

    /// The case of a smaller tree. `None` where it is no proper case.
    fn build(&self, case: &Case, tree: &Sentences) -> Option<Case> {
        let kept = reduce::mentioned(tree);
        if kept.len() < 2 {
            return None;
        }
        let tree = reduce::renumbered(tree, &kept);
        let actions: Vec<_> = kept.iter().map(|place| case.actions[usize::from(*place)].clone()).collect();
        let texts: Vec<String> = actions.iter().map(|action| action.text.clone()).collect();
        let Written { text: paragraph, pairs, times } = write_paragraph(&tree, self.words, &texts);
        let mut constraints = merge_pairs(actions.len(), &pairs);
        let stated_pairs = constraints.len();
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
        let mut smaller = Case {
            id: format!("{}.smaller", case.id),
            seed: case.seed,
            options,
            topic: case.topic.clone(),
            query: String::new(),
            paragraph,
            difficulty: Difficulty::new(actions.len(), stated, None),
            actions,
            tools,
            constraints,
            time,
            conflict: None,
        };
        smaller.query = query_of(case, &smaller);
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

/// The query of a smaller case: that of the whole one with the smaller paragraph, and with the rules that are left.
fn query_of(case: &Case, smaller: &Case) -> String {
    let query = case.query.replacen(&case.paragraph, &smaller.paragraph, 1);
    match (case.rules_text(), smaller.rules_text()) {
        (None, _) => query,
        (Some(old), Some(new)) => query.replacen(&old, &new, 1),
        (Some(old), None) => query.replacen(&[old.as_str(), "\n\n"].concat(), "", 1),
    }
}
