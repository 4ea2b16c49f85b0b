//! Python 3.11, of which the published verdicts are.

use ruff_python_ast::{ModModule, PythonVersion};
use ruff_python_parser::Parsed;

use crate::fault::ParseFault;
use crate::python::parse::{Depth, parse};

/// Its syntax tree, as `ast.parse` gives it.
pub(super) fn tree(text: &str) -> Result<Parsed<ModModule>, ParseFault> {
    parse(text, PythonVersion::PY311, Depth::Grammar)
}

/// Whether `compile` takes it.
pub(super) fn compile(text: &str) -> Result<(), ParseFault> {
    parse(text, PythonVersion::PY311, Depth::Compiler).map(drop)
}
