//! The data that all reports are made from.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use planproof_engine::{Outcome, Report, Unit, over_in_words};
use planproof_suite::{Card, Case, Metric, Suite};
use planproof_trace::Trace;

use crate::CommandLines;
use crate::gate::GateReport;

/// Provides the traces of a campaign. They are fetched one by one, because few of them are shown and all of them
/// may not fit into memory.
pub trait TraceSource {
    /// The trace of a run; `None` if it has none, for example because it was not run.
    ///
    /// # Errors
    /// A readable message if the store cannot be read, or contains something that is not a trace.
    fn trace(&self, unit: Unit) -> Result<Option<Trace>, String>;
}

/// A campaign, or finished predictions that were scored, with everything that reports show.
#[derive(Clone, Copy)]
pub struct ReportedCampaign<'a> {
    /// The kind of its cases.
    pub suite: &'a dyn Suite,
    /// Its id in the run store; for predictions an id that comes from their text.
    pub id: &'a str,
    /// When it began, in milliseconds since 1970.
    pub created_ms: u64,
    /// The command line that created it.
    pub command_line: &'a str,
    /// How to resume it and to see its runs; `None` for predictions, behind which there is no campaign: they have no
    /// traces, took no time, and no command shows one of them.
    pub commands: Option<&'a CommandLines>,
    /// Seed of the campaign.
    pub seed: u64,
    /// All its cases, in order.
    pub cases: &'a [Arc<dyn Case>],
    /// How often each case is run.
    pub repeats: u32,
    /// Outcomes by ordinal and repeat. A run without an outcome did not finish.
    pub outcomes: &'a [Outcome],
    /// The summary of the campaign.
    pub report: &'a Report,
    /// The traces of its runs.
    pub traces: &'a dyn TraceSource,
    /// Whether it is worse than an earlier one, if that was asked.
    pub gate: Option<&'a GateReport>,
}

impl<'a> ReportedCampaign<'a> {
    /// Each repeat of each case with its outcome; `None` if it was not run.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (&'a dyn Case, u32, Option<&'a Outcome>)> + use<'a> {
        let (cases, repeats) = (self.cases, self.repeats.max(1));
        // Units that were not run have no outcome, so the outcomes cannot simply be zipped with the units.
        let mut by_unit: Vec<Option<&'a Outcome>> = vec![None; cases.len() * repeats as usize];
        // A repeat beyond the last would land on a run of the next case.
        for outcome in self.outcomes.iter().filter(|outcome| outcome.repeat < repeats) {
            let place = outcome.ordinal as usize * repeats as usize + outcome.repeat as usize;
            if let Some(place) = by_unit.get_mut(place) {
                *place = Some(outcome);
            }
        }
        let units = cases.iter().flat_map(move |case| (0..repeats).map(move |repeat| (&**case, repeat)));
        units.zip(by_unit).map(|((case, repeat), outcome)| (case, repeat, outcome))
    }

    /// What a run took too much of, in words; `None` if nothing, and without limits.
    pub(crate) fn over(&self, case: &dyn Case, outcome: &Outcome) -> Option<String> {
        let over = outcome.over(&self.report.over()?.limits, case.card());
        (!over.is_empty()).then(|| over_in_words(&over))
    }

    /// Whether these are finished predictions, and no campaign.
    pub(crate) fn is_of_predictions(&self) -> bool {
        self.commands.is_none()
    }

    /// The command that shows the run of a case and its trace.
    pub(crate) fn command_to_see(&self, case: &dyn Case, repeat: u32) -> Option<String> {
        let repeat = (self.repeats > 1).then_some(repeat);
        self.commands.map(|commands| commands.see(self.id, &case.card().id, repeat))
    }

    /// The command that retries unscored runs and runs the remaining ones.
    pub(crate) fn command_to_resume(&self) -> Option<String> {
        self.commands.map(|commands| commands.resume(self.id))
    }

    /// The suffix for a repeat if cases are run several times: " repeat 2".
    pub(crate) fn repeat_name(&self, repeat: u32) -> String {
        if self.repeats > 1 { format!(" repeat {repeat}") } else { String::new() }
    }

    /// The size of a case in words: "5 actions", "1 action".
    pub(crate) fn sized(&self, card: &Card) -> String {
        let unit = self.suite.unit();
        format!("{} {}", card.size, if card.size == 1 { unit.one } else { unit.many })
    }

    /// When it began, as `2026-11-20T12:33:20Z`.
    pub(crate) fn created(&self) -> String {
        // The last year that this format can represent is 9999.
        const LAST_MS: u64 = 253_402_300_799_000;
        let since = Duration::from_millis(self.created_ms.min(LAST_MS));
        humantime::format_rfc3339_seconds(UNIX_EPOCH + since).to_string()
    }
}

/// The models that rejected a temperature, by name; `None` if none did.
pub(crate) fn without_temperature(report: &Report) -> Option<String> {
    (!report.without_temperature.is_empty()).then(|| report.without_temperature.join(", "))
}

/// A line for the server of each model, as in `vllm/qwen3 at http://127.0.0.1:8000/v1: vLLM 0.9, context 8192`.
pub fn servers(report: &Report) -> impl Iterator<Item = String> {
    report.servers.iter().map(|(model, facts)| {
        let summary = facts.summary();
        let what = if summary.is_empty() { "a server that does not say what it is" } else { &summary };
        // The name of a model may have the URL in it.
        let place = if model.contains(&facts.url) { String::new() } else { format!(" at {}", facts.url) };
        format!("{model}{place}: {what}")
    })
}

/// The word with its first letter in upper case.
pub(crate) fn capitalised(word: &str) -> String {
    let mut characters = word.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// The formatted value of a metric and its interval; `-` if there is none.
pub fn metric_words(metric: &Metric) -> [String; 2] {
    let number = |value: f64| match metric.is_share {
        true => format!("{:.1} %", value * 100.0),
        false => format!("{value:.2}"),
    };
    let interval = metric.interval.map(|(low, high)| format!("{} to {}", number(low), number(high)));
    [metric.value.map(number), interval].map(|text| text.unwrap_or_else(|| "-".to_owned()))
}
