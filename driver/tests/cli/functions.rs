//! Choice of the function that is run, and the functions that can be.

use crate::support::Session;

#[test]
fn entries() {
    let mut session = Session::new();
    let two = "
func.func @f(%x: f32) -> f32 {
  return %x : f32
}
func.func private @g(%x: f32) -> f32 {
  %y = func.call @f(%x) : (f32) -> f32
  return %y : f32
}
func.func private @sinf(f32) -> f32
";
    session.run(two, "");
    session.run(two, "--entry f");
    session.run(two, "--entry g");
    session.run(two, "--entry h");
    session.run(two, "--entry sinf");

    session.mdh("compile a.mlir --entry h --emit asm");
    session.say("named like the file");
    session.file("g.mlir", two);
    session.mdh("run g.mlir");
    session.say("not those of other modules");
    let modules = "
module {
  module @inner {
    func.func @f() {
      return
    }
  }
  func.func @g() {
    return
  }
}
";
    session.run(modules, "");
    session.run(modules, "--entry f");
    session.say("so many that not all are listed");
    let many: String = (0..1000)
        .map(|n| format!("func.func @f{n}() {{ return }}\n"))
        .collect();
    session.run(&many, "");
    session.run(&many, "--entry f999");
    session.say("names");
    session.run("func.func @\"two words\"() { return }", "");
    session.run("func.func @\"\"() { return }", "");
    session.run("func.func @\"a\\00b\"() { return }", "");
    session.run("func.func @\"\\FF\"() { return }", "");
    session.run("func.func private @nowhere(f32) -> f32\nfunc.func @f(%x: f32) -> f32 {\n  %y = func.call @nowhere(%x) : (f32) -> f32\n  return %y : f32\n}\n", "");
    insta::assert_snapshot!(session.text());
}

/// Nobody is meant to ask for a private function, and what is wrong in a function that is not
/// needed is in nobody's way.
#[test]
fn what_is_not_asked_for() {
    let mut session = Session::new();
    let private = "func.func private @g(%x: f32) -> f32 {\n  return %x : f32\n}\n";
    let public = private.replace("private @g", "@f");
    session.say("the only public one");
    session.run(&format!("{private}{public}"), "");
    session.run(&format!("{private}{public}"), "--entry g");
    session.say("several public ones");
    let third = private.replace("private @g", "@h");
    session.run(&format!("{private}{public}{third}"), "");
    session.say("private ones only");
    session.run(private, "");
    let second = private.replace("@g", "@h");
    session.run(&format!("{private}{second}"), "");
    session.say("a computation that cannot be formed");
    let wrong = "
func.func @wrong(%x: tensor<64xf32>, %init: tensor<64xf32>) -> tensor<64xf32> {
  %p = mdh.inp_view (i = 64) (%x[i] : tensor<64xf32>) : !mdh.mda<64, f32>
  %q = mdh.hom(id, (cc)) %p schedule(#mdh.schedule<layers = [main {i: 4}, core {i: 2}]>)
      : !mdh.mda<64, f32> -> !mdh.mda<64, f32>
  %y = mdh.out_view (i) %q -> (y = %init[i] : tensor<64xf32>) : !mdh.mda<64, f32>
  return %y : tensor<64xf32>
}
";
    session.run(&format!("{wrong}{public}"), "--entry f");
    session.run(&format!("{wrong}{public}"), "--entry wrong");
    session.say("functions that the verifier refuses, and an operator");
    let broken = "
mdh.combine @sum(%a: f32, %b: f32) {
  mdh.yield
}
func.func @broken(%x: tensor<8xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
  %y = mdh.compute (i = 9)
    out_view(y = %init[i] : tensor<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : tensor<8xf32>)
  return %y : tensor<8xf32>
}
func.func @calls(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = func.call @broken(%x, %x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
\"func.func\"() {sym_name = \"none\"} : () -> ()
";
    let program = format!("{}{public}", broken.trim_start());
    session.run(&program, "--entry f");
    session.mdh("compile a.mlir --entry f --emit compute");
    session.run(&program, "--entry calls");
    session.mdh("compile a.mlir --entry calls --emit compute");
    session.run(&program, "--entry none");
    session.say("what cannot be parsed is in the way");
    session.run(
        &format!("{public}func.func @g() {{ nothing }}\n"),
        "--entry f",
    );
    insta::assert_snapshot!(session.text());
}

#[test]
fn unsupported_types() {
    let mut session = Session::new();
    let large = "func.func @f(%x: tensor<4294967296x4294967296xf32>) { return }\n";
    session.run(large, "");
    for ty in [
        "vector<4xf32>",
        "tuple<f32, i32>",
        "tensor<*xf32>",
        "memref<*xf32>",
        "complex<f32>",
        "tensor<4xcomplex<f32>>",
        "tensor<4xvector<2xf32>>",
        "i4",
        "tensor<4xsi32>",
        "i128",
        "f80",
        "tensor<2xf8E5M2>",
        "none",
        "() -> ()",
        "tensor<4xf32, \"e\">",
        "memref<4xf32, 3>",
        "memref<4xf32, affine_map<(i) -> (i floordiv 2)>>",
        "memref<memref<f32>>",
        "!mdh.mda<4, f32>",
        "memref<4xf32, strided<[0]>>",
    ] {
        session.run(
            &format!("func.func @f(%i: index, %x: {ty}) {{\n  return\n}}\n"),
            "",
        );
    }
    session.say("results");
    session.run(
        "func.func @f() -> vector<2xf32> {\n  %x = arith.constant dense<1.0> : vector<2xf32>\n  return %x : vector<2xf32>\n}\n",
        "",
    );
    session.run(
        "func.func @f(%x: memref<4xf32, strided<[2]>>) -> memref<4xf32, strided<[2]>> {\n  return %x : memref<4xf32, strided<[2]>>\n}\n",
        "",
    );
    session.say("what is wrong elsewhere in the file is not in the way");
    session.run(
        "func.func @f() {\n  return\n}\nfunc.func @g(%x: vector<2xf32>) -> vector<2xf32> {\n  return %x : vector<2xf32>\n}\n",
        "--entry f",
    );
    insta::assert_snapshot!(session.text());
}

/// The C library has functions of these names, which compiled code may call.
#[test]
fn names_of_library_functions() {
    let session = Session::new();
    for (function, value) in [
        ("exp", std::f64::consts::E),
        ("tan", 1f64.tan()),
        ("erf", 0.8427007929497149),
    ] {
        let program = format!(
            "func.func @{function}(%x: f64) -> f64 {{\n  %y = math.{function} %x : f64\n  return %y : f64\n}}\n"
        );
        session.file("a.mlir", program);
        let output = session.output(&["run", "a.mlir", "--in", "1", "--out", "y.npy"]);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let computed = f64::from_le_bytes(session.read("y.npy").try_into().unwrap());
        assert!((computed - value).abs() < 1e-12, "{function}: {computed}");
    }
    for name in [
        "malloc",
        "free",
        "main",
        "puts",
        "abort",
        "memrefCopy",
        "_start",
        "mdh.f",
    ] {
        let program = format!(
            "func.func @{name}(%x: memref<4xf32>) -> memref<4xf32> {{\n  \
             %y = memref.alloc() : memref<4xf32>\n  \
             memref.copy %x, %y : memref<4xf32> to memref<4xf32>\n  return %y : memref<4xf32>\n}}\n\
             func.func @f(%x: memref<4xf32>) -> memref<4xf32> {{\n  \
             %y = func.call @{name}(%x) : (memref<4xf32>) -> memref<4xf32>\n  return %y : memref<4xf32>\n}}\n"
        );
        session.file("a.mlir", program);
        session.f32s("x.npy", "(4,)", &[1.0, 2.0, 3.0, 4.0]);
        for entry in [name, "f"] {
            let output = session.output(&[
                "run", "a.mlir", "--entry", entry, "--in", "x.npy", "--out", "y.npy",
            ]);
            assert!(
                output.status.success(),
                "{name}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
            assert_eq!(session.read_f32s("y.npy"), [1.0, 2.0, 3.0, 4.0]);
        }
    }
}
