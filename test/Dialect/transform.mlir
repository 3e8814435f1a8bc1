// The operations that change schedules: each one part, and nothing else. They read and print, also
// in the generic form and as bytecode.
//
// RUN: mdh-opt %s --transform-interpreter | FileCheck %s
// RUN: mdh-opt %s -o %t.text && mdh-opt %t.text | diff - %t.text
// RUN: mdh-opt %s --mlir-print-op-generic | mdh-opt | diff - %t.text
// RUN: mdh-opt %s --emit-bytecode | mdh-opt | diff - %t.text
// RUN: FileCheck %s --check-prefix TEXT --input-file %t.text

module attributes {transform.with_named_sequence} {
  // CHECK-LABEL: func.func @parts(
  // CHECK:      schedule(#mdh.schedule<
  // CHECK-NEXT: {{^ *}}layers = [main {i: *}, core {i: 4, j: 8}, L1 {i: 8, j: 4}]>){{$}}
  func.func @parts(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
    mdh.compute (i = 64, j = 64, k = 64)
      out_view(C = %C[i, j] : memref<64x64xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    return
  }

  // CHECK-LABEL: func.func @order(
  // CHECK:      schedule(#mdh.schedule<
  // CHECK-NEXT: {{^ *}}layers = [main {i: *, k: *}],{{$}}
  // CHECK-NEXT: {{^ *}}decompose = {order: [main.j, main.i, main.k]},{{$}}
  // CHECK-NEXT: {{^ *}}recompose = {order: [main.i, main.j, main.k]}>){{$}}
  func.func @order(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
    mdh.compute (i = 64, j = 64, k = 64)
      out_view(C = %C[i, j] : memref<64x64xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    return
  }

  // CHECK-LABEL: func.func @assign(
  // CHECK:      schedule(#mdh.schedule<
  // CHECK-NEXT: {{^ *}}layers = [main {}, core {i: 2}],{{$}}
  // CHECK-NEXT: {{^ *}}decompose = {assign: {core.i: core.y, core.j: core.x}}>){{$}}
  func.func @assign(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
    mdh.compute (i = 64, j = 64, k = 64)
      out_view(C = %C[i, j] : memref<64x64xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    return
  }

  // CHECK-LABEL: func.func @tile_order(
  // CHECK:      schedule(#mdh.schedule<
  // CHECK-NEXT: {{^ *}}layers = [main {i: *, j: *}, core {i: 4, j: 8}],{{$}}
  // CHECK-NEXT: {{^ *}}tile_order = {layout: "OrderBy(RegP([4,8],[2,1])).GroupBy([4,8])", levels: [core.i, core.j]}>){{$}}
  func.func @tile_order(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
    mdh.compute (i = 64, j = 64, k = 64)
      out_view(C = %C[i, j] : memref<64x64xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    return
  }

  // CHECK-LABEL: func.func @stage(
  // CHECK:      schedule(#mdh.schedule<
  // CHECK-NEXT: {{^ *}}layers = [main {k: 8}, L2 {k: *}],{{$}}
  // CHECK-NEXT: {{^ *}}inputs = {{{$}}
  // CHECK-NEXT: {{^ *}}A: {layout: {main.k: [permuted(2, 1), padded(0, 1)]}, stage: {main.k: L2}},{{$}}
  // CHECK-NEXT: {{^ *}}B: {layout: {main.k: blocked(8, 64)}, stage: {main.k: L2}}}>){{$}}
  func.func @stage(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
    mdh.compute (i = 64, j = 64, k = 64)
      out_view(C = %C[i, j] : memref<64x64xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    return
  }

  // CHECK-LABEL: func.func @stages(
  // CHECK:      schedule(#mdh.schedule<
  // CHECK-NEXT: asm = cuda,
  // CHECK-NEXT: layers = [device {k: *}, shared {k: 16}],
  // CHECK-NEXT: inputs = {A: {stage: {shared.k: shared}, stages: 3}}>){{$}}
  func.func @stages(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
    mdh.compute (i = 64, j = 64, k = 64)
      out_view(C = %C[i, j] : memref<64x64xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    return
  }

  // CHECK-LABEL: func.func @combine(
  // CHECK:      schedule(#mdh.schedule<
  // CHECK-NEXT: {{^ *}}outputs = {C: {combine: {main.k: L2}, layout: {main.k: permuted(2, 1)}}}>){{$}}
  func.func @combine(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
    mdh.compute (i = 64, j = 64, k = 64)
      out_view(C = %C[i, j] : memref<64x64xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    return
  }

  // CHECK-LABEL: func.func @scalar(
  // CHECK:      schedule(#mdh.schedule<
  // CHECK-NEXT: {{^ *}}inputs = {A: {scalar: L2, scalar_layout: row_major}},{{$}}
  // CHECK-NEXT: {{^ *}}outputs = {C: {scalar: L2, scalar_layout: padded(0, 1)}}>){{$}}
  func.func @scalar(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
    mdh.compute (i = 64, j = 64, k = 64)
      out_view(C = %C[i, j] : memref<64x64xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    return
  }

  // CHECK-LABEL: func.func @tails(
  // CHECK:      schedule(#mdh.schedule<
  // CHECK-NEXT: layers = [main {i: *, j: *}, register {i: 2, j: 2}],
  // CHECK-NEXT: {{^ *}}tails = {i: mask, j: mask, k: peel}>){{$}}
  func.func @tails(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
    mdh.compute (i = 64, j = 64, k = 64)
      out_view(C = %C[i, j] : memref<64x64xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    return
  }

  // CHECK-LABEL: func.func @compute_at(
  // CHECK:      schedule(#mdh.schedule<
  // CHECK-NEXT: {{^ *}}compute_at = {consumer: "sum rows", level: main.i}>){{$}}
  func.func @compute_at(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
    mdh.compute (i = 64, j = 64, k = 64)
      out_view(C = %C[i, j] : memref<64x64xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    return
  }

  // CHECK-LABEL: func.func @deterministic(
  // CHECK:      schedule(#mdh.schedule<
  // CHECK-NEXT: {{^ *}}deterministic = true>){{$}}
  func.func @deterministic(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
    mdh.compute (i = 64, j = 64, k = 64)
      out_view(C = %C[i, j] : memref<64x64xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    return
  }

  // CHECK-LABEL: func.func @asm(
  // CHECK:      schedule(#mdh.schedule<
  // CHECK-NEXT: {{^ *}}asm = cpu>){{$}}
  func.func @asm(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
    mdh.compute (i = 64, j = 64, k = 64)
      out_view(C = %C[i, j] : memref<64x64xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    return
  }

  // CHECK-LABEL: func.func @schedule(
  // CHECK:      schedule(#mdh.schedule<
  // CHECK-NEXT: {{^ *}}layers = [main {i: 2}, L2 {i: *}]>){{$}}
  func.func @schedule(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
    mdh.compute (i = 64, j = 64, k = 64)
      out_view(C = %C[i, j] : memref<64x64xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    return
  }

  // By position; the first of two, whose outputs have one name.
  // CHECK-LABEL: func.func @several(
  // CHECK:      inp_view(x =
  // CHECK-NEXT: schedule(#mdh.schedule<
  // CHECK-NEXT: deterministic = true>)
  // CHECK-NOT:  schedule
  // CHECK:      transform.named_sequence
  func.func @several(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) {
    mdh.compute (i = 8) out_view(out = %y[i] : memref<8xf32>) md_hom(id, (cc))
      inp_view(x = %x[i] : memref<8xf32>)
    mdh.compute (i = 8) out_view(out = %z[i] : memref<8xf32>) md_hom(id, (cc))
      inp_view(y = %y[i] : memref<8xf32>)
    return
  }

  // TEXT-LABEL: transform.named_sequence @__transform_main
  // TEXT: transform.mdh.match C in %{{.*}} : (!transform.any_op) -> !transform.any_op
  // TEXT: transform.mdh.parts %[[C:[0-9]+]] core {i: 2} : !transform.any_op
  // TEXT: transform.mdh.parts %[[C]] L1 {i: %{{.*}}, j: %{{.*}}} : !transform.any_op, !transform.param<i64>, !transform.param<i64>
  // TEXT: transform.mdh.parts %[[C]] main {i: *} outside core : !transform.any_op
  // TEXT: transform.mdh.order %{{.*}} decompose [main.j, main.i, main.k] : !transform.any_op
  // TEXT: transform.mdh.assign %{{.*}} decompose {core.i: core.y} : !transform.any_op
  // TEXT: transform.mdh.tile_order %{{.*}} [core.i, core.j] layout "Col([4,8])" : !transform.any_op
  // TEXT: transform.mdh.stage %{{.*}} B at main.k in L2 layout blocked(8, 64) : !transform.any_op
  // TEXT: transform.mdh.stage %{{.*}} A at main.k layout [permuted(2, 1), padded(0, 1)] : !transform.any_op
  // TEXT: transform.mdh.stages %{{.*}} A 3 : !transform.any_op
  // TEXT: transform.mdh.combine %{{.*}} C at main.k in L2 layout permuted(2, 1) : !transform.any_op
  // TEXT: transform.mdh.scalar %{{.*}} input A in L2 : !transform.any_op
  // TEXT: transform.mdh.tails %{{.*}} {i: mask, k: peel} : !transform.any_op
  // TEXT: transform.mdh.compute_at %{{.*}} "sum rows" at main.i : !transform.any_op
  // TEXT: transform.mdh.deterministic %{{.*}} true : !transform.any_op
  // TEXT: transform.mdh.asm %{{.*}} cpu : !transform.any_op
  // TEXT: transform.mdh.schedule %{{.*}}(#mdh.schedule<
  // TEXT-NEXT: layers = [main {i: 2}, L2 {i: *}]>) : !transform.any_op
  // TEXT: transform.mdh.match 0 in %{{.*}} : (!transform.any_op) -> !transform.any_op
  // TEXT: transform.mdh.lower %{{.*}} : !transform.any_op
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %four = transform.param.constant 4 : i64 -> !transform.param<i64>
    %knob = transform.tune.knob<"rows"> = 8 from options = [4, 8] -> !transform.param<i64>

    %parts = transform.structured.match ops{["func.func"]} attributes{sym_name = "parts"} in %root
      : (!transform.any_op) -> !transform.any_op
    %parts_c = transform.mdh.match C in %parts : (!transform.any_op) -> !transform.any_op
    transform.mdh.parts %parts_c core {i: 2} : !transform.any_op
    transform.mdh.parts %parts_c L1 {j: %four, i: %knob} : !transform.any_op, !transform.param<i64>, !transform.param<i64>
    transform.mdh.parts %parts_c main {i: *} outside core : !transform.any_op
    transform.mdh.parts %parts_c core {j: 8, i: 4} : !transform.any_op

    %order = transform.structured.match ops{["func.func"]} attributes{sym_name = "order"} in %root
      : (!transform.any_op) -> !transform.any_op
    %order_c = transform.mdh.match C in %order : (!transform.any_op) -> !transform.any_op
    transform.mdh.parts %order_c main {i: *, k: *} : !transform.any_op
    transform.mdh.order %order_c decompose [main.j, main.i, main.k] : !transform.any_op
    transform.mdh.order %order_c recompose [main.i, main.j, main.k] : !transform.any_op

    %assign = transform.structured.match ops{["func.func"]} attributes{sym_name = "assign"} in %root
      : (!transform.any_op) -> !transform.any_op
    %assign_c = transform.mdh.match C in %assign : (!transform.any_op) -> !transform.any_op
    transform.mdh.parts %assign_c main {} : !transform.any_op
    transform.mdh.parts %assign_c core {i: 2} : !transform.any_op
    transform.mdh.assign %assign_c decompose {core.i: core.y} : !transform.any_op
    transform.mdh.assign %assign_c decompose {core.j: core.x} : !transform.any_op

    %tile_order = transform.structured.match ops{["func.func"]} attributes{sym_name = "tile_order"} in %root
      : (!transform.any_op) -> !transform.any_op
    %tile_order_c = transform.mdh.match C in %tile_order : (!transform.any_op) -> !transform.any_op
    transform.mdh.parts %tile_order_c main {i: *, j: *} : !transform.any_op
    transform.mdh.parts %tile_order_c core {i: 4, j: 8} : !transform.any_op
    transform.mdh.tile_order %tile_order_c [core.i, core.j] layout "Col([4,8])" : !transform.any_op

    %stage = transform.structured.match ops{["func.func"]} attributes{sym_name = "stage"} in %root
      : (!transform.any_op) -> !transform.any_op
    %stage_c = transform.mdh.match C in %stage : (!transform.any_op) -> !transform.any_op
    transform.mdh.parts %stage_c main {k: 8} : !transform.any_op
    transform.mdh.parts %stage_c L2 {k: *} : !transform.any_op
    transform.mdh.stage %stage_c B at main.k in L2 layout blocked(8, 64) : !transform.any_op
    transform.mdh.stage %stage_c A at main.k in L2 : !transform.any_op
    transform.mdh.stage %stage_c A at main.k layout [permuted(2, 1), padded(0, 1)] : !transform.any_op

    %stages = transform.structured.match ops{["func.func"]} attributes{sym_name = "stages"} in %root
      : (!transform.any_op) -> !transform.any_op
    %stages_c = transform.mdh.match C in %stages : (!transform.any_op) -> !transform.any_op
    transform.mdh.asm %stages_c cuda : !transform.any_op
    transform.mdh.parts %stages_c device {k: *} : !transform.any_op
    transform.mdh.parts %stages_c shared {k: 16} : !transform.any_op
    transform.mdh.stage %stages_c A at shared.k in shared : !transform.any_op
    transform.mdh.stages %stages_c A 3 : !transform.any_op

    %combine = transform.structured.match ops{["func.func"]} attributes{sym_name = "combine"} in %root
      : (!transform.any_op) -> !transform.any_op
    %combine_c = transform.mdh.match C in %combine : (!transform.any_op) -> !transform.any_op
    transform.mdh.combine %combine_c C at main.k in L2 layout permuted(2, 1) : !transform.any_op

    %scalar = transform.structured.match ops{["func.func"]} attributes{sym_name = "scalar"} in %root
      : (!transform.any_op) -> !transform.any_op
    %scalar_c = transform.mdh.match C in %scalar : (!transform.any_op) -> !transform.any_op
    transform.mdh.scalar %scalar_c input A in L2 : !transform.any_op
    transform.mdh.scalar %scalar_c input A layout row_major : !transform.any_op
    transform.mdh.scalar %scalar_c output C in L2 layout padded(0, 1) : !transform.any_op

    %tails = transform.structured.match ops{["func.func"]} attributes{sym_name = "tails"} in %root
      : (!transform.any_op) -> !transform.any_op
    %tails_c = transform.mdh.match C in %tails : (!transform.any_op) -> !transform.any_op
    transform.mdh.parts %tails_c main {i: *, j: *} : !transform.any_op
    transform.mdh.parts %tails_c register {i: 2, j: 2} : !transform.any_op
    transform.mdh.tails %tails_c {i: mask, k: peel} : !transform.any_op
    transform.mdh.tails %tails_c {j: mask} : !transform.any_op

    %compute_at = transform.structured.match ops{["func.func"]} attributes{sym_name = "compute_at"} in %root
      : (!transform.any_op) -> !transform.any_op
    %compute_at_c = transform.mdh.match C in %compute_at : (!transform.any_op) -> !transform.any_op
    transform.mdh.compute_at %compute_at_c "sum rows" at main.i : !transform.any_op

    %deterministic = transform.structured.match ops{["func.func"]} attributes{sym_name = "deterministic"} in %root
      : (!transform.any_op) -> !transform.any_op
    %deterministic_c = transform.mdh.match C in %deterministic : (!transform.any_op) -> !transform.any_op
    transform.mdh.deterministic %deterministic_c true : !transform.any_op

    %asm = transform.structured.match ops{["func.func"]} attributes{sym_name = "asm"} in %root
      : (!transform.any_op) -> !transform.any_op
    %asm_c = transform.mdh.match C in %asm : (!transform.any_op) -> !transform.any_op
    transform.mdh.asm %asm_c cpu : !transform.any_op

    %schedule = transform.structured.match ops{["func.func"]} attributes{sym_name = "schedule"} in %root
      : (!transform.any_op) -> !transform.any_op
    %schedule_c = transform.mdh.match C in %schedule : (!transform.any_op) -> !transform.any_op
    transform.mdh.asm %schedule_c cuda : !transform.any_op
    transform.mdh.schedule %schedule_c (#mdh.schedule<layers = [main {i: 2}, L2 {i: *}]>) : !transform.any_op

    %several = transform.structured.match ops{["func.func"]} attributes{sym_name = "several"} in %root
      : (!transform.any_op) -> !transform.any_op
    %first = transform.mdh.match 0 in %several : (!transform.any_op) -> !transform.any_op
    transform.mdh.deterministic %first true {tag = 1} : !transform.any_op
    transform.mdh.lower %first : !transform.any_op
    transform.yield
  }
}
