//! Formulas in conventional notation, with nested parentheses, signed numbers and decimal points.

/// A pending operator or parenthesis.
#[derive(Clone, Copy, PartialEq)]
enum Sign {
    Open,
    Minus,
    Binary(char),
}

/// The precedence of an operator.
fn rank(sign: Sign) -> u8 {
    match sign {
        Sign::Open => 0,
        Sign::Binary('+' | '-') => 1,
        Sign::Binary(_) => 2,
        Sign::Minus => 3,
    }
}

/// Evaluates a formula without spaces, using two stacks.
///
/// # Errors
/// Says what is wrong with the formula.
pub(super) fn calculate(formula: &str) -> Result<f64, String> {
    let mut numbers: Vec<f64> = Vec::new();
    let mut signs: Vec<Sign> = Vec::new();
    let mut rest = formula;
    let mut wants_number = true;
    while let Some(character) = rest.chars().next() {
        let mut length = character.len_utf8();
        match (character, wants_number) {
            ('0'..='9' | '.', true) => {
                length = rest.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(rest.len());
                numbers.push(rest[..length].parse().map_err(|_| invalid())?);
                wants_number = false;
            }
            ('(', true) => signs.push(Sign::Open),
            ('-', true) => signs.push(Sign::Minus),
            // A plus sign in front of a number changes nothing.
            ('+', true) => {}
            (')', false) => {
                while let Some(sign) = signs.pop_if(|sign| *sign != Sign::Open) {
                    apply(sign, &mut numbers)?;
                }
                signs.pop().ok_or_else(invalid)?;
            }
            ('+' | '-' | '*' | '/', false) => {
                let sign = Sign::Binary(character);
                // Operators of the same rank are applied from left to right.
                while let Some(earlier) = signs.pop_if(|earlier| rank(*earlier) >= rank(sign)) {
                    apply(earlier, &mut numbers)?;
                }
                signs.push(sign);
                wants_number = true;
            }
            _ => return Err(invalid()),
        }
        rest = &rest[length..];
    }
    if wants_number {
        return Err(invalid());
    }
    while let Some(sign) = signs.pop() {
        apply(sign, &mut numbers)?;
    }
    numbers.pop().ok_or_else(invalid)
}

fn invalid() -> String {
    "invalid formula".to_owned()
}

fn apply(sign: Sign, numbers: &mut Vec<f64>) -> Result<(), String> {
    let other = numbers.pop().ok_or_else(invalid)?;
    if sign == Sign::Minus {
        numbers.push(-other);
        return Ok(());
    }
    let one = numbers.pop().ok_or_else(invalid)?;
    numbers.push(match sign {
        Sign::Binary('+') => one + other,
        Sign::Binary('-') => one - other,
        Sign::Binary('*') => one * other,
        Sign::Binary('/') if other != 0.0 => one / other,
        Sign::Binary('/') => return Err("float division by zero".to_owned()),
        // An unclosed parenthesis.
        _ => return Err(invalid()),
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_mean_what_they_mean() {
        for (formula, value) in [
            ("((1+2)*3)", 9.0),
            ("-5+3", -2.0),
            ("2*-3", -6.0),
            ("5--3", 8.0),
            ("8-2-1", 5.0),
            ("1+2*3", 7.0),
            ("-(1.5+1)*2", -5.0),
            ("7", 7.0),
        ] {
            assert_eq!(calculate(formula), Ok(value), "{formula}");
        }
        for formula in ["", "1+", "(1", "1)", "()", "1 2", "1.2.3", "a", "*2", "(1+2"] {
            assert_eq!(calculate(formula), Err(invalid()), "{formula}");
        }
        assert!(calculate("1/0").is_err());
    }
}
