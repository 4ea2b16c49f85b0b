//! From names of agents to agents.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

use planproof_agents::planning::PlanFormat;
use planproof_agents::{
    Agent, AgentForm, AgentKind, AgentOptions, AgentSpec, CommandAgent, CommandError, FunctionCallingAgent,
    PlanningAgent, ProgramSetting, SubTaskAgent, ToolLoop, TwoStageAgent, UrlAgent, WorkerAgent,
};
use planproof_campaign::{FindModel, ModelForm, ProgramOptions};
use planproof_engine::{AgentUnderTest, OfSuite};
use planproof_isolation::MachineIsolation;
use planproof_model::Model;
use planproof_output::failure::Failure;
use planproof_output::secrets;
use planproof_output::text_files::read_text;
use planproof_sandbox::{Sandbox, WorkerCommand};

use crate::models::is_simulation;
use crate::{env_file, kinds, meant, team};

/// The agent of that name, taken apart.
pub fn agent_spec(name: &str) -> Result<AgentSpec, Failure> {
    AgentSpec::parse(name)
        .map_err(|error| Failure::usage(meant::agent(name).unwrap_or_else(|| error.to_string())))
}

/// The agent with that name, with models from `find_model`. If it is a program, it is started with `program`, and
/// with the launcher that `isolate` returns for its file.
pub fn agent(
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
pub fn no_isolation(_: &Path) -> Result<MachineIsolation, Failure> {
    Ok(MachineIsolation::default())
}

/// The sandbox for programs, whose workers are this program in another role.
pub fn sandbox() -> Result<Sandbox, Failure> {
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

#[cfg(test)]
mod tests {
    use planproof_model::{BoxFuture, Capabilities, ChatReply, ChatRequest, ModelError};

    use std::fs;

    use planproof_sim::{SimKind, SimModel};

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
