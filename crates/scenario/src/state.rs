//! What a world remembers: values that calls need, set and change.
//!
//! A line of the world that applies sees the values as they are before its call, and all of its changes come at once.
//! A call that fails changes nothing. Values are scalars of JSON. `{$state: NAME}` and `{$argument: /POINTER}` stand
//! for a value and for an argument of the call, wherever a line changes or returns something; `{$literal: DATA}` is
//! data that looks like one of them.

mod checked;
pub(crate) mod exact;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use planproof_spec::rules::KnownTool;
use planproof_spec::{Pattern, is_same};
use serde_json::{Map, Value};

use crate::limits::STATE_VALUES_MAX;
use crate::line::Answer;
use crate::noticed::brief;

use checked::{Checked, Kind, kept};
use exact::{Exact, compare};

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
    pub(crate) fn of(value: &Value) -> Result<Self, String> {
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
    pub(crate) fn value<'v>(&'v self, values: &'v Values, arguments: &'v Value) -> Option<&'v Value> {
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
    pub(crate) fn holds(&self, values: &Values, arguments: &Value) -> bool {
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

impl Need {
    /// What it asks for, and what there is: `wallet to be at least 61 (/amount), and it was 60`.
    pub(crate) fn in_words(&self, values: &Values, arguments: &Value) -> String {
        let of = |source: &Source| {
            let value = source.value(values, arguments).map_or_else(|| "nothing".to_owned(), brief);
            match source {
                Source::Literal(_) => value,
                Source::Argument(_) | Source::State(_) => format!("{value} ({source})"),
            }
        };
        let asked = match &self.test {
            NeedTest::Is(source) => format!("to be {}", of(source)),
            NeedTest::IsNot(source) => format!("to be other than {}", of(source)),
            NeedTest::OneOf(sources) => {
                format!("to be one of {}", sources.iter().map(of).collect::<Vec<_>>().join(", "))
            }
            NeedTest::Above(source) => format!("to be above {}", of(source)),
            NeedTest::AtLeast(source) => format!("to be at least {}", of(source)),
            NeedTest::Below(source) => format!("to be below {}", of(source)),
            NeedTest::AtMost(source) => format!("to be at most {}", of(source)),
            NeedTest::Matches(pattern) => format!("to match `{}`", pattern.as_str()),
            NeedTest::Present(true) => "to be other than null".to_owned(),
            NeedTest::Present(false) => "to be null".to_owned(),
        };
        let value = values.get(&self.name).map_or_else(|| "nothing".to_owned(), brief);
        format!("{} {asked}, and it was {value}", self.name)
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
