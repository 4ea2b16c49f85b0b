//! Agents made from specifications, by name: `react@MODEL`, `spec:FILE@MODEL`, samples and pairs of them, and their options,
//! which are a part of the name, so that whatever holds the name holds them: `direct:samples=5@MODEL`.

use std::num::NonZeroU32;
use std::sync::Arc;

use planproof_agents::behaviour::evaluator::{Evaluator, ProgramChecker};
use planproof_agents::behaviour::retrace::Retracer;
use planproof_agents::behaviour::summary::{Choice, Otherwise};
use planproof_agents::behaviour::voting::{SAMPLE_TEMPERATURE, SAMPLES, VotingAgent, VotingOptions};
use planproof_agents::{Agent, BehaviourAgent, BehaviourOptions, CommandError, FunctionCallingAgent};
use planproof_bench::AgentUnderTest;
use planproof_bench::learning::Language;
use planproof_model::Model;
use planproof_spec::{Automaton, Compat, Loaded, SHIPPED};
use planproof_trace::Continuation;
use serde::{Deserialize, Serialize};

use super::{FindModel, ModelForm, is_simulation};
use crate::arguments::{self, AgentArguments};
use crate::failure::Failure;
use crate::spec_source::{Source, sha256};

/// What a kind of agent begins with that is made from a user's specification.
pub(super) const SPEC_PREFIX: &str = "spec:";

/// What a pair of kinds begins with: the second one answers where samples of the first do not agree.
const PAIR_PREFIX: &str = "fallback:";

/// What an evaluator begins with that is a program.
const PROGRAM_PREFIX: &str = "program:";

/// What stands in the name of an agent whose answers a program judges.
pub(super) const PROGRAM_OPTION: &str = "evaluator=program:";

/// Largest file that a command names and that is kept by its digest, in bytes.
const DIGESTED_BYTES_MAX: u64 = 64 << 20;

/// The options of an agent, in the order in which its name has them.
const OPTIONS: [&str; 5] = ["samples", "summary", "evaluator", "continuation", "examples"];

/// The kinds of agents that ask a model, for messages.
pub(super) fn known() -> String {
    let shipped = SHIPPED.map(|(name, _)| name).join(", ");
    let (tools, responses) = (FunctionCallingAgent::KIND, FunctionCallingAgent::KIND_WITH_SERVER_STATE);
    format!("{tools}, {responses}, {shipped}, {SPEC_PREFIX}FILE, {PAIR_PREFIX}KIND,KIND")
}

/// The options of the command line, as they are written.
pub(crate) fn options_written(arguments: &AgentArguments) -> Vec<(&'static str, Option<String>)> {
    let values = [
        arguments.samples.map(|samples| samples.to_string()),
        arguments.summary.map(|summary| summary.as_str().to_owned()),
        arguments.evaluator.clone(),
        arguments.continuation.map(|continuation| Continuation::from(continuation).to_string()),
        arguments.examples.map(|examples| examples.as_str().to_owned()),
    ];
    OPTIONS.into_iter().zip(values).collect()
}

/// The options that an agent's name holds, as they are written.
pub(crate) fn options_in_name(name: &str) -> Vec<(&'static str, Option<String>)> {
    let kind = super::parts(super::bare(name)).map_or("", |(kind, _)| kind);
    let held = parse(split(kind).1).unwrap_or_default();
    let value =
        |option| held.iter().find(|(other, _)| *other == option).map(|(_, value)| (*value).to_owned());
    OPTIONS.into_iter().map(|option| (option, value(option))).collect()
}

/// The name of an agent with the options of the command line in it.
pub(crate) fn with_options(name: &str, arguments: &AgentArguments) -> Result<String, Failure> {
    let values = options_written(arguments);
    let given: Vec<(&str, &String)> =
        values.iter().filter_map(|(option, value)| Some((*option, value.as_ref()?))).collect();
    let Some((first, _)) = given.first() else { return Ok(name.to_owned()) };
    let bare = super::bare(name);
    let guard = &name[..name.len() - bare.len()];
    let is_external = bare.starts_with("command:") || bare.starts_with("url:");
    let parts = super::parts(bare).filter(|_| !is_external);
    let Some((kind, model)) = parts.filter(|(kind, _)| is_specified(split(kind).0)) else {
        return Err(Failure::usage(format!(
            "--{first} is for agents that are made from a specification, which {name} is not"
        )));
    };
    let (base, options) = split(kind);
    let mut all = parse(options)?;
    for (option, value) in given {
        if all.iter().any(|(other, _)| *other == option) {
            return Err(Failure::usage(format!("--{option} stands in the agent's name already: {name}")));
        }
        all.push((option, value));
    }
    all.sort_by_key(|(option, _)| OPTIONS.iter().position(|other| other == option));
    let texts: Vec<String> = all.iter().map(|(option, value)| format!("{option}={value}")).collect();
    let kind = format!("{base}:{}", texts.join(","));
    let with_options = format!("{guard}{kind}@{model}");
    // A command may hold whatever separates the parts of a name.
    let is_read_back =
        super::parts(&with_options[guard.len()..]) == Some((&kind, model)) && parse(split(&kind).1)? == all;
    if !is_read_back {
        return Err(Failure::usage(format!(
            "the agent's name would be {with_options}, which cannot be told apart into its options and its model again: put \
             the command of the evaluator into a script"
        )));
    }
    Ok(with_options)
}

/// A kind without its options, and these.
fn split(kind: &str) -> (&str, &str) {
    let places = OPTIONS.iter().filter_map(|option| kind.find(&format!(":{option}=")));
    match places.min() {
        Some(place) => (&kind[..place], &kind[place + 1..]),
        None => (kind, ""),
    }
}

/// Where the first of the options ends. A command may hold commas, so it ends at the next option alone.
fn end_of_first(options: &str) -> usize {
    let end = if options.starts_with(PROGRAM_OPTION) {
        OPTIONS.iter().filter_map(|option| options.find(&format!(",{option}="))).min()
    } else {
        options.find(',')
    };
    end.unwrap_or(options.len())
}

fn parse(options: &str) -> Result<Vec<(&str, &str)>, Failure> {
    let mut all: Vec<(&str, &str)> = Vec::new();
    let mut rest = options;
    while !rest.is_empty() {
        let end = end_of_first(rest);
        let part = &rest[..end];
        rest = rest.get(end + 1..).unwrap_or_default();
        if part.is_empty() {
            continue;
        }
        let known = part.split_once('=').filter(|(option, _)| OPTIONS.contains(option));
        let Some((option, value)) = known else {
            return Err(Failure::usage(format!(
                "there is no option \"{}\" of an agent; there are {}",
                part.split('=').next().unwrap_or(part),
                OPTIONS.map(|option| format!("{option}=...")).join(", ")
            )));
        };
        if all.iter().any(|(other, _)| *other == option) {
            return Err(Failure::usage(format!("the option {option} of the agent stands twice")));
        }
        all.push((option, value));
    }
    Ok(all)
}

/// Whether an agent of that kind is made from specifications.
pub(crate) fn is_from_specification(kind: &str) -> bool {
    is_specified(split(kind).0)
}

/// Whether a kind without its options is made from specifications.
fn is_specified(base: &str) -> bool {
    let is_shipped = SHIPPED.iter().any(|(name, _)| *name == base);
    is_shipped || base.starts_with(SPEC_PREFIX) || base.starts_with(PAIR_PREFIX)
}

/// What the options of a name say.
struct Options<'a> {
    samples: Option<NonZeroU32>,
    summary: Choice,
    /// Who judges: `none`, `model`, `program:` and a command, or the name of a model.
    evaluator: &'a str,
    continuation: Option<Continuation>,
    /// Whether examples are shown, where that is said.
    examples: Option<bool>,
}

impl<'a> Options<'a> {
    fn read(options: &'a str) -> Result<Self, Failure> {
        let mut read = Self {
            samples: None,
            summary: Choice::default(),
            evaluator: "none",
            continuation: None,
            examples: None,
        };
        for (option, value) in parse(options)? {
            let wrong = |known: &str| {
                Failure::usage(format!("\"{value}\" cannot be the {option} of an agent; write {known}"))
            };
            match option {
                "samples" => {
                    read.samples = Some(value.parse().map_err(|_| wrong("a whole number of at least 1"))?);
                }
                "summary" => {
                    read.summary = match value {
                        "auto" => Choice::Likelier(Otherwise::default()),
                        "summary" => Choice::Summary,
                        "results" => Choice::Results,
                        _ => return Err(wrong("auto, summary or results")),
                    };
                }
                "examples" => {
                    read.examples = match value {
                        "on" => Some(true),
                        "off" => Some(false),
                        _ => return Err(wrong("on or off")),
                    };
                }
                "evaluator"
                    if matches!(value, "none" | "model")
                        || value.starts_with(PROGRAM_PREFIX)
                        || value.contains('/') =>
                {
                    read.evaluator = value;
                }
                "evaluator" => {
                    return Err(wrong(
                        "none, model (the agent's own), the name of a model, or program:COMMAND",
                    ));
                }
                _ => {
                    let way = Continuation::ALL.into_iter().find(|way| way.as_str() == value);
                    read.continuation = Some(way.ok_or_else(|| wrong("text, partial_turn or chat"))?);
                }
            }
        }
        Ok(read)
    }
}

/// The agent of that kind, if it is made from specifications.
pub(super) fn agent(
    name: &str,
    kind: &str,
    model_name: &str,
    find_model: &FindModel<'_>,
) -> Result<Option<AgentUnderTest>, Failure> {
    let (base, options) = split(kind);
    if !is_specified(base) {
        return Ok(None);
    }
    let options = Options::read(options)?;
    // Files are read before models are looked for, whose keys may be missing.
    let kinds = Kinds::read(base, options.examples)?;
    let checker = options.evaluator.strip_prefix(PROGRAM_PREFIX).map(checker).transpose()?;
    let model = find_model(model_name, ModelForm::Chat)?;
    let evaluator = match (checker, options.evaluator) {
        (Some(checker), _) => Evaluator::Checker(Arc::new(checker)),
        (None, "none") => Evaluator::Nobody,
        (None, "model") => Evaluator::Judge(Arc::clone(&model)),
        (None, other) => Evaluator::Judge(find_model(other, ModelForm::Chat)?),
    };
    let maker = Maker { model: Arc::clone(&model), evaluator, options };
    let simulated = model.is_simulated() || is_simulation(model.name());
    let agent = kinds.into_agent(&maker)?;
    let (name, model) = (name.to_owned(), Some(model.name().to_owned()));
    Ok(Some(AgentUnderTest { agent, name, model, simulated, guarded: false }))
}

/// The program that judges. It is there.
fn checker(command: &str) -> Result<ProgramChecker, Failure> {
    let fail = |error: CommandError| Failure::usage(format!("the evaluator: {error}"));
    let checker = ProgramChecker::parse(command).map_err(fail)?;
    checker.resolve().map_err(fail)?;
    Ok(checker)
}

/// A file of the user's that an agent is made from, as a campaign keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileDigest {
    /// As the agent's name has it.
    file: String,
    /// Of what is in it, in hexadecimal digits.
    sha256: String,
}

/// The user's files that an agent is made from, as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct MadeFrom {
    /// Its specifications.
    pub(crate) specifications: Vec<FileDigest>,
    /// Of the command that judges its answers, the words that are names of files.
    pub(crate) evaluator_files: Vec<FileDigest>,
}

impl MadeFrom {
    /// The files of the agent of this name, as they are now.
    pub(crate) fn now(name: &str) -> Result<Self, Failure> {
        let name = super::bare(name);
        let is_external = name.starts_with("command:") || name.starts_with("url:");
        let Some((kind, _)) = super::parts(name).filter(|_| !is_external) else { return Ok(Self::default()) };
        let (base, options) = split(kind);
        if !is_specified(base) {
            return Ok(Self::default());
        }
        let kinds = base.strip_prefix(PAIR_PREFIX).and_then(|pair| pair.split_once(','));
        let (first, second) = kinds.map_or((base, None), |(first, second)| (first, Some(second)));
        let files = [Some(first), second].into_iter().flatten();
        let specifications = files.filter_map(|kind| kind.strip_prefix(SPEC_PREFIX)).map(|file| {
            let sha256 = Source::find(file)?.sha256();
            Ok(FileDigest { file: file.to_owned(), sha256 })
        });
        let command = Options::read(options)?.evaluator.strip_prefix(PROGRAM_PREFIX);
        let evaluator_files = command.map(checker).transpose()?.map(|checker| {
            let digest = |file: &str| Some(FileDigest { sha256: sha256_of(file)?, file: file.to_owned() });
            checker.words().filter_map(digest).collect()
        });
        Ok(Self {
            specifications: specifications.collect::<Result<_, Failure>>()?,
            evaluator_files: evaluator_files.unwrap_or_default(),
        })
    }

    /// Makes sure that the agent of this name is still made from the same files.
    pub(crate) fn must_be_unchanged(&self, name: &str) -> Result<(), Failure> {
        // Campaigns of before there were digests have none.
        if *self == Self::default() {
            return Ok(());
        }
        let now = Self::now(name)?;
        let lists = [
            ("the specification", &self.specifications, now.specifications),
            ("the evaluator's file", &self.evaluator_files, now.evaluator_files),
        ];
        for (what, before, now) in lists {
            for then in before {
                let Some(now) = now.iter().find(|now| now.file == then.file) else {
                    return Err(Failure::usage(format!(
                        "{what} {} is gone or cannot be read, and the campaign was begun with it; put it back, or begin a \
                         new campaign",
                        then.file
                    )));
                };
                if then.sha256 != now.sha256 {
                    return Err(Failure::usage(format!(
                        "{what} {} was changed since the campaign was begun: the SHA-256 of its text was {} and is {} now; \
                         put the old text back, or begin a new campaign",
                        now.file, then.sha256, now.sha256
                    )));
                }
            }
        }
        Ok(())
    }
}

/// The digest of a file, if it is one that can be read and is no larger than [`DIGESTED_BYTES_MAX`].
fn sha256_of(file: &str) -> Option<String> {
    let path = std::path::Path::new(file);
    let found = path.metadata().ok()?;
    if !found.is_file() || found.len() > DIGESTED_BYTES_MAX {
        return None;
    }
    Some(sha256(&std::fs::read(path).ok()?))
}

/// Whether a program of the user's judges the answers of the agent of this name.
pub(crate) fn is_judged_by_program(name: &str) -> bool {
    let name = super::bare(name);
    let kind = super::parts(name).map(|(kind, _)| split(kind));
    kind.is_some_and(|(base, options)| is_specified(base) && options.contains(PROGRAM_OPTION))
}

/// What is wrong with a kind of agent that there is not.
pub(super) fn unknown(kind: &str) -> Failure {
    let known_kind = kind.split_once(':').filter(|(base, _)| {
        let tools = [FunctionCallingAgent::KIND, FunctionCallingAgent::KIND_WITH_SERVER_STATE];
        tools.contains(base) || SHIPPED.iter().any(|(name, _)| name == base)
    });
    match known_kind {
        Some((base, _)) if !is_specified(base) => Failure::usage(format!(
            "{base} has no options: those in an agent's name are for agents that are made from a specification"
        )),
        Some((base, options)) => match parse(options) {
            Err(failure) => failure,
            Ok(_) => Failure::usage(format!("\"{kind}\" has a colon and no option behind it: write {base}")),
        },
        None => Failure::usage(format!("unknown kind of agent \"{kind}\"; there are {}", known())),
    }
}

/// The language of an agent of that kind, if it is made from specifications.
pub(super) fn language(kind: &str) -> Result<Option<Language>, Failure> {
    let (base, options) = split(kind);
    if !is_specified(base) {
        return Ok(None);
    }
    let Options { samples, examples, .. } = Options::read(options)?;
    Ok(Some(match Kinds::read(base, examples)? {
        Kinds::One(one) if samples.is_none_or(|samples| samples.get() == 1) => {
            Language::Text(Retracer::new(one.loaded.automaton))
        }
        Kinds::One(_) | Kinds::Pair(_, Other::Tools) => Language::Votes,
        Kinds::Pair(_, Other::Specified(other)) => Language::Text(Retracer::new(other.loaded.automaton)),
    }))
}

/// The specifications of an agent of that kind, with where they come from; none where it is not made from any.
pub(super) fn specifications(kind: &str) -> Result<Vec<(String, Arc<Automaton>)>, Failure> {
    let (base, _) = split(kind);
    if !is_specified(base) {
        return Ok(Vec::new());
    }
    let all = match Kinds::read(base, None)? {
        Kinds::One(one) | Kinds::Pair(one, Other::Tools) => vec![one],
        Kinds::Pair(one, Other::Specified(other)) => vec![one, other],
    };
    Ok(all.into_iter().map(|one| (one.source.name, one.loaded.automaton)).collect())
}

/// The specifications that an agent is made from.
enum Kinds {
    One(Specified),
    Pair(Specified, Other),
}

struct Specified {
    source: Source,
    loaded: Loaded,
}

/// Who answers where samples do not agree.
enum Other {
    Specified(Specified),
    Tools,
}

impl Kinds {
    fn read(base: &str, examples: Option<bool>) -> Result<Self, Failure> {
        let Some(pair) = base.strip_prefix(PAIR_PREFIX) else {
            return Specified::read(base, examples).map(Self::One);
        };
        let Some((first, other)) = pair.split_once(',') else {
            return Err(Failure::usage(format!(
                "\"{base}\" is no pair of agents: write {PAIR_PREFIX}KIND,KIND, as in {PAIR_PREFIX}direct,react"
            )));
        };
        let first = Specified::read(first, examples)?;
        let other = match other {
            FunctionCallingAgent::KIND => Other::Tools,
            other => Other::Specified(Specified::read(other, examples)?),
        };
        Ok(Self::Pair(first, other))
    }

    fn into_agent(self, maker: &Maker<'_>) -> Result<Arc<dyn Agent>, Failure> {
        let samples = maker.options.samples;
        let (first, other) = match self {
            Self::One(one) if samples.is_none_or(|samples| samples.get() == 1) => {
                return Ok(Arc::new(maker.make(&one, 0.0)?));
            }
            Self::One(one) => (one, None),
            Self::Pair(first, other) => (first, Some(other)),
        };
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
        let options = VotingOptions { samples: samples.unwrap_or(SAMPLES), ..VotingOptions::default() };
        Ok(Arc::new(VotingAgent::new(sampled, other, options)))
    }
}

impl Specified {
    /// A shipped specification, or that of a file, with examples or without.
    fn read(kind: &str, examples: Option<bool>) -> Result<Self, Failure> {
        let source = match kind.strip_prefix(SPEC_PREFIX) {
            Some(file) => Source::find(file)?,
            None => Source::shipped(kind).ok_or_else(|| unknown(kind))?,
        };
        let mut loaded = source.load_or_explain(Compat::Ours, false)?;
        if !examples.unwrap_or(source.shows_examples()) {
            loaded.automaton = Arc::new(loaded.automaton.without_examples());
        }
        Ok(Self { source, loaded })
    }
}

/// What agents are made with.
struct Maker<'a> {
    model: Arc<dyn Model>,
    evaluator: Evaluator,
    options: Options<'a>,
}

impl Maker<'_> {
    fn make(&self, specified: &Specified, temperature: f64) -> Result<BehaviourAgent, Failure> {
        let options = BehaviourOptions {
            continuation: self.options.continuation,
            temperature,
            summary: self.options.summary,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_told_from_kinds() {
        assert_eq!(split("react"), ("react", ""));
        assert_eq!(split("pass:summary=results"), ("pass", "summary=results"));
        assert_eq!(
            split("spec:a:b=c.spec:samples=3,evaluator=openai/ft:x"),
            ("spec:a:b=c.spec", "samples=3,evaluator=openai/ft:x")
        );
        assert_eq!(split("fallback:direct,react:samples=3"), ("fallback:direct,react", "samples=3"));
    }

    #[test]
    fn options_of_the_command_line_become_a_part_of_the_name() {
        let arguments = AgentArguments {
            samples: NonZeroU32::new(3),
            evaluator: Some("model".to_owned()),
            ..AgentArguments::default()
        };
        let name = |name| with_options(name, &arguments).map_err(|failure| failure.describe());
        assert_eq!(name("direct@sim/x"), Ok("direct:samples=3,evaluator=model@sim/x".to_owned()));
        assert_eq!(
            name("spec:a@b.spec:summary=results@openai/x"),
            Ok("spec:a@b.spec:samples=3,summary=results,evaluator=model@openai/x".to_owned())
        );
        assert!(name("direct:samples=2@sim/x").is_err_and(|error| error.contains("already")));
        for other in ["tools@sim/x", "command:direct@x", "nobody"] {
            assert!(name(other).is_err_and(|error| error.contains("--samples is for")), "{other}");
        }
    }
}
