//! The budget.

use super::number::number;
use super::token::{Kind, Token};

/// Words for a spending limit.
const LIMIT: [&str; 17] = [
    "budget",
    "budgeted",
    "spend",
    "spending",
    "cost",
    "costs",
    "costing",
    "cap",
    "limit",
    "expenses",
    "expense",
    "afford",
    "total",
    "funds",
    "exceed",
    "allocated",
    "allowance",
];

/// Words after an amount that mark it as money.
const CURRENCIES: [&str; 5] = ["dollars", "dollar", "usd", "bucks", "$"];

/// How many tokens after an amount are searched for what it refers to.
const LOOK_AHEAD: usize = 4;

/// An amount of money.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Money {
    pub(super) dollars: f64,
    begin: usize,
    end: usize,
}

/// The budget for all travellers; `None` if the text has none. An amount per person is multiplied by the number of
/// people.
pub(super) fn budget(tokens: &[Token<'_>], people: Option<u32>, days: Option<usize>) -> Option<f64> {
    let all = amounts(tokens);
    let sentence = |at: usize| tokens[..at].iter().filter(|it| it.is_end()).count();
    let limits: Vec<usize> =
        tokens.iter().enumerate().filter(|(_, it)| it.is_any(&LIMIT)).map(|(at, _)| sentence(at)).collect();
    // An amount in a sentence about a limit takes precedence: the first amount of the text may be a price.
    let of_limit = all.iter().find(|it| limits.contains(&sentence(it.begin)));
    let money = of_limit.or(all.first())?;
    let behind = tokens.get(money.end..).unwrap_or_default();
    // What an amount refers to ends at the next mark, except for the slash in `$50/person`.
    let behind: Vec<&Token<'_>> =
        behind.iter().take_while(|it| it.kind != Kind::Mark || it.is("/")).take(LOOK_AHEAD).collect();
    let is_each = |noun: &[&str]| {
        behind.windows(2).any(|pair| {
            pair[0].is_any(&["per", "each", "a", "every", "/", "for"])
                && pair[1].is_any(noun)
                && (!pair[0].is("for") || pair[1].is("each"))
        })
    };
    let is_each_person = is_each(&["person", "head", "traveler", "traveller", "individual", "each"])
        || behind.first().is_some_and(|it| it.is_any(&["each", "apiece"])) && behind.len() == 1;
    // An amount per person gives no budget if the number of people is unknown.
    let people = if is_each_person { people? } else { 1 };
    let days = if is_each(&["day"]) { days? } else { 1 };
    Some(money.dollars * f64::from(people) * days as f64)
}

/// All amounts: `$1,700`, `1,700 dollars`, and a bare number after `budget of` or `budget is`.
fn amounts(tokens: &[Token<'_>]) -> Vec<Money> {
    let mut all = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let Some(number) = number(tokens, at).filter(|it| !it.is_ordinal) else {
            at += 1;
            continue;
        };
        let end = at + number.length;
        let has_sign = at.checked_sub(1).is_some_and(|at| tokens[at].is_any(&["$", "usd"]));
        let has_word = tokens.get(end).is_some_and(|it| it.is_any(&CURRENCIES));
        let mut before = tokens[..at].iter().rev().skip_while(|it| {
            it.is_any(&[
                "of",
                "is",
                "at",
                "to",
                "set",
                "be",
                "about",
                "around",
                "roughly",
                "approximately",
                ":",
                "now",
            ])
        });
        let is_of_budget =
            at > 0 && !tokens[at - 1].is("budget") && before.next().is_some_and(|it| it.is("budget"));
        if has_sign || has_word || is_of_budget {
            all.push(Money { dollars: number.value, begin: at, end: end + usize::from(has_word) });
        }
        at = end;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::token::tokens;
    use super::*;

    #[test]
    fn budgets_are_read() {
        let cases = [
            ("with a budget of $1,700.", Some(1700.0)),
            ("spend at most 2,500 dollars", Some(2500.0)),
            ("a budget of three thousand dollars", Some(3000.0)),
            ("a budget of 1200", Some(1200.0)),
            ("The ticket was $90. Our budget is now $2k", Some(2000.0)),
            ("$500 per person", Some(1000.0)),
            ("a budget of $100 a day", Some(300.0)),
            ("USD 800 in all", Some(800.0)),
            ("a 3-day trip for 2", None),
        ];
        for (text, expected) in cases {
            assert_eq!(budget(&tokens(text), Some(2), Some(3)), expected, "{text}");
        }
    }
}
