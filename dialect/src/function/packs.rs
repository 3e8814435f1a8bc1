//! `linalg.pack` and `linalg.unpack`: copies between a tensor and one of its tiles.

use mdh_algebra::affine::Expr;
use mdh_algebra::code::{Block, Code};
use mdh_algebra::nest::{Licence, Nest, NestAccess};
use mdh_algebra::op::Op as ScalarOp;
use mdh_algebra::program::{Index, NestOperands, Statement, ValueId};
use melior::ir::ValueLike;

use super::Translator;
use crate::ir::{self, Op};
use crate::ops;
use crate::types::{self, BufferType};

/// A tensor and the axes of its tiles.
struct Tiles {
    /// For each axis of the tensor, that of the packed one which counts its tiles.
    outer: Vec<usize>,
    /// And the axis within a tile with its extent, if it is cut.
    inner: Vec<Option<(usize, i64)>>,
}

impl Tiles {
    fn of(op: Op, rank: usize) -> Result<Self, String> {
        let axis = |n: i64| usize::try_from(n).ok().filter(|n| *n < rank);
        let axis = |n: &i64| axis(*n).ok_or("names an axis that is not there");
        let mut outer: Vec<usize> = (0..rank).collect();
        for (place, n) in ir::integers(op, "outer_dims_perm").iter().enumerate() {
            outer[axis(n)?] = place;
        }
        let mut inner = vec![None; rank];
        let sizes = ir::integers(op, "static_inner_tiles");
        for (n, (cut, size)) in ir::integers(op, "inner_dims_pos")
            .iter()
            .zip(sizes)
            .enumerate()
        {
            if size <= 0 {
                return Err(
                    "has tiles of unknown size, which the oracle does not follow: expected \
                            numbers"
                        .into(),
                );
            }
            inner[axis(cut)?] = Some((rank + n, size));
        }
        Ok(Tiles { outer, inner })
    }

    /// The place in the tensor of an element of the packed one.
    fn packed(&self) -> Vec<Expr> {
        let axes = self.outer.iter().zip(&self.inner);
        let place = |(outer, inner): (&usize, &Option<(usize, i64)>)| match inner {
            Some((within, size)) => Expr::Dim(*outer) * *size + Expr::Dim(*within),
            None => Expr::Dim(*outer),
        };
        axes.map(place).collect()
    }

    /// The place in the packed tensor of an element.
    fn unpacked(&self) -> Vec<Expr> {
        let cut = self.inner.iter().flatten().count();
        let mut places = vec![Expr::Const(0); self.outer.len() + cut];
        for (axis, (outer, inner)) in self.outer.iter().zip(&self.inner).enumerate() {
            let here = || Box::new(Expr::Dim(axis));
            places[*outer] = Expr::Dim(axis);
            if let Some((within, size)) = inner {
                places[*outer] = Expr::FloorDiv(here(), Box::new(Expr::Const(*size)));
                places[*within] = Expr::Mod(here(), Box::new(Expr::Const(*size)));
            }
        }
        places
    }
}

impl<'c> Translator<'c> {
    /// `linalg.pack`, `linalg.unpack`
    pub(super) fn pack(
        &mut self,
        op: Op<'c>,
        statements: &mut Vec<Statement>,
    ) -> Result<(), String> {
        let typed = |n: usize| {
            let value = ir::operand(op, n).ok_or("has too few operands")?;
            let ty =
                types::buffer_type(value.r#type()).ok_or("has an operand of an unknown type")?;
            Ok::<_, String>((value, ty))
        };
        let ((source, from), (dest, to)) = (typed(0)?, typed(1)?);
        let is_pack = ir::name_of(op) == ops::linalg::PACK;
        let tiles = Tiles::of(op, if is_pack { &from } else { &to }.shape.len())?;
        let (mut tensor, output) = (self.id(source)?, self.id(dest)?);
        if let Some(value) = ir::operand(op, 2).filter(|_| is_pack) {
            let low = vec![Index::Known(0); from.shape.len()];
            let high = self.added(op, &tiles, [(tensor, &from), (output, &to)], statements);
            let (value, padded) = (self.id(value)?, self.fresh());
            let pad = Statement::Pad {
                result: padded,
                tensor,
                value,
                low,
                high,
            };
            self.put(op, statements, pad);
            tensor = padded;
        }
        let result = match ir::result(op, 0) {
            Some(_) => self.result(op)?,
            None => output,
        };
        let rank = to.shape.len();
        let access = |map| NestAccess::new(from.element, map);
        let copy = Code {
            inputs: vec![from.element; 2],
            results: vec![from.element],
            registers: 2,
            body: Block {
                instructions: Vec::new(),
                yields: vec![0],
            },
        };
        let nest = Statement::Nest(Box::new(NestOperands {
            nest: Nest {
                dimensions: rank,
                inputs: vec![access(if is_pack {
                    tiles.packed()
                } else {
                    tiles.unpacked()
                })],
                outputs: vec![access((0..rank).map(Expr::Dim).collect())],
                code: copy,
                licence: Licence::None,
            },
            inputs: vec![tensor],
            outputs: vec![output],
            results: vec![result],
        }));
        self.put(op, statements, nest);
        Ok(())
    }

    /// The numbers of elements behind each axis of a tensor that make its tiles whole.
    fn added(
        &mut self,
        op: Op<'c>,
        tiles: &Tiles,
        [from, to]: [(ValueId, &BufferType); 2],
        statements: &mut Vec<Statement>,
    ) -> Vec<Index> {
        let mut added = Vec::new();
        for (axis, (outer, inner)) in tiles.outer.iter().zip(&tiles.inner).enumerate() {
            let of_tile = inner.map_or(1, |(_, size)| size);
            let known = from.1.shape[axis].zip(to.1.shape[*outer]);
            let known =
                known.and_then(|(size, tiles)| tiles.checked_mul(of_tile)?.checked_sub(size));
            added.push(match known {
                Some(number) => Index::Known(number),
                None => {
                    let tiles = self.extent(op, (to.0, *outer), statements);
                    let size = self.extent(op, (from.0, axis), statements);
                    let of_tile = self.index(op, of_tile, statements);
                    let whole = self.operate(op, ScalarOp::Muli, [tiles, of_tile], statements);
                    Index::Value(self.operate(op, ScalarOp::Subi, [whole, size], statements))
                }
            });
        }
        added
    }
}
