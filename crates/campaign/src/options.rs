//! The data of a campaign that is stored and recorded beside its cases.

use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use planproof_agents::{AgentSpec, BodyName, RunLimits};
use planproof_engine::{LimitPlan, Report, SynthesisUse, Tokens};
use planproof_isolation::{AgentMemory, Isolate};
use planproof_model::prices::Money;
use planproof_store::Progress;
use planproof_suite::EffortLimits;
use planproof_suite::gate::Looks;
use planproof_trace::Secrets;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::budgets::Budgets;
use crate::error::CampaignError;
use crate::guard::StoredGuard;
use crate::made_from::{FileDigest, MadeFrom};
use crate::memory::VisibleLessons;
use crate::paths::absolute;
use crate::shard::StoredShard;

/// The options for resuming a campaign and for summing it up again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StoredOptions {
    /// The kind of its cases; absent for the first suite, as in campaigns from before there were several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<String>,
    /// Seed of its runs.
    #[serde(with = "decimal")]
    pub seed: u64,
    /// Whether the seed was drawn for this campaign, so that a program cannot know it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub seed_is_secret: bool,
    /// Most runs at once.
    pub concurrency: usize,
    /// The user has not chosen this number, so a server that can do less lowers it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub concurrency_is_default: bool,
    /// Longest time of a run, in milliseconds.
    pub timeout_ms: u64,
    /// Most model turns of a run.
    pub iterations: u32,
    /// Whether a case that may need more model turns gets them: nobody named the limit.
    #[serde(default, skip_serializing_if = "is_false")]
    pub iterations_follow_case: bool,
    /// Most tokens of one reply; absent for no limit, as in campaigns from before there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_tokens: Option<u32>,
    /// The model that is served to an external agent.
    pub serve_model: Option<String>,
    /// Whether models of Ollama's think; absent if it is left to them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<bool>,
    /// What a program is started with.
    #[serde(flatten)]
    pub program: ProgramOptions,
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub(crate) solver_calls: u64,
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub(crate) solver_ns: u64,
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub(crate) synthesis_ns: u64,
    /// Where the model's answers come from. Campaigns from before there were recordings have none.
    #[serde(default)]
    pub answers: Answers,
    /// The file of what may differ in a replay's requests; absent if nothing may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub may_differ: Option<PathBuf>,
    /// The plan of the search, if the campaign searches for a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitPlan>,
    /// Whether only as many of its cases are run as it takes to compare it with a baseline.
    #[serde(default, skip_serializing_if = "is_false")]
    pub until_decided: bool,
    /// Limits on what its runs take, beside their verdicts; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_over: Option<EffortLimits>,
    /// The rules that the agent is held to; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guard: Option<StoredGuard>,
    /// The part of a larger campaign that it is; absent for a whole one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<StoredShard>,
    /// The recallable lessons of earlier campaigns; absent if the agent has no memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<VisibleLessons>,
    /// The user's specifications that the agent is made from, by digest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) specifications: Vec<FileDigest>,
    /// The files in the command that judges the agent's answers, by digest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) evaluator_files: Vec<FileDigest>,
    /// The description of a team's roles that the agent is made from, and the prompts named in it, by digest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) team_files: Vec<FileDigest>,
    /// The prompt of the user's that the agent asks for a plan with, by digest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) prompt_files: Vec<FileDigest>,
    /// The version of all prompts of planproof with which it was started; absent in campaigns from before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts: Option<String>,
    /// Options that only the campaigns of one suite have. The runner does not interpret them.
    #[serde(flatten)]
    pub of_suite: Map<String, Value>,
}

/// How a program is started that is an agent, or how a service is called that is one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramOptions {
    /// Variables of our environment that it gets in addition if a model is served to it, although they look as if
    /// they held keys.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// A file of further variables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env_file: Option<PathBuf>,
    /// Its working directory, if that is not ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// Names by which it reaches this machine, if it is in a container.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow_hosts: Vec<String>,
    /// Headers of a service's requests, with the names of variables in place of keys.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<String>,
    /// The form of a service's requests: the name of a shape, or a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The place of the answer in a service's reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// How far a program is kept apart.
    #[serde(default, skip_serializing_if = "Isolate::is_default")]
    pub isolate: Isolate,
    /// How much memory a program may take.
    #[serde(default, skip_serializing_if = "AgentMemory::is_default")]
    pub agent_memory: AgentMemory,
    /// Files of the command line that a program must not see, beside the run store.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<PathBuf>,
}

impl ProgramOptions {
    /// The same with absolute paths, which are valid from everywhere.
    ///
    /// # Errors
    /// The current directory is unknown.
    pub fn absolute(&self) -> Result<Self, CampaignError> {
        let whole = |path: &Option<PathBuf>| path.as_deref().map(absolute).transpose();
        let body = match self.body.as_deref() {
            Some(text) => match BodyName::parse(text) {
                BodyName::File(path) => Some(absolute(Path::new(path))?.to_string_lossy().into_owned()),
                BodyName::Chat(_) | BodyName::Responses(_) => Some(text.to_owned()),
            },
            None => None,
        };
        let (env_file, cwd) = (whole(&self.env_file)?, whole(&self.cwd)?);
        let hidden = self.hidden.iter().map(|path| absolute(path)).collect::<Result<_, _>>()?;
        Ok(Self { env_file, cwd, body, hidden, ..self.clone() })
    }

    /// A given option that does not apply to this agent, and to which agents it applies.
    pub(crate) fn misplaced(&self, agent: &AgentSpec) -> Option<(&'static str, &'static str)> {
        const PROGRAM: &str = "a command: or worker: agent, which is a program that planproof starts";
        const SERVICE: &str = "a url: agent, which is a service that planproof asks";
        const OUTSIDE: &str = "a command:, worker: or url: agent, which is not part of planproof";
        let (is_program, is_service) = (agent.is_program(), agent.is_service());
        let options = [
            ("--env", !self.env.is_empty(), is_program, PROGRAM),
            // The headers of a service can name its variables.
            ("--env-file", self.env_file.is_some(), is_program || is_service, OUTSIDE),
            ("--cwd", self.cwd.is_some(), is_program, PROGRAM),
            ("--isolate", !self.isolate.is_default(), is_program, PROGRAM),
            ("--agent-memory", !self.agent_memory.is_default(), is_program, PROGRAM),
            ("--allow-host", !self.allow_hosts.is_empty(), is_program || is_service, OUTSIDE),
            ("--header", !self.headers.is_empty(), is_service, SERVICE),
            ("--body", self.body.is_some(), is_service, SERVICE),
            ("--answer", self.answer.is_some(), is_service, SERVICE),
        ];
        let misplaced = options.into_iter().find(|(_, is_given, is_right, _)| *is_given && !is_right);
        misplaced.map(|(option, _, _, whom)| (option, whom))
    }
}

/// Where the answers of the model come from, and where they are stored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answers {
    /// From the model, and nowhere.
    #[default]
    Live,
    /// From the model, into this file.
    Record(PathBuf),
    /// From this file if it has them, else from the model, and then stored in the file.
    Cache(PathBuf),
    /// From this file alone.
    Replay(PathBuf),
}

impl Answers {
    /// The file that answers first, before the model is asked.
    pub fn cache(&self) -> Option<&Path> {
        match self {
            Self::Cache(file) => Some(file),
            Self::Live | Self::Record(_) | Self::Replay(_) => None,
        }
    }
}

impl StoredOptions {
    /// The default options of a campaign with this seed, this concurrency and these limits of each run.
    pub fn new(seed: u64, concurrency: NonZeroUsize, wall: Duration, iterations: u32) -> Self {
        Self {
            suite: None,
            seed,
            seed_is_secret: false,
            concurrency: concurrency.get(),
            concurrency_is_default: false,
            timeout_ms: milliseconds(wall),
            iterations,
            iterations_follow_case: false,
            reply_tokens: None,
            serve_model: None,
            think: None,
            program: ProgramOptions::default(),
            solver_calls: 0,
            solver_ns: 0,
            synthesis_ns: 0,
            answers: Answers::Live,
            may_differ: None,
            limit: None,
            until_decided: false,
            fail_over: None,
            guard: None,
            shard: None,
            memory: None,
            specifications: Vec::new(),
            evaluator_files: Vec::new(),
            team_files: Vec::new(),
            prompt_files: Vec::new(),
            prompts: None,
            of_suite: Map::new(),
        }
    }

    /// How many of its cases the campaign is about so far, the first ones; `last` is the place of the last case with a
    /// finished run. All of them, unless it is compared with a baseline while it runs: then those of the look that it
    /// has come to.
    pub fn reached(&self, cases: usize, last: Option<u32>) -> usize {
        if !self.until_decided {
            return cases;
        }
        // The place of the last case is the number of those before it.
        let before = last.map_or(0, u64::from);
        Looks::new(cases as u64).after(before).map_or(cases, |look| look as usize)
    }

    /// Longest time of a run.
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }

    /// What ends a run.
    pub fn limits(&self) -> RunLimits {
        RunLimits {
            wall: self.timeout(),
            iterations: self.iterations,
            iterations_follow_case: self.iterations_follow_case,
            reply_tokens: self.reply_tokens,
            ..RunLimits::default()
        }
    }

    /// The user's files that the agent is made from.
    pub fn made_from(&self) -> MadeFrom {
        MadeFrom {
            specifications: self.specifications.clone(),
            evaluator_files: self.evaluator_files.clone(),
            team_files: self.team_files.clone(),
            prompt_files: self.prompt_files.clone(),
        }
    }

    /// Stores the user's files that the agent is made from.
    pub fn set_made_from(&mut self, made_from: MadeFrom) {
        let MadeFrom { specifications, evaluator_files, team_files, prompt_files } = made_from;
        self.specifications = specifications;
        self.evaluator_files = evaluator_files;
        self.team_files = team_files;
        self.prompt_files = prompt_files;
    }

    /// The cost of making its cases; `None` if they were not synthesised.
    pub fn synthesis(&self) -> Option<SynthesisUse> {
        let made = SynthesisUse {
            solver_calls: self.solver_calls,
            solver_time: Duration::from_nanos(self.solver_ns),
            time: Duration::from_nanos(self.synthesis_ns),
        };
        // Only the first suite, which has no name here, synthesises cases.
        self.suite.is_none().then_some(made)
    }

    /// Notes what it took to make its cases.
    pub fn set_synthesis(&mut self, made: Option<SynthesisUse>) {
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let made = made.unwrap_or_default();
        self.solver_calls = made.solver_calls;
        self.solver_ns = nanoseconds(made.solver_time);
        self.synthesis_ns = nanoseconds(made.time);
    }

    /// The cost of the runs in US dollars according to the campaign's expenses; `None` if it is unknown, or no model
    /// was asked.
    pub fn cost(&self, progress: &Progress) -> Option<f64> {
        let cost = progress.spent.picodollars.filter(|_| !self.is_replay())?;
        Some(Money::from_picodollars(cost).dollars())
    }

    /// The report with the data that neither cases nor runs contain.
    pub(crate) fn completed(&self, mut report: Report, progress: &Progress) -> Report {
        report.replay = self.is_replay();
        report.prompts.clone_from(&self.prompts);
        if let Some(guard) = &self.guard {
            report.held_to(&guard.file, &guard.sha256, guard.enforces());
        }
        // Unreadable budgets of the campaign are reported when it resumes.
        let found = Budgets::stored(progress).unwrap_or_default();
        report.without_temperature = found.without_temperature();
        report.changed_requests = found.changed_requests();
        report.isolation = found.isolation().cloned();
        report.set_servers(found.servers().clone());
        report.broken_setup = found.broken_setup().map(str::to_owned);
        report.cost_is_estimate = report.cost.is_some() && progress.spent.is_estimate;
        // A program's turns are not in its traces; the tokens of the model served to it are counted at the server.
        if self.serve_model.is_some() {
            let [input, output] = [progress.served_input_tokens, progress.served_output_tokens];
            report.tokens = Some(Tokens { input, output });
        }
        report
    }

    /// Why a campaign with this progress was stopped, if its set-up is broken.
    pub fn broken_setup(&self, progress: &Progress) -> Option<String> {
        Budgets::stored(progress).ok()?.broken_setup().map(str::to_owned)
    }

    /// Whether no model is asked.
    pub fn is_replay(&self) -> bool {
        matches!(self.answers, Answers::Replay(_))
    }

    /// The stored form, without these secrets: a header or the address of a server may hold one.
    ///
    /// # Errors
    /// They cannot be written as JSON, which is a bug of ours.
    pub fn to_json(&self, secrets: &Secrets) -> Result<String, CampaignError> {
        let wrong = |error: serde_json::Error| CampaignError::outside(error.to_string());
        let text = serde_json::to_string(self).map_err(wrong)?;
        if let Cow::Borrowed(_) = secrets.redact(&text) {
            return Ok(text);
        }
        // By its values: a placeholder may be a word of the form itself.
        let mut options = serde_json::to_value(self).map_err(wrong)?;
        secrets.redact_values(&mut options);
        serde_json::to_string(&options).map_err(wrong)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape serde wants")]
fn is_false(value: &bool) -> bool {
    !*value
}

/// A time in whole milliseconds.
pub(crate) fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// A number in decimal digits, because many readers lose precision above 2^53. Earlier campaigns have it as a number.
mod decimal {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    // By reference, because serde passes it like that.
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
        assert_eq!(options.limits().reply_tokens, None, "requests of that time had no limit");
        let seed = u64::MAX;
        let answers = Answers::Record("r.jsonl".into());
        let text =
            serde_json::to_string(&StoredOptions { seed, answers: answers.clone(), ..options }).unwrap();
        let options: StoredOptions = serde_json::from_str(&text).unwrap();
        assert_eq!((options.seed, options.answers), (seed, answers));
        assert!(text.contains("\"seed\":\"18446744073709551615\""), "{text}");
    }
}
