//! The behaviour: formulas over sequences.

use super::{Reader, show, word};
use crate::diagnostic::{Code, counted, nearest};
use crate::limits::COUNT_MAX;
use crate::read::tree::{Form, Node};
use crate::{Bounds, Formula, FormulaKind, Span};

/// An operator of behaviours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Next,
    Or,
    Until,
    Always,
}

const OPERATORS: [&str; 4] = ["next", "or", "until", "always"];

/// Names with another meaning in formulas.
const RESERVED: [&str; 8] = ["not", "and", "implies", "eventually", "before", "at-most", "true", "false"];

/// Whether a state cannot have this name, because formulas would interpret it differently.
pub(crate) fn is_reserved(name: &str) -> bool {
    let is_operator = RESERVED.contains(&name) || operator(name).is_some();
    is_operator || name.starts_with(':') || name.starts_with("call:")
}

/// The operator of a name, and the bounds that are part of it in the published dialect: `until_5` is at most 5 times,
/// `until_2_4` is 2 to 4 times. `Err` holds the name if the bounds are invalid.
pub(super) fn operator(name: &str) -> Option<(Operator, Result<Bounds, &str>)> {
    let (name_only, suffix) = match name.split_once('_') {
        Some((name_only, suffix)) => (name_only, Some(suffix)),
        None => (name, None),
    };
    let operator = match name_only {
        "next" => Operator::Next,
        "or" => Operator::Or,
        "until" => Operator::Until,
        "always" => Operator::Always,
        _ => return None,
    };
    let least = u32::from(operator == Operator::Always);
    let Some(suffix) = suffix else { return Some((operator, Ok(Bounds { min: least, max: None }))) };
    // Only loops have bounds, so a name such as `next_2` is not an operator.
    if matches!(operator, Operator::Next | Operator::Or) {
        return None;
    }
    let number = |text: &str| text.parse().ok().filter(|number| *number <= COUNT_MAX);
    let bounds = match suffix.split_once('_') {
        None => number(suffix).map(|max| (least, max)),
        Some((min, max)) => number(min).zip(number(max)),
    };
    let bounds = bounds.filter(|(min, max)| min <= max && least <= *min);
    Some((operator, bounds.map(|(min, max)| Bounds { min, max: Some(max) }).ok_or(name)))
}

impl Reader<'_> {
    pub(super) fn behavior(&mut self, body: &[Node], span: Span) -> Option<Formula> {
        let [node] = body else {
            let message = format!("`:behavior` takes one formula, not {}", body.len());
            self.fault(Code::WrongArity, span, message, "write (:behavior (next ...))");
            // Read for their own faults.
            body.iter().for_each(|node| drop(self.formula(node)));
            return None;
        };
        let formula = self.formula(node)?;
        if !matches!(formula.kind, FormulaKind::Next(_)) {
            let message = "the formula of a behaviour begins with `next`";
            self.fault(Code::TopNotNext, node.span, message, format!("write (next {})", show(node)));
        }
        Some(formula)
    }

    fn formula(&mut self, node: &Node) -> Option<Formula> {
        let items = match &node.value {
            Form::Word(name) if !name.starts_with(':') => {
                return Some(Formula { kind: FormulaKind::State(name.clone()), span: node.span });
            }
            Form::List(items) if !items.is_empty() => items,
            _ => {
                let help = "write a state, or (next ...), (or ...), (until f g) or (always f)";
                self.fault(Code::UnexpectedForm, node.span, format!("`{}` is no formula", show(node)), help);
                return None;
            }
        };
        let (head, rest) = (&items[0], &items[1..]);
        let Some((operator, bounds)) = word(head).and_then(operator) else {
            self.unknown_operator(head, &OPERATORS);
            // Its parts may have faults of their own.
            rest.iter()
                .filter(|node| matches!(node.value, Form::List(_)))
                .for_each(|node| drop(self.formula(node)));
            return None;
        };
        let mut bounds = bounds.unwrap_or_else(|name| {
            let message = format!("the bounds of `{name}` make no sense");
            self.fault(
                Code::BadNumber,
                head.span,
                message,
                format!("write numbers up to {COUNT_MAX}, the smaller first"),
            );
            // Any valid bounds, so that the checks of the draft do not report them again.
            Bounds { min: 1, max: None }
        });
        let loops = matches!(operator, Operator::Until | Operator::Always);
        let rest = if loops { self.bounds(rest, &mut bounds, operator) } else { rest };
        // All operands are read before the first unreadable one ends this, so that each fault is reported.
        let operands: Vec<Option<Formula>> = rest.iter().map(|node| self.formula(node)).collect();
        let demanded = match operator {
            Operator::Until => Some(2),
            Operator::Always => Some(1),
            Operator::Next | Operator::Or => None,
        };
        if demanded.is_some_and(|count| count != operands.len()) || operands.is_empty() {
            let shape = match operator {
                Operator::Until => "write (until f g): f is repeated until g",
                Operator::Always => "write (always f)",
                Operator::Next => "write (next f g ...)",
                Operator::Or => "write (or f g ...)",
            };
            let message = format!("`{}` with {}", show(head), counted(operands.len(), "operand"));
            self.fault(Code::WrongArity, node.span, message, shape);
            return None;
        }
        let mut operands = operands.into_iter().collect::<Option<Vec<Formula>>>()?;
        let kind = match operator {
            Operator::Next => FormulaKind::Next(operands),
            Operator::Or => FormulaKind::Or(operands),
            Operator::Until => {
                let exit = Box::new(operands.pop()?);
                FormulaKind::Until { body: Box::new(operands.pop()?), exit, bounds }
            }
            Operator::Always => FormulaKind::Always { body: Box::new(operands.pop()?), bounds },
        };
        Some(Formula { kind, span: node.span })
    }

    /// Removes `:min N` and `:max N` from the end of a loop's operands, and returns the others.
    fn bounds<'n>(&mut self, nodes: &'n [Node], bounds: &mut Bounds, operator: Operator) -> &'n [Node] {
        let is_keyword = |node: &Node| word(node).is_some_and(|word| word.starts_with(':'));
        let first = nodes.iter().position(is_keyword).unwrap_or(nodes.len());
        let (operands, settings) = nodes.split_at(first);
        let least = u32::from(operator == Operator::Always);
        let mut seen = Vec::new();
        for pair in settings.chunks(2) {
            let keyword = word(&pair[0]).unwrap_or_default();
            if ![":min", ":max"].contains(&keyword) {
                let message = format!("`{}` is no bound", show(&pair[0]));
                self.fault(
                    Code::UnexpectedForm,
                    pair[0].span,
                    message,
                    "write :min N or :max N after the operands",
                );
                continue;
            }
            let Some(value) = pair.get(1) else {
                self.fault(
                    Code::BadNumber,
                    pair[0].span,
                    format!("`{keyword}` without a number"),
                    "add the number",
                );
                continue;
            };
            if self.is_repeated(&mut seen, keyword, pair[0].span) {
                continue;
            }
            let Some(number) = self.number(value, least, COUNT_MAX) else { continue };
            if keyword == ":min" {
                bounds.min = number;
            } else {
                bounds.max = Some(number);
            }
        }
        if let (Some(max), Some(last)) = (bounds.max, settings.last())
            && bounds.min > max
        {
            let message = format!("at least {} and at most {max} times", bounds.min);
            self.fault(Code::BadNumber, last.span, message, "make `:min` no larger than `:max`");
            // Valid again, so that the checks of the draft do not report the same fault.
            bounds.min = max;
        }
        operands
    }

    pub(super) fn unknown_operator(&mut self, head: &Node, known: &[&str]) {
        let near = || word(head).and_then(|word| nearest(word, known.iter().copied()));
        let help = match if self.faults.is_full() { None } else { near() } {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("write one of {}", crate::diagnostic::one_of(known.iter().copied())),
        };
        // Only what a call is called with is known when an automaton takes a step.
        let is_event = |word: &str| word.starts_with("done:") || word.starts_with("failed:");
        let (message, help) = match word(head).filter(|word| is_event(word)) {
            Some(event) => (
                format!("`{event}` takes no tests: only `call:TOOL` does"),
                format!("write `{event}` without brackets, or (call:TOOL (< /argument 100))"),
            ),
            None => (format!("`{}` is no operator that can stand here", show(head)), help),
        };
        self.fault(Code::UnknownOperator, head.span, message, help);
    }
}
