//! `planproof shard plan`: a campaign in shards, for the schedulers that people have.

mod expected;
mod files;
mod schedulers;

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::Write as _;

use clap::Parser as _;
use planproof_agents::AgentSpec;
use planproof_assembly::providers;
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::{progress, secrets, terminal};
use planproof_sim::gold_faults;
use planproof_suite::grouped;
use planproof_tools::process::shell_word;

use self::schedulers::Plan;
use super::campaign::{OneShard, named_agent};
use crate::arguments::{
    Arguments, CampaignArguments, Command, Global, Scheduler, ShardArguments, ShardCommand,
    ShardPlanArguments,
};
use crate::command_line;
use crate::values::CaseCount;

/// Most jobs of a matrix of GitHub.
const GITHUB_JOBS_MAX: u32 = 256;

pub(crate) fn run(arguments: &ShardArguments, global: &Global) -> Result<ExitCode, Failure> {
    let ShardCommand::Plan(plan) = &arguments.command;
    let line = checked(plan)?;
    let files = files::of(plan, &line.read)?;
    let foreseen = expected::foresee(line.read)?;
    let shards = u64::from(plan.shards.get());
    if let Some(cases) = foreseen.cases.filter(|cases| *cases < shards) {
        return Err(Failure::usage(format!("there are {cases} cases, and so at most {cases} shards")));
    }
    if plan.scheduler == Scheduler::Github && plan.shards.get() > GITHUB_JOBS_MAX {
        return Err(Failure::usage(format!(
            "GitHub runs at most {GITHUB_JOBS_MAX} jobs of a matrix: name so many --shards or fewer"
        )));
    }
    if plan.scheduler == Scheduler::Kubernetes && plan.folder.is_some() {
        return Err(Failure::usage(
            "--folder is not for --for kubernetes: the pods have a volume for their run stores",
        ));
    }
    let mut folder = folder(plan).into_owned();
    if folder.starts_with('-') {
        // Commands that get it would take it for an option.
        folder.insert_str(0, "./");
    }
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
        progress::say(global.quiet, &format!("{shards} shards of up to {} runs each", grouped(each)));
    }
    match (foreseen.run, foreseen.cases.zip(each)) {
        (Ok(run), Some((cases, each))) => {
            progress::say(global.quiet, &run.in_words(cases * foreseen.repeats, each));
        }
        (Ok(_), None) => {}
        (Err(why), _) => progress::say(global.quiet, &format!("no estimate of tokens: {why}")),
    }
    Ok(ExitCode::Passed)
}

fn folder(plan: &ShardPlanArguments) -> Cow<'_, str> {
    plan.folder.as_ref().map_or(Cow::Borrowed("shards"), |folder| folder.to_string_lossy())
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
    let folder = folder(plan);
    let named = [("--folder", &*folder), ("--image", &plan.image)];
    for (name, text) in named.into_iter().chain(plan.line.iter().map(|word| ("the campaign", word.as_str())))
    {
        must_be_plain(name, text)?;
    }
    let words = || std::iter::once("planproof").chain(plan.line.iter().map(String::as_str));
    Arguments::try_parse_from(words()).map_err(|error| {
        Failure::usage(format!("the campaign cannot be read: {}", error.to_string().trim()))
    })?;
    // With the configuration file, which each shard reads as well.
    let read = command_line::parse(words().map(OsString::from).collect())?.arguments;
    providers::set_up_for_others(read.global.providers.as_deref(), &read.global.key_for)?;
    // Those that are not set here are so on the machines of the shards.
    secrets::hold(read.global.secret.iter().filter_map(|name| std::env::var(name).ok()));
    must_have_no_key(plan)?;
    let (campaign, all, until_decided, sequels) = match &read.command {
        Command::Test(test) => {
            let is_auto = CaseCount::from(test.cases) == CaseCount::Auto;
            (&test.campaign, &test.all, is_auto, test.sequels.asked()?)
        }
        Command::Bench(bench) => (&bench.campaign, &bench.all, bench.until_decided(), Default::default()),
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
    let shard = OneShard {
        campaign,
        all,
        name: format!("1/{}", plan.shards),
        sequel: sequels.keys().next().map(String::as_str),
        until_decided,
    };
    shard.must_be_possible()?;
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

/// Refuses what cannot stand in a line of a script or of YAML, or would be written as an escape.
fn must_be_plain(name: &str, text: &str) -> Result<(), Failure> {
    match text.contains(terminal::is_hidden) {
        false => Ok(()),
        true => Err(Failure::usage(format!(
            "a plan has one line for the campaign, and {name} has a line break or another character that is not seen: {}",
            terminal::inline(text)
        ))),
    }
}

/// Refuses a plan that would contain a key: others read plans.
fn must_have_no_key(plan: &ShardPlanArguments) -> Result<(), Failure> {
    let keys = secrets::held();
    let folder = folder(plan);
    let named = [("--folder".to_owned(), &*folder), ("--image".to_owned(), plan.image.as_str())];
    let line = (1..)
        .zip(&plan.line)
        .map(|(number, word)| (format!("argument {number} of the campaign (after `--`)"), word.as_str()));
    for (name, text) in named.into_iter().chain(line) {
        if let Some(whose) = secrets::whose_key_in(&keys, text) {
            return Err(Failure::usage(format!(
                "{name} holds {whose}: take it out, because others can read a plan; shards take keys from variables of \
                 the environment"
            )));
        }
    }
    Ok(())
}

/// The variables that hold the keys of the campaign's models, each once.
///
/// # Errors
/// A model is not known, so that every shard would refuse the campaign.
fn keys(campaign: &CampaignArguments) -> Result<Vec<&'static str>, Failure> {
    let agent = named_agent(campaign)?;
    let models = agent.as_ref().and_then(AgentSpec::model).into_iter().chain(campaign.serve_model.as_deref());
    let mut keys = Vec::new();
    for model in models {
        match gold_faults(model) {
            Some(faults) => drop(faults.map_err(|error| Failure::usage(error.to_string()))?),
            None => planproof_assembly::must_be_known(model)?,
        }
        if let Some((provider, _)) = providers::find(model)?
            && (provider.key_needed || providers::is_named_key(provider.key_variable))
            && !keys.contains(&provider.key_variable)
        {
            keys.push(provider.key_variable);
        }
    }
    Ok(keys)
}
