//! Operations beside computations, on a part of a tensor or on all of it.

use super::{Loops, flow, number, operators};
use crate::choices::Choices;

/// Adds such an operation.
pub fn add(c: &mut Choices, loops: &mut Loops) {
    let has_points = !loops.like.shape.contains(&0);
    match c.weighted("part", &[25, 15, 20, 20, 20]) {
        0 => fill(c, loops),
        1 => choose(c, loops),
        2 if has_points => slice(c, loops),
        3 if has_points => element(c, loops),
        _ => arithmetic(c, loops),
    }
}

fn fill(c: &mut Choices, loops: &mut Loops) {
    let number = number(loops, c.below("number", 9) as i64);
    let (to, _) = loops.destination(c);
    let (ty, element) = (loops.ty(), loops.maker.element);
    let text = format!("linalg.fill ins({number} : {element}) outs({to} : {ty}) -> {ty}");
    loops.put(&text);
}

/// Two tensors that hold something, by the names of their choices.
fn two(c: &mut Choices, loops: &Loops, names: [&str; 2]) -> [String; 2] {
    names.map(|name| c.scope(name, |c| loops.defined(c)))
}

/// One of two tensors.
fn choose(c: &mut Choices, loops: &mut Loops) {
    let condition = flow::condition(c, loops);
    let [one, other] = two(c, loops, ["one", "other"]);
    let text = format!("arith.select {condition}, {one}, {other} : {}", loops.ty());
    loops.put(&text);
}

fn arithmetic(c: &mut Choices, loops: &mut Loops) {
    let operator = c.pick("operator", &operators(loops.maker.element).1[..2]);
    let [one, other] = two(c, loops, ["one", "other"]);
    let text = format!("arith.{operator} {one}, {other} : {}", loops.ty());
    loops.put(&text);
}

/// A part of one tensor, at the same or another place of another one.
fn slice(c: &mut Choices, loops: &mut Loops) {
    let size = loops.like.shape[0];
    let length = match loops.sizes.is_empty() {
        true => 1 + c.below("length", size as u64) as i64,
        false => 1,
    };
    let [from, to] = ["from", "to"].map(|name| c.below(name, (size - length + 1) as u64));
    let [source, place] = two(c, loops, ["source", "place"]);
    let part = taken(c, loops, &source, &from.to_string(), length);
    let text = put(loops, &part, &place, &to.to_string());
    loops.put(&text);
}

/// A part of a tensor: its name and its length.
pub struct TakenPart {
    name: String,
    length: i64,
}

/// Takes a part of that length from a tensor, and may change it.
pub fn taken(
    c: &mut Choices,
    loops: &mut Loops,
    source: &str,
    from: &str,
    length: i64,
) -> TakenPart {
    let (rest, part) = rest(loops, length);
    let mut name = loops.maker.put(&format!(
        "tensor.extract_slice {source}[{from}{}] [{length}{}] [1{}] : {} to {part}",
        rest.0,
        rest.1,
        rest.2,
        loops.ty()
    ));
    if c.chance("changed", 40) {
        let operator = operators(loops.maker.element).1[1];
        let text = format!("arith.{operator} {name}, {name} : {part}");
        name = loops.maker.put(&text);
    }
    TakenPart { name, length }
}

/// The operation that makes a tensor with that part in it.
pub fn put(loops: &Loops, part: &TakenPart, place: &str, to: &str) -> String {
    let (rest, ty) = rest(loops, part.length);
    let (put, length, whole) = (&part.name, part.length, loops.ty());
    format!(
        "tensor.insert_slice {put} into {place}[{to}{}] [{length}{}] [1{}] : {ty} into {whole}",
        rest.0, rest.1, rest.2
    )
}

/// Offsets, sizes and strides of all axes but the first, and the type of a part of that length.
fn rest(loops: &Loops, length: i64) -> ((String, String, String), String) {
    let axes = 1..loops.like.shape.len();
    let sizes = axes.clone().map(|axis| format!(", {}", loops.size(axis)));
    let is_open = loops.like.open;
    let typed = axes.clone().map(|axis| match is_open {
        true => "x?".to_owned(),
        false => format!("x{}", loops.like.shape[axis]),
    });
    let part = format!(
        "tensor<{length}{}x{}>",
        typed.collect::<String>(),
        loops.maker.element
    );
    let rest = (
        ", 0".repeat(axes.len()),
        sizes.collect(),
        ", 1".repeat(axes.len()),
    );
    (rest, part)
}

/// One element of one tensor, in another one.
fn element(c: &mut Choices, loops: &mut Loops) {
    let [source, place] = two(c, loops, ["source", "place"]);
    let [from, to] = ["from", "to"].map(|name| c.scope(name, |c| indices(c, loops)));
    let ty = loops.ty();
    let taken = loops
        .maker
        .put(&format!("tensor.extract {source}[{from}] : {ty}"));
    loops.put(&format!("tensor.insert {taken} into {place}[{to}] : {ty}"));
}

/// A place in a tensor, which may change with a loop around.
fn indices(c: &mut Choices, loops: &mut Loops) -> String {
    let mut places = Vec::new();
    for (axis, size) in loops.like.shape.clone().into_iter().enumerate() {
        let place = c.scope(format!("a{axis}"), |c| {
            let count = loops.indices.len() as u64;
            if count == 0 || c.chance("known", 50) {
                let place = c.below("place", size as u64) as i64;
                return loops.maker.constant(place, "index");
            }
            let number = loops.indices[c.below("of", count) as usize].clone();
            let size = loops.maker.constant(size, "index");
            loops
                .maker
                .put(&format!("arith.remui {number}, {size} : index"))
        });
        places.push(place);
    }
    places.join(", ")
}
