//! Executors that the manager composes from the tools of a task, instead of a person in a file.

use std::sync::Arc;

use planproof_model::Message;
use planproof_plan::team::crew::{ComposedExecutor, Crew, read_crew};
use planproof_plan::team::{Role, sections};
use planproof_trace::{EndReason, Event, EventKind};

use super::progress::to_json;
use super::{EMPTY_REPLY, Executor, GRAPH_TRIES_MAX, TeamAgent, actor, ask, failed, note, prompts};
use crate::RunContext;
use crate::asking::outside_of_instructions;

impl TeamAgent {
    /// The same team with executors that its manager composes for this task, or with the earlier ones if the run
    /// resumes. The agent of the team's first executor does their work.
    ///
    /// # Errors
    /// The end of the run, if the manager writes no usable executors.
    pub(super) async fn with_composed(&self, run: &RunContext<'_>) -> Result<Self, EndReason> {
        if let Some(crew) = composed_before(run.earlier) {
            return Ok(self.with_crew(crew));
        }
        let recorder = actor(run.recorder, Role::Manager.as_str());
        let tools = run.toolbox.tools();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        let prompt = self.prompts.compose(run.query, tools);
        let mut messages = vec![Message::User { text: prompt }];
        let mut faults = String::new();
        for _ in 0..GRAPH_TRIES_MAX {
            let reply = ask(&*self.models.manager, &messages, run, &recorder).await?;
            match read_crew(&outside_of_instructions(&reply, &messages), &names) {
                Ok(crew) => {
                    note(&recorder, sections::EXECUTORS, &to_json(&crew), "");
                    return Ok(self.with_crew(crew));
                }
                Err(found) => faults = found,
            }
            note(&recorder, sections::FAULTS, &faults, "");
            let text = if reply.trim().is_empty() { EMPTY_REPLY.to_owned() } else { reply };
            messages.push(Message::assistant(text, Vec::new()));
            messages.push(Message::User { text: prompts::mend_crew(&faults) });
        }
        Err(failed(Role::Manager, &format!("no executors after {GRAPH_TRIES_MAX} tries: {faults}")))
    }

    fn with_crew(&self, crew: Crew) -> Self {
        let Some(first) = self.executors.first() else { return self.clone() };
        let executor = |ComposedExecutor { name, about, prompt, tools }: ComposedExecutor| Executor {
            name,
            about,
            prompt,
            tools: Some(tools),
            agent: Arc::clone(&first.agent),
        };
        Self { executors: crew.executors.into_iter().map(executor).collect(), ..self.clone() }
    }
}

/// The executors that were composed before a run was cut off.
fn composed_before(events: &[Event]) -> Option<Crew> {
    events.iter().rev().find_map(|event| match &event.kind {
        EventKind::Section { state, text, .. } if state == sections::EXECUTORS => {
            serde_json::from_str(text).ok()
        }
        _ => None,
    })
}
