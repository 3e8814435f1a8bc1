//! Schedules from files, and their two spellings.

use crate::support::Session;

const SCALED: &str = "\
func.func @scaled(%x: tensor<8xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
  %y = mdh.compute (i = 8)
    out_view(y = %init[i] : tensor<8xf32>)
    md_hom(addf, (cc))
    inp_view(x = %x[i][i] : tensor<8xf32>)
  return %y : tensor<8xf32>
}
";

const TWO: &str = "\
func.func @sums(%x: tensor<8x4xi32>, %init: tensor<8xi32>, %one: tensor<i32>) -> tensor<i32> {
  %y = mdh.compute (i = 8, k = 4)
    out_view(y = %init[i] : tensor<8xi32>)
    md_hom(id, (cc, pw(addi)))
    inp_view(x = %x[i, k] : tensor<8x4xi32>)
  %z = mdh.compute (i = 8)
    out_view(z = %one[] : tensor<i32>)
    md_hom(id, (pw(maxsi)))
    inp_view(y = %y[i] : tensor<8xi32>)
  return %z : tensor<i32>
}
";

const PLAN: &str = "{\n  \"asm\": \"cpu\",\n  \"layers\": [{\"core\": {\"i\": 2}}, {\"main\": {\"i\": \"*\"}}]\n}\n";

fn session(program: &str, plan: &str) -> Session {
    let session = Session::new();
    session.file("a.mlir", program).file("s.json", plan);
    session
}

#[test]
fn runs_and_compiles() {
    let mut session = session(SCALED, PLAN);
    session.mdh("run a.mlir --schedule s.json --check");
    session.mdh("compile a.mlir --schedule s.json --emit compute");
    session.mdh("compile a.mlir --schedule s.json --emit mdh");
    session.mdh("compile a.mlir --schedule none.json --emit compute");
    insta::assert_snapshot!(session.text());
}

#[test]
fn several_computations() {
    let mut session = session(TWO, PLAN);
    session.mdh("run a.mlir --schedule s.json");
    for key in ["z", "1", "2", "x"] {
        let plan = "{\"computations\": {\"KEY\": {\"layers\": [{\"core\": {\"i\": 8}}]}}}";
        session.file("s.json", plan.replace("KEY", key));
        session
            .say(key)
            .mdh("compile a.mlir --schedule s.json --emit compute");
    }
    session.say("One of two: printed so that it can be given again.");
    session.file("s.json", "{\"computations\": {\"z\": {\"asm\": \"cpu\"}}}");
    session.shell("$MDH compile a.mlir --schedule s.json --emit compute -o b.mlir");
    session.shell("$MDH schedule b.mlir --to json | tee t.json");
    session.mdh("run b.mlir --schedule t.json --check");
    session.file("s.json", "{\"computations\": {\"y\": {}, \"y\": {}}}");
    session.mdh("run a.mlir --schedule s.json");
    insta::assert_snapshot!(session.text());
}

/// Positions count within a function: what `mdh schedule` prints, `--schedule` takes.
#[test]
fn several_functions() {
    let second = TWO.replace(
        "%y[i] : tensor<8xi32>)\n  return",
        "%y[i] : tensor<8xi32>)\n    schedule(#mdh.schedule<asm = cpu>)\n  return",
    );
    let mut session = session(&format!("{SCALED}{second}"), PLAN);
    session.mdh("schedule a.mlir --to json");
    session.mdh("schedule a.mlir --to json --entry scaled");
    session.shell("$MDH schedule a.mlir --to json --entry sums | tee t.json");
    session.mdh("run a.mlir --entry sums --schedule t.json");
    insta::assert_snapshot!(session.text());
}

#[test]
fn wrong_files() {
    let mut session = session(SCALED, PLAN);
    for plan in [
        "{\n  \"layer\": []\n}",
        "{\n  \"layers\": [{\"core\": {\"i\": \"two\"}}]\n}",
        "{\"layers\": [",
        "asm = cpu,\nlayers = {}",
        "{\"layers\": [{\"core\": {\"i\": 2, \"k\": 2}}], \"inputs\": {\"A\": {}}}",
        "{\"layers\": [{\"grid\": {\"i\": 2}}]}",
        "{\"asm\": \"gpu\"}",
        "{\"computations\": {\"y\": {\"layer\": []}}}",
    ] {
        session.file("s.json", plan);
        session.mdh("run a.mlir --schedule s.json");
    }
    insta::assert_snapshot!(session.text());
}

#[test]
fn spellings() {
    let mut session = session(SCALED, PLAN);
    session.shell("$MDH schedule s.json --to attr | tee s.attr");
    session.shell("$MDH schedule s.attr --to json | diff - <($MDH schedule s.json --to json)");
    session.mdh("schedule a.mlir --to json");
    session.shell("$MDH compile a.mlir --schedule s.attr --emit compute -o b.mlir");
    session.mdh("schedule b.mlir --to json");
    session.mdh("schedule b.mlir --to attr");
    session.mdh("schedule b.mlir --to transform");
    insta::assert_snapshot!(session.text());
}
