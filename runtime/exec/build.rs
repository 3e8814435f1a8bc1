//! The command shows its functions to the code of packages, which is linked against them when it
//! is loaded.

fn main() {
    println!("cargo::rustc-link-arg-bins=-Wl,--export-dynamic");
}
