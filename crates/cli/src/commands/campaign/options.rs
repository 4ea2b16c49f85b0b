//! What of a campaign is kept in the store, and in a recording, beside its cases.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use planproof_bench::studies::ShrinkOptions;
use planproof_bench::{Campaign, LimitPlan, Report, SynthesisUse};
use planproof_model::prices::Money;
use planproof_order::DissectOptions;
use planproof_order::synth::{JudgeOptions, TopicBank};
use planproof_report::CommandLines;
use planproof_store::Progress;
use planproof_suite::Suite;
use serde::{Deserialize, Serialize};

use super::budgets::Budgets;
use crate::arguments::{ITERATIONS, STORE_DEFAULT, TIMEOUT_SECONDS};
use crate::failure::Failure;
use crate::select::{FileDigest, MadeFrom};
use crate::suites;

/// The suite of a campaign that names none.
pub(super) const ORDER: &str = "order";

/// The options with which a campaign resumes and is summed up again.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredOptions {
    /// The kind of its cases; absent where they are orders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) suite: Option<String>,
    #[serde(with = "decimal")]
    pub(super) seed: u64,
    pub(super) concurrency: usize,
    pub(super) timeout_ms: u64,
    pub(super) iterations: u32,
    pub(super) repeated_fails: bool,
    pub(super) distractor_fails: bool,
    #[serde(default)]
    pub(super) at_once_fails: bool,
    pub(super) serve_model: Option<String>,
    /// Variables that a program gets beside it, though they look as if they held keys.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) env: Vec<String>,
    pub(super) solver_calls: u64,
    pub(super) solver_ns: u64,
    pub(super) synthesis_ns: u64,
    /// Campaigns of before there were recordings have none.
    #[serde(default)]
    pub(super) answers: Answers,
    /// The file of what may differ in a replay's requests; absent where nothing may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) may_differ: Option<PathBuf>,
    /// How failures are dissected; absent where they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) dissect: Option<DissectOptions>,
    /// How failures are shrunk; absent where they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) shrink: Option<ShrinkOptions>,
    /// How a limit is searched for, where the campaign is a search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<LimitPlan>,
    /// The user's specifications that the agent is made from, by digest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) specifications: Vec<FileDigest>,
    /// The files that the command names which judges the agent's answers, by digest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) evaluator_files: Vec<FileDigest>,
    /// The topics of the user's own that its cases are about; absent where they come with planproof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) topics: Option<TopicBank>,
}

/// Where the answers of the model come from, and where they go.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answers {
    /// From the model, and nowhere.
    #[default]
    Live,
    /// From the model, into this file.
    Record(PathBuf),
    /// From this file if it has them, else from the model and into the file.
    Cache(PathBuf),
    /// From this file alone.
    Replay(PathBuf),
}

impl Answers {
    /// The file that answers first, before a model is asked.
    pub(super) fn cache(&self) -> Option<&Path> {
        match self {
            Self::Cache(file) => Some(file),
            Self::Live | Self::Record(_) | Self::Replay(_) => None,
        }
    }
}

impl StoredOptions {
    /// The options of a campaign with a simulated model, and the defaults for the rest.
    pub(crate) fn of_simulation(campaign: &Campaign, judge: JudgeOptions, synthesis: SynthesisUse) -> Self {
        let mut options = Self {
            suite: None,
            seed: campaign.seed,
            concurrency: campaign.concurrency.get(),
            timeout_ms: u64::try_from(campaign.limits.wall.as_millis()).unwrap_or(u64::MAX),
            iterations: campaign.limits.iterations,
            repeated_fails: judge.repeated_fails,
            distractor_fails: judge.distractor_fails,
            at_once_fails: judge.at_once_fails,
            serve_model: None,
            env: Vec::new(),
            solver_calls: 0,
            solver_ns: 0,
            synthesis_ns: 0,
            answers: Answers::Live,
            may_differ: None,
            dissect: None,
            shrink: None,
            limit: None,
            specifications: Vec::new(),
            evaluator_files: Vec::new(),
            topics: None,
        };
        options.set_synthesis(Some(synthesis));
        options
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// The topics that its cases are about.
    pub(crate) fn bank(&self) -> &TopicBank {
        self.topics.as_ref().unwrap_or_else(|| TopicBank::shipped())
    }

    /// The user's files that the agent is made from.
    pub(super) fn made_from(&self) -> MadeFrom {
        MadeFrom {
            specifications: self.specifications.clone(),
            evaluator_files: self.evaluator_files.clone(),
        }
    }

    /// Notes the user's files that the agent is made from.
    pub(super) fn set_made_from(&mut self, made_from: MadeFrom) {
        let MadeFrom { specifications, evaluator_files } = made_from;
        self.specifications = specifications;
        self.evaluator_files = evaluator_files;
    }

    pub(crate) fn judge(&self) -> JudgeOptions {
        JudgeOptions {
            repeated_fails: self.repeated_fails,
            distractor_fails: self.distractor_fails,
            at_once_fails: self.at_once_fails,
        }
    }

    /// The kind of its cases.
    ///
    /// # Errors
    /// This planproof does not know it.
    pub(crate) fn suite(&self) -> Result<Arc<dyn Suite>, Failure> {
        suites::find(self.suite_name(), self.judge())
    }

    pub(super) fn suite_name(&self) -> &str {
        self.suite.as_deref().unwrap_or(ORDER)
    }

    /// Refuses a campaign of another kind of case, for that reason.
    pub(crate) fn must_be_of_orders(&self, campaign: &str, why: &str) -> Result<(), Failure> {
        match &self.suite {
            None => Ok(()),
            Some(suite) => Err(Failure::usage(format!("campaign {campaign} is of the suite {suite}; {why}"))),
        }
    }

    /// The command that the campaign is one of.
    pub(crate) fn command(&self) -> String {
        match (&self.suite, &self.limit) {
            (Some(suite), _) => format!("bench {suite}"),
            (None, Some(_)) => "limit".to_owned(),
            (None, None) => "test".to_owned(),
        }
    }

    /// What it took to make its cases; `None` where they were not synthesised.
    pub(crate) fn synthesis(&self) -> Option<SynthesisUse> {
        let made = SynthesisUse {
            solver_calls: self.solver_calls,
            solver_time: Duration::from_nanos(self.solver_ns),
            time: Duration::from_nanos(self.synthesis_ns),
        };
        self.suite.is_none().then_some(made)
    }

    pub(super) fn set_synthesis(&mut self, made: Option<SynthesisUse>) {
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let made = made.unwrap_or_default();
        self.solver_calls = made.solver_calls;
        self.solver_ns = nanoseconds(made.solver_time);
        self.synthesis_ns = nanoseconds(made.time);
    }

    /// What runs cost in US dollars by what the campaign has spent; `None` where it is not known, or nothing was asked.
    pub(crate) fn cost(&self, progress: &Progress) -> Option<f64> {
        let cost = progress.spent.picodollars.filter(|_| !self.is_replay())?;
        Some(Money::from_picodollars(cost).dollars())
    }

    /// The report with what neither cases nor runs tell.
    pub(crate) fn completed(&self, mut report: Report, progress: &Progress) -> Report {
        report.replay = self.is_replay();
        // That the budgets of a campaign cannot be read is reported when it resumes.
        let found = Budgets::stored(progress).unwrap_or_default();
        report.without_temperature = found.without_temperature();
        report.broken_setup = found.broken_setup().map(str::to_owned);
        report.cost_is_estimate = report.cost.is_some() && progress.spent.is_estimate;
        // A program's turns are not in its traces; what the model told it that was served to it is counted there.
        if self.serve_model.is_some() {
            report.tokens.input = progress.served_input_tokens;
            report.tokens.output = progress.served_output_tokens;
        }
        report
    }

    /// How to go on with a campaign of this agent in this store.
    pub(crate) fn commands(&self, agent: &str, store: &Path) -> CommandLines {
        let mut words = vec![agent.to_owned()];
        if let Some(model) = &self.serve_model {
            words.extend(["--serve-model".to_owned(), model.clone()]);
        }
        words.extend(self.env.iter().flat_map(|name| ["--env".to_owned(), name.clone()]));
        let timeout = Duration::from_millis(self.timeout_ms);
        if timeout != Duration::from_secs_f64(TIMEOUT_SECONDS) {
            words.extend(["--timeout".to_owned(), timeout.as_secs_f64().to_string()]);
        }
        if self.iterations != ITERATIONS {
            words.extend(["--iterations".to_owned(), self.iterations.to_string()]);
        }
        let judging = [
            ("--allow-repeats", !self.repeated_fails),
            ("--allow-distractors", !self.distractor_fails),
            ("--fail-at-once", self.at_once_fails),
        ];
        words.extend(judging.into_iter().filter(|(_, is_set)| *is_set).map(|(option, _)| option.to_owned()));
        let store = (store != Path::new(STORE_DEFAULT)).then(|| store.to_string_lossy());
        CommandLines::new(&self.command(), store.as_deref(), words.iter().map(String::as_str))
    }

    /// Whether no model is asked.
    pub(crate) fn is_replay(&self) -> bool {
        matches!(self.answers, Answers::Replay(_))
    }
}

/// A number in decimal digits, because many readers lose some of one above 2^53. Campaigns of before have it
/// as a number.
mod decimal {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    // By reference, because that is how serde hands it over.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape serde wants")]
    pub(super) fn serialize<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&number.to_string())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Digits(String),
            Number(u64),
        }
        match Either::deserialize(deserializer)? {
            Either::Number(number) => Ok(number),
            Either::Digits(digits) => digits.parse().map_err(D::Error::custom),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_before_there_were_recordings_are_read() {
        let old = r#"{"seed":7,"concurrency":64,"timeout_ms":180000,"iterations":50,"repeated_fails":true,
            "distractor_fails":false,"serve_model":null,"solver_calls":26,"solver_ns":1,"synthesis_ns":2}"#;
        let options: StoredOptions = serde_json::from_str(old).unwrap();
        assert_eq!((options.seed, &options.answers), (7, &Answers::Live));
        let seed = u64::MAX;
        let answers = Answers::Record("r.jsonl".into());
        let text =
            serde_json::to_string(&StoredOptions { seed, answers: answers.clone(), ..options }).unwrap();
        let options: StoredOptions = serde_json::from_str(&text).unwrap();
        assert_eq!((options.seed, options.answers), (seed, answers));
        assert!(text.contains("\"seed\":\"18446744073709551615\""), "{text}");
    }
}
