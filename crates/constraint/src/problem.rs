//! Problems: constraints that remember where they come from.

use crate::cycle::shortest_cycle;
use crate::{Execution, Order, Status, VARIABLES_MAX, Variable};

/// The demand of a constraint. A match outside this crate needs a wildcard: kinds that involve time may be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Relation {
    /// `first` has ended before `second` starts.
    Before {
        /// The variable that comes first.
        first: Variable,
        /// The variable that comes second.
        second: Variable,
    },
}

/// A demand, and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Constraint<S> {
    /// The demand.
    pub relation: Relation,
    /// The words, file or rule that states it; opaque to this crate.
    pub source: S,
}

/// Why there is no such problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProblemError {
    /// More variables than fit into a machine word.
    #[error("{given} variables are too many: at most {limit} are supported; split the plan")]
    TooManyVariables {
        /// How many there are.
        given: usize,
        /// [`VARIABLES_MAX`].
        limit: usize,
    },
    /// A constraint names a variable that is not in the problem.
    #[error(
        "constraint {constraint} names variable {variable}, but the {variables} variables are counted from 0"
    )]
    VariableOutOfRange {
        /// The index of the constraint.
        constraint: usize,
        /// The index of the variable.
        variable: usize,
        /// How many variables there are.
        variables: usize,
    },
}

/// Constraints that cannot hold together.
///
/// The set is a smallest one: without any of its members the others can hold together, and no set with fewer members
/// is in conflict. With order constraints it is a cycle, given in the order of the cycle from its variable with the
/// smallest id: each constraint's `second` is the next one's `first`. If there are several smallest cycles, the
/// choice is deterministic.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the constraints {constraints:?} cannot hold together; drop one of them")]
pub struct Conflict {
    /// Indexes into [`Problem::constraints`].
    pub constraints: Vec<usize>,
}

/// Variables and the constraints between them. `S` is the type of the constraints' sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem<S> {
    variables: usize,
    constraints: Vec<Constraint<S>>,
}

impl<S> Problem<S> {
    /// A problem of `variables` variables, which constraints name by index from 0. The constraints need not be
    /// satisfiable.
    ///
    /// # Errors
    ///
    /// [`ProblemError`] if there are more than [`VARIABLES_MAX`] variables, or a constraint names one that is out of
    /// range.
    pub fn new(variables: usize, constraints: Vec<Constraint<S>>) -> Result<Self, ProblemError> {
        if variables > VARIABLES_MAX {
            return Err(ProblemError::TooManyVariables { given: variables, limit: VARIABLES_MAX });
        }
        for (index, constraint) in constraints.iter().enumerate() {
            let Relation::Before { first, second } = constraint.relation;
            if let Some(variable) = [first, second].iter().find(|variable| variable.index() >= variables) {
                let variable = variable.index();
                return Err(ProblemError::VariableOutOfRange { constraint: index, variable, variables });
            }
        }
        Ok(Self { variables, constraints })
    }

    /// The number of variables.
    pub fn variables(&self) -> usize {
        self.variables
    }

    /// The constraints, as they were given.
    pub fn constraints(&self) -> &[Constraint<S>] {
        &self.constraints
    }

    /// The order that all constraints together define. Takes O(n) word operations for each constraint.
    ///
    /// # Errors
    ///
    /// [`Conflict`], a smallest one, if the constraints cannot hold together.
    pub fn order(&self) -> Result<Order, Conflict> {
        let mut order = Order::of_checked(self.variables);
        for (first, second) in self.pairs() {
            if order.try_before(first, second).is_err() {
                // The pairs not yet added count as well: they can close a shorter cycle.
                let pairs: Vec<_> = self.pairs().collect();
                return Err(Conflict { constraints: shortest_cycle(self.variables, &pairs) });
            }
        }
        Ok(order)
    }

    /// The lexicographically smallest correct sequence.
    ///
    /// # Errors
    ///
    /// [`Conflict`], a smallest one, if there is no correct sequence.
    pub fn solve(&self) -> Result<Vec<Variable>, Conflict> {
        self.order().map(|order| order.first_sequence())
    }

    /// The status of each constraint in an execution, in the order of the constraints. `Before` is satisfied if its
    /// `first` had ended before its `second` started: calls that overlap, or touch, violate it.
    pub fn check(&self, execution: &Execution) -> Vec<Status> {
        self.pairs().map(|(first, second)| execution.before(first, second)).collect()
    }

    /// The index of the first call after which no correct continuation exists (see [`Order::first_wrong`]), with the
    /// indices of an inclusion-minimal set of constraints that no continuation could have satisfied; `None` if the
    /// calls can still become a correct sequence.
    ///
    /// The set is one constraint, the one with the smallest index that demands an unexecuted predecessor of this
    /// call: whatever follows, the call was made too early. It is minimal because the empty set forbids nothing. It
    /// is the right call because, if all direct predecessors of a call were executed but an indirect one was not,
    /// then a call in between was already wrong.
    ///
    /// In a conflicting problem no sequence is correct from the start; the answer is then about the first call that
    /// violates a constraint.
    pub fn blocking(&self, calls: &[Variable]) -> Option<(usize, Vec<usize>)> {
        let mut done = 0;
        for (index, call) in calls.iter().enumerate() {
            let unmet = |(first, second): (Variable, Variable)| second == *call && done & first.bit() == 0;
            if let Some(constraint) = self.pairs().position(unmet) {
                return Some((index, vec![constraint]));
            }
            done |= call.bit();
        }
        None
    }

    /// The pair of each constraint, in the order of the constraints.
    fn pairs(&self) -> impl Iterator<Item = (Variable, Variable)> {
        self.constraints.iter().map(|constraint| {
            let Relation::Before { first, second } = constraint.relation;
            (first, second)
        })
    }
}
