// Texts that are no schedules: the error is where the text goes wrong.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expected '<', a schedule and '>' directly after 'schedule'}}
func.func private @f() attributes {s = #mdh.schedule}

// -----
// expected-error @+1 {{found '=', expected a name}}
func.func private @f() attributes {s = #mdh.schedule<asm = cpu, =>}

// -----
func.func private @f() attributes {s = #mdh.schedule<
    asm = cpu,
    // expected-error @+1 {{unknown field `layer`, expected one of `asm`, `layers`}}
    layer = [core {i: 2}]>}

// -----
func.func private @f() attributes {s = #mdh.schedule<
    layers = [core {i: 2},
    // expected-error @+1 {{found "i" twice}}
              main {i: 2, i: 3}]>}

// -----
// expected-error @+1 {{found "a\tb", expected a name without control characters}}
func.func private @f() attributes {s = #mdh.schedule<asm = "a\tb">}

// -----
// expected-error @+1 {{found ',', expected '='}}
func.func private @f() attributes {s = #mdh.schedule<asm, cpu>}

// -----
// expected-error @+1 {{unknown attribute `scedule` in dialect `mdh`}}
func.func private @f() attributes {s = #mdh.scedule<asm = cpu>}

// -----
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
    // expected-error @+1 {{invalid kind of attribute specified}}
    schedule(#mdh.cc)
  return
}
