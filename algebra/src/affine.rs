//! Index functions: affine expressions over the domain's indices.

/// An expression over the dimensions of a domain, as in MLIR's affine maps.
/// `/` and `mod` are floor division and its remainder; their right-hand sides are positive.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// The index of a dimension.
    Dim(usize),
    /// A constant.
    Const(i64),
    /// Sum.
    Add(Box<Expr>, Box<Expr>),
    /// Product (one side is constant).
    Mul(Box<Expr>, Box<Expr>),
    /// Floor division.
    FloorDiv(Box<Expr>, Box<Expr>),
    /// Ceiling division.
    CeilDiv(Box<Expr>, Box<Expr>),
    /// Remainder of floor division: between 0 and the right-hand side.
    Mod(Box<Expr>, Box<Expr>),
}
