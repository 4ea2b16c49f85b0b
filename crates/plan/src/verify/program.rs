//! Programs.
//!
//! A program that is a plan is verified as one. For any other, only static facts are checked: which tools it calls with
//! which arguments, and, for variables that are assigned once and from a tool, where their outputs are used. What never
//! runs (after a `return`, below `if False`, in a function that nothing names) or is caught if it fails is not checked,
//! and a tool that is named without being called, as in `f = count`, is a step: how it is called, only execution can
//! tell.

use std::collections::{HashMap, HashSet};

use planproof_trace::{Catalogue, Port, Signature};
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{
    Alias, ExceptHandler, Expr, ExprCall, ExprContext, ExprSubscript, InterpolatedStringElement, Number,
    Parameter, Stmt,
};
use ruff_text_size::{Ranged, TextSize};

use super::arguments;
use super::fault::{PlanSite, StepFault, VerificationFault};
use super::plan::verify;
use crate::fault::{ParseFault, TextPosition};
use crate::python::{names, parse_program, straight_line_plan};
use crate::text::OPENING;

/// The function that is called from outside, where a program defines it.
const ENTRY: &str = "solve";

/// The most faults that are reported of a program.
const FAULTS_MAX: usize = 100;

/// All faults of a program, up to a hundred.
///
/// # Errors
/// It is not Python, or exceeds a limit of [`limits`](crate::limits).
pub fn verify_program(text: &str, catalogue: &Catalogue) -> Result<Vec<VerificationFault>, ParseFault> {
    let module = parse_program(text)?;
    // Such a program is as good as its plan, and a plan can be checked in full.
    if let Some(plan) = straight_line_plan(module.syntax(), text) {
        return Ok(verify(&plan, catalogue).into_iter().map(in_python).collect());
    }
    let tools: HashMap<String, &Signature> =
        catalogue.signatures().iter().map(|signature| (signature.identifier(), signature)).collect();
    let mut defined = Defined { tools: &tools, names: HashSet::new(), calls: HashMap::new() };
    // A pass of its own, because a function may be defined after its use.
    defined.visit_body(module.suite());
    let mut named = Named::default();
    named.visit_body(module.suite());
    let mut verifier =
        Verifier { catalogue, tools: &tools, defined, named, has_step: false, problems: Vec::new() };
    verifier.visit_body(module.suite());
    if !verifier.has_step && verifier.problems.is_empty() {
        return Ok(vec![VerificationFault::new(PlanSite::Plan, StepFault::NoStep)]);
    }
    let fault = |(at, problem): (TextSize, StepFault)| {
        let site = PlanSite::Program(TextPosition::of(text, at.to_usize()));
        VerificationFault::new(site, problem)
    };
    Ok(verifier.problems.into_iter().take(FAULTS_MAX).map(fault).collect())
}

/// The fault as one of a program, which requires another form of references.
fn in_python(VerificationFault { site, problem }: VerificationFault) -> VerificationFault {
    let problem = match *problem {
        StepFault::ReferenceMalformed { argument } => StepFault::ReferenceOfOtherForm { argument },
        problem => problem,
    };
    VerificationFault::new(site, problem)
}

/// What a program defines itself.
struct Defined<'c> {
    tools: &'c HashMap<String, &'c Signature>,
    names: HashSet<String>,
    /// For each name that is assigned a call of a tool, the tool; `None` if it is also assigned something else.
    calls: HashMap<String, Option<&'c Signature>>,
}

impl<'c> Defined<'c> {
    /// The tool whose outputs a variable holds.
    fn tool_of(&self, variable: &str) -> Option<&'c Signature> {
        self.calls.get(variable).copied().flatten()
    }

    fn called(&self, value: &Expr) -> Option<&'c Signature> {
        let Expr::Call(call) = value else { return None };
        let Expr::Name(name) = &*call.func else { return None };
        self.tools.get(name.id.as_str()).copied()
    }
}

impl<'a> Visitor<'a> for Defined<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(function) => {
                self.names.insert(function.name.to_string());
            }
            Stmt::ClassDef(class) => {
                self.names.insert(class.name.to_string());
            }
            Stmt::Assign(assign) => {
                if let ([Expr::Name(name)], Some(tool)) = (&assign.targets[..], self.called(&assign.value)) {
                    let name = name.id.to_string();
                    // A name that is also assigned elsewhere may hold something else when it is used.
                    let is_first = !self.names.contains(&name);
                    // The target is visited below, and must not count as something else.
                    self.visit_expr(&assign.value);
                    self.names.insert(name.clone());
                    self.calls.insert(name, is_first.then_some(tool));
                    return;
                }
            }
            _ => {}
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Name(name) = expr
            && matches!(name.ctx, ExprContext::Store | ExprContext::Del)
        {
            self.names.insert(name.id.to_string());
            self.calls.insert(name.id.to_string(), None);
        }
        visitor::walk_expr(self, expr);
    }

    fn visit_parameter(&mut self, parameter: &'a Parameter) {
        self.names.insert(parameter.name.to_string());
        self.calls.insert(parameter.name.to_string(), None);
        visitor::walk_parameter(self, parameter);
    }

    fn visit_alias(&mut self, alias: &'a Alias) {
        let name = alias.asname.as_ref().unwrap_or(&alias.name);
        // A tool that is imported stays a tool.
        if !self.tools.contains_key(name.as_str()) {
            self.names.insert(name.to_string());
        }
    }
}

/// The names that a program uses, and whether it has the function that is its entry.
#[derive(Default)]
struct Named {
    names: HashSet<String>,
    has_entry: bool,
}

impl<'a> Visitor<'a> for Named {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        self.has_entry |= matches!(stmt, Stmt::FunctionDef(function) if function.name.as_str() == ENTRY);
        visitor::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if name.ctx == ExprContext::Load => {
                self.names.insert(name.id.to_string());
            }
            // A function can be found by its name as a text.
            Expr::StringLiteral(text) => {
                self.names.insert(text.value.to_str().to_owned());
            }
            _ => {}
        }
        visitor::walk_expr(self, expr);
    }
}

struct Verifier<'c> {
    catalogue: &'c Catalogue,
    tools: &'c HashMap<String, &'c Signature>,
    defined: Defined<'c>,
    named: Named,
    /// Whether a tool is called, or at least named.
    has_step: bool,
    problems: Vec<(TextSize, StepFault)>,
}

/// The parts of an argument, as far as they can be determined.
#[derive(Clone, Copy)]
enum Piece<'a> {
    /// An output of a variable.
    Output(&'a str, &'a str),
    /// All of a variable.
    Variable(&'a str),
    /// A text.
    Words(&'a str),
}

impl<'a> Visitor<'a> for Verifier<'_> {
    fn visit_body(&mut self, body: &'a [Stmt]) {
        for stmt in body {
            self.visit_stmt(stmt);
            if matches!(stmt, Stmt::Return(_) | Stmt::Raise(_) | Stmt::Break(_) | Stmt::Continue(_)) {
                return;
            }
        }
    }

    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::If(it) if truth(&it.test) == Some(true) => self.visit_body(&it.body),
            Stmt::If(it) if truth(&it.test) == Some(false) => {
                for clause in &it.elif_else_clauses {
                    self.visit_elif_else_clause(clause);
                }
            }
            // Whatever fails in there is foreseen: only the rest is the program's own.
            Stmt::Try(it) if !it.handlers.is_empty() => {
                let found = self.problems.len();
                self.visit_body(&it.body);
                self.problems.truncate(found);
                for ExceptHandler::ExceptHandler(handler) in &it.handlers {
                    self.visit_body(&handler.body);
                }
                self.visit_body(&it.orelse);
                self.visit_body(&it.finalbody);
            }
            Stmt::While(it) if truth(&it.test) == Some(false) => self.visit_body(&it.orelse),
            // Without the entry, nobody knows which function the program is about.
            Stmt::FunctionDef(it)
                if self.named.has_entry
                    && it.name.as_str() != ENTRY
                    && !self.named.names.contains(it.name.as_str()) => {}
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        self.has_step |= self.names_tool(expr);
        if let Expr::Call(call) = expr
            && let Expr::Name(name) = &*call.func
        {
            let name = name.id.as_str();
            match self.tools.get(name).copied() {
                Some(signature) if !self.defined.names.contains(name) => self.call(call, signature),
                None if !self.defined.names.contains(name) && !names::is_builtin(name) => {
                    let problem = arguments::unknown_tool(&name.replace('_', " "), self.catalogue);
                    self.problems.push((call.start(), problem));
                }
                _ => {}
            }
        }
        visitor::walk_expr(self, expr);
    }
}

/// Whether a condition always holds or never does; `None` if that depends on the run.
fn truth(test: &Expr) -> Option<bool> {
    match test {
        Expr::BooleanLiteral(it) => Some(it.value),
        Expr::NoneLiteral(_) => Some(false),
        Expr::NumberLiteral(it) => match &it.value {
            Number::Int(int) => int.as_u64().map(|int| int != 0),
            _ => None,
        },
        _ => None,
    }
}

impl<'c> Verifier<'c> {
    /// Whether an expression is a tool: by its name, as a member of a module, or by its name as a text.
    fn names_tool(&self, expr: &Expr) -> bool {
        let is_tool = |name: &str| self.tools.contains_key(name) && !self.defined.names.contains(name);
        match expr {
            Expr::Name(name) => name.ctx == ExprContext::Load && is_tool(name.id.as_str()),
            Expr::Attribute(it) => self.tools.contains_key(it.attr.as_str()),
            Expr::Subscript(it) => match (&*it.value, &*it.slice) {
                (Expr::Call(_), Expr::StringLiteral(name)) => is_tool(name.value.to_str()),
                _ => false,
            },
            _ => false,
        }
    }

    fn call(&mut self, call: &ExprCall, signature: &Signature) {
        let at = call.start();
        let by_place = &call.arguments.args;
        let is_unpacked = by_place.iter().any(Expr::is_starred_expr)
            || call.arguments.keywords.iter().any(|keyword| keyword.arg.is_none());
        let taken = signature.arguments.len();
        if by_place.len() > taken {
            let (tool, given) = (signature.name.clone(), by_place.len());
            self.problems.push((at, StepFault::ArgumentsTooMany { tool, given, taken }));
        }
        let by_place =
            signature.arguments.iter().zip(by_place.iter()).map(|(port, value)| (port.name.as_str(), value));
        let by_name = call.arguments.keywords.iter();
        let by_name = by_name.filter_map(|keyword| Some((keyword.arg.as_ref()?.as_str(), &keyword.value)));
        let given: Vec<(&str, &Expr)> = by_place.chain(by_name).collect();
        // With `*x` or `**x` nobody can say which arguments are missing or given twice.
        if !is_unpacked {
            let problems = arguments::check(signature, given.iter().map(|(name, _)| *name));
            self.problems.extend(problems.into_iter().map(|problem| (at, problem)));
        }
        let mut inputs: Vec<(&str, &'c Signature)> = Vec::new();
        for (argument, value) in given {
            let port = signature.arguments.iter().find(|port| port.name == argument);
            let pieces = pieces(value);
            let is_among_words = pieces.len() > 1;
            for piece in pieces {
                match self.check(argument, port, piece, is_among_words) {
                    Ok(input) => inputs.extend(input.map(|giver| (argument, giver))),
                    Err(problem) => self.problems.push((value.start(), problem)),
                }
            }
        }
        // The origin of variables cannot be determined, so one input that may accompany others is enough for all.
        let may_follow = |giver: &Signature| self.catalogue.may_follow(&giver.name, &signature.name);
        if !inputs.iter().any(|(_, giver)| may_follow(giver)) {
            let problems = inputs.iter().map(|(argument, giver)| {
                (at, arguments::may_not_follow(argument, giver, signature, self.catalogue))
            });
            self.problems.extend(problems);
        }
    }

    /// The tool that produced a piece of an argument, if that can be determined.
    fn check(
        &self,
        argument: &str,
        port: Option<&Port>,
        piece: Piece<'_>,
        is_among_words: bool,
    ) -> Result<Option<&'c Signature>, StepFault> {
        match piece {
            Piece::Words(words) if words.contains(OPENING) => {
                Err(StepFault::ReferenceOfOtherForm { argument: argument.to_owned() })
            }
            Piece::Words(_) => Ok(None),
            // A variable with all outputs of a tool is not a value of one argument; any other may hold anything.
            Piece::Variable(variable) => match self.defined.tool_of(variable) {
                Some(giver) => Err(StepFault::KeyMissing {
                    argument: argument.to_owned(),
                    variable: variable.to_owned(),
                    known: arguments::owned(&giver.outputs),
                }),
                None => Ok(None),
            },
            Piece::Output(variable, key) => {
                let Some(giver) = self.defined.tool_of(variable) else { return Ok(None) };
                let Some(output) = giver.outputs.iter().find(|output| output.name == key) else {
                    return Err(arguments::unknown_key(argument, giver, key));
                };
                match port.and_then(|port| arguments::check_kind(port, giver, output, is_among_words)) {
                    Some(problem) => Err(problem),
                    None => Ok(Some(giver)),
                }
            }
        }
    }
}

/// The pieces of an argument that is a text, an f-string, a variable or an output of one.
fn pieces<'v>(value: &'v Expr) -> Vec<Piece<'v>> {
    match value {
        Expr::StringLiteral(text) => vec![Piece::Words(text.value.to_str())],
        Expr::FString(text) => {
            let piece = |element: &'v InterpolatedStringElement| match element {
                InterpolatedStringElement::Literal(words) => vec![Piece::Words(&words.value)],
                InterpolatedStringElement::Interpolation(field) => pieces(&field.expression),
            };
            text.value.elements().flat_map(piece).collect()
        }
        Expr::Name(name) => vec![Piece::Variable(name.id.as_str())],
        Expr::Subscript(subscript) => output(subscript).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn output(subscript: &ExprSubscript) -> Option<Piece<'_>> {
    match (&*subscript.value, &*subscript.slice) {
        (Expr::Name(variable), Expr::StringLiteral(key)) => {
            Some(Piece::Output(variable.id.as_str(), key.value.to_str()))
        }
        _ => None,
    }
}
