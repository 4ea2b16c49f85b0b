//! A rule as an automaton over what it distinguishes of an event.
//!
//! A symbol is a set of atoms, as bits: those that hold of the event. Atoms are the events of the rule, and for `takes`
//! whether the argument is none of the values in the registers.

use std::sync::OnceLock;

use super::{CallRule, EventPattern, Pointer, RuleDemand};
use crate::automaton::dfa::{DEAD, Dfa, TooLarge, Work};
use crate::automaton::temporal::{self, Atoms};
use crate::limits::RULE_EVENTS_MAX;
use crate::{CallPattern, Requirement, RequirementKind};

/// Something that holds of an event or not.
#[derive(Debug, Clone)]
pub(super) enum Atom {
    /// The event is one of these.
    Event(EventPattern),
    /// It is a call of these whose argument is not in the register.
    NotTaken(EventPattern, Pointer),
}

/// What tests of a result can come to before it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TestedOutcome {
    /// Some result passes them all, as far as is known.
    pub(super) can_hold: bool,
    /// Some result fails one of them, as far as is known.
    pub(super) can_fail: bool,
}

/// Which values a register collects.
#[derive(Debug, Clone)]
pub(super) struct Register {
    pub(super) from: EventPattern,
    pub(super) value: Pointer,
}

/// What can still become of a rule at a position of its automaton.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Outlook {
    /// It is held if the session ends here.
    pub(super) accepts: bool,
    /// Some rest makes it violated.
    pub(super) may_be_violated: bool,
}

/// A rule that is ready to be held against events.
#[derive(Debug, Clone)]
pub(super) struct Compiled {
    pub(super) atoms: Vec<Atom>,
    pub(super) register: Option<Register>,
    /// For each atom, what its tests of a result can come to, if it has any: filled in where that is asked for.
    pub(super) tested: OnceLock<Vec<Option<TestedOutcome>>>,
    dfa: Dfa,
    /// For each position of the automaton.
    outlook: Vec<Outlook>,
    /// An event of which no atom holds changes nothing.
    pub(super) ignores_others: bool,
}

impl Compiled {
    /// Compiles a rule. Takes time in proportion to the size of its automaton, which is limited.
    pub(super) fn new(rule: &CallRule) -> Result<Self, TooLarge> {
        let (formula, atoms, register) = formula_of(&rule.demand);
        if atoms.len() > RULE_EVENTS_MAX {
            return Err(TooLarge { what: "events", limit: RULE_EVENTS_MAX as u64 });
        }
        let sets = Sets { atoms: atoms.len() };
        let mut work = Work::default();
        let dfa = temporal::automaton(&formula, &sets, &mut work)?;
        let symbols = sets.symbols();
        let positions = dfa.positions();
        let accepts: Vec<bool> = (0..positions).map(|position| dfa.is_accepting(position as u32)).collect();
        // From a position that does not accept, or from which a symbol leads to none, some rest violates the rule; and
        // from those before it. The automata are small, so rounds until nothing changes are quick.
        let mut may_be_violated: Vec<bool> = accepts.iter().map(|accepts| !accepts).collect();
        loop {
            work.spend(positions * symbols)?;
            let mut changed = false;
            for position in 0..positions {
                let leads_there = |symbol| match dfa.step(position as u32, symbol) {
                    DEAD => true,
                    next => may_be_violated[next as usize],
                };
                if !may_be_violated[position] && (0..symbols).any(leads_there) {
                    may_be_violated[position] = true;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        let outlook = accepts.into_iter().zip(may_be_violated);
        let outlook =
            outlook.map(|(accepts, may_be_violated)| Outlook { accepts, may_be_violated }).collect();
        let ignores_others = (0..positions).all(|position| dfa.step(position as u32, 0) == position as u32);
        Ok(Self { atoms, register, tested: OnceLock::new(), dfa, outlook, ignores_others })
    }

    /// The position before any event; [`DEAD`] if the rule can never be held.
    pub(super) fn start(&self) -> u32 {
        self.dfa.start()
    }

    /// Whether the rule is held if nothing happens at all.
    pub(super) fn accepts_at_start(&self) -> bool {
        self.outlook(self.start()).is_some_and(|outlook| outlook.accepts)
    }

    /// The position after an event of which these atoms hold.
    pub(super) fn step(&self, position: u32, atoms: usize) -> u32 {
        self.dfa.step(position, atoms)
    }

    /// How many positions there are.
    pub(super) fn positions(&self) -> usize {
        self.outlook.len()
    }

    /// What can still become of the rule; `None` if it is violated for good.
    pub(super) fn outlook(&self, position: u32) -> Option<Outlook> {
        self.outlook.get(position as usize).copied()
    }
}

/// The alphabet of all sets of atoms. An atom's name in the formula is its index.
struct Sets {
    atoms: usize,
}

impl Atoms for Sets {
    fn symbols(&self) -> usize {
        1 << self.atoms
    }

    fn with_name(&self, name: &str) -> Vec<bool> {
        let bit: Option<usize> = name.parse().ok().filter(|bit| *bit < self.atoms);
        (0..self.symbols()).map(|set| bit.is_some_and(|bit| set >> bit & 1 == 1)).collect()
    }

    fn with_call_like(&self, _: &CallPattern) -> Vec<bool> {
        // The reader has turned all calls into named atoms.
        debug_assert!(false, "a call in the formula of a rule");
        vec![false; self.symbols()]
    }
}

/// Any event of the moment of this one.
fn any_of_moment(event: &EventPattern) -> EventPattern {
    EventPattern { tools: None, arguments: Vec::new(), outcome: Vec::new(), ..event.clone() }
}

/// The formula of a demand, its atoms, and its register. The templates are written once, here; the definitions in
/// [`textbook`](super::textbook) do not use them.
fn formula_of(demand: &RuleDemand) -> (Requirement, Vec<Atom>, Option<Register>) {
    use RequirementKind::{Always, And, AtMost, Before, Eventually, Implies, Next, Not};
    let formula = |kind| Requirement { kind, span: crate::Span::default() };
    let boxed = |kind| Box::new(formula(kind));
    let atom = |index: usize| RequirementKind::State(index.to_string());
    let event = |pattern: &EventPattern| Atom::Event(pattern.clone());
    let later = |index: usize| Next(boxed(Eventually(boxed(atom(index)))));
    let (kind, atoms, register) = match demand {
        RuleDemand::Requires { trigger, needed } => {
            (Before(boxed(atom(1)), boxed(atom(0))), vec![event(trigger), event(needed)], None)
        }
        RuleDemand::FollowedBy { trigger, then } => {
            (Always(boxed(Implies(boxed(atom(0)), boxed(later(1))))), vec![event(trigger), event(then)], None)
        }
        RuleDemand::NeverAfter { event: late, after } => (
            Always(boxed(Implies(boxed(atom(1)), boxed(Not(boxed(later(0))))))),
            vec![event(late), event(after)],
            None,
        ),
        RuleDemand::Never(never) => (Always(boxed(Not(boxed(atom(0))))), vec![event(never)], None),
        RuleDemand::AtMost(times, counted) => (AtMost(*times, boxed(atom(0))), vec![event(counted)], None),
        // No more than one fewer is what must not be.
        RuleDemand::AtLeast(0, counted) => (RequirementKind::True, vec![event(counted)], None),
        RuleDemand::AtLeast(times, counted) => {
            (Not(boxed(AtMost(times - 1, boxed(atom(0))))), vec![event(counted)], None)
        }
        RuleDemand::First(first) => {
            let other = And(vec![formula(atom(1)), formula(Not(boxed(atom(0))))]);
            (Before(boxed(atom(0)), boxed(other)), vec![event(first), event(&any_of_moment(first))], None)
        }
        RuleDemand::Last(last) => {
            let other = And(vec![formula(atom(1)), formula(Not(boxed(atom(0))))]);
            let last_later = Eventually(boxed(atom(0)));
            (
                Always(boxed(Implies(boxed(other), boxed(last_later)))),
                vec![event(last), event(&any_of_moment(last))],
                None,
            )
        }
        RuleDemand::Takes { event: call, argument, from, value } => (
            Always(boxed(Not(boxed(atom(0))))),
            vec![Atom::NotTaken(call.clone(), argument.clone())],
            Some(Register { from: from.clone(), value: value.clone() }),
        ),
        RuleDemand::Formula { requirement, events, .. } => {
            return (requirement.clone(), events.iter().map(event).collect(), None);
        }
    };
    (formula(kind), atoms, register)
}
