//! Pictures that the simulation makes.

use image::{Rgb, RgbImage};

use super::number_of;
use crate::shapes::{Rectangle, fill_ellipse, fill_rectangle, outline_rectangle};

/// Pixels along the sides of a picture that is made.
const SIDE: u32 = 256;
/// How many shapes are in it.
const SHAPES: u64 = 3;
/// Strong colours.
const COLOURS: [Rgb<u8>; 6] = [
    Rgb([220, 30, 40]),
    Rgb([250, 140, 0]),
    Rgb([30, 150, 50]),
    Rgb([30, 70, 210]),
    Rgb([130, 30, 200]),
    Rgb([240, 220, 20]),
];
/// How much of a picture stays when it is changed: parts of this whole.
const KEPT: u16 = 3;
const WHOLE: u16 = 4;

/// Shapes on a pale ground, determined by a hash of the text.
pub(super) fn draw(text: &str) -> RgbImage {
    let mut number = number_of(text.as_bytes());
    let mut draw = |below: u64| {
        number = number_of(&number.to_le_bytes());
        // Below 2^32 at every call.
        (number % below) as u32
    };
    let ground = Rgb([0, 1, 2].map(|_| 225 + draw(30) as u8));
    let mut picture = RgbImage::from_pixel(SIDE, SIDE, ground);
    let first = draw(COLOURS.len() as u64);
    for shape in 0..SHAPES as u32 {
        let colour = COLOURS[(first + shape) as usize % COLOURS.len()];
        let size = 20 + draw(24);
        // Each has a third of the picture for itself.
        let across = shape * SIDE / SHAPES as u32 + SIDE / 6;
        let down = size + draw(u64::from(SIDE - 2 * size));
        if draw(2) == 0 {
            let radius = size as i32 * 9 / 10;
            fill_ellipse(&mut picture, (across as i32, down as i32), [radius, radius], colour);
        } else {
            let (left, top) = (across as i32 - size as i32 * 9 / 10, down as i32 - size as i32);
            let rectangle = Rectangle { left, top, width: size * 9 / 5, height: size * 2 };
            fill_rectangle(&mut picture, rectangle, colour);
        }
    }
    picture
}

/// The picture with a tint and a frame, determined by a hash of the prompt.
pub(super) fn change(mut picture: RgbImage, prompt: &str) -> RgbImage {
    let colour = COLOURS[(number_of(prompt.as_bytes()) % COLOURS.len() as u64) as usize];
    for pixel in picture.pixels_mut() {
        for (part, tint) in pixel.0.iter_mut().zip(colour.0) {
            *part = ((u16::from(*part) * KEPT + u16::from(tint) * (WHOLE - KEPT)) / WHOLE) as u8;
        }
    }
    let (width, height) = picture.dimensions();
    outline_rectangle(&mut picture, Rectangle { left: 0, top: 0, width, height }, colour);
    picture
}
