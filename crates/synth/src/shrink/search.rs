//! The search for a smallest case, one test at a time.

use std::collections::{BTreeSet, HashMap};

use super::{Reduction, ShrinkEnd, Shrinker, Shrunk, reduce};
use crate::case::PlanningCase;
use crate::grammar::Sentences;

/// A case being shrunk: requests the test of one [`candidate`](Self::candidate) after another, and is given the
/// result. The caller can take any time for a test, or keep a copy and try both answers.
#[derive(Debug, Clone)]
pub struct ShrinkSearch<'a> {
    shrinker: Shrinker<'a>,
    case: PlanningCase,
    /// The smallest failing case; the original case at the beginning.
    found: (Sentences, PlanningCase),
    /// The results of the tests, by paragraph.
    known: HashMap<String, bool>,
    steps: Vec<(Reduction, usize)>,
    /// The number of steps when the current round of reductions began.
    steps_before: usize,
    /// The current removal; `None` while the original case itself is tested.
    sweep: Option<Sweep>,
    /// What is to be tested now.
    open: Option<(Sentences, PlanningCase)>,
    end: Option<ShrinkEnd>,
}

/// Removal of pieces of one kind until no single one can be removed.
#[derive(Debug, Clone)]
struct Sweep {
    /// Place in [`Reduction::ALL`].
    reduction: usize,
    from: Sentences,
    pieces: usize,
    /// Those that are not taken away yet.
    left: Vec<usize>,
    /// How many pieces are removed at once, and from which of the remaining ones.
    size: usize,
    at: usize,
    /// How many pieces remained when this size began.
    left_before: usize,
}

impl Sweep {
    fn new(reduction: usize, from: &Sentences, shrinker: Shrinker<'_>) -> Self {
        let pieces = reduce::count(from, Reduction::ALL[reduction], shrinker.words);
        Self {
            reduction,
            from: from.clone(),
            pieces,
            left: (0..pieces).collect(),
            size: pieces.div_ceil(2),
            at: 0,
            left_before: pieces,
        }
    }

    /// The end of the pieces that are currently removed.
    fn end(&self) -> usize {
        (self.at + self.size).min(self.left.len())
    }

    /// Those that stay when these go.
    fn kept(&self) -> Vec<usize> {
        self.left[..self.at].iter().chain(&self.left[self.end()..]).copied().collect()
    }

    /// The tree without these pieces, and without those removed before.
    fn tree(&self, shrinker: Shrinker<'_>) -> Sentences {
        let kept = self.kept();
        let removed: BTreeSet<usize> = (0..self.pieces).filter(|piece| !kept.contains(piece)).collect();
        reduce::without(&self.from, Reduction::ALL[self.reduction], &removed, shrinker.words)
    }

    /// Continues with smaller sets of pieces; single ones are tried again as long as one can be removed, because a
    /// piece that was needed before may not be needed any more.
    fn smaller(&mut self) {
        let has_gone = self.left.len() < self.left_before;
        self.size = if self.size > 1 { self.size.div_ceil(2) } else { usize::from(has_gone) };
        (self.at, self.left_before) = (0, self.left.len());
    }
}

impl<'a> ShrinkSearch<'a> {
    pub(super) fn new(shrinker: Shrinker<'a>, case: PlanningCase, tree: Sentences) -> Self {
        let found = (tree, case.clone());
        Self {
            shrinker,
            case,
            open: Some(found.clone()),
            found,
            known: HashMap::new(),
            steps: Vec::new(),
            steps_before: 0,
            sweep: None,
            end: None,
        }
    }

    /// The next candidate to test; `None` at the end. The first is the original case, and no paragraph comes twice.
    pub fn candidate(&mut self) -> Option<&PlanningCase> {
        while self.open.is_none() && self.end.is_none() {
            self.advance();
        }
        self.open.as_ref().map(|(_, case)| case)
    }

    /// The result of the candidate's test. Ignored if no test was requested.
    pub fn answer(&mut self, fails: bool) {
        let Some((tree, case)) = self.open.take() else { return };
        self.known.insert(case.paragraph.clone(), fails);
        match self.sweep {
            Some(_) => self.decide(tree, case, fails),
            None if fails => self.sweep = Some(Sweep::new(0, &self.found.0, self.shrinker)),
            None => self.end = Some(ShrinkEnd::NotFailing),
        }
    }

    /// The result so far: [`ShrinkEnd::Unfinished`] while there is a candidate.
    pub fn shrunk(&self) -> Shrunk {
        let mut case = self.found.1.clone();
        // The first sweep begins when the original case has failed again; without that it is returned as it is.
        if self.sweep.is_some() {
            case.id = format!("{}.shrunk", self.case.id);
        }
        Shrunk {
            case,
            end: self.end.unwrap_or(ShrinkEnd::Unfinished),
            tested: self.known.len(),
            steps: self.steps.clone(),
        }
    }

    /// One step towards the next candidate, or to the end.
    fn advance(&mut self) {
        let Some(sweep) = &mut self.sweep else { return };
        if sweep.size == 0 {
            self.next_reduction();
        } else if sweep.at >= sweep.left.len() {
            sweep.smaller();
        } else {
            let tree = sweep.tree(self.shrinker);
            // A piece may only become removable after another one was removed.
            match self.shrinker.build(&self.case, &tree) {
                // A removal that changes no letter would be tested for nothing.
                Some(smaller) if smaller.paragraph != self.found.1.paragraph => {
                    match self.known.get(&smaller.paragraph) {
                        Some(&fails) => self.decide(tree, smaller, fails),
                        None => self.open = Some((tree, smaller)),
                    }
                }
                _ => sweep.at = sweep.end(),
            }
        }
    }

    fn decide(&mut self, tree: Sentences, case: PlanningCase, fails: bool) {
        let Some(sweep) = &mut self.sweep else { return };
        if fails {
            // The place stays: what followed the removed pieces has moved up to it.
            sweep.left = sweep.kept();
            self.found = (tree, case);
        } else {
            sweep.at = sweep.end();
        }
    }

    /// Continues with the next kind of pieces, or with the first kind again, until a whole round removes nothing.
    fn next_reduction(&mut self) {
        let Some(sweep) = &self.sweep else { return };
        let (reduction, removed) = (sweep.reduction, sweep.pieces - sweep.left.len());
        if removed > 0 {
            self.steps.push((Reduction::ALL[reduction], removed));
        }
        let mut next = reduction + 1;
        if next == Reduction::ALL.len() {
            // A whole round without a step: no single piece of any kind can go.
            if self.steps.len() == self.steps_before {
                self.end = Some(ShrinkEnd::Minimal);
                return;
            }
            (next, self.steps_before) = (0, self.steps.len());
        }
        self.sweep = Some(Sweep::new(next, &self.found.0, self.shrinker));
    }
}
