//! Whether the command line agrees with the recording. Recorded options may be repeated beside `--replay`, so that
//! one line of options serves a recording, its replays and live runs.

use std::path::Path;
use std::sync::Arc;

use planproof_agents::{AGENT_OPTIONS, AgentSpec};
use planproof_campaign::{Cases, CasesOrigin, RecordedCampaign, StoredGuard};
use planproof_engine::LimitPlan;
use planproof_order::synth::TopicBank;
use planproof_order::{DissectOptions, OrderSuite, ShrinkOptions};
use planproof_suite::Case;
use serde::de::DeserializeOwned;

use super::plan::{CampaignPlan, WantedCases};
use crate::arguments::{
    CHOOSING, CampaignArguments, CaseArguments, DISSECT, Given, Global, SHRINK, ShapeArguments,
    TestArguments, Written, switch,
};
use crate::failure::Failure;
use crate::orders::{Drawn, Making, OrderOptions, of_orders};
use crate::stored_options::{SequelOptions, SuiteOptions};
use crate::{secrets, select};

/// Compares options as they are written.
pub(in crate::commands) struct Agreement<'a> {
    given: &'a Given,
    /// Each names both values.
    contradictions: Vec<String>,
}

/// A recording, and what stands beside `--replay`.
pub(in crate::commands) struct BesideReplay<'a> {
    pub(super) recorded: &'a RecordedCampaign,
    /// What the recorded campaign keeps for its suite.
    pub(super) of_suite: &'a SuiteOptions,
    /// Its cases.
    pub(super) all: &'a Cases,
    /// The seed of the command line.
    pub(super) seed: u64,
}

impl Agreement<'_> {
    /// Compares one option, if the command line gives it.
    fn option(&mut self, id: &str, recorded: Option<&str>, now: Option<&str>) {
        // A default is not a statement: only what is typed can contradict a recording.
        if self.given.has(id) && recorded != now {
            self.contradictions.push(format!("recorded {}, now {}", words(id, recorded), words(id, now)));
        }
    }

    fn options(&mut self, recorded: Vec<Written>, now: &[Written]) {
        for (id, recorded) in recorded {
            let now = now.iter().find(|(other, _)| *other == id).and_then(|(_, value)| value.clone());
            self.option(id, recorded.as_deref(), now.as_deref());
        }
    }

    fn switch(&mut self, id: &str, recorded: bool, now: bool) {
        self.option(id, switch(recorded).as_deref(), switch(now).as_deref());
    }

    /// Compares how often each case is run.
    pub(super) fn repeats(&mut self, plan: &CampaignPlan<'_>, beside: &BesideReplay<'_>) {
        let recorded = beside.recorded.campaign.repeats.to_string();
        self.option("repeat", Some(&recorded), Some(&plan.repeats.to_string()));
    }

    /// Compares the options of dissection and shrinking.
    pub(super) fn sequels_of_orders(&mut self, plan: &CampaignPlan<'_>, beside: &BesideReplay<'_>) {
        let (then, now) = (&beside.of_suite.sequels, &plan.sequels);
        self.options(dissecting(then), &dissecting(now));
        self.options(shrinking(then), &shrinking(now));
    }

    /// Compares the cases of a benchmark, its repeats and its sequels.
    pub(super) fn made_cases(
        &mut self,
        plan: &CampaignPlan<'_>,
        beside: &BesideReplay<'_>,
    ) -> Result<(), Failure> {
        let (cases, seed) = (&beside.all.cases, beside.recorded.campaign.options.seed);
        // Without a choice on the command line, the recorded cases are used, and the data need not be there.
        let is_given = CHOOSING.iter().any(|id| self.given.has(id));
        if is_given {
            let now = plan.cases(seed, TopicBank::shipped(), WantedCases::default())?.cases;
            if !are_same(&now, cases) {
                let (recorded, now) = (cases.len(), now.len());
                self.contradictions.push(format!(
                    "recorded with {recorded} cases that are not the {now} that are requested now"
                ));
            }
        }
        self.repeats(plan, beside);
        for (option, now) in &plan.sequels {
            if beside.of_suite.sequels.get(option) != Some(now) {
                self.contradictions.push(format!("recorded without --{option} as it is given now"));
            }
        }
        Ok(())
    }

    /// Compares a search for a limit.
    pub(super) fn search(
        &mut self,
        plan: &LimitPlan,
        shape: &ShapeArguments,
        beside: &BesideReplay<'_>,
    ) -> Result<(), Failure> {
        let note = &beside.recorded.campaign;
        self.options(note.options.limit.as_ref().map(searching).unwrap_or_default(), &searching(plan));
        if let Some(Making::Levels(levels)) = made(note.drawn.as_ref().unwrap_or(&note.cases))? {
            // Any number of actions will do here, because it is not compared.
            let now = CaseArguments {
                actions: (plan.from, plan.from),
                first: 0,
                infeasible: None,
                turns: None,
                shape: shape.clone(),
            };
            let now = Drawn::of(&now, beside.seed, 1)?.as_written();
            let shape = levels.first().map(Drawn::as_written).unwrap_or_default();
            // These differ from level to level; `searching` has compared the search they follow from.
            let of_level = ["cases", "first", "actions", "infeasible", "turns"];
            self.options(shape.into_iter().filter(|(id, _)| !of_level.contains(id)).collect(), &now);
        }
        Ok(())
    }

    /// Compares the cases of a test.
    pub(super) fn drawn_cases(
        &mut self,
        test: &TestArguments,
        plan: &CampaignPlan<'_>,
        beside: &BesideReplay<'_>,
    ) -> Result<(), Failure> {
        let (campaign, cases) = (&beside.recorded.campaign, &beside.all.cases);
        if let Some(file) = &test.from {
            let orders = OrderSuite::new(beside.of_suite.judge());
            let now = of_orders(&orders, select::read_cases(file)?);
            let now = plan.failing(now, campaign.options.seed)?.cases;
            if !are_same(&now, cases) {
                let (recorded, shown, now) = (cases.len(), file.display(), now.len());
                self.contradictions.push(format!(
                    "recorded with {recorded} cases that are not the {now} of --from {shown} now"
                ));
            }
            return Ok(());
        }
        let now = Drawn::of(&test.draw, beside.seed, test.cases)?.as_written();
        let origin = campaign.drawn.as_ref().unwrap_or(&campaign.cases);
        match (made(origin)?, origin) {
            (Some(Making::Drawn(drawn)), _) => self.options(drawn.as_written(), &now),
            // The only known fact about cases from a file is their number.
            (None, CasesOrigin::Given(count)) => {
                self.option("cases", Some(&count.to_string()), Some(&test.cases.to_string()));
                for (id, now) in now.into_iter().filter(|(id, _)| *id != "cases") {
                    if self.given.has(id) {
                        let now = words(id, now.as_deref());
                        self.contradictions.push(format!("recorded with cases from a file, now {now}"));
                    }
                }
            }
            // `must_fit` has refused the recording of a search for a limit.
            (Some(Making::Levels(_)) | None, _) => {}
        }
        Ok(())
    }
}

/// An option as people read it.
fn words(id: &str, value: Option<&str>) -> String {
    let name = id.replace('_', "-");
    match value {
        None => format!("without --{name}"),
        Some("") => format!("with --{name}"),
        Some(value) => format!("with --{name} {value}"),
    }
}

/// Makes sure that the command line does not contradict the recording, whose cases these are. `name` is the given
/// agent, with its options.
///
/// # Errors
/// One error with every contradiction and both values.
pub(super) fn must_agree(
    (recorded, of_suite): (&RecordedCampaign, &SuiteOptions),
    all: &Cases,
    name: Option<&AgentSpec>,
    arguments: &CampaignArguments,
    plan: &CampaignPlan<'_>,
    global: &Global,
) -> Result<(), Failure> {
    let note = &recorded.campaign;
    let mut agreement = Agreement { given: &global.given, contradictions: Vec::new() };
    match name {
        // Programs may be elsewhere on another machine; models and ways of planning are as recorded.
        Some(name)
            if secrets::without(name.as_str()) != recorded.agent.as_str()
                && !is_same_program(name, &recorded.agent) =>
        {
            agreement.contradictions.push(format!("recorded was the agent {}, now {name}", note.agent));
        }
        Some(_) => {}
        None => {
            // Options of agents may be given without an agent. They are about the recorded one then.
            let now = select::options_written(&arguments.agent_options);
            let then = AGENT_OPTIONS
                .map(|option| (option, recorded.agent.option_written(option).map(str::to_owned)));
            agreement.options(then.to_vec(), &now);
        }
    }
    let options = &note.options;
    agreement.option("serve_model", options.serve_model.as_deref(), arguments.serve_model.as_deref());
    guard(&mut agreement, options.guard.as_ref(), arguments.guard.as_deref())?;
    let number = |number: u32| Some(number.to_string());
    agreement.option(
        "iterations",
        number(options.iterations).as_deref(),
        arguments.iterations.and_then(number).as_deref(),
    );
    // Recordings of before there was this limit have none, so that no other value fits them.
    agreement.option(
        "reply_tokens",
        options.reply_tokens.map(|tokens| tokens.to_string()).as_deref(),
        number(arguments.reply_tokens).as_deref(),
    );
    let order = of_suite.order();
    let judge = order.judge();
    agreement.switch("allow_repeats", !judge.repeated_fails, arguments.judge.allow_repeats);
    agreement.switch("allow_distractors", !judge.distractor_fails, arguments.judge.allow_distractors);
    agreement.switch("fail_at_once", judge.at_once_fails, arguments.judge.fail_at_once);
    agreement.option("seed", Some(&options.seed.to_string()), Some(&global.seed.to_string()));
    topics(&mut agreement, &order, plan.topics)?;
    let beside = BesideReplay { recorded, of_suite, all, seed: global.seed };
    plan.source.agree(&mut agreement, plan, &beside)?;
    faults(&mut agreement, &beside, plan)?;
    if agreement.contradictions.is_empty() {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "the recording {} does not match the command line: {}; leave out what contradicts it, or record again",
        recorded.recording.path().display(),
        agreement.contradictions.join("; ")
    )))
}

/// Whether both are programs, with a guard around both or neither.
fn is_same_program(name: &AgentSpec, recorded: &AgentSpec) -> bool {
    name.is_program() && recorded.is_program() && name.is_guarded() == recorded.is_guarded()
}

/// How cases were made, unless they were given.
fn made(origin: &CasesOrigin) -> Result<Option<Making>, Failure> {
    match origin {
        CasesOrigin::Made(how) => Making::read(how).map(Some),
        CasesOrigin::Given(_) => Ok(None),
    }
}

fn topics(agreement: &mut Agreement<'_>, order: &OrderOptions, file: Option<&Path>) -> Result<(), Failure> {
    let Some(file) = file.filter(|_| agreement.given.has("topics")) else { return Ok(()) };
    let shown = file.display();
    // By content: the recording holds the topics themselves, and their file may be elsewhere by now.
    match &order.topics {
        Some(bank) if *bank == select::topic_bank(Some(file))? => {}
        Some(_) => {
            agreement.contradictions.push(format!("recorded with topics that differ from --topics {shown}"));
        }
        None => {
            agreement.contradictions.push(format!("recorded without --topics, now with --topics {shown}"));
        }
    }
    Ok(())
}

/// Compares rules by their text: the recording holds it, and their file may be elsewhere by now.
fn guard(
    agreement: &mut Agreement<'_>,
    recorded: Option<&StoredGuard>,
    file: Option<&Path>,
) -> Result<(), Failure> {
    let Some(file) = file.filter(|_| agreement.given.has("guard")) else { return Ok(()) };
    let shown = file.display();
    match recorded {
        Some(guard) if guard.text == select::read_text(file)? => {}
        Some(guard) => {
            let what = format!("recorded with the rules {} that differ from --guard {shown}", guard.file);
            agreement.contradictions.push(what);
        }
        None => agreement.contradictions.push(format!("recorded without --guard, now with --guard {shown}")),
    }
    Ok(())
}

/// Compares how tools fail, which is in the cases.
fn faults(
    agreement: &mut Agreement<'_>,
    beside: &BesideReplay<'_>,
    plan: &CampaignPlan<'_>,
) -> Result<(), Failure> {
    let Some(shares) = plan.faults.filter(|_| agreement.given.has("faults")) else { return Ok(()) };
    let all = beside.all;
    let now = Cases::given(Arc::clone(&all.suite), all.cases.clone());
    let now = plan.failing(now, beside.recorded.campaign.options.seed)?;
    if !are_same(&now.cases, &all.cases) {
        agreement
            .contradictions
            .push(format!("recorded with other faults of tools, now with --faults {shares}"));
    }
    Ok(())
}

/// Whether these are the same cases in the same order.
fn are_same(now: &[Arc<dyn Case>], recorded: &[Arc<dyn Case>]) -> bool {
    // By their whole lines, because different cases may have the same id.
    now.len() == recorded.len() && now.iter().zip(recorded).all(|(now, it)| now.to_line() == it.to_line())
}

/// How a sequel is done, if it is asked for.
fn how<T: DeserializeOwned>(sequels: &SequelOptions, option: &str) -> Option<T> {
    serde_json::from_value(sequels.get(option)?.clone()).ok()
}

fn dissecting(sequels: &SequelOptions) -> Vec<Written> {
    let options: Option<DissectOptions> = how(sequels, DISSECT);
    let number = |get: fn(&DissectOptions) -> Option<u32>| {
        options.as_ref().and_then(get).map(|number| number.to_string())
    };
    vec![
        ("dissect", switch(options.is_some())),
        ("dissect_k", number(|options| Some(options.variants))),
        ("dissect_reruns", number(|options| Some(options.reruns))),
        ("dissect_max", number(|options| options.errors_max)),
        ("compat", options.filter(|options| options.original).map(|_| "original".to_owned())),
    ]
}

fn shrinking(sequels: &SequelOptions) -> Vec<Written> {
    let options: Option<ShrinkOptions> = how(sequels, SHRINK);
    let number = |get: fn(&ShrinkOptions) -> u32| options.as_ref().map(|options| get(options).to_string());
    vec![
        ("shrink", switch(options.is_some())),
        ("shrink_max", number(|options| options.failures_max)),
        ("shrink_runs", number(|options| options.runs_max)),
        ("shrink_repeat", number(|options| options.runs)),
    ]
}

fn searching(plan: &LimitPlan) -> Vec<Written> {
    let LimitPlan { from, to, cases_per_pair, cases_max, threshold, early_stop, past_limit } = *plan;
    let number = |number: u32| Some(number.to_string());
    vec![
        ("from", number(from)),
        ("to", number(to)),
        // Rounded to six decimals: 0.55 * 100 is not 55 in floating point.
        ("threshold", Some(format!("{}%", (threshold * 1e8).round() / 1e6))),
        ("cases_per_pair", number(cases_per_pair)),
        ("cases_max", number(cases_max)),
        ("no_early_stop", switch(!early_stop)),
        ("past_limit", switch(past_limit)),
    ]
}
