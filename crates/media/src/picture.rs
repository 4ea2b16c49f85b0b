//! Reading arbitrary pictures, and writing our own.

use std::io::Cursor;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType as PngFilter, PngEncoder};
use image::{
    DynamicImage, ImageDecoder as _, ImageEncoder as _, ImageError, ImageFormat, ImageReader, Limits,
    RgbImage,
};
use planproof_trace::{ATTACHMENT_BYTES_MAX, Attachment, PictureType};

use crate::failure::{Blame, ToolFailure};

/// Most bytes of a file with a picture.
pub const PICTURE_BYTES_MAX: usize = 20 << 20;
/// Most pixels along one side.
pub const SIDE_MAX: u32 = 16_384;
/// Most pixels of a picture.
pub const PIXELS_MAX: u64 = 40_000_000;
/// Most bytes that decoding may take, the decoded picture included.
pub const DECODE_BYTES_MAX: u64 = 384 << 20;
/// Longest side of the small copy that goes into the trace, in pixels.
pub const PREVIEW_SIDE_MAX: u32 = 320;
/// The qualities that are tried for the small copy, until it is small enough for an attachment.
const PREVIEW_QUALITIES: [u8; 3] = [85, 60, 30];

/// A picture whose file was read.
pub(crate) struct Picture {
    /// Its pixels; transparent ones are made opaque.
    pub(crate) pixels: RgbImage,
    /// What kind of file it is of.
    pub(crate) format: PictureType,
}

/// Reads a picture. `what` names it in messages; an invalid one is the fault of `fault`.
pub(crate) fn decode(bytes: &[u8], what: &str, fault: Blame) -> Result<Picture, ToolFailure> {
    let refuse = |why: String| ToolFailure { fault, message: format!("{what} {why}") };
    if bytes.len() > PICTURE_BYTES_MAX {
        return Err(refuse(format!(
            "has {} bytes; a picture may have {PICTURE_BYTES_MAX}: give a smaller one",
            bytes.len()
        )));
    }
    let format = match image::guess_format(bytes) {
        Ok(ImageFormat::Png) => PictureType::Png,
        Ok(ImageFormat::Jpeg) => PictureType::Jpeg,
        Ok(_) | Err(_) => {
            return Err(refuse("is no picture that can be read: give a PNG or JPEG file".to_owned()));
        }
    };
    let corrupt = |error: ImageError| {
        let why = match &error {
            ImageError::Limits(_) => {
                format!("needs more memory than {DECODE_BYTES_MAX} bytes: give a smaller one")
            }
            _ => format!("is a corrupt picture ({error}): give one that can be opened"),
        };
        refuse(why)
    };
    let mut reader = ImageReader::new(Cursor::new(bytes));
    reader.set_format(match format {
        PictureType::Png => ImageFormat::Png,
        PictureType::Jpeg => ImageFormat::Jpeg,
    });
    let mut limits = Limits::default();
    limits.max_alloc = Some(DECODE_BYTES_MAX);
    reader.limits(limits.clone());
    let mut decoder = reader.into_decoder().map_err(corrupt)?;
    // The size comes from the header, so nothing large is allocated before it has been checked.
    let (width, height) = decoder.dimensions();
    if width == 0 || height == 0 {
        return Err(refuse("has no pixels: give another one".to_owned()));
    }
    if width > SIDE_MAX || height > SIDE_MAX || u64::from(width) * u64::from(height) > PIXELS_MAX {
        return Err(refuse(format!(
            "is {width} x {height}; a picture may have {SIDE_MAX} pixels along a side and {PIXELS_MAX} in all: give a \
             smaller one"
        )));
    }
    // The decoded picture counts against the limit of the decoder, too.
    limits.reserve(decoder.total_bytes()).map_err(corrupt)?;
    decoder.set_limits(limits).map_err(corrupt)?;
    let pixels = DynamicImage::from_decoder(decoder).map_err(corrupt)?.into_rgb8();
    Ok(Picture { pixels, format })
}

/// The file of a picture: a PNG, the same bytes for the same pixels.
pub(crate) fn png(pixels: &RgbImage) -> Result<Vec<u8>, ToolFailure> {
    let mut bytes = Vec::new();
    let encoder = PngEncoder::new_with_quality(&mut bytes, CompressionType::Fast, PngFilter::Adaptive);
    let (width, height) = pixels.dimensions();
    let written = encoder.write_image(pixels, width, height, image::ExtendedColorType::Rgb8);
    written.map_err(|error| ToolFailure::world(format!("a picture could not be encoded: {error}")))?;
    Ok(bytes)
}

/// A small copy of a picture, for the trace. `None` if no quality makes it small enough.
pub(crate) fn preview(name: &str, pixels: &RgbImage) -> Option<Attachment> {
    let (width, height) = pixels.dimensions();
    let longest = width.max(height);
    let small;
    let pixels = if longest > PREVIEW_SIDE_MAX {
        // Neither side becomes zero, however narrow the picture is.
        let scaled = |side: u32| {
            let scaled = u64::from(side) * u64::from(PREVIEW_SIDE_MAX) / u64::from(longest);
            u32::try_from(scaled).unwrap_or(PREVIEW_SIDE_MAX).max(1)
        };
        small = image::imageops::thumbnail(pixels, scaled(width), scaled(height));
        &small
    } else {
        pixels
    };
    PREVIEW_QUALITIES.into_iter().find_map(|quality| {
        let mut bytes = Vec::new();
        JpegEncoder::new_with_quality(&mut bytes, quality).encode_image(pixels).ok()?;
        let is_small = bytes.len() <= ATTACHMENT_BYTES_MAX;
        is_small
            .then(|| Attachment::new(name, PictureType::Jpeg, &BASE64_STANDARD.encode(&bytes)).ok())
            .flatten()
    })
}
