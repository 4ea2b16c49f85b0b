//! Whether a campaign is worse than an earlier one: where the earlier one comes from, and what the answer exits with.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use planproof_campaign::{Cases, RequestedCampaign};
use planproof_doors::{SequelOptions, SuiteOptions};
use planproof_engine::{Outcome, Unit};
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::report_files::{ReportFile, must_differ};
use planproof_output::{layout, progress, terminal};
use planproof_report::baseline::{BaselineFile, BaselineInput};
use planproof_report::gate::{GateOptions, GateReport};
use planproof_store::{CampaignRow, Store};
use planproof_suite::Case;
use planproof_suite::gate::{GateAnswer, Looks, MARGIN};
use planproof_tools::process::shell_word;
use serde::Serialize;
use serde_json::Value;

use super::campaign::Prepared;
use crate::arguments::{CampaignArguments, GateArguments, Global};
use crate::stored::{self, Stored};

/// Most bytes of a baseline file: those of a million cases.
const BASELINE_BYTES_MAX: u64 = 512 << 20;

/// Options of campaigns of orders that say nothing about how a run is judged; nor do those of a suite's tools.
const NO_RULES: [&str; 2] = ["topics", "levels"];

/// A document with the answer of the gate, if one was asked for.
#[derive(Serialize)]
pub(super) struct Gated<'a, T> {
    #[serde(flatten)]
    pub(super) document: &'a T,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) gate: Option<&'a GateReport>,
}

/// The earlier campaign, and what is asked.
pub(super) struct Before {
    /// As the command line names it.
    name: String,
    baseline: BaselineFile,
    options: GateOptions,
}

impl Before {
    /// Reads what `--baseline` names. `None` without it.
    ///
    /// # Errors
    /// There is no such file or campaign, or it is not finished or not a baseline.
    pub(super) fn read(
        arguments: &GateArguments,
        campaign: &CampaignArguments,
    ) -> Result<Option<Self>, Failure> {
        let Some(name) = &arguments.baseline else { return Ok(None) };
        let baseline = match arguments.file() {
            Some(file) => read_file(file)?,
            None => read_stored(name, &campaign.store.store)?,
        };
        let options = options(arguments.margin, &arguments.gate_metric);
        Ok(Some(Self { name: name.clone(), baseline, options }))
    }

    /// Makes sure, before anything is stored or run, that a new campaign on these cases can be compared with it.
    ///
    /// # Errors
    /// The campaign has other cases, or is judged otherwise.
    pub(super) fn must_fit(
        &self,
        new: &RequestedCampaign,
        of_suite: &SuiteOptions,
        cases: &Cases,
    ) -> Result<(), Failure> {
        let after = BaselineFile::of(BaselineInput {
            suite: cases.suite.name(),
            agent: new.agent.as_str(),
            model: None,
            simulated: false,
            seed: (!new.seed_is_secret).then_some(new.seed),
            repeats: new.repeats.get(),
            rules: rules(of_suite),
            cases: &cases.cases,
            outcomes: &[],
        });
        let after = after.map_err(|error| Failure::usage(error.to_string()))?;
        GateReport::foresee(&self.baseline, &after, &self.options, new.until_decided)
            .map_err(|error| Failure::usage(format!("{}: {error}", self.named())))
    }

    /// The same for a campaign that runs until the answer is known.
    ///
    /// # Errors
    /// It cannot be compared with this baseline, or has other cases.
    pub(super) fn must_fit_resumed(&self, prepared: &Prepared) -> Result<(), Failure> {
        let after = Self::after(prepared, &prepared.run.campaign.cases, &[])?;
        GateReport::foresee(&self.baseline, &after, &self.options, true)
            .map_err(|error| Failure::usage(format!("{}: {error}", self.named())))
    }

    /// Compares a campaign with it.
    ///
    /// # Errors
    /// They cannot be compared.
    pub(super) fn compare(&self, prepared: &Prepared, outcomes: &[Outcome]) -> Result<GateReport, Failure> {
        let cases = prepared.reached(outcomes);
        let mut options = self.options.clone();
        if prepared.run.options.until_decided {
            let looks = looks(prepared);
            options.error = looks.error();
            options.looks = looked(&looks, outcomes, prepared.run.campaign.repeats.get());
        }
        compared(&self.baseline, &Self::after(prepared, cases, outcomes)?, &options, &self.named())
    }

    /// What a campaign has come to in these cases.
    fn after(
        prepared: &Prepared,
        cases: &[Arc<dyn Case>],
        outcomes: &[Outcome],
    ) -> Result<BaselineFile, Failure> {
        let planproof_campaign::Prepared { campaign, options: kept, suite, .. } = &prepared.run;
        let after = BaselineFile::of(BaselineInput {
            suite: suite.name(),
            agent: &campaign.agent.name,
            model: campaign.agent.model.as_deref(),
            simulated: campaign.agent.simulated,
            seed: (!kept.seed_is_secret).then_some(kept.seed),
            repeats: campaign.repeats.get(),
            rules: rules(&prepared.of_suite),
            cases,
            outcomes,
        });
        after.map_err(|error| Failure::usage(format!("campaign {}: {error}", campaign.id)))
    }

    /// How many cases it has.
    pub(super) fn cases(&self) -> u64 {
        self.baseline.cases.len() as u64
    }

    /// The next runs of a campaign that runs until the answer is known; none once it is.
    pub(super) fn next(&self, prepared: &Prepared, outcomes: &[Outcome]) -> Vec<Unit> {
        let left = prepared.run.all_at_once(outcomes);
        for look in looks(prepared).cases() {
            let before = |ordinal: u32| u64::from(ordinal) < *look;
            let units: Vec<Unit> = left.iter().copied().filter(|unit| before(unit.ordinal)).collect();
            if !units.is_empty() {
                return units;
            }
            let seen: Vec<Outcome> = outcomes.iter().filter(|it| before(it.ordinal)).cloned().collect();
            // An error of the comparison is reported at the end, and no run would mend it.
            match self.compare(prepared, &seen) {
                Ok(gate) if gate.answer == GateAnswer::CannotTell => {}
                Ok(_) | Err(_) => return Vec::new(),
            }
        }
        Vec::new()
    }

    fn named(&self) -> String {
        format!("--baseline {}", self.name)
    }
}

/// When a campaign is compared that runs until the answer is known.
fn looks(prepared: &Prepared) -> Looks {
    Looks::new(prepared.run.campaign.cases.len() as u64)
}

/// After how many cases a campaign with these outcomes has been compared: at each look whose cases are all run, and at
/// what there is now, if a budget has ended it in between.
fn looked(looks: &Looks, outcomes: &[Outcome], repeats: u32) -> Vec<u64> {
    let mut runs: BTreeMap<u32, u32> = BTreeMap::new();
    outcomes.iter().for_each(|outcome| *runs.entry(outcome.ordinal).or_default() += 1);
    let whole =
        (0u32..).take_while(|ordinal| runs.get(ordinal).is_some_and(|runs| *runs >= repeats)).count() as u64;
    let mut looked: Vec<u64> = looks.cases().iter().copied().filter(|look| *look <= whole).collect();
    let begun = runs.len() as u64;
    if looked.last().copied().unwrap_or_default() < begun {
        looked.push(begun);
    }
    looked
}

/// What is asked of a comparison; the margin is in per cent.
pub(super) fn options(margin: Option<f64>, metrics: &[String]) -> GateOptions {
    let margin = margin.map_or(MARGIN, |percent| percent / 100.0);
    GateOptions { metrics: metrics.to_vec(), ..GateOptions::of_success(margin) }
}

/// The results of a campaign of the store, case by case.
pub(super) fn results(stored: &Stored) -> Result<BaselineFile, Failure> {
    let (row, kept) = (&stored.campaign.row, &stored.options.kept);
    BaselineFile::of(BaselineInput {
        suite: stored.campaign.suite.name(),
        agent: &row.agent,
        model: row.model.as_deref(),
        simulated: row.simulated,
        seed: (!kept.seed_is_secret).then_some(kept.seed),
        repeats: row.repeats,
        rules: rules(&stored.options.of_suite),
        cases: stored.campaign.reached(),
        outcomes: &stored.campaign.outcomes,
    })
    .map_err(|error| Failure::usage(format!("campaign {}: {error}", row.id)))
}

/// The options that runs are judged by.
fn rules(options: &SuiteOptions) -> BTreeMap<String, Value> {
    let own = options.own.as_rules();
    let all = SuiteOptions { own, sequels: SequelOptions::new(), ..options.clone() }.to_map().into_iter();
    all.filter(|(option, _)| !NO_RULES.contains(&option.as_str())).collect()
}

/// Compares two campaigns, named `what` in errors.
pub(super) fn compared(
    before: &BaselineFile,
    after: &BaselineFile,
    options: &GateOptions,
    what: &str,
) -> Result<GateReport, Failure> {
    GateReport::new(before, after, options).map_err(|error| Failure::usage(format!("{what}: {error}")))
}

/// What the answer exits with.
pub(super) fn exit_code(gate: &GateReport) -> ExitCode {
    match gate.answer {
        GateAnswer::Worse => ExitCode::Failed,
        GateAnswer::NotWorse => ExitCode::Passed,
        GateAnswer::CannotTell => ExitCode::Outside,
    }
}

/// Prints the answer, and the facts behind it: on stderr where stdout is for a report.
pub(super) fn print(gate: &GateReport, is_stdout_taken: bool, global: &Global) -> Result<(), Failure> {
    if is_stdout_taken {
        progress::say(global.quiet, &terminal::inline(&gate.headline));
        return Ok(());
    }
    let mut out = terminal::text();
    writeln!(out, "{}", layout::text(&terminal::inline(&gate.headline)))?;
    for line in gate.lines() {
        writeln!(out, "{}", layout::folded("  ", &terminal::inline(&line), 2))?;
    }
    writeln!(out)?;
    Ok(())
}

/// Writes the results of a finished campaign as a baseline.
///
/// # Errors
/// The campaign is not finished, is a search for a limit, or the file cannot be written.
pub(super) fn export(store: &Store, run: &str, file: &Path, global: &Global) -> Result<(), Failure> {
    must_differ(file, &[("--store", store.path())])?;
    let row = stored::find(store, run)?;
    let file = ReportFile::open("--baseline", file)?.of_json();
    let text = of_campaign(store, row)?.to_text();
    file.write(global.quiet, |out| out.write_all(text.as_bytes()))
}

/// The results of a finished campaign of the store.
fn of_campaign(store: &Store, row: CampaignRow) -> Result<BaselineFile, Failure> {
    let options = stored::options(&row)?;
    if options.kept.limit.is_some() {
        return Err(Failure::usage(format!(
            "campaign {} is a search for a limit, which runs other cases each time: only campaigns of `planproof test` \
             and `planproof bench` can be a baseline",
            row.id
        )));
    }
    let missing = if options.kept.until_decided { 0 } else { row.total() - row.finished() };
    if row.finished() == 0 {
        return Err(Failure::usage(format!(
            "campaign {} has no finished run, so it cannot be a baseline",
            row.id
        )));
    }
    if missing > 0 {
        let resume = options.commands(&row.agent, store.path()).resume(&row.id);
        return Err(Failure::usage(format!(
            "{missing} of {} runs of campaign {} are not finished, so it cannot be a baseline; resume it with `{resume}`",
            row.total(),
            row.id
        )));
    }
    let stored = Stored::load_with(store, row, options)?;
    let id = &stored.campaign.row.id;
    if !stored.campaign.damaged.is_empty()
        || stored.campaign.seals.as_ref().is_some_and(|it| !it.faults.is_empty())
    {
        return Err(Failure::usage(format!(
            "campaign {id} is damaged, so it cannot be a baseline: `{}` says more; name another one",
            stored.commands.line(&format!("runs verify {}", shell_word(id)))
        )));
    }
    results(&stored)
}

fn read_file(path: &Path) -> Result<BaselineFile, Failure> {
    let about = format!("--baseline {}", path.display());
    let size = std::fs::metadata(path).map_err(|error| Failure::usage(format!("{about}: {error}")))?.len();
    if size > BASELINE_BYTES_MAX {
        return Err(Failure::usage(format!(
            "{about}: it has {size} bytes; a baseline has at most {BASELINE_BYTES_MAX}"
        )));
    }
    let text = planproof_output::text_files::read_text(path).map_err(|failure| failure.about(&about))?;
    BaselineFile::read(&text).map_err(|error| Failure::usage(format!("{about}: {error}")))
}

/// The newest finished campaign with this label, or the campaign with this id.
fn read_stored(name: &str, path: &Path) -> Result<BaselineFile, Failure> {
    if name.is_empty() {
        return Err(Failure::usage("--baseline is empty: name a file, a label or a campaign"));
    }
    // `is_file` has said no already.
    if Path::new(name).is_dir() {
        return Err(Failure::usage(format!("--baseline {name}: it is a folder; name a file")));
    }
    if Path::new(name).exists() {
        return Err(Failure::usage(format!(
            "--baseline {name}: it is not a file but a pipe or a device, and a baseline may be read again: write it to a file"
        )));
    }
    // A name that looks like one of a file is meant as a file, and would be no campaign either.
    if name.contains(['/', '\\']) || Path::new(name).extension().is_some() {
        return Err(Failure::usage(format!("--baseline {name}: there is no such file")));
    }
    if !path.exists() {
        return Err(Failure::usage(format!(
            "--baseline {name}: there is no file of this name, and no run store {} with a campaign of this label or id yet; \
             `planproof test AGENT --label {}` makes one",
            path.display(),
            shell_word(name)
        )));
    }
    let store = Store::open_read_only(path)?;
    let labelled: Vec<CampaignRow> =
        store.campaigns()?.into_iter().filter(|row| row.label.as_deref() == Some(name)).collect();
    let count = labelled.len();
    // The newest is first.
    let is_whole = |row: &CampaignRow| {
        row.finished() == row.total() || stored::options(row).is_ok_and(|options| options.kept.until_decided)
    };
    if let Some(row) = labelled.into_iter().find(is_whole) {
        return of_campaign(&store, row);
    }
    if count > 0 {
        return Err(Failure::usage(format!(
            "--baseline {name}: none of the {count} campaigns with this label is finished; resume one, or name another \
             baseline"
        )));
    }
    let row = store.campaign(name).map_err(|error| match error {
        planproof_store::StoreError::UnknownCampaign { .. } => Failure::usage(format!(
            "--baseline {name}: there is no file of this name, and in the run store {} no campaign with this label or id; \
             `planproof test AGENT --label {}` makes one",
            store.path().display(),
            shell_word(name)
        )),
        error => error.into(),
    })?;
    of_campaign(&store, row)
}
