//! Draws the states of a specification and the transitions between them: one self-contained SVG file.

mod placing;

use maud::{Markup, PreEscaped, html};
use planproof_spec::export::{StateGraph, StateNode, graph};
use planproof_spec::{Automaton, State};
use thiserror::Error;

use crate::html::text::{Foreign, units};
use placing::{NotPlaced, Place, Placed, Shape, Way, place};

/// Maximum number of states in a picture. (A state that occurs at several places of a behaviour counts several
/// times.)
pub const DRAWN_STATES_MAX: usize = 40;
/// Maximum number of transitions between them. More would make the picture unreadable, and layout would take long.
pub const DRAWN_WAYS_MAX: usize = 80;
/// Maximum number of characters shown of a name or a prompt; the full text is in the title of the box.
const LABEL_CHARACTERS_MAX: usize = 40;

/// Why there is no picture.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DrawingError {
    /// There are more states or transitions than a picture can show.
    #[error(
        "a picture shows at most {DRAWN_STATES_MAX} states and {DRAWN_WAYS_MAX} ways between them, and this behaviour has \
         {states} and {ways}; print it with --format dot or --format mermaid, for a program that draws"
    )]
    TooLarge {
        /// States of the graph.
        states: usize,
        ways: usize,
    },
    /// The layout library failed.
    #[error(
        "no places were found for the states of this picture (layout-rs: {words}); print the graph with --format dot or \
         --format mermaid"
    )]
    NotPlaced { words: String },
}

const STYLE: &str = include_str!("../assets/drawing.css");

// Dimensions in pixels, matching the font sizes in the style sheet.
const MARGIN: f64 = 16.0;
const START_SIZE: f64 = 14.0;
const PADDING: f64 = 14.0;
const NAME_COLUMN: f64 = 8.4;
const SMALL_COLUMN: f64 = 7.3;
const BOX_HEIGHT: f64 = 46.0;
const LINE_HEIGHT: f64 = 17.0;
/// Distance between the two borders of a state.
const INSET: f64 = 4.0;
const LEGEND_WIDTH: f64 = 250.0;
const LEGEND_LINE: f64 = 24.0;

/// Draws the states of an automaton from top to bottom, each with its prompt. States of the environment have a
/// dashed border and the name of what writes them, initial states are preceded by a disc, and final states have a
/// double border. The colours follow the reader's choice of light or dark, and the picture has its own background.
/// The same automaton gives the same bytes. Takes up to a few seconds at the limits, milliseconds for ten states.
///
/// # Errors
/// [`DrawingError`].
pub fn svg(automaton: &Automaton) -> Result<String, DrawingError> {
    let graph = graph(automaton);
    let StateGraph { nodes, edges } = &graph;
    // Checked first, because the time to place the states grows fast with the number of arrows.
    if nodes.len() > DRAWN_STATES_MAX || edges.len() > DRAWN_WAYS_MAX {
        return Err(DrawingError::TooLarge { states: nodes.len(), ways: edges.len() });
    }
    let labels: Vec<Label<'_>> =
        nodes.iter().map(|node| Label::new(node, automaton.state(node.state))).collect();
    // The start disc comes first.
    let mut shapes = vec![Shape::Disc(START_SIZE)];
    shapes.extend(labels.iter().map(|label| Shape::Box { width: label.width(), height: label.height() }));
    let starts = (1..).zip(nodes).filter(|(_, node)| node.is_start).map(|(number, _)| (0, number));
    // State `n` of the graph is shape `n + 1`.
    let ways = edges.iter().map(|edge| (edge.from + 1, edge.to + 1));
    let pairs: Vec<(usize, usize)> = starts.chain(ways).collect();
    let Placed { middles, ways } =
        place(&shapes, &pairs).map_err(|NotPlaced(words)| DrawingError::NotPlaced { words })?;

    let bounds = Bounds::of(&shapes, &middles, &ways);
    let legend = Legend::of(nodes);
    let width = (bounds.right - bounds.left).max(LEGEND_WIDTH) + 2.0 * MARGIN;
    let drawing_height = bounds.bottom - bounds.top + 2.0 * MARGIN;
    let height = drawing_height + legend.height();
    let title = format!("{}: which state may follow which", automaton.spec().name.value);
    // The picture is centred if the legend is wider.
    let left = (width - (bounds.right - bounds.left)) / 2.0;
    let shift = (left - bounds.left, MARGIN - bounds.top);
    let picture = html! {
        svg.planproof-graph xmlns="http://www.w3.org/2000/svg" width=(units(width)) height=(units(height))
            viewBox={ "0 0 " (units(width)) " " (units(height)) } role="img"
        {
            title { (Foreign::short(&title, 200)) }
            style { (PreEscaped(STYLE)) }
            defs {
                marker #planproof-tip markerWidth="10" markerHeight="8" refX="9" refY="4" orient="auto"
                    markerUnits="userSpaceOnUse"
                {
                    path.tip d="M0 0 L10 4 L0 8 Z" {}
                }
            }
            rect.ground width="100%" height="100%" {}
            g transform={ "translate(" (units(shift.0)) " " (units(shift.1)) ")" } {
                @for way in &ways { (arrow(way)) }
                @for (middle, shape) in middles.iter().zip(&shapes) {
                    @if let Shape::Disc(size) = shape { (disc(*middle, *size)) }
                }
                @for (label, (middle, shape)) in labels.iter().zip(middles.iter().zip(&shapes).skip(1)) {
                    @if let Shape::Box { width, height } = shape { (label.show(*middle, *width, *height)) }
                }
            }
            (legend.show(drawing_height))
        }
    };
    Ok(picture.into_string() + "\n")
}

/// The texts shown for a state.
struct Label<'a> {
    node: &'a StateNode,
    name: Foreign<'a>,
    prompt: Foreign<'a>,
    /// The label of the environment, if it writes the state.
    environment: Option<String>,
    /// The full, unabridged text.
    title: String,
}

impl<'a> Label<'a> {
    fn new(node: &'a StateNode, state: &State) -> Self {
        let environment = node.is_environment.then(|| match &state.handler {
            Some(handler) => format!("environment: {}", handler.value.as_str()),
            None => "environment".to_owned(),
        });
        let mut title = format!("{}: {}", node.name, node.prompt);
        for (holds, note) in [
            (node.is_environment, "written by the environment"),
            (node.is_start, "a run can begin here"),
            (node.is_end, "a run can end here"),
        ] {
            if holds {
                title += &format!("; {note}");
            }
        }
        let short = |text| Foreign::cut(text, LABEL_CHARACTERS_MAX);
        Self { node, name: short(&node.name), prompt: short(&node.prompt), environment, title }
    }

    fn width(&self) -> f64 {
        let name = columns(self.name.as_str()) * NAME_COLUMN;
        let prompt = columns(self.prompt.as_str()) * SMALL_COLUMN;
        let environment = self.environment.as_deref().map_or(0.0, columns) * SMALL_COLUMN;
        (name.max(prompt).max(environment) + 2.0 * PADDING).ceil()
    }

    fn height(&self) -> f64 {
        BOX_HEIGHT + if self.environment.is_some() { LINE_HEIGHT + 3.0 } else { 0.0 }
    }

    fn show(&self, (x, y): Place, width: f64, height: f64) -> Markup {
        let class = if self.node.is_environment { "state environment" } else { "state" };
        let top = y - height / 2.0;
        html! {
            g class=(class) {
                title { (Foreign::whole(&self.title)) }
                (border((x - width / 2.0, top), width, height, 0.0))
                @if self.node.is_end { (border((x - width / 2.0, top), width, height, INSET)) }
                text.name x=(units(x)) y=(units(top + 20.0)) { (self.name) }
                text.prompt x=(units(x)) y=(units(top + 20.0 + LINE_HEIGHT)) { (self.prompt) }
                @if let Some(environment) = &self.environment {
                    text.who x=(units(x)) y=(units(top + 20.0 + 2.0 * LINE_HEIGHT)) { (environment) }
                }
            }
        }
    }
}

/// The width of a text in Latin letters. Other characters count as two, which is never too narrow.
fn columns(text: &str) -> f64 {
    text.chars().map(|c| if c.is_ascii() { 1.0 } else { 2.0 }).sum()
}

/// The border of a box, or a second one at this inset.
fn border((left, top): Place, width: f64, height: f64, inset: f64) -> Markup {
    html! {
        rect.inner[inset > 0.0] x=(units(left + inset)) y=(units(top + inset)) width=(units(width - 2.0 * inset))
            height=(units(height - 2.0 * inset)) rx=(units((7.0 - inset).max(2.0))) {}
    }
}

fn disc((x, y): Place, size: f64) -> Markup {
    html! { circle.start cx=(units(x)) cy=(units(y)) r=(units(size / 2.0)) {} }
}

fn arrow(way: &Way) -> Markup {
    let point = |(x, y): Place| format!("{} {}", units(x), units(y));
    let mut line = format!("M{}", point(way.start));
    for [first, second, end] in &way.curves {
        line += &format!(" C{} {} {}", point(*first), point(*second), point(*end));
    }
    html! { path.way d=(line) marker-end="url(#planproof-tip)" {} }
}

/// Explains the symbols that occur in the picture.
struct Legend {
    has_ends: bool,
    has_environment: bool,
}

impl Legend {
    fn of(nodes: &[StateNode]) -> Self {
        Self {
            has_ends: nodes.iter().any(|node| node.is_end),
            has_environment: nodes.iter().any(|node| node.is_environment),
        }
    }

    fn height(&self) -> f64 {
        LEGEND_LINE * (1 + usize::from(self.has_ends) + usize::from(self.has_environment)) as f64 + MARGIN
    }

    fn show(&self, top: f64) -> Markup {
        let sample = |y: f64, class: &str, is_end: bool| {
            html! {
                g class=(class) {
                    (border((MARGIN, y - 9.0), 30.0, 18.0, 0.0))
                    @if is_end { (border((MARGIN, y - 9.0), 30.0, 18.0, INSET)) }
                }
            }
        };
        let mut lines = vec![(html! { (disc((MARGIN + 15.0, top + 9.0), START_SIZE)) }, "a run begins here")];
        if self.has_ends {
            let y = top + 9.0 + LEGEND_LINE * lines.len() as f64;
            lines.push((sample(y, "state", true), "a run can end here"));
        }
        if self.has_environment {
            let y = top + 9.0 + LEGEND_LINE * lines.len() as f64;
            lines.push((sample(y, "state environment", false), "the environment writes this"));
        }
        html! {
            g.legend {
                @for (number, (sign, meaning)) in lines.iter().enumerate() {
                    (sign)
                    text x=(units(MARGIN + 42.0)) y=(units(top + 13.0 + LEGEND_LINE * number as f64)) { (meaning) }
                }
            }
        }
    }
}

/// The bounding box of a drawing.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Bounds {
    fn of(shapes: &[Shape], middles: &[Place], ways: &[Way]) -> Self {
        let infinity = f64::INFINITY;
        let mut bounds = Self { left: infinity, top: infinity, right: -infinity, bottom: -infinity };
        for (shape, (x, y)) in shapes.iter().zip(middles) {
            let (width, height) = match *shape {
                Shape::Box { width, height } => (width, height),
                Shape::Disc(size) => (size, size),
            };
            bounds.add((x - width / 2.0, y - height / 2.0));
            bounds.add((x + width / 2.0, y + height / 2.0));
        }
        // A curve lies within its control points.
        for way in ways {
            way.curves.iter().flatten().for_each(|place| bounds.add(*place));
        }
        bounds
    }

    fn add(&mut self, (x, y): Place) {
        self.left = self.left.min(x);
        self.right = self.right.max(x);
        self.top = self.top.min(y);
        self.bottom = self.bottom.max(y);
    }
}
