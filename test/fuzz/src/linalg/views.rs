//! Other names of memrefs: what is written by one is read by the other.

use super::shapes::list;
use super::{Maker, Value};
use crate::choices::Choices;

/// Adds a name of a memref that is there.
pub fn add(c: &mut Choices, maker: &mut Maker) {
    let number = c.below("of", maker.values.len() as u64) as usize;
    let value = maker.values[number].clone();
    let of = maker.known(&value);
    let made = match c.weighted("view", &[50, 15, 15, 20]) {
        0 => subview(c, maker, &of),
        1 => collapse(maker, &of),
        2 => expand(maker, &of),
        _ => Some(of),
    };
    maker.values.extend(made);
}

/// The strides of a memref.
fn strides(of: &Value) -> (i64, Vec<i64>) {
    of.layout.clone().unwrap_or_else(|| {
        let mut strides = vec![1; of.shape.len()];
        for axis in (1..of.shape.len()).rev() {
            strides[axis - 1] = strides[axis] * of.shape[axis];
        }
        (0, strides)
    })
}

fn subview(c: &mut Choices, maker: &mut Maker, of: &Value) -> Option<Value> {
    // Upstream verifies an offset into no elements as out of bounds.
    if of.shape.contains(&0) || of.shape.is_empty() {
        return None;
    }
    let (mut offsets, mut sizes, mut steps) = (Vec::new(), Vec::new(), Vec::new());
    for (n, size) in of.shape.iter().enumerate() {
        c.scope(format!("a{n}"), |c| {
            let step = 1 + c.below("stride", 2) as i64;
            let offset = c.below("offset", *size as u64) as i64;
            let most = (size - offset - 1) / step + 1;
            offsets.push(offset);
            steps.push(step);
            sizes.push(most - c.below("less", most as u64) as i64);
        });
    }
    let (start, own) = strides(of);
    let start = start + own.iter().zip(&offsets).map(|(s, o)| s * o).sum::<i64>();
    let own = own.iter().zip(&steps).map(|(s, step)| s * step).collect();
    let part = Value {
        name: maker.name(),
        shape: sizes.clone(),
        element: of.element,
        open: false,
        layout: Some((start, own)),
    };
    let text = format!(
        "{} = memref.subview {}[{}] [{}] [{}] : {} to {}",
        part.name,
        of.name,
        list(&offsets),
        list(&sizes),
        list(&steps),
        maker.ty(of),
        maker.ty(&part),
    );
    maker.line(&text);
    Some(part)
}

/// Returns whether elements lie together, so that they may be seen under other axes.
fn is_dense(of: &Value) -> bool {
    of.layout.is_none()
}

fn collapse(maker: &mut Maker, of: &Value) -> Option<Value> {
    if of.shape.len() < 2 || !is_dense(of) {
        return None;
    }
    let first = of.shape[0] * of.shape[1];
    let flat = Value {
        name: maker.name(),
        shape: [&[first], &of.shape[2..]].concat(),
        ..of.clone()
    };
    let rest: String = (2..of.shape.len()).map(|n| format!(", [{n}]")).collect();
    let types = (maker.ty(of), maker.ty(&flat));
    let text = format!(
        "{} = memref.collapse_shape {} [[0, 1]{rest}] : {} into {}",
        flat.name, of.name, types.0, types.1
    );
    maker.line(&text);
    Some(flat)
}

fn expand(maker: &mut Maker, of: &Value) -> Option<Value> {
    let size = *of.shape.first().filter(|_| is_dense(of))?;
    let inner = if size % 2 == 0 { 2 } else { 1 };
    let shape = [&[size / inner, inner], &of.shape[1..]].concat();
    let rest: String = (1..of.shape.len())
        .map(|n| format!(", [{}]", n + 1))
        .collect();
    let more = Value {
        name: maker.name(),
        shape: shape.clone(),
        ..of.clone()
    };
    let types = (maker.ty(of), maker.ty(&more));
    let text = format!(
        "{} = memref.expand_shape {} [[0, 1]{rest}] output_shape [{}] : {} into {}",
        more.name,
        of.name,
        list(&shape),
        types.0,
        types.1
    );
    maker.line(&text);
    Some(more)
}
