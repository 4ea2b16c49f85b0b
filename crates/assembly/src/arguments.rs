//! How an agent and its model are asked, as arguments.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use planproof_campaign::BudgetOptions;
use planproof_model::prices::DOLLARS_MAX;
use planproof_output::failure::Failure;
use planproof_output::values::{MINUTES_MAX, SECONDS_MAX, above_zero, file, seconds, whole};

/// Options of agents that are made from a specification.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Agent")]
pub struct AgentArguments {
    /// Ask N times and take the most frequent answer.
    ///
    /// For `direct` and `cot`. `fallback:` takes 5 by default.
    #[arg(long, value_name = "N", value_parser = whole(NonZeroU32::MIN, NonZeroU32::MAX))]
    pub(crate) samples: Option<NonZeroU32>,
    /// What agents that summarise tool results read: the summary or the results.
    #[arg(long, value_enum, value_name = "WHICH")]
    pub(crate) summary: Option<SummaryChoice>,
    /// Judge of the answers that an agent proposes; by default there is none.
    ///
    /// `none`, `model` (the agent's own), the name of a model, or `program:COMMAND`. The program is started for each
    /// answer, reads it as JSON on stdin, and accepts it with exit status 0, or rejects it with 1 and the reason on
    /// stdout.
    #[arg(long, value_name = "WHO")]
    pub(crate) evaluator: Option<String>,
    /// How the model is asked to continue its text; by default the best way that it supports.
    #[arg(long, value_enum, value_name = "WAY")]
    pub(crate) continuation: Option<Way>,
    /// Whether the prompt includes the examples of the specification.
    ///
    /// By default those of a specification file are included, and those of shipped specifications are not: they cost
    /// about 200 to 400 tokens per request.
    #[arg(long, value_enum, value_name = "WHETHER")]
    pub(crate) examples: Option<OnOff>,
    /// When a server that takes grammars is sent the grammar of the next section; by default after a rejected reply.
    ///
    /// llama.cpp, vLLM and SGLang take one. It changes nothing in what is accepted.
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(crate) grammar: Option<GrammarChoice>,
    /// How a reply that breaks the specification is corrected.
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) correction: Option<CorrectionChoice>,
    /// Run an agent as its paper and the published code have it.
    ///
    /// For agents that are made from a specification: the published correction, votes, evidence and summaries, and
    /// specifications as papers print them, without handlers.
    ///
    /// With `planproof test --dissect` it is about the dissection, and with `planproof bench travelplanner` about the
    /// judgement of plans; write `compat=original` into the name of the agent there, as in
    /// `react:compat=original@MODEL`.
    #[arg(long, value_enum, value_name = "HOW")]
    pub compat: Option<CompatChoice>,
    /// Let the manager of a team choose its executors from the tools of each task.
    #[arg(long)]
    pub(crate) compose_executors: bool,
    /// Execute calls that the model writes as text.
    ///
    /// For `tools@MODEL`, `tools-cot@MODEL` and `responses@MODEL`, where the model's server does not read calls from
    /// its text. All common forms are read, as long as they name a tool of the case. The agent's name says so.
    #[arg(long)]
    pub(crate) parse_text_calls: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GrammarChoice {
    /// Never.
    Off,
    /// After a reply that was rejected.
    Corrections,
    /// In every request.
    Auto,
}

impl GrammarChoice {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Corrections => "corrections",
            Self::Auto => "auto",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CorrectionChoice {
    /// A wrong label is mended, and no request is repeated as it was.
    Ours,
    /// As published: a mark is written, and the model is asked again.
    Original,
}

impl CorrectionChoice {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Original => "original",
        }
    }
}

/// Whom to follow where published code departs from its paper, or from ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompatChoice {
    /// The published code.
    Original,
    /// Ours, as without the option.
    #[value(alias = "right")]
    Ours,
}

impl CompatChoice {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Original => "original",
            Self::Ours => "ours",
        }
    }
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
    /// Whichever the model finds likelier, or the shorter one if it gives no probabilities.
    Auto,
    /// The summary.
    Summary,
    /// The results. No summary is made.
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
    /// The model continues plain text.
    Text,
    /// The model continues its own message.
    PartialTurn,
    /// A further message asks the model to continue.
    Chat,
}

/// How a model behind a server is asked. Simulated models in process need none of it.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Requests to the model")]
pub struct ModelArguments {
    /// Maximum number of requests started per second, over all runs.
    #[arg(long, value_name = "N", value_parser = whole(NonZeroU32::MIN, NonZeroU32::MAX))]
    pub requests_per_second: Option<NonZeroU32>,
    /// Longest silence of the model's server during one request, in seconds.
    ///
    /// A streamed reply may take as long as it flows; a whole one has to arrive within this time. The default is 600.
    /// In a run with a time limit, it must be below that limit, and the default is two thirds of the limit, at most
    /// 1200.
    #[arg(long, value_name = "SECONDS", value_parser = above_zero(SECONDS_MAX, "seconds"))]
    pub request_timeout: Option<f64>,
    /// Maximum number of attempts at a model request, including the first.
    ///
    /// A request is retried after a temporary failure: no connection, or status 408, 409, 429 or 5xx. `retry-after` is
    /// honoured.
    #[arg(long, default_value_t = NonZeroU32::MIN.saturating_add(3), value_name = "N", value_parser = whole(NonZeroU32::MIN, NonZeroU32::MAX))]
    pub attempts: NonZeroU32,
    /// Whether a model of Ollama's thinks, from the command line or the stored campaign; `None` leaves it to the model.
    #[arg(skip)]
    pub think: Option<bool>,
}

/// What may be spent.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Budget")]
pub struct BudgetArguments {
    /// Maximum cost of model tokens, in US dollars.
    ///
    /// A request that would exceed it is not sent, and finished work is kept. A campaign can be resumed with `--resume`
    /// and a larger budget.
    #[arg(long, value_name = "USD", value_parser = above_zero(DOLLARS_MAX, "US dollars"))]
    pub max_cost: Option<f64>,
    /// Maximum number of tokens, input and output together.
    #[arg(long, value_name = "N", value_parser = whole(1, u64::MAX))]
    pub max_tokens: Option<u64>,
    /// Maximum wall time of this command, in minutes.
    ///
    /// Work that is in progress at that time is stopped; runs of a campaign that were stopped count as not run.
    #[arg(long, value_name = "M", value_parser = above_zero(MINUTES_MAX, "minutes"))]
    pub minutes: Option<f64>,
    /// File of model prices, instead of the built-in ones.
    ///
    /// docs/files.md describes the format.
    #[arg(long, value_name = "FILE", env = "PLANPROOF_PRICES")]
    pub prices: Option<PathBuf>,
}

impl From<&BudgetArguments> for BudgetOptions {
    fn from(arguments: &BudgetArguments) -> Self {
        let BudgetArguments { max_cost, max_tokens, minutes, prices } = arguments.clone();
        Self { max_cost, max_tokens, minutes, prices }
    }
}

/// How a model is asked, and what that may take.
#[derive(Debug, Args)]
pub struct AskingArguments {
    #[command(flatten)]
    pub model: ModelArguments,
    #[command(flatten)]
    pub budget: BudgetArguments,
    /// Cache of model answers: reuse those in this file, and add new ones.
    ///
    /// You do not pay twice if the command is interrupted. A model `replay/FILE` gives the same answers again.
    #[arg(long, value_name = "FILE", value_parser = file())]
    pub cache: Option<PathBuf>,
}

/// Whether a model thinks before it replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Think {
    /// It thinks.
    On,
    /// It does not.
    Off,
}

impl Think {
    pub fn is_on(self) -> bool {
        self == Self::On
    }
}

/// Longest time of a model request where no run bounds it.
const REQUEST_SECONDS: f64 = 600.0;

/// The same where only a long run bounds it: a processor may write a few tokens a second.
const REQUEST_IN_RUN_SECONDS: f64 = 1200.0;

/// Longest time of a run where nothing is said.
pub const TIMEOUT_SECONDS: f64 = 180.0;

/// The same for a model on this machine.
pub(crate) const LOCAL_TIMEOUT_SECONDS: f64 = 1800.0;

/// The part of a run's time that one request may take where nothing is said.
const REQUEST_SHARE: f64 = 2.0 / 3.0;

impl ModelArguments {
    /// The longest time of a request.
    pub(crate) fn request_time(&self) -> Duration {
        seconds(self.request_timeout.unwrap_or(REQUEST_SECONDS))
    }

    /// The longest time of a run that `--timeout` gives, or whose requests `--request-timeout` bounds. A model that is
    /// `local` gets more by default.
    pub fn run_time(&self, timeout: Option<f64>, local: bool) -> Duration {
        let usual = if local { LOCAL_TIMEOUT_SECONDS } else { TIMEOUT_SECONDS };
        // A request has to be over before its run, so a long one makes the default of the run longer.
        let request = self.request_timeout.filter(|request| *request >= usual);
        seconds(timeout.unwrap_or(request.map_or(usual, |request| request / REQUEST_SHARE)))
    }

    /// The same for requests within runs of so long: a request is over before its run, so that a server which
    /// does not answer is seen to be at fault.
    pub fn within(&self, run: Duration) -> Result<Self, Failure> {
        let most = run.as_secs_f64();
        let request = match self.request_timeout {
            Some(request) if request >= most => {
                return Err(Failure::usage(format!(
                    "--request-timeout {request} must be below the {most} seconds of a run (--timeout): a server that does not \
                     answer is given up before the run is over"
                )));
            }
            Some(request) => request,
            None => REQUEST_IN_RUN_SECONDS.min(most * REQUEST_SHARE),
        };
        Ok(Self { request_timeout: Some(request), ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(request_timeout: Option<f64>) -> ModelArguments {
        ModelArguments { requests_per_second: None, request_timeout, attempts: NonZeroU32::MIN, think: None }
    }

    #[test]
    fn a_request_is_over_before_its_run() {
        for (timeout, request, local, expected) in [
            (None, None, false, (180.0, 120.0)),
            (Some(60.0), None, false, (60.0, 40.0)),
            (Some(3600.0), None, false, (3600.0, 1200.0)),
            (None, Some(20.0), false, (180.0, 20.0)),
            (None, Some(180.0), false, (270.0, 180.0)),
            (None, Some(600.0), false, (900.0, 600.0)),
            (Some(2.0), Some(1.5), false, (2.0, 1.5)),
            (None, None, true, (1800.0, 1200.0)),
            (Some(180.0), None, true, (180.0, 120.0)),
            (Some(7200.0), None, true, (7200.0, 1200.0)),
            (None, Some(20.0), true, (1800.0, 20.0)),
            (None, Some(2400.0), true, (3600.0, 2400.0)),
        ] {
            let arguments = of(request);
            let run = arguments.run_time(timeout, local);
            let within = arguments.within(run).map_err(|failure| failure.describe());
            let found = (run.as_secs_f64(), within.unwrap().request_time().as_secs_f64());
            assert_eq!(found, expected, "{timeout:?} {request:?} {local}");
        }
        for request in [2.0, 3.0] {
            assert!(of(Some(request)).within(of(Some(request)).run_time(Some(2.0), false)).is_err());
        }
        assert_eq!(of(None).request_time(), Duration::from_secs(600));
    }
}
