//! Python 3.11, which produced the published verdicts.

use ruff_python_ast::{Expr, ModModule, PythonVersion};
use ruff_python_parser::Parsed;

use super::breadth_first::{Node, walk};
use crate::fault::{ParseFault, ParseProblem};
use crate::python::parse::{Depth, parse};
use crate::python::scopes::starred_field;

/// Its syntax tree, as returned by `ast.parse`.
pub(super) fn tree(text: &str) -> Result<Parsed<ModModule>, ParseFault> {
    let parsed = parse(text, PythonVersion::PY311, Depth::Grammar)?;
    // The fields of f-strings stood in parentheses before Python 3.12.
    let mut has_starred_field = false;
    walk(parsed.suite(), |node| {
        has_starred_field |= matches!(node, Node::Expr(Expr::FString(text)) if starred_field(text).is_some());
    });
    if has_starred_field {
        let message = "a field of an f-string is a starred expression".to_owned();
        return Err(ParseFault::new(ParseProblem::Python { message }));
    }
    Ok(parsed)
}

/// Whether `compile` takes it.
pub(super) fn compile(text: &str) -> Result<(), ParseFault> {
    parse(text, PythonVersion::PY311, Depth::Compiler).map(drop)
}
