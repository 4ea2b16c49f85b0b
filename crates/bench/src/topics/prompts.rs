//! What models are asked for topics. The first paragraph of the first two is the paper's prompt, word for word but for its
//! numbers; what follows is ours and says in which form the answer can be used.

use super::{Dropped, FAULTS_TOLD_MAX};

/// How the prompt for jobs begins, up to their number.
pub(crate) const JOBS: &str = "Please provide a list of ";
/// How the prompt for activities begins, up to their number.
pub(crate) const ACTIVITIES: &str = "Please list ";
/// What stands around the job in the prompt for activities.
pub(crate) const ROLE: [&str; 2] = [" activities in noun phrase format that a ", " may need to do in a day."];
/// How the prompt for names of tools begins.
pub(crate) const TOOLS: &str = "Please name in noun phrase format what each of these tools does.";
/// How a request for more begins.
pub(crate) const MORE: &str = "More are needed: ";
/// What stands before each tool in the prompt for names.
pub(crate) const TOOL_MARK: &str = "- ";

pub(super) fn jobs(count: u32) -> String {
    format!(
        "{JOBS}{count} typical jobs. Ensure that these {count} positions span a variety of industries.\n\n\
         Write one job a line, numbered, in lower case and in the singular, with its industry in brackets, and nothing else."
    )
}

pub(super) fn activities(count: u32, job: &str) -> String {
    format!(
        "{ACTIVITIES}{count}{}{job}{}\n\n\
         Write one activity a line, numbered, and nothing else. Each is a noun phrase in the singular, in lower case, of plain \
         letters and at most 60 characters, such as \"network diagnosis\". None is a part of another or has to come before or \
         after another by its nature, as opening and closing a shop do.",
        ROLE[0], ROLE[1]
    )
}

pub(super) fn tools(tools: &[(String, String)]) -> String {
    let mut text = format!(
        "{TOOLS}\n\nWrite one line for each tool: its name, a colon, and the phrase, and nothing else. Each phrase is in the \
         singular, in lower case, of plain letters and at most 60 characters, such as \"invoice retrieval\" for \
         get_invoice. No two are the same, and none is the beginning of another.\n"
    );
    for (name, description) in tools {
        text.push('\n');
        text.push_str(TOOL_MARK);
        text.push_str(name);
        if !description.is_empty() {
            text.push_str(": ");
            text.push_str(description);
        }
    }
    text
}

/// Asks for so many more, and says what was wrong with some of the last.
pub(super) fn more(count: usize, faults: &[Dropped]) -> String {
    let mut text =
        format!("{MORE}please write {count} others, none of which is among those above, in the same form.");
    if !faults.is_empty() {
        text.push_str(" These could not be used:");
    }
    for Dropped { text: item, why, .. } in faults.iter().take(FAULTS_TOLD_MAX) {
        text.push_str("\n- ");
        text.push_str(&super::shortened(item));
        text.push_str(": it ");
        text.push_str(why);
    }
    text
}
