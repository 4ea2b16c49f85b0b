//! Where models are, and which key is sent there: the providers that planproof knows, those of `--providers`, and
//! servers that are named by their URL, with the keys of `--key-for`.
//!
//! Only the person at the keyboard decides this, by the command line and the environment: a case, a recording, a run
//! store or a configuration file can name a model, but cannot make a key go to another address.

use std::path::Path;
use std::sync::OnceLock;

use planproof_agents::holds_key;
use planproof_model::Provider;
use planproof_model::providers::{Providers, ProvidersError};
use planproof_output::failure::Failure;
use planproof_output::{secrets, text_files};
use planproof_trace::{names_secret, secrets_in_urls};

/// What one call of the command knows.
struct Known {
    providers: Providers,
    /// Base URLs, without a final slash, and the variables of the keys that their servers get.
    keys: Vec<(String, String)>,
}

static KNOWN: OnceLock<Known> = OnceLock::new();

/// Reads `--providers` and `--key-for`, once, before any model or key is looked for.
///
/// # Errors
/// One of them cannot be used.
pub fn set_up(providers: Option<&Path>, keys: &[String]) -> Result<(), Failure> {
    set_up_with(providers, keys, key_for)
}

/// The same for models that are asked on other machines: the variables of their keys need not be set here.
///
/// # Errors
/// As for [`set_up`].
pub fn set_up_for_others(providers: Option<&Path>, keys: &[String]) -> Result<(), Failure> {
    set_up_with(providers, keys, variable_of_url)
}

fn set_up_with(
    providers: Option<&Path>,
    keys: &[String],
    key_for: impl Fn(&str) -> Result<(String, String), Failure>,
) -> Result<(), Failure> {
    let providers = match providers {
        None => Providers::shipped().clone(),
        Some(path) => {
            let fail =
                |error: ProvidersError| Failure::usage(format!("--providers {}: {error}", path.display()));
            let text = text_files::read_text(path)?;
            secrets::hold(secrets_in_urls(&text));
            let all = Providers::shipped().with_file(&text).map_err(fail)?;
            for provider in all.iter() {
                refuse_odd_variable(provider.key_variable).map_err(|error| {
                    error.about(&format!("--providers {}, {}", path.display(), provider.name))
                })?;
            }
            all
        }
    };
    let keys = keys.iter().map(|text| key_for(text)).collect::<Result<_, _>>()?;
    // A second call cannot happen: the command runs once in a process.
    let _ = KNOWN.set(Known { providers, keys });
    secrets::set_key_variables(key_variables().map(str::to_owned));
    Ok(())
}

/// `URL=VARIABLE`, taken apart. The variable has to be set.
fn key_for(text: &str) -> Result<(String, String), Failure> {
    let (url, variable) = variable_of_url(text)?;
    if std::env::var(&variable).is_err() {
        return Err(Failure::usage(format!(
            "--key-for {url}={}: this variable is not set, or is not text, as in https://gpu.example/v1=GPU_API_KEY",
            shown_variable(&variable)
        )));
    }
    Ok((url, variable))
}

/// The same, on a machine that may lack the variable.
fn variable_of_url(text: &str) -> Result<(String, String), Failure> {
    // The text is not repeated: it may hold a key where a variable belongs.
    let fail =
        |what: &str| Failure::usage(format!("--key-for: {what}, as in https://gpu.example/v1=GPU_API_KEY"));
    let Some((url, variable)) = text.rsplit_once('=') else {
        return Err(fail("write URL=VARIABLE"));
    };
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(fail("the URL begins with http:// or https://"));
    }
    refuse_odd_variable(variable).map_err(|error| error.about("--key-for"))?;
    Ok((url.trim_end_matches('/').to_owned(), variable.to_owned()))
}

/// Only a variable whose name says that it holds a key is kept from programs under test and out of reports.
fn refuse_odd_variable(variable: &str) -> Result<(), Failure> {
    if names_secret(variable) && holds_key(variable.as_ref()) {
        return Ok(());
    }
    let variable = shown_variable(variable);
    Err(Failure::usage(format!(
        "the name of the variable {variable} does not say that it holds a key: end it with _API_KEY or _TOKEN, so that \
         programs under test do not get it"
    )))
}

/// The name of a variable for a message, unless it does not look like one: some users write the key itself instead.
fn shown_variable(variable: &str) -> &str {
    const NAME_BYTES_MAX: usize = 64;
    let is_of_name = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let has_digits = variable.bytes().filter(u8::is_ascii_digit).count() > 4;
    let is_name = variable.len() <= NAME_BYTES_MAX && variable.bytes().all(is_of_name) && !has_digits;
    if is_name { variable } else { "[not shown: it may be the key itself]" }
}

fn known() -> &'static Known {
    // Tests, and what is printed before the command line is read, have those of planproof.
    KNOWN.get_or_init(|| Known { providers: Providers::shipped().clone(), keys: Vec::new() })
}

/// The providers by name.
pub(crate) fn providers() -> &'static Providers {
    &known().providers
}

/// The variables of the environment that may hold the key of a model.
fn key_variables() -> impl Iterator<Item = &'static str> {
    let Known { providers, keys } = known();
    providers.iter().map(|provider| provider.key_variable).chain(keys.iter().map(|(_, name)| name.as_str()))
}

/// Whether `--key-for` names this variable.
pub fn is_named_key(variable: &str) -> bool {
    known().keys.iter().any(|(_, name)| name == variable)
}

/// The provider and the name of a model behind a server; `None` if its provider is not known.
///
/// # Errors
/// A server that is named by its URL has a name that cannot be used.
pub fn find(name: &str) -> Result<Option<(&'static Provider, &str)>, Failure> {
    let key_variable = |base_url: &str| {
        let found = known().keys.iter().find(|(url, _)| url == base_url.trim_end_matches('/'));
        found.map(|(_, variable)| variable.clone())
    };
    if let Some(found) = providers().at_url(name, key_variable) {
        return found.map(Some).map_err(|error| Failure::usage(format!("model {name}: {error}")));
    }
    let found = name.split_once('/').and_then(|(provider, model)| Some((providers().find(provider)?, model)));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_keys_have_names_that_say_so() {
        for provider in Providers::shipped().iter() {
            assert!(refuse_odd_variable(provider.key_variable).is_ok(), "{}", provider.key_variable);
        }
        for variable in ["PATH", "GPU_NAME", "HOME", ""] {
            assert!(refuse_odd_variable(variable).is_err(), "{variable}");
        }
        for text in [
            "",
            "GPU_API_KEY",
            "gpu=GPU_API_KEY",
            "http://h/v1=PATH",
            "http://h/v1=PLANPROOF_TEST_UNSET_API_KEY",
        ] {
            assert!(key_for(text).is_err(), "{text}");
        }
        for text in
            ["http://h/v1=sk-SECRET-KEY", "sk-SECRET-KEY", "h=sk-SECRET-KEY", "http://h/v1=SECRETKEY12345"]
        {
            let error = format!("{:?}", key_for(text).expect_err(text));
            assert!(!error.contains("SECRET"), "{error}");
        }
    }
}
