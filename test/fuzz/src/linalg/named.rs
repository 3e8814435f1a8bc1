//! Named operations of linalg: products, arithmetic, packing.

use super::maker::{ArrayValue, Maker};
use super::types::{is_float, narrower};
use super::{generic, windows};
use crate::choices::Choices;
use crate::print::code::list;

/// Axes of the operands of products, a letter each.
const PRODUCTS: [(&str, &str, &str, &str); 12] = [
    ("matmul", "mk", "kn", "mn"),
    ("batch_matmul", "bmk", "bkn", "bmn"),
    ("batch_reduce_matmul", "bmk", "bkn", "mn"),
    ("matvec", "mk", "k", "m"),
    ("vecmat", "k", "kn", "n"),
    ("dot", "k", "k", ""),
    ("batch_matvec", "bmk", "bk", "bm"),
    ("batch_vecmat", "bk", "bkn", "bn"),
    ("mmt4d", "mkij", "nklj", "mnil"),
    ("batch_mmt4d", "bmkij", "bnklj", "bmnil"),
    ("quantized_matmul", "mk", "kn", "mn"),
    ("quantized_batch_matmul", "bmk", "bkn", "bmn"),
];

/// Parts that an operation of one result is written with.
#[derive(Default)]
pub struct Named<'a> {
    /// Behind `linalg.`.
    pub name: &'a str,
    /// Between the name and the operands.
    pub attributes: String,
    /// Operands that are read.
    pub inputs: Vec<ArrayValue>,
    /// Numbers behind the inputs, of type i32.
    pub scalars: Vec<i64>,
    /// Behind the operands, in the place of the type of the result.
    pub tail: Option<String>,
}

impl Named<'_> {
    /// Writes the operation; its result.
    pub fn put(self, maker: &mut Maker, out: ArrayValue) -> ArrayValue {
        let mut names: Vec<String> = self.inputs.iter().map(|v| v.name.clone()).collect();
        let mut types: Vec<String> = self.inputs.iter().map(|v| maker.ty(v)).collect();
        for number in self.scalars {
            names.push(maker.constant(number, "i32"));
            types.push("i32".into());
        }
        let (names, types, ty) = (list(&names), list(&types), maker.ty(&out));
        let arrow = maker.arrow(&[&out]);
        let text = format!(
            "linalg.{} {} ins({names} : {types}) outs({} : {ty}) {}",
            self.name,
            self.attributes,
            out.name,
            self.tail.unwrap_or(arrow)
        );
        if maker.memory {
            maker.line(&text);
            return out;
        }
        out.named(maker.put(&text))
    }
}

/// Adds an operation with operands of its own, or some that are there.
pub fn add(c: &mut Choices, maker: &mut Maker) {
    let made = match c.weighted("named", &[25, 20, 12, 18, 10, 8, 7]) {
        0 => product(c, maker),
        1 => windows::convolution(c, maker),
        2 => windows::pooling(c, maker),
        3 => arithmetic(c, maker),
        4 => contract(c, maker),
        5 => softmax(c, maker),
        _ => pack(c, maker),
    };
    maker.values.extend(made);
}

/// The sizes of axes, by their letters.
pub fn sizes(c: &mut Choices, axes: &str) -> Vec<(char, i64)> {
    let mut sizes: Vec<(char, i64)> = Vec::new();
    for axis in axes.chars() {
        if sizes.iter().all(|(known, _)| *known != axis) {
            let size = [1, 2, 3, 4, 5, 0, 17]
                [c.scope(axis, |c| c.weighted("size", &[15, 25, 28, 18, 9, 3, 2]))];
            sizes.push((axis, size));
        }
    }
    sizes
}

pub fn shape(axes: &str, sizes: &[(char, i64)]) -> Vec<i64> {
    let size = |axis: char| sizes.iter().find(|(known, _)| *known == axis);
    axes.chars().flat_map(size).map(|(_, size)| *size).collect()
}

/// A value of that shape: one that is there, or an argument.
pub fn operand(
    c: &mut Choices,
    maker: &mut Maker,
    shape: Vec<i64>,
    element: &'static str,
) -> ArrayValue {
    let fits = |value: &&ArrayValue| value.shape == shape && value.element == element;
    let there: Vec<ArrayValue> = maker.values.iter().filter(fits).cloned().collect();
    if !there.is_empty() && c.chance("earlier", 60) {
        return there[c.below("which", there.len() as u64) as usize].clone();
    }
    maker.argument(c, shape, element)
}

/// Memory that a result is combined with.
pub fn destination(
    c: &mut Choices,
    maker: &mut Maker,
    shape: Vec<i64>,
    element: &'static str,
) -> ArrayValue {
    c.scope("out", |c| {
        let value = maker.argument(c, shape, element);
        match c.chance("filled", 60) {
            true => generic::filled(c, maker, value, None),
            false => value,
        }
    })
}

impl Named<'_> {
    /// Writes an operation on two inputs of these shapes and types, and a destination.
    pub fn of_two(
        mut self,
        c: &mut Choices,
        maker: &mut Maker,
        shapes: [Vec<i64>; 3],
        types: [&'static str; 3],
    ) -> ArrayValue {
        let [a, b, out] = shapes;
        self.inputs = vec![
            c.scope("a", |c| operand(c, maker, a, types[0])),
            c.scope("b", |c| operand(c, maker, b, types[1])),
        ];
        let out = destination(c, maker, out, types[2]);
        self.put(maker, out)
    }
}

/// The types of both inputs and the result: mixed at times.
pub fn mixed(c: &mut Choices, maker: &Maker, is_quantised: bool) -> [&'static str; 3] {
    if is_quantised {
        return ["i8", "i8", "i32"];
    }
    let narrowed = |c: &mut Choices, name: &str| match c.chance(name, 20) {
        true => c.pick(name, narrower(maker.element)),
        false => maker.element,
    };
    [narrowed(c, "first"), narrowed(c, "second"), maker.element]
}

fn product(c: &mut Choices, maker: &mut Maker) -> Option<ArrayValue> {
    let products = match is_float(maker.element) || maker.element == "i1" {
        true => &PRODUCTS[..10],
        false => &PRODUCTS[..],
    };
    let (name, a, b, out) = c.pick("product", products);
    let is_quantised = name.starts_with("quantized");
    let sizes = sizes(c, &format!("{a}{b}"));
    let may_transpose = name.ends_with("matmul") && !is_quantised;
    let [axes_of_a, axes_of_b] = [(a, "turned0"), (b, "turned1")].map(|(axes, name)| {
        let at = axes.len().saturating_sub(2);
        match may_transpose && c.chance(name, 15) {
            true => [&axes[..at], &axes[at + 1..], &axes[at..=at]].concat(),
            false => axes.to_owned(),
        }
    });
    let is_usual = axes_of_a == a && axes_of_b == b;
    let attributes = match may_transpose && (c.chance("maps", 30) || !is_usual) {
        true => {
            let loops = if name == "matmul" { "mnk" } else { "bmnk" };
            maps(loops, &[&axes_of_a, &axes_of_b, out])
        }
        false => String::new(),
    };
    let types = mixed(c, maker, is_quantised);
    let shapes = [axes_of_a, axes_of_b, out.to_owned()].map(|axes| shape(&axes, &sizes));
    let product = Named {
        name,
        attributes,
        scalars: if is_quantised { zeros(c) } else { Vec::new() },
        ..Named::default()
    };
    Some(product.of_two(c, maker, shapes, types))
}

/// `indexing_maps = [affine_map<(m, n) -> (n)>, ..]`
fn maps(loops: &str, operands: &[&str]) -> String {
    let axes = |axes: &str| list(axes.chars());
    let map = |of: &&str| format!("affine_map<({}) -> ({})>", axes(loops), axes(of));
    format!("indexing_maps = [{}]", list(operands.iter().map(map)))
}

/// Zero points of quantised inputs.
pub fn zeros(c: &mut Choices) -> Vec<i64> {
    vec![c.below("zero", 5) as i64, c.below("other", 5) as i64 - 2]
}

/// Axes of contractions, the operands that have them, and how often one is there.
const CONTRACTED: [(&str, &[usize], u64); 6] = [
    ("b", &[0, 1, 2], 55),
    ("m", &[0, 2], 55),
    ("o", &[0, 2], 55),
    ("n", &[1, 2], 55),
    ("k", &[0, 1], 100),
    ("l", &[0, 1], 30),
];

fn contract(c: &mut Choices, maker: &mut Maker) -> Option<ArrayValue> {
    let mut operands: [Vec<&str>; 3] = Default::default();
    let mut loops = String::new();
    for (axis, of, percent) in CONTRACTED {
        if c.chance(axis, percent) {
            loops += axis;
            of.iter().for_each(|n| operands[*n].push(axis));
        }
    }
    for (n, axes) in operands.iter_mut().enumerate() {
        for last in (1..axes.len()).rev() {
            let path = format!("p{n}{last}");
            let other = c.scope(path, |c| c.below("swap", last as u64 + 1)) as usize;
            axes.swap(last, last - other);
        }
    }
    let operands = operands.map(|axes| axes.concat());
    let sizes = sizes(c, &loops);
    let types = mixed(c, maker, false);
    let contraction = Named {
        name: "contract",
        attributes: maps(&loops, &operands.each_ref().map(String::as_str)),
        ..Named::default()
    };
    let shapes = operands.map(|axes| shape(&axes, &sizes));
    Some(contraction.of_two(c, maker, shapes, types))
}

/// Element-wise operations with names, and `linalg.elementwise`, `map`, `select` and `copy`.
fn arithmetic(c: &mut Choices, maker: &mut Maker) -> Option<ArrayValue> {
    let rank = c.below("rank", 4) as usize;
    let sizes = sizes(c, &"abcd"[..rank]);
    let shape: Vec<i64> = sizes.iter().map(|(_, size)| *size).collect();
    let element = maker.element;
    let (mut operation, types) = arithmetic_operation(c, element);
    for (n, ty) in types.into_iter().enumerate() {
        let input = c.scope(format!("in{n}"), |c| operand(c, maker, shape.clone(), ty));
        operation.inputs.push(input);
    }
    // Each point reads what it writes only, so that memory may be one of the inputs'.
    let mut out = match maker.memory && c.chance("in place", 25) {
        true => c.scope("out", |c| operand(c, maker, shape, element)),
        false => maker.argument(c, shape, element),
    };
    // Upstream's verifier compares the sizes of a map's operands, known or not.
    if operation.name == "map" {
        operation.inputs = operation.inputs.iter().map(|v| maker.known(v)).collect();
        out = maker.known(&out);
    }
    Some(operation.put(maker, out))
}

/// One of these operations, without operands, and the types of its inputs.
fn arithmetic_operation(
    c: &mut Choices,
    element: &'static str,
) -> (Named<'static>, Vec<&'static str>) {
    let (unary, binary, mapped): (&[&str], &[&str], &[&str]) = match element {
        "i1" => (&[], &["add", "mul"], &["andi", "xori"]),
        _ if is_float(element) => (
            &["abs", "ceil", "floor", "negf", "square", "exp", "tanh"],
            &["add", "sub", "mul", "max", "min"],
            &["addf", "mulf", "minimumf"],
        ),
        _ => (
            &[],
            &["add", "sub", "mul", "max", "min"],
            &["addi", "muli", "minui"],
        ),
    };
    let way = c.weighted("way", &[30, 25, 15, 10, 20]);
    let mut operation = Named::default();
    let mut types = vec![element; 2];
    match way {
        0 if !unary.is_empty() && c.chance("unary", 40) => {
            operation.name = c.pick("unary", unary);
            types.pop();
        }
        0 => operation.name = c.pick("binary", binary),
        1 => {
            let kind = match (element, c.pick("binary", binary)) {
                (_, "max") => "max_signed",
                (_, "min") => "min_signed",
                (_, kind) => kind,
            };
            operation.name = "elementwise";
            operation.attributes = format!("kind=#linalg.elementwise_kind<{kind}>");
        }
        2 => {
            let operator = c.pick("operator", mapped);
            operation.name = "map";
            operation.tail = Some(format!(
                "(%x: {element}, %y: {element}, %z: {element}) {{ %s = arith.{operator} %x, %y : \
                 {element} linalg.yield %s : {element} }}"
            ));
        }
        3 => {
            operation.name = "select";
            types.insert(0, "i1");
        }
        _ => {
            operation.name = "copy";
            types.pop();
            if element != "i1" && c.chance("other", 25) {
                types[0] = c.pick("from", narrower(element));
            }
        }
    }
    (operation, types)
}

fn softmax(c: &mut Choices, maker: &mut Maker) -> Option<ArrayValue> {
    if !is_float(maker.element) {
        return None;
    }
    let rank = 1 + c.below("rank", 3) as usize;
    let sizes = sizes(c, &"abc"[..rank]);
    let shape: Vec<i64> = sizes.iter().map(|(_, size)| *size).collect();
    let element = maker.element;
    let softmax = Named {
        name: "softmax",
        attributes: format!("dimension({})", c.below("along", rank as u64)),
        inputs: vec![c.scope("a", |c| operand(c, maker, shape.clone(), element))],
        ..Named::default()
    };
    let out = maker.argument(c, shape, element);
    Some(softmax.put(maker, out))
}

/// `linalg.pack` with what fills the last tiles, or `linalg.unpack`, which leaves that out.
fn pack(c: &mut Choices, maker: &mut Maker) -> Option<ArrayValue> {
    if maker.memory {
        return None;
    }
    let rank = 1 + c.below("rank", 2) as usize;
    let element = maker.element;
    let both = |n: usize| {
        c.scope(n, |c| {
            (1 + c.below("size", 7) as i64, 1 + c.below("tile", 4) as i64)
        })
    };
    let (whole, tiles): (Vec<i64>, Vec<i64>) = (0..rank).map(both).unzip();
    let places: Vec<i64> = (0..rank as i64).collect();
    let mut order = places.clone();
    if rank == 2 && c.chance("turned", 40) {
        order.reverse();
    }
    let outer = order.iter().map(|n| *n as usize);
    let outer = outer.map(|n| (whole[n] + tiles[n] - 1) / tiles[n]);
    let packed = outer.chain(tiles.iter().copied()).collect();
    let [order, places, tiles] = [order, places, tiles].map(|numbers| list(&numbers));
    let how =
        format!("outer_dims_perm = [{order}] inner_dims_pos = [{places}] inner_tiles = [{tiles}]");
    let is_unpack = c.chance("unpack", 50);
    let (from, to) = if is_unpack {
        (packed, whole)
    } else {
        (whole, packed)
    };
    let from = c.scope("a", |c| operand(c, maker, from, element));
    let from = maker.known(&from);
    let to = maker.argument(c, to, element);
    let to = maker.known(&to);
    let name = match is_unpack {
        true => "unpack".to_owned(),
        false => {
            let number = maker.constant(c.below("fill", 3) as i64, element);
            format!("pack {} padding_value({number} : {element})", from.name)
        }
    };
    let source = if is_unpack { &*from.name } else { "" };
    let types = [&from, &to].map(|value| maker.ty(value)).join(" -> ");
    let text = format!("linalg.{name} {source} {how} into {} : {types}", to.name);
    Some(to.named(maker.put(&text)))
}
