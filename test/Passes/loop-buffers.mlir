// What a loop carries from one iteration to the next stays in the loop's memory.
//
// RUN: mdh-opt %s --mdh-loop-buffers --split-input-file --verify-diagnostics | FileCheck %s

// Tensors that change places: the loop carries their memory, and nothing is copied.
// CHECK-LABEL: func.func @steps
// CHECK:       scf.for {{.*}} iter_args(%[[OLD:.*]] = %{{.*}}, %[[NEW:.*]] = %{{.*}}) -> (memref<8xf32>, memref<8xf32>)
// CHECK-NOT:   materialize_in_destination
// CHECK:       scf.yield %{{.*}}, %{{.*}} : memref<8xf32>, memref<8xf32>
func.func @steps(%x: tensor<8xf32>, %y: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z:2 = scf.for %t = %c0 to %n step %c1 iter_args(%old = %x, %new = %y)
      -> (tensor<8xf32>, tensor<8xf32>) {
    %next = mdh.compute (i = 1 to 7)
      out_view(new = %new[i] : tensor<8xf32>)
      md_hom(addf, (cc))
      inp_view(old = %old[i - 1][i + 1] : tensor<8xf32>)
    scf.yield %next, %old : tensor<8xf32>, tensor<8xf32>
  }
  return %z#0 : tensor<8xf32>
}

// -----

// What reads only the element that it writes is where it belongs.
// Silent: nothing has to be moved or copied.
// CHECK-LABEL: func.func @in_place
// CHECK-NOT:   memref
// CHECK-NOT:   copy
// CHECK:       return
func.func @in_place(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = scf.for %t = %c0 to %n step %c1 iter_args(%old = %x) -> (tensor<8xf32>) {
    %next = mdh.compute (i = 8)
      out_view(new = %old[i] : tensor<8xf32>)
      md_hom(addf, (cc))
      inp_view(old = %old[i][i] : tensor<8xf32>)
    scf.yield %next : tensor<8xf32>
  }
  return %z : tensor<8xf32>
}

// -----

// What the loop starts from is in a tensor that holds nothing, which is written again later: in another one.
// CHECK-LABEL: func.func @shared
// CHECK:       %[[OTHER:.*]] = tensor.empty()
// CHECK-NEXT:  %[[MEMORY:.*]] = tensor.empty()
// CHECK:       out_view(d = %[[MEMORY]][i]
// CHECK-NOT:   alloc_tensor
// CHECK:       scf.for
// CHECK:       out_view(m = %[[OTHER]][i]
func.func @shared(%a: tensor<8xf32>, %b: tensor<8xf32>, %n: index) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<8xf32>
  %d = mdh.compute (i = 8)
    out_view(d = %e[i] : tensor<8xf32>)
    md_hom(addf, (cc))
    inp_view(a = %a[i][7 - i] : tensor<8xf32>)
  %r:2 = scf.for %t = %c0 to %n step %c1 iter_args(%x = %d, %y = %b) -> (tensor<8xf32>, tensor<8xf32>) {
    %z = mdh.compute (i = 1 to 7)
      out_view(z = %y[i] : tensor<8xf32>)
      md_hom(addf, (cc))
      inp_view(x = %x[i - 1][i + 1] : tensor<8xf32>)
    scf.yield %z, %x : tensor<8xf32>, tensor<8xf32>
  }
  %m = mdh.compute (i = 8)
    out_view(m = %e[i] : tensor<8xf32>)
    md_hom(addf, (cc))
    inp_view(r = %r#0[i] : tensor<8xf32>, s = %r#1[i] : tensor<8xf32>)
  return %r#1, %m : tensor<8xf32>, tensor<8xf32>
}

// -----

// What is written there later is an argument: the loop starts from a copy.
// CHECK-LABEL: func.func @filled
// CHECK:       %[[D:.*]] = mdh.compute
// CHECK:       %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[D]])
// CHECK-NEXT:  bufferization.to_buffer %[[COPY]]
// CHECK:       linalg.fill
func.func @filled(%a: tensor<8xf32>, %b: tensor<8xf32>, %n: index) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %d = mdh.compute (i = 8)
    out_view(d = %a[i] : tensor<8xf32>)
    md_hom(addf, (cc))
    inp_view(a = %a[i][i] : tensor<8xf32>)
  %r:2 = scf.for %t = %c0 to %n step %c1 iter_args(%x = %d, %y = %b) -> (tensor<8xf32>, tensor<8xf32>) {
    %z = mdh.compute (i = 1 to 7)
      out_view(z = %y[i] : tensor<8xf32>)
      md_hom(addf, (cc))
      inp_view(x = %x[i - 1][i + 1] : tensor<8xf32>)
    scf.yield %z, %x : tensor<8xf32>, tensor<8xf32>
  }
  %m = linalg.fill ins(%zero : f32) outs(%a : tensor<8xf32>) -> tensor<8xf32>
  return %r#1, %m : tensor<8xf32>, tensor<8xf32>
}

// -----

// Both start from one tensor that holds nothing: each from its own.
// CHECK-LABEL: func.func @undefined
// CHECK-DAG:   %[[ONE:.*]] = tensor.empty()
// CHECK-DAG:   %[[OTHER:.*]] = tensor.empty()
// CHECK-DAG:   bufferization.to_buffer %[[ONE]]
// CHECK-DAG:   bufferization.to_buffer %[[OTHER]]
func.func @undefined(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %e = tensor.empty() : tensor<8xf32>
  %r:2 = scf.for %t = %c0 to %c3 step %c1 iter_args(%x = %e, %y = %e) -> (tensor<8xf32>, tensor<8xf32>) {
    %z = mdh.compute (i = 8)
      out_view(z = %y[i] : tensor<8xf32>)
      md_hom(id, (cc))
      inp_view(a = %a[i] : tensor<8xf32>)
    %w = mdh.compute (i = 8)
      out_view(w = %x[i] : tensor<8xf32>)
      md_hom(addf, (cc))
      inp_view(z = %z[i][7 - i] : tensor<8xf32>)
    scf.yield %z, %w : tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Each iteration makes a longer tensor: there is no memory that could be carried out.
func.func @grows(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %l = scf.for %t = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<?xf32>) {
    %size = tensor.dim %a, %c0 : tensor<?xf32>
    %more = arith.addi %size, %c1 : index
    %e = tensor.empty(%more) : tensor<?xf32>
    %next = mdh.compute (k = %more)
      out_view(next = %e[k] : tensor<?xf32>)
      md_hom(id, (cc))
      inp_view(a = %a[k] pad(0.0 : f32) : tensor<?xf32>)
    // expected-error @+1 {{'scf.yield' op carries out a tensor whose size differs from that of the tensor whose place it takes in the next iteration: in axis 0, operand #0 has the size that is what 'arith.addi' gives, and its place the one that the loop carries; expected the same size; give both a static type, or write the result into a tensor that the loop carries}}
    scf.yield %next : tensor<?xf32>
  }
  return %l : tensor<?xf32>
}

// -----

// The condition carries out at #0 what the loop has at #1: the loop has a place for it.
// CHECK-LABEL: func.func @moved
// CHECK:       %[[E:.*]] = tensor.empty() : tensor<4xf32>
// CHECK-NEXT:  scf.while (%{{.*}} = %[[E]], %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : (tensor<4xf32>, index, tensor<4xf32>) -> (tensor<4xf32>, index, tensor<4xf32>)
// CHECK:       ^bb0(%[[A:.*]]: tensor<4xf32>, %{{.*}}: index, %{{.*}}: tensor<4xf32>)
// CHECK:       scf.yield %[[A]], %{{.*}}, %{{.*}} : tensor<4xf32>, index, tensor<4xf32>
func.func @moved(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %l = scf.while (%t = %c0, %a = %x) : (index, tensor<4xf32>) -> tensor<4xf32> {
    %more = arith.cmpi slt, %t, %n : index
    scf.condition(%more) %a : tensor<4xf32>
  } do {
  ^bb0(%a: tensor<4xf32>):
    scf.yield %n, %a : index, tensor<4xf32>
  }
  return %l : tensor<4xf32>
}

// -----

// How large it is, each iteration says.
func.func @unknown(%n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %l = scf.while (%t = %c0) : (index) -> tensor<?xf32> {
    %more = arith.cmpi slt, %t, %n : index
    %u = arith.addi %t, %c1 : index
    %e = tensor.empty(%u) : tensor<?xf32>
    // expected-error @+1 {{'scf.condition' op carries out a tensor of type tensor<?xf32> as #0, where the loop has a value of type index, and its size is not known before the loop: expected the arguments of the loop in their order; carry out all of them, in use or not}}
    scf.condition(%more) %e : tensor<?xf32>
  } do {
  ^bb0(%a: tensor<?xf32>):
    scf.yield %n : index
  }
  return %l : tensor<?xf32>
}

// -----

// Nothing says that the two are of one size: what is copied may not fit, which is asserted.
// CHECK-LABEL: func.func @swapped
// CHECK:       %[[ANY:.*]] = tensor.cast
// CHECK:       %[[SIZE:.*]] = tensor.dim %[[ANY]]
// CHECK:       %[[PLACE:.*]] = tensor.dim %[[A:arg[0-9]+]]
// CHECK:       %[[SAME:.*]] = arith.cmpi eq, %[[SIZE]], %[[PLACE]]
// CHECK-NEXT:  cf.assert %[[SAME]], "a loop carries out a tensor that has another size in axis 0 than the one whose place it takes in the next iteration: expected the same size"
// CHECK-NEXT:  materialize_in_destination %[[ANY]] in %[[A]]
func.func @swapped(%x: tensor<?xf32>, %y: tensor<4xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %l:2 = scf.for %t = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (tensor<?xf32>, tensor<4xf32>) {
    %any = tensor.cast %b : tensor<4xf32> to tensor<?xf32>
    scf.yield %any, %b : tensor<?xf32>, tensor<4xf32>
  }
  return %l#0 : tensor<?xf32>
}
