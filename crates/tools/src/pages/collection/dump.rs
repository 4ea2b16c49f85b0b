//! A dump of a MediaWiki server (`pages-articles.xml`), read page by page.
//!
//! Only pages of the main namespace are used. The frame around pages is not parsed, just the text between `<page>`
//! and `</page>`, so that a dump of any size takes the memory of its largest page.

use std::io::{self, BufRead};
use std::sync::atomic::{AtomicBool, Ordering};

use roxmltree::{Document as Xml, Node};

use super::wikitext::plain;

/// Most bytes of a page in the dump, with its markup.
pub(super) const PAGE_BYTES_MAX: usize = 16 << 20;

/// Most bytes between two pages, before the first and after the last. A compressed dump of a few kilobytes can
/// have any number of them.
const OUTSIDE_BYTES_MAX: usize = 16 << 20;

/// Most attributes of an element. Every two of them are compared, and a page has at most three.
const ATTRIBUTES_MAX: usize = 64;

/// Most declarations of name spaces in a page. Each is compared with all before it, and a page needs none.
const NAMESPACES_MAX: usize = 64;

/// How files begin that are named like a dump and are none, and what they are.
const OTHERS: [(&[u8], &str); 10] = [
    (b"\x1f\x8b", "it is compressed with gzip: unpack it"),
    (b"BZh", "it is compressed with bzip2: unpack it"),
    (b"\xfd7zXZ\0", "it is compressed with xz: unpack it"),
    (b"\x28\xb5\x2f\xfd", "it is compressed with zstd: unpack it"),
    (b"7z\xbc\xaf\x27\x1c", "it is an archive of 7-Zip: unpack it"),
    (b"PK\x03\x04", "it is a zip archive: unpack it"),
    (b"\xff\xfe", "it is UTF-16: convert it to UTF-8"),
    (b"\xfe\xff", "it is UTF-16: convert it to UTF-8"),
    (b"<\0", "it is UTF-16: convert it to UTF-8"),
    (b"\0<", "it is UTF-16: convert it to UTF-8"),
];

/// What a file is that has no page at all.
const NO_PAGE: &str = "it has no `<page>`: is it the export of a MediaWiki server?";

const BEGIN: &[u8] = b"<page>";
const END: &[u8] = b"</page>";

/// A page of a dump.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DumpPage {
    /// A page with its plain text.
    Text { title: String, text: String },
    /// A title that leads to another.
    Redirect { from: String, to: String },
}

/// Why a dump cannot be read further, with the line of the page.
#[derive(Debug)]
pub(super) enum DumpError {
    /// Nobody waits for it any more.
    GivenUp,
    Io(io::Error),
    Page {
        line: u64,
        what: String,
    },
}

/// The pages of a dump.
pub(super) struct DumpPages<'s, R> {
    from: R,
    stop: &'s AtomicBool,
    line: u64,
    /// The line of the last page.
    read: Vec<u8>,
    /// Whether it had a page so far, of any name space.
    has_page: bool,
    /// How much of it has been used, so that many pages on one line do not each copy the rest of it.
    used: usize,
}

impl<'s, R: BufRead> DumpPages<'s, R> {
    /// Reading gives up soon after `stop` is set.
    pub(super) fn new(from: R, stop: &'s AtomicBool) -> Self {
        Self { from, stop, line: 0, read: Vec::new(), has_page: false, used: 0 }
    }

    /// The next page of the main namespace; `None` after the last one.
    pub(super) fn next(&mut self) -> Result<Option<DumpPage>, DumpError> {
        loop {
            let Some((line, bytes)) = self.next_block()? else { return Ok(None) };
            let wrong = |what: String| DumpError::Page { line, what };
            let text =
                std::str::from_utf8(&bytes).map_err(|_| wrong("it is not UTF-8: convert it".to_owned()))?;
            within_limits(text).map_err(|what| wrong(what.to_owned()))?;
            let xml = Xml::parse(text).map_err(|error| wrong(format!("the page is no XML: {error}")))?;
            let page = page(xml.root_element()).map_err(wrong)?;
            if page.is_some() {
                return Ok(page);
            }
        }
    }

    /// The bytes from `<page>` to `</page>`, and their first line. Nothing else of a dump contains these tags,
    /// because text is escaped.
    fn next_block(&mut self) -> Result<Option<(u64, Vec<u8>)>, DumpError> {
        let mut block: Vec<u8> = Vec::new();
        let (mut begun, mut outside) = (0, 0);
        loop {
            // At each line, because any number of lines and irrelevant pages may lie before the next page.
            if self.stop.load(Ordering::Relaxed) {
                return Err(DumpError::GivenUp);
            }
            if self.used == self.read.len() {
                self.read.clear();
                self.used = 0;
                // Bounded, so that a file without line breaks cannot fill the memory.
                let most = PAGE_BYTES_MAX as u64 + 1;
                let mut bounded = io::Read::take(&mut self.from, most);
                bounded.read_until(b'\n', &mut self.read).map_err(DumpError::Io)?;
                self.line += 1;
                if self.line == 1
                    && let Some((_, what)) = OTHERS.iter().find(|(begin, _)| self.read.starts_with(begin))
                {
                    return Err(DumpError::Page { line: 1, what: (*what).to_owned() });
                }
            }
            if self.read.is_empty() {
                return match begun {
                    // An empty file has nothing to say, as an empty one of any other kind.
                    0 if !self.has_page && self.line > 1 => {
                        Err(DumpError::Page { line: self.line - 1, what: NO_PAGE.to_owned() })
                    }
                    0 => Ok(None),
                    line => Err(DumpError::Page { line, what: "the page does not end".to_owned() }),
                };
            }
            let mut rest = &self.read[self.used..];
            if begun == 0 {
                let Some(at) = find(rest, BEGIN) else {
                    outside += rest.len();
                    self.used = self.read.len();
                    if outside > OUTSIDE_BYTES_MAX {
                        let what = format!("{outside} bytes without a page; is this a dump of pages?");
                        return Err(DumpError::Page { line: self.line, what });
                    }
                    continue;
                };
                begun = self.line;
                rest = &rest[at..];
            }
            let end = find(rest, END).map(|at| at + END.len());
            let (page, left) = rest.split_at(end.unwrap_or(rest.len()));
            block.extend_from_slice(page);
            self.used = self.read.len() - left.len();
            if block.len() > PAGE_BYTES_MAX {
                let what = format!("the page has more than {PAGE_BYTES_MAX} bytes");
                return Err(DumpError::Page { line: begun, what });
            }
            if end.is_some() {
                self.has_page = true;
                return Ok(Some((begun, block)));
            }
        }
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    // Tags are indented by two or so; a line of text usually is not.
    let mut from = 0;
    while let Some(at) = bytes[from..].iter().position(|byte| *byte == b'<') {
        if bytes[from + at..].starts_with(wanted) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

/// Refuses a page for which the parser would take time in proportion to the square of its length.
fn within_limits(page: &str) -> Result<(), &'static str> {
    let (mut namespaces, mut rest) = (0, page);
    while let Some(at) = rest.find('<') {
        rest = &rest[at..];
        // What is no element may contain any quotes. What does not end is not XML, as the parser finds out.
        let other = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];
        if let Some((begin, end)) = other.iter().find(|(begin, _)| rest.starts_with(begin)) {
            let Some((_, after)) = rest[begin.len()..].split_once(end) else { return Ok(()) };
            rest = after;
            continue;
        }
        let (mut attributes, mut quote) = (0, None);
        let mut length = rest.len();
        for (at, byte) in rest.bytes().enumerate() {
            match (quote, byte) {
                (Some(quoted), byte) if quoted == byte => quote = None,
                (Some(_), _) => {}
                (None, b'"' | b'\'') => quote = Some(byte),
                (None, b'>') => {
                    length = at + 1;
                    break;
                }
                (None, b'=') => attributes += 1,
                (None, b'x') if rest[at..].starts_with("xmlns") => namespaces += 1,
                _ => {}
            }
        }
        if attributes > ATTRIBUTES_MAX {
            return Err("an element has more than 64 attributes");
        }
        if namespaces > NAMESPACES_MAX {
            return Err("it declares more than 64 name spaces");
        }
        rest = &rest[length..];
    }
    Ok(())
}

/// A page; `None` for an irrelevant one, such as a talk page.
fn page(node: Node<'_, '_>) -> Result<Option<DumpPage>, String> {
    let child = |name: &str| node.children().find(|child| child.tag_name().name() == name);
    let title = child("title").and_then(|title| title.text()).map(str::trim).unwrap_or_default().to_owned();
    if title.is_empty() {
        return Err("the page has no title".to_owned());
    }
    if child("ns").and_then(|ns| ns.text()).is_some_and(|ns| ns.trim() != "0") {
        return Ok(None);
    }
    if let Some(to) = child("redirect").and_then(|redirect| redirect.attribute("title")) {
        return Ok(Some(DumpPage::Redirect { from: title, to: to.to_owned() }));
    }
    // Of several revisions the last one is the page.
    let revision = node.children().rfind(|child| child.tag_name().name() == "revision");
    let text = revision.and_then(|it| it.children().find(|child| child.tag_name().name() == "text"));
    let text = text.and_then(|text| text.text()).map(plain).unwrap_or_default();
    Ok(Some(DumpPage::Text { title, text }))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    const DUMP: &str = "<mediawiki><siteinfo><namespaces/></siteinfo>\n  <page>\n    <title>A &amp; B</title>\n    \
        <ns>0</ns>\n    <revision><text>old</text></revision><revision><text xml:space=\"preserve\">'''A''' &lt;ref>x&lt;/ref>is\n\n== Head ==\nb.</text></revision>\n  </page>\n  \
        <page><title>Talk:A</title><ns>1</ns><revision><text>no</text></revision></page><page><title>C</title><ns>0</ns>\
        <redirect title=\"A &amp; B\" /><revision><text>#REDIRECT [[A &amp; B]]</text></revision></page><tail/>\n  \
        <page><title>Empty</title><revision><text/></revision></page>\n</mediawiki>";

    fn all(dump: &str) -> Result<Vec<DumpPage>, DumpError> {
        let stop = AtomicBool::new(false);
        let mut pages = DumpPages::new(dump.as_bytes(), &stop);
        std::iter::from_fn(|| pages.next().transpose()).collect()
    }

    #[test]
    fn pages_of_the_main_namespace_are_read() {
        let text = |title: &str, text: &str| DumpPage::Text { title: title.into(), text: text.into() };
        let redirect = DumpPage::Redirect { from: "C".into(), to: "A & B".into() };
        let expected = [text("A & B", "A is\n== Head ==\nb.\n"), redirect, text("Empty", "")];
        assert_eq!(all(DUMP).unwrap(), expected);
        assert_eq!(all("").unwrap(), []);
    }

    /// With a copy of the rest of the line for each page, a line takes minutes.
    #[test]
    #[ignore = "slow"]
    fn many_pages_on_one_line_take_no_time() {
        let (begun, count) = (Instant::now(), 1 << 18);
        assert_eq!(all(&"<page><title>A</title></page>".repeat(count)).unwrap().len(), count);
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    }

    /// A compressed file of nothing takes no space, and would be read for hours.
    #[test]
    #[ignore = "slow"]
    fn what_lies_outside_of_pages_is_bounded() {
        let stop = AtomicBool::new(false);
        for byte in [b'\n', b'x'] {
            let endless = io::BufReader::new(io::repeat(byte));
            match DumpPages::new(endless, &stop).next() {
                Err(DumpError::Page { what, .. }) => assert!(what.contains("without a page"), "{what}"),
                other => panic!("{other:?}"),
            }
        }
        let between = "\n".repeat(OUTSIDE_BYTES_MAX - 64);
        let dump =
            format!("{between}<page><title>A</title></page>{between}<page><title>B</title></page>{between}");
        assert_eq!(all(&dump).unwrap().len(), 2);
    }

    /// The parser compares each attribute, and each name space, with all others.
    #[test]
    fn many_attributes_and_name_spaces_are_refused() {
        let begun = Instant::now();
        let many = |one: fn(usize) -> String| (0..50_000).map(one).collect::<String>();
        let attributes = many(|n| format!(" a{n}=\"\""));
        let namespaces = many(|n| format!(" xmlns:a{n}=\"b{n}\""));
        let nested = many(|n| format!("<r xmlns:a{n}='b{n}'>")) + &"</r>".repeat(50_000);
        let hidden = format!("<!-- ' --><?x \" ?><![CDATA[ '<\" ]]><r{attributes}/><!-- ' -->");
        for (page, fault) in [
            (format!("<r{attributes}/>"), "an element has more than 64 attributes"),
            (format!("<r{namespaces}/>"), "an element has more than 64 attributes"),
            (hidden, "an element has more than 64 attributes"),
            (nested, "it declares more than 64 name spaces"),
        ] {
            let dump = format!("<page><title>A</title>{page}</page>");
            match all(&dump) {
                Err(DumpError::Page { what, .. }) => assert_eq!(what, fault),
                other => panic!("{:?}", other.map(|pages| pages.len())),
            }
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
        // What a text says is not markup.
        let text = "a = b ".repeat(500);
        let page =
            format!("<page><title>A</title><revision><text x='= =' y=\"'\">{text}</text></revision></page>");
        assert_eq!(all(&page).unwrap().len(), 1);
    }

    #[test]
    fn what_has_no_page_is_given_up_as_well() {
        let stop = AtomicBool::new(true);
        // Without an end.
        let lines = io::BufReader::new(io::repeat(b'\n'));
        assert!(matches!(DumpPages::new(lines, &stop).next(), Err(DumpError::GivenUp)));
    }

    #[test]
    fn what_is_broken_is_named_with_its_line() {
        let fault = |dump: &str| match all(dump) {
            Err(DumpError::Page { line, what }) => format!("{line}: {what}"),
            other => panic!("{other:?}"),
        };
        assert_eq!(fault("x\n<page><title>A</title>\n"), "2: the page does not end");
        assert_eq!(fault("<page><ns>0</ns></page>"), "1: the page has no title");
        assert!(fault("\n\n<page><title>A</page>").starts_with("3: the page is no XML"));
        for nothing in
            ["<mediawiki>\n</mediawiki>\n", "x\n<page id=\"1\"><title>A</title></page>", "<?xml?>\n<html/>"]
        {
            assert_eq!(fault(nothing), format!("2: {NO_PAGE}"), "{nothing}");
        }
    }

    #[test]
    fn other_files_are_named_for_what_they_are() {
        let stop = AtomicBool::new(false);
        for (begin, expected) in OTHERS {
            let bytes = [begin, b"\n<page><title>A</title></page>"].concat();
            match DumpPages::new(bytes.as_slice(), &stop).next() {
                Err(DumpError::Page { line: 1, what }) => assert_eq!(what, expected),
                other => panic!("{other:?}"),
            }
        }
    }
}
