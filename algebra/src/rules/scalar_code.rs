//! Scalar code: the operations that the regions of scalar functions and combine operators may have.
//!
//! Scalar code maps numbers to numbers. It touches no memory, knows no arrays, takes one way
//! through structured control flow only, and calls nothing but functions made of such code, which
//! do not call themselves. So it may be copied, moved and applied at any point, any number of
//! times.
//!
//! Operations go by their MLIR names here, and the callers know where they stand. A message is a
//! phrase that follows the operation's name.

use std::fmt;

use crate::scalar::ScalarType;

/// The function whose body the code is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnclosingFunction {
    /// A scalar function.
    Scalar,
    /// The function of a combine operator, by its name.
    Operator(String),
    /// A function that scalar code calls, by its name.
    Callee(String),
}

impl fmt::Display for EnclosingFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EnclosingFunction::Scalar => f.write_str("the scalar function"),
            EnclosingFunction::Operator(name) => write!(f, "the combine operator '{name}'"),
            EnclosingFunction::Callee(name) => write!(f, "the function @{name}"),
        }
    }
}

/// Role of an operation in scalar code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationRole {
    /// It computes numbers of numbers.
    Arithmetic,
    /// It is structured control flow, or ends a part of it.
    Control,
    /// It calls a function.
    Call,
    /// It asks for the point's index.
    Index,
    /// It is no part of scalar code.
    Foreign,
}

/// Returns the role of the operation of that name.
pub fn role(operation: &str) -> OperationRole {
    match operation {
        "scf.if" | "scf.for" | "scf.while" | "scf.yield" | "scf.condition" => {
            OperationRole::Control
        }
        "func.call" => OperationRole::Call,
        "mdh.index" => OperationRole::Index,
        // What upstream's folders leave of an operation that has no value.
        "ub.poison" => OperationRole::Arithmetic,
        // Of the small float types, which are not among the scalar types, with their scales.
        "arith.scaling_extf" | "arith.scaling_truncf" => OperationRole::Foreign,
        name if name.starts_with("arith.") || name.starts_with("math.") => {
            OperationRole::Arithmetic
        }
        _ => OperationRole::Foreign,
    }
}

/// Checks that an operation of that name may stand in a place.
pub fn operation(name: &str, place: &EnclosingFunction) -> Option<String> {
    let index = match place {
        EnclosingFunction::Scalar => ", func.call or mdh.index",
        EnclosingFunction::Operator(_) | EnclosingFunction::Callee(_) => " or func.call",
    };
    let expected =
        format!("expected operations of arith and math, scf.if, scf.for, scf.while{index}");
    match (role(name), place) {
        (OperationRole::Foreign, _) => Some(format!(
            "is not scalar code, but stands in {place}: {expected}; {}",
            way_out(name)
        )),
        (OperationRole::Index, EnclosingFunction::Operator(_) | EnclosingFunction::Callee(_)) => {
            Some(format!(
                "stands in {place}, which has no point: {expected}; ask for the index in the scalar \
             function, and yield or pass what is needed of it"
            ))
        }
        _ => None,
    }
}

/// Returns advice: what to write instead.
fn way_out(name: &str) -> &'static str {
    let dialect = name.split('.').next().unwrap_or_default();
    match dialect {
        "arith" => "multiply by the scale, and convert by arith.extf or arith.truncf",
        "memref" | "tensor" | "bufferization" | "vector" | "affine" | "linalg" => {
            "read the elements of arrays through the inp_view, store results through the out_view"
        }
        "cf" | "scf" => "choose by scf.if, repeat by scf.for or scf.while",
        "mdh" => "store the result of one computation, and read it by the inp_view of another",
        _ => "compute it outside, and use the number",
    }
}

/// Returns the message about a value that is no number; `ty` is its type.
pub fn value(ty: &str, place: &EnclosingFunction) -> String {
    format!(
        "has a value of type {ty} in {place}: expected one of {}; read the elements of arrays \
         through the inp_view",
        ScalarType::names()
    )
}

/// Returns the message about an operation that rounds in another way than all others; `mode` is
/// arith's name of it.
pub fn rounding(mode: &str, place: &EnclosingFunction) -> String {
    format!("rounds {mode} in {place}: {ROUNDING}")
}

const ROUNDING: &str = "expected no rounding mode, or to_nearest_even, which is how all operations \
                        round; compare the result with the operand by arith.cmpf, and choose a \
                        neighbour of it by arith.select";

/// Reasons for which scalar code may not call a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Callee {
    /// It calls this function, which led to it.
    Recurses(String),
    /// It is the first of more than this number of functions that call each other.
    Deep(usize),
    /// It has more than one block.
    Branches,
    /// It has an operation of this name.
    Holds(String),
    /// It has a value of this type.
    Value(String),
    /// It has an operation of this name that rounds in this way.
    Rounds(String, &'static str),
}

/// Returns the message about a call: `way` are the functions from the one that is called to the one
/// of which `found` gives the reason.
pub fn call(way: &[&str], place: &EnclosingFunction, found: &Callee) -> String {
    let way: String = way
        .iter()
        .map(|name| format!("calls @{name}, which "))
        .collect();
    let what = match found {
        Callee::Recurses(name) => {
            format!("calls @{name} again: expected no recursion; use scf.for or scf.while")
        }
        Callee::Deep(most) => format!(
            "calls others more than {most} levels deep: expected fewer; put some of them together"
        ),
        Callee::Branches => {
            "branches: expected one block; use scf.if, scf.for or scf.while".to_owned()
        }
        Callee::Holds(operation) => format!(
            "uses {operation}: expected operations of arith and math, scf.if, scf.for, scf.while \
             or func.call; {}",
            way_out(operation)
        ),
        Callee::Rounds(operation, mode) => format!("rounds {mode} in {operation}: {ROUNDING}"),
        Callee::Value(ty) => format!(
            "has a value of type {ty}: expected one of {}; pass the elements of arrays one by one",
            ScalarType::names()
        ),
    };
    format!("in {place} {way}{what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the interpreter knows is scalar code.
    #[test]
    fn what_is_interpreted_is_scalar_code() {
        let operator = EnclosingFunction::Operator("f".into());
        for op in crate::op::Op::all() {
            assert_eq!(role(op.name()), OperationRole::Arithmetic, "{op}");
            assert_eq!(operation(op.name(), &operator), None, "{op}");
        }
        for name in ["scf.if", "scf.for", "scf.while", "func.call"] {
            assert_eq!(operation(name, &operator), None, "{name}");
        }
    }

    #[test]
    fn what_touches_anything_else_is_not() {
        for name in [
            "memref.load",
            "tensor.extract",
            "vector.extract",
            "cf.br",
            "scf.forall",
            "scf.index_switch",
            "mdh.compute",
            "llvm.load",
            "func.call_indirect",
            "arithmetic.add",
            "arith.scaling_truncf",
        ] {
            assert_eq!(role(name), OperationRole::Foreign, "{name}");
            let message = operation(name, &EnclosingFunction::Scalar).unwrap();
            assert!(message.starts_with("is not scalar code"), "{message}");
        }
    }

    #[test]
    fn a_point_is_known_in_scalar_functions_only() {
        assert_eq!(operation("mdh.index", &EnclosingFunction::Scalar), None);
        for place in [
            EnclosingFunction::Operator("f".into()),
            EnclosingFunction::Callee("f".into()),
        ] {
            let message = operation("mdh.index", &place).unwrap();
            assert!(message.contains("which has no point"), "{message}");
        }
    }
}
