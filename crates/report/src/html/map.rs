//! A map of places and the routes between them.
//!
//! Opposite routes bend to the left of their direction of travel, so that they lie apart; a single route bends away
//! from the centre of all places, so that the labels of a round trip are outside. A route that is travelled again
//! bends further. A label is placed at the apex of its route on the outer side if there is room, otherwise where it
//! covers the least of the places, their names and the earlier labels.

use maud::{Markup, html};
use planproof_suite::{Map, MapPlace, MapWay};

use super::parts::NAME_CHARACTERS_MAX;
use super::text::{Foreign, units};

/// Maximum number of places and of routes drawn.
const PLACES_MAX: usize = 40;
const WAYS_MAX: usize = 60;
/// Maximum number of characters shown of a name or a label. The full text is in the title of the place or the
/// route.
const LABEL_CHARACTERS_MAX: usize = 24;

// Dimensions of the drawing in its own units; the page scales it.
const WIDTH: f64 = 480.0;
const HEIGHT_MIN: f64 = 190.0;
const HEIGHT_MAX: f64 = 340.0;
const MARGIN_X: f64 = 92.0;
const MARGIN_Y: f64 = 52.0;
const DISC: f64 = 5.0;
/// Distance of the apex of a route from the straight line, as a share of its length, and its minimum.
const BEND: f64 = 0.16;
const BEND_MIN: f64 = 18.0;
/// Distance of a label from the apex.
const LABEL_GAP: f64 = 9.0;
/// Distance between the end of a route and the centre of its place.
const END_GAP: f64 = 9.0;
/// Length and width of the tip of an arrow.
const TIP: (f64, f64) = (9.0, 4.0);
/// Size of the letters, to centre text vertically, and width of a typical letter.
const LETTER: f64 = 14.0;
const LETTER_WIDTH: f64 = 7.6;
/// The shares of a route at which its label may be placed.
const SHARES: [f64; 5] = [0.5, 0.36, 0.64, 0.22, 0.78];

type Point = (f64, f64);

/// The drawing, with its caption below.
pub(super) fn draw(map: &Map) -> Markup {
    let places: Vec<Option<Point>> = laid_out(&map.places);
    let (_, height) = frame(&map.places);
    let place = |number: usize| places.get(number).copied().flatten();
    let ways: Vec<(&MapWay, Arc)> = map
        .ways
        .iter()
        .take(WAYS_MAX)
        .enumerate()
        .filter_map(|(number, way)| {
            let before = &map.ways[..number];
            let is_same = |it: &&MapWay| (it.from, it.to) == (way.from, way.to);
            let before = before.iter().filter(is_same).count();
            let is_alone = !map.ways.iter().any(|it| (it.to, it.from) == (way.from, way.to));
            let (from, to) = (place(way.from)?, place(way.to)?);
            let is_left = !is_alone || is_outside_left(from, to, (WIDTH / 2.0, height / 2.0));
            Some((way, Arc::between(from, to, before, is_left)?))
        })
        .collect();
    let spots = spots(&map.places, &places, &ways, height);
    html! {
        div.map {
            @if places.iter().any(Option::is_some) {
                svg viewBox={ "0 0 " (units(WIDTH)) " " (units(height)) } role="img"
                    aria-label=(Foreign::short(&map.to_text(), NAME_CHARACTERS_MAX))
                {
                    @for (way, arc) in &ways { (arc.show(way)) }
                    @for (place, at) in map.places.iter().zip(&places) {
                        @if let Some(at) = at { (mark(place, *at, height)) }
                    }
                    // Drawn last, so that no line crosses them.
                    @for ((way, _), spot) in ways.iter().zip(&spots) { (spot.show(way)) }
                }
            }
            @if !map.caption.is_empty() { p.note { (Foreign::short(&map.caption, NAME_CHARACTERS_MAX)) } }
        }
    }
}

/// The scale and the height of the drawing.
fn frame(places: &[MapPlace]) -> (f64, f64) {
    let (east, north) = (extent(places, |it| it.east), extent(places, |it| it.north));
    let (wide, tall) = (east.1 - east.0, north.1 - north.0);
    let room = WIDTH - 2.0 * MARGIN_X;
    // A direction in which the places do not differ does not limit the scale. A single place leaves it infinite.
    let scale = |wide: f64, room: f64| if wide > 0.0 { room / wide } else { f64::INFINITY };
    let scale = scale(wide, room).min(scale(tall, HEIGHT_MAX - 2.0 * MARGIN_Y));
    let scale = if scale.is_finite() { scale } else { 1.0 };
    (scale, (tall * scale + 2.0 * MARGIN_Y).clamp(HEIGHT_MIN, HEIGHT_MAX))
}

fn drawn(places: &[MapPlace]) -> impl Iterator<Item = &MapPlace> {
    places.iter().take(PLACES_MAX).filter(|it| it.east.is_finite() && it.north.is_finite())
}

/// The minimum and the maximum value; zeros if there are none.
fn extent(places: &[MapPlace], of: impl Fn(&MapPlace) -> f64) -> Point {
    let values = drawn(places).map(of);
    let found = values.fold(None, |found: Option<Point>, value| {
        Some(found.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
    });
    found.unwrap_or_default()
}

/// The positions of places in the drawing, centred as a group.
fn laid_out(places: &[MapPlace]) -> Vec<Option<Point>> {
    let (scale, height) = frame(places);
    let (east, north) = (extent(places, |it| it.east), extent(places, |it| it.north));
    let middle = (east.0.midpoint(east.1), north.0.midpoint(north.1));
    let at = |(number, it): (usize, &MapPlace)| {
        // A place that is not drawn keeps its index, because routes refer to places by index.
        let is_drawn = number < PLACES_MAX && it.east.is_finite() && it.north.is_finite();
        is_drawn.then(|| {
            // North is up, and the vertical axis points down.
            (WIDTH / 2.0 + (it.east - middle.0) * scale, height / 2.0 - (it.north - middle.1) * scale)
        })
    };
    places.iter().enumerate().map(at).collect()
}

/// A place with its name.
fn mark(place: &MapPlace, (x, y): Point, height: f64) -> Markup {
    html! {
        g.place {
            title { (Foreign::short(&place.name, NAME_CHARACTERS_MAX)) }
            circle cx=(units(x)) cy=(units(y)) r=(units(DISC)) {}
            text x=(units(x)) y=(units(name_y(y, height))) text-anchor="middle" {
                (Foreign::cut(&place.name, LABEL_CHARACTERS_MAX))
            }
        }
    }
}

/// Whether the centre of the drawing is on the right when travelling from one place to the other.
fn is_outside_left(from: Point, to: Point, middle: Point) -> bool {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    // The vertical axis points down.
    dx * (middle.1 - from.1) - dy * (middle.0 - from.0) >= 0.0
}

/// A curved route.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Arc {
    start: Point,
    control: Point,
    end: Point,
    /// A unit vector towards the outer side.
    outwards: Point,
}

impl Arc {
    /// The curve of a route that follows `before` earlier ones between the same places, and bends to the left or
    /// the right; `None` if the places are too close together.
    fn between(from: Point, to: Point, before: usize, is_left: bool) -> Option<Self> {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx.hypot(dy);
        if length <= 2.0 * END_GAP {
            return None;
        }
        let side = if is_left { 1.0 } else { -1.0 };
        let outwards = (side * dy / length, -side * dx / length);
        let bend = (length * BEND).max(BEND_MIN) * (1.0 + before as f64);
        let middle = (from.0.midpoint(to.0), from.1.midpoint(to.1));
        // The apex of a quadratic curve is halfway to its control point.
        let control = (middle.0 + 2.0 * bend * outwards.0, middle.1 + 2.0 * bend * outwards.1);
        Some(Self { start: towards(from, control), control, end: towards(to, control), outwards })
    }

    fn show(&self, way: &MapWay) -> Markup {
        let point = |(x, y): Point| format!("{} {}", units(x), units(y));
        let curve = format!("M{} Q{} {}", point(self.start), point(self.control), point(self.end));
        // A quadratic curve arrives in the direction from its control point to its end.
        let (dx, dy) = (self.end.0 - self.control.0, self.end.1 - self.control.1);
        let length = dx.hypot(dy).max(1.0);
        let (dx, dy) = (dx / length, dy / length);
        let back = (self.end.0 - TIP.0 * dx, self.end.1 - TIP.0 * dy);
        let side = |sign: f64| point((back.0 - sign * TIP.1 * dy, back.1 + sign * TIP.1 * dx));
        let tip = format!("M{} L{} L{} Z", side(1.0), point(self.end), side(-1.0));
        html! {
            g.way.broken[way.is_wrong] {
                title { (Foreign::short(&way.label, NAME_CHARACTERS_MAX)) }
                path.line d=(curve) {}
                path.tip d=(tip) {}
            }
        }
    }

    /// The point of the curve at this share of it.
    fn at(&self, share: f64) -> Point {
        let of = |start: f64, control: f64, end: f64| {
            let rest = 1.0 - share;
            rest * rest * start + 2.0 * rest * share * control + share * share * end
        };
        (of(self.start.0, self.control.0, self.end.0), of(self.start.1, self.control.1, self.end.1))
    }

    /// Candidate positions for a text beside the route, the best one first.
    fn candidates(&self, text: &str) -> impl Iterator<Item = Spot> + use<'_> {
        let text = text.to_owned();
        let places = SHARES.into_iter().flat_map(|share| [(share, 1.0), (share, -1.0)]);
        places.map(move |(share, side)| {
            let ((x, y), (ox, oy)) = (self.at(share), (side * self.outwards.0, side * self.outwards.1));
            let anchor = match ox {
                _ if ox > 0.5 => "start",
                _ if ox < -0.5 => "end",
                _ => "middle",
            };
            // Text is positioned by its baseline, so its middle is half a letter higher.
            let y = y + oy * LABEL_GAP + LETTER * (0.35 + oy * 0.35);
            Spot { x: x + ox * LABEL_GAP, y, anchor, text: text.clone() }
        })
    }
}

/// A text with its position.
#[derive(Debug, Clone, PartialEq)]
struct Spot {
    x: f64,
    y: f64,
    anchor: &'static str,
    text: String,
}

impl Spot {
    /// The rectangle that it covers, using the width of a typical letter.
    fn room(&self) -> Room {
        let width = self.text.chars().count() as f64 * LETTER_WIDTH;
        let left = match self.anchor {
            "start" => self.x,
            "end" => self.x - width,
            _ => self.x - width / 2.0,
        };
        Room { left, right: left + width, top: self.y - LETTER, bottom: self.y + 0.3 * LETTER }
    }

    fn show(&self, way: &MapWay) -> Markup {
        html! {
            text.label.broken[way.is_wrong] x=(units(self.x)) y=(units(self.y)) text-anchor=(self.anchor) {
                (self.text)
            }
        }
    }
}

/// A rectangle of the drawing.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Room {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Room {
    /// The area of the overlap.
    fn common(&self, other: &Self) -> f64 {
        let wide = self.right.min(other.right) - self.left.max(other.left);
        let tall = self.bottom.min(other.bottom) - self.top.max(other.top);
        wide.max(0.0) * tall.max(0.0)
    }

    /// The area outside the drawing.
    fn outside(&self, height: f64) -> f64 {
        let drawing = Self { left: 0.0, right: WIDTH, top: 0.0, bottom: height };
        (self.right - self.left) * (self.bottom - self.top) - self.common(&drawing)
    }
}

/// The positions of the labels of all routes. The time is proportional to routes times routes and places.
fn spots(places: &[MapPlace], laid_out: &[Option<Point>], ways: &[(&MapWay, Arc)], height: f64) -> Vec<Spot> {
    // The places and their names are fixed, so they come first, and the labels avoid them.
    let mut taken: Vec<Room> = Vec::new();
    for (place, at) in places.iter().zip(laid_out) {
        let Some((x, y)) = *at else { continue };
        taken.push(Room { left: x - DISC, right: x + DISC, top: y - DISC, bottom: y + DISC });
        let text = Foreign::cut(&place.name, LABEL_CHARACTERS_MAX).as_str().to_owned();
        taken.push(Spot { x, y: name_y(y, height), anchor: "middle", text }.room());
    }
    let mut spots = Vec::new();
    for (number, (way, arc)) in (1..).zip(ways) {
        let sign = if way.is_wrong { " ✗" } else { "" };
        let text = format!("{number}: {}{sign}", Foreign::cut(&way.label, LABEL_CHARACTERS_MAX).as_str());
        let covered = |spot: &Spot| {
            let room = spot.room();
            room.outside(height) + taken.iter().map(|other| room.common(other)).sum::<f64>()
        };
        // Of equally good ones, the first, which is the preferred position.
        let best = arc.candidates(&text).min_by(|one, other| covered(one).total_cmp(&covered(other)));
        if let Some(best) = best {
            taken.push(best.room());
            spots.push(best);
        }
    }
    spots
}

/// The baseline of a place's name: above the place in the upper half and below it in the lower half.
fn name_y(y: f64, height: f64) -> f64 {
    if y <= height / 2.0 { y - 14.0 } else { y + 24.0 }
}

/// The point at the end of a route, a fixed distance before its place.
fn towards(from: Point, to: Point) -> Point {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let share = END_GAP / dx.hypot(dy).max(END_GAP);
    (from.0 + dx * share, from.1 + dy * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(east: f64, north: f64) -> MapPlace {
        MapPlace { name: "x".to_owned(), east, north }
    }

    fn way(from: usize, to: usize) -> MapWay {
        MapWay { from, to, label: String::new(), is_wrong: false }
    }

    #[test]
    fn places_keep_their_directions_and_stay_within() {
        for [wide, tall] in [[10.0, 1.0], [1.0, 10.0], [0.0, 5.0], [5.0, 0.0], [0.0, 0.0], [1e9, 1e-9]] {
            let places = [place(-100.0, 30.0), place(-100.0 + wide, 30.0 + tall)];
            let laid: Vec<Point> = laid_out(&places).into_iter().flatten().collect();
            let (_, height) = frame(&places);
            for (x, y) in &laid {
                assert!((MARGIN_X - 1.0..=WIDTH - MARGIN_X + 1.0).contains(x), "{x}");
                assert!((MARGIN_Y - 1.0..=height - MARGIN_Y + 1.0).contains(y), "{y} of {height}");
            }
            assert!(laid[0].0 <= laid[1].0 && laid[0].1 >= laid[1].1);
        }
    }

    #[test]
    fn ways_there_and_back_lie_apart() {
        let (one, other) = ((0.0, 0.0), (100.0, 0.0));
        let apexes = [(one, other, 0), (other, one, 0), (one, other, 1)]
            .map(|(from, to, before)| Arc::between(from, to, before, true).expect("a way").at(0.5).1);
        assert!(apexes[0] < -9.0 && apexes[1] > 9.0 && apexes[2] < apexes[0] - 9.0, "{apexes:?}");
        assert_eq!(Arc::between(one, one, 0, true), None);
    }

    #[test]
    fn a_way_alone_bends_away_from_the_middle() {
        let (one, other, middle) = ((0.0, 0.0), (100.0, 0.0), (50.0, 80.0));
        for (from, to) in [(one, other), (other, one)] {
            let arc = Arc::between(from, to, 0, is_outside_left(from, to, middle)).expect("a way");
            assert!(arc.at(0.5).1 < -9.0, "{arc:?}");
        }
    }

    #[test]
    fn labels_lie_apart_where_there_is_room() {
        let named = |name: &str, east: f64, north: f64| MapPlace { name: name.to_owned(), east, north };
        let places = [
            named("Philadelphia", 1.5, 3.0),
            named("Staunton", -1.5, 1.3),
            named("Lynchburg", -1.6, 0.6),
            named("Jamestown", 0.3, 0.4),
        ];
        let laid = laid_out(&places);
        let (_, height) = frame(&places);
        let way = MapWay { label: "own car $13".to_owned(), ..way(0, 0) };
        let ends = [(0, 1), (1, 3), (3, 2), (2, 0)].map(|(from, to): (usize, usize)| (laid[from], laid[to]));
        let arcs = ends.map(|(from, to)| {
            let (from, to) = (from.expect("a place"), to.expect("a place"));
            Arc::between(from, to, 0, is_outside_left(from, to, (WIDTH / 2.0, height / 2.0))).expect("a way")
        });
        let ways = arcs.map(|arc| (&way, arc));
        let rooms: Vec<Room> = spots(&places, &laid, &ways, height).iter().map(Spot::room).collect();
        assert_eq!(rooms.len(), 4);
        for (number, room) in rooms.iter().enumerate() {
            assert_eq!(room.outside(height), 0.0, "{room:?}");
            assert!(rooms[..number].iter().all(|other| room.common(other) == 0.0), "{rooms:?}");
            for (place, at) in places.iter().zip(&laid) {
                let (x, y) = at.expect("a place");
                let text = place.name.clone();
                let name = Spot { x, y: name_y(y, height), anchor: "middle", text }.room();
                assert_eq!(room.common(&name), 0.0, "{room:?} covers {}", place.name);
            }
        }
    }

    #[test]
    fn what_cannot_be_drawn_is_left_out() {
        let map = Map {
            caption: String::new(),
            places: vec![place(0.0, 0.0), place(f64::NAN, 0.0), place(1.0, f64::INFINITY), place(1.0, 1.0)],
            ways: vec![way(0, 1), way(0, 9), way(0, 0), way(0, 3)],
        };
        let drawn = draw(&map).into_string();
        assert_eq!([drawn.matches("<circle").count(), drawn.matches("class=\"line\"").count()], [2, 1]);
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"));
        assert_eq!(draw(&Map::default()).into_string(), "<div class=\"map\"></div>");
    }
}
