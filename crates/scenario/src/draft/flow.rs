//! Values as YAML in one line.

use serde_json::Value;

/// A value as YAML in one line.
pub(super) fn flow(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::Object(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|(key, value)| format!("{}: {}", flow_key(key), flow(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        Value::String(text) if is_plain(text) => text.clone(),
        Value::String(text) => quoted(text),
        other => other.to_string(),
    }
}

pub(super) fn flow_key(key: &str) -> String {
    let is_pointer = key.strip_prefix('/').is_some_and(|rest| {
        !rest.is_empty() && rest.chars().all(|c| c.is_ascii_alphanumeric() || "_-/".contains(c))
    });
    // A `?` behind a name marks an argument that may be left out.
    let name = key.strip_suffix('?').unwrap_or(key);
    if is_pointer || is_plain(name) { key.to_owned() } else { quoted(key) }
}

/// Whether a text means itself in YAML, without quotes.
fn is_plain(text: &str) -> bool {
    const OTHER: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
        && !OTHER.contains(&text.to_ascii_lowercase().as_str())
}

/// A text in double quotes. JSON's escapes are YAML's; what YAML does not allow as it is, what nobody sees, and what
/// begins a command of a build log becomes one.
fn quoted(text: &str) -> String {
    let mut out = String::new();
    for c in Value::from(text).to_string().chars() {
        let is_command = c == '[' && out.ends_with("##");
        if !(is_hidden(c) || is_command) {
            out.push(c);
            continue;
        }
        let code = u32::from(c);
        out.push_str(&if code <= 0xffff { format!("\\u{code:04x}") } else { format!("\\U{code:08x}") });
    }
    out
}

/// Characters that are not seen, or that change how others are: controls, marks of direction, what breaks lines,
/// private use, and tags.
pub(super) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{e000}'..='\u{f8ff}'
            | '\u{fdd0}'..='\u{fdef}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
            | '\u{e0000}'..='\u{10ffff}')
}
