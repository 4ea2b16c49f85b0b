//! Checks each file by itself: module documentation, length, leftovers, blanks.

use super::Finding;
use super::repository::File;
use super::rust::code_only;

/// The maximum number of lines in a source file or document.
const LINES_MAX: usize = 900;
/// The maximum number of columns in a comment, including indentation.
const COMMENT_COLUMNS_MAX: usize = 120;

// The needles are assembled here so that this file does not contain them.

/// Marks of unfinished work.
const LEFTOVERS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME")];
/// Where paths of one machine begin.
const MACHINE_PATHS: &[&str] =
    &[concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/wo", "rk/"), concat!("/Us", "ers/")];
/// Code that must not stay, and why.
const CODE_LEFTOVERS: &[(&str, &str)] = &[
    ("dbg!(", "it prints for debugging"),
    ("todo!(", "it is unfinished"),
    ("unimplemented!(", "it is unfinished"),
    ("#[ignore]", "say why the test is ignored, as `#[ignore = \"reason\"]`"),
];

/// Checks one file.
pub(super) fn check(file: &File) -> Vec<Finding> {
    let is_rust = file.has_extension(&["rs"]);
    let is_source = is_rust || file.has_extension(&["md", "toml", "py", "sh"]);
    let mut findings = Vec::new();
    let mut find = |line: usize, what: String| findings.push(Finding::new(&file.path, line, what));

    for (index, line) in file.text.lines().enumerate() {
        for word in LEFTOVERS.iter().filter(|word| has_word(line, word)) {
            find(index + 1, format!("{word}: do it or delete it"));
        }
        for path in MACHINE_PATHS.iter().filter(|path| has_path_start(line, path)) {
            find(index + 1, format!("{path} is a path of one machine"));
        }
        if is_source && line.ends_with([' ', '\t']) {
            find(index + 1, "the line ends in blanks".into());
        }
    }
    // Recorded data stays as recorded.
    if !file.text.is_empty() && !file.text.ends_with('\n') && !file.path.contains("/testdata/") {
        find(0, "the last line has no end".into());
    }
    let lines = file.text.lines().count();
    if is_source && lines > LINES_MAX {
        find(0, format!("{lines} lines; split it, {LINES_MAX} is the most"));
    }
    if is_rust {
        for (index, line) in file.text.lines().enumerate().filter(|(_, line)| is_wide_comment(line)) {
            let width = line.chars().count();
            find(index + 1, format!("a comment of {width} columns; {COMMENT_COLUMNS_MAX} is the most"));
        }
        if needs_module_doc(&file.path) && !file.text.starts_with("//!") {
            find(1, "begin with a module doc (`//!`)".into());
        }
        check_code(&code_only(&file.text), find);
    }
    findings
}

/// Whether a line is a comment that is too wide for a screen. Table rows, drawings and format samples may be wider.
fn is_wide_comment(line: &str) -> bool {
    let text = line.trim_start();
    let Some(text) =
        text.strip_prefix("///").or_else(|| text.strip_prefix("//!")).or_else(|| text.strip_prefix("//"))
    else {
        return false;
    };
    let is_whole = text.trim_start().starts_with(['|', '{', '│', '┌', '└']) || text.contains("://");
    !is_whole && line.chars().count() > COMMENT_COLUMNS_MAX
}

/// Checks code from which comments and literals have been removed.
fn check_code(code: &str, mut find: impl FnMut(usize, String)) {
    for (index, line) in code.lines().enumerate() {
        for (leftover, why) in CODE_LEFTOVERS.iter().filter(|(leftover, _)| line.contains(leftover)) {
            find(index + 1, format!("{leftover}: {why}"));
        }
    }
    // Attributes may span lines, so they are looked for in the whole text.
    for (at, _) in code.match_indices('#') {
        let Some(inside) = attribute(&code[at..]) else { continue };
        // The word may be anywhere inside, as in `cfg_attr(test, expect(...))`.
        let is_suppression =
            ["allow", "expect"].iter().any(|word| has_word(inside, word)) && inside.contains('(');
        if is_suppression && !has_word(inside, "reason") {
            let line = code[..at].matches('\n').count() + 1;
            find(line, "say why the lint is off: `reason = \"...\"`".into());
        }
    }
}

/// The inside of the attribute at the start of `code`.
fn attribute(code: &str) -> Option<&str> {
    let inside = code.strip_prefix('#')?;
    let inside = inside.strip_prefix('!').unwrap_or(inside).strip_prefix('[')?;
    let mut depth = 1;
    for (at, c) in inside.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&inside[..at]);
        }
    }
    None
}

fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(is_part) && !line[at + word.len()..].starts_with(is_part))
}

/// Whether the path stands alone rather than as part of a longer path or a URL.
fn has_path_start(line: &str, path: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "_-./~}".contains(c);
    line.match_indices(path).any(|(at, _)| !line[..at].ends_with(is_part))
}

/// Submodules of a test binary are explained by their tests; the binary says what it covers.
fn needs_module_doc(path: &str) -> bool {
    let is_test_part = match path.rsplit_once("tests/") {
        Some((_, rest)) => rest.contains('/') && !rest.ends_with("/main.rs"),
        None => path.ends_with("/tests.rs"),
    };
    !is_test_part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_text(path: &str, text: &str, expected: &[&str]) {
        let found = check(&File { path: path.to_owned(), text: text.to_owned() });
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (finding, part) in found.iter().zip(expected) {
            assert!(finding.to_string().contains(part), "{finding}");
        }
    }

    #[test]
    fn a_whole_file_passes() {
        check_text("crates/a/src/lib.rs", "//! Doc.\n", &[]);
        check_text("crates/a/tests/it/part.rs", "use a;\n", &[]);
        check_text("crates/a/testdata/x.txt", "as it came ", &[]);
        check_text(".gitignore", "", &[]);
    }

    #[test]
    fn leftovers_are_caught() {
        for word in LEFTOVERS {
            check_text("a.md", &format!("one\n{word}: x\n"), &[&format!("a.md:2: {word}")]);
            check_text("a.md", &format!("{word}S\n"), &[]);
        }
        for (code, _) in CODE_LEFTOVERS {
            check_text("a.rs", &format!("//! Doc.\n{code}\n"), &[code]);
            check_text("a.rs", &format!("//! Doc.\n// {code}\n"), &[]);
        }
    }

    #[test]
    fn wide_comments_are_caught() {
        let words = "word ".repeat(24);
        for mark in ["//", "///", "//!"] {
            check_text("a.rs", &format!("//! Doc.\n    {mark} {words}.\n"), &["a.rs:2: a comment of"]);
            check_text("a.rs", &format!("//! Doc.\n{mark} | {words}|\n"), &[]);
            check_text("a.rs", &format!("//! Doc.\n{mark} https://example.org/{}\n", "x".repeat(120)), &[]);
        }
        check_text("a.rs", &format!("//! Doc.\nlet text = \"{words}\";\n"), &[]);
        // Columns, not bytes.
        check_text("a.rs", &format!("//! {}\n", "λ".repeat(116)), &[]);
    }

    #[test]
    fn paths_of_a_machine_are_caught() {
        for path in MACHINE_PATHS {
            for text in [format!("{path}x\n"), format!("run `{path}x`\n"), format!("a={path}\n")] {
                check_text("run", &text, &["one machine"]);
            }
            for text in
                [format!("https://example.org{path}x\n"), format!("~{path}\n"), format!("$HOME{path}\n")]
            {
                check_text("run", &text, &[]);
            }
        }
    }

    #[test]
    fn missing_module_docs_are_caught() {
        for path in ["crates/a/src/x.rs", "crates/a/tests/it/main.rs", "crates/a/tests/x.rs", "benches/x.rs"]
        {
            check_text(path, "use a;\n", &["module doc"]);
        }
    }

    #[test]
    fn long_files_are_caught() {
        check_text("a.py", &"a\n".repeat(LINES_MAX), &[]);
        check_text("a.py", &"a\n".repeat(LINES_MAX + 1), &["901 lines"]);
    }

    #[test]
    fn blanks_and_missing_ends_are_caught() {
        check_text("a.toml", "a \nb\t\n", &["a.toml:1: the line ends in blanks", "a.toml:2"]);
        check_text("a.json", "{}", &["no end"]);
    }

    #[test]
    fn suppressions_without_a_reason_are_caught() {
        for attribute in ["#[allow(x)]", "#![allow(\n    x,\n)]", "#[cfg_attr(test, expect(x, y[0]))]"] {
            check_text("a.rs", &format!("//! Doc.\n\n{attribute}\nfn a() {{}}\n"), &["a.rs:3: say why"]);
        }
        check_text("a.rs", "//! Doc.\n#[expect(x, reason = \"y\")]\n#[test]\nfn expect(a: B) {}\n", &[]);
    }
}
