//! An agent made of samples of another: it answers what most of them answer (self-consistency, Wang et al. 2022), and where
//! no answer repeats, another agent can answer in their place (section 4 of Crouse et al. 2024).

use std::fmt;
use std::num::NonZeroU32;
use std::pin::pin;
use std::sync::Arc;

use planproof_model::{BoxFuture, run_time};
use planproof_tools::Toolbox;
use planproof_trace::{
    EndReason, Event, EventKind, EventSink, LimitKind, LogicalClock, Recorder, Tool, ToolCall, ToolResult,
};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::votes::{Decision, VoteRules, Votes};
use crate::{FunctionCallingAgent, InProcessRun, RunLimits};

/// How many samples are taken, as published.
pub const SAMPLES: NonZeroU32 = NonZeroU32::new(5).expect("5 is not 0");

/// The temperature at which samples are taken, as published. It is a setting of the agent that is sampled.
pub const SAMPLE_TEMPERATURE: f64 = 0.7;

/// An agent whose loop is ours, of whatever kind.
pub trait InProcess: Send + Sync {
    /// Runs until the end, which is the last event recorded.
    fn run<'a>(&'a self, run: InProcessRun<'a>) -> BoxFuture<'a, ()>;
}

impl InProcess for FunctionCallingAgent {
    fn run<'a>(&'a self, run: InProcessRun<'a>) -> BoxFuture<'a, ()> {
        self.run(run)
    }
}

/// How votes are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VotingOptions {
    /// How many samples.
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
/// The samples have no tools, and seeds of their own ([`sample_seed`]). They are taken one after the other, so that the same
/// replies make the same trace. The limits are those of the whole run.
///
/// All is in one trace: behind the query of the run, each sample begins with its own [`EventKind::Query`], so the n-th of
/// these begins the n-th sample, and one more the other agent's part. How a part ended is not an event of its own.
#[derive(Clone)]
pub struct VotingAgent {
    sampled: Arc<dyn InProcess>,
    other: Option<Arc<dyn InProcess>>,
    options: VotingOptions,
}

/// Why the run is over before a vote.
type Over = EndReason;

impl VotingAgent {
    /// An agent that answers what most samples of `sampled` answer, or, where that is not clear, as `other` does, with the
    /// tools of the run. `sampled` should write at [`SAMPLE_TEMPERATURE`].
    pub fn new(
        sampled: Arc<dyn InProcess>,
        other: Option<Arc<dyn InProcess>>,
        options: VotingOptions,
    ) -> Self {
        Self { sampled, other, options }
    }

    /// Runs until the end, which is the last event recorded. Dropping the future ends the run without one.
    ///
    /// The answer is that of the majority, or of the other agent. If no sample has an answer and there is no other agent,
    /// the run ends as the first sample did; if a model cannot be had, it is unscored.
    pub fn run<'a>(&'a self, run: InProcessRun<'a>) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            run.recorder.record(EventKind::Query { text: run.query.to_owned() });
            let end = match run_time::within(run.limits.wall, self.vote(run)).await {
                Ok(Ok(end) | Err(end)) => end,
                Err(over) => run.limits.out_of_time(&over),
            };
            run.recorder.end(end);
        })
    }

    async fn vote(&self, run: InProcessRun<'_>) -> Result<EndReason, Over> {
        let mut turns = 0;
        let mut ends = Vec::new();
        let no_tools = NoTools(Arc::new([]));
        for number in 1..=self.options.samples.get() {
            let seed = sample_seed(run.seed, number);
            let part = InProcessRun { toolbox: &no_tools, seed, ..run };
            ends.push(self.part(self.sampled.as_ref(), part, &mut turns).await?);
        }
        let votes = Votes::new(ends.iter().map(answer), self.options.rules);
        let Some(other) = self.other.as_ref().filter(|_| votes.needs_other()) else {
            return Ok(match votes.majority() {
                Some(group) => EndReason::Answered { text: group.answer.clone() },
                None => ends.swap_remove(0),
            });
        };
        let end = self.part(other.as_ref(), run, &mut turns).await?;
        Ok(match votes.decide(answer(&end)) {
            Decision::Samples(group) => EndReason::Answered { text: group.answer.clone() },
            Decision::Other => end,
        })
    }

    /// Runs a part of the run, whose events become the run's but for the end, which is returned.
    async fn part(
        &self,
        agent: &dyn InProcess,
        run: InProcessRun<'_>,
        turns: &mut u32,
    ) -> Result<EndReason, Over> {
        let iterations = run.limits.iterations.saturating_sub(*turns);
        if iterations == 0 {
            let value = u64::from(run.limits.iterations);
            return Err(EndReason::LimitReached { limit: LimitKind::Iterations, value });
        }
        let limits = RunLimits { iterations, ..*run.limits };
        let (sender, mut receiver) = unbounded_channel();
        let recorder = Recorder::with_sink(Arc::new(LogicalClock::default()), Box::new(Forward(sender)));
        let mut end = None;
        {
            let mut take = |kind: EventKind| match kind {
                EventKind::End(reason) => end = Some(reason),
                kind => {
                    *turns += u32::from(matches!(kind, EventKind::Turn { .. }));
                    run.recorder.record(kind);
                }
            };
            let mut running = pin!(agent.run(InProcessRun { limits: &limits, recorder: &recorder, ..run }));
            loop {
                tokio::select! {
                    biased;
                    Some(kind) = receiver.recv() => take(kind),
                    () = &mut running => break,
                }
            }
            while let Ok(kind) = receiver.try_recv() {
                take(kind);
            }
        }
        match end {
            Some(EndReason::Unscored { reason }) => Err(EndReason::Unscored { reason }),
            Some(end) => Ok(end),
            None => Ok(EndReason::AgentFailed { reason: "it came to no end".to_owned() }),
        }
    }
}

impl InProcess for VotingAgent {
    fn run<'a>(&'a self, run: InProcessRun<'a>) -> BoxFuture<'a, ()> {
        self.run(run)
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

/// The seed of a sample: of one run all are different (the function is one to one), and they do not fall upon those of the
/// next run, as sums would. (The output function of SplitMix64, Steele et al. 2014.)
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

/// Sends what a part of a run records to the run itself.
struct Forward(UnboundedSender<EventKind>);

impl EventSink for Forward {
    fn append(&self, event: &Event) {
        // Nobody listens any more only when the run is over.
        let _ = self.0.send(event.kind.clone());
    }
}

/// What samples can do beside writing: nothing.
struct NoTools(Arc<[Tool]>);

impl Toolbox for NoTools {
    fn tools(&self) -> &Arc<[Tool]> {
        &self.0
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        let result = ToolResult::error(call.id.clone(), "there are no tools");
        Box::pin(std::future::ready(result))
    }
}
