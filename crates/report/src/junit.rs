//! JUnit XML for continuous integration: one test suite for the campaign, one test case for each of its runs.
//!
//! There is no standard; this is the common subset of Jenkins, GitLab and the reporters for GitHub, and
//! `ci/junit.xsd` defines it. A failed run is a `failure` with its class as type, one that
//! passed and is over a limit on what runs take a `failure` of the type `over`, an unscored one is an `error`,
//! and one that was not run is `skipped`. If cases are run several times, the names of the runs end in `repeat 0`,
//! `repeat 1`...

use std::fmt::Write as _;
use std::io;
use std::time::Duration;

use planproof_engine::Outcome;
use planproof_suite::runs::{in_one_line, one_line};
use planproof_suite::{Case, Class, Explanation, Unscored, Verdict};

use crate::ReportedCampaign;
use crate::explanation::{full_text, labelled, short, short_in_the_middle};
use crate::html::text::is_plain;

/// Maximum number of characters in the `message` of a failure, an error or a skipped case, which is shown in lists.
pub const MESSAGE_CHARACTERS_MAX: usize = 300;

/// Maximum number of characters in the body of a failure or an error. GitLab does not read a whole report above 30
/// MB.
pub const BODY_CHARACTERS_MAX: usize = 20_000;

/// Maximum number of characters in the output of one test case.
pub const OUTPUT_CHARACTERS_MAX: usize = 1000;

/// Writes the campaign. The additional memory is bounded; the same campaign gives the same bytes.
///
/// # Errors
/// `out` cannot be written.
pub fn write(campaign: &ReportedCampaign<'_>, out: &mut impl io::Write) -> io::Result<()> {
    let counts = Counts::of(campaign);
    out.write_all(head(campaign, &counts).as_bytes())?;
    for (case, repeat, outcome) in campaign.runs() {
        out.write_all(test_case(campaign, case, repeat, outcome).as_bytes())?;
    }
    out.write_all(tail(campaign).as_bytes())
}

/// The counts in the attributes of test suites. They are computed here, so that they always agree with the test
/// cases.
#[derive(Default)]
struct Counts {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
    wall: Duration,
}

impl Counts {
    fn of(campaign: &ReportedCampaign<'_>) -> Self {
        let mut counts = Self::default();
        for (case, _, outcome) in campaign.runs() {
            counts.tests += 1;
            match outcome {
                None => counts.skipped += 1,
                Some(outcome) => {
                    counts.wall += outcome.wall;
                    match outcome.passed() {
                        None => counts.errors += 1,
                        Some(false) => counts.failures += 1,
                        Some(true) if campaign.over(case, outcome).is_some() => counts.failures += 1,
                        Some(true) => {}
                    }
                }
            }
        }
        counts
    }

    fn attributes(&self) -> String {
        let Self { tests, failures, errors, skipped, wall } = self;
        format!(
            "tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\" time=\"{}\"",
            seconds(*wall)
        )
    }
}

fn head(campaign: &ReportedCampaign<'_>, counts: &Counts) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let agent = attribute(&campaign.report.agent);
    let attributes = counts.attributes();
    // The Jenkins schema requires a time without a zone, in UTC.
    let timestamp = campaign.created();
    let timestamp = timestamp.trim_end_matches('Z');
    let _ = writeln!(out, "<testsuites name=\"planproof\" {attributes}>");
    let _ = writeln!(out, "  <testsuite name=\"{agent}\" timestamp=\"{timestamp}\" {attributes}>");
    let _ = writeln!(out, "    <properties>");
    let mut property = |name: &str, value: &str| {
        let _ = writeln!(out, "      <property name=\"{name}\" value=\"{}\"/>", attribute(value));
    };
    property("planproof.version", env!("CARGO_PKG_VERSION"));
    if !campaign.is_of_predictions() {
        property("planproof.campaign", campaign.id);
        property("planproof.seed", &campaign.seed.to_string());
    }
    if let Some(model) = &campaign.report.model {
        property("planproof.model", model);
    }
    if let Some(gate) = campaign.gate {
        property("planproof.gate", &gate.headline);
    }
    property("planproof.simulated", if campaign.report.simulated { "true" } else { "false" });
    let _ = writeln!(out, "    </properties>");
    out
}

fn tail(campaign: &ReportedCampaign<'_>) -> String {
    let mut out = String::new();
    if campaign.report.simulated {
        out += "    <system-out>SIMULATION: a simulated model planned; this says nothing about any real model.</system-out>\n";
    }
    out + "  </testsuite>\n</testsuites>\n"
}

fn test_case(
    campaign: &ReportedCampaign<'_>,
    case: &dyn Case,
    repeat: u32,
    outcome: Option<&Outcome>,
) -> String {
    let mut out = String::new();
    let card = case.card();
    let kind = card.apart.as_ref().map_or_else(String::new, |word| format!(" ({word})"));
    let label = if card.label.is_empty() { String::new() } else { format!(" {}", card.label) };
    let name = attribute(&format!("{}{label}{kind}{}", card.id, campaign.repeat_name(repeat)));
    let agent = attribute(&campaign.report.agent);
    let time = seconds(outcome.map_or(Duration::ZERO, |outcome| outcome.wall));
    let _ = writeln!(out, "    <testcase name=\"{name}\" classname=\"{agent}\" time=\"{time}\">");
    match outcome.map(|outcome| (&outcome.verdict, outcome)) {
        None => {
            let why = match (&campaign.report.broken_setup, &campaign.report.ended_by) {
                (Some(why), _) => {
                    format!("not run: the set-up is broken: the campaign was stopped when {why}")
                }
                (None, Some(budget)) => format!("not run: the campaign was ended by its budget of {budget}"),
                (None, None) => "not run".to_owned(),
            };
            let _ = writeln!(out, "      <skipped message=\"{}\"/>", message_with_end(&why));
        }
        Some((Err(unscored), _)) => out += &error(campaign, unscored),
        Some((Ok(verdict), outcome)) => {
            let explained = case.explain(verdict);
            match campaign.over(case, outcome).filter(|_| verdict.passed()) {
                Some(over) => out += &right_but_over(campaign, case, repeat, &over),
                None if verdict.passed() => {}
                None => out += &failure(campaign, case, repeat, verdict, &explained),
            }
            // Strict readers expect the output after the failure.
            out += &system_out(&explained, outcome);
        }
    }
    out + "    </testcase>\n"
}

fn error(campaign: &ReportedCampaign<'_>, unscored: &Unscored) -> String {
    let reason = unscored.to_string();
    let again = campaign.command_to_resume().map(|command| format!("\ntry again: {command}\n"));
    let body = format!("This run says nothing about the agent.\n{reason}");
    format!(
        "      <error type=\"unscored\" message=\"{}\">{}</error>\n",
        message_with_end(&reason),
        escaped(&body_of(&body, &again.unwrap_or_default()))
    )
}

fn failure(
    campaign: &ReportedCampaign<'_>,
    case: &dyn Case,
    repeat: u32,
    verdict: &Verdict,
    explained: &Explanation,
) -> String {
    let class = verdict.class().map_or("failed", Class::as_str);
    let again = campaign.command_to_see(case, repeat).map(|command| labelled("see it", &command));
    format!(
        "      <failure type=\"{class}\" message=\"{}\">{}</failure>\n",
        message(&explained.gist),
        escaped(&body_of(&full_text(explained), &again.unwrap_or_default()))
    )
}

/// A run that passed and took too much fails its criterion, and has no class.
fn right_but_over(campaign: &ReportedCampaign<'_>, case: &dyn Case, repeat: u32, over: &str) -> String {
    let again = campaign.command_to_see(case, repeat).map(|command| labelled("see it", &command));
    let what = format!("right, but over: {over}");
    format!(
        "      <failure type=\"over\" message=\"{}\">{}</failure>\n",
        message(&what),
        escaped(&body_of(&what, &again.unwrap_or_default()))
    )
}

/// The text cut to its limit, with its last line complete.
fn body_of(text: &str, last: &str) -> String {
    let room = BODY_CHARACTERS_MAX.saturating_sub(last.chars().count());
    // One character is for the line break between text and last line.
    let cut = short(text, room.saturating_sub(1));
    let end = if cut.ends_with('\n') || last.starts_with('\n') { "" } else { "\n" };
    format!("{cut}{end}{last}")
}

/// What the agent did: the facts with these labels, and the one that is called the answer in logs of other
/// programs.
const DONE_LABELS: [&str; 2] = ["called", "reported"];

fn system_out(explained: &Explanation, outcome: &Outcome) -> String {
    let done = explained.facts.iter().filter_map(|fact| {
        let text = fact.content.to_text();
        let is_done = DONE_LABELS.contains(&fact.label) || !text.is_empty() && text == explained.answer;
        is_done.then(|| format!("{}: {text}", fact.label))
    });
    let mut text = done.collect::<Vec<_>>().join("; ");
    let tokens = outcome.usage;
    if tokens.input_tokens + tokens.output_tokens > 0 {
        let separator = if text.is_empty() { "" } else { "; " };
        let figures = format!("{separator}tokens: {} in, {} out", tokens.input_tokens, tokens.output_tokens);
        // The figures come last, so the text is cut to make room for them. They are ASCII, so their bytes are
        // characters.
        text = short(&text, OUTPUT_CHARACTERS_MAX.saturating_sub(figures.len())) + &figures;
    }
    format!("      <system-out>{}</system-out>\n", escaped(&short(&one_line(&text), OUTPUT_CHARACTERS_MAX)))
}

pub(crate) fn message(text: &str) -> String {
    attribute(&short(&one_line(text), MESSAGE_CHARACTERS_MAX))
}

/// The message from a program's output, whose end is the most informative part.
fn message_with_end(text: &str) -> String {
    attribute(&short_in_the_middle(&in_one_line(text), MESSAGE_CHARACTERS_MAX))
}

fn seconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64())
}

/// The text as an attribute value in double quotes; parsers would turn an unescaped line feed into a blank there.
pub(crate) fn attribute(text: &str) -> String {
    escaped(text).replace('\n', "&#10;")
}

/// The text as element content. Characters that XML 1.0 forbids are replaced: control characters by their symbols,
/// the others by U+FFFD. Those that nobody sees, or that turn the text around them, are replaced by their names, as on
/// a page.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for character in text.chars() {
        match character {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            // Only `]]>` is forbidden, but escaping every `>` does no harm.
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            // A parser would turn an unescaped carriage return into a line feed, and both into blanks in an
            // attribute.
            '\t' => out += "&#9;",
            '\r' => out += "&#13;",
            '\n' => out.push('\n'),
            '\0'..='\u{1f}' => out.extend(symbol_of(character)),
            '\u{fffe}' | '\u{ffff}' => out.push(char::REPLACEMENT_CHARACTER),
            hidden if !is_plain(hidden) => out += &name_of(hidden),
            _ => out.push(character),
        }
    }
    out
}

/// The symbol of a control character: Unicode has one for each, in the same order from U+2400 on.
pub(crate) fn symbol_of(control: char) -> Option<char> {
    char::from_u32(0x2400 + u32::from(control))
}

/// What stands for a character that nobody sees, or that turns the text around it.
pub(crate) fn name_of(hidden: char) -> String {
    format!("⟨U+{:04X}⟩", u32::from(hidden))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_forbids_is_shown() {
        assert_eq!(escaped("a\u{1b}[1m\0\u{fffe}"), "a␛[1m␀\u{fffd}");
        assert_eq!(escaped("a\u{202e}b\u{feff}\u{9b}\u{200d}"), "a⟨U+202E⟩b⟨U+FEFF⟩⟨U+009B⟩\u{200d}");
        assert_eq!(escaped("<a b=\"c\">]]>&\t\r\n"), "&lt;a b=&quot;c&quot;&gt;]]&gt;&amp;&#9;&#13;\n");
    }

    #[test]
    fn long_bodies_keep_their_last_line() {
        let body = body_of(&"x".repeat(BODY_CHARACTERS_MAX), "last\n");
        assert_eq!(body.chars().count(), BODY_CHARACTERS_MAX);
        assert!(body.ends_with("x…\nlast\n"));
        assert_eq!(body_of("a", "\nlast\n"), "a\nlast\n");
    }
}
