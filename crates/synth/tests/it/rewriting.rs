//! Cases in somebody else's words: what is read back or listed, and what is kept of it.

use planproof_synth::file::{read_case, write_case};
use planproof_synth::{
    Bound, Demands, Meaning, PlanningCase, Rewritten, judge_rewriting, paragraph_of, read, read_list,
    read_rewriting,
};
use serde_json::{Value, json};

use crate::{case, time_case};

fn cases() -> impl Iterator<Item = PlanningCase> {
    (0..40).map(|index| case(2..=7, index)).chain((0..20).map(|index| time_case(2..=6, index)))
}

fn clock(minute: u16) -> String {
    format!("{:02}:{:02}", minute / 60, minute % 60)
}

/// All that a case demands, as a judge lists it.
fn list(case: &PlanningCase) -> Vec<Value> {
    let id = |place: usize| case.actions[place].id.as_str().to_owned();
    let mut all: Vec<Value> = case
        .constraints
        .iter()
        .map(|stated| json!({"first": id(stated.first), "second": id(stated.second), "words": "at all"}))
        .collect();
    for stated in case.time.iter().flat_map(|time| &time.bounds) {
        all.push(match stated.bound {
            Bound::EndsBy(minute) => json!({"action": id(stated.action), "ends_by": clock(minute)}),
            Bound::StartsFrom(minute) => json!({"action": id(stated.action), "starts_from": clock(minute)}),
        });
    }
    all
}

/// A text that no grammar knows, with all tasks.
fn reworded(case: &PlanningCase) -> String {
    let names: Vec<&str> = case.actions.iter().map(|action| action.text.as_str()).collect();
    format!("What a day, at all: {}!", names.join(" & "))
}

fn listed(case: &PlanningCase, all: &[Value]) -> Result<Demands, String> {
    read_list(case, &reworded(case), &format!("Sure:\n{}", json!({"constraints": all})))
}

fn judged(case: &PlanningCase, all: &[Value]) -> Meaning {
    let by = Rewritten { writer: "w".to_owned(), judge: Some("j".to_owned()) };
    judge_rewriting(case, &reworded(case), by, &listed(case, all).expect("a list"))
}

#[test]
fn a_text_that_demands_the_same_is_kept_and_any_other_is_not() {
    let mut others = 0;
    for case in cases() {
        let same = |meaning: Meaning| match meaning {
            Meaning::Same(kept) => *kept,
            other => panic!("{}: {other:?}", case.id),
        };
        // Its own paragraph, which is the one text that certainly says it.
        let kept = same(read_rewriting(&case, &case.paragraph, "w", read::Directions::shipped()));
        assert_eq!(kept.rewritten, Some(Rewritten { writer: "w".to_owned(), judge: None }));
        assert_eq!((&kept.query, &kept.difficulty), (&case.query, &case.difficulty));
        read::verify(&kept, read::Directions::shipped()).expect("its places are those of the text");
        assert_eq!(read_case(&write_case(&kept)).expect("a case file"), kept);

        let all = list(&case);
        let kept = same(judged(&case, &all));
        assert_eq!(kept.problem().order(), case.problem().order());
        assert!(kept.query.contains(&reworded(&case)) && !kept.query.contains(&case.paragraph));
        assert_eq!(read_case(&write_case(&kept)).expect("a case file"), kept);
        // Some cases of the time form have clock times alone.
        let Some(first) = kept.constraints.first() else { continue };
        assert_eq!(kept.words_at(&first.sources[0]), "at all");
        // What follows from the rest may be listed as well, or left out.
        let doubled: Vec<Value> = all.iter().chain(&all).cloned().collect();
        same(judged(&case, &doubled));

        // Nothing at all, and an order the other way round.
        assert_eq!(judged(&case, &[]), Meaning::Other, "{}", case.id);
        let mut turned = all.clone();
        let (first, second) = (turned[0]["first"].clone(), turned[0]["second"].clone());
        (turned[0]["first"], turned[0]["second"]) = (second, first);
        assert_eq!(judged(&case, &turned), Meaning::Other, "{}", case.id);
        // One pair less means less, unless it follows from the others.
        let rest = &all[1..];
        let follows = case.constraints.iter().skip(1).any(|it| it.first == case.constraints[0].first);
        match judged(&case, rest) {
            Meaning::Other => others += 1,
            Meaning::Same(_) => assert!(follows || case.time.is_some(), "{}", case.id),
            Meaning::Unread(why) => panic!("{why}"),
        }
    }
    assert!(others > 20, "{others}");
}

#[test]
fn what_nobody_can_read_is_unread() {
    let case = case(3..=4, 1);
    let unread = |text: &str| match read_rewriting(&case, text, "w", read::Directions::shipped()) {
        Meaning::Unread(why) => why,
        other => panic!("{other:?}"),
    };
    assert!(unread(&reworded(&case)).contains("expected"));
    assert!(paragraph_of(&case, "No.").unwrap_err().contains("does not name the task"));
    assert!(paragraph_of(&case, "```\n\n```").unwrap_err().contains("0 characters"));
    assert!(paragraph_of(&case, &"x".repeat(30_000)).unwrap_err().contains("30000 characters"));
    // A fence and line breaks are not part of a paragraph.
    let fenced = format!("```text\n{}\n```\n", reworded(&case).replace(' ', "\n "));
    assert_eq!(paragraph_of(&case, &fenced), Ok(reworded(&case)));
    let fault = |reply: &str| read_list(&case, &reworded(&case), reply).unwrap_err();
    assert_eq!(fault("I cannot."), "the judge wrote no JSON");
    assert!(fault("{\"constraints\": [1]}").contains("the judge's list"));
    assert_eq!(fault("{\"unclear\": \"two ways\"}"), "the judge cannot read it: two ways");
    assert_eq!(fault("{}"), "the judge listed nothing");
    let listing = |it: &Value| listed(&case, std::slice::from_ref(it)).unwrap_err();
    assert!(listing(&json!({"first": "a1", "second": "a99"})).contains("\"a99\""));
    assert!(listing(&json!({"first": "a1", "second": "a1"})).contains("before itself"));
    assert!(listing(&json!({"first": "a1"})).contains("neither an order nor a clock time"));
    // A clock time in a case without.
    assert!(listing(&json!({"action": "a1", "ends_by": "10:00"})).contains("neither an order"));
    let timed = time_case(3..=4, 1);
    let late = json!({"action": "a1", "ends_by": "at ten"});
    assert!(listed(&timed, &[late]).unwrap_err().contains("\"at ten\""));
    // A cycle is another meaning.
    let both = [json!({"first": "a1", "second": "a2"}), json!({"first": "a2", "second": "a1"})];
    assert_eq!(judged(&case, &both), Meaning::Other);
}

#[test]
fn a_file_says_who_wrote_the_text() {
    let case = case(3..=3, 2);
    let Meaning::Same(kept) = judged(&case, &list(&case)) else { panic!("it is the same") };
    let line: Value = serde_json::from_str(&write_case(&kept)).unwrap();
    assert_eq!(line["rewritten"], json!({"writer": "w", "kept": "judged", "judge": "j"}));
    let mut wrong = line.clone();
    wrong["rewritten"]["kept"] = json!("read");
    assert!(read_case(&wrong.to_string()).unwrap_err().to_string().contains("`rewritten` has a `judge`"));
    // A synthesised case is written as before.
    assert!(!write_case(&case).contains("rewritten"));
}
