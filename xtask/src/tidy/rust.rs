//! Just enough of Rust's lexical rules to separate code from comments and strings, and to find the paths that code
//! names.

/// The source with every comment and every string or character literal blanked out. Line numbers do not change.
pub(super) fn code_only(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut code = String::with_capacity(source.len());
    let mut at = 0;
    while at < bytes.len() {
        let rest = &source[at..];
        // An `r` or `br` that ends a word, as in `var"x"`, begins no raw string.
        let after_word = code.bytes().next_back().is_some_and(is_word);
        let skipped = blank_length(rest, after_word);
        if skipped > 0 {
            // A blank for each byte and not for each character, which changes columns but no line.
            code.extend(rest[..skipped].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
            at += skipped;
        } else {
            let next = rest.chars().next().map_or(1, char::len_utf8);
            code.push_str(&rest[..next]);
            at += next;
        }
    }
    code
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// The length of the comment or literal at the start of `rest`, or 0.
fn blank_length(rest: &str, after_word: bool) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return block_comment_length(rest);
    }
    if let Some(inside) = rest.strip_prefix('"') {
        return 1 + quoted_length(inside, '"');
    }
    if rest.starts_with('\'') {
        return character_length(rest);
    }
    if after_word { 0 } else { raw_string_length(rest) }
}

fn block_comment_length(rest: &str) -> usize {
    // Block comments nest. The text begins with one, so the depth is never below 1 at an end.
    let (mut at, mut depth) = (0, 0usize);
    while at < rest.len() {
        let here = &rest.as_bytes()[at..];
        if here.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// The length up to and including the closing quote.
fn quoted_length(inside: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in inside.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    inside.len()
}

/// The length of a character literal; 0 for a lifetime.
fn character_length(rest: &str) -> usize {
    let inside = &rest[1..];
    let mut chars = inside.chars();
    let (first, second) = (chars.next(), chars.next());
    // A lifetime has no quote after its first character, and no backslash.
    let is_literal = first == Some('\\') || second == Some('\'');
    if is_literal { 1 + quoted_length(inside, '\'') } else { 0 }
}

/// The length of a raw string (`r"..."`, `br#"..."#` and so on); 0 if there is none.
fn raw_string_length(rest: &str) -> usize {
    let unprefixed = rest.strip_prefix(['b', 'c']).unwrap_or(rest);
    let Some(marks) = unprefixed.strip_prefix('r') else { return 0 };
    let inside = marks.trim_start_matches('#');
    if !inside.starts_with('"') {
        return 0;
    }
    // Everything before the text, including the opening quote.
    let opening = rest.len() - inside.len() + 1;
    let closing = format!("\"{}", "#".repeat(marks.len() - inside.len()));
    rest[opening..].find(&closing).map_or(rest.len(), |at| opening + at + closing.len())
}

/// A path that code names, and its line counted from 1.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NamedPath<'a> {
    pub(super) line: usize,
    /// The parts between `::`. A macro's name keeps its `!`, and a glob is `*`.
    pub(super) parts: Vec<&'a str>,
}

/// All paths in the code, with `use a::{b, c}` groups expanded. `code` comes from [`code_only`].
pub(super) fn named_paths(code: &str) -> Vec<NamedPath<'_>> {
    let tokens = tokens(code);
    let mut paths = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        // A token that begins no path is skipped; otherwise the loop would stay where it is.
        at = read_path(&tokens, at, &[], &mut paths).max(at + 1);
    }
    paths
}

/// Words (including the `!` of a macro), `::` and other single characters, each with its line.
fn tokens(code: &str) -> Vec<(usize, &str)> {
    let mut tokens = Vec::new();
    for (index, line) in code.lines().enumerate() {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let word = rest.bytes().position(|byte| !is_word(byte)).unwrap_or(rest.len());
            let length = match word {
                0 if rest.starts_with("::") => 2,
                0 => first.len_utf8(),
                // `a != b` is a comparison and no macro.
                _ if rest[word..].starts_with('!') && !rest[word..].starts_with("!=") => word + 1,
                _ => word,
            };
            tokens.push((index + 1, &rest[..length]));
            rest = rest[length..].trim_start();
        }
    }
    tokens
}

/// Reads the path at `at`, which continues `prefix`. Returns the position after it, or `at` if there is no path.
fn read_path<'a>(
    tokens: &[(usize, &'a str)],
    mut at: usize,
    prefix: &[&'a str],
    paths: &mut Vec<NamedPath<'a>>,
) -> usize {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.1);
    let mut parts = prefix.to_vec();
    let mut last = None;
    loop {
        let word = text(at);
        // Without a path before it, a brace opens a block and not a group of `use`.
        if word == "{" && !parts.is_empty() {
            return read_group(tokens, at + 1, &parts, paths);
        }
        let is_name = word.bytes().next().is_some_and(is_word);
        // A star is a glob only after `::`; elsewhere it multiplies or dereferences.
        if !is_name && (word != "*" || parts.is_empty()) {
            break;
        }
        parts.push(word);
        last = Some(tokens[at].0);
        at += 1;
        if text(at) != "::" {
            break;
        }
        at += 1;
    }
    if let Some(line) = last {
        paths.push(NamedPath { line, parts });
    }
    at
}

/// Reads the members of a group up to and including its `}`.
fn read_group<'a>(
    tokens: &[(usize, &'a str)],
    mut at: usize,
    prefix: &[&'a str],
    paths: &mut Vec<NamedPath<'a>>,
) -> usize {
    while let Some((_, word)) = tokens.get(at) {
        match *word {
            "}" => return at + 1,
            "," => at += 1,
            // An alias for the member, whose own path has already been read.
            "as" => at += 2,
            _ => at = read_path(tokens, at, prefix, paths).max(at + 1),
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_code(source: &str, expected: &str) {
        let code = code_only(source);
        assert_eq!(code.lines().count(), source.lines().count());
        let words: Vec<&str> = code.split_whitespace().collect();
        assert_eq!(words.join(" "), expected);
    }

    #[test]
    fn comments_and_literals_are_left_out() {
        check_code("a // b\nc /* d /* e */ f\n */ g", "a c g");
        check_code(r#"a("b \" // c", 'd', '\'', '"') e"#, "a( , , , ) e");
        check_code(r##"a r"b\" c br#"d " e"# f"##, "a c f");
        check_code("fn a<'b>(c: &'b str) -> &'b str", "fn a<'b>(c: &'b str) -> &'b str");
        check_code("r#type var\"x\" 'ä' ä", "r#type var ä");
        check_code("\"never ends", "");
    }

    #[track_caller]
    fn check_paths(code: &str, expected: &[&str]) {
        let paths: Vec<String> =
            named_paths(code).iter().map(|path| format!("{} {}", path.line, path.parts.join("::"))).collect();
        assert_eq!(paths, expected);
    }

    #[test]
    fn groups_are_taken_apart() {
        check_paths(
            "use std::{\n  fs::{self, File},\n  io as x, *};\nb",
            &["1 use", "2 std::fs::self", "2 std::fs::File", "3 std::io", "3 std::*", "4 b"],
        );
        check_paths("a :: b (c * d) {e}", &["1 a::b", "1 c", "1 d", "1 e"]);
        check_paths("Vec::<a::B>::new()", &["1 Vec", "1 a::B", "1 new"]);
        check_paths("a::b!(c != d)", &["1 a::b!", "1 c", "1 d"]);
    }
}
