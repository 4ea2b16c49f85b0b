//! Checks the supply chain: the licences of all packages, and the actions that workflows use.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use toml::Table;

use super::Finding;
use super::repository::Repository;

/// Hexadecimal digits of a commit.
const COMMIT_DIGITS: usize = 40;

/// Checks that deny.toml allows the licences of all packages in the lock file.
///
/// # Errors
/// Cargo cannot be run, or deny.toml cannot be read.
pub(super) fn check_licences(root: &Path, repository: &Repository) -> Result<Vec<Finding>> {
    let deny: Table = repository.file("deny.toml").map_or("", |file| &file.text).parse()?;
    let allowed =
        deny.get("licenses").and_then(|licences| licences.get("allow")).and_then(toml::Value::as_array);
    let allowed: Option<Vec<&str>> = allowed.and_then(|all| all.iter().map(toml::Value::as_str).collect());
    let allowed = allowed.context("deny.toml has no list `licenses.allow`")?;
    // Under `cargo run` and `cargo test`, CARGO names the cargo that is running, so that no other version is asked.
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["metadata", "--locked", "--offline", "--format-version=1"])
        .current_dir(root)
        .output()
        .context("cargo cannot be started")?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo metadata is no JSON")?;
    let packages =
        metadata.get("packages").and_then(Value::as_array).context("cargo metadata has no packages")?;
    Ok(packages.iter().filter_map(|package| licence_fault(package, &allowed)).collect())
}

fn licence_fault(package: &Value, allowed: &[&str]) -> Option<Finding> {
    let field = |name: &str| package.get(name).and_then(Value::as_str);
    let named = format!("{} {}", field("name").unwrap_or_default(), field("version").unwrap_or_default());
    let what = match field("license").map(|expression| (expression, is_allowed(expression, allowed))) {
        Some((_, Some(true))) => return None,
        Some((expression, Some(false))) => {
            format!("{named} is under {expression}, which deny.toml does not allow")
        }
        Some((expression, None)) => format!("{named}: its licence `{expression}` is no SPDX expression"),
        None => format!("{named} names no licence"),
    };
    Some(Finding::new("Cargo.lock", 0, what))
}

/// Whether these licences satisfy an SPDX expression; `None` if it is not one. `MIT/Apache-2.0`, the form older
/// packages use, is a choice.
fn is_allowed(expression: &str, allowed: &[&str]) -> Option<bool> {
    // With blanks around every parenthesis, splitting at blanks gives the words of the expression.
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = spaced.split_whitespace().peekable();
    let met = choice(&mut words, allowed)?;
    // Words that are left after a whole expression make it invalid.
    words.next().is_none().then_some(met)
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn choice(words: &mut Words<'_>, allowed: &[&str]) -> Option<bool> {
    // As in SPDX, AND binds more closely than OR, and WITH more closely than both: one function for each level.
    let mut met = all(words, allowed)?;
    while words.next_if_eq(&"OR").is_some() {
        // Not `||`, which would leave the rest of the expression unread.
        met |= all(words, allowed)?;
    }
    Some(met)
}

fn all(words: &mut Words<'_>, allowed: &[&str]) -> Option<bool> {
    let mut met = one(words, allowed)?;
    while words.next_if_eq(&"AND").is_some() {
        met &= one(words, allowed)?;
    }
    Some(met)
}

fn one(words: &mut Words<'_>, allowed: &[&str]) -> Option<bool> {
    let word = words.next()?;
    if word == "(" {
        let met = choice(words, allowed)?;
        return words.next_if_eq(&")").map(|_| met);
    }
    if ["OR", "AND", "WITH", ")"].contains(&word) {
        return None;
    }
    // A licence with an exception is another licence, which deny.toml has to name as a whole.
    if words.next_if_eq(&"WITH").is_some() {
        return words.next().map(|exception| allowed.contains(&format!("{word} WITH {exception}").as_str()));
    }
    Some(allowed.contains(&word))
}

/// Checks that our workflows pin their actions to commits, because whoever takes over an action can move its tags.
pub(super) fn check_actions(repository: &Repository) -> Vec<Finding> {
    let is_ours = |path: &str| {
        path == "action.yml"
            || (path.starts_with(".github/") && (path.ends_with(".yml") || path.ends_with(".yaml")))
    };
    let files = repository.files.iter().filter(|file| is_ours(&file.path));
    let lines =
        files.flat_map(|file| file.text.lines().zip(1..).map(move |(line, number)| (file, line, number)));
    lines
        .filter_map(|(file, line, number)| {
            let used = line.trim_start().trim_start_matches("- ").strip_prefix("uses:")?;
            let (action, note) =
                used.split_once('#').map_or((used, ""), |(action, note)| (action, note.trim()));
            let action = action.trim().trim_matches(['"', '\'']);
            // An action in this repository is used as checked out.
            if action.starts_with("./") {
                return None;
            }
            let commit = action.rsplit_once('@').map_or("", |(_, commit)| commit);
            let is_commit =
                commit.len() == COMMIT_DIGITS && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
            // The note gives the version for people; the digits alone say nothing about it.
            (!is_commit || note.is_empty()).then(|| {
                let what = format!(
                    "`{action}` is no commit with its version behind it, as in `owner/name@COMMIT # v1.2.3`"
                );
                Finding::new(&file.path, number, what)
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ALLOWED: [&str; 3] = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"];

    #[test]
    fn expressions_are_met_by_what_is_allowed() {
        for (expression, met) in [
            ("MIT", Some(true)),
            ("GPL-3.0-only", Some(false)),
            ("MIT OR GPL-3.0-only", Some(true)),
            ("MIT AND GPL-3.0-only", Some(false)),
            ("MIT/GPL-2.0", Some(true)),
            ("GPL-2.0 OR (MIT AND Apache-2.0)", Some(true)),
            ("(MIT OR GPL-2.0) AND (GPL-2.0 OR GPL-3.0-only)", Some(false)),
            // `AND` binds closer.
            ("MIT AND GPL-2.0 OR Apache-2.0", Some(true)),
            ("Apache-2.0 WITH LLVM-exception", Some(true)),
            ("MIT WITH LLVM-exception", Some(false)),
            ("", None),
            ("MIT OR", None),
            ("(MIT", None),
            ("MIT Apache-2.0", None),
            ("AND", None),
            ("MIT WITH", None),
        ] {
            assert_eq!(is_allowed(expression, &ALLOWED), met, "{expression}");
        }
    }

    #[test]
    fn licences_that_are_not_allowed_are_caught() {
        let fault = |package: Value| licence_fault(&package, &ALLOWED).map(|finding| finding.to_string());
        let of = |licence: Value| json!({"name": "a", "version": "1.0.0", "license": licence});
        assert_eq!(fault(of("MIT".into())), None);
        assert!(
            fault(of("GPL-3.0-only".into()))
                .is_some_and(|what| what.contains("a 1.0.0 is under GPL-3.0-only"))
        );
        assert!(
            fault(of("proprietary, ask us".into())).is_some_and(|what| what.contains("no SPDX expression"))
        );
        assert!(fault(of(Value::Null)).is_some_and(|what| what.contains("names no licence")));
    }

    #[test]
    fn the_packages_of_this_repository_are_looked_at() {
        let root = crate::repository_root().expect("a repository");
        // Nothing is allowed, so every package is a finding, including ours.
        let nothing = Repository::of(&[("deny.toml", "licenses.allow = []")]);
        let findings = check_licences(root, &nothing).expect("cargo answers");
        let has = |name: &str| findings.iter().any(|finding| finding.what.starts_with(name));
        assert!(findings.len() > 200 && has("rusqlite ") && has("planproof-store "), "{}", findings.len());
    }

    #[test]
    fn actions_without_a_commit_are_caught() {
        let commit = "0123456789abcdef0123456789abcdef01234567";
        let check = |path: &str, line: &str| check_actions(&Repository::of(&[(path, line)])).len();
        let workflow = ".github/workflows/a.yml";
        for (path, line, found) in [
            (workflow, format!("      - uses: a/b@{commit} # v1.2.3"), 0),
            ("action.yml", format!("      uses: a/b/c@{commit} # v1"), 0),
            (workflow, "      - uses: ./ci/action".to_owned(), 0),
            // An example for others to copy.
            ("examples/ci/a.yml", "      - uses: a/b@v1".to_owned(), 0),
            (workflow, "      - uses: a/b@v1".to_owned(), 1),
            (workflow, format!("      - uses: a/b@{commit}"), 1),
            (workflow, format!("      - uses: a/b@{} # v1", &commit[1..]), 1),
            (workflow, "      - uses: a/b".to_owned(), 1),
            ("action.yml", "      uses: 'a/b@main' # the newest".to_owned(), 1),
        ] {
            assert_eq!(check(path, &line), found, "{path}: {line}");
        }
    }
}
