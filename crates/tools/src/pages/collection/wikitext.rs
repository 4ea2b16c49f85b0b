//! From the markup of MediaWiki to plain text, as far as sentences need it.
//!
//! Templates, tables, references, files, categories and comments are removed, links are replaced by their visible
//! text, headings stay as lines of `== ... ==`. Content that only the server can produce, such as that of templates,
//! is lost. Each character is examined at most a fixed number of times, however the markup is nested or broken.

use std::collections::VecDeque;

/// Prefixes of links that show nothing in the text.
const HIDDEN_LINKS: [&str; 4] = ["file", "image", "category", "media"];

/// Elements that are removed with their content.
const HIDDEN_ELEMENTS: [&str; 9] = [
    "ref",
    "gallery",
    "math",
    "timeline",
    "score",
    "syntaxhighlight",
    "source",
    "imagemap",
    "templatestyles",
];

/// Names of characters that occur in pages.
const ENTITIES: [(&str, &str); 12] = [
    ("nbsp", " "),
    ("thinsp", " "),
    ("amp", "&"),
    ("lt", "<"),
    ("gt", ">"),
    ("quot", "\""),
    ("apos", "'"),
    ("ndash", "\u{2013}"),
    ("mdash", "\u{2014}"),
    ("minus", "\u{2212}"),
    ("hellip", "\u{2026}"),
    ("times", "\u{d7}"),
];

/// Longest name of a character.
const ENTITY_BYTES_MAX: usize = 8;

/// Plain text; each paragraph, heading and item of a list is a line.
pub(super) fn plain(markup: &str) -> String {
    // Comments go first, because nothing within them is markup.
    let text = without_nested(&without_elements(&without_comments(markup)));
    let text = with_links_shown(&text);
    let mut lines = String::with_capacity(text.len());
    for line in text.lines() {
        let line = line.trim_start_matches(['*', '#', ':', ';']).trim();
        if line.is_empty() || (line.starts_with("__") && line.ends_with("__")) {
            continue;
        }
        lines.push_str(&decoded(&line.replace("'''", "").replace("''", "")));
        lines.push('\n');
    }
    lines
}

fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<!--") {
        out.push_str(before);
        rest = after.split_once("-->").map_or("", |(_, rest)| rest);
    }
    out + rest
}

/// Removes invisible elements, and the tags of all others.
fn without_elements(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let name_end = from[1..]
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '/')
            .map_or(from.len(), |end| end + 1);
        let name = from[1..name_end].trim_matches('/').to_ascii_lowercase();
        if name.is_empty() {
            // A less-than sign.
            out.push('<');
            rest = &from[1..];
            continue;
        }
        let Some(end) = from.find('>') else {
            // An unterminated tag. No tag after it is terminated either, so nothing more is to be searched.
            rest = from;
            break;
        };
        let tag = &from[..=end];
        rest = &from[end + 1..];
        if tag.ends_with("/>") || tag.starts_with("</") || !HIDDEN_ELEMENTS.contains(&name.as_str()) {
            if name == "br" {
                out.push('\n');
            }
            continue;
        }
        rest = closing(rest, &name)
            .and_then(|closed| closed.find('>').map(|end| &closed[end + 1..]))
            .unwrap_or_default();
    }
    out + rest
}

/// The text from the closing tag of that name on; in tags, case does not matter.
fn closing<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let is_it = |at: usize| {
        let found = text.as_bytes().get(at + 2..at + 2 + name.len());
        found.is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()))
    };
    text.match_indices("</").find(|(at, _)| is_it(*at)).map(|(at, _)| &text[at..])
}

/// Removes templates (`{{ }}`) and tables (`{| |}`) with their content. An unclosed one ends with its paragraph.
fn without_nested(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let (mut depth, mut kept_from, mut at) = (0_usize, 0, 0);
    let mut ends = [Next::new(text, "}}"), Next::new(text, "|}")];
    while at + 1 < bytes.len() {
        let pair = &bytes[at..at + 2];
        if pair == b"{{" || pair == b"{|" {
            if depth == 0 {
                out.push_str(&text[kept_from..at]);
            }
            depth += 1;
            at += 2;
        } else if depth > 0 && (pair == b"}}" || pair == b"|}") {
            depth -= 1;
            at += 2;
            kept_from = at;
        } else if depth > 0 && pair == b"\n\n" && !closes_later(&mut ends, at) {
            // A template that is never closed would otherwise hide the rest of the page.
            depth = 0;
            kept_from = at;
        } else {
            at += 1;
        }
    }
    if depth == 0 {
        out.push_str(&text[kept_from..]);
    }
    out
}

/// Most bytes after an empty line that are searched for an end: templates with paragraphs in them are not longer.
const LOOK_AHEAD_BYTES_MAX: usize = 20_000;

fn closes_later(ends: &mut [Next<'_>; 2], at: usize) -> bool {
    ends.iter_mut().filter_map(|end| end.since(at)).any(|end| end + 2 <= at + LOOK_AHEAD_BYTES_MAX)
}

/// The next place of a pattern in a text. It is searched for again only once it is behind, so that all searches
/// together examine each character once.
struct Next<'t> {
    text: &'t str,
    pattern: &'static str,
    found: Option<usize>,
}

impl<'t> Next<'t> {
    fn new(text: &'t str, pattern: &'static str) -> Self {
        Self { text, pattern, found: text.find(pattern) }
    }

    /// The first place at `at` or after it. No call may ask for an earlier one than the calls before it.
    fn since(&mut self, at: usize) -> Option<usize> {
        if self.found.is_some_and(|found| found < at) {
            self.found = self.text[at..].find(self.pattern).map(|found| at + found);
        }
        self.found
    }
}

/// Replaces links by what they show.
fn with_links_shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let (mut ends, mut schemes) = (Next::new(text, "]"), Next::new(text, "://"));
    let mut links = links(text).into_iter().peekable();
    while let Some(at) = rest.find('[') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(inner) = rest.strip_prefix("[[") {
            let from = text.len() - inner.len();
            // Those within the last link are behind.
            while links.next_if(|(begin, _)| *begin < from).is_some() {}
            let Some((_, end)) = links.next_if(|(begin, _)| *begin == from) else {
                out.push('[');
                rest = &rest[1..];
                continue;
            };
            let link = &text[from..end];
            rest = &text[end + 2..];
            let prefix =
                link.split(':').next().filter(|prefix| prefix.len() < link.len()).unwrap_or_default();
            if HIDDEN_LINKS.contains(&prefix.trim().to_ascii_lowercase().as_str()) {
                continue;
            }
            // A colon in front turns a category or a file into an ordinary link, so it was not hidden above.
            out.push_str(link.rsplit('|').next().unwrap_or_default().trim_start_matches(':'));
            continue;
        }
        let from = text.len() - rest.len() + 1;
        let scheme = schemes.since(from);
        match ends.since(from).filter(|end| scheme.is_some_and(|scheme| scheme < *end)) {
            Some(end) => {
                // A link without a text is a number on the page.
                out.push_str(text[from..end].split_once(' ').map_or("", |(_, shown)| shown));
                rest = &text[end + 1..];
            }
            None => {
                out.push('[');
                rest = &rest[1..];
            }
        }
    }
    out + rest
}

/// Longest link with links in it, in bytes, such as a picture with its caption.
const LINK_BYTES_MAX: usize = 5_000;

/// Where each link begins and ends, in order: after its `[[`, and before its `]]`.
fn links(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let (mut open, mut links, mut at) = (VecDeque::new(), Vec::new(), 0);
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"[[" => {
                at += 2;
                // Whatever is too far behind never becomes a link.
                while open.front().is_some_and(|begin| begin + LINK_BYTES_MAX < at) {
                    open.pop_front();
                }
                open.push_back(at);
            }
            b"]]" => {
                if let Some(begin) = open.pop_back().filter(|begin| at + 2 <= begin + LINK_BYTES_MAX) {
                    links.push((begin, at));
                }
                at += 2;
            }
            _ => at += 1,
        }
    }
    links.sort_unstable();
    links
}

/// The text with character names and numbers replaced.
fn decoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let end = rest.bytes().take(ENTITY_BYTES_MAX + 1).position(|byte| byte == b';');
        let name = end.map(|end| &rest[..end]);
        let found = name.and_then(|name| {
            let numbered = name.strip_prefix('#').and_then(|number| match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok(),
                None => number.parse().ok(),
            });
            let named = ENTITIES.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned());
            named
                .or_else(|| numbered.and_then(char::from_u32).map(String::from))
                .map(|text| (name.len(), text))
        });
        match found {
            Some((length, text)) => {
                out.push_str(&text);
                rest = &rest[length + 1..];
            }
            // The `&` of an unknown name is one of the text, as in `AT&T`.
            None => out.push('&'),
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn markup_becomes_text() {
        for (markup, text) in [
            (
                "'''Rome''' is the [[capital city|capital]] of ''[[Italy]]''.",
                "Rome is the capital of Italy.\n",
            ),
            ("{{Infobox|a={{b|[[c]]}}\n|d=e}}\nIt is.{{cn}} Big.", "It is. Big.\n"),
            ("{| class=x\n| a || {{b}}\n|}\nAfter.", "After.\n"),
            (
                "A<ref name=\"x\">no {{cite}}</ref>b<ref name=x />c<!-- d\ne -->f<br/>g <small>h</small>",
                "Abcf\ng h\n",
            ),
            ("[[File:x.jpg|thumb|A [[b]] c]]Text [[Category:Y]]", "Text\n"),
            ("[https://x.org The site] and [https://y.org].", "The site and .\n"),
            ("== Head ==\n* one\n## two\n:three\n__NOTOC__\n\n", "== Head ==\none\ntwo\nthree\n"),
            (
                "5 &lt; 6 &amp; 7&nbsp;km &#233;&#xe9; &nope; AT&T; x < y",
                "5 < 6 & 7 km \u{e9}\u{e9} &nope; AT&T; x < y\n",
            ),
            ("{{open\nnever closed\n\nText.", "Text.\n"),
            ("[[open [x] y", "[[open [x] y\n"),
            ("[[File:x|[[a]] [[b|c]]]] [[d|[[e]] f]] [[[g]] ]] [[h", "[[e]] f [g ]] [[h\n"),
            ("[[:Category:Z]] [[a|]]", "Category:Z\n"),
            ("A<REF>no</REF>b<ref>no</Ref >c<Math>x</math>d<br>e", "Abcd\ne\n"),
            ("x < y <b>z</b> <unended [https://x.org a] [b] & c", "x < y z <unended a [b] & c\n"),
            ("", ""),
        ] {
            assert_eq!(plain(markup), text, "{markup}");
        }
    }

    /// With a search to the end, or over thousands of characters, for each mark, a text takes minutes.
    #[test]
    #[ignore = "slow"]
    fn marks_that_are_never_closed_take_no_time() {
        let begun = Instant::now();
        for mark in ["<a ", "< ", "[a ", "&a ", "[[a "] {
            let text = mark.repeat(1 << 20);
            assert_eq!(plain(&text).trim_end(), text.trim_end());
        }
        for mark in ["\n", "{{\n\n", "[[", "[[a|", "{{|}\n\n", "[[]", "]][[["] {
            let text = format!("{{{{{}", mark.repeat(1 << 20));
            assert!(plain(&text).len() <= text.len() + 1);
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    }

    proptest! {
        #[test]
        fn any_markup_is_taken(markup in r"(\[\[|\]\]|\{\{|\}\}|\{\||\|\}|<ref>|</ref>|<|>|<!--|-->|&#|;|[a\u{e9}|:\n '=\[\]]){0,60}") {
            let text = plain(&markup);
            prop_assert!(text.len() <= markup.len() + 1);
        }
    }
}
