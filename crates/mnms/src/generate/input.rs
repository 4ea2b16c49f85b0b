//! Inputs of plans: pictures, recordings, texts, numbers and names, from a folder of files with a manifest or from
//! our own small set.

use std::collections::{BTreeMap, BTreeSet};

use super::manifest::read_line;
use super::own;

/// Longest input text, in characters.
pub const INPUT_CHARACTERS_MAX: usize = 4000;
/// Maximum number of entries of a manifest, and of files in a folder.
pub const INPUTS_MAX: usize = 100_000;
/// The file name of the manifest in its folder.
pub const MANIFEST: &str = "inputs.jsonl";

/// The kind of an input, which determines the tools that it can start with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InputKind {
    Image,
    Audio,
    /// A passage to summarize, classify or ask about.
    Text,
    /// A subject to write about or draw.
    Idea,
    /// A topic to look up.
    Topic,
    /// A day, as month/day.
    Date,
    Year,
    /// A whole number.
    Number,
    Names,
    City,
    /// A longitude and a latitude.
    Place,
    /// A film, given by title and year.
    Film,
}

/// Something that a plan can start from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Input {
    /// Its values, keyed by the argument that takes them. For a file, its name.
    pub values: BTreeMap<String, String>,
    /// What it shows or says, in a few words, for the model that writes a query. May be empty.
    pub about: String,
    /// The objects in a picture.
    pub labels: Vec<String>,
    /// Questions that can be asked about it.
    pub questions: Vec<String>,
    /// Changes that can be made to it.
    pub prompts: Vec<String>,
}

/// Inputs of each kind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inputs {
    by_kind: BTreeMap<InputKind, Vec<Input>>,
    /// Files of no known kind, ordered by name.
    pub ignored: Vec<String>,
}

/// A file of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its name, without the folder.
    pub name: String,
    /// Its content, if it is a text.
    pub text: Option<String>,
}

/// What is wrong with inputs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// A line of the manifest cannot be used.
    #[error("{MANIFEST}:{line}: {why}")]
    Line {
        /// Its number, from 1.
        line: usize,
        why: String,
    },
    /// There is nothing to start a plan from.
    #[error(
        "there is no picture (.jpg, .jpeg, .png), no recording (.flac, .wav), no text (.txt) and no {MANIFEST}"
    )]
    Empty,
    /// A limit is exceeded.
    #[error("there are more than {INPUTS_MAX} inputs")]
    TooMany,
}

impl InputKind {
    /// All kinds.
    pub const ALL: [Self; 12] = [
        Self::Image,
        Self::Audio,
        Self::Text,
        Self::Idea,
        Self::Topic,
        Self::Date,
        Self::Year,
        Self::Number,
        Self::Names,
        Self::City,
        Self::Place,
        Self::Film,
    ];

    /// Its name in a manifest.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Audio => "audio",
            Self::Text => "text",
            Self::Idea => "idea",
            Self::Topic => "topic",
            Self::Date => "date",
            Self::Year => "year",
            Self::Number => "number",
            Self::Names => "names",
            Self::City => "city",
            Self::Place => "place",
            Self::Film => "film",
        }
    }

    /// The fields of a manifest that contain its values, with the arguments that take them.
    pub fn fields(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Image => &[("file", "image")],
            Self::Audio => &[("file", "audio")],
            Self::Text | Self::Idea | Self::Topic => &[("text", "text")],
            Self::Date => &[("date", "date")],
            Self::Year => &[("year", "year")],
            Self::Number => &[("number", "number")],
            Self::Names => &[("first_name", "first_name"), ("second_name", "second_name")],
            Self::City => &[("city", "city")],
            Self::Place => &[("lon", "lon"), ("lat", "lat")],
            Self::Film => &[("title", "movie_title"), ("year", "movie_year")],
        }
    }

    pub(super) fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// The kind of a file, by its extension.
    pub(super) fn of_file(name: &str) -> Option<Self> {
        let (_, end) = name.rsplit_once('.')?;
        match end.to_ascii_lowercase().as_str() {
            "jpg" | "jpeg" | "png" => Some(Self::Image),
            "flac" | "wav" => Some(Self::Audio),
            "txt" => Some(Self::Text),
            _ => None,
        }
    }

    pub(super) fn is_file(self) -> bool {
        matches!(self, Self::Image | Self::Audio)
    }
}

impl Input {
    /// Creates an input with these values for the fields of its kind.
    pub(super) fn new(kind: InputKind, values: &[&str]) -> Self {
        let values = kind.fields().iter().zip(values);
        let values = values.map(|((_, argument), value)| ((*argument).to_owned(), (*value).to_owned()));
        Self { values: values.collect(), ..Self::default() }
    }
}

impl Inputs {
    /// Our own set: names of nonexistent pictures and recordings with descriptions of their content, and some
    /// inputs of every other kind.
    pub fn own() -> Self {
        Self { by_kind: own::inputs(), ignored: Vec::new() }
    }

    /// The inputs of a folder: the entries of its manifest, and the remaining files by their extensions. For kinds
    /// that are not files and that the folder lacks, [our own](Self::own) inputs are used.
    ///
    /// # Errors
    /// A line of the manifest cannot be used or names a missing file, or the folder has neither a file of a known
    /// kind nor a manifest.
    pub fn of_folder(manifest: Option<&str>, files: &[Listed]) -> Result<Self, InputError> {
        if files.len() > INPUTS_MAX {
            return Err(InputError::TooMany);
        }
        let files: BTreeMap<&str, &Listed> = files
            .iter()
            .filter(|file| file.name != MANIFEST)
            .map(|file| (file.name.as_str(), file))
            .collect();
        let mut inputs = Self::default();
        let mut named = BTreeSet::new();
        for (number, line) in manifest.unwrap_or_default().lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            if number >= INPUTS_MAX {
                return Err(InputError::TooMany);
            }
            let fail = |why| InputError::Line { line: number + 1, why };
            let (kind, file, input) = read_line(line, &files).map_err(fail)?;
            if let Some(file) = file
                && !named.insert(file.clone())
            {
                return Err(fail(format!("\"{file}\" is in an earlier line already")));
            }
            inputs.by_kind.entry(kind).or_default().push(input);
        }
        for (name, file) in files.iter().filter(|(name, _)| !named.contains(**name)) {
            match (InputKind::of_file(name), file.text.as_deref().map(str::trim)) {
                (Some(kind), _) if kind.is_file() && is_text(name) => {
                    inputs.by_kind.entry(kind).or_default().push(Input::new(kind, &[name]));
                }
                (Some(kind), Some(text)) if is_text(text) => {
                    inputs.by_kind.entry(kind).or_default().push(Input::new(kind, &[text]));
                }
                // Unlike an entry of the manifest, a file may be in the folder for another reason, so it is listed and
                // not refused.
                _ => inputs.ignored.push((*name).to_owned()),
            }
        }
        if inputs.by_kind.is_empty() {
            return Err(InputError::Empty);
        }
        // Our own pictures and recordings do not exist as files, so they cannot stand in for missing ones.
        for (kind, own) in own::inputs().into_iter().filter(|(kind, _)| !kind.is_file()) {
            inputs.by_kind.entry(kind).or_insert(own);
        }
        Ok(inputs)
    }

    /// The inputs of a kind, in order.
    pub fn of_kind(&self, kind: InputKind) -> &[Input] {
        self.by_kind.get(&kind).map_or(&[], Vec::as_slice)
    }
}

/// Whether a text can be used in a plan, in which `<node-` starts a reference.
pub(super) fn is_text(text: &str) -> bool {
    !text.is_empty() && text.chars().count() <= INPUT_CHARACTERS_MAX && !text.contains("<node-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: Option<&str>) -> Listed {
        Listed { name: name.to_owned(), text: text.map(str::to_owned) }
    }

    #[test]
    fn a_folder_without_a_manifest_is_read_by_the_names_of_its_files() {
        let files = [
            file("b.PNG", None),
            file("a.jpeg", None),
            file("talk.flac", None),
            file("note.txt", Some(" A short note.\n")),
            file("empty.txt", Some(" ")),
            file("film.mp4", None),
            file("README", None),
        ];
        let inputs = Inputs::of_folder(None, &files).unwrap();
        let values = |kind, argument: &str| -> Vec<String> {
            inputs.of_kind(kind).iter().map(|input| input.values[argument].clone()).collect()
        };
        assert_eq!(values(InputKind::Image, "image"), ["a.jpeg", "b.PNG"]);
        assert_eq!(values(InputKind::Audio, "audio"), ["talk.flac"]);
        assert_eq!(values(InputKind::Text, "text"), ["A short note."]);
        assert_eq!(inputs.ignored, ["README", "empty.txt", "film.mp4"]);
        assert_eq!(inputs.of_kind(InputKind::City), Inputs::own().of_kind(InputKind::City));
    }

    #[test]
    fn a_manifest_says_what_is_in_files_and_what_is_in_none() {
        let manifest = r#"
            {"kind": "image", "file": "dog.jpg", "about": "a dog on a beach", "labels": ["dog"], "prompts": ["add a hat"]}
            {"kind": "text", "file": "note.txt", "questions": ["Who wrote it?"]}
            {"kind": "place", "lon": 10.75, "lat": "59.91", "about": "Oslo"}
            {"kind": "film", "title": "Nocturne", "year": 1946}
        "#;
        let files = [file("dog.jpg", None), file("cat.jpg", None), file("note.txt", Some("Dear all"))];
        let inputs = Inputs::of_folder(Some(manifest), &files).unwrap();
        let pictures = inputs.of_kind(InputKind::Image);
        assert_eq!((pictures.len(), pictures[0].labels[0].as_str()), (2, "dog"));
        assert_eq!(inputs.of_kind(InputKind::Text)[0].values["text"], "Dear all");
        assert_eq!(inputs.of_kind(InputKind::Place)[0].values["lon"], "10.75");
        assert_eq!(inputs.of_kind(InputKind::Film)[0].values["movie_year"], "1946");
        assert!(inputs.ignored.is_empty());
    }

    #[test]
    fn what_cannot_be_used_is_said_with_its_line() {
        let files = [file("dog.jpg", None), file("note.txt", Some("Dear all"))];
        for (line, why) in [
            ("{", "EOF"),
            (r#"{"kind": "video", "file": "dog.jpg"}"#, "there is no kind \"video\"; there are image, audio"),
            (r#"{"kind": "image", "file": "cat.jpg"}"#, "there is no file \"cat.jpg\""),
            (r#"{"kind": "audio", "file": "dog.jpg"}"#, "not the name of a file of kind \"audio\""),
            (r#"{"kind": "image"}"#, "\"file\" is missing"),
            (r#"{"kind": "text", "file": "dog.jpg"}"#, "\"dog.jpg\" is no text"),
            (r#"{"kind": "city", "city": " "}"#, "\"city\" must have 1 to 4000 characters"),
            (r#"{"kind": "city", "city": "Oslo", "year": 1900}"#, "kind \"city\" has no \"year\""),
            (r#"{"kind": "year", "year": "last"}"#, "\"year\" is no whole number: \"last\""),
            (r#"{"kind": "number", "number": 1.5}"#, "\"number\" is no whole number"),
            (r#"{"kind": "place", "lon": "NaN", "lat": 1}"#, "\"lon\" is no number"),
            (r#"{"kind": "names", "first_name": "Ada"}"#, "\"second_name\" is missing"),
            (r#"{"kind": "image", "file": "dog.jpg", "colour": "red"}"#, "unknown field `colour`"),
            (r#"{"kind": "text", "text": "x", "questions": [""]}"#, "a text must have 1 to 4000 characters"),
            (r#"{"kind": "text", "text": "see <node-0>.text"}"#, "and no \"<node-\""),
            (r#"{"kind": "image", "file": "dog.jpg"}"#, "is in an earlier line already"),
        ] {
            let first = r#"{"kind": "image", "file": "dog.jpg"}"#;
            let error = Inputs::of_folder(Some(&format!("{first}\n\n{line}\n")), &files).unwrap_err();
            let said = error.to_string();
            assert!(said.starts_with("inputs.jsonl:3: ") && said.contains(why), "{line}: {said}");
        }
        let long = format!(r#"{{"kind": "idea", "text": "{}"}}"#, "x".repeat(INPUT_CHARACTERS_MAX + 1));
        assert!(Inputs::of_folder(Some(&long), &files).is_err());
    }

    #[test]
    fn an_empty_folder_is_an_error() {
        assert_eq!(Inputs::of_folder(None, &[]), Err(InputError::Empty));
        assert_eq!(Inputs::of_folder(None, &[file("a.mp4", None)]), Err(InputError::Empty));
        assert_eq!(Inputs::of_folder(Some("\n"), &[file(MANIFEST, None)]), Err(InputError::Empty));
    }

    #[test]
    fn our_own_set_has_five_of_each_kind() {
        let own = Inputs::own();
        for kind in InputKind::ALL {
            let inputs = own.of_kind(kind);
            assert!(inputs.len() >= 5, "{kind:?}");
            let wanted: BTreeSet<&str> = kind.fields().iter().map(|(_, argument)| *argument).collect();
            for input in inputs {
                assert!(input.values.keys().map(String::as_str).eq(wanted.iter().copied()), "{input:?}");
            }
        }
    }
}
