//! From names of models to models.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use planproof_agents::most_similar;
use planproof_campaign::{KeyNeeded, ModelForm};
use planproof_model::anthropic::AnthropicModel;
use planproof_model::ollama::OllamaModel;
use planproof_model::openai::{OpenAiConfig, OpenAiModel, ResponsesModel};
use planproof_model::recording::{Recording, ReplayModel};
use planproof_model::{ConnectionConfig, KeepsReplies, LoadingNotice, Model, Protocol, Provider};
use planproof_output::failure::Failure;
use planproof_output::terminal::inline;
use planproof_output::{progress, secrets, tell};
use planproof_sim::{ECHO_NAME, EchoModel, SimKind, SimModel, gold_faults};

use crate::arguments::ModelArguments;
use crate::{meant, providers};

/// The model of that name.
pub fn model(
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
pub fn must_be_known(name: &str) -> Result<(), Failure> {
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
            // Campaigns hand it the answers, and ask for it before.
            Some(("sim", _)) if gold_faults(name).is_some() => Err(Failure::usage(format!(
                "{name} has the answers of the cases of `test`, `bench` and `limit`, and nothing to say elsewhere; name another \
                 model"
            ))),
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

/// The addresses of a provider's models from the environment, and the limits from the command line.
fn connection(provider: &'static Provider, asking: &ModelArguments, key: KeyNeeded) -> ConnectionConfig {
    ConnectionConfig {
        request_timeout: asking.request_time(),
        key_asked_late: key == KeyNeeded::ByRequests,
        attempts_max: asking.attempts.get(),
        requests_per_second: asking.requests_per_second,
        loading_notice: Some(LoadingNotice(Arc::new(|error, max| {
            let minutes = max.as_secs().div_ceil(60);
            tell!("{error}; waiting for up to {minutes} minutes until it has loaded its model");
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
pub fn run_time(model: Option<&str>, asking: &ModelArguments, timeout: Option<f64>) -> Duration {
    asking.run_time(timeout, model.is_some_and(is_local))
}

/// Tells the user that runs may take longer than usual by default.
pub fn tell_run_time(model: Option<&str>, asking: &ModelArguments, timeout: Option<f64>) {
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

/// A simulated model can also be reached through `serve-model`, as in `openai/sim/NAME`.
pub fn is_simulation(model: &str) -> bool {
    let is_simulated = |model: &str| model.starts_with("sim/");
    is_simulated(model)
        || providers::find(model).is_ok_and(|found| found.is_some_and(|(_, model)| is_simulated(model)))
}
