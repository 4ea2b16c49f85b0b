//! The field of a request that holds a grammar. OpenAI has none; the servers that people run themselves each have their
//! own, and all of them understand the notation of llama.cpp.

use serde::Serialize;

use crate::Settings;
use crate::facts::Software;

/// Whose field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GrammarField {
    LlamaCpp,
    /// `structured_outputs`, and `guided_grammar` before version 0.12. Either ignores the other's field.
    Vllm,
    Sglang,
}

impl GrammarField {
    /// The field of a program's servers, if they have one.
    pub(super) fn of(software: Software) -> Option<Self> {
        match software {
            Software::LlamaCpp => Some(Self::LlamaCpp),
            Software::Vllm => Some(Self::Vllm),
            Software::Sglang => Some(Self::Sglang),
            Software::Ollama | Software::LmStudio => None,
        }
    }
}

/// The fields of a request; none without a grammar.
#[derive(Serialize, Default)]
pub(super) struct GrammarFields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    grammar: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_outputs: Option<Structured<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    guided_grammar: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ebnf: Option<&'a str>,
}

#[derive(Serialize)]
struct Structured<'a> {
    grammar: &'a str,
}

impl<'a> GrammarFields<'a> {
    /// The grammar of the settings in the field of a server; nothing if the server has none.
    pub(super) fn new(field: Option<GrammarField>, settings: &'a Settings) -> Self {
        let (Some(field), Some(grammar)) = (field, settings.grammar.as_deref()) else {
            return Self::default();
        };
        match field {
            GrammarField::LlamaCpp => Self { grammar: Some(grammar), ..Self::default() },
            GrammarField::Vllm => Self {
                structured_outputs: Some(Structured { grammar }),
                guided_grammar: Some(grammar),
                ..Self::default()
            },
            GrammarField::Sglang => Self { ebnf: Some(grammar), ..Self::default() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_has_its_field() {
        let settings = Settings { grammar: Some("root ::= \"a\"".into()), ..Settings::default() };
        let sent = |field, settings| serde_json::to_string(&GrammarFields::new(field, settings)).unwrap();
        let text = r#""root ::= \"a\"""#;
        assert_eq!(sent(Some(GrammarField::LlamaCpp), &settings), format!(r#"{{"grammar":{text}}}"#));
        assert_eq!(
            sent(Some(GrammarField::Vllm), &settings),
            format!(r#"{{"structured_outputs":{{"grammar":{text}}},"guided_grammar":{text}}}"#)
        );
        assert_eq!(sent(Some(GrammarField::Sglang), &settings), format!(r#"{{"ebnf":{text}}}"#));
        assert_eq!(sent(None, &settings), "{}");
        assert_eq!(sent(Some(GrammarField::LlamaCpp), &Settings::default()), "{}");
    }
}
