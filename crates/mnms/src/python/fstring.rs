//! F-strings as `ast.unparse` of Python 3.11 writes them.

use planproof_measure::python::{QUOTES, repr, with_few_escapes};
use ruff_python_ast::{
    ConversionFlag, ExprFString, FStringPart, InterpolatedElement, InterpolatedStringElement,
    InterpolatedStringElements,
};

use super::unparse::{Precedence, Unwritable, Writer};

/// A piece of an f-string as in Python's syntax tree, with adjacent texts merged.
enum Piece<'a> {
    Words(String),
    Field(&'a InterpolatedElement),
}

/// The pieces of an f-string made of adjacent literals.
fn pieces<'a>(elements: impl Iterator<Item = Source<'a>>) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    let mut words = String::new();
    for element in elements {
        match element {
            Source::Words(text) => words.push_str(text),
            Source::Field(field) => {
                // `{x=}` is the text `x=` and then a field.
                if let Some(text) = &field.debug_text {
                    words.push_str(text.as_str());
                }
                if !words.is_empty() {
                    pieces.push(Piece::Words(std::mem::take(&mut words)));
                }
                pieces.push(Piece::Field(field));
            }
        }
    }
    if !words.is_empty() {
        pieces.push(Piece::Words(words));
    }
    pieces
}

enum Source<'a> {
    Words(&'a str),
    Field(&'a InterpolatedElement),
}

impl<'a> From<&'a InterpolatedStringElement> for Source<'a> {
    fn from(element: &'a InterpolatedStringElement) -> Self {
        match element {
            InterpolatedStringElement::Literal(words) => Self::Words(&words.value),
            InterpolatedStringElement::Interpolation(field) => Self::Field(field),
        }
    }
}

fn pieces_of_literals(string: &ExprFString) -> Vec<Piece<'_>> {
    pieces(string.value.iter().flat_map(|part| {
        let (words, elements): (Option<&str>, &[InterpolatedStringElement]) = match part {
            FStringPart::Literal(words) => (Some(words.as_str()), &[]),
            FStringPart::FString(string) => (None, &string.elements),
        };
        words.map(Source::Words).into_iter().chain(elements.iter().map(Source::from))
    }))
}

impl Writer {
    pub(crate) fn f_string(&mut self, string: &ExprFString) -> Result<(), Unwritable> {
        self.out.push('f');
        let mut parts = Vec::new();
        for piece in pieces_of_literals(string) {
            let mut text = String::new();
            self.piece(&piece, &mut text)?;
            parts.push((text, matches!(piece, Piece::Words(_))));
        }
        // Within a field of another f-string no part may have an escape, so quotes are chosen for the whole.
        if self.avoids_backslashes {
            let whole: String = parts.into_iter().map(|(text, _)| text).collect();
            let (text, quotes) = with_few_escapes(&whole, &QUOTES, false);
            self.quoted(&text, quotes[0]);
            return Ok(());
        }
        let mut quotes = QUOTES.to_vec();
        let mut text = String::new();
        for (part, is_words) in &parts {
            // Each part narrows down the quotes that all parts can have.
            // White space is escaped in texts, but not in fields.
            let (escaped, fitting) = with_few_escapes(part, &quotes, *is_words);
            text.push_str(&escaped);
            if !fitting.iter().any(|quote| quotes.contains(quote)) {
                quotes.clear();
                break;
            }
            quotes = fitting;
        }
        if quotes.is_empty() {
            text.clear();
            // No quotes suit all parts. Python then writes each with `repr`, within these.
            quotes.push("'''");
            for (part, _) in &parts {
                // The preceding mark makes Python choose single quotes.
                let written = repr(&format!("\"{part}"));
                text.push_str(written.get(2..written.len() - 1).ok_or(Unwritable)?);
            }
        }
        self.quoted(&text, quotes[0]);
        Ok(())
    }

    fn piece(&self, piece: &Piece<'_>, out: &mut String) -> Result<(), Unwritable> {
        match piece {
            Piece::Words(words) => {
                for character in words.chars() {
                    if matches!(character, '{' | '}') {
                        out.push(character);
                    }
                    out.push(character);
                }
                Ok(())
            }
            Piece::Field(field) => self.field(field, out),
        }
    }

    fn field(&self, field: &InterpolatedElement, out: &mut String) -> Result<(), Unwritable> {
        let mut inner = Self { out: String::new(), avoids_backslashes: true };
        inner.expression(&field.expression, Precedence::Test.tighter())?;
        // Python 3.11 allows no backslash in a field and raises an exception here.
        if inner.out.contains('\\') {
            return Err(Unwritable);
        }
        out.push('{');
        // Without the blank, two braces would stand for one literal brace.
        if inner.out.starts_with('{') {
            out.push(' ');
        }
        out.push_str(&inner.out);
        let conversion = match field.conversion {
            // A field that shows its own source uses `repr` for its value, unless it has a format specification.
            ConversionFlag::None if field.debug_text.is_some() && field.format_spec.is_none() => Some('r'),
            conversion => conversion.to_char(),
        };
        if let Some(conversion) = conversion {
            out.push('!');
            out.push(conversion);
        }
        if let Some(format) = &field.format_spec {
            out.push(':');
            let elements: &InterpolatedStringElements = &format.elements;
            for piece in pieces(elements.iter().map(Source::from)) {
                self.piece(&piece, out)?;
            }
        }
        out.push('}');
        Ok(())
    }
}
