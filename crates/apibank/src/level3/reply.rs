//! Whether a reply names what the task asks for.
//!
//! Each task lists what a reply has to name ([`UserTask::asks`]): the flight, the restaurants, the number of likes. It
//! says nothing about the wording: a name counts if its words are in the reply in this order, a number if it is there
//! in any notation, or rounded. A task that a user has written may leave the list out. A reply then has to name at
//! least half of what the right reply takes from the results of calls on which no other call depends, because these are
//! what the calls were made for; where there is no such thing, as after an order that only had to be carried out, it
//! has to share a word with the right reply that is not in the requirement.

use std::collections::BTreeSet;

use super::SEARCHER;
use super::task::UserTask;
use crate::value::PythonValue;

/// Words that say nothing about a task.
const EMPTY_WORDS: &str = "a an and are as at be by can do for from have i in is it me my no not of ok okay on or please so \
    sure that the them then there these this to was were will with yes you your";

/// What a reply has to name of a task and does not, each as one of the possible names.
pub(crate) fn lacking(task: &UserTask, reply: &str) -> Vec<String> {
    let reply = Reply::read(reply);
    if !task.asks.is_empty() {
        let lacking = task.asks.iter().filter(|names| !names.iter().any(|name| reply.names(name)));
        return lacking.filter_map(|names| names.first().cloned()).collect();
    }
    let facts = facts(task);
    let (named, lacking): (Vec<&String>, Vec<&String>) = facts.iter().partition(|fact| reply.names(fact));
    let is_enough = match facts.is_empty() {
        false => 2 * named.len() >= facts.len(),
        true => reply.shares_word(&task.reply, &task.requirement),
    };
    match (is_enough, facts.is_empty()) {
        (true, _) => Vec::new(),
        (false, false) => lacking.into_iter().cloned().collect(),
        (false, true) => vec![task.reply.clone()],
    }
}

/// What the right reply takes from the results of calls on which no other call depends.
fn facts(task: &UserTask) -> BTreeSet<String> {
    let (right, requirement) = (Reply::read(&task.reply), Reply::read(&task.requirement));
    let is_needed = |place: usize| task.calls.iter().any(|call| call.needs.contains(&place));
    let mut facts = BTreeSet::new();
    for (place, call) in task.calls.iter().enumerate() {
        if call.api != SEARCHER && !is_needed(place) {
            leaves(&call.record.output, &mut facts);
        }
    }
    // One letter or digit is in any text.
    facts.retain(|fact| fact.chars().count() > 1 && right.names(fact) && !requirement.names(fact));
    facts
}

/// The texts and numbers in a value.
pub(super) fn leaves(value: &PythonValue, found: &mut BTreeSet<String>) {
    if let Some(list) = value.as_list() {
        list.iter().for_each(|item| leaves(item, found));
    } else if let Some(dict) = value.as_dict() {
        dict.values().for_each(|item| leaves(item, found));
    } else if !value.is_none() && !matches!(value, PythonValue::Bool(_)) {
        found.insert(value.to_text());
    }
}

/// The words and numbers of a reply.
struct Reply {
    words: Vec<String>,
    numbers: Vec<Number>,
}

/// A number as it is written.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Number {
    value: f64,
    decimals: i32,
}

impl Reply {
    fn read(text: &str) -> Self {
        Self { words: words(text).collect(), numbers: numbers(text) }
    }

    /// Whether a name or a number is in the reply.
    fn names(&self, name: &str) -> bool {
        if let Some(number) = as_number(name) {
            return self.numbers.iter().any(|it| is_same(*it, number));
        }
        // The parts of an address may have other words between them, as in `3 Mill Lane in Oslo`.
        let mut parts = name
            .split(',')
            .map(|part| words(part).collect::<Vec<_>>())
            .filter(|part| !part.is_empty())
            .peekable();
        parts.peek().is_some() && parts.all(|part| self.words.windows(part.len()).any(|words| words == part))
    }

    /// Whether the reply has a word of the right one that has some content and is not in the requirement. Where there
    /// is no such word, any reply with a word does.
    fn shares_word(&self, right: &str, requirement: &str) -> bool {
        let requirement: BTreeSet<String> = words(requirement).collect();
        let has_content = |word: &String| {
            let is_empty = EMPTY_WORDS.split_whitespace().any(|empty| empty == word);
            word.chars().count() > 1 && !is_empty && !requirement.contains(word)
        };
        let telling: Vec<String> = words(right).filter(has_content).collect();
        match telling.is_empty() {
            true => !self.words.is_empty(),
            false => telling.iter().any(|word| self.words.contains(word)),
        }
    }
}

/// The words of a text in lower case, without the `s` of a plural.
fn words(text: &str) -> impl Iterator<Item = String> {
    let text = text.to_lowercase().replace(['\'', '\u{2019}'], "");
    let words: Vec<String> = text
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty() && !matches!(*word, "the" | "a" | "an" | "and"))
        .map(|word| match word.strip_suffix('s') {
            Some(stem) if stem.chars().count() > 2 => stem.to_owned(),
            _ => word.to_owned(),
        })
        .collect();
    words.into_iter()
}

/// A text that is a number and nothing else.
fn as_number(text: &str) -> Option<Number> {
    match &numbers(text)[..] {
        [number] if text.trim().chars().all(|it| it.is_ascii_digit() || matches!(it, '.' | ',' | '-')) => {
            Some(*number)
        }
        _ => None,
    }
}

/// The numbers in a text: `-12`, `84,000`, `3,966.67`. A comma or point that no digit follows ends a sentence.
fn numbers(text: &str) -> Vec<Number> {
    let characters: Vec<char> = text.chars().collect();
    let digit = |place: usize| characters.get(place).is_some_and(char::is_ascii_digit);
    let mut numbers = Vec::new();
    let mut place = 0;
    while place < characters.len() {
        if !digit(place) {
            place += 1;
            continue;
        }
        let before = |back: usize| place.checked_sub(back).and_then(|at| characters.get(at));
        // The hyphen of `2024-05` is not a sign.
        let is_negative = before(1).is_some_and(|it| matches!(it, '-' | '\u{2212}'))
            && before(2).is_none_or(|it| !it.is_alphanumeric());
        let (mut written, mut decimals, mut has_point) = (String::new(), 0, false);
        while let Some(character) = characters.get(place) {
            // A thousand is three digits after the comma, and no more.
            let is_thousand = *character == ','
                && !has_point
                && (1..=3).all(|after| digit(place + after))
                && !digit(place + 4);
            match character {
                '0'..='9' => {
                    written.push(*character);
                    decimals += i32::from(has_point);
                }
                '.' if !has_point && digit(place + 1) => {
                    written.push('.');
                    has_point = true;
                }
                ',' if is_thousand => {}
                _ => break,
            }
            place += 1;
        }
        if let Ok(value) = written.parse::<f64>() {
            numbers.push(Number { value: if is_negative { -value } else { value }, decimals });
        }
    }
    numbers
}

/// Whether a number in a reply is the right one, or that one rounded to no fewer than one decimal.
fn is_same(found: Number, right: Number) -> bool {
    let decimals = found.decimals.min(right.decimals);
    if right.decimals > 0 && found.decimals == 0 {
        return found.value == right.value;
    }
    // A little more than half a unit of the last decimal that both have, for numbers that cannot be written exactly.
    (found.value - right.value).abs() <= 0.5 * 10_f64.powi(-decimals) + 1e-9
        && (decimals > 0 || found.value == right.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_found_in_any_notation() {
        // The name, a reply, and whether it is named there.
        let cases = [
            ("12", "It has 12 likes.", true),
            ("12", "It has 112 likes.", false),
            ("12", "It has 1.2 likes, or 12.5.", false),
            ("84000", "They keep $84,000 a year.", true),
            ("84,000", "They keep 84000.", true),
            ("84,000", "They keep 84,001.", false),
            ("3,966.67", "That is 3966.6667 a month.", true),
            ("3,966.67", "That is about 3966.7 a month.", true),
            ("3,966.67", "That is about 3967 a month.", false),
            ("3,966.67", "That is 3966.5 a month.", false),
            ("59.9139", "at 59.91 and 10.75", true),
            ("-33.8688", "latitude \u{2212}33.8688", true),
            ("-33.8688", "latitude 33.8688", false),
            ("33.8688", "latitude -33.8688", false),
            ("5", "on 2024-05-12", true),
            ("The Golden Lantern", "Stay at Golden Lantern.", true),
            ("The Golden Lantern", "Stay at the Golden Lion.", false),
            ("Gloves", "take a glove", true),
            ("O'Neill", "Oneill", true),
            ("3 Mill Lane, Oslo", "3, Mill Lane in Oslo", true),
            ("3 Mill Lane, Oslo", "Lane 3, Mill of Oslo", false),
            ("The Painted Table", "the Painted Fork, the Cedar Table", false),
            ("AF123", "flight af123.", true),
            ("AF123", "flight AF 123", false),
            ("AF123", "flight AF1234", false),
            ("", "anything", false),
        ];
        for (name, reply, is_named) in cases {
            assert_eq!(Reply::read(reply).names(name), is_named, "{name:?} in {reply:?}");
        }
    }
}
