//! One case as the engine sees it.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use planproof_constraint::Order;
use planproof_suite as suite;
use planproof_suite::{
    Card, CaseError, EventNote, Explanation, Gold, Guard, Needed, Score, Scored, Toolbox, Unscored, Verdict,
};
use planproof_synth::file::{VerdictFileError, read_verdict, write_case, write_verdict};
use planproof_synth::{CaseTool, Flag, JudgeOptions, Naming, OneLook, PlanningCase, Rule, judge};
use planproof_tools::{FaultyTools, SchemaCache};
use planproof_trace::Event;
use planproof_trace::faults::{FaultShares, TRANSIENTS_IN_ROW_MAX, ToolFaults};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::classes::class_of;
use crate::guard::{GuardState, OrderGuard};
use crate::infeasible::{ACTED, NAMED, naming_value};
use crate::{answer, board, cells, explanation, identity, notes, phrasing, tools};

/// The bit of [`Card::marks`] of cases in which the agent can report a conflict, which are all cases of a campaign
/// with infeasible ones.
pub const OFFERS_REPORT: u32 = 1;

/// The bit of [`Card::marks`] of infeasible cases in which every sentence belongs to the conflict.
pub const CONFLICT_IS_ALL: u32 = 2;

/// The bit of [`Card::marks`] of cases in which one tool takes the output of another.
pub const HAS_FLOWS: u32 = 4;

/// The bit of [`Card::marks`] of cases whose tools fail.
pub(crate) const HAS_FAULTS: u32 = 8;

/// The bit of [`Card::marks`] of cases whose text arrives in several messages.
pub(crate) const HAS_TURNS: u32 = 16;

/// A case of the suite of orders.
#[derive(Debug)]
pub struct OrderCase {
    case: Arc<PlanningCase>,
    options: JudgeOptions,
    schemas: Arc<SchemaCache>,
    card: Card,
    /// Made when the first run fails.
    counts_for: OnceLock<phrasing::CountsFor>,
}

impl OrderCase {
    pub(crate) fn new(case: PlanningCase, options: JudgeOptions, schemas: Arc<SchemaCache>) -> Self {
        let card = card_of(&case);
        Self { case: Arc::new(case), options, schemas, card, counts_for: OnceLock::new() }
    }

    /// The case itself.
    pub fn case(&self) -> &Arc<PlanningCase> {
        &self.case
    }

    /// Another case, judged as this one is.
    pub fn like(&self, case: PlanningCase) -> Arc<Self> {
        Arc::new(Self::new(case, self.options, Arc::clone(&self.schemas)))
    }

    fn read(&self, verdict: &Verdict) -> Result<planproof_synth::OracleVerdict, VerdictFileError> {
        read_verdict(&verdict.detail).map(|(_, verdict)| verdict)
    }

    /// The verdict as the engine sees it.
    pub(crate) fn generic(&self, verdict: &planproof_synth::OracleVerdict) -> Verdict {
        let mut scores = Vec::new();
        if let Some(conflict) = verdict.conflict.as_ref().filter(|conflict| conflict.is_infeasible()) {
            let named: Option<Naming> = conflict.named();
            scores.extend(named.map(|named| Score::new(NAMED, naming_value(named))));
            scores.push(Score::new(ACTED, if verdict.calls.is_empty() { 0.0 } else { 1.0 }));
        }
        // Looking for the wordings takes longer than judging, and a run that passed violated none.
        if verdict.class.is_some() {
            let counts_for = self.counts_for.get_or_init(|| phrasing::counts_for(&self.case));
            scores.extend(phrasing::scores(&self.case, counts_for, verdict));
        }
        let scored = Scored {
            class: verdict.class.and_then(class_of),
            flags: verdict.flags.iter().map(|flag| Flag::as_str(*flag)).collect(),
            scores,
        };
        Verdict { scored, detail: write_verdict(&self.case.id, verdict) }
    }
}

/// The data of the case for figures and lists.
fn card_of(case: &PlanningCase) -> Card {
    let is_all = case.conflict.as_ref().is_some_and(|conflict| conflict.len() == case.sentences());
    let has_flows = case.rules().any(|stated| matches!(stated.rule, Some(Rule::Flow { .. })));
    let passing: Vec<OneLook> = OneLook::passing(case).collect();
    let one_look = OneLook::ALL.into_iter().map(|it| Some(f64::from(u8::from(passing.contains(&it)))));
    // A product of floats, because 64! does not fit into a `u128`. With turns, an agent chooses an order in each.
    let all = |order: &Order| (1..=order.len()).map(|n| n as f64).product::<f64>();
    let orders: f64 = match &case.turns {
        None => (1..=case.actions.len()).map(|n| n as f64).product(),
        Some(_) => case.orders_by_turn().iter().map(all).product(),
    };
    let chance = case.difficulty.correct_plans.map(|correct| correct as f64 / orders);
    // Nobody knows how an agent fares that does not read what failed.
    let baselines = std::iter::once(chance).chain(one_look);
    let baselines = baselines.map(|baseline| baseline.filter(|_| case.faults.is_none())).collect();
    let [size, constraints, bytes] =
        [case.actions.len(), case.difficulty.constraints, case.paragraph.len()].map(saturated);
    Card {
        id: case.id.clone(),
        label: case.topic.clone(),
        size,
        detail_sizes: [constraints, bytes],
        baselines,
        apart: (!case.is_feasible()).then(|| "infeasible".to_owned()),
        marks: if case.offers_report() { OFFERS_REPORT } else { 0 }
            | if is_all { CONFLICT_IS_ALL } else { 0 }
            | if has_flows { HAS_FLOWS } else { 0 }
            | if case.faults.is_some() { HAS_FAULTS } else { 0 }
            | if case.turns.is_some() { HAS_TURNS } else { 0 },
        needed: needed(case),
    }
}

/// A call for each task that is due, in as many rounds as the longest chain of its order has tasks, turn by turn; the
/// report of a conflict. Tools that fail make it a matter of luck.
fn needed(case: &PlanningCase) -> Option<Needed> {
    if case.faults.is_some() {
        return None;
    }
    if !case.is_feasible() {
        return Some(Needed { calls: 1, rounds: Some(1) });
    }
    if case.turns.is_some() {
        let orders = case.orders_by_turn();
        let [calls, rounds] = [Order::len, Order::depth].map(|of| saturated(orders.iter().map(of).sum()));
        return Some(Needed { calls, rounds: Some(rounds) });
    }
    // With clock times, the day is a chain of its own, and how much of it can be planned ahead is hidden.
    let order = if case.time.is_some() { None } else { case.problem().order().ok() };
    Some(Needed { calls: saturated(case.actions.len()), rounds: order.map(|order| saturated(order.depth())) })
}

/// That the tool that reports a conflict never fails, if there is one.
fn report_works(case: &PlanningCase) -> Option<(String, FaultShares)> {
    let report = case.tools.iter().find(|tool| case.is_report(&tool.name))?;
    Some((report.name.clone(), FaultShares::default()))
}

fn saturated(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl suite::Case for OrderCase {
    fn card(&self) -> &Card {
        &self.card
    }

    fn prompt(&self) -> &str {
        &self.case.query
    }

    fn to_line(&self) -> String {
        write_case(&self.case)
    }

    fn later(&self) -> &[String] {
        self.case.turns.as_ref().map_or(&[], |turns| &turns.later)
    }

    fn words(&self) -> String {
        let PlanningCase { id, topic, query, paragraph, actions, tools, .. } = &*self.case;
        let mut words = [id.as_str(), topic, query, paragraph].join("\n");
        for message in self.later() {
            words.extend(["\n", message]);
        }
        for action in actions {
            words.extend(["\n", &action.text, "\n", &action.tool]);
        }
        for CaseTool { name, description, input_schema } in tools {
            words.extend(["\n", name, "\n", description]);
            words.extend(input_schema.iter().map(ToString::to_string));
        }
        words
    }

    /// One call for each task, and those that fail before it; in the time form in each round, of which there is one
    /// more than there are restarts.
    fn calls_needed(&self) -> Option<u32> {
        let tasks = saturated(self.case.actions.len());
        let restarts = self.case.time.as_ref().map_or(0, |time| time.restarts_max);
        if self.case.faults.is_some() {
            return Some(tasks.saturating_mul(TRANSIENTS_IN_ROW_MAX + 1));
        }
        Some(tasks.saturating_mul(restarts.saturating_add(1)).saturating_add(restarts))
    }

    fn identity(&self) -> String {
        identity::identity(&self.case)
    }

    fn toolbox(&self) -> Result<Arc<dyn Toolbox>, CaseError> {
        let tools = Arc::new(tools::mock_tools(&self.case, &self.schemas).map_err(CaseError::new)?);
        Ok(match &self.case.faults {
            None => tools,
            Some(faults) => Arc::new(FaultyTools::new(tools, faults.clone())),
        })
    }

    /// Some microseconds for a handful of actions.
    fn judge(&self, events: &[Event]) -> Result<Verdict, Unscored> {
        match judge(&self.case, events, self.options) {
            Ok(verdict) => Ok(self.generic(&verdict)),
            Err(planproof_synth::NoVerdict::Outside { reason }) => Err(Unscored::Outside { reason }),
            Err(planproof_synth::NoVerdict::CutOff) => Err(Unscored::CutOff),
        }
    }

    fn explain(&self, verdict: &Verdict) -> Explanation {
        match self.read(verdict) {
            Ok(verdict) => explanation::explain(&self.case, &verdict),
            Err(error) => explanation::unreadable(&self.case, verdict, &error),
        }
    }

    fn notes(&self, verdict: &Verdict, events: &[Event]) -> Option<Vec<EventNote>> {
        notes::notes(&self.case, &self.read(verdict).ok()?, events)
    }

    fn explain_run(&self, verdict: &Verdict, events: &[Event]) -> (Explanation, Option<Vec<EventNote>>) {
        match self.read(verdict) {
            Ok(verdict) => {
                // One parse of the document serves both.
                let explained = explanation::explain(&self.case, &verdict);
                (explained, notes::notes(&self.case, &verdict, events))
            }
            Err(error) => (explanation::unreadable(&self.case, verdict, &error), None),
        }
    }

    /// As exact as the judge: see `board.rs`.
    fn board(&self, events: &[Event]) -> Result<suite::Board, &'static str> {
        board::board(&self.case, events, self.options, explanation::state)
    }

    /// Refused where a wrong call has another meaning: with clock times, and where there is nothing to do.
    fn with_faults(&self, faults: &ToolFaults) -> Option<Result<Arc<dyn suite::Case>, CaseError>> {
        if self.case.time.is_some() || self.case.turns.is_some() || !self.case.is_feasible() {
            let what = "the tools of cases with clock times, several messages or a conflict cannot fail";
            return Some(Err(CaseError::new(format!("case {}: {what}", self.case.id))));
        }
        let faults = (!faults.is_nothing()).then(|| ToolFaults {
            // Whether a conflict is reported is the agent's choice, not the tool's.
            tools: faults.tools.clone().into_iter().chain(report_works(&self.case)).collect(),
            ..faults.clone()
        });
        Some(Ok(self.like(PlanningCase { faults, ..PlanningCase::clone(&self.case) })))
    }

    /// None for texts of several messages: a guard does not see which one a call follows.
    fn guard(&self) -> Option<Box<dyn Guard>> {
        if self.case.turns.is_some() {
            return None;
        }
        Some(Box::new(OrderGuard::new(GuardState::new(Arc::clone(&self.case), self.options))))
    }

    /// "against c1 c3, calls a2 a1": the ids of the violated constraints and of the called actions.
    fn essence(&self, verdict: &Verdict) -> String {
        // Parses no more of the document than is needed: a replay requests this for each run.
        #[derive(Deserialize)]
        struct Essence<'a> {
            #[serde(borrow)]
            calls: Vec<Cow<'a, str>>,
            #[serde(borrow)]
            violated: Vec<Violated<'a>>,
        }
        #[derive(Deserialize)]
        struct Violated<'a> {
            #[serde(borrow)]
            id: Cow<'a, str>,
        }
        let Ok(Essence { calls, violated }) = serde_json::from_str(&verdict.detail) else {
            return String::new();
        };
        let calls = if calls.is_empty() { "none".to_owned() } else { calls.join(" ") };
        let violated: Vec<&str> = violated.iter().map(|it| &*it.id).collect();
        match violated.as_slice() {
            [] => format!("calls {calls}"),
            violated => format!("against {}, calls {calls}", violated.join(" ")),
        }
    }

    fn target(&self) -> String {
        answer::target(&self.case)
    }

    fn gold(&self) -> Option<Gold> {
        answer::gold(&self.case)
    }

    fn cells(&self) -> Vec<String> {
        cells::of_case(&self.case)
    }

    fn run_cells(&self, verdict: &Verdict) -> Vec<String> {
        cells::of_run(&self.case, self.read(verdict).ok().as_ref())
    }

    /// Without a verdict the data of the case, with one the data of the run alone.
    fn metadata(&self, verdict: Option<&Verdict>) -> Map<String, Value> {
        match verdict {
            None => answer::case_metadata(&self.case),
            Some(verdict) => self
                .read(verdict)
                .map_or_else(|_| Map::new(), |verdict| answer::run_metadata(&self.case, &verdict)),
        }
    }
}
