//! The picture of a search as SVG: each evaluation is a dot, the least cost so far a line with steps.

use serde::Serialize;

use crate::digits::shown;
use crate::tune::Tuned;

/// Extents of the picture, and of the place in it where costs are drawn, in pixels.
const SIZE: (f64, f64) = (960.0, 420.0);
const LEFT: f64 = 90.0;
const RIGHT: f64 = 948.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 370.0;
/// The number of marks of an axis.
const MARKS: usize = 8;

/// Okabe and Ito's colours, which all people can tell apart. Grey is the neutral one.
const COLOURS: [&str; 7] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#a08c00",
];
const GREY: &str = "#787878";

/// Look of what a technique has proposed: a colour, and the letter that is its dots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Look {
    pub(super) colour: &'static str,
    pub(super) letter: char,
}

impl Look {
    /// The look of what no technique has proposed.
    pub(super) const NEUTRAL: Look = Look {
        colour: GREY,
        letter: '\u{25cf}',
    };

    /// The look of the technique of that number.
    pub(super) fn new(number: usize) -> Look {
        let letters = ['\u{25cf}', '\u{25cb}', '\u{00d7}'];
        Look {
            colour: COLOURS[number % COLOURS.len()],
            letter: letters[number / COLOURS.len() % letters.len()],
        }
    }
}

/// Places of evaluations and costs in the picture.
struct Scale {
    evaluations: f64,
    least: f64,
    most: f64,
    /// True where costs are so far apart that their logarithms are drawn.
    is_logarithmic: bool,
}

impl Scale {
    fn new(costs: &[f64], evaluations: usize) -> Scale {
        let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
        let most = costs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let is_logarithmic = least > 0.0 && most / least > 4.0;
        let margin = (most - least) * 0.1;
        let margin = margin.max(least.abs() * 0.01).max(f64::MIN_POSITIVE);
        let (least, most) = match is_logarithmic {
            true => (least * 0.9, most * 1.1),
            false => (least - margin, most + margin),
        };
        Scale {
            evaluations: evaluations as f64 + 1.0,
            least,
            most,
            is_logarithmic,
        }
    }

    fn x(&self, number: usize) -> f64 {
        LEFT + (RIGHT - LEFT) * (number as f64 + 1.0) / self.evaluations
    }

    fn y(&self, cost: f64) -> f64 {
        let share = match self.is_logarithmic {
            true => (cost / self.least).ln() / (self.most / self.least).ln(),
            false => (cost - self.least) / (self.most - self.least),
        };
        BOTTOM - (BOTTOM - TOP) * share
    }

    /// The cost at a share of the axis.
    fn cost(&self, share: f64) -> f64 {
        match self.is_logarithmic {
            true => self.least * (self.most / self.least).powf(share),
            false => self.least + (self.most - self.least) * share,
        }
    }
}

/// The picture, with costs as the search compares them, of names in the place of techniques' with their looks.
pub(super) fn svg(tuned: &Tuned, unit: &str, series: &[(&str, Look)]) -> String {
    let dots = |n: usize| Some((n, tuned.compared(n)?));
    let dots: Vec<(usize, f64)> = (0..tuned.evaluations.len()).filter_map(dots).collect();
    let costs: Vec<f64> = dots.iter().map(|(_, cost)| *cost).collect();
    let (width, height) = SIZE;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-size=\"12\">\n"
    );
    if costs.is_empty() {
        return svg + &text((40.0, 40.0), "start", "no configuration works") + "</svg>";
    }
    let scale = Scale::new(&costs, tuned.evaluations.len());
    svg += &axes(&scale, unit);
    let mut steps = format!("M{:.1},{:.1}", scale.x(dots[0].0), scale.y(costs[0]));
    let mut best = f64::INFINITY;
    for (n, cost) in &dots {
        let name = tuned.evaluations[*n].technique.as_str();
        let look = series.iter().find(|(own, _)| *own == name);
        let look = look.map_or(Look::NEUTRAL, |(_, look)| *look);
        let (x, y) = (scale.x(*n), scale.y(*cost));
        let dot = text((x, y + 4.0), "middle", &look.letter.to_string());
        svg += &format!("<g fill=\"{}\" opacity=\"0.7\">{dot}</g>", look.colour);
        if *cost < best {
            best = *cost;
            steps += &format!(" H{x:.1} V{y:.1}");
        }
    }
    let line = |path: &str, style: &str| format!("<path d=\"{path}\" fill=\"none\" {style}/>\n");
    svg += &line(
        &format!("{steps} H{RIGHT}"),
        "stroke=\"currentColor\" stroke-width=\"2\"",
    );
    if let Some(default) = tuned.default.and_then(|number| tuned.compared(number)) {
        let path = format!("M{LEFT},{:.1} H{RIGHT}", scale.y(default));
        svg += &line(&path, "stroke=\"#999\"");
    }
    svg + "</svg>"
}

fn text((x, y): (f64, f64), anchor: &str, text: &str) -> String {
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>\n")
}

/// The axes, with marks and what they say.
fn axes(scale: &Scale, unit: &str) -> String {
    let path = format!("M{LEFT},{TOP} V{BOTTOM} H{RIGHT}");
    let mut svg = format!("<path d=\"{path}\" fill=\"none\" stroke=\"currentColor\"/>\n");
    for mark in 0..=MARKS {
        let cost = scale.cost(mark as f64 / MARKS as f64);
        svg += &text((LEFT - 6.0, scale.y(cost) + 4.0), "end", &shown(cost, ""));
    }
    let step = (scale.evaluations / MARKS as f64).ceil() as usize;
    for number in (step..scale.evaluations as usize).step_by(step) {
        svg += &text(
            (scale.x(number - 1), BOTTOM + 18.0),
            "middle",
            &number.to_string(),
        );
    }
    let middle = (LEFT + RIGHT) / 2.0;
    svg += &text((middle, BOTTOM + 40.0), "middle", "evaluations");
    svg + &text((4.0, BOTTOM + 40.0), "start", &format!("cost {unit}"))
}
