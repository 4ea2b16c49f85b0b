//! How much of a reply is read. Whatever goes beyond is a [`ParseFault`](crate::ParseFault) that names the limit.

/// The longest reply, in bytes. Reading one takes time in proportion to its length; 10,000 steps take about 1 MB.
pub const TEXT_BYTES_MAX: usize = 4 << 20;

/// The most steps of a plan. So many are read and verified in well under a second.
pub const STEPS_MAX: usize = 10_000;

/// How deep lists, objects, brackets, blocks and operands may stand in each other. Each level costs a reader some
/// hundred bytes of stack, a parser of Python some thousands.
pub const NESTING_MAX: usize = 60;

/// The longest chain of operators, attributes, calls and subscripts in Python, in lexemes: `a + b + c` has five. Such
/// a chain is read in a loop, but becomes a tree as deep as it is long.
pub const CHAIN_LEXEMES_MAX: usize = 1_000;
