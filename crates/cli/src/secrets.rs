//! The keys that we hold, which must not be written anywhere.

use planproof_trace::Secrets;

/// The environment variables that hold keys of model providers.
const KEY_VARIABLES: [&str; 2] = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY"];

/// The keys of the environment.
pub(crate) fn held() -> Secrets {
    held_with(None)
}

/// The keys of the environment, and one more.
pub(crate) fn held_with(other: Option<String>) -> Secrets {
    Secrets::new(KEY_VARIABLES.iter().filter_map(|name| std::env::var(name).ok()).chain(other))
}
