//! Parses the lines of code that make up most plans in one pass: `output1 = image_crop(image="a.jpg",
//! object=output0['object'])`. Every other line is left to Python's parser, which agrees with this one wherever this
//! one finds a call.

use planproof_measure::python::push_repr;

use super::code::KEYWORDS;
use super::lines::Call;

/// Words that are keywords only in some places, or that cannot be assigned to.
const OTHER_WORDS: [&str; 5] = ["match", "case", "type", "_", "__debug__"];

/// The call in a line that assigns it to a name; `None` if the line needs more than is supported here.
pub(super) fn read(line: &str) -> Option<Call> {
    let (_, rest) = name(line)?;
    let (tool, mut rest) = name(rest.strip_prefix(" = ")?)?;
    rest = rest.strip_prefix('(')?;
    let mut call = Call { tool: tool.to_owned(), arguments: Vec::new() };
    if rest == ")" {
        return Some(call);
    }
    loop {
        let (argument, after) = name(rest)?;
        let (value, after) = value(after.strip_prefix('=')?)?;
        call.set(Some(argument.to_owned()), value);
        if after == ")" {
            return Some(call);
        }
        rest = after.strip_prefix(", ")?;
    }
}

/// The name at the start of a text, and the rest.
fn name(text: &str) -> Option<(&str, &str)> {
    // Python normalises other identifiers, which its parser handles.
    let length = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let (name, rest) = text.split_at(length);
    let is_name = name.starts_with(|first: char| !first.is_ascii_digit())
        && !KEYWORDS.contains(&name)
        && !OTHER_WORDS.contains(&name);
    is_name.then_some((name, rest))
}

/// The value at the start of a text, as Python writes it back, and the rest.
fn value(text: &str) -> Option<(String, &str)> {
    let mut written = String::new();
    let rest = match text.strip_prefix('"') {
        Some(inside) => {
            let (words, rest) = words(inside, '"')?;
            push_repr(words, &mut written);
            rest
        }
        None => {
            let (variable, rest) = name(text)?;
            let (key, rest) = words(rest.strip_prefix("['")?, '\'')?;
            written.push_str(variable);
            written.push('[');
            push_repr(key, &mut written);
            written.push(']');
            rest.strip_prefix(']')?
        }
    };
    Some((written, rest))
}

/// The text before a quote, if it holds only plain characters and no escape, and the text after the quote.
fn words(text: &str, quote: char) -> Option<(&str, &str)> {
    let (words, rest) = text.split_once(quote)?;
    let is_plain = words.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'\\');
    is_plain.then_some((words, rest))
}

#[cfg(test)]
mod tests {
    use super::super::lines::read_any;
    use super::*;

    #[test]
    fn what_is_read_here_is_what_python_says() {
        let lines = [
            r#"output1 = image_crop(image="it's a.jpg", object=output0['object'])"#,
            r#"output0 = text_generation(text="")"#,
            "x = f()",
            r#"_a = get_year_fact(year="19\"45", year="x")"#,
            r#"match = type(class="a", b=output0["c"])"#,
            r#"a = f(b=output0['c'], b="{d}", **e)"#,
        ];
        assert!(read(lines[0]).is_some_and(|call| call.arguments.len() == 2));
        let (mut found, mut tried) = (0, 0);
        let mut check = |line: &str| {
            tried += 1;
            if let Some(call) = read(line) {
                assert_eq!(read_any(line), Some(call), "{line}");
                found += 1;
            }
        };
        for line in lines {
            check(line);
            for place in 0..line.len() {
                let (before, after) = line.split_at(place);
                for put in
                    ["", "'", "\"", "[", "]", "(", ")", ",", "=", "\\", "0", " ", "é", "#", "r", ".", "if "]
                {
                    check(&format!("{before}{put}{after}"));
                    check(&format!("{before}{put}{}", after.get(1..).unwrap_or_default()));
                }
            }
        }
        assert!(found > 500 && tried > 5000, "{found} of {tried}");
    }
}
