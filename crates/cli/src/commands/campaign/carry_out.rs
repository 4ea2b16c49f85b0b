//! Running a prepared campaign and its sequels, with observers.

use indicatif::ProgressBar;
use planproof_assembly::errors::{OrFail as _, failure};
use planproof_campaign::{Begun, EndedSequel, Halted, Watch};
use planproof_engine::{Campaign, Outcome, RunProgress, Unit};
use planproof_model::ServerFacts;
use planproof_model::check::ModelCheck;
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::layout::counted;
use planproof_output::terminal::inline;
use planproof_output::{progress, signals, tell, terminal};
use planproof_store::{Fingerprint, Progress};
use planproof_suite::Sequel;
use tokio_util::sync::CancellationToken;

use super::prepared::Prepared;
use crate::arguments::Global;
use crate::commands::serve_model::random_key;
use crate::stream::Stream;

/// What came of a campaign.
pub(crate) struct Ended {
    /// All outcomes, including earlier ones, in the order of the cases.
    pub(crate) outcomes: Vec<Outcome>,
    /// What it took, and what ended it.
    pub(crate) progress: Progress,
    /// The fingerprint of the key that sealed its runs.
    pub(crate) seal: Option<Fingerprint>,
    /// Why it could not go on.
    pub(crate) failure: Option<Failure>,
    /// Its sequels, as far as they got.
    pub(crate) sequels: Vec<EndedSequel>,
}

/// A token that is cancelled by Ctrl-C and similar signals. A second one ends the process immediately: everything
/// finished is in the store. Must be called within a Tokio runtime.
pub(crate) fn stop_on_signal() -> CancellationToken {
    let stop = CancellationToken::new();
    let on_interrupt = stop.clone();
    signals::on_each(move |count| match count {
        1 => on_interrupt.cancel(),
        _ => {
            tell!("error: interrupted again: what is finished is kept");
            std::process::exit(ExitCode::Outside as i32);
        }
    });
    stop
}

/// Runs what `next` returns, given all outcomes so far, until it returns nothing. `stop` ends the campaign; finished
/// runs stay in the store. Then runs its sequels.
pub(crate) async fn carry_out(
    prepared: &Prepared,
    global: &Global,
    stop: &CancellationToken,
    next: impl Fn(&[Outcome]) -> Vec<Unit>,
) -> Result<Ended, Failure> {
    let run = &prepared.run;
    let mut watcher = Watcher::new(global, prepared);
    let ended = planproof_campaign::carry_out(run, random_key(), stop, &mut watcher, next).await.or_fail()?;
    let further = match ended.sequels.last() {
        None => String::new(),
        Some(EndedSequel { sequel, finished, .. }) => {
            format!(", and so are {finished} of the {} of its failures", sequel.name())
        }
    };
    // If the store failed, it may contain outcomes that were not reported.
    let finished =
        run.store.campaign(&run.campaign.id).map_or(ended.outcomes.len() as u64, |row| row.finished());
    let hint = format!(
        "{finished} of {} runs{} are finished and kept{further}; resume with `{}`",
        ended.total,
        if prepared.matrix.is_some() { " of this combination" } else { "" },
        prepared.resume_line()
    );
    // A sequel has another key if another process ran it, and no report shows its seal.
    if !run.sequels.is_empty() && ended.failure.is_none() {
        for derived in run.store.derived(&run.campaign.id)? {
            let seal = run.store.last_seal(&derived.id)?.filter(|seal| Some(*seal) != ended.seal);
            if let Some(seal) = seal {
                progress::say(global.quiet, &format!("seal of {}: {seal}", derived.id));
            }
        }
    }
    let failure = ended.failure.map(|halted| describe(halted, &hint));
    let planproof_campaign::CampaignOutcome { outcomes, sequels, progress, seal, .. } = ended;
    Ok(Ended { outcomes, progress, seal, failure, sequels })
}

/// Shows on stderr how a campaign goes.
struct Watcher<'a> {
    global: &'a Global,
    /// It searches for a limit.
    is_search: bool,
    /// Questions to a person use the same stream, so a bar would be in the way.
    is_reviewed: bool,
    bar: ProgressBar,
    failed: u64,
    campaign: &'a Campaign,
    /// Records the campaign's events, if that is requested.
    stream: Option<&'a Stream>,
}

impl<'a> Watcher<'a> {
    fn new(global: &'a Global, prepared: &'a Prepared) -> Self {
        let planproof_campaign::Prepared { campaign, reviewing, options, .. } = &prepared.run;
        let (bar, stream) = (ProgressBar::hidden(), prepared.stream.as_deref());
        let is_search = options.limit.is_some() || options.until_decided;
        Self { global, is_search, is_reviewed: reviewing.is_some(), bar, failed: 0, campaign, stream }
    }
}

impl Watch for Watcher<'_> {
    fn begun(&mut self, begun: &Begun<'_>) {
        let Begun { campaign, cases, repeats, total, seal, done, failed, is_replay } = *begun;
        let times = match repeats {
            1 => String::new(),
            repeats => format!(", each {repeats} times"),
        };
        let resumed = if done == 0 { String::new() } else { format!(", {done} done already") };
        let replay = if is_replay { ", a replay" } else { "" };
        // A search for a limit runs as many of its cases as it takes.
        let most = if self.is_search { "up to " } else { "" };
        let cases = format!("{most}{}", counted(cases, "case"));
        progress::say(self.global.quiet, &format!("campaign {campaign}: {cases}{times}{resumed}{replay}"));
        // Said before the first run to whoever keeps what is said; on a terminal, the report below shows it. If all
        // runs are finished, a further key seals at most what a killed process left without an end.
        if done < total && !terminal::is_interactive() {
            progress::say(self.global.quiet, &format!("seal {seal}"));
        }
        if !self.is_reviewed {
            self.bar = progress::bar(self.global.quiet, total, done);
        }
        self.failed = failed;
        if let Some(stream) = self.stream {
            stream.begun(&self.campaign.agent.name, begun);
        }
    }

    fn checked(&mut self, check: &ModelCheck) {
        // A server that says nothing of itself has no line.
        let summary = check.server.as_ref().map(ServerFacts::summary).filter(|summary| !summary.is_empty());
        if let Some(summary) = summary {
            progress::say(self.global.quiet, &inline(&format!("{}: {summary}", check.model)));
        }
        for finding in check.wrong() {
            let mend = finding.mend.as_ref().map(|mend| format!("; {mend}")).unwrap_or_default();
            progress::warn(&inline(&format!("{}: {}: {}{mend}", check.model, finding.about, finding.seen)));
        }
    }

    fn happened(&mut self, progress: &RunProgress) {
        if let Some(stream) = self.stream {
            stream.happened(self.campaign, progress);
        }
        let RunProgress::Ended(outcome) = progress else { return };
        self.failed += u64::from(outcome.passed() == Some(false));
        self.bar.inc(1);
        self.bar.set_message(format!("{} failed", self.failed));
    }

    fn follows(&self) -> bool {
        self.stream.is_some()
    }

    fn sequel(&mut self, sequel: &dyn Sequel, failures: usize) {
        progress::say(self.global.quiet, &format!("{} {}", sequel.doing(), counted(failures, "failure")));
    }

    fn over(&mut self) {
        self.bar.finish_and_clear();
        if let Some(stream) = self.stream {
            stream.over(&self.campaign.id);
        }
    }
}

/// Why a campaign could not continue, and how to resume it.
fn describe(halted: Halted, hint: &str) -> Failure {
    let error = match halted {
        Halted::Recording(error) => return Failure::outside(format!("{error}\n{hint}")),
        Halted::Store(error) => planproof_engine::EngineError::Store(error),
        // Without the hint: such a campaign must not be resumed.
        Halted::Altered(lines) => {
            let lines: Vec<String> = lines.iter().map(|line| terminal::inline(line)).collect();
            return Failure::outside(format!(
                "finished runs were changed while the campaign ran:\n{}\nits figures cannot be trusted: start a \
                 new one, with the agent isolated from the run store",
                lines.join("\n")
            ));
        }
        Halted::Runs(planproof_engine::EngineError::Stopped) => {
            return Failure::outside(format!("interrupted: {hint}"));
        }
        Halted::Runs(error) => error,
    };
    match failure(error) {
        Failure::Outside(what) => Failure::Outside(format!("{what}\n{hint}")),
        Failure::Usage(what) => Failure::Usage(format!("{what}\n{hint}")),
        other => other,
    }
}
