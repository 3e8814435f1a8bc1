//! Random loops over tensors as text: loops and branches that carry tensors of one type, computations
//! that write all or a part of what is there, slices and linalg between them.
//!
//! | module    | what is in it                                          |
//! |-----------|--------------------------------------------------------|
//! | `flow`    | loops and branches                                     |
//! | `compute` | computations                                           |
//! | `parts`   | slices, elements, fills, choices between whole tensors |
//!
//! Tensors that hold nothing are kept apart from those that do: they are carried and written as all others,
//! but nothing reads them before all of them is written.

mod compute;
mod flow;
mod parts;

use crate::choices::Choices;
use crate::linalg::{ArrayValue, Maker, generic, named, shapes, types};
use crate::print::code::list;
use crate::text::RunnableProgram;

/// A program while it is made. The maker's values hold something.
struct Loops {
    maker: Maker,
    /// The type of what loops carry, and the name of nothing.
    like: ArrayValue,
    /// Tensors of that type that hold nothing.
    undefined: Vec<ArrayValue>,
    /// Results of computations, and the tensors that they were written into.
    written: Vec<(String, String)>,
    /// Sizes that the type leaves open.
    sizes: Vec<String>,
    /// Indices of the loops around.
    indices: Vec<String>,
    /// The number of loops and branches around.
    depth: usize,
}

impl Loops {
    fn ty(&self) -> String {
        self.maker.ty(&self.like)
    }

    fn tensor(&mut self, name: String) -> ArrayValue {
        ArrayValue {
            name,
            ..self.like.clone()
        }
    }

    /// Adds an operation whose result is one of the tensors that hold something; its name.
    fn put(&mut self, text: &str) -> String {
        let name = self.maker.put(text);
        let value = self.tensor(name.clone());
        self.maker.values.push(value);
        name
    }

    /// Adds a line.
    fn line(&mut self, text: &str) {
        self.maker.line(text);
    }

    /// The tensors of the type that hold something.
    fn alike(&self) -> Vec<ArrayValue> {
        let like = &self.like;
        let is_alike = |v: &&ArrayValue| {
            v.shape == like.shape && v.element == like.element && v.open == like.open
        };
        self.maker.values.iter().filter(is_alike).cloned().collect()
    }

    /// One of them, the latest ones more often.
    fn defined(&self, c: &mut Choices) -> String {
        let values = self.alike();
        let late = values.len() - 1 - c.below("late", values.len().min(3) as u64) as usize;
        let number = match c.chance("any", 60) {
            true => c.below("which", values.len() as u64) as usize,
            false => late,
        };
        values[number].name.clone()
    }

    /// A tensor to be written, and whether it holds something.
    fn destination(&mut self, c: &mut Choices) -> (String, bool) {
        let written = self.written.len() as u64;
        if written > 0 && c.chance("again", 15) {
            // A tensor whose memory a result may have.
            let name = self.written[c.below("written", written) as usize].1.clone();
            let is_defined = self.alike().iter().any(|value| value.name == name);
            return (name, is_defined);
        }
        if c.chance("empty", 40) {
            return (self.empty(c), false);
        }
        (self.defined(c), true)
    }

    /// A tensor that holds nothing: one that is there, or a new one, which `cse` may find to be one that is.
    fn empty(&mut self, c: &mut Choices) -> String {
        let count = self.undefined.len() as u64;
        if count > 0 && c.chance("known", 70) {
            return self.undefined[c.below("which", count) as usize]
                .name
                .clone();
        }
        let sizes = list(&self.sizes);
        let text = format!("tensor.empty({sizes}) : {}", self.ty());
        let name = self.maker.put(&text);
        let value = self.tensor(name.clone());
        self.undefined.push(value);
        name
    }

    /// The latest tensor that started as one.
    fn latest(&self, name: &str) -> String {
        let mut name = name.to_owned();
        for (result, destination) in &self.written {
            if *destination == name {
                name.clone_from(result);
            }
        }
        name
    }

    /// An argument of type index with this value.
    fn index_argument(&mut self, number: u64) -> String {
        self.maker.scalar_argument("n", "index", number)
    }

    /// A size of the type, as bounds are written.
    fn size(&self, axis: usize) -> String {
        match self.sizes.get(axis) {
            Some(size) => size.clone(),
            None => self.like.shape[axis].to_string(),
        }
    }
}

/// A program of choices.
pub fn program(c: &mut Choices) -> RunnableProgram {
    let mut loops = without_code(c);
    let seed = c.below("seed", 1000);
    if loops.like.open {
        for size in loops.like.shape.clone() {
            let size = loops.index_argument(size as u64);
            loops.sizes.push(size);
        }
    }
    for n in 0..2 + c.below("arguments", 2) {
        // Then it is only seen when the program runs that all are of one size.
        let is_cast = c.chance("cast", 20);
        argument(&mut loops, is_cast && n == 0);
    }
    let count = 2 + c.below("statements", 5);
    for n in 0..count {
        c.scope(format!("s{n}"), |c| {
            if c.keep() {
                statement(c, &mut loops);
            }
        });
    }
    let results = results(c, &loops);
    RunnableProgram {
        text: loops.maker.function(&results),
        seed,
        inputs: loops.maker.inputs,
        is_contradictory: loops.maker.is_contradictory,
        is_compared: c.chance("compared", 10),
        is_simulated: c.chance("simulated", 8),
    }
}

/// A function without arguments and code, and the type of its tensors.
fn without_code(c: &mut Choices) -> Loops {
    let element = ["i32", "f32", "i64", "i8", "f64"][c.weighted("element", &[55, 25, 8, 6, 6])];
    let rank = 1 + c.weighted("rank", &[65, 35]);
    let size = |axis| {
        let sizes = [5, 1, 2, 3, 4, 7, 0, 33];
        c.scope(format!("d{axis}"), |c| {
            sizes[c.weighted("size", &[30, 10, 12, 14, 16, 10, 5, 3])]
        })
    };
    let mut shape: Vec<i64> = (0..rank).map(size).collect();
    if c.chance("large", 2) {
        // More than what is worth memory of its own.
        shape = vec![40_000];
    }
    Loops {
        maker: Maker {
            element,
            ..Maker::default()
        },
        like: ArrayValue {
            open: c.chance("open", 25) && !shape.contains(&0),
            shape,
            element,
            ..ArrayValue::default()
        },
        undefined: Vec::new(),
        written: Vec::new(),
        sizes: Vec::new(),
        indices: Vec::new(),
        depth: 0,
    }
}

/// An argument of the type; of one whose sizes are open as a part of one that has them.
fn argument(loops: &mut Loops, is_cast: bool) {
    let known = ArrayValue {
        open: false,
        ..loops.like.clone()
    };
    let known = loops.maker.parameter(&known);
    if !loops.like.open {
        loops.maker.values.push(known);
        return;
    }
    let (ty, open) = (loops.maker.ty(&known), loops.ty());
    let per_axis = |number: &str| list(vec![number; loops.sizes.len()]);
    let made = match is_cast {
        true => format!("tensor.cast {}", known.name),
        false => format!(
            "tensor.extract_slice {}[{}] [{}] [{}]",
            known.name,
            per_axis("0"),
            list(&loops.sizes),
            per_axis("1")
        ),
    };
    loops.put(&format!("{made} : {ty} to {open}"));
}

/// Adds a statement.
fn statement(c: &mut Choices, loops: &mut Loops) {
    let flow = if loops.depth < 3 { 30 } else { 0 };
    let linalg = if loops.like.shape[0] > compute::LARGE {
        0
    } else {
        8
    };
    match c.weighted("what", &[36, 22, linalg, flow]) {
        0 => compute::add(c, loops),
        1 => parts::add(c, loops),
        2 => match c.weighted("linalg", &[50, 30, 20]) {
            0 => generic::add(c, &mut loops.maker),
            1 => shapes::add(c, &mut loops.maker),
            _ => named::add(c, &mut loops.maker),
        },
        _ => flow::add(c, loops),
    }
}

/// Some of the tensors that hold something, in any order, at least one.
fn results(c: &mut Choices, loops: &Loops) -> Vec<ArrayValue> {
    let values = loops.alike();
    let mut results = Vec::new();
    for (n, value) in values.iter().enumerate() {
        let is_returned = c.scope(format!("r{n}"), |c| c.keep() && c.chance("returned", 45));
        if is_returned {
            results.push(value.clone());
        }
    }
    if results.is_empty() {
        results.extend(values.last().cloned());
    }
    if c.chance("reversed", 30) {
        results.reverse();
    }
    results
}

/// A number of the elements' type.
fn number(loops: &mut Loops, number: i64) -> String {
    let element = loops.maker.element;
    loops.maker.constant(number, element)
}

/// Commutative and other operations on two elements.
fn operators(element: &str) -> (&'static [&'static str], &'static [&'static str]) {
    match types::is_float(element) {
        true => (&["addf", "maximumf", "minimumf"], &["subf", "addf", "mulf"]),
        false => (
            &["addi", "maxsi", "xori", "muli"],
            &["subi", "addi", "minsi"],
        ),
    }
}
