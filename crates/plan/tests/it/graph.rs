//! Graphs of sub-tasks: what a manager writes, and what may run when.

mod drawings;
mod replies;
mod schedule;
mod twin;

use planproof_plan::graph::{SubTask, SubTaskGraph, WordedConstraint};

/// The executors of all tests.
const EXECUTORS: [&str; 3] = ["flights", "hotels", "writer"];

/// A sub-task of the executor `writer`, without constraints.
fn sub_task(id: &str, after: &[&str]) -> SubTask {
    SubTask {
        id: id.to_owned(),
        task: format!("do {id}"),
        executor: "writer".to_owned(),
        after: after.iter().map(|id| (*id).to_owned()).collect(),
        constraints: Vec::new(),
    }
}

/// A graph of such sub-tasks, written as `a; b: a; c: a b`.
fn graph(text: &str) -> SubTaskGraph {
    let sub_tasks = text.split(';').filter(|part| !part.trim().is_empty()).map(|part| {
        let (id, after) = part.split_once(':').unwrap_or((part, ""));
        sub_task(id.trim(), &after.split_whitespace().collect::<Vec<_>>())
    });
    SubTaskGraph { sub_tasks: sub_tasks.collect(), constraints: Vec::new() }
}

/// A graph as the paper's example of a journey has it: a place to stay depends on the flight.
fn journey() -> SubTaskGraph {
    let budget = WordedConstraint::in_words("all of it costs at most 900 dollars");
    SubTaskGraph {
        sub_tasks: vec![
            SubTask {
                executor: "flights".to_owned(),
                task: "Find flights to New York on 3 May.".to_owned(),
                ..sub_task("flight", &[])
            },
            SubTask {
                executor: "hotels".to_owned(),
                task: "Find hotels near the airport of arrival.".to_owned(),
                constraints: vec![WordedConstraint::in_words("two nights")],
                ..sub_task("hotel", &["flight"])
            },
            SubTask { task: "Write down the weather in May.".to_owned(), ..sub_task("weather", &[]) },
        ],
        constraints: vec![budget],
    }
}
