//! The abstract system model (ASM): a machine as an ordered list of memory and core layers
//! (MDH paper, section 3.2 and appendix C.4, C.5).
//!
//! The order says who owns what: a memory layer belongs to each instance of the core layers
//! before it and is shared by those after it. In `cuda`, every `block` has a `shared` memory
//! that its `warp`s and `thread`s use together, and every thread has its own `register`s.
//!
//! An ASM is data: [`Asm::cpu`], [`Asm::cuda`] and [`Asm::opencl`] are descriptions like any
//! other, and a new machine is a JSON text. Numbers (capacities, widths, counts) are facts of a
//! machine that whoever builds the description looks up; a fact that is missing is not checked.
//!
//! ```
//! use mdh_schedule::asm::Asm;
//! let asm = Asm::from_json(
//!     r#"{"name": "toy", "layers": [
//!         {"memory": {"name": "HM"}},
//!         {"core": {"name": "COR", "count": 8, "combine_in": [{"region": "HM"}]}},
//!         {"memory": {"name": "L1", "capacity": 32768, "kind": "cache"}}]}"#,
//! )?;
//! assert_eq!(asm.owners("L1"), ["COR"]);
//! let zero = r#"{"name": "z", "layers": [{"memory": {"name": "M"}},
//!     {"core": {"name": "C", "count": 0, "combine_in": []}}]}"#;
//! assert_eq!(
//!     Asm::from_json(zero).unwrap_err(),
//!     "ASM 'z': layer 'C' has a count of 0, expected at least 1"
//! );
//! # Ok::<(), String>(())
//! ```

mod builtin;
mod device;
pub mod facts;

use serde::{Deserialize, Serialize};

pub use builtin::{CpuFacts, CudaFacts, OpenClFacts};

/// The name of the layer of vector lanes.
pub const LANES: &str = "simd";
/// Name of the layer of tiles of warp-level MMA: instructions of a warp for products of matrices.
pub const MATRIX: &str = "mma";

/// An abstract system model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object: {name, layers, limits}")]
pub struct Asm {
    /// The name by which schedules refer to it.
    pub name: String,
    /// Its layers, outermost first.
    pub layers: Vec<AsmLayer>,
    /// Limits on the number of parts of several layers together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Limit>,
}

/// A layer: memory (what is assigned to it runs one after the other) or core (in parallel).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AsmLayer {
    /// A memory layer, which is also a memory region.
    Memory(Memory),
    /// A core layer.
    Core(Core),
}

/// A memory layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object: {name, capacity, ..}")]
pub struct Memory {
    /// Its name, also that of its region.
    pub name: String,
    /// Bytes of one instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<u64>,
    /// Kind of management: cache or scratchpad.
    #[serde(default)]
    pub kind: MemoryKind,
    /// True if cores can ask for copies there, and wait for them later.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asynchronous: bool,
}

/// Party that decides what a memory holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryKind {
    /// The program: what does not fit is refused.
    #[default]
    Explicit,
    /// The machine: regions of a cache live in the memory around it, and what does not fit is
    /// slower, not wrong (paper, section 3.5 on figure 23).
    Cache,
}

/// A core layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object: {name, count, combine_in, ..}"
)]
pub struct Core {
    /// Its name.
    pub name: String,
    /// Number of cores; more parts than cores wait for their turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Bytes that one instruction handles, of vector lanes: at most that many bytes of parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u64>,
    /// The most parts in each of its dimensions x, y, z, ..; what is beyond the last is embedded
    /// in the last (appendix C.4). None: no limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extents: Vec<u64>,
    /// Instructions that not every such core has, by the names that Linux gives them: of vector
    /// lanes, those that combine several points of a sum of products (`avx512_vnni`,
    /// `avx512_bf16`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
    /// Memories in which its results can be combined (appendix C.1, constraints on R3).
    pub combine_in: Vec<CombineIn>,
}

/// A region in which the results of a core layer can be combined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object: {region, at_most}")]
pub struct CombineIn {
    /// The memory layer.
    pub region: String,
    /// Only among this many parts: the lanes of a warp can exchange registers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<u64>,
}

/// A limit on the product of the part counts of some layers, over all dimensions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object: {what, layers, at_most}")]
pub struct Limit {
    /// The limited quantity, for messages: `threads per block`.
    pub what: String,
    /// The core layers.
    pub layers: Vec<String>,
    /// The most parts.
    pub at_most: u64,
}

impl AsmLayer {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            AsmLayer::Memory(memory) => &memory.name,
            AsmLayer::Core(core) => &core.name,
        }
    }

    /// Its memory, if it is one.
    pub fn memory(&self) -> Option<&Memory> {
        match self {
            AsmLayer::Memory(memory) => Some(memory),
            AsmLayer::Core(_) => None,
        }
    }

    /// Its core, if it is one.
    pub fn core(&self) -> Option<&Core> {
        match self {
            AsmLayer::Memory(_) => None,
            AsmLayer::Core(core) => Some(core),
        }
    }
}

impl Asm {
    /// Reads and checks a description.
    pub fn from_json(text: &str) -> Result<Asm, String> {
        let asm: Asm = serde_json::from_str(text).map_err(|e| format!("ASM: {e}"))?;
        match asm.check().into_iter().next() {
            None => Ok(asm),
            Some(finding) => Err(finding),
        }
    }

    /// The description as JSON.
    pub fn to_json(&self) -> String {
        // Names, numbers and lists always serialise.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Checks the description, and returns all findings; none if it is well formed.
    pub fn check(&self) -> Vec<String> {
        let mut errors = Vec::new();
        let mut say = |what: String| errors.push(format!("ASM '{}': {what}", self.name));
        if self.layers.first().and_then(AsmLayer::memory).is_none() {
            say("the first layer must be the memory that holds the buffers".into());
        }
        for (n, layer) in self.layers.iter().enumerate() {
            let name = layer.name();
            if self.layers[..n].iter().any(|l| l.name() == name) {
                say(format!("found two layers named '{name}', expected one"));
            }
            if name.is_empty() || name.contains('.') {
                say(format!(
                    "found the layer name '{name}', expected one without '.'"
                ));
            }
            match layer {
                AsmLayer::Memory(memory) if memory.capacity == Some(0) => {
                    say(format!(
                        "layer '{name}' has a capacity of 0 bytes, expected some"
                    ));
                }
                AsmLayer::Memory(_) => {}
                AsmLayer::Core(core) => self.check_core(core, &mut say),
            }
        }
        for limit in &self.limits {
            for layer in &limit.layers {
                if self.layer(layer).and_then(AsmLayer::core).is_none() {
                    let cores = self.core_names().join(", ");
                    let what = &limit.what;
                    say(format!(
                        "limit '{what}' names '{layer}', expected one of the core layers {cores}"
                    ));
                }
            }
        }
        errors
    }

    fn check_core(&self, core: &Core, say: &mut impl FnMut(String)) {
        let name = &core.name;
        let numbers = [("count", core.count), ("width", core.width)];
        let extents = core.extents.iter().map(|e| ("extent", Some(*e)));
        for (what, number) in numbers.into_iter().chain(extents) {
            if number == Some(0) {
                say(format!(
                    "layer '{name}' has a {what} of 0, expected at least 1"
                ));
            }
        }
        for combine in &core.combine_in {
            if self.memory(&combine.region).is_none() {
                let (region, known) = (&combine.region, self.memory_names().join(", "));
                say(format!(
                    "layer '{name}' combines in '{region}', expected one of the memory layers \
                     {known}"
                ));
            }
        }
    }

    /// The layer of that name.
    pub fn layer(&self, name: &str) -> Option<&AsmLayer> {
        self.layers.iter().find(|l| l.name() == name)
    }

    /// The vector lanes of a core, the layer of the name [`LANES`].
    pub fn lanes(&self) -> Option<&Core> {
        self.layer(LANES)?.core()
    }

    /// Bytes of a vector: the width of an instruction.
    pub fn vector(&self) -> Option<u64> {
        self.lanes()?.width
    }

    /// The position of the layer of that name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.layers.iter().position(|l| l.name() == name)
    }

    /// The memory of that name.
    pub fn memory(&self, name: &str) -> Option<&Memory> {
        self.layer(name)?.memory()
    }

    /// The memory regions' names, outermost first (the paper's set MR).
    pub fn memory_names(&self) -> Vec<&str> {
        let memories = self.layers.iter().filter_map(AsmLayer::memory);
        memories.map(|m| m.name.as_str()).collect()
    }

    /// The core layers' names, outermost first.
    pub fn core_names(&self) -> Vec<&str> {
        let cores = self.layers.iter().filter_map(AsmLayer::core);
        cores.map(|c| c.name.as_str()).collect()
    }

    /// The core layers of which each instance has its own copy of a memory.
    pub fn owners(&self, region: &str) -> Vec<&str> {
        let before = self.layers.iter().take_while(|l| l.name() != region);
        let cores = before.filter_map(AsmLayer::core);
        cores.map(|c| c.name.as_str()).collect()
    }

    /// Returns whether programs for it are kernels: blocks of threads.
    pub fn has_kernels(&self) -> bool {
        self.position("block").is_some() && self.position("thread").is_some()
    }

    /// Returns whether the cores that share a memory copy inputs there cooperatively, for all of them: the
    /// threads of a block do, in its shared memory.
    pub fn copies_cooperatively(&self, region: usize) -> bool {
        let name = self.layers[region].name();
        let inside = &self.layers[region..];
        let is_shared = inside.iter().any(|layer| layer.core().is_some());
        self.has_kernels() && is_shared && self.owners(name).last().is_some_and(|o| *o == "block")
    }

    /// Returns whether threads can copy inputs there cooperatively and wait for them later.
    pub fn copies_asynchronously(&self, region: usize) -> bool {
        let memory = self.layers[region].memory();
        memory.is_some_and(|memory| memory.asynchronous) && self.copies_cooperatively(region)
    }
}
