//! Questions to the person at the terminal.

use std::io::{BufRead as _, Write as _};

use crate::terminal;

/// Asks the person at the terminal. Whether they agree, by `y` or `yes`; anything else declines.
pub fn agrees(question: &str) -> bool {
    let mut stderr = terminal::errors();
    let _ = stderr.write_all(question.as_bytes()).and_then(|()| stderr.flush());
    drop(stderr);
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).is_ok() && is_yes(&line)
}

fn is_yes(line: &str) -> bool {
    matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_one() {
        for line in ["y\n", "Yes", " YES \r\n"] {
            assert!(is_yes(line));
        }
        for line in ["", "\n", "n\n", "yep\n", "no\n"] {
            assert!(!is_yes(line));
        }
    }
}
