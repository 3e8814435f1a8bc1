//! Results as pictures: of each case, the share of the machine's limit that everybody reaches; and
//! compile times over sizes, on logarithmic axes, where each power is a straight line.

use plotters::chart::ChartContext;
use plotters::coord::CoordTranslate;
use plotters::prelude::*;

use super::compile_time::Curve;
use super::rows::Row;
use super::schedules::OURS;
use mdh_compiler::error::{Error, Result};

/// Pixels: the width of pictures, the height of one with curves, and the least of one with bars; a
/// bar's height, which is that of the space between cases too.
const WIDTH: u32 = 1000;
const HEIGHT: u32 = 600;
const LEAST: u32 = 240;
const BAR: u32 = 9;

/// The colours: ours, then peers in the order of their names (Okabe and Ito's, which all people
/// can tell apart).
const COLOURS: [RGBColor; 8] = [
    RGBColor(213, 94, 0),
    RGBColor(0, 114, 178),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(240, 228, 66),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(90, 90, 90),
];

/// The largest share of a limit that a bar shows, in thousandths: above 1, the limit is too low.
/// Beside it stand names.
const MOST: f64 = 1200.0;
const EDGE: i32 = 1500;

/// From the top of a bar to that of the next one, and to its bottom.
const STEP: i32 = 10;
const THICK: i32 = 9;

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Drawn = std::result::Result<(), Box<dyn std::error::Error>>;

/// The shares of limits, as bars: SVG.
pub fn shares(rows: &[Row]) -> Result<String> {
    let cases: Vec<(String, Vec<Bar>)> = rows.iter().filter_map(bars).collect();
    // Each case has a line of its own below its bars.
    let lines: usize = cases.iter().map(|(_, bars)| bars.len() + 1).sum();
    let height = LEAST.max(BAR * (lines as u32 + 6));
    picture(height, |area| draw_bars(area, &cases, lines.max(1)))
}

/// Compile times: SVG.
pub fn curves(curves: &[Curve]) -> Result<String> {
    picture(HEIGHT, |area| draw_curves(area, curves))
}

fn picture(height: u32, draw: impl FnOnce(&Area) -> Drawn) -> Result<String> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
        let draw_all = || {
            area.fill(&WHITE)?;
            draw(&area)?;
            area.present().map_err(Into::into)
        };
        draw_all().map_err(|error: Box<dyn std::error::Error>| {
            Error::bug(format!("the picture: {error}"))
        })?;
    }
    Ok(text)
}

/// One bar: whose, and the share of the limit, from 0.
type Bar<'r> = (&'r str, f64);

/// The bars of a case that has a limit.
fn bars(row: &Row) -> Option<(String, Vec<Bar<'_>>)> {
    let (limit, ours) = (row.limit.as_ref()?, row.ours_ms?);
    let mut bars = vec![(OURS, limit.fraction)];
    let forms = row.schedules.iter().chain(&row.variants);
    let times = forms.filter_map(|s| Some((&s.name, s.ms?)));
    let times = times.chain(row.peers.iter().map(|(name, ms)| (name, *ms)));
    bars.extend(times.map(|(name, ms)| (name.as_str(), limit.fraction * ours / ms)));
    Some((row.name(), bars))
}

fn draw_bars(area: &Area, cases: &[(String, Vec<Bar>)], lines: usize) -> Drawn {
    // Each bar with its top, and each case with the middle of its bars.
    let (mut top, mut placed, mut middles) = (0, Vec::new(), Vec::new());
    for (case, bars) in cases {
        middles.push((top + bars.len() as i32 * STEP / 2, case));
        for (name, share) in bars {
            placed.push((*name, *share, top));
            top += STEP;
        }
        top += STEP;
    }
    let mut names: Vec<&str> = placed.iter().map(|bar| bar.0).collect();
    names.sort_unstable();
    names.dedup();
    names.sort_by_key(|name| *name != OURS);
    let case_at = |y: &i32| {
        let nearest = middles.iter().find(|(middle, _)| middle == y);
        nearest.map_or(String::new(), |(_, case)| case.to_string())
    };
    let shares = (0..EDGE).with_key_points(vec![0, 250, 500, 750, 1000]);
    let places =
        (lines as i32 * STEP..0).with_key_points(middles.iter().map(|(y, _)| *y).collect());
    let mut chart = builder(area, 230).build_cartesian_2d(shares, places)?;
    let mut mesh = chart.configure_mesh();
    mesh.disable_y_mesh()
        .x_label_formatter(&|share| format!("{} %", share / 10))
        .y_label_formatter(&case_at)
        .draw()?;
    for (number, name) in names.into_iter().enumerate() {
        let style = COLOURS[number % COLOURS.len()].filled();
        let placed = placed.iter().filter(|bar| bar.0 == name);
        let bars = placed.map(|(_, share, y)| {
            let thousandths = (1000.0 * share).clamp(0.0, MOST) as i32;
            Rectangle::new([(0, *y), (thousandths, y + THICK)], style)
        });
        let drawn = chart.draw_series(bars)?;
        drawn
            .label(name)
            .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 10, y + 5)], style));
    }
    named(&mut chart, SeriesLabelPosition::UpperRight)
}

fn draw_curves(area: &Area, curves: &[Curve]) -> Drawn {
    let times = || curves.iter().flat_map(|curve| &curve.times);
    let (least, most) = ends(times().map(|time| time.n as f64));
    let (shortest, longest) = ends(times().map(|time| time.ms));
    let sizes = (least..most).log_scale();
    let mut chart =
        builder(area, 60).build_cartesian_2d(sizes, (shortest / 1.5..longest * 1.5).log_scale())?;
    let mut mesh = chart.configure_mesh();
    mesh.x_desc("n")
        .y_desc("ms")
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| format!("{y}"))
        .draw()?;
    let mut names: Vec<&str> = curves.iter().map(|curve| curve.family.as_str()).collect();
    names.dedup();
    for curve in curves {
        let number = names.iter().position(|name| *name == curve.family);
        let is_code = curve.stage != curves[0].stage;
        let style =
            COLOURS[number.unwrap_or(0) % COLOURS.len()].stroke_width(if is_code { 3 } else { 1 });
        let points = curve.times.iter().map(|time| (time.n as f64, time.ms));
        let exponent = curve
            .exponent
            .map(|e| format!(": {e:.2}"))
            .unwrap_or_default();
        let drawn = chart.draw_series(LineSeries::new(points, style).point_size(3))?;
        drawn
            .label(format!("{}, {}{exponent}", curve.family, curve.stage))
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
    }
    named(&mut chart, SeriesLabelPosition::UpperLeft)
}

/// The smallest and the largest of numbers, apart from each other.
fn ends(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    let extent = numbers.fold((f64::MAX, 0.0f64), |(a, b), n| (a.min(n), b.max(n)));
    match extent.0 < extent.1 {
        true => extent,
        false => (1.0, 2.0),
    }
}

/// A chart with space for the labels of its axes, `left` pixels for those of the vertical one.
fn builder<'a, 'b>(area: &'a Area<'b>, left: u32) -> ChartBuilder<'a, 'b, SVGBackend<'b>> {
    let mut builder = ChartBuilder::on(area);
    builder
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(left);
    builder
}

/// Writes the names of what was drawn.
fn named<'a, C: CoordTranslate>(
    chart: &mut ChartContext<'a, SVGBackend<'a>, C>,
    position: SeriesLabelPosition,
) -> Drawn {
    let mut labels = chart.configure_series_labels();
    labels
        .position(position)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .draw()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile_time::Time;
    use crate::limits::Limit;
    use crate::rows::PeerTime;
    use crate::workloads::{Scale, all};

    #[test]
    fn everybody_has_a_bar_and_a_name() {
        let cases = all(Scale::Full).unwrap();
        let mut rows: Vec<Row> = cases.iter().take(3).map(Row::new).collect();
        for row in &mut rows[..2] {
            row.ours_ms = Some(2.0);
            row.set_limit(Some(Limit {
                kind: "FMA".to_string(),
                ms: 1.2,
            }));
            row.add_peer(PeerTime {
                name: "torch".to_string(),
                ms: 4.0,
                ci: None,
            });
        }
        let text = shares(&rows).unwrap();
        assert!(
            text.starts_with("<svg ") && text.trim_end().ends_with("</svg>"),
            "{text}"
        );
        for name in [&rows[0].name(), &rows[1].name(), "mdh", "torch", "100 %"] {
            assert!(text.contains(name), "{name}");
        }
        assert!(!text.contains(&rows[2].name()));
        // 60 % and 30 %, of 150 % on 746 pixels, each in two cases.
        for length in ["width=\"298\"", "width=\"149\""] {
            assert_eq!(text.matches(length).count(), 2, "{length}: {text}");
        }
    }

    #[test]
    fn curves_have_names_and_exponents() {
        let curve = |family: &str, stage: &str| Curve {
            family: family.into(),
            of: "parts".into(),
            stage: stage.into(),
            times: vec![Time { n: 10, ms: 1.0 }, Time { n: 100, ms: 15.0 }],
            exponent: Some(1.176),
        };
        let text = curves(&[curve("order", "scheduled"), curve("order", "machine code")]).unwrap();
        assert!(text.starts_with("<svg ") && text.trim_end().ends_with("</svg>"));
        for label in ["order, scheduled: 1.18", "order, machine code: 1.18"] {
            assert!(text.contains(label), "{label}: {text}");
        }
    }

    #[test]
    fn a_picture_of_nothing_is_one() {
        assert!(shares(&[]).unwrap().starts_with("<svg "));
        assert!(curves(&[]).unwrap().starts_with("<svg "));
    }
}
