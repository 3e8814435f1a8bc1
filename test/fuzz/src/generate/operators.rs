//! Combine operators: built-in ones, and user's ones put together from known monoids and
//! semigroups.

use mdh_algebra::code::{CmpfPredicate, CmpiPredicate, Op, Register};
use mdh_algebra::operator::{Builtin, Operator, UserOperator};
use mdh_algebra::scalar::{Scalar, ScalarType};

use super::types;
use crate::builder::CodeBuilder;
use crate::choices::Choices;

/// Requirements on an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// It combines several dimensions.
    pub commutative: bool,
    /// It combines an empty dimension.
    pub neutral: bool,
}

/// The types of a tuple that nothing combines.
pub fn components(c: &mut Choices) -> Vec<ScalarType> {
    let count = 1 + c.weighted("components", &[62, 22, 10, 6]);
    let component = |n| {
        c.scope(format!("component{n}"), |c| {
            (c.keep(), types::any(c, "type"))
        })
    };
    let drawn: Vec<_> = (0..count).map(component).collect();
    let types: Vec<_> = drawn
        .iter()
        .filter(|(is_kept, _)| *is_kept)
        .map(|(_, ty)| *ty)
        .collect();
    match types.is_empty() {
        true => vec![drawn[0].1],
        false => types,
    }
}

/// An operator, and the types of the tuple that it combines.
pub fn operator(c: &mut Choices, needs: Needs) -> (Operator, Vec<ScalarType>) {
    if needs.commutative && !c.chance("user", 40) {
        let types = components(c);
        let builtin =
            |(n, ty): (usize, &ScalarType)| c.scope(format!("component{n}"), |c| builtin(c, *ty));
        let builtins = types.iter().enumerate().map(builtin).collect();
        return (Operator::Builtin(builtins), types);
    }
    let mut parts = Vec::new();
    let mut left = 4;
    for n in 0..1 + c.weighted("parts", &[70, 22, 8]) {
        c.scope(format!("part{n}"), |c| {
            let is_kept = c.keep();
            let part = part(c, needs);
            if (is_kept || parts.is_empty()) && part.types.len() <= left {
                left -= part.types.len();
                parts.push(part);
            }
        });
    }
    let declare_neutral = needs.neutral || !c.chance("no neutral", 30);
    let declare_commutative = needs.commutative || !c.chance("not declared", 30);
    user(&parts, declare_neutral, declare_commutative)
}

fn builtin(c: &mut Choices, ty: ScalarType) -> Builtin {
    let accepting: Vec<Builtin> = Builtin::all().filter(|b| b.accepts(ty)).collect();
    c.pick("builtin", &accepting)
}

/// Some of the tuple's components, which are combined without the others.
struct OperatorPart {
    types: Vec<ScalarType>,
    neutral: Option<Vec<Scalar>>,
    commutative: bool,
    emit: Emit,
}

/// Adds the code of `f(left, right)`.
type Emit = Box<dyn Fn(&mut CodeBuilder, &[Register], &[Register]) -> Vec<Register>>;

fn user(
    parts: &[OperatorPart],
    declare_neutral: bool,
    declare_commutative: bool,
) -> (Operator, Vec<ScalarType>) {
    let types: Vec<ScalarType> = parts.iter().flat_map(|p| p.types.clone()).collect();
    let mut builder = CodeBuilder::new(&[types.clone(), types.clone()].concat());
    let mut yields = Vec::new();
    for part in parts {
        let first = yields.len();
        let registers = |start: usize| (start..start + part.types.len()).collect::<Vec<_>>();
        let (left, right) = (registers(first), registers(types.len() + first));
        yields.extend((part.emit)(&mut builder, &left, &right));
    }
    let neutral: Option<Vec<Vec<Scalar>>> = parts.iter().map(|p| p.neutral.clone()).collect();
    let operator = UserOperator {
        name: "op".into(),
        code: builder.finish(&yields),
        neutral: neutral.map(|n| n.concat()).filter(|_| declare_neutral),
        commutative: declare_commutative && parts.iter().all(|p| p.commutative),
        associative: true,
    };
    (Operator::User(operator), types)
}

fn part(c: &mut Choices, needs: Needs) -> OperatorPart {
    type Maker = (fn(&mut Choices) -> OperatorPart, bool, bool);
    let makers: [Maker; 13] = [
        // The part, whether it commutes, whether it has a neutral element.
        (of_builtin, true, true),
        (arg_max, true, true),
        (shifted_sum, true, true),
        (circle, true, true),
        (complex_product, true, true),
        (branching_maximum, true, true),
        (log_sum_exp, true, false),
        (common_divisor, true, false),
        (affine, false, true),
        (matrix_product, false, true),
        (first, false, false),
        (last, false, false),
        (last_valid, false, false),
    ];
    let fits = |(_, commutes, has_neutral): &&(fn(&mut Choices) -> OperatorPart, bool, bool)| {
        (*commutes || !needs.commutative) && (*has_neutral || !needs.neutral)
    };
    let fitting: Vec<_> = makers.iter().filter(fits).collect();
    (c.pick("operator", &fitting).0)(c)
}

fn numbers(types: &[ScalarType], values: &[i64]) -> Option<Vec<Scalar>> {
    let pairs = types.iter().zip(values);
    Some(pairs.map(|(ty, v)| Scalar::from_i64(*ty, *v)).collect())
}

fn part_of(
    types: Vec<ScalarType>,
    neutral: Option<Vec<Scalar>>,
    commutative: bool,
    emit: impl Fn(&mut CodeBuilder, &[Register], &[Register]) -> Vec<Register> + 'static,
) -> OperatorPart {
    OperatorPart {
        types,
        neutral,
        commutative,
        emit: Box::new(emit),
    }
}

/// A built-in operator, but as a region.
fn of_builtin(c: &mut Choices) -> OperatorPart {
    let ty = types::any(c, "type");
    let builtin = builtin(c, ty);
    let neutral = builtin.neutral(ty).map(|n| vec![n]);
    part_of(vec![ty], neutral, true, move |b, l, r| {
        vec![b.same(builtin.op(), &[l[0], r[0]])]
    })
}

/// The larger value, NaN being larger than all numbers; of equal ones that of the smaller
/// number.
fn arg_max(c: &mut Choices) -> OperatorPart {
    let value = match c.chance("float", 70) {
        true => types::float(c, "type"),
        false => types::integer(c, "type"),
    };
    let number = types::integer(c, "number");
    let low = match value.is_float() {
        true => Scalar::from_f64(value, f64::NEG_INFINITY),
        false => Scalar::from_bits(value, 1 << (value.bit_width() - 1)),
    };
    let neutral = vec![low, Scalar::from_bits(number, number.mask() >> 1)];
    part_of(vec![value, number], Some(neutral), true, move |b, l, r| {
        let above = |b: &mut CodeBuilder, x: Register, y: Register| match value.is_float() {
            true => {
                let is_number = b.cmpf(CmpfPredicate::Ord, y, y);
                let above = b.cmpf(CmpfPredicate::Ult, y, x);
                b.same(Op::Andi, &[is_number, above])
            }
            false => b.cmpi(CmpiPredicate::Sgt, x, y),
        };
        let left = above(b, l[0], r[0]);
        let right = above(b, r[0], l[0]);
        let earlier = b.cmpi(CmpiPredicate::Slt, l[1], r[1]);
        let no = b.constant(Scalar::from_bool(false));
        let tie = b.select(right, no, earlier);
        let take = b.same(Op::Ori, &[left, tie]);
        vec![b.select(take, l[0], r[0]), b.select(take, l[1], r[1])]
    })
}

/// `x + y + k`.
fn shifted_sum(c: &mut Choices) -> OperatorPart {
    let ty = types::integer(c, "type");
    let k = c.below("shift", 9) as i64;
    part_of(vec![ty], numbers(&[ty], &[-k]), true, move |b, l, r| {
        let sum = b.same(Op::Addi, &[l[0], r[0]]);
        let shift = b.number(ty, k);
        vec![b.same(Op::Addi, &[sum, shift])]
    })
}

/// `x + y + x y`, which is `(1 + x) (1 + y) - 1`.
fn circle(c: &mut Choices) -> OperatorPart {
    let ty = types::integer(c, "type");
    part_of(vec![ty], numbers(&[ty], &[0]), true, |b, l, r| {
        let sum = b.same(Op::Addi, &[l[0], r[0]]);
        let product = b.same(Op::Muli, &[l[0], r[0]]);
        vec![b.same(Op::Addi, &[sum, product])]
    })
}

/// The product of complex numbers of wrapping integers.
fn complex_product(c: &mut Choices) -> OperatorPart {
    let types = vec![types::integer(c, "type"); 2];
    let neutral = numbers(&types, &[1, 0]);
    part_of(types, neutral, true, |b, l, r| {
        let product = |b: &mut CodeBuilder, i: usize, j: usize| b.same(Op::Muli, &[l[i], r[j]]);
        let (ac, bd) = (product(b, 0, 0), product(b, 1, 1));
        let (ad, bc) = (product(b, 0, 1), product(b, 1, 0));
        vec![b.same(Op::Subi, &[ac, bd]), b.same(Op::Addi, &[ad, bc])]
    })
}

/// The maximum by way of `scf.if`.
fn branching_maximum(c: &mut Choices) -> OperatorPart {
    let ty = types::integer(c, "type");
    let neutral = vec![Scalar::from_bits(ty, 1 << (ty.bit_width() - 1))];
    part_of(vec![ty], Some(neutral), true, |b, l, r| {
        let larger = b.cmpi(CmpiPredicate::Sge, l[0], r[0]);
        b.conditional(larger, |_| vec![l[0]], |_| vec![r[0]])
    })
}

/// `log(sum exp x)` as a pair: the maximum, and the sum of `exp(x - maximum)`.
fn log_sum_exp(c: &mut Choices) -> OperatorPart {
    let ty = types::float(c, "type");
    part_of(vec![ty, ty], None, true, |b, l, r| {
        let largest = b.same(Op::Maximumf, &[l[0], r[0]]);
        let scaled = |b: &mut CodeBuilder, x: &[Register]| {
            let below = b.same(Op::Subf, &[x[0], largest]);
            let factor = b.same(Op::Exp, &[below]);
            b.same(Op::Mulf, &[x[1], factor])
        };
        let (left, right) = (scaled(b, l), scaled(b, r));
        vec![largest, b.same(Op::Addf, &[left, right])]
    })
}

/// The greatest common divisor of the lowest seven bits, by `scf.while`.
fn common_divisor(c: &mut Choices) -> OperatorPart {
    let ty = types::integer(c, "type");
    part_of(vec![ty], None, true, move |b, l, r| {
        let (mask, zero) = (b.number(ty, 127), b.number(ty, 0));
        let x = b.same(Op::Andi, &[l[0], mask]);
        let y = b.same(Op::Andi, &[r[0], mask]);
        let results = b.while_loop(
            &[x, y],
            |b, v| b.cmpi(CmpiPredicate::Ne, v[1], zero),
            |b, v| {
                let rest = b.same(Op::Remui, &[v[0], v[1]]);
                vec![v[1], rest]
            },
        );
        vec![results[0]]
    })
}

/// The composition of `x -> a x + b`, the later function applied last.
fn affine(c: &mut Choices) -> OperatorPart {
    let types = vec![types::integer(c, "type"); 2];
    let neutral = numbers(&types, &[1, 0]);
    part_of(types, neutral, false, |b, l, r| {
        let a = b.same(Op::Muli, &[l[0], r[0]]);
        let scaled = b.same(Op::Muli, &[r[0], l[1]]);
        vec![a, b.same(Op::Addi, &[scaled, r[1]])]
    })
}

/// The product of 2x2 matrices of wrapping integers.
fn matrix_product(c: &mut Choices) -> OperatorPart {
    let types = vec![types::integer(c, "type"); 4];
    let neutral = numbers(&types, &[1, 0, 0, 1]);
    part_of(types, neutral, false, |b, l, r| {
        let mut product = Vec::new();
        for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let x = b.same(Op::Muli, &[l[2 * i], r[j]]);
            let y = b.same(Op::Muli, &[l[2 * i + 1], r[2 + j]]);
            product.push(b.same(Op::Addi, &[x, y]));
        }
        product
    })
}

/// The left one.
fn first(c: &mut Choices) -> OperatorPart {
    let ty = types::any(c, "type");
    part_of(vec![ty], None, false, |_, l, _| vec![l[0]])
}

/// The right one.
fn last(c: &mut Choices) -> OperatorPart {
    let ty = types::any(c, "type");
    part_of(vec![ty], None, false, |_, _, r| vec![r[0]])
}

/// The last value whose flag is set, by `scf.if`.
fn last_valid(c: &mut Choices) -> OperatorPart {
    let ty = types::any(c, "type");
    part_of(vec![ScalarType::I1, ty], None, false, |b, l, r| {
        let flag = b.same(Op::Ori, &[l[0], r[0]]);
        let value = b.conditional(r[0], |_| vec![r[1]], |_| vec![l[1]]);
        vec![flag, value[0]]
    })
}
