//! Smallest hitting sets: the core of the search for a smallest conflict.

use super::limits::CONSTRAINTS_MAX;

const WORD: usize = u64::BITS as usize;
/// One for each constraint, and one for the objective.
const WORDS: usize = CONSTRAINTS_MAX / WORD + 1;

/// A set of constraints, by their indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Subset([u64; WORDS]);

impl Subset {
    pub(super) fn insert(&mut self, place: usize) {
        self.0[place / WORD] |= 1 << (place % WORD);
    }

    pub(super) fn remove(&mut self, place: usize) {
        self.0[place / WORD] &= !(1 << (place % WORD));
    }

    pub(super) fn has(&self, place: usize) -> bool {
        self.0[place / WORD] >> (place % WORD) & 1 == 1
    }

    pub(super) fn places(&self) -> impl Iterator<Item = usize> + '_ {
        (0..WORDS * WORD).filter(|place| self.has(*place))
    }

    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(one, other)| one & other != 0)
    }

    fn without(mut self, other: &Self) -> Self {
        for (word, of_other) in self.0.iter_mut().zip(&other.0) {
            *word &= !of_other;
        }
        self
    }

    fn with(mut self, other: &Self) -> Self {
        for (word, of_other) in self.0.iter_mut().zip(&other.0) {
            *word |= of_other;
        }
        self
    }
}

impl FromIterator<usize> for Subset {
    fn from_iter<I: IntoIterator<Item = usize>>(places: I) -> Self {
        let mut set = Self::default();
        places.into_iter().for_each(|place| set.insert(place));
        set
    }
}

/// Sets that have to be hit, with a lower bound on the size of a hitting set.
#[derive(Debug, Clone, Default)]
pub(super) struct Hitting {
    sets: Vec<Subset>,
    /// Fewer indices than this cannot hit the sets considered so far.
    least: usize,
}

impl Hitting {
    /// Adds a set, which is not empty.
    pub(super) fn add(&mut self, set: Subset) {
        self.sets.push(set);
    }

    /// A smallest set of indices that hits all sets; `None` if the steps are used up.
    ///
    /// Sizes are tried in ascending order: additional sets never allow fewer indices. An index that was skipped for
    /// one choice is not taken below the others, so no set of indices is considered twice.
    pub(super) fn smallest(&mut self, steps: &mut u64) -> Option<Subset> {
        loop {
            match self.extend(Subset::default(), Subset::default(), self.least, steps) {
                Some(Some(found)) => return Some(found),
                Some(None) => self.least += 1,
                None => return None,
            }
        }
    }

    /// Adds up to `open` indices to those taken, none of them forbidden; the inner `None` means that they cannot hit
    /// all sets. Recurses once for each index taken.
    fn extend(
        &self,
        taken: Subset,
        forbidden: Subset,
        open: usize,
        steps: &mut u64,
    ) -> Option<Option<Subset>> {
        *steps = steps.checked_sub(1)?;
        let missed = || self.sets.iter().filter(|set| !set.meets(&taken));
        // Sets without a common allowed index need one index each.
        let (mut apart, mut covered) = (0, Subset::default());
        let mut smallest: Option<Subset> = None;
        for set in missed() {
            // If nothing of the set is allowed any more, it is the smallest one, has no
            // index to try, and ends the branch.
            let set = set.without(&forbidden);
            if !set.meets(&covered) {
                apart += 1;
                covered = covered.with(&set);
            }
            if apart > open {
                return Some(None);
            }
            if smallest.is_none_or(|other| set.len() < other.len()) {
                smallest = Some(set);
            }
        }
        let Some(set) = smallest else { return Some(Some(taken)) };
        let mut forbidden = forbidden;
        for place in set.places() {
            let mut taken = taken;
            taken.insert(place);
            // The missed sets counted as at least one above, so `open` is not zero here.
            if let Some(found) = self.extend(taken, forbidden, open - 1, steps)? {
                return Some(Some(found));
            }
            forbidden.insert(place);
        }
        Some(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By trying all sets of places.
    fn fewest(places: usize, sets: &[Subset]) -> usize {
        (0_u32..1 << places)
            .filter(|bits| {
                let all: Subset = (0..places).filter(|place| bits >> place & 1 == 1).collect();
                sets.iter().all(|set| set.meets(&all))
            })
            .map(u32::count_ones)
            .min()
            .unwrap() as usize
    }

    #[test]
    fn the_smallest_hitting_set_is_found() {
        let mut seed: u64 = 7;
        let mut draw = |below: u64| {
            seed = seed * 48_271 % 0x7fff_ffff;
            seed % below
        };
        for _ in 0..300 {
            let mut hitting = Hitting::default();
            let mut sets = Vec::new();
            for _ in 0..draw(9) {
                let mut set: Subset = (0..9).filter(|_| draw(3) == 0).collect();
                set.insert(draw(9) as usize);
                hitting.add(set);
                sets.push(set);
                let found = hitting.smallest(&mut 100_000).unwrap();
                assert!(sets.iter().all(|set| set.meets(&found)));
                assert_eq!(found.len(), fewest(9, &sets));
            }
        }
    }

    #[test]
    fn no_steps_are_an_answer() {
        let mut hitting = Hitting::default();
        hitting.add([3, 256].into_iter().collect());
        assert_eq!(hitting.smallest(&mut 1), None);
        assert_eq!(hitting.smallest(&mut 9), Some([3].into_iter().collect()));
    }
}
