//! The smallest set of constraints that cannot hold together.
//!
//! Each selection violates some constraints, and each conflict contains at least one of them, or that selection would
//! satisfy the whole conflict. So a conflict hits every such set, and a smallest set that hits all those found so far
//! is either a smallest conflict, or can hold together in a selection that yields one more set to hit (Ignatiev et
//! al., "Smallest MUS extraction with minimal hitting set dualization", 2015). If that takes too long, constraints
//! are left out one by one as long as the others still conflict.

use super::explain::{joined, stated, sum_in_words};
use super::form::{Constraint, Demand, Op};
use super::hitting::{Hitting, Subset};
use super::limits::SearchLimits;
use super::post::linear_terms;
use super::propagate::{Bounds, Linear};
use super::resolve::{Resolved, Weighted};
use super::search::Steps;
use super::solve::Tables;

/// Most steps of a search for a selection that violates fewer constraints than another. Such a search is only
/// worthwhile if it succeeds soon.
const FEWER_STEPS_MAX: u64 = 50_000;

/// Constraints that cannot hold together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Their ids, in the order of the problem. Empty if a slot has no candidate at all.
    pub constraints: Vec<String>,
    /// Whether the objective is a part of it, because candidates lack its fields.
    pub has_objective: bool,
    /// What is known of its size.
    pub size: ConflictSize,
    /// The conflict in the words of the task.
    pub words: String,
}

/// What is known about the size of a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictSize {
    /// No conflict has fewer constraints.
    Smallest,
    /// Without any one of its constraints the others can hold together, but there may be another conflict with fewer;
    /// a limit was reached, see [`SearchLimits`].
    Irreducible,
    /// It may have constraints that can be left out; a limit was reached before that was known.
    Unknown,
}

/// The result of checking whether constraints can hold together.
enum Tested {
    /// They can, in a selection that violates these others.
    Hold(Subset),
    Conflict,
    Undecided,
}

/// The conflict of a problem that has one.
pub(super) fn find(tables: &Tables, limits: &SearchLimits) -> Conflict {
    let steps = Steps { left: limits.conflict_steps };
    let mut tests = Tests { tables, left: limits.conflict_tests, steps };
    let (places, size) = match tests.smallest(limits.hitting_steps) {
        Some(places) => (places, ConflictSize::Smallest),
        None => {
            // As many again, so that a conflict is always reduced.
            tests.steps = steps;
            tests.irreducible()
        }
    };
    let all = tables.problem.constraints();
    // The index after the last constraint is that of the objective, which has no constraint here.
    let members: Vec<&Constraint> = places.places().filter_map(|place| all.get(place)).collect();
    let has_objective = places.has(all.len());
    Conflict {
        constraints: members.iter().map(|it| it.id.clone()).collect(),
        has_objective,
        size,
        words: words(tables, limits.conflict_steps, &places, &members, has_objective),
    }
}

struct Tests<'t> {
    tables: &'t Tables<'t>,
    left: u32,
    steps: Steps,
}

impl Tests<'_> {
    fn test(&mut self, places: &Subset) -> Tested {
        let outcome = self.tables.work(places.places()).search(&mut self.steps);
        match outcome.best {
            Some((chosen, _)) => Tested::Hold(self.tables.violated(&chosen)),
            None if outcome.is_proved => Tested::Conflict,
            None => Tested::Undecided,
        }
    }

    fn smallest(&mut self, mut steps: u64) -> Option<Subset> {
        let mut hitting = Hitting::default();
        loop {
            let places = hitting.smallest(&mut steps)?;
            self.left = self.left.checked_sub(1)?;
            match self.test(&places) {
                Tested::Conflict => return Some(places),
                // Single contradictory constraints are found sooner than by reducing sets.
                Tested::Hold(violated) if places.len() < 2 => hitting.add(violated),
                // A violated set is never empty: all constraints together conflict, so every selection violates one.
                Tested::Hold(violated) => hitting.add(self.fewer(violated)),
                Tested::Undecided => return None,
            }
        }
    }

    /// A part of the constraints that a selection violates, such that another selection violates just these: a
    /// smaller set says more about the position of a conflict. For each violated constraint in turn, the satisfied
    /// constraints are tried together with it.
    fn fewer(&mut self, mut violated: Subset) -> Subset {
        for place in 0..self.count() {
            if !violated.has(place) || self.left == 0 {
                continue;
            }
            self.left -= 1;
            let before = self.steps;
            self.steps.left = before.left.min(FEWER_STEPS_MAX);
            let granted = self.steps.left;
            // A selection that meets these can only violate a part of the others: the set shrinks by at least one.
            let met: Subset = (0..self.count()).filter(|it| *it == place || !violated.has(*it)).collect();
            if let Tested::Hold(of_other) = self.test(&met) {
                violated = of_other;
            }
            // A search that is cut off leaves no steps, so those it was not granted are given back here.
            self.steps.left = before.left - (granted - self.steps.left);
        }
        violated
    }

    /// The number of constraints, including the objective.
    fn count(&self) -> usize {
        self.tables.posted.len() + usize::from(self.tables.goal.is_some())
    }

    fn irreducible(&mut self) -> (Subset, ConflictSize) {
        let count = self.count();
        let mut conflict: Subset = (0..count).collect();
        let mut size = ConflictSize::Irreducible;
        for place in 0..count {
            let mut fewer = conflict;
            fewer.remove(place);
            // One pass is enough: a constraint that a larger conflict needs, a smaller one needs as well.
            match self.test(&fewer) {
                Tested::Conflict => conflict = fewer,
                Tested::Hold(_) => {}
                // The constraint stays, because it may be needed.
                Tested::Undecided => size = ConflictSize::Unknown,
            }
        }
        (conflict, size)
    }
}

impl Tables<'_> {
    /// The constraints that a selection violates, and the index of the objective if it lacks a field.
    fn violated(&self, chosen: &[Option<usize>]) -> Subset {
        let resolved = self.problem.resolved().iter().enumerate();
        let mut violated: Subset =
            resolved.filter(|(_, resolved)| !resolved.holds(chosen)).map(|(place, _)| place).collect();
        if !self.has_goal_fields(chosen) {
            violated.insert(self.posted.len());
        }
        violated
    }

    /// Whether all chosen candidates have the fields of the objective.
    fn has_goal_fields(&self, chosen: &[Option<usize>]) -> bool {
        use super::propagate::Posted;
        let Some((posted, _)) = &self.goal else { return true };
        posted.iter().all(|posted| match posted {
            Posted::Allowed { slot, set } => set.has(chosen[*slot].unwrap_or(self.shape[*slot].0)),
            _ => true,
        })
    }
}

fn words(
    tables: &Tables,
    steps_max: u64,
    places: &Subset,
    members: &[&Constraint],
    has_objective: bool,
) -> String {
    let mut names: Vec<String> = members.iter().map(|constraint| stated(constraint)).collect();
    if has_objective {
        names.push("the objective, which needs its fields".to_owned());
    }
    let what = match &names[..] {
        [] => {
            let slots = tables.problem.slots().iter();
            let empty = slots.filter(|slot| slot.candidates.is_empty() && !slot.is_optional);
            let empty: Vec<String> = empty.map(|slot| slot.name.clone()).collect();
            return format!("There is no candidate for {}.", joined(&empty));
        }
        [name] => format!("No choice meets this: {name}."),
        names => format!("These cannot hold together: {}.", joined(names)),
    };
    match reason(tables, steps_max, places, members) {
        Some(reason) => format!("{what} {reason}"),
        None => what,
    }
}

/// Why, where that is easy to say.
fn reason(tables: &Tables, steps_max: u64, places: &Subset, members: &[&Constraint]) -> Option<String> {
    let slots: Vec<&str> = members.iter().flat_map(|constraint| constraint.demand.slots()).collect();
    // If the conflict is about one slot alone, the number of its candidates is reason enough.
    if let Some((first, others)) = slots.split_first()
        && others.iter().all(|slot| slot == first)
    {
        let slot = tables.problem.slots().iter().find(|slot| slot.name == *first)?;
        let which = if members.len() == 1 { "it" } else { "them" };
        return Some(match slot.candidates.len() {
            1 => format!("The one candidate of {first} does not meet {which}."),
            count => format!("None of the {count} candidates of {first} meets {which}."),
        });
    }
    places.places().find_map(|place| {
        let constraint = tables.problem.constraints().get(place)?;
        let (Demand::Sum { terms, op, bound }, Resolved::Sum(sum)) =
            (&constraint.demand, tables.problem.resolved().get(place)?)
        else {
            return None;
        };
        let extreme = tables.extreme(steps_max, places, place, &sum.terms, *op)?;
        Some(sum_in_words(terms, *op, bound, extreme))
    })
}

impl Tables<'_> {
    /// The sum that comes closest to an upper or lower bound if the others of a conflict hold.
    fn extreme(
        &self,
        steps_max: u64,
        places: &Subset,
        place: usize,
        terms: &[Weighted],
        op: Op,
    ) -> Option<i128> {
        let is_upper = match op {
            Op::Less | Op::AtMost => true,
            Op::More | Op::AtLeast => false,
            Op::Equal | Op::NotEqual => return None,
        };
        let mut signed = terms.to_vec();
        // A search only minimises, so the largest sum is the smallest one of negated weights.
        if !is_upper {
            for weight in signed.iter_mut().flat_map(|term| term.weights.iter_mut().flatten()) {
                *weight = -*weight;
            }
        }
        let cost = Linear::new(linear_terms(&self.shape, &signed), Bounds::default());
        let needed = super::post::with_weights(&self.shape, terms);
        let mut others = *places;
        others.remove(place);
        let mut work = self.work(others.places());
        work.posted.extend(&needed);
        work.cost = Some(&cost);
        let outcome = work.search(&mut Steps { left: steps_max });
        // An unproved extreme would make the sentence false, so there is no sentence then.
        let (_, sum) = outcome.best.filter(|_| outcome.is_proved)?;
        let cost = cost.real(sum);
        Some(if is_upper { cost } else { -cost })
    }
}
