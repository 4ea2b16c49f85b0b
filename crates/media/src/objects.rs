//! Objects in a picture: the results of detection, and the input of picture tools.

use serde_json::{Map, Value};

use crate::failure::ToolFailure;

/// A rectangle of whole pixels within a picture, never empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Area {
    pub(crate) left: u32,
    pub(crate) top: u32,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl Area {
    pub(crate) fn contains(&self, x: u32, y: u32) -> bool {
        (self.left..self.left + self.width).contains(&x) && (self.top..self.top + self.height).contains(&y)
    }
}

/// The four numbers of an object's `bbox`: left, top, right, bottom. `None` if there is none, as in the empty object
/// that `select object` returns if nothing fits.
pub(crate) fn box_of(object: &Map<String, Value>) -> Option<[f64; 4]> {
    let Some(Value::Array(numbers)) = object.get("bbox") else { return None };
    let numbers: Option<Vec<f64>> = numbers.iter().map(Value::as_f64).collect();
    numbers?.try_into().ok()
}

/// The name of an object's mask, a picture of the run.
pub(crate) fn mask_of(object: &Map<String, Value>) -> Option<&str> {
    object.get("mask").and_then(Value::as_str)
}

/// The label of an object.
pub(crate) fn label_of(object: &Map<String, Value>) -> Option<&str> {
    object.get("label").and_then(Value::as_str)
}

/// The pixels that a box covers in a picture of this size. A box whose four numbers are all below 1 is in fractions
/// of the picture's width and height; anything outside of the picture is ignored.
pub(crate) fn area_of(numbers: [f64; 4], width: u32, height: u32) -> Result<Area, ToolFailure> {
    let is_fractional = numbers.iter().all(|number| *number < 1.0);
    let [across, down] = if is_fractional { [f64::from(width), f64::from(height)] } else { [1.0, 1.0] };
    let [left, top, right, bottom] = numbers;
    // Within the picture every number fits.
    let pixel = |number: f64, end: u32| number.round_ties_even().clamp(0.0, f64::from(end)) as u32;
    let (left, right) = (pixel(left * across, width), pixel(right * across, width));
    let (top, bottom) = (pixel(top * down, height), pixel(bottom * down, height));
    if left >= right || top >= bottom {
        return Err(ToolFailure::call(format!(
            "the box {numbers:?} holds no pixel of the picture, which is {width} x {height}: a box is [left, top, \
             right, bottom]"
        )));
    }
    Ok(Area { left, top, width: right - left, height: bottom - top })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_whole_pixels_within_the_picture() {
        let area = |left, top, width, height| Some(Area { left, top, width, height });
        for (numbers, expected) in [
            ([10.0, 20.0, 40.0, 50.0], area(10, 20, 30, 30)),
            // Halves go to the even number.
            ([0.5, 1.5, 2.5, 3.5], area(0, 2, 2, 2)),
            ([-5.0, -5.0, 1000.0, 1e300], area(0, 0, 100, 60)),
            ([0.1, 0.5, 0.9, 0.99], area(10, 30, 80, 29)),
            // One number is at least 1, so these are pixels.
            ([0.0, 0.0, 1.0, 0.9], area(0, 0, 1, 1)),
            ([0.0, 0.0, 1.0, 1.0], area(0, 0, 1, 1)),
            ([40.0, 0.0, 10.0, 50.0], None),
            ([200.0, 0.0, 300.0, 50.0], None),
            ([0.0, 0.0, 0.0, 0.0], None),
        ] {
            assert_eq!(area_of(numbers, 100, 60).ok(), expected, "{numbers:?}");
        }
    }

    #[test]
    fn only_four_numbers_are_a_box() {
        let found = |text: &str| box_of(&serde_json::from_str(text).expect("an object"));
        assert_eq!(found(r#"{"bbox":[1,2.5,3,4]}"#), Some([1.0, 2.5, 3.0, 4.0]));
        for text in [r#"{}"#, r#"{"bbox":null}"#, r#"{"bbox":[1,2,3]}"#, r#"{"bbox":[1,2,3,"4"]}"#] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
