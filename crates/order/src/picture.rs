//! A verdict as pictures: the order of the tasks, and when they were done.

use planproof_suite::{Bar, Bars, CheckState, Graph, GraphEdge, GraphNode};
use planproof_synth::{Action, ActionId, Bound, OracleVerdict, PlanningCase, Rule, StatedBound, clock_time};

use crate::stated::{Demand, Stated, duration, span};

/// Most actions in a picture: more are illegible.
const ACTIONS_SHOWN_MAX: usize = 16;

/// Most calls that have a bar.
const BARS_MAX: usize = 24;

/// Minutes between two times on the axis of a day: the first value that yields at most [`TICKS_MAX`] of them.
const TICK_STEPS: [u32; 5] = [30, 60, 120, 180, 240];
const TICKS_MAX: u32 = 7;

/// The tasks with their order, without constraints that follow from others unless they were violated. `None` if no
/// order is demanded, and for cases with more than [`ACTIONS_SHOWN_MAX`] actions.
pub(crate) fn graph(
    case: &PlanningCase,
    verdict: &OracleVerdict,
    state: impl Fn(Stated<'_>) -> CheckState,
) -> Option<Graph> {
    drawn(case, verdict, state).map(|(graph, _)| graph)
}

/// The same, and which of its edges hold.
pub(crate) fn drawn(
    case: &PlanningCase,
    verdict: &OracleVerdict,
    state: impl Fn(Stated<'_>) -> CheckState,
) -> Option<(Graph, Vec<bool>)> {
    let count = case.actions.len();
    if count > ACTIONS_SHOWN_MAX || case.constraints.is_empty() {
        return None;
    }
    let mut is_before = vec![vec![false; count]; count];
    for stated in &case.constraints {
        is_before[stated.first][stated.second] = true;
    }
    // The transitive closure (Warshall). It is cubic, but there are at most 16 actions.
    for middle in 0..count {
        for first in 0..count {
            for second in 0..count {
                is_before[first][second] |= is_before[first][middle] && is_before[middle][second];
            }
        }
    }
    // In a cycle every constraint would follow from the others.
    let follows = |first: usize, second: usize| {
        (0..count)
            .any(|middle| is_before[first][middle] && is_before[middle][second] && !is_before[second][first])
    };
    let mut edges: Vec<GraphEdge> = Vec::new();
    let mut held: Vec<bool> = Vec::new();
    for stated in Stated::all(case) {
        let Stated::Order(pair) = stated else { continue };
        let (is_wrong, is_flow) = (state(stated).is_broken(), matches!(pair.rule, Some(Rule::Flow { .. })));
        let is_held = state(stated) == CheckState::Held;
        let is_there = |edge: &GraphEdge| (edge.from, edge.to) == (pair.first, pair.second);
        match edges.iter().position(is_there) {
            Some(place) => {
                let edge = &mut edges[place];
                held[place] &= is_held;
                edge.is_wrong |= is_wrong;
                if is_flow {
                    (edge.is_flow, edge.title) = (true, stated.in_words(case));
                }
            }
            // A violated constraint is drawn even if it follows from others: it is what the picture is for.
            None if is_wrong || is_flow || !follows(pair.first, pair.second) => {
                held.push(is_held);
                edges.push(GraphEdge {
                    from: pair.first,
                    to: pair.second,
                    title: stated.in_words(case),
                    is_flow,
                    is_wrong,
                });
            }
            None => {}
        }
    }
    let wrong_call = verdict.first_wrong_call.and_then(|wrong| verdict.calls.get(wrong));
    let node = |(place, action): (usize, &Action)| {
        let own: Vec<(Bound, bool)> = Stated::all(case)
            .filter_map(|stated| match (stated, stated.parts(case).1) {
                (Stated::Time(time), Demand::Time(bound)) if time.action == place => {
                    Some((bound, state(stated).is_broken()))
                }
                _ => None,
            })
            .collect();
        GraphNode {
            name: action.text.clone(),
            note: match &case.turns {
                None => own.iter().map(|(bound, _)| bound.to_string()).collect::<Vec<_>>().join(", "),
                Some(turns) => match turns.due.get(place).copied().flatten() {
                    Some(turn) => format!("turn {turn}"),
                    None => "dropped".to_owned(),
                },
            },
            number: verdict.calls.iter().position(|id| *id == action.id).map(|call| call + 1),
            is_wrong: wrong_call == Some(&action.id) || own.iter().any(|(_, is_broken)| *is_broken),
        }
    };
    Some((Graph { nodes: case.actions.iter().enumerate().map(node).collect(), edges }, held))
}

/// When each task was called within the day; `None` in the basic form, and if nothing was started.
pub(crate) fn bars(case: &PlanningCase, verdict: &OracleVerdict) -> Option<Bars> {
    let form = case.time.as_ref()?;
    let starts = &verdict.time.as_ref()?.starts;
    let bar = |(call, (id, start)): (usize, (&ActionId, &u16))| {
        let place = case.actions.iter().position(|action| action.id == *id)?;
        let bounds = || form.bounds.iter().filter(|bound| bound.action == place);
        let not_before = bounds().filter_map(|stated| match stated.bound {
            Bound::StartsFrom(minute) => Some(u32::from(minute)),
            Bound::EndsBy(_) => None,
        });
        let not_after = bounds().filter_map(|stated| match stated.bound {
            Bound::EndsBy(minute) => Some(u32::from(minute)),
            Bound::StartsFrom(_) => None,
        });
        let is_violated =
            |stated: &StatedBound| verdict.violated.iter().any(|violated| violated.id == stated.id);
        Some(Bar {
            text: case.actions[place].text.clone(),
            when: span(case, id, *start),
            from: u32::from(*start),
            to: u32::from(start.saturating_add(duration(case, id)?)),
            // Of several bounds of a task, the tightest is drawn.
            not_before: not_before.max(),
            not_after: not_after.min(),
            is_wrong: verdict.first_wrong_call == Some(call) || bounds().any(is_violated),
        })
    };
    let calls = verdict.calls.iter().zip(starts).enumerate().take(BARS_MAX);
    let bars: Vec<Bar> = calls.filter_map(bar).collect();
    if bars.is_empty() {
        return None;
    }
    // Tasks that began too early or ended too late are shown beyond the day.
    let ends = || bars.iter().flat_map(|bar| [bar.from, bar.to]);
    let from = ends().min().unwrap_or_default().min(u32::from(form.day.start));
    let to = ends().max().unwrap_or_default().max(u32::from(form.day.end));
    let step = TICK_STEPS.into_iter().find(|step| (to - from) / step < TICKS_MAX).unwrap_or(480);
    let ticks = (from.div_ceil(step)..=to / step).map(|tick| tick * step);
    let ticks = ticks.map(|tick| (tick, clock_time(u16::try_from(tick).unwrap_or(u16::MAX)))).collect();
    Some(Bars { from, to, ticks, bars })
}
