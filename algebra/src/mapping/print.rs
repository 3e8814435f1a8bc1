//! Spaces and mappings as text that [`super::parse`] reads back.

use std::fmt;

use super::chain::Mapping;
use super::space::{GridAxis, Space};
use super::step::Step;
use crate::index::Expr;

/// `[1 to 9 step 3 width 2, n]`.
impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axes: Vec<String> = self.axes.iter().map(GridAxis::to_string).collect();
        write!(f, "[{}]", axes.join(", "))
    }
}

impl fmt::Display for GridAxis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is = |e: &Expr, value| e.as_constant() == Some(value);
        if !is(&self.lower, 0) {
            write!(f, "{} to ", self.lower)?;
        }
        write!(f, "{}", self.upper)?;
        if !is(&self.step, 1) {
            write!(f, " step {}", self.step)?;
        }
        if !is(&self.width, 1) {
            write!(f, " width {}", self.width)?;
        }
        Ok(())
    }
}

/// `split_last(128)`.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |dims: &[usize]| {
            let dims: Vec<String> = dims.iter().map(usize::to_string).collect();
            format!("([{}])", dims.join(","))
        };
        f.write_str(self.name())?;
        match self {
            Step::ShiftLb | Step::PruneGrid | Step::FoldLast2 => Ok(()),
            Step::CompressGrid(dims) | Step::Permute(dims) => f.write_str(&list(dims)),
            Step::SplitLast(size) | Step::PadLast(size) => write!(f, "({size})"),
        }
    }
}

/// `[n].pad_last(32).split_last(32)`.
impl fmt::Display for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.original())?;
        self.chain()
            .iter()
            .try_for_each(|step| write!(f, ".{step}"))
    }
}
