//! The domains of a search: the remaining candidates of each slot, with all other state that backtracking restores.

/// Bits of a word of a domain.
const WORD: usize = u64::BITS as usize;

/// The state of a search. It is one row of cells, so that backtracking is a list of old values to write.
///
/// The values of a slot are its candidates, by index, followed by the empty choice.
#[derive(Debug, Clone)]
pub(super) struct Domains {
    cells: Vec<u64>,
    /// What cells held before they were changed, in the order of the changes.
    trail: Vec<(u32, u64)>,
    /// For each slot, the cell of its first values.
    first: Vec<usize>,
    /// For each slot, the number of its values.
    width: Vec<usize>,
    /// For each slot, the value of the empty choice, if it is allowed.
    empty: Vec<Option<usize>>,
    /// For each slot, the cell that counts its values.
    count: Vec<usize>,
    /// Slots that have lost a value since the last query.
    changed: u64,
}

/// A slot has no value left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wiped;

impl Domains {
    /// All values of slots with these numbers of candidates, of which some are optional.
    pub(super) fn new(slots: &[(usize, bool)]) -> Self {
        let widths: Vec<usize> =
            slots.iter().map(|(count, is_optional)| count + usize::from(*is_optional)).collect();
        let mut domains = Self {
            cells: Vec::new(),
            trail: Vec::new(),
            first: Vec::with_capacity(widths.len()),
            width: widths.clone(),
            empty: slots.iter().map(|(count, is_optional)| is_optional.then_some(*count)).collect(),
            count: Vec::with_capacity(widths.len()),
            changed: 0,
        };
        for &width in &widths {
            domains.first.push(domains.cells.len());
            let full = width / WORD;
            domains.cells.extend(std::iter::repeat_n(u64::MAX, full));
            // The bits above the width stay zero, so counting the bits of words counts values.
            if width % WORD > 0 {
                domains.cells.push((1 << (width % WORD)) - 1);
            }
        }
        for width in widths {
            domains.count.push(domains.cells.len());
            domains.cells.push(width as u64);
        }
        domains
    }

    /// Adds a cell that is restored together with the domains.
    pub(super) fn add_cell(&mut self, value: usize) -> usize {
        self.cells.push(value as u64);
        self.cells.len() - 1
    }

    pub(super) fn cell(&self, cell: usize) -> usize {
        self.cells[cell] as usize
    }

    pub(super) fn set_cell(&mut self, cell: usize, value: usize) {
        self.write(cell, value as u64);
    }

    fn write(&mut self, cell: usize, value: u64) {
        let before = std::mem::replace(&mut self.cells[cell], value);
        if before != value {
            // Slots, candidates and terms are limited, so there are far fewer cells than fit into an index of 32 bits.
            self.trail.push((cell as u32, before));
        }
    }

    /// The length of the trail, for [`undo`](Self::undo).
    pub(super) fn mark(&self) -> usize {
        self.trail.len()
    }

    /// Restores everything that has changed since a mark.
    pub(super) fn undo(&mut self, mark: usize) {
        while self.trail.len() > mark {
            if let Some((cell, before)) = self.trail.pop() {
                self.cells[cell as usize] = before;
            }
        }
        // A mark is set when everything is propagated, so the restored domains have no changes left to react to.
        self.changed = 0;
    }

    pub(super) fn slots(&self) -> usize {
        self.width.len()
    }

    pub(super) fn width(&self, slot: usize) -> usize {
        self.width[slot]
    }

    /// The value of the empty choice, whether it remains or not.
    pub(super) fn empty(&self, slot: usize) -> Option<usize> {
        self.empty[slot]
    }

    /// Whether a slot can still be left empty.
    pub(super) fn may_be_empty(&self, slot: usize) -> bool {
        self.empty[slot].is_some_and(|value| self.has(slot, value))
    }

    /// How many values a slot has left.
    pub(super) fn count(&self, slot: usize) -> usize {
        self.cells[self.count[slot]] as usize
    }

    pub(super) fn has(&self, slot: usize, value: usize) -> bool {
        self.cells[self.first[slot] + value / WORD] >> (value % WORD) & 1 == 1
    }

    /// The value of a slot with only one.
    pub(super) fn fixed(&self, slot: usize) -> Option<usize> {
        if self.count(slot) == 1 { self.values(slot).next() } else { None }
    }

    /// The remaining values of a slot, ascending.
    pub(super) fn values(&self, slot: usize) -> impl Iterator<Item = usize> + '_ {
        self.words(slot).iter().enumerate().flat_map(|(place, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                if rest == 0 {
                    return None;
                }
                let bit = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                Some(place * WORD + bit)
            })
        })
    }

    fn words(&self, slot: usize) -> &[u64] {
        let first = self.first[slot];
        &self.cells[first..first + self.width[slot].div_ceil(WORD)]
    }

    /// Removes a value, which may already be removed.
    pub(super) fn remove(&mut self, slot: usize, value: usize) -> Result<(), Wiped> {
        if self.has(slot, value) {
            let cell = self.first[slot] + value / WORD;
            self.write(cell, self.cells[cell] & !(1 << (value % WORD)));
            self.write(self.count[slot], self.cells[self.count[slot]] - 1);
            // A slot has a bit of one word: there are at most `SLOTS_MAX` slots.
            self.changed |= 1 << slot;
        }
        if self.count(slot) == 0 { Err(Wiped) } else { Ok(()) }
    }

    /// Keeps only the values in a set, or only those outside of it.
    pub(super) fn keep(&mut self, slot: usize, set: &Set, is_in: bool) -> Result<(), Wiped> {
        let mut left = 0;
        let mut has_changed = false;
        for (place, of_set) in set.words.iter().enumerate() {
            let cell = self.first[slot] + place;
            let before = self.cells[cell];
            // The complement also has bits above the width, but those of the domain are zero.
            let after = before & if is_in { *of_set } else { !*of_set };
            left += u64::from(after.count_ones());
            if after != before {
                has_changed = true;
                self.write(cell, after);
            }
        }
        if has_changed {
            self.write(self.count[slot], left);
            self.changed |= 1 << slot;
        }
        if left == 0 { Err(Wiped) } else { Ok(()) }
    }

    /// Removes all values that do not hold.
    pub(super) fn retain(&mut self, slot: usize, mut holds: impl FnMut(usize) -> bool) -> Result<(), Wiped> {
        let mut left = 0;
        let mut has_changed = false;
        for place in 0..self.width[slot].div_ceil(WORD) {
            let cell = self.first[slot] + place;
            let before = self.cells[cell];
            let (mut after, mut rest) = (before, before);
            while rest != 0 {
                let bit = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                if !holds(place * WORD + bit) {
                    after &= !(1 << bit);
                }
            }
            left += u64::from(after.count_ones());
            if after != before {
                has_changed = true;
                self.write(cell, after);
            }
        }
        if has_changed {
            self.write(self.count[slot], left);
            self.changed |= 1 << slot;
        }
        if left == 0 { Err(Wiped) } else { Ok(()) }
    }

    /// Keeps only one value, which must be present.
    pub(super) fn fix(&mut self, slot: usize, value: usize) {
        for place in 0..self.width[slot].div_ceil(WORD) {
            let bit = if place == value / WORD { 1 << (value % WORD) } else { 0 };
            let cell = self.first[slot] + place;
            self.write(cell, self.cells[cell] & bit);
        }
        self.write(self.count[slot], 1);
        self.changed |= 1 << slot;
    }

    /// Whether all values left are in a set.
    pub(super) fn is_within(&self, slot: usize, set: &Set) -> bool {
        self.words(slot).iter().zip(&set.words).all(|(word, of_set)| word & !of_set == 0)
    }

    /// Whether a value left is in a set.
    pub(super) fn meets(&self, slot: usize, set: &Set) -> bool {
        self.words(slot).iter().zip(&set.words).any(|(word, of_set)| word & of_set != 0)
    }

    /// Whether a slot has lost values since the last call of [`take_changed`](Self::take_changed).
    pub(super) fn has_changed(&self) -> bool {
        self.changed != 0
    }

    /// The slots that have lost values since the last call, a bit for each.
    pub(super) fn take_changed(&mut self) -> u64 {
        std::mem::take(&mut self.changed)
    }
}

/// A set of values of one slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Set {
    words: Vec<u64>,
}

impl Set {
    /// The values below `width` of which it holds.
    pub(super) fn of(width: usize, mut holds: impl FnMut(usize) -> bool) -> Self {
        let mut set = Self { words: vec![0; width.div_ceil(WORD)] };
        for value in (0..width).filter(|value| holds(*value)) {
            set.words[value / WORD] |= 1 << (value % WORD);
        }
        set
    }

    /// Whether it has a value.
    pub(super) fn has(&self, value: usize) -> bool {
        self.words.get(value / WORD).is_some_and(|word| word >> (value % WORD) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(domains: &Domains, slot: usize) -> Vec<usize> {
        let values: Vec<usize> = domains.values(slot).collect();
        assert_eq!(values.len(), domains.count(slot));
        values
    }

    #[test]
    fn what_is_removed_comes_back() {
        let mut domains = Domains::new(&[(3, false), (63, true), (130, false)]);
        let cell = domains.add_cell(7);
        let mark = domains.mark();
        domains.remove(0, 1).unwrap();
        domains.keep(2, &Set::of(130, |value| value % 50 == 0), true).unwrap();
        domains.keep(2, &Set::of(130, |value| value == 50), false).unwrap();
        domains.set_cell(cell, 9);
        domains.fix(1, 63);
        assert_eq!(
            (left(&domains, 0), left(&domains, 1), left(&domains, 2)),
            (vec![0, 2], vec![63], vec![0, 100])
        );
        assert_eq!((domains.take_changed(), domains.take_changed()), (0b111, 0));
        assert_eq!(domains.fixed(1), Some(63));
        domains.undo(mark);
        let all = |count: usize| (0..count).collect::<Vec<_>>();
        assert_eq!((left(&domains, 0), left(&domains, 1), left(&domains, 2)), (all(3), all(64), all(130)));
        assert_eq!(domains.cell(cell), 7);
    }

    #[test]
    fn a_slot_without_values_is_reported() {
        let mut domains = Domains::new(&[(2, false), (0, true)]);
        assert_eq!(domains.remove(0, 0), Ok(()));
        assert_eq!(domains.remove(0, 1), Err(Wiped));
        assert_eq!(domains.keep(1, &Set::of(1, |_| true), false), Err(Wiped));
    }

    #[test]
    fn sets_are_compared_with_domains() {
        let mut domains = Domains::new(&[(70, false)]);
        let even = Set::of(70, |value| value % 2 == 0);
        assert!(domains.meets(0, &even) && !domains.is_within(0, &even));
        domains.fix(0, 68);
        assert!(domains.is_within(0, &even));
    }
}
