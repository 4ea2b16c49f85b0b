//! Letters in formulas, and their values.

use crate::tokens::Token;

/// The tokens with the values of letters for these: "n (n + 1) / 2 with n = 20".
pub(super) fn with_values(tokens: &[Token]) -> Vec<Token> {
    let is_letter = |token: &Token| token.word().is_some_and(|word| word.len() == 1 && word != "a");
    let value = |at: usize| match tokens.get(at..at + 3) {
        Some([letter, Token::Sign("="), Token::Number(number)]) if is_letter(letter) => {
            let before = at.checked_sub(1).map(|at| &tokens[at]);
            let words = ["with", "where", "for", "and", "let", "if", "when", "using", "at"];
            let is_bound = before.is_none_or(|it| match it {
                Token::Word(word) => words.contains(&&**word),
                token => *token == Token::Sign(","),
            });
            // `i = 1..8` gives the letter many values.
            let is_first = match tokens.get(at + 3) {
                Some(Token::Sign(sign)) => *sign == "...",
                Some(Token::Word(word)) => ["to", "through", "until", "up"].contains(&&**word),
                _ => false,
            };
            (is_bound && !is_first).then(|| (letter.clone(), *number))
        }
        _ => None,
    };
    let values: Vec<(Token, f64)> = (0..tokens.len()).filter_map(value).collect();
    if values.is_empty() {
        return tokens.to_vec();
    }
    let mut found: Vec<Token> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if value(at).is_some() {
            // A value is not part of the formula.
            found.push(Token::Sign(";"));
            at += 3;
            continue;
        }
        let token = match values.iter().find(|(letter, _)| *letter == tokens[at]) {
            Some((_, number)) => Token::Number(*number),
            None => tokens[at].clone(),
        };
        // Where a sign is left out, factors are meant: `2n`, `n(n + 1)`.
        let is_factor = matches!(token, Token::Number(_) | Token::Sign("("))
            && matches!(found.last(), Some(Token::Number(_) | Token::Sign(")")));
        if is_factor {
            found.push(Token::Sign("*"));
        }
        found.push(token);
        at += 1;
    }
    found
}
