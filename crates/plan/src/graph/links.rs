//! The dependencies, by indices into the list of sub-tasks.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::graph::form::SubTask;

/// The edges of a graph in both directions, each once. Edges to nothing and to oneself are left out; if two have the
/// same id, it refers to the first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Links {
    /// The indices of the direct dependencies of each, ascending.
    pub(crate) before: Vec<Vec<usize>>,
    /// The indices of the direct dependents of each, ascending.
    pub(crate) next: Vec<Vec<usize>>,
}

/// The indices of sub-tasks by id, of the first one if several share an id.
pub(crate) fn places(sub_tasks: &[SubTask]) -> HashMap<&str, usize> {
    let mut places = HashMap::with_capacity(sub_tasks.len());
    for (place, sub_task) in sub_tasks.iter().enumerate() {
        places.entry(sub_task.id.as_str()).or_insert(place);
    }
    places
}

impl Links {
    /// The edges among these sub-tasks. Takes time in proportion to their size.
    pub(crate) fn new(sub_tasks: &[SubTask]) -> Self {
        let places = places(sub_tasks);
        let mut links =
            Self { before: vec![Vec::new(); sub_tasks.len()], next: vec![Vec::new(); sub_tasks.len()] };
        for (place, sub_task) in sub_tasks.iter().enumerate() {
            let mut before: Vec<usize> =
                sub_task.after.iter().filter_map(|id| places.get(id.as_str()).copied()).collect();
            // A sub-task after itself is reported as such, and not as a cycle.
            before.retain(|other| *other != place);
            before.sort_unstable();
            before.dedup();
            for other in &before {
                links.next[*other].push(place);
            }
            links.before[place] = before;
        }
        links
    }

    /// All indices such that each comes after its dependencies, the earlier of the list first if both may come. Those
    /// on a cycle or after one are left out.
    pub(crate) fn in_order(&self) -> Vec<usize> {
        let mut missing: Vec<usize> = self.before.iter().map(Vec::len).collect();
        let free = missing.iter().enumerate().filter(|(_, missing)| **missing == 0);
        // The first of the free ones in the order of the graph, so that the same graph is always traversed alike.
        let mut free: BinaryHeap<Reverse<usize>> = free.map(|(place, _)| Reverse(place)).collect();
        let mut order = Vec::with_capacity(self.before.len());
        while let Some(Reverse(place)) = free.pop() {
            order.push(place);
            for next in &self.next[place] {
                missing[*next] -= 1;
                if missing[*next] == 0 {
                    free.push(Reverse(*next));
                }
            }
        }
        order
    }

    /// All direct and indirect dependents of these, in the order of the list, without these themselves unless they
    /// depend on one another.
    pub(crate) fn behind(&self, starts: &[usize]) -> Vec<usize> {
        reached(&self.next, starts)
    }

    /// All direct and indirect dependencies of these, in the order of the list.
    pub(crate) fn needed_by(&self, starts: &[usize]) -> Vec<usize> {
        reached(&self.before, starts)
    }
}

fn reached(edges: &[Vec<usize>], starts: &[usize]) -> Vec<usize> {
    let mut is_reached = vec![false; edges.len()];
    let mut open: Vec<usize> = starts.to_vec();
    while let Some(place) = open.pop() {
        for next in &edges[place] {
            if !is_reached[*next] {
                is_reached[*next] = true;
                open.push(*next);
            }
        }
    }
    (0..edges.len()).filter(|place| is_reached[*place]).collect()
}
