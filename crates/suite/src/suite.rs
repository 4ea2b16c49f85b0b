//! A kind of case.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::questions::Question;
use crate::{
    AgentCard, Card, Case, CaseError, CaseSelection, Class, ClassInfo, Data, FlagInfo, Metric, OwnedData,
    PredictionExtras, PredictionVerdicts, Scored, Section, Sequel, SuiteOption,
};

/// A kind of case: where its cases come from, how their runs are judged, and how many of them are summed up.
pub trait Suite: Send + Sync {
    /// Its name on the command line and in files: lower-case letters, digits and hyphens.
    fn name(&self) -> &'static str;

    /// What it tests, in one line.
    fn about(&self) -> &'static str;

    /// The case in a line of JSON: from a file, the run store, a recording or another machine.
    ///
    /// # Errors
    /// The line is not a case of this suite, or is one of another version of it.
    fn read(&self, line: &str) -> Result<Arc<dyn Case>, CaseError>;

    /// The cases of data in the suite's own format, or without data the few that come with it; at most `limit` of
    /// them.
    ///
    /// # Errors
    /// The data cannot be read (the error says where), the selection does not fit them, or this suite has no data.
    fn load(
        &self,
        data: Option<Data<'_>>,
        selection: &CaseSelection,
        limit: Option<usize>,
    ) -> Result<Vec<Arc<dyn Case>>, CaseError> {
        let _ = (data, selection, limit);
        Err(CaseError::new(format!("the suite {} takes no data", self.name())))
    }

    /// The indices in a file: a published sample of the data.
    ///
    /// # Errors
    /// The file does not contain indices, or this suite has none.
    fn places(&self, file: Data<'_>) -> Result<Vec<usize>, CaseError> {
        Err(CaseError::new(format!("{}: the suite {} takes no file of indices", file.file, self.name())))
    }

    /// The options that this suite has. Nobody gives it others.
    fn options(&self) -> &'static [SuiteOption] {
        &[]
    }

    /// This suite with the values of some of its [`options`](Self::options), by their names: what it
    /// [`load`](Self::load)s and reads, and how it is judged, follow them. `None` if that is the suite itself. Nothing
    /// is opened yet: reports of finished runs need no tools.
    ///
    /// # Errors
    /// It has no such option, or the option has no such value; the text lists what there is.
    fn with_options(&self, options: &[(&str, &str)]) -> Result<Option<Arc<dyn Suite>>, CaseError> {
        match options.first() {
            None => Ok(None),
            Some((name, _)) => Err(CaseError::new(format!("{} has no option `{name}`", self.name()))),
        }
    }

    /// The data in a file or folder of the user, if the suite reads it itself. `None` if it takes one file as it is.
    ///
    /// # Errors
    /// The data cannot be read. The text says what this suite takes.
    fn data(&self, path: &Path) -> Result<Option<OwnedData>, CaseError> {
        let _ = path;
        Ok(None)
    }

    /// Opens what the tools of these cases need, before any of them is run.
    ///
    /// # Errors
    /// Something cannot be opened, or is missing.
    fn prepare(&self, cases: &[Arc<dyn Case>]) -> Result<(), CaseError> {
        let _ = cases;
        Ok(())
    }

    /// The kinds of agents that ask a model and can work with the tools of this suite alone, if there are some.
    fn own_kinds(&self) -> &'static [&'static str] {
        &[]
    }

    /// The options that an agent has to have for this suite beside those in its name, with their values.
    ///
    /// # Errors
    /// The agent cannot be run on cases of this suite.
    fn agent_options(&self, agent: AgentCard<'_>) -> Result<Vec<(&'static str, String)>, CaseError> {
        let _ = agent;
        Ok(Vec::new())
    }

    /// This suite with options for finished predictions, as [`with_options`](Self::with_options) for campaigns:
    /// [`score`](Self::score), [`metrics`](Self::metrics) and [`sections`](Self::sections) of the result follow them.
    ///
    /// # Errors
    /// Those of [`with_options`](Self::with_options).
    fn scored_with(&self, options: &[(&str, &str)]) -> Result<Option<Arc<dyn Suite>>, CaseError> {
        self.with_options(options)
    }

    /// Judges finished predictions of any model for these cases, without running anything.
    ///
    /// # Errors
    /// They cannot be read, belong to other cases, or this suite scores none.
    fn score(&self, cases: &[Arc<dyn Case>], predictions: Data<'_>) -> Result<PredictionVerdicts, CaseError> {
        let _ = (cases, predictions);
        Err(CaseError::new(format!("the suite {} scores no predictions", self.name())))
    }

    /// The same with additional data.
    ///
    /// # Errors
    /// Those of [`score`](Self::score), or this suite does not use the additional data.
    fn score_with(
        &self,
        cases: &[Arc<dyn Case>],
        predictions: Data<'_>,
        evidence: &PredictionExtras<'_>,
    ) -> Result<PredictionVerdicts, CaseError> {
        if evidence.log.is_some() {
            return Err(CaseError::new(format!(
                "predictions of {} come without a log of executions",
                self.name()
            )));
        }
        self.score(cases, predictions)
    }

    /// The questions to a judge model about finished predictions. The keys are those of the answers in
    /// [`PredictionExtras`].
    ///
    /// # Errors
    /// Those of [`score`](Self::score), or this suite leaves nothing about predictions to a judge.
    fn questions(&self, cases: &[Arc<dyn Case>], predictions: Data<'_>) -> Result<Vec<Question>, CaseError> {
        let _ = (cases, predictions);
        Err(CaseError::new(format!(
            "the suite {} leaves nothing of predictions to a judge model",
            self.name()
        )))
    }

    /// All classes of failures, by precedence.
    fn classes(&self) -> &'static [ClassInfo];

    /// All flags, in the order in which they are shown.
    fn flags(&self) -> &'static [FlagInfo] {
        &[]
    }

    /// Whether runs of these cases can have the class, or the flag of that name.
    fn can_occur(&self, class: Class, cards: &mut dyn Iterator<Item = &Card>) -> bool {
        let _ = (class, cards);
        true
    }

    /// The closer looks at failures that a campaign of this suite can have, in the order in which they are made.
    fn sequels(&self) -> Vec<Arc<dyn Sequel>> {
        Vec::new()
    }

    /// The unit of the size of a case.
    fn unit(&self) -> SizeUnit {
        SizeUnit { one: "step", many: "steps" }
    }

    /// What rates are compared with.
    fn baselines(&self) -> &'static [Baseline] {
        &[]
    }

    /// The names of the values of [`Card::baselines`], in their order.
    fn baseline_names(&self) -> &'static [&'static str] {
        &[]
    }

    /// What each agent of [`baseline_names`](Self::baseline_names) does, in words that fit behind "Behaves like":
    /// `calling tools in the order of mention`. Empty for one that nothing is to be compared with.
    fn baseline_deeds(&self) -> &'static [&'static str] {
        &[]
    }

    /// The names of all figures that verdicts have in [`Scored::scores`].
    fn score_names(&self) -> &'static [&'static str] {
        &[]
    }

    /// Agents that come with the suite and ask no model, which [`Case::act`] plays.
    fn agents(&self) -> &'static [SuiteAgent] {
        &[]
    }

    /// Whether an agent of this name is one of [`agents`](Self::agents), which use no model.
    fn asks_no_model(&self, agent: &str) -> bool {
        self.agents().iter().any(|it| it.name == agent)
    }

    /// The suite's own columns in tables of runs.
    fn columns(&self) -> Columns {
        Columns { of_case: &[], of_run: &[] }
    }

    /// Figures of all judged runs that are more than a pass rate.
    fn metrics(&self, runs: &[Judged<'_>]) -> Vec<Metric> {
        let _ = runs;
        Vec::new()
    }

    /// How many passed runs are shown with their traces, for the files that they have made.
    fn passed_shown(&self) -> usize {
        0
    }

    /// Parts of a report that only this suite has. `planned` are the cards of all cases with the planned number of
    /// runs of each.
    fn sections(&self, runs: &[Judged<'_>], planned: &[Card], repeats: u32) -> Vec<Section> {
        let _ = (runs, planned, repeats);
        Vec::new()
    }

    /// Parts of the report of a matrix that only this suite has; by default its sections without any run.
    fn matrix_sections(&self, combinations: &[CombinationFigures<'_>], repeats: u32) -> Vec<Section> {
        let _ = combinations;
        self.sections(&[], &[], repeats)
    }
}

/// A combination of a matrix, with its figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CombinationFigures<'a> {
    /// The kind of agent, without its model and its settings.
    pub kind: &'a str,
    /// Its model, where it is known.
    pub model: Option<&'a str>,
    /// Its settings, by key; those that are not set are left out.
    pub settings: &'a BTreeMap<String, String>,
    /// The suite's figures of its runs.
    pub metrics: &'a [Metric],
    /// A model of the agent is one of our simulations.
    pub simulated: bool,
}

/// An agent that comes with a suite and asks no model: an algorithm for its cases, as a reference for models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuiteAgent {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it does, in a few words.
    pub about: &'static str,
}

/// In what the size of cases is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeUnit {
    /// `action`.
    pub one: &'static str,
    /// `actions`.
    pub many: &'static str,
}

/// A reference for a rate: an agent that does not plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Baseline {
    /// The word used in files.
    pub name: &'static str,
    /// Its heading in tables.
    pub title: &'static str,
    /// A description that fits before `would pass`: `a random order`.
    pub who: &'static str,
    /// The indices in [`Card::baselines`] of the agents that it comprises: the rate is that of the best of them.
    pub of: &'static [usize],
}

/// Columns of a table of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Columns {
    /// The columns that are the same in all runs of a case, each with its meaning.
    pub of_case: &'static [(&'static str, &'static str)],
    /// The columns of the verdict, each with its meaning. Empty in an unscored run.
    pub of_run: &'static [(&'static str, &'static str)],
}

/// A run that came to an end.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    /// Place of the case in the campaign.
    pub ordinal: u32,
    /// Which repeat of the case, from 0.
    pub repeat: u32,
    /// The case.
    pub card: &'a Card,
    /// How it was judged; `None` if it is unscored.
    pub scored: Option<&'a Scored>,
}
