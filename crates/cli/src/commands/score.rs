//! `planproof score`: finished predictions for a benchmark, without a model but one that judges where it is asked to.

mod judging;

use std::collections::{HashMap, HashSet};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use planproof_campaign::milliseconds_now;
use planproof_doors::{self as suites, COMPAT, HelperModel};
use planproof_engine::{Outcome, Report, ReportInput};
use planproof_output::failure::{ExitCode, Failure, unless_closed};
use planproof_output::print::print_json;
use planproof_output::{tell, terminal, text_files};
use planproof_report::{CommandLines, ReportedCampaign, TraceSource};
use planproof_store::Unit;
use planproof_suite::{Case, Class, Data, Effort, PredictionExtras, PredictionVerdicts, Verdict};
use planproof_trace::{Trace, Usage};
use ring::digest::{SHA256, digest};
use serde::Serialize;

use super::bench::{files, load};
use crate::arguments::{ChoiceArguments, Global, ScoreArguments};
use crate::render::{self, Findings, Seen};

/// Most cases without a prediction that are named.
const MISSING_NAMED_MAX: usize = 10;

/// Bytes of a digest that stand in an id.
const DIGEST_BYTES: usize = 8;

/// Report v1 with its predictions.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    report: &'a Report,
    predictions: Vec<ScoredPrediction<'a>>,
}

/// How the prediction for a case was judged.
#[derive(Serialize)]
struct ScoredPrediction<'a> {
    id: &'a str,
    passed: bool,
    class: Option<&'static str>,
    flags: &'a [&'static str],
    /// What is wrong, in a line; `None` if it passed.
    gist: Option<String>,
}

impl<'a> ScoredPrediction<'a> {
    fn new(case: &'a dyn Case, outcome: &'a Outcome) -> Option<Self> {
        let verdict = outcome.verdict.as_ref().ok()?;
        Some(Self {
            id: &case.card().id,
            passed: verdict.passed(),
            class: verdict.class().map(Class::as_str),
            flags: &verdict.scored.flags,
            gist: (!verdict.passed()).then(|| case.explain(verdict).gist),
        })
    }
}

/// Predictions have no traces.
struct NoTraces;

impl TraceSource for NoTraces {
    fn trace(&self, _unit: Unit) -> Result<Option<Trace>, String> {
        Ok(None)
    }
}

/// Whether only some of the cases are to be scored.
fn is_choosing(choice: &ChoiceArguments) -> bool {
    let ChoiceArguments { data: _, limit, shuffle: _, places } = choice;
    limit.is_some() || places.is_some()
}

/// The verdicts on these cases among those on all.
fn of_chosen(
    scored: PredictionVerdicts,
    all: &[Arc<dyn Case>],
    chosen: &[Arc<dyn Case>],
) -> PredictionVerdicts {
    let PredictionVerdicts { verdicts, missing } = scored;
    let mut by_id: HashMap<&str, Verdict> = all.iter().map(|case| &*case.card().id).zip(verdicts).collect();
    let ids: HashSet<&str> = chosen.iter().map(|case| &*case.card().id).collect();
    PredictionVerdicts {
        // Each is one of all: the same data was loaded for both.
        verdicts: chosen.iter().filter_map(|case| by_id.remove(&*case.card().id)).collect(),
        missing: missing.into_iter().filter(|id| ids.contains(&**id)).collect(),
    }
}

pub(crate) fn run(arguments: &ScoreArguments, global: &Global) -> Result<ExitCode, Failure> {
    let ScoreArguments {
        suite,
        predictions,
        of_suite,
        log,
        judge,
        asking,
        choice,
        shown,
        files: report_files,
    } = arguments;
    // Before a judge is asked, which costs money: a file that cannot be written is reported now.
    let named = [("FILE", Some(predictions)), ("--log", log.as_ref())];
    let named = named.into_iter().filter_map(|(option, path)| Some((option, path?.as_path())));
    let taken: Vec<(&str, &Path)> = named.chain(files(choice)).collect();
    let report_files = report_files.open(global, &taken)?;
    let mut suite = suites::find(suite)?;
    let options = of_suite.of_suite(&*suite, None, &global.set)?;
    let unchosen = Arc::clone(&suite);
    suite = suite.scored_with(&options.pairs()).map_err(Failure::from)?.unwrap_or(suite);
    // Only after the options are applied, because some of them select cases.
    let cases = load(&*suite, choice)?;
    let (text, file) = (text_files::read_json(predictions)?, predictions.display().to_string());
    let data = Data { text: &text, file: &file };
    // A suite reads no file, so it gets the texts.
    let log = log
        .as_deref()
        .map(|path| Ok::<_, Failure>((text_files::read_json(path)?, path.display().to_string())));
    let log = log.transpose()?;
    let mut evidence = PredictionExtras {
        log: log.as_ref().map(|(text, file)| Data { text, file }),
        ..PredictionExtras::default()
    };
    let mut judged_by = None;
    if let Some(name) = judge {
        let helper = HelperModel::find(name, asking)?;
        let questions = suite.questions(&cases, data).map_err(Failure::from)?;
        evidence.answers = Some(judging::answers(&helper, &questions, global)?);
        judged_by = Some((name, helper.model.is_simulated()));
    }
    let scored = match suite.score_with(&cases, data, &evidence) {
        // The predictions may be those for all cases, of which only some were chosen.
        Err(error) if is_choosing(choice) || of_suite.are_choosing() => {
            let of_all = options.of_all_cases();
            let suite = unchosen.scored_with(&of_all.pairs()).map_err(Failure::from)?.unwrap_or(unchosen);
            let all = load(&*suite, &ChoiceArguments::all_of(choice))?;
            match suite.score_with(&all, data, &evidence).map(|scored| of_chosen(scored, &all, &cases)) {
                Ok(scored) if scored.missing.len() < cases.len() => scored,
                // None is for a case that was chosen, or the file is not for this data: the error says so.
                Ok(_) | Err(_) => return Err(error.into()),
            }
        }
        scored => scored.map_err(Failure::from)?,
    };
    // Predictions took no time and no tokens here; as outcomes, they are summed up like runs.
    let outcome = |(ordinal, verdict)| Outcome {
        ordinal,
        repeat: 0,
        verdict: Ok(verdict),
        wall: Duration::ZERO,
        usage: Usage::default(),
        effort: Effort::default(),
        monitor: None,
        team: None,
        memory: None,
        guard: None,
        requests: None,
    };
    let outcomes: Vec<Outcome> = (0..).zip(scored.verdicts).map(outcome).collect();
    let mut report = Report::new(ReportInput {
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
    // Finished predictions made no calls here.
    (report.effort, report.run_seconds) = (None, None);
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
    let takes_stdout = report_files.take_stdout();
    let written = match report_files.is_empty() {
        true => Ok(()),
        false => {
            let id: String = digest(&SHA256, text.as_bytes())
                .as_ref()
                .iter()
                .take(DIGEST_BYTES)
                .map(|it| format!("{it:02x}"))
                .collect();
            let reported = ReportedCampaign {
                gate: None,
                suite: &*suite,
                id: &format!("score-{id}"),
                created_ms: milliseconds_now(),
                command_line: &global.command_line,
                commands: None,
                seed: global.seed,
                cases: &cases,
                repeats: 1,
                outcomes: &outcomes,
                report: &report,
                traces: &NoTraces,
            };
            report_files.write(&reported, global)
        }
    };
    let written = unless_closed(written);
    let printed = match (takes_stdout, global.json) {
        (true, _) => Ok(()),
        (false, true) => {
            let scored = cases.iter().zip(&outcomes);
            let predictions = scored.filter_map(|(case, outcome)| ScoredPrediction::new(&**case, outcome));
            print_json(&Document { report: &report, predictions: predictions.collect() })
        }
        (false, false) => {
            let findings = Findings::of(&cases, &outcomes, shown.findings);
            let mut out = terminal::text();
            // The published figures are what the published rules are asked for.
            let details = shown.details || of_suite.value(COMPAT).is_some();
            let mut print = || {
                writeln!(out, "{}", render::result(&report, None))?;
                let more = |all| format!("the same command with --findings {all}");
                write!(out, "{}", findings.text(suite.unit(), |_| Seen::File(&file), more))?;
                // There is no campaign that such a command could be about.
                let commands = CommandLines::new("score", None, []);
                out.write_all(render::figures(&report, &commands, details).as_bytes())?;
                match !details && render::has_details(&report) {
                    true => writeln!(out, "All figures: the same command with --details"),
                    false => Ok(()),
                }
            };
            print().map_err(Failure::from)
        }
    };
    written.and(unless_closed(printed))?;
    Ok(if report.all_failed() > 0 { ExitCode::Failed } else { ExitCode::Passed })
}
