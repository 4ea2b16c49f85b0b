//! Text for pages: makes outside text safe to show, and figures readable.

use std::borrow::Cow;
use std::fmt::Write as _;

use maud::{Escaper, Render};
// Under the name by which a page counts.
pub use planproof_suite::grouped as count;

/// Text from outside (a task, an answer, a name, a command line), as shown on a page. Characters that are
/// invisible, reorder their neighbours or are not text are replaced by their names (`⟨U+202E⟩`, `␀`), and the text
/// can be cut. It is escaped when rendered, in elements and in attributes alike; all text from outside goes through
/// this type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign<'a>(Cow<'a, str>);

impl<'a> Foreign<'a> {
    /// All of the text.
    pub fn whole(text: &'a str) -> Self {
        if text.chars().all(is_plain) { Self(Cow::Borrowed(text)) } else { Self(Cow::Owned(named(text))) }
    }

    /// At most `characters_max` characters, and the number of omitted ones.
    pub fn short(text: &'a str, characters_max: usize) -> Self {
        let Some((end, _)) = text.char_indices().nth(characters_max) else { return Self::whole(text) };
        // Counted before invisible characters are replaced by names, which are longer.
        let left_out = text[end..].chars().count();
        let mut shown = Self::whole(&text[..end]).0.into_owned();
        shown += &format!("… ({} more characters)", count(left_out as u64));
        Self(Cow::Owned(shown))
    }

    /// At most `characters_max` characters, with a mark if more were omitted.
    pub fn cut(text: &'a str, characters_max: usize) -> Self {
        let Some((end, _)) = text.char_indices().nth(characters_max) else { return Self::whole(text) };
        Self(Cow::Owned(Self::whole(&text[..end]).0.into_owned() + "…"))
    }

    /// At most `characters_max` characters from its beginning and its end, and the number omitted between them. The
    /// end of a program's output is the most informative.
    pub fn both_ends(text: &'a str, characters_max: usize) -> Self {
        let Some(left_out @ 1..) = text.chars().count().checked_sub(characters_max) else {
            return Self::whole(text);
        };
        let place = |characters: usize| text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at);
        let head = characters_max / 4;
        let [head, tail] = [&text[..place(head)], &text[place(head + left_out)..]].map(Self::whole);
        Self(Cow::Owned(format!("{} … ({} more characters) … {}", head.0, count(left_out as u64), tail.0)))
    }

    /// As plain text, not escaped.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A dimension of a drawing, rounded to a tenth of a unit.
pub(crate) fn units(measure: f64) -> String {
    // Integer tenths, because formatting a fraction takes ten times as long, and a page has thousands of them.
    let tenths = (measure * 10.0).round() as i64;
    let (whole, rest) = ((tenths / 10).unsigned_abs(), (tenths % 10).unsigned_abs());
    let sign = if tenths < 0 { "-" } else { "" };
    if rest == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{rest}") }
}

impl Render for Foreign<'_> {
    fn render_to(&self, buffer: &mut String) {
        // Writing to a string cannot fail.
        let _ = Escaper::new(buffer).write_str(&self.0);
    }
}

/// Whether a character may appear in a report unchanged: it is seen, and turns no other around.
pub(crate) fn is_plain(c: char) -> bool {
    match c {
        '\n' | '\t' => true,
        c if c.is_control() => false,
        // Soft hyphen, Arabic letter mark, zero-width space, marks and overrides of direction, separators,
        // invisible operators, the byte order mark, interlinear annotations. The joiners U+200C and U+200D
        // stay: scripts need them.
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' => false,
        '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' => false,
        // Tag characters, which hide text in text.
        '\u{e0000}'..='\u{e007f}' => false,
        // Unicode noncharacters.
        '\u{fdd0}'..='\u{fdef}' => false,
        // The last two code points of each plane are noncharacters, too.
        c => u32::from(c) & 0xfffe != 0xfffe,
    }
}

/// The text with every character that is not plain replaced by its name.
fn named(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            c if is_plain(c) => out.push(c),
            // A Windows line break.
            '\r' if characters.peek() == Some(&'\n') => {}
            // The control characters below U+0020 have symbols of their own.
            '\0'..='\u{1f}' => out.extend(char::from_u32(0x2400 + u32::from(c))),
            c => {
                let _ = write!(out, "⟨U+{:04X}⟩", u32::from(c));
            }
        }
    }
    out
}

/// A count with its noun: "1 case", "2 cases".
pub fn counted(number: u64, one: &str, several: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { several })
}

/// A rate in per cent.
pub fn percent(rate: f64) -> String {
    format!("{:.1}\u{a0}%", rate * 100.0)
}

/// Both ends of an interval of rates, in per cent.
pub fn percent_range(low: f64, high: f64) -> String {
    format!("{:.1} to {:.1}\u{a0}%", low * 100.0, high * 100.0)
}

/// A duration in a suitable unit.
pub fn seconds(seconds: f64) -> String {
    // A value that would be rounded up to the next unit ("60.0 s") is shown in that unit.
    match seconds {
        s if s < 0.9995e-3 => format!("{:.0}\u{a0}µs", s * 1e6),
        s if s < 0.999_95 => format!("{:.1}\u{a0}ms", s * 1e3),
        s if s < 59.95 => format!("{s:.1}\u{a0}s"),
        // The rest of a minute that is only reached by rounding.
        s if s < 60.0 => "1\u{a0}min 0\u{a0}s".to_owned(),
        // Truncated: rounding would turn 119.9 seconds into 1 min 60 s.
        s if s < 3600.0 => format!("{}\u{a0}min {}\u{a0}s", (s / 60.0) as u64, (s % 60.0) as u64),
        s => format!("{}\u{a0}h {}\u{a0}min", (s / 3600.0) as u64, (s % 3600.0 / 60.0) as u64),
    }
}

/// A time in milliseconds since 1970 as "2026-11-20 12:33 UTC".
pub fn date(milliseconds: u64) -> String {
    let minutes = milliseconds / 60_000;
    let (hour, minute) = (minutes / 60 % 24, minutes % 60);
    // The Gregorian calendar repeats every 400 years of 146,097 days. Years are counted from March here, so that a leap
    // day is the last of its year. Source: H. Hinnant, "chrono-compatible low-level date algorithms".
    let days = minutes / 1440 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_named() {
        for (text, shown) in [
            ("tea\u{202e}eat", "tea⟨U+202E⟩eat"),
            ("a\0b\u{1b}[1m", "a␀b␛[1m"),
            ("one\r\ntwo\rthree\ttab", "one\ntwo␍three\ttab"),
            ("\u{7f}\u{85}\u{feff}\u{ffff}\u{e0041}", "⟨U+007F⟩⟨U+0085⟩⟨U+FEFF⟩⟨U+FFFF⟩⟨U+E0041⟩"),
            ("naïve 茶 שלום 👩\u{200d}🍳", "naïve 茶 שלום 👩\u{200d}🍳"),
        ] {
            assert_eq!(Foreign::whole(text).as_str(), shown);
        }
    }

    #[test]
    fn long_text_is_cut_and_says_so() {
        assert_eq!(Foreign::short("äöü", 3).as_str(), "äöü");
        assert_eq!(Foreign::short("äöüß", 3).as_str(), "äöü… (1 more characters)");
        assert_eq!(Foreign::short(&"x".repeat(5002), 2).as_str(), "xx… (5,000 more characters)");
        assert_eq!(Foreign::both_ends("äöü", 3).as_str(), "äöü");
        assert_eq!(Foreign::both_ends("äöüßabcdef", 4).as_str(), "ä … (6 more characters) … def");
    }

    #[test]
    fn markup_in_text_is_text() {
        let shown = maud::html! { p title=(Foreign::whole("\"<&")) { (Foreign::whole("</p><script>\"&")) } };
        assert_eq!(
            shown.into_string(),
            "<p title=\"&quot;&lt;&amp;\">&lt;/p&gt;&lt;script&gt;&quot;&amp;</p>"
        );
    }

    #[test]
    fn figures_are_readable() {
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(percent(0.7267), "72.7\u{a0}%");
        assert_eq!(
            [0.000_25, 0.25, 12.34, 75.0, 7260.0].map(seconds),
            ["250\u{a0}µs", "250.0\u{a0}ms", "12.3\u{a0}s", "1\u{a0}min 15\u{a0}s", "2\u{a0}h 1\u{a0}min"]
        );
        assert_eq!(
            [0.000_999_6, 0.999_97, 59.96, 119.97].map(seconds),
            ["1.0\u{a0}ms", "1.0\u{a0}s", "1\u{a0}min 0\u{a0}s", "1\u{a0}min 59\u{a0}s"]
        );
    }

    #[test]
    fn dates_agree_with_the_calendar() {
        // Checked with `date -u -d @SECONDS`.
        for (seconds, text) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_399, "2000-02-28 23:59 UTC"),
            (951_868_800, "2000-03-01 00:00 UTC"),
            (1_709_164_800, "2024-02-29 00:00 UTC"),
            (1_795_178_000, "2026-11-20 12:33 UTC"),
            (4_107_542_400, "2100-03-01 00:00 UTC"),
        ] {
            assert_eq!(date(seconds * 1000), text);
        }
        assert!(date(u64::MAX).ends_with("UTC"));
    }
}
