//! The frame of every page: one self-contained file.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::text::Foreign;

/// The style of all pages.
pub(super) const STYLE: &str = include_str!("../../assets/report.css");
/// Filters, paging and theme. All content can be read without it.
pub(super) const SCRIPT: &str = include_str!("../../assets/report.js");

/// SHA-256 of [`STYLE`] and of [`SCRIPT`] in base64: nothing else may style the page or run in it, whatever a task
/// or an answer may contain. A test prints the values to use here.
const STYLE_HASH: &str = "PBwaIonR3VXzQ7v5jNCBn9w52H/9uPrtdpd5w5Iwh+0=";
const SCRIPT_HASH: &str = "9VKU+oIm5gPbx1FPGlGzP93DivcZo7XYw33LzhhXSok=";

/// What a page has beyond a report, because a server shows it.
#[derive(Debug, Clone, Copy)]
pub struct ServedPage<'a> {
    /// A style beside that of reports.
    pub style: &'a str,
    /// SHA-256 of the style in base64.
    pub style_hash: &'a str,
    /// A script beside that of reports.
    pub script: &'a str,
    /// SHA-256 of the script in base64.
    pub script_hash: &'a str,
}

impl ServedPage<'_> {
    /// The policy of a served page, which is that of a report with the style and script added: it may connect to its
    /// own server, and send forms to it.
    pub fn policy(&self) -> String {
        format!(
            "default-src 'none'; style-src 'sha256-{STYLE_HASH}' 'sha256-{}'; script-src 'sha256-{SCRIPT_HASH}' \
             'sha256-{}'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'self'",
            self.style_hash, self.script_hash
        )
    }

    /// A page up to its main part.
    pub fn begin(&self, title: &str) -> Markup {
        begin_under(&self.policy(), title, self.style)
    }

    /// Closes what [`begin`](Self::begin) leaves open, after a footer with these words.
    pub fn end(&self, words: &str) -> Markup {
        html! {
            footer { p { (words) } }
            script { (PreEscaped(SCRIPT)) }
            script { (PreEscaped(self.script)) }
            (PreEscaped("</body></html>\n"))
        }
    }
}

/// The policy of reports.
pub(super) fn policy() -> String {
    format!(
        "default-src 'none'; style-src 'sha256-{STYLE_HASH}'; script-src 'sha256-{SCRIPT_HASH}'; img-src data:; \
         base-uri 'none'; form-action 'none'"
    )
}

/// A page up to its main part. The policy comes before everything it applies to.
pub(super) fn begin(title: &str) -> Markup {
    begin_under(&policy(), title, "")
}

fn begin_under(policy: &str, title: &str, style: &str) -> Markup {
    html! {
        (DOCTYPE)
        // `end` closes these elements: their content is written piece by piece.
        (PreEscaped("<html lang=\"en\">"))
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(policy);
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            meta name="generator" content=(concat!("planproof ", env!("CARGO_PKG_VERSION")));
            title { (Foreign::short(title, super::parts::NAME_CHARACTERS_MAX)) }
            style { (PreEscaped(STYLE)) }
            @if !style.is_empty() { style { (PreEscaped(style)) } }
        }
        (PreEscaped("<body>"))
    }
}

/// The line above the first heading: the kind of page, and the button for light and dark, which is shown only if
/// the script runs.
pub fn top(kind: &str) -> Markup {
    html! {
        div.top {
            p.brand { "planproof " (env!("CARGO_PKG_VERSION")) span.quiet { " " (kind) } }
            button #theme type="button" hidden { "Dark theme" }
        }
    }
}

/// A banner saying that it was a simulation.
pub fn banner(what: &str) -> Markup {
    html! {
        p.banner role="note" {
            strong { "SIMULATION:" } " " (what) "; these figures say nothing about any real model."
        }
    }
}

/// Closes what [`begin`] leaves open.
pub(super) fn end() -> Markup {
    html! {
        footer {
            p { "Written by planproof " (env!("CARGO_PKG_VERSION")) ". It needs no other file." }
        }
        // At the end, where the elements that it looks up exist.
        script { (PreEscaped(SCRIPT)) }
        (PreEscaped("</body></html>\n"))
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD;

    use super::*;

    /// The light and dark colours of a custom property.
    fn colours(name: &str) -> [&'static str; 2] {
        let (_, rest) =
            STYLE.split_once(&format!("--{name}: light-dark(")).expect("the style has the colour");
        let (pair, _) = rest.split_once(')').expect("the pair is closed");
        let (light, dark) = pair.split_once(", ").expect("it is a pair");
        [light, dark]
    }

    /// Relative luminance according to the Web Content Accessibility Guidelines 2.2.
    fn luminance(colour: &str) -> f64 {
        let part = |at: usize| {
            let part = u8::from_str_radix(&colour[at..at + 2], 16).expect("a colour has six digits");
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    #[test]
    fn all_text_has_the_contrast_that_people_need() {
        let on_all = ["text", "quiet", "accent", "right", "wrong", "open"];
        let grounds = ["page", "card", "inset"].map(|ground| (ground, on_all.as_slice()));
        let soft = [
            ("wrong-soft", ["text", "quiet", "wrong"].as_slice()),
            ("open-soft", ["text"].as_slice()),
            // Letters of campaigns, and highlighted words.
            ("accent", ["card"].as_slice()),
            ("wrong", ["card"].as_slice()),
        ];
        for (ground, texts) in grounds.into_iter().chain(soft) {
            for text in texts {
                for (text_colour, ground_colour) in colours(text).into_iter().zip(colours(ground)) {
                    let [low, high] = {
                        let mut both = [text_colour, ground_colour].map(luminance);
                        both.sort_by(f64::total_cmp);
                        both
                    };
                    let contrast = (high + 0.05) / (low + 0.05);
                    assert!(
                        contrast >= 4.5,
                        "{text} {text_colour} on {ground} {ground_colour}: {contrast:.2}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_policy_allows_this_style_and_this_script() {
        for (name, text, stated) in [("STYLE_HASH", STYLE, STYLE_HASH), ("SCRIPT_HASH", SCRIPT, SCRIPT_HASH)]
        {
            let hash = BASE64_STANDARD.encode(ring::digest::digest(&ring::digest::SHA256, text.as_bytes()));
            assert_eq!(stated, hash, "{name} in page.rs must be \"{hash}\"");
            assert!(!text.contains("</"), "it would end its element");
        }
    }
}
