//! Names the library by which programs ask for it, so that none that is linked with it by a path asks for that path.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libmdh.so");
}
