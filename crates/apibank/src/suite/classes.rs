//! The suite's name, why runs fail, and other properties of runs.

use planproof_suite::{ClassInfo, FlagInfo, MISSING, UNPARSED_CALL};

/// The suite's name.
pub const NAME: &str = "apibank";

/// The names of the scores of calls by level: 1 if the call is right, else 0.
pub(super) const OF_LEVEL: [&str; 2] = ["level_1", "level_2"];

/// The classes of failures, by precedence.
pub(super) static CLASSES: [ClassInfo; 13] = [
    ClassInfo::timeout(0),
    ClassInfo::reply_limit(1),
    ClassInfo::agent_failed(2),
    ClassInfo::unparsed_call(3),
    ClassInfo { name: MISSING, meaning: "A file of predictions has none for the case.", rank: 4 },
    ClassInfo {
        name: "missing_calls",
        meaning: "Calls that the task needs were not made, or not rightly.",
        rank: 5,
    },
    ClassInfo {
        name: "no_answer",
        meaning: "All calls were made, but the agent's answer is empty.",
        rank: 6,
    },
    ClassInfo {
        name: "wrong_order",
        meaning: "All calls were made, and one of them before a call whose result it needs.",
        rank: 7,
    },
    ClassInfo {
        name: "incomplete_answer",
        meaning: "All calls were made in a right order, and the answer does not name what the task asks for.",
        rank: 8,
    },
    ClassInfo { name: "no_call", meaning: "There is no call in the answer.", rank: 9 },
    ClassInfo { name: "other_tool", meaning: "The answer calls another tool than the right one.", rank: 10 },
    ClassInfo {
        name: "call_failed",
        meaning: "The call could not be carried out: arguments are unknown, missing or of a wrong type.",
        rank: 11,
    },
    ClassInfo {
        name: "wrong_call",
        meaning: "The call was carried out and differs from the right one.",
        rank: 12,
    },
];

/// The classes that only tasks have, and those that only calls have.
pub(super) const OF_TASKS: [&str; 5] =
    [UNPARSED_CALL, "missing_calls", "no_answer", "wrong_order", "incomplete_answer"];
pub(super) const OF_CALLS: [&str; 4] = ["no_call", "other_tool", "call_failed", "wrong_call"];

/// The flags, in display order.
pub(super) static FLAGS: [FlagInfo; 4] = [
    FlagInfo { name: "needless_call", meaning: "A call was made that the task does not need." },
    FlagInfo { name: "repeated_call", meaning: "A right call was made once more." },
    FlagInfo { name: "call_error", meaning: "A call was refused or answered with an error." },
    FlagInfo { name: "unsearched_tool", meaning: "A tool was called that no search had found before." },
];
