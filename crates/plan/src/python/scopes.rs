//! Code that a compiler refuses although the grammar allows it: `return` outside a function, `break` outside a loop,
//! duplicate parameters.
//!
//! Ruff knows the rules; this walks the tree and tracks the scope of each node.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{
    AnyParameterRef, Comprehension, Expr, ExprContext, ExprFString, Parameters, PythonVersion, Stmt,
};
use ruff_python_parser::semantic_errors::{
    LazyImportContext, SemanticSyntaxChecker, SemanticSyntaxContext, SemanticSyntaxError,
};
use ruff_text_size::{Ranged, TextRange};

/// The first part of a module that a compiler refuses, with its position.
pub(crate) fn first_error(
    body: &[Stmt],
    source: &str,
    version: PythonVersion,
) -> Option<(String, TextRange)> {
    let mut walker = Walker {
        checker: Some(SemanticSyntaxChecker::new()),
        surroundings: Surroundings {
            source,
            version,
            scopes: vec![Scope { globals: globals_of(body), ..Scope::new(Kind::Module) }],
            has_future_annotations: false,
            errors: RefCell::new(Vec::new()),
        },
        refused: None,
    };
    walker.visit_body(body);
    let errors = walker.surroundings.errors.into_inner();
    // Ruff's findings come first; `refused` is what it does not detect.
    let known_to_ruff = errors.into_iter().next().map(|error| (error.to_string(), error.range));
    known_to_ruff.or(walker.refused.map(|(message, range)| (message.to_owned(), range)))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Module,
    Class,
    Function { is_async: bool },
    Lambda,
    Comprehension { is_async: bool, is_generator: bool },
}

struct Scope {
    kind: Kind,
    /// The number of loops around the position, within this scope.
    loops: usize,
    parameters: HashSet<String>,
    /// The names that the scope binds.
    bound: HashSet<String>,
    globals: HashMap<String, TextRange>,
}

impl Scope {
    fn new(kind: Kind) -> Self {
        let (parameters, bound, globals) = Default::default();
        Self { kind, loops: 0, parameters, bound, globals }
    }
}

struct Surroundings<'s> {
    source: &'s str,
    version: PythonVersion,
    scopes: Vec<Scope>,
    has_future_annotations: bool,
    errors: RefCell<Vec<SemanticSyntaxError>>,
}

impl Surroundings<'_> {
    fn scope(&self) -> Option<&Scope> {
        self.scopes.last()
    }

    /// The kinds of scopes from the innermost one on.
    fn kinds(&self) -> impl Iterator<Item = Kind> {
        self.scopes.iter().rev().map(|scope| scope.kind)
    }
}

impl SemanticSyntaxContext for Surroundings<'_> {
    fn future_annotations_or_stub(&self) -> bool {
        self.has_future_annotations
    }

    fn lazy_import_context(&self) -> Option<LazyImportContext> {
        self.kinds().find_map(|kind| match kind {
            Kind::Function { .. } => Some(LazyImportContext::Function),
            Kind::Class => Some(LazyImportContext::Class),
            _ => None,
        })
    }

    fn python_version(&self) -> PythonVersion {
        self.version
    }

    fn source(&self) -> &str {
        self.source
    }

    fn global(&self, name: &str) -> Option<TextRange> {
        self.scope()?.globals.get(name).copied()
    }

    fn has_nonlocal_binding(&self, name: &str) -> bool {
        let enclosing = self.scopes.iter().rev().skip(1);
        // Python finds nonlocal names in functions and lambdas only: neither a class nor the module provides them.
        let mut functions =
            enclosing.filter(|scope| matches!(scope.kind, Kind::Function { .. } | Kind::Lambda));
        functions.any(|scope| scope.bound.contains(name) || scope.parameters.contains(name))
    }

    fn in_async_context(&self) -> bool {
        // A comprehension is as asynchronous as the function around it.
        let mut kinds = self.kinds().filter(|kind| !matches!(kind, Kind::Comprehension { .. }));
        kinds.next() == Some(Kind::Function { is_async: true })
    }

    fn in_await_allowed_context(&self) -> bool {
        let mut kinds = self.kinds().filter(|kind| !matches!(kind, Kind::Comprehension { .. }));
        matches!(kinds.next(), Some(Kind::Function { .. } | Kind::Lambda))
    }

    fn in_yield_allowed_context(&self) -> bool {
        matches!(self.kinds().next(), Some(Kind::Function { .. } | Kind::Lambda))
    }

    fn in_sync_comprehension(&self) -> bool {
        // Only up to the next function, which is a context of its own.
        let mut kinds = self.kinds().take_while(|kind| !matches!(kind, Kind::Function { .. }));
        kinds.any(|kind| kind == Kind::Comprehension { is_async: false, is_generator: false })
    }

    fn in_class_body_comprehension(&self) -> bool {
        let mut kinds = self.kinds().skip_while(|kind| matches!(kind, Kind::Comprehension { .. }));
        kinds.next() == Some(Kind::Class)
    }

    fn in_module_scope(&self) -> bool {
        self.kinds().next() == Some(Kind::Module)
    }

    fn in_function_scope(&self) -> bool {
        matches!(self.kinds().next(), Some(Kind::Function { .. }))
    }

    fn in_generator_context(&self) -> bool {
        self.kinds().any(|kind| matches!(kind, Kind::Comprehension { is_generator: true, .. }))
    }

    fn in_notebook(&self) -> bool {
        false
    }

    fn report_semantic_error(&self, error: SemanticSyntaxError) {
        self.errors.borrow_mut().push(error);
    }

    fn in_loop_context(&self) -> bool {
        self.scope().is_some_and(|scope| scope.loops > 0)
    }

    fn is_bound_parameter(&self, name: &str) -> bool {
        self.scope().is_some_and(|scope| scope.parameters.contains(name))
    }
}

struct Walker<'s> {
    /// Taken out while it looks at a node.
    checker: Option<SemanticSyntaxChecker>,
    surroundings: Surroundings<'s>,
    /// The first fault that Ruff does not detect.
    refused: Option<(&'static str, TextRange)>,
}

impl Walker<'_> {
    /// Code that Ruff accepts and a compiler does not: a misplaced star.
    fn refuse_stars(&mut self, stmt: &Stmt) {
        let (targets, value) = match stmt {
            Stmt::Expr(stmt) => (&[][..], Some(&*stmt.value)),
            Stmt::Assign(stmt) => (&stmt.targets[..], Some(&*stmt.value)),
            Stmt::Return(stmt) => (&[][..], stmt.value.as_deref()),
            _ => (&[][..], None),
        };
        if let Some(star) = targets.iter().chain(value).find(|expr| expr.is_starred_expr()) {
            self.refuse("a starred expression has to stand in a list or tuple", star.range());
        }
    }

    fn refuse(&mut self, message: &'static str, range: TextRange) {
        self.refused.get_or_insert((message, range));
    }

    fn within(&mut self, scope: Scope, visit: impl FnOnce(&mut Self)) {
        self.surroundings.scopes.push(scope);
        visit(self);
        self.surroundings.scopes.pop();
    }

    fn within_loop(&mut self, body: &[Stmt]) {
        self.surroundings.scopes.last_mut().into_iter().for_each(|scope| scope.loops += 1);
        self.visit_body(body);
        self.surroundings.scopes.last_mut().into_iter().for_each(|scope| scope.loops -= 1);
    }

    fn within_comprehension(
        &mut self,
        generators: &[Comprehension],
        is_generator: bool,
        visit: impl FnOnce(&mut Self),
    ) {
        // The iterable of the first clause is evaluated in the outer scope.
        let is_async = generators.iter().any(|generator| generator.is_async);
        if let [first, ..] = generators {
            self.visit_expr(&first.iter);
        }
        self.within(Scope::new(Kind::Comprehension { is_async, is_generator }), |walker| {
            for (place, generator) in generators.iter().enumerate() {
                if place > 0 {
                    walker.visit_expr(&generator.iter);
                }
                walker.visit_expr(&generator.target);
                generator.ifs.iter().for_each(|condition| walker.visit_expr(condition));
            }
            visit(walker);
        });
    }

    fn visit_defaults(&mut self, parameters: &Parameters) {
        for parameter in parameters.iter_non_variadic_params() {
            parameter.default.iter().for_each(|default| self.visit_expr(default));
        }
        for annotation in parameters.iter().filter_map(AnyParameterRef::annotation) {
            self.visit_annotation(annotation);
        }
    }
}

impl<'a> Visitor<'a> for Walker<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if let Some(mut checker) = self.checker.take() {
            checker.visit_stmt(stmt, &self.surroundings);
            self.checker = Some(checker);
        }
        self.refuse_stars(stmt);
        match stmt {
            Stmt::ImportFrom(import) => {
                let is_future = import.module.as_deref() == Some("__future__");
                let is_annotations = import.names.iter().any(|name| &*name.name == "annotations");
                self.surroundings.has_future_annotations |= is_future && is_annotations;
            }
            Stmt::FunctionDef(function) => {
                // Decorators, annotations and defaults are evaluated in the scope around the function.
                function.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                function.returns.iter().for_each(|returns| self.visit_annotation(returns));
                self.visit_defaults(&function.parameters);
                let scope = Scope {
                    parameters: names_of(&function.parameters),
                    bound: bound_in(&function.body),
                    globals: globals_of(&function.body),
                    ..Scope::new(Kind::Function { is_async: function.is_async })
                };
                self.within(scope, |walker| walker.visit_body(&function.body));
            }
            Stmt::ClassDef(class) => {
                class.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                class.arguments.iter().for_each(|arguments| self.visit_arguments(arguments));
                let scope = Scope { globals: globals_of(&class.body), ..Scope::new(Kind::Class) };
                self.within(scope, |walker| walker.visit_body(&class.body));
            }
            Stmt::For(stmt) => {
                // Walked by hand, because the body is within the loop and the `else` is not.
                self.visit_expr(&stmt.iter);
                self.visit_expr(&stmt.target);
                self.within_loop(&stmt.body);
                self.visit_body(&stmt.orelse);
            }
            Stmt::While(stmt) => {
                self.visit_expr(&stmt.test);
                self.within_loop(&stmt.body);
                self.visit_body(&stmt.orelse);
            }
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Some(mut checker) = self.checker.take() {
            checker.visit_expr(expr, &self.surroundings);
            self.checker = Some(checker);
        }
        match expr {
            Expr::Call(call) => {
                let names = call.arguments.keywords.iter().filter_map(|keyword| keyword.arg.as_ref());
                if let Some(name) = names.into_iter().find(|name| name.as_str() == "__debug__") {
                    self.refuse("`__debug__` cannot be assigned", name.range());
                }
                visitor::walk_expr(self, expr);
            }
            Expr::FString(text) => {
                if let Some(star) = starred_field(text) {
                    self.refuse("a starred expression has to stand in a list or tuple", star.range());
                }
                visitor::walk_expr(self, expr);
            }
            Expr::Lambda(lambda) => {
                // Defaults are evaluated in the scope around the lambda, as those of a function are.
                let parameters = lambda.parameters.as_deref();
                parameters.into_iter().for_each(|parameters| self.visit_defaults(parameters));
                let parameters = parameters.map(names_of).unwrap_or_default();
                let scope = Scope { parameters, ..Scope::new(Kind::Lambda) };
                self.within(scope, |walker| walker.visit_expr(&lambda.body));
            }
            Expr::ListComp(it) => {
                self.within_comprehension(&it.generators, false, |walker| walker.visit_expr(&it.elt));
            }
            Expr::SetComp(it) => {
                self.within_comprehension(&it.generators, false, |walker| walker.visit_expr(&it.elt));
            }
            Expr::Generator(it) => {
                self.within_comprehension(&it.generators, true, |walker| walker.visit_expr(&it.elt));
            }
            Expr::DictComp(it) => self.within_comprehension(&it.generators, false, |walker| {
                it.key.iter().for_each(|key| walker.visit_expr(key));
                walker.visit_expr(&it.value);
            }),
            _ => visitor::walk_expr(self, expr),
        }
    }
}

/// The field of an f-string that is nothing but a starred expression.
pub(crate) fn starred_field(text: &ExprFString) -> Option<&Expr> {
    let fields = text.value.elements().filter_map(|element| element.as_interpolation());
    fields.map(|field| &*field.expression).find(|expr| expr.is_starred_expr())
}

fn names_of(parameters: &Parameters) -> HashSet<String> {
    parameters.iter().map(|parameter| parameter.name().to_string()).collect()
}

/// The global declarations of one scope's statements.
fn globals_of(body: &[Stmt]) -> HashMap<String, TextRange> {
    let mut bindings = Bindings::default();
    bindings.visit_body(body);
    bindings.globals
}

/// The names that the statements of one scope bind.
fn bound_in(body: &[Stmt]) -> HashSet<String> {
    let mut bindings = Bindings::default();
    bindings.visit_body(body);
    bindings.bound
}

/// Collects the bindings and declarations of one scope, without nested scopes.
#[derive(Default)]
struct Bindings {
    bound: HashSet<String>,
    globals: HashMap<String, TextRange>,
}

impl<'a> Visitor<'a> for Bindings {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(function) => {
                self.bound.insert(function.name.to_string());
            }
            Stmt::ClassDef(class) => {
                self.bound.insert(class.name.to_string());
            }
            Stmt::Global(stmt) => {
                for name in &stmt.names {
                    self.globals.entry(name.to_string()).or_insert(stmt.range);
                }
            }
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if name.ctx == ExprContext::Store => {
                self.bound.insert(name.id.to_string());
            }
            Expr::Lambda(_) => {}
            _ => visitor::walk_expr(self, expr),
        }
    }

    fn visit_alias(&mut self, alias: &'a ruff_python_ast::Alias) {
        let name = alias.asname.as_ref().unwrap_or(&alias.name);
        // `import a.b` binds `a`.
        self.bound.insert(name.split('.').next().unwrap_or_default().to_owned());
    }
}
