//! The models of a campaign: what asks one of them goes through a meter, which is wrapped in a recording. Agents are
//! made with models before the meter and the recording are there (`connected.rs`), and are connected to these later.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use planproof_model::Model;
use planproof_model::metering::{Meter, MeteredModel, Spent};
use planproof_model::prices::Prices;
use planproof_model::recording::{Recording, RecordingFile, RecordingModel, ReplayModel};
use planproof_suite::Case;
use planproof_trace::Usage;

use crate::connected::ConnectedModel;
use crate::key::Key;
use crate::world::{KeyNeeded, ModelForm, World};

/// Models that were found, by their names and forms.
type Found<M> = RefCell<BTreeMap<(String, ModelForm), Arc<M>>>;

/// Finds models by their names, the same one for the same name.
pub struct Models<'a, W> {
    world: &'a W,
    key: KeyNeeded,
    recording: Option<Arc<Recording>>,
    found: Found<dyn Model>,
    /// Those that are asked only once they are connected: all but those from a recording.
    connected: Found<ConnectedModel>,
    replays: RefCell<Vec<Arc<ReplayModel>>>,
    /// The answers for a model that knows them, and the seed of its errors.
    answers: RefCell<(Vec<Key>, u64)>,
}

/// The wrapping of each model of a campaign.
pub struct Wrapping<'a> {
    /// Adds up the expenses.
    pub meter: &'a Arc<Meter>,
    /// The prices for them.
    pub prices: &'a Prices,
    /// Where its answers go.
    pub file: Option<&'a RecordingFile>,
}

impl<'a, W: World> Models<'a, W> {
    /// Models that are asked.
    pub fn live(world: &'a W, key: KeyNeeded) -> Self {
        let (found, connected, replays, answers) = Default::default();
        Self { world, key, recording: None, found, connected, replays, answers }
    }

    /// Models that answer from a recording.
    pub(crate) fn recorded(world: &'a W, recording: Arc<Recording>) -> Self {
        Self { recording: Some(recording), ..Self::live(world, KeyNeeded::ByRequests) }
    }

    /// Gives the right answers of these cases to the model that knows them; the seed determines its errors.
    pub(crate) fn hand(&self, cases: &[Arc<dyn Case>], seed: u64) {
        *self.answers.borrow_mut() = (cases.iter().filter_map(Key::new).collect(), seed);
    }

    /// The model of that name. It is asked only once [`connect`](Self::connect) was called. One from a recording is not
    /// connected: it costs nothing and is already recorded.
    ///
    /// # Errors
    /// There is no such model, or its key is missing and needed at once.
    pub fn find(&self, name: &str, form: ModelForm) -> Result<Arc<dyn Model>, W::Error> {
        let plain = self.plain(name, form)?;
        if self.recording.is_some() {
            return Ok(plain);
        }
        let mut connected = self.connected.borrow_mut();
        let model = connected.entry((name.to_owned(), form));
        let model: Arc<ConnectedModel> =
            Arc::clone(model.or_insert_with(|| ConnectedModel::new(plain).into()));
        Ok(model)
    }

    /// The model itself. No request is sent yet.
    fn plain(&self, name: &str, form: ModelForm) -> Result<Arc<dyn Model>, W::Error> {
        let key = (name.to_owned(), form);
        if let Some(model) = self.found.borrow().get(&key) {
            return Ok(Arc::clone(model));
        }
        let model: Arc<dyn Model> = match &self.recording {
            None => {
                let (keys, seed) = &*self.answers.borrow();
                match self.world.model_with_answers(name, form, keys, *seed) {
                    Some(model) => model?,
                    None => self.world.model(name, form, self.key)?,
                }
            }
            Some(recording) => {
                let secrets = self.world.secrets();
                // A recording that was made of another recording has the model under its own name.
                let model = ReplayModel::of_model(Arc::clone(recording), name, secrets.clone())
                    .or_else(|_| ReplayModel::new(Arc::clone(recording), secrets))
                    .map_err(crate::CampaignError::from)?;
                let model = Arc::new(model);
                self.replays.borrow_mut().push(Arc::clone(&model));
                model
            }
        };
        self.found.borrow_mut().insert(key, Arc::clone(&model));
        Ok(model)
    }

    /// From now on, the models that were found can be asked. Later calls change nothing.
    pub fn connect(&self, wrapping: &Wrapping<'_>) {
        for ((name, _), model) in &*self.connected.borrow() {
            let price = wrapping.prices.find(name);
            // The meter is inside the recording, so that an answer from a cache costs nothing.
            let metered = Arc::new(MeteredModel::new(model.plain(), price, Arc::clone(wrapping.meter)));
            model.connect(match wrapping.file {
                None => metered,
                Some(file) => Arc::new(RecordingModel::new(metered, file.clone())),
            });
        }
    }

    /// The names of the models that were found so far.
    pub fn names(&self) -> Vec<String> {
        self.found.borrow().keys().map(|(name, _)| name.clone()).collect()
    }

    /// The models that were found so far.
    pub(crate) fn found(&self) -> Vec<Arc<dyn Model>> {
        self.found.borrow().values().cloned().collect()
    }

    /// The models behind servers, each name once.
    pub(crate) fn to_be_checked(&self) -> Vec<Arc<dyn Model>> {
        let connected = self.connected.borrow();
        let mut names = BTreeSet::new();
        let first = connected.iter().filter(|((name, _), _)| names.insert(name)).map(|(_, model)| model);
        let has_server =
            |model: &&Arc<ConnectedModel>| !model.is_simulated() && !model.name().starts_with("replay/");
        first
            .filter(has_server)
            .map(|model| -> Arc<dyn Model> { Arc::<ConnectedModel>::clone(model) })
            .collect()
    }

    /// The models that answer from a recording.
    pub(crate) fn into_replays(self) -> Vec<Arc<ReplayModel>> {
        self.replays.into_inner()
    }

    /// The expenses; their cost is unknown if there are some without a price.
    pub fn with_cost(&self, spent: Spent, prices: &Prices) -> Spent {
        let is_priced = self.names().iter().all(|name| prices.find(name).is_some());
        if is_priced || spent.usage != Usage::default() { spent } else { Spent { cost: None, ..spent } }
    }
}

/// A cache with content may hold all the answers that are needed.
pub fn key_needed(cache: Option<&Path>) -> KeyNeeded {
    let has_answers = cache.and_then(|file| fs::metadata(file).ok()).is_some_and(|found| found.len() > 0);
    if has_answers { KeyNeeded::ByRequests } else { KeyNeeded::AtOnce }
}
