//! `planproof shard plan`: a campaign in shards, for the schedulers that people have.

mod expected;
mod schedulers;

use std::ffi::OsString;
use std::io::{Read as _, Write as _};

use clap::Parser as _;
use planproof_agents::AgentSpec;
use planproof_report::shell_word;
use planproof_suite::grouped;

use self::schedulers::Plan;
use super::campaign::named_agent;
use crate::arguments::{
    Arguments, CampaignArguments, Command, Global, Scheduler, ShardArguments, ShardCommand,
    ShardPlanArguments,
};
use crate::assembly::providers;
use crate::failure::{ExitCode, Failure};
use crate::values::CaseCount;
use crate::{config, progress, terminal};

pub(crate) fn run(arguments: &ShardArguments, global: &Global) -> Result<ExitCode, Failure> {
    let ShardCommand::Plan(plan) = &arguments.command;
    let line = checked(plan)?;
    let foreseen = expected::foresee(line.read)?;
    let shards = u64::from(plan.shards.get());
    if let Some(cases) = foreseen.cases.filter(|cases| *cases < shards) {
        return Err(Failure::usage(format!("there are {cases} cases, and so at most {cases} shards")));
    }
    let folder = plan.folder.display().to_string();
    let files = files(plan)?;
    let whole = Plan {
        shards: plan.shards.get(),
        folder: &folder,
        image: &plan.image,
        line: &line.words,
        keys: &line.keys,
        files: &files,
    };
    let text = match plan.scheduler {
        Scheduler::Slurm => whole.slurm(),
        Scheduler::Kubernetes => whole.kubernetes(),
        Scheduler::Github => whole.github(),
        Scheduler::Parallel => whole.parallel(),
    };
    write!(terminal::text(), "{text}")?;
    let each = foreseen.cases.map(|cases| cases.div_ceil(shards) * foreseen.repeats);
    if let Some(each) = each {
        progress::say(global, &format!("{shards} shards of up to {} runs each", grouped(each)));
    }
    match (foreseen.run, foreseen.cases.zip(each)) {
        (Ok(run), Some((cases, each))) => {
            progress::say(global, &run.in_words(cases * foreseen.repeats, each));
        }
        (Ok(_), None) => {}
        (Err(why), _) => progress::say(global, &format!("no estimate of tokens: {why}")),
    }
    Ok(ExitCode::Passed)
}

/// A command line that can be cut into shards.
struct Line {
    /// Quoted for a shell.
    words: String,
    /// The variables of the environment that hold the keys of its models.
    keys: Vec<&'static str>,
    read: Arguments,
}

/// Reads the command line as `planproof` itself would.
fn checked(plan: &ShardPlanArguments) -> Result<Line, Failure> {
    // A line of a script or of YAML cannot hold them.
    let folder = plan.folder.to_string_lossy();
    let mut texts = plan.line.iter().map(String::as_str).chain([&*folder, &plan.image]);
    if let Some(text) = texts.find(|text| text.contains(char::is_control)) {
        return Err(Failure::usage(format!(
            "a plan has one line for the campaign, and this argument has a line break or another control character: {}",
            terminal::inline(text)
        )));
    }
    let words = || std::iter::once("planproof").chain(plan.line.iter().map(String::as_str));
    Arguments::try_parse_from(words()).map_err(|error| {
        Failure::usage(format!("the campaign cannot be read: {}", error.to_string().trim()))
    })?;
    // With the configuration file, which each shard reads as well.
    let read = config::parse(words().map(OsString::from).collect())?.arguments;
    let (campaign, all, until_decided) = match &read.command {
        Command::Test(test) => (&test.campaign, &test.all, CaseCount::from(test.cases) == CaseCount::Auto),
        Command::Bench(bench) => (&bench.campaign, &bench.all, bench.until_decided()),
        Command::Limit(_) => {
            return Err(Failure::usage(
                "`limit` is not cut into shards: what it runs at a level follows from the levels before; run it on one \
                 machine, or the levels by `test --actions N` as campaigns of their own",
            ));
        }
        _ => return Err(Failure::usage("only `test` and `bench` are cut into shards")),
    };
    if until_decided {
        return Err(Failure::usage("--cases auto is not for shards: name a number"));
    }
    if all.shard.is_some() || plan.line.iter().any(|word| word == "--store" || word.starts_with("--store=")) {
        return Err(Failure::usage("leave --shard and --store out: the plan adds them to each shard"));
    }
    if campaign.resume.is_some() || campaign.recording.replay.is_some() {
        return Err(Failure::usage("--resume and --replay are not for shards"));
    }
    // Each shard would draw a seed of its own, and with it other cases.
    let is_drawn = matches!(&read.command, Command::Test(test)
        if test.from.is_none() && test.like.is_none() && test.scenarios.is_none());
    let is_program = named_agent(campaign)?.is_some_and(|agent| agent.is_program());
    if is_drawn && is_program && !read.global.given.has("seed") {
        return Err(Failure::usage(
            "a program is tested on cases of a seed that is drawn for each campaign, and all shards need the same cases: \
             name the --seed",
        ));
    }
    let keys = keys(campaign)?;
    let words: Vec<String> = plan.line.iter().map(|word| shell_word(word)).collect();
    Ok(Line { words: words.join(" "), keys, read })
}

/// The variables that hold the keys of the campaign's models, each once.
fn keys(campaign: &CampaignArguments) -> Result<Vec<&'static str>, Failure> {
    let agent = named_agent(campaign)?;
    let models = agent.as_ref().and_then(AgentSpec::model).into_iter().chain(campaign.serve_model.as_deref());
    let mut keys = Vec::new();
    for model in models {
        if let Some((provider, _)) = providers::find(model)?
            && provider.key_needed
            && !keys.contains(&provider.key_variable)
        {
            keys.push(provider.key_variable);
        }
    }
    Ok(keys)
}

/// The files for the pods, under the names that they have there.
fn files(plan: &ShardPlanArguments) -> Result<Vec<(String, String)>, Failure> {
    if !plan.files.is_empty() && plan.scheduler != Scheduler::Kubernetes {
        return Err(Failure::usage(
            "--with is for --for kubernetes: elsewhere the shards find the files where they are",
        ));
    }
    let mut files: Vec<(String, String)> = Vec::new();
    let mut left = FILES_BYTES_MAX;
    for path in &plan.files {
        let failed = |what: String| Failure::usage(format!("--with {}: {what}", path.display()));
        let name =
            path.file_name().and_then(|name| name.to_str()).filter(|name| is_key(name)).ok_or_else(|| {
                failed(
                    "a file of a ConfigMap has a name of letters, digits, `-`, `_` and `.`: rename it"
                        .to_owned(),
                )
            })?;
        if files.iter().any(|(other, _)| other == name) {
            return Err(failed("another file has the same name, and all are in one folder there".to_owned()));
        }
        let mut content = Vec::new();
        let file = planproof_files::open(path).map_err(|error| failed(error.to_string()))?;
        file.take(left + 1).read_to_end(&mut content).map_err(|error| failed(error.to_string()))?;
        left = left.checked_sub(content.len() as u64).ok_or_else(|| {
            failed(format!("the files have more than {FILES_BYTES_MAX} bytes: put them into the image"))
        })?;
        let content = String::from_utf8(content)
            .map_err(|_| failed("it is not a text in UTF-8: put it into the image".to_owned()))?;
        files.push((name.to_owned(), content));
    }
    Ok(files)
}

/// Whether a ConfigMap takes it as the name of a file.
fn is_key(name: &str) -> bool {
    name.len() <= KEY_BYTES_MAX && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// Most bytes of the files of a plan: a ConfigMap takes 1 MiB, and escapes make texts longer.
const FILES_BYTES_MAX: u64 = 768 << 10;

/// Most bytes of the name of a file in a ConfigMap.
const KEY_BYTES_MAX: usize = 253;
