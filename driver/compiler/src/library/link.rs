//! Shared libraries: an object file and the run-time library in one file.

use std::env;
use std::ffi::{CStr, OsStr, OsString};
use std::fs;
use std::io;
use std::mem;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use mdh_jit::about_symbol;
use mdh_jit::interface::Interface;
use tempfile::TempDir;

use crate::cli::CompileArguments;
use crate::error::{Error, Result, is_about_memory};

/// Functions that programs may call beside their own.
const RUNTIME: [&str; 4] = [
    "mdh_call",
    "mdh_error",
    "mdh_set_threads",
    "mdh_thread_count",
];

/// Links an object file with the run-time library, for a file that a command names.
pub fn shared(
    object: &[u8],
    interfaces: &[Interface],
    command: &CompileArguments,
) -> Result<Vec<u8>> {
    let runtime = runtime_library()?;
    let directory = folder()?;
    let path = |name: &str| directory.path().join(name);
    fs::write(path("code.o"), object).map_err(unusable)?;
    fs::write(path("exported"), exported(interfaces)).map_err(unusable)?;
    link(&directory, &options(command), &[runtime])
}

/// A folder to link in.
fn folder() -> Result<TempDir> {
    let builder = tempfile::Builder::new().prefix("mdh-").tempdir();
    builder.map_err(unusable)
}

fn unusable(error: io::Error) -> Error {
    Error::input(format!(
        "cannot use a temporary directory to link in: {error}"
    ))
}

/// Links `code.o` of a folder with libraries, showing what the script `exported` says.
fn link(directory: &TempDir, options: &[String], libraries: &[PathBuf]) -> Result<Vec<u8>> {
    let path = |name: &str| directory.path().join(name);
    let (program, first) = compiler()?;
    let mut link = Command::new(&program);
    link.args(first).args(options);
    link.arg("-o").arg(path("library"));
    link.arg(path("code.o")).args(libraries);
    let script = path("exported");
    link.arg(format!("-Wl,--version-script={}", script.display()));
    link.args(["-lm", "-lpthread", "-ldl"]);
    let output = link.output().map_err(|error| {
        let program = program.display();
        Error::input(format!("cannot run '{program}' to link: {error}"))
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = match said.trim_end() {
            "" => output.status.to_string(),
            said => said.to_string(),
        };
        let message = format!("'{}' cannot link the library: {said}", program.display());
        if is_about_memory(&said) {
            return Err(Error::resources(message));
        }
        return Err(Error::input(message).help(
            "functions that the program declares without a body must be in the C library; with \
             --emit obj you link them yourself",
        ));
    }
    fs::read(path("library")).map_err(unusable)
}

/// Links an object file alone, for a process that exports the run-time library: one function is
/// exported.
pub fn bare(object: &[u8], symbol: &str) -> Result<Vec<u8>> {
    let directory = folder()?;
    let path = |name: &str| directory.path().join(name);
    fs::write(path("code.o"), object).map_err(unusable)?;
    let script = format!("{{ global: {symbol}; local: *; }};\n");
    fs::write(path("exported"), script).map_err(unusable)?;
    let options = ["-shared", "-Wl,--gc-sections", "-Wl,--strip-debug"];
    link(&directory, &options.map(str::to_string), &[])
}

/// Returns the options to link a library with.
fn options(command: &CompileArguments) -> Vec<String> {
    // Threads run code of the library for as long as the process lives, so that it stays loaded.
    let always = [
        "-shared",
        "-Wl,--gc-sections",
        "-Wl,-z,nodelete",
        "-Wl,-z,defs",
    ];
    let mut options = always.map(str::to_string).to_vec();
    let name = command.out.file.as_deref();
    let name = name.filter(|name| *name != Path::new("-"));
    if let Some(name) = name.and_then(Path::file_name) {
        options.push(format!("-Wl,-soname,{}", name.to_string_lossy()));
    }
    if !command.debug_info {
        options.push("-Wl,--strip-debug".to_string());
    }
    options
}

/// A linker's script with what a library shows.
fn exported(interfaces: &[Interface]) -> String {
    let functions = interfaces.iter().map(|interface| interface.name.clone());
    let about = interfaces
        .iter()
        .map(|interface| about_symbol(&interface.name));
    let runtime = RUNTIME.map(str::to_string);
    let names: Vec<String> = functions.chain(about).chain(runtime).collect();
    format!("{{ global: {}; local: *; }};\n", names.join("; "))
}

/// Finds `libmdhrt.a`: what `MDH_RUNTIME_LIBRARY` names (the Python package, whose program is Python, names its own),
/// else beside the command, or in the folder `lib` beside the command's, or beside the shared library that this code is
/// in. Cargo builds it for the command in `deps`, and puts that beside the command only if it is asked to.
fn runtime_library() -> Result<PathBuf> {
    const NAME: &str = "libmdhrt.a";
    if let Some(named) = env::var_os("MDH_RUNTIME_LIBRARY").filter(|named| !named.is_empty()) {
        return Ok(named.into());
    }
    let command = env::current_exe().unwrap_or_default();
    let folder = command.parent().unwrap_or(Path::new(""));
    let mut places = ["deps", "", "../lib"]
        .map(|place| folder.join(place))
        .to_vec();
    if let Some(folder) = own_folder() {
        places.extend([folder.join("deps"), folder]);
    }
    let places: Vec<PathBuf> = places.iter().map(|place| place.join(NAME)).collect();
    let library = places.iter().find(|place| place.is_file()).cloned();
    library.ok_or_else(|| {
        let message = format!(
            "the run-time library is not there: found neither '{}' nor '{}'",
            places[1].display(),
            places[2].display()
        );
        Error::input(message).help("build it with the command: `cargo build --release --workspace`")
    })
}

/// The folder of the file that this code is in, as the process has loaded it; none if that is not known.
fn own_folder() -> Option<PathBuf> {
    let code = own_folder as *const () as *const libc::c_void;
    // SAFETY: a structure of pointers and numbers.
    let mut about: libc::Dl_info = unsafe { mem::zeroed() };
    // SAFETY: the address is one of code; the structure is there.
    let is_known = unsafe { libc::dladdr(code, &mut about) } != 0 && !about.dli_fname.is_null();
    // SAFETY: a C string of the loader's, which stays as long as the file.
    let file = is_known.then(|| unsafe { CStr::from_ptr(about.dli_fname) })?;
    let file = fs::canonicalize(OsStr::from_bytes(file.to_bytes())).ok()?;
    file.parent().map(Path::to_path_buf)
}

/// The C compiler that links, with its first arguments: what `CC` says, else the first there is.
fn compiler() -> Result<(PathBuf, Vec<OsString>)> {
    if let Some(chosen) = env::var_os("CC").filter(|chosen| !chosen.is_empty()) {
        let chosen = chosen.to_string_lossy().into_owned();
        let mut words = chosen.split_whitespace();
        let program = words.next().unwrap_or_default().into();
        return Ok((program, words.map(OsString::from).collect()));
    }
    let llvm = env::var_os("MDH_LLVM_PREFIX").unwrap_or_else(|| "/usr/lib/llvm-22".into());
    let in_path = env::var_os("PATH").unwrap_or_default();
    let in_path: Vec<PathBuf> = env::split_paths(&in_path).collect();
    let compiler = ["cc", "gcc", "clang"]
        .iter()
        .flat_map(|name| in_path.iter().map(move |folder| folder.join(name)))
        .chain([Path::new(&llvm).join("bin/clang")])
        .find(|program| program.is_file());
    let compiler = compiler.ok_or_else(|| {
        Error::input(
            "no C compiler is there to link a shared library: looked for cc, gcc and clang in \
             PATH, and for clang of LLVM 22",
        )
        .help("install gcc or clang-22, or say in the environment variable CC which one to use")
    })?;
    Ok((compiler, Vec::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_shows_its_functions() {
        let interfaces = ["f 0", "g 0"].map(|text| text.parse().unwrap());
        assert_eq!(
            exported(&interfaces),
            "{ global: f; g; mdh_about_f; mdh_about_g; mdh_call; mdh_error; mdh_set_threads; mdh_thread_count; \
             local: *; };\n"
        );
    }
}
