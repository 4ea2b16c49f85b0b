//! Opens what somebody names as a file, and nothing that never ends.
//!
//! A path from a command line, a configuration or a folder of documents can name a pipe to which nobody writes, whose
//! opening alone never returns, or a device such as `/dev/zero`, which can be read forever. [`open`] looks at the kind
//! of a file before it waits for anything, and [`open_to_write`] does so for what is written. Limits on the size are
//! the caller's.
//!
//! Files that planproof keeps in a folder of its own are opened with [`open_own`]: whoever can write into that folder
//! could put a link there, and have any other file of the user read, changed or emptied.
//!
//! These folders are made with [`make_own_folder`], and the files in them with [`open_own`], so that no other user has
//! access to them, whatever the umask says: a store or a recording has the conversations of an agent, and the log of a
//! hook is its memory.
//!
//! What is written to a full disk is there whole or not at all: [`append`] takes the beginning of a piece back, and
//! [`create`] removes a file that it could not fill. [`is_of_world`] says whether an error is such a one.
//!
//! A file that another one names has to lie in the folder of that one: [`below`] follows links before it says so.
//!
//! Standard input and descriptors that the shell has opened (`/dev/stdin`, `/dev/fd/63` of `<(...)`) may be pipes and
//! terminals: the user waits for these knowingly, and can end them.

use std::fs::{DirBuilder, File, FileType, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Opens a file for reading.
///
/// # Errors
/// Those of the operating system, and [`io::ErrorKind::InvalidInput`] for what is not a file: a folder, a named pipe, a
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

/// The path of a file that another file names, without links in it: the folder of that one, or a folder below it, has
/// it, whatever links there are on the way. A folder that is itself reached by a link is the folder meant.
///
/// # Errors
/// The file cannot be found, or ([`io::ErrorKind::InvalidInput`]) is elsewhere.
pub fn below(folder: &Path, file: &Path) -> io::Result<PathBuf> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let whole = std::fs::canonicalize(file)?;
    if whole.starts_with(std::fs::canonicalize(folder)?) {
        return Ok(whole);
    }
    let what = "it is not in the folder of the file that names it, or below: put it there, not a link to it";
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

/// Opens a file to write to it. The options say whether it is created, emptied or appended to.
///
/// # Errors
/// As for [`open`]. Descriptors that are open already, `/dev/null`, `/dev/full` and `/dev/tty` can be written to.
pub fn open_to_write(path: &Path, options: &OpenOptions) -> io::Result<File> {
    let is_stream = is_inherited(path) || STREAMS.iter().any(|stream| path == Path::new(stream));
    let mut options = options.clone();
    without_waiting(&mut options);
    if is_stream {
        // Without a reader, the opening of a pipe with a name, which is open already, would wait forever.
        let file = options.open(path)?;
        waiting_again(&file)?;
        return Ok(file);
    }
    // Where it fails, the opening says why, or creates the file.
    if let Ok(found) = std::fs::metadata(path) {
        must_be_written(found.file_type())?;
    }
    let file = options.open(path)?;
    must_be_written(file.metadata()?.file_type())?;
    Ok(file)
}

/// Opens a file in a folder that planproof keeps. A link is not followed. One that is created is its user's alone.
///
/// # Errors
/// As for [`open`], and for links.
pub fn open_own(path: &Path, options: &OpenOptions) -> io::Result<File> {
    let must_be_own = |kind: FileType| match kind.is_file() {
        true => Ok(()),
        false => {
            let what = format!("it is {}: remove it", word(kind));
            Err(io::Error::new(io::ErrorKind::InvalidInput, what))
        }
    };
    if let Ok(found) = std::fs::symlink_metadata(path) {
        must_be_own(found.file_type())?;
    }
    let mut options = options.clone();
    without_links(&mut options);
    with_mode(&mut options, 0o600);
    let file = options.open(path)?;
    must_be_own(file.metadata()?.file_type())?;
    Ok(file)
}

/// Appends bytes to a file, whole or not at all: where not all of them can be written, the file gets its old length
/// back, unless another process has appended to it since. A stream has no length and keeps what it got.
///
/// # Errors
/// Those of the operating system.
pub fn append(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    let before = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|found| found.len());
    let mut left = bytes;
    let error = loop {
        if left.is_empty() {
            return Ok(());
        }
        match file.write(left) {
            Ok(0) => break io::ErrorKind::WriteZero.into(),
            Ok(count) => left = left.get(count..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break error,
        }
    };
    let written = (bytes.len() - left.len()) as u64;
    if let Some(before) = before.filter(|_| written > 0)
        && file.metadata().is_ok_and(|found| found.len() == before + written)
    {
        // Where this fails as well, the first error says more.
        let _ = file.set_len(before);
    }
    Err(error)
}

/// Creates a file that does not exist yet, whole or not at all: where not all bytes can be written, it is removed
/// again. `prepare` is given the empty file, for instance to set its permissions.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] if there is anything of this name, and those of the operating system.
pub fn create(path: &Path, bytes: &[u8], prepare: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
    // The system checks and creates the file in one step, so that none that appears in between is lost.
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    let fill = prepare(&file).and_then(|()| file.write_all(bytes)).and_then(|()| file.sync_data());
    if fill.is_err() {
        // It is ours alone, and the first error says more than one of this.
        let _ = std::fs::remove_file(path);
    }
    fill
}

/// Whether an error is the fault of the machine and not of whoever named a file: the disk is full, broken or cannot
/// be written, or a limit on what may be written is reached.
pub fn is_of_world(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, ReadOnlyFilesystem, StorageFull, WriteZero};

    matches!(error.kind(), StorageFull | QuotaExceeded | ReadOnlyFilesystem | FileTooLarge | WriteZero)
        || is_input_output(error)
}

#[cfg(unix)]
fn is_input_output(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error())
}

#[cfg(not(unix))]
fn is_input_output(_: &io::Error) -> bool {
    false
}

/// Makes a folder for what planproof keeps, and those above it that are missing: other users have no access to them. A
/// folder that is there is left as it is.
///
/// # Errors
/// Those of the operating system.
pub fn make_own_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Has a file created so that other users cannot write to it, whatever the umask says. Whether they can read it is as
/// the umask says.
pub fn without_other_writers(options: &mut OpenOptions) -> &mut OpenOptions {
    with_mode(options, 0o644)
}

/// Whether other users than its owner can write to a folder, or another user but the superuser is its owner. Where
/// files have no modes, and where there is no such folder, they cannot.
pub fn others_can_write(folder: &Path) -> bool {
    #[cfg(unix)]
    if let Ok(found) = std::fs::metadata(folder) {
        use std::os::unix::fs::MetadataExt as _;

        let is_ours = [0, rustix::process::geteuid().as_raw()].contains(&found.uid());
        return found.mode() & 0o022 != 0 || !is_ours;
    }
    let _ = folder;
    false
}

/// The mode of a file that is created, of which the umask takes more away.
fn with_mode(options: &mut OpenOptions, mode: u32) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, mode);
    let _ = mode;
    options
}

/// Devices that can be written to and never wait for anybody but the user.
const STREAMS: [&str; 5] = ["/dev/stdout", "/dev/stderr", "/dev/null", "/dev/full", "/dev/tty"];

fn must_be_written(kind: FileType) -> io::Result<()> {
    if kind.is_file() {
        return Ok(());
    }
    let hint = if kind.is_dir() { "name a file in it" } else { "name a file, or `/dev/stdout`" };
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is {}; {hint}", word(kind))))
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
        _ if kind.is_symlink() => "a link",
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

/// The same, and refuses to follow a link.
#[cfg(unix)]
fn without_links(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt as _;

    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::NOFOLLOW;
    options.custom_flags(flags.bits().cast_signed());
}

#[cfg(not(unix))]
fn without_links(_: &mut OpenOptions) {}

/// Lets writing wait for a slow reader.
#[cfg(unix)]
fn waiting_again(file: &File) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(file)?;
    Ok(rustix::fs::fcntl_setfl(file, flags - rustix::fs::OFlags::NONBLOCK)?)
}

#[cfg(not(unix))]
fn waiting_again(_: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::{Read as _, Write as _};

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

    #[test]
    fn named_files_lie_below_after_links_are_followed() {
        let root = std::env::temp_dir().join(format!("planproof-below-{}", std::process::id()));
        let folder = root.join("folder");
        std::fs::create_dir_all(folder.join("deep")).expect("creates");
        for file in ["outside", "folder/inside", "folder/deep/file"] {
            std::fs::write(root.join(file), "text").expect("writes");
        }
        for (link, to) in [
            ("folder/up", ".."),
            ("folder/out", "../outside"),
            ("folder/in", "deep/file"),
            ("folder/again", "out"),
            ("there", "folder"),
        ] {
            std::os::unix::fs::symlink(to, root.join(link)).expect("links");
        }
        for file in ["inside", "deep/file", "in", "deep/../inside"] {
            assert!(below(&folder, &folder.join(file)).is_ok(), "{file}");
        }
        // The canary: each of them can be opened.
        for file in ["out", "up/outside", "again", "../outside"] {
            open(&folder.join(file)).expect("is a file");
            let error = below(&folder, &folder.join(file)).expect_err("is elsewhere");
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{file}");
        }
        below(&root.join("there"), &root.join("there/inside")).expect("is the same folder");
        let absent = below(&folder, &folder.join("absent")).expect_err("is absent");
        assert_eq!(absent.kind(), io::ErrorKind::NotFound);
        std::fs::remove_dir_all(&root).expect("removes");
    }

    #[test]
    fn a_full_disk_leaves_no_half_files() {
        let full = OpenOptions::new().append(true).open("/dev/full").expect("opens");
        let error = append(&full, b"text").expect_err("is full");
        assert!(is_of_world(&error), "{error}");
        let folder = std::env::temp_dir().join(format!("planproof-whole-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("creates");
        let path = folder.join("file");
        create(&path, b"one\n", |_| Ok(())).expect("is created");
        let there = create(&path, b"other", |_| Ok(())).expect_err("is there");
        assert_eq!(there.kind(), io::ErrorKind::AlreadyExists);
        assert!(!is_of_world(&there));
        let file = OpenOptions::new().append(true).open(&path).expect("opens");
        append(&file, b"two\n").expect("has room");
        assert_eq!(std::fs::read(&path).expect("reads"), b"one\ntwo\n");
        let other = folder.join("other");
        let full = || Err(io::ErrorKind::StorageFull.into());
        assert!(is_of_world(&create(&other, b"text", |_| full()).expect_err("is full")));
        assert!(!other.exists(), "nothing half is left");
        for (kind, expected) in [
            (io::ErrorKind::QuotaExceeded, true),
            (io::ErrorKind::ReadOnlyFilesystem, true),
            (io::ErrorKind::FileTooLarge, true),
            (io::ErrorKind::PermissionDenied, false),
            (io::ErrorKind::NotFound, false),
        ] {
            assert_eq!(is_of_world(&kind.into()), expected, "{kind}");
        }
        assert!(is_of_world(&io::Error::from_raw_os_error(5)), "a broken disk");
        std::fs::remove_dir_all(&folder).expect("removes");
    }

    fn to_write() -> OpenOptions {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        options
    }

    #[test]
    fn only_files_are_written_to_and_nothing_is_waited_for() {
        let folder = std::env::temp_dir().join(format!("planproof-written-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("creates");
        let (file, pipe, link) = (folder.join("file"), folder.join("pipe"), folder.join("link"));
        let (to_file, dangling) = (folder.join("to-file"), folder.join("dangling"));
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .expect("makes");
        std::os::unix::fs::symlink(&pipe, &link).expect("links");
        std::os::unix::fs::symlink(&file, &to_file).expect("links");
        std::os::unix::fs::symlink(folder.join("absent"), &dangling).expect("links");
        let refused = |path: &Path| open_to_write(path, &to_write()).expect_err("is no file").to_string();
        let not_own = |path: &Path| open_own(path, &to_write()).expect_err("is no file").to_string();

        open_to_write(&file, &to_write()).expect("is created").write_all(b"text").expect("writes");
        // The canary: `File::create` would wait here until somebody reads.
        assert!(refused(&pipe).contains("a named pipe"));
        assert!(refused(&link).contains("a named pipe"));
        assert!(refused(&folder).contains("a folder"));
        assert!(refused(Path::new("/dev/zero")).contains("a device"));
        for stream in ["/dev/null", "/dev/full"] {
            open_to_write(Path::new(stream), &to_write()).expect("never waits");
        }
        assert!(not_own(&pipe).contains("a named pipe"));
        assert!(not_own(&folder).contains("a folder"));
        for link in [&link, &to_file, &dangling] {
            assert!(not_own(link).contains("a link"));
        }
        assert_eq!(std::fs::read(&file).expect("reads"), b"text");
        assert!(!folder.join("absent").exists());
        open_own(&file, &to_write()).expect("is a file");
        // A link of the user's own leads to where the file is written.
        open_to_write(&to_file, &to_write()).expect("is a file");

        // What the shell makes of `>(cat)`.
        let (reader, writer) = std::io::pipe().expect("makes");
        let named = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&writer));
        let mut options = OpenOptions::new();
        options.write(true);
        let open = open_to_write(Path::new(&named), &options).expect("has a reader");
        let flags = rustix::fs::fcntl_getfl(&open).expect("is open");
        assert!(!flags.contains(rustix::fs::OFlags::NONBLOCK), "a slow reader would lose the rest");
        drop((reader, open));
        std::fs::remove_dir_all(&folder).expect("removes");
    }
}
