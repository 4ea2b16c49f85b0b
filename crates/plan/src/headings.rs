//! The marks that divide a prompt for a plan, and a reply to it. (The marks are those of m&m's, the sentences ours.)
//! The authors of such prompts and the simulations that answer them share only these.

/// Before the list of tools.
pub const TOOLS: &str = "# TOOL LIST #:";

/// Before what is wanted.
pub const GOAL: &str = "# GOAL #:";

/// Before what a plan has to be.
pub const REQUIREMENTS: &str = "# REQUIREMENTS #:";

/// Before an example and its number.
pub const EXAMPLE: &str = "# EXAMPLE #:";

/// Precedes the request that a plan is for.
pub const REQUEST: &str = "# USER REQUEST #:";

/// Before the plan.
pub const RESULT: &str = "# RESULT #:";

/// Precedes the reason for a step, with its number.
pub const THOUGHT: &str = "THOUGHT";

/// Before a step, and its number.
pub const ACTION: &str = "ACTION";

/// Precedes the result of a step, with its number.
pub const OBSERVATION: &str = "OBSERVATION";

/// The reply of a model that is done, or gives up.
pub const TERMINATE: &str = "TERMINATE";

/// Asks for a whole plan as JSON.
pub const WHOLE_JSON: &str = include_str!("../prompts/whole_json.txt").trim_ascii_end();

/// Asks for a whole plan as a program.
pub const WHOLE_CODE: &str = include_str!("../prompts/whole_code.txt").trim_ascii_end();

/// Asks for the next step as JSON.
pub const STEP_JSON: &str = include_str!("../prompts/step_json.txt").trim_ascii_end();

/// Asks for the next step as a line of a program.
pub const STEP_CODE: &str = include_str!("../prompts/step_code.txt").trim_ascii_end();
