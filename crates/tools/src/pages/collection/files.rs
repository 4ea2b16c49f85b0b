//! The documents in the files of a folder.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use planproof_trace::json;
use serde::Deserialize;

use super::dump::{DumpError, DumpPage, DumpPages};

use super::{CollectionError, DEPTH_MAX, DOCUMENT_BYTES_MAX, DOCUMENTS_MAX};

type Result<T> = std::result::Result<T, CollectionError>;

/// A title and a text.
#[derive(Debug, Deserialize)]
pub(super) struct Document {
    pub(super) title: String,
    pub(super) text: String,
}

/// What a file holds.
pub(super) enum Item {
    Document(Document),
    /// A title that leads to another.
    Redirect {
        from: String,
        to: String,
    },
}

/// What kind of documents a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Markdown,
    Lines,
    Dump,
}

impl Kind {
    fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "txt" => Some(Self::Text),
            "md" => Some(Self::Markdown),
            "jsonl" => Some(Self::Lines),
            "xml" => Some(Self::Dump),
            _ => None,
        }
    }
}

/// The files with documents, sorted by path; a file of several documents that is named itself is the only one.
pub(super) fn list(folder: &Path, stop: &AtomicBool) -> Result<Vec<PathBuf>> {
    match fs::metadata(folder) {
        Ok(data) if data.is_dir() => {}
        Ok(data) if data.is_file() && matches!(Kind::of(folder), Some(Kind::Lines | Kind::Dump)) => {
            return Ok(vec![folder.to_owned()]);
        }
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            return Err(CollectionError::Unreadable { path: folder.to_owned(), source });
        }
        _ => return Err(CollectionError::NotAFolder { path: folder.to_owned() }),
    }
    let mut files = Vec::new();
    let mut folders = vec![(folder.to_owned(), 1)];
    while let Some((path, depth)) = folders.pop() {
        let unreadable = |source| CollectionError::Unreadable { path: path.clone(), source };
        for entry in fs::read_dir(&path).map_err(unreadable)? {
            if stop.load(Ordering::Relaxed) {
                return Err(CollectionError::GivenUp);
            }
            let entry = entry.map_err(unreadable)?;
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            // This is the type of the entry itself: a link to a folder is
            // no folder here, so links cannot lead in a circle.
            let (path, kind) = (entry.path(), entry.file_type().map_err(unreadable)?);
            if kind.is_dir() {
                if depth == DEPTH_MAX {
                    let what = format!("folders are nested deeper than {DEPTH_MAX} levels");
                    return Err(CollectionError::TooLarge { path: folder.to_owned(), what });
                }
                folders.push((path, depth + 1));
            } else if Kind::of(&path).is_some() && (kind.is_file() || is_link_to_file(&path, kind)) {
                if kind.is_symlink() && leads_out(folder, &path) {
                    return Err(CollectionError::LinkOut { path, folder: folder.to_owned() });
                }
                files.push(path);
                if files.len() > DOCUMENTS_MAX as usize {
                    let what = format!("it holds more than {DOCUMENTS_MAX} files");
                    return Err(CollectionError::TooLarge { path: folder.to_owned(), what });
                }
            }
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// A dangling link counts, so that it is reported. Pipes and devices do not: they could be read for ever.
fn is_link_to_file(path: &Path, kind: fs::FileType) -> bool {
    kind.is_symlink() && fs::metadata(path).map_or(true, |data| data.is_file())
}

/// Whether a link leads out of a folder. The agent reads what is found, and the folder may come from somebody else.
fn leads_out(folder: &Path, link: &Path) -> bool {
    // What cannot be followed is reported when it is read.
    let Ok(target) = fs::canonicalize(link) else { return false };
    fs::canonicalize(folder).is_ok_and(|folder| !target.starts_with(folder))
}

/// Passes each document and redirect of the files to `take`.
pub(super) fn read(
    files: &[PathBuf],
    stop: &AtomicBool,
    mut take: impl FnMut(Item) -> Result<()>,
) -> Result<()> {
    for path in files {
        if stop.load(Ordering::Relaxed) {
            return Err(CollectionError::GivenUp);
        }
        match Kind::of(path) {
            Some(Kind::Lines) => read_lines(path, stop, &mut take)?,
            Some(Kind::Dump) => read_dump(path, stop, &mut take)?,
            Some(kind) => take(Item::Document(read_whole(path, kind)?))?,
            None => {}
        }
    }
    Ok(())
}

fn open(path: &Path) -> Result<BufReader<File>> {
    let file = planproof_files::open(path).map_err(|source| unreadable(path, source))?;
    Ok(BufReader::new(file))
}

fn unreadable(path: &Path, source: io::Error) -> CollectionError {
    CollectionError::Unreadable { path: path.to_owned(), source }
}

fn wrong(path: &Path, line: Option<u64>, what: impl Into<String>) -> CollectionError {
    CollectionError::Document { path: path.to_owned(), line, what: what.into() }
}

fn too_large() -> String {
    format!("the document has more than {DOCUMENT_BYTES_MAX} bytes: split it")
}

/// The bytes as text, without a byte order mark.
fn text_of(bytes: &[u8]) -> std::result::Result<&str, &'static str> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8: convert it")?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

fn read_whole(path: &Path, kind: Kind) -> Result<Document> {
    let mut bytes = Vec::new();
    // One byte more than allowed is enough to see that a document is too long.
    let mut file = open(path)?.take(u64::from(DOCUMENT_BYTES_MAX) + 1);
    file.read_to_end(&mut bytes).map_err(|source| unreadable(path, source))?;
    if bytes.len() > DOCUMENT_BYTES_MAX as usize {
        return Err(wrong(path, None, too_large()));
    }
    let text = text_of(&bytes).map_err(|what| wrong(path, None, what))?;
    if kind == Kind::Markdown
        && let (first, rest) = text.trim_start().split_once('\n').unwrap_or((text.trim_start(), ""))
        && let Some(title) = first.strip_prefix("# ").map(str::trim).filter(|title| !title.is_empty())
    {
        return Ok(Document { title: title.to_owned(), text: rest.trim().to_owned() });
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    Ok(Document { title: name.replace('_', " "), text: text.to_owned() })
}

fn read_dump(path: &Path, stop: &AtomicBool, take: &mut impl FnMut(Item) -> Result<()>) -> Result<()> {
    let mut pages = DumpPages::new(open(path)?, stop);
    loop {
        let page = pages.next().map_err(|error| match error {
            DumpError::GivenUp => CollectionError::GivenUp,
            DumpError::Io(source) => unreadable(path, source),
            DumpError::Page { line, what } => wrong(path, Some(line), what),
        })?;
        match page {
            None => return Ok(()),
            Some(DumpPage::Text { title, text }) if text.len() > DOCUMENT_BYTES_MAX as usize => {
                return Err(wrong(
                    path,
                    None,
                    format!("the page {title} has more than {DOCUMENT_BYTES_MAX} bytes of text"),
                ));
            }
            Some(DumpPage::Text { title, text }) => take(Item::Document(Document { title, text }))?,
            Some(DumpPage::Redirect { from, to }) => take(Item::Redirect { from, to })?,
        }
    }
}

fn read_lines(path: &Path, stop: &AtomicBool, take: &mut impl FnMut(Item) -> Result<()>) -> Result<()> {
    let mut file = open(path)?;
    let mut bytes = Vec::new();
    for number in 1.. {
        if stop.load(Ordering::Relaxed) {
            return Err(CollectionError::GivenUp);
        }
        bytes.clear();
        // Two more for the end of the line.
        let mut line = (&mut file).take(u64::from(DOCUMENT_BYTES_MAX) + 2);
        if line.read_until(b'\n', &mut bytes).map_err(|source| unreadable(path, source))? == 0 {
            break;
        }
        let wrong = |what: String| wrong(path, Some(number), what);
        if bytes.trim_ascii_end().len() > DOCUMENT_BYTES_MAX as usize {
            return Err(wrong(too_large()));
        }
        let text = text_of(&bytes).map_err(|what| wrong(what.to_owned()))?.trim();
        if text.is_empty() {
            continue;
        }
        let document: Document = json::read(text.as_bytes()).map_err(|error| {
            wrong(format!("no document ({error}): write {{\"title\": \"...\", \"text\": \"...\"}}"))
        })?;
        if document.title.trim().is_empty() {
            return Err(wrong("the title is empty".to_owned()));
        }
        take(Item::Document(document))?;
    }
    Ok(())
}
