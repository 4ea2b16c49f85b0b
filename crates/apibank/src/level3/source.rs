//! The published tools of level 3, whose tables and descriptions are Python: a file for each tool in the folder
//! `lv3_apis` of the authors' repository.
//!
//! Nothing is executed. Of each class, only what is assigned as a literal is read: `description`, `input_parameters`
//! and `output_parameters` of the class, and the parts of `self` in its `__init__`. The values take the form of
//! [tables](super::tables): tuples become lists, dictionaries with numbers as keys lists of keys and values, dates
//! texts.

use crate::catalogue::ApiSpec;
use crate::value::{Dict, PythonValue};

/// Maximum nesting of a value.
const DEPTH_MAX: usize = 32;

/// What a file says about a tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ToolSource {
    /// The description of the tool.
    pub(super) spec: ApiSpec,
    /// Its tables, by name; empty if it has none.
    pub(super) tables: Dict,
}

/// Reads the tool in a file; `None` if there is no class of a tool in it.
///
/// # Errors
/// A class lacks its description or its parameters; the error says which.
pub(super) fn read_tool(text: &str) -> Result<Option<ToolSource>, String> {
    let class_name = |line: &str| line.strip_prefix("class ")?.strip_suffix("(API):").map(str::to_owned);
    let mut places = lines(text);
    let Some((start, name)) = places.find_map(|(place, line)| Some((place, class_name(line.trim_end())?)))
    else {
        return Ok(None);
    };
    let body = &text[start..];
    let part = |part: &str| {
        let value = assigned(body, &format!("    {part} = "));
        value.ok_or_else(|| format!("the class `{name}` has no literal `{part}`"))
    };
    let record = [
        ("name", PythonValue::from(name.as_str())),
        ("description", part("description")?),
        ("input_parameters", part("input_parameters")?),
        ("output_parameters", part("output_parameters")?),
    ];
    let record = PythonValue::Dict(record.map(|(key, value)| (key.to_owned(), value)).into());
    let spec = ApiSpec::of_record(&record).map_err(|lack| format!("the class `{name}` lacks {lack}"))?;
    Ok(Some(ToolSource { spec, tables: tables(body) }))
}

/// The tables that `__init__` assigns.
fn tables(class: &str) -> Dict {
    let mut tables = Dict::new();
    let mut is_inside = false;
    for (place, line) in lines(class) {
        if line.starts_with("    def ") {
            is_inside = line.starts_with("    def __init__(");
        }
        // At any depth, because a table may be the usual value of a parameter.
        let name = line.trim_start().strip_prefix("self.").and_then(|rest| rest.split_once(" = "));
        if let (true, Some((name, value))) = (is_inside, name) {
            let from = place + line.len() - value.len();
            // What is no literal is computed from others, and no table.
            if let Some(value) = literal(&class[from..]) {
                tables.insert(name.to_owned(), value);
            }
        }
    }
    tables
}

/// The literal that the first line with this beginning assigns.
fn assigned(class: &str, beginning: &str) -> Option<PythonValue> {
    let (place, _) = lines(class).find(|(_, line)| line.starts_with(beginning))?;
    literal(&class[place + beginning.len()..])
}

/// The literal that a text begins with, if its line ends with it.
fn literal(text: &str) -> Option<PythonValue> {
    let mut reader = Reader { rest: text };
    let value = reader.value(0)?;
    let behind = reader.rest.lines().next().unwrap_or_default().trim();
    (behind.is_empty() || behind.starts_with('#')).then_some(value)
}

/// The lines of a text, each with its place in it.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut place = 0;
    text.split_inclusive('\n').map(move |line| {
        let at = place;
        place += line.len();
        (at, line.trim_end_matches(['\n', '\r']))
    })
}

struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    /// What comes after white space, comments and continued lines.
    fn next(&self) -> &'t str {
        let mut rest = self.rest;
        loop {
            rest = rest.trim_start();
            rest = match rest.chars().next() {
                Some('#') => rest.find('\n').map_or("", |end| &rest[end..]),
                Some('\\') if rest[1..].starts_with(['\r', '\n']) => &rest[1..],
                _ => return rest,
            };
        }
    }

    /// Takes a sign. If something else comes next, nothing is taken, not even the end of the line.
    fn take(&mut self, sign: &str) -> bool {
        let after = self.next().strip_prefix(sign);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn value(&mut self, depth: usize) -> Option<PythonValue> {
        // The reader is recursive, so the brackets of a file must not determine the depth of the stack.
        if depth > DEPTH_MAX {
            return None;
        }
        self.rest = self.next();
        match self.rest.chars().next()? {
            '[' => self.items(depth, "[", "]").map(PythonValue::List),
            '(' => self.items(depth, "(", ")").map(PythonValue::List),
            '{' => self.dict(depth),
            '\'' | '"' => self.text().map(PythonValue::Text),
            _ => self.word(depth),
        }
    }

    fn items(&mut self, depth: usize, open: &str, close: &str) -> Option<Vec<PythonValue>> {
        self.take(open);
        let mut items = Vec::new();
        while !self.take(close) {
            items.push(self.value(depth + 1)?);
            if !self.take(",") {
                return self.take(close).then_some(items);
            }
        }
        Some(items)
    }

    /// A dictionary. One with a key that is not a text becomes a list of keys and values.
    fn dict(&mut self, depth: usize) -> Option<PythonValue> {
        self.take("{");
        let mut entries = Vec::new();
        while !self.take("}") {
            let key = self.value(depth + 1)?;
            if !self.take(":") {
                return None;
            }
            entries.push((key, self.value(depth + 1)?));
            if !self.take(",") {
                if self.take("}") {
                    break;
                }
                return None;
            }
        }
        let texts = entries.iter().map(|(key, value)| Some((key.as_text()?.to_owned(), value.clone())));
        if let Some(dict) = texts.collect::<Option<Dict>>() {
            return Some(PythonValue::Dict(dict));
        }
        let row = |(key, value)| {
            PythonValue::Dict(Dict::from([("key".to_owned(), key), ("value".to_owned(), value)]))
        };
        Some(PythonValue::List(entries.into_iter().map(row).collect()))
    }

    /// A text in single or double quotes; several in a row are one.
    fn text(&mut self) -> Option<String> {
        let mut whole = String::new();
        loop {
            let quote = if self.take("'") {
                '\''
            } else if self.take("\"") {
                '"'
            } else {
                return Some(whole);
            };
            let mut characters = self.rest.char_indices();
            loop {
                match characters.next()? {
                    (place, character) if character == quote => {
                        self.rest = &self.rest[place + 1..];
                        break;
                    }
                    // A text in three quotes, or one that is never closed, is none of a table.
                    (_, '\n') => return None,
                    (_, '\\') => whole.push(match characters.next()?.1 {
                        'n' => '\n',
                        't' => '\t',
                        other => other,
                    }),
                    (_, character) => whole.push(character),
                }
            }
        }
    }

    /// A number, a truth value, nothing, infinity, or a date.
    fn word(&mut self, depth: usize) -> Option<PythonValue> {
        let is_part = |it: char| it.is_alphanumeric() || "_.+-".contains(it);
        let end = self.rest.find(|it| !is_part(it)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(match word {
            "None" => PythonValue::None,
            "True" => PythonValue::Bool(true),
            "False" => PythonValue::Bool(false),
            "float" => match self.items(depth, "(", ")")?.as_slice() {
                [PythonValue::Text(text)] if text == "inf" => PythonValue::from("inf"),
                _ => return None,
            },
            "datetime.datetime" => {
                let date = date(&self.items(depth, "(", ")")?)?;
                // The only pattern in use gives the form in which dates are kept anyway.
                if self.take(".strftime") {
                    match self.items(depth, "(", ")")?.as_slice() {
                        [PythonValue::Text(pattern)] if pattern == "%Y-%m-%d %H:%M:%S" => {}
                        _ => return None,
                    }
                }
                PythonValue::Text(date)
            }
            word => match (word.parse::<i128>(), word.parse::<f64>()) {
                (Ok(number), _) => PythonValue::Int(number),
                (_, Ok(number)) if number.is_finite() => PythonValue::Float(number),
                _ => return None,
            },
        })
    }
}

/// A date as text. Parts that are left out are 0.
fn date(parts: &[PythonValue]) -> Option<String> {
    let part = |place: usize| match parts.get(place) {
        None if place > 2 => Some(0),
        Some(PythonValue::Int(number)) if *number >= 0 => Some(*number),
        _ => None,
    };
    let [year, month, day] = [part(0)?, part(1)?, part(2)?];
    let [hour, minute, second] = [part(3)?, part(4)?, part(5)?];
    Some(format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In the form of the published files; what it says is made up.
    const FILE: &str = r#"from apis.api import API
import datetime

class Ferries(API):
    description = 'Finds ' \
                  "\"ferries\"."
    input_parameters = {
        'harbour': {'type': 'str', 'description': "The harbour's name."},
    }
    output_parameters = {"ferries": {"type": "list", "description": "Ferries."}}

    def __init__(self):
        self.rows = [{
            'from': ('Oban', -5.5), # the west
            'at': datetime.datetime(2022, 1, 4, 12, 5),
        },]
        self.numbers = {1: [2, 3], float('inf'): None}
        self.open = {'Oban': datetime.datetime(2021, 1, 1).strftime('%Y-%m-%d %H:%M:%S')}
        self.others = list(self.rows)
        if rates is None:
            self.rates = {'low': 0.5}
        self.many = 10 + 5

    def call(self, harbour):
        self.rows = []
        return {'api_name': self.__class__.__name__}
"#;

    #[test]
    fn a_class_gives_its_description_and_its_tables() {
        let tool = read_tool(FILE).unwrap().unwrap();
        assert_eq!(
            (tool.spec.name.as_str(), tool.spec.description.as_str()),
            ("Ferries", "Finds \"ferries\".")
        );
        assert_eq!(tool.spec.inputs[0].description, "The harbour's name.");
        assert_eq!(
            serde_json::to_string(&tool.tables).unwrap(),
            "{\"rows\":[{\"from\":[\"Oban\",-5.5],\"at\":\"2022-01-04 12:05:00\"}],\
             \"numbers\":[{\"key\":1,\"value\":[2,3]},{\"key\":\"inf\",\"value\":null}],\
             \"open\":{\"Oban\":\"2021-01-01 00:00:00\"},\"rates\":{\"low\":0.5}}"
        );
    }

    #[test]
    fn what_is_no_tool_or_lacks_something_is_told_apart() {
        assert_eq!(read_tool("import os\n\nclass Other:\n    pass\n"), Ok(None));
        let lacking = FILE.replace("    output_parameters", "    outputs");
        assert_eq!(
            read_tool(&lacking).unwrap_err(),
            "the class `Ferries` has no literal `output_parameters`"
        );
        // No text makes it panic, however it is cut.
        for end in (0..FILE.len()).filter(|end| FILE.is_char_boundary(*end)) {
            let _ = read_tool(&FILE[..end]);
        }
        assert!(Reader { rest: &"[".repeat(10_000) }.value(0).is_none());
    }
}
