//! Small pictures beside the results of tools.

use std::cell::Cell;

use maud::{Markup, html};
use planproof_trace::{Attachment, Attachments};

use super::parts::NAME_CHARACTERS_MAX;
use super::text::{Foreign, counted};

/// Maximum number of pictures shown of one trace.
const PICTURES_MAX: usize = 24;

/// How many more pictures of a trace may be shown.
pub(super) struct Room(Cell<usize>);

impl Room {
    /// The room for a whole trace.
    pub(super) fn of_trace() -> Self {
        Self(Cell::new(PICTURES_MAX))
    }

    /// The pictures of a result, as far as there is room for them. They are embedded in the page, because its
    /// policy allows pictures from nowhere else.
    pub(super) fn show(&self, attachments: &Attachments) -> Markup {
        let pictures = attachments.as_slice();
        if pictures.is_empty() {
            return Markup::default();
        }
        let shown = pictures.len().min(self.0.get());
        self.0.set(self.0.get() - shown);
        html! {
            div.pictures {
                @for picture in &pictures[..shown] { (figure(picture)) }
                @if let Some(more @ 1..) = pictures.len().checked_sub(shown) {
                    p.note { (counted(more as u64, "picture is", "pictures are")) " left out here." }
                }
            }
        }
    }
}

fn figure(picture: &Attachment) -> Markup {
    let name = Foreign::short(picture.name(), NAME_CHARACTERS_MAX);
    // The data can only consist of letters, digits and three other characters: see `Attachment`.
    let source = format!("data:{};base64,{}", picture.picture(), picture.base64());
    html! {
        figure {
            img src=(source) alt={ "The picture " (name) };
            figcaption { code { (name) } }
        }
    }
}
