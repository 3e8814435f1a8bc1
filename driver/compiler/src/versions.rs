//! Code of a function for sizes that it was tuned for, beside that for all others.
//!
//! ```text
//! func.func @f(tensor<?xf32>)  --sizes that were tuned--> @f_64(tensor<64xf32>) with its schedule
//!                                                         @f_128(tensor<128xf32>) ..
//! ```
//!
//! [`mdh_passes::form::specialize`] makes them, [`mdh_passes::form::dispatch`] has the function call them.

use melior::Context;
use melior::ir::attribute::FlatSymbolRefAttribute;
use melior::ir::{Attribute, Module};

use mdh_dialect::ir::{self, Op};
use mdh_dialect::marks;
use mdh_dialect::parts::{Bound, Dim};
use mdh_passes::support::draft::count;
use mdh_passes::support::region;
use mdh_passes::support::versions;

use crate::compile;
use crate::entry::{self, Entry};
use crate::error::Result;
use crate::formed::Formed;
use crate::names::Names;
use crate::schedules;
use crate::select::function;
use crate::sized::{self, as_versions, make, open_dimensions};
use crate::sizes;
use crate::tuned::{Choice, Found, Machine, TunedSizes, Wanted};

/// The most sizes that a function has code of its own for: each is compiled, and looked at in each call.
const MOST: usize = 16;
/// The most sizes of which it is said why they are left out.
const SHOWN: usize = 3;

/// Advice about sizes that no arguments follow from.
const COPY: &str = "a copy of the program in which they are numbers has code for them";

/// Gives a function a version for each of the sizes that it was tuned for, the latest first, with its schedule.
/// Says which, and which are left out; nothing of a program without sizes that are open. Whether it was tuned for
/// some.
pub fn give<'c>(
    context: &'c Context,
    module: &mut Module<'c>,
    (name, names): (&str, &Names),
    wanted: &Wanted,
) -> Result<bool> {
    let func = function(compile::operation(module), name)?;
    if !matches!(wanted.machine, Machine::Cpu(_)) || open_dimensions(func).is_empty() {
        return Ok(false);
    }
    let tuned = wanted.sizes(func)?;
    if tuned.is_empty() {
        return Ok(false);
    }
    let entry = entry::describe(func, None, names)?;
    let (mut taken, mut left) = (Vec::new(), Vec::new());
    // Those that the program asks for.
    let asked = ir::array(func, marks::VERSIONS.name);
    let mut made: Vec<String> = Vec::new();
    for one in tuned {
        let leave = |why: &str| format!("{}: {why}", one.text);
        if taken.len() == MOST {
            left.push(leave(&format!("{MOST} others were tuned later")));
            continue;
        }
        let made_one = match arguments(&entry, &one) {
            Ok(sizes) => version(context, module, name, &sizes, wanted)?,
            Err(why) => Err(why),
        };
        match made_one {
            Ok((symbol, measured)) => {
                made.push(symbol);
                taken.push(format!("{} ({measured})", one.text));
            }
            Err(why) => left.push(leave(&why)),
        }
    }
    drop(entry);
    list(compile::operation(module), name, asked, &made)?;
    note_left(&left, wanted);
    let fallback = others(function(compile::operation(module), name)?, wanted)?;
    wanted.note(&match taken.is_empty() {
        true => format!("there is code of its own for no tuned size; all have {fallback}"),
        false => format!(
            "there is code of its own for {}: {}; all others have {fallback}",
            ir::count(taken.len(), "tuned size"),
            taken.join(", ")
        ),
    });
    Ok(true)
}

/// Gives a function for all sizes the schedule that was tuned so, if there is one; says which it has.
fn others(function: Op, wanted: &Wanted) -> Result<String> {
    let tuned = wanted.exact(function)?;
    let Choice::Kept(plans) = tuned.choice else {
        return Ok("what the model chooses for any size".to_string());
    };
    schedules::set(function, &plans)?;
    Ok(format!(
        "the schedule that was tuned with sizes left open ({})",
        tuned.taken.measured
    ))
}

fn note_left(left: &[String], wanted: &Wanted) {
    if left.is_empty() {
        return;
    }
    let shown = &left[..left.len().min(SHOWN)];
    let more = match left.len() - shown.len() {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    wanted.note(&format!(
        "there is none for {}: {}{more}",
        ir::count(left.len(), "other tuned size"),
        shown.join("; ")
    ));
}

/// The sizes of a function's arguments that give its computations such sizes, or what keeps them from being known.
fn arguments(entry: &Entry, tuned: &TunedSizes) -> std::result::Result<versions::Sizes, String> {
    let points = |position: usize, dim: &Dim| {
        let name = format!("{position}.{}", dim.name);
        tuned.sizes.get(&name).copied()
    };
    for (position, (_, view)) in entry.views().into_iter().enumerate() {
        for dim in &view.dims {
            match (count(dim), points(position, dim), unlike_points(dim)) {
                (Some(own), Some(points), _) if own != points => {
                    return Err(format!("dimension '{}' has {own} points here", dim.name));
                }
                (None, Some(_), Some(why)) => return Err(why),
                _ => {}
            }
        }
    }
    let end = |position: usize, dim: &Dim| {
        let open = || dim.lower.known()?.checked_add(points(position, dim)?);
        dim.upper.known().or_else(open)
    };
    let inferred = sizes::infer_each(entry, end).map_err(|error| error.message().to_string())?;
    Ok(as_versions(inferred))
}

/// The reason for which the number of a dimension's points does not say where it ends, if there is one.
fn unlike_points(dim: &Dim) -> Option<String> {
    let (name, one) = (&dim.name, Bound::Static(1));
    if dim.step != one || dim.width != one {
        return Some(format!(
            "where dimension '{name}' ends does not follow from its points, since it has steps; {COPY}"
        ));
    }
    let is_open = dim.lower.known().is_none();
    is_open.then(|| {
        format!("where dimension '{name}' begins and ends does not follow from its points; {COPY}")
    })
}

/// Sets the versions that a function has: these, before those that its program asks for, of which one may be for the
/// same sizes.
fn list<'c>(
    module: Op<'c>,
    name: &str,
    asked: Vec<Attribute<'c>>,
    symbols: &[String],
) -> Result<()> {
    let func = function(module, name)?;
    let context = ir::context_of(func);
    let symbol = |name: &String| Attribute::from(FlatSymbolRefAttribute::new(context, name));
    let all_symbols: Vec<Attribute> = symbols.iter().map(symbol).chain(asked).collect();
    versions::set(func, &all_symbols);
    Ok(())
}

/// Finds what was tuned for a program's function with sizes of its arguments that it leaves open: the version for these
/// takes its place. Else what was tuned with them left open, or for the nearest sizes.
pub fn found<'c>(
    context: &'c Context,
    formed: &mut Formed<'c>,
    sizes: &versions::Sizes,
    wanted: &Wanted,
) -> Result<Found> {
    let name = formed.function.clone();
    let func = function(compile::operation(&formed.module), &name)?;
    let Ok(version) = sized::in_place(context, &formed.module, &name, sizes)? else {
        return wanted.nearest(func);
    };
    let tuned = wanted.nearest(function(compile::operation(&version), &name)?)?;
    if tuned.is_nothing() || tuned.taken.sizes.is_some() {
        let open = wanted.exact(func)?;
        if !open.is_nothing() {
            return Ok(open);
        }
    }
    if !tuned.is_nothing() {
        formed.module = version;
    }
    Ok(tuned)
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
    let func = function(compile::operation(module), &symbol)?;
    let tuned = match open_dimensions(func).first_key_value() {
        Some((dim, _)) => Err(format!(
            "the bounds of dimension '{dim}' are computed from several sizes, of which its points say none; {COPY}"
        )),
        None => Ok(wanted.exact(func)?),
    };
    let why = match tuned {
        Ok(Found {
            choice: Choice::Kept(plans),
            taken,
        }) => {
            schedules::set(func, &plans)?;
            return Ok(Ok((symbol, format!("tuned: {}", taken.measured))));
        }
        // What the model chooses is left to it.
        Ok(Found {
            choice: Choice::Model(_),
            taken,
        }) => return Ok(Ok((symbol, format!("the model's: {}", taken.measured)))),
        Ok(Found {
            choice: Choice::Nothing { found: tuned, .. },
            ..
        }) => tuned,
        Err(why) => why,
    };
    region::erase(func);
    Ok(Err(why))
}
