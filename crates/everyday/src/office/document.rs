//! A text document (`.docx`).

use std::fmt::Write as _;

use zip::result::ZipError;

use super::package::{Part, XML, escaped, package, relations_part};

const WORDS: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";

/// The styles that paragraphs name: id, name, size in half points, and whether it is bold.
const STYLES: [(&str, &str, u32, bool); 3] =
    [("Normal", "Normal", 22, false), ("Title", "Title", 40, true), ("Heading1", "heading 1", 28, true)];

/// A document with a title, and paragraphs of which some are headings. A line break within one is a line break.
pub(super) fn document<'t>(
    title: &str,
    paragraphs: impl Iterator<Item = (bool, &'t str)>,
) -> Result<Vec<u8>, ZipError> {
    let mut body = paragraph("Title", title);
    for (is_heading, text) in paragraphs {
        body.push_str(&paragraph(if is_heading { "Heading1" } else { "Normal" }, text));
    }
    let main = format!(
        "{XML}<w:document xmlns:w=\"{WORDS}\"><w:body>{body}<w:sectPr><w:pgSz w:w=\"11906\" w:h=\"16838\"/><w:pgMar \
         w:top=\"1134\" w:right=\"1134\" w:bottom=\"1134\" w:left=\"1134\" w:header=\"709\" w:footer=\"709\" \
         w:gutter=\"0\"/></w:sectPr></w:body></w:document>"
    );
    let parts = [
        Part {
            name: "word/document.xml".to_owned(),
            content_type: "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
            text: main,
        },
        Part {
            name: "word/styles.xml".to_owned(),
            content_type: "application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml",
            text: styles(),
        },
        relations_part("word/_rels/document.xml.rels", &[("styles", "styles.xml".to_owned())]),
    ];
    package("word/document.xml", &parts)
}

fn paragraph(style: &str, text: &str) -> String {
    let mut run = String::new();
    for (number, line) in text.lines().enumerate() {
        if number > 0 {
            run.push_str("<w:br/>");
        }
        // Without this attribute, programs drop the blanks at both ends of a line.
        let _ = write!(run, "<w:t xml:space=\"preserve\">{}</w:t>", escaped(line));
    }
    format!("<w:p><w:pPr><w:pStyle w:val=\"{style}\"/></w:pPr><w:r>{run}</w:r></w:p>")
}

fn styles() -> String {
    let mut text = format!("{XML}<w:styles xmlns:w=\"{WORDS}\">");
    for (id, name, size, is_bold) in STYLES {
        let default = if id == "Normal" { " w:default=\"1\"" } else { "" };
        let bold = if is_bold { "<w:b/>" } else { "" };
        let _ = write!(
            text,
            "<w:style w:type=\"paragraph\"{default} w:styleId=\"{id}\"><w:name w:val=\"{name}\"/><w:qFormat/><w:pPr>\
             <w:spacing w:after=\"160\"/></w:pPr><w:rPr>{bold}<w:sz w:val=\"{size}\"/></w:rPr></w:style>"
        );
    }
    text + "</w:styles>"
}
