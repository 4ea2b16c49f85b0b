//! The nodes of a plan as lines of code, as the published evaluator writes them. Everything else is derived from
//! these lines.

use std::fmt::Write as _;

use planproof_measure::python::{digit, is_word};

use crate::literal::Literal;
use crate::python::big::read_integer;
use crate::python::template::{self, TemplateError};

/// Why nodes cannot be written as code. The published code treats such a plan as empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// The plan is not a list.
    NoList,
    /// A node is not an object.
    NoNode,
    /// A node lacks `id`, `name` or `args`.
    MissingKey,
    /// The name of a tool is not a text, or the arguments are not an object.
    WrongType,
    /// A reference lacks a whole number, a `>` or a `.`.
    Reference,
    /// Braces beside a reference do not form a field.
    Braces,
    /// A separate field beside a reference.
    Named,
    /// More fields than references.
    TooFew,
}

impl Malformed {
    /// The exception that Python raises in this case.
    pub fn python_name(self) -> &'static str {
        match self {
            Self::NoList => "AssertionError",
            Self::NoNode => "TypeError",
            Self::MissingKey | Self::Named => "KeyError",
            Self::WrongType => "AttributeError",
            Self::Reference | Self::Braces => "ValueError",
            Self::TooFew => "IndexError",
        }
    }
}

/// What a reference begins with.
const REFERENCE: &str = "<node-";

/// The program for a plan: a line for each node.
pub(super) fn program(plan: &Literal) -> Result<String, Malformed> {
    let nodes = plan.as_list().ok_or(Malformed::NoList)?;
    let lines: Vec<String> = nodes.iter().map(line).collect::<Result<_, _>>()?;
    Ok(lines.join("\n"))
}

fn line(node: &Literal) -> Result<String, Malformed> {
    // The checks stand in the order in which the published code fails, because each failure has its own exception.
    if node.entries().is_none() {
        return Err(Malformed::NoNode);
    }
    let part = |key: &str| node.get(key).ok_or(Malformed::MissingKey);
    let (id, name, arguments) = (part("id")?, part("name")?, part("args")?);
    let name = name.as_text().ok_or(Malformed::WrongType)?;
    let arguments = arguments.entries().ok_or(Malformed::WrongType)?;
    let mut line = format!("output{} = {}(", id.python_str(), name.replace(' ', "_"));
    for (number, (name, value)) in arguments.iter().enumerate() {
        if number > 0 {
            line.push_str(", ");
        }
        line.push_str(&name.python_str());
        line.push('=');
        push_value(value, &mut line)?;
    }
    line.push(')');
    Ok(line)
}

fn push_value(value: &Literal, line: &mut String) -> Result<(), Malformed> {
    let Literal::Text(text) = value else {
        // Quotes inside are not escaped.
        let _ = write!(line, "\"{}\"", value.python_str());
        return Ok(());
    };
    // The cases a to c of the specification, section 6.1. (Case d is above.) A reference alone is not quoted.
    if text.starts_with(REFERENCE) && !text.contains(' ') {
        let (_, id) = text.split_at(REFERENCE.len());
        let (id, _) = id.split_once('>').ok_or(Malformed::Reference)?;
        // The key is what follows the first `.`, which need not stand right after the `>`.
        let (_, key) = text.split_once('.').ok_or(Malformed::Reference)?;
        let id = read_integer(id).ok_or(Malformed::Reference)?;
        let _ = write!(line, "output{id}['{key}']");
    } else if text.contains(REFERENCE) {
        // Quotes are the only characters that are escaped, here and below. A line break or a backslash makes a line
        // that cannot be parsed, and the step is lost.
        let _ = write!(line, "f\"{}\"", with_references(text)?.replace('"', "\\\""));
    } else {
        let _ = write!(line, "\"{}\"", text.replace('"', "\\\""));
    }
    Ok(())
}

/// A text with its references. The rest is parsed as a template along the way.
fn with_references(text: &str) -> Result<String, Malformed> {
    let mut template = String::with_capacity(text.len());
    let mut values = Vec::new();
    let mut rest = text;
    while let Some(place) = rest.find(REFERENCE) {
        let (before, found) = rest.split_at(place);
        template.push_str(before);
        match reference(&found[REFERENCE.len()..]) {
            Some((id, key, length)) => {
                template.push_str("{}");
                let id = read_integer(id).ok_or(Malformed::Reference)?;
                // The published code inserts the reference without braces, so the f-string contains its code as text.
                values.push(format!("output{id}['{key}']"));
                rest = &found[REFERENCE.len() + length..];
            }
            None => {
                template.push_str(REFERENCE);
                rest = &found[REFERENCE.len()..];
            }
        }
    }
    template.push_str(rest);
    template::format(&template, &values).map_err(|error| match error {
        TemplateError::Malformed => Malformed::Braces,
        TemplateError::Named => Malformed::Named,
        TemplateError::TooFew => Malformed::TooFew,
    })
}

/// Digits, `>.` and letters at the start of a text: the digits, the letters, and the total length in bytes.
fn reference(text: &str) -> Option<(&str, &str, usize)> {
    // As `\d` and `\w` match in Python: digits and letters of any script.
    let end = text.find(|character| digit(character).is_none())?;
    let (id, rest) = text.split_at(end);
    let rest = rest.strip_prefix(">.")?;
    let key = &rest[..rest.find(|character| !is_word(character)).unwrap_or(rest.len())];
    (!id.is_empty() && !key.is_empty()).then_some((id, key, end + ">.".len() + key.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: &str) -> Result<String, Malformed> {
        let mut line = String::new();
        push_value(&Literal::Text(value.to_owned()), &mut line)?;
        Ok(line)
    }

    #[test]
    fn values_are_written_as_the_published_code_writes_them() {
        let cases = [
            ("plain \"x\" \\", Ok("\"plain \\\"x\\\" \\\"")),
            ("<node-0>.text", Ok("output0['text']")),
            ("<node-01>.a.b<", Ok("output1['a.b<']")),
            ("<node-٣_0>.", Ok("output30['']")),
            ("<node-0>", Err(Malformed::Reference)),
            ("<node-0.text>", Err(Malformed::Reference)),
            ("see <node-0>.text!", Ok("f\"see output0['text']!\"")),
            ("see <node-0> <node-12>.é2-x", Ok("f\"see <node-0> output12['é2']-x\"")),
            ("{<node-0>.text}", Ok("f\"{}\"")),
            ("x {{<node-0>.text}}", Ok("f\"x {output0['text']}\"")),
            ("x {} <node-0>.text", Err(Malformed::TooFew)),
            ("x {y} <node-0>.text", Err(Malformed::Named)),
            ("x } <node-0>.text", Err(Malformed::Braces)),
        ];
        for (value, text) in cases {
            assert_eq!(written(value), text.map(str::to_owned), "{value}");
        }
    }

    #[test]
    fn one_malformed_node_spoils_the_plan() {
        let cases = [
            ("null", Malformed::NoList),
            ("{\"id\": 0}", Malformed::NoList),
            ("[1]", Malformed::NoNode),
            ("[[]]", Malformed::NoNode),
            ("[{\"id\": 0, \"name\": \"a\"}]", Malformed::MissingKey),
            ("[{\"id\": 0, \"name\": null, \"args\": {}}]", Malformed::WrongType),
            ("[{\"id\": 0, \"name\": \"a\", \"args\": []}]", Malformed::WrongType),
        ];
        for (json, malformed) in cases {
            assert_eq!(program(&Literal::from_json(json).unwrap()), Err(malformed), "{json}");
        }
        let odd = "[{\"id\": [\"x\"], \"name\": \"a b\", \"args\": {\"n\": [\"'\"], \"m\": 5}}]";
        let line = program(&Literal::from_json(odd).unwrap());
        assert_eq!(line.as_deref(), Ok("output['x'] = a_b(n=\"[\"'\"]\", m=\"5\")"));
    }
}
