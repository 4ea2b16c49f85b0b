//! Where the boxes and arrows of a drawing go. The library `layout-rs` says so; all that is known of it is here.

use layout::core::base::Orientation;
use layout::core::format::{ClipHandle, RenderBackend};
use layout::core::geometry::Point;
use layout::core::style::StyleAttr;
use layout::std_shapes::shapes::{Arrow, Element, ShapeKind};
use layout::topo::layout::VisualGraph;

/// What is to be placed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shape {
    Box {
        width: f64,
        height: f64,
    },
    /// A disc of this diameter.
    Disc(f64),
}

/// A place in the drawing, from its upper left corner.
pub(super) type Place = (f64, f64);

/// An arrow: cubic curves from `start`, each by its two control points and its end.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Way {
    /// The index of the pair of shapes that it leads from and to.
    pub(super) pair: usize,
    pub(super) start: Place,
    pub(super) curves: Vec<[Place; 3]>,
}

/// Shapes and arrows in their places.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Placed {
    /// The middle of each shape, in the order in which they were given.
    pub(super) middles: Vec<Place>,
    pub(super) ways: Vec<Way>,
}

/// How far an arrow from a box to itself reaches out, and half its height. The library leaves 30 pixels beside a box.
const LOOP_SIZE: (f64, f64) = (24.0, 9.0);
/// How far each of two arrows to and fro is moved aside.
const APART: f64 = 7.0;

/// Places shapes in rows from top to bottom, so that as many arrows as possible lead down. `pairs` are indices of the
/// shapes that arrows lead from and to, no two of them the same. Takes time that grows fast with the number of pairs
/// that skip rows: the caller bounds both.
pub(super) fn place(shapes: &[Shape], pairs: &[(usize, usize)]) -> Placed {
    let mut graph = VisualGraph::new(Orientation::TopToBottom);
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
    // Arrows from a shape to itself are ours, and of two to and fro the second: the library draws them over one another,
    // or, given a label, moves them into what stands beside, and an assertion of its own fails.
    let is_return = |from: usize, to: usize| from > to && pairs.contains(&(to, from));
    for (number, &(from, to)) in pairs.iter().enumerate() {
        if from != to && !is_return(from, to) {
            graph.add_edge(Arrow::simple_with_properties("", number.to_string()), handles[from], handles[to]);
        }
    }
    let mut drawn = Drawn { middles: vec![(0.0, 0.0); shapes.len()], ways: Vec::new() };
    // No marks for debugging, with the order of places optimised, and with coordinates.
    graph.do_it(false, false, false, &mut drawn);
    for (pair, &(from, to)) in pairs.iter().enumerate() {
        if from == to {
            if let Shape::Box { width, .. } = shapes[from] {
                drawn.ways.push(loop_at(pair, drawn.middles[from], width));
            }
        } else if is_return(from, to)
            && let Some(other) = pairs.iter().position(|pair| *pair == (to, from))
            && let Some(way) = drawn.ways.iter_mut().find(|way| way.pair == other)
        {
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

/// Takes what the library draws. Shapes and arrows carry their index as their *properties*.
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
        (has_head_at_start, _): (bool, bool),
        _: &StyleAttr,
        properties: Option<String>,
        _: &str,
    ) {
        let [(start, first), (second, end), rest @ ..] = path else { return };
        let Some(pair) = properties.and_then(|text| text.parse().ok()) else { return };
        let place = |point: &Point| (point.x, point.y);
        let mut curves = vec![[place(first), place(second), place(end)]];
        for (second, end) in rest {
            // The first control point lies opposite the last one before, so that the curve has no corner.
            let [_, (before_x, before_y), (x, y)] = curves[curves.len() - 1];
            curves.push([(2.0 * x - before_x, 2.0 * y - before_y), place(second), place(end)]);
        }
        let way = Way { pair, start: place(start), curves };
        // Where an arrow had to be turned round to lead down, its head is at its start.
        self.ways.push(if has_head_at_start { reversed(&way) } else { way });
    }

    fn create_clip(&mut self, _: Point, _: Point, _: usize) -> ClipHandle {
        0
    }
}

/// An arrow from the right side of a box back to it.
fn loop_at(pair: usize, (x, y): Place, width: f64) -> Way {
    let (reach, half) = LOOP_SIZE;
    let right = x + width / 2.0;
    // A cubic curve reaches three quarters of the way to its control points.
    let far = right + reach * 4.0 / 3.0;
    let end = (right, y + half);
    Way { pair, start: (right, y - half), curves: vec![[(far, y - 2.0 * half), (far, y + 2.0 * half), end]] }
}

/// The way moved aside. Where an end would leave the box that it lies at, or come into it, it stays; boxes are given by
/// the middle and half of their width.
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

    /// Whether a place lies at the border of a box, as the end of an arrow does.
    fn is_at(place: Place, middle: Place) -> bool {
        let (x, y) = ((place.0 - middle.0).abs(), (place.1 - middle.1).abs());
        x <= 40.5 && y <= 20.5 && (x >= 39.5 || y >= 19.5)
    }

    #[test]
    fn arrows_lead_from_box_to_box() {
        // A chain with a way back, a way to and fro, one over a row, and one to itself.
        let pairs = [(0, 1), (1, 2), (2, 1), (2, 3), (3, 0), (0, 3), (3, 3)];
        let placed = place(&[BOX; 4], &pairs);
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
        let placed = place(&[BOX; 5], &[(0, 1), (0, 2), (0, 3), (3, 4), (4, 0)]);
        for (number, (x, y)) in placed.middles.iter().enumerate() {
            for (other_x, other_y) in &placed.middles[number + 1..] {
                assert!((x - other_x).abs() >= 80.0 || (y - other_y).abs() >= 40.0, "{:?}", placed.middles);
            }
        }
    }
}
