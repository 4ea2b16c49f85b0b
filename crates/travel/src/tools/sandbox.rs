//! All tools together, with their state.

use std::borrow::Borrow;

use super::action::{INVALID_ACTION, ToolAction};
use super::notebook::Notebook;
use super::search::{
    accommodation_search, attraction_search, city_search, distance_matrix, flight_search, restaurant_search,
};
use super::{ToolAnswer, cost_enquiry};
use crate::TripCompat;
use crate::tables::TripDatabase;

/// What `NotebookWrite` keeps if there has been no search.
const NO_RESULT: &str = "None";

/// The tools of one run. The planner is not among them, because it needs a model; its input is
/// [`Notebook::planner_input`]. `D` is the tables, by reference or shared.
#[derive(Debug, Clone)]
pub struct TripTools<D> {
    database: D,
    compat: TripCompat,
    notebook: Notebook,
    last: Option<String>,
}

impl<D: Borrow<TripDatabase>> TripTools<D> {
    /// Creates tools over tables, with an empty notebook.
    pub fn new(database: D, compat: TripCompat) -> Self {
        Self { database, compat, notebook: Notebook::default(), last: None }
    }

    /// The notes so far.
    pub fn notebook(&self) -> &Notebook {
        &self.notebook
    }

    /// Executes a line such as `CitySearch[Texas]`. A line that is not an action of these tools is a failure.
    pub fn act(&mut self, line: &str) -> ToolAnswer {
        match ToolAction::read(line) {
            Some(action) => self.call(action.name, action.argument),
            None => ToolAnswer::failure(INVALID_ACTION),
        }
    }

    /// Calls a tool by its name. Several arguments are separated by a comma and a blank. A wrong number of them is
    /// `Illegal`, and so is anything else that makes a published tool raise.
    pub fn call(&mut self, name: &str, argument: &str) -> ToolAnswer {
        match name {
            // Their argument may contain commas itself.
            "NotebookWrite" | "CostEnquiry" => self.call_with(name, &[argument]),
            _ => self.call_with(name, &argument.split(", ").collect::<Vec<_>>()),
        }
    }

    /// The same, with arguments that are already separated.
    pub fn call_with(&mut self, name: &str, arguments: &[&str]) -> ToolAnswer {
        let database = self.database.borrow();
        // `None` for a wrong number of arguments, which is reported below.
        let three = <[&str; 3]>::try_from(arguments).ok();
        let one = <[&str; 1]>::try_from(arguments).ok().map(|[argument]| argument);
        let illegal = |name: &str| ToolAnswer::failure(format!("Illegal {name}. Please try again."));
        let (answer, is_kept) = match name {
            "FlightSearch" => (three.map(|it| flight_search(database, it, self.compat)), true),
            "GoogleDistanceMatrix" => (three.map(|it| distance_matrix(database, it)), true),
            "AccommodationSearch" => (one.map(|it| accommodation_search(database, it, self.compat)), true),
            "RestaurantSearch" => (one.map(|it| restaurant_search(database, it)), true),
            "AttractionSearch" => (one.map(|it| attraction_search(database, it)), true),
            "CitySearch" => (one.map(|it| city_search(database, it, self.compat)), false),
            "NotebookWrite" => {
                let last = self.last.as_deref().unwrap_or(NO_RESULT);
                (one.map(|it| ToolAnswer::success(self.notebook.write(it, last))), false)
            }
            "CostEnquiry" => (one.map(|it| ToolAnswer::success(cost_enquiry(database, it))), false),
            _ => return ToolAnswer::failure(INVALID_ACTION),
        };
        let Some(answer) = answer else { return illegal(&spoken(name)) };
        if is_kept && answer.is_success {
            self.last = Some(answer.text.clone());
        }
        answer
    }
}

/// The name of a tool as its error messages write it: `Flight Search`.
fn spoken(name: &str) -> String {
    match name.strip_suffix("Search") {
        Some(what) => format!("{what} Search"),
        None => name.to_owned(),
    }
}
