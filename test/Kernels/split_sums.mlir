// Blocks that share a sum leave parts of it, which a kernel with many threads combines.
// RUN: mdh compile %s --device cuda --emit kernels | FileCheck %s
// RUN: mdh run %s --device sim --random 1 --check --report | FileCheck %s --check-prefix SUMS
// CHECK: gpu.launch
// CHECK: gpu.launch {{.*}} threads({{.*}}) in ({{.*}} = %c256, {{.*}})
// CHECK: mdh.compute (i = {{.*}}, j = {{.*}}, part = 4)
// CHECK-NEXT: out_view(y
// SUMS: 2 launches
// SUMS: no mistakes found
// SUMS: check  passed

func.func @sums(%x: memref<10x100x64xi32>, %y: memref<10x100xi32>) {
  mdh.compute (i = 10, j = 100, k = 64)
    out_view(y = %y[i, j] : memref<10x100xi32>)
    md_hom(id, (cc, cc, pw(addi)))
    inp_view(x = %x[i, j, k] : memref<10x100x64xi32>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [device {k: *}, block {i: *, j: *, k: 4}, thread {i: 4, j: 8}, register {j: 8}],
      decompose = {order: [block.i, block.j, block.k, thread.i, thread.j, device.k, register.j],
        assign: {thread.i: thread.y, thread.j: thread.x, block.i: block.y, block.j: block.z, block.k: block.x}}>)
  return
}
