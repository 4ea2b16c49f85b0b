//! What a world remembers: values that calls need, set and change.
//!
//! A line of the world that applies sees the values as they are before its call, and all of its changes come at once.
//! A call that fails changes nothing. Values are scalars of JSON. `{$state: NAME}` and `{$argument: /POINTER}` stand for
//! a value and for an argument of the call, wherever a line changes or returns something; `{$literal: DATA}` is data
//! that looks like one of them.

mod exact;
mod loose;
mod odd;
mod searched;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use planproof_spec::rules::{KnownTool, read_tests, unknown_in_checks};
use planproof_spec::{Pattern, nearest};
use serde_json::{Map, Value, json};

use crate::limits::{STATE_TEXT_BYTES_MAX, STATE_VALUES_MAX};
use crate::world::Answer;

pub(crate) use loose::LooseWorld;
pub(crate) use odd::oddities;
pub(crate) use searched::{ExactWorld, depends_on_arguments, effect_of, has_sums, results_of, tried_values};

use exact::{Exact, compare, plain};

/// The values of a world's state, by their names.
pub(crate) type Values = BTreeMap<String, Value>;

/// The beginning of the error of a call that would give the state a value which it cannot have.
pub(crate) const NO_VALUE: &str = "this world has no value for";

/// The keys of objects that stand for something.
const STATE: &str = "$state";
const ARGUMENT: &str = "$argument";
const LITERAL: &str = "$literal";

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Source {
    Literal(Value),
    Argument(String),
    State(String),
}

impl Source {
    /// The source that a value stands for.
    fn of(value: &Value) -> Result<Self, String> {
        let Value::Object(entries) = value else { return Ok(Self::Literal(value.clone())) };
        let quotes = [STATE, ARGUMENT, LITERAL];
        let Some(key) = quotes.into_iter().find(|key| entries.contains_key(*key)) else {
            return Ok(Self::Literal(value.clone()));
        };
        if entries.len() > 1 {
            return Err(format!("`{key}` stands alone: write {{{key}: ...}} without other keys"));
        }
        let (content, text) = (&entries[key], entries[key].as_str());
        match (key, text) {
            (LITERAL, _) => Ok(Self::Literal(content.clone())),
            (STATE, Some(name)) => Ok(Self::State(name.to_owned())),
            (ARGUMENT, Some(pointer)) if pointer.starts_with('/') => Ok(Self::Argument(pointer.to_owned())),
            (STATE, _) => Err("`$state` names no value; write {$state: NAME}".to_owned()),
            _ => Err("`$argument` names no argument; write {$argument: /NAME}".to_owned()),
        }
    }

    /// Its value, if it is there.
    fn value<'v>(&'v self, values: &'v Values, arguments: &'v Value) -> Option<&'v Value> {
        match self {
            Self::Literal(value) => Some(value),
            Self::Argument(pointer) => arguments.pointer(pointer),
            Self::State(name) => values.get(name),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(value) => write!(f, "{value}"),
            Self::Argument(pointer) => f.write_str(pointer),
            Self::State(name) => f.write_str(name),
        }
    }
}

/// What a value of the state must be like.
#[derive(Debug, Clone)]
pub(crate) enum NeedTest {
    Is(Source),
    IsNot(Source),
    OneOf(Vec<Source>),
    Above(Source),
    AtLeast(Source),
    Below(Source),
    AtMost(Source),
    Matches(Pattern),
    /// It is not null, or it is.
    Present(bool),
}

impl NeedTest {
    /// What a value is compared with.
    pub(crate) fn sources(&self) -> &[Source] {
        match self {
            Self::Is(source)
            | Self::IsNot(source)
            | Self::Above(source)
            | Self::AtLeast(source)
            | Self::Below(source)
            | Self::AtMost(source) => std::slice::from_ref(source),
            Self::OneOf(sources) => sources,
            Self::Matches(_) | Self::Present(_) => &[],
        }
    }
}

/// A test of a value of the state.
#[derive(Debug, Clone)]
pub(crate) struct Need {
    pub(crate) name: String,
    pub(crate) test: NeedTest,
}

impl Need {
    fn holds(&self, values: &Values, arguments: &Value) -> bool {
        let Some(value) = values.get(&self.name) else { return false };
        let other = |source: &Source| source.value(values, arguments).cloned();
        let is = |source: &Source| other(source).is_some_and(|other| is_same(value, &other));
        let order = |source: &Source| compare(value, &other(source)?);
        match &self.test {
            NeedTest::Is(source) => is(source),
            NeedTest::IsNot(source) => !is(source),
            NeedTest::OneOf(sources) => sources.iter().any(is),
            NeedTest::Above(source) => order(source) == Some(Ordering::Greater),
            NeedTest::AtLeast(source) => order(source).is_some_and(Ordering::is_ge),
            NeedTest::Below(source) => order(source) == Some(Ordering::Less),
            NeedTest::AtMost(source) => order(source).is_some_and(Ordering::is_le),
            NeedTest::Matches(pattern) => value.as_str().is_some_and(|text| pattern.matches(text)),
            NeedTest::Present(present) => value.is_null() != *present,
        }
    }
}

/// Equality in which `40` and `40.0` are one number, without rounding.
fn is_same(one: &Value, two: &Value) -> bool {
    match (one, two) {
        (Value::Number(_), Value::Number(_)) => compare(one, two) == Some(Ordering::Equal),
        _ => one == two,
    }
}

/// How a call changes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    Sets,
    Adds,
    Subtracts,
}

impl How {
    pub(crate) const ALL: [Self; 3] = [Self::Sets, Self::Adds, Self::Subtracts];

    /// As files have it.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Sets => "sets",
            Self::Adds => "adds",
            Self::Subtracts => "subtracts",
        }
    }
}

/// A change of a value.
#[derive(Debug, Clone)]
pub(crate) struct Effect {
    pub(crate) name: String,
    pub(crate) how: How,
    pub(crate) source: Source,
}

/// What a line of the world has to do with the state.
#[derive(Debug, Clone, Default)]
pub(crate) struct LineState {
    pub(crate) needs: Vec<Need>,
    pub(crate) effects: Vec<Effect>,
    /// What its result quotes.
    pub(crate) quoted: Vec<Source>,
}

/// A fault of a line: the key that it stands under, and the name below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LineFault {
    pub(crate) key: &'static str,
    pub(crate) name: Option<String>,
    pub(crate) what: String,
}

/// The kinds of values, which a value keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Flag,
    Number,
    Text,
}

impl Kind {
    /// [`None`]: null, which may become a value of any kind.
    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(_) => Some(Self::Flag),
            Value::Number(_) => Some(Self::Number),
            Value::String(_) => Some(Self::Text),
            _ => None,
        }
    }

    fn words(self) -> &'static str {
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
fn kept(value: &Value) -> Result<Value, String> {
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

/// The values that a world begins with.
///
/// # Errors
/// A value cannot be kept, or there are too many.
pub(crate) fn beginning(state: &Map<String, Value>) -> Result<Values, (Option<String>, String)> {
    if state.len() > STATE_VALUES_MAX {
        return Err((None, format!("the state has {} values; it may have {STATE_VALUES_MAX}", state.len())));
    }
    let value = |(name, value): (&String, &Value)| {
        let fault = |what| (Some(name.clone()), format!("`{name}`: {what}"));
        Ok((name.clone(), kept(value).map_err(fault)?))
    };
    state.iter().map(value).collect()
}

/// What lines are held to: the values that there are, and the tool.
struct Checked<'a> {
    values: &'a Values,
    tool: KnownTool<'a>,
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

    fn need(&self, name: &str, tests: &Value) -> Result<Vec<Need>, String> {
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
                    let Value::Array(items) = value else {
                        return Err("`one-of` is not a list; write `one-of: [a, b]`".to_owned());
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

    fn effect(&self, name: &str, how: How, value: &Value) -> Result<Effect, String> {
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
    fn quoted(&self, result: &Value, found: &mut Vec<Source>) -> Result<(), String> {
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

impl LineState {
    /// The state of a line of this tool, in a world that begins with these values.
    ///
    /// # Errors
    /// The first fault.
    pub(crate) fn new(answer: &Answer, values: &Values, tool: KnownTool<'_>) -> Result<Self, LineFault> {
        let checked = Checked { values, tool };
        let fault = |key, name: Option<&str>| {
            let name = name.map(str::to_owned);
            move |what| LineFault { key, name, what }
        };
        let mut line = Self::default();
        for (name, tests) in &answer.needs {
            line.needs.extend(checked.need(name, tests).map_err(fault("needs", Some(name)))?);
        }
        if answer.otherwise.is_some() && answer.needs.is_empty() {
            let what = "`otherwise` is the error where `needs` does not hold; write `needs`, too";
            return Err(fault("otherwise", None)(what.to_owned()));
        }
        let changes = [&answer.sets, &answer.adds, &answer.subtracts];
        for (how, changed) in How::ALL.into_iter().zip(changes) {
            if let Some(name) = changed.keys().next().filter(|_| answer.fails.is_some()) {
                let what = "a line that `fails` changes nothing".to_owned();
                return Err(fault(how.key(), Some(name))(what));
            }
            for (name, value) in changed {
                if line.effects.iter().any(|effect| effect.name == *name) {
                    let what = format!("the line changes `{name}` twice");
                    return Err(fault(how.key(), Some(name))(what));
                }
                let effect = checked.effect(name, how, value).map_err(fault(how.key(), Some(name)))?;
                line.effects.push(effect);
            }
        }
        // Without a state, a result is data, whatever it looks like.
        if let Some(result) = answer.returns.as_ref().filter(|_| !values.is_empty()) {
            checked.quoted(result, &mut line.quoted).map_err(fault("returns", None))?;
        }
        Ok(line)
    }

    /// Whether everything that the line needs holds.
    pub(crate) fn applies(&self, values: &Values, arguments: &Value) -> bool {
        self.needs.iter().all(|need| need.holds(values, arguments))
    }

    /// The values after a call.
    ///
    /// # Errors
    /// A value that cannot be kept, in words.
    pub(crate) fn after(&self, values: &Values, arguments: &Value) -> Result<Values, String> {
        let mut after = values.clone();
        for Effect { name, how, source } in &self.effects {
            let fail = |what: String| format!("{NO_VALUE} `{name}`: {what}");
            let value =
                source.value(values, arguments).ok_or_else(|| fail(format!("{source} is missing")))?;
            let value = kept(value).map_err(fail)?;
            let value = match how {
                How::Sets => value,
                How::Adds | How::Subtracts => {
                    let before = values.get(name).unwrap_or(&Value::Null);
                    let (sign, sum): (_, fn(Exact, Exact) -> Option<Exact>) = match how {
                        How::Subtracts => ("-", Exact::minus),
                        _ => ("+", Exact::plus),
                    };
                    let both = Exact::of(before).zip(Exact::of(&value));
                    let (one, two) =
                        both.ok_or_else(|| fail(format!("{before} {sign} {value} is not a sum of numbers")))?;
                    let what = || {
                        format!(
                            "{before} {sign} {value} is not kept exactly: whole numbers have 64 bits, and decimals 15 \
                             digits"
                        )
                    };
                    sum(one, two).ok_or_else(|| fail(what()))?.value()
                }
            };
            after.insert(name.clone(), value);
        }
        // A value keeps its kind, unless it is null.
        for Effect { name, .. } in &self.effects {
            let kinds = (values.get(name).and_then(Kind::of), after.get(name).and_then(Kind::of));
            if let (Some(before), Some(now)) = kinds
                && before != now
            {
                let what = format!("it is {}, and would become {}", before.words(), now.words());
                return Err(format!("{NO_VALUE} `{name}`: {what}"));
            }
        }
        Ok(after)
    }
}

/// Whether a value of a line stands for this value of the state, somewhere within.
pub(crate) fn quotes(value: &Value, name: &str) -> bool {
    match Source::of(value) {
        Ok(Source::State(other)) => other == name,
        Ok(Source::Argument(_)) => false,
        _ if value.get(LITERAL).is_some() => false,
        _ => match value {
            Value::Array(items) => items.iter().any(|item| quotes(item, name)),
            Value::Object(entries) => entries.values().any(|item| quotes(item, name)),
            _ => false,
        },
    }
}

/// A result with everything that it quotes.
///
/// # Errors
/// An argument that the call does not have, in words.
pub(crate) fn filled(result: &Value, values: &Values, arguments: &Value) -> Result<Value, String> {
    // What a line quotes was checked when it was read.
    match Source::of(result)? {
        Source::Literal(value) if result.get(LITERAL).is_some() => Ok(value),
        Source::Literal(_) => match result {
            Value::Array(items) => items.iter().map(|item| filled(item, values, arguments)).collect(),
            Value::Object(entries) => entries
                .iter()
                .map(|(key, item)| Ok((key.clone(), filled(item, values, arguments)?)))
                .collect::<Result<Map<String, Value>, String>>()
                .map(Value::Object),
            _ => Ok(result.clone()),
        },
        source => {
            let value = source.value(values, arguments).cloned();
            value.ok_or_else(|| format!("{NO_VALUE} its result: {source} is missing"))
        }
    }
}
