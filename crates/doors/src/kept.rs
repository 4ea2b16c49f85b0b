//! What a campaign keeps for its suite.

use planproof_campaign::{PlannedSequel, StoredOptions};
use planproof_output::failure::Failure;
use planproof_suite::{OptionUse, Suite};
use serde::de::Error as _;
use serde_json::{Map, Value};

use crate::options::{KeptOptions, has};
use crate::own::{ORDER, OwnOptions};
use crate::sequels::SequelOptions;
use crate::sequels_of;

/// What a campaign keeps for its suite.
#[derive(Debug, Clone, Default)]
pub struct SuiteOptions {
    /// What it keeps of the suite itself, in a form of the suite.
    pub own: OwnOptions,
    /// What the suite keeps for its tools.
    pub kept: KeptOptions,
    /// How its sequels are done, by their options.
    pub sequels: SequelOptions,
}

impl SuiteOptions {
    /// Those of a campaign.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn of(options: &StoredOptions) -> Result<Self, Failure> {
        Self::read(options)
            .map_err(|error| Failure::usage(format!("the options of the campaign are invalid: {error}")))
    }

    /// The same.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn read(options: &StoredOptions) -> Result<Self, serde_json::Error> {
        let mut of_suite = options.of_suite.clone();
        let (mut kept, mut sequels) = (KeptOptions::default(), SequelOptions::new());
        for name in of_suite.keys().cloned().collect::<Vec<_>>() {
            let value = of_suite.get(&name).and_then(Value::as_str).map(str::to_owned);
            // What has another type is left, and refused below.
            if let Some(value) = value.filter(|_| has(&name, OptionUse::Tools)) {
                of_suite.remove(&name);
                kept.0.insert(name, value);
            }
        }
        for sequel in sequels_of(options.suite.as_deref().unwrap_or(ORDER)) {
            if let Some(how) = of_suite.remove(sequel.option()) {
                sequel.check(&how).map_err(serde_json::Error::custom)?;
                sequels.insert(sequel.option().to_owned(), how);
            }
        }
        let own = OwnOptions::read(options.suite.as_deref(), of_suite)?;
        Ok(Self { own, kept, sequels })
    }

    /// As a campaign keeps them.
    pub fn to_map(&self) -> Map<String, Value> {
        let mut map = self.own.to_map();
        map.extend(self.sequels.iter().map(|(name, how)| (name.clone(), how.clone())));
        map.extend(self.kept.0.iter().map(|(name, value)| (name.clone(), value.clone().into())));
        map
    }

    /// The sequels that a campaign of this suite has with these options, before any of them is begun.
    pub fn planned(&self, suite: &dyn Suite) -> Vec<PlannedSequel> {
        let sequels = suite.sequels().into_iter();
        let planned = sequels.filter_map(|sequel| {
            let how = self.sequels.get(sequel.option())?.clone();
            Some(PlannedSequel { sequel, how, begun: None })
        });
        planned.collect()
    }
}
