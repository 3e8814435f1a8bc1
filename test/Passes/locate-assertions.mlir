// Assertions begin with where they are.
//
// RUN: mdh-opt %s --mdh-locate-assertions 2>&1 | FileCheck %s

// CHECK: remark: {{.*}}stays without a place: it has no location in a file

// CHECK-LABEL: func.func @here
// CHECK:       cf.assert %{{.*}}, "{{.*}}locate-assertions.mlir:[[@LINE+2]]:3: error: there is nothing to add"
func.func @here(%ok: i1) {
  cf.assert %ok, "there is nothing to add"
  return
}

// Upstream's begin with a line of no use and end in a location of their own.
// CHECK-LABEL: func.func @upstream
// CHECK:       cf.assert %{{.*}}, "{{.*}}:[[@LINE+2]]:3: error: out-of-bounds access: %0 = memref.load %m[%i] : memref<4xf32>"
func.func @upstream(%ok: i1) {
  cf.assert %ok, "ERROR: Runtime op verification failed\n%0 = memref.load %m[%i] : memref<4xf32>\n^ out-of-bounds access\nLocation: loc(\"a.mlir\":2:6)"
  return
}

// CHECK-LABEL: func.func @nowhere
// CHECK:       cf.assert %{{.*}}, "there is nothing to add"
func.func @nowhere(%ok: i1) {
  cf.assert %ok, "there is nothing to add" loc(unknown)
  return
}

// Refuses nothing: an assertion without a place is as right as one with it.
