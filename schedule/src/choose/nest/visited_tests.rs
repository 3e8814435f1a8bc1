//! Shares of triangles.

use super::*;
use crate::asm::Asm;
use crate::choose::block::Block;
use crate::choose::facts::Facts;
use crate::choose::views::Views;
use mdh_algebra::code::{CmpiPredicate, Code, Instruction, Op};
use mdh_algebra::computation::{Combine, Computation};
use mdh_algebra::examples::matvec;
use mdh_algebra::scalar::{Scalar, ScalarType};

/// `sum of k <= i ? M[i, k] * v[k] : 0` over k.
fn triangular(i: i64, k: i64) -> Computation {
    let mut computation = matvec(ScalarType::F32, i, k);
    let apply = |result, op, operands: &[usize], ty| Instruction::Apply {
        result,
        op,
        operands: operands.to_vec(),
        ty,
    };
    let (f32, value) = (ScalarType::F32, Scalar::zero(ScalarType::F32));
    computation.scalar = Code {
        registers: 8,
        ..computation.scalar
    };
    computation.scalar.body.instructions = vec![
        apply(2, Op::Mulf, &[0, 1], f32),
        Instruction::Index {
            result: 3,
            dimension: 0,
        },
        Instruction::Index {
            result: 4,
            dimension: 1,
        },
        Instruction::Constant { result: 5, value },
        apply(6, Op::Cmpi(CmpiPredicate::Sle), &[4, 3], ScalarType::I1),
        apply(7, Op::Select, &[6, 2, 5], f32),
    ];
    computation.scalar.body.yields = vec![7];
    computation
}

/// Of two halves of the rows of a triangle, one has three quarters of it; of many parts, each core has
/// about half.
#[test]
fn the_busiest_core_counts() {
    let computation = triangular(1024, 1024);
    let asm = Asm::builtin("cpu").expect("it is built in");
    let facts = Facts {
        cores: 2,
        ..Facts::new(&asm).expect("it has cores")
    };
    let views = Views::new(&computation);
    let block = Block::candidates(&views, &facts, 1).remove(0);
    let search = Search::new(&computation, &facts, &views, &block);
    let near = |visits: Visits, share: f64| (visits.points - share).abs() < 0.03;
    let half = search.visits(&[(0, 2)]);
    assert!(near(half, 0.75) && half.parts == 1.0, "{half:?}");
    let many = search.visits(&[(0, 16)]);
    assert!(
        near(
            Visits {
                points: many.points / 8.0,
                ..many
            },
            0.53
        ),
        "{many:?}"
    );
    assert!(near(search.visits(&[]), 0.5));
    assert_eq!(computation.dimensions[1].combine, Combine::Pw(0));
    let plain = matvec(ScalarType::F32, 1024, 1024);
    let search = Search::new(&plain, &facts, &views, &block);
    assert_eq!(search.visits(&[(0, 2)]).points, 1.0);
    assert_eq!(search.shares(0), [[(0, 2)]]);
}
