//! Requirements and examples.

use serde_json::{Map, Value};

use super::bare::bracketed;
use super::{Reader, show, word};
use crate::diagnostic::{Code, counted};
use crate::limits::COUNT_MAX;
use crate::number::JsonNumber;
use crate::read::tree::{Form, Node};
use crate::{
    CallPattern, Example, ExampleCall, ExampleStep, Predicate, Requirement, RequirementKind, ShownExample,
    ShownSection, Spanned, Test,
};

const OPERATORS: [&str; 10] =
    ["always", "eventually", "not", "and", "or", "implies", "before", "at-most", "next", "until"];
const TESTS: [&str; 8] = ["=", "!=", "<", "<=", ">", ">=", "matches", "has"];

impl Reader<'_> {
    pub(super) fn requirement(&mut self, node: &Node) -> Option<Requirement> {
        let kind = match &node.value {
            Form::Word(name) if !name.starts_with(':') => self.atom(name, node)?,
            Form::List(items) if !items.is_empty() => {
                let (head, operands) = (&items[0], &items[1..]);
                match word(head).and_then(|word| word.strip_prefix("call:")) {
                    Some(tool) => RequirementKind::Call(self.call_pattern(tool, head, operands)?),
                    None => self.operation(node, head, operands)?,
                }
            }
            _ => {
                let help = "write a state, call:TOOL, or an operator in a list, such as (always f)";
                self.fault(
                    Code::UnexpectedForm,
                    node.span,
                    format!("`{}` is no requirement", show(node)),
                    help,
                );
                return None;
            }
        };
        Some(Requirement { kind, span: node.span })
    }

    fn atom(&mut self, name: &str, node: &Node) -> Option<RequirementKind> {
        Some(match (name, name.strip_prefix("call:")) {
            ("true", _) => RequirementKind::True,
            ("false", _) => RequirementKind::False,
            (_, Some(tool)) => RequirementKind::Call(self.call_pattern(tool, node, &[])?),
            (_, None) => RequirementKind::State(name.to_owned()),
        })
    }

    fn operation(&mut self, node: &Node, head: &Node, operands: &[Node]) -> Option<RequirementKind> {
        let name = word(head).unwrap_or_default();
        if !OPERATORS.contains(&name) {
            self.unknown_operator(head, &OPERATORS);
            // They may have faults of their own.
            let lists = operands.iter().filter(|node| matches!(node.value, Form::List(_)));
            lists.for_each(|node| drop(self.requirement(node)));
            return None;
        }
        let (count, operands) = match (name, operands.split_first()) {
            ("at-most", Some((count, rest))) => (self.number(count, 0, COUNT_MAX), rest),
            _ => (Some(0), operands),
        };
        // All of them are read before the first unreadable one ends this, so that each fault is reported.
        let formulas: Vec<Option<Requirement>> = operands.iter().map(|node| self.requirement(node)).collect();
        let (arity, shape) = match name {
            "and" | "or" => (None, "two or more operands"),
            "implies" => (Some(2), "(implies f g): where f holds, g does"),
            "before" => (Some(2), "(before f g): f held before the first time that g does"),
            "until" => (Some(2), "(until f g): f holds until g does, and g does hold"),
            "at-most" => (Some(1), "(at-most N f): f holds at no more than N places"),
            "always" => (Some(1), "(always f): f holds at every place"),
            "eventually" => (Some(1), "(eventually f): f holds at some place"),
            "next" => (Some(1), "(next f): there is a next place, and f holds there"),
            _ => (Some(1), "(not f)"),
        };
        if arity.is_some_and(|arity| arity != formulas.len()) || formulas.is_empty() {
            let message = format!("`{name}` with {}", counted(formulas.len(), "operand"));
            let meant = match &node.value {
                Form::List(items) => bracketed(items),
                _ => None,
            };
            let help = meant.unwrap_or_else(|| shape.to_owned());
            self.fault(Code::WrongArity, node.span, message, format!("write {help}"));
            return None;
        }
        let mut formulas = formulas.into_iter().collect::<Option<Vec<Requirement>>>()?;
        if arity.is_none() {
            return Some(if name == "and" {
                RequirementKind::And(formulas)
            } else {
                RequirementKind::Or(formulas)
            });
        }
        let last = Box::new(formulas.pop()?);
        let mut first = || formulas.pop().map(Box::new);
        Some(match name {
            "implies" => RequirementKind::Implies(first()?, last),
            "before" => RequirementKind::Before(first()?, last),
            "until" => RequirementKind::Until(first()?, last),
            "at-most" => RequirementKind::AtMost(count?, last),
            "always" => RequirementKind::Always(last),
            "eventually" => RequirementKind::Eventually(last),
            "next" => RequirementKind::Next(last),
            _ => RequirementKind::Not(last),
        })
    }

    fn call_pattern(&mut self, tool: &str, head: &Node, tests: &[Node]) -> Option<CallPattern> {
        if tool.is_empty() {
            self.fault(
                Code::UnexpectedForm,
                head.span,
                "`call:` without a tool",
                "write call:TOOL, or call:* for any",
            );
            return None;
        }
        let tool = (tool != "*").then(|| tool.to_owned());
        let predicates = tests.iter().map(|node| self.predicate(node)).collect::<Option<Vec<Predicate>>>()?;
        Some(CallPattern { tool, predicates })
    }

    fn predicate(&mut self, node: &Node) -> Option<Predicate> {
        const HELP: &str =
            "write (TEST ARGUMENT VALUE), such as (< amount 100) or (= city \"Rome\"), or (has ARGUMENT)";
        let Form::List(items) = &node.value else {
            self.fault(
                Code::UnexpectedForm,
                node.span,
                format!("`{}` is no test of an argument", show(node)),
                HELP,
            );
            return None;
        };
        let head = items.first().and_then(word).unwrap_or_default();
        if !TESTS.contains(&head) {
            self.unknown_operator(items.first().unwrap_or(node), &TESTS);
            return None;
        }
        let argument = match items.get(1).map(|node| &node.value) {
            // A name that is not a word has to be quoted.
            Some(Form::Word(text) | Form::Text(text)) => text.clone(),
            _ => {
                self.fault(Code::UnexpectedForm, node.span, format!("`{head}` without an argument"), HELP);
                return None;
            }
        };
        let test = match (head, &items[2..]) {
            ("has", []) => Test::Has,
            ("=", [value]) => Test::Equal(self.value(value)?),
            ("!=", [value]) => Test::NotEqual(self.value(value)?),
            ("<", [bound]) => Test::Below(self.bound(bound)?),
            ("<=", [bound]) => Test::AtMost(self.bound(bound)?),
            (">", [bound]) => Test::Above(self.bound(bound)?),
            (">=", [bound]) => Test::AtLeast(self.bound(bound)?),
            ("matches", [Node { value: Form::Text(text), span }]) => {
                Test::Matches(self.pattern(text, *span)?)
            }
            _ => {
                self.fault(Code::WrongArity, node.span, format!("`{head}` has another form"), HELP);
                return None;
            }
        };
        Some(Predicate { argument, test })
    }

    /// A JSON value: a string, a number, `true`, `false` or `null`.
    fn value(&mut self, node: &Node) -> Option<Value> {
        let value = match &node.value {
            Form::Text(text) => Some(Value::from(text.as_str())),
            Form::Word(word) => serde_json::from_str::<Value>(word).ok(),
            Form::List(_) => None,
        };
        if value.is_none() {
            let help = "write a \"string\", a number, true, false or null";
            self.fault(Code::UnexpectedForm, node.span, format!("`{}` is no value", show(node)), help);
        }
        value
    }

    fn bound(&mut self, node: &Node) -> Option<JsonNumber> {
        let read = word(node).and_then(JsonNumber::read).and_then(Result::ok);
        let number = read.and_then(|number| JsonNumber::of(&Value::Number(number)));
        if number.is_none() {
            self.fault(
                Code::BadNumber,
                node.span,
                format!("`{}` is no number", show(node)),
                "write a number",
            );
        }
        number
    }

    pub(super) fn example(&mut self, node: &Node) -> Option<Example> {
        let Form::List(items) = &node.value else {
            let help = "write a list of states in brackets, such as (Ques Ans)";
            self.fault(Code::UnexpectedForm, node.span, format!("`{}` is no example", show(node)), help);
            return None;
        };
        let steps: Vec<Option<ExampleStep>> = items.iter().map(|node| self.step(node)).collect();
        let steps = steps.into_iter().collect::<Option<Vec<ExampleStep>>>()?;
        Some(Example { steps, span: node.span })
    }

    pub(super) fn shown_example(&mut self, node: &Node) -> Option<ShownExample> {
        const HELP: &str = "write its sections in turn: ((STATE \"CONTENT\") (STATE \"CONTENT\") ...)";
        let sections = match &node.value {
            Form::List(items) if !items.is_empty() => items,
            _ => {
                let message = format!("`{}` is no example of a text", show(node));
                self.fault(Code::UnexpectedForm, node.span, message, HELP);
                return None;
            }
        };
        let section = |node: &Node| match &node.value {
            Form::List(items) => match &items[..] {
                [
                    Node { value: Form::Word(state), span },
                    Node { value: Form::Text(content), span: place },
                ] => Some(ShownSection {
                    state: Spanned::new(state.clone(), *span),
                    content: Spanned::new(content.clone(), *place),
                }),
                _ => None,
            },
            Form::Word(_) | Form::Text(_) => None,
        };
        let mut read = Vec::new();
        for node in sections {
            match section(node) {
                Some(section) => read.push(section),
                None => {
                    let message = format!("`{}` is no section of an example", show(node));
                    self.fault(Code::UnexpectedForm, node.span, message, HELP);
                }
            }
        }
        // All sections or none: with gaps, the checks would judge another text.
        (read.len() == sections.len()).then_some(ShownExample { sections: read, span: node.span })
    }

    fn step(&mut self, node: &Node) -> Option<ExampleStep> {
        const HELP: &str = "write STATE, or (STATE call:TOOL (ARGUMENT VALUE) ...)";
        if let Some(name) = word(node) {
            return Some(ExampleStep { state: Spanned::new(name.to_owned(), node.span), call: None });
        }
        let items = match &node.value {
            Form::List(items) => &items[..],
            Form::Word(_) | Form::Text(_) => &[],
        };
        let parts = match items {
            [state, call, arguments @ ..] => {
                word(state).zip(word(call)).map(|words| (state, words, arguments))
            }
            _ => None,
        };
        let tool = parts.as_ref().and_then(|(_, (_, call), _)| call.strip_prefix("call:"));
        let (Some((state, (name, _), arguments)), Some(tool)) = (parts, tool) else {
            self.fault(
                Code::UnexpectedForm,
                node.span,
                format!("`{}` is no step of an example", show(node)),
                HELP,
            );
            return None;
        };
        let mut object = Map::new();
        for node in arguments {
            let pair = match &node.value {
                Form::List(items) => items.as_slice(),
                Form::Word(_) | Form::Text(_) => &[],
            };
            let [Node { value: Form::Word(name) | Form::Text(name), .. }, value] = pair else {
                self.fault(Code::UnexpectedForm, node.span, format!("`{}` is no argument", show(node)), HELP);
                return None;
            };
            object.insert(name.clone(), self.value(value)?);
        }
        let call = ExampleCall { tool: tool.to_owned(), arguments: object };
        Some(ExampleStep { state: Spanned::new(name.to_owned(), state.span), call: Some(call) })
    }
}
