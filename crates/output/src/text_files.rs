//! Files of text that the user names.

use std::io::Read as _;
use std::path::Path;

use planproof_trace::json;

use crate::failure::Failure;

/// Largest file of cases, traces or data that is read, in bytes.
const FILE_BYTES_MAX: u64 = 2 << 30;

/// Largest file that a person writes, such as one of rules or of prices, in bytes. Most have a lower limit of their
/// own.
const WRITTEN_FILE_BYTES_MAX: u64 = 64 << 20;

/// Reads a file that a person writes, or stdin for `-`.
pub fn read_text(path: &Path) -> Result<String, Failure> {
    read_within(path, WRITTEN_FILE_BYTES_MAX)
}

/// Reads a file of cases, traces or data, or stdin for `-`.
pub fn read_large_text(path: &Path) -> Result<String, Failure> {
    read_within(path, FILE_BYTES_MAX)
}

fn read_within(path: &Path, most: u64) -> Result<String, Failure> {
    // Some editors begin a file with a mark of its encoding.
    text_of(path, read_bytes(path, most)?)
        .map(|text| text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Reads a text file that a file in this folder names.
///
/// # Errors
/// It cannot be read, or is neither in the folder nor below it, once links are followed.
pub fn read_below(folder: &Path, path: &Path) -> Result<String, Failure> {
    must_be_below(folder, path)?;
    read_text(path)
}

/// Makes sure that a file is in the folder of the one that names it, or below it, once links are followed.
///
/// # Errors
/// It is not, or there is none.
pub fn must_be_below(folder: &Path, path: &Path) -> Result<(), Failure> {
    let fail = |error: std::io::Error| Failure::usage(format!("cannot read {}: {error}", path.display()));
    planproof_files::below(folder, path).map(drop).map_err(fail)
}

/// Reads a file of JSON that other programs wrote, or stdin for `-`. Halves of characters in it become U+FFFD.
pub fn read_json(path: &Path) -> Result<String, Failure> {
    let bytes = read_bytes(path, FILE_BYTES_MAX)?;
    let bytes = json::unmarked(&bytes);
    // Text in UTF-16 is whole, but no JSON.
    let is_utf_16 = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    let mended = if is_utf_16 { None } else { json::mended(bytes) };
    text_of(path, mended.unwrap_or_else(|| bytes.to_owned()))
}

fn read_bytes(path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    let fail = |error: std::io::Error| Failure::usage(format!("cannot read {}: {error}", path.display()));
    let too_large = || Failure::usage(format!("{} is larger than {most} bytes", path.display()));
    let source: Box<dyn std::io::Read> = if path.as_os_str() == "-" {
        Box::new(std::io::stdin())
    } else {
        let file = planproof_files::open(path).map_err(fail)?;
        // A size that is known need not be read to be too large.
        if file.metadata().is_ok_and(|found| found.is_file() && found.len() > most) {
            return Err(too_large());
        }
        Box::new(file)
    };
    let mut bytes = Vec::new();
    // One byte more than the limit shows that there is more, also for a pipe, which has no length.
    let read = source.take(most + 1).read_to_end(&mut bytes).map_err(fail)?;
    if read as u64 > most {
        return Err(too_large());
    }
    Ok(bytes)
}

fn text_of(path: &Path, bytes: Vec<u8>) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(&error.as_bytes()[..good]);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
        let path = path.display();
        Failure::usage(format!("{path}:{line}:{column}: this is not a text in UTF-8: save the file as UTF-8"))
    })
}
