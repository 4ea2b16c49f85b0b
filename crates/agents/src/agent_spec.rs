//! Names of agents, as they appear on command lines, in the run store and in recordings: `tools@sim/perfect`,
//! `repair:react:samples=3@openai/gpt-5`, `spec:my.spec@anthropic/claude`, `command:python agent.py`,
//! `worker:python worker.py`, `url:http://...`.
//!
//! Names are parsed here and nowhere else. Parsing looks at the text alone: it reads no file, and does not ask
//! whether the model or program exists.

mod reaches;
mod suggestion;

use std::fmt;
use std::num::NonZeroU32;

use planproof_plan::subtasks::Division;
use planproof_spec::{Compat, SHIPPED};
use planproof_trace::Continuation;
use thiserror::Error;

use crate::behaviour::GrammarUse;
use crate::behaviour::summary::{Choice, Otherwise};
use crate::planning::{Feedback, PlanFormat, PlanOptions, Strategy};
use crate::similar::most_similar;
use crate::subtasks::options::{FormChoice, SubTaskOptions};
use crate::team::{Deliver, ManagerPrompt, SupervisorWork, TeamOptions};
use crate::{FunctionCallingAgent, PlanningAgent, TeamAgent, TwoStageAgent};

pub use reaches::Reach;
pub use suggestion::model as model_with_provider;

/// Prefix of an agent that has a guard between it and the tools.
pub const GUARD_PREFIX: &str = "repair:";

const COMMAND_PREFIX: &str = "command:";

const WORKER_PREFIX: &str = "worker:";

const URL_PREFIX: &str = "url:";

/// Prefix of a kind of agent that is made from a user's specification.
const SPEC_PREFIX: &str = "spec:";

/// Standard input where the name of a file is expected. It can be read only once, but an agent is made more than once.
const STANDARD_INPUT: &str = "-";

/// Prefix of a pair of kinds: the second one answers if samples of the first disagree.
const PAIR_PREFIX: &str = "fallback:";

/// Prefix of an evaluator that is a program.
const PROGRAM_PREFIX: &str = "program:";

/// Marks an agent whose answers a program judges.
const PROGRAM_OPTION: &str = "evaluator=program:";

/// Agents that come with suites and ask no model, under the same name in each suite that has one: a search that takes
/// the best option at each step; a reader that extracts the demands of a text; a solver that is given the demands of
/// a case; one that also proves that nothing is better; one that reads the demands from the text; one that makes all
/// calls in the order of mention; one that then does what it must not; one that stops listening after the first
/// message; and one that takes no note of what calls need.
pub const SUITE_AGENTS: [&str; 9] = [
    "at-once",
    "first-message",
    "greedy",
    "ignores-state",
    "reader",
    "solver",
    "solver-cheapest",
    "solver-from-text",
    "unconditional",
];

/// The options of an agent, in the order in which a name made from the command line has them.
pub const AGENT_OPTIONS: [&str; 24] = [
    "samples",
    "summary",
    "evaluator",
    "continuation",
    "examples",
    "grammar",
    "correction",
    COMPAT_OPTION,
    "compose-executors",
    TEXT_CALLS_OPTION,
    "format",
    "strategy",
    "feedback",
    "replies",
    FORM_OPTION,
    PROMPT_OPTION,
    "deliver",
    "supervisor",
    "manager",
    "parallel",
    "roles",
    "judge",
    MEMORY_OPTION,
    PLANNER_OPTION,
];

/// The option of the two-stage agent that names its planner's model.
const PLANNER_OPTION: &str = "planner";

/// The option of agents that write sub-tasks that turns on a memory of earlier runs.
const MEMORY_OPTION: &str = "memory";

/// The option of function-calling loops that executes calls which the model writes as text.
const TEXT_CALLS_OPTION: &str = "parse-text-calls";

/// The option that has an agent follow the published implementation.
const COMPAT_OPTION: &str = "compat";

/// The option that names the file of a planner's prompt.
const PROMPT_OPTION: &str = "prompt";

/// The option of the one-step agent for the form in which it writes its sub-tasks.
const FORM_OPTION: &str = "form";

/// The options of a planning agent.
const PLAN_OPTIONS: [&str; 7] =
    ["format", "strategy", "feedback", "replies", "judge", PROMPT_OPTION, COMPAT_OPTION];

/// The options of an agent that writes sub-tasks. A planning agent has them, too, except the memory.
const SUB_TASK_OPTIONS: [&str; 4] = ["replies", "judge", PROMPT_OPTION, MEMORY_OPTION];

/// The options of a team. All others are for agents that are made from a specification.
const TEAM_OPTIONS: [&str; 6] =
    ["compose-executors", "deliver", "supervisor", "manager", "parallel", "roles"];

/// An agent's name, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSpec {
    text: String,
    is_guarded: bool,
    form: AgentForm,
}

/// What kind of agent a name is for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "a campaign has one, and none stands in a list")]
pub enum AgentForm {
    /// A program, started for each run by this command.
    Command(String),
    /// A program, started by this command and kept for many runs.
    Worker(String),
    /// A service at this URL.
    Url(String),
    /// One of [`SUITE_AGENTS`].
    OfSuite(&'static str),
    /// Ours, with a model.
    Asking {
        kind: AgentKind,
        /// The name of its model.
        model: String,
    },
}

/// What an agent of ours does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentKind {
    /// Calls tools through the model's own interface.
    Tools(ToolLoop, AgentOptions),
    /// Writes a plan and carries it out.
    Planning(AgentOptions),
    /// Writes sub-tasks with their tools and executes them.
    SubTasks(Division, AgentOptions),
    /// Searches in steps, keeps what it finds in a notebook, and has a planner write the plan from it.
    TwoStage(AgentOptions),
    /// Divides the task among several.
    Team(AgentOptions),
    /// Goes by a specification.
    Specified(SpecName, AgentOptions),
    /// Takes votes over samples of the first, and asks the second if they disagree.
    Pair(SpecName, PairedWith, AgentOptions),
}

/// A loop of function calling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolLoop {
    /// `tools`: each request holds the whole conversation.
    WholeConversation,
    /// `tools-cot`: the same, and the model is asked to reason before each call.
    Reasoning,
    /// `responses`: the model's server stores the conversation.
    ServerState,
}

/// Where a specification comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpecName {
    /// It is shipped, under this name.
    Shipped(&'static str),
    /// It is in this file of the user's.
    File(String),
}

/// The second one of a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PairedWith {
    Tools,
    /// An agent that follows a specification.
    Specified(SpecName),
}

/// The options in a name; `None` for each that the name leaves out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentOptions {
    /// How many samples are taken.
    pub samples: Option<NonZeroU32>,
    /// What stands for the results of tools.
    pub summary: Option<Choice>,
    /// Who judges proposed answers.
    pub evaluator: Option<EvaluatorName>,
    /// How the model is asked to go on.
    pub continuation: Option<Continuation>,
    /// Whether the model is shown examples.
    pub examples: Option<bool>,
    /// When the model's server is given a grammar.
    pub grammar: Option<GrammarUse>,
    /// Whose corrections are made.
    pub correction: Option<Compat>,
    /// Whose agent it is where the published implementation differs from ours.
    pub compat: Option<Compat>,
    /// In what plans are written.
    pub format: Option<PlanFormat>,
    /// How much of a plan one reply holds.
    pub strategy: Option<Strategy>,
    /// What is fed back to the model.
    pub feedback: Option<Feedback>,
    /// How often the model is asked again at most.
    pub replies: Option<NonZeroU32>,
    /// In which form sub-tasks are written.
    pub form: Option<FormChoice>,
    /// The file of the prompt that a plan is asked for with.
    pub prompt: Option<String>,
    /// What the deliverer of a team does.
    pub deliver: Option<Deliver>,
    /// What the supervisor of a team does with results.
    pub supervisor: Option<SupervisorWork>,
    /// What the manager of a team is shown.
    pub manager: Option<ManagerPrompt>,
    /// How many sub-tasks of a team run at the same time at most.
    pub parallel: Option<NonZeroU32>,
    /// Whether the manager of a team composes the executors itself.
    pub compose: Option<bool>,
    /// Whether calls that the model writes as text are executed.
    pub text_calls: Option<bool>,
    /// The file that describes the roles of a team.
    pub roles: Option<String>,
    /// The name of the model that answers what cases leave to a judge.
    pub judge: Option<String>,
    /// Whether the agent has a memory of earlier runs.
    pub memory: Option<bool>,
    /// The name of the model that plans in the second of two stages.
    pub planner: Option<String>,
    /// The options as they are written, in the order of the name.
    written: Vec<(&'static str, String)>,
}

/// How the answers that an agent proposes are judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EvaluatorName {
    Nobody,
    /// The agent's own model.
    OwnModel,
    /// Another model, of this name.
    Model(String),
    /// A program, started by this command.
    Program(String),
}

/// What is wrong with an agent's name, and what would be valid there.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct AgentSpecError(String);

impl AgentSpec {
    /// Parses a name.
    ///
    /// # Errors
    /// There is no such kind of agent, the kind has no such options, or a guard is put in front of a guard.
    pub fn parse(text: &str) -> Result<Self, AgentSpecError> {
        let bare = text.strip_prefix(GUARD_PREFIX).unwrap_or(text);
        if bare.starts_with(GUARD_PREFIX) {
            return Err(AgentSpecError(format!(
                "\"{text}\" has more than one {GUARD_PREFIX} before it: one guard is all there is, write {GUARD_PREFIX}{}",
                bare.trim_start_matches(GUARD_PREFIX)
            )));
        }
        let form = AgentForm::parse(bare)?;
        Ok(Self { text: text.to_owned(), is_guarded: bare.len() < text.len(), form })
    }

    /// The whole name, as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The name of the agent itself, without a guard around it.
    pub fn bare(&self) -> &str {
        if self.is_guarded { &self.text[GUARD_PREFIX.len()..] } else { &self.text }
    }

    /// The word for its kind, with which the name of the agent begins: `team`, `command`.
    pub fn kind(&self) -> &str {
        self.bare().split([':', '@']).next().unwrap_or_default()
    }

    /// Whether a guard stands between it and its tools.
    pub fn is_guarded(&self) -> bool {
        self.is_guarded
    }

    /// What it is.
    pub fn form(&self) -> &AgentForm {
        &self.form
    }

    /// Whether it is a program of the user's, whether it is started for each run or kept for many.
    pub fn is_program(&self) -> bool {
        matches!(self.form, AgentForm::Command(_) | AgentForm::Worker(_))
    }

    /// Whether it is a service of the user's.
    pub fn is_service(&self) -> bool {
        matches!(self.form, AgentForm::Url(_))
    }

    /// Whether a program of the user's judges the answers that it proposes.
    pub fn is_judged_by_program(&self) -> bool {
        let evaluator = self.options().and_then(|options| options.evaluator.as_ref());
        matches!(evaluator, Some(EvaluatorName::Program(_)))
    }

    /// Whether it is one of our loops that call tools through the model's own interface.
    pub fn calls_tools(&self) -> bool {
        matches!(&self.form, AgentForm::Asking { kind: AgentKind::Tools(..), .. })
    }

    /// The name of its model; `None` for an external agent.
    pub fn model(&self) -> Option<&str> {
        match &self.form {
            AgentForm::Asking { model, .. } => Some(model),
            AgentForm::Command(_) | AgentForm::Worker(_) | AgentForm::Url(_) | AgentForm::OfSuite(_) => None,
        }
    }

    /// Its name in its suite, if it comes with a suite.
    pub fn of_suite(&self) -> Option<&'static str> {
        match self.form {
            AgentForm::OfSuite(name) => Some(name),
            AgentForm::Command(_) | AgentForm::Worker(_) | AgentForm::Url(_) | AgentForm::Asking { .. } => {
                None
            }
        }
    }

    /// Its options, if it can have some.
    pub fn options(&self) -> Option<&AgentOptions> {
        match &self.form {
            AgentForm::Asking {
                kind:
                    AgentKind::Tools(_, options)
                    | AgentKind::Planning(options)
                    | AgentKind::SubTasks(_, options)
                    | AgentKind::TwoStage(options)
                    | AgentKind::Team(options)
                    | AgentKind::Specified(_, options)
                    | AgentKind::Pair(_, _, options),
                ..
            } => Some(options),
            _ => None,
        }
    }

    /// The value of an option from [`AGENT_OPTIONS`], as the name has it.
    pub fn option_written(&self, option: &str) -> Option<&str> {
        let mut written = self.options()?.written.iter();
        written.find(|(other, _)| *other == option).map(|(_, value)| value.as_str())
    }

    /// Whether it has a memory of earlier runs.
    pub fn remembers(&self) -> bool {
        self.options().is_some_and(|options| options.memory == Some(true))
    }

    /// The specifications that the agent is made from, in the order of the name.
    pub fn specifications(&self) -> Vec<&SpecName> {
        match &self.form {
            AgentForm::Asking { kind, .. } => match kind {
                AgentKind::Tools(..)
                | AgentKind::Planning(_)
                | AgentKind::SubTasks(..)
                | AgentKind::TwoStage(_)
                | AgentKind::Team(_) => Vec::new(),
                AgentKind::Specified(one, _) | AgentKind::Pair(one, PairedWith::Tools, _) => vec![one],
                AgentKind::Pair(one, PairedWith::Specified(other), _) => vec![one, other],
            },
            AgentForm::Command(_) | AgentForm::Worker(_) | AgentForm::Url(_) | AgentForm::OfSuite(_) => {
                Vec::new()
            }
        }
    }

    /// The same agent with additional options, each a name from [`AGENT_OPTIONS`] with its value.
    ///
    /// # Errors
    /// The agent takes no options, an option is already in the name or has an invalid value, or the resulting name
    /// could not be parsed again.
    pub fn with_options(&self, given: &[(&'static str, String)]) -> Result<Self, AgentSpecError> {
        let Some((first, _)) = given.first() else { return Ok(self.clone()) };
        let is_for_others = |option: &str| {
            AgentSpecError(format!("--{option} is for {}, which {self} is not", who_has(option)))
        };
        let (Some(held), Some(model)) = (self.options(), self.model()) else {
            return Err(is_for_others(first));
        };
        let calls_tools = matches!(self.form, AgentForm::Asking { kind: AgentKind::Tools(..), .. });
        if let Some((option, _)) = given.iter().find(|(it, _)| calls_tools != (*it == TEXT_CALLS_OPTION)) {
            return Err(is_for_others(option));
        }
        let mut all = held.written.clone();
        for (option, value) in given {
            if all.iter().any(|(other, _)| other == option) {
                return Err(AgentSpecError(format!("--{option} stands in the agent's name already: {self}")));
            }
            all.push((option, value.clone()));
        }
        // One order, so that the same options make the same name however they were given.
        all.sort_by_key(|(option, _)| AGENT_OPTIONS.iter().position(|other| other == option));
        let texts: Vec<String> = all.iter().map(|(option, value)| format!("{option}={value}")).collect();
        let (kind, _) = parts(self.bare()).unwrap_or_default();
        let (base, _) = split(kind);
        let guard = &self.text[..self.text.len() - self.bare().len()];
        let text = format!("{guard}{base}:{}@{model}", texts.join(","));
        let made = Self::parse(&text)?;
        // A command may contain the characters that separate the parts of a name.
        let is_read_back =
            made.model() == Some(model) && made.options().is_some_and(|options| options.written == all);
        if !is_read_back {
            return Err(AgentSpecError(format!(
                "the agent's name would be {text}, which cannot be told apart into its options and its model again: put the \
                 command of the evaluator into a script"
            )));
        }
        Ok(made)
    }
}

impl fmt::Display for AgentSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl AgentForm {
    fn parse(bare: &str) -> Result<Self, AgentSpecError> {
        // Before any `@` is looked for, which commands and URLs may contain.
        if let Some(command) = bare.strip_prefix(COMMAND_PREFIX) {
            return Ok(Self::Command(command.to_owned()));
        }
        if let Some(command) = bare.strip_prefix(WORKER_PREFIX) {
            return Ok(Self::Worker(command.to_owned()));
        }
        if let Some(url) = bare.strip_prefix(URL_PREFIX) {
            return Ok(Self::Url(url.to_owned()));
        }
        if let Some(name) = SUITE_AGENTS.into_iter().find(|name| *name == bare) {
            return Ok(Self::OfSuite(name));
        }
        let Some((kind, model)) = parts(bare) else {
            if let Some(meant) = suggestion::agent(bare) {
                return Err(AgentSpecError(format!("unknown agent \"{bare}\": did you mean {meant}?")));
            }
            return Err(AgentSpecError(format!(
                "unknown agent \"{bare}\": write KIND@MODEL with one of {}; or {COMMAND_PREFIX}PROGRAM, {WORKER_PREFIX}PROGRAM or \
                 {URL_PREFIX}URL, as in tools@sim/careless",
                known()
            )));
        };
        Ok(Self::Asking { kind: AgentKind::parse(kind)?, model: model.to_owned() })
    }
}

impl AgentKind {
    fn parse(kind: &str) -> Result<Self, AgentSpecError> {
        let (base, options) = split(kind);
        if let Some(of_tools) = ToolLoop::find(base) {
            let options = AgentOptions::parse_for(base, options, |it| it == TEXT_CALLS_OPTION)?;
            return Ok(Self::Tools(of_tools, options));
        }
        if base == PlanningAgent::KIND {
            let options = AgentOptions::parse_for(base, options, |it| PLAN_OPTIONS.contains(&it))?;
            let PlanOptions { format, strategy, compat, .. } = options.planning();
            let published = (compat, format, strategy);
            if published == (Compat::Original, PlanFormat::Code, Strategy::StepByStep) {
                return Err(AgentSpecError(format!(
                    "the published code of {base} writes no programs step by step: leave out compat=original, or one of \
                     format=code and strategy=step-by-step"
                )));
            }
            return Ok(Self::Planning(options));
        }
        if let Some(division) = division(base) {
            let options = AgentOptions::parse_for(base, options, |it| {
                SUB_TASK_OPTIONS.contains(&it) || (it == FORM_OPTION && division == Division::AtOnce)
            })?;
            return Ok(Self::SubTasks(division, options));
        }
        if base == TwoStageAgent::KIND {
            return Ok(Self::TwoStage(AgentOptions::parse_for(base, options, |it| it == PLANNER_OPTION)?));
        }
        if base == TeamAgent::KIND {
            let options = AgentOptions::parse_for(base, options, |it| TEAM_OPTIONS.contains(&it))?;
            return Ok(Self::Team(options));
        }
        if !is_specified(base) {
            return Err(unknown(kind));
        }
        let single = [PLANNER_OPTION, TEXT_CALLS_OPTION, FORM_OPTION];
        let others = [&PLAN_OPTIONS[..], &SUB_TASK_OPTIONS, &TEAM_OPTIONS, &single];
        let is_of_specified =
            |it: &str| it == COMPAT_OPTION || !others.iter().any(|options| options.contains(&it));
        let options = AgentOptions::parse_for(base, options, is_of_specified)?;
        // A pair and an agent of one specification have the same options.
        let Some(pair) = base.strip_prefix(PAIR_PREFIX) else {
            return Ok(Self::Specified(SpecName::parse(base)?, options));
        };
        let Some((first, other)) = pair.split_once(',') else {
            return Err(AgentSpecError(format!(
                "\"{base}\" is no pair of agents: write {PAIR_PREFIX}KIND,KIND, as in {PAIR_PREFIX}direct,react"
            )));
        };
        let first = SpecName::parse(first)?;
        let other = match ToolLoop::find(other) {
            Some(ToolLoop::WholeConversation) => PairedWith::Tools,
            // The other loops cannot be part of a pair: their names lead to the error for unknown kinds.
            _ => PairedWith::Specified(SpecName::parse(other)?),
        };
        Ok(Self::Pair(first, other, options))
    }
}

impl ToolLoop {
    fn find(name: &str) -> Option<Self> {
        match name {
            FunctionCallingAgent::KIND => Some(Self::WholeConversation),
            FunctionCallingAgent::KIND_THAT_REASONS => Some(Self::Reasoning),
            FunctionCallingAgent::KIND_WITH_SERVER_STATE => Some(Self::ServerState),
            _ => None,
        }
    }
}

impl SpecName {
    fn parse(name: &str) -> Result<Self, AgentSpecError> {
        if let Some(file) = name.strip_prefix(SPEC_PREFIX) {
            if file == STANDARD_INPUT {
                return Err(AgentSpecError(format!(
                    "{name} is standard input, which can be read only once, and the agent is made more than once: write the \
                     specification to a file, and name it with {SPEC_PREFIX}FILE"
                )));
            }
            return Ok(Self::File(file.to_owned()));
        }
        let shipped = SHIPPED.iter().find(|(shipped, _)| *shipped == name);
        shipped.map(|(shipped, _)| Self::Shipped(shipped)).ok_or_else(|| unknown(name))
    }
}

impl AgentOptions {
    /// How an agent with these options plans.
    pub fn planning(&self) -> PlanOptions {
        let usual = PlanOptions::default();
        PlanOptions {
            format: self.format.unwrap_or(usual.format),
            strategy: self.strategy.unwrap_or(usual.strategy),
            feedback: self.feedback.unwrap_or(usual.feedback),
            replies_max: self.replies.unwrap_or(usual.replies_max),
            compat: self.compat.unwrap_or(usual.compat),
        }
    }

    /// How an agent with these options writes sub-tasks.
    pub fn sub_tasks(&self) -> SubTaskOptions {
        let usual = SubTaskOptions::default();
        SubTaskOptions {
            replies_max: self.replies.unwrap_or(usual.replies_max),
            remembers: self.memory.unwrap_or(usual.remembers),
            form: self.form.unwrap_or(usual.form),
        }
    }

    /// How a team with these options works.
    pub fn team(&self) -> TeamOptions {
        let usual = TeamOptions::default();
        TeamOptions {
            deliver: self.deliver.unwrap_or(usual.deliver),
            supervisor: self.supervisor.unwrap_or(usual.supervisor),
            manager: self.manager.unwrap_or(usual.manager),
            composes: self.compose.unwrap_or(usual.composes),
            parallel: self.parallel.unwrap_or(usual.parallel),
        }
    }

    fn parse_for(base: &str, options: &str, has: impl Fn(&str) -> bool) -> Result<Self, AgentSpecError> {
        let read = Self::parse(options)?;
        match read.written.iter().find(|(option, _)| !has(option)) {
            Some((other, _)) => {
                Err(AgentSpecError(format!("{base} has no option {other}: that is for {}", who_has(other))))
            }
            None => Ok(read),
        }
    }

    fn parse(options: &str) -> Result<Self, AgentSpecError> {
        let mut read = Self::default();
        for (option, value) in listed(options)? {
            let wrong = |known: &str| {
                AgentSpecError(format!("\"{value}\" is no value of the option {option}: write {known}"))
            };
            match option {
                "samples" => {
                    let samples = value.parse().map_err(|_| wrong("a whole number of at least 1"))?;
                    read.samples = Some(samples);
                }
                "summary" => {
                    read.summary = Some(match value {
                        "auto" => Choice::Likelier(Otherwise::default()),
                        "summary" => Choice::Summary,
                        "results" => Choice::Results,
                        _ => return Err(wrong("auto, summary or results")),
                    });
                }
                "examples" | "compose-executors" | MEMORY_OPTION | TEXT_CALLS_OPTION => {
                    let is_on = match value {
                        "on" => true,
                        "off" => false,
                        _ => return Err(wrong("on or off")),
                    };
                    match option {
                        "compose-executors" => read.compose = Some(is_on),
                        MEMORY_OPTION => read.memory = Some(is_on),
                        TEXT_CALLS_OPTION => read.text_calls = Some(is_on),
                        _ => read.examples = Some(is_on),
                    }
                }
                "grammar" => {
                    let grammar = GrammarUse::ALL.into_iter().find(|it| it.as_str() == value);
                    read.grammar = Some(grammar.ok_or_else(|| wrong("off, corrections or auto"))?);
                }
                "correction" | COMPAT_OPTION => {
                    let whose = match value {
                        "ours" => Compat::Ours,
                        "original" => Compat::Original,
                        _ => return Err(wrong("ours or original")),
                    };
                    match option {
                        COMPAT_OPTION => read.compat = Some(whose),
                        _ => read.correction = Some(whose),
                    }
                }
                "format" => {
                    let format = PlanFormat::ALL.into_iter().find(|it| it.as_str() == value);
                    read.format = Some(format.ok_or_else(|| wrong("json or code"))?);
                }
                "strategy" => {
                    let strategy = Strategy::ALL.into_iter().find(|it| it.as_str() == value);
                    read.strategy = Some(strategy.ok_or_else(|| wrong("multi-step or step-by-step"))?);
                }
                "feedback" => {
                    let feedback = Feedback::ALL.into_iter().find(|it| it.as_str() == value);
                    read.feedback = Some(feedback.ok_or_else(|| wrong("none, P, PV, PE or PVE"))?);
                }
                "replies" => {
                    let replies = value.parse().map_err(|_| wrong("a whole number of at least 1"))?;
                    read.replies = Some(replies);
                }
                "deliver" => {
                    let deliver = Deliver::ALL.into_iter().find(|it| it.as_str() == value);
                    read.deliver = Some(deliver.ok_or_else(|| wrong("inference, reporting or solver"))?);
                }
                "supervisor" => {
                    let supervisor = SupervisorWork::ALL.into_iter().find(|it| it.as_str() == value);
                    read.supervisor = Some(supervisor.ok_or_else(|| wrong("rewrite or pass"))?);
                }
                "manager" => {
                    let manager = ManagerPrompt::ALL.into_iter().find(|it| it.as_str() == value);
                    read.manager = Some(manager.ok_or_else(|| wrong("zero-shot or one-shot"))?);
                }
                "parallel" => {
                    let parallel = value.parse().map_err(|_| wrong("a whole number of at least 1"))?;
                    read.parallel = Some(parallel);
                }
                // The name of a model begins with its provider.
                "judge" | PLANNER_OPTION if !value.contains('/') => {
                    return Err(wrong("the name of a model, as in openai/gpt-5"));
                }
                PLANNER_OPTION => read.planner = Some(value.to_owned()),
                "judge" => read.judge = Some(value.to_owned()),
                FORM_OPTION => {
                    let form = FormChoice::ALL.into_iter().find(|it| it.as_str() == value);
                    read.form = Some(form.ok_or_else(|| wrong("pairs, lists, tools or asked"))?);
                }
                PROMPT_OPTION if value.is_empty() || value == STANDARD_INPUT => {
                    return Err(wrong("the name of a file with the prompt"));
                }
                PROMPT_OPTION => read.prompt = Some(value.to_owned()),
                "roles" if value.is_empty() => return Err(wrong("the name of a file of TOML")),
                "roles" if value == STANDARD_INPUT => {
                    return Err(wrong(
                        "the name of a file of TOML, because standard input can be read only once, and the agent is made \
                         more than once",
                    ));
                }
                "roles" => read.roles = Some(value.to_owned()),
                "evaluator" => {
                    let evaluator = EvaluatorName::parse(value).ok_or_else(|| {
                        wrong("none, model (the agent's own), the name of a model, or program:COMMAND")
                    })?;
                    read.evaluator = Some(evaluator);
                }
                // `listed` lets only known options pass, and the one that is left is `continuation`.
                _ => {
                    let way = Continuation::ALL.into_iter().find(|way| way.as_str() == value);
                    read.continuation = Some(way.ok_or_else(|| wrong("text, partial_turn or chat"))?);
                }
            }
            read.written.push((option, value.to_owned()));
        }
        if (read.compat, read.correction) == (Some(Compat::Original), Some(Compat::Ours)) {
            return Err(AgentSpecError(
                "compat=original has the published correction: leave out correction=ours".to_owned(),
            ));
        }
        Ok(read)
    }
}

impl EvaluatorName {
    fn parse(value: &str) -> Option<Self> {
        match value {
            "none" => Some(Self::Nobody),
            "model" => Some(Self::OwnModel),
            _ => match value.strip_prefix(PROGRAM_PREFIX) {
                Some(command) => Some(Self::Program(command.to_owned())),
                None => value.contains('/').then(|| Self::Model(value.to_owned())),
            },
        }
    }
}

/// The kinds of agents that ask a model, for messages.
fn known() -> String {
    format!("{}, {SPEC_PREFIX}FILE, {PAIR_PREFIX}KIND,KIND", kinds().join(", "))
}

fn kinds() -> Vec<&'static str> {
    let mut kinds = vec![
        FunctionCallingAgent::KIND,
        FunctionCallingAgent::KIND_THAT_REASONS,
        FunctionCallingAgent::KIND_WITH_SERVER_STATE,
        PlanningAgent::KIND,
    ];
    kinds.extend(Division::ALL.map(Division::as_str));
    kinds.extend([TwoStageAgent::KIND, TeamAgent::KIND]);
    kinds.extend(SHIPPED.map(|(name, _)| name));
    kinds
}

/// The agents that have an option, for messages.
fn who_has(option: &str) -> &'static str {
    if option == COMPAT_OPTION {
        return "agents that are made from a specification, and planning agents (plan)";
    }
    let is_of_both = PLAN_OPTIONS.contains(&option) && SUB_TASK_OPTIONS.contains(&option);
    if is_of_both {
        "agents that plan (plan, one-step, sequential, hierarchical)"
    } else if SUB_TASK_OPTIONS.contains(&option) {
        "agents that write sub-tasks (one-step, sequential, hierarchical)"
    } else if PLAN_OPTIONS.contains(&option) {
        "planning agents (plan)"
    } else if TEAM_OPTIONS.contains(&option) {
        "teams (team)"
    } else if option == FORM_OPTION {
        "the one-step agent (one-step)"
    } else if option == PLANNER_OPTION {
        "the two-stage agent (two-stage)"
    } else if option == TEXT_CALLS_OPTION {
        "agents that call tools (tools, tools-cot, responses)"
    } else {
        "agents that are made from a specification"
    }
}

/// The fault of an unknown kind of agent.
fn unknown(kind: &str) -> AgentSpecError {
    let known_kind = kind.split_once(':').filter(|(base, _)| has_options(base));
    AgentSpecError(match known_kind {
        Some((base, options)) => match listed(options) {
            Err(error) => error.0,
            Ok(_) => format!("\"{kind}\" has a colon and no option behind it: write {base}"),
        },
        None => match most_similar(kind, kinds()) {
            Some(meant) => format!("unknown kind of agent \"{kind}\": did you mean {meant}?"),
            None => format!("unknown kind of agent \"{kind}\"; there are {}", known()),
        },
    })
}

/// Kind and model of an agent that asks one.
fn parts(name: &str) -> Option<(&str, &str)> {
    // The name of a file may hold an `@`, and so may a command.
    if name.contains(SPEC_PREFIX) || name.contains(PROGRAM_OPTION) {
        name.rsplit_once('@')
    } else {
        name.split_once('@')
    }
}

/// A kind without its options, and the options.
fn split(kind: &str) -> (&str, &str) {
    // Kinds such as `spec:FILE` contain colons themselves, so only a colon before the name of an option counts.
    let places = AGENT_OPTIONS.iter().filter_map(|option| kind.find(&format!(":{option}=")));
    match places.min() {
        Some(place) => (&kind[..place], &kind[place + 1..]),
        None => (kind, ""),
    }
}

/// How an agent of this kind divides tasks into sub-tasks; `None` if it does not.
fn division(base: &str) -> Option<Division> {
    Division::ALL.into_iter().find(|division| division.as_str() == base)
}

/// Whether a kind can have options.
fn has_options(base: &str) -> bool {
    [PlanningAgent::KIND, TwoStageAgent::KIND, TeamAgent::KIND].contains(&base)
        || ToolLoop::find(base).is_some()
        || division(base).is_some()
        || is_specified(base)
}

/// Whether a kind without its options is made from specifications.
fn is_specified(base: &str) -> bool {
    let is_shipped = SHIPPED.iter().any(|(name, _)| *name == base);
    is_shipped || base.starts_with(SPEC_PREFIX) || base.starts_with(PAIR_PREFIX)
}

/// Where the first of the options ends. A command may contain commas, so only the next option ends it.
fn end_of_first(options: &str) -> usize {
    let end = if options.starts_with(PROGRAM_OPTION) {
        AGENT_OPTIONS.iter().filter_map(|option| options.find(&format!(",{option}="))).min()
    } else {
        options.find(',')
    };
    end.unwrap_or(options.len())
}

fn listed(options: &str) -> Result<Vec<(&'static str, &str)>, AgentSpecError> {
    let mut all: Vec<(&'static str, &str)> = Vec::new();
    let mut rest = options;
    while !rest.is_empty() {
        let end = end_of_first(rest);
        let part = &rest[..end];
        rest = rest.get(end + 1..).unwrap_or_default();
        if part.is_empty() {
            continue;
        }
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let option = AGENT_OPTIONS.into_iter().find(|option| *option == name && part.contains('='));
        let Some(option) = option else {
            return Err(AgentSpecError(format!(
                "there is no option \"{name}\" of an agent; there are {}",
                AGENT_OPTIONS.map(|option| format!("{option}=...")).join(", ")
            )));
        };
        if all.iter().any(|(other, _)| *other == option) {
            return Err(AgentSpecError(format!("the option {option} of the agent stands twice")));
        }
        all.push((option, value));
    }
    Ok(all)
}

#[cfg(test)]
mod tests;
