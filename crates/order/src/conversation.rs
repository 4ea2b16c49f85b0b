//! The text of a case on one line, and places in it: the paragraph, or what each of several messages says.

use std::borrow::Cow;

use planproof_synth::{OrderTurns, PlanningCase, Source};

/// Separates what a message says.
const BLOCKS: &str = " ";

/// The paragraph; for several messages what they say, each later one after its number.
pub(crate) fn text(case: &PlanningCase) -> Cow<'_, str> {
    match &case.turns {
        None => Cow::Borrowed(&case.paragraph),
        Some(turns) => Cow::Owned(messages(case, turns).concat()),
    }
}

/// The messages, the first as it is, and each other one with its number before it.
fn messages(case: &PlanningCase, turns: &OrderTurns) -> Vec<String> {
    let message = |number: u32| {
        let said = turns.said(case, number).join(BLOCKS);
        if number == 1 { said } else { format!("{}{said}", head(number)) }
    };
    (1..=turns.messages()).map(message).collect()
}

fn head(number: u32) -> String {
    format!(" [message {number}] ")
}

fn characters(text: &str) -> u32 {
    u32::try_from(text.chars().count()).unwrap_or(u32::MAX)
}

/// Where a place of the paragraph stands in [`text`].
pub(crate) fn place(case: &PlanningCase, source: &Source) -> (u32, u32) {
    let unmoved = (source.start, source.end);
    let Some(turns) = &case.turns else { return unmoved };
    let mut begin = 0u32;
    for (message, (number, part)) in messages(case, turns).iter().zip((1u32..).zip(&turns.parts)) {
        if part.start <= source.start && source.end <= part.end {
            let text = case.words_between(*part);
            let said = turns.said(case, number);
            let before = said.iter().take_while(|block| *block != text);
            let before: u32 = before.map(|block| characters(block) + characters(BLOCKS)).sum();
            let head = if number == 1 { 0 } else { characters(&head(number)) };
            let at = begin + head + before;
            return (at + source.start - part.start, at + source.end - part.start);
        }
        begin = begin.saturating_add(characters(message));
    }
    unmoved
}

/// Where these words stand in [`text`]; `None` if they do not.
pub(crate) fn find(case: &PlanningCase, words: &str) -> Option<(u32, u32)> {
    let text = text(case);
    let at = text.find(words)?;
    let start = characters(text.get(..at)?);
    Some((start, start.saturating_add(characters(words))))
}
