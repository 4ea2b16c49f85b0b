//! Source parsed by Ruff's parser, restricted to what Python 3.11 accepts.

use ruff_python_ast::token::TokenKind;
use ruff_python_ast::{Mod, ModModule, PythonVersion};
use ruff_python_parser::lexer::lex;
use ruff_python_parser::{Mode, ParseErrorType, ParseOptions, parse_unchecked};

/// Maximum nesting of brackets that Python accepts.
pub(crate) const BRACKETS_MAX: usize = 200;

/// Maximum number of operators, fields and calls in a logical line. Python itself fails to write back some 300 of
/// them in a row.
pub(crate) const CHAINED_MAX: usize = 250;

/// Why source cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    /// The position, in bytes.
    pub(crate) offset: usize,
    /// What is wrong at this position.
    pub(crate) what: String,
}

/// Parses source as `ast.parse` of Python 3.11 does: a repeated keyword is not yet an error, but an f-string that
/// contains its own quotes is one, and so is a NUL.
///
/// # Errors
/// It is not valid source, or is nested deeper than [`BRACKETS_MAX`].
pub(crate) fn parse(source: &str) -> Result<ModModule, SyntaxError> {
    if let Some(offset) = source.find('\0') {
        return Err(SyntaxError { offset, what: "there is a NUL".to_owned() });
    }
    if source.starts_with('\u{feff}') {
        return Err(SyntaxError { offset: 0, what: "there is a mark of byte order".to_owned() });
    }
    // Python does so before it parses anything, even within texts.
    let normalised;
    let source = if source.contains('\r') {
        normalised = source.replace("\r\n", "\n").replace('\r', "\n");
        &normalised
    } else {
        source
    };
    guard_depth(source)?;
    let options = ParseOptions::from(Mode::Module).with_target_version(PythonVersion::PY311);
    let parsed = parse_unchecked(source, options);
    let is_one = |error: &&ruff_python_parser::ParseError| {
        !matches!(error.error, ParseErrorType::DuplicateKeywordArgumentError(_))
    };
    if let Some(error) = parsed.errors().iter().find(is_one) {
        let offset = error.location.start().to_usize();
        return Err(SyntaxError { offset, what: error.error.to_string() });
    }
    // Syntax of later versions, such as a field that contains the quotes of its f-string.
    if let Some(error) = parsed.unsupported_syntax_errors().first() {
        return Err(SyntaxError { offset: error.range.start().to_usize(), what: error.to_string() });
    }
    match parsed.into_syntax() {
        Mod::Module(module) => Ok(module),
        Mod::Expression(_) => Err(SyntaxError { offset: 0, what: "it is no program".to_owned() }),
    }
}

/// Rejects source that has more brackets open at once than Python accepts, or whose expressions chain more
/// operators, fields and calls than [`CHAINED_MAX`]. The parser limits its own recursion, but parses chains in a
/// loop, and the resulting tree is as deep as a chain is long.
fn guard_depth(source: &str) -> Result<(), SyntaxError> {
    /// More than [`BRACKETS_MAX`], to allow for brackets in texts, which do not count.
    const OPEN_MAX: usize = 5 * BRACKETS_MAX;
    let mut open = 0_usize;
    for (offset, byte) in source.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => open += 1,
            b')' | b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        if open > OPEN_MAX {
            return Err(SyntaxError { offset, what: format!("more than {OPEN_MAX} brackets are open") });
        }
    }
    match chained_at_most(source) {
        Some(0..=CHAINED_MAX) => Ok(()),
        _ => guard_chains(source),
    }
}

/// An upper bound on the number of chain characters outside texts, for a single line that contains only plain
/// texts, as calls and literals do; `None` if only a lexer can tell.
fn chained_at_most(source: &str) -> Option<usize> {
    let bytes = source.as_bytes();
    let (mut place, mut chained) = (0, 0);
    while let Some(byte) = bytes.get(place) {
        match byte {
            // Comments and further lines need the lexer, and so do f-strings, which contain expressions, and triple
            // quotes, within which single ones may stand.
            b'#' | b'\\' | b'\n' => return None,
            quote @ (b'\'' | b'"') => {
                let has_prefix =
                    place > 0 && (bytes[place - 1].is_ascii_alphanumeric() || bytes[place - 1] == b'_');
                let is_triple = bytes.get(place + 1) == Some(quote) && bytes.get(place + 2) == Some(quote);
                if has_prefix || is_triple {
                    return None;
                }
                place += 1;
                loop {
                    match bytes.get(place)? {
                        b'\n' => return None,
                        b'\\' => place += 2,
                        byte if byte == quote => break,
                        _ => place += 1,
                    }
                }
            }
            _ => chained += usize::from(b"+-*/%&|^@.<>([".contains(byte)),
        }
        place += 1;
    }
    Some(chained)
}

/// Counts the links of chains in each logical line.
fn guard_chains(source: &str) -> Result<(), SyntaxError> {
    let mut lexer = lex(source, Mode::Module);
    let (mut chained, mut before) = (0_usize, TokenKind::Newline);
    loop {
        let token = lexer.next_token();
        // A token that does not follow an operand starts one, and the parser has its own limit for those.
        let follows = matches!(
            before,
            TokenKind::Name
                | TokenKind::Int
                | TokenKind::Float
                | TokenKind::Complex
                | TokenKind::String
                | TokenKind::FStringEnd
                | TokenKind::Rpar
                | TokenKind::Rsqb
                | TokenKind::Rbrace
        );
        let ends = matches!(
            token,
            TokenKind::Comma
                | TokenKind::Colon
                | TokenKind::Equal
                | TokenKind::Semi
                | TokenKind::Rpar
                | TokenKind::Rsqb
                | TokenKind::Rbrace
        );
        match token {
            TokenKind::EndOfFile => return Ok(()),
            // A comma does not reset the count, which makes it an upper bound on the length of each chain in the line.
            TokenKind::Newline => chained = 0,
            _ => chained += usize::from(token.is_operator() && follows && !ends),
        }
        if chained > CHAINED_MAX {
            let what = format!("a line chains more than {CHAINED_MAX} operators");
            return Err(SyntaxError { offset: 0, what });
        }
        before = token;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_count_outside_of_texts_alone() {
        let counts = [
            ("a = f(x='1.2.3', y=\"<node-0>.text\")", Some(1)),
            ("[{'a': 'it\\'s ([', 'b': ''}, '']", Some(1)),
            ("a.b + c", Some(2)),
            ("a # '", None),
            ("a = \"\"\"b\"\"\"", None),
            ("f'{a.b}'", None),
            ("a = 'b\nc.d'", None),
            ("'a", None),
            ("a \\\n.b", None),
        ];
        for (source, count) in counts {
            assert_eq!(chained_at_most(source), count, "{source}");
        }
    }

    #[test]
    fn long_chains_are_refused_wherever_they_hide() {
        let chain = ".b".repeat(100_000);
        for source in [
            format!("a{chain}"),
            format!("x = 1 # '\na{chain} # '"),
            format!("x = \"\"\"'\"\"\"; a{chain}; y = \"'\""),
            format!("x = f'{{a{chain}}}'"),
            format!("x = f'{{a[\"'\"]{chain}}}'"),
            format!("x = r'\\'; a{chain}"),
            format!("a{}", "[0]".repeat(100_000)),
            format!("a{}", "()".repeat(100_000)),
            format!("'' {}", "% 1 ".repeat(100_000)),
        ] {
            assert!(parse(&source).is_err(), "{source:.40}");
        }
        assert!(parse(&"a.b.c + d\n".repeat(10_000)).is_ok());
    }
}
