//! Success by number of actions, or by something else, as a drawing.

use maud::{Markup, html};

use super::text::{Foreign, percent, percent_range};

/// Measures of the drawing in its own units; the page scales it.
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 68.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 54.0;
/// Most labels on the axis of actions.
const LABELS_MAX: usize = 14;
/// Series side by side are so far apart at most.
const DODGE: f64 = 9.0;

/// A rate at one number of actions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) rate: f64,
    /// The ends of its 95 % interval, for a measured rate.
    pub(super) interval: Option<(f64, f64)>,
}

/// The style of a series: a colour of the style sheet, a kind of line and a shape, so that colour is not needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// Discs on a whole line.
    Measured,
    /// Squares on a whole line: a second measured series.
    MeasuredToo,
    /// Diamonds on a dashed line.
    Chance,
    /// Triangles on a dotted line.
    InOrder,
    /// Triangles that point down, on a line of dashes and dots.
    OneLook,
}

/// What the best one-look heuristic is called.
pub(super) const ONE_LOOK: &str = "the best order read off at one look";

/// Rates by number of actions; `None` where it is not known.
#[derive(Debug, Clone)]
pub(super) struct Series<'a> {
    pub(super) name: &'a str,
    pub(super) style: Style,
    pub(super) points: Vec<Option<Point>>,
}

impl Style {
    /// The styles of baselines, in the order in which they are taken.
    pub(super) const BASELINES: [Self; 3] = [Self::Chance, Self::InOrder, Self::OneLook];

    fn class(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::MeasuredToo => "measured-too",
            Self::Chance => "chance",
            Self::InOrder => "in-order",
            Self::OneLook => "one-look",
        }
    }

    fn marker(self, x: f64, y: f64) -> Markup {
        let polygon = |corners: &[(f64, f64)]| {
            let points: Vec<String> =
                corners.iter().map(|(dx, dy)| format!("{:.1},{:.1}", x + dx, y + dy)).collect();
            html! { polygon points=(points.join(" ")) {} }
        };
        match self {
            Self::Measured => html! { circle cx=(length(x)) cy=(length(y)) r="5" {} },
            Self::MeasuredToo => polygon(&[(-4.5, -4.5), (4.5, -4.5), (4.5, 4.5), (-4.5, 4.5)]),
            Self::Chance => polygon(&[(0.0, -5.0), (5.0, 0.0), (0.0, 5.0), (-5.0, 0.0)]),
            Self::InOrder => polygon(&[(0.0, -5.0), (5.0, 4.0), (-5.0, 4.0)]),
            Self::OneLook => polygon(&[(0.0, 5.0), (5.0, -4.0), (-5.0, -4.0)]),
        }
    }
}

/// What success is drawn against.
#[derive(Debug, Clone)]
pub(super) struct Chart<'a> {
    /// Names the drawing; no other on the page has the same.
    pub(super) id: &'a str,
    /// What it shows, in a sentence.
    pub(super) title: &'a str,
    /// What stands below the axis.
    pub(super) axis: &'a str,
    /// Of the columns, in order.
    pub(super) labels: Vec<String>,
    /// What is behind the label of a column where a point is described.
    pub(super) unit: &'a str,
    /// A rate that a dashed line is drawn at.
    pub(super) threshold: Option<f64>,
}

/// The drawing with its legend. `sizes` are those of cases in this unit, ascending; each series has a point for each.
pub(super) fn success_by_size(unit: &str, sizes: &[u32], series: &[Series<'_>]) -> Markup {
    let chart = Chart {
        id: "chart-title",
        title: &format!(
            "Success rate by number of {unit}, with 95 % intervals. The table has the same figures."
        ),
        axis: &format!("{unit} in the case"),
        labels: sizes.iter().map(u32::to_string).collect(),
        unit,
        threshold: None,
    };
    success(&chart, series)
}

/// The drawing with its legend. Each series has a point for each label.
pub(super) fn success(chart: &Chart<'_>, series: &[Series<'_>]) -> Markup {
    html! {
        figure.chart {
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-labelledby=(chart.id) {
                title id=(chart.id) { (chart.title) }
                (axes(chart))
                // What is measured lies on top of what it is measured against.
                @for (place, series) in series.iter().enumerate().rev() {
                    (draw(series, chart, dodge(place, series.style)))
                }
            }
            figcaption {
                ul.legend {
                    @for series in series {
                        li {
                            svg.(series.style.class()) viewBox="0 0 36 14" aria-hidden="true" {
                                line x1="0" y1="7" x2="36" y2="7" {}
                                (series.style.marker(18.0, 7.0))
                            }
                            (Foreign::short(series.name, super::NAME_CHARACTERS_MAX))
                        }
                    }
                }
            }
        }
    }
}

/// Two measured series stand side by side, so that their intervals do not hide each other.
fn dodge(place: usize, style: Style) -> f64 {
    match style {
        Style::MeasuredToo => DODGE * place as f64,
        _ => 0.0,
    }
}

/// Where the column of that place is.
fn x(place: usize, columns: usize) -> f64 {
    LEFT + (WIDTH - LEFT - RIGHT) * (place as f64 + 0.5) / columns.max(1) as f64
}

/// Where a rate is.
fn y(rate: f64) -> f64 {
    TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - rate.clamp(0.0, 1.0))
}

/// A length to a tenth of a unit.
fn length(value: f64) -> String {
    format!("{value:.1}")
}

fn axes(chart: &Chart<'_>) -> Markup {
    let Chart { labels, axis, threshold, .. } = chart;
    let every = labels.len().div_ceil(LABELS_MAX).max(1);
    html! {
        g.axes {
            @for quarter in 0..=4 {
                @let height = length(y(f64::from(quarter) / 4.0));
                line x1=(LEFT) y1=(height) x2=(WIDTH - RIGHT) y2=(height) {}
                text x=(LEFT - 8.0) y=(height) dy="0.35em" text-anchor="end" { (quarter * 25) " %" }
            }
            @if let Some(threshold) = threshold {
                @let height = length(y(*threshold));
                line x1=(LEFT) y1=(height) x2=(WIDTH - RIGHT) y2=(height) stroke-dasharray="7 5" stroke-width="2" {
                    title { "threshold: " (percent(*threshold)) }
                }
            }
            @for (place, label) in labels.iter().enumerate().step_by(every) {
                @let middle = length(x(place, labels.len()));
                text x=(middle) y=(HEIGHT - BOTTOM + 20.0) text-anchor="middle" { (label) }
            }
            text x=((LEFT + WIDTH - RIGHT) / 2.0) y=(HEIGHT - 8.0) text-anchor="middle" { (axis) }
        }
    }
}

fn draw(series: &Series<'_>, chart: &Chart<'_>, dodge: f64) -> Markup {
    let labels = &chart.labels;
    let at = |place: usize| x(place, labels.len()) + dodge;
    html! {
        g.(series.style.class()) {
            // A line joins neighbours only: where a rate is not known there is a gap.
            @for (place, pair) in series.points.windows(2).enumerate() {
                @if let [Some(from), Some(to)] = pair {
                    @let [from_x, to_x] = [place, place + 1].map(|place| length(at(place)));
                    @let [from_y, to_y] = [from, to].map(|point| length(y(point.rate)));
                    line x1=(from_x) y1=(from_y) x2=(to_x) y2=(to_y) {}
                }
            }
            @for (place, point) in series.points.iter().enumerate() {
                @if let Some(point) = point {
                    g {
                        title { (describe(series.name, &format!("{} {}", labels[place], chart.unit), point)) }
                        @if let Some((low, high)) = point.interval { (error_bar(at(place), low, high)) }
                        (series.style.marker(at(place), y(point.rate)))
                    }
                }
            }
        }
    }
}

fn error_bar(x: f64, low: f64, high: f64) -> Markup {
    const CAP: f64 = 5.0;
    let [low, high] = [low, high].map(|rate| length(y(rate)));
    let [left, middle, right] = [x - CAP, x, x + CAP].map(length);
    html! {
        path.interval d=(format!("M{left} {low}H{right}M{left} {high}H{right}M{middle} {low}V{high}")) {}
    }
}

fn describe(name: &str, column: &str, point: &Point) -> String {
    let name = Foreign::short(name, super::NAME_CHARACTERS_MAX);
    let interval =
        point.interval.map_or(String::new(), |(low, high)| format!(" ({})", percent_range(low, high)));
    format!("{}, {column}: {}{interval}", name.as_str(), percent(point.rate))
}
