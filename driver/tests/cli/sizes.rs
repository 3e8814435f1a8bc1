//! `--size`, and sizes that are too large.

use crate::support::{Session, example};

const SUM: &str = "
func.func @sum(%x: tensor<?xf32>, %n: index) -> tensor<f32> {
  %init = tensor.empty() : tensor<f32>
  %s = mdh.compute (i = %n, j = 2)
      out_view(s = %init[] : tensor<f32>)
      md_hom(id, (pw(addf), pw(addf)))
      inp_view(x = %x[i + 3 * j] : tensor<?xf32>)
  return %s : tensor<f32>
}
";

#[test]
fn names_and_numbers() {
    let mut session = Session::new();
    session.file("a.mlir", SUM.trim_start());
    for sizes in [
        "i=5",
        "i=5 j=2",
        "i=0",
        "j=3",
        "k=5",
        "i=5 i=5",
        "i=5 --size i=6",
        "i=-1",
        "i=x",
        "i",
        "=5",
        "i=9223372036854775808",
        "",
    ] {
        session.mdh(&format!("run a.mlir --size {sizes}"));
    }
    session.f32s("x.npy", "(8,)", &[1.0; 8]);
    session.mdh("run a.mlir --in x.npy 5 --size i=5");
    session.mdh("run a.mlir --in x.npy 5 --size i=6");
    session.mdh("run a.mlir --in x.npy 6");
    session.mdh("run a.mlir --in x.npy --size i=6 --random 1");
    session.mdh("run a.mlir --in x.npy -3");
    session.say("names are listed once, in their order");
    let mirrored = "
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %a = mdh.compute (j = 4)
      out_view(a = %y[j] : tensor<4xf32>)
      md_hom(id, (cc))
      inp_view(x = %x[3 - j] : tensor<4xf32>)
  %b = mdh.compute (j = 2, i = 2)
      out_view(b = %y[j + 2 * i] : tensor<4xf32>)
      md_hom(id, (cc, cc))
      inp_view(a = %a[2 * j + i] : tensor<4xf32>)
  return %b : tensor<4xf32>
}
";
    session.run(mirrored, "--size k=5");
    session.run("func.func @f() {\n  return\n}\n", "--size k=5");
    insta::assert_snapshot!(session.text());
}

#[test]
fn what_files_say() {
    let mut session = Session::new();
    session.f32s("M.npy", "(2, 3)", &[1.0; 6]);
    session.f32s("v.npy", "(3,)", &[1.0; 3]);
    let matvec = example("matvec");
    for arguments in [
        "--in M=M.npy --random 1",
        "--in M=M.npy --random 1 --size k=7",
        "--in M=M.npy --random 1 --size k=3",
        "--in v=v.npy --random 1",
        "--in v=v.npy --random 1 --size i=4 k=3",
        "--in v=v.npy --random 1 --size i=4 k=4",
    ] {
        std::fs::copy(&matvec, session.path("matvec.mlir")).unwrap();
        session.mdh(&format!("run matvec.mlir {arguments}"));
    }
    insta::assert_snapshot!(session.text());
}

/// A message names what the size depends on, and what gives it.
#[test]
fn what_is_missing() {
    let program = |dimension: &str, access: &str| {
        format!(
            "func.func @f(%x: tensor<?xf32>, %a: index, %b: index) -> tensor<f32> {{
  %init = tensor.empty() : tensor<f32>
  %s = mdh.compute ({dimension})
      out_view(s = %init[] : tensor<f32>)
      md_hom(id, (pw(addf)))
      inp_view(x = %x{access} : tensor<?xf32>)
  return %s : tensor<f32>
}}\n"
        )
    };
    let mut session = Session::new();
    let range = program("i = %a to %b", "[i]");
    session.run(&range, "");
    session.run(&range, "--size i=9");
    session.run(&range, "--in a=2 --random 1");
    session.run(&range, "--in a=2 --random 1 --size i=9");
    let steps = program("i = 9 step %a width %b", "[i]");
    session.run(&steps, "");
    session.run(&steps, "--in a=3 b=2 --random 1");
    session.say("steps and widths that cannot be");
    session.run(&steps, "--in a=0 b=1 --random 1");
    session.run(&steps, "--in a=2 b=3 --random 1");
    session.run(&steps, "--in a=2 b=0 --random 1");
    session.run(&program("i = %b step %a", "[i]"), "--in a=-2 --random 1");
    session.say("what no dimension says");
    session.run(&program("i = 9", "[i] origin(%a)"), "");
    session.run(&program("i = 9", "[i] pad(0.0 : f32)"), "");
    let element = "
func.func @f(%x: tensor<?xf32>, %i: index) -> f32 {
  %e = tensor.extract %x[%i] : tensor<?xf32>
  return %e : f32
}
";
    session.run(element, "");
    insta::assert_snapshot!(session.text());
}

/// Any size is right for what no computation uses.
#[test]
fn unused_arguments() {
    let mut session = Session::new();
    let unused = "
func.func @f(%x: tensor<?x3xf32>, %y: memref<?xf32>, %z: tensor<4xf32>) -> (tensor<4xf32>, index) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x3xf32>
  %init = tensor.empty() : tensor<4xf32>
  %s = mdh.compute (i = 4)
      out_view(s = %init[i] : tensor<4xf32>)
      md_hom(id, (cc))
      inp_view(z = %z[i] : tensor<4xf32>)
  return %s, %n : tensor<4xf32>, index
}
";
    session.run(unused, "--check");
    session.f32s("x.npy", "(2, 3)", &[0.0; 6]);
    session.run(unused, "--in x=x.npy --random 0");
    session.say("an extent that bounds a dimension is one that is used");
    let used = "
func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %init = tensor.empty() : tensor<f32>
  %s = mdh.compute (i = %n)
      out_view(s = %init[] : tensor<f32>)
      md_hom(id, (pw(addf)))
      inp_view(y = %y[i] : tensor<?xf32>)
  return %s : tensor<f32>
}
";
    session.run(used, "");
    session.run(used, "--size i=5");
    session.f32s("y.npy", "(4,)", &[0.0; 4]);
    session.run(used, "--in y=y.npy --random 1");
    insta::assert_snapshot!(session.text());
}

/// A view may read a part of a buffer. Where files make it so, that may be a mistake.
#[test]
fn inputs_of_different_extents() {
    let mut session = Session::new();
    session.f32s("M.npy", "(2, 5)", &[1.0; 10]);
    session.f32s("five.npy", "(5,)", &[1.0; 5]);
    session.f32s("six.npy", "(6,)", &[1.0; 6]);
    std::fs::copy(example("matvec"), session.path("matvec.mlir")).unwrap();
    session.mdh("run matvec.mlir --in M=M.npy v=six.npy");
    session.mdh("run matvec.mlir --in M=M.npy v=five.npy");
    session.say("of one size, shifted, padded: no two extents that should be the same");
    let shifted = "
func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<?xf32>, %n: index) -> tensor<f32> {
  %init = tensor.empty() : tensor<f32>
  %s = mdh.compute (i = %n)
      out_view(s = %init[] : tensor<f32>)
      md_hom((%a: f32, %b: f32, %c: f32) {
        %ab = arith.addf %a, %b : f32
        %abc = arith.addf %ab, %c : f32
        mdh.yield %abc : f32
      }, (pw(addf)))
      inp_view(x = %x[i] : tensor<?xf32>, y = %y[i + 1] : tensor<?xf32>,
               z = %z[i] pad(0.0 : f32) : tensor<?xf32>)
  return %s : tensor<f32>
}
";
    session.f32s("two.npy", "(2,)", &[1.0; 2]);
    session.run(shifted, "--in five.npy six.npy two.npy 4");
    insta::assert_snapshot!(session.text());
}

/// A bound that a program computes from a scalar says how large an array has to be.
#[test]
fn computed_bounds() {
    let mut session = Session::new();
    for bound in [
        "arith.addi %n, %c2",
        "arith.subi %n, %c2",
        "arith.muli %n, %c2",
        "arith.minsi %n, %c2",
        "arith.maxsi %n, %c2",
        "arith.divsi %n, %c2",
        "arith.divui %n, %c2",
        "arith.floordivsi %n, %c2",
        "arith.remsi %n, %c2",
    ] {
        let program = format!(
            "func.func @f(%x: tensor<?xf32>, %n: index) -> tensor<f32> {{
  %init = tensor.empty() : tensor<f32>
  %c2 = arith.constant 2 : index
  %m = {bound} : index
  %s = mdh.compute (i = %m)
      out_view(s = %init[] : tensor<f32>)
      md_hom(id, (pw(addf)))
      inp_view(x = %x[i] : tensor<?xf32>)
  return %s : tensor<f32>
}}\n"
        );
        session.say(bound);
        session.run(&program, "--in n=5 --random 1");
    }
    session.say("numbers that have no quotient");
    let program = std::fs::read_to_string(session.path("a.mlir")).unwrap();
    let divided = program.replace("remsi %n, %c2", "divsi %c2, %n");
    session.run(&divided, "--in n=0 --random 1");
    session.run(&divided, "--in n=-1 --random 1");
    session.say("an integer of 32 bits");
    let cast = program
        .replace("%n: index", "%k: i32")
        .replace("remsi %n, %c2 : index", "index_cast %k : i32 to index");
    session.run(&cast, "--in k=5 --random 1");
    insta::assert_snapshot!(session.text());
}

/// A size that is given for a bound which a program computes says what it is computed from.
#[test]
fn sizes_of_computed_bounds() {
    let mut session = Session::new();
    for bound in [
        "arith.addi %n, %c2",
        "arith.subi %n, %c2",
        "arith.subi %c9, %n",
        "arith.muli %c2, %n",
        "arith.minsi %n, %c9",
        "arith.maxsi %c2, %n",
        "arith.divsi %n, %c2",
        "arith.divui %n, %c2",
        "arith.floordivsi %n, %c2",
        "arith.ceildivsi %n, %c2",
        "arith.ceildivui %n, %c2",
        "arith.remsi %n, %c9",
        "arith.subi %n, %k",
        "arith.addi %n, %n",
    ] {
        let program = computed(bound);
        session.say(bound);
        session.run(&program, "--size i=6 --size j=2 --check");
    }
    session.say("what is not possible");
    session.run(&computed("arith.muli %c2, %n"), "--size i=5 --size j=2");
    session.run(&computed("arith.minsi %n, %c2"), "--size i=5 --size j=2");
    session.run(&computed("arith.subi %c2, %n"), "--size i=5 --size j=2");
    session.run(&computed("arith.subi %n, %k"), "--size i=5");
    session.say("what is known from elsewhere");
    session.f32s("x.npy", "(8,)", &[1.0; 8]);
    let difference = computed("arith.subi %n, %c2");
    session.run(&difference, "--in x=x.npy --random 1 --size i=6");
    session.run(&difference, "--in x=x.npy --random 1 --size i=5");
    insta::assert_snapshot!(session.text());
}

/// Sums of neighbours, whose number follows from the extents of two arrays.
fn computed(bound: &str) -> String {
    format!(
        "func.func @f(%x: tensor<?xf32>, %z: tensor<?xf32>) -> tensor<?x?xf32> {{
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c9 = arith.constant 9 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %k = tensor.dim %z, %c0 : tensor<?xf32>
  %m = {bound} : index
  %init = tensor.empty(%m, %k) : tensor<?x?xf32>
  %s = mdh.compute (i = %m, j = %k)
      out_view(s = %init[i, j] : tensor<?x?xf32>)
      md_hom(mulf, (cc, cc))
      inp_view(x = %x[i] pad(0.0 : f32) : tensor<?xf32>, z = %z[j] : tensor<?xf32>)
  return %s : tensor<?x?xf32>
}}\n"
    )
}

/// Checks: where the views of an array say how large it is, they do.
#[test]
fn sizes_of_stencils() {
    let mut session = Session::new();
    let blur = example("blur").replace("examples/blur", "scripts/demos/blur");
    std::fs::copy(blur, session.path("blur.mlir")).unwrap();
    session.mdh("run blur.mlir");
    session.mdh("run blur.mlir --size y=6");
    session.mdh("run blur.mlir --size y=6 x=3 --check");
    insta::assert_snapshot!(session.text());
}

/// Each step uses the one before it twice. That is not followed to the end, which would not come.
#[test]
fn bounds_of_many_steps() {
    let steps: String = (1..64)
        .map(|n| format!("  %m{n} = arith.maxsi %m{0}, %m{0} : index\n", n - 1))
        .collect();
    let program = SUM
        .replace("%n: index", "%m0: index")
        .replace("  %init", &format!("{steps}  %init"))
        .replace("i = %n", "i = %m63");
    let mut session = Session::new();
    session.run(&program, "--in m0=5 --size i=7 --random 1");
    let text = session.text();
    assert!(text.contains(" 10xf32 "), "{text}");
}

#[test]
fn empty_dimensions() {
    let mut session = Session::new();
    for (name, size) in [
        ("dot", "i"),
        ("matvec", "i"),
        ("matvec", "k"),
        ("scan", "i"),
    ] {
        std::fs::copy(example(name), session.path("a.mlir")).unwrap();
        session.mdh(&format!("run a.mlir --size {size}=0 --check"));
    }
    insta::assert_snapshot!(session.text());
}

/// Neither starts: both numbers are known before.
#[test]
fn memory() {
    let mut session = Session::new();
    for name in ["dot", "matvec", "scan"] {
        std::fs::copy(example(name), session.path("a.mlir")).unwrap();
        session.mdh("run a.mlir --size i=10000000000000");
        session.mdh("run a.mlir --size i=4611686018427387904");
        session.mdh("run a.mlir --size i=9223372036854775807");
    }
    session.mdh("run a.mlir --size i=9223372036854775807 --check");
    std::fs::copy(example("matvec"), session.path("a.mlir")).unwrap();
    session.mdh("run a.mlir --size i=10000000 k=10000000");
    session.mdh("run a.mlir --size i=4294967296 k=4294967296");
    session.say("a result that is larger than all arguments");
    let outer = "
func.func @outer(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %init = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = mdh.compute (i = %m, j = %n)
      out_view(r = %init[i, j] : tensor<?x?xf32>)
      md_hom(mulf, (cc, cc))
      inp_view(x = %x[i] : tensor<?xf32>, y = %y[j] : tensor<?xf32>)
  return %r : tensor<?x?xf32>
}
";
    session.run(outer, "--size i=10000000 j=10000000");
    insta::assert_snapshot!(session.text());
}

/// Ten million points run.
#[test]
fn large() {
    let session = Session::new();
    for name in ["dot", "scan", "map", "reduce"] {
        let output = session.output(&["run", &example(name), "--size", "i=10000000", "--check"]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        // Not all of them are of any size.
        let is_fixed = text.contains("--size cannot make it");
        assert!(output.status.success() || is_fixed, "{name}: {text}");
    }
}
