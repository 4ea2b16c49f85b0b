//! The local tools for pictures and lists, which send no requests.

mod cropping;
mod faces;
mod highlighting;
mod selection;
mod tagging;

pub(crate) use cropping::{Half, crop, half};
pub use faces::FACE_NAMES;
pub(crate) use faces::emoji;
pub(crate) use highlighting::{Region, background_blur, color_pop};
pub(crate) use selection::select;
pub(crate) use tagging::tag;
