//! A file of variables for a program, other settings of its environment, and the form of requests to a service.

use std::path::Path;

use planproof_agents::{BodyName, FormError, ProgramSetting, ServiceForm};
use planproof_campaign::ProgramOptions;
use planproof_isolation::MachineIsolation;
use planproof_output::failure::Failure;
use planproof_output::{secrets, text_files};

use secrecy::{ExposeSecret, SecretString};

/// Most names of `--allow-host`.
const HOSTS_MAX: usize = 8;

/// The setting of a program. The keys in its file are registered as secrets, so that they are never written.
///
/// # Errors
/// The file cannot be read or is invalid, or the directory does not exist.
pub(crate) fn program_setting(options: &ProgramOptions) -> Result<ProgramSetting, Failure> {
    let ProgramOptions { env, env_file, cwd, allow_hosts, .. } = options;
    if let Some(folder) = cwd.as_deref().filter(|folder| !folder.is_dir()) {
        return Err(Failure::usage(format!("--cwd {}: there is no such folder", folder.display())));
    }
    let variables = held_variables(env_file.as_deref())?;
    let folder = cwd
        .as_deref()
        .map(planproof_campaign::absolute)
        .transpose()
        .map_err(|error| Failure::usage(error.to_string()))?;
    let hosts = hosts(allow_hosts)?;
    Ok(ProgramSetting {
        passed: env.clone(),
        variables,
        folder,
        hosts,
        // It depends on the file of the program, which is looked for with this setting.
        isolation: MachineIsolation::default(),
    })
}

/// The form of requests to a service. Values of variables in its headers are registered as secrets, so that they are
/// never written.
///
/// # Errors
/// A header, the file of variables or of the body, or the pointer to the answer is invalid.
pub(crate) fn service_form(options: &ProgramOptions) -> Result<ServiceForm, Failure> {
    let ProgramOptions { env_file, allow_hosts, headers, body, answer, .. } = options;
    let variables = held_variables(env_file.as_deref())?;
    let variable = |name: &str| {
        // If a name occurs twice, its last line counts.
        let in_file = variables.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let value = in_file.or_else(|| std::env::var(name).ok().map(SecretString::from))?;
        secrets::hold([value.expose_secret().to_owned()]);
        Some(value)
    };
    let wrong = |option: &str, error: FormError| Failure::usage(format!("{option}: {error}"));
    let form = ServiceForm::default().reached_by(hosts(allow_hosts)?);
    let mut form = form.with_headers(headers, &variable).map_err(|error| wrong("--header", error))?;
    form = match body.as_deref().map(BodyName::parse) {
        None => form,
        Some(BodyName::Chat(model)) => form.chat(model),
        Some(BodyName::Responses(model)) => form.responses(model),
        Some(BodyName::File(path)) => {
            let text = text_files::read_text(Path::new(path))?;
            form.template(&text).map_err(|error| wrong(&format!("--body {path}"), error))?
        }
    };
    match answer {
        None => Ok(form),
        Some(place) => form.answer_at(place).map_err(|error| wrong("--answer", error)),
    }
}

/// The names by which an agent reaches this machine.
fn hosts(names: &[String]) -> Result<Vec<String>, Failure> {
    if names.len() > HOSTS_MAX {
        return Err(Failure::usage(format!(
            "--allow-host: {} names; at most {HOSTS_MAX} are taken",
            names.len()
        )));
    }
    Ok(names.to_owned())
}

/// The variables of the file; its keys are registered as secrets.
fn held_variables(file: Option<&Path>) -> Result<Vec<(String, SecretString)>, Failure> {
    let variables = file.map(read).transpose()?.unwrap_or_default();
    secrets::hold(variables.iter().flat_map(|(name, value)| secrets::of_variable(name, value)));
    Ok(variables.into_iter().map(|(name, value)| (name, SecretString::from(value))).collect())
}

fn read(file: &Path) -> Result<Vec<(String, String)>, Failure> {
    let text = text_files::read_text(file)?;
    variables(&text)
        .map_err(|(line, what)| Failure::usage(format!("--env-file {}, line {line}: {what}", file.display())))
}

/// The variables of a file: lines of `NAME=VALUE`, optionally with `export` before them. Blank lines and those that
/// begin with `#` are ignored. Quotes around a whole value are removed; nothing in it is substituted.
///
/// # Errors
/// The number of an invalid line, from 1, and its fault. The value is not repeated.
fn variables(text: &str) -> Result<Vec<(String, String)>, (usize, &'static str)> {
    let mut all = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, value) = line.split_once('=').ok_or((number, "write NAME=VALUE"))?;
        let name = name.trim();
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if name.is_empty() || !name.bytes().all(is_word) || name.starts_with(|c: char| c.is_ascii_digit()) {
            return Err((
                number,
                "a name has letters, digits and underscores, and does not begin with a digit",
            ));
        }
        let value = value.trim();
        // The system would refuse it as well, but only when a run starts, and without the line.
        if value.contains('\0') {
            return Err((number, "a value cannot hold a zero byte"));
        }
        all.push((name.to_owned(), unquoted(value).ok_or((number, "a quote is not closed"))?.to_owned()));
    }
    Ok(all)
}

/// A value without the quotes around it; `None` if the opening quote is not closed at its end.
fn unquoted(value: &str) -> Option<&str> {
    match value.chars().next() {
        // Each quote is one byte, so the slice begins at a character.
        Some(quote @ ('"' | '\'')) => value[1..].strip_suffix(quote),
        _ => Some(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_read() {
        let text = "# keys\nA=1\n\n export B_2 = \"two words\" \r\nC='x=y'\nD=\nE=#no comment\n";
        let read = variables(text).unwrap();
        let read: Vec<_> = read.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let expected = [("A", "1"), ("B_2", "two words"), ("C", "x=y"), ("D", ""), ("E", "#no comment")];
        assert_eq!(read, expected);
    }

    #[test]
    fn what_is_no_variable_is_said_without_its_value() {
        for (text, line) in
            [("A=1\nsecret", 2), ("=x", 1), ("1A=x", 1), ("A B=x", 1), ("A='x", 1), ("A=\0", 1)]
        {
            let (found, what) = variables(text).unwrap_err();
            assert!(found == line && !what.contains("secret"), "{text}: {what}");
        }
    }
}
