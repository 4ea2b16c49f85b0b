//! What came of one run.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use planproof_agents::memory::MemoryUse;
use planproof_plan::team::TeamUse;
use planproof_store::Unit;
use planproof_suite::{Card, Case, Class, Effort, EffortLimits, Excess, RunResult, Unscored, Verdict};
use planproof_trace::{Event, EventKind, Usage};

use crate::{GuardUse, MonitorUse};

/// The outcome of one run. Code of one suite may put the suite's own verdict into it.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome<V = Verdict> {
    /// Place of the case in the campaign.
    pub ordinal: u32,
    /// Which repeat of the case, from 0.
    pub repeat: u32,
    /// The verdict, or why there is none.
    pub verdict: Result<V, Unscored>,
    /// The agent's time, without its waits for rate limits, budgets and repeated attempts.
    pub wall: Duration,
    pub usage: Usage,
    /// Its tool calls, and the rounds in which it made them.
    pub effort: Effort,
    /// The cost of holding the model to its specification, if the agent is made from one.
    pub monitor: Option<MonitorUse>,
    /// The costs of the roles of a team, if the agent is one.
    pub team: Option<TeamUse>,
    /// The recalled lessons of earlier runs, if the agent has a memory.
    pub memory: Option<MemoryUse>,
    /// What the rules that the agent is held to did, if they objected to a call.
    pub guard: Option<GuardUse>,
    /// How many requests the served model answered, if one is served to the agent. Not in the trace.
    pub requests: Option<u32>,
}

impl Outcome {
    /// What a sequel gets to know of it.
    pub fn result(&self) -> RunResult {
        RunResult { ordinal: self.ordinal, repeat: self.repeat, verdict: self.verdict.clone() }
    }

    /// Judges the events of a run. If the judge panics, which is a bug of its suite, the run is unscored.
    pub fn of(case: &dyn Case, unit: Unit, events: &[Event], wall: Duration) -> Self {
        let mut usage = Usage::default();
        for event in events {
            if let EventKind::Turn { usage: turn, .. } = event.kind {
                usage += turn;
            }
        }
        let Unit { ordinal, repeat } = unit;
        let monitor = MonitorUse::of(events);
        // A judge is a pure function, so a panic in it leaves nothing half done.
        let verdict = catch_unwind(AssertUnwindSafe(|| case.judge(events))).unwrap_or_else(|panic| {
            let reason =
                format!("the judge of this kind of case panicked, which is a bug: {}", panic_text(&*panic));
            Err(Unscored::Outside { reason })
        });
        let (team, memory) = (TeamUse::of(events), MemoryUse::of(events, &case.card().id));
        let effort = Effort::of(events);
        let guard = GuardUse::of(case, events);
        Self { ordinal, repeat, verdict, wall, usage, effort, monitor, team, memory, guard, requests: None }
    }

    /// Whether the agent passed; `None` without a verdict.
    pub fn passed(&self) -> Option<bool> {
        self.verdict.as_ref().ok().map(Verdict::passed)
    }

    /// The class of the failure; `None` when it passed, and without a verdict.
    pub fn class(&self) -> Option<Class> {
        self.verdict.as_ref().ok().and_then(Verdict::class)
    }
}

impl<V> Outcome<V> {
    /// Everything that the run took more of than these limits allow in the case with this card.
    pub fn over(&self, limits: &EffortLimits, card: &Card) -> Vec<Excess> {
        let tokens = self.usage.input_tokens.saturating_add(self.usage.output_tokens);
        limits.over(self.effort, tokens, card.needed)
    }

    /// What it is a run of.
    pub fn unit(&self) -> Unit {
        Unit { ordinal: self.ordinal, repeat: self.repeat }
    }

    /// The same run with another verdict, if it has one.
    pub fn map<W>(self, change: impl FnOnce(V) -> W) -> Outcome<W> {
        let Self { ordinal, repeat, verdict, wall, usage, effort, monitor, team, memory, guard, requests } =
            self;
        Outcome {
            ordinal,
            repeat,
            verdict: verdict.map(change),
            wall,
            usage,
            effort,
            monitor,
            team,
            memory,
            guard,
            requests,
        }
    }
}

/// What a panic says.
fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
