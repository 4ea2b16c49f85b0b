//! What all pages share: their limits, how they are written, and the last line of a run.

use std::io;

use maud::{Markup, html};
use planproof_engine::Outcome;
use planproof_suite::Case;

use super::text::{Foreign, count, counted, seconds};
use crate::ReportedCampaign;

/// Maximum number of characters shown of a name: of an agent, a model, a campaign, a case, a tool or an action.
pub(super) const NAME_CHARACTERS_MAX: usize = 200;
/// Maximum number of characters shown of the command line of a campaign.
const COMMAND_CHARACTERS_MAX: usize = 2000;

/// Limits on the content of a page. Everything else on it is bounded, to well under a megabyte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HtmlLimits {
    /// Maximum number of failing (or, in a comparison, changed) cases shown in full. The rest is summarised.
    pub cases_max: usize,
    /// Maximum number of bytes of these cases together.
    pub bytes_max: usize,
}

impl Default for HtmlLimits {
    /// 5,000 cases and 10 MB, which browsers open in a second or two.
    fn default() -> Self {
        Self { cases_max: 5000, bytes_max: 10_000_000 }
    }
}

/// Takes a page piece by piece, so that it is never entirely in memory.
pub(super) struct Page<'a> {
    out: &'a mut dyn io::Write,
}

impl<'a> Page<'a> {
    pub(super) fn new(out: &'a mut dyn io::Write) -> Self {
        Self { out }
    }

    /// Writes the next piece.
    pub(super) fn write(&mut self, markup: &Markup) -> io::Result<()> {
        self.out.write_all(markup.0.as_bytes())
    }
}

/// The cost of a run: "1,200 tokens read and 22 written by the model, 1.5 s"; the time alone if no token was counted.
pub fn took(outcome: &Outcome) -> String {
    let usage = outcome.usage;
    if (usage.input_tokens, usage.output_tokens) == (0, 0) {
        return seconds(outcome.wall.as_secs_f64());
    }
    format!(
        "{} read and {} written by the model, {}",
        counted(usage.input_tokens, "token", "tokens"),
        count(usage.output_tokens),
        seconds(outcome.wall.as_secs_f64())
    )
}

/// The last line of a shown run: what it took, and the command that shows it. Predictions have neither.
pub(super) fn foot(campaign: &ReportedCampaign<'_>, case: &dyn Case, outcome: &Outcome) -> Markup {
    let see = campaign.command_to_see(case, outcome.repeat);
    html! { @if let Some(see) = see { p.foot { (took(outcome)) ". " (command(&see)) } } }
}

/// A command line for copying. Its words are kept unbroken, because a line break after the first hyphen of an
/// option makes it unreadable.
pub(super) fn command(line: &str) -> Markup {
    let line = Foreign::short(line, COMMAND_CHARACTERS_MAX);
    html! {
        code.command {
            @for (place, word) in line.as_str().split(' ').enumerate() {
                @if place > 0 { " " }
                span { (word) }
            }
        }
    }
}
