//! `planproof score`: finished predictions for a benchmark, without a model but one that judges where it is asked to.

mod judging;

use std::io::Write as _;
use std::time::Duration;

use planproof_bench::{Outcome, Report, ReportInput};
use planproof_report::CommandLines;
use planproof_suite::{CaseError, Data, PredictionExtras};
use planproof_trace::Usage;

use super::bench::{find, load};
use super::helper_model::HelperModel;
use super::print_json;
use crate::arguments::{Global, ScoreArguments};
use crate::failure::{ExitCode, Failure, unless_closed};
use crate::progress::tell;
use crate::{render, select, terminal, travel};

/// Most cases without a prediction that are named.
const MISSING_NAMED_MAX: usize = 10;

pub(crate) fn run(arguments: &ScoreArguments, global: &Global) -> Result<ExitCode, Failure> {
    let ScoreArguments {
        suite,
        predictions,
        format,
        compat,
        scoring,
        alternatives,
        log,
        judge,
        asking,
        choice,
    } = arguments;
    let mut options: Vec<(&str, &str)> = Vec::new();
    options.extend(format.as_deref().map(|format| ("format", format)));
    options.extend(compat.as_deref().map(|compat| ("compat", compat)));
    options.extend(scoring.as_deref().map(|scoring| ("scoring", scoring)));
    options.extend(alternatives.then_some(("alternatives", "yes")));
    let days = choice.days.map(|days| days.to_string());
    let chosen = travel::options([("days", days.as_deref()), ("level", choice.level.as_deref())]);
    let mut suite = find(suite)?;
    travel::must_have(&*suite, &chosen, global)?;
    options.extend(chosen);
    let usage = |CaseError { what }: CaseError| Failure::usage(what);
    suite = suite.scored_with(&options).map_err(usage)?.unwrap_or(suite);
    // Only after the options are applied, because some, such as `days`, select cases.
    let cases = load(&*suite, choice, global)?;
    let (text, file) = (select::read_json(predictions)?, predictions.display().to_string());
    let data = Data { text: &text, file: &file };
    // A suite reads no file, so it gets the texts.
    let log =
        log.as_deref().map(|path| Ok::<_, Failure>((select::read_json(path)?, path.display().to_string())));
    let log = log.transpose()?;
    let mut evidence = PredictionExtras {
        log: log.as_ref().map(|(text, file)| Data { text, file }),
        ..PredictionExtras::default()
    };
    let mut judged_by = None;
    if let Some(name) = judge {
        let helper = HelperModel::find(name, asking)?;
        let questions = suite.questions(&cases, data).map_err(usage)?;
        evidence.answers = Some(judging::answers(&helper, &questions, global)?);
        judged_by = Some((name, helper.model.is_simulated()));
    }
    let scored = suite.score_with(&cases, data, &evidence).map_err(usage)?;
    // Predictions took no time and no tokens here; as outcomes, they are summed up like runs.
    let outcome = |(ordinal, verdict)| Outcome {
        ordinal,
        repeat: 0,
        verdict: Ok(verdict),
        wall: Duration::ZERO,
        usage: Usage::default(),
        monitor: None,
        team: None,
        memory: None,
        requests: None,
    };
    let outcomes: Vec<Outcome> = (0..).zip(scored.verdicts).map(outcome).collect();
    let report = Report::new(ReportInput {
        suite: &*suite,
        agent: &match judged_by {
            None => format!("predictions of {file}"),
            Some((judge, false)) => format!("predictions of {file}, judged by {judge}"),
            Some((judge, true)) => format!("predictions of {file}, judged by {judge}, a SIMULATION"),
        },
        // Which model wrote the predictions, and whether it was a simulated one, is not known.
        model: None,
        simulated: false,
        cases: &cases,
        repeats: 1,
        outcomes: &outcomes,
        synthesis: None,
        cost: None,
        ended_by: None,
    });
    if !scored.missing.is_empty() {
        let named = scored.missing.iter().take(MISSING_NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
        let more = scored.missing.len().saturating_sub(MISSING_NAMED_MAX);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let count = scored.missing.len();
        let what = if count == 1 {
            "case has no prediction and counts"
        } else {
            "cases have no prediction and count"
        };
        tell!("{count} {what} as failed: {named}{more}");
    }
    let printed = match global.json {
        true => print_json(&report),
        false => {
            // There is no campaign that such a command could be about.
            let commands = CommandLines::new("score", None, []);
            let figures = render::figures(&report, &commands, true);
            write!(terminal::text(), "{}\n{figures}", render::result(&report, None)).map_err(Failure::from)
        }
    };
    unless_closed(printed)?;
    Ok(if report.all_failed() > 0 { ExitCode::Failed } else { ExitCode::Passed })
}
