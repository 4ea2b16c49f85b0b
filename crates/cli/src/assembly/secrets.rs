//! The keys that we hold, which must not be written anywhere.

use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};

use planproof_suite::Case;
use planproof_trace::{SECRET_BYTES_MIN, Secrets};

use crate::assembly::providers;
use crate::config::{holds_secret, is_name_of_secret};
use crate::failure::Failure;
use crate::terminal::inline;

/// Keys that files of the user's named.
static NAMED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The keys of all providers in the environment, the values of variables whose names suggest a key, and those that were
/// [registered](hold) since.
pub(crate) fn held() -> Secrets {
    Secrets::new(values())
}

/// A text of the user's without keys, as it is kept.
pub(crate) fn without(text: &str) -> String {
    held().redact(text).into_owned()
}

fn values() -> impl Iterator<Item = String> {
    // A panic elsewhere must not make the keys unknown to what is still written.
    let named = NAMED.lock().unwrap_or_else(PoisonError::into_inner).clone();
    of_environment(std::env::vars_os()).chain(named)
}

/// All of them except plain words, such as `benchmark`, that occur in these texts: those are placeholders.
pub(crate) fn held_but_words_of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Secrets {
    let (words, keys): (Vec<String>, Vec<String>) = values().partition(|value| is_word(value));
    Secrets::new(words).apart_from(texts).and(keys)
}

/// Whether a key may be a placeholder that occurs in a text by chance.
fn is_word(key: &str) -> bool {
    !key.contains(|c: char| c.is_ascii_digit())
}

/// The values of variables that hold the key of a provider, or whose names suggest a secret. Paths and addresses with
/// such names are no secrets, except an address with a password.
fn of_environment(variables: impl Iterator<Item = (OsString, OsString)>) -> impl Iterator<Item = String> {
    let key_variables: Vec<&str> = providers::key_variables().collect();
    variables.filter_map(move |(name, value)| {
        let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
        let is_path = value.starts_with(['/', '~', '.']) || value.get(1..3) == Some(":\\");
        let leads_elsewhere = is_path || value.contains("://");
        // The key of a provider is one whatever it looks like.
        let is_key = key_variables.contains(&name.as_str());
        let is_secret = is_key || (is_name_of_secret(&name) && !leads_elsewhere) || holds_secret(&value);
        is_secret.then_some(value)
    })
}

/// Registers the values of these variables of the environment as secrets, whatever their names.
///
/// # Errors
/// One is not set, or its value is too short to be searched for.
pub(crate) fn hold_variables(names: &[String]) -> Result<(), Failure> {
    for name in names {
        let value = std::env::var(name).map_err(|_| {
            Failure::usage(format!("--secret {name}: this variable is not set, or is not text"))
        })?;
        if value.trim().len() < SECRET_BYTES_MIN {
            return Err(Failure::usage(format!(
                "--secret {name}: its value has fewer than {SECRET_BYTES_MIN} bytes, which occur in texts by \
                 chance, so it would not be kept out"
            )));
        }
        hold([value]);
    }
    Ok(())
}

/// Registers the passwords of URLs among the words of a command line, which errors, reports and stores would show.
pub(crate) fn hold_passwords(words: &[OsString]) {
    hold(words.iter().flat_map(|word| passwords_in(&word.to_string_lossy())));
}

/// `USER:PASSWORD` and the password of each URL in a text.
fn passwords_in(text: &str) -> Vec<String> {
    let users = text.match_indices("://").filter_map(|(place, mark)| {
        let rest = &text[place + mark.len()..];
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        authority.rsplit_once('@').map(|(user, _)| user)
    });
    let both = users.filter_map(|user| Some([user, user.split_once(':')?.1]));
    both.flatten().map(str::to_owned).collect()
}

/// Registers more keys, which must not be written from now on.
pub(crate) fn hold(keys: impl IntoIterator<Item = String>) {
    NAMED.lock().unwrap_or_else(PoisonError::into_inner).extend(keys);
}

/// The keys of the environment except placeholders that occur in the cases themselves, such as `benchmark`.
///
/// # Errors
/// A case contains a key that is not a plain word. The texts of cases are stored and shown unchanged.
pub(crate) fn held_apart_from(cases: &[Arc<dyn Case>]) -> Result<Secrets, Failure> {
    let (words, keys): (Vec<String>, Vec<String>) = values().partition(|value| is_word(value));
    let (mut words, keys) = (Secrets::new(words), Secrets::new(keys));
    for case in cases {
        let text = text_of(&**case);
        refuse_keys_in(&keys, &text, &case.card().id)?;
        words = words.apart_from([text.as_str()]);
    }
    Ok(words.and(keys.into_texts()))
}

/// Refuses a case that contains a key that we hold.
///
/// # Errors
/// Names the case and the variable, not the key.
pub(crate) fn refuse_keys(case: &dyn Case) -> Result<(), Failure> {
    refuse_keys_in(&held_but_words(), &text_of(case), &case.card().id)
}

fn refuse_keys_in(keys: &Secrets, text: &str, id: &str) -> Result<(), Failure> {
    let Some(whose) = whose_key_in(keys, text) else { return Ok(()) };
    Err(Failure::usage(format!(
        "case \"{}\" holds {whose}: take it out, because cases are stored and shown as they are",
        inline(id)
    )))
}

/// Whose key a text holds, if it holds one of these: names the variable, not the key.
pub(crate) fn whose_key_in(keys: &Secrets, text: &str) -> Option<String> {
    let key = keys.first_in(text)?;
    // Those of files, and long ones, which are searched for in pieces, have no variable. A password in a URL may be one
    // of a variable.
    let is_it = |value: &String| value.trim().len() >= SECRET_BYTES_MIN && key.contains(value.trim());
    let name = std::env::vars_os().find_map(|(name, value)| {
        value.into_string().ok().filter(is_it).and_then(|_| name.into_string().ok())
    });
    Some(name.map_or_else(|| "one of your keys".to_owned(), |name| format!("the key of {name}")))
}

/// The keys that we hold except plain words, which may be placeholders.
pub(crate) fn held_but_words() -> Secrets {
    Secrets::new(values().filter(|value| !is_word(value)))
}

/// All stored texts of a case, which include everything the agent sees. (Keys have no character that JSON escapes.)
fn text_of(case: &dyn Case) -> String {
    case.words()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_hold_secrets() {
        let held = |name: &str, value: &str| {
            of_environment([(OsString::from(name), OsString::from(value))].into_iter()).next().is_some()
        };
        for (name, value) in [
            ("GITHUB_TOKEN", "ghp_0123456789"),
            ("DB_PASSWORD", "correct horse"),
            ("DATABASE_URL", "postgres://user:word@localhost/db"),
            ("ANTHROPIC_API_KEY", "benchmark"),
            ("HF_TOKEN", "hf_0123456789"),
            ("GROQ_API_KEY", "/gsk_012345"),
        ] {
            assert!(held(name, value), "{name}");
        }
        for (name, value) in [
            ("PATH", "/usr/bin"),
            ("SSH_KEY", "/etc/ssh/id_ed25519"),
            ("SIGNING_KEY", "C:\\keys\\a.pem"),
            ("TOKEN", "https://tokens.example/"),
            ("AWS_REGION", "us-east-1"),
        ] {
            assert!(!held(name, value), "{name}");
        }
    }
}
