//! Filled and hollow shapes, drawn into a picture. What lies outside of the picture is left out.

use image::{Rgb, RgbImage};

/// A rectangle by its upper left corner, which may lie outside of the picture, and its sides in pixels.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rectangle {
    pub(crate) left: i32,
    pub(crate) top: i32,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

pub(crate) fn fill_rectangle(picture: &mut RgbImage, rectangle: Rectangle, colour: Rgb<u8>) {
    let Rectangle { left, top, width, height } = rectangle;
    let across = within(left, width, picture.width());
    for y in within(top, height, picture.height()) {
        for x in across.clone() {
            picture.put_pixel(x, y, colour);
        }
    }
}

/// Draws the four sides of a rectangle, one pixel wide.
pub(crate) fn outline_rectangle(picture: &mut RgbImage, rectangle: Rectangle, colour: Rgb<u8>) {
    let Rectangle { left, top, width, height } = rectangle;
    // The last row and column; a rectangle without an area has none.
    let (Some(down), Some(across)) = (height.checked_sub(1), width.checked_sub(1)) else { return };
    for top in [top, top.saturating_add_unsigned(down)] {
        fill_rectangle(picture, Rectangle { top, height: 1, ..rectangle }, colour);
    }
    for left in [left, left.saturating_add_unsigned(across)] {
        fill_rectangle(picture, Rectangle { left, width: 1, ..rectangle }, colour);
    }
}

/// Fills an ellipse with this middle and these radii, of 0 or more pixels: each pixel whose middle lies in it.
pub(crate) fn fill_ellipse(
    picture: &mut RgbImage,
    (middle_x, middle_y): (i32, i32),
    [across, down]: [i32; 2],
    colour: Rgb<u8>,
) {
    for row in -down..=down {
        // How far the ellipse reaches to either side in this row; the middle is a pixel, hence the half.
        let share = f64::from(row) / (f64::from(down) + 0.5);
        let reach = ((f64::from(across) + 0.5) * (1.0 - share * share).max(0.0).sqrt()).floor() as i32;
        let left = middle_x.saturating_sub(reach);
        let line = Rectangle {
            left,
            top: middle_y.saturating_add(row),
            width: reach.unsigned_abs().saturating_mul(2).saturating_add(1),
            height: 1,
        };
        fill_rectangle(picture, line, colour);
    }
}

/// The part of `first..first + length` that lies in `0..limit`.
fn within(first: i32, length: u32, limit: u32) -> std::ops::Range<u32> {
    let end = first.saturating_add_unsigned(length).max(0).unsigned_abs().min(limit);
    first.max(0).unsigned_abs().min(end)..end
}

#[cfg(test)]
mod tests {
    use super::*;

    const INK: Rgb<u8> = Rgb([0, 0, 0]);

    /// What was drawn into a small white picture, row by row.
    fn drawn(draw: impl Fn(&mut RgbImage)) -> Vec<String> {
        let mut picture = RgbImage::from_pixel(7, 5, Rgb([255, 255, 255]));
        draw(&mut picture);
        let row = |y| (0..7).map(|x| if *picture.get_pixel(x, y) == INK { '#' } else { '.' }).collect();
        (0..5).map(row).collect()
    }

    #[test]
    fn shapes_have_their_pixels() {
        let rectangle = Rectangle { left: 1, top: 1, width: 4, height: 3 };
        assert_eq!(
            drawn(|picture| fill_rectangle(picture, rectangle, INK)),
            [".......", ".####..", ".####..", ".####..", "......."]
        );
        assert_eq!(
            drawn(|picture| outline_rectangle(picture, rectangle, INK)),
            [".......", ".####..", ".#..#..", ".####..", "......."]
        );
        assert_eq!(
            drawn(|picture| fill_ellipse(picture, (3, 2), [3, 2], INK)),
            [".#####.", "#######", "#######", "#######", ".#####."]
        );
        assert_eq!(
            drawn(|picture| fill_ellipse(picture, (3, 2), [0, 0], INK)),
            [".......", ".......", "...#...", ".......", "......."]
        );
    }

    #[test]
    fn what_lies_outside_is_left_out() {
        let corner = Rectangle { left: -2, top: -1, width: 4, height: 3 };
        assert_eq!(
            drawn(|picture| fill_rectangle(picture, corner, INK)),
            ["##.....", "##.....", ".......", ".......", "......."]
        );
        let everything = Rectangle { left: i32::MIN, top: i32::MIN, width: u32::MAX, height: u32::MAX };
        assert_eq!(drawn(|picture| fill_rectangle(picture, everything, INK)), vec!["#######"; 5]);
        for outside in [
            Rectangle { left: 7, top: 0, width: 3, height: 3 },
            Rectangle { left: 0, top: i32::MAX, width: 3, height: 3 },
            Rectangle { left: 1, top: 1, width: 0, height: 3 },
        ] {
            assert_eq!(drawn(|picture| fill_rectangle(picture, outside, INK)), vec!["......."; 5]);
            assert_eq!(drawn(|picture| outline_rectangle(picture, outside, INK)), vec!["......."; 5]);
        }
    }
}
