//! The figures reported in the paper (arXiv 2403.11085, Tables 3 and 5 to 15), shown in a separate block beside
//! ours.
//!
//! They were measured with models, prompts and services of 2024 and by the published rules, so they are not
//! directly comparable with ours. In Table 3 the differences of tool-F1 and argname-F1 for Mixtral-8x7B equal those
//! of Gemini-pro to the digit and contradict Table 5: they are an error in the paper, reproduced here as printed.
//! Table 14 has no row for Mixtral-8x7B.

mod tables;

use tables::{BLOCKS, RESULTS};

/// The models, in the paper's order.
pub const MODELS: [&str; 6] =
    ["Llama-2-7b", "Llama-2-13b", "Mixtral-8x7B", "Gemini-pro", "GPT-3.5-turbo-0125", "GPT-4-0125-preview"];

/// The feedback to the model, in the paper's order: none, parsing errors (P), plans that do not fit the tools (V),
/// failed executions (E).
pub const FEEDBACK: [&str; 5] = ["none", "P", "PV", "PE", "PVE"];

/// The strategies, in the paper's order.
pub const STRATEGIES: [&str; 2] = ["step-by-step", "multi-step"];

/// How right results correlate with other figures, as Pearson's coefficient (Figure 16).
pub const RESULT_CORRELATIONS: [(&str, f64); 3] =
    [("tool_f1", 0.77), ("argname_f1", 0.73), ("pass_rate", 0.95)];

/// A figure of a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PublishedFigure {
    /// The number of the table.
    pub table: u8,
    /// The name of the metric. Shares are in per cent, and `turns` and tokens are per example; a `_gain` is the
    /// increase of a share if alternative plans count as right.
    pub metric: &'static str,
    /// One of [`MODELS`].
    pub model: &'static str,
    /// One of [`STRATEGIES`].
    pub strategy: &'static str,
    /// `json` or `code`.
    pub format: &'static str,
    /// One of [`FEEDBACK`].
    pub feedback: &'static str,
    pub value: f64,
    /// The figure after a `±`, if there is one.
    pub spread: Option<f64>,
}

/// All figures, table by table.
pub fn figures() -> impl Iterator<Item = PublishedFigure> {
    let results = RESULTS.iter().map(|(model, strategy, format, feedback, value, spread)| PublishedFigure {
        table: 15,
        metric: "result_accuracy",
        model,
        strategy,
        format,
        feedback,
        value: *value,
        spread: Some(*spread),
    });
    BLOCKS.iter().flat_map(figures_of).chain(results)
}

fn figures_of(block: &'static tables::Block) -> impl Iterator<Item = PublishedFigure> {
    let strategies = if block.rows.len() > MODELS.len() { &STRATEGIES[..] } else { &STRATEGIES[1..] };
    let settings =
        MODELS.iter().flat_map(move |model| strategies.iter().map(move |strategy| (model, strategy)));
    settings.zip(block.rows).flat_map(move |((model, strategy), row)| {
        // A row of four figures lacks the first setting, the one without feedback. An empty row yields no figures.
        let feedback = &FEEDBACK[FEEDBACK.len() - row.len()..];
        feedback.iter().zip(row.iter().enumerate()).map(move |(feedback, (place, value))| PublishedFigure {
            table: block.table,
            metric: block.metric,
            model,
            strategy,
            format: if block.in_code { "code" } else { "json" },
            feedback,
            value: match place {
                0 => *value,
                // Two decimals were printed, so the sum is known to two decimals.
                _ if block.are_differences => ((row[0] + value) * 100.0).round() / 100.0,
                _ => *value,
            },
            spread: None,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(table: u8, metric: &str, model: &str, strategy: &str, feedback: &str) -> f64 {
        let is_it = |it: &PublishedFigure| {
            (it.table, it.metric, it.model, it.strategy, it.feedback)
                == (table, metric, model, strategy, feedback)
        };
        figures().find(is_it).unwrap().value
    }

    #[test]
    fn tables_have_all_their_figures() {
        let counts: Vec<usize> =
            (3..=15).map(|table| figures().filter(|it| it.table == table).count()).collect();
        assert_eq!(counts, [72, 0, 90, 48, 48, 48, 96, 96, 96, 48, 60, 100, 5]);
        for block in BLOCKS {
            assert!([6, 12].contains(&block.rows.len()), "{}", block.table);
            let is_whole = |row: &&[f64]| row.is_empty() || row.len() == block.rows[0].len();
            assert!(block.rows.iter().all(is_whole), "{}", block.table);
        }
    }

    #[test]
    fn figures_are_at_their_places() {
        let cases = [
            (3, "tool_f1", "Llama-2-7b", "multi-step", "P", 29.78),
            (3, "pass_rate", "GPT-4-0125-preview", "multi-step", "PVE", 99.88),
            (5, "argname_f1", "GPT-3.5-turbo-0125", "multi-step", "none", 83.94),
            (6, "argvalue_f1", "Gemini-pro", "step-by-step", "PV", 27.81),
            (7, "edge_f1", "GPT-4-0125-preview", "multi-step", "PVE", 79.6),
            (8, "edit_distance", "Llama-2-13b", "step-by-step", "P", 72.81),
            (9, "plan_argname", "Mixtral-8x7B", "multi-step", "PE", 44.9),
            (10, "plan_tool_gain", "Gemini-pro", "multi-step", "PE", 4.65),
            (11, "plan_argvalue_entailed", "GPT-4-0125-preview", "multi-step", "PE", 43.2),
            (12, "codebleu", "Llama-2-7b", "multi-step", "PE", 17.58),
            (13, "turns", "Mixtral-8x7B", "step-by-step", "P", 6.37),
            (14, "input_tokens", "GPT-4-0125-preview", "multi-step", "none", 2184.19),
            (14, "output_tokens", "Llama-2-7b", "step-by-step", "PV", 673.01),
            (15, "result_accuracy", "GPT-4-0125-preview", "multi-step", "PVE", 64.12),
        ];
        for (table, metric, model, strategy, feedback, expected) in cases {
            assert_eq!(value(table, metric, model, strategy, feedback), expected, "{table} {metric} {model}");
        }
    }

    /// Two tables contain the same runs, each as differences from another one.
    #[test]
    fn tables_agree_where_they_tell_of_the_same_runs() {
        for figure in figures().filter(|it| it.table == 3) {
            let PublishedFigure { metric, model, strategy, feedback, value: first, .. } = figure;
            let second = value(5, metric, model, strategy, feedback);
            let is_slip = model == "Mixtral-8x7B" && metric != "pass_rate" && feedback != "P";
            assert_eq!((first - second).abs() > 0.025, is_slip, "{figure:?}: {second}");
        }
    }
}
