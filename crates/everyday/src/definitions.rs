//! The tools as a model sees them.

use std::sync::Arc;

use planproof_trace::Tool;
use serde_json::{Value, json};

/// What a tool of this crate does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Weather,
    ImageGenerator,
    TextExtractor,
    Translator,
    WebSearch,
    Wikipedia,
    Shell,
    Java,
    Office,
    MoviePlayer,
}

/// The names of the tools, in their order.
pub const NAMES: [&str; 10] = [
    "weather",
    "image_generator",
    "text_extractor",
    "translator",
    "web_search",
    "wikipedia",
    "shell",
    "java",
    "office",
    "movie_player",
];

/// The kinds in the order of [`NAMES`].
const KINDS: [Kind; 10] = [
    Kind::Weather,
    Kind::ImageGenerator,
    Kind::TextExtractor,
    Kind::Translator,
    Kind::WebSearch,
    Kind::Wikipedia,
    Kind::Shell,
    Kind::Java,
    Kind::Office,
    Kind::MoviePlayer,
];

/// What the tool of this name does.
pub(crate) fn kind(name: &str) -> Option<Kind> {
    let place = NAMES.iter().position(|known| *known == name)?;
    KINDS.get(place).copied()
}

/// All ten tools.
pub(crate) fn tools() -> Arc<[Tool]> {
    let define = |(name, kind): (&str, Kind)| {
        let (description, properties, required) = definition(kind);
        let input_schema = json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        });
        Tool { name: name.to_owned(), description: description.to_owned(), input_schema: input_schema.into() }
    };
    NAMES.into_iter().zip(KINDS).map(define).collect()
}

/// A description, properties, and which of them are needed.
fn definition(kind: Kind) -> (&'static str, Value, &'static [&'static str]) {
    let text = |about: &str| json!({"type": "string", "description": about});
    match kind {
        Kind::Weather => (
            "Reports the weather at a place: a forecast for some days.",
            json!({"place": text("The name of a town.")}),
            &["place"],
        ),
        Kind::ImageGenerator => (
            "Draws a picture after a description, and answers with the name of its file.",
            json!({"text": text("What the picture shows.")}),
            &["text"],
        ),
        Kind::TextExtractor => (
            "Reads the text in a picture.",
            json!({"image": text("The name of the picture's file.")}),
            &["image"],
        ),
        Kind::Translator => (
            "Translates a text into another language.",
            json!({
                "text": text("The text."),
                "to": text("The code of the language to translate into, such as en or de."),
                "from": text("The code of the language of the text; found out where it is left away."),
            }),
            &["text", "to"],
        ),
        Kind::WebSearch => (
            "Searches the web, and answers with the first hits: title, address and a piece of the text.",
            json!({"query": text("What is searched for.")}),
            &["query"],
        ),
        Kind::Wikipedia => (
            "Searches Wikipedia for a page, and answers with the beginning of its text.",
            json!({"text": text("The title of a page.")}),
            &["text"],
        ),
        Kind::Shell => (
            "Runs commands of a shell on a Linux machine without files of the user's and without network, and answers \
             with what they print.",
            json!({"command": text("The commands, as for sh -c.")}),
            &["command"],
        ),
        Kind::Java => (
            "Runs a program in Java without files of the user's and without network, and answers with what it prints.",
            json!({"code": text("A file of source code whose first class has the method main.")}),
            &["code"],
        ),
        Kind::Office => (
            "Makes a document (.docx), a spreadsheet (.xlsx) or slides (.pptx), and answers with the name of the file.",
            // No list is required here, because each belongs to one kind; a call without that of its kind is refused.
            json!({
                "kind": {"type": "string", "enum": ["document", "spreadsheet", "slides"]},
                "title": text("The title."),
                "paragraphs": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Of a document: its paragraphs; those that begin with `# ` are headings.",
                },
                "rows": {
                    "type": "array",
                    "items": {"type": "array", "items": {"type": ["string", "number", "boolean", "null"]}},
                    "description": "Of a spreadsheet: its rows, each a list of cells.",
                },
                "slides": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "title": {"type": "string"},
                            "points": {"type": "array", "items": {"type": "string"}},
                        },
                        "required": ["title"],
                        "additionalProperties": false,
                    },
                    "description": "Of slides: those after the first, which has the title.",
                },
            }),
            &["kind", "title"],
        ),
        Kind::MoviePlayer => (
            "Plays a film with the user's player.",
            json!({"title": text("The name of the film's file.")}),
            &["title"],
        ),
    }
}
