//! `mdh compile --emit obj|header|shared`: what cannot be made a C function or a library.

use crate::support::{MDH, Session};

/// A function of that name and text in between.
fn function(name: &str, arguments: &str, body: &str) -> String {
    format!("func.func {name}({arguments}) {{\n{body}  return\n}}\n")
}

#[test]
fn names_that_are_none_in_c() {
    let mut session = Session::new();
    for name in ["@exp", "@double", "@\"a b\"", "@mdh_call"] {
        session.file("a.mlir", function(name, "", ""));
        session.mdh("compile a.mlir --emit header");
    }
    session.say("all that are public count, if none is named");
    let both = function("@exp", "", "") + &function("@f", "", "");
    session.file("a.mlir", &both);
    session.mdh("compile a.mlir --emit obj -o a.o");
    session.mdh("compile a.mlir --emit obj --entry g -o a.o");
    session.mdh("compile a.mlir --emit header --entry f -o f.h");
    session.file(
        "a.mlir",
        both.replace("func.func @exp", "func.func private @exp"),
    );
    session.mdh("compile a.mlir --emit obj -o a.o");
    session.file("a.mlir", both.replace("func.func", "func.func private"));
    session.mdh("compile a.mlir --emit obj -o b.o");
    assert_eq!(session.names(), ["a.mlir", "a.o", "f.h"]);
    insta::assert_snapshot!(session.text());
}

#[test]
fn types_that_c_has_not() {
    let mut session = Session::new();
    for argument in [
        "%z: complex<f32>",
        "%x: tensor<*xf32>",
        "%x: memref<4xf32, 1>",
        "%n: i4",
    ] {
        session.file("a.mlir", function("@f", argument, ""));
        session.mdh("compile a.mlir --emit header");
    }
    session.say("what is only read need not have a form in C");
    session.file("a.mlir", function("@f", "%n: i4", ""));
    session.shell("$MDH compile a.mlir --emit llvm | grep define");
    insta::assert_snapshot!(session.text());
}

#[test]
fn sizes_that_nobody_knows_before() {
    let mut session = Session::new();
    let program = "\
func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>, %yes: i1) -> tensor<?xf32> {
  %r = scf.if %yes -> tensor<?xf32> {
    scf.yield %x : tensor<?xf32>
  } else {
    scf.yield %y : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
";
    session.file("a.mlir", program);
    session.mdh("compile a.mlir --emit shared -o liba.so");
    assert_eq!(session.names(), ["a.mlir"]);
    insta::assert_snapshot!(session.text());
}

#[test]
fn options_that_have_no_meaning() {
    let mut session = Session::new();
    session.file("a.mlir", function("@f", "", ""));
    session.mdh("compile a.mlir --emit loops --debug-info");
    session.mdh("compile a.mlir --emit header --debug-info");
    insta::assert_snapshot!(session.text());
}

#[test]
fn linking() {
    let mut session = Session::new();
    session.file("a.mlir", function("@f", "", ""));
    session.say("no compiler, and none that works");
    session
        .shell("CC= PATH= MDH_LLVM_PREFIX=/no/such $MDH compile a.mlir --emit shared -o liba.so");
    session.shell("CC=/no/such/cc $MDH compile a.mlir --emit shared -o liba.so");
    session.shell("CC='false -O2' $MDH compile a.mlir --emit shared -o liba.so");
    for place in ["directory", "no/such/liba.so"] {
        std::fs::create_dir_all(session.path("directory")).unwrap();
        session.mdh(&format!("compile a.mlir --emit shared -o {place}"));
        session.mdh(&format!("compile a.mlir --emit header -o {place}"));
    }
    session.say("a function that is nowhere");
    let missing = "func.func private @nowhere()\n".to_string()
        + &function("@f", "", "  call @nowhere() : () -> ()\n");
    session.file("a.mlir", missing);
    session.shell(
        "$MDH compile a.mlir --emit shared -o liba.so 2>&1 | grep -o -e 'reference to .*' -e help:.*",
    );
    session.mdh("compile a.mlir --emit obj -o a.o");
    assert_eq!(session.names(), ["a.mlir", "a.o", "directory"]);
    insta::assert_snapshot!(session.text());
}

/// The run-time library is found beside the command, or in the folder `lib` beside the command's.
#[test]
fn installed() {
    let mut session = Session::new();
    session.file("a.mlir", function("@f", "", ""));
    for folder in ["bin", "lib"] {
        std::fs::create_dir(session.path(folder)).unwrap();
    }
    let command = session.path("bin/mdh");
    std::fs::copy(MDH, &command).unwrap();
    session.shell("bin/mdh compile a.mlir --emit shared -o liba.so");
    assert_eq!(session.names(), ["a.mlir", "bin", "lib"]);
    let runtime = std::path::Path::new(MDH).with_file_name("libmdhrt.a");
    std::os::unix::fs::symlink(runtime, session.path("lib/libmdhrt.a")).unwrap();
    session.shell("bin/mdh compile a.mlir --emit shared -o liba.so");
    assert_eq!(session.names(), ["a.mlir", "bin", "lib", "liba.so"]);
    insta::assert_snapshot!(session.text());
}
