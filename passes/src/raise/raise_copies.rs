//! `mdh-raise-copies`: a large copy between memrefs becomes a computation, which cores share.
//!
//! ```mlir
//! // mdh-opt "--mdh-raise-copies=asm=cpu cores=2 vector=64 registers=32 l1=32768 l2=1048576 l3=33554432" --canonicalize --cse
//! func.func @copy(%x: memref<512x2000xf32>, %y: memref<512x2000xf32>) {
//!   memref.copy %x, %y : memref<512x2000xf32> to memref<512x2000xf32>
//!   return
//! }
//! // becomes
//! %from = memref.collapse_shape %x [[0, 1]] : memref<512x2000xf32> into memref<1024000xf32>
//! %to = memref.collapse_shape %y [[0, 1]] : memref<512x2000xf32> into memref<1024000xf32>
//! mdh.compute (i = 1024000)
//!   out_view(to = %to[i] : memref<1024000xf32>)
//!   md_hom(id, (cc))
//!   inp_view(from = %from[i] : memref<1024000xf32>)
//!   schedule(#mdh.schedule<
//!     asm = cpu,
//!     layers = [core {i: 2}, L2 {i: *}, simd {i: 16}],
//!     decompose = {order: [core.i, L2.i, simd.i]}>)
//! ```
//!
//! Bufferization copies what is needed twice, and whoever copies a tensor has written such a copy. One
//! core alone reaches neither what the last cache gives nor what main memory does. Copies that are too
//! small for that stay, and so do those in parallel loops, whose iterations have the cores, and those of
//! unknown sizes in other loops.
//!
//! For a machine that runs kernels, copies from and to arrays that a function is given in its memory are raised,
//! whatever their size: no processor could make them.

use mdh_algebra::affine::Expr;
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, BufferPart, Dim, Parts};
use mdh_dialect::pass::{Options, Pass, emit_all};
use mdh_dialect::schedule;
use mdh_dialect::types::{self, BufferKind};
use mdh_schedule::Facts;
use mdh_schedule::asm::Asm;
use melior::ir::{Attribute, ValueLike};

use crate::gpu::place_on_device::is_given_on_device;
use crate::support::builder::Builder;
use crate::support::machine;
use crate::support::region;
use crate::tile;
use crate::tile::tile::code::{cc, combination, component_types};
use crate::tile::tile::merge;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-raise-copies",
    description: "large copies between memrefs to scheduled mdh.compute",
    operation: ops::builtin::MODULE,
    options: tile::schedule::OPTIONS,
    run,
};

fn run(module: Op, options: &Options) -> Result<(), Errors> {
    let (asm, grain) = (
        machine::from_options(options)?,
        tile::schedule::grain(options)?,
    );
    for copy in ir::find_all(module, &[ops::memref::COPY]) {
        match obstacle(copy, &asm, grain) {
            Some(why) if asm.has_kernels() => {
                ir::remark_at(copy, &format!("stays the host's: {why}"))
            }
            Some(why) => ir::remark_at(copy, &format!("stays one core's: {why}")),
            None => raise(copy, &asm, grain)?,
        }
    }
    Ok(())
}

/// The memory that a copy reads and that it writes.
fn operands<'c>(copy: Op<'c>) -> Option<[Val<'c>; 2]> {
    Some([ir::operand(copy, 0)?, ir::operand(copy, 1)?])
}

/// The number of elements of each axis, as far as one of the types says it.
fn shape(operands: [Val; 2]) -> Option<Vec<Option<i64>>> {
    let types = operands.map(|value| types::buffer_type(value.r#type()));
    let [Some(from), Some(to)] = types else {
        return None;
    };
    let is_plain = [&from, &to].iter().all(|ty| ty.kind == BufferKind::MemRef);
    let sizes = from.shape.iter().zip(&to.shape);
    is_plain.then(|| sizes.map(|(a, b)| a.or(*b)).collect())
}

/// Returns the reason for which a copy stays; `None` for one that cores are to share.
fn obstacle(copy: Op, asm: &Asm, grain: i64) -> Option<String> {
    if asm.has_kernels() {
        let memories: Vec<Val> = operands(copy).into_iter().flatten().collect();
        let is_there = memories.iter().any(|memory| is_given_on_device(*memory));
        let is_plain = |memory: &Val| {
            let ty = memory.r#type();
            !types::sizes(ty).is_empty() || ty == types::by_rows(ty)
        };
        let is_raised = is_there && memories.iter().all(is_plain);
        return (!is_raised)
            .then(|| "expected an array that was given in the device's memory".into());
    }
    let cores = Facts::new(asm).map_or(1, |facts| facts.cores);
    let Some(shape) = operands(copy)
        .and_then(shape)
        .filter(|shape| !shape.is_empty())
    else {
        return Some("expected memrefs of scalars, with an axis or more".into());
    };
    let sizes: Option<Vec<i64>> = shape.into_iter().collect();
    let points = sizes.map(|sizes| sizes.into_iter().fold(1, i64::saturating_mul));
    match points {
        _ if cores < 2 => Some("there is no other".into()),
        _ if tile::schedule::is_in_parallel(copy) => Some("it stands in a parallel loop".into()),
        None if is_in_loop(copy) => Some("it may be small, and stands in a loop".into()),
        Some(points) if points < grain => {
            let message = format!("found {points} elements, expected {grain} or more");
            Some(message)
        }
        _ => None,
    }
}

/// Returns whether an operation may run often.
fn is_in_loop(op: Op) -> bool {
    let loops = [ops::scf::FOR, ops::scf::WHILE, ops::affine::FOR];
    ir::ancestors(op).any(|op| loops.contains(&ir::name_of(op)))
}

fn raise(copy: Op, asm: &Asm, grain: i64) -> Result<(), Errors> {
    let Some((operands, shape)) = operands(copy).and_then(|own| Some((own, shape(own)?))) else {
        return Ok(());
    };
    let mut builder = Builder::before(copy);
    let (operands, shape) = match shape.is_empty() {
        true => (
            operands.map(|memory| with_axis(&mut builder, memory)),
            vec![Some(1)],
        ),
        false => (operands, shape),
    };
    let zeros = vec![Bound::Static(0); shape.len()];
    let map: Vec<Expr> = (0..shape.len()).map(Expr::Dim).collect();
    let names = crate::raise::raise_linalg::names(&vec![true; shape.len()]);
    let dims = shape.iter().zip(&names).enumerate();
    let dims = dims.map(|(axis, (size, name))| {
        let size = match size {
            Some(size) => Bound::Static(*size),
            None => Bound::Dynamic(builder.dim(operands[1], axis)),
        };
        Dim::dense(name, size)
    });
    let dims: Vec<_> = dims.collect();
    let [from, to] = operands;
    let from = BufferPart::accessed("from", from, map.clone(), zeros.clone());
    let mut to = BufferPart::accessed("to", to, map, zeros);
    to.components = vec![0];
    let mut parts = Parts {
        combine: dims.iter().map(|_| cc(&builder)).collect(),
        dims,
        inputs: vec![from],
        outputs: vec![to],
        ..Parts::default()
    };
    merge::neighbours(&mut builder, &mut parts);
    let element = types::buffer_type(operands[1].r#type()).map(|ty| ty.element);
    let types = component_types(&builder, element.as_slice());
    let compute = combination(&mut builder, copy, &parts, &types);
    let chosen = tile::schedule::choices(&[compute], asm, grain);
    for (op, choice) in chosen.or_else(|(op, errors)| emit_all(op, errors).map(|()| Vec::new()))? {
        if let Some(choice) = choice {
            schedule::set(op, Some(&choice.schedule));
        }
    }
    region::erase(copy);
    Ok(())
}

/// A memref without axes as one with an axis of one element.
fn with_axis<'c>(builder: &mut Builder<'c>, memory: Val<'c>) -> Val<'c> {
    let ty = types::with_extents(memory.r#type(), &[Some(1)]);
    let attribute = |text: &str| match Attribute::parse(builder.context, text) {
        Some(attribute) => attribute,
        None => panic!("{text} is an attribute"),
    };
    let attributes = [
        ("reassociation", attribute("[]")),
        ("static_output_shape", attribute("array<i64: 1>")),
    ];
    builder.op(ops::memref::EXPAND_SHAPE, &[memory], &[ty], &attributes)[0]
}
