//! The lines of a file, and the JSON values on them.

use std::collections::VecDeque;
use std::io::{BufRead, Read as _};

use planproof_guard::{UnreadJson, read_all_held, read_held};
use planproof_trace::json;
use serde_json::Value;

use crate::form::{self, Form};
use crate::{SessionError, unheld, unknown};

/// Longest line of a recorded session, in bytes.
pub(crate) const RECORDED_LINE_BYTES_MAX: u64 = 64 << 20;

/// Largest JSON document over several lines, in bytes: it is in memory as a whole.
pub(crate) const RECORDED_DOCUMENT_BYTES_MAX: u64 = 512 << 20;

/// Lines at the beginning of a file that are looked at for one that can be read, where the first cannot.
pub(crate) const DAMAGED_LINES_MAX: usize = 1000;

/// Lines that tell lines, of which the first is cut off, from a document over several lines.
const TELLING_LINES: usize = 3;

/// The lines of a file, without those that are blank.
pub(crate) struct Lines {
    name: String,
    /// Read already.
    ready: VecDeque<RecordedLine>,
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

impl Lines {
    /// Those of this source, which has the file's name in errors.
    pub(crate) fn new(name: &str, source: Box<dyn BufRead>) -> Self {
        Self { name: name.to_owned(), ready: VecDeque::new(), source, number: 0 }
    }

    /// The next line that is not blank.
    ///
    /// # Errors
    /// It cannot be read, or is too long.
    pub(crate) fn next(&mut self) -> Result<Option<RecordedLine>, SessionError> {
        if let Some(line) = self.ready.pop_front() {
            return Ok(Some(line));
        }
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

    /// The first value on a line of its own, where the first line, which could not be read, is one that was cut off and
    /// not the beginning of a document over several lines. All lines are there again afterwards, with the first.
    ///
    /// # Errors
    /// A line cannot be read, or is too long.
    pub(crate) fn first_sound(&mut self, first: RecordedLine) -> Result<Option<Value>, SessionError> {
        let is_open = |bytes: &[u8]| match read_held(bytes) {
            Ok(_) | Err(UnreadJson::Unheld(_)) => true,
            Err(UnreadJson::NotJson { is_cut }) => is_cut,
        };
        let mut whole = first.bytes.clone();
        let mut may_be_document = is_open(&whole);
        let mut found = if may_be_document { None } else { glued(&first.bytes).find_map(Result::ok) };
        let mut looked_at = vec![first];
        while found.is_none() && looked_at.len() < DAMAGED_LINES_MAX {
            let Some(line) = self.next()? else {
                // The file ends, and with it what would have to be a document as it is.
                if may_be_document && matches!(read_held(&whole), Err(UnreadJson::NotJson { .. })) {
                    found = looked_at.iter().skip(1).find_map(of_its_own);
                }
                break;
            };
            if may_be_document {
                whole.extend_from_slice(&line.bytes);
                may_be_document = is_open(&whole);
                looked_at.push(line);
                match may_be_document {
                    true if looked_at.len() >= TELLING_LINES => break,
                    true => {}
                    false => found = looked_at.iter().skip(1).find_map(of_its_own),
                }
            } else {
                found = of_its_own(&line);
                looked_at.push(line);
            }
        }
        looked_at.into_iter().rev().for_each(|line| self.put_back(line));
        Ok(found)
    }

    /// Gives a line back, which is then the next.
    pub(crate) fn put_back(&mut self, line: RecordedLine) {
        self.ready.push_front(line);
    }

    /// What is left of the file.
    fn rest(&mut self) -> Result<Vec<u8>, SessionError> {
        let mut bytes: Vec<u8> = self.ready.drain(..).flat_map(|line| line.bytes).collect();
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

/// The value of a line that is an object or a list.
fn of_its_own(line: &RecordedLine) -> Option<Value> {
    read_held(&line.bytes).ok().filter(|value| value.is_object() || value.is_array())
}

/// The objects with which a line ends that cannot be read as a whole: where one that was cut off has no end of its own,
/// the next one is glued to it. That may be one that cannot be kept.
pub(crate) fn glued(bytes: &[u8]) -> impl Iterator<Item = Result<Value, UnreadJson>> {
    let starts = bytes.windows(2).enumerate().skip(1).filter(|(_, pair)| pair == b"{\"");
    let read = starts.map(|(at, _)| read_held(&bytes[at..]));
    read.filter(|read| !matches!(read, Err(UnreadJson::NotJson { .. })))
}

/// The JSON values of a file: one a line, or those of a document over several lines.
pub(crate) struct Values {
    /// Read already.
    ready: VecDeque<NextValue>,
    form: Form,
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
    pub(crate) value: Result<Value, UnreadJson>,
    /// The line on which it begins.
    pub(crate) line: u64,
    /// What the name of its session has behind that of the file.
    pub(crate) place: String,
    /// It ends with the file, and too early.
    pub(crate) is_cut: bool,
    /// The line begins with another one, which is cut off.
    pub(crate) is_glued: bool,
}

impl Values {
    /// Those of lines, of which the first has been read.
    pub(crate) fn by_lines(
        form: Form,
        line: u64,
        first: Value,
        mut lines: Lines,
    ) -> Result<Self, SessionError> {
        let second = lines.next()?.map(|line| of_line(&line, form));
        // A file of one line is that session, as a document over several lines is.
        let place = if second.is_some() { format!(":{line}") } else { String::new() };
        let first = NextValue { value: Ok(first), line, place, is_cut: false, is_glued: false };
        let ready = std::iter::once(first).chain(second).collect();
        Ok(Self { ready, form, lines: Some(lines), document: None })
    }

    /// Those of lines of this form, of which the first is damaged.
    pub(crate) fn by_damaged_lines(form: Form, lines: Lines) -> Self {
        Self { ready: VecDeque::new(), form, lines: Some(lines), document: None }
    }

    /// Those of a document that begins with the line of this number, which is the next.
    ///
    /// # Errors
    /// It does not begin with a value, or with one of a file of planproof that has no sessions.
    pub(crate) fn of_document(name: &str, number: u64, mut lines: Lines) -> Result<Self, SessionError> {
        let (mut line, mut counted) = (number, 0);
        let bytes = lines.rest()?;
        let mended = json::mended(&bytes);
        let bytes = mended.as_deref().unwrap_or(&bytes);
        let mut ready = VecDeque::new();
        for (begin, value) in read_all_held(bytes) {
            let blank = bytes[begin..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let ends = bytes[counted..begin + blank].iter().filter(|byte| **byte == b'\n').count();
            (line, counted) = (line + ends as u64, begin + blank);
            let is_cut = matches!(value, Err(UnreadJson::NotJson { is_cut: true }));
            if let Err(fault) = &value
                && ready.is_empty()
            {
                return Err(match fault {
                    UnreadJson::Unheld(why) => unheld(name, line, why),
                    UnreadJson::NotJson { is_cut: true } if matches!(bytes.first(), Some(b'{' | b'[')) => {
                        SessionError::new(format!("{name}:{line}: the document is cut off"))
                    }
                    // Lines, of which the first is not JSON.
                    UnreadJson::NotJson { .. } => unknown(name, ""),
                });
            }
            ready.push_back(NextValue { value, line, place: format!(":{line}"), is_cut, is_glued: false });
        }
        if let [only] = ready.make_contiguous() {
            only.place.clear();
        }
        let form = match ready.front().map(|next| &next.value) {
            Some(Ok(value)) => form::of(value, name)?,
            _ => return Err(unknown(name, "")),
        };
        let text = String::from_utf8_lossy(bytes).into_owned();
        let document = Some(Document { text, at: 0, line: number });
        Ok(Self { ready, form, lines: None, document })
    }

    /// The document, once.
    pub(crate) fn take_document(&mut self) -> Option<Document> {
        self.document.take()
    }

    /// The form of the file.
    pub(crate) fn form(&self) -> Form {
        self.form
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
            Some(lines) => Ok(lines.next()?.map(|line| of_line(&line, self.form))),
            None => Ok(None),
        }
    }
}

fn of_line(line: &RecordedLine, form: Form) -> NextValue {
    let mut value = read_held(&line.bytes);
    let is_cut = !line.has_end() && value == Err(UnreadJson::NotJson { is_cut: true });
    let mut is_glued = false;
    if matches!(value, Err(UnreadJson::NotJson { .. })) && form != Form::Conversations {
        // Within what is cut off there may be whole objects as well.
        let is_of_form = |read: &Result<Value, UnreadJson>| {
            read.as_ref().map_or(true, |value| form::of(value, "").is_ok_and(|it| it == form))
        };
        if let Some(found) = glued(&line.bytes).find(is_of_form) {
            (value, is_glued) = (found, true);
        }
    }
    NextValue { value, line: line.number, place: format!(":{}", line.number), is_cut, is_glued }
}
