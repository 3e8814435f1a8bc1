//! Results of the threads of a warp, combined by shuffles.
//!
//! ```mlir
//! // mdh-opt --mdh-tile --mdh-map-kernels --canonicalize --cse
//! func.func @f(%x: memref<128xf32>, %y: memref<f32>) {
//!   %dx = gpu.alloc () : memref<128xf32>
//!   %dy = gpu.alloc () : memref<f32>
//!   mdh.compute (k = 128)
//!     out_view(y = %dy[] : memref<f32>)
//!     md_hom(id, (pw(addf)))
//!     inp_view(x = %dx[k] : memref<128xf32>)
//!     schedule(#mdh.schedule<asm = cuda, layers = [thread {k: 32}, register {k: *}],
//!       outputs = {y: {combine: {thread.k: register}}}>)
//!   return
//! }
//! // becomes
//! %own = memref.alloca() {alignment = 16 : i64} : memref<f32, #mdh.memory<"register", thread>>
//! .. // the thread's part of the sum
//! %0 = memref.load %own[] : memref<f32, #mdh.memory<"register", thread>>
//! %bits = arith.bitcast %0 : f32 to i32
//! %next, %valid = gpu.shuffle down %bits, %one, %all : i32
//! %1 = arith.bitcast %next : i32 to f32
//! %2 = arith.addf %0, %1 fastmath<reassoc> : f32
//! ..
//! %after_next, %valid_2 = gpu.shuffle down %bits_2, %two, %all : i32
//! ..
//! memref.store %9, %own[] : memref<f32, #mdh.memory<"register", thread>>
//! %is_first = arith.cmpi eq, %thread, %c0 : index
//! scf.if %is_first {
//!   mdh.compute (part = 1) .. inp_view(parts_0 = %own[] : memref<f32, #mdh.memory<"register", thread>>)
//! }
//! ```
//!
//! After the step of distance `n`, the thread of number `t` has what those of numbers `t` to `t + 2n - 1`
//! have given, in their order: so that operators need not commute, and nothing is made up for threads
//! that are not there. All threads of a block take part, as they do in barriers.

use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, Dim, Parts};
use mdh_dialect::translate::{self, Depth};
use mdh_dialect::{read, types, write};
use mdh_schedule::asm::facts::WARP;
use melior::ir::{Type, ValueLike};

use crate::llvm::lower_to_loops::fold::Fold;
use crate::support::buffers::value;
use crate::support::builder::Builder;
use crate::support::captured::{attribute, parse};
use crate::support::parallel::Core;
use crate::support::region;

/// So many elements of a thread are combined without a loop.
const UNROLLED: i64 = 64;

/// The level whose threads a computation combines the results of.
pub fn level(op: Op) -> Option<Core> {
    let [_, level] = read::threads(op).ok()?.lanes?;
    Core::named(&level)
}

/// Returns whether threads of a warp wait for each other in some code.
pub fn has_exchanges(op: Op) -> bool {
    ir::all(op).into_iter().any(|op| level(op).is_some())
}

/// A thread among those whose results are combined.
pub struct Group<'c> {
    /// Its number.
    pub number: Val<'c>,
    /// Distance to the next one's lane.
    pub stride: i64,
    /// Upper bound of their number.
    pub parts: i64,
    /// Condition that it has a result.
    pub is_there: Option<Val<'c>>,
}

/// Combines the values of a group's threads; returns the computation that the first one finishes
/// with.
pub fn combine<'c>(op: Op<'c>, group: &Group<'c>) -> Result<Op<'c>, Errors> {
    let (mut parts, computation) = translate::both(op, Depth::Signatures)?;
    let mut builder = Builder::before(op);
    let lanes = std::mem::take(&mut parts.threads.lanes);
    let at = lanes.and_then(|[lanes, _]| parts.dims.iter().position(|dim| dim.name == lanes));
    let Some(at) = at else {
        return Err(vec!["bug: combines no threads".into()]);
    };
    let threads = parts.dims.remove(at);
    let exchange = Exchange {
        fold: Fold {
            op,
            computation: &computation,
        },
        memory: parts.inputs.iter().map(|input| input.value).collect(),
        group,
        is_safe: is_safe(op),
        ends: ends(&mut builder, group, &threads),
    };
    exchange.each(&mut builder, &parts)?;
    parts.dims.insert(
        at,
        Dim {
            upper: Bound::Static(1),
            ..threads
        },
    );
    let (scalar, combiner) = (region::copy(op, 0), region::copy(op, 1));
    let new = write::compute(builder.context, builder.location, &parts, scalar, combiner);
    let new = builder.insert(new);
    region::erase(op);
    Ok(new)
}

/// Returns the number of threads with results, where it has to be looked at: if all of a power of
/// two have one, the value that the first one gets never comes from others.
fn ends<'c>(builder: &mut Builder<'c>, group: &Group, threads: &Dim<'c>) -> Option<Val<'c>> {
    let is_full = threads.upper.known() == Some(group.parts);
    let is_power = group.parts.unsigned_abs().is_power_of_two();
    (!is_full || !is_power).then(|| value(builder, threads.upper))
}

/// Returns whether an operator may be applied to anything: it neither divides integers nor does what is not
/// known here.
fn is_safe(op: Op) -> bool {
    let Some(operator) = ir::combiner(op) else {
        return true;
    };
    let is_harmless = |op: &Op| {
        let name = ir::name_of(*op);
        // A power of integers divides by zero where its exponent is negative.
        let divides = ["divsi", "divui", "remsi", "remui", "ipowi"];
        let is_known = ["arith.", "math."].iter().any(|own| name.starts_with(own));
        let is_known = is_known || name == ops::mdh::YIELD;
        is_known && !divides.iter().any(|divides| name.ends_with(divides))
    };
    region::operations_of(operator).iter().all(is_harmless)
}

/// An exchange among the lanes of a warp.
struct Exchange<'e, 'c> {
    fold: Fold<'c, 'e>,
    /// Each thread's results, of each component.
    memory: Vec<Val<'c>>,
    group: &'e Group<'c>,
    /// True if the operator may be applied to what nobody has written.
    is_safe: bool,
    /// Number of threads with results, if that is not known to be all.
    ends: Option<Val<'c>>,
}

impl<'c> Exchange<'_, 'c> {
    /// All elements of the memory, whether they are written or not: so that all threads go through
    /// the same ones.
    fn each(&self, builder: &mut Builder<'c>, parts: &Parts<'c>) -> Result<(), Errors> {
        let shape = self.memory.first().and_then(|memory| {
            let shape = types::buffer_type(memory.r#type())?.shape;
            shape.into_iter().collect::<Option<Vec<i64>>>()
        });
        let Some(shape) = shape else {
            return Err(vec![
                "combines results of threads whose number is not known: expected one that is"
                    .into(),
            ]);
        };
        let is_dense = |dim: &Dim| [dim.step, dim.width].map(Bound::known) == [Some(1); 2];
        if !self.is_safe && !parts.dims.iter().all(is_dense) {
            return Err(vec![
                "combines results of threads in registers, of a dimension with steps and by an \
                 operator that divides: expected dense dimensions, or 'shared'"
                    .into(),
            ]);
        }
        let is_unrolled = shape.iter().product::<i64>() <= UNROLLED;
        self.nest(builder, parts, (&shape, is_unrolled), &[]);
        Ok(())
    }

    fn nest(
        &self,
        builder: &mut Builder<'c>,
        parts: &Parts<'c>,
        (shape, is_unrolled): (&[i64], bool),
        index: &[Val<'c>],
    ) {
        let Some((extent, rest)) = shape.split_first() else {
            return self.element(builder, parts, index);
        };
        let at = |own: Val<'c>| [index, &[own]].concat();
        if is_unrolled {
            for n in 0..*extent {
                let lane = builder.index(n);
                self.nest(builder, parts, (rest, is_unrolled), &at(lane));
            }
            return;
        }
        let bounds = [0, *extent, 1].map(|n| builder.index(n));
        builder.for_loop(bounds, &[], |builder, own, _| {
            self.nest(builder, parts, (rest, is_unrolled), &at(own));
            Vec::new()
        });
    }

    fn element(&self, builder: &mut Builder<'c>, parts: &Parts<'c>, index: &[Val<'c>]) {
        let values = self.memory.iter().map(|memory| {
            let element = types::buffer_type(memory.r#type()).map(|ty| ty.element);
            let element = element.unwrap_or_else(|| panic!("{} is a memref", memory.r#type()));
            let ty = types::mlir_type(builder.context, element);
            let operands: Vec<Val> = [&[*memory], index].concat();
            builder.op(ops::memref::LOAD, &operands, &[ty], &[])[0]
        });
        let mut values: Vec<Val> = values.collect();
        let is_there = (!self.is_safe).then(|| self.is_there(builder, parts, index));
        let mut distance = 1;
        while distance < self.group.parts {
            values = self.step(builder, &values, distance, is_there);
            distance *= 2;
        }
        for (memory, value) in self.memory.iter().zip(values) {
            let operands: Vec<Val> = [&[value, *memory], index].concat();
            builder.op(ops::memref::STORE, &operands, &[], &[]);
        }
    }

    /// Returns whether a thread has written an element.
    fn is_there(&self, builder: &mut Builder<'c>, parts: &Parts<'c>, index: &[Val<'c>]) -> Val<'c> {
        let mut is_active = match self.group.is_there {
            Some(is_there) => is_there,
            None => builder.boolean(true),
        };
        for (dim, index) in parts.dims.iter().zip(index) {
            let (lower, upper) = (value(builder, dim.lower), value(builder, dim.upper));
            let at = builder.binary(ops::arith::ADDI, lower, *index);
            let is_inside = builder.compare("slt", at, upper);
            is_active = builder.binary(ops::arith::ANDI, is_active, is_inside);
        }
        is_active
    }

    /// Combines a thread's values with those of the thread so many numbers on, if there is one.
    fn step(
        &self,
        builder: &mut Builder<'c>,
        own: &[Val<'c>],
        distance: i64,
        is_there: Option<Val<'c>>,
    ) -> Vec<Val<'c>> {
        let lanes = distance * self.group.stride;
        let shuffled: Vec<Val> = own
            .iter()
            .map(|value| shuffle(builder, *value, lanes))
            .collect();
        let ends = match (self.ends, self.is_safe) {
            (None, false) => Some(builder.index(self.group.parts)),
            (ends, _) => ends,
        };
        let Some(ends) = ends else {
            return self.fold.apply(builder, own, &shuffled);
        };
        let distance = builder.index(distance);
        let number = builder.binary(ops::arith::ADDI, self.group.number, distance);
        let has_other = builder.compare("slt", number, ends);
        if let Some(is_there) = is_there {
            let both = builder.binary(ops::arith::ANDI, is_there, has_other);
            let types: Vec<Type> = own.iter().map(|value| value.r#type()).collect();
            let apply = |builder: &mut Builder<'c>| self.fold.apply(builder, own, &shuffled);
            return builder.if_else(both, &types, apply, |_| own.to_vec());
        }
        let combined = self.fold.apply(builder, own, &shuffled);
        let pairs = combined.into_iter().zip(own);
        pairs
            .map(|(combined, own)| builder.select(has_other, combined, *own))
            .collect()
    }
}

/// The value that the thread so many lanes on has; what a lane beyond the warp gives is of no use.
/// Lanes exchange 32 bits at once.
fn shuffle<'c>(builder: &mut Builder<'c>, value: Val<'c>, lanes: i64) -> Val<'c> {
    let ty = value.r#type();
    let element = types::scalar_type(ty).unwrap_or(ScalarType::I32);
    let bits = match element {
        ScalarType::I1 => 1,
        other => other.byte_width() * 8,
    };
    let word = parse(builder.context, "i32");
    let integer = parse(builder.context, &format!("i{bits}"));
    let is_index = element == ScalarType::Index;
    let whole = match (element.is_float(), is_index) {
        (true, _) => builder.op(ops::arith::BITCAST, &[value], &[integer], &[])[0],
        (_, true) => builder.op(ops::arith::INDEX_CAST, &[value], &[integer], &[])[0],
        _ => value,
    };
    let exchanged = match bits {
        32 => shuffle_word(builder, whole, lanes),
        64 => {
            let half = number(builder, 32, integer);
            let high = builder.binary(ops::arith::SHRUI, whole, half);
            let [low, high] = [whole, high].map(|part| {
                let part = builder.op(ops::arith::TRUNCI, &[part], &[word], &[])[0];
                let part = shuffle_word(builder, part, lanes);
                builder.op(ops::arith::EXTUI, &[part], &[integer], &[])[0]
            });
            let high = builder.binary(ops::arith::SHLI, high, half);
            builder.binary(ops::arith::ORI, high, low)
        }
        _ => {
            let wide = builder.op(ops::arith::EXTUI, &[whole], &[word], &[])[0];
            let wide = shuffle_word(builder, wide, lanes);
            builder.op(ops::arith::TRUNCI, &[wide], &[integer], &[])[0]
        }
    };
    match (element.is_float(), is_index) {
        (true, _) => builder.op(ops::arith::BITCAST, &[exchanged], &[ty], &[])[0],
        (_, true) => builder.op(ops::arith::INDEX_CAST, &[exchanged], &[ty], &[])[0],
        _ => exchanged,
    }
}

fn shuffle_word<'c>(builder: &mut Builder<'c>, word: Val<'c>, lanes: i64) -> Val<'c> {
    let ty = word.r#type();
    let [offset, width] = [lanes, WARP].map(|n| number(builder, n, ty));
    let bit = parse(builder.context, "i1");
    let mode = attribute(builder.context, "#gpu<shuffle_mode down>");
    let operands = [word, offset, width];
    builder.op(ops::gpu::SHUFFLE, &operands, &[ty, bit], &[("mode", mode)])[0]
}

fn number<'c>(builder: &mut Builder<'c>, number: i64, ty: Type<'c>) -> Val<'c> {
    let text = format!("{number} : {ty}");
    let value = attribute(builder.context, &text);
    builder.constant(value, ty)
}
