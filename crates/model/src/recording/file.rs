//! A recording that is being written.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use planproof_trace::Secrets;

use super::content::{Question, Recording};
use super::index::Index;
use super::key::{self, Key, KnownTools, ToolLists};
use super::may_differ::MayDiffer;
use super::outcome::Outcome;
use super::redact;
use super::request::{KeyedRequest, RequestBody};
use super::wire::{
    self, ExchangeLine, HeaderLine, ModelLine, SessionLine, SetupLine, ToolsLine, WireMessage, types,
};
use super::{
    LINE_BYTES_MAX, NOTE_TYPES, RECORDING_BYTES_MAX, RECORDING_SCHEMA, RecordingError, RecordingNote,
};
use crate::{ChatRequest, CompletionRequest, Model};

/// Who writes a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The version of planproof.
    pub version: String,
    /// What is run: the command line.
    pub command: String,
}

/// A recording that is being written. Cheap to clone; all clones write to one file, which is locked against other
/// programs.
///
/// After a failed write nothing more is written, so that a full disk leaves only one torn line.
#[derive(Clone)]
pub struct RecordingFile(Arc<Shared>);

struct Shared {
    path: PathBuf,
    secrets: Secrets,
    tool_lists: ToolLists,
    before: Before,
    state: Mutex<State>,
}

/// The content of the file when it was opened.
#[derive(Debug, Default)]
struct Before {
    notes: Vec<RecordingNote>,
    torn_line: Option<u64>,
}

struct State {
    file: File,
    bytes: u64,
    failure: Option<RecordingError>,
    index: Index,
    /// Replies that the file held when it was opened and that have not been used since.
    known: HashMap<Key, VecDeque<Known>>,
}

/// A reply of the file.
struct Known {
    exchange: u32,
    outcome: Outcome,
    /// The key of the conversation with it.
    with_reply: Option<Key>,
}

/// A request, on its way to the model.
pub(super) struct Sent<'a> {
    pub(super) keyed: KeyedRequest<'a>,
    /// The exchange whose stored reply it continues from, if that is recorded.
    previous: Option<u32>,
}

impl RecordingFile {
    /// Creates a recording. If the file exists and is not empty, `overwrite` decides; a recording without any
    /// exchange counts as empty.
    ///
    /// # Errors
    /// [`RecordingError::Exists`], [`RecordingError::InUse`], [`RecordingError::CannotWrite`].
    pub fn create(
        path: &Path,
        overwrite: bool,
        origin: &Origin,
        secrets: Secrets,
    ) -> Result<Self, RecordingError> {
        let cannot = |error: std::io::Error| RecordingError::cannot_write(path, &error);
        // Locked before it is examined, so that no other program changes it in between.
        let file = open_locked(path)?;
        let is_empty = file.metadata().map_err(cannot)?.len() == 0
            || Recording::read_from(path, &file, MayDiffer::default())
                .is_ok_and(|recording| recording.is_none_or(|it| it.is_bare()));
        if !is_empty && !overwrite {
            return Err(RecordingError::Exists { path: path.to_owned() });
        }
        Self::begin(path, file, origin, secrets)
    }

    /// Opens a recording to continue it: requests that it holds are answered from it. A torn last line is cut off
    /// ([`torn_line`](Self::torn_line)). A missing or empty file becomes a recording.
    ///
    /// # Errors
    /// Those of [`Recording::read`] and [`create`](Self::create). A file that is not a recording is left unchanged.
    pub fn open(path: &Path, origin: &Origin, secrets: Secrets) -> Result<Self, RecordingError> {
        let file = open_locked(path)?;
        let Some(mut recording) = Recording::read_from(path, &file, MayDiffer::default())? else {
            return Self::begin(path, file, origin, secrets);
        };
        // Nothing can refuse the file any more, so from here on it is changed.
        let bytes = recording.whole_bytes;
        file.set_len(bytes).map_err(|error| RecordingError::cannot_write(path, &error))?;
        // If exactly the line break is missing, the last line is whole, and the next one must not be appended to it.
        let mut lines = if recording.lacks_line_break { vec![b'\n'] } else { Vec::new() };
        let session = SessionLine {
            r#type: types::SESSION.to_owned(),
            version: origin.version.clone(),
            command: secrets.redact(&origin.command).into_owned(),
        };
        wire::write(&session, &mut lines);
        let before = Before { notes: std::mem::take(&mut recording.notes), torn_line: recording.torn_line };
        let index = Index::of(&recording);
        let state = State { file, bytes, failure: None, index, known: known(recording) };
        Self::start(path, secrets, before, state, &lines)
    }

    fn begin(path: &Path, file: File, origin: &Origin, secrets: Secrets) -> Result<Self, RecordingError> {
        file.set_len(0).map_err(|error| RecordingError::cannot_write(path, &error))?;
        let header = HeaderLine {
            schema: RECORDING_SCHEMA.to_owned(),
            version: origin.version.clone(),
            command: secrets.redact(&origin.command).into_owned(),
        };
        let mut lines = Vec::new();
        wire::write(&header, &mut lines);
        let state = State { file, bytes: 0, failure: None, index: Index::default(), known: HashMap::new() };
        Self::start(path, secrets, Before::default(), state, &lines)
    }

    fn start(
        path: &Path,
        secrets: Secrets,
        before: Before,
        mut state: State,
        lines: &[u8],
    ) -> Result<Self, RecordingError> {
        state.write(path, lines)?;
        let (path, tool_lists, state) = (path.to_owned(), ToolLists::default(), Mutex::new(state));
        Ok(Self(Arc::new(Shared { path, secrets, tool_lists, before, state })))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The notes that were in the file when it was opened.
    pub fn notes(&self) -> &[RecordingNote] {
        &self.0.before.notes
    }

    /// The number of the last line of the file when it was opened, if it was incomplete and therefore cut off.
    pub fn torn_line(&self) -> Option<u64> {
        self.0.before.torn_line
    }

    /// Appends a line that says what the requests are made for.
    ///
    /// # Errors
    /// [`RecordingError::CannotWrite`], also where an earlier write failed.
    pub fn append(&self, note: &RecordingNote) -> Result<(), RecordingError> {
        debug_assert!(NOTE_TYPES.contains(&note.kind.as_str()), "{note:?}");
        let mut line = self.0.secrets.redact(&note.json).into_owned().into_bytes();
        line.push(b'\n');
        self.lock().write(&self.0.path, &line)
    }

    /// Prepares a request to continue a conversation.
    pub(super) fn chat<'a>(&self, model: &str, request: &'a ChatRequest) -> Sent<'a> {
        let kept = request.previous.as_ref().and_then(|id| self.lock().index.kept(id));
        let start = match (&kept, &request.previous) {
            (Some(kept), _) => kept.start,
            (None, Some(id)) => key::after_unknown(id),
            (None, None) => key::beginning(),
        };
        let keyed = KeyedRequest::chat(model, request, start, &self.0.tool_lists, &self.0.secrets);
        Sent { keyed, previous: kept.map(|kept| kept.exchange) }
    }

    /// Prepares a request to continue a plain text.
    pub(super) fn completion<'a>(&self, model: &str, request: &'a CompletionRequest) -> Sent<'a> {
        Sent { keyed: KeyedRequest::completion(model, request, &self.0.secrets), previous: None }
    }

    /// The reply that the file held when it was opened, if it has not been used since.
    ///
    /// # Errors
    /// The file can no longer be written.
    pub(super) fn take_known(&self, sent: &Sent<'_>) -> Result<Option<Outcome>, RecordingError> {
        let mut state = self.lock();
        if let Some(error) = &state.failure {
            return Err(error.clone());
        }
        let Some(Known { exchange, outcome, with_reply }) =
            state.known.get_mut(&sent.keyed.key).and_then(VecDeque::pop_front)
        else {
            return Ok(None);
        };
        // From here on, the caller may continue from this reply by the id that the server gave it.
        state.index.keep(&outcome, exchange, with_reply);
        Ok(Some(outcome))
    }

    /// Appends the outcome of a request, and everything it refers to that is not in the file yet.
    ///
    /// # Errors
    /// [`RecordingError::CannotWrite`], also where an earlier write failed.
    pub(super) fn append_exchange(
        &self,
        model: &dyn Model,
        sent: &Sent<'_>,
        outcome: &Outcome,
    ) -> Result<(), RecordingError> {
        let outcome = redact::outcome(outcome, &self.0.secrets);
        // One lock from the numbering to the entry in the index, so that lines are in the file in the order of their
        // numbers.
        let mut state = self.lock();
        if let Some(error) = &state.failure {
            return Err(error.clone());
        }
        let mut lines = Vec::new();
        let setup = state.index.setup(model, &sent.keyed, &mut lines);
        let number = state.index.exchange_count + 1;
        wire::write(&state.index.exchange(number, setup, sent, &outcome), &mut lines);
        // The setup is in the index by now, although the file may not get it: after a failed write nothing is written
        // any more, so no line can refer to it.
        state.write(&self.0.path, &lines)?;
        state.index.add(number, &sent.keyed, &outcome);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic happens between a line and its entry in the index.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Index {
    /// The number of a request's setup; its lines are written unless the file has them.
    fn setup(&mut self, model: &dyn Model, keyed: &KeyedRequest<'_>, lines: &mut Vec<u8>) -> u32 {
        if let Some(number) = self.setups.get(&keyed.setup) {
            return *number;
        }
        // A line refers only to lines before it, so the model and the tools come before the setup.
        let name = model.name();
        let model_number = self.models.get(name).copied().unwrap_or_else(|| {
            let number = count(&self.models) + 1;
            wire::write(&ModelLine::new(number, name, model.is_simulated(), model.capabilities()), lines);
            number
        });
        self.models.insert(name.to_owned(), model_number);
        let tools = match &keyed.body {
            RequestBody::Chat { tools, .. } if !tools.list.is_empty() => Some(self.tools(tools, lines)),
            _ => None,
        };
        let number = count(&self.setups) + 1;
        self.setups.insert(keyed.setup, number);
        wire::write(&SetupLine::new(number, model_number, tools, &keyed.settings), lines);
        number
    }

    fn tools(&mut self, tools: &KnownTools, lines: &mut Vec<u8>) -> u32 {
        if let Some(number) = self.tools.get(&tools.key) {
            return *number;
        }
        let number = count(&self.tools) + 1;
        self.tools.insert(tools.key, number);
        wire::write(&ToolsLine::new(number, &tools.list), lines);
        number
    }

    /// The line of an exchange, without the parts that the file already has.
    fn exchange<'a>(
        &self,
        number: u32,
        setup: u32,
        sent: &'a Sent<'_>,
        outcome: &'a Outcome,
    ) -> ExchangeLine<'a> {
        let mut line = ExchangeLine::new(number, setup, outcome);
        match &sent.keyed.body {
            RequestBody::Chat { messages, previous, keys, .. } => {
                let place = self.longest(keys);
                line.after = place.map(|place| place.exchange);
                line.first = place.filter(|place| !place.is_whole).map(|place| place.count);
                line.previous = sent.previous;
                // The server's own id is needed only if the reply is not in this file.
                let unknown = previous.filter(|_| sent.previous.is_none());
                line.previous_id = unknown.map(|id| id.0.as_str().into());
                let shared = place.map_or(0, |place| place.count as usize);
                line.messages = Some(messages.iter().skip(shared).map(WireMessage::new).collect());
            }
            RequestBody::Completion { prompt, score_prompt } => {
                let before = self.prompt_before(sent.keyed.setup, prompt);
                line.after = before.map(|(exchange, _)| exchange);
                let shared = before.map_or(0, |(_, length)| length);
                line.prompt = Some(prompt.get(shared..).unwrap_or_default().into());
                line.score_prompt = *score_prompt;
            }
        }
        line
    }

    /// Records an exchange that was written.
    fn add(&mut self, number: u32, keyed: &KeyedRequest<'_>, outcome: &Outcome) {
        self.exchange_count = number;
        match &keyed.body {
            RequestBody::Chat { keys, .. } => {
                let with_reply = outcome.turn().zip(keys.last()).map(|(turn, key)| key::longer(*key, &turn));
                self.add_chat(number, keys, with_reply);
                self.keep(outcome, number, with_reply);
            }
            RequestBody::Completion { prompt, .. } => {
                if let Some(text) = outcome.text() {
                    self.add_prompt(keyed.setup, number, format!("{prompt}{text}"));
                }
            }
        }
    }

    /// Records that a caller got a reply which the server stores.
    fn keep(&mut self, outcome: &Outcome, exchange: u32, with_reply: Option<Key>) {
        if let Some((id, with_reply)) = outcome.id().zip(with_reply) {
            self.add_kept(id.clone(), exchange, with_reply);
        }
    }
}

fn count<K, V>(map: &HashMap<K, V>) -> u32 {
    u32::try_from(map.len()).unwrap_or(u32::MAX)
}

/// The complete replies of a recording, by request.
fn known(recording: Recording) -> HashMap<Key, VecDeque<Known>> {
    let mut known: HashMap<Key, VecDeque<Known>> = HashMap::new();
    for (number, exchange) in (1..).zip(recording.exchanges) {
        // Errors and requests that were given up are sent again, because the outage may be over.
        if !exchange.outcome.is_complete() {
            continue;
        }
        let with_reply = match exchange.question {
            Question::Chat { reply: Some(reply), .. } => Some(recording.nodes[reply].key),
            _ => None,
        };
        let entry = Known { exchange: number, outcome: exchange.outcome, with_reply };
        known.entry(exchange.request).or_default().push_back(entry);
    }
    known
}

/// Opens a file for appending, and locks it against other programs.
fn open_locked(path: &Path) -> Result<File, RecordingError> {
    let cannot = |error: std::io::Error| match path.parent() {
        Some(folder) if error.kind() == ErrorKind::NotFound && !folder.is_dir() => {
            let why = format!("there is no folder {}; create it first", folder.display());
            RecordingError::cannot_write(path, &why)
        }
        _ => RecordingError::cannot_write(path, &error),
    };
    let options = OpenOptions::new().read(true).append(true).create(true).clone();
    let file = planproof_files::open_to_write(path, &options).map_err(cannot)?;
    // What is there already is read first, which would never end with a pipe or a device.
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Err(RecordingError::cannot_write(path, &"it is no file"));
    }
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(RecordingError::InUse { path: path.to_owned() }),
        // Some file systems have no locks; a recording works without them.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

impl State {
    /// Writes lines with one call.
    fn write(&mut self, path: &Path, lines: &[u8]) -> Result<(), RecordingError> {
        if let Some(error) = &self.failure {
            return Err(error.clone());
        }
        // The limits are those of reading, so that what is written can be read.
        let result = if lines.len() as u64 > LINE_BYTES_MAX {
            Err(format!("an exchange takes {} bytes, the limit is {LINE_BYTES_MAX}", lines.len()))
        } else if self.bytes + lines.len() as u64 > RECORDING_BYTES_MAX {
            Err(format!("it has reached its limit of {RECORDING_BYTES_MAX} bytes"))
        } else {
            planproof_files::append(&self.file, lines).map_err(|error| error.to_string())
        };
        self.bytes += lines.len() as u64;
        result.map_err(|reason| {
            let error = RecordingError::cannot_write(path, &reason);
            self.failure = Some(error.clone());
            error
        })
    }
}

impl fmt::Debug for RecordingFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordingFile").field("path", &self.0.path).finish_non_exhaustive()
    }
}
