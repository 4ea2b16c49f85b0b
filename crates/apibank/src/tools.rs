//! The 53 tools of levels 1 and 2.
//!
//! Each family has a file. A tool consists of two functions: one maps arguments and world to an output, and its
//! errors become the `exception` of the record, as in the original; the other compares the tool's records.

mod account;
mod agenda;
mod alarm;
mod appointments;
mod bank;
mod bm25;
mod calculator;
mod document;
mod email;
mod health;
mod history;
mod hotel;
mod media;
mod meeting;
mod outside;
mod parts;
mod reminder;
mod retriever;
mod scenes;
mod search;
mod searcher;
mod stock;
mod switch;
mod symptom;
mod today;
mod tokenize;
mod wiki;

pub use bm25::Bm25;
pub use outside::Services;
pub use retriever::{Lexical, Retriever};
pub use searcher::index_text;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::api::ApiTool;

static TABLE: LazyLock<BTreeMap<&'static str, ApiTool>> = LazyLock::new(|| {
    let families: [&[ApiTool]; 22] = [
        &account::TOOLS,
        &agenda::TOOLS,
        &alarm::TOOLS,
        &appointments::TOOLS,
        &bank::TOOLS,
        &calculator::TOOLS,
        &document::TOOLS,
        &email::TOOLS,
        &health::TOOLS,
        &history::TOOLS,
        &hotel::TOOLS,
        &media::TOOLS,
        &meeting::TOOLS,
        &outside::TOOLS,
        &reminder::TOOLS,
        &scenes::TOOLS,
        &search::TOOLS,
        &searcher::TOOLS,
        &stock::TOOLS,
        &switch::TOOLS,
        &symptom::TOOLS,
        &today::TOOLS,
    ];
    families.into_iter().chain([&wiki::TOOLS[..]]).flatten().map(|entry| (entry.name, *entry)).collect()
});

/// The tool with this name.
pub fn get(name: &str) -> Option<&'static ApiTool> {
    TABLE.get(name)
}

/// All tools, by name.
pub fn all() -> impl Iterator<Item = &'static ApiTool> {
    TABLE.values()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::ApiCatalogue;

    #[test]
    fn every_tool_of_the_catalogue_is_there() {
        let mut names: Vec<&str> =
            ApiCatalogue::tools().specs().iter().map(|spec| spec.name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(all().map(|entry| entry.name).collect::<Vec<_>>(), names);
        for entry in all() {
            let spec = ApiCatalogue::tools().get(entry.name).unwrap();
            assert!(entry.optional.iter().all(|name| spec.input(name).is_some()), "{}", entry.name);
        }
    }
}
