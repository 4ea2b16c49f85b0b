//! Running a prepared campaign.

use std::num::NonZeroUsize;
use std::sync::Arc;

use planproof_agents::ServedModel;
use planproof_engine::{CampaignEnd, EngineError, Outcome, RunProgress, Setup, Supervision, Unit, Work};
use planproof_isolation::{Account, Layer};
use planproof_model::check::{Depth, ModelCheck, check, conversation_tokens};
use planproof_model::recording::RecordingError;
use planproof_store::{
    DamagedRun, Fingerprint, Progress, SEAL_SEED_BYTES, SealKey, Sealed, Signatures, Store, StoreError,
    Writer,
};
use planproof_suite::{Case, Sequel};
use planproof_tools::mcp::TOKEN_BYTES;
use planproof_trace::Usage;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

use crate::error::CampaignError;
use crate::prepared::Prepared;
use crate::sequels::{self, EndedSequel, SequelWatch};
use crate::stored::name_damaged;

/// What came of a campaign.
pub struct CampaignOutcome {
    /// All outcomes, including earlier ones, in the order of the cases.
    pub outcomes: Vec<Outcome>,
    /// Its sequels, as far as they got; those that were not begun are left out.
    pub sequels: Vec<EndedSequel>,
    /// How many runs it has.
    pub total: u64,
    /// What it took, and what ended it.
    pub progress: Progress,
    /// The fingerprint of the key that sealed its runs: its own, or an earlier one if nothing was left to run.
    pub seal: Option<Fingerprint>,
    /// Why it could not continue. Everything finished is kept.
    pub failure: Option<Halted>,
}

/// Why a campaign could not go on.
#[derive(Debug, Error)]
pub enum Halted {
    /// Its recording cannot be written.
    #[error(transparent)]
    Recording(RecordingError),
    /// Its runs cannot continue, or it was asked to stop.
    #[error(transparent)]
    Runs(EngineError),
    /// What it came to cannot be kept.
    #[error(transparent)]
    Store(StoreError),
    /// The store no longer holds what was written into it while it ran; one line per difference.
    #[error("{}", .0.join("\n"))]
    Altered(Vec<String>),
}

/// Whoever watches a campaign.
pub trait Watch {
    /// It begins, or goes on.
    fn begun(&mut self, begun: &Begun<'_>);

    /// A model and its server were checked.
    fn checked(&mut self, _check: &ModelCheck) {}

    /// An event of the campaign: runs are planned, one begins, or has ended and is stored.
    fn happened(&mut self, progress: &RunProgress);

    /// Whether each event of each run is to be reported as it is recorded.
    fn follows(&self) -> bool {
        false
    }

    /// Nothing more is run, except for its sequels.
    fn over(&mut self);

    /// A sequel begins, or goes on, with this number of failures.
    fn sequel(&mut self, _sequel: &dyn Sequel, _failures: usize) {}
}

/// A campaign that begins or goes on.
#[derive(Debug, Clone, Copy)]
pub struct Begun<'a> {
    pub campaign: &'a str,
    /// How many cases it has.
    pub cases: u64,
    /// How often each is run.
    pub repeats: u32,
    /// How many runs that makes.
    pub total: u64,
    /// The fingerprint of the key that seals its runs.
    pub seal: Fingerprint,
    /// How many are done already.
    pub done: u64,
    /// How many of those failed.
    pub failed: u64,
    /// Whether the answers come from a recording.
    pub is_replay: bool,
}

/// Writes the outcomes of runs to places other than the store, which has them already.
pub struct Notes<'a> {
    prepared: &'a Prepared,
    writer: Writer,
    stop: CancellationToken,
    budgets: String,
    unwritten: Option<RecordingError>,
}

impl Notes<'_> {
    /// Records the outcome of a run of this case.
    pub fn note(&mut self, case: &dyn Case, outcome: &Outcome) {
        if let Some(recording) = &self.prepared.recording
            && let Err(error) = recording.write_verdict(case, outcome)
        {
            // The first error is reported. A campaign that cannot be recorded as a whole stops.
            self.unwritten.get_or_insert(error);
            self.stop.cancel();
        }
        // A failure of the store ends the campaign with the next run.
        let progress = self.prepared.progress(&self.budgets);
        drop(self.writer.set_progress(&self.prepared.campaign.id, &progress));
    }

    /// Whether all could be written so far.
    pub fn are_whole(&self) -> bool {
        self.unwritten.is_none()
    }
}

/// Runs what `next` returns, given all outcomes so far, until it returns nothing; then runs the sequels that the
/// campaign has. Finished runs stay in the store, even if `stop` is cancelled. `key` is required in requests to a
/// served model.
///
/// # Errors
/// The store cannot be written at all.
pub async fn carry_out(
    prepared: &Prepared,
    key: String,
    stop: &CancellationToken,
    watch: &mut impl Watch,
    next: impl Fn(&[Outcome]) -> Vec<Unit>,
) -> Result<CampaignOutcome, CampaignError> {
    let writer = prepared.store.writer()?;
    let seal = writer.seal(seal_key(prepared)?);
    // Before any agent runs, which could write to the file.
    writer.resume_seals(&prepared.campaign.id);
    let mut campaign = prepared.campaign.clone();
    campaign.served = prepared.served.as_ref().map(|(name, served)| ServedModel {
        model: Arc::clone(&served.model),
        name: name.clone(),
        key: key.clone().into(),
    });
    let supervision = Supervision {
        // The key was made up for this campaign, and no trace may hold it either.
        secrets: if prepared.served.is_some() {
            prepared.secrets.with(key)
        } else {
            prepared.secrets.clone()
        },
        meter: prepared.meter.clone(),
        deadline: prepared.budgets.deadline(prepared.began),
        setup: Arc::new(set_up(prepared)),
        reviewing: prepared.reviewing.clone(),
    };
    let (mut outcomes, mut earlier) = (prepared.finished.clone(), prepared.earlier.clone());
    let total = campaign.units().count() as u64;
    watch.begun(&Begun {
        campaign: &campaign.id,
        cases: campaign.cases.len() as u64,
        repeats: campaign.repeats.get(),
        total,
        seal,
        done: outcomes.len() as u64,
        failed: outcomes.iter().filter(|outcome| outcome.passed() == Some(false)).count() as u64,
        is_replay: prepared.replayed.is_some(),
    });
    let mut budgets = prepared.budgets.clone();
    // The account is about runs, so the machine of today counts only if something is run on it.
    if let Some(isolation) = isolation(prepared).filter(|_| !next(&outcomes).is_empty()) {
        budgets.note_isolation(isolation);
    }
    if !next(&outcomes).is_empty() {
        for check in check_models(prepared, stop).await {
            watch.checked(&check);
            // Conversations that take turns in a slot are read again from their beginning each time.
            let slots =
                check.server.as_ref().and_then(|facts| NonZeroUsize::new(facts.slots?.try_into().ok()?));
            if let Some(slots) = slots.filter(|_| prepared.options.concurrency_is_default) {
                campaign.concurrency = campaign.concurrency.min(slots);
            }
            if let Some(facts) = check.server {
                budgets.note_server(&check.model, facts);
            }
        }
    }
    let mut notes = Notes {
        prepared,
        writer: writer.clone(),
        stop: stop.clone(),
        budgets: budgets.to_json(&prepared.secrets)?,
        unwritten: None,
    };
    // Awaited, because a campaign that is killed before its first run would otherwise resume without its budgets.
    writer.set_progress(&campaign.id, &prepared.progress(&notes.budgets)).await?;
    prepared.watch_spending(Some(&writer));
    let mut end = loop {
        let units = next(&outcomes);
        if units.is_empty() {
            break Ok(CampaignEnd::Complete);
        }
        let before = outcomes.len();
        // Only the first round finds runs that were cut off before: a run begun later ends in its round.
        let earlier = std::mem::take(&mut earlier);
        let work = Work::new(Some(writer.clone()), &units, stop)
            .resuming(earlier)
            .under(supervision.clone())
            .followed(watch.follows());
        let end = campaign
            .run(work, |progress| {
                watch.happened(&progress);
                let RunProgress::Ended(outcome) = progress else { return };
                if let Some(case) = campaign.cases.get(outcome.ordinal as usize) {
                    notes.note(&**case, &outcome);
                }
                outcomes.push(*outcome);
            })
            .await;
        // Runs that were refused a request would be repeated for ever.
        if !matches!(end, Ok(CampaignEnd::Complete)) || outcomes.len() == before {
            break end;
        }
    };
    watch.over();
    // The outcomes were added in the order in which their runs ended.
    outcomes.sort_by_key(Outcome::unit);
    let mut sequels = Vec::new();
    for planned in &prepared.sequels {
        // What ended one of them early, or a recording that can no longer be written, also prevents the next.
        if !matches!(end, Ok(CampaignEnd::Complete)) || !notes.are_whole() {
            break;
        }
        let with =
            SequelWatch { writer: writer.clone(), stop, supervision: supervision.clone(), notes: &mut notes };
        let begins = |failures| watch.sequel(&*planned.sequel, failures);
        let (sequel, ended) = sequels::run(prepared, planned, (&campaign, &outcomes), with, begins).await;
        sequels.push(sequel);
        end = ended;
    }
    let mut found = budgets;
    let refusing = prepared.asked.iter().filter(|model| !model.takes_temperature());
    found.note_without_temperature(refusing.map(|model| model.name().to_owned()));
    found.note_changed_requests(prepared.asked.iter().flat_map(|model| model.changed_requests()));
    found.note_broken_setup(supervision.setup.broken());
    let mut progress = prepared.progress(&found.to_json(&prepared.secrets)?);
    // A campaign that was stopped after its last run is complete, unless it has sequels.
    let is_complete = next(&outcomes).is_empty()
        && (matches!(end, Ok(CampaignEnd::Complete)) || prepared.sequels.is_empty());
    progress.ended_by = match &end {
        _ if is_complete => {
            // A complete replay ended by what ended the recorded campaign.
            prepared.replayed.as_ref().and_then(|replayed| replayed.recorded.ended_by.clone())
        }
        Ok(CampaignEnd::BudgetUsedUp) => prepared.meter.as_ref().and_then(|meter| meter.used_up()),
        Ok(CampaignEnd::DeadlineReached) => Some(prepared.budgets.time()),
        Ok(CampaignEnd::Complete | CampaignEnd::SetupBroken) | Err(_) => None,
    };
    let kept = writer.set_progress(&campaign.id, &progress).await;
    prepared.watch_spending(None);
    if kept.is_err() {
        // The next resumption needs this if possible. The reason for a failure is reported anyway.
        let Progress { served_input_tokens, served_output_tokens, .. } = progress;
        let served = Usage::new(served_input_tokens, served_output_tokens);
        let _ = prepared.store.keep_spending(&campaign.id, progress.spent, served);
    }
    let sealed = writer.end_seals().await;
    let failure = match (notes.unwritten, end, kept) {
        // A recording that cannot be written stops the runs, so it is the cause of the error that they report.
        (Some(error), ..) => Some(Halted::Recording(error)),
        (None, Err(error), _) => Some(Halted::Runs(error)),
        (None, Ok(_), Err(error)) => Some(Halted::Store(error)),
        (None, Ok(_), Ok(())) => prepared.recording.as_ref().and_then(|recording| {
            recording.write_end(progress.ended_by.as_deref()).err().map(Halted::Recording)
        }),
    };
    let (seal, altered) = match (sealed, &failure) {
        (Ok(sealed), _) => {
            // Our own agents cannot write the file, and reading it back takes longer than simulated runs.
            let in_full = !campaign.agent.agent.is_in_process();
            (prepared.store.last_seal(&campaign.id)?, altered(&prepared.store, &sealed, in_full)?)
        }
        // What failed is reported already.
        (Err(_), Some(_)) => (Some(seal), Vec::new()),
        (Err(error), None) => return Err(error.into()),
    };
    let failure = failure.or_else(|| (!altered.is_empty()).then_some(Halted::Altered(altered)));
    Ok(CampaignOutcome { outcomes, sequels, total, progress, seal, failure })
}

/// Checks the models and their servers. Those that call tools through their own interface are asked with tools.
async fn check_models(prepared: &Prepared, stop: &CancellationToken) -> Vec<ModelCheck> {
    let mut checks = Vec::new();
    if prepared.to_check.is_empty() {
        return checks;
    }
    let needed = prepared.campaign.cases.iter().filter_map(|case| tokens_of_case(&**case)).max();
    let depth = match prepared.is_asked_with_tools {
        true if prepared.reads_text_calls => Depth::QuickWithTextCalls,
        true => Depth::Quick,
        false => Depth::Server,
    };
    for model in &prepared.to_check {
        let found = stop.run_until_cancelled(check(&**model, needed, depth)).await;
        checks.extend(found);
    }
    checks
}

/// The tokens of a conversation about a case in which each of its tools is called once; `None` if its tools cannot be
/// made, which its run will report.
fn tokens_of_case(case: &dyn Case) -> Option<u64> {
    let toolbox = case.toolbox().ok()?;
    let tools: Arc<[_]> = toolbox.tools().iter().cloned().collect();
    let calls = tools.len();
    Some(conversation_tokens(case.prompt(), tools, calls))
}

/// A new key that seals the campaign, drawn like its tokens.
fn seal_key(prepared: &Prepared) -> Result<SealKey, CampaignError> {
    let draw = prepared.campaign.token;
    let mut seed = [0; SEAL_SEED_BYTES];
    for part in seed.chunks_mut(TOKEN_BYTES) {
        part.iter_mut().zip(draw()).for_each(|(to, from)| *to = from);
    }
    SealKey::from_seed(&seed)
        .ok_or_else(|| CampaignError::outside("cannot make a key that seals the campaign"))
}

/// How the store differs from what was sealed, as the sealing process knows it: one line per difference. Without
/// `in_full` only the digests of runs are compared, and the runs are not read. Signatures are left to later readers
/// of the campaign: a chain that equals the one in memory is right.
fn altered(store: &Store, sealed: &[Sealed], in_full: bool) -> Result<Vec<String>, StoreError> {
    let mut lines = Vec::new();
    for sealed in sealed {
        let id = &sealed.campaign;
        let Some(seals) = store.seals(id, Signatures::None)? else {
            lines.push(format!("the seals of campaign {id} are gone"));
            continue;
        };
        lines.extend(seals.faults.iter().map(|fault| format!("campaign {id}: {fault}")));
        if !seals.are_of(sealed) {
            lines.push(format!("campaign {id}: its chain is not the one that was written"));
        }
        let mut damaged = seals.damaged;
        for run in in_full.then(|| store.runs(id)).transpose()?.into_iter().flatten() {
            let run = run?;
            damaged.extend(run.damage.map(|damage| DamagedRun { unit: run.unit, damage }));
        }
        // A run may be in both lists. The sort is stable, so what the seals say about it is kept.
        damaged.sort_by_key(|run| run.unit);
        damaged.dedup_by_key(|run| run.unit);
        let named = name_damaged(store, id, &damaged);
        lines.extend(named.iter().map(|run| format!("campaign {id}, case {}: {}", run.case, run.why)));
    }
    Ok(lines)
}

/// The isolation of the agent's program; its seed is secret only if the program cannot read it.
fn isolation(prepared: &Prepared) -> Option<Account> {
    let mut account = prepared.campaign.agent.agent.isolation()?.clone();
    if prepared.options.seed_is_secret {
        let readable = || "the run store, which holds it, is not hidden".to_owned();
        let outcome = if account.store_hidden { Ok(()) } else { Err(readable()) };
        account.note(Layer::SecretSeed, outcome);
    }
    Some(account)
}

/// What is known about the set-up beforehand. Answers from a recording need no set-up, but a program does.
fn set_up(prepared: &Prepared) -> Setup {
    if prepared.replayed.is_some() && prepared.campaign.agent.agent.is_in_process() {
        return Setup::trusted();
    }
    Setup::that_has_worked(prepared.finished.iter().any(|outcome| outcome.verdict.is_ok()))
}
