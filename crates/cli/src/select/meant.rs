//! What a user probably meant with a text that names no agent or no model.

use planproof_agents::{
    AgentSpec, CommandAgent, GUARD_PREFIX, is_interpreter, model_with_provider, most_similar,
};
use planproof_sim::{ECHO_NAME, PlantedFault, SimKind};

use super::near;

/// The providers of models, each with a model as an example.
const PROVIDERS: [(&str, &str); 3] =
    [("openai", "gpt-5-mini"), ("anthropic", "claude-sonnet-4-5"), ("sim", "careless")];

/// What the names of models begin with.
const MODEL_PREFIXES: [&str; 4] = ["sim", "openai", "anthropic", "replay"];

const OLLAMA_URL: &str = "http://localhost:11434/v1";

const GEMINI_URL: &str = "https://generativelanguage.googleapis.com/v1beta/openai";

/// Services that speak OpenAI's protocol, as other programs name them, with their base URLs.
const SERVICES: [(&str, &str); 9] = [
    ("ollama", OLLAMA_URL),
    ("vllm", "http://localhost:8000/v1"),
    ("google", GEMINI_URL),
    ("gemini", GEMINI_URL),
    ("mistral", "https://api.mistral.ai/v1"),
    ("groq", "https://api.groq.com/openai/v1"),
    ("deepseek", "https://api.deepseek.com/v1"),
    ("openrouter", "https://openrouter.ai/api/v1"),
    ("xai", "https://api.x.ai/v1"),
];

/// Beginnings of the names of models that speak OpenAI's protocol at servers of others, with the usual base URL.
const FAMILIES: [(&str, &str); 8] = [
    ("llama", OLLAMA_URL),
    ("codellama", OLLAMA_URL),
    ("qwen", OLLAMA_URL),
    ("gemma", OLLAMA_URL),
    ("mistral:", OLLAMA_URL),
    ("deepseek-r1:", OLLAMA_URL),
    ("gpt-oss", OLLAMA_URL),
    ("gemini-", GEMINI_URL),
];

/// Words behind `runs` that are easily typed behind another command.
pub(crate) const RUNS_COMMANDS: [&str; 6] = ["list", "show", "export", "verify", "label", "delete"];

/// The name of any model, to ask whether a kind is one.
const ANY_MODEL: &str = "sim/perfect";

/// What to say of this text, which names no agent, if it is known what was meant.
pub(super) fn agent(text: &str) -> Option<String> {
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
    if let Some((provider, example)) = PROVIDERS.iter().find(|(known, _)| *known == provider) {
        return Some(format!(
            "\"{bare}\" names no model: write tools@{provider}/MODEL, as in tools@{provider}/{example}"
        ));
    }
    if let Some(meant) = with_right_prefix(bare).or_else(|| in_lower_case(bare)).or_else(|| as_command(bare))
    {
        return Some(format!("unknown agent \"{bare}\": did you mean {meant}?"));
    }
    // With an `@` in it, it is the kind that is wrong.
    let meant = if bare.contains('@') { None } else { model(bare, "tools@") };
    meant.map(|meant| format!("unknown agent \"{bare}\": {meant}"))
}

/// What to say of this text, which names no model, if it is known what was meant; `before` is what the model's name
/// has to stand behind.
pub(super) fn model(name: &str, before: &str) -> Option<String> {
    // First, because open models may be called like those of a provider: `gpt-oss` would be taken for one of OpenAI's.
    if let Some((model, url)) = of_service(name) {
        return Some(format!("write {before}openai/{model}, and set OPENAI_BASE_URL={url}"));
    }
    let meant = of_provider(name)
        .or_else(|| simulated(name).map(|name| format!("sim/{name}")))
        .or_else(|| model_with_provider(name))?;
    Some(format!("did you mean {before}{meant}?"))
}

/// The name of a model as it is written behind an `@`, from a name that may lack its provider. A provider that is not
/// known is that of a server which speaks OpenAI's protocol.
pub(crate) fn with_provider(name: &str) -> String {
    if name.contains('/') {
        return name.to_owned();
    }
    let simulated = simulated_names().into_iter().find(|known| *known == name);
    simulated
        .map(|name| format!("sim/{name}"))
        .or_else(|| model_with_provider(name))
        .unwrap_or_else(|| format!("openai/{name}"))
}

/// The names of simulated models, without `sim/`.
pub(super) fn simulated_names() -> Vec<&'static str> {
    let planted = PlantedFault::ALL.into_iter().map(PlantedFault::as_str);
    let echo = ECHO_NAME.strip_prefix("sim/");
    let kinds = SimKind::ALL.into_iter().chain(SimKind::OF_SERVERS).map(SimKind::as_str);
    kinds.chain(echo).chain(planted).collect()
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
pub(crate) fn as_command(text: &str) -> Option<String> {
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

/// A model whose provider is almost right, or has a colon behind it.
fn of_provider(name: &str) -> Option<String> {
    if let Some((provider, model)) = name.split_once(':')
        && MODEL_PREFIXES.contains(&provider)
    {
        return Some(format!("{provider}/{model}"));
    }
    let (provider, model) = name.split_once('/')?;
    let provider = most_similar(&provider.to_lowercase(), MODEL_PREFIXES)?;
    let simulated = if provider == "sim" { simulated(model) } else { None };
    Some(format!("{provider}/{}", simulated.unwrap_or(model)))
}

/// A model of a service that speaks OpenAI's protocol, with the base URL of the service.
fn of_service(name: &str) -> Option<(&str, &'static str)> {
    if let Some((service, model)) = name.split_once('/') {
        let (_, url) = SERVICES.iter().find(|(known, _)| service.eq_ignore_ascii_case(known))?;
        return (!model.is_empty()).then_some((model, *url));
    }
    let (_, url) = FAMILIES.iter().find(|(family, _)| name.starts_with(family))?;
    Some((name, *url))
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
            (
                "llama3.1:8b",
                "write tools@openai/llama3.1:8b, and set OPENAI_BASE_URL=http://localhost:11434/v1",
            ),
            ("ollama/llama3", "write tools@openai/llama3, and set OPENAI_BASE_URL=http://localhost:11434/v1"),
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
            ("ollama/llama3", "write openai/llama3, and set OPENAI_BASE_URL=http://localhost:11434/v1"),
            ("gpt-oss:20b", "write openai/gpt-oss:20b, and set OPENAI_BASE_URL=http://localhost:11434/v1"),
            (
                "google/gemini-2.5-pro",
                "write openai/gemini-2.5-pro, and set \
                 OPENAI_BASE_URL=https://generativelanguage.googleapis.com/v1beta/openai",
            ),
        ] {
            assert_eq!(model(text, "").as_deref(), Some(expected), "{text}");
        }
        for text in ["", "gpt", "foo/bar", "ollama/"] {
            assert_eq!(model(text, ""), None, "{text}");
        }
    }
}
