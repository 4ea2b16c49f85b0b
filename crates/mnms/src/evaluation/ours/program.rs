//! Steps of a plan written as a program: its calls of tools, in the order in which they are written.

use std::collections::{HashMap, HashSet};

use planproof_measure::python::strip;
use ruff_python_ast::{
    ExceptHandler, Expr, ExprCall, FStringPart, Identifier, InterpolatedStringElement, ModModule, Number,
    Operator, Pattern, Stmt,
};

use super::{Part, Step, declared, tool_name};
use crate::evaluation::counts::place_of;
use crate::python::source::parse;
use crate::python::unparse::unparse;

/// Functions that every program has. A call of any other function that the program does not define counts as a
/// tool.
const BUILT_IN: [&str; 34] = [
    "abs",
    "all",
    "any",
    "bool",
    "bytes",
    "dict",
    "enumerate",
    "exec",
    "eval",
    "filter",
    "float",
    "format",
    "getattr",
    "input",
    "int",
    "isinstance",
    "iter",
    "len",
    "list",
    "map",
    "max",
    "min",
    "next",
    "open",
    "print",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "sorted",
    "str",
    "sum",
    "tuple",
];

/// Maximum number of bytes of the values that a program copies from its variables: every line `x += x` doubles one.
/// Beyond that, a variable is taken for an empty text.
const COPIED_BYTES_MAX: usize = 16 << 20;

/// What a part of a value counts beyond its text, in bytes.
const PART_BYTES: usize = 64;

/// The steps, and whether anything could not be parsed.
pub(super) fn steps(program: &str) -> (Vec<Step>, bool) {
    let mut reader = Reader::default();
    let whole = parse(program);
    let has_malformed = whole.is_err();
    match whole {
        Ok(module) => reader.module(&module),
        // An error costs only its line.
        Err(_) => {
            for module in program.split('\n').filter_map(|line| parse(strip(line)).ok()) {
                reader.module(&module);
            }
        }
    }
    (reader.steps, has_malformed)
}

/// The fields of a template that `%` fills.
const PERCENT: [&str; 3] = ["%s", "%d", "%r"];
/// How a field of a template that `format` fills begins.
const BRACES: [&str; 1] = ["{"];

/// A template filled with values, by name, by number or in their order. Values without a field are put behind it, so
/// that references in them still make edges.
fn filled(template: &str, fields: &[&str], values: Vec<(Option<&str>, Vec<Part>)>) -> Vec<Part> {
    let mut left: Vec<(usize, Option<&str>, Vec<Part>)> =
        values.into_iter().enumerate().map(|(place, (name, parts))| (place, name, parts)).collect();
    let (mut parts, mut rest, mut next) = (Vec::new(), template, 0);
    while let Some((at, field)) = fields.iter().filter_map(|field| Some((rest.find(field)?, *field))).min() {
        let (before, after) = (&rest[..at], &rest[at + field.len()..]);
        // `{name}` ends behind its name; `%s` is whole.
        let (name, after) = match field {
            "{" => after.split_once('}').unwrap_or((after, "")),
            _ => ("", after),
        };
        let name = name.split([':', '!', '[', '.']).next().unwrap_or_default();
        let place = name.parse().unwrap_or(next);
        next = place + 1;
        let wanted = left.iter().position(|(of, named, _)| match named {
            Some(named) => *named == name,
            None => *of == place && (name.is_empty() || name.parse::<usize>().is_ok()),
        });
        parts.push(Part::Words(before.to_owned()));
        if let Some(wanted) = wanted {
            parts.extend(left.swap_remove(wanted).2);
        }
        rest = after;
    }
    parts.push(Part::Words(rest.to_owned()));
    left.sort_by_key(|(place, ..)| *place);
    parts.extend(left.into_iter().flat_map(|(.., parts)| parts));
    parts.retain(|part| !matches!(part, Part::Words(words) if words.is_empty()));
    parts
}

/// The value of a variable.
#[derive(Debug, Clone)]
enum Held {
    /// The result of a step.
    Step(usize),
    Parts(Vec<Part>),
}

/// A copy of a value, which is empty if more than [`COPIED_BYTES_MAX`] have been copied.
fn copy(held: &Held, copied: &mut usize) -> Held {
    let Held::Parts(parts) = held else { return held.clone() };
    // Nothing is measured any more once there is no room.
    if *copied <= COPIED_BYTES_MAX {
        *copied += parts.iter().map(bytes).sum::<usize>();
    }
    if *copied > COPIED_BYTES_MAX { Held::Parts(Vec::new()) } else { held.clone() }
}

fn bytes(part: &Part) -> usize {
    let text = match part {
        Part::Words(words) => words.len(),
        Part::Given(_, key) => key.as_ref().map_or(0, String::len),
    };
    PART_BYTES + text
}

#[derive(Default)]
struct Reader {
    steps: Vec<Step>,
    held: HashMap<String, Held>,
    /// The bytes of all values that were copied so far.
    copied: usize,
    /// Functions and classes that the program defines.
    defined: HashSet<String>,
    /// Whether this is another alternative than the first, whose values stay.
    is_alternative: bool,
}

impl Reader {
    fn module(&mut self, module: &ModModule) {
        // All definitions are collected first, because a function may be called above its definition.
        self.define(&module.body);
        self.body(&module.body);
    }

    fn define(&mut self, body: &[Stmt]) {
        for statement in body {
            match statement {
                Stmt::FunctionDef(it) => {
                    self.defined.insert(it.name.as_str().to_owned());
                    self.define(&it.body);
                }
                // Methods are not collected: they are called as attributes,
                // and these are tools only by the name of one.
                Stmt::ClassDef(it) => {
                    self.defined.insert(it.name.as_str().to_owned());
                }
                _ => {}
            }
        }
    }

    fn body(&mut self, body: &[Stmt]) {
        for statement in body {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Assign(it) => {
                let held = self.held(&it.value);
                for target in &it.targets {
                    let value = copy(&held, &mut self.copied);
                    self.bind(target, value);
                }
            }
            Stmt::AnnAssign(it) => {
                if let Some(value) = &it.value {
                    let held = self.held(value);
                    self.bind(&it.target, held);
                }
            }
            Stmt::AugAssign(it) => {
                // Taken as joining texts, whatever the operator.
                let mut parts = self.value(&it.target);
                parts.extend(self.value(&it.value));
                self.bind(&it.target, Held::Parts(parts));
            }
            Stmt::Expr(it) => self.look(&it.value),
            Stmt::Return(it) => {
                if let Some(value) = &it.value {
                    self.look(value);
                }
            }
            // A function is read where it is defined: programs define `solve`, which is called from outside.
            Stmt::FunctionDef(it) => self.body(&it.body),
            Stmt::ClassDef(it) => self.body(&it.body),
            // All branches are read, and loops once: what counts is the plan as written, and nothing is executed here.
            Stmt::If(it) => {
                self.look(&it.test);
                self.body(&it.body);
                for clause in &it.elif_else_clauses {
                    if let Some(test) = &clause.test {
                        self.look(test);
                    }
                    self.alternative(&clause.body);
                }
            }
            Stmt::For(it) => {
                self.look(&it.iter);
                self.body(&it.body);
                self.body(&it.orelse);
            }
            Stmt::While(it) => {
                self.look(&it.test);
                self.body(&it.body);
                self.body(&it.orelse);
            }
            Stmt::With(it) => {
                for item in &it.items {
                    self.look(&item.context_expr);
                }
                self.body(&it.body);
            }
            Stmt::Try(it) => {
                self.body(&it.body);
                for ExceptHandler::ExceptHandler(handler) in &it.handlers {
                    self.alternative(&handler.body);
                }
                self.body(&it.orelse);
                self.body(&it.finalbody);
            }
            Stmt::Match(it) => {
                let subject = self.held(&it.subject);
                for (place, case) in it.cases.iter().enumerate() {
                    match place {
                        0 => {
                            self.matched(&case.pattern, &subject);
                            self.body(&case.body);
                        }
                        _ => self.alternative(&case.body),
                    }
                }
            }
            _ => {}
        }
    }

    fn bind(&mut self, target: &Expr, held: Held) {
        if let Expr::Name(name) = target {
            self.bind_name(name.id.as_str(), held);
        }
    }

    fn bind_name(&mut self, name: &str, held: Held) {
        match self.is_alternative {
            true => {
                self.held.entry(name.to_owned()).or_insert(held);
            }
            false => {
                self.held.insert(name.to_owned(), held);
            }
        }
    }

    /// Another alternative than the first. As in a conditional expression, values are those of the first.
    fn alternative(&mut self, body: &[Stmt]) {
        let before = std::mem::replace(&mut self.is_alternative, true);
        self.body(body);
        self.is_alternative = before;
    }

    /// The names that a pattern gives to a value or its outputs.
    fn matched(&mut self, pattern: &Pattern, subject: &Held) {
        match pattern {
            Pattern::MatchAs(it) => {
                if let Some(name) = &it.name {
                    let value = copy(subject, &mut self.copied);
                    self.bind_name(name.as_str(), value);
                }
            }
            Pattern::MatchMapping(it) => {
                for (key, pattern) in it.keys.iter().zip(&it.patterns) {
                    if let (Held::Step(step), Expr::StringLiteral(key)) = (subject, key) {
                        let output = Part::Given(*step, Some(key.value.to_str().to_owned()));
                        self.matched(pattern, &Held::Parts(vec![output]));
                    }
                }
            }
            _ => {}
        }
    }

    /// Looks for calls in an expression whose value does not matter.
    fn look(&mut self, expression: &Expr) {
        let _ = self.held(expression);
    }

    fn held(&mut self, expression: &Expr) -> Held {
        match expression {
            Expr::Call(call) => match self.call(call) {
                Some(step) => Held::Step(step),
                None => Held::Parts(self.value_of_other(expression)),
            },
            Expr::Await(it) => self.held(&it.value),
            Expr::Name(name) => match self.held.get(name.id.as_str()) {
                Some(held) => copy(held, &mut self.copied),
                // A parameter or a loop variable, for example. Its value is unknown, so its name stands for it.
                None => Held::Parts(vec![Part::Words(name.id.as_str().to_owned())]),
            },
            _ => Held::Parts(self.value_of_other(expression)),
        }
    }

    /// The value of an expression as a text.
    fn value(&mut self, expression: &Expr) -> Vec<Part> {
        match self.held(expression) {
            Held::Step(step) => vec![Part::Given(step, None)],
            Held::Parts(parts) => parts,
        }
    }

    /// The value of an expression that is neither a name nor a call of a tool.
    fn value_of_other(&mut self, expression: &Expr) -> Vec<Part> {
        match expression {
            Expr::StringLiteral(it) => vec![Part::Words(it.value.to_str().to_owned())],
            Expr::FString(it) => {
                let mut parts = Vec::new();
                for part in &it.value {
                    match part {
                        FStringPart::Literal(words) => parts.push(Part::Words(words.as_str().to_owned())),
                        FStringPart::FString(string) => {
                            for element in &string.elements {
                                match element {
                                    InterpolatedStringElement::Literal(words) => {
                                        parts.push(Part::Words(words.value.to_string()));
                                    }
                                    InterpolatedStringElement::Interpolation(field) => {
                                        parts.extend(self.value(&field.expression));
                                    }
                                }
                            }
                        }
                    }
                }
                parts
            }
            Expr::BinOp(it) if it.op == Operator::Add => {
                let mut parts = self.value(&it.left);
                parts.extend(self.value(&it.right));
                parts
            }
            Expr::BinOp(it) if it.op == Operator::Mod && it.left.is_string_literal_expr() => {
                let Expr::StringLiteral(template) = &*it.left else { return Vec::new() };
                let values = match &*it.right {
                    Expr::Tuple(tuple) => tuple.elts.iter().collect(),
                    one => vec![one],
                };
                let values = values.into_iter().map(|value| (None, self.value(value))).collect();
                filled(template.value.to_str(), &PERCENT, values)
            }
            // `result['key']` is one output of a step. With any other
            // index, the reference stays and the index is text after it.
            Expr::Subscript(it) => match (self.held(&it.value), &*it.slice) {
                (Held::Step(step), Expr::StringLiteral(key)) => {
                    vec![Part::Given(step, Some(key.value.to_str().to_owned()))]
                }
                (Held::Step(step), slice) => {
                    let mut parts = vec![Part::Given(step, None)];
                    parts.extend(self.words(slice));
                    parts
                }
                (Held::Parts(mut parts), slice) => {
                    parts.extend(self.words(slice));
                    parts
                }
            },
            Expr::NumberLiteral(it) => match &it.value {
                // As for nodes, a whole number is equal to the integer.
                Number::Float(value) if value.fract() == 0.0 && value.abs() < 1e15 => {
                    vec![Part::Words(format!("{value:.0}"))]
                }
                _ => self.words(expression),
            },
            Expr::List(it) => self.list(&it.elts, "[", "]"),
            Expr::Tuple(it) => self.list(&it.elts, "(", ")"),
            Expr::Call(call) => self.value_of_call(call),
            Expr::Await(it) => self.value(&it.value),
            Expr::Named(it) => {
                let held = self.held(&it.value);
                self.bind(&it.target, held);
                // Read from the variable: evaluating the value a second time would add its calls again.
                self.value(&it.target)
            }
            Expr::If(it) => {
                self.look(&it.test);
                // The value is that of the first alternative. The other one is only searched for calls.
                let parts = self.value(&it.body);
                self.look(&it.orelse);
                parts
            }
            // As a value, this and the following kinds are their source
            // text, but calls within them are steps all the same.
            Expr::Dict(it) => {
                for item in &it.items {
                    self.look(&item.value);
                }
                self.words(expression)
            }
            Expr::BinOp(it) => {
                self.look(&it.left);
                self.look(&it.right);
                self.words(expression)
            }
            Expr::Attribute(it) => {
                self.look(&it.value);
                self.words(expression)
            }
            _ => self.words(expression),
        }
    }

    fn list(&mut self, elements: &[Expr], open: &str, close: &str) -> Vec<Part> {
        let mut parts = vec![Part::Words(open.to_owned())];
        for (number, element) in elements.iter().enumerate() {
            if number > 0 {
                parts.push(Part::Words(", ".to_owned()));
            }
            // As Python's `str` writes it.
            match element {
                Expr::StringLiteral(_) => parts.extend(self.words(element)),
                _ => parts.extend(self.value(element)),
            }
        }
        parts.push(Part::Words(close.to_owned()));
        parts
    }

    /// An expression as it is written in the source.
    fn words(&mut self, expression: &Expr) -> Vec<Part> {
        unparse(expression).map(|text| vec![Part::Words(text)]).unwrap_or_default()
    }

    /// The value of a call that is not a call of a tool.
    fn value_of_call(&mut self, call: &ExprCall) -> Vec<Part> {
        let arguments = &call.arguments;
        match (&*call.func, &arguments.args[..]) {
            // Values are compared as texts, so `str` changes nothing.
            (Expr::Name(name), [value]) if name.id.as_str() == "str" => self.value(value),
            (Expr::Attribute(method), _)
                if method.attr.as_str() == "format" && method.value.is_string_literal_expr() =>
            {
                let Expr::StringLiteral(template) = &*method.value else { return Vec::new() };
                let mut values: Vec<(Option<&str>, Vec<Part>)> =
                    arguments.args.iter().map(|value| (None, self.value(value))).collect();
                for keyword in &arguments.keywords {
                    let name = keyword.arg.as_ref().map(Identifier::as_str);
                    values.push((name, self.value(&keyword.value)));
                }
                filled(template.value.to_str(), &BRACES, values)
            }
            (Expr::Attribute(method), [Expr::StringLiteral(key), ..]) if method.attr.as_str() == "get" => {
                match self.held(&method.value) {
                    Held::Step(step) => vec![Part::Given(step, Some(key.value.to_str().to_owned()))],
                    Held::Parts(parts) => parts,
                }
            }
            (function, _) => {
                // The value is unknown. Everything in the call becomes part of
                // it, so that references within it still make edges.
                let mut parts = match function {
                    Expr::Attribute(method) => self.value(&method.value),
                    _ => self.words(function),
                };
                for argument in &arguments.args {
                    parts.extend(self.value(argument));
                }
                for keyword in &arguments.keywords {
                    parts.extend(self.value(&keyword.value));
                }
                parts
            }
        }
    }

    /// The index of the step that a call represents, if it calls a tool.
    fn call(&mut self, call: &ExprCall) -> Option<usize> {
        let tool = match &*call.func {
            Expr::Name(name) => {
                let name = name.id.as_str();
                let is_other = BUILT_IN.contains(&name) || self.defined.contains(name);
                (!is_other).then(|| tool_name(name))?
            }
            // A module of tools. Methods of texts and lists are not tools.
            Expr::Attribute(it) => {
                let tool = tool_name(it.attr.as_str());
                place_of(&tool).map(|_| tool)?
            }
            _ => return None,
        };
        let mut names = declared(&tool);
        let mut arguments: Vec<(String, Vec<Part>)> = Vec::new();
        for (number, argument) in call.arguments.args.iter().enumerate() {
            // An argument too many gets its number as a name, which no tool declares.
            let name = names.next().map_or_else(|| number.to_string(), str::to_owned);
            arguments.push((name, self.value(argument)));
        }
        for keyword in &call.arguments.keywords {
            match (&keyword.arg, &keyword.value) {
                (Some(name), value) => arguments.push((name.as_str().to_owned(), self.value(value))),
                (None, Expr::Dict(dictionary)) => {
                    for item in &dictionary.items {
                        // Entries of a literal dictionary are arguments. Anything else after `**` is one argument that
                        // no tool declares.
                        let name = match &item.key {
                            Some(Expr::StringLiteral(name)) => name.value.to_str().to_owned(),
                            _ => "**".to_owned(),
                        };
                        let value = self.value(&item.value);
                        arguments.push((name, value));
                    }
                }
                (None, value) => arguments.push(("**".to_owned(), self.value(value))),
            }
        }
        // Added after its arguments have been evaluated, because a call among them runs first.
        self.steps.push(Step { tool, arguments });
        Some(self.steps.len() - 1)
    }
}
