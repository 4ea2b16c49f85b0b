//! Colours of what people read in a terminal.

use crate::terminal;

/// Whether colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colours {
    On,
    Off,
}

impl Colours {
    /// Where stdout is a terminal and `NO_COLOR` is not set.
    pub fn for_stdout() -> Self {
        if terminal::stdout_is_coloured() { Self::On } else { Self::Off }
    }

    /// Where stderr is a terminal and `NO_COLOR` is not set.
    pub fn for_stderr() -> Self {
        if terminal::stderr_is_coloured() { Self::On } else { Self::Off }
    }

    /// The text, less bright.
    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// The text with this code of a terminal.
    pub fn paint(self, code: &str, text: &str) -> String {
        match self {
            Self::On if !text.is_empty() => terminal::styled(code, text),
            _ => text.to_owned(),
        }
    }
}
