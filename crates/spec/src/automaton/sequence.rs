//! Behaviours as automata over states: Thompson's construction, then subsets.

use std::collections::BTreeMap;

use super::dfa::{DEAD, Dfa, Numbering, TooLarge, Work, check_positions};
use crate::{Bounds, Formula, FormulaKind};

/// Most positions of a nondeterministic automaton, as nested bounded loops produce them.
const DRAFT_POSITIONS_MAX: usize = 200_000;

/// The minimal automaton of a behaviour over `names`, whose indices are the symbols. An unknown name never matches.
pub(super) fn automaton(
    formula: &Formula,
    names: &BTreeMap<&str, usize>,
    work: &mut Work,
) -> Result<Dfa, TooLarge> {
    let mut draft = Draft { edges: Vec::new(), free: Vec::new() };
    let start = draft.position()?;
    let end = draft.build(formula, start, names)?;
    let symbols = names.len();

    let mut sets: Numbering<Vec<u32>> = Numbering::default();
    let (mut next, mut accepting) = (Vec::new(), Vec::new());
    let mut closure = Closure { draft: &draft, end, seen: vec![0; draft.edges.len()], round: 0 };
    sets.number(closure.of(vec![start], work)?);
    // Subset construction: a position of the result is a set of draft positions that a word can reach.
    while let Some(set) = sets.next() {
        accepting.push(set.binary_search(&end).is_ok());
        let mut targets: Vec<Vec<u32>> = vec![Vec::new(); symbols];
        for position in &set {
            if let Some((symbol, target)) = draft.edges[*position as usize] {
                targets[symbol].push(target);
            }
        }
        work.spend(symbols + set.len())?;
        for target in targets {
            next.push(if target.is_empty() { DEAD } else { sets.number(closure.of(target, work)?) });
        }
        check_positions(sets.len())?;
    }
    Dfa::new(symbols, next, accepting).minimised(work)
}

/// An automaton with transitions that read nothing.
struct Draft {
    /// At most one reading transition from each position.
    edges: Vec<Option<(usize, u32)>>,
    /// The transitions that read nothing.
    free: Vec<Vec<u32>>,
}

impl Draft {
    fn position(&mut self) -> Result<u32, TooLarge> {
        if self.edges.len() >= DRAFT_POSITIONS_MAX {
            return Err(TooLarge { what: "copies of repeated parts", limit: DRAFT_POSITIONS_MAX as u64 });
        }
        self.edges.push(None);
        self.free.push(Vec::new());
        Ok(self.edges.len() as u32 - 1)
    }

    fn link(&mut self, from: u32, to: u32) {
        self.free[from as usize].push(to);
    }

    /// Adds a path from `from` for each word of the formula, and returns their common end. Only loops that begin at
    /// `from` lead back to it.
    fn build(
        &mut self,
        formula: &Formula,
        from: u32,
        names: &BTreeMap<&str, usize>,
    ) -> Result<u32, TooLarge> {
        match &formula.kind {
            FormulaKind::State(name) => {
                // A position has at most one reading edge, and several operands can begin at `from`.
                let (before, end) = (self.position()?, self.position()?);
                self.link(from, before);
                if let Some(symbol) = names.get(name.as_str()) {
                    self.edges[before as usize] = Some((*symbol, end));
                }
                Ok(end)
            }
            FormulaKind::Or(operands) => {
                let end = self.position()?;
                for operand in operands {
                    let operand_end = self.build(operand, from, names)?;
                    self.link(operand_end, end);
                }
                Ok(end)
            }
            FormulaKind::Next(operands) => {
                operands.iter().try_fold(from, |from, operand| self.build(operand, from, names))
            }
            FormulaKind::Until { body, exit, bounds } => {
                let end = self.repeat(body, *bounds, from, names)?;
                self.build(exit, end, names)
            }
            FormulaKind::Always { body, bounds } => self.repeat(body, *bounds, from, names),
        }
    }

    fn repeat(
        &mut self,
        body: &Formula,
        bounds: Bounds,
        from: u32,
        names: &BTreeMap<&str, usize>,
    ) -> Result<u32, TooLarge> {
        let mut at = from;
        // The automaton cannot count, so each pass within the bounds is a copy of the body.
        for _ in 0..bounds.min {
            at = self.build(body, at, names)?;
        }
        // A position of its own, because the body of an unbounded loop leads back to it.
        let end = self.position()?;
        self.link(at, end);
        match bounds.max {
            None => {
                let body_end = self.build(body, end, names)?;
                self.link(body_end, end);
            }
            Some(max) => {
                for _ in bounds.min..max {
                    at = self.build(body, at, names)?;
                    self.link(at, end);
                }
            }
        }
        Ok(end)
    }
}

struct Closure<'d> {
    draft: &'d Draft,
    /// Where the words of the whole formula end.
    end: u32,
    /// In which round each position was last reached.
    seen: Vec<u32>,
    round: u32,
}

impl Closure<'_> {
    /// The positions that can be reached without reading, sorted: only those that read a symbol or are the end.
    fn of(&mut self, mut open: Vec<u32>, work: &mut Work) -> Result<Vec<u32>, TooLarge> {
        // A new round saves clearing `seen` for each set.
        self.round += 1;
        let mut set = Vec::new();
        while let Some(position) = open.pop() {
            if std::mem::replace(&mut self.seen[position as usize], self.round) == self.round {
                continue;
            }
            let free = &self.draft.free[position as usize];
            work.spend(1 + free.len())?;
            open.extend(free);
            // Positions that only lead on are left out, so that sets which differ in nothing else are equal.
            if free.is_empty() || position == self.end {
                set.push(position);
            }
        }
        set.sort_unstable();
        Ok(set)
    }
}
