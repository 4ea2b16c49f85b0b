//! The words by which a trace records how a plan came about: sections with these states and notes. Planning agents
//! write them, and judges of plans read them.

/// The state of a section with the model's plan as it is from then on.
pub const PLAN: &str = "plan";

/// The state of a section about whether a reply could be read.
pub const PARSING: &str = "parsing";

/// The state of a section about whether a plan fits the tools.
pub const VERIFICATION: &str = "verification";

/// The state of a section about the execution of a plan. The last one belongs to the final plan.
pub const EXECUTION: &str = "execution";

/// The note of a section without faults.
pub const FINE: &str = "fine";

/// The note of a section with faults.
pub const FAULTY: &str = "faulty";

/// The words that begin the text of an execution section if the program raised an exception, whose name follows.
pub const RAISED: &str = "the program raised ";

/// The same if the program reached a limit of the sandbox.
pub const LIMIT_REACHED: &str = "the program reached the limit of its ";

/// The note of an execution that says nothing about the plan, because the sandbox lacks a feature that the program
/// uses.
pub const UNSUPPORTED: &str = "unsupported";
