//! A turn of a simulated model.

/// What it says at the end of its plan.
pub(crate) const ALL_DONE: &str = "All tasks are done.";

/// One turn. Small, because the scripts of thousands of runs are kept at once: tools are named by their place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Call a tool.
    Call {
        /// Its place among the request's tools.
        tool: u16,
        /// When the task starts, in minutes from midnight, where the tool takes that.
        start: Option<u16>,
        /// What goes wrong with the call.
        slip: Slip,
        /// The sentences that it reports, a bit for each; none where it does something else.
        sentences: u64,
    },
    /// Finish.
    Say(&'static str),
}

/// How a call is written wrongly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slip {
    /// Not at all.
    None,
    /// With a name that no tool has.
    WrongName,
    /// With an argument that is not wanted; with none, where the tool wants some.
    ExtraArgument,
    /// With a start that is no clock time.
    NoClockTime,
}
