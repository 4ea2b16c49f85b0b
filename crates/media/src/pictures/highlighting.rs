//! Makes an object stand out of its picture.

use image::imageops::{fast_blur, grayscale};
use image::{GrayImage, Rgb, RgbImage};

use crate::objects::Area;

/// How much the background is blurred: the standard deviation of the blur in pixels.
const BLUR_DEVIATION: f32 = 6.0;

/// The part of a picture that belongs to an object.
pub(crate) enum Region {
    Box(Area),
    /// The pixels of a mask, of the picture's size, that are not black.
    Mask(GrayImage),
}

impl Region {
    fn contains(&self, x: u32, y: u32) -> bool {
        match self {
            Self::Box(area) => area.contains(x, y),
            Self::Mask(mask) => mask.get_pixel_checked(x, y).is_some_and(|pixel| pixel.0 != [0]),
        }
    }
}

/// The picture with everything but the object blurred.
pub(crate) fn background_blur(picture: &RgbImage, object: &Region) -> RgbImage {
    restored(fast_blur(picture, BLUR_DEVIATION), picture, object)
}

/// The picture with everything but the object in shades of grey.
pub(crate) fn color_pop(picture: &RgbImage, object: &Region) -> RgbImage {
    let grey = grayscale(picture);
    let grey =
        RgbImage::from_fn(picture.width(), picture.height(), |x, y| Rgb([grey.get_pixel(x, y).0[0]; 3]));
    restored(grey, picture, object)
}

/// A changed picture with the object as it was.
fn restored(mut changed: RgbImage, picture: &RgbImage, object: &Region) -> RgbImage {
    for (x, y, pixel) in changed.enumerate_pixels_mut() {
        if object.contains(x, y) {
            *pixel = *picture.get_pixel(x, y);
        }
    }
    changed
}
