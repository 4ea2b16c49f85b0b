//! Why a hook may not do what planproof says, as its configuration shows.

use serde_json::Value;

use super::known::KnownAgent;

/// The keys of a group of hooks with which they deny as without them.
const GROUP_KEYS: [&str; 4] = ["matcher", "hooks", "description", "sequential"];

/// The shortest time, in seconds or in milliseconds, in which a hook can be expected to answer.
const TIMEOUT_MIN: f64 = 1.0;

/// Why a hook that starts planproof may not do what planproof says, if there is something.
pub(super) fn doubt_of(handler: &Value, known: KnownAgent) -> Option<String> {
    let entries = handler.as_object()?;
    let is_known =
        |key: &str| known.hook_keys.contains(&key) || known.closed.is_some_and(|(closed, _)| closed == key);
    if let Some((key, _)) =
        entries.iter().find(|(key, value)| !is_known(key) && **value != Value::Bool(false))
    {
        return Some(format!(
            "the hook has `{key}`, and planproof does not know whether it denies calls then"
        ));
    }
    let timeout = handler.get("timeout").filter(|it| !it.is_null());
    if timeout.is_some_and(|timeout| timeout.as_f64().is_none_or(|timeout| timeout < TIMEOUT_MIN)) {
        return Some(format!(
            "the agent does not wait for the hook for {TIMEOUT_MIN} of its units of time or more"
        ));
    }
    let line = handler.get("command")?.as_str().filter(|_| handler.get("args").is_none())?;
    let operator = operator_in(line)?;
    Some(format!(
        "the command of the hook has `{operator}`, so more than planproof decides what the agent gets"
    ))
}

/// The same for a group of hooks.
pub(super) fn doubt_of_group(group: &Value, known: KnownAgent) -> Option<String> {
    let mut entries = group.as_object().filter(|_| known.has_groups)?.iter();
    let (key, _) =
        entries.find(|(key, value)| !GROUP_KEYS.contains(&&***key) && **value != Value::Bool(false))?;
    Some(format!(
        "the group of the hook has `{key}`, and planproof does not know whether it denies calls then"
    ))
}

/// The first character of a command line, outside of quotes, with which a shell does more than to start a program with
/// the words that stand there.
fn operator_in(line: &str) -> Option<char> {
    let (mut quote, mut is_escaped, mut is_word_begun) = (None, false, false);
    line.chars().find(|c| {
        let was_begun =
            std::mem::replace(&mut is_word_begun, quote.is_some() || is_escaped || !c.is_whitespace());
        if std::mem::take(&mut is_escaped) {
            return false;
        }
        match (quote, *c) {
            (None | Some('"'), '\\') => is_escaped = true,
            (None, '\'' | '"') => quote = Some(*c),
            (Some(open), c) if c == open => quote = None,
            (None, '|' | '&' | ';' | '<' | '>' | ')' | '\n') | (None | Some('"'), '(' | '`') => return true,
            // The rest is a comment.
            (None, '#') => return !was_begun,
            _ => {}
        }
        false
    })
}
