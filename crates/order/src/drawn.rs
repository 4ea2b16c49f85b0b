//! Cases that a store names instead of holding them: a search for a limit plans many more cases than it runs, and
//! those that never run take no more room than their ids.

use planproof_suite::CaseError;
use planproof_synth::{PlanningCase, SynthesisCounts, SynthesisOptions, Synthesizer, TopicBank, Wordings};
use serde::{Deserialize, Serialize};

/// How the cases of a campaign were drawn, so that each can be drawn again by its id.
#[derive(Debug, Clone)]
pub struct DrawnCases {
    /// The seed of all.
    pub seed: u64,
    /// The ranges of the seed's sequence, which have no index in common.
    pub levels: Vec<DrawnLevel>,
    /// The topics that they are about.
    pub bank: TopicBank,
}

/// A range of a seed's sequence.
#[derive(Debug, Clone)]
pub struct DrawnLevel {
    pub first: u64,
    /// How many there are.
    pub count: u64,
    /// How its cases are drawn.
    pub options: SynthesisOptions,
}

/// The line of a case that is only named.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DrawnLine {
    drawn: String,
}

impl DrawnCases {
    /// The line that stands for the case with this id.
    pub fn line(id: &str) -> String {
        // A string can always be written.
        serde_json::to_string(&DrawnLine { drawn: id.to_owned() }).unwrap_or_default()
    }

    /// The id of the case that a line names; `None` if the line holds a case.
    pub fn named(line: &str) -> Option<String> {
        // A case has many more fields, so that this looks no further than its first one.
        let line: DrawnLine = line.starts_with("{\"drawn\"").then(|| serde_json::from_str(line).ok())??;
        Some(line.drawn)
    }

    /// Draws the case with this id.
    ///
    /// # Errors
    /// It is none of these cases, or they cannot be drawn.
    pub fn draw(&self, id: &str) -> Result<PlanningCase, CaseError> {
        let unknown = || CaseError::new(format!("{id} is none of the cases that were drawn"));
        let index = id.strip_prefix(&format!("{}-", self.seed)).and_then(|index| index.parse::<u64>().ok());
        let index = index.ok_or_else(unknown)?;
        let holds =
            |level: &&DrawnLevel| index.checked_sub(level.first).is_some_and(|place| place < level.count);
        let level = self.levels.iter().find(holds).ok_or_else(unknown)?;
        let synthesizer = Synthesizer::new(level.options.clone(), Wordings::shipped(), &self.bank)
            .map_err(CaseError::new)?;
        synthesizer.case(self.seed, index, &mut SynthesisCounts::default(), &mut ()).map_err(CaseError::new)
    }
}
