//! Who comes after whom, by places in the list of sub-tasks.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::graph::form::SubTask;

/// The edges of a graph in both directions, each once. Edges to nowhere and to oneself are left out; where two have the
/// same id, it is that of the first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Links {
    /// The places of those that each needs directly, ascending.
    pub(crate) before: Vec<Vec<usize>>,
    /// The places of those that need each directly, ascending.
    pub(crate) next: Vec<Vec<usize>>,
}

/// The places of sub-tasks by their ids, of the first one where several have the same.
pub(crate) fn places(sub_tasks: &[SubTask]) -> HashMap<&str, usize> {
    let mut places = HashMap::with_capacity(sub_tasks.len());
    for (place, sub_task) in sub_tasks.iter().enumerate() {
        places.entry(sub_task.id.as_str()).or_insert(place);
    }
    places
}

impl Links {
    /// The edges among these sub-tasks. Takes time in proportion to what they hold.
    pub(crate) fn new(sub_tasks: &[SubTask]) -> Self {
        let places = places(sub_tasks);
        let mut links =
            Self { before: vec![Vec::new(); sub_tasks.len()], next: vec![Vec::new(); sub_tasks.len()] };
        for (place, sub_task) in sub_tasks.iter().enumerate() {
            let mut before: Vec<usize> =
                sub_task.after.iter().filter_map(|id| places.get(id.as_str()).copied()).collect();
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

    /// All places such that each comes after those that it needs, the earlier of the list first where both may come.
    /// Those on a cycle or behind one are left out.
    pub(crate) fn in_order(&self) -> Vec<usize> {
        let mut missing: Vec<usize> = self.before.iter().map(Vec::len).collect();
        let free = missing.iter().enumerate().filter(|(_, missing)| **missing == 0);
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

    /// Whatever needs one of these, directly or not, in the order of the list, and not these themselves unless they
    /// need one another.
    pub(crate) fn behind(&self, starts: &[usize]) -> Vec<usize> {
        reached(&self.next, starts)
    }

    /// Whatever one of these needs, directly or not, in the order of the list.
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
