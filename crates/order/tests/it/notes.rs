//! What there is to say of single events.

use planproof_order::{OrderCase, OrderSuite};
use planproof_suite::Case as _;

use crate::{call, call_at, chain, events, farm, judged, report, synthesise};

/// `0 #1`, `2 (was done before)`, `4 #2 wrong: ...`: the place of each noted event and what is said of it.
fn noted(case: &OrderCase, line: &str) -> Vec<String> {
    let notes = case.notes(&judged(case, line), &events(line)).expect("it is the trace that was judged");
    let words = notes.into_iter().map(|note| {
        let mut out = note.event.to_string();
        out += &note.number.map_or(String::new(), |number| format!(" #{number}"));
        out += &note.remark.map_or(String::new(), |remark| format!(" ({remark})"));
        out + &note.wrong.map_or(String::new(), |wrong| format!(" wrong: {wrong}"))
    });
    words.collect()
}

#[test]
fn calls_are_numbered_and_remarked() {
    let case = chain();
    let line = call("feed_mixing")
        + "call nonsense {} | err \"no\" | "
        + &call("roof_painting")
        + &call("barn_inspection")
        + &call("feed_mixing")
        + "answer \"\"";
    assert_eq!(
        noted(&case, &line),
        [
            "0 #1",
            "4 (belongs to no action)",
            "6 #2 wrong: Expected egg collection.",
            "8 #3 (was done before)"
        ]
    );
}

#[test]
fn the_time_form_is_judged_from_its_last_restart() {
    let case = farm();
    let line = call_at("feed_mixing", "08:00")
        + &call("restart_plan")
        + &call_at("fence_painting", "10:00")
        + "answer \"\"";
    assert_eq!(
        noted(&case, &line),
        ["0 (is not judged)", "2 (clears the day)", "4 #1 wrong: Expected feed mixing 08:00 to 09:00."]
    );
}

#[test]
fn overlapping_calls_have_the_numbers_of_the_verdict() {
    let case = chain();
    let line = "call feed_mixing {} #x | call egg_collection {} #y | ok #y | ok #x | answer \"\"";
    let verdict = judged(&case, line);
    let notes = case.notes(&verdict, &events(line)).expect("it is the trace that was judged");
    let mut numbers: Vec<usize> = notes.iter().filter_map(|note| note.number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2]);
    assert!(notes.is_sorted_by_key(|note| note.event));
}

#[test]
fn reports_are_remarked_and_restarts_undo_nothing_there() {
    let case = OrderSuite::default().wrap(synthesise(Some(1.0), true, 0));
    let tool = &case.case().actions[0].tool;
    let line = call_at(tool, "09:00") + &call("restart_plan") + &report(&[1]) + "answer \"\"";
    assert_eq!(noted(&case, &line), ["0 #1", "2 (clears the day)", "4 (reports a conflict)"]);
}

#[test]
fn another_trace_has_no_notes() {
    let case = chain();
    let verdict = judged(&case, &(call("feed_mixing") + "answer \"\""));
    assert_eq!(case.notes(&verdict, &events(&(call("egg_collection") + "answer \"\""))), None);
}
