//! The suite.

use std::fmt;
use std::sync::Arc;

use planproof_suite::{
    Card, Case, CaseError, CaseSelection, Class, ClassInfo, Data, FlagInfo, Judged, Section, SizeUnit, Suite,
    SuiteAgent,
};

use crate::case::{HAS_FAULTS, HAS_TURNS, Scenario};
use crate::file::ReadFile;
use crate::line::NAME;
use crate::review::{self, CaseReview};
use crate::{agents, figures, file, judge};

/// The suite of cases of one's own.
#[derive(Clone, Default)]
pub struct Scenarios {
    read_file: Option<ReadFile>,
}

impl fmt::Debug for Scenarios {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scenarios").finish_non_exhaustive()
    }
}

impl Scenarios {
    /// The suite, in which files of scenarios may name files of tools and of rules. This reads them, by
    /// the folder of the file, empty for the current one, and their path; without it, such a name is an error. The
    /// names have been checked: they lead nowhere but below that folder, as long as no link does.
    #[must_use]
    pub fn with_files(
        self,
        read: impl Fn(&str, &str) -> Result<String, String> + Send + Sync + 'static,
    ) -> Self {
        Self { read_file: Some(Arc::new(read)) }
    }

    /// Looks at the cases of a file before anything runs: whether each can be satisfied, and what is odd about it.
    /// Takes a few searches for each of its demands, each bounded by
    /// [`RULE_SEARCH_MAX`](planproof_spec::limits::RULE_SEARCH_MAX) sessions.
    ///
    /// # Errors
    /// The file is not a file of scenarios: its faults, up to [`FAULTS_MAX`](crate::limits::FAULTS_MAX); never none.
    pub fn review(&self, data: Data<'_>) -> Result<Vec<CaseReview>, Vec<CaseError>> {
        let cases = file::read_all(data, self.read_file.as_ref())?;
        Ok(cases.into_iter().map(review::review).collect())
    }
}

impl Suite for Scenarios {
    fn name(&self) -> &'static str {
        NAME
    }

    fn about(&self) -> &'static str {
        "cases of your own: a query, a world of tools, and what you expect of the calls"
    }

    fn read(&self, line: &str) -> Result<Arc<dyn Case>, CaseError> {
        Ok(Arc::new(Scenario::read(line)?))
    }

    fn load(
        &self,
        data: Option<Data<'_>>,
        selection: &CaseSelection,
        limit: Option<usize>,
    ) -> Result<Vec<Arc<dyn Case>>, CaseError> {
        let data =
            data.unwrap_or(Data { text: include_str!("../data/shop.yaml"), file: "the shop of planproof" });
        let cases = file::read(data, self.read_file.as_ref())?;
        let cases = selection.take(cases, limit)?;
        Ok(cases.into_iter().map(|case| -> Arc<dyn Case> { Arc::new(case) }).collect())
    }

    fn classes(&self) -> &'static [ClassInfo] {
        &judge::CLASSES
    }

    fn flags(&self) -> &'static [FlagInfo] {
        &judge::FLAGS
    }

    /// Failures are mistaken only where tools fail, and later messages only where there are some.
    fn can_occur(&self, class: Class, mut cards: &mut dyn Iterator<Item = &Card>) -> bool {
        let mark = match class.as_str() {
            judge::MISSED_MESSAGE => HAS_TURNS,
            class if judge::OF_FAILURES.contains(&class) => HAS_FAULTS,
            _ => return true,
        };
        Iterator::any(&mut cards, |card| card.marks & mark != 0)
    }

    fn score_names(&self) -> &'static [&'static str] {
        &[figures::RULE_HELD]
    }

    fn agents(&self) -> &'static [SuiteAgent] {
        &agents::AGENTS
    }

    fn sections(&self, runs: &[Judged<'_>], planned: &[Card], _repeats: u32) -> Vec<Section> {
        figures::sections(runs, planned)
    }

    fn unit(&self) -> SizeUnit {
        SizeUnit { one: "needed call", many: "needed calls" }
    }
}
