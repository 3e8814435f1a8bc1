//! Results as a picture: for each case, the share of the machine's limit that everybody reaches.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::rows::Row;
use super::schedules::OURS;
use mdh_compiler::error::{Error, Result};

/// Pixels: the width of the picture, of the names, of the place for bars; the height of a bar,
/// the space between cases, and what the legend takes.
const WIDTH: u32 = 1000;
const NAMES: i32 = 230;
const BARS: f64 = 640.0;
const BAR: i32 = 9;
const GAP: i32 = 8;
const LEGEND: i32 = 40;

/// The colours: ours, then peers in the order of their names (Okabe and Ito's, which all people
/// can tell apart).
pub(super) const COLOURS: [RGBColor; 8] = [
    RGBColor(213, 94, 0),
    RGBColor(0, 114, 178),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(240, 228, 66),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(90, 90, 90),
];

/// One bar: whose, and the share of the limit, from 0.
type Bar<'r> = (&'r str, f64);

/// The picture as SVG.
pub fn svg(rows: &[Row]) -> Result<String> {
    let cases: Vec<(String, Vec<Bar>)> = rows.iter().filter_map(bars).collect();
    let mut names: Vec<&str> = cases
        .iter()
        .flat_map(|(_, bars)| bars)
        .map(|bar| bar.0)
        .collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| *name != OURS);
    names.insert(0, OURS);
    let lines: usize = cases.iter().map(|(_, bars)| bars.len()).sum();
    let height = LEGEND + lines as i32 * BAR + cases.len() as i32 * GAP + GAP;
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (WIDTH, height as u32)).into_drawing_area();
        draw(&area, &cases, &names).map_err(|error| Error::bug(format!("the picture: {error}")))?;
    }
    Ok(text)
}

/// The bars of a case that has a limit.
fn bars(row: &Row) -> Option<(String, Vec<Bar<'_>>)> {
    let (limit, ours) = (row.limit.as_ref()?, row.ours_ms?);
    let mut bars = vec![(OURS, limit.fraction)];
    let forms = row.schedules.iter().chain(&row.variants);
    let others = forms.filter_map(|s| Some((&s.name, s.ms?)));
    let others = others.chain(row.peers.iter().map(|(name, ms)| (name, *ms)));
    bars.extend(others.map(|(name, ms)| (name.as_str(), limit.fraction * ours / ms)));
    Some((row.name(), bars))
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

fn draw(
    area: &Area,
    cases: &[(String, Vec<Bar>)],
    names: &[&str],
) -> std::result::Result<(), String> {
    let failed = |error: DrawingAreaErrorKind<std::io::Error>| error.to_string();
    area.fill(&WHITE).map_err(failed)?;
    let text = ("sans-serif", 12).into_font().color(&BLACK);
    let middle = |horizontal| text.pos(Pos::new(horizontal, VPos::Center));
    let colour = |name: &str| {
        let position = names.iter().position(|known| *known == name).unwrap_or(0);
        COLOURS[position % COLOURS.len()]
    };
    for (n, name) in names.iter().enumerate() {
        let x = NAMES + n as i32 * 85;
        let square = Rectangle::new([(x, 8), (x + 10, 18)], colour(name).filled());
        area.draw(&square).map_err(failed)?;
        area.draw(&Text::new(
            name.to_string(),
            (x + 14, 13),
            middle(HPos::Left),
        ))
        .map_err(failed)?;
    }
    for percent in [0, 25, 50, 75, 100] {
        let x = NAMES + (BARS * f64::from(percent) / 100.0) as i32;
        let end = area.dim_in_pixel().1 as i32;
        area.draw(&PathElement::new([(x, LEGEND), (x, end)], BLACK.mix(0.25)))
            .map_err(failed)?;
        let label = format!("{percent} %");
        area.draw(&Text::new(label, (x, LEGEND - 8), middle(HPos::Center)))
            .map_err(failed)?;
    }
    let mut y = LEGEND + GAP / 2;
    for (case, bars) in cases {
        let centre = y + bars.len() as i32 * BAR / 2;
        area.draw(&Text::new(
            case.clone(),
            (NAMES - 8, centre),
            middle(HPos::Right),
        ))
        .map_err(failed)?;
        for (name, share) in bars {
            // Bars end at the picture's edge: a share above 1 is one of a limit that is too low.
            let length = (BARS * share.clamp(0.0, 1.2)).max(1.0) as i32;
            let bar = Rectangle::new(
                [(NAMES, y), (NAMES + length, y + BAR - 1)],
                colour(name).filled(),
            );
            area.draw(&bar).map_err(failed)?;
            y += BAR;
        }
        y += GAP;
    }
    area.present().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limit;
    use crate::rows::PeerTime;
    use crate::workloads::{Scale, all};

    #[test]
    fn everybody_has_a_bar_and_a_name() {
        let cases = all(Scale::Full).unwrap();
        let mut rows: Vec<Row> = cases.iter().take(3).map(Row::of).collect();
        for row in &mut rows[..2] {
            row.ours_ms = Some(2.0);
            row.set_limit(Some(Limit {
                kind: "FMA".to_string(),
                ms: 1.0,
            }));
            row.add_peer(PeerTime {
                name: "torch".to_string(),
                ms: 4.0,
            });
        }
        let text = svg(&rows).unwrap();
        assert!(
            text.starts_with("<svg ") && text.trim_end().ends_with("</svg>"),
            "{text}"
        );
        for name in [&rows[0].name(), &rows[1].name(), "mdh", "torch", "100 %"] {
            assert!(text.contains(name), "{name}");
        }
        assert!(!text.contains(&rows[2].name()));
        // 50 % and 25 % of 640 pixels, each in two cases.
        for length in ["width=\"320\"", "width=\"160\""] {
            assert_eq!(text.matches(length).count(), 2, "{length}: {text}");
        }
    }

    #[test]
    fn a_picture_of_nothing_is_one() {
        assert!(svg(&[]).unwrap().starts_with("<svg "));
    }
}
