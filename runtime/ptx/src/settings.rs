//! Properties of the device, from the environment.
//!
//! | variable | meaning |
//! |---|---|
//! | `MDH_PTX_DEVICES` | how many devices there are; 1 |
//! | `MDH_PTX_CHIP` | the compute capability of each, such as `80`; `90` |
//! | `MDH_PTX_MEMORY` | bytes of memory of each; 2^34 |
//! | `MDH_PTX_STEPS` | how many instructions a thread runs at most, after which a kernel counts as one that does not end; 10^9 |
//! | `MDH_PTX_FAIL` | the name of a call, such as `cuLaunchKernel`, that fails |
//! | `MDH_PTX_LOG` | a file to which a line for each launch is added |
//! | `MDH_PTX_ZEROS` | if set, kernels do nothing and all that is copied from the device is zero: for tests, whose checks must see that |

use std::env;
use std::str::FromStr;

fn number<T: FromStr>(name: &str, default: T) -> T {
    let text = env::var(name).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Returns the number of devices.
pub fn devices() -> i32 {
    number("MDH_PTX_DEVICES", 1)
}

/// Returns their compute capability: 90 is 9.0.
pub fn chip() -> i32 {
    number("MDH_PTX_CHIP", 90)
}

/// Bytes of memory.
pub fn memory() -> usize {
    number("MDH_PTX_MEMORY", 1 << 34)
}

/// Instructions of a thread.
pub fn steps() -> u64 {
    number("MDH_PTX_STEPS", 1_000_000_000)
}

/// Returns whether a call fails.
pub fn fails(call: &str) -> bool {
    env::var("MDH_PTX_FAIL").is_ok_and(|name| name == call)
}

/// Returns the file in which launches are written down.
pub fn log() -> Option<String> {
    env::var("MDH_PTX_LOG").ok()
}

/// Returns whether the device computes nothing, and has zeros everywhere.
pub fn is_zero() -> bool {
    env::var_os("MDH_PTX_ZEROS").is_some()
}
