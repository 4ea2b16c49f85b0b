//! Layers, and the longest path through a graph.

use crate::graph::form::{SubTask, SubTaskGraph};
use crate::graph::links::Links;

/// A chain of sub-tasks in which each needs the previous one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LongestPath {
    /// Their ids, the first to run first.
    pub ids: Vec<String>,
    /// The sum of their weights.
    pub weight: u64,
}

impl SubTaskGraph {
    /// The chain with the greatest sum of weights, such as durations: no execution of the graph takes less time,
    /// whatever the concurrency. The one that ends earliest in the list among equals. Sub-tasks on or after a cycle
    /// do not count. Takes time in proportion to the graph.
    pub fn longest_path(&self, weight: impl Fn(&SubTask) -> u64) -> LongestPath {
        let links = Links::new(&self.sub_tasks);
        let mut sums = vec![0u64; self.sub_tasks.len()];
        let mut came_from = vec![None; self.sub_tasks.len()];
        let order = links.in_order();
        for place in &order {
            // `max_by_key` returns the last of equals, so reversed it returns the first.
            let heaviest = links.before[*place].iter().copied().rev().max_by_key(|other| sums[*other]);
            came_from[*place] = heaviest;
            let before = heaviest.map_or(0, |other| sums[other]);
            sums[*place] = before.saturating_add(weight(&self.sub_tasks[*place]));
        }
        let mut ends = order;
        ends.sort_unstable();
        let mut last = ends.into_iter().rev().max_by_key(|place| sums[*place]);
        let weight = last.map_or(0, |place| sums[place]);
        let mut ids = Vec::new();
        while let Some(place) = last {
            ids.push(self.sub_tasks[place].id.clone());
            last = came_from[place];
        }
        ids.reverse();
        LongestPath { ids, weight }
    }

    /// The sub-tasks by layers: each in the first one after all its dependencies, so that the number of layers is
    /// that of sub-tasks on the longest path. Those on or after a cycle are left out.
    pub fn layers(&self) -> Vec<Vec<&SubTask>> {
        let (_, layers) = placed_in_layers(&Links::new(&self.sub_tasks));
        layers
            .into_iter()
            .map(|layer| layer.into_iter().map(|place| &self.sub_tasks[place]).collect())
            .collect()
    }
}

/// The layer of each sub-task, and the indices in each layer, ascending.
pub(crate) fn placed_in_layers(links: &Links) -> (Vec<usize>, Vec<Vec<usize>>) {
    let mut layer_of = vec![0; links.before.len()];
    let mut layers: Vec<Vec<usize>> = Vec::new();
    for place in links.in_order() {
        // Below the lowest of its dependencies, so that every arrow points down.
        let layer = links.before[place].iter().map(|other| layer_of[*other] + 1).max().unwrap_or(0);
        layer_of[place] = layer;
        if layers.len() <= layer {
            layers.resize(layer + 1, Vec::new());
        }
        layers[layer].push(place);
    }
    for layer in &mut layers {
        layer.sort_unstable();
    }
    (layer_of, layers)
}
