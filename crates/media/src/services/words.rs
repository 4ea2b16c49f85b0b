//! Translations, and web searches.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Servers;
use crate::client::{Ask, TEXT_ANSWER_BYTES_MAX};
use crate::failure::{ToolFailure, quoted};
use crate::settings::Service;

/// Most hits of a search that are handed on.
pub const HITS_MAX: usize = 10;

/// Most characters of a hit's title, address or text.
pub const HIT_CHARACTERS_MAX: usize = 500;

/// Longest code of a language, in bytes, as in `zh-Hans`.
pub const LANGUAGE_BYTES_MAX: usize = 16;

/// The fields of a hit.
const HIT_FIELDS: [&str; 3] = ["title", "url", "content"];

#[derive(Deserialize)]
struct Translated {
    #[serde(rename = "translatedText")]
    text: String,
}

#[derive(Deserialize)]
struct Hits {
    results: Vec<Map<String, Value>>,
}

/// The text in another language. Languages are given by their codes; `auto` is the language of the text.
pub(crate) async fn translate(
    servers: &Servers,
    text: &str,
    from: &str,
    to: &str,
) -> Result<String, ToolFailure> {
    let client = servers.client(Service::Translation)?;
    for (name, code) in [("from", from), ("to", to)] {
        let is_code = !code.is_empty()
            && code.len() <= LANGUAGE_BYTES_MAX
            && code.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !is_code {
            let shown = quoted(code);
            return Err(ToolFailure::call(format!(
                "`{name}` has to be the code of a language, such as `en` or `de`, not {shown}"
            )));
        }
    }
    // A form: with a body of JSON, LibreTranslate would not look for a key among the parameters of the URL.
    let fields = [("q", text), ("source", from), ("target", to), ("format", "text")];
    let encoded =
        fields.map(|(name, value)| format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC)));
    let body = encoded.join("&").into_bytes();
    let ask = Ask::post("/translate", "application/x-www-form-urlencoded", body, TEXT_ANSWER_BYTES_MAX);
    let answer: Translated = client.ask(&ask).await?;
    Ok(answer.text)
}

/// The first hits of a search, the best first.
pub(crate) async fn search_web(servers: &Servers, query: &str) -> Result<Vec<Value>, ToolFailure> {
    let client = servers.client(Service::Search)?;
    let parameters = vec![("q", query.to_owned()), ("format", "json".to_owned())];
    let answer: Hits = client.ask(&Ask::get("/search", parameters)).await?;
    let hit = |found: Map<String, Value>| {
        let field = |name: &str| {
            let text = found.get(name).and_then(Value::as_str).unwrap_or_default();
            let cut: String = text.chars().filter(|c| !c.is_control()).take(HIT_CHARACTERS_MAX).collect();
            (name.to_owned(), Value::from(cut))
        };
        Value::Object(HIT_FIELDS.into_iter().map(field).collect())
    };
    Ok(answer.results.into_iter().take(HITS_MAX).map(hit).collect())
}
