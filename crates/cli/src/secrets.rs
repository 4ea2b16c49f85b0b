//! The keys that we hold, which must not be written anywhere.

use std::borrow::Cow;
use std::sync::Arc;

use planproof_suite::Case;
use planproof_trace::{SECRET_BYTES_MIN, Secrets};

use crate::failure::Failure;

/// The environment variables that hold keys of model providers.
const KEY_VARIABLES: [&str; 2] = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY"];

/// The keys of the environment.
pub(crate) fn held() -> Secrets {
    Secrets::new(KEY_VARIABLES.iter().filter_map(|name| std::env::var(name).ok()))
}

/// The keys of the environment but for placeholders that stand in the cases themselves, as `benchmark` may.
///
/// # Errors
/// A case holds a key that is no plain word. What cases say is stored and shown as it is.
pub(crate) fn held_apart_from(cases: &[Arc<dyn Case>]) -> Result<Secrets, Failure> {
    let mut secrets = held();
    if secrets.is_empty() {
        return Ok(secrets);
    }
    for case in cases {
        refuse_keys(&**case)?;
        for text in texts_of(&**case) {
            secrets = secrets.apart_from([text.as_ref()]);
        }
    }
    Ok(secrets)
}

/// Refuses a case that holds a key of the environment.
///
/// # Errors
/// Names the case and the variable, not the key.
pub(crate) fn refuse_keys(case: &dyn Case) -> Result<(), Failure> {
    for variable in KEY_VARIABLES {
        let key = std::env::var(variable).unwrap_or_default();
        let key = key.trim();
        let is_word = !key.contains(|c: char| c.is_ascii_digit());
        if key.len() < SECRET_BYTES_MIN || is_word {
            continue;
        }
        if texts_of(case).iter().any(|text| text.contains(key)) {
            return Err(Failure::usage(format!(
                "case \"{}\" holds the key of {variable}: take it out, because cases are stored and shown as they are",
                case.card().id
            )));
        }
    }
    Ok(())
}

/// What an agent sees of a case. Where its tools cannot be made no agent is ever shown them.
fn texts_of(case: &dyn Case) -> Vec<Cow<'_, str>> {
    let mut texts: Vec<Cow<'_, str>> = vec![case.prompt().into()];
    let Ok(toolbox) = case.toolbox() else { return texts };
    for tool in toolbox.tools().iter() {
        texts.extend([tool.name.clone().into(), tool.description.clone().into()]);
        texts.extend(serde_json::to_string(&tool.input_schema).ok().map(Cow::from));
    }
    texts
}
