//! The archive of named parts that every office file is.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Prefixes of the format's names of relationships and parts.
pub(super) const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// What begins every part.
pub(super) const XML: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#;

const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";

/// A part: its name in the archive, its content type, and its text.
pub(super) struct Part {
    pub(super) name: String,
    pub(super) content_type: &'static str,
    pub(super) text: String,
}

/// The parts as an archive. `main` is the name of the main part. Entries have the earliest date that archives
/// support, so that the same parts give the same bytes.
pub(super) fn package(main: &str, parts: &[Part]) -> Result<Vec<u8>, ZipError> {
    let mut types = format!(
        "{XML}<Types xmlns=\"{PACKAGE}/content-types\"><Default Extension=\"rels\" \
         ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Default Extension=\"xml\" \
         ContentType=\"application/xml\"/>"
    );
    for part in parts.iter().filter(|part| !part.content_type.is_empty()) {
        let _ =
            write!(types, "<Override PartName=\"/{}\" ContentType=\"{}\"/>", part.name, part.content_type);
    }
    types.push_str("</Types>");
    let root = relations(&[("officeDocument", main.to_owned())]);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(zip::DateTime::default());
    let own = [("[Content_Types].xml", types.as_str()), ("_rels/.rels", root.as_str())];
    for (name, text) in
        own.into_iter().chain(parts.iter().map(|part| (part.name.as_str(), part.text.as_str())))
    {
        archive.start_file(name, options)?;
        archive.write_all(text.as_bytes())?;
    }
    Ok(archive.finish()?.into_inner())
}

/// A part with the references of another part, as `rId1`, `rId2` and so on: by kind and path.
pub(super) fn relations(targets: &[(&str, String)]) -> String {
    let mut text = format!("{XML}<Relationships xmlns=\"{PACKAGE}/relationships\">");
    for (number, (kind, target)) in (1..).zip(targets) {
        let _ =
            write!(text, "<Relationship Id=\"rId{number}\" Type=\"{OFFICE}/{kind}\" Target=\"{target}\"/>");
    }
    text + "</Relationships>"
}

/// A part with relations, which needs no content type of its own.
pub(super) fn relations_part(name: impl Into<String>, targets: &[(&str, String)]) -> Part {
    Part { name: name.into(), content_type: "", text: relations(targets) }
}

/// A text between tags. Characters that XML does not allow are left out.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // Documents have turned line breaks into elements before; elsewhere they are mere white space.
            '\t' | '\n' | '\r' => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => {}
            other if other.is_control() => {}
            other => out.push(other),
        }
    }
    out
}
