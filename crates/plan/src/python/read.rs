//! From a model's reply to the program in it.

use ruff_python_ast::ModModule;
use ruff_python_parser::{Mode, ParseOptions, Parsed};
use ruff_text_size::Ranged;

use super::{guard, straight_line};
use crate::fault::{ParseFault, ParseProblem};
use crate::limits::{NESTING_MAX, STEPS_MAX, TEXT_BYTES_MAX};
use crate::plan::Plan;
use crate::reply::{self, Block, Region};

/// What fences of Python say, where they say anything.
const LANGUAGES: [&str; 4] = ["", "py", "python", "python3"];

/// The function that a program is expected to define.
const ENTRY: &str = "def solve";

/// How often the parser may call itself for a level of nesting.
const CALLS_PER_LEVEL: u16 = 2;

/// A program that a model wrote.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// Its text.
    pub text: String,
    /// The plan that it is, if it calls tools one after the other and does nothing else. A program with loops,
    /// conditions or functions of its own has none, and can still be carried out.
    pub plan: Option<Plan>,
}

/// Reads the program in a model's reply.
///
/// The reply may hold a marker `RESULT #:`, and the program may stand between fences. Of several fenced programs the
/// one that defines `solve` is meant.
///
/// # Errors
/// There is no program in it, or several; it is no Python; or a limit of [`limits`](crate::limits) is reached.
pub fn read_python(reply: &str) -> Result<Program, ParseFault> {
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
    if without_escapes != text
        && let Ok(program) = program(&without_escapes)
    {
        return Ok(program);
    }
    Err(match fault {
        Fault::At(problem, place) => ParseFault::at(problem, reply, region.start + place),
        Fault::Whole(fault) => fault,
    })
}

/// A fault and the byte of the program at which it is, or one of the whole.
enum Fault {
    At(ParseProblem, usize),
    Whole(ParseFault),
}

fn program(text: &str) -> Result<Program, Fault> {
    let module = parse(text)?;
    let plan = straight_line::plan(module.syntax(), text);
    if let Some(plan) = &plan
        && plan.steps.len() > STEPS_MAX
    {
        let problem = ParseProblem::TooManySteps { steps: plan.steps.len(), limit: STEPS_MAX };
        return Err(Fault::Whole(ParseFault::new(problem)));
    }
    Ok(Program { text: text.to_owned(), plan })
}

/// The syntax tree of a program.
///
/// # Errors
/// It is no Python, or a limit is reached.
pub(crate) fn parse_program(text: &str) -> Result<Parsed<ModModule>, ParseFault> {
    parse(text).map_err(|fault| match fault {
        Fault::At(problem, place) => ParseFault::at(problem, text, place),
        Fault::Whole(fault) => fault,
    })
}

fn parse(text: &str) -> Result<Parsed<ModModule>, Fault> {
    guard::check(text).map_err(Fault::Whole)?;
    let depth = CALLS_PER_LEVEL * u16::try_from(NESTING_MAX).unwrap_or(u16::MAX / CALLS_PER_LEVEL);
    let options = ParseOptions::from(Mode::Module).with_max_recursion_depth(depth);
    let parsed = ruff_python_parser::parse_unchecked(text, options);
    if let Some(error) = parsed.errors().first() {
        let problem = ParseProblem::Python { message: error.error.to_string() };
        return Err(Fault::At(problem, error.location.start().to_usize()));
    }
    if let Some(error) = parsed.unsupported_syntax_errors().first() {
        let problem = ParseProblem::Python { message: error.to_string() };
        return Err(Fault::At(problem, error.range().start().to_usize()));
    }
    parsed.try_into_module().ok_or(Fault::Whole(ParseFault::new(ParseProblem::NoProgram)))
}

/// Where the program stands.
fn region(reply: &str) -> Result<Region, ParseFault> {
    let answer = reply::behind_marker(reply);
    let blocks = reply::fenced(reply, answer.clone());
    let mut blocks: Vec<Block> =
        blocks.into_iter().filter(|block| LANGUAGES.contains(&block.language.as_str())).collect();
    if blocks.len() > 1 {
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
