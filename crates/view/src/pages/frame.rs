//! What all pages have in common.

use maud::{Markup, html};
use planproof_model::prices::Money;
use planproof_report::html::fragments::{
    Foreign, ServedPage, count, percent, percent_range, seconds, shares, top,
};

use crate::address::Wanted;
use crate::site::{Shown, Site};
use crate::snapshot::Snapshot;

/// Most characters shown of a name.
pub(crate) const NAME_CHARACTERS_MAX: usize = 120;

/// Most characters shown of a longer text.
pub(crate) const TEXT_CHARACTERS_MAX: usize = 600;

const STYLE: &str = include_str!("../../assets/view.css");
const SCRIPT: &str = include_str!("../../assets/view.js");

/// SHA-256 of both in base64. A test prints the values to use here.
pub(crate) const PAGE: ServedPage<'static> = ServedPage {
    style: STYLE,
    style_hash: "N+4vCI9UScPZmOWoxjR1YKyV3NYvzpxR7WYI3UVHmWY=",
    script: SCRIPT,
    script_hash: "1pPilK9n3tyhrKHuuxh8Byf51yOZ0KL9eHndsHECLnE=",
};

const FOOTER: &str = concat!(
    "Shown by planproof ",
    env!("CARGO_PKG_VERSION"),
    " from the run store, which this page never changes. The address holds a secret: whoever has it can read the store \
     until the server ends."
);

/// A page. With `live`, it is brought up to date while it is seen, from this state on.
pub(crate) fn page(
    site: &Site,
    title: &str,
    live: Option<(&Wanted, &Snapshot)>,
    head: &Markup,
    main: &Markup,
) -> Markup {
    let source = live.filter(|(_, state)| !state.is_over).map(|(wanted, state)| {
        let address = wanted.address(&site.token);
        let sign = if address.contains('?') { '&' } else { '?' };
        (format!("{address}{sign}live"), state.name())
    });
    html! {
        (PAGE.begin(title))
        header {
            (top("campaigns"))
            (head)
        }
        main data-live=[source.as_ref().map(|(address, _)| address)] data-last=[source.as_ref().map(|(_, name)| name)] {
            @if source.is_some() { p #live .live hidden role="status" {} }
            (main)
        }
        (PAGE.end(FOOTER))
    }
}

/// How a campaign stands, in a word.
pub(crate) fn standing(shown: &Shown) -> Markup {
    let row = &shown.row;
    html! {
        @if shown.is_running {
            span.standing.running { "running" }
        } @else if let Some(budget) = &row.progress.ended_by {
            span.standing { "ended by the budget of " (Foreign::short(budget, NAME_CHARACTERS_MAX)) }
        } @else if row.finished() >= row.total() {
            span.standing { "finished" }
        } @else {
            span.standing { "not running" }
        }
    }
}

/// Passed, failed, unscored and open runs as a bar with its words.
pub(crate) fn progress(shown: &Shown) -> Markup {
    let row = &shown.row;
    let left = row.total().saturating_sub(row.finished());
    html! {
        div.progress
            data-passed=(row.passed) data-failed=(row.failed) data-unscored=(row.unscored) data-total=(row.total())
        {
            (shares(&[("passed", row.passed), ("failed", row.failed), ("unscored", row.unscored), ("not run", left)]))
        }
    }
}

/// The success rate and its interval.
pub(crate) fn success(shown: &Shown) -> Markup {
    let figures = shown.figures.as_ref();
    html! {
        @match figures.and_then(|figures| figures.success) {
            Some(rate) => {
                span.rate { (percent(rate.rate)) } " "
                span.interval { (percent_range(rate.low, rate.high)) }
            },
            None if shown.row.passed + shown.row.failed == 0 => span.quiet { "–" },
            None => {
                span.rate { (percent(shown.row.passed as f64 / (shown.row.passed + shown.row.failed) as f64)) }
            },
        }
    }
}

/// What was paid, and in what if that is not money; both are empty if nothing is known.
pub(crate) fn spent(shown: &Shown) -> [String; 2] {
    let spent = &shown.row.progress.spent;
    let about = if spent.is_estimate { "at most " } else { "" };
    match spent.picodollars {
        Some(amount) => [format!("{about}{}", Money::from_picodollars(amount)), String::new()],
        None => match spent.input_tokens.saturating_add(spent.output_tokens) {
            0 => Default::default(),
            tokens => [format!("{about}{}", count(tokens)), "tokens".to_owned()],
        },
    }
}

/// How long a run took.
pub(crate) fn wall(milliseconds: u64) -> String {
    if milliseconds == 0 { "under 1\u{a0}ms".to_owned() } else { seconds(milliseconds as f64 / 1000.0) }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD;

    use super::*;

    #[test]
    fn the_policy_allows_this_style_and_this_script() {
        for (name, text, stated) in
            [("style_hash", STYLE, PAGE.style_hash), ("script_hash", SCRIPT, PAGE.script_hash)]
        {
            let hash = BASE64_STANDARD.encode(ring::digest::digest(&ring::digest::SHA256, text.as_bytes()));
            assert_eq!(stated, hash, "{name} in frame.rs must be \"{hash}\"");
            assert!(!text.contains("</"), "it would end its element");
        }
    }
}
