//! The replies of a simulated model that does not understand a request. They are in words, because model interfaces
//! carry nothing else, and the caller has to know.

/// The reply if there is nothing to do.
pub const NO_TASKS: &str = "I find no tasks with an order in this request that my tools could do.";

/// The reply if it cannot tell what it has done.
pub const FOREIGN_TURNS: &str = "I do not understand my turns in this conversation.";

/// Whether a simulated model says with this text that it does not understand the request.
pub fn is_at_a_loss(text: &str) -> bool {
    [NO_TASKS, FOREIGN_TURNS].contains(&text.trim())
}
