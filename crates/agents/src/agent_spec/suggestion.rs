//! What a user may have meant with a text that names no agent.

use planproof_model::providers::Providers;

use super::AgentKind;

/// Prefixes of model names whose provider is known.
const FAMILIES: [(&str, &str); 7] = [
    ("gpt-", "openai"),
    ("chatgpt-", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
    ("codex-", "openai"),
    ("claude-", "anthropic"),
];

/// Extensions of programs that need an interpreter, and the interpreter.
const INTERPRETERS: [(&str, &str); 6] = [
    (".py", "python "),
    (".js", "node "),
    (".mjs", "node "),
    (".ts", "npx tsx "),
    (".rb", "ruby "),
    (".sh", "sh "),
];

/// The agent that a text probably means if the text lacks what every agent begins with: a model, a URL, or a program.
pub(super) fn agent(text: &str) -> Option<String> {
    if text.starts_with("http://") || text.starts_with("https://") {
        return Some(format!("url:{text}"));
    }
    // A kind and its model with the wrong sign between them.
    if let Some((kind, model)) = text.split_once([':', '/'])
        && AgentKind::parse(kind).is_ok()
        && names_provider(model)
    {
        return Some(format!("{kind}@{model}"));
    }
    let program = text.split_whitespace().next()?;
    if let Some((_, interpreter)) = INTERPRETERS.iter().find(|(end, _)| program.ends_with(end)) {
        return Some(format!("\"command:{interpreter}{text}\""));
    }
    if program != text {
        return None;
    }
    if names_provider(text) {
        return Some(format!("tools@{text}"));
    }
    model(text).map(|model| format!("tools@{model}"))
}

/// Whether the text is the name of a model, with its provider.
fn names_provider(text: &str) -> bool {
    let is_at_url = Providers::shipped().at_url(text, |_| None).is_some_and(|found| found.is_ok());
    is_at_url
        || text.split_once('/').is_some_and(|(provider, model)| {
            let is_known =
                ["sim", "replay"].contains(&provider) || Providers::shipped().find(provider).is_some();
            is_known && !model.is_empty()
        })
}

/// The model with its provider, for a name without a provider whose family is known.
pub fn model(name: &str) -> Option<String> {
    let (_, provider) = FAMILIES.iter().find(|(family, _)| name.starts_with(family))?;
    Some(format!("{provider}/{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lacks_its_beginning_is_completed() {
        for (text, meant) in [
            ("gpt-5-mini", "tools@openai/gpt-5-mini"),
            ("react:sim/perfect", "react@sim/perfect"),
            ("cot/openai/gpt-5-mini", "cot@openai/gpt-5-mini"),
            ("o3", "tools@openai/o3"),
            ("claude-sonnet-4-5", "tools@anthropic/claude-sonnet-4-5"),
            ("openai/ft:x", "tools@openai/ft:x"),
            ("ollama/qwen3:4b", "tools@ollama/qwen3:4b"),
            ("a=http://127.0.0.1:8000/v1/m", "tools@a=http://127.0.0.1:8000/v1/m"),
            ("sim/perfect", "tools@sim/perfect"),
            ("http://localhost:8000/run", "url:http://localhost:8000/run"),
            ("my_agent.py", "\"command:python my_agent.py\""),
            ("./agents/a.mjs --fast", "\"command:node ./agents/a.mjs --fast\""),
        ] {
            let found = agent(text);
            assert_eq!(found.as_deref(), Some(meant));
            assert!(crate::AgentSpec::parse(meant.trim_matches('"')).is_ok(), "{meant}");
        }
        for text in ["", "foo", "openai/", "gpt", "python agent", "nobody/large"] {
            assert_eq!(agent(text), None, "{text}");
        }
    }
}
