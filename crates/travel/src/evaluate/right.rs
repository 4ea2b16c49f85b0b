//! The checks as intended.

pub(crate) mod day;
mod hard;
pub(crate) mod itinerary;
mod trip;

use super::check::Check;
use super::finding::{EntryPlace, Finding};
use super::judgement::{Judgement, Mark};
use super::loophole::Loophole;
use crate::plan::Plan;
use crate::query::Query;
use crate::tables::Database;
use itinerary::Itinerary;

/// Judges a plan by the intended checks.
pub(super) fn judge(database: &Database, query: &Query, plan: &Plan) -> Judgement {
    if !plan.is_delivered() {
        return Judgement::not_delivered();
    }
    let itinerary = match Itinerary::read(plan, query.days) {
        Ok(itinerary) => itinerary,
        Err(what) => {
            let mut judgement = Judgement::new([Mark::Failed; 8], [Mark::Failed; 5], None);
            judgement.hard_ungated = None;
            judgement.malformed = Some(what);
            return judgement;
        }
    };
    let mut findings = Findings::default();
    trip::check(database, query, &itinerary, &mut findings);
    day::check(database, query, &itinerary, &mut findings);
    let total_cost = hard::check(database, query, &itinerary, &mut findings);
    let mark = |check| Mark::from(findings.all.iter().all(|finding| finding.check != check));
    let asked = |is_asked: bool, check| if is_asked { mark(check) } else { Mark::NotAsked };
    let local = &query.local_constraint;
    let hard = [
        asked(local.cuisine.is_some(), Check::Cuisine),
        asked(local.house_rule.is_some(), Check::RoomRule),
        asked(local.transportation.is_some(), Check::TransportRule),
        asked(local.room_type.is_some(), Check::RoomType),
        mark(Check::Budget),
    ];
    let mut judgement = Judgement::new(Check::COMMONSENSE.map(mark), hard, total_cost);
    judgement.findings = findings.all;
    judgement
}

/// The faults found, in the order in which they were found.
#[derive(Default)]
struct Findings {
    all: Vec<Finding>,
}

impl Findings {
    /// Adds a fault in an entry of a day; days count from 0.
    fn on(
        &mut self,
        check: Check,
        (day, entry): (usize, impl Into<EntryPlace>),
        loophole: Option<Loophole>,
        what: String,
    ) {
        let entry = Some(entry.into());
        self.all.push(Finding { check, day: Some(day + 1), entry, loophole, what });
    }

    /// Adds a fault that concerns the whole trip.
    fn add(&mut self, check: Check, loophole: Option<Loophole>, what: String) {
        self.all.push(Finding { check, day: None, entry: None, loophole, what });
    }
}
