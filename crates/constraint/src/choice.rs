//! Choosing among candidates, so that constraints hold provably.
//!
//! The candidates are given: flights, hotels, meals, each a flat record of fields. A [`Problem`] has a [`Slot`] for
//! each thing that is needed, with its candidates, and [`Constraint`]s in the words of a task, each with a checkable
//! [`Demand`]: sums, counts, comparisons, differences of times, membership, all different, all the same, implication.
//! A [`Selection`] has one candidate for each slot, or none for an optional one.
//!
//! | question | answer |
//! |---|---|
//! | Which selection meets all constraints, at the least cost? | [`Problem::solve`], [`SolvedChoice`] |
//! | If none does, which constraints cannot hold together? | [`Conflict`], as few as possible |
//! | What does a selection meet and violate, and why? | [`Problem::check`], [`ConstraintVerdict`] |
//! | Is a candidate right as far as it alone can be? | [`Problem::check_local`] |
//! | Which correct selection is nearest to a wrong one? | [`Problem::nearest`] |
//! | What is wrong with a problem that a model wrote? | [`read_task`], [`Faults`] |
//!
//! Whether a constraint is *local* (about one slot alone) or *global* is computed, not stated.
//!
//! # What is compared with what
//!
//! Numbers are exact decimals, and times integer minutes. Values that are ordered or added may be numbers, texts with
//! a number and a unit, or times, and all values of one constraint need the same unit and form; values that are only
//! compared for equality need the same kind, and texts are equal letter for letter. Anything else is a fault that
//! names slot, candidate and constraint, as is a field that no candidate has. If just *one* candidate lacks a field,
//! that is no fault: the candidate violates every constraint on the field. An empty slot satisfies every demand and
//! adds nothing.
//!
//! ```
//! use planproof_constraint::choice::{ChoiceAnswer, read_task};
//!
//! let task = read_task(r#"{
//!     "slots": {
//!         "flight": [{"to": "Rome", "price": 320}, {"to": "Milan", "price": 180}],
//!         "hotel": [{"city": "Rome", "price": 150}, {"city": "Milan", "price": 400}, {"city": "Rome", "price": 95.5}]
//!     },
//!     "constraints": [
//!         {"id": "city", "text": "sleep where you land", "kind": "compare",
//!          "left": "hotel.city", "op": "==", "right": "flight.to"},
//!         {"id": "budget", "text": "no more than 450 dollars", "kind": "sum",
//!          "terms": ["flight.price", "hotel.price"], "op": "<=", "bound": 450}
//!     ],
//!     "objective": {"minimise": ["flight.price", "hotel.price"]}
//! }"#)?;
//! let ChoiceAnswer::Solved(solved) = task.problem.solve(&task.objective)? else { panic!("there is a selection") };
//! assert_eq!(solved.selection.chosen, [Some(0), Some(2)]);
//! assert_eq!(solved.cost.map(|cost| cost.to_string()).as_deref(), Some("415.5"));
//!
//! let dear = task.problem.selection([("flight", Some(0)), ("hotel", Some(0))])?;
//! assert_eq!(
//!     task.problem.check(&dear)?[1].words,
//!     "The sum of flight.price and hotel.price is 470, more than 450 (budget: \"no more than 450 dollars\")."
//! );
//! # Ok::<(), planproof_constraint::choice::Faults>(())
//! ```
//!
//! # Module layout
//!
//! Exact numbers (`number.rs`), times (`time.rs`), values and their units (`value.rs`); the parts of a problem
//! (`form.rs`), its limits (`limits.rs`), its JSON (`read.rs`, `strict.rs`), and its faults (`fault.rs`). Names
//! become indices and values integers (`resolve.rs`); a problem checks selections by these tables (`problem.rs`) and
//! explains the result (`explain.rs`). For choosing, each table is posted (`post.rs`) as a propagator
//! (`propagate.rs`), which removes values from domains (`domain.rs`), all sums are combined into an additional one
//! (`surrogate.rs`), and branch and bound does the rest (`search.rs`, `solve.rs`). The smallest conflict
//! (`conflict.rs`) is found by smallest hitting sets (`hitting.rs`).

mod conflict;
mod domain;
mod explain;
mod fault;
mod form;
mod hitting;
mod limits;
mod number;
mod post;
mod problem;
mod propagate;
mod read;
mod resolve;
mod search;
mod solve;
mod strict;
mod surrogate;
mod time;
mod value;

pub use conflict::{Conflict, ConflictSize};
pub use fault::{ChoiceFault, ChoiceFaultKind, ChoiceSite, Faults};
pub use form::{Condition, Constraint, Demand, Moment, Objective, Op, Slot, SlotField, Term, ValueTest};
pub use limits::{
    CANDIDATES_MAX, CANDIDATES_TOTAL_MAX, CELLS_MAX, CONFLICT_STEPS_MAX, CONFLICT_TESTS_MAX, CONSTRAINTS_MAX,
    FACTOR_MAX, FAULTS_MAX, FAULTS_SHOWN_MAX, HITTING_STEPS_MAX, JSON_BYTES_MAX, LIST_MAX, MINUTES_MAX,
    NAME_CHARACTERS_MAX, RECORD_FIELDS_MAX, SEARCH_STEPS_MAX, SLOTS_MAX, SearchLimits, TERMS_MAX,
    WORDS_CHARACTERS_MAX,
};
pub use number::{DECIMALS_MAX, NUMBER_MAX, Number, NumberFault};
pub use problem::{ChoiceProblem, ConstraintVerdict, Selection};
pub use read::{ChoiceTask, read_constraint, read_record, read_task, read_task_json};
pub use solve::{Amount, ChoiceAnswer, SolvedChoice, UndecidedChoice};
pub use time::TimeNotation;
pub use value::{FieldValue, Record};
