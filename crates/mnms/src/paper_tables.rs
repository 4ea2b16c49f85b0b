//! Tables in the form of the paper's, filled with the paper's figures and with those of a matrix.

use std::collections::BTreeSet;

use planproof_suite::{CombinationFigures, Section, Table};
use serde_json::{Value, json};

use crate::published::{self, FEEDBACK, MODELS, PublishedFigure, STRATEGIES};

/// Shown if there is no figure.
const DASH: &str = "–";

/// The figures of a table that are shown side by side.
struct Group {
    /// The name of the metric in the paper's figures.
    metric: &'static str,
    /// The name of our metric.
    ours: &'static str,
    /// The metric to subtract from it: a part that the paper's figure does not include.
    less: Option<&'static str>,
    /// The metric to use if there was a judge with nothing to decide, if any.
    unjudged: Option<&'static str>,
    title: &'static str,
}

/// A table of the paper.
struct Layout {
    number: u8,
    /// The format of the plans.
    format: &'static str,
    /// Whether step-by-step planning has rows as well.
    has_strategies: bool,
    /// Which values of [`FEEDBACK`] have columns: those from this index on.
    feedback_from: usize,
    /// Whether all but the first figure of a group are differences from the first.
    are_differences: bool,
    groups: &'static [Group],
}

const fn group(metric: &'static str, ours: &'static str, title: &'static str) -> Group {
    Group { metric, ours, less: None, unjudged: None, title }
}

const MAIN: &[Group] = &[
    group("tool_f1", "tool_f1", "tool-F1"),
    group("argname_f1", "argname_f1", "argname-F1"),
    group("pass_rate", "executed", "pass rate"),
];

const fn layout(number: u8, groups: &'static [Group]) -> Layout {
    Layout { number, format: "json", has_strategies: true, feedback_from: 1, are_differences: false, groups }
}

const ARGVALUE: &[Group] = &[group("argvalue_f1", "argvalue_f1", "argvalue-F1")];
const EDGE: &[Group] = &[group("edge_f1", "edge_f1", "edge-F1")];
const DISTANCE: &[Group] = &[group("edit_distance", "edit_distance", "normalised edit distance")];
const ACCURACY: &[Group] = &[
    Group {
        metric: "plan_tool",
        ours: "plan_tool",
        less: Some("plan_tool_gain"),
        unjudged: None,
        title: "plan accuracy without alternatives, tools",
    },
    Group {
        metric: "plan_argname",
        ours: "plan_argname",
        less: Some("plan_argname_gain"),
        unjudged: None,
        title: "tools and arguments",
    },
];
const GAIN: &[Group] = &[
    group("plan_tool_gain", "plan_tool_gain", "gain by alternatives, tools"),
    group("plan_argname_gain", "plan_argname_gain", "tools and arguments"),
];
const VALUES: &[Group] = &[
    group("plan_argvalue", "plan_argvalue", "plan accuracy with values, exact"),
    Group {
        unjudged: Some("plan_argvalue"),
        ..group("plan_argvalue_entailed", "plan_argvalue_entailed", "by entailment")
    },
];
const CODE: &[Group] =
    &[group("ast_accuracy", "ast_equal", "AST accuracy"), group("codebleu", "codebleu", "CodeBLEU")];
const TURNS: &[Group] = &[group("turns", "turns", "turns")];
const TOKENS: &[Group] = &[
    group("input_tokens", "input_tokens", "input tokens"),
    group("output_tokens", "output_tokens", "output tokens"),
];

/// Tables 3 and 5 to 14. Table 15 has a different form.
static LAYOUTS: [Layout; 11] = [
    Layout { has_strategies: false, are_differences: true, ..layout(3, MAIN) },
    Layout { has_strategies: false, are_differences: true, feedback_from: 0, ..layout(5, MAIN) },
    layout(6, ARGVALUE),
    layout(7, EDGE),
    layout(8, DISTANCE),
    layout(9, ACCURACY),
    layout(10, GAIN),
    layout(11, VALUES),
    Layout { format: "code", has_strategies: false, ..layout(12, CODE) },
    Layout { feedback_from: 0, ..layout(13, TURNS) },
    Layout { feedback_from: 0, ..layout(14, TOKENS) },
];

/// The setting of a figure: row, strategy, format and feedback.
type Setting<'a> = (&'a str, &'a str, &'a str, &'a str);

impl Layout {
    /// The table with these rows, and the rows whose figures cannot be shown, because the base of their differences
    /// is missing. A setting without a figure has a dash; a row without any is left out, and so is a table without
    /// any.
    fn table<'r>(
        &self,
        rows: &[&'r str],
        whose: &str,
        value: impl Fn(&Group, Setting<'_>) -> Option<f64>,
    ) -> (Option<Table>, Vec<&'r str>) {
        let feedback = &FEEDBACK[self.feedback_from..];
        // The last one is multi-step planning, the only one in tables without a column for it.
        let strategies = if self.has_strategies { &STRATEGIES[..] } else { &STRATEGIES[1..] };
        let mut columns = vec!["model".to_owned()];
        if self.has_strategies {
            columns.push("strategy".to_owned());
        }
        for group in self.groups {
            let title = |(place, it): (usize, &&str)| match (place, self.groups.len()) {
                (0, 2..) => format!("{}: {it}", group.title),
                _ => (*it).to_owned(),
            };
            columns.extend(feedback.iter().enumerate().map(title));
        }
        let (mut filled, mut without_base) = (Vec::new(), Vec::new());
        for row in rows {
            for strategy in strategies {
                let of_group = |group: &Group| -> Vec<Option<f64>> {
                    feedback.iter().map(|it| value(group, (*row, *strategy, self.format, *it))).collect()
                };
                let groups: Vec<Vec<Option<f64>>> = self.groups.iter().map(of_group).collect();
                if groups.iter().flatten().all(Option::is_none) {
                    continue;
                }
                // Without the figure that the others are subtracted from, a row would consist of dashes.
                if self.are_differences
                    && groups.iter().all(|values| values.first().is_none_or(Option::is_none))
                {
                    without_base.push(*row);
                    continue;
                }
                let mut cells = vec![(*row).to_owned()];
                if self.has_strategies {
                    cells.push((*strategy).to_owned());
                }
                cells.extend(groups.iter().flat_map(|values| self.cells(values)));
                filled.push(cells);
            }
        }
        let titles: Vec<&str> = self.groups.iter().map(|group| group.title).collect();
        let differences =
            if self.are_differences { "; columns after the first show differences from it" } else { "" };
        let planning = if self.has_strategies { "" } else { ", multi-step" };
        let caption = format!(
            "{whose} Table {}: {}, plans as {}{planning}, by feedback{differences}",
            self.number,
            titles.join("; "),
            if self.format == "code" { "programs" } else { "JSON" },
        );
        ((!filled.is_empty()).then_some(Table { caption, columns, rows: filled }), without_base)
    }

    /// A note on rows without a base for their differences.
    fn note(&self, is_table: bool, without_base: &[&str]) -> Option<String> {
        let (number, base) = (self.number, FEEDBACK[self.feedback_from]);
        let whom = if is_table { format!(" for {}", without_base.join(", ")) } else { String::new() };
        (!without_base.is_empty()).then(|| {
            format!(
                " There is no Table {number}{whom}: its figures are differences from those of `feedback={base}`, which was \
                 not run or has none."
            )
        })
    }

    /// The figures of a group with two decimals, as in the paper.
    fn cells(&self, values: &[Option<f64>]) -> Vec<String> {
        let first = values.first().copied().flatten();
        let cell = |(place, value): (usize, &Option<f64>)| match (value, self.are_differences && place > 0) {
            (None, _) => DASH.to_owned(),
            (Some(value), false) => format!("{value:.2}"),
            // Adding zero turns a negative zero into a positive one.
            (Some(value), true) => first.map_or_else(
                || DASH.to_owned(),
                |first| format!("{:+.2}", ((value - first) * 100.0).round() / 100.0 + 0.0),
            ),
        };
        values.iter().enumerate().map(cell).collect()
    }
}

/// The figures published in the paper. In a terminal they are only named, not shown.
pub(crate) fn published() -> Section {
    let all: Vec<PublishedFigure> = published::figures().collect();
    let of = |layout: &Layout| {
        let value = |group: &Group, (model, strategy, format, feedback): Setting<'_>| {
            let is_it = |it: &&PublishedFigure| {
                (it.table, it.metric, it.model, it.strategy, it.format, it.feedback)
                    == (layout.number, group.metric, model, strategy, format, feedback)
            };
            all.iter().find(is_it).map(|it| it.value)
        };
        layout.table(&MODELS, "Published", value).0
    };
    let mut tables: Vec<Table> = LAYOUTS.iter().filter_map(of).collect();
    let results = all.iter().filter(|it| it.table == 15).map(|it| {
        let spread = it.spread.map_or_else(String::new, |spread| format!(" ± {spread:.2}"));
        let value = format!("{:.2}{spread}", it.value);
        [it.model, it.strategy, it.format, it.feedback, &value].map(str::to_owned).to_vec()
    });
    tables.push(Table {
        caption: "Published Table 15: right results of execution, rated by people on 85 requests".to_owned(),
        columns: ["model", "strategy", "format", "feedback", "accuracy"].map(str::to_owned).to_vec(),
        rows: results.collect(),
    });
    let json: Vec<Value> = all
        .iter()
        .map(|it| {
            json!({
                "table": it.table, "metric": it.metric, "model": it.model, "strategy": it.strategy,
                "format": it.format, "feedback": it.feedback, "value": it.value, "spread": it.spread,
            })
        })
        .collect();
    Section {
        key: "published",
        title: "Published figures",
        intro: "These are figures that the paper has published (Ma et al. 2024, on 882 requests), in per cent except turns \
                and tokens. They are not results of this run, and were made with other models, prompts and tools. In its \
                Table 3 tool-F1 and argname-F1 of Mixtral-8x7B have the differences of Gemini-pro, which contradicts its \
                Table 5. Table 14 has no row for Mixtral-8x7B."
            .to_owned(),
        figures: Vec::new(),
        tables,
        lines: vec![
            "The paper's figures, Tables 3 and 5 to 15, are in a separate block of the page (--html) and of --json."
                .to_owned(),
        ],
        json: json!(json),
    }
}

/// Figures of a matrix in the form of the paper's tables, as far as its planning agents provide them; `None` if
/// they provide none.
pub(crate) fn of_matrix(combinations: &[CombinationFigures<'_>]) -> Option<Section> {
    /// Settings with separate rows and columns, and their default values.
    const APART: [(&str, &str); 3] = [("strategy", "multi-step"), ("format", "json"), ("feedback", "PVE")];
    let planning: Vec<(&CombinationFigures<'_>, String)> = combinations
        .iter()
        .filter(|it| it.kind == "plan")
        .map(|it| {
            // All other settings distinguish the rows of a model.
            let others = it.settings.iter().filter(|(key, _)| APART.iter().all(|(apart, _)| apart != key));
            let others: Vec<String> = others.map(|(key, value)| format!("{key}={value}")).collect();
            let model = it.model.unwrap_or(DASH);
            let row =
                if others.is_empty() { model.to_owned() } else { format!("{model} ({})", others.join(", ")) };
            (it, row)
        })
        .collect();
    let setting = |it: &CombinationFigures<'_>, place: usize| -> String {
        let (key, usual) = APART[place];
        it.settings.get(key).map_or(usual, String::as_str).to_owned()
    };
    let mut seen = BTreeSet::new();
    let rows: Vec<&str> =
        planning.iter().map(|(_, row)| row.as_str()).filter(|row| seen.insert(*row)).collect();
    let of = |layout: &Layout| {
        let value = |group: &Group, (row, strategy, format, feedback): Setting<'_>| {
            let is_it = |(it, of): &&(&CombinationFigures<'_>, String)| {
                of == row && [0, 1, 2].map(|place| setting(it, place)) == [strategy, format, feedback]
            };
            let (found, _) = planning.iter().find(is_it)?;
            let figure = |name: &str| {
                let metric = found.metrics.iter().find(|metric| metric.name == name)?;
                let scale = if metric.is_share { 100.0 } else { 1.0 };
                metric.value.map(|value| value * scale)
            };
            let less = group.less.map_or(Some(0.0), figure)?;
            // A judge with nothing to decide changes nothing.
            let unjudged = || found.settings.get("judge").and(group.unjudged).and_then(figure);
            figure(group.ours).or_else(unjudged).map(|value| value - less)
        };
        let (table, without_base) = layout.table(&rows, "Like", value);
        let note = layout.note(table.is_some(), &without_base);
        (table.map(|table| (layout.number, table)), note)
    };
    let (tables, notes): (Vec<_>, Vec<_>) = LAYOUTS.iter().map(of).unzip();
    let tables: Vec<(u8, Table)> = tables.into_iter().flatten().collect();
    let mut notes: String = notes.into_iter().flatten().collect();
    let is_empty = |layout: &&Layout| {
        let number = layout.number;
        // A table without any base for its differences has been explained by its note, which begins in this way.
        tables.iter().all(|(it, _)| *it != number) && !notes.contains(&format!(" Table {number}:"))
    };
    let without: Vec<String> = LAYOUTS.iter().filter(is_empty).map(|it| it.number.to_string()).collect();
    if !without.is_empty() {
        let (word, numbers) = (if without.len() == 1 { "Table" } else { "Tables" }, without.join(", "));
        notes += &format!(" There are no figures for {word} {numbers}.");
    }
    if tables.is_empty() {
        return None;
    }
    let json: Vec<Value> = tables
        .iter()
        .map(|(number, table)| json!({"table": number, "columns": table.columns, "rows": table.rows}))
        .collect();
    let is_simulated = |it: &CombinationFigures<'_>| {
        it.simulated || it.settings.get("judge").is_some_and(|name| name.starts_with("sim/"))
    };
    let simulation = if planning.iter().any(|(it, _)| is_simulated(it)) {
        " SIMULATION: a simulated model planned or judged, whose figures say nothing about any real model."
    } else {
        ""
    };
    Some(Section {
        key: "paper_tables",
        title: "Laid out like the paper's tables",
        intro: format!(
            "Figures of this matrix by our rules, in per cent except turns and tokens. A dash is a combination that was \
             not run, or has no such figure. Alternative plans count as right except in Table 9. Table 11 by entailment \
             needs a judge (`judge=MODEL`); Table 15 needs ratings by people (`planproof mnms rate`).{simulation}{notes}"
        ),
        tables: tables.into_iter().map(|(_, table)| table).collect(),
        json: json!(json),
        ..Section::default()
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use planproof_suite::Metric;

    use super::*;

    #[test]
    fn all_published_figures_stand_in_tables() {
        let section = published();
        assert_eq!(section.tables.len(), 12);
        let is_figure =
            |cell: &&String| cell.trim_start_matches(['+', '-']).starts_with(|it: char| it.is_ascii_digit());
        let cells =
            section.tables.iter().flat_map(|table| table.rows.iter().flat_map(|row| row.iter().skip(1)));
        assert_eq!(cells.filter(is_figure).count(), published::figures().count());
        for table in &section.tables {
            assert!(table.rows.iter().all(|row| row.len() == table.columns.len()), "{}", table.caption);
        }
        let row = |table: usize, row: usize| section.tables[table].rows[row].join(" ");
        assert_eq!(
            row(0, 0),
            "Llama-2-7b 29.78 -2.94 -2.59 -2.58 34.03 +2.03 +1.24 +1.15 28.23 +18.14 +10.32 +13.72"
        );
        assert_eq!(row(2, 3), "Llama-2-13b multi-step 15.39 17.11 15.84 16.71");
    }

    #[test]
    fn a_matrix_fills_the_tables_that_it_can() {
        let share = |name, value| Metric { name, title: name, value, interval: None, is_share: true };
        let settings = |of: &[(&str, &str)]| -> BTreeMap<String, String> {
            of.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
        };
        let of = [
            settings(&[("feedback", "P")]),
            settings(&[("feedback", "PV"), ("format", "code")]),
            settings(&[]),
            settings(&[("judge", "x/y")]),
        ];
        let metrics = [
            [share("tool_f1", Some(0.5)), share("executed", None)],
            [share("ast_equal", Some(0.25)), share("tool_f1", Some(1.0))],
            [share("tool_f1", Some(0.625)), share("edge_f1", Some(1.0))],
            [share("plan_argvalue", Some(0.5)), share("executed", None)],
        ];
        let combined = |kind, place: usize| CombinationFigures {
            kind,
            model: Some("m"),
            settings: &of[place],
            metrics: &metrics[place],
            simulated: false,
        };
        fn rows(section: &Section) -> Vec<(&str, String)> {
            let tables = section.tables.iter();
            tables
                .map(|it| (it.caption.split(':').next().unwrap_or_default(), it.rows[0].join(" ")))
                .collect()
        }
        let section = of_matrix(&[combined("plan", 0), combined("plan", 1), combined("plan", 2)]).unwrap();
        let expected = [
            ("Like Table 3", "m 50.00 – – +12.50 – – – – – – – –"),
            ("Like Table 7", "m multi-step – – – 100.00"),
            ("Like Table 12", "m – 25.00 – – – – – –"),
        ];
        assert_eq!(rows(&section), expected.map(|(caption, row)| (caption, row.to_owned())));
        let note = "There is no Table 5: its figures are differences from those of `feedback=none`, which was not run";
        assert!(section.intro.contains(note) && !section.intro.contains("no Table 3"), "{}", section.intro);
        let note = "There are no figures for Tables 6, 8, 9, 10, 11, 13, 14.";
        assert!(section.intro.contains(note), "{}", section.intro);
        assert_eq!(of_matrix(&[combined("tools", 0)]), None);
        // A judge that was not asked anything changes nothing.
        let judged = of_matrix(&[combined("plan", 3)]).unwrap();
        let row = "m (judge=x/y) multi-step – – – 50.00 – – – 50.00";
        assert_eq!(rows(&judged), [("Like Table 11", row.to_owned())]);
    }
}
