//! The beginning of a page of a wiki.

use planproof_tools::pages::{PageLookup, PageSource as _, SourceFailure};
use tokio::time::timeout;

use super::Servers;
use crate::client::not_configured;
use crate::failure::ToolFailure;
use crate::settings::Service;

/// Most characters of a query; the rest is left off.
pub const QUERY_CHARACTERS_MAX: usize = 300;
/// Most characters of a page that are returned.
pub const PAGE_CHARACTERS_MAX: usize = 4000;

/// The beginning of the page with this title, or of the most similar one, up to its first heading; empty if there is
/// none. If several pages share the title it is the first of them.
pub(crate) async fn page(servers: &Servers, query: &str) -> Result<String, ToolFailure> {
    let wiki = servers.wiki.as_ref().ok_or_else(|| not_configured(Service::Wikipedia))?;
    let limit = servers.endpoints().patience.attempt;
    let failed = |failure: SourceFailure| ToolFailure::world(failure.to_string());
    let find = |title: String| async move {
        let found = timeout(limit, wiki.find(&title)).await;
        found
            .map_err(|_| ToolFailure::world(format!("the wiki did not answer within {limit:?}")))?
            .map_err(failed)
    };
    let next = match find(query.chars().take(QUERY_CHARACTERS_MAX).collect()).await? {
        PageLookup::Page { text, .. } => return Ok(beginning(&text)),
        PageLookup::Ambiguous { titles } => titles,
        PageLookup::Missing { similar } => similar,
    };
    // Only one other title is tried: if that is a list of pages as well, the search ends.
    let Some(title) = next.into_iter().next() else { return Ok(String::new()) };
    match find(title).await? {
        PageLookup::Page { text, .. } => Ok(beginning(&text)),
        PageLookup::Ambiguous { .. } | PageLookup::Missing { .. } => Ok(String::new()),
    }
}

/// The text before the first heading, which MediaWiki writes as `== History ==`.
fn beginning(text: &str) -> String {
    let end = if text.starts_with("==") { None } else { text.find("\n==") };
    text[..end.unwrap_or(text.len())].trim().chars().take(PAGE_CHARACTERS_MAX).collect()
}
