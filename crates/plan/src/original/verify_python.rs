//! The published verifier of programs (specification, section 5.4).

use std::collections::HashMap;

use planproof_trace::{Catalogue, Signature};
use ruff_python_ast::{Expr, ExprCall, ExprFString, ExprSubscript, InterpolatedStringElement, Keyword, Stmt};

use super::breadth_first::{Node, walk};
use super::verify::check_edge;
use super::{PublishedVerdict, RefusalCode, Unexpected, python, unexpected};

/// The published verifier's result for a program. It raises on anything but Python 3.11.
pub fn verify_program(text: &str, catalogue: &Catalogue) -> PublishedVerdict {
    let Ok(module) = python::tree(text) else { return PublishedVerdict::raised() };
    verify_body(module.suite(), catalogue).unwrap_or_else(PublishedVerdict::from)
}

fn verify_body(body: &[Stmt], catalogue: &Catalogue) -> Result<PublishedVerdict, Unexpected> {
    let mut calls: Vec<&ExprCall> = Vec::new();
    let mut program = Program { catalogue, variables: HashMap::new(), verdict: PublishedVerdict::default() };
    collect(body, &mut calls, &mut program.variables);
    // The last call of each tool, at the position of the first.
    let mut last: Vec<(&Signature, &ExprCall)> = Vec::new();
    for call in calls {
        let name = match &*call.func {
            Expr::Name(name) => Some(name.id.replace('_', " ")),
            _ => None,
        };
        let Some(signature) = name.as_deref().and_then(|name| catalogue.find(name)) else {
            // A call of an attribute has no name there, and Python prints `None`.
            let name = name.unwrap_or_else(|| "None".to_owned());
            program.verdict.add(RefusalCode::Tools, format!("{name} is no tool of the list"));
            continue;
        };
        let names: Vec<&str> = keywords(call).map(|(name, _)| name).collect();
        super::check_arguments(signature, &names, &mut program.verdict);
        match last.iter_mut().find(|(other, _)| other.name == signature.name) {
            Some((_, other)) => *other = call,
            None => last.push((signature, call)),
        }
    }
    for (signature, call) in last {
        for (argument, value) in keywords(call) {
            program.check(argument, value, signature)?;
        }
    }
    Ok(program.verdict)
}

fn collect<'a>(body: &'a [Stmt], calls: &mut Vec<&'a ExprCall>, variables: &mut HashMap<&'a str, &'a Expr>) {
    walk(body, |node| match node {
        Node::Expr(Expr::Call(call)) => calls.push(call),
        Node::Stmt(Stmt::Assign(assign)) => {
            for target in &assign.targets {
                if let Expr::Name(name) = target {
                    // Of several assignments the last one of the walk counts, for all uses.
                    variables.insert(name.id.as_str(), &assign.value);
                }
            }
        }
        _ => {}
    });
}

/// The keyword arguments by name, each with its last value; `**x` has the name `None`. Takes time in proportion to
/// their number.
fn keywords(call: &ExprCall) -> impl Iterator<Item = (&str, &Expr)> {
    let keywords = &call.arguments.keywords;
    // Looked up instead of searched for, because a call may have as many arguments as fit into a reply.
    let mut last: HashMap<&str, usize> = HashMap::with_capacity(keywords.len());
    for (place, keyword) in keywords.iter().enumerate() {
        last.insert(name_of(keyword), place);
    }
    keywords.iter().enumerate().filter_map(move |(place, keyword)| {
        let name = name_of(keyword);
        (last.get(name) == Some(&place)).then_some((name, &keyword.value))
    })
}

fn name_of(keyword: &Keyword) -> &str {
    keyword.arg.as_ref().map_or("None", |name| name.as_str())
}

struct Program<'a> {
    catalogue: &'a Catalogue,
    variables: HashMap<&'a str, &'a Expr>,
    verdict: PublishedVerdict,
}

impl Program<'_> {
    fn check(&mut self, argument: &str, value: &Expr, taker: &Signature) -> Result<(), Unexpected> {
        match value {
            Expr::Name(name) => {
                if let Expr::Call(_) = self.variable(name.id.as_str())? {
                    let message = format!("`{argument}` should be written {}['KEY']", name.id);
                    self.verdict.add(RefusalCode::Arguments(taker.name.clone()), message);
                }
                Ok(())
            }
            Expr::Subscript(subscript) => self.check_subscript(subscript, taker),
            Expr::FString(text) => self.check_fields(text, taker),
            _ => Ok(()),
        }
    }

    fn check_fields(&mut self, text: &ExprFString, taker: &Signature) -> Result<(), Unexpected> {
        for element in text.value.elements() {
            if let InterpolatedStringElement::Interpolation(field) = element {
                match &*field.expression {
                    Expr::Subscript(subscript) => self.check_subscript(subscript, taker)?,
                    // Even a plain variable: the published code takes its subscript without a check.
                    _ => return unexpected("a field of an f-string is no output of a variable"),
                }
            }
        }
        Ok(())
    }

    fn check_subscript(&mut self, subscript: &ExprSubscript, taker: &Signature) -> Result<(), Unexpected> {
        let Expr::Name(variable) = &*subscript.value else {
            return unexpected("an output is taken of something that is no variable");
        };
        let Expr::Call(call) = self.variable(variable.id.as_str())? else { return Ok(()) };
        let function = match &*call.func {
            Expr::Name(function) => function.id.replace('_', " "),
            _ => return Ok(()),
        };
        // A nonexistent tool is reported for its call.
        let Some(giver) = self.catalogue.find(&function) else { return Ok(()) };
        check_edge(Some(giver), Some(taker), self.catalogue, &mut self.verdict);
        match &*subscript.slice {
            Expr::StringLiteral(key) => super::check_key(giver, key.value.to_str(), taker, &mut self.verdict),
            _ => super::check_key(giver, "None", taker, &mut self.verdict),
        }
        Ok(())
    }

    fn variable(&self, name: &str) -> Result<&Expr, Unexpected> {
        match self.variables.get(name) {
            Some(value) => Ok(value),
            None => unexpected(format!("there is no variable {name}")),
        }
    }
}
