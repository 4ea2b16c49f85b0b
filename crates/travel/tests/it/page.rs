//! A plan as a map and a timeline.

use planproof_suite::{Content, Fact, Map, Period};
use planproof_travel::evaluate::{TripCheck, judge};
use planproof_travel::plan::TripPlan;
use planproof_travel::query::Query;
use planproof_travel::{TripCompat, own, page};
use serde_json::{Value, json};

/// The query of this place and its plan, with some entries changed: the day from 0, the key, and what stands there.
fn changed(place: usize, changes: &[(usize, &str, Value)]) -> (Query, TripPlan) {
    let query = own::queries().expect("queries").swap_remove(place);
    let mut plan = own::plans().expect("plans").swap_remove(place).plan;
    for (day, key, value) in changes {
        plan.0[day][key] = value.clone();
    }
    (query, plan)
}

fn facts((query, plan): &(Query, TripPlan), compat: TripCompat) -> Vec<Fact> {
    let database = own::database().expect("tables");
    page::facts(&database, query, plan, &judge(&database, query, plan, compat))
}

fn map(facts: &[Fact]) -> &Map {
    let map = facts.iter().find_map(|fact| match &fact.content {
        Content::Map(map) => Some(map),
        _ => None,
    });
    map.expect("a map")
}

fn timeline(facts: &[Fact]) -> &[Period] {
    let timeline = facts.iter().find_map(|fact| match &fact.content {
        Content::Timeline(timeline) => Some(timeline),
        _ => None,
    });
    timeline.expect("a timeline")
}

fn lines(facts: &[Fact]) -> String {
    let periods = timeline(facts).iter().map(Period::to_text);
    [map(facts).to_text()].into_iter().chain(periods).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_good_plan_has_all_that_it_costs() {
    let case = changed(1, &[]);
    let facts = facts(&case, TripCompat::Right);
    insta::assert_snapshot!(lines(&facts), @r"
    Tarnwick to Port Lissa, flight $76; Port Lissa to Tarnwick, flight $178
    day 1, 2022-03-10, Tarnwick to Port Lissa $160: flight 17:35 to 18:47 F1000462 $76; dinner Quayside Curry, Port Lissa $15; night Captain's Room, Port Lissa $69
    day 2, 2022-03-11, Port Lissa $158: breakfast Drift Bakery, Port Lissa $22; sight Lissa Aquarium, Port Lissa; sight Fort Lissa, Port Lissa; lunch Net Loft, Port Lissa $31; dinner Vespa Forno, Port Lissa $36; night Captain's Room, Port Lissa $69
    day 3, 2022-03-12, Port Lissa to Tarnwick $256: flight 19:09 to 20:22 F1001042 $178; breakfast The Lissa Pearl, Port Lissa $37; lunch Lantern Burgers, Port Lissa $41
    the whole trip $574 of $700
    ");
    // What the days cost comes to what the evaluator says.
    let amount = |text: &str| text.replace(['$', ','], "").parse::<f64>().expect("dollars");
    let (whole, days) = timeline(&facts).split_last().expect("periods");
    let total: f64 = days.iter().map(|day| amount(&day.note)).sum();
    assert_eq!(amount(whole.note.split(' ').next().expect("a total")), total);
    assert!(timeline(&facts).iter().all(|day| day.wrong.is_empty()));
}

#[test]
fn what_is_wrong_stands_where_it_is() {
    let case = changed(
        1,
        &[
            (0, "transportation", json!("Train, from Tarnwick to Port Lissa")),
            (1, "lunch", json!("Nowhere Grill, Port Lissa")),
            (1, "attraction", json!("Fort Lissa, Port Lissa;Moon Base, Port Lissa;")),
            (1, "breakfast", json!("-")),
            (1, "accommodation", json!("Captain's Room, Quarry Hill")),
            (2, "current_city", json!("from Port Lissa to Oakhaven")),
        ],
    );
    insta::assert_snapshot!(lines(&facts(&case, TripCompat::Right)), @r"
    Tarnwick to Port Lissa, other ? (wrong); Port Lissa to Tarnwick, flight $178 (wrong)
    day 1, 2022-03-10, Tarnwick to Port Lissa $84: other Train, from Tarnwick to Port Lissa (wrong); dinner Quayside Curry, Port Lissa $15; night Captain's Room, Port Lissa $69 (wrong)
    day 2, 2022-03-11, Port Lissa $36: breakfast – (wrong); sight Fort Lissa, Port Lissa; sight Moon Base, Port Lissa (wrong); lunch Nowhere Grill, Port Lissa (wrong); dinner Vespa Forno, Port Lissa $36; night Captain's Room, Quarry Hill (wrong)
    day 3, 2022-03-12, Port Lissa to Oakhaven $256 (wrong: Reasonable City Route: it leads to Oakhaven instead of Port Lissa): flight 19:09 to 20:22 F1001042 $178 (wrong); breakfast The Lissa Pearl, Port Lissa $37; lunch Lantern Burgers, Port Lissa $41
    the whole trip budget $700 (wrong: Reasonable City Route: the trip ends in Oakhaven and not in Tarnwick; Complete Information: the trip visits 2 cities instead of 1; Budget: the tables do not say what all of it costs)
    ");
}

/// The published evaluator gives no reasons, so the checks that fail stand below the days.
#[test]
fn the_published_mode_names_its_checks() {
    let case = changed(1, &[(1, "lunch", json!("Nowhere Grill, Port Lissa"))]);
    let facts = facts(&case, TripCompat::Original);
    let (whole, days) = timeline(&facts).split_last().expect("periods");
    assert_eq!(whole.wrong, [format!("{} does not hold", TripCheck::Sandbox.label())]);
    assert!(days.iter().all(|day| day.entries.iter().all(|entry| entry.wrong.is_empty())));
}

/// Every finding about an entry stands at an entry, whatever is wrong with a plan; those about days and trips at
/// theirs.
#[test]
fn no_finding_is_lost() {
    let (database, queries) = (own::database().expect("tables"), own::queries().expect("queries"));
    let plans = own::plans().expect("plans");
    let mut count = 0;
    // Plans for other queries are wrong in all kinds of ways.
    for (place, query) in queries.iter().enumerate() {
        for plan in plans.iter().cycle().skip(place + 1).take(7) {
            let judgement = judge(&database, query, &plan.plan, TripCompat::Right);
            let facts = page::facts(&database, query, &plan.plan, &judgement);
            let shown: usize = timeline(&facts)
                .iter()
                .map(|day| day.wrong.len() + day.entries.iter().map(|entry| entry.wrong.len()).sum::<usize>())
                .sum();
            assert_eq!(shown, judgement.findings.len(), "{:?}", judgement.findings);
            count += shown;
        }
    }
    assert!(count > 100, "{count}");
}

#[test]
fn cities_lie_where_their_sights_are() {
    let facts = facts(&changed(2, &[]), TripCompat::Right);
    let (map, database) = (map(&facts), own::database().expect("tables"));
    assert!(map.places.len() >= 3 && map.ways.len() >= 3 && map.caption.is_empty());
    for place in &map.places {
        let norths: Vec<f64> = database.attractions.in_city(&place.name).map(|it| it.latitude).collect();
        let mean = norths.iter().sum::<f64>() / norths.len() as f64;
        assert!((place.north - mean).abs() < 1e-9, "{}", place.name);
    }
    let strange = changed(1, &[(0, "transportation", json!("Taxi, from Atlantis to Port Lissa"))]);
    let facts = self::facts(&strange, TripCompat::Right);
    assert_eq!(self::map(&facts).caption, "Not on the map, because no sights are known there: Atlantis.");
}

#[test]
fn what_is_no_plan_has_no_page() {
    let query = own::queries().expect("queries").swap_remove(0);
    for plan in [json!(null), json!([]), json!("x"), json!([3]), json!({"a": 1})] {
        assert_eq!(facts(&(query.clone(), TripPlan(plan)), TripCompat::Right), []);
    }
    let empty = facts(&(query, TripPlan(json!([{}, null]))), TripCompat::Right);
    assert_eq!(empty.len(), 1);
}
