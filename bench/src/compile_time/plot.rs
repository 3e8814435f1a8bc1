//! Times over sizes as a picture, both on logarithmic axes: a straight line for each power.

use plotters::prelude::*;

use super::Curve;
use crate::chart::COLOURS;
use mdh_compiler::error::{Error, Result};

/// Pixels.
const SIZE: (u32, u32) = (900, 600);

type Drawn = std::result::Result<(), Box<dyn std::error::Error>>;

/// The picture as SVG.
pub fn svg(curves: &[Curve]) -> Result<String> {
    let mut text = String::new();
    draw(&mut text, curves).map_err(|error| Error::bug(format!("the picture: {error}")))?;
    Ok(text)
}

fn draw(text: &mut String, curves: &[Curve]) -> Drawn {
    let area = SVGBackend::with_string(text, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let times = || curves.iter().flat_map(|curve| &curve.times);
    let sizes = times().map(|time| time.n as f64);
    let (least, most) = ends(sizes);
    let (shortest, longest) = ends(times().map(|time| time.ms));
    let mut chart = ChartBuilder::on(&area)
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(60)
        .build_cartesian_2d(
            (least..most).log_scale(),
            (shortest / 1.5..longest * 1.5).log_scale(),
        )?;
    chart
        .configure_mesh()
        .x_desc("n")
        .y_desc("ms")
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| format!("{y}"))
        .draw()?;
    let mut names: Vec<&str> = curves.iter().map(|curve| curve.family.as_str()).collect();
    names.dedup();
    for curve in curves {
        let number = names.iter().position(|name| *name == curve.family);
        let colour = COLOURS[number.unwrap_or(0) % COLOURS.len()];
        let is_code = curve.stage != curves[0].stage;
        let style = colour.stroke_width(if is_code { 3 } else { 1 });
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
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .draw()?;
    area.present()?;
    Ok(())
}

/// The smallest and the largest of numbers, apart from each other.
fn ends(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    let found = numbers.fold((f64::MAX, 0.0f64), |(a, b), n| (a.min(n), b.max(n)));
    match found.0 < found.1 {
        true => found,
        false => (1.0, 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile_time::Time;

    #[test]
    fn curves_have_names_and_exponents() {
        let curve = |family: &str, stage: &str| Curve {
            family: family.into(),
            of: "parts".into(),
            stage: stage.into(),
            times: vec![Time { n: 10, ms: 1.0 }, Time { n: 100, ms: 15.0 }],
            exponent: Some(1.176),
        };
        let text = svg(&[curve("order", "scheduled"), curve("order", "machine code")]).unwrap();
        assert!(text.starts_with("<svg ") && text.trim_end().ends_with("</svg>"));
        for label in ["order, scheduled: 1.18", "order, machine code: 1.18"] {
            assert!(text.contains(label), "{label}: {text}");
        }
    }

    #[test]
    fn a_picture_of_nothing_is_one() {
        assert!(svg(&[]).unwrap().starts_with("<svg "));
    }
}
