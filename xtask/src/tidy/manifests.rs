//! Which crate depends on which.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use toml::{Table, Value};

use super::repository::Repository;
use super::{Finding, strings, table};

/// A crate's manifest.
pub(super) struct Manifest {
    pub(super) path: String,
    /// The package's name.
    pub(super) package: String,
    /// The packages that the crate or its build script needs, with the line that names them. Test dependencies are
    /// left out.
    pub(super) dependencies: Vec<(String, usize)>,
    /// Whether the crate inherits the workspace's lints.
    has_workspace_lints: bool,
    /// Whether cargo looks for examples in the crate's doc comments.
    has_doctests: bool,
}

/// The manifests, keyed by crate directory.
///
/// # Errors
/// A manifest is not TOML or has no package name; cargo would reject it too.
pub(super) fn read(repository: &Repository) -> Result<BTreeMap<String, Manifest>> {
    let root: Table = repository.file("Cargo.toml").map_or("", |file| &file.text).parse()?;
    let shared =
        root.get("workspace").and_then(|workspace| workspace.get("dependencies")).and_then(Value::as_table);
    let mut manifests = BTreeMap::new();
    for name in repository.crates() {
        let path = format!("crates/{name}/Cargo.toml");
        let text = repository.file(&path).map_or("", |file| &file.text);
        let document: Table = text.parse().with_context(|| path.clone())?;
        let package = document.get("package").and_then(|package| package.get("name")).and_then(Value::as_str);
        let package = package.with_context(|| format!("{path} has no package.name"))?.to_owned();
        let has_workspace_lints =
            document.get("lints").and_then(|lints| lints.get("workspace")).and_then(Value::as_bool)
                == Some(true);

        let library = document.get("lib");
        let has_doctests =
            library.and_then(|library| library.get("doctest")).and_then(Value::as_bool) != Some(false);

        let targets = document.get("target").and_then(Value::as_table);
        // Dependencies may also be listed for some targets only, in tables of their own.
        let scopes =
            targets.into_iter().flat_map(Table::values).filter_map(Value::as_table).chain([&document]);
        let mut dependencies = Vec::new();
        for (key, value) in scopes.flat_map(|scope| {
            let lists =
                ["dependencies", "build-dependencies"].map(|key| scope.get(key).and_then(Value::as_table));
            lists.into_iter().flatten().flatten()
        }) {
            // The key is only the name in our code. The package is named here or in the workspace, if it has another
            // name.
            let renamed = |value: &Value| value.get("package").and_then(Value::as_str).map(str::to_owned);
            let shared = shared.and_then(|shared| shared.get(key));
            let package = renamed(value).or_else(|| shared.and_then(renamed)).unwrap_or_else(|| key.clone());
            // The parsed table has no positions, so the line is a good guess: the first one that begins with the key.
            let line = text.lines().position(|line| line.trim_start().starts_with(key.as_str()));
            dependencies.push((package, line.map_or(0, |index| index + 1)));
        }
        manifests.insert(
            name.to_owned(),
            Manifest { path, package, dependencies, has_workspace_lints, has_doctests },
        );
    }
    Ok(manifests)
}

/// Where the doc comments of a crate begin their first example of Rust.
fn example_in<'r>(repository: &'r Repository, name: &str) -> Option<(&'r str, usize)> {
    let folder = format!("crates/{name}/src/");
    let fence = |line: &'r str| {
        let line = line.trim_start();
        let doc = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))?;
        doc.trim_start().strip_prefix("```")
    };
    let files = repository.files.iter();
    let mut files = files.filter(|file| file.path.starts_with(&folder) && file.has_extension(&["rs"]));
    files.find_map(|file| {
        let fences = file.text.lines().enumerate().filter_map(|(index, line)| Some((index, fence(line)?)));
        // Every other one ends a block.
        let (index, _) = fences.step_by(2).find(|(_, word)| *word != "text")?;
        Some((file.path.as_str(), index + 1))
    })
}

/// Checks the manifests against the table of crate edges.
///
/// # Errors
/// A manifest or the table cannot be read.
pub(super) fn check(repository: &Repository, edges: &Table) -> Result<Vec<Finding>> {
    let manifests = read(repository)?;
    let may_depend_on = table(edges, "may_depend_on")?;
    let names: BTreeMap<&str, &str> =
        manifests.iter().map(|(name, manifest)| (manifest.package.as_str(), name.as_str())).collect();

    let mut findings = Vec::new();
    let mut reached: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, manifest) in &manifests {
        if !manifest.has_workspace_lints {
            findings.push(Finding::new(&manifest.path, 0, "add `[lints] workspace = true`"));
        }
        match (manifest.has_doctests, example_in(repository, name)) {
            (true, None) => {
                let what = "add `[lib] doctest = false`: it has no example, and cargo would read it again to find one";
                findings.push(Finding::new(&manifest.path, 0, what));
            }
            (false, Some((path, line))) => {
                let what = format!("with `doctest = false` in {}, this example is not run", manifest.path);
                findings.push(Finding::new(path, line, what));
            }
            _ => {}
        }
        if !may_depend_on.contains_key(name) {
            let what =
                format!("`{name}` has no row in xtask/data/edges.toml; say there what it may depend on");
            findings.push(Finding::new(&manifest.path, 0, what));
            continue;
        }
        let allowed = strings(may_depend_on, name)?;
        for (package, line) in &manifest.dependencies {
            let Some(target) = names.get(package.as_str()) else { continue };
            // Forbidden edges count as well, so that what is reached through them is also found.
            reached.entry(name).or_default().insert(target);
            if !allowed.contains(target) {
                let what = format!("`{name}` must not depend on `{target}` (xtask/data/edges.toml)");
                findings.push(Finding::new(&manifest.path, *line, what));
            }
        }
    }
    let never_reaches = table(edges, "never_reaches")?;
    for from in never_reaches.keys() {
        let all = closure(&reached, from);
        for target in strings(never_reaches, from)?.into_iter().filter(|target| all.contains(target)) {
            let what =
                format!("`{from}` reaches `{target}`, if only through other crates (xtask/data/edges.toml)");
            findings.push(Finding::new(&format!("crates/{from}/Cargo.toml"), 0, what));
        }
    }
    Ok(findings)
}

/// Everything reachable from `from`.
fn closure<'a>(reached: &BTreeMap<&'a str, BTreeSet<&'a str>>, from: &str) -> BTreeSet<&'a str> {
    let mut all = BTreeSet::new();
    let mut open: Vec<&str> = reached.get(from).into_iter().flatten().copied().collect();
    while let Some(next) = open.pop() {
        if all.insert(next) {
            open.extend(reached.get(next).into_iter().flatten());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const EDGES: &str = "[may_depend_on]\na = []\nb = ['a']\nc = ['b']\n[never_reaches]\nc = ['a']";

    #[track_caller]
    fn check_manifests(manifests: &[(&str, &str)], expected: &[&str]) {
        let mut files =
            vec![("Cargo.toml".to_owned(), "[workspace.dependencies]\nalias = { package = 'p-b' }".into())];
        for (name, rest) in manifests {
            let text =
                format!("package.name = 'p-{name}'\nlints.workspace = true\nlib.doctest = false\n{rest}");
            files.push((format!("crates/{name}/Cargo.toml"), text));
        }
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text): &(String, String)| (&**path, &**text)).collect();
        let edges = EDGES.parse().expect("TOML");
        let findings = check(&Repository::of(&files), &edges).expect("whole tables");
        let lines: Vec<String> = findings.iter().map(Finding::to_string).collect();
        assert_eq!(lines.len(), expected.len(), "{lines:?}");
        for (line, part) in lines.iter().zip(expected) {
            assert!(line.contains(part), "{line}");
        }
    }

    #[test]
    fn edges_of_the_table_pass() {
        check_manifests(&[("a", ""), ("b", "dependencies.p-a.workspace = true")], &[]);
        check_manifests(&[("a", "dev-dependencies.p-b.workspace = true"), ("b", "")], &[]);
    }

    #[test]
    fn other_edges_are_caught() {
        check_manifests(
            &[("a", "[dependencies]\np-b.workspace = true"), ("b", "")],
            &["crates/a/Cargo.toml:5: `a` must not"],
        );
        for way in [
            "build-dependencies.p-b = '1'",
            "[target.'cfg(unix)'.dependencies]\np-b = '1'",
            "dependencies.x = { package = 'p-b' }",
            "dependencies.alias.workspace = true",
        ] {
            check_manifests(&[("a", way), ("b", "")], &["`a` must not depend on `b`"]);
        }
    }

    #[test]
    fn a_detour_is_caught() {
        check_manifests(
            &[("a", ""), ("b", "dependencies.p-a = '1'"), ("c", "dependencies.p-b = '1'")],
            &["`c` reaches `a`"],
        );
    }

    #[test]
    fn a_crate_without_a_row_or_lints_is_caught() {
        check_manifests(&[("z", "")], &["`z` has no row"]);
        let edges = EDGES.parse().expect("TOML");
        let repository =
            Repository::of(&[("crates/a/Cargo.toml", "package.name = 'p-a'\nlib.doctest = false")]);
        assert_eq!(check(&repository, &edges).expect("whole tables").len(), 1);
    }

    #[test]
    fn examples_are_looked_for_exactly_where_there_are_some() {
        let edges = EDGES.parse().expect("TOML");
        let text = "/// Adds.\n///\n/// ```\n/// assert_eq!(a::one(), 1);\n/// ```\npub fn one() {}\n";
        for (lib, source, expected) in [
            ("", text, None),
            ("lib.doctest = false", "pub fn one() {}\n", None),
            ("", "pub fn one() {}\n", Some("add `[lib] doctest = false`")),
            ("lib.doctest = false", text, Some("crates/a/src/one.rs:3: with `doctest = false`")),
        ] {
            let manifest = format!("package.name = 'p-a'\nlints.workspace = true\n{lib}\n");
            let repository =
                Repository::of(&[("crates/a/Cargo.toml", &manifest), ("crates/a/src/one.rs", source)]);
            let findings = check(&repository, &edges).expect("whole tables");
            let lines: Vec<String> = findings.iter().map(Finding::to_string).collect();
            assert_eq!(lines.len(), usize::from(expected.is_some()), "{lines:?}");
            assert!(expected.is_none_or(|part| lines[0].contains(part)), "{lines:?}");
        }
    }
}
