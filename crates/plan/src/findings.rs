//! The words by which a trace says how a plan came about: sections with these states and notes. Who plans writes them,
//! and who judges plans reads them.

/// The state of a section of the model that is its plan, as it is from then on.
pub const PLAN: &str = "plan";

/// The state of a section that says whether a reply could be read.
pub const PARSING: &str = "parsing";

/// The state of a section that says whether a plan fits the tools.
pub const VERIFICATION: &str = "verification";

/// The state of a section that says how carrying out a plan went. The last one is of the plan that is answered with.
pub const EXECUTION: &str = "execution";

/// The note of a section in which all went well.
pub const FINE: &str = "fine";

/// The note of a section in which something is wrong.
pub const FAULTY: &str = "faulty";

/// The note of an execution that says nothing of the plan, because the sandbox lacks what the program uses.
pub const UNSUPPORTED: &str = "unsupported";
