//! Branch and bound.
//!
//! A search keeps a domain for each slot. It removes values until no constraint finds an impossible one any more,
//! then tries one value of the slot with the fewest; if that fails, the value is removed, and so on, until each slot
//! has one value or nothing is left to try. With an objective each selection bounds the cost of the next, and the
//! last one is proved optimal because there is no better one.
//!
//! All decisions depend on the order of slots and candidates alone, so the same problem gives the same answer
//! everywhere.

use std::collections::VecDeque;

use super::domain::{Domains, Wiped};
use super::post::Shape;
use super::propagate::{Bounds, Linear, Posted, Scratch};
use super::resolve::Resolved;
use super::surrogate::{Surrogate, surrogate};

/// A search without a cost counts as easy up to this number of failures.
const FAILURES_EASY: u32 = 16;

/// What a search works on.
#[derive(Clone)]
pub(super) struct Work<'p> {
    pub(super) shape: &'p Shape,
    pub(super) resolved: &'p [Resolved],
    /// What the constraints that count do.
    pub(super) posted: Vec<&'p Posted>,
    /// What is to be as small as possible.
    pub(super) cost: Option<&'p Linear>,
}

/// How a search ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outcome {
    /// The best selection so far, and its cost.
    pub(super) best: Option<(Vec<Option<usize>>, i128)>,
    /// Whether it is proved that there is no better one, or none at all.
    pub(super) is_proved: bool,
    /// How many decisions were made.
    pub(super) nodes: u64,
}

/// How many steps are left to searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Steps {
    pub(super) left: u64,
}

impl Steps {
    fn take(&mut self, steps: u64) -> Result<(), Stop> {
        match self.left.checked_sub(steps) {
            Some(left) => self.left = left,
            // None are left for other searches either.
            None => {
                self.left = 0;
                return Err(Stop::Limit);
            }
        }
        Ok(())
    }
}

/// Why a branch ends.
enum Stop {
    Wiped,
    Limit,
}

impl From<Wiped> for Stop {
    fn from(_: Wiped) -> Self {
        Self::Wiped
    }
}

/// A value being tried for a slot, and the mark for backtracking.
struct Decision {
    slot: usize,
    value: usize,
    mark: usize,
}

/// A propagator that is run again whenever one of its slots has lost a value.
struct Running<'p> {
    posted: &'p Posted,
    /// The first of its cells.
    cell: usize,
    bounds: Bounds,
    /// How many steps it takes.
    price: u64,
    /// How often it has found an empty domain.
    failures: u64,
    is_queued: bool,
}

struct Search<'p> {
    work: Work<'p>,
    domains: Domains,
    running: Vec<Running<'p>>,
    /// For each slot, what looks at it.
    watchers: Vec<Vec<usize>>,
    queue: VecDeque<usize>,
    /// The first cell of the cost, and its upper bound.
    cost: (usize, Bounds),
    /// The consequence of all bounds together, with its first cell.
    surrogate: Option<(Surrogate, usize)>,
    scratch: Scratch,
    outcome: Outcome,
}

impl Work<'_> {
    /// Searches for the best selection, or for any if there is no cost.
    pub(super) fn search(self, steps: &mut Steps) -> Outcome {
        let nothing = Outcome { best: None, is_proved: true, nodes: 0 };
        // Domains report an empty slot only when they remove something, so one without candidates must be found here.
        if self.shape.iter().any(|(count, is_optional)| *count == 0 && !is_optional) {
            return nothing;
        }
        match Search::new(self) {
            Err(Wiped) => nothing,
            Ok(mut search) => {
                search.outcome.is_proved = search.run(steps).is_some();
                search.outcome
            }
        }
    }
}

impl<'p> Search<'p> {
    fn new(work: Work<'p>) -> Result<Self, Wiped> {
        let mut domains = Domains::new(work.shape);
        let mut running = Vec::new();
        for posted in &work.posted {
            match posted {
                // Domains only shrink, so a constraint on one slot has done its work once its other values are removed.
                Posted::Allowed { slot, set } => domains.keep(*slot, set, true)?,
                posted => {
                    let bounds = match posted {
                        Posted::Linear(linear) => linear.bounds,
                        _ => Bounds::default(),
                    };
                    let cell = posted.add_cells(&mut domains);
                    let price = posted.price(work.shape);
                    // Failures start at 1, as the weights of constraints do in the paper (see `open_slot`).
                    running.push(Running { posted, cell, bounds, price, failures: 1, is_queued: false });
                }
            }
        }
        let cost = work.cost.map_or(0, |cost| cost.add_cells(&mut domains));
        let mut watchers = vec![Vec::new(); work.shape.len()];
        for (place, it) in running.iter().enumerate() {
            for slot in it.posted.slots() {
                watchers[slot].push(place);
            }
        }
        let mut search = Self {
            work,
            domains,
            running,
            watchers,
            queue: VecDeque::new(),
            cost: (cost, Bounds::default()),
            surrogate: None,
            scratch: Scratch::default(),
            outcome: Outcome { best: None, is_proved: false, nodes: 0 },
        };
        // Slots that have lost nothing yet wake no propagator, so each is queued once at the start.
        for place in 0..search.running.len() {
            search.enqueue(place);
        }
        Ok(search)
    }

    fn enqueue(&mut self, place: usize) {
        if !std::mem::replace(&mut self.running[place].is_queued, true) {
            self.queue.push_back(place);
        }
    }

    /// Explores everything that is left; `None` if the steps are used up.
    fn run(&mut self, steps: &mut Steps) -> Option<()> {
        let mut decisions: Vec<Decision> = Vec::new();
        match self.propagate(steps) {
            Err(Stop::Limit) => return None,
            Err(Stop::Wiped) => return Some(()),
            // A search for the best selection has to refute all others, so it combines the bounds at once; one for any
            // selection does so only if it turns out to be hard (`FAILURES_EASY`).
            Ok(()) if self.work.cost.is_some() => self.combine(),
            Ok(()) => {}
        }
        let mut failures = 0;
        loop {
            match self.propagate(steps) {
                Err(Stop::Limit) => return None,
                Ok(()) => match self.open_slot() {
                    Some(slot) => {
                        let value = self.first_value(slot);
                        decisions.push(Decision { slot, value, mark: self.domains.mark() });
                        self.outcome.nodes += 1;
                        self.domains.fix(slot, value);
                        continue;
                    }
                    None => {
                        self.record();
                        if self.work.cost.is_none() {
                            return Some(());
                        }
                    }
                },
                Err(Stop::Wiped) => {}
            }
            failures += 1;
            // Values refuted before any decision stay removed. The first decision is undone without being
            // refuted, so its value remains.
            if failures == FAILURES_EASY && self.work.cost.is_none() {
                // Combining the bounds is worthwhile, and works best before any decision.
                if let Some(first) = decisions.first() {
                    self.domains.undo(first.mark);
                    decisions.clear();
                    self.combine();
                    continue;
                }
            }
            // The last tried value is impossible, or as good as possible.
            loop {
                let Some(Decision { slot, value, mark }) = decisions.pop() else { return Some(()) };
                self.domains.undo(mark);
                // The value was refuted under the decisions before it, so its removal belongs
                // to them and is undone with them.
                if self.domains.remove(slot, value).is_ok() {
                    break;
                }
            }
        }
    }

    /// Removes values until no propagator finds any more.
    fn propagate(&mut self, steps: &mut Steps) -> Result<(), Stop> {
        let result = self.propagate_all(steps);
        if result.is_err() {
            // Backtracking returns to domains that were propagated to the end, so nothing
            // that is still queued is needed.
            for place in self.queue.drain(..) {
                self.running[place].is_queued = false;
            }
        }
        result
    }

    fn propagate_all(&mut self, steps: &mut Steps) -> Result<(), Stop> {
        loop {
            let mut changed = self.domains.take_changed();
            while changed != 0 {
                let slot = changed.trailing_zeros() as usize;
                changed &= changed - 1;
                for at in 0..self.watchers[slot].len() {
                    self.enqueue(self.watchers[slot][at]);
                }
            }
            let place = self.queue.pop_front();
            let price = place.map_or(self.domains.slots() as u64, |place| self.running[place].price);
            steps.take(price)?;
            let Some(place) = place else {
                // The bounds of cost and combination change with each recorded selection, although no domain does. So
                // the two are not watched, but run whenever everything else is done.
                let (cell, bounds) = self.cost;
                if let Some(cost) = self.work.cost {
                    cost.run(&mut self.domains, cell, bounds, &mut self.scratch)?;
                }
                if let Some((surrogate, cell)) = &self.surrogate {
                    let bounds = surrogate.bounds(bounds.high);
                    surrogate.linear.run(&mut self.domains, *cell, bounds, &mut self.scratch)?;
                }
                match self.domains.has_changed() {
                    true => continue,
                    false => return Ok(()),
                }
            };
            let it = &mut self.running[place];
            // Cleared before the run: a propagator that removes values of its own slots is queued again, so none of
            // them has to find everything in one run.
            it.is_queued = false;
            let (posted, cell, bounds) = (it.posted, it.cell, it.bounds);
            let resolved = self.work.resolved;
            if let Err(Wiped) = posted.run(&mut self.domains, cell, bounds, resolved, &mut self.scratch) {
                self.running[place].failures += 1;
                return Err(Stop::Wiped);
            }
        }
    }

    /// Combines all bounds, once initially impossible values are removed.
    fn combine(&mut self) {
        let linears = self.running.iter().filter_map(|it| match it.posted {
            Posted::Linear(linear) => Some(linear),
            _ => None,
        });
        if let Some(surrogate) = surrogate(&self.domains, self.work.cost, linears) {
            let cell = surrogate.linear.add_cells(&mut self.domains);
            self.surrogate = Some((surrogate, cell));
        }
    }

    /// The slot with the fewest values, of those with several, weighted by the failures of its propagators
    /// (Boussemart et al., "Boosting systematic search by weighting constraints", 2004); the first among equals.
    fn open_slot(&self) -> Option<usize> {
        let open = (0..self.domains.slots()).filter(|slot| self.domains.count(*slot) > 1);
        let weight = |slot: usize| -> u64 {
            1 + self.watchers[slot].iter().map(|place| self.running[*place].failures).sum::<u64>()
        };
        let key = |slot: &usize| (self.domains.count(*slot) as u64, weight(*slot));
        open.min_by(|one, other| {
            let ((count, weight), (other_count, other_weight)) = (key(one), key(other));
            // The smaller quotient of values and weight, without dividing.
            (u128::from(count) * u128::from(other_weight))
                .cmp(&(u128::from(other_count) * u128::from(weight)))
        })
    }

    /// The value to try first: the cheapest, or else the first.
    fn first_value(&self, slot: usize) -> usize {
        // The combined sum also counts how much of the bounds a value uses up; the cost alone ignores them.
        let by_all = self.surrogate.as_ref();
        let by_all = by_all.and_then(|(it, cell)| it.linear.least(&self.domains, *cell, slot));
        let by_cost = || self.work.cost.and_then(|cost| cost.least(&self.domains, self.cost.0, slot));
        by_all.or_else(by_cost).or_else(|| self.domains.values(slot).next()).unwrap_or(0)
    }

    /// Keeps the remaining selection, and requires a better one.
    fn record(&mut self) {
        let value =
            |slot: usize| self.domains.values(slot).next().filter(|it| Some(*it) != self.domains.empty(slot));
        let chosen: Vec<Option<usize>> = (0..self.domains.slots()).map(value).collect();
        let cost = self.work.cost.map_or(0, |cost| cost.least_sum(&self.domains, self.cost.0));
        // The unit of the cost divides all its weights, so no better selection has a sum above this.
        self.cost.1.high = Some(cost - 1);
        self.outcome.best = Some((chosen, cost));
    }
}
