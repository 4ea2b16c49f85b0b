//! The meaning of a reference statement.

use super::{Bound, Comparison, Meaning};
use crate::concepts::concept;
use crate::tokens::{Token, tokens};

/// What a statement says.
#[derive(Debug, Default)]
pub(super) struct Statement {
    pub(super) meaning: Meaning,
    /// All numbers in it, also those in names and texts.
    pub(super) numbers: Vec<f64>,
    /// The texts in it, as tokens.
    pub(super) texts: Vec<Vec<Token>>,
    /// Its names of tables and columns, in lower case.
    pub(super) names: Vec<String>,
    /// What its names are about.
    pub(super) concepts: Vec<String>,
    /// It counts rows, if only to compare the numbers.
    pub(super) counts_anywhere: bool,
    /// Rows are sorted, so that the first or the last one is meant.
    pub(super) is_sorted: bool,
}

/// A part of a statement.
#[derive(Debug, Clone, PartialEq)]
enum Part {
    Name(String),
    Text(String),
    Number(f64),
    Sign(String),
}

impl Statement {
    /// Adds what another statement says.
    pub(super) fn join(&mut self, other: Self) {
        let Self { meaning, numbers, texts, names, concepts, counts_anywhere, is_sorted } = other;
        let ours = &mut self.meaning;
        ours.bounds.extend(meaning.bounds);
        ours.directions.upper |= meaning.directions.upper;
        ours.directions.lower |= meaning.directions.lower;
        ours.extremes.upper |= meaning.extremes.upper;
        ours.extremes.lower |= meaning.extremes.lower;
        ours.aggregates.sum |= meaning.aggregates.sum;
        ours.aggregates.average |= meaning.aggregates.average;
        ours.is_negated |= meaning.is_negated;
        self.numbers.extend(numbers);
        self.texts.extend(texts);
        self.names.extend(names);
        self.concepts.extend(concepts);
        self.counts_anywhere |= counts_anywhere;
        self.is_sorted |= is_sorted;
    }

    pub(super) fn read(statement: &str) -> Self {
        let parts = parts(statement);
        let mut read = Self::default();
        let name = |at: usize| match parts.get(at) {
            Some(Part::Name(name)) => name.as_str(),
            _ => "",
        };
        let is_call = |at: usize| parts.get(at + 1) == Some(&Part::Sign("(".to_owned()));
        let mut depth = 0_usize;
        // A sorted statement without a limit wants no extreme.
        let is_limited = parts.iter().any(|part| matches!(part, Part::Name(name) if name == "limit"));
        // The list between SELECT and FROM of the outermost statement.
        let mut is_listing = false;
        for (at, part) in parts.iter().enumerate() {
            match part {
                Part::Sign(sign) => match sign.as_str() {
                    "(" => depth += 1,
                    ")" => depth = depth.saturating_sub(1),
                    "<>" | "!=" => read.meaning.is_negated = true,
                    sign => {
                        let comparison = match sign {
                            ">" => Some(Comparison::More),
                            ">=" => Some(Comparison::AtLeast),
                            "=" | "==" => Some(Comparison::Equal),
                            "<=" => Some(Comparison::AtMost),
                            "<" => Some(Comparison::Less),
                            _ => None,
                        };
                        match (comparison, parts.get(at + 1)) {
                            (Some(comparison), Some(Part::Number(number))) => {
                                read.meaning.bounds.push(Bound { comparison, number: *number });
                            }
                            (Some(Comparison::More | Comparison::AtLeast), _) => {
                                read.meaning.directions.upper = true;
                            }
                            (Some(Comparison::Less | Comparison::AtMost), _) => {
                                read.meaning.directions.lower = true;
                            }
                            _ => {}
                        }
                    }
                },
                Part::Number(number) => read.numbers.push(*number),
                Part::Text(text) => {
                    read.meaning.is_negated |= text == "no";
                    read.texts.push(tokens(text));
                }
                Part::Name(word) => match (word.as_str(), is_call(at)) {
                    ("select", _) if depth == 0 => is_listing = true,
                    ("from", _) if depth == 0 => is_listing = false,
                    ("not", _) => read.meaning.is_negated = true,
                    ("null", _) => read.meaning.is_negated |= name(at.saturating_sub(1)) == "is",
                    ("order", _) => read.is_sorted = is_limited,
                    ("desc", _) => read.meaning.extremes.upper |= is_limited,
                    ("limit", _) if name(at.saturating_sub(1)) != "desc" => {
                        read.meaning.extremes.lower = true;
                    }
                    ("max", true) => read.meaning.extremes.upper = true,
                    ("min", true) => read.meaning.extremes.lower = true,
                    ("count", true) => {
                        read.counts_anywhere = true;
                        read.meaning.aggregates.count |= is_listing && depth == 0;
                    }
                    ("sum" | "total", true) => read.meaning.aggregates.sum = true,
                    ("avg", true) => read.meaning.aggregates.average = true,
                    // A column of that name holds counts.
                    ("count", false) => read.counts_anywhere = true,
                    _ => read.names.push(word.clone()),
                },
            }
        }
        let in_texts = |token: &Token| match token {
            Token::Number(number) | Token::Ordinal(number) => Some(*number),
            _ => None,
        };
        read.numbers.extend(read.texts.iter().flatten().filter_map(in_texts));
        let words = statement_words(statement);
        read.numbers.extend(words.iter().filter_map(in_texts));
        read.concepts = words.iter().filter_map(Token::word).map(|it| concept(it).into_owned()).collect();
        read
    }
}

/// The words of a statement's names, such as `Fan_Count`, outside of its texts.
fn statement_words(statement: &str) -> Vec<Token> {
    let outside: Vec<&str> = statement.split('\'').step_by(2).collect();
    tokens(&outside.join(" "))
}

/// The parts of a statement. Comments do not matter: references have none.
fn parts(statement: &str) -> Vec<Part> {
    let characters: Vec<char> = statement.chars().collect();
    let at = |place: usize| characters.get(place).copied().unwrap_or(' ');
    let mut parts = Vec::new();
    let mut place = 0;
    while place < characters.len() {
        let start = place;
        let character = at(place);
        if character == '\'' {
            let mut text = String::new();
            place += 1;
            while place < characters.len() {
                // Doubled, a quote stands for itself.
                if at(place) == '\'' {
                    if at(place + 1) != '\'' {
                        break;
                    }
                    place += 1;
                }
                text.push(at(place));
                place += 1;
            }
            place += 1;
            parts.push(Part::Text(text));
        } else if character.is_ascii_digit() {
            while at(place).is_ascii_digit() || at(place) == '.' {
                place += 1;
            }
            let number: String = characters[start..place].iter().collect();
            parts.extend(number.parse().ok().map(Part::Number));
        } else if character.is_alphabetic() || character == '_' {
            while at(place).is_alphanumeric() || at(place) == '_' {
                place += 1;
            }
            parts.push(Part::Name(characters[start..place].iter().collect::<String>().to_lowercase()));
        } else {
            let two: String = [character, at(place + 1)].into_iter().collect();
            let is_two = ["<=", ">=", "<>", "!=", "=="].contains(&&*two);
            place += if is_two { 2 } else { 1 };
            if !character.is_whitespace() {
                parts.push(Part::Sign(if is_two { two } else { character.to_string() }));
            }
        }
    }
    parts
}
