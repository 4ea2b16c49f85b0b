use std::collections::{BTreeMap, BTreeSet};

use planproof_constraint::{TimedProblem, TimedRelation};
use planproof_synth::file::{read_case, write_case, write_verdict};
use planproof_synth::{
    Bound, ConflictVerdict, InfeasibleShare, JudgeOptions, PlanningCase, REPORT_TOOL, SynthesisError,
    SynthesisOptions, Synthesizer, TimeOptions, TopicBank, Wordings, judge, read, report_arguments,
};
use planproof_trace::notation;

use crate::synthesise;

fn options(share: f64, time: bool) -> SynthesisOptions {
    let time = time.then(TimeOptions::default);
    SynthesisOptions { infeasible: InfeasibleShare::new(share), time, ..SynthesisOptions::default() }
}

fn infeasible(actions: std::ops::RangeInclusive<u32>, time: bool, index: u64) -> PlanningCase {
    let (actions_min, actions_max) = actions.into_inner();
    synthesise(SynthesisOptions { actions_min, actions_max, ..options(1.0, time) }, 7, index)
}

/// What the sentences of a case demand, by the case's own constraints.
struct Twin<'a> {
    case: &'a PlanningCase,
    durations: Vec<u16>,
}

impl<'a> Twin<'a> {
    fn new(case: &'a PlanningCase, is_shortest: bool) -> Self {
        let durations = match &case.time {
            Some(time) if !is_shortest => time.durations.clone(),
            _ => vec![1; case.actions.len()],
        };
        Self { case, durations }
    }

    fn sentences(&self) -> u32 {
        let sources = self.case.constraint_sources().flatten();
        1 + sources.map(|source| source.sentence).max().expect("something is stated")
    }

    /// Whether any order of the actions keeps to these sentences, each action as early as it may start: all are tried.
    fn holds(&self, set: u32) -> bool {
        let is_stated =
            |sources: &[planproof_synth::Source]| sources.iter().any(|it| set & 1 << it.sentence != 0);
        let pairs = self.case.constraints.iter().filter(|stated| is_stated(&stated.sources));
        let pairs: Vec<(usize, usize)> = pairs.map(|stated| (stated.first, stated.second)).collect();
        let bounds = self.case.time.iter().flat_map(|time| &time.bounds).filter(|it| is_stated(&it.sources));
        let bounds: Vec<(usize, Bound)> = bounds.map(|stated| (stated.action, stated.bound)).collect();
        let day = self.case.time.as_ref().map_or((0, u16::MAX), |time| (time.day.start, time.day.end));
        self.goes_on(&mut Vec::new(), day.0, day.1, &pairs, &bounds)
    }

    fn goes_on(
        &self,
        done: &mut Vec<usize>,
        minute: u16,
        day_end: u16,
        pairs: &[(usize, usize)],
        bounds: &[(usize, Bound)],
    ) -> bool {
        if done.len() == self.durations.len() {
            return true;
        }
        (0..self.durations.len()).any(|action| {
            if done.contains(&action)
                || pairs.iter().any(|(first, second)| *second == action && !done.contains(first))
            {
                return false;
            }
            let own = || bounds.iter().filter(|(other, _)| *other == action).map(|(_, bound)| *bound);
            let from = own().filter(|bound| matches!(bound, Bound::StartsFrom(_))).map(Bound::minute);
            let start = from.max().unwrap_or(0).max(minute);
            let end = start + self.durations[action];
            let by = own().filter(|bound| matches!(bound, Bound::EndsBy(_))).map(Bound::minute);
            if end > by.min().unwrap_or(day_end).min(day_end) {
                return false;
            }
            done.push(action);
            let goes_on = self.goes_on(done, end, day_end, pairs, bounds);
            done.pop();
            goes_on
        })
    }

    /// All inclusion-minimal sets of sentences that cannot hold together, as numbers from 1.
    fn conflicts(&self) -> Vec<Vec<u32>> {
        let conflicting: Vec<u32> = (0..1 << self.sentences()).filter(|set| !self.holds(*set)).collect();
        let is_minimal =
            |set: &&u32| !conflicting.iter().any(|other| other != *set && other & **set == *other);
        let numbers =
            |set: &u32| (0..self.sentences()).filter(|it| set & 1 << it != 0).map(|it| it + 1).collect();
        conflicting.iter().filter(is_minimal).map(numbers).collect()
    }
}

/// The slow twin of the solver: all subsets of the sentences, and all orders of the actions for each.
#[test]
fn the_conflict_is_the_only_smallest_one() {
    let mut sizes = BTreeMap::new();
    for (time, cases) in [(false, 150), (true, 60)] {
        for index in 0..cases {
            let case = infeasible(2..=5, time, index);
            let conflict = case.conflict.clone().expect("all are infeasible");
            let conflicts = Twin::new(&case, false).conflicts();
            assert_eq!(conflicts, std::slice::from_ref(&conflict), "{}: {}", case.id, case.paragraph);
            if time {
                // Nobody can know the durations, and nobody needs to.
                assert_eq!(
                    Twin::new(&case, true).conflicts(),
                    std::slice::from_ref(&conflict),
                    "{}",
                    case.id
                );
            }
            *sizes.entry((time, conflict.len())).or_insert(0) += 1;
        }
    }
    let sizes: BTreeSet<(bool, usize)> = sizes.into_keys().collect();
    for expected in [(false, 2), (false, 3), (true, 2), (true, 3)] {
        assert!(sizes.contains(&expected), "{expected:?} is not among {sizes:?}");
    }
}

/// Of the requirements that a verdict gives as a conflict none can be left out, neither where the tasks are
/// as short as can be, nor with their true durations.
#[test]
#[ignore = "slow"]
fn no_requirement_of_a_core_is_to_spare() {
    for index in 0..1200 {
        let case = infeasible(3..=5, true, index);
        let form = case.time.as_ref().expect("it is of the time form");
        let events = notation::parse("answer \"\"").expect("the notation is right");
        let verdict = judge(&case, &events, JudgeOptions::default()).expect("the run is scored");
        let problem = case.timed_problem().expect("it is of the time form");
        let stated = case.constraint_ids().zip(problem.relations());
        let core: Vec<TimedRelation> =
            stated.filter(|(id, _)| verdict.core.contains(id)).map(|(_, relation)| *relation).collect();
        for durations in [form.durations.clone(), vec![1; case.actions.len()]] {
            let holds = |relations: &[TimedRelation]| {
                let problem =
                    TimedProblem::new(&durations, form.day, relations.to_vec()).expect("it is in range");
                problem.timetable().is_feasible().expect("it is small")
            };
            assert!(!holds(&core), "{}: {}", case.id, case.paragraph);
            for place in 0..core.len() {
                let others = [&core[..place], &core[place + 1..]].concat();
                assert!(holds(&others), "{}, {durations:?}: {:?} of {core:?}", case.id, core[place]);
            }
        }
    }
}

#[test]
#[ignore = "slow"]
fn infeasible_cases_are_read_back_and_written_and_read() {
    for time in [false, true] {
        for index in 0..150 {
            let case = infeasible(2..=9, time, index);
            read::verify(&case, read::Directions::shipped())
                .unwrap_or_else(|error| panic!("{}: {error}", case.id));
            let text = write_case(&case);
            assert!(text.contains(r#""feasible":false,"conflict":["#), "{text}");
            assert_eq!(read_case(&text).unwrap_or_else(|error| panic!("{error}")), case);
            assert_eq!((case.difficulty.correct_plans, case.difficulty.bits), (Some(0), None));
            let sentences = case.paragraph.matches('.').count() as u32;
            assert!(case.options.sentences_max >= sentences, "{}: {sentences} sentences", case.id);
            let conflict = case.conflict.as_deref().expect("it is infeasible");
            assert!(conflict.len() >= 2 && conflict.iter().all(|number| (1..=sentences).contains(number)));
            // Where the text is marked, there are those sentences.
            let places = case.conflict_places();
            let all: Vec<&str> = case.paragraph.split_inclusive('.').map(str::trim).collect();
            let named: Vec<&str> = conflict.iter().map(|number| all[*number as usize - 1]).collect();
            assert_eq!(places.iter().map(|place| case.words_at(place)).collect::<Vec<_>>(), named);
        }
    }
}

/// What is feasible is as it is without infeasible cases, but for the tool and what the query says of it.
#[test]
fn feasible_cases_stay_what_they_are() {
    for time in [false, true] {
        let mut count = 0;
        for index in 0..200 {
            let case = synthesise(options(0.25, time), 3, index);
            assert!(case.offers_report() && case.query.contains(REPORT_TOOL));
            if !case.is_feasible() {
                count += 1;
                continue;
            }
            let mut bare = synthesise(SynthesisOptions { infeasible: None, ..options(0.0, time) }, 3, index);
            assert!(!bare.offers_report() && !bare.query.contains(REPORT_TOOL));
            bare.tools.extend(case.tools.last().cloned());
            bare.query.clone_from(&case.query);
            assert_eq!(bare, case);
        }
        // Four deviations of the mean.
        assert!((26..=74).contains(&count), "{count} of 200 are infeasible");
    }
}

#[test]
fn the_query_is_complete() {
    for time in [false, true] {
        let case = infeasible(3..=3, time, 0);
        insta::with_settings!({ description => format!("conflict {:?}", case.conflict) }, {
            insta::assert_snapshot!(if time { "query_time" } else { "query_basic" }, case.query);
        });
    }
}

#[test]
fn options_without_room_for_a_conflict_are_refused() {
    let fault = |options| match Synthesizer::new(options, Wordings::shipped(), TopicBank::shipped()) {
        Err(error) => error.to_string(),
        Ok(synthesizer) => match synthesizer.case(1, 0, &mut Default::default(), &mut ()) {
            Err(error @ SynthesisError::NoContradiction { .. }) => error.to_string(),
            other => panic!("{other:?}"),
        },
    };
    assert_eq!(
        fault(SynthesisOptions { sentences_max: Some(1), ..options(0.5, false) }),
        "sentences is 1; it must be at least 2 where cases are infeasible: a conflict is one between sentences"
    );
    let crowded =
        SynthesisOptions { actions_min: 40, actions_max: 40, sentences_max: Some(2), ..options(1.0, false) };
    assert!(fault(crowded).starts_with("no infeasible case found in 1000 draws"));
    let taken = r#"{"schema":"planproof/topics/v1","topics":[{"job":"clerk","industry":"office","activities":["report conflict","filing"]}]}"#;
    let bank = TopicBank::from_json(taken).expect("the bank is good");
    let small = SynthesisOptions { actions_min: 2, actions_max: 2, ..options(0.5, false) };
    let error = Synthesizer::new(small, Wordings::shipped(), &bank).expect_err("the name is taken");
    assert!(error.to_string().contains("without an activity whose tool is report_conflict"), "{error}");
}

#[test]
fn files_that_make_no_sense_are_refused() {
    let fault = |case: &PlanningCase, from: &str, to: &str| {
        let text = write_case(case);
        assert!(text.contains(from), "{from} is not in {text}");
        read_case(&text.replacen(from, to, 1)).expect_err("the file makes no sense").to_string()
    };
    let case = infeasible(4..=4, false, 1);
    let conflict =
        format!("\"conflict\":{:?}", case.conflict.as_deref().expect("it is infeasible")).replace(' ', "");
    assert!(
        fault(&case, &conflict, "\"conflict\":[1]")
            .contains("but the sentences that cannot hold together are [")
    );
    assert!(fault(&case, &format!(",{conflict}"), "").contains("has a `conflict` if it is not `feasible`"));
    assert!(fault(&case, "\"feasible\":false", "\"feasible\":true").contains("and none if it is"));
    assert!(fault(&case, "\"correct_plans\":\"0\"", "\"correct_plans\":\"1\"").contains("make it"));
    assert!(fault(&case, "\"minItems\":1", "\"minItems\":2").contains("needs a tool \"report_conflict\""));
    let feasible = synthesise(options(0.0, false), 7, 1);
    assert!(
        fault(&feasible, "\"feasible\":true", "\"feasible\":false,\"conflict\":[1,2]")
            .contains("it is said to be infeasible, but its constraints can all hold")
    );
    // A second contradiction elsewhere leaves no right answer.
    let mut twofold = (0..).map(|index| infeasible(5..=5, false, index)).find(|case| {
        case.paragraph.matches('.').count() >= 4 && case.conflict.as_ref().is_some_and(|it| it.len() == 2)
    });
    let case = twofold.as_mut().expect("there is one");
    let conflict = case.conflict.clone().unwrap_or_default();
    let mut others = (0..4u32).filter(|sentence| !conflict.contains(&(sentence + 1)));
    let [one, other] = [others.next(), others.next()].map(|it| it.expect("there are two more sentences"));
    let mut opposite = case
        .constraints
        .iter()
        .find(|stated| stated.sources.iter().any(|source| source.sentence == one))
        .expect("every sentence states something")
        .clone();
    std::mem::swap(&mut opposite.first, &mut opposite.second);
    opposite.sources[0].sentence = other;
    let mut ids = case.constraints.clone();
    ids.push(opposite);
    // Ids of constraints are made by synthesis alone, so the new one borrows that of another case.
    let spare = infeasible(9..=9, false, 0).constraints.pop().expect("it has constraints").id;
    if let Some(last) = ids.last_mut() {
        last.id = spare;
    }
    case.constraints = ids;
    case.difficulty.constraints += 1;
    let error = read_case(&write_case(case)).expect_err("there are two conflicts").to_string();
    assert!(error.contains("several sets of sentences cannot hold together"), "{error}");
}

/// A verdict in one line: class, flags, what was named, calls.
fn check_verdict(case: &PlanningCase, line: &str) -> String {
    let events = notation::parse(line).expect("the notation is right");
    let verdict = judge(case, &events, JudgeOptions::default()).expect("the run is scored");
    assert!(verdict.violated.is_empty() && verdict.repair.is_empty() || case.is_feasible());
    let flags: Vec<&str> = verdict.flags.iter().map(|flag| flag.as_str()).collect();
    let conflict = verdict.conflict.as_ref();
    format!(
        "{} [{}] {:?} {} calls {}",
        verdict.class.map_or("passed", |class| class.as_str()),
        flags.join(" "),
        conflict.and_then(|conflict| conflict.reported.as_deref()),
        conflict.and_then(ConflictVerdict::named).map_or("-", |named| named.as_str()),
        verdict.calls.len()
    )
}

fn report(sentences: &[u64]) -> String {
    format!("call report_conflict {} | ok \"d\"", report_arguments(sentences.iter().copied()).to_text())
}

#[test]
fn infeasible_cases_are_judged() {
    let case = (0..)
        .map(|index| infeasible(4..=4, false, index))
        .find(|case| case.conflict.as_deref() == Some(&[1, 3]));
    let case = case.expect("there is one");
    let task = format!("call {} {{}} | ok \"d\"", case.actions[0].tool);
    let exact = report(&[1, 3]);
    for (line, expected) in [
        (format!("{exact} | answer \"\""), "passed [] Some([1, 3]) exact calls 0"),
        (format!("{} | answer \"\"", report(&[3, 1, 3, 1])), "passed [] Some([1, 3]) exact calls 0"),
        (format!("{} | answer \"\"", report(&[1, 2, 3])), "passed [] Some([1, 2, 3]) superset calls 0"),
        (format!("{} | answer \"\"", report(&[1, 3, 77])), "passed [] Some([1, 3, 77]) superset calls 0"),
        (format!("{} | answer \"\"", report(&[1, 2])), "passed [] Some([1, 2]) other calls 0"),
        // The last report counts.
        (format!("{} | {exact} | answer \"\"", report(&[2])), "passed [] Some([1, 3]) exact calls 0"),
        ("answer \"cannot be\"".into(), "conflict_missed [conflict_missed] None - calls 0"),
        (format!("{task} | answer \"\""), "conflict_missed [conflict_missed] None - calls 1"),
        (
            // What was missed decides before what was done beside.
            "call foreign {} | ok \"d\" | answer \"\"".into(),
            "conflict_missed [conflict_missed distractor] None - calls 0",
        ),
        (
            format!("{task} | {exact} | answer \"\""),
            "conflict_missed [conflict_missed] Some([1, 3]) exact calls 1",
        ),
        (
            format!("{exact} | {task} | answer \"\""),
            "conflict_missed [conflict_missed] Some([1, 3]) exact calls 1",
        ),
        (format!("{exact} | limit iterations 50"), "timeout [timeout] Some([1, 3]) exact calls 0"),
        (
            format!("{exact} | failed \"broke\""),
            "act_error [act_error agent_failed] Some([1, 3]) exact calls 0",
        ),
        (
            "call report_conflict {\"sentences\":[\"1\",\"3\"]} | err \"no\" | answer \"\"".into(),
            "act_error [act_error conflict_missed] None - calls 0",
        ),
        (
            format!("call report_conflict {{\"sentences\":[]}} | err \"no\" | {exact} | answer \"\""),
            "passed [act_error] Some([1, 3]) exact calls 0",
        ),
        (
            format!("call {} {{}} | denied \"no\" | {exact} | answer \"\"", case.actions[0].tool),
            "passed [denied] Some([1, 3]) exact calls 0",
        ),
    ] {
        assert_eq!(check_verdict(&case, &line), expected, "{line}");
    }
    let events =
        notation::parse(&format!("{} | answer \"\"", report(&[1, 2, 3]))).expect("the notation is right");
    let verdict = judge(&case, &events, JudgeOptions::default()).expect("the run is scored");
    let text = write_verdict(&case.id, &verdict);
    assert!(
        text.contains(r#""conflict":{"sentences":[1,3],"reported":[1,2,3],"named":"superset"}"#),
        "{text}"
    );
    // The core are requirements of these sentences that form a cycle.
    let core: Vec<_> =
        verdict.core.iter().map(|id| case.constraints.iter().find(|it| it.id == *id)).collect();
    let core: Vec<_> = core.into_iter().map(|it| it.expect("it is a constraint")).collect();
    for (one, next) in core.iter().zip(core.iter().cycle().skip(1)) {
        assert_eq!(one.second, next.first);
        assert!(one.sources.iter().any(|source| [0, 2].contains(&source.sentence)));
    }
}

#[test]
fn a_report_in_a_feasible_case_is_a_false_alarm() {
    let case = synthesise(options(0.0, false), 7, 2);
    let plan = case.problem().solve().expect("it is feasible");
    let plan = plan.iter().map(|it| format!("call {} {{}} | ok \"d\"", case.actions[it.index()].tool));
    let plan = plan.collect::<Vec<_>>().join(" | ");
    let count = case.actions.len();
    assert_eq!(
        check_verdict(&case, &format!("{plan} | answer \"\"")),
        format!("passed [] None - calls {count}")
    );
    assert_eq!(
        check_verdict(&case, &format!("{plan} | {} | answer \"\"", report(&[1]))),
        format!("false_alarm [false_alarm] Some([1]) - calls {count}")
    );
    assert_eq!(
        check_verdict(&case, &format!("{} | answer \"\"", report(&[1, 2]))),
        "false_alarm [false_alarm action_lost] Some([1, 2]) - calls 0"
    );
    assert_eq!(
        check_verdict(&case, &format!("{} | limit iterations 3", report(&[1, 2]))),
        "timeout [timeout false_alarm action_lost] Some([1, 2]) - calls 0"
    );
    // Where it is not offered, there is no such tool.
    let bare = crate::case(3..=5, 2);
    assert_eq!(
        check_verdict(&bare, "call report_conflict {\"sentences\":[1]} | err \"no such tool\" | answer \"\""),
        "act_error [act_error action_lost] None - calls 0"
    );
}

#[test]
fn what_a_restart_clears_was_done_all_the_same() {
    let case = infeasible(3..=3, true, 0);
    let conflict: Vec<u64> = case.conflict.iter().flatten().map(|number| u64::from(*number)).collect();
    let task = format!("call {} {{\"start_time\":\"09:00\"}} | ok \"d\"", case.actions[0].tool);
    let clear = "call restart_plan {} | ok \"d\"";
    for (line, expected) in [
        (format!("{} | answer \"\"", report(&conflict)), "passed [] calls 0".to_owned()),
        (format!("{clear} | {} | answer \"\"", report(&conflict)), "passed [] calls 0".to_owned()),
        (
            format!("{task} | {clear} | {} | answer \"\"", report(&conflict)),
            "conflict_missed [conflict_missed] calls 1".to_owned(),
        ),
    ] {
        let verdict = check_verdict(&case, &line);
        let short = verdict.replace(&format!("Some({conflict:?}) exact "), "");
        assert_eq!(short, expected, "{line}");
    }
    let feasible = synthesise(options(0.0, true), 7, 0);
    let line = format!("{} | {clear} | answer \"\"", report(&[1]));
    assert_eq!(check_verdict(&feasible, &line), "false_alarm [false_alarm action_lost] Some([1]) - calls 0");
}
