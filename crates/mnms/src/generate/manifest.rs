//! The manifest of a folder of inputs, line by line.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::input::{INPUT_CHARACTERS_MAX, Input, InputKind, Listed, is_text};

/// A line of a manifest.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    kind: String,
    file: Option<String>,
    text: Option<String>,
    date: Option<String>,
    year: Option<Figure>,
    number: Option<Figure>,
    first_name: Option<String>,
    second_name: Option<String>,
    city: Option<String>,
    lon: Option<Figure>,
    lat: Option<Figure>,
    title: Option<String>,
    #[serde(default)]
    about: String,
    #[serde(default)]
    labels: Vec<String>,
    #[serde(default)]
    questions: Vec<String>,
    #[serde(default)]
    prompts: Vec<String>,
}

/// A number, or a text that contains one.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Figure {
    Number(serde_json::Number),
    Text(String),
}

impl Figure {
    fn into_text(self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text,
        }
    }
}

/// The message of a JSON error, without the line number, which is always 1.
pub(super) fn of_line(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", " at column ")
}

/// An entry of a manifest: its kind, its file, and the input.
pub(super) fn read_line(
    line: &str,
    files: &BTreeMap<&str, &Listed>,
) -> Result<(InputKind, Option<String>, Input), String> {
    let line: Line = serde_json::from_str(line).map_err(|error| of_line(&error))?;
    let Some(kind) = InputKind::find(&line.kind) else {
        let known = InputKind::ALL.map(InputKind::as_str).join(", ");
        return Err(format!("there is no kind \"{}\"; there are {known}", line.kind));
    };
    let listed = match &line.file {
        None => None,
        Some(file) => Some(
            *files.get(file.as_str()).ok_or_else(|| format!("there is no file \"{file}\" in the folder"))?,
        ),
    };
    let is_of_kind = |file: &Listed| InputKind::of_file(&file.name) == Some(kind);
    if let Some(file) = listed.filter(|file| kind.is_file() && !is_of_kind(file)) {
        return Err(format!("\"{}\" has not the name of a file of kind \"{}\"", file.name, kind.as_str()));
    }
    // A passage may be in a separate file.
    let text_of_file = match (&line.text, listed) {
        (None, Some(file)) if !kind.is_file() => {
            let text = file.text.as_ref().ok_or_else(|| format!("\"{}\" is no text", file.name))?;
            Some(text.trim().to_owned())
        }
        _ => None,
    };
    let mut given: BTreeMap<&str, String> = [
        // For other kinds, a file only provides the text and is not a value itself.
        ("file", line.file.clone().filter(|_| kind.is_file())),
        ("text", line.text.or(text_of_file)),
        ("date", line.date),
        ("year", line.year.map(Figure::into_text)),
        ("number", line.number.map(Figure::into_text)),
        ("first_name", line.first_name),
        ("second_name", line.second_name),
        ("city", line.city),
        ("lon", line.lon.map(Figure::into_text)),
        ("lat", line.lat.map(Figure::into_text)),
        ("title", line.title),
    ]
    .into_iter()
    .filter_map(|(field, value)| Some((field, value?)))
    .collect();
    let mut values = BTreeMap::new();
    for (field, argument) in kind.fields() {
        let value = given
            .remove(field)
            .ok_or_else(|| format!("\"{field}\" is missing, which kind \"{}\" has", kind.as_str()))?;
        if !is_text(value.trim()) {
            return Err(format!(
                "\"{field}\" must have 1 to {INPUT_CHARACTERS_MAX} characters, and no \"<node-\""
            ));
        }
        if matches!(*field, "year" | "number") && value.trim().parse::<i64>().is_err() {
            return Err(format!("\"{field}\" is no whole number: \"{value}\""));
        }
        if matches!(*field, "lon" | "lat") && !value.trim().parse::<f64>().is_ok_and(f64::is_finite) {
            return Err(format!("\"{field}\" is no number: \"{value}\""));
        }
        values.insert((*argument).to_owned(), value.trim().to_owned());
    }
    // What is left are fields of other kinds.
    if let Some(field) = given.keys().next() {
        return Err(format!("kind \"{}\" has no \"{field}\"", kind.as_str()));
    }
    let said = [&line.labels, &line.questions, &line.prompts];
    if !said.into_iter().flatten().all(|text| is_text(text.trim()))
        || line.about.chars().count() > INPUT_CHARACTERS_MAX
    {
        return Err(format!("a text must have 1 to {INPUT_CHARACTERS_MAX} characters, and no \"<node-\""));
    }
    let Line { file, about, labels, questions, prompts, .. } = line;
    Ok((kind, file, Input { values, about, labels, questions, prompts }))
}
