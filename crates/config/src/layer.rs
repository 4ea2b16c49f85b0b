//! From TOML to settings: names checked, types checked, paths resolved.

use std::ffi::OsString;
use std::ops::Range;
use std::path::Path;

use planproof_output::secrets;
use planproof_trace::names_secret;
use toml::Spanned;
use toml::de::{DeInteger, DeString, DeTable, DeValue};

use crate::keys::{ConfigKey, KeySection, ValueKind};
use crate::texts;

/// The minimum similarity of two names (Jaro, 0 to 1) for a suggestion.
const LIKENESS_MIN: f64 = 0.8;

/// One key that is set.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// The sections above it, from the root on.
    pub(crate) path: Vec<String>,
    /// The key.
    pub(crate) key: ConfigKey,
    /// Its value, as the words of a command line; `None` for the option without a value.
    pub(crate) words: Vec<Option<OsString>>,
    /// Where the value stands.
    pub(crate) span: Range<usize>,
}

/// A mistake, and where it is.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    pub(crate) span: Range<usize>,
    pub(crate) what: String,
    /// What stands there must not be shown.
    pub(crate) is_secret: bool,
}

/// How values are read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading<'a> {
    /// What paths are relative to.
    pub(crate) folder: &'a Path,
    /// If the value has another type than the key, it is used unchanged; an empty value unsets the key.
    pub(crate) raw: Option<&'a str>,
}

impl Entry {
    /// The key with its sections, as in `test.cases`.
    pub(crate) fn full_name(&self) -> String {
        dotted(&self.path, &self.key.name)
    }
}

fn dotted(path: &[String], name: &str) -> String {
    path.iter().map(String::as_str).chain([name]).collect::<Vec<_>>().join(".")
}

/// All settings of a document, in no particular order.
///
/// # Errors
/// All its mistakes, in the order of the text.
pub(crate) fn read(text: &str, root: &KeySection, reading: Reading<'_>) -> Result<Vec<Entry>, Vec<Problem>> {
    let table = DeTable::parse(text).map_err(|error| {
        // Without a parsed document, no key tells where a secret could be, so any suspicious line of the text counts.
        let span = error.span().unwrap_or(0..0);
        vec![Problem { span, what: error.message().to_owned(), is_secret: secrets::may_hold_secret(text) }]
    })?;
    let mut walk = Walk { root, reading, entries: Vec::new(), problems: Vec::new() };
    walk.table(root, &[], table.get_ref());
    walk.problems.sort_by_key(|problem| problem.span.start);
    if walk.problems.is_empty() { Ok(walk.entries) } else { Err(walk.problems) }
}

struct Walk<'a> {
    root: &'a KeySection,
    reading: Reading<'a>,
    entries: Vec<Entry>,
    problems: Vec<Problem>,
}

impl Walk<'_> {
    fn table(&mut self, section: &KeySection, path: &[String], table: &DeTable<'_>) {
        for (name, value) in table {
            let below = section.section(name.get_ref());
            match (below, section.key(name.get_ref()), value.get_ref()) {
                (Some(below), _, DeValue::Table(table)) => {
                    let path: Vec<String> = path.iter().cloned().chain([below.name.clone()]).collect();
                    self.table(below, &path, table);
                }
                (Some(below), _, _) => {
                    let header = dotted(path, &below.name);
                    self.problem(
                        name.span(),
                        format!("this is a section: write [{header}] and its keys below"),
                    );
                }
                (None, Some(key), _) => self.entry(key, path, value),
                (None, None, _) => self.unknown(section, path, name, value),
            }
        }
    }

    fn entry(&mut self, key: &ConfigKey, path: &[String], value: &Spanned<DeValue<'_>>) {
        let span = value.span();
        match words(key, value.get_ref(), self.reading) {
            Ok(words)
                if words.iter().flatten().any(|word| secrets::holds_secret(&word.to_string_lossy())) =>
            {
                let what = format!(
                    "`{}` holds what looks like a key or a password; leave it to the environment, as in OPENAI_API_KEY",
                    dotted(path, &key.name)
                );
                self.problems.push(Problem { span, what, is_secret: true });
            }
            Ok(words) => {
                self.entries.push(Entry { path: path.to_owned(), key: key.clone(), words, span });
            }
            Err(what) => {
                let is_secret =
                    matches!(value.get_ref(), DeValue::String(text) if secrets::holds_secret(text));
                self.problems.push(Problem { span, what, is_secret });
            }
        }
    }

    fn unknown(
        &mut self,
        section: &KeySection,
        path: &[String],
        name: &Spanned<DeString<'_>>,
        value: &Spanned<DeValue<'_>>,
    ) {
        let shown: &str = name.get_ref();
        // Before any advice, which would tell the user another place for the secret.
        if holds_secret(shown, value.get_ref()) {
            let what = format!(
                "`{}`: no key or password belongs in this file, which others may read; set OPENAI_API_KEY in the \
                 environment",
                dotted(path, shown)
            );
            self.problems.push(Problem { span: name.span(), what, is_secret: true });
            return;
        }
        let is_table = matches!(value.get_ref(), DeValue::Table(_));
        let kind = if is_table { "section" } else { "key" };
        let advice = match self.place_elsewhere(section, shown) {
            Some(header) if !is_table => format!("; it belongs in [{header}]"),
            _ => nearest(section, shown, is_table).map_or_else(
                || format!("; there are {}", known(section, is_table)),
                |near| format!("; did you mean `{near}`?"),
            ),
        };
        let of = if path.is_empty() { String::new() } else { format!(" in [{}]", path.join(".")) };
        self.problem(name.span(), format!("there is no {kind} `{shown}`{of}{advice}"));
    }

    /// The section that has this key, where only one has.
    fn place_elsewhere(&self, section: &KeySection, name: &str) -> Option<&str> {
        // Only a key above all sections is taken for one whose header was forgotten.
        let mut others = self.root.sections.iter().filter(|other| other.key(name).is_some());
        let found = others.next().filter(|_| section.name.is_empty() && others.next().is_none());
        // Most of the shared options are for `test`.
        let test =
            || self.root.section("test").filter(|test| section.name.is_empty() && test.key(name).is_some());
        found.or_else(test).map(|section| section.name.as_str())
    }

    fn problem(&mut self, span: Range<usize>, what: String) {
        self.problems.push(Problem { span, what, is_secret: false });
    }
}

fn holds_secret(name: &str, value: &DeValue<'_>) -> bool {
    match value {
        DeValue::String(text) => names_secret(name) || secrets::holds_secret(text),
        DeValue::Table(table) => {
            table.iter().any(|(name, value)| holds_secret(name.get_ref(), value.get_ref()))
        }
        DeValue::Array(values) => values.iter().any(|value| holds_secret(name, value.get_ref())),
        _ => false,
    }
}

/// The key or section with the most similar name.
fn nearest<'s>(section: &'s KeySection, name: &str, is_table: bool) -> Option<&'s str> {
    let plain = name.replace('_', "-").to_lowercase();
    names(section, is_table)
        .into_iter()
        .map(|candidate| (strsim::jaro(&plain, candidate), candidate))
        .filter(|(likeness, _)| *likeness > LIKENESS_MIN)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate)
}

fn names(section: &KeySection, is_table: bool) -> Vec<&str> {
    if is_table {
        section.sections.iter().map(|section| section.name.as_str()).collect()
    } else {
        section.keys.iter().map(|key| key.name.as_str()).collect()
    }
}

fn known(section: &KeySection, is_table: bool) -> String {
    match names(section, is_table) {
        names if names.is_empty() => "none here".to_owned(),
        names => names.join(", "),
    }
}

/// What a value is, as the words of a command line.
///
/// # Errors
/// The key does not accept it; the text says what it accepts.
fn words(
    key: &ConfigKey,
    value: &DeValue<'_>,
    reading: Reading<'_>,
) -> Result<Vec<Option<OsString>>, String> {
    if reading.raw == Some("") {
        return Ok(Vec::new());
    }
    if let DeValue::Array(values) = value
        && key.is_list
    {
        return values.iter().map(|value| word(key, value.get_ref(), reading).map(Some)).collect();
    }
    if let (DeValue::Boolean(is_set), ValueKind::Switch) = (value, &key.kind) {
        // Without words nothing is added to the command line. The entry still counts, so a nearer `false` hides a
        // `true` above all sections.
        return Ok(if *is_set { vec![None] } else { Vec::new() });
    }
    if let DeValue::Boolean(true) = value
        && key.is_value_optional
    {
        return Ok(vec![None]);
    }
    word(key, value, reading).map(|word| vec![Some(word)])
}

fn word(key: &ConfigKey, value: &DeValue<'_>, reading: Reading<'_>) -> Result<OsString, String> {
    let name = &key.name;
    let takes = || Err(format!("`{name}` takes {}", key.kind.describe()));
    let word = match (&key.kind, value) {
        // Written in decimal, because the command line knows no other notation, such as `0xff`.
        (ValueKind::Whole(least, most), DeValue::Integer(number)) => match whole(number) {
            Some(number) if (*least..=*most).contains(&number) => number.to_string().into(),
            _ => return takes(),
        },
        (ValueKind::Number | ValueKind::Scalar, DeValue::Integer(number)) => match whole(number) {
            Some(number) => number.to_string().into(),
            None => return takes(),
        },
        // The digits of the file, which a conversion to a float and back could change.
        (ValueKind::Number | ValueKind::Scalar, DeValue::Float(number)) => number.as_str().into(),
        (ValueKind::Path, DeValue::String(text)) if text.is_empty() => {
            return Err(format!("`{name}` takes the name of a file, but this is empty"));
        }
        (ValueKind::Path, DeValue::String(text)) => resolve(text, reading.folder),
        (ValueKind::Text | ValueKind::Scalar, DeValue::String(text)) => {
            texts::seen_from(name, text, reading.folder)?.into()
        }
        (ValueKind::Choice(choices), DeValue::String(text))
            if choices.iter().any(|choice| choice == text) =>
        {
            text.as_ref().into()
        }
        // A value of `--set` needs no quotes, so what is meant as a text may be a number or a date to TOML.
        _ => match (reading.raw, &key.kind) {
            (Some(raw), ValueKind::Path) => resolve(raw, reading.folder),
            (Some(raw), ValueKind::Text | ValueKind::Scalar) => raw.into(),
            _ => {
                let list = if key.is_list { ", or a list of them" } else { "" };
                let (takes, given) = (key.kind.describe(), describe(value));
                return Err(format!("`{name}` takes {takes}{list}; this is {given}"));
            }
        },
    };
    if word.to_string_lossy().contains('\0') {
        return Err(format!("`{name}` holds a null character, which no option can"));
    }
    Ok(word)
}

fn whole(number: &DeInteger<'_>) -> Option<i128> {
    i128::from_str_radix(number.as_str(), number.radix()).ok()
}

/// `-` stands for stdin or stdout.
fn resolve(text: &str, folder: &Path) -> OsString {
    if text == "-" { text.into() } else { folder.join(text).into_os_string() }
}

fn describe(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a section",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::example;

    fn read_file(text: &str) -> Result<Vec<Entry>, Vec<Problem>> {
        read(text, &KeySection::root(&example::LINE), Reading { folder: Path::new("folder"), raw: None })
    }

    fn words(text: &str) -> Vec<(String, Vec<Option<String>>)> {
        let entries = read_file(text).expect("has no mistakes");
        let plain = |word: Option<OsString>| word.map(|word| word.into_string().expect("UTF-8"));
        let mut all: Vec<_> = entries
            .into_iter()
            .map(|entry| (entry.full_name(), entry.words.into_iter().map(plain).collect()))
            .collect();
        all.sort();
        all
    }

    #[test]
    fn values_become_words() {
        let one = |name: &str, word: &str| (name.to_owned(), vec![Some(word.to_owned())]);
        assert_eq!(
            words(
                "seed = 0xff\nquiet = true\nstore = \"a/b\"\n[test]\nallow-repeats = false\ntimeout = 1_0.5\nfrom = \"-\"\n\
                 html = \"/tmp/x\"\nactions = 4\nstep-summary = true\n"
            ),
            [
                ("quiet".to_owned(), vec![None]),
                one("seed", "255"),
                one("store", "folder/a/b"),
                one("test.actions", "4"),
                ("test.allow-repeats".to_owned(), vec![]),
                one("test.from", "-"),
                one("test.html", "/tmp/x"),
                ("test.step-summary".to_owned(), vec![None]),
                one("test.timeout", "10.5"),
            ]
        );
    }

    fn key_and_value() -> impl Strategy<Value = String> {
        let key = prop_oneof![
            Just("cases"),
            Just("agent"),
            Just("seed"),
            Just("store"),
            Just("test"),
            Just("runs.show"),
            Just("api-key"),
            Just("ca ses"),
            Just("\"é\""),
        ];
        let value = prop_oneof![
            Just("5"),
            Just("-5"),
            Just("1e3"),
            Just("\"text\""),
            Just("\"sk-0123456789abcdefgh\""),
            Just("true"),
            Just("[1, {a = 2}]"),
            Just("{ cases = 3 }"),
            Just("1979-05-27"),
            Just("'"),
        ];
        prop_oneof![
            3 => (key.clone(), value).prop_map(|(key, value)| format!("{key} = {value}\n")),
            1 => key.prop_map(|key| format!("[{key}]\n")),
            1 => "\\PC{0,10}\n",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

        #[test]
        #[ignore = "slow"]
        fn any_text_is_read_or_its_mistakes_are_places_in_it(lines in prop::collection::vec(key_and_value(), 0..8)) {
            let text = lines.concat();
            if let Err(problems) = read_file(&text) {
                prop_assert!(!problems.is_empty());
                for problem in problems {
                    prop_assert!(text.get(problem.span.clone()).is_some(), "{problem:?}");
                    prop_assert!(!problem.what.contains("sk-0"), "{problem:?}");
                }
            }
        }
    }
}
