//! A schedule as it is written: everything is optional, and stands by names.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::numbers::{self, Parts};
use crate::staged_layout::StagedLayout;

/// A schedule as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Schedule {
    /// The ASM it is made for; none fits any that has its layers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asm: Option<String>,
    /// Parameter 0: layers, outermost first, with part counts. Layers of the ASM that are left
    /// out have one part.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<Layer>,
    /// D1, D2. Defaults: layer by layer; layer `l` to the ASM layer `l`, dimension by dimension.
    #[serde(skip_serializing_if = "Phase::is_default")]
    pub decompose: Phase,
    /// S1, S2. Default: as in `decompose`.
    #[serde(skip_serializing_if = "Phase::is_default")]
    pub scalar: Phase,
    /// R1, R2. Default: as in `scalar`.
    #[serde(skip_serializing_if = "Phase::is_default")]
    pub recompose: Phase,
    /// In which order tiles of neighbouring levels are taken, or which core takes which.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tile_order: Option<TileOrder>,
    /// D3, D4, S3, S4 by input.
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "numbers::unique"
    )]
    pub inputs: BTreeMap<String, Input>,
    /// S5, S6, R3, R4 by output.
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "numbers::unique"
    )]
    pub outputs: BTreeMap<String, Output>,
    /// Treatment of the points that do not fill a tile, by dimension.
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "numbers::unique"
    )]
    pub tails: BTreeMap<String, TailCode>,
    /// Position in another computation of the function at which this one is computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compute_at: Option<ComputeAt>,
    /// True if the combine tree depends on sizes and schedule only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deterministic: Option<bool>,
}

/// Schedules of several computations of a function: `{"computations": {"C": ..}}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedules {
    /// By position, from 0, or by the name of the first output.
    #[serde(deserialize_with = "numbers::unique")]
    pub computations: BTreeMap<String, Schedule>,
}

/// A layer's part counts by dimension; those left out are 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Its name.
    pub name: String,
    /// The counts.
    pub parts: BTreeMap<String, Parts>,
}

/// Order and assignment of one phase.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Phase {
    /// MDH levels, outermost first. Levels of one part may be left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Vec<LevelName>>,
    /// The ASM levels of MDH levels, where they are not the default.
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "numbers::unique"
    )]
    pub assign: BTreeMap<LevelName, LevelName>,
}

impl Phase {
    fn is_default(&self) -> bool {
        *self == Phase::default()
    }
}

/// The order of tiles: the `t`-th one taken is that of index `inv(t)`, or the `t`-th core takes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TileOrder {
    /// Levels that follow each other in the order of the loops.
    pub levels: Vec<LevelName>,
    /// A layout of the algebra, whose sizes are their part counts.
    pub layout: StagedLayout,
}

/// An MDH level (`block.i`) or an ASM level (`block.x`) by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LevelName {
    /// The layer; it has no `.` in its name.
    pub layer: String,
    /// The dimension.
    pub dimension: String,
}

impl LevelName {
    /// `layer.dimension`.
    pub fn new(layer: &str, dimension: &str) -> LevelName {
        LevelName {
            layer: layer.into(),
            dimension: dimension.into(),
        }
    }
}

impl fmt::Display for LevelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.layer, self.dimension)
    }
}

/// Memory and layout of an input's tiles. Entries hold from their level on, in D1's order; before
/// the first one, tiles are in the ASM's first memory and row-major.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Input {
    /// D3: regions.
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "numbers::unique"
    )]
    pub stage: BTreeMap<LevelName, String>,
    /// D4: layouts.
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "numbers::unique"
    )]
    pub layout: BTreeMap<LevelName, StagedLayout>,
    /// Buffers for tiles that are copied asynchronously; without it, copies are waited for at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stages: Option<i64>,
    /// S3: the region from which the scalar function reads. Default: D3's last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scalar: Option<String>,
    /// S4: the layout there. Default: D4's last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scalar_layout: Option<StagedLayout>,
}

/// Memory and layout of an output's partial results. Entries hold from their level on, in R1's
/// order; before the first one, results are in the ASM's first memory, row-major.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Output {
    /// S5: the region to which the scalar function writes. Default: R3's last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scalar: Option<String>,
    /// S6: the layout there. Default: R4's last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scalar_layout: Option<StagedLayout>,
    /// R3: regions.
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "numbers::unique"
    )]
    pub combine: BTreeMap<LevelName, String>,
    /// R4: layouts.
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "numbers::unique"
    )]
    pub layout: BTreeMap<LevelName, StagedLayout>,
}

/// Treatment of points that do not fill a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TailCode {
    /// Code of its own.
    Peel,
    /// The tile's code, with the rest switched off.
    Mask,
}

/// Fusion of a chain: this computation is computed tile by tile inside its consumer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComputeAt {
    /// The name of the computation that reads this one's result.
    pub consumer: String,
    /// The consumer's level in whose loop it is computed.
    pub level: LevelName,
}
