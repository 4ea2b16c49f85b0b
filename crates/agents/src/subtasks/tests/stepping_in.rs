//! A person who is asked before anything is carried out.

use planproof_plan::graph::SubTask;
use planproof_plan::team::review::{Review, ReviewDecision, decisions};

use super::*;
use crate::team::{ReviewWhen, Reviewer};

/// Decides by a list, and keeps what was shown.
#[derive(Debug, Default)]
struct Person {
    decisions: Mutex<Vec<ReviewDecision>>,
    shown: Mutex<Vec<Review>>,
}

impl Reviewer for Person {
    fn decide<'a>(&'a self, review: &'a Review) -> BoxFuture<'a, ReviewDecision> {
        Box::pin(async move {
            self.shown.lock().unwrap().push(review.clone());
            let mut left = self.decisions.lock().unwrap();
            if left.is_empty() { ReviewDecision::Approve } else { left.remove(0) }
        })
    }
}

fn person(when: ReviewWhen, decisions: Vec<ReviewDecision>) -> (Arc<Person>, Reviewing) {
    let person = Arc::new(Person { decisions: Mutex::new(decisions), shown: Mutex::default() });
    let by: Arc<dyn Reviewer> = Arc::clone(&person) as Arc<dyn Reviewer>;
    (person, Reviewing { by, when })
}

fn edit(id: &str, tool: &str, text: &str) -> ReviewDecision {
    let after = match id {
        "1" => Vec::new(),
        _ => vec![(id.parse::<usize>().unwrap() - 1).to_string()],
    };
    let (id, task, executor) = (id.to_owned(), text.to_owned(), tool.to_owned());
    ReviewDecision::Edit { sub_task: SubTask { id, task, executor, after, constraints: Vec::new() } }
}

fn at_once() -> Arc<Scripted> {
    Scripted::new(&[
        (Asking::Plan, &[TWO]),
        (Asking::Call, &[r#"{"number": 4}"#, r#"{"text": "eight"}"#, r#"{"number": 5}"#]),
        (Asking::Summary, &["x"]),
    ])
}

#[tokio::test]
async fn a_plan_is_changed_before_it_runs() {
    let decisions = vec![
        edit("1", "halve", "Halve 4"),
        ReviewDecision::Drop { id: "3".to_owned() },
        edit("1", "double", "Double 9"),
        ReviewDecision::Drop { id: "2".to_owned() },
    ];
    let (person, reviewing) = person(ReviewWhen::Planned, decisions);
    let model = at_once();
    let (ran, events) = run_with(Division::AtOnce, &model, RunLimits::default(), Some(&reviewing)).await;
    assert_eq!(ran.end, answered("x"));
    assert_eq!(pairs(&events), [r#"{"double":"Double 9"}"#]);
    assert_eq!(model.asked_last(Asking::Call).len(), 1);
    let shown = person.shown.lock().unwrap();
    assert_eq!(shown.len(), 5);
    assert!(shown[1].refused.as_ref().unwrap().contains("there is no tool `halve`"));
    assert!(shown[2].refused.as_ref().unwrap().contains("there is no sub-task `3`"));
    assert_eq!(shown[4].graph.sub_tasks.len(), 1);
    for state in [decisions::EDITED, decisions::DROPPED, decisions::APPROVED] {
        assert_eq!(noted(&events, state).len(), 1, "{state}");
    }
}

#[tokio::test]
async fn a_sub_task_runs_again_with_all_that_came_after_it() {
    let decisions = vec![
        ReviewDecision::Approve,
        ReviewDecision::Approve,
        ReviewDecision::Rerun { id: "1".to_owned() },
        ReviewDecision::Approve,
    ];
    let (person, reviewing) = person(ReviewWhen::Each, decisions);
    let model = at_once();
    let (ran, events) = run_with(Division::AtOnce, &model, RunLimits::default(), Some(&reviewing)).await;
    assert_eq!(ran.end, answered("x"));
    let calls = events.iter().filter(|event| matches!(event.kind, EventKind::Call(_))).count();
    // The second call of the first sub-task is written with the wrong argument, so that it is made again.
    assert!(calls >= 4, "{calls}");
    assert_eq!(pairs(&events).len(), 2);
    let shown = person.shown.lock().unwrap();
    let ended = ReviewReason::Ended { sub_task: "2".to_owned() };
    assert!(shown.iter().filter(|review| review.moment == ended).count() >= 2);
}

#[tokio::test]
async fn each_next_sub_task_is_shown_before_it_runs() {
    let decisions = vec![
        ReviewDecision::Drop { id: "1".to_owned() },
        ReviewDecision::Approve,
        ReviewDecision::Approve,
        ReviewDecision::Stop,
    ];
    let (person, reviewing) = person(ReviewWhen::Planned, decisions);
    let model = Scripted::new(&[
        (
            Asking::Next,
            &[r#"{"double": "Double 4"}"#, r#"{"double": "Double 8"}"#, r#"{"double": "Double 9"}"#],
        ),
        (Asking::Call, &[r#"{"number": 8}"#]),
    ]);
    let (ran, events) = run_with(Division::OneByOne, &model, RunLimits::default(), Some(&reviewing)).await;
    assert!(ran.was_stopped);
    assert_eq!(pairs(&events), [r#"{"double":"Double 8"}"#]);
    assert!(model.asked_last(Asking::Next)[1].contains("taken this sub-task out"));
    assert_eq!(person.shown.lock().unwrap().last().unwrap().graph.sub_tasks.len(), 2);
}
