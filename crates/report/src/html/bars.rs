//! A bar chart of activities along one time axis.

use maud::{Markup, html};
use planproof_suite::{Bar, Bars};

use super::parts::NAME_CHARACTERS_MAX;
use super::text::{Foreign, units};

/// Maximum number of bars.
const BARS_MAX: usize = 40;
/// Maximum number of characters in the label of a bar. The full text is in its title.
const TEXT_SHOWN_MAX: usize = 26;

// Dimensions of the drawing in pixels; a narrower page scales it.
const WIDTH: f64 = 520.0;
const LABELS: f64 = 190.0;
const MARGIN: f64 = 22.0;
const HEAD: f64 = 22.0;
const LINE: f64 = 24.0;
const THICK: f64 = 14.0;
/// Minimum width of a bar, so that it stays visible.
const BAR_WIDTH_MIN: f64 = 3.0;

/// The drawing; empty if no time passes.
pub(super) fn draw(bars: &Bars) -> Markup {
    // An axis without length would divide by 0 in `Axis::place`.
    if bars.bars.is_empty() || bars.to <= bars.from {
        return Markup::default();
    }
    let axis = Axis { from: bars.from, to: bars.to };
    let shown = &bars.bars[..bars.bars.len().min(BARS_MAX)];
    let height = HEAD + LINE * shown.len() as f64 + 4.0;
    html! {
        svg.day-bars viewBox={ "0 0 " (units(WIDTH)) " " (units(height)) } width=(units(WIDTH)) role="img"
            aria-label="What was done when"
        {
            @for (time, words) in &bars.ticks {
                @let x = units(axis.place(*time));
                line.tick x1=(x) y1=(units(HEAD - 4.0)) x2=(x) y2=(units(height)) {}
                text.tick x=(x) y=(units(HEAD - 9.0)) { (Foreign::cut(words, TEXT_SHOWN_MAX)) }
            }
            @for (number, bar) in shown.iter().enumerate() { (show(bar, &axis, HEAD + LINE * number as f64)) }
        }
        @if bars.bars.iter().any(|bar| bar.not_before.is_some() || bar.not_after.is_some()) {
            p.key { "Brackets: the earliest start and the latest end that the text allows." }
        }
    }
}

struct Axis {
    from: u32,
    to: u32,
}

impl Axis {
    fn place(&self, time: u32) -> f64 {
        let share = f64::from(time.clamp(self.from, self.to) - self.from) / f64::from(self.to - self.from);
        LABELS + share * (WIDTH - LABELS - MARGIN)
    }
}

fn show(bar: &Bar, axis: &Axis, top: f64) -> Markup {
    let (left, right) = (axis.place(bar.from), axis.place(bar.to.max(bar.from)));
    let above = top + (LINE - THICK) / 2.0;
    // The feet of a bracket point to the side that is allowed.
    let bracket = |time: u32, foot: f64| {
        let x = axis.place(time);
        let (high, low) = (above - 3.0, above + THICK + 3.0);
        let [near, far] = [x, x + foot].map(units);
        let [high, low] = [high, low].map(units);
        format!("M{far} {high} L{near} {high} L{near} {low} L{far} {low}")
    };
    let title = format!("{} {}", bar.text, bar.when);
    html! {
        g.bar.broken[bar.is_wrong] {
            title { (Foreign::short(&title, NAME_CHARACTERS_MAX)) }
            text x=(units(LABELS - 10.0)) y=(units(above + THICK - 3.0)) { (Foreign::cut(&bar.text, TEXT_SHOWN_MAX)) }
            rect x=(units(left)) y=(units(above)) width=(units((right - left).max(BAR_WIDTH_MIN)))
                height=(units(THICK)) {}
            @if let Some(time) = bar.not_before { path.limit d=(bracket(time, 5.0)) {} }
            @if let Some(time) = bar.not_after { path.limit d=(bracket(time, -5.0)) {} }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_lie_within_the_drawing_whatever_their_times() {
        let bar = |from, to| Bar {
            text: "<task>".to_owned(),
            from,
            to,
            not_before: Some(1),
            not_after: Some(u32::MAX),
            is_wrong: true,
            ..Bar::default()
        };
        let bars = Bars {
            from: 60,
            to: 120,
            ticks: vec![(90, "01:30".to_owned())],
            bars: vec![bar(60, 90), bar(500, 3)],
        };
        let page = draw(&bars).into_string();
        assert!(page.contains("&lt;task&gt;") && !page.contains("NaN") && page.contains("01:30"), "{page}");
        let right = WIDTH - MARGIN;
        for part in page.split(" x=\"").skip(1) {
            let x: f64 = part.split('"').next().unwrap().parse().unwrap();
            assert!((0.0..=right).contains(&x), "{x}");
        }
        assert_eq!(draw(&Bars { to: 60, from: 60, ..bars }).into_string(), "");
        assert_eq!(draw(&Bars::default()).into_string(), "");
    }
}
