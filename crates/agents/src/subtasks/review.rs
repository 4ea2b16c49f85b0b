//! A person who sees a model's plan before it is executed, and may change it. The person is asked through the same
//! trait as for a team, and sees the sub-tasks as a graph in which each comes after the previous one.

use planproof_model::run_time::uncharged;
use planproof_plan::graph::SubTask;
use planproof_plan::limits::TASK_CHARACTERS_MAX;
use planproof_plan::subtasks::Pair;
use planproof_plan::team::review::{PERSON, Review, ReviewDecision, ReviewReason, decisions};
use planproof_trace::{Author, EndReason};

use super::conversation::{Desk, noted};
use super::steps::Steps;
use crate::stop::Stop;
use crate::team::{REVISIONS_MAX, ReviewWhen};

/// Asks the reviewer, if there is one, until the agent may continue.
pub(super) async fn ask(desk: &Desk<'_>, steps: &mut Steps, moment: &ReviewReason) -> Result<(), Stop> {
    let run = desk.run();
    let Some(reviewing) = run.reviewing else { return Ok(()) };
    if reviewing.when == ReviewWhen::Planned && *moment != ReviewReason::Planned {
        return Ok(());
    }
    let tools: Vec<String> = run.toolbox.tools().iter().map(|tool| tool.name.clone()).collect();
    let person = run.recorder.as_actor(PERSON).unwrap_or_else(|_| run.recorder.clone());
    let mut refused = None;
    // Refused changes count, too: a reviewer that repeats one would never end.
    for _ in 0..REVISIONS_MAX {
        let review = Review {
            task: run.query.to_owned(),
            moment: moment.clone(),
            graph: steps.graph(),
            states: steps.states(),
            results: steps.by_id(),
            executors: tools.clone(),
            refused: refused.take(),
        };
        let said = |state: &str, text: &str, about: &str| noted(&person, Author::User, state, text, about);
        match uncharged(reviewing.by.decide(&review)).await {
            ReviewDecision::Approve => {
                said(decisions::APPROVED, "", "");
                return Ok(());
            }
            ReviewDecision::Stop => return Err(Stop::ByPerson),
            ReviewDecision::Edit { sub_task } => match edit(steps, &sub_task, &tools) {
                Ok(()) => {
                    let text = serde_json::to_string(&sub_task).unwrap_or_default();
                    said(decisions::EDITED, &text, &sub_task.id);
                }
                Err(why) => refused = Some(why),
            },
            ReviewDecision::Drop { id } => match place(steps, &id) {
                Ok(place) => {
                    steps.remove(place);
                    said(decisions::DROPPED, "", &id);
                }
                Err(why) => refused = Some(why),
            },
            ReviewDecision::Rerun { id } => match place(steps, &id) {
                Ok(place) => {
                    steps.undo(place);
                    said(decisions::RERUN, "", &id);
                }
                Err(why) => refused = Some(why),
            },
        }
    }
    let reason = format!("a person changed the work more than {REVISIONS_MAX} times");
    Err(EndReason::Unscored { reason }.into())
}

/// The index of the sub-task with an id, which is its number.
fn place(steps: &Steps, id: &str) -> Result<usize, String> {
    let number = id.parse::<usize>().ok().filter(|number| (1..=steps.len()).contains(number));
    number.map(|number| number - 1).ok_or_else(|| format!("there is no sub-task `{id}`"))
}

fn edit(steps: &mut Steps, sub_task: &SubTask, tools: &[String]) -> Result<(), String> {
    let SubTask { id, task, executor, .. } = sub_task;
    let place = place(steps, id)?;
    if !tools.contains(executor) {
        return Err(format!("there is no tool `{executor}`; there are {}", tools.join(", ")));
    }
    if task.trim().is_empty() || task.chars().nth(TASK_CHARACTERS_MAX).is_some() {
        return Err(format!("the text of a sub-task has 1 to {TASK_CHARACTERS_MAX} characters"));
    }
    let before = &steps.graph().sub_tasks[place];
    if before.after != sub_task.after || !sub_task.constraints.is_empty() {
        return Err(
            "these sub-tasks run one after the other: leave `after` and `constraints` as they are".to_owned()
        );
    }
    steps.replace(place, Pair { tool: executor.clone(), text: task.trim().to_owned() });
    Ok(())
}
