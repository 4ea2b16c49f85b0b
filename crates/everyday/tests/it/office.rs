//! Files of office programs, opened again.

use std::io::{Cursor, Read as _};

use libtest_mimic::Trial;
use planproof_everyday::{EverydayTools, SHEET_ROWS_MAX};
use planproof_media::Endpoints;
use roxmltree::Document;
use serde_json::{Value, json};

use crate::support::{Folder, done, refused, tools, trial, written};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("office::a_document_holds_its_paragraphs", a_document_holds_its_paragraphs),
        trial("office::a_spreadsheet_holds_its_cells", a_spreadsheet_holds_its_cells),
        trial("office::slides_hold_their_points", slides_hold_their_points),
        trial("office::the_same_call_makes_the_same_bytes", the_same_call_makes_the_same_bytes),
        trial("office::what_does_not_fit_is_refused", what_does_not_fit_is_refused),
    ]
}

fn office(tools: &EverydayTools, arguments: &Value) -> Vec<u8> {
    let answer: Value = serde_json::from_str(&done(tools, "office", arguments)).unwrap();
    written(tools, answer["file"].as_str().unwrap())
}

/// All parts of an archive. Each has to be XML, every part that another names has to be there, and every part has to
/// have a type.
fn parts(bytes: &[u8]) -> Vec<(String, String)> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut parts = Vec::new();
    for place in 0..archive.len() {
        let mut file = archive.by_index(place).unwrap();
        let name = file.name().unwrap().into_owned();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        parts.push((name, text));
    }
    let has = |name: &str| parts.iter().any(|(known, _)| known == name);
    for (name, text) in &parts {
        let xml = Document::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let Some((folder, _)) = name.split_once("_rels/") else { continue };
        for relation in xml.descendants().filter(|node| node.has_tag_name_any("Relationship")) {
            let mut path: Vec<&str> = folder.split('/').filter(|it| !it.is_empty()).collect();
            for step in relation.attribute("Target").unwrap().split('/') {
                if step == ".." {
                    path.pop();
                } else {
                    path.push(step);
                }
            }
            assert!(has(&path.join("/")), "{name} names {path:?}");
        }
    }
    let types = &parts.iter().find(|(name, _)| name == "[Content_Types].xml").unwrap().1;
    for (name, _) in parts.iter().filter(|(name, _)| !name.ends_with(".rels") && !name.starts_with('[')) {
        assert!(types.contains(&format!("PartName=\"/{name}\"")), "{name} has no type");
    }
    parts
}

/// A tag by its name, whatever its namespace.
trait Tagged {
    fn has_tag_name_any(&self, name: &str) -> bool;
}

impl Tagged for roxmltree::Node<'_, '_> {
    fn has_tag_name_any(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}

/// The texts in the elements of this name.
fn texts(parts: &[(String, String)], part: &str, tag: &str) -> Vec<String> {
    let text = &parts.iter().find(|(name, _)| name == part).unwrap_or_else(|| panic!("there is no {part}")).1;
    let xml = Document::parse(text).unwrap();
    let nodes = xml.descendants().filter(|node| node.has_tag_name_any(tag));
    nodes.map(|node| node.text().unwrap_or_default().to_owned()).collect()
}

fn a_document_holds_its_paragraphs() {
    let folder = Folder::new("docx");
    let tools = tools(&folder, Endpoints::none(), None);
    let order = json!({
        "kind": "document",
        "title": "Costs & <benefits>",
        "paragraphs": ["# First", "One.\nTwo \u{1}\u{fffe}é.", "", "# Second", "]]>"],
    });
    let parts = parts(&office(&tools, &order));
    let found = texts(&parts, "word/document.xml", "t");
    assert_eq!(found, ["Costs & <benefits>", "First", "One.", "Two é.", "Second", "]]>"]);
    let document = &parts.iter().find(|(name, _)| name == "word/document.xml").unwrap().1;
    assert_eq!(document.matches("w:val=\"Heading1\"").count(), 2);
}

fn a_spreadsheet_holds_its_cells() {
    let folder = Folder::new("xlsx");
    let tools = tools(&folder, Endpoints::none(), None);
    let order = json!({
        "kind": "spreadsheet",
        "title": "Rates",
        "rows": [["name", "value"], ["a & b", 1.5], ["=1+1", true], [null, -3]],
    });
    let parts = parts(&office(&tools, &order));
    let sheet = "xl/worksheets/sheet1.xml";
    assert_eq!(texts(&parts, "xl/sharedStrings.xml", "t"), ["name", "value", "a & b", "=1+1"]);
    assert_eq!(texts(&parts, sheet, "v"), ["0", "1", "2", "1.5", "3", "1", "-3"]);
    // A text that looks like a formula is none.
    assert!(texts(&parts, sheet, "f").is_empty());
}

fn slides_hold_their_points() {
    let folder = Folder::new("pptx");
    let tools = tools(&folder, Endpoints::none(), None);
    let order = json!({
        "kind": "slides",
        "title": "The plan",
        "slides": [{"title": "Why", "points": ["Because <of> it", "And & so"]}, {"title": "Nothing else"}],
    });
    let parts = parts(&office(&tools, &order));
    let slide = |number: u32| texts(&parts, &format!("ppt/slides/slide{number}.xml"), "t");
    assert_eq!(slide(1), ["The plan"]);
    assert_eq!(slide(2), ["Why", "Because <of> it", "And & so"]);
    assert_eq!(slide(3), ["Nothing else"]);
}

fn the_same_call_makes_the_same_bytes() {
    let folder = Folder::new("same");
    let tools = tools(&folder, Endpoints::none(), None);
    for order in [
        json!({"kind": "document", "title": "t", "paragraphs": ["a"]}),
        json!({"kind": "spreadsheet", "title": "t", "rows": [[1]]}),
        json!({"kind": "slides", "title": "t", "slides": []}),
    ] {
        let first = office(&tools, &order);
        // Archives tell the time in steps of two seconds.
        std::thread::sleep(std::time::Duration::from_millis(2100));
        assert_eq!(office(&tools, &order), first, "{order}");
    }
}

fn what_does_not_fit_is_refused() {
    let folder = Folder::new("unfit");
    let tools = tools(&folder, Endpoints::none(), None);
    let mut many_rows: Vec<Vec<u8>> = vec![Vec::new(); SHEET_ROWS_MAX];
    many_rows.push(vec![1]);
    for (order, part) in [
        (json!({}), "missing field `kind`"),
        (json!({"kind": "poem", "title": "t"}), "write a `kind`"),
        (json!({"kind": "document", "title": "t"}), "missing field `paragraphs`"),
        (json!({"kind": "document", "title": " ", "paragraphs": []}), "`title` is empty"),
        (json!({"kind": "slides", "title": "t", "slides": [{"points": []}]}), "missing field `title`"),
        (
            json!({"kind": "spreadsheet", "title": "t", "rows": [vec![0; 1001]]}),
            "1001 columns; 1000 are allowed",
        ),
        // Rows without cells count, because a cell in a later one would be beyond the format.
        (
            json!({"kind": "spreadsheet", "title": "t", "rows": many_rows}),
            "1048577 rows; 1048576 are allowed",
        ),
        (json!({"kind": "spreadsheet", "title": "t", "rows": [["x".repeat(40_000)]]}), "32767 characters"),
        (json!({"kind": "spreadsheet", "title": "t", "rows": [["😀".repeat(20_000)]]}), "32767 characters"),
        (json!({"kind": "document", "title": "x".repeat(600), "paragraphs": []}), "600 bytes in its title"),
        (json!({"kind": "document", "title": "t", "paragraphs": ["x".repeat(2 << 20)]}), "bytes of text"),
    ] {
        let text = refused(&tools, "office", &order);
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(tools.folder().output().is_none());
}
