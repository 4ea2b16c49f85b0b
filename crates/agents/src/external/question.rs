//! The task of an agent as JSON, for `url:` and for `worker:`.

use secrecy::ExposeSecret;
use serde::Serialize;

use super::ExternalRun;

/// One task.
#[derive(Serialize)]
pub(super) struct Question<'a> {
    /// The id that the answer has to repeat, because one connection serves several tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    query: &'a str,
    /// What was said before in the same conversation; empty at its beginning.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    messages: &'a [QuestionMessage],
    mcp_url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<QuestionModel<'a>>,
}

/// A message of a conversation.
#[derive(Debug, Serialize)]
pub(super) struct QuestionMessage {
    /// `user` or `assistant`.
    role: &'static str,
    content: String,
}

impl QuestionMessage {
    /// A message of the user, and what the agent answered.
    pub(super) fn pair(query: &str, answer: String) -> [Self; 2] {
        [Self { role: "user", content: query.to_owned() }, Self { role: "assistant", content: answer }]
    }
}

#[derive(Serialize)]
struct QuestionModel<'a> {
    base_url: &'a str,
    api_key: &'a str,
    name: &'a str,
}

impl<'a> Question<'a> {
    /// The task of a run.
    pub(super) fn of(run: &ExternalRun<'a>, id: Option<u64>) -> Self {
        let model = run.model.map(|model| QuestionModel {
            base_url: model.base_url,
            api_key: model.api_key.expose_secret(),
            name: model.name,
        });
        Self { id, query: run.query, messages: &[], mcp_url: run.mcp_url, model }
    }

    /// What the user says after these messages.
    pub(super) fn after(self, messages: &'a [QuestionMessage], query: &'a str) -> Self {
        Self { messages, query, ..self }
    }
}
