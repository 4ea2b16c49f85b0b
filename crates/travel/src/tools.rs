//! The tools of the sandbox, as functions over the tables that return text.
//!
//! # Module layout
//!
//! Tables as text (`tools/frame.rs`), searches (`tools/search.rs`), the notebook into which results are written
//! (`tools/notebook.rs`), the cost of a day (`tools/cost.rs`), actions such as `CitySearch[Texas]`
//! (`tools/action.rs`), and all of them together (`tools/sandbox.rs`).
//!
//! Texts are those of the published tools, because agents are prompted for them. The right mode differs in three
//! ways: a city without accommodation is not reported as a city without attractions, an unknown state is a failure
//! instead of a success, and a date must be a valid calendar date.

mod action;
mod cost;
mod frame;
mod notebook;
mod sandbox;
mod search;

pub use action::{INVALID_ACTION, ToolAction};
pub use cost::cost_enquiry;
pub use notebook::{MAX_TOKENS_EXCEEDED, Notebook, NotebookEntry, PLANNER_TOKENS_MAX};
pub use sandbox::TripTools;
pub use search::{
    accommodation_search, attraction_search, city_search, distance_matrix, flight_search, restaurant_search,
};

/// The result of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolAnswer {
    pub text: String,
    /// Whether the call counts as a success; consecutive failures end a run.
    pub is_success: bool,
}

impl ToolAnswer {
    fn success(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_success: true }
    }

    fn failure(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_success: false }
    }
}
