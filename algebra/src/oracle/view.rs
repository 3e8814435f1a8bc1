//! Accesses, made ready for many points.

use super::failure::Failure;
use crate::affine::{Expr, Linear};
use crate::computation::Buffer;

enum Index {
    Linear(Linear),
    Other(Expr),
}

impl Index {
    fn new(expr: &Expr, rank: usize) -> Index {
        let linear = expr.linear(rank).map(Index::Linear);
        linear.unwrap_or_else(|| Index::Other(expr.clone()))
    }

    #[inline]
    fn eval(&self, point: &[i64]) -> Option<i64> {
        match self {
            Index::Linear(form) => form.eval(point),
            Index::Other(expr) => expr.eval(point),
        }
    }
}

/// A buffer of known size with its accesses.
pub(super) struct View<'a> {
    pub(super) buffer: &'a Buffer,
    pub(super) shape: Vec<i64>,
    origin: Vec<i64>,
    accesses: Vec<Vec<Index>>,
}

impl<'a> View<'a> {
    pub(super) fn new(buffer: &'a Buffer, rank: usize) -> Result<View<'a>, Failure> {
        let known = |extents: &[Option<i64>]| -> Result<Vec<i64>, Failure> {
            let numbers: Option<Vec<i64>> = extents.iter().copied().collect();
            let name = &buffer.name;
            numbers.ok_or_else(|| Failure::NotReady(format!("the size of '{name}' is not known")))
        };
        let ready = |map: &Vec<Expr>| map.iter().map(|e| Index::new(e, rank)).collect();
        Ok(View {
            buffer,
            shape: known(&buffer.shape)?,
            origin: known(&buffer.origin)?,
            accesses: buffer.accesses.iter().map(|a| ready(&a.map)).collect(),
        })
    }

    /// Stores where an access goes, counted from 0; whether that is inside the buffer.
    #[inline]
    pub(super) fn locate(
        &self,
        access: usize,
        point: &[i64],
        index: &mut Vec<i64>,
    ) -> Result<bool, Failure> {
        index.clear();
        let mut inside = true;
        let map = self.accesses[access].iter();
        for ((e, origin), size) in map.zip(&self.origin).zip(&self.shape) {
            let local = e.eval(point).and_then(|i| i.checked_sub(*origin));
            let local = local.ok_or_else(|| self.outside(None))?;
            inside &= 0 <= local && local < *size;
            index.push(local);
        }
        Ok(inside)
    }

    /// As [`View::locate`], where being outside is a failure.
    pub(super) fn locate_inside(
        &self,
        access: usize,
        point: &[i64],
        index: &mut Vec<i64>,
    ) -> Result<(), Failure> {
        if self.locate(access, point, index)? {
            Ok(())
        } else {
            Err(self.outside(Some(index.clone())))
        }
    }

    pub(super) fn outside(&self, index: Option<Vec<i64>>) -> Failure {
        Failure::Outside {
            buffer: self.buffer.name.clone(),
            index,
            shape: self.shape.clone(),
        }
    }

    /// The position of an index in row-major order.
    pub(super) fn flat(&self, index: &[i64]) -> usize {
        let flat = index.iter().zip(&self.shape).fold(0, |f, (i, n)| f * n + i);
        flat as usize
    }

    /// The global index of a local one.
    pub(super) fn global(&self, index: &[i64]) -> Vec<i64> {
        let parts = index.iter().zip(&self.origin);
        parts.map(|(i, o)| i.saturating_add(*o)).collect()
    }
}
