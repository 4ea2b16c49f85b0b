//! The tools that work here.

use image::{Rgb, RgbImage};
use planproof_media::{FACE_NAMES, OBJECTS_MAX, PREVIEW_SIDE_MAX};
use planproof_suite::Toolbox;
use planproof_trace::{ATTACHMENT_BYTES_MAX, Arguments, CallId, PictureType, ToolCall};
use serde_json::{Value, json};

use crate::support::{BLUE, RED, Run, WHITE, two_boxes};

#[tokio::test]
async fn an_object_is_cut_out_of_its_picture() {
    let run = Run::new("crop");
    run.put_picture("a.png", &two_boxes());
    let red = json!({ "label": "red", "bbox": [10, 20, 50, 60] });
    assert_eq!(
        run.done("image crop", json!({ "image": "a.png", "object": red })).await,
        json!({ "image": "out-0.png" })
    );
    let picture = run.written("out-0.png");
    assert_eq!(picture.dimensions(), (40, 40));
    assert!(picture.pixels().all(|pixel| *pixel == RED));
    // In fractions, and of a picture that the run has made.
    let object = json!({ "bbox": [0.5, 0.5, 0.75, 0.99] });
    let done = run.done("image_crop", json!({ "image": "out-0.png", "object": object })).await;
    assert_eq!(done, json!({ "image": "out-1.png" }));
    assert_eq!(run.written("out-1.png").dimensions(), (10, 20));
    // Without a box there is nothing to cut.
    for object in [json!({}), json!({ "bbox": [1, 2, 3] }), json!({ "label": "red", "bbox": "10 20 50 60" })]
    {
        for tool in ["image crop", "background blur", "color pop"] {
            let done = run.done(tool, json!({ "image": "a.png", "object": object })).await;
            assert_eq!(done, json!({ "image": "a.png" }), "{tool} {object}");
        }
    }
    let object = json!({ "bbox": [500, 500, 600, 600] });
    let text = run.refused("image crop", json!({ "image": "a.png", "object": object })).await;
    assert_eq!(
        text,
        "the box [500.0, 500.0, 600.0, 600.0] holds no pixel of the picture, which is 120 x 80: a box is [left, top, \
         right, bottom]"
    );
}

#[tokio::test]
async fn halves_are_those_of_the_published_tools() {
    let run = Run::new("halves");
    run.put_picture("a.jpg", &RgbImage::from_pixel(31, 20, RED));
    for (number, (tool, size)) in [
        ("image crop left", (15, 19)),
        ("image_crop_right", (15, 19)),
        ("image crop top", (30, 10)),
        ("image_crop_bottom", (30, 9)),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("out-{number}.png");
        assert_eq!(run.done(tool, json!({ "image": "a.jpg" })).await, json!({ "image": name }));
        assert_eq!(run.written(&name).dimensions(), size, "{tool}");
    }
    run.put_picture("dot.png", &RgbImage::new(1, 1));
    let text = run.refused("image crop left", json!({ "image": "dot.png" })).await;
    assert!(text.starts_with("the picture is 1 x 1, and nothing is left"), "{text}");
}

#[tokio::test]
async fn an_object_stands_out() {
    let run = Run::new("stands_out");
    // Stripes of red and blue, so that blurring shows everywhere.
    let stripes = RgbImage::from_fn(60, 60, |x, _| if x / 3 % 2 == 0 { RED } else { BLUE });
    run.put_picture("a.png", &stripes);
    let object = json!({ "bbox": [20, 20, 40, 40] });
    run.done("color pop", json!({ "image": "a.png", "object": object })).await;
    run.done("background blur", json!({ "image": "a.png", "object": object })).await;
    let (popped, blurred) = (run.written("out-0.png"), run.written("out-1.png"));
    for (x, y, pixel) in stripes.enumerate_pixels() {
        let is_object = (20..40).contains(&x) && (20..40).contains(&y);
        let Rgb([red, green, blue]) = *popped.get_pixel(x, y);
        assert_eq!(popped.get_pixel(x, y) == pixel, is_object, "{x} {y}");
        assert!(is_object || (red == green && green == blue), "{x} {y}");
        assert!(!is_object || blurred.get_pixel(x, y) == pixel, "{x} {y}");
    }
    let changed =
        stripes.enumerate_pixels().filter(|(x, y, pixel)| blurred.get_pixel(*x, *y) != *pixel).count();
    assert_eq!(changed, 3600 - 400, "all of the background is blurred");
    // The smallest picture is blurred too.
    run.put_picture("dot.png", &RgbImage::from_pixel(1, 1, RED));
    run.done("background blur", json!({ "image": "dot.png", "object": object_of(1) })).await;
    assert_eq!(run.written("out-2.png").get_pixel(0, 0), &RED);
}

fn object_of(side: u32) -> Value {
    json!({ "bbox": [0, 0, side, side] })
}

#[tokio::test]
async fn a_mask_says_more_than_a_box() {
    let run = Run::new("mask");
    run.put_picture("a.png", &RgbImage::from_pixel(20, 10, RED));
    let mask = RgbImage::from_fn(20, 10, |x, _| if x < 5 { WHITE } else { Rgb([0, 0, 0]) });
    run.put_picture("mask.png", &mask);
    run.put_picture("other.png", &RgbImage::new(3, 3));
    let object = |mask: &str| json!({ "bbox": [0, 0, 20, 10], "mask": mask });
    run.done("color pop", json!({ "image": "a.png", "object": object("mask.png") })).await;
    let popped = run.written("out-0.png");
    assert_eq!(popped.pixels().filter(|pixel| **pixel == RED).count(), 50);
    let text =
        run.refused("background blur", json!({ "image": "a.png", "object": object("other.png") })).await;
    assert!(text.starts_with("the mask `other.png` is 3 x 3, the picture 20 x 10"), "{text}");
    let text = run.refused("color pop", json!({ "image": "a.png", "object": object("../x.png") })).await;
    assert!(text.contains("is not the name of a file here"), "{text}");
}

#[tokio::test]
async fn objects_are_counted_selected_and_tagged() {
    let run = Run::new("objects");
    run.put_picture("a.png", &two_boxes());
    let objects = json!([
        { "label": "red area", "bbox": [10, 20, 50, 60] },
        { "label": "blue area ä", "bbox": [80, 30, 110, 50] },
        { "label": "no box" },
        "no object",
    ]);
    assert_eq!(run.done("count", json!({ "objects": objects })).await, json!({ "number": 4 }));
    assert_eq!(run.done("count", json!({ "objects": [] })).await, json!({ "number": 0 }));
    let selected = run.done("select object", json!({ "objects": objects, "object_name": "blue" })).await;
    assert_eq!(selected, json!({ "object": { "label": "blue area ä", "bbox": [80, 30, 110, 50] } }));
    let selected = run.done("select_object", json!({ "objects": objects, "object_name": "dog" })).await;
    assert_eq!(selected, json!({ "object": {} }));
    run.done("tag", json!({ "image": "a.png", "objects": objects })).await;
    let (before, after) = (two_boxes(), run.written("out-0.png"));
    assert_eq!(after.dimensions(), before.dimensions());
    assert_ne!(after.get_pixel(10, 40), before.get_pixel(10, 40), "the frame of the first");
    assert_ne!(after.get_pixel(109, 40), before.get_pixel(109, 40), "the frame of the second");
    assert_eq!(after.get_pixel(30, 40), before.get_pixel(30, 40), "within the frame");
    let writing = after.enumerate_pixels().filter(|(x, y, pixel)| *y < 20 && *x < 70 && **pixel == WHITE);
    assert!(writing.count() < 70 * 20, "the label stands on a ground of its own");
    for (tool, arguments, wrong) in [
        ("count", json!({ "objects": "three" }), "`objects` has to be a list of objects, not `\"three\"`"),
        ("count", json!({}), "the argument `objects` is missing"),
        (
            "count",
            json!({ "objects": vec![0; OBJECTS_MAX + 1] }),
            "`objects` has 1001 objects; 1000 are allowed: give a shorter list",
        ),
        (
            "image crop",
            json!({ "image": "a.png", "object": [1] }),
            "`object` has to be an object such as `select object` gives, not `[1]`",
        ),
        ("image crop left", json!({ "image": 7 }), "`image` has to be the name of a file, not `7`"),
    ] {
        assert_eq!(run.refused(tool, arguments).await, wrong);
    }
}

#[tokio::test]
async fn every_face_is_another_one_and_an_unknown_one_smiles() {
    let run = Run::new("faces");
    run.put_picture("a.png", &RgbImage::from_pixel(90, 60, WHITE));
    let object = json!({ "bbox": [10, 0, 70, 60] });
    let mut faces: Vec<RgbImage> = Vec::new();
    for (number, name) in FACE_NAMES.into_iter().enumerate() {
        run.done("emoji", json!({ "image": "a.png", "object": object, "emoji": name })).await;
        let face = run.written(&format!("out-{number}.png"));
        assert!(!faces.contains(&face), "{name}");
        assert_eq!(
            (face.get_pixel(2, 2), face.get_pixel(85, 30)),
            (&WHITE, &WHITE),
            "{name} stays in its box"
        );
        faces.push(face);
    }
    for (number, name) in ["purple unicorn", ":Smiling-Face:", ""].into_iter().enumerate() {
        run.done("emoji", json!({ "image": "a.png", "object": object, "emoji": name })).await;
        assert_eq!(run.written(&format!("out-{}.png", FACE_NAMES.len() + number)), faces[0], "{name}");
    }
}

#[tokio::test]
#[ignore = "slow"]
async fn a_new_picture_has_a_small_copy_in_the_result() {
    let run = Run::new("preview");
    // Noise, which no encoder makes small.
    let mut number = 1_u32;
    let noise = RgbImage::from_fn(1400, 900, |_, _| {
        number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        Rgb([(number >> 24) as u8, (number >> 16) as u8, (number >> 8) as u8])
    });
    run.put_picture("a.png", &noise);
    let result = run.call("image crop left", json!({ "image": "a.png" })).await;
    let [preview] = result.attachments.as_slice() else { panic!("one picture") };
    assert_eq!((preview.name(), preview.picture()), ("out-0.png", PictureType::Jpeg));
    let bytes = base64::Engine::decode(&base64::prelude::BASE64_STANDARD, preview.base64()).expect("base64");
    assert!(bytes.len() <= ATTACHMENT_BYTES_MAX);
    let small = image::load_from_memory(&bytes).expect("a picture");
    assert_eq!(small.width().max(small.height()), PREVIEW_SIDE_MAX);
    // A line keeps its width.
    run.put_picture("line.png", &RgbImage::from_pixel(2000, 4, RED));
    let result = run.call("image crop top", json!({ "image": "line.png" })).await;
    assert_eq!(result.attachments.as_slice().len(), 1);
    // What makes no picture has none.
    assert!(run.call("count", json!({ "objects": [] })).await.attachments.is_empty());
}

#[tokio::test]
async fn calls_of_what_is_not_there_are_reported() {
    let run = Run::new("no_tool");
    assert_eq!(run.refused("text translation", json!({})).await, "there is no tool named `text translation`");
    let call = ToolCall {
        id: CallId::new("c1"),
        name: "count".to_owned(),
        arguments: Arguments::Malformed("{\"objects\":".to_owned()),
    };
    let result = run.tools.execute(&call).await;
    assert_eq!(result.text, "the arguments of `count` are not a JSON object: `{\"objects\":`");
}
