//! Schedules from files, and their three spellings.

use crate::support::{Session, example};

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

/// Wrong schedules in JSON, with names.
const MISTAKES: &[(&str, &str)] = &[
    ("null", "null\n"),
    ("string", "\"cpu\"\n"),
    ("list", "\n  [{\"core\": {\"i\": 2}}]\n"),
    ("comma", "{\n  \"asm\": \"cpu\"\n  \"layers\": []\n}\n"),
    ("field", "{\n  \"asm\": \"cpu\",\n  \"layer\": []\n}\n"),
    ("number", "{\n  \"layers\": [{\"core\": {\"i\": 2.5}}]\n}\n"),
    (
        "value",
        "{\n  \"layers\": [{\"core\": {\"i\": \"two\"}}]\n}\n",
    ),
    ("nothing", "{\n  \"asm\": null\n}\n"),
    (
        "level",
        "{\n  \"decompose\": {\n    \"order\": [\"core.i\", \"i\"]\n  }\n}\n",
    ),
    (
        "meaning",
        "{\n  \"asm\": \"cpu\",\n  \"layers\": [\n    {\"core\": {\"j\": 2}},\n    {\"L7\": {}},\n    \
         {\"main\": {\"i\": 0}}\n  ],\n  \"decompose\": {\"order\": [\"core.i\", \"core.q\"]},\n  \
         \"inputs\": {\"x\": {\"stage\": {\"core.i\": \"L9\"}}, \"z\": {}},\n  \"tails\": {\"k\": \"mask\"}\n}\n",
    ),
    (
        "several",
        "{\"computations\": {\n  \"y\": {\"layers\": [{\"core\": {\"i\": 0}}]},\n  \"w\": {}\n}}\n",
    ),
];

/// Checks: what is wrong with a schedule is shown in its file, whatever the notation.
#[test]
fn mistakes_are_located() {
    let mut session = session(SCALED, "");
    for (name, text) in MISTAKES {
        session.file(&format!("{name}.json"), text);
        session.mdh(&format!("run a.mlir --schedule {name}.json"));
    }
    session.say("What there is no code for.");
    let wide = "{\n  \"asm\": \"cpu\",\n  \"layers\": [\n    {\"core\": {\"i\": 2}},\n    \
                {\"register\": {\"i\": 4096}}\n  ]\n}\n";
    session.file("wide.json", wide);
    session.mdh("run a.mlir --schedule wide.json");
    session.say("The attribute's text, alone and with a name.");
    let text =
        "#mdh.schedule<\n  asm = cpu, layers = [core {j: 2}, L7 {}],\n  tails = {k: mask}>\n";
    session.file("s.txt", text);
    session.mdh("run a.mlir --schedule s.txt");
    session.file("s.txt", format!("// y\n#y = {text}"));
    session.mdh("run a.mlir --schedule s.txt");
    session.say("A script, with and without an operation that says so.");
    let edits = "transform.mdh.asm %y cpu : !transform.any_op\n    \
                 transform.mdh.parts %y core {i: 2} : !transform.any_op\n    \
                 transform.mdh.parts %y L7 {i: 2} : !transform.any_op\n    \
                 transform.mdh.tails %y {k: mask} : !transform.any_op\n    ";
    let script = format!(
        "module attributes {{transform.with_named_sequence}} {{\n  \
         transform.named_sequence @__transform_main(%root: !transform.any_op {{transform.readonly}}) {{\n    \
         %y = transform.mdh.match y in %root : (!transform.any_op) -> !transform.any_op\n    \
         {edits}transform.yield\n  }}\n}}\n"
    );
    session.file("s.mlir", &script);
    session.mdh("run a.mlir --schedule s.mlir");
    let lower = "transform.mdh.lower %y : !transform.any_op\n    transform.yield";
    session.file("s.mlir", script.replace("transform.yield", lower));
    session.mdh("run a.mlir --schedule s.mlir");
    insta::assert_snapshot!(session.text());
}

/// Nothing of `j` but lanes: the rest is that of the outermost layer, which is cores, and no level of the order.
const LEFT_OUT: &str = r#"{
  "asm": "cpu",
  "layers": [{"core": {"i": 2}}, {"L1": {"i": 8, "k": 64}}, {"register": {"i": 4}}, {"simd": {"j": 16}}],
  "decompose": {"order": ["core.i", "L1.i", "L1.k", "register.i", "simd.j"]}
}
"#;

/// Checks: an error about a schedule says which rule has filled in what it leaves out, and has one near it that runs.
#[test]
fn the_nearest_legal_schedule_runs() {
    let session = Session::new();
    session.file("s.json", LEFT_OUT);
    let program = example("matmul");
    let output = session.output(&["run", &program, "--schedule", "s.json"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    let rule = "'core', the outermost layer that is written, has no count of 'j' and takes what the others leave";
    assert!(
        text.starts_with("s.json:4:") && text.contains(rule),
        "{text}"
    );
    let help = "help: the nearest schedule of 'C' that is legal:\n";
    let (_, near) = text.split_once(help).unwrap();
    let near_plan: serde_json::Value = serde_json::from_str(near).unwrap();
    assert_eq!(
        near_plan["layers"][0],
        serde_json::json!({"main": {"j": "*"}})
    );
    assert_eq!(near_plan["decompose"]["order"][0], "main.j");
    session.file("near.json", near);
    let output = session.output(&["run", &program, "--schedule", "near.json", "--check"]);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A file that was not written to the end must not take the model's schedule away.
#[test]
fn nothing_is_no_schedule() {
    let mut session = session(SCALED, "");
    session.file("comment.txt", "// later\n\n  // still\n");
    session.file("alias.txt", "#y =\n// later\n");
    for file in ["s.json", "comment.txt", "alias.txt"] {
        session.mdh(&format!("run a.mlir --schedule {file}"));
        session.mdh(&format!("schedule {file} --emit json"));
    }
    session.say("No entries: plain loops.");
    session.file("s.json", "{}");
    session.mdh("schedule s.json --emit attr");
    session.file("s.txt", "#mdh.schedule<>");
    session.mdh("schedule s.txt --emit json");
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
    session.shell("$MDH schedule b.mlir --emit json | tee t.json");
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
    session.mdh("schedule a.mlir --emit json");
    // What has none gets the model's.
    session.shell("$MDH schedule a.mlir --emit json --entry scaled | grep -o '\"layers\"'");
    session.shell("$MDH schedule a.mlir --emit json --entry sums | tee t.json");
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
    session.shell("$MDH schedule s.json --emit attr | tee s.attr");
    session.shell("$MDH schedule s.attr --emit json | diff - <($MDH schedule s.json --emit json)");
    session.shell("$MDH schedule a.mlir --emit json > model.json");
    session.shell("$MDH run a.mlir --schedule model.json --check | grep -o passed");
    session.shell("$MDH compile a.mlir --schedule s.attr --emit compute -o b.mlir");
    session.mdh("schedule b.mlir --emit json");
    session.mdh("schedule b.mlir --emit attr");
    session.mdh("schedule b.mlir --emit transform");
    session.mdh("schedule b.mlir --emit text");
    insta::assert_snapshot!(session.text());
}

/// The code block of that language and number on the page.
fn documented(language: &str, number: usize) -> String {
    let page = include_str!("../../../docs/schedule.md");
    let blocks = page.split("```").skip(1).step_by(2);
    let mut blocks = blocks.filter_map(|b| b.strip_prefix(language)?.strip_prefix('\n'));
    blocks.nth(number).unwrap().to_string()
}

/// The first code block of that section of the page.
fn section(title: &str) -> String {
    let page = include_str!("../../../docs/schedule.md");
    let (_, own) = page.split_once(&format!("## {title}\n")).unwrap();
    let (_, block) = own.split_once("```mlir\n").unwrap();
    block.split_once("```").unwrap().0.to_string()
}

/// The script on the page is its first schedule.
#[test]
fn documented_script() {
    let mut session = session(include_str!("../../../examples/matmul.mlir"), PLAN);
    session.file("s.attr", documented("mlir", 0));
    session.file("s.mlir", documented("mlir", 3));
    session.shell("$MDH schedule s.mlir --emit attr | diff - s.attr");
    session.shell("$MDH schedule s.mlir --emit json | diff - <($MDH schedule s.attr --emit json)");
    session.shell("$MDH schedule s.attr --emit transform > t.mlir");
    session.shell("$MDH schedule t.mlir --emit attr | diff - s.attr");
    // What exceeds this machine is noted, other machines have other limits.
    session.shell("$MDH compile a.mlir --schedule s.mlir --emit compute -o b.mlir 2>/dev/null");
    session.shell("$MDH schedule b.mlir --emit attr | diff - s.attr");
    session.shell("$MDH run a.mlir --schedule t.mlir --check 2>/dev/null | grep -o passed");
    // As often as 'mdh explain' says so.
    session.shell(
        "test $($MDH run a.mlir --schedule t.mlir 2>&1 >/dev/null | grep -c 'machine: width') = \
         $($MDH explain --verbose a.mlir --schedule t.mlir 2>/dev/null | grep -c '^    - width') && echo as often",
    );
    insta::assert_snapshot!(session.text());
}

/// Below a block, at one and above, in each dimension: rows, columns, terms.
const PRODUCTS: [[i64; 3]; 10] = [
    [1, 1, 1],
    [2, 7, 3],
    [8, 4, 16],
    [16, 8, 16],
    [31, 32, 33],
    [32, 32, 32],
    [33, 17, 50],
    [64, 64, 64],
    [70, 1, 100],
    [45, 96, 31],
];

/// The product of matrices on the page is right at all sizes.
#[test]
fn documented_products_of_matrices() {
    for [i, j, k] in PRODUCTS {
        let program = format!(
            "func.func @f(%A: memref<{i}x{k}xf16>, %B: memref<{k}x{j}xf16>, %C: memref<{i}x{j}xf32>) {{
  mdh.compute (i = {i}, j = {j}, k = {k})
    out_view(C = %C[i, j] : memref<{i}x{j}xf32>)
    md_hom((%a: f16, %b: f16) {{
      %x = arith.extf %a : f16 to f32
      %y = arith.extf %b : f16 to f32
      %0 = arith.mulf %x, %y : f32
      mdh.yield %0 : f32
    }}, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<{i}x{k}xf16>, B = %B[k, j] : memref<{k}x{j}xf16>)
  return
}}
"
        );
        let mut session = session(&program, &section("Products of matrices"));
        session.mdh("run a.mlir --schedule s.json --device sim --report --check all");
        let text = session.text();
        let is_good = ["no mistakes found", "check  passed"].map(|part| text.contains(part));
        assert_eq!(is_good, [true; 2], "{i} x {j} x {k}:\n{text}");
        let blocks = ((i + 31) / 32) * ((j + 31) / 32);
        let launch = format!("1 launch, {blocks} block");
        assert!(text.contains(&launch), "{i} x {j} x {k}:\n{text}");
    }
}

const SCRIPT: &str = "\
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %rows = transform.tune.knob<\"rows\"> options = [2, 4] -> !transform.param<i64>
    %main = transform.tune.knob<\"main\"> options = [2, 4] -> !transform.param<i64>
    %y = transform.mdh.match 0 in %root : (!transform.any_op) -> !transform.any_op
    transform.mdh.parts %y core {i: %rows} : !transform.any_op, !transform.param<i64>
    transform.mdh.parts %y main {i: %main} : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}
";

#[test]
fn scripts() {
    let mut session = session(SCALED, PLAN);
    session.file("s.mlir", SCRIPT);
    session.say("Knobs that are open are listed, all of them.");
    session.mdh("run a.mlir --schedule s.mlir");
    session.mdh("schedule s.mlir --emit json");
    let closed = SCRIPT.replace("> options", "> = 4 from options");
    session.file("s.mlir", &closed);
    session.mdh("run a.mlir --schedule s.mlir --check");
    session.mdh("schedule s.mlir --emit transform");
    session.say("By its text, whatever the file is called.");
    session.file("s.txt", &closed);
    session.mdh("schedule s.txt --emit attr");
    session.say("A schedule that is wrong, with and without an operation that says so.");
    session.file("s.mlir", closed.replace("= 4", "= 2"));
    session.mdh("run a.mlir --schedule s.mlir");
    let lower = "transform.mdh.lower %y : !transform.any_op\n    transform.yield";
    let lowered = closed
        .replace("= 4", "= 2")
        .replace("transform.yield", lower);
    session.file("s.mlir", lowered);
    session.mdh("run a.mlir --schedule s.mlir");
    session.say("What only a program decides.");
    session.file("s.mlir", closed.replace("%y core", "%root core"));
    session.mdh("schedule s.mlir --emit json");
    session.mdh("run a.mlir --schedule s.mlir");
    session.say("No script.");
    session.file(
        "s.mlir",
        closed.replace("__transform_main", "transform_main"),
    );
    session.mdh("run a.mlir --schedule s.mlir");
    session.mdh("schedule s.mlir --emit json");
    insta::assert_snapshot!(session.text());
}

/// Schedules of several computations, by position or name.
#[test]
fn scripts_of_several() {
    let mut session = session(TWO, PLAN);
    let plan = "{\"computations\": {\"y\": {\"layers\": [{\"core\": {\"i\": 8}}]}, \"1\": {}}}";
    session.file("s.json", plan);
    session.shell("$MDH schedule s.json --emit transform | tee s.mlir");
    session.shell("$MDH schedule s.mlir --emit json | diff - <($MDH schedule s.json --emit json)");
    session.mdh("compile a.mlir --schedule s.mlir --emit compute");
    session.mdh("run a.mlir --schedule s.mlir --check");
    session.say("As attributes with names.");
    session.shell("$MDH schedule s.json --emit attr | tee s.txt");
    session.shell("$MDH schedule s.txt --emit json | diff - <($MDH schedule s.json --emit json)");
    session.shell("sed -i 's/core {i/core {i i/' s.txt");
    session.mdh("run a.mlir --schedule s.txt");
    insta::assert_snapshot!(session.text());
}
