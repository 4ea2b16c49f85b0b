//! A type that wraps another of the same trait defines every method of that trait.
//!
//! A default that a wrapper inherits answers for the wrapper and not for what it wraps, which the compiler cannot see:
//! tools behind a guard would lose what they know about restoring their state.

use std::collections::BTreeMap;

use super::Finding;
use super::repository::Repository;
use super::rust::code_only;

/// A block of code that belongs to a trait: its definition, or an implementation.
struct Block<'a> {
    /// The line of its head, from 1.
    line: usize,
    /// The trait, and the implementing type; none for a definition.
    names: (&'a str, Option<&'a str>),
    /// Each method with its body, which is empty for a declaration.
    methods: Vec<(&'a str, &'a str)>,
}

/// Checks the sources of all crates.
pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let is_source = |path: &str| path.starts_with("crates/") && path.contains("/src/");
    let sources: Vec<(&str, String)> = repository
        .files
        .iter()
        .filter(|file| file.has_extension(&["rs"]) && is_source(&file.path))
        .map(|file| (file.path.as_str(), code_only(&file.text)))
        .collect();
    let blocks: Vec<(&str, Block<'_>)> = sources
        .iter()
        .flat_map(|(path, code)| blocks(code).into_iter().map(|block| (*path, block)))
        .collect();
    let mut traits: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (_, block) in blocks.iter().filter(|(_, block)| block.names.1.is_none()) {
        traits.entry(block.names.0).or_default().extend(block.methods.iter().map(|(name, _)| name));
    }
    let code: BTreeMap<&str, &str> = sources.iter().map(|(path, code)| (*path, code.as_str())).collect();
    let mut findings = Vec::new();
    for (path, block) in &blocks {
        let (name, Some(wrapper)) = block.names else { continue };
        if !holds(code.get(path).copied().unwrap_or_default(), wrapper, name) {
            continue;
        }
        for method in missing(block, traits.get(name).map_or(&[], Vec::as_slice)) {
            let what = format!(
                "`{wrapper}` wraps a `{name}` and inherits the default of `{method}`: define it, and say what it does there"
            );
            findings.push(Finding::new(path, block.line, what));
        }
    }
    findings
}

/// Whether the type called `wrapper` holds something that implements the trait.
fn holds(code: &str, wrapper: &str, name: &str) -> bool {
    let Some(at) = code.find(&format!("struct {wrapper}")) else { return false };
    let definition = &code[at..];
    // A tuple ends with a semicolon, and fields in braces contain none.
    let end = definition.find(['}', ';']).unwrap_or(definition.len());
    [format!("dyn {name}"), format!(": {name}")].iter().any(|held| definition[..end].contains(held))
}

/// The methods that an implementation inherits although it wraps another implementation. It wraps one if one of its
/// methods calls the method of the same name of something that is not the type itself.
fn missing<'t>(block: &Block<'_>, methods: &[&'t str]) -> Vec<&'t str> {
    let forwards = |(name, body): &(&str, &str)| {
        let call = format!(".{name}(");
        body.match_indices(&call).any(|(at, _)| {
            let receiver = body[..at].trim_end();
            // A method of the type itself, as a default calls it, forwards nothing.
            let is_own = receiver.ends_with("self") && !receiver.ends_with(".self");
            !is_own && receiver.contains("self.")
        })
    };
    if !block.methods.iter().any(forwards) {
        return Vec::new();
    }
    let is_defined = |method: &&str| block.methods.iter().any(|(name, _)| name == method);
    methods.iter().filter(|method| !is_defined(method)).copied().collect()
}

/// The traits and implementations of traits in a source without comments and literals.
fn blocks(code: &str) -> Vec<Block<'_>> {
    let mut found = Vec::new();
    let mut start = 0;
    for (index, line) in code.lines().enumerate() {
        let head = line.trim_start();
        let after = start + line.len() + 1;
        if let Some(names) = head_names(head)
            && let Some((body, _)) = braced(&code[start..])
        {
            found.push(Block { line: index + 1, names, methods: methods(body) });
        }
        start = after;
    }
    found
}

/// The names in the first line of a trait or of an implementation of one.
fn head_names(head: &str) -> Option<(&str, Option<&str>)> {
    let word = |text: &str| text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    for prefix in ["pub trait ", "trait ", "pub(crate) trait "] {
        if let Some(rest) = head.strip_prefix(prefix) {
            return Some((&rest[..word(rest)], None));
        }
    }
    let (implemented, implementer) = head.strip_prefix("impl")?.split_once(" for ")?;
    // What stands between `impl` and the trait are parameters, which contain no blank outside of their brackets here.
    let implemented = implemented.rsplit([' ', ':']).next()?;
    let implementer = implementer.trim_start_matches(['&', ' ']);
    Some((&implemented[..word(implemented)], Some(&implementer[..word(implementer)])))
}

/// The text within the first braces, and the length up to the closing one.
fn braced(code: &str) -> Option<(&str, usize)> {
    let open = code.find('{')?;
    let mut depth = 0usize;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Some((&code[open + 1..at], at + 1));
                }
            }
            _ => {}
        }
    }
    None
}

/// The functions at the top of a block, with their bodies.
fn methods(body: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = body;
    while let Some(at) = rest.find("fn ") {
        let signature = &rest[at + 3..];
        let name = &signature[..signature.find(['(', '<']).unwrap_or(signature.len())];
        let end = signature.find(';').unwrap_or(usize::MAX);
        let open = signature.find('{').unwrap_or(usize::MAX);
        let (inside, length) = match open < end {
            true => braced(signature).unwrap_or(("", signature.len())),
            false => ("", end.min(signature.len())),
        };
        found.push((name.trim(), inside));
        rest = &signature[length..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "
        pub trait Tools: Send {
            fn list(&self) -> Vec<Tool>;

            fn call<'a>(&'a self, call: &'a Call) -> Answer { self.list(); { } }

            fn outage(&self) -> Option<String> {
                None
            }
        }

        impl Tools for Plain {
            fn list(&self) -> Vec<Tool> { self.all.clone() }
        }

        impl<T: Tools> Tools for Guarded<T> {
            fn list(&self) -> Vec<Tool> { self.tools.list() }
            fn call<'a>(&'a self, call: &'a Call) -> Answer { self.tools.call(call) }
        }

        impl Tools for Whole {
            fn list(&self) -> Vec<Tool> { self.0.iter().flat_map(|it| it.list()).collect() }
            fn call<'a>(&'a self, call: &'a Call) -> Answer { answer(call) }
            fn outage(&self) -> Option<String> { None }
        }

        impl Tools for Own {
            fn list(&self) -> Vec<Tool> { self.call(); self.list() }
        }
    ";

    #[test]
    fn what_a_type_holds_is_found() {
        let code = "struct Plain { all: Vec<Tool> } struct Guarded<T: Tools> { tools: T }
            pub struct Shared(Arc<dyn Tools>); struct Other { rest: u8 }";
        let found = ["Plain", "Guarded", "Shared", "Other"].map(|wrapper| holds(code, wrapper, "Tools"));
        assert_eq!(found, [false, true, true, false]);
    }

    #[test]
    fn a_wrapper_that_inherits_a_default_is_found() {
        let all = blocks(SOURCE);
        let methods: Vec<&str> = all[0].methods.iter().map(|(name, _)| *name).collect();
        assert_eq!(methods, ["list", "call", "outage"]);
        let found: Vec<(Option<&str>, Vec<&str>)> =
            all[1..].iter().map(|block| (block.names.1, missing(block, &methods))).collect();
        let expected = [
            (Some("Plain"), vec![]),
            (Some("Guarded"), vec!["outage"]),
            (Some("Whole"), vec![]),
            (Some("Own"), vec![]),
        ];
        assert_eq!(found, expected);
    }
}
