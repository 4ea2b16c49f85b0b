//! What a program prints.

use std::borrow::Cow;
use std::mem;

use monty_types::{ExcType, MontyException, PrintWriterCallback};

/// Stores the output until it is taken, up to a total number of bytes.
pub(super) struct Printed {
    text: String,
    bytes_left: usize,
    /// More was printed than may be.
    pub(super) is_over: bool,
}

impl Printed {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { text: String::new(), bytes_left: bytes_max, is_over: false }
    }

    /// What was printed since it was taken last.
    pub(super) fn take(&mut self) -> String {
        mem::take(&mut self.text)
    }

    fn push(&mut self, text: &str) -> Result<(), MontyException> {
        let fits = text.floor_char_boundary(self.bytes_left);
        self.text.push_str(&text[..fits]);
        self.bytes_left -= fits;
        if fits == text.len() {
            return Ok(());
        }
        // A program may catch this. The run is over anyway: its end is reported as that of a limit.
        self.is_over = true;
        self.bytes_left = 0;
        Err(MontyException::new(ExcType::MemoryError, Some("too much was printed".into())))
    }
}

impl PrintWriterCallback for Printed {
    fn stdout_write(&mut self, output: Cow<'_, str>) -> Result<(), MontyException> {
        self.push(&output)
    }

    fn stdout_push(&mut self, end: char) -> Result<(), MontyException> {
        self.push(end.encode_utf8(&mut [0; 4]))
    }
}
