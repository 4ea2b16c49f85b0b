//! A whole plan on a picture that the test draws.

use image::Rgb;
use planproof_media::stand_in::StandIn;
use planproof_suite::Toolbox;
use planproof_trace::wire::v1::{read_trace, write_trace};
use planproof_trace::{Event, EventKind, Header, ToolCall, Trace};
use serde_json::{Value, json};

use crate::support::{BLUE, Run, WHITE, two_boxes};

#[tokio::test]
async fn a_plan_runs_from_detection_to_a_saved_picture() {
    let stand_in = StandIn::bind(0).await.expect("a free port");
    let run = Run::with("chain", stand_in.endpoints());
    run.put_picture("photo.png", &two_boxes());
    let found = run.done("object_detection", json!({ "image": "photo.png" })).await;
    let selected =
        run.done("select_object", json!({ "objects": found["objects"], "object_name": "blue thing" })).await;
    let cropped =
        run.done("image_crop", json!({ "image": found["image"], "object": selected["object"] })).await;
    let popped = run.done("color_pop", json!({ "image": "photo.png", "object": selected["object"] })).await;
    assert_eq!([&cropped["image"], &popped["image"]], ["out-0.png", "out-1.png"]);
    let crop = run.written("out-0.png");
    assert_eq!(crop.dimensions(), (30, 20));
    assert!(crop.pixels().all(|pixel| *pixel == BLUE));
    let pop = run.written("out-1.png");
    assert_eq!(pop.dimensions(), (120, 80));
    for (x, y, pixel) in pop.enumerate_pixels() {
        let Rgb([red, green, blue]) = *pixel;
        match (x, y) {
            (80..110, 30..50) => assert_eq!(*pixel, BLUE),
            (10..50, 20..60) => assert!(red == green && green == blue && *pixel != WHITE, "{x} {y}"),
            _ => assert_eq!(*pixel, WHITE),
        }
    }
    assert_eq!(run.tools.outage(), None);

    // The same plan has the same results, and the trace keeps its pictures.
    let again = run.tools.for_run().expect("another run");
    let mut events = Vec::new();
    for (tool, arguments) in [
        ("object_detection", json!({ "image": "photo.png" })),
        ("image_crop", json!({ "image": "photo.png", "object": selected["object"] })),
        ("color_pop", json!({ "image": "photo.png", "object": selected["object"] })),
    ] {
        let call = ToolCall {
            id: planproof_trace::CallId::new(tool),
            name: tool.to_owned(),
            arguments: planproof_trace::Arguments::from_text(&arguments.to_string()),
        };
        let result = again.execute(&call).await;
        events.push(Event::new(events.len() as u64, EventKind::Call(call)));
        events.push(Event::new(events.len() as u64, EventKind::Result(result)));
    }
    let results = events.iter().filter_map(|event| match &event.kind {
        EventKind::Result(result) => Some(result),
        _ => None,
    });
    let texts: Vec<Value> = results.clone().map(|it| serde_json::from_str(&it.text).expect("JSON")).collect();
    assert_eq!(texts, [found, cropped, popped]);
    let pictures: Vec<usize> = results.map(|it| it.attachments.as_slice().len()).collect();
    assert_eq!(pictures, [0, 1, 1]);
    let header = Header {
        agent: "a".into(),
        model: None,
        simulated: true,
        case: "c".into(),
        repeat: 0,
        seed: 1,
        clock: "logical".into(),
        version: "0".into(),
    };
    let trace = Trace { header, events };
    let mut file = Vec::new();
    write_trace(&trace, &mut file);
    assert_eq!(read_trace(&String::from_utf8(file).expect("UTF-8")), Ok(trace));
}
