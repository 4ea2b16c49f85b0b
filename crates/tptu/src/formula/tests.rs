use super::*;
use crate::tokens::tokens;

/// The formulas of a text, after two steps that gave 13 (women) and 25 (people).
fn formulas(text: &str) -> Vec<Formula> {
    let step = |place, concepts: &[&str]| Earlier {
        place,
        concepts: concepts.iter().map(|it| (*it).to_owned()).collect(),
    };
    read(&tokens(text), &[step(0, &["female"]), step(1, &["all", "person"])])
}

fn value(text: &str) -> Option<f64> {
    match &formulas(text)[..] {
        [only] => only.value(&[Some(13.0), Some(25.0)]),
        _ => None,
    }
}

#[test]
fn calculations_have_a_value_in_words_and_signs() {
    for (text, expected) in [
        ("Raise 2.5 to the fourth", 39.0625),
        ("2.5 ** 4", 39.0625),
        ("two point five to the power of four", 39.0625),
        ("the fourth power of 2.5", 39.0625),
        ("12*12*12", 1728.0),
        ("Compute 1^2 + 2^2 + ... + 20^2.", 2870.0),
        ("the sum of the squares of 1 to 20", 2870.0),
        ("sum(n * n for n in range(1, 21))", 2870.0),
        ("Square every integer between 1 and 20 and add the results", 2870.0),
        ("the square of the sum of 1 to 20", 44_100.0),
        ("the logarithm of 81 to base 3", 4.0),
        ("the base-3 logarithm of 81", 4.0),
        ("log base 3 of 81", 4.0),
        ("math.log(81, 3)", 4.0),
        ("the logarithm of 3 to base 81", 0.25),
        ("divide 20 by 4", 5.0),
        ("subtract 3 from 10", 7.0),
        ("10 minus 3", 7.0),
        ("the cube root of 4,096", 16.0),
        ("nineteen percent of one hundred", 19.0),
        ("Convert 100 degrees Fahrenheit to Celsius", 37.777_777_777_8),
        ("How many hours are 7,200 seconds?", 2.0),
        ("the remainder of 12345 divided by 67", 17.0),
        ("12345 % 67", 17.0),
        ("the cosine of 60 degrees", 0.5),
        ("Multiply the even numbers from 2 to 12", 46_080.0),
        ("Add the first eight square numbers", 204.0),
        ("the distance from (7, 10) to the point (1, 2)", 10.0),
        ("Solve x^2 = 200 for x > 0", 14.142_135_623_7),
        ("To which power must 3 be raised to get 81?", 4.0),
        ("(first result / second result) * 100", 52.0),
        ("the percentage of women among all people", 52.0),
        ("Divide the number of women by the number of people and multiply by 100", 52.0),
        (
            "Divide the total number of people by the number of women and express it as a percentage",
            192.307_692_3,
        ),
        ("Subtract the result of step 1 from the result of step 2", 12.0),
        ("the difference between the two numbers", 12.0),
        ("Compute the cube root of 4096 and then square it", 256.0),
        ("Multiply 12 by 7.95, then take the square root of the result", 9.767_292_357_7),
        ("Multiply 12 by itself twice", 1728.0),
    ] {
        let found = value(text);
        assert!(
            found.is_some_and(|it| (it - expected).abs() < 1e-6),
            "{text}: {found:?} {:?}",
            formulas(text)
        );
    }
    for text in ["the logarithm of 12", "the sine of 60", "Count the people", "12 subscriptions at 7.95", ""]
    {
        assert_eq!(value(text), None, "{text}");
    }
}

#[test]
fn no_text_takes_long() {
    for piece in
        ["(", "multiply ", "the sum of ", "1 + ", "- ", "raise ", "first ", "square every ", "x^2 ", "2^"]
    {
        let _ = formulas(&piece.repeat(4_000));
    }
}
