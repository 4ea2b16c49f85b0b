//! Activities with a natural order, such as opening and closing a shop: a requirement against that order could
//! contradict common sense, which the paper names as a threat to its results.
//!
//! The rule: two activities of a topic are suspicious if one has a word of a row's left side and the other of its
//! right side, and nothing else distinguishes them: all other words of one are among the other words of the other.
//! Two that name different times of the day, or first and last, are always suspicious.

use std::collections::BTreeSet;

use super::tool_names::singular;

/// Words for the earlier and for the later of two things.
const PAIRS: &[(&[&str], &[&str])] = &[
    (&["opening", "unlocking"], &["closing", "closure", "locking"]),
    (
        &["start", "starting", "startup", "beginning", "launch", "activation"],
        &["end", "ending", "stop", "stopping", "shutdown", "finish", "deactivation", "restart"],
    ),
    (
        &["arrival", "check-in", "login", "registration", "enrolment", "hiring", "onboarding"],
        &["departure", "check-out", "logout", "deregistration", "dismissal", "offboarding"],
    ),
    (
        &["loading", "packing", "assembly", "installation", "setup", "erection"],
        &["unloading", "unpacking", "disassembly", "dismantling", "uninstallation", "teardown", "removal"],
    ),
    (
        &["creation", "addition", "insertion", "allocation", "subscription", "booking", "reservation"],
        &["deletion", "removal", "update", "cancellation", "archiving", "restoration", "unsubscription"],
    ),
    (&["order", "ordering", "purchase"], &["delivery", "receipt", "return", "refund"]),
    (
        &["draft", "drafting", "planning", "design", "preparation", "proposal"],
        &["publication", "release", "execution", "evaluation", "approval", "submission", "serving"],
    ),
    (&["takeoff", "boarding", "departure"], &["landing", "arrival"]),
    (&["upload"], &["download"]),
    (&["sowing", "planting"], &["harvest", "harvesting"]),
    (&["washing"], &["drying", "ironing"]),
];

/// Words for times of the day and positions in a sequence, from the first to the last.
const TIMES: &[&[&str]] = &[
    &["morning", "breakfast", "first", "initial", "early"],
    &["noon", "midday", "lunch"],
    &["afternoon"],
    &["evening", "dinner", "last", "final"],
    &["night", "bedtime", "closing-time"],
];

/// Pairs of these texts that seem to have a natural order, by the rule above; as indices, the earlier first.
pub fn natural_orders(texts: &[&str]) -> Vec<(usize, usize)> {
    let words: Vec<BTreeSet<String>> =
        texts.iter().map(|text| text.split(' ').map(singular).collect()).collect();
    let mut found = Vec::new();
    for (place, one) in words.iter().enumerate() {
        for (later, other) in words.iter().enumerate().skip(place + 1) {
            if is_before(one, other) {
                found.push((place, later));
            } else if is_before(other, one) {
                found.push((later, place));
            }
        }
    }
    found
}

fn is_before(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    let time = |words: &BTreeSet<String>| {
        TIMES.iter().position(|time| time.iter().any(|word| words.contains(*word)))
    };
    if let (Some(first), Some(second)) = (time(one), time(other)) {
        // Two words for times decide, whatever else the texts say.
        return first < second;
    }
    PAIRS.iter().any(|(before, after)| {
        let without = |words: &BTreeSet<String>, side: &[&str]| -> Option<BTreeSet<String>> {
            let rest: BTreeSet<String> =
                words.iter().filter(|word| !side.contains(&word.as_str())).cloned().collect();
            (rest.len() < words.len()).then_some(rest)
        };
        match (without(one, before), without(other, after)) {
            // The rest has to be about the same thing: "shop opening" and "shop closing",
            // but not "bank account closing".
            (Some(one), Some(other)) => one.is_subset(&other) || other.is_subset(&one),
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TopicBank;

    #[test]
    fn opening_comes_before_closing() {
        for (one, other) in [
            ("shop opening", "shop closing"),
            ("invoice creation", "invoice deletion"),
            ("truck loading", "truck unloading"),
            ("morning briefing", "evening report"),
            ("opening", "shop closing"),
            ("order creation", "order cancellation"),
        ] {
            assert_eq!(natural_orders(&[one, "walk", other]), [(0, 2)], "{one}");
            assert_eq!(natural_orders(&[other, one]), [(1, 0)], "{one}");
        }
        for (one, other) in
            [("shop opening", "account closing"), ("invoice creation", "user deletion"), ("walk", "talk")]
        {
            assert_eq!(natural_orders(&[one, other]), [], "{one}");
        }
    }

    #[test]
    fn the_shipped_topics_have_none() {
        for topic in TopicBank::shipped().topics() {
            let texts: Vec<&str> = topic.activities.iter().map(|activity| activity.text.as_str()).collect();
            let found = natural_orders(&texts);
            assert!(
                found.is_empty(),
                "{}: {:?}",
                topic.job,
                found.iter().map(|(a, b)| (texts[*a], texts[*b])).collect::<Vec<_>>()
            );
        }
    }
}
