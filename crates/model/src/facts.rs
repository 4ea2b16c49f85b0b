//! What a server says of itself and of a model, from the pages that its software has for this: `/props` of llama.cpp,
//! `/version` of vLLM, `/get_server_info` of SGLang, `/api/show` of Ollama, `/api/v0/models` of LM Studio, `/models` of
//! all. No model is asked, nothing is generated, and every part may be missing.

mod pages;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use pages::{Pages, root};

/// Most names of models that are kept.
pub const LISTED_MODELS_MAX: usize = 1_000;

/// Most characters of a text of a server that are kept.
const TEXT_CHARACTERS_MAX: usize = 200;

/// The program behind a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Software {
    LlamaCpp,
    Vllm,
    Sglang,
    Ollama,
    LmStudio,
}

impl Software {
    /// Every program.
    pub const ALL: [Self; 5] = [Self::LlamaCpp, Self::Vllm, Self::Sglang, Self::Ollama, Self::LmStudio];

    /// Its name as its makers write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LlamaCpp => "llama.cpp",
            Self::Vllm => "vLLM",
            Self::Sglang => "SGLang",
            Self::Ollama => "Ollama",
            Self::LmStudio => "LM Studio",
        }
    }

    /// The software that a provider of that name means.
    pub(crate) fn of_provider(name: &str) -> Option<Self> {
        Some(match name {
            "llamacpp" => Self::LlamaCpp,
            "vllm" => Self::Vllm,
            "sglang" => Self::Sglang,
            "ollama" => Self::Ollama,
            "lmstudio" => Self::LmStudio,
            _ => return None,
        })
    }

    /// The software that names itself in this way as the owner of its models.
    fn of_owner(owner: &str) -> Option<Self> {
        Some(match owner {
            "llamacpp" => Self::LlamaCpp,
            "vllm" => Self::Vllm,
            "sglang" => Self::Sglang,
            "library" => Self::Ollama,
            "organization_owner" => Self::LmStudio,
            _ => return None,
        })
    }
}

/// What a server says of itself and of a model. `None` is what it does not say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerFacts {
    pub url: String,
    /// The program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub software: Option<Software>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// How the weights are stored, as in `Q4_K_M`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantisation: Option<String>,
    /// Most tokens of a conversation with its replies.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "planproof_trace::bounded::some_count"
    )]
    pub context: Option<u64>,
    /// How many replies it writes at once, each from a context of its own. More requests wait, and a conversation
    /// whose context was given away has to be read again.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "planproof_trace::bounded::some_count"
    )]
    pub slots: Option<u64>,
    /// SHA-256 of the chat template, in hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// Whether the chat template has a place for tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template_has_tools: Option<bool>,
    /// The models that it knows, at most [`LISTED_MODELS_MAX`].
    #[serde(skip)]
    pub models: Vec<String>,
}

impl ServerFacts {
    /// The server in a few words, as in `llama.cpp b6123, Q4_K_M, context 8192, 4 slots`.
    pub fn summary(&self) -> String {
        let mut words = match (self.software, &self.version) {
            (Some(software), Some(version)) => vec![format!("{} {version}", software.as_str())],
            (Some(software), None) => vec![software.as_str().to_owned()],
            (None, _) => Vec::new(),
        };
        words.extend(self.quantisation.clone());
        words.extend(self.context.map(|context| format!("context {context}")));
        words
            .extend(self.slots.map(|slots| format!("{slots} {}", if slots == 1 { "slot" } else { "slots" })));
        words.extend(
            self.template.as_deref().map(|digest| format!("template {}", &digest[..12.min(digest.len())])),
        );
        words.join(", ")
    }

    /// Takes what the list of models says about `model`.
    fn take_list(&mut self, list: &Value, model: &str) {
        let entries = list["data"].as_array().map(Vec::as_slice).unwrap_or_default();
        self.models = entries.iter().filter_map(|entry| text(&entry["id"])).take(LISTED_MODELS_MAX).collect();
        let is_meant = |entry: &&Value| entry["id"].as_str() == Some(model);
        // A server of one model answers to any name.
        let entry = entries.iter().find(is_meant).or_else(|| entries.first().filter(|_| entries.len() == 1));
        let Some(entry) = entry else { return };
        if self.software.is_none() {
            self.software = entry["owned_by"].as_str().and_then(Software::of_owner);
        }
        // vLLM and SGLang; OpenRouter.
        let context = [&entry["max_model_len"], &entry["context_length"]];
        self.context = self.context.or(context.into_iter().find_map(Value::as_u64));
    }

    fn take_template(&mut self, template: &Value) {
        let Some(template) = template.as_str().filter(|template| !template.is_empty()) else { return };
        self.template = Some(digest(template));
        self.template_has_tools = Some(template.contains("tools") || template.contains(".Tools"));
    }
}

fn digest(text: &str) -> String {
    let hash = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A short text in a server's page.
fn text(value: &Value) -> Option<String> {
    let text = value.as_str().filter(|text| !text.is_empty())?;
    Some(text.chars().filter(|c| !c.is_control()).take(TEXT_CHARACTERS_MAX).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_sha_256() {
        assert_eq!(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
