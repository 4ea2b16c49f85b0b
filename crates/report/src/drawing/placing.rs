//! Computes the positions of the boxes and arrows of a drawing with the library `layout-rs`, which is used only
//! here.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use layout::core::base::Orientation;
use layout::core::format::{ClipHandle, RenderBackend};
use layout::core::geometry::Point;
use layout::core::style::StyleAttr;
use layout::std_shapes::shapes::{Arrow, Element, ShapeKind};
use layout::topo::layout::VisualGraph;

/// A shape to be placed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shape {
    Box {
        width: f64,
        height: f64,
    },
    /// A disc of this diameter.
    Disc(f64),
}

/// A position in the drawing, measured from its upper left corner.
pub(super) type Place = (f64, f64);

/// An arrow: cubic curves from `start`, each with its two control points and its end.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Way {
    /// The index of the pair of shapes that it connects.
    pub(super) pair: usize,
    pub(super) start: Place,
    pub(super) curves: Vec<[Place; 3]>,
}

/// Shapes and arrows with their positions.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Placed {
    /// The centre of each shape, in the given order.
    pub(super) middles: Vec<Place>,
    pub(super) ways: Vec<Way>,
}

/// How far an arrow from a box to itself extends, and half its height. The library leaves 30 pixels beside a box.
const LOOP_SIZE: (f64, f64) = (24.0, 9.0);
/// How far each of two opposite arrows is moved aside.
const APART: f64 = 7.0;

/// The library failed, with this message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NotPlaced(pub(super) String);

/// Places shapes in rows from top to bottom, so that as many arrows as possible lead down. `pairs` contains the
/// indices of the shapes that arrows connect, without duplicates. The time grows fast with the number of pairs that
/// skip rows, so the caller bounds both.
///
/// # Errors
/// An assertion of the library failed. No graph is known to cause this, but the library has many assertions.
pub(super) fn place(shapes: &[Shape], pairs: &[(usize, usize)]) -> Result<Placed, NotPlaced> {
    guarded(|| place_with_library(shapes, pairs))
}

thread_local! {
    /// Whether the current work of this thread is guarded, so that a panic is not printed.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs code that may panic, and returns the panic message instead of printing it.
fn guarded<T>(run: impl FnOnce() -> T) -> Result<T, NotPlaced> {
    static QUIET: Once = Once::new();
    // The hook belongs to the whole process, so it is installed once, and passes on the panics of all other work.
    QUIET.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_GUARDED.get() {
                before(info);
            }
        }));
    });
    IS_GUARDED.set(true);
    // Everything that the closure started is dropped with it, so nobody can see it half done.
    let result = panic::catch_unwind(AssertUnwindSafe(run));
    IS_GUARDED.set(false);
    result.map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        NotPlaced(text.unwrap_or_else(|| "without a word".to_owned()))
    })
}

/// Directs the pairs so that they form no cycle, by reversing each one that would close a cycle. Returns each with
/// the index of its pair and whether it is reversed, ordered so that arrows from sources come first.
///
/// The library would do this itself, but it follows every path to find a cycle, and forty boxes can have millions
/// of paths. In this order, no path yet leads onwards from the target of an arrow when the arrow is added.
fn acyclic(shapes: usize, pairs: impl Iterator<Item = (usize, (usize, usize))>) -> Vec<Directed> {
    // The shapes reachable from each shape, itself included.
    let mut reached: Vec<Vec<bool>> =
        (0..shapes).map(|number| (0..shapes).map(|other| other == number).collect()).collect();
    let mut directed = Vec::new();
    for (pair, (from, to)) in pairs {
        // A path from `to` to `from` would form a cycle with this arrow.
        let is_turned = reached[to][from];
        let (from, to) = if is_turned { (to, from) } else { (from, to) };
        let behind = reached[to].clone();
        for row in reached.iter_mut().filter(|row| row[from]) {
            row.iter_mut().zip(&behind).for_each(|(old, new)| *old |= new);
        }
        directed.push(Directed { pair, from, to, is_turned });
    }
    // A predecessor of a shape reaches everything that the shape reaches, and more.
    directed.sort_by_key(|arrow| {
        let reaches = reached[arrow.from].iter().filter(|is_reached| **is_reached).count();
        (std::cmp::Reverse(reaches), arrow.from)
    });
    directed
}

/// A pair as passed to the library.
#[derive(Debug, Clone, Copy)]
struct Directed {
    pair: usize,
    from: usize,
    to: usize,
    is_turned: bool,
}

fn place_with_library(shapes: &[Shape], pairs: &[(usize, usize)]) -> Placed {
    let mut graph = VisualGraph::new(Orientation::TopToBottom);
    // The library would otherwise follow every path again for every arrow, to check that there is no cycle.
    graph.dag.set_validate(false);
    let handles: Vec<_> = (0..)
        .zip(shapes)
        .map(|(number, shape): (usize, &Shape)| {
            let (kind, size) = match *shape {
                Shape::Box { width, height } => (ShapeKind::new_box(""), Point::new(width, height)),
                Shape::Disc(size) => (ShapeKind::new_circle(""), Point::new(size, size)),
            };
            let look = StyleAttr::simple();
            let name = number.to_string();
            graph.add_node(Element::create_with_properties(kind, look, Orientation::TopToBottom, size, name))
        })
        .collect();
    // We draw arrows from a shape to itself, and the second of two opposite arrows: the library draws opposite
    // arrows over one another, or, if they have labels, moves them into neighbouring shapes, and then one of its
    // own assertions fails.
    let is_return = |from: usize, to: usize| from > to && pairs.contains(&(to, from));
    let given =
        pairs.iter().copied().enumerate().filter(|(_, (from, to))| from != to && !is_return(*from, *to));
    let directed = acyclic(shapes.len(), given);
    for Directed { pair, from, to, .. } in &directed {
        graph.add_edge(Arrow::simple_with_properties("", pair.to_string()), handles[*from], handles[*to]);
    }
    let mut drawn = Drawn { middles: vec![(0.0, 0.0); shapes.len()], ways: Vec::new() };
    // Without debug marks, with the positions optimised, and with coordinates.
    graph.do_it(false, false, false, &mut drawn);
    drawn.ways.sort_by_key(|way| way.pair);
    // Arrows that `acyclic` reversed get their own direction back.
    for way in &mut drawn.ways {
        if directed.iter().any(|arrow| arrow.pair == way.pair && arrow.is_turned) {
            *way = reversed(way);
        }
    }
    for (pair, &(from, to)) in pairs.iter().enumerate() {
        if from == to {
            // The disc of the start never has an arrow to itself.
            if let Shape::Box { width, .. } = shapes[from] {
                drawn.ways.push(loop_at(pair, drawn.middles[from], width));
            }
        } else if is_return(from, to)
            && let Some(other) = pairs.iter().position(|pair| *pair == (to, from))
            && let Some(way) = drawn.ways.iter_mut().find(|way| way.pair == other)
        {
            // `way` leads from `to` to `from`. Both arrows move aside, so that neither is drawn over the other.
            let back = Way { pair, ..reversed(way) };
            let span = |number: usize| {
                let (Shape::Box { width: size, .. } | Shape::Disc(size)) = shapes[number];
                (drawn.middles[number].0, size / 2.0)
            };
            *way = shifted(way, -APART, span(to), span(from));
            drawn.ways.push(shifted(&back, APART, span(from), span(to)));
        }
    }
    Placed { middles: drawn.middles, ways: drawn.ways }
}

/// Collects what the library draws. Shapes and arrows carry their index as their *properties*.
struct Drawn {
    middles: Vec<Place>,
    ways: Vec<Way>,
}

impl Drawn {
    fn shape(&mut self, properties: Option<&str>, middle: Place) {
        let number = properties.and_then(|text| text.parse::<usize>().ok());
        if let Some(place) = number.and_then(|number| self.middles.get_mut(number)) {
            *place = middle;
        }
    }
}

impl RenderBackend for Drawn {
    fn draw_rect(
        &mut self,
        corner: Point,
        size: Point,
        _: &StyleAttr,
        properties: Option<String>,
        _: Option<ClipHandle>,
    ) {
        self.shape(properties.as_deref(), (corner.x + size.x / 2.0, corner.y + size.y / 2.0));
    }

    fn draw_circle(&mut self, middle: Point, _: Point, _: &StyleAttr, properties: Option<String>) {
        self.shape(properties.as_deref(), (middle.x, middle.y));
    }

    fn draw_line(&mut self, _: Point, _: Point, _: &StyleAttr, _: Option<String>) {}

    fn draw_text(&mut self, _: Point, _: &str, _: &StyleAttr) {}

    fn draw_arrow(
        &mut self,
        path: &[(Point, Point)],
        _: bool,
        _: (bool, bool),
        _: &StyleAttr,
        properties: Option<String>,
        _: &str,
    ) {
        // The first entry is the start with its control point; each of the others is a control point with the end of a
        // curve.
        let [(start, first), (second, end), rest @ ..] = path else { return };
        let Some(pair) = properties.and_then(|text| text.parse().ok()) else { return };
        let place = |point: &Point| (point.x, point.y);
        let mut curves = vec![[place(first), place(second), place(end)]];
        for (second, end) in rest {
            // The first control point mirrors the previous one, so that the curve has no corner.
            let [_, (before_x, before_y), (x, y)] = curves[curves.len() - 1];
            curves.push([(2.0 * x - before_x, 2.0 * y - before_y), place(second), place(end)]);
        }
        self.ways.push(Way { pair, start: place(start), curves });
    }

    fn create_clip(&mut self, _: Point, _: Point, _: usize) -> ClipHandle {
        0
    }
}

/// An arrow from the right side of a box back to the box.
fn loop_at(pair: usize, (x, y): Place, width: f64) -> Way {
    let (reach, half) = LOOP_SIZE;
    let right = x + width / 2.0;
    // A cubic curve reaches three quarters of the distance to its control points.
    let far = right + reach * 4.0 / 3.0;
    let end = (right, y + half);
    Way { pair, start: (right, y - half), curves: vec![[(far, y - 2.0 * half), (far, y + 2.0 * half), end]] }
}

/// The arrow moved aside. An end that would leave its box or enter it stays where it is; boxes are given by their
/// centre and half their width.
fn shifted(way: &Way, right: f64, from: (f64, f64), to: (f64, f64)) -> Way {
    let end = |(x, y): Place, (middle, half): (f64, f64)| {
        let is_inside = (x - middle).abs() + 2.0 * APART < half;
        (if is_inside { x + right } else { x }, y)
    };
    let aside = |(x, y): Place| (x + right, y);
    let mut curves: Vec<[Place; 3]> = way.curves.iter().map(|curve| curve.map(aside)).collect();
    if let (Some(last), Some([_, _, old])) = (curves.last_mut(), way.curves.last()) {
        last[2] = end(*old, to);
    }
    Way { pair: way.pair, start: end(way.start, from), curves }
}

fn reversed(way: &Way) -> Way {
    let starts = std::iter::once(way.start).chain(way.curves.iter().map(|[_, _, end]| *end));
    let mut curves: Vec<[Place; 3]> =
        starts.zip(&way.curves).map(|(start, [first, second, _])| [*second, *first, start]).collect();
    curves.reverse();
    let start = way.curves.last().map_or(way.start, |[_, _, end]| *end);
    Way { pair: way.pair, start, curves }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOX: Shape = Shape::Box { width: 80.0, height: 40.0 };

    /// Whether a position lies on the border of a box, as the end of an arrow does.
    fn is_at(place: Place, middle: Place) -> bool {
        let (x, y) = ((place.0 - middle.0).abs(), (place.1 - middle.1).abs());
        x <= 40.5 && y <= 20.5 && (x >= 39.5 || y >= 19.5)
    }

    #[test]
    fn arrows_lead_from_box_to_box() {
        // A chain with an arrow back, two opposite arrows, one that skips a row, and one from a shape to itself.
        let pairs = [(0, 1), (1, 2), (2, 1), (2, 3), (3, 0), (0, 3), (3, 3)];
        let placed = place(&[BOX; 4], &pairs).unwrap();
        assert_eq!(placed.ways.len(), pairs.len());
        for way in &placed.ways {
            let (from, to) = pairs[way.pair];
            let end = way.curves.last().unwrap()[2];
            assert!(is_at(way.start, placed.middles[from]), "{way:?} of {:?}", placed.middles);
            assert!(is_at(end, placed.middles[to]), "{way:?} of {:?}", placed.middles);
        }
        for (number, way) in placed.ways.iter().enumerate() {
            let others = &placed.ways[number + 1..];
            assert!(others.iter().all(|other| other.curves != way.curves && *other != reversed(way)));
        }
    }

    #[test]
    fn boxes_lie_apart() {
        let placed = place(&[BOX; 5], &[(0, 1), (0, 2), (0, 3), (3, 4), (4, 0)]).unwrap();
        for (number, (x, y)) in placed.middles.iter().enumerate() {
            for (other_x, other_y) in &placed.middles[number + 1..] {
                assert!((x - other_x).abs() >= 80.0 || (y - other_y).abs() >= 40.0, "{:?}", placed.middles);
            }
        }
    }

    #[test]
    fn a_panic_becomes_an_error() {
        let words = |result: Result<(), NotPlaced>| result.unwrap_err().0;
        assert_eq!(words(guarded(|| panic!("Boxes must not intersect"))), "Boxes must not intersect");
        assert_eq!(words(guarded(|| panic!("row {}", 1))), "row 1");
        assert_eq!(guarded(|| 1), Ok(1));
    }

    /// Graphs of every shape, and those with the most paths within the limits.
    #[test]
    #[ignore = "slow"]
    fn every_graph_is_placed() {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut below = move |end: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as usize % end
        };
        let layers = |width: usize, count: usize, extra: usize| -> Vec<(usize, usize)> {
            let node = move |layer: usize, place: usize| 1 + layer * width + place;
            let between = move |layer| {
                (0..width).flat_map(move |a| (0..width).map(move |b| (node(layer, a), node(layer + 1, b))))
            };
            (0..count).flat_map(between).chain((0..extra).map(|back| (node(count, 0), 1 + back))).collect()
        };
        let mut graphs: Vec<(usize, Vec<(usize, usize)>)> = vec![
            (1, vec![]),
            (41, vec![]),
            (41, (1..41).map(|number| (number, number)).collect()),
            (41, (0..40).map(|number| (number, number + 1)).collect()),
            (
                41,
                (0..40).map(|number| (number, number + 1)).chain((3..41).map(|number| (number, 1))).collect(),
            ),
            (41, (1..41).map(|number| (0, number)).chain((1..40).map(|number| (number, 40))).collect()),
            (41, layers(2, 19, 4)),
            (41, layers(3, 8, 8)),
            (13, (1..13).flat_map(|a| (1..13).map(move |b| (a, b))).take(80).collect()),
        ];
        for round in 0..150 {
            let shapes = 2 + below(if round % 30 == 0 { 40 } else { 9 });
            let mut pairs = Vec::new();
            for _ in 0..below(2 * shapes) {
                let from = if below(5) == 0 { 0 } else { 1 + below(shapes - 1) };
                let pair = (from, 1 + below(shapes - 1));
                if !pairs.contains(&pair) {
                    pairs.push(pair);
                }
            }
            graphs.push((shapes, pairs));
        }
        for (count, pairs) in graphs {
            let shapes: Vec<Shape> = (0..count)
                .map(|number| match number {
                    0 => Shape::Disc(14.0),
                    _ => Shape::Box { width: 28.0 + below(500) as f64, height: [46.0, 66.0][below(2)] },
                })
                .collect();
            let placed = place(&shapes, &pairs).unwrap();
            assert_eq!(placed.ways.len(), pairs.len(), "{pairs:?}");
            let ways = placed.ways.iter().flat_map(|way| way.curves.iter().flatten().chain([&way.start]));
            assert!(placed.middles.iter().chain(ways).all(|(x, y)| x.is_finite() && y.is_finite()));
        }
    }
}
