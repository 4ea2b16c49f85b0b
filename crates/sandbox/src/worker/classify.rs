//! The meaning of an exception that ends a program: a failure of the program, a limit, or a feature that the sandbox
//! lacks.
//!
//! The interpreter reports all three by exceptions of Python. They are recognised by their messages, which a program
//! could raise itself; therefore an exception from a `raise` statement, or from the host, is always the program's.

use monty_types::{CodeLoc, ExcType, MontyException};
use ruff_python_stdlib::builtins::is_python_builtin;

use super::values::cut;
use crate::outcome::{Exception, Lack, Limit, ProgramEnd};

/// The version of Python whose builtins count as such: 3.`MINOR`.
const MINOR: u8 = 14;
/// The interpreter's messages for an unknown part of the language.
const SYNTAX: &str = "The monty syntax parser does not yet support ";
/// Its messages for something that it cannot do.
const ABILITIES: [&str; 4] = ["not yet support", "is not supported", "not implemented", "cannot suspend"];
/// Its messages for a function with more of something than its instructions can count.
const SIZES: [&str; 4] =
    ["function too large", "too many distinct names", "more than 255", "too many targets"];
/// Its messages for an unknown argument of a builtin function.
const OPTIONS: [&str; 3] =
    ["argument is not supported", "argument is not yet supported", "bases are not supported"];
/// How it refuses to format with `%`.
const FORMATS: [&str; 2] =
    ["unsupported operand type(s) for %: 'str'", "unsupported operand type(s) for %: 'bytes'"];
/// Its messages for an unexpected internal state.
const INTERNAL: &str = "Internal error in monty";

/// The end of a program that does not compile. `lines` is the number of its own lines.
pub(super) fn uncompiled(exception: &MontyException, lines: u32) -> ProgramEnd {
    let message = exception.message().unwrap_or_default();
    let line = line(exception, lines);
    match exception.exc_type() {
        ExcType::NotImplementedError => {
            let what = message.strip_prefix(SYNTAX).unwrap_or(message);
            ProgramEnd::Unsupported { lack: Lack::Syntax(cut(what)), line }
        }
        // Limits of the interpreter that Python does not have.
        ExcType::SyntaxError if SIZES.iter().any(|size| message.contains(size)) => {
            ProgramEnd::Unsupported { lack: Lack::Ability(cut(message)), line }
        }
        ExcType::SyntaxError if message.contains("too deeply nested") => ProgramEnd::Limit(Limit::Recursion),
        ExcType::RecursionError => ProgramEnd::Limit(Limit::Recursion),
        ExcType::MemoryError => ProgramEnd::Limit(Limit::Memory),
        _ => raised(exception, line),
    }
}

/// The end of a program that raised an exception.
pub(super) fn uncaught(exception: &MontyException, lines: u32, is_hosts: bool) -> ProgramEnd {
    let line = line(exception, lines);
    if is_hosts || is_from_raise(exception) {
        return raised(exception, line);
    }
    let message = exception.message().unwrap_or_default();
    let lack = match exception.exc_type() {
        ExcType::TimeoutError if message.starts_with("time limit exceeded") => {
            return ProgramEnd::Limit(Limit::Time);
        }
        ExcType::MemoryError => return ProgramEnd::Limit(Limit::Memory),
        ExcType::RecursionError => return ProgramEnd::Limit(Limit::Recursion),
        // Whether Python has such a module is not known here, so its absence is never held against the program.
        ExcType::ModuleNotFoundError => Some(Lack::Module(cut(quoted(message).unwrap_or(message)))),
        ExcType::ImportError => Some(Lack::Member(cut(message))),
        ExcType::AttributeError
            if message.starts_with("module '") || message.starts_with("'module' object") =>
        {
            Some(Lack::Member(cut(message)))
        }
        ExcType::AttributeError if message.starts_with("type object '") && is_builtin(quoted(message)) => {
            Some(Lack::Ability(cut(message)))
        }
        // The program's own definitions are found, so this is one of Python's own names.
        ExcType::AttributeError if message.contains("has no attribute '__") => {
            Some(Lack::Ability(cut(message)))
        }
        ExcType::NameError if is_builtin(quoted(message)) => {
            Some(Lack::Builtin(cut(quoted(message).unwrap_or(message))))
        }
        ExcType::NotImplementedError if ABILITIES.iter().any(|ability| message.contains(ability)) => {
            Some(Lack::Ability(cut(message)))
        }
        ExcType::RuntimeError if message.starts_with(INTERNAL) => {
            let why = message[INTERNAL.len()..].trim_start_matches([':', ' ']);
            Some(Lack::Ability(cut(&format!("what this line needs (the interpreter fails on it: {why})"))))
        }
        ExcType::TypeError if FORMATS.iter().any(|format| message.starts_with(format)) => {
            Some(Lack::Syntax("% formatting".into()))
        }
        ExcType::TypeError if OPTIONS.iter().any(|option| message.contains(option)) => {
            Some(Lack::Ability(cut(message)))
        }
        _ => None,
    };
    lack.map_or_else(|| raised(exception, line), |lack| ProgramEnd::Unsupported { lack, line })
}

/// Whether a `raise` statement raised it. Apart from these only imports and attributes are shown without a caret, and
/// their positions are not after that word.
fn is_from_raise(exception: &MontyException) -> bool {
    let Some(frame) = exception.traceback().last().filter(|frame| frame.hide_caret) else { return false };
    match exception.exc_type() {
        ExcType::ImportError | ExcType::ModuleNotFoundError | ExcType::AttributeError => {
            let column = usize::try_from(frame.start.column).unwrap_or(usize::MAX).saturating_sub(1);
            let before: String =
                frame.preview_line.iter().flat_map(|line| line.chars().take(column)).collect();
            before.trim_end_matches(['(', ' ', '\t']).ends_with("raise")
        }
        _ => true,
    }
}

fn raised(exception: &MontyException, line: Option<u32>) -> ProgramEnd {
    ProgramEnd::Raised(Exception {
        kind: exception.exc_type().to_string(),
        message: cut(exception.message().unwrap_or_default()),
        line,
    })
}

/// The innermost line of the program itself, excluding the call of its entry point.
pub(super) fn line(exception: &MontyException, lines: u32) -> Option<u32> {
    let places = exception.traceback().iter().rev();
    places.map(|frame| frame.start).map(|CodeLoc { line, .. }| line).find(|line| *line <= lines)
}

/// Whether Python has this builtin name; names between double underscores count.
fn is_builtin(name: Option<&str>) -> bool {
    name.is_some_and(|name| name.starts_with("__") || is_python_builtin(name, MINOR, false))
}

/// What stands in the first quotes.
fn quoted(message: &str) -> Option<&str> {
    message.split('\'').nth(1)
}
