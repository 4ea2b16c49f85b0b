//! Our own inputs, and the questions and changes for plans whose input provides none.

use std::collections::BTreeMap;

use super::input::{Input, InputKind};

/// Nonexistent pictures: name, what they would show, objects, a question, a change.
const IMAGES: [(&str, &str, &[&str], &str, &str); 6] = [
    (
        "harbour.jpg",
        "three boats and a lighthouse in a small harbour",
        &["boat", "person"],
        "How many boats are there?",
        "make the sea look stormy",
    ),
    (
        "breakfast.jpg",
        "a breakfast table with two cups, bread and an orange",
        &["cup", "orange"],
        "What fruit is on the table?",
        "replace the orange with an apple",
    ),
    (
        "crossing.jpg",
        "people and a yellow bus at a crossing with traffic lights",
        &["bus", "person", "traffic light"],
        "What colour is the bus?",
        "turn the yellow bus blue",
    ),
    (
        "meadow.png",
        "a brown horse and a dog in a meadow",
        &["horse", "dog"],
        "Which animals are in the meadow?",
        "cover the meadow with snow",
    ),
    (
        "notice.png",
        "a notice board with a timetable and a painted sign",
        &["sign"],
        "What does the sign say?",
        "paint the frame of the board green",
    ),
    (
        "kitchen.jpg",
        "a cat asleep on a chair beside an oven",
        &["cat", "chair", "oven"],
        "Where is the cat asleep?",
        "put a red bow on the cat",
    ),
];

/// Nonexistent recordings: name, and what would be said.
const AUDIO: [(&str, &str); 5] = [
    ("talk-01.flac", "a lecturer explains how tides come about"),
    ("talk-02.flac", "a traveller tells of a night train through the mountains"),
    ("reading-01.flac", "somebody reads the beginning of a tale about a clockmaker"),
    ("meeting-01.wav", "two gardeners agree what to plant in spring"),
    ("message-01.wav", "a caller says when the parcel will arrive"),
];

/// Passages, each with a question that it answers.
const TEXTS: [(&str, &str); 6] = [
    (
        "The old bridge was closed in March because two of its cables had rusted through. Until the repair is done, a \
      ferry takes people across every twenty minutes.",
        "Why was the bridge closed?",
    ),
    (
        "Bees find their way home by the sun. When clouds hide it, they use the pattern of light in the open parts of the \
      sky.",
        "What do bees use when clouds hide the sun?",
    ),
    (
        "The bakery on Mill Lane sold its last loaf yesterday. Its owner, who opened it forty years ago, will move to the \
      coast.",
        "How long was the bakery open?",
    ),
    (
        "Glass is made of sand, soda and lime, melted together at more than a thousand degrees and cooled slowly so that \
      it does not crack.",
        "What is glass made of?",
    ),
    (
        "Our team lost the final by one point, but the hall cheered for them as if they had won.",
        "By how much did the team lose?",
    ),
    (
        "The library now lends tools as well as books. Drills and ladders are the first to be gone on Saturdays.",
        "What does the library lend beside books?",
    ),
];

/// Subjects to write about or draw.
const IDEAS: [&str; 6] = [
    "a lighthouse keeper who collects umbrellas",
    "a market under the sea",
    "an old tram that runs at night",
    "a birthday card for a beekeeper",
    "a fox that learns to play chess",
    "a village on the back of a turtle",
];

const TOPICS: [&str; 6] =
    ["Lighthouse", "Photosynthesis", "Marie Curie", "Bicycle", "Great Barrier Reef", "Printing press"];

const DATES: [&str; 6] = ["1/1", "2/29", "4/12", "7/20", "10/31", "12/24"];

const YEARS: [&str; 6] = ["1066", "1492", "1789", "1903", "1969", "1989"];

const NUMBERS: [&str; 6] = ["7", "12", "42", "100", "365", "1729"];

const NAMES: [(&str, &str); 6] = [
    ("Ada", "Charles"),
    ("Mia", "Jonas"),
    ("Layla", "Omar"),
    ("Ines", "Mateo"),
    ("Yuki", "Ren"),
    ("Zoe", "Max"),
];

const CITIES: [&str; 6] = ["Oslo", "Nairobi", "Kyoto", "Lima", "Lisbon", "Wellington"];

/// Longitude, latitude and name.
const PLACES: [(&str, &str, &str); 6] = [
    ("10.75", "59.91", "Oslo"),
    ("36.82", "-1.29", "Nairobi"),
    ("135.77", "35.01", "Kyoto"),
    ("-77.04", "-12.05", "Lima"),
    ("-9.14", "38.72", "Lisbon"),
    ("174.78", "-41.29", "Wellington"),
];

const FILMS: [(&str, &str); 6] = [
    ("Metropolis", "1927"),
    ("The General", "1926"),
    ("Nosferatu", "1922"),
    ("City Lights", "1931"),
    ("Casablanca", "1942"),
    ("Vertigo", "1958"),
];

/// Questions that can be asked about any picture.
const PICTURE_QUESTIONS: [&str; 4] = [
    "What is in the foreground?",
    "Which colour is the most frequent?",
    "Was it taken by day or by night?",
    "What is happening in it?",
];

/// Questions that can be asked about any text.
const TEXT_QUESTIONS: [&str; 4] = [
    "What is it mainly about?",
    "Who or what is named first?",
    "Where does it take place?",
    "What happens in it?",
];

/// Changes that can be made to any picture.
const PROMPTS: [&str; 4] = [
    "make it look like a winter evening",
    "turn it into a pencil drawing",
    "give it warmer colours",
    "let it rain",
];

const OBJECTS: [&str; 5] = ["person", "car", "dog", "tree", "chair"];

const EMOJIS: [&str; 5] = ["smiling_face", "crying_face", "ghost", "robot", "rocket"];

/// Values for an argument that neither an earlier step nor the input provides, chosen by its name and, for
/// questions, by whether the subject is a picture or a text. Empty if we have no value for the argument.
pub(super) fn fillings(argument: &str, is_picture: bool) -> Vec<&'static str> {
    match argument {
        "question" if is_picture => PICTURE_QUESTIONS.to_vec(),
        "question" => TEXT_QUESTIONS.to_vec(),
        "prompt" => PROMPTS.to_vec(),
        "object_name" => OBJECTS.to_vec(),
        "emoji" => EMOJIS.to_vec(),
        "text" => IDEAS.to_vec(),
        "first_name" => NAMES.iter().map(|(first, _)| *first).collect(),
        "second_name" => NAMES.iter().map(|(_, second)| *second).collect(),
        "movie_title" => FILMS.iter().map(|(title, _)| *title).collect(),
        "movie_year" => FILMS.iter().map(|(_, year)| *year).collect(),
        "city" => CITIES.to_vec(),
        "date" => DATES.to_vec(),
        "year" => YEARS.to_vec(),
        "number" => NUMBERS.to_vec(),
        "lon" => PLACES.iter().map(|(lon, _, _)| *lon).collect(),
        "lat" => PLACES.iter().map(|(_, lat, _)| *lat).collect(),
        _ => Vec::new(),
    }
}

/// Our own inputs of every kind.
pub(super) fn inputs() -> BTreeMap<InputKind, Vec<Input>> {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let image = |(file, about, labels, question, prompt): &(&str, &str, &[&str], &str, &str)| Input {
        about: (*about).to_owned(),
        labels: owned(labels),
        questions: owned(&[question]),
        prompts: owned(&[prompt]),
        ..Input::new(InputKind::Image, &[file])
    };
    let audio = |(file, about): &(&str, &str)| Input {
        about: (*about).to_owned(),
        ..Input::new(InputKind::Audio, &[file])
    };
    let text = |(text, question): &(&str, &str)| Input {
        questions: owned(&[question]),
        ..Input::new(InputKind::Text, &[text])
    };
    let place = |(lon, lat, city): &(&str, &str, &str)| Input {
        about: (*city).to_owned(),
        ..Input::new(InputKind::Place, &[lon, lat])
    };
    let single =
        |kind, values: &[&str]| values.iter().map(|value| Input::new(kind, &[value])).collect::<Vec<_>>();
    let pairs = |kind, values: &[(&str, &str)]| {
        values.iter().map(|(first, second)| Input::new(kind, &[first, second])).collect::<Vec<_>>()
    };
    BTreeMap::from([
        (InputKind::Image, IMAGES.iter().map(image).collect()),
        (InputKind::Audio, AUDIO.iter().map(audio).collect()),
        (InputKind::Text, TEXTS.iter().map(text).collect()),
        (InputKind::Idea, single(InputKind::Idea, &IDEAS)),
        (InputKind::Topic, single(InputKind::Topic, &TOPICS)),
        (InputKind::Date, single(InputKind::Date, &DATES)),
        (InputKind::Year, single(InputKind::Year, &YEARS)),
        (InputKind::Number, single(InputKind::Number, &NUMBERS)),
        (InputKind::Names, pairs(InputKind::Names, &NAMES)),
        (InputKind::City, single(InputKind::City, &CITIES)),
        (InputKind::Place, PLACES.iter().map(place).collect()),
        (InputKind::Film, pairs(InputKind::Film, &FILMS)),
    ])
}
