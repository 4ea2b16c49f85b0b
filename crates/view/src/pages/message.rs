//! A page that says why there is no other.

use axum::http::StatusCode;
use maud::{Markup, html};
use planproof_report::html::fragments::{Foreign, top};

use super::frame::{PAGE, TEXT_CHARACTERS_MAX};
use crate::site::Fault;

/// The page. `home` is the address of the list, for whoever may see it.
pub(crate) fn page(fault: &Fault, home: Option<&str>) -> Markup {
    let title = match fault.status {
        StatusCode::NOT_FOUND => "no such page".to_owned(),
        status => status.canonical_reason().unwrap_or("an error").to_lowercase(),
    };
    html! {
        (PAGE.begin(&format!("planproof: {title}")))
        header { (top("campaigns")) h1 { (fault.status.as_u16()) } }
        main {
            p.banner role="alert" { (Foreign::short(&fault.what, TEXT_CHARACTERS_MAX)) }
            @if let Some(home) = home { p.back { a href=(home) { "All campaigns" } } }
        }
        (PAGE.end("This server shows run stores of planproof, and changes nothing."))
    }
}
