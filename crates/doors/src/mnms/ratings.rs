//! `planproof mnms agree` and `mnms rate`: the evaluation of filled sheets.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use planproof_mnms::generate::{
    PairAgreement, RaterAgreement, Scale, Undefined, accuracies, agreement, correlations,
};
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::print::print_json;
use planproof_output::terminal::inline;
use planproof_output::{terminal, text_files};
use serde_json::{Value, json};

use super::files;
use crate::Globals;

pub(super) fn agree(sheets: &[PathBuf], halves: bool, global: &Globals) -> Result<ExitCode, Failure> {
    let ratings = files::ratings(sheets, if halves { Scale::Halves } else { Scale::Binary })?;
    let found = agreement(&ratings);
    let unanimous = ratings.unanimous().len();
    if global.json {
        print_json(&as_json(&found, unanimous))?;
        return Ok(ExitCode::Passed);
    }
    let RaterAgreement { raters, rows, means, pairs, share, fleiss, alpha } = &found;
    let mut out = terminal::text();
    writeln!(out, "{rows} rows, {} raters; {unanimous} rows were rated 1 by all", raters.len())?;
    for (rater, (count, mean)) in raters.iter().zip(means) {
        writeln!(out, "  {}: {count} ratings, mean {mean:.4}", inline(rater))?;
    }
    for pair @ PairAgreement { raters: (first, second), both, kappa, .. } in pairs {
        let [first, second] = [first, second].map(|rater| inline(&raters[*rater]));
        let same = pair.share().map_or_else(|| "nothing shared".to_owned(), percent);
        writeln!(
            out,
            "  {first} and {second}: {same} of {both} rated the same, Cohen's kappa {}",
            figure(kappa)
        )?;
    }
    match share {
        Ok((mean, deviation)) => {
            writeln!(
                out,
                "mean of the pairs: {} (standard deviation {})",
                percent(*mean),
                percent(*deviation)
            )?;
        }
        Err(why) => writeln!(out, "mean of the pairs: undefined, {why}")?,
    }
    writeln!(out, "Fleiss' kappa: {}", figure(fleiss))?;
    writeln!(out, "Krippendorff's alpha: {}", figure(alpha))?;
    Ok(ExitCode::Passed)
}

fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

fn figure(figure: &Result<f64, Undefined>) -> String {
    match figure {
        Ok(figure) => format!("{figure:.4}"),
        Err(why) => format!("undefined, {why}"),
    }
}

/// A figure, or null with the reason beside it.
fn figure_json(figure: &Result<f64, Undefined>) -> Value {
    match figure {
        Ok(figure) => json!({"value": figure}),
        Err(why) => json!({"value": null, "undefined": why.to_string()}),
    }
}

fn as_json(found: &RaterAgreement, unanimous: usize) -> Value {
    let raters: Vec<Value> = found
        .raters
        .iter()
        .zip(&found.means)
        .map(|(rater, (ratings, mean))| json!({"rater": rater, "ratings": ratings, "mean": mean}))
        .collect();
    let pairs: Vec<Value> = found
        .pairs
        .iter()
        .map(|pair| {
            let (first, second) = pair.raters;
            json!({
                "raters": [found.raters[first], found.raters[second]],
                "both": pair.both,
                "same": pair.same,
                "share": pair.share(),
                "kappa": figure_json(&pair.kappa),
            })
        })
        .collect();
    let share = match &found.share {
        Ok((mean, deviation)) => json!({"mean": mean, "deviation": deviation}),
        Err(why) => json!({"mean": null, "deviation": null, "undefined": why.to_string()}),
    };
    json!({
        "rows": found.rows,
        "unanimous": unanimous,
        "raters": raters,
        "pairs": pairs,
        "share": share,
        "fleiss": figure_json(&found.fleiss),
        "alpha": figure_json(&found.alpha),
    })
}

pub(super) fn rate(
    sheets: &[PathBuf],
    metrics: Option<&Path>,
    global: &Globals,
) -> Result<ExitCode, Failure> {
    // With halves, because the figures of the paper's table 15 are only possible with them.
    let ratings = files::ratings(sheets, Scale::Halves)?;
    let rated = accuracies(&ratings).map_err(|error| Failure::usage(inline(&error.to_string())))?;
    let found = match metrics {
        None => Vec::new(),
        Some(path) => correlations(&rated, &text_files::read_large_text(path)?)
            .map_err(|error| Failure::usage(inline(&format!("{}: {error}", path.display()))))?,
    };
    if global.json {
        let settings: Vec<Value> = rated
            .iter()
            .map(|of| json!({"setting": of.setting, "rated": of.rated, "accuracy": of.accuracy}))
            .collect();
        let found: Vec<Value> = found
            .iter()
            .map(|of| json!({"metric": of.metric, "settings": of.settings, "pearson": figure_json(&of.pearson)}))
            .collect();
        print_json(&json!({"settings": settings, "correlations": found}))?;
        return Ok(ExitCode::Passed);
    }
    let mut out = terminal::text();
    for of in &rated {
        writeln!(out, "{}: {:.2} % ({} rated)", inline(&of.setting), of.accuracy, of.rated)?;
    }
    for of in &found {
        let (metric, pearson, settings) = (inline(&of.metric), figure(&of.pearson), of.settings);
        writeln!(out, "{metric}: Pearson's correlation {pearson} (over {settings} settings)")?;
    }
    Ok(ExitCode::Passed)
}
