//! The pages that servers have for this, and where each says what.

use std::time::Duration;

use serde_json::{Value, json};

use super::{ServerFacts, Software, text};
use crate::ModelError;
use crate::connection::loading::Loading;
use crate::http::Endpoint;

/// How long one page may take.
const PAGE_TIME_MAX: Duration = Duration::from_secs(10);

/// The pages of one server, below its base URL and below its root.
pub(crate) struct Pages<'a> {
    /// An endpoint of the server, whose connections and key are used.
    pub(crate) endpoint: &'a Endpoint,
    /// Up to the path of the protocol.
    pub(crate) base_url: &'a str,
    /// The provider's name on the command line.
    pub(crate) provider: &'a str,
    /// How long the server has been loading its model.
    pub(crate) loading: &'a Loading,
}

impl Pages<'_> {
    /// Everything that the server says about `model`. Waits while the model is being loaded.
    ///
    /// # Errors
    /// The server cannot be reached, or refuses the key. A page that it does not have is not an error.
    pub(crate) async fn read(&self, model: &str) -> Result<ServerFacts, ModelError> {
        let mut facts = ServerFacts {
            url: self.base_url.to_owned(),
            software: Software::of_provider(self.provider),
            ..ServerFacts::default()
        };
        let base = self.base_url.trim_end_matches('/');
        let root = root(base);
        // Ollama's own protocol has no version in its base URL, and its list is that of the other one.
        let list = if facts.software == Some(Software::Ollama) {
            format!("{root}/v1/models")
        } else {
            format!("{base}/models")
        };
        if let Some(list) = self.page_once_loaded(&list).await? {
            facts.take_list(&list, model);
        }
        match facts.software {
            Some(Software::LlamaCpp) => {
                if let Some(props) = self.page_once_loaded(&format!("{root}/props")).await? {
                    facts.version = text(&props["build_info"]);
                    facts.context = props["default_generation_settings"]["n_ctx"].as_u64();
                    facts.slots = props["total_slots"].as_u64().filter(|slots| *slots > 0);
                    facts.take_template(&props["chat_template"]);
                    if let Some(takes_tools) = props["chat_template_caps"]["supports_tools"].as_bool() {
                        facts.template_has_tools = Some(takes_tools);
                    }
                    let file = props["model_path"].as_str().unwrap_or_default();
                    facts.quantisation =
                        text(&props["model_ftype"]).or_else(|| quantisation_in(file)).or(facts.quantisation);
                }
            }
            Some(Software::Vllm) => {
                let version = self.page(&format!("{root}/version"), None).await?;
                facts.version = version.and_then(|page| text(&page["version"]));
            }
            Some(Software::Sglang) => {
                if let Some(info) = self.page(&format!("{root}/get_server_info"), None).await? {
                    facts.version = text(&info["version"]);
                    facts.quantisation = text(&info["quantization"]);
                    let context = [&info["context_length"], &info["max_total_num_tokens"]];
                    facts.context = facts.context.or(context.into_iter().find_map(Value::as_u64));
                }
            }
            Some(Software::Ollama) => {
                let version = self.page(&format!("{root}/api/version"), None).await?;
                facts.version = version.and_then(|page| text(&page["version"]));
                let asked = json!({"model": model});
                if let Some(shown) = self.page(&format!("{root}/api/show"), Some(&asked)).await? {
                    facts.quantisation = text(&shown["details"]["quantization_level"]);
                    facts.context = context_of_show(&shown, self.provider == "ollama");
                    facts.take_template(&shown["template"]);
                    // Newer versions say it outright.
                    if let Some(capabilities) = shown["capabilities"].as_array() {
                        facts.template_has_tools = Some(capabilities.iter().any(|name| name == "tools"));
                    }
                }
            }
            Some(Software::LmStudio) => {
                if let Some(shown) = self.page(&format!("{root}/api/v0/models/{model}"), None).await? {
                    facts.quantisation = text(&shown["quantization"]);
                    let context = [&shown["loaded_context_length"], &shown["max_context_length"]];
                    facts.context = context.into_iter().find_map(Value::as_u64);
                }
            }
            None => {}
        }
        Ok(facts)
    }

    /// A page of a server that may still be loading its model.
    async fn page_once_loaded(&self, url: &str) -> Result<Option<Value>, ModelError> {
        loop {
            let page = self.page(url, None).await;
            match page.as_ref().err().and_then(|error| self.loading.wait(error)) {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return page,
            }
        }
    }

    /// A page of JSON; `None` if there is no such page.
    async fn page(&self, url: &str, body: Option<&Value>) -> Result<Option<Value>, ModelError> {
        let body = body.map(|body| body.to_string().into_bytes());
        let Ok(page) = tokio::time::timeout(PAGE_TIME_MAX, self.endpoint.look_up(url, body)).await else {
            return Err(ModelError::TimedOut { url: url.to_owned(), limit: PAGE_TIME_MAX });
        };
        match page {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
            Err(error @ ModelError::Status { status: 401 | 403 | 503, .. }) => Err(error),
            Err(ModelError::Status { .. } | ModelError::Malformed { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// The URL without the version of OpenAI's protocol.
pub(crate) fn root(base_url: &str) -> &str {
    base_url.strip_suffix("/v1").unwrap_or(base_url)
}

/// The context by Ollama's description of a model. If requests say how large it is to be, it is what the model was
/// trained on, else what the model's file sets; a server's own default is not described.
fn context_of_show(shown: &Value, is_sized_by_requests: bool) -> Option<u64> {
    let parameters = shown["parameters"].as_str().unwrap_or_default();
    let set = parameters.lines().find_map(|line| line.trim().strip_prefix("num_ctx")?.trim().parse().ok());
    let trained = shown["model_info"].as_object().and_then(|info| {
        info.iter()
            .find(|(name, _)| name.ends_with(".context_length"))
            .and_then(|(_, length)| length.as_u64())
    });
    if is_sized_by_requests { trained } else { set }
}

/// The quantisation in the name of a file of weights: `model-Q4_K_M.gguf`.
fn quantisation_in(file: &str) -> Option<String> {
    let name = file.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = name.strip_suffix(".gguf")?;
    let is_one = |part: &&str| {
        let upper = part.to_ascii_uppercase();
        let rest = upper.strip_prefix("IQ").or_else(|| upper.strip_prefix('Q'));
        let is_quantised = rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        is_quantised || ["F16", "BF16", "F32"].contains(&upper.as_str())
    };
    // Names of models may have such a word, too: the last one counts.
    stem.split(['-', '.']).rfind(is_one).map(str::to_ascii_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantisation_is_in_the_name_of_a_file() {
        for (file, expected) in [
            ("/models/Qwen3-8B-Q4_K_M.gguf", Some("Q4_K_M")),
            ("smollm2.q8_0.gguf", Some("Q8_0")),
            ("a-IQ3_XXS.gguf", Some("IQ3_XXS")),
            ("llama-3-f16.gguf", Some("F16")),
            ("C:\\m\\QwQ-32B-Q5_K_S.gguf", Some("Q5_K_S")),
            ("qwen2.5-coder-0.5b.gguf", None),
            ("", None),
        ] {
            assert_eq!(quantisation_in(file).as_deref(), expected, "{file}");
        }
    }

    #[test]
    fn the_context_of_ollama_is_the_one_that_holds() {
        let info = json!({"qwen3.context_length": 40960, "qwen3.block_count": 36});
        assert_eq!(context_of_show(&json!({"model_info": info}), true), Some(40960));
        assert_eq!(context_of_show(&json!({"model_info": info}), false), None);
        let parameters = "stop \"<|im_end|>\"\nnum_ctx 8192";
        let both = json!({"model_info": info, "parameters": parameters});
        assert_eq!((context_of_show(&both, true), context_of_show(&both, false)), (Some(40960), Some(8192)));
        assert_eq!(context_of_show(&json!({}), true), None);
    }
}
