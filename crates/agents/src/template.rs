//! Prompts of the user's: texts with placeholders, which are checked when an agent is made.

use std::sync::Arc;

use planproof_trace::template::{fill, pieces};
use thiserror::Error;

/// Longest template, in bytes.
pub const TEMPLATE_BYTES_MAX: usize = 64 * 1024;

/// A name in double braces that a template can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placeholder {
    pub name: &'static str,
    /// What is filled in.
    pub what: &'static str,
    /// Whether a template without it cannot be used.
    pub is_needed: bool,
}

impl Placeholder {
    /// One that a template must have.
    pub const fn needed(name: &'static str, what: &'static str) -> Self {
        Self { name, what, is_needed: true }
    }

    /// One that a template may have.
    pub const fn optional(name: &'static str, what: &'static str) -> Self {
        Self { name, what, is_needed: false }
    }
}

/// The prompt of an agent, with placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptTemplate(Arc<str>);

/// Why a text cannot be a template.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TemplateError {
    /// A name that is needed is missing.
    #[error("the prompt lacks {{{{{name}}}}}, where {what} goes: {known}")]
    Lacks {
        name: &'static str,
        /// What is filled in.
        what: &'static str,
        /// The names that it must have, and may have.
        known: String,
    },
    /// An unknown name is in it.
    #[error("the prompt has {{{{{name}}}}}, which means nothing there: {known}")]
    Unknown {
        name: String,
        /// The names that it must have, and may have.
        known: String,
    },
    /// It is too long.
    #[error("the prompt has {bytes} bytes; {TEMPLATE_BYTES_MAX} is the most")]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
}

impl PromptTemplate {
    /// A template that may have these placeholders.
    ///
    /// # Errors
    /// The text lacks a name that is needed, has an unknown one, or is longer than [`TEMPLATE_BYTES_MAX`].
    pub fn new(text: &str, placeholders: &[Placeholder]) -> Result<Self, TemplateError> {
        if text.len() > TEMPLATE_BYTES_MAX {
            return Err(TemplateError::TooLong { bytes: text.len() });
        }
        let names: Vec<&str> = pieces(text).filter_map(|(_, name)| name).collect();
        let lacking = placeholders.iter().find(|it| it.is_needed && !names.contains(&it.name));
        if let Some(&Placeholder { name, what, .. }) = lacking {
            return Err(TemplateError::Lacks { name, what, known: known(placeholders) });
        }
        match names.iter().find(|name| !placeholders.iter().any(|it| it.name == **name)) {
            Some(name) => {
                Err(TemplateError::Unknown { name: (*name).to_owned(), known: known(placeholders) })
            }
            None => Ok(Self(text.into())),
        }
    }

    /// A template of ours, whose placeholders are right.
    pub(crate) fn shipped(text: String) -> Self {
        Self(text.into())
    }

    /// The text, with its placeholders.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// With its placeholders filled in.
    pub(crate) fn filled(&self, values: &[(&str, &str)]) -> String {
        fill(&self.0, values)
    }

    /// The text behind the last placeholder: there a prompt says what the reply has to be like.
    pub(crate) fn ending(&self) -> &str {
        pieces(&self.0).last().map_or("", |(text, _)| text)
    }

    /// Whether it has the placeholder of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        pieces(&self.0).any(|(_, other)| other == Some(name))
    }
}

/// The names that a template must have, and may have.
fn known(placeholders: &[Placeholder]) -> String {
    let listed = |is_needed: bool| {
        let some = placeholders.iter().filter(|it| it.is_needed == is_needed);
        some.map(|it| format!("{{{{{}}}}}", it.name)).collect::<Vec<_>>().join(", ")
    };
    match (listed(true), listed(false)) {
        (needed, optional) if optional.is_empty() => format!("it must have {needed}, and no other names"),
        (needed, optional) => format!("it must have {needed}, and may have {optional}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACEHOLDERS: [Placeholder; 3] = [
        Placeholder::needed("tools", "the list of tools"),
        Placeholder::needed("request", "the request"),
        Placeholder::optional("examples", "the examples"),
    ];

    #[test]
    fn templates_are_checked() {
        let new = |text: &str| PromptTemplate::new(text, &PLACEHOLDERS);
        let template = new("{{tools}} {{request}} Reply.").unwrap();
        assert_eq!(template.filled(&[("tools", "{{request}}"), ("request", "r")]), "{{request}} r Reply.");
        assert_eq!(template.ending(), " Reply.");
        assert!(template.has("tools") && !template.has("examples"));
        let known = "it must have {{tools}}, {{request}}, and may have {{examples}}";
        for (text, said) in [
            ("{{tools}}", "the prompt lacks {{request}}, where the request goes: "),
            ("{{tools}} {{request}} {{task}}", "the prompt has {{task}}, which means nothing there: "),
        ] {
            assert_eq!(new(text).unwrap_err().to_string(), format!("{said}{known}"));
        }
        let long = "x".repeat(TEMPLATE_BYTES_MAX + 1);
        assert_eq!(new(&long).unwrap_err().to_string(), "the prompt has 65537 bytes; 65536 is the most");
    }
}
