; What MLIR makes of func.func @matmul(%a, %b, %c : memref<?x?xf32, strided<[?, ?], offset: ?>>)
; with llvm.emit_c_interface, shortened: c[i,j] += a[i,k] * b[k,j].

%memref = type { ptr, ptr, i64, [2 x i64], [2 x i64] }

define void @matmul(%memref %a, %memref %b, %memref %c) {
entry:
  %rows = extractvalue %memref %c, 3, 0
  %columns = extractvalue %memref %c, 3, 1
  %depth = extractvalue %memref %a, 3, 1
  br label %for_i

for_i:
  %i = phi i64 [ 0, %entry ], [ %i1, %next_i ]
  %more_i = icmp slt i64 %i, %rows
  br i1 %more_i, label %for_j, label %exit

for_j:
  %j = phi i64 [ 0, %for_i ], [ %j1, %next_j ]
  %more_j = icmp slt i64 %j, %columns
  br i1 %more_j, label %for_k, label %next_i

for_k:
  %k = phi i64 [ 0, %for_j ], [ %k1, %body ]
  %more_k = icmp slt i64 %k, %depth
  br i1 %more_k, label %body, label %next_j

body:
  %pa = call ptr @element(%memref %a, i64 %i, i64 %k)
  %pb = call ptr @element(%memref %b, i64 %k, i64 %j)
  %pc = call ptr @element(%memref %c, i64 %i, i64 %j)
  %va = load float, ptr %pa
  %vb = load float, ptr %pb
  %vc = load float, ptr %pc
  %product = fmul float %va, %vb
  %sum = fadd float %vc, %product
  store float %sum, ptr %pc
  %k1 = add i64 %k, 1
  br label %for_k

next_j:
  %j1 = add i64 %j, 1
  br label %for_j

next_i:
  %i1 = add i64 %i, 1
  br label %for_i

exit:
  ret void
}

define private ptr @element(%memref %m, i64 %i, i64 %j) {
  %base = extractvalue %memref %m, 1
  %offset = extractvalue %memref %m, 2
  %s0 = extractvalue %memref %m, 4, 0
  %s1 = extractvalue %memref %m, 4, 1
  %o0 = mul i64 %i, %s0
  %o1 = mul i64 %j, %s1
  %o2 = add i64 %o0, %o1
  %o3 = add i64 %o2, %offset
  %p = getelementptr float, ptr %base, i64 %o3
  ret ptr %p
}

define void @_mlir_ciface_matmul(ptr %pa, ptr %pb, ptr %pc) {
  %a = load %memref, ptr %pa
  %b = load %memref, ptr %pb
  %c = load %memref, ptr %pc
  call void @matmul(%memref %a, %memref %b, %memref %c)
  ret void
}
