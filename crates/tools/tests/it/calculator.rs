//! The calculator: a corpus of expressions, a slow twin, and whatever text there may be.

use planproof_tools::calculator::{Calculator, CalculatorNumber, DEPTH_MAX, Mistake, evaluate};
use planproof_tools::{Toolbox, builtin};
use planproof_trace::{Arguments, CallId, ToolCall};
use proptest::prelude::*;
use proptest::test_runner::Config;

/// The value as it is shown, or the error.
fn shown(expression: &str) -> String {
    match evaluate(expression) {
        Ok(value) => value.to_string(),
        Err(error) => format!("! {error}"),
    }
}

#[test]
fn the_corpus_of_values() {
    let calculated: String = VALUES
        .lines()
        .map(|line| {
            let (expression, _) = line.split_once(" => ").unwrap();
            format!("{expression} => {}\n", shown(expression))
        })
        .collect();
    assert_eq!(calculated, VALUES);
}

const VALUES: &str = "\
2+3*4 => 14
(2+3)*4 => 20
10-4-3 => 3
2-3+4 => 3
100/10/5 => 2
100/(10/5) => 50
7/2*2 => 7
2*3%4 => 2
-2**2 => -4
(-2)**2 => 4
2**-1 => 0.5
2**3**2 => 512
(2**3)**2 => 64
2^10 => 1024
2**-2**2 => 0.0625
--3 => 3
-+-3 => 3
3--2 => 5
2*-3 => -6
-3%5 => 2
3%-5 => -2
-7//2 => -4
7//-2 => -4
-7//-2 => 3
7.5//2 => 3
-7.5//2 => -4
7.5%2 => 1.5
-7.5%2 => 0.5
1//0.1 => 9
0.3//0.1 => 2
5 × 4 ÷ 2 − 1 => 9
3·4 => 12
.5+5. => 5.5
1e3 => 1000
1.5E-3 => 0.0015
1_000_000*2 => 2000000
007 => 7
10/4 => 2.5
1/3 => 0.333333333333333
2/3 => 0.666666666666667
0.1+0.2 => 0.3
100*1.05 => 105
1/8 => 0.125
1e15+0.5 => 1e15
123456.789 => 123456.789
0.00001 => 0.00001
0.000001 => 1e-6
0.0000015 => 1.5e-6
-1/3e9 => -3.33333333333333e-10
1e14/3 => 33333333333333.3
1e15/3 => 333333333333333
1e16/3 => 3.33333333333333e15
1e300*1e5 => 1e305
9007199254740991.0 => 9007199254740991
1e20 => 1e20
0*-1.5 => 0
12345678901234567890*3 => 37037036703703703670
12345678901234567890*3/3 => 12345678901234567890
170141183460469231731687303715884105727 => 170141183460469231731687303715884105727
170141183460469231731687303715884105727+1 => 1.70141183460469e38
-170141183460469231731687303715884105727-1 => -170141183460469231731687303715884105728
2**127-1 => 1.70141183460469e38
2**126 => 85070591730234615865843651857942052864
10**200 => 1e200
1**999999999999999999999 => 1
0**999999999999999999999 => 0
(-1)**999999999999999999999 => -1
(-1)**-3 => -1
0**0 => 1
10**-400 => 0
sqrt(16) => 4
sqrt(2) => 1.4142135623731
sqrt(152415787532388367501905199875019052100) => 12345678901234567890
sqrt(0.25) => 0.5
cbrt(27) => 3
abs(-3) => 3
abs(-2.5) => 2.5
round(2.5) => 3
round(-2.5) => -3
round(0.5) => 1
round(0.4) => 0
round(2.675, 2) => 2.68
round(1.005, 2) => 1.01
round(0.125, 2) => 0.13
round(9.999, 2) => 10
round(99.96, 1) => 100
round(1234, -2) => 1200
round(1250, -2) => 1300
round(-1250, -2) => -1300
round(1234.5, -2) => 1200
round(12, 5) => 12
round(49, -2) => 0
round(50, -2) => 100
round(5, -40) => 0
round(1e300, 2) => 1e300
round(1e-7, 3) => 0
floor(-2.5) => -3
floor(1e20) => 100000000000000000000
ceil(2.1) => 3
ceil(7) => 7
ln(e) => 1
log(e**2) => 2
log(8, 2) => 3
log(1000, 10) => 3
log(81, 3) => 4
log2(1024) => 10
log10(0.001) => -3
exp(0) => 1
sin(0) => 0
cos(pi) => -1
round(sin(pi/6), 10) => 0.5
round(tan(π/4), 10) => 1
asin(1)*2-pi => 0
acos(1) => 0
atan(0) => 0
atan2(1, -1)*4/3-pi => 0
min(3, 1.5, 2) => 1.5
max(3, 1.5, 2) => 3
max(12345678901234567890, 12345678901234567891) => 12345678901234567891
sum(1, 2, 3.5) => 6.5
mean(1, 2, 3, 4) => 2.5
mean(7) => 7
factorial(5) => 120
factorial(0) => 1
factorial(33) => 8683317618811886495518194401280000000
factorial(6/2) => 6
gcd(12, 18, 27) => 3
gcd(-12, 8) => 4
gcd(0, 5) => 5
lcm(4, 6) => 12
lcm(0, 6) => 0
mod(-1, 7) => 6
pow(2, 0.5)**2 => 2
hypot(3, 4) => 5
SQRT(9) + Pi*0 + E*0 => 3
( 1 +\t2 ) => 3
";

#[test]
fn the_corpus_of_mistakes() {
    for line in MISTAKES.lines() {
        let (expression, error) = line.split_once(" => ").unwrap();
        assert_eq!(shown(expression), format!("! {error}"), "{expression}");
    }
    assert_eq!(shown(""), "! expected a number, a name or `(` but found the end, at character 1");
    assert_eq!(
        shown("\u{1b}[2J"),
        "! expected numbers, operators and names but found `\\u{1b}`, at character 1"
    );
}

const MISTAKES: &str = "\
7 / 0 => division by zero, at character 3
7 // (1-1) => division by zero, at character 3
1 % 0.0 => division by zero, at character 3
0 ** -1 => division by zero, at character 3
(3 => expected `)` but found the end, at character 3
3) => expected the end (this parenthesis was never opened) but found `)`, at character 2
3 + => expected a number, a name or `(` but found the end, at character 4
* 3 => expected a number, a name or `(` but found `*`, at character 1
2 3 => expected an operator but found `3`, at character 3
(1)(2) => expected an operator but found `(`, at character 4
2pi => expected an operator but found `pi`, at character 2
1.5.2 => expected an operator but found `.2`, at character 4
1,000 => expected the end (a comma only separates arguments of a function: write 1000 for 1,000) but found `,`, at character 2
5% => expected a divisor (`%` is the remainder of a division: write 5/100 for 5 per cent) but found the end, at character 3
2+3=5 => expected numbers, operators and names but found `=` (write only the expression, without a result), at character 4
5! => expected numbers, operators and names but found `!` (write factorial(5) for 5!), at character 2
é+$ => expected numbers, operators and names but found `é`, at character 1
3 x 4 => expected an operator but found `x`, at character 3
x => unknown name `x`; for a multiplication write `*`, at character 1
sqrt 4 => expected `(` and the arguments of the function but found `4`, at character 6
sqrt(1, 2) => sqrt takes 1 argument, not 2, at character 1
min() => min takes at least 1 argument, not 0, at character 1
round(1, 2, 3) => round takes 1 to 2 arguments, not 3, at character 1
max(1, ) => expected a number, a name or `(` but found `)`, at character 8
max(1 2) => expected `,` or `)` but found `2`, at character 7
1 + sqrt(-1) => the square root of a negative number is not a real number, at character 5
(-8)**(1/3) => a negative number to a power that is not whole is not a real number, at character 5
ln(0) => only numbers above 0 have a logarithm, at character 1
log(2, 1) => the base of a logarithm must be above 0 and not 1, at character 1
asin(2) => asin and acos are defined from -1 to 1, at character 1
factorial(171) => the value is too large, at character 1
factorial(-1) => a negative number has no factorial, at character 1
factorial(2.5) => factorial takes whole numbers only, at character 1
gcd(1.5, 2) => gcd takes whole numbers only, at character 1
round(1, 0.5) => round, for the number of digits, takes whole numbers only, at character 1
lcm(170141183460469231731687303715884105727, 2) => the value is too large, at character 1
10**1000000 => the value is too large, at character 3
9**9**9**9 => the value is too large, at character 5
exp(1000) => the value is too large, at character 1
1e999 => the value is too large, at character 1
1e308*10 => the value is too large, at character 6";

#[test]
fn unknown_names_are_answered_with_the_known_ones() {
    let error = evaluate("1 + squareroot(4)").unwrap_err();
    assert_eq!(error.place, 5);
    let text = error.to_string();
    assert!(text.starts_with("unknown name `squareroot`; the names are pi, e, sqrt, abs, "), "{text}");
}

#[test]
fn deep_and_long_expressions_are_refused() {
    let nested = |depth: usize| format!("{}1{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(shown(&nested(DEPTH_MAX)), "1");
    assert_eq!(evaluate(&nested(DEPTH_MAX + 1)).unwrap_err().mistake, Mistake::TooDeep);
    for piece in ["(", "2**", "sqrt(", "max(1,"] {
        assert_eq!(evaluate(&piece.repeat(1000)).unwrap_err().mistake, Mistake::TooDeep, "{piece}");
    }
    assert_eq!(evaluate(&"1".repeat(10_001)).unwrap_err().mistake, Mistake::TooLong);
    // Long, but not deep.
    assert_eq!(shown(&format!("1{}", "+1".repeat(4000))), "4001");
    assert_eq!(shown(&format!("{}1", "-".repeat(9999))), "-1");
    assert_eq!(shown(&"9".repeat(400)), "! the value is too large, at character 1");
}

fn call(arguments: &str) -> ToolCall {
    ToolCall { id: CallId::new("c1"), name: "calculator".into(), arguments: Arguments::from_text(arguments) }
}

#[tokio::test]
async fn the_tool_answers_in_text() {
    let toolbox = builtin("calculator").unwrap();
    assert!(builtin("abacus").is_none());
    assert_eq!(toolbox.tools().len(), 1);
    for (arguments, text, is_error) in [
        (r#"{"expression": "6 * 7"}"#, "42", false),
        (r#"{"expression": "6 / 0"}"#, "cannot calculate `6 / 0`: division by zero, at character 3", true),
        ("{}", r#"the arguments of `calculator` do not fit: write {"expression": "2 * (3 + 4)"}"#, true),
        (
            r#"{"expression": 5}"#,
            r#"the arguments of `calculator` do not fit: write {"expression": "2 * (3 + 4)"}"#,
            true,
        ),
        ("6 * 7", "the arguments of `calculator` are not a JSON object: 6 * 7", true),
    ] {
        let result = toolbox.execute(&call(arguments)).await;
        assert_eq!((result.text.as_str(), result.is_error), (text, is_error));
    }
    let other = ToolCall { name: "abacus".into(), ..call("{}") };
    let result = Calculator::new().execute(&other).await;
    assert_eq!(result.text, "there is no tool named `abacus`; the tools are: calculator");
}

/// An expression as a tree, for the twin.
#[derive(Debug, Clone)]
enum Tree {
    Leaf(u32),
    Negative(Box<Tree>),
    Binary(Box<Tree>, char, Box<Tree>),
}

impl Tree {
    /// How tightly its outermost operator binds.
    fn tightness(&self) -> u8 {
        match self {
            Self::Binary(_, '+' | '-', _) => 1,
            Self::Binary(_, '*' | '/' | '%', _) => 2,
            Self::Negative(_) => 3,
            Self::Binary(..) => 4,
            Self::Leaf(_) => 5,
        }
    }

    /// The text with the fewest parentheses, by the rules as a schoolbook states them.
    fn print(&self) -> String {
        let side = |tree: &Self, least: u8| {
            let text = tree.print();
            if tree.tightness() < least { format!("({text})") } else { text }
        };
        match self {
            Self::Leaf(value) => value.to_string(),
            Self::Negative(inner) => format!("-{}", side(inner, 3)),
            Self::Binary(left, '^', right) => format!("{}**{}", side(left, 5), side(right, 3)),
            Self::Binary(left, '/', right) => format!("{} // {}", side(left, 2), side(right, 3)),
            Self::Binary(left, operator, right) => {
                let own = self.tightness();
                format!("{} {operator} {}", side(left, own), side(right, own + 1))
            }
        }
    }

    /// The value, in plain whole numbers; `None` where there is none or it gets large.
    fn value(&self) -> Option<i128> {
        let small = |value: i128| (value.abs() < 1 << 60).then_some(value);
        match self {
            Self::Leaf(value) => Some(i128::from(*value)),
            Self::Negative(inner) => Some(-inner.value()?),
            Self::Binary(left, operator, right) => {
                let (left, right) = (left.value()?, right.value()?);
                let value = match operator {
                    '+' => left + right,
                    '-' => left - right,
                    '*' => left * right,
                    '^' => {
                        let times = u32::try_from(right).ok().filter(|times| *times < 64)?;
                        (0..times).try_fold(1i128, |product, _| small(product * left))?
                    }
                    _ if right == 0 => return None,
                    // Counting down and up to the floor.
                    _ => {
                        let mut quotient = left / right;
                        while quotient * right * right.signum() > left * right.signum() {
                            quotient -= 1;
                        }
                        if *operator == '/' { quotient } else { left - quotient * right }
                    }
                };
                small(value)
            }
        }
    }
}

fn trees() -> impl Strategy<Value = Tree> {
    let leaf = (0u32..100).prop_map(Tree::Leaf);
    leaf.prop_recursive(6, 40, 2, |inner| {
        prop_oneof![
            1 => inner.clone().prop_map(|tree| Tree::Negative(Box::new(tree))),
            6 => (inner.clone(), prop::sample::select(vec!['+', '-', '*', '/', '%']), inner.clone())
                .prop_map(|(left, operator, right)| Tree::Binary(Box::new(left), operator, Box::new(right))),
            1 => (inner, 0u32..5)
                .prop_map(|(base, power)| Tree::Binary(Box::new(base), '^', Box::new(Tree::Leaf(power)))),
        ]
    })
}

/// Texts that look like expressions.
fn expression_like() -> impl Strategy<Value = String> {
    let pieces = [
        "1",
        "0",
        "2.5",
        ".",
        "1e9",
        "1e-300",
        "99999999999999999999",
        "+",
        "-",
        "*",
        "/",
        "//",
        "%",
        "**",
        "^",
        "(",
        ")",
        ",",
        " ",
        "pi",
        "e",
        "sqrt(",
        "round(",
        "log(",
        "factorial(",
        "gcd(",
        "min(",
        "pow(",
        "mod(",
        "x",
        "π",
        "\u{1b}",
        "é",
        "=",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(Config { cases: 1000, failure_persistence: None, ..Config::default() })]

    #[test]
    fn agrees_with_the_twin(tree in trees()) {
        if let Some(value) = tree.value() {
            let text = tree.print();
            prop_assert_eq!(evaluate(&text), Ok(CalculatorNumber::Integer(value)), "{}", text);
        }
    }

    #[test]
    fn no_text_panics(text in any::<String>(), like in expression_like()) {
        for text in [text, like] {
            match evaluate(&text) {
                Ok(value) => {
                    prop_assert!(value.to_f64().is_finite());
                    // What is shown can be read back, and means the same to the digits that are shown.
                    let again = evaluate(&value.to_string()).unwrap();
                    let error = (again.to_f64() - value.to_f64()).abs();
                    prop_assert!(error <= value.to_f64().abs() * 1e-14, "{} {}", value, again);
                    prop_assert_eq!(again.to_string(), value.to_string());
                }
                Err(error) => prop_assert!((1..=text.chars().count() + 1).contains(&error.place), "{}", error),
            }
        }
    }

    #[test]
    fn division_and_remainder_belong_together(a in any::<i64>(), b in any::<i64>()) {
        prop_assume!(b != 0);
        prop_assert_eq!(shown(&format!("({a}) // ({b}) * ({b}) + ({a}) % ({b})")), a.to_string());
    }

    #[test]
    fn decimals_keep_to_identities(a in -1e6..1e6f64, b in 1e-3..1e6f64) {
        let zero = |text: String| {
            let value = evaluate(&text).unwrap().to_f64();
            prop_assert!(value.abs() <= 1e-9, "{} = {}", text, value);
            Ok(())
        };
        zero(format!("(({a}) // {b} * {b} + ({a}) % {b} - ({a})) / ({} + {b})", a.abs()))?;
        zero(format!("sin({a})**2 + cos({a})**2 - 1"))?;
        zero(format!("exp(ln({b})) / {b} - 1"))?;
        zero(format!("sqrt({b})**2 / {b} - 1"))?;
        zero(format!("log({b}, 7) - ln({b}) / ln(7)"))?;
        zero(format!("(floor({a}) + ceil(-({a})))"))?;
    }

    #[test]
    fn rounding_is_right_on_the_digits(whole in -99_999i64..99_999, thousandths in 0u32..1000) {
        let text = format!("{whole}.{thousandths:03}");
        let hundredths = thousandths / 10 + u32::from(thousandths % 10 >= 5);
        let sum = whole.abs() * 100 + i64::from(hundredths);
        let sign = if whole < 0 && sum > 0 { "-" } else { "" };
        let wanted = format!("{sign}{}.{:02}", sum / 100, sum % 100);
        let wanted = wanted.trim_end_matches('0').trim_end_matches('.').to_owned();
        prop_assert_eq!(shown(&format!("round({text}, 2)")), wanted);
    }
}
