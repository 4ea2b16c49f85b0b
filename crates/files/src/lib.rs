//! Opens what somebody names as a file, and nothing that never ends.
//!
//! A path from a command line, a configuration or a folder of documents can name a pipe to which nobody writes, whose
//! opening alone never returns, or a device such as `/dev/zero`, which can be read forever. [`open`] looks at the kind
//! of a file before it waits for anything. Limits on the size are the caller's.
//!
//! Standard input and descriptors that the shell has opened (`/dev/stdin`, `/dev/fd/63` of `<(...)`) may be pipes and
//! terminals: the user waits for these knowingly, and can end them.

use std::fs::{File, FileType, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a file for reading.
///
/// # Errors
/// Those of the operating system, and [`io::ErrorKind::InvalidInput`] for what is no file: a folder, a named pipe, a
/// socket or a device.
pub fn open(path: &Path) -> io::Result<File> {
    if is_inherited(path) {
        return File::open(path);
    }
    // Before it is opened, because that alone can have effects on a device.
    must_be_file(std::fs::metadata(path)?.file_type(), path)?;
    let mut options = OpenOptions::new();
    options.read(true);
    without_waiting(&mut options);
    let file = options.open(path)?;
    // Again, because the path may name something else by now.
    must_be_file(file.metadata()?.file_type(), path)?;
    Ok(file)
}

/// Whether the path names a descriptor of this process, which is open already.
fn is_inherited(path: &Path) -> bool {
    path == Path::new("/dev/stdin")
        || ["/dev/fd", "/proc/self/fd"].iter().any(|folder| path.starts_with(folder))
}

fn must_be_file(kind: FileType, path: &Path) -> io::Result<()> {
    // Reads as an empty file, for which it is often given.
    if kind.is_file() || (path == Path::new("/dev/null") && !kind.is_dir()) {
        return Ok(());
    }
    let what = format!(
        "it is {}: give a file{}",
        word(kind),
        if kind.is_dir() { "" } else { ", or pass it as standard input" }
    );
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

#[cfg(unix)]
fn word(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;

    match kind {
        _ if kind.is_dir() => "a folder",
        _ if kind.is_fifo() => "a named pipe",
        _ if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

#[cfg(not(unix))]
fn word(kind: FileType) -> &'static str {
    if kind.is_dir() { "a folder" } else { "no file" }
}

/// Lets the opening of a pipe return at once. It changes nothing for a file.
#[cfg(unix)]
fn without_waiting(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt as _;

    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    options.custom_flags(flags.bits().cast_signed());
}

#[cfg(not(unix))]
fn without_waiting(_: &mut OpenOptions) {}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn refused(path: &Path) -> String {
        let error = open(path).expect_err("is no file");
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{error}");
        error.to_string()
    }

    #[test]
    fn only_files_are_opened_and_nothing_is_waited_for() {
        let folder = std::env::temp_dir().join(format!("planproof-files-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("creates");
        let (file, pipe, link) = (folder.join("file"), folder.join("pipe"), folder.join("link"));
        std::fs::write(&file, "text").expect("writes");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .expect("makes");
        std::os::unix::fs::symlink(&pipe, &link).expect("links");
        let _socket = std::os::unix::net::UnixListener::bind(folder.join("socket")).expect("binds");

        let mut text = String::new();
        open(&file).expect("opens").read_to_string(&mut text).expect("reads");
        assert_eq!(text, "text");
        assert!(refused(&folder).contains("a folder"));
        // The canary: `File::open` would wait here until somebody writes.
        assert!(refused(&pipe).contains("a named pipe"));
        assert!(refused(&link).contains("a named pipe"));
        assert!(refused(&folder.join("socket")).contains("a socket"));
        assert!(refused(Path::new("/dev/zero")).contains("a device"));
        open(Path::new("/dev/null")).expect("is empty");
        assert_eq!(open(&folder.join("none")).expect_err("is absent").kind(), io::ErrorKind::NotFound);
        std::fs::remove_dir_all(&folder).expect("removes");
    }
}
