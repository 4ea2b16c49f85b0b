//! Deterministic automata over numbered symbols: minimal form, intersection, shortest words.

use std::collections::{BTreeMap, VecDeque};

use crate::limits::{COMPILE_STEPS_MAX, POSITIONS_MAX};

/// A limit that was exceeded while automata were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLarge {
    /// What there is too much of.
    pub(crate) what: &'static str,
    /// How much there may be.
    pub(crate) limit: u64,
}

/// Counts the work of compiling, so that it ends.
#[derive(Debug, Default)]
pub(crate) struct Work {
    steps: u64,
}

impl Work {
    pub(crate) fn spend(&mut self, steps: usize) -> Result<(), TooLarge> {
        self.steps += steps as u64;
        if self.steps > COMPILE_STEPS_MAX {
            return Err(TooLarge { what: "steps", limit: COMPILE_STEPS_MAX });
        }
        Ok(())
    }
}

/// Refuses more positions than [`POSITIONS_MAX`].
pub(crate) fn check_positions(positions: usize) -> Result<(), TooLarge> {
    if positions > POSITIONS_MAX {
        return Err(TooLarge { what: "positions", limit: POSITIONS_MAX as u64 });
    }
    Ok(())
}

/// The dead position: every continuation is refused.
pub(crate) const DEAD: u32 = u32::MAX;

/// A deterministic automaton that starts in position 0. From each of its positions a word can still be completed;
/// everything else is [`DEAD`]. One that accepts nothing has no position at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dfa {
    symbols: usize,
    next: Vec<u32>,
    accepting: Vec<bool>,
}

impl Dfa {
    /// From a table of `symbols` columns; position 0 is the start. Positions that cannot be reached, or from which no
    /// word can be completed, are removed.
    pub(crate) fn new(symbols: usize, next: Vec<u32>, accepting: Vec<bool>) -> Self {
        let mut dfa = Self { symbols, next, accepting };
        dfa.trim();
        dfa
    }

    pub(crate) fn positions(&self) -> usize {
        self.accepting.len()
    }

    pub(crate) fn symbols(&self) -> usize {
        self.symbols
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.accepting.is_empty()
    }

    /// The start, [`DEAD`] if nothing is accepted.
    pub(crate) fn start(&self) -> u32 {
        if self.is_empty() { DEAD } else { 0 }
    }

    pub(crate) fn step(&self, position: u32, symbol: usize) -> u32 {
        if position == DEAD { DEAD } else { self.next[position as usize * self.symbols + symbol] }
    }

    pub(crate) fn is_accepting(&self, position: u32) -> bool {
        position != DEAD && self.accepting[position as usize]
    }

    pub(crate) fn run(&self, word: &[usize]) -> u32 {
        word.iter().fold(self.start(), |position, symbol| self.step(position, *symbol))
    }

    pub(crate) fn accepts(&self, word: &[usize]) -> bool {
        self.is_accepting(self.run(word))
    }

    fn row(&self, position: usize) -> &[u32] {
        &self.next[position * self.symbols..(position + 1) * self.symbols]
    }

    /// The same automaton over other symbols: each behaves like the one that `original` returns.
    pub(crate) fn relabelled(&self, original: &[usize]) -> Self {
        let rows = (0..self.positions()).map(|position| self.row(position));
        let next = rows.flat_map(|row| original.iter().map(|symbol| row[*symbol])).collect();
        Self::new(original.len(), next, self.accepting.clone())
    }

    /// The same automaton without the transitions of some symbols.
    pub(crate) fn without(&self, is_forbidden: impl Fn(usize) -> bool) -> Self {
        let symbols = self.symbols;
        let keep =
            |(index, target): (usize, &u32)| if is_forbidden(index % symbols) { DEAD } else { *target };
        Self::new(symbols, self.next.iter().enumerate().map(keep).collect(), self.accepting.clone())
    }

    /// Keeps the positions on a path from the start to an accepting one, numbered in breadth-first order.
    fn trim(&mut self) {
        let live = self.live();
        let mut number = vec![DEAD; self.positions()];
        let mut order = Vec::new();
        // Otherwise nothing is accepted, and no position is kept.
        if live.first() == Some(&true) {
            number[0] = 0;
            order.push(0);
        }
        // `order` is also the queue of the search.
        let mut at = 0;
        while let Some(position) = order.get(at).copied() {
            at += 1;
            for target in self.row(position) {
                if *target != DEAD && live[*target as usize] && number[*target as usize] == DEAD {
                    number[*target as usize] = order.len() as u32;
                    order.push(*target as usize);
                }
            }
        }
        // A target without a number is not live; its number is already `DEAD`.
        let renumber = |target: &u32| if *target == DEAD { DEAD } else { number[*target as usize] };
        self.next = order.iter().flat_map(|position| self.row(*position).iter().map(renumber)).collect();
        self.accepting = order.iter().map(|position| self.accepting[*position]).collect();
    }

    /// Which positions can reach an accepting one.
    fn live(&self) -> Vec<bool> {
        let before = self.predecessors();
        let mut live = self.accepting.clone();
        let mut open: Vec<usize> = (0..live.len()).filter(|position| live[*position]).collect();
        while let Some(position) = open.pop() {
            for (earlier, _) in before.of(position) {
                if !std::mem::replace(&mut live[*earlier as usize], true) {
                    open.push(*earlier as usize);
                }
            }
        }
        live
    }

    fn predecessors(&self) -> Predecessors {
        // A counting sort by target: counts, then prefix sums, then the edges. It needs two allocations, whatever the
        // number of positions.
        let mut begin = vec![0_u32; self.positions() + 1];
        for target in self.next.iter().filter(|target| **target != DEAD) {
            begin[*target as usize + 1] += 1;
        }
        for index in 1..begin.len() {
            begin[index] += begin[index - 1];
        }
        let mut edges = vec![(0, 0); begin.last().map_or(0, |end| *end as usize)];
        let mut free = begin.clone();
        for (index, target) in self.next.iter().enumerate().filter(|(_, target)| **target != DEAD) {
            let slot = &mut free[*target as usize];
            edges[*slot as usize] = ((index / self.symbols) as u32, (index % self.symbols) as u32);
            *slot += 1;
        }
        Predecessors { begin, edges }
    }

    /// The automaton with the fewest positions for the same language, numbered in breadth-first order, so that
    /// automata of the same language become equal. Hopcroft's algorithm, O(k n log n), for automata without dead
    /// positions (Valmari and Lehtinen, STACS 2008).
    pub(crate) fn minimised(&self, work: &mut Work) -> Result<Self, TooLarge> {
        work.spend(self.next.len())?;
        let before = self.predecessors();
        let mut blocks = Blocks::new(self.positions());
        for position in (0..self.positions()).filter(|position| self.accepting[*position]) {
            blocks.mark(position);
        }
        // The first partition, into accepting and other positions. The new block need not be reported, because all
        // blocks start as splitters.
        blocks.split_marked(|_| {});
        let mut splitters: Vec<usize> = (0..blocks.len()).collect();
        while let Some(splitter) = splitters.pop() {
            // Copied before anything is split: the splitter may be split by its own edges.
            let mut edges: Vec<(u32, u32)> = Vec::new();
            for position in blocks.members(splitter) {
                edges.extend(before.of(*position).iter().map(|(earlier, symbol)| (*symbol, *earlier)));
            }
            work.spend(edges.len())?;
            // Groups the edges by symbol. A position without an edge is never marked, which separates it from those
            // with one, so no dead position is needed.
            edges.sort_unstable();
            for group in edges.chunk_by(|left, right| left.0 == right.0) {
                for (_, earlier) in group {
                    blocks.mark(*earlier as usize);
                }
                // The smaller part is enough: together with the old block it separates the same positions.
                blocks.split_marked(|new| splitters.push(new));
            }
        }
        let target = |target: u32| if target == DEAD { DEAD } else { blocks.of[target as usize] as u32 };
        // The block of the start becomes position 0.
        let first = blocks.of.first().copied().unwrap_or(0) as u32;
        let swap = |block: u32| match block {
            DEAD => DEAD,
            block if block == first => 0,
            0 => first,
            block => block,
        };
        let mut next = Vec::with_capacity(blocks.len() * self.symbols);
        let mut accepting = Vec::with_capacity(blocks.len());
        for block in 0..blocks.len() as u32 {
            let representative = blocks.members(swap(block) as usize)[0];
            next.extend(self.row(representative).iter().map(|old| swap(target(*old))));
            accepting.push(self.accepting[representative]);
        }
        // This also numbers the positions in breadth-first order, which makes the result canonical.
        Ok(Self::new(self.symbols, next, accepting))
    }

    /// The automaton of the words that both accept.
    pub(crate) fn intersected(&self, other: &Self, work: &mut Work) -> Result<Self, TooLarge> {
        let mut pairs = Numbering::default();
        let (mut next, mut accepting) = (Vec::new(), Vec::new());
        if !self.is_empty() && !other.is_empty() {
            pairs.number((0, 0));
        }
        // Only pairs that can be reached are formed; there are usually far fewer than all.
        while let Some((left, right)) = pairs.next() {
            work.spend(self.symbols)?;
            accepting.push(self.is_accepting(left) && other.is_accepting(right));
            for symbol in 0..self.symbols {
                let targets = (self.step(left, symbol), other.step(right, symbol));
                let is_dead = targets.0 == DEAD || targets.1 == DEAD;
                next.push(if is_dead { DEAD } else { pairs.number(targets) });
            }
            check_positions(pairs.len())?;
        }
        Self::new(self.symbols, next, accepting).minimised(work)
    }

    /// A shortest accepted word; the first in the order of the symbols among equals.
    pub(crate) fn shortest_word(&self) -> Option<Vec<usize>> {
        self.shortest_way(0, |position, _| self.is_accepting(position))
    }

    /// A shortest word that this accepts and the other does not.
    pub(crate) fn shortest_difference(
        &self,
        other: &Self,
        work: &mut Work,
    ) -> Result<Option<Vec<usize>>, TooLarge> {
        let mut pairs = Numbering::default();
        // An entry for each numbered pair: the pair and the symbol that led to it. `DEAD` marks the start.
        let mut reached_by: Vec<(u32, usize)> = vec![(DEAD, 0)];
        if !self.is_empty() {
            pairs.number((0, other.start()));
        }
        while let Some((left, right)) = pairs.next() {
            let here = pairs.taken() - 1;
            work.spend(self.symbols)?;
            // Pairs are numbered in breadth-first order, so the first difference is a shortest one. On the right the
            // position may be dead: then every word is a difference.
            if self.is_accepting(left) && !other.is_accepting(right) {
                let mut word = Vec::new();
                let mut at = here as u32;
                while let (before, symbol) = reached_by[at as usize]
                    && before != DEAD
                {
                    word.push(symbol);
                    at = before;
                }
                word.reverse();
                return Ok(Some(word));
            }
            for symbol in 0..self.symbols {
                let target = self.step(left, symbol);
                if target != DEAD {
                    let known = pairs.len();
                    // The pair is new if it got the next free number.
                    if pairs.number((target, other.step(right, symbol))) as usize == known {
                        reached_by.push((here as u32, symbol));
                    }
                }
            }
        }
        Ok(None)
    }

    /// A shortest path from a position to one that satisfies `is_goal`, which gets the position and the symbol that
    /// led to it (none at the start).
    pub(crate) fn shortest_way(
        &self,
        from: u32,
        is_goal: impl Fn(u32, Option<usize>) -> bool,
    ) -> Option<Vec<usize>> {
        if from == DEAD || from as usize >= self.positions() {
            return None;
        }
        if is_goal(from, None) {
            return Some(Vec::new());
        }
        let mut reached_by = vec![None; self.positions()];
        let mut open = VecDeque::from([from]);
        while let Some(position) = open.pop_front() {
            for symbol in 0..self.symbols {
                let target = self.step(position, symbol);
                if target == DEAD {
                    continue;
                }
                // The start has no entry, but it is not new.
                let is_new = target != from && reached_by[target as usize].is_none();
                // Asked for each edge, not just for new positions, because the goal may depend on the symbol.
                if is_goal(target, Some(symbol)) {
                    let mut word = vec![symbol];
                    let mut at = position;
                    while at != from {
                        let (before, symbol) = reached_by[at as usize]?;
                        word.push(symbol);
                        at = before;
                    }
                    word.reverse();
                    return Some(word);
                }
                if is_new {
                    reached_by[target as usize] = Some((position, symbol));
                    open.push_back(target);
                }
            }
        }
        None
    }
}

/// The transitions into each position: source and symbol.
struct Predecessors {
    begin: Vec<u32>,
    edges: Vec<(u32, u32)>,
}

impl Predecessors {
    fn of(&self, position: usize) -> &[(u32, u32)] {
        &self.edges[self.begin[position] as usize..self.begin[position + 1] as usize]
    }
}

/// Numbers things in the order in which they are first seen, and returns each new one once.
#[derive(Debug)]
pub(crate) struct Numbering<T> {
    numbers: BTreeMap<T, u32>,
    things: Vec<T>,
    taken: usize,
}

impl<T> Default for Numbering<T> {
    fn default() -> Self {
        Self { numbers: BTreeMap::new(), things: Vec::new(), taken: 0 }
    }
}

impl<T: Ord + Clone> Numbering<T> {
    pub(crate) fn number(&mut self, thing: T) -> u32 {
        if let Some(number) = self.numbers.get(&thing) {
            return *number;
        }
        let number = self.things.len() as u32;
        // Kept twice: for the number of a thing, and for the thing of a number.
        self.numbers.insert(thing.clone(), number);
        self.things.push(thing);
        number
    }

    /// The next thing that has not been returned.
    pub(crate) fn next(&mut self) -> Option<T> {
        let thing = self.things.get(self.taken).cloned()?;
        self.taken += 1;
        Some(thing)
    }

    pub(crate) fn get(&self, number: u32) -> &T {
        &self.things[number as usize]
    }

    pub(crate) fn taken(&self) -> usize {
        self.taken
    }

    pub(crate) fn len(&self) -> usize {
        self.things.len()
    }
}

/// A partition of positions that is refined.
struct Blocks {
    /// All positions, with those of a block adjacent, the marked ones first.
    order: Vec<usize>,
    /// The index of each position in `order`.
    place: Vec<usize>,
    /// The block of each position.
    of: Vec<usize>,
    /// First, one past the last, and number of marked positions of each block.
    ranges: Vec<(usize, usize, usize)>,
    touched: Vec<usize>,
}

impl Blocks {
    fn new(positions: usize) -> Self {
        let order: Vec<usize> = (0..positions).collect();
        let ranges = if positions == 0 { Vec::new() } else { vec![(0, positions, 0)] };
        Self { place: order.clone(), order, of: vec![0; positions], ranges, touched: Vec::new() }
    }

    fn len(&self) -> usize {
        self.ranges.len()
    }

    fn members(&self, block: usize) -> &[usize] {
        let (begin, end, _) = self.ranges[block];
        &self.order[begin..end]
    }

    fn mark(&mut self, position: usize) {
        let block = self.of[position];
        let (begin, _, marked) = &mut self.ranges[block];
        let (place, boundary) = (self.place[position], *begin + *marked);
        // Marked positions stand first, so this one is marked already.
        if place < boundary {
            return;
        }
        if *marked == 0 {
            self.touched.push(block);
        }
        *marked += 1;
        let other = self.order[boundary];
        self.order.swap(place, boundary);
        self.place[other] = place;
        self.place[position] = boundary;
    }

    /// Separates the marked positions of each block from the others; the smaller part becomes a new block, which is
    /// reported.
    fn split_marked(&mut self, mut tell: impl FnMut(usize)) {
        for block in std::mem::take(&mut self.touched) {
            let (begin, end, marked) = self.ranges[block];
            self.ranges[block].2 = 0;
            if begin + marked == end {
                continue;
            }
            let middle = begin + marked;
            let new = self.ranges.len();
            // Only positions of the smaller part change their block. Each position changes it O(log n) times in all.
            if marked <= end - middle {
                self.ranges[block] = (middle, end, 0);
                self.ranges.push((begin, middle, 0));
            } else {
                self.ranges[block] = (begin, middle, 0);
                self.ranges.push((middle, end, 0));
            }
            for index in self.ranges[new].0..self.ranges[new].1 {
                self.of[self.order[index]] = new;
            }
            tell(new);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words with an even number of 1s that end in 0, with redundant positions.
    fn even_ones() -> Dfa {
        // Positions: even and odd, each after 0 and after 1, and each twice.
        let position = |odd: u32, last: u32, copy: u32| odd * 4 + last * 2 + copy;
        let mut next = Vec::new();
        let mut accepting = Vec::new();
        for odd in 0..2 {
            for last in 0..2 {
                for copy in 0..2 {
                    next.extend([position(odd, 0, 1 - copy), position(1 - odd, 1, copy), DEAD]);
                    accepting.push(odd == 0 && last == 0);
                }
            }
        }
        Dfa::new(3, next, accepting)
    }

    #[test]
    fn minimal_form_is_canonical() {
        let mut work = Work::default();
        let minimal = even_ones().minimised(&mut work).expect("small");
        assert_eq!(minimal.positions(), 3);
        assert_eq!(minimal.minimised(&mut work).expect("small"), minimal);
        assert!(minimal.accepts(&[1, 0, 1, 0]) && !minimal.accepts(&[1, 0]) && !minimal.accepts(&[0, 2, 0]));
        let none = minimal.without(|symbol| symbol == 0 || symbol == 1);
        assert_eq!(none.positions(), 1);
        assert!(none.accepts(&[]));
    }

    #[test]
    fn empty_automata_are_no_exception() {
        let mut work = Work::default();
        let empty = Dfa::new(2, vec![0, 0], vec![false]);
        assert!(empty.is_empty() && !empty.accepts(&[]) && empty.shortest_word().is_none());
        assert!(empty.minimised(&mut work).expect("small").is_empty());
        let all = Dfa::new(2, vec![0, 0], vec![true]);
        assert!(all.intersected(&empty, &mut work).expect("small").is_empty());
        assert_eq!(all.shortest_difference(&empty, &mut work), Ok(Some(vec![])));
        assert_eq!(empty.shortest_difference(&all, &mut work), Ok(None));
    }

    #[test]
    fn words_are_shortest() {
        let mut work = Work::default();
        let even = even_ones().minimised(&mut work).expect("small");
        let two_ones = Dfa::new(3, vec![0, 1, 0, 1, 2, 1, 2, 2, 2], vec![false, false, true]);
        let both = even.intersected(&two_ones, &mut work).expect("small");
        assert_eq!(both.shortest_word(), Some(vec![1, 1, 0]));
        assert_eq!(even.shortest_difference(&both, &mut work), Ok(Some(vec![])));
        assert_eq!(both.shortest_difference(&even, &mut work), Ok(None));
        assert_eq!(two_ones.shortest_difference(&even, &mut work), Ok(Some(vec![1, 1])));
        assert_eq!(even.shortest_way(0, |_, symbol| symbol == Some(1)), Some(vec![1]));
    }
}
