//! Report v1: a campaign summed up.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use planproof_synth::{Case, Class, Flag, OneLook};
use serde::Serialize;

use crate::infeasible::{Infeasible, InfeasibleReport};
use crate::repeats::{CaseRuns, Rate, Repeated, success_rate, without_requests};
use crate::{CaseSummary, DissectionReport, Interval, MonitorUse, Outcome, RunSummary, SolverMeter};

/// Schema name of a report file.
pub const REPORT_SCHEMA: &str = "planproof/report/v1";

/// What a report is made from.
#[derive(Debug, Clone, Copy)]
pub struct ReportInput<'a> {
    /// The agent, as on the command line.
    pub agent: &'a str,
    /// The model, where it is known.
    pub model: Option<&'a str>,
    /// The model is one of our simulations.
    pub simulated: bool,
    /// All cases of the campaign.
    pub cases: &'a [Case],
    /// How often each case is run.
    pub repeats: u32,
    /// What came of them.
    pub outcomes: &'a [Outcome],
    /// What the solver did during synthesis.
    pub solver: SolverMeter,
    /// How long synthesis took, the solver included.
    pub synthesis: Duration,
    /// What the runs cost in US dollars; `None` where no price is known.
    pub cost: Option<f64>,
    /// The budget that ended the campaign before its last case, with its unit ("0.50 USD", "60 minutes").
    pub ended_by: Option<&'a str>,
}

/// The same as [`ReportInput`], of summaries.
#[derive(Debug, Clone, Copy)]
pub struct SummaryInput<'a> {
    /// The agent, as on the command line.
    pub agent: &'a str,
    /// The model, where it is known.
    pub model: Option<&'a str>,
    /// The model is one of our simulations.
    pub simulated: bool,
    /// All cases of the campaign.
    pub cases: &'a [CaseSummary],
    /// How often each case is run.
    pub repeats: u32,
    /// Their runs that came to an end.
    pub runs: &'a [RunSummary],
    /// What the solver did during synthesis.
    pub solver: SolverMeter,
    /// How long synthesis took, the solver included.
    pub synthesis: Duration,
    /// What the runs cost in US dollars; `None` where no price is known.
    pub cost: Option<f64>,
    /// The budget that ended the campaign before its last case, with its unit ("0.50 USD", "60 minutes").
    pub ended_by: Option<&'a str>,
}

/// Report v1, as it is written. Infeasible cases are scored apart, in [`infeasible`](Self::infeasible):
/// cases, runs, their results, classes and flags are those of feasible cases. Times, tokens and cost are of
/// all.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    schema: &'static str,
    /// The agent, as on the command line.
    pub agent: String,
    /// The model, where it is known.
    pub model: Option<String>,
    /// The model is one of our simulations: the figures say nothing of any real model.
    pub simulated: bool,
    /// The model's answers came from a recording alone. Not known to [`Report::new`]; whoever replays says so.
    pub replay: bool,
    /// Cases with a run that came to an end, scored or not.
    pub cases: u64,
    /// How often each case is run.
    pub repeats: u32,
    /// Runs that came to an end, scored or not: as many as cases where each is run once.
    pub runs: u64,
    /// Runs that passed.
    pub passed: u64,
    /// Runs that failed.
    pub failed: u64,
    /// Runs that say nothing of the agent, because something else failed.
    pub unscored: u64,
    /// Lower end of the 95 % interval of the success rate over all scored runs; see [`success_rate`].
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// What repeats say beyond that; null where each case is run once.
    pub repeated: Option<Repeated>,
    /// Runs that were not begun, or did not come to their end, because a budget was used up or the campaign
    /// was interrupted.
    pub not_run: u64,
    /// The budget that ended the campaign before its last case.
    pub ended_by: Option<String>,
    /// Why the campaign was stopped after its first runs, which say nothing of the agent: its set-up is
    /// broken. Absent where it is not. Not known to [`Report::new`], as [`replay`](Self::replay).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken_setup: Option<String>,
    /// Failed runs by class.
    pub classes: BTreeMap<&'static str, u64>,
    /// Scored runs by everything that applied to them.
    pub flags: BTreeMap<&'static str, u64>,
    /// By number of actions.
    pub by_actions: Vec<ByActions>,
    /// The infeasible cases; absent in a campaign in which no conflict can be reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub infeasible: Option<InfeasibleReport>,
    /// The solver's work during synthesis.
    pub solver: SolverUse,
    /// Seconds of synthesis, the solver included.
    pub synthesis_seconds: f64,
    /// Seconds that the agent took, summed over runs (which may have gone on at the same time).
    pub agent_seconds: f64,
    /// Tokens.
    pub tokens: Tokens,
    /// What it took to hold models to their specifications; null where the agent is not made from one.
    pub monitor: Option<MonitorUse>,
    /// Cost in US dollars; null where no price is known.
    pub cost: Option<f64>,
    /// Some requests came without a count of tokens, or were given up: what they may have cost at most is in the cost.
    /// Not known to [`Report::new`], as [`replay`](Self::replay).
    pub cost_is_estimate: bool,
    /// Models that refused a temperature and so were asked without one: their answers vary more from campaign
    /// to campaign. Not known to [`Report::new`], as [`replay`](Self::replay).
    pub without_temperature: Vec<String>,
    /// What the dissection of its errors showed; null where they were not dissected. Not known to [`Report::new`].
    pub dissection: Option<DissectionReport>,
    /// What shrinking its failures showed; absent where they were not shrunk. Not known to [`Report::new`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shrinking: Option<crate::ShrinkReport>,
}

/// Success at one number of actions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ByActions {
    /// Number of actions.
    pub actions: usize,
    /// Cases with a scored run.
    pub cases: u64,
    /// Scored runs.
    pub runs: u64,
    /// Runs that passed.
    pub passed: u64,
    /// Lower end of the 95 % interval of the success rate; see [`success_rate`].
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Success rate of an agent that calls every tool once in a random order, in the time form each as early
    /// as its own clock times let it: the mean of `correct plans / n!`. Null where that is not known for
    /// every case, as above 20 actions.
    pub chance: Option<f64>,
    /// Success rate of an agent that calls the tools in the order of mention, in the time form each as early
    /// as its own clock times let it.
    pub in_order: f64,
    /// The same of agents that go by a heuristic which takes the text in at one look, by its name.
    pub one_look: OneLookRates,
}

/// Success rates of the one-look heuristics, by name.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct OneLookRates(BTreeMap<&'static str, f64>);

impl OneLookRates {
    /// The rate of the best of them, which needs no planning; `None` without runs.
    pub fn best(&self) -> Option<f64> {
        self.0.values().copied().max_by(f64::total_cmp)
    }

    fn of(sums: [f64; OneLook::ALL.len()], runs: f64) -> Self {
        let rates = OneLook::ALL.iter().zip(sums).map(|(heuristic, sum)| (heuristic.as_str(), sum / runs));
        Self(if runs > 0.0 { rates.collect() } else { BTreeMap::new() })
    }
}

/// Counts, run by run, which one-look heuristics would have passed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OneLookSums([f64; OneLook::ALL.len()]);

impl OneLookSums {
    pub(crate) fn add(&mut self, case: &CaseSummary) {
        for (sum, heuristic) in self.0.iter_mut().zip(OneLook::ALL) {
            *sum += f64::from(u8::from(case.one_look.has(heuristic)));
        }
    }

    pub(crate) fn rates(self, runs: u64) -> OneLookRates {
        OneLookRates::of(self.0, runs as f64)
    }
}

/// The solver's work.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SolverUse {
    /// Number of calls.
    pub calls: u64,
    /// Seconds.
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

impl Report {
    /// Sums up a campaign.
    pub fn new(input: ReportInput<'_>) -> Self {
        let cases: Vec<CaseSummary> = input.cases.iter().map(CaseSummary::of).collect();
        let runs: Vec<RunSummary> = input.outcomes.iter().map(RunSummary::of).collect();
        Self::of_summaries(SummaryInput {
            agent: input.agent,
            model: input.model,
            simulated: input.simulated,
            cases: &cases,
            repeats: input.repeats,
            runs: &runs,
            solver: input.solver,
            synthesis: input.synthesis,
            cost: input.cost,
            ended_by: input.ended_by,
        })
    }

    /// Sums up a campaign of which only summaries were read.
    pub fn of_summaries(input: SummaryInput<'_>) -> Self {
        let is_infeasible =
            |run: &&RunSummary| input.cases.get(run.ordinal as usize).is_some_and(|it| it.is_infeasible);
        let offers_report = input.cases.iter().any(|case| case.offers_report);
        let is_possible = |class: Class| match class {
            Class::ConflictMissed => false,
            Class::FalseAlarm => offers_report,
            _ => true,
        };
        let feasible: Vec<&RunSummary> = input.runs.iter().filter(|run| !is_infeasible(run)).collect();
        let planned = |feasible: bool| {
            let cases = input.cases.iter().filter(|case| case.is_infeasible != feasible);
            cases.count() as u64 * u64::from(input.repeats)
        };
        let mut report = Self {
            schema: REPORT_SCHEMA,
            agent: input.agent.to_owned(),
            model: input.model.map(str::to_owned),
            simulated: input.simulated,
            replay: false,
            cases: feasible.iter().map(|run| run.ordinal).collect::<BTreeSet<u32>>().len() as u64,
            repeats: input.repeats,
            runs: feasible.len() as u64,
            passed: 0,
            failed: 0,
            unscored: 0,
            low: 0.0,
            high: 1.0,
            repeated: None,
            not_run: planned(true).saturating_sub(feasible.len() as u64),
            ended_by: input.ended_by.map(str::to_owned),
            broken_setup: None,
            classes: Class::ALL
                .into_iter()
                .filter(|class| is_possible(*class))
                .map(|class| (class.as_str(), 0))
                .collect(),
            flags: Flag::ALL
                .into_iter()
                .filter(|flag| !matches!(flag, Flag::Class(class) if !is_possible(*class)))
                .map(|flag| (flag.as_str(), 0))
                .collect(),
            by_actions: Vec::new(),
            infeasible: None,
            solver: SolverUse { calls: input.solver.calls, seconds: input.solver.time.as_secs_f64() },
            synthesis_seconds: input.synthesis.as_secs_f64(),
            agent_seconds: 0.0,
            tokens: Tokens { input: 0, output: 0 },
            monitor: MonitorUse::sum(input.runs.iter().map(|run| &run.monitor)),
            cost: input.cost,
            cost_is_estimate: false,
            without_temperature: Vec::new(),
            dissection: None,
            shrinking: None,
        };
        let mut groups: BTreeMap<usize, Group> = BTreeMap::new();
        let mut infeasible = Infeasible::default();
        let mut alarms: BTreeMap<u32, CaseRuns> = BTreeMap::new();
        for run in input.runs {
            report.agent_seconds += run.wall.as_secs_f64();
            report.tokens.input += run.usage.input_tokens;
            report.tokens.output += run.usage.output_tokens;
            if let Some(case) = input.cases.get(run.ordinal as usize).filter(|case| case.is_infeasible) {
                infeasible.add(run.ordinal, case, run.score.as_ref());
                continue;
            }
            let Some(score) = &run.score else {
                report.unscored += 1;
                continue;
            };
            let is_alarm = score.flags.contains(&Flag::Class(Class::FalseAlarm));
            alarms.entry(run.ordinal).or_default().add(is_alarm);
            for flag in &score.flags {
                *report.flags.entry(flag.as_str()).or_default() += 1;
            }
            match score.class {
                None => report.passed += 1,
                Some(class) => {
                    report.failed += 1;
                    *report.classes.entry(class.as_str()).or_default() += 1;
                }
            }
            if let Some(case) = input.cases.get(run.ordinal as usize) {
                let group: &mut Group = groups.entry(case.actions).or_default();
                group.add(run.ordinal, case, score.class.is_none());
            }
        }
        let cases: Vec<CaseRuns> = groups.values().flat_map(|group| group.cases.values().copied()).collect();
        let interval = success_rate(&cases).map_or(UNKNOWN, Rate::interval);
        (report.low, report.high) = (interval.low, interval.high);
        report.repeated = (input.repeats > 1).then(|| {
            let repeated = Repeated::of(&cases, input.repeats);
            Repeated { without_requests: without_requests(&feasible), ..repeated }
        });
        if offers_report {
            let alarms: Vec<CaseRuns> = alarms.into_values().collect();
            report.infeasible = Some(infeasible.sum_up(planned(false), &alarms));
        }
        report.by_actions = groups.into_iter().map(|(actions, group)| group.sum_up(actions)).collect();
        report
    }

    /// Scored runs.
    pub fn scored(&self) -> u64 {
        self.passed + self.failed
    }

    /// Scored runs, those of infeasible cases included.
    pub fn all_scored(&self) -> u64 {
        self.scored() + self.infeasible.as_ref().map_or(0, InfeasibleReport::scored)
    }

    /// Failed runs, those of infeasible cases included.
    pub fn all_failed(&self) -> u64 {
        self.failed + self.infeasible.as_ref().map_or(0, |infeasible| infeasible.failed)
    }

    /// Unscored runs, those of infeasible cases included.
    pub fn all_unscored(&self) -> u64 {
        self.unscored + self.infeasible.as_ref().map_or(0, |infeasible| infeasible.unscored)
    }

    /// Runs that did not come to their end, those of infeasible cases included.
    pub fn all_not_run(&self) -> u64 {
        self.not_run + self.infeasible.as_ref().map_or(0, |infeasible| infeasible.not_run)
    }

    /// Runs that came to their end, those of infeasible cases included.
    pub fn all_runs(&self) -> u64 {
        self.runs + self.infeasible.as_ref().map_or(0, |infeasible| infeasible.runs)
    }

    /// Cases with such a run, infeasible ones included.
    pub fn all_cases(&self) -> u64 {
        self.cases + self.infeasible.as_ref().map_or(0, |infeasible| infeasible.cases)
    }

    /// The success rate over all scored runs with its 95 % interval; `None` where no run has a score.
    pub fn success(&self) -> Option<Rate> {
        let rate = self.passed as f64 / self.scored() as f64;
        (self.scored() > 0).then_some(Rate { rate, low: self.low, high: self.high })
    }

    /// Success rate by chance over all scored runs; `None` where it is not known for all.
    pub fn chance(&self) -> Option<f64> {
        self.weighted(|group| group.chance)
    }

    /// Success rate in the order of mention over all scored runs.
    pub fn in_order(&self) -> Option<f64> {
        self.weighted(|group| Some(group.in_order))
    }

    /// Success rate of the one-look heuristic that is best over all scored runs.
    pub fn one_look(&self) -> Option<f64> {
        let rate = |name: &str| self.weighted(|group| group.one_look.0.get(name).copied());
        OneLook::ALL.iter().filter_map(|heuristic| rate(heuristic.as_str())).max_by(f64::total_cmp)
    }

    fn weighted(&self, rate: impl Fn(&ByActions) -> Option<f64>) -> Option<f64> {
        let mut sum = 0.0;
        for group in &self.by_actions {
            sum += rate(group)? * group.runs as f64;
        }
        (self.scored() > 0).then(|| sum / self.scored() as f64)
    }
}

impl ByActions {
    /// The success rate over its scored runs with its 95 % interval; `None` without runs.
    pub fn success(&self) -> Option<Rate> {
        let rate = self.passed as f64 / self.runs as f64;
        (self.runs > 0).then_some(Rate { rate, low: self.low, high: self.high })
    }
}

/// The interval of a rate of which nothing is known.
const UNKNOWN: Interval = Interval { low: 0.0, high: 1.0 };

#[derive(Default)]
struct Group {
    /// By their places in the campaign.
    cases: BTreeMap<u32, CaseRuns>,
    runs: u64,
    passed: u64,
    chance: Option<f64>,
    one_look: OneLookSums,
    is_chance_unknown: bool,
}

impl Group {
    fn add(&mut self, ordinal: u32, case: &CaseSummary, passed: bool) {
        self.cases.entry(ordinal).or_default().add(passed);
        self.runs += 1;
        self.passed += u64::from(passed);
        match case.correct_plans {
            Some(correct) => {
                let all: f64 = (1..=case.actions).map(|n| n as f64).product();
                *self.chance.get_or_insert(0.0) += correct as f64 / all;
            }
            None => self.is_chance_unknown = true,
        }
        self.one_look.add(case);
    }

    fn sum_up(self, actions: usize) -> ByActions {
        let runs = self.runs as f64;
        let cases: Vec<CaseRuns> = self.cases.into_values().collect();
        let Interval { low, high } = success_rate(&cases).map_or(UNKNOWN, Rate::interval);
        let chance = self.chance.filter(|_| !self.is_chance_unknown).map(|sum| sum / runs);
        let one_look = self.one_look.rates(self.runs);
        ByActions {
            actions,
            cases: cases.len() as u64,
            runs: self.runs,
            passed: self.passed,
            low,
            high,
            chance,
            in_order: one_look.0.get(OneLook::Mention.as_str()).copied().unwrap_or_default(),
            one_look,
        }
    }
}
