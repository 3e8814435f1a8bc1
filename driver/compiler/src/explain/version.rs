//! The version of a function that is explained: the one that is called for the sizes that are given, else the
//! function for any.

use melior::Context;
use melior::ir::Attribute;

use mdh_dialect::ir::{self, Op};
use mdh_dialect::marks;
use mdh_passes::support::versions::{self, Sizes};

use crate::cli::Size;
use crate::compile;
use crate::error::{Error, Result};
use crate::formed::Formed;
use crate::select::function;
use crate::sized;

/// Puts the version that a program asks for and that is called for these sizes in the place of its function, which
/// has no others then. A line about that; none if the program asks for none.
pub fn choose<'c>(
    context: &'c Context,
    formed: &mut Formed<'c>,
    given: &[Size],
) -> Result<Option<String>> {
    let name = formed.function.clone();
    let func = function(compile::operation(&formed.module), &name)?;
    let asked = ir::array(func, marks::VERSIONS.name).into_iter();
    let asked = asked.filter_map(|version| Some((version, sizes_of(func, version)?)));
    let asked: Vec<(Attribute, Sizes)> = asked.collect();
    if asked.is_empty() {
        return Ok(None);
    }
    versions::set(func, &[]);
    let called = match given.is_empty() {
        true => None,
        false => {
            let sizes = sized::given(formed, given)?;
            asked.iter().find(|(_, func)| is_for(func, &sizes))
        }
    };
    let Some((version, sizes)) = called else {
        let texts: Vec<String> = asked.iter().map(|(_, sizes)| sizes.text()).collect();
        return Ok(Some(format!(
            "  versions: arguments of the sizes {} have code of their own, which --size shows; all others this\n",
            texts.join("; ")
        )));
    };
    match ir::symbol(*version) {
        Some(symbol) => sized::put(context, &formed.module, symbol, &name).map_err(Error::input)?,
        None => {
            let module = sized::in_place(context, &formed.module, &name, sizes)?;
            formed.module = module.map_err(Error::input)?;
        }
    }
    Ok(Some(format!(
        "  version: for arguments of the sizes {}\n",
        sizes.text()
    )))
}

/// The sizes of a version that is there, or that is wanted for them.
fn sizes_of(function: Op, version: Attribute) -> Option<Sizes> {
    let there = || {
        let version = ir::lookup_symbol(function, ir::symbol(version)?)?;
        marks::SIZES.text(version)
    };
    Sizes::of_text(ir::text(version).or_else(there)?)
}

/// Returns whether a version is called for some sizes.
fn is_for(version: &Sizes, sizes: &Sizes) -> bool {
    let wanted = version.arguments.iter().flatten();
    let mut both = wanted.zip(sizes.arguments.iter().flatten());
    both.all(|(wanted, size)| wanted.is_none() || wanted == size)
}
