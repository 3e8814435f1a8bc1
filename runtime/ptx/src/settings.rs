//! Properties of the device, from the environment.
//!
//! | variable | meaning |
//! |---|---|
//! | `MDH_EMULATOR_DEVICES` | how many devices there are; 1 |
//! | `MDH_EMULATOR_CHIP` | the compute capability of each, such as `80`; `90` |
//! | `MDH_EMULATOR_MEMORY` | bytes of memory of each; 2^34 |
//! | `MDH_EMULATOR_STEPS` | how many instructions a thread runs at most, after which a kernel counts as one that does not end; 10^9 |
//! | `MDH_EMULATOR_FAIL` | the name of a call, such as `cuLaunchKernel`, that fails |
//! | `MDH_EMULATOR_LOG` | a file to which a line for each launch is added |
//! | `MDH_EMULATOR_ZEROS` | if set, kernels do nothing and all that is copied from the device is zero: for tests, whose checks must see that |

use std::env;
use std::str::FromStr;

fn number<T: FromStr>(name: &str, default: T) -> T {
    let text = env::var(name).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Returns the number of devices.
pub fn devices() -> i32 {
    number("MDH_EMULATOR_DEVICES", 1)
}

/// Returns their compute capability: 90 is 9.0.
pub fn chip() -> i32 {
    number("MDH_EMULATOR_CHIP", 90)
}

/// Bytes of memory.
pub fn memory() -> usize {
    number("MDH_EMULATOR_MEMORY", 1 << 34)
}

/// Instructions of a thread.
pub fn steps() -> u64 {
    number("MDH_EMULATOR_STEPS", 1_000_000_000)
}

/// Returns whether a call fails.
pub fn fails(call: &str) -> bool {
    env::var("MDH_EMULATOR_FAIL").is_ok_and(|name| name == call)
}

/// Returns the file in which launches are written down.
pub fn log() -> Option<String> {
    env::var("MDH_EMULATOR_LOG").ok()
}

/// Returns whether the device computes nothing, and has zeros everywhere.
pub fn is_zero() -> bool {
    env::var_os("MDH_EMULATOR_ZEROS").is_some()
}
