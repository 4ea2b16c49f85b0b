//! Why constraints cannot hold together: a shortest cycle.
//!
//! A set of order constraints is in conflict exactly if it contains a cycle, so a shortest cycle is a smallest
//! conflicting set. It visits no variable twice (or a part of it would be a shorter cycle), hence without any of its
//! members it is a path, which can be satisfied. It is found by a breadth-first search from each variable, in the
//! order of ids.

use crate::variable::{VARIABLES_MAX, Variable, indexes_in};

/// The indices of the pairs of a shortest cycle in the graph of `pairs`, in the order of the cycle from its smallest
/// variable; empty if there is no cycle. Of several, the first one found, searching in the order of ids; of several
/// equal pairs, the first. All variables are below `variables`. Takes O(n²) word operations and O(n) passes over the
/// pairs.
pub(crate) fn shortest_cycle(variables: usize, pairs: &[(Variable, Variable)]) -> Vec<usize> {
    let mut direct = [0_u64; VARIABLES_MAX];
    for (first, second) in pairs {
        direct[first.index()] |= second.bit();
    }
    let mut shortest: Option<Vec<usize>> = None;
    for start in 0..variables {
        if let Some(cycle) = cycle_through(start, &direct)
            // Strictly shorter, so that of equally short ones the first stays.
            && shortest.as_ref().is_none_or(|shortest| cycle.len() < shortest.len())
        {
            shortest = Some(cycle);
        }
    }
    let cycle = shortest.unwrap_or_default();
    let steps = cycle.iter().zip(cycle.iter().cycle().skip(1));
    steps
        .filter_map(|(first, second)| {
            // The same pair can be stated twice; either statement closes the cycle, and the first one is named.
            pairs.iter().position(|pair| (pair.0.index(), pair.1.index()) == (*first, *second))
        })
        .collect()
}

/// The variables of a shortest cycle through `start`, from `start` on.
fn cycle_through(start: usize, direct: &[u64; VARIABLES_MAX]) -> Option<Vec<usize>> {
    let mut reached_from = [start; VARIABLES_MAX];
    let mut reached = 1_u64 << start;
    let mut layer = vec![start];
    while !layer.is_empty() {
        let mut next_layer = Vec::new();
        for &index in &layer {
            if direct[index] & (1 << start) != 0 {
                // Layers have ascending distances, so no shorter cycle leads through `start`.
                let mut path = vec![index];
                let mut at = index;
                while at != start {
                    at = reached_from[at];
                    path.push(at);
                }
                path.reverse();
                return Some(path);
            }
            for next in indexes_in(direct[index] & !reached) {
                reached |= 1 << next;
                reached_from[next] = index;
                next_layer.push(next);
            }
        }
        layer = next_layer;
    }
    None
}
