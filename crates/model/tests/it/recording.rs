//! Recordings: what was recorded is replayed, whatever the requests and however they interleave; and what becomes of
//! files that are torn, damaged, or of another kind.

mod files;
mod misses;
mod runs;
mod sessions;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use planproof_model::recording::{Origin, Recording, RecordingError, RecordingFile, ReplayModel};
use planproof_model::{ChatRequest, Message, Settings};
use planproof_trace::Secrets;

/// A folder that is deleted with this value.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("recording-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn origin() -> Origin {
    Origin { version: "0.0.0".into(), command: "planproof test tools@sim/x".into() }
}

pub(crate) fn create(path: &Path) -> RecordingFile {
    RecordingFile::create(path, false, &origin(), Secrets::default()).expect("a new recording")
}

fn open(path: &Path) -> Result<RecordingFile, RecordingError> {
    RecordingFile::open(path, &origin(), Secrets::default())
}

pub(crate) fn replay(path: &Path) -> ReplayModel {
    let recording = Arc::new(Recording::read(path).expect("a recording"));
    ReplayModel::new(recording, Secrets::default()).expect("of one model")
}

fn user(text: impl Into<String>) -> Message {
    Message::User { text: text.into() }
}

fn request(seed: u64, messages: Vec<Message>) -> ChatRequest {
    let settings = Settings { seed: Some(seed), ..Settings::default() };
    ChatRequest { messages, previous: None, tools: Arc::from([]), settings }
}
