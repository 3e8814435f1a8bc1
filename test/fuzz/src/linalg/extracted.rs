//! Elements that a body takes from a tensor by itself: at sums, quotients, remainders and bounds of the indices of
//! its loops.

use super::body::Code;
use super::maker::{ArrayValue, Maker};
use crate::choices::Choices;

/// A tensor or memref, and the index in each of its axes.
pub struct Extracted {
    op: &'static str,
    tensor: ArrayValue,
    ty: String,
    places: Vec<(IndexPlace, &'static str)>,
}

/// An index that a body computes.
#[derive(Clone)]
enum IndexPlace {
    /// That of a loop.
    Loop(usize),
    /// An operation on another one and a number.
    With(&'static str, Box<IndexPlace>, i64),
    /// The sum of two.
    Sum(Box<IndexPlace>, Box<IndexPlace>),
}

impl IndexPlace {
    fn at(&self, point: &[i64]) -> i64 {
        match self {
            IndexPlace::Loop(d) => point[*d],
            IndexPlace::Sum(a, b) => a.at(point) + b.at(point),
            IndexPlace::With(op, a, n) => {
                let a = a.at(point);
                match *op {
                    "addi" => a + n,
                    "muli" => a * n,
                    "divsi" | "divui" => a / n,
                    "remsi" | "remui" => a % n,
                    "floordivsi" => a.div_euclid(*n),
                    "ceildivsi" => -(-a).div_euclid(*n),
                    "maxsi" => a.max(*n),
                    _ => a.min(*n),
                }
            }
        }
    }

    /// The least and the largest index.
    fn range(&self, extents: &[i64]) -> (i64, i64) {
        let mut ends = (i64::MAX, i64::MIN);
        let total: i64 = extents.iter().product();
        for number in 0..total {
            let mut rest = number;
            let point = extents.iter().map(|n| {
                let index = rest % n;
                rest /= n;
                index
            });
            let index = self.at(&point.collect::<Vec<i64>>());
            ends = (ends.0.min(index), ends.1.max(index));
        }
        ends
    }

    /// Puts its operations on numbers of a type; the name of the last one.
    fn put(&self, code: &mut Code, ty: &'static str) -> String {
        match self {
            IndexPlace::Loop(d) => {
                let index = code.put(&format!("linalg.index {d} : index"));
                match ty {
                    "index" => index,
                    _ => code.put(&format!("arith.index_cast {index} : index to {ty}")),
                }
            }
            IndexPlace::Sum(a, b) => {
                let [a, b] = [a, b].map(|place| place.put(code, ty));
                code.put(&format!("arith.addi {a}, {b} : {ty}"))
            }
            IndexPlace::With(op, a, n) => {
                let a = a.put(code, ty);
                let n = code.put(&format!("arith.constant {n} : {ty}"));
                code.put(&format!("arith.{op} {a}, {n} : {ty}"))
            }
        }
    }
}

/// A tensor or memref that has an element for each point, at times.
pub fn some(
    c: &mut Choices,
    maker: &mut Maker,
    extents: &[i64],
    element: &'static str,
) -> Option<Extracted> {
    let points: i64 = extents.iter().product();
    if points == 0 || points > 5000 || extents.is_empty() {
        return None;
    }
    if !c.chance("extracted", 15) {
        return None;
    }
    let places: Vec<_> = (0..1 + c.below("axes", 2))
        .map(|n| {
            c.scope(format!("axis{n}"), |c| {
                let place = inside(place(c, extents), extents);
                (place, c.pick("type", &["index", "i32"]))
            })
        })
        .collect();
    let size = |(place, _): &(IndexPlace, _)| place.range(extents).1 + 1;
    let shape: Vec<i64> = places.iter().map(size).collect();
    if shape.iter().product::<i64>() > 4000 {
        return None;
    }
    let tensor = maker.argument(c, shape, element);
    let ty = maker.ty(&tensor);
    let op = match maker.memory {
        true => "memref.load",
        false => "tensor.extract",
    };
    Some(Extracted {
        op,
        tensor,
        ty,
        places,
    })
}

fn place(c: &mut Choices, extents: &[i64]) -> IndexPlace {
    let loop_index = |c: &mut Choices, name: &str| {
        IndexPlace::Loop(c.below(name, extents.len() as u64) as usize)
    };
    let mut place = loop_index(c, "of");
    for n in 0..c.below("operations", 5) {
        c.scope(format!("op{n}"), |c| {
            let by = 2 + c.below("by", 3) as i64;
            let (least, most) = place.range(extents);
            let operand = Box::new(place.clone());
            // Quotients of what is negative may be rounded in one way or the other, or are huge.
            let rounded: &[&'static str] = match least < 0 {
                true => &["floordivsi", "ceildivsi", "divsi"],
                false => &["divui", "divsi", "floordivsi"],
            };
            let rest: &[&'static str] = match least < 0 {
                true => &["remsi"],
                false => &["remui", "remsi"],
            };
            place = match c.weighted("kind", &[15, 10, 15, 30, 10, 10, 10]) {
                0 => IndexPlace::With("addi", operand, c.below("more", 5) as i64 - 2),
                1 => IndexPlace::With("muli", operand, by),
                2 => IndexPlace::Sum(operand, Box::new(loop_index(c, "and"))),
                3 => IndexPlace::With(c.pick("rounded", rounded), operand, by),
                4 => IndexPlace::With(c.pick("rest", rest), operand, by),
                5 => IndexPlace::With("maxsi", operand, least + c.below("low", 3) as i64),
                _ => IndexPlace::With("minsi", operand, most - c.below("high", 3) as i64),
            };
        });
    }
    place
}

/// The same from zero on, if it is negative somewhere.
fn inside(place: IndexPlace, extents: &[i64]) -> IndexPlace {
    match place.range(extents).0 {
        least if least < 0 => IndexPlace::With("addi", Box::new(place), -least),
        _ => place,
    }
}

impl Extracted {
    /// Puts the operations that make the element; its name.
    pub fn put(&self, code: &mut Code) -> String {
        let places = self.places.iter().map(|(place, ty)| {
            let index = place.put(code, ty);
            match *ty {
                "index" => index,
                _ => code.put(&format!("arith.index_cast {index} : {ty} to index")),
            }
        });
        let places: Vec<String> = places.collect();
        let (name, list, ty) = (&self.tensor.name, places.join(", "), &self.ty);
        code.put(&format!("{} {name}[{list}] : {ty}", self.op))
    }
}
