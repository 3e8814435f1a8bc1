//! Launches on a machine.

use mdh_algebra::mapping::Device;

use super::{Asm, Core, Limit};

impl Asm {
    /// The limits of launches on the device that the machine is: its `block`s of `thread`s.
    ///
    /// # Errors
    /// If it has no such layers, or does not say how many threads a block or a warp may have.
    pub fn device(&self) -> Result<Device, String> {
        let layer = |name: &str| -> Result<&Core, String> {
            let core = self.layer(name).and_then(|l| l.core());
            let known = self.core_names().join(", ");
            core.filter(|core| !core.extents.is_empty()).ok_or_else(|| {
                format!(
                    "found the core layers {known} in ASM '{}', expected 'block' and 'thread' with \
                     their extents",
                    self.name
                )
            })
        };
        let (block, thread) = (layer("block")?, layer("thread")?);
        let of_threads = |limit: &&Limit| limit.layers.iter().any(|l| l == "thread");
        let threads = self.limits.iter().find(of_threads).map(|l| l.at_most);
        let warp = thread.combine_in.iter().find_map(|c| c.at_most);
        let missing = |what: &str| format!("ASM '{}' does not say {what}", self.name);
        Ok(Device {
            name: self.name.clone(),
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
        let cuda = Asm::cuda(&CudaFacts::default()).device().unwrap();
        assert_eq!(cuda.grid, [(1 << 31) - 1, 65535, 65535]);
        assert_eq!(cuda.block, [1024, 1024, 64]);
        assert_eq!((cuda.threads, cuda.warp), (1024, 32));
        assert_eq!(
            Asm::cpu(&CpuFacts::default()).device().unwrap_err(),
            "found the core layers core, simd in ASM 'cpu', expected 'block' and 'thread' with \
             their extents"
        );
    }
}
