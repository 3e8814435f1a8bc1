//! Roofline of a computation: the machine's limits by operations for each byte, both logarithmic, and where the
//! computation is predicted to be.

use mdh_algebra::amounts::count;

use super::cost::{Cost, Unit};
use super::summary::Summary;
use crate::html::Svg;

/// Sizes in pixels: of the picture, and of the place in it where lines are drawn.
const SIZE: (f64, f64) = (460.0, 320.0);
const LEFT: f64 = 80.0;
const RIGHT: f64 = 450.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 270.0;

/// Exponents of ten at the ends of both axes.
struct Axes {
    x: (i32, i32),
    y: (i32, i32),
}

impl Axes {
    /// Axes with room for all of these, which are positive.
    fn new(xs: &[f64], ys: &[f64]) -> Axes {
        let ends = |values: &[f64]| {
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            let first = least.log10().floor() as i32;
            (first, (most.log10().ceil() as i32).max(first + 1))
        };
        Axes {
            x: ends(xs),
            y: ends(ys),
        }
    }

    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let share = |value: f64, (first, last): (i32, i32)| {
            let share = (value.log10() - f64::from(first)) / f64::from(last - first);
            share.clamp(0.0, 1.0)
        };
        (
            LEFT + (RIGHT - LEFT) * share(x, self.x),
            BOTTOM - (BOTTOM - TOP) * share(y, self.y),
        )
    }
}

/// Draws the roofline of what the cost of a summary is of; `None` where that is not known, or nothing is computed or
/// moved.
pub fn svg(summary: &Summary) -> Option<String> {
    let cost = summary
        .cost
        .as_ref()
        .filter(|_| summary.updates.is_none())?;
    let (operations, moved) = summary.costed?;
    let (reached, intensity) = (cost.rate(operations)?, operations / moved);
    let peak = cost.limits.operations;
    if !(intensity.is_finite() && intensity > 0.0 && peak > 0.0 && cost.least > 0.0) {
        return None;
    }
    let ridges = cost.limits.memories.iter().map(|(_, bytes)| peak / bytes);
    let ridges: Vec<f64> = ridges.collect();
    let xs = [&ridges[..], &[intensity / 2.0, intensity * 2.0]].concat();
    let axes = Axes::new(&xs, &[reached / 2.0, peak * 1.5]);
    let mut svg = Svg::default();
    grid(&mut svg, &axes);
    roofs(&mut svg, &axes, cost);
    let least = (intensity, operations / cost.least);
    let ((x, y), (_, limit)) = (axes.place((intensity, reached)), axes.place(least));
    svg.line((x, y), (x, limit), "drop");
    for (class, y) in [("limit", limit), ("predicted", y)] {
        let (x, y) = (format!("{x:.1}"), format!("{y:.1}"));
        svg.add(
            "circle",
            &[("cx", &x), ("cy", &y), ("r", &5), ("class", &class)],
        );
    }
    let per = match cost.unit {
        Unit::Cycles => "a cycle",
        Unit::Seconds => "a second",
    };
    let (anchor, beside) = match x > (LEFT + RIGHT) / 2.0 {
        true => ("end", x - 9.0),
        false => ("start", x + 9.0),
    };
    let text = format!("{} operations {per}", count(reached));
    svg.text((beside, y + 14.0), anchor, "", &text);
    Some(svg.finish(SIZE, &format!("Roofline of '{}'", summary.name)))
}

/// Draws both axes, with a line for each power of ten.
fn grid(svg: &mut Svg, axes: &Axes) {
    let middle = (LEFT + RIGHT) / 2.0;
    for exponent in axes.x.0..=axes.x.1 {
        let value = 10f64.powi(exponent);
        let (x, _) = axes.place((value, 1.0));
        svg.line((x, TOP), (x, BOTTOM), "grid");
        svg.text((x, BOTTOM + 18.0), "middle", "quiet", &power(exponent));
    }
    for exponent in axes.y.0..=axes.y.1 {
        let value = 10f64.powi(exponent);
        let (_, y) = axes.place((1.0, value));
        svg.line((LEFT, y), (RIGHT, y), "grid");
        svg.text((LEFT - 6.0, y + 4.0), "end", "quiet", &power(exponent));
    }
    svg.line((LEFT, TOP), (LEFT, BOTTOM), "axis");
    svg.line((LEFT, BOTTOM), (RIGHT, BOTTOM), "axis");
    svg.text(
        (middle, BOTTOM + 40.0),
        "middle",
        "",
        "operations for each byte",
    );
}

/// A power of ten, in full if it is short.
fn power(exponent: i32) -> String {
    match exponent {
        -3..=4 => 10f64.powi(exponent).to_string(),
        _ => format!("1e{exponent}"),
    }
}

/// Draws the limits: what all cores and lanes compute, and what comes from each memory in the same time.
fn roofs(svg: &mut Svg, axes: &Axes, cost: &Cost) {
    let peak = cost.limits.operations;
    let (first, last) = (10f64.powi(axes.x.0), 10f64.powi(axes.x.1));
    let bottom = 10f64.powi(axes.y.0);
    let flattest = cost.limits.memories.iter();
    let flattest = flattest.map(|(_, bytes)| peak / bytes).fold(last, f64::min);
    svg.line(
        axes.place((flattest, peak)),
        axes.place((last, peak)),
        "roof",
    );
    let (x, y) = axes.place((last, peak));
    svg.text((x, y - 5.0), "end", "", "computing");
    for (name, bytes) in &cost.limits.memories {
        // A slope begins where it enters the picture.
        let start = first.max(bottom / bytes);
        let ends = [(start, start * bytes), (peak / bytes, peak)];
        let [from, to] = ends.map(|end| axes.place(end));
        svg.line(from, to, "slope");
        svg.text((from.0 + 4.0, from.1 - 6.0), "start", "quiet", name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::tests::product;

    #[test]
    fn limits_and_the_computation_are_drawn() {
        let explanation = product();
        let svg = svg(&explanation.computations[0]).unwrap();
        assert_eq!(svg.matches("class=\"slope\"").count(), 4, "{svg}");
        assert_eq!(svg.matches("<circle ").count(), 2, "{svg}");
        // 2.15 billion operations in 17.8 million cycles.
        assert!(svg.contains(">120 operations a cycle</text>"), "{svg}");
    }

    #[test]
    fn axes_end_at_powers_of_ten() {
        let axes = Axes::new(&[0.5, 30.0], &[2.0, 2.0]);
        assert_eq!((axes.x, axes.y), ((-1, 2), (0, 1)));
        assert_eq!(axes.place((0.1, 1.0)), (LEFT, BOTTOM));
        assert_eq!(axes.place((1000.0, 10.0)), (RIGHT, TOP));
    }
}
