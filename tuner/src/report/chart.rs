//! The picture of a search: each evaluation as a dot, the least cost so far as a line.

use std::collections::BTreeMap;

use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

use crate::error::{Error, Result};
use crate::tune::Tuned;

const WIDTH: u32 = 960;
const HEIGHT: u32 = 420;

/// Okabe and Ito's colours, which all people can tell apart.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(90, 90, 90),
    RGBColor(160, 140, 0),
];

fn picture_colour(number: usize) -> RGBColor {
    COLOURS[number % COLOURS.len()]
}

/// The colour of that number, as HTML spells it.
pub(super) fn colour(number: usize) -> String {
    let RGBColor(red, green, blue) = picture_colour(number);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// An evaluation that has a cost.
struct Dot {
    number: f64,
    cost: f64,
    technique: usize,
}

/// The picture as SVG. `colours` are those of the techniques.
pub(super) fn svg(tuned: &Tuned, unit: &str, colours: &BTreeMap<String, String>) -> Result<String> {
    let number_of = |name: &str| {
        let wanted = colours.get(name);
        (0..COLOURS.len())
            .find(|n| Some(&colour(*n)) == wanted)
            .unwrap_or(0)
    };
    let dots: Vec<Dot> = tuned
        .evaluations
        .iter()
        .filter_map(|evaluation| {
            Some(Dot {
                number: evaluation.number as f64 + 1.0,
                cost: evaluation.outcome.cost()?,
                technique: number_of(&evaluation.technique),
            })
        })
        .collect();
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (WIDTH, HEIGHT)).into_drawing_area();
        draw(&area, &dots, unit, tuned).map_err(|why| Error::bug(format!("the picture: {why}")))?;
    }
    Ok(text)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

fn draw(area: &Area, dots: &[Dot], unit: &str, tuned: &Tuned) -> std::result::Result<(), String> {
    area.fill(&WHITE).map_err(|error| error.to_string())?;
    let costs = || dots.iter().map(|dot| dot.cost);
    let (least, most) = (
        costs().fold(f64::INFINITY, f64::min),
        costs().fold(f64::NEG_INFINITY, f64::max),
    );
    if dots.is_empty() {
        let text = ("sans-serif", 16).into_font().color(&BLACK);
        let text = Text::new("no configuration works", (40, 40), text);
        area.draw(&text).map_err(|error| error.to_string())?;
        return area.present().map_err(|error| error.to_string());
    }
    // A logarithmic scale where costs are far apart.
    match least > 0.0 && most / least > 4.0 {
        true => chart(
            area,
            dots,
            unit,
            tuned,
            (least * 0.9..most * 1.1).log_scale(),
        ),
        false => {
            let margin = ((most - least) * 0.1)
                .max(least.abs() * 0.01)
                .max(f64::MIN_POSITIVE);
            chart(area, dots, unit, tuned, least - margin..most + margin)
        }
    }
}

fn chart<Y>(
    area: &Area,
    dots: &[Dot],
    unit: &str,
    tuned: &Tuned,
    range: Y,
) -> std::result::Result<(), String>
where
    Y: AsRangedCoord<Value = f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    let failed = |error: DrawingAreaErrorKind<std::io::Error>| error.to_string();
    let last = tuned.evaluations.len() as f64 + 1.0;
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(80)
        .build_cartesian_2d(0.0..last, range)
        .map_err(failed)?;
    let cost = if unit.is_empty() {
        "cost".to_string()
    } else {
        format!("cost ({unit})")
    };
    chart
        .configure_mesh()
        .x_desc("evaluations")
        .y_desc(cost)
        .y_labels(10)
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| super::shown(*y, ""))
        .light_line_style(WHITE)
        .draw()
        .map_err(failed)?;
    let circles = dots.iter().map(|dot| {
        let colour = picture_colour(dot.technique);
        Circle::new((dot.number, dot.cost), 3, colour.mix(0.7).filled())
    });
    chart.draw_series(circles).map_err(failed)?;
    // Each technique's own line, thin, below that of all.
    let mut techniques: Vec<usize> = dots.iter().map(|dot| dot.technique).collect();
    techniques.sort_unstable();
    techniques.dedup();
    for technique in techniques {
        let own = dots.iter().filter(|dot| dot.technique == technique);
        let line = LineSeries::new(steps(own, last), picture_colour(technique).stroke_width(1));
        chart.draw_series(line).map_err(failed)?;
    }
    let line = LineSeries::new(steps(dots.iter(), last), BLACK.stroke_width(2));
    chart.draw_series(line).map_err(failed)?;
    if let Some(default) = tuned.default().and_then(|default| default.outcome.cost()) {
        let line = LineSeries::new([(0.0, default), (last, default)], BLACK.mix(0.4));
        chart.draw_series(line).map_err(failed)?;
    }
    area.present().map_err(failed)
}

/// The least cost so far, as a line with steps.
fn steps<'d>(dots: impl Iterator<Item = &'d Dot>, last: f64) -> Vec<(f64, f64)> {
    let mut line: Vec<(f64, f64)> = Vec::new();
    for dot in dots {
        match line.last() {
            Some((_, best)) if dot.cost >= *best => {}
            Some((_, best)) => line.extend([(dot.number, *best), (dot.number, dot.cost)]),
            None => line.push((dot.number, dot.cost)),
        }
    }
    line.extend(
        line.last()
            .map(|(_, best)| (last, *best))
            .into_iter()
            .collect::<Vec<_>>(),
    );
    line
}
