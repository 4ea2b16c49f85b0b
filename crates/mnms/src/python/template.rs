//! `str.format` with text values only, as far as the text of an argument can use it.

use std::iter::Peekable;
use std::str::Chars;

/// Why a text is not a template that can be filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TemplateError {
    /// An unmatched brace, or a malformed field. Python: `ValueError`.
    Malformed,
    /// A field with a name. Python: `KeyError`.
    Named,
    /// A field beyond the last value. Python: `IndexError`.
    TooFew,
}

/// `template.format(*values)`. Fields that access part of a value or have a format specification are rejected as
/// malformed. Python accepts some of them: attributes and characters of a text, and specifications that fit a text.
pub(crate) fn format(template: &str, values: &[String]) -> Result<String, TemplateError> {
    let mut out = String::with_capacity(template.len());
    let mut characters = template.chars().peekable();
    let mut numbering = Numbering::Unknown;
    while let Some(character) = characters.next() {
        match character {
            // A doubled brace is a literal one, which therefore has to be recognized first.
            '{' | '}' if characters.next_if_eq(&character).is_some() => out.push(character),
            '{' => {
                let value = field(&mut characters, &mut numbering)?;
                out.push_str(values.get(value).ok_or(TemplateError::TooFew)?);
            }
            '}' => return Err(TemplateError::Malformed),
            _ => out.push(character),
        }
    }
    Ok(out)
}

/// How the fields so far select their values.
enum Numbering {
    Unknown,
    /// By position. Contains the index of the next value.
    Automatic(usize),
    Manual,
}

/// Parses the rest of a field after its `{`, and returns which value it selects.
fn field(characters: &mut Peekable<Chars<'_>>, numbering: &mut Numbering) -> Result<usize, TemplateError> {
    let mut inside = String::new();
    loop {
        match characters.next() {
            None | Some('{') => return Err(TemplateError::Malformed),
            Some('}') => break,
            Some(character) => inside.push(character),
        }
    }
    let (name, conversion) = match inside.split_once('!') {
        Some((name, conversion)) => (name, conversion.strip_suffix(':').unwrap_or(conversion)),
        None => (inside.strip_suffix(':').unwrap_or(&inside), "s"),
    };
    // Any other conversion would put quotes around the value, and none of our values would then form a valid
    // program.
    if conversion != "s" || name.contains([':', '.', '[']) {
        return Err(TemplateError::Malformed);
    }
    match (&mut *numbering, name) {
        (Numbering::Automatic(next), "") => {
            *next += 1;
            Ok(*next - 1)
        }
        (Numbering::Unknown, "") => {
            *numbering = Numbering::Automatic(1);
            Ok(0)
        }
        (Numbering::Manual, "") => Err(TemplateError::Malformed),
        (_, name) if name.bytes().all(|byte| byte.is_ascii_digit()) => {
            // Python allows only one way of numbering in a template.
            if matches!(numbering, Numbering::Automatic(_)) {
                return Err(TemplateError::Malformed);
            }
            *numbering = Numbering::Manual;
            name.parse().map_err(|_| TemplateError::Malformed)
        }
        _ => Err(TemplateError::Named),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled_as_python_fills_them() {
        let values = ["A".to_owned(), "B".to_owned()];
        let cases = [
            ("a {} b {}", Ok("a A b B")),
            ("{1}{0}{1}", Ok("BAB")),
            ("{{}} {!s}{:}", Ok("{} AB")),
            ("{{{}}}", Ok("{A}")),
            ("", Ok("")),
            ("{} {} {}", Err(TemplateError::TooFew)),
            ("{2}", Err(TemplateError::TooFew)),
            ("{x}", Err(TemplateError::Named)),
            ("{ }", Err(TemplateError::Named)),
            ("{0}{}", Err(TemplateError::Malformed)),
            ("{}{0}", Err(TemplateError::Malformed)),
            ("{", Err(TemplateError::Malformed)),
            ("}", Err(TemplateError::Malformed)),
            ("{a{}}", Err(TemplateError::Malformed)),
            ("{}}", Err(TemplateError::Malformed)),
        ];
        for (template, filled) in cases {
            assert_eq!(format(template, &values).as_deref(), filled.as_ref().map(|text| *text), "{template}");
        }
    }
}
