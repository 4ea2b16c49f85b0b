//! Whether the command line agrees with the recording. Recorded options may be repeated beside `--replay`, so that
//! one line of options serves a recording, its replays and live runs.

use std::path::Path;
use std::sync::Arc;

use planproof_agents::{AGENT_OPTIONS, AgentSpec};
use planproof_campaign::{Cases, RecordedCampaign, StoredGuard};
use planproof_config::Given;
use planproof_doors::{SuiteOptions, Written};
use planproof_output::failure::Failure;
use planproof_output::{secrets, text_files};
use planproof_suite::Case;

use super::plan::{CampaignPlan, WantedCases};
use crate::arguments::{CHOOSING, CampaignArguments, Global};

/// Compares options as they are written.
pub(crate) struct Agreement<'a> {
    given: &'a Given,
    /// Each names both values.
    contradictions: Vec<String>,
}

/// A recording, and what stands beside `--replay`.
pub(crate) struct BesideReplay<'a> {
    pub(crate) recorded: &'a RecordedCampaign,
    /// What the recorded campaign keeps for its suite.
    pub(crate) of_suite: &'a SuiteOptions,
    /// Its cases.
    pub(crate) all: &'a Cases,
    /// The seed of the command line.
    pub(crate) seed: u64,
}

impl Agreement<'_> {
    /// Whether the command line gives this option.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.given.has(id)
    }

    /// Notes a contradiction, which names both values.
    pub(crate) fn contradict(&mut self, what: String) {
        self.contradictions.push(what);
    }

    /// Compares one option, if the command line gives it.
    pub(crate) fn option(&mut self, id: &str, recorded: Option<&str>, now: Option<&str>) {
        // A default is not a statement: only what is typed can contradict a recording.
        if self.has(id) && recorded != now {
            let [recorded, now] = [recorded, now].map(|value| option_in_words(id, value));
            self.contradict(format!("recorded {recorded}, now {now}"));
        }
    }

    /// Compares those options that the command line gives.
    pub(crate) fn options(&mut self, recorded: Vec<Written>, now: &[Written]) {
        for (id, recorded) in recorded {
            let now = now.iter().find(|(other, _)| *other == id).and_then(|(_, value)| value.clone());
            self.option(id, recorded.as_deref(), now.as_deref());
        }
    }

    /// Compares the seed.
    pub(crate) fn seed(&mut self, beside: &BesideReplay<'_>) {
        let recorded = beside.recorded.campaign.options.seed.to_string();
        self.option("seed", Some(&recorded), Some(&beside.seed.to_string()));
    }

    /// Compares how often each case is run.
    pub(crate) fn repeats(&mut self, plan: &CampaignPlan<'_>, beside: &BesideReplay<'_>) {
        let recorded = beside.recorded.campaign.repeats.to_string();
        self.option("repeat", Some(&recorded), Some(&plan.repeats.to_string()));
    }

    /// Compares the cases of a benchmark, its repeats and its sequels.
    pub(super) fn made_cases(
        &mut self,
        plan: &CampaignPlan<'_>,
        beside: &BesideReplay<'_>,
    ) -> Result<(), Failure> {
        self.seed(beside);
        let (cases, seed) = (&beside.all.cases, beside.recorded.campaign.options.seed);
        // Without a choice on the command line, the recorded cases are used, and the data need not be there.
        let is_given = CHOOSING.iter().any(|id| self.given.has(id));
        if is_given {
            let now = plan.cases(seed, WantedCases::default())?.cases;
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
}

/// An option as people read it.
pub(crate) fn option_in_words(id: &str, value: Option<&str>) -> String {
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
            let now = planproof_assembly::options_written(&arguments.agent_options);
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

/// Compares rules by their text: the recording holds it, and their file may be elsewhere by now.
fn guard(
    agreement: &mut Agreement<'_>,
    recorded: Option<&StoredGuard>,
    file: Option<&Path>,
) -> Result<(), Failure> {
    let Some(file) = file.filter(|_| agreement.given.has("guard")) else { return Ok(()) };
    let shown = file.display();
    match recorded {
        Some(guard) if guard.text == text_files::read_text(file)? => {}
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
pub(crate) fn are_same(now: &[Arc<dyn Case>], recorded: &[Arc<dyn Case>]) -> bool {
    // By their whole lines, because different cases may have the same id.
    now.len() == recorded.len() && now.iter().zip(recorded).all(|(now, it)| now.to_line() == it.to_line())
}
