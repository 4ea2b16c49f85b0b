//! Queries by rule, in our own words: for data without a model, for tests, and for simulated models. They describe
//! each step, one after the other, as people would not; to make data for a benchmark, use a model.

use planproof_plan::{ArgumentValue, Plan, Step, TextPiece};
use planproof_trace::Draw;

/// The tool, two ways to ask for it with its arguments in braces, and a name for its result.
#[rustfmt::skip]
const CLAUSES: [(&str, [&str; 2], &str); 33] = [
    ("text generation", ["write a short text about {text}", "compose a paragraph on {text}"], "the new text"),
    ("text summarization", ["summarise {text}", "shorten {text} to its main points"], "the summary"),
    ("text classification", ["say what mood or topic {text} has", "tell me which class {text} falls into"], "the class"),
    ("question answering", ["answer from {text}: {question}", "find the answer in {text} to this: {question}"], "the answer"),
    ("image generation", ["draw a picture of {text}", "make an illustration of {text}"], "the drawing"),
    ("image captioning", ["describe {image} in a sentence", "write a caption for {image}"], "the caption"),
    ("optical character recognition", ["read the words in {image}", "extract the text from {image}"], "the words found"),
    ("image classification", ["name what {image} shows", "tell me the class of {image}"], "the name found"),
    ("image editing", ["edit {image} like this: {prompt}", "change {image} as follows: {prompt}"], "the edited picture"),
    ("object detection", ["find the objects in {image}", "detect what things there are in {image}"], "the objects"),
    ("image segmentation", ["outline each object in {image}", "segment {image} into its objects"], "the outlined objects"),
    ("automatic speech recognition", ["write down what is said in {audio}", "transcribe {audio}"], "the transcript"),
    ("visual question answering", ["look at {image} and answer: {question}", "tell me about {image}: {question}"], "the answer"),
    ("image crop", ["cut {object} out of {image}", "crop {image} to {object}"], "the cut-out"),
    ("image crop left", ["keep the left half of {image}", "crop {image} to its left side"], "the left half"),
    ("image crop right", ["keep the right half of {image}", "crop {image} to its right side"], "the right half"),
    ("image crop top", ["keep the upper half of {image}", "crop {image} to its top"], "the upper half"),
    ("image crop bottom", ["keep the lower half of {image}", "crop {image} to its bottom"], "the lower half"),
    ("background blur", ["blur all of {image} but {object}", "keep {object} sharp in {image} and blur the rest"], "the blurred picture"),
    ("color pop", ["make all of {image} grey but {object}", "keep the colour of {object} alone in {image}"], "the picture in grey"),
    ("count", ["count {objects}", "say how many there are of {objects}"], "their number"),
    ("tag", ["mark {objects} in {image} with their names", "draw the boxes of {objects} into {image}"], "the marked picture"),
    ("select object", ["pick the {object_name} from {objects}", "choose the {object_name} among {objects}"], "the chosen one"),
    ("emoji", ["cover {object} in {image} with the emoji {emoji}", "put the emoji {emoji} over {object} in {image}"], "the picture with the emoji"),
    ("get date fact", ["tell me a fact about the day {date}", "find out something about {date}"], "the fact"),
    ("get year fact", ["tell me a fact about the year {year}", "find out what happened in {year}"], "the fact"),
    ("get math fact", ["tell me a mathematical fact about {number}", "say what mathematics knows of {number}"], "the fact"),
    ("get trivia fact", ["tell me something curious about {number}", "give me a piece of trivia on {number}"], "the curious fact"),
    ("love calculator", ["work out how well {first_name} and {second_name} go together", "compute the love score of {first_name} and {second_name}"], "their score"),
    ("get location", ["find the longitude and latitude of {city}", "look up where {city} lies"], "the place"),
    ("search movie", ["look up the film {movie_title} of {movie_year}", "find the film {movie_title} from {movie_year}"], "what is known of the film"),
    ("get weather", ["get the forecasts for {lon} and {lat}", "look up the weather at {lon} and {lat}"], "the forecasts"),
    ("wikipedia simple search", ["look up {text} in Wikipedia", "search Wikipedia for {text}"], "the article"),
];

const OPENINGS: [&str; 6] =
    ["Please ", "Could you ", "I would like you to ", "Can you ", "I need you to ", "Would you kindly "];

const LINKS: [&str; 4] = [", then ", ", and then ", "; after that, ", "; with that, "];

/// A query that asks for the steps of a plan one after the other, in words drawn by `draw`. Tools outside the
/// published set are asked for by their names.
pub fn query_by_rule(plan: &Plan, draw: &mut Draw) -> String {
    let opening = OPENINGS[draw.place(OPENINGS.len())];
    let mut query = opening.to_owned();
    for (nth, step) in plan.steps.iter().enumerate() {
        if nth > 0 {
            query.push_str(LINKS[draw.place(LINKS.len())]);
        }
        query.push_str(&clause(plan, step, draw));
    }
    let is_question =
        opening.starts_with("Could") || opening.starts_with("Can") || opening.starts_with("Would");
    if !query.ends_with(['?', '.', '!']) {
        query.push(if is_question { '?' } else { '.' });
    }
    query
}

fn row(tool: &str) -> Option<&'static (&'static str, [&'static str; 2], &'static str)> {
    CLAUSES.iter().find(|(name, ..)| *name == tool)
}

fn clause(plan: &Plan, step: &Step, draw: &mut Draw) -> String {
    let Some((_, ways, _)) = row(&step.tool) else { return format!("use {}", step.tool) };
    let mut rest = ways[draw.place(ways.len())];
    let mut text = String::new();
    // Assembled piece by piece, because values may contain braces.
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else { break };
        text.push_str(before);
        let value = step.arguments.iter().find(|(own, _)| own == name).map(|(_, value)| value);
        text.push_str(&value.map_or_else(|| name.to_owned(), |value| mention(plan, &step.tool, name, value)));
        rest = after;
    }
    text.push_str(rest);
    text
}

/// An argument as a query says it.
fn mention(plan: &Plan, tool: &str, argument: &str, value: &ArgumentValue) -> String {
    let parts = match value {
        ArgumentValue::Json(value) => return value.to_string(),
        ArgumentValue::Text(parts) => parts,
    };
    let said: String = parts
        .iter()
        .map(|part| match part {
            TextPiece::Words(words) => words.clone(),
            TextPiece::Reference(reference) => {
                let source = plan.steps.iter().find(|step| step.id == reference.step);
                let called =
                    source.and_then(|source| row(&source.tool)).map_or("the result", |(_, _, gives)| gives);
                match reference.key.as_str() {
                    "lon" => format!("the longitude of {called}"),
                    "lat" => format!("the latitude of {called}"),
                    // Tools that find objects also return the picture, which the
                    // name of their result does not describe.
                    "image" if called.ends_with("objects") => "the picture".to_owned(),
                    _ => called.to_owned(),
                }
            }
        })
        .collect();
    // A result is called by its name. Only values of the input are introduced by what they are.
    if value.references().next().is_some() {
        return said;
    }
    match argument {
        "image" => format!("the picture \"{said}\""),
        "audio" => format!("the recording \"{said}\""),
        "text" if matches!(tool, "text generation" | "image generation") => said,
        "text" if tool == "wikipedia simple search" => format!("\"{said}\""),
        "text" => format!("the text \"{said}\""),
        "movie_title" => format!("\"{said}\""),
        "lon" => format!("longitude {said}"),
        "lat" => format!("latitude {said}"),
        _ => said,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue;
    use crate::generate::{EdgeRule, Inputs, TasksWanted, ToolGraph, draw_tasks};

    #[test]
    fn clauses_name_every_argument_of_every_tool() {
        for tool in catalogue().signatures() {
            let (_, ways, _) = row(&tool.name).unwrap();
            for way in ways {
                assert_eq!(way.matches('{').count(), tool.arguments.len(), "{way}");
                for argument in &tool.arguments {
                    assert!(way.contains(&format!("{{{}}}", argument.name)), "{way}");
                }
            }
        }
        assert_eq!(CLAUSES.len(), catalogue().signatures().len());
    }

    #[test]
    fn a_query_says_all_that_the_plan_has_from_outside() {
        let graph = ToolGraph::new(catalogue(), EdgeRule::Listed);
        let wanted = TasksWanted { lengths: 1..=3, sequences: 1000, inputs: 2, seed: 3 };
        let tasks = draw_tasks(catalogue(), &graph, &Inputs::own(), &wanted).unwrap().tasks;
        for (nth, task) in tasks.iter().enumerate() {
            let query = query_by_rule(&task.plan, &mut Draw::new(1, nth as u64, "test"));
            for (_, value) in task.plan.steps.iter().flat_map(|step| &step.arguments) {
                let ArgumentValue::Text(parts) = value else { continue };
                for part in parts {
                    if let TextPiece::Words(words) = part {
                        assert!(query.contains(words), "{query}");
                    }
                }
            }
            assert!(!query.contains("<node") && !query.contains('{'), "{query}");
        }
        let first = query_by_rule(&tasks[0].plan, &mut Draw::new(1, 0, "test"));
        assert_eq!(first, query_by_rule(&tasks[0].plan, &mut Draw::new(1, 0, "test")));
    }

    #[test]
    fn unknown_tools_are_named() {
        let step = Step { id: 0, tool: "fly".to_owned(), arguments: Vec::new() };
        let query = query_by_rule(&Plan { steps: vec![step] }, &mut Draw::new(1, 0, "test"));
        assert!(query.contains("use fly"), "{query}");
    }
}
