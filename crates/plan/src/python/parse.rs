//! The only access to Ruff's parser, with its limits.

use ruff_python_ast::{ModModule, PythonVersion};
use ruff_python_parser::{Mode, ParseErrorType, ParseOptions, Parsed};
use ruff_text_size::Ranged;

use super::{guard, scopes};
use crate::fault::{ParseFault, ParseProblem};
use crate::limits::NESTING_MAX;

/// How often the parser may recurse for a level of nesting.
const CALLS_PER_LEVEL: u16 = 2;

/// How far a program is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Only violations of the grammar are errors, because only a syntax tree is needed.
    Grammar,
    /// Also what a compiler refuses.
    Compiler,
}

/// The syntax tree of a program.
///
/// # Errors
/// It is not Python, or exceeds a limit.
pub(crate) fn parse(
    text: &str,
    version: PythonVersion,
    depth: Depth,
) -> Result<Parsed<ModModule>, ParseFault> {
    // Python refuses it before parsing, wherever it is.
    if let Some(place) = text.find('\0') {
        let message = "source code cannot contain the character U+0000".to_owned();
        return Err(ParseFault::at(ParseProblem::Python { message }, text, place));
    }
    guard::check(text)?;
    let calls = CALLS_PER_LEVEL * u16::try_from(NESTING_MAX).unwrap_or(u16::MAX / CALLS_PER_LEVEL);
    let options = ParseOptions::from(Mode::Module);
    let options = options.with_max_recursion_depth(calls).with_target_version(version);
    let parsed = ruff_python_parser::parse_unchecked(text, options);
    let fault = |message: String, at: &dyn Ranged| {
        ParseFault::at(ParseProblem::Python { message }, text, at.start().to_usize())
    };
    let is_of_grammar =
        // Python's grammar allows a repeated keyword argument; its compiler refuses it.
        |kind: &ParseErrorType| !matches!(kind, ParseErrorType::DuplicateKeywordArgumentError(_));
    let mut errors = parsed.errors().iter();
    if let Some(error) = errors.find(|error| depth == Depth::Compiler || is_of_grammar(&error.error)) {
        return Err(fault(error.error.to_string(), error));
    }
    if let Some(error) = parsed.unsupported_syntax_errors().first() {
        return Err(fault(error.to_string(), error));
    }
    let parsed = parsed.try_into_module().ok_or(ParseFault::new(ParseProblem::NoProgram))?;
    if depth == Depth::Compiler
        && let Some((message, range)) = scopes::first_error(parsed.suite(), text, version)
    {
        return Err(fault(message, &range));
    }
    Ok(parsed)
}
