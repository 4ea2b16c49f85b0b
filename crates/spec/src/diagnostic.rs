//! The faults of a specification: plain data. The command shows them with their source lines.

use std::fmt;

use crate::Span;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The specification is usable, but it may not mean what was intended.
    Warning,
    /// The specification cannot be used.
    Error,
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $word:literal, $severity:ident;)+) => {
        /// A kind of fault. The words of [`Code::as_str`] never change their meaning.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Code {
            /// All codes.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The code as it is written.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// The default severity of a fault of this kind.
            pub fn severity(self) -> Severity {
                match self {
                    $(Self::$variant => Severity::$severity,)+
                }
            }
        }
    };
}

codes! {
    /// A `(` that is never closed.
    UnclosedList = "unclosed-list", Error;
    /// A `)` that closes nothing.
    StrayClose = "stray-close", Error;
    /// A string without its closing quote.
    UnclosedString = "unclosed-string", Error;
    /// A `\` in a string before a character that cannot be escaped.
    BadEscape = "bad-escape", Error;
    /// Something other than one `(define NAME ...)`.
    NoDefine = "no-define", Error;
    /// A clause, or a property of a state, of an unknown name.
    UnknownClause = "unknown-clause", Error;
    /// A required clause, or property of a state, is missing.
    MissingClause = "missing-clause", Error;
    /// A duplicate clause, or property of a state.
    RepeatedClause = "repeated-clause", Error;
    /// Something of the wrong shape.
    UnexpectedForm = "unexpected-form", Error;
    /// An operator of an unknown name.
    UnknownOperator = "unknown-operator", Error;
    /// An operator with too few or too many operands.
    WrongArity = "wrong-arity", Error;
    /// An invalid number, or bounds that exclude everything.
    BadNumber = "bad-number", Error;
    /// A behaviour that does not begin with `next`.
    TopNotNext = "top-not-next", Error;
    /// A state's name that has another meaning.
    ReservedName = "reserved-name", Error;
    /// Two states of one name.
    DuplicateState = "duplicate-state", Error;
    /// A name that no state has.
    UnknownState = "unknown-state", Error;
    /// A prompt that cannot be recognised: too short or long, with a blank at an end, or with a line break.
    BadPrompt = "bad-prompt", Error;
    /// Two states with the same prompt.
    EqualPrompts = "equal-prompts", Error;
    /// A prompt within another. At the same place the longer one counts, so the text has only one reading; but
    /// content after the shorter one can complete the longer one.
    NestedPrompts = "nested-prompts", Warning;
    /// A flag of an unknown name.
    UnknownFlag = "unknown-flag", Error;
    /// A handler of an unknown name.
    UnknownHandler = "unknown-handler", Error;
    /// A state of the environment without a handler, so that its writer is undefined. A warning in a specification in
    /// the published dialect, which has no handlers.
    UnboundEnvironment = "unbound-environment", Error;
    /// A handler of a state that the model writes.
    HandlerOfModelState = "handler-of-model-state", Error;
    /// Content rules of a state that the environment writes.
    RuleOfEnvironmentState = "rule-of-environment-state", Error;
    /// An invalid regular expression, or one that is too large.
    BadRegex = "bad-regex", Error;
    /// A JSON Schema that is none.
    BadSchema = "bad-schema", Error;
    /// A requirement, an example or a handler that needs calls, although no state's content completes one.
    NoCalls = "no-calls", Error;
    /// A pattern that no call can match: a tool's name with a `*` in it, tests that exclude one another, a regular
    /// expression that matches nothing, or a test that the tool's schema excludes.
    UnmatchedCall = "unmatched-call", Warning;
    /// Tools whose names differ in capitals, `_` or `-` alone.
    SimilarTools = "similar-tools", Warning;
    /// A quoted number in a test of an argument: no text equals a number, or is above or below one.
    NumberInString = "number-in-string", Warning;
    /// A requirement names an unknown tool. Found if the tools are known.
    UnknownTool = "unknown-tool", Warning;
    /// A requirement tests an unknown argument of a tool. Found if the tools are known.
    UnknownArgument = "unknown-argument", Warning;
    /// Calls that no run can contain, although no requirement explicitly forbids them.
    ImpossibleCall = "impossible-call", Warning;
    /// Arguments that a run can reach without naming a tool before.
    ArgumentsWithoutTool = "arguments-without-tool", Warning;
    /// A tool that a run can name without providing its arguments, so that it is not called.
    ToolWithoutArguments = "tool-without-arguments", Warning;
    /// A call that can be completed without being executed, always or sometimes: it counts for nothing then.
    CallNotExecuted = "call-not-executed", Warning;
    /// A state that the behaviour does not reach.
    UnreachableState = "unreachable-state", Warning;
    /// A state that the behaviour reaches, but from which the requirements allow no run to end.
    NoWayToEnd = "no-way-to-end", Warning;
    /// No run satisfies the behaviour and this requirement.
    EmptyLanguage = "empty-language", Error;
    /// Requirements that no run satisfies together, although runs can satisfy fewer of them.
    ConflictingRequirements = "conflicting-requirements", Error;
    /// A requirement that changes nothing.
    VacuousRequirement = "vacuous-requirement", Warning;
    /// An example of `:accepts` or `:examples` that is not accepted.
    ExampleNotAccepted = "example-not-accepted", Error;
    /// An example of `:rejects` that is accepted.
    ExampleNotRejected = "example-not-rejected", Error;
    /// An example of `:examples` whose content violates a rule of its state, or contains a prompt.
    ExampleContent = "example-content", Error;
    /// A limit of this crate is exceeded.
    LimitExceeded = "limit-exceeded", Error;
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A place in the source, with a remark about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// A few words; may be empty.
    pub text: String,
}

/// Something wrong with a specification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// What kind of fault it is.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in a sentence without a full stop.
    pub message: String,
    /// The places: the first is the place itself, the others are related. Never empty.
    pub labels: Vec<Label>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    pub(crate) fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        let labels = vec![Label { span, text: String::new() }];
        Self { code, severity: code.severity(), message: message.into(), labels, help: None }
    }

    /// Says something at the place itself.
    pub(crate) fn at(mut self, text: impl Into<String>) -> Self {
        self.labels[0].text = text.into();
        self
    }

    /// Points to another place.
    pub(crate) fn and(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The place.
    pub fn span(&self) -> Span {
        self.labels[0].span
    }
}

impl fmt::Display for Diagnostic {
    /// One line: `line 3: error[unknown-state]: ...; help: ...`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "line {}: {severity}[{}]: {}", self.span().line, self.code, self.message)?;
        match &self.help {
            Some(help) => write!(f, "; help: {help}"),
            None => Ok(()),
        }
    }
}

/// The known word that was probably meant by `word`, if one is near.
pub fn nearest<'w>(word: &str, known: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let allowed = (word.chars().count() / 3).clamp(1, 3);
    let lower = word.to_lowercase();
    known
        .into_iter()
        .map(|other| (crate::distance::edits(&lower, &other.to_lowercase()), other))
        // A short word that differs in every character has nothing in common with the other one.
        .filter(|(edits, _)| *edits <= allowed && *edits < lower.chars().count())
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, other)| other)
}

/// `1 operand`, `2 operands`, for messages.
pub(crate) fn counted(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

/// `a, b or c`, for messages.
pub(crate) fn one_of<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    join(words, "or")
}

/// `a, b and c`, for messages.
pub(crate) fn all_of<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    join(words, "and")
}

fn join<'w>(words: impl IntoIterator<Item = &'w str>, conjunction: &str) -> String {
    let words: Vec<&str> = words.into_iter().collect();
    match words.split_last() {
        None => String::new(),
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} {conjunction} {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_words_of_their_own() {
        let mut words: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert!(words.iter().all(|word| word.bytes().all(|byte| byte == b'-' || byte.is_ascii_lowercase())));
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Code::ALL.len());
    }

    #[test]
    fn slips_find_their_word() {
        assert_eq!(nearest("untill", ["or", "next", "until"]), Some("until"));
        assert_eq!(nearest("NEXT", ["or", "next", "until"]), Some("next"));
        assert_eq!(nearest("plan", ["or", "next", "until"]), None);
        assert_eq!(nearest("x", ["a"]), None);
        assert_eq!(one_of(["a", "b", "c"]), "a, b or c");
        assert_eq!(one_of([]), "");
    }
}
