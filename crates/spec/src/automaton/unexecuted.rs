//! Calls that a specification allows a model to write and nobody executes.

use std::collections::VecDeque;

use super::alphabet::Alphabet;
use super::dfa::{DEAD, Dfa, TooLarge, Work};
use super::execution::{can_execute, handler};
use crate::diagnostic::{Code, Diagnostic};
use crate::{Handler, Spec, StateId};

/// Warns of calls that are never executed, and of those that a handler skips because it runs only the last one. `dfa`
/// is the whole specification. Reports nothing if there are too many positions.
pub(super) fn warnings(spec: &Spec, alphabet: &Alphabet, dfa: &Dfa) -> Vec<Diagnostic> {
    let mut work = Work::default();
    let never = never(spec, alphabet, dfa, &mut work).unwrap_or_default();
    // A call that is never executed is also passed over; the stronger warning is enough.
    if !never.is_empty() {
        return never;
    }
    passed_over(spec, alphabet, dfa, &mut work).unwrap_or_default()
}

/// The states that complete a call which, whatever it is, is not executed on any way to an end; each once.
fn never(spec: &Spec, alphabet: &Alphabet, dfa: &Dfa, work: &mut Work) -> Result<Vec<Diagnostic>, TooLarge> {
    let mut known: Vec<Option<bool>> = vec![None; dfa.positions()];
    let mut found = Vec::new();
    for (index, state) in spec.states.iter().enumerate().filter(|(_, state)| state.completes_call()) {
        let symbols = alphabet.of_state(StateId::new(index));
        for position in 0..dfa.positions() as u32 {
            let (mut is_completed, mut is_executed) = (false, false);
            for symbol in symbols.clone().filter(|symbol| alphabet.is_plain(*symbol)) {
                let target = dfa.step(position, symbol);
                if target == DEAD {
                    continue;
                }
                is_completed = true;
                // The answer depends only on the position after the call.
                let known = &mut known[target as usize];
                // A search can visit the whole automaton, so it is counted in advance.
                if known.is_none() {
                    work.spend(dfa.positions() * alphabet.len())?;
                }
                is_executed |= *known.get_or_insert_with(|| can_execute(spec, alphabet, dfa, target));
            }
            if is_completed && !is_executed {
                let way = dfa.shortest_way(0, |at, _| at == position).unwrap_or_default();
                let begin = if way.is_empty() {
                    "as the first state".to_owned()
                } else {
                    format!("after {}", alphabet.show(&way, &spec.states))
                };
                let message =
                    format!("no run executes the call that `{}` completes {begin}", state.name.value);
                found.push(Diagnostic::new(Code::CallNotExecuted, state.name.span, message).help(
                    "a call counts when it is executed: let a state of the environment follow with a handler that runs it",
                ));
                break;
            }
        }
    }
    Ok(found)
}

/// The handlers that run one call while another one waits, which is then never run.
fn passed_over(
    spec: &Spec,
    alphabet: &Alphabet,
    dfa: &Dfa,
    work: &mut Work,
) -> Result<Vec<Diagnostic>, TooLarge> {
    // A solver runs all calls of the run, also those that other handlers skipped.
    if spec.has_handler(Handler::Solve) {
        return Ok(Vec::new());
    }
    // The number of waiting calls: none, one, or more.
    let mut seen = vec![[false; 3]; dfa.positions()];
    let mut open = VecDeque::from([(0_u32, 0_usize)]);
    let mut passing = vec![false; spec.states.len()];
    while let Some((position, waiting)) = open.pop_front() {
        work.spend(alphabet.len())?;
        for symbol in (0..alphabet.len()).filter(|symbol| alphabet.is_plain(*symbol)) {
            let target = dfa.step(position, symbol);
            if target == DEAD {
                continue;
            }
            let state = alphabet.state_of(symbol);
            let now = match handler(spec, state) {
                Some(handler) => {
                    let run = match handler {
                        Handler::RunCall => 1,
                        Handler::Evaluate => 0,
                        // 2 stands for any number of calls.
                        Handler::RunCalls | Handler::Summarise | Handler::Solve => 2,
                    };
                    passing[state.index()] |= waiting > run;
                    0
                }
                None => (waiting + usize::from(alphabet.is_call(symbol))).min(2),
            };
            if !std::mem::replace(&mut seen[target as usize][now], true) {
                open.push_back((target, now));
            }
        }
    }
    let states = spec.states.iter().zip(passing).filter(|(_, is_passing)| *is_passing);
    let warning = |(state, _): (&crate::State, bool)| {
        let name = &state.name.value;
        let (span, message) = match &state.handler {
            Some(handler) if handler.value == Handler::Evaluate => {
                (handler.span, format!("calls that wait when `{name}` comes are never executed"))
            }
            Some(handler) => {
                (handler.span, format!("of several calls before `{name}` only the last is executed"))
            }
            None => (state.name.span, format!("of several calls before `{name}` only the last is executed")),
        };
        Diagnostic::new(Code::CallNotExecuted, span, message)
            .help("a call counts when it is executed: use (:handler run-calls), or let one call at a time be written")
    };
    Ok(states.map(warning).collect())
}
