//! Index functions: MLIR's affine maps to and from the algebra's expressions.

use mdh_algebra::affine::Expr;
use melior::Context;
use melior::ir::{Attribute, AttributeLike};
use mlir_sys::*;

/// The results of an affine map; `None` if it has symbols.
pub fn from_map(attribute: Attribute) -> Option<Vec<Expr>> {
    // SAFETY: the kind is checked before the map is read.
    unsafe {
        if !mlirAttributeIsAAffineMap(attribute.to_raw()) {
            return None;
        }
        let map = mlirAffineMapAttrGetValue(attribute.to_raw());
        (mlirAffineMapGetNumSymbols(map) == 0).then(|| of_operands(attribute))?
    }
}

/// The results of an affine map over the operands that it is applied to: its dimensions, then its symbols.
pub fn of_operands(attribute: Attribute) -> Option<Vec<Expr>> {
    // SAFETY: the kind is checked before the map is read.
    unsafe {
        if !mlirAttributeIsAAffineMap(attribute.to_raw()) {
            return None;
        }
        let map = mlirAffineMapAttrGetValue(attribute.to_raw());
        let dims = mlirAffineMapGetNumDims(map) as usize;
        (0..mlirAffineMapGetNumResults(map))
            .map(|i| from_raw(mlirAffineMapGetResult(map, i), dims))
            .collect()
    }
}

/// The number of dimensions of an affine map.
pub fn num_dims(attribute: Attribute) -> usize {
    // SAFETY: the kind is checked before the map is read.
    unsafe {
        if !mlirAttributeIsAAffineMap(attribute.to_raw()) {
            return 0;
        }
        mlirAffineMapGetNumDims(mlirAffineMapAttrGetValue(attribute.to_raw())) as usize
    }
}

/// # Safety
///
/// The expression must be valid.
unsafe fn from_raw(raw: MlirAffineExpr, dims: usize) -> Option<Expr> {
    // SAFETY: by contract; each kind is checked before it is taken apart.
    unsafe {
        if mlirAffineExprIsADim(raw) {
            return Some(Expr::Dim(mlirAffineDimExprGetPosition(raw) as usize));
        }
        if mlirAffineExprIsASymbol(raw) {
            return Some(Expr::Dim(
                dims + mlirAffineSymbolExprGetPosition(raw) as usize,
            ));
        }
        if mlirAffineExprIsAConstant(raw) {
            return Some(Expr::Const(mlirAffineConstantExprGetValue(raw)));
        }
        if !mlirAffineExprIsABinary(raw) {
            return None;
        }
        let lhs = Box::new(from_raw(mlirAffineBinaryOpExprGetLHS(raw), dims)?);
        let rhs = Box::new(from_raw(mlirAffineBinaryOpExprGetRHS(raw), dims)?);
        Some(if mlirAffineExprIsAAdd(raw) {
            Expr::Add(lhs, rhs)
        } else if mlirAffineExprIsAMul(raw) {
            Expr::Mul(lhs, rhs)
        } else if mlirAffineExprIsAFloorDiv(raw) {
            Expr::FloorDiv(lhs, rhs)
        } else if mlirAffineExprIsACeilDiv(raw) {
            Expr::CeilDiv(lhs, rhs)
        } else {
            Expr::Mod(lhs, rhs)
        })
    }
}

/// An affine map attribute over `dims` dimensions.
pub fn to_map<'c>(context: &'c Context, dims: usize, results: &[Expr]) -> Attribute<'c> {
    // SAFETY: the context outlives the attribute, and all expressions are of this context.
    unsafe {
        let raw = context.to_raw();
        let mut results: Vec<MlirAffineExpr> = results.iter().map(|e| to_raw(raw, e)).collect();
        let map = mlirAffineMapGet(
            raw,
            dims as isize,
            0,
            results.len() as isize,
            results.as_mut_ptr(),
        );
        Attribute::from_raw(mlirAffineMapAttrGet(map))
    }
}

/// # Safety
///
/// The context must be valid.
unsafe fn to_raw(context: MlirContext, expr: &Expr) -> MlirAffineExpr {
    // SAFETY: by contract.
    unsafe {
        let sides = |a: &Expr, b: &Expr| (to_raw(context, a), to_raw(context, b));
        match expr {
            Expr::Dim(d) => mlirAffineDimExprGet(context, *d as isize),
            Expr::Const(c) => mlirAffineConstantExprGet(context, *c),
            Expr::Add(a, b) => {
                let (a, b) = sides(a, b);
                mlirAffineAddExprGet(a, b)
            }
            Expr::Mul(a, b) => {
                let (a, b) = sides(a, b);
                mlirAffineMulExprGet(a, b)
            }
            Expr::FloorDiv(a, b) => {
                let (a, b) = sides(a, b);
                mlirAffineFloorDivExprGet(a, b)
            }
            Expr::CeilDiv(a, b) => {
                let (a, b) = sides(a, b);
                mlirAffineCeilDivExprGet(a, b)
            }
            Expr::Mod(a, b) => {
                let (a, b) = sides(a, b);
                mlirAffineModExprGet(a, b)
            }
        }
    }
}
