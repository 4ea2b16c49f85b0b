//! A [`Spec`] as text in our dialect. Parsing it gives the same specification.

use std::fmt::{self, Display, Formatter, Write as _};

use serde_json::Value;

use crate::{
    Bounds, CallPattern, ContentRule, Example, ExampleStep, Formula, FormulaKind, Predicate, Requirement,
    RequirementKind, Spec, State, Test,
};

/// Widest line, if a formula can be broken.
const WIDTH: usize = 100;

impl Display for Spec {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "(define {}", self.name.value)?;
        if let Some(instructions) = &self.instructions {
            write!(f, "\n  (:instructions {})", quoted(&instructions.value))?;
        }
        if let Some(rules) = &self.rules {
            write!(f, "\n  (:rules {})", quoted(&rules.value))?;
        }
        f.write_str("\n  (:states")?;
        for state in &self.states {
            write!(f, "\n    {state}")?;
        }
        f.write_str(")\n  (:behavior\n    ")?;
        self.behavior.to_tree().write(f, 4, 2)?;
        f.write_str(")")?;
        if !self.requirements.is_empty() {
            f.write_str("\n  (:require")?;
            for requirement in &self.requirements {
                f.write_str("\n    ")?;
                requirement.to_tree().write(f, 4, 2)?;
            }
            f.write_str(")")?;
        }
        for (keyword, examples) in [(":accepts", &self.accepts), (":rejects", &self.rejects)] {
            if !examples.is_empty() {
                write!(f, "\n  ({keyword}")?;
                for example in examples {
                    f.write_str("\n    ")?;
                    example.to_tree().write(f, 4, 2)?;
                }
                f.write_str(")")?;
            }
        }
        if !self.examples.is_empty() {
            f.write_str("\n  (:examples")?;
            for example in &self.examples {
                for (place, section) in example.sections.iter().enumerate() {
                    f.write_str(if place == 0 { "\n    (" } else { "\n     " })?;
                    write!(f, "({} {})", section.state.value, quoted(&section.content.value))?;
                }
                f.write_str(")")?;
            }
            f.write_str(")")?;
        }
        f.write_str(")\n")
    }
}

impl Display for State {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "({} (:text {})", self.name.value, quoted(&self.prompt.value))?;
        if let Some(about) = &self.about {
            write!(f, " (:about {})", quoted(&about.value))?;
        }
        if self.is_environment {
            f.write_str(" (:flags :env-input)")?;
        }
        if let Some(handler) = &self.handler {
            write!(f, " (:handler {})", handler.value)?;
        }
        if !self.content.is_empty() {
            f.write_str(" (:content")?;
            for rule in &self.content {
                write!(f, " {}", rule.value)?;
            }
            f.write_str(")")?;
        }
        f.write_str(")")
    }
}

impl Display for ContentRule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let word = self.word();
        match self {
            Self::Tool | Self::Arguments | Self::Label => f.write_str(word),
            Self::Matches(pattern) => write!(f, "({word} {})", quoted(pattern.as_str())),
            Self::Json(schema) => write!(f, "({word} {})", quoted(&schema.to_string())),
            Self::MaxLength(length) => write!(f, "({word} {length})"),
        }
    }
}

impl Display for Formula {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_tree().on_one_line())
    }
}

impl Display for Requirement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_tree().on_one_line())
    }
}

/// A string in source form: raw if that avoids escapes.
pub(crate) fn quoted(text: &str) -> String {
    let needs_escape = text.contains(['"', '\\']);
    let is_printable = text.chars().all(|c| !c.is_control());
    // A raw string ends at the first `"#`, and has no escapes for control characters.
    if needs_escape && is_printable && !text.contains("\"#") {
        return format!("#\"{text}\"#");
    }
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            c if c.is_control() => quoted.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Words and lists, to be laid out.
enum Tree {
    Leaf(String),
    List(Vec<Tree>),
}

impl Tree {
    fn leaf(text: impl Into<String>) -> Self {
        Self::Leaf(text.into())
    }

    fn operation(operator: &str, operands: impl IntoIterator<Item = Self>) -> Self {
        Self::List(std::iter::once(Self::leaf(operator)).chain(operands).collect())
    }

    fn on_one_line(&self) -> String {
        match self {
            Self::Leaf(text) => text.clone(),
            Self::List(items) => {
                format!("({})", items.iter().map(Self::on_one_line).collect::<Vec<_>>().join(" "))
            }
        }
    }

    /// Writes it at a column. If it does not fit on the line, each operand gets a line of its own, indented by
    /// `step`.
    fn write(&self, f: &mut Formatter<'_>, column: usize, step: usize) -> fmt::Result {
        let line = self.on_one_line();
        let items = match self {
            Self::List(items) if column + line.chars().count() > WIDTH => items,
            _ => return f.write_str(&line),
        };
        f.write_char('(')?;
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                write!(f, "\n{:width$}", "", width = column + step)?;
            }
            item.write(f, column + step, step)?;
        }
        f.write_char(')')
    }
}

trait ToTree {
    fn to_tree(&self) -> Tree;
}

fn trees<'a, T: ToTree + 'a>(items: impl IntoIterator<Item = &'a T>) -> impl Iterator<Item = Tree> {
    items.into_iter().map(ToTree::to_tree)
}

impl ToTree for Formula {
    fn to_tree(&self) -> Tree {
        match &self.kind {
            FormulaKind::State(name) => Tree::leaf(name),
            FormulaKind::Or(operands) => Tree::operation("or", trees(operands)),
            FormulaKind::Next(operands) => Tree::operation("next", trees(operands)),
            FormulaKind::Until { body, exit, bounds } => {
                let operands = [body.to_tree(), exit.to_tree()].into_iter();
                Tree::operation("until", operands.chain(bound_trees(*bounds, 0)))
            }
            FormulaKind::Always { body, bounds } => {
                Tree::operation("always", std::iter::once(body.to_tree()).chain(bound_trees(*bounds, 1)))
            }
        }
    }
}

/// The bounds that differ from the operator's defaults.
fn bound_trees(bounds: Bounds, least: u32) -> impl Iterator<Item = Tree> {
    let min = (bounds.min != least).then_some((":min", bounds.min));
    let max = bounds.max.map(|max| (":max", max));
    let settings = min.into_iter().chain(max);
    settings.flat_map(|(keyword, number)| [Tree::leaf(keyword), Tree::leaf(number.to_string())])
}

impl ToTree for Requirement {
    fn to_tree(&self) -> Tree {
        let unary = |operator: &str, operand: &Self| Tree::operation(operator, [operand.to_tree()]);
        let binary = |operator: &str, first: &Self, second: &Self| {
            Tree::operation(operator, [first.to_tree(), second.to_tree()])
        };
        match &self.kind {
            RequirementKind::True => Tree::leaf("true"),
            RequirementKind::False => Tree::leaf("false"),
            RequirementKind::State(name) => Tree::leaf(name),
            RequirementKind::Call(pattern) => pattern.to_tree(),
            RequirementKind::Not(operand) => unary("not", operand),
            RequirementKind::And(operands) => Tree::operation("and", trees(operands)),
            RequirementKind::Or(operands) => Tree::operation("or", trees(operands)),
            RequirementKind::Implies(first, second) => binary("implies", first, second),
            RequirementKind::Always(operand) => unary("always", operand),
            RequirementKind::Eventually(operand) => unary("eventually", operand),
            RequirementKind::Next(operand) => unary("next", operand),
            RequirementKind::Until(first, second) => binary("until", first, second),
            RequirementKind::Before(first, second) => binary("before", first, second),
            RequirementKind::AtMost(count, operand) => {
                Tree::operation("at-most", [Tree::leaf(count.to_string()), operand.to_tree()])
            }
        }
    }
}

impl ToTree for CallPattern {
    fn to_tree(&self) -> Tree {
        let head = format!("call:{}", self.tool.as_deref().unwrap_or("*"));
        if self.predicates.is_empty() {
            Tree::Leaf(head)
        } else {
            Tree::operation(&head, trees(&self.predicates))
        }
    }
}

impl ToTree for Predicate {
    fn to_tree(&self) -> Tree {
        let (operator, operand) = match &self.test {
            Test::Has => ("has", None),
            Test::Equal(value) => ("=", Some(value_text(value))),
            Test::NotEqual(value) => ("!=", Some(value_text(value))),
            Test::Below(bound) => ("<", Some(bound.to_string())),
            Test::AtMost(bound) => ("<=", Some(bound.to_string())),
            Test::Above(bound) => (">", Some(bound.to_string())),
            Test::AtLeast(bound) => (">=", Some(bound.to_string())),
            Test::Matches(pattern) => ("matches", Some(quoted(pattern.as_str()))),
        };
        let operands = std::iter::once(name_text(&self.argument)).chain(operand);
        Tree::operation(operator, operands.map(Tree::Leaf))
    }
}

/// An argument's name, quoted if it is not a word.
fn name_text(name: &str) -> String {
    let is_word =
        !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || "()\";\u{feff}".contains(c));
    if is_word { name.to_owned() } else { quoted(name) }
}

fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        other => other.to_string(),
    }
}

impl ToTree for Example {
    fn to_tree(&self) -> Tree {
        Tree::List(trees(&self.steps).collect())
    }
}

impl ToTree for ExampleStep {
    fn to_tree(&self) -> Tree {
        let state = Tree::leaf(&self.state.value);
        let Some(call) = &self.call else { return state };
        let arguments = call.arguments.iter().map(|(name, value)| {
            Tree::List(vec![Tree::Leaf(name_text(name)), Tree::Leaf(value_text(value))])
        });
        let parts = [state, Tree::Leaf(format!("call:{}", call.tool))];
        Tree::List(parts.into_iter().chain(arguments).collect())
    }
}

impl Display for Predicate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_tree().on_one_line())
    }
}
