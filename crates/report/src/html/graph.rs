//! A drawing from top to bottom of what has to come before what.
//!
//! A node is placed one row below the lowest of its predecessors (the longest path), and an edge that skips rows
//! keeps a lane of its own in each of them. Within a row, everything is ordered by the centre of its neighbours
//! above. An edge that closes a cycle, as in an infeasible case, goes up on the right.

use maud::{Markup, html};
use planproof_plan::graph::SubTaskState;
use planproof_plan::team::graph_of_run;
use planproof_suite::{Board, Graph, GraphEdge, GraphNode};
use planproof_trace::Event;

use super::parts::NAME_CHARACTERS_MAX;
use super::text::{Foreign, units};

/// Maximum number of nodes drawn; more would be unreadable.
const NODES_MAX: usize = 24;
/// Maximum number of characters shown of a name and of a note. A longer text is in the title of the node.
const NAME_SHOWN_MAX: usize = 32;
const NOTE_SHOWN_MAX: usize = 40;

// Dimensions of the drawing in pixels; a narrower page scales it.
const LETTER_WIDTH: f64 = 7.2;
const SMALL_LETTER_WIDTH: f64 = 6.2;
const PADDING: f64 = 12.0;
const BADGE: f64 = 22.0;
const NODE_HEIGHT: f64 = 30.0;
const NOTE_HEIGHT: f64 = 15.0;
const ROW_GAP: f64 = 30.0;
const COLUMN_GAP: f64 = 18.0;
const LANE_WIDTH: f64 = 12.0;
const MARGIN: f64 = 8.0;
const TIP: (f64, f64) = (8.0, 4.0);
/// Distance between edges that go up on the right.
const BACK_GAP: f64 = 14.0;

type Point = (f64, f64);

/// An item of a row: a node, or the lane of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
    Node(usize),
    Lane(usize),
}

/// The graph of sub-tasks that the team of a run carried out, with the executor and the state of each; empty if no
/// team did. The whole texts are in the trace below it, and in `runs show --graph`.
pub(super) fn team(events: &[Event]) -> Markup {
    let Some(drawing) = graph_of_run(events) else { return Markup::default() };
    let nodes = (1..).zip(drawing.states()).map(|(place, (sub_task, state))| GraphNode {
        name: format!("{}: {}", sub_task.id, sub_task.task),
        note: format!("{}, {}", sub_task.executor, state.as_str()),
        number: (state == SubTaskState::Finished).then_some(place),
        is_wrong: matches!(state, SubTaskState::Failed | SubTaskState::Blocked),
    });
    let sub_tasks = &drawing.graph().sub_tasks;
    let place = |id: &String| sub_tasks.iter().position(|sub_task| sub_task.id == *id);
    let edges = sub_tasks.iter().enumerate().flat_map(|(to, sub_task)| {
        sub_task.after.iter().filter_map(place).map(move |from| GraphEdge {
            from,
            to,
            title: format!("{} uses the result of {}", sub_tasks[to].id, sub_tasks[from].id),
            is_flow: false,
            is_wrong: false,
        })
    });
    let drawn = without_key(
        &Graph { nodes: nodes.collect(), edges: edges.collect() },
        "The sub-tasks of the team",
        None,
    );
    html! {
        @if !drawn.0.is_empty() {
            div.picture {
                (drawn)
                p.key { "The sub-tasks of the team. An arrow: needs the result; a dashed border: not finished." }
            }
        }
    }
}

/// The drawing of what a case demands, with its key; empty if there is nothing to draw, or too much.
pub(super) fn draw(graph: &Graph) -> Markup {
    let drawn = without_key(graph, "What has to come before what", None);
    html! {
        @if !drawn.0.is_empty() {
            (drawn)
            p.key {
                "An arrow: comes before."
                @if graph.edges.iter().any(|edge| edge.is_flow) { " A dotted one: a value is passed on." }
                " Numbers: the order of the calls; a dashed border: not called."
            }
        }
    }
}

/// The drawing of an order in the middle of a run, with its key; empty if there is nothing to draw, or too much. The
/// places of nodes and edges are the same for every state of one order, unless an edge appears because it was violated.
pub(super) fn draw_board(board: &Board) -> Markup {
    let drawn =
        without_key(&board.graph, "What has to come before what, and what was done so far", Some(board));
    html! {
        @if !drawn.0.is_empty() {
            (drawn)
            p.key {
                "An arrow: comes before. Green: it holds; red and dashed: it is violated; grey: it is still open. Numbers: "
                "the order of the calls; a dashed border: not called yet; a blue one: called, and not answered yet."
            }
        }
    }
}

/// The drawing without a key, with these words for those who cannot see it; that of a board shows what holds.
fn without_key(graph: &Graph, words: &str, board: Option<&Board>) -> Markup {
    if graph.nodes.is_empty() || graph.nodes.len() > NODES_MAX {
        return Markup::default();
    }
    let placed = Placed::new(graph);
    // The same edges as in `Placed::new`, so that an edge has the same number here and there.
    let edges = graph.edges.iter().filter(|edge| edge.from.max(edge.to) < graph.nodes.len());
    let mut backs = 0;
    let ways: Vec<(&GraphEdge, String, String)> = edges
        .enumerate()
        .map(|(number, edge)| {
            let (line, tip) = placed.way(number, edge, &mut backs);
            (edge, line, tip)
        })
        .collect();
    let is_held = |edge: &GraphEdge| {
        let place = graph.edges.iter().position(|other| std::ptr::eq(other, edge));
        board.zip(place).is_some_and(|(board, place)| board.held.get(place) == Some(&true))
    };
    let edge_state = |edge: &GraphEdge| match (edge.is_wrong, is_held(edge)) {
        (true, _) => "broken",
        (false, true) => "held",
        (false, false) => "open",
    };
    // Edges that close a cycle need room on the right, and only now are they counted.
    let width = placed.width + if backs > 0 { BACK_GAP * (backs + 1) as f64 } else { 0.0 };
    html! {
        svg.order-graph viewBox={ "0 0 " (units(width)) " " (units(placed.height)) } width=(units(width))
            role="img" aria-label=(words)
        {
            // Violated edges are drawn on top of the others.
            @for is_wrong in [false, true] {
                @for (edge, line, tip) in ways.iter().filter(|(edge, ..)| edge.is_wrong == is_wrong) {
                    g.way.broken[is_wrong].flow[edge.is_flow].held[!is_wrong && is_held(edge)]
                        data-edge=[board.map(|_| format!("{}-{}", edge.from, edge.to))]
                        data-state=[board.map(|_| edge_state(edge))]
                    {
                        title { (Foreign::short(&edge.title, NAME_CHARACTERS_MAX)) }
                        path.line d=(line) {}
                        path.tip d=(tip) {}
                    }
                }
            }
            @for (number, (node, place)) in graph.nodes.iter().zip(&placed.nodes).enumerate() {
                @let begun = board.and_then(|board| board.begun.get(number)).copied().unwrap_or(false);
                (show(node, *place, begun, board.map(|_| number)))
            }
        }
    }
}

/// `number` is its place, for whoever looks for it in the page.
fn show(node: &GraphNode, (x, y): Point, is_begun: bool, number: Option<usize>) -> Markup {
    let (width, height) = size(node);
    let (left, top) = (x - width / 2.0, y);
    let is_cut = node.name.chars().count() > NAME_SHOWN_MAX || node.note.chars().count() > NOTE_SHOWN_MAX;
    let middle = left + BADGE + (width - BADGE) / 2.0;
    html! {
        g.node.broken[node.is_wrong].undone[node.number.is_none()].begun[is_begun] data-node=[number] {
            @if is_cut {
                title {
                    (Foreign::short(&node.name, NAME_CHARACTERS_MAX)) " " (Foreign::short(&node.note, NAME_CHARACTERS_MAX))
                }
            }
            rect x=(units(left)) y=(units(top)) width=(units(width)) height=(units(height)) {}
            text.number x=(units(left + PADDING)) y=(units(top + 20.0)) {
                (node.number.map_or_else(|| "–".to_owned(), |number| number.to_string()))
            }
            text.name x=(units(middle)) y=(units(top + 20.0)) { (Foreign::cut(&node.name, NAME_SHOWN_MAX)) }
            @if !node.note.is_empty() {
                text.own x=(units(middle)) y=(units(top + 20.0 + NOTE_HEIGHT)) { (Foreign::cut(&node.note, NOTE_SHOWN_MAX)) }
            }
        }
    }
}

fn size(node: &GraphNode) -> Point {
    let columns = |text: &str, most: usize| text.chars().count().min(most) as f64;
    let name = columns(&node.name, NAME_SHOWN_MAX) * LETTER_WIDTH;
    let note = columns(&node.note, NOTE_SHOWN_MAX) * SMALL_LETTER_WIDTH;
    let height = NODE_HEIGHT + if node.note.is_empty() { 0.0 } else { NOTE_HEIGHT };
    (name.max(note) + BADGE + 2.0 * PADDING, height)
}

/// The positions of nodes and edges.
struct Placed {
    /// The middle of the upper side of each node.
    nodes: Vec<Point>,
    /// The height of each node.
    heights: Vec<f64>,
    /// The points where each edge passes a row: x with the upper and the lower side of the row.
    lanes: Vec<Vec<(f64, f64, f64)>>,
    width: f64,
    height: f64,
}

impl Placed {
    fn new(graph: &Graph) -> Self {
        let count = graph.nodes.len();
        let edges: Vec<&GraphEdge> =
            graph.edges.iter().filter(|edge| edge.from.max(edge.to) < count).collect();
        let layers = layers(count, &edges);
        let rows = rows(&layers, &edges);
        let width_of = |slot: &Slot| match slot {
            Slot::Node(node) => size(&graph.nodes[*node]).0,
            Slot::Lane(_) => LANE_WIDTH,
        };
        let row_width = |row: &Vec<Slot>| {
            row.iter().map(width_of).sum::<f64>() + COLUMN_GAP * row.len().saturating_sub(1) as f64
        };
        // Each row is centred in the widest one, so the width of the drawing comes before all positions.
        let width = rows.iter().map(row_width).fold(0.0, f64::max) + 2.0 * MARGIN;
        let heights: Vec<f64> = graph.nodes.iter().map(|node| size(node).1).collect();
        let mut nodes = vec![(0.0, 0.0); count];
        let mut lanes = vec![Vec::new(); edges.len()];
        let mut top = MARGIN;
        for row in &rows {
            let of_row = row.iter().filter_map(|slot| match slot {
                Slot::Node(node) => Some(heights[*node]),
                Slot::Lane(_) => None,
            });
            let height = of_row.fold(0.0, f64::max);
            let mut left = (width - row_width(row)) / 2.0;
            for slot in row {
                let middle = left + width_of(slot) / 2.0;
                match slot {
                    Slot::Node(node) => nodes[*node] = (middle, top),
                    // The rows come from the top, so the lanes of an edge are in the order of its way.
                    Slot::Lane(edge) => lanes[*edge].push((middle, top, top + height)),
                }
                left += width_of(slot) + COLUMN_GAP;
            }
            top += height + ROW_GAP;
        }
        Self { nodes, heights, lanes, width, height: top - ROW_GAP + MARGIN }
    }

    /// The line of an edge and its tip.
    fn way(&self, number: usize, edge: &GraphEdge, backs: &mut usize) -> (String, String) {
        let (from, to) = (self.nodes[edge.from], self.nodes[edge.to]);
        let start = (from.0, from.1 + self.heights[edge.from]);
        if start.1 < to.1 {
            let mut line = format!("M{}", point(start));
            let mut at = start;
            for (x, top, bottom) in &self.lanes[number] {
                line += &format!(" {} L{}", bent(at, (*x, *top)), point((*x, *bottom)));
                at = (*x, *bottom);
            }
            let end = (to.0, to.1 - TIP.0);
            line += &format!(" {}", bent(at, end));
            let tip = [(end.0 - TIP.1, end.1), to, (end.0 + TIP.1, end.1)].map(point);
            return (line, format!("M{} L{} L{} Z", tip[0], tip[1], tip[2]));
        }
        // It closes a cycle, and goes up on the right of everything.
        *backs += 1;
        let x = self.width + BACK_GAP * (*backs as f64 - 0.5);
        let begin = (from.0, from.1 + self.heights[edge.from] / 2.0);
        let end = (to.0, to.1 + self.heights[edge.to] / 2.0);
        let line = format!("M{} C{} {} {}", point(begin), point((x, begin.1)), point((x, end.1)), point(end));
        // The nodes cover both of its ends, so its tip is in the middle, where it goes up. Halfway along a cubic curve
        // its ends have weights of 1/8, and its control points, both at `x`, of 3/8.
        let middle = (begin.0 * 0.125 + x * 0.75 + end.0 * 0.125, begin.1.midpoint(end.1));
        let tip =
            [(middle.0 - TIP.1, middle.1 + TIP.0), middle, (middle.0 + TIP.1, middle.1 + TIP.0)].map(point);
        (line, format!("M{} L{} L{} Z", tip[0], tip[1], tip[2]))
    }
}

fn point((x, y): Point) -> String {
    format!("{} {}", units(x), units(y))
}

/// A curve that leaves and arrives downwards.
fn bent(from: Point, to: Point) -> String {
    let middle = from.1.midpoint(to.1);
    format!("C{} {} {}", point((from.0, middle)), point((to.0, middle)), point(to))
}

/// The row of each node: one below the lowest of its predecessors. If a cycle blocks every remaining node, the
/// first of them comes next.
fn layers(count: usize, edges: &[&GraphEdge]) -> Vec<usize> {
    let mut layers: Vec<Option<usize>> = vec![None; count];
    // Each round places one node. The search is slow but simple, for at most `NODES_MAX` nodes.
    for _ in 0..count {
        let is_free = |node: &usize| {
            layers[*node].is_none()
                && edges
                    .iter()
                    // An edge from a node to itself does not hold the node up.
                    .all(|edge| edge.to != *node || edge.from == *node || layers[edge.from].is_some())
        };
        let Some(next) = (0..count).find(is_free).or_else(|| (0..count).find(|node| layers[*node].is_none()))
        else {
            break;
        };
        let above = edges.iter().filter(|edge| edge.to == next).filter_map(|edge| layers[edge.from]);
        layers[next] = Some(above.map(|row| row + 1).max().unwrap_or(0));
    }
    layers.into_iter().map(Option::unwrap_or_default).collect()
}

/// The items of each row, from left to right.
fn rows(layers: &[usize], edges: &[&GraphEdge]) -> Vec<Vec<Slot>> {
    let deepest = layers.iter().copied().max().unwrap_or(0);
    let mut rows: Vec<Vec<Slot>> = vec![Vec::new(); deepest + 1];
    for (node, row) in layers.iter().enumerate() {
        rows[*row].push(Slot::Node(node));
    }
    for (number, edge) in edges.iter().enumerate() {
        // The rows strictly between both ends; none for an edge that goes up.
        for row in rows.iter_mut().take(layers[edge.to]).skip(layers[edge.from] + 1) {
            row.push(Slot::Lane(number));
        }
    }
    // One pass from the top: a row is sorted by the order of the row above it, which is final by then.
    for row in 1..rows.len() {
        let (above, below) = rows.split_at_mut(row);
        let Some(above) = above.last() else { continue };
        let places: Vec<f64> = below[0].iter().map(|slot| middle_above(*slot, above, edges)).collect();
        let mut numbered: Vec<(f64, Slot)> = places.into_iter().zip(below[0].iter().copied()).collect();
        // The sort is stable: slots with equal positions keep their order.
        numbered.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        below[0] = numbered.into_iter().map(|(_, slot)| slot).collect();
    }
    rows
}

/// The mean position of a slot's neighbours in the row above, as a share of that row; the middle if it has none.
fn middle_above(slot: Slot, above: &[Slot], edges: &[&GraphEdge]) -> f64 {
    let is_joined = |upper: Slot| match (upper, slot) {
        (Slot::Node(from), Slot::Node(to)) => edges.iter().any(|edge| (edge.from, edge.to) == (from, to)),
        (Slot::Node(from), Slot::Lane(way)) => edges[way].from == from,
        (Slot::Lane(way), Slot::Node(to)) => edges[way].to == to,
        (Slot::Lane(upper), Slot::Lane(lower)) => upper == lower,
    };
    let places = above.iter().enumerate().filter(|(_, upper)| is_joined(**upper));
    let places: Vec<f64> = places.map(|(place, _)| (place as f64 + 0.5) / above.len() as f64).collect();
    if places.is_empty() { 0.5 } else { places.iter().sum::<f64>() / places.len() as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(count: usize, edges: &[(usize, usize)]) -> Graph {
        let node = |number: usize| GraphNode { name: format!("task {number}"), ..GraphNode::default() };
        let edge = |&(from, to): &(usize, usize)| GraphEdge {
            from,
            to,
            title: String::new(),
            is_flow: false,
            is_wrong: false,
        };
        Graph { nodes: (0..count).map(node).collect(), edges: edges.iter().map(edge).collect() }
    }

    #[test]
    fn what_comes_before_stands_above() {
        let graph = graph(5, &[(0, 1), (1, 2), (0, 2), (3, 2)]);
        let placed = Placed::new(&graph);
        for edge in &graph.edges {
            assert!(placed.nodes[edge.from].1 < placed.nodes[edge.to].1, "{edge:?}");
        }
        assert_eq!(placed.lanes.iter().map(Vec::len).collect::<Vec<_>>(), [0, 0, 1, 1]);
        assert_eq!(placed.nodes[4].1, placed.nodes[0].1, "what is free stands above");
    }

    #[test]
    fn nothing_in_a_row_touches() {
        let graph = graph(6, &[(0, 3), (0, 4), (1, 4), (2, 5), (0, 5)]);
        let placed = Placed::new(&graph);
        for one in 0..6 {
            for other in one + 1..6 {
                let ([x1, y1], [x2, y2]) = (placed.nodes[one].into(), placed.nodes[other].into());
                let room = (size(&graph.nodes[one]).0 + size(&graph.nodes[other]).0) / 2.0;
                assert!(y1 != y2 || f64::abs(x1 - x2) >= room, "{one} and {other}");
                assert!(x1 > 0.0 && x1 < placed.width && y1 > 0.0 && y1 < placed.height);
            }
        }
    }

    #[test]
    fn a_circle_is_drawn_and_so_is_any_edge() {
        let circle = draw(&graph(3, &[(0, 1), (1, 2), (2, 0), (1, 1), (7, 0)])).into_string();
        assert_eq!(circle.matches("<path class=\"line\"").count(), 4, "{circle}");
        assert_eq!(draw(&Graph::default()).into_string(), "");
        assert_eq!(draw(&graph(25, &[])).into_string(), "");
    }
}
