//! Operations between generics: other shapes, parts and named operations; in memory, other names, so that what is
//! written by one is read by the other.

use super::maker::{ArrayValue, Maker};
use super::types::is_float;
use crate::choices::Choices;
use crate::print::code::list;

/// The feature of a program with a reshape whose extents contradict its type.
pub const CONTRADICTORY: &str = "contradictory reshape";

/// Returns whether a refusal is that of such a reshape.
pub fn is_refusal(text: &str) -> bool {
    let reasons = [
        "expand_shape' op has an operand for the extent of axis",
        "expand_shape' op splits axis",
        // Upstream's verifier has words for it, of memrefs only.
        "expand_shape' op invalid output shape provided at pos",
    ];
    reasons.iter().any(|reason| text.contains(reason))
}

/// Adds an operation on a value that is there.
pub fn add(c: &mut Choices, maker: &mut Maker) {
    let number = c.below("of", maker.values.len() as u64) as usize;
    let value = maker.values[number].clone();
    let source = maker.known(&value);
    let weights = match maker.memory {
        true => [50, 15, 15, 0, 0, 0, 0, 0, 20],
        false => [15, 10, 10, 15, 15, 15, 10, 10, 0],
    };
    let made = match c.weighted("shape", &weights) {
        0 => slice(c, maker, &source),
        1 => collapse(c, maker, &source),
        2 => expand(c, maker, &source),
        3 => pad(c, maker, &source),
        4 => transpose(c, maker, &source),
        5 => broadcast(c, maker, &source),
        6 => reduce(c, maker, &source),
        7 => arithmetic(c, maker, &source),
        _ => Some(source),
    };
    maker.values.extend(made);
}

fn shaped(of: &ArrayValue, shape: Vec<i64>) -> ArrayValue {
    ArrayValue {
        shape,
        element: of.element,
        ..ArrayValue::default()
    }
}

/// Adds an operation from one type to another.
fn made(
    maker: &mut Maker,
    text: &str,
    (from, word): (&ArrayValue, &str),
    to: ArrayValue,
) -> Option<ArrayValue> {
    let types = [from, &to].map(|value| maker.ty(value));
    let text = format!("{text} : {}", types.join(word));
    Some(to.named(maker.put(&text)))
}

fn pad(c: &mut Choices, maker: &mut Maker, of: &ArrayValue) -> Option<ArrayValue> {
    // Upstream folds a padded tensor without elements to a slice out of bounds.
    if of.shape.is_empty() || of.shape.contains(&0) {
        return None;
    }
    let axes = 0..of.shape.len();
    let [low, high] = ["low", "high"].map(|name| -> Vec<i64> {
        let by = |n| c.scope(format!("{name}{n}"), |c| c.below("by", 3) as i64);
        axes.clone().map(by).collect()
    });
    let shape = axes.clone().map(|n| of.shape[n] + low[n] + high[n]);
    let number = maker.constant(c.below("number", 3) as i64, of.element);
    let indices: Vec<String> = axes.map(|n| format!("%i{n}: index")).collect();
    let padded = shaped(of, shape.collect());
    let text = format!(
        "tensor.pad {} low[{}] high[{}] {{ ^bb0({}): tensor.yield {number} : {} }}",
        of.name,
        list(&low),
        list(&high),
        list(&indices),
        of.element,
    );
    made(maker, &text, (of, " to "), padded)
}

/// Offset and strides of a memref.
fn layout(of: &ArrayValue) -> (i64, Vec<i64>) {
    of.layout.clone().unwrap_or_else(|| {
        let mut strides = vec![1; of.shape.len()];
        for axis in (1..of.shape.len()).rev() {
            strides[axis - 1] = strides[axis] * of.shape[axis];
        }
        (0, strides)
    })
}

fn slice(c: &mut Choices, maker: &mut Maker, of: &ArrayValue) -> Option<ArrayValue> {
    // Upstream verifies an offset into no elements as out of bounds.
    if of.shape.contains(&0) || maker.memory && of.shape.is_empty() {
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
    let mut part = shaped(of, sizes);
    let mut name = "tensor.extract_slice";
    if maker.memory {
        let (start, strides) = layout(of);
        let moved = strides
            .iter()
            .zip(&offsets)
            .map(|(s, o)| s * o)
            .sum::<i64>();
        let strides = strides.iter().zip(&steps).map(|(s, step)| s * step);
        part.layout = Some((start + moved, strides.collect()));
        name = "memref.subview";
    }
    let places = [&offsets, &part.shape, &steps].map(|numbers| format!("[{}]", list(numbers)));
    let text = format!("{name} {}{}", of.name, places.join(" "));
    made(maker, &text, (of, " to "), part)
}

/// The axes of which each of a shape is made, with two for the first.
fn groups(rank: usize) -> String {
    let rest: String = (2..rank).map(|n| format!(", [{n}]")).collect();
    format!("[[0, 1]{rest}]")
}

fn collapse(c: &mut Choices, maker: &mut Maker, of: &ArrayValue) -> Option<ArrayValue> {
    let rank = of.shape.len();
    // What has one element may have no axis.
    let is_one = !maker.memory && rank > 0 && of.shape.iter().all(|size| *size == 1);
    let (groups, shape) = match is_one {
        true => ("[]".into(), Vec::new()),
        // Elements that do not lie together have no other axes.
        false if rank < 2 || of.layout.is_some() => return None,
        false => (
            groups(rank),
            [&[of.shape[0] * of.shape[1]], &of.shape[2..]].concat(),
        ),
    };
    let (mut from, mut to) = (of.clone(), shaped(of, shape));
    if !is_one && c.chance("open", 25) {
        from = maker.cast(of, open(of));
        to = open(&to);
    }
    let text = format!("{}.collapse_shape {} {groups}", maker.dialect(), from.name);
    let whole = made(maker, &text, (&from, " into "), to)?;
    Some(maker.known(&whole))
}

/// The same with a type that leaves all sizes open.
fn open(of: &ArrayValue) -> ArrayValue {
    ArrayValue {
        open: true,
        ..of.clone()
    }
}

fn expand(c: &mut Choices, maker: &mut Maker, of: &ArrayValue) -> Option<ArrayValue> {
    let (groups, shape) = match of.shape.first() {
        _ if of.layout.is_some() => return None,
        None if maker.memory => return None,
        None => ("[]".into(), vec![1, 1]),
        Some(size) => {
            let inner = if size % 2 == 0 { 2 } else { 1 };
            let shape = [&[size / inner, inner], &of.shape[1..]].concat();
            (groups(shape.len()), shape)
        }
    };
    if !of.shape.is_empty() && c.chance("open", 35) {
        return Some(expand_open(c, maker, of, (&groups, shape)));
    }
    let text = format!(
        "{}.expand_shape {} {groups} output_shape [{}]",
        maker.dialect(),
        of.name,
        list(&shape)
    );
    made(maker, &text, (of, " into "), shaped(of, shape))
}

/// Splits an axis where the type leaves sizes open: that of the result has some, and operands are the others, of which
/// one may contradict them.
fn expand_open(
    c: &mut Choices,
    maker: &mut Maker,
    of: &ArrayValue,
    (groups, shape): (&str, Vec<i64>),
) -> ArrayValue {
    let from = maker.cast(of, open(of));
    // What is of one open size has an open part.
    let known = c.below("known", 3).checked_sub(1);
    let is_known = |axis: usize| known == Some(axis as u64);
    // Parts beside nothing are nothing, whatever their number.
    let counts = |axis: &usize| is_known(*axis) || *axis > 1 || shape[1 - axis] > 0;
    let axes: Vec<usize> = (0..shape.len()).filter(counts).collect();
    let is_wrong = !axes.is_empty() && !maker.is_contradictory && c.chance("contradictory", 25);
    let wrong = is_wrong.then(|| c.pick("wrong", &axes));
    maker.is_contradictory |= is_wrong;
    let (mut extents, mut sizes) = (Vec::new(), String::new());
    for (axis, size) in shape.iter().enumerate() {
        let extent = match is_known(axis) {
            true if wrong != Some(axis) => size.to_string(),
            true => maker.constant(*size, "index"),
            false if wrong == Some(axis) => maker.constant(size + 1, "index"),
            // Beside a wrong one, numbers: it is seen before the program runs.
            false if is_wrong || c.scope(axis, |c| c.chance("constant", 50)) => {
                maker.constant(*size, "index")
            }
            false => maker.scalar_argument("n", "index", *size as u64),
        };
        extents.push(extent);
        sizes += &match is_known(axis) {
            true => format!("{size}x"),
            false => "?x".into(),
        };
    }
    let dialect = maker.dialect();
    let ty = format!("{dialect}<{sizes}{}>", of.element);
    let split = maker.put(&format!(
        "{dialect}.expand_shape {} {groups} output_shape [{}] : {} into {ty}",
        from.name,
        list(&extents),
        maker.ty(&from)
    ));
    let whole = shaped(of, shape);
    let text = format!("{dialect}.cast {split} : {ty} to {}", maker.ty(&whole));
    whole.named(maker.put(&text))
}

fn transpose(c: &mut Choices, maker: &mut Maker, of: &ArrayValue) -> Option<ArrayValue> {
    // Upstream's verifier has no map of a transposition without axes.
    if of.shape.is_empty() {
        return None;
    }
    let mut order: Vec<i64> = (0..of.shape.len() as i64).collect();
    for n in (1..order.len()).rev() {
        let other = c.scope(format!("p{n}"), |c| c.below("swap", n as u64 + 1)) as usize;
        order.swap(n, n - other);
    }
    let shape = order.iter().map(|n| of.shape[*n as usize]).collect();
    let how = format!("permutation = [{}]", list(&order));
    named(maker, ("transpose", &how), of, shaped(of, shape))
}

fn broadcast(c: &mut Choices, maker: &mut Maker, of: &ArrayValue) -> Option<ArrayValue> {
    let axis = c.below("axis", of.shape.len() as u64 + 1) as usize;
    let mut shape = of.shape.clone();
    shape.insert(axis, 1 + c.below("size", 4) as i64);
    let how = format!("dimensions = [{axis}]");
    named(maker, ("broadcast", &how), of, shaped(of, shape))
}

/// A destination that holds nothing.
fn empty(maker: &mut Maker, like: &ArrayValue) -> ArrayValue {
    like.named(maker.put(&format!("tensor.empty() : {}", maker.ty(like))))
}

/// `linalg.NAME` of one input into memory that holds nothing.
fn named(
    maker: &mut Maker,
    (name, attributes): (&str, &str),
    of: &ArrayValue,
    result: ArrayValue,
) -> Option<ArrayValue> {
    let into = empty(maker, &result);
    let types = [of, &into].map(|value| format!("({} : {})", value.name, maker.ty(value)));
    let text = format!(
        "linalg.{name} ins{} outs{} {attributes}",
        types[0], types[1]
    );
    Some(result.named(maker.put(&text)))
}

fn reduce(c: &mut Choices, maker: &mut Maker, of: &ArrayValue) -> Option<ArrayValue> {
    if of.shape.is_empty() {
        return None;
    }
    let axis = c.below("axis", of.shape.len() as u64) as usize;
    let mut shape = of.shape.clone();
    shape.remove(axis);
    let into = empty(maker, &shaped(of, shape));
    let number = c.below("number", 3) as i64;
    let start = super::generic::fill(maker, into, &super::types::number(number, of.element));
    let operator = match of.element {
        _ if is_float(of.element) => c.pick("operator", &["addf", "mulf", "maximumf"]),
        "i1" => c.pick("operator", &["andi", "ori"]),
        _ => c.pick("operator", &["addi", "muli", "maxsi", "minui"]),
    };
    let text = format!(
        "linalg.reduce {{ arith.{operator} }} ins({} : {}) outs({} : {}) dimensions = [{axis}]",
        of.name,
        maker.ty(of),
        start.name,
        maker.ty(&start)
    );
    Some(start.named(maker.put(&text)))
}

/// Arithmetic on whole tensors.
fn arithmetic(c: &mut Choices, maker: &mut Maker, of: &ArrayValue) -> Option<ArrayValue> {
    let operator = match of.element {
        _ if is_float(of.element) => c.pick("operator", &["addf", "mulf", "subf"]),
        "i1" => c.pick("operator", &["andi", "xori"]),
        _ => c.pick("operator", &["addi", "muli", "subi"]),
    };
    let ty = maker.ty(of);
    let text = format!("arith.{operator} {0}, {0} : {ty}", of.name);
    Some(of.named(maker.put(&text)))
}
