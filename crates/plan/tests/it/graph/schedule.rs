//! What may run when, on graphs small enough to see.

use planproof_plan::graph::{RevisionError, Schedule, ScheduleError, SubTaskState};

use super::{EXECUTORS, graph, sub_task};

fn schedule(text: &str) -> Schedule {
    Schedule::new(graph(text)).unwrap()
}

/// The states, by their first letters: w, r, R (running), f, F (failed), b.
fn states(schedule: &Schedule) -> String {
    let letter = |(sub_task, state): (&planproof_plan::graph::SubTask, SubTaskState)| {
        let letter = match state {
            SubTaskState::Running => "R",
            SubTaskState::Failed => "F",
            state => &state.as_str()[..1],
        };
        format!("{}{letter}", sub_task.id)
    };
    schedule.states().map(letter).collect::<Vec<_>>().join(" ")
}

fn ready(schedule: &Schedule) -> Vec<&str> {
    schedule.ready().map(|sub_task| sub_task.id.as_str()).collect()
}

fn run(schedule: &mut Schedule, ids: &str) {
    for id in ids.split_whitespace() {
        schedule.start(id).unwrap();
        schedule.finish(id).unwrap();
    }
}

#[test]
fn a_sub_task_runs_once_all_that_it_needs_has_finished() {
    let mut schedule = schedule("d: b c; b: a; a; c: a");
    assert_eq!(ready(&schedule), ["a"]);
    schedule.start("a").unwrap();
    assert!(ready(&schedule).is_empty() && !schedule.is_over());
    // In the order of the graph, not in that of the reports.
    assert_eq!(schedule.finish("a"), Ok(vec!["b".to_owned(), "c".to_owned()]));
    assert_eq!(ready(&schedule), ["b", "c"]);
    schedule.start("c").unwrap();
    schedule.start("b").unwrap();
    assert_eq!(schedule.finish("c"), Ok(Vec::new()));
    assert_eq!(states(&schedule), "dw bR af cf");
    assert_eq!(schedule.finish("b"), Ok(vec!["d".to_owned()]));
    run(&mut schedule, "d");
    assert!(schedule.is_over());
    assert_eq!(schedule.count(SubTaskState::Finished), 4);
}

#[test]
fn a_failure_blocks_what_needs_it_and_nothing_else() {
    let mut schedule = schedule("a; b: a; c: b; d; e: d; f: c e");
    schedule.start("a").unwrap();
    schedule.start("d").unwrap();
    assert_eq!(schedule.fail("a"), Ok(vec!["b".to_owned(), "c".to_owned(), "f".to_owned()]));
    assert_eq!(schedule.finish("d"), Ok(vec!["e".to_owned()]));
    assert_eq!(states(&schedule), "aF bb cb df er fb");
    let causes: Vec<_> = schedule.blocked_by("f").iter().map(|it| it.id.as_str()).collect();
    assert_eq!(causes, ["a"]);
    assert!(schedule.blocked_by("e").is_empty() && schedule.blocked_by("x").is_empty());
    schedule.start("e").unwrap();
    // What needs both stays blocked by the first, and is not reported again.
    assert_eq!(schedule.fail("e"), Ok(Vec::new()));
    assert_eq!(schedule.blocked_by("f").len(), 2);
    assert!(schedule.is_over());
}

#[test]
fn neighbours_are_the_direct_ones() {
    let schedule = schedule("a; b: a; c: b a b; d: c");
    let ids =
        |of: Vec<&planproof_plan::graph::SubTask>| of.iter().map(|it| it.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(schedule.before("c").collect()), ["a", "b"]);
    assert_eq!(ids(schedule.before("d").collect()), ["c"]);
    assert_eq!(ids(schedule.next("a").collect()), ["b", "c"]);
    assert_eq!(schedule.before("x").count() + schedule.before("a").count(), 0);
}

#[test]
fn reports_that_do_not_fit_are_refused() {
    let mut schedule = schedule("first; second: first");
    let other = |id: &str, state, needed, verb| {
        Err::<(), _>(ScheduleError::OtherState { id: id.to_owned(), state, needed, verb })
    };
    let (waiting, ready, running) = (SubTaskState::Waiting, SubTaskState::Ready, SubTaskState::Running);
    assert_eq!(schedule.start("second"), other("second", waiting, ready, "start"));
    assert_eq!(schedule.finish("first").map(drop), other("first", ready, running, "finish"));
    assert_eq!(schedule.fail("first").map(drop), other("first", ready, running, "fail"));
    assert_eq!(schedule.put_back("first"), other("first", ready, running, "be put back"));
    schedule.start("first").unwrap();
    assert_eq!(
        schedule.start("first").unwrap_err().to_string(),
        "sub-task `first` is running, and only one that is ready can start"
    );
    assert_eq!(
        schedule.start("frist").unwrap_err().to_string(),
        "there is no sub-task `frist`, did you mean `first`?"
    );
    assert_eq!(schedule.drop_sub_task("other").unwrap_err().to_string(), "there is no sub-task `other`");
    schedule.put_back("first").unwrap();
    assert_eq!(states(&schedule), "firstr secondw");
}

#[test]
fn a_graph_without_an_order_has_no_schedule() {
    for (text, fault) in [
        ("a: b; b: a", "wait for one another: `a` → `b` → `a`"),
        ("a; a", "the same id"),
        ("a: x", "no such sub-task"),
        ("a: a", "after itself"),
    ] {
        let faults = Schedule::new(graph(text)).unwrap_err().to_string();
        assert!(faults.contains(fault), "{faults}");
    }
    assert!(schedule("").is_over());
}

#[test]
fn what_runs_again_has_all_behind_it_run_again() {
    let mut schedule = schedule("a; b: a; c: b; d: a; e: c d");
    run(&mut schedule, "a b d");
    schedule.start("c").unwrap();
    let revision = schedule.rerun("b").unwrap();
    assert_eq!((revision.undone, revision.interrupted), (vec!["b".to_owned()], vec!["c".to_owned()]));
    assert_eq!(states(&schedule), "af br cw df ew");
    // What was stopped cannot be reported any more.
    assert!(schedule.finish("c").is_err());
    run(&mut schedule, "b");
    schedule.start("c").unwrap();
    schedule.fail("c").unwrap();
    assert_eq!(states(&schedule), "af bf cF df eb");
    assert_eq!(schedule.rerun("c").unwrap().undone, ["c"]);
    assert_eq!(states(&schedule), "af bf cr df ew");
    assert_eq!(schedule.rerun("e").unwrap(), Default::default());
}

#[test]
fn what_is_dropped_passes_on_what_it_needs() {
    let mut schedule = schedule("a; z; b: a z; c: b; d: z b c");
    run(&mut schedule, "a z b c d");
    let revision = schedule.drop_sub_task("b").unwrap();
    assert_eq!(revision.undone, ["c", "d"]);
    assert_eq!(schedule.graph().sub_task("c").unwrap().after, ["a", "z"]);
    assert_eq!(schedule.graph().sub_task("d").unwrap().after, ["z", "a", "c"]);
    assert_eq!(states(&schedule), "af zf cr dw");
    assert_eq!(schedule.dropped(), [sub_task("b", &["a", "z"])]);
    // A failed one that is dropped blocks nothing any more.
    schedule.start("c").unwrap();
    schedule.fail("c").unwrap();
    assert_eq!(states(&schedule), "af zf cF db");
    schedule.drop_sub_task("c").unwrap();
    assert_eq!(states(&schedule), "af zf dr");
    for id in ["a", "z", "d"] {
        schedule.drop_sub_task(id).unwrap();
    }
    assert!(schedule.is_over() && schedule.graph().sub_tasks.is_empty());
}

#[test]
fn an_edited_sub_task_runs_again_if_the_graph_stays_in_order() {
    let mut schedule = schedule("a; b: a; c: b");
    run(&mut schedule, "a b c");
    let before = states(&schedule);
    for (edited, fault) in [
        (sub_task("a", &["c"]), "wait for one another"),
        (sub_task("b", &["x"]), "no such sub-task"),
        (planproof_plan::graph::SubTask { executor: "cook".to_owned(), ..sub_task("b", &[]) }, "no executor"),
        (planproof_plan::graph::SubTask { task: String::new(), ..sub_task("b", &[]) }, "empty"),
    ] {
        let error = schedule.edit(edited, &EXECUTORS).unwrap_err();
        assert!(matches!(&error, RevisionError::Faults(_)) && error.to_string().contains(fault), "{error}");
        assert_eq!(states(&schedule), before);
    }
    assert!(matches!(schedule.edit(sub_task("x", &[]), &EXECUTORS), Err(RevisionError::Unknown(_))));
    let edited = planproof_plan::graph::SubTask { task: "do more".to_owned(), ..sub_task("b", &[]) };
    assert_eq!(schedule.edit(edited.clone(), &EXECUTORS).unwrap().undone, ["b", "c"]);
    assert_eq!(schedule.graph().sub_task("b"), Some(&edited));
    assert_eq!(states(&schedule), "af br cw");
}

#[test]
fn the_longest_path_is_the_one_that_weighs_most() {
    let graph = graph("a; b: a; c: a; d: b c; e");
    let weigh = |weights: [u64; 5]| {
        let path = graph.longest_path(|it| weights[usize::from(it.id.as_bytes()[0] - b'a')]);
        (path.ids.join(""), path.weight)
    };
    assert_eq!(weigh([1; 5]), ("abd".to_owned(), 3));
    assert_eq!(weigh([1, 1, 2, 1, 3]), ("acd".to_owned(), 4));
    assert_eq!(weigh([1, 1, 2, 1, 5]), ("e".to_owned(), 5));
    assert_eq!(weigh([u64::MAX, 1, 1, 1, 1]).1, u64::MAX);
    assert_eq!(super::graph("").longest_path(|_| 1), Default::default());
    let layers: Vec<Vec<&str>> =
        graph.layers().iter().map(|layer| layer.iter().map(|it| it.id.as_str()).collect()).collect();
    assert_eq!(layers, [vec!["a", "e"], vec!["b", "c"], vec!["d"]]);
}
