//! The keys that we hold, which must not be written anywhere.

mod texts;

use std::ffi::OsString;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use planproof_model::providers::Providers;
use planproof_suite::Case;
use planproof_trace::{SECRET_BYTES_MIN, Secrets, names_secret, secrets_in_settings, secrets_in_urls};

pub use texts::{holds_secret, may_hold_secret};

use crate::digest::sha256;
use crate::failure::Failure;
use crate::terminal::inline;

/// Keys that files of the user's named.
static NAMED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The variables that the user named as those of secrets.
static VARIABLES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The variables that hold keys of models; `None` are those of the providers that planproof knows.
static KEY_VARIABLES: Mutex<Option<Vec<String>>> = Mutex::new(None);

/// Hexadecimal digits of the name of a session that has a key in it.
const SESSION_DIGITS: usize = 16;

/// How often what is held has changed.
static CHANGES: AtomicUsize = AtomicUsize::new(0);

/// What is held after so many changes. Nothing here changes the environment itself.
static KNOWN: Mutex<Option<Known>> = Mutex::new(None);

#[derive(Clone)]
struct Known {
    changes: usize,
    held: Secrets,
    held_but_words: Secrets,
    printed: Secrets,
}

/// The keys of all providers in the environment, the values of variables whose names suggest a key, and those that were
/// [registered](hold) since.
pub fn held() -> Secrets {
    known().held
}

/// Those of them that no output has: all except [plain words](is_plain_word), which could be words of the output.
pub fn printed() -> Secrets {
    known().printed
}

/// What is held now. Takes as long as [`Secrets::new`] after a change, and next to nothing otherwise.
fn known() -> Known {
    // Before the values: a change in between is noticed the next time.
    let changes = changes();
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = known.as_ref().filter(|known| known.changes == changes) {
        return known.clone();
    }
    let held: Vec<String> = values().collect();
    // Most environments have no key.
    if held.is_empty() {
        let none = Secrets::none;
        let new = Known { changes, held: none(), held_but_words: none(), printed: none() };
        return known.insert(new).clone();
    }
    // A text may also have one line of a key that has several.
    let lines: Vec<String> =
        held.iter().filter(|value| value.trim().contains('\n')).flat_map(|value| lines_of(value)).collect();
    let printed = held.iter().filter(|value| !is_plain_word(value)).cloned().chain(lines);
    let new = Known {
        changes,
        printed: Secrets::new(printed),
        held_but_words: Secrets::new(held.iter().filter(|value| !is_word(value)).cloned()),
        held: Secrets::new(held),
    };
    known.insert(new).clone()
}

/// How often what is held has changed: what was searched for before has to be taken anew after a change.
pub(crate) fn changes() -> usize {
    CHANGES.load(Ordering::Acquire)
}

/// Says that other values are keys from now on.
fn have_changed() {
    CHANGES.fetch_add(1, Ordering::Release);
}

/// Registers the variables of the environment that hold the keys of models, whatever their values look like. Until it
/// is called these are the variables of the providers that planproof knows.
pub fn set_key_variables(names: impl IntoIterator<Item = String>) {
    *KEY_VARIABLES.lock().unwrap_or_else(PoisonError::into_inner) = Some(names.into_iter().collect());
    have_changed();
}

/// Whether a variable holds the key of a model.
fn is_key_variable(name: &str) -> bool {
    let registered = KEY_VARIABLES.lock().unwrap_or_else(PoisonError::into_inner);
    match registered.as_ref() {
        Some(names) => names.iter().any(|known| known == name),
        None => Providers::shipped().iter().any(|provider| provider.key_variable == name),
    }
}

/// The lines of a key that has several, such as a private key, except short ones and its headings.
fn lines_of(key: &str) -> impl Iterator<Item = String> {
    let lines = key.lines().map(str::trim);
    lines.filter(|line| line.len() >= LINE_BYTES_MIN && !line.starts_with("-----")).map(str::to_owned)
}

/// Shorter lines of a key are not searched for alone.
const LINE_BYTES_MIN: usize = 16;

/// Whether a key looks like a word, such as `placeholder` or `NOT_NEEDED`: letters without accents, all of one case
/// behind the first, with `-` and `_` between them. Outputs have such words of their own, and a program that reads
/// them would not find them.
fn is_plain_word(key: &str) -> bool {
    let key = key.trim();
    let letters = || key.chars().filter(char::is_ascii_alphabetic);
    key.chars().all(|c| c.is_ascii_alphabetic() || c == '-' || c == '_')
        && (letters().skip(1).all(|c| c.is_ascii_lowercase()) || letters().all(|c| c.is_ascii_uppercase()))
}

/// The variables of the environment that hold keys, with each key in them: the whole value of a variable has its name,
/// and a part of it, such as the password in a URL, also a number. In an order that does not depend on who started the
/// process.
pub fn named() -> Vec<(String, String)> {
    let asked = VARIABLES.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let variables = std::env::vars_os();
    let mut variables: Vec<(String, String)> = variables
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    variables.sort();
    let named = variables.into_iter().flat_map(|(name, value)| {
        let parts = match asked.contains(&name) {
            true => vec![value.clone()],
            false => of_variable(&name, &value),
        };
        let parts = parts.into_iter().enumerate();
        let parts = parts.map(|(place, part)| match part == value {
            true => (name.clone(), part),
            false => (format!("{name}/{}", place + 1), part),
        });
        parts.collect::<Vec<_>>()
    });
    named.collect()
}

/// The name of a session as it is kept: itself or, if it has a key in it, one that is made from it.
pub fn session_kept(name: &str) -> String {
    if held().places_in(name).is_empty() {
        return name.to_owned();
    }
    format!("key-{}", sha256(name.as_bytes()).chars().take(SESSION_DIGITS).collect::<String>())
}

/// A text of the user's without keys, as it is kept.
pub fn without(text: &str) -> String {
    held().redact(text).into_owned()
}

fn values() -> impl Iterator<Item = String> {
    // A panic elsewhere must not make the keys unknown to what is still written.
    let named = NAMED.lock().unwrap_or_else(PoisonError::into_inner).clone();
    of_environment(std::env::vars_os()).chain(named)
}

/// All of them except plain words, such as `benchmark`, that occur in these texts: those are placeholders.
pub fn held_but_words_of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Secrets {
    let (words, keys): (Vec<String>, Vec<String>) = values().partition(|value| is_word(value));
    Secrets::new(words).apart_from(texts).and(keys)
}

/// Whether a key may be a placeholder that occurs in a text by chance.
fn is_word(key: &str) -> bool {
    !key.contains(|c: char| c.is_ascii_digit())
}

/// The secrets in these variables.
fn of_environment(variables: impl Iterator<Item = (OsString, OsString)>) -> impl Iterator<Item = String> {
    variables
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .flat_map(|(name, value)| of_variable(&name, &value))
}

/// The secrets in the value of a variable, wherever it is set: the whole value, if the variable holds the key of a
/// provider, or has a name that suggests a secret; and the passwords and keys in URLs and settings in it. Paths and
/// addresses in variables with such names are no secrets, except addresses that let in whoever knows them.
pub fn of_variable(name: &str, value: &str) -> Vec<String> {
    let capital = name.to_ascii_uppercase();
    let is_address = value.contains("://") && !ADDRESSES.iter().any(|word| capital.contains(word));
    // The key of a provider is one whatever it looks like.
    let is_key = is_key_variable(name);
    let is_word = WORDS.iter().any(|word| value.eq_ignore_ascii_case(word));
    let is_named = names_secret(name) && !is_path(value) && !is_address && !is_word;
    let is_secret = is_key || is_named || holds_secret(value);
    let parts = secrets_in_urls(value).into_iter().chain(secrets_in_settings(value));
    // Shorter values would be found by chance in any text.
    let whole = (is_secret && value.len() >= SECRET_BYTES_MIN).then(|| value.to_owned());
    parts.chain(whole).collect()
}

/// Settings of variables that are about secrets, as in `PROXY_AUTH=required`: to replace them would garble texts.
const WORDS: [&str; 10] = [
    "required",
    "optional",
    "disabled",
    "negotiate",
    "kerberos",
    "undefined",
    "anonymous",
    "external",
    "password",
    "username",
];

/// Words of variables whose addresses are secrets themselves.
const ADDRESSES: [&str; 2] = ["WEBHOOK", "DSN"];

/// Whether a value is a path, and not a key that begins like one: keys mix all kinds of characters.
fn is_path(value: &str) -> bool {
    let begins_like_one = ["/", "~", "./", "../"].iter().any(|start| value.starts_with(start))
        || value.get(1..3) == Some(":\\");
    let is_mixed = [char::is_uppercase, char::is_lowercase, |c: char| c.is_ascii_digit()]
        .iter()
        .all(|is_kind: &fn(char) -> bool| value.contains(*is_kind));
    let has_dot = value.contains('.');
    begins_like_one && (!is_mixed || has_dot || std::path::Path::new(value).exists())
}

/// Registers the values of these variables of the environment as secrets, whatever their names.
///
/// # Errors
/// One is not set, or its value is too short to be searched for.
pub fn hold_variables(names: &[String]) -> Result<(), Failure> {
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
        VARIABLES.lock().unwrap_or_else(PoisonError::into_inner).push(name.clone());
    }
    Ok(())
}

/// Registers the passwords and keys of URLs among the words of a command line, which errors, reports and stores would
/// show.
pub fn hold_passwords(words: &[OsString]) {
    hold(words.iter().flat_map(|word| secrets_in_urls(&word.to_string_lossy())));
}

/// Registers more keys, which must not be written from now on.
pub fn hold(keys: impl IntoIterator<Item = String>) {
    let keys: Vec<String> = keys.into_iter().collect();
    if !keys.is_empty() {
        NAMED.lock().unwrap_or_else(PoisonError::into_inner).extend(keys);
        have_changed();
    }
}

/// The keys of the environment except placeholders that occur in the cases themselves, such as `benchmark`.
///
/// # Errors
/// A case contains a key that is not a plain word. The texts of cases are stored and shown unchanged.
pub fn held_apart_from(cases: &[Arc<dyn Case>]) -> Result<Secrets, Failure> {
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
pub fn refuse_keys(case: &dyn Case) -> Result<(), Failure> {
    refuse_keys_in(&held_but_words(), &text_of(case), &case.card().id)
}

fn refuse_keys_in(keys: &Secrets, text: &str, id: &str) -> Result<(), Failure> {
    let Some(whose) = whose_key_in(keys, text) else { return Ok(()) };
    Err(Failure::usage(format!(
        "case \"{}\" holds {whose}: take it out, because cases are stored and shown as they are",
        inline(id)
    )))
}

/// Refuses a text that is written and would be another one without a key in it; `what` names it.
///
/// # Errors
/// It contains a key that we hold. Names the variable, not the key.
pub fn refuse_keys_in_text(what: &str, text: &str) -> Result<(), Failure> {
    let Some(whose) = whose_key_in(&printed(), text) else { return Ok(()) };
    Err(Failure::usage(format!("{what} would hold {whose}, which is not written anywhere: take it out")))
}

/// Whose key a text holds, if it holds one of these: names the variable, not the key.
pub fn whose_key_in(keys: &Secrets, text: &str) -> Option<String> {
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
pub fn held_but_words() -> Secrets {
    known().held_but_words
}

/// All stored texts of a case, which include everything the agent sees. (Keys have no character that JSON escapes.)
fn text_of(case: &dyn Case) -> String {
    case.words()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_outputs_may_have_of_their_own() {
        for (key, is_word) in [
            ("placeholder", true),
            ("not-needed", true),
            ("NO_KEY_NEEDED", true),
            ("Anything", true),
            ("sk-abcdefg1", false),
            ("correct horse", false),
            ("sKabCdEfGh", false),
            ("naïve-key", false),
            ("a.b.c.d.e", false),
        ] {
            assert_eq!(is_plain_word(key), is_word, "{key}");
        }
    }

    #[test]
    fn a_key_of_several_lines_is_searched_for_line_by_line() {
        let key =
            "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG\nshort\n  AAAABBBBCCCC1234\n-----END-----\n";
        assert_eq!(lines_of(key).collect::<Vec<_>>(), ["MIIEvQIBADANBgkqhkiG", "AAAABBBBCCCC1234"]);
    }

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
            ("AWS_SECRET_ACCESS_KEY", "/wJalrXUtnFEMI7K7MDENG"),
            ("SMTP_PASS", ".hidden-pass"),
            ("SLACK_WEBHOOK_URL", "https://hooks.example/services/T0/B0/x"),
            ("STORAGE", "AccountName=n;AccountKey=0123456789"),
            ("FEED", "https://h/x?api_key=0123456789"),
        ] {
            assert!(held(name, value), "{name}");
        }
        for (name, value) in [
            ("PATH", "/usr/bin"),
            ("SSH_KEY", "/etc/ssh/id_ed25519"),
            ("SIGNING_KEY", "C:\\keys\\a.pem"),
            ("TOKEN", "https://tokens.example/"),
            ("AWS_REGION", "us-east-1"),
            ("PWD", "somewhere"),
            ("PROXY_AUTH", "Required"),
            ("MAX_TOKENS", "1000000000"),
        ] {
            assert!(!held(name, value), "{name}");
        }
    }
}
