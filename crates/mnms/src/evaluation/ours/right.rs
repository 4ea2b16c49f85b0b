//! Whether a plan with the right tools and arguments is right in what its arguments are: results go where they should,
//! and values that the request determines are those of the right plan.
//!
//! The page `docs/mnms-metrics.md` has the rules and their reasons.

use std::collections::{BTreeSet, HashSet};

use super::{Part, Step, normalised};

/// What is right about the arguments of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ArgumentsRight {
    /// Each argument takes results of the right steps, and no others.
    pub(crate) flow: bool,
    /// Each value that is determined is the right one.
    pub(crate) values: bool,
}

/// How the value of an argument is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A file, a person's name, an object: the same text.
    Exact,
    /// A number, a day, a place on the map: the same numbers.
    Number,
    /// A name: the words that the right value shares with the request, and no others than these two have.
    Name,
    /// A question: as free text, or at least half of those words and none that is new, as in `Who made it?`.
    Question,
    /// Free text: at least the words that the right value shares with the request.
    Free,
}

fn kind(argument: &str) -> Kind {
    match argument {
        "text" | "prompt" => Kind::Free,
        "question" => Kind::Question,
        "city" | "movie_title" | "object_name" | "emoji" => Kind::Name,
        "date" | "year" | "number" | "movie_year" | "lon" | "lat" => Kind::Number,
        _ => Kind::Exact,
    }
}

/// Tools that return the picture that they were given.
const RETURNING_THE_PICTURE: [&str; 2] = ["object_detection", "image_segmentation"];

/// Words that carry no content: articles, pronouns, prepositions, auxiliaries, and words that only say that something
/// is to be made, and of what kind, which the tool says already.
const EMPTY_WORDS: &str = "a an and are as at be been being by can could did do does for from had has have he her him \
    his i if in into is it its let me my of on or our please shall she should so some such that the their them then \
    there these they this those to us was we were what when where which who whom whose why will with would you your \
    about also just here how like create describe draw generate give help image make need photo photograph picture \
    produce provide show tell text want write take";

/// Words that turn a text into its opposite.
const DENIALS: [&str; 5] = ["not", "no", "without", "never", "except"];

/// Compares the arguments of a plan, which has the tools and the names of arguments of the right one in the same
/// order, with those of the right plan.
pub(crate) fn arguments_right(predicted: &[Step], right: &[Step], request: &str) -> ArgumentsRight {
    let request = words_of(request);
    let mut found = ArgumentsRight { flow: true, values: true };
    for (place, (step, of_right)) in predicted.iter().zip(right).enumerate() {
        for (name, parts) in &step.arguments {
            let of_right = of_right.arguments.iter().find(|(other, _)| other == name);
            let Some((_, of_right)) = of_right else { continue };
            if normalised(parts, place) == normalised(of_right, place) {
                continue;
            }
            let (parts, of_right) = (resolved(predicted, parts), resolved(right, of_right));
            let has_flow = is_same_flow(&parts, &of_right);
            found.flow &= has_flow;
            // Where a result is missing, the flow is at fault and not the words around it.
            found.values &= !has_flow || is_same_value(name, &parts, &of_right, &request);
        }
    }
    found
}

/// The parts, in which the picture that a tool returns as it got it is the one that it got.
fn resolved(steps: &[Step], parts: &[Part]) -> Vec<Part> {
    let mut parts = parts.to_vec();
    // A step takes results of earlier steps only, so this ends with the first step at the latest.
    while let [Part::Given(giver, Some(key))] = &parts[..] {
        let Some(step) = steps.get(*giver).filter(|_| key == "image") else { break };
        let taken = step.arguments.iter().find(|(name, _)| name == "image");
        match taken {
            Some((_, taken)) if RETURNING_THE_PICTURE.contains(&step.tool.as_str()) => parts = taken.clone(),
            _ => break,
        }
    }
    parts
}

/// Whether two values take the same results. A whole result, without a key, stands for any of its outputs.
fn is_same_flow(parts: &[Part], right: &[Part]) -> bool {
    let given = |parts: &[Part]| -> BTreeSet<(usize, Option<String>)> {
        let given = parts.iter().filter_map(|part| match part {
            Part::Given(giver, key) => Some((*giver, key.clone())),
            Part::Words(_) => None,
        });
        given.collect()
    };
    let (given, right) = (given(parts), given(right));
    let is_in = |one: &(usize, Option<String>), others: &BTreeSet<(usize, Option<String>)>| {
        others
            .iter()
            .any(|other| one.0 == other.0 && (one.1 == other.1 || one.1.is_none() || other.1.is_none()))
    };
    given.iter().all(|one| is_in(one, &right)) && right.iter().all(|one| is_in(one, &given))
}

/// Whether a value with the right results is the right one as well.
fn is_same_value(argument: &str, parts: &[Part], right: &[Part], request: &HashSet<String>) -> bool {
    let text = |parts: &[Part]| -> String {
        let words = parts.iter().map(|part| match part {
            Part::Words(words) => words.as_str(),
            // Keeps the words on both sides of a result apart.
            Part::Given(..) => " ",
        });
        words.collect()
    };
    let is_plain = |parts: &[Part]| parts.iter().all(|part| matches!(part, Part::Words(_)));
    let (predicted, gold) = (words_of(&text(parts)), words_of(&text(right)));
    match kind(argument) {
        // With a result in it, only the bare result is the same: what is around it changes it.
        Kind::Exact => normalised(parts, 0) == normalised(right, 0),
        Kind::Number => {
            let (parts_text, right_text) = (text(parts), text(right));
            match is_plain(parts) && is_plain(right) {
                true => {
                    numbers_of(&parts_text) == numbers_of(&right_text) && !numbers_of(&right_text).is_empty()
                }
                false => parts_text.trim() == right_text.trim(),
            }
        }
        kind @ (Kind::Name | Kind::Question | Kind::Free) => has_words(kind, &predicted, &gold, request),
    }
}

/// Whether the words of a value are right: those that the right value shares with the request are determined.
fn has_words(
    kind: Kind,
    predicted: &HashSet<String>,
    gold: &HashSet<String>,
    request: &HashSet<String>,
) -> bool {
    let is_known = |word: &String| gold.contains(word) || request.contains(word);
    let determined: Vec<&String> = gold.intersection(request).collect();
    let found = determined.iter().filter(|word| predicted.contains(**word)).count();
    let (has_all, has_new) = (found == determined.len(), !predicted.iter().all(is_known));
    let adds_denial =
        DENIALS.iter().any(|denial| predicted.contains(*denial) && !is_known(&(*denial).to_owned()));
    // Where nothing is determined, something that belongs to the matter is enough.
    let belongs = !determined.is_empty() || gold.is_empty() || predicted.iter().any(is_known);
    match kind {
        Kind::Name => has_all && !has_new && belongs,
        Kind::Question => !adds_denial && belongs && (has_all || (2 * found >= determined.len() && !has_new)),
        _ => !adds_denial && belongs && has_all,
    }
}

/// The words of a text that have content, in a form that endings do not change.
fn words_of(text: &str) -> HashSet<String> {
    let text = text.to_lowercase().replace(['\'', '\u{2019}'], " ");
    let words = text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    let words = words.filter(|word| !EMPTY_WORDS.split_whitespace().any(|empty| empty == *word));
    words.map(stem).collect()
}

/// A word without the endings of English that change no meaning.
fn stem(word: &str) -> String {
    let is_long = |stem: &str| stem.chars().count() >= 3;
    for (ending, instead) in
        [("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("e", "")]
    {
        if let Some(stem) = word.strip_suffix(ending).filter(|stem| is_long(stem) && !word.ends_with("ss")) {
            return stem.to_owned() + instead;
        }
    }
    word.to_owned()
}

/// The numbers in a text, and its words, so that another notation of the same day or place is the same.
fn numbers_of(text: &str) -> Vec<String> {
    let is_of_number = |character: char| character.is_alphanumeric() || matches!(character, '.' | '-' | '+');
    let parts = match text.trim().parse::<f64>() {
        Ok(_) => vec![text.trim()],
        // Not a number, and perhaps a day: `05-12` has the parts of `5/12`.
        Err(_) => text.split(|it: char| !is_of_number(it) || it == '-').filter(|it| !it.is_empty()).collect(),
    };
    let number =
        |part: &str| part.parse::<f64>().map_or_else(|_| part.to_lowercase(), |number| number.to_string());
    parts.into_iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(giver: usize, key: &str) -> Part {
        Part::Given(giver, Some(key.to_owned()))
    }

    /// The argument, the value, the right value, the request, and whether the value is right.
    #[test]
    fn values_that_the_request_determines_have_to_be_right() {
        const LIGHTHOUSE: &str = "Write a limerick about a lighthouse keeper who is afraid of the dark.";
        const RIGHT: &str = "a limerick about a lighthouse keeper who is afraid of the dark";
        let cases = [
            ("text", RIGHT, RIGHT, "", true),
            ("text", LIGHTHOUSE, RIGHT, LIGHTHOUSE, true),
            (
                "text",
                "Limerick: the keeper of a lighthouse, afraid of darkness or the dark",
                RIGHT,
                LIGHTHOUSE,
                true,
            ),
            ("text", "x", RIGHT, LIGHTHOUSE, false),
            ("text", "a limerick about a baker who is afraid of the dark", RIGHT, LIGHTHOUSE, false),
            (
                "text",
                "a limerick about a lighthouse keeper who is not afraid of the dark",
                RIGHT,
                LIGHTHOUSE,
                false,
            ),
            (
                "prompt",
                "make the ball blue instead of green",
                "change the green ball to blue",
                "adjust it so the green ball in the picture becomes blue",
                true,
            ),
            (
                "prompt",
                "make the ball red",
                "change the green ball to blue",
                "adjust it so the green ball in the picture becomes blue",
                false,
            ),
            // Nothing is determined: the request says it in other words.
            (
                "question",
                "Who directed it?",
                "Who made the film?",
                "Answer who was behind the camera.",
                false,
            ),
            (
                "question",
                "Whose film is it?",
                "Who made the film?",
                "Answer who was behind the camera.",
                true,
            ),
            (
                "question",
                "Who made it?",
                "Who made the film?",
                "Find the film, and answer who made it.",
                true,
            ),
            (
                "question",
                "Who paid for it?",
                "Who made the film?",
                "Find the film, and answer who made it.",
                false,
            ),
            ("question", "Who is it?", "Who made the film?", "Find the film, and answer who made it.", false),
            ("emoji", "smiling", "smiling face", "put a smiling emoji over the dog", true),
            ("emoji", "crying face", "smiling face", "put a smiling emoji over the dog", false),
            ("emoji", "heart", "red heart", "put a sign of love over the dog", true),
            ("emoji", "skull", "red heart", "put a sign of love over the dog", false),
            ("image", "A.jpg", "a.jpg", "", true),
            ("image", "b.jpg", "a.jpg", "a.jpg b.jpg", false),
            ("date", "05/12", "5/12", "", true),
            ("date", "5/13", "5/12", "", false),
            ("date", "12/5", "5/12", "", false),
            ("year", "1927.0", "1927", "", true),
            ("year", "1928", "1927", "", false),
            ("lon", "-2.50", "-2.5", "", true),
            ("lon", "2.5", "-2.5", "", false),
            ("city", "Paris, France", "Paris", "the weather in Paris in France", true),
            ("city", "Paris, Texas", "Paris", "the weather in Paris", false),
            ("city", "London", "Paris", "the weather in Paris", false),
            ("object_name", "bicycles", "bicycle", "Cut the bicycle out", true),
            ("object_name", "the bicycle", "bicycle", "Cut the bicycle out", true),
            ("object_name", "bus", "bicycle", "Cut the bicycle out", false),
            ("first_name", "Ann", "ann", "", true),
            ("first_name", "Bo", "ann", "ann and Bo", false),
        ];
        for (argument, value, right, request, is_right) in cases {
            let step = |value: &str| {
                let parts = vec![Part::Words(value.to_owned())];
                vec![Step { tool: "t".to_owned(), arguments: vec![(argument.to_owned(), parts)] }]
            };
            let found = arguments_right(&step(value), &step(right), request);
            assert_eq!(
                found,
                ArgumentsRight { flow: true, values: is_right },
                "{argument}: {value:?}, {right:?}"
            );
        }
    }

    #[test]
    fn results_have_to_go_where_they_should() {
        let words = |text: &str| Part::Words(text.to_owned());
        let detect = Step {
            tool: "object_detection".to_owned(),
            arguments: vec![("image".to_owned(), vec![words("a.jpg")])],
        };
        // The argument, its parts, the right ones, and whether flow and values are right.
        let cases = [
            ("text", vec![given(0, "text")], vec![given(0, "text")], [true, true]),
            ("text", vec![words("sum up: "), given(0, "text")], vec![given(0, "text")], [true, true]),
            ("text", vec![Part::Given(0, None)], vec![given(0, "text")], [true, true]),
            ("text", vec![words("a story")], vec![given(0, "text")], [false, true]),
            ("text", vec![given(0, "text")], vec![words("a story")], [false, true]),
            ("text", vec![given(0, "objects")], vec![given(0, "text")], [false, true]),
            ("text", vec![given(0, "text"), given(0, "image")], vec![given(0, "text")], [false, true]),
            // Detection returns the picture that it got.
            ("image", vec![given(0, "image")], vec![words("a.jpg")], [true, true]),
            ("image", vec![words("b.jpg")], vec![words("a.jpg")], [true, false]),
            (
                "objects",
                vec![words("['"), given(0, "objects"), words("']")],
                vec![given(0, "objects")],
                [true, false],
            ),
        ];
        for (argument, parts, right, [flow, values]) in cases {
            let steps = |parts: Vec<Part>| {
                let step = Step { tool: "t".to_owned(), arguments: vec![(argument.to_owned(), parts)] };
                vec![detect.clone(), step]
            };
            let found = arguments_right(&steps(parts.clone()), &steps(right), "");
            assert_eq!(found, ArgumentsRight { flow, values }, "{argument}: {parts:?}");
        }
    }
}
