//! Sequels of a campaign: what is asked for, what is known of them, and their runs, which are derived campaigns.

use std::collections::BTreeMap;
use std::sync::Arc;

use planproof_engine::rounds::{RoundWatch, run_rounds};
use planproof_engine::{
    Campaign, CampaignEnd, EngineError, Memory, Outcome, Supervision, Unit, card_to_json,
};
use planproof_store::{DerivedCase, NewCampaign, NewCase, Store, StoreError, Writer};
use planproof_suite::{Case, CaseError, Concluded, Followed, OpenSequel, RunResult, Sequel, SequelCase};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::carry_out::Notes;
use crate::create::milliseconds_now;
use crate::error::CampaignError;
use crate::prepared::Prepared;
use crate::stored::{StoredCampaign, damaged};

/// Stands between the id of a campaign and the name of its sequel.
const SEPARATOR: char = '.';

/// The id of the campaign derived from this one by a sequel of that name.
pub fn sequel_id(campaign: &str, sequel: &str) -> String {
    format!("{campaign}{SEPARATOR}{sequel}")
}

/// The id of the campaign that the one with this id is derived from; `None` if it is derived from none.
pub fn sequel_of(id: &str) -> Option<&str> {
    let (campaign, name) = id.rsplit_once(SEPARATOR)?;
    // The campaigns of a matrix have numbers there.
    name.starts_with(|first: char| first.is_ascii_alphabetic()).then_some(campaign)
}

/// A sequel that a campaign has.
#[derive(Clone)]
pub struct PlannedSequel {
    pub sequel: Arc<dyn Sequel>,
    /// How it is done.
    pub how: Value,
    /// What was run for it already, if it was begun.
    pub begun: Option<BegunSequel>,
}

/// What was run for a sequel.
#[derive(Clone)]
pub struct BegunSequel {
    /// Its cases, in the order in which they were made.
    pub cases: Vec<SequelCase>,
    /// What came of their runs.
    pub outcomes: Vec<Outcome>,
}

/// A campaign that has sequels, as they see it.
#[derive(Clone, Copy)]
pub struct Leading<'a> {
    pub id: &'a str,
    pub cases: &'a [Arc<dyn Case>],
    pub outcomes: &'a [Outcome],
    /// The seed of its runs.
    pub seed: u64,
    /// What it keeps for its suite.
    pub of_suite: &'a Map<String, Value>,
}

impl Leading<'_> {
    fn open(&self, sequel: &dyn Sequel, how: &Value) -> Result<Box<dyn OpenSequel>, CaseError> {
        let results: Vec<RunResult> = self.outcomes.iter().map(Outcome::result).collect();
        let of = Followed {
            id: &sequel_id(self.id, sequel.name()),
            cases: self.cases,
            results: &results,
            seed: self.seed,
            options: self.of_suite,
        };
        sequel.open(&of, how)
    }
}

impl BegunSequel {
    /// The sequel of that name that the store has of a campaign, if it has one: its cases and outcomes, and how it was
    /// done. `read` reads the derived campaign back.
    ///
    /// # Errors
    /// The store fails, or the derived campaign does not say how it was done.
    pub fn find<E: From<CampaignError> + From<StoreError>>(
        store: &Store,
        campaign: &str,
        sequel: &dyn Sequel,
        read: impl FnOnce(planproof_store::CampaignRow) -> Result<StoredCampaign, E>,
    ) -> Result<Option<(Self, Value)>, E> {
        let id = sequel_id(campaign, sequel.name());
        let Some(row) = store.derived(campaign)?.into_iter().find(|row| row.id == id) else {
            return Ok(None);
        };
        let derived = read(row)?;
        // From the options of the derived campaign, because the sequel may have been requested only on resume.
        let how = derived.options.of_suite.get(sequel.option()).cloned();
        let how = how.ok_or_else(|| {
            damaged(&derived.row, &format!("it does not say how the {} was done", sequel.name()))
        })?;
        let origins = store.origins(&derived.row.id)?;
        if origins.len() != derived.cases.len() {
            return Err(damaged(&derived.row, "it has another number of cases than of their origins").into());
        }
        let both = derived.cases.into_iter().zip(origins);
        // A case without an origin was not made by a sequel, which its suite finds out from an empty one.
        let cases = both.map(|(case, origin)| SequelCase { case, origin: origin.unwrap_or_default() });
        Ok(Some((Self { cases: cases.collect(), outcomes: derived.outcomes }, how)))
    }

    /// The scored runs, with their cases.
    pub(crate) fn scored(&self) -> impl Iterator<Item = (&Arc<dyn Case>, &Outcome)> {
        let scored = self.outcomes.iter().filter(|outcome| outcome.verdict.is_ok());
        scored.filter_map(|outcome| Some((&self.cases.get(outcome.ordinal as usize)?.case, outcome)))
    }
}

impl PlannedSequel {
    /// What it came to in this campaign so far; `None` if it was not begun.
    ///
    /// # Errors
    /// Its cases are not those of such a sequel.
    pub fn concluded(&self, of: &Leading<'_>) -> Result<Option<Concluded>, CaseError> {
        let Some(begun) = &self.begun else { return Ok(None) };
        let open = of.open(&*self.sequel, &self.how)?;
        let results: Vec<RunResult> = begun.outcomes.iter().map(Outcome::result).collect();
        Ok(Some(open.rounds(&begun.cases, &results)?.conclude()))
    }

    /// Whether nothing is left to be run for it.
    ///
    /// # Errors
    /// Those of [`concluded`](Self::concluded).
    pub(crate) fn is_over(&self, of: &Leading<'_>) -> Result<bool, CaseError> {
        match self.concluded(of)? {
            Some(concluded) => Ok(concluded.is_complete),
            None => Ok(of.open(&*self.sequel, &self.how)?.failures() == 0),
        }
    }
}

/// A sequel after its runs.
pub struct EndedSequel {
    pub sequel: Arc<dyn Sequel>,
    pub cases: Vec<Arc<dyn Case>>,
    /// What came of their runs, in the order of the cases.
    pub outcomes: Vec<Outcome>,
    /// How many runs of it are finished.
    pub finished: usize,
    /// What it came to; `None` if it could not be run.
    pub concluded: Option<Concluded>,
}

/// What the runs of a sequel take part in.
pub(crate) struct SequelWatch<'a, 'n> {
    pub(crate) writer: Writer,
    pub(crate) stop: &'a CancellationToken,
    pub(crate) supervision: Supervision,
    pub(crate) notes: &'a mut Notes<'n>,
}

/// Runs what is left of a sequel of this campaign with these outcomes. `begins` gets the number of failures that it
/// looks at. Returns how its runs ended as well.
pub(crate) async fn run(
    prepared: &Prepared,
    planned: &PlannedSequel,
    (campaign, outcomes): (&Campaign, &[Outcome]),
    watch: SequelWatch<'_, '_>,
    begins: impl FnOnce(usize),
) -> (EndedSequel, Result<CampaignEnd, EngineError>) {
    let sequel = &planned.sequel;
    let mut ended = EndedSequel {
        sequel: Arc::clone(sequel),
        cases: Vec::new(),
        outcomes: Vec::new(),
        finished: 0,
        concluded: None,
    };
    // Unscored runs are repeated: the external failure may be over.
    let scored = planned.begun.iter().flat_map(BegunSequel::scored).map(|(_, outcome)| outcome);
    let mut all: BTreeMap<Unit, Outcome> = scored.map(|it| (it.unit(), it.clone())).collect();
    ended.finished = all.len();
    let failed = |source| EngineError::Sequel { name: sequel.name(), source };
    let leading = Leading {
        id: &campaign.id,
        cases: &campaign.cases,
        outcomes,
        seed: campaign.seed,
        of_suite: &prepared.options.of_suite,
    };
    let open = match leading.open(&**sequel, &planned.how) {
        Ok(open) => open,
        Err(error) => return (ended, Err(failed(error))),
    };
    begins(open.failures());
    let known = planned.begun.as_ref().map_or(&[][..], |begun| &begun.cases);
    let results: Vec<RunResult> = all.values().map(Outcome::result).collect();
    let mut rounds = match open.rounds(known, &results) {
        Ok(rounds) => rounds,
        Err(error) => return (ended, Err(failed(error))),
    };
    let derived = Campaign {
        places: None,
        id: sequel_id(&campaign.id, sequel.name()),
        // Its runs have other seeds than those of the original campaign.
        seed: open.seed(),
        repeats: open.repeats(),
        // A run recalls what the failed run could recall, so that its case is the only difference between them.
        memory: campaign.memory.clone().map(Memory::without_learning),
        ..campaign.clone()
    };
    let SequelWatch { writer, stop, supervision, notes } = watch;
    let watch = RoundWatch { store: Some(writer), stop, supervision };
    // A replay sends no requests that were not sent when it was recorded.
    let may_run = |made: &SequelCase, repeat: u32| prepared.may_follow(&made.case.card().id, repeat);
    let mut keeper = Keeper { prepared, derived: &derived, is_created: false };
    let keep = |first: u32, made: &[SequelCase]| keeper.keep(first, made);
    let observe = |made: &SequelCase, outcome: &Outcome| {
        ended.finished += 1;
        notes.note(&*made.case, outcome);
        all.insert(outcome.unit(), outcome.clone());
    };
    let end = run_rounds(&mut rounds, &derived, watch, may_run, keep, observe).await;
    ended.cases = rounds.cases().iter().map(|made| Arc::clone(&made.case)).collect();
    ended.outcomes = all.into_values().collect();
    ended.concluded = end.is_ok().then(|| rounds.conclude());
    (ended, end)
}

/// Puts the cases of a derived campaign into the store.
struct Keeper<'a> {
    prepared: &'a Prepared,
    derived: &'a Campaign,
    is_created: bool,
}

impl Keeper<'_> {
    /// Adds cases after the `first` ones that exist.
    fn keep(&mut self, first: u32, made: &[SequelCase]) -> Result<(), StoreError> {
        let Self { prepared: Prepared { campaign, options, store, secrets, .. }, derived, .. } = *self;
        // Created with its first cases, so that a campaign without failures leads to none.
        if !self.is_created && !store.derived(&campaign.id)?.iter().any(|row| row.id == derived.id) {
            let mut options = options.clone();
            (options.seed, options.limit, options.fail_over) = (derived.seed, None, None);
            // Nobody typed a command for it, and what its runs take is booked with the campaign that led to it.
            let row = NewCampaign {
                id: &derived.id,
                created_ms: milliseconds_now(),
                command_line: "",
                agent: &campaign.agent.name,
                model: campaign.agent.model.as_deref(),
                simulated: campaign.agent.simulated,
                // All its keys are strings, so rendering cannot fail.
                options: &options.to_json(secrets).unwrap_or_default(),
                repeats: derived.repeats.get(),
                budgets: "{}",
            };
            store.create_derived(&campaign.id, &row)?;
        }
        self.is_created = true;
        let cases: Vec<DerivedCase> = made.iter().map(derived_case).collect();
        store.add_cases(&derived.id, first, &cases)
    }
}

fn derived_case(made: &SequelCase) -> DerivedCase {
    let SequelCase { case, origin } = made;
    DerivedCase {
        case: NewCase {
            id: case.card().id.clone(),
            json: case.to_line(),
            summary: Some(card_to_json(case.card())),
        },
        origin: origin.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequel_has_a_name_and_a_campaign_of_a_matrix_a_number() {
        assert_eq!(sequel_of(&sequel_id("1a2273b196cb0", "dissection")), Some("1a2273b196cb0"));
        assert_eq!(sequel_of(&sequel_id("1a2273b196cb0.2", "shrinking")), Some("1a2273b196cb0.2"));
        assert_eq!(sequel_of("1a2273b196cb0.2"), None);
        assert_eq!(sequel_of("1a2273b196cb0"), None);
    }
}
