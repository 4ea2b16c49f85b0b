//! `planproof bench models`: models by one protocol, a dated row each.
//!
//! Each row is a campaign as `planproof test` begins one, found again in the run store by its label and its agent, so
//! that what is finished is not paid twice.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use planproof_agents::{AgentSpec, REPLY_TOKENS};
use planproof_assembly::errors::OrFail as _;
use planproof_assembly::providers;
use planproof_campaign::{StoreOptions, is_complete, parts};
use planproof_engine::{Report, Tokens};
use planproof_model::prices::{Money, Prices};
use planproof_output::failure::{ExitCode, Failure, unless_closed};
use planproof_output::print::print_json;
use planproof_output::runtime::runtime;
use planproof_output::{progress, secrets, terminal, text_files};
use planproof_store::{CampaignRow, Store};
use planproof_suite::statistics::Rate;
use planproof_trace::Usage;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::super::campaign::{Extras, carry_out, named_agent, prepare, stop_on_signal};
use super::super::runs::date;
use crate::arguments::{BenchArguments, Command, Global, ModelsArguments, TestArguments, TestForm};
use crate::command_line;
use crate::stored::Stored;
use crate::suites::orders::TestCases;

/// The kind of agent of a model that is named alone.
const KIND: &str = "tools";

/// Who stands in for the models where the cost is estimated.
const STAND_IN: &str = "sim/perfect";

/// What the names of simulated models begin with.
const SIMULATED: &str = "sim/";

/// Most characters of why a row was not run.
const REASON_CHARACTERS_MAX: usize = 300;

pub(super) fn run(
    arguments: &ModelsArguments,
    bench: &BenchArguments,
    global: &Global,
) -> Result<ExitCode, Failure> {
    let agents: Vec<AgentSpec> = arguments.agents.iter().map(|name| agent(name)).collect::<Result<_, _>>()?;
    let prices = prices(arguments.prices.as_deref())?;
    let models = Models { arguments, store: &bench.campaign.store.store, global, prices };
    let limit = arguments.max_cost.and_then(Money::from_dollars);
    let rows = runtime()?.block_on(async {
        let stop = stop_on_signal();
        let mut rows = Vec::new();
        for agent in &agents {
            for form in arguments.form.iter().copied() {
                let row = match arguments.estimate {
                    true => models.estimate(agent, form, &stop).await?,
                    false => {
                        // Added up anew for each row, because the rows before it have spent something.
                        let left = match limit {
                            Some(limit) => Some(limit.minus(models.paid(&agents)?)),
                            None => None,
                        };
                        models.row(agent, form, left, &stop).await?
                    }
                };
                rows.push(row);
            }
        }
        Ok::<_, Failure>(rows)
    })?;
    let printed = match global.json {
        true => print_json(&rows),
        false => write!(terminal::text(), "{}", models.table(&rows)).map_err(Failure::from),
    };
    unless_closed(printed)?;
    let is_whole = rows.iter().all(|row| row.not_run.is_none() && row.unfinished == 0);
    Ok(if is_whole { ExitCode::Passed } else { ExitCode::Outside })
}

fn prices(file: Option<&Path>) -> Result<Prices, Failure> {
    let Some(path) = file else { return Ok(Prices::shipped().clone()) };
    let read = Prices::read(&text_files::read_text(path)?);
    read.map_err(|error| Failure::usage(format!("--prices {}: {error}", path.display())))
}

/// The agent of that name; a model alone is that of our function-calling loop.
fn agent(name: &str) -> Result<AgentSpec, Failure> {
    // The names of programs and services hold slashes as well, but begin with a word and a colon. Behind its provider,
    // a model has colons of its own, as in `openai/llama3:8b`.
    let has_provider = || name.split_once('/').is_some_and(|(provider, _)| !provider.contains(':'));
    let is_model = !name.contains('@') && (providers::find(name)?.is_some() || has_provider());
    let spec =
        planproof_assembly::agent_spec(&if is_model { format!("{KIND}@{name}") } else { name.to_owned() })?;
    match parts(&spec).model {
        Some(_) => Ok(spec),
        None => Err(Failure::usage(format!(
            "{name} has no model: name a model, as in openai/gpt-5-mini, or an agent with one, as in react@openai/gpt-5-mini"
        ))),
    }
}

/// What is known of a model.
#[derive(Debug, Default, Serialize)]
struct Row {
    agent: String,
    form: &'static str,
    /// When its campaign began.
    #[serde(skip_serializing_if = "Option::is_none")]
    date: Option<String>,
    /// The planproof that prints the row, which judged the runs again.
    planproof: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    campaign: Option<String>,
    simulated: bool,
    passed: u64,
    scored: u64,
    /// The success rate with its 95 % interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    rate: Option<Rate>,
    /// Cases that were not run, or say nothing of the model.
    unfinished: u64,
    /// In US dollars: what was paid, or with `--estimate` what would be.
    cost: Option<f64>,
    cost_is_estimate: bool,
    tokens: [u64; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    recording: Option<String>,
    /// What the monitor corrected, if the agent is made from a specification.
    #[serde(skip_serializing_if = "Option::is_none")]
    corrections: Option<u64>,
    /// The agent's time in seconds, summed over runs that may have been concurrent.
    seconds: f64,
    /// Failed runs by class.
    classes: BTreeMap<&'static str, u64>,
    /// What the model's server said of itself, a line for each model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    servers: Vec<String>,
    /// The version of planproof's prompts with which the campaign was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    prompts: Option<String>,
    /// Why there are no figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_run: Option<String>,
}

struct Models<'a> {
    arguments: &'a ModelsArguments,
    store: &'a Path,
    global: &'a Global,
    prices: Prices,
}

impl Models<'_> {
    /// What all rows of a form have in common, by which their campaigns are found again.
    fn label(&self, form: TestForm, is_estimate: bool) -> String {
        let ModelsArguments { cases, actions: (least, most), .. } = self.arguments;
        // Otherwise the row of the simulated model that stands in for others would be found as their estimate, and the
        // other way round.
        let what = if is_estimate { "estimate of models" } else { "models" };
        format!(
            "{what}: {}, {cases} cases, {least}..{most} actions, seed {}{}",
            form.as_str(),
            self.global.seed,
            self.replies()
        )
    }

    /// The limit of replies, unless it is the usual one.
    fn replies(&self) -> String {
        match self.arguments.reply_tokens {
            REPLY_TOKENS => String::new(),
            tokens => format!(", replies of at most {tokens} tokens"),
        }
    }

    /// The newest campaign of that agent and label.
    fn find(&self, agent: &AgentSpec, label: &str) -> Result<Option<CampaignRow>, Failure> {
        // Opening a store that does not exist would create it.
        if !self.store.exists() {
            return Ok(None);
        }
        let rows = self.open()?.campaigns()?;
        Ok(rows.into_iter().find(|row| is_of(row, agent, label)))
    }

    /// What was paid for all rows so far. The limit is for all of them together, so a row that was paid for in an
    /// earlier call counts as well, even if its turn is still to come.
    fn paid(&self, agents: &[AgentSpec]) -> Result<Money, Failure> {
        if !self.store.exists() {
            return Ok(Money::default());
        }
        let rows = self.open()?.campaigns()?;
        // By id, because a model that is named twice is one campaign.
        let mut found = BTreeMap::new();
        for form in &self.arguments.form {
            let label = self.label(*form, false);
            let of_agent = |agent| rows.iter().find(|row| is_of(row, agent, &label));
            found.extend(agents.iter().filter_map(of_agent).map(|row| (&row.id, paid_for(row))));
        }
        Ok(found.into_values().fold(Money::default(), Money::plus))
    }

    fn open(&self) -> Result<Store, Failure> {
        StoreOptions { path: self.store.to_owned(), pages_max: None }.open().or_fail()
    }

    /// A row with all of its cases run, as far as the budget goes.
    async fn row(
        &self,
        agent: &AgentSpec,
        form: TestForm,
        left: Option<Money>,
        stop: &CancellationToken,
    ) -> Result<Row, Failure> {
        let label = self.label(form, false);
        let recording = self.recording(agent, form);
        let found = self.find(agent, &label)?;
        let mut why = None;
        if found.as_ref().is_none_or(|row| !is_complete(row)) {
            let paid = found.as_ref().map(paid_for).unwrap_or_default();
            // Nobody is paid for a simulation, whose price nobody knows.
            let left = left.filter(|_| !parts(agent).model.is_some_and(|model| model.starts_with(SIMULATED)));
            // The budget of a campaign covers all that it ever spent, also before it was resumed.
            let budget = left.map(|left| left.plus(paid));
            if left.is_some_and(|left| left == Money::default()) {
                why = Some("the budget of --max-cost is used up".to_owned());
            } else {
                planproof_files::make_own_folder(&self.arguments.recordings).map_err(|error| {
                    let folder = self.arguments.recordings.display();
                    Failure::usage(format!("--recordings {folder}: the folder cannot be made: {error}"))
                })?;
                let line = match &found {
                    // Named again as a whole, because the store may be anybody's.
                    Some(row) => {
                        let mut line: Vec<OsString> =
                            [agent.as_str(), "--record"].map(OsString::from).to_vec();
                        line.push(recording.clone().into_os_string());
                        line.extend(["--resume", row.id.as_str()].map(OsString::from));
                        // A stored file of prices is not taken from there either.
                        let prices = self.arguments.prices.iter();
                        line.extend(
                            prices.flat_map(|file| [OsString::from("--prices"), file.clone().into()]),
                        );
                        line
                    }
                    None => self.new_campaign(agent.as_str(), form, &label, Some(&recording)),
                };
                progress::say(self.global.quiet, &format!("{agent}, {}", form.as_str()));
                let came = self.test(line, budget, stop).await;
                // An interruption ends all rows. Any other failure concerns this model, and the others are still run.
                if stop.is_cancelled() {
                    came?;
                } else if let Err(failure) = came {
                    why = Some(reason(&failure.describe()));
                }
            }
        }
        let mut row = match self.find(agent, &label)? {
            Some(campaign) => self.of_campaign(&campaign, form)?,
            None => Row { agent: agent.to_string(), form: form.as_str(), ..Row::default() },
        };
        row.planproof = env!("CARGO_PKG_VERSION");
        // A row with scores shows them even if it is unfinished; the table says how many runs are missing.
        if row.scored == 0 {
            row.not_run = why.or(row.not_run).or_else(|| Some("no run has a score".to_owned()));
        } else {
            row.recording = Some(recording.display().to_string());
        }
        Ok(row)
    }

    /// What a row would cost by the tokens of a simulated model, which is asked the same.
    async fn estimate(
        &self,
        agent: &AgentSpec,
        form: TestForm,
        stop: &CancellationToken,
    ) -> Result<Row, Failure> {
        let label = self.label(form, true);
        let parts = parts(agent);
        // The same kind of agent, so that the simulated model is asked the same.
        let stand_in = planproof_assembly::agent_spec(&format!("{}@{STAND_IN}", parts.kind))?;
        if self.find(&stand_in, &label)?.is_none_or(|row| !is_complete(&row)) {
            let line = self.new_campaign(stand_in.as_str(), form, &label, None);
            self.test(line, None, stop).await?;
        }
        // Found by its label, like any row.
        let campaign = self.find(&stand_in, &label)?;
        let campaign = campaign.ok_or_else(|| Failure::outside("the simulated campaign is gone"))?;
        // Simulated models count theirs.
        let tokens = self.report(&campaign.id)?.tokens.unwrap_or(Tokens { input: 0, output: 0 });
        let usage = Usage::new(tokens.input, tokens.output);
        let model = parts.model.unwrap_or_default();
        let price = self.prices.find(&model);
        Ok(Row {
            agent: agent.to_string(),
            form: form.as_str(),
            planproof: env!("CARGO_PKG_VERSION"),
            cost: price.map(|price| price.of(usage).dollars()),
            cost_is_estimate: true,
            tokens: [tokens.input, tokens.output],
            ..Row::default()
        })
    }

    /// The words of `planproof test` for a new campaign.
    fn new_campaign(
        &self,
        agent: &str,
        form: TestForm,
        label: &str,
        recording: Option<&Path>,
    ) -> Vec<OsString> {
        let ModelsArguments { cases, actions: (least, most), prices, reply_tokens, .. } = self.arguments;
        let numbers = [*cases, self.global.seed, u64::from(*reply_tokens)];
        let [cases, seed, reply_tokens] = numbers.map(|number| number.to_string());
        let actions = format!("{least}..{most}");
        let mut words =
            vec![agent, "--cases", &cases, "--actions", &actions, "--seed", &seed, "--label", label];
        words.extend(["--reply-tokens", &reply_tokens]);
        words.extend(form.options());
        let mut line: Vec<OsString> = words.into_iter().map(OsString::from).collect();
        // Paths as they are, because they need not be UTF-8.
        let paths = [("--record", recording), ("--prices", prices.as_deref())];
        for (option, path) in paths.into_iter().filter_map(|(option, path)| Some((option, path?))) {
            line.extend([OsString::from(option), OsString::from(path)]);
        }
        line
    }

    /// Runs `planproof test` with these words and this budget, and prints nothing of it.
    async fn test(
        &self,
        words: Vec<OsString>,
        budget: Option<Money>,
        stop: &CancellationToken,
    ) -> Result<(), Failure> {
        // Without the configuration file: all rows follow one protocol, which keys of `[test]` would change unseen.
        let mut line = ["planproof", "--config", "none", "test"].map(OsString::from).to_vec();
        line.extend(words);
        line.extend([OsString::from("--store"), OsString::from(self.store)]);
        if let Some(budget) = budget {
            line.extend(["--max-cost".to_owned(), budget.dollars().to_string()].map(OsString::from));
        }
        if self.global.quiet {
            line.push(OsString::from("--quiet"));
        }
        // Parsed like a typed command line, so that a row is a campaign as `planproof test` begins one.
        let parsed = command_line::parse(line)?;
        let global = &parsed.arguments.global;
        let Command::Test(arguments) = &parsed.arguments.command else {
            return Err(Failure::outside("`planproof test` is another command"));
        };
        let arguments: &TestArguments = arguments;
        let agent = named_agent(&arguments.campaign)?;
        let prepared = prepare(
            &arguments.campaign,
            global,
            agent,
            &TestCases::new(arguments, global).plan()?,
            Extras::default(),
        )?;
        let run = &prepared.run;
        let ended = carry_out(&prepared, global, stop, |outcomes| run.all_at_once(outcomes)).await?;
        prepared.came_to_its_end(ended)
    }

    fn report(&self, id: &str) -> Result<Report, Failure> {
        Ok(Stored::load(&self.open()?, id)?.report())
    }

    fn of_campaign(&self, campaign: &CampaignRow, form: TestForm) -> Result<Row, Failure> {
        // Judged again, by the version that the row names.
        let stored = Stored::load(&self.open()?, &campaign.id)?;
        let report = stored.report();
        let unscored = stored.campaign.unscored().map(|why| reason(&why.to_string()));
        Ok(Row {
            agent: campaign.agent.clone(),
            form: form.as_str(),
            date: date(campaign.created_ms).split(' ').next().map(str::to_owned),
            campaign: Some(campaign.id.clone()),
            simulated: campaign.simulated,
            passed: report.passed,
            scored: report.scored(),
            rate: report.success(),
            unfinished: report.all_unscored() + report.all_not_run(),
            cost: report.cost,
            cost_is_estimate: report.cost_is_estimate,
            // Each row has a model, so its tokens were counted.
            tokens: report.tokens.map_or([0, 0], |tokens| [tokens.input, tokens.output]),
            corrections: report.monitor.as_ref().map(|monitor| monitor.corrections),
            seconds: report.agent_seconds,
            servers: planproof_report::servers(&report).collect(),
            classes: report.classes,
            prompts: report.prompts,
            not_run: unscored.filter(|_| report.passed + report.failed == 0),
            ..Row::default()
        })
    }

    /// Where the recording of a row goes.
    fn recording(&self, agent: &AgentSpec, form: TestForm) -> std::path::PathBuf {
        let ModelsArguments { cases, recordings, .. } = self.arguments;
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
        let name: String = agent.as_str().chars().map(plain).collect();
        recordings.join(format!("{name}-{}-{cases}-{}.jsonl", form.as_str(), self.global.seed))
    }

    /// The rows as a table in Markdown, with what holds for all of them above it.
    fn table(&self, rows: &[Row]) -> String {
        let ModelsArguments { cases, actions: (least, most), estimate, .. } = self.arguments;
        let mut out = format!(
            "{cases} cases of {} actions, seed {}{}, planproof {}.\n",
            if least == most { least.to_string() } else { format!("{least} to {most}") },
            self.global.seed,
            self.replies(),
            env!("CARGO_PKG_VERSION")
        );
        if *estimate {
            let _ = write!(
                out,
                "SIMULATION: {STAND_IN} was asked the same, and no model. It counts tokens in its own way, and a model that \
                 thinks\nwrites many times as much. Prices are of {}.\n\n\
                 | Agent | Form | Tokens read | Tokens written | Estimate |\n|---|---|---:|---:|---:|\n",
                self.prices.as_of()
            );
        } else {
            if rows.iter().any(|row| row.simulated) {
                out += "SIMULATION: models named `sim/` are simulated, and their rows say nothing about any real model.\n";
            }
            out += "\n| Agent | Form | Date | Passed (95 %) | Failures | Corrections | Tokens written | Seconds a run | Cost | Recording |\n\
                 |---|---|---|---|---|---:|---:|---:|---:|---|\n";
        }
        for row in rows {
            let agent = cell(&row.agent);
            let _ = match (estimate, &row.not_run) {
                (true, _) => {
                    let [read, written] = row.tokens;
                    let cost = row.cost.map_or("no price is known".to_owned(), dollars);
                    writeln!(out, "| `{agent}` | {} | {read} | {written} | {cost} |", row.form)
                }
                (false, Some(why)) => {
                    writeln!(
                        out,
                        "| `{agent}` | {} | not run | {} | - | - | - | - | not run | none |",
                        row.form,
                        cell(why)
                    )
                }
                (false, None) => writeln!(out, "| `{agent}` | {} |{}", row.form, figures(row)),
            };
        }
        // Rows of one server and of one version of the prompts share a line.
        let lines: BTreeSet<String> = rows.iter().flat_map(about).collect();
        if !lines.is_empty() {
            out.push('\n');
            for line in &lines {
                let _ = writeln!(out, "- {}", cell(line));
            }
        }
        out
    }
}

/// Whether a campaign is that of an agent with a label.
fn is_of(row: &CampaignRow, agent: &AgentSpec, label: &str) -> bool {
    row.agent == secrets::without(agent.as_str()) && row.label.as_deref() == Some(label)
}

/// What was paid for a campaign, also for runs that were cut off. Nobody is paid for a simulation, but a real model is,
/// whatever is simulated beside it.
pub(in crate::commands) fn paid_for(row: &CampaignRow) -> Money {
    let is_simulation = row.model.as_deref().is_some_and(planproof_assembly::is_simulation);
    let paid = row.progress.spent.picodollars.filter(|_| !is_simulation);
    paid.map(Money::from_picodollars).unwrap_or_default()
}

/// The cells of a row that was run.
fn figures(row: &Row) -> String {
    let percent = |share: f64| format!("{:.1}", share * 100.0);
    let rate = row.rate.map_or_else(String::new, |Rate { rate, low, high }| {
        format!(", {} % ({} to {})", percent(rate), percent(low), percent(high))
    });
    let unfinished = match row.unfinished {
        0 => String::new(),
        unfinished => format!("; {unfinished} not run or without a score"),
    };
    let about = if row.cost_is_estimate { "at most " } else { "" };
    let cost = row.cost.map_or("-".to_owned(), |cost| format!("{about}{}", dollars(cost)));
    let classes = row.classes.iter().filter(|(_, runs)| **runs > 0);
    let classes: Vec<String> = classes.map(|(class, runs)| format!("{class} {runs}")).collect();
    format!(
        " {} | {} of {}{rate}{unfinished} | {} | {} | {} | {:.1} | {cost} | {} |",
        row.date.as_deref().unwrap_or("-"),
        row.passed,
        row.scored,
        if classes.is_empty() { "none".to_owned() } else { classes.join(", ") },
        row.corrections.map_or("-".to_owned(), |corrections| corrections.to_string()),
        row.tokens[1],
        row.seconds / row.scored.max(1) as f64,
        row.recording.as_deref().map_or("none".to_owned(), |it| format!("`{}`", cell(it)))
    )
}

/// What a reader has to know beside the figures of a row.
fn about(row: &Row) -> impl Iterator<Item = String> {
    let prompts = row.prompts.iter().filter(|_| row.scored > 0);
    row.servers
        .iter()
        .cloned()
        .chain(prompts.map(|version| format!("planproof's prompts: version {version}")))
}

fn dollars(cost: f64) -> String {
    format!("${cost:.2}")
}

/// A text that neither ends a cell nor a row.
fn cell(text: &str) -> String {
    terminal::inline(text).replace('|', "\\|")
}

/// Why something was not run, in one line.
fn reason(text: &str) -> String {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let line = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    planproof_output::layout::short(&line, REASON_CHARACTERS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_alone_is_one_of_our_loop() {
        let name = |text| agent(text).map(|agent| agent.to_string()).map_err(|failure| failure.describe());
        assert_eq!(name("openai/gpt-5-mini").unwrap(), "tools@openai/gpt-5-mini");
        assert_eq!(name("openai/llama3:8b").unwrap(), "tools@openai/llama3:8b");
        assert_eq!(name("openai/ft:gpt-4o-mini:org").unwrap(), "tools@openai/ft:gpt-4o-mini:org");
        assert_eq!(name("react@sim/perfect").unwrap(), "react@sim/perfect");
        assert!(name("url:http://127.0.0.1:9/run").unwrap_err().contains("has no model"));
        assert!(name("command:agent").unwrap_err().contains("has no model"));
    }

    #[test]
    fn reasons_and_cells_are_of_one_line() {
        assert_eq!(reason("error: no key\n  set it\n"), "no key set it");
        assert_eq!(cell("a|b\nc"), "a\\|b\\nc");
    }
}
