//! The forms in which failures of tools reach agents.

use serde::{Deserialize, Serialize};

/// How a failure reaches an agent that calls tools over MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SentAs {
    /// As the result of a call, with `isError`.
    #[default]
    Result,
    /// As an error of the protocol.
    Rpc,
    /// Not at all: the response ends without an answer.
    Closed,
    /// Not at all, after so many milliseconds.
    Timeout(u64),
}

/// How the failures of tools reach agents: in one form, or in all of them in turn, as the seed has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FaultForm {
    /// [`SentAs::Result`].
    #[default]
    Result,
    /// [`SentAs::Rpc`].
    Rpc,
    /// [`SentAs::Closed`], if the failure will pass. One that will not is said, by an error of the protocol.
    Closed,
    /// [`SentAs::Timeout`], if the failure will pass. One that will not is said, by an error of the protocol.
    Timeout,
    /// Any of them.
    Mixed,
}

impl FaultForm {
    /// The forms with their names.
    pub(super) const ALL: [(&'static str, Self); 5] = [
        ("result", Self::Result),
        ("rpc", Self::Rpc),
        ("closed", Self::Closed),
        ("timeout", Self::Timeout),
        ("mixed", Self::Mixed),
    ];

    pub(super) fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, form)| *form == self).map_or("", |(name, _)| name)
    }

    /// Whether it may be that no answer comes for a while.
    pub(super) fn waits(self) -> bool {
        matches!(self, Self::Timeout | Self::Mixed)
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out a reference")]
    pub(super) fn is_result(&self) -> bool {
        *self == Self::Result
    }
}
