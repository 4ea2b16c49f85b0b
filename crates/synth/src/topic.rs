//! The topic bank: jobs and their daily activities, or the activities of a user's own tools.

mod file;
mod listed;
mod natural_order;
pub mod prompts;
mod tool_names;
mod tool_verbs;

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use planproof_trace::Tool;
use thiserror::Error;

use crate::case::CaseTool;
use crate::rule::{TopicFlow, TopicOrder};
use crate::synthesis::{SITES, mock_tool, task_sentence};
use crate::time_form::{timed_own_tool, timed_sentence, timed_tool};

pub use file::TOPICS_SCHEMA;
pub use listed::{LISTED_MAX, ListedFault, listed_activity, listed_items, listed_job, sameness};
pub use natural_order::natural_orders;
pub use tool_names::{ToolText, texts_of_tool_names};

/// Number of activities in a topic of the shipped bank.
pub const ACTIVITIES_SHIPPED: usize = 20;
/// Most activities of a topic: as many as the most tools that are taken from one server.
pub const ACTIVITIES_MAX: usize = 512;
/// Most topics of a bank.
pub const TOPICS_MAX: usize = 1000;
/// Longest text of an activity, in characters.
pub const ACTIVITY_CHARACTERS_MAX: usize = 60;
/// Longest name of a job, in characters.
pub const JOB_CHARACTERS_MAX: usize = 60;
/// Longest name of a tool that every model provider accepts, in characters.
pub const TOOL_NAME_CHARACTERS_MAX: usize = 64;
/// Longest description of a user's own tool, in characters.
pub const DESCRIPTION_CHARACTERS_MAX: usize = 8192;
/// Longest input schema of a user's own tool, in bytes of JSON.
pub const SCHEMA_BYTES_MAX: usize = 64 * 1024;

/// Something that can be asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Activity {
    /// A singular noun phrase.
    pub text: String,
    /// The user's own tool for it, as its server describes it. Without one a tool is made from the text.
    pub tool: Option<Tool>,
}

/// A job and its activities; the actions of one case share a topic.
#[derive(Debug, Clone, PartialEq)]
pub struct Topic {
    /// The job, usable after "a" or "an".
    pub job: String,
    /// The industry it belongs to; empty if there is none.
    pub industry: String,
    /// The activities, without a natural order. Either all have a tool of the user's own or none has.
    pub activities: Vec<Activity>,
    /// Orders that hold in every case with both of their tasks.
    pub orders: Vec<TopicOrder>,
    /// Values that one tool returns and another one takes, in every case with both.
    pub flows: Vec<TopicFlow>,
    /// Whether cases leave the descriptions of the user's own tools as they are. Otherwise a sentence that names the
    /// task follows each of them.
    pub descriptions_as_is: bool,
}

/// Topics to draw from. Cheap to clone.
#[derive(Debug, Clone, PartialEq)]
pub struct TopicBank {
    topics: Arc<[Topic]>,
}

/// Why a topic bank cannot be used.
#[derive(Debug, Error)]
#[error("topic bank: {0}")]
pub struct TopicError(String);

/// Words that mark order or join clauses; an activity with one of them could change the meaning of a sentence.
const RESERVED_WORDS: &[&str] = &[
    "before",
    "after",
    "prior",
    "earlier",
    "later",
    "following",
    "which",
    "and",
    "while",
    "whereas",
    "but",
    "yet",
    "ahead",
    "subsequent",
    "precedes",
    "precede",
    "follows",
    "follow",
];

impl Activity {
    /// One whose tool is made of its text.
    pub fn of_text(text: impl Into<String>) -> Self {
        Self { text: text.into(), tool: None }
    }

    /// The name of its tool.
    pub fn tool_name(&self) -> Cow<'_, str> {
        match &self.tool {
            Some(tool) => Cow::Borrowed(&tool.name),
            None => Cow::Owned(snake_case(&self.text)),
        }
    }
}

impl TopicBank {
    /// The bank that comes with planproof: 50 jobs with 20 activities each.
    pub fn shipped() -> &'static TopicBank {
        static BANK: OnceLock<TopicBank> = OnceLock::new();
        BANK.get_or_init(|| {
            TopicBank::from_json(include_str!("../data/topics.json"))
                .expect("the shipped topic bank is checked by a test")
        })
    }

    /// A bank of these topics, checked.
    ///
    /// # Errors
    /// Names the topic and the unusable activity, with the reason.
    pub fn new(topics: Vec<Topic>) -> Result<Self, TopicError> {
        if topics.is_empty() || topics.len() > TOPICS_MAX {
            return Err(TopicError(match topics.len() {
                0 => "it holds no topic".to_owned(),
                count => format!("it holds {count} topics; at most {TOPICS_MAX} are possible"),
            }));
        }
        let mut jobs = HashSet::new();
        for topic in &topics {
            topic.check()?;
            if !jobs.insert(topic.job.to_lowercase()) {
                return Err(TopicError(format!("job \"{}\" appears twice", topic.job)));
            }
        }
        Ok(Self { topics: topics.into() })
    }

    /// All topics, in the order of the file.
    pub fn topics(&self) -> &[Topic] {
        &self.topics
    }

    /// The topic of a job.
    pub fn find(&self, job: &str) -> Option<&Topic> {
        self.topics.iter().find(|topic| topic.job == job)
    }
}

impl Topic {
    /// Whether its tools are a user's own.
    pub fn has_own_tools(&self) -> bool {
        self.activities.first().is_some_and(|activity| activity.tool.is_some())
    }

    /// The user's own tool for a task with this text.
    fn own_tool(&self, text: &str) -> Option<&Tool> {
        if !self.has_own_tools() {
            return None;
        }
        self.activities.iter().find(|activity| activity.text == text)?.tool.as_ref()
    }

    /// The name of the tool for a task with this text, which may name a site.
    pub(crate) fn tool_name(&self, text: &str) -> String {
        self.own_tool(text).map_or_else(|| snake_case(text), |tool| tool.name.clone())
    }

    /// The mock tool for a task with this text.
    pub(crate) fn case_tool(&self, text: &str, is_timed: bool) -> CaseTool {
        match (self.own_tool(text), is_timed) {
            (None, _) => made_tool(text, is_timed),
            (Some(tool), false) => mocked_tool(tool, self.own_description(tool, &task_sentence(text))),
            (Some(tool), true) => timed_own_tool(tool, self.own_description(tool, &timed_sentence(text))),
        }
    }

    /// The description of a user's own tool in a case. A sentence after it names the task, because often only planning
    /// is under test, and then nobody should have to guess that.
    fn own_description(&self, tool: &Tool, sentence: &str) -> String {
        match tool.description.trim_end() {
            _ if self.descriptions_as_is => tool.description.clone(),
            "" => sentence.to_owned(),
            description => [description, "\n\n", sentence].concat(),
        }
    }

    /// Makes the same checks for a topic as a bank does.
    ///
    /// # Errors
    /// Names the unusable activity, with the reason.
    pub fn check(&self) -> Result<(), TopicError> {
        let fail = |what: String| Err(TopicError(format!("topic \"{}\": {what}", self.job)));
        if let Some(what) = job_fault(&self.job) {
            return fail(format!("the job {what}"));
        }
        if self.activities.len() < 2 || self.activities.len() > ACTIVITIES_MAX {
            let count = self.activities.len();
            return fail(format!("{count} activities; it needs 2 to {ACTIVITIES_MAX}"));
        }
        let (mut names, mut own_names) = (HashSet::new(), HashSet::new());
        for activity in &self.activities {
            let Activity { text, tool } = activity;
            if let Some(what) = activity_fault(text) {
                return fail(format!("activity \"{text}\" {what}"));
            }
            // Compared by tool name even for a user's own tools, so that texts differ by
            // more than capitals and hyphens.
            if !names.insert(snake_case(text)) {
                return fail(format!("activity \"{text}\" has the tool name of another one"));
            }
            if tool.is_some() != self.has_own_tools() {
                return fail(format!(
                    "activity \"{text}\" is unlike the first: either all activities have a tool or none has"
                ));
            }
            let Some(tool) = tool else { continue };
            if let Some(what) = tool_fault(tool) {
                return fail(format!("the tool of activity \"{text}\" {what}"));
            }
            if !own_names.insert(tool.name.as_str()) {
                return fail(format!("two activities have the tool \"{}\"", tool.name));
            }
        }
        if let Some((shorter, longer)) = self.activities.iter().find_map(|it| {
            let longer = begins_another(&it.text, self.activities.iter().map(|other| other.text.as_str()))?;
            Some((&it.text, longer))
        }) {
            return fail(format!(
                "\"{longer}\" begins with \"{shorter}\", so a sentence could be read in two ways"
            ));
        }
        if self.descriptions_as_is && !self.has_own_tools() {
            return fail("descriptions can only be left as they are if its activities have tools".to_owned());
        }
        self.check_rules().or_else(fail)
    }

    /// A topic of these activities, without an industry and without rules.
    pub fn of(job: impl Into<String>, activities: Vec<Activity>) -> Self {
        Self {
            job: job.into(),
            industry: String::new(),
            activities,
            orders: Vec::new(),
            flows: Vec::new(),
            descriptions_as_is: false,
        }
    }

    /// Over how many numbered sites its activities can be spread if a case needs more tasks than there are. A tool of
    /// the user's own exists once, and a rule would not say which site it is about.
    pub(crate) fn sites_max(&self) -> usize {
        if self.has_own_tools() || self.has_rules() { 1 } else { SITES.len() }
    }
}

/// The text that begins with this one and continues with another word, if there is one.
pub fn begins_another<'a>(text: &str, mut others: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    others.find(|other| other.strip_prefix(text).is_some_and(|rest| rest.starts_with(' ')))
}

/// A tool that is made from its task's text.
pub(crate) fn made_tool(text: &str, is_timed: bool) -> CaseTool {
    let name = snake_case(text);
    if is_timed { timed_tool(text, &name) } else { mock_tool(text, &name) }
}

/// A user's own tool, mocked.
fn mocked_tool(tool: &Tool, description: String) -> CaseTool {
    CaseTool {
        name: tool.name.clone(),
        description,
        // In the form of a case file that is read back.
        input_schema: (tool.input_schema != Tool::without_arguments("", "").input_schema)
            .then(|| tool.input_schema.clone()),
    }
}

/// Why a text cannot be a job, in words that follow it; `None` if it can.
pub fn job_fault(job: &str) -> Option<&'static str> {
    let characters = job.chars().count();
    if characters == 0 || characters > JOB_CHARACTERS_MAX {
        return Some("is empty or longer than 60 characters");
    }
    if job.split(' ').any(str::is_empty) {
        return Some("has blanks beside the single ones between words");
    }
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '\'' | '/' | '&');
    if !job.chars().all(is_plain) {
        return Some("holds something else than letters, digits, blanks and - ' / &");
    }
    None
}

/// Why a text cannot be an activity, in words that follow it; `None` if it can.
pub fn activity_fault(activity: &str) -> Option<&'static str> {
    let characters = activity.chars().count();
    if characters == 0 || characters > ACTIVITY_CHARACTERS_MAX {
        return Some("is empty or longer than 60 characters");
    }
    if activity.split(' ').any(str::is_empty) {
        return Some("has blanks beside the single ones between words");
    }
    if activity.chars().any(|c| !(c.is_ascii_alphanumeric() || c == ' ' || c == '-')) {
        return Some("holds something else than letters, digits, blanks and hyphens");
    }
    if activity.chars().next().is_some_and(char::is_uppercase) {
        return Some("begins with a capital letter; sentences bring their own");
    }
    if !activity.split(' ').all(|word| word.starts_with(|c: char| c != '-') && !word.ends_with('-')) {
        return Some("has a hyphen that joins no words");
    }
    if activity.split(' ').any(|word| RESERVED_WORDS.contains(&word)) {
        return Some("holds a word that states an order or joins clauses");
    }
    // The head of a noun phrase is its last word; these endings are singular in most words.
    let last = activity.rsplit(' ').next().unwrap_or(activity);
    let plural = last.ends_with('s') && !["ss", "is", "us"].iter().any(|ending| last.ends_with(ending));
    plural.then_some("ends in a plural; \"precedes\" would not agree with it")
}

/// Why a user's own tool cannot be offered to a model, in words that follow it; `None` if it can.
pub fn tool_fault(tool: &Tool) -> Option<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if tool.name.is_empty() || tool.name.len() > TOOL_NAME_CHARACTERS_MAX || !tool.name.chars().all(is_part) {
        return Some(format!(
            "is named \"{}\"; a name has 1 to {TOOL_NAME_CHARACTERS_MAX} letters, digits, - and _",
            tool.name
        ));
    }
    let characters = tool.description.chars().count();
    if characters > DESCRIPTION_CHARACTERS_MAX {
        return Some(format!(
            "has a description of {characters} characters; at most {DESCRIPTION_CHARACTERS_MAX} are possible"
        ));
    }
    if tool.input_schema.get("type").and_then(|kind| kind.as_str()) != Some("object") {
        return Some("has an input schema that is not of \"type\": \"object\"".to_owned());
    }
    let bytes = tool.input_schema.to_string().len();
    (bytes > SCHEMA_BYTES_MAX)
        .then(|| format!("has an input schema of {bytes} bytes; at most {SCHEMA_BYTES_MAX} are possible"))
}

/// The tool name of an action's text: lower case, everything but letters and digits becomes one underscore.
pub fn snake_case(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    let mut gap = false;
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() {
            if gap && !name.is_empty() {
                name.push('_');
            }
            name.push(char::from(byte.to_ascii_lowercase()));
        }
        gap = !byte.is_ascii_alphanumeric();
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_bank_is_whole() {
        let bank = TopicBank::shipped();
        assert_eq!(bank.topics().len(), 50);
        assert!(bank.topics().iter().all(|topic| topic.activities.len() == ACTIVITIES_SHIPPED));
    }

    #[test]
    fn faults_are_named() {
        for (activity, part) in [
            ("Menu check", "capital"),
            ("menu checks", "plural"),
            ("lunch and learn", "joins"),
            ("menu, check", "something else"),
            ("menu  check", "blanks"),
            ("", "empty"),
        ] {
            let text = format!(
                r#"{{"schema":"{TOPICS_SCHEMA}","topics":[{{"job":"cook","industry":"food","activities":["stock count","{activity}"]}}]}}"#
            );
            let message = TopicBank::from_json(&text).expect_err(activity).to_string();
            assert!(message.contains(part), "{message}");
        }
        let twin = format!(
            r#"{{"schema":"{TOPICS_SCHEMA}","topics":[{{"job":"cook","industry":"food","activities":["stock","stock count"]}}]}}"#
        );
        assert!(TopicBank::from_json(&twin).expect_err("prefix").to_string().contains("two ways"));
    }

    #[test]
    fn snake_case_is_a_tool_name() {
        assert_eq!(snake_case("network diagnosis"), "network_diagnosis");
        assert_eq!(snake_case("e-mail  sorting (all)"), "e_mail_sorting_all");
        assert_eq!(snake_case("(Räum auf!)"), "r_um_auf");
    }
}
