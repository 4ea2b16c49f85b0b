//! An agent made of samples of another: it gives the majority answer (self-consistency, Wang et al. 2022), and if no
//! answer repeats, another agent can answer instead (section 4 of Crouse et al. 2024).

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;

use planproof_isolation::Account;
use planproof_model::{BoxFuture, Model, run_time};
use planproof_tools::{NoTools, Toolbox};
use planproof_trace::{EndReason, Event, EventKind, LimitKind};

use super::votes::{VoteDecision, VoteRules, Votes};
use crate::{Agent, Ran, RunContext, RunError, RunLimits};

/// How many samples are taken, as published.
pub const SAMPLES: NonZeroU32 = NonZeroU32::new(5).expect("5 is not 0");

/// The temperature at which samples are taken, as published. It is a setting of the agent that is sampled.
pub const SAMPLE_TEMPERATURE: f64 = 0.7;

/// The actor name of the other agent in the trace.
pub const OTHER_NAME: &str = "other";

/// How votes are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VotingOptions {
    pub samples: NonZeroU32,
    /// Which answers are the same, and when the other agent is asked.
    pub rules: VoteRules,
}

impl Default for VotingOptions {
    fn default() -> Self {
        Self { samples: SAMPLES, rules: VoteRules::default() }
    }
}

/// An agent that takes a vote over samples of another.
///
/// The samples have no tools, and seeds of their own ([`sample_seed`]). They are taken one after the other,
/// so that the same replies make the same trace. The limits are those of the whole run.
///
/// Everything is in one trace. The n-th sample is the actor `sample-n` ([`sample_name`]), and the other agent
/// [`OTHER_NAME`]. The end of a part is not an event of its own.
#[derive(Clone)]
pub struct VotingAgent {
    sampled: Arc<dyn Agent>,
    other: Option<Arc<dyn Agent>>,
    options: VotingOptions,
}

/// Why the run is over before a vote.
type Over = EndReason;

impl VotingAgent {
    /// An agent that gives the answer of most samples of `sampled` or, if there is no majority, the answer of
    /// `other`, which has the tools of the run. `sampled` should write at [`SAMPLE_TEMPERATURE`].
    pub fn new(sampled: Arc<dyn Agent>, other: Option<Arc<dyn Agent>>, options: VotingOptions) -> Self {
        Self { sampled, other, options }
    }

    /// The agents that it is made of.
    fn agents(&self) -> impl Iterator<Item = &dyn Agent> {
        std::iter::once(&self.sampled).chain(&self.other).map(AsRef::as_ref)
    }

    async fn vote(&self, run: RunContext<'_>) -> Result<Ran, RunError> {
        let no_tools: Arc<dyn Toolbox> = Arc::new(NoTools::default());
        let mut parts = Parts::default();
        let mut ends = Vec::new();
        for number in 1..=self.options.samples.get() {
            let seed = sample_seed(run.seed, number);
            let part = RunContext { toolbox: &no_tools, seed, ..run };
            match parts.run(self.sampled.as_ref(), &sample_name(number), part).await? {
                Ok(end) => ends.push(end),
                Err(over) => return Ok(parts.ran(over)),
            }
        }
        let votes = Votes::new(ends.iter().map(answer), self.options.rules);
        let Some(other) = self.other.as_ref().filter(|_| votes.needs_other()) else {
            let majority = votes.majority().map(|group| EndReason::Answered { text: group.answer.clone() });
            // Without any answer the run ends as its first sample did. There is one, because their number is not 0.
            return Ok(parts.ran(majority.unwrap_or_else(|| ends.swap_remove(0))));
        };
        let end = match parts.run(other.as_ref(), OTHER_NAME, run).await? {
            Ok(end) => end,
            Err(over) => return Ok(parts.ran(over)),
        };
        let decided = match votes.decide(answer(&end)) {
            VoteDecision::Samples(group) => Some(EndReason::Answered { text: group.answer.clone() }),
            VoteDecision::Other => None,
        };
        Ok(parts.ran(decided.unwrap_or(end)))
    }
}

/// The answer is that of the majority, or of the other agent. If no sample has an answer and there is no other agent,
/// the run ends as the first sample did; if a model is unavailable, it is unscored.
impl Agent for VotingAgent {
    fn run<'a>(&'a self, run: RunContext<'a>) -> BoxFuture<'a, Result<Ran, RunError>> {
        Box::pin(async move {
            run.recorder.record(EventKind::Query { text: run.query.to_owned() });
            let ran = run_time::within(run.limits.wall, self.vote(run)).await;
            ran.unwrap_or_else(|over| Ok(Ran::in_process(run.limits.out_of_time(&over))))
        })
    }

    fn is_in_process(&self) -> bool {
        self.agents().all(Agent::is_in_process)
    }

    /// Its parts answer one question each, and remember none.
    fn can_converse(&self) -> bool {
        false
    }

    /// Its samples are asked for answers, without tools, so only the other agent can.
    fn can_call(&self) -> bool {
        self.other.as_ref().is_some_and(|other| other.can_call())
    }

    fn turns_per_call(&self) -> u32 {
        self.other.as_ref().map_or(1, |other| other.turns_per_call())
    }

    /// No: samples of a run that was cut off are taken again.
    fn can_resume(&self) -> bool {
        false
    }

    /// None: a judge stands beside the whole agent, and not beside a part of it.
    fn judge(&self) -> Option<&dyn Model> {
        None
    }

    fn isolation(&self) -> Option<&Account> {
        self.agents().find_map(Agent::isolation)
    }

    fn needs_served_model(&self) -> Option<&'static str> {
        self.agents().find_map(Agent::needs_served_model)
    }
}

/// The parts of a run so far.
#[derive(Default)]
struct Parts {
    /// Turns of models in them.
    turns: u32,
    /// A budget refused a request of theirs.
    were_refused: bool,
}

impl Parts {
    /// Runs a part of the run under a name of its own, and returns its end.
    async fn run(
        &mut self,
        agent: &dyn Agent,
        name: &str,
        run: RunContext<'_>,
    ) -> Result<Result<EndReason, Over>, RunError> {
        // The limits are those of the whole run, so each part gets what the earlier ones left.
        let iterations = run.limits.iterations.saturating_sub(self.turns);
        if iterations == 0 {
            let value = u64::from(run.limits.iterations);
            return Ok(Err(EndReason::LimitReached { limit: LimitKind::Iterations, value }));
        }
        let recorder = match run.recorder.as_actor(name) {
            Ok(recorder) => recorder,
            Err(error) => return Ok(Err(EndReason::AgentFailed { reason: error.to_string() })),
        };
        let limits = RunLimits { iterations, ..*run.limits };
        let before = run.recorder.look(<[Event]>::len);
        let ran = agent.run(RunContext { limits: &limits, recorder: &recorder, ..run }).await?;
        // Counted in the trace, because agents do not report how often they asked their model.
        let is_turn = |event: &&Event| matches!(event.kind, EventKind::Turn { .. });
        let turns = run.recorder.look(|events| events.iter().skip(before).filter(is_turn).count());
        self.turns = self.turns.saturating_add(u32::try_from(turns).unwrap_or(u32::MAX));
        self.were_refused |= ran.was_refused;
        Ok(match ran.end {
            // A vote without this sample would be another experiment, so an outage in one part ends the whole run.
            EndReason::Unscored { reason } => Err(EndReason::Unscored { reason }),
            end => Ok(end),
        })
    }

    fn ran(&self, end: EndReason) -> Ran {
        Ran { was_refused: self.were_refused, ..Ran::in_process(end) }
    }
}

impl fmt::Debug for VotingAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VotingAgent")
            .field("has_other", &self.other.is_some())
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// The actor name of a sample in the trace, by its number from 1.
pub fn sample_name(number: u32) -> String {
    format!("sample-{number}")
}

/// The seed of a sample: different for all samples of a run (the function is one to one), and not equal to those of
/// the next run, as sums would be. (The output function of SplitMix64, Steele et al. 2014.)
pub fn sample_seed(seed: u64, number: u32) -> u64 {
    let mut mixed = seed.wrapping_add(u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn answer(end: &EndReason) -> Option<&str> {
    match end {
        EndReason::Answered { text } => Some(text),
        _ => None,
    }
}
