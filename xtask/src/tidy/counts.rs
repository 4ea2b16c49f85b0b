//! A count that is read from outside has a bound, or a sum of such counts can overflow.
//!
//! The field of a structure that serde reads names a function of `planproof_trace::bounded`, or one of its own, unless
//! its name is among those that are never added up.

use super::Finding;
use super::repository::Repository;
use super::rust::code_only;

/// Names of numbers that are compared or looked up, but not added up: identifiers, places, seeds and limits.
const NOT_ADDED: [&str; 14] = [
    "at",
    "count",
    "first",
    "id",
    "idx",
    "index",
    "max_cost_picodollars",
    "max_tokens",
    "memory_bytes",
    "memory_max",
    "output_index",
    "seed",
    "timeout_ms",
    "value",
];

/// Checks the sources of all crates, without their unit tests.
pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repository.files.iter().filter(|file| file.has_extension(&["rs"])) {
        let is_source = file.path.strip_prefix("crates/").is_some_and(|path| path.contains("/src/"));
        if is_source && !file.path.contains("/tests") {
            findings.extend(unbounded(&file.text).map(|(line, name)| {
                let what = format!(
                    "`{name}` is read without a bound: add `#[serde(deserialize_with = \"planproof_trace::bounded::count\")]`"
                );
                Finding::new(&file.path, line, what)
            }));
        }
    }
    findings
}

/// Lines and names of fields that are read as `u64` by serde's own rules.
fn unbounded(source: &str) -> impl Iterator<Item = (usize, String)> {
    let code = code_only(source);
    let tests = code.find("#[cfg(test)]").unwrap_or(code.len());
    let (mut found, mut is_read) = (Vec::new(), false);
    // The attributes of the next item, and whether one of them goes on. They are taken from the source, because their
    // values are literals.
    let (mut attributes, mut goes_on) = (String::new(), false);
    for (index, (line, written)) in code[..tests].lines().zip(source.lines()).enumerate() {
        let line = line.trim();
        if goes_on || line.starts_with("#[") {
            attributes.push_str(written);
            goes_on = !line.ends_with(']');
            continue;
        }
        if line.contains("struct ") || line.contains("enum ") {
            is_read = attributes.contains("Deserialize");
        } else if line.starts_with("impl") || line.starts_with("fn ") || line.contains(" fn ") {
            is_read = false;
        }
        let name = line
            .rsplit_once(':')
            .filter(|(_, kind)| matches!(kind.trim().trim_end_matches(','), "u64" | "Option<u64>"));
        if let (true, Some((name, _))) = (is_read, name) {
            let name = name.rsplit(' ').next().unwrap_or_default();
            if !attributes.contains("with = ") && !NOT_ADDED.contains(&name) {
                found.push((index + 1, name.to_owned()));
            }
        }
        if !line.is_empty() {
            attributes.clear();
        }
    }
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_without_a_bound_is_found() {
        let source = "
            #[derive(Debug, Deserialize)]
            struct Reply {
                /// Read.
                pub input: u64,
                #[serde(deserialize_with = \"planproof_trace::bounded::count\")]
                pub output: u64,
                seed: u64,
                #[serde(default)]
                cached: Option<u64>,
                #[serde(
                    default,
                    deserialize_with = \"planproof_trace::bounded::some_count\"
                )]
                thought: Option<u64>,
                text: String,
            }

            struct Context {
                number: u64,
            }

            #[derive(Debug)]
            struct Kept {
                input: u64,
            }

            fn f(input: u64) {}
        ";
        let found: Vec<(usize, String)> = unbounded(source).collect();
        assert_eq!(found, [(5, "input".to_owned()), (10, "cached".to_owned())]);
    }
}
