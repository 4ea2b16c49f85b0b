//! The models of a campaign: each with a meter around it, and a recording around that.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use planproof_agents::AgentSpec;
use planproof_model::metering::{Meter, MeteredModel};
use planproof_model::prices::Prices;
use planproof_model::recording::{Recording, RecordingFile, RecordingModel, ReplayModel};
use planproof_model::{KeepsReplies, Model};
use planproof_sim::{GoldModel, gold_error_rate};
use planproof_suite::{Case, Gold};

use crate::arguments::ModelArguments;
use crate::failure::Failure;
use crate::select::{KeyNeeded, ModelForm};
use crate::{secrets, select};

/// Finds models by their names, the same one for the same name.
pub(in crate::commands) struct Models<'a> {
    asking: &'a ModelArguments,
    key: KeyNeeded,
    recording: Option<Arc<Recording>>,
    found: RefCell<BTreeMap<(String, ModelForm), Arc<dyn Model>>>,
    replays: RefCell<Vec<Arc<ReplayModel>>>,
    /// What `sim/gold` is handed, and the seed by which it errs.
    gold: RefCell<(Vec<Key>, u64)>,
}

/// A prompt with the right answer to it.
type Key = (String, Gold);

/// Whether one of the models of these names is handed the right answers.
pub(super) fn is_handed_answers(agent: &AgentSpec, served: Option<&str>) -> bool {
    [agent.model(), served].into_iter().flatten().any(|name| gold_error_rate(name).is_some())
}

/// What is put around each model of a campaign.
pub(in crate::commands) struct Around<'a> {
    pub(in crate::commands) meter: &'a Arc<Meter>,
    pub(in crate::commands) prices: &'a Prices,
    pub(in crate::commands) file: Option<&'a RecordingFile>,
}

impl<'a> Models<'a> {
    /// Models that are asked.
    pub(in crate::commands) fn live(asking: &'a ModelArguments, key: KeyNeeded) -> Self {
        let (found, replays, gold) = Default::default();
        Self { asking, key, recording: None, found, replays, gold }
    }

    /// Hands the right answers of these cases to `sim/gold`, which errs by this seed.
    pub(super) fn hand(&self, cases: &[Arc<dyn Case>], seed: u64) {
        let key = |case: &Arc<dyn Case>| Some((case.prompt().to_owned(), case.gold()?));
        *self.gold.borrow_mut() = (cases.iter().filter_map(key).collect(), seed);
    }

    /// The simulated model of that name that is handed the right answers.
    fn handed(&self, name: &str, form: ModelForm) -> Option<Result<Arc<dyn Model>, Failure>> {
        let rate = match gold_error_rate(name)? {
            Ok(rate) => rate,
            Err(error) => return Some(Err(Failure::usage(error.to_string()))),
        };
        let (keys, seed) = self.gold.borrow().clone();
        let model = GoldModel::new(keys, rate, seed);
        Some(Ok(match form {
            ModelForm::Chat => Arc::new(model),
            ModelForm::KeepsReplies => Arc::new(KeepsReplies::new(Arc::new(model))),
        }))
    }

    /// Models that answer from a recording.
    pub(super) fn recorded(asking: &'a ModelArguments, recording: Arc<Recording>) -> Self {
        Self { recording: Some(recording), ..Self::live(asking, KeyNeeded::ByRequests) }
    }

    /// The model itself. Nothing is asked of it yet.
    pub(in crate::commands) fn plain(&self, name: &str, form: ModelForm) -> Result<Arc<dyn Model>, Failure> {
        let key = (name.to_owned(), form);
        if let Some(model) = self.found.borrow().get(&key) {
            return Ok(Arc::clone(model));
        }
        let model: Arc<dyn Model> = match &self.recording {
            None => match self.handed(name, form) {
                Some(model) => model?,
                None => select::model(name, form, self.asking, self.key)?,
            },
            Some(recording) => {
                // A recording that was made of another one has the model by its own name.
                let model = ReplayModel::of_model(Arc::clone(recording), name, secrets::held())
                    .or_else(|_| ReplayModel::new(Arc::clone(recording), secrets::held()))?;
                let model = Arc::new(model);
                self.replays.borrow_mut().push(Arc::clone(&model));
                model
            }
        };
        self.found.borrow_mut().insert(key, Arc::clone(&model));
        Ok(model)
    }

    /// The model with all around it. One from a recording has nothing around it: it costs nothing and is recorded.
    pub(in crate::commands) fn surrounded(
        &self,
        name: &str,
        form: ModelForm,
        around: &Around<'_>,
    ) -> Result<Arc<dyn Model>, Failure> {
        let plain = self.plain(name, form)?;
        if self.recording.is_some() {
            return Ok(plain);
        }
        let price = around.prices.find(name);
        let metered = Arc::new(MeteredModel::new(plain, price, Arc::clone(around.meter)));
        Ok(match around.file {
            None => metered,
            Some(file) => Arc::new(RecordingModel::new(metered, file.clone())),
        })
    }

    /// The names of the models that were found so far.
    pub(in crate::commands) fn names(&self) -> Vec<String> {
        self.found.borrow().keys().map(|(name, _)| name.clone()).collect()
    }

    /// The models that were found so far.
    pub(super) fn found(&self) -> Vec<Arc<dyn Model>> {
        self.found.borrow().values().cloned().collect()
    }

    /// The models that answer from a recording.
    pub(super) fn into_replays(self) -> Vec<Arc<ReplayModel>> {
        self.replays.into_inner()
    }
}
