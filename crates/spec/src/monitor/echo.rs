//! Models that cannot continue a message first repeat the end of the text.

/// Removes from the beginning of a reply a repetition of the text to continue: all of it, whole lines at its end, or
/// the end that was shown to the model. White space before the repetition is removed, too.
///
/// Holds one copy of the text and the reply so far, and compares each byte of the reply with one byte of the text for
/// each possible beginning of a repetition, [`BEGINS_MAX`] at most.
#[derive(Debug, Clone)]
pub struct Echo {
    written: Vec<u8>,
    /// Possible beginnings in the text of a repetition that matches the whole reply so far and is incomplete.
    begins: Vec<usize>,
    /// Bytes of the longest complete repetition at the beginning of the reply.
    repeated: usize,
    /// The reply so far, as long as it may still be a repetition.
    held: Vec<u8>,
    is_over: bool,
    /// Bytes that were compared.
    #[cfg(test)]
    compared: usize,
}

/// Lines at the end of the text that a reply is compared with.
const LINES_MAX: usize = 200;
/// Possible beginnings of a repetition: the text, lines at its end, and the end that was shown.
const BEGINS_MAX: usize = LINES_MAX + 2;

impl Echo {
    /// For a reply that is to continue this text, whose last `shown_characters` characters the model was shown.
    pub fn new(written: &str, shown_characters: usize) -> Self {
        // The whole text counts, however many lines it has.
        let lines = written.rmatch_indices('\n').map(|(at, _)| at + 1).take(LINES_MAX);
        let shown = shown_characters.checked_sub(1).and_then(|last| written.char_indices().rev().nth(last));
        let begins = std::iter::once(0).chain(lines).chain(shown.map(|(at, _)| at));
        // White space before a reply does not count.
        let black =
            |begin: usize| begin + (written.len() - begin - written[begin..].trim_ascii_start().len());
        let mut begins: Vec<usize> = begins.map(black).filter(|begin| *begin < written.len()).collect();
        begins.sort_unstable();
        begins.dedup();
        debug_assert!(begins.len() <= BEGINS_MAX);
        Self {
            written: if begins.is_empty() { Vec::new() } else { written.as_bytes().to_vec() },
            begins,
            repeated: 0,
            held: Vec::new(),
            is_over: false,
            #[cfg(test)]
            compared: 0,
        }
    }

    /// Takes a piece of the reply, and returns its new text; empty as long as it may be a repetition.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        if self.is_over {
            return bytes.to_vec();
        }
        let before = self.held.trim_ascii_start().len();
        self.held.extend_from_slice(bytes);
        let reply = self.held.trim_ascii_start();
        let mut begins = std::mem::take(&mut self.begins);
        // All remaining beginnings match the first `before` bytes, so each byte is compared once.
        begins.retain(|begin| {
            let repetition = &self.written[*begin..];
            let end = reply.len().min(repetition.len());
            #[cfg(test)]
            {
                self.compared += end - before;
            }
            if reply[before..end] != repetition[before..end] {
                return false;
            }
            // Complete, but a longer repetition may still follow from an earlier beginning.
            if end == repetition.len() {
                self.repeated = self.repeated.max(end);
            }
            end < repetition.len()
        });
        self.begins = begins;
        if self.begins.is_empty() { self.release() } else { Vec::new() }
    }

    /// The reply has ended: returns the withheld rest.
    pub fn end(&mut self) -> Vec<u8> {
        if self.is_over { Vec::new() } else { self.release() }
    }

    fn release(&mut self) -> Vec<u8> {
        self.is_over = true;
        // Nothing is compared any more, so the copy of the text is freed.
        (self.written, self.begins) = (Vec::new(), Vec::new());
        let mut held = std::mem::take(&mut self.held);
        if self.repeated > 0 {
            let blank = held.len() - held.trim_ascii_start().len();
            held.drain(..blank + self.repeated);
        }
        held
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn new_of(echo: &mut Echo, reply: &str, size: usize) -> String {
        let mut new: Vec<u8> = reply.as_bytes().chunks(size).flat_map(|piece| echo.push(piece)).collect();
        new.extend(echo.end());
        String::from_utf8_lossy(&new).into_owned()
    }

    #[track_caller]
    fn check(written: &str, reply: &str, expected: &str) {
        for size in 1..=reply.len().max(1) {
            let mut echo = Echo::new(written, 13);
            assert_eq!(new_of(&mut echo, reply, size), expected, "in pieces of {size}");
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
        // The shown end begins in the middle of a line, and may begin with white space.
        check("[Thought] I know it all by now", "l by now.\n[Action] x", "l by now.\n[Action] x");
        check("[Thought] I know it all by now", "it all by now.\n[Action] x", ".\n[Action] x");
        check("[Thought] I knew   all by now", "all by now.", ".");
    }

    /// The same, by trying all suffixes of the text on the whole reply.
    fn slow(written: &str, shown: usize, reply: &str) -> String {
        let mut begins = vec![0];
        begins.extend(written.match_indices('\n').map(|(at, _)| at + 1));
        let latest = begins.len().saturating_sub(LINES_MAX).max(1).min(begins.len());
        begins.drain(1..latest);
        begins
            .extend(written.char_indices().rev().take(shown).nth(shown.saturating_sub(1)).map(|(at, _)| at));
        let ends = begins.iter().map(|begin| written[*begin..].trim_ascii_start());
        let is_repeated = |end: &&str| !end.is_empty() && reply.trim_ascii_start().starts_with(end);
        match ends.filter(is_repeated).map(str::len).max() {
            Some(length) => reply.trim_ascii_start()[length..].to_owned(),
            None => reply.to_owned(),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_slow_twin_agrees(
            written in "[ab \n]{0,30}",
            (from, more) in (0..30_usize, "[ab \n]{0,6}"),
            size in 1..5_usize,
            shown in 0..8_usize,
        ) {
            let reply = written.get(from..).unwrap_or_default().to_owned() + &more;
            let found = new_of(&mut Echo::new(&written, shown), &reply, size);
            prop_assert_eq!(found, slow(&written, shown, &reply));
        }
    }

    #[test]
    fn memory_and_work_grow_with_the_text() {
        // The worst case: a text of equal lines, and a reply that repeats it.
        for lines in [500, 2_000, 8_000] {
            let written = "[Thought] the same again and again, and once more\n".repeat(lines);
            let mut echo = Echo::new(&written, 60);
            let held =
                |echo: &Echo| echo.written.capacity() + echo.held.capacity() + echo.begins.capacity() * 8;
            assert!(held(&echo) <= written.len() + 16 * BEGINS_MAX, "{}", held(&echo));
            let mut reply = written.clone();
            reply.pop();
            for piece in reply.as_bytes().chunks(1000) {
                assert!(echo.push(piece).is_empty());
                assert!(held(&echo) <= 3 * written.len() + 16 * BEGINS_MAX);
            }
            // The text itself, and the last lines with all that follows them.
            let last = written.len() / lines * LINES_MAX;
            assert!(echo.compared <= reply.len() + last * (LINES_MAX + 1), "{}", echo.compared);
        }
    }
}
