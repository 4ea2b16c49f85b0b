//! What a case offers to those who test agents with it.

use std::sync::Arc;

use planproof_suite::{
    Board, Card, Case, CaseError, EventNote, Explanation, Gold, GoldCall, Toolbox, Unscored, Verdict,
};
use planproof_tools::FaultyTools;
use planproof_trace::Event;
use planproof_trace::faults::ToolFaults;

use crate::case::Scenario;
use crate::line::CaseLine;
use crate::world::World;
use crate::{agents, board, explain, judge};

impl Case for Scenario {
    fn card(&self) -> &Card {
        &self.card
    }

    fn prompt(&self) -> &str {
        &self.prompt
    }

    fn to_line(&self) -> String {
        // Everything in it came from JSON.
        serde_json::to_string(&self.line).unwrap_or_default()
    }

    fn later(&self) -> &[String] {
        &self.line.turns
    }

    fn toolbox(&self) -> Result<Arc<dyn Toolbox>, CaseError> {
        let world = Arc::new(World::new(&self.tools, self.beginning.clone()));
        Ok(match &self.line.faults {
            None => world,
            Some(faults) => Arc::new(FaultyTools::new(world, faults.clone())),
        })
    }

    /// Tools that have shares of their own in the file keep them.
    fn with_faults(&self, faults: &ToolFaults) -> Option<Result<Arc<dyn Case>, CaseError>> {
        let mut faults = faults.clone();
        faults.tools.extend(self.line.faults.iter().flat_map(|own| own.tools.clone()));
        let faults = (!faults.is_nothing()).then_some(faults);
        let case = Self::new(CaseLine { faults, ..self.line.clone() });
        Some(case.map(|case| -> Arc<dyn Case> { Arc::new(case) }))
    }

    fn calls_needed(&self) -> Option<u32> {
        let calls = self.right_calls()?.len();
        u32::try_from(calls).ok()
    }

    fn judge(&self, events: &[Event]) -> Result<Verdict, Unscored> {
        judge::judge(self, events)
    }

    fn explain(&self, verdict: &Verdict) -> Explanation {
        explain::explain(self, verdict)
    }

    fn notes(&self, verdict: &Verdict, events: &[Event]) -> Option<Vec<EventNote>> {
        explain::notes(verdict, events)
    }

    fn board(&self, events: &[Event]) -> Result<Board, &'static str> {
        board::board(self, events)
    }

    fn essence(&self, verdict: &Verdict) -> String {
        explain::essence(verdict)
    }

    fn target(&self) -> String {
        let right = self.right_calls().unwrap_or_default();
        right.iter().map(|call| call.tool.as_str()).collect::<Vec<_>>().join(", ")
    }

    fn identity(&self) -> String {
        match self.line.drawn {
            // Its number, and what it was drawn with, say only where it comes from.
            Some(_) => {
                let mut line = CaseLine { id: String::new(), ..self.line.clone() };
                line.drawn.iter_mut().for_each(|drawn| drawn.rules_without_case = 0);
                serde_json::to_string(&line).unwrap_or_default()
            }
            None => self.to_line(),
        }
    }

    fn can_be_played(&self, agent: &str) -> Result<(), CaseError> {
        agents::must_play(self, agent)
    }

    fn act(&self, agent: &str, _seed: u64) -> Option<Result<Gold, CaseError>> {
        agents::act(self, agent)
    }

    fn gold(&self) -> Option<Gold> {
        let calls = self.right_calls()?.iter().map(|call| GoldCall {
            tool: call.tool.clone(),
            arguments: call.arguments.as_object().cloned().unwrap_or_default(),
        });
        let turns = self.calls_before_messages();
        Some(Gold { calls: calls.collect(), answer: "Done.".to_owned(), turns, ..Gold::default() })
    }
}
