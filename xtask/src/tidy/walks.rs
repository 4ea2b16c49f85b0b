//! Circles of imports inside a crate: files each of which leads to every other, so that none can be read alone.
//!
//! An import leads to the file where the thing is defined, and not to a module that only passes it on. A module and a
//! file are the same here; inline tests are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::{Context as _, Result};
use toml::Table;

use super::Finding;
use super::repository::Repository;
use super::rust::{code_only, named_paths};

/// A module, as the path of its names from the root of its crate.
type Module = Vec<String>;

/// Most steps from a name to its definition: a longer chain would be a circle of re-exports.
const STEPS_MAX: usize = 16;

/// A name that a module imports or passes on.
struct Import {
    /// The path after `use`, in parts.
    path: Vec<String>,
    /// Its name here.
    name: String,
    /// Others can use it from here.
    is_passed_on: bool,
}

/// The files of a crate with what they import.
pub(crate) struct Walks {
    /// The path of each file in the repository.
    files: BTreeMap<Module, String>,
    /// The modules that each module leads to.
    leads_to: BTreeMap<Module, BTreeSet<Module>>,
}

/// Checks the sources of all crates against the largest circle that `limits` allows.
///
/// # Errors
/// The limits are malformed.
pub(super) fn check(repository: &Repository, limits: &Table) -> Result<Vec<Finding>> {
    let limit = limits.get("limit").and_then(toml::Value::as_integer).context("`limit` is not a number")?;
    let limit = usize::try_from(limit).context("`limit` is negative")?;
    let mut findings = Vec::new();
    for (name, walks) in crates(repository) {
        let found = walks.circles().first().map_or(0, Vec::len);
        if found > limit {
            let what = format!(
                "{found} files import each other in a circle, which may have {limit}: `cargo run -p xtask -- walks` shows it"
            );
            findings.push(Finding::new(&format!("crates/{name}/src"), 0, what));
        }
    }
    Ok(findings)
}

/// What `walks` prints: for each crate its circles, and for each start the files that a reader of it comes to.
pub(crate) fn table(repository: &Repository, starts: &[&str]) -> String {
    let mut out = String::new();
    let all = crates(repository);
    for (name, walks) in &all {
        let circles = walks.circles();
        let sizes: Vec<String> = circles.iter().map(|circle| circle.len().to_string()).collect();
        let _ = writeln!(out, "{name:<12} {:>4} files  circles {}", walks.files.len(), sizes.join(" "));
    }
    for start in starts {
        for walks in all.values() {
            let Some((module, _)) = walks.files.iter().find(|(_, file)| file == start) else { continue };
            let (rooms, returns) = walks.walk(module);
            let _ = writeln!(out, "{start}: {rooms} files, {returns} ways back");
            // The circles that a reader of it gets into.
            for circle in walks.circles().iter().filter(|circle| circle.contains(module)) {
                for from in circle {
                    let inside = walks.leads_to.get(from).into_iter().flatten();
                    for to in inside.filter(|to| circle.contains(to)) {
                        let _ = writeln!(out, "  {} -> {}", walks.files[from], walks.files[to]);
                    }
                }
            }
        }
    }
    out
}

/// All crates, by name.
fn crates(repository: &Repository) -> BTreeMap<String, Walks> {
    let mut sources: BTreeMap<String, Vec<(&str, &str, &str)>> = BTreeMap::new();
    for file in repository.files.iter().filter(|file| file.has_extension(&["rs"])) {
        let inside = file.path.strip_prefix("crates/").and_then(|path| path.split_once("/src/"));
        if let Some((name, rest)) = inside {
            sources.entry(name.to_owned()).or_default().push((&file.path, rest, &file.text));
        }
    }
    sources.into_iter().map(|(name, files)| (name, Walks::new(&files))).collect()
}

impl Walks {
    /// The files of one crate: each with its path in the repository, that in `src`, and its text.
    fn new(sources: &[(&str, &str, &str)]) -> Self {
        let (mut files, mut code) = (BTreeMap::new(), BTreeMap::new());
        for (path, rest, text) in sources {
            let Some(module) = module_of(rest) else { continue };
            files.insert(module.clone(), (*path).to_owned());
            code.insert(module, without_tests(&code_only(text)));
        }
        let imports: BTreeMap<&Module, Vec<Import>> =
            code.iter().map(|(module, code)| (module, imports(code))).collect();
        let mut leads_to: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
        for (module, code) in &code {
            let here = Here { module, files: &files, imports: &imports };
            let imported = imports[module].iter().filter(|it| !it.is_passed_on);
            let imported = imported.filter_map(|import| here.definition(&import.path));
            // Every other path of two parts or more, with the names that are imported here taken into account.
            let body = without_imports(code);
            let paths: Vec<Vec<String>> = named_paths(&body)
                .into_iter()
                .filter(|path| path.parts.len() > 1)
                .map(|path| path.parts.iter().map(|part| part.trim_end_matches('!').to_owned()).collect())
                .collect();
            let named = paths.iter().filter_map(|path| here.definition(path));
            let targets = imported.chain(named).filter(|target| target != module).collect();
            leads_to.insert(module.clone(), targets);
        }
        Self { files, leads_to }
    }

    /// The circles, the largest first: modules each of which leads to every other.
    fn circles(&self) -> Vec<Vec<Module>> {
        let reached: BTreeMap<&Module, BTreeSet<&Module>> =
            self.files.keys().map(|module| (module, self.reached(module))).collect();
        let mut left: BTreeSet<&Module> = self.files.keys().collect();
        let mut circles = Vec::new();
        while let Some(first) = left.pop_first() {
            let mut circle = vec![first.clone()];
            for other in left.clone() {
                if reached[first].contains(other) && reached[other].contains(first) {
                    left.remove(other);
                    circle.push(other.clone());
                }
            }
            if circle.len() > 1 {
                circles.push(circle);
            }
        }
        circles.sort_by_key(|circle: &Vec<Module>| std::cmp::Reverse(circle.len()));
        circles
    }

    /// All modules that this one leads to, over others as well.
    fn reached(&self, from: &Module) -> BTreeSet<&Module> {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(module) = open.pop() {
            for next in self.leads_to.get(module).into_iter().flatten() {
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        seen
    }

    /// How many files a reader comes to who begins at one and follows all imports, and how many of these imports lead
    /// back to a file that he is still reading.
    fn walk(&self, from: &Module) -> (usize, usize) {
        let (mut seen, mut returns) = (BTreeSet::from([from]), 0);
        // Each module on the way, with those that it still leads to.
        let mut way: Vec<(&Module, Vec<&Module>)> = vec![(from, self.next(from))];
        while let Some((_, next)) = way.last_mut() {
            let Some(to) = next.pop() else {
                way.pop();
                continue;
            };
            if seen.insert(to) {
                way.push((to, self.next(to)));
            } else if way.iter().any(|(module, _)| *module == to) {
                returns += 1;
            }
        }
        (seen.len(), returns)
    }

    fn next(&self, module: &Module) -> Vec<&Module> {
        self.leads_to.get(module).into_iter().flatten().collect()
    }
}

/// Where a path is read, and what is known of the crate.
struct Here<'a> {
    module: &'a Module,
    files: &'a BTreeMap<Module, String>,
    imports: &'a BTreeMap<&'a Module, Vec<Import>>,
}

impl Here<'_> {
    /// The module of the crate that defines what a path names; `None` if that is of another crate.
    fn definition(&self, path: &[String]) -> Option<Module> {
        let (mut at, mut rest) = self.start(path)?;
        for _ in 0..STEPS_MAX {
            while let Some(child) = rest.first().map(|name| with(&at, name)) {
                if !self.files.contains_key(&child) {
                    break;
                }
                at = child;
                rest.remove(0);
            }
            // What a module only imports is defined elsewhere.
            let import = rest.first().and_then(|name| self.import(&at, name));
            let Some(import) = import else { return Some(at) };
            let there = Here { module: &at, ..*self };
            let (next, mut parts) = there.start(&import.path)?;
            parts.extend(rest.drain(1..));
            (at, rest) = (next, parts);
        }
        Some(at)
    }

    /// The module that a path starts in, and the rest of the path.
    fn start(&self, path: &[String]) -> Option<(Module, Vec<String>)> {
        let first = path.first()?;
        let rest = path[1..].to_vec();
        match first.as_str() {
            "crate" => Some((Module::new(), rest)),
            "self" => Some((self.module.clone(), rest)),
            "super" => {
                let up = path.iter().take_while(|part| *part == "super").count();
                let depth = self.module.len().checked_sub(up)?;
                Some((self.module[..depth].to_vec(), path[up..].to_vec()))
            }
            name => {
                let child = with(self.module, name);
                if self.files.contains_key(&child) {
                    return Some((child, rest));
                }
                // A name that is imported here. One that imports itself, as `use a::a` in a module `a`, ends there.
                let import =
                    self.import(self.module, name).filter(|import| import.path.first() != Some(first))?;
                let (module, mut parts) = self.start(&import.path)?;
                parts.extend(rest);
                Some((module, parts))
            }
        }
    }

    fn import(&self, module: &Module, name: &str) -> Option<&Import> {
        self.imports.get(module)?.iter().find(|import| import.name == name)
    }
}

fn with(module: &[String], name: &str) -> Module {
    module.iter().cloned().chain([name.to_owned()]).collect()
}

/// The module of a file in `src`; `None` for programs and tests.
fn module_of(rest: &str) -> Option<Module> {
    let path = rest.strip_suffix(".rs")?;
    let mut parts: Module = path.split('/').map(str::to_owned).collect();
    if parts.first().is_some_and(|first| first == "bin") || parts == ["main"] {
        return None;
    }
    if parts.iter().any(|part| part == "tests") {
        return None;
    }
    if parts.last().is_some_and(|last| last == "mod") || parts == ["lib"] {
        parts.pop();
    }
    Some(parts)
}

/// The code before inline tests, which stand at the end of a file.
fn without_tests(code: &str) -> String {
    let tests = code.match_indices("#[cfg(test)]").find(|(at, mark)| {
        let rest = code[at + mark.len()..].trim_start();
        rest.starts_with("mod tests {")
    });
    tests.map_or(code, |(at, _)| &code[..at]).to_owned()
}

/// Each `use` of the code as the place where it begins and ends.
fn uses(code: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    for line in code.split_inclusive('\n') {
        let text = line.trim_start();
        let after_pub = text.strip_prefix("pub").map_or(text, |rest| match rest.strip_prefix('(') {
            Some(rest) => rest.split_once(')').map_or(rest, |(_, rest)| rest),
            None => rest,
        });
        if after_pub.trim_start().starts_with("use ") {
            let end = code[at..].find(';').map_or(code.len(), |end| at + end);
            found.push((at, end));
        }
        at += line.len();
    }
    found
}

fn imports(code: &str) -> Vec<Import> {
    let mut imports = Vec::new();
    for (start, end) in uses(code) {
        let text = &code[start..end];
        let is_passed_on = text.trim_start().starts_with("pub");
        let Some((_, tree)) = text.split_once("use ") else { continue };
        for path in expanded(tree) {
            let (path, alias) = match path.split_once(" as ") {
                Some((path, alias)) => (path.trim().to_owned(), Some(alias.trim().to_owned())),
                None => (path, None),
            };
            let mut parts: Vec<String> = path.split("::").map(|part| part.trim().to_owned()).collect();
            if parts.len() > 1 && parts.last().is_some_and(|last| last == "self") {
                parts.pop();
            }
            let name = alias.or_else(|| parts.last().cloned()).unwrap_or_default();
            imports.push(Import { path: parts, name, is_passed_on });
        }
    }
    imports
}

/// A tree of `use` as its paths, each perhaps with ` as NAME`.
fn expanded(tree: &str) -> Vec<String> {
    let Some(open) = tree.find('{') else { return vec![tree.trim().to_owned()] };
    let (prefix, inside) = (tree[..open].trim(), tree[open + 1..].trim_end().trim_end_matches('}'));
    let (mut members, mut depth, mut member) = (Vec::new(), 0usize, String::new());
    for character in inside.chars() {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                members.push(std::mem::take(&mut member));
                continue;
            }
            _ => {}
        }
        member.push(character);
    }
    members.push(member);
    // The last brace of a member that is a tree itself was cut off with that of the whole.
    let members = members.into_iter().map(|member| {
        let missing = member.matches('{').count().saturating_sub(member.matches('}').count());
        member.trim().to_owned() + &"}".repeat(missing)
    });
    let members = members.filter(|member| !member.is_empty());
    members.flat_map(|member| expanded(&member)).map(|member| format!("{prefix}{member}")).collect()
}

/// The code without its imports, whose lines stay.
fn without_imports(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    let mut at = 0;
    for (start, end) in uses(code) {
        out.push_str(&code[at..start.max(at)]);
        at = end.max(at);
    }
    out + &code[at..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let repository = Repository::of(files);
        let all = crates(&repository);
        let of_one = |walks: &Walks| {
            let circles = walks.circles().into_iter();
            let names = |circle: Vec<Module>| circle.iter().map(|module| module.join("::")).collect();
            circles.map(names).collect::<Vec<Vec<String>>>()
        };
        all.values().flat_map(of_one).collect()
    }

    #[test]
    fn files_that_import_each_other_are_a_circle() {
        let files = [
            ("crates/a/src/lib.rs", "mod b;\nmod c;\nmod d;\npub use b::B;\n"),
            ("crates/a/src/b.rs", "use crate::c::{self, C};\npub struct B;\n"),
            ("crates/a/src/c.rs", "fn f(it: super::d::D) {}\npub struct C;\n"),
            ("crates/a/src/d.rs", "use crate::{\n    B,\n    c::C as Other,\n};\npub struct D;\n"),
        ];
        // `d` gets `B` from the root, but has to read `b` for it.
        assert_eq!(circles(&files), [["b", "c", "d"]]);
    }

    #[test]
    fn what_is_passed_on_or_only_tested_leads_nowhere() {
        let files = [
            ("crates/a/src/lib.rs", "mod b;\npub mod c;\npub use c::C;\n"),
            ("crates/a/src/b.rs", "use super::C;\n#[cfg(test)]\nmod tests {\n    use crate::c::f;\n}\n"),
            (
                "crates/a/src/c.rs",
                "pub struct C;\n// crate::b::B\n#[cfg(test)]\nmod tests {\n    use crate::b::B;\n}\n",
            ),
            // Of another crate.
            ("crates/b/src/lib.rs", "use planproof_a::C;\n"),
        ];
        assert!(circles(&files).is_empty());
    }

    #[test]
    fn a_name_that_a_parent_imports_is_that_of_its_definition() {
        let files = [
            ("crates/a/src/lib.rs", "mod b;\n"),
            ("crates/a/src/b.rs", "mod c;\nmod d;\nuse c::Shared;\npub fn f() { d::g(); }\n"),
            ("crates/a/src/b/c.rs", "pub struct Shared;\n"),
            ("crates/a/src/b/d.rs", "use super::Shared;\npub fn g() {}\n"),
        ];
        assert!(circles(&files).is_empty());
    }

    #[test]
    fn a_circle_above_the_limit_is_a_finding() {
        let files = [
            ("crates/a/src/lib.rs", "mod b;\nmod c;\n"),
            ("crates/a/src/b.rs", "use crate::c::C;\npub struct B;\n"),
            ("crates/a/src/c.rs", "use crate::b::B;\npub struct C;\n"),
        ];
        let found = |limits: &str| -> Vec<String> {
            let limits: Table = limits.parse().expect("limits");
            let findings = check(&Repository::of(&files), &limits).expect("limits");
            findings.iter().map(Finding::to_string).collect()
        };
        assert_eq!(found("limit = 2\n"), [""; 0]);
        assert!(found("limit = 1\n")[0].contains("2 files import each other in a circle"));
    }

    #[test]
    fn trees_are_taken_apart() {
        assert_eq!(
            expanded("crate::a::{self, b::{C, D as E}, F}"),
            ["crate::a::self", "crate::a::b::C", "crate::a::b::D as E", "crate::a::F"]
        );
        assert_eq!(expanded("a::b"), ["a::b"]);
        assert_eq!(expanded("{a::{b, c}}"), ["a::b", "a::c"]);
    }

    #[test]
    fn a_walk_counts_the_files_and_the_ways_back() {
        let files = [
            ("crates/a/src/lib.rs", "mod b;\nmod c;\n"),
            ("crates/a/src/b.rs", "use crate::c::C;\npub struct B;\n"),
            ("crates/a/src/c.rs", "use crate::b::B;\npub struct C;\n"),
        ];
        let shown = table(&Repository::of(&files), &["crates/a/src/b.rs"]);
        assert!(shown.contains("crates/a/src/b.rs: 2 files, 1 ways back"), "{shown}");
    }
}
