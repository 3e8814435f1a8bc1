//! Code of a function for sizes that it was tuned for, beside that for all others.
//!
//! ```text
//! func.func @f(tensor<?xf32>)  --sizes that were tuned--> @f_64(tensor<64xf32>) with its schedule
//!                                                         @f_128(tensor<128xf32>) ..
//! ```
//!
//! [`mdh_passes::specialize`] makes them, [`mdh_passes::dispatch`] has the function call them.

use melior::Context;
use melior::ir::attribute::{FlatSymbolRefAttribute, StringAttribute};
use melior::ir::{Attribute, Module};

use mdh_dialect::ir::{self, Op};
use mdh_dialect::parts::{Bound, Dim};
use mdh_dialect::{marks, read, schedule};
use mdh_passes::draft::count;
use mdh_passes::pipelines::{Raise, SPECIALIZE};
use mdh_passes::{region, versions};

use crate::cli::Size;
use crate::compile;
use crate::entry::{self, Entry};
use crate::error::{Error, Result, say};
use crate::formed::Formed;
use crate::functions::function_of;
use crate::names::Names;
use crate::schedules;
use crate::select::function;
use crate::sizes::{self, Open, Sizes};
use crate::source::Source;
use crate::tuned::{self, Choice, Found, Machine, TunedSizes, Wanted};

/// The most sizes that a function has code of its own for: each is compiled, and looked at in each call.
const MOST: usize = 16;
/// The reason for which there is no code for some sizes.
const NO_ARGUMENTS: &str = "what arguments of this function give its computations these sizes is not known: expected \
                            dimensions from a number that is known, without steps, to arguments or their extents";
/// The most sizes of which it is said why they are left out.
const SHOWN: usize = 3;

/// Gives a function a version for each of the sizes that it was tuned for, the latest first, with its schedule.
/// Says which, and which are left out; nothing of a program without sizes that are open. Whether there are some.
pub fn give<'c>(
    context: &'c Context,
    module: &mut Module<'c>,
    (name, names): (&str, &Names),
    wanted: &Wanted,
) -> Result<bool> {
    let own = function(compile::operation(module), name)?;
    if !matches!(wanted.machine, Machine::Cpu(_)) || !has_open_sizes(own) {
        return Ok(false);
    }
    let tuned = tuned::sizes(own, wanted)?;
    if tuned.is_empty() {
        return Ok(false);
    }
    let entry = entry::describe(own, None, names)?;
    let (mut taken, mut left) = (Vec::new(), Vec::new());
    let asked = ir::array(own, marks::VERSIONS.name);
    let mut made: Vec<String> = Vec::new();
    for one in tuned {
        let leave = |why: &str| format!("{}: {why}", one.text);
        if taken.len() == MOST {
            left.push(leave(&format!("{MOST} others were tuned later")));
            continue;
        }
        let Some(sizes) = arguments(&entry, &one) else {
            left.push(leave(NO_ARGUMENTS));
            continue;
        };
        match version(context, module, name, &sizes, wanted)? {
            Ok((symbol, measured)) => {
                made.push(symbol);
                taken.push(format!("{} ({measured})", one.text));
            }
            Err(why) => left.push(leave(&why)),
        }
    }
    drop(entry);
    list(compile::operation(module), name, asked, &made)?;
    note_left(&left);
    if taken.is_empty() {
        return Ok(false);
    }
    let others = others(function(compile::operation(module), name)?, wanted)?;
    say(&format!(
        "note: there is code of its own for {}: {}; all others have {others}\n",
        ir::count(taken.len(), "tuned size"),
        taken.join(", ")
    ));
    Ok(true)
}

/// Gives a function for all sizes the schedule that was tuned so, if there is one; says which it has.
fn others(function: Op, wanted: &Wanted) -> Result<String> {
    let found = tuned::exact(function, wanted)?;
    let Choice::Kept(plans) = found.choice else {
        return Ok("what the model chooses for any size".to_string());
    };
    schedules::set(function, &plans)?;
    Ok(format!(
        "the schedule that was tuned with sizes left open ({})",
        found.taken.measured
    ))
}

fn note_left(left: &[String]) {
    if left.is_empty() {
        return;
    }
    let shown = &left[..left.len().min(SHOWN)];
    let more = match left.len() - shown.len() {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    say(&format!(
        "note: there is none for {}: {}{more}\n",
        ir::count(left.len(), "other tuned size"),
        shown.join("; ")
    ));
}

/// Returns whether a computation has a size that the program leaves open.
fn has_open_sizes(function: Op) -> bool {
    let all = schedule::computations(function).into_iter();
    let mut dims = all.flat_map(|op| read::compute(op).map_or(Vec::new(), |parts| parts.dims));
    dims.any(|dim| count(&dim).is_none())
}

/// The sizes of a function's arguments that give its computations such sizes; none if nothing does.
fn arguments(entry: &Entry, tuned: &TunedSizes) -> Option<versions::Sizes> {
    let points = |position: usize, dim: &Dim| {
        let name = format!("{position}.{}", dim.name);
        tuned.sizes.get(&name).copied()
    };
    let views = entry.views().into_iter().enumerate();
    let mut dims = views.flat_map(|(n, (_, view))| view.dims.into_iter().map(move |dim| (n, dim)));
    if dims.any(|(n, dim)| count(&dim).is_some_and(|own| points(n, &dim) != Some(own))) {
        return None;
    }
    let of = |position: usize, dim: &Dim| {
        let points = points(position, dim)?;
        let is_dense = dim.step == Bound::Static(1) && dim.width == Bound::Static(1);
        dim.lower.known().filter(|_| is_dense)?.checked_add(points)
    };
    let found = sizes::infer_each(entry, of).ok()?;
    Some(as_versions(found))
}

fn as_versions(found: Sizes) -> versions::Sizes {
    let each = found.shapes.into_iter().zip(found.scalars);
    let arguments = each.map(|(shape, scalar)| match shape.is_empty() {
        true => vec![scalar],
        false => shape,
    });
    versions::Sizes {
        arguments: arguments.collect(),
    }
}

/// Sets the versions that a function has: those that its program asks for, and these.
fn list<'c>(
    module: Op<'c>,
    name: &str,
    asked: Vec<Attribute<'c>>,
    symbols: &[String],
) -> Result<()> {
    let own = function(module, name)?;
    let context = ir::context_of(own);
    let mut all = asked;
    all.extend(
        symbols
            .iter()
            .map(|name| Attribute::from(FlatSymbolRefAttribute::new(context, name))),
    );
    versions::set(own, &all);
    Ok(())
}

/// Makes the version of a function for sizes of its arguments; its name, or none if a computation refutes them.
fn make<'c>(
    context: &'c Context,
    module: &mut Module<'c>,
    name: &str,
    sizes: &versions::Sizes,
) -> Result<Option<String>> {
    let own = function(compile::operation(module), name)?;
    let text = StringAttribute::new(context, &sizes.text()).into();
    versions::set(own, &[text]);
    compile::run(context, module, &SPECIALIZE)?;
    let own = function(compile::operation(module), name)?;
    let made = ir::array(own, marks::VERSIONS.name);
    versions::set(own, &[]);
    let symbol = made.first().and_then(|version| ir::symbol(*version));
    Ok(symbol.map(str::to_string))
}

/// Makes a version with the schedule that was tuned for it: its name, and what was measured; or says why
/// there is none.
fn version<'c>(
    context: &'c Context,
    module: &mut Module<'c>,
    name: &str,
    sizes: &versions::Sizes,
    wanted: &Wanted,
) -> Result<std::result::Result<(String, String), String>> {
    let Some(symbol) = make(context, module, name, sizes)? else {
        return Ok(Err(
            "the function's computations do not allow them".to_string()
        ));
    };
    let own = function(compile::operation(module), &symbol)?;
    let found = match has_open_sizes(own) {
        true => Err(NO_ARGUMENTS.to_string()),
        false => Ok(tuned::exact(own, wanted)?),
    };
    let why = match found {
        Ok(Found {
            choice: Choice::Kept(plans),
            taken,
        }) => {
            schedules::set(own, &plans)?;
            return Ok(Ok((symbol, format!("tuned: {}", taken.measured))));
        }
        // What the model chooses is left to it.
        Ok(Found {
            choice: Choice::Model(_),
            taken,
        }) => return Ok(Ok((symbol, format!("the model's: {}", taken.measured)))),
        Ok(Found {
            choice: Choice::Nothing { found, .. },
            ..
        }) => found,
        Err(why) => why,
    };
    region::erase(own);
    Ok(Err(why))
}

/// A program's function as a program of its own, for sizes of its dimensions.
pub fn sized(
    context: &Context,
    source: &Source,
    wanted: Option<&str>,
    given: &[Size],
) -> Result<String> {
    let mut formed = Formed::with(context, source, wanted, Raise::On)?;
    let entry = formed.entry()?;
    let found = sizes::infer(&entry, given, Sizes::declared(&entry), Open::Kept)?;
    drop(entry);
    let sizes = as_versions(found);
    let name = formed.function.clone();
    let symbol = make(context, &mut formed.module, &name, &sizes)?;
    let symbol = symbol.ok_or_else(|| {
        Error::input(format!(
            "--size: the computations of '{name}' do not allow these sizes"
        ))
    })?;
    compile::keep_only(context, &formed.module, &symbol);
    let module = compile::operation(&formed.module);
    let own = function(module, &symbol)?;
    if function_of(module, &name).is_some() {
        return Err(Error::input(format!(
            "--size: '{name}' calls itself: expected a function that has all of its sizes at once"
        )));
    }
    expect_closed(own)?;
    ir::remove_attribute(own, marks::SIZES.name);
    ir::set_attribute(own, "sym_name", StringAttribute::new(context, &name).into());
    Ok(module.to_string())
}

/// Checks: no size of a function's computations is open.
fn expect_closed(function: Op) -> Result<()> {
    let all = schedule::computations(function).into_iter();
    let dims = all.flat_map(|op| read::compute(op).map_or(Vec::new(), |parts| parts.dims));
    let mut open: Vec<String> = dims
        .filter(|d| count(d).is_none())
        .map(|d| d.name)
        .collect();
    open.sort();
    open.dedup();
    match open.is_empty() {
        true => Ok(()),
        false => Err(Error::input(format!(
            "--size: found none of {}, whose size the program leaves open: expected one for each",
            open.join(", ")
        ))),
    }
}
