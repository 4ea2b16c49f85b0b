//! Whether a sub-task is the planned one: by what its call returned or, where nothing was executed, by its words.
//!
//! Words are compared by their meaning as far as that is understood: a calculation by its value
//! ([`formula`](crate::formula)), a look-up by what it compares, counts and excludes ([`query`](crate::query)). Where
//! a calculation is not understood, the facts of the step decide, and a sub-task that does not name them all, or names
//! another number, fails. This is the cautious side: a passed sub-task is a claim about the agent that the words have
//! to bear out, and whoever doubts a failure finds its reason in the verdict, and can have a judge model decide.

use planproof_suite::Unscored;
use planproof_tools::sql::SqlValue;

use crate::concepts::concept;
use crate::fault::OutputFault;
use crate::formula::{self, Earlier, Formula, Operation};
use crate::query;
use crate::question::{AnswerPart, GoldStep, ToolQuestion};
use crate::rows::{self, is_near};
use crate::statement::{in_words, last_number};
use crate::tables::execute;
use crate::tokens::{Token, tokens};
use crate::tool::ToolName;
use crate::words::missing_fact;

/// The relative distance between a value in words and the right one: constants are written with few digits.
const ROUNDED_DISTANCE: f64 = 1e-5;
/// What else the earlier steps could have given: their results times the first number, plus the second.
const OTHER_RESULTS: [(f64, f64); 3] = [(1.0, 0.3), (1.0, 0.8), (2.0, 3.0)];
/// Widest selection from which columns are chosen that the question does not need.
const COLUMNS_MAX: usize = 8;

/// What a call for a sub-task was given and returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReturnedCall {
    /// The statement or the code.
    pub argument: String,
    pub result: String,
}

/// What a step of the plan gives.
#[derive(Debug, Clone, PartialEq)]
enum Given {
    Rows(Vec<Vec<SqlValue>>),
    Number(f64),
    /// Nobody knows it without running its code.
    Unknown,
}

impl Given {
    /// A number, or the only cell of the only row if that is one.
    fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Rows(rows) => match &rows[..] {
                [row] if row.len() == 1 => row[0].as_number(),
                _ => None,
            },
            Self::Unknown => None,
        }
    }
}

/// The planned steps of a question, with what each of them gives.
pub struct RightPlan<'q> {
    question: &'q ToolQuestion,
    given: Vec<Given>,
}

impl<'q> RightPlan<'q> {
    /// The plan of a question. Its reference statements are executed.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn of(question: &'q ToolQuestion) -> Result<Self, Unscored> {
        let mut right = Self { question, given: Vec::new() };
        for place in 0..question.plan.len() {
            let given = right.gives(place)?;
            right.given.push(given);
        }
        Ok(right)
    }

    pub fn steps(&self) -> &'q [GoldStep] {
        &self.question.plan
    }

    /// What a step gives, once those before it are known.
    fn gives(&self, place: usize) -> Result<Given, Unscored> {
        let step = &self.question.plan[place];
        let mut reference = step.reference.clone();
        for (earlier, given) in self.given.iter().enumerate() {
            let mark = format!("${}", earlier + 1);
            if reference.contains(&mark) {
                let Some(number) = given.number() else { return Ok(Given::Unknown) };
                reference = reference.replace(&mark, &number.to_string());
            }
        }
        if step.tool == ToolName::Sql {
            return Ok(execute(&reference)?.map_or(Given::Unknown, |rows| Given::Rows(rows.rows)));
        }
        // The part of the answer that comes from this step, else what its code calculates where that is a formula.
        let part_of = |part: usize| self.question.parts.get(part).map_or(part, |step| step.saturating_sub(1));
        let part = (0..self.question.answer.len()).find(|part| part_of(*part) == place);
        Ok(match part.map(|part| &self.question.answer[part]) {
            Some(AnswerPart::Number(number)) => Given::Number(*number),
            Some(AnswerPart::Rows(_)) => Given::Unknown,
            None => match &formula::read(&tokens(&reference), &[])[..] {
                [only] => only.value(&[]).map_or(Given::Unknown, Given::Number),
                _ => Given::Unknown,
            },
        })
    }

    /// Whether a step needs the result of that other one.
    fn needs(&self, place: usize, other: usize) -> bool {
        self.question.plan[place].reference.contains(&format!("${}", other + 1))
    }

    /// Whether what a call returned is what the step gives: `None` if that says nothing, because the right result is
    /// not known, or because a step that it needs gave another one (`is_right` says which gave the right one).
    ///
    /// # Errors
    /// The database cannot be read.
    pub(crate) fn by_result(
        &self,
        place: usize,
        returned: &ReturnedCall,
        is_right: &[Option<bool>],
    ) -> Result<Option<Result<(), OutputFault>>, Unscored> {
        let needs_wrong =
            |(other, is_right): (usize, &Option<bool>)| self.needs(place, other) && *is_right != Some(true);
        if is_right.iter().enumerate().any(needs_wrong) {
            return Ok(None);
        }
        let wrong = |what: String| Some(Err(OutputFault::WrongResult { place: place + 1, what }));
        let is_printed = self.question.printed;
        Ok(match &self.given[place] {
            Given::Unknown => None,
            Given::Number(right) => match last_number(&returned.result) {
                Some(found) if is_near(found, *right, is_printed) => Some(Ok(())),
                Some(found) => wrong(format!("{found} instead of {right}")),
                None => wrong(format!("no number instead of {right}")),
            },
            Given::Rows(right) => match execute(&returned.argument)? {
                // The call returned rows, so that its statement runs, unless it was made to other tables.
                Err(_) => None,
                Ok(found) => match self.difference(&found, right) {
                    None => Some(Ok(())),
                    Some(what) => wrong(what),
                },
            },
        })
    }

    /// How rows differ from the right ones. Columns beside the wanted ones do not matter.
    fn difference(&self, found: &planproof_tools::sql::Rows, right: &[Vec<SqlValue>]) -> Option<String> {
        let compare = |found: &planproof_tools::sql::Rows| {
            rows::difference(found, right, self.question.ordered, self.question.printed)
        };
        let what = compare(found)?;
        let (width, wanted) = (found.rows.first().map_or(0, Vec::len), right.first().map_or(0, Vec::len));
        if wanted == 0 || wanted > 2 || width <= wanted || width > COLUMNS_MAX {
            return Some(what);
        }
        let chosen = |columns: &[usize]| {
            let row =
                |row: &Vec<SqlValue>| columns.iter().filter_map(|column| row.get(*column).cloned()).collect();
            let rows = found.rows.iter().map(row).collect();
            compare(&planproof_tools::sql::Rows { columns: Vec::new(), rows, cut: found.cut }).is_none()
        };
        let is_right = (0..width).any(|first| match wanted {
            1 => chosen(&[first]),
            _ => (0..width).any(|second| second != first && chosen(&[first, second])),
        });
        (!is_right).then_some(what)
    }

    /// The fault in the words of a sub-task with the tool of that step.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(crate) fn by_words(&self, place: usize, text: &str) -> Result<Option<OutputFault>, Unscored> {
        let step = &self.question.plan[place];
        let other = |what: String| Some(OutputFault::OtherMeaning { place: place + 1, what });
        let words = tokens(text);
        if step.tool == ToolName::Sql {
            // A sub-task may be the statement itself.
            if let (Some(statement), Given::Rows(right)) = (in_words(text), &self.given[place])
                && let Ok(found) = execute(statement)?
            {
                return Ok(self.difference(&found, right).and_then(other));
            }
            // A bound may be given by another number: over 40 is 41 or more.
            let is_given = |fact: &&String| {
                let number = fact.parse::<f64>();
                number.is_ok_and(|number| query::gives_bound(step, &self.question.question, &words, number))
            };
            let facts: Vec<String> = step.facts.iter().filter(|fact| !is_given(fact)).cloned().collect();
            let missing = missing_fact(&facts, text);
            return Ok(match missing {
                Some(fact) => Some(OutputFault::WrongSubtask { place: place + 1, fact: fact.to_owned() }),
                None => query::contradiction(step, &self.question.question, &words).and_then(other),
            });
        }
        let needed: Vec<&GoldStep> =
            (0..place).filter(|it| self.needs(place, *it)).map(|it| &self.question.plan[it]).collect();
        let described = || query::misdescription(step, &needed, &self.question.question, &words);
        Ok(match self.understood(place, &words) {
            Some(readings) => self.other_value(place, &readings, &words).or_else(described).and_then(other),
            None => self.by_facts(place, text, &words).or_else(|| described().and_then(other)),
        })
    }

    /// The formulas in the words of a calculation, with their values; `None` if they are not understood, or if our own
    /// words for the step are not.
    fn understood(&self, place: usize, words: &[Token]) -> Option<Vec<(Formula, f64)>> {
        let right = self.given[place].number()?;
        let own = self.values(place, &tokens(&self.question.plan[place].subtask));
        let is_misread =
            own.first().is_some_and(|(formula, value)| !self.is_value(place, formula, *value, right));
        let readings = self.values(place, words);
        (!is_misread && !readings.is_empty()).then_some(readings)
    }

    /// How the value of formulas differs from the right one, in a few words.
    fn other_value(&self, place: usize, readings: &[(Formula, f64)], words: &[Token]) -> Option<String> {
        let ((formula, value), right) = (readings.first()?, self.given[place].number()?);
        if readings.iter().any(|(_, other)| !is_rounded(*other, *value)) {
            let values: Vec<String> = readings.iter().map(|(_, value)| shown(*value)).collect();
            return Some(format!("it says several things: {}", values.join(" and ")));
        }
        if !self.is_value(place, formula, *value, right) {
            return Some(format!("it gives {} instead of {}", shown(*value), shown(right)));
        }
        self.unnamed(place, formula, words).map(|number| format!("it does not name {number}"))
    }

    /// A number of our own words that a calculation does not name although others would give the same by chance, as
    /// for a divisor.
    fn unnamed(&self, place: usize, formula: &Formula, words: &[Token]) -> Option<f64> {
        if !formula.is_coarse() {
            return None;
        }
        let numbers = |text: &[Token]| -> Vec<f64> {
            let number = |token: &Token| match token {
                Token::Number(number) => Some(*number),
                _ => None,
            };
            text.iter().filter_map(number).collect()
        };
        let named = numbers(words);
        numbers(&tokens(&self.question.plan[place].subtask)).into_iter().find(|it| !named.contains(it))
    }

    /// The fault in the words of a calculation that is not understood.
    fn by_facts(&self, place: usize, text: &str, words: &[Token]) -> Option<OutputFault> {
        let step = &self.question.plan[place];
        if let Some(fact) = missing_fact(&step.facts, text) {
            return Some(OutputFault::WrongSubtask { place: place + 1, fact: fact.to_owned() });
        }
        let known: Vec<Token> = [&*step.subtask, &*step.reference, &*self.question.question]
            .into_iter()
            .flat_map(tokens)
            .collect();
        let is_known = |number: &f64| {
            known.iter().any(|token| matches!(token, Token::Number(it) | Token::Ordinal(it) if it == number))
                || self.given.iter().any(|given| given.number() == Some(*number))
        };
        let numbers = words.iter().enumerate().filter_map(|(at, token)| match token {
            Token::Number(number) if !is_step(words, at) => Some(*number),
            _ => None,
        });
        // "The result of step 4", where there are three.
        let is_beyond = |(at, token): (usize, &Token)| {
            at > 0
                && words[at - 1].word() == Some("step")
                && matches!(token, Token::Number(it) if *it > place as f64)
        };
        let is_beyond = words.iter().enumerate().any(is_beyond).then(|| "it names a later step".to_owned());
        let unknown =
            numbers.into_iter().find(|number| !is_known(number)).map(|number| format!("it names {number}"));
        // Another kind of arithmetic than in our own words.
        let (own, said) = (formula::arithmetic(&tokens(&step.subtask)), formula::arithmetic(words));
        let is_other = !own.is_empty() && !said.is_empty() && said.iter().all(|verb| !own.contains(verb));
        let is_other = is_other.then(|| "it calculates something else".to_owned());
        let is_other = is_other.or_else(|| query::other_extreme(step, words));
        let what = is_beyond
            .or(unknown)
            .or(is_other)
            .or_else(|| query::other_value(step, &self.question.question, words))?;
        Some(OutputFault::OtherMeaning { place: place + 1, what })
    }

    /// The formulas in a text with their values, of a text that says the same twice both; none if it is not understood.
    fn values(&self, place: usize, words: &[Token]) -> Vec<(Formula, f64)> {
        let results: Vec<Option<f64>> = self.given[..place].iter().map(Given::number).collect();
        let is_number = |place: &usize| results[*place].is_some();
        let earlier =
            |place: usize| Earlier { place, concepts: concepts(&self.question.plan[place].subtask) };
        let earlier: Vec<Earlier> = (0..place).filter(is_number).map(earlier).collect();
        // What a text says in other words says all of it.
        let again = restated(words).map(|words| formula::read(words, &earlier)).filter(|it| !it.is_empty());
        let formulas = again.unwrap_or_else(|| formula::read(words, &earlier));
        let with_value = |formula: Formula| formula.value(&results).map(|value| (formula, value));
        // Without the value of one, it is not known what is meant.
        formulas.into_iter().map(with_value).collect::<Option<Vec<_>>>().unwrap_or_default()
    }

    /// Whether a value is that of the step.
    fn is_value(&self, place: usize, formula: &Formula, value: f64, right: f64) -> bool {
        let step = &self.question.plan[place];
        let ours = tokens(&step.subtask);
        let own = self.values(place, &ours).into_iter().next();
        // A share is the same number in per cent.
        let is_share = matches!(formula, Formula::Apply(Operation::Divide, _))
            && ours
                .iter()
                .filter_map(Token::word)
                .any(|word| ["per", "percent", "percentage"].contains(&word));
        // Where our own words leave open what is subtracted from what, either is right.
        let is_open = matches!(own, Some((Formula::Apply(Operation::Difference, _), _)));
        let is_same = |value: f64, right: f64| {
            let is_near =
                |value: f64| is_near(value, right, self.question.printed) || is_rounded(value, right);
            is_near(value) || (is_share && is_near(100.0 * value)) || (is_open && is_near(-value))
        };
        if !is_same(value, right) {
            return false;
        }
        // With other results of the earlier steps, the two still have to agree: rounding up and rounding may give the
        // same by chance.
        let Some((own, _)) = own.filter(|(own, it)| is_same(*it, right) && own.has_result()) else {
            return true;
        };
        let results = self.given[..place].iter().map(Given::number);
        OTHER_RESULTS.iter().filter(|_| formula.has_result()).all(|(scale, more)| {
            let results: Vec<Option<f64>> =
                results.clone().map(|result| result.map(|it| (it * scale).floor() + more)).collect();
            match (formula.value(&results), own.value(&results)) {
                (Some(value), Some(right)) => is_same(value, right),
                (value, right) => value.is_none() == right.is_none(),
            }
        })
    }
}

/// What stands behind "i.e." or "that is".
fn restated(words: &[Token]) -> Option<&[Token]> {
    let word = |at: usize| words.get(at).and_then(Token::word).unwrap_or_default();
    let behind = (0..words.len()).find_map(|at| match (word(at), word(at + 1), word(at + 2)) {
        ("i", _, "e") => Some(at + 3),
        ("that", "is", _) | ("in", "other", "words") | ("ie" | "namely", _, _) => Some(at + 1),
        _ => None,
    })?;
    words.get(behind..)
}

/// Whether a number there is that of a step: "the result of step 1".
fn is_step(words: &[Token], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| words[at].word());
    before.is_some_and(|word| ["step", "task", "subtask", "result", "query"].contains(&word))
        || (at == 0 && matches!(words.get(1), Some(Token::Sign(";" | ":" | ")"))))
}

/// What a sub-task is about.
fn concepts(text: &str) -> Vec<String> {
    let plain = [
        "the", "of", "a", "an", "who", "are", "find", "count", "is", "in", "that", "to", "how", "many",
        "number",
    ];
    let words = tokens(text);
    let words = words.iter().filter_map(Token::word).map(|word| concept(word).into_owned());
    words.filter(|word| !plain.contains(&&**word)).collect()
}

fn is_rounded(value: f64, right: f64) -> bool {
    (value - right).abs() <= ROUNDED_DISTANCE * right.abs()
}

/// A value with few digits.
fn shown(value: f64) -> String {
    let rounded = (value * 1e4).round() / 1e4;
    rounded.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::PaperEvaluation;

    /// A question of a user's own, with one calculation.
    fn question(subtask: &str, facts: &[&str], reference: &str, answer: f64) -> ToolQuestion {
        ToolQuestion {
            id: "q".to_owned(),
            evaluations: vec![PaperEvaluation::Pairs],
            question: format!("{subtask}."),
            tables: Vec::new(),
            plan: vec![GoldStep {
                tool: ToolName::Python,
                subtask: subtask.to_owned(),
                facts: facts.iter().map(|it| (*it).to_owned()).collect(),
                reference: reference.to_owned(),
            }],
            parts: Vec::new(),
            answer: vec![AnswerPart::Number(answer)],
            ordered: false,
            printed: false,
        }
    }

    #[test]
    fn words_that_are_misread_are_judged_by_facts() {
        let question = question("Divide 3 by 6 the other way round", &["divi", "3", "6"], "6 / 3", 2.0);
        let right = RightPlan::of(&question).unwrap();
        let fault = |text: &str| right.by_words(0, text).unwrap().map(|fault| fault.to_string());
        assert_eq!(fault("Divide 3 by 6 the other way round"), None);
        assert_eq!(fault("The quotient of 6 and 3"), None);
        assert!(fault("Multiply 3 by 6").unwrap().contains("`divi`"));
        assert!(fault("Divide 3 by 6, then by 7").unwrap().contains("names 7"));
    }

    #[test]
    fn what_no_formula_gives_is_judged_by_facts() {
        let question = question("Find the 100th prime number", &["prime", "100"], "primes(100)", 541.0);
        let right = RightPlan::of(&question).unwrap();
        let fault = |text: &str| right.by_words(0, text).unwrap().map(|fault| fault.to_string());
        for text in
            ["Find the 100th prime number", "Compute the hundredth prime", "Which prime is the 100th?"]
        {
            assert_eq!(fault(text), None, "{text}");
        }
        assert!(fault("Find the 10th prime number").is_some() && fault("Find 100 numbers").is_some());
    }
}
