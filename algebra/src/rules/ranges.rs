//! Ranges: accesses stay within their buffers.

use super::finding::{Obligation, Report, Rule, Subject, buffer_text};
use crate::affine::{Ends, Expr, Range};
use crate::computation::{Buffer, Computation, Place};
use crate::domain::{Grid, points, total_points};

/// Index functions that are not linear are enumerated up to so many points.
const ENUMERATED: i64 = 1 << 16;

pub(super) fn ranges(computation: &Computation, report: &mut Report) {
    let grids: Vec<Option<Grid>> = computation.dimensions.iter().map(|d| d.grid()).collect();
    for place in computation.places() {
        let Some(buffer) = computation.buffer(place) else {
            continue;
        };
        if visited(computation, place).any(|d| computation.dimensions[d].count() == Some(0)) {
            continue;
        }
        for (number, access) in buffer.accesses.iter().enumerate() {
            for (axis, expr) in access.map.iter().enumerate() {
                let at = At {
                    computation,
                    buffer,
                    place,
                    access: number,
                    axis,
                };
                at.check(expr, &grids, report);
            }
        }
    }
}

/// The dimensions that must have points for a buffer to be accessed at all.
fn visited(computation: &Computation, place: Place) -> impl Iterator<Item = usize> {
    let dims = match place {
        Place::Input(_) => (0..computation.dimensions.len()).collect(),
        Place::Output(_) => computation.kept(),
        Place::Incoming { carry, .. } | Place::Outgoing { carry, .. } => {
            let dimension = computation.carries[carry].dimension;
            let mut rest = computation.kept();
            rest.retain(|d| *d != dimension);
            rest
        }
    };
    dims.into_iter()
}

struct At<'a> {
    computation: &'a Computation,
    buffer: &'a Buffer,
    place: Place,
    access: usize,
    axis: usize,
}

impl At<'_> {
    fn check(&self, expr: &Expr, grids: &[Option<Grid>], report: &mut Report) {
        let unknown = expr.dims().into_iter().any(|d| grids[d].is_none());
        if unknown {
            if !self.is_padded() || has_large_numbers(expr) {
                self.owe(report);
            }
            return;
        }
        let Some(range) = expr.range(grids) else {
            self.find(None, report);
            return;
        };
        // Outside of a padded buffer there are values, too: its indices have to be numbers only.
        if self.is_padded() || self.fits(range) == Some(true) {
            return;
        }
        let exact = match range.ends {
            Ends::Attained => Some(range),
            Ends::Sound => enumerate(expr, grids),
        };
        match exact {
            Some(range) => match self.fits(range) {
                Some(true) => {}
                Some(false) => self.find(Some(range), report),
                None => self.owe(report),
            },
            None => self.owe(report),
        }
    }

    fn is_padded(&self) -> bool {
        self.buffer.pad.is_some() && matches!(self.place, Place::Input(_))
    }

    /// Returns whether the range lies in the buffer, as far as its size and origin are known.
    fn fits(&self, range: Range) -> Option<bool> {
        let origin = self.buffer.origin[self.axis]?;
        if range.min < origin {
            return Some(false);
        }
        let size = self.buffer.shape[self.axis]?;
        Some(i128::from(range.max) < i128::from(origin) + i128::from(size))
    }

    fn expr(&self) -> &Expr {
        &self.buffer.accesses[self.access].map[self.axis]
    }

    fn owe(&self, report: &mut Report) {
        report.owe(Obligation::Range {
            place: self.place,
            access: self.access,
            axis: self.axis,
        });
    }

    fn find(&self, range: Option<Range>, report: &mut Report) {
        let (rule, verb) = match self.place {
            Place::Input(_) => (Rule::ReadRange, "reads"),
            Place::Incoming { .. } => (Rule::ReadRange, "receives"),
            Place::Output(_) => (Rule::WriteRange, "writes"),
            Place::Outgoing { .. } => (Rule::WriteRange, "carries out"),
        };
        let text = buffer_text(self.computation, self.place);
        let names = self.computation.names();
        let expr = self.expr().display(&names);
        let subject = Subject::Buffer(self.place);
        let axis = self.axis;
        let Some(range) = range else {
            let why = match self.expr().has_only_positive_divisors() {
                true => "does not fit 64 bits: expected smaller factors, or a smaller domain",
                false => {
                    "divides by what is not a positive constant: expected a number from 1 on the \
                     right of floordiv, ceildiv and mod"
                }
            };
            let message = format!("{verb} {text} at an index '{expr}' in axis {axis} that {why}");
            report.find(rule, subject, message);
            return;
        };
        let origin = self.buffer.origin[axis].unwrap_or(0);
        let has = match self.buffer.shape[axis] {
            Some(size) => format!("{origin}..{}", i128::from(origin) + i128::from(size)),
            None => format!("{origin}.."),
        };
        let way_out = match self.place {
            Place::Input(_) => {
                "enlarge the buffer, shrink the domain, or give the value outside by 'pad(...)'"
            }
            _ => "enlarge the buffer or shrink the domain",
        };
        let message = format!(
            "{verb} {text} at {}..{} in axis {axis} ('{expr}'), but that has the indices {has}: \
             {way_out}",
            range.min,
            i128::from(range.max) + 1,
        );
        report.find(rule, subject, message);
    }
}

/// The exact range of an expression that uses few enough points.
fn enumerate(expr: &Expr, grids: &[Option<Grid>]) -> Option<Range> {
    let used = expr.dims();
    let box_of_used: Vec<Grid> = (grids.iter().enumerate())
        .map(|(d, grid)| {
            if used.contains(&d) {
                *grid
            } else {
                Some(Grid::dense(1))
            }
        })
        .collect::<Option<_>>()?;
    if total_points(&box_of_used)? > ENUMERATED {
        return None;
    }
    let mut range: Option<Range> = None;
    for point in points(&box_of_used) {
        let value = expr.eval(&point)?;
        let (min, max) = range.map_or((value, value), |r| (r.min.min(value), r.max.max(value)));
        let ends = Ends::Attained;
        range = Some(Range { min, max, ends });
    }
    range
}

/// Returns whether indices of an expression may leave 64 bits though nobody can wait for that many points.
fn has_large_numbers(expr: &Expr) -> bool {
    match expr {
        Expr::Dim(_) => false,
        Expr::Const(number) => number.unsigned_abs() >= 1 << 15,
        Expr::Add(a, b)
        | Expr::Mul(a, b)
        | Expr::FloorDiv(a, b)
        | Expr::CeilDiv(a, b)
        | Expr::Mod(a, b) => has_large_numbers(a) || has_large_numbers(b),
    }
}
