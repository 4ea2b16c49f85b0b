//! A deliverer that has a solver choose: it writes down candidates and constraints, the solver chooses provably or
//! reports which constraints cannot hold together, and the deliverer makes the answer from that. (PMC, section 4.4,
//! hopes that the model chooses well; this is ours.)

use planproof_constraint::choice::{
    ChoiceAnswer, ChoiceTask, Faults, SolvedChoice, UndecidedChoice, read_task,
};
use planproof_model::Message;
use planproof_plan::team::{Role, sections};
use planproof_trace::{EndReason, Recorder};

use super::progress::Progress;
use super::{EMPTY_REPLY, GRAPH_TRIES_MAX, TeamAgent, actor, ask, failed, note, prompts, results_of};
use crate::RunContext;
use crate::asking::outside_of_instructions;

/// Most characters of a chosen candidate in a proof.
const CANDIDATE_CHARACTERS_MAX: usize = 1_000;

impl TeamAgent {
    /// The answer, with the solver's proof before it.
    pub(super) async fn solve(&self, run: &RunContext<'_>, progress: &Progress) -> EndReason {
        match self.solved(run, progress).await {
            Ok(text) => EndReason::Answered { text },
            Err(end) => end,
        }
    }

    async fn solved(&self, run: &RunContext<'_>, progress: &Progress) -> Result<String, EndReason> {
        let recorder = actor(run.recorder, Role::Deliverer.as_str());
        let graph = progress.schedule.graph();
        let results = results_of(graph.sub_tasks.iter(), &progress.ends);
        let prompt = self.prompts.deliverer(run.query, &graph.constraints, &results);
        let mut messages = vec![Message::User { text: prompt }];
        let proof = self.chosen(run, &recorder, &mut messages).await?;
        note(&recorder, sections::PROOF, &proof, "");
        messages.push(Message::User { text: prompts::of_proof(run.query, &proof) });
        let text = ask(&*self.models.deliverer, &messages, run, &recorder).await?;
        match text.trim().is_empty() {
            true => Err(failed(Role::Deliverer, "its answer is empty")),
            // The last lines are left to the answer, because a task may prescribe its form.
            false => Ok(format!("{proof}\n\n{text}")),
        }
    }

    /// The solver's result for the candidates and constraints that the deliverer writes down. Their faults are sent
    /// back to the deliverer.
    async fn chosen(
        &self,
        run: &RunContext<'_>,
        recorder: &Recorder,
        messages: &mut Vec<Message>,
    ) -> Result<String, EndReason> {
        let mut wrong = String::new();
        for _ in 0..GRAPH_TRIES_MAX {
            let reply = ask(&*self.models.deliverer, messages, run, recorder).await?;
            let outcome = read_task(&outside_of_instructions(&reply, messages)).map(choose);
            let text = if reply.trim().is_empty() { EMPTY_REPLY.to_owned() } else { reply };
            messages.push(Message::assistant(text, Vec::new()));
            let faults: Faults = match outcome {
                Ok(choosing) => match choosing.await {
                    Ok(proof) => return Ok(proof),
                    Err(faults) => faults,
                },
                Err(faults) => faults,
            };
            wrong = faults.to_string();
            note(recorder, sections::FAULTS, &wrong, "");
            messages.push(Message::User { text: prompts::mend_problem(&wrong) });
        }
        Err(failed(
            Role::Deliverer,
            &format!("nothing that the solver understands after {GRAPH_TRIES_MAX} tries: {wrong}"),
        ))
    }
}

/// Chooses, on a thread of its own because that may take seconds, and puts the result into words.
async fn choose(task: ChoiceTask) -> Result<String, Faults> {
    let chosen = tokio::task::spawn_blocking(move || in_words(&task));
    // The closure does not panic, and is not dropped before the run.
    chosen.await.unwrap_or_else(|error| Ok(format!("The solver could not decide: {error}.")))
}

/// The solver's words about a problem: the choice with the satisfied constraints, or the conflict.
fn in_words(task: &ChoiceTask) -> Result<String, Faults> {
    Ok(match task.problem.solve(&task.objective)? {
        ChoiceAnswer::Solved(SolvedChoice { selection, cost, .. }) => {
            let mut lines = vec!["The solver has chosen, and proved that every constraint holds:".to_owned()];
            for (slot, chosen) in task.problem.slots().iter().zip(&selection.chosen) {
                let what = match chosen.and_then(|place| slot.candidates.get(place)) {
                    Some(record) => cut(&record.to_string()),
                    None => "nothing".to_owned(),
                };
                lines.push(format!("- {}: {what}", slot.name));
            }
            if let Some(cost) = cost {
                lines.push(format!("The objective comes to {cost}, and no choice is better."));
            }
            lines.extend(task.problem.check(&selection)?.into_iter().map(|verdict| verdict.words));
            lines.join("\n")
        }
        ChoiceAnswer::Conflict(conflict) => format!(
            "The solver has proved that there is no choice that meets every constraint. {}",
            conflict.words
        ),
        ChoiceAnswer::Undecided(UndecidedChoice { best, .. }) => {
            let found = match best {
                Some((selection, _)) => {
                    let place = |(slot, chosen): (&planproof_constraint::choice::Slot, &Option<usize>)| {
                        let record = chosen.and_then(|place| slot.candidates.get(place))?;
                        Some(format!("- {}: {}", slot.name, cut(&record.to_string())))
                    };
                    let slots = task.problem.slots().iter().zip(&selection.chosen);
                    let lines: Vec<String> = slots.filter_map(place).collect();
                    format!(
                        "It found a choice that meets every constraint; there may be a better one:\n{}",
                        lines.join("\n")
                    )
                }
                None => "It found no choice so far that meets every constraint.".to_owned(),
            };
            format!("The solver has not come to an end within its limits. {found}")
        }
    })
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(CANDIDATE_CHARACTERS_MAX) {
        Some((end, _)) => format!("{} ...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(problem: &str) -> String {
        in_words(&read_task(problem).unwrap()).unwrap()
    }

    #[test]
    fn a_choice_is_proved() {
        let text = words(
            r#"{"slots": {"flight": [{"price": 320}, {"price": 180}]},
                "constraints": [{"id": "b", "text": "at most 200", "kind": "sum", "terms": ["flight.price"], "op": "<=",
                                 "bound": 200}],
                "objective": {"minimise": ["flight.price"]}}"#,
        );
        insta::assert_snapshot!(text, @r#"
        The solver has chosen, and proved that every constraint holds:
        - flight: price 180
        The objective comes to 180, and no choice is better.
        flight.price is 180, at most 200 (b: "at most 200").
        "#);
    }

    #[test]
    fn a_conflict_is_said_in_the_words_of_the_task() {
        let text = words(
            r#"{"slots": {"flight": [{"price": 320}, {"price": 180}]},
                "constraints": [{"id": "b", "text": "at most 100 dollars", "kind": "sum", "terms": ["flight.price"],
                                 "op": "<=", "bound": 100}]}"#,
        );
        insta::assert_snapshot!(
            text,
            @r#"The solver has proved that there is no choice that meets every constraint. No choice meets this: b: "at most 100 dollars". None of the 2 candidates of flight meets it."#
        );
    }
}
