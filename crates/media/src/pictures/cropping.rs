//! Parts of pictures.

use image::RgbImage;
use image::imageops::crop_imm;

use crate::failure::ToolFailure;
use crate::objects::Area;

/// Which half of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Half {
    Left,
    Right,
    Top,
    Bottom,
}

/// The part of a picture.
pub(crate) fn crop(picture: &RgbImage, area: Area) -> RgbImage {
    crop_imm(picture, area.left, area.top, area.width, area.height).to_image()
}

/// Half of a picture: up to, or from, the middle, which is half the side, rounded down. The published tools use `side
/// - 1` as the far edges, so the last column or row is in no half; neither is it here.
pub(crate) fn half(picture: &RgbImage, half: Half) -> Result<RgbImage, ToolFailure> {
    let (width, height) = picture.dimensions();
    let (right, bottom) = (width - 1, height - 1);
    let (across, down) = (width / 2, height / 2);
    let (left, top, right, bottom) = match half {
        Half::Left => (0, 0, across, bottom),
        Half::Right => (across, 0, right, bottom),
        Half::Top => (0, 0, right, down),
        Half::Bottom => (0, down, right, bottom),
    };
    if left >= right || top >= bottom {
        return Err(ToolFailure::call(format!(
            "the picture is {width} x {height}, and nothing is left of such a half: give a bigger picture"
        )));
    }
    Ok(crop(picture, Area { left, top, width: right - left, height: bottom - top }))
}

#[cfg(test)]
mod tests {
    use image::Rgb;

    use super::*;

    /// Each pixel says where it is.
    fn picture(width: u32, height: u32) -> RgbImage {
        RgbImage::from_fn(width, height, |x, y| Rgb([x as u8, y as u8, 0]))
    }

    #[test]
    fn halves_are_divided_without_remainder_and_end_one_before_the_far_edge() {
        for ((width, height), which, first, size) in [
            ((9, 7), Half::Left, [0, 0], (4, 6)),
            ((9, 7), Half::Right, [4, 0], (4, 6)),
            ((9, 7), Half::Top, [0, 0], (8, 3)),
            ((9, 7), Half::Bottom, [0, 3], (8, 3)),
            ((10, 4), Half::Left, [0, 0], (5, 3)),
            ((10, 4), Half::Right, [5, 0], (4, 3)),
        ] {
            let found = half(&picture(width, height), which).expect("big enough");
            let [x, y, _] = found.get_pixel(0, 0).0;
            assert_eq!(([x, y], found.dimensions()), (first, size), "{which:?} of {width} x {height}");
        }
        for (width, height) in [(1, 1), (1, 9), (9, 1)] {
            for which in [Half::Left, Half::Right, Half::Top, Half::Bottom] {
                half(&picture(width, height), which).expect_err("too small");
            }
        }
    }
}
