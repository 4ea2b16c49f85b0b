//! The keys that we hold, which must not be written anywhere.

use std::sync::{Arc, Mutex, PoisonError};

use planproof_suite::Case;
use planproof_trace::{SECRET_BYTES_MIN, Secrets};

use crate::failure::Failure;

/// The environment variables that hold keys of model providers.
const KEY_VARIABLES: [&str; 2] = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY"];

/// Keys that files of the user's named.
static NAMED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The keys of the environment, and those that were [named](hold) since.
pub(crate) fn held() -> Secrets {
    let named = NAMED.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Secrets::new(KEY_VARIABLES.iter().filter_map(|name| std::env::var(name).ok()).chain(named))
}

/// Holds further keys, of which nothing may be written from now on.
pub(crate) fn hold(keys: impl IntoIterator<Item = String>) {
    NAMED.lock().unwrap_or_else(PoisonError::into_inner).extend(keys);
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
        let text = text_of(&**case);
        refuse_keys_in(&text, &case.card().id)?;
        secrets = secrets.apart_from([text.as_str()]);
    }
    Ok(secrets)
}

/// Refuses a case that holds a key of the environment.
///
/// # Errors
/// Names the case and the variable, not the key.
pub(crate) fn refuse_keys(case: &dyn Case) -> Result<(), Failure> {
    refuse_keys_in(&text_of(case), &case.card().id)
}

fn refuse_keys_in(text: &str, id: &str) -> Result<(), Failure> {
    for variable in KEY_VARIABLES {
        let key = std::env::var(variable).unwrap_or_default();
        let key = key.trim();
        let is_word = !key.contains(|c: char| c.is_ascii_digit());
        if key.len() < SECRET_BYTES_MIN || is_word {
            continue;
        }
        if text.contains(key) {
            return Err(Failure::usage(format!(
                "case \"{id}\" holds the key of {variable}: take it out, because cases are stored and shown as they are"
            )));
        }
    }
    Ok(())
}

/// All that is stored of a case, in which what its agent sees is. (Keys have no character that JSON escapes.)
fn text_of(case: &dyn Case) -> String {
    case.to_line()
}
