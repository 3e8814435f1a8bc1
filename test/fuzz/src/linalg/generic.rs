//! `linalg.generic` with random loops and maps.

use super::body::{self, Kind};
use super::extracted::{self, Extracted};
use super::types::narrower;
use super::{Maker, Value};
use crate::choices::Choices;

/// An axis of an operand: where the loops say.
#[derive(Clone)]
pub enum OperandAxis {
    /// The index of a loop.
    Loop(usize),
    /// One place.
    Fixed(i64),
    /// `factor * d + e * other + offset`
    Sum(usize, i64, Option<usize>, i64),
    /// `d floordiv n`
    Part(usize, i64),
    /// `d mod n`
    Rest(usize, i64),
}

impl OperandAxis {
    fn text(&self) -> String {
        match self {
            OperandAxis::Loop(d) => format!("d{d}"),
            OperandAxis::Fixed(n) => n.to_string(),
            OperandAxis::Sum(d, factor, None, offset) => format!("d{d} * {factor} + {offset}"),
            OperandAxis::Sum(d, factor, Some(e), offset) => {
                format!("d{d} * {factor} + d{e} + {offset}")
            }
            OperandAxis::Part(d, n) => format!("d{d} floordiv {n}"),
            OperandAxis::Rest(d, n) => format!("d{d} mod {n}"),
        }
    }

    /// The size of an axis that has all of its places.
    fn size(&self, extents: &[i64]) -> i64 {
        let last = |d: usize| (extents[d] - 1).max(0);
        match self {
            OperandAxis::Loop(d) => extents[*d],
            OperandAxis::Fixed(n) => n + 1,
            OperandAxis::Sum(d, factor, other, offset) => {
                last(*d) * factor + other.map_or(0, last) + offset + 1
            }
            OperandAxis::Part(d, n) => last(*d) / n + 1,
            OperandAxis::Rest(_, n) => *n,
        }
    }
}

/// An operand with its map and its argument in the body.
#[derive(Clone)]
pub struct Operand {
    value: Value,
    map: Vec<OperandAxis>,
}

impl Operand {
    /// The type of its elements.
    pub fn element(&self) -> &'static str {
        self.value.element
    }
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
    let mut kept: Vec<bool> = (0..rank)
        .map(|d| c.scope(format!("d{d}"), |c| c.chance("kept", 60)))
        .collect();
    if matches!(kind, Kind::Each) {
        kept = vec![true; rank];
    }
    let mut inputs: Vec<Operand> = Vec::new();
    for n in 0..1 + c.below("inputs", 3) {
        let input = c.scope(format!("in{n}"), |c| input(c, maker, &extents));
        inputs.push(input);
    }
    let outputs: Vec<Operand> = (0..kind.destinations())
        .map(|n| {
            c.scope(format!("out{n}"), |c| {
                output(c, maker, &extents, &kept, (&kind, n))
            })
        })
        .collect();
    cover(c, maker, &extents, &mut inputs, &outputs);
    let extracted = extracted::some(c, maker, &extents, outputs[0].element());
    let operands = (&inputs[..], &outputs[..], extracted.as_ref());
    print(c, maker, operands, &kept, &kind);
}

fn axis(c: &mut Choices, extents: &[i64]) -> OperandAxis {
    let rank = extents.len();
    if rank == 0 {
        return OperandAxis::Fixed(c.below("place", 3) as i64);
    }
    let d = c.below("loop", rank as u64) as usize;
    match c.weighted("axis", &[70, 6, 8, 10, 3, 3]) {
        // Upstream has loops without iterations only where they are an axis.
        _ if extents.contains(&0) => OperandAxis::Loop(d),
        0 => OperandAxis::Loop(d),
        1 => OperandAxis::Fixed(c.below("place", 3) as i64),
        2 => OperandAxis::Sum(
            d,
            1 + c.below("factor", 3) as i64,
            None,
            c.below("offset", 3) as i64,
        ),
        3 => {
            let other = c.below("other", rank as u64) as usize;
            OperandAxis::Sum(
                d,
                1 + c.below("factor", 2) as i64,
                Some(other).filter(|e| *e != d),
                0,
            )
        }
        4 => OperandAxis::Part(d, 2),
        _ => OperandAxis::Rest(d, 2),
    }
}

fn input(c: &mut Choices, maker: &mut Maker, extents: &[i64]) -> Operand {
    if !maker.values.is_empty() && c.chance("earlier", 60) {
        let number = c.below("which", maker.values.len() as u64) as usize;
        let value = maker.values[number].clone();
        let axes = value.shape.iter().enumerate();
        let map: Option<Vec<OperandAxis>> = axes
            .map(|(n, size)| c.scope(format!("a{n}"), |c| fitting(c, *size, extents)))
            .collect();
        if let Some(map) = map {
            return Operand { value, map };
        }
    }
    let rank = c.below("axes", extents.len() as u64 + 2).min(4);
    let map: Vec<OperandAxis> = (0..rank)
        .map(|n| c.scope(format!("a{n}"), |c| axis(c, extents)))
        .collect();
    let shape = map.iter().map(|axis| axis.size(extents)).collect();
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
fn fitting(c: &mut Choices, size: i64, extents: &[i64]) -> Option<OperandAxis> {
    let own: Vec<usize> = (0..extents.len()).filter(|d| extents[*d] == size).collect();
    if !own.is_empty() && c.chance("own", 85) {
        return Some(OperandAxis::Loop(
            own[c.below("loop", own.len() as u64) as usize],
        ));
    }
    (size > 0).then(|| OperandAxis::Fixed(c.below("place", size as u64) as i64))
}

fn output(
    c: &mut Choices,
    maker: &mut Maker,
    extents: &[i64],
    kept: &[bool],
    (kind, number): (&Kind, usize),
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
    let mut map: Vec<OperandAxis> = loops.into_iter().map(OperandAxis::Loop).collect();
    // Upstream bufferizes a destination that is not read as if all of it were written.
    if !matches!(kind, Kind::Each) && c.chance("place", 5) {
        map.push(OperandAxis::Fixed(c.below("at", 2) as i64));
    }
    let shape: Vec<i64> = map.iter().map(|axis| axis.size(extents)).collect();
    let same = |value: &&Value| value.shape == shape && value.element == element;
    let earlier: Vec<Value> = maker.values.iter().filter(same).cloned().collect();
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

/// A number as constants have it.
fn typed(text: &str, element: &str) -> String {
    match element {
        "i1" => text.to_owned(),
        _ => format!("{text} : {element}"),
    }
}

/// A destination filled with a number.
pub fn filled(c: &mut Choices, maker: &mut Maker, value: Value, neutral: Option<String>) -> Value {
    let number = match neutral.filter(|_| c.chance("neutral", 70)) {
        Some(text) => {
            let name = maker.name();
            let number = typed(&text, value.element);
            maker.line(&format!("{name} = arith.constant {number}"));
            name
        }
        None => maker.constant(c.below("number", 4) as i64, value.element),
    };
    let ty = maker.ty(&value);
    let start = format!(
        "linalg.fill ins({number} : {}) outs({} : {ty})",
        value.element, value.name
    );
    if maker.memory {
        maker.line(&start);
        return value;
    }
    let name = maker.name();
    maker.line(&format!("{name} = {start} -> {ty}"));
    Value { name, ..value }
}

/// Adds an input that gives the sizes of loops which no operand has as an axis.
fn cover(
    c: &mut Choices,
    maker: &mut Maker,
    extents: &[i64],
    inputs: &mut Vec<Operand>,
    outputs: &[Operand],
) {
    let is_axis = |d: &usize| {
        let all = inputs.iter().chain(outputs);
        all.flat_map(|o| &o.map)
            .any(|axis| matches!(axis, OperandAxis::Loop(e) if e == d))
    };
    let missing: Vec<usize> = (0..extents.len()).filter(|d| !is_axis(d)).collect();
    if missing.is_empty() {
        return;
    }
    let shape = missing.iter().map(|d| extents[*d]).collect();
    let value = maker.argument(c, shape, maker.element);
    let map = missing.into_iter().map(OperandAxis::Loop).collect();
    inputs.push(Operand { value, map });
}

fn print(
    c: &mut Choices,
    maker: &mut Maker,
    (inputs, outputs, extracted): (&[Operand], &[Operand], Option<&Extracted>),
    kept: &[bool],
    kind: &Kind,
) {
    let loops: Vec<String> = (0..kept.len()).map(|d| format!("d{d}")).collect();
    let map = |operand: &Operand| {
        let axes: Vec<String> = operand.map.iter().map(OperandAxis::text).collect();
        format!(
            "affine_map<({}) -> ({})>",
            loops.join(", "),
            axes.join(", ")
        )
    };
    let maps: Vec<String> = inputs.iter().chain(outputs).map(map).collect();
    let iterators = kept.iter().map(|kept| {
        if *kept {
            "\"parallel\""
        } else {
            "\"reduction\""
        }
    });
    let iterators: Vec<&str> = iterators.collect();
    let list = |operands: &[Operand]| {
        let names: Vec<&str> = operands.iter().map(|o| o.value.name.as_str()).collect();
        let types: Vec<String> = operands.iter().map(|o| maker.ty(&o.value)).collect();
        format!("{} : {}", names.join(", "), types.join(", "))
    };
    let types: Vec<String> = outputs.iter().map(|o| maker.ty(&o.value)).collect();
    let (ins, outs) = (list(inputs), list(outputs));
    let result = maker.name();
    let (head, tail) = match maker.memory {
        true => (String::new(), String::new()),
        false => {
            let number = if outputs.len() > 1 {
                format!(":{}", outputs.len())
            } else {
                String::new()
            };
            (
                format!("{result}{number} = "),
                format!(" -> ({})", types.join(", ")),
            )
        }
    };
    let body = body::text(c, kind, (inputs, outputs, extracted), kept.len());
    maker.line(&format!(
        "{head}linalg.generic {{indexing_maps = [{}], iterator_types = [{}]}} ins({ins}) outs({outs}){} {{",
        maps.join(", "),
        iterators.join(", "),
        kind.licence(),
    ));
    maker.lines += &body;
    maker.line(&format!("}}{tail}"));
    if maker.memory {
        return;
    }
    for (n, output) in outputs.iter().enumerate() {
        let name = if outputs.len() > 1 {
            format!("{result}#{n}")
        } else {
            result.clone()
        };
        maker.values.push(Value {
            name,
            ..output.value.clone()
        });
    }
}
