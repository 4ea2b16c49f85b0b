//! Documents name only what exists.

use super::Finding;
use super::repository::{File, Repository};

const ARCHITECTURE: &str = "ARCHITECTURE.md";
/// A name that contains a slash and has one of these endings is a path, wherever it starts.
const ENDINGS: &[&str] = &[".rs", ".md", ".toml", ".py", ".sh", ".json", ".jsonl", ".sql"];

/// Checks the links of all documents, and the paths and crates that ARCHITECTURE.md names.
pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let documents = repository.files.iter().filter(|file| file.has_extension(&["md"]));
    let mut findings: Vec<Finding> = documents.flat_map(|file| check_links(file, repository)).collect();
    let Some(architecture) = repository.file(ARCHITECTURE) else {
        findings.push(Finding::new(ARCHITECTURE, 0, "is missing"));
        return findings;
    };
    for (line, text) in outside_fences(&architecture.text) {
        for span in code_spans(text) {
            if looks_like_path(span, repository) && !repository.has_ending(span.trim_end_matches('/')) {
                findings.push(Finding::new(ARCHITECTURE, line, format!("`{span}` does not exist")));
            }
        }
    }
    for name in repository.crates() {
        let spans = [format!("`{name}`"), format!("crates/{name}")];
        if !spans.iter().any(|span| architecture.text.contains(span.as_str())) {
            findings.push(Finding::new(ARCHITECTURE, 0, format!("does not name the crate `{name}`")));
        }
    }
    findings
}

/// The lines outside code blocks, counted from 1.
fn outside_fences(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let is_fence = line.trim_start().starts_with("```");
        // The same mark opens and closes a block.
        fenced ^= is_fence;
        (!fenced && !is_fence).then_some((index + 1, line))
    })
}

/// What stands between single backticks.
fn code_spans(line: &str) -> impl Iterator<Item = &str> {
    // Every other piece lies between two backticks.
    line.split('`').skip(1).step_by(2)
}

/// Model names, media types and the like contain slashes too, so a path must start at the repository's root or have a
/// file ending.
fn looks_like_path(span: &str, repository: &Repository) -> bool {
    let is_plain = span.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c));
    let Some((first, _)) = span.split_once('/') else { return false };
    let begins_at_root = first != "." && first != ".." && !first.is_empty() && repository.has(first);
    is_plain && (begins_at_root || ENDINGS.iter().any(|ending| span.ends_with(ending)))
}

fn check_links(file: &File, repository: &Repository) -> Vec<Finding> {
    let directory = file.path.rsplit_once('/').map_or("", |(directory, _)| directory);
    let mut findings = Vec::new();
    for (line, text) in outside_fences(&file.text) {
        for target in link_targets(text) {
            // A colon stands in any URL and in `mailto:`, and in no path of ours.
            if target.contains(':') {
                continue;
            }
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let to = if path.is_empty() { Some(file.path.clone()) } else { resolve(directory, path) };
            let to = to.filter(|path| repository.has(path));
            let has_anchor = |path: &String| match repository.file(path) {
                Some(file) if file.has_extension(&["md"]) => has_anchor(&file.text, anchor),
                // Anchors of other files are not ours to know.
                _ => true,
            };
            if !to.is_some_and(|path| anchor.is_empty() || has_anchor(&path)) {
                findings.push(Finding::new(&file.path, line, format!("the link to {target} leads nowhere")));
            }
        }
    }
    findings
}

/// Whether a document has this anchor: the words of a heading as sites for source code link to them, or an element
/// with this id. A second heading of the same words has `-1` after them, and so on.
fn has_anchor(document: &str, anchor: &str) -> bool {
    let mut headings: Vec<String> = Vec::new();
    for (_, line) in outside_fences(document) {
        if line.contains(&format!("id=\"{anchor}\"")) {
            return true;
        }
        let Some(heading) = line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#'))
        else {
            continue;
        };
        let words = heading_anchor(heading);
        let same = headings.iter().filter(|earlier| **earlier == words).count();
        if anchor == words && same == 0 || anchor == format!("{words}-{same}") && same > 0 {
            return true;
        }
        headings.push(words);
    }
    false
}

/// The anchor of a heading: its letters in lower case, digits, `_` and `-`, and `-` for each space.
fn heading_anchor(heading: &str) -> String {
    // Of a link, only its text is a part of the heading.
    let mut text = String::new();
    let mut rest = heading.trim();
    while let Some((before, after)) = rest.split_once("](") {
        text += before;
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    text += rest;
    let kept = text.chars().filter(|c| c.is_alphanumeric() || " _-".contains(*c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The targets of `[text](target)` and `[name]: target`.
fn link_targets(line: &str) -> Vec<&str> {
    let first_word = |text: &str| text.len() - text.trim_start_matches(|c: char| !c.is_whitespace()).len();
    let mut targets = Vec::new();
    for (at, opening) in line.match_indices("](") {
        // After an odd number of backticks, the text is code and no link.
        let in_code = line[..at].matches('`').count() % 2 == 1;
        let rest = &line[at + opening.len()..];
        let rest = rest.split_once(')').map_or(rest, |(inside, _)| inside);
        if !in_code {
            targets.push(rest[..first_word(rest)].trim_matches(['<', '>']));
        }
    }
    // A name with `^` is that of a footnote, which has no target.
    if let Some((name, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once("]: "))
        && !name.starts_with('^')
        && !name.contains(']')
    {
        targets.push(&rest[..first_word(rest)]);
    }
    targets
}

/// Resolves `target` relative to `directory`, removing `.` and `..`. `None` if it leaves the repository.
fn resolve(directory: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in directory.split('/').chain(target.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_documents(files: &[(&str, &str)], expected: &[&str]) {
        let lines: Vec<String> = check(&Repository::of(files)).iter().map(Finding::to_string).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_missing_path_is_caught() {
        check_documents(
            &[
                ("crates/a/src/lib.rs", ""),
                (
                    ARCHITECTURE,
                    "`crates/a/src/lib.rs`, `crates/a/`, `src/lib.rs`, `sim/perfect`, `a/b c`, `x.toml`\n\
                     `crates/b` and `src/gone.rs`\n```\n`crates/c`\n```\n`crates/d`",
                ),
            ],
            &[
                "ARCHITECTURE.md:2: `crates/b` does not exist",
                "ARCHITECTURE.md:2: `src/gone.rs` does not exist",
                "ARCHITECTURE.md:6: `crates/d` does not exist",
            ],
        );
        check_documents(&[], &["ARCHITECTURE.md: is missing"]);
    }

    #[test]
    fn an_unnamed_crate_is_caught() {
        check_documents(
            &[
                ("crates/a/Cargo.toml", ""),
                ("crates/b/Cargo.toml", ""),
                (ARCHITECTURE, "The crate `b`; a is small."),
            ],
            &["ARCHITECTURE.md: does not name the crate `a`"],
        );
    }

    #[test]
    fn a_broken_link_is_caught() {
        check_documents(
            &[
                (
                    ARCHITECTURE,
                    "See [a](docs/a.md), [docs](docs), [b]\n\n[b]: docs/b.md\n[^1]: docs/note\n\
                     ## The `x` of [it](docs/a.md), in 2\n## Twice\n## Twice",
                ),
                (
                    "docs/a.md",
                    "[up](../ARCHITECTURE.md#the-x-of-it-in-2 \"t\") [here](#x) [web](https://example.org/x) `[c](code)`\n\
                     [gone](gone.md) ![out](../../x.png)\n[root](..) <a id=\"x\"></a>\n\
                     [first](../ARCHITECTURE.md#twice) [second](../ARCHITECTURE.md#twice-1)\n\
                     [third](../ARCHITECTURE.md#twice-2) [y](#y)",
                ),
            ],
            &[
                "ARCHITECTURE.md:3: the link to docs/b.md leads nowhere",
                "docs/a.md:2: the link to gone.md leads nowhere",
                "docs/a.md:2: the link to ../../x.png leads nowhere",
                "docs/a.md:5: the link to ../ARCHITECTURE.md#twice-2 leads nowhere",
                "docs/a.md:5: the link to #y leads nowhere",
            ],
        );
    }
}
