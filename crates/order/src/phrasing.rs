//! The wordings and kinds of relation that failed runs violate most.
//!
//! A failed run has a score for each wording that states a requirement of its case: the share of these requirements
//! that was violated, weighted by their number. A requirement that is stated by several wordings counts for each of
//! them. A requirement is left out if one of its tasks was not done, because it is unknown whether it would have
//! been met. Infeasible cases have no such scores, since nothing should be done in them.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use planproof_suite::statistics::{CaseRuns, Rate, success_rate};
use planproof_suite::{Judged, Score, Section, Table};
use planproof_synth::{ConstraintId, OracleVerdict, Phrasing, PlanningCase, RelationKind, Rule};
use serde::Serialize;
use serde_json::json;

use crate::infeasible::aligned;

/// The prefix of the names of these scores.
const WORDING: &str = "wording:";
const RELATION: &str = "relation:";

/// Maximum number of wordings, and of relations, shown in a terminal.
const LINES_MAX: usize = 5;

/// The same on pages. Machine-readable output contains all of them.
const ROWS_MAX: usize = 20;

static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let wordings = Phrasing::wordings().into_iter().map(|wording| format!("{WORDING}{wording}"));
    wordings.chain(RelationKind::ALL.map(|kind| format!("{RELATION}{}", kind.as_str()))).collect()
});

/// The names of the scores, in the order in which a run has them.
pub(crate) static SCORE_NAMES: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| NAMES.iter().map(String::as_str).collect());

static PLACES: LazyLock<HashMap<&'static str, usize>> =
    LazyLock::new(|| (0..).zip(SCORE_NAMES.iter()).map(|(place, name)| (*name, place)).collect());

/// For each requirement of a case, in the order of [`PlanningCase::constraint_ids`], the indices in [`SCORE_NAMES`]
/// of the scores that it counts for.
pub(crate) type CountsFor = Vec<Vec<usize>>;

/// The scores that each requirement of the case counts for. Empty for infeasible cases, and if the paragraph does
/// not use this version's wordings.
pub(crate) fn counts_for(case: &PlanningCase) -> CountsFor {
    let Some(phrasings) = case.phrasings().filter(|_| case.is_feasible()) else { return Vec::new() };
    // Clock times follow the pairs, and no rule demands one.
    let rules = case.constraints.iter().map(|stated| stated.rule.as_ref()).chain(std::iter::repeat(None));
    let places = phrasings.iter().zip(rules).map(|(phrasings, rule)| {
        let of_rule = rule.map(|rule| match rule {
            Rule::Order(_) => RelationKind::OrderRule,
            Rule::Flow { .. } => RelationKind::FlowRule,
        });
        let wordings = phrasings.iter().map(|it| format!("{WORDING}{}", it.wording()));
        let relations = phrasings.iter().map(|it| it.relation()).chain(of_rule);
        let names = wordings.chain(relations.map(|kind| format!("{RELATION}{}", kind.as_str())));
        let mut places: Vec<usize> = names.filter_map(|name| PLACES.get(name.as_str()).copied()).collect();
        places.sort_unstable();
        // A requirement that is stated twice with the same words is still one requirement.
        places.dedup();
        places
    });
    places.collect()
}

/// The scores of a run, in the order of [`SCORE_NAMES`].
pub(crate) fn scores(
    case: &PlanningCase,
    counts_for: &CountsFor,
    verdict: &OracleVerdict,
) -> impl Iterator<Item = Score> {
    let is_broken = |id: &ConstraintId| {
        verdict.violated.iter().any(|it| it.id == *id) || verdict.wrong_values.iter().any(|it| it.id == *id)
    };
    let mut counted: BTreeMap<usize, CaseRuns> = BTreeMap::new();
    for (id, places) in case.constraint_ids().zip(counts_for) {
        // What was never decided is neither kept nor violated.
        if !verdict.undetermined.contains(id) {
            let is_broken = is_broken(id);
            places.iter().for_each(|place| counted.entry(*place).or_default().add(is_broken));
        }
    }
    counted.into_iter().filter_map(|(place, counted)| {
        Some(Score { metric: SCORE_NAMES[place], value: counted.rate()?, weight: f64::from(counted.runs) })
    })
}

/// How often the requirements with one wording or relation were violated.
#[derive(Debug, Clone, Serialize)]
struct Violations {
    #[serde(skip)]
    words: &'static str,
    /// Requirements of failed runs whose tasks were all done.
    stated: u64,
    violated: u64,
    #[serde(flatten)]
    rate: Rate,
}

/// The section of a report; `None` if no run has such scores. Without violations, it is only in machine-readable
/// output.
pub(crate) fn section(runs: &[Judged<'_>]) -> Option<Section> {
    let mut by_name: HashMap<&'static str, BTreeMap<u32, CaseRuns>> = HashMap::new();
    for run in runs {
        let scores = run.scored.iter().flat_map(|scored| &scored.scores);
        for score in scores.filter(|score| PLACES.contains_key(score.metric)) {
            // The counts of a case, recovered from share and weight by rounding.
            let [stated, violated] =
                [score.weight, score.value * score.weight].map(|count| count.round() as u32);
            let of_case = by_name.entry(score.metric).or_default().entry(run.ordinal).or_default();
            of_case.runs += stated;
            of_case.passed += violated;
        }
    }
    if by_name.is_empty() {
        return None;
    }
    let [wordings, relations] = [WORDING, RELATION].map(|prefix| worst_first(&by_name, prefix));
    let is_kept = relations.iter().all(|it| it.violated == 0);
    let (tables, lines) = if is_kept {
        Default::default()
    } else {
        let tables = [table("Wording", &wordings), table("Relation", &relations)];
        (Vec::from(tables), lines(&wordings, &relations))
    };
    Some(Section {
        key: "phrasing",
        title: "By wording and relation",
        intro: INTRO.to_owned(),
        figures: Vec::new(),
        tables,
        lines,
        json: json!({ "wordings": named("wording", &wordings), "relations": named("relation", &relations) }),
    })
}

const INTRO: &str = "How often failed runs violated the requirements of their cases, by the wording that states them and \
                     by what they demand, the worst first: the one whose interval begins highest. A requirement counts \
                     for each wording that states it, and not at all where one of its tasks was not done. Requirements \
                     of one case depend on each other: a task in a wrong place can violate several.";

fn worst_first(by_name: &HashMap<&'static str, BTreeMap<u32, CaseRuns>>, prefix: &str) -> Vec<Violations> {
    let of_prefix = by_name.iter().filter_map(|(name, cases)| Some((name.strip_prefix(prefix)?, cases)));
    let mut all: Vec<Violations> = of_prefix
        .filter_map(|(words, cases)| {
            let cases: Vec<CaseRuns> = cases.values().copied().collect();
            let sum = |count: fn(&CaseRuns) -> u32| cases.iter().map(count).map(u64::from).sum();
            let (stated, violated) = (sum(|it| it.runs), sum(|it| it.passed));
            Some(Violations { words, stated, violated, rate: success_rate(&cases)? })
        })
        .collect();
    // By the lower end of the interval, or phrases that occurred once would come first.
    all.sort_by(|a, b| {
        let key = |it: &Violations| (it.rate.low, it.rate.rate);
        let ((low_a, rate_a), (low_b, rate_b)) = (key(a), key(b));
        low_b.total_cmp(&low_a).then(rate_b.total_cmp(&rate_a)).then(a.words.cmp(b.words))
    });
    all
}

fn named(name: &str, all: &[Violations]) -> serde_json::Value {
    let rows = all.iter().map(|it| {
        let mut row = json!(it);
        row[name] = json!(it.words);
        row
    });
    rows.collect()
}

fn cells(it: &Violations) -> [String; 4] {
    let [rate, low, high] =
        [it.rate.rate, it.rate.low, it.rate.high].map(|share| format!("{:.1}", share * 100.0));
    [it.words.to_owned(), it.violated.to_string(), it.stated.to_string(), format!("{rate} [{low}, {high}]")]
}

const COLUMNS: [&str; 3] = ["Violated", "of", "% [95 %]"];

fn table(name: &str, all: &[Violations]) -> Table {
    let violated = all.iter().filter(|it| it.violated > 0);
    let (count, all) = (violated.clone().count(), all.len());
    let first =
        if count > ROWS_MAX { format!("; the first {ROWS_MAX} are shown here") } else { String::new() };
    let caption = format!("{name}: {count} of {all} in failed runs with a violated requirement{first}");
    let columns = [name].into_iter().chain(COLUMNS).map(str::to_owned).collect();
    Table { caption, columns, rows: violated.take(ROWS_MAX).map(|it| cells(it).to_vec()).collect() }
}

/// The worst wordings and relations, for a terminal.
fn lines(wordings: &[Violations], relations: &[Violations]) -> Vec<String> {
    let mut lines =
        vec!["Requirements that failed runs violated, by wording and by what they demand:".to_owned()];
    for (name, all) in [("Wording", wordings), ("Relation", relations)] {
        let [violated, of, rate] = COLUMNS;
        let head = [name, violated, of, rate].map(str::to_owned);
        let violated = all.iter().filter(|it| it.violated > 0).take(LINES_MAX);
        let rows: Vec<[String; 4]> = violated.map(cells).collect();
        lines.extend(aligned(&head, &rows));
        if let Some(more @ 1..) = all.len().checked_sub(rows.len()) {
            lines.push(format!(" ({more} more with --json)"));
        }
    }
    lines
}
