//! A requirement whose operators stand between their operands, without brackets, as people write it down first.

use super::tree::{Form, Node};
use super::word;

/// Operators of one operand.
const BEFORE_ONE: [&str; 4] = ["always", "eventually", "not", "next"];

/// Operators of two operands, those that bind least first.
const BETWEEN_TWO: [&str; 5] = ["implies", "until", "before", "or", "and"];

/// Most pieces that are put in order, and the longest text that comes of it, in bytes.
const PIECES_MAX: usize = 30;
const WRITTEN_MAX: usize = 200;

/// What was probably meant by pieces that stand side by side, each operator first in brackets of its own:
/// `(always (implies call:a done:b))` for `always call:a implies done:b`. `None` if there is no such reading.
pub(super) fn bracketed(pieces: &[Node]) -> Option<String> {
    if pieces.len() > PIECES_MAX {
        return None;
    }
    let is_one_of = |piece: &Node, names: &[&str]| word(piece).is_some_and(|word| names.contains(&word));
    let text = match pieces {
        [] => return None,
        [one] if is_one_of(one, &BEFORE_ONE) || is_one_of(one, &BETWEEN_TWO) => return None,
        [one] => written(one),
        // What is always so is all that follows; the other operators are about what stands next to them.
        [first, rest @ ..] if is_one_of(first, &["always"]) => format!("(always {})", bracketed(rest)?),
        [first, rest @ ..] => {
            let between = 1..pieces.len() - 1;
            let split = BETWEEN_TWO.iter().find_map(|name| {
                let at = between.clone().find(|at| is_one_of(&pieces[*at], &[name]))?;
                Some((name, at))
            });
            match split {
                Some((operator, at)) => {
                    format!("({operator} {} {})", bracketed(&pieces[..at])?, bracketed(&pieces[at + 1..])?)
                }
                None if is_one_of(first, &BEFORE_ONE) => format!("({} {})", written(first), bracketed(rest)?),
                None => return None,
            }
        }
    };
    (text.len() <= WRITTEN_MAX).then_some(text)
}

/// A piece as it is written.
fn written(node: &Node) -> String {
    match &node.value {
        Form::Word(word) => word.clone(),
        Form::Text(text) => format!("{text:?}"),
        Form::List(items) => format!("({})", items.iter().map(written).collect::<Vec<_>>().join(" ")),
    }
}

#[cfg(test)]
mod tests {
    use crate::read::requirement_of;

    #[test]
    fn brackets_are_put_where_they_belong() {
        for (formula, expected) in [
            ("always call:a implies done:b", "write (always (implies call:a done:b))"),
            ("call:a and call:b or not call:c", "write (or (and call:a call:b) (not call:c))"),
            ("eventually (call:a (= x \"y\"))", "write (eventually (call:a (= x \"y\")))"),
            ("(always call:a implies done:b)", "write (always (implies call:a done:b))"),
            ("(implies always call:a done:b)", "write (implies f g): where f holds, g does"),
            ("call:a call:b", "join them: (and f g)"),
            ("always", "write"),
            ("", "write (always (implies f g))"),
        ] {
            let Err(faults) = requirement_of(formula) else {
                assert_eq!(formula, "always", "it is a formula");
                continue;
            };
            let help = faults.first().and_then(|fault| fault.help.clone()).unwrap_or_default();
            assert!(help.contains(expected), "{formula}: {help}");
            // What is to be written can be read.
            let meant = help.strip_prefix("write (always (").map(|_| &help["write ".len()..]);
            assert!(formula.is_empty() || meant.is_none_or(|meant| requirement_of(meant).is_ok()), "{help}");
        }
        // Many pieces take neither long nor much memory.
        assert!(requirement_of(&"call:a and ".repeat(50_000)).is_err());
    }
}
