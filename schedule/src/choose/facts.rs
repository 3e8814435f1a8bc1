//! Facts about a machine that the choice depends on.

use crate::asm::Asm;

/// Facts about a machine that the choice depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Cores.
    pub cores: i64,
    /// Bytes of a vector.
    pub vector: i64,
    /// Vector registers.
    pub registers: i64,
    /// Bytes of the first cache level of a core.
    pub l1: i64,
    /// Bytes of the second one.
    pub l2: i64,
    /// Bytes of the third one, which cores share: those of the second where there is none.
    pub l3: i64,
    /// The minimum parallel grain: the fewest points that are worth a thread.
    pub grain: i64,
    /// True if results must be the same for any number of cores, floats included.
    pub is_deterministic: bool,
}

impl Facts {
    /// The facts of a machine with the layers of `cpu`; `None` if it has others.
    pub fn new(asm: &Asm) -> Option<Facts> {
        let core = asm.layer("core")?.core()?;
        let bytes =
            |name: &str| Some(i64::try_from(asm.memory(name)?.capacity?).unwrap_or(i64::MAX));
        let vector = i64::try_from(asm.vector()?).ok()?.max(1);
        Some(Facts {
            cores: i64::try_from(core.count?).ok()?.max(1),
            vector,
            registers: (bytes("register")? / vector).max(4),
            l1: bytes("L1")?,
            l2: bytes("L2")?,
            l3: bytes("L3").or_else(|| bytes("L2"))?,
            grain: MIN_GRAIN,
            is_deterministic: false,
        })
    }
}

/// Size in bytes from which on results that are written once are stored non-temporally: the
/// capacity of the last cache, within the bounds of shared caches of most machines.
pub fn streaming_threshold(last: i64) -> i64 {
    last.clamp(8 << 20, 32 << 20)
}

/// The minimum parallel grain: below these many points, another thread costs more than it gains.
pub const MIN_GRAIN: i64 = 1 << 15;

/// The facts of a machine, then with half of its registers, and so on; at last without lanes.
pub(super) fn register_backoff(facts: Facts) -> impl Iterator<Item = Facts> {
    let fewer = std::iter::successors(Some(facts), |facts| {
        let registers = facts.registers / 2;
        (registers >= 4).then_some(Facts {
            registers,
            ..*facts
        })
    });
    let scalar = Facts {
        vector: 1,
        registers: 1,
        ..facts
    };
    fewer.chain([scalar])
}
