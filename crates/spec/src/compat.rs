//! Which implementation is followed where the published one differs.

/// Which details of the published implementation to follow where it differs from the paper, or from ours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Compat {
    /// Ours: the paper's rules and, where it is silent, those in the documentation of this crate.
    #[default]
    Ours,
    /// The published code's:
    ///
    /// - states of the environment need no handler (its specifications have none);
    /// - prompts are recognised regardless of case;
    /// - the environment's text is split at prompts like the model's, so it can move the agent;
    /// - the longest common prefix of the next prompts is written after the environment's text;
    /// - text without any prompt is answered with the prompt of the first state that may come next, with states
    ///   that leave a loop before those that stay in it;
    /// - a tool's name is also found within longer text, and if none is found the first tool is taken;
    /// - in [`Walk`](crate::Walk), after the end of the formula the states that could begin it may come once more,
    ///   to mark the end.
    Original,
}
