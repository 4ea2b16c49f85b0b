//! Cases of one's own, from a file of scenarios or drawn from rules (`drawn.rs`); and `planproof scenario`
//! (`command.rs`).

pub mod arguments;
pub mod command;
mod drawn;

use std::path::Path;
use std::sync::Arc;

use planproof_output::failure::Failure;
use planproof_output::terminal::inline;
use planproof_output::text_files::{read_below, read_json};
use planproof_scenario::Scenarios;
use planproof_suite::{Case, CaseSelection, Data, Suite};

pub use drawn::{drawing, drawn, tools_of, unknown};

/// The suite. Its files may name other files.
pub fn suite() -> Scenarios {
    Scenarios::default().with_files(|folder, path| {
        read_below(Path::new(folder), Path::new(path)).map_err(|failure| failure.into_case_error().what)
    })
}

/// Makes sure that a file of cases with this text can be used where `read` gives the files that it names.
///
/// # Errors
/// It cannot be used, as `read` says of a file that is missing.
pub fn must_load(
    file: &str,
    text: &str,
    read: impl Fn(&str) -> Result<String, String> + Send + Sync + 'static,
) -> Result<(), Failure> {
    let suite = Scenarios::default().with_files(move |_, path| read(path));
    suite.load(Some(Data { text, file }), &CaseSelection::First, None).map(drop).map_err(Failure::from)
}

/// The cases of a file.
///
/// # Errors
/// It cannot be read, or a case in it cannot be used.
pub fn cases_of(suite: &Scenarios, file: &Path) -> Result<Vec<Arc<dyn Case>>, Failure> {
    let text = read_json(file)?;
    let data = Data { text: &text, file: &file.display().to_string() };
    suite.load(Some(data), &CaseSelection::First, None).map_err(Failure::from)
}

/// One case of a file whose user says everything in the query: the one with that id, or the only one.
///
/// # Errors
/// The file cannot be read; there is no such case, or none is named and there are several; the user says more later.
pub fn case_of(path: &Path, id: Option<&str>) -> Result<Arc<dyn Case>, Failure> {
    let cases = cases_of(&suite(), path)?;
    let count = cases.len();
    let mut found = cases.into_iter().filter(|case| id.is_none_or(|id| case.card().id == id));
    match (found.next(), id) {
        (Some(_), None) if count > 1 => {
            Err(Failure::usage(format!("the file holds {count} cases; choose one with --id")))
        }
        // Nobody here says what the user says later.
        (Some(case), _) if !case.later().is_empty() => Err(Failure::usage(format!(
            "the user of case \"{}\" says more later (`turns`), and no client of these tools could hear it",
            inline(&case.card().id)
        ))),
        (Some(case), _) => Ok(case),
        (None, id) => {
            Err(Failure::usage(format!("the file has no case \"{}\"", inline(id.unwrap_or_default()))))
        }
    }
}
