//! From names on the command line to objects: cases from files, agents, models.

mod kinds;
mod meant;
mod team;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use planproof_agents::planning::PlanFormat;
use planproof_agents::{
    Agent, AgentForm, AgentKind, AgentOptions, AgentSpec, CommandAgent, CommandError, FunctionCallingAgent,
    PlanningAgent, ProgramSetting, SubTaskAgent, ToolLoop, TwoStageAgent, UrlAgent, WorkerAgent,
    most_similar,
};
use planproof_campaign::{FindModel, KeyNeeded, ModelForm, ProgramOptions};
use planproof_engine::{AgentUnderTest, OfSuite};
use planproof_isolation::MachineIsolation;
use planproof_model::anthropic::AnthropicModel;
use planproof_model::ollama::OllamaModel;
use planproof_model::openai::{OpenAiConfig, OpenAiModel, ResponsesModel};
use planproof_model::recording::{Recording, ReplayModel};
use planproof_model::{ConnectionConfig, KeepsReplies, LoadingNotice, Model, Protocol, Provider};
use planproof_order::OrderSuite;
use planproof_order::learning::Language;
use planproof_order::synth::file::read_case;
use planproof_order::synth::{PlanningCase, SynthesisError, TopicBank};
use planproof_sandbox::{Sandbox, WorkerCommand};
use planproof_sim::{ECHO_NAME, EchoModel, SimKind, SimModel};
use planproof_suite::Case;
use planproof_tools::SchemaCache;
use planproof_trace::Tool;
use serde::de::IgnoredAny;

use crate::arguments::ModelArguments;
use crate::failure::Failure;
use crate::progress::tell;
use crate::terminal::inline;
pub(crate) use crate::text_files::{read_json, read_text};
use crate::{env_file, progress, providers, secrets};
pub(crate) use kinds::{made_from, options_written, rules_named_by, with_options};
pub(crate) use meant::{RUNS_COMMANDS, as_command, with_provider};

/// Most edits between a word and the one suggested for it.
const EDITS_MAX: usize = 2;

/// Reads case v1 lines. Blank lines are ignored; there must be at least one case, and ids must differ.
pub(crate) fn read_cases(path: &Path) -> Result<Vec<PlanningCase>, Failure> {
    let text = read_text(path)?;
    let mut cases: Vec<PlanningCase> = Vec::new();
    let mut ids = std::collections::HashSet::new();
    // A single case may be spread over several lines by an editor or a JSON tool.
    if text.trim().contains('\n') && serde_json::from_str::<IgnoredAny>(&text).is_ok() {
        let case = read_case(&text)
            .map_err(|error| Failure::usage(format!("{}: {}", path.display(), inline(&error.to_string()))))?;
        refuse_keys(&case)?;
        return Ok(vec![case]);
    }
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = || format!("{}, line {}", path.display(), number + 1);
        let case = read_case(line).map_err(|error| {
            // For JSON, which is read by the line, every line is the first.
            let error = error.to_string().replace(" at line 1 column ", " at column ");
            Failure::usage(format!(
                "{}: {}; each line is a case as `planproof synth` writes it",
                place(),
                inline(&error)
            ))
        })?;
        refuse_keys(&case)?;
        if !ids.insert(case.id.clone()) {
            let id = inline(&case.id);
            return Err(Failure::usage(format!("{}: there is a case \"{id}\" already", place())));
        }
        cases.push(case);
    }
    if cases.is_empty() {
        return Err(Failure::usage(format!("{} holds no case", path.display())));
    }
    Ok(cases)
}

/// Refuses a case that contains one of our keys, if we have any.
fn refuse_keys(case: &PlanningCase) -> Result<(), Failure> {
    if secrets::held().is_empty() {
        return Ok(());
    }
    secrets::refuse_keys(&*OrderSuite::default().wrap(case.clone()))
}

/// The topics of a file, or those that come with planproof. The schemas of a user's own tools can be used.
pub(crate) fn topic_bank(path: Option<&Path>) -> Result<TopicBank, Failure> {
    let Some(path) = path else { return Ok(TopicBank::shipped().clone()) };
    let fail = |what: String| Failure::usage(format!("--topics {}: {what}", path.display()));
    let bank = TopicBank::from_json(&read_text(path)?)
        .map_err(|error| fail(format!("{error}; `planproof topics --json` shows the form of such a file")))?;
    let schemas = SchemaCache::default();
    for tool in bank.topics().iter().flat_map(|topic| &topic.activities).filter_map(|it| it.tool.as_ref()) {
        // Otherwise an unusable schema would only show when a run calls the tool.
        schemas.check_schema(&tool.input_schema).map_err(|reason| {
            fail(format!("the input schema of tool `{}` cannot be used: {reason}", tool.name))
        })?;
    }
    Ok(bank)
}

/// A fault of a case, in one line: its id comes from a file, and so may words of the fault.
pub(crate) fn fault_of_case(id: &str, error: &impl Display) -> Failure {
    Failure::usage(inline(&format!("case {id}: {error}")))
}

/// The tools of some cases, each name once.
pub(crate) fn tools_of_cases(cases: &[Arc<dyn Case>]) -> Result<Vec<Tool>, Failure> {
    let mut tools: BTreeMap<String, Tool> = BTreeMap::new();
    for case in cases {
        let toolbox = case.toolbox().map_err(|error| fault_of_case(&case.card().id, &error))?;
        for tool in toolbox.tools().iter() {
            tools.entry(tool.name.clone()).or_insert_with(|| tool.clone());
        }
    }
    Ok(tools.into_values().collect())
}

/// Reports on stderr the faults of the agent's specifications if these are the tools, one per line; `find` returns
/// the tools and is only called if requirements are about calls.
pub(crate) fn warn_of_tools(
    name: &AgentSpec,
    find: impl FnOnce() -> Result<Vec<Tool>, Failure>,
) -> Result<(), Failure> {
    let specified = kinds::specifications(name)?;
    let concerned: Vec<_> = specified.iter().filter(|(_, automaton)| automaton.requires_of_calls()).collect();
    if concerned.is_empty() {
        return Ok(());
    }
    let tools = find()?;
    for (source, automaton) in concerned {
        for diagnostic in automaton.check_tools(&tools) {
            let help = diagnostic.help.map(|help| format!("; {help}")).unwrap_or_default();
            // Every diagnostic has at least one label.
            let line =
                format!("{source}, line {}: {}{help}", diagnostic.labels[0].span.line, diagnostic.message);
            progress::warn(&inline(&line));
        }
    }
    Ok(())
}

/// One case of a file: the one with that id, or the only one.
pub(crate) fn pick_case(cases: Vec<PlanningCase>, id: Option<&str>) -> Result<PlanningCase, Failure> {
    let count = cases.len();
    let mut found = cases.into_iter().filter(|case| id.is_none_or(|id| case.id == id));
    match (found.next(), id) {
        (Some(_), None) if count > 1 => {
            Err(Failure::usage(format!("the file holds {count} cases; choose one with --id")))
        }
        (Some(case), _) => Ok(case),
        (None, id) => Err(Failure::usage(format!("the file has no case \"{}\"", id.unwrap_or_default()))),
    }
}

/// The model of that name.
pub(crate) fn model(
    name: &str,
    form: ModelForm,
    asking: &ModelArguments,
    key: KeyNeeded,
) -> Result<Arc<dyn Model>, Failure> {
    Ok(match (ModelName::parse(name)?, form) {
        (ModelName::Echo, ModelForm::Chat) => Arc::new(EchoModel),
        (ModelName::Echo, ModelForm::KeepsReplies) => Arc::new(KeepsReplies::new(Arc::new(EchoModel))),
        (ModelName::Sim(kind), ModelForm::Chat) => Arc::new(SimModel::new(kind)),
        (ModelName::Sim(kind), ModelForm::KeepsReplies) => {
            Arc::new(KeepsReplies::new(Arc::new(SimModel::new(kind))))
        }
        (ModelName::Served(provider, model), form) => served_model(provider, model, form, asking, key)?,
        // A recording also has the ids of kept replies, so it serves either form.
        (ModelName::Replay(file), _) => {
            let recording = Recording::read(Path::new(file))?;
            if let Some(line) = recording.torn_line() {
                progress::warn(&format!(
                    "the recording {file} is cut off in line {line}, which is ignored; the lines before it are used"
                ));
            }
            Arc::new(ReplayModel::new(Arc::new(recording), secrets::held())?)
        }
    })
}

/// Makes sure that there can be a model of that name, and asks nobody.
///
/// # Errors
/// Nothing with such a name is known.
pub(crate) fn must_be_known(name: &str) -> Result<(), Failure> {
    ModelName::parse(name).map(drop)
}

/// A model behind a server.
fn served_model(
    provider: &'static Provider,
    model: &str,
    form: ModelForm,
    asking: &ModelArguments,
    key: KeyNeeded,
) -> Result<Arc<dyn Model>, Failure> {
    let connection = connection(provider, asking, key);
    if asking.think.is_some() && provider.protocol != Protocol::Ollama {
        return Err(Failure::usage(format!(
            "--think is for models of ollama/: whether {}/{model} thinks is decided by its server",
            provider.name
        )));
    }
    Ok(match (provider.protocol, form) {
        (Protocol::OpenAi, ModelForm::Chat) => {
            let config = OpenAiConfig::from_env(provider, model, variable);
            // The same address, with the limits of the command line.
            Arc::new(OpenAiModel::new(OpenAiConfig { connection, ..config })?)
        }
        (Protocol::OpenAi, ModelForm::KeepsReplies) => Arc::new(ResponsesModel::new(model, &connection)?),
        (Protocol::Anthropic, ModelForm::Chat) => Arc::new(AnthropicModel::new(model, &connection)?),
        (Protocol::Ollama, ModelForm::Chat) => Arc::new(OllamaModel::new(model, &connection, asking.think)?),
        (Protocol::Ollama, ModelForm::KeepsReplies) => {
            Arc::new(KeepsReplies::new(Arc::new(OllamaModel::new(model, &connection, asking.think)?)))
        }
        // No server of this protocol stores conversations, so we do.
        (Protocol::Anthropic, ModelForm::KeepsReplies) => {
            Arc::new(KeepsReplies::new(Arc::new(AnthropicModel::new(model, &connection)?)))
        }
    })
}

/// A model as the command line names it.
enum ModelName<'a> {
    Echo,
    Sim(SimKind),
    Served(&'static Provider, &'a str),
    Replay(&'a str),
}

impl<'a> ModelName<'a> {
    fn parse(name: &'a str) -> Result<Self, Failure> {
        match name.split_once('/') {
            Some(("sim", _)) if name == ECHO_NAME => Ok(Self::Echo),
            Some(("sim", sim)) => SimKind::find(sim).map(Self::Sim).ok_or_else(|| {
                let known = meant::simulated_names();
                if let Some(meant) = most_similar(&sim.to_lowercase(), &known) {
                    return Failure::usage(format!(
                        "there is no simulated model \"{sim}\": did you mean sim/{meant}?"
                    ));
                }
                Failure::usage(format!(
                    "there is no simulated model \"{sim}\"; there are {}",
                    known.join(", ")
                ))
            }),
            Some(("replay", file)) => Ok(Self::Replay(file)),
            _ => match providers::find(name)? {
                Some((provider, model)) => Ok(Self::Served(provider, model)),
                None => Err(Failure::usage(match meant::model(name, "") {
                    Some(meant) => format!("unknown model \"{name}\": {meant}"),
                    None => format!(
                        "unknown model \"{name}\": write PROVIDER/NAME, as in openai/gpt-5-mini or ollama/qwen3:4b (docs/models.md \
                         lists the providers), NAME=URL/MODEL, as in mine=http://127.0.0.1:8000/v1/qwen3, sim/NAME or replay/FILE"
                    ),
                })),
            },
        }
    }
}

/// The known word that differs from this one by a typing mistake: at most [`EDITS_MAX`] edits, and fewer than half of
/// its characters.
pub(crate) fn near<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let edits = known.into_iter().map(|known| (strsim::osa_distance(word, known), known));
    let (edits, known) = edits.min_by_key(|(edits, _)| *edits)?;
    (edits <= EDITS_MAX && edits * 2 < word.chars().count()).then_some(known)
}

/// That there is no such topic, with the one that was probably meant.
pub(crate) fn no_topic(job: &str, bank: &TopicBank) -> Failure {
    let jobs = bank.topics().iter().map(|topic| topic.job.as_str());
    Failure::usage(match near(job, jobs) {
        Some(meant) => format!(
            "no topic \"{job}\" in the topic bank: did you mean \"{meant}\"? `planproof topics` lists them"
        ),
        None => format!("no topic \"{job}\" in the topic bank; `planproof topics` lists them"),
    })
}

/// Why cases cannot be synthesised from this bank.
pub(crate) fn no_synthesis(error: SynthesisError, bank: &TopicBank) -> Failure {
    match error {
        SynthesisError::UnknownTopic { job } => no_topic(&job, bank),
        other => other.into(),
    }
}

/// The addresses of a provider's models from the environment, and the limits from the command line.
fn connection(provider: &'static Provider, asking: &ModelArguments, key: KeyNeeded) -> ConnectionConfig {
    ConnectionConfig {
        request_timeout: asking.request_time(),
        key_asked_late: key == KeyNeeded::ByRequests,
        attempts_max: asking.attempts.get(),
        requests_per_second: asking.requests_per_second,
        loading_notice: Some(LoadingNotice(Arc::new(|error, max| {
            let minutes = max.as_secs().div_ceil(60);
            progress::tell!("{error}; waiting for up to {minutes} minutes until it has loaded its model");
        }))),
        ..ConnectionConfig::from_env(provider, variable)
    }
}

/// Whether the model of that name is served on this machine, by the URL of its server.
pub(crate) fn is_local(model: &str) -> bool {
    let provider = match ModelName::parse(model) {
        Ok(ModelName::Served(provider, _)) => provider,
        Ok(ModelName::Sim(_) | ModelName::Echo | ModelName::Replay(_)) | Err(_) => return false,
    };
    ConnectionConfig::from_env(provider, variable).is_local()
}

/// The longest time of a run of an agent with this model: one on this machine, which may be slow, has more by default.
pub(crate) fn run_time(model: Option<&str>, asking: &ModelArguments, timeout: Option<f64>) -> Duration {
    asking.run_time(timeout, model.is_some_and(is_local))
}

/// Tells the user that runs may take longer than usual by default.
pub(crate) fn tell_run_time(model: Option<&str>, asking: &ModelArguments, timeout: Option<f64>) {
    let (time, usual) = (run_time(model, asking, timeout), asking.run_time(timeout, false));
    if let Some(model) = model.filter(|_| time != usual) {
        let (time, usual) = (time.as_secs(), usual.as_secs());
        tell!(
            "{} is on this machine, so a run may take {time} seconds instead of {usual} (--timeout).",
            inline(model)
        );
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The agent of that name, taken apart.
pub(crate) fn agent_spec(name: &str) -> Result<AgentSpec, Failure> {
    AgentSpec::parse(name)
        .map_err(|error| Failure::usage(meant::agent(name).unwrap_or_else(|| error.to_string())))
}

/// How the agent of that name makes its calls. Reads the specification of one that has a file of its own.
pub(crate) fn language(name: &AgentSpec) -> Result<Language, Failure> {
    Ok(kinds::language(name)?.unwrap_or(Language::Calls))
}

/// The agent with that name, with models from `find_model`. If it is a program, it is started with `program`, and
/// with the launcher that `isolate` returns for its file.
pub(crate) fn agent(
    name: &AgentSpec,
    program: &ProgramOptions,
    isolate: &dyn Fn(&Path) -> Result<MachineIsolation, Failure>,
    find_model: &FindModel<'_, Failure>,
) -> Result<AgentUnderTest, Failure> {
    let (asks_simulated, asks_real) = (Cell::new(false), Cell::new(false));
    // Noted wherever a model is found, because judges, evaluators and the roles of a team have models of their own.
    let noting = |model: &str, form: ModelForm| -> Result<Arc<dyn Model>, Failure> {
        let found = find_model(model, form)?;
        let noted = if is_simulated(&*found) { &asks_simulated } else { &asks_real };
        noted.set(true);
        Ok(found)
    };
    let agent = with_models(name, program, isolate, &noting)?;
    // A report about a simulation in any role says nothing of a real model.
    let simulated = agent.simulated || asks_simulated.get();
    Ok(AgentUnderTest { simulated, asks_real_models: asks_real.get(), ..agent })
}

/// The agent, without what its models are.
fn with_models(
    name: &AgentSpec,
    program: &ProgramOptions,
    isolate: &dyn Fn(&Path) -> Result<MachineIsolation, Failure>,
    find_model: &FindModel<'_, Failure>,
) -> Result<AgentUnderTest, Failure> {
    let usage = |error: CommandError| Failure::usage(error.to_string());
    match name.form() {
        AgentForm::Command(command) => {
            let mut agent = CommandAgent::parse(command).map_err(usage)?;
            let setting = env_file::program_setting(program)?;
            // The setting comes first, because the program is looked for from its folder. The isolation depends on the
            // file that is found.
            agent.set_up(setting.clone());
            let isolation = isolate(&agent.resolve().map_err(usage)?)?;
            agent.set_up(ProgramSetting { isolation, ..setting });
            Ok(external(Arc::new(agent), name))
        }
        AgentForm::Worker(command) => {
            let mut agent = WorkerAgent::parse(command).map_err(usage)?;
            let setting = env_file::program_setting(program)?;
            agent.set_up(setting.clone());
            let isolation = isolate(&agent.resolve().map_err(usage)?)?;
            agent.set_up(ProgramSetting { isolation, ..setting });
            Ok(external(Arc::new(agent), name))
        }
        AgentForm::Url(url) => {
            let mut agent = UrlAgent::new(url).map_err(|error| Failure::usage(error.to_string()))?;
            agent.set_up(env_file::service_form(program)?);
            Ok(external(Arc::new(agent), name))
        }
        AgentForm::OfSuite(of_suite) => {
            // A stand-in that never acts: the campaign asks the case itself for the actions of this agent.
            let agent = under_test(Arc::new(OfSuite), name, None);
            Ok(AgentUnderTest { of_suite: Some((*of_suite).to_owned()), ..agent })
        }
        AgentForm::Asking { kind: AgentKind::Tools(of_tools, options), model } => {
            let (form, make): (_, fn(_) -> _) = match of_tools {
                ToolLoop::WholeConversation => (ModelForm::Chat, FunctionCallingAgent::new),
                ToolLoop::Reasoning => (ModelForm::Chat, FunctionCallingAgent::reasoning),
                ToolLoop::ServerState => (ModelForm::KeepsReplies, FunctionCallingAgent::with_server_state),
            };
            let found = find_model(model, form)?;
            let shown_name = found.name().to_owned();
            let mut agent = make(found)
                .ok_or_else(|| Failure::usage(format!("{model} cannot call tools, which the agent needs")))?;
            if options.text_calls == Some(true) {
                agent = agent.parsing_text_calls();
            }
            Ok(under_test(Arc::new(agent), name, Some(&shown_name)))
        }
        AgentForm::Asking { kind: AgentKind::Planning(of_agent), model } => {
            // Files are read before models are looked for, whose keys may be missing.
            let prompt = own_prompt(of_agent)?;
            let model = find_model(model, ModelForm::Chat)?;
            let shown_name = model.name().to_owned();
            let options = of_agent.planning();
            let mut agent = PlanningAgent::new(model, options);
            if let Some((file, text)) = &prompt {
                agent =
                    agent.with_prompt(text).map_err(|error| Failure::usage(format!("{file}: {error}")))?;
            }
            if let Some(judge) = &of_agent.judge {
                agent = agent.with_judge(find_model(judge, ModelForm::Chat)?);
            }
            if options.format == PlanFormat::Code {
                agent = agent.with_sandbox(Arc::new(sandbox()?));
            }
            Ok(under_test(Arc::new(agent), name, Some(&shown_name)))
        }
        AgentForm::Asking { kind: AgentKind::SubTasks(division, options), model } => {
            let prompt = own_prompt(options)?;
            let model = find_model(model, ModelForm::Chat)?;
            let shown_name = model.name().to_owned();
            let mut agent = SubTaskAgent::new(model, *division, options.sub_tasks());
            if let Some((file, text)) = &prompt {
                agent =
                    agent.with_prompt(text).map_err(|error| Failure::usage(format!("{file}: {error}")))?;
            }
            if let Some(judge) = &options.judge {
                agent = agent.with_judge(find_model(judge, ModelForm::Chat)?);
            }
            Ok(under_test(Arc::new(agent), name, Some(&shown_name)))
        }
        AgentForm::Asking { kind: AgentKind::TwoStage(options), model } => {
            let model = find_model(model, ModelForm::Chat)?;
            let planner =
                options.planner.as_ref().map(|name| find_model(name, ModelForm::Chat)).transpose()?;
            let planner = planner.unwrap_or_else(|| Arc::clone(&model));
            let shown_name = model.name().to_owned();
            let agent = TwoStageAgent::new(model, planner);
            Ok(under_test(Arc::new(agent), name, Some(&shown_name)))
        }
        AgentForm::Asking { kind: AgentKind::Team(options), model } => {
            let (agent, model) = team::agent(options, model, find_model)?;
            Ok(under_test(Arc::new(agent), name, Some(model.name())))
        }
        AgentForm::Asking { kind: AgentKind::Specified(..) | AgentKind::Pair(..), model } => {
            let (agent, model) = kinds::agent(name, model, find_model)?;
            Ok(under_test(agent, name, Some(model.name())))
        }
    }
}

/// The prompt of the user's that an agent asks for a plan with, and the name of its file.
fn own_prompt(options: &AgentOptions) -> Result<Option<(&str, String)>, Failure> {
    let Some(file) = options.prompt.as_deref() else { return Ok(None) };
    Ok(Some((file, read_text(Path::new(file))?)))
}

/// Where no program is an agent.
pub(crate) fn no_isolation(_: &Path) -> Result<MachineIsolation, Failure> {
    Ok(MachineIsolation::default())
}

/// The sandbox for programs, whose workers are this program in another role.
pub(crate) fn sandbox() -> Result<Sandbox, Failure> {
    let command = WorkerCommand::this_program()
        .map_err(|error| Failure::outside(format!("the Python sandbox cannot be started: {error}")))?;
    let workers = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    Ok(Sandbox::new(command, workers))
}

fn under_test(agent: Arc<dyn Agent>, name: &AgentSpec, model: Option<&str>) -> AgentUnderTest {
    let guarded = name.is_guarded();
    AgentUnderTest {
        agent,
        // As it is stored and shown: the command of a program may hold a key, and so may the address of a model.
        name: secrets::without(name.as_str()),
        model: model.map(secrets::without),
        simulated: false,
        asks_real_models: false,
        guarded,
        held_to: None,
        of_suite: None,
    }
}

/// An external agent. Its model is its own affair, unless its environment names a simulation.
fn external(agent: Arc<dyn Agent>, name: &AgentSpec) -> AgentUnderTest {
    let model = std::env::var("OPENAI_MODEL").ok().filter(|model| is_simulation(model));
    let simulated = model.is_some();
    AgentUnderTest { simulated, ..under_test(agent, name, model.as_deref()) }
}

fn is_simulated(model: &dyn Model) -> bool {
    model.is_simulated() || is_simulation(model.name())
}

/// A simulated model can also be reached through `serve-model`, as in `openai/sim/NAME`.
pub(crate) fn is_simulation(model: &str) -> bool {
    let is_simulated = |model: &str| model.starts_with("sim/");
    is_simulated(model)
        || providers::find(model).is_ok_and(|found| found.is_some_and(|(_, model)| is_simulated(model)))
}

/// Random bytes from the operating system, for tokens and keys.
pub(crate) fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    // Without the system's randomness no secret can be created.
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}

#[cfg(test)]
mod tests {
    use planproof_model::{BoxFuture, Capabilities, ChatReply, ChatRequest, ModelError};

    use std::fs;

    use super::*;

    /// A model that is not a simulation. Nobody asks it.
    struct Real;

    impl Model for Real {
        fn name(&self) -> &str {
            "openai/x"
        }

        fn capabilities(&self) -> Capabilities {
            Capabilities { tool_calls: true, partial_turn: true, completion: true, ..Capabilities::default() }
        }

        fn chat<'a>(&'a self, _: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
            Box::pin(std::future::pending())
        }
    }

    /// Whether the agent of that name is a simulation, and whether it asks a real model.
    fn asked(name: &str) -> (bool, bool) {
        let find_model = |model: &str, _: ModelForm| -> Result<Arc<dyn Model>, Failure> {
            Ok(match model.strip_prefix("sim/").and_then(SimKind::find) {
                Some(kind) => Arc::new(SimModel::new(kind)),
                None => Arc::new(Real),
            })
        };
        let spec = agent_spec(name).expect("a name");
        let agent = agent(&spec, &ProgramOptions::default(), &no_isolation, &find_model).expect("an agent");
        (agent.simulated, agent.asks_real_models)
    }

    #[test]
    fn a_simulation_in_any_role_makes_a_simulation() {
        for (name, expected) in [
            ("tools@openai/x", (false, true)),
            ("team@openai/x", (false, true)),
            ("tools@sim/perfect", (true, false)),
            ("team@sim/perfect", (true, false)),
            ("plan:judge=sim/perfect@sim/perfect", (true, false)),
            ("plan:judge=sim/perfect@openai/x", (true, true)),
            ("one-step:judge=sim/perfect@openai/x", (true, true)),
            ("react:evaluator=sim/perfect@openai/x", (true, true)),
            ("two-stage:planner=sim/perfect@openai/x", (true, true)),
            ("two-stage:planner=openai/x@sim/perfect", (true, true)),
        ] {
            assert_eq!(asked(name), expected, "{name}");
        }
        let file = format!("planproof-simulated-roles-{}.toml", std::process::id());
        let path = std::env::temp_dir().join(file);
        let executor = "[[executor]]\nname = \"reckoner\"\nabout = \"You reckon.\"\n";
        let manager = "[models]\nmanager = \"sim/perfect\"\n".to_owned();
        for roles in [manager, format!("{executor}model = \"sim/perfect\"\n")] {
            fs::write(&path, &roles).expect("the file is written");
            let name = format!("team:roles={}@openai/x", path.display());
            assert_eq!(asked(&name), (true, true), "{roles}");
        }
        let _ = fs::remove_file(&path);
    }
}
