//! Computations that write a tensor of the type of the program, or a part of it.

use super::{Loops, operators};
use crate::choices::Choices;
use crate::print::code::list;

/// Extents up to which every element may be made of all.
pub const LARGE: i64 = 100;

/// A dimension along an axis: all of it, or from `lower` on and without the last `less`.
struct Dim {
    lower: i64,
    less: i64,
}

/// Adds a computation; its results can be read by later ones.
pub fn add(c: &mut Choices, loops: &mut Loops) {
    let kind = c.weighted("kind", &[55, fold(loops), 15, 10]);
    let count = if kind == 3 { 2 } else { 1 };
    let written: Vec<(String, bool)> = (0..count)
        .map(|n| c.scope(format!("out{n}"), |c| loops.destination(c)))
        .collect();
    compute(c, loops, kind, written);
}

/// Adds a computation that writes a tensor, which may hold something; returns its result.
pub fn into(c: &mut Choices, loops: &mut Loops, destination: (String, bool)) -> String {
    let kind = c.weighted("kind", &[55, fold(loops), 15]);
    let results = compute(c, loops, kind, vec![destination]);
    results[0].clone()
}

/// The weight of computations that combine.
fn fold(loops: &Loops) -> u64 {
    // Each of many elements from all of many is too much for the definition.
    if loops.like.shape[0] > LARGE { 0 } else { 20 }
}

fn compute(
    c: &mut Choices,
    loops: &mut Loops,
    kind: usize,
    written: Vec<(String, bool)>,
) -> Vec<String> {
    let count = written.len();
    let may_leave = written.iter().all(|(_, is_defined)| *is_defined);
    let dims: Vec<Dim> = (0..loops.like.shape.len())
        .map(|axis| c.scope(format!("d{axis}"), |c| dim(c, loops, axis, may_leave)))
        .collect();
    let (fold, plain) = operators(loops.maker.element);
    let combined = match kind {
        1 => Some(("pw", c.pick("operator", &fold[..2]))),
        2 => Some(("ps", c.pick("operator", &fold[..2]))),
        _ => None,
    };
    let accesses: Vec<(String, String)> = (0..1 + c.weighted("inputs", &[35, 45, 20]))
        .map(|n| {
            c.scope(format!("in{n}"), |c| {
                let folded = n == 0 && kind == 1;
                (loops.defined(c), access(c, loops, &dims, folded))
            })
        })
        .collect();
    let function = function(c, loops, accesses.len(), count, (fold, plain));
    let carry =
        (kind == 1 && c.chance("carry", 40)).then(|| c.scope("carry", |c| loops.defined(c)));
    print(
        loops,
        (&dims, &written, &accesses),
        combined,
        &function,
        carry,
    )
}

fn dim(c: &mut Choices, loops: &Loops, axis: usize, may_leave: bool) -> Dim {
    let size = loops.like.shape[axis];
    let (lower, less) = match may_leave && c.chance("part", 45) {
        true => (c.below("lower", 3) as i64, c.below("less", 2) as i64),
        false => (0, 0),
    };
    match lower + less < size {
        true => Dim { lower, less },
        false => Dim { lower: 0, less: 0 },
    }
}

/// Index functions into a tensor of the type; `is_folded` along its first axis.
fn access(c: &mut Choices, loops: &Loops, dims: &[Dim], is_folded: bool) -> String {
    let axis = |(n, dim): (usize, &Dim)| -> String {
        if n == 0 && is_folded {
            return "k".into();
        }
        c.scope(format!("a{n}"), |c| {
            let size = loops.like.shape[n];
            match c.weighted("index", &[60, 12, 14, 14]) {
                1 if loops.sizes.is_empty() => format!("{} - i{n}", size - 1),
                2 if dim.lower > 0 => format!("i{n} - 1"),
                3 if dim.less > 0 => format!("i{n} + 1"),
                _ => format!("i{n}"),
            }
        })
    };
    let axes: Vec<String> = dims.iter().enumerate().map(axis).collect();
    let axes = list(&axes);
    let is_square = loops.like.shape.len() == 2 && loops.like.shape[0] == loops.like.shape[1];
    let is_whole = dims.iter().all(|dim| dim.lower == 0 && dim.less == 0);
    if is_square && is_whole && !is_folded && c.chance("transposed", 15) {
        return "i1, i0".into();
    }
    axes
}

/// A scalar function of so many inputs and results.
fn function(
    c: &mut Choices,
    loops: &Loops,
    inputs: usize,
    results: usize,
    (fold, plain): (&[&'static str], &[&'static str]),
) -> String {
    let element = loops.maker.element;
    let typed: Vec<String> = (0..inputs).map(|n| format!("%p{n}: {element}")).collect();
    let mut text = format!("({}) {{\n", list(&typed));
    let mut last = "%p0".to_owned();
    let mut yielded = Vec::new();
    for n in 0..results {
        for input in 1..inputs + n {
            let operator = c.scope(format!("f{n}_{input}"), |c| match c.chance("plain", 40) {
                true => c.pick("operator", plain),
                false => c.pick("operator", fold),
            });
            let (name, other) = (format!("%t{n}_{input}"), input.min(inputs - 1));
            text += &format!("    {name} = arith.{operator} {last}, %p{other} : {element}\n");
            last = name;
        }
        yielded.push(last.clone());
    }
    let types = list(vec![element; results]);
    text + &format!("    mdh.yield {} : {types}\n  }}", list(&yielded))
}

/// Dimensions, what is written, and what is read at which indices.
type Views<'a> = (&'a [Dim], &'a [(String, bool)], &'a [(String, String)]);

fn print(
    loops: &mut Loops,
    (dims, written, accesses): Views,
    combined: Option<(&str, &str)>,
    function: &str,
    carry: Option<String>,
) -> Vec<String> {
    let ty = loops.ty();
    let mut domain = domain(loops, dims);
    let mut combine = vec!["cc".to_owned(); dims.len()];
    match combined {
        Some(("pw", operator)) => {
            domain.push(format!("k = {}", loops.size(0)));
            combine.push(format!("pw({operator})"));
        }
        Some((_, operator)) => combine[0] = format!("ps({operator})"),
        None => {}
    }
    let point: Vec<String> = (0..dims.len()).map(|n| format!("i{n}")).collect();
    let point = list(&point);
    let named = |prefix: &str, n: usize, (value, index): (&str, &str)| {
        format!("{prefix}{n} = {value}[{index}] : {ty}")
    };
    let outputs = written.iter().enumerate();
    let outputs: Vec<String> = outputs
        .map(|(n, w)| named("y", n, (&w.0, &point)))
        .collect();
    let inputs = accesses.iter().enumerate();
    let inputs: Vec<String> = inputs.map(|(n, a)| named("x", n, (&a.0, &a.1))).collect();
    let carry = carry.map_or(String::new(), |before| {
        format!("\n    carry k (before = {before}[{point}] : {ty})")
    });
    let results: Vec<String> = written.iter().map(|_| loops.maker.name()).collect();
    loops.maker.line(&format!(
        "{} = mdh.compute ({})\n    out_view({})\n    md_hom({function}, ({}))\n    inp_view({}){carry}",
        list(&results),
        list(&domain),
        list(&outputs),
        list(&combine),
        list(&inputs),
    ));
    for (name, (destination, _)) in results.iter().zip(written) {
        loops.written.push((name.clone(), destination.clone()));
        let value = loops.tensor(name.clone());
        loops.maker.values.push(value);
    }
    results
}

/// The dimensions along the axes, as a computation has them.
fn domain(loops: &mut Loops, dims: &[Dim]) -> Vec<String> {
    let mut domain: Vec<String> = Vec::new();
    for (axis, dim) in dims.iter().enumerate() {
        let upper = match (dim.less, loops.sizes.get(axis).cloned()) {
            (0, _) => loops.size(axis),
            (less, None) => (loops.like.shape[axis] - less).to_string(),
            (less, Some(size)) => {
                let less = loops.maker.constant(less, "index");
                let text = format!("arith.subi {size}, {less} : index");
                loops.maker.put(&text)
            }
        };
        domain.push(match dim.lower {
            0 => format!("i{axis} = {upper}"),
            lower => format!("i{axis} = {lower} to {upper}"),
        });
    }
    domain
}
