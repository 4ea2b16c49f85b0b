//! Why runs fail, and other properties of runs.

use planproof_suite::{Class, ClassInfo, FlagInfo, MISSING};

use crate::evaluate::TripCheck;

/// The classes of failures, by precedence.
pub(super) static CLASSES: [ClassInfo; 23] = [
    ClassInfo::timeout(0),
    ClassInfo::reply_limit(1),
    ClassInfo::agent_failed(2),
    ClassInfo::unparsed_call(3),
    ClassInfo {
        name: "stopped",
        meaning: "The published loop would have stopped the run before its answer.",
        rank: 4,
    },
    ClassInfo { name: "undelivered", meaning: "There is no plan in the answer.", rank: 5 },
    ClassInfo {
        name: "malformed",
        meaning: "The plan is no list of days with texts, or would have ended the published evaluator.",
        rank: 6,
    },
    ClassInfo {
        name: "route",
        meaning: "The cities do not follow each other as a round trip to the destination.",
        rank: 7,
    },
    ClassInfo { name: "restaurants", meaning: "A restaurant is visited twice.", rank: 8 },
    ClassInfo { name: "attractions", meaning: "A sight is visited twice.", rank: 9 },
    ClassInfo { name: "minimum_nights", meaning: "The stay is shorter than the house wants.", rank: 10 },
    ClassInfo {
        name: "transportation",
        meaning: "The means of transport contradict each other, or the first day has none.",
        rank: 11,
    },
    ClassInfo { name: "current_city", meaning: "Something does not lie in the city of its day.", rank: 12 },
    ClassInfo { name: "sandbox", meaning: "Something is not in the tables.", rank: 13 },
    ClassInfo { name: "incomplete", meaning: "Something is left out.", rank: 14 },
    ClassInfo { name: "cuisine", meaning: "A cuisine that was asked for is not eaten.", rank: 15 },
    ClassInfo { name: "room_rule", meaning: "A house forbids what was asked for.", rank: 16 },
    ClassInfo { name: "transport_rule", meaning: "The journey goes as was ruled out.", rank: 17 },
    ClassInfo { name: "room_type", meaning: "A room is not of the kind that was asked for.", rank: 18 },
    ClassInfo { name: "budget", meaning: "The trip costs more than the budget.", rank: 19 },
    ClassInfo {
        name: "no_fields",
        meaning: "There is no object with the fields of the query in the answer.",
        rank: 20,
    },
    ClassInfo { name: "wrong_fields", meaning: "A field of the query is not right.", rank: 21 },
    ClassInfo::missing(22),
];

/// The index of the class of the first check.
const FIRST_CHECK: usize = 7;

/// The class of a plan that fails this check.
pub(super) fn of_check(check: TripCheck) -> Option<Class> {
    let place = TripCheck::all().position(|it| it == check)?;
    CLASSES.get(FIRST_CHECK + place).map(Class::new)
}

/// The classes of the mode that reads fields, which has no plan.
pub(super) const OF_READING: [&str; 2] = ["no_fields", "wrong_fields"];

/// Whether a class or flag can occur in the mode that reads fields.
pub(super) fn is_of_reading(name: &str) -> bool {
    OF_READING.contains(&name)
        || [CALL_ERROR, MISSING].contains(&name)
        || CLASSES.iter().take(4).any(|it| it.name == name)
}

/// The flag of a run with a failed call.
pub(super) const CALL_ERROR: &str = "call_error";
/// The flag of a run that the published loop would have stopped.
pub(super) const LOOP_STOPPED: &str = "loop_stopped";
/// The flag of a plan that passes by the rules of the published evaluator but not by ours, or vice versa.
pub(super) const DIFFERS: &str = "evaluators_differ";

/// The flags, in display order; the last ones are the gaps in [`Loophole::ALL`](crate::evaluate::Loophole::ALL).
pub(super) static FLAGS: [FlagInfo; 20] = [
    FlagInfo { name: CALL_ERROR, meaning: "A call was refused or answered with an error." },
    FlagInfo {
        name: LOOP_STOPPED,
        meaning: "The published loop would have stopped the run before its answer.",
    },
    FlagInfo {
        name: DIFFERS,
        meaning: "The plan passes by the published evaluator alone, or by ours alone.",
    },
    FlagInfo {
        name: "destination",
        meaning: "A gap of the published checks was used: another city than the destination, on a trip of three days.",
    },
    FlagInfo {
        name: "start",
        meaning: "A gap of the published checks was used: a first day that is spent in another city than the origin.",
    },
    FlagInfo {
        name: "no-trip",
        meaning: "A gap of the published checks was used: a trip that never leaves the origin.",
    },
    FlagInfo {
        name: "spelling",
        meaning: "A gap of the published checks was used: the same place again, with another blank.",
    },
    FlagInfo {
        name: "last-attraction",
        meaning: "A gap of the published checks was used: a sight behind the last semicolon that would not hold.",
    },
    FlagInfo {
        name: "ambiguous-stay",
        meaning: "A gap of the published checks was used: too few nights in a house whose name is part of another.",
    },
    FlagInfo {
        name: "last-day-night",
        meaning: "A gap of the published checks was used: the day of the journey home as a night.",
    },
    FlagInfo {
        name: "letters",
        meaning: "A gap of the published checks was used: on a day without travel, something that only shares a letter with the city.",
    },
    FlagInfo {
        name: "city-in-text",
        meaning: "A gap of the published checks was used: on a day of travel, a city anywhere in the entry.",
    },
    FlagInfo {
        name: "any-means",
        meaning: "A gap of the published checks was used: a means of transport that costs nothing, such as a train.",
    },
    FlagInfo {
        name: "flight-date",
        meaning: "A gap of the published checks was used: a flight of another day.",
    },
    FlagInfo {
        name: "part-of-name",
        meaning: "A gap of the published checks was used: part of a name, or none.",
    },
    FlagInfo {
        name: "null-entry",
        meaning: "A gap of the published checks was used: null where something has to be.",
    },
    FlagInfo {
        name: "other-keys",
        meaning: "A gap of the published checks was used: keys that name nothing to do as half of what is filled in.",
    },
    FlagInfo { name: "extra-days", meaning: "A gap of the published checks was used: days after the last." },
    FlagInfo {
        name: "part-of-cuisine",
        meaning: "A gap of the published checks was used: a cuisine whose name has the wanted one in it.",
    },
    FlagInfo {
        name: "lower-case",
        meaning: "A gap of the published checks was used: what was ruled out, in small letters.",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Loophole;

    #[test]
    fn every_check_has_its_class_and_every_gap_its_flag() {
        assert_eq!(of_check(TripCheck::Route).map(Class::as_str), Some("route"));
        assert_eq!(of_check(TripCheck::Complete).map(Class::as_str), Some("incomplete"));
        assert_eq!(of_check(TripCheck::Budget).map(Class::as_str), Some("budget"));
        assert!(Loophole::ALL.iter().map(|it| it.name()).eq(FLAGS.iter().skip(3).map(|flag| flag.name)));
    }
}
