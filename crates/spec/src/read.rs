//! Parses text to a [`Spec`]: the s-expression syntax, with all faults at once.

mod bare;
mod conditions;
pub(crate) mod formulas;
mod states;
pub(crate) mod tree;

use tree::{Faults, Form, Node};

use crate::diagnostic::{Code, Diagnostic, nearest, one_of};
use crate::limits::{REQUIREMENTS_MAX, SOURCE_BYTES_MAX};
use crate::{
    CallPattern, Example, Formula, Requirement, RequirementKind, ShownExample, Span, Spanned, Spec, State,
};

/// Clauses of a specification.
const CLAUSES: [&str; 8] =
    [":instructions", ":states", ":behavior", ":require", ":accepts", ":rejects", ":examples", ":rules"];

/// Parses one specification. The understood parts of a faulty one are returned with the faults.
///
/// Accepts both dialects: that of the published code, whose bounds are part of the operator (`until_5`, `until_2_4`,
/// `always_2`), and ours.
pub(crate) fn read(source: &str, faults: &mut Faults) -> Option<Draft> {
    if source.len() > SOURCE_BYTES_MAX {
        let message = format!("{} bytes are more than the {SOURCE_BYTES_MAX} that are read", source.len());
        let span = Span { start: 0, end: 0, line: 1 };
        faults.push(Diagnostic::new(Code::LimitExceeded, span, message).help("split the specification"));
        return None;
    }
    let nodes = tree::read(source, faults);
    let Some(first) = nodes.first() else {
        let span = Span { start: 0, end: source.len(), line: 1 };
        faults.push(Diagnostic::new(Code::NoDefine, span, "there is no specification").help(DEFINE_HELP));
        return None;
    };
    if let Some(second) = nodes.get(1) {
        let fault = Diagnostic::new(Code::NoDefine, second.span, "something after the specification");
        faults.push(fault.help("keep one `(define ...)` in a file; look for a `)` too many before this"));
    }
    let mut reader = Reader { faults, patterns: 0 };
    reader.define(first)
}

/// An atom of a requirement that stands in no specification.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Atom {
    /// A word.
    Name(String),
    /// Calls.
    Call(CallPattern),
}

/// Parses one requirement that stands in no specification. Its distinct atoms are returned beside it, and in it each is
/// a state whose name is the atom's index.
///
/// # Errors
/// The faults; never empty.
pub(crate) fn requirement_of(source: &str) -> Result<(Requirement, Vec<Atom>), Vec<Diagnostic>> {
    let mut faults = Faults::default();
    let span = Span { start: 0, end: source.len(), line: 1 };
    if source.len() > SOURCE_BYTES_MAX {
        let message = format!("{} bytes are more than the {SOURCE_BYTES_MAX} that are read", source.len());
        return Err(vec![Diagnostic::new(Code::LimitExceeded, span, message)]);
    }
    let nodes = tree::read(source, &mut faults);
    let requirement = match nodes.as_slice() {
        [node] => Reader { faults: &mut faults, patterns: 0 }.requirement(node),
        nodes => {
            let (message, help) = match (nodes.len(), bare::bracketed(nodes)) {
                (0, _) => ("there is no formula".to_owned(), "write (always (implies f g))".to_owned()),
                (_, Some(meant)) => (
                    "an operator stands without brackets, in which it comes first".to_owned(),
                    format!("write {meant}"),
                ),
                (count, None) => {
                    (format!("there are {count} formulas, not one"), "join them: (and f g)".to_owned())
                }
            };
            faults.push(Diagnostic::new(Code::UnexpectedForm, span, message).help(help));
            None
        }
    };
    match requirement {
        Some(mut requirement) if !faults.has_errors() => {
            let mut atoms = Vec::new();
            number_atoms(&mut requirement, &mut atoms);
            Ok((requirement, atoms))
        }
        _ => Err(faults.into_sorted()),
    }
}

/// Replaces each atom by a state whose name is its index.
fn number_atoms(requirement: &mut Requirement, atoms: &mut Vec<Atom>) {
    let atom = match &mut requirement.kind {
        RequirementKind::State(name) => Atom::Name(std::mem::take(name)),
        RequirementKind::Call(pattern) => Atom::Call(pattern.clone()),
        RequirementKind::True | RequirementKind::False => return,
        RequirementKind::Not(operand)
        | RequirementKind::Always(operand)
        | RequirementKind::Eventually(operand)
        | RequirementKind::Next(operand)
        | RequirementKind::AtMost(_, operand) => return number_atoms(operand, atoms),
        RequirementKind::And(operands) | RequirementKind::Or(operands) => {
            return operands.iter_mut().for_each(|operand| number_atoms(operand, atoms));
        }
        RequirementKind::Implies(first, second)
        | RequirementKind::Until(first, second)
        | RequirementKind::Before(first, second) => {
            number_atoms(first, atoms);
            return number_atoms(second, atoms);
        }
    };
    let index = atoms.iter().position(|other| *other == atom).unwrap_or_else(|| {
        atoms.push(atom);
        atoms.len() - 1
    });
    requirement.kind = RequirementKind::State(index.to_string());
}

const DEFINE_HELP: &str = "write (define NAME (:states ...) (:behavior ...))";

/// The understood parts of a specification.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) name: Spanned<String>,
    pub(crate) instructions: Option<Spanned<String>>,
    pub(crate) states: Option<Vec<State>>,
    pub(crate) behavior: Option<Formula>,
    pub(crate) requirements: Vec<Requirement>,
    pub(crate) accepts: Vec<Example>,
    pub(crate) rejects: Vec<Example>,
    pub(crate) examples: Vec<ShownExample>,
    pub(crate) rules: Option<Spanned<String>>,
}

impl From<Spec> for Draft {
    fn from(spec: Spec) -> Self {
        let Spec { name, instructions, states, behavior, requirements, accepts, rejects, examples, rules } =
            spec;
        let (states, behavior) = (Some(states), Some(behavior));
        Self { name, instructions, states, behavior, requirements, accepts, rejects, examples, rules }
    }
}

impl Draft {
    /// The whole specification, if it was understood completely.
    pub(crate) fn into_spec(self) -> Option<Spec> {
        Some(Spec {
            name: self.name,
            instructions: self.instructions,
            states: self.states?,
            behavior: self.behavior?,
            requirements: self.requirements,
            accepts: self.accepts,
            rejects: self.rejects,
            examples: self.examples,
            rules: self.rules,
        })
    }
}

/// Turns lists into what they mean.
struct Reader<'f> {
    faults: &'f mut Faults,
    /// Regular expressions so far.
    patterns: usize,
}

impl Reader<'_> {
    fn define(&mut self, node: &Node) -> Option<Draft> {
        let Form::List(items) = &node.value else {
            self.fault(Code::NoDefine, node.span, "a specification is a list", DEFINE_HELP);
            return None;
        };
        let (head, rest) = items.split_first().map_or((None, &items[..]), |(head, rest)| (Some(head), rest));
        if head.is_none_or(|head| word(head) != Some("define")) {
            let span = head.map_or(node.span, |head| head.span);
            self.fault(Code::NoDefine, span, "a specification begins with `define`", DEFINE_HELP);
            return None;
        }
        let (name, clauses) = match rest.split_first() {
            Some((name, clauses)) if word(name).is_some_and(|word| !word.starts_with(':')) => {
                (Spanned::new(word(name).unwrap_or_default().to_owned(), name.span), clauses)
            }
            _ => {
                let span = rest.first().map_or(node.span, |name| name.span);
                self.fault(Code::NoDefine, span, "the specification has no name", DEFINE_HELP);
                // The clauses are read all the same, so that their faults are reported at once.
                (Spanned::new(String::new(), span), rest)
            }
        };
        let mut draft = Draft {
            name,
            instructions: None,
            states: None,
            behavior: None,
            requirements: Vec::new(),
            accepts: Vec::new(),
            rejects: Vec::new(),
            examples: Vec::new(),
            rules: None,
        };
        let mut seen: Vec<(String, Span)> = Vec::new();
        for clause in clauses {
            let Some((keyword, body)) = self.clause(clause, &CLAUSES, "the specification") else { continue };
            // Requirements add up; of any other clause a second one would replace the first.
            let is_repeatable = keyword.starts_with(":require");
            if !is_repeatable && self.is_repeated(&mut seen, &keyword, clause.span) {
                continue;
            }
            match keyword.as_str() {
                ":instructions" => draft.instructions = self.words(":instructions", body, clause.span),
                ":rules" => draft.rules = self.words(":rules", body, clause.span),
                ":states" => draft.states = self.states(body),
                ":behavior" => {
                    draft.behavior = self.behavior(body, clause.span);
                    if draft.behavior.is_none() {
                        // The fault has been reported; the missing clause would be another one.
                        seen.push((":behavior".into(), clause.span));
                    }
                }
                ":require" => {
                    draft.requirements.extend(body.iter().filter_map(|node| self.requirement(node)));
                }
                ":accepts" => draft.accepts = body.iter().filter_map(|node| self.example(node)).collect(),
                ":examples" => {
                    draft.examples = body.iter().filter_map(|node| self.shown_example(node)).collect();
                }
                // Only `:rejects` is left, because `clause` returns known keywords alone.
                _ => draft.rejects = body.iter().filter_map(|node| self.example(node)).collect(),
            }
        }
        for demanded in [":states", ":behavior"] {
            if seen.iter().all(|(keyword, _)| keyword != demanded) {
                let message = format!("the specification has no `({demanded} ...)`");
                self.fault(Code::MissingClause, draft.name.span, message, DEFINE_HELP);
            }
        }
        if let Some(extra) = draft.requirements.get(REQUIREMENTS_MAX) {
            let message = format!("there are more than {REQUIREMENTS_MAX} requirements");
            self.fault(Code::LimitExceeded, extra.span, message, "join some of them with `and`");
            draft.requirements.truncate(REQUIREMENTS_MAX);
        }
        Some(draft)
    }

    /// The keyword and the rest of a clause `(:KEYWORD ...)`.
    fn clause<'n>(&mut self, node: &'n Node, known: &[&str], of: &str) -> Option<(String, &'n [Node])> {
        let shape = format!("write {}", one_of(known.iter().copied()));
        let Form::List(items) = &node.value else {
            self.fault(
                Code::UnexpectedForm,
                node.span,
                format!("{of} holds lists that begin with a keyword"),
                shape,
            );
            return None;
        };
        let Some((head, body)) = items.split_first() else {
            self.fault(Code::UnexpectedForm, node.span, format!("{of} holds an empty list"), shape);
            return None;
        };
        // Both spellings are accepted; the published one is printed.
        let keyword = match word(head) {
            Some(":behaviour") => ":behavior",
            Some(word) => word,
            None => "",
        };
        if known.contains(&keyword) {
            return Some((keyword.to_owned(), body));
        }
        let near = || nearest(keyword, known.iter().copied());
        let help = match if self.faults.is_full() { None } else { near() } {
            Some(near) => format!("did you mean `{near}`?"),
            None => shape,
        };
        let message = format!("`{}` is no keyword of {of}", show(head));
        self.fault(Code::UnknownClause, head.span, message, help);
        None
    }

    /// The text of a clause for a model.
    fn words(&mut self, keyword: &str, body: &[Node], span: Span) -> Option<Spanned<String>> {
        let help = || format!("write ({keyword} \"TEXT\")");
        match body {
            [Node { value: Form::Text(text), span }] if !text.trim().is_empty() => {
                Some(Spanned::new(text.clone(), *span))
            }
            [Node { value: Form::Text(_), span }] => {
                self.fault(Code::UnexpectedForm, *span, format!("`{keyword}` says nothing"), help());
                None
            }
            _ => {
                self.fault(Code::UnexpectedForm, span, format!("`{keyword}` takes one string"), help());
                None
            }
        }
    }

    /// Whether a keyword has been seen before, which is a fault.
    fn is_repeated(&mut self, seen: &mut Vec<(String, Span)>, keyword: &str, span: Span) -> bool {
        if let Some((_, first)) = seen.iter().find(|(other, _)| other == keyword) {
            let fault = Diagnostic::new(Code::RepeatedClause, span, format!("`{keyword}` stands twice"));
            self.faults.push(fault.and(*first, "the first one").help("keep one of them"));
            return true;
        }
        seen.push((keyword.to_owned(), span));
        false
    }

    fn fault(&mut self, code: Code, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.faults.push(Diagnostic::new(code, span, message).help(help));
    }
}

/// The word a node is, if it is one.
fn word(node: &Node) -> Option<&str> {
    match &node.value {
        Form::Word(word) => Some(word),
        Form::Text(_) | Form::List(_) => None,
    }
}

/// The beginning of a node, for messages.
fn show(node: &Node) -> String {
    match &node.value {
        Form::Word(word) => word.chars().take(40).collect(),
        Form::Text(text) => format!("\"{}\"", text.chars().take(40).collect::<String>()),
        Form::List(items) => match items.first() {
            Some(Node { value: Form::Word(word), .. }) => {
                format!("({} ...)", word.chars().take(40).collect::<String>())
            }
            Some(_) => "(...)".to_owned(),
            None => "()".to_owned(),
        },
    }
}
