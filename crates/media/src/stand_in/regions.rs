//! Areas of strong colours, which is all that the simulation sees in a picture.

use std::collections::BTreeMap;

use image::{GrayImage, ImageBuffer, Luma, Rgb, RgbImage};

/// Colours by the hue at which they end, in degrees.
const HUES: [(f32, &str); 8] = [
    (15.0, "red"),
    (45.0, "orange"),
    (70.0, "yellow"),
    (165.0, "green"),
    (200.0, "cyan"),
    (255.0, "blue"),
    (290.0, "purple"),
    (345.0, "pink"),
];
/// How saturated and how bright a colour has to be to count as strong, from 0 to 1.
const SATURATION_MIN: f32 = 0.5;
const BRIGHTNESS_MIN: f32 = 0.35;
/// Fewest pixels of an area, and the fewest as a share of the picture, one in so many.
const PIXELS_MIN: u64 = 16;
const SHARE_MIN: u64 = 1000;
/// Most areas that are returned.
const AREAS_MAX: usize = 20;

/// For each pixel the number of its area, or 0.
type Labels = ImageBuffer<Luma<u32>, Vec<u32>>;

/// An area of one colour.
pub(super) struct Found {
    pub(super) colour: &'static str,
    /// Left, top, right and bottom, the latter two one past the last pixel.
    pub(super) edges: [u32; 4],
    pub(super) pixels: u64,
    label: u32,
}

/// What was found, with what it takes to draw masks.
pub(super) struct Regions {
    pub(super) found: Vec<Found>,
    labels: Labels,
}

impl Regions {
    /// The biggest areas, the biggest first.
    pub(super) fn of(picture: &RgbImage) -> Self {
        let (width, height) = picture.dimensions();
        let colours = GrayImage::from_fn(width, height, |x, y| {
            Luma([strong_colour(*picture.get_pixel(x, y)).unwrap_or(0)])
        });
        let labels = connected(&colours);
        let mut found: BTreeMap<u32, Found> = BTreeMap::new();
        for (x, y, label) in labels.enumerate_pixels().filter(|(_, _, label)| label.0 != [0]) {
            let area = found.entry(label.0[0]).or_insert_with(|| Found {
                colour: HUES[usize::from(colours.get_pixel(x, y).0[0] - 1) % HUES.len()].1,
                edges: [x, y, x + 1, y + 1],
                pixels: 0,
                label: label.0[0],
            });
            let [left, top, right, bottom] = area.edges;
            area.edges = [left.min(x), top.min(y), right.max(x + 1), bottom.max(y + 1)];
            area.pixels += 1;
        }
        let fewest = PIXELS_MIN.max(u64::from(width) * u64::from(height) / SHARE_MIN);
        let mut found: Vec<Found> = found.into_values().filter(|area| area.pixels >= fewest).collect();
        // Ties are broken by the edges, so that the order is always the same.
        found.sort_by_key(|area| (std::cmp::Reverse(area.pixels), area.edges));
        found.truncate(AREAS_MAX);
        Self { found, labels }
    }

    /// White where the area is, black elsewhere.
    pub(super) fn mask(&self, area: &Found) -> GrayImage {
        let (width, height) = self.labels.dimensions();
        GrayImage::from_fn(width, height, |x, y| {
            Luma([if self.labels.get_pixel(x, y).0[0] == area.label { u8::MAX } else { 0 }])
        })
    }
}

/// Numbers the areas of equal values other than 0, from 1. Pixels that touch at a corner belong together.
fn connected(colours: &GrayImage) -> Labels {
    let (width, height) = colours.dimensions();
    let mut labels = Labels::new(width, height);
    let mut areas = 0;
    let mut open = Vec::new();
    for (x, y, colour) in colours.enumerate_pixels() {
        if colour.0 == [0] || labels.get_pixel(x, y).0 != [0] {
            continue;
        }
        areas += 1;
        labels.put_pixel(x, y, Luma([areas]));
        open.push((x, y));
        while let Some((x, y)) = open.pop() {
            for y in y.saturating_sub(1)..(y + 2).min(height) {
                for x in x.saturating_sub(1)..(x + 2).min(width) {
                    // Numbered when it is found, so that no pixel is ever open twice.
                    if colours.get_pixel(x, y) == colour && labels.get_pixel(x, y).0 == [0] {
                        labels.put_pixel(x, y, Luma([areas]));
                        open.push((x, y));
                    }
                }
            }
        }
    }
    labels
}

/// The place of a strong colour among [`HUES`], from 1.
fn strong_colour(Rgb(parts): Rgb<u8>) -> Option<u8> {
    let [red, green, blue] = parts.map(|part| f32::from(part) / 255.0);
    let (most, least) = (red.max(green).max(blue), red.min(green).min(blue));
    let spread = most - least;
    if most < BRIGHTNESS_MIN || spread < SATURATION_MIN * most {
        return None;
    }
    // Shades of grey were left out above, so `spread` is not 0.
    let sixth = if most == red {
        ((green - blue) / spread).rem_euclid(6.0)
    } else if most == green {
        (blue - red) / spread + 2.0
    } else {
        (red - green) / spread + 4.0
    };
    let hue = sixth * 60.0;
    // Beyond the last one it is red again.
    let place = HUES.iter().position(|(end, _)| hue < *end).unwrap_or(0);
    u8::try_from(place + 1).ok()
}

/// The name of a colour, strong or not, as a caption has it.
pub(super) fn plain_colour(pixel: Rgb<u8>) -> &'static str {
    match strong_colour(pixel) {
        Some(place) => HUES[usize::from(place - 1) % HUES.len()].1,
        None => match pixel.0.iter().map(|part| u32::from(*part)).sum::<u32>() / 3 {
            0..=63 => "black",
            64..=191 => "grey",
            _ => "white",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_of_strong_colours_are_found_with_their_edges() {
        let mut picture = RgbImage::from_pixel(60, 40, Rgb([230, 230, 225]));
        for (x, y, pixel) in picture.enumerate_pixels_mut() {
            match (x, y) {
                (5..25, 10..30) => *pixel = Rgb([220, 20, 30]),
                (40..50, 5..10) => *pixel = Rgb([20, 40, 200]),
                (58, 38) => *pixel = Rgb([0, 255, 0]),
                // Two that touch at a corner.
                (30..34, 30..34) | (34..38, 34..38) => *pixel = Rgb([0, 160, 30]),
                _ => {}
            }
        }
        let regions = Regions::of(&picture);
        let found: Vec<_> = regions.found.iter().map(|it| (it.colour, it.edges, it.pixels)).collect();
        let green = ("green", [30, 30, 38, 38], 32);
        assert_eq!(found, [("red", [5, 10, 25, 30], 400), ("blue", [40, 5, 50, 10], 50), green]);
        let mask = regions.mask(&regions.found[1]);
        assert_eq!(mask.pixels().filter(|pixel| pixel.0 == [255]).count(), 50);
        assert_eq!(mask.get_pixel(40, 5).0, [255]);
    }

    #[test]
    fn colours_have_names() {
        for (pixel, name) in [
            ([255, 0, 0], "red"),
            ([255, 0, 40], "red"),
            ([255, 140, 0], "orange"),
            ([250, 240, 0], "yellow"),
            ([0, 160, 30], "green"),
            ([0, 220, 240], "cyan"),
            ([10, 20, 240], "blue"),
            ([130, 0, 220], "purple"),
            ([240, 20, 180], "pink"),
            ([10, 10, 10], "black"),
            ([120, 110, 130], "grey"),
            ([250, 250, 240], "white"),
        ] {
            assert_eq!(plain_colour(Rgb(pixel)), name, "{pixel:?}");
        }
    }
}
