//! Simple faces of our own, drawn over an object.

use image::{Rgb, RgbImage};

use crate::objects::Area;
use crate::shapes::{Rectangle, fill_ellipse, fill_rectangle};

/// The faces that are known; any other name is drawn as the first of them.
pub const FACE_NAMES: [&str; 10] = [
    "smiling_face",
    "grinning_face",
    "winking_face",
    "frowning_face",
    "crying_face",
    "angry_face",
    "astonished_face",
    "neutral_face",
    "smiling_face_with_sunglasses",
    "smiling_face_with_heart_eyes",
];

const SKIN: Rgb<u8> = Rgb([255, 204, 51]);
const ANGRY_SKIN: Rgb<u8> = Rgb([240, 110, 60]);
const INK: Rgb<u8> = Rgb([60, 40, 20]);
const TEETH: Rgb<u8> = Rgb([255, 255, 255]);
const HEART: Rgb<u8> = Rgb([220, 30, 60]);
const TEAR: Rgb<u8> = Rgb([70, 150, 240]);

/// How many dots a curved line is made of; at their width they touch.
const DOTS: u32 = 64;

#[derive(Clone, Copy)]
enum Eyes {
    Round,
    Wide,
    Wink,
    Glasses,
    Hearts,
}

#[derive(Clone, Copy)]
enum Mouth {
    Smile,
    Grin,
    Frown,
    Round,
    Straight,
}

/// A canvas whose unit is the radius of the face, with the middle of the face in its middle.
struct Canvas<'p> {
    picture: &'p mut RgbImage,
    middle: [f64; 2],
    radius: f64,
}

impl Canvas<'_> {
    fn place(&self, x: f64, y: f64) -> (i32, i32) {
        let [across, down] = self.middle;
        ((across + x * self.radius).round() as i32, (down + y * self.radius).round() as i32)
    }

    /// A length in pixels, at least one.
    fn length(&self, part: f64) -> i32 {
        (part * self.radius).round().max(1.0) as i32
    }

    fn disc(&mut self, x: f64, y: f64, radius: f64, colour: Rgb<u8>) {
        let (place, radius) = (self.place(x, y), self.length(radius));
        fill_ellipse(self.picture, place, [radius, radius], colour);
    }

    fn ellipse(&mut self, x: f64, y: f64, [across, down]: [f64; 2], colour: Rgb<u8>) {
        let (place, across, down) = (self.place(x, y), self.length(across), self.length(down));
        fill_ellipse(self.picture, place, [across, down], colour);
    }

    fn bar(&mut self, left: f64, top: f64, width: f64, height: f64, colour: Rgb<u8>) {
        let (left, top) = self.place(left, top);
        let [width, height] = [self.length(width), self.length(height)].map(i32::unsigned_abs);
        fill_rectangle(self.picture, Rectangle { left, top, width, height }, colour);
    }

    /// A curve through places that `at` gives for shares from 0 to 1.
    fn curve(&mut self, width: f64, colour: Rgb<u8>, at: impl Fn(f64) -> [f64; 2]) {
        for dot in 0..=DOTS {
            let [x, y] = at(f64::from(dot) / f64::from(DOTS));
            self.disc(x, y, width / 2.0, colour);
        }
    }
}

/// Draws the face of this name over the middle of the area: as wide as the smaller side of it.
pub(crate) fn emoji(picture: &mut RgbImage, area: Area, name: &str) {
    let plain: String =
        name.trim_matches([':', ' ']).chars().map(|c| if matches!(c, ' ' | '-') { '_' } else { c }).collect();
    let plain = plain.to_lowercase();
    let known = FACE_NAMES.into_iter().find(|it| *it == plain).unwrap_or(FACE_NAMES[0]);
    let (eyes, mouth) = match known {
        "grinning_face" => (Eyes::Round, Mouth::Grin),
        "winking_face" => (Eyes::Wink, Mouth::Smile),
        "frowning_face" | "crying_face" | "angry_face" => (Eyes::Round, Mouth::Frown),
        "astonished_face" => (Eyes::Wide, Mouth::Round),
        "neutral_face" => (Eyes::Round, Mouth::Straight),
        "smiling_face_with_sunglasses" => (Eyes::Glasses, Mouth::Smile),
        "smiling_face_with_heart_eyes" => (Eyes::Hearts, Mouth::Grin),
        _ => (Eyes::Round, Mouth::Smile),
    };
    let [left, top, width, height] = [area.left, area.top, area.width, area.height].map(f64::from);
    let middle = [left + width / 2.0, top + height / 2.0];
    let mut canvas = Canvas { picture, middle, radius: width.min(height) / 2.0 };
    canvas.disc(0.0, 0.0, 1.0, INK);
    canvas.disc(0.0, 0.0, 0.95, if known == "angry_face" { ANGRY_SKIN } else { SKIN });
    // The mouth first: what closes its upper half must not cover the eyes.
    draw_mouth(&mut canvas, mouth);
    draw_eyes(&mut canvas, eyes);
    if known == "crying_face" {
        canvas.ellipse(-0.42, 0.12, [0.1, 0.18], TEAR);
    }
    if known == "angry_face" {
        for side in [-1.0, 1.0] {
            canvas.curve(0.1, INK, |share| [side * (0.15 + 0.4 * share), -0.38 - 0.16 * share]);
        }
    }
}

fn draw_eyes(canvas: &mut Canvas<'_>, eyes: Eyes) {
    for side in [-1.0, 1.0] {
        let x = side * 0.36;
        match eyes {
            Eyes::Wink if side > 0.0 => canvas.curve(0.09, INK, |share| {
                let across = 2.0 * share - 1.0;
                [x + 0.17 * across, -0.2 - 0.08 * (1.0 - across * across)]
            }),
            Eyes::Round | Eyes::Wink => canvas.ellipse(x, -0.2, [0.11, 0.16], INK),
            Eyes::Wide => {
                canvas.disc(x, -0.22, 0.2, TEETH);
                canvas.disc(x, -0.22, 0.1, INK);
            }
            Eyes::Glasses => {
                canvas.ellipse(x, -0.2, [0.3, 0.2], INK);
                canvas.bar(-0.2, -0.28, 0.4, 0.08, INK);
            }
            Eyes::Hearts => {
                canvas.disc(x - 0.1, -0.26, 0.13, HEART);
                canvas.disc(x + 0.1, -0.26, 0.13, HEART);
                // The tip: discs that get smaller.
                for step in 0..8 {
                    let share = f64::from(step) / 8.0;
                    canvas.disc(x, -0.22 + 0.2 * share, 0.19 * (1.0 - share), HEART);
                }
            }
        }
    }
}

fn draw_mouth(canvas: &mut Canvas<'_>, mouth: Mouth) {
    let bow = |bend: f64| {
        move |share: f64| {
            let across = 2.0 * share - 1.0;
            [0.5 * across, 0.4 + bend * (0.5 - across * across)]
        }
    };
    match mouth {
        Mouth::Smile => canvas.curve(0.1, INK, bow(0.24)),
        Mouth::Frown => canvas.curve(0.1, INK, bow(-0.24)),
        Mouth::Straight => canvas.curve(0.1, INK, bow(0.0)),
        Mouth::Round => canvas.ellipse(0.0, 0.48, [0.17, 0.22], INK),
        Mouth::Grin => {
            canvas.ellipse(0.0, 0.34, [0.5, 0.36], INK);
            canvas.ellipse(0.0, 0.34, [0.42, 0.28], TEETH);
            // Only its lower half is open.
            canvas.bar(-0.55, -0.05, 1.1, 0.37, SKIN);
            canvas.bar(-0.5, 0.3, 1.0, 0.06, INK);
        }
    }
}
