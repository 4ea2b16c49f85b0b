//! Facts about models that follow from their names, wherever they are served: they save requests that would be
//! refused.

use crate::connection::parameters::{Parameter, Refused};

/// The name without the prefixes of gateways (`openai/`) and of fine-tuning (`ft:`).
fn base(model: &str) -> &str {
    let name = model.rsplit_once('/').map_or(model, |(_, name)| name);
    name.strip_prefix("ft:").unwrap_or(name)
}

/// Whether a name is `family`, or one of its variants such as `family-mini` and `family-2025-08-07`.
fn is_of(name: &str, family: &str) -> bool {
    name.strip_prefix(family).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// The settings that the model of this name refuses according to OpenAI's documents. Its reasoning models accept only
/// their default temperature, no stop texts, and the limit only under its new name. Newer ones accept a temperature
/// if they do not reason, which is not known here; they are asked.
pub(super) fn refused(model: &str) -> Refused {
    let name = base(model);
    let reasons = ["o1", "o3", "o4", "gpt-5"].into_iter().any(|family| is_of(name, family));
    if reasons && !name.contains("-chat") {
        return Refused::these(&[Parameter::Temperature, Parameter::Stop, Parameter::OldLimit]);
    }
    if name.starts_with("gpt-5") {
        return Refused::these(&[Parameter::OldLimit]);
    }
    Refused::default()
}

/// Whether no server continues a plain text with the model of this name, because its maker offers it in conversations
/// alone.
pub(super) fn only_chats(model: &str) -> bool {
    let name = base(model);
    let families = ["o1", "o3", "o4", "chatgpt", "gpt-4o", "gpt-4.1", "gpt-4"];
    families.into_iter().any(|family| is_of(name, family))
        || ["gpt-5", "claude-", "gemini-"].into_iter().any(|family| name.starts_with(family))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_known_by_their_makers_names() {
        let refuses_temperature = |model| refused(model).has(Parameter::Temperature);
        for model in ["o1", "o3-mini", "o4-mini-2025-04-16", "gpt-5", "openai/gpt-5-mini", "gpt-5-2025-08-07"]
        {
            assert!(refuses_temperature(model) && only_chats(model), "{model}");
        }
        for model in ["gpt-5.2", "gpt-5-chat-latest"] {
            assert!(!refuses_temperature(model) && refused(model).has(Parameter::OldLimit), "{model}");
            assert!(only_chats(model));
        }
        for model in ["gpt-4o-mini", "openai/gpt-4.1", "anthropic/claude-opus-4.7"] {
            assert!(refused(model) == Refused::default() && only_chats(model), "{model}");
        }
        for model in
            ["o1ympus", "gpt-oss-120b", "Qwen/Qwen3-8B", "gpt-3.5-turbo-instruct", "davinci-002", "m"]
        {
            assert!(refused(model) == Refused::default() && !only_chats(model), "{model}");
        }
    }
}
