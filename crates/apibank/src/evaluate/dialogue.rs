//! The dialogues in the data, and the samples to predict in them.

use serde::{Deserialize, Serialize};

use crate::python::repr;
use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};

/// A call of a dialogue with its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DialogueCall {
    pub api_name: String,
    /// Its arguments, all of them texts in the data.
    #[serde(rename = "param_dict")]
    pub arguments: Dict,
    /// The record of the call, whose `input` has the arguments with their types.
    pub result: ApiRecord,
}

impl DialogueCall {
    /// The call in the notation of texts, with the values as `str` writes them, in single quotes.
    pub fn to_text(&self) -> String {
        let arguments = self.arguments.iter().map(|(name, value)| format!("{name}='{}'", value.to_text()));
        format!("[{}({})]", self.api_name, arguments.collect::<Vec<_>>().join(", "))
    }

    /// The call with its output, as earlier calls are shown to models.
    pub fn to_history(&self) -> String {
        let output = match &self.result.output {
            PythonValue::Text(text) => text.clone(),
            other => repr(other),
        };
        format!("{} Response: {output}", self.to_text())
    }
}

/// A turn of a dialogue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role")]
pub enum Turn {
    /// The user says something.
    User { text: String },
    /// The assistant says something.
    #[serde(rename = "AI")]
    Assistant { text: String },
    /// The assistant calls a tool.
    #[serde(rename = "API")]
    Call(Box<DialogueCall>),
}

/// A dialogue: a file of the data.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dialogue {
    pub turns: Vec<Turn>,
}

/// A turn to predict from the turns before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// The index of the turn to predict. The model sees all turns before it.
    pub gold: usize,
}

impl Dialogue {
    /// Parses a file of JSON lines.
    ///
    /// # Errors
    /// A line is not a turn of a dialogue.
    pub fn read(text: &str) -> Result<Self, DialogueError> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let turns = lines.map(|(place, line)| {
            serde_json::from_str(line)
                .map_err(|error| DialogueError { line: place + 1, what: error.to_string() })
        });
        Ok(Self { turns: turns.collect::<Result<_, _>>()? })
    }

    /// The samples, in the order of their numbers: every call, and the turn after every call. A call that follows a
    /// call is therefore predicted twice, from the same turns.
    pub fn samples(&self) -> Vec<Sample> {
        let calls = self.turns.iter().enumerate().filter(|(_, turn)| matches!(turn, Turn::Call(_)));
        // As in the original: the shares in the paper's table fit whole numbers of calls only if such calls count
        // twice.
        calls
            .flat_map(|(place, _)| [place, place + 1])
            .filter(|place| *place < self.turns.len())
            .map(|gold| Sample { gold })
            .collect()
    }

    /// The call at an index.
    pub fn call(&self, place: usize) -> Option<&DialogueCall> {
        match self.turns.get(place) {
            Some(Turn::Call(call)) => Some(call),
            _ => None,
        }
    }
}

/// A file that is not a dialogue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "line {line} is no turn of a dialogue: {what}; each line is a record with `role` and `text`, or a call"
)]
pub struct DialogueError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIALOGUE: &str = r#"
        {"role": "User", "text": "Hi"}
        {"role": "API", "api_name": "A", "param_dict": {"x": "1"},
            "result": {"api_name": "A", "input": {"x": 1}, "output": null, "exception": "no"}}
        {"role": "API", "api_name": "B", "param_dict": {},
            "result": {"input": null, "output": [1, "é"], "exception": null}}
        {"role": "AI", "text": "Bye"}"#;

    #[test]
    fn a_call_after_a_call_is_predicted_twice() {
        let text = DIALOGUE.replace(",\n            ", ", ");
        let dialogue = Dialogue::read(&text).unwrap();
        let golds: Vec<usize> = dialogue.samples().iter().map(|sample| sample.gold).collect();
        assert_eq!(golds, [1, 2, 2, 3]);
        assert_eq!(dialogue.call(1).unwrap().to_text(), "[A(x='1')]");
        assert_eq!(dialogue.call(2).unwrap().to_history(), "[B()] Response: [1, 'é']");
        assert_eq!(dialogue.call(3), None);
        let error = Dialogue::read("{\"role\": \"AI\", \"text\": \"\"}\n{}").unwrap_err();
        assert!(error.to_string().starts_with("line 2 is no turn"), "{error}");
    }
}
