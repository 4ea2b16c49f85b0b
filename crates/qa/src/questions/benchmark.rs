//! The two benchmarks, why runs of their questions fail, and other properties of runs.

use planproof_measure::answers::Normalisation;
use planproof_suite::{ClassInfo, FlagInfo};
use serde::{Deserialize, Serialize};

/// Which benchmark the questions are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Benchmark {
    /// HotpotQA (Yang et al. 2018): questions that need facts of two pages.
    HotpotQa,
    /// TriviaQA (Joshi et al. 2017): quiz questions, with all accepted spellings of the answer.
    TriviaQa,
}

impl Benchmark {
    /// The suite's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HotpotQa => "hotpotqa",
            Self::TriviaQa => "triviaqa",
        }
    }

    /// What its cases name as their schema.
    pub const fn case_schema(self) -> &'static str {
        match self {
            Self::HotpotQa => "planproof/hotpotqa/v1",
            Self::TriviaQa => "planproof/triviaqa/v1",
        }
    }

    /// The schema of its verdicts.
    pub const fn verdict_schema(self) -> &'static str {
        match self {
            Self::HotpotQa => "planproof/hotpotqa-verdict/v1",
            Self::TriviaQa => "planproof/triviaqa-verdict/v1",
        }
    }

    /// The official rule.
    pub(crate) const fn rule(self) -> Normalisation {
        match self {
            Self::HotpotQa => Normalisation::Hotpot,
            Self::TriviaQa => Normalisation::Trivia,
        }
    }
}

/// The classes of failures, by precedence.
pub(crate) static CLASSES: [ClassInfo; 7] = [
    ClassInfo::timeout(0),
    ClassInfo::reply_limit(1),
    ClassInfo::agent_failed(2),
    ClassInfo::unparsed_call(3),
    ClassInfo { name: "no_answer", meaning: "The agent's answer is empty.", rank: 4 },
    ClassInfo {
        name: "wrong_answer",
        meaning: "The answer is not the right one, letter by letter once both are made normal.",
        rank: 5,
    },
    ClassInfo::missing(6),
];

/// The flags, in the order in which they are shown.
pub(crate) static FLAGS: [FlagInfo; 5] = [
    FlagInfo { name: "searched", meaning: "A call of a tool was answered." },
    FlagInfo { name: "search_error", meaning: "A call of a tool was refused or answered with an error." },
    FlagInfo {
        name: "official_only",
        meaning: "The answer is right by the official rule and wrong by that of the paper's code.",
    },
    FlagInfo {
        name: "paper_only",
        meaning: "The answer is right by the rule of the paper's code and wrong by the official one.",
    },
    FlagInfo { name: "partly", meaning: "The answer is wrong, but has a word of a right one." },
];
