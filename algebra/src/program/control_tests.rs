//! Slices, loops, branches and elements, against numbers that were found by hand.

use super::*;
use crate::op::Op;
use crate::oracle::Errors;
use crate::scalar::Scalar;
use crate::scalar::ScalarType::{I1, I32, Index as IndexType};

fn evaluated(program: &Program, x: &[i32]) -> Result<Vec<i64>, String> {
    let bytes: Vec<u8> = x.iter().flat_map(|v| v.to_le_bytes()).collect();
    let shape = vec![x.len() as i64];
    let data = Argument::Data {
        shape,
        bytes: &bytes,
    };
    let instance = program.instantiate(&[data]).map_err(|e| e.to_string())?;
    let mut reference = Reference::new(&instance, Errors::Bounded);
    let whole = reference.result_elements(Target::Return(0));
    let whole = whole.map_err(|failure| failure.to_string())?;
    Ok(whole.iter().map(|e| e.value.as_i64()).collect())
}

fn known(n: i64) -> Vec<Index> {
    vec![Index::Known(n)]
}

fn slice(offset: Index, size: i64, stride: i64) -> SliceOperands {
    SliceOperands {
        offsets: vec![offset],
        sizes: known(size),
        strides: known(stride),
        kept: vec![0],
    }
}

fn number(result: ValueId, n: i64) -> Statement {
    Statement::Constant {
        result,
        value: Scalar::from_i64(IndexType, n),
    }
}

fn apply(result: ValueId, op: Op, operands: &[ValueId], ty: ScalarType) -> Statement {
    Statement::Apply {
        result,
        op,
        operands: operands.to_vec(),
        ty,
    }
}

fn program(statements: Vec<Statement>, result: ValueId) -> Program {
    Program {
        arguments: vec![ArgumentType::Tensor {
            element: I32,
            shape: vec![None],
        }],
        statements,
        returns: vec![result],
    }
}

/// The elements from `offset` on go, in steps of 2, into the tensor itself.
fn moved(offset: i64) -> Program {
    program(
        vec![
            Statement::Slice {
                result: 1,
                tensor: 0,
                slice: slice(Index::Known(offset), 3, 1),
            },
            Statement::Insert {
                result: 2,
                part: 1,
                tensor: 0,
                slice: slice(Index::Known(1), 3, 2),
            },
        ],
        2,
    )
}

#[test]
fn a_slice_is_taken_where_it_is_written() {
    let x = [10, 11, 12, 13, 14, 15, 16];
    let right = evaluated(&moved(2), &x).unwrap();
    assert_eq!(right, [10, 12, 12, 13, 14, 14, 16]);
    // A mistaken offset is seen.
    assert_ne!(evaluated(&moved(3), &x).unwrap(), right);
    let beyond = evaluated(&moved(5), &x).unwrap_err();
    assert!(beyond.contains("takes 3 elements from 5"), "{beyond}");
}

/// `for t in 0..3 { part of u at t + 1 = x[t]; u }`, with `u` carried.
#[test]
fn a_loop_carries_tensors() {
    let body = Body {
        statements: vec![
            Statement::Load {
                result: 10,
                tensor: 5,
                indices: vec![4],
            },
            Statement::Apply {
                result: 11,
                op: Op::Addi,
                operands: vec![4, 2],
                ty: IndexType,
            },
            Statement::Insert {
                result: 12,
                part: 10,
                tensor: 5,
                slice: SliceOperands {
                    kept: vec![],
                    ..slice(Index::Value(11), 1, 1)
                },
            },
        ],
        yields: vec![12],
    };
    let statements = vec![
        number(1, 0),
        number(2, 1),
        number(3, 3),
        Statement::For(Box::new(For {
            lower: 1,
            upper: 3,
            step: 2,
            index: 4,
            initial: vec![0],
            carried: vec![5],
            body,
            results: vec![6],
        })),
    ];
    // What the first iteration stores is what the second one reads.
    let elements = evaluated(&program(statements, 6), &[7, 1, 2, 3, 4]).unwrap();
    assert_eq!(elements, [7, 7, 7, 7, 4]);
}

/// Checks: what goes into a part of a memref is in the memref, and in every other part that meets it.
#[test]
fn parts_of_a_memref_are_the_memref() {
    let part = |result, offset, size| Statement::Alias {
        result,
        memref: 0,
        slice: Some(slice(Index::Known(offset), size, 1)),
    };
    let statements = vec![
        part(1, 0, 3),
        part(2, 2, 2),
        Statement::Constant {
            result: 3,
            value: Scalar::from_i64(I32, 9),
        },
        Statement::Fill {
            result: 1,
            value: 3,
            tensor: 1,
        },
    ];
    let elements_of =
        |result| evaluated(&program(statements.clone(), result), &[1, 2, 3, 4]).unwrap();
    assert_eq!(elements_of(2), [9, 4]);
    assert_eq!(elements_of(0), [9, 9, 9, 4]);
}

#[test]
fn an_element_that_is_not_certain_decides_nothing() {
    let statements = vec![
        Statement::Empty {
            result: 1,
            element: I1,
            shape: vec![],
            sizes: vec![],
        },
        Statement::Load {
            result: 2,
            tensor: 1,
            indices: vec![],
        },
        Statement::If(Box::new(If {
            condition: 2,
            branches: Default::default(),
            results: vec![],
        })),
    ];
    let error = evaluated(&program(statements, 0), &[1]).unwrap_err();
    assert!(error.contains("leaves open what it is"), "{error}");
}

/// `x[2] = x[0]`, of memrefs, and then once more through a part of it: `x[1 + 2 * at] = x[0]`.
fn stored(at: i64) -> Program {
    let mut it = program(
        vec![
            number(1, 0),
            number(2, 2),
            number(3, at),
            Statement::Load {
                result: 4,
                tensor: 0,
                indices: vec![1],
            },
            Statement::Store {
                result: 0,
                value: 4,
                tensor: 0,
                indices: vec![2],
            },
            Statement::Alias {
                result: 5,
                memref: 0,
                slice: Some(slice(Index::Known(1), 2, 2)),
            },
            Statement::Store {
                result: 5,
                value: 4,
                tensor: 5,
                indices: vec![3],
            },
        ],
        0,
    );
    it.statements.push(Statement::Load {
        result: 6,
        tensor: 0,
        indices: vec![2],
    });
    it
}

#[test]
fn an_element_is_stored_where_it_is_written() {
    let x = [5, 6, 7, 8];
    assert_eq!(evaluated(&stored(1), &x).unwrap(), [5, 6, 5, 5]);
    assert_eq!(evaluated(&stored(0), &x).unwrap(), [5, 5, 5, 8]);
    for at in [-1, 2] {
        let beyond = evaluated(&stored(at), &x).unwrap_err();
        let text = format!("writes at [{at}], but the tensor has the shape [2]");
        assert!(beyond.contains(&text), "{beyond}");
    }
}

/// Counts up as long as the element at the count is not 0, and marks the place.
fn counted(step: i64) -> Program {
    let zero = Scalar::from_i64(I32, 0);
    let before = Body {
        statements: vec![
            Statement::Load {
                result: 11,
                tensor: 0,
                indices: vec![10],
            },
            apply(
                12,
                Op::from_mlir("arith.cmpi", Some(1)).unwrap(),
                &[11, 3],
                I1,
            ),
        ],
        yields: vec![12, 10],
    };
    let after = Body {
        statements: vec![apply(
            21,
            Op::from_mlir("arith.addi", None).unwrap(),
            &[20, 2],
            IndexType,
        )],
        yields: vec![21],
    };
    program(
        vec![
            number(1, 0),
            number(2, step),
            Statement::Constant {
                result: 3,
                value: zero,
            },
            Statement::While(Box::new(While {
                initial: vec![1],
                before_carried: vec![10],
                before,
                after_carried: vec![20],
                after,
                results: vec![30],
            })),
            Statement::Store {
                result: 0,
                value: 3,
                tensor: 0,
                indices: vec![1],
            },
        ],
        30,
    )
}

#[test]
fn a_loop_goes_on_as_long_as_its_condition_holds() {
    assert_eq!(evaluated(&counted(1), &[5, 6, 7, 0, 8, 0]).unwrap(), [3]);
    assert_eq!(evaluated(&counted(1), &[0, 6]).unwrap(), [0]);
    assert_eq!(evaluated(&counted(2), &[5, 0, 7, 0, 0]).unwrap(), [4]);
    let beyond = evaluated(&counted(1), &[5, 6]).unwrap_err();
    assert!(beyond.contains("reads at [2]"), "{beyond}");
    // One that does not end is given up, and says which it is: the statement of the loop.
    let bytes = 1i32.to_le_bytes();
    let data = Argument::Data {
        shape: vec![1],
        bytes: &bytes,
    };
    let endless = counted(0).instantiate_within(&[data], 100_000).unwrap_err();
    assert_eq!((endless.statement, endless.is_too_long), (Some(3), true));
}

/// `for i in lower..n { x[i] = x[i - 1] + x[i] }` on memory, where the value 1 is the number 0, and 2 is 1.
fn prefix_sums(lower: ValueId) -> Program {
    let load = |result, at| Statement::Load {
        result,
        tensor: 0,
        indices: vec![at],
    };
    let body = Body {
        statements: vec![
            apply(5, Op::Subi, &[4, 2], IndexType),
            load(6, 5),
            load(7, 4),
            apply(8, Op::Addi, &[6, 7], I32),
            Statement::Store {
                result: 0,
                value: 8,
                tensor: 0,
                indices: vec![4],
            },
        ],
        yields: vec![],
    };
    let statements = vec![
        number(1, 0),
        number(2, 1),
        Statement::Dim {
            result: 3,
            tensor: 0,
            axis: 1,
        },
        Statement::For(Box::new(For {
            lower,
            upper: 3,
            step: 2,
            index: 4,
            initial: vec![],
            carried: vec![],
            body,
            results: vec![],
        })),
    ];
    program(statements, 0)
}

/// Checks: what an iteration stores is what the next one loads. The loop is followed however long it is, and not
/// beyond a limit that is asked for.
#[test]
fn a_long_loop_of_stores_is_followed() {
    let n = 300_000;
    let program = prefix_sums(2);
    let x: Vec<i32> = (0..n).map(|i| i % 7 - 3).collect();
    let mut sum = 0;
    let sums: Vec<i64> = (x.iter())
        .map(|v| {
            sum += i64::from(*v);
            sum
        })
        .collect();
    assert_eq!(evaluated(&program, &x).unwrap(), sums);
    let data = Argument::Shape(vec![i64::from(n)]);
    let short = program.instantiate_within(&[data], 1000).unwrap_err();
    assert!(short.is_too_long && short.statement == Some(3), "{short:?}");
    assert!(
        short.message.contains("more than 1000 iterations"),
        "{short}"
    );
    // One place further is outside.
    let message = evaluated(&prefix_sums(1), &x[..4]).unwrap_err();
    assert!(
        message.contains("reads at [-1], but the tensor has the shape [4]"),
        "{message}"
    );
}

/// A loop that carries scalars, branches, and writes through other names of parts of a memref.
#[test]
fn a_plain_loop_writes_through_other_names() {
    let part = Statement::Alias {
        result: 1,
        memref: 0,
        slice: Some(slice(Index::Known(1), 3, 2)),
    };
    let store = |value, tensor, at| Statement::Store {
        result: tensor,
        value,
        tensor,
        indices: vec![at],
    };
    let body = Body {
        statements: vec![
            Statement::Load {
                result: 7,
                tensor: 0,
                indices: vec![5],
            },
            Statement::Apply {
                result: 8,
                op: Op::Addi,
                operands: vec![6, 7],
                ty: I32,
            },
            Statement::Alias {
                result: 9,
                memref: 1,
                slice: Some(slice(Index::Value(5), 1, 1)),
            },
            store(8, 9, 2),
        ],
        yields: vec![8],
    };
    let statements = vec![
        number(2, 0),
        number(3, 1),
        number(4, 3),
        Statement::Constant {
            result: 10,
            value: Scalar::from_i64(I32, 100),
        },
        part,
        Statement::For(Box::new(For {
            lower: 2,
            upper: 4,
            step: 3,
            index: 5,
            initial: vec![10],
            carried: vec![6],
            body,
            results: vec![11],
        })),
        store(11, 0, 2),
    ];
    // 100 + 1, then + 101 (what was stored at 1), then + 3: at 1, 3 and 5, and the last one at 0.
    let elements = evaluated(&program(statements, 0), &[1, 2, 3, 4, 5, 6, 7]).unwrap();
    assert_eq!(elements, [205, 101, 3, 202, 5, 205, 7]);
}
