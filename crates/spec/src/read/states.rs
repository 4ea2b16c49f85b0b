//! The states of a specification.

use super::{Reader, show, word};
use crate::diagnostic::{Code, Diagnostic, nearest, one_of};
use crate::limits::{COUNT_MAX, PATTERNS_MAX, STATES_MAX};
use crate::read::tree::{Form, Node};
use crate::{ContentRule, ContentSchema, Handler, Pattern, Span, Spanned, State};

/// Properties of a state.
const PROPERTIES: [&str; 5] = [":text", ":about", ":flags", ":handler", ":content"];
/// Content rules.
const RULES: [&str; 6] = ["tool", "arguments", "label", "matches", "json", "max-length"];
const STATE_HELP: &str = "write (NAME (:text \"PROMPT\"))";

impl Reader<'_> {
    /// `None` if there are too many, so that the names of unread ones are not reported as unknown.
    pub(super) fn states(&mut self, nodes: &[Node]) -> Option<Vec<State>> {
        if let Some(extra) = nodes.get(STATES_MAX) {
            let message = format!("{} states are more than the {STATES_MAX} that can be", nodes.len());
            self.fault(Code::LimitExceeded, extra.span, message, "use fewer states");
            return None;
        }
        Some(nodes.iter().filter_map(|node| self.state(node)).collect())
    }

    fn state(&mut self, node: &Node) -> Option<State> {
        let Form::List(items) = &node.value else {
            self.fault(Code::UnexpectedForm, node.span, format!("`{}` is no state", show(node)), STATE_HELP);
            return None;
        };
        let Some((head, clauses)) = items.split_first() else {
            self.fault(Code::UnexpectedForm, node.span, "a state without a name", STATE_HELP);
            return None;
        };
        let Some(name) = word(head) else {
            let message = format!("`{}` is no name of a state", show(head));
            self.fault(Code::UnexpectedForm, head.span, message, STATE_HELP);
            return None;
        };
        let of = format!("the state `{name}`");
        let mut state = State {
            name: Spanned::new(name.to_owned(), head.span),
            // Used if there is none, which is a separate fault.
            prompt: Spanned::new(format!("[{name}]"), head.span),
            about: None,
            is_environment: false,
            handler: None,
            content: Vec::new(),
        };
        let mut seen = Vec::new();
        for clause in clauses {
            let Some((keyword, body)) = self.clause(clause, &PROPERTIES, &of) else { continue };
            if self.is_repeated(&mut seen, &keyword, clause.span) {
                continue;
            }
            match keyword.as_str() {
                ":text" => {
                    if let Some(prompt) = self.prompt(body, clause.span) {
                        state.prompt = prompt;
                    }
                }
                ":about" => state.about = self.words(":about", body, clause.span),
                ":flags" => state.is_environment = self.flags(body),
                ":handler" => state.handler = self.handler(body, clause.span),
                // Only `:content` is left, because `clause` returns known keywords alone.
                _ => state.content = self.content(body),
            }
        }
        if seen.iter().all(|(keyword, _)| keyword != ":text") {
            let help = format!("add (:text \"[{name}]\")");
            self.fault(Code::MissingClause, head.span, format!("{of} has no prompt"), help);
        }
        Some(state)
    }

    fn prompt(&mut self, body: &[Node], span: Span) -> Option<Spanned<String>> {
        let [Node { value: Form::Text(text), span }] = body else {
            self.fault(Code::UnexpectedForm, span, "`:text` takes one string", "write (:text \"[Thought]\")");
            return None;
        };
        Some(Spanned::new(text.clone(), *span))
    }

    /// Whether the environment writes the content.
    fn flags(&mut self, body: &[Node]) -> bool {
        let mut is_environment = false;
        for flag in body {
            if word(flag) == Some(":env-input") {
                is_environment = true;
            } else {
                let message = format!("`{}` is no flag", show(flag));
                self.fault(Code::UnknownFlag, flag.span, message, "the only flag is `:env-input`");
            }
        }
        is_environment
    }

    fn handler(&mut self, body: &[Node], span: Span) -> Option<Spanned<Handler>> {
        let names = || Handler::ALL.iter().map(|handler| handler.as_str());
        let [node] = body else {
            let help = format!("write one of {}", one_of(names()));
            self.fault(Code::UnexpectedForm, span, "`:handler` takes one name", help);
            return None;
        };
        let name = word(node).unwrap_or_default();
        let handler = Handler::from_name(name);
        if handler.is_none() {
            let help = match nearest(name, names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("write one of {}", one_of(names())),
            };
            self.fault(Code::UnknownHandler, node.span, format!("`{}` is no handler", show(node)), help);
        }
        handler.map(|handler| Spanned::new(handler, node.span))
    }

    fn content(&mut self, body: &[Node]) -> Vec<Spanned<ContentRule>> {
        let mut rules: Vec<Spanned<ContentRule>> = Vec::new();
        for node in body {
            let Some(rule) = self.rule(node) else { continue };
            if let Some(first) = rules.iter().find(|first| first.value.word() == rule.word()) {
                let message = format!("`{}` stands twice", rule.word());
                let fault = Diagnostic::new(Code::RepeatedClause, node.span, message);
                self.faults.push(fault.and(first.span, "the first one").help("keep one of them"));
            } else {
                rules.push(Spanned::new(rule, node.span));
            }
        }
        rules
    }

    fn rule(&mut self, node: &Node) -> Option<ContentRule> {
        const HELP: &str =
            "write tool, arguments, label, (matches \"REGEX\"), (json \"SCHEMA\") or (max-length N)";
        let (head, operands) = match &node.value {
            Form::Word(_) => (word(node), &[][..]),
            Form::List(items) => (items.first().and_then(word), items.get(1..).unwrap_or_default()),
            Form::Text(_) => (None, &[][..]),
        };
        match (head, operands) {
            (Some("tool"), []) => Some(ContentRule::Tool),
            (Some("arguments"), []) => Some(ContentRule::Arguments),
            (Some("label"), []) => Some(ContentRule::Label),
            (Some("matches"), [Node { value: Form::Text(text), span }]) => {
                self.pattern(text, *span).map(ContentRule::Matches)
            }
            (Some("json"), [Node { value: Form::Text(text), span }]) => {
                self.schema(text, *span).map(ContentRule::Json)
            }
            (Some("max-length"), [number]) => self.number(number, 1, u32::MAX).map(ContentRule::MaxLength),
            (Some(head), _) => {
                let (code, message) = if RULES.contains(&head) {
                    (Code::UnexpectedForm, format!("`{head}` has another form"))
                } else {
                    (Code::UnknownClause, format!("`{head}` is no content rule"))
                };
                let help = match nearest(head, RULES) {
                    Some(near) if near != head => format!("did you mean `{near}`?"),
                    _ => HELP.to_owned(),
                };
                self.fault(code, node.span, message, help);
                None
            }
            (None, _) => {
                self.fault(
                    Code::UnexpectedForm,
                    node.span,
                    format!("`{}` is no content rule", show(node)),
                    HELP,
                );
                None
            }
        }
    }

    pub(super) fn pattern(&mut self, text: &str, span: Span) -> Option<Pattern> {
        self.patterns += 1;
        if self.patterns > PATTERNS_MAX {
            // Only the first one beyond the limit is reported.
            if self.patterns == PATTERNS_MAX + 1 {
                let message = format!("there are more than {PATTERNS_MAX} regular expressions");
                self.fault(Code::LimitExceeded, span, message, "use fewer of them");
            }
            return None;
        }
        Pattern::new(text)
            .map_err(|what| {
                // The error of the regex crate shows the expression on lines of its own; the last line names the
                // fault.
                let what = what.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
                let message = format!("the regular expression cannot be used: {what}");
                self.fault(Code::BadRegex, span, message, "its syntax is that of Rust's regex crate");
            })
            .ok()
    }

    fn schema(&mut self, text: &str, span: Span) -> Option<ContentSchema> {
        let what = match ContentSchema::read(text) {
            Ok(schema) if schema.is_object() || schema.is_boolean() => return Some(schema),
            Ok(_) => "it is neither an object nor true or false".to_owned(),
            Err(error) => error.to_string(),
        };
        let message = format!("the JSON Schema cannot be used: {what}");
        let help = "a raw string needs no escapes: (json #\"{\"type\": \"object\"}\"#)";
        self.fault(Code::BadSchema, span, message, help);
        None
    }

    /// A whole number within bounds.
    pub(super) fn number(&mut self, node: &Node, min: u32, max: u32) -> Option<u32> {
        let number =
            word(node).and_then(|word| word.parse().ok()).filter(|number| (min..=max).contains(number));
        if number.is_none() {
            let message = format!("`{}` is no number that can stand here", show(node));
            let help = if max == u32::MAX || max > COUNT_MAX {
                format!("write a whole number of at least {min}")
            } else {
                format!("write a whole number from {min} to {max}")
            };
            self.fault(Code::BadNumber, node.span, message, help);
        }
        number
    }
}
