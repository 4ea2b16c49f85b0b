//! The origin of a value, for messages.

use std::path::PathBuf;
use std::rc::Rc;

use miette::{LabeledSpan, MietteDiagnostic, NamedSource};
use planproof_output::failure::Failure;
use planproof_output::secrets;

use crate::layer::{Entry, Problem};
use crate::reach::Standing;

/// Where all keys are described.
const MANUAL: &str =
    "`planproof init --schema` prints all keys with their types; docs/configuration.md explains them";

/// Settings from outside of the command line's options.
#[derive(Debug, Default)]
pub struct Configured(pub(crate) Vec<Setting>);

/// A key in effect.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    pub(crate) entry: Entry,
    pub(crate) origin: Origin,
}

#[derive(Debug, Clone)]
pub(crate) enum Origin {
    File(Rc<Source>),
    Set,
}

/// A configuration file.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) standing: Standing,
}

impl Source {
    /// The line of a place in the text, counted from 1.
    pub(crate) fn line(&self, place: usize) -> usize {
        self.text.bytes().take(place).filter(|byte| *byte == b'\n').count() + 1
    }

    /// An error that shows the lines at fault.
    pub(crate) fn diagnosis(&self, what: String, labels: impl IntoIterator<Item = LabeledSpan>) -> Failure {
        let diagnosis = MietteDiagnostic::new(what)
            .with_code("planproof::configuration")
            .with_labels(labels)
            .with_help(MANUAL);
        let source = NamedSource::new(self.path.display().to_string(), self.text.clone());
        Failure::Diagnosis(miette::Report::new(diagnosis).with_source_code(source))
    }

    /// All mistakes of the file. If it may contain a key or a password, its lines are not shown, and if one of the
    /// mistakes is containing one, only that is reported.
    pub(crate) fn refuse(&self, problems: &[Problem]) -> Failure {
        if !problems.iter().any(|problem| problem.is_secret) && !secrets::may_hold_secret(&self.text) {
            let what = format!("{} cannot be used", self.path.display());
            return self.diagnosis(
                what,
                problems.iter().map(|problem| LabeledSpan::at(problem.span.clone(), &problem.what)),
            );
        }
        let has_secret = problems.iter().any(|problem| problem.is_secret);
        let lines: Vec<String> = problems
            .iter()
            .filter(|problem| problem.is_secret || !has_secret)
            .map(|problem| {
                format!("{}, line {}: {}", self.path.display(), self.line(problem.span.start), problem.what)
            })
            .collect();
        // The first line gets its `error: ` where the failure is printed.
        Failure::usage(lines.join("\nerror: "))
    }
}

impl Origin {
    pub(crate) fn file(&self) -> Option<&Source> {
        match self {
            Self::File(source) => Some(source),
            Self::Set => None,
        }
    }
}

impl Setting {
    /// Where the value comes from.
    pub(crate) fn note(&self) -> String {
        let name = self.entry.full_name();
        match &self.origin {
            Origin::Set => format!("note: {name} is from --set"),
            Origin::File(source) => {
                let line = source.line(self.entry.span.start);
                format!("note: {name} is from {}, line {line}", source.path.display())
            }
        }
    }

    pub(crate) fn file(&self) -> Option<&Source> {
        self.origin.file()
    }
}

impl Configured {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The origins of the values in an error message, by their names or literally.
    pub fn notes(&self, message: &str) -> Vec<String> {
        let is_word = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        let speaks_of = |text: &str| {
            message.match_indices(text).any(|(place, text)| {
                // `--cases` is about the key `cases`, but `--max-cases` is not.
                let before = message[..place].trim_end_matches("--");
                !before.ends_with(is_word) && !message[place + text.len()..].starts_with(is_word)
            })
        };
        let is_meant = |setting: &&Setting| {
            let values = setting.entry.words.iter().flatten().filter_map(|word| word.to_str());
            // Shorter values, such as `5`, occur in messages by chance.
            speaks_of(&setting.entry.key.name) || values.filter(|value| value.len() > 2).any(speaks_of)
        };
        self.0.iter().filter(is_meant).map(Setting::note).collect()
    }

    /// Whether nothing is said only because a file in a folder above says so.
    pub fn is_hushed_from_above(&self) -> bool {
        let is_above =
            |setting: &Setting| setting.file().is_some_and(|source| source.standing == Standing::Above);
        self.0.iter().any(|setting| setting.entry.key.name == "quiet" && is_above(setting))
    }

    /// The file and its keys in the command's own section, for a line of progress; `None` if there are none.
    pub fn summary(&self) -> Option<String> {
        let mut from = None;
        let mut keys = Vec::new();
        for setting in &self.0 {
            if let Some(source) = setting.file()
                && !setting.entry.path.is_empty()
            {
                from = Some(source);
                keys.push(setting.entry.key.name.as_str());
            }
        }
        from.map(|source| format!("from {}: {}", source.path.display(), keys.join(", ")))
    }
}
