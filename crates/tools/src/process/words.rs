//! Commands in one text: split into words, and words quoted for one.

/// Splits a command into words by the rules of the shell: blanks, quotes and backslashes count; pipes, variables and
/// patterns mean nothing. `None` if a quote is not closed.
///
/// A Windows path outside quotes (`C:\Python\python.exe`, `\\server\share`, also after a `=`) keeps its backslashes,
/// up to the blank that ends it: such a text means nothing to a shell.
pub fn split_command(text: &str) -> Option<Vec<String>> {
    shell_words::split(&with_windows_paths_escaped(text)).ok()
}

/// The same text for a parser that treats a backslash as an escape.
fn with_windows_paths_escaped(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    let mut characters = text.char_indices();
    let mut quote = None;
    let (mut may_begin, mut is_in_path) = (true, false);
    while let Some((place, character)) = characters.next() {
        made.push(character);
        match (quote, character) {
            (Some(open), _) => {
                if character == open {
                    quote = None;
                } else if open == '"' && character == '\\' {
                    // Between double quotes, a backslash may protect the quote. Between single quotes it means nothing.
                    made.extend(characters.next().map(|(_, escaped)| escaped));
                }
                continue;
            }
            (None, '\'' | '"') => {
                quote = Some(character);
                may_begin = false;
                continue;
            }
            (None, _) if character.is_ascii_whitespace() => {
                (may_begin, is_in_path) = (true, false);
                continue;
            }
            (None, _) => {}
        }
        if may_begin {
            is_in_path = is_windows_path(&text[place..]);
        }
        if character == '\\' {
            if is_in_path {
                made.push('\\');
            } else {
                made.extend(characters.next().map(|(_, escaped)| escaped));
            }
        }
        // A path begins a word, or follows a `=` as in `--python=C:\Python`.
        may_begin = character == '=' && !is_in_path;
    }
    made
}

/// Whether a text begins with a drive and a backslash, or with two backslashes and the name of a server.
fn is_windows_path(text: &str) -> bool {
    match text.as_bytes() {
        [drive, b':', b'\\', ..] => drive.is_ascii_alphabetic(),
        [b'\\', b'\\', name, ..] => name.is_ascii_alphanumeric(),
        _ => false,
    }
}

/// Quotes the text as one word for a POSIX shell.
pub fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        // Nothing can be escaped within single quotes, so a quote ends them, stands escaped, and begins them again.
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_a_shell() {
        for text in [
            r#"printf '%s|' "a b" c\ d 'e"f' $HOME"#,
            r"a\\b \a",
            "# nothing",
            r#""a\"b" 'c\' d"#,
            r"a\",
            "é\\ü",
        ] {
            assert_eq!(split_command(text), shell_words::split(text).ok(), "{text}");
        }
        assert_eq!(split_command("python 'agent.py"), None);
    }

    #[test]
    fn a_quoted_text_is_one_word() {
        for text in ["", "a b", "it's;$(x)", "tools@sim/x", "a\nb", "\\"] {
            assert_eq!(split_command(&shell_word(text)), Some(vec![text.to_owned()]), "{text}");
        }
    }

    #[test]
    fn windows_paths_keep_their_backslashes() {
        for (text, expected) in [
            (r"C:\Python\python.exe D:\my\agent.py", &[r"C:\Python\python.exe", r"D:\my\agent.py"][..]),
            (
                r"python --in=c:\new\table \\server\share\x",
                &["python", r"--in=c:\new\table", r"\\server\share\x"],
            ),
            (
                r#""C:\Program Files\python.exe" 'C:\a b' x"#,
                &[r"C:\Program Files\python.exe", r"C:\a b", "x"],
            ),
            (r"C:\dir\ next", &[r"C:\dir\", "next"]),
            (r"sh -c a\ b", &["sh", "-c", "a b"]),
        ] {
            assert_eq!(split_command(text).unwrap_or_default(), expected, "{text}");
        }
    }
}
