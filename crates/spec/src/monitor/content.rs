//! The rules for a state's content, checked while it is written.

use crate::pattern::Place;
use crate::{ContentRule, Pattern, State};

/// The rules of a state that are checked with each character.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    /// The pattern's state after the relevant part of the content.
    place: Place,
    /// Characters that count.
    characters: u32,
    /// Byte of the text after the last relevant one.
    end: usize,
    /// There was something other than white space.
    has_begun: bool,
    /// Where the content was read as JSON.
    json: Json,
}

/// A place in content that may be JSON.
#[derive(Debug, Clone, Copy, Default)]
struct Json {
    /// Byte of the text up to which it was read.
    at: usize,
    is_in_string: bool,
    is_escaped: bool,
    has_begun: bool,
    /// It is not JSON that holds strings.
    is_other: bool,
}

/// The end of the JSON string that contains a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StringEnd {
    /// It is in none.
    None,
    /// Before this byte of the text.
    At(usize),
    /// It has not come.
    Open,
}

/// Where content violates a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Departure {
    /// Beyond this byte the text can no longer begin a match.
    Pattern {
        /// The byte.
        at: usize,
        /// What stands before it is a match.
        is_match: bool,
    },
    /// The content is too long; up to this byte of the text it is not.
    Length {
        /// The byte.
        at: usize,
    },
}

impl Progress {
    /// Content that begins at this byte of the text.
    pub(crate) fn new(state: &State, start: usize) -> Self {
        let place = pattern(state).and_then(Pattern::start);
        let json = Json { at: start, ..Json::default() };
        Self { place, characters: 0, end: start, has_begun: false, json }
    }

    /// The end of the string that contains a byte of the text, if the content is JSON. The bytes must be queried in
    /// ascending order; nothing is read twice between two corrections, so that everything together takes time in
    /// proportion to the content.
    pub(crate) fn end_of_string(&mut self, text: &str, byte: usize) -> StringEnd {
        let json = &mut self.json;
        while !json.is_other && (json.is_in_string || json.at < byte) {
            let Some(next) = text.as_bytes().get(json.at) else { return StringEnd::Open };
            json.at += 1;
            // An escaped quote must not reach the arm for quotes, so the order of the arms matters.
            match next {
                // A string without an end on its line is none.
                b'\n' if json.is_in_string => json.is_other = true,
                _ if json.is_escaped => json.is_escaped = false,
                b'\\' if json.is_in_string => json.is_escaped = true,
                b'"' => {
                    json.is_in_string = !json.is_in_string;
                    if !json.is_in_string && json.at > byte {
                        return StringEnd::At(json.at);
                    }
                }
                next if !json.has_begun => {
                    json.is_other = !next.is_ascii_whitespace() && !matches!(next, b'{' | b'[');
                }
                _ => {}
            }
            json.has_begun = json.has_begun || !next.is_ascii_whitespace();
        }
        StringEnd::None
    }

    /// Reads the content from byte `from` of the text to byte `to`. White space around the content is ignored, so
    /// inner white space is read once more text follows. After a violation nothing more must be read.
    pub(super) fn read(
        &mut self,
        state: &State,
        text: &str,
        from: usize,
        to: usize,
    ) -> Result<(), Departure> {
        let (pattern, limit) = (pattern(state), max_length(state));
        if pattern.is_none() && limit.is_none() {
            return Ok(());
        }
        for (offset, c) in text[from..to].char_indices() {
            if c.is_whitespace() {
                continue;
            }
            let here = from + offset;
            if !self.has_begun {
                self.has_begun = true;
                self.end = here;
            }
            // Skipped white space turned out to be inside.
            for (offset, c) in text[self.end..here + c.len_utf8()].char_indices() {
                let at = self.end + offset;
                if limit.is_some_and(|limit| self.characters >= limit) {
                    self.end = at;
                    return Err(Departure::Length { at });
                }
                if let Some(pattern) = pattern {
                    let mut bytes = [0; 4];
                    let next = c
                        .encode_utf8(&mut bytes)
                        .bytes()
                        .fold(self.place, |place, byte| pattern.step(place, byte));
                    if next.is_none() {
                        self.end = at;
                        // `place` still belongs to the text before `at`, where a retry continues.
                        return Err(Departure::Pattern { at, is_match: pattern.is_match(self.place) });
                    }
                    self.place = next;
                }
                self.characters += 1;
            }
            self.end = here + c.len_utf8();
        }
        Ok(())
    }

    /// Has JSON read again from this byte of the text, where the content begins: text that was read was cut off.
    pub(super) fn restart_json(&mut self, start: usize) {
        self.json = Json { at: start, ..Json::default() };
    }

    /// What every match goes on with.
    pub(super) fn forced(&self, state: &State) -> String {
        pattern(state).map(|pattern| pattern.forced(self.place)).unwrap_or_default()
    }
}

/// The pattern for the content of a state.
pub(super) fn pattern(state: &State) -> Option<&Pattern> {
    state.content.iter().find_map(|rule| match &rule.value {
        ContentRule::Matches(pattern) => Some(pattern),
        _ => None,
    })
}

/// The length limit for the content of a state.
pub(super) fn max_length(state: &State) -> Option<u32> {
    state.content.iter().find_map(|rule| match &rule.value {
        ContentRule::MaxLength(limit) => Some(*limit),
        _ => None,
    })
}
