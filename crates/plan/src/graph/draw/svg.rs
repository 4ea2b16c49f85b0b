//! A graph as a self-contained picture.

use std::fmt::Write as _;

use super::dot::colour;
use super::{GraphDrawing, on_one_line, wrapped};
use crate::graph::links::Links;
use crate::graph::paths::placed_in_layers;

/// Size of a box, and the space between two, in pixels.
const WIDTH: usize = 232;
const HEIGHT: usize = 96;
const GAP_ACROSS: usize = 28;
const GAP_DOWN: usize = 48;
const MARGIN: usize = 16;

/// Characters on a line of a box that fit at 12 pixels, even wide letters.
const LINE_CHARACTERS: usize = 32;

/// Lines of a sub-task's text.
const TEXT_LINES: usize = 3;

impl GraphDrawing {
    /// The graph as SVG: layers from top to bottom, arrows to dependent sub-tasks. It has no script, no style and no
    /// external reference, and names its sub-tasks for screen readers.
    pub fn to_svg(&self) -> String {
        let links = Links::new(&self.graph().sub_tasks);
        let (layer_of, layers) = placed_in_layers(&links);
        let widest = layers.iter().map(Vec::len).max().unwrap_or(0);
        let across = |count: usize| count * WIDTH + count.saturating_sub(1) * GAP_ACROSS;
        let width = across(widest) + 2 * MARGIN;
        let down = layers.len() * HEIGHT + layers.len().saturating_sub(1) * GAP_DOWN;
        let height = down + 2 * MARGIN;
        // The upper left corner of each box; a layer stands in the middle.
        let mut corners = vec![(0, 0); layer_of.len()];
        for layer in &layers {
            let left = (width - across(layer.len())) / 2;
            for (column, place) in layer.iter().enumerate() {
                let y = MARGIN + layer_of[*place] * (HEIGHT + GAP_DOWN);
                corners[*place] = (left + column * (WIDTH + GAP_ACROSS), y);
            }
        }
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\" aria-label=\"Graph of {} sub-tasks\" font-family=\"sans-serif\" \
             font-size=\"12\">\n<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" \
             markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" \
             fill=\"#555\"/></marker></defs>\n<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n",
            self.graph().sub_tasks.len()
        );
        for (place, before) in links.before.iter().enumerate() {
            for other in before {
                let ((from_x, from_y), (to_x, to_y)) = (corners[*other], corners[place]);
                let (x1, y1, x2, y2) = (from_x + WIDTH / 2, from_y + HEIGHT, to_x + WIDTH / 2, to_y);
                let bend = GAP_DOWN / 2;
                // Writing to a String cannot fail, here and below.
                let _ = writeln!(
                    out,
                    "<path d=\"M{x1} {y1}C{x1} {} {x2} {} {x2} {y2}\" fill=\"none\" stroke=\"#555\" \
                     marker-end=\"url(#head)\"/>",
                    y1 + bend,
                    y2.saturating_sub(bend)
                );
            }
        }
        for (place, (sub_task, state)) in self.states().enumerate() {
            let (x, y) = corners[place];
            let _ = write!(
                out,
                "<g><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"6\" \
                 fill=\"{}\" stroke=\"#555\"/>",
                escaped(&on_one_line(&sub_task.task, LINE_CHARACTERS * TEXT_LINES * 4)),
                colour(state)
            );
            let text = |out: &mut String, line: usize, style: &str, text: &str| {
                let (x, y) = (x + 10, y + 18 + line * 16);
                let _ =
                    write!(out, "<text x=\"{x}\" y=\"{y}\" fill=\"#111\"{style}>{}</text>", escaped(text));
            };
            text(&mut out, 0, " font-weight=\"bold\"", &on_one_line(&sub_task.id, LINE_CHARACTERS - 2));
            for (line, words) in wrapped(&sub_task.task, LINE_CHARACTERS, TEXT_LINES).iter().enumerate() {
                text(&mut out, line + 1, "", words);
            }
            let foot =
                format!("{} · {}", on_one_line(&sub_task.executor, LINE_CHARACTERS - 11), state.as_str());
            text(&mut out, TEXT_LINES + 1, " font-style=\"italic\"", &foot);
            out.push_str("</g>\n");
        }
        out.push_str("</svg>\n");
        out
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
