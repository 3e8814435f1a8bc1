//! Chains, dynamic sizes, memrefs, carries and counts.

use super::*;
use crate::code::{Code, Instruction};
use crate::compare::{compare, sample_points};
use crate::computation::{Carry, Combine, Computation};
use crate::examples::{Builder, arg_max, d, matvec, straight, summed_area};
use crate::op::Op;
use crate::operator::{Builtin, Operator};
use crate::oracle::{Errors, Failure};
use crate::random::Random;
use crate::rules::Rule;
use crate::scalar::{Scalar, ScalarType};
use ScalarType::{F32, I32, I64, Index};

fn tensor(element: ScalarType, shape: &[i64]) -> ArgumentType {
    ArgumentType::Tensor {
        element,
        shape: shape.iter().copied().map(Some).collect(),
    }
}

fn empty(result: ValueId, element: ScalarType, shape: &[i64]) -> Statement {
    Statement::Empty {
        result,
        element,
        shape: shape.iter().copied().map(Some).collect(),
        sizes: vec![],
    }
}

fn compute(
    computation: &Computation,
    inputs: &[ValueId],
    outputs: &[ValueId],
    results: &[ValueId],
) -> Statement {
    Statement::Compute(Box::new(Compute {
        computation: computation.clone(),
        inputs: inputs.to_vec(),
        outputs: outputs.to_vec(),
        carries: vec![],
        bounds: vec![],
        origins: vec![],
        results: results.to_vec(),
    }))
}

fn bytes(ty: ScalarType, values: impl IntoIterator<Item = f64>) -> Vec<u8> {
    let scalars = values.into_iter().map(|v| Scalar::from_f64(ty, v));
    scalars
        .flat_map(|s| s.to_bytes()[..ty.byte_width()].to_vec())
        .collect()
}

fn random_bytes(ty: ScalarType, count: i64, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    bytes(ty, (0..count).map(|_| random.signed_unit()))
}

fn data<'a>(shape: &[i64], bytes: &'a [u8]) -> Argument<'a> {
    Argument::Data {
        shape: shape.to_vec(),
        bytes,
    }
}

fn values(elements: &[crate::oracle::Element]) -> Vec<f64> {
    elements.iter().map(|e| e.value.as_f64()).collect()
}

/// `y[i, j] = exp(x[i, j] - m[i]) / s[i]`, with `m` and `s` computed before.
fn softmax(rows: i64, columns: i64) -> Program {
    let row = |op| {
        Builder::new(
            &[rows, columns],
            &[Combine::Cc, Combine::Pw(0)],
            vec![Operator::Builtin(vec![op])],
        )
        .input(F32, &[rows, columns], &[d(0), d(1)])
    };
    let largest = row(Builtin::Maximumf).id().output(F32, &[rows], &[d(0)]).0;
    let exp: [(Op, &[usize], ScalarType); 2] = [(Op::Subf, &[0, 1], F32), (Op::Exp, &[2], F32)];
    let sum = row(Builtin::Addf)
        .input(F32, &[rows], &[d(0)])
        .scalar(straight(&[F32; 2], &exp, &[3], &[F32]))
        .output(F32, &[rows], &[d(0)])
        .0;
    let scaled: [(Op, &[usize], ScalarType); 3] = [
        (Op::Subf, &[0, 1], F32),
        (Op::Exp, &[3], F32),
        (Op::Divf, &[4, 2], F32),
    ];
    let divided = Builder::new(&[rows, columns], &[Combine::Cc; 2], vec![])
        .input(F32, &[rows, columns], &[d(0), d(1)])
        .input(F32, &[rows], &[d(0)])
        .input(F32, &[rows], &[d(0)])
        .scalar(straight(&[F32; 3], &scaled, &[5], &[F32]))
        .output(F32, &[rows, columns], &[d(0), d(1)])
        .0;
    Program {
        arguments: vec![tensor(F32, &[rows, columns])],
        statements: vec![
            empty(1, F32, &[rows]),
            empty(2, F32, &[rows, columns]),
            compute(&largest, &[0], &[1], &[3]),
            compute(&sum, &[0, 3], &[1], &[4]),
            compute(&divided, &[0, 3, 4], &[2], &[5]),
        ],
        returns: vec![5],
    }
}

fn softmax_in_f32(x: &[f32], columns: usize) -> Vec<f32> {
    let row = |row: &[f32]| {
        let m = row.iter().copied().fold(f32::MIN, f32::max);
        let e: Vec<f32> = row.iter().map(|v| (v - m).exp()).collect();
        // Summed from the other end.
        let s: f32 = e.iter().rev().sum();
        e.into_iter().map(|v| v / s).collect::<Vec<_>>()
    };
    x.chunks(columns).flat_map(row).collect()
}

#[test]
fn a_chain_is_evaluated_whole_and_at_points() {
    // The larger one is too large to be evaluated as a whole for one element's sake.
    for (rows, columns) in [(5, 7), (300, 400)] {
        let shape = [rows, columns];
        let x = random_bytes(F32, rows * columns, 1);
        let program = softmax(rows, columns);
        let instance = program.instantiate(&[data(&shape, &x)]).unwrap();
        assert_eq!(instance.findings(), []);
        let mut reference = Reference::new(&instance, Errors::Bounded);
        let floats: Vec<f32> = (x.chunks(4))
            .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
            .collect();
        let computed = softmax_in_f32(&floats, columns as usize);
        let at =
            |p: &[i64]| Scalar::from_f64(F32, computed[(p[0] * columns + p[1]) as usize].into());
        let points = sample_points(&shape, 1, 60);
        let expected = reference.elements(Target::Return(0), &points).unwrap();
        let report = compare(
            points
                .iter()
                .zip(&expected)
                .map(|(p, e)| (p.clone(), at(p), *e)),
        );
        assert!(report.passed() && report.arbitrary == 0, "{report:?}");
        assert!(expected.iter().all(|e| e.error < 0.1 * e.value.as_f64()));
        let whole = reference.result_elements(Target::Return(0)).unwrap();
        for (p, e) in points.iter().zip(&expected) {
            let same = whole[(p[0] * columns + p[1]) as usize];
            assert!((same.value.as_f64() - e.value.as_f64()).abs() <= e.error);
        }
    }
}

/// `max(0, max over i of the sum of the rows up to i)`: a scan, then a reduction, both long.
#[test]
fn a_long_scan_inside_a_chain_is_walked_once() {
    let n = 100_000;
    let addi = vec![Operator::Builtin(vec![Builtin::Addi])];
    let scan = Builder::new(&[n], &[Combine::Ps(0)], addi)
        .input(I32, &[n], &[d(0) * -1 + (n - 1)])
        .id()
        .output(I32, &[n], &[d(0)])
        .0;
    let maxsi = vec![Operator::Builtin(vec![Builtin::Maxsi])];
    let best = Builder::new(&[n], &[Combine::Pw(0)], maxsi)
        .input(I32, &[n], &[d(0)])
        .id()
        .output(I32, &[], &[])
        .0;
    let program = Program {
        arguments: vec![tensor(I32, &[n])],
        statements: vec![
            empty(1, I32, &[n]),
            compute(&scan, &[0], &[1], &[2]),
            empty(3, I32, &[]),
            compute(&best, &[2], &[3], &[4]),
        ],
        returns: vec![4, 2],
    };
    let x: Vec<i32> = (0..n).map(|i| (i * 7919 % 13) as i32 - 6).collect();
    let mut sum = 0;
    let sums: Vec<i32> = (x.iter().rev())
        .map(|v| {
            sum += v;
            sum
        })
        .collect();
    let bytes: Vec<u8> = x.iter().flat_map(|v| v.to_le_bytes()).collect();
    let instance = program.instantiate(&[data(&[n], &bytes)]).unwrap();
    let mut reference = Reference::new(&instance, Errors::Bounded);
    let elements = reference.elements(Target::Return(0), &[vec![]]).unwrap();
    assert_eq!(
        elements[0].value.as_i64(),
        i64::from(*sums.iter().max().unwrap())
    );
    let mut fresh = Reference::new(&instance, Errors::Bounded);
    let points = sample_points(&[n], 3, 40);
    let elements = fresh.elements(Target::Return(1), &points).unwrap();
    for (p, e) in points.iter().zip(elements) {
        assert_eq!(e.value.as_i64(), i64::from(sums[p[0] as usize]));
    }
}

/// `matvec` with its sizes taken from its arguments.
fn dynamic_matvec() -> Program {
    let mut c = matvec(F32, 1, 1);
    for dimension in &mut c.dimensions {
        dimension.upper = None;
    }
    for buffer in c.inputs.iter_mut().chain(&mut c.outputs) {
        buffer.shape.fill(None);
    }
    let zero = Scalar::from_i64(Index, 0);
    let unit = Scalar::from_i64(Index, 1);
    let dim = |result, axis| Statement::Dim {
        result,
        tensor: 0,
        axis,
    };
    let Statement::Compute(mut matvec) = compute(&c, &[0, 1], &[6], &[7]) else {
        unreachable!()
    };
    matvec.bounds = vec![4, 5];
    Program {
        arguments: vec![
            ArgumentType::Tensor {
                element: F32,
                shape: vec![None, None],
            },
            ArgumentType::Tensor {
                element: F32,
                shape: vec![None],
            },
        ],
        statements: vec![
            Statement::Constant {
                result: 2,
                value: zero,
            },
            Statement::Constant {
                result: 3,
                value: unit,
            },
            dim(4, 2),
            dim(5, 3),
            Statement::Empty {
                result: 6,
                element: F32,
                shape: vec![None],
                sizes: vec![4],
            },
            Statement::Compute(matvec),
        ],
        returns: vec![7],
    }
}

#[test]
fn dynamic_sizes_are_bound_and_checked() {
    let program = dynamic_matvec();
    let shape = |n: &[i64]| Argument::Shape(n.to_vec());
    let instance = program
        .instantiate(&[shape(&[30, 20]), shape(&[20])])
        .unwrap();
    assert_eq!(instance.findings(), []);
    assert_eq!(instance.shape(7), Some(&[30][..]));
    assert_eq!(instance.scalar(5), Some(Scalar::from_i64(Index, 20)));
    assert_eq!(instance.flops(), 600.0 + 570.0);
    assert_eq!(instance.bytes(), 4.0 * (600.0 + 20.0 + 30.0));
    assert_eq!(instance.points(), 600.0);
    let wrong = program
        .instantiate(&[shape(&[30, 20]), shape(&[19])])
        .unwrap();
    let [(5, finding)] = wrong.findings() else {
        panic!("{:?}", wrong.findings());
    };
    assert_eq!(finding.rule, Rule::ReadRange);
    assert!(
        finding.message.contains("reads input 'in1' at 0..20"),
        "{finding}"
    );
    let mut reference = Reference::new(&wrong, Errors::Bounded);
    let refused = reference.result_elements(Target::Return(0)).unwrap_err();
    assert!(matches!(refused, Failure::NotReady(_)));
    // Nothing is read where there is nothing.
    let nothing = program
        .instantiate(&[shape(&[0, 20]), shape(&[3])])
        .unwrap();
    assert_eq!(nothing.findings(), []);
    assert_eq!((nothing.flops(), nothing.bytes()), (0.0, 0.0));
}

#[test]
fn wrong_arguments_are_errors() {
    let program = dynamic_matvec();
    let error = |arguments: &[Argument]| {
        let error = program.instantiate(arguments).unwrap_err();
        (error.statement, error.message)
    };
    let shape = |n: &[i64]| Argument::Shape(n.to_vec());
    assert_eq!(
        error(&[]),
        (None, "0 arguments were given: expected 2".into())
    );
    assert_eq!(
        error(&[shape(&[3]), shape(&[3])]).1,
        "argument 0 has shape 3: expected ?x?"
    );
    assert_eq!(
        error(&[Argument::Scalar(Scalar::zero(F32)), shape(&[3])]).1,
        "argument 0 is a scalar: expected a tensor"
    );
    let few = [0; 8];
    assert_eq!(
        error(&[data(&[1, 3], &few), shape(&[3])]).1,
        "argument 0 has 8 bytes: expected 12"
    );
    assert!(
        error(&[shape(&[i64::MAX, 3]), shape(&[3])])
            .1
            .contains("bytes: expected fewer than 2^63")
    );
}

#[test]
fn undefined_scalars_and_unknown_values_are_errors() {
    let apply = |operands: Vec<ValueId>| Program {
        arguments: vec![ArgumentType::Scalar(Index), ArgumentType::Scalar(Index)],
        statements: vec![Statement::Apply {
            result: 2,
            op: Op::Divsi,
            operands,
            ty: Index,
        }],
        returns: vec![2],
    };
    let arguments = [7, 0].map(|v| Argument::Scalar(Scalar::from_i64(Index, v)));
    let error = apply(vec![0, 1]).instantiate(&arguments).unwrap_err();
    assert_eq!(error.statement, Some(0));
    assert!(error.message.contains("division by zero"));
    let bug = apply(vec![0, 9]).instantiate(&arguments).unwrap_err();
    assert_eq!(bug.message, "bug: value 9 is not defined");
    let fine = apply(vec![1, 0]);
    let instance = fine.instantiate(&arguments).unwrap();
    let mut reference = Reference::new(&instance, Errors::Bounded);
    let results = reference.result_elements(Target::Return(0)).unwrap();
    assert_eq!(values(&results), [0.0]);
}

#[test]
fn memrefs_move_on_and_untouched_elements_stay() {
    // a = [1, 2, 3, 4]; a[2 * i] = b[i]; then c[i] = a[i].
    let store = Builder::new(&[2], &[Combine::Cc], vec![])
        .input(I32, &[2], &[d(0)])
        .id()
        .output(I32, &[4], &[d(0) * 2])
        .0;
    let copy = Builder::new(&[4], &[Combine::Cc], vec![])
        .input(I32, &[4], &[d(0)])
        .id()
        .output(I32, &[5], &[d(0)])
        .0;
    let program = Program {
        arguments: vec![tensor(I32, &[4]), tensor(I32, &[2]), tensor(I32, &[5])],
        statements: vec![
            compute(&store, &[1], &[0], &[0]),
            compute(&copy, &[0], &[2], &[2]),
        ],
        returns: vec![],
    };
    let (a, b) = (bytes(I32, [1.0, 2.0, 3.0, 4.0]), bytes(I32, [8.0, 9.0]));
    let arguments = [data(&[4], &a), data(&[2], &b), Argument::Shape(vec![5])];
    let instance = program.instantiate(&arguments).unwrap();
    let mut reference = Reference::new(&instance, Errors::Bounded);
    let changed = reference.result_elements(Target::Argument(0)).unwrap();
    assert_eq!(values(&changed), [8.0, 2.0, 9.0, 4.0]);
    let copied = reference.result_elements(Target::Argument(2)).unwrap();
    assert_eq!(values(&copied[..4]), [8.0, 2.0, 9.0, 4.0]);
    assert!(copied[4].error.is_infinite(), "never written");
    let read = reference.result_elements(Target::Argument(1)).unwrap();
    assert_eq!(values(&read), [8.0, 9.0]);
    assert!(reference.result_elements(Target::Return(0)).is_err());
}

#[test]
fn constants_fills_casts_and_scalar_operands() {
    let c = Builder::new(&[3], &[Combine::Cc], vec![])
        .input(I32, &[3], &[d(0)])
        .input(I32, &[], &[])
        .scalar(Code::single(Op::Muli, I32))
        .output(I32, &[3], &[d(0)])
        .0;
    let scalar = |v| Scalar::from_i64(I32, v);
    let program = Program {
        arguments: vec![ArgumentType::Scalar(I32)],
        statements: vec![
            Statement::Literal {
                result: 1,
                element: I32,
                shape: vec![3],
                values: [1, 2, 3].map(scalar).into(),
            },
            empty(2, I32, &[3]),
            Statement::Fill {
                result: 3,
                value: 0,
                tensor: 2,
            },
            compute(&c, &[1, 0], &[3], &[4]),
            Statement::Cast {
                result: 5,
                tensor: 4,
                shape: vec![None],
            },
        ],
        returns: vec![5, 3],
    };
    let instance = program.instantiate(&[Argument::Scalar(scalar(7))]).unwrap();
    let mut reference = Reference::new(&instance, Errors::Ignored);
    let results = reference.result_elements(Target::Return(0)).unwrap();
    assert_eq!(values(&results), [7.0, 14.0, 21.0]);
    let filled = reference.result_elements(Target::Return(1)).unwrap();
    assert_eq!(values(&filled), [7.0; 3]);
    assert_eq!(reference.shape(Target::Return(0)).unwrap(), (I32, &[3][..]));
}

#[test]
fn carries_and_valid_bits_are_operands() {
    // The lower half of a scan receives the upper half's last sum.
    let mut c = Builder::new(
        &[2],
        &[Combine::Ps(0)],
        vec![Operator::Builtin(vec![Builtin::Addi])],
    )
    .input(I32, &[2], &[d(0)])
    .id()
    .output(I32, &[2], &[d(0)])
    .0;
    let part = |name: &str| crate::computation::Buffer::new(name, I32, &[]).access(0, &[]);
    c.carries.push(Carry {
        dimension: 0,
        incoming: vec![part("in")],
        has_valid_bit: true,
        outgoing: vec![part("out")],
    });
    let half = |input, valid, incoming, results: [ValueId; 2]| {
        Statement::Compute(Box::new(Compute {
            computation: c.clone(),
            inputs: vec![input],
            outputs: vec![5],
            carries: vec![CarryOperands {
                incoming: vec![incoming],
                valid: Some(valid),
                outgoing: vec![4],
            }],
            bounds: vec![],
            origins: vec![],
            results: results.to_vec(),
        }))
    };
    let bit = |result, b| Statement::Constant {
        result,
        value: Scalar::from_bool(b),
    };
    let program = Program {
        arguments: vec![tensor(I32, &[2]), tensor(I32, &[2])],
        statements: vec![
            bit(2, false),
            bit(3, true),
            empty(4, I32, &[]),
            empty(5, I32, &[2]),
            half(0, 2, 4, [6, 7]),
            half(1, 3, 7, [8, 9]),
        ],
        returns: vec![6, 8, 9],
    };
    let (a, b) = (bytes(I32, [1.0, 2.0]), bytes(I32, [3.0, 4.0]));
    let instance = program
        .instantiate(&[data(&[2], &a), data(&[2], &b)])
        .unwrap();
    let mut reference = Reference::new(&instance, Errors::Bounded);
    let mut whole = |n| values(&reference.result_elements(Target::Return(n)).unwrap());
    assert_eq!(whole(0), [1.0, 3.0]);
    assert_eq!((whole(1), whole(2)), (vec![6.0, 10.0], vec![10.0]));
}

/// True ties of computed values stay ties: the index is exact. Ties of reassociated sums have no
/// right index.
#[test]
fn ties_after_math_functions_and_after_sums() {
    let n = 40;
    let ty = F32;
    let logs = Builder::new(&[2], &[Combine::Cc], vec![])
        .input(ty, &[2], &[d(0)])
        .scalar(Code::single(Op::Log2, ty))
        .output(ty, &[2], &[d(0)])
        .0;
    // weight[j] = logs[j mod 2]
    let mut code = straight(&[ty], &[], &[0, 2], &[ty, I64]);
    code.registers = 3;
    code.body.instructions = vec![
        Instruction::Index {
            result: 1,
            dimension: 0,
        },
        Instruction::Apply {
            result: 2,
            op: Op::IndexCast,
            operands: vec![1],
            ty: I64,
        },
    ];
    let best = Builder::new(&[n], &[Combine::Pw(0)], vec![Operator::User(arg_max(ty))])
        .input(ty, &[2], &[d(0).modulo(2)])
        .scalar(code)
        .output(ty, &[], &[])
        .output(I64, &[], &[])
        .0;
    let sums = matvec(ty, 2, 3);
    let program = |first: &Computation, inputs: &[ValueId]| Program {
        arguments: vec![tensor(ty, &[2]), tensor(ty, &[2, 3]), tensor(ty, &[3])],
        statements: vec![
            empty(3, ty, &[2]),
            compute(first, inputs, &[3], &[4]),
            empty(5, ty, &[]),
            empty(6, I64, &[]),
            compute(&best, &[4], &[5, 6], &[7, 8]),
        ],
        returns: vec![7, 8],
    };
    let x = bytes(ty, [0.3, 0.7]);
    let m = bytes(ty, [0.1, 0.2, 0.3, 0.3, 0.2, 0.1]);
    let ones = bytes(ty, [1.0; 3]);
    let arguments = [data(&[2], &x), data(&[2, 3], &m), data(&[3], &ones)];
    let run = |program: Program| {
        let instance = program.instantiate(&arguments).unwrap();
        let mut reference = Reference::new(&instance, Errors::Bounded);
        [0, 1].map(|n| reference.result_elements(Target::Return(n)).unwrap()[0])
    };
    let [value, index] = run(program(&logs, &[0]));
    assert!(value.error > 0.0 && value.error < 1e-4);
    assert_eq!((index.value.as_i64(), index.error), (1, 0.0));
    let [value, index] = run(program(&sums, &[1, 2]));
    assert!(value.error > 0.0 && value.error < 1e-4);
    assert!(index.error.is_infinite());
}

#[test]
fn counts_of_stencils_scans_and_shared_operands() {
    let counts = |program: Program, arguments: &[Argument]| {
        let instance = program.instantiate(arguments).unwrap();
        (instance.flops(), instance.bytes())
    };
    let mut stencil = Builder::new(&[8], &[Combine::Cc], vec![])
        .input(F32, &[10], &[d(0)])
        .scalar(straight(
            &[F32, F32, F32],
            &[(Op::Addf, &[0, 1], F32), (Op::Addf, &[3, 2], F32)],
            &[4],
            &[F32],
        ))
        .output(F32, &[8], &[d(0)])
        .0;
    let input = stencil.inputs[0].clone();
    stencil.inputs[0] = input.access(1, &[d(0) + 1]).access(2, &[d(0) + 2]);
    let counts_of = |c: &Computation, shapes: &[&[i64]], inputs: &[ValueId], element| {
        let n = shapes.len();
        let arguments = shapes.iter().map(|s| tensor(element, s)).collect();
        let program = Program {
            arguments,
            statements: vec![compute(c, inputs, &[n - 1], &[n])],
            returns: vec![n],
        };
        let shapes: Vec<_> = shapes.iter().map(|s| Argument::Shape(s.to_vec())).collect();
        counts(program, &shapes)
    };
    assert_eq!(counts_of(&stencil, &[&[10], &[8]], &[0], F32), (16.0, 72.0));
    // Each row and each column is added up.
    let table = summed_area(4, 5);
    assert_eq!(
        counts_of(&table, &[&[4, 5], &[4, 5]], &[0], I32),
        (15.0 + 16.0, 160.0)
    );
    let square = Builder::new(&[6], &[Combine::Cc], vec![])
        .input(F32, &[6], &[d(0)])
        .input(F32, &[6], &[d(0) * -1 + 5])
        .scalar(Code::single(Op::Mulf, F32))
        .output(F32, &[6], &[d(0)])
        .0;
    assert_eq!(counts_of(&square, &[&[6], &[6]], &[0, 0], F32), (6.0, 48.0));
}
