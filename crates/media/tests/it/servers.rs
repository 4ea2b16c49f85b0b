//! Each tool that asks a server, against the simulation of all of them.

use image::RgbImage;
use planproof_media::stand_in::StandIn;
use planproof_media::{Endpoint, Endpoints, Operation, Service};
use planproof_suite::Toolbox;
use serde_json::{Value, json};

use crate::support::{BLUE, RED, Run, two_boxes};

async fn run(name: &str) -> (Run, StandIn) {
    let stand_in = StandIn::bind(0).await.expect("a free port");
    (Run::with(name, stand_in.endpoints()), stand_in)
}

#[tokio::test]
async fn models_of_text_are_asked() {
    let (run, _stand_in) = run("text").await;
    for (tool, arguments, answer) in [
        ("text generation", json!({ "text": "Write a poem about the sea." }), "Write a poem about the sea."),
        ("text_summarization", json!({ "text": "The sea is wide." }), "The sea is wide."),
        ("text classification", json!({ "text": "What a wonderful day." }), "positive"),
        ("text classification", json!({ "text": "The worst of days." }), "negative"),
        ("text classification", json!({ "text": "A day." }), "neutral"),
        (
            "question answering",
            json!({ "text": "The sea is wide.", "question": "What is wide?" }),
            "Text: The sea is wide. Question: What is wide?",
        ),
        // The count of one tool can be the text of another.
        ("text generation", json!({ "text": 7 }), "7"),
        // So can its empty result, such as that of a search which found nothing.
        ("text generation", json!({ "text": " " }), ""),
        ("text_summarization", json!({ "text": "" }), ""),
        ("text classification", json!({ "text": "" }), "neutral"),
        (
            "question answering",
            json!({ "text": "", "question": "What is wide?" }),
            "Text: Question: What is wide?",
        ),
    ] {
        assert_eq!(run.done(tool, arguments).await, json!({ "text": answer }), "{tool}");
    }
    assert_eq!(
        run.refused("question answering", json!({ "text": "a", "question": " " })).await,
        "`question` is empty: say what is meant"
    );
    let text = run.refused("text generation", json!({ "text": "x".repeat(70_000) })).await;
    assert_eq!(text, "`text` has 70000 bytes; 65536 are allowed: give a shorter text");
}

#[tokio::test]
async fn models_are_shown_pictures() {
    let (run, _stand_in) = run("shown").await;
    run.put_picture("a.png", &two_boxes());
    run.put_picture("b.jpg", &RgbImage::from_pixel(64, 32, RED));
    for (tool, arguments) in [
        ("image captioning", json!({ "image": "a.png" })),
        ("optical character recognition", json!({ "image": "a.png" })),
        ("image classification", json!({ "image": "a.png" })),
        ("visual question answering", json!({ "image": "a.png", "question": "What is it?" })),
    ] {
        let answer = "a picture of 120 x 80 pixels, mainly white, red, blue";
        assert_eq!(run.done(tool, arguments).await, json!({ "text": answer }), "{tool}");
    }
    let answer = run.done("image captioning", json!({ "image": "b.jpg" })).await;
    assert_eq!(answer, json!({ "text": "a picture of 64 x 32 pixels, mainly red" }));
}

#[tokio::test]
async fn pictures_are_made_and_changed() {
    let (run, _stand_in) = run("made").await;
    run.put_picture("a.jpg", &RgbImage::from_pixel(64, 32, RED));
    for (number, text) in ["a house", "a house", "a tree"].into_iter().enumerate() {
        let done = run.done("image generation", json!({ "text": text })).await;
        assert_eq!(done, json!({ "image": format!("out-{number}.png") }));
    }
    let made = [0, 1, 2].map(|number| run.written(&format!("out-{number}.png")));
    assert!(made[0] == made[1] && made[0] != made[2]);
    let done = run.done("image editing", json!({ "image": "a.jpg", "prompt": "make it blue" })).await;
    assert_eq!(done, json!({ "image": "out-3.png" }));
    let changed = run.written("out-3.png");
    assert_eq!(changed.dimensions(), (64, 32));
    assert_ne!(changed.get_pixel(20, 20), &RED);
}

#[tokio::test]
async fn long_texts_may_have_a_model_of_their_own() {
    let stand_in = StandIn::bind(0).await.expect("a free port");
    let url = format!("http://{}/v1", stand_in.address());
    let endpoint =
        Endpoint { long_model: Some("other".to_owned()), ..Endpoint::new(url.as_str()).with_model("one") };
    let two = Run::with("two_models", Endpoints::none().with(Service::Images, endpoint));
    let one =
        Run::with("one_model", Endpoints::none().with(Service::Images, Endpoint::new(url).with_model("one")));
    for (number, (characters, is_same)) in [(74, true), (75, false)].into_iter().enumerate() {
        let text = json!({ "text": "ä".repeat(characters) });
        let name = format!("out-{number}.png");
        for run in [&two, &one] {
            run.done("image generation", text.clone()).await;
        }
        assert_eq!(two.written(&name) == one.written(&name), is_same, "{characters}");
    }
}

#[tokio::test]
async fn things_are_found_in_pictures() {
    let (run, _stand_in) = run("found").await;
    run.put_picture("a.png", &two_boxes());
    let done = run.done("object detection", json!({ "image": "a.png" })).await;
    let red = json!({ "label": "red area", "bbox": [10, 20, 50, 60], "score": 1.0 });
    let blue = json!({ "label": "blue area", "bbox": [80, 30, 110, 50], "score": 1.0 });
    assert_eq!(done, json!({ "image": "a.png", "objects": [red, blue] }));
    let done = run.done("image segmentation", json!({ "image": "a.png" })).await;
    let mask = |name: &str, place: u32, mut object: Value| {
        object["mask"] = name.into();
        object["inst_id"] = place.into();
        object
    };
    let objects = [mask("out-0.png", 0, red), mask("out-1.png", 1, blue)];
    assert_eq!(done, json!({ "image": "a.png", "objects": objects }));
    run.done("color pop", json!({ "image": "a.png", "object": objects[1] })).await;
    let popped = run.written("out-2.png");
    assert_eq!((popped.get_pixel(90, 40), popped.get_pixel(30, 40) == &RED), (&BLUE, false));
}

#[tokio::test]
async fn sound_is_written_down() {
    let (run, _stand_in) = run("sound").await;
    run.put("a.FLAC", b"fLaC and so on");
    run.put("a.txt", b"text");
    let done = run.done("automatic speech recognition", json!({ "audio": "a.FLAC" })).await;
    assert_eq!(done, json!({ "text": "a recording of 14 bytes with the number 4993" }));
    let text = run.refused("automatic speech recognition", json!({ "audio": "a.txt" })).await;
    assert!(text.starts_with("`a.txt` is no file with sound: its name has to end in one of flac,"), "{text}");
}

#[tokio::test]
async fn public_data_is_asked_for() {
    let (run, _stand_in) = run("public").await;
    let fact = run.done("get date fact", json!({ "date": "June 21" })).await;
    assert_eq!(fact["text"], "the stand-in made up 781 things about day 21 of month 6");
    for (tool, arguments) in [
        ("get year fact", json!({ "year": 1969 })),
        ("get math fact", json!({ "number": "42" })),
        ("get trivia fact", json!({ "number": -7 })),
    ] {
        let fact = run.done(tool, arguments).await;
        assert!(fact["text"].as_str().is_some_and(|text| text.contains("about the number")), "{fact}");
        assert_eq!(fact["found"], true, "all that the server says is handed on");
    }
    let love = run.done("love calculator", json!({ "first_name": "Ada", "second_name": "Bo" })).await;
    assert_eq!(love, json!({ "number": 74, "message": "made up by the stand-in" }));
    let place = run.done("get location", json!({ "city": "São Paulo & more" })).await;
    assert_eq!(place["display_name"], "São Paulo & more");
    let forecast = run.done("get weather", json!({ "lon": place["lon"], "lat": place["lat"] })).await;
    assert_eq!(forecast["objects"].as_array().map(Vec::len), Some(7));
    let movie = run.done("search movie", json!({ "movie_title": "Up", "movie_year": "2009" })).await;
    let text = movie["text"].as_str().expect("a text");
    let keys: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once(": ")?.0)).collect();
    assert_eq!(keys, ["Title", "Year", "Genre", "Director", "Plot"], "{text}");
    assert!(text.starts_with("Title: Up\nYear: 2009\n"), "{text}");
    let page = run.done("wikipedia simple search", json!({ "text": "Sea" })).await;
    assert_eq!(page, json!({ "text": "Sea is something of which the stand-in knows the name alone." }));
    let page = run.done("wikipedia simple search", json!({ "text": "x".repeat(1000) })).await;
    assert_eq!(page, json!({ "text": "" }));
    for (tool, arguments, why) in [
        ("get date fact", json!({ "date": "someday" }), "`someday` is no day of a year: write it as `6/21`"),
        ("get year fact", json!({ "year": "MMXX" }), "`year` has to be a whole number, not `\"MMXX\"`"),
        ("get math fact", json!({ "number": 1.5 }), "`number` has to be a whole number, not `1.5`"),
        ("get trivia fact", json!({ "number": "../x" }), "`number` has to be a whole number, not `\"../x\"`"),
        ("get location", json!({ "city": "123" }), "no place is called `123`: give the name of a city"),
        (
            "get weather",
            json!({ "lon": "200", "lat": "1" }),
            "`lon` has to be a number of degrees from -180 to 180",
        ),
        (
            "get weather",
            json!({ "lon": "1", "lat": "north" }),
            "`lat` has to be a number of degrees from -90 to 90",
        ),
        (
            "search movie",
            json!({ "movie_title": "123", "movie_year": "" }),
            "the server of `media.movies.url` refused the request: `Movie not found!`",
        ),
    ] {
        let text = run.refused(tool, arguments).await;
        assert!(text.starts_with(why), "{tool}: {text}");
    }
}

#[tokio::test]
async fn what_is_not_configured_names_its_setting() {
    let run = Run::new("not_configured");
    run.put_picture("a.png", &two_boxes());
    run.put("a.wav", b"RIFF");
    let arguments = json!({
        "image": "a.png", "audio": "a.wav", "text": "x", "question": "x", "prompt": "x", "date": "6/21", "year": 1,
        "number": 1, "first_name": "x", "second_name": "x", "city": "x", "movie_title": "x", "movie_year": "", "lon": "1",
        "lat": "1",
    });
    let mut asked = 0;
    for operation in Operation::ALL {
        let Some(service) = Service::of(operation) else { continue };
        asked += 1;
        let result = run.call(operation.as_str(), arguments.clone()).await;
        let beginning = format!("nothing answers for this tool: set `media.{service}.url`");
        assert!(result.is_error && result.text.starts_with(&beginning), "{operation}: {}", result.text);
    }
    assert_eq!(asked, 22);
    let outage = run.tools.outage().expect("not the agent's fault");
    assert!(
        outage.starts_with("the tool `text generation` could not do its work: nothing answers"),
        "{outage}"
    );
}

#[tokio::test]
async fn the_simulation_refuses_what_it_cannot_read() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    let stand_in = StandIn::bind(0).await.expect("a free port");
    for (line, body, status) in [
        ("POST /v1/chat/completions", "{}", "400"),
        ("POST /v1/chat/completions", "[", "400"),
        ("POST /v1/chat/completions", r#"{"messages":[{"content":[{"type":"text"}]}]}"#, "400"),
        (
            "POST /v1/chat/completions",
            r#"{"messages":[{"content":[{"image_url":{"url":"data:,x"}}]}]}"#,
            "400",
        ),
        ("POST /v1/images/generations", r#"{"prompt":7}"#, "400"),
        ("POST /v1/images/edits", "no form", "400"),
        ("POST /v1/audio/transcriptions", "", "400"),
        ("POST /vision/detect", r#"{"image":"?"}"#, "400"),
        ("POST /vision/segment", r#"{"image":"AAAA"}"#, "400"),
        ("GET /love/getPercentage?fname=a", "", "400"),
        ("GET /weather/forecast/daily?lat=%FF", "", "400"),
        ("GET /numbers/1/2/3/date", "", "404"),
        ("GET /movies/..", "", "404"),
        ("DELETE /movies", "", "404"),
    ] {
        let mut stream = tokio::net::TcpStream::connect(stand_in.address()).await.expect("a connection");
        let head = format!("Host: 127.0.0.1\r\nConnection: close\r\nContent-Length: {}", body.len());
        let request = format!("{line} HTTP/1.1\r\n{head}\r\n\r\n{body}");
        stream.write_all(request.as_bytes()).await.expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("an answer");
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{line} {body}: {answer}");
    }
}

#[tokio::test]
async fn the_simulation_serves_this_machine_alone() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    let stand_in = StandIn::bind(0).await.expect("a free port");
    assert!(stand_in.address().ip().is_loopback());
    for (head, status) in [
        ("Host: 127.0.0.1", "200"),
        ("Host: example.org", "403"),
        ("Host: localhost\r\nOrigin: http://example.org", "403"),
    ] {
        let mut stream = tokio::net::TcpStream::connect(stand_in.address()).await.expect("a connection");
        let request = format!("GET /geocoding/search?q=x HTTP/1.1\r\n{head}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("an answer");
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{head}: {answer}");
    }
}
