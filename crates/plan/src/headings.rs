//! The marks by which a prompt that asks for a plan is divided, and a reply to it. (The marks are those of m&m's, the
//! sentences ours.) Who writes such prompts and who answers them in a simulation share these alone.

/// Before the list of tools.
pub const TOOLS: &str = "# TOOL LIST #:";

/// Before what is wanted.
pub const GOAL: &str = "# GOAL #:";

/// Before what a plan has to be.
pub const REQUIREMENTS: &str = "# REQUIREMENTS #:";

/// Before an example and its number.
pub const EXAMPLE: &str = "# EXAMPLE #:";

/// Before the request that a plan is for.
pub const REQUEST: &str = "# USER REQUEST #:";

/// Before the plan.
pub const RESULT: &str = "# RESULT #:";

/// Before why a step is taken, and its number.
pub const THOUGHT: &str = "THOUGHT";

/// Before a step, and its number.
pub const ACTION: &str = "ACTION";

/// Before what a step gave, and its number.
pub const OBSERVATION: &str = "OBSERVATION";

/// What a model writes that is done, or gives up.
pub const TERMINATE: &str = "TERMINATE";

/// Asks for a whole plan as JSON.
pub const WHOLE_JSON: &str = "Write the whole plan as strict JSON, {\"nodes\": [...]}, and nothing else.";

/// Asks for a whole plan as a program.
pub const WHOLE_CODE: &str = "Write the whole plan as one Python program, a function solve() between ```python and ```, and nothing else.";

/// Asks for the next step as JSON.
pub const STEP_JSON: &str = "Write THOUGHT 0 and ACTION 0 alone: the first step as one JSON node. You will see what it gives, and are asked for the next.";

/// Asks for the next step as a line of a program.
pub const STEP_CODE: &str = "Write THOUGHT 0 and ACTION 0 alone: the first step as one line of Python between ```python \
                             and ```. You will see what it gives, and are asked for the next.";
