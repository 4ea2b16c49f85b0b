//! What a user probably meant with a text that names no agent or no model.

use planproof_agents::{
    AgentSpec, CommandAgent, GUARD_PREFIX, SUITE_AGENTS, is_interpreter, model_with_provider, most_similar,
};
use planproof_output::nearest::near;
use planproof_sim::{ECHO_NAME, GOLD_NAME, PlantedFault, SimKind};

use crate::providers::providers;

/// What the names of models begin with although no server is behind them, with an example.
const WITHOUT_SERVER: [(&str, &str); 2] = [("sim", "careless"), ("replay", "FILE")];

/// Other names of providers.
const ALIASES: [(&str, &str); 10] = [
    ("google", "gemini"),
    ("llama.cpp", "llamacpp"),
    ("llama-cpp", "llamacpp"),
    ("llama-server", "llamacpp"),
    ("lm-studio", "lmstudio"),
    ("grok", "xai"),
    ("kimi", "moonshot"),
    ("claude", "anthropic"),
    ("hf", "huggingface"),
    ("mistralai", "mistral"),
];

/// Beginnings of the names of models, with the provider that mostly serves them.
const FAMILIES: [(&str, &str); 9] = [
    ("llama", "ollama"),
    ("codellama", "ollama"),
    ("qwen", "ollama"),
    ("gemma", "ollama"),
    ("mistral:", "ollama"),
    ("deepseek-r1:", "ollama"),
    ("gpt-oss", "ollama"),
    ("gemini-", "gemini"),
    ("grok-", "xai"),
];

/// Words behind `runs` that are easily typed behind another command.
pub const RUNS_COMMANDS: [&str; 6] = ["list", "show", "export", "verify", "label", "delete"];

/// The name of any model, to ask whether a kind is one.
const ANY_MODEL: &str = "sim/perfect";

/// What to say of this text, which names no agent, if it is known what was meant.
pub(crate) fn agent(text: &str) -> Option<String> {
    let bare = text.strip_prefix(GUARD_PREFIX).unwrap_or(text);
    if bare == "last" {
        return Some(
            "\"last\" is a campaign, and no agent: `planproof report last` reports on it, and \
             `planproof test --resume last` resumes it"
                .to_owned(),
        );
    }
    if RUNS_COMMANDS.contains(&bare) {
        return Some(format!("unknown agent \"{bare}\": did you mean `planproof runs {bare}`?"));
    }
    let lower = bare.to_lowercase();
    // First as it is written, because the name of a specification's file may have capitals.
    if let Some(kind) = [bare, lower.as_str()].into_iter().find(|kind| is_kind(kind)) {
        return Some(format!(
            "the agent \"{bare}\" needs a model: write {kind}@MODEL, as in {kind}@openai/gpt-5-mini or {kind}@sim/careless"
        ));
    }
    let provider = lower.trim_end_matches('/');
    if let Some((provider, example)) = prefixes().find(|(known, _)| *known == provider) {
        return Some(format!(
            "\"{bare}\" names no model: write tools@{provider}/MODEL, as in tools@{provider}/{example}"
        ));
    }
    let meant = with_right_prefix(bare)
        .or_else(|| in_lower_case(bare))
        .or_else(|| as_command(bare))
        .or_else(|| near(bare, SUITE_AGENTS).map(str::to_owned));
    if let Some(meant) = meant {
        return Some(format!("unknown agent \"{bare}\": did you mean {meant}?"));
    }
    // With an `@` in it, it is the kind that is wrong.
    let meant = if bare.contains('@') { None } else { model(bare, "tools@") };
    meant.map(|meant| format!("unknown agent \"{bare}\": {meant}"))
}

/// What to say of this text, which names no model, if it is known what was meant; `before` is what the model's name
/// has to stand behind.
pub(crate) fn model(name: &str, before: &str) -> Option<String> {
    // First, because open models may be called like those of a provider: `gpt-oss` would be taken for one of OpenAI's.
    let meant = of_family(name)
        .or_else(|| of_provider(name))
        .or_else(|| simulated(name).map(|name| format!("sim/{name}")))
        .or_else(|| model_with_provider(name))?;
    Some(format!("did you mean {before}{meant}?"))
}

/// The name of a model as it is written behind an `@`, from a name that may lack its provider. A provider that is not
/// known is that of a server which speaks OpenAI's protocol.
pub fn with_provider(name: &str) -> String {
    if name.contains('/') {
        return name.to_owned();
    }
    let simulated = simulated_names().into_iter().find(|known| *known == name);
    simulated
        .map(|name| format!("sim/{name}"))
        .or_else(|| of_family(name))
        .or_else(|| model_with_provider(name))
        .unwrap_or_else(|| format!("openai/{name}"))
}

/// The names of simulated models, without `sim/`.
pub(crate) fn simulated_names() -> Vec<&'static str> {
    let planted = PlantedFault::ALL.into_iter().map(PlantedFault::as_str);
    let others = [GOLD_NAME, ECHO_NAME].into_iter().filter_map(|name| name.strip_prefix("sim/"));
    let kinds = SimKind::ALL.into_iter().chain(SimKind::OF_SERVERS);
    let kinds = kinds.chain(SimKind::OF_FAILURES).chain(SimKind::OF_MESSAGES).map(SimKind::as_str);
    kinds.chain(others).chain(planted).collect()
}

/// The simulated model whose name this almost is.
fn simulated(name: &str) -> Option<&'static str> {
    near(&name.to_lowercase(), simulated_names())
}

/// Whether the text is a kind of agent that lacks its model.
fn is_kind(text: &str) -> bool {
    // A command or a URL takes any `@` for a part of itself, so it has no model even with this one added.
    let whole = AgentSpec::parse(&format!("{text}@{ANY_MODEL}"));
    !text.contains('@') && whole.is_ok_and(|spec| spec.model() == Some(ANY_MODEL))
}

/// A program or service behind a prefix that is almost right.
fn with_right_prefix(text: &str) -> Option<String> {
    let (prefix, rest) = text.split_once(':').filter(|(_, rest)| !rest.is_empty())?;
    let prefix = prefix.to_lowercase();
    let known = match prefix.as_str() {
        "cmd" => "command",
        "url" => "url",
        _ => near(&prefix, ["command", "worker"])?,
    };
    Some(format!("\"{known}:{rest}\""))
}

/// An agent whose kind is written with capitals.
fn in_lower_case(text: &str) -> Option<String> {
    let (kind, model) = text.split_once('@')?;
    let meant = format!("{}@{}", kind.to_lowercase(), of_provider(model).unwrap_or_else(|| model.to_owned()));
    (kind != kind.to_lowercase() && AgentSpec::parse(&meant).is_ok()).then_some(meant)
}

/// A command without `command:`. A single word has to be a path: it may be anybody's name.
pub fn as_command(text: &str) -> Option<String> {
    let first = text.split_whitespace().next()?;
    if first == text.trim() && !first.contains(['/', '\\']) {
        return None;
    }
    // An interpreter may be missing here or have another name. Any other program has to exist, or every sentence would
    // be a command.
    let is_found = || CommandAgent::parse(text).is_ok_and(|agent| agent.resolve().is_ok());
    // An interpreter is meant even where it is not installed, or has another name here.
    (is_interpreter(first) || is_found()).then(|| format!("\"command:{text}\""))
}

/// What the names of models begin with, each with a model as an example.
fn prefixes() -> impl Iterator<Item = (&'static str, &'static str)> {
    let providers = providers().iter().map(|provider| (provider.name, provider.example_model));
    providers.chain(WITHOUT_SERVER)
}

/// A model whose provider is almost right, has another name, or has a colon behind it.
fn of_provider(name: &str) -> Option<String> {
    let known = || prefixes().map(|(prefix, _)| prefix);
    let alias = |provider: &str| {
        let found = ALIASES.iter().find(|(alias, _)| provider.eq_ignore_ascii_case(alias));
        found.map(|(_, provider)| *provider)
    };
    if let Some((provider, model)) = name.split_once(':')
        && !model.is_empty()
        && let Some(provider) = known().find(|known| *known == provider).or_else(|| alias(provider))
    {
        return Some(format!("{provider}/{model}"));
    }
    let (provider, model) = name.split_once('/').filter(|(_, model)| !model.is_empty())?;
    let provider = alias(provider).or_else(|| most_similar(&provider.to_lowercase(), known()))?;
    let simulated = if provider == "sim" { simulated(model) } else { None };
    Some(format!("{provider}/{}", simulated.unwrap_or(model)))
}

/// A model without a provider whose family is mostly served by one.
fn of_family(name: &str) -> Option<String> {
    if name.contains('/') {
        return None;
    }
    let (_, provider) = FAMILIES.iter().find(|(family, _)| name.starts_with(family))?;
    Some(format!("{provider}/{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant_by_an_agent_is_said() {
        for (text, expected) in [
            ("carless", "unknown agent \"carless\": did you mean tools@sim/careless?"),
            ("perfect", "did you mean tools@sim/perfect?"),
            ("repair:sim/Carless", "unknown agent \"sim/Carless\": did you mean tools@sim/careless?"),
            ("python my_agent.py", "did you mean \"command:python my_agent.py\"?"),
            ("comand:python my_agent.py", "did you mean \"command:python my_agent.py\"?"),
            ("cmd:./agent", "did you mean \"command:./agent\"?"),
            ("Worker:./agent", "did you mean \"worker:./agent\"?"),
            ("URL:http://h/", "did you mean \"url:http://h/\"?"),
            ("react", "the agent \"react\" needs a model: write react@MODEL, as in react@openai/gpt-5-mini"),
            ("Tools", "the agent \"Tools\" needs a model: write tools@MODEL"),
            ("spec:my.spec", "needs a model: write spec:my.spec@MODEL"),
            ("openai", "\"openai\" names no model: write tools@openai/MODEL, as in tools@openai/gpt-5-mini"),
            ("Sim/", "names no model: write tools@sim/MODEL, as in tools@sim/careless"),
            ("Tools@sim/careless", "did you mean tools@sim/careless?"),
            ("React@Sim/Careless", "did you mean react@sim/careless?"),
            ("openai:gpt-5", "did you mean tools@openai/gpt-5?"),
            ("llama3.1:8b", "did you mean tools@ollama/llama3.1:8b?"),
            ("ollama/llama3", "did you mean tools@ollama/llama3?"),
            ("llama.cpp/any", "did you mean tools@llamacpp/any?"),
            ("vllm", "\"vllm\" names no model: write tools@vllm/MODEL, as in tools@vllm/Qwen/Qwen3-8B"),
            ("last", "`planproof report last` reports on it"),
            ("list", "did you mean `planproof runs list`?"),
        ] {
            assert!(AgentSpec::parse(text).is_err(), "{text}");
            let found = agent(text).unwrap_or_default();
            assert!(found.contains(expected), "{text}: {found}");
        }
        for text in ["", "foo", "nobody", "agent@sim/perfect", "Foo@sim/perfect", "Book a flight"] {
            assert_eq!(agent(text), None, "{text}");
        }
    }

    #[test]
    fn what_was_meant_by_a_model_is_said() {
        for (text, expected) in [
            ("careless", "did you mean sim/careless?"),
            ("Sim/Careless", "did you mean sim/careless?"),
            ("opnai/gpt-5-mini", "did you mean openai/gpt-5-mini?"),
            ("openai:gpt-5-mini", "did you mean openai/gpt-5-mini?"),
            ("gpt-5-mini", "did you mean openai/gpt-5-mini?"),
            ("gpt-oss:20b", "did you mean ollama/gpt-oss:20b?"),
            ("google/gemini-2.5-pro", "did you mean gemini/gemini-2.5-pro?"),
            ("gemini-2.5-pro", "did you mean gemini/gemini-2.5-pro?"),
            ("Llama.cpp/any", "did you mean llamacpp/any?"),
            ("open-router/a/b", "did you mean openrouter/a/b?"),
        ] {
            assert_eq!(model(text, "").as_deref(), Some(expected), "{text}");
        }
        for text in ["", "gpt", "foo/bar", "olama/"] {
            assert_eq!(model(text, ""), None, "{text}");
        }
    }
}
