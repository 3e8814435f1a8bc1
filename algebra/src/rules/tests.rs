//! Every rule, broken: its finding in full.

use super::*;
use crate::affine::Expr;
use crate::bind::Binding;
use crate::code::{Block, Code, Instruction, Op};
use crate::computation::{Access, Buffer, Combine, Dimension, Place};
use crate::operator::{Builtin, Operator, UserOperator};
use crate::scalar::{Scalar, ScalarType};
use ScalarType::{F32, I32, I64};

#[path = "carry_tests.rs"]
mod carry_tests;

fn d(k: usize) -> Expr {
    Expr::Dim(k)
}

/// `w[i] = sum_k M[i,k] * v[k]`.
fn matvec() -> Computation {
    Computation {
        dimensions: vec![
            Dimension::dense("i", Some(8), Combine::Cc),
            Dimension::dense("k", Some(5), Combine::Pw(0)),
        ],
        inputs: vec![
            Buffer::new("M", F32, &[Some(8), Some(5)]).access(0, &[d(0), d(1)]),
            Buffer::new("v", F32, &[Some(5)]).access(1, &[d(1)]),
        ],
        scalar: Code::single(Op::Mulf, F32),
        components: vec![F32],
        operators: vec![Operator::Builtin(vec![Builtin::Addf])],
        carries: vec![],
        outputs: vec![Buffer::new("w", F32, &[Some(8)]).access(0, &[d(0)])],
    }
}

fn user(name: &str) -> UserOperator {
    UserOperator {
        name: name.into(),
        code: Code::single(Op::Subf, F32),
        neutral: None,
        commutative: false,
        associative: true,
    }
}

#[track_caller]
fn finds(computation: &Computation, expected: &[(Rule, &str)]) {
    let findings = check(computation);
    let shown: Vec<_> = findings
        .iter()
        .map(|f| (f.rule.name(), f.message.as_str()))
        .collect();
    let expected: Vec<_> = expected.iter().map(|(r, m)| (r.name(), *m)).collect();
    assert_eq!(shown, expected);
}

#[test]
fn matvec_is_well_defined() {
    finds(&matvec(), &[]);
    assert_eq!(obligations(&matvec()), []);
}

#[test]
fn rule_names() {
    assert_eq!(Rule::ReadRange.name(), "read-range");
    assert_eq!(Rule::EmptyPw.name(), "empty-pw");
}

#[test]
fn differing_operators() {
    let mut c = matvec();
    c.dimensions[0].combine = Combine::Pw(1);
    c.operators.push(Operator::Builtin(vec![Builtin::Mulf]));
    c.outputs = vec![Buffer::new("w", F32, &[]).access(0, &[])];
    finds(
        &c,
        &[(
            Rule::OneOperator,
            "combines dimension 'i' by pw(mulf) and 'k' by pw(addf): expected one operator for \
             all combined dimensions, since with two the result depends on which is combined \
             first; say so by two 'hom's, one after the other",
        )],
    );
    // The same function twice is one operator, also `ps` with `pw`.
    c.operators[1] = c.operators[0].clone();
    c.dimensions[0].combine = Combine::Ps(1);
    finds(
        &c,
        &[(
            Rule::Injective,
            "writes output 'w' at [] twice, from the points (i = 0) and (i = 1): expected each element to be written by one point; use every kept dimension in the index function, or combine the others by 'pw'",
        )],
    );
}

#[test]
fn laws() {
    let mut c = matvec();
    c.operators = vec![Operator::User(UserOperator {
        associative: false,
        ..user("minus")
    })];
    finds(
        &c,
        &[(
            Rule::Associative,
            "combines by '@minus', which is not declared associative: the result must not depend \
             on how the domain is split; declare it 'associative' if it is",
        )],
    );
    c.operators = vec![Operator::User(user("minus"))];
    finds(&c, &[]);
    c.dimensions[0].combine = Combine::Ps(0);
    finds(
        &c,
        &[(
            Rule::Commutative,
            "combines dimensions 'i', 'k' by '@minus', which is not declared commutative: \
             several combined dimensions have no one order; declare it 'commutative' if it is, \
             or combine only one dimension",
        )],
    );
}

#[test]
fn operators_and_types() {
    let mut c = matvec();
    c.operators = vec![Operator::Builtin(vec![Builtin::Addi])];
    finds(
        &c,
        &[(
            Rule::OperatorType,
            "combines component 0 of type f32 by 'addi', which works on integers: did you mean \
             'addf'?",
        )],
    );
    c.operators = vec![Operator::Builtin(vec![Builtin::Andi])];
    assert!(
        check(&c)[0]
            .message
            .contains("convert it in the scalar function")
    );
    c.operators = vec![Operator::Builtin(vec![Builtin::Addf; 2])];
    finds(
        &c,
        &[(
            Rule::OperatorArity,
            "combines a tuple of 1 component by 2 built-in operators: expected one for each \
             component",
        )],
    );
    let mut wrong = user("f");
    wrong.code = Code::single(Op::Addi, I32);
    wrong.neutral = Some(vec![Scalar::zero(I32)]);
    c.operators = vec![Operator::User(wrong)];
    finds(
        &c,
        &[
            (
                Rule::OperatorType,
                "combines a tuple (f32) by '@f', which maps (i32, i32) to (i32): expected (f32, \
                 f32) to (f32)",
            ),
            (
                Rule::Neutral,
                "has operator '@f' with a neutral element of types (i32): expected those of the \
                 tuple, (f32)",
            ),
        ],
    );
    c.operators = vec![];
    assert_eq!(check(&c)[0].rule, Rule::OneOperator);
}

#[test]
fn scalar_functions() {
    let mut c = matvec();
    c.scalar = Code::single(Op::Negf, F32);
    finds(
        &c,
        &[(
            Rule::ScalarInputs,
            "has a scalar function of (f32), but its input accesses read (f32, f32): expected an \
             argument of the element type for each access",
        )],
    );
    c = matvec();
    c.scalar.results = vec![F32, F32];
    finds(
        &c,
        &[(
            Rule::ScalarResults,
            "has a scalar function that returns (f32, f32): expected the tuple that is combined, \
             (f32)",
        )],
    );
    c = matvec();
    c.scalar.body.instructions.push(Instruction::Index {
        result: 0,
        dimension: 2,
    });
    finds(
        &c,
        &[(
            Rule::ScalarIndex,
            "has a scalar function that uses the index of dimension 2, but it has 2 dimensions",
        )],
    );
    c = matvec();
    c.inputs[1].accesses[0].component = 3;
    assert_eq!(check(&c)[0].rule, Rule::InputComponents);
}

#[test]
fn opaque_scalar_functions_are_enough() {
    let mut c = matvec();
    c.scalar.registers = 0;
    c.scalar.body = Block::default();
    finds(&c, &[]);
}

#[test]
fn ranks_and_dimensions() {
    let mut c = matvec();
    c.inputs[0].accesses[0].map.pop();
    c.inputs[1].origin.clear();
    c.outputs[0].accesses[0].map = vec![d(7)];
    finds(
        &c,
        &[
            (
                Rule::AccessRank,
                "accesses input 'M' by 1 index, but it has 2 axes: expected one index for each \
                 axis",
            ),
            (
                Rule::OriginRank,
                "has an origin of 0 indices for input 'v', which has 1 axis: expected one for \
                 each axis",
            ),
            (
                Rule::AccessDimension,
                "accesses output 'w' by dimension 7, but it has 2 dimensions",
            ),
        ],
    );
}

#[test]
fn grids() {
    let mut c = matvec();
    c.dimensions[0].step = Some(0);
    finds(
        &c,
        &[(
            Rule::Grid,
            "has step 0 in dimension 'i': expected at least 1",
        )],
    );
    c.dimensions[0].step = Some(2);
    c.dimensions[0].width = Some(3);
    finds(
        &c,
        &[(
            Rule::Grid,
            "has width 3 and step 2 in dimension 'i': expected a width of at most the step",
        )],
    );
    c.dimensions[0].width = Some(0);
    finds(
        &c,
        &[(
            Rule::Grid,
            "has width 0 in dimension 'i': expected at least 1",
        )],
    );
    c.dimensions[0].width = None;
    assert_eq!(obligations(&c)[0], Obligation::Grid { dimension: 0 });
    c = matvec();
    c.dimensions[0].upper = Some(i64::MAX);
    assert_eq!(check(&c)[0].rule, Rule::Points);
    c = matvec();
    (c.dimensions[1].lower, c.dimensions[1].upper) = (Some(-1), Some(i64::MAX));
    c.dimensions[1].step = Some(1 << 62);
    let findings = check(&c);
    assert_eq!(
        findings[0].rule,
        Rule::Distance,
        "though there are few points"
    );
    assert_eq!(
        findings[0].message,
        "has the bounds -1 and 9223372036854775807 in dimension 'k', which are more than 2^63 - 1 \
         apart: expected bounds that are closer to each other"
    );
    (c.dimensions[1].lower, c.dimensions[1].upper) = (Some(i64::MAX), Some(i64::MIN));
    assert!(check(&c).iter().all(|f| f.rule != Rule::Distance), "empty");
}

#[test]
fn ranges_read() {
    let mut c = matvec();
    c.inputs[1].accesses[0].map = vec![d(1) + -1];
    c.dimensions[1].upper = Some(9);
    c.inputs[0].shape = vec![Some(8), Some(9)];
    finds(
        &c,
        &[(
            Rule::ReadRange,
            "reads input 'v' at -1..8 in axis 0 ('k - 1'), but that has the indices 0..5: \
             enlarge the buffer, shrink the domain, or give the value outside by 'pad(...)'",
        )],
    );
    let mut padded = c.clone();
    padded.inputs[1].pad = Some(Scalar::zero(F32));
    finds(&padded, &[]);
    padded.inputs[1].pad = Some(Scalar::zero(I32));
    finds(
        &padded,
        &[(
            Rule::PadType,
            "pads input 'v' by a value of type i32: expected its element type, f32",
        )],
    );
    let mut moved = c.clone();
    moved.inputs[1].origin = vec![Some(-1)];
    moved.inputs[1].shape = vec![Some(9)];
    finds(&moved, &[]);
    let mut nothing = c;
    nothing.dimensions[0].upper = Some(0);
    finds(&nothing, &[]);
}

#[test]
fn ranges_of_strided_domains_end_at_the_last_point() {
    let mut c = matvec();
    c.dimensions[1].upper = Some(100);
    c.dimensions[1].step = Some(50);
    c.inputs[0].shape = vec![Some(8), Some(51)];
    c.inputs[1].shape = vec![Some(51)];
    finds(&c, &[]);
}

#[test]
fn ranges_written() {
    let mut c = matvec();
    c.outputs[0].accesses[0].map = vec![d(0) * 2];
    c.outputs[0].pad = Some(Scalar::zero(F32));
    finds(
        &c,
        &[
            (
                Rule::PadOnOutput,
                "pads output 'w': only inputs are read outside of themselves; remove the 'pad'",
            ),
            (
                Rule::WriteRange,
                "writes output 'w' at 0..15 in axis 0 ('2 * i'), but that has the indices 0..8: \
                 enlarge the buffer or shrink the domain",
            ),
        ],
    );
}

#[test]
fn modulo_is_enumerated() {
    let mut c = matvec();
    // (3 * k) mod 6 is 0 or 3, never 5.
    c.inputs[1].accesses[0].map = vec![(d(1) * 3).modulo(6)];
    c.inputs[1].shape = vec![Some(4)];
    finds(&c, &[]);
    c.inputs[1].shape = vec![Some(3)];
    assert!(check(&c)[0].message.contains("at 0..4 in axis 0"));
}

#[test]
fn overflowing_indices() {
    let mut c = matvec();
    c.inputs[1].accesses[0].map = vec![d(1) * i64::MAX];
    assert!(check(&c)[0].message.contains("does not fit 64 bits"));
}

#[test]
fn outputs() {
    let mut c = matvec();
    c.outputs[0].accesses[0].map = vec![d(0) + d(1)];
    finds(
        &c,
        &[(
            Rule::PwInOutput,
            "uses dimension 'k' in output 'w', but that is combined point-wise: a 'pw' dimension \
             shrinks to one point, which outputs do not use; drop it from the index function, or \
             combine it by 'cc' or 'ps'",
        )],
    );
    c = matvec();
    c.outputs[0].accesses[0].map = vec![d(0).floor_div(2)];
    finds(
        &c,
        &[(
            Rule::Injective,
            "writes output 'w' at [0] twice, from the points (i = 0) and (i = 1): expected each \
             element to be written by one point; use every kept dimension in the index function, \
             or combine the others by 'pw'",
        )],
    );
    c = matvec();
    c.outputs[0].element = I64;
    c.outputs
        .push(Buffer::new("x", F32, &[Some(8)]).access(0, &[d(0)]));
    c.outputs
        .push(Buffer::new("y", F32, &[Some(8)]).access(1, &[d(0)]));
    finds(
        &c,
        &[
            (
                Rule::StoreType,
                "stores component 0 of type f32 in output 'w' of i64: a store converts floats to \
                 floats and integers to integers only; convert it in the scalar function",
            ),
            (
                Rule::StoredTwice,
                "stores component 0 in 'w' and in 'x': expected one place for each component",
            ),
            (
                Rule::OutputComponent,
                "stores component 1 in output 'y', but its tuple has 1 component",
            ),
        ],
    );
    c = matvec();
    c.outputs.clear();
    finds(&c, &[]);
}

#[test]
fn several_accesses_of_one_output() {
    let mut c = matvec();
    c.components = vec![F32, F32];
    c.scalar = Code::identity(&[F32, F32]);
    c.operators = vec![Operator::Builtin(vec![Builtin::Addf; 2])];
    let access = |component, e: Expr| Access {
        map: vec![e],
        component,
    };
    c.outputs[0].shape = vec![Some(16)];
    c.outputs[0].accesses = vec![access(0, d(0) * 2), access(1, d(0) * 2 + 1)];
    finds(&c, &[]);
    c.outputs[0].accesses[1] = access(1, d(0) + 1);
    let findings = check(&c);
    assert!(
        findings[0]
            .message
            .contains("at [2] twice, from the points (i = 1) and (i = 1) (by accesses 0 and 1)"),
        "{findings:?}"
    );
}

#[test]
fn unknown_sizes_are_owed_and_bound() {
    let mut c = matvec();
    for dimension in &mut c.dimensions {
        dimension.upper = None;
    }
    c.inputs[0].shape = vec![None, None];
    c.inputs[1].shape = vec![None];
    c.inputs[1].origin = vec![None];
    c.outputs[0].shape = vec![None];
    finds(&c, &[]);
    let owed = obligations(&c);
    let range = |place, axis| Obligation::Range {
        place,
        access: 0,
        axis,
    };
    assert_eq!(
        owed,
        [
            Obligation::Points,
            range(Place::Input(0), 0),
            range(Place::Input(0), 1),
            range(Place::Input(1), 0),
            range(Place::Output(0), 0),
        ]
    );
    let binding = |n, k, origin| Binding {
        bounds: vec![n, k],
        shapes: vec![vec![8, 5], vec![5], vec![8]],
        origins: vec![origin],
    };
    let good = c.bind(&binding(8, 5, 0)).unwrap();
    assert_eq!(good, matvec());
    let small = c.bind(&binding(9, 5, 1)).unwrap();
    let rules: Vec<_> = check(&small).into_iter().map(|f| f.rule).collect();
    assert_eq!(rules, [Rule::ReadRange, Rule::ReadRange, Rule::WriteRange]);
    assert_eq!(obligations(&small), []);
}

#[test]
fn bindings_must_fit() {
    let shapes = vec![vec![8, 5], vec![5], vec![8]];
    let bind = |bounds, shapes| {
        let mut c = matvec();
        c.dimensions[0].upper = None;
        let origins = vec![];
        c.bind(&Binding {
            bounds,
            shapes,
            origins,
        })
        .map_err(|e| e.message)
    };
    assert!(bind(vec![8], shapes.clone()).is_ok());
    assert_eq!(
        bind(vec![], shapes.clone()),
        Err("0 bounds were given, but 1 are not known statically".into())
    );
    assert_eq!(
        bind(vec![8], vec![]),
        Err("0 shapes were given for 3 buffers".into())
    );
    assert_eq!(
        bind(vec![8], vec![vec![8, 6], vec![5], vec![8]]),
        Err("buffer 'M' has shape 8x5, but 8x6 was given".into())
    );
}

#[test]
fn all_findings_are_reported() {
    let mut c = matvec();
    c.outputs[0].element = I64;
    c.inputs[1].shape = vec![Some(4)];
    c.scalar.results = vec![];
    assert_eq!(check(&c).len(), 3);
}
