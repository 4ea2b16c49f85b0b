//! Text to events.

use serde_json::Map;
use thiserror::Error;

use super::{Defaults, FINISH_WORDS, default_finish, is_bare};
use crate::actor::is_part;
use crate::{
    Actor, Arguments, Author, CallId, Continuation, EndReason, Event, EventKind, LimitKind, Tally, ToolCall,
    ToolResult, Usage,
};

/// A text that is not in the notation.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("at byte {offset}: expected {expected}, found {found}")]
pub struct NotationError {
    /// The position, in bytes from the start of the text; always between two characters.
    pub offset: usize,
    /// What could have stood there.
    pub expected: String,
    /// The text at that position: the next few characters in backticks, or `the end`.
    pub found: String,
}

/// Characters of the text that an error repeats.
const FOUND_CHARS_MAX: usize = 20;

/// Reads a list of events from text, as described [above](super). Blank text is the empty list. The consistency of
/// the events (a result of no call, an event after the end) is not checked.
///
/// # Errors
/// The first place where the text violates the notation.
pub fn parse(text: &str) -> Result<Vec<Event>, NotationError> {
    let mut parser = Parser { text, offset: 0 };
    let mut defaults = Defaults::default();
    let mut events = Vec::new();
    // Only here may an event be missing; after a `|` one must follow.
    if parser.peek().is_none() {
        return Ok(events);
    }
    loop {
        let event = parser.event(&defaults)?;
        defaults.note(&event);
        events.push(event);
        match parser.peek() {
            None => return Ok(events),
            Some(b'|') => parser.offset += 1,
            Some(_) => return Err(parser.error("`|` or the end")),
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    offset: usize,
}

impl<'t> Parser<'t> {
    fn event(&mut self, defaults: &Defaults) -> Result<Event, NotationError> {
        let at = if self.eat(b'@') { self.number()? } else { defaults.at };
        let actor = self.actor()?;
        // Past the white space first, so that an error is reported at the word.
        self.peek();
        let start = self.offset;
        let kind = match self.keyword() {
            "query" => EventKind::Query { text: self.string()? },
            "turn" => self.turn()?,
            "say" => {
                let text = self.string()?;
                self.turn_end(text, 0)?
            }
            "batch" => self.batch()?,
            "call" => self.call(defaults)?,
            "ok" => self.result(defaults, ToolResult::ok)?,
            "err" => self.result(defaults, ToolResult::error)?,
            "denied" => self.result(defaults, ToolResult::denied)?,
            "spec" => self.spec()?,
            "section" => self.section()?,
            "correct" => EventKind::Correction {
                violation: self.string()?,
                appended: self.string()?,
                discarded_bytes: self.discarded()?,
            },
            "tally" => self.tally()?,
            "answer" => EventKind::End(EndReason::Answered { text: self.string()? }),
            "limit" => {
                let words = LimitKind::ALL.map(|limit| (limit.as_str(), limit));
                let limit = self.one_of(
                    &words,
                    "`wall_ms`, `iterations`, `output_bytes`, `text_bytes` or `reply_tokens`",
                )?;
                EventKind::End(EndReason::LimitReached { limit, value: self.number()? })
            }
            "failed" => EventKind::End(EndReason::AgentFailed { reason: self.string()? }),
            "unscored" => EventKind::End(EndReason::Unscored { reason: self.string()? }),
            _ => {
                self.offset = start;
                return Err(self
                    .error("an event: query, turn, say, batch, call, ok, err, denied, spec, section, correct, tally, answer, limit, failed or unscored"));
            }
        };
        Ok(Event { at, actor, kind })
    }

    /// A name and a colon right behind it.
    fn actor(&mut self) -> Result<Option<Actor>, NotationError> {
        self.peek();
        let start = self.offset;
        let name = self.take_while(is_part);
        let is_named = self.text.as_bytes().get(self.offset) == Some(&b':');
        // The name is only an actor if a colon follows. Otherwise it is read again, as the event's word.
        let end = std::mem::replace(&mut self.offset, start);
        if !is_named {
            return Ok(None);
        }
        let actor =
            Actor::new(name).map_err(|error| self.error(&format!("the name of an actor ({error})")))?;
        self.offset = end + 1;
        Ok(Some(actor))
    }

    fn turn(&mut self) -> Result<EventKind, NotationError> {
        self.peek();
        let start = self.offset;
        let Ok(calls) = u32::try_from(self.number()?) else {
            self.offset = start;
            return Err(self.error("a number of calls below 2^32"));
        };
        self.one_of(&[("call", ()), ("calls", ())], "`call` or `calls`")?;
        let text = self.optional_string()?;
        self.turn_end(text, calls)
    }

    fn turn_end(&mut self, text: String, calls: u32) -> Result<EventKind, NotationError> {
        let finish = if self.eat_option("finish=") {
            self.one_of(&FINISH_WORDS, "`stop`, `tool_calls`, `length`, `content_filter` or `cut`")?
        } else {
            default_finish(calls)
        };
        let usage = if self.eat_option("tokens=") { self.tokens()? } else { Usage::default() };
        let reasoning = if self.eat_option("reasoning=") { self.string()? } else { String::new() };
        Ok(EventKind::Turn { text, reasoning, calls, finish, usage })
    }

    fn tokens(&mut self) -> Result<Usage, NotationError> {
        let (input_tokens, output_tokens) = self.pair("`/` and the tokens written")?;
        let reasoning_tokens = if self.eat(b'/') { self.number()? } else { 0 };
        Ok(Usage { reasoning_tokens, ..Usage::new(input_tokens, output_tokens) })
    }

    /// Two numbers with a `/` between them.
    fn pair(&mut self, second: &str) -> Result<(u64, u64), NotationError> {
        let first = self.number()?;
        if !self.eat(b'/') {
            return Err(self.error(second));
        }
        Ok((first, self.number()?))
    }

    fn spec(&mut self) -> Result<EventKind, NotationError> {
        let name = self.name("the specification's name")?;
        let words = Continuation::ALL.map(|way| (way.as_str(), way));
        let continuation = self.one_of(&words, "`text`, `partial_turn` or `chat`")?;
        Ok(EventKind::Spec { name, continuation })
    }

    fn section(&mut self) -> Result<EventKind, NotationError> {
        let state = self.name("the state's name")?;
        let words = Author::ALL.map(|author| (author.as_str(), author));
        let author = self.one_of(&words, "`user`, `model` or `environment`")?;
        let text = self.optional_string()?;
        let note = if self.eat_option("note=") { self.string()? } else { String::new() };
        Ok(EventKind::Section { state, author, text, note })
    }

    fn discarded(&mut self) -> Result<u64, NotationError> {
        if self.eat_option("discarded=") { self.number() } else { Ok(0) }
    }

    fn tally(&mut self) -> Result<EventKind, NotationError> {
        let mut tally = Tally::default();
        if self.eat_option("corrections=") {
            (tally.corrections, tally.escalations) = self.pair("`/` and the escalations")?;
        }
        tally.discarded_bytes = self.discarded()?;
        if self.eat_option("tokens=") {
            (tally.discarded_tokens, tally.repeated_tokens) = self.pair("`/` and the repeated tokens")?;
        }
        Ok(EventKind::Tally(tally))
    }

    fn batch(&mut self) -> Result<EventKind, NotationError> {
        let mut calls = Vec::new();
        while self.eat(b'#') {
            calls.push(self.id()?);
        }
        Ok(EventKind::Batch { calls })
    }

    fn call(&mut self, defaults: &Defaults) -> Result<EventKind, NotationError> {
        let name = self.name("the tool's name")?;
        let arguments = match self.peek() {
            Some(b'{') => Arguments::Object(self.json::<Map<_, _>>("a JSON object")?),
            // No other word can stand here, so its first letter decides.
            Some(b'm') => {
                self.one_of(&[("malformed", ())], "`{`, `malformed`, `#` or `|`")?;
                Arguments::Malformed(self.string()?)
            }
            _ => Arguments::none(),
        };
        let id = if self.eat(b'#') { self.id()? } else { defaults.call_id() };
        Ok(EventKind::Call(ToolCall { id, name, arguments }))
    }

    fn result(
        &mut self,
        defaults: &Defaults,
        make: fn(CallId, String) -> ToolResult,
    ) -> Result<EventKind, NotationError> {
        let id = if self.eat(b'#') {
            self.id()?
        } else {
            match defaults.result_id() {
                Some(id) => id.clone(),
                None => return Err(self.error("`#` and an id, because every call before has its result")),
            }
        };
        Ok(EventKind::Result(make(id, self.optional_string()?)))
    }

    fn id(&mut self) -> Result<CallId, NotationError> {
        self.name("the id of a call").map(CallId::new)
    }

    fn name(&mut self, what: &str) -> Result<String, NotationError> {
        match self.peek() {
            Some(b'"') => self.string(),
            Some(byte) if is_bare(byte) => Ok(self.take_while(is_bare).to_owned()),
            _ => Err(self.error(what)),
        }
    }

    fn number(&mut self) -> Result<u64, NotationError> {
        self.peek();
        let start = self.offset;
        self.take_while(|byte| byte.is_ascii_digit()).parse().map_err(|_| {
            self.offset = start;
            self.error("a whole number below 2^64")
        })
    }

    fn string(&mut self) -> Result<String, NotationError> {
        match self.peek() {
            Some(b'"') => self.json("a JSON string"),
            _ => Err(self.error("a text in double quotes")),
        }
    }

    fn optional_string(&mut self) -> Result<String, NotationError> {
        if self.peek() == Some(b'"') { self.string() } else { Ok(String::new()) }
    }

    /// Reads one JSON value, which determines its own end.
    fn json<T: serde::de::DeserializeOwned>(&mut self, what: &str) -> Result<T, NotationError> {
        let rest = self.text.get(self.offset..).unwrap_or_default();
        // Read as a stream, which stops behind the first value whatever follows it.
        let mut values = serde_json::Deserializer::from_str(rest).into_iter();
        match values.next() {
            Some(Ok(value)) => {
                self.offset += values.byte_offset();
                Ok(value)
            }
            Some(Err(error)) => {
                let message = error.to_string();
                let message = message.split(" at line ").next().unwrap_or_default();
                // The parser's position is within the rest of the text.
                self.offset += offset_in(rest, error.line(), error.column());
                Err(self.error(&format!("{what} ({message})")))
            }
            None => Err(self.error(what)),
        }
    }

    fn one_of<T: Copy>(&mut self, words: &[(&str, T)], what: &str) -> Result<T, NotationError> {
        self.peek();
        let start = self.offset;
        let found = self.keyword();
        for (word, value) in words {
            if found == *word {
                return Ok(*value);
            }
        }
        self.offset = start;
        Err(self.error(what))
    }

    fn keyword(&mut self) -> &'t str {
        self.peek();
        self.take_while(|byte| byte.is_ascii_alphabetic() || byte == b'_')
    }

    fn take_while(&mut self, accept: impl Fn(u8) -> bool) -> &'t str {
        let rest = self.text.get(self.offset..).unwrap_or_default();
        let length = rest.bytes().position(|byte| !accept(byte)).unwrap_or(rest.len());
        self.offset += length;
        rest.get(..length).unwrap_or_default()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.offset += usize::from(found);
        found
    }

    fn eat_option(&mut self, option: &str) -> bool {
        self.peek();
        let found = self.text.get(self.offset..).is_some_and(|rest| rest.starts_with(option));
        self.offset += if found { option.len() } else { 0 };
        found
    }

    /// The next byte that is not white space, moving there.
    fn peek(&mut self) -> Option<u8> {
        self.take_while(|byte| byte.is_ascii_whitespace());
        self.text.as_bytes().get(self.offset).copied()
    }

    fn error(&self, expected: &str) -> NotationError {
        // The JSON parser counts bytes, so the position may be within a character.
        let offset = self.text.floor_char_boundary(self.offset);
        let rest: String =
            self.text.get(offset..).unwrap_or_default().chars().take(FOUND_CHARS_MAX).collect();
        let found = if rest.is_empty() { "the end".to_owned() } else { format!("`{rest}`") };
        NotationError { offset, expected: expected.to_owned(), found }
    }
}

/// The byte offset of a position that `serde_json` gives as a line (from 1) and a column (bytes read of that line).
fn offset_in(text: &str, line: usize, column: usize) -> usize {
    let line_start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    (line_start + column.saturating_sub(1)).min(text.len())
}
