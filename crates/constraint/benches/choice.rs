//! How long choosing takes, beside a plain search that tries candidates one slot after the other.
//!
//! `cargo bench -p planproof-constraint` times it with criterion. The plain search goes back as soon as a constraint
//! fails of which all slots are chosen, and when the cost alone is no better than the best so far.

use std::collections::BTreeMap;
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use planproof_constraint::choice::{
    ChoiceAnswer, ChoiceProblem, Condition, Constraint, Demand, FieldValue, Moment, Number, Objective, Op,
    Record, Selection, Slot, SlotField, Term, ValueTest,
};

const TOWNS: [&str; 5] = ["Rome", "Milan", "Bonn", "Paris", "Oslo"];

/// Numbers of Lehmer's generator, the same in each run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, below: u64) -> i64 {
        self.0 = self.0 * 48_271 % 0x7fff_ffff;
        (self.0 % below).cast_signed()
    }

    fn clock(&mut self, from: u64, hours: u64) -> FieldValue {
        let (hour, minute) = (from.cast_signed() + self.below(hours), self.below(60));
        FieldValue::Text(format!("{hour:02}:{minute:02}"))
    }

    fn town(&mut self) -> FieldValue {
        TOWNS[self.below(5) as usize].into()
    }
}

fn number(number: i64) -> FieldValue {
    FieldValue::Number(Number::whole(number).expect("it is small"))
}

fn constraint(id: &str, demand: Demand) -> Constraint {
    Constraint { id: id.to_owned(), text: id.to_owned(), demand }
}

fn slot(name: &str, count: usize, mut record: impl FnMut() -> Record) -> Slot {
    let candidates = (0..count).map(|_| record()).collect();
    Slot { name: name.to_owned(), candidates, is_optional: false }
}

/// A name of a problem, the problem, and what is to be as small as possible.
type Case = (&'static str, ChoiceProblem, Vec<Term>);

/// 50 flights, 50 hotels and 200 meals, with a budget and what connects them.
fn trip(name: &'static str, seed: u64, budget: i64) -> Case {
    let mut draw = Draw(seed);
    let flight = slot("flight", 50, || {
        let price = number(80 + draw.below(400));
        Record::from_iter([("price", price), ("to", draw.town()), ("arrival", draw.clock(6, 14))])
    });
    let hotel = slot("hotel", 50, || {
        let (price, stars) = (number(60 + draw.below(300)), number(1 + draw.below(5)));
        Record::from_iter([
            ("price", price),
            ("stars", stars),
            ("town", draw.town()),
            ("from", draw.clock(10, 10)),
        ])
    });
    let meal = slot("meal", 200, || {
        let price = number(10 + draw.below(90));
        Record::from_iter([("price", price), ("town", draw.town()), ("at", draw.clock(12, 11))])
    });
    let prices = ["flight", "hotel", "meal"].map(|slot| Term::once(SlotField::new(slot, "price"))).to_vec();
    let after = |to: &str, field: &str, minutes| {
        let (from, to) = (SlotField::new("flight", "arrival"), SlotField::new(to, field));
        let (from, to) = (Moment::Field(from), Moment::Field(to));
        Demand::Holds(Condition::Time { from, to, op: Op::AtLeast, minutes })
    };
    let towns = [("flight", "to"), ("hotel", "town"), ("meal", "town")]
        .map(|(slot, field)| SlotField::new(slot, field));
    let stars = Condition::Passes {
        field: SlotField::new("hotel", "stars"),
        test: ValueTest::Is(Op::AtLeast, number(3)),
    };
    let constraints = vec![
        constraint("budget", Demand::Sum { terms: prices.clone(), op: Op::AtMost, bound: number(budget) }),
        constraint("town", Demand::Same(towns.to_vec())),
        constraint("stars", Demand::Holds(stars)),
        constraint("meal", after("meal", "at", 45)),
        constraint("desk", after("hotel", "from", 30)),
    ];
    (name, ChoiceProblem::new(vec![flight, hotel, meal], constraints).expect("it is in order"), prices)
}

/// What the constraints of a hard problem are.
#[derive(Clone, Copy)]
enum Kind {
    /// A sum of ratings, where dear candidates have the high ratings.
    Rating,
    /// Two sums that have to be met exactly, and names that are all different.
    Exact,
    /// All different, two bounds, a count, and towns that change.
    Many,
}

fn hard(name: &'static str, kind: Kind, slots: usize, candidates: usize) -> Case {
    let mut draw = Draw(17);
    let record = |draw: &mut Draw| {
        let rating = draw.below(100);
        let price = match kind {
            Kind::Rating => 20 + rating + draw.below(10),
            Kind::Exact | Kind::Many => 20 + draw.below(200),
        };
        let name = FieldValue::Text(format!("n{}", draw.below(slots as u64 + 3)));
        let (weight, town) = (number(draw.below(100)), draw.town());
        Record::from_iter([
            ("price", number(price)),
            ("rating", number(rating)),
            ("weight", weight),
            ("name", name),
            ("town", town),
        ])
    };
    let names: Vec<String> = (0..slots).map(|place| format!("s{place}")).collect();
    let of_all: Vec<Slot> = names.iter().map(|name| slot(name, candidates, || record(&mut draw))).collect();
    let fields =
        |field: &str| names.iter().map(|slot| SlotField::new(slot.as_str(), field)).collect::<Vec<_>>();
    let terms = |field: &str| fields(field).into_iter().map(Term::once).collect::<Vec<_>>();
    let count = slots.cast_signed() as i64;
    let sum = |field: &str, op, each: i64| {
        constraint(field, Demand::Sum { terms: terms(field), op, bound: number(each * count) })
    };
    let different = constraint("different", Demand::Different(fields("name")));
    let constraints = match kind {
        Kind::Rating => vec![sum("rating", Op::AtLeast, 60)],
        Kind::Exact => vec![sum("price", Op::Equal, 113), sum("weight", Op::Equal, 41), different],
        Kind::Many => {
            let test = ValueTest::Is(Op::Equal, "Rome".into());
            let some = Demand::Count { fields: fields("town"), test, op: Op::Equal, count: 3 };
            let mut all = vec![
                sum("rating", Op::AtLeast, 60),
                sum("weight", Op::AtMost, 40),
                constraint("some", some),
                different,
            ];
            for pair in fields("town").windows(3) {
                let (left, right) = (pair[0].clone(), pair[2].clone());
                let change = Condition::Compare { left, op: Op::NotEqual, right };
                all.push(constraint(&format!("change {}", all.len()), Demand::Holds(change)));
            }
            all
        }
    };
    (name, ChoiceProblem::new(of_all, constraints).expect("it is in order"), terms("price"))
}

/// How many candidates the plain search tries at most.
const TRIES_MAX: u64 = 20_000_000;

/// The plain search: its best cost, or `None` where it gives up.
struct Plain<'p> {
    problem: &'p ChoiceProblem,
    /// For each slot, the constraints whose last slot it is, as problems of their own.
    checks: Vec<Vec<usize>>,
    prices: Vec<Vec<i64>>,
    tries: u64,
    best: Option<i64>,
}

impl<'p> Plain<'p> {
    fn new(problem: &'p ChoiceProblem, terms: &[Term]) -> Self {
        let places: BTreeMap<&str, usize> =
            problem.slots().iter().enumerate().map(|(place, slot)| (slot.name.as_str(), place)).collect();
        let mut checks = vec![Vec::new(); places.len()];
        for (constraint, it) in problem.constraints().iter().enumerate() {
            let last = it.demand.slots().into_iter().map(|slot| places[slot]).max().unwrap_or(0);
            checks[last].push(constraint);
        }
        let price = |record: &Record, term: &Term| match record.get(&term.field.field) {
            Some(FieldValue::Number(number)) => number.micros() / 1_000_000,
            _ => 0,
        };
        let of_slot =
            |(slot, term): (&Slot, &Term)| slot.candidates.iter().map(|it| price(it, term)).collect();
        let prices = problem.slots().iter().zip(terms).map(of_slot).collect();
        Self { problem, checks, prices, tries: 0, best: None }
    }

    /// Tries all candidates of a slot; `None` when it has tried too many.
    fn extend(&mut self, selection: &mut Selection, slot: usize, cost: i64) -> Option<()> {
        if slot == self.prices.len() {
            self.best = Some(cost);
            return Some(());
        }
        for candidate in 0..self.prices[slot].len() {
            self.tries += 1;
            if self.tries > TRIES_MAX {
                return None;
            }
            let cost = cost + self.prices[slot][candidate];
            selection.chosen[slot] = Some(candidate);
            let holds = |constraint: &usize| self.problem.is_met(*constraint, selection) == Some(true);
            if self.best.is_none_or(|best| cost < best) && self.checks[slot].iter().all(holds) {
                self.extend(selection, slot + 1, cost)?;
            }
        }
        selection.chosen[slot] = None;
        Some(())
    }

    fn search(mut self) -> (Option<i64>, bool) {
        let mut selection = Selection { chosen: vec![None; self.prices.len()] };
        let has_ended = self.extend(&mut selection, 0, 0).is_some();
        (self.best, has_ended)
    }
}

fn ours(problem: &ChoiceProblem, objective: &Objective) -> Option<i64> {
    match problem.solve(objective).expect("the objective is in order") {
        ChoiceAnswer::Solved(solved) => solved.cost.and_then(|cost| cost.to_string().parse().ok()),
        ChoiceAnswer::Conflict(_) => None,
        ChoiceAnswer::Undecided(undecided) => panic!("{undecided:?}"),
    }
}

fn choosing(criterion: &mut Criterion) {
    let cases = [
        trip("trip 50 x 50 x 200", 1, 450),
        trip("trip that cannot be paid", 1, 150),
        hard("10 x 30 rating", Kind::Rating, 10, 30),
        hard("10 x 30 exact", Kind::Exact, 10, 30),
        hard("10 x 30 many", Kind::Many, 10, 30),
        hard("20 x 200 rating", Kind::Rating, 20, 200),
    ];
    let mut group = criterion.benchmark_group("choice");
    group.sample_size(10);
    for (name, problem, terms) in &cases {
        let objective = Objective::Minimise(terms.clone());
        let (best, has_ended) = Plain::new(problem, terms).search();
        let found = ours(problem, &objective);
        assert!(!has_ended || found == best, "{name}: {found:?} and {best:?}");
        let plain = if has_ended { "plain" } else { "plain, gives up" };
        println!("{name}: ours {found:?}; {plain} {best:?}");
        group.bench_with_input(BenchmarkId::new("ours", name), problem, |bencher, problem| {
            bencher.iter(|| black_box(ours(problem, &objective)));
        });
        group.bench_with_input(BenchmarkId::new(plain, name), problem, |bencher, problem| {
            bencher.iter(|| black_box(Plain::new(problem, terms).search()));
        });
    }
    group.finish();
}

criterion_group!(benches, choosing);
criterion_main!(benches);
