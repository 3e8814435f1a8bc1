//! Combine operators' functions `f`: built-in ones, and regions on the whole tuple.

use std::fmt;

use crate::code::{Code, Op};
use crate::machine::{EvalError, Machine};
use crate::scalar::{Scalar, ScalarType};

/// The built-in operators, under arith's names and with arith's meaning. All are associative
/// and commutative (float reassociation is what combining means) and have a neutral element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are arith's")]
pub enum Builtin {
    Addf,
    Mulf,
    Minimumf,
    Maximumf,
    Addi,
    Muli,
    Minsi,
    Maxsi,
    Minui,
    Maxui,
    Andi,
    Ori,
    Xori,
}

/// Operator, its name, arith's operation, and the operator of the other kind of type.
type Row = (Builtin, &'static str, Op, Option<Builtin>);

const TABLE: [Row; 13] = [
    (Builtin::Addf, "addf", Op::Addf, Some(Builtin::Addi)),
    (Builtin::Mulf, "mulf", Op::Mulf, Some(Builtin::Muli)),
    (
        Builtin::Minimumf,
        "minimumf",
        Op::Minimumf,
        Some(Builtin::Minsi),
    ),
    (
        Builtin::Maximumf,
        "maximumf",
        Op::Maximumf,
        Some(Builtin::Maxsi),
    ),
    (Builtin::Addi, "addi", Op::Addi, Some(Builtin::Addf)),
    (Builtin::Muli, "muli", Op::Muli, Some(Builtin::Mulf)),
    (Builtin::Minsi, "minsi", Op::Minsi, Some(Builtin::Minimumf)),
    (Builtin::Maxsi, "maxsi", Op::Maxsi, Some(Builtin::Maximumf)),
    (Builtin::Minui, "minui", Op::Minui, Some(Builtin::Minimumf)),
    (Builtin::Maxui, "maxui", Op::Maxui, Some(Builtin::Maximumf)),
    (Builtin::Andi, "andi", Op::Andi, None),
    (Builtin::Ori, "ori", Op::Ori, None),
    (Builtin::Xori, "xori", Op::Xori, None),
];

impl Builtin {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Builtin> {
        TABLE.iter().map(|row| row.0)
    }

    /// The operator of that name (`addf`).
    pub fn parse(name: &str) -> Option<Builtin> {
        TABLE.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// Its name (`addf`).
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// arith's operation.
    pub fn op(self) -> Op {
        self.row().2
    }

    /// Returns the operator that is probably meant where this one is written for a type of the
    /// other kind (float, integer).
    pub fn counterpart(self) -> Option<Builtin> {
        self.row().3
    }

    /// Returns whether it works on floats; the others work on integers, `i1` and `index` included.
    pub fn is_float(self) -> bool {
        use Builtin::*;
        matches!(self, Addf | Mulf | Minimumf | Maximumf)
    }

    /// Returns whether it works on this type.
    pub fn accepts(self, ty: ScalarType) -> bool {
        self.is_float() == ty.is_float()
    }

    /// The element that changes nothing; `None` for a type it does not work on.
    pub fn neutral(self, ty: ScalarType) -> Option<Scalar> {
        use Builtin::*;
        if !self.accepts(ty) {
            return None;
        }
        let smallest_signed = 1 << (ty.bit_width() - 1);
        Some(match self {
            Addf => Scalar::zero(ty),
            Mulf => Scalar::from_f64(ty, 1.0),
            Minimumf => Scalar::from_f64(ty, f64::INFINITY),
            Maximumf => Scalar::from_f64(ty, f64::NEG_INFINITY),
            Addi | Maxui | Ori | Xori => Scalar::zero(ty),
            Muli => Scalar::from_bits(ty, 1),
            Minsi => Scalar::from_bits(ty, smallest_signed - 1),
            Maxsi => Scalar::from_bits(ty, smallest_signed),
            Minui | Andi => Scalar::from_bits(ty, u64::MAX),
        })
    }
}

impl fmt::Display for Builtin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The function of a combine operator.
#[derive(Clone, Debug, PartialEq)]
pub enum Operator {
    /// One built-in operator for each component of the tuple.
    Builtin(Vec<Builtin>),
    /// A region on the whole tuple.
    User(UserOperator),
}

/// An operator given by a region.
#[derive(Clone, Debug, PartialEq)]
pub struct UserOperator {
    /// Its name, for messages.
    pub name: String,
    /// `2n` inputs (left tuple, then right), `n` results.
    pub code: Code,
    /// One value for each component, if it was given.
    pub neutral: Option<Vec<Scalar>>,
    /// Declared commutative.
    pub commutative: bool,
    /// Declared associative.
    pub associative: bool,
}

impl Operator {
    /// Returns whether a component is a sum of floats, into which products may be contracted.
    pub fn is_sum(&self) -> bool {
        matches!(self, Operator::Builtin(ops) if ops.contains(&Builtin::Addf))
    }

    /// Returns whether it is known or declared to be commutative.
    pub fn is_commutative(&self) -> bool {
        match self {
            Operator::Builtin(_) => true,
            Operator::User(user) => user.commutative,
        }
    }

    /// Returns whether it is known or declared to be associative.
    pub fn is_associative(&self) -> bool {
        match self {
            Operator::Builtin(_) => true,
            Operator::User(user) => user.associative,
        }
    }

    /// The neutral tuple, if there is one for components of these types.
    pub fn neutral(&self, components: &[ScalarType]) -> Option<Vec<Scalar>> {
        match self {
            Operator::Builtin(ops) => ops
                .iter()
                .zip(components)
                .map(|(op, ty)| op.neutral(*ty))
                .collect(),
            Operator::User(user) => user.neutral.clone(),
        }
    }

    /// The most operations of one application that round between an element and the result; `None`
    /// where that is not known.
    pub fn roundings(&self) -> Option<u64> {
        match self {
            Operator::Builtin(ops) => Some(u64::from(ops.iter().any(|op| op.op().rounds()))),
            Operator::User(user) => user.code.roundings(),
        }
    }

    /// Arithmetic operations of one application.
    pub fn flops(&self) -> u64 {
        match self {
            Operator::Builtin(ops) => ops.len() as u64,
            Operator::User(user) => user.code.flops(),
        }
    }

    /// `result = f(left, right)`, each component in its own type. `arguments` is scratch space,
    /// so that nothing is allocated per call.
    pub fn apply(
        &self,
        machine: &mut Machine,
        left: &[Scalar],
        right: &[Scalar],
        result: &mut [Scalar],
        arguments: &mut Vec<Scalar>,
    ) -> Result<(), EvalError> {
        match self {
            Operator::Builtin(ops) => {
                for (n, op) in ops.iter().enumerate() {
                    let (Some(x), Some(y), Some(place)) =
                        (left.get(n), right.get(n), result.get_mut(n))
                    else {
                        let what = format!("no component {n} to combine by {op}");
                        return Err(EvalError::Malformed(what));
                    };
                    *place = op.op().apply(&[*x, *y], x.ty)?;
                }
                Ok(())
            }
            Operator::User(user) => {
                arguments.clear();
                arguments.extend_from_slice(left);
                arguments.extend_from_slice(right);
                machine.run(&user.code, arguments, &[], result)
            }
        }
    }
}

/// As it is written in a combine list: `addf`, `addf, maximumf` or `@wins`.
impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operator::Builtin(ops) => {
                let names: Vec<_> = ops.iter().map(|op| op.name()).collect();
                f.write_str(&names.join(", "))
            }
            Operator::User(user) => write!(f, "@{}", user.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order() {
        for op in Builtin::all() {
            assert_eq!(op.row().0, op);
            assert_eq!(Builtin::parse(op.name()), Some(op));
            assert_eq!(op.op().name(), format!("arith.{}", op.name()));
        }
    }

    /// `f(neutral, x) = x = f(x, neutral)`, on every 8- and 16-bit value.
    #[test]
    fn neutral_elements_are_neutral() {
        for op in Builtin::all() {
            for ty in ScalarType::ALL {
                let Some(e) = op.neutral(ty) else {
                    assert!(!op.accepts(ty));
                    continue;
                };
                for bits in 0..1u64 << 16 {
                    let x = match ty.bit_width() {
                        ..=16 => Scalar::from_bits(ty, bits),
                        wide => Scalar::from_bits(ty, bits << (wide - 16) | bits),
                    };
                    let left = op.op().apply(&[e, x], ty).unwrap();
                    let right = op.op().apply(&[x, e], ty).unwrap();
                    assert!(left.same_value(x) && right.same_value(x), "{op} {ty} {x}");
                }
            }
        }
    }
}
