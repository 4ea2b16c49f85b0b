//! Choosing against its slow twin: every selection, judged by what the constraints say, and every set of constraints.
//!
//! The twin uses nothing of the crate but its types, and reads times and units in its own way.

mod canary;
mod draw;

use planproof_constraint::choice::{
    Amount, ChoiceAnswer, ChoiceProblem, Condition, Conflict, ConflictSize, Constraint, Demand, FieldValue,
    Moment, Objective, Op, SearchLimits, Selection, Slot, SlotField, Term, ValueTest,
};
use proptest::prelude::*;

use crate::twin::cases;
use draw::{Instance, any_instance};

/// For each slot, the index of a candidate, or nothing.
type Chosen = Vec<Option<usize>>;

/// What the twin knows of a problem: every selection, and which constraints it meets.
struct Twin<'p> {
    slots: &'p [Slot],
    constraints: &'p [Constraint],
    /// Each with a bit for each constraint that it meets, and behind them one for the objective's fields.
    selections: Vec<(Chosen, u32)>,
}

/// Whether something holds; `None` where a field is missing, `Some(None)` where a slot is empty.
type Holds = Option<Option<bool>>;

impl<'p> Twin<'p> {
    fn new(slots: &'p [Slot], constraints: &'p [Constraint], objective: &Objective) -> Self {
        let mut all: Vec<Chosen> = vec![Vec::new()];
        for slot in slots {
            let mut next = Vec::new();
            for chosen in &all {
                let nothing = slot.is_optional.then_some(None);
                for choice in (0..slot.candidates.len()).map(Some).chain(nothing) {
                    next.push([chosen.as_slice(), &[choice]].concat());
                }
            }
            all = next;
        }
        let mut twin = Self { slots, constraints, selections: Vec::new() };
        for chosen in all {
            let mut met = 0;
            for (bit, constraint) in constraints.iter().enumerate() {
                met |= u32::from(twin.meets(&chosen, &constraint.demand)) << bit;
            }
            met |= u32::from(twin.cost(&chosen, objective).is_some()) << constraints.len();
            twin.selections.push((chosen, met));
        }
        twin
    }

    /// The value of a field: nothing for an empty slot, and within that nothing for a missing field.
    fn value(&self, chosen: &Chosen, field: &SlotField) -> Option<Option<&FieldValue>> {
        let place = self.slots.iter().position(|slot| slot.name == field.slot).unwrap();
        Some(self.slots[place].candidates[chosen[place]?].get(&field.field))
    }

    fn meets(&self, chosen: &Chosen, demand: &Demand) -> bool {
        match demand {
            Demand::Holds(condition) => self.holds(chosen, condition).is_some_and(|it| it != Some(false)),
            Demand::Sum { terms, op, bound } => {
                self.sum(chosen, terms).is_some_and(|sum| compare(*op, sum, number(bound) * 1_000_000))
            }
            Demand::Count { fields, test, op, count } => {
                let mut passing = 0;
                for field in fields {
                    match self.value(chosen, field) {
                        Some(None) => return false,
                        Some(Some(value)) => passing += i128::from(passes(value, test)),
                        None => {}
                    }
                }
                compare(*op, passing, i128::from(*count))
            }
            Demand::Different(fields) => self.pairs(chosen, fields, false),
            Demand::Same(fields) => self.pairs(chosen, fields, true),
            Demand::Implies { premise, conclusion } => {
                let premise = self.holds(chosen, premise);
                let asks = matches!(premise, None | Some(Some(true)));
                !asks || matches!(self.holds(chosen, conclusion), Some(None | Some(true)))
            }
        }
    }

    fn pairs(&self, chosen: &Chosen, fields: &[SlotField], are_equal: bool) -> bool {
        let values: Vec<Option<&FieldValue>> =
            fields.iter().filter_map(|field| self.value(chosen, field)).collect();
        values.iter().all(Option::is_some)
            && (0..values.len()).all(|one| (0..one).all(|other| (values[one] == values[other]) == are_equal))
    }

    fn sum(&self, chosen: &Chosen, terms: &[Term]) -> Option<i128> {
        terms.iter().try_fold(0, |sum, term| match self.value(chosen, &term.field) {
            None => Some(sum),
            Some(value) => Some(sum + number(value?) * i128::from(term.factor.micros())),
        })
    }

    /// What a selection costs, less being better; `None` where a field is missing.
    fn cost(&self, chosen: &Chosen, objective: &Objective) -> Option<i128> {
        match objective {
            Objective::First => Some(0),
            Objective::Minimise(terms) => self.sum(chosen, terms),
            Objective::Maximise(terms) => self.sum(chosen, terms).map(|sum| -sum),
        }
    }

    fn holds(&self, chosen: &Chosen, condition: &Condition) -> Holds {
        let both = |left: Option<Option<&FieldValue>>, right: Option<Option<&FieldValue>>| match (left, right)
        {
            (Some(None), _) | (_, Some(None)) => None,
            (Some(Some(left)), Some(Some(right))) => Some(Some((left.clone(), right.clone()))),
            _ => Some(None),
        };
        let judged = |pair: Option<Option<(FieldValue, FieldValue)>>,
                      judge: &dyn Fn(&FieldValue, &FieldValue) -> bool| {
            pair.map(|pair| pair.map(|(left, right)| judge(&left, &right)))
        };
        match condition {
            Condition::Passes { field, test } => match self.value(chosen, field) {
                None => Some(None),
                Some(value) => Some(Some(passes(value?, test))),
            },
            Condition::Compare { left, op, right } => {
                let pair = both(self.value(chosen, left), self.value(chosen, right));
                judged(pair, &|left, right| compare_values(*op, left, right))
            }
            Condition::Listed { field, list, is_in } => {
                let pair = both(self.value(chosen, field), self.value(chosen, list));
                judged(pair, &|text, list| match (text, list) {
                    (FieldValue::Text(text), FieldValue::List(texts)) => texts.contains(text) == *is_in,
                    _ => panic!("the strategy lists texts"),
                })
            }
            Condition::Time { from, to, op, minutes } => {
                let fixed = |moment: &Moment| match moment {
                    Moment::At(text) => Some(FieldValue::Text(text.clone())),
                    Moment::Field(_) => None,
                };
                let (of_from, of_to) = (fixed(from), fixed(to));
                let value = |moment: &Moment, fixed: &Option<FieldValue>| match moment {
                    Moment::Field(field) => self.value(chosen, field).map(Option::<&FieldValue>::cloned),
                    Moment::At(_) => Some(fixed.clone()),
                };
                let (from, to) = (value(from, &of_from), value(to, &of_to));
                let pair = both(from.as_ref().map(Option::as_ref), to.as_ref().map(Option::as_ref));
                judged(pair, &|from, to| compare(*op, number(to) - number(from), i128::from(*minutes)))
            }
            Condition::Filled { slot, is_filled } => {
                let place = self.slots.iter().position(|it| it.name == *slot).unwrap();
                Some(Some(chosen[place].is_some() == *is_filled))
            }
        }
    }

    /// Whether a set of constraints, a bit for each, can hold together.
    fn can_hold(&self, set: u32) -> bool {
        self.selections.iter().any(|(_, met)| set & !met == 0)
    }

    fn all(&self) -> u32 {
        (2 << self.constraints.len()) - 1
    }

    fn correct(&self) -> impl Iterator<Item = &Chosen> {
        let all = self.all();
        self.selections.iter().filter(move |(_, met)| met & all == all).map(|(chosen, _)| chosen)
    }

    /// What is wrong with an answer, by trying everything.
    fn judge(&self, objective: &Objective, answer: &ChoiceAnswer, is_small: bool) -> Result<(), String> {
        let best = self.correct().filter_map(|chosen| self.cost(chosen, objective)).min();
        match answer {
            ChoiceAnswer::Solved(solved) => {
                if !self.correct().any(|chosen| *chosen == solved.selection.chosen) {
                    return Err(format!("{:?} is not correct", solved.selection));
                }
                let cost = self.cost(&solved.selection.chosen, objective);
                if cost != best {
                    return Err(format!("it costs {cost:?}, and {best:?} is possible"));
                }
                let shown = match objective {
                    Objective::First => None,
                    Objective::Minimise(_) => cost,
                    Objective::Maximise(_) => cost.map(|cost| -cost),
                };
                if solved.cost.as_ref().map(Amount::parts) != shown {
                    return Err(format!("it says that it comes to {:?}, and it is {shown:?}", solved.cost));
                }
                Ok(())
            }
            ChoiceAnswer::Conflict(conflict) if best.is_some() => Err(format!("{conflict:?} can hold")),
            ChoiceAnswer::Conflict(conflict) => self.judge_conflict(conflict, is_small),
            ChoiceAnswer::Undecided(undecided) => Err(format!("{undecided:?} for so small a problem")),
        }
    }

    fn judge_conflict(&self, conflict: &Conflict, is_small: bool) -> Result<(), String> {
        let place = |id: &String| self.constraints.iter().position(|it| it.id == *id).unwrap();
        let mut set = conflict.constraints.iter().map(place).fold(0, |set, place| set | 1_u32 << place);
        set |= u32::from(conflict.has_objective) << self.constraints.len();
        if self.can_hold(set) {
            return Err(format!("{conflict:?} can hold"));
        }
        let members = (0..=self.constraints.len()).filter(|bit| set >> bit & 1 == 1);
        for bit in members {
            if !self.can_hold(set & !(1 << bit)) {
                return Err(format!("{conflict:?} does not need its member {bit}"));
            }
        }
        let fewest = (0..=self.all()).filter(|set| !self.can_hold(*set)).map(u32::count_ones).min();
        let expected = if is_small { ConflictSize::Smallest } else { ConflictSize::Irreducible };
        if conflict.size != expected {
            return Err(format!("{:?} instead of {expected:?}", conflict.size));
        }
        if is_small && fewest != Some(set.count_ones()) {
            return Err(format!("{conflict:?} has a smaller one with {fewest:?} members"));
        }
        Ok(())
    }
}

/// A number or a time as an integer, in the way of the strategy below: `EUR 3`, `10:40`.
fn number(value: &FieldValue) -> i128 {
    match value {
        FieldValue::Number(number) => i128::from(number.micros()),
        FieldValue::Text(text) => match text.strip_prefix("EUR ") {
            Some(number) => number.parse::<i128>().unwrap() * 1_000_000,
            None => text.split(':').fold(0, |minutes, part| minutes * 60 + part.parse::<i128>().unwrap()),
        },
        other => panic!("{other} is no number"),
    }
}

fn compare(op: Op, left: i128, right: i128) -> bool {
    match op.as_str() {
        "==" => left == right,
        "!=" => left != right,
        "<" => left < right,
        "<=" => left <= right,
        ">" => left > right,
        _ => left >= right,
    }
}

fn compare_values(op: Op, left: &FieldValue, right: &FieldValue) -> bool {
    match op {
        Op::Equal => left == right,
        Op::NotEqual => left != right,
        op => compare(op, number(left), number(right)),
    }
}

fn passes(value: &FieldValue, test: &ValueTest) -> bool {
    match test {
        ValueTest::Is(op, bound) => compare_values(*op, value, bound),
        ValueTest::Among { values, is_in } => values.contains(value) == *is_in,
        ValueTest::Has { text, is_in } => match value {
            FieldValue::List(texts) => texts.contains(text) == *is_in,
            other => panic!("{other} is no list"),
        },
    }
}

proptest! {
    #![proptest_config(cases(2500))]

    #[test]
    #[ignore = "slow"]
    fn answers_are_those_of_the_twin(instance in any_instance()) {
        let Instance { slots, constraints, objective, given } = instance;
        let problem = ChoiceProblem::new(slots.clone(), constraints.clone()).unwrap();
        let twin = Twin::new(&slots, &constraints, &objective);
        let answer = problem.solve(&objective).unwrap();
        prop_assert_eq!(twin.judge(&objective, &answer, true), Ok(()));
        // Without a single test for the smallest conflict.
        let limits = SearchLimits { conflict_tests: 0, ..SearchLimits::default() };
        let answer = problem.solve_within(&objective, &limits).unwrap();
        prop_assert_eq!(twin.judge(&objective, &answer, false), Ok(()));

        let twin = Twin::new(&slots, &constraints, &Objective::First);
        let changes = |chosen: &Chosen| given.iter().zip(chosen).filter(|(one, other)| one != other).count();
        let fewest = twin.correct().map(changes).min();
        match problem.nearest(&Selection { chosen: given.clone() }).unwrap() {
            ChoiceAnswer::Solved(solved) => {
                prop_assert!(twin.correct().any(|chosen| *chosen == solved.selection.chosen));
                prop_assert_eq!(Some(changes(&solved.selection.chosen)), fewest);
                prop_assert_eq!(solved.cost.unwrap().to_string(), fewest.unwrap().to_string());
            }
            ChoiceAnswer::Conflict(conflict) => {
                prop_assert_eq!(fewest, None);
                prop_assert_eq!(twin.judge_conflict(&conflict, true), Ok(()));
            }
            ChoiceAnswer::Undecided(undecided) => prop_assert!(false, "{:?}", undecided),
        }
    }

    #[test]
    #[ignore = "slow"]
    fn verdicts_are_those_of_the_twin(instance in any_instance()) {
        let Instance { slots, constraints, .. } = instance;
        let problem = ChoiceProblem::new(slots.clone(), constraints.clone()).unwrap();
        let twin = Twin::new(&slots, &constraints, &Objective::First);
        for (chosen, met) in twin.selections.iter().step_by(7) {
            let verdicts = problem.check(&Selection { chosen: chosen.clone() }).unwrap();
            for (bit, verdict) in verdicts.iter().enumerate() {
                prop_assert_eq!(verdict.is_met, met >> bit & 1 == 1, "{:?}: {:?}", chosen, verdict);
                prop_assert!(verdict.words.ends_with(&format!("(c{bit}: \"words {bit}\").")), "{:?}", verdict);
            }
        }
        // What a candidate meets on its own is what it meets in any selection.
        for (place, slot) in slots.iter().enumerate() {
            for (candidate, record) in slot.candidates.iter().enumerate() {
                for verdict in problem.check_local(&slot.name, record).unwrap() {
                    let bit = constraints.iter().position(|it| it.id == verdict.constraint).unwrap();
                    prop_assert!(constraints[bit].is_local());
                    for (_, met) in twin.selections.iter().filter(|(it, _)| it[place] == Some(candidate)) {
                        prop_assert_eq!(verdict.is_met, met >> bit & 1 == 1, "{:?}", verdict);
                    }
                }
            }
        }
    }
}
