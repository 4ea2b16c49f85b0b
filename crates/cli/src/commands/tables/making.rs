//! Running what a paper's table lacks, under one budget.
//!
//! Each campaign is as `planproof test`, `limit` or `bench` begins one, found again in the run store by its label and
//! its agent, so that what is finished is not paid twice, and that a killed command resumes where it stopped.

use std::collections::BTreeMap;
use std::ffi::OsString;

use planproof_agents::AgentSpec;
use planproof_assembly::errors::OrFail as _;
use planproof_campaign::{StoreOptions, is_complete, parts};
use planproof_model::prices::Money;
use planproof_output::failure::Failure;
use planproof_output::runtime::runtime;
use planproof_output::{progress, secrets};
use planproof_store::{CampaignRow, Store};
use tokio_util::sync::CancellationToken;

use super::super::bench::{self, paid_for};
use super::super::campaign::{Extras, carry_out, named_agent, prepare, stop_on_signal};
use super::papers::{LIMIT, Line, Papers, Request};
use super::pdoctor;
use crate::arguments::{Command, Global};
use crate::command_line;
use crate::stored::Stored;
use crate::suites::orders::{TestCases, limit};

/// What the names of simulated models begin with.
const SIMULATED: &str = "sim/";

/// A campaign that was not run, or not to its end.
#[derive(Debug, serde::Serialize)]
pub(super) struct NotRun {
    pub(super) line: String,
    pub(super) agent: String,
    pub(super) why: String,
}

/// The campaigns of a line: those with its label.
pub(super) fn campaigns_of(
    store: &Store,
    line: &Line,
    request: &Request<'_>,
) -> Result<Vec<CampaignRow>, Failure> {
    let label = line.label(request);
    let mut rows = store.campaigns()?;
    rows.retain(|row| row.label.as_deref() == Some(label.as_str()));
    // The newest of an agent counts; the list begins with it. The order of rows is then that of their beginning.
    let mut agents = std::collections::BTreeSet::new();
    rows.retain(|row| agents.insert((row.agent.clone(), row.model.clone())));
    rows.reverse();
    Ok(rows)
}

/// The limit at the paper's threshold that the line which another one needs found for an agent, if it did.
pub(super) fn limit_of(
    store: &Store,
    (papers, line): (&Papers, &Line),
    agent: &str,
    request: &Request<'_>,
) -> Result<Option<u32>, Failure> {
    let Some(needed) = &line.needs else { return Ok(None) };
    let rows = campaigns_of(store, papers.line(needed)?, request)?;
    match rows.iter().find(|row| row.agent == secrets::without(agent)) {
        Some(row) => pdoctor::paper_limit(store, &row.id),
        None => Ok(None),
    }
}

/// Runs all that these lines lack, and says what was not run. An interruption is an error.
pub(super) fn make(
    papers: &Papers,
    lines: &[&Line],
    request: &Request<'_>,
    global: &Global,
) -> Result<Vec<NotRun>, Failure> {
    let making = Making { papers, lines, request, global };
    runtime()?.block_on(async {
        let stop = stop_on_signal();
        let mut missing = Vec::new();
        for line in lines {
            for model in &request.arguments.model {
                for agent in making.agents(line, model)? {
                    missing.extend(making.row(line, &agent, &stop).await?);
                }
            }
        }
        Ok(missing)
    })
}

struct Making<'a> {
    papers: &'a Papers,
    lines: &'a [&'a Line],
    request: &'a Request<'a>,
    global: &'a Global,
}

impl Making<'_> {
    /// All agents of a line with that model: one for each campaign.
    fn agents(&self, line: &Line, model: &str) -> Result<Vec<AgentSpec>, Failure> {
        if line.suite().is_none() {
            return line
                .agents_with(model)
                .iter()
                .map(|agent| planproof_assembly::agent_spec(agent))
                .collect();
        }
        let mut agents = Vec::new();
        for words in line.printed(model, LIMIT, self.request) {
            let parsed = parse(self.line(words)?)?;
            let Command::Bench(arguments) = &parsed.arguments.command else { return Err(another()) };
            agents.extend(bench::agents_of(arguments, &parsed.arguments.global)?);
        }
        Ok(agents)
    }

    /// Runs the campaign of an agent to its end, as far as the budget goes; says why not.
    async fn row(
        &self,
        line: &Line,
        agent: &AgentSpec,
        stop: &CancellationToken,
    ) -> Result<Option<NotRun>, Failure> {
        let not_run = |why: String| {
            let why = why.strip_prefix("error: ").unwrap_or(&why).to_owned();
            Ok(Some(NotRun { line: line.id.clone(), agent: secrets::without(agent.as_str()), why }))
        };
        let store = self.open()?;
        let found = self.find(&store, line, agent)?;
        if found.as_ref().is_some_and(|row| self.is_done(&store, line, row).unwrap_or(false)) {
            return Ok(None);
        }
        let limit = match (&line.needs, &found) {
            // A campaign that exists has its cases.
            (Some(_), None) => match limit_of(&store, (self.papers, line), agent.as_str(), self.request)? {
                Some(limit) if limit >= 2 => limit.to_string(),
                Some(_) => return not_run("not even two actions are within its limit at 20 %".to_owned()),
                None => return not_run("the limit of the agent is not known".to_owned()),
            },
            _ => LIMIT.to_owned(),
        };
        // Added up anew for each, because the ones before it have spent something.
        let left = match self.request.arguments.max_cost.and_then(Money::from_dollars) {
            // Nobody is paid for a simulation, whose price nobody knows.
            Some(_) if parts(agent).model.is_some_and(|model| model.starts_with(SIMULATED)) => None,
            Some(most) => Some(most.minus(self.paid(&store)?)),
            None => None,
        };
        if left.is_some_and(|left| left == Money::default()) {
            return not_run("the budget of --max-cost is used up".to_owned());
        }
        let words = match &found {
            Some(row) => line.resumes(agent.as_str(), &row.id, self.request),
            None => line.begins(&[agent.to_string()], false, &limit, self.request),
        };
        let mut words = self.line(words)?;
        // The budget of a campaign covers all that it ever spent, also before it was resumed.
        let budget = left.map(|left| left.plus(found.as_ref().map(paid_for).unwrap_or_default()));
        if let Some(budget) = budget {
            words.extend(["--max-cost".to_owned(), budget.dollars().to_string()].map(OsString::from));
        }
        // The campaign opens the file itself.
        drop(store);
        progress::say(self.global.quiet, &format!("{}: {agent}", line.id));
        let came = run(words, stop).await;
        // An interruption ends everything. Any other failure concerns this campaign, and the others are still run.
        if stop.is_cancelled() {
            came?;
        } else if let Err(failure) = came {
            return not_run(failure.describe());
        }
        let store = self.open()?;
        let row = self.find(&store, line, agent)?;
        let Some(row) = row else { return not_run("its campaign is gone".to_owned()) };
        match self.is_done(&store, line, &row)? {
            true => Ok(None),
            false if row.progress.ended_by.is_some() => {
                not_run(format!("ended by the budget of {}", row.progress.ended_by.unwrap_or_default()))
            }
            false => not_run(format!("{} of {} runs have a score", row.passed + row.failed, row.total())),
        }
    }

    /// Whether nothing is left to run of a campaign.
    fn is_done(&self, store: &Store, line: &Line, row: &CampaignRow) -> Result<bool, Failure> {
        let is_over = line.ends_with_time()
            && row.progress.ended_by.as_ref().is_some_and(|budget| budget.contains("minute"));
        if !is_complete(row) && !is_over {
            return Ok(false);
        }
        if !line.dissects() || row.failed == 0 {
            return Ok(true);
        }
        let report = Stored::load(store, &row.id)?.report();
        Ok(report.dissection.is_some_and(|dissection| dissection.unfinished == 0))
    }

    fn find(&self, store: &Store, line: &Line, agent: &AgentSpec) -> Result<Option<CampaignRow>, Failure> {
        let rows = campaigns_of(store, line, self.request)?;
        Ok(rows.into_iter().find(|row| row.agent == secrets::without(agent.as_str())))
    }

    /// What was paid for the campaigns of all lines so far.
    fn paid(&self, store: &Store) -> Result<Money, Failure> {
        let mut paid = BTreeMap::new();
        for line in self.lines {
            paid.extend(
                campaigns_of(store, line, self.request)?.into_iter().map(|row| (row.id.clone(), row)),
            );
        }
        Ok(paid.values().map(paid_for).fold(Money::default(), Money::plus))
    }

    fn open(&self) -> Result<Store, Failure> {
        StoreOptions::from(&self.request.arguments.store).open().or_fail()
    }

    /// A command line with these words for this store. Without the configuration file, whose keys would change unseen
    /// what all campaigns of a table have in common.
    fn line(&self, words: Vec<String>) -> Result<Vec<OsString>, Failure> {
        let mut line = ["planproof", "--config", "none"].map(OsString::from).to_vec();
        line.extend(words.into_iter().map(OsString::from));
        line.extend([OsString::from("--store"), self.request.arguments.store.store.clone().into_os_string()]);
        if self.global.quiet {
            line.push(OsString::from("--quiet"));
        }
        Ok(line)
    }
}

fn parse(line: Vec<OsString>) -> Result<command_line::Parsed, Failure> {
    // Parsed like a typed command line, so that a campaign is one that a user could have begun.
    command_line::parse(line)
}

fn another() -> Failure {
    Failure::outside("the tables of the papers name another command")
}

/// Runs a command line, and prints nothing of it.
async fn run(line: Vec<OsString>, stop: &CancellationToken) -> Result<(), Failure> {
    let parsed = parse(line)?;
    let global = &parsed.arguments.global;
    match &parsed.arguments.command {
        Command::Test(arguments) => {
            let agent = named_agent(&arguments.campaign)?;
            let prepared = prepare(
                &arguments.campaign,
                global,
                agent,
                &TestCases::new(arguments, global).plan()?,
                Extras::default(),
            )?;
            let all = |outcomes: &[_]| prepared.run.all_at_once(outcomes);
            let ended = carry_out(&prepared, global, stop, all).await?;
            prepared.came_to_its_end(ended)
        }
        Command::Limit(arguments) => limit::quietly(arguments, global, stop).await,
        Command::Bench(arguments) => bench::quietly(arguments, global, stop).await,
        _ => Err(another()),
    }
}
