//! Description of a computation: its dimensions, its buffers, its operations and bytes.

use mdh_algebra::amounts::{bytes, count};
use mdh_algebra::computation::{Buffer, Combine, Computation};

/// The lines about it.
pub fn text(computation: &Computation) -> String {
    let dimensions: Vec<String> = (computation.dimensions.iter())
        .map(|d| {
            let points = d.count().map_or("?".to_string(), |n| n.to_string());
            format!("{} = {points} {}", d.name, combine(computation, d.combine))
        })
        .collect();
    let mut text = format!("  points: {}\n", dimensions.join(", "));
    for (kind, buffers) in [
        ("reads", &computation.inputs),
        ("writes", &computation.outputs),
    ] {
        for buffer in buffers {
            text += &format!("  {kind} {}\n", described(computation, buffer));
        }
    }
    text + &work(computation)
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

fn described(computation: &Computation, buffer: &Buffer) -> String {
    let names = computation.names();
    let accesses = buffer.accesses.iter().map(|access| {
        let axes = access
            .map
            .iter()
            .map(|expr| expr.display(&names).to_string());
        format!("[{}]", axes.collect::<Vec<_>>().join(", "))
    });
    let accesses: String = accesses.collect();
    let extent = |n: &Option<i64>| n.map_or("?x".to_string(), |n| format!("{n}x"));
    let shape: String = buffer.shape.iter().map(extent).collect();
    let whole = buffer_bytes(buffer).map(|size| format!(", {}", bytes(size)));
    let whole = whole.unwrap_or_default();
    format!(
        "{}{accesses} of {shape}{}{whole}",
        buffer.name, buffer.element
    )
}

/// Bytes of a buffer.
pub fn buffer_bytes(buffer: &Buffer) -> Option<f64> {
    let extents: Option<Vec<f64>> = buffer.shape.iter().map(|n| n.map(|n| n as f64)).collect();
    Some(extents?.iter().product::<f64>() * buffer.element.byte_width() as f64)
}

/// Returns advice on giving sizes.
pub fn wanted(computation: &Computation) -> String {
    let open = computation
        .dimensions
        .iter()
        .filter(|d| d.count().is_none());
    let open: Vec<String> = open.map(|d| format!(" --size {}=N", d.name)).collect();
    match open.is_empty() {
        true => String::new(),
        false => format!(": expected{}", open.concat()),
    }
}

fn work(computation: &Computation) -> String {
    if computation.grids().is_none() {
        return format!(
            "  work: not known before the sizes are{}\n",
            wanted(computation)
        );
    }
    let (flops, moved) = (computation.flops(), computation.bytes());
    let intensity = match moved > 0.0 {
        true => format!(", {:.2} operations for each byte", flops / moved),
        false => String::new(),
    };
    let open = match computation.scalar.has_open_loops() {
        true => {
            "; loops of the scalar function count as one iteration, theirs are known to a run only"
        }
        false => "",
    };
    format!(
        "  work: {} operations on {}{intensity}{open}\n",
        count(flops),
        bytes(moved)
    )
}
