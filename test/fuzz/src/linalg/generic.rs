//! `linalg.generic` with random loops and maps.

use mdh_algebra::affine::Expr;
use mdh_algebra::domain::Grid;

use super::body::{self, BodyKind};
use super::extracted::{self, Extracted};
use super::maker::{ArrayValue, Maker};
use super::types::{self, narrower};
use crate::choices::Choices;
use crate::print::code::list;

/// An operand with its map and its argument in the body.
#[derive(Clone)]
pub struct Operand {
    value: ArrayValue,
    map: Vec<Expr>,
}

impl Operand {
    /// The type of its elements.
    pub fn element(&self) -> &'static str {
        self.value.element
    }
}

/// The size of an axis that has all places of an index.
fn size(index: &Expr, extents: &[i64]) -> i64 {
    if let Expr::Dim(d) = index {
        return extents[*d];
    }
    let grids = extents.iter().map(|n| Some(Grid::dense((*n).max(1))));
    let range = index.range(&grids.collect::<Vec<_>>());
    range.map_or(1, |range| range.max + 1)
}

/// Adds an operation; its results can be read by later ones.
pub fn add(c: &mut Choices, maker: &mut Maker) {
    let rank = c.weighted("rank", &[4, 20, 36, 28, 12]);
    let extents: Vec<i64> = (0..rank)
        .map(|d| {
            c.scope(format!("d{d}"), |c| {
                [1, 2, 3, 4, 5, 7, 0, 16, 33][c.weighted("size", &[10, 20, 22, 18, 13, 9, 3, 3, 2])]
            })
        })
        .collect();
    let kind = body::kind(c, maker.element);
    let mut is_kept: Vec<bool> = (0..rank)
        .map(|d| c.scope(format!("d{d}"), |c| c.chance("kept", 60)))
        .collect();
    if matches!(kind, BodyKind::Each) {
        is_kept = vec![true; rank];
    }
    let mut inputs: Vec<Operand> = Vec::new();
    for n in 0..1 + c.below("inputs", 3) {
        let input = c.scope(format!("in{n}"), |c| input(c, maker, &extents));
        inputs.push(input);
    }
    let outputs: Vec<Operand> = (0..kind.destinations())
        .map(|n| {
            c.scope(format!("out{n}"), |c| {
                output(c, maker, &extents, &is_kept, (&kind, n))
            })
        })
        .collect();
    cover(c, maker, &extents, &mut inputs, &outputs);
    let extracted = extracted::some(c, maker, &extents, outputs[0].element());
    let operands = (&inputs[..], &outputs[..], extracted.as_ref());
    print(c, maker, operands, &is_kept, &kind);
}

/// An index of an operand.
fn axis(c: &mut Choices, extents: &[i64]) -> Expr {
    let rank = extents.len() as u64;
    if rank == 0 {
        return Expr::Const(c.below("place", 3) as i64);
    }
    let d = Expr::dim(c.below("loop", rank) as usize);
    match c.weighted("axis", &[70, 6, 8, 10, 3, 3]) {
        // Upstream has loops without iterations only where they are an axis.
        _ if extents.contains(&0) => d,
        0 => d,
        1 => Expr::Const(c.below("place", 3) as i64),
        2 => d * (1 + c.below("factor", 3) as i64) + c.below("offset", 3) as i64,
        3 => {
            let other = Expr::dim(c.below("other", rank) as usize);
            let scaled = d.clone() * (1 + c.below("factor", 2) as i64);
            if other == d { scaled } else { scaled + other }
        }
        4 => d.floor_div(2),
        _ => d.modulo(2),
    }
}

fn input(c: &mut Choices, maker: &mut Maker, extents: &[i64]) -> Operand {
    if !maker.values.is_empty() && c.chance("earlier", 60) {
        let number = c.below("which", maker.values.len() as u64) as usize;
        let value = maker.values[number].clone();
        let axes = value.shape.iter().enumerate();
        let map: Option<Vec<Expr>> = axes
            .map(|(n, size)| c.scope(format!("a{n}"), |c| fitting(c, *size, extents)))
            .collect();
        if let Some(map) = map {
            return Operand { value, map };
        }
    }
    let rank = c.below("axes", extents.len() as u64 + 2).min(4);
    let map: Vec<Expr> = (0..rank)
        .map(|n| c.scope(format!("a{n}"), |c| axis(c, extents)))
        .collect();
    let shape = map.iter().map(|axis| size(axis, extents)).collect();
    let element = match c.chance("narrow", 12) {
        true => c.pick("from", narrower(maker.element)),
        false => maker.element,
    };
    let value = maker.argument(c, shape, element);
    if maker.memory {
        maker.values.push(value.clone());
    }
    Operand { value, map }
}

/// An axis of that size, if the loops can have one.
fn fitting(c: &mut Choices, size: i64, extents: &[i64]) -> Option<Expr> {
    let matching: Vec<usize> = (0..extents.len()).filter(|d| extents[*d] == size).collect();
    if !matching.is_empty() && c.chance("own", 85) {
        return Some(Expr::dim(c.pick("loop", &matching)));
    }
    (size > 0).then(|| Expr::Const(c.below("place", size as u64) as i64))
}

fn output(
    c: &mut Choices,
    maker: &mut Maker,
    extents: &[i64],
    kept: &[bool],
    (kind, number): (&BodyKind, usize),
) -> Operand {
    let element = kind.element(number, maker.element);
    let mut loops: Vec<usize> = (0..extents.len()).filter(|d| kept[*d]).collect();
    // The first destination says which loops are kept: others may keep more.
    if number > 0 && kind.is_several() && c.chance("all", 15) && !maker.memory {
        loops = (0..extents.len()).collect();
    }
    for n in (1..loops.len()).rev() {
        let other = c.scope(format!("p{n}"), |c| c.below("swap", n as u64 + 1)) as usize;
        loops.swap(n, n - other);
    }
    let mut map: Vec<Expr> = loops.into_iter().map(Expr::Dim).collect();
    // Upstream bufferizes a destination that is not read as if all of it were written.
    if !matches!(kind, BodyKind::Each) && c.chance("place", 5) {
        map.push(Expr::Const(c.below("at", 2) as i64));
    }
    let shape: Vec<i64> = map.iter().map(|axis| size(axis, extents)).collect();
    let same = |value: &&ArrayValue| value.shape == shape && value.element == element;
    let earlier: Vec<ArrayValue> = maker.values.iter().filter(same).cloned().collect();
    if !earlier.is_empty() && c.chance("earlier", if maker.memory { 70 } else { 30 }) {
        let value = earlier[c.below("which", earlier.len() as u64) as usize].clone();
        return Operand { value, map };
    }
    let value = maker.argument(c, shape, element);
    if maker.memory {
        maker.values.push(value.clone());
    }
    let value = match c.chance("filled", 50) {
        true => filled(c, maker, value, kind.start(number, element)),
        false => value,
    };
    Operand { value, map }
}

/// A destination filled with a number.
pub fn filled(
    c: &mut Choices,
    maker: &mut Maker,
    value: ArrayValue,
    neutral: Option<String>,
) -> ArrayValue {
    let number = match neutral.filter(|_| c.chance("neutral", 70)) {
        Some(text) if value.element == "i1" => text,
        Some(text) => format!("{text} : {}", value.element),
        None => types::number(c.below("number", 4) as i64, value.element),
    };
    fill(maker, value, &number)
}

/// A destination filled with a constant.
pub fn fill(maker: &mut Maker, value: ArrayValue, number: &str) -> ArrayValue {
    let number = maker.put(&format!("arith.constant {number}"));
    let (ty, arrow) = (maker.ty(&value), maker.arrow(&[&value]));
    let (head, names) = maker.results(if maker.memory { 0 } else { 1 });
    maker.line(&format!(
        "{head}linalg.fill ins({number} : {}) outs({} : {ty}){arrow}",
        value.element, value.name
    ));
    names
        .into_iter()
        .next()
        .map_or(value.clone(), |name| value.named(name))
}

/// Adds an input that gives the sizes of loops which no operand has as an axis.
fn cover(
    c: &mut Choices,
    maker: &mut Maker,
    extents: &[i64],
    inputs: &mut Vec<Operand>,
    outputs: &[Operand],
) {
    let maps = inputs.iter().chain(outputs).flat_map(|o| &o.map);
    let axes: Vec<Expr> = maps.cloned().collect();
    let mut missing: Vec<usize> = (0..extents.len()).collect();
    missing.retain(|d| !axes.contains(&Expr::Dim(*d)));
    if missing.is_empty() {
        return;
    }
    let shape = missing.iter().map(|d| extents[*d]).collect();
    let value = maker.argument(c, shape, maker.element);
    let map = missing.into_iter().map(Expr::Dim).collect();
    inputs.push(Operand { value, map });
}

fn print(
    c: &mut Choices,
    maker: &mut Maker,
    (inputs, outputs, extracted): (&[Operand], &[Operand], Option<&Extracted>),
    kept: &[bool],
    kind: &BodyKind,
) {
    let loops = list((0..kept.len()).map(|d| format!("d{d}")));
    let map = |operand: &Operand| format!("affine_map<({loops}) -> ({})>", list(&operand.map));
    let maps = list(inputs.iter().chain(outputs).map(map));
    let iterators = list(kept.iter().map(|kept| match kept {
        true => "\"parallel\"",
        false => "\"reduction\"",
    }));
    let operands = |operands: &[Operand]| {
        let names = list(operands.iter().map(|o| &o.value.name));
        format!(
            "{names} : {}",
            list(operands.iter().map(|o| maker.ty(&o.value)))
        )
    };
    let (ins, outs) = (operands(inputs), operands(outputs));
    let values: Vec<&ArrayValue> = outputs.iter().map(|output| &output.value).collect();
    let arrow = maker.arrow(&values);
    let body = body::text(c, kind, (inputs, outputs, extracted), kept.len());
    let (head, names) = maker.results(if maker.memory { 0 } else { outputs.len() });
    maker.line(&format!(
        "{head}linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}} ins({ins}) outs({outs}){} {{",
        kind.licence(),
    ));
    maker.lines += &body;
    maker.line(&format!("}}{arrow}"));
    let made = values.into_iter().zip(names);
    maker
        .values
        .extend(made.map(|(value, name)| value.named(name)));
}
