//! A team from the command line: of one model, or as a file describes its roles.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use planproof_agents::team::{Deliver, Executor, SupervisorWork, TeamModels, TeamOptions, TeamPrompts};
use planproof_agents::{AgentForm, AgentKind, AgentOptions, FunctionCallingAgent, TeamAgent};
use planproof_campaign::{FileDigest, FindModel, ModelForm};
use planproof_model::Model;
use planproof_output::digest::sha256;
use planproof_output::failure::Failure;
use planproof_output::secrets;
use planproof_output::text_files::{must_be_below, read_text};
use planproof_plan::limits::{
    EXECUTOR_NAME_CHARACTERS_MAX as NAME_CHARACTERS_MAX, EXECUTOR_TEXT_BYTES_MAX as TEXT_BYTES_MAX,
    EXECUTORS_MAX,
};
use planproof_plan::team::Role;
use planproof_plan::team::crew::is_executor_name;
use planproof_trace::secrets_in_urls;
use serde::Deserialize;

use crate::agent_spec;

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// What the deliverer does, unless the agent's name says so.
    deliver: Option<String>,
    /// What the supervisor does, unless the agent's name says so.
    supervisor: Option<String>,
    #[serde(default)]
    models: OfRoles<String>,
    #[serde(default)]
    prompts: OfRoles<PathBuf>,
    #[serde(default)]
    executor: Vec<ExecutorTable>,
}

/// Something of each role, where it is said.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfRoles<T> {
    manager: Option<T>,
    supervisor: Option<T>,
    executor: Option<T>,
    deliverer: Option<T>,
}

impl<T> Default for OfRoles<T> {
    fn default() -> Self {
        Self { manager: None, supervisor: None, executor: None, deliverer: None }
    }
}

impl<T> OfRoles<T> {
    fn of(&self, role: Role) -> Option<&T> {
        match role {
            Role::Manager => self.manager.as_ref(),
            Role::Supervisor => self.supervisor.as_ref(),
            Role::Executor => self.executor.as_ref(),
            Role::Deliverer => self.deliverer.as_ref(),
        }
    }
}

/// An executor.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExecutorTable {
    name: String,
    about: String,
    agent: Option<String>,
    model: Option<String>,
    tools: Option<Vec<String>>,
    #[serde(default)]
    instructions: String,
}

/// The team, and the model that the agent's name has.
pub(crate) fn agent(
    options: &AgentOptions,
    model_name: &str,
    find_model: &FindModel<'_, Failure>,
) -> Result<(TeamAgent, Arc<dyn Model>), Failure> {
    // Files are read before models are looked for, whose keys may be missing.
    let file = options.roles.as_deref().map(|path| read(path).map(|file| (Path::new(path), file)));
    let file = file.transpose()?;
    let model = find_model(model_name, ModelForm::Chat)?;
    let Some((path, file)) = file else {
        let worker = function_calling(&model)?;
        return Ok((TeamAgent::of_one(&model, worker, options.team()), model));
    };
    let work = work(options, path, &file)?;
    let of_role = |role: Role| match file.models.of(role) {
        Some(name) => find_model(name, ModelForm::Chat),
        None => Ok(Arc::clone(&model)),
    };
    let models = TeamModels {
        manager: of_role(Role::Manager)?,
        supervisor: of_role(Role::Supervisor)?,
        deliverer: of_role(Role::Deliverer)?,
    };
    // Each executor may name a model of its own, so this role has a default and not one model.
    let usual = file.models.of(Role::Executor).map_or(model_name, String::as_str);
    let executors = file.executor.iter().map(|table| executor(table, path, usual, find_model));
    let mut executors = executors.collect::<Result<Vec<_>, _>>()?;
    // A file may describe only models and prompts. The work is then done as in a team without a file.
    if executors.is_empty() {
        let found = find_model(usual, ModelForm::Chat)?;
        executors.push(TeamAgent::worker(function_calling(&found)?));
    }
    let mut prompts = TeamPrompts::shipped(work);
    for (role, prompt) in prompts_of(path, &file) {
        let text = text_of(path, &prompt)?;
        let wrong = |error| Failure::usage(format!("{}: {error}", prompt.display()));
        prompts = prompts.with(role, &text).map_err(wrong)?;
    }
    Ok((TeamAgent::new(models, executors, work).with_prompts(prompts), model))
}

/// How the team works: as the agent's name says, then as the file says, then as usual.
fn work(options: &AgentOptions, path: &Path, file: &File) -> Result<TeamOptions, Failure> {
    let wrong = |key: &str, value: &str, right: String| {
        Failure::usage(format!("{}: {key} = \"{value}\": write {right}", path.display()))
    };
    let mut team = options.team();
    if let (None, Some(value)) = (options.deliver, &file.deliver) {
        let found = Deliver::ALL.into_iter().find(|it| it.as_str() == value);
        team.deliver =
            found.ok_or_else(|| wrong("deliver", value, Deliver::ALL.map(Deliver::as_str).join(", ")))?;
    }
    if let (None, Some(value)) = (options.supervisor, &file.supervisor) {
        let found = SupervisorWork::ALL.into_iter().find(|it| it.as_str() == value);
        let right = || SupervisorWork::ALL.map(SupervisorWork::as_str).join(" or ");
        team.supervisor = found.ok_or_else(|| wrong("supervisor", value, right()))?;
    }
    Ok(team)
}

/// A file of roles that comes with planproof: its name, its text, and the files that it names with their texts.
pub type RolesFile = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// Those that come with planproof.
static SHIPPED: OnceLock<Vec<RolesFile>> = OnceLock::new();

/// Registers the files of roles that come with planproof, once, before any agent is made.
pub fn register_roles(files: impl IntoIterator<Item = RolesFile>) {
    // A second call cannot happen: the command begins once in a process.
    let _ = SHIPPED.set(files.into_iter().collect());
}

/// The roles of that name that come with planproof.
fn shipped(path: &Path) -> Option<&'static RolesFile> {
    SHIPPED.get()?.iter().find(|(name, ..)| Path::new(name) == path)
}

/// The text of the file that describes the roles, or of one that it names.
fn text_of(roles: &Path, path: &Path) -> Result<String, Failure> {
    let Some((name, text, files)) = shipped(roles) else {
        // The person names the first, and that one the others.
        if roles != path {
            must_be_below(roles.parent().unwrap_or(Path::new("")), path)?;
        }
        return read_text(path);
    };
    let named = files.iter().find(|(file, _)| Path::new(file) == path);
    let text = if path == Path::new(name) { Some(*text) } else { named.map(|(_, text)| *text) };
    text.map(str::to_owned).ok_or_else(|| Failure::usage(format!("{name} comes without {}", path.display())))
}

/// The files that a team is made from, as they are now.
pub(crate) fn digests(roles: &str) -> Result<Vec<FileDigest>, Failure> {
    let file = read(roles)?;
    let prompts = prompts_of(Path::new(roles), &file).into_iter().map(|(_, prompt)| prompt);
    let digest = |path: PathBuf| {
        let text = text_of(Path::new(roles), &path)?;
        Ok(FileDigest { file: path.display().to_string(), sha256: sha256(text.as_bytes()) })
    };
    [PathBuf::from(roles)].into_iter().chain(prompts).map(digest).collect()
}

/// The prompts that a file names, as seen from its folder.
fn prompts_of(path: &Path, file: &File) -> Vec<(Role, PathBuf)> {
    let beside =
        |prompt: &PathBuf| path.parent().map_or_else(|| prompt.clone(), |folder| folder.join(prompt));
    Role::ALL.into_iter().filter_map(|role| Some((role, beside(file.prompts.of(role)?)))).collect()
}

fn read(path: &str) -> Result<File, Failure> {
    let fail = |what: &dyn std::fmt::Display| Failure::usage(format!("{path}: {what}"));
    let text = text_of(Path::new(path), Path::new(path))?;
    // Models may be named by URLs.
    secrets::hold(secrets_in_urls(&text));
    let file: File = toml::from_str(&text).map_err(|error| fail(&error))?;
    // It can be read only once, but prompts are read each time the team is made.
    let from_input = |role: &Role| file.prompts.of(*role).is_some_and(|prompt| prompt.as_os_str() == "-");
    if let Some(role) = Role::ALL.into_iter().find(from_input) {
        return Err(fail(&format_args!(
            "the prompt of the {role} is `-`, which is standard input and can be read only once: name a file (`./-` if it \
             is called that)"
        )));
    }
    // First, because the names below are compared in pairs.
    if file.executor.len() > EXECUTORS_MAX {
        let count = file.executor.len();
        return Err(fail(&format_args!("it describes {count} executors; {EXECUTORS_MAX} is the maximum")));
    }
    for (place, executor) in file.executor.iter().enumerate() {
        let ExecutorTable { name, about, instructions, .. } = executor;
        if !is_executor_name(name) {
            return Err(fail(&format_args!(
                "executor {}: `{name}` is not a valid name: use 1 to {NAME_CHARACTERS_MAX} letters, digits, - and _",
                place + 1
            )));
        }
        if file.executor[..place].iter().any(|other| other.name == *name) {
            return Err(fail(&format_args!("two executors have the name `{name}`")));
        }
        if about.trim().is_empty() {
            return Err(fail(&format_args!(
                "executor `{name}`: `about` is empty: say what it can do, which is all that the manager knows of it"
            )));
        }
        if [about, instructions].iter().any(|text| text.len() > TEXT_BYTES_MAX) {
            return Err(fail(&format_args!(
                "executor `{name}`: a text has more than {TEXT_BYTES_MAX} bytes"
            )));
        }
    }
    Ok(file)
}

fn executor(
    table: &ExecutorTable,
    path: &Path,
    usual_model: &str,
    find_model: &FindModel<'_, Failure>,
) -> Result<Executor, Failure> {
    let ExecutorTable { name, about, agent, model, tools, instructions } = table;
    let kind = agent.as_deref().unwrap_or(FunctionCallingAgent::KIND);
    let fail = |what: String| Failure::usage(format!("{}: executor `{name}`: {what}", path.display()));
    let spec = agent_spec(&format!("{kind}@{}", model.as_deref().unwrap_or(usual_model)))
        // The message becomes part of another one, which has an `error: ` of its own.
        .map_err(|error| fail(error.describe().trim_start_matches("error: ").to_owned()))?;
    let is_fit = match spec.form() {
        AgentForm::Asking { kind, .. } => !matches!(kind, AgentKind::Team(_)) && !spec.is_guarded(),
        AgentForm::Command(_) | AgentForm::Worker(_) | AgentForm::Url(_) | AgentForm::OfSuite(_) => false,
    };
    if !is_fit {
        let what = "cannot be the agent of an executor: write a kind such as tools, react or plan";
        return Err(fail(format!("`{kind}` {what}")));
    }
    Ok(Executor {
        name: name.clone(),
        about: about.clone(),
        tools: tools.clone(),
        prompt: instructions.clone(),
        // No program can be an executor, so no options of programs and no isolation are needed.
        agent: super::agent(
            &spec,
            &planproof_campaign::ProgramOptions::default(),
            &super::no_isolation,
            find_model,
        )?
        .agent,
    })
}

fn function_calling(model: &Arc<dyn Model>) -> Result<Arc<FunctionCallingAgent>, Failure> {
    let agent = FunctionCallingAgent::new(Arc::clone(model));
    let what = || format!("{} cannot call tools, which the executors of a team need", model.name());
    agent.map(Arc::new).ok_or_else(|| Failure::usage(what()))
}
