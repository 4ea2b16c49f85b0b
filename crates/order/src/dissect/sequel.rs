//! The dissection as a sequel of campaigns.

use std::num::NonZeroU32;
use std::sync::Arc;

use planproof_engine::Unit;
use planproof_engine::rounds::Rounds as _;
use planproof_suite::studies::Study;
use planproof_suite::{
    CaseError, Concluded, Followed, OpenSequel, OptionForm, OptionUse, RunResult, Sequel, SequelCase,
    SequelRounds, SuiteOption,
};
use planproof_synth::{Mutator, TopicBank, Wordings};
use serde::Deserialize as _;
use serde_json::Value;

use super::{DissectOptions, DissectionRun, Search, TRIALS_MAX, pick_errors, report};
use crate::outcome::of_result;
use crate::{LedTo, OrderCase, OrderOutcome, OrderReader};

/// The key under which a campaign keeps the user's own topics.
const TOPICS: &str = "topics";

const DISSECT: SuiteOption = SuiteOption {
    name: "dissect",
    form: OptionForm::Switch,
    of: &[OptionUse::Sequel],
    value: "",
    help: "Find the cause of each failure",
    details: "Reruns the failed case, then runs variants of it: with other words, with another topic, and with another \
              paragraph of the same meaning. With `--resume`, this also works for a campaign that finished without \
              `--dissect`. With `--compat original`, the dissection is the published algorithm, which names the \
              constraint as the cause as soon as one variant with another paragraph fails.",
};

const VARIANTS: SuiteOption = SuiteOption {
    name: "dissect-k",
    form: OptionForm::Number { least: 1, most: TRIALS_MAX },
    of: &[OptionUse::Sequel],
    value: "N",
    help: "Number of variants of each kind per failure; by default 5",
    details: "",
};

const RERUNS: SuiteOption = SuiteOption {
    name: "dissect-reruns",
    form: OptionForm::Number { least: 0, most: TRIALS_MAX },
    of: &[OptionUse::Sequel],
    value: "N",
    help: "Number of reruns of each failed case, before its variants; by default 3",
    details: "",
};

const ERRORS_MAX: SuiteOption = SuiteOption {
    name: "dissect-max",
    form: OptionForm::Number { least: 1, most: u32::MAX },
    of: &[OptionUse::Sequel],
    value: "N",
    help: "Maximum number of failures to dissect; by default all",
    details: "If there are more, this many are drawn with the seed.",
};

/// What a dissection can be asked for, beside `compat`: whom it follows.
pub(crate) const OPTIONS: [SuiteOption; 4] = [DISSECT, VARIANTS, RERUNS, ERRORS_MAX];

/// The option, of agents otherwise, that asks for the published algorithm, and its value.
const COMPAT: (&str, &str) = ("compat", "original");

/// The dissection of failures of cases that are read so.
pub(crate) struct DissectionSequel(pub(crate) OrderReader);

impl DissectionSequel {
    fn options(how: &Value) -> Result<DissectOptions, CaseError> {
        DissectOptions::deserialize(how).map_err(CaseError::new)
    }
}

impl Sequel for DissectionSequel {
    fn name(&self) -> &'static str {
        "dissection"
    }

    fn doing(&self) -> &'static str {
        "dissecting"
    }

    fn option(&self) -> &'static str {
        DISSECT.name
    }

    fn heading(&self) -> &'static str {
        "Causes of failures"
    }

    fn asked(&self, options: &[(&str, &str)]) -> Result<Option<Value>, CaseError> {
        if DISSECT.value(options).is_none() {
            return Ok(None);
        }
        let default = DissectOptions::default();
        let how = DissectOptions {
            variants: VARIANTS.number(options)?.unwrap_or(default.variants),
            reruns: RERUNS.number(options)?.unwrap_or(default.reruns),
            errors_max: ERRORS_MAX.number(options)?,
            original: options.contains(&COMPAT),
        };
        serde_json::to_value(how).map(Some).map_err(CaseError::new)
    }

    fn written(&self, how: Option<&Value>) -> Vec<(&'static str, Option<String>)> {
        let options = how.and_then(|how| Self::options(how).ok());
        let number = |get: fn(&DissectOptions) -> Option<u32>| {
            options.as_ref().and_then(get).map(|number| number.to_string())
        };
        vec![
            (DISSECT.name, options.map(|_| String::new())),
            (VARIANTS.name, number(|options| Some(options.variants))),
            (RERUNS.name, number(|options| Some(options.reruns))),
            (ERRORS_MAX.name, number(|options| options.errors_max)),
            (COMPAT.0, options.filter(|options| options.original).map(|_| COMPAT.1.to_owned())),
        ]
    }

    fn check(&self, how: &Value) -> Result<(), CaseError> {
        Self::options(how).map(drop)
    }

    fn open(&self, of: &Followed<'_>, how: &Value) -> Result<Box<dyn OpenSequel>, CaseError> {
        let options = Self::options(how)?;
        let bank = match of.options.get(TOPICS) {
            Some(topics) => TopicBank::deserialize(topics).map_err(CaseError::new)?,
            None => TopicBank::shipped().clone(),
        };
        let outcomes: Vec<OrderOutcome> = of.results.iter().map(of_result).collect();
        let errors = pick_errors(&outcomes, &options, of.seed);
        let (id, cases) = (of.id.to_owned(), self.0.typed(of.cases)?);
        Ok(Box::new(OpenDissection { id, cases, outcomes, seed: of.seed, options, bank, errors }))
    }
}

/// The dissection of the failures of one campaign.
struct OpenDissection {
    /// Id of the campaign of the trials.
    id: String,
    /// The cases of the campaign itself, with its outcomes and the seed of its runs.
    cases: Vec<Arc<OrderCase>>,
    outcomes: Vec<OrderOutcome>,
    seed: u64,
    options: DissectOptions,
    bank: TopicBank,
    errors: Vec<u32>,
}

impl OpenSequel for OpenDissection {
    fn failures(&self) -> usize {
        self.errors.len()
    }

    fn seed(&self) -> u64 {
        DissectionRun::seed(self.seed)
    }

    fn repeats(&self) -> NonZeroU32 {
        NonZeroU32::MIN
    }

    fn rounds(
        &self,
        known: &[SequelCase],
        results: &[RunResult],
    ) -> Result<Box<dyn SequelRounds + '_>, CaseError> {
        let trials = LedTo::new(known, results)?.trials(self.cases.len());
        let trials = trials.ok_or_else(|| CaseError::new("its cases are not trials of a dissection"))?;
        let mutator = Mutator::new(Wordings::shipped(), &self.bank);
        let search = Search::new(&self.cases, &self.errors, self.options, self.seed, mutator, trials);
        let made = search.records().iter().map(|record| search.made(record)).collect();
        Ok(Box::new(DissectionRounds { open: self, search, made }))
    }
}

struct DissectionRounds<'a> {
    open: &'a OpenDissection,
    search: Search<'a>,
    made: Vec<SequelCase>,
}

impl SequelRounds for DissectionRounds<'_> {
    fn cases(&self) -> &[SequelCase] {
        &self.made
    }

    fn next(&mut self) -> Vec<(u32, u32)> {
        let units = self.search.next();
        let new = self.search.records()[self.made.len()..].iter().map(|record| self.search.made(record));
        self.made.extend(new);
        units.into_iter().map(|Unit { ordinal, repeat }| (ordinal, repeat)).collect()
    }

    fn take(&mut self, result: RunResult) {
        self.search.note(of_result(&result));
    }

    fn halt(&mut self, ordinal: u32, repeat: u32) {
        self.search.halt(Unit { ordinal, repeat });
    }

    fn conclude(self: Box<Self>) -> Concluded {
        let OpenDissection { id, cases, outcomes, .. } = self.open;
        let dissection = self.search.conclude();
        Concluded {
            study: Study::Dissection(Box::new(report(id, &dissection, cases, outcomes))),
            is_complete: dissection.is_complete(),
            found: Vec::new(),
        }
    }
}
