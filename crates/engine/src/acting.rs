//! Agents that come with a suite and ask no model: their calls are made and their answers recorded like those of
//! other agents.

use planproof_agents::{Agent, Ran, RunContext, RunError};
use planproof_model::BoxFuture;
use planproof_suite::{Case, Gold};
use planproof_trace::{Arguments, Author, CallId, EndReason, EventKind, LimitKind, ToolCall};

/// The section that explains how an answer was found.
const REASONING: &str = "reasoning";

/// Represents an agent of a suite among agents under test. A campaign asks the case for its actions; run by itself it
/// does nothing.
#[derive(Debug, Clone, Copy)]
pub struct OfSuite;

impl Agent for OfSuite {
    fn run<'a>(&'a self, run: RunContext<'a>) -> BoxFuture<'a, Result<Ran, RunError>> {
        run.recorder.record(EventKind::Query { text: run.query.to_owned() });
        let reason = "an agent of a suite runs on cases of its suite alone: use `planproof bench`".to_owned();
        Box::pin(std::future::ready(Ok(Ran::in_process(EndReason::Unscored { reason }))))
    }
}

/// Runs an agent of the case's suite.
pub(crate) async fn act(case: &dyn Case, agent: &str, run: &RunContext<'_>) -> Ran {
    run.recorder.record(EventKind::Query { text: run.query.to_owned() });
    let end = match case.act(agent, run.seed) {
        None => EndReason::Unscored { reason: format!("there is no agent `{agent}` in this suite") },
        Some(Err(error)) => EndReason::Unscored { reason: error.to_string() },
        Some(Ok(acted)) => carry_out(acted, run).await,
    };
    Ran::in_process(end)
}

async fn carry_out(acted: Gold, run: &RunContext<'_>) -> EndReason {
    let mut later = run.later.iter().zip(acted.turns.iter().copied().chain(std::iter::repeat(usize::MAX)));
    let mut next = later.next();
    let say = |text: &String| {
        run.recorder.record(EventKind::Query { text: text.clone() });
    };
    for (number, call) in (1..).zip(acted.calls) {
        while let Some((text, _)) = next.filter(|(_, before)| (number as usize) > *before) {
            say(text);
            next = later.next();
        }
        if number > run.limits.iterations {
            let value = u64::from(run.limits.iterations);
            return EndReason::LimitReached { limit: LimitKind::Iterations, value };
        }
        let call = ToolCall {
            id: CallId::new(format!("call_{number}")),
            name: call.tool,
            arguments: Arguments::Object(call.arguments),
        };
        run.recorder.record(EventKind::Call(call.clone()));
        let result = run.toolbox.execute(&call).await;
        run.recorder.record(EventKind::Result(result));
    }
    next.into_iter().chain(later).for_each(|(text, _)| say(text));
    if !acted.reasoning.is_empty() {
        run.recorder.record(EventKind::Section {
            state: REASONING.to_owned(),
            author: Author::Environment,
            text: acted.reasoning,
            note: String::new(),
        });
    }
    EndReason::Answered { text: acted.answer }
}
