//! The nodes of a syntax tree in the order of Python's `ast.walk`.
//!
//! That is level by level, and the levels are Python's: a keyword argument, a field of an f-string, a clause of a
//! comprehension and an `elif` are separate nodes there, so their contents come a level later than in Ruff's tree.
//! The order determines which call of a tool is the last one.

use std::collections::VecDeque;

use ruff_python_ast::{
    Arguments, Comprehension, ElifElseClause, ExceptHandler, Expr, FStringPart, InterpolatedStringElement,
    InterpolatedStringElements, Parameter, ParameterWithDefault, Parameters, Pattern, Stmt,
};

/// A node of Python's tree.
#[derive(Clone, Copy)]
pub(super) enum Node<'a> {
    Stmt(&'a Stmt),
    Expr(&'a Expr),
    /// A node that only holds another.
    Holder(&'a Expr),
    Field(&'a InterpolatedStringElement),
    Format(&'a InterpolatedStringElements),
    Parameters(&'a Parameters),
    Comprehension(&'a Comprehension),
    Handler(&'a ExceptHandler),
    /// The rest of an `if` from an `elif` on.
    Elif(&'a [ElifElseClause]),
    Item(&'a ruff_python_ast::WithItem),
    Case(&'a ruff_python_ast::MatchCase),
    Pattern(&'a Pattern),
}

/// All nodes below these statements. Takes time and memory in proportion to their number.
pub(super) fn walk<'a>(body: &'a [Stmt], mut visit: impl FnMut(Node<'a>)) {
    let mut open: VecDeque<Node<'a>> = body.iter().map(Node::Stmt).collect();
    let mut children = Vec::new();
    while let Some(node) = open.pop_front() {
        visit(node);
        children.clear();
        push_children(node, &mut children);
        open.extend(children.iter().copied());
    }
}

fn push_children<'a>(node: Node<'a>, to: &mut Vec<Node<'a>>) {
    match node {
        Node::Stmt(stmt) => of_stmt(stmt, to),
        Node::Expr(expr) => of_expr(expr, to),
        Node::Holder(expr) => to.push(Node::Expr(expr)),
        Node::Field(InterpolatedStringElement::Interpolation(field)) => {
            to.push(Node::Expr(&field.expression));
            to.extend(field.format_spec.iter().map(|format| Node::Format(&format.elements)));
        }
        Node::Field(InterpolatedStringElement::Literal(_)) => {}
        Node::Format(elements) => to.extend(elements.iter().map(Node::Field)),
        Node::Parameters(parameters) => {
            let positional = || parameters.posonlyargs.iter().chain(&parameters.args);
            let keyword = || parameters.kwonlyargs.iter();
            let starred = |it: &'a Option<Box<Parameter>>| it.as_deref().and_then(Parameter::annotation);
            to.extend(positional().filter_map(ParameterWithDefault::annotation).map(Node::Holder));
            to.extend(starred(&parameters.vararg).map(Node::Holder));
            to.extend(keyword().filter_map(ParameterWithDefault::annotation).map(Node::Holder));
            // In Python's order of fields, defaults of keyword-only parameters come before `**`, others after it.
            to.extend(keyword().filter_map(ParameterWithDefault::default).map(Node::Expr));
            to.extend(starred(&parameters.kwarg).map(Node::Holder));
            to.extend(positional().filter_map(ParameterWithDefault::default).map(Node::Expr));
        }
        Node::Comprehension(it) => {
            to.extend([Node::Expr(&it.target), Node::Expr(&it.iter)]);
            to.extend(it.ifs.iter().map(Node::Expr));
        }
        Node::Handler(ExceptHandler::ExceptHandler(handler)) => {
            to.extend(handler.type_.iter().map(|it| Node::Expr(it)));
            to.extend(handler.body.iter().map(Node::Stmt));
        }
        // In Python an `elif` is an `if` in the `else` of the one before, so each is a level deeper.
        Node::Elif(clauses) => {
            if let Some((clause, rest)) = clauses.split_first() {
                to.extend(clause.test.iter().map(Node::Expr));
                to.extend(clause.body.iter().map(Node::Stmt));
                push_rest(rest, to);
            }
        }
        Node::Item(item) => {
            to.push(Node::Expr(&item.context_expr));
            to.extend(item.optional_vars.iter().map(|it| Node::Expr(it)));
        }
        Node::Case(case) => {
            to.push(Node::Pattern(&case.pattern));
            to.extend(case.guard.iter().map(|it| Node::Expr(it)));
            to.extend(case.body.iter().map(Node::Stmt));
        }
        Node::Pattern(pattern) => of_pattern(pattern, to),
    }
}

/// The continuation of an `if` or `elif`: an `else` is inside it, an `elif` is a separate node.
fn push_rest<'a>(clauses: &'a [ElifElseClause], to: &mut Vec<Node<'a>>) {
    match clauses {
        [ElifElseClause { test: None, body, .. }, ..] => to.extend(body.iter().map(Node::Stmt)),
        [] => {}
        clauses => to.push(Node::Elif(clauses)),
    }
}

fn push_arguments<'a>(arguments: &'a Arguments, to: &mut Vec<Node<'a>>) {
    to.extend(arguments.args.iter().map(Node::Expr));
    to.extend(arguments.keywords.iter().map(|keyword| Node::Holder(&keyword.value)));
}

fn of_stmt<'a>(stmt: &'a Stmt, to: &mut Vec<Node<'a>>) {
    match stmt {
        Stmt::FunctionDef(it) => {
            to.push(Node::Parameters(&it.parameters));
            to.extend(it.body.iter().map(Node::Stmt));
            to.extend(it.decorator_list.iter().map(|decorator| Node::Expr(&decorator.expression)));
            to.extend(it.returns.iter().map(|it| Node::Expr(it)));
        }
        Stmt::ClassDef(it) => {
            it.arguments.iter().for_each(|arguments| push_arguments(arguments, to));
            to.extend(it.body.iter().map(Node::Stmt));
            to.extend(it.decorator_list.iter().map(|decorator| Node::Expr(&decorator.expression)));
        }
        Stmt::Return(it) => to.extend(it.value.iter().map(|it| Node::Expr(it))),
        Stmt::Delete(it) => to.extend(it.targets.iter().map(Node::Expr)),
        Stmt::Assign(it) => {
            to.extend(it.targets.iter().map(Node::Expr));
            to.push(Node::Expr(&it.value));
        }
        Stmt::AugAssign(it) => to.extend([Node::Expr(&it.target), Node::Expr(&it.value)]),
        Stmt::AnnAssign(it) => {
            to.extend([Node::Expr(&it.target), Node::Expr(&it.annotation)]);
            to.extend(it.value.iter().map(|it| Node::Expr(it)));
        }
        Stmt::For(it) => {
            to.extend([Node::Expr(&it.target), Node::Expr(&it.iter)]);
            to.extend(it.body.iter().chain(&it.orelse).map(Node::Stmt));
        }
        Stmt::While(it) => {
            to.push(Node::Expr(&it.test));
            to.extend(it.body.iter().chain(&it.orelse).map(Node::Stmt));
        }
        Stmt::If(it) => {
            to.push(Node::Expr(&it.test));
            to.extend(it.body.iter().map(Node::Stmt));
            push_rest(&it.elif_else_clauses, to);
        }
        Stmt::With(it) => {
            to.extend(it.items.iter().map(Node::Item));
            to.extend(it.body.iter().map(Node::Stmt));
        }
        Stmt::Match(it) => {
            to.push(Node::Expr(&it.subject));
            to.extend(it.cases.iter().map(Node::Case));
        }
        Stmt::Raise(it) => to.extend(it.exc.iter().chain(&it.cause).map(|it| Node::Expr(it))),
        Stmt::Try(it) => {
            to.extend(it.body.iter().map(Node::Stmt));
            to.extend(it.handlers.iter().map(Node::Handler));
            to.extend(it.orelse.iter().chain(&it.finalbody).map(Node::Stmt));
        }
        Stmt::Assert(it) => {
            to.push(Node::Expr(&it.test));
            to.extend(it.msg.iter().map(|it| Node::Expr(it)));
        }
        Stmt::Expr(it) => to.push(Node::Expr(&it.value)),
        // These hold no expression, or are newer than Python 3.11.
        _ => {}
    }
}

fn of_expr<'a>(expr: &'a Expr, to: &mut Vec<Node<'a>>) {
    let optional = |it: &'a Option<Box<Expr>>| it.as_deref().map(Node::Expr);
    match expr {
        Expr::BoolOp(it) => to.extend(it.values.iter().map(Node::Expr)),
        Expr::Named(it) => to.extend([Node::Expr(&it.target), Node::Expr(&it.value)]),
        Expr::BinOp(it) => to.extend([Node::Expr(&it.left), Node::Expr(&it.right)]),
        Expr::UnaryOp(it) => to.push(Node::Expr(&it.operand)),
        Expr::Lambda(it) => {
            to.extend(it.parameters.as_deref().map(Node::Parameters));
            to.push(Node::Expr(&it.body));
        }
        Expr::If(it) => to.extend([Node::Expr(&it.test), Node::Expr(&it.body), Node::Expr(&it.orelse)]),
        Expr::Dict(it) => {
            // Python has all keys in one field and all values in the next.
            to.extend(it.items.iter().filter_map(|item| item.key.as_ref()).map(Node::Expr));
            to.extend(it.items.iter().map(|item| Node::Expr(&item.value)));
        }
        Expr::Set(it) => to.extend(it.elts.iter().map(Node::Expr)),
        Expr::ListComp(it) => {
            to.push(Node::Expr(&it.elt));
            to.extend(it.generators.iter().map(Node::Comprehension));
        }
        Expr::SetComp(it) => {
            to.push(Node::Expr(&it.elt));
            to.extend(it.generators.iter().map(Node::Comprehension));
        }
        Expr::DictComp(it) => {
            to.extend(it.key.iter().map(|it| Node::Expr(it)));
            to.push(Node::Expr(&it.value));
            to.extend(it.generators.iter().map(Node::Comprehension));
        }
        Expr::Generator(it) => {
            to.push(Node::Expr(&it.elt));
            to.extend(it.generators.iter().map(Node::Comprehension));
        }
        Expr::Await(it) => to.push(Node::Expr(&it.value)),
        Expr::Yield(it) => to.extend(optional(&it.value)),
        Expr::YieldFrom(it) => to.push(Node::Expr(&it.value)),
        Expr::Compare(it) => {
            to.push(Node::Expr(&it.left));
            to.extend(it.comparators.iter().map(Node::Expr));
        }
        Expr::Call(it) => {
            to.push(Node::Expr(&it.func));
            push_arguments(&it.arguments, to);
        }
        Expr::FString(it) => {
            for part in &it.value {
                if let FStringPart::FString(part) = part {
                    to.extend(part.elements.iter().map(Node::Field));
                }
            }
        }
        Expr::Attribute(it) => to.push(Node::Expr(&it.value)),
        Expr::Subscript(it) => to.extend([Node::Expr(&it.value), Node::Expr(&it.slice)]),
        Expr::Starred(it) => to.push(Node::Expr(&it.value)),
        Expr::List(it) => to.extend(it.elts.iter().map(Node::Expr)),
        Expr::Tuple(it) => to.extend(it.elts.iter().map(Node::Expr)),
        Expr::Slice(it) => {
            to.extend(optional(&it.lower).into_iter().chain(optional(&it.upper)).chain(optional(&it.step)));
        }
        // Names and literals, and what is newer than Python 3.11.
        _ => {}
    }
}

fn of_pattern<'a>(pattern: &'a Pattern, to: &mut Vec<Node<'a>>) {
    match pattern {
        Pattern::MatchValue(it) => to.push(Node::Expr(&it.value)),
        Pattern::MatchSequence(it) => to.extend(it.patterns.iter().map(Node::Pattern)),
        Pattern::MatchMapping(it) => {
            to.extend(it.keys.iter().map(Node::Expr));
            to.extend(it.patterns.iter().map(Node::Pattern));
        }
        Pattern::MatchClass(it) => {
            to.push(Node::Expr(&it.cls));
            to.extend(it.arguments.patterns.iter().map(Node::Pattern));
            to.extend(it.arguments.keywords.iter().map(|keyword| Node::Pattern(&keyword.pattern)));
        }
        Pattern::MatchAs(it) => to.extend(it.pattern.iter().map(|it| Node::Pattern(it))),
        Pattern::MatchOr(it) => to.extend(it.patterns.iter().map(Node::Pattern)),
        Pattern::MatchSingleton(_) | Pattern::MatchStar(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use ruff_python_ast::PythonVersion;

    use super::*;
    use crate::python::parse::{Depth, parse};

    /// The names of the functions that a program calls, in the order of the walk.
    fn called(program: &str) -> Vec<String> {
        let parsed = parse(program, PythonVersion::PY311, Depth::Grammar).unwrap();
        let mut names = Vec::new();
        walk(parsed.suite(), |node| {
            if let Node::Expr(Expr::Call(call)) = node
                && let Expr::Name(name) = &*call.func
            {
                names.push(name.id.to_string());
            }
        });
        names
    }

    /// The orders are those of `ast.walk` in Python 3.11.
    #[test]
    fn the_order_is_that_of_python() {
        for (program, order) in [
            ("def f(a=p(), /, b=q(), *, c=r(), d=s()): pass", "r s p q"),
            ("x = lambda a=p(), *, b=q(): r()", "r q p"),
            ("def f(a: t() = p(), /, b=q(), *c: u(), d: v() = r(s()), **e: w()): x()", "r p q x t u v s w"),
            ("if a():\n    b()\nelif c():\n    d()\nelse:\n    e()\nf()", "a f b c d e"),
            ("x = {a(): b(c()), **d()}", "a b d c"),
            ("f(a(b()), *c(), d=e(f()))", "f a b c e f"),
            ("x = [a() for b in c(d()) if e()]", "a c e d"),
            ("x = f'{a():{b()}}' + c(d())", "c d a b"),
        ] {
            let order: Vec<&str> = order.split(' ').collect();
            assert_eq!(called(program), order, "{program}");
        }
    }
}
