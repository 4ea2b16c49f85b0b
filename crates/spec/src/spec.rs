//! A behaviour specification as written: plain data, with source positions.

use std::fmt;
use std::ops::Deref;

use planproof_trace::{Arguments, ToolCall, WrittenObject};
use serde_json::{Map, Value};

use crate::number::{JsonNumber, is_same};
use crate::{Handler, Pattern, Span, Spanned};

/// A behaviour specification. Names are not resolved and nothing is checked: that is [`Automaton::compile`]'s work.
///
/// Two are equal if their content is, whatever their source positions.
///
/// [`Automaton::compile`]: crate::Automaton::compile
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// Its name.
    pub name: Spanned<String>,
    /// The beginning of a model's instructions.
    pub instructions: Option<Spanned<String>>,
    /// The states of an agent, in the order of declaration.
    pub states: Vec<State>,
    /// The allowed sequences of states.
    pub behavior: Formula,
    /// What must hold of a sequence besides.
    pub requirements: Vec<Requirement>,
    /// Sequences that must be accepted.
    pub accepts: Vec<Example>,
    /// Sequences that must not be accepted.
    pub rejects: Vec<Example>,
    /// Whole texts that a model is shown.
    pub examples: Vec<ShownExample>,
    /// The file of rules (rules v1) that an agent of this specification is held to, as seen from the specification's
    /// own file. It is not read here.
    pub rules: Option<Spanned<String>>,
}

/// A state of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// Its name in formulas.
    pub name: Spanned<String>,
    /// The text that begins it: written for the model, and the sign that the model has moved to it.
    pub prompt: Spanned<String>,
    /// The description of the state for a model.
    pub about: Option<Spanned<String>>,
    /// Its content is written by the environment, not by the model.
    pub is_environment: bool,
    /// How the environment writes the content.
    pub handler: Option<Spanned<Handler>>,
    /// The rules for the content. Each kind of rule occurs at most once.
    pub content: Vec<Spanned<ContentRule>>,
}

impl Spec {
    /// Whether the environment writes a state in this way.
    pub fn has_handler(&self, handler: Handler) -> bool {
        let is_it = |state: &State| state.handler.as_ref().is_some_and(|other| other.value == handler);
        self.states.iter().any(|state| state.is_environment && is_it(state))
    }
}

impl State {
    /// The content of this state completes a call.
    pub fn completes_call(&self) -> bool {
        self.content.iter().any(|rule| rule.value == ContentRule::Arguments)
    }

    /// The content of this state is, or can be, JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.content.iter().any(|rule| matches!(rule.value, ContentRule::Arguments | ContentRule::Json(_)))
    }

    /// The content of this state is a label of the next call.
    pub fn names_label(&self) -> bool {
        self.content.iter().any(|rule| rule.value == ContentRule::Label)
    }

    /// The content of this state names a tool.
    pub fn names_tool(&self) -> bool {
        self.content.iter().any(|rule| rule.value == ContentRule::Tool)
    }
}

/// A rule for the content of a state. White space around the content is ignored.
#[derive(Debug, Clone, PartialEq)]
pub enum ContentRule {
    /// The name of a tool: `tool`.
    Tool,
    /// The arguments of the last named tool: `arguments`. Such a state completes a call.
    Arguments,
    /// A label for the next call, to which later text can refer: `label`.
    Label,
    /// A match of a regular expression, as a whole: `(matches "REGEX")`.
    Matches(Pattern),
    /// JSON that fits a JSON Schema: `(json SCHEMA)`.
    Json(ContentSchema),
    /// The maximum number of characters: `(max-length N)`.
    MaxLength(u32),
}

impl ContentRule {
    /// The word it is written with.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Arguments => "arguments",
            Self::Label => "label",
            Self::Matches(_) => "matches",
            Self::Json(_) => "json",
            Self::MaxLength(_) => "max-length",
        }
    }
}

/// The JSON Schema of a content: an object, or `true` or `false`. To check with it, it derefs to a [`Value`]; to show
/// it, write it itself, because a value lacks digits of long numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct ContentSchema {
    value: Value,
    /// Only if the value lacks digits.
    written: Option<WrittenObject>,
}

impl ContentSchema {
    /// Reads any JSON.
    ///
    /// # Errors
    /// It is none.
    pub(crate) fn read(json: &str) -> Result<Self, serde_json::Error> {
        let value = serde_json::from_str(json)?;
        let written = WrittenObject::read(json).ok().filter(WrittenObject::has_long_numbers);
        Ok(Self { value, written })
    }
}

impl From<Value> for ContentSchema {
    fn from(value: Value) -> Self {
        Self { value, written: None }
    }
}

impl Deref for ContentSchema {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.value
    }
}

impl fmt::Display for ContentSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.written {
            Some(written) => written.fmt(f),
            None => self.value.fmt(f),
        }
    }
}

/// A formula over sequences of states, in which parts of the formula apply to parts of the sequence. Every sequence
/// that satisfies one has at least one state.
#[derive(Debug, Clone)]
pub struct Formula {
    /// What it says.
    pub kind: FormulaKind,
    /// Where it stands.
    pub span: Span,
}

impl PartialEq for Formula {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

/// What a [`Formula`] says.
#[derive(Debug, Clone, PartialEq)]
pub enum FormulaKind {
    /// The sequence is this state alone.
    State(String),
    /// One of them holds: `(or f g ...)`.
    Or(Vec<Formula>),
    /// The sequence consists of parts that satisfy these, in turn: `(next f g ...)`.
    Next(Vec<Formula>),
    /// Parts that satisfy `body`, as many as the bounds allow, followed by one that satisfies `exit`: `(until f g)`,
    /// `(until f g :min 2 :max 4)`. Counted anew at each pass of an enclosing loop.
    Until {
        /// What is repeated.
        body: Box<Formula>,
        /// What comes in the end.
        exit: Box<Formula>,
        /// How often `body` must be passed.
        bounds: Bounds,
    },
    /// Parts that satisfy `body`, at least one, as many as the bounds allow: `(always f)`, `(always f :max 4)`.
    Always {
        /// What is repeated.
        body: Box<Formula>,
        /// How often; `min` is at least 1.
        bounds: Bounds,
    },
}

/// How often a part is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// At least so often.
    pub min: u32,
    /// The upper bound; `None` for no bound.
    pub max: Option<u32>,
}

/// A condition on a whole sequence: linear temporal logic over finite traces, read from the first state on. Calls are
/// those that the handlers of later states execute, each at the state whose content completed it.
#[derive(Debug, Clone)]
pub struct Requirement {
    /// What it says.
    pub kind: RequirementKind,
    /// Where it stands.
    pub span: Span,
}

impl PartialEq for Requirement {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

/// The statement of a [`Requirement`], at a place of the sequence.
#[derive(Debug, Clone, PartialEq)]
pub enum RequirementKind {
    /// `true`.
    True,
    /// `false`.
    False,
    /// The agent is in this state.
    State(String),
    /// The content of this state completed a matching call, and the call is executed, here or later.
    Call(CallPattern),
    /// `(not f)`.
    Not(Box<Requirement>),
    /// `(and f g ...)`.
    And(Vec<Requirement>),
    /// `(or f g ...)`.
    Or(Vec<Requirement>),
    /// `(implies f g)`.
    Implies(Box<Requirement>, Box<Requirement>),
    /// Here and at all later places: `(always f)`.
    Always(Box<Requirement>),
    /// Here or at a later place: `(eventually f)`.
    Eventually(Box<Requirement>),
    /// There is a next place, and it holds there: `(next f)`.
    Next(Box<Requirement>),
    /// The second holds here or later, and the first at all places before that: `(until f g)`.
    Until(Box<Requirement>, Box<Requirement>),
    /// Wherever the second holds, the first held at an earlier place (not before this one): `(before f g)`. Vacuously
    /// true if the second never holds.
    Before(Box<Requirement>, Box<Requirement>),
    /// It holds at no more than `n` places from here on: `(at-most n f)`.
    AtMost(u32, Box<Requirement>),
}

/// Calls in a requirement: `call:NAME`, `call:*` for any tool, or a list with predicates on the arguments,
/// `(call:NAME (< amount 100) ...)`, all of which must hold.
#[derive(Debug, Clone, PartialEq)]
pub struct CallPattern {
    /// The tool; `None` for any.
    pub tool: Option<String>,
    /// What must hold of the arguments.
    pub predicates: Vec<Predicate>,
}

impl CallPattern {
    /// Whether a call is like this.
    pub fn matches(&self, call: &ToolCall) -> bool {
        let is_named = self.tool.as_ref().is_none_or(|tool| *tool == call.name);
        is_named && self.predicates.iter().all(|predicate| predicate.holds(&call.arguments))
    }
}

/// A predicate on one argument. It is false for a missing argument or one of another type.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicate {
    /// The argument's name, or a JSON pointer into the arguments if it begins with `/`.
    pub argument: String,
    /// What must hold of it.
    pub test: Test,
}

/// A test of an argument.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// It is there: `(has ARGUMENT)`.
    Has,
    /// It is this value: `(= ARGUMENT VALUE)`. Numbers are equal by value.
    Equal(Value),
    /// It is present with another value: `(!= ARGUMENT VALUE)`.
    NotEqual(Value),
    /// It is a number below this one: `(< ARGUMENT NUMBER)`.
    Below(JsonNumber),
    /// `(<= ARGUMENT NUMBER)`.
    AtMost(JsonNumber),
    /// `(> ARGUMENT NUMBER)`.
    Above(JsonNumber),
    /// `(>= ARGUMENT NUMBER)`.
    AtLeast(JsonNumber),
    /// It is a string that a regular expression matches as a whole: `(matches ARGUMENT "REGEX")`.
    Matches(Pattern),
}

impl Predicate {
    /// Whether it holds for the arguments of a call. It is false for malformed ones.
    pub fn holds(&self, arguments: &Arguments) -> bool {
        let Some(object) = arguments.as_object() else { return false };
        let value = match self.argument.strip_prefix('/') {
            Some(_) => pointed_at(object, &self.argument),
            None => object.get(&self.argument),
        };
        let Some(value) = value else { return false };
        let number = |compare: fn(&JsonNumber, &JsonNumber) -> bool, bound: &JsonNumber| {
            JsonNumber::of(value).is_some_and(|number| compare(&number, bound))
        };
        match &self.test {
            Test::Has => true,
            Test::Equal(other) => is_same(value, other),
            Test::NotEqual(other) => !is_same(value, other),
            Test::Below(bound) => number(JsonNumber::lt, bound),
            Test::AtMost(bound) => number(JsonNumber::le, bound),
            Test::Above(bound) => number(JsonNumber::gt, bound),
            Test::AtLeast(bound) => number(JsonNumber::ge, bound),
            Test::Matches(pattern) => value.as_str().is_some_and(|text| pattern.matches(text)),
        }
    }
}

/// The target of a JSON pointer, as for [`Value::pointer`], without a copy of the object.
fn pointed_at<'a>(object: &'a Map<String, Value>, pointer: &str) -> Option<&'a Value> {
    let (first, rest) = match pointer[1..].split_once('/') {
        Some((first, _)) => (first, &pointer[1 + first.len()..]),
        None => (&pointer[1..], ""),
    };
    // In the order of RFC 6901, by which `~01` is `~1`. Further parts are decoded by `pointer`.
    object.get(&first.replace("~1", "/").replace("~0", "~"))?.pointer(rest)
}

/// A sequence of states that a specification claims to accept, or to reject.
#[derive(Debug, Clone)]
pub struct Example {
    /// The states, and the calls that are completed in them.
    pub steps: Vec<ExampleStep>,
    /// Where it stands.
    pub span: Span,
}

impl PartialEq for Example {
    fn eq(&self, other: &Self) -> bool {
        self.steps == other.steps
    }
}

/// A state of an [`Example`]: `STATE`, or `(STATE call:NAME (ARGUMENT VALUE) ...)`.
#[derive(Debug, Clone, PartialEq)]
pub struct ExampleStep {
    /// The state.
    pub state: Spanned<String>,
    /// The call that its content completes; if it completes one and this is `None`, then one of a tool that no
    /// requirement names, for whose arguments no test holds.
    pub call: Option<ExampleCall>,
}

/// A call of an [`ExampleStep`].
#[derive(Debug, Clone, PartialEq)]
pub struct ExampleCall {
    /// The tool.
    pub tool: String,
    /// What it is called with.
    pub arguments: Map<String, Value>,
}

/// A whole text as an example for a model: `((STATE "CONTENT") ...)`.
#[derive(Debug, Clone)]
pub struct ShownExample {
    /// Its sections, from the question to the last one.
    pub sections: Vec<ShownSection>,
    /// Where it stands.
    pub span: Span,
}

impl PartialEq for ShownExample {
    fn eq(&self, other: &Self) -> bool {
        self.sections == other.sections
    }
}

/// A section of a [`ShownExample`].
#[derive(Debug, Clone, PartialEq)]
pub struct ShownSection {
    /// The state.
    pub state: Spanned<String>,
    /// What is written in it, by whomever.
    pub content: Spanned<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(argument: &str, test: Test, expected: bool) {
        let arguments = json!({"n": 1, "s": "ab", "o": {"p/q": [1.5]}, "z": null});
        let Value::Object(object) = arguments else { panic!("an object") };
        let predicate = Predicate { argument: argument.into(), test };
        assert_eq!(predicate.holds(&Arguments::Object(object)), expected);
        assert!(!predicate.holds(&Arguments::Malformed("{".into())));
    }

    #[test]
    fn predicates() {
        check("n", Test::Has, true);
        check("z", Test::Has, true);
        check("missing", Test::Has, false);
        check("missing", Test::NotEqual(json!(1)), false);
        check("n", Test::Equal(json!(1.0)), true);
        check("n", Test::NotEqual(json!(2)), true);
        check("o", Test::Equal(json!({"p/q": [1.5]})), true);
        check("/o/p~1q/0", Test::Above(1.into()), true);
        check("/n", Test::AtMost(1.into()), true);
        check("n", Test::Below(1.into()), false);
        check("s", Test::AtLeast(0.into()), false);
        check("s", Test::Matches(Pattern::new("a.").expect("a pattern")), true);
        check("s", Test::Matches(Pattern::new("a").expect("a pattern")), false);
    }
}
