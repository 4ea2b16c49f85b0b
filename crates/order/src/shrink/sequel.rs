//! The shrinking as a sequel of campaigns.

use std::num::NonZeroU32;
use std::sync::Arc;

use planproof_engine::Unit;
use planproof_engine::rounds::Rounds as _;
use planproof_suite::studies::Study;
use planproof_suite::{
    CaseError, Concluded, Followed, OpenSequel, OptionForm, OptionUse, RunResult, Sequel, SequelCase,
    SequelRounds, SuiteOption,
};
use planproof_synth::file::write_case;
use serde::Deserialize as _;
use serde_json::Value;

use super::{CANDIDATE_RUNS_MAX, Search, ShrinkOptions, ShrinkRun, Target, pick_failures, report};
use crate::outcome::of_result;
use crate::{LedTo, OrderCase, OrderOutcome, OrderReader, shrinker};

const SHRINK: SuiteOption = SuiteOption {
    name: "shrink",
    form: OptionForm::Switch,
    of: &[OptionUse::Sequel],
    value: "",
    help: "Shrink the smallest failing cases",
    details: "Removes actions, requirements and words as long as the agent still fails in the same way, by default in 2 \
              of 3 runs. These runs are kept in the run store and appear in all reports of the campaign.",
};

const FAILURES_MAX: SuiteOption = SuiteOption {
    name: "shrink-max",
    form: OptionForm::Number { least: 1, most: u32::MAX },
    of: &[OptionUse::Sequel],
    value: "N",
    help: "Maximum number of failures to shrink; by default 3",
    details: "",
};

const RUNS_MAX: SuiteOption = SuiteOption {
    name: "shrink-runs",
    form: OptionForm::Number { least: 1, most: u32::MAX },
    of: &[OptionUse::Sequel],
    value: "N",
    help: "Maximum number of agent runs per failure to shrink; by default 200",
    details: "",
};

const RUNS: SuiteOption = SuiteOption {
    name: "shrink-repeat",
    form: OptionForm::Number { least: 1, most: CANDIDATE_RUNS_MAX },
    of: &[OptionUse::Sequel],
    value: "N",
    help: "Maximum number of runs of one smaller case; by default 3",
    details: "More than half of them must fail.",
};

/// What shrinking can be asked for.
pub(crate) const OPTIONS: [SuiteOption; 4] = [SHRINK, FAILURES_MAX, RUNS_MAX, RUNS];

/// The shrinking of failures of cases that are read so.
pub(crate) struct ShrinkingSequel(pub(crate) OrderReader);

impl ShrinkingSequel {
    fn options(how: &Value) -> Result<ShrinkOptions, CaseError> {
        ShrinkOptions::deserialize(how).map_err(CaseError::new)
    }
}

impl Sequel for ShrinkingSequel {
    fn name(&self) -> &'static str {
        "shrinking"
    }

    fn doing(&self) -> &'static str {
        "shrinking"
    }

    fn option(&self) -> &'static str {
        SHRINK.name
    }

    fn heading(&self) -> &'static str {
        "Smaller failing cases"
    }

    fn asked(&self, options: &[(&str, &str)]) -> Result<Option<Value>, CaseError> {
        if SHRINK.value(options).is_none() {
            return Ok(None);
        }
        let default = ShrinkOptions::default();
        let runs = RUNS.number(options)?.unwrap_or(default.runs);
        let runs_max = RUNS_MAX.number(options)?.unwrap_or(default.runs_max);
        let failures_max = FAILURES_MAX.number(options)?.unwrap_or(default.failures_max);
        let how = ShrinkOptions { runs, failures: runs / 2 + 1, runs_max, failures_max, ..default };
        serde_json::to_value(how).map(Some).map_err(CaseError::new)
    }

    fn written(&self, how: Option<&Value>) -> Vec<(&'static str, Option<String>)> {
        let options = how.and_then(|how| Self::options(how).ok());
        let number =
            |get: fn(&ShrinkOptions) -> u32| options.as_ref().map(|options| get(options).to_string());
        vec![
            (SHRINK.name, options.map(|_| String::new())),
            (FAILURES_MAX.name, number(|options| options.failures_max)),
            (RUNS_MAX.name, number(|options| options.runs_max)),
            (RUNS.name, number(|options| options.runs)),
        ]
    }

    fn check(&self, how: &Value) -> Result<(), CaseError> {
        Self::options(how).map(drop)
    }

    fn open(&self, of: &Followed<'_>, how: &Value) -> Result<Box<dyn OpenSequel>, CaseError> {
        let options = Self::options(how)?;
        let cases = self.0.typed(of.cases)?;
        let outcomes: Vec<OrderOutcome> = of.results.iter().map(of_result).collect();
        let failures = pick_failures(&cases, &outcomes, &options);
        Ok(Box::new(OpenShrinking {
            id: of.id.to_owned(),
            cases,
            outcomes,
            seed: of.seed,
            options,
            failures,
        }))
    }
}

/// The shrinking of the failures of one campaign.
struct OpenShrinking {
    /// Id of the campaign of the candidates.
    id: String,
    /// The cases of the campaign itself, with its outcomes and the seed of its runs.
    cases: Vec<Arc<OrderCase>>,
    outcomes: Vec<OrderOutcome>,
    seed: u64,
    options: ShrinkOptions,
    failures: Vec<(u32, Target)>,
}

impl OpenSequel for OpenShrinking {
    fn failures(&self) -> usize {
        self.failures.len()
    }

    fn seed(&self) -> u64 {
        ShrinkRun::seed(self.seed)
    }

    fn repeats(&self) -> NonZeroU32 {
        self.options.repeats()
    }

    fn rounds(
        &self,
        known: &[SequelCase],
        results: &[RunResult],
    ) -> Result<Box<dyn SequelRounds + '_>, CaseError> {
        let candidates = LedTo::new(known, results)?.candidates(self.cases.len());
        let candidates =
            candidates.ok_or_else(|| CaseError::new("its cases are not candidates of a shrinking"))?;
        let search = Search::new(&self.cases, self.failures.clone(), self.options, shrinker(), candidates);
        let made = search.records().iter().map(|record| search.made(record)).collect();
        Ok(Box::new(ShrinkingRounds { open: self, search, made }))
    }
}

struct ShrinkingRounds<'a> {
    open: &'a OpenShrinking,
    search: Search<'a>,
    made: Vec<SequelCase>,
}

impl SequelRounds for ShrinkingRounds<'_> {
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

    fn conclude(mut self: Box<Self>) -> Concluded {
        // After an interruption, the results of the last round are not evaluated yet.
        self.search.follow();
        let OpenShrinking { id, cases, outcomes, .. } = self.open;
        let shrinking = self.search.conclude();
        // A failure that did not happen again has no smaller case.
        let smallest = shrinking.failures.iter().filter(|failure| failure.is_reproduced());
        Concluded {
            study: Study::Shrinking(Box::new(report(id, &shrinking, cases, outcomes))),
            is_complete: shrinking.is_complete(),
            found: smallest.map(|failure| write_case(&failure.shrunk.case)).collect(),
        }
    }
}
