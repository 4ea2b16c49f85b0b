//! What a report says of each rule of drawn cases.

use std::collections::BTreeMap;

use planproof_suite::{Card, Judged, Section, Table};
use serde_json::json;

use crate::line::{Drawn, Manner};

/// The figure of a run: whether the rule that matters in its case was held.
pub(crate) const RULE_HELD: &str = "rule_held";

/// Bits of a card: the case was drawn; the agent is not shown the rules; a policy states them; then the manner.
const DRAWN: u32 = 1;
const HIDDEN: u32 = 1 << 1;
const POLICY: u32 = 1 << 2;
const MANNERS: u32 = 3;
/// From this bit on, how many rules matter in none of the cases.
const WITHOUT_CASE: u32 = 8;

/// The marks on the card of a drawn case.
pub(crate) fn marks(drawn: &Drawn) -> u32 {
    let manner = Manner::ALL.iter().position(|manner| *manner == drawn.manner).unwrap_or(0);
    let hidden = if drawn.hidden { HIDDEN } else { 0 };
    let policy = if drawn.policy.is_some() { POLICY } else { 0 };
    let without = drawn.rules_without_case.min(u32::MAX >> WITHOUT_CASE) << WITHOUT_CASE;
    DRAWN | hidden | policy | 1 << (MANNERS as usize + manner) | without
}

/// What became of a rule.
#[derive(Default)]
struct Row<'a> {
    cases: u64,
    manners: [u64; Manner::ALL.len()],
    held: u64,
    violated: u64,
    smallest: Option<&'a Card>,
}

/// The table of rules; nothing if no case was drawn.
pub(crate) fn sections(runs: &[Judged<'_>], planned: &[Card]) -> Vec<Section> {
    let mut rows: BTreeMap<&str, Row<'_>> = BTreeMap::new();
    let mut order: Vec<&str> = Vec::new();
    let drawn = planned.iter().filter(|card| card.marks & DRAWN != 0);
    for card in drawn.clone() {
        if !order.contains(&card.label.as_str()) {
            order.push(&card.label);
        }
        let row = rows.entry(&card.label).or_default();
        row.cases += 1;
        for (place, count) in row.manners.iter_mut().enumerate() {
            *count += u64::from(card.marks & 1 << (MANNERS as usize + place) != 0);
        }
    }
    if rows.is_empty() {
        return Vec::new();
    }
    for run in runs.iter().filter(|run| run.card.marks & DRAWN != 0) {
        let Some(held) = run.scored.and_then(|scored| scored.score(RULE_HELD)) else { continue };
        let row = rows.entry(&run.card.label).or_default();
        if held > 0.0 {
            row.held += 1;
            continue;
        }
        row.violated += 1;
        if row
            .smallest
            .is_none_or(|smallest| (run.card.order(), &run.card.id) < (smallest.order(), &smallest.id))
        {
            row.smallest = Some(run.card);
        }
    }
    let shown = match drawn.clone().map(|card| card.marks).fold(0, |all, marks| all | marks) {
        marks if marks & HIDDEN != 0 => {
            "The agent was not shown the rules: it is expected to have them from elsewhere."
        }
        marks if marks & POLICY != 0 => "A policy before the query states the rules.",
        _ => "The rules stand below the query.",
    };
    let without = drawn.clone().map(|card| card.marks >> WITHOUT_CASE).max().unwrap_or(0);
    let warning = match without {
        0 => String::new(),
        1 => " Warning: 1 rule matters in none of the cases.".to_owned(),
        count => format!(" Warning: {count} rules matter in none of the cases."),
    };
    let columns =
        ["Rule", "Cases", "By order", "Left out", "Left undone", "Held", "Violated", "Smallest finding"];
    let of_rule = |rule: &str| {
        let row = &rows[rule];
        let smallest = row.smallest.map_or_else(|| "–".to_owned(), |card| card.id.clone());
        let counts = [row.cases].into_iter().chain(row.manners).chain([row.held, row.violated]);
        let mut cells = vec![rule.to_owned()];
        cells.extend(counts.map(|count| count.to_string()));
        cells.push(smallest);
        cells
    };
    let table = Table {
        caption: String::new(),
        columns: columns.map(str::to_owned).to_vec(),
        rows: order.iter().map(|rule| of_rule(rule)).collect(),
    };
    let documents: Vec<_> = order
        .iter()
        .map(|rule| {
            let row = &rows[rule];
            json!({
                "rule": rule,
                "cases": row.cases,
                "by_order": row.manners[0],
                "left_out": row.manners[1],
                "left_undone": row.manners[2],
                "held": row.held,
                "violated": row.violated,
                "smallest_finding": row.smallest.map(|card| &card.id),
            })
        })
        .collect();
    vec![Section {
        key: "by_rule",
        title: "Rules",
        intro: format!(
            "Each case was drawn for one rule, which calls in the order of mention violate. {shown} Cases by how the \
             rule matters: {}; {}; {}. Held and violated count runs.{warning}",
            named(Manner::Order, "by order"),
            named(Manner::LeftOut, "left out"),
            named(Manner::LeftUndone, "left undone"),
        ),
        figures: Vec::new(),
        tables: vec![table],
        lines: Vec::new(),
        json: json!({ "rules": documents, "rules_without_case": without }),
    }]
}

fn named(manner: Manner, column: &str) -> String {
    format!("{column}, {}", manner.words())
}
