//! Boxes and labels around objects.

use font8x8::UnicodeFonts as _;
use image::{Rgb, RgbImage};
use serde_json::Value;

use crate::objects::{Area, area_of, box_of, label_of};
use crate::shapes::{Rectangle, fill_rectangle, outline_rectangle};

/// Most characters of a label that are drawn.
const LABEL_CHARACTERS_MAX: usize = 40;
/// Pixels of a character in the font, across and down.
const FONT_SIDE: u32 = 8;
/// Smallest and biggest size of the writing, as a multiple of the font's.
const SCALES: [u32; 2] = [1, 12];
/// How many of the font's characters stand side by side in a picture, about.
const CHARACTERS_ACROSS: u32 = 40;

/// Colours of boxes, one after the other. All are dark enough for white writing.
const COLOURS: [Rgb<u8>; 6] = [
    Rgb([200, 30, 30]),
    Rgb([20, 110, 40]),
    Rgb([30, 60, 190]),
    Rgb([140, 40, 150]),
    Rgb([160, 85, 0]),
    Rgb([0, 110, 120]),
];
const WRITING: Rgb<u8> = Rgb([255, 255, 255]);

/// Draws a box around each object that has one, with its label. Returns how many were drawn.
pub(crate) fn tag(picture: &mut RgbImage, objects: &[Value]) -> usize {
    let (width, height) = picture.dimensions();
    let [smallest, biggest] = SCALES;
    let scale = (width / (CHARACTERS_ACROSS * FONT_SIDE)).clamp(smallest, biggest);
    let mut count = 0;
    for (number, object) in objects.iter().enumerate() {
        let Some(object) = object.as_object() else { continue };
        let Some(Ok(area)) = box_of(object).map(|numbers| area_of(numbers, width, height)) else { continue };
        let colour = COLOURS[number % COLOURS.len()];
        outline(picture, area, scale, colour);
        if let Some(label) = label_of(object) {
            write(picture, area, label, scale, colour);
        }
        count += 1;
    }
    count
}

/// A frame of as many pixels as the writing's scale, inside of the area.
fn outline(picture: &mut RgbImage, area: Area, scale: u32, colour: Rgb<u8>) {
    let Area { left, top, width, height } = area;
    for inset in 0..scale {
        // A small box may have no room for the whole frame.
        let (Some(width), Some(height)) = (width.checked_sub(2 * inset), height.checked_sub(2 * inset))
        else {
            return;
        };
        if width == 0 || height == 0 {
            return;
        }
        outline_rectangle(picture, rect(left + inset, top + inset, width, height), colour);
    }
}

/// The label in white on the colour of its box, above the box, or inside if there is no room above. At the right edge
/// it moves to the left, as far as there is room.
fn write(picture: &mut RgbImage, area: Area, label: &str, scale: u32, colour: Rgb<u8>) {
    let side = FONT_SIDE * scale;
    let drawn = |c: char| font8x8::BASIC_FONTS.get(c).or_else(|| font8x8::LATIN_FONTS.get(c));
    let label: Vec<char> = label.chars().filter(|c| !c.is_control()).take(LABEL_CHARACTERS_MAX).collect();
    let Some(across) = u32::try_from(label.len()).ok().filter(|count| *count > 0) else { return };
    let margin = scale;
    let top = area.top.saturating_sub(side + 2 * margin);
    let width = across * side + 2 * margin;
    let left = area.left.min(picture.width().saturating_sub(width));
    fill_rectangle(picture, rect(left, top, width, side + 2 * margin), colour);
    for (place, c) in label.into_iter().enumerate() {
        let Some(rows) = drawn(c).or_else(|| drawn('?')) else { continue };
        // At most 40 characters, so the place fits.
        let left = left + margin + place as u32 * side;
        for (y, row) in rows.into_iter().enumerate() {
            // The lowest bit of a row is its leftmost dot.
            for x in (0..FONT_SIDE).filter(|x| row & (1 << x) != 0) {
                let dot = rect(left + x * scale, top + margin + y as u32 * scale, scale, scale);
                fill_rectangle(picture, dot, WRITING);
            }
        }
    }
}

/// A rectangle; places in a picture are far below what the type holds.
fn rect(left: u32, top: u32, width: u32, height: u32) -> Rectangle {
    Rectangle { left: left as i32, top: top as i32, width, height }
}
