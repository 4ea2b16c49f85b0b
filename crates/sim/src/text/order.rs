//! The order of sections that instructions require, as a graph.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Most nodes of an order. Bounds copy the part that they bound, so a short line can require very many.
const NODES_MAX: usize = 20_000;

/// The cost of passing something that should be avoided.
const DETOUR: u32 = 10_000;

/// A kind of section, by its index in the list of the instructions.
pub(super) type Kind = usize;

/// Which sections may follow one another: a graph in which at most one section leaves each node, plus any number of
/// free edges to other nodes.
#[derive(Debug)]
pub(super) struct Order {
    nodes: Vec<Node>,
    end: u32,
}

#[derive(Debug, Default)]
struct Node {
    section: Option<(Kind, u32)>,
    free: Vec<u32>,
}

/// A position in an [`Order`]: nodes in rising order.
pub(super) type Place = Vec<u32>;

/// What a path is to lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Goal {
    /// The arguments of the next call, preceded by its tool.
    Call,
    /// An end of the text.
    End,
}

/// How a path treats sections of the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    /// Pass one before the goal. There is no such path if none can be passed.
    Pass,
    /// Avoid them as far as possible.
    Avoid,
    /// The shortest path counts.
    Free,
}

/// What sections mean to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Names the tool of the next call.
    Tool,
    Arguments,
    /// Written by others: the question, or the environment's sections.
    Given,
    Other,
}

/// An order, as its parts.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Formula {
    Section(Kind),
    All(Vec<Formula>),
    One(Vec<Formula>),
    Repeated { body: Box<Formula>, min: u32, max: Option<u32> },
}

impl Order {
    /// The graph of a formula; `None` if it is too large.
    pub(super) fn new(formula: &Formula) -> Option<Self> {
        let mut order = Self { nodes: vec![Node::default()], end: 0 };
        order.end = order.add(formula, 0)?;
        Some(order)
    }

    fn node(&mut self) -> Option<u32> {
        (self.nodes.len() < NODES_MAX).then(|| {
            self.nodes.push(Node::default());
            (self.nodes.len() - 1) as u32
        })
    }

    /// A node reached freely from `from`.
    fn node_after(&mut self, from: u32) -> Option<u32> {
        let node = self.node()?;
        self.nodes[from as usize].free.push(node);
        Some(node)
    }

    /// Adds a formula that begins at a node, and returns the node after it.
    fn add(&mut self, formula: &Formula, from: u32) -> Option<u32> {
        match formula {
            // A new node, because at most one section may leave a node.
            Formula::Section(kind) => {
                let start = self.node_after(from)?;
                let end = self.node()?;
                self.nodes[start as usize].section = Some((*kind, end));
                Some(end)
            }
            Formula::All(parts) => parts.iter().try_fold(from, |at, part| self.add(part, at)),
            Formula::One(parts) => {
                let end = self.node()?;
                for part in parts {
                    let start = self.node_after(from)?;
                    let last = self.add(part, start)?;
                    self.nodes[last as usize].free.push(end);
                }
                Some(end)
            }
            Formula::Repeated { body, min, max } => {
                let mut at = from;
                for _ in 0..*min {
                    at = self.add(body, at)?;
                }
                let end = self.node()?;
                match max {
                    None => {
                        let start = self.node_after(at)?;
                        let last = self.add(body, start)?;
                        self.nodes[last as usize].free.push(start);
                        self.nodes[start as usize].free.push(end);
                    }
                    Some(max) => {
                        // Each further repetition may be left out, with all that follow it.
                        for _ in *min..*max {
                            self.nodes[at as usize].free.push(end);
                            let start = self.node_after(at)?;
                            at = self.add(body, start)?;
                        }
                        self.nodes[at as usize].free.push(end);
                    }
                }
                Some(end)
            }
        }
    }

    /// Where a text begins.
    pub(super) fn start(&self) -> Place {
        self.close(vec![0])
    }

    /// Whether a text may end here.
    #[cfg(test)]
    pub(super) fn is_end(&self, place: &Place) -> bool {
        place.contains(&self.end)
    }

    /// All nodes that can be reached freely from some nodes.
    fn close(&self, mut open: Vec<u32>) -> Place {
        let mut seen = vec![false; self.nodes.len()];
        let mut place = Vec::new();
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut seen[node as usize], true) {
                place.push(node);
                open.extend(&self.nodes[node as usize].free);
            }
        }
        place.sort_unstable();
        place
    }

    /// The kinds of sections that may come next, in rising order.
    pub(super) fn next(&self, place: &Place) -> Vec<Kind> {
        let mut kinds: Vec<Kind> = self.sections(place).map(|(kind, _)| kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }

    fn sections<'a>(&'a self, place: &'a Place) -> impl Iterator<Item = (Kind, u32)> + 'a {
        place.iter().filter_map(|node| self.nodes[*node as usize].section)
    }

    /// The position after another section; empty if it must not come.
    pub(super) fn after(&self, place: &Place, kind: Kind) -> Place {
        self.close(self.sections(place).filter(|(other, _)| *other == kind).map(|(_, node)| node).collect())
    }

    /// The shortest path to a goal, as its sections; the first in the formula among equals. On the way to an end it
    /// makes as few calls as possible, on the way to a call it makes no other one. `is_named` says that the tool of
    /// the next call is already named, or need not be.
    pub(super) fn way(
        &self,
        place: &Place,
        goal: Goal,
        given: Given,
        is_named: bool,
        role: impl Fn(Kind) -> Role,
    ) -> Option<Vec<Kind>> {
        // Each node counts four times: by whether the tool is named, and by whether a given section was passed.
        let slot = |node: u32, named: bool, passed: bool| {
            node as usize * 4 + usize::from(named) * 2 + usize::from(passed)
        };
        let mut best: Vec<Option<Reached>> = vec![None; self.nodes.len() * 4];
        let mut queue = BinaryHeap::new();
        for node in place {
            let at = slot(*node, is_named, false);
            best[at] = Some(Reached { cost: 0, from: None });
            queue.push(Reverse((0, at)));
        }
        // Dijkstra's algorithm. A node may be in the queue several times; only its cheapest entry counts.
        while let Some(Reverse((cost, at))) = queue.pop() {
            if best[at].is_none_or(|reached| reached.cost < cost) {
                continue;
            }
            let (node, named, passed) = ((at / 4) as u32, at & 2 != 0, at & 1 != 0);
            if goal == Goal::End && node == self.end && (passed || given != Given::Pass) {
                return Some(sections_to(&best, at));
            }
            let mut reach = |to: usize, cost: u32, section: Option<Kind>| {
                if best[to].is_none_or(|reached| cost < reached.cost) {
                    best[to] = Some(Reached { cost, from: Some((at, section)) });
                    queue.push(Reverse((cost, to)));
                }
            };
            for next in &self.nodes[node as usize].free {
                reach(slot(*next, named, passed), cost, None);
            }
            let Some((kind, next)) = self.nodes[node as usize].section else { continue };
            let step = cost.saturating_add(1);
            let detour = step.saturating_add(DETOUR);
            match (role(kind), goal) {
                (Role::Given, _) => {
                    let cost = if given == Given::Avoid { detour } else { step };
                    reach(slot(next, named, true), cost, Some(kind));
                }
                (Role::Tool, Goal::Call) => reach(slot(next, true, passed), step, Some(kind)),
                (Role::Arguments, Goal::Call) => {
                    // The first arguments that the search reaches end it: all sections of this kind cost the same, so
                    // no cheaper way is left.
                    if named && (passed || given != Given::Pass) {
                        let mut way = sections_to(&best, at);
                        way.push(kind);
                        return Some(way);
                    }
                }
                (Role::Tool | Role::Arguments, Goal::End) => {
                    reach(slot(next, named, passed), detour, Some(kind));
                }
                (Role::Other, _) => reach(slot(next, named, passed), step, Some(kind)),
            }
        }
        None
    }
}

/// The cheapest way to reach a slot of the search.
#[derive(Debug, Clone, Copy)]
struct Reached {
    cost: u32,
    from: Option<(usize, Option<Kind>)>,
}

fn sections_to(best: &[Option<Reached>], mut at: usize) -> Vec<Kind> {
    let mut way = Vec::new();
    while let Some(Reached { from: Some((from, section)), .. }) = best[at] {
        way.extend(section);
        at = from;
    }
    way.reverse();
    way
}

#[cfg(test)]
mod tests {
    use super::*;
    fn one_or_more(body: Formula) -> Formula {
        Formula::Repeated { body: Box::new(body), min: 1, max: None }
    }

    #[test]
    fn an_order_has_a_size() {
        let many = |body| Formula::Repeated { body: Box::new(body), min: 1000, max: None };
        assert!(Order::new(&many(many(Formula::Section(0)))).is_none());
    }

    #[test]
    fn the_shortest_ways_are_found() {
        use Formula::{All, Repeated, Section};
        // 0 thinks, 1 names a tool, 2 holds its arguments, 4 is given.
        let role = |kind| [Role::Other, Role::Tool, Role::Arguments, Role::Other, Role::Given][kind];
        let call = one_or_more(All(vec![Section(1), Section(2)]));
        let turn = Box::new(All(vec![Section(0), call, Section(4)]));
        let order = All(vec![Repeated { body: turn, min: 0, max: None }, Section(0)]);
        let order = Order::new(&order).expect("it is small");
        let start = order.start();
        let way = |place: &Place, goal, given| order.way(place, goal, given, false, role);
        assert_eq!(way(&start, Goal::Call, Given::Free), Some(vec![0, 1, 2]));
        assert_eq!(way(&start, Goal::Call, Given::Pass), None, "it would make another call before");
        assert_eq!(way(&start, Goal::End, Given::Free), Some(vec![0]));
        assert_eq!(way(&start, Goal::End, Given::Pass), Some(vec![0, 1, 2, 4, 0]));
        let called = [0, 1, 2].into_iter().fold(start, |place, kind| order.after(&place, kind));
        assert_eq!(order.next(&called), [1, 4]);
        assert_eq!(way(&called, Goal::Call, Given::Avoid), Some(vec![1, 2]));
        assert_eq!(way(&called, Goal::Call, Given::Pass), Some(vec![4, 0, 1, 2]));
        let thinking = order.after(&order.start(), 0);
        assert_eq!(order.way(&thinking, Goal::Call, Given::Free, false, |_| Role::Other), None);
    }
}
