//! The state of one run: a page, and the position of `lookup` in it.

use std::fmt::Write as _;

use super::escapes::unescaped;
use super::sentences::{before_headings, own, pieces};
use super::{Dialect, SIMILAR_MAX, Style};

/// What `search` or `lookup` answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    pub text: String,
    /// Whether the call was a mistake, such as a `lookup` before any `search`.
    pub is_error: bool,
}

impl Observation {
    fn ok(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: false }
    }

    fn mistake(text: &str) -> Self {
        Self { text: text.to_owned(), is_error: true }
    }
}

/// The state of one run between two calls. It makes no requests: results are passed to it.
#[derive(Debug, Clone)]
pub struct Reader {
    style: Style,
    title: String,
    page: Option<String>,
    /// What `lookup` was last asked for.
    wanted: Option<String>,
    /// The sentences that have it.
    results: Vec<String>,
    /// Which of them was shown last.
    place: usize,
}

impl Reader {
    /// A reader without a page.
    pub fn new(style: Style) -> Self {
        Self { style, title: String::new(), page: None, wanted: None, results: Vec::new(), place: 0 }
    }

    /// The text of the current page that `lookup` searches.
    pub fn page(&self) -> Option<&str> {
        self.page.as_deref()
    }

    /// Opens a page and returns its first sentences. Takes time in proportion to the page.
    pub fn open(&mut self, title: &str, text: &str) -> Observation {
        title.clone_into(&mut self.title);
        let count = self.style.sentences;
        let (page, shown) = match self.style.dialect {
            Dialect::Own => {
                let shown: Vec<String> = own(text).into_iter().take(count).collect();
                let shown =
                    if shown.is_empty() { format!("The page {title} has no text.") } else { shown.join(" ") };
                (text.to_owned(), shown)
            }
            Dialect::React => {
                let mut page = String::new();
                for line in text.split('\n').filter(|line| line.split(' ').count() > 2) {
                    // A text that the published environment fails on is left unchanged.
                    let clean = unescaped(line).unwrap_or_else(|_| line.to_owned());
                    page.push_str(&clean);
                    // The line may end with an escape that became a line break.
                    if !clean.ends_with('\n') {
                        page.push('\n');
                    }
                }
                let shown: Vec<String> = dotted(pieces(&page)).take(count).collect();
                (page, shown.join(" "))
            }
            Dialect::Ibm => {
                let page = before_headings(text);
                let line = page.replace('\n', " ");
                let shown: Vec<String> = dotted(line.split(". ")).take(count).collect();
                (page, shown.join(" "))
            }
        };
        self.page = Some(page);
        self.begin_anew();
        Observation::ok(shown)
    }

    /// Reports that there is no page with that title, and at most [`SIMILAR_MAX`] similar titles. The current page
    /// stays.
    pub fn missing(&mut self, title: &str, similar: &[String]) -> Observation {
        let similar = &similar[..similar.len().min(SIMILAR_MAX)];
        let text = match self.style.dialect {
            Dialect::Own if similar.is_empty() => {
                format!("Could not find {title}. There are no similar titles.")
            }
            Dialect::Own => format!("Could not find {title}. Similar: {}.", similar.join("; ")),
            Dialect::React => format!("Could not find {title}. Similar: {}.", python_list(similar)),
            Dialect::Ibm if similar.is_empty() => {
                format!("Could not find '{title}'. No similar options can be found!")
            }
            Dialect::Ibm => format!("Could not find '{title}'. Similar: ['{}']", similar.join("', '")),
        };
        // The published tools start counting again even if the search has failed.
        if self.style.dialect == Dialect::Ibm {
            self.begin_anew();
        }
        Observation::ok(text)
    }

    /// Reports that several pages have the title. The current page stays.
    pub fn ambiguous(&mut self, title: &str, titles: &[String]) -> Observation {
        match self.style.dialect {
            Dialect::Own => {
                let titles = titles.join("; ");
                Observation::ok(format!(
                    "{title} may refer to several pages. Search for one of them: {titles}."
                ))
            }
            Dialect::React | Dialect::Ibm => self.missing(title, titles),
        }
    }

    /// The next sentence of the current page that contains `text`. Takes time in proportion to the page if `text`
    /// differs from the previous one.
    pub fn look_up(&mut self, text: &str) -> Observation {
        let dialect = self.style.dialect;
        let wanted = if dialect == Dialect::Own { folded(text) } else { text.to_owned() };
        match (dialect, &self.page) {
            (Dialect::Own, _) if wanted.is_empty() => {
                return Observation::mistake("`lookup` needs a text to look for");
            }
            (Dialect::Own, None) => {
                return Observation::mistake("there is no page to look in: `search` for one first");
            }
            (Dialect::Ibm, None) => return Observation::ok("Cannot use Lookup without using Search first!"),
            _ => {}
        }
        // The same text again asks for the next result. All dialects except ours compare it as written.
        if self.wanted.as_ref() == Some(&wanted) {
            self.place = self.place.saturating_add(1);
        } else {
            self.results = self.sentences_with(&wanted);
            self.place = 0;
            self.wanted = Some(wanted);
        }
        let count = self.results.len();
        Observation::ok(match (self.results.get(self.place), dialect) {
            (Some(sentence), _) => format!("(Result {} / {count}) {sentence}", self.place + 1),
            (None, Dialect::Own) if count == 0 => {
                format!("No results: the page {} does not contain that text.", self.title)
            }
            (None, Dialect::React) => "No more results.\n".to_owned(),
            (None, Dialect::Own | Dialect::Ibm) => "No more results.".to_owned(),
        })
    }

    /// What a `search` does to `lookup`.
    fn begin_anew(&mut self) {
        self.place = 0;
        // The published tools of that dialect do not update the sentences.
        if self.style.dialect != Dialect::Ibm {
            self.wanted = None;
            self.results.clear();
        }
    }

    fn sentences_with(&self, wanted: &str) -> Vec<String> {
        let page = self.page.as_deref().unwrap_or_default();
        match self.style.dialect {
            Dialect::Own => {
                own(page).into_iter().filter(|sentence| folded(sentence).contains(wanted)).collect()
            }
            Dialect::React => {
                let wanted = wanted.to_lowercase();
                dotted(pieces(page)).filter(|sentence| sentence.to_lowercase().contains(&wanted)).collect()
            }
            Dialect::Ibm => pieces(page).filter(|piece| piece.contains(wanted)).map(str::to_owned).collect(),
        }
    }
}

/// The pieces, each with a full stop.
fn dotted<'a>(pieces: impl Iterator<Item = &'a str>) -> impl Iterator<Item = String> {
    pieces.map(str::trim).filter(|piece| !piece.is_empty()).map(|piece| format!("{piece}."))
}

/// Normalised for case and blanks.
pub(super) fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Texts as Python writes a list of them.
fn python_list(texts: &[String]) -> String {
    let mut list = String::from("[");
    for (index, text) in texts.iter().enumerate() {
        if index > 0 {
            list.push_str(", ");
        }
        let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
        list.push(quote);
        for c in text.chars() {
            match c {
                '\\' => list.push_str("\\\\"),
                '\n' => list.push_str("\\n"),
                '\r' => list.push_str("\\r"),
                '\t' => list.push_str("\\t"),
                c if c == quote => {
                    list.push('\\');
                    list.push(c);
                }
                c if c.is_control() => {
                    let _ = write!(list, "\\x{:02x}", u32::from(c));
                }
                c => list.push(c),
            }
        }
        list.push(quote);
    }
    list + "]"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_written_as_python_does() {
        let list =
            |texts: &[&str]| python_list(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        assert_eq!(list(&[]), "[]");
        assert_eq!(list(&["a", "it's", "\"q\"", "it's \"q\""]), r#"['a', "it's", '"q"', 'it\'s "q"']"#);
        assert_eq!(list(&["a\\b\n\u{1}\u{85}é"]), r"['a\\b\n\x01\x85é']");
    }
}
