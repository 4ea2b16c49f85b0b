//! Cycles: one for each strongly connected set of sub-tasks.

use std::collections::VecDeque;

use crate::graph::links::Links;

/// A shortest cycle through the earliest sub-task of each strongly connected set, in the order in which the sub-tasks
/// would have to run.
///
/// Takes time in proportion to the graph and, if there are cycles, once more for each sub-task on or after one.
pub(crate) fn cycles(links: &Links) -> Vec<Vec<usize>> {
    let mut is_looked_at = vec![false; links.before.len()];
    for place in links.in_order() {
        // Sub-tasks on a cycle or behind one never get into this order.
        is_looked_at[place] = true;
    }
    let mut cycles = Vec::new();
    for start in 0..links.before.len() {
        if is_looked_at[start] {
            continue;
        }
        let behind = links.behind(&[start]);
        // A sub-task that only depends on a cycle is on none.
        if behind.binary_search(&start).is_err() {
            continue;
        }
        let needed = links.needed_by(&[start]);
        // Behind the start and needed by it: all cycles through these are one knot, which is reported once.
        for place in behind.into_iter().filter(|place| needed.binary_search(place).is_ok()) {
            is_looked_at[place] = true;
        }
        cycles.push(shortest(links, start));
    }
    cycles
}

/// A shortest path from a sub-task on a cycle back to it, without the return.
fn shortest(links: &Links, start: usize) -> Vec<usize> {
    let mut came_from = vec![None; links.next.len()];
    let mut open = VecDeque::from([start]);
    while let Some(place) = open.pop_front() {
        for next in &links.next[place] {
            if *next == start {
                let mut way = vec![place];
                let mut last = place;
                while let Some(previous) = came_from[last] {
                    way.push(previous);
                    last = previous;
                }
                way.reverse();
                return way;
            }
            if came_from[*next].is_none() {
                came_from[*next] = Some(place);
                open.push_back(*next);
            }
        }
    }
    // Not reached: the caller knows that the start is on a cycle.
    vec![start]
}
