//! A strict parser for our pages: the tokens are those of the HTML standard, and anything that our pages must not
//! contain is an error.

use std::collections::BTreeMap;
use std::convert::Infallible;

use html5gum::{DefaultEmitter, Token, Tokenizer};

/// The elements our pages are made of.
const ELEMENTS: &[&str] = &[
    "a",
    "b",
    "body",
    "button",
    "circle",
    "code",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "caption",
    "figcaption",
    "figure",
    "footer",
    "form",
    "g",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "head",
    "header",
    "html",
    "img",
    "input",
    "label",
    "li",
    "line",
    "main",
    "mark",
    "meta",
    "ol",
    "option",
    "output",
    "p",
    "path",
    "polygon",
    "q",
    "rect",
    "script",
    "section",
    "select",
    "span",
    "strong",
    "style",
    "summary",
    "svg",
    "table",
    "tbody",
    "td",
    "text",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "ul",
];

/// Their attributes. None of them fetches or runs anything: a picture is embedded in its `src`.
const ATTRIBUTES: &[&str] = &[
    "alt",
    "aria-hidden",
    "aria-label",
    "aria-labelledby",
    "charset",
    "class",
    "content",
    "cx",
    "cy",
    "d",
    "data-actions",
    "data-case",
    "data-class",
    "data-shrunk",
    "data-constraint",
    "data-paged",
    "dy",
    "height",
    "hidden",
    "href",
    "http-equiv",
    "id",
    "lang",
    "name",
    "open",
    "placeholder",
    "points",
    "preserveaspectratio",
    "r",
    "role",
    "scope",
    "src",
    "stroke-dasharray",
    "stroke-width",
    "tabindex",
    "text-anchor",
    "title",
    "type",
    "value",
    "viewbox",
    "width",
    "x",
    "x1",
    "x2",
    "y",
    "y1",
    "y2",
];

/// Elements that have no end.
const VOID: &[&str] = &["img", "input", "meta"];

/// The possible beginnings of a picture's `src`.
const PICTURES: &[&str] = &["data:image/png;base64,", "data:image/jpeg;base64,"];

/// An element with its content.
#[derive(Debug, Default)]
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) attributes: BTreeMap<String, String>,
    pub(crate) children: Vec<Node>,
}

/// The content of an element.
#[derive(Debug)]
pub(crate) enum Node {
    /// An element.
    Element(Element),
    /// Text, unescaped.
    Text(String),
}

impl Element {
    /// The text of the element and its descendants.
    pub(crate) fn text(&self) -> String {
        let parts = self.children.iter().map(|child| match child {
            Node::Text(text) => text.clone(),
            Node::Element(element) => element.text(),
        });
        parts.collect()
    }

    /// The text as a reader sees it: a line for each block, with white space collapsed to one blank.
    pub(crate) fn lines(&self) -> String {
        let mut out = String::new();
        self.write_lines(&mut out);
        let lines = out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    }

    fn write_lines(&self, out: &mut String) {
        let is_inline = ["b", "code", "mark", "q", "span", "strong", "h4"].contains(&self.name.as_str());
        for child in &self.children {
            match child {
                Node::Text(text) => out.push_str(text),
                Node::Element(element) => element.write_lines(out),
            }
        }
        out.push_str(if is_inline { "" } else { "\n" });
    }

    /// Descendants for which `is_wanted` holds, in document order.
    pub(crate) fn find(&self, is_wanted: &dyn Fn(&Element) -> bool) -> Vec<&Element> {
        let mut found = Vec::new();
        for child in &self.children {
            if let Node::Element(element) = child {
                if is_wanted(element) {
                    found.push(element);
                }
                found.extend(element.find(is_wanted));
            }
        }
        found
    }

    /// Elements with this name, and with this class unless it is empty.
    pub(crate) fn all(&self, name: &str, class: &str) -> Vec<&Element> {
        self.find(&|element| element.name == name && (class.is_empty() || element.has_class(class)))
    }

    /// The only element of that name and class.
    pub(crate) fn only(&self, name: &str, class: &str) -> &Element {
        match self.all(name, class).as_slice() {
            [only] => only,
            found => panic!("{} of {name}.{class}", found.len()),
        }
    }

    pub(crate) fn has_class(&self, class: &str) -> bool {
        self.attribute("class").split(' ').any(|name| name == class)
    }

    /// The attribute's value, or an empty text.
    pub(crate) fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }
}

/// Parses a page.
///
/// # Errors
/// It violates the rules of HTML, or contains something that is not ours.
pub(crate) fn parse(page: &str) -> Result<Element, String> {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let mut open = vec![Element { name: "page".to_owned(), ..Element::default() }];
    for token in Tokenizer::new_with_emitter(page, emitter) {
        let Ok::<_, Infallible>(token) = token;
        match token {
            Token::StartTag(tag) => {
                let name = text(&tag.name);
                let mut attributes = BTreeMap::new();
                for (key, value) in &tag.attributes {
                    attributes.insert(text(key), text(&value.value));
                }
                if let Some(key) = attributes.keys().find(|key| !ATTRIBUTES.contains(&key.as_str())) {
                    return Err(format!("attribute {key} of {name}"));
                }
                if !ELEMENTS.contains(&name.as_str()) {
                    return Err(format!("element {name}"));
                }
                let src = attributes.get("src");
                let is_ours = |src: &String| PICTURES.iter().any(|beginning| src.starts_with(beginning));
                if (name == "img" || src.is_some()) && !(name == "img" && src.is_some_and(is_ours)) {
                    return Err(format!("{name} with the src {src:?}"));
                }
                // A link leads to a place of the page.
                let href = attributes.get("href");
                let is_within = href.is_some_and(|href| href.starts_with("#case-"));
                if (name == "a" || href.is_some()) && !(name == "a" && is_within) {
                    return Err(format!("{name} with the href {href:?}"));
                }
                let is_void = VOID.contains(&name.as_str());
                open.push(Element { name, attributes, children: Vec::new() });
                if is_void {
                    close(&mut open);
                }
            }
            Token::EndTag(tag) => {
                let name = text(&tag.name);
                match open.last() {
                    Some(last) if last.name == name => close(&mut open),
                    last => return Err(format!("</{name}> ends {:?}", last.map(|last| &last.name))),
                }
            }
            Token::String(string) => {
                let string = text(&string.value);
                let is_code =
                    open.last().is_some_and(|last| ["style", "script"].contains(&last.name.as_str()));
                if let Some(hidden) = string.chars().find(|c| is_hidden(*c)).filter(|_| !is_code) {
                    return Err(format!("character {hidden:?}"));
                }
                if let Some(last) = open.last_mut() {
                    last.children.push(Node::Text(string));
                }
            }
            Token::Doctype(_) => {}
            Token::Comment(comment) => return Err(format!("comment {:?}", comment.value)),
            Token::Error(error) => return Err(format!("broken rule: {}", error.value)),
        }
    }
    match open.pop() {
        Some(page) if open.is_empty() => Ok(page),
        unclosed => Err(format!("{:?} is not closed", unclosed.map(|element| element.name))),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("a page is UTF-8")
}

fn close(open: &mut Vec<Element>) {
    if let Some(element) = open.pop()
        && let Some(parent) = open.last_mut()
    {
        parent.children.push(Node::Element(element));
    }
}

/// Characters that make a reader see something other than what is there.
fn is_hidden(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[test]
fn what_is_not_ours_is_caught() {
    assert!(parse("<p class=\"x\">a &lt; b</p>").is_ok());
    assert!(parse("<p><img alt=\"a\" src=\"data:image/png;base64,AAAA\"></p>").is_ok());
    for page in [
        "<p>a<img></p>",
        "<p>a<img src=\"http://127.0.0.1/a.png\"></p>",
        "<p>a<img src=\"data:image/svg+xml;base64,AAAA\"></p>",
        "<p src=\"data:image/png;base64,AAAA\">a</p>",
        "<p onclick=\"x\"></p>",
        "<p style=\"x\"></p>",
        "<a href=\"x\">a</a>",
        "<p>a</b></p>",
        "<p>",
        "<p>\0</p>",
        "<p>\u{202e}</p>",
        "<!-- a -->",
        "<script>a</script>b</script>",
        "<p class=\"a\" class=\"b\"></p>",
    ] {
        assert!(parse(page).is_err(), "{page:?}");
    }
}
