//! What makes calls out of what a model writes: the advice of `models check` and of reports.

use crate::facts::{ServerFacts, Software};

/// What mends calls that came as text, as an order to the user. Without facts, for any server.
pub fn advice_on_unread_calls(server: Option<&ServerFacts>) -> String {
    let software = server.and_then(|facts| facts.software);
    let has_place = server.and_then(|facts| facts.template_has_tools);
    match software {
        // Without the option it would have refused the tools.
        Some(Software::LlamaCpp) if has_place != Some(false) => {
            "run with --parse-text-calls, because llama-server does not read the form in which this model writes its \
             calls; older servers have to be started with --jinja"
                .to_owned()
        }
        Some(_) => format!("{}; or run with --parse-text-calls", tool_option(software, has_place)),
        None => {
            let all = Software::ALL.map(|it| format!("{}: {}", it.as_str(), tool_option(Some(it), None)));
            format!(
                "run with --parse-text-calls, or have the model's server read calls from its text. {}",
                all.join("; ")
            )
        }
    }
}

/// The option of a server that makes calls out of what the model writes, as an order to the user. `has_place` says
/// whether the model's chat template has a place for tools.
pub(crate) fn tool_option(software: Option<Software>, has_place: Option<bool>) -> &'static str {
    match software {
        Some(Software::LlamaCpp) if has_place == Some(false) => {
            "start llama-server with --jinja and, because this template has no place for tools, with \
             --chat-template-file FILE for one that has"
        }
        Some(Software::LlamaCpp) => "start llama-server with --jinja",
        Some(Software::Vllm) => {
            "start vLLM with --enable-auto-tool-choice --tool-call-parser hermes (or the parser of this model)"
        }
        Some(Software::Sglang) => "start SGLang with --tool-call-parser qwen25 (or the parser of this model)",
        Some(Software::Ollama) => {
            "take a model whose page at ollama.com has the mark `tools`, or pull it again"
        }
        Some(Software::LmStudio) => "take a model that LM Studio marks as trained for tool use",
        None => "set the server's option for tool calls (`--tool-call-parser`, `--jinja`)",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_advice_is_that_for_the_server() {
        let advice = |software, template_has_tools| {
            let facts = ServerFacts { software, template_has_tools, ..ServerFacts::default() };
            advice_on_unread_calls(Some(&facts))
        };
        for (software, has_place, beginning) in [
            (Some(Software::LlamaCpp), Some(true), "run with --parse-text-calls, because llama-server"),
            (Some(Software::LlamaCpp), None, "run with --parse-text-calls, because llama-server"),
            (
                Some(Software::LlamaCpp),
                Some(false),
                "start llama-server with --jinja and, because this template",
            ),
            (Some(Software::Vllm), None, "start vLLM with --enable-auto-tool-choice"),
            (None, None, "run with --parse-text-calls, or have the model's server"),
        ] {
            let advice = advice(software, has_place);
            assert!(advice.starts_with(beginning) && advice.contains("--parse-text-calls"), "{advice}");
        }
        let general = advice_on_unread_calls(None);
        assert_eq!(general, advice(None, Some(true)));
        for software in Software::ALL {
            assert!(general.contains(tool_option(Some(software), None)), "{general}");
        }
    }
}
