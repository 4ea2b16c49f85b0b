//! The executors that a manager composes itself: their form, and parsing a reply. (PMC names hand-written executors
//! as its limitation; this is ours.)

use serde::{Deserialize, Serialize};

use crate::json::Tree;
use crate::limits::{EXECUTOR_NAME_CHARACTERS_MAX, EXECUTOR_TEXT_BYTES_MAX, EXECUTORS_MAX, GRAPH_FAULTS_MAX};
use crate::read_json::{exact, values};
use crate::words::{cut, listed, nearest};

/// The key of the list of executors.
const KEY: &str = "executors";

/// An executor composed by a manager.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComposedExecutor {
    /// Its name, by which it is given sub-tasks.
    pub name: String,
    /// What it can do.
    pub about: String,
    /// Instructions for its work; may be empty.
    #[serde(default)]
    pub prompt: String,
    /// The names of its tools; may be empty.
    #[serde(default)]
    pub tools: Vec<String>,
}

/// Executors as a trace keeps them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crew {
    /// The executors.
    pub executors: Vec<ComposedExecutor>,
}

/// Reads the executors in a manager's reply, which may have tools of these names.
///
/// The reply may have words and fences around the JSON, as for [`read_graph`](crate::graph::read_graph).
///
/// # Errors
/// The faults, one per line, in words for the manager.
pub fn read_crew(reply: &str, tools: &[&str]) -> Result<Crew, String> {
    let values = values(reply).map_err(|fault| format!("- it cannot be read: {fault}"))?;
    let lists: Vec<_> = values
        .iter()
        .filter_map(|value| match &value.tree {
            Tree::Object(entries) => entries.iter().find(|(key, _)| key == KEY).map(|(_, list)| list),
            _ => None,
        })
        .collect();
    let nodes = match lists[..] {
        [list] => match &list.tree {
            Tree::List(nodes) => nodes,
            other => return Err(format!("- `{KEY}` is {}, not a list of executors.", other.kind())),
        },
        [] => return Err(format!("- `{KEY}` is missing: write one JSON object with a list of this name.")),
        _ => return Err(format!("- the reply holds {} lists of executors: write one.", lists.len())),
    };
    if nodes.is_empty() || nodes.len() > EXECUTORS_MAX {
        return Err(format!("- there are {} executors: write 1 to {EXECUTORS_MAX}.", nodes.len()));
    }
    let mut faults = Vec::new();
    let mut executors: Vec<ComposedExecutor> = Vec::new();
    for (place, node) in nodes.iter().enumerate() {
        let json =
            exact(node).map_err(|_| format!("- executor {} holds what JSON cannot carry.", place + 1))?;
        match serde_json::from_value::<ComposedExecutor>(json) {
            Ok(executor) => {
                let about = |what: String| format!("- executor `{}`: {what}.", cut(&executor.name));
                // Compared with those before it, so that of two equal names the second one is at fault.
                faults.extend(faults_of(&executor, &executors, tools).into_iter().map(about));
                executors.push(executor);
            }
            Err(error) => faults.push(format!("- executor {}: {error}.", place + 1)),
        }
    }
    faults.truncate(GRAPH_FAULTS_MAX);
    if faults.is_empty() { Ok(Crew { executors }) } else { Err(faults.join("\n")) }
}

fn faults_of(executor: &ComposedExecutor, others: &[ComposedExecutor], tools: &[&str]) -> Vec<String> {
    let ComposedExecutor { name, about, prompt, tools: wanted } = executor;
    let mut faults = Vec::new();
    if !is_executor_name(name) {
        faults.push(format!(
            "its name does not fit: use 1 to {EXECUTOR_NAME_CHARACTERS_MAX} letters, digits, - and _"
        ));
    }
    if others.iter().any(|other| other.name == *name) {
        faults.push("another one has the same name: give it one of its own".to_owned());
    }
    if about.trim().is_empty() {
        faults.push("`about` is empty: say what it can do".to_owned());
    }
    if [about, prompt].iter().any(|text| text.len() > EXECUTOR_TEXT_BYTES_MAX) {
        faults.push(format!("a text has more than {EXECUTOR_TEXT_BYTES_MAX} bytes: shorten it"));
    }
    for tool in wanted.iter().filter(|tool| !tools.contains(&tool.as_str())) {
        let hint = match nearest(tool, tools.iter().copied()) {
            Some(near) => format!("write `{near}` if that is meant"),
            None => format!("there are {}", listed(tools.iter().copied())),
        };
        faults.push(format!("there is no tool `{}`: {hint}", cut(tool)));
    }
    faults
}

/// Whether a text can be the name of an executor: ASCII letters, digits, hyphens and underscores.
pub fn is_executor_name(name: &str) -> bool {
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '_';
    !name.is_empty() && name.len() <= EXECUTOR_NAME_CHARACTERS_MAX && name.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: [&str; 2] = ["search", "calculator"];

    #[test]
    fn executors_are_found_in_a_reply() {
        let reply = "I need one.\n```json\n{\"executors\": [{\"name\": \"clerk\", \"about\": \"Finds.\", \"tools\": \
                     [\"search\"]}]}\n```";
        let crew = read_crew(reply, &TOOLS).unwrap();
        let clerk = &crew.executors[0];
        assert_eq!((clerk.name.as_str(), clerk.tools.len(), clerk.prompt.as_str()), ("clerk", 1, ""));
        let again = serde_json::to_string(&crew).unwrap();
        assert_eq!(read_crew(&again, &TOOLS), Ok(crew));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let wrong = |reply: &str| read_crew(reply, &TOOLS).unwrap_err();
        for (reply, words) in [
            ("nothing", "it cannot be read"),
            (r#"{"sub_tasks": []}"#, "`executors` is missing"),
            (r#"{"executors": {}}"#, "`executors` is an object"),
            (r#"{"executors": []}"#, "there are 0 executors"),
            (r#"{"executors": [{"name": "a b", "about": "x"}]}"#, "its name does not fit"),
            (r#"{"executors": [{"name": "a"}]}"#, "executor 1: missing field `about`"),
            (r#"{"executors": [{"name": "a", "about": " "}]}"#, "`about` is empty"),
            (
                r#"{"executors": [{"name": "a", "about": "x", "tools": ["serch"]}]}"#,
                "write `search` if that is meant",
            ),
            (
                r#"{"executors": [{"name": "a", "about": "x"}, {"name": "a", "about": "y"}]}"#,
                "another one has the same name",
            ),
        ] {
            assert!(wrong(reply).contains(words), "{reply}: {}", wrong(reply));
        }
    }
}
