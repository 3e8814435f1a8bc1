//! Description of a computation: its dimensions, its buffers, its operations and bytes.

use serde::Serialize;

use mdh_algebra::amounts::{bytes, count};
use mdh_algebra::computation::{Buffer, Combine, Computation};

/// Amounts of a computation, each counted once, here.
#[derive(Clone, Debug, Serialize)]
pub struct Work {
    /// Its dimensions, in order.
    pub dimensions: Vec<Dimension>,
    /// Buffers that it reads.
    pub reads: Vec<Accessed>,
    /// Buffers that it writes.
    pub writes: Vec<Accessed>,
    /// Points of all dimensions; none where a size is not known, as with what follows.
    pub points: Option<f64>,
    /// Operations of the scalar function and of combinations; those of a loop of the scalar function whose
    /// iterations only a run knows count once.
    pub operations: Option<f64>,
    /// Bytes, if each distinct element is read or written once.
    pub bytes: Option<f64>,
    /// True if the scalar function has such loops.
    pub has_open_loops: bool,
}

/// A dimension.
#[derive(Clone, Debug, Serialize)]
pub struct Dimension {
    /// Its name.
    pub name: String,
    /// The number of its points.
    pub points: Option<i64>,
    /// Combination of its points: `cc`, `pw(addf)`.
    pub combine: String,
}

/// A buffer, as it is accessed.
#[derive(Clone, Debug, Serialize)]
pub struct Accessed {
    /// Its name.
    pub name: String,
    /// The indices of each access: `[i, k]`.
    pub accesses: Vec<String>,
    /// Its extents; none where one is not known.
    pub shape: Vec<Option<i64>>,
    /// Its element type.
    pub element: String,
    /// Bytes of all of it.
    pub bytes: Option<f64>,
}

impl Work {
    /// Counts a computation.
    pub fn new(computation: &Computation) -> Work {
        let dimensions = computation.dimensions.iter();
        let dimensions: Vec<Dimension> = dimensions
            .map(|d| Dimension {
                name: d.name.clone(),
                points: d.count(),
                combine: combine(computation, d.combine),
            })
            .collect();
        let accessed = |buffers: &[Buffer]| {
            let buffers = buffers.iter();
            buffers.map(|b| Accessed::new(computation, b)).collect()
        };
        let is_known = computation.grids().is_some();
        Work {
            points: dimensions.iter().map(|d| Some(d.points? as f64)).product(),
            dimensions,
            reads: accessed(&computation.inputs),
            writes: accessed(&computation.outputs),
            operations: is_known.then(|| computation.flops()),
            bytes: is_known.then(|| computation.bytes()),
            has_open_loops: computation.scalar.has_open_loops(),
        }
    }

    /// The options that give the sizes which are not known, as the end of a sentence.
    pub fn wanted(&self) -> String {
        let open = self.dimensions.iter().filter(|d| d.points.is_none());
        let open: Vec<String> = open.map(|d| format!(" --size {}=N", d.name)).collect();
        match open.is_empty() {
            true => String::new(),
            false => format!(": expected{}", open.concat()),
        }
    }

    /// The lines about it.
    pub fn text(&self) -> String {
        let dimensions = self.dimensions.iter().map(Dimension::text);
        let mut text = format!("  points: {}\n", dimensions.collect::<Vec<_>>().join(", "));
        for (kind, buffers) in [("reads", &self.reads), ("writes", &self.writes)] {
            for buffer in buffers {
                text += &format!("  {kind} {}\n", buffer.text());
            }
        }
        text + &self.amounts()
    }

    fn amounts(&self) -> String {
        let Some((operations, moved)) = self.operations.zip(self.bytes) else {
            return format!("  work: not known before the sizes are{}\n", self.wanted());
        };
        let intensity = match moved > 0.0 {
            true => format!(", {:.2} operations for each byte", operations / moved),
            false => String::new(),
        };
        let open = match self.has_open_loops {
            true => {
                "; loops of the scalar function count as one iteration, theirs are known to a run only"
            }
            false => "",
        };
        format!(
            "  work: {} operations on {}{intensity}{open}\n",
            count(operations),
            bytes(moved)
        )
    }
}

impl Dimension {
    /// `i = 64 cc`; a size that is not known is `?`.
    pub fn text(&self) -> String {
        let points = self.points.map_or("?".to_string(), |n| n.to_string());
        format!("{} = {points} {}", self.name, self.combine)
    }
}

impl Accessed {
    fn new(computation: &Computation, buffer: &Buffer) -> Accessed {
        let names = computation.names();
        let accesses = buffer.accesses.iter().map(|access| {
            let axes = access.map.iter();
            let axes = axes.map(|expr| expr.display(&names).to_string());
            format!("[{}]", axes.collect::<Vec<_>>().join(", "))
        });
        Accessed {
            name: buffer.name.clone(),
            accesses: accesses.collect(),
            shape: buffer.shape.clone(),
            element: buffer.element.to_string(),
            bytes: buffer_bytes(buffer),
        }
    }

    /// `A[i, k] of 64x64xf32, 16.0 KiB`.
    pub fn text(&self) -> String {
        let extent = |n: &Option<i64>| n.map_or("?x".to_string(), |n| format!("{n}x"));
        let shape: String = self.shape.iter().map(extent).collect();
        let whole = self.bytes.map(|size| format!(", {}", bytes(size)));
        format!(
            "{}{} of {shape}{}{}",
            self.name,
            self.accesses.concat(),
            self.element,
            whole.unwrap_or_default()
        )
    }
}

fn combine(computation: &Computation, combine: Combine) -> String {
    let operator = combine
        .operator()
        .and_then(|n| computation.operators.get(n));
    let operator = operator.map(ToString::to_string).unwrap_or_default();
    match combine {
        Combine::Cc => "cc".to_string(),
        Combine::Pw(_) => format!("pw({operator})"),
        Combine::Ps(_) => format!("ps({operator})"),
    }
}

/// Bytes of a buffer.
pub fn buffer_bytes(buffer: &Buffer) -> Option<f64> {
    let extents: Option<Vec<f64>> = buffer.shape.iter().map(|n| n.map(|n| n as f64)).collect();
    Some(extents?.iter().product::<f64>() * buffer.element.byte_width() as f64)
}
