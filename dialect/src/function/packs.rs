//! `linalg.pack` and `linalg.unpack`: copies between a tensor and one of its tiles. They are read here, since upstream
//! decomposes those with tiles of known sizes only.

use mdh_algebra::affine::Expr;
use mdh_algebra::code::{Block, Code};
use mdh_algebra::nest::{Licence, Nest, NestAccess};
use mdh_algebra::op::Op as ScalarOp;
use mdh_algebra::program::{Index, NestOperands, Statement, ValueId};
use mdh_algebra::scalar::ScalarType;
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use super::spelled::loops_around;
use super::translator::Translator;
use crate::ir::{self, Op, Val};
use crate::ops;
use crate::packing::{Extent, Tiles};
use crate::types::{self, BufferType};

/// Copies to all places of a tensor what a map says.
fn copy(element: ScalarType, rank: usize, map: Vec<Expr>) -> Nest {
    let access = |map| NestAccess::new(element, map);
    Nest {
        dimensions: rank,
        inputs: vec![access(map)],
        outputs: vec![access((0..rank).map(Expr::Dim).collect())],
        code: Code {
            inputs: vec![element; 2],
            results: vec![element],
            registers: 2,
            body: Block {
                instructions: Vec::new(),
                yields: vec![0],
            },
        },
        licence: Licence::None,
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
        let tiles = Tiles::new(op, if is_pack { &from } else { &to }.shape.len())?;
        let (mut tensor, output) = (self.id(source)?, self.id(dest)?);
        // Operands: both tensors, what it is padded with if it is, and the open extents.
        let mut operands: Vec<Val<'c>> = op.operands().map(ir::value).collect();
        let open = operands.split_off(operands.len().saturating_sub(tiles.open()));
        let open = self.ids(&open)?;
        if let Some(value) = operands.get(2).copied() {
            let sides = [(tensor, &from), (output, &to)];
            let high = self.added(op, (&tiles, &open), sides, statements);
            let (value, padded) = (self.id(value)?, self.fresh());
            let pad = Statement::Pad {
                result: padded,
                tensor,
                value,
                low: vec![Index::Known(0); from.shape.len()],
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
        let map = match is_pack {
            true => tiles.packed(rank),
            false => tiles.unpacked(rank),
        };
        if !open.is_empty() {
            self.copy_by_loops(op, (tensor, &map), (output, result, &to), &open, statements);
            return Ok(());
        }
        let nest = Statement::Nest(Box::new(NestOperands {
            nest: copy(from.element, rank, map),
            inputs: vec![tensor],
            outputs: vec![output],
            results: vec![result],
        }));
        self.put(op, statements, nest);
        Ok(())
    }

    /// Copies to all places of a tensor or memref what a map says, which depends on numbers, too.
    fn copy_by_loops(
        &mut self,
        op: Op<'c>,
        (tensor, map): (ValueId, &[Expr]),
        (output, result, to): (ValueId, ValueId, &BufferType),
        open: &[ValueId],
        statements: &mut Vec<Statement>,
    ) {
        if result != output {
            // It is memory while the loops run.
            let copy = Statement::Cast {
                result,
                tensor: output,
                shape: to.shape.clone(),
            };
            self.put(op, statements, copy);
        }
        let axes = 0..to.shape.len();
        let bounds: Vec<ValueId> = axes
            .map(|axis| self.extent(op, (output, axis), statements))
            .collect();
        let [zero, one] = [0, 1].map(|number| self.index(op, number, statements));
        let indices: Vec<ValueId> = bounds.iter().map(|_| self.fresh()).collect();
        // A loop has its origin before those of what it holds.
        self.origins
            .extend(bounds.iter().map(|_| self.instead.unwrap_or(op)));
        let symbols = [&indices[..], open].concat();
        let mut inner = Vec::new();
        let exprs = map.iter();
        let place = exprs
            .map(|expr| self.expression(op, expr, &symbols, &mut inner))
            .collect();
        let value = self.fresh();
        let load = Statement::Load {
            result: value,
            tensor,
            indices: place,
        };
        self.put(op, &mut inner, load);
        let store = Statement::Store {
            result,
            value,
            tensor: result,
            indices: indices.clone(),
        };
        self.put(op, &mut inner, store);
        let loops = bounds.into_iter().zip(indices).collect();
        statements.extend(loops_around(inner, [zero, one], loops));
    }

    /// The numbers of elements behind each axis of a tensor that make its tiles whole.
    fn added(
        &mut self,
        op: Op<'c>,
        (tiles, open): (&Tiles, &[ValueId]),
        [from, to]: [(ValueId, &BufferType); 2],
        statements: &mut Vec<Statement>,
    ) -> Vec<Index> {
        let mut added = Vec::new();
        for (axis, (outer, inner)) in tiles.outer.iter().zip(&tiles.inner).enumerate() {
            let of_tile = inner.map_or(Extent::Known(1), |(_, size)| size);
            let known = from.1.shape[axis].zip(to.1.shape[*outer]);
            let known = known.and_then(|(size, tiles)| match of_tile {
                Extent::Known(of_tile) => tiles.checked_mul(of_tile)?.checked_sub(size),
                Extent::Open(_) => None,
            });
            added.push(match known {
                Some(number) => Index::Known(number),
                None => {
                    let tiles = self.extent(op, (to.0, *outer), statements);
                    let size = self.extent(op, (from.0, axis), statements);
                    let of_tile = match of_tile {
                        Extent::Known(number) => self.index(op, number, statements),
                        Extent::Open(n) => open[n],
                    };
                    let whole = self.operate(op, ScalarOp::Muli, [tiles, of_tile], statements);
                    Index::Value(self.operate(op, ScalarOp::Subi, [whole, size], statements))
                }
            });
        }
        added
    }
}
