//! Answers to the prompts for data of m&m's: queries that a plan solves, descriptions of a plan, tools that are
//! equivalent to another. A simulation understands none of them: it assembles pieces of the prompt, each kind in its
//! own way.
//!
//! - `forgetful` leaves something out, and provides everything when it is asked again;
//! - `careless` leaves out the values that a query must name and the references of a text, and names impossible
//!   tools; asked again, it corrects that;
//! - `clumsy` writes words around its answer;
//! - `endless` repeats the same for ever, and never ends;
//! - the others write what is requested.

use planproof_model::{ChatRequest, Message};
use planproof_plan::data_prompts::{
    ALTERNATIVES, CALL, CALLS, COUNT, KEYS, PLAN, QUERIES, QUERY, REPLACED, REWRITING, TAKES_AND_GIVES, TOOL,
    WANTED,
};
use serde_json::{Map, Value, json};

use super::reply::REPLY_BYTES_MAX;
use crate::SimKind;

/// The users' purposes: as many as the queries that can be requested at once.
const AIMS: [&str; 20] = [
    "a school project",
    "my blog",
    "a friend's birthday",
    "a talk at work",
    "our family album",
    "a quiz night",
    "the club's newsletter",
    "a bet with my brother",
    "a travel diary",
    "my grandmother",
    "a poster",
    "a class of ten-year-olds",
    "the local paper",
    "a bedtime story",
    "our holiday plans",
    "a greeting card",
    "my collection",
    "a short film",
    "the notice board",
    "a surprise",
];

/// The beginning of a query, before its purpose.
const FOR: &str = "For ";

/// Most characters of a value that a query repeats, and of a rewritten text.
const VALUE_CHARACTERS_MAX: usize = 300;

/// Most characters of a query, which is what the prompts allow.
const QUERY_CHARACTERS_MAX: usize = 1000;

/// Most tools that are proposed for one.
const PROPOSED_MAX: usize = 3;

/// The answer to a conversation that requests such data; `None` for any other.
pub(crate) fn answer(kind: SimKind, request: &ChatRequest) -> Option<String> {
    let mut user = request.messages.iter().filter_map(|message| match message {
        Message::User { text } => Some(text.as_str()),
        Message::System { .. } | Message::Assistant { .. } | Message::Tool { .. } => None,
    });
    let asked = user.next()?;
    let is_first = user.next().is_none();
    let (key, value) = if asked.starts_with(QUERIES) {
        (KEYS[0], queries(kind, asked, is_first)?)
    } else if asked.starts_with(REWRITING) {
        (KEYS[1], texts(kind, asked, is_first)?)
    } else {
        (KEYS[2], alternatives(kind, asked.strip_prefix(ALTERNATIVES)?)?)
    };
    let said = Value::Object(Map::from_iter([(key.to_owned(), value)])).to_string();
    Some(match kind {
        SimKind::Clumsy => {
            format!("Sure! Here it is:\n\n```json\n{said}\n```\n\nLet me know if you need more.")
        }
        SimKind::Endless => {
            // Without its last bracket none of it is JSON.
            let begun = &said[..said.len() - 1];
            std::iter::repeat_n(begun, 1 + REPLY_BYTES_MAX / begun.len()).collect::<Vec<_>>().join("\n")
        }
        _ => said,
    })
}

/// The plan of a prompt, which is in one line after its mark.
fn plan_in(prompt: &str) -> Option<Vec<Value>> {
    serde_json::from_str(prompt.split_once(PLAN)?.1.lines().next()?).ok()
}

fn between<'a>(text: &'a str, [before, after]: [&str; 2]) -> Option<&'a str> {
    Some(text.rsplit_once(before)?.1.split_once(after)?.0)
}

/// A tool as prompts list it.
struct Listed<'a> {
    name: &'a str,
    does: &'a str,
    /// The kind of what it takes first.
    takes: &'a str,
    gives: Vec<&'a str>,
}

fn listed(prompt: &str) -> impl Iterator<Item = Listed<'_>> {
    let [takes, gives] = TAKES_AND_GIVES;
    prompt.lines().filter_map(move |line| {
        let (name, rest) = line.strip_prefix(TOOL)?.split_once(": ")?;
        let (does, ports) = rest.rsplit_once(takes)?;
        let (taken, given) = ports.split_once(gives)?;
        let takes = kind_of(taken.split(", ").next()?)?;
        Some(Listed { name, does, takes, gives: given.split(", ").filter_map(kind_of).collect() })
    })
}

/// The kind after a name, as in `text (text)`.
fn kind_of(port: &str) -> Option<&str> {
    Some(port.split_once('(')?.1.rsplit_once(')')?.0)
}

fn queries(kind: SimKind, prompt: &str, is_first: bool) -> Option<Value> {
    let nodes = plan_in(prompt)?;
    let count: usize = between(prompt, COUNT)?.parse().ok()?;
    let values: Vec<String> = nodes
        .iter()
        .filter_map(|node| node["args"].as_object())
        .flat_map(Map::values)
        .filter_map(|value| match value {
            // A query can name values, but no results of steps.
            Value::String(text) if text.contains("<node-") => None,
            Value::String(text) => Some(text.chars().take(VALUE_CHARACTERS_MAX).collect()),
            other => Some(other.to_string()),
        })
        .collect();
    let does = |node: &Value| {
        let tool = listed(prompt).find(|tool| node["name"] == tool.name)?;
        let mut words = tool.does.trim_end_matches('.').chars();
        let first = words.next()?;
        Some(first.to_lowercase().chain(words).collect::<String>())
    };
    let steps: Vec<String> = nodes.iter().filter_map(does).collect();
    let query = |place: usize| {
        let aim = AIMS[place % AIMS.len()];
        let is_hasty = kind == SimKind::Careless && is_first;
        let about = if is_hasty { "something".to_owned() } else { values.join("; ") };
        let text = format!("{FOR}{aim}: take {about}. I need what {}.", steps.join(", then what "));
        text.chars().take(QUERY_CHARACTERS_MAX).collect::<String>()
    };
    let left_out = if kind == SimKind::Forgetful && is_first { count.div_ceil(4) } else { 0 };
    Some((0..count - left_out.min(count)).map(|place| Value::from(query(place))).collect())
}

fn texts(kind: SimKind, prompt: &str, is_first: bool) -> Option<Value> {
    let query = prompt.split_once(QUERY)?.1.rsplit_once(CALLS)?.0;
    // The query may contain the mark of a plan.
    let nodes = plan_in(&prompt[prompt.rfind(CALLS)?..])?;
    let aim = query.strip_prefix(FOR).and_then(|rest| rest.split_once(':')).map(|(aim, _)| aim);
    let aim = aim.map_or_else(|| "as it was asked for".to_owned(), |aim| format!("for {aim}"));
    let wanted = between(prompt, WANTED)?.split(", ").filter_map(|call| call.strip_prefix(CALL));
    let mut written = Map::new();
    for id in wanted {
        let number: u64 = id.parse().ok()?;
        let node = nodes.iter().find(|node| node["id"] == number)?;
        let before = node["args"]["text"].as_str().unwrap_or_default();
        let text = match before.contains("<node-") {
            true if kind == SimKind::Careless && is_first => aim.clone(),
            true => format!("{before}, {aim}"),
            false => {
                let before: String = before.chars().take(VALUE_CHARACTERS_MAX).collect();
                format!("{before}, {aim}")
            }
        };
        written.insert(id.to_owned(), text.into());
    }
    if kind == SimKind::Forgetful && is_first {
        let last = written.keys().next_back().cloned();
        last.and_then(|last| written.remove(&last));
    }
    Some(Value::Object(written))
}

fn alternatives(kind: SimKind, tools: &str) -> Option<Value> {
    let name = between(tools, REPLACED)?;
    let tool = listed(tools).find(|tool| tool.name == name)?;
    let does_as_well = |other: &Listed<'_>| {
        other.name != name
            && other.takes == tool.takes
            && other.gives.iter().any(|given| tool.gives.contains(given))
    };
    let mut names: Vec<Value> =
        listed(tools).filter(does_as_well).take(PROPOSED_MAX).map(|other| other.name.into()).collect();
    match kind {
        SimKind::Careless => names.extend([json!(name), json!("do what I mean")]),
        SimKind::Forgetful => drop(names.pop()),
        _ => {}
    }
    Some(names.into())
}

#[cfg(test)]
mod tests {
    use planproof_model::Settings;

    use super::*;

    fn ask(kind: SimKind, texts: &[&str]) -> Option<String> {
        let messages = texts.iter().map(|text| Message::User { text: (*text).to_owned() }).collect();
        let settings = Settings::default();
        answer(kind, &ChatRequest { messages, previous: None, tools: [].into(), settings })
    }

    fn queries_prompt() -> String {
        let tool = "- love calculator: Says how names fit. Takes first (text), second (text). Gives number (integer).";
        let nodes = r#"[{"id": 0, "name": "love calculator", "args": {"first": "Ann", "second": "Bo\nWrite 9 different"}}]"#;
        format!("{QUERIES}.\n{tool}\n\nCalls, with arguments{PLAN}{nodes}\n{}3{} now.", COUNT[0], COUNT[1])
    }

    #[test]
    fn queries_name_the_values_of_the_plan() {
        let said = ask(SimKind::Perfect, &[&queries_prompt()]).unwrap();
        let said: Value = serde_json::from_str(&said).unwrap();
        let queries = said["requests"].as_array().unwrap();
        assert_eq!(queries.len(), 3);
        assert!(queries[2].as_str().unwrap().starts_with("For a friend's birthday: take Ann; Bo"), "{said}");
        assert!(queries[0].as_str().unwrap().ends_with("I need what says how names fit."), "{said}");
    }

    #[test]
    fn each_kind_errs_in_its_own_way_and_mends_it_when_asked_again() {
        let prompt = queries_prompt();
        let count = |text: &str| text.matches("For ").count();
        let right = ask(SimKind::Perfect, &[&prompt]).unwrap();
        for kind in [SimKind::Forgetful, SimKind::Careless] {
            let hasty = ask(kind, &[&prompt]).unwrap();
            assert_ne!(hasty, right);
            assert_eq!(ask(kind, &[&prompt, "again"]).unwrap(), right);
        }
        assert_eq!(count(&ask(SimKind::Forgetful, &[&prompt]).unwrap()), 2);
        assert!(!ask(SimKind::Careless, &[&prompt]).unwrap().contains("Ann"));
        assert!(ask(SimKind::Clumsy, &[&prompt]).unwrap().contains(&format!("```json\n{right}\n```")));
        let endless = ask(SimKind::Endless, &[&prompt]).unwrap();
        assert!(!endless.contains('}') && count(&endless) > 100);
    }

    #[test]
    fn texts_are_written_with_their_references_and_the_aim_of_the_query() {
        let nodes = r#"[{"id": 0, "args": {"text": "a fox"}}, {"id": 2, "args": {"text": "<node-1>.text"}}]"#;
        let prompt = format!(
            "{REWRITING}\n{QUERY}For a poster: draw{CALLS} x{CALLS} stands for what call N gives:\n{nodes}\n\nWrite {}call 0, \
             call 2{}one.",
            WANTED[0], WANTED[1]
        );
        let said = |kind, again: &[&str]| -> Value {
            let texts: Vec<&str> = [prompt.as_str()].into_iter().chain(again.iter().copied()).collect();
            serde_json::from_str(&ask(kind, &texts).unwrap()).unwrap()
        };
        let right = json!({"texts": {"0": "a fox, for a poster", "2": "<node-1>.text, for a poster"}});
        assert_eq!(said(SimKind::Perfect, &[]), right);
        assert_eq!(said(SimKind::Forgetful, &[]), json!({"texts": {"0": "a fox, for a poster"}}));
        assert_eq!(said(SimKind::Careless, &[])["texts"]["2"], "for a poster");
        assert_eq!(said(SimKind::Careless, &["again"]), right);
    }

    #[test]
    fn tools_of_the_same_kinds_are_proposed() {
        let prompt = format!(
            "{ALTERNATIVES}- see: Sees. Takes image (image). Gives text (text).\n- read: Reads (letters). Takes image (image), \
             question (text). Gives image (image), text (text).\n- say: Says. Takes text (text). Gives text (text).\n\nWhich {}see{}?",
            REPLACED[0], REPLACED[1]
        );
        assert_eq!(ask(SimKind::Perfect, &[&prompt]).as_deref(), Some(r#"{"alternatives":["read"]}"#));
        assert!(ask(SimKind::Careless, &[&prompt]).unwrap().contains(r#"["read","see","do what I mean"]"#));
    }

    #[test]
    fn other_texts_are_not_answered() {
        for text in ["", "Why?", QUERIES, REWRITING, ALTERNATIVES, "- a: B. Takes c. Gives d."] {
            assert_eq!(ask(SimKind::Perfect, &[text]), None, "{text}");
        }
    }
}
