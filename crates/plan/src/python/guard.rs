//! Protects a Python parser from overflowing the stack.
//!
//! The parser counts its levels of recursion, and has a limit. It parses chains such as `1 + 1 + 1` in a loop, but
//! the resulting tree is as deep as they are long, and traversing or dropping it recurses. So chains are counted
//! beforehand, in lexemes: between two commas of the same bracket, no tree is deeper than the number of lexemes, and
//! for `lambda` and `yield` the count continues over the comma because one can be in the default of another.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, lexer};

use crate::fault::{ParseFault, ParseProblem};
use crate::limits::{CHAIN_LEXEMES_MAX, NESTING_MAX};

/// Whether a text can be parsed safely. Takes time in proportion to its length, and no stack.
///
/// # Errors
/// It has too many levels, or a chain that is too long.
pub(crate) fn check(text: &str) -> Result<(), ParseFault> {
    let mut lexer = lexer::lex(text, Mode::Module);
    // For the statement and each open bracket, how deep the tree may be where an element of it begins.
    let mut starts = vec![0];
    // The open brackets and f-strings.
    let mut brackets = Vec::new();
    let mut depth = 0;
    let mut indentation = 0_usize;
    loop {
        let kind = lexer.next_token();
        match kind {
            TokenKind::EndOfFile => return Ok(()),
            TokenKind::Indent => indentation += 1,
            TokenKind::Dedent => indentation = indentation.saturating_sub(1),
            TokenKind::Newline | TokenKind::Semi => {
                starts = vec![0];
                brackets.clear();
                depth = 0;
            }
            TokenKind::Comma => depth = starts.last().copied().unwrap_or_default(),
            TokenKind::Lambda | TokenKind::Yield => {
                starts.last_mut().into_iter().for_each(|start| *start += 1);
                depth += 1;
            }
            TokenKind::Lpar | TokenKind::Lsqb | TokenKind::FStringStart | TokenKind::TStringStart => {
                depth += 1;
                starts.push(depth);
                brackets.push(kind);
            }
            TokenKind::Lbrace => {
                // The fields of an f-string are siblings, like elements between commas.
                if matches!(brackets.last(), Some(TokenKind::FStringStart | TokenKind::TStringStart)) {
                    depth = starts.last().copied().unwrap_or_default();
                }
                depth += 1;
                starts.push(depth);
                brackets.push(kind);
            }
            TokenKind::Rpar
            | TokenKind::Rsqb
            | TokenKind::Rbrace
            | TokenKind::FStringEnd
            | TokenKind::TStringEnd => {
                // The text after the bracket depends on the bracket, not on its contents.
                if starts.len() > 1 {
                    depth = starts.pop().unwrap_or_default();
                    brackets.pop();
                }
            }
            TokenKind::Comment | TokenKind::NonLogicalNewline => {}
            _ => depth += 1,
        }
        if starts.len() + indentation > NESTING_MAX {
            return Err(ParseFault::new(ParseProblem::TooDeep { limit: NESTING_MAX }));
        }
        if depth > CHAIN_LEXEMES_MAX {
            return Err(ParseFault::new(ParseProblem::ChainTooLong { limit: CHAIN_LEXEMES_MAX }));
        }
    }
}
