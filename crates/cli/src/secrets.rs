//! The keys that we hold, which must not be written anywhere.

use planproof_synth::Case;
use planproof_trace::Secrets;

/// The environment variables that hold keys of model providers.
const KEY_VARIABLES: [&str; 2] = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY"];

/// The keys of the environment.
pub(crate) fn held() -> Secrets {
    Secrets::new(KEY_VARIABLES.iter().filter_map(|name| std::env::var(name).ok()))
}

/// The keys of the environment but for placeholders that stand in the cases themselves, as `benchmark` may.
pub(crate) fn held_apart_from(cases: &[Case]) -> Secrets {
    let mut secrets = held();
    if secrets.is_empty() {
        return secrets;
    }
    for case in cases {
        secrets = secrets.apart_from([case.query.as_str()]);
        for tool in &case.tools {
            let schema = tool.input_schema.as_deref().and_then(|schema| serde_json::to_string(schema).ok());
            let texts = [tool.name.as_str(), &tool.description, schema.as_deref().unwrap_or_default()];
            secrets = secrets.apart_from(texts);
        }
    }
    secrets
}
