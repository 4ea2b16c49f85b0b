//! Random problems of choosing, small enough for the twin.

use planproof_constraint::choice::{
    Condition, Constraint, Demand, FieldValue, Moment, Number, Objective, Op, Record, Slot, SlotField, Term,
    ValueTest,
};
use proptest::prelude::*;

use super::{Chosen, Twin};

/// Fields by kind, two of each: numbers, numbers with a unit, texts, times, lists.
const FIELDS: [[&str; 2]; 5] =
    [["price", "stars"], ["fee", "tax"], ["city", "town"], ["start", "end"], ["tags", "kinds"]];
const NUMBERS: usize = 0;
const UNITS: usize = 1;
const TEXTS: usize = 2;
const TIMES: usize = 3;
const LISTS: usize = 4;

/// A value of a kind, from a small number.
fn value(kind: usize, number: u8) -> FieldValue {
    let name = |number: u8| ["a", "b", "c"][usize::from(number % 3)].to_owned();
    match kind {
        // Also decimals, and numbers below zero.
        NUMBERS => FieldValue::Number(Number::read(&format!("{}.5", i32::from(number) - 2)).unwrap()),
        UNITS => FieldValue::Text(format!("EUR {number}")),
        TEXTS => FieldValue::Text(name(number)),
        TIMES => FieldValue::Text(format!("{:02}:{:02}", 9 + number / 4, number % 4 * 15)),
        _ => FieldValue::List((0..number % 4).map(name).collect()),
    }
}

/// Numbers from which anything is made: smaller ones make simpler things.
type Raw = Vec<u8>;

/// Takes one after the other; zeros when there are none left.
struct Taken<'r>(std::slice::Iter<'r, u8>);

impl Taken<'_> {
    fn next(&mut self, below: usize) -> usize {
        usize::from(*self.0.next().unwrap_or(&0)) % below
    }

    fn small(&mut self) -> u8 {
        self.next(8) as u8
    }

    fn field(&mut self, slots: usize, kind: usize) -> SlotField {
        SlotField::new(format!("s{}", self.next(slots)), FIELDS[kind][self.next(2)])
    }

    fn op(&mut self) -> Op {
        // Mostly such as some values meet.
        let ops =
            [Op::AtMost, Op::AtLeast, Op::AtMost, Op::AtLeast, Op::NotEqual, Op::Less, Op::More, Op::Equal];
        ops[self.next(8)]
    }

    fn fields(&mut self, slots: usize, kind: usize) -> Vec<SlotField> {
        let count = 2 + self.next(3);
        (0..count).map(|_| self.field(slots, kind)).collect()
    }

    fn terms(&mut self, slots: usize, kind: usize) -> Vec<Term> {
        let fields = self.fields(slots, kind);
        let factors = ["1", "2", "-1", "0.5"];
        fields
            .into_iter()
            .map(|field| Term { field, factor: Number::read(factors[self.next(4)]).unwrap() })
            .collect()
    }

    /// A test, and the kind of values that it is for.
    fn test(&mut self) -> (usize, ValueTest) {
        let is_in = self.next(2) == 0;
        match self.next(4) {
            0 => (LISTS, ValueTest::Has { text: ["a", "b", "c"][self.next(3)].to_owned(), is_in }),
            1 => {
                let kind = [TEXTS, NUMBERS][self.next(2)];
                let values = (0..1 + self.next(2)).map(|_| value(kind, self.small())).collect();
                (kind, ValueTest::Among { values, is_in })
            }
            2 => (TEXTS, ValueTest::Is([Op::Equal, Op::NotEqual][self.next(2)], value(TEXTS, self.small()))),
            _ => {
                let kind = [NUMBERS, UNITS, TIMES][self.next(3)];
                (kind, ValueTest::Is(self.op(), value(kind, self.small())))
            }
        }
    }

    fn condition(&mut self, slots: usize) -> Condition {
        match self.next(7) {
            0 | 6 => {
                let (kind, test) = self.test();
                Condition::Passes { field: self.field(slots, kind), test }
            }
            1 => {
                let kind = [TEXTS, NUMBERS, TIMES, UNITS][self.next(4)];
                let op = if kind == TEXTS { [Op::Equal, Op::NotEqual][self.next(2)] } else { self.op() };
                Condition::Compare { left: self.field(slots, kind), op, right: self.field(slots, kind) }
            }
            2 => Condition::Listed {
                field: self.field(slots, TEXTS),
                list: self.field(slots, LISTS),
                is_in: self.next(2) == 0,
            },
            3 => Condition::Filled { slot: format!("s{}", self.next(slots)), is_filled: self.next(2) == 0 },
            _ => {
                let field = Moment::Field(self.field(slots, TIMES));
                let (op, minutes) = (self.op(), 15 * (self.next(8) as i32 - 2));
                let other = match self.next(3) {
                    0 => Moment::At("09:30".to_owned()),
                    _ => Moment::Field(self.field(slots, TIMES)),
                };
                if self.next(2) == 0 {
                    Condition::Time { from: field, to: other, op, minutes }
                } else {
                    Condition::Time { from: other, to: field, op, minutes }
                }
            }
        }
    }

    fn demand(&mut self, slots: usize) -> Demand {
        match self.next(10) {
            0..=2 => Demand::Holds(self.condition(slots)),
            3 | 4 => {
                let kind = [NUMBERS, UNITS][self.next(2)];
                Demand::Sum {
                    terms: self.terms(slots, kind),
                    op: self.op(),
                    bound: value(kind, self.small()),
                }
            }
            5 => {
                let (kind, test) = self.test();
                let fields = self.fields(slots, kind);
                Demand::Count { fields, test, op: self.op(), count: self.next(4) as u32 }
            }
            6 => {
                let kind = [TEXTS, NUMBERS, TIMES, UNITS][self.next(4)];
                let fields = self.fields(slots, kind);
                if self.next(3) == 0 { Demand::Same(fields) } else { Demand::Different(fields) }
            }
            _ => Demand::Implies { premise: self.condition(slots), conclusion: self.condition(slots) },
        }
    }

    fn objective(&mut self, slots: usize) -> Objective {
        let kind = [NUMBERS, UNITS][self.next(2)];
        match self.next(3) {
            0 => Objective::First,
            1 => Objective::Minimise(self.terms(slots, kind)),
            _ => Objective::Maximise(self.terms(slots, kind)),
        }
    }
}

/// A slot in the same way: whether it is optional, and for each candidate and field whether it is missing (0), and a
/// value.
type RawSlot = (bool, Vec<Vec<(u8, u8)>>);

fn slots_of(raw: &[RawSlot]) -> Vec<Slot> {
    let record = |place: usize, values: &Vec<(u8, u8)>| -> Record {
        let fields = FIELDS.iter().enumerate().flat_map(|(kind, names)| names.map(|name| (kind, name)));
        fields
            .zip(values)
            // The first candidate has every field, so that all are known.
            .filter(|(_, (missing, _))| place == 0 || *missing > 0)
            .map(|((kind, name), (_, number))| (name, value(kind, *number)))
            .collect()
    };
    raw.iter()
        .enumerate()
        .map(|(place, (is_optional, records))| Slot {
            name: format!("s{place}"),
            candidates: records.iter().enumerate().map(|(place, values)| record(place, values)).collect(),
            is_optional: *is_optional,
        })
        .collect()
}

/// Everything that a test needs, and a selection to start from.
#[derive(Debug)]
pub(super) struct Instance {
    pub(super) slots: Vec<Slot>,
    pub(super) constraints: Vec<Constraint>,
    pub(super) objective: Objective,
    pub(super) given: Chosen,
}

pub(super) fn any_instance() -> impl Strategy<Value = Instance> {
    let record = prop::collection::vec((0..25_u8, 0..8_u8), 10);
    let count = prop_oneof![1 => Just(0_usize), 12 => 1..=2_usize, 30 => 3..=5_usize];
    let candidates = count.prop_flat_map(move |count| prop::collection::vec(record.clone(), count));
    let slot = (prop::bool::weighted(0.2), candidates);
    let slots = prop::collection::vec(slot, 1..=4);
    let constraints = prop::collection::vec(prop::collection::vec(any::<u8>(), 24), 0..=9);
    let raw = prop::collection::vec(any::<u8>(), 24);
    (slots, constraints, raw).prop_map(|(slots, constraints, raw): (_, Vec<Raw>, Raw)| {
        let slots = slots_of(&slots);
        let constraint = |(place, raw): (usize, &Raw)| Constraint {
            id: format!("c{place}"),
            text: format!("words {place}"),
            demand: Taken(raw.iter()).demand(slots.len()),
        };
        let mut constraints: Vec<Constraint> = constraints.iter().enumerate().map(constraint).collect();
        // Larger conflicts take constraints of which each can hold alone.
        if raw.first().is_some_and(|it| it % 8 > 0) {
            let twin = Twin::new(&slots, &constraints, &Objective::First);
            let can_hold: Vec<bool> = (0..constraints.len()).map(|bit| twin.can_hold(1 << bit)).collect();
            let mut can_hold = can_hold.into_iter();
            constraints.retain(|_| can_hold.next().unwrap());
            for (place, constraint) in constraints.iter_mut().enumerate() {
                (constraint.id, constraint.text) = (format!("c{place}"), format!("words {place}"));
            }
        }
        let mut taken = Taken(raw.iter());
        let objective = taken.objective(slots.len());
        let choice = |slot: &Slot| taken.next(slot.candidates.len() + 1).checked_sub(1);
        let given = slots.iter().map(choice).collect();
        Instance { slots, constraints, objective, given }
    })
}
