//! A layout as a picture: offsets in their places, tiles of memory in colours, and the order as a
//! line.

use std::fmt::Write;

use mdh_algebra::index::Expr;
use mdh_algebra::layout::Layout;

use crate::layout_command::grid;
use mdh_compiler::error::Result;

/// Width and height of an element.
const SIDE: i64 = 36;

/// Colours that stay apart when they are light, for tiles in turn.
const COLOURS: [&str; 8] = [
    "#cfe2f3", "#fce5cd", "#d9ead3", "#f4cccc", "#d9d2e9", "#fff2cc", "#d0e0e3", "#ead1dc",
];

/// The picture, as SVG.
pub fn svg(layout: &Layout) -> Result<String> {
    let rows = grid(layout)?;
    let (height, width) = (rows.len() as i64, rows.first().map_or(0, Vec::len) as i64);
    let tile = tile(layout);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" \
         font-family=\"sans-serif\" font-size=\"11\" text-anchor=\"middle\">\n",
        width * SIDE + 2,
        height * SIDE + 2
    );
    let mut places = Vec::new();
    for (r, row) in (0..).zip(&rows) {
        for (c, cell) in (0..).zip(row) {
            let (x, y) = (c * SIDE + 1, r * SIDE + 1);
            let number = usize::try_from(cell.offset / tile).unwrap_or(0);
            let colour = match cell.meant {
                true => COLOURS[number % COLOURS.len()],
                false => "#ffffff",
            };
            let _ = writeln!(
                text,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{SIDE}\" height=\"{SIDE}\" fill=\"{colour}\" \
                 stroke=\"#888888\"/>"
            );
            places.push((cell.offset, x + SIDE / 2, y + SIDE / 2));
            let _ = writeln!(
                text,
                "<text x=\"{}\" y=\"{}\">{}</text>",
                x + SIDE / 2,
                y + SIDE - 4,
                cell.offset
            );
        }
    }
    places.sort_unstable();
    let points: Vec<String> = places.iter().map(|(_, x, y)| format!("{x},{y}")).collect();
    let _ = writeln!(
        text,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#cc0000\" stroke-opacity=\"0.5\"/>",
        points.join(" ")
    );
    Ok(text + "</svg>\n")
}

/// Returns the number of elements that stand together in memory: a tile of the outermost level of
/// the reordering that is applied last.
fn tile(layout: &Layout) -> i64 {
    let inner = layout.chain().first().map(|order| {
        let inner = order.perms.iter().skip(1).flat_map(|perm| perm.dims());
        Expr::product(inner)
    });
    let size = inner.and_then(|size| size.as_constant()).unwrap_or(1);
    let last = layout.dims().last().and_then(Expr::as_constant);
    match size {
        // One level only: rows of memory.
        1 => last.unwrap_or(1).max(1),
        size => size,
    }
}
