//! The frame of every page: one file that asks for nothing else.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::text::Foreign;

/// The style of all pages.
pub(super) const STYLE: &str = include_str!("../../assets/report.css");
/// Filter, pages and theme. All there is to read can be read without it.
pub(super) const SCRIPT: &str = include_str!("../../assets/report.js");

/// SHA-256 of [`STYLE`] and of [`SCRIPT`] in base64: nothing else may style the page or run in it, whatever a task or
/// an answer might hold. A test says what to write here.
const STYLE_HASH: &str = "/2I08O53yQUiOO+ap1rqQNU3EwgT0VdE/mAs8D9dQFA=";
const SCRIPT_HASH: &str = "TwFnPIC2PkxtT+WC0asEbk8/Nj7hVjnQ3eCem2sehZM=";

/// All of a page up to its main part. The policy comes before anything it applies to.
pub(super) fn begin(title: &str) -> Markup {
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{STYLE_HASH}'; script-src 'sha256-{SCRIPT_HASH}'; base-uri 'none'; \
         form-action 'none'"
    );
    html! {
        (DOCTYPE)
        // The elements are closed by `end`: what lies between is written piece by piece.
        (PreEscaped("<html lang=\"en\">"))
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(policy);
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            meta name="generator" content=(concat!("planproof ", env!("CARGO_PKG_VERSION")));
            title { (Foreign::short(title, super::NAME_CHARACTERS_MAX)) }
            style { (PreEscaped(STYLE)) }
        }
        (PreEscaped("<body>"))
    }
}

/// What [`begin`] leaves open.
pub(super) fn end() -> Markup {
    html! {
        footer {
            p { "Written by planproof " (env!("CARGO_PKG_VERSION")) ". The file needs nothing but itself." }
        }
        script { (PreEscaped(SCRIPT)) }
        (PreEscaped("</body></html>\n"))
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD;

    use super::*;

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
