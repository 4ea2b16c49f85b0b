//! From a model's reply to the program in it.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, ModModule, PythonVersion, Stmt};
use ruff_python_parser::Parsed;

use super::parse::{Depth, parse};
use super::straight_line;
use crate::fault::{ParseFault, ParseProblem, TextPosition};
use crate::limits::{STEPS_MAX, TEXT_BYTES_MAX};
use crate::plan::Plan;
use crate::reply::{self, Block, Region};

/// The language names of Python fences, if they have one.
const LANGUAGES: [&str; 4] = ["", "py", "python", "python3"];

/// The function that a program is expected to define.
const FUNCTION: &str = "solve";

/// Its definition, without the arguments.
const ENTRY: &str = "def solve";

/// A program that a model wrote.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanProgram {
    /// Its text.
    pub text: String,
    /// The plan, if the program calls tools one after the other and does nothing else. A program with loops,
    /// conditions or functions of its own has none, and can still be executed.
    pub plan: Option<Plan>,
}

/// Reads the program in a model's reply.
///
/// The reply may have a marker `RESULT #:`, and the program may be fenced. Of several fenced programs the one that
/// defines `solve` is used.
///
/// # Errors
/// There is no program in it, or several; it is not Python; or it exceeds a limit of [`limits`](crate::limits).
pub fn read_python(reply: &str) -> Result<PlanProgram, ParseFault> {
    if reply.len() > TEXT_BYTES_MAX {
        return Err(ParseFault::new(ParseProblem::TooLong { bytes: reply.len(), limit: TEXT_BYTES_MAX }));
    }
    // A program may have a marker or a fence in one of its texts.
    if let Ok(program) = program(reply)
        && program.plan.as_ref().is_none_or(|plan| !plan.steps.is_empty())
        && !reply.trim_start().starts_with('#')
    {
        return Ok(program);
    }
    let region = region(reply)?;
    let text = &reply[region.clone()];
    if text.trim().is_empty() {
        return Err(ParseFault::new(ParseProblem::NoProgram));
    }
    let fault = match program(text) {
        Ok(program) => return Ok(program),
        Err(fault) => fault,
    };
    // Models that think of Markdown write `\_` for an underscore.
    let without_escapes = text.replace("\\_", "_");
    // Tried only if the text as it is cannot be read: `\_` in a string may be meant.
    if without_escapes != text
        && let Ok(program) = program(&without_escapes)
    {
        return Ok(program);
    }
    Err(fault.behind(TextPosition::of(reply, region.start)))
}

fn program(text: &str) -> Result<PlanProgram, ParseFault> {
    let module = parse_program(text)?;
    let plan = straight_line::plan(module.syntax(), text);
    if let Some(plan) = &plan
        && plan.steps.len() > STEPS_MAX
    {
        let problem = ParseProblem::TooManySteps { steps: plan.steps.len(), limit: STEPS_MAX };
        return Err(ParseFault::new(problem));
    }
    Ok(PlanProgram { text: text.to_owned(), plan })
}

/// The function of a program that does its work and has to be called: `solve`, if the program defines it at its top
/// level and does not call it there itself, as below `if __name__ == "__main__"`. `None` for any other text.
pub fn entry_to_call(program: &str) -> Option<&'static str> {
    let module = parse_program(program).ok()?;
    let is_entry =
        |statement: &Stmt| matches!(statement, Stmt::FunctionDef(def) if def.name.as_str() == FUNCTION);
    if !module.suite().iter().any(is_entry) {
        return None;
    }
    let mut calls = EntryCalls { found: false };
    calls.visit_body(module.suite());
    (!calls.found).then_some(FUNCTION)
}

/// Looks for calls of the entry function outside of other functions.
struct EntryCalls {
    found: bool,
}

impl<'t> Visitor<'t> for EntryCalls {
    fn visit_stmt(&mut self, statement: &'t Stmt) {
        // What a function does is done when it is called.
        if !matches!(statement, Stmt::FunctionDef(_)) {
            visitor::walk_stmt(self, statement);
        }
    }

    fn visit_expr(&mut self, expression: &'t Expr) {
        if let Expr::Call(call) = expression {
            self.found |= matches!(&*call.func, Expr::Name(name) if name.id == FUNCTION);
        }
        visitor::walk_expr(self, expression);
    }
}

/// The syntax tree of a program.
///
/// # Errors
/// It is not Python, or exceeds a limit.
pub(crate) fn parse_program(text: &str) -> Result<Parsed<ModModule>, ParseFault> {
    parse(text, PythonVersion::latest(), Depth::Compiler)
}

/// Where the program stands.
fn region(reply: &str) -> Result<Region, ParseFault> {
    let answer = reply::behind_marker(reply);
    let blocks = reply::fenced(reply, answer.clone());
    let mut blocks: Vec<Block> =
        blocks.into_iter().filter(|block| LANGUAGES.contains(&block.language.as_str())).collect();
    if blocks.len() > 1 {
        // The block that defines `solve` is the program; the others may be examples.
        let solving = blocks.iter().filter(|block| reply[block.content.clone()].contains(ENTRY));
        let solving: Vec<Block> = solving.cloned().collect();
        if solving.len() != 1 {
            let count = blocks.len();
            return Err(ParseFault::new(ParseProblem::Several { what: "programs", count }));
        }
        blocks = solving;
    }
    Ok(blocks.pop().map_or(answer, |block| block.content))
}
