//! The activities of each day, in order, with their costs.

use planproof_suite::{Period, PeriodEntry};

use super::dollars;
use crate::evaluate::right::day::{ends, flight};
use crate::evaluate::right::itinerary::{Day, Itinerary, Means, Place};
use crate::evaluate::{CheckResult, EntryPlace, TripCheck, TripFinding, TripJudgement};
use crate::plan::{ACCOMMODATION, ATTRACTION, CITY, KEYS, MEALS, TRANSPORTATION};
use crate::query::Query;
use crate::tables::{RoadMode, TripDatabase};

/// One period per day, and one for the whole trip.
pub(super) fn of(
    database: &TripDatabase,
    query: &Query,
    itinerary: &Itinerary<'_>,
    judgement: &TripJudgement,
) -> Vec<Period> {
    let days = itinerary.days.iter().enumerate();
    let mut periods: Vec<Period> =
        days.map(|(number, day)| Reader { database, query, judgement, number, day }.period()).collect();
    periods.push(whole(query, judgement));
    periods
}

/// A word for the means of travel.
pub(super) fn means_word(means: Means<'_>) -> &'static str {
    match means {
        Means::Flight(_) => "flight",
        Means::Road(RoadMode::SelfDriving) => "own car",
        Means::Road(RoadMode::Taxi) => "taxi",
        Means::Other => "other",
    }
}

/// The cost of a day's journey for all travellers; days count from 0.
pub(super) fn travel_cost(
    database: &TripDatabase,
    query: &Query,
    number: usize,
    day: &Day<'_>,
) -> Option<f64> {
    let travel = day.travel.as_ref()?;
    let (from, to) = ends(day, travel)?;
    match travel.means {
        Means::Other => None,
        Means::Road(mode) => {
            let cars = mode.cars(query.people_number);
            Some(database.distances.cost(from, to, mode)? as f64 * f64::from(cars))
        }
        Means::Flight(code) => {
            let (flight, _) = flight(database, code, (from, to), query.date.get(number))?;
            Some(flight.price() * f64::from(query.people_number))
        }
    }
}

/// The period for the whole trip.
fn whole(query: &Query, judgement: &TripJudgement) -> Period {
    let note = match judgement.total_cost {
        Some(total) => format!("{} of {}", dollars(total), dollars(query.budget)),
        None => format!("budget {}", dollars(query.budget)),
    };
    let mut wrong: Vec<String> =
        judgement.findings.iter().filter(|it| it.day.is_none()).map(remark).collect();
    // The published evaluator says which checks fail, but not why.
    let is_found = |check: TripCheck| judgement.findings.iter().any(|finding| finding.check == check);
    let failed = TripCheck::all().filter(|&check| !is_found(check)).filter_map(|check| {
        match judgement.mark(check)? {
            CheckResult::Failed => Some(format!("{} does not hold", check.label())),
            CheckResult::Raised(raised) => {
                Some(format!("{}: the evaluator ends with {raised}", check.label()))
            }
            CheckResult::Passed | CheckResult::NotAsked => None,
        }
    });
    wrong.extend(failed);
    Period { title: "the whole trip".to_owned(), note, wrong, entries: Vec::new() }
}

fn remark(finding: &TripFinding) -> String {
    format!("{}: {}", finding.check.label(), finding.what)
}

/// Adds an entry: its place in the plan, its kind, its time with its text if it has one, and its cost.
type Add<'a> = dyn FnMut(EntryPlace, &'static str, (String, Option<&str>), Option<f64>) + 'a;

/// A day; days count from 0.
struct Reader<'r> {
    database: &'r TripDatabase,
    query: &'r Query,
    judgement: &'r TripJudgement,
    number: usize,
    day: &'r Day<'r>,
}

impl Reader<'_> {
    fn period(&self) -> Period {
        let place = match self.day.place {
            Place::Nowhere => String::new(),
            Place::Leg(from, to) => format!(", {from} to {to}"),
            Place::City(city) => format!(", {city}"),
        };
        let date = self.query.date.get(self.number).map_or_else(String::new, |date| format!(", {date}"));
        let (mut entries, mut total) = (Vec::new(), 0.0);
        for (entry, cost) in self.entries() {
            // An unknown cost is left out of the sum; its entry shows none.
            total += cost.unwrap_or_default();
            entries.push(PeriodEntry { note: cost.map_or_else(String::new, dollars), ..entry });
        }
        Period {
            title: format!("day {}{date}{place}", self.number + 1),
            note: dollars(total),
            wrong: self.wrong(CITY.into()),
            entries,
        }
    }

    /// The findings about an entry.
    fn wrong(&self, entry: EntryPlace) -> Vec<String> {
        let is_of = |it: &&TripFinding| it.day == Some(self.number + 1) && it.entry == Some(entry);
        self.judgement.findings.iter().filter(is_of).map(remark).collect()
    }

    /// The entries of the day in order, with their costs. A missing entry is included if its absence is a fault.
    fn entries(&self) -> Vec<(PeriodEntry, Option<f64>)> {
        let mut all = Vec::new();
        let mut add = |at: EntryPlace, kind, (when, text): (String, Option<&str>), cost| {
            let wrong = self.wrong(at);
            if text.is_some() || !wrong.is_empty() {
                let text = text.unwrap_or("–").trim().to_owned();
                all.push((PeriodEntry { kind, when, text, note: String::new(), wrong }, cost));
            }
        };
        let Self { database, query, day, .. } = self;
        let people = f64::from(query.people_number);
        let travel = day.travel.as_ref();
        let kind = travel.map_or("travel", |travel| means_word(travel.means));
        let cost = travel_cost(database, query, self.number, day);
        // The title of the day says from where to where, and `when` how long it takes.
        let text = travel.map(|it| match it.means {
            Means::Flight(code) => code,
            Means::Road(_) => "",
            Means::Other => it.text,
        });
        add(TRANSPORTATION.into(), kind, (self.when(), text), cost);
        for (at, key) in MEALS.into_iter().enumerate() {
            // Attractions come between breakfast and lunch, as in the published plans.
            if at == 1 {
                self.sights(&mut add);
            }
            let meal = day.meals.get(at).and_then(Option::as_ref);
            let restaurant = meal.and_then(|it| database.restaurants.named(&it.name, it.city));
            let cost = restaurant.map(|it| f64::from(it.average_cost) * people);
            add(key.into(), key, (String::new(), meal.map(|it| it.text)), cost);
        }
        let stay = day.stay.as_ref();
        let found = stay.and_then(|it| database.stays.named(&it.name, it.city));
        let cost = found.map(|it| it.night(query.people_number));
        add(ACCOMMODATION.into(), "night", (String::new(), stay.map(|it| it.text)), cost);
        all
    }

    fn sights(&self, add: &mut Add<'_>) {
        for (at, sight) in self.day.sights() {
            add(at, "sight", (String::new(), Some(sight.text)), None);
        }
        if self.day.attractions.is_empty() {
            add(ATTRACTION.into(), "sight", (String::new(), None), None);
        }
    }

    /// The time of the journey: from when to when for a flight, the duration by road.
    fn when(&self) -> String {
        let when = || {
            let travel = self.day.travel.as_ref()?;
            let (from, to) = ends(self.day, travel)?;
            match travel.means {
                Means::Other => None,
                Means::Road(_) => Some(self.database.distances.get(from, to)?.duration.clone()),
                Means::Flight(code) => {
                    let (flight, _) =
                        flight(self.database, code, (from, to), self.query.date.get(self.number))?;
                    Some(format!("{} to {}", flight.departs(), flight.arrives()))
                }
            }
        };
        when().unwrap_or_default()
    }
}

// The kinds of entries correspond to the keys of a plan.
const _: () = assert!(KEYS.len() == MEALS.len() + 3);
