//! Sizes of arguments that the program leaves open, from `--size DIM=N`.
//!
//! A dimension's name stands for its upper bound. Where the bound is an argument's extent
//! (`tensor.dim`) or an argument itself, the size is that extent or argument, and where the
//! program computes it from one, that which gives the size; other extents follow from what the
//! views read: the largest index, plus one. Files and numbers given as arguments settle theirs
//! before, and with them the bounds that a program computes from them. What is padded may have any
//! size: where nothing else says one, there is as much padding behind as there is before. What no
//! computation uses has the size 1.

mod computed;
pub mod explain;
pub mod notes;
mod origin;
mod reshaped;

use std::collections::{BTreeMap, BTreeSet};

use melior::ir::operation::OperationLike;
use melior::ir::{RegionLike, ValueLike};

use mdh_algebra::domain::Grid;
use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Val};
use mdh_dialect::parts::{Bound, BufferPart, Dim, Parts};
use mdh_dialect::types::buffer_type;
use mdh_passes::support::extents::{self, Extent};

use crate::cli::Size;
use crate::entry::Entry;
use crate::error::{Error, Result};
use crate::values::Tensor;
use computed::{Fit, STEPS};
use origin::{Origin, origin};

/// Facts about the arguments before any of them is read or made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// For each argument, its extents.
    pub shapes: Vec<Vec<Option<i64>>>,
    /// For each argument, its value where it is a scalar that bounds a dimension.
    pub scalars: Vec<Option<i64>>,
}

/// Sizes for the dimensions that nothing else fixes: small, and no two divide each other.
const ASSUMED: [i64; 7] = [37, 29, 23, 19, 17, 13, 11];

/// Treatment of sizes that nothing fixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// They get one of `ASSUMED`.
    Assumed,
    /// They stay open.
    Kept,
}

impl Sizes {
    /// Returns the facts that the types of an entry's arguments give.
    pub fn declared(entry: &Entry) -> Sizes {
        Sizes {
            shapes: entry.arguments.iter().map(|a| a.ty.shape.clone()).collect(),
            scalars: vec![None; entry.arguments.len()],
        }
    }
}

/// Infers an entry's arguments from the given sizes, and from known ones.
pub fn infer(entry: &Entry, given: &[Size], known: Sizes, open: Open) -> Result<Sizes> {
    let views: Vec<Parts> = entry.views().into_iter().map(|(_, view)| view).collect();
    let mut solver = Solver {
        entry,
        sizes: known,
        given: BTreeMap::new(),
        assumed: BTreeSet::new(),
    };
    for size in given {
        solver.check_name(size, &views)?;
        let name = size.dimension.clone();
        if solver.given.insert(name, size.size).is_some() {
            let message = format!(
                "the size of the dimension '{}' is given twice",
                size.dimension
            );
            return Err(Error::input(message));
        }
    }
    solver.finish(&views, open)?;
    for size in given {
        solver.check_size(size, &views)?;
    }
    Ok(solver.sizes)
}

/// Infers an entry's arguments from the upper bounds of its computations' dimensions, by the computation's
/// position: dimensions of one name need not have one size.
pub fn infer_each(entry: &Entry, bound: impl Fn(usize, &Dim) -> Option<i64>) -> Result<Sizes> {
    let views: Vec<Parts> = entry.views().into_iter().map(|(_, view)| view).collect();
    let mut solver = Solver {
        entry,
        sizes: Sizes::declared(entry),
        given: BTreeMap::new(),
        assumed: BTreeSet::new(),
    };
    let mut named: BTreeMap<String, BTreeSet<i64>> = BTreeMap::new();
    for (position, view) in views.iter().enumerate() {
        for dim in &view.dims {
            let Some(size) = bound(position, dim) else {
                continue;
            };
            if let Bound::Dynamic(value) = dim.upper {
                solver.set(origin(value), size, &dim.name)?;
            }
            named.entry(dim.name.clone()).or_default().insert(size);
        }
    }
    let alone = named.into_iter().filter(|(_, sizes)| sizes.len() == 1);
    let alone = alone.filter_map(|(name, sizes)| Some((name, sizes.into_iter().next()?)));
    solver.given = alone.collect();
    solver.finish(&views, Open::Kept)?;
    Ok(solver.sizes)
}

/// The sizes of a call: the extents of its arguments, and those of them that are numbers and bound dimensions.
pub fn of_call(entry: &Entry, arguments: &[Tensor]) -> Result<Sizes> {
    let shape = |tensor: &Tensor| tensor.shape().iter().copied().map(Some).collect();
    let number = |tensor: &Tensor| {
        let is_number = tensor.shape().is_empty() && !tensor.element().is_float();
        is_number.then(|| tensor.get(0).as_i64())
    };
    let known = Sizes {
        shapes: arguments.iter().map(shape).collect(),
        scalars: arguments.iter().map(number).collect(),
    };
    let end = |_, dim: &Dim| value(entry, &known, extents::of_bound(dim.upper));
    let scalars = infer_each(entry, end)?.scalars;
    Ok(Sizes { scalars, ..known })
}

/// Returns an extent, as far as the program computes it from sizes.
pub fn value(entry: &Entry, sizes: &Sizes, extent: Extent) -> Option<i64> {
    let solver = Solver {
        entry,
        sizes: sizes.clone(),
        given: BTreeMap::new(),
        assumed: BTreeSet::new(),
    };
    match extent {
        Extent::Number(number) => Some(number),
        Extent::Value(value) => solver.bound(Bound::Dynamic(value)),
        Extent::Axis(buffer, axis) => solver.extent(buffer, axis, STEPS),
    }
}

/// The names of the dimensions whose bounds are open.
fn open_dimensions(views: &[Parts]) -> Vec<String> {
    let dims = views.iter().flat_map(|view| &view.dims);
    let open = dims.filter(|dim| matches!(dim.upper, Bound::Dynamic(_)));
    let mut names: Vec<String> = open.map(|dim| dim.name.clone()).collect();
    names.sort();
    names.dedup();
    names
}

/// The extents that follow from views.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Learned {
    /// Extents that bound no dimension.
    Free,
    /// All extents.
    All,
    /// Sizes of a padded operand.
    Padded,
}

struct Solver<'e, 'c> {
    entry: &'e Entry<'c>,
    sizes: Sizes,
    given: BTreeMap<String, i64>,
    /// Names of those that nobody has given: where a size is known, it is another one, since several
    /// computations may have dimensions of one name.
    assumed: BTreeSet<String>,
}

impl<'c> Solver<'_, 'c> {
    /// Takes a size for a dimension that nothing says the size of.
    fn assume(&mut self, dimension: &str, size: i64) {
        self.given.insert(dimension.to_owned(), size);
        self.assumed.insert(dimension.to_owned());
    }

    /// Learns all that follows from what is given.
    fn finish(&mut self, views: &[Parts<'c>], open: Open) -> Result<()> {
        let names = open_dimensions(views);
        loop {
            self.solve(views)?;
            let unknown = names.iter().position(|name| self.is_open(name, views));
            match unknown.filter(|_| open == Open::Assumed) {
                Some(i) => self.assume(&names[i], ASSUMED[i % ASSUMED.len()]),
                None if self.settle_unused(views) => {}
                None if unknown.is_none() && self.learn_bounds(views, Learned::All) => {}
                None if open == Open::Assumed && self.settle_joined(STEPS) => {}
                None if unknown.is_none() && self.learn_bounds(views, Learned::Padded) => {}
                None => return Ok(()),
            }
        }
    }

    /// Learns from the views until there is nothing more to learn.
    fn solve(&mut self, views: &[Parts<'c>]) -> Result<()> {
        // Each round learns at least one extent or is the last.
        loop {
            let before = self.sizes.clone();
            for view in views {
                self.learn_given(view)?;
            }
            if self.sizes != before || self.learn_computed(views)? || self.learn_split(STEPS) {
                continue;
            }
            for view in views {
                self.learn_view(view, Learned::Free);
            }
            if self.sizes == before {
                return Ok(());
            }
        }
    }

    /// Learns extents that bound dimensions from views, once all sizes are there and say nothing of
    /// them. Whether there were some.
    fn learn_bounds(&mut self, views: &[Parts<'c>], learned: Learned) -> bool {
        let before = self.sizes.clone();
        for view in views {
            self.learn_view(view, learned);
            if self.sizes != before {
                return true;
            }
        }
        false
    }

    /// Gives the arguments that no computation uses the size 1: any is right. Whether there were
    /// some. An extent that something else is made of waits until all bounds are known.
    fn settle_unused(&mut self, views: &[Parts<'c>]) -> bool {
        let all_known = views
            .iter()
            .flat_map(|view| &view.dims)
            .all(|dim| self.bound(dim.upper).is_some());
        let Some(block) = ir::region(self.entry.op, 0).first_block() else {
            return false;
        };
        let mut is_changed = false;
        for (argument, value) in arguments(block).into_iter().enumerate() {
            let is_unused = ir::users(value).into_iter().all(|user| {
                let is_dim = matches!(ir::name_of(user), "tensor.dim" | "memref.dim");
                is_dim && (all_known || !user.results().any(|r| ir::has_uses(ir::value(r))))
            });
            if is_unused {
                for extent in self.sizes.shapes[argument].iter_mut() {
                    is_changed |= extent.is_none();
                    *extent = Some(extent.unwrap_or(1));
                }
            }
        }
        is_changed
    }

    /// Returns whether nothing says how large a dimension is.
    fn is_open(&self, name: &str, views: &[Parts<'c>]) -> bool {
        let mut dims = views.iter().flat_map(|view| &view.dims);
        !self.given.contains_key(name)
            && dims.any(|dim| dim.name == name && self.bound(dim.upper).is_none())
    }

    fn check_name(&self, size: &Size, views: &[Parts<'c>]) -> Result<()> {
        let mut dims = views.iter().flat_map(|view| &view.dims);
        let Some(dim) = dims.find(|dim| dim.name == size.dimension) else {
            let mut dimensions: Vec<&str> = views.iter().flat_map(Parts::dim_names).collect();
            dimensions.sort_unstable();
            dimensions.dedup();
            let help = match dimensions.is_empty() {
                true => format!("'{}' has no dimensions", self.entry.name),
                false => format!("'{}' has: {}", self.entry.name, dimensions.join(", ")),
            };
            let message = format!("there is no dimension '{}'", size.dimension);
            return Err(Error::input(message).help(help));
        };
        match dim.upper.known() {
            Some(fixed) if fixed != size.size => Err(Error::input(format!(
                "dimension '{}' has the upper bound {fixed} in the program: --size cannot make it \
                 {}",
                size.dimension, size.size
            ))),
            _ => Ok(()),
        }
    }

    /// Fails for a size that none of its dimensions has, although all are known.
    fn check_size(&self, size: &Size, views: &[Parts<'c>]) -> Result<()> {
        let dims = views.iter().flat_map(|view| &view.dims);
        let named = dims.filter(|dim| dim.name == size.dimension);
        let bounds: Option<Vec<i64>> = named.map(|dim| self.bound(dim.upper)).collect();
        match bounds {
            Some(bounds) if !bounds.contains(&size.size) => {
                Err(disagreement(&size.dimension, size.size, bounds[0]))
            }
            _ => Ok(()),
        }
    }

    fn learn_given(&mut self, view: &Parts<'c>) -> Result<()> {
        for dim in &view.dims {
            if let (Some(size), Bound::Dynamic(value)) = (self.given.get(&dim.name), dim.upper) {
                self.set(origin(value), *size, &dim.name)?;
            }
        }
        Ok(())
    }

    fn learn_view(&mut self, view: &Parts<'c>, learned: Learned) {
        let grids: Vec<Option<Grid>> = view.dims.iter().map(|dim| self.grid(dim)).collect();
        for buffer in view.inputs.iter().chain(&view.outputs) {
            self.learn_extents(buffer, &grids, learned);
        }
    }

    fn set(&mut self, from: Origin, size: i64, dim: &str) -> Result<()> {
        let is_assumed = self.assumed.contains(dim);
        match self.slot(from) {
            Some(Some(known)) if *known != size && !is_assumed => {
                Err(disagreement(dim, size, *known))
            }
            _ => {
                self.take(from, size);
                Ok(())
            }
        }
    }

    /// Takes a size for one that is not known. Whether it is none.
    fn take(&mut self, from: Origin, size: i64) -> bool {
        let slot = self.slot(from).filter(|slot| slot.is_none());
        slot.map(|slot| *slot = Some(size)).is_some()
    }

    fn slot(&mut self, from: Origin) -> Option<&mut Option<i64>> {
        match from {
            Origin::Argument(argument) => Some(&mut self.sizes.scalars[argument]),
            Origin::Extent { argument, axis } => Some(&mut self.sizes.shapes[argument][axis]),
            Origin::Constant(_) | Origin::Other => None,
        }
    }

    fn grid(&self, dim: &Dim<'c>) -> Option<Grid> {
        let value_of = |bound| self.bound(bound);
        let upper = value_of(dim.upper).or_else(|| self.given.get(&dim.name).copied());
        Grid::new(
            value_of(dim.lower)?,
            upper?,
            value_of(dim.step)?,
            value_of(dim.width)?,
        )
    }

    /// Extents that nothing else fixes are as large as the view needs.
    fn learn_extents(&mut self, buffer: &BufferPart<'c>, grids: &[Option<Grid>], learned: Learned) {
        let rank = buffer_type(buffer.value.r#type()).map_or(0, |ty| ty.shape.len());
        let is_padded = learned == Learned::Padded;
        for axis in (0..rank).filter(|_| buffer.pad.is_some() == is_padded) {
            let needed =
                |size| self.inverse_extent((buffer.value, axis), size, Fit::AtLeast, STEPS);
            let is_bound = || self.is_a_bound((buffer.value, axis));
            if needed(1).is_none() || (learned == Learned::Free && is_bound()) {
                continue;
            }
            let Some(start) = self.bound(buffer.origin[axis]) else {
                continue;
            };
            let maps = || buffer.accesses.iter().map(|map| &map[axis]);
            // What is used with an empty dimension only is never read.
            let is_unread = maps().all(|map| {
                let mut used = map.dims().into_iter();
                used.any(|d| grids[d].is_some_and(|grid| grid.is_empty()))
            });
            let last = || {
                let ranges: Vec<_> = maps().map(|map| map.range(grids)).collect::<Option<_>>()?;
                let first = ranges.iter().map(|range| range.min).min()?;
                let before = start.checked_sub(first)?.max(0);
                let last = ranges.iter().map(|range| range.max).max()?;
                let end = last.checked_sub(if is_padded { before } else { 0 })?;
                end.checked_sub(start)?.checked_add(1)
            };
            let extent = if is_unread { Some(0) } else { last() };
            if let Some((from, size)) = extent.and_then(|extent| needed(extent.max(0))) {
                self.take(from, size);
            }
        }
    }

    /// Returns whether an extent bounds a dimension that has no size yet: then the size decides.
    fn is_a_bound(&self, place: (Val<'c>, usize)) -> bool {
        let origins = self.sources(place, STEPS);
        let dims = ir::find_all(self.entry.sized, &["tensor.dim", "memref.dim"]).into_iter();
        let asked = dims.filter_map(|op| {
            let axis = self.bound(Bound::Dynamic(ir::operand(op, 1)?))?;
            Some((ir::operand(op, 0)?, usize::try_from(axis).ok()?))
        });
        let sources = asked.flat_map(|asked| self.sources(asked, STEPS));
        let is_own =
            |from: Origin| matches!(from, Origin::Extent { .. }) && origins.contains(&from);
        sources.into_iter().any(is_own)
    }
}

fn disagreement(dim: &str, size: i64, known: i64) -> Error {
    Error::input(format!(
        "--size {dim}={size} does not agree with {known}, which follows from the program, an \
         input or another --size"
    ))
}
