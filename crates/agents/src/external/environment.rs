//! The environment of a program under test: ours without proxies, and without keys if we serve a model to it. A model
//! can talk the program into reading its environment.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use planproof_isolation::MachineIsolation;
use planproof_trace::{SECRET_BYTES_MIN, names_secret, secrets_in_urls};
use secrecy::{ExposeSecret, SecretString};
use tokio::process::Command;

use super::ModelAccess;

/// The variables that list the hosts to reach without a proxy.
const LOCAL: &str = "127.0.0.1,localhost";

/// Variables that the clients of the served protocols read, and that are set for a program to which a model is served:
/// its address, its key, its name.
pub const SERVED_VARIABLES: [[&str; 3]; 3] = [
    ["OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL"],
    ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_MODEL"],
    ["GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY", "GEMINI_MODEL"],
];

/// Variables that lead to keys, in capitals, besides those whose [names](names_secret) say that they hold one.
const LEADING_TO_KEYS: [(Name, &str); 11] = [
    (
        Name::Prefix("OPENAI_"),
        "the provider's keys, and addresses where they hold; those that we serve are set anew",
    ),
    (Name::Prefix("ANTHROPIC_"), "the same"),
    (Name::Prefix("CLAUDE_CODE_USE_"), "no keys, but they lead past the model that we serve, to a cloud's"),
    (Name::Prefix("GOOGLE_GENAI_"), "the same"),
    (Name::Whole("GOOGLE_VERTEX_BASE_URL"), "the same"),
    (Name::Prefix("AZURE_"), "a provider's and a cloud's keys"),
    (Name::Prefix("AWS_"), "a cloud's keys, and files and addresses that lead to them"),
    (Name::Prefix("PLANPROOF_TOKEN_"), "tokens of tool servers, which planproof itself uses"),
    (Name::Prefix("PLANPROOF_SERVE_"), "the key of `planproof serve-model`"),
    (Name::Prefix("ACTIONS_"), "with these a step of GitHub's gets tokens of the job's"),
    (Name::Prefix("CI_JOB_"), "GitLab's token of the job, and addresses with it in them"),
];

/// Variables that name the files by which a step of GitHub's gives orders to its runner: what is written there takes
/// effect in all later steps of the job, with its keys.
const ORDERS_TO_RUNNER: [&str; 5] =
    ["GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY"];

/// What of a name is compared.
enum Name {
    Whole(&'static str),
    Prefix(&'static str),
}

/// The user's settings for the surroundings of a program.
#[derive(Debug, Clone, Default)]
pub struct ProgramSetting {
    /// Variables of our environment that the program gets even though a model is served to it and they look as if
    /// they held keys.
    pub passed: Vec<String>,
    /// Further variables, by name; of the same name the last one counts. They override our environment.
    pub variables: Vec<(String, SecretString)>,
    /// The absolute path of its working directory; ours if `None`.
    pub folder: Option<PathBuf>,
    /// The names by which it reaches this machine, if it runs in a container; the loopback address if there are none.
    /// The first one is used in the URLs that it gets.
    pub hosts: Vec<String>,
    /// The launcher that starts and confines it; it is started directly if there is none.
    pub isolation: MachineIsolation,
}

/// Gives a program our environment without proxies, which would swallow the calls to the loopback URL of its tools.
/// If a model is served to it, the program gets its key and its name, and only those of our variables with keys that
/// are explicitly passed.
pub(super) fn dress(command: &mut Command, model: Option<ModelAccess<'_>>, setting: &ProgramSetting) {
    for (name, _) in env::vars_os() {
        if is_proxy_variable(&name) {
            command.env_remove(name);
        }
    }
    // Clients differ in which spelling they read.
    command.env("NO_PROXY", LOCAL).env("no_proxy", LOCAL);
    for name in ORDERS_TO_RUNNER.iter().filter(|name| !setting.passed.iter().any(|passed| passed == *name)) {
        command.env_remove(name);
    }
    if model.is_some() {
        for name in withheld(&setting.passed) {
            command.env_remove(name);
        }
    }
    for (name, value) in &setting.variables {
        command.env(name, value.expose_secret());
    }
    if let Some(folder) = &setting.folder {
        command.current_dir(folder);
    }
    let Some(model) = model else { return };
    // Set last, because the server of this campaign accepts no other key.
    for [_, key, name] in SERVED_VARIABLES {
        command.env(key, model.api_key.expose_secret()).env(name, model.name);
    }
}

/// Sets the URL of the served model: with its version for OpenAI's clients, and without for the others, which add it
/// themselves.
pub(super) fn lead_to(command: &mut Command, base_url: &str) {
    let root = base_url.strip_suffix("/v1").unwrap_or(base_url);
    for ([variable, ..], url) in SERVED_VARIABLES.into_iter().zip([base_url, root, root]) {
        command.env(variable, url);
    }
}

fn is_proxy_variable(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.to_ascii_uppercase().ends_with("_PROXY"))
}

/// The variables of our environment that hold a key, the value of one under another name, or a URL with one, except
/// those that are to be `passed`.
fn withheld(passed: &[String]) -> Vec<OsString> {
    withheld_of(env::vars_os().collect(), passed)
}

fn withheld_of(variables: Vec<(OsString, OsString)>, passed: &[String]) -> Vec<OsString> {
    let keys: Vec<OsString> = variables
        .iter()
        // Variables that hold no key may have the same short value.
        .filter(|(name, value)| holds_key(name) && value.len() >= SECRET_BYTES_MIN)
        .map(|(_, value)| value.clone())
        .collect();
    let is_withheld = |name: &OsStr, value: &OsString| {
        holds_key(name) || keys.contains(value) || !secrets_in_urls(&value.to_string_lossy()).is_empty()
    };
    let is_passed = |name: &OsStr| passed.iter().any(|passed| name == OsStr::new(passed));
    let withheld = variables.into_iter().filter(|(name, value)| is_withheld(name, value) && !is_passed(name));
    withheld.map(|(name, _)| name).collect()
}

/// Whether the name of a variable shows that it holds a key, or leads to one.
pub fn holds_key(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let capital = name.to_ascii_uppercase();
    let leads_to_key = LEADING_TO_KEYS.iter().any(|(pattern, _)| match pattern {
        Name::Whole(whole) => capital == *whole,
        Name::Prefix(prefix) => capital.starts_with(prefix),
    });
    leads_to_key || names_secret(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn withheld(variables: &[(&str, &str)], passed: &[&str]) -> Vec<String> {
        let variables = variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let passed: Vec<String> = passed.iter().map(|name| (*name).to_owned()).collect();
        let withheld = withheld_of(variables.collect(), &passed).into_iter();
        withheld.map(|name| name.into_string().expect("it was text")).collect()
    }

    #[test]
    fn variables_with_keys_are_withheld() {
        let kept = [
            "PATH",
            "HOME",
            "TOKENIZERS_PARALLELISM",
            "MY_KEYBOARD",
            "SECRETARY",
            "PYTHONPATH",
            "KEY_BINDINGS",
            "PWD",
            "OLDPWD",
            "SSH_AUTH_SOCK",
            "XAUTHORITY",
            "MAX_TOKENS",
        ];
        assert_eq!(withheld(&kept.map(|name| (name, "/usr/bin:/bin")), &[]), [""; 0]);
        for name in [
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_BASE_URL",
            "GOOGLE_GENAI_USE_VERTEXAI",
            "GITHUB_TOKEN",
            "AWS_SESSION_TOKEN",
            "mistral_api_key",
            "DB_PASSWORD",
            "PASSWD",
            "BEARER",
            "AUTHORIZATION",
            "SSH_KEY",
            "SIGNING_KEY",
            "KEYS",
            "SECRETS",
            "SMTP_PASS",
            "GH_PAT",
        ] {
            assert_eq!(withheld(&[(name, "k-1234567")], &[]), [name]);
            assert_eq!(withheld(&[(name, "k-1234567")], &[name]), [""; 0]);
        }
    }

    #[test]
    fn a_key_under_another_name_is_withheld() {
        let variables = [("OPENAI_API_KEY", "sk-12345678"), ("MY_MODEL", "sk-12345678"), ("PATH", "/bin")];
        assert_eq!(withheld(&variables, &[]), ["OPENAI_API_KEY", "MY_MODEL"]);
        let variables =
            [("DATABASE_URL", "postgres://u:0123456789@h/d"), ("HOME_URL", "http://h/?page=0123456789")];
        assert_eq!(withheld(&variables, &[]), ["DATABASE_URL"]);
        // A short value is not a key, and has other meanings elsewhere.
        assert_eq!(withheld(&[("X_TOKEN", "1"), ("DEBUG", "1")], &[]), ["X_TOKEN"]);
    }
}
