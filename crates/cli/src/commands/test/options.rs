//! What of a campaign is kept in the store, and in a recording, beside its cases.

use std::path::PathBuf;
use std::time::Duration;

use planproof_bench::SolverMeter;
use planproof_synth::JudgeOptions;
use serde::{Deserialize, Serialize};

/// The options that a campaign is gone on with and summed up again with.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredOptions {
    #[serde(with = "decimal")]
    pub(super) seed: u64,
    pub(super) concurrency: usize,
    pub(super) timeout_ms: u64,
    pub(super) iterations: u32,
    pub(super) repeated_fails: bool,
    pub(super) distractor_fails: bool,
    pub(super) serve_model: Option<String>,
    pub(super) solver_calls: u64,
    pub(super) solver_ns: u64,
    pub(super) synthesis_ns: u64,
    /// Campaigns of before there were recordings have none.
    #[serde(default)]
    pub(super) answers: Answers,
}

/// Where the answers of the model come from, and where they go.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answers {
    /// From the model, and nowhere.
    #[default]
    Live,
    /// From the model, into this file.
    Record(PathBuf),
    /// From this file if it has them, else from the model and into the file.
    Cache(PathBuf),
    /// From this file alone.
    Replay(PathBuf),
}

impl StoredOptions {
    pub(crate) fn judge(&self) -> JudgeOptions {
        JudgeOptions { repeated_fails: self.repeated_fails, distractor_fails: self.distractor_fails }
    }

    pub(crate) fn solver(&self) -> SolverMeter {
        SolverMeter { calls: self.solver_calls, time: Duration::from_nanos(self.solver_ns) }
    }

    pub(crate) fn synthesis(&self) -> Duration {
        Duration::from_nanos(self.synthesis_ns)
    }

    pub(super) fn set_synthesis(&mut self, solver: SolverMeter, synthesis: Duration) {
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.solver_calls = solver.calls;
        self.solver_ns = nanoseconds(solver.time);
        self.synthesis_ns = nanoseconds(synthesis);
    }

    /// Whether no model is asked.
    pub(crate) fn is_replay(&self) -> bool {
        matches!(self.answers, Answers::Replay(_))
    }
}

/// A number in decimal digits, because many readers lose some of one above 2^53. Campaigns of before have it as a number.
mod decimal {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    // By reference, because that is how serde hands it over.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape serde wants")]
    pub(super) fn serialize<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&number.to_string())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Digits(String),
            Number(u64),
        }
        match Either::deserialize(deserializer)? {
            Either::Number(number) => Ok(number),
            Either::Digits(digits) => digits.parse().map_err(D::Error::custom),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_before_there_were_recordings_are_read() {
        let old = r#"{"seed":7,"concurrency":64,"timeout_ms":180000,"iterations":50,"repeated_fails":true,
            "distractor_fails":false,"serve_model":null,"solver_calls":26,"solver_ns":1,"synthesis_ns":2}"#;
        let options: StoredOptions = serde_json::from_str(old).unwrap();
        assert_eq!((options.seed, &options.answers), (7, &Answers::Live));
        let seed = u64::MAX;
        let answers = Answers::Record("r.jsonl".into());
        let text =
            serde_json::to_string(&StoredOptions { seed, answers: answers.clone(), ..options }).unwrap();
        let options: StoredOptions = serde_json::from_str(&text).unwrap();
        assert_eq!((options.seed, options.answers), (seed, answers));
        assert!(text.contains("\"seed\":\"18446744073709551615\""), "{text}");
    }
}
