//! Named operations of linalg: products, arithmetic, packing.

use super::types::{is_float, narrower};
use super::{Maker, Value, windows};
use crate::choices::Choices;

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
pub struct Named<'a> {
    /// Behind `linalg.`.
    pub name: &'a str,
    /// Between the name and the operands.
    pub attributes: String,
    /// Operands that are read.
    pub inputs: Vec<Value>,
    /// Numbers behind the inputs, of type i32.
    pub scalars: Vec<i64>,
    /// Behind the operands, in the place of the type of the result.
    pub tail: Option<String>,
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
) -> Value {
    let fits = |value: &&Value| value.shape == shape && value.element == element;
    let there: Vec<Value> = maker.values.iter().filter(fits).cloned().collect();
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
) -> Value {
    c.scope("out", |c| {
        let value = maker.argument(c, shape, element);
        match c.chance("filled", 60) {
            true => super::generic::filled(c, maker, value, None),
            false => value,
        }
    })
}

/// Writes an operation; its result.
pub fn put(maker: &mut Maker, of: Named, out: Value) -> Value {
    let mut names: Vec<String> = of.inputs.iter().map(|v| v.name.clone()).collect();
    let mut types: Vec<String> = of.inputs.iter().map(|v| maker.ty(v)).collect();
    for number in of.scalars {
        names.push(maker.constant(number, "i32"));
        types.push("i32".into());
    }
    let ins = match names.is_empty() {
        true => String::new(),
        false => format!(" ins({} : {})", names.join(", "), types.join(", ")),
    };
    let ty = maker.ty(&out);
    let result = maker.name();
    let (head, arrow) = match (maker.memory, of.tail) {
        (false, None) => (format!("{result} = "), format!(" -> {ty}")),
        (false, Some(tail)) => (format!("{result} = "), format!(" {tail}")),
        (true, tail) => (
            String::new(),
            tail.map_or(String::new(), |t| format!(" {t}")),
        ),
    };
    let text = format!(
        "{head}linalg.{} {}{ins} outs({} : {ty}){arrow}",
        of.name, of.attributes, out.name
    );
    maker.line(&text);
    match maker.memory {
        true => out,
        false => Value {
            name: result,
            ..out
        },
    }
}

/// The types of both inputs and the result: mixed at times.
pub fn mixed(c: &mut Choices, maker: &Maker, is_quantised: bool) -> [&'static str; 3] {
    if is_quantised {
        return ["i8", "i8", "i32"];
    }
    let one = |c: &mut Choices, name: &str| match c.chance(name, 20) {
        true => c.pick(name, narrower(maker.element)),
        false => maker.element,
    };
    [one(c, "first"), one(c, "second"), maker.element]
}

fn product(c: &mut Choices, maker: &mut Maker) -> Option<Value> {
    let all = if is_float(maker.element) || maker.element == "i1" {
        10
    } else {
        PRODUCTS.len()
    };
    let (name, a, b, out) = PRODUCTS[c.below("product", all as u64) as usize];
    let is_quantised = name.starts_with("quantized");
    let sizes = sizes(c, &format!("{a}{b}"));
    let types = mixed(c, maker, is_quantised);
    let mut attributes = String::new();
    let (mut a, mut b) = (a.to_owned(), b.to_owned());
    let may_transpose = name.ends_with("matmul") && !is_quantised;
    for (n, axes) in [&mut a, &mut b].into_iter().enumerate() {
        if may_transpose && c.chance(&format!("turned{n}"), 15) {
            let at = axes.len() - 2;
            *axes = format!(
                "{}{}",
                &axes[..at],
                axes[at..].chars().rev().collect::<String>()
            );
        }
    }
    let is_usual = matches!(&*a, "mk" | "bmk") && matches!(&*b, "kn" | "bkn");
    if may_transpose && (c.chance("maps", 30) || !is_usual) {
        let loops = if name == "matmul" { "mnk" } else { "bmnk" };
        attributes = maps(loops, &[&a, &b, out]);
    }
    let inputs = vec![
        c.scope("a", |c| operand(c, maker, shape(&a, &sizes), types[0])),
        c.scope("b", |c| operand(c, maker, shape(&b, &sizes), types[1])),
    ];
    let out = destination(c, maker, shape(out, &sizes), types[2]);
    let of = Named {
        name,
        attributes,
        inputs,
        scalars: if is_quantised { zeros(c) } else { Vec::new() },
        tail: None,
    };
    Some(put(maker, of, out))
}

/// `indexing_maps = [affine_map<(m, n) -> (n)>, ..]`
fn maps(loops: &str, operands: &[&str]) -> String {
    let list = |axes: &str| {
        let axes: Vec<String> = axes.chars().map(String::from).collect();
        axes.join(", ")
    };
    let map = |axes: &&str| format!("affine_map<({}) -> ({})>", list(loops), list(axes));
    let maps: Vec<String> = operands.iter().map(map).collect();
    format!("indexing_maps = [{}]", maps.join(", "))
}

/// Zero points of quantised inputs.
pub fn zeros(c: &mut Choices) -> Vec<i64> {
    vec![c.below("zero", 5) as i64, c.below("other", 5) as i64 - 2]
}

fn contract(c: &mut Choices, maker: &mut Maker) -> Option<Value> {
    // Each letter is an axis of what its row says.
    let mut operands = [String::new(), String::new(), String::new()];
    let mut loops = String::new();
    for (axis, of) in [
        ("b", [0, 1, 2]),
        ("m", [0, 2, 2]),
        ("o", [0, 2, 2]),
        ("n", [1, 2, 2]),
    ] {
        if c.chance(axis, 55) {
            loops += axis;
            for n in of.into_iter().take(if of[1] == of[2] { 2 } else { 3 }) {
                operands[n] += axis;
            }
        }
    }
    for axis in ["k", "l"] {
        if axis == "k" || c.chance(axis, 30) {
            loops += axis;
            operands[0] += axis;
            operands[1] += axis;
        }
    }
    for (n, axes) in operands.iter_mut().enumerate() {
        let mut permuted: Vec<char> = axes.chars().collect();
        for last in (1..permuted.len()).rev() {
            let path = format!("p{n}{last}");
            let other = c.scope(path, |c| c.below("swap", last as u64 + 1)) as usize;
            permuted.swap(last, last - other);
        }
        *axes = permuted.into_iter().collect();
    }
    let sizes = sizes(c, &loops);
    let types = mixed(c, maker, false);
    let [a, b, out] = &operands;
    let inputs = vec![
        c.scope("a", |c| operand(c, maker, shape(a, &sizes), types[0])),
        c.scope("b", |c| operand(c, maker, shape(b, &sizes), types[1])),
    ];
    let attributes = maps(&loops, &[a, b, out]);
    let out = destination(c, maker, shape(out, &sizes), types[2]);
    let of = Named {
        name: "contract",
        attributes,
        inputs,
        scalars: Vec::new(),
        tail: None,
    };
    Some(put(maker, of, out))
}

/// Element-wise operations with names, and `linalg.elementwise`, `map`, `select` and `copy`.
fn arithmetic(c: &mut Choices, maker: &mut Maker) -> Option<Value> {
    let rank = c.below("rank", 4) as usize;
    let sizes = sizes(c, &"abcd"[..rank]);
    let shape: Vec<i64> = sizes.iter().map(|(_, size)| *size).collect();
    let element = maker.element;
    let (unary, binary): (&[&str], &[&str]) = match element {
        "i1" => (&[], &["add", "mul"]),
        _ if is_float(element) => (
            &["abs", "ceil", "floor", "negf", "square", "exp", "tanh"],
            &["add", "sub", "mul", "max", "min"],
        ),
        _ => (&[], &["add", "sub", "mul", "max", "min"]),
    };
    let way = c.weighted("way", &[30, 25, 15, 10, 10, 10]);
    let count = match way {
        0 if !unary.is_empty() && c.chance("unary", 40) => 1,
        0..=2 => 2,
        3 => 3,
        _ => 1,
    };
    let mut inputs = Vec::new();
    for n in 0..count {
        let ty = match (way, n) {
            (3, 0) => "i1",
            (4, _) if element != "i1" && c.chance("other", 50) => c.pick("from", narrower(element)),
            _ => element,
        };
        inputs.push(c.scope(format!("in{n}"), |c| operand(c, maker, shape.clone(), ty)));
    }
    let (name, attributes, tail) = spelled(c, element, (way, count), (unary, binary));
    // Each point reads what it writes only, so that memory may be one of the inputs'.
    let out = match maker.memory && c.chance("in place", 25) {
        true => c.scope("out", |c| operand(c, maker, shape, element)),
        false => maker.argument(c, shape, element),
    };
    // Upstream's verifier compares the sizes of a map's operands, known or not.
    let (inputs, out) = match name {
        "map" => (
            inputs.iter().map(|v| maker.known(v)).collect(),
            maker.known(&out),
        ),
        _ => (inputs, out),
    };
    let of = Named {
        name,
        attributes,
        inputs,
        scalars: Vec::new(),
        tail,
    };
    Some(put(maker, of, out))
}

/// The name of an element-wise operation, what stands before its operands, and behind them.
fn spelled(
    c: &mut Choices,
    element: &str,
    way: (usize, usize),
    (unary, binary): (&[&'static str], &[&'static str]),
) -> (&'static str, String, Option<String>) {
    match way {
        (0, 1) => (c.pick("unary", unary), String::new(), None),
        (0, _) => (c.pick("binary", binary), String::new(), None),
        (1, _) => {
            let kind = match (element, c.pick("binary", binary)) {
                (_, "max") => "max_signed",
                (_, "min") => "min_signed",
                (_, kind) => kind,
            };
            let text = format!("kind=#linalg.elementwise_kind<{kind}>");
            ("elementwise", text, None)
        }
        (2, _) => {
            let operator = match element {
                "i1" => c.pick("operator", &["andi", "xori"]),
                _ if is_float(element) => c.pick("operator", &["addf", "mulf", "minimumf"]),
                _ => c.pick("operator", &["addi", "muli", "minui"]),
            };
            let tail = format!(
                "(%x: {element}, %y: {element}, %z: {element}) {{ %s = arith.{operator} %x, %y : \
                 {element} linalg.yield %s : {element} }}"
            );
            ("map", String::new(), Some(tail))
        }
        (3, _) => ("select", String::new(), None),
        _ => ("copy", String::new(), None),
    }
}

fn softmax(c: &mut Choices, maker: &mut Maker) -> Option<Value> {
    if !is_float(maker.element) {
        return None;
    }
    let rank = 1 + c.below("rank", 3) as usize;
    let sizes = sizes(c, &"abc"[..rank]);
    let shape: Vec<i64> = sizes.iter().map(|(_, size)| *size).collect();
    let along = c.below("along", rank as u64);
    let element = maker.element;
    let inputs = vec![c.scope("a", |c| operand(c, maker, shape.clone(), element))];
    let out = maker.argument(c, shape, element);
    let of = Named {
        name: "softmax",
        attributes: format!("dimension({along})"),
        inputs,
        scalars: Vec::new(),
        tail: None,
    };
    Some(put(maker, of, out))
}

/// `linalg.pack` with what fills the last tiles, or `linalg.unpack`, which leaves that out.
fn pack(c: &mut Choices, maker: &mut Maker) -> Option<Value> {
    if maker.memory {
        return None;
    }
    let rank = 1 + c.below("rank", 2) as usize;
    let element = maker.element;
    let one = |c: &mut Choices, n: usize| {
        c.scope(n, |c| {
            (1 + c.below("size", 7) as i64, 1 + c.below("tile", 4) as i64)
        })
    };
    let axes: Vec<(i64, i64)> = (0..rank).map(|n| one(c, n)).collect();
    let order: Vec<usize> = match rank == 2 && c.chance("turned", 40) {
        true => vec![1, 0],
        false => (0..rank).collect(),
    };
    let whole: Vec<i64> = axes.iter().map(|(size, _)| *size).collect();
    let tiles: Vec<i64> = axes.iter().map(|(_, tile)| *tile).collect();
    let outer = order
        .iter()
        .map(|n| (whole[*n] + tiles[*n] - 1) / tiles[*n]);
    let packed: Vec<i64> = outer.chain(tiles.iter().copied()).collect();
    let list = |numbers: &[i64]| super::shapes::list(numbers);
    let order: Vec<i64> = order.into_iter().map(|n| n as i64).collect();
    let places: Vec<i64> = (0..rank as i64).collect();
    let how = format!(
        "outer_dims_perm = [{}] inner_dims_pos = [{}] inner_tiles = [{}]",
        list(&order),
        list(&places),
        list(&tiles)
    );
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
    let name = maker.name();
    let fill = match is_unpack {
        true => String::new(),
        false => {
            let number = maker.constant(c.below("fill", 3) as i64, element);
            format!("padding_value({number} : {element}) ")
        }
    };
    let text = format!(
        "{name} = linalg.{} {} {fill}{how} into {} : {} -> {}",
        if is_unpack { "unpack" } else { "pack" },
        from.name,
        to.name,
        maker.ty(&from),
        maker.ty(&to)
    );
    maker.line(&text);
    Some(Value { name, ..to })
}
