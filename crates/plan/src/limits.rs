//! Limits on replies. Exceeding one is a [`ParseFault`](crate::ParseFault) that names the limit.

/// The longest reply, in bytes. Reading one takes time in proportion to its length; 10,000 steps take about 1 MB.
pub const TEXT_BYTES_MAX: usize = 4 << 20;

/// The most steps of a plan. This many are read and verified in well under a second.
pub const STEPS_MAX: usize = 10_000;

/// The deepest nesting of lists, objects, brackets, blocks and operands. Each level costs a reader some hundred bytes
/// of stack, and a parser of Python some thousands.
pub const NESTING_MAX: usize = 60;

/// The longest chain of operators, attributes, calls and subscripts in Python, in lexemes: `a + b + c` has five. Such
/// a chain is parsed in a loop, but becomes a tree as deep as it is long.
pub const CHAIN_LEXEMES_MAX: usize = 1_000;

/// The most sub-tasks of a graph that is read from a reply.
pub const SUB_TASKS_MAX: usize = 100;

/// The longest id of a sub-task, in characters.
pub const ID_CHARACTERS_MAX: usize = 60;

/// The longest text of a sub-task, in characters: more than the longest query that planproof writes, because a
/// sub-task may be the whole query.
pub const TASK_CHARACTERS_MAX: usize = 16_000;

/// The longest words of a constraint, in characters.
pub const CONSTRAINT_CHARACTERS_MAX: usize = 1_000;

/// The most constraints of a sub-task, and the most global ones of a graph.
pub const CONSTRAINTS_MAX: usize = 50;

/// The longest typed form of a constraint, in bytes of JSON without blanks.
pub const TYPED_BYTES_MAX: usize = 10_000;

/// The most executors of a team.
pub const EXECUTORS_MAX: usize = 50;

/// The longest name of an executor, in characters.
pub const EXECUTOR_NAME_CHARACTERS_MAX: usize = 60;

/// The most bytes of an executor's description, and of its instructions.
pub const EXECUTOR_TEXT_BYTES_MAX: usize = 16 * 1024;

/// The most faults of a graph that are listed; the others are counted.
pub const GRAPH_FAULTS_MAX: usize = 30;
