//! Generates the dialect's C++ from ODS and compiles the shim.
//!
//! The shim must be compiled by clang: MLIR keys traits on the compiler's spelling of their
//! types, so a shim compiled by g++ links and is then not recognised by libMLIR.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Runs of mlir-tblgen: input, arguments, output.
const GENERATED: [(&str, &[&str], &str); 10] = [
    (
        "MdhBase.td",
        &["--gen-dialect-decls", "--dialect=mdh"],
        "MdhDialect.h.inc",
    ),
    (
        "MdhBase.td",
        &["--gen-dialect-defs", "--dialect=mdh"],
        "MdhDialect.cpp.inc",
    ),
    ("MdhBase.td", &["--gen-typedef-decls"], "MdhTypes.h.inc"),
    ("MdhBase.td", &["--gen-typedef-defs"], "MdhTypes.cpp.inc"),
    ("MdhBase.td", &["--gen-attrdef-decls"], "MdhAttrs.h.inc"),
    ("MdhBase.td", &["--gen-attrdef-defs"], "MdhAttrs.cpp.inc"),
    ("MdhOps.td", &["--gen-op-decls"], "MdhOps.h.inc"),
    ("MdhOps.td", &["--gen-op-defs"], "MdhOps.cpp.inc"),
    (
        "MdhTransformOps.td",
        &["--gen-op-decls"],
        "MdhTransformOps.h.inc",
    ),
    (
        "MdhTransformOps.td",
        &["--gen-op-defs"],
        "MdhTransformOps.cpp.inc",
    ),
];

fn main() {
    let llvm = env::var("MDH_LLVM_PREFIX").unwrap_or_else(|_| "/usr/lib/llvm-22".into());
    println!("cargo:rerun-if-env-changed=MDH_LLVM_PREFIX");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    let include = format!("{llvm}/include");
    for (input, arguments, output) in GENERATED {
        let status = Command::new(format!("{llvm}/bin/mlir-tblgen"))
            .args(arguments)
            .args(["-I", "td", "-I", &include, &format!("td/{input}"), "-o"])
            .arg(out.join(output))
            .status()
            .unwrap_or_else(|error| panic!("cannot run {llvm}/bin/mlir-tblgen: {error}"));
        assert!(status.success(), "mlir-tblgen failed on td/{input}");
    }

    let sources = files("cpp", "cpp");
    for path in sources
        .iter()
        .chain(&files("cpp", "h"))
        .chain(&files("td", "td"))
    {
        println!("cargo:rerun-if-changed={}", path.display());
    }
    // Of a folder, new files are told.
    println!("cargo:rerun-if-changed=cpp");
    println!("cargo:rerun-if-changed=td");
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .files(sources)
        .include(&out)
        .include("cpp")
        .flag("-isystem")
        .flag(&include)
        .define("NDEBUG", None) // else symbols are missing that a release libMLIR has not
        .flag("-fno-exceptions")
        .flag("-fno-rtti")
        .flag("-Wno-unused-parameter")
        .debug(false)
        .opt_level(1)
        .compile("mdh-shim");
}

fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("cannot read {folder}: {error}"))
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| Path::new(path).extension().is_some_and(|e| e == extension))
        .collect();
    paths.sort();
    paths
}
