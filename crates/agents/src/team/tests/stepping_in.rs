//! A person who intervenes, and runs that resume where they were cut off.

use planproof_plan::team::review::{Review, ReviewDecision, decisions};

use super::*;

/// A person whose decisions come from a list, and who then approves.
#[derive(Debug)]
struct Person {
    decisions: Mutex<Vec<ReviewDecision>>,
    shown: Mutex<Vec<Review>>,
}

impl Reviewer for Person {
    fn decide<'a>(&'a self, review: &'a Review) -> BoxFuture<'a, ReviewDecision> {
        self.shown.lock().unwrap().push(review.clone());
        let mut decisions = self.decisions.lock().unwrap();
        let decision = if decisions.is_empty() { ReviewDecision::Approve } else { decisions.remove(0) };
        Box::pin(std::future::ready(decision))
    }
}

async fn reviewed(
    model: &Arc<Scripted>,
    when: ReviewWhen,
    decisions: Vec<ReviewDecision>,
) -> (Ran, Vec<Event>, Vec<Review>) {
    let person = Arc::new(Person { decisions: Mutex::new(decisions), shown: Mutex::default() });
    let reviewing = Reviewing { by: Arc::clone(&person) as Arc<dyn Reviewer>, when };
    let (ran, events) = run_with(model, RunLimits::default(), &[], Some(&reviewing)).await;
    let shown = std::mem::take(&mut *person.shown.lock().unwrap());
    (ran, events, shown)
}

fn chain() -> Arc<Scripted> {
    let three = graph(&[("a", &[]), ("b", &["a"]), ("c", &["b"])]);
    Scripted::new(&[
        (Role::Manager, &[&three]),
        (Role::Executor, &["Found it."]),
        (Role::Supervisor, &["Do it with that."]),
        (Role::Deliverer, &["done"]),
    ])
}

/// How often each executor was begun, in the order of the trace.
fn started(events: &[Event]) -> Vec<&str> {
    noted(events, sections::STARTED).into_iter().map(|(id, _)| id).collect()
}

#[tokio::test]
async fn a_person_edits_drops_and_reruns() {
    let edited = SubTask {
        id: "b".into(),
        task: "Do b by hand.".into(),
        executor: "worker".into(),
        after: vec!["a".into()],
        constraints: Vec::new(),
    };
    let decisions = vec![
        // Before anything has started.
        ReviewDecision::Drop { id: "c".into() },
        ReviewDecision::Drop { id: "x".into() },
        ReviewDecision::Approve,
        // After a.
        ReviewDecision::Rerun { id: "a".into() },
        ReviewDecision::Approve,
        // After a once more, and after b.
        ReviewDecision::Approve,
        ReviewDecision::Edit { sub_task: edited },
        ReviewDecision::Approve,
    ];
    let model = chain();
    let (ran, events, shown) = reviewed(&model, ReviewWhen::Each, decisions).await;
    assert_eq!(ran.end, EndReason::Answered { text: "done".into() });
    assert_eq!(started(&events), ["a", "a", "b", "b"]);
    assert_eq!(noted(&events, sections::UNDONE).iter().map(|(id, _)| *id).collect::<Vec<_>>(), ["a", "b"]);
    assert!(shown[2].refused.as_deref().unwrap().contains("there is no sub-task `x`"));
    assert_eq!(shown[1].graph.sub_tasks.len(), 2);
    // A person's changes are in the trace, under the person's own actor.
    let by_person: Vec<_> = events
        .iter()
        .filter(|event| event.actor.as_ref().is_some_and(|actor| actor.as_str() == "person"))
        .map(|event| match &event.kind {
            EventKind::Section { state, author: Author::User, note, .. } => (state.as_str(), note.as_str()),
            other => panic!("{other:?}"),
        })
        .collect();
    let approved = (decisions::APPROVED, "");
    assert_eq!(
        by_person,
        [
            (decisions::DROPPED, "c"),
            approved,
            (decisions::RERUN, "a"),
            approved,
            approved,
            (decisions::EDITED, "b"),
            approved,
            approved,
        ]
    );
    assert_eq!(planproof_plan::team::review::changes_by_person(&events), 3);
    // The supervisor was handed the edited text, and the deliverer the results of what is left.
    let asked = model.asked.lock().unwrap();
    assert!(asked.iter().any(|prompt| prompt.contains("Do b by hand.")));
    assert!(!asked.last().unwrap().contains("## c"));
    let drawing = planproof_plan::team::graph_of_run(&events).unwrap();
    insta::assert_snapshot!(drawing.to_lines(), @r"
    ✓ a (worker, finished)
      Do a.
      ✓ b ← a (worker, finished)
        Do b by hand.
    ");
}

#[tokio::test]
async fn a_person_is_asked_once_where_that_is_wanted() {
    let (ran, events, shown) = reviewed(&chain(), ReviewWhen::Planned, Vec::new()).await;
    assert_eq!((ran.end, shown.len()), (EndReason::Answered { text: "done".into() }, 1));
    assert_eq!(started(&events), ["a", "b", "c"]);
    // A person who never approves does not keep the run alive for ever.
    let for_ever = vec![ReviewDecision::Rerun { id: "a".into() }; REVISIONS_MAX as usize + 9];
    let (ran, ..) = reviewed(&chain(), ReviewWhen::Planned, for_ever).await;
    assert!(matches!(ran.end, EndReason::Unscored { .. }), "{ran:?}");
}

/// A run that a person stopped resumes with what was finished, and with what the person changes then.
#[tokio::test]
async fn a_stopped_run_resumes() {
    let stop = vec![ReviewDecision::Approve, ReviewDecision::Stop];
    let (ran, before, _) = reviewed(&chain(), ReviewWhen::Each, stop).await;
    assert!(ran.was_stopped);
    assert_eq!(started(&before), ["a"]);
    let model = chain();
    let person = Person {
        decisions: Mutex::new(vec![ReviewDecision::Drop { id: "b".into() }]),
        shown: Mutex::default(),
    };
    let reviewing = Reviewing { by: Arc::new(person), when: ReviewWhen::Each };
    let (ran, after) = run_with(&model, RunLimits::default(), &before, Some(&reviewing)).await;
    assert_eq!(ran.end, EndReason::Answered { text: "done".into() });
    assert_eq!(started(&after), ["a", "c"]);
    let begun_again = noted(&after, sections::RESULT).iter().filter(|(id, _)| *id == "a").count();
    assert_eq!(begun_again, 1);
}

/// Wherever a run is cut off, it comes to the same trace, and no sub-task that has ended is executed again.
#[tokio::test]
async fn a_run_resumes_wherever_it_was_cut_off() {
    let five = graph(&[("a", &[]), ("b", &["a"]), ("c", &[]), ("d", &["b", "c"]), ("e", &[])]);
    let model = || {
        Scripted::new(&[
            // A graph that is not in order comes first.
            (Role::Manager, &["no JSON", &five]),
            (Role::Executor, &["Found it."]),
            (Role::Supervisor, &["Do it with that."]),
            (Role::Deliverer, &["done"]),
        ])
    };
    // One after the other, as in a simulation.
    let one_by_one = Reviewing {
        by: Arc::new(Person { decisions: Mutex::default(), shown: Mutex::default() }),
        when: ReviewWhen::Each,
    };
    let (_, whole) = run_with(&model(), RunLimits::default(), &[], Some(&one_by_one)).await;
    let without_person = |events: &[Event]| -> Vec<EventKind> {
        let is_person = |event: &&Event| event.actor.as_ref().is_some_and(|actor| actor.as_str() == "person");
        events.iter().filter(|event| !is_person(event)).map(|event| event.kind.clone()).collect()
    };
    for end in 0..=whole.len() {
        let earlier = &whole[..end];
        let model = model();
        let (ran, resumed) = run_with(&model, RunLimits::default(), earlier, Some(&one_by_one)).await;
        assert_eq!(ran.end, EndReason::Answered { text: "done".into() }, "{end}");
        assert_eq!(without_person(&resumed), without_person(&whole), "cut off after {end} events");
        let times: Vec<u64> = resumed.iter().map(|event| event.at).collect();
        assert!(times.is_sorted(), "{times:?}");
        let ended = noted(earlier, sections::RESULT).len();
        let executed = model.given.lock().unwrap().get(&Role::Executor).copied().unwrap_or(0);
        assert_eq!(executed, 5 - ended, "cut off after {end} events");
    }
}
