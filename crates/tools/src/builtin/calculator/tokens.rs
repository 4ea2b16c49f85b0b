//! Text to tokens.

use super::{CalculatorError, CalculatorNumber, Mistake};

/// An operator between two operands; `Plus` and `Minus` also stand before one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Plus,
    Minus,
    Times,
    Over,
    FloorOver,
    Remainder,
    Power,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Number(CalculatorNumber),
    Name,
    Operator(Operator),
    Open,
    Close,
    Comma,
    End,
}

/// A token with its text and its position, in characters from 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    pub(super) place: usize,
}

/// The tokens of a text; the last one is [`Kind::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, CalculatorError> {
    let mut tokens = Vec::new();
    let (mut rest, mut place) = (text, 1);
    loop {
        let blanks = rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len());
        place += rest[..blanks].chars().count();
        rest = &rest[blanks..];
        let Some(first) = rest.chars().next() else {
            tokens.push(Token { kind: Kind::End, text: "", place });
            return Ok(tokens);
        };
        let Some((kind, length)) = token(rest, first) else {
            let mistake =
                Mistake::Unexpected { wanted: "numbers, operators and names", found: quoted(first) };
            return Err(CalculatorError { mistake, place });
        };
        let (text, after) = rest.split_at(length);
        tokens.push(Token { kind, text, place });
        place += text.chars().count();
        rest = after;
    }
}

fn quoted(character: char) -> String {
    let advice = match character {
        '=' => " (write only the expression, without a result)",
        '!' => " (write factorial(5) for 5!)",
        '[' | ']' | '{' | '}' => " (only round parentheses group)",
        _ => "",
    };
    format!("`{}`{advice}", character.escape_debug())
}

/// The kind and the length in bytes of the token at the beginning of `rest`.
fn token(rest: &str, first: char) -> Option<(Kind, usize)> {
    use Operator::{FloorOver, Minus, Over, Plus, Power, Remainder, Times};
    let operator = |operator, length| Some((Kind::Operator(operator), length));
    match first {
        '0'..='9' | '.' => number(rest),
        'a'..='z' | 'A'..='Z' | '_' => {
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
            Some((Kind::Name, rest.find(|c| !is_part(c)).unwrap_or(rest.len())))
        }
        'π' => Some((Kind::Name, first.len_utf8())),
        '*' if rest.starts_with("**") => operator(Power, 2),
        '/' if rest.starts_with("//") => operator(FloorOver, 2),
        '+' => operator(Plus, 1),
        '-' | '−' => operator(Minus, first.len_utf8()),
        '*' | '×' | '·' => operator(Times, first.len_utf8()),
        '/' | '÷' => operator(Over, first.len_utf8()),
        '%' => operator(Remainder, 1),
        '^' => operator(Power, 1),
        '(' => Some((Kind::Open, 1)),
        ')' => Some((Kind::Close, 1)),
        ',' => Some((Kind::Comma, 1)),
        _ => None,
    }
}

fn number(text: &str) -> Option<(Kind, usize)> {
    let whole = digits(text);
    let mut end = whole;
    let mut is_integer = true;
    if text[end..].starts_with('.') {
        let fraction = digits(&text[end + 1..]);
        if whole == 0 && fraction == 0 {
            return None;
        }
        end += 1 + fraction;
        is_integer = false;
    }
    if text[end..].starts_with(['e', 'E']) {
        let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
        let exponent = digits(&text[end + 1 + sign..]);
        // Without digits after it the letter is the constant.
        if exponent > 0 {
            end += 1 + sign + exponent;
            is_integer = false;
        }
    }
    let written = text[..end].replace('_', "");
    if is_integer && let Ok(value) = written.parse() {
        return Some((Kind::Number(CalculatorNumber::Integer(value)), end));
    }
    // The parser finds too many digits, or an exponent that is too large: the value is then infinite.
    Some((Kind::Number(CalculatorNumber::Decimal(written.parse().ok()?)), end))
}

/// The number of bytes of digits at the beginning of `text`, with single underscores between them.
fn digits(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = 0;
    while is_digit(end) || (end > 0 && bytes.get(end) == Some(&b'_') && is_digit(end + 1)) {
        end += 1;
    }
    end
}
