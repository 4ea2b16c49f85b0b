//! Requirements in words. Common requirements have sentences of their own; all others get a sentence composed along
//! the structure of the formula. Parentheses separate its parts, so that no two formulas with different meanings read
//! alike.

use planproof_spec::{CallPattern, Predicate, Requirement, RequirementKind as Kind, Test};

/// Gives the prompt of the state of that name.
type Prompt<'p> = &'p dyn Fn(&str) -> String;

/// A requirement in sentences, one at least.
pub(super) fn in_words(requirement: &Requirement, prompt: Prompt<'_>) -> Vec<String> {
    if let Kind::And(parts) = &requirement.kind {
        return parts.iter().flat_map(|part| in_words(part, prompt)).collect();
    }
    vec![
        often(requirement, prompt)
            .unwrap_or_else(|| capital(&clause(requirement, "the first section", prompt))),
    ]
    .into_iter()
    .map(|words| format!("{words}."))
    .collect()
}

fn capital(words: &str) -> String {
    let mut characters = words.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// What is often required.
fn often(requirement: &Requirement, prompt: Prompt<'_>) -> Option<String> {
    let never = |forbidden: &Requirement| {
        Some(match &forbidden.kind {
            Kind::Call(pattern) => format!("Never call {}", call(pattern)),
            Kind::State(name) => format!("{} must never come", prompt(name)),
            _ => return None,
        })
    };
    let atom = |it: &Requirement| matches!(it.kind, Kind::Call(_) | Kind::State(_));
    // Different formulas can say the same. `(always (not p))`, `(not (eventually p))` and `(at-most 0 p)` get one
    // sentence.
    match &requirement.kind {
        Kind::Always(operand) => match &operand.kind {
            Kind::Not(forbidden) => never(forbidden),
            Kind::Implies(first, second) if atom(first) => Some(format!(
                "Whenever a section {}, {}",
                predicate(first, true, prompt)?,
                clause(second, "it", prompt)
            )),
            _ => None,
        },
        Kind::Not(operand) => match &operand.kind {
            Kind::Eventually(forbidden) => never(forbidden),
            _ => None,
        },
        Kind::AtMost(0, forbidden) => never(forbidden),
        Kind::AtMost(count, operand) => {
            let times = if *count == 1 { "once".to_owned() } else { format!("{count} times") };
            match &operand.kind {
                Kind::Call(pattern) => Some(format!("Call {} at most {times}", call(pattern))),
                Kind::State(name) => Some(format!("{} may come at most {times}", prompt(name))),
                _ => None,
            }
        }
        Kind::Eventually(operand) => match &operand.kind {
            Kind::Call(pattern) => Some(format!("Call {} at least once", call(pattern))),
            Kind::State(name) => Some(format!("{} must come at least once", prompt(name))),
            _ => None,
        },
        Kind::Before(first, second) => {
            let held = match &first.kind {
                Kind::Call(pattern) => format!("{} has been called", call(pattern)),
                Kind::State(name) => format!("{} has come", prompt(name)),
                _ => return None,
            };
            match &second.kind {
                Kind::Call(pattern) => Some(format!("Call {} only after {held}", call(pattern))),
                Kind::State(name) => Some(format!("{} may come only after {held}", prompt(name))),
                _ => None,
            }
        }
        _ => None,
    }
}

/// What an atom says about a section, without the subject; `None` for anything else.
fn predicate(requirement: &Requirement, positive: bool, prompt: Prompt<'_>) -> Option<String> {
    Some(match (&requirement.kind, positive) {
        (Kind::State(name), true) => format!("is {}", prompt(name)),
        (Kind::State(name), false) => format!("is not {}", prompt(name)),
        (Kind::Call(pattern), true) => format!("completes a call of {}", call(pattern)),
        (Kind::Call(pattern), false) => format!("does not complete a call of {}", call(pattern)),
        (Kind::Not(operand), _) => return predicate(operand, !positive, prompt),
        _ => return None,
    })
}

/// What a formula says about the section that is the subject.
fn clause(requirement: &Requirement, subject: &str, prompt: Prompt<'_>) -> String {
    if let Some(predicate) = predicate(requirement, true, prompt) {
        return format!("{subject} {predicate}");
    }
    // An atom, negated or not, reads as one predicate and needs no parentheses.
    let part = |it: &Requirement, subject: &str| {
        let words = clause(it, subject, prompt);
        if predicate(it, true, prompt).is_some() { words } else { format!("({words})") }
    };
    let joined = |parts: &[Requirement], word: &str| match parts {
        [part] => clause(part, subject, prompt),
        parts => parts.iter().map(|it| part(it, subject)).collect::<Vec<_>>().join(word),
    };
    match &requirement.kind {
        // Atoms are handled above.
        Kind::State(_) | Kind::Call(_) => String::new(),
        Kind::True => "nothing is required".to_owned(),
        Kind::False => "nothing is allowed".to_owned(),
        Kind::Not(operand) => format!("it must not be that {}", part(operand, subject)),
        Kind::And(parts) => joined(parts, " and "),
        Kind::Or(parts) => joined(parts, " or "),
        Kind::Implies(first, second) => {
            format!("if {}, then {}", part(first, subject), part(second, subject))
        }
        Kind::Always(operand) => {
            format!("of {subject} and every later section: {}", part(operand, "it"))
        }
        Kind::Eventually(operand) => match predicate(operand, true, prompt) {
            Some(predicate) => format!("{subject} or a later section {predicate}"),
            None => format!("of {subject} or a later section: {}", part(operand, "it")),
        },
        Kind::Next(operand) => match predicate(operand, true, prompt) {
            Some(predicate) => format!("the section right after {subject} {predicate}"),
            None => {
                format!("there is a section right after {subject}, and of that one: {}", part(operand, "it"))
            }
        },
        Kind::Until(first, second) => format!(
            "of {subject} or a later section: {}; and of each section from {subject} up to that one, which does not count: {}",
            part(second, "it"),
            part(first, "it"),
        ),
        Kind::Before(first, second) => format!(
            "of no section from {subject} on: {}, unless of an earlier one, {subject} being the first: {}",
            part(second, "it"),
            part(first, "it"),
        ),
        Kind::AtMost(count, operand) => {
            format!("of at most {count} of the sections from {subject} on: {}", part(operand, "it"))
        }
    }
}

/// A call in words.
fn call(pattern: &CallPattern) -> String {
    let tool = pattern.tool.as_deref().unwrap_or("any tool");
    let tests: Vec<String> = pattern.predicates.iter().map(test).collect();
    if tests.is_empty() { tool.to_owned() } else { format!("{tool} with {}", tests.join(" and ")) }
}

/// A test of an argument in words.
fn test(predicate: &Predicate) -> String {
    let argument = &predicate.argument;
    match &predicate.test {
        Test::Has => format!("`{argument}` given"),
        Test::Equal(value) => format!("`{argument}` equal to {value}"),
        Test::NotEqual(value) => format!("`{argument}` other than {value}"),
        Test::Below(bound) => format!("`{argument}` below {bound}"),
        Test::AtMost(bound) => format!("`{argument}` at most {bound}"),
        Test::Above(bound) => format!("`{argument}` above {bound}"),
        Test::AtLeast(bound) => format!("`{argument}` at least {bound}"),
        Test::Matches(pattern) => {
            format!("`{argument}` matching the regular expression {}", pattern.as_str())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use planproof_spec::{Compat, Entered, load, read, textbook};
    use planproof_trace::{Arguments, CallId, ToolCall};

    use super::*;

    fn source(requirement: &str) -> String {
        format!(
            "(define d (:states (A (:text \"[A]\")) (C (:text \"[C]\") (:content arguments))
               (O (:text \"[O]\") (:flags :env-input) (:handler run-call)))
               (:behavior (next (always (or A C O)))) (:require {requirement}))"
        )
    }

    /// The formulas that are one operator larger than these.
    fn grown(parts: &[String], others: &[&str]) -> Vec<String> {
        let mut grown = Vec::new();
        for part in parts {
            for unary in ["not", "always", "eventually", "next", "at-most 0", "at-most 1"] {
                grown.push(format!("({unary} {part})"));
            }
            for other in others {
                for binary in ["and", "or", "implies", "until", "before"] {
                    grown.push(format!("({binary} {part} {other})"));
                    grown.push(format!("({binary} {other} {part})"));
                }
            }
        }
        grown
    }

    /// All requirements of up to two operators over two atoms: if two read alike, they hold for the same words.
    #[test]
    #[ignore = "slow"]
    fn requirements_with_different_meanings_read_differently() {
        let atoms = ["A", "call:x"];
        let one = grown(&atoms.map(str::to_owned), &atoms);
        let two = grown(&one, &atoms);
        let automaton = load(&source("true"), Compat::Ours).expect("a specification").automaton;
        let state = |name| automaton.state_named(name).expect("a state");
        let call = |name: &str| ToolCall {
            id: CallId::new("1"),
            name: name.to_owned(),
            arguments: Arguments::none(),
        };
        let (x, y) = (call("x"), call("y"));
        let letters = [
            Entered::from(state("A")),
            Entered::with(state("C"), Some(&x)),
            Entered::with(state("C"), Some(&y)),
            Entered::from(state("O")),
        ];
        let mut words: Vec<Vec<Entered<'_>>> = letters.iter().map(|letter| vec![*letter]).collect();
        for _ in 0..3 {
            let longer =
                words.iter().flat_map(|word| letters.iter().map(|letter| [&word[..], &[*letter]].concat()));
            let longer: Vec<_> = longer.collect();
            words.extend(longer);
        }
        let mut known: BTreeMap<String, (String, Vec<bool>)> = BTreeMap::new();
        for requirement in one.iter().chain(&two) {
            let spec = read(&source(requirement)).expect("a specification");
            let sentence = in_words(&spec.requirements[0], &|name| format!("[{name}]")).join(" ");
            let meaning: Vec<bool> =
                words.iter().map(|word| textbook::holds(&spec, &spec.requirements[0], word)).collect();
            let (other, same) =
                known.entry(sentence.clone()).or_insert_with(|| (requirement.clone(), meaning.clone()));
            assert_eq!(*same, meaning, "{requirement} and {other} read alike: {sentence}");
        }
        assert!(known.len() > 500, "{}", known.len());
    }
}
