//! The dialect's discardable attributes: who may carry each, and what it holds.
//!
//! What a pass has to tell a later one of an operation that is not the dialect's stands in one of
//! these. All are rows of [`ALL`], and MLIR verifies each with the operation that carries it: a name
//! that is none of them, another operation and another value are refused.
//! (What belongs to a computation is part of its operation, [`crate::parts::Parts`]; what belongs to memory,
//! of its type, [`crate::space`].)

use crate::ops;
use mdh_algebra::index::lex::nearest;
use melior::ir::Attribute;
use melior::ir::attribute::StringAttribute;

use crate::ir::{self, Op};
use crate::schedule;

/// A discardable attribute of the dialect.
#[derive(Debug)]
pub struct Mark {
    /// Its name, with the dialect's in front.
    pub name: &'static str,
    /// The operations that may carry it: also those that upstream's passes make of these, with all
    /// that they carried.
    hosts: &'static [&'static str],
    value: MarkContents,
}

/// The dialect's prefix.
const PREFIX: &str = "mdh.";

/// Describes what an attribute holds.
#[derive(Debug)]
enum MarkContents {
    /// Nothing: that it is there says all.
    Unit,
    /// Nothing, or the digest of the one operator that it is said of.
    Digest,
    /// Levels of a schedule, with the place that each is given to if that is another one.
    Levels,
    /// Sizes of a function's arguments.
    Sizes,
    /// Versions of a function: the names of those that are there, and the sizes that others are wanted for.
    Versions,
    /// Schedules by the names of computations.
    Schedules,
}

/// A cooperative loop: all threads of a block do it, wherever it stands; it is not each thread's own.
pub const COOPERATIVE: Mark = Mark {
    name: "mdh.cooperative",
    hosts: &[ops::scf::FORALL],
    value: MarkContents::Unit,
};

/// The levels of a schedule that a loop is of.
pub const LEVEL: Mark = Mark {
    name: "mdh.level",
    hosts: &[ops::scf::FOR, ops::scf::FORALL],
    value: MarkContents::Levels,
};

/// A function is a kernel that the simulator runs for each thread.
pub const KERNEL: Mark = Mark {
    name: "mdh.kernel",
    hosts: &[ops::func::FUNC, ops::llvm::FUNC],
    value: MarkContents::Unit,
};

/// Results do not depend on how many cores there are.
pub const DETERMINISTIC: Mark = Mark {
    name: "mdh.deterministic",
    hosts: &[ops::builtin::MODULE, ops::func::FUNC, ops::llvm::FUNC],
    value: MarkContents::Unit,
};

/// Arrays that a function takes and returns are in the memory of the device that its kernels run on.
pub const DEVICE_MEMORY: Mark = Mark {
    name: "mdh.device_memory",
    hosts: &[ops::func::FUNC, ops::llvm::FUNC],
    value: MarkContents::Unit,
};

/// Arguments of a function may be the same memory, or overlap: without it they are taken for different memory.
pub const MAY_ALIAS: Mark = Mark {
    name: "mdh.may_alias",
    hosts: &[ops::func::FUNC, ops::llvm::FUNC],
    value: MarkContents::Unit,
};

/// The operator by which an operation of linalg accumulates is associative.
pub const ASSOCIATIVE: Mark = Mark {
    name: "mdh.associative",
    hosts: &[ops::linalg::GENERIC, ops::linalg::REDUCE],
    value: MarkContents::Digest,
};

/// The operator by which an operation of linalg accumulates commutes.
pub const COMMUTATIVE: Mark = Mark {
    name: "mdh.commutative",
    hosts: &[ops::linalg::GENERIC, ops::linalg::REDUCE],
    value: MarkContents::Unit,
};

/// A computation that an operation of linalg or of tensors was: axes that one loop indexes have the loop's
/// extent, and padding is around what is padded, since that is what these operations ask for. It is lost where a
/// computation is rewritten.
pub const FITS: Mark = Mark {
    name: "mdh.fits",
    hosts: &[ops::mdh::COMPUTE],
    value: MarkContents::Unit,
};

/// A computation that was `linalg.map`, which it becomes again rather than an operation that has a name for its body.
pub const MAP: Mark = Mark {
    name: "mdh.map",
    hosts: &[ops::mdh::COMPUTE],
    value: MarkContents::Unit,
};

/// A computation that accumulated by `math.fma`, which it does again where it becomes linalg.
pub const FMA: Mark = Mark {
    name: "mdh.fma",
    hosts: &[ops::mdh::COMPUTE],
    value: MarkContents::Unit,
};

/// A tile in a parallel loop whose tiles leave elements of a destination as they were, or take what others have left
/// there: what makes the destination stays before the loop.
pub const PARTLY_WRITTEN: Mark = Mark {
    name: "mdh.partly_written",
    hosts: &[ops::mdh::COMPUTE],
    value: MarkContents::Unit,
};

/// The only sizes of its arguments that a function has code for: `64x32, 32x?, 7` of two buffers and a number.
pub const SIZES: Mark = Mark {
    name: "mdh.sizes",
    hosts: &[ops::func::FUNC, ops::llvm::FUNC],
    value: MarkContents::Sizes,
};

/// Versions of a function that have code for some sizes only, which it calls for these.
pub const VERSIONS: Mark = Mark {
    name: "mdh.versions",
    hosts: &[ops::func::FUNC],
    value: MarkContents::Versions,
};

/// Schedules of a function's computations as they are once `mdh-share-subexpressions` has made those of
/// common subexpressions, which it makes where they have one here.
pub const SCHEDULES: Mark = Mark {
    name: "mdh.schedules",
    hosts: &[ops::func::FUNC],
    value: MarkContents::Schedules,
};

/// All of them.
pub const ALL: [&Mark; 15] = [
    &COOPERATIVE,
    &LEVEL,
    &KERNEL,
    &DETERMINISTIC,
    &DEVICE_MEMORY,
    &MAY_ALIAS,
    &ASSOCIATIVE,
    &COMMUTATIVE,
    &FITS,
    &MAP,
    &FMA,
    &PARTLY_WRITTEN,
    &SIZES,
    &VERSIONS,
    &SCHEDULES,
];

impl Mark {
    /// Returns whether an operation carries it.
    pub fn is_on(&self, op: Op) -> bool {
        ir::attribute(op, self.name).is_some()
    }

    /// The text of it that an operation carries.
    pub fn text<'c>(&self, op: Op<'c>) -> Option<&'c str> {
        ir::attribute(op, self.name).and_then(ir::text)
    }

    /// Puts it on an operation.
    pub fn set(&self, op: Op) {
        ir::set_attribute(op, self.name, Attribute::unit(ir::context_of(op)));
    }

    /// Puts it on an operation, with a text.
    pub fn set_text(&self, op: Op, text: &str) {
        let text = StringAttribute::new(ir::context_of(op), text);
        ir::set_attribute(op, self.name, text.into());
    }

    /// Returns what is wrong with a value.
    fn wrong(&self, value: Attribute) -> Option<String> {
        let text = ir::text(value);
        let (is_right, expected) = match self.value {
            MarkContents::Unit => (ir::is_unit(value), "no value: it is there, or not"),
            MarkContents::Digest => (
                ir::is_unit(value) || text.is_some(),
                "no value, or the digest that 'mdh-to-linalg' writes of an operator, as a string",
            ),
            MarkContents::Levels => (
                text.is_some_and(|text| text.split(", ").all(is_level)),
                "levels as a string, each 'layer.dimension', or the name of a layer, with ' on PLACE' \
                 behind it where that is another one, such as \"core.i\"",
            ),
            MarkContents::Sizes => (
                text.is_some_and(are_sizes),
                "the sizes of all arguments as a string, such as \"64x32, 32x?, 7\" for two buffers and a \
                 number, with ? for what is open",
            ),
            MarkContents::Versions => (
                is_versions(value),
                "an array of functions' names, and of sizes as strings, such as [@f_64, \"32\"]",
            ),
            MarkContents::Schedules => (
                are_schedules(value),
                "schedules by the names of computations, such as {exp = #mdh.schedule<>}",
            ),
        };
        let name = self.name;
        (!is_right).then(|| format!("carries '{name}' with the value {value}: expected {expected}"))
    }
}

fn quoted(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    words.join(", ")
}

/// Returns whether a text is a level, `core.i`, also one with its place, `core.i on core.y`, or a layer of
/// which one part is all.
fn is_level(text: &str) -> bool {
    let (level, place) = match text.split_once(" on ") {
        None => (text, None),
        Some((level, place)) => (level, Some(place)),
    };
    let is_word = |word: &str| !word.is_empty() && !word.contains(char::is_whitespace);
    let mut words = level.splitn(2, '.');
    words.all(is_word) && place.is_none_or(is_word)
}

/// Returns whether a text has the sizes of arguments: `64x32, ?x?, 7`.
fn are_sizes(text: &str) -> bool {
    let is_size = |word: &str| word == "?" || word.parse::<i64>().is_ok();
    let mut words = text.split(", ").flat_map(|sizes| sizes.split('x'));
    words.all(is_size)
}

fn is_versions(value: Attribute) -> bool {
    let versions = ir::elements(value);
    let is_version = |version: &Attribute| {
        ir::symbol(*version).is_some() || ir::text(*version).is_some_and(are_sizes)
    };
    !versions.is_empty() && versions.iter().all(is_version)
}

fn are_schedules(value: Attribute) -> bool {
    let pairs = ir::pairs(value);
    let is_one = |(_, attribute): &(&str, Attribute)| schedule::of_attribute(*attribute).is_ok();
    !pairs.is_empty() && pairs.iter().all(is_one)
}

/// Describes where an attribute stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// On an operation.
    Operation,
    /// On an argument of one.
    Argument,
    /// On a result of one.
    Result,
}

/// Returns what is wrong with a discardable attribute of the dialect.
pub fn error(op: Op, host: Host, name: &str, value: Attribute) -> Option<String> {
    let Some(mark) = ALL.iter().find(|mark| mark.name == name) else {
        let names: Vec<&str> = ALL.iter().map(|mark| mark.name).collect();
        let short = |name: &'static str| name.strip_prefix(PREFIX).unwrap_or(name);
        let given = name.strip_prefix(PREFIX).unwrap_or(name);
        let near = nearest(given, names.iter().map(|name| short(name)));
        let mean = near
            .first()
            .map(|near| format!(" (did you mean '{PREFIX}{near}'?)"));
        return Some(format!(
            "carries the attribute '{name}', which the dialect does not have: expected one of {}{}; \
             give an attribute of your own another prefix than 'mdh.'",
            quoted(&names),
            mean.unwrap_or_default()
        ));
    };
    let place = match host {
        Host::Operation if mark.hosts.contains(&ir::name_of(op)) => return mark.wrong(value),
        Host::Operation => "",
        Host::Argument => " on one of its arguments",
        Host::Result => " on one of its results",
    };
    Some(format!(
        "carries '{name}'{place}: expected it on {}; remove it",
        quoted(mark.hosts)
    ))
}
