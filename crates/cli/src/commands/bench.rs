//! `planproof bench`: an agent on a benchmark.

mod matrix;
mod models;

use std::collections::HashSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use planproof_agents::AgentSpec;
use planproof_assembly::arguments::CompatChoice;
use planproof_assembly::errors::OrFail as _;
use planproof_campaign::{CASES_MAX, Cases, StoreOptions};
use planproof_doors::{self as suites, KeptOptions, OwnOptions, SequelOptions};
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::print::print_json;
use planproof_output::{secrets, terminal, text_files};
use planproof_store::{Matrix, Store};
use planproof_suite::{Case, CaseSelection, Data, OwnedData, Suite};
use tokio_util::sync::CancellationToken;

pub(super) use models::paid_for;

use super::campaign::{CampaignPlan, CampaignRequest, CaseSource, Extras, WantedCases, carry_out, prepare};
use crate::arguments::{BenchArguments, BenchCommand, ChoiceArguments, Global, ReviewChoice};
use crate::stored::must_exist;

pub(crate) fn run(arguments: &BenchArguments, global: &Global) -> Result<ExitCode, Failure> {
    if let Some(BenchCommand::Models(models)) = &arguments.command {
        return models::run(models, arguments, global);
    }
    let (resume, replay) = (&arguments.campaign.resume, &arguments.campaign.recording.replay);
    let Some(name) = &arguments.suite else {
        if resume.is_some() || replay.is_some() {
            return Err(Failure::usage("name the suite, as in `planproof bench gsm8k --resume last`"));
        }
        return list(global).map(|()| ExitCode::Passed);
    };
    let (cases, agents) = asked_for(name, arguments, global)?;
    let campaign = &arguments.campaign;
    let mut taken: Vec<(&str, &Path)> = arguments.of_suite.files().collect();
    for file in campaign.taken_files().into_iter().chain(files(&arguments.choice)) {
        taken.push(file);
    }
    taken.extend(arguments.all.gate.file().map(|file| ("--baseline", file)));
    taken.extend(arguments.from.as_deref().map(|path| ("--from", path)));
    let plan = cases.plan();
    let is_matrix = agents.as_ref().is_some_and(|agents| agents.len() > 1);
    if is_matrix && campaign.review != ReviewChoice::None {
        return Err(Failure::usage("--review works with one agent: name one"));
    }
    if is_matrix && arguments.until_decided() {
        return Err(Failure::usage("--cases auto compares one agent with a baseline: name one"));
    }
    if is_matrix || resume.is_some() {
        let request = matrix::Request { arguments, plan: plan.clone(), taken: taken.clone(), global };
        // The id of a campaign and that of a matrix are given alike; only the store can tell which it is.
        if let Some((store, row)) = resumed_matrix(arguments)? {
            return matrix::go_on(&request, &store, row, agents.as_deref());
        }
        if let Some(agents) = agents.as_deref().filter(|_| is_matrix) {
            if let Some(resume) = resume {
                return Err(Failure::usage(format!(
                    "--resume {resume} is one campaign, and the command line names {} agents",
                    agents.len()
                )));
            }
            return matrix::begin(&request, agents);
        }
    }
    let request = CampaignRequest {
        campaign,
        agent: agents.and_then(|agents| agents.into_iter().next()),
        plan,
        all: &arguments.all,
        taken,
        shrink_to: None,
    };
    super::campaign::run_request(&request, global)
}

/// What the command line asks for: the maker of its cases, and all agents that it names.
fn asked_for<'a>(
    name: &str,
    arguments: &'a BenchArguments,
    global: &'a Global,
) -> Result<(BenchCases<'a>, Option<Vec<AgentSpec>>), Failure> {
    let mut suite = suites::find(name)?;
    let values = arguments.of_suite.of_suite(&*suite, arguments.compat.map(judgement), &global.set)?;
    let (values, of_sequels) = values.apart_from_sequels();
    let sequels = suites::sequels_asked(&*suite, &of_sequels)?;
    // A suite may leave out figures of runs if finished answers are scored, so it is not asked without a reason.
    if !values.is_empty() {
        suite = suite.with_options(&values.pairs()).map_err(Failure::from)?.unwrap_or(suite);
    }
    let campaign = &arguments.campaign;
    let (resume, replay) = (&campaign.resume, &campaign.recording.replay);
    if campaign.agent.is_none() && resume.is_none() && replay.is_none() {
        return Err(Failure::usage(format!(
            "name the agent, as in `planproof bench {name} cot@openai/gpt-5-mini`; `sim/gold` is a simulated model that is \
             handed the answers"
        )));
    }
    let agents = matrix::asked_for(arguments, global)?;
    let fitted = |agent: &AgentSpec| suites::fitted(&*suite, agent);
    let agents = agents.map(|agents| agents.iter().map(fitted).collect::<Result<Vec<_>, _>>()).transpose()?;
    Ok((BenchCases { suite, kept: values.kept()?, sequels, arguments }, agents))
}

/// The word of a suite for how runs are judged.
fn judgement(compat: CompatChoice) -> &'static str {
    match compat {
        CompatChoice::Original => "original",
        CompatChoice::Ours => "right",
    }
}

/// All agents that a command line names, with its models and settings.
pub(super) fn agents_of(arguments: &BenchArguments, global: &Global) -> Result<Vec<AgentSpec>, Failure> {
    let name = arguments.suite.as_deref().unwrap_or_default();
    Ok(asked_for(name, arguments, global)?.1.unwrap_or_default())
}

/// What makes the cases that a command line asks for.
pub(super) fn bench_cases<'a>(
    arguments: &'a BenchArguments,
    global: &'a Global,
) -> Result<BenchCases<'a>, Failure> {
    let name = arguments.suite.as_deref().unwrap_or_default();
    Ok(asked_for(name, arguments, global)?.0)
}

/// Runs the campaign of one agent, and prints nothing of it.
pub(super) async fn quietly(
    arguments: &BenchArguments,
    global: &Global,
    stop: &CancellationToken,
) -> Result<(), Failure> {
    let name = arguments.suite.as_deref().unwrap_or_default();
    let (cases, agents) = asked_for(name, arguments, global)?;
    let agent = agents.and_then(|agents| agents.into_iter().next());
    let prepared = prepare(&arguments.campaign, global, agent, &cases.plan(), Extras::default())?;
    let ended = carry_out(&prepared, global, stop, |outcomes| prepared.run.all_at_once(outcomes)).await?;
    prepared.came_to_its_end(ended)
}

/// The matrix that the command line resumes, if it is one.
fn resumed_matrix(arguments: &BenchArguments) -> Result<Option<(Store, Matrix)>, Failure> {
    let Some(name) = &arguments.campaign.resume else { return Ok(None) };
    // Opening a store that does not exist would create it.
    must_exist(&arguments.campaign.store.store)?;
    let store = StoreOptions::from(&arguments.campaign.store).open().or_fail()?;
    Ok(store.matrix(name)?.map(|row| (store, row)))
}

/// The suites, a line each.
fn list(global: &Global) -> Result<(), Failure> {
    let registry = suites::registry();
    if global.json {
        let suites: Vec<_> = registry
            .iter()
            .map(|suite| serde_json::json!({ "suite": suite.name(), "about": suite.about() }))
            .collect();
        return print_json(&suites);
    }
    let mut out = terminal::text();
    for suite in registry.iter() {
        writeln!(out, "{:<14}{}", suite.name(), suite.about())?;
    }
    writeln!(
        out,
        "\nRun one: planproof bench gsm8k AGENT --data FILE. Orders are synthesised: planproof test AGENT."
    )?;
    Ok(())
}

/// The files that a choice names, with their options.
pub(super) fn files(choice: &ChoiceArguments) -> impl Iterator<Item = (&'static str, &Path)> {
    let named = [("--data", &choice.data), ("--places", &choice.places)];
    named.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?)))
}

/// What makes the cases of a benchmark.
pub(super) struct BenchCases<'a> {
    suite: Arc<dyn Suite>,
    kept: KeptOptions,
    sequels: SequelOptions,
    arguments: &'a BenchArguments,
}

impl BenchCases<'_> {
    /// What `planproof bench` asks for.
    pub(super) fn plan(&self) -> CampaignPlan<'_> {
        let BenchArguments { choice, from, of_suite, all, .. } = self.arguments;
        let named = from.as_deref().into_iter().chain(of_suite.files().map(|(_, path)| path));
        CampaignPlan {
            suite: Some(self.suite.name()),
            kept: self.kept.clone(),
            sequels: self.sequels.clone(),
            files: named.chain(files(choice).map(|(_, path)| path)).chain(all.files.paths()).collect(),
            faults: all.faults,
            fail_over: all.fail_over,
            until_decided: self.arguments.until_decided(),
            ..CampaignPlan::new(self, all.repeat)
        }
    }
}

impl CaseSource for BenchCases<'_> {
    fn kept(&self, _seed: u64) -> Result<OwnOptions, Failure> {
        Ok(OwnOptions::defaults(self.suite.name()))
    }

    fn make(&self, _seed: u64, _: WantedCases) -> Result<Cases, Failure> {
        let most = self.arguments.cases_max();
        let mut cases = match &self.arguments.from {
            Some(file) => from_lines(&*self.suite, file)?,
            None => load(&*self.suite, &self.arguments.choice.at_most(most))?,
        };
        cases.truncate(most.unwrap_or(usize::MAX));
        self.suite.prepare(&cases).map_err(Failure::from)?;
        Ok(Cases::given(Arc::clone(&self.suite), cases))
    }
}

/// The cases that are chosen.
pub(super) fn load(suite: &dyn Suite, choice: &ChoiceArguments) -> Result<Vec<Arc<dyn Case>>, Failure> {
    let selection = match (&choice.places, choice.shuffle) {
        (Some(path), _) => {
            let (text, file) = (text_files::read_large_text(path)?, path.display().to_string());
            CaseSelection::Places(suite.places(Data { text: &text, file: &file }).map_err(Failure::from)?)
        }
        (None, Some(seed)) => CaseSelection::Shuffled(seed),
        (None, None) => CaseSelection::First,
    };
    let cases = match &choice.data {
        Some(path) => {
            let OwnedData { text, file } = match suite.data(path).map_err(Failure::from)? {
                Some(data) => data,
                None => {
                    let file = data_file(path)?;
                    OwnedData { text: text_files::read_json(&file)?, file: file.display().to_string() }
                }
            };
            suite.load(Some(Data { text: &text, file: &file }), &selection, choice.limit)
        }
        None => suite.load(None, &selection, choice.limit),
    };
    fit(cases.map_err(Failure::from)?, choice.data.as_deref())
}

/// The requested file of data: the named one, or the only `.jsonl` file of a named folder.
fn data_file(path: &Path) -> Result<PathBuf, Failure> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let fail = |error: std::io::Error| Failure::usage(format!("cannot read {}: {error}", path.display()));
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(fail)? {
        let file = entry.map_err(fail)?.path();
        if file.extension().is_some_and(|extension| extension == "jsonl") && file.is_file() {
            files.push(file);
        }
    }
    match files.len() {
        1 => Ok(files.remove(0)),
        count => Err(Failure::usage(format!(
            "{} is a folder with {count} .jsonl files, and only a single one is read without its name: name the \
             data file",
            path.display()
        ))),
    }
}

/// The cases of a file of case lines.
fn from_lines(suite: &dyn Suite, path: &Path) -> Result<Vec<Arc<dyn Case>>, Failure> {
    let text = text_files::read_large_text(path)?;
    // Numbered before blank lines are left out, so that an error names the line that an editor shows.
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read = |(number, line): (usize, &str)| {
        suite
            .read(line)
            .map_err(|error| Failure::usage(format!("{}, line {}: {error}", path.display(), number + 1)))
    };
    fit(lines.map(read).collect::<Result<_, _>>()?, Some(path))
}

/// The cases, if there are some, not too many, with distinct ids, and without a key of ours.
pub(crate) fn fit(cases: Vec<Arc<dyn Case>>, path: Option<&Path>) -> Result<Vec<Arc<dyn Case>>, Failure> {
    let file = path.map_or_else(|| "the suite".to_owned(), |path| path.display().to_string());
    if cases.is_empty() {
        return Err(Failure::usage(format!("{file} holds no case")));
    }
    if cases.len() as u64 > CASES_MAX {
        return Err(Failure::usage(format!(
            "{file} holds {} cases; a campaign has at most {CASES_MAX}: choose some with --limit",
            cases.len()
        )));
    }
    let mut ids = HashSet::new();
    for case in &cases {
        let id = case.card().id.as_str();
        if !ids.insert(id) {
            let id = terminal::inline(id);
            return Err(Failure::usage(format!("{file}: there is a case \"{id}\" already")));
        }
        // Without a key, the texts of all cases would be put together for nothing.
        if !secrets::held().is_empty() {
            secrets::refuse_keys(&**case)?;
        }
    }
    Ok(cases)
}
