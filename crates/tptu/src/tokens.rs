//! The text of a sub-task as words, numbers and signs, whatever way the numbers are written in.

/// A word, a number or a sign.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    /// Letters, in lower case.
    Word(String),
    /// A number, in digits or words: `100`, `1,000`, `2.5`, `forty`, `one hundred`, `a dozen`, `two point five`.
    Number(f64),
    /// A place in an order: `4th`, `fourth`.
    Ordinal(f64),
    /// An operator, a comparison or punctuation, with one spelling for each.
    Sign(&'static str),
}

impl Token {
    /// The word that it is.
    pub(crate) fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            _ => None,
        }
    }
}

/// Longest text that is split into tokens, in characters. What comes after it is not looked at.
const CHARACTERS_MAX: usize = 4_000;

/// Signs of several characters and their one spelling, the longest first.
const SIGNS: [(&str, &str); 32] = [
    ("...", "..."),
    ("**", "^"),
    ("//", "//"),
    ("..", "..."),
    ("<=", "<="),
    (">=", ">="),
    ("<>", "<>"),
    ("!=", "<>"),
    ("==", "="),
    ("\u{2026}", "..."),
    ("\u{2265}", ">="),
    ("\u{2264}", "<="),
    ("\u{2260}", "<>"),
    ("\u{d7}", "*"),
    ("\u{b7}", "*"),
    ("\u{f7}", "/"),
    ("\u{2212}", "-"),
    ("\u{2013}", "-"),
    ("+", "+"),
    ("*", "*"),
    ("/", "/"),
    ("^", "^"),
    ("%", "%"),
    ("!", "!"),
    ("(", "("),
    ("[", "("),
    (")", ")"),
    ("]", ")"),
    (",", ","),
    ("=", "="),
    ("<", "<"),
    (">", ">"),
];

/// What a single character stands for, in words.
const SPELLED: [(char, &str); 3] = [('\u{b0}', "degrees"), ('\u{221a}', "sqrt"), ('\u{3c0}', "pi")];

/// Modules whose functions are written behind a dot.
const MODULES: [&str; 3] = ["math", "numpy", "np"];

/// The tokens of a text. Names such as `Fan_Count` and `GoldenMelodyAwards` become words. Takes time in proportion to
/// the text.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    with_numbers(&split(text))
}

/// The tokens as they are written, with numbers in digits alone: "second" is a word.
pub(crate) fn split(text: &str) -> Vec<Token> {
    let characters: Vec<char> = text.chars().take(CHARACTERS_MAX).collect();
    let at = |place: usize| characters.get(place).copied().unwrap_or(' ');
    let mut tokens: Vec<Token> = Vec::new();
    let mut place = 0;
    while place < characters.len() {
        let character = characters[place];
        let before = place.checked_sub(1).map_or(' ', at);
        if character.is_ascii_digit() || (character == '.' && at(place + 1).is_ascii_digit()) {
            let (value, end) = digits(&characters, place);
            let suffix: String = (end..end + 2).map(at).collect::<String>().to_ascii_lowercase();
            let is_ordinal = ["st", "nd", "rd", "th"].contains(&&*suffix) && !at(end + 2).is_alphanumeric();
            tokens.push(if is_ordinal { Token::Ordinal(value) } else { Token::Number(value) });
            place = if is_ordinal { end + 2 } else { end };
        } else if let Some((_, word)) = SPELLED.iter().find(|(it, _)| *it == character) {
            tokens.push(Token::Word((*word).to_owned()));
            place += 1;
        } else if character.is_alphabetic() {
            place = word(&characters, place, &mut tokens);
        } else if character == '.' && MODULES.iter().any(|it| tokens.last().and_then(Token::word) == Some(it))
        {
            tokens.pop();
            place += 1;
        } else if character == '-' || character == '\u{2212}' {
            let is_first =
                !matches!(tokens.last(), Some(Token::Number(_) | Token::Sign(")" | "!") | Token::Ordinal(_)));
            // A hyphen joins words; before a number that follows nothing it is the number's sign.
            if at(place + 1).is_ascii_digit() && is_first && !before.is_alphanumeric() {
                let (value, end) = digits(&characters, place + 1);
                tokens.push(Token::Number(-value));
                place = end;
            } else {
                let is_joint = before.is_alphanumeric() && at(place + 1).is_alphabetic()
                    || before.is_alphabetic() && at(place + 1).is_alphanumeric();
                if !is_joint {
                    tokens.push(Token::Sign("-"));
                }
                place += 1;
            }
        } else if let Some(power) = ['\u{b2}', '\u{b3}'].iter().position(|it| *it == character) {
            tokens.extend([Token::Sign("^"), Token::Number(power as f64 + 2.0)]);
            place += 1;
        } else {
            let starts = |sign: &str| sign.chars().enumerate().all(|(index, it)| at(place + index) == it);
            match SIGNS.iter().find(|(sign, _)| starts(sign)) {
                Some((sign, spelling)) => {
                    tokens.push(Token::Sign(spelling));
                    place += sign.chars().count();
                }
                None => {
                    // A sentence or a clause ends here; quotes and currencies say nothing.
                    if matches!(character, '.' | ';' | ':' | '?' | '\n') {
                        tokens.push(Token::Sign(if character == ':' { ":" } else { ";" }));
                    }
                    place += 1;
                }
            }
        }
    }
    tokens
}

/// The number whose first digit or dot is at `place`, and the place behind it.
fn digits(characters: &[char], place: usize) -> (f64, usize) {
    let is_digit = |at: usize| characters.get(at).is_some_and(char::is_ascii_digit);
    let (mut written, mut at) = (String::new(), place);
    loop {
        match characters.get(at) {
            Some(digit) if digit.is_ascii_digit() => written.push(*digit),
            Some('.') if is_digit(at + 1) && !written.contains('.') => written.push('.'),
            // Thousands: exactly three digits follow.
            Some(',')
                if !written.contains('.') && (1..4).all(|by| is_digit(at + by)) && !is_digit(at + 4) => {}
            _ => break,
        }
        at += 1;
    }
    // A number of too many digits is infinite, which equals nothing that a text names.
    (written.parse().unwrap_or(f64::INFINITY), at)
}

/// Pushes the word that begins at `place`, and gives the place behind it. `log2` is one word; a capital letter behind a
/// small one begins another.
fn word(characters: &[char], place: usize, tokens: &mut Vec<Token>) -> usize {
    let at = |place: usize| characters.get(place).copied().unwrap_or(' ');
    let (mut word, mut end) = (String::new(), place);
    loop {
        let character = at(end);
        let is_apostrophe = matches!(character, '\'' | '\u{2019}') && at(end + 1).is_alphabetic();
        if is_apostrophe && !word.is_empty() {
            end += 1;
            continue;
        }
        let is_next = character.is_uppercase() && end > place && at(end - 1).is_lowercase();
        if !character.is_alphabetic() || is_next {
            break;
        }
        word.extend(character.to_lowercase());
        end += 1;
    }
    if word == "log" && at(end) == '_' && at(end + 1).is_ascii_digit() {
        end += 1;
    }
    if word == "log" && at(end).is_ascii_digit() {
        while at(end).is_ascii_digit() {
            word.push(at(end));
            end += 1;
        }
    }
    tokens.push(Token::Word(word));
    end
}

const UNITS: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const ORDINALS: [&str; 20] = [
    "zeroth",
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
];
const SCALES: [(&str, f64); 4] =
    [("dozen", 12.0), ("hundred", 100.0), ("thousand", 1_000.0), ("million", 1_000_000.0)];
/// Words before `one` where it stands for a thing.
const BEFORE_THING: [&str; 9] = ["the", "that", "this", "each", "every", "no", "which", "any", "other"];

/// What a single word says about a number.
enum Part {
    Unit(f64),
    Ten(f64),
    Scale(f64),
    /// The last word of a number that says a place.
    Place(f64),
}

fn part(word: &str) -> Option<Part> {
    let find = |words: &[&str]| words.iter().position(|it| *it == word).map(|place| place as f64);
    let ten = |value: f64| (value + 2.0) * 10.0;
    find(&UNITS)
        .map(Part::Unit)
        .or_else(|| find(&TENS).map(ten).map(Part::Ten))
        .or_else(|| find(&ORDINALS).map(Part::Place))
        .or_else(|| SCALES.iter().find(|(name, _)| *name == word).map(|(_, scale)| Part::Scale(*scale)))
        .or(match word {
            "hundredth" => Some(Part::Place(100.0)),
            "thousandth" => Some(Part::Place(1_000.0)),
            _ => None,
        })
        .or_else(|| {
            let stem = word.strip_suffix("ieth")?;
            TENS.iter()
                .position(|it| it.strip_suffix('y') == Some(stem))
                .map(|it| Part::Place(ten(it as f64)))
        })
}

/// The tokens with numbers in words as numbers.
fn with_numbers(tokens: &[Token]) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::new();
    let mut place = 0;
    while place < tokens.len() {
        let is_thing = tokens[place].word() == Some("one")
            && place.checked_sub(1).is_some_and(|before| match &tokens[before] {
                Token::Word(word) => BEFORE_THING.contains(&&**word) || part(word).is_some(),
                Token::Ordinal(_) => true,
                _ => false,
            });
        match number_at(tokens, place).filter(|_| !is_thing) {
            Some((number, next)) => {
                found.push(number);
                place = next;
            }
            None => {
                let is_number = |token: Option<&Token>| matches!(token, Some(Token::Number(_)));
                // Between two numbers the letter is a sign.
                let is_times = tokens[place].word() == Some("x")
                    && is_number(found.last())
                    && is_number(tokens.get(place + 1));
                found.push(if is_times { Token::Sign("*") } else { tokens[place].clone() });
                place += 1;
            }
        }
    }
    found
}

/// The number in words, or in digits with a scale, that begins at `place`, and the place behind it.
fn number_at(tokens: &[Token], place: usize) -> Option<(Token, usize)> {
    let word = |at: usize| tokens.get(at).and_then(Token::word);
    let scale = |at: usize| SCALES.iter().find(|(name, _)| word(at) == Some(name)).map(|(_, scale)| *scale);
    // The sum of what is complete, and what a scale still multiplies.
    let (mut total, mut open) = (0.0_f64, 0.0_f64);
    let mut at = place;
    match &tokens[place] {
        Token::Number(value) => {
            scale(place + 1)?;
            open = *value;
            at += 1;
        }
        Token::Word(article) if article == "a" || article == "an" => {
            scale(place + 1)?;
            open = 1.0;
            at += 1;
        }
        _ => {}
    }
    let mut last: Option<Part> = None;
    loop {
        // `one hundred and five`, but not `five and six`.
        let joint = usize::from(word(at) == Some("and") && matches!(last, Some(Part::Scale(_))));
        let Some(next) = word(at + joint).and_then(part) else { break };
        let fits = match (&last, &next) {
            (None | Some(Part::Scale(_)), Part::Unit(_) | Part::Ten(_) | Part::Place(_)) => true,
            (Some(Part::Ten(_)), Part::Unit(value) | Part::Place(value)) => (1.0..10.0).contains(value),
            (_, Part::Scale(_)) => joint == 0 && open > 0.0,
            _ => false,
        };
        if !fits {
            break;
        }
        at += joint + 1;
        match next {
            Part::Unit(value) | Part::Ten(value) => open += value,
            Part::Place(value) => return Some((Token::Ordinal(total + open + value), at)),
            Part::Scale(scale) if scale < 1_000.0 => open *= scale,
            Part::Scale(scale) => {
                total += open * scale;
                open = 0.0;
            }
        }
        last = Some(next);
    }
    if at == place {
        return None;
    }
    let mut value = total + open;
    if word(at) == Some("point") {
        let mut weight = 0.1;
        while let Some(Part::Unit(digit)) = word(at + 1).and_then(part).filter(|_| weight > 1e-9) {
            value += digit * weight;
            weight /= 10.0;
            at += 1;
        }
        at += usize::from(weight < 0.1);
    }
    Some((Token::Number(value), at))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tokens in one line: numbers in digits, places with a dot.
    fn line(text: &str) -> String {
        let show = |token: Token| match token {
            Token::Word(word) => word,
            Token::Number(number) => number.to_string(),
            Token::Ordinal(place) => format!("{place}."),
            Token::Sign(sign) => sign.to_owned(),
        };
        tokens(text).into_iter().map(show).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn numbers_are_read_in_words_and_digits() {
        for (text, expected) in [
            ("forty", "40"),
            ("one hundred", "100"),
            ("a hundred and five dollars", "105 dollars"),
            ("two thousand three hundred and forty-one", "2341"),
            ("a dozen, two dozen", "12 , 24"),
            ("two point five", "2.5"),
            ("zero point zero five", "0.05"),
            ("1,000 and 12,19", "1000 and 12 , 19"),
            ("1.5 million", "1500000"),
            ("twenty-sixth", "26."),
            ("the fourth power", "the 4. power"),
            ("26th, 3 km, 3km", "26. , 3 km , 3 km"),
            ("five and six", "5 and 6"),
            ("the first one", "the 1. one"),
            ("exactly one cover", "exactly 1 cover"),
            ("twentieth", "20."),
            ("480 x 640", "480 * 640"),
            (".5 and -3", "0.5 and -3"),
            ("5-3", "5 - 3"),
        ] {
            assert_eq!(line(text), expected, "{text}");
        }
    }

    #[test]
    fn names_and_signs_have_one_spelling() {
        assert_eq!(line("Fan_Count GoldenMelodyAwards"), "fan count golden melody awards");
        assert_eq!(line("math.log(81, 3)"), "log ( 81 , 3 )");
        assert_eq!(line("log2(8), 2**3 = 2^3"), "log2 ( 8 ) , 2 ^ 3 = 2 ^ 3");
        assert_eq!(line("60\u{b0} \u{d7} \u{221a}2 \u{2026}"), "60 degrees * sqrt 2 ...");
        assert_eq!(line("Reader's Digest, don\u{2019}t"), "readers digest , dont");
        assert_eq!(line("base-81 x^2 non-French"), "base 81 x ^ 2 non french");
        assert_eq!(line("age >= 40; a != b"), "age >= 40 ; a <> b");
    }
}
