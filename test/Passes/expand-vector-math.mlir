// RUN: mdh-opt %s --mdh-expand-vector-math --cse --split-input-file --verify-diagnostics | FileCheck %s

// The exponential of all lanes: an integer n and a rest r, a polynomial of r, and 2^n in two
// factors, so that small results are rounded once.
// CHECK-LABEL: func.func @exponential
// CHECK-SAME:    (%[[X:.*]]: vector<16xf32>)
// CHECK:         %[[LEAST:.*]] = arith.constant dense<-1.040000e+02> : vector<16xf32>
// CHECK:         arith.cmpf olt, %[[X]], %[[LEAST]]
// CHECK:         %[[MOST:.*]] = arith.constant dense<8.900000e+01> : vector<16xf32>
// CHECK:         %[[IN:.*]] = arith.select %{{.*}}, %[[MOST]], %{{.*}} : vector<16xi1>, vector<16xf32>
// CHECK:         %[[MOVED:.*]] = math.fma %[[IN]], %{{.*}}, %[[SHIFT:.*]] : vector<16xf32>
// CHECK:         %[[N:.*]] = arith.subf %[[MOVED]], %[[SHIFT]]
// CHECK:         arith.bitcast %[[MOVED]] : vector<16xf32> to vector<16xi32>
// CHECK:         %[[REST:.*]] = math.fma %[[N]], %{{.*}}, %[[IN]]
// CHECK:         %[[R:.*]] = math.fma %[[N]], %{{.*}}, %[[REST]]
// CHECK-COUNT-4: math.fma %{{.*}}, %[[R]], %{{.*}}
// CHECK:         arith.mulf %[[R]], %[[R]]
// CHECK:         arith.shrsi
// CHECK-COUNT-2: arith.shli
// CHECK:         arith.mulf
// CHECK:         %[[Y:.*]] = arith.mulf
// CHECK-NEXT:    return %[[Y]]
func.func @exponential(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp %x : vector<16xf32>
  return %y : vector<16xf32>
}

// -----

// Angles that are so large that parts of pi do not do are reduced by the digits of 2/pi, if there are any.
// CHECK-LABEL: func.func @angle
// CHECK-NOT:     math.sin
// CHECK:         %[[ANY:.*]] = vector.reduction <or>, %{{.*}} : vector<4xi1> into i1
// CHECK:         %[[REST:.*]]:3 = scf.if %[[ANY]] -> (vector<2x2xi64>, vector<2x2xf64>, vector<2x2xf64>)
// CHECK-COUNT-2:   arith.mului_extended %{{.*}} : vector<2x2xi64>
// CHECK:         else
// CHECK-NOT:       arith.mului_extended
// CHECK:         }
// CHECK:         arith.mulf %[[REST]]#1, %[[REST]]#1
func.func @angle(%x: vector<2x2xf64>) -> vector<2x2xf64> {
  %y = math.sin %x : vector<2x2xf64>
  return %y : vector<2x2xf64>
}

// -----

// Narrow floats are computed as wider ones, powers as much wider ones.
// CHECK-LABEL: func.func @narrow
// CHECK:         arith.extf %{{.*}} : vector<8xbf16> to vector<8xf32>
// CHECK:         arith.truncf %{{.*}} : vector<8xf32> to vector<8xbf16>
// CHECK:         arith.extf %{{.*}} : vector<8xf32> to vector<8xf64>
// CHECK:         arith.truncf %{{.*}} : vector<8xf64> to vector<8xf32>
func.func @narrow(%x: vector<8xbf16>, %y: vector<8xf32>) -> (vector<8xbf16>, vector<8xf32>) {
  %a = math.log %x : vector<8xbf16>
  %b = math.powf %y, %y : vector<8xf32>
  return %a, %b : vector<8xbf16>, vector<8xf32>
}

// -----

// What the machine does for all lanes, scalars, and vectors of any length stay.
// CHECK-LABEL: func.func @stays
// CHECK:         math.sqrt %{{.*}} : vector<4xf32>
// CHECK:         math.exp %{{.*}} : f32
// CHECK:         math.exp %{{.*}} : vector<[4]xf32>
// CHECK-NEXT:    return
func.func @stays(%x: vector<4xf32>, %y: f32, %z: vector<[4]xf32>)
    -> (vector<4xf32>, f32, vector<[4]xf32>) {
  %a = math.sqrt %x : vector<4xf32>
  %b = math.exp %y : f32
  // expected-remark @+1 {{stays: found vector<[4]xf32>, expected a number of lanes that is known}}
  %c = math.exp %z : vector<[4]xf32>
  return %a, %b, %c : vector<4xf32>, f32, vector<[4]xf32>
}

// -----

// Integer exponents lane by lane.
// CHECK-LABEL: func.func @each
// CHECK-COUNT-2: math.fpowi %{{.*}}, %{{.*}} fastmath<nnan> : f32, i32
// CHECK-NOT:     math.fpowi
func.func @each(%x: vector<2xf32>, %n: vector<2xi32>) -> vector<2xf32> {
  %a = math.fpowi %x, %n fastmath<nnan> : vector<2xf32>, vector<2xi32>
  return %a : vector<2xf32>
}

// -----

// Functions of two operands, of angles too, and powers of the widest floats.
// CHECK-LABEL: func.func @two
// CHECK-NOT:     math.atan2
// CHECK-NOT:     math.powf
// CHECK:         return
func.func @two(%x: vector<2xf32>, %y: vector<2xf64>) -> (vector<2xf32>, vector<2xf64>) {
  %a = math.atan2 %x, %x : vector<2xf32>
  %b = math.powf %y, %y : vector<2xf64>
  return %a, %b : vector<2xf32>, vector<2xf64>
}

// Refuses nothing: what it does not expand becomes calls, lane by lane.
