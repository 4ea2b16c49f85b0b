//! Parts of a report besides the rates: gaps that plans used, fields of queries, and what managers of teams passed
//! on.

use std::collections::BTreeMap;

use planproof_suite::{Figure, Judged, Section, Table};
use serde_json::{Value, json};

use super::fields::FIELDS;
use super::figures::{per_cent, scored, share_of};
use super::judge::{PASSES_ORIGINAL, PASSES_RIGHT};
use super::manager::STATED;
use crate::evaluate::{Loophole, PassShare};
use crate::query::Level;

/// Plans that used gaps in the published checks.
pub(super) fn gaps_section(runs: &[Judged<'_>]) -> Section {
    let count = |name: &str| scored(runs).filter(|(_, it)| it.has(name)).count();
    let used = Loophole::ALL.into_iter().map(|it| (it.name(), count(it.name())));
    let used: Vec<(&str, usize)> = used.filter(|(_, count)| *count > 0).collect();
    let [original, right] =
        [PASSES_ORIGINAL, PASSES_RIGHT].map(|score| share_of(scored(runs).map(|(_, it)| it), score));
    let figure = |name: &'static str, share: PassShare| Figure {
        name,
        value: format!("{} of {}", share.passed, share.of),
        note: String::new(),
    };
    let row = |(name, count): &(&str, usize)| vec![(*name).to_owned(), count.to_string()];
    Section {
        key: "loopholes",
        title: "Gaps of the published checks",
        intro: "Plans that a published check lets through although it should not, by gap. A plan may use several."
            .to_owned(),
        figures: vec![
            figure("final, by the published evaluator", original),
            figure("final, with its gaps closed", right),
        ],
        tables: vec![Table {
            caption: if used.is_empty() { "No gap was used".to_owned() } else { "Plans by gap".to_owned() },
            columns: vec!["gap".to_owned(), "plans".to_owned()],
            rows: used.iter().map(row).collect(),
        }],
        lines: Vec::new(),
        json: json!({
            "final_original": original.passed, "final_right": right.passed,
            "plans_by_gap": used.into_iter().collect::<BTreeMap<_, _>>(),
        }),
    }
}

/// What managers of teams passed on, if there are any.
pub(super) fn stated_section(runs: &[Judged<'_>]) -> Option<Section> {
    let shares = STATED.map(|(field, name)| (field.name(), share_of(scored(runs).map(|(_, it)| it), name)));
    if shares.iter().all(|(_, share)| share.of == 0) {
        return None;
    }
    let row = |(field, share): &(&str, PassShare)| {
        vec![(*field).to_owned(), format!("{} of {}", share.passed, share.of), per_cent(*share)]
    };
    let json: BTreeMap<&str, Value> = shares
        .iter()
        .map(|(field, share)| (*field, json!({"right": share.passed, "of": share.of})))
        .collect();
    Some(Section {
        key: "stated",
        title: "What the manager passed on",
        intro: "The sub-tasks and constraints that the manager wrote are read by a grammar and compared with the fields of \
                the query, whatever came of the plan. Executors know nothing else about what the traveller wants."
            .to_owned(),
        tables: vec![Table {
            caption: "Right fields".to_owned(),
            columns: ["field", "runs", "in %"].map(str::to_owned).to_vec(),
            rows: shares.iter().map(row).collect(),
        }],
        json: json!(json),
        ..Section::default()
    })
}

/// How often each field was right.
pub(super) fn fields_section(runs: &[Judged<'_>]) -> Section {
    let row = |field: &str| {
        let of = |level: Option<Level>| {
            let runs = scored(runs).filter(|(it, _)| level.is_none_or(|level| it.level == level));
            let share = share_of(runs.map(|(_, it)| it), field);
            if share.of > 0 { format!("{} of {}", share.passed, share.of) } else { "-".to_owned() }
        };
        [field.to_owned(), of(None)].into_iter().chain(Level::ALL.map(|level| of(Some(level)))).collect()
    };
    let json: BTreeMap<&str, Value> = FIELDS
        .into_iter()
        .map(|field| {
            let share = share_of(scored(runs).map(|(_, it)| it), field);
            (field, json!({"right": share.passed, "of": share.of}))
        })
        .collect();
    let columns = ["field", "all", "easy", "medium", "hard"].map(str::to_owned).to_vec();
    Section {
        key: "fields",
        title: "Fields of the queries",
        intro:
            "Exact match of each field that was read out of the text of a query. Plans are not part of this."
                .to_owned(),
        tables: vec![Table {
            caption: "Right fields".to_owned(),
            columns,
            rows: FIELDS.into_iter().map(row).collect(),
        }],
        json: json!(json),
        ..Section::default()
    }
}
