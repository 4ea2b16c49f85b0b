//! A plan as a map and a timeline, with each fault shown where it occurs: data that every report draws.
//!
//! A city is placed at the mean position of its attractions, because the tables hold no other positions. A plan is
//! interpreted as the right evaluator does. Costs come from the tables, cover all travellers, and are absent if the
//! tables do not have an entry.

mod map;
mod timeline;

use planproof_suite::{Content, Fact};

use crate::evaluate::TripJudgement;
use crate::evaluate::right::itinerary::Itinerary;
use crate::plan::TripPlan;
use crate::query::Query;
use crate::tables::TripDatabase;

/// The map and the timeline of a plan, as facts of an explanation. Empty if there is no plan or it is malformed.
/// `judgement` must be that of this plan; its findings, which only the right mode provides, are shown at the
/// entries that they concern. Takes as long as judging.
pub fn facts(
    database: &TripDatabase,
    query: &Query,
    plan: &TripPlan,
    judgement: &TripJudgement,
) -> Vec<Fact> {
    if !plan.is_delivered() {
        return Vec::new();
    }
    let Ok(itinerary) = Itinerary::read(plan, query.days) else { return Vec::new() };
    let mut facts = Vec::new();
    let map = map::of(database, query, &itinerary, judgement);
    if !map.ways.is_empty() {
        facts.push(Fact { label: "map", content: Content::Map(map) });
    }
    let timeline = timeline::of(database, query, &itinerary, judgement);
    facts.push(Fact { label: "days", content: Content::Timeline(timeline) });
    facts
}

/// US dollars, with cents only if they are not zero: `$1,234` or `$12.50`.
fn dollars(amount: f64) -> String {
    // Rounded before it is split, so that 1.999 becomes $2.
    let cents = (amount * 100.0).round();
    let whole = (cents / 100.0).trunc().abs().to_string();
    let mut text = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    let rest = cents.abs() % 100.0;
    let sign = if cents < 0.0 { "-" } else { "" };
    if rest == 0.0 { format!("{sign}${text}") } else { format!("{sign}${text}.{rest:02}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_as_people_do() {
        let texts = [0.0, 7.0, 1234.0, 1_234_567.5, 12.05, -3.0, 999.999].map(dollars);
        assert_eq!(texts, ["$0", "$7", "$1,234", "$1,234,567.50", "$12.05", "-$3", "$1,000"]);
    }
}
