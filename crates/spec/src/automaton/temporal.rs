//! Requirements (linear temporal logic over finite traces) as automata.
//!
//! A requirement is transformed so that only atoms are negated. Reading a symbol turns it into an obligation on the
//! rest of the word: a choice between sets of *duties*, each a formula together with whether the word may end before
//! it is considered. A position of the automaton is such a choice, kept minimal. This is the alternating automaton of
//! the formula (De Giacomo and Vardi, IJCAI 2013) with the subset construction done on the fly.

use std::collections::BTreeMap;

use super::alphabet::Alphabet;
use super::dfa::{DEAD, Dfa, Numbering, TooLarge, Work, check_positions};
use crate::{CallPattern, Requirement, RequirementKind, StateId};

/// What the atoms of a requirement mean: at which symbols each of them holds.
pub(crate) trait Atoms {
    /// The number of symbols.
    fn symbols(&self) -> usize;

    /// The symbols at which a state, or whatever else has such a name, holds. An unknown name holds nowhere.
    fn with_name(&self, name: &str) -> Vec<bool>;

    /// The symbols of calls that a pattern matches.
    fn with_call_like(&self, pattern: &CallPattern) -> Vec<bool>;
}

/// The atoms of a specification: its states, and the calls in its alphabet.
pub(super) struct StatesAndCalls<'a> {
    pub(super) alphabet: &'a Alphabet,
    /// The number of each state.
    pub(super) names: &'a BTreeMap<&'a str, usize>,
}

impl Atoms for StatesAndCalls<'_> {
    fn symbols(&self) -> usize {
        self.alphabet.len()
    }

    fn with_name(&self, name: &str) -> Vec<bool> {
        let mut holds = vec![false; self.alphabet.len()];
        if let Some(state) = self.names.get(name) {
            holds[self.alphabet.of_state(StateId::new(*state))].fill(true);
        }
        holds
    }

    fn with_call_like(&self, pattern: &CallPattern) -> Vec<bool> {
        self.alphabet.with_call_like(pattern)
    }
}

/// The minimal automaton of the words that satisfy a requirement, over the symbols of `atoms`.
///
/// On the empty word atoms, `next`, `until` and `eventually` are false, and `always` is true.
pub(crate) fn automaton(
    requirement: &Requirement,
    atoms: &dyn Atoms,
    work: &mut Work,
) -> Result<Dfa, TooLarge> {
    let symbols = atoms.symbols();
    let mut formulas = Formulas { atoms, symbols, nodes: Numbering::default(), work };
    let root = formulas.normal(requirement, true)?;
    let mut builder = Builder { nodes: formulas.nodes, successors: BTreeMap::new(), work: formulas.work };

    // The start is a separate position: no earlier word could justify its ending.
    let mut choices: Numbering<Choice> = Numbering::default();
    let mut next = Vec::new();
    let mut accepting = vec![builder.holds_at_end(root)];
    for symbol in 0..symbols {
        next.push(target(&mut choices, builder.after(root, symbol)?));
    }
    while let Some(choice) = choices.next() {
        builder.work.spend(symbols)?;
        // The word may end here if no duty of some set needs a rest.
        accepting.push(choice.iter().any(|duties| duties.iter().all(|duty| duty.may_end)));
        for symbol in 0..symbols {
            let mut after = Choice::new();
            for duties in &choice {
                // All duties of a set have to be fulfilled, and each has its own choice of what that takes.
                let mut all = vec![Vec::new()];
                for duty in duties {
                    let successor = builder.after(duty.formula, symbol)?;
                    all = builder.both(&all, &successor)?;
                }
                after.extend(all);
            }
            let after = builder.minimal(after)?;
            next.push(target(&mut choices, after));
        }
        // The start is not among the choices.
        check_positions(choices.len() + 1)?;
    }
    Dfa::new(symbols, next, accepting).minimised(builder.work)
}

/// The number of a position: the start is 0.
fn target(choices: &mut Numbering<Choice>, choice: Choice) -> u32 {
    if choice.is_empty() { DEAD } else { choices.number(choice) + 1 }
}

type FormulaId = u32;

/// Something that must hold of the rest of the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Duty {
    formula: FormulaId,
    /// If there is no rest, nothing is demanded; otherwise the duty is violated then.
    may_end: bool,
}

/// Sets of duties, one of which must be fulfilled. None contains another; all are sorted. No sets: impossible. An
/// empty set: nothing is demanded.
type Choice = Vec<Vec<Duty>>;

/// A formula in which only atoms are negated; its parts are numbers of other formulas.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    /// One of these symbols. `at_end` is the value if there is no symbol.
    Atom {
        holds: Vec<bool>,
        at_end: bool,
    },
    And(Vec<FormulaId>),
    Or(Vec<FormulaId>),
    /// There is a next symbol, and the formula holds there.
    Next(FormulaId),
    /// There is no next symbol, or the formula holds there.
    WeakNext(FormulaId),
    /// The second holds here or later, the first until then.
    Until(FormulaId, FormulaId),
    /// The second holds up to where the first does, that place included, or always.
    Release(FormulaId, FormulaId),
    /// The formula holds at no more than this number of places from here on; its negation is the second one.
    AtMost(u32, FormulaId),
    /// The formula holds at no fewer than this number of places from here on; at least 1.
    AtLeast(u32, FormulaId),
}

struct Formulas<'a> {
    atoms: &'a dyn Atoms,
    symbols: usize,
    nodes: Numbering<Node>,
    work: &'a mut Work,
}

impl Formulas<'_> {
    /// The requirement or its negation, in normal form.
    fn normal(&mut self, requirement: &Requirement, positive: bool) -> Result<FormulaId, TooLarge> {
        self.work.spend(self.symbols)?;
        let node = match &requirement.kind {
            RequirementKind::True => self.constant(positive),
            RequirementKind::False => self.constant(!positive),
            RequirementKind::State(name) => atom(self.atoms.with_name(name), positive),
            RequirementKind::Call(pattern) => atom(self.atoms.with_call_like(pattern), positive),
            RequirementKind::Not(operand) => return self.normal(operand, !positive),
            // Negation turns `and` into `or` and the reverse (De Morgan).
            RequirementKind::And(operands) => self.join(operands, positive, positive)?,
            RequirementKind::Or(operands) => self.join(operands, !positive, positive)?,
            RequirementKind::Implies(first, second) => {
                // `f implies g` is `not f or g`. Its negation is `f and not g`.
                let parts = vec![self.normal(first, !positive)?, self.normal(second, positive)?];
                self.joined(parts, !positive)
            }
            RequirementKind::Always(operand) | RequirementKind::Eventually(operand) => {
                // `always f` is `false release f`, and `eventually f` is `true until f`. Negation swaps them.
                let is_always = matches!(requirement.kind, RequirementKind::Always(_));
                let operand = self.normal(operand, positive)?;
                if is_always == positive {
                    let never = self.constant_id(false);
                    Node::Release(never, operand)
                } else {
                    let always = self.constant_id(true);
                    Node::Until(always, operand)
                }
            }
            RequirementKind::Next(operand) => {
                let operand = self.normal(operand, positive)?;
                // On a finite word, the negation of `next f` also holds at the last place, hence the weak form.
                if positive { Node::Next(operand) } else { Node::WeakNext(operand) }
            }
            RequirementKind::Until(first, second) => {
                let (first, second) = (self.normal(first, positive)?, self.normal(second, positive)?);
                // Release is the dual of until, so the negated operands come with the other operator.
                if positive { Node::Until(first, second) } else { Node::Release(first, second) }
            }
            RequirementKind::Before(first, second) => {
                // The second does not hold, up to a place where the first does: then it may.
                let parts = vec![self.normal(first, positive)?, self.normal(second, !positive)?];
                let joined = self.joined(parts, positive);
                let gate = self.nodes.number(joined);
                let barred = self.normal(second, !positive)?;
                if positive { Node::Release(gate, barred) } else { Node::Until(gate, barred) }
            }
            RequirementKind::AtMost(count, operand) => {
                if positive {
                    // This node gets the negation: a place is counted unless the formula certainly does not hold
                    // there.
                    Node::AtMost(*count, self.normal(operand, false)?)
                } else {
                    Node::AtLeast(*count + 1, self.normal(operand, true)?)
                }
            }
        };
        Ok(self.nodes.number(node))
    }

    fn constant(&self, value: bool) -> Node {
        Node::Atom { holds: vec![value; self.symbols], at_end: value }
    }

    fn constant_id(&mut self, value: bool) -> FormulaId {
        let node = self.constant(value);
        self.nodes.number(node)
    }

    fn join(&mut self, operands: &[Requirement], is_and: bool, positive: bool) -> Result<Node, TooLarge> {
        let parts: Result<_, _> = operands.iter().map(|operand| self.normal(operand, positive)).collect();
        Ok(self.joined(parts?, is_and))
    }

    fn joined(&mut self, mut parts: Vec<FormulaId>, is_and: bool) -> Node {
        // One order, so that the numbering recognises equal nodes.
        parts.sort_unstable();
        parts.dedup();
        if is_and { Node::And(parts) } else { Node::Or(parts) }
    }
}

fn atom(mut holds: Vec<bool>, positive: bool) -> Node {
    if !positive {
        holds.iter_mut().for_each(|holds| *holds = !*holds);
    }
    // At the end of a word no symbol is read: an atom is false there, and its negation true.
    Node::Atom { holds, at_end: !positive }
}

struct Builder<'w> {
    nodes: Numbering<Node>,
    successors: BTreeMap<(FormulaId, usize), Choice>,
    work: &'w mut Work,
}

impl Builder<'_> {
    /// Whether the formula holds at the end of the word.
    fn holds_at_end(&self, formula: FormulaId) -> bool {
        match self.nodes.get(formula) {
            Node::Atom { at_end, .. } => *at_end,
            Node::And(parts) => parts.iter().all(|part| self.holds_at_end(*part)),
            Node::Or(parts) => parts.iter().any(|part| self.holds_at_end(*part)),
            Node::Next(_) | Node::Until(..) | Node::AtLeast(..) => false,
            Node::WeakNext(_) | Node::Release(..) | Node::AtMost(..) => true,
        }
    }

    /// The obligation on the rest if the formula holds where this symbol is read.
    fn after(&mut self, formula: FormulaId, symbol: usize) -> Result<Choice, TooLarge> {
        // Formulas share parts, which would otherwise be expanded once for each path to them.
        if let Some(choice) = self.successors.get(&(formula, symbol)) {
            return Ok(choice.clone());
        }
        let nothing = || vec![Vec::new()];
        let duty = |formula, may_end| vec![vec![Duty { formula, may_end }]];
        let choice = match self.nodes.get(formula).clone() {
            Node::Atom { holds, .. } => {
                if holds[symbol] {
                    nothing()
                } else {
                    Choice::new()
                }
            }
            Node::And(parts) => {
                let mut all = nothing();
                for part in parts {
                    let part = self.after(part, symbol)?;
                    all = self.both(&all, &part)?;
                }
                all
            }
            Node::Or(parts) => {
                let mut any = Choice::new();
                for part in parts {
                    any.extend(self.after(part, symbol)?);
                }
                self.minimal(any)?
            }
            Node::Next(operand) => duty(operand, false),
            Node::WeakNext(operand) => duty(operand, true),
            Node::Until(first, second) => {
                let (first, second) = (self.after(first, symbol)?, self.after(second, symbol)?);
                // If the second does not hold yet, the first must, and the word must not end before the second has
                // held.
                let later = self.both(&first, &duty(formula, false))?;
                self.minimal(second.into_iter().chain(later).collect())?
            }
            Node::Release(first, second) => {
                let (first, second) = (self.after(first, symbol)?, self.after(second, symbol)?);
                // The first ends the duty. If it never holds, the duty may still be open when the word ends.
                let either = self.minimal(first.into_iter().chain(duty(formula, true)).collect())?;
                self.both(&second, &either)?
            }
            Node::AtMost(count, negated) => {
                let negated_now = self.after(negated, symbol)?;
                if count == 0 {
                    // No place is left, so the formula must hold neither here nor later.
                    self.both(&negated_now, &duty(formula, true))?
                } else {
                    // If the formula may hold here, one place fewer is left. The bound for the rest stays in either
                    // case; `both` drops it where the smaller bound makes it superfluous.
                    let fewer = self.nodes.number(Node::AtMost(count - 1, negated));
                    let either = negated_now.into_iter().chain(duty(fewer, true)).collect();
                    let either = self.minimal(either)?;
                    self.both(&either, &duty(formula, true))?
                }
            }
            Node::AtLeast(count, operand) => {
                // Either this place counts, and one fewer is needed in the rest, or all of them are.
                let mut now = self.after(operand, symbol)?;
                if count > 1 {
                    let fewer = self.nodes.number(Node::AtLeast(count - 1, operand));
                    now = self.both(&now, &duty(fewer, false))?;
                }
                self.minimal(now.into_iter().chain(duty(formula, false)).collect())?
            }
        };
        self.successors.insert((formula, symbol), choice.clone());
        Ok(choice)
    }

    /// Both choices.
    fn both(&mut self, left: &Choice, right: &Choice) -> Result<Choice, TooLarge> {
        let mut all = Choice::new();
        for left in left {
            for right in right {
                let mut duties: Vec<Duty> = left.iter().chain(right).copied().collect();
                self.work.spend(duties.len() + 1)?;
                duties.sort_unstable();
                // Of two duties for one formula, the one that demands a rest, which sorts first, is stronger.
                duties.dedup_by_key(|duty| duty.formula);
                // The larger bound for the same places is weaker.
                let is_weaker = |duty: &Duty| {
                    match self.nodes.get(duty.formula) {
                    Node::AtMost(count, operand) => duties.iter().any(|other| {
                        matches!(self.nodes.get(other.formula), Node::AtMost(fewer, same) if same == operand && fewer < count)
                            && other.may_end <= duty.may_end
                    }),
                    _ => false,
                }
                };
                let kept = duties.iter().copied().filter(|duty| !is_weaker(duty)).collect();
                all.push(kept);
            }
        }
        self.minimal(all)
    }

    /// Removes the sets that contain another one.
    fn minimal(&mut self, mut choice: Choice) -> Result<Choice, TooLarge> {
        // Shorter sets first, so that each set is compared with all sets that it could contain.
        choice.sort_unstable_by(|left, right| left.len().cmp(&right.len()).then_with(|| left.cmp(right)));
        choice.dedup();
        let mut kept = Choice::new();
        for duties in choice {
            self.work.spend(kept.len() * (duties.len() + 1))?;
            let is_superset = kept
                .iter()
                .any(|other: &Vec<Duty>| other.iter().all(|duty| duties.binary_search(duty).is_ok()));
            if !is_superset {
                kept.push(duties);
            }
        }
        // One form for equal choices: they become one position.
        kept.sort_unstable();
        Ok(kept)
    }
}
