//! The descriptions that come with this crate (MDH paper, example 2).

use super::facts;
use super::{Asm, AsmLayer, CombineIn, Core, Limit, Memory, MemoryKind};

/// A CPU's facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuFacts {
    /// Bytes of main memory.
    pub main: Option<u64>,
    /// Bytes of the L3 cache that all cores share; `None` where there is none.
    pub l3: Option<u64>,
    /// Bytes of each core's L2 cache.
    pub l2: u64,
    /// Bytes of each core's L1 data cache.
    pub l1: u64,
    /// Cores.
    pub cores: u64,
    /// Vector registers of a core.
    pub registers: u64,
    /// Bytes of a vector register.
    pub vector: u64,
    /// Instructions that not every CPU has.
    pub features: Vec<String>,
}

/// A CUDA device's facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaFacts {
    /// Bytes of device memory.
    pub device: Option<u64>,
    /// Bytes of shared memory that one block may use.
    pub shared: u64,
    /// Bytes of registers that one thread may use.
    pub registers: u64,
    /// Streaming multiprocessors.
    pub multiprocessors: Option<u64>,
    /// Threads of one block.
    pub threads_per_block: u64,
    /// Threads of one warp.
    pub warp: u64,
}

/// An OpenCL device's facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenClFacts {
    /// Bytes of global memory.
    pub global: Option<u64>,
    /// Bytes of local memory of a work-group.
    pub local: u64,
    /// Bytes of private memory of a work-item.
    pub private: u64,
    /// Work-items of one work-group.
    pub work_group: u64,
}

impl Default for CudaFacts {
    /// Limits of every device of compute capability 5.0 and up.
    fn default() -> Self {
        CudaFacts {
            device: None,
            shared: facts::SHARED,
            registers: facts::REGISTERS * 4,
            multiprocessors: None,
            threads_per_block: facts::BLOCK,
            warp: facts::WARP as u64,
        }
    }
}

impl Default for CpuFacts {
    /// Two cores with AVX-512 and usual caches.
    fn default() -> Self {
        CpuFacts {
            main: None,
            l3: Some(32 << 20),
            l2: 1 << 20,
            l1: 32 << 10,
            cores: 2,
            registers: 32,
            vector: 64,
            features: vec![],
        }
    }
}

impl Default for OpenClFacts {
    /// The least that the standard asks of a device that is no custom one, and usual work-groups.
    fn default() -> Self {
        OpenClFacts {
            global: None,
            local: 32 << 10,
            private: 1 << 10,
            work_group: 256,
        }
    }
}

fn memory(name: &str, capacity: Option<u64>, kind: MemoryKind) -> AsmLayer {
    AsmLayer::Memory(Memory {
        name: name.into(),
        capacity,
        kind,
        asynchronous: false,
    })
}

fn core(name: &str, count: Option<u64>, extents: &[u64], combine_in: &[&str]) -> AsmLayer {
    let region = |name: &&str| CombineIn {
        region: (*name).into(),
        at_most: None,
    };
    AsmLayer::Core(Core {
        name: name.into(),
        count,
        width: None,
        extents: extents.to_vec(),
        features: vec![],
        combine_in: combine_in.iter().map(region).collect(),
    })
}

impl Asm {
    /// The description that comes with this crate under a name, with facts that are usual.
    pub fn builtin(name: &str) -> Option<Asm> {
        Asm::builtins().into_iter().find(|asm| asm.name == name)
    }

    /// All descriptions that come with this crate, with facts that are usual.
    pub fn builtins() -> Vec<Asm> {
        let cuda = Asm::cuda(&CudaFacts::default());
        vec![
            Asm::cpu(&CpuFacts::default()),
            cuda.clone(),
            Asm::opencl(&OpenClFacts::default()),
            cuda.clone().with_gpus(4, None),
            cuda.with_gpus(4, None).with_nodes(8, None),
        ]
    }

    /// `cpu`: main memory and L3, shared by `core`s, each with L2, L1 and registers, in which
    /// `simd` lanes work. The order of the layers is that of ownership.
    pub fn cpu(facts: &CpuFacts) -> Asm {
        use MemoryKind::{Cache, Explicit};
        let shared: &[&str] = match facts.l3 {
            Some(_) => &["main", "L3"],
            None => &["main"],
        };
        let mut lanes = shared.to_vec();
        lanes.extend(["L2", "L1", "register"]);
        let mut layers = vec![memory("main", facts.main, Explicit)];
        layers.extend(facts.l3.map(|bytes| memory("L3", Some(bytes), Cache)));
        layers.push(core("core", Some(facts.cores), &[], shared));
        layers.push(memory("L2", Some(facts.l2), Cache));
        layers.push(memory("L1", Some(facts.l1), Cache));
        let registers = facts.registers * facts.vector;
        layers.push(memory("register", Some(registers), Explicit));
        let mut simd = core(super::LANES, None, &[], &lanes);
        if let AsmLayer::Core(simd) = &mut simd {
            simd.width = Some(facts.vector);
            simd.features = facts.features.clone();
        }
        layers.push(simd);
        Asm {
            name: "cpu".into(),
            layers,
            limits: vec![],
        }
    }

    /// `cuda`: device memory; `block`s, each with shared memory; `warp`s of `thread`s, each with
    /// registers; tiles of warp-level MMA (`mma`). Constraints as in
    /// appendix C.1, tables 2 and 3: a schedule that does not divide warps gives all threads of a
    /// block to one.
    pub fn cuda(facts: &CudaFacts) -> Asm {
        use MemoryKind::Explicit;
        let threads = facts.threads_per_block;
        let extents = [threads, threads, 64];
        let grid = [(1 << 31) - 1, 65535, 65535];
        let mut thread = core("thread", None, &extents, &["device", "shared"]);
        if let AsmLayer::Core(thread) = &mut thread {
            thread.combine_in.push(CombineIn {
                region: "register".into(),
                at_most: Some(facts.warp),
            });
        }
        let mut shared = memory("shared", Some(facts.shared), Explicit);
        if let AsmLayer::Memory(shared) = &mut shared {
            shared.asynchronous = true;
        }
        let layers = vec![
            memory("device", facts.device, Explicit),
            core("block", facts.multiprocessors, &grid, &["device"]),
            shared,
            core("warp", None, &[], &["device", "shared"]),
            thread,
            memory("register", Some(facts.registers), Explicit),
            core(super::MATRIX, None, &[], &["device", "shared", "register"]),
        ];
        let limits = vec![Limit {
            what: "threads per block".into(),
            layers: vec!["warp".into(), "thread".into()],
            at_most: threads,
        }];
        let name = "cuda".into();
        Asm {
            name,
            layers,
            limits,
        }
    }

    /// `opencl`: global memory; compute units (`cu`), each with local memory; processing
    /// elements (`pe`), each with private memory (appendix C.1, table 4).
    pub fn opencl(facts: &OpenClFacts) -> Asm {
        use MemoryKind::Explicit;
        let layers = vec![
            memory("global", facts.global, Explicit),
            core("cu", None, &[], &["global"]),
            memory("local", Some(facts.local), Explicit),
            core("pe", None, &[], &["global", "local"]),
            memory("private", Some(facts.private), Explicit),
        ];
        let limits = vec![Limit {
            what: "work-items per work-group".into(),
            layers: vec!["pe".into()],
            at_most: facts.work_group,
        }];
        let name = "opencl".into();
        Asm {
            name,
            layers,
            limits,
        }
    }

    /// The same machine several times in one host, as layer `gpu` under the memory `host` that
    /// combines their results (paper, section 3.2).
    pub fn with_gpus(self, count: u64, host: Option<u64>) -> Asm {
        self.inside("host", host, "gpu", count, "multi")
    }

    /// Several such hosts, as layer `node` under the memory `node_memory`.
    pub fn with_nodes(self, count: u64, memory: Option<u64>) -> Asm {
        self.inside("node_memory", memory, "node", count, "cluster")
    }

    fn inside(self, outer: &str, bytes: Option<u64>, cores: &str, count: u64, kind: &str) -> Asm {
        let mut layers = vec![
            memory(outer, bytes, MemoryKind::Explicit),
            core(cores, Some(count), &[], &[outer]),
        ];
        layers.extend(self.layers);
        Asm {
            name: format!("{kind}_{}", self.name),
            layers,
            limits: self.limits,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mdh_algebra::mapping::{axis_name, axis_number};

    #[test]
    fn descriptions_are_well_formed_and_convert_without_loss() {
        let without_l3 = CpuFacts {
            l3: None,
            ..CpuFacts::default()
        };
        let cuda = Asm::cuda(&CudaFacts::default());
        let asms = [
            Asm::cpu(&CpuFacts::default()),
            Asm::cpu(&without_l3),
            Asm::opencl(&OpenClFacts::default()),
            cuda.clone().with_gpus(4, Some(1 << 40)),
            cuda.clone().with_gpus(4, None).with_nodes(8, None),
            cuda,
        ];
        for asm in &asms {
            assert_eq!(asm.check(), [""; 0], "{}", asm.name);
            assert_eq!(Asm::from_json(&asm.to_json()).as_ref(), Ok(asm));
        }
        for asm in Asm::builtins() {
            assert_eq!(asm.check(), [""; 0], "{}", asm.name);
            assert_eq!(Asm::builtin(&asm.name), Some(asm));
        }
        assert_eq!(Asm::builtin("multi_cluster"), None);
        assert_eq!(asms[4].owners("shared"), ["node", "gpu", "block"]);
        assert_eq!(asms[0].owners("register"), ["core"]);
    }

    #[test]
    fn malformed_descriptions_are_refused() {
        let mut asm = Asm::cuda(&CudaFacts::default());
        asm.layers.swap(0, 1);
        asm.layers
            .push(memory("device", Some(0), MemoryKind::Cache));
        asm.limits[0].layers[0] = "wrap".into();
        assert_eq!(
            asm.check(),
            [
                "ASM 'cuda': the first layer must be the memory that holds the buffers",
                "ASM 'cuda': found two layers named 'device', expected one",
                "ASM 'cuda': layer 'device' has a capacity of 0 bytes, expected some",
                "ASM 'cuda': limit 'threads per block' names 'wrap', expected one of the core \
                 layers block, warp, thread, mma",
            ]
        );
        let unknown = Asm::from_json(r#"{"name": "a", "layer": []}"#).unwrap_err();
        assert!(
            unknown.contains("unknown field `layer`, expected one of `name`, `layers`, `limits`"),
            "{unknown}"
        );
    }

    #[test]
    fn dimension_names_count_on() {
        for n in 0..12 {
            assert_eq!(axis_number(&axis_name(n)), Some(n));
        }
        assert_eq!(axis_number("d2"), None);
        assert_eq!(axis_number("q"), None);
    }
}
