//! What a simulated model says where it does not understand what it is asked. It says so in words, because
//! nothing else of it passes through the interfaces of models, and whoever serves it has to know.

/// What it says where it has nothing to do.
pub const NO_TASKS: &str = "I find no tasks with an order in this request that my tools could do.";

/// What it says where it cannot tell what it has done.
pub const FOREIGN_TURNS: &str = "I do not understand my turns in this conversation.";

/// Whether a simulated model says with this that it does not understand what it is asked.
pub fn is_at_a_loss(text: &str) -> bool {
    [NO_TASKS, FOREIGN_TURNS].contains(&text.trim())
}
