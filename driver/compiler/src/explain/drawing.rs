//! Picture of a schedule: loops and memories as nested boxes, the outermost loop outside, with the buffers of a tile in
//! each memory, and copies as arrows.
//!
//! ```text
//! +--------------------------------+
//! | core.i: 2 parts of 512         |
//! | +----------------------------+ |
//! | | L2, 800 % of 1.00 MiB      | |
//! | | A 512x1024 (2.00 MiB)      | | <-- 4.00 MiB
//! | | C 512x1024 (2.00 MiB)      | | --> 4.00 MiB
//! | | +------------------------+ | |
//! | | | L2.i: 64 parts of 8    | | |
//! ```

use mdh_algebra::amounts::bytes;

use super::levels::MemoryUse;
use super::loops::{Loop, LoopKind};
use super::summary::Summary;
use crate::html::Svg;

/// Sizes in pixels: of a row of text, of the margin between boxes, of the outermost box, of an arrow and of what
/// stands behind it.
const ROW: f64 = 20.0;
const MARGIN: f64 = 7.0;
const WIDTH: f64 = 560.0;
const ARROW: f64 = 40.0;
const BESIDE: f64 = 110.0;

/// A box: a loop, or a memory from some loop on.
enum Nested<'a> {
    Loop(&'a Loop),
    Memory(&'a MemoryUse),
}

/// Draws a schedule; `None` where there is none, or the machine does not know its layers.
pub fn svg(summary: &Summary) -> Option<String> {
    summary.schedule.as_ref()?;
    let boxes = nested(summary);
    if boxes.is_empty() {
        return None;
    }
    let is_written = |name: &str| summary.work.writes.iter().any(|buffer| buffer.name == name);
    let rows: f64 = boxes.iter().map(Nested::height).sum();
    let bottom = rows + boxes.len() as f64 * MARGIN;
    let mut svg = Svg::default();
    let mut top = 0.0;
    for (depth, each) in boxes.iter().enumerate() {
        let margin = depth as f64 * MARGIN;
        let size = (WIDTH - 2.0 * margin, bottom - margin - top);
        svg.rectangle((margin, top), size, each.class());
        each.draw(&mut svg, (margin, top), &is_written);
        top += each.height();
    }
    let name = format!("Loops of '{}'", summary.name);
    Some(svg.finish((WIDTH + ARROW + BESIDE, bottom + 1.0), &name))
}

/// The boxes from the outside in: a memory holds what the loops inside of its box go through.
fn nested(summary: &Summary) -> Vec<Nested<'_>> {
    let memories = summary.memories.as_deref().unwrap_or_default();
    let position = |memory: &MemoryUse| {
        let behind = memory.behind.as_ref();
        let at = behind.and_then(|name| summary.loops.iter().position(|each| each.name() == *name));
        at.map_or(0, |at| at + 1)
    };
    let mut boxes = Vec::new();
    for n in 0..=summary.loops.len() {
        let here = memories.iter().filter(|memory| position(memory) == n);
        boxes.extend(here.map(Nested::Memory));
        boxes.extend(summary.loops.get(n).map(Nested::Loop));
    }
    boxes
}

impl Nested<'_> {
    fn height(&self) -> f64 {
        let lines = match self {
            Nested::Loop(each) => each.buffers.len(),
            Nested::Memory(memory) => memory.tiles.len(),
        };
        ROW * (1 + lines) as f64
    }

    fn class(&self) -> &'static str {
        match self {
            Nested::Memory(_) => "memory",
            Nested::Loop(each) => match each.kind {
                LoopKind::Loop => "loop",
                LoopKind::Register => "register",
                LoopKind::Parallel => "parallel",
                LoopKind::Lanes => "lanes",
            },
        }
    }

    /// Draws the texts of a box, and the arrows of what is copied into it and out of it.
    fn draw(&self, svg: &mut Svg, (left, top): (f64, f64), is_written: &dyn Fn(&str) -> bool) {
        let line = |n: usize| top + ROW * n as f64 + ROW - 6.0;
        let mut text = |n: usize, indent: f64, text: &str| {
            svg.text((left + MARGIN + indent, line(n)), "start", "", text);
        };
        match self {
            Nested::Loop(each) => {
                text(0, 0.0, &format!("{}: {}", each.name(), each.text()));
                for (n, buffer) in each.buffers.iter().enumerate() {
                    text(n + 1, ROW, &buffer.text());
                }
            }
            Nested::Memory(memory) => {
                text(0, 0.0, &memory.heading());
                for (n, tile) in memory.tiles.iter().enumerate() {
                    text(n + 1, ROW, &tile.text());
                }
                for (n, tile) in memory.tiles.iter().enumerate() {
                    let right = WIDTH - left;
                    let ends = (right, WIDTH + ARROW);
                    let moved = bytes(tile.moved);
                    arrow(svg, ends, line(n + 1) - 4.0, is_written(&tile.buffer));
                    svg.text((WIDTH + ARROW + 4.0, line(n + 1)), "start", "", &moved);
                }
            }
        }
    }
}

/// Draws an arrow between a box and what is outside of it: out of the box for what is written.
fn arrow(svg: &mut Svg, (inside, outside): (f64, f64), y: f64, is_out: bool) {
    svg.line((inside, y), (outside, y), "arrow");
    let (tip, back) = match is_out {
        true => (outside, outside - 7.0),
        false => (inside, inside + 7.0),
    };
    let head = format!(
        "M{tip:.1},{y:.1} L{back:.1},{:.1} V{:.1} Z",
        y - 4.0,
        y + 4.0
    );
    svg.add("path", &[("d", &head), ("class", &"head")]);
}

#[cfg(test)]
mod tests {
    use crate::explain::tests::product;

    #[test]
    fn boxes_are_nested_and_copies_are_arrows() {
        let explanation = product();
        let svg = super::svg(&explanation.computations[0]).unwrap();
        // Four memories of three buffers each, and the loops that have more than one part.
        assert_eq!(svg.matches("class=\"memory\"").count(), 4, "{svg}");
        assert_eq!(svg.matches("class=\"head\"").count(), 12, "{svg}");
        let order = [
            "core.i: 2 parts",
            "L2, 800 % of 1.00 MiB",
            "L2.i: 64 parts of 8",
            "simd.j: 16 lanes",
        ];
        let places = order.map(|text| svg.find(text).unwrap_or_else(|| panic!("{text} {svg}")));
        assert!(places.is_sorted(), "{places:?} {svg}");
    }
}
