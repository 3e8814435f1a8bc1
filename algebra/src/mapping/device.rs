//! Limits of a device on launches.

use crate::asm::{Asm, Core};

/// Limits of launches, from a machine's description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// The machine's name.
    pub name: String,
    /// The most blocks along x, y, ..
    pub grid: Vec<u64>,
    /// The most threads of a block along x, y, ..
    pub block: Vec<u64>,
    /// The most threads of a block.
    pub threads: u64,
    /// Number of threads of a warp.
    pub warp: u64,
}

impl Device {
    /// The device that a machine is: its `block`s of `thread`s.
    ///
    /// # Errors
    /// If it has no such layers, or does not say how many threads a block or a warp may have.
    pub fn of(asm: &Asm) -> Result<Device, String> {
        let layer = |name: &str| -> Result<&Core, String> {
            let core = asm.layer(name).and_then(|l| l.core());
            let known = asm.core_names().join(", ");
            core.filter(|core| !core.extents.is_empty()).ok_or_else(|| {
                format!(
                    "found the core layers {known} in ASM '{}', expected 'block' and 'thread' with \
                     their extents",
                    asm.name
                )
            })
        };
        let (block, thread) = (layer("block")?, layer("thread")?);
        let of_threads = |limit: &&crate::asm::Limit| limit.layers.iter().any(|l| l == "thread");
        let threads = asm.limits.iter().find(of_threads).map(|l| l.at_most);
        let warp = thread.combine_in.iter().find_map(|c| c.at_most);
        let missing = |what: &str| format!("ASM '{}' does not say {what}", asm.name);
        Ok(Device {
            name: asm.name.clone(),
            grid: block.extents.clone(),
            block: thread.extents.clone(),
            threads: threads.ok_or_else(|| missing("how many threads a block may have"))?,
            warp: warp.ok_or_else(|| missing("how many threads exchange registers"))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asm::{CpuFacts, CudaFacts};

    #[test]
    fn cuda_has_limits_and_a_cpu_has_none() {
        let cuda = Device::of(&Asm::cuda(&CudaFacts::default())).unwrap();
        assert_eq!(cuda.grid, [(1 << 31) - 1, 65535, 65535]);
        assert_eq!(cuda.block, [1024, 1024, 64]);
        assert_eq!((cuda.threads, cuda.warp), (1024, 32));
        assert_eq!(
            Device::of(&Asm::cpu(&CpuFacts::default())).unwrap_err(),
            "found the core layers core, simd in ASM 'cpu', expected 'block' and 'thread' with \
             their extents"
        );
    }
}
