//! The topic bank: jobs and what people in them do in a day.

use std::collections::HashSet;
use std::sync::OnceLock;

use serde::Deserialize;
use thiserror::Error;

/// Activities a topic of the shipped bank has, and the most that a topic may have.
pub const ACTIVITIES_MAX: usize = 20;
/// Longest text of an activity, in characters.
pub const ACTIVITY_CHARACTERS_MAX: usize = 40;

/// A job and its activities; the actions of one case share a topic.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topic {
    /// The job, usable after "a" or "an".
    pub job: String,
    /// The industry it belongs to.
    pub industry: String,
    /// Singular noun phrases, without an order by their nature.
    pub activities: Vec<String>,
}

/// Topics to draw from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicBank {
    topics: Vec<Topic>,
}

/// Why a topic bank cannot be used.
#[derive(Debug, Error)]
#[error("topic bank: {0}")]
pub struct TopicError(String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BankFile {
    schema: String,
    topics: Vec<Topic>,
}

const SCHEMA: &str = "planproof/topics/v1";

/// Words that mark order or join clauses; an activity with one of them could change what a sentence says.
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

impl TopicBank {
    /// The bank that comes with planproof: 50 jobs with 20 activities each.
    pub fn shipped() -> &'static TopicBank {
        static BANK: OnceLock<TopicBank> = OnceLock::new();
        BANK.get_or_init(|| {
            TopicBank::from_json(include_str!("../data/topics.json"))
                .expect("the shipped topic bank is checked by a test")
        })
    }

    /// Reads a bank from JSON and checks it.
    ///
    /// # Errors
    /// Names the topic and the activity that cannot be used, and why.
    pub fn from_json(text: &str) -> Result<Self, TopicError> {
        let file: BankFile = serde_json::from_str(text).map_err(|error| TopicError(error.to_string()))?;
        if file.schema != SCHEMA {
            return Err(TopicError(format!("schema is \"{}\", expected \"{SCHEMA}\"", file.schema)));
        }
        if file.topics.is_empty() {
            return Err(TopicError("it holds no topic".into()));
        }
        let mut jobs = HashSet::new();
        for topic in &file.topics {
            topic.check()?;
            if !jobs.insert(topic.job.as_str()) {
                return Err(TopicError(format!("job \"{}\" appears twice", topic.job)));
            }
        }
        Ok(Self { topics: file.topics })
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
    fn check(&self) -> Result<(), TopicError> {
        let fail = |what: String| Err(TopicError(format!("topic \"{}\": {what}", self.job)));
        if self.activities.len() < 2 || self.activities.len() > ACTIVITIES_MAX {
            let count = self.activities.len();
            return fail(format!("{count} activities; it needs 2 to {ACTIVITIES_MAX}"));
        }
        let mut names = HashSet::new();
        for activity in &self.activities {
            if let Some(what) = activity_fault(activity) {
                return fail(format!("activity \"{activity}\" {what}"));
            }
            if !names.insert(snake_case(activity)) {
                return fail(format!("activity \"{activity}\" has the tool name of another one"));
            }
        }
        for shorter in &self.activities {
            let prefix = format!("{shorter} ");
            if let Some(longer) = self.activities.iter().find(|longer| longer.starts_with(&prefix)) {
                return fail(format!(
                    "\"{longer}\" begins with \"{shorter}\", so a sentence could be read in two ways"
                ));
            }
        }
        Ok(())
    }
}

fn activity_fault(activity: &str) -> Option<&'static str> {
    let characters = activity.chars().count();
    if characters == 0 || characters > ACTIVITY_CHARACTERS_MAX {
        return Some("is empty or longer than 40 characters");
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
    if activity.split(' ').any(|word| RESERVED_WORDS.contains(&word)) {
        return Some("holds a word that states an order or joins clauses");
    }
    let last = activity.rsplit(' ').next().unwrap_or(activity);
    let plural = last.ends_with('s') && !["ss", "is", "us"].iter().any(|ending| last.ends_with(ending));
    plural.then_some("ends in a plural; \"precedes\" would not agree with it")
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
        assert!(bank.topics().iter().all(|topic| topic.activities.len() == 20));
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
                r#"{{"schema":"{SCHEMA}","topics":[{{"job":"cook","industry":"food","activities":["stock count","{activity}"]}}]}}"#
            );
            let message = TopicBank::from_json(&text).expect_err(activity).to_string();
            assert!(message.contains(part), "{message}");
        }
        let twin = format!(
            r#"{{"schema":"{SCHEMA}","topics":[{{"job":"cook","industry":"food","activities":["stock","stock count"]}}]}}"#
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
