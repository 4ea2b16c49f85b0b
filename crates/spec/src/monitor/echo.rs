//! Models that cannot continue a message repeat where they were before they go on.

/// Takes from the beginning of a reply what repeats the end of the text that it was to continue: all of it, or whole
/// lines at its end. White space before the repetition goes with it.
#[derive(Debug, Clone)]
pub struct Echo {
    /// What the reply could repeat: the text from each beginning of a line on.
    repeated: Vec<String>,
    /// What came of the reply, as long as it may yet be a repetition.
    held: Vec<u8>,
    is_over: bool,
}

/// Lines at the end of the text that a reply is compared with.
const LINES_MAX: usize = 200;

impl Echo {
    /// For a reply that is to continue this text.
    pub fn new(written: &str) -> Self {
        let mut begins = vec![0];
        begins.extend(written.match_indices('\n').map(|(at, _)| at + 1));
        let latest = begins.len().saturating_sub(LINES_MAX);
        // The whole text counts, however many lines it has.
        let begins = begins.iter().take(1).chain(begins.iter().skip(latest.max(1)));
        let repeated = begins.map(|begin| written[*begin..].to_owned());
        Self {
            repeated: repeated.filter(|text| !text.trim().is_empty()).collect(),
            held: Vec::new(),
            is_over: false,
        }
    }

    /// Takes a piece of the reply, and gives what is new in it; nothing as long as it may be a repetition.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        if self.is_over {
            return bytes.to_vec();
        }
        self.held.extend_from_slice(bytes);
        let reply = self.held.trim_ascii_start();
        let may_go_on = |text: &String| text.len() > reply.len() && text.as_bytes().starts_with(reply);
        if self.repeated.iter().any(may_go_on) { Vec::new() } else { self.release() }
    }

    /// The reply is over: gives what was held back of it.
    pub fn end(&mut self) -> Vec<u8> {
        if self.is_over { Vec::new() } else { self.release() }
    }

    fn release(&mut self) -> Vec<u8> {
        self.is_over = true;
        let held = std::mem::take(&mut self.held);
        let reply = held.trim_ascii_start();
        let repeated =
            self.repeated.iter().filter(|text| reply.starts_with(text.as_bytes())).map(String::len).max();
        match repeated {
            Some(length) => reply[length..].to_vec(),
            None => held,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(written: &str, reply: &str, expected: &str) {
        for size in 1..=reply.len().max(1) {
            let mut echo = Echo::new(written);
            let mut new: Vec<u8> = reply.as_bytes().chunks(size).flat_map(|piece| echo.push(piece)).collect();
            new.extend(echo.end());
            assert_eq!(String::from_utf8_lossy(&new), expected, "in pieces of {size}");
        }
    }

    #[test]
    fn repetitions_are_taken_off() {
        let written = "[Question] q\n[Thought] t\n[";
        check(written, "Action] x", "Action] x");
        check(written, " [Action] x", "Action] x");
        check(written, "[Thought] t\n[Action] x", "Action] x");
        check(written, "[Question] q\n[Thought] t\n[", "");
        check(written, "[Question] other", "Question] other");
        check("[Question] q\n", "[Question] q\n[Answer]", "[Answer]");
        check("[Question] q\n", "[Questio", "[Questio");
        check("", "text", "text");
    }
}
