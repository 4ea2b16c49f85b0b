//! Typed constraints over a plan: checking, solving, explaining, counting and repairing.
//!
//! A plan executes *variables*, one for each action. A [`Problem`] is a number of variables and a list of
//! [`Constraint`]s between them, each with its *source* (opaque to this crate; callers can use it to point at the
//! origin). A *sequence* names variables in the order of their execution; it is *correct* if it names every variable
//! exactly once and every constraint holds.
//!
//! | question | answer |
//! |---|---|
//! | Can all constraints hold together, and if not, which ones cannot? | [`Problem::order`], [`Conflict`] |
//! | What is a correct sequence? | [`Problem::solve`] |
//! | Which constraints does an execution satisfy? | [`Problem::check`], [`Execution`] |
//! | Where did a sequence go wrong for good, and because of what? | [`Order::first_wrong`], [`Problem::blocking`] |
//! | What may come next? | [`Order::correct_next`] |
//! | How many correct sequences are there? | [`Order::count_sequences`] |
//! | What is the nearest correct sequence? | [`Order::nearest`] |
//! | Is there one conflict alone between groups of constraints? | [`sole_conflict`] |
//!
//! Order constraints alone are a graph, so none of this searches: an [`Order`] updates the reachability of the graph
//! with each constraint, and refuses a cycle immediately. It uses no heap, because synthesis makes several for each
//! case.
//!
//! A [`TimedProblem`] adds durations, a day, and bounds on starts and ends; its variables never overlap. It answers
//! the same questions for schedules, through a [`Timetable`] instead of the `Order`. It does search, so each of its
//! answers can also be [`UndecidedSchedule`].
//!
//! The module [`choice`] is not about orders: it chooses one candidate for each slot of a task, so that constraints
//! between their fields hold. It has its own terms.
//!
//! The crate does no IO, reads no clock and draws no randomness: the same input gives the same answer everywhere.
//!
//! ```
//! use planproof_constraint::{Constraint, Problem, Relation, Variable};
//!
//! let [pack, pay, ship] = [0, 1, 2].map(Variable::new);
//! let before = |first, second, source| Constraint { relation: Relation::Before { first, second }, source };
//! let mut constraints = vec![before(pay, ship, "pay before you ship"), before(pack, ship, "pack, then ship")];
//!
//! let problem = Problem::new(3, constraints.clone())?;
//! assert_eq!(problem.solve()?, [pack, pay, ship]);
//! assert_eq!(problem.order()?.count_sequences(), Some(2));
//! assert_eq!(problem.blocking(&[pack, ship, pay]), Some((1, vec![0])));
//!
//! constraints.push(before(ship, pay, "pay when it has shipped"));
//! let conflict = Problem::new(3, constraints)?.solve().expect_err("paying cannot be both first and last");
//! assert_eq!(conflict.constraints, [0, 2]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Module layout
//!
//! Incremental reachability (`order.rs`), shortest cycles (`cycle.rs`), counting of correct sequences (`count.rs`),
//! the nearest correct sequence (`repair.rs`), executions (`execution.rs`), the sole conflict of groups of
//! constraints (`conflict.rs`), and problems whose constraints have an opaque source (`problem.rs`). The same with
//! durations and windows, one variable at a time within a day (`timed.rs`): timed problems and their conflicts
//! (`timed/problem.rs`), the search for a schedule (`timed/search.rs`), timetables (`timed/timetable.rs`), counts
//! (`timed/count.rs`), equivalence of timetables (`timed/equivalence.rs`), and the nearest correct schedule
//! (`timed/repair.rs`). The shape of an order without names is in `shape.rs`. The head of `choice.rs` lists the files
//! of choosing.

// What others build on is described to the last field.
#![warn(missing_docs)]

pub mod choice;
mod conflict;
mod count;
mod cycle;
mod execution;
mod order;
mod problem;
mod repair;
mod shape;
mod timed;
mod variable;

pub use conflict::{GROUPS_MAX, GroupConflict, sole_conflict};
pub use count::COUNTED_VARIABLES_MAX;
pub use execution::{Execution, Status};
pub use order::{Cycle, Order};
pub use problem::{Conflict, Constraint, Problem, ProblemError, Relation};
pub use shape::{SHAPE_VARIABLES_MAX, Shape};
pub use timed::{
    COUNTED_STATES_MAX, Day, MINUTE_MAX, Nearest, REPAIR_STEPS_MAX, REPAIR_TESTS_MAX, SEARCH_STEPS_MAX,
    StartTime, TimedProblem, TimedProblemError, TimedRelation, Timetable, UndecidedSchedule,
};
pub use variable::{VARIABLES_MAX, Variable, variables_in};
