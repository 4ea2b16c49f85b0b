//! The published parsers (specification, sections 5.1 and 5.2).

use serde_json::{Map, Number, Value as Json};

use super::{PlanRefusal, RefusalCode, Unexpected, python, unexpected};
use crate::fault::ParseProblem;
use crate::json::{self, Dialect, Node, Tree};
use crate::reply::MARKER;

/// The approximate depth at which Python's JSON parser gives up.
const PYTHON_NESTING_MAX: usize = 990;

/// The most digits that Python converts to an integer.
const PYTHON_DIGITS_MAX: usize = 4300;

/// How plans are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlanningMode {
    /// All at once.
    MultiStep,
    /// One step a turn.
    StepByStep,
}

/// The published parser's result for a reply in JSON.
///
/// Numbers that JSON does not support are texts here, in Python's notation: `nan`, `inf`, `-inf`, and integers of
/// more than 64 bits.
///
/// # Errors
/// The published parser refuses the reply.
pub fn read_json(reply: &str, mode: PlanningMode) -> Result<Json, PlanRefusal> {
    // The steps of 5.1. Escapes in texts are destroyed by this, which is kept.
    let text = reply.replace('\n', "").replace("\\_", "_").replace('\\', "");
    let mut text = text.split_once(MARKER).map_or(text.as_str(), |(_, behind)| behind);
    // From the first to the last brace, even of a list, which loses its brackets by this.
    text = text.find('{').map_or(text, |place| &text[place..]);
    text = text.rfind('}').map_or(text, |place| &text[..=place]);
    let failure =
        |problem: ParseProblem| PlanRefusal { code: RefusalCode::Json, message: problem.to_string() };
    let node = match json::read(text, 0, Dialect::Python, PYTHON_NESTING_MAX) {
        Ok((node, behind)) => {
            let rest = text[behind..].trim_start_matches([' ', '\t', '\r']);
            if let Some(found) = rest.chars().next() {
                let found = format!("`{found}`");
                return Err(failure(ParseProblem::Unexpected { expected: "the end", found }));
            }
            node
        }
        // Python raises a RecursionError here, which the published code does not count as a JSON error.
        Err((problem @ ParseProblem::TooDeep { .. }, _)) => {
            return Err(Unexpected(problem.to_string()).into());
        }
        Err((problem, _)) => return Err(failure(problem)),
    };
    let value = value(&node)?;
    match (mode, &node.tree) {
        (PlanningMode::StepByStep, _) => Ok(value),
        (PlanningMode::MultiStep, Tree::Null | Tree::Bool(_) | Tree::Number(_)) => {
            Err(Unexpected(format!("{} has no keys", node.tree.kind())).into())
        }
        (PlanningMode::MultiStep, _) => Ok(nodes(value)?),
    }
}

/// The value of `nodes`. Python can search for it in texts and lists too, but cannot extract it.
fn nodes(mut value: Json) -> Result<Json, Unexpected> {
    const KEY: &str = "nodes";
    match &mut value {
        Json::Object(object) => match object.get_mut(KEY) {
            Some(nodes) => Ok(nodes.take()),
            None => Ok(value),
        },
        Json::Array(items) if items.iter().any(|item| item == KEY) => unexpected("a list has no key `nodes`"),
        Json::String(text) if text.contains(KEY) => unexpected("a text has no key `nodes`"),
        _ => Ok(value),
    }
}

fn value(node: &Node) -> Result<Json, Unexpected> {
    Ok(match &node.tree {
        Tree::Null => Json::Null,
        Tree::Bool(it) => Json::Bool(*it),
        Tree::Number(digits) => number(digits)?,
        Tree::Text(text) => Json::String(text.clone()),
        Tree::List(items) => Json::Array(items.iter().map(value).collect::<Result<_, _>>()?),
        Tree::Object(entries) => {
            let mut object = Map::new();
            for (key, node) in entries {
                // Of a repeated key the last value stays, as in Python.
                object.insert(key.clone(), value(node)?);
            }
            Json::Object(object)
        }
    })
}

fn number(digits: &str) -> Result<Json, Unexpected> {
    if digits.ends_with('N') || digits.ends_with('y') {
        let name = if digits == "NaN" { "nan" } else { &digits.replace("Infinity", "inf") };
        return Ok(Json::String(name.to_owned()));
    }
    if digits.contains(['.', 'e', 'E']) {
        let float: f64 = digits.parse().unwrap_or(f64::NAN);
        // Python reads a number that is too large as infinite.
        let infinity = if float < 0.0 { "-inf" } else { "inf" };
        return Ok(Number::from_f64(float).map_or(Json::String(infinity.to_owned()), Json::Number));
    }
    if digits.trim_start_matches('-').len() > PYTHON_DIGITS_MAX {
        return unexpected("a whole number has too many digits");
    }
    let small = digits.parse::<i64>().map(Json::from).or_else(|_| digits.parse::<u64>().map(Json::from));
    Ok(small.unwrap_or_else(|_| Json::String(digits.to_owned())))
}

/// The published parser's result for a reply with a program: its text.
///
/// # Errors
/// The published parser refuses the reply.
pub fn read_python(reply: &str) -> Result<String, PlanRefusal> {
    let text = reply.replace("\\_", "_").replace('\\', "");
    let text = text.split_once(MARKER).map_or(text.as_str(), |(_, behind)| behind);
    let enclosed = text.split_once("```python").and_then(|(_, behind)| behind.split_once("```"));
    let unknown = |message: &str| PlanRefusal { code: RefusalCode::Unknown, message: message.to_owned() };
    let Some((program, _)) = enclosed else {
        return Err(unknown("the program does not stand between ```python and ```"));
    };
    if program.is_empty() {
        return Err(unknown("the program is empty"));
    }
    match python::compile(program) {
        Ok(()) => Ok(program.to_owned()),
        Err(fault) => Err(unknown(&fault.to_string())),
    }
}
