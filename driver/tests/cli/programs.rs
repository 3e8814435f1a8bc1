//! Programs that are wrong, or no programs.

use crate::support::Session;

#[test]
fn syntax() {
    let mut session = Session::new();
    session.run("func.func @f(", "");
    session.run("func.func @f() {\n  arith.nothing\n}\n", "");
    session.run("func.func @f() -> f32 {\n  return %x : f32\n}\n", "");
    session.run("func.func @f(%x: tensor<4xf33>) {\n  return\n}\n", "");
    session.run("func.func @f() {\n  return\n", "");
    session.run("func.func @f() {\n  return\n}\n}\n", "");
    session.run("func.func @ä() {\n  return\n}\n", "");
    session.run("\tfunc.func @f() {\treturn %x }\r\n", "");
    session.run("\"\u{7}ü\" \u{1b}[31m", "");
    let views = "
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = mdh.inp_view (i = 4) (%x[j] : tensor<4xf32>) : !mdh.mda<4, f32>
  return %x : tensor<4xf32>
}
";
    session.run(views, "");
    session.run(&views.replace("[j]", "[i * i]"), "");
    insta::assert_snapshot!(session.text());
}

#[test]
fn verifier() {
    let mut session = Session::new();
    session.run("func.func @f() -> f32 {\n  return\n}\n", "");
    session.run(
        "func.func @f(%x: f32, %y: i32) -> f32 {\n  %z = arith.addf %x, %y : f32\n  return %z : f32\n}\n",
        "",
    );
    let program = "
func.func @f(%x: tensor<8xf32>) -> tensor<f32> {
  %init = tensor.empty() : tensor<f32>
  %s = mdh.compute (i = 9)
      out_view(s = %init[] : tensor<f32>)
      md_hom(id, (pw(addf)))
      inp_view(x = %x[i] : tensor<8xf32>)
  return %s : tensor<f32>
}
";
    session.run(program, "");
    session.run(&program.replace("%x[i]", "%x[i, i]"), "");
    session.run(&program.replace("(pw(addf))", "(pw(addf), cc)"), "");
    session.run(&program.replace("pw(addf)", "pw(addi)"), "");
    session.run(
        "func.func @f() {\n  return\n}\nfunc.func @f() {\n  return\n}\n",
        "",
    );
    insta::assert_snapshot!(session.text());
}

#[test]
fn not_text() {
    let mut session = Session::new();
    session.file("a", b"func.func @f() {\n  return \xff\n}\n");
    session.mdh("run a");
    session.file("a", "func.func @f() {\n  return\n}\n\0");
    session.mdh("run a");
    session.file("a", "f\u{fc}nc.f\u{fc}nc @f() { return }\n");
    session.mdh("run a");
    session.file("a", b"\xff\xfef\0u\0n\0c\0");
    session.mdh("run a");
    session.file("a", b"\xef\xbb\xbffunc.func @f() { return }\n");
    session.mdh("run a");
    for nothing in [
        "",
        "\n\n",
        "// a comment",
        "module {}",
        "module { module { func.func @f() { return } } }",
    ] {
        session.file("a", nothing);
        session.mdh("run a");
    }
    insta::assert_snapshot!(session.text());
}

#[test]
fn not_there() {
    let mut session = Session::new();
    session.mdh("run a.mlir");
    session.mdh("run .");
    session.mdh("compile a.mlir --emit asm");
    session.mdh_with(&["run", ""]);
    session.file("a.mlir", "func.func @f() {\n  return\n}\n");
    session.mdh("run a.mlir/b");
    session.shell("$MDH run - < a.mlir");
    session.shell("echo 'func.func @f(' | $MDH run -");
    session.shell("$MDH run - < /dev/null");
    session.shell("mkfifo p; cat a.mlir > p & $MDH run p");
    insta::assert_snapshot!(session.text());
}

/// MLIR's parser calls itself for each bracket, and so does what walks a program.
#[test]
fn nesting() {
    let compute = |access: &str| {
        format!(
            "func.func @f(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {{\n\
             %r = mdh.compute (i = 8) out_view(y = %y[i] : tensor<8xf32>) md_hom(id, (cc))\n\
             inp_view(x = %x[{access}] : tensor<8xf32>)\nreturn %r : tensor<8xf32>\n}}\n"
        )
    };
    let nested = |open: &str, inside: &str, close: &str, n: usize| {
        [&open.repeat(n), inside, &close.repeat(n)].concat()
    };
    let programs = |n: usize| {
        [
            compute(&nested("(", "i", ")", n)),
            compute(&nested("(", "i", " mod 9)", n)),
            format!(
                "func.func @f(%b: i1) {{\n{}return\n}}\n",
                nested("scf.if %b {\n", "", "}\n", n)
            ),
            nested("module {\n", "func.func @f() { return }\n", "}\n", n),
            format!(
                "func.func @f(%x: {}) {{ return }}\n",
                nested("tuple<", "f32", ">", n)
            ),
            format!(
                "func.func @f() attributes {{a = {}}} {{ return }}\n",
                nested("[", "", "]", n)
            ),
            format!(
                "func.func @f() {{ return }} loc({})\n",
                nested("fused[", "\"a\"", "]", n)
            ),
        ]
    };
    let mut session = Session::new();
    for program in programs(10_000) {
        session.run(&program, "");
    }
    session.say("no deeper than they may be");
    for program in programs(990) {
        session.run(&program, "");
    }
    session.say("without brackets");
    session.run(&compute(&format!("{}i", "-".repeat(100_000))), "");
    session.run(&compute(&format!("i{}", " mod 9".repeat(100_000))), "");
    insta::assert_snapshot!(session.text());
}

#[test]
fn long_files_lines_and_names() {
    let mut session = Session::new();
    let name = "n".repeat(100_000);
    session.run(
        &format!("func.func @{name}(%{name}: f32) {{ return }}\n"),
        "--out x",
    );
    session.run(
        &format!(
            "func.func @f(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {{\n\
             %r = mdh.compute ({name} = 9) out_view(y = %y[{name}] : tensor<8xf32>)\n\
             md_hom(id, (cc)) inp_view(x = %x[{name}] : tensor<8xf32>)\n\
             return %r : tensor<8xf32>\n}}\n"
        ),
        "",
    );
    session.run(
        &format!(
            "func.func @f() {{ return }}{}garbage\n",
            " ".repeat(1_000_000)
        ),
        "",
    );
    session.run(
        &format!(
            "{}func.func @f() {{ return }}\ngarbage\n",
            "// nothing\n".repeat(100_000)
        ),
        "",
    );
    let steps: String = (0..20_000)
        .map(|n| format!("  %y{} = arith.addi %y{n}, %x : i32\n", n + 1))
        .collect();
    let many = format!(
        "func.func @f(%x: i32) -> i32 {{\n  %y0 = arith.muli %x, %x : i32\n{steps}  return %y20000 : i32\n}}\n"
    );
    session.run(&many, "--in 3 --out sum.npy");
    assert_eq!(session.read("sum.npy"), 60_009i32.to_le_bytes());
    insta::assert_snapshot!(session.text());
}

#[test]
fn bytecode() {
    let mut session = Session::new();
    session
        .shell("echo 'func.func @f() {\n  return\n}' > a.mlir; printf 'ML\\xefR' > a; $MDH run a");
    session.shell("printf 'ML\\xefR\\xc7MLIR99\\0' > a; $MDH run a");
    session.shell("printf 'ML\\xefR\\x0dMLIR99' > a; $MDH run a");
    session.shell("head -c 100000 /dev/zero | cat a - > b; $MDH run b");
    insta::assert_snapshot!(session.text());
}

/// Functions that scalar code calls are followed, but not for ever.
#[test]
fn long_chains_of_calls() {
    let mut session = Session::new();
    for length in [200, 5_000] {
        let functions: String = (0..length)
            .map(|n| {
                format!(
                    "func.func private @f{n}(%x: f32) -> f32 {{\n  %y = func.call @f{}(%x) : (f32) \
                     -> f32\n  return %y : f32\n}}\n",
                    n + 1
                )
            })
            .collect();
        let program = format!(
            "func.func @f(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {{
  %r = mdh.compute (i = 2) out_view(y = %y[i] : tensor<2xf32>)
    md_hom((%a: f32) {{
      %b = func.call @f0(%a) : (f32) -> f32
      mdh.yield %b : f32
    }}, (cc)) inp_view(x = %x[i] : tensor<2xf32>)
  return %r : tensor<2xf32>
}}
{functions}func.func private @f{length}(%x: f32) -> f32 {{
  return %x : f32
}}
"
        );
        session.run(&program, "--entry f");
    }
    insta::assert_snapshot!(session.text());
}
