//! A server that finds things in pictures. The request is our own; docs/media.md describes it.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use image::{DynamicImage, GrayImage};
use planproof_trace::PictureType;
use serde::Deserialize;
use serde_json::{Number, json};

use super::Servers;
use crate::client::{Ask, Client, PICTURE_ANSWER_BYTES_MAX};
use crate::failure::{Blame, ToolFailure};
use crate::picture::decode;
use crate::settings::Service;

/// Most objects that may be found in a picture.
pub const DETECTED_MAX: usize = 200;
/// Most characters of a label.
pub const LABEL_CHARACTERS_MAX: usize = 200;

/// A thing that was found.
pub(crate) struct Detected {
    pub(crate) label: String,
    /// Left, top, right, bottom in pixels, as the server wrote them.
    pub(crate) numbers: [Number; 4],
    pub(crate) score: Option<Number>,
    /// Its pixels; a mask of the picture's size.
    pub(crate) mask: Option<GrayImage>,
}

#[derive(Deserialize)]
struct Answer {
    objects: Vec<Found>,
}

#[derive(Deserialize)]
struct Found {
    label: String,
    bbox: [Number; 4],
    #[serde(default)]
    score: Option<Number>,
    #[serde(default)]
    mask: Option<String>,
}

/// The objects found in a picture of this size, at `path` of the server. Masks are read if they are requested.
pub(crate) async fn look(
    servers: &Servers,
    path: &str,
    (bytes, kind): (&[u8], PictureType),
    size: (u32, u32),
    with_masks: bool,
) -> Result<Vec<Detected>, ToolFailure> {
    let client = servers.client(Service::Vision)?;
    let mut body = json!({ "image": BASE64_STANDARD.encode(bytes), "media_type": kind.as_str() });
    let model = servers.model(Service::Vision);
    if !model.is_empty() {
        body["model"] = model.into();
    }
    let answer: Answer = client.ask(&Ask::json(path, &body, PICTURE_ANSWER_BYTES_MAX)).await?;
    if answer.objects.len() > DETECTED_MAX {
        let count = answer.objects.len();
        return Err(client.nonsense(&format!("it has {count} objects; {DETECTED_MAX} are allowed")));
    }
    answer.objects.into_iter().map(|found| checked(client, found, size, with_masks)).collect()
}

fn checked(
    client: &Client,
    found: Found,
    size: (u32, u32),
    with_masks: bool,
) -> Result<Detected, ToolFailure> {
    let Found { label, bbox: numbers, score, mask } = found;
    if label.trim().is_empty() || label.chars().count() > LABEL_CHARACTERS_MAX {
        return Err(client.nonsense(&format!("a label has to have 1 to {LABEL_CHARACTERS_MAX} characters")));
    }
    let [left, top, right, bottom] = numbers.each_ref().map(|number| number.as_f64().unwrap_or(f64::NAN));
    // Negated as a whole, so that a box with a NaN is refused as well.
    if !(left < right && top < bottom) {
        return Err(client.nonsense(&format!(
            "the box [{}, {}, {}, {}] is not [left, top, right, bottom]",
            numbers[0], numbers[1], numbers[2], numbers[3]
        )));
    }
    // A mask that was not requested is not even decoded.
    let mask = match mask.filter(|_| with_masks) {
        None => None,
        Some(mask) => {
            let bytes =
                BASE64_STANDARD.decode(mask).map_err(|error| client.nonsense(&format!("a mask: {error}")))?;
            let mask =
                decode(&bytes, "a mask that the server of `media.vision.url` made", Blame::World)?.pixels;
            if mask.dimensions() != size {
                return Err(client.nonsense("a mask has not the size of the picture"));
            }
            Some(DynamicImage::ImageRgb8(mask).into_luma8())
        }
    };
    Ok(Detected { label, numbers, score, mask })
}
