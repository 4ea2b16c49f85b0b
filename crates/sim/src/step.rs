//! A turn of a simulated model.

/// What it says at the end of its plan.
pub(crate) const ALL_DONE: &str = "All tasks are done.";

/// One turn. Small, because the scripts of thousands of runs are kept at once: tools are identified by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Call {
        /// Its place among the request's tools.
        tool: u16,
        /// The start of the task, in minutes from midnight, if the tool takes one.
        start: Option<u16>,
        /// What goes wrong with the call.
        slip: Slip,
        /// The sentences that it reports, a bit for each; none if it is not a report.
        sentences: u64,
    },
    Say(&'static str),
}

/// How a call is written wrongly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slip {
    None,
    /// With a name that no tool has.
    WrongName,
    /// With an unexpected argument; without arguments if the tool requires some.
    ExtraArgument,
    /// With a start that is not a clock time.
    NoClockTime,
}
