//! Agents made from specifications: built from their names, with the files that they are made from.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;

use planproof_agents::behaviour::evaluator::{Evaluator, ProgramChecker};
use planproof_agents::behaviour::retrace::Retracer;
use planproof_agents::behaviour::voting::{SAMPLE_TEMPERATURE, SAMPLES, VotingAgent, VotingOptions};
use planproof_agents::{
    AGENT_OPTIONS, Agent, AgentForm, AgentKind, AgentOptions, AgentSpec, BehaviourAgent, BehaviourOptions,
    CommandError, EvaluatorName, FunctionCallingAgent, PairedWith, SpecName,
};
use planproof_campaign::{FileDigest, FindModel, MadeFrom, ModelForm};
use planproof_model::Model;
use planproof_output::digest::sha256;
use planproof_output::failure::Failure;
use planproof_output::text_files::read_text;
use planproof_spec::{Automaton, Compat, Loaded};
use planproof_trace::Continuation;

use crate::arguments::{self, AgentArguments};
use crate::specifications::SpecSource;

/// Largest file in a command whose digest is stored, in bytes.
const DIGESTED_BYTES_MAX: u64 = 64 << 20;

/// The options of the command line, as they are written.
pub fn options_written(arguments: &AgentArguments) -> Vec<(&'static str, Option<String>)> {
    // In the order of AGENT_OPTIONS, which begins with these.
    let values = [
        arguments.samples.map(|samples| samples.to_string()),
        arguments.summary.map(|summary| summary.as_str().to_owned()),
        arguments.evaluator.clone(),
        arguments.continuation.map(|continuation| Continuation::from(continuation).to_string()),
        arguments.examples.map(|examples| examples.as_str().to_owned()),
        arguments.grammar.map(|grammar| grammar.as_str().to_owned()),
        arguments.correction.map(|correction| correction.as_str().to_owned()),
        arguments.compat.map(|compat| compat.as_str().to_owned()),
        arguments.compose_executors.then(|| "on".to_owned()),
        arguments.parse_text_calls.then(|| "on".to_owned()),
    ];
    // Options without an equivalent on the command line occur in names alone.
    AGENT_OPTIONS.into_iter().zip(values.into_iter().chain(std::iter::repeat(None))).collect()
}

/// The name of an agent with the options of the command line in it.
pub fn with_options(name: &str, arguments: &AgentArguments) -> Result<AgentSpec, Failure> {
    let name = super::agent_spec(name)?;
    let values = options_written(arguments);
    let given: Vec<_> = values.into_iter().filter_map(|(option, value)| Some((option, value?))).collect();
    name.with_options(&given).map_err(|error| Failure::usage(error.to_string()))
}

/// An agent with its model.
type WithModel = (Arc<dyn Agent>, Arc<dyn Model>);

/// The agent of a name that is made from specifications.
pub(crate) fn agent(
    name: &AgentSpec,
    model_name: &str,
    find_model: &FindModel<'_, Failure>,
) -> Result<WithModel, Failure> {
    let options = name.options().cloned().unwrap_or_default();
    // Files are read before models are looked for, whose keys may be missing.
    let kinds = Kinds::read(name)?;
    let checker = match &options.evaluator {
        Some(EvaluatorName::Program(command)) => Some(checker(command)?),
        _ => None,
    };
    let model = find_model(model_name, ModelForm::Chat)?;
    let evaluator = match (checker, &options.evaluator) {
        (Some(checker), _) => Evaluator::Checker(Arc::new(checker)),
        (None, Some(EvaluatorName::OwnModel)) => Evaluator::Judge(Arc::clone(&model)),
        (None, Some(EvaluatorName::Model(other))) => Evaluator::Judge(find_model(other, ModelForm::Chat)?),
        (None, _) => Evaluator::Nobody,
    };
    let maker = Maker { model: Arc::clone(&model), evaluator, options };
    Ok((kinds.into_agent(&maker)?, model))
}

/// The program that judges. It is there.
fn checker(command: &str) -> Result<ProgramChecker, Failure> {
    let fail = |error: CommandError| Failure::usage(format!("the evaluator: {error}"));
    let checker = ProgramChecker::parse(command).map_err(fail)?;
    checker.resolve().map_err(fail)?;
    Ok(checker)
}

/// The files of the agent of this name, as they are now.
pub fn made_from(name: &AgentSpec) -> Result<MadeFrom, Failure> {
    let files = name.specifications().into_iter().filter_map(|name| match name {
        SpecName::File(file) => Some(file),
        SpecName::Shipped(_) => None,
    });
    let specifications = files.map(|file| {
        let sha256 = SpecSource::find(file)?.sha256();
        Ok(FileDigest { file: file.to_owned(), sha256 })
    });
    let command = match name.options().and_then(|options| options.evaluator.as_ref()) {
        Some(EvaluatorName::Program(command)) => Some(command),
        _ => None,
    };
    let evaluator_files = command.map(|command| checker(command)).transpose()?.map(|checker| {
        let digest = |file: &str| Some(FileDigest { sha256: sha256_of(file)?, file: file.to_owned() });
        checker.words().filter_map(digest).collect()
    });
    let roles = name.options().and_then(|options| options.roles.as_deref());
    let prompt = name.options().and_then(|options| options.prompt.as_deref());
    Ok(MadeFrom {
        specifications: specifications.collect::<Result<_, Failure>>()?,
        evaluator_files: evaluator_files.unwrap_or_default(),
        team_files: roles.map(super::team::digests).transpose()?.unwrap_or_default(),
        prompt_files: prompt.map(digest_of_prompt).transpose()?.into_iter().collect(),
    })
}

fn digest_of_prompt(file: &str) -> Result<FileDigest, Failure> {
    let text = read_text(std::path::Path::new(file))?;
    Ok(FileDigest { file: file.to_owned(), sha256: sha256(text.as_bytes()) })
}

/// The digest of a file, if it is one that can be read and is no larger than [`DIGESTED_BYTES_MAX`].
fn sha256_of(file: &str) -> Option<String> {
    let path = std::path::Path::new(file);
    let found = path.metadata().ok()?;
    // Any word of a command may be a file. Other words, and very large files, have no digest.
    if !found.is_file() || found.len() > DIGESTED_BYTES_MAX {
        return None;
    }
    Some(sha256(&std::fs::read(path).ok()?))
}

/// How an agent makes its calls.
pub enum CallLanguage {
    /// As calls.
    Calls,
    /// As the choice of several samples.
    Votes,
    /// In a text, whose form this knows.
    Text(Box<Retracer>),
}

/// How the agent of that name makes its calls. Reads the specification of one that has a file of its own.
pub fn language(name: &AgentSpec) -> Result<CallLanguage, Failure> {
    let is_specified =
        matches!(name.form(), AgentForm::Asking { kind: AgentKind::Specified(..) | AgentKind::Pair(..), .. });
    let Some(options) = name.options().filter(|_| is_specified) else { return Ok(CallLanguage::Calls) };
    Ok(match Kinds::read(name)? {
        // Samples call no tools. In a pair only the second agent can, and what it writes by a specification can be put
        // right.
        Kinds::One(one) if is_one_sample(options.samples) => {
            CallLanguage::Text(Retracer::new(one.loaded.automaton).into())
        }
        Kinds::One(_) | Kinds::Pair(_, Other::Tools) => CallLanguage::Votes,
        Kinds::Pair(_, Other::Specified(other)) => {
            CallLanguage::Text(Retracer::new(other.loaded.automaton).into())
        }
    })
}

/// Whose rules the agent follows where the published implementation differs from ours.
fn compat_of(name: &AgentSpec) -> Compat {
    name.options().and_then(|options| options.compat).unwrap_or_default()
}

fn is_one_sample(samples: Option<NonZeroU32>) -> bool {
    samples.is_none_or(|samples| samples.get() == 1)
}

/// The specifications of an agent, with where they come from; none where it is not made from any.
pub(crate) fn specifications(name: &AgentSpec) -> Result<Vec<(String, Arc<Automaton>)>, Failure> {
    let compat = compat_of(name);
    let read = |name: &SpecName| {
        // Whether examples are shown changes no requirement.
        let specified = Specified::read(name, None, compat)?;
        Ok((specified.source.name, specified.loaded.automaton))
    };
    name.specifications().into_iter().map(read).collect()
}

/// The file of rules that the agent's specifications name, if one does, as seen from the current folder.
///
/// # Errors
/// A specification cannot be used, or two of them name different files.
pub fn rules_named_by(name: &AgentSpec) -> Result<Option<PathBuf>, Failure> {
    let mut found: Option<PathBuf> = None;
    for specification in name.specifications() {
        let Specified { source, loaded } = Specified::read(specification, None, compat_of(name))?;
        let Some(path) = source.rules(loaded.automaton.spec())? else { continue };
        match &found {
            Some(other) if *other != path => {
                return Err(Failure::usage(format!(
                    "the specifications of {name} name the rules {} and {}: have them name the same",
                    other.display(),
                    path.display()
                )));
            }
            _ => found = Some(path),
        }
    }
    Ok(found)
}

/// The specifications that an agent is made from.
enum Kinds {
    One(Specified),
    Pair(Specified, Other),
}

struct Specified {
    source: SpecSource,
    loaded: Loaded,
}

/// The agent that answers if samples disagree.
enum Other {
    Specified(Specified),
    Tools,
}

impl Kinds {
    fn read(name: &AgentSpec) -> Result<Self, Failure> {
        let examples = name.options().and_then(|options| options.examples);
        let compat = compat_of(name);
        let read = |name: &SpecName| Specified::read(name, examples, compat);
        match name.form() {
            AgentForm::Asking { kind: AgentKind::Specified(one, _), .. } => read(one).map(Self::One),
            AgentForm::Asking { kind: AgentKind::Pair(first, other, _), .. } => {
                let first = read(first)?;
                let other = match other {
                    PairedWith::Tools => Other::Tools,
                    PairedWith::Specified(other) => Other::Specified(read(other)?),
                };
                Ok(Self::Pair(first, other))
            }
            _ => Err(Failure::usage(format!("{name} is not made from a specification"))),
        }
    }

    fn into_agent(self, maker: &Maker) -> Result<Arc<dyn Agent>, Failure> {
        let samples = maker.options.samples;
        let (first, other) = match self {
            Self::One(one) if is_one_sample(samples) => {
                return Ok(Arc::new(maker.make(&one, 0.0)?));
            }
            Self::One(one) => (one, None),
            Self::Pair(first, other) => (first, Some(other)),
        };
        // Samples run without tools, so an agent that calls some could not be sampled.
        if first.loaded.automaton.spec().states.iter().any(planproof_spec::State::completes_call) {
            return Err(Failure::usage(format!(
                "samples are taken of agents that call no tools, such as direct and cot; {} does",
                first.source.name
            )));
        }
        let sampled: Arc<dyn Agent> = Arc::new(maker.make(&first, SAMPLE_TEMPERATURE)?);
        let other: Option<Arc<dyn Agent>> = match other {
            None => None,
            Some(Other::Specified(other)) => Some(Arc::new(maker.make(&other, 0.0)?)),
            Some(Other::Tools) => {
                let agent = FunctionCallingAgent::new(Arc::clone(&maker.model));
                let name = maker.model.name();
                Some(Arc::new(agent.ok_or_else(|| {
                    Failure::usage(format!("{name} cannot call tools, which the agent needs"))
                })?))
            }
        };
        let rules = maker.options.compat.unwrap_or_default().into();
        let options = VotingOptions { samples: samples.unwrap_or(SAMPLES), rules };
        Ok(Arc::new(VotingAgent::new(sampled, other, options)))
    }
}

impl Specified {
    /// A shipped specification, or that of a file, with examples or without.
    fn read(name: &SpecName, examples: Option<bool>, compat: Compat) -> Result<Self, Failure> {
        let source = match name {
            SpecName::File(file) => SpecSource::find(file)?,
            SpecName::Shipped(name) => SpecSource::shipped(name)
                .ok_or_else(|| Failure::usage(format!("there is no shipped specification {name}")))?,
        };
        let mut loaded = source.for_agent(compat)?;
        if !examples.unwrap_or(source.shows_examples()) {
            loaded.automaton = Arc::new(loaded.automaton.without_examples());
        }
        Ok(Self { source, loaded })
    }
}

/// What agents are made with.
struct Maker {
    model: Arc<dyn Model>,
    evaluator: Evaluator,
    options: AgentOptions,
}

impl Maker {
    fn make(&self, specified: &Specified, temperature: f64) -> Result<BehaviourAgent, Failure> {
        let options = BehaviourOptions {
            continuation: self.options.continuation,
            grammar: self.options.grammar.unwrap_or_default(),
            correction: self.options.correction.unwrap_or(Compat::Ours),
            compat: self.options.compat.unwrap_or_default(),
            temperature,
            summary: self.options.summary.unwrap_or_default(),
            evaluator: self.evaluator.clone(),
            ..BehaviourOptions::default()
        };
        let automaton = Arc::clone(&specified.loaded.automaton);
        BehaviourAgent::new(Arc::clone(&self.model), automaton, options)
            .map_err(|error| Failure::usage(format!("{}: {error}", specified.source.name)))
    }
}

impl From<arguments::Way> for Continuation {
    fn from(way: arguments::Way) -> Self {
        match way {
            arguments::Way::Text => Self::Text,
            arguments::Way::PartialTurn => Self::PartialTurn,
            arguments::Way::Chat => Self::Chat,
        }
    }
}
