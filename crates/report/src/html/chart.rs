//! A drawing of success by number of actions or another quantity.

use maud::{Markup, html};

use super::text::{Foreign, percent, percent_range};

/// Dimensions of the drawing in its own units; the page scales it.
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 68.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 54.0;
/// Maximum number of labels on the axis of actions.
const LABELS_MAX: usize = 14;
/// Maximum horizontal distance between series drawn side by side.
const DODGE: f64 = 9.0;

/// A rate at one number of actions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) rate: f64,
    /// The ends of its 95 % interval, for a measured rate.
    pub(super) interval: Option<(f64, f64)>,
}

/// The style of a series: a colour from the style sheet, a line pattern and a shape, so that nothing depends on
/// colour alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// Discs on a solid line.
    Measured,
    /// Squares on a solid line: a second measured series.
    MeasuredToo,
    /// Diamonds on a dashed line.
    Chance,
    /// Triangles on a dotted line.
    InOrder,
    /// Downward-pointing triangles on a dash-dotted line.
    OneLook,
}

/// The name of the best one-look heuristic.
pub(super) const ONE_LOOK: &str = "the best order read off at one look";

/// Rates by number of actions; `None` if unknown.
#[derive(Debug, Clone)]
pub(super) struct Series<'a> {
    pub(super) name: &'a str,
    pub(super) style: Style,
    pub(super) points: Vec<Option<Point>>,
}

impl Style {
    /// The styles of baselines, in the order in which they are assigned.
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

/// A chart of success against some quantity.
#[derive(Debug, Clone)]
pub(super) struct Chart<'a> {
    /// The id of the drawing; unique on the page.
    pub(super) id: &'a str,
    /// A sentence that says what it shows.
    pub(super) title: &'a str,
    /// The label of the axis.
    pub(super) axis: &'a str,
    /// The labels of the columns, in order.
    pub(super) labels: Vec<String>,
    /// Follows the label of a column in the description of a point.
    pub(super) unit: &'a str,
    /// A rate marked by a dashed line.
    pub(super) threshold: Option<f64>,
}

/// The drawing with its legend. `sizes` are the sizes of cases in this unit, ascending; each series has a point for
/// each size.
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
                // Measured series are drawn on top of the baselines.
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
                            (Foreign::short(series.name, super::parts::NAME_CHARACTERS_MAX))
                        }
                    }
                }
            }
        }
    }
}

/// Two measured series are drawn side by side, so that their intervals do not hide each other.
fn dodge(place: usize, style: Style) -> f64 {
    match style {
        Style::MeasuredToo => DODGE * place as f64,
        _ => 0.0,
    }
}

/// The horizontal position of a column.
fn x(place: usize, columns: usize) -> f64 {
    LEFT + (WIDTH - LEFT - RIGHT) * (place as f64 + 0.5) / columns.max(1) as f64
}

/// The vertical position of a rate.
fn y(rate: f64) -> f64 {
    TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - rate.clamp(0.0, 1.0))
}

/// A length, rounded to a tenth of a unit.
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
            // A line joins only adjacent points: an unknown rate leaves a gap.
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
    let name = Foreign::short(name, super::parts::NAME_CHARACTERS_MAX);
    let interval =
        point.interval.map_or(String::new(), |(low, high)| format!(" ({})", percent_range(low, high)));
    format!("{}, {column}: {}{interval}", name.as_str(), percent(point.rate))
}
