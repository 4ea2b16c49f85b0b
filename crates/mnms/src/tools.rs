//! The 33 tools and which may follow which (specification section 1, "Tools", and 2, "Tool graph"; the paper,
//! section 3.2 and Table 4). Their order matters: a tool's index is its class in tool-F1 and in the edit distance.
//! The descriptions are ours.

use std::sync::{Arc, LazyLock};

use planproof_trace::{Catalogue, Demonstration, Port, Signature};
use serde_json::json;

/// Name, description, arguments and outputs (each with its kind), and the names of the tools that may follow.
type Row = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static [(&'static str, &'static str)],
    &'static [u8],
);

/// The tools, in order. Successors are indices into this list, from 0.
#[rustfmt::skip]
const TOOLS: [Row; 33] = [
    ("text generation", "Writes a text from a prompt.",
        &[("text", "text")], &[("text", "text")], &[1, 2, 3, 4]),
    ("text summarization", "Shortens a text to what matters.",
        &[("text", "text")], &[("text", "text")], &[0, 2, 3, 4, 32]),
    ("text classification", "Says what mood or topic a text has.",
        &[("text", "text")], &[("text", "text")], &[]),
    ("question answering", "Answers a question from a text.",
        &[("text", "text"), ("question", "text")], &[("text", "text")], &[0, 2, 4, 32]),
    ("image generation", "Draws a picture from a description.",
        &[("text", "text")], &[("image", "image")], &[5, 6, 7, 8, 9, 10, 14, 15, 16, 17]),
    ("image captioning", "Describes a picture in a sentence.",
        &[("image", "image")], &[("text", "text")], &[0, 1, 2, 3, 4]),
    ("optical character recognition", "Reads the words in a picture.",
        &[("image", "image")], &[("text", "text")], &[0, 2, 4, 32]),
    ("image classification", "Names what a picture shows.",
        &[("image", "image")], &[("text", "text")], &[0, 4, 32]),
    ("image editing", "Changes a picture as a prompt says.",
        &[("image", "image"), ("prompt", "text")], &[("image", "image")], &[5, 6, 7, 9, 10, 14, 15, 16, 17]),
    ("object detection", "Finds the objects in a picture, each with its label and its box.",
        &[("image", "image")], &[("image", "image"), ("objects", "list[dict]")], &[20, 21, 22]),
    ("image segmentation", "Finds the objects in a picture, each with its label, box and outline.",
        &[("image", "image")], &[("image", "image"), ("objects", "list[dict]")], &[20, 22]),
    ("automatic speech recognition", "Writes down what is said in a recording.",
        &[("audio", "audio")], &[("text", "text")], &[0, 1, 2, 3, 4]),
    ("visual question answering", "Answers a question about a picture.",
        &[("image", "image"), ("question", "text")], &[("text", "text")], &[0, 4, 32]),
    ("image crop", "Cuts an object out of a picture by its box.",
        &[("image", "image"), ("object", "object")], &[("image", "image")], &[5, 6, 7, 9, 10, 14, 15, 16, 17]),
    ("image crop left", "Keeps the left half of a picture.",
        &[("image", "image")], &[("image", "image")], &[5, 6, 7, 9, 10]),
    ("image crop right", "Keeps the right half of a picture.",
        &[("image", "image")], &[("image", "image")], &[5, 6, 7, 9, 10]),
    ("image crop top", "Keeps the upper half of a picture.",
        &[("image", "image")], &[("image", "image")], &[5, 6, 7, 9, 10]),
    ("image crop bottom", "Keeps the lower half of a picture.",
        &[("image", "image")], &[("image", "image")], &[5, 6, 7, 9, 10]),
    ("background blur", "Blurs all of a picture but one object.",
        &[("image", "image"), ("object", "object")], &[("image", "image")], &[5, 6, 7, 9, 10, 14, 15, 16, 17]),
    ("color pop", "Takes the colour out of all of a picture but one object.",
        &[("image", "image"), ("object", "object")], &[("image", "image")], &[5, 6, 7, 9, 10, 14, 15, 16, 17]),
    ("count", "Counts objects.",
        &[("objects", "list[dict]")], &[("number", "integer")], &[26, 27]),
    ("tag", "Draws the boxes and labels of objects into a picture.",
        &[("image", "image"), ("objects", "list[dict]")], &[("image", "image")], &[6]),
    ("select object", "Picks the object of a name from a list of objects.",
        &[("objects", "list[dict]"), ("object_name", "text")], &[("object", "object")], &[13, 18, 19, 23]),
    ("emoji", "Covers an object of a picture with an emoji.",
        &[("image", "image"), ("object", "object"), ("emoji", "text")], &[("image", "image")], &[5, 6, 7, 9, 10, 14, 15, 16, 17]),
    ("get date fact", "Tells a fact about a day, given as month/day.",
        &[("date", "text")], &[("text", "text")], &[0, 1, 2, 4]),
    ("get year fact", "Tells a fact about a year.",
        &[("year", "integer")], &[("text", "text")], &[0, 1, 2, 4]),
    ("get math fact", "Tells a mathematical fact about a number.",
        &[("number", "integer")], &[("text", "text")], &[0, 1, 2, 4]),
    ("get trivia fact", "Tells a curious fact about a number.",
        &[("number", "integer")], &[("text", "text")], &[0, 1, 2, 4]),
    ("love calculator", "Says how well two people go together, in per cent, by their first names.",
        &[("first_name", "text"), ("second_name", "text")], &[("number", "integer")], &[26, 27]),
    ("get location", "Finds the longitude and latitude of a city.",
        &[("city", "text")], &[("lon", "text"), ("lat", "text")], &[31]),
    ("search movie", "Finds a film by title and year, with its genre, director and plot.",
        &[("movie_title", "text"), ("movie_year", "text")], &[("text", "text")], &[0, 1, 2, 3, 4, 32]),
    ("get weather", "Lists the weather forecasts for a place by its longitude and latitude.",
        &[("lon", "text"), ("lat", "text")], &[("objects", "list[dict]")], &[20]),
    ("wikipedia simple search", "Finds the beginning of the article that fits a query best.",
        &[("text", "text")], &[("text", "text")], &[0, 1, 2]),
];

static CATALOGUE: LazyLock<Arc<Catalogue>> = LazyLock::new(|| {
    let ports = |ports: &[(&str, &str)]| -> Vec<Port> {
        ports.iter().map(|(name, kind)| Port { name: (*name).to_owned(), kind: (*kind).to_owned() }).collect()
    };
    let signature = |(name, description, arguments, outputs, successors): &Row| Signature {
        name: (*name).to_owned(),
        description: (*description).to_owned(),
        arguments: ports(arguments),
        outputs: ports(outputs),
        successors: successors.iter().map(|place| usize::from(*place)).collect(),
    };
    Arc::new(Catalogue::new(TOOLS.iter().map(signature).collect()).with_demonstrations(demonstrations()))
});

/// One plan each of one, two and three steps. (They are ours; the requests of the published prompt are different
/// ones.)
fn demonstrations() -> Vec<Demonstration> {
    vec![
        Demonstration {
            request: "Write a short speech that thanks the night shift of a bakery.".to_owned(),
            nodes: json!([
                {"id": 0, "name": "text generation", "args": {"text": "a short speech that thanks the night shift of a bakery"}},
            ]),
            outputs: vec![json!({"text": "Dear colleagues, while the town sleeps, you bake its morning."})],
        },
        Demonstration {
            request: "Paint the blue door in 'door-3.jpg' red, and then tell me what the new picture shows."
                .to_owned(),
            nodes: json!([
                {"id": 0, "name": "image editing", "args": {"image": "door-3.jpg", "prompt": "paint the blue door red"}},
                {"id": 1, "name": "image captioning", "args": {"image": "<node-0>.image"}},
            ]),
            outputs: vec![json!({"image": "out-0.png"}), json!({"text": "a stone house with a red door"})],
        },
        Demonstration {
            request: "Listen to 'meeting-7.flac', sum up what is said, and draw a poster for it.".to_owned(),
            nodes: json!([
                {"id": 0, "name": "automatic speech recognition", "args": {"audio": "meeting-7.flac"}},
                {"id": 1, "name": "text summarization", "args": {"text": "<node-0>.text"}},
                {"id": 2, "name": "image generation", "args": {"text": "a poster for this: <node-1>.text"}},
            ]),
            outputs: vec![
                json!({"text": "We meet on Friday at noon by the old pier, and whoever can brings a boat."}),
                json!({"text": "A boat trip starts on Friday noon at the old pier."}),
                json!({"image": "out-2.png"}),
            ],
        },
    ]
}

/// The tools as plans see them.
pub fn catalogue() -> &'static Arc<Catalogue> {
    &CATALOGUE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_graph_has_the_published_number_of_walks() {
        let tools = catalogue().signatures();
        let edges: usize = tools.iter().map(|tool| tool.successors.len()).sum();
        let pairs = tools.iter().flat_map(|tool| &tool.successors);
        let walks_of_three: usize = pairs.map(|second| tools[*second].successors.len()).sum();
        assert_eq!((tools.len(), edges, walks_of_three), (33, 149, 636));
        assert!(tools.iter().enumerate().all(|(place, tool)| !tool.successors.contains(&place)));
    }

    #[test]
    fn edges_join_an_output_to_an_argument_of_its_kind() {
        for tool in catalogue().signatures() {
            for next in tool.successors.iter().map(|place| &catalogue().signatures()[*place]) {
                let fits = tool.outputs.iter().any(|output| {
                    let is_number = |kind: &str| kind == "integer" || kind == "text";
                    let mut kinds = next.arguments.iter().map(|argument| &argument.kind);
                    kinds.any(|kind| *kind == output.kind || is_number(kind) && is_number(&output.kind))
                });
                assert!(fits, "{} -> {}", tool.name, next.name);
            }
        }
    }
}
