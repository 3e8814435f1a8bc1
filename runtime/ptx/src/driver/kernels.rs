//! Modules, their kernels, and launches.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fs::OpenOptions;
use std::io::Write;

use super::{
    Code, ILLEGAL_ADDRESS, INVALID_HANDLE, INVALID_PTX, INVALID_VALUE, LAUNCH_FAILED, MOST_THREADS,
    NO_BINARY, NOT_FOUND, OUT_OF_RESOURCES, SUCCESS, put, with,
};
use crate::machine::{self, Failure, Launch};
use crate::parse::{self, Kernel, Module};
use crate::{settings, uniformity};

/// Assembles and loads PTX.
///
/// # Safety
/// `image` is a C string, there are as many options and values as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadDataEx(
    module: *mut usize,
    image: *const c_char,
    count: c_uint,
    options: *const c_uint,
    values: *const *mut c_void,
) -> Code {
    const LOG: c_uint = 5;
    const LOG_BYTES: c_uint = 6;
    with("cuModuleLoadDataEx", |device| {
        // SAFETY: by this function's contract.
        let text = unsafe { CStr::from_ptr(image) }.to_string_lossy();
        let parsed = parse::parse(&text).and_then(checked);
        match parsed {
            Ok(parsed) => {
                let chip = settings::chip();
                let runs = parsed.chip <= chip && (parsed.chip == chip || !parsed.is_exact);
                if !runs {
                    return NO_BINARY;
                }
                let new = device.handle();
                device.modules.insert(new, parsed);
                // SAFETY: by this function's contract.
                unsafe { put(module, new) }
            }
            Err(message) => {
                let option = |wanted: c_uint| {
                    // SAFETY: by this function's contract.
                    let position =
                        (0..count as usize).find(|n| unsafe { *options.add(*n) } == wanted);
                    // SAFETY: as many values as options.
                    position.map(|n| unsafe { *values.add(n) })
                };
                if let (Some(log), Some(bytes)) = (option(LOG), option(LOG_BYTES)) {
                    let length = message.len().min((bytes as usize).saturating_sub(1));
                    // SAFETY: the log has as many bytes as the other option says.
                    unsafe {
                        std::ptr::copy_nonoverlapping(message.as_ptr(), log.cast(), length);
                        log.cast::<u8>().add(length).write(0);
                    }
                }
                INVALID_PTX
            }
        }
    })
}

/// A module of which all is known, and in whose kernels threads do together what all of them come to.
fn checked(module: Module) -> Result<Module, String> {
    if module.kernels.is_empty() {
        return Err("there is no kernel".to_string());
    }
    uniformity::check_module(&module)?;
    Ok(module)
}

/// Forgets a module.
#[unsafe(no_mangle)]
pub extern "C" fn cuModuleUnload(module: usize) -> Code {
    with("cuModuleUnload", |device| {
        match device.modules.remove(&module) {
            Some(_) => SUCCESS,
            None => INVALID_VALUE,
        }
    })
}

/// A kernel of a module.
///
/// # Safety
/// `function` can be written, `name` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetFunction(
    function: *mut usize,
    module: usize,
    name: *const c_char,
) -> Code {
    with("cuModuleGetFunction", |device| {
        // SAFETY: by this function's contract.
        let name = unsafe { CStr::from_ptr(name) }
            .to_string_lossy()
            .into_owned();
        let loaded = device.modules.get(&module);
        if !loaded.is_some_and(|module| module.kernels.contains_key(&name)) {
            return NOT_FOUND;
        }
        device.functions.push((module, name));
        // SAFETY: by this function's contract.
        unsafe { put(function, device.functions.len()) }
    })
}

/// A fact about a kernel: its own shared memory (1) is known.
///
/// # Safety
/// `value` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncGetAttribute(
    value: *mut c_int,
    attribute: c_uint,
    function: usize,
) -> Code {
    with("cuFuncGetAttribute", |device| {
        match (device.kernel(function), attribute) {
            // SAFETY: by this function's contract.
            (Some((_, kernel)), 1) => unsafe { put(value, kernel.shared as c_int) },
            _ => INVALID_VALUE,
        }
    })
}

/// Runs a kernel.
///
/// # Safety
/// There are as many pointers to arguments as the kernel has parameters, each to as many bytes.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "the signature is CUDA's")]
pub unsafe extern "C" fn cuLaunchKernel(
    function: usize,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared: c_uint,
    stream: usize,
    arguments: *const *const u8,
    _extra: *mut c_void,
) -> Code {
    with("cuLaunchKernel", |device| {
        if device.state() != SUCCESS {
            return device.state();
        }
        if !device.count_launch(stream) {
            return INVALID_HANDLE;
        }
        let Some((name, kernel)) = device.kernel(function) else {
            return INVALID_VALUE;
        };
        let (blocks, threads) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        if let Some(refused) = refusal(kernel, blocks, threads) {
            return refused;
        }
        let offsets = kernel.offsets();
        let mut bytes = vec![0; offsets.last().copied().unwrap_or(0)];
        for (n, width) in kernel.parameters.iter().enumerate() {
            // SAFETY: by this function's contract.
            let argument = unsafe { std::slice::from_raw_parts(*arguments.add(n), *width) };
            bytes[offsets[n]..offsets[n] + width].copy_from_slice(argument);
        }
        write_down(name, blocks, threads, shared);
        if settings::is_zero() {
            return SUCCESS;
        }
        let launch = machine::Launch {
            kernel,
            blocks,
            threads,
            arguments: &bytes,
            dynamic: shared as usize,
            memory: &device.memory,
            steps: settings::steps(),
        };
        let failure = match run(&launch, name) {
            Ok(()) => return SUCCESS,
            Err(failure) => failure,
        };
        match failure {
            None => device.hangs = true,
            Some(code) => device.failed = Some(code),
        }
        SUCCESS
    })
}

/// Returns the reason for which a kernel is not launched.
fn refusal(kernel: &Kernel, blocks: [u32; 3], threads: [u32; 3]) -> Option<Code> {
    let count = |shape: [u32; 3]| shape.iter().map(|n| u64::from(*n)).product::<u64>();
    if blocks.contains(&0) || !(1..=MOST_THREADS).contains(&count(threads)) {
        return Some(INVALID_VALUE);
    }
    let fits = kernel
        .shape
        .is_none_or(|shape| match kernel.may_be_smaller {
            true => count(threads) <= count(shape),
            false => threads == shape,
        });
    (!fits).then_some(OUT_OF_RESOURCES)
}

/// Runs a kernel. Of one that does not end well, says why, and gives the error that later calls
/// give; none for one that does not end.
fn run(launch: &Launch, name: &str) -> Result<(), Option<Code>> {
    // A module was looked at for blocks of the shapes that its kernels state.
    if launch.kernel.shape != Some(launch.threads)
        && let Some(finding) = uniformity::check(launch.kernel, launch.threads).first()
    {
        eprintln!("interpreter of PTX: {}", finding.say(name));
        return Err(Some(LAUNCH_FAILED));
    }
    let failure = match machine::run(launch) {
        Ok(()) => return Ok(()),
        Err(failure) => failure,
    };
    let (code, said) = match failure {
        Failure::Steps => return Err(None),
        Failure::Trap(_) => return Err(Some(LAUNCH_FAILED)),
        Failure::Address(line) => (ILLEGAL_ADDRESS, format!("leaves memory in line {line}")),
        Failure::Stuck(line) => {
            let waits = format!("waits in line {line} , for threads that do not come");
            (LAUNCH_FAILED, waits)
        }
        Failure::Unknown(line) => (
            LAUNCH_FAILED,
            format!("has no value in line {line} (a bug)"),
        ),
    };
    eprintln!("interpreter of PTX: kernel '{name}' {said} of its PTX");
    Err(Some(code))
}

fn write_down(name: &str, blocks: [u32; 3], threads: [u32; 3], shared: u32) {
    let Some(path) = settings::log() else {
        return;
    };
    let file = OpenOptions::new().create(true).append(true).open(path);
    if let Ok(mut file) = file {
        let [a, b, c] = blocks;
        let [x, y, z] = threads;
        let line = format!("{name} blocks {a} {b} {c} threads {x} {y} {z} shared {shared}\n");
        // A log that cannot be written is missed by who reads it.
        let _ = file.write_all(line.as_bytes());
    }
}
