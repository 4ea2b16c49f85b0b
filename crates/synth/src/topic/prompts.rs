//! Prompts for topics. The first paragraph of the first two is the paper's prompt, word for word except for its
//! numbers; the rest is ours and defines the format of the answer.

/// The beginning of the prompt for jobs, up to their number.
pub const JOBS: &str = "Please provide a list of ";
/// The beginning of the prompt for activities, up to their number.
pub const ACTIVITIES: &str = "Please list ";
/// The text around the job in the prompt for activities.
pub const ROLE: [&str; 2] = [" activities in noun phrase format that a ", " may need to do in a day."];
/// The beginning of the prompt for names of tools.
pub const TOOLS: &str = "Please name in noun phrase format what each of these tools does.";
/// How a request for more begins.
pub const MORE: &str = "More are needed: ";
/// Precedes each tool in the prompt for names.
pub const TOOL_MARK: &str = "- ";

/// Asks for `count` jobs.
pub fn jobs(count: u32) -> String {
    format!(
        "{JOBS}{count} typical jobs. Ensure that these {count} positions span a variety of industries.\n\n\
         Write one job a line, numbered, in lower case and in the singular, with its industry in brackets, and nothing else."
    )
}

/// Asks for `count` activities of a person with this job.
pub fn activities(count: u32, job: &str) -> String {
    format!(
        "{ACTIVITIES}{count}{}{job}{}\n\n\
         Write one activity a line, numbered, and nothing else. Each is a noun phrase in the singular, in lower case, of plain \
         letters and at most 60 characters, such as \"network diagnosis\". None is a part of another or has to come before or \
         after another by its nature, as opening and closing a shop do.",
        ROLE[0], ROLE[1]
    )
}

/// Asks what these tools do, each with its name and description.
pub fn tools(tools: &[(String, String)]) -> String {
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
