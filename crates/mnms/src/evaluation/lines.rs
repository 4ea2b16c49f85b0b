//! Tool calls in lines of code, with each line parsed on its own, as the published evaluator does it.

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use planproof_measure::python::strip;
use ruff_python_ast::{ExceptHandler, Expr, Stmt, StmtAssign, StmtIf};

use super::plain_line;
use crate::python::source::parse;
use crate::python::unparse::unparse;

/// A tool call whose result a line assigns to a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) tool: String,
    /// Keywords with the text of their values. A repeated keyword has its last value; `**` has no name.
    pub(super) arguments: Vec<(Option<String>, String)>,
}

/// Lines parsed so far, so that none is parsed twice: plans and their alternatives share most of their lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    read: HashMap<String, Option<Rc<Call>>>,
    /// The total length of the cached lines, in bytes.
    bytes: usize,
}

/// Maximum total length of cached lines, in bytes.
const HELD_BYTES_MAX: usize = 1 << 20;

impl Lines {
    /// The calls of a program, line by line.
    pub(super) fn calls(&mut self, program: &str) -> Vec<Rc<Call>> {
        program.split('\n').filter_map(|line| self.call(strip(line))).collect()
    }

    fn call(&mut self, line: &str) -> Option<Rc<Call>> {
        if let Some(known) = self.read.get(line) {
            return known.clone();
        }
        let call = read(line).map(Rc::new);
        // The whole cache is dropped. That is simpler than evicting
        // single lines, and costs one more parse of those that recur.
        if self.bytes + line.len() > HELD_BYTES_MAX {
            (self.read, self.bytes) = (HashMap::new(), 0);
        }
        self.bytes += line.len();
        self.read.insert(line.to_owned(), call.clone());
        call
    }
}

impl Call {
    /// Sets a keyword, replacing any earlier value.
    pub(super) fn set(&mut self, name: Option<String>, value: String) {
        match self.arguments.iter_mut().find(|(known, _)| *known == name) {
            Some((_, held)) => *held = value,
            None => self.arguments.push((name, value)),
        }
    }
}

/// The call in a line; `None` if none counts.
fn read(line: &str) -> Option<Call> {
    plain_line::read(line).or_else(|| read_any(line))
}

/// The same through Python's parser, which handles every line.
pub(super) fn read_any(line: &str) -> Option<Call> {
    // Without an assignment there is nothing to find.
    if !line.contains('=') || !line.contains('(') {
        return None;
    }
    let module = parse(line).ok()?;
    let assignment = first_assignment(&module.body)?;
    // Only the first target counts, so `a = b = f()` is a call, but `a, b = f()` and `f()['k']` are not (specification,
    // section 6.1).
    let (Some(Expr::Name(_)), Expr::Call(call)) = (assignment.targets.first(), &*assignment.value) else {
        return None;
    };
    let Expr::Name(tool) = &*call.func else { return None };
    let arguments = Vec::with_capacity(call.arguments.keywords.len());
    let mut found = Call { tool: tool.id.as_str().to_owned(), arguments };
    // Positional arguments are dropped, as published.
    for keyword in &call.arguments.keywords {
        let name = keyword.arg.as_ref().map(|name| name.as_str().to_owned());
        found.set(name, unparse(&keyword.value).ok()?);
    }
    Some(found)
}

/// A level in the tree of statements: Python nests handlers, cases and the `else` of an `if` one level deeper.
enum Place<'a> {
    Statement(&'a Stmt),
    Handler(&'a ExceptHandler),
    Case(&'a ruff_python_ast::MatchCase),
    /// The clauses of an `if` from this one on.
    Clauses(&'a StmtIf, usize),
}

/// The first plain assignment in breadth-first order.
fn first_assignment(body: &[Stmt]) -> Option<&StmtAssign> {
    let mut queue: VecDeque<Place<'_>> = body.iter().map(Place::Statement).collect();
    while let Some(place) = queue.pop_front() {
        match place {
            Place::Statement(Stmt::Assign(assignment)) => return Some(assignment),
            Place::Statement(Stmt::FunctionDef(it)) => queue.extend(it.body.iter().map(Place::Statement)),
            Place::Statement(Stmt::ClassDef(it)) => queue.extend(it.body.iter().map(Place::Statement)),
            Place::Statement(Stmt::With(it)) => queue.extend(it.body.iter().map(Place::Statement)),
            Place::Statement(Stmt::For(it)) => {
                queue.extend(it.body.iter().chain(&it.orelse).map(Place::Statement));
            }
            Place::Statement(Stmt::While(it)) => {
                queue.extend(it.body.iter().chain(&it.orelse).map(Place::Statement));
            }
            Place::Statement(Stmt::If(it)) => {
                queue.extend(it.body.iter().map(Place::Statement));
                add_clauses(&mut queue, it, 0);
            }
            Place::Clauses(it, number) => {
                if let Some(clause) = it.elif_else_clauses.get(number) {
                    queue.extend(clause.body.iter().map(Place::Statement));
                    add_clauses(&mut queue, it, number + 1);
                }
            }
            // The order is that of the fields in Python's tree: body, handlers, `else`, `finally`.
            Place::Statement(Stmt::Try(it)) => {
                queue.extend(it.body.iter().map(Place::Statement));
                queue.extend(it.handlers.iter().map(Place::Handler));
                queue.extend(it.orelse.iter().chain(&it.finalbody).map(Place::Statement));
            }
            Place::Statement(Stmt::Match(it)) => queue.extend(it.cases.iter().map(Place::Case)),
            Place::Handler(ExceptHandler::ExceptHandler(it)) => {
                queue.extend(it.body.iter().map(Place::Statement));
            }
            Place::Case(it) => queue.extend(it.body.iter().map(Place::Statement)),
            Place::Statement(_) => {}
        }
    }
    None
}

/// What follows the body of an `if`: to Python, an `elif` is an `if` within its `else`.
fn add_clauses<'a>(queue: &mut VecDeque<Place<'a>>, statement: &'a StmtIf, number: usize) {
    match statement.elif_else_clauses.get(number) {
        Some(clause) if clause.test.is_none() => queue.extend(clause.body.iter().map(Place::Statement)),
        Some(_) => queue.push_back(Place::Clauses(statement, number)),
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> Option<String> {
        let call = read(line)?;
        let arguments: Vec<String> = call
            .arguments
            .iter()
            .map(|(name, value)| format!("{}={value}", name.as_deref().unwrap_or("**")))
            .collect();
        Some(format!("{}({})", call.tool, arguments.join(", ")))
    }

    #[test]
    fn assigned_calls_are_found() {
        let found = [
            ("a = f(x=1)", "f(x=1)"),
            ("a = b = f(x=1)", "f(x=1)"),
            ("if c: a = f(x=1)", "f(x=1)"),
            ("def h(): x = f()", "f()"),
            ("async def h(): x = f()", "f()"),
            ("for i in y: a = f(x='k', x=\"l\", y=(1))", "f(x='l', y=1)"),
            ("print(1); a = f(x=1); b = g()", "f(x=1)"),
            ("a = (f)(1, *b, x=1, **c)", "f(x=1, **=c)"),
            ("if c: pass\relif d: pass\relse: a = f()", "f()"),
            ("with c as d: a = f(x=\"a\" 'b')", "f(x='ab')"),
        ];
        for (line, call) in found {
            assert_eq!(shown(line).as_deref(), Some(call), "{line}");
        }
    }

    #[test]
    fn all_else_is_no_call() {
        let lines = [
            "",
            "f(x=1)",
            "a: int = f(x=1)",
            "a += f(x=1)",
            "a, b = f(x=1)",
            "a.b = f(x=1)",
            "a[0] = f(x=1)",
            "a = t.f(x=1)",
            "a = f(x=1)['k']",
            "a = await f(x=1)",
            "a = 1; b = f(x=1)",
            "a = f(x=1",
            "a = f(x=)",
            "a = f(x=f'{y['k']}')",
            "a = f(x=\"\0\")",
            "a = f(x=1)\\",
            "class = f(x=1)",
            "x=1)",
        ];
        for line in lines {
            assert_eq!(shown(line), None, "{line}");
        }
    }

    #[test]
    fn what_is_nested_without_end_is_no_call() {
        for (open, close) in
            [("(", ")"), ("[", "]"), ("-", ""), ("not ", ""), ("f(", ")"), ("lambda: ", ""), ("{1: ", "}")]
        {
            for depth in [300, 100_000] {
                let line = format!("a = f(x={}1{})", open.repeat(depth), close.repeat(depth));
                assert_eq!(shown(&line), None, "{open} {depth}");
            }
            let line = format!("a = f(x={}1{})", open.repeat(20), close.repeat(20));
            assert!(shown(&line).is_some(), "{open}");
        }
        let long = format!("a = f(x={})", "b + ".repeat(100_000) + "1");
        let _ = shown(&long);
    }

    #[test]
    fn lines_are_held_within_bounds() {
        let mut lines = Lines::default();
        let line = |number: usize| format!("a = f(x=\"{number}{}\")", "x".repeat(10_000));
        for number in 0..300 {
            assert_eq!(lines.calls(&line(number)).len(), 1);
        }
        assert!(lines.bytes <= HELD_BYTES_MAX && lines.read.len() <= 110);
    }
}
