//! Memory layouts (parameters D4, S4, S6, R4): bijections from a tile's indices to offsets.
//!
//! A layout is a chain of steps, each of which turns an index of one shape into one of another;
//! the last one is flattened row-major. No step is row-major. With sizes `n`:
//!
//! ```text
//! permuted(s)  i -> (i[s_1], .., i[s_r])         shape (n[s_1], .., n[s_r])     (s is 1-based)
//! blocked(b)   i -> (i_1 / b_1, .., i_r / b_r, i_1 mod b_1, .., i_r mod b_r)
//!                                                shape (ceil(n_1 / b_1), .., b_1, .., b_r)
//! padded(p)    i -> i                            shape (n_1 + p_1, .., n_r + p_r)
//! ```
//!
//! Or it is one of the algebra ([`mdh_algebra::layout`]), of numbers: `"GenP([64,64],xor)"`, whose sizes are
//! the tile's or more. Steps are a case of it
//! (its module says which), and have code of their own.
//!
//! B packed for a matrix product, `[N/64][K][64]` of a tile of K rows: `blocked(512, 64)`, whose
//! first block count is 1. With groups of 4 rows innermost, `[N/64][K/4][64][4]`: `blocked(1, 1, 4,
//! 1)` after it.

use std::fmt;
use std::sync::Arc;

use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};

use mdh_algebra::index::{Expr, IndexProgram};
use mdh_algebra::layout::{self as algebra, bounded};

/// The elements that a layout may add to a tile, or cut it into blocks of: with them, and with
/// tiles of the sizes that memory holds, offsets stay far within 64 bits.
const MOST_ELEMENTS: i64 = 1 << 40;

/// A chain of steps; none is row-major. One of the algebra is the only step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct StagedLayout {
    /// The steps, first to last.
    pub steps: Vec<Step>,
}

/// One step of a layout.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Axes in another order: entry `k` is the (1-based) axis that becomes axis `k`.
    Permuted(Vec<usize>),
    /// Each axis is cut into blocks of that size: axes of blocks first, then inside blocks.
    Blocked(Vec<i64>),
    /// That many unused elements at each axis' end.
    Padded(Vec<i64>),
    /// A layout of the algebra: `i -> apply(i)`, shape `(size)`.
    #[serde(skip)]
    Algebra(Arc<algebra::Layout>),
}

impl fmt::Display for StagedLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.steps.is_empty() {
            return f.write_str("row_major");
        }
        for (n, step) in self.steps.iter().enumerate() {
            let (name, entries) = match step {
                Step::Permuted(axes) => ("permuted", format!("{axes:?}")),
                Step::Blocked(sizes) => ("blocked", format!("{sizes:?}")),
                Step::Padded(sizes) => ("padded", format!("{sizes:?}")),
                Step::Algebra(layout) => return write!(f, "{layout}"),
            };
            let entries = entries.trim_matches(['[', ']']);
            write!(f, "{}{name}({entries})", if n > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

impl StagedLayout {
    /// Row-major.
    pub fn row_major() -> StagedLayout {
        StagedLayout::default()
    }

    /// One step.
    pub fn step(step: Step) -> StagedLayout {
        StagedLayout { steps: vec![step] }
    }

    /// Checks it against a buffer's rank.
    pub fn check(&self, mut rank: usize) -> Result<(), String> {
        for step in &self.steps {
            let (name, entries) = match step {
                Step::Permuted(axes) => ("permuted", axes.len()),
                Step::Blocked(sizes) => ("blocked", sizes.len()),
                Step::Padded(sizes) => ("padded", sizes.len()),
                Step::Algebra(layout) => return check_algebra(layout, rank),
            };
            if entries != rank {
                return Err(format!(
                    "'{name}' has {entries} entries, expected one for each of {rank} axes"
                ));
            }
            match step {
                Step::Permuted(axes) => {
                    if let Some(axis) = (1..=rank).find(|axis| !axes.contains(axis)) {
                        return Err(format!(
                            "'permuted' lacks axis {axis}, expected each of 1 to {rank} once"
                        ));
                    }
                }
                Step::Blocked(sizes) => {
                    if let Some(size) = sizes.iter().find(|size| **size < 1) {
                        return Err(format!(
                            "'blocked' has a size of {size}, expected 1 or more"
                        ));
                    }
                    rank *= 2;
                }
                Step::Padded(sizes) => {
                    if let Some(size) = sizes.iter().find(|size| **size < 0) {
                        return Err(format!("'padded' has a size of {size}, expected 0 or more"));
                    }
                }
                Step::Algebra(_) => {}
            }
        }
        self.check_size()
    }

    /// Checks that the smallest tile, after the steps, has a size that can be computed with.
    fn check_size(&self) -> Result<(), String> {
        let axes = match self.steps.first() {
            Some(Step::Permuted(axes)) => axes.len(),
            Some(Step::Blocked(sizes) | Step::Padded(sizes)) => sizes.len(),
            _ => return Ok(()),
        };
        match self.elements(&vec![1; axes]) {
            elements if elements > MOST_ELEMENTS => Err(format!(
                "'{self}' takes {elements} elements or more for a tile of one, expected at most \
                 {MOST_ELEMENTS}"
            )),
            _ => Ok(()),
        }
    }

    /// The shape in memory of a tile of this shape.
    pub fn shape(&self, tile: &[i64]) -> Vec<i64> {
        let mut shape = tile.to_vec();
        for step in &self.steps {
            shape = match step {
                Step::Permuted(axes) => axes.iter().map(|a| shape[a - 1]).collect(),
                Step::Blocked(sizes) => {
                    let pairs = shape.iter().zip(sizes);
                    let blocks = pairs.map(|(n, b)| super::numbers::ceil_div(*n, *b));
                    blocks.chain(sizes.iter().copied()).collect()
                }
                Step::Padded(sizes) => {
                    let pairs = shape.iter().zip(sizes);
                    pairs.map(|(n, p)| n.saturating_add(*p)).collect()
                }
                Step::Algebra(layout) => vec![layout.size().as_constant().unwrap_or(i64::MAX)],
            };
        }
        shape
    }

    /// The layout of the algebra that it is, if it is written as one.
    pub fn algebra(&self) -> Option<&Arc<algebra::Layout>> {
        match self.steps.as_slice() {
            [Step::Algebra(layout)] => Some(layout),
            _ => None,
        }
    }

    /// Returns whether a tile of this shape has a place for each element, or the sizes that it should have
    /// at most.
    pub fn fits(&self, tile: &[i64]) -> Result<(), Vec<i64>> {
        let Some(layout) = self.algebra() else {
            return Ok(());
        };
        let sizes = numbers(&layout.meant()).unwrap_or_default();
        match sizes.len() == tile.len() && tile.iter().zip(&sizes).all(|(n, size)| n <= size) {
            true => Ok(()),
            false => Err(sizes),
        }
    }

    /// Returns the elements of memory of a tile of this shape; saturates.
    pub fn elements(&self, tile: &[i64]) -> i64 {
        let shape = self.shape(tile);
        shape
            .iter()
            .fold(1, |product, n| product.saturating_mul(*n))
    }

    /// The offset of an index of a tile of this shape.
    pub fn offset(&self, tile: &[i64], index: &[i64]) -> i64 {
        let mut index = index.to_vec();
        for step in &self.steps {
            index = match step {
                Step::Permuted(axes) => axes.iter().map(|a| index[a - 1]).collect(),
                Step::Blocked(sizes) => {
                    let blocks = index.iter().zip(sizes).map(|(i, b)| i / b);
                    let inside = index.iter().zip(sizes).map(|(i, b)| i % b);
                    blocks.chain(inside).collect()
                }
                Step::Padded(_) => index,
                Step::Algebra(layout) => vec![place(layout, &index)],
            };
        }
        let shape = self.shape(tile);
        index
            .iter()
            .zip(&shape)
            .fold(0, |flat, (i, n)| flat * n + i)
    }
}

fn check_algebra(layout: &algebra::Layout, rank: usize) -> Result<(), String> {
    let symbols = layout.symbols();
    if !symbols.is_empty() {
        let symbols: Vec<String> = symbols.iter().map(|s| format!("'{s}'")).collect();
        return Err(format!(
            "'{layout}' has the symbols {}, expected numbers",
            symbols.join(", ")
        ));
    }
    match layout.sizes().len() {
        axes if axes == rank => Ok(()),
        axes => Err(format!(
            "'{layout}' has indices of {axes} dimensions, expected one for each of {rank} axes"
        )),
    }
}

fn numbers(sizes: &[Expr]) -> Option<Vec<i64>> {
    sizes.iter().map(Expr::as_constant).collect()
}

/// Returns the offset of an index of whole dimensions, in a layout of numbers.
fn place(layout: &algebra::Layout, index: &[i64]) -> i64 {
    let index: Vec<Expr> = index.iter().map(|i| Expr::constant(*i)).collect();
    let offset = layout.apply(&layout.components(&index));
    let offset = IndexProgram::new(&[offset]).run(&[]);
    offset.map_or(i64::MAX, |offset| offset[0])
}

/// `"row_major"`, one step, a list of steps, or a layout of the algebra as its text.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Name(String),
    One(Step),
    Chain(Vec<Step>),
}

impl Serialize for StagedLayout {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = match self.steps.as_slice() {
            [] => Written::Name("row_major".into()),
            [Step::Algebra(layout)] => Written::Name(bounded::spelling(layout)),
            [one] => Written::One(one.clone()),
            more => Written::Chain(more.to_vec()),
        };
        written.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for StagedLayout {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let forms = "'row_major', 'permuted(..)', 'blocked(..)', 'padded(..)', a list of these, or \
                     the text of a layout, such as \"GenP([8,8],xor)\"";
        let refuse = || de::Error::custom(format!("found no layout, expected {forms}"));
        let steps = match Written::deserialize(deserializer).map_err(|_: D::Error| refuse())? {
            Written::Name(name) if name == "row_major" => vec![],
            Written::Name(name) if !name.contains('(') => return Err(refuse()),
            Written::Name(text) => {
                let layout = bounded::parse(&text).map_err(|e| {
                    de::Error::custom(format!("found the layout '{text}': {}", e.message))
                })?;
                vec![Step::Algebra(Arc::new(layout))]
            }
            Written::One(step) => vec![step],
            Written::Chain(steps) => steps,
        };
        Ok(StagedLayout { steps })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mdh_algebra::domain::{Grid, points};
    use std::collections::BTreeSet;

    /// Different indices have different offsets, all inside; row-major is the definition.
    #[test]
    fn offsets_are_injective_and_inside() {
        let steps = [
            vec![],
            vec![Step::Permuted(vec![2, 1])],
            vec![Step::Blocked(vec![2, 3])],
            vec![Step::Padded(vec![0, 5])],
            vec![Step::Blocked(vec![4, 1]), Step::Permuted(vec![4, 2, 1, 3])],
            vec![
                Step::Permuted(vec![2, 1]),
                Step::Padded(vec![1, 1]),
                Step::Blocked(vec![2, 2]),
            ],
        ];
        for steps in steps {
            let layout = StagedLayout { steps };
            assert_eq!(layout.check(2), Ok(()));
            for tile in [[1, 1], [5, 7], [4, 6], [2, 3]] {
                let indices: Vec<_> = points(&tile.map(Grid::dense)).collect();
                let offsets = indices.iter().map(|i| layout.offset(&tile, i));
                let offsets: BTreeSet<i64> = offsets.collect();
                assert_eq!(offsets.len(), indices.len(), "{layout:?}");
                assert!(offsets.last() < Some(&layout.elements(&tile)));
            }
        }
        let packed = StagedLayout::step(Step::Blocked(vec![512, 64]));
        assert_eq!(packed.shape(&[512, 1024]), [1, 16, 512, 64]);
        // [n / 64][k][n % 64]
        assert_eq!(
            packed.offset(&[512, 1024], &[3, 130]),
            2 * 512 * 64 + 3 * 64 + 2
        );
    }

    fn of_algebra(text: &str) -> StagedLayout {
        StagedLayout::step(Step::Algebra(Arc::new(bounded::parse(text).unwrap())))
    }

    /// The same for layouts of the algebra, of a tile as large as they are or smaller.
    #[test]
    fn layouts_of_the_algebra_are_layouts() {
        for text in [
            "GenP([8,8],xor)",
            "GenP([8,8],hilbert)",
            "Bricks([6,9],[3,3])",
            "TileBy([2,3],[3,2]).OrderBy(Col([6,6]))",
            "GroupBy([6,8]).Within([5,7])",
        ] {
            let layout = of_algebra(text);
            assert_eq!(layout.check(2), Ok(()));
            let tile = [5, 6];
            assert_eq!(layout.fits(&tile), Ok(()));
            let indices: Vec<_> = points(&tile.map(Grid::dense)).collect();
            let offsets: BTreeSet<i64> = indices.iter().map(|i| layout.offset(&tile, i)).collect();
            assert_eq!(offsets.len(), indices.len(), "{layout}");
            assert!(offsets.last() < Some(&layout.elements(&tile)));
        }
        assert_eq!(
            of_algebra("GenP([8,8],xor)").offset(&[8, 8], &[3, 5]),
            3 * 8 + 6
        );
        assert_eq!(of_algebra("Row([4,4])").fits(&[3, 5]), Err(vec![4, 4]));
        assert_eq!(
            of_algebra("Row([4,4])").check(1).unwrap_err(),
            "'OrderBy(RegP([4,4],[1,2])).GroupBy([4,4])' has indices of 2 dimensions, expected one \
             for each of 1 axes"
        );
        assert_eq!(
            of_algebra("Row([n])").check(1).unwrap_err(),
            "'OrderBy(RegP([n],[1])).GroupBy([n])' has the symbols 'n', expected numbers"
        );
    }

    /// Checks: what the steps do is what the algebra does for a tile of known sizes.
    #[test]
    fn steps_are_a_case_of_the_algebra() {
        let tile = [6, 8];
        for (steps, text) in [
            (vec![], "GroupBy([6,8])"),
            (vec![Step::Permuted(vec![2, 1])], "Col([6,8])"),
            (
                vec![Step::Blocked(vec![2, 4])],
                "OrderBy(RegP([3,2,2,4],[1,3,2,4])).GroupBy([6,8])",
            ),
            (
                vec![Step::Blocked(vec![4, 4])],
                "OrderBy(RegP([2,4,2,4],[1,3,2,4])).GroupBy([8,8]).Within([6,8])",
            ),
            (
                vec![Step::Padded(vec![0, 3])],
                "GroupBy([6,11]).Within([6,8])",
            ),
        ] {
            let (steps, layout) = (StagedLayout { steps }, of_algebra(text));
            assert_eq!(steps.elements(&tile), layout.elements(&tile), "{text}");
            for index in points(&tile.map(Grid::dense)) {
                let offset = steps.offset(&tile, &index);
                assert_eq!(offset, layout.offset(&tile, &index), "{text}");
            }
        }
    }

    #[test]
    fn malformed_layouts_are_refused() {
        let refused = |step, rank| StagedLayout::step(step).check(rank).unwrap_err();
        assert_eq!(
            refused(Step::Permuted(vec![1, 1]), 2),
            "'permuted' lacks axis 2, expected each of 1 to 2 once"
        );
        assert_eq!(
            refused(Step::Blocked(vec![1]), 2),
            "'blocked' has 1 entries, expected one for each of 2 axes"
        );
        assert_eq!(
            refused(Step::Blocked(vec![0]), 1),
            "'blocked' has a size of 0, expected 1 or more"
        );
        assert_eq!(
            refused(Step::Padded(vec![-1]), 1),
            "'padded' has a size of -1, expected 0 or more"
        );
        assert_eq!(
            refused(Step::Padded(vec![0, i64::MAX]), 2),
            "'padded(0, 9223372036854775807)' takes 9223372036854775807 elements or more for a tile \
             of one, expected at most 1099511627776"
        );
        assert_eq!(
            refused(Step::Blocked(vec![1 << 21, 1 << 20]), 2),
            "'blocked(2097152, 1048576)' takes 2199023255552 elements or more for a tile of one, \
             expected at most 1099511627776"
        );
        assert_eq!(
            StagedLayout::step(Step::Padded(vec![1 << 39, 0])).check(2),
            Ok(())
        );
    }
}
