//! Failures as a trace shows them: their texts, and how these are recognised.

use super::SentAs;

/// A failure as a trace shows it: what the agent can know of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeenFault {
    /// The same call would get through if it is tried again.
    Transient,
    /// The tool will not work again in this run.
    Permanent,
    /// The tool is gone.
    Vanished,
}

/// What official clients of MCP make of an error of the protocol: `MCP error CODE: MESSAGE`.
const RPC_BEFORE: &str = "MCP error ";

/// The code of an internal error, and that of parameters such as the name of a tool that there is not.
const INTERNAL: i32 = -32603;
const INVALID: i32 = -32602;

/// What these clients say where no answer came.
const CLOSED: &str = "MCP error -32000: Connection closed";
const TIMED_OUT: &str = "MCP error -32001: Request timed out";
const TRANSIENT: &str = " is unavailable at the moment (503). This is temporary: try again.";
const PERMANENT: &str =
    " is out of service (410). It will not work again in this session, so do not call it again.";
const VANISHED: &str = ". The server has removed this tool.";
const VANISHED_BEFORE: &str = "unknown tool: ";

impl SeenFault {
    /// The error that a call of a tool is answered with.
    pub fn text(self, tool: &str) -> String {
        match self {
            Self::Transient => format!("{tool}{TRANSIENT}"),
            Self::Permanent => format!("{tool}{PERMANENT}"),
            Self::Vanished => format!("{VANISHED_BEFORE}{tool}{VANISHED}"),
        }
    }

    /// The form in which it is sent, where this form is asked for. What will not pass has to be said.
    pub fn sent(self, form: SentAs) -> SentAs {
        match form {
            SentAs::Closed | SentAs::Timeout(_) if self != Self::Transient => SentAs::Rpc,
            form => form,
        }
    }

    /// The code of the protocol's error.
    pub fn code(self) -> i32 {
        if self == Self::Vanished { INVALID } else { INTERNAL }
    }

    /// What an agent gets to read of it from an official client of MCP.
    pub fn text_as(self, tool: &str, form: SentAs) -> String {
        match self.sent(form) {
            SentAs::Result => self.text(tool),
            SentAs::Rpc => format!("{RPC_BEFORE}{}: {}", self.code(), self.text(tool)),
            SentAs::Closed => CLOSED.to_owned(),
            SentAs::Timeout(_) => TIMED_OUT.to_owned(),
        }
    }

    /// The failure that an error of a tool reports, if it is one of these, in whatever form it was sent.
    pub fn of(tool: &str, error: &str) -> Option<Self> {
        if [CLOSED, TIMED_OUT].contains(&error) {
            return Some(Self::Transient);
        }
        if let Some((code, text)) = error.strip_prefix(RPC_BEFORE).and_then(|rest| rest.split_once(": ")) {
            return Self::of(tool, text).filter(|fault| fault.code().to_string() == code);
        }
        let is_of = |before: &str, behind: &str| {
            error.strip_prefix(before).and_then(|rest| rest.strip_suffix(behind)) == Some(tool)
        };
        match () {
            () if is_of("", TRANSIENT) => Some(Self::Transient),
            () if is_of("", PERMANENT) => Some(Self::Permanent),
            () if is_of(VANISHED_BEFORE, VANISHED) => Some(Self::Vanished),
            () => None,
        }
    }

    /// Whether no later call of the tool gets through.
    pub fn is_final(self) -> bool {
        self != Self::Transient
    }
}
