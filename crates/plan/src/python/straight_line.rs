//! The plan of a program that only calls tools one after the other.
//!
//! Calls may be assigned to any names, be nested (`f(text=g(image="a.jpg")['text'])`), and take texts, f-strings,
//! subscripts of earlier outputs, other literals, and names of any of these. Docstrings, imports, prints and the
//! dictionary of results are ignored. A program with anything else has no plan.

use std::collections::HashMap;
use std::rc::Rc;

use ruff_python_ast::{Expr, ExprCall, ModModule, Stmt};

use super::names;
use super::values::{self, Draft, DraftPart, Source};
use crate::limits::TEXT_BYTES_MAX;
use crate::plan::{ArgumentValue, Plan, Reference, Step, TextPiece};
use crate::text::{are_plain, is_key};

/// The plan of a program, or `None` if it does something that no plan can express.
pub(crate) fn plan(module: &ModModule, text: &str) -> Option<Plan> {
    let mut builder = Builder { text, copied: 0, ..Builder::default() };
    builder.run_module(&module.body)?;
    builder.finish()
}

/// A call before the ids are known.
struct Call {
    /// The name that it was assigned to.
    variable: Option<String>,
    tool: String,
    arguments: Vec<(String, Draft)>,
}

/// What a name stands for.
#[derive(Clone)]
enum Bound {
    /// The outputs of a call, by its place.
    Call(usize),
    /// Shared, because a program can give one long text any number of names.
    Value(Rc<Draft>),
    /// Something that no argument can be.
    Other,
}

#[derive(Default)]
pub(super) struct Builder<'t> {
    text: &'t str,
    calls: Vec<Call>,
    names: HashMap<String, Bound>,
    /// The last dictionary of numbers and names.
    results: Option<Vec<(u64, String)>>,
    /// The total bytes of values taken by name. Names of names can double a text again and again.
    copied: usize,
}

impl Builder<'_> {
    fn run_module(&mut self, body: &[Stmt]) -> Option<()> {
        // With a function, its body is the plan; without one, the program itself is.
        let is_solve = |stmt: &&Stmt| matches!(stmt, Stmt::FunctionDef(_));
        let Some(Stmt::FunctionDef(solve)) = body.iter().find(is_solve) else {
            return self.run(body);
        };
        let is_plain = !solve.is_async && solve.decorator_list.is_empty() && solve.parameters.is_empty();
        if !is_plain || solve.type_params.is_some() {
            return None;
        }
        let calls_solve = |expr: &Expr| {
            let Expr::Call(call) = expr else { return false };
            call.arguments.is_empty() && matches!(&*call.func, Expr::Name(name) if name.id == solve.name.id)
        };
        // Beside the function nothing may happen that a plan could not express; calling it is expected.
        for stmt in body {
            let is_idle = match stmt {
                Stmt::FunctionDef(other) => other == solve,
                Stmt::Import(_) | Stmt::ImportFrom(_) | Stmt::Pass(_) => true,
                Stmt::Assign(assign) => calls_solve(&assign.value),
                Stmt::Expr(stmt) => match &*stmt.value {
                    Expr::StringLiteral(_) => true,
                    Expr::Call(call) if is_print(call) => {
                        call.arguments.args.iter().all(|it| calls_solve(it) || values::is_idle(it))
                    }
                    other => calls_solve(other),
                },
                _ => false,
            };
            if !is_idle {
                return None;
            }
        }
        self.run(&solve.body)
    }

    fn run(&mut self, body: &[Stmt]) -> Option<()> {
        for (place, stmt) in body.iter().enumerate() {
            match stmt {
                Stmt::Pass(_) | Stmt::Import(_) | Stmt::ImportFrom(_) => {}
                Stmt::Assign(assign) => self.assign(&assign.targets, &assign.value)?,
                Stmt::AnnAssign(assign) => {
                    self.assign(std::slice::from_ref(&assign.target), assign.value.as_deref()?)?;
                }
                Stmt::Expr(stmt) => match &*stmt.value {
                    Expr::StringLiteral(_) => {}
                    Expr::Call(call) if is_print(call) => {
                        call.arguments.args.iter().all(values::is_idle).then_some(())?;
                    }
                    Expr::Call(call) => {
                        self.call(call)?;
                    }
                    _ => return None,
                },
                Stmt::Return(stmt) => {
                    match stmt.value.as_deref() {
                        None => {}
                        Some(Expr::Call(call)) => {
                            self.call(call)?;
                        }
                        Some(value) => {
                            self.note_results(value);
                            values::is_idle(value).then_some(())?;
                        }
                    }
                    // What comes behind it never happens.
                    return (place + 1 == body.len()).then_some(());
                }
                _ => return None,
            }
        }
        Some(())
    }

    fn assign(&mut self, targets: &[Expr], value: &Expr) -> Option<()> {
        let targets = targets.iter().map(|target| match target {
            Expr::Name(name) => Some(name.id.to_string()),
            _ => None,
        });
        let targets: Vec<String> = targets.collect::<Option<_>>()?;
        // Noted whatever else the value is: the dictionary of results is not an argument, but it numbers the steps.
        self.note_results(value);
        let bound = match value {
            Expr::Call(call) => {
                let place = self.call(call)?;
                self.calls[place].variable = targets.last().cloned();
                Bound::Call(place)
            }
            Expr::Name(name) => self.names.get(name.id.as_str())?.clone(),
            _ => match self.value(value) {
                Some(draft) => Bound::Value(Rc::new(draft)),
                // It has no effect, so the plan is complete without it, as long as no argument uses it.
                None if values::is_idle(value) => Bound::Other,
                None => return None,
            },
        };
        for target in targets {
            self.names.insert(target, bound.clone());
        }
        Some(())
    }

    /// Remembers a dictionary such as `{0: output0, 1: output1}`.
    fn note_results(&mut self, value: &Expr) {
        let Expr::Dict(dict) = value else { return };
        let entry = |item: &ruff_python_ast::DictItem| match (&item.key, &item.value) {
            (Some(key), Expr::Name(name)) => Some((values::whole_number(key)?, name.id.to_string())),
            _ => None,
        };
        if let Some(results) = dict.items.iter().map(entry).collect() {
            self.results = Some(results);
        }
    }

    /// Adds a call, after those in its arguments. Returns its index.
    pub(super) fn call(&mut self, call: &ExprCall) -> Option<usize> {
        let tool = match &*call.func {
            Expr::Name(name) => {
                let name = name.id.as_str();
                // A name that the program has assigned is not a tool any more, even if a tool has the same name.
                let is_own = self.names.contains_key(name) || names::is_builtin(name);
                (!is_own).then(|| name.replace('_', " "))?
            }
            Expr::Subscript(subscript) => values::name_among_globals(subscript)?,
            _ => return None,
        };
        // A plan's arguments have names, and this reader does not know the tools' signatures.
        if !call.arguments.args.is_empty() {
            return None;
        }
        let mut arguments: Vec<(String, Draft)> = Vec::new();
        for keyword in &call.arguments.keywords {
            match (&keyword.arg, &keyword.value) {
                (Some(name), value) => arguments.push((name.to_string(), self.value(value)?)),
                (None, Expr::Dict(dict)) => {
                    for item in &dict.items {
                        let name = values::literal(item.key.as_ref()?, self.text)?;
                        arguments.push((name, self.value(&item.value)?));
                    }
                }
                _ => return None,
            }
        }
        self.calls.push(Call { variable: None, tool, arguments });
        Some(self.calls.len() - 1)
    }

    /// What an argument is.
    fn value(&mut self, expr: &Expr) -> Option<Draft> {
        match expr {
            Expr::FString(text) => {
                let mut parts = Vec::new();
                for piece in values::pieces(text, self.text)? {
                    match piece {
                        values::Piece::Words(words) => parts.push(DraftPart::Words(words)),
                        values::Piece::Expr(expr) => match self.value(expr)? {
                            Draft::Text(inner) => parts.extend(inner),
                            // Python would format the value in its own way, so the text is not known.
                            Draft::Json(_) => return None,
                        },
                    }
                }
                Some(Draft::Text(parts))
            }
            Expr::Subscript(subscript) => {
                let key = values::literal(&subscript.slice, self.text)?;
                let source = match &*subscript.value {
                    Expr::Name(name) => match self.names.get(name.id.as_str()) {
                        Some(Bound::Call(place)) => Source::Call(*place),
                        Some(_) => return None,
                        // Not assigned so far: a reference to a later step, which only the whole program can resolve.
                        None => Source::Name(name.id.to_string()),
                    },
                    Expr::Call(call) => Source::Call(self.call(call)?),
                    _ => return None,
                };
                Some(Draft::Text(vec![DraftPart::Output(source, key)]))
            }
            Expr::Name(name) => match self.names.get(name.id.as_str())? {
                Bound::Value(draft) => {
                    self.copied += draft.size();
                    (self.copied <= TEXT_BYTES_MAX).then(|| Draft::clone(draft))
                }
                _ => None,
            },
            Expr::StringLiteral(_) => {
                Some(Draft::Text(vec![DraftPart::Words(values::literal(expr, self.text)?)]))
            }
            _ => values::json(expr, self.text).map(Draft::Json),
        }
    }

    fn finish(self) -> Option<Plan> {
        let ids = self.ids();
        let mut later: HashMap<&str, u64> = HashMap::new();
        for (call, id) in self.calls.iter().zip(&ids) {
            if let Some(variable) = &call.variable {
                // The first assignment of such a name comes after its use, or the use would have found it.
                later.entry(variable).or_insert(*id);
            }
        }
        let taken: std::collections::HashSet<u64> = ids.iter().copied().collect();
        let step_of = |source: &Source| match source {
            Source::Call(place) => ids.get(*place).copied(),
            Source::Name(name) => later.get(name.as_str()).copied().or_else(|| {
                // No call has this name. Its number stays as a reference to a missing step, which the verifier reports,
                // unless another step has that number.
                names::number(name).filter(|number| !taken.contains(number))
            }),
        };
        let value = |draft: &Draft| match draft {
            Draft::Json(json) => Some(ArgumentValue::Json(json.clone())),
            Draft::Text(parts) => text(parts, &step_of),
        };
        let steps = self.calls.iter().zip(&ids).map(|(call, id)| {
            let arguments = call.arguments.iter().map(|(name, draft)| Some((name.clone(), value(draft)?)));
            Some(Step { id: *id, tool: call.tool.clone(), arguments: arguments.collect::<Option<_>>()? })
        });
        Some(Plan { steps: steps.collect::<Option<_>>()? })
    }

    /// The numbers of the calls: those that the dictionary of results assigns to all of them in order; else those in
    /// the names of their variables; else their indices.
    fn ids(&self) -> Vec<u64> {
        let variables = || self.calls.iter().map(|call| call.variable.as_deref());
        if let Some(results) = &self.results
            && results.len() == self.calls.len()
            && results.iter().zip(variables()).all(|((_, name), variable)| variable == Some(name))
        {
            return results.iter().map(|(id, _)| *id).collect();
        }
        // All calls or none: with some numbers from names and others from places, two could be the same.
        let numbers: Option<Vec<u64>> = variables().map(|variable| names::number(variable?)).collect();
        let is_distinct = |numbers: &Vec<u64>| {
            numbers.iter().collect::<std::collections::HashSet<_>>().len() == numbers.len()
        };
        numbers.filter(is_distinct).unwrap_or_else(|| (0..self.calls.len() as u64).collect())
    }
}

/// The parts in normal form, if a plan can express them: words joined, none of them empty or readable as a reference.
fn text(parts: &[DraftPart], step_of: &dyn Fn(&Source) -> Option<u64>) -> Option<ArgumentValue> {
    let mut joined: Vec<TextPiece> = Vec::new();
    for part in parts {
        match part {
            DraftPart::Words(words) => match joined.last_mut() {
                Some(TextPiece::Words(before)) => before.push_str(words),
                _ if words.is_empty() => {}
                _ => joined.push(TextPiece::Words(words.clone())),
            },
            DraftPart::Output(source, key) => {
                let step = step_of(source)?;
                is_key(key).then_some(())?;
                joined.push(TextPiece::Reference(Reference { step, key: key.clone() }));
            }
        }
    }
    let is_plain = |part: &TextPiece| matches!(part, TextPiece::Words(words) if !are_plain(words));
    // In the form of JSON such words would become a reference, so the plan would change.
    if joined.iter().any(is_plain) {
        return None;
    }
    if joined.is_empty() {
        joined.push(TextPiece::Words(String::new()));
    }
    Some(ArgumentValue::Text(joined))
}

fn is_print(call: &ExprCall) -> bool {
    matches!(&*call.func, Expr::Name(name) if name.id == "print")
}

#[cfg(test)]
mod tests {
    use ruff_python_ast::PythonVersion;

    use super::*;
    use crate::python::parse::{Depth, parse};

    /// With a copy for each name, a reply of 4 MiB could take hundreds of gigabytes.
    #[test]
    fn names_of_one_value_share_it() {
        let program = "a = b = \"word\"\nc = a\nd = c\n";
        let parsed = parse(program, PythonVersion::latest(), Depth::Grammar).unwrap();
        let mut builder = Builder { text: program, ..Builder::default() };
        assert!(builder.run_module(parsed.suite()).is_some());
        let sharing = |name: &str| match builder.names.get(name) {
            Some(Bound::Value(draft)) => Rc::strong_count(draft),
            _ => 0,
        };
        assert_eq!(["a", "b", "c", "d"].map(sharing), [4; 4]);
    }
}
