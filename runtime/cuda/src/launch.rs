//! One launch of a kernel, and its requirements on the device.

use crate::{CudaErrorKind, Error, Facts, Result};

/// A launch: a kernel, how many run it, and what it is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The kernel's name.
    pub name: String,
    /// Blocks along x, y and z.
    pub blocks: [i64; 3],
    /// Threads of a block along x, y and z.
    pub threads: [i64; 3],
    /// Bytes of shared memory beside what the kernel itself has.
    pub shared: i64,
    /// The arguments, each in the lowest bytes of a word.
    pub words: Vec<u64>,
}

impl Launch {
    /// Returns whether nobody runs the kernel.
    pub fn is_empty(&self) -> bool {
        self.blocks.contains(&0) || self.threads.contains(&0)
    }

    /// Fails if it asks for more than a device has, of which the kernel itself takes
    /// `own_shared` bytes of a block's shared memory.
    pub fn check(&self, facts: &Facts, own_shared: u64) -> Result<()> {
        let refuse = |found: String, limit: String| {
            let message = format!(
                "kernel '{}' is launched with {found}: '{}' has at most {limit}",
                self.name, facts.name
            );
            Err(Error::new(CudaErrorKind::Limit, message))
        };
        let exceeds = |found: &[i64; 3], limit: &[u32; 3]| {
            let mut pairs = found.iter().zip(limit);
            pairs.any(|(found, limit)| *found < 0 || *found > i64::from(*limit))
        };
        if exceeds(&self.blocks, &facts.grid) {
            return refuse(
                format!("{} blocks", Extents(&self.blocks)),
                Extents(&facts.grid.map(i64::from)).to_string(),
            );
        }
        if exceeds(&self.threads, &facts.block) {
            return refuse(
                format!("{} threads of a block", Extents(&self.threads)),
                Extents(&facts.block.map(i64::from)).to_string(),
            );
        }
        let threads: i64 = self.threads.iter().product();
        if threads > i64::from(facts.threads) {
            return refuse(
                format!("{threads} threads of a block"),
                facts.threads.to_string(),
            );
        }
        let shared = u64::try_from(self.shared).ok();
        let shared = shared.and_then(|own| own.checked_add(own_shared));
        match shared {
            Some(shared) if shared <= facts.shared => Ok(()),
            _ => refuse(
                format!(
                    "{} bytes of shared memory",
                    i128::from(self.shared) + i128::from(own_shared)
                ),
                facts.shared.to_string(),
            ),
        }
    }
}

/// Three numbers, as people write a grid.
struct Extents<'a>(&'a [i64; 3]);

impl std::fmt::Display for Extents<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [x, y, z] = self.0;
        write!(f, "{x} x {y} x {z}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Capability;

    fn facts() -> Facts {
        Facts {
            name: "a GPU".to_string(),
            capability: Capability {
                major: 9,
                minor: 0,
                is_exact: false,
            },
            multiprocessors: 132,
            memory: 1 << 37,
            cache: 50 << 20,
            shared: 227 << 10,
            threads: 1024,
            grid: [(1 << 31) - 1, 65535, 65535],
            block: [1024, 1024, 64],
            clock: 1_980_000,
            memory_clock: 3_201_000,
            bus: 6144,
        }
    }

    fn launch(blocks: [i64; 3], threads: [i64; 3], shared: i64) -> Launch {
        let (name, words) = ("f_0".to_string(), Vec::new());
        Launch {
            name,
            blocks,
            threads,
            shared,
            words,
        }
    }

    #[test]
    fn what_a_device_has_can_be_launched() {
        let full = launch([(1 << 31) - 1, 65535, 65535], [1024, 1, 1], 0);
        assert_eq!(full.check(&facts(), 227 << 10), Ok(()));
        assert!(launch([1, 0, 1], [1, 1, 1], 0).is_empty());
    }

    #[test]
    fn what_it_has_not_is_refused_with_both_numbers() {
        let message = |launch: Launch| launch.check(&facts(), 1024).unwrap_err().message;
        assert_eq!(
            message(launch([1, 65536, 1], [1, 1, 1], 0)),
            "kernel 'f_0' is launched with 1 x 65536 x 1 blocks: 'a GPU' has at most \
             2147483647 x 65535 x 65535"
        );
        assert_eq!(
            message(launch([1, 1, 1], [1, 1, 65], 0)),
            "kernel 'f_0' is launched with 1 x 1 x 65 threads of a block: 'a GPU' has at most \
             1024 x 1024 x 64"
        );
        assert_eq!(
            message(launch([1, 1, 1], [33, 32, 1], 0)),
            "kernel 'f_0' is launched with 1056 threads of a block: 'a GPU' has at most 1024"
        );
        assert_eq!(
            message(launch([1, 1, 1], [1, 1, 1], 227 << 10)),
            "kernel 'f_0' is launched with 233472 bytes of shared memory: 'a GPU' has at most \
             232448"
        );
        assert!(message(launch([-1, 1, 1], [1, 1, 1], 0)).contains("-1 x 1 x 1 blocks"));
    }
}
