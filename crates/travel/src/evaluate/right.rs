//! The checks as intended.

pub(crate) mod day;
mod hard;
pub(crate) mod itinerary;
mod trip;

use super::check::TripCheck;
use super::finding::{EntryPlace, TripFinding};
use super::judgement::{CheckResult, TripJudgement};
use super::loophole::Loophole;
use crate::plan::TripPlan;
use crate::query::Query;
use crate::tables::TripDatabase;
use itinerary::Itinerary;

/// Judges a plan by the intended checks.
pub(super) fn judge(database: &TripDatabase, query: &Query, plan: &TripPlan) -> TripJudgement {
    if !plan.is_delivered() {
        return TripJudgement::not_delivered();
    }
    let itinerary = match Itinerary::read(plan, query.days) {
        Ok(itinerary) => itinerary,
        Err(what) => {
            let mut judgement = TripJudgement::new([CheckResult::Failed; 8], [CheckResult::Failed; 5], None);
            judgement.hard_ungated = None;
            judgement.malformed = Some(what);
            return judgement;
        }
    };
    let mut findings = Findings::default();
    trip::check(database, query, &itinerary, &mut findings);
    day::check(database, query, &itinerary, &mut findings);
    let total_cost = hard::check(database, query, &itinerary, &mut findings);
    // A check passes exactly if nothing was found against it.
    let mark = |check| CheckResult::from(findings.all.iter().all(|finding| finding.check != check));
    let asked = |is_asked: bool, check| if is_asked { mark(check) } else { CheckResult::NotAsked };
    let local = &query.local_constraint;
    let hard = [
        asked(local.cuisine.is_some(), TripCheck::Cuisine),
        asked(local.house_rule.is_some(), TripCheck::RoomRule),
        asked(local.transportation.is_some(), TripCheck::TransportRule),
        asked(local.room_type.is_some(), TripCheck::RoomType),
        mark(TripCheck::Budget),
    ];
    let mut judgement = TripJudgement::new(TripCheck::COMMONSENSE.map(mark), hard, total_cost);
    judgement.findings = findings.all;
    judgement
}

/// The faults found, in the order in which they were found.
#[derive(Default)]
struct Findings {
    all: Vec<TripFinding>,
}

impl Findings {
    /// Adds a fault in an entry of a day; days count from 0.
    fn on(
        &mut self,
        check: TripCheck,
        (day, entry): (usize, impl Into<EntryPlace>),
        loophole: Option<Loophole>,
        what: String,
    ) {
        let entry = Some(entry.into());
        self.all.push(TripFinding { check, day: Some(day + 1), entry, loophole, what });
    }

    /// Adds a fault that concerns the whole trip.
    fn add(&mut self, check: TripCheck, loophole: Option<Loophole>, what: String) {
        self.all.push(TripFinding { check, day: None, entry: None, loophole, what });
    }
}
