//! The limits of this crate. Reaching one is an outcome of its own: [`Code::LimitExceeded`](crate::Code::LimitExceeded)
//! for a specification, [`RunFailure`](crate::RunFailure) for a run.

/// Bytes of a source. Longer ones are refused unread.
pub const SOURCE_BYTES_MAX: usize = 1 << 20;
/// Nesting depth of lists. Everything that traverses a formula recurses, so this bounds the stack.
pub const NESTING_MAX: usize = 100;
/// Diagnostics of one source; the rest is left out, and a last diagnostic says so.
pub const DIAGNOSTICS_MAX: usize = 100;
/// States of a specification.
pub const STATES_MAX: usize = 256;
/// Bytes of a state's prompt.
pub const PROMPT_BYTES_MAX: usize = 200;
/// `:require` formulas of a specification.
pub const REQUIREMENTS_MAX: usize = 64;
/// The largest number in `:min`, `:max` and `at-most`.
pub const COUNT_MAX: u32 = 1000;
/// Kinds of calls that requirements distinguish. A tool with n patterns that have predicates makes up to 2^n kinds.
pub const CALL_KINDS_MAX: usize = 256;
/// Positions of an automaton, including intermediate ones.
pub const POSITIONS_MAX: usize = 20_000;
/// Elementary steps of compiling one automaton: about half a second. The checks of its language have the same limit
/// again; a check that needs more is left out, with a warning.
pub const COMPILE_STEPS_MAX: u64 = 20_000_000;
/// Sets of requirements tried in the search for a smallest conflicting one. Beyond that the set is minimal (none of
/// its members can be left out), but a smaller one might exist.
pub const CONFLICT_TRIES_MAX: usize = 2000;
/// Regular expressions of a specification.
pub const PATTERNS_MAX: usize = 64;
/// Bytes of the tables of one content rule's regular expression.
pub const REGEX_BYTES_MAX: usize = 1 << 20;
/// Bytes of an exported grammar.
pub const EXPORT_BYTES_MAX: usize = 4 << 20;
/// Bytes of all intermediate parts of an exported regular expression, which are many times as long as the result for
/// behaviours in which each state leads to each other.
pub const EXPORT_BUILT_BYTES_MAX: usize = 256 << 20;
/// Bytes of a file of rules.
pub const RULES_BYTES_MAX: usize = 4 << 20;
/// Rules of a file.
pub const RULES_MAX: usize = 10_000;
/// Events that one rule distinguishes: its automaton has a symbol for each set of them.
pub const RULE_EVENTS_MAX: usize = 8;
/// Values of `per` that a session remembers for a rule.
pub const RULE_INSTANCES_MAX: usize = 100_000;
/// Values that a session remembers for an argument that has to come from an earlier result.
pub const RULE_VALUES_MAX: usize = 100_000;
/// Positions looked at, for one rule, to find what the results of pending calls can lead to. Beyond, the call is
/// rejected.
pub const RULE_FORESIGHT_MAX: usize = 10_000;
/// Sessions looked at in a search for one that violates a rule.
pub const RULE_SEARCH_MAX: usize = 5_000;
/// Calls of one tool of which right sessions are put together.
pub const RULE_CALLS_MAX: usize = 100;
/// Arguments of one tool that are tried to find them.
pub const RULE_CALLS_TRIED_MAX: usize = 20_000;
/// Values that are tried at one place of the arguments.
pub const RULE_PLACE_VALUES_MAX: usize = 40;
/// Values of one place, times tests of it, that are looked at to find those that are tried.
pub const RULE_PLACE_STEPS_MAX: usize = 100_000;
/// Regular expressions on one place of which it is found out which some text matches together.
pub const RULE_TEXT_PATTERNS_MAX: usize = 16;
/// Positions of the product of their automata that are gone through for it.
pub const RULE_TEXT_POSITIONS_MAX: usize = 3_000;
/// Values of each class that are tried at places whose values are compared with one another.
pub const RULE_EQUALS_MAX: usize = 8;
/// Arguments, and results, of one tool that are tried in the review of rules.
pub const RULE_SAMPLES_MAX: usize = 64;
/// Sample calls of all tools with their outcomes.
pub const RULE_SAMPLE_CALLS_MAX: usize = 1_000;
/// Rules whose relations are looked for.
pub const RULES_REVIEWED_MAX: usize = 100;
/// Rules of which each is looked at alone, where there are too many sessions to look at all rules together.
pub const RULES_SINGLE_MAX: usize = 32;
/// Rules of which each two are looked at, where there are too many sessions to look at all rules together.
pub const RULES_PAIRED_MAX: usize = 12;
/// Rules of which each three are looked at, where there are too many sessions to look at all rules together.
pub const RULES_TRIPLED_MAX: usize = 6;
/// Calls of the sessions by which the rules of a file are shown. Rules beyond that are shown without a session.
pub const EXAMPLE_CALLS_MAX: usize = 5_000;
