//! Recorded sessions that somebody names: files of any form that crate `sessions` reads, histories of guards, stdin.

mod files;
mod sub_agents;

use std::io::{BufRead, BufReader, Cursor};
use std::path::Path;

use planproof_guard::plainest_reading;
use planproof_output::failure::Failure;
use planproof_output::layout::counted;
use planproof_output::tell;
use planproof_output::terminal::inline;
use planproof_sessions::{FurtherFile, RecordedSession, SessionError, SessionSink};

use crate::guard::shared;
pub use files::files_in;
pub use sub_agents::{RecordFiles, records_in};

/// Bytes of a file that are read at once.
const BUFFER_BYTES: usize = 128 << 10;

/// Does something with each of several files, also where one of them cannot be used: the others are not to go unread
/// because of it.
///
/// # Errors
/// That of the only file; how many of several could not be used, each of which is named on stderr.
pub fn with_each<F>(files: &[F], mut act: impl FnMut(&F) -> Result<(), Failure>) -> Result<(), Failure> {
    if let [only] = files {
        return act(only);
    }
    let mut bad = 0;
    for file in files {
        match act(file) {
            Ok(()) => {}
            Err(Failure::Usage(why)) => {
                tell!("error: {}", inline(&why));
                bad += 1;
            }
            Err(other) => return Err(other),
        }
    }
    match bad {
        0 => Ok(()),
        _ => Err(Failure::usage(format!("{bad} of {} cannot be used", counted(files.len(), "file")))),
    }
}

/// The sessions of a file, the names of tools in their plainest reading. Where a record lists its tools, they have the
/// names of that list.
pub fn read(path: &Path) -> Result<Vec<RecordedSession>, Failure> {
    let mut sessions = Vec::new();
    each(&RecordFiles::of(path)?, &mut |mut session| {
        for event in session.happened.iter_mut().filter(|it| session.tools.is_none() && it.server.is_none()) {
            let (server, tool) = plainest_reading(&event.tool);
            let (server, tool) = (server.map(str::to_owned), tool.to_owned());
            (event.server, event.tool) = (server, tool);
        }
        sessions.push(session);
        Ok(())
    })?;
    Ok(sessions)
}

/// Reads the sessions of a record, one after the other; `-` is stdin.
///
/// # Errors
/// A file of it cannot be read, or is not of a known form; or `take` failed.
pub fn each(
    record: &RecordFiles,
    take: &mut dyn FnMut(RecordedSession) -> Result<(), SessionError>,
) -> Result<(), Failure> {
    let path = record.path.as_path();
    let source: Box<dyn BufRead> = if path.as_os_str() == "-" {
        Box::new(BufReader::with_capacity(BUFFER_BYTES, std::io::stdin()))
    } else if let Some(lines) = shared::history_of(path)? {
        Box::new(Cursor::new(lines))
    } else {
        opened(path).map_err(|error| Failure::usage(error.to_string()))?
    };
    let further = |path: &Path, source| FurtherFile { name: path.display().to_string(), source };
    let mut others = record.of_sub_agents.iter().map(|path| Ok(further(path, opened(path)?)));
    planproof_sessions::read_all(further(path, source), &mut others, &mut Announced(take))
        .map_err(|error| Failure::usage(inline(&error.to_string())))
}

fn opened(path: &Path) -> Result<Box<dyn BufRead>, SessionError> {
    let file = planproof_files::open(path)
        .map_err(|error| SessionError::new(format!("cannot read {}: {error}", path.display())))?;
    Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, file)))
}

/// Passes sessions on, and writes to stderr what is said of their file.
struct Announced<'t>(&'t mut dyn FnMut(RecordedSession) -> Result<(), SessionError>);

impl SessionSink for Announced<'_> {
    fn session(&mut self, session: RecordedSession) -> Result<(), SessionError> {
        (self.0)(session)
    }

    fn warn(&mut self, text: &str) {
        tell!("warning: {}", inline(text));
    }

    fn note(&mut self, text: &str) {
        tell!("{}", inline(text));
    }
}
