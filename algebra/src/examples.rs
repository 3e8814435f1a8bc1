//! Small computations, for tests here and in the crates above.

use crate::affine::Expr;
use crate::code::{Block, CmpfPredicate, CmpiPredicate, Code, Instruction, Op, Register};
use crate::computation::{Buffer, Combine, Computation, Dimension, Extent};
use crate::operator::{Builtin, Operator, UserOperator};
use crate::scalar::{Scalar, ScalarType};
use ScalarType::{F32, I1, I32, I64};

/// The index in dimension `k`.
pub fn d(k: usize) -> Expr {
    Expr::Dim(k)
}

/// Straight-line code: each row is an operation on earlier registers, arguments first.
pub fn straight(
    inputs: &[ScalarType],
    rows: &[(Op, &[Register], ScalarType)],
    yields: &[Register],
    results: &[ScalarType],
) -> Code {
    let instruction =
        |(n, (op, operands, ty)): (usize, &(Op, &[Register], ScalarType))| Instruction::Apply {
            result: inputs.len() + n,
            op: *op,
            operands: operands.to_vec(),
            ty: *ty,
        };
    Code {
        inputs: inputs.to_vec(),
        results: results.to_vec(),
        registers: inputs.len() + rows.len(),
        body: Block {
            instructions: rows.iter().enumerate().map(instruction).collect(),
            yields: yields.to_vec(),
        },
    }
}

/// An associative operator without a neutral element, which does not commute.
pub fn user(name: &str, code: Code) -> UserOperator {
    UserOperator {
        name: name.into(),
        code,
        neutral: None,
        commutative: false,
        associative: true,
    }
}

/// `f((a, b), (c, d)) = (a, d)`: associative, not commutative, without neutral element.
pub fn first_last() -> UserOperator {
    user("first_last", straight(&[I64; 4], &[], &[0, 3], &[I64; 2]))
}

/// The product of 2x2 matrices of wrapping integers.
pub fn matrix_product() -> UserOperator {
    let mut rows: Vec<(Op, Vec<Register>, ScalarType)> = Vec::new();
    let mut yields = Vec::new();
    for i in 0..2 {
        for j in 0..2 {
            let base = 8 + rows.len();
            rows.push((Op::Muli, vec![2 * i, 4 + j], I64));
            rows.push((Op::Muli, vec![2 * i + 1, 6 + j], I64));
            rows.push((Op::Addi, vec![base, base + 1], I64));
            yields.push(base + 2);
        }
    }
    let rows: Vec<_> = rows
        .iter()
        .map(|(op, r, ty)| (*op, r.as_slice(), *ty))
        .collect();
    let entry = |v| Scalar::from_i64(I64, v);
    UserOperator {
        neutral: Some(vec![entry(1), entry(0), entry(0), entry(1)]),
        ..user("matmul", straight(&[I64; 8], &rows, &yields, &[I64; 4]))
    }
}

/// The larger value wins, ties go to the smaller index; commutative and associative.
pub fn arg_max(value: ScalarType) -> UserOperator {
    let (greater, equal) = if value.is_float() {
        (Op::Cmpf(CmpfPredicate::Ogt), Op::Cmpf(CmpfPredicate::Oeq))
    } else {
        (Op::Cmpi(CmpiPredicate::Sgt), Op::Cmpi(CmpiPredicate::Eq))
    };
    let rows: [(Op, &[Register], ScalarType); 7] = [
        (greater, &[0, 2], I1),
        (equal, &[0, 2], I1),
        (Op::Cmpi(CmpiPredicate::Slt), &[1, 3], I1),
        (Op::Andi, &[5, 6], I1),
        (Op::Ori, &[4, 7], I1),
        (Op::Select, &[8, 0, 2], value),
        (Op::Select, &[8, 1, 3], I64),
    ];
    UserOperator {
        commutative: true,
        ..user(
            "wins",
            straight(&[value, I64, value, I64], &rows, &[9, 10], &[value, I64]),
        )
    }
}

/// `log(sum exp x)` as pairs: `(max, sum of exp(x - max))`.
pub fn log_sum_exp() -> UserOperator {
    let rows: [(Op, &[Register], ScalarType); 8] = [
        (Op::Maximumf, &[0, 2], F32),
        (Op::Subf, &[0, 4], F32),
        (Op::Exp, &[5], F32),
        (Op::Mulf, &[1, 6], F32),
        (Op::Subf, &[2, 4], F32),
        (Op::Exp, &[8], F32),
        (Op::Mulf, &[3, 9], F32),
        (Op::Addf, &[7, 10], F32),
    ];
    UserOperator {
        commutative: true,
        ..user("lse", straight(&[F32; 4], &rows, &[4, 11], &[F32; 2]))
    }
}

/// `md_hom(id, ..)` of one input with an element for each component's access, all of one type.
pub struct Builder(pub Computation);

impl Builder {
    /// Dense dimensions `d0 = counts[0]`, ...
    pub fn new(counts: &[i64], combines: &[Combine], operators: Vec<Operator>) -> Builder {
        let dimension = |(n, (count, combine)): (usize, (&i64, &Combine))| {
            Dimension::dense(&format!("d{n}"), Some(*count), *combine)
        };
        let pairs = counts.iter().zip(combines).enumerate();
        Builder(Computation {
            dimensions: pairs.map(dimension).collect(),
            inputs: vec![],
            scalar: Code::identity(&[]),
            components: vec![],
            operators,
            carries: vec![],
            outputs: vec![],
        })
    }

    /// One more input, read as the next component.
    pub fn input(mut self, element: ScalarType, shape: &[i64], map: &[Expr]) -> Builder {
        let shape: Vec<Extent> = shape.iter().copied().map(Some).collect();
        let number = self.0.inputs.len();
        let buffer = Buffer::new(&format!("in{number}"), element, &shape);
        self.0.inputs.push(buffer.access(number, map));
        self.0.scalar.inputs.push(element);
        self
    }

    /// The scalar function and the components it returns.
    pub fn scalar(mut self, code: Code) -> Builder {
        self.0.components = code.results.clone();
        self.0.scalar = code;
        self
    }

    /// The scalar function that returns its arguments.
    pub fn id(self) -> Builder {
        let code = Code::identity(&self.0.scalar.inputs);
        self.scalar(code)
    }

    /// One more output, of the next component.
    pub fn output(mut self, element: ScalarType, shape: &[i64], map: &[Expr]) -> Builder {
        let shape: Vec<Extent> = shape.iter().copied().map(Some).collect();
        let number = self.0.outputs.len();
        let buffer = Buffer::new(&format!("out{number}"), element, &shape);
        self.0.outputs.push(buffer.access(number, map));
        self
    }
}

/// `w[i] = sum_k M[i,k] * v[k]`.
pub fn matvec(ty: ScalarType, i: i64, k: i64) -> Computation {
    let (mul, add) = if ty.is_float() {
        (Op::Mulf, Builtin::Addf)
    } else {
        (Op::Muli, Builtin::Addi)
    };
    Builder::new(
        &[i, k],
        &[Combine::Cc, Combine::Pw(0)],
        vec![Operator::Builtin(vec![add])],
    )
    .input(ty, &[i, k], &[d(0), d(1)])
    .input(ty, &[k], &[d(1)])
    .scalar(Code::single(mul, ty))
    .output(ty, &[i], &[d(0)])
    .0
}

/// `s[i,j] = sum of a[p,q] with p <= i, q <= j`.
pub fn summed_area(i: i64, j: i64) -> Computation {
    Builder::new(
        &[i, j],
        &[Combine::Ps(0), Combine::Ps(0)],
        vec![Operator::Builtin(vec![Builtin::Addi])],
    )
    .input(I32, &[i, j], &[d(0), d(1)])
    .id()
    .output(I32, &[i, j], &[d(0), d(1)])
    .0
}

/// A dimension of a random computation: first index, points, step, width; 1 for `pw`, 2 for `ps`, else `cc`.
pub type DrawnDimension = ((i64, i64, i64, i64), i32);

fn operators() -> Vec<(Operator, usize)> {
    use Builtin::*;
    vec![
        (Operator::Builtin(vec![Addi]), 1),
        (Operator::Builtin(vec![Muli, Xori]), 2),
        (Operator::Builtin(vec![Maxsi, Minui, Addi]), 3),
        (Operator::User(arg_max(I64)), 2),
        (Operator::User(first_last()), 2),
        (Operator::User(matrix_product()), 4),
    ]
}

/// A random computation over integers: up to three dimensions, strided and shifted; inputs read `c . p + k`, padded;
/// outputs keep `cc` and `ps` dimensions. `operator` is the number of one of six operators, and `maps` has four
/// coefficients of the index function of each input.
pub fn drawn(dims: Vec<DrawnDimension>, operator: usize, maps: Vec<Vec<i64>>) -> Computation {
    let (operator, arity) = operators().swap_remove(operator % operators().len());
    let mut combined = 0;
    let mut combines = Vec::new();
    for (_, kind) in &dims {
        let free = operator.is_commutative() || combined == 0;
        combines.push(match kind {
            1 if free => Combine::Pw(0),
            2 if free => Combine::Ps(0),
            _ => Combine::Cc,
        });
        combined += usize::from(combines[combines.len() - 1] != Combine::Cc);
    }
    let counts: Vec<i64> = dims.iter().map(|((_, span, ..), _)| *span).collect();
    let mut builder = Builder::new(&counts, &combines, vec![operator]);
    let kept_dims = builder.0.kept();
    for map in maps.iter().take(arity) {
        let sum = (0..dims.len()).fold(Expr::Const(0), |e, n| e + d(n) * map[n]);
        builder = builder.input(I64, &[9], &[sum + map[3]]);
    }
    builder = builder.id();
    let shape: Vec<i64> = kept_dims.iter().map(|n| counts[*n] + 1).collect();
    for _ in 0..arity {
        let map: Vec<_> = kept_dims.iter().map(|n| d(*n)).collect();
        builder = builder.output(I64, &shape, &map);
    }
    let mut c = builder.0;
    for input in &mut c.inputs {
        input.pad = Some(Scalar::from_i64(I64, 3));
        input.origin = vec![Some(-4)];
    }
    for (n, ((lower, span, step, width), _)) in dims.into_iter().enumerate() {
        c.dimensions[n] = Dimension {
            lower: Some(lower),
            upper: Some(lower + span),
            step: Some(step),
            width: Some(width.min(step)),
            ..c.dimensions[n].clone()
        };
        if let Some(axis) = kept_dims.iter().position(|k| *k == n) {
            for output in &mut c.outputs {
                output.origin[axis] = Some(lower);
            }
        }
    }
    c
}
