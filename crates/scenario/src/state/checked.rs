//! Lines held to the values that there are and to their tool, before anything runs.

use planproof_spec::rules::{KnownTool, read_tests, unknown_in_checks};
use planproof_spec::{Pattern, nearest};
use serde_json::{Map, Value, json};

use super::exact::Exact;
use super::{ARGUMENT, Effect, How, LITERAL, Need, NeedTest, STATE, Source, Values};
use crate::limits::STATE_TEXT_BYTES_MAX;

/// The kinds of values, which a value keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Flag,
    Number,
    Text,
}

impl Kind {
    /// [`None`]: null, which may become a value of any kind.
    pub(super) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(_) => Some(Self::Flag),
            Value::Number(_) => Some(Self::Number),
            Value::String(_) => Some(Self::Text),
            _ => None,
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Flag => "true or false",
            Self::Number => "a number",
            Self::Text => "a text",
        }
    }

    /// The kind of an argument, as far as its schema says.
    fn of_schema(schema: &Map<String, Value>, pointer: &str) -> Result<Option<Self>, &'static str> {
        let mut at = schema;
        for part in pointer.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~")) {
            let below = at.get("properties").and_then(|properties| properties.get(&part));
            let Some(Value::Object(below)) = below else { return Ok(None) };
            at = below;
        }
        match at.get("type").and_then(Value::as_str) {
            Some("boolean") => Ok(Some(Self::Flag)),
            Some("number" | "integer") => Ok(Some(Self::Number)),
            Some("string") => Ok(Some(Self::Text)),
            Some("array") => Err("a list"),
            Some("object") => Err("an object"),
            _ => Ok(None),
        }
    }
}

/// A value as a state keeps it.
///
/// # Errors
/// It is not a scalar, or a number that is not kept exactly, or a text that is too long.
pub(super) fn kept(value: &Value) -> Result<Value, String> {
    match value {
        Value::Array(_) => Err("a list is not kept, only texts, numbers, true, false and null".to_owned()),
        Value::Object(_) => {
            Err("an object is not kept, only texts, numbers, true, false and null".to_owned())
        }
        Value::Number(number) => match Exact::of(value) {
            Some(exact) => Ok(exact.value()),
            None => Err(format!(
                "{number} is not kept exactly: whole numbers have 64 bits, and decimals 15 digits"
            )),
        },
        Value::String(text) if text.len() > STATE_TEXT_BYTES_MAX => {
            Err(format!("a text of {} bytes is not kept, only up to {STATE_TEXT_BYTES_MAX}", text.len()))
        }
        _ => Ok(value.clone()),
    }
}

/// What lines are held to: the values that there are, and the tool.
pub(super) struct Checked<'a> {
    pub(super) values: &'a Values,
    pub(super) tool: KnownTool<'a>,
}

impl Checked<'_> {
    fn known(&self, name: &str) -> Result<&Value, String> {
        self.values.get(name).ok_or_else(|| {
            let help = match nearest(name, self.values.keys().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None if self.values.is_empty() => format!("write `state: {{{name}: ...}}` in the case"),
                None => {
                    let names: Vec<&str> = self.values.keys().map(String::as_str).collect();
                    format!("it has {}", names.join(", "))
                }
            };
            format!("the state has no value `{name}`; {help}")
        })
    }

    /// The kind of a source. [`None`]: any.
    fn kind(&self, source: &Source) -> Result<Option<Kind>, String> {
        match source {
            Source::Literal(value) => Ok(Kind::of(&kept(value)?)),
            Source::State(name) => Ok(Kind::of(self.known(name)?)),
            Source::Argument(pointer) => {
                let tests = read_tests(&json!({ pointer: {"present": true} }))
                    .map_err(|fault| format!("`{pointer}`: {}", fault.message))?;
                if let Some(fault) = unknown_in_checks(&tests, self.tool) {
                    let message = fault.message.replacen("`where`", "`$argument`", 1);
                    return Err(format!("{message}; {}", fault.help));
                }
                Kind::of_schema(self.tool.schema, pointer)
                    .map_err(|kind| format!("{pointer} is {kind}, which no value of the state can be"))
            }
        }
    }

    /// That a source can be of a kind.
    fn must_be(&self, source: &Source, kind: Option<Kind>, name: &str) -> Result<(), String> {
        match (kind, self.kind(source)?) {
            (Some(kind), Some(other)) if kind != other => {
                Err(format!("{source} is {}, and `{name}` is {}", other.words(), kind.words()))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn need(&self, name: &str, tests: &Value) -> Result<Vec<Need>, String> {
        let kind = Kind::of(self.known(name)?);
        let is_quote = |tests: &Map<String, Value>| {
            [STATE, ARGUMENT, LITERAL].iter().any(|key| tests.contains_key(*key))
        };
        let test = |test: NeedTest| Need { name: name.to_owned(), test };
        let tests = match tests {
            Value::Object(tests) if !tests.is_empty() && !is_quote(tests) => tests,
            value => {
                let source = Source::of(value)?;
                self.must_be(&source, kind, name)?;
                return Ok(vec![test(NeedTest::Is(source))]);
            }
        };
        let read = |(key, value): (&String, &Value)| {
            let source = || {
                let source = Source::of(value)?;
                self.must_be(&source, kind, name)?;
                Ok::<_, String>(source)
            };
            let number = || {
                let source = source()?;
                if !matches!(kind, None | Some(Kind::Number)) {
                    return Err(format!(
                        "`{key}` compares numbers, and `{name}` is {}",
                        kind.map_or("", Kind::words)
                    ));
                }
                match self.kind(&source)? {
                    None if !matches!(source, Source::Literal(_)) => Ok(source),
                    Some(Kind::Number) => Ok(source),
                    _ => Err(format!("`{key}` is {source}, not a number")),
                }
            };
            Ok(test(match key.as_str() {
                "is" => NeedTest::Is(source()?),
                "is-not" => NeedTest::IsNot(source()?),
                "one-of" => {
                    let Some(items) = value.as_array().filter(|items| !items.is_empty()) else {
                        return Err("`one-of` is not a list of values; write `one-of: [a, b]`".to_owned());
                    };
                    let of = |item: &Value| {
                        let source = Source::of(item)?;
                        self.must_be(&source, kind, name)?;
                        Ok::<_, String>(source)
                    };
                    NeedTest::OneOf(items.iter().map(of).collect::<Result<_, _>>()?)
                }
                "above" => NeedTest::Above(number()?),
                "at-least" => NeedTest::AtLeast(number()?),
                "below" => NeedTest::Below(number()?),
                "at-most" => NeedTest::AtMost(number()?),
                "matches" => {
                    if !matches!(kind, None | Some(Kind::Text)) {
                        let words = kind.map_or("", Kind::words);
                        return Err(format!("`matches` is about texts, and `{name}` is {words}"));
                    }
                    let text = value.as_str().ok_or("`matches` is not a regular expression")?;
                    let pattern = Pattern::over_lines(text)
                        .map_err(|what| format!("`matches` is not a regular expression: {what}"))?;
                    NeedTest::Matches(pattern)
                }
                "present" => match value {
                    Value::Bool(present) => NeedTest::Present(*present),
                    _ => return Err("`present` is not true or false".to_owned()),
                },
                other => {
                    let tests = "is, is-not, one-of, above, at-least, below, at-most, matches or present";
                    return Err(format!("there is no test `{other}`; write {tests}"));
                }
            }))
        };
        tests.iter().map(read).collect()
    }

    pub(super) fn effect(&self, name: &str, how: How, value: &Value) -> Result<Effect, String> {
        let kind = Kind::of(self.known(name)?);
        let source = Source::of(value)?;
        self.must_be(&source, kind, name)?;
        if how != How::Sets {
            if kind != Some(Kind::Number) {
                let words = kind.map_or("nothing", Kind::words);
                return Err(format!("`{}` changes numbers, and `{name}` begins as {words}", how.key()));
            }
            if matches!(source, Source::Literal(_)) && self.kind(&source)?.is_none() {
                return Err(format!("{source} is not a number"));
            }
        }
        Ok(Effect { name: name.to_owned(), how, source })
    }

    /// Everything that a result quotes.
    pub(super) fn quoted(&self, result: &Value, found: &mut Vec<Source>) -> Result<(), String> {
        match Source::of(result)? {
            Source::Literal(_) if result.get(LITERAL).is_some() => Ok(()),
            Source::Literal(_) => match result {
                Value::Array(items) => items.iter().try_for_each(|item| self.quoted(item, found)),
                Value::Object(entries) => entries.values().try_for_each(|item| self.quoted(item, found)),
                _ => Ok(()),
            },
            Source::State(name) => {
                self.known(&name)?;
                found.push(Source::State(name));
                Ok(())
            }
            Source::Argument(pointer) => {
                let source = Source::Argument(pointer);
                // An argument of any kind may be quoted.
                match self.kind(&source) {
                    Err(what) if !what.ends_with("which no value of the state can be") => Err(what),
                    _ => {
                        found.push(source);
                        Ok(())
                    }
                }
            }
        }
    }
}
