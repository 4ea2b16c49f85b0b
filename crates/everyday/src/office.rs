//! The tool `office`: documents, spreadsheets and slides as the files of office programs (ECMA-376).
//!
//! Spreadsheets are written by a library. Documents and slides have so few parts here that they are written directly:
//! no library for slides is maintained, and the one for documents requires more packages than the rest of this crate.

mod document;
mod package;
mod slides;

use planproof_media::ToolFailure;
use rust_xlsxwriter::{DocProperties, ExcelDateTime, Workbook, XlsxError};
use serde::Deserialize;
use serde_json::{Map, Value};

/// Longest title, in bytes.
pub const TITLE_BYTES_MAX: usize = 500;
/// Most bytes of all texts of a file.
pub const TEXT_BYTES_MAX: usize = 1 << 20;
/// Most paragraphs of a document.
pub const PARAGRAPHS_MAX: usize = 10_000;
/// Most rows of a spreadsheet, also of those without cells, by the format's limit.
pub const SHEET_ROWS_MAX: usize = 1_048_576;
/// Most cells of a spreadsheet.
pub const CELLS_MAX: usize = 100_000;
/// Most columns of a spreadsheet.
pub const COLUMNS_MAX: usize = 1_000;
/// Longest text of a cell, in characters, by the format's limit: it counts those beyond U+FFFF, such as emoji, twice.
pub const CELL_CHARACTERS_MAX: usize = 32_767;
/// Most slides.
pub const SLIDES_MAX: usize = 200;
/// Most points of a slide.
pub const POINTS_MAX: usize = 50;

/// Begins a paragraph that is a heading.
const HEADING: &str = "# ";

/// The year of creation in a file, constant so that the same call makes the same bytes.
const MADE_IN: u16 = 2000;

/// What a call asks for.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
enum Order {
    Document { title: String, paragraphs: Vec<String> },
    Spreadsheet { title: String, rows: Vec<Vec<Cell>> },
    Slides { title: String, slides: Vec<Slide> },
}

/// What stands in a cell.
#[derive(Deserialize)]
#[serde(untagged)]
enum Cell {
    Nothing(()),
    Truth(bool),
    Number(f64),
    Text(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Slide {
    title: String,
    #[serde(default)]
    points: Vec<String>,
}

/// The requested file: its extension, and its bytes. Takes time in proportion to the texts.
pub(crate) fn file(arguments: &Map<String, Value>) -> Result<(&'static str, Vec<u8>), ToolFailure> {
    let order: Order = serde_json::from_value(Value::Object(arguments.clone())).map_err(|error| {
        ToolFailure::call(format!(
            "the arguments of `office` do not fit ({error}): write a `kind` (document, spreadsheet or slides), a \
             `title`, and `paragraphs`, `rows` or `slides`"
        ))
    })?;
    // All limits are checked before anything is built.
    match &order {
        Order::Document { title, paragraphs } => {
            check("paragraphs", paragraphs.len(), PARAGRAPHS_MAX)?;
            check_texts(title, paragraphs.iter())?;
            let paragraphs = paragraphs.iter().map(|text| match text.strip_prefix(HEADING) {
                Some(heading) => (true, heading),
                None => (false, text.as_str()),
            });
            Ok(("docx", document::document(title, paragraphs).map_err(broken)?))
        }
        Order::Spreadsheet { title, rows } => {
            check("rows", rows.len(), SHEET_ROWS_MAX)?;
            check("cells", rows.iter().map(Vec::len).sum(), CELLS_MAX)?;
            check("columns", rows.iter().map(Vec::len).max().unwrap_or_default(), COLUMNS_MAX)?;
            let texts = rows.iter().flatten().filter_map(|cell| match cell {
                Cell::Text(text) => Some(text),
                Cell::Nothing(()) | Cell::Truth(_) | Cell::Number(_) => None,
            });
            check_texts(title, texts.clone())?;
            if texts.clone().any(|text| text.encode_utf16().count() > CELL_CHARACTERS_MAX) {
                return Err(ToolFailure::call(format!(
                    "a cell has more than {CELL_CHARACTERS_MAX} characters: split it"
                )));
            }
            Ok(("xlsx", spreadsheet(title, rows).map_err(broken)?))
        }
        Order::Slides { title, slides } => {
            check("slides", slides.len(), SLIDES_MAX)?;
            for slide in slides {
                check("points on a slide", slide.points.len(), POINTS_MAX)?;
            }
            check_texts(title, slides.iter().flat_map(|slide| slide.points.iter().chain([&slide.title])))?;
            let slides = slides.iter().map(|slide| (slide.title.as_str(), slide.points.as_slice()));
            Ok(("pptx", slides::slides(title, &slides.collect::<Vec<_>>()).map_err(broken)?))
        }
    }
}

fn check(what: &str, count: usize, most: usize) -> Result<(), ToolFailure> {
    if count > most {
        return Err(ToolFailure::call(format!("the file would have {count} {what}; {most} are allowed")));
    }
    Ok(())
}

fn check_texts<'t>(title: &str, texts: impl Iterator<Item = &'t String>) -> Result<(), ToolFailure> {
    if title.trim().is_empty() {
        return Err(ToolFailure::call("`title` is empty: say what the file is called"));
    }
    check("bytes in its title", title.len(), TITLE_BYTES_MAX)?;
    check("bytes of text", texts.map(String::len).sum(), TEXT_BYTES_MAX)
}

/// No fault of the call is known, so the agent is not blamed.
fn broken(error: impl std::fmt::Display) -> ToolFailure {
    ToolFailure::world(format!("the file cannot be made: {error}"))
}

fn spreadsheet(title: &str, rows: &[Vec<Cell>]) -> Result<Vec<u8>, XlsxError> {
    let mut book = Workbook::new();
    let made = ExcelDateTime::from_ymd(MADE_IN, 1, 1)?;
    book.set_properties(&DocProperties::new().set_title(title).set_creation_datetime(&made));
    let sheet = book.add_worksheet();
    for (row, cells) in (0_u32..).zip(rows) {
        for (column, cell) in (0_u16..).zip(cells) {
            match cell {
                Cell::Nothing(()) => {}
                Cell::Truth(value) => drop(sheet.write_boolean(row, column, *value)?),
                Cell::Number(value) => drop(sheet.write_number(row, column, *value)?),
                // Never as a formula, whatever it begins with.
                Cell::Text(text) => drop(sheet.write_string(row, column, text)?),
            }
        }
    }
    book.save_to_buffer()
}
