//! The operations of arith and math on scalars: names, arity, kinds. Their meaning is in
//! [`crate::arith`].

use std::fmt;

/// An operation on scalars, by its MLIR name; comparisons carry their predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are arith's and math's")]
pub enum Op {
    Cmpf(CmpfPredicate),
    Cmpi(CmpiPredicate),
    Addf,
    Subf,
    Mulf,
    Divf,
    Remf,
    Maximumf,
    Minimumf,
    Maxnumf,
    Minnumf,
    Negf,
    Addi,
    Subi,
    Muli,
    Divsi,
    Divui,
    Ceildivsi,
    Ceildivui,
    Floordivsi,
    Remsi,
    Remui,
    Andi,
    Ori,
    Xori,
    Shli,
    Shrsi,
    Shrui,
    Maxsi,
    Maxui,
    Minsi,
    Minui,
    Select,
    Extf,
    Truncf,
    Extsi,
    Extui,
    Trunci,
    Sitofp,
    Uitofp,
    Fptosi,
    Fptoui,
    IndexCast,
    IndexCastui,
    Bitcast,
    Absi,
    Ctpop,
    Ctlz,
    Cttz,
    Ipowi,
    Fpowi,
    Absf,
    Exp,
    Exp2,
    Expm1,
    Log,
    Log2,
    Log10,
    Log1p,
    Sqrt,
    Rsqrt,
    Cbrt,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Erf,
    Erfc,
    Floor,
    Ceil,
    Round,
    Roundeven,
    Trunc,
    Isnan,
    Isinf,
    Isfinite,
    Isnormal,
    Atan2,
    Powf,
    Copysign,
    Fma,
    Clampf,
    /// The upper half of the product: the second result of `arith.mulsi_extended`.
    Mulsihi,
    /// The upper half of the product: the second result of `arith.mului_extended`.
    Muluihi,
}

/// `arith.cmpf`'s predicates, in MLIR's numbering from 0: `o` is ordered, `u` unordered (true if
/// an operand is NaN).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are arith's")]
pub enum CmpfPredicate {
    AlwaysFalse,
    Oeq,
    Ogt,
    Oge,
    Olt,
    Ole,
    One,
    Ord,
    Ueq,
    Ugt,
    Uge,
    Ult,
    Ule,
    Une,
    Uno,
    AlwaysTrue,
}

/// `arith.cmpi`'s predicates, in MLIR's numbering from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are arith's")]
pub enum CmpiPredicate {
    Eq,
    Ne,
    Slt,
    Sle,
    Sgt,
    Sge,
    Ult,
    Ule,
    Ugt,
    Uge,
}

const CMPF: [(CmpfPredicate, &str); 16] = [
    (CmpfPredicate::AlwaysFalse, "false"),
    (CmpfPredicate::Oeq, "oeq"),
    (CmpfPredicate::Ogt, "ogt"),
    (CmpfPredicate::Oge, "oge"),
    (CmpfPredicate::Olt, "olt"),
    (CmpfPredicate::Ole, "ole"),
    (CmpfPredicate::One, "one"),
    (CmpfPredicate::Ord, "ord"),
    (CmpfPredicate::Ueq, "ueq"),
    (CmpfPredicate::Ugt, "ugt"),
    (CmpfPredicate::Uge, "uge"),
    (CmpfPredicate::Ult, "ult"),
    (CmpfPredicate::Ule, "ule"),
    (CmpfPredicate::Une, "une"),
    (CmpfPredicate::Uno, "uno"),
    (CmpfPredicate::AlwaysTrue, "true"),
];

const CMPI: [(CmpiPredicate, &str); 10] = [
    (CmpiPredicate::Eq, "eq"),
    (CmpiPredicate::Ne, "ne"),
    (CmpiPredicate::Slt, "slt"),
    (CmpiPredicate::Sle, "sle"),
    (CmpiPredicate::Sgt, "sgt"),
    (CmpiPredicate::Sge, "sge"),
    (CmpiPredicate::Ult, "ult"),
    (CmpiPredicate::Ule, "ule"),
    (CmpiPredicate::Ugt, "ugt"),
    (CmpiPredicate::Uge, "uge"),
];

/// Operation, MLIR name, number of operands; in the order of the enum after the comparisons.
const TABLE: &[(Op, &str, usize)] = &[
    (Op::Addf, "arith.addf", 2),
    (Op::Subf, "arith.subf", 2),
    (Op::Mulf, "arith.mulf", 2),
    (Op::Divf, "arith.divf", 2),
    (Op::Remf, "arith.remf", 2),
    (Op::Maximumf, "arith.maximumf", 2),
    (Op::Minimumf, "arith.minimumf", 2),
    (Op::Maxnumf, "arith.maxnumf", 2),
    (Op::Minnumf, "arith.minnumf", 2),
    (Op::Negf, "arith.negf", 1),
    (Op::Addi, "arith.addi", 2),
    (Op::Subi, "arith.subi", 2),
    (Op::Muli, "arith.muli", 2),
    (Op::Divsi, "arith.divsi", 2),
    (Op::Divui, "arith.divui", 2),
    (Op::Ceildivsi, "arith.ceildivsi", 2),
    (Op::Ceildivui, "arith.ceildivui", 2),
    (Op::Floordivsi, "arith.floordivsi", 2),
    (Op::Remsi, "arith.remsi", 2),
    (Op::Remui, "arith.remui", 2),
    (Op::Andi, "arith.andi", 2),
    (Op::Ori, "arith.ori", 2),
    (Op::Xori, "arith.xori", 2),
    (Op::Shli, "arith.shli", 2),
    (Op::Shrsi, "arith.shrsi", 2),
    (Op::Shrui, "arith.shrui", 2),
    (Op::Maxsi, "arith.maxsi", 2),
    (Op::Maxui, "arith.maxui", 2),
    (Op::Minsi, "arith.minsi", 2),
    (Op::Minui, "arith.minui", 2),
    (Op::Select, "arith.select", 3),
    (Op::Extf, "arith.extf", 1),
    (Op::Truncf, "arith.truncf", 1),
    (Op::Extsi, "arith.extsi", 1),
    (Op::Extui, "arith.extui", 1),
    (Op::Trunci, "arith.trunci", 1),
    (Op::Sitofp, "arith.sitofp", 1),
    (Op::Uitofp, "arith.uitofp", 1),
    (Op::Fptosi, "arith.fptosi", 1),
    (Op::Fptoui, "arith.fptoui", 1),
    (Op::IndexCast, "arith.index_cast", 1),
    (Op::IndexCastui, "arith.index_castui", 1),
    (Op::Bitcast, "arith.bitcast", 1),
    (Op::Absi, "math.absi", 1),
    (Op::Ctpop, "math.ctpop", 1),
    (Op::Ctlz, "math.ctlz", 1),
    (Op::Cttz, "math.cttz", 1),
    (Op::Ipowi, "math.ipowi", 2),
    (Op::Fpowi, "math.fpowi", 2),
    (Op::Absf, "math.absf", 1),
    (Op::Exp, "math.exp", 1),
    (Op::Exp2, "math.exp2", 1),
    (Op::Expm1, "math.expm1", 1),
    (Op::Log, "math.log", 1),
    (Op::Log2, "math.log2", 1),
    (Op::Log10, "math.log10", 1),
    (Op::Log1p, "math.log1p", 1),
    (Op::Sqrt, "math.sqrt", 1),
    (Op::Rsqrt, "math.rsqrt", 1),
    (Op::Cbrt, "math.cbrt", 1),
    (Op::Sin, "math.sin", 1),
    (Op::Cos, "math.cos", 1),
    (Op::Tan, "math.tan", 1),
    (Op::Asin, "math.asin", 1),
    (Op::Acos, "math.acos", 1),
    (Op::Atan, "math.atan", 1),
    (Op::Sinh, "math.sinh", 1),
    (Op::Cosh, "math.cosh", 1),
    (Op::Tanh, "math.tanh", 1),
    (Op::Asinh, "math.asinh", 1),
    (Op::Acosh, "math.acosh", 1),
    (Op::Atanh, "math.atanh", 1),
    (Op::Erf, "math.erf", 1),
    (Op::Erfc, "math.erfc", 1),
    (Op::Floor, "math.floor", 1),
    (Op::Ceil, "math.ceil", 1),
    (Op::Round, "math.round", 1),
    (Op::Roundeven, "math.roundeven", 1),
    (Op::Trunc, "math.trunc", 1),
    (Op::Isnan, "math.isnan", 1),
    (Op::Isinf, "math.isinf", 1),
    (Op::Isfinite, "math.isfinite", 1),
    (Op::Isnormal, "math.isnormal", 1),
    (Op::Atan2, "math.atan2", 2),
    (Op::Powf, "math.powf", 2),
    (Op::Copysign, "math.copysign", 2),
    (Op::Fma, "math.fma", 3),
    (Op::Clampf, "math.clampf", 3),
    (Op::Mulsihi, "arith.mulsi_extended", 2),
    (Op::Muluihi, "arith.mului_extended", 2),
];

impl Op {
    /// The operation of that MLIR name (`arith.addf`). Comparisons need their predicate's
    /// number, all others have none. `None` if it is not one of those known here.
    pub fn from_mlir(name: &str, predicate: Option<i64>) -> Option<Op> {
        match (name, predicate) {
            ("arith.cmpf", Some(p)) => {
                let (p, _) = CMPF.get(usize::try_from(p).ok()?)?;
                Some(Op::Cmpf(*p))
            }
            ("arith.cmpi", Some(p)) => {
                let (p, _) = CMPI.get(usize::try_from(p).ok()?)?;
                Some(Op::Cmpi(*p))
            }
            (_, Some(_)) => None,
            (name, None) => {
                let row = TABLE.iter().find(|(_, n, _)| *n == name)?;
                Some(row.0)
            }
        }
    }

    /// Every operation; of comparisons, one for each predicate.
    pub fn all() -> impl Iterator<Item = Op> {
        let comparisons = CMPF.iter().map(|(p, _)| Op::Cmpf(*p));
        let comparisons = comparisons.chain(CMPI.iter().map(|(p, _)| Op::Cmpi(*p)));
        comparisons.chain(TABLE.iter().map(|(op, _, _)| *op))
    }

    fn row(self) -> Option<&'static (Op, &'static str, usize)> {
        TABLE.iter().find(|(op, _, _)| *op == self)
    }

    /// Its MLIR name, without the predicate.
    pub fn name(self) -> &'static str {
        match self {
            Op::Cmpf(_) => "arith.cmpf",
            Op::Cmpi(_) => "arith.cmpi",
            op => op.row().map_or("", |row| row.1),
        }
    }

    /// Returns whether it takes many times what an addition takes: divisions, roots, functions.
    pub fn is_expensive(self) -> bool {
        use Op::*;
        let is_float = matches!(self, Divf | Remf | Sqrt);
        is_float || self.is_integer_division() || self.is_approximate()
    }

    /// Returns whether it divides integers: by a constant, that takes a multiplication.
    pub fn is_integer_division(self) -> bool {
        use Op::*;
        matches!(
            self,
            Divsi | Divui | Ceildivsi | Ceildivui | Floordivsi | Remsi | Remui
        )
    }

    /// The predicate's number, of comparisons.
    pub fn predicate(self) -> Option<i64> {
        match self {
            Op::Cmpf(p) => Some(p as i64),
            Op::Cmpi(p) => Some(p as i64),
            _ => None,
        }
    }

    /// Returns the number of its operands.
    pub fn arity(self) -> usize {
        match self {
            Op::Cmpf(_) | Op::Cmpi(_) => 2,
            op => op.row().map_or(0, |row| row.2),
        }
    }

    /// Returns whether its results may differ between libraries by some units in the last place.
    pub fn is_approximate(self) -> bool {
        use Op::*;
        matches!(
            self,
            Exp | Exp2
                | Expm1
                | Log
                | Log2
                | Log10
                | Log1p
                | Rsqrt
                | Cbrt
                | Sin
                | Cos
                | Tan
                | Asin
                | Acos
                | Atan
                | Sinh
                | Cosh
                | Tanh
                | Asinh
                | Acosh
                | Atanh
                | Erf
                | Erfc
                | Atan2
                | Powf
                | Fpowi
        )
    }

    /// Returns whether its result is the float nearest to an exact one, or near to that.
    pub fn rounds(self) -> bool {
        use Op::*;
        self.is_approximate() || matches!(self, Addf | Subf | Mulf | Divf | Fma | Sqrt | Truncf)
    }

    /// Returns whether it only changes the type or the bits' meaning: no arithmetic is counted for it.
    pub fn is_conversion(self) -> bool {
        use Op::*;
        matches!(
            self,
            Extf | Truncf
                | Extsi
                | Extui
                | Trunci
                | Sitofp
                | Uitofp
                | Fptosi
                | Fptoui
                | IndexCast
                | IndexCastui
                | Bitcast
        )
    }

    /// Cycles that it takes on a vector, about.
    pub fn cycles(self) -> u64 {
        use Op::*;
        match self {
            Divf | Remf | Sqrt | Rsqrt => 12,
            Divsi | Divui | Ceildivsi | Ceildivui | Floordivsi | Remsi | Remui => 12,
            Ipowi => 16,
            op if op.is_approximate() => 16,
            _ => 1,
        }
    }

    /// Arithmetic operations it counts as: none for conversions and `select`, two for `fma` and
    /// `clampf`.
    pub fn flops(self) -> u64 {
        match self {
            Op::Fma | Op::Clampf => 2,
            Op::Select => 0,
            op if op.is_conversion() => 0,
            _ => 1,
        }
    }
}

/// The MLIR name, with the predicate as in `arith.cmpf olt`.
impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Op::Cmpf(p) => write!(f, " {}", CMPF[*p as usize].1),
            Op::Cmpi(p) => write!(f, " {}", CMPI[*p as usize].1),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for (op, name, arity) in TABLE {
            assert_eq!(Op::from_mlir(name, None), Some(*op));
            assert_eq!(
                (op.name(), op.arity(), op.predicate()),
                (*name, *arity, None)
            );
        }
        for p in 0..16 {
            let op = Op::from_mlir("arith.cmpf", Some(p)).unwrap();
            assert_eq!((op.name(), op.predicate()), ("arith.cmpf", Some(p)));
        }
        for p in 0..10 {
            let op = Op::from_mlir("arith.cmpi", Some(p)).unwrap();
            assert_eq!((op.name(), op.predicate()), ("arith.cmpi", Some(p)));
        }
        assert_eq!(Op::from_mlir("arith.cmpi", Some(10)), None);
        assert_eq!(Op::from_mlir("arith.cmpf", None), None);
        assert_eq!(Op::from_mlir("arith.addf", Some(0)), None);
        assert_eq!(Op::from_mlir("arith.nothing", None), None);
        assert_eq!(Op::Cmpi(CmpiPredicate::Slt).to_string(), "arith.cmpi slt");
    }
}
