//! Regular expressions that are run byte by byte and detect when no continuation can match any more.

use std::collections::BTreeMap;
use std::sync::Arc;

use regex_automata::dfa::{Automaton as _, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::primitives::StateID;
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Capture, Hir, HirKind, Look, Repetition};

use crate::limits::REGEX_BYTES_MAX;

/// A regular expression (the syntax of the `regex` crate) for matching whole texts. The words of `\b` and its relatives
/// are of letters, digits and underscores of ASCII, because an automaton that reads bytes cannot look back over others.
///
/// Two are equal if their source texts are.
#[derive(Clone)]
pub struct Pattern {
    source: String,
    table: Arc<Table>,
}

/// The state of a [`Pattern`] after some bytes; `None` once no continuation can match.
pub(crate) type Place = Option<u32>;

struct Table {
    /// Class of each byte.
    class: [u8; 256],
    classes: usize,
    /// The successor for each class and state; [`NOWHERE`] if nothing can match then.
    next: Vec<u32>,
    /// Whether the bytes so far are a match.
    is_match: Vec<bool>,
}

const NOWHERE: u32 = u32::MAX;

/// Bytes of [`Pattern::forced`].
const FORCED_BYTES_MAX: usize = 200;

impl Pattern {
    /// Compiles a regular expression. Takes time in proportion to the size of its automaton, which is limited to
    /// [`REGEX_BYTES_MAX`].
    ///
    /// # Errors
    /// The fault, in words for people.
    pub fn new(source: &str) -> Result<Self, String> {
        Self::with(source, false)
    }

    /// The same, with a `.` that also stands for the end of a line: whoever writes a text could otherwise keep it from
    /// matching `rm.*` by a line more.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn over_lines(source: &str) -> Result<Self, String> {
        Self::with(source, true)
    }

    fn with(source: &str, over_lines: bool) -> Result<Self, String> {
        let hir = ParserBuilder::new()
            .dot_matches_new_line(over_lines)
            .build()
            .parse(source)
            .map_err(|error| on_one_line(&error))?;
        let nfa = thompson::Compiler::new()
            .configure(
                thompson::Config::new()
                    .nfa_size_limit(Some(REGEX_BYTES_MAX))
                    .which_captures(thompson::WhichCaptures::None),
            )
            .build_from_hir(&with_ascii_words(hir))
            .map_err(|error| in_plain_words(&error))?;
        let dense = dense::Builder::new()
            .configure(
                dense::Config::new()
                    // Not the leftmost-first match: `ab|abcd` has to continue after `ab`.
                    .match_kind(MatchKind::All)
                    .start_kind(regex_automata::dfa::StartKind::Anchored)
                    .dfa_size_limit(Some(REGEX_BYTES_MAX))
                    .determinize_size_limit(Some(REGEX_BYTES_MAX)),
            )
            .build_from_nfa(&nfa)
            .map_err(|error| in_plain_words(&error))?;
        Ok(Self { source: source.to_owned(), table: Arc::new(Table::of(&dense)?) })
    }

    /// The expression as it was written.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// Whether the whole text matches.
    pub fn matches(&self, text: &str) -> bool {
        self.is_match(text.bytes().fold(self.start(), |place, byte| self.step(place, byte)))
    }

    /// Whether a text that matches can begin with this one.
    pub fn begins_with(&self, text: &str) -> bool {
        text.bytes().fold(self.start(), |place, byte| self.step(place, byte)).is_some()
    }

    /// Whether no text matches.
    pub(crate) fn is_never(&self) -> bool {
        self.start().is_none()
    }

    pub(crate) fn start(&self) -> Place {
        (!self.table.next.is_empty()).then_some(0)
    }

    pub(crate) fn step(&self, place: Place, byte: u8) -> Place {
        let row = place? as usize * self.table.classes;
        let next = self.table.next[row + usize::from(self.table.class[usize::from(byte)])];
        (next != NOWHERE).then_some(next)
    }

    /// A number that bytes share only if they lead from each place to the same one.
    pub(crate) fn class(&self, byte: u8) -> u8 {
        self.table.class[usize::from(byte)]
    }

    /// The text with which every match continues from here, as far as it is whole characters; empty if a match may
    /// end.
    pub(crate) fn forced(&self, mut place: Place) -> String {
        let mut forced = Vec::new();
        while let Some(at) = place
            && !self.is_match(place)
            && forced.len() < FORCED_BYTES_MAX
        {
            let mut ways = (0..=255_u8).filter(|byte| self.step(Some(at), *byte).is_some());
            let (Some(byte), None) = (ways.next(), ways.next()) else { break };
            forced.push(byte);
            place = self.step(place, byte);
        }
        // The first byte of a character can be forced while the next one is free, as for `[äö]`.
        let whole = match std::str::from_utf8(&forced) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        forced.truncate(whole);
        String::from_utf8(forced).unwrap_or_default()
    }

    /// A shortest text that matches, if its bytes are characters.
    pub(crate) fn sample(&self) -> Option<String> {
        let mut reached_by: BTreeMap<u32, (u32, u8)> = BTreeMap::new();
        let mut open = std::collections::VecDeque::from([self.start()?]);
        while let Some(place) = open.pop_front() {
            if self.is_match(Some(place)) {
                let (mut bytes, mut at) = (Vec::new(), place);
                while let Some((before, byte)) = reached_by.get(&at) {
                    bytes.push(*byte);
                    at = *before;
                }
                bytes.reverse();
                return String::from_utf8(bytes).ok();
            }
            // Letters and digits first, so that the text can be read.
            let bytes = (b'a'..=b'z').chain(b'0'..=b'9').chain(b'A'..=b'Z').chain(0..=255);
            for byte in bytes {
                let Some(next) = self.step(Some(place), byte) else { continue };
                if Some(next) != self.start() && !reached_by.contains_key(&next) {
                    reached_by.insert(next, (place, byte));
                    open.push_back(next);
                }
            }
        }
        None
    }

    pub(crate) fn is_match(&self, place: Place) -> bool {
        place.is_some_and(|place| self.table.is_match[place as usize])
    }
}

/// The same expression, in which words are of ASCII.
fn with_ascii_words(hir: Hir) -> Hir {
    match hir.into_kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) => Hir::literal(literal.0),
        HirKind::Class(class) => Hir::class(class),
        HirKind::Look(look) => Hir::look(match look {
            Look::WordUnicode => Look::WordAscii,
            Look::WordUnicodeNegate => Look::WordAsciiNegate,
            Look::WordStartUnicode => Look::WordStartAscii,
            Look::WordEndUnicode => Look::WordEndAscii,
            Look::WordStartHalfUnicode => Look::WordStartHalfAscii,
            Look::WordEndHalfUnicode => Look::WordEndHalfAscii,
            other => other,
        }),
        HirKind::Repetition(Repetition { min, max, greedy, sub }) => {
            Hir::repetition(Repetition { min, max, greedy, sub: Box::new(with_ascii_words(*sub)) })
        }
        HirKind::Capture(Capture { index, name, sub }) => {
            Hir::capture(Capture { index, name, sub: Box::new(with_ascii_words(*sub)) })
        }
        HirKind::Concat(parts) => Hir::concat(parts.into_iter().map(with_ascii_words).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.into_iter().map(with_ascii_words).collect()),
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl std::fmt::Debug for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pattern({:?})", self.source)
    }
}

/// What is wrong with an expression, and at which of its characters.
fn on_one_line(error: &regex_syntax::Error) -> String {
    let (what, offset) = match error {
        regex_syntax::Error::Parse(error) => (error.kind().to_string(), error.span().start.column),
        regex_syntax::Error::Translate(error) => (error.kind().to_string(), error.span().start.column),
        other => return other.to_string().replace('\n', " "),
    };
    format!("{what} (at its character {offset})")
}

/// Why an expression cannot be used. What the libraries say of its size is about their own memory.
fn in_plain_words(error: &dyn std::error::Error) -> String {
    let what = cause(error);
    match what.contains("exceeded") {
        true => format!(
            "it needs more than {} KiB of memory; make its repetitions, such as {{1000}}, smaller",
            REGEX_BYTES_MAX / 1024
        ),
        false => what,
    }
}

/// The innermost cause of an error, which names the fault.
fn cause(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

impl Table {
    /// The part of the automaton that is reachable from its start and from which a match is reachable. Empty if there
    /// is no match.
    fn of(dense: &dense::DFA<Vec<u32>>) -> Result<Self, String> {
        let start = dense
            .start_state_forward(&Input::new("").anchored(Anchored::Yes))
            .map_err(|error| error.to_string())?;
        let byte_classes = dense.byte_classes();
        let class: [u8; 256] = std::array::from_fn(|byte| byte_classes.get(byte as u8));
        let classes = 1 + usize::from(class.iter().copied().max().unwrap_or(0));
        // All bytes of a class have the same successors, so one byte of each is enough.
        let mut representative = vec![0_u8; classes];
        for byte in (0..=255_u8).rev() {
            representative[usize::from(class[usize::from(byte)])] = byte;
        }

        let mut places: BTreeMap<StateID, u32> = BTreeMap::from([(start, 0)]);
        let mut order = vec![start];
        let mut next = Vec::new();
        let mut at = 0;
        while let Some(state) = order.get(at).copied() {
            at += 1;
            for byte in &representative {
                let target = dense.next_state(state, *byte);
                if dense.is_dead_state(target) {
                    next.push(NOWHERE);
                    continue;
                }
                next.push(*places.entry(target).or_insert_with(|| {
                    order.push(target);
                    order.len() as u32 - 1
                }));
            }
        }
        // The automaton reports a match one byte late, and at the end only after the end of input.
        let is_match: Vec<bool> =
            order.iter().map(|state| dense.is_match_state(dense.next_eoi_state(*state))).collect();
        let mut table = Self { class, classes, next, is_match };
        table.cut_hopeless();
        Ok(table)
    }

    /// Leads nowhere if no match is reachable.
    fn cut_hopeless(&mut self) {
        let mut before = vec![Vec::new(); self.is_match.len()];
        for (index, target) in self.next.iter().enumerate().filter(|(_, target)| **target != NOWHERE) {
            before[*target as usize].push(index / self.classes);
        }
        let mut is_hopeful = self.is_match.clone();
        let mut open: Vec<usize> = (0..is_hopeful.len()).filter(|place| is_hopeful[*place]).collect();
        while let Some(place) = open.pop() {
            for earlier in &before[place] {
                if !std::mem::replace(&mut is_hopeful[*earlier], true) {
                    open.push(*earlier);
                }
            }
        }
        if is_hopeful[0] {
            for target in &mut self.next {
                if *target != NOWHERE && !is_hopeful[*target as usize] {
                    *target = NOWHERE;
                }
            }
        } else {
            // An empty table means that nothing matches; `start` looks for it.
            self.next.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The length of the longest prefix of the text that a match can begin with, and whether the whole text matches.
    #[track_caller]
    fn check(pattern: &str, text: &str, viable: usize, matches: bool) {
        let pattern = Pattern::new(pattern).expect("a pattern");
        let mut place = pattern.start();
        let alive = text.bytes().take_while(|byte| {
            place = pattern.step(place, *byte);
            place.is_some()
        });
        assert_eq!(alive.count(), viable, "{pattern:?} on {text:?}");
        assert_eq!(pattern.matches(text), matches, "{pattern:?} on {text:?}");
    }

    #[test]
    fn a_dot_of_a_rule_stands_for_the_end_of_a_line_too() {
        for text in ["rm -r x", "rm\n-r x", "rm -r x\n", "rm \r\n x"] {
            assert!(Pattern::over_lines("rm.*").expect("a pattern").matches(text), "{text:?}");
        }
        assert!(!Pattern::over_lines("(?-s)rm.*").expect("a pattern").matches("rm\n"));
        assert!(!Pattern::new("rm.*").expect("a pattern").matches("rm\n"));
    }

    #[test]
    fn viable_prefixes_and_matches() {
        check("#E[0-9]+", "#E12", 4, true);
        check("#E[0-9]+", "#Ex", 2, false);
        check("ab|abcd", "abcx", 3, false);
        check("ab|abcd", "ab", 2, true);
        check("a*", "", 0, true);
        check("ä.", "äö", 4, true);
        check("^a$", "a", 1, true);
        check("(?i)yes|no", "YES", 3, true);
        check(r"[^\s\S]", "a", 0, false);
        check(r"a$b", "a", 0, false);
    }

    #[test]
    fn words_are_of_ascii() {
        for (pattern, text, matches) in [
            (r".*\brm\s+-rf\b.*", "cd x && rm  -rf /", true),
            (r".*\brm\s+-rf\b.*", "rm -rf", true),
            (r".*\brm\s+-rf\b.*", "rm -rfv /", false),
            (r".*\brm\s+-rf\b.*", "farm -rf /", false),
            (r"\Bm\b", "m", false),
            (r"r\Bm", "rm", true),
            // Not a letter of ASCII, so a word begins behind it, whatever people say.
            (r".*\brm.*", "\u{e4}rm", true),
            (r".*\brm.*", "\u{e4}\nrm", true),
            (r"(?:\b{start}\w+\b{end} ?)+", "two words", true),
        ] {
            let compiled = Pattern::over_lines(pattern).expect("a pattern");
            assert_eq!(compiled.matches(text), matches, "{pattern} on {text:?}");
            // Another engine agrees where it is asked for words of ASCII.
            if !pattern.contains("{start}") {
                let of_ascii = pattern.replace(r"\b", r"(?-u:\b)").replace(r"\B", r"(?-u:\B)");
                let twin = regex::bytes::Regex::new(&format!("(?s)^(?:{of_ascii})$")).expect("a pattern");
                assert_eq!(twin.is_match(text.as_bytes()), matches, "{of_ascii} on {text:?}");
            }
        }
    }

    #[test]
    fn what_must_follow() {
        for (pattern, forced) in
            [("#E[0-9]+", "#E"), ("a|b", ""), ("abc", "abc"), ("a*", ""), ("ä[xy]", "ä"), ("[äö]", "")]
        {
            let pattern = Pattern::new(pattern).expect("a pattern");
            assert_eq!(pattern.forced(pattern.start()), forced);
        }
    }

    #[test]
    fn faults_are_reported() {
        assert!(Pattern::new("a(").is_err_and(|what| what.contains("unclosed group")));
        for large in ["(a{1000}){1000}", r"\pL{200}.{200}"] {
            assert!(Pattern::new(large).is_err_and(|what| what.contains("more than 1024 KiB")), "{large}");
        }
    }
}
