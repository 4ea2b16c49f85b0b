//! The simulation's answers in place of models.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use image::{DynamicImage, RgbImage};
use serde_json::{Value, json};

use super::form::Fields;
use super::regions::{Regions, plain_colour};
use super::{Answer, MODEL, Refusal, drawing, number_of};
use crate::failure::{Blame, ToolFailure};
use crate::picture::{decode, png};

/// How many words of a text are repeated.
const WORDS_SAID: usize = 12;
/// Colours that a caption names.
const COLOURS_NAMED: usize = 3;
/// Words that make a text a friendly one, or the reverse.
const FRIENDLY: [&str; 6] = ["good", "great", "happy", "love", "nice", "wonderful"];
const UNFRIENDLY: [&str; 6] = ["awful", "bad", "hate", "sad", "terrible", "worst"];

impl From<ToolFailure> for Refusal {
    fn from(failure: ToolFailure) -> Self {
        Self::bad(failure.message)
    }
}

/// A chat answer: for a picture its size and main colours, for a text its beginning, for a question about a sentiment
/// the one that a few words indicate.
pub(super) fn chat(request: &Value) -> Answer {
    let messages = request["messages"].as_array().ok_or_else(|| Refusal::bad("`messages` is missing"))?;
    let content = messages.last().map(|message| &message["content"]).unwrap_or(&Value::Null);
    let said = match content {
        Value::String(text) => about_text(text),
        Value::Array(parts) => {
            let url = parts.iter().find_map(|part| part["image_url"]["url"].as_str());
            let url = url.ok_or_else(|| Refusal::bad("there is no picture in the message"))?;
            let data =
                url.split_once(";base64,").ok_or_else(|| Refusal::bad("the picture is no data URL"))?.1;
            about_picture(&picture(data)?)
        }
        _ => return Err(Refusal::bad("the message has no content")),
    };
    Ok(json!({
        "object": "chat.completion",
        "model": MODEL,
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": said }, "finish_reason": "stop" }],
    }))
}

fn about_text(text: &str) -> String {
    let is_in = |words: &[&str]| {
        let lower = text.to_lowercase();
        words.iter().any(|word| lower.split(|c: char| !c.is_alphanumeric()).any(|it| it == *word))
    };
    if text.starts_with("Is the sentiment") {
        return match (is_in(&FRIENDLY), is_in(&UNFRIENDLY)) {
            (true, false) => "positive",
            (false, true) => "negative",
            _ => "neutral",
        }
        .to_owned();
    }
    // Our instructions end with an empty line; the text follows it.
    let own = text.split_once("\n\n").map_or(text, |(_, own)| own);
    own.split_whitespace().take(WORDS_SAID).collect::<Vec<_>>().join(" ")
}

fn about_picture(picture: &RgbImage) -> String {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for pixel in picture.pixels() {
        *counts.entry(plain_colour(*pixel)).or_default() += 1;
    }
    let mut colours: Vec<(&str, u64)> = counts.into_iter().collect();
    colours.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    let named: Vec<&str> = colours.into_iter().take(COLOURS_NAMED).map(|(name, _)| name).collect();
    let (width, height) = picture.dimensions();
    format!("a picture of {width} x {height} pixels, mainly {}", named.join(", "))
}

/// A picture after the text.
pub(super) fn generate(request: &Value) -> Answer {
    let prompt = request["prompt"].as_str().ok_or_else(|| Refusal::bad("`prompt` is missing"))?;
    let model = request["model"].as_str().unwrap_or_default();
    made(&drawing::draw(&format!("{model}\n{prompt}")))
}

/// The picture with a tint and a frame.
pub(super) fn edit(fields: &Fields) -> Answer {
    let prompt = fields.get("prompt").ok_or_else(|| Refusal::bad("`prompt` is missing"))?;
    let image = fields.get("image").ok_or_else(|| Refusal::bad("`image` is missing"))?;
    let picture = decode(image, "`image`", Blame::Call)?.pixels;
    made(&drawing::change(picture, &String::from_utf8_lossy(prompt)))
}

fn made(picture: &RgbImage) -> Answer {
    Ok(json!({ "created": 0, "data": [{ "b64_json": BASE64_STANDARD.encode(png(picture)?) }] }))
}

/// How many bytes the sound has, and a number made of them.
pub(super) fn transcribe(fields: &Fields) -> Answer {
    let file = fields.get("file").ok_or_else(|| Refusal::bad("`file` is missing"))?;
    let number = number_of(file) % 10_000;
    Ok(json!({ "text": format!("a recording of {} bytes with the number {number}", file.len()) }))
}

/// Areas of strong colours, with masks if they are wanted.
pub(super) fn detect(request: &Value, with_masks: bool) -> Answer {
    let image = request["image"].as_str().ok_or_else(|| Refusal::bad("`image` is missing"))?;
    let picture = picture(image)?;
    let regions = Regions::of(&picture);
    let objects = regions.found.iter().map(|area| {
        let [left, top, right, bottom] = area.edges;
        let box_pixels = u64::from(right - left) * u64::from(bottom - top);
        // How much of its box it fills, in hundredths.
        let score = (100 * area.pixels / box_pixels.max(1)) as f64 / 100.0;
        let mut object =
            json!({ "label": format!("{} area", area.colour), "bbox": area.edges, "score": score });
        if with_masks {
            let mask = DynamicImage::ImageLuma8(regions.mask(area)).into_rgb8();
            object["mask"] = BASE64_STANDARD.encode(png(&mask)?).into();
        }
        Ok(object)
    });
    let objects: Vec<Value> = objects.collect::<Result<_, ToolFailure>>()?;
    Ok(json!({ "objects": objects }))
}

fn picture(data: &str) -> Result<RgbImage, Refusal> {
    let bytes = BASE64_STANDARD.decode(data).map_err(|error| Refusal::bad(error.to_string()))?;
    Ok(decode(&bytes, "the picture", Blame::Call)?.pixels)
}
