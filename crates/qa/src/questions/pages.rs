//! Our own pages, and the tools over them.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use planproof_suite::{BoxFuture, CaseError, NoTools, Toolbox};
use planproof_tools::pages::{PageLookup, PageSource, SIMILAR_MAX, SearchTools, SourceFailure, Style};
use serde::Deserialize;

/// Makes the tools of a run, from pages that a user names.
pub type MakePageTools = Arc<dyn Fn() -> Result<Arc<dyn Toolbox>, CaseError> + Send + Sync>;

/// The name of the tool that finds a page by its title.
pub(super) const SEARCH_TOOL: &str = "search";

/// Longest time of one search. Ours are in memory, so that it is never reached.
const SEARCH_TIME_MAX: Duration = Duration::from_secs(10);

const PAGES: &str = include_str!("../../data/questions/pages.jsonl");

/// A page of our own.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Page {
    title: String,
    text: String,
}

/// The pages that come with planproof: a small fictional country, so that no model knows the answers by heart.
#[derive(Debug, Clone)]
pub struct OwnPages {
    pages: Arc<[Page]>,
}

static OWN: LazyLock<OwnPages> = LazyLock::new(|| {
    // The file is embedded and tested; an invalid line would just be missing.
    let pages = PAGES.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    OwnPages { pages }
});

impl OwnPages {
    /// All of them.
    pub fn get() -> Self {
        OWN.clone()
    }

    /// The page with that title, ignoring case; the titles that share most words with it if there is none.
    fn look_for(&self, title: &str) -> PageLookup {
        let wanted = title.trim().to_lowercase();
        if let Some(page) = self.pages.iter().find(|page| page.title.to_lowercase() == wanted) {
            return PageLookup::Page { title: page.title.clone(), text: page.text.clone() };
        }
        let words: Vec<&str> = wanted.split_whitespace().collect();
        let score = |page: &Page| {
            let (title, text) = (page.title.to_lowercase(), page.text.to_lowercase());
            let count = |text: &str| words.iter().filter(|word| text.contains(**word)).count();
            // Compared in this order: words in the text decide only between titles that share the same number of words.
            (count(&title), count(&text))
        };
        let mut ranked: Vec<((usize, usize), &Page)> =
            self.pages.iter().map(|page| (score(page), page)).collect();
        ranked.retain(|(score, _)| *score > (0, 0));
        // The sort is stable, so that equals stay in the order of the file.
        ranked.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        PageLookup::Missing {
            similar: ranked.into_iter().take(SIMILAR_MAX).map(|(_, page)| page.title.clone()).collect(),
        }
    }
}

impl PageSource for OwnPages {
    fn description(&self) -> String {
        format!("a collection of {} documents", self.pages.len())
    }

    fn find<'a>(&'a self, title: &'a str) -> BoxFuture<'a, Result<PageLookup, SourceFailure>> {
        Box::pin(async move { Ok(self.look_for(title)) })
    }
}

/// `search` and `lookup` over our own pages, for one run.
pub(super) fn own_tools() -> Arc<dyn Toolbox> {
    Arc::new(SearchTools::new(Arc::new(OwnPages::get()), Style::default(), SEARCH_TIME_MAX))
}

/// No tools, for questions about pages that nobody named.
pub(super) fn no_tools() -> Arc<dyn Toolbox> {
    Arc::new(NoTools::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_our_own_are_whole() {
        let pages = OwnPages::get().pages;
        assert_eq!(pages.len(), PAGES.lines().count());
        assert!(pages.iter().all(|page| page.text.len() > 100 && !page.title.is_empty()));
    }

    #[test]
    fn pages_are_found_by_their_titles() {
        let pages = OwnPages::get();
        assert!(
            matches!(pages.look_for(" port vellin "), PageLookup::Page { title, .. } if title == "Port Vellin")
        );
        let PageLookup::Missing { similar } = pages.look_for("the lighthouse of Vellin") else { panic!() };
        assert_eq!(similar[0], "Port Vellin");
        assert_eq!(pages.look_for("\u{1f600}"), PageLookup::Missing { similar: Vec::new() });
    }
}
