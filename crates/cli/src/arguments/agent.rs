//! How an agent and its model are asked, and the arguments of `planproof run`.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::failure::Failure;
use crate::values::{SECONDS_MAX, above_zero, seconds, whole};

/// Options of agents that are made from a specification.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Agent")]
pub(crate) struct AgentArguments {
    /// Take N samples and answer as most of them do (`direct`, `cot`; `fallback:` takes 5 where nothing is said).
    #[arg(long, value_name = "N", value_parser = whole(NonZeroU32::MIN, NonZeroU32::MAX))]
    pub(crate) samples: Option<NonZeroU32>,
    /// What an agent that summarises reads: the likelier of summary and results, or always the one.
    #[arg(long, value_enum, value_name = "WHICH")]
    pub(crate) summary: Option<SummaryChoice>,
    /// Who judges the answers that an agent proposes: `none`, `model` (its own), the name of a model, or
    /// `program:COMMAND`, started for each answer, which reads it as JSON and accepts it with exit status 0
    /// or refuses it with 1 and its reason on stdout.
    #[arg(long, value_name = "WHO")]
    pub(crate) evaluator: Option<String>,
    /// How the model is asked to continue its text, where not in the best way that it has.
    #[arg(long, value_enum, value_name = "WAY")]
    pub(crate) continuation: Option<Way>,
    /// Whether the model is shown the examples of its specification: by default those of a file are, and
    /// those of shipped ones are not, which cost some 200 to 400 tokens a request.
    #[arg(long, value_enum, value_name = "WHETHER")]
    pub(crate) examples: Option<OnOff>,
    /// Have the manager of a team put its executors together from the tools of each task.
    #[arg(long)]
    pub(crate) compose_executors: bool,
}

/// When a person is asked about the work on sub-tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReviewChoice {
    /// Whenever sub-tasks were planned, before the first of them.
    Plan,
    /// Then, and after each sub-task.
    Each,
    /// Never.
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnOff {
    /// Show them.
    On,
    /// Leave them out.
    Off,
}

impl OnOff {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SummaryChoice {
    /// Whichever the model finds likelier; where it tells no probabilities, the shorter one.
    Auto,
    /// The summary.
    Summary,
    /// The results; none is made.
    Results,
}

impl SummaryChoice {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Summary => "summary",
            Self::Results => "results",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Way {
    /// It continues plain text.
    Text,
    /// It continues a message of its own.
    PartialTurn,
    /// It is asked to continue.
    Chat,
}

/// How a model behind a server is asked. Simulated models in process need none of it.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Requests to the model")]
pub(crate) struct ModelArguments {
    /// Most requests begun a second, over all runs.
    #[arg(long, value_name = "N", value_parser = whole(NonZeroU32::MIN, NonZeroU32::MAX))]
    pub(crate) requests_per_second: Option<NonZeroU32>,
    /// Longest time of one model request, in seconds, below that of a run; by default two thirds of a run's, and 600
    /// at most.
    #[arg(long, value_name = "SECONDS", value_parser = above_zero(SECONDS_MAX, "seconds"))]
    pub(crate) request_timeout: Option<f64>,
    /// Attempts at a model request that fails for a passing reason (no connection, 408, 409, 429, 5xx), the first
    /// included. `retry-after` is honoured.
    #[arg(long, default_value_t = NonZeroU32::MIN.saturating_add(3), value_name = "N", value_parser = whole(NonZeroU32::MIN, NonZeroU32::MAX))]
    pub(crate) attempts: NonZeroU32,
}

/// Longest time of a model request where no run bounds it.
const REQUEST_SECONDS: f64 = 600.0;

/// Longest time of a run where nothing is said.
pub(crate) const TIMEOUT_SECONDS: f64 = 180.0;

/// The part of a run's time that one request may take where nothing is said.
const REQUEST_SHARE: f64 = 2.0 / 3.0;

impl ModelArguments {
    /// The longest time of a request.
    pub(crate) fn request_time(&self) -> Duration {
        seconds(self.request_timeout.unwrap_or(REQUEST_SECONDS))
    }

    /// The longest time of a run that `--timeout` gives, or whose requests `--request-timeout` bounds.
    pub(crate) fn run_time(&self, timeout: Option<f64>) -> Duration {
        let request = self.request_timeout.filter(|request| *request >= TIMEOUT_SECONDS);
        let default = request.map_or(TIMEOUT_SECONDS, |request| request / REQUEST_SHARE);
        seconds(timeout.unwrap_or(default))
    }

    /// The same for requests within runs of so long: a request is over before its run, so that a server which
    /// does not answer is seen to be at fault.
    pub(crate) fn within(&self, run: Duration) -> Result<Self, Failure> {
        let most = run.as_secs_f64();
        let request = match self.request_timeout {
            Some(request) if request >= most => {
                return Err(Failure::usage(format!(
                    "--request-timeout {request} must be below the {most} seconds of a run (--timeout): a server that does not \
                     answer is given up before the run is over"
                )));
            }
            Some(request) => request,
            None => REQUEST_SECONDS.min(most * REQUEST_SHARE),
        };
        Ok(Self { request_timeout: Some(request), ..self.clone() })
    }
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The agent: `tools@MODEL` (our function-calling loop), `responses@MODEL` (the same, with the conversation kept
    /// by the model's server), one of a specification (`direct@MODEL`, `cot@`, `react@`, `rewoo@`, `reflexion@`,
    /// `pass@`, or `spec:FILE@MODEL`), `plan@MODEL` (a plan first, then its calls), `one-step@MODEL`,
    /// `sequential@MODEL`, `hierarchical@MODEL` (sub-tasks with their tools, all at once, one by one, or by groups),
    /// `team@MODEL` (a manager, executors, a supervisor and a deliverer), `fallback:KIND,KIND@MODEL`, `command:PROGRAM
    /// ARGS...`, `worker:PROGRAM ARGS...`, or `url:URL`; the last three find the tools at an MCP URL of ours. MODEL is
    /// `openai/NAME` (OPENAI_API_KEY, OPENAI_BASE_URL), `anthropic/NAME` (ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL; with
    /// every KIND), or `sim/NAME`.
    pub(crate) agent: String,
    #[command(flatten)]
    pub(crate) agent_options: AgentArguments,
    /// What it is asked to do; `-` takes it from stdin.
    pub(crate) task: String,
    /// Tools it may call, once for each source: `mcp:COMMAND` starts an MCP server, `mcp+http://...` and
    /// `mcp+https://...` ask one, `search:FOLDER` and `wiki:URL` search documents and a MediaWiki server,
    /// `calculator` and `python` are built in, `everyday:FILE` has programs, documents, translations and the like with
    /// the servers that FILE names, `made:FILE` the tools that agents make and keep in FILE. `NAME=` before it puts
    /// `NAME_` before the names of its tools and sends the token in PLANPROOF_TOKEN_NAME. The tools really do what
    /// they do.
    #[arg(long, value_name = "SOURCE")]
    pub(crate) tools: Vec<String>,
    /// Write the trace (trace v1) to this file while the agent runs.
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Show the sub-tasks of an agent that plans some and ask before it goes on: `plan` whenever some were planned,
    /// `each` also after each of them.
    #[arg(long, value_enum, value_name = "WHEN", default_value = "none")]
    pub(crate) review: ReviewChoice,
    /// Standing instructions to the model, as its system message.
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,
    /// Longest time of the run, in seconds, without what it waits for because of rate limits and further attempts; by
    /// default 180, or half as much again as a larger --request-timeout.
    #[arg(long, value_name = "SECONDS", value_parser = above_zero(SECONDS_MAX, "seconds"))]
    pub(crate) timeout: Option<f64>,
    /// Most model turns (for external agents: tool calls).
    #[arg(long, default_value_t = NonZeroU32::MIN.saturating_add(49), value_name = "N", value_parser = whole(NonZeroU32::MIN, NonZeroU32::MAX))]
    pub(crate) iterations: NonZeroU32,
    /// Longest time of one tool call, in seconds.
    #[arg(long, default_value_t = 60.0, value_name = "SECONDS", value_parser = above_zero(SECONDS_MAX, "seconds"))]
    pub(crate) tool_timeout: f64,
    /// Do not ask before an agent gets tools that are not ours. Without a terminal nobody is asked anyway.
    #[arg(long, short)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) model: ModelArguments,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(request_timeout: Option<f64>) -> ModelArguments {
        ModelArguments { requests_per_second: None, request_timeout, attempts: NonZeroU32::MIN }
    }

    #[test]
    fn a_request_is_over_before_its_run() {
        for (timeout, request, expected) in [
            (None, None, (180.0, 120.0)),
            (Some(60.0), None, (60.0, 40.0)),
            (Some(3600.0), None, (3600.0, 600.0)),
            (None, Some(20.0), (180.0, 20.0)),
            (None, Some(180.0), (270.0, 180.0)),
            (None, Some(600.0), (900.0, 600.0)),
            (Some(2.0), Some(1.5), (2.0, 1.5)),
        ] {
            let arguments = of(request);
            let run = arguments.run_time(timeout);
            let within = arguments.within(run).map_err(|failure| failure.describe());
            let found = (run.as_secs_f64(), within.unwrap().request_time().as_secs_f64());
            assert_eq!(found, expected, "{timeout:?} {request:?}");
        }
        for request in [2.0, 3.0] {
            assert!(of(Some(request)).within(of(Some(request)).run_time(Some(2.0))).is_err());
        }
        assert_eq!(of(None).request_time(), Duration::from_secs(600));
    }
}
