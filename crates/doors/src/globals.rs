//! What all commands have.

/// The options of all commands that those of suites read.
#[derive(Debug, Clone, Copy)]
pub struct Globals {
    /// Results are for programs: one JSON document, or JSON lines.
    pub json: bool,
    /// No progress is shown.
    pub quiet: bool,
    /// The seed of all random draws.
    pub seed: u64,
}
