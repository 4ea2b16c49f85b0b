//! The lines of a file, and the JSON values on them.

use std::collections::VecDeque;
use std::io::{BufRead, Cursor, Read as _};

use planproof_trace::json;
use serde_json::Value;

use crate::form::{self, Form};
use crate::{SessionError, unknown};

/// Longest line of a recorded session, in bytes.
pub(crate) const RECORDED_LINE_BYTES_MAX: u64 = 64 << 20;

/// Largest JSON document over several lines, in bytes: it is in memory as a whole.
pub(crate) const RECORDED_DOCUMENT_BYTES_MAX: u64 = 512 << 20;

/// The lines of a file, without those that are blank.
pub(crate) struct Lines {
    name: String,
    source: Box<dyn BufRead>,
    number: u64,
}

/// A line.
pub(crate) struct RecordedLine {
    /// From 1.
    pub(crate) number: u64,
    /// With its end, if it has one.
    pub(crate) bytes: Vec<u8>,
}

impl RecordedLine {
    /// The line as text; half characters become U+FFFD.
    pub(crate) fn text(&self) -> String {
        let mended = json::mended(&self.bytes);
        String::from_utf8_lossy(mended.as_deref().unwrap_or(&self.bytes)).into_owned()
    }

    pub(crate) fn has_end(&self) -> bool {
        self.bytes.last() == Some(&b'\n')
    }
}

/// Reads a JSON value.
pub(crate) fn read(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    json::value(bytes)
}

impl Lines {
    /// Those of this source, which has the file's name in errors.
    pub(crate) fn new(name: &str, source: Box<dyn BufRead>) -> Self {
        Self { name: name.to_owned(), source, number: 0 }
    }

    /// The next line that is not blank.
    ///
    /// # Errors
    /// It cannot be read, or is too long.
    pub(crate) fn next(&mut self) -> Result<Option<RecordedLine>, SessionError> {
        loop {
            let mut bytes = Vec::new();
            let mut source = self.source.as_mut().take(RECORDED_LINE_BYTES_MAX + 1);
            source.read_until(b'\n', &mut bytes).map_err(|error| self.cannot(&error))?;
            if bytes.is_empty() {
                return Ok(None);
            }
            self.number += 1;
            if bytes.len() as u64 > RECORDED_LINE_BYTES_MAX {
                return Err(SessionError::new(format!(
                    "{}:{}: the line has more than {RECORDED_LINE_BYTES_MAX} bytes",
                    self.name, self.number
                )));
            }
            if self.number == 1 {
                bytes = json::unmarked(&bytes).to_vec();
            }
            if !bytes.trim_ascii().is_empty() {
                return Ok(Some(RecordedLine { number: self.number, bytes }));
            }
        }
    }

    /// The next line that is not blank, which comes again.
    ///
    /// # Errors
    /// It cannot be read, or is too long.
    pub(crate) fn peek(&mut self) -> Result<Option<RecordedLine>, SessionError> {
        let number = self.number;
        let next = self.next()?;
        if let Some(next) = &next {
            let blank = usize::try_from(next.number - number - 1).unwrap_or_default();
            let again = [vec![b'\n'; blank], next.bytes.clone()].concat();
            let rest = std::mem::replace(&mut self.source, Box::new(std::io::empty()));
            self.source = Box::new(Cursor::new(again).chain(rest));
        }
        self.number = number;
        Ok(next)
    }

    /// What is left of the file, behind these bytes.
    fn rest(&mut self, mut bytes: Vec<u8>) -> Result<Vec<u8>, SessionError> {
        let room = (RECORDED_DOCUMENT_BYTES_MAX + 1).saturating_sub(bytes.len() as u64);
        self.source.as_mut().take(room).read_to_end(&mut bytes).map_err(|error| self.cannot(&error))?;
        if bytes.len() as u64 > RECORDED_DOCUMENT_BYTES_MAX {
            return Err(SessionError::new(format!(
                "{}: a document over several lines has at most {RECORDED_DOCUMENT_BYTES_MAX} bytes, because it is read as \
                 a whole; write an object a line, as with `jq -c .`",
                self.name
            )));
        }
        Ok(bytes)
    }

    fn cannot(&self, error: &std::io::Error) -> SessionError {
        SessionError::new(format!("cannot read {}: {error}", self.name))
    }
}

/// The JSON values of a file: one a line, or those of a document over several lines.
pub(crate) struct Values {
    /// Read already.
    ready: VecDeque<NextValue>,
    lines: Option<Lines>,
    document: Option<Document>,
}

/// The text of a document over several lines, in which places are looked for from its beginning to its end.
pub(crate) struct Document {
    text: String,
    at: usize,
    /// The line at that place.
    line: u64,
}

impl Document {
    /// The line on which a text stands next as JSON, behind what was found before; `None` if it does not.
    pub(crate) fn line_of(&mut self, text: &str) -> Option<u64> {
        let text = Value::from(text).to_string();
        let rest = self.text.get(self.at..)?;
        let found = rest.find(&text)?;
        let ends = rest.get(..found)?.bytes().filter(|byte| *byte == b'\n').count();
        self.at += found + text.len();
        self.line += ends as u64;
        Some(self.line)
    }
}

/// A value, or what could not be read as one.
pub(crate) struct NextValue {
    pub(crate) value: Result<Value, serde_json::Error>,
    /// The line on which it begins.
    pub(crate) line: u64,
    /// What the name of its session has behind that of the file.
    pub(crate) place: String,
    /// It ends with the file, and too early.
    pub(crate) is_cut: bool,
}

impl Values {
    /// Those of lines, of which the first has been read.
    pub(crate) fn by_lines(line: u64, first: Value, mut lines: Lines) -> Result<Self, SessionError> {
        let second = lines.next()?.as_ref().map(of_line);
        // A file of one line is that session, as a document over several lines is.
        let place = if second.is_some() { format!(":{line}") } else { String::new() };
        let first = NextValue { value: Ok(first), line, place, is_cut: false };
        let ready = std::iter::once(first).chain(second).collect();
        Ok(Self { ready, lines: Some(lines), document: None })
    }

    /// Those of a document that begins with this line.
    ///
    /// # Errors
    /// It does not begin with a value.
    pub(crate) fn of_document(
        name: &str,
        first: RecordedLine,
        mut lines: Lines,
    ) -> Result<Self, SessionError> {
        let (mut line, mut counted) = (first.number, 0);
        let bytes = lines.rest(first.bytes)?;
        let mended = json::mended(&bytes);
        let bytes = mended.as_deref().unwrap_or(&bytes);
        let mut ready = VecDeque::new();
        let mut stream = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
        loop {
            let begin = stream.byte_offset();
            let Some(value) = stream.next() else { break };
            let blank = bytes[begin..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let ends = bytes[counted..begin + blank].iter().filter(|byte| **byte == b'\n').count();
            (line, counted) = (line + ends as u64, begin + blank);
            let is_bad = value.is_err();
            let is_cut = value.as_ref().is_err_and(serde_json::Error::is_eof);
            if is_bad && ready.is_empty() {
                return Err(match value {
                    Err(error) if is_cut && matches!(bytes.first(), Some(b'{' | b'[')) => {
                        SessionError::new(format!("{name}:{line}: the document is cut off: {error}"))
                    }
                    // Lines, of which the first is not JSON.
                    _ => unknown(name, ""),
                });
            }
            ready.push_back(NextValue { value, line, place: format!(":{line}"), is_cut });
            if is_bad {
                break;
            }
        }
        if let [only] = ready.make_contiguous() {
            only.place.clear();
        }
        let text = String::from_utf8_lossy(bytes).into_owned();
        let document = Some(Document { text, at: 0, line: first.number });
        Ok(Self { ready, lines: None, document })
    }

    /// The document, once.
    pub(crate) fn take_document(&mut self) -> Option<Document> {
        self.document.take()
    }

    /// The form of the file.
    pub(crate) fn form(&self, name: &str) -> Result<Form, SessionError> {
        match self.ready.front().map(|next| &next.value) {
            Some(Ok(value)) => form::of(value, name),
            _ => Err(unknown(name, "")),
        }
    }

    /// The next one.
    ///
    /// # Errors
    /// It cannot be read, or is too long.
    pub(crate) fn next(&mut self) -> Result<Option<NextValue>, SessionError> {
        if let Some(next) = self.ready.pop_front() {
            return Ok(Some(next));
        }
        match &mut self.lines {
            Some(lines) => Ok(lines.next()?.as_ref().map(of_line)),
            None => Ok(None),
        }
    }
}

fn of_line(line: &RecordedLine) -> NextValue {
    let value = read(&line.bytes);
    let is_cut = !line.has_end() && value.as_ref().is_err_and(serde_json::Error::is_eof);
    NextValue { value, line: line.number, place: format!(":{}", line.number), is_cut }
}
