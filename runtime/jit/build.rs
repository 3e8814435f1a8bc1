//! Links the one shared libLLVM, the same that libMLIR in the final binaries uses.
//!
//! llvm-sys is told not to link (its own search wants static archives or a complete
//! `llvm-config`), so that this crate and its tests need LLVM alone, without MLIR.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=MDH_LLVM_PREFIX");
    let prefix = env::var("MDH_LLVM_PREFIX").unwrap_or_else(|_| "/usr/lib/llvm-22".to_string());
    println!("cargo:rustc-link-search=native={prefix}/lib");
    println!("cargo:rustc-link-lib=dylib=LLVM-22");
}
