//! A function for sizes that it is given: its version for these alone, in which only they are known.
//!
//! [`mdh_passes::form::specialize`] makes it. Commands that are about one call have it in the place of the function.

use std::collections::BTreeMap;

use melior::Context;
use melior::ir::Module;
use melior::ir::attribute::StringAttribute;

use mdh_dialect::ir::{self, Op};
use mdh_dialect::parts::{Bound, Dim};
use mdh_dialect::{marks, read, schedule};
use mdh_passes::pipelines::{Raise, SPECIALIZE};
use mdh_passes::support::draft::count;
use mdh_passes::support::versions;

use crate::cli::Size;
use crate::compile;
use crate::error::{Error, Result};
use crate::formed::Formed;
use crate::functions::function_of;
use crate::select::function;
use crate::sizes::{self, Open, Sizes};
use crate::source::Source;

/// The sizes of a function's arguments as its versions have them.
pub fn as_versions(found: Sizes) -> versions::Sizes {
    let pairs = found.shapes.into_iter().zip(found.scalars);
    let arguments = pairs.map(|(shape, scalar)| match shape.is_empty() {
        true => vec![scalar],
        false => shape,
    });
    versions::Sizes {
        arguments: arguments.collect(),
    }
}

/// The sizes of a function's arguments with those of dimensions that a command is given.
pub fn given(formed: &Formed, sizes: &[Size]) -> Result<versions::Sizes> {
    let entry = formed.entry()?;
    let inferred = sizes::infer(&entry, sizes, Sizes::declared(&entry), Open::Kept)?;
    Ok(as_versions(inferred))
}

/// Makes the version of a function for sizes of its arguments; its name, or none if a computation refutes them.
pub fn make<'c>(
    context: &'c Context,
    module: &mut Module<'c>,
    name: &str,
    sizes: &versions::Sizes,
) -> Result<Option<String>> {
    let func = function(compile::operation(module), name)?;
    let text = StringAttribute::new(context, &sizes.text()).into();
    versions::set(func, &[text]);
    compile::run_portable(context, module, &SPECIALIZE)?;
    let func = function(compile::operation(module), name)?;
    let made = ir::array(func, marks::VERSIONS.name);
    versions::set(func, &[]);
    let symbol = made.first().and_then(|version| ir::symbol(*version));
    Ok(symbol.map(str::to_string))
}

/// The module in which a function's version for some sizes has its place and its name, or what keeps it from that.
pub fn in_place<'c>(
    context: &'c Context,
    module: &Module<'c>,
    name: &str,
    sizes: &versions::Sizes,
) -> Result<std::result::Result<Module<'c>, String>> {
    let mut module = compile::copy(module);
    let Some(symbol) = make(context, &mut module, name, sizes)? else {
        return Ok(Err(format!(
            "the computations of '{name}' do not allow these sizes"
        )));
    };
    Ok(match put(context, &module, &symbol, name) {
        Ok(()) => Ok(module),
        Err(why) => Err(why),
    })
}

/// Puts a version in the place of its function.
pub fn put(
    context: &Context,
    module: &Module,
    symbol: &str,
    name: &str,
) -> std::result::Result<(), String> {
    compile::keep_only(context, module, symbol);
    let op = compile::operation(module);
    if function_of(op, name).is_some() {
        return Err(format!(
            "'{name}' calls itself: expected a function that has all of its sizes at once"
        ));
    }
    let version = function_of(op, symbol).ok_or_else(|| format!("'{symbol}' is gone"))?;
    ir::remove_attribute(version, marks::SIZES.name);
    let name = StringAttribute::new(context, name).into();
    ir::set_attribute(version, "sym_name", name);
    Ok(())
}

/// A program's function as a program of its own, for sizes of its dimensions.
pub fn program(
    context: &Context,
    source: &Source,
    wanted: Option<&str>,
    sizes: &[Size],
) -> Result<String> {
    let formed = Formed::with(context, source, wanted, Raise::On)?;
    let module = of_dimensions(context, &formed, sizes)?;
    Ok(compile::operation(&module).to_string())
}

/// The module of a program for sizes of its dimensions: all that it leaves open.
pub fn of_dimensions<'c>(
    context: &'c Context,
    formed: &Formed<'c>,
    sizes: &[Size],
) -> Result<Module<'c>> {
    let name = &formed.function;
    let module = in_place(context, &formed.module, name, &given(formed, sizes)?)?;
    let module = module.map_err(|why| Error::input(format!("--size: {why}")))?;
    expect_closed(function(compile::operation(&module), name)?, sizes)?;
    Ok(module)
}

/// The dimensions of a function's computations whose size is open, by name, and what keeps it so.
pub fn open_dimensions(function: Op) -> BTreeMap<String, Vec<&'static str>> {
    let computations = schedule::computations(function).into_iter();
    let dims = computations.flat_map(|op| read::compute(op).map_or(Vec::new(), |parts| parts.dims));
    let open = dims.filter(|dim| count(dim).is_none());
    open.map(|dim| (dim.name.clone(), open_bounds(&dim)))
        .collect()
}

/// The bounds of a dimension that are not known.
pub fn open_bounds(dim: &Dim) -> Vec<&'static str> {
    let bounds: [(&str, Bound); 4] = [
        (UPPER, dim.upper),
        ("lower bound", dim.lower),
        ("step", dim.step),
        ("width", dim.width),
    ];
    let open = bounds.into_iter().filter(|(_, own)| own.known().is_none());
    open.map(|(name, _)| name).collect()
}

/// The bound of a dimension that `--size` is.
const UPPER: &str = "upper bound";

/// Checks: no size of a function's computations is open, since these were given.
fn expect_closed(function: Op, given: &[Size]) -> Result<()> {
    let open = open_dimensions(function);
    let is_given = |name: &String| given.iter().any(|size| size.dimension == *name);
    let missing = open
        .iter()
        .filter(|(name, bounds)| bounds.contains(&UPPER) && !is_given(name));
    let missing: Vec<&str> = missing.map(|(name, _)| name.as_str()).collect();
    if !missing.is_empty() {
        return Err(Error::input(format!(
            "--size: found none of {}, whose size the program leaves open: expected one for each",
            missing.join(", ")
        )));
    }
    let Some((name, bounds)) = open.first_key_value() else {
        return Ok(());
    };
    let message = format!(
        "--size: the {} of dimension '{name}' stays open: expected a size to be the upper bound of a dimension, \
         where that is an argument, an extent, or computed from one of them that no other size says",
        bounds.join(" and the ")
    );
    Err(Error::input(message)
        .help("write it as a number in a copy of the program, and use that without --size"))
}
