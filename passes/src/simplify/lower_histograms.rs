//! `mdh-lower-histograms`: a computation that holds every value against every bin becomes one that
//! updates one bin for each value.
//!
//! ```mlir
//! func.func @count(%x: memref<100xi32>, %h: memref<16xi32>) {
//!   mdh.compute (b = 16, i = 100)
//!     out_view(h = %h[b] : memref<16xi32>)
//!     md_hom((%x_i: i32) {
//!       %zero = arith.constant 0 : i32
//!       %one = arith.constant 1 : i32
//!       %bin = arith.index_cast %x_i : i32 to index
//!       %b = mdh.index 0 : index
//!       %here = arith.cmpi eq, %b, %bin : index
//!       %count = arith.select %here, %one, %zero : i32
//!       mdh.yield %count : i32
//!     }, (cc, pw(addi)))
//!     inp_view(x = %x[i] : memref<100xi32>)
//!   return
//! }
//! // becomes
//! func.func @count(%x: memref<100xi32>, %h: memref<16xi32>) {
//!   %c16 = arith.constant 16 : index
//!   %c0 = arith.constant 0 : index
//!   %c100 = arith.constant 100 : index
//!   %bins = memref.alloc() {alignment = 64 : i64} : memref<1x17xi32>
//!   mdh.compute (bin = 17)
//!     out_view(bins_0 = %bins[0, bin] : memref<1x17xi32>)
//!     md_hom(() {
//!       %zero = arith.constant 0 : i32
//!       mdh.yield %zero : i32
//!     }, (cc))
//!     inp_view()
//!   %c1 = arith.constant 1 : index
//!   scf.for %i = %c0 to %c100 step %c1 {
//!     %x_i = memref.load %x[%i] : memref<100xi32>
//!     %bin = arith.index_cast %x_i : i32 to index
//!     %is_bin = arith.cmpi ult, %bin, %c16 : index
//!     %place = arith.select %is_bin, %bin, %c16 : index
//!     %one = arith.constant 1 : i32
//!     %before = memref.load %bins[%c0, %place] : memref<1x17xi32>
//!     %after = arith.addi %before, %one : i32
//!     memref.store %after, %bins[%c0, %place] : memref<1x17xi32>
//!   }
//!   mdh.compute (b = 16, part = 1)
//!     out_view(h = %h[b] : memref<16xi32>)
//!     md_hom(id, (cc, pw(addi)))
//!     inp_view(bins_0 = %bins[part, b] : memref<1x17xi32>)
//!   memref.dealloc %bins : memref<1x17xi32>
//!   return
//! }
//! ```
//!
//! The form: for a kept dimension `b`, which counts the bins, and values `x` along dimensions that
//! combine, the scalar function is `b == g(x) ? v(x) : e` with `e` the neutral element of the
//! operator, on all components of the tuple. `g` and `v` do not depend on `b`. Values whose `g`
//! is no bin's count nowhere.
//!
//! Behind the last bin is a spare one, for those values, or several, where several values are
//! counted at once. The bins are filled with the neutral element; cores get parts of the values
//! and bins of their own, which a computation combines in the parts' order: the operator need not
//! be commutative. Where it is, a part may have several rows of bins, of which neighbours take
//! one each. Of further kept dimensions each point has its own histogram; where there are many,
//! cores get parts of those.

mod form;
pub mod plan;
mod update;

use mdh_dialect::ops;
use std::collections::HashSet;

use mdh_algebra::affine::Expr;
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::parts::{Bound, BufferPart, CarryPart, Dim, Parts};
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::write;
use mdh_schedule::asm::facts::LINE;
use melior::ir::Region;

use crate::llvm::lower_to_loops::grid::Grid;
use crate::support::buffers;
use crate::support::builder::{Builder, known};
use crate::support::deterministic;
use crate::support::draft;
use crate::support::machine;
use crate::support::names;
use crate::support::parallel::Core;
use crate::support::region;
use crate::tile;
use crate::tile::tile::code::{cc, combination, component_types};
use crate::tile::tile::nest::{bound, ceil_div};
use form::Histogram;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-lower-histograms",
    description: "lower each mdh.compute that compares values with bins to one update a value",
    operation: ops::builtin::MODULE,
    options: &[
        machine::ASM,
        machine::CORES,
        (
            "grain",
            "the minimum parallel grain: the fewest values that are worth a thread",
            "32768",
        ),
    ],
    run,
};

fn run(module: Op, options: &Options) -> Result<(), Errors> {
    let (asm, grain) = (
        machine::from_options(options)?,
        tile::schedule::grain(options)?,
    );
    let cores = asm.layer("core").and_then(|layer| layer.core()?.count);
    let cores = cores.map_or(1, |cores| i64::try_from(cores).unwrap_or(i64::MAX));
    for op in ir::find_all(module, &[ops::mdh::COMPUTE]) {
        match form::recognise(op) {
            Ok(histogram) => {
                let mut types = histogram.computation.components.iter();
                let is_alone = types.any(|ty| ty.is_float()) && deterministic::is_wanted(op);
                let cores = if is_alone { 1 } else { cores };
                Lowering::new(&histogram, cores, grain).emit();
            }
            Err(Some(why)) => {
                let text = format!("is not lowered as a histogram: {why}");
                ir::remark_at(op, &text);
            }
            Err(None) => {}
        }
    }
    Ok(())
}

/// Returns whether a computation is lowered as a histogram.
pub fn is_histogram(op: Op) -> bool {
    form::recognise(op).is_ok()
}

/// The dimension whose parts go to cores.
#[derive(Clone, Copy)]
enum Shared {
    /// A dimension of values: each core has bins of its own.
    Values(usize),
    /// A dimension of histograms.
    Histograms(usize),
}

/// One histogram's code.
struct Lowering<'c, 'h> {
    of: &'h Histogram<'c>,
    builder: Builder<'c>,
    grids: Vec<Grid<'c>>,
    /// The dimensions of values, outermost first.
    values: Vec<usize>,
    shared: Shared,
    /// Number of parts.
    parts: Val<'c>,
    /// Number of rows of bins of each of them.
    copies: Val<'c>,
    /// Number of values counted at once.
    lanes: i64,
    /// Length of a row of bins, with padding.
    length: Val<'c>,
    /// The bins of each component: rows of the parts.
    bins: Vec<Val<'c>>,
    /// The operations of the scalar function that a value needs, in order.
    code: Vec<Op<'c>>,
    /// The arguments of the scalar function that it needs.
    arguments: HashSet<usize>,
}

/// Number of values counted at once, in a loop over many.
const LANES: i64 = 8;
/// Number of rows of bins of a part that may have several: neighbours of one value update others,
/// so that an update need not wait for the one before, and that many hide an addition in memory.
const COPIES: i64 = 4;
/// Bytes that these may need together: half of a small first-level cache.
const COPIES_BYTES: i64 = 16384;
/// Elements, of a byte at least, to whose multiples rows of bins are rounded up: no two cores write in one cache line,
/// nor in its neighbour, which processors read with it.
const ROW: i64 = 2 * LINE;

impl<'c, 'h> Lowering<'c, 'h> {
    fn new(of: &'h Histogram<'c>, cores: i64, grain: i64) -> Self {
        let mut builder = Builder::before(of.op);
        let dims = of.parts.dims.iter();
        let grids: Vec<Grid> = dims.map(|dim| Grid::new(&mut builder, dim)).collect();
        let mut values = of.values();
        values.sort_by_key(|d| of.reads_along(*d));
        let count = |d: &usize| known(grids[*d].count);
        // Sizes that are not known are taken to be large.
        let is_long = |d: &&usize| count(d).is_none_or(|n| n >= 8 * cores);
        let longest = values.iter().max_by_key(|d| count(d).unwrap_or(i64::MAX));
        let shared = match (
            of.others().iter().find(is_long),
            values.iter().find(is_long),
        ) {
            (Some(d), _) => Shared::Histograms(*d),
            (None, Some(d)) => Shared::Values(*d),
            (None, None) => Shared::Values(*longest.unwrap_or(&0)),
        };
        let parts = parts(&mut builder, of, &grids, shared, [cores, grain]);
        let innermost = values.last().and_then(|d| known(grids[*d].count));
        let lanes = match of.is_plain() && innermost.is_none_or(|n| n >= 16 * LANES) {
            true => LANES,
            false => 1,
        };
        let copies = match lanes {
            1 => builder.index(1),
            _ => copies(&mut builder, of, &grids, shared, parts),
        };
        let spare = if of.is_plain() { lanes } else { 0 };
        let spare = builder.index(spare);
        let length = builder.binary(ops::arith::ADDI, grids[of.bins].count, spare);
        let rows = builder.binary(ops::arith::MULI, parts, copies);
        let bins = allocate(&mut builder, of, length, rows);
        let (code, arguments) = update::needed(of);
        Lowering {
            of,
            builder,
            grids,
            values,
            shared,
            parts,
            copies,
            lanes,
            length,
            bins,
            code,
            arguments,
        }
    }

    fn emit(&self) {
        let builder = &mut self.builder.clone();
        let other_dims = self.of.others();
        let start: Vec<Val> = self.grids.iter().map(|g| g.lower).collect();
        match self.shared {
            Shared::Histograms(d) => self.each_part(builder, d, &|builder, part| {
                self.each_point(
                    builder,
                    &other_dims,
                    Some(part),
                    &start,
                    &|builder, point| {
                        self.fill(builder, part);
                        self.count(builder, None, part, point);
                        self.combine(builder, Some(part), point);
                    },
                );
            }),
            Shared::Values(d) => {
                self.each_point(builder, &other_dims, None, &start, &|builder, point| {
                    self.each_part(builder, d, &|builder, part| {
                        self.fill(builder, part);
                        self.count(builder, Some(part), part, point);
                    });
                    self.combine(builder, None, point);
                });
            }
        }
        for bins in &self.bins {
            builder.op(ops::memref::DEALLOC, &[*bins], &[], &[]);
        }
        region::erase(self.of.op);
    }

    /// The parts, at the same time.
    fn each_part(
        &self,
        builder: &mut Builder<'c>,
        d: usize,
        body: &dyn Fn(&mut Builder<'c>, Val<'c>),
    ) {
        let (zero, one) = (builder.index(0), builder.index(1));
        if known(self.parts) == Some(1) {
            return body(builder, zero);
        }
        let core = Core::new("core", d);
        let level = format!("{}.{}", core.layer, self.of.parts.dims[d].name);
        builder.forall([zero, self.parts, one], &core, &level, |builder, part| {
            body(builder, part);
        });
    }

    /// Loops over the points of some dimensions: of the shared one over those of a part.
    fn each_point(
        &self,
        builder: &mut Builder<'c>,
        dims: &[usize],
        part: Option<Val<'c>>,
        point: &[Val<'c>],
        body: &dyn Fn(&mut Builder<'c>, &[Val<'c>]),
    ) {
        let Some((&d, inner)) = dims.split_first() else {
            return body(builder, point);
        };
        let at = |builder: &mut Builder<'c>, index: Val<'c>| {
            let mut point = point.to_vec();
            point[d] = index;
            self.each_point(builder, inner, part, &point, body);
            Vec::new()
        };
        let (Shared::Values(shared) | Shared::Histograms(shared)) = self.shared;
        let grid = &self.grids[d];
        match part.filter(|_| d == shared && known(self.parts) != Some(1)) {
            None => {
                grid.each(builder, &[], |builder, index, _| at(builder, index));
            }
            Some(part) => {
                let [start, end] = self.range(builder, d, part);
                let unit = builder.index(1);
                builder.for_loop([start, end, unit], &[], |builder, number, _| {
                    let index = grid.point(builder, number);
                    at(builder, index)
                });
            }
        }
    }

    /// The numbers of a part's points of the shared dimension, from one to below another.
    fn range(&self, builder: &mut Builder<'c>, d: usize, part: Val<'c>) -> [Val<'c>; 2] {
        let count = self.grids[d].count;
        let size = ceil_div(builder, count, self.parts);
        let start = builder.binary(ops::arith::MULI, part, size);
        let end = builder.binary(ops::arith::ADDI, start, size);
        [start, builder.binary(ops::arith::MINSI, end, count)]
    }

    /// Fills a part's bins with the neutral element.
    fn fill(&self, builder: &mut Builder<'c>, part: Val<'c>) {
        let computation = &self.of.computation;
        let operator = computation.operator();
        let neutral = operator.and_then(|f| f.neutral(&computation.components));
        let neutral = neutral.unwrap_or_default();
        let mut outputs = self.rows(builder, Some(part), |n| format!("bins_{n}"));
        let mut dims = vec![Dim::dense("bin", bound(self.length))];
        let mut access = vec![Expr::Const(0), Expr::Dim(0)];
        if known(self.copies) != Some(1) {
            dims.insert(0, Dim::dense("copy", bound(self.copies)));
            access = vec![Expr::Dim(0), Expr::Dim(1)];
        }
        for (n, output) in outputs.iter_mut().enumerate() {
            output.components = vec![n];
            output.accesses = vec![access.clone()];
        }
        let parts = Parts {
            combine: dims.iter().map(|_| cc(builder)).collect(),
            dims,
            outputs,
            ..Parts::default()
        };
        let scalar = builder.region(&[], ops::mdh::YIELD, |builder, _| {
            neutral.iter().map(|value| builder.scalar(*value)).collect()
        });
        let (context, location) = (builder.context, builder.location);
        builder.insert(write::compute(
            context,
            location,
            &parts,
            scalar,
            Region::new(),
        ));
    }

    /// The rows of bins as buffers, over bins and parts from 0 on; or with part 0 that one.
    fn rows(
        &self,
        builder: &mut Builder<'c>,
        part: Option<Val<'c>>,
        name: impl Fn(usize) -> String,
    ) -> Vec<BufferPart<'c>> {
        let zero = builder.index(0);
        let first = builder.binary(ops::arith::MULI, part.unwrap_or(zero), self.copies);
        let origin = builder.binary(ops::arith::SUBI, zero, first);
        let rows = self.bins.iter().enumerate().map(|(n, bins)| {
            let access = vec![Expr::Dim(1), Expr::Dim(0)];
            let origins = vec![bound(origin), Bound::Static(0)];
            BufferPart::accessed(name(n), *bins, access, origins)
        });
        rows.collect()
    }

    /// Stores what the parts have in their bins, combined in their order; of one part only, if it
    /// is given.
    fn combine(&self, builder: &mut Builder<'c>, part: Option<Val<'c>>, point: &[Val<'c>]) {
        let form = self.of;
        let whole = &form.parts;
        let mut bins = whole.dims[form.bins].clone();
        let name = names::fresh("part", |name| name == bins.name);
        let count = match part {
            Some(_) => bound(self.copies),
            None => bound(builder.binary(ops::arith::MULI, self.parts, self.copies)),
        };
        let mut inputs = self.rows(builder, part, |n| format!("bins_{n}"));
        for input in &mut inputs {
            input.origin[1] = bins.lower;
        }
        // The points of a domain with a step of its own width are next to each other.
        (bins.step, bins.width) = (Bound::Static(1), Bound::Static(1));
        let mut fixed = |buffers: &[BufferPart<'c>]| -> Vec<BufferPart<'c>> {
            let names = buffers.iter();
            names.map(|b| self.fixed(builder, b, point)).collect()
        };
        let outputs = fixed(&whole.outputs);
        let carries = whole.carries.iter().map(|carry| CarryPart {
            dim: 1,
            incoming: fixed(&carry.incoming),
            valid: carry.valid,
            outgoing: fixed(&carry.outgoing),
        });
        let carries = carries.collect();
        let mut parts = Parts {
            dims: vec![bins, Dim::dense(&name, count)],
            combine: vec![cc(builder), whole.combine[self.values[0]]],
            inputs,
            outputs,
            carries,
            laws: whole.laws.clone(),
            ..Parts::default()
        };
        names::make_unique(&mut parts);
        let types = component_types(builder, &form.computation.components);
        combination(builder, form.op, &parts, &types);
    }

    /// A buffer's accesses over the bins alone, at a point of the other dimensions.
    fn fixed(
        &self,
        builder: &mut Builder<'c>,
        buffer: &BufferPart<'c>,
        point: &[Val<'c>],
    ) -> BufferPart<'c> {
        let rank = point.len();
        let bins = self.of.others();
        let mut buffer = buffer.clone();
        // With other dimensions each buffer has one access, and that is linear.
        for (axis, origin) in buffer.origin.iter_mut().enumerate() {
            let form = buffer.accesses[0][axis].linear(rank);
            let moves = form.map_or(Vec::new(), |form| form.coefficients);
            for d in bins
                .iter()
                .filter(|d| moves.get(**d).is_some_and(|c| *c != 0))
            {
                let factor = builder.index(moves[*d]);
                let distance = builder.binary(ops::arith::MULI, factor, point[*d]);
                let from = buffers::value(builder, *origin);
                *origin = bound(builder.binary(ops::arith::SUBI, from, distance));
            }
        }
        let mut replacements = vec![Expr::Const(0); rank];
        replacements[self.of.bins] = Expr::Dim(0);
        draft::substitute_accesses(&mut buffer, &replacements);
        buffer
    }
}

/// Returns the number of parts: at most as many as there are cores, and such that each has at least
/// `grain` values, and not more bins to combine than values to count.
fn parts<'c>(
    builder: &mut Builder<'c>,
    of: &Histogram<'c>,
    grids: &[Grid<'c>],
    shared: Shared,
    [cores, grain]: [i64; 2],
) -> Val<'c> {
    let mut work = builder.index(1);
    for d in of.values() {
        work = builder.binary(ops::arith::MULI, work, grids[d].count);
    }
    let mut least = builder.index(grain);
    let shared = match shared {
        Shared::Values(d) => {
            least = builder.binary(ops::arith::MAXSI, grids[of.bins].count, least);
            d
        }
        Shared::Histograms(d) => {
            for d in of.others() {
                work = builder.binary(ops::arith::MULI, work, grids[d].count);
            }
            d
        }
    };
    let (one, cores) = (builder.index(1), builder.index(cores));
    let parts = builder.binary(ops::arith::DIVSI, work, least);
    let parts = builder.binary(ops::arith::MINSI, parts, cores);
    let parts = builder.binary(ops::arith::MINSI, parts, grids[shared].count);
    builder.binary(ops::arith::MAXSI, parts, one)
}

/// Returns the number of rows of bins of a part: several, where the operator is commutative, they
/// stay in the first-level cache, and there are many more values than bins.
fn copies<'c>(
    builder: &mut Builder<'c>,
    of: &Histogram<'c>,
    grids: &[Grid<'c>],
    shared: Shared,
    parts: Val<'c>,
) -> Val<'c> {
    let unit = builder.index(1);
    if !of
        .computation
        .operator()
        .is_some_and(|f| f.is_commutative())
    {
        return unit;
    }
    let values = of.values();
    let counts = values.iter().map(|d| grids[*d].count);
    let total = counts.fold(unit, |all, n| builder.binary(ops::arith::MULI, all, n));
    let share = match shared {
        Shared::Values(_) => builder.binary(ops::arith::DIVSI, total, parts),
        Shared::Histograms(_) => total,
    };
    let bytes: usize = (of.computation.components.iter())
        .map(|ty| ty.byte_width())
        .sum();
    let most = builder.index(COPIES_BYTES / (COPIES * bytes.max(1) as i64));
    let enough = builder.index(16 * COPIES);
    let enough = builder.binary(ops::arith::DIVSI, share, enough);
    let most = builder.binary(ops::arith::MINSI, most, enough);
    let (several, bins) = (builder.index(COPIES), grids[of.bins].count);
    match known(bins).zip(known(most)) {
        Some((bins, most)) if bins <= most => several,
        Some(_) => unit,
        None => {
            let fits = builder.compare("sle", bins, most);
            builder.select(fits, several, unit)
        }
    }
}

/// Memory for bins.
fn allocate<'c>(
    builder: &mut Builder<'c>,
    of: &Histogram<'c>,
    length: Val<'c>,
    rows: Val<'c>,
) -> Vec<Val<'c>> {
    let line = builder.index(ROW);
    let lines = ceil_div(builder, length, line);
    let length = match known(rows) {
        Some(1) => length,
        _ => builder.binary(ops::arith::MULI, lines, line),
    };
    let components = component_types(builder, &of.computation.components);
    let extents = [bound(rows), bound(length)];
    let bins = components.into_iter();
    bins.map(|ty| buffers::aligned(builder, &extents, ty))
        .collect()
}

impl Histogram<'_> {
    /// Returns the number of inputs that have neighbours in memory along a dimension.
    fn reads_along(&self, d: usize) -> usize {
        let accesses = self.parts.inputs.iter().flat_map(|b| &b.accesses);
        let along = |access: &&Vec<Expr>| access.last().is_some_and(|e| e.dims().contains(&d));
        accesses.filter(along).count()
    }
}
