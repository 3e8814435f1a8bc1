//! Functions of linalg, scf and tensor evaluated, against numbers found by hand.

use mdh_algebra::oracle::{Element, Errors};
use mdh_algebra::program::{Argument, Reference, Target};
use melior::ir::Module;

use super::*;
use crate::context::program_context;

/// Returns what a function returns for floats of these shapes, or why there is nothing.
fn returned(text: &str, arguments: &[(&[i64], Vec<f32>)]) -> Result<Vec<Vec<Element>>, String> {
    let context = program_context();
    let module = Module::parse(&context, text).expect("a module");
    // SAFETY: the module outlives what is read of it.
    let module_op = unsafe { ir::op_from_raw(module.as_operation().to_raw()) };
    let function = ir::find_all(module_op, &[ops::func::FUNC])[0];
    let translated = translate(function, Depth::Code)
        .map_err(|unknown| format!("'{}' {}", ir::name_of(unknown.op), unknown.message))?;
    let program = translated.program;
    let count = program.all_statements().len();
    assert_eq!(
        count,
        translated.origins.len(),
        "each statement has an origin"
    );
    let bytes: Vec<Vec<u8>> = (arguments.iter())
        .map(|(_, values)| values.iter().flat_map(|v| v.to_le_bytes()).collect())
        .collect();
    let arguments = arguments
        .iter()
        .zip(&bytes)
        .map(|((shape, _), bytes)| Argument::Data {
            shape: shape.to_vec(),
            bytes,
        });
    let arguments: Vec<Argument> = arguments.collect();
    let instance = program.instantiate(&arguments).map_err(|error| {
        let origin = error.statement.map(|s| ir::name_of(translated.origins[s]));
        format!("{origin:?}: {error}")
    })?;
    let mut reference = Reference::new(&instance, Errors::Bounded);
    let results = (0..program.returns.len()).map(|n| {
        let elements = reference.result_elements(Target::Return(n));
        elements.map_err(|failure| failure.to_string())
    });
    results.collect()
}

fn numbers(elements: &[Element]) -> Vec<f64> {
    elements.iter().map(|e| e.value.as_f64()).collect()
}

fn counted(count: usize) -> Vec<f32> {
    (0..count).map(|n| (n * 7 % 11) as f32 - 5.0).collect()
}

/// Against exponentials in `f64`, along an axis in the middle.
#[test]
fn softmax_is_what_it_is_decomposed_into() {
    let text = "func.func @f(%x: tensor<2x?x3xf32>, %o: tensor<2x?x3xf32>) -> tensor<2x?x3xf32> {
      %y = linalg.softmax dimension(1) ins(%x : tensor<2x?x3xf32>) outs(%o : tensor<2x?x3xf32>) -> tensor<2x?x3xf32>
      return %y : tensor<2x?x3xf32>
    }";
    let x = counted(24);
    let results = returned(text, &[(&[2, 4, 3], x.clone()), (&[2, 4, 3], x.clone())]).unwrap();
    let power = |i: usize, j: usize, k: usize| f64::from(x[(i * 4 + j) * 3 + k]).exp();
    for i in 0..2 {
        for j in 0..4 {
            for k in 0..3 {
                let sum: f64 = (0..4).map(|j| power(i, j, k)).sum();
                let element = results[0][(i * 4 + j) * 3 + k];
                let off = (element.value.as_f64() - power(i, j, k) / sum).abs();
                assert!(
                    off <= element.error && element.error < 1e-5,
                    "{off} {element:?}"
                );
            }
        }
    }
}

/// Operations that upstream rewrites: their results, and that the function stays as it is.
#[test]
fn named_operations_are_their_generics() {
    let text = "func.func @f(%x: tensor<2x3xf32>, %w: tensor<3x2xf32>, %o: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x3xf32>, tensor<2xf32>) {
      %y = linalg.matmul ins(%x, %w : tensor<2x3xf32>, tensor<3x2xf32>) outs(%o : tensor<2x2xf32>) -> tensor<2x2xf32>
      %s = arith.addf %x, %x : tensor<2x3xf32>
      %c = arith.constant dense<100.0> : tensor<2xf32>
      %r = linalg.reduce { arith.maximumf } ins(%x : tensor<2x3xf32>) outs(%c : tensor<2xf32>) dimensions = [1]
      return %y, %s, %r : tensor<2x2xf32>, tensor<2x3xf32>, tensor<2xf32>
    }";
    let x = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let w = vec![1.0, 0.0, 0.0, 1.0, 1.0, 1.0];
    let arguments: [(&[i64], Vec<f32>); 3] = [
        (&[2, 3], x),
        (&[3, 2], w),
        (&[2, 2], vec![10.0, 20.0, 30.0, 40.0]),
    ];
    let results = returned(text, &arguments).unwrap();
    assert_eq!(numbers(&results[0]), [14.0, 25.0, 40.0, 51.0]);
    assert_eq!(numbers(&results[1]), [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
    assert_eq!(numbers(&results[2]), [100.0, 100.0]);
    assert!(results[0][0].error > 0.0 && results[1][0].error == 0.0 && results[2][0].error == 0.0);
}

/// A body that reads another tensor, where another tensor says.
#[test]
fn a_body_may_gather() {
    let text = "func.func @f(%x: tensor<4xf32>, %at: tensor<3xf32>) -> tensor<3xf32> {
      %e = tensor.empty() : tensor<3xf32>
      %y = linalg.generic {
        indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
        iterator_types = [\"parallel\"]
      } ins(%at : tensor<3xf32>) outs(%e : tensor<3xf32>) {
      ^bb0(%a: f32, %o: f32):
        %i = linalg.index 0 : index
        %n = arith.fptosi %a : f32 to i32
        %k = arith.index_cast %n : i32 to index
        %v = tensor.extract %x[%k] : tensor<4xf32>
        %j = arith.index_cast %i : index to i32
        %f = arith.sitofp %j : i32 to f32
        %s = arith.addf %v, %f : f32
        linalg.yield %s : f32
      } -> tensor<3xf32>
      return %y : tensor<3xf32>
    }";
    let x = vec![10.0, 20.0, 30.0, 40.0];
    let results = returned(text, &[(&[4], x.clone()), (&[3], vec![3.0, 0.0, 2.0])]).unwrap();
    assert_eq!(numbers(&results[0]), [40.0, 11.0, 32.0]);
    let outside = returned(text, &[(&[4], x), (&[3], vec![3.0, 4.0, 2.0])]).unwrap_err();
    assert!(
        outside.contains("reads at [4], but the tensor has the shape [4]"),
        "{outside}"
    );
}

/// Checks: what an earlier point writes is what a later one reads, where they share memory.
#[test]
fn operands_that_share_memory_go_in_order() {
    let text = "func.func @f(%x: tensor<5xf32>) -> tensor<5xf32> {
      %m = memref.alloc() : memref<5xf32>
      bufferization.materialize_in_destination %x in writable %m : (tensor<5xf32>, memref<5xf32>) -> ()
      %a = memref.subview %m[0] [4] [1] : memref<5xf32> to memref<4xf32, strided<[1]>>
      %b = memref.subview %m[1] [4] [1] : memref<5xf32> to memref<4xf32, strided<[1], offset: 1>>
      linalg.generic {
        indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
        iterator_types = [\"parallel\"]
      } ins(%a : memref<4xf32, strided<[1]>>) outs(%b : memref<4xf32, strided<[1], offset: 1>>) {
      ^bb0(%p: f32, %o: f32):
        %s = arith.addf %p, %o : f32
        linalg.yield %s : f32
      }
      %y = bufferization.to_tensor %m restrict : memref<5xf32> to tensor<5xf32>
      return %y : tensor<5xf32>
    }";
    let results = returned(text, &[(&[5], vec![1.0, 2.0, 3.0, 4.0, 5.0])]).unwrap();
    assert_eq!(numbers(&results[0]), [1.0, 3.0, 6.0, 10.0, 15.0]);
}

#[test]
fn loops_insert_what_they_make_of_what_was_there() {
    // Each iteration sees what was there before all of them.
    let text = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = scf.forall (%i) = (1) to (4) step (1) shared_outs(%o = %x) -> tensor<4xf32> {
        %h = affine.apply affine_map<(i) -> (i - 1)>(%i)
        %s = tensor.extract_slice %o[%h] [1] [1] : tensor<4xf32> to tensor<1xf32>
        scf.forall.in_parallel {
          tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
        }
      }
      return %y : tensor<4xf32>
    }";
    let results = returned(text, &[(&[4], vec![1.0, 2.0, 3.0, 4.0])]).unwrap();
    assert_eq!(numbers(&results[0]), [1.0, 1.0, 2.0, 3.0]);
}

#[test]
fn elements_get_other_places() {
    let text = "func.func @f(%x: tensor<2x3xf32>, %n: tensor<1xf32>) -> (tensor<?x4xf32>, tensor<3x2xf32>, tensor<2x2xf32>, tensor<2x?xf32>) {
      %c2 = arith.constant 2 : index
      %c = arith.constant 7.0 : f32
      %p = tensor.pad %x low[%c2, 0] high[0, 1] {
      ^bb0(%i: index, %j: index):
        tensor.yield %c : f32
      } : tensor<2x3xf32> to tensor<?x4xf32>
      %flat = tensor.collapse_shape %x [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
      %e = tensor.expand_shape %flat [[0, 1]] output_shape [3, 2] : tensor<6xf32> into tensor<3x2xf32>
      %g = tensor.generate {
      ^bb0(%i: index, %j: index):
        %k = arith.muli %i, %c2 : index
        %l = arith.addi %k, %j : index
        %m = arith.index_cast %l : index to i32
        %f = arith.sitofp %m : i32 to f32
        tensor.yield %f : f32
      } : tensor<2x2xf32>
      %h = tensor.concat dim(1) %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
      %k = tensor.cast %h : tensor<2x6xf32> to tensor<2x?xf32>
      return %p, %e, %g, %k : tensor<?x4xf32>, tensor<3x2xf32>, tensor<2x2xf32>, tensor<2x?xf32>
    }";
    let x = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let results = returned(text, &[(&[2, 3], x), (&[1], vec![0.0])]).unwrap();
    let sevens = [7.0; 8];
    let padded = [&sevens[..], &[1.0, 2.0, 3.0, 7.0, 4.0, 5.0, 6.0, 7.0]].concat();
    assert_eq!(numbers(&results[0]), padded);
    assert_eq!(numbers(&results[1]), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(numbers(&results[2]), [0.0, 1.0, 2.0, 3.0]);
    let joined = [1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 4.0, 5.0, 6.0];
    assert_eq!(numbers(&results[3]), joined);
}

#[test]
fn what_the_oracle_does_not_know_is_named() {
    let text = "func.func @f(%x: tensor<?xf32>, %w: tensor<?xf32>, %o: tensor<f32>) -> tensor<f32> {
      %y = linalg.dot ins(%x, %w : tensor<?xf32>, tensor<?xf32>) outs(%o : tensor<f32>) -> tensor<f32>
      return %y : tensor<f32>
    }";
    let arguments: [(&[i64], Vec<f32>); 3] =
        [(&[3], counted(3)), (&[4], counted(4)), (&[], vec![0.0])];
    let refused = returned(text, &arguments).unwrap_err();
    assert!(
        refused.starts_with("Some(\"linalg.dot\"): has operands of extents that do not fit"),
        "{refused}"
    );
}

#[test]
fn what_has_no_body_is_refused() {
    let text = "func.func @f(%x: f32) -> f32 {
      %y = func.call @g(%x) : (f32) -> f32
      return %y : f32
    }
    func.func private @g(f32) -> f32";
    let refused = returned(text, &[(&[], vec![1.0])]).unwrap_err();
    assert!(
        refused.starts_with("'func.call' calls '@g', which is declared only: expected a function"),
        "{refused}"
    );
    let text = "memref.global @g : memref<2xf32>
    func.func @f(%x: tensor<2xf32>) {
      %y = memref.get_global @g : memref<2xf32>
      return
    }";
    let refused = returned(text, &[(&[2], vec![1.0, 2.0])]).unwrap_err();
    assert!(
        refused.starts_with("'memref.get_global' names '@g', which is declared only: expected"),
        "{refused}"
    );
}

/// Padding whose value is made of the index, on both sides.
#[test]
fn padding_may_depend_on_the_index() {
    let text = "func.func @f(%x: tensor<2xf32>) -> tensor<5xf32> {
      %y = tensor.pad %x low[1] high[2] {
      ^bb0(%i: index):
        %j = arith.index_cast %i : index to i32
        %f = arith.sitofp %j : i32 to f32
        tensor.yield %f : f32
      } : tensor<2xf32> to tensor<5xf32>
      return %y : tensor<5xf32>
    }";
    let results = returned(text, &[(&[2], vec![10.0, 20.0])]).unwrap();
    assert_eq!(numbers(&results[0]), [0.0, 10.0, 20.0, 3.0, 4.0]);
}

/// Memory that a function is given twice, beside a variable that keeps what was stored.
#[test]
fn functions_are_given_memory() {
    let text = "memref.global \"private\" @kept : memref<2xf32> = dense<[1.0, 2.0]>
    func.func @f(%x: tensor<3xf32>) -> (tensor<3xf32>, f32) {
      %m = memref.alloc() : memref<3xf32>
      bufferization.materialize_in_destination %x in writable %m : (tensor<3xf32>, memref<3xf32>) -> ()
      %a = func.call @g(%m, %m) : (memref<3xf32>, memref<3xf32>) -> f32
      %b = func.call @g(%m, %m) : (memref<3xf32>, memref<3xf32>) -> f32
      %s = arith.addf %a, %b : f32
      %y = bufferization.to_tensor %m restrict : memref<3xf32> to tensor<3xf32>
      return %y, %s : tensor<3xf32>, f32
    }
    func.func private @g(%p: memref<3xf32>, %q: memref<3xf32>) -> f32 {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %k = memref.get_global @kept : memref<2xf32>
      %u = memref.load %k[%c1] : memref<2xf32>
      memref.store %u, %p[%c0] : memref<3xf32>
      %v = memref.load %q[%c0] : memref<3xf32>
      %w = memref.load %q[%c2] : memref<3xf32>
      %s = arith.addf %v, %w : f32
      memref.store %s, %k[%c1] : memref<2xf32>
      return %s : f32
    }";
    let results = returned(text, &[(&[3], vec![10.0, 20.0, 30.0])]).unwrap();
    assert_eq!(numbers(&results[0]), [32.0, 20.0, 30.0]);
    assert_eq!(numbers(&results[1]), [32.0 + 62.0]);
}

/// Blocks that lead to each other; memory that they carry, seen under other strides.
#[test]
fn memory_is_carried() {
    let text = "func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %m = memref.alloc() : memref<2x3xf32>
      %n = memref.alloc() : memref<3x2xf32>
      bufferization.materialize_in_destination %x in writable %m : (tensor<2x3xf32>, memref<2x3xf32>) -> ()
      %t = memref.transpose %m (i, j) -> (j, i) : memref<2x3xf32> to memref<3x2xf32, strided<[1, 3]>>
      %r = memref.reinterpret_cast %n to offset: [0], sizes: [3, 2], strides: [1, 3] : memref<3x2xf32> to memref<3x2xf32, strided<[1, 3]>>
      memref.copy %t, %r : memref<3x2xf32, strided<[1, 3]>> to memref<3x2xf32, strided<[1, 3]>>
      cf.br ^head(%c0, %t, %r : index, memref<3x2xf32, strided<[1, 3]>>, memref<3x2xf32, strided<[1, 3]>>)
    ^head(%i: index, %p: memref<3x2xf32, strided<[1, 3]>>, %q: memref<3x2xf32, strided<[1, 3]>>):
      %goes = arith.cmpi slt, %i, %c3 : index
      cf.cond_br %goes, ^body, ^end
    ^body:
      %v = memref.load %p[%i, %c1] : memref<3x2xf32, strided<[1, 3]>>
      %w = arith.addf %v, %v : f32
      memref.store %w, %q[%i, %c0] : memref<3x2xf32, strided<[1, 3]>>
      %j = arith.addi %i, %c1 : index
      cf.br ^head(%j, %q, %p : index, memref<3x2xf32, strided<[1, 3]>>, memref<3x2xf32, strided<[1, 3]>>)
    ^end:
      %o = memref.load %q[%c2, %c0] : memref<3x2xf32, strided<[1, 3]>>
      memref.store %o, %m[%c1, %c0] : memref<2x3xf32>
      %y = bufferization.to_tensor %m restrict : memref<2x3xf32> to tensor<2x3xf32>
      return %y : tensor<2x3xf32>
    }";
    let x = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let results = returned(text, &[(&[2, 3], x)]).unwrap();
    // The second iteration goes the other way; in the end `q` is `m`, which has the first row of it still.
    assert_eq!(numbers(&results[0]), [1.0, 10.0, 3.0, 3.0, 5.0, 6.0]);
}
