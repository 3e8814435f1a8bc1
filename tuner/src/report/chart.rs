//! The picture of a search: each evaluation as a dot, the least cost so far as a line.

use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use crate::digits::shown;
use crate::error::{Error, Result};
use crate::tune::Tuned;

const WIDTH: u32 = 960;
const HEIGHT: u32 = 420;

/// Okabe and Ito's colours, which all people can tell apart. Grey is the neutral one.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(160, 140, 0),
];
const GREY: RGBColor = RGBColor(120, 120, 120);

/// Form of a series' dots and lines, by which it differs from others of its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DotForm {
    /// Full dots, and a whole line.
    Full,
    /// Circles, and a line of dashes.
    Hollow,
    /// Crosses, and a line of dots.
    Cross,
    /// Full dots without a line.
    Alone,
}

/// Look of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    colour: RGBColor,
    form: DotForm,
}

impl Look {
    /// The look of what no technique has proposed.
    pub(super) const NEUTRAL: Look = Look {
        colour: GREY,
        form: DotForm::Alone,
    };

    /// The look of the technique of that number. So many are told apart as there are colours and
    /// forms, which are more than there are techniques and kinds of seeds.
    pub(super) fn of(number: usize) -> Look {
        let forms = [DotForm::Full, DotForm::Hollow, DotForm::Cross];
        Look {
            colour: COLOURS[number % COLOURS.len()],
            form: forms[number / COLOURS.len() % forms.len()],
        }
    }

    /// Its colour, as HTML spells it.
    pub(super) fn colour(self) -> String {
        let RGBColor(red, green, blue) = self.colour;
        format!("#{red:02x}{green:02x}{blue:02x}")
    }

    /// The letter that looks like its dots.
    pub(super) fn letter(self) -> char {
        match self.form {
            DotForm::Full | DotForm::Alone => '\u{25cf}',
            DotForm::Hollow => '\u{25cb}',
            DotForm::Cross => '\u{00d7}',
        }
    }
}

/// An evaluation that has a cost.
struct Dot {
    number: f64,
    cost: f64,
    series: usize,
}

/// The picture as SVG, with costs as the search compares them. `series` are the names in the place of
/// techniques', with their looks.
pub(super) fn svg(tuned: &Tuned, unit: &str, series: &[(&str, Look)]) -> Result<String> {
    let series_of = |name: &str| series.iter().position(|(own, _)| *own == name);
    let dot = |number: usize| {
        Some(Dot {
            number: number as f64 + 1.0,
            cost: tuned.compared(number)?,
            series: series_of(&tuned.evaluations[number].technique)?,
        })
    };
    let dots: Vec<Dot> = (0..tuned.evaluations.len()).filter_map(dot).collect();
    let looks: Vec<Look> = series.iter().map(|(_, look)| *look).collect();
    let picture = Picture {
        dots: &dots,
        looks: &looks,
        unit,
        last: tuned.evaluations.len() as f64 + 1.0,
        default: tuned.default.and_then(|number| tuned.compared(number)),
    };
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (WIDTH, HEIGHT)).into_drawing_area();
        let drawn = draw(&area, &picture);
        drawn.map_err(|why| Error::bug(format!("the picture: {why}")))?;
    }
    Ok(text)
}

/// All that the picture shows.
struct Picture<'p> {
    dots: &'p [Dot],
    /// The looks of series.
    looks: &'p [Look],
    unit: &'p str,
    /// The right end.
    last: f64,
    /// The default's cost.
    default: Option<f64>,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Chart<'c, 'b, Y> = ChartContext<'c, SVGBackend<'b>, Cartesian2d<RangedCoordf64, Y>>;
type Drawn = std::result::Result<(), String>;
type Failed = DrawingAreaErrorKind<std::io::Error>;

fn draw(area: &Area, picture: &Picture) -> Drawn {
    area.fill(&WHITE).map_err(|error| error.to_string())?;
    let costs = || picture.dots.iter().map(|dot| dot.cost);
    let (least, most) = (
        costs().fold(f64::INFINITY, f64::min),
        costs().fold(f64::NEG_INFINITY, f64::max),
    );
    if picture.dots.is_empty() {
        let text = ("sans-serif", 16).into_font().color(&BLACK);
        let text = Text::new("no configuration works", (40, 40), text);
        area.draw(&text).map_err(|error| error.to_string())?;
        return area.present().map_err(|error| error.to_string());
    }
    // A logarithmic scale where costs are far apart.
    match least > 0.0 && most / least > 4.0 {
        true => chart(area, picture, (least * 0.9..most * 1.1).log_scale()),
        false => {
            let margin = ((most - least) * 0.1)
                .max(least.abs() * 0.01)
                .max(f64::MIN_POSITIVE);
            chart(area, picture, least - margin..most + margin)
        }
    }
}

fn chart<Y>(area: &Area, picture: &Picture, range: Y) -> Drawn
where
    Y: AsRangedCoord<Value = f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    let failed = |error: Failed| error.to_string();
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(80)
        .build_cartesian_2d(0.0..picture.last, range)
        .map_err(failed)?;
    let cost = if picture.unit.is_empty() {
        "cost".to_string()
    } else {
        format!("cost ({})", picture.unit)
    };
    chart
        .configure_mesh()
        .x_desc("evaluations")
        .y_desc(cost)
        .y_labels(10)
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| shown(*y, ""))
        .light_line_style(WHITE)
        .draw()
        .map_err(failed)?;
    draw_dots(&mut chart, picture).map_err(failed)?;
    // Each technique's own line, thin, below that of all.
    draw_lines(&mut chart, picture).map_err(failed)?;
    let all = steps(picture.dots.iter(), picture.last);
    let line = LineSeries::new(all, BLACK.stroke_width(2));
    chart.draw_series(line).map_err(failed)?;
    if let Some(default) = picture.default {
        let ends = [(0.0, default), (picture.last, default)];
        let line = LineSeries::new(ends, BLACK.mix(0.4));
        chart.draw_series(line).map_err(failed)?;
    }
    area.present().map_err(failed)
}

fn draw_dots<Y>(chart: &mut Chart<'_, '_, Y>, picture: &Picture) -> std::result::Result<(), Failed>
where
    Y: Ranged<ValueType = f64>,
{
    for (series, look) in picture.looks.iter().enumerate() {
        let own = picture.dots.iter().filter(|dot| dot.series == series);
        let places = own.map(|dot| (dot.number, dot.cost));
        let colour = look.colour.mix(0.7);
        match look.form {
            DotForm::Full | DotForm::Alone => {
                chart.draw_series(places.map(|at| Circle::new(at, 3, colour.filled())))?
            }
            DotForm::Hollow => {
                chart.draw_series(places.map(|at| Circle::new(at, 3, colour.stroke_width(1))))?
            }
            DotForm::Cross => {
                chart.draw_series(places.map(|at| Cross::new(at, 3, colour.stroke_width(1))))?
            }
        };
    }
    Ok(())
}

fn draw_lines<Y>(chart: &mut Chart<'_, '_, Y>, picture: &Picture) -> std::result::Result<(), Failed>
where
    Y: Ranged<ValueType = f64>,
{
    for (series, look) in picture.looks.iter().enumerate() {
        let own = picture.dots.iter().filter(|dot| dot.series == series);
        let line = steps(own, picture.last);
        let style = look.colour.stroke_width(1);
        match look.form {
            DotForm::Full => chart.draw_series(LineSeries::new(line, style))?,
            DotForm::Hollow => chart.draw_series(DashedLineSeries::new(line, 6, 4, style))?,
            DotForm::Cross => chart.draw_series(DashedLineSeries::new(line, 1, 4, style))?,
            DotForm::Alone => continue,
        };
    }
    Ok(())
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
