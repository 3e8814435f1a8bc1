//! Exact arithmetic: integers of the same width in the place of floats.
//!
//! A float of n bits is an integer modulo 2^n. Sums and products then have the laws of a ring, so that a
//! program and what a compiler makes of it agree in every bit, in whatever order terms are combined: there
//! is no tolerance in which a term that is dropped or counted twice could hide.
//!
//! | operation of floats       | here                                                                    |
//! |---------------------------|-------------------------------------------------------------------------|
//! | sum, product, fma, ..     | those of the ring                                                       |
//! | comparison, min, max      | by the order of signed integers; NaN is one of them, which is neutral   |
//! |                           | for `maxnumf` and `minnumf`                                             |
//! | `exp`, `exp2`             | `exp(a + b) = exp(a) exp(b)`, `exp(0) = 1`                              |
//! | `a / b`                   | `a q(b)`; `b q(b) = 1` for odd `b`, so that `1 / exp(a) = exp(-a)`      |
//! | other functions           | a mixing of the arguments' bits that the function's name decides        |
//! | conversions               | those of integers: of the sign's extension, or of the low bits          |
//!
//! `exp` is the exponential function of the 2-adic numbers, `exp(x) = sum of (2^k x)^j / j!`, which
//! converges for k >= 2 and of which modulo 2^n only a few terms are left.

use crate::op::Op;
use crate::random;
use crate::scalar::{Scalar, ScalarType};

/// The type of the integers that stand for a type's values.
pub fn integer(ty: ScalarType) -> ScalarType {
    match ty {
        ScalarType::F16 | ScalarType::BF16 => ScalarType::I16,
        ScalarType::F32 => ScalarType::I32,
        ScalarType::F64 => ScalarType::I64,
        other => other,
    }
}

/// The integer that stands for a number. Integral numbers are themselves, or, where they are larger than
/// all integers, the largest (infinity is neutral for minima); of others the bits are mixed. NaN is one integer.
pub fn number(value: Scalar) -> Scalar {
    let ty = integer(value.ty);
    if ty == value.ty {
        return value;
    }
    let float = value.as_f64();
    if float.is_nan() {
        return Scalar::from_bits(ty, no_number(ty.bit_width()));
    }
    let largest = 1i128 << (ty.bit_width() - 1);
    match float.is_infinite() || float == float.trunc() {
        // The conversion saturates.
        true => Scalar::from_i64(ty, (float as i128).clamp(-largest, largest - 1) as i64),
        false => {
            let bits = Scalar::from_bits(ty, value.bits);
            mixed(&mut Numbers(ty), "number", &[bits])
        }
    }
}

/// Integers of one width: numbers, or code that computes such.
pub trait Integers {
    /// One of them.
    type Value: Copy;
    /// Their width.
    fn bits(&self) -> u32;
    /// A constant.
    fn constant(&mut self, bits: u64) -> Self::Value;
    /// An operation of arith or math on integers.
    fn apply(&mut self, op: Op, operands: &[Self::Value]) -> Self::Value;
    /// The first of two values where two others are equal, else the second.
    fn if_equal(&mut self, equal: [Self::Value; 2], values: [Self::Value; 2]) -> Self::Value;
}

/// Numbers of an integer type.
pub struct Numbers(pub ScalarType);

impl Integers for Numbers {
    type Value = Scalar;

    fn bits(&self) -> u32 {
        self.0.bit_width()
    }

    fn constant(&mut self, bits: u64) -> Scalar {
        Scalar::from_bits(self.0, bits)
    }

    fn apply(&mut self, op: Op, operands: &[Scalar]) -> Scalar {
        let result = op.apply(operands, self.0);
        result.unwrap_or_else(|error| panic!("it has a result for all integers: {error}"))
    }

    fn if_equal(&mut self, [x, y]: [Scalar; 2], [then, otherwise]: [Scalar; 2]) -> Scalar {
        if x == y { then } else { otherwise }
    }
}

/// An operation whose operands and result are floats of one type, on integers; `None` for others.
pub fn operation<I: Integers>(own: &mut I, op: Op, operands: &[I::Value]) -> Option<I::Value> {
    Some(match (op, operands) {
        (Op::Addf, _) => own.apply(Op::Addi, operands),
        (Op::Subf, _) => own.apply(Op::Subi, operands),
        (Op::Mulf, _) => own.apply(Op::Muli, operands),
        (Op::Maximumf, _) => own.apply(Op::Maxsi, operands),
        (Op::Minimumf, _) => own.apply(Op::Minsi, operands),
        (Op::Maxnumf, [x, y]) => of_numbers(own, Op::Maxsi, [*x, *y]),
        (Op::Minnumf, [x, y]) => of_numbers(own, Op::Minsi, [*x, *y]),
        (Op::Absf, _) => own.apply(Op::Absi, operands),
        (Op::Negf, [x]) => {
            let zero = own.constant(0);
            own.apply(Op::Subi, &[zero, *x])
        }
        (Op::Fma, [x, y, z]) => {
            let product = own.apply(Op::Muli, &[*x, *y]);
            own.apply(Op::Addi, &[product, *z])
        }
        (Op::Clampf, [x, low, high]) => {
            let least = own.apply(Op::Maxsi, &[*x, *low]);
            own.apply(Op::Minsi, &[least, *high])
        }
        (Op::Divf, [x, y]) => {
            let inverse = inverse(own, *y);
            own.apply(Op::Muli, &[*x, inverse])
        }
        (Op::Exp, [x]) => exponential(own, *x),
        (Op::Exp2, [x]) => {
            // Of another base: any odd factor has the law.
            let factor = own.constant(random::hash([2]) | 1);
            let x = own.apply(Op::Muli, &[*x, factor]);
            exponential(own, x)
        }
        (Op::Expm1, [x]) => {
            let (power, one) = (exponential(own, *x), own.constant(1));
            own.apply(Op::Subi, &[power, one])
        }
        _ if is_function(op) => mixed(own, op.name(), operands),
        _ => return None,
    })
}

/// Returns whether an operation is one of [`operation`].
pub fn is_operation(op: Op) -> bool {
    let mut numbers = Numbers(ScalarType::I8);
    let unit = numbers.constant(1);
    operation(&mut numbers, op, &vec![unit; op.arity()]).is_some()
}

/// The integer for what is no number, which `maxnumf` and `minnumf` leave out.
fn no_number(bits: u32) -> u64 {
    random::hash([3]) >> (64 - bits)
}

/// The larger or smaller of two integers, of which what stands for no number does not count.
fn of_numbers<I: Integers>(own: &mut I, op: Op, [x, y]: [I::Value; 2]) -> I::Value {
    let none = own.constant(no_number(own.bits()));
    let first = own.if_equal([x, none], [y, x]);
    let second = own.if_equal([y, none], [x, y]);
    own.apply(op, &[first, second])
}

/// Returns whether an operation is a function of floats of one type, of which no law is kept.
fn is_function(op: Op) -> bool {
    let is_of_floats = op.name().starts_with("math.") && !matches!(op, Op::Absi | Op::Ipowi);
    let is_count = matches!(op, Op::Ctpop | Op::Ctlz | Op::Cttz);
    let is_test = matches!(op, Op::Isnan | Op::Isinf | Op::Isfinite | Op::Isnormal);
    op == Op::Remf || is_of_floats && !is_count && !is_test
}

/// A mixing of the bits of all operands: by what the name is, and by their order. It is a bijection of each
/// of them.
fn mixed<I: Integers>(integers: &mut I, name: &str, operands: &[I::Value]) -> I::Value {
    let half = integers.constant(u64::from(integers.bits() / 2));
    let mut state = None;
    for (number, operand) in operands.iter().enumerate() {
        let seed = |part: u64| {
            let name = name.bytes().map(u64::from);
            random::hash(name.chain([number as u64, part]))
        };
        let (offset, factor) = (integers.constant(seed(0)), integers.constant(seed(1) | 1));
        let mut x = integers.apply(Op::Addi, &[*operand, offset]);
        if let Some(before) = state {
            x = integers.apply(Op::Addi, &[x, before]);
        }
        let high = integers.apply(Op::Shrui, &[x, half]);
        x = integers.apply(Op::Xori, &[x, high]);
        x = integers.apply(Op::Muli, &[x, factor]);
        let high = integers.apply(Op::Shrui, &[x, half]);
        state = Some(integers.apply(Op::Xori, &[x, high]));
    }
    state.unwrap_or(half)
}

/// The inverse of an odd number; of an even one that of an odd number which stands for it. It has the
/// number's sign: `q(-b) = -q(b)`.
fn inverse<I: Integers>(own: &mut I, x: I::Value) -> I::Value {
    let bits = own.bits();
    let [one, two, three] = [1, 2, 3].map(|number| own.constant(number));
    let odd = own.constant(random::hash([1]) | 1);
    let last = own.constant(u64::from(bits - 1));
    // x + 0 for odd x, x + odd or x - odd for others.
    let low = own.apply(Op::Andi, &[x, one]);
    let is_even = own.apply(Op::Xori, &[low, one]);
    let sign = own.apply(Op::Shrsi, &[x, last]);
    let sign = own.apply(Op::Ori, &[sign, one]);
    let offset = own.apply(Op::Muli, &[is_even, odd]);
    let offset = own.apply(Op::Muli, &[offset, sign]);
    let x = own.apply(Op::Addi, &[x, offset]);
    // Newton's method: 5 bits of 3 x xor 2 are right, and each step doubles them.
    let thrice = own.apply(Op::Muli, &[x, three]);
    let mut inverse = own.apply(Op::Xori, &[thrice, two]);
    let mut right = 5;
    while right < bits {
        let product = own.apply(Op::Muli, &[x, inverse]);
        let rest = own.apply(Op::Subi, &[two, product]);
        inverse = own.apply(Op::Muli, &[inverse, rest]);
        right *= 2;
    }
    inverse
}

/// The exponential function, by Horner's rule.
fn exponential<I: Integers>(own: &mut I, x: I::Value) -> I::Value {
    let coefficients = coefficients(own.bits());
    let mut sum = own.constant(0);
    for coefficient in coefficients.into_iter().rev() {
        let coefficient = own.constant(coefficient);
        let product = own.apply(Op::Muli, &[sum, x]);
        sum = own.apply(Op::Addi, &[product, coefficient]);
    }
    sum
}

/// `2^(k j) / j!` modulo 2^bits for j = 0, 1, .. as far as they are not 0; with a larger `k` they are fewer,
/// and `exp` looks at fewer bits of its argument.
fn coefficients(bits: u32) -> Vec<u64> {
    let k = match bits {
        ..16 => 2,
        16..32 => 3,
        32..64 => 4,
        64.. => 8,
    };
    let (mut all, mut twos, mut odd) = (Vec::new(), 0u32, 1u64);
    // j! has fewer than j factors 2, so that the later ones are 0.
    for j in 0..bits {
        if j > 0 {
            twos += j.trailing_zeros();
            odd = odd.wrapping_mul(u64::from(j >> j.trailing_zeros()));
        }
        let number = Scalar::from_bits(ScalarType::I64, odd);
        let inverse = inverse(&mut Numbers(ScalarType::I64), number).bits;
        all.push(inverse.checked_shl(k * j - twos).unwrap_or(0));
    }
    while all.last().is_some_and(|last| last << (64 - bits) == 0) {
        all.pop();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTHS: [ScalarType; 4] = [
        ScalarType::I8,
        ScalarType::I16,
        ScalarType::I32,
        ScalarType::I64,
    ];

    /// Numbers of a width: all of 8 bits, random ones of others.
    fn some(ty: ScalarType) -> Vec<Scalar> {
        let patterns = (0..256).map(|n| match ty {
            ScalarType::I8 => n,
            _ => random::hash([n, 7]),
        });
        patterns
            .chain([0, 1, 2, u64::MAX])
            .map(|bits| Scalar::from_bits(ty, bits))
            .collect()
    }

    fn apply(op: Op, operands: &[Scalar]) -> Scalar {
        operation(&mut Numbers(operands[0].ty), op, operands).expect("an operation of floats")
    }

    /// `exp(a + b) = exp(a) exp(b)`, `exp(0) = 1`; the same for `exp2`, which is another function.
    #[test]
    fn exponentials_make_products_of_sums() {
        for ty in WIDTHS {
            for op in [Op::Exp, Op::Exp2] {
                assert_eq!(apply(op, &[Scalar::zero(ty)]).bits, 1);
                for a in some(ty) {
                    for b in some(ty) {
                        let sum = apply(op, &[apply(Op::Addf, &[a, b])]);
                        let product = apply(Op::Mulf, &[apply(op, &[a]), apply(op, &[b])]);
                        assert_eq!(sum, product, "{op} of {a} and {b}");
                    }
                }
            }
            let unit = Scalar::from_bits(ty, 1);
            assert_ne!(apply(Op::Exp, &[unit]), apply(Op::Exp2, &[unit]));
            assert_ne!(apply(Op::Exp, &[unit]).bits, 1);
        }
    }

    /// `a / 1 = a`, `a / -b = -(a / b)`, `(a / b) b = a` for odd `b`, `exp(a) / exp(b) = exp(a - b)`.
    #[test]
    fn quotients_are_products_with_inverses() {
        for ty in WIDTHS {
            let unit = Scalar::from_bits(ty, 1);
            for a in some(ty) {
                assert_eq!(apply(Op::Divf, &[a, unit]), a);
                for b in some(ty) {
                    let quotient = apply(Op::Divf, &[a, b]);
                    if b.bits & 1 == 1 {
                        assert_eq!(apply(Op::Mulf, &[quotient, b]), a);
                    }
                    let lowest = Scalar::from_bits(ty, 1 << (ty.bit_width() - 1));
                    if ![0, lowest.bits].contains(&b.bits) {
                        let other = apply(Op::Divf, &[a, apply(Op::Negf, &[b])]);
                        assert_eq!(other, apply(Op::Negf, &[quotient]), "{a} / {b}");
                    }
                    let [of_a, of_b] = [a, b].map(|x| apply(Op::Exp, &[x]));
                    let difference = apply(Op::Subf, &[a, b]);
                    let quotient = apply(Op::Divf, &[of_a, of_b]);
                    assert_eq!(quotient, apply(Op::Exp, &[difference]));
                }
            }
        }
    }

    /// Other functions are bijections of each operand, and no two of them are the same; nor are two
    /// operands in another order.
    #[test]
    fn functions_are_mixings_of_their_own() {
        let ty = ScalarType::I8;
        let mut tables = Vec::new();
        for op in Op::all().filter(|op| is_function(*op) && op.arity() < 3) {
            let fixed = Scalar::from_bits(ty, 77);
            for place in 0..op.arity() {
                let operands = |x: Scalar| {
                    let mut operands = vec![fixed; op.arity()];
                    operands[place] = x;
                    operands
                };
                let inputs = (0..256).map(|n| operands(Scalar::from_bits(ty, n)));
                let Some(table) = inputs
                    .map(|operands| operation(&mut Numbers(ty), op, &operands))
                    .collect::<Option<Vec<Scalar>>>()
                else {
                    panic!("{op} has no integer form");
                };
                let laws = matches!(op, Op::Exp | Op::Exp2 | Op::Expm1 | Op::Absf);
                let values: std::collections::BTreeSet<u64> =
                    table.iter().map(|x| x.bits).collect();
                assert!(laws || values.len() == 256, "{op}");
                assert!(!tables.contains(&table), "{op}");
                tables.push(table);
            }
        }
        assert!(tables.len() > 30);
    }

    /// Numbers that are neutral stay so; integral ones are themselves; others are told apart.
    #[test]
    fn numbers_keep_what_is_neutral() {
        let mapped = |ty, x| number(Scalar::from_f64(ty, x)).as_i64();
        for ty in [
            ScalarType::F16,
            ScalarType::BF16,
            ScalarType::F32,
            ScalarType::F64,
        ] {
            let bits = integer(ty).bit_width();
            let least = (-1i64) << (bits - 1);
            for x in [-3, -1, 0, 1, 2, 100] {
                assert_eq!(mapped(ty, x as f64), x);
            }
            assert_eq!(mapped(ty, -0.0), 0);
            for (huge, end) in [
                (f64::INFINITY, least.wrapping_sub(1)),
                (f64::NEG_INFINITY, least),
            ] {
                let end = Scalar::from_i64(integer(ty), end).as_i64();
                assert_eq!(mapped(ty, huge), end);
                assert_eq!(
                    mapped(ty, huge.clamp(-ty.max_finite(), ty.max_finite())),
                    end
                );
            }
            let none = number(Scalar::from_f64(ty, f64::NAN));
            for x in some(integer(ty)) {
                for op in [Op::Maxnumf, Op::Minnumf] {
                    assert_eq!(apply(op, &[x, none]), x);
                    assert_eq!(apply(op, &[none, x]), x);
                }
            }
            assert_ne!(mapped(ty, 0.5), mapped(ty, 0.25));
            assert_ne!(mapped(ty, 0.5), mapped(ty, -0.5));
        }
        let integer = Scalar::from_i64(ScalarType::I32, 7);
        assert_eq!(number(integer), integer);
    }
}
