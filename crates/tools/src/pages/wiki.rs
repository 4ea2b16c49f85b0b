//! A MediaWiki server, accessed through its API (`https://en.wikipedia.org/w/api.php`).
//!
//! At most two requests for a page that exists under its title, three for one that does not. Redirects of the wiki
//! are followed, those of HTTP are not. The text of a page is its plain text, from the extension TextExtracts.

mod client;

use std::fmt;

use planproof_trace::json;
use serde::Deserialize;
use thiserror::Error;

use super::reader::folded;
use super::{PageLookup, PageSource, SIMILAR_MAX, SourceFailure};
use crate::BoxFuture;
use crate::refusal::shortened;
use client::ApiClient;
pub use client::{ANSWER_BYTES_MAX, ATTEMPTS_MAX, RETRY_AFTER_MAX};

/// Most characters of a query that MediaWiki's search accepts.
const QUERY_CHARACTERS_MAX: usize = 300;

/// Why a wiki cannot be used.
#[derive(Debug, Error)]
pub enum WikiError {
    /// The text is not a URL of an API.
    #[error("not the URL of a wiki's API ({reason}): write it as in wiki:https://en.wikipedia.org/w/api.php")]
    InvalidUrl {
        /// What is wrong with it.
        reason: String,
    },
    /// No root certificates.
    #[error("{reason}")]
    Certificates { reason: String },
    /// Nobody answers there, or not like a wiki.
    #[error("the wiki cannot be asked: {reason}")]
    Unusable { reason: String },
}

impl WikiError {
    /// Whether the user has to mend the command line, as opposed to the server or the network.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::InvalidUrl { .. })
    }
}

#[derive(Clone)]
pub struct Wiki {
    client: ApiClient,
}

/// The API's answer, as far as we read it (`formatversion=2`).
#[derive(Debug, Deserialize)]
struct Answer {
    error: Option<ApiError>,
    query: Option<Query>,
}

#[derive(Debug, Deserialize)]
struct ApiError {
    code: String,
    #[serde(default)]
    info: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Query {
    pages: Vec<WikiPage>,
    search: Vec<Named>,
    extensions: Option<Vec<Extension>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WikiPage {
    title: String,
    missing: bool,
    invalid: bool,
    extract: Option<String>,
    pageprops: Option<PageProperties>,
    links: Vec<Named>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PageProperties {
    /// Present but empty on pages that only list others.
    disambiguation: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Named {
    title: String,
}

#[derive(Debug, Deserialize)]
struct Extension {
    #[serde(default)]
    name: String,
}

impl Wiki {
    /// A wiki by the `http` or `https` URL of its `api.php`. Sends no request yet.
    ///
    /// # Errors
    /// The URL cannot be called.
    pub fn new(url: &str) -> Result<Self, WikiError> {
        Ok(Self { client: ApiClient::new(url)? })
    }

    /// Checks whether there is a wiki, and whether it can produce plain text of its pages. Needs a Tokio runtime.
    ///
    /// # Errors
    /// It is unavailable, or not a wiki.
    pub async fn check(&self) -> Result<(), WikiError> {
        let unusable = |reason: String| WikiError::Unusable { reason };
        let query = self.ask(&[("meta", "siteinfo"), ("siprop", "extensions")]).await;
        let query = query.map_err(|failure| unusable(failure.0))?;
        let extensions = query.extensions.unwrap_or_default();
        if extensions.iter().any(|extension| extension.name == "TextExtracts") {
            return Ok(());
        }
        Err(unusable("it lacks the extension TextExtracts, which makes plain text of pages".to_owned()))
    }

    async fn ask(&self, parameters: &[(&str, &str)]) -> Result<Query, SourceFailure> {
        let bytes = self.client.get(parameters).await.map_err(SourceFailure)?;
        let answer: Answer = json::read(&bytes).map_err(|error| {
            let start = String::from_utf8_lossy(&bytes[..bytes.len().min(1000)]).into_owned();
            let start = start.split_whitespace().collect::<Vec<_>>().join(" ");
            // A text in the wrong place is repeated in the error, and may be as long as the whole answer.
            SourceFailure(format!(
                "its answer is not that of a wiki ({}); it begins with: {}",
                shortened(&error.to_string()),
                shortened(&start)
            ))
        })?;
        match answer {
            Answer { error: Some(ApiError { code, info }), .. } => {
                Err(SourceFailure(format!("it answered with the error {code}: {}", shortened(&info))))
            }
            Answer { query: Some(query), .. } => Ok(query),
            // Without results the whole field may be missing.
            Answer { query: None, .. } => Ok(Query::default()),
        }
    }

    async fn look_for(&self, wanted: &str) -> Result<PageLookup, SourceFailure> {
        let title: String = wanted.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let title = title.trim();
        if title.is_empty() {
            return Ok(PageLookup::Missing { similar: Vec::new() });
        }
        if let Some(found) = self.page(title).await? {
            return Ok(found);
        }
        let query: String = title.chars().take(QUERY_CHARACTERS_MAX).collect();
        let limit = SIMILAR_MAX.to_string();
        let hits = self
            .ask(&[("list", "search"), ("srsearch", &query), ("srlimit", &limit), ("srprop", "")])
            .await?;
        let mut similar: Vec<String> = hits.search.into_iter().map(|hit| hit.title).collect();
        similar.truncate(SIMILAR_MAX);
        // Titles distinguish case and the search does not, so one of the hits may be the page that was meant.
        if let Some(same) = similar.iter().find(|other| folded(other) == folded(title))
            && let Some(found) = self.page(same).await?
        {
            return Ok(found);
        }
        Ok(PageLookup::Missing { similar })
    }

    /// The page with exactly this title, except for the case of its first letter.
    async fn page(&self, title: &str) -> Result<Option<PageLookup>, SourceFailure> {
        // A leading separator replaces the usual one, so a `|` in a title separates nothing.
        let titles = format!("\u{1f}{title}");
        let query = self
            .ask(&[
                ("prop", "extracts|pageprops"),
                ("explaintext", "1"),
                ("ppprop", "disambiguation"),
                ("redirects", "1"),
                ("titles", &titles),
            ])
            .await?;
        let Some(page) = query.pages.into_iter().next().filter(|page| !page.missing && !page.invalid) else {
            return Ok(None);
        };
        let is_list = page.pageprops.is_some_and(|properties| properties.disambiguation.is_some());
        if is_list {
            return Ok(Some(PageLookup::Ambiguous { titles: self.links(&page.title).await? }));
        }
        // Without a text it is a page of another kind, such as a talk page or a special one.
        Ok(page.extract.map(|text| PageLookup::Page { title: page.title, text }))
    }

    async fn links(&self, title: &str) -> Result<Vec<String>, SourceFailure> {
        let (titles, limit) = (format!("\u{1f}{title}"), SIMILAR_MAX.to_string());
        let query = self
            .ask(&[("prop", "links"), ("plnamespace", "0"), ("pllimit", &limit), ("titles", &titles)])
            .await?;
        let links = query.pages.into_iter().flat_map(|page| page.links);
        Ok(links.map(|link| link.title).take(SIMILAR_MAX).collect())
    }
}

impl PageSource for Wiki {
    fn description(&self) -> String {
        format!("the wiki at {}", self.client.host())
    }

    fn find<'a>(&'a self, title: &'a str) -> BoxFuture<'a, Result<PageLookup, SourceFailure>> {
        Box::pin(async move {
            let found = self.look_for(title).await;
            found.map_err(|failure| SourceFailure(format!("the wiki could not be searched: {}", failure.0)))
        })
    }
}

impl fmt::Debug for Wiki {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Wiki").field(&self.client.host()).finish()
    }
}
