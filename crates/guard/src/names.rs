//! Names in calls that differ from those in the rules only for a careful reader.
//!
//! A server or an agent that takes `refund` for `Refund`, or does not see a letter of no width, would carry out a call
//! that no rule was asked about. So such a name is refused, wherever calls come from.

use std::collections::{HashMap, HashSet};

use planproof_spec::rules::RuleSet;
use serde_json::Value;

use crate::strict;

/// The names of tools and arguments in rules, by their plain forms.
#[derive(Debug, Default)]
pub(crate) struct KnownNames {
    tools: HashMap<String, HashSet<String>>,
    arguments: HashMap<String, HashSet<String>>,
}

impl KnownNames {
    pub(crate) fn of(rules: &RuleSet) -> Self {
        let mut known = Self::default();
        for name in rules.tool_names() {
            let name = name.rsplit_once('/').map_or(name, |(_, name)| name);
            known.tools.entry(plain(name)).or_default().insert(name.to_owned());
        }
        for name in rules.argument_names() {
            known.arguments.entry(plain(&name)).or_default().insert(name);
        }
        known
    }

    /// What is wrong with the names in a call, in a sentence without a full stop.
    ///
    /// # Errors
    /// One of them is not in the rules, and looks like one that is.
    pub(crate) fn check(&self, tool: &str, arguments: &Value) -> Result<(), String> {
        if let Some(known) = like(&self.tools, tool) {
            return Err(format!("the tool is called `{known}` in the rules, not `{}`", tool.escape_debug()));
        }
        match self.careless(arguments) {
            Some((name, known)) => {
                Err(format!("an argument is called `{known}` in the rules, not `{}`", name.escape_debug()))
            }
            None => Ok(()),
        }
    }

    /// A name in arguments that looks like one in the rules, and that name.
    fn careless<'a>(&'a self, value: &'a Value) -> Option<(&'a str, &'a str)> {
        match value {
            Value::Object(entries) => entries.iter().find_map(|(name, value)| {
                let known = like(&self.arguments, name).map(|known| (name.as_str(), known));
                known.or_else(|| self.careless(value))
            }),
            Value::Array(items) => items.iter().find_map(|item| self.careless(item)),
            _ => None,
        }
    }
}

/// The known name that a name looks like without being it.
fn like<'k>(known: &'k HashMap<String, HashSet<String>>, name: &str) -> Option<&'k str> {
    let known = known.get(&plain(name)).filter(|known| !known.contains(name))?;
    known.iter().min().map(String::as_str)
}

/// A name as careless readers see it: without blanks and what is invisible, in any case, in any width.
pub(crate) fn plain(name: &str) -> String {
    let narrow = |c: char| match u32::from(c) {
        wide @ 0xff01..=0xff5e => char::from_u32(wide - 0xfee0).unwrap_or(c),
        _ => c,
    };
    let is_seen = |c: &char| !c.is_whitespace() && !c.is_control() && !is_invisible(*c);
    strict::folded(&name.chars().map(narrow).filter(is_seen).collect::<String>())
}

/// Whether a character is among those that Unicode lets nobody see (`Default_Ignorable_Code_Point`).
fn is_invisible(c: char) -> bool {
    matches!(u32::from(c),
        0xad | 0x34f | 0x61c | 0x115f..=0x1160 | 0x17b4..=0x17b5 | 0x180b..=0x180f | 0x200b..=0x200f
        | 0x202a..=0x202e | 0x2060..=0x206f | 0x3164 | 0xfe00..=0xfe0f | 0xfeff | 0xffa0 | 0xfff0..=0xfffb
        | 0x1bca0..=0x1bca3 | 0x1d173..=0x1d17a | 0xe0000..=0xe0fff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_alike_has_one_plain_form() {
        for name in [
            "order_id",
            "Order_ID",
            " order_id ",
            "order\u{ad}_id",
            "ｏｒｄｅｒ＿ｉｄ",
            "order_id\u{e0041}",
            "\u{feff}order_i\u{202e}d",
        ] {
            assert_eq!(plain(name), "order_id", "{}", name.escape_debug());
        }
        for name in ["order-id", "orderid", "order_ids", "\u{43e}rder_id"] {
            assert_ne!(plain(name), "order_id", "{}", name.escape_debug());
        }
    }
}
