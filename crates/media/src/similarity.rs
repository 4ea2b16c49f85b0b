//! How similar two pictures are: structural similarity (Wang et al., 2004) of reduced copies, by colour.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use image::RgbImage;
use image::imageops::{FilterType, resize};
use planproof_trace::Attachment;

use crate::failure::Blame;
use crate::picture::decode;

/// The side of the reduced copies, in pixels. Both pictures become squares, so a change of the format alone costs
/// little.
const SIDE: u32 = 64;

/// The side of the windows that are compared, in pixels.
const WINDOW: u32 = 8;

/// The constants that keep the comparison of even windows stable: (0.01 L)² and (0.03 L)² for L = 255.
const STABILISERS: [f64; 2] = [6.5025, 58.5225];

/// How similar the small copies of two pictures are: 1 for equal ones, about 0 for pictures that have nothing in
/// common. It is a measure of our own: it compares where light and colours are, and knows nothing of what is shown.
/// `None` if one of them cannot be read.
pub fn similarity(one: &Attachment, other: &Attachment) -> Option<f64> {
    Some(likeness(&reduced(one)?, &reduced(other)?))
}

fn reduced(attachment: &Attachment) -> Option<RgbImage> {
    let bytes = BASE64_STANDARD.decode(attachment.base64()).ok()?;
    let picture = decode(&bytes, attachment.name(), Blame::Call).ok()?;
    Some(resize(&picture.pixels, SIDE, SIDE, FilterType::Triangle))
}

/// The mean over all windows and colours, of which negative ones, where light and dark are exchanged, count 0.
fn likeness(one: &RgbImage, other: &RgbImage) -> f64 {
    let mut sum = 0.0;
    let mut count = 0.0;
    for top in (0..SIDE).step_by(WINDOW as usize) {
        for left in (0..SIDE).step_by(WINDOW as usize) {
            for colour in 0..3 {
                sum += of_window(one, other, (left, top), colour).max(0.0);
                count += 1.0;
            }
        }
    }
    sum / count
}

fn of_window(one: &RgbImage, other: &RgbImage, (left, top): (u32, u32), colour: usize) -> f64 {
    let values = |picture: &RgbImage| {
        let places = (top..top + WINDOW).flat_map(|y| (left..left + WINDOW).map(move |x| (x, y)));
        places.map(|(x, y)| f64::from(picture.get_pixel(x, y).0[colour])).collect::<Vec<f64>>()
    };
    let (one, other) = (values(one), values(other));
    let size = one.len() as f64;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / size;
    let (mean_one, mean_other) = (mean(&one), mean(&other));
    let product = |a: &[f64], b: &[f64]| {
        let sum: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
        sum / size
    };
    let variance_one = product(&one, &one) - mean_one * mean_one;
    let variance_other = product(&other, &other) - mean_other * mean_other;
    let covariance = product(&one, &other) - mean_one * mean_other;
    let [light, contrast] = STABILISERS;
    let of_means = (2.0 * mean_one * mean_other + light) / (mean_one.powi(2) + mean_other.powi(2) + light);
    of_means * (2.0 * covariance + contrast) / (variance_one + variance_other + contrast)
}

#[cfg(test)]
mod tests {
    use image::Rgb;

    use super::*;
    use crate::picture::preview;

    fn drawn(colour: impl Fn(u32, u32) -> [u8; 3]) -> Attachment {
        let picture = RgbImage::from_fn(96, 64, |x, y| Rgb(colour(x, y)));
        preview("out-0.png", &picture).expect("a small copy")
    }

    fn spot(x: u32, y: u32, at: (u32, u32)) -> bool {
        x.abs_diff(at.0) < 12 && y.abs_diff(at.1) < 12
    }

    #[test]
    fn likeness_falls_with_what_differs() {
        let red = |at| drawn(move |x, y| if spot(x, y, at) { [200, 20, 20] } else { [240, 240, 230] });
        let whole = red((30, 30));
        let of = |other: &Attachment| similarity(&whole, other).expect("both can be read");
        assert!(of(&whole) > 0.999, "{}", of(&whole));
        let shifted = of(&red((34, 30)));
        let elsewhere = of(&red((80, 50)));
        let inverted = of(&drawn(|x, y| if spot(x, y, (30, 30)) { [55, 235, 235] } else { [15, 15, 25] }));
        let noise = of(&drawn(|x, y| [0, 1, 2].map(|c| ((x * 7919 + y * 104_729 + c * 31) % 251) as u8)));
        assert!(whole != red((34, 30)) && shifted < 0.98 && shifted > elsewhere, "{shifted} {elsewhere}");
        assert!(elsewhere > inverted && inverted < 0.2 && noise < 0.2, "{elsewhere} {inverted} {noise}");
        let grey = of(&drawn(|x, y| if spot(x, y, (30, 30)) { [74; 3] } else { [239; 3] }));
        assert!(grey < 0.99 && grey > inverted, "colours count: {grey}");
    }

    #[test]
    fn what_cannot_be_read_has_no_likeness() {
        let broken = Attachment::new("x", planproof_trace::PictureType::Jpeg, "AAAA").expect("base64");
        assert_eq!(similarity(&broken, &drawn(|_, _| [0; 3])), None);
    }
}
