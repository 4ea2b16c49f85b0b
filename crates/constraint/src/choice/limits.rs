//! Limits on the size of a problem and on its search.

/// The most slots of a problem.
pub const SLOTS_MAX: usize = 64;
/// The most candidates of a slot.
pub const CANDIDATES_MAX: usize = 10_000;
/// The most candidates of all slots together.
pub const CANDIDATES_TOTAL_MAX: usize = 100_000;
/// The most fields of a candidate.
pub const RECORD_FIELDS_MAX: usize = 100;
/// The most texts of a value that is a list.
pub const LIST_MAX: usize = 200;
/// The most constraints of a problem.
pub const CONSTRAINTS_MAX: usize = 256;
/// The most terms of a sum, fields of a count, and values of a test.
pub const TERMS_MAX: usize = 256;
/// The most values that all constraints use together: a constraint uses the field of each candidate of its slots.
pub const CELLS_MAX: usize = 2_000_000;
/// The largest absolute value of a term's factor.
pub const FACTOR_MAX: i64 = 1_000_000;
/// The most minutes in a time constraint, about 19 years.
pub const MINUTES_MAX: i32 = 10_000_000;
/// The most characters of the name of a slot or field, and of the id of a constraint.
pub const NAME_CHARACTERS_MAX: usize = 100;
/// The most characters of the words of a constraint.
pub const WORDS_CHARACTERS_MAX: usize = 2_000;
/// The most bytes of JSON that are read.
pub const JSON_BYTES_MAX: usize = 16 << 20;
/// The most faults that are collected from a text.
pub const FAULTS_MAX: usize = 1_000;
/// The most faults that a message lists.
pub const FAULTS_SHOWN_MAX: usize = 30;

/// The most steps of a search: some seconds. Running a constraint again, after a domain has changed, takes a step for
/// each of its slots, and another for every 64 candidates that it examines.
pub const SEARCH_STEPS_MAX: u64 = 25_000_000;
/// The most searches for the smallest conflict. Beyond that a conflict is reduced by leaving constraints out.
pub const CONFLICT_TESTS_MAX: u32 = 1_000;
/// The most steps of all searches for a conflict together.
pub const CONFLICT_STEPS_MAX: u64 = 50_000_000;
/// The most steps of choosing constraints to try as the smallest conflict.
pub const HITTING_STEPS_MAX: u64 = 1_000_000;

/// Limits of searches; by default [`SEARCH_STEPS_MAX`] and the related constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchLimits {
    /// Steps of the search for a selection.
    pub search_steps: u64,
    /// Searches for the smallest conflict.
    pub conflict_tests: u32,
    /// Steps of all searches for a conflict together.
    pub conflict_steps: u64,
    /// Steps of choosing constraints to try as the smallest conflict.
    pub hitting_steps: u64,
}

impl Default for SearchLimits {
    fn default() -> Self {
        Self {
            search_steps: SEARCH_STEPS_MAX,
            conflict_tests: CONFLICT_TESTS_MAX,
            conflict_steps: CONFLICT_STEPS_MAX,
            hitting_steps: HITTING_STEPS_MAX,
        }
    }
}
