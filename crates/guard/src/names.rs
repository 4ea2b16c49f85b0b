//! Names in calls that differ from those in the rules only for a careful reader.
//!
//! A server or an agent that takes `refund` for `Refund`, or does not see a letter of no width, would carry out a call
//! that no rule was asked about. So such a name is refused, wherever calls come from.

use std::collections::{HashMap, HashSet};

use planproof_spec::rules::{ArgumentPlace, RuleSet};
use serde_json::Value;

use crate::decision::AskedCall;
use crate::strict;

/// The names of tools and arguments in rules.
#[derive(Debug, Default)]
pub(crate) struct KnownNames {
    /// By their plain forms.
    tools: HashMap<String, HashSet<String>>,
    /// Where rules look in the arguments of a tool: the same name elsewhere is another one.
    arguments: Vec<ArgumentPlace>,
}

impl KnownNames {
    pub(crate) fn of(rules: &RuleSet) -> Self {
        let mut known = Self { tools: HashMap::new(), arguments: rules.argument_places() };
        for name in rules.tool_names() {
            // What stands before a `/` may be a server, or the beginning of the tool's own name.
            let ends = name.match_indices('/').filter_map(|(at, slash)| name.get(at + slash.len()..));
            for name in std::iter::once(name).chain(ends) {
                known.tools.entry(plain(name)).or_default().insert(name.to_owned());
            }
        }
        known
    }

    /// What is wrong with the names in a call, in a sentence without a full stop.
    ///
    /// # Errors
    /// One of them is not in the rules, and looks like one that is.
    pub(crate) fn check(&self, call: &AskedCall<'_>) -> Result<(), String> {
        let AskedCall { server, tool, arguments } = *call;
        self.check_tool(server, tool)?;
        let places = self.arguments.iter().filter(|place| place.is_of(server, tool));
        match careless(arguments, &places.map(|place| &*place.names).collect::<Vec<_>>()) {
            Some((name, known)) => {
                Err(format!("an argument is called `{known}` in the rules, not `{}`", name.escape_debug()))
            }
            None => Ok(()),
        }
    }

    /// The same of the name of a tool, with that of its server where the session has several.
    pub(crate) fn check_tool(&self, server: Option<&str>, tool: &str) -> Result<(), String> {
        let whole = server.map(|server| format!("{server}/{tool}"));
        // A name that the rules have is that tool, however much it looks like another's end.
        if whole.as_deref().is_some_and(|whole| is_known(&self.tools, whole)) {
            return Ok(());
        }
        for name in std::iter::once(tool).chain(whole.as_deref()) {
            if let Some(known) = like(&self.tools, name) {
                return Err(format!(
                    "the tool is called `{known}` in the rules, not `{}`",
                    name.escape_debug()
                ));
            }
        }
        Ok(())
    }
}

/// A name in a value that looks like one on the way to one of these places, and that name.
fn careless<'a>(value: &'a Value, places: &[&'a [String]]) -> Option<(&'a str, &'a str)> {
    // Where a place has this name next, and what is left of the way there.
    let behind = |name: &str| -> Vec<&'a [String]> {
        places
            .iter()
            .filter_map(|place| place.split_first().filter(|(first, _)| *first == name))
            .map(|(_, rest)| rest)
            .collect()
    };
    match value {
        _ if places.is_empty() => None,
        Value::Object(entries) => entries.iter().find_map(|(name, value)| {
            let known = behind(name);
            if !known.is_empty() {
                return careless(value, &known);
            }
            let plain_name = plain(name);
            let next = places.iter().filter_map(|place| place.first());
            let known = next.filter(|next| plain(next) == plain_name).min()?;
            Some((name.as_str(), known.as_str()))
        }),
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(at, item)| careless(item, &behind(&at.to_string())))
        }
        _ => None,
    }
}

fn is_known(known: &HashMap<String, HashSet<String>>, name: &str) -> bool {
    known.get(&plain(name)).is_some_and(|known| known.contains(name))
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
    use serde_json::json;

    use super::*;

    /// A tool with slashes in its own name, and one of a server.
    #[test]
    fn what_stands_before_a_slash_is_part_of_a_name() {
        let text = "schema: planproof/rules/v1\naliases: {wipe: [disk/wipe/all]}\nrules:\n\
                    \x20 - {id: a, never: {call: files/delete}}\n  - {id: b, never: {call: wipe}}\n";
        let known = KnownNames::of(&RuleSet::read(text).expect("rules"));
        for (server, tool, is_refused) in [
            (None, "files/delete", false),
            (None, "Files/Delete", true),
            (None, "files/Delete", true),
            (None, "FILES/delete", true),
            (None, "files/delete ", true),
            (None, "files/ delete", true),
            (None, " files /delete", true),
            (None, "\u{fb01}les/delete", true),
            (None, "files\u{ff0f}delete", true),
            (None, "fi\u{ad}les/delete", true),
            (None, "delete", false),
            (None, "Delete", true),
            (None, "other/delete", false),
            (None, "other/Delete", false),
            (Some("files"), "delete", false),
            (Some("files"), "Delete", true),
            (Some("Files"), "delete", true),
            (Some("Files "), "delete", true),
            (Some("mail"), "delete", false),
            (None, "disk/wipe/all", false),
            (None, "Disk/wipe/all", true),
            (None, "disk/Wipe/all", true),
            (Some("disk"), "wipe/all", false),
            (Some("disk"), "Wipe/all", true),
            (Some("disk/wipe"), "All", true),
            (Some("any"), "wipe", false),
            (Some("any"), "WIPE", true),
        ] {
            let refused = known.check_tool(server, tool);
            assert_eq!(refused.is_err(), is_refused, "{server:?} {tool}: {refused:?}");
        }
    }

    /// Arguments of calls, and the name in them that is refused.
    #[test]
    fn a_name_is_refused_where_rules_look_for_it() {
        let text = "schema: planproof/rules/v1\naliases: {pay: [shop/settle]}\nrules:\n\
                    \x20 - {id: a, never: {call: pay, where: {/order/name: x, /items/0/id: 1, /Name: x, /a~1b: 1}}}\n\
                    \x20 - {id: b, requires: {call: refund, done: look}, per: /order_id}\n\
                    \x20 - {id: c, takes: {call: send, argument: /to, from: find, value: /mail}}\n\
                    \x20 - {id: d, never: {call: \"*\", where: {/token: {present: true}}}}\n";
        let known = KnownNames::of(&RuleSet::read(text).expect("rules"));
        for (server, tool, arguments, refused) in [
            (None, "pay", json!({"order": {"name": "y"}, "Name": "y"}), None),
            (None, "pay", json!({"Order": {"name": "y"}}), Some("Order")),
            (None, "pay", json!({"order": {"name": "y", "NAME": "x"}}), Some("NAME")),
            (None, "pay", json!({"other": {"NAME": "x", "Order": 1}}), None),
            (None, "pay", json!({"order": {"deep": {"Name": "x"}}}), None),
            (None, "pay", json!({"order": [{"Name": "x"}]}), None),
            (None, "pay", json!({"name": "x"}), Some("name")),
            (None, "pay", json!({"items": [{"ID": 1}]}), Some("ID")),
            (None, "pay", json!({"items": [{"id": 2}, {"ID": 1}]}), None),
            (None, "pay", json!({"A/B": 1}), Some("A/B")),
            (None, "pay", json!({"to": 1, "To": 1, "Order_ID": 1}), None),
            (Some("shop"), "settle", json!({"Order": {}}), Some("Order")),
            (Some("mail"), "settle", json!({"Order": {}}), None),
            (None, "search", json!({"Name": 1, "filter": {"NAME": "x"}, "Order": 1}), None),
            (None, "search", json!({"Token": 1}), Some("Token")),
            (None, "look", json!({"Order_ID": 1}), Some("Order_ID")),
            (None, "refund", json!({"order_id": 1, "order_id ": 2}), Some("order_id ")),
            (None, "send", json!({"To": 1}), Some("To")),
            (None, "send", json!({"Mail": 1}), None),
            (None, "find", json!({"To": 1, "Mail": 1}), None),
        ] {
            let checked = known.check(&AskedCall { server, tool, arguments: &arguments });
            let said = refused.map(|name| format!(", not `{name}`"));
            match (&checked, &said) {
                (Ok(()), None) => {}
                (Err(why), Some(said)) => assert!(why.ends_with(said.as_str()), "{tool} {arguments}: {why}"),
                _ => panic!("{tool} {arguments}: {checked:?}"),
            }
        }
    }

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
