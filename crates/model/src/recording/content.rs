//! A recording that is read.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use planproof_trace::Tool;
use serde::Deserialize;

use super::key::{self, Key};
use super::may_differ::MayDiffer;
use super::outcome::Outcome;
use super::wire::{
    ExchangeLine, Head, HeaderLine, ModelLine, SessionLine, SetupLine, ToolsLine, WireMessage, is_whole,
    types,
};
use super::{
    LINE_BYTES_MAX, NOTE_TYPES, RECORDING_BYTES_MAX, RECORDING_SCHEMA, RecordingError, RecordingNote,
};
use crate::{Capabilities, Message, ReplyId, Settings};

/// A recording as read from its file.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    version: String,
    command: String,
    pub(super) models: Vec<RecordedModel>,
    pub(super) tools: Vec<RecordedTools>,
    pub(super) setups: Vec<Setup>,
    pub(super) nodes: Vec<Node>,
    pub(super) exchanges: Vec<Exchange>,
    pub(super) notes: Vec<RecordingNote>,
    /// The parts of requests that do not count. They are removed from messages and tools; plain texts are unchanged.
    pub(super) may_differ: MayDiffer,
    /// Bytes up to the end of the last complete line.
    pub(super) whole_bytes: u64,
    /// The number of the last line, if it is incomplete and therefore ignored.
    pub(super) torn_line: Option<u64>,
    /// The last line is complete but has no line break.
    pub(super) lacks_line_break: bool,
}

#[derive(Debug)]
pub(super) struct RecordedModel {
    pub(super) name: String,
    pub(super) simulated: bool,
    pub(super) capabilities: Capabilities,
}

#[derive(Debug)]
pub(super) struct RecordedTools {
    pub(super) key: Key,
    pub(super) list: Arc<[Tool]>,
}

/// How a model was asked. In memory indices count from 0, in the file from 1.
#[derive(Debug)]
pub(super) struct Setup {
    pub(super) key: Key,
    pub(super) model: usize,
    pub(super) tools: Option<usize>,
    pub(super) settings: Settings,
}

/// A message and everything before it.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) before: Option<usize>,
    /// Messages up to and with this one.
    pub(super) count: usize,
    /// The key of the conversation up to and including this message.
    pub(super) key: Key,
    pub(super) message: Message,
}

#[derive(Debug)]
pub(super) struct Exchange {
    /// Which opening of the file it belongs to, from 0.
    pub(super) session: u32,
    pub(super) setup: usize,
    pub(super) request: Key,
    pub(super) question: Question,
    pub(super) outcome: Outcome,
}

/// What was asked.
#[derive(Debug)]
pub(super) enum Question {
    /// To go on with a conversation.
    Chat {
        /// Its last message; `None` if it has none.
        last: Option<usize>,
        /// The reply; `None` if there is no complete one.
        reply: Option<usize>,
    },
    /// To continue a plain text.
    Completion { prompt: String },
}

impl Recording {
    /// Reads a recording. A last line that was torn by a crash is ignored ([`torn_line`](Self::torn_line)).
    /// Everything is in memory afterwards, in about the size of the file.
    ///
    /// # Errors
    /// The file cannot be read, is not a recording of this version, or is damaged.
    pub fn read(path: &Path) -> Result<Self, RecordingError> {
        Self::read_but(path, MayDiffer::default())
    }

    /// The same, with requests identified by everything except what may differ.
    ///
    /// # Errors
    /// Those of [`read`](Self::read).
    pub fn read_but(path: &Path, may_differ: MayDiffer) -> Result<Self, RecordingError> {
        let file = planproof_files::open(path).map_err(|error| RecordingError::cannot_read(path, &error))?;
        let recording = Self::read_from(path, &file, may_differ)?;
        recording
            .ok_or_else(|| RecordingError::NotARecording { path: path.into(), what: "it is empty".into() })
    }

    /// As [`read`](Self::read), from an open file. `None` if not even the first line is complete.
    pub(super) fn read_from(
        path: &Path,
        file: &File,
        may_differ: MayDiffer,
    ) -> Result<Option<Self>, RecordingError> {
        let cannot = |error: std::io::Error| RecordingError::cannot_read(path, &error);
        if file.metadata().map_err(cannot)?.len() > RECORDING_BYTES_MAX {
            return Err(RecordingError::TooLarge { path: path.to_owned() });
        }
        let mut reader = Reader { path, recording: None, may_differ, line: 0, session: 0 };
        let mut lines = BufReader::with_capacity(1 << 16, file);
        let mut line = Vec::new();
        loop {
            line.clear();
            // One byte more than is allowed, so that a longer line is detected without reading all of it.
            let read = (&mut lines).take(LINE_BYTES_MAX + 1).read_until(b'\n', &mut line).map_err(cannot)?;
            let is_last = read == 0 || lines.fill_buf().map_err(cannot)?.is_empty();
            if read == 0 || !reader.take(&line, is_last)? {
                return Ok(reader.recording);
            }
        }
    }

    /// Where it was read from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The version of planproof that began it.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// What was run when it was begun.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// The lines that say what the requests were made for, in order.
    pub fn notes(&self) -> &[RecordingNote] {
        &self.notes
    }

    /// The number of the last line, if it is incomplete: a crash cut the file off there, and the line is ignored.
    pub fn torn_line(&self) -> Option<u64> {
        self.torn_line
    }

    /// Number of requests it holds.
    pub fn exchange_count(&self) -> usize {
        self.exchanges.len()
    }

    /// Whether there is nothing but its first line.
    pub(super) fn is_bare(&self) -> bool {
        self.models.is_empty() && self.notes.is_empty()
    }

    /// The message and all before it, in order.
    pub(super) fn conversation(&self, last: Option<usize>) -> Vec<&Message> {
        let mut messages = Vec::new();
        let mut at = last;
        while let Some(node) = at {
            messages.push(&self.nodes[node].message);
            at = self.nodes[node].before;
        }
        messages.reverse();
        messages
    }

    /// The beginning of a conversation that continues from the stored reply of an exchange.
    pub(super) fn after_kept(&self, exchange: usize) -> Option<Key> {
        let Question::Chat { reply: Some(reply), .. } = self.exchanges.get(exchange)?.question else {
            return None;
        };
        Some(key::after_kept(self.nodes[reply].key))
    }

    /// The node of a conversation at which it has `count` messages.
    fn node_at(&self, last: usize, count: usize) -> Option<usize> {
        let mut at = Some(last);
        while let Some(node) = at.filter(|node| self.nodes[*node].count > count) {
            at = self.nodes[node].before;
        }
        at.filter(|node| self.nodes[*node].count == count)
    }
}

/// The index of what the file numbers from 1, if it exists.
fn place<T>(what: &str, number: u32, list: &[T]) -> Result<usize, String> {
    let place = (number as usize).checked_sub(1).filter(|place| *place < list.len());
    place.ok_or_else(|| format!("there is no {what} {number} before it"))
}

fn check_number<T>(what: &str, number: u32, list: &[T]) -> Result<(), String> {
    let expected = list.len() + 1;
    if number as usize == expected {
        return Ok(());
    }
    Err(format!("it is {what} {number} where {what} {expected} is due: lines are missing, or out of order"))
}

/// The beginning of an exchange's line as it is written here.
const EXCHANGE_BEGINNING: &str = r#"{"type":"exchange","#;

struct Reader<'p> {
    path: &'p Path,
    recording: Option<Recording>,
    may_differ: MayDiffer,
    line: u64,
    session: u32,
}

impl Reader<'_> {
    /// Takes the next line, with its line break. `false` at a torn one, which is the end: only the last line can be
    /// torn, with a line break or without, because an editor may have added one.
    fn take(&mut self, bytes: &[u8], is_last: bool) -> Result<bool, RecordingError> {
        self.line += 1;
        if bytes.len() as u64 > LINE_BYTES_MAX {
            return Err(self.damaged(format!("it is longer than {LINE_BYTES_MAX} bytes")));
        }
        let is_ended = bytes.ends_with(b"\n");
        let Ok(text) = std::str::from_utf8(bytes) else {
            return if is_last { self.torn(bytes) } else { Err(self.damaged("it is no UTF-8 text")) };
        };
        let text = text.trim_end_matches(['\n', '\r']);
        // Only the last line is checked separately: if another one is not JSON, it is damaged and not torn.
        if is_last && !text.is_empty() && !is_whole(text) {
            return self.torn(bytes);
        }
        if let Some(recording) = &mut self.recording {
            if !text.is_empty() {
                recording.read_line(text, &mut self.session).map_err(|what| self.damaged(what))?;
            }
        } else {
            self.recording = Some(self.read_header(text)?);
        }
        if let Some(recording) = &mut self.recording {
            recording.whole_bytes += bytes.len() as u64;
            recording.lacks_line_break = !is_ended;
        }
        Ok(true)
    }

    /// A last line that stops in the middle. If it is the first one, it must at least look like ours.
    fn torn(&mut self, bytes: &[u8]) -> Result<bool, RecordingError> {
        let beginning = format!("{{\"schema\":\"{RECORDING_SCHEMA}\"");
        let length = beginning.len().min(bytes.len());
        if self.recording.is_none() && bytes[..length] != beginning.as_bytes()[..length] {
            return Err(self.not_a_recording("its first line is no JSON object"));
        }
        if let Some(recording) = &mut self.recording {
            recording.torn_line = Some(self.line);
        }
        Ok(false)
    }

    fn read_header(&self, text: &str) -> Result<Recording, RecordingError> {
        // The schema comes first: a line of another version may have other fields.
        let Ok(head) = serde_json::from_str::<Head<'_>>(text) else {
            return Err(self.not_a_recording("its first line is no JSON object"));
        };
        match head.schema {
            Some(schema) if schema == RECORDING_SCHEMA => {}
            Some(schema) if schema.starts_with("planproof/recording/") => {
                return Err(RecordingError::OtherVersion {
                    path: self.path.into(),
                    found: schema.into_owned(),
                });
            }
            Some(schema) => return Err(self.not_a_recording(format!("its schema is {schema:?}"))),
            None => return Err(self.not_a_recording("its first line has no `schema`")),
        }
        let header: HeaderLine = parse(text).map_err(|what| self.damaged(what))?;
        Ok(Recording {
            path: self.path.to_owned(),
            version: header.version,
            command: header.command,
            models: Vec::new(),
            tools: Vec::new(),
            setups: Vec::new(),
            nodes: Vec::new(),
            exchanges: Vec::new(),
            notes: Vec::new(),
            may_differ: self.may_differ.clone(),
            whole_bytes: 0,
            torn_line: None,
            lacks_line_break: false,
        })
    }

    fn damaged(&self, what: impl Into<String>) -> RecordingError {
        RecordingError::Damaged { path: self.path.to_owned(), line: self.line, what: what.into() }
    }

    fn not_a_recording(&self, what: impl Into<String>) -> RecordingError {
        RecordingError::NotARecording { path: self.path.to_owned(), what: what.into() }
    }
}

/// A line of JSON. Errors name the column only, because the line is known.
fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        let what = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what);
        format!("column {}: {what}", error.column())
    })
}

impl Recording {
    fn read_line(&mut self, text: &str, session: &mut u32) -> Result<(), String> {
        // Nearly all lines are exchanges that we wrote. Their type is known without parsing them twice; for an
        // invalid one the parser below finds the fault.
        if text.starts_with(EXCHANGE_BEGINNING)
            && let Ok(exchange) = parse(text)
        {
            return self.read_exchange(exchange, *session);
        }
        let head: Head<'_> = parse(text)?;
        let Some(kind) = head.r#type else { return Err("it has no `type`".to_owned()) };
        match &*kind {
            types::EXCHANGE => self.read_exchange(parse(text)?, *session),
            types::SETUP => self.read_setup(&parse(text)?),
            types::TOOLS => self.read_tools(parse(text)?),
            types::MODEL => self.read_model(&parse(text)?),
            types::SESSION => {
                let SessionLine { .. } = parse(text)?;
                *session += 1;
                Ok(())
            }
            kind if NOTE_TYPES.contains(&kind) => {
                self.notes.push(RecordingNote { kind: kind.to_owned(), json: text.to_owned() });
                Ok(())
            }
            other => Err(format!("its type {other:?} is not known")),
        }
    }

    fn read_model(&mut self, line: &ModelLine) -> Result<(), String> {
        check_number("model", line.number, &self.models)?;
        self.models.push(RecordedModel {
            name: line.name.clone(),
            simulated: line.simulated,
            capabilities: line.capabilities(),
        });
        Ok(())
    }

    fn read_tools(&mut self, line: ToolsLine<'_>) -> Result<(), String> {
        check_number("tool list", line.number, &self.tools)?;
        let list = self.may_differ.tools(&line.into_tools()?);
        self.tools.push(RecordedTools { key: key::tools(&list), list });
        Ok(())
    }

    fn read_setup(&mut self, line: &SetupLine<'_>) -> Result<(), String> {
        check_number("setup", line.number, &self.setups)?;
        let model = place("model", line.model, &self.models)?;
        let tools = line.tools.map(|number| place("tool list", number, &self.tools)).transpose()?;
        let settings = line.settings()?;
        let tools_key = tools.map_or_else(|| key::tools(&[]), |tools| self.tools[tools].key);
        let key = key::setup(&self.models[model].name, tools_key, &settings);
        self.setups.push(Setup { key, model, tools, settings });
        Ok(())
    }

    fn read_exchange(&mut self, mut line: ExchangeLine<'_>, session: u32) -> Result<(), String> {
        check_number("exchange", line.number, &self.exchanges)?;
        let setup = place("setup", line.setup, &self.setups)?;
        let outcome = line.take_outcome()?;
        let after = line.after.map(|number| place("exchange", number, &self.exchanges)).transpose()?;
        let setup_key = self.setups[setup].key;
        // A request is a conversation or a text, and has no fields of the other.
        let (request, question) = match (line.messages.take(), line.prompt.take()) {
            (Some(messages), None) if !line.score_prompt => {
                let messages = messages.into_iter().map(WireMessage::into_message);
                let (start, before) = self.start(&line, after)?;
                let (mut last, mut conversation) =
                    // The key of a message includes the start of its conversation, so `start` counts only where there
                    // is no message.
                    before.map_or((None, start), |node| (Some(node), self.nodes[node].key));
                for message in messages {
                    (last, conversation) = self.push(last, conversation, message?);
                }
                // The reply becomes a node, too, because the next exchange of the conversation usually follows it.
                let reply = outcome.turn().map(|turn| self.push(last, conversation, turn));
                let question = Question::Chat { last, reply: reply.and_then(|(node, _)| node) };
                (key::chat(setup_key, conversation), question)
            }
            (None, Some(rest)) if (line.first, line.previous, &line.previous_id) == (None, None, &None) => {
                let mut prompt =
                    after.map(|after| self.text_with_reply(after)).transpose()?.unwrap_or_default();
                prompt.push_str(&rest);
                let compared = self.may_differ.text(&prompt);
                (key::completion(setup_key, &compared, line.score_prompt), Question::Completion { prompt })
            }
            _ => return Err("it asks neither by `messages` alone nor by a `prompt` alone".to_owned()),
        };
        self.exchanges.push(Exchange { session, setup, request, question, outcome });
        Ok(())
    }

    /// Where the conversation of a line begins, and the message after which its own follow.
    fn start(&self, line: &ExchangeLine<'_>, after: Option<usize>) -> Result<(Key, Option<usize>), String> {
        let start = match (line.previous, &line.previous_id) {
            (None, None) => key::beginning(),
            (Some(number), None) => {
                let exchange = place("exchange", number, &self.exchanges)?;
                self.after_kept(exchange).ok_or_else(|| format!("exchange {number} has no reply"))?
            }
            (None, Some(id)) => key::after_unknown(&ReplyId(id.clone().into_owned())),
            (Some(_), Some(_)) => return Err("it has both a `previous` and a `previous_id`".to_owned()),
        };
        let Some(after) = after else {
            return if line.first.is_none() {
                Ok((start, None))
            } else {
                Err("`first` needs `after`".to_owned())
            };
        };
        let Question::Chat { last, reply } = self.exchanges[after].question else {
            return Err(format!("exchange {} is no conversation", after + 1));
        };
        // Without `first`, everything counts, up to the reply, which must then exist.
        let node = match line.first {
            None => reply,
            Some(first) => reply.or(last).and_then(|node| self.node_at(node, first as usize)),
        };
        let node = node.ok_or_else(|| format!("exchange {} is not so long", after + 1))?;
        Ok((start, Some(node)))
    }

    fn push(&mut self, before: Option<usize>, conversation: Key, message: Message) -> (Option<usize>, Key) {
        let message = self.may_differ.message(message);
        let key = key::longer(conversation, &message);
        let count = before.map_or(0, |node| self.nodes[node].count) + 1;
        self.nodes.push(Node { before, count, key, message });
        (Some(self.nodes.len() - 1), key)
    }

    fn text_with_reply(&self, exchange: usize) -> Result<String, String> {
        let Exchange { question, outcome, .. } = &self.exchanges[exchange];
        match (question, outcome.text()) {
            (Question::Completion { prompt }, Some(text)) => Ok(format!("{prompt}{text}")),
            _ => Err(format!("exchange {} is no plain text with a reply", exchange + 1)),
        }
    }
}
