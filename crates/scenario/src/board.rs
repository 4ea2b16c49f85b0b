//! What a case demands of its calls, as a picture in the middle of a run: the calls that its demands speak of, the
//! demands between two of them as arrows, and how each stands after the calls that are answered.

use std::collections::HashSet;

use planproof_spec::rules::{
    CallRule, EventPattern, Phase, RecordedEvent, RuleDemand, RuleVerdict, SessionEvent, session_in_turns,
    session_of,
};
use planproof_suite::runs::shortened;
use planproof_suite::{Board, Graph, GraphEdge, GraphNode};
use planproof_trace::{Event, EventKind, paired_calls};

use crate::case::Scenario;
use crate::limits::CALL_CHARACTERS_MAX;
use crate::{faults, turns};

/// A call that demands speak of.
struct Node {
    pattern: EventPattern,
    name: String,
    /// It is about calls that failed.
    is_failure: bool,
    notes: Vec<String>,
    is_wrong: bool,
}

/// How a demand stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Held,
    Broken,
    Open,
}

/// The picture after these events, or why there is none.
pub(crate) fn board(case: &Scenario, events: &[Event]) -> Result<Board, &'static str> {
    let is_over = matches!(events.last(), Some(Event { kind: EventKind::End(_), .. }));
    let answered = answered(events);
    let session: Vec<RecordedEvent> = match case.line.turns.is_empty() {
        true => session_of(&answered),
        false => {
            let session = session_in_turns(&answered).into_iter();
            session.map(|(turn, event)| turns::with_turn(event, turn)).collect()
        }
    };
    let outcomes = case.bound.hold(&session).map_err(|_| "a rule would have to remember too many values")?;
    // What tools that failed made impossible is no longer due, which is decided once the run is over.
    let waived = if is_over {
        faults::waived(case, &session, &outcomes).unwrap_or_default()
    } else {
        Default::default()
    };
    let mut drawing = Drawing { session: &session, nodes: Vec::new(), edges: Vec::new(), held: Vec::new() };
    for (number, (rule, outcome)) in case.rules.rules().iter().zip(&outcomes).enumerate() {
        let standing = match outcome.verdict {
            _ if waived.contains(&number) => Standing::Open,
            RuleVerdict::Violated => Standing::Broken,
            verdict if is_over && !verdict.is_held_at_end() => Standing::Broken,
            RuleVerdict::MayBeHeld => Standing::Open,
            RuleVerdict::Held | RuleVerdict::MayBeViolated => Standing::Held,
        };
        drawing.add(rule, &case.sentence(rule), standing);
    }
    if drawing.nodes.is_empty() {
        return Err("what is demanded are formulas, which have no drawing");
    }
    Ok(drawing.board(&answered, events))
}

/// The events without the calls that are not answered yet.
fn answered(events: &[Event]) -> Vec<Event> {
    let open: HashSet<usize> = paired_calls(events)
        .iter()
        .filter(|paired| paired.result.is_none())
        .map(|paired| paired.place)
        .collect();
    let all = events.iter().enumerate().filter(|(place, _)| !open.contains(place));
    all.map(|(_, event)| event.clone()).collect()
}

struct Drawing<'s> {
    session: &'s [RecordedEvent],
    nodes: Vec<Node>,
    edges: Vec<GraphEdge>,
    held: Vec<bool>,
}

impl Drawing<'_> {
    fn add(&mut self, rule: &CallRule, sentence: &str, standing: Standing) {
        match &rule.demand {
            RuleDemand::Requires { trigger, needed } => {
                self.edge((needed, trigger), (sentence, false), standing, &[trigger]);
            }
            RuleDemand::Takes { event, from, .. } => {
                self.edge((from, event), (sentence, true), standing, &[event]);
            }
            RuleDemand::FollowedBy { trigger, then } => {
                self.edge((trigger, then), (sentence, false), standing, &[trigger]);
            }
            RuleDemand::NeverAfter { event, after } => {
                self.edge((event, after), (sentence, false), standing, &[event, after]);
            }
            RuleDemand::Never(event) | RuleDemand::AtMost(0, event) => self.note(event, "never", standing),
            RuleDemand::AtMost(times, event) => self.note(event, &format!("at most {times}"), standing),
            RuleDemand::AtLeast(0 | 1, event) => self.note(event, "", standing),
            RuleDemand::AtLeast(times, event) => self.note(event, &format!("at least {times}"), standing),
            RuleDemand::First(event) => self.note(event, "first", standing),
            RuleDemand::Last(event) => self.note(event, "last", standing),
            RuleDemand::Formula { .. } => {}
        }
    }

    /// An arrow. It holds only once all of `seen` have come: until then there is nothing that could hold.
    fn edge(
        &mut self,
        (from, to): (&EventPattern, &EventPattern),
        (sentence, is_flow): (&str, bool),
        standing: Standing,
        seen: &[&EventPattern],
    ) {
        let (from, to) = (self.node(from), self.node(to));
        let is_seen =
            seen.iter().all(|pattern| self.session.iter().any(|event| pattern.matches(&event.as_seen())));
        let (is_wrong, is_held) = (standing == Standing::Broken, standing == Standing::Held && is_seen);
        if from == to {
            // An arrow of a call to itself would say nothing; its sentence does.
            let node = &mut self.nodes[from];
            node.notes.push(sentence.to_owned());
            node.is_wrong |= is_wrong;
            return;
        }
        // One arrow stands for all demands on the same two calls.
        if let Some(place) = self.edges.iter().position(|edge| (edge.from, edge.to) == (from, to)) {
            let edge = &mut self.edges[place];
            edge.title = format!("{}; {sentence}", edge.title);
            edge.is_wrong |= is_wrong;
            edge.is_flow |= is_flow;
            self.held[place] = self.held[place] && is_held && !edge.is_wrong;
            return;
        }
        self.edges.push(GraphEdge { from, to, title: sentence.to_owned(), is_flow, is_wrong });
        self.held.push(is_held);
    }

    fn note(&mut self, event: &EventPattern, note: &str, standing: Standing) {
        let node = self.node(event);
        let node = &mut self.nodes[node];
        if !note.is_empty() {
            node.notes.push(note.to_owned());
        }
        node.is_wrong |= standing == Standing::Broken;
    }

    /// The node of these events. A call and its result are one.
    fn node(&mut self, pattern: &EventPattern) -> usize {
        let is_failure = pattern.moment == Phase::Failed;
        let pattern = EventPattern { moment: Phase::Call, outcome: Vec::new(), ..pattern.clone() };
        let written = pattern.to_string();
        let name = written.strip_prefix("a call of ").unwrap_or(&written);
        let name = if is_failure { format!("{name} fails") } else { name.to_owned() };
        let name = shortened(&name, CALL_CHARACTERS_MAX);
        if let Some(place) = self.nodes.iter().position(|node| node.name == name) {
            return place;
        }
        self.nodes.push(Node { pattern, name, is_failure, notes: Vec::new(), is_wrong: false });
        self.nodes.len() - 1
    }

    fn board(self, answered: &[Event], events: &[Event]) -> Board {
        let calls = paired_calls(answered);
        let is_of = |node: &Node, call: &planproof_trace::ToolCall| {
            let arguments = planproof_spec::rules::arguments_of(&call.arguments);
            node.pattern.matches(&SessionEvent::new(Phase::Call, &call.name, &arguments))
        };
        let number = |node: &Node| {
            calls.iter().position(|paired| {
                let is_error = paired.result.is_some_and(|(_, result)| result.is_error);
                is_error == node.is_failure && is_of(node, paired.call)
            })
        };
        let open = paired_calls(events);
        let open: Vec<_> = open.iter().filter(|paired| paired.result.is_none()).collect();
        let begun =
            self.nodes.iter().map(|node| open.iter().any(|paired| is_of(node, paired.call))).collect();
        let nodes = self.nodes.iter().map(|node| GraphNode {
            name: node.name.clone(),
            note: node.notes.join(", "),
            number: number(node).map(|place| place + 1),
            is_wrong: node.is_wrong,
        });
        Board { graph: Graph { nodes: nodes.collect(), edges: self.edges }, held: self.held, begun }
    }
}
