//! Report v1: a campaign summed up.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use planproof_agents::memory::MemoryUse;
use planproof_isolation::Account;
use planproof_model::{ServerFacts, advice_on_unread_calls};
use planproof_plan::team::TeamUse;
use planproof_suite::studies::{DissectionReport, ShrinkReport, Study};
use planproof_suite::{
    Card, Case, Class, EffortLimits, Judged, Metric, REPLY_LIMIT, Section, SizeUnit, Suite, UNPARSED_CALL,
};
use serde::{Serialize, Serializer};

use crate::baselines::{BaselineRates, BaselineSums};
use crate::effort::{EffortFigures, OverLimits, Spread};
use crate::repeats::{Repeated, without_requests};
use crate::{
    CaseRuns, GuardFigures, GuardReport, Interval, Likeness, MonitorUse, Outcome, Rate, RunSummary, memory,
    success_rate, team,
};

/// Schema name of a report file.
pub const REPORT_SCHEMA: &str = "planproof/report/v1";

/// What a report is made from.
#[derive(Clone, Copy)]
pub struct ReportInput<'a> {
    /// The kind of case.
    pub suite: &'a dyn Suite,
    /// The agent, as on the command line.
    pub agent: &'a str,
    /// The model, where it is known.
    pub model: Option<&'a str>,
    /// A model of the agent is one of our simulations.
    pub simulated: bool,
    /// All cases of the campaign.
    pub cases: &'a [Arc<dyn Case>],
    /// How often each case is run.
    pub repeats: u32,
    /// What came of them.
    pub outcomes: &'a [Outcome],
    /// How the cases were made, if they were synthesised.
    pub synthesis: Option<SynthesisUse>,
    /// The cost of the runs in US dollars; `None` if no price is known.
    pub cost: Option<f64>,
    /// The budget that ended the campaign before its last case, with its unit ("0.50 USD", "60 minutes").
    pub ended_by: Option<&'a str>,
}

/// The cost of making the cases of a campaign.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SynthesisUse {
    /// Calls of the solver.
    pub solver_calls: u64,
    pub solver_time: Duration,
    /// The total time, including the solver's.
    pub time: Duration,
}

/// The same as [`ReportInput`], from summaries.
#[derive(Clone, Copy)]
pub struct SummaryInput<'a> {
    /// The kind of case.
    pub suite: &'a dyn Suite,
    /// The agent, as on the command line.
    pub agent: &'a str,
    /// The model, where it is known.
    pub model: Option<&'a str>,
    /// A model of the agent is one of our simulations.
    pub simulated: bool,
    /// The data of all cases of the campaign for figures.
    pub cards: &'a [Card],
    /// How often each case is run.
    pub repeats: u32,
    /// Their runs that came to an end.
    pub runs: &'a [RunSummary],
    /// How the cases were made, if they were synthesised.
    pub synthesis: Option<SynthesisUse>,
    /// The cost of the runs in US dollars; `None` if no price is known.
    pub cost: Option<f64>,
    /// The budget that ended the campaign before its last case, with its unit ("0.50 USD", "60 minutes").
    pub ended_by: Option<&'a str>,
}

/// A run that differs from what was written into the run store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DamagedRunRow {
    /// The id of its case, as far as it is readable.
    pub case: String,
    /// Which repeat of the case, from 0.
    pub repeat: u32,
    /// What is wrong with it.
    pub why: String,
}

/// Report v1, in its written form. Cases that are [scored apart](Card::apart) are only in [`apart`](Self::apart) and
/// in the suite's own [`sections`](Self::sections): cases, runs, their results, classes and flags are those of the
/// others. Times, tokens and cost are of all.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    schema: &'static str,
    /// The kind of case.
    pub suite: &'static str,
    /// The agent, as on the command line.
    pub agent: String,
    /// The model, where it is known.
    pub model: Option<String>,
    /// A model of the agent is one of our simulations: the figures say nothing about any real model.
    pub simulated: bool,
    /// The model's answers came from a recording alone. Unknown to [`Report::new`]; the caller sets it for a replay.
    pub replay: bool,
    /// Cases with a finished run, scored or not.
    pub cases: u64,
    /// How often each case is run.
    pub repeats: u32,
    /// Finished runs, scored or not: as many as cases if each is run once.
    pub runs: u64,
    pub passed: u64,
    pub failed: u64,
    /// Runs that say nothing about the agent, because something else failed.
    pub unscored: u64,
    /// Lower end of the 95 % interval of the success rate over all scored runs; see [`success_rate`].
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The figures of repeats beyond that; null if each case is run once.
    pub repeated: Option<Repeated>,
    /// Runs that were not begun or not finished, because a budget was used up or the campaign was interrupted.
    pub not_run: u64,
    /// The budget that ended the campaign before its last case.
    pub ended_by: Option<String>,
    /// Why the campaign was stopped after its first runs, which say nothing about the agent: its set-up is broken.
    /// Absent otherwise. Unknown to [`Report::new`], like [`replay`](Self::replay).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken_setup: Option<String>,
    /// The fingerprint of the key that sealed the runs last; absent if they were not sealed. Unknown to
    /// [`Report::new`], like [`replay`](Self::replay).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seal: Option<String>,
    /// The user's name for the campaign; absent if there is none. Unknown to [`Report::new`], like
    /// [`replay`](Self::replay).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Runs that are left out, because they differ from what was written into the run store; absent if there are
    /// none. Unknown to [`Report::new`], like [`replay`](Self::replay).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<DamagedRunRow>,
    /// Failed runs by class.
    pub classes: BTreeMap<&'static str, u64>,
    /// Scored runs by each of their flags.
    pub flags: BTreeMap<&'static str, u64>,
    /// What the user can do about failures whose cause may be the set-up, with the number of their runs, including
    /// those of cases scored apart: a sentence for each class; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<String>,
    /// The classes of [`advice`](Self::advice), with their numbers of runs.
    #[serde(skip)]
    advised: Vec<(&'static str, usize)>,
    /// The unit of the size of cases, in the plural.
    #[serde(serialize_with = "unit_name")]
    pub unit: SizeUnit,
    /// By the size of the case, ascending.
    pub by_size: Vec<BySize>,
    /// Figures that only this suite has, by name, each with its value (null if it is unknown) and the ends of its 95
    /// % interval; absent if the suite has none.
    #[serde(skip_serializing_if = "Metrics::is_empty")]
    pub metrics: Metrics,
    /// Parts that only this suite has, each in a field of its key.
    #[serde(flatten)]
    pub sections: Sections,
    /// The cases that are scored apart; `None` if there are none. Remarks on them are in the sections.
    #[serde(skip)]
    pub apart: Option<Apart>,
    /// The solver's work during synthesis; absent if no case was synthesised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub solver: Option<SolverUse>,
    /// Seconds of synthesis, including the solver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synthesis_seconds: Option<f64>,
    /// The agent's time in seconds, summed over runs (which may have been concurrent).
    pub agent_seconds: f64,
    /// The agent's time for a scored run, in seconds; absent if no run has a score, and for predictions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_seconds: Option<Spread<f64>>,
    /// Wall time of the command that ran them; `None` for a campaign from before it was kept. For people
    /// alone: it is not a figure of the runs, and the store does not have it.
    #[serde(skip)]
    pub wall: Option<std::time::Duration>,
    /// An agent without a plan that passes and fails the same cases; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behaves_like: Option<Likeness>,
    /// Tokens; null if nobody counted them: a program with a model of its own need not report them.
    pub tokens: Option<Tokens>,
    /// What the scored runs took: their median and 95th percentile; absent if no run has a score, and for predictions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<EffortFigures>,
    /// The cost of holding models to their specifications; null if the agent is not made from one.
    pub monitor: Option<MonitorUse>,
    /// The rules that the agent was held to, and what they did; absent if there were none. Unknown to [`Report::new`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard: Option<GuardReport>,
    /// What rules did, whatever they were.
    #[serde(skip)]
    guarded: GuardFigures,
    /// Cost in US dollars; null if no price is known.
    pub cost: Option<f64>,
    /// Some requests had no token count, or were given up: the cost contains the most that they may have cost.
    /// Unknown to [`Report::new`], like [`replay`](Self::replay).
    pub cost_is_estimate: bool,
    /// The isolation of the agent's program, and which parts of it held in all runs; absent if the agent is no
    /// program started by planproof. Unknown to [`Report::new`], like [`replay`](Self::replay).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Account>,
    /// The version of all prompts of planproof with which it was started: figures with other prompts are those of
    /// another test. Unknown to [`Report::new`], like [`replay`](Self::replay); absent in campaigns from before it was
    /// kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompts: Option<String>,
    /// Models that refused a temperature and so were asked without one: their answers vary more between campaigns.
    /// Unknown to [`Report::new`], like [`replay`](Self::replay).
    pub without_temperature: Vec<String>,
    /// What the servers of its models said of themselves before the first run, by model; absent if none was asked.
    /// Unknown to [`Report::new`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub servers: BTreeMap<String, ServerFacts>,
    /// How requests to its models were changed otherwise, because the server refused a field or a value: a sentence
    /// each. Absent if none were. Unknown to [`Report::new`], like [`replay`](Self::replay).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed_requests: Vec<String>,
    /// The dissection of its errors; null if they were not dissected. Unknown to [`Report::new`].
    pub dissection: Option<DissectionReport>,
    /// The shrinking of its failures; absent if they were not shrunk. Unknown to [`Report::new`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shrinking: Option<ShrinkReport>,
}

fn unit_name<S: Serializer>(unit: &SizeUnit, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(unit.many)
}

/// Success at one size of cases.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BySize {
    pub size: u32,
    /// Cases with a scored run.
    pub cases: u64,
    pub runs: u64,
    pub passed: u64,
    /// Lower end of the 95 % interval of the success rate; see [`success_rate`].
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The results of agents that do not plan.
    pub baselines: BaselineRates,
}

/// Figures that only one suite has.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Metrics(pub Vec<Metric>);

impl Metrics {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Metrics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|metric| {
            let (low, high) = metric.interval.unzip();
            (metric.name, serde_json::json!({ "value": metric.value, "low": low, "high": high }))
        }))
    }
}

/// Parts of a report that only one suite has.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sections(pub Vec<Section>);

impl Serialize for Sections {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|section| (section.key, &section.json)))
    }
}

/// Cases that are scored apart, counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Apart {
    /// The word for them: [`Card::apart`].
    pub word: String,
    /// Cases with a finished run, scored or not.
    pub cases: u64,
    /// Finished runs, scored or not.
    pub runs: u64,
    pub passed: u64,
    pub failed: u64,
    /// Runs that say nothing about the agent, because something else failed.
    pub unscored: u64,
    /// Runs that were not begun or not finished.
    pub not_run: u64,
}

impl Apart {
    /// Scored runs.
    pub fn scored(&self) -> u64 {
        self.passed + self.failed
    }

    /// The figures of runs of such cases; `planned` is the number of runs to be made.
    fn of(runs: &[&RunSummary], cards: &[Card], repeats: u32) -> Option<Self> {
        let word = cards.iter().find_map(|card| card.apart.clone())?;
        let planned = cards.iter().filter(|card| card.is_apart()).count() as u64 * u64::from(repeats);
        let count = |is: fn(&&&RunSummary) -> bool| runs.iter().filter(is).count() as u64;
        Some(Self {
            word,
            cases: runs.iter().map(|run| run.ordinal).collect::<BTreeSet<u32>>().len() as u64,
            runs: runs.len() as u64,
            passed: count(|run| run.passed() == Some(true)),
            failed: count(|run| run.passed() == Some(false)),
            unscored: count(|run| run.passed().is_none()),
            not_run: planned.saturating_sub(runs.len() as u64),
        })
    }
}

/// The solver's work.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SolverUse {
    /// Number of calls.
    pub calls: u64,
    pub seconds: f64,
}

/// Tokens over all runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Tokens {
    /// Read by the model.
    pub input: u64,
    /// Written by the model.
    pub output: u64,
}

impl Tokens {
    /// Those of these runs.
    fn of(runs: &[RunSummary]) -> Self {
        Self {
            input: runs.iter().map(|run| run.usage.input_tokens).sum(),
            output: runs.iter().map(|run| run.usage.output_tokens).sum(),
        }
    }

    fn are_none(self) -> bool {
        (self.input, self.output) == (0, 0)
    }

    /// All of them.
    pub fn total(self) -> u64 {
        self.input + self.output
    }
}

/// How many of these runs have each class about which the user can do something.
fn advised(suite: &dyn Suite, runs: &[RunSummary]) -> Vec<(&'static str, usize)> {
    let count = |class: &str| {
        let is_of_class = |run: &&RunSummary| {
            run.scored.as_ref().and_then(|scored| scored.class).is_some_and(|it| it.as_str() == class)
        };
        runs.iter().filter(is_of_class).count()
    };
    let advised = suite.classes().iter().filter(|class| [REPLY_LIMIT, UNPARSED_CALL].contains(&class.name));
    advised.map(|class| (class.name, count(class.name))).filter(|(_, count)| *count > 0).collect()
}

/// What can be done about so many runs of these classes, a sentence for each class.
fn advice(advised: &[(&'static str, usize)], servers: &BTreeMap<String, ServerFacts>) -> Vec<String> {
    let sentence = |(name, count): &(&str, usize)| {
        let what = match *name {
            UNPARSED_CALL => {
                format!("a call was written as text, and nobody made it: {}", on_unread_calls(servers))
            }
            _ => "a reply reached the limit of --reply-tokens; raise it if such replies should be whole"
                .to_owned(),
        };
        format!("{name} ({count} {}): {what}.", if *count == 1 { "run" } else { "runs" })
    };
    advised.iter().map(sentence).collect()
}

/// What makes calls out of the text of models behind these servers.
fn on_unread_calls(servers: &BTreeMap<String, ServerFacts>) -> String {
    let by_model = servers.iter().map(|(model, facts)| (model, advice_on_unread_calls(Some(facts))));
    let by_model: Vec<(&String, String)> = by_model.collect();
    match by_model.as_slice() {
        [] => advice_on_unread_calls(None),
        [(_, first), rest @ ..] if rest.iter().all(|(_, other)| other == first) => first.clone(),
        several => {
            let each = several.iter().map(|(model, what)| format!("for {model}, {what}"));
            each.collect::<Vec<_>>().join(". Or, ")
        }
    }
}

impl Report {
    /// Adds what a sequel of the campaign came to.
    pub fn add(&mut self, study: Study) {
        match study {
            Study::Dissection(report) => self.dissection = Some(*report),
            Study::Shrinking(report) => self.shrinking = Some(*report),
            Study::Sections(sections) => self.sections.0.extend(sections),
        }
    }

    /// Sums up a campaign.
    pub fn new(input: ReportInput<'_>) -> Self {
        let cards: Vec<Card> = input.cases.iter().map(|case| case.card().clone()).collect();
        let runs: Vec<RunSummary> = input.outcomes.iter().map(RunSummary::of).collect();
        Self::of_summaries(SummaryInput {
            suite: input.suite,
            agent: input.agent,
            model: input.model,
            simulated: input.simulated,
            cards: &cards,
            repeats: input.repeats,
            runs: &runs,
            synthesis: input.synthesis,
            cost: input.cost,
            ended_by: input.ended_by,
        })
    }

    /// Sums up a campaign from its summaries alone.
    pub fn of_summaries(input: SummaryInput<'_>) -> Self {
        let SummaryInput { suite, cards, .. } = input;
        let is_apart = |run: &&RunSummary| cards.get(run.ordinal as usize).is_some_and(Card::is_apart);
        let (apart, usual): (Vec<&RunSummary>, Vec<&RunSummary>) = input.runs.iter().partition(is_apart);
        let planned = cards.iter().filter(|card| !card.is_apart()).count() as u64 * u64::from(input.repeats);
        let is_possible =
            |class: Class| suite.can_occur(class, &mut cards.iter().filter(|card| !card.is_apart()));
        let classes = suite.classes().iter().map(Class::new);
        let flags = suite.flags().iter().map(|flag| flag.name);
        // Some flags are classes, too, and then can occur only where the class can.
        let is_possible_flag = |flag: &&str| Class::find(suite.classes(), flag).is_none_or(is_possible);
        let mut report = Self {
            schema: REPORT_SCHEMA,
            suite: suite.name(),
            agent: input.agent.to_owned(),
            model: input.model.map(str::to_owned),
            simulated: input.simulated,
            replay: false,
            cases: usual.iter().map(|run| run.ordinal).collect::<BTreeSet<u32>>().len() as u64,
            repeats: input.repeats,
            runs: usual.len() as u64,
            passed: 0,
            failed: 0,
            unscored: 0,
            low: 0.0,
            high: 1.0,
            repeated: None,
            not_run: planned.saturating_sub(usual.len() as u64),
            ended_by: input.ended_by.map(str::to_owned),
            broken_setup: None,
            seal: None,
            label: None,
            damaged: Vec::new(),
            // All counts start at 0, so that the report also shows classes that could have occurred.
            classes: classes.filter(|class| is_possible(*class)).map(|class| (class.as_str(), 0)).collect(),
            flags: flags.filter(is_possible_flag).map(|flag| (flag, 0)).collect(),
            advice: Vec::new(),
            advised: advised(suite, input.runs),
            unit: suite.unit(),
            by_size: Vec::new(),
            metrics: Metrics::default(),
            sections: Sections::default(),
            apart: Apart::of(&apart, cards, input.repeats),
            solver: input
                .synthesis
                .map(|made| SolverUse { calls: made.solver_calls, seconds: made.solver_time.as_secs_f64() }),
            synthesis_seconds: input.synthesis.map(|made| made.time.as_secs_f64()),
            // Not `sum`, whose sum of nothing is -0.
            agent_seconds: input.runs.iter().fold(0.0, |sum, run| sum + run.wall.as_secs_f64()),
            run_seconds: Spread::of_times(input.runs),
            wall: None,
            behaves_like: Likeness::of(suite, cards, &usual),
            tokens: Some(Tokens::of(input.runs)).filter(|tokens| {
                input.model.is_some() || !tokens.are_none() || suite.asks_no_model(input.agent)
            }),
            effort: None,
            monitor: MonitorUse::sum(input.runs.iter().map(|run| &run.monitor)),
            guard: None,
            guarded: GuardFigures::of(input.runs),
            cost: input.cost,
            cost_is_estimate: false,
            isolation: None,
            prompts: None,
            without_temperature: Vec::new(),
            servers: BTreeMap::new(),
            changed_requests: Vec::new(),
            dissection: None,
            shrinking: None,
        };
        // What a served model counts is known of the campaign and not of its runs.
        let counts_tokens = !Tokens::of(input.runs).are_none() || suite.asks_no_model(input.agent);
        report.effort = EffortFigures::of(cards, input.runs, counts_tokens);
        let mut groups: BTreeMap<u32, Group> = BTreeMap::new();
        for run in &usual {
            let Some(scored) = &run.scored else {
                report.unscored += 1;
                continue;
            };
            for flag in &scored.flags {
                *report.flags.entry(flag).or_default() += 1;
            }
            match scored.class {
                None => report.passed += 1,
                Some(class) => {
                    report.failed += 1;
                    *report.classes.entry(class.as_str()).or_default() += 1;
                }
            }
            if let Some(card) = cards.get(run.ordinal as usize) {
                groups.entry(card.size).or_default().add(run.ordinal, card, scored.passed());
            }
        }
        // The interval goes by cases, because the runs of one case are alike.
        let cases: Vec<CaseRuns> = groups.values().flat_map(|group| group.cases.values().copied()).collect();
        let interval = success_rate(&cases).map_or(UNKNOWN, Rate::interval);
        (report.low, report.high) = (interval.low, interval.high);
        report.repeated = (input.repeats > 1).then(|| {
            let repeated = Repeated::of(&cases, input.repeats);
            Repeated { without_requests: without_requests(&usual), ..repeated }
        });
        report.by_size = groups.into_iter().map(|(size, group)| group.sum_up(suite, size)).collect();
        // The runs of cases scored apart are included: the suite makes their figures.
        let judged = input.runs.iter().filter_map(|run| {
            let card = cards.get(run.ordinal as usize)?;
            Some(Judged { ordinal: run.ordinal, repeat: run.repeat, card, scored: run.scored.as_ref() })
        });
        let judged: Vec<Judged<'_>> = judged.collect();
        report.metrics = Metrics(suite.metrics(&judged));
        report.sections = Sections(suite.sections(&judged, cards, input.repeats));
        report
            .sections
            .0
            .extend(TeamUse::sum(input.runs.iter().map(|run| &run.team)).as_ref().map(team::section));
        let recalled = MemoryUse::sum(input.runs.iter().map(|run| &run.memory));
        report.sections.0.extend(recalled.as_ref().map(memory::section));
        report.set_servers(BTreeMap::new());
        report
    }

    /// Holds its runs to limits on what they take: the cards and runs are those that it sums up. Unknown to
    /// [`Report::new`]: verdicts do not depend on them.
    pub fn hold_to(&mut self, limits: EffortLimits, cards: &[Card], runs: &[RunSummary]) {
        if let Some(effort) = &mut self.effort {
            effort.over = Some(OverLimits::of(limits, cards, runs, effort.tokens.is_some()));
        }
    }

    /// The runs over the limits that they were held to; `None` without limits, or without scored runs.
    pub fn over(&self) -> Option<&OverLimits> {
        self.effort.as_ref()?.over.as_ref()
    }

    /// Names the rules that the agent was held to: their file, its SHA-256, and whether any of them was enforced.
    pub fn held_to(&mut self, rules: &str, sha256: &str, enforced: bool) {
        let (rules, sha256, figures) = (rules.to_owned(), sha256.to_owned(), self.guarded);
        self.guard = Some(GuardReport { rules, sha256, enforced, figures });
    }

    /// Adds what the servers of its models said of themselves, which decides what the user can do about failures.
    pub fn set_servers(&mut self, servers: BTreeMap<String, ServerFacts>) {
        self.advice = advice(&self.advised, &servers);
        self.servers = servers;
    }

    /// Scored runs.
    pub fn scored(&self) -> u64 {
        self.passed + self.failed
    }

    /// Scored runs, including those of cases scored apart.
    pub fn all_scored(&self) -> u64 {
        self.scored() + self.apart.as_ref().map_or(0, Apart::scored)
    }

    /// Failed runs, including those of cases scored apart.
    pub fn all_failed(&self) -> u64 {
        self.failed + self.apart.as_ref().map_or(0, |apart| apart.failed)
    }

    /// Unscored runs, including those of cases scored apart.
    pub fn all_unscored(&self) -> u64 {
        self.unscored + self.apart.as_ref().map_or(0, |apart| apart.unscored)
    }

    /// Unfinished runs, including those of cases scored apart.
    pub fn all_not_run(&self) -> u64 {
        self.not_run + self.apart.as_ref().map_or(0, |apart| apart.not_run)
    }

    /// Finished runs, including those of cases scored apart.
    pub fn all_runs(&self) -> u64 {
        self.runs + self.apart.as_ref().map_or(0, |apart| apart.runs)
    }

    /// Cases with a finished run, including those scored apart.
    pub fn all_cases(&self) -> u64 {
        self.cases + self.apart.as_ref().map_or(0, |apart| apart.cases)
    }

    /// The success rate over all scored runs with its 95 % interval; `None` if no run has a score.
    pub fn success(&self) -> Option<Rate> {
        let rate = self.passed as f64 / self.scored() as f64;
        (self.scored() > 0).then_some(Rate { rate, low: self.low, high: self.high })
    }

    /// The baselines over all scored runs.
    pub fn baselines(&self) -> BaselineRates {
        let groups: Vec<_> = self.by_size.iter().map(|group| (&group.baselines, group.runs)).collect();
        BaselineRates::weighted(&groups)
    }

    /// The rate of the suite's baseline of that name over all scored runs; `None` if it is unknown.
    pub fn baseline(&self, name: &str) -> Option<f64> {
        self.baselines().rate(name)
    }
}

impl BySize {
    /// The success rate over its scored runs with its 95 % interval; `None` without runs.
    pub fn success(&self) -> Option<Rate> {
        let rate = self.passed as f64 / self.runs as f64;
        (self.runs > 0).then_some(Rate { rate, low: self.low, high: self.high })
    }
}

/// The interval of an unknown rate.
const UNKNOWN: Interval = Interval { low: 0.0, high: 1.0 };

#[derive(Default)]
struct Group {
    /// By their places in the campaign.
    cases: BTreeMap<u32, CaseRuns>,
    runs: u64,
    passed: u64,
    baselines: BaselineSums,
}

impl Group {
    fn add(&mut self, ordinal: u32, card: &Card, passed: bool) {
        self.cases.entry(ordinal).or_default().add(passed);
        self.runs += 1;
        self.passed += u64::from(passed);
        self.baselines.add(card);
    }

    fn sum_up(self, suite: &dyn Suite, size: u32) -> BySize {
        let cases: Vec<CaseRuns> = self.cases.into_values().collect();
        let Interval { low, high } = success_rate(&cases).map_or(UNKNOWN, Rate::interval);
        let baselines = self.baselines.rates(suite);
        BySize { size, cases: cases.len() as u64, runs: self.runs, passed: self.passed, low, high, baselines }
    }
}
