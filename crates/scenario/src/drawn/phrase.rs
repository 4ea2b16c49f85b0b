//! What a user asks for, in English: the name of a tool as a verb, and the arguments as a person says them.

use serde_json::Value;

/// Verbs that tools are named after. A tool with another name is called by it.
const VERBS: [&str; 128] = [
    "accept",
    "activate",
    "add",
    "answer",
    "apply",
    "approve",
    "archive",
    "ask",
    "assign",
    "attach",
    "back",
    "block",
    "book",
    "build",
    "buy",
    "calculate",
    "call",
    "cancel",
    "change",
    "charge",
    "check",
    "clean",
    "clear",
    "clone",
    "close",
    "collect",
    "commit",
    "compare",
    "compute",
    "confirm",
    "convert",
    "copy",
    "count",
    "create",
    "deactivate",
    "decline",
    "delete",
    "deliver",
    "deploy",
    "disable",
    "download",
    "draft",
    "edit",
    "email",
    "enable",
    "escalate",
    "estimate",
    "evaluate",
    "execute",
    "exchange",
    "export",
    "extend",
    "fetch",
    "file",
    "fill",
    "filter",
    "find",
    "forward",
    "generate",
    "get",
    "give",
    "grant",
    "import",
    "insert",
    "inspect",
    "install",
    "invite",
    "issue",
    "list",
    "load",
    "lock",
    "log",
    "look",
    "mail",
    "make",
    "mark",
    "measure",
    "merge",
    "modify",
    "move",
    "notify",
    "open",
    "order",
    "pause",
    "pay",
    "place",
    "play",
    "post",
    "prepare",
    "print",
    "process",
    "publish",
    "read",
    "record",
    "refresh",
    "refund",
    "register",
    "reject",
    "release",
    "remove",
    "rename",
    "renew",
    "repair",
    "replace",
    "reply",
    "report",
    "request",
    "reserve",
    "reset",
    "restart",
    "restore",
    "retrieve",
    "return",
    "review",
    "roll",
    "run",
    "save",
    "scan",
    "schedule",
    "search",
    "send",
    "set",
    "share",
    "ship",
    "sign",
    "start",
    "stop",
    "store",
];
const MORE_VERBS: [&str; 26] = [
    "submit",
    "subscribe",
    "summarise",
    "summarize",
    "suspend",
    "sync",
    "tag",
    "take",
    "test",
    "track",
    "transfer",
    "translate",
    "turn",
    "unlock",
    "unsubscribe",
    "update",
    "upgrade",
    "upload",
    "use",
    "validate",
    "verify",
    "view",
    "void",
    "wait",
    "withdraw",
    "write",
];

/// Words that belong to the verb before them.
const PARTICLES: [&str; 9] = ["back", "down", "in", "off", "on", "out", "over", "through", "up"];

/// Verbs that make something new.
const MAKING: [&str; 16] = [
    "add", "book", "create", "draft", "file", "generate", "insert", "issue", "make", "open", "place", "post",
    "reserve", "schedule", "send", "write",
];

/// People, who are named without saying what they are.
const PEOPLE: [&str; 9] =
    ["assignee", "customer", "guest", "owner", "passenger", "patient", "person", "recipient", "user"];

/// Names of arguments that are said as they are.
const PREPOSITIONS: [&str; 15] = [
    "about", "after", "as", "at", "before", "by", "for", "from", "in", "into", "on", "since", "to", "until",
    "via",
];

/// The words of a name: `getOrder`, `get_order` and `shop/get-order` are "get order".
pub(super) fn words_of(name: &str) -> Vec<String> {
    let name = name.rsplit(['/', '.']).next().unwrap_or(name);
    let mut words: Vec<String> = Vec::new();
    let mut was_lower = false;
    let mut is_open = false;
    for c in name.chars() {
        if !c.is_alphanumeric() {
            (was_lower, is_open) = (false, false);
            continue;
        }
        if !is_open || (was_lower && c.is_uppercase()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
        (was_lower, is_open) = (c.is_lowercase() || c.is_numeric(), true);
    }
    words
}

/// What an argument identifies, if it is an identifier: "order" of `order_id`, nothing of `id`.
pub(super) fn identified(argument: &str) -> Option<String> {
    let mut words = words_of(argument);
    let last = words.pop()?;
    ["id", "number", "no", "code", "key", "uuid"].contains(&last.as_str()).then(|| words.join(" "))
}

/// A value as it stands in a sentence.
pub(super) fn value_in_words(value: &Value) -> String {
    match value {
        Value::String(text) if text.is_empty() || text.contains(|c: char| c.is_whitespace() || c == '"') => {
            Value::from(text.as_str()).to_string()
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A task as an imperative without a full stop: `refund order 17 with amount 40`.
pub(super) fn task(tool: &str, arguments: &[(&str, &Value)]) -> String {
    let words = words_of(tool);
    let mut left: Vec<(&str, &Value)> = arguments.to_vec();
    let is_verb = words
        .first()
        .is_some_and(|verb| VERBS.contains(&verb.as_str()) || MORE_VERBS.contains(&verb.as_str()));
    let mut text = match words.split_first() {
        Some((verb, rest)) if is_verb => imperative(verb, rest, &mut left),
        _ => format!("call `{tool}`"),
    };
    for part in parts(left) {
        text.push(' ');
        text.push_str(&part);
    }
    text
}

/// The verb and its object, which takes the argument that names it.
fn imperative(verb: &str, rest: &[String], left: &mut Vec<(&str, &Value)>) -> String {
    let (particle, object) = match rest.split_first() {
        Some((particle, object)) if PARTICLES.contains(&particle.as_str()) => (Some(particle), object),
        _ => (None, rest),
    };
    let verb = particle.map_or_else(|| verb.to_owned(), |particle| format!("{verb} {particle}"));
    if object.is_empty() {
        // The argument that says what is acted on: an identifier, or the only one.
        let place = left.iter().position(|(name, _)| identified(name).is_some_and(|what| !what.is_empty()));
        let is_only = left.len() == 1 && particle.is_none();
        let is_said = |name: &str| !PREPOSITIONS.contains(&words_of(name).join(" ").as_str());
        let place = place.or_else(|| (is_only && is_said(left[0].0)).then_some(0));
        return match place {
            Some(place) => {
                let (name, value) = left.remove(place);
                let what = identified(name).unwrap_or_else(|| words_of(name).join(" "));
                format!("{verb} {what} {}", value_in_words(value))
            }
            None => verb,
        };
    }
    let noun = object.join(" ");
    let names_object = |name: &str| {
        identified(name).is_some_and(|what| what == noun || what.is_empty() || object.last() == Some(&what))
            || words_of(name).join(" ") == noun
    };
    match left.iter().position(|(name, value)| names_object(name) && !value.is_boolean()) {
        Some(place) => {
            let (name, value) = left.remove(place);
            let changes =
                ["change", "set", "update", "modify"].contains(&verb.as_str()) && identified(name).is_none();
            let to = if changes { " to" } else { "" };
            let the = if changes { "the " } else { "" };
            format!("{verb} {the}{noun}{to} {}", value_in_words(value))
        }
        None => {
            // One of several is "an email", many and known ones are "the tests".
            let is_new = MAKING.contains(&verb.as_str()) && !noun.ends_with('s');
            let article = match noun.starts_with(['a', 'e', 'i', 'o', 'u']) {
                _ if !is_new => "the",
                true => "an",
                false => "a",
            };
            format!("{} {article} {noun}", if verb == "search" { "search for" } else { &verb })
        }
    }
}

/// The other arguments, in the order in which they are said.
fn parts(arguments: Vec<(&str, &Value)>) -> Vec<String> {
    let (mut identifiers, mut places, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for (name, value) in arguments {
        let said = words_of(name).join(" ");
        let shown = value_in_words(value);
        match (identified(name), value) {
            (Some(what), _) if !what.is_empty() => identifiers.push(format!("for {what} {shown}")),
            (_, Value::Bool(true)) => others.push(said),
            (_, Value::Bool(false)) => others.push(format!("no {said}")),
            _ if PREPOSITIONS.contains(&said.as_str()) => {
                places.push((said.clone(), format!("{said} {shown}")));
            }
            (_, Value::Number(_)) if said.ends_with('s') => others.push(format!("{shown} {said}")),
            _ if PEOPLE.contains(&said.as_str()) => identifiers.push(format!("for {shown}")),
            _ if said == "city" || said == "country" => places.push(("in".to_owned(), format!("in {shown}"))),
            _ if said == "branch" || said == "environment" => identifiers.push(format!("for {said} {shown}")),
            _ if said == "day" || said == "date" => places.push(("on".to_owned(), format!("on {shown}"))),
            _ if said == "time" => places.push(("time".to_owned(), format!("at {shown}"))),
            _ => others.push(format!("{said} {shown}")),
        }
    }
    // From where, to where, and then when.
    let rank = |word: &str| ["from", "to", "in", "on", "time"].iter().position(|other| *other == word);
    places.sort_by_key(|(word, _)| rank(word).unwrap_or(2));
    let mut all = identifiers;
    all.extend(places.into_iter().map(|(_, part)| part));
    if !others.is_empty() {
        all.push(format!("with {}", list(&others)));
    }
    all
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// An argument of a call that nobody mentions: `the branch is main`.
pub(super) fn fact(argument: &str, value: &Value) -> String {
    let name = words_of(argument).join(" ");
    let is_noun = !PREPOSITIONS.contains(&name.as_str());
    let name = if is_noun { format!("the {name}") } else { format!("`{argument}`") };
    format!("{name} is {}", value_in_words(value))
}

/// How often something is asked for, behind it.
pub(super) fn times(count: u32) -> String {
    match count {
        0 | 1 => String::new(),
        2 => " (twice)".to_owned(),
        3 => " (three times)".to_owned(),
        4 => " (four times)".to_owned(),
        count => format!(" ({count} times)"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tasks_are_said_as_people_say_them() {
        for (tool, arguments, expected) in [
            ("refund", json!({"order_id": 17, "amount": 40}), "refund order 17 with amount 40"),
            ("get_order", json!({"order_id": 17}), "get order 17"),
            (
                "search_customer",
                json!({"email": "bob@shop.example"}),
                "search for the customer with email bob@shop.example",
            ),
            ("send_email", json!({"customer_id": "c-81"}), "send an email for customer c-81"),
            (
                "update_address",
                json!({"customer_id": "c-3", "address": "12 Mill Lane"}),
                "update the address to \"12 Mill Lane\" for customer c-3",
            ),
            ("deploy", json!({"build_id": "b-1", "to": "staging"}), "deploy build b-1 to staging"),
            ("roll_back", json!({"from": "staging"}), "roll back from staging"),
            ("run_tests", json!({"branch": "main"}), "run the tests for branch main"),
            ("book_flight", json!({"passenger": "Ann", "seats": 2}), "book a flight for Ann with 2 seats"),
            ("lock", json!({"environment": "staging"}), "lock environment staging"),
            (
                "find_flights",
                json!({"from": "Oslo", "to": "Rome", "day": "Monday"}),
                "find the flights from Oslo to Rome on Monday",
            ),
            ("book_hotel", json!({"hotel": "H-1", "nights": 3}), "book hotel H-1 with 3 nights"),
            ("closeTicket", json!({"ticketId": "t-7", "notify": true}), "close ticket t-7 with notify"),
            ("weather", json!({"city": "Oslo"}), "call `weather` in Oslo"),
            ("log_out", json!({}), "log out"),
        ] {
            let arguments: Vec<(&str, &Value)> =
                arguments.as_object().unwrap().iter().map(|(name, value)| (name.as_str(), value)).collect();
            assert_eq!(task(tool, &arguments), expected);
        }
    }
}
