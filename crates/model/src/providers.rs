//! Providers of models by name: those that planproof knows (`data/providers.json`), those of a user's own file, and
//! servers that are named by their URL.
//!
//! A provider lives as long as the process, because connections, errors and messages of all threads name it. Each
//! distinct one is made once, so what is kept is bounded by the names that are used.

use std::sync::{LazyLock, Mutex, PoisonError};

use serde::Deserialize;
use serde::de::IgnoredAny;
use thiserror::Error;

use crate::anthropic::ANTHROPIC;
use crate::connection::{Protocol, Provider};
use crate::http::KeyHeader;
use crate::openai::OPENAI;

/// Schema name of a file of providers.
pub const PROVIDERS_SCHEMA: &str = "planproof/providers/v1";

/// Most providers of a file.
pub const PROVIDERS_MAX: usize = 1_000;

/// Most bytes of the name of a provider.
pub const PROVIDER_NAME_BYTES_MAX: usize = 64;

/// What names of models begin with although no server is behind them.
const RESERVED: [&str; 2] = ["sim", "replay"];

/// Why a text is not a file of providers.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProvidersError {
    /// It is not JSON, or lacks the fields of the schema.
    #[error("it is no file of providers: {what}; docs/files.md shows the form of one")]
    Malformed {
        /// What is wrong, and where.
        what: String,
    },
    /// It has another version, or is of another kind.
    #[error("its schema is {found:?}; this planproof reads {PROVIDERS_SCHEMA}")]
    UnknownSchema {
        /// What it says it is.
        found: String,
    },
    /// A name cannot stand before the slash of a model's name.
    #[error(
        "{name:?} is no name of a provider: write 1 to {PROVIDER_NAME_BYTES_MAX} of a-z, 0-9, `-`, `_` and `.`, \
         beginning with a letter, and neither sim nor replay"
    )]
    Name { name: String },
    /// A field of a provider cannot be used.
    #[error("the {field} of the provider {name:?} is no {expected}")]
    Field {
        name: String,
        field: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// Two providers have the same name.
    #[error("there are two providers named {name:?}{}", if *.is_shipped {
        format!(
            ": planproof brings one of them; set {}_BASE_URL to reach it elsewhere, or choose another name",
            as_variable(.name)
        )
    } else {
        String::new()
    })]
    Twice {
        name: String,
        /// Whether one of them comes with planproof.
        is_shipped: bool,
    },
    /// There are none, or too many.
    #[error("it holds {count} providers; there must be 1 to {PROVIDERS_MAX}")]
    Count { count: usize },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProvidersFile {
    #[serde(rename = "schema")]
    _schema: IgnoredAny,
    providers: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    #[serde(default)]
    protocol: Protocol,
    base_url: String,
    key_variable: Option<String>,
    #[serde(default = "is_needed")]
    key_needed: bool,
    base_url_variable: Option<String>,
    example_model: Option<String>,
    #[serde(default)]
    partial_turn: bool,
    completions: Option<bool>,
}

/// Every provider needs a key unless its entry says otherwise.
fn is_needed() -> bool {
    true
}

/// Providers by name.
#[derive(Debug, Clone)]
pub struct Providers(Vec<&'static Provider>);

impl Providers {
    /// OpenAI, Anthropic, and the providers of the file that is compiled in.
    pub fn shipped() -> &'static Self {
        static SHIPPED: LazyLock<Providers> = LazyLock::new(|| {
            let own = Providers(vec![&OPENAI, &ANTHROPIC]);
            own.with_file(include_str!("../data/providers.json"))
                .expect("the file that is compiled in is right")
        });
        &SHIPPED
    }

    /// These and those of a file.
    ///
    /// # Errors
    /// The fault of the file, or a provider of it has the name of one that is known.
    pub fn with_file(&self, json: &str) -> Result<Self, ProvidersError> {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        let malformed = |error: serde_json::Error| ProvidersError::Malformed { what: error.to_string() };
        // The schema is read first, so that a file of another version is reported as such, and not as malformed.
        let Head { schema } = serde_json::from_str(json).map_err(malformed)?;
        if schema != PROVIDERS_SCHEMA {
            return Err(ProvidersError::UnknownSchema { found: schema });
        }
        let file: ProvidersFile = serde_json::from_str(json).map_err(malformed)?;
        let count = file.providers.len();
        if count == 0 || count > PROVIDERS_MAX {
            return Err(ProvidersError::Count { count });
        }
        let mut all = self.clone();
        for entry in file.providers {
            if all.find(&entry.name).is_some() {
                let is_shipped = self.find(&entry.name).is_some();
                return Err(ProvidersError::Twice { name: entry.name, is_shipped });
            }
            all.0.push(entry.into_provider()?);
        }
        Ok(all)
    }

    /// The provider of that name.
    pub fn find(&self, name: &str) -> Option<&'static Provider> {
        self.0.iter().copied().find(|provider| provider.name == name)
    }

    /// All of them: OpenAI and Anthropic first, then those of the files in their order.
    pub fn iter(&self) -> impl Iterator<Item = &'static Provider> {
        self.0.iter().copied()
    }

    /// The server of `NAME=URL/MODEL` as a provider, and the model. It gets the key of the variable that
    /// `key_variable` returns for its base URL, else none. `None` if the text has another form.
    ///
    /// The base URL ends before `//` in the path, else after the first version in it (`/v1`, `/v1beta/openai`), else
    /// before the last slash, because names of models may hold slashes themselves.
    ///
    /// # Errors
    /// NAME is that of a known provider, whose key must not get to another address, or no name of a provider.
    pub fn at_url<'m>(
        &self,
        text: &'m str,
        key_variable: impl FnOnce(&str) -> Option<String>,
    ) -> Option<Result<(&'static Provider, &'m str), ProvidersError>> {
        let NamedUrl { name, base_url, server, model } = NamedUrl::parse(text)?;
        if !is_provider_name(name) {
            return Some(Err(ProvidersError::Name { name: name.to_owned() }));
        }
        if self.find(name).is_some() {
            return Some(Err(ProvidersError::Twice { name: name.to_owned(), is_shipped: true }));
        }
        let key_variable = key_variable(base_url).map_or("a key for it (--key-for)", |name| leaked(&name));
        Some(Ok((
            interned(Provider {
                // Two servers may have the same name in two campaigns; the URL says which one it was.
                name: leaked(server),
                example_model: "MODEL",
                protocol: Protocol::OpenAi,
                key_variable,
                key_needed: false,
                base_url_variable: leaked(&format!("the URL after {name}=")),
                base_url_default: leaked(base_url),
                partial_turn: false,
                completes: None,
                key_header: KeyHeader::Bearer,
                headers: &[],
            }),
            model,
        )))
    }
}

/// `NAME=URL/MODEL`, taken apart.
#[derive(Debug, PartialEq, Eq)]
struct NamedUrl<'a> {
    name: &'a str,
    base_url: &'a str,
    /// Everything before the slash that is followed by the model.
    server: &'a str,
    model: &'a str,
}

impl<'a> NamedUrl<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (name, url) = text.split_once('=')?;
        // The name may lack, but a longer text with an equals sign in it is something else.
        let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"))?;
        if name.contains(['/', ':', '@', ' ']) {
            return None;
        }
        // Without a path, no model is named, which is reported as for any other provider.
        let start = url.len() - rest.len();
        let path = rest.find('/').map_or(url.len(), |at| start + at);
        let (end, model) = Self::end_of_base(url, path);
        let before = text.len() - url.len();
        let model_at = before + model.min(url.len());
        Some(Self {
            name,
            base_url: &url[..end],
            server: &text[..(model_at.saturating_sub(1)).max(before + end)],
            model: &text[model_at..],
        })
    }

    /// Where in `url`, whose path begins at `path`, the base URL ends and the model begins.
    fn end_of_base(url: &str, path: usize) -> (usize, usize) {
        if let Some(at) = url[path..].find("//") {
            return (path + at, path + at + 2);
        }
        let mut end = path;
        for part in url[path..].split('/').skip(1) {
            end += 1 + part.len();
            if is_version(part) {
                // Gemini, for one, has the endpoints of OpenAI's protocol below its version.
                let below = &url[end..];
                if below.starts_with("/openai/") {
                    end += "/openai".len();
                }
                return (end, end + 1);
            }
        }
        match url[path..].rfind('/') {
            Some(at) => (path + at, path + at + 1),
            None => (url.len(), url.len()),
        }
    }
}

/// Whether a part of a path is the version of an API: `v1`, `v1beta`, `v4`.
fn is_version(part: &str) -> bool {
    let Some(rest) = part.strip_prefix('v') else { return false };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && rest[digits..].bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

impl Entry {
    fn into_provider(self) -> Result<&'static Provider, ProvidersError> {
        let name = &self.name;
        if !is_provider_name(name) {
            return Err(ProvidersError::Name { name: self.name });
        }
        let wrong = |field, expected| ProvidersError::Field { name: name.clone(), field, expected };
        if !self.base_url.starts_with("http://") && !self.base_url.starts_with("https://") {
            return Err(wrong("base_url", "URL that begins with http:// or https://"));
        }
        let base_url_variable =
            self.base_url_variable.clone().unwrap_or_else(|| format!("{}_BASE_URL", as_variable(name)));
        let key_variable =
            self.key_variable.clone().unwrap_or_else(|| format!("{}_API_KEY", as_variable(name)));
        for (field, variable) in [("base_url_variable", &base_url_variable), ("key_variable", &key_variable)]
        {
            if !is_variable(variable) {
                return Err(wrong(field, "name of an environment variable"));
            }
        }
        let (key_header, headers): (_, &'static [_]) = match self.protocol {
            Protocol::OpenAi | Protocol::Ollama => (KeyHeader::Bearer, &[]),
            Protocol::Anthropic => (KeyHeader::ApiKey, ANTHROPIC.headers),
        };
        Ok(interned(Provider {
            name: leaked(name),
            example_model: leaked(self.example_model.as_deref().unwrap_or("MODEL")),
            protocol: self.protocol,
            key_variable: leaked(&key_variable),
            key_needed: self.key_needed,
            base_url_variable: leaked(&base_url_variable),
            base_url_default: leaked(&self.base_url),
            partial_turn: self.partial_turn,
            completes: self.completions,
            key_header,
            headers,
        }))
    }
}

/// The name of a provider as the beginning of a variable's name.
fn as_variable(name: &str) -> String {
    name.to_ascii_uppercase().replace(['-', '.'], "_")
}

fn is_variable(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn is_provider_name(name: &str) -> bool {
    (1..=PROVIDER_NAME_BYTES_MAX).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b'.')
        })
        && !RESERVED.contains(&name)
}

/// The one provider that is equal to this one.
fn interned(provider: Provider) -> &'static Provider {
    static MADE: Mutex<Vec<&'static Provider>> = Mutex::new(Vec::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = made.iter().copied().find(|known| **known == provider) {
        return known;
    }
    let new: &'static Provider = Box::leak(Box::new(provider));
    made.push(new);
    new
}

/// The text for as long as the process lives, once for equal texts.
fn leaked(text: &str) -> &'static str {
    static MADE: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = made.iter().copied().find(|known| *known == text) {
        return known;
    }
    let new: &'static str = Box::leak(text.to_owned().into_boxed_str());
    made.push(new);
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_url_of_a_named_server_ends_before_the_model() {
        for (text, base_url, model) in [
            ("a=http://127.0.0.1:8000/v1/qwen", "http://127.0.0.1:8000/v1", "qwen"),
            ("a=http://127.0.0.1:8000/v1/Qwen/Qwen3-8B", "http://127.0.0.1:8000/v1", "Qwen/Qwen3-8B"),
            ("a=https://h/api/paas/v4/glm-4.6", "https://h/api/paas/v4", "glm-4.6"),
            ("a=https://h/v1beta/openai/gemini-2.5", "https://h/v1beta/openai", "gemini-2.5"),
            ("a=https://h/openai/v1/org/v2/m", "https://h/openai/v1", "org/v2/m"),
            ("a=http://h:8080/qwen3:4b", "http://h:8080", "qwen3:4b"),
            ("a=http://h/proxy/m", "http://h/proxy", "m"),
            ("a=http://h/proxy//org/m", "http://h/proxy", "org/m"),
            ("a=http://h/v1/", "http://h/v1", ""),
            ("a=http://h", "http://h", ""),
            ("a=http://h/v1", "http://h/v1", ""),
        ] {
            let found = NamedUrl::parse(text).expect(text);
            assert_eq!((found.name, found.base_url, found.model), ("a", base_url, model), "{text}");
            if !model.is_empty() {
                assert_eq!(
                    format!("{}/{}", found.server, found.model),
                    text,
                    "the name is that of the command line"
                );
            }
        }
        for text in ["", "a", "a=b/c", "ollama/a=http://h/v1/m", "http://h/v1/m", "judge=x", "a b=http://h/m"]
        {
            assert_eq!(NamedUrl::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_server_by_url_has_no_key_unless_its_variable_is_named() {
        let shipped = Providers::shipped();
        let (provider, model) = shipped.at_url("a=http://h/v1/m", |_| None).unwrap().unwrap();
        assert_eq!((provider.name, model, provider.key_needed), ("a=http://h/v1", "m", false));
        assert!(!is_variable(provider.key_variable), "no variable of the environment can have this name");
        let named = |base_url: &str| (base_url == "http://h/v1").then(|| "A_KEY".to_owned());
        let (provider, _) = shipped.at_url("a=http://h/v1/m", named).unwrap().unwrap();
        assert_eq!(provider.key_variable, "A_KEY");
        let (provider, _) = shipped.at_url("a=http://other/v1/m", named).unwrap().unwrap();
        assert!(!is_variable(provider.key_variable));
        for name in ["openai", "ollama", "sim", "replay", "A", "", "-a", "9a"] {
            let text = format!("{name}=http://h/v1/m");
            assert!(shipped.at_url(&text, |_| None).unwrap().is_err(), "{name}");
        }
    }

    #[test]
    fn every_shipped_provider_can_be_used() {
        let all: Vec<_> = Providers::shipped().iter().collect();
        assert!(all.len() > 20);
        for provider in all {
            let Provider { name, base_url_default: url, .. } = provider;
            assert_eq!(provider.base_url_variable, format!("{}_BASE_URL", as_variable(name)));
            let host = url.split('/').nth(2).unwrap();
            let is_local = host.starts_with("127.0.0.1:");
            assert_eq!(url.starts_with("https://"), !is_local, "{name}");
            assert_eq!(provider.key_needed, !is_local, "{name}");
            assert!(!url.ends_with('/') && !provider.example_model.is_empty(), "{name}");
        }
    }

    #[test]
    fn faults_of_a_file_are_named() {
        let read = |entries: &str| {
            let text = format!(r#"{{"schema": "planproof/providers/v1", "providers": [{entries}]}}"#);
            Providers::shipped().with_file(&text)
        };
        let own =
            read(r#"{"name": "my-gpu", "base_url": "http://gpu:8000/v1", "protocol": "anthropic"}"#).unwrap();
        let provider = own.find("my-gpu").unwrap();
        assert_eq!(
            (provider.key_variable, provider.base_url_variable),
            ("MY_GPU_API_KEY", "MY_GPU_BASE_URL")
        );
        assert!(provider.key_needed && provider.protocol == Protocol::Anthropic);
        for (entries, expected) in [
            ("", "it holds 0 providers"),
            (r#"{"name": "a", "base_url": "http://h", "key": "x"}"#, "unknown field `key`"),
            (r#"{"name": "a"}"#, "missing field `base_url`"),
            (r#"{"name": "a", "base_url": "h:80"}"#, "the base_url of the provider \"a\" is no URL"),
            (
                r#"{"name": "a", "base_url": "http://h", "key_variable": "$A"}"#,
                "is no name of an environment variable",
            ),
            (r#"{"name": "a", "base_url": "http://h", "protocol": "soap"}"#, "unknown variant `soap`"),
            (r#"{"name": "A b", "base_url": "http://h"}"#, "\"A b\" is no name of a provider"),
            (r#"{"name": "sim", "base_url": "http://h"}"#, "\"sim\" is no name of a provider"),
            (
                r#"{"name": "a", "base_url": "http://h"}, {"name": "a", "base_url": "http://i"}"#,
                "there are two providers named \"a\"",
            ),
            (r#"{"name": "groq", "base_url": "http://h"}"#, "set GROQ_BASE_URL to reach it elsewhere"),
        ] {
            let error = read(entries).expect_err(entries).to_string();
            assert!(error.contains(expected), "{entries}: {error}");
        }
        assert!(matches!(
            Providers::shipped().with_file(r#"{"schema": "x", "list": 1}"#),
            Err(ProvidersError::UnknownSchema { .. })
        ));
    }
}
