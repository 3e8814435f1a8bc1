//! Edits as they stand in transform operations.

use std::fmt;

use serde::Serialize;

use super::Edit;
use crate::spelling::{inline, word};

/// Text behind the handle: `L2 {i: 40}` of `transform.mdh.parts %c L2 {i: 40}`.
impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Edit::Schedule { schedule } => write!(f, "({schedule})"),
            Edit::Asm { machine } => f.write_str(&name(machine)),
            Edit::Parts {
                layer,
                counts,
                outside,
            } => {
                write!(f, "{} {}", name(layer), spelled(counts))?;
                optional(f, "outside", outside.as_deref().map(name))
            }
            Edit::Order { phase, levels } => {
                write!(f, "{} {}", spelled(phase), spelled(levels))
            }
            Edit::Assign { phase, levels } => {
                write!(f, "{} {}", spelled(phase), spelled(levels))
            }
            Edit::TileOrder { levels, layout } => {
                write!(f, "{} layout {}", spelled(levels), spelled(layout))
            }
            Edit::Stage {
                input: buffer,
                at,
                region,
                layout,
            }
            | Edit::Combine {
                output: buffer,
                at,
                region,
                layout,
            } => {
                write!(f, "{} at {}", name(buffer), spelled(at))?;
                optional(f, "in", region.as_deref().map(name))?;
                optional(f, "layout", layout.as_ref().map(spelled))
            }
            Edit::Stages { input, count } => write!(f, "{} {count}", name(input)),
            Edit::Scalar {
                role,
                buffer,
                region,
                layout,
            } => {
                write!(f, "{} {}", spelled(role), name(buffer))?;
                optional(f, "in", region.as_deref().map(name))?;
                optional(f, "layout", layout.as_ref().map(spelled))
            }
            Edit::Tails { dimensions } => f.write_str(&spelled(dimensions)),
            Edit::ComputeAt { consumer, level } => {
                write!(f, "{} at {}", name(consumer), spelled(level))
            }
            Edit::Deterministic { value } => write!(f, "{value}"),
        }
    }
}

fn optional(f: &mut fmt::Formatter<'_>, what: &str, text: Option<String>) -> fmt::Result {
    match text {
        Some(text) => write!(f, " {what} {text}"),
        None => Ok(()),
    }
}

/// In the attribute's notation. Names, numbers, lists and maps always serialise.
pub(super) fn spelled(value: impl Serialize) -> String {
    inline(&serde_json::to_value(value).unwrap_or_default())
}

/// A name as it stands in a text: quoted where it must be.
pub fn name(name: &str) -> String {
    word(name)
}
