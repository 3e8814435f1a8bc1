//! Results of a run, and its end when the compiled program does not end well.

use serde_json::Value;

use crate::support::{Session, example};

#[test]
fn results_of_every_kind() {
    let mut session = Session::new();
    session.run("func.func @f() {\n  return\n}\n", "");
    let scalars = "
func.func @f(%a: f32, %b: index, %c: i1, %d: f16, %e: bf16, %g: i8, %h: f64)
    -> (i8, f32, index, i1, f16, bf16, i8, f64) {
  return %g, %a, %b, %c, %d, %e, %g, %h : i8, f32, index, i1, f16, bf16, i8, f64
}
";
    session.run(
        scalars,
        "--in 1.5 -7 1 2.5 -0.125 -3 0.1 --check --check-each-step",
    );
    session.run(
        "func.func @f(%x: i1) -> i1 {\n  return %x : i1\n}\n",
        "--in true --check",
    );
    session.say("values of one bit");
    for value in ["1", "0", "false", "2", "-1", "0x1", "yes"] {
        session.mdh(&format!("run a.mlir --in {value}"));
    }
    let mixed = "
func.func @f(%x: f32, %t: tensor<3xi8>) -> (f64, tensor<3xi8>, tensor<i8>, tensor<3xi8>) {
  %y = arith.extf %x : f32 to f64
  %init = tensor.empty() : tensor<i8>
  %sum = mdh.compute (i = 3)
      out_view(sum = %init[] : tensor<i8>)
      md_hom(id, (pw(addi)))
      inp_view(t = %t[i] : tensor<3xi8>)
  return %y, %t, %sum, %t : f64, tensor<3xi8>, tensor<i8>, tensor<3xi8>
}
";
    session.npy("t.npy", "|i1", "(3,)", &[1, 2, 0xfd]);
    session.run(
        mixed,
        "--in 0.5 t.npy --out y.npy a.npy sum.npy b.npy --check --check-each-step",
    );
    assert_eq!(session.read("y.npy"), 0.5f64.to_le_bytes());
    assert_eq!(session.read("sum.npy"), [0]);
    assert_eq!(session.read("a.npy"), session.read("b.npy"));
    let blocks = "
func.func @f(%b: i1) -> (tensor<i32>, i32) {
  cf.cond_br %b, ^yes, ^no
^yes:
  %x = arith.constant dense<1> : tensor<i32>
  %i = arith.constant 10 : i32
  return %x, %i : tensor<i32>, i32
^no:
  %y = arith.constant dense<2> : tensor<i32>
  %j = arith.constant 20 : i32
  return %y, %j : tensor<i32>, i32
}
";
    session.run(blocks, "--in 0 --out x.npy i.npy");
    assert_eq!(session.read("x.npy"), 2i32.to_le_bytes());
    assert_eq!(session.read("i.npy"), 20i32.to_le_bytes());
    session.run(blocks, "--in 0 --check");
    insta::assert_snapshot!(session.text());
}

#[test]
fn arrays_of_every_size() {
    let mut session = Session::new();
    let empty = "
func.func @f(%x: tensor<0x3xf32>, %y: tensor<f32>) -> (tensor<0x3xf32>, tensor<f32>) {
  return %x, %y : tensor<0x3xf32>, tensor<f32>
}
";
    session
        .f32s("x.npy", "(0, 3)", &[])
        .f32s("y.npy", "()", &[7.0]);
    session.run(empty, "--in x.npy y.npy --out a.npy b.npy");
    assert!(session.read("a.npy").is_empty());
    assert_eq!(session.read_f32s("b.npy"), [7.0]);
    session.run(empty, "--check");
    let ranks = "
func.func @f(%x: tensor<1x2x1x2x1x2x1x2xi8>) -> tensor<1x2x1x2x1x2x1x2xi8> {
  return %x : tensor<1x2x1x2x1x2x1x2xi8>
}
";
    session.run(ranks, "");
    insta::assert_snapshot!(session.text());
}

/// The transposed matrix, read and written through memrefs of other layouts.
#[test]
fn layouts() {
    let mut session = Session::new();
    session.f32s("x.npy", "(2, 3)", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    for (from, to) in [
        ("strided<[?, ?], offset: ?>", "strided<[?, ?], offset: ?>"),
        ("strided<[10, 2], offset: 5>", "strided<[?, 3], offset: 1>"),
        ("strided<[1, 2]>", "strided<[7, -2], offset: ?>"),
        ("strided<[-3, 1], offset: 3>", "strided<[1, 4]>"),
        (
            "affine_map<(i, j) -> (5 - 3 * i - j)>",
            "affine_map<(i, j) -> (i + 3 * j + 2)>",
        ),
    ] {
        let program = format!(
            "func.func @f(%x: memref<2x3xf32, {from}>, %y: memref<3x2xf32, {to}>) {{\n  \
             mdh.compute (i = 2, j = 3)\n    out_view(y = %y[j, i] : memref<3x2xf32, {to}>)\n    \
             md_hom(id, (cc, cc))\n    inp_view(x = %x[i, j] : memref<2x3xf32, {from}>)\n  return\n}}\n"
        );
        session.run(
            &program,
            "--in x.npy --out y.npy --check --check-each-step --repeat 2",
        );
        assert_eq!(session.read_f32s("y.npy"), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    }
    session.say("layouts that cannot be");
    for layout in [
        "strided<[3, 0]>",
        "strided<[2, 1]>",
        "strided<[3, -1]>",
        "strided<[9223372036854775807, 1]>",
    ] {
        session.run(
            &format!("func.func @f(%x: memref<2x3xf32, {layout}>) {{\n  return\n}}\n"),
            "",
        );
    }
    insta::assert_snapshot!(session.text());
}

#[test]
fn memrefs_that_are_changed() {
    let mut session = Session::new();
    session.f32s("x.npy", "(2,)", &[1.0, 2.0]);
    let program = "
func.func @f(%x: memref<2xf32>, %y: memref<2xf32>) {
  mdh.compute (i = 2)
      out_view(y = %y[i] : memref<2xf32>)
      md_hom(addf, (cc))
      inp_view(x = %x[i] : memref<2xf32>, reversed = %x[1 - i] : memref<2xf32>)
  memref.copy %y, %x : memref<2xf32> to memref<2xf32>
  return
}
";
    session.run(program, "--in x.npy --out x=x2.npy y=y2.npy --repeat 3");
    assert_eq!(session.read_f32s("y2.npy"), [3.0, 3.0]);
    assert_eq!(session.read_f32s("x2.npy"), [3.0, 3.0]);
    session.say("the order of points would decide");
    let same = "
func.func @f(%x: memref<2xf32>) {
  mdh.compute (i = 2)
      out_view(y = %x[i] : memref<2xf32>)
      md_hom(id, (cc))
      inp_view(x = %x[1 - i] : memref<2xf32>)
  return
}
";
    session.run(same, "--in x.npy");
    insta::assert_snapshot!(session.text());
}

#[test]
fn calls() {
    let mut session = Session::new();
    let program = "
func.func private @scale(%x: tensor<?xf32>, %s: f32) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %init = tensor.empty(%n) : tensor<?xf32>
  %y = mdh.compute (i = %n)
      out_view(y = %init[i] : tensor<?xf32>)
      md_hom(mulf, (cc))
      inp_view(x = %x[i] : tensor<?xf32>, s = %s[] : f32)
  return %y : tensor<?xf32>
}
func.func private @first(%x: tensor<?xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %e = tensor.extract %x[%c0] : tensor<?xf32>
  return %e : f32
}
func.func @main(%x: tensor<4xf32>, %s: f32) -> f32 {
  %any = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
  %y = func.call @scale(%any, %s) : (tensor<?xf32>, f32) -> tensor<?xf32>
  %z = func.call @scale(%y, %s) : (tensor<?xf32>, f32) -> tensor<?xf32>
  %e = func.call @first(%z) : (tensor<?xf32>) -> f32
  return %e : f32
}
";
    session.f32s("x.npy", "(4,)", &[3.0, 0.0, 0.0, 0.0]);
    session.run(program, "--entry main --in x.npy 2 --out e.npy");
    assert_eq!(session.read_f32s("e.npy"), [12.0]);
    session.run(program, "--entry main --in x.npy 2 --check");
    session.run(program, "--entry scale --size i=3");
    insta::assert_snapshot!(session.text());
}

/// A quotient of an element: by zero, or of an element outside.
const DIVIDE: &str = "
func.func @f(%x: memref<4xi32>, %i: index) -> i32 {
  %d = memref.load %x[%i] : memref<4xi32>
  %c1 = arith.constant 1 : i32
  %q = arith.divsi %c1, %d : i32
  return %q : i32
}
";

/// A slice that may be outside.
const SLICE: &str = "
func.func @f(%x: tensor<?xi32>, %i: index) -> tensor<2xi32> {
  %s = tensor.extract_slice %x[%i] [2] [1] : tensor<?xi32> to tensor<2xi32>
  return %s : tensor<2xi32>
}
";

const ASSERTION: &str = "
func.func @f(%x: memref<4xi32>, %b: i1) {
  cf.assert %b, \"there is nothing to do\"
  return
}
";

/// A function that calls itself for ever.
const RECURSION: &str = "
func.func @f(%x: memref<4xi32>) -> i32 {
  %r = func.call @f(%x) : (memref<4xi32>) -> i32
  %s = arith.addi %r, %r : i32
  return %s : i32
}
";

/// A computation in a loop that reads beyond its input.
const RANGE: &str = "
func.func @f(%x: tensor<?xi32>, %n: index, %y: tensor<4xi32>) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%z = %y) -> tensor<4xi32> {
    %w = mdh.compute (i = 4)
        out_view(w = %z[i] : tensor<4xi32>)
        md_hom(id, (cc))
        inp_view(x = %x[i + 1] : tensor<?xi32>)
    scf.yield %w : tensor<4xi32>
  }
  return %r : tensor<4xi32>
}
";

/// Quotients of elements.
const QUOTIENTS: &str = "
func.func @f(%x: tensor<4xi32>, %y: tensor<4xi32>, %z: tensor<4xi32>) -> tensor<4xi32> {
  %r = mdh.compute (i = 4)
      out_view(r = %z[i] : tensor<4xi32>)
      md_hom((%a: i32, %b: i32) { %q = arith.divsi %a, %b : i32 mdh.yield %q : i32 }, (cc))
      inp_view(x = %x[i] : tensor<4xi32>, y = %y[i] : tensor<4xi32>)
  return %r : tensor<4xi32>
}
";

/// The compiled program fails, and says where.
#[test]
fn failures() {
    let mut session = Session::new();
    session.npy("x.npy", "<i4", "(4,)", &[0; 16]);
    session.run(DIVIDE, "--in x.npy 3");
    session.run(&DIVIDE.replace("divsi", "remui"), "--in x.npy 3");
    session.run(DIVIDE, "--in x.npy 4");
    session.run(DIVIDE, "--in x.npy -1");
    session.run(SLICE, "--in x.npy 3");
    session.run(ASSERTION, "--in x.npy 0");
    session.run(RECURSION, "--in x.npy");
    session.run(RANGE, "--in x.npy 2 --random 1");
    session.run(RANGE, "--in x.npy 0 --random 1");
    session.run(QUOTIENTS, "--in x.npy x.npy");
    session.npy("smallest.npy", "<i4", "(4,)", &[0, 0, 0, 128].repeat(4));
    session.npy("minus_one.npy", "<i4", "(4,)", &[255; 16]);
    session.run(QUOTIENTS, "--in smallest.npy minus_one.npy");
    session.run(QUOTIENTS, "--in x.npy minus_one.npy --check");
    session.say("known before the run");
    session.run(QUOTIENTS, "--in x.npy x.npy --check");
    session.run(
        &DIVIDE.replace(
            "memref.load %x[%i] : memref<4xi32>",
            "arith.index_cast %i : index to i32",
        ),
        "--in x.npy 0",
    );
    insta::assert_snapshot!(session.text());
}

/// The keys, in their order, and the kind of each value.
fn schema(value: &Value) -> String {
    match value {
        Value::Null => "null".to_string(),
        Value::Bool(_) => "bool".to_string(),
        Value::Number(n) if n.is_f64() => "float".to_string(),
        Value::Number(_) => "integer".to_string(),
        Value::String(_) => "string".to_string(),
        Value::Array(list) => {
            let items: Vec<String> = list.iter().map(schema).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(map) => {
            let items: Vec<String> = map
                .iter()
                .map(|(k, v)| format!("{k}: {}", schema(v)))
                .collect();
            format!("{{{}}}", items.join(", "))
        }
    }
}

#[test]
fn json() {
    let session = Session::new();
    let run = |arguments: &[&str]| {
        let output = session.output(arguments);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let matmul = run(&[
        "run",
        &example("matmul"),
        "--json",
        "--check",
        "--repeat",
        "3",
    ]);
    insta::assert_snapshot!("json_checked", schema(&matmul));
    assert_eq!(matmul["function"], "matmul");
    assert_eq!(matmul["inputs"][0]["shape"], serde_json::json!([64, 64]));
    assert_eq!(matmul["outputs"][0]["dtype"], "f32");
    assert_eq!(matmul["time_ms"]["runs"], 3);
    let time = |key: &str| matmul["time_ms"][key].as_f64().unwrap();
    assert!(time("min") <= time("median") && time("median") <= time("max"));
    session.file(
        "a.mlir",
        "func.func @\"a \\22 b\"(%x: f32) -> f32 { return %x : f32 }",
    );
    let plain = run(&["run", "a.mlir", "--json"]);
    assert_eq!(plain["function"], "a \" b");
    insta::assert_snapshot!("json_plain", schema(&plain));
}

#[test]
fn repeated_runs() {
    let session = Session::new();
    let run = |count: &str| {
        let output = session.output(&["run", &example("matmul"), "--repeat", count]);
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
        )
    };
    assert!(run("5").1.contains(", 5 runs)"));
    assert!(!run("1").1.contains("runs"));
    for wrong in ["0", "-1", "x", "4294967296"] {
        assert_eq!(run(wrong).0, Some(2), "{wrong}");
    }
}
