//! Versions of a function: code of its own for given sizes of its arguments.

use mdh_dialect::ir::{self, Op};
use mdh_dialect::marks;
use mdh_dialect::types::{self, BufferKind, BufferType};
use melior::ir::attribute::ArrayAttribute;
use melior::ir::{Attribute, RegionLike, Type, ValueLike};

/// Sizes of a function's arguments, as far as they are given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// For each argument its extents; of a scalar its value.
    pub arguments: Vec<Vec<Option<i64>>>,
}

impl Sizes {
    /// Sizes of a text: `64x32, 32x?, 7` for two buffers and a scalar, with `?` for what is open.
    pub fn of_text(text: &str) -> Option<Sizes> {
        let number = |word: &str| match word {
            "?" => Some(None),
            _ => word.parse().ok().map(Some),
        };
        let argument = |text: &str| text.split('x').map(number).collect::<Option<Vec<_>>>();
        let arguments = text.split(", ").map(argument).collect::<Option<_>>()?;
        Some(Sizes { arguments })
    }

    /// The text.
    pub fn text(&self) -> String {
        let number = |size: &Option<i64>| size.map_or("?".to_string(), |size| size.to_string());
        let argument = |sizes: &Vec<Option<i64>>| match sizes.is_empty() {
            // One without axes has no sizes.
            true => "?".to_string(),
            false => sizes.iter().map(number).collect::<Vec<_>>().join("x"),
        };
        let texts: Vec<String> = self.arguments.iter().map(argument).collect();
        texts.join(", ")
    }

    /// The end of the name of a function that has code for them.
    pub fn suffix(&self) -> String {
        let text = self.text().replace(", ", "_");
        text.replace('?', "n").replace('-', "m")
    }

    /// Returns what keeps arguments of these types from having such sizes.
    pub fn misfit(&self, types: &[Type]) -> Option<String> {
        if self.arguments.len() != types.len() {
            let count = ir::count(self.arguments.len(), "argument");
            let expected = types.len();
            return Some(format!("found those of {count}, expected {expected}"));
        }
        let typed = self.arguments.iter().zip(types).enumerate();
        let wrong = |(n, (sizes, ty)): (usize, (&Vec<Option<i64>>, &Type))| {
            let fits = match types::buffer_type(*ty) {
                Some(buffer) => fit(sizes, &buffer),
                None => sizes.iter().all(Option::is_none),
            };
            (!fits).then(|| format!("those of argument {n} are none of {ty}"))
        };
        typed.filter_map(wrong).next()
    }
}

/// Returns whether a buffer may have these sizes, or a scalar that value.
fn fit(sizes: &[Option<i64>], ty: &BufferType) -> bool {
    let is_open = sizes.iter().all(Option::is_none);
    if ty.kind == BufferKind::Scalar || ty.shape.is_empty() {
        let is_number = ty.kind == BufferKind::Scalar && !ty.element.is_float();
        return sizes.len() == 1 && (is_open || is_number);
    }
    let mut both = sizes.iter().zip(&ty.shape);
    let agree = |(size, own): (&Option<i64>, &Option<i64>)| match (size, own) {
        (Some(size), Some(own)) => size == own,
        (Some(size), None) => *size >= 0,
        (None, _) => true,
    };
    sizes.len() == ty.shape.len() && both.all(agree)
}

/// The versions that a function has, and the sizes that each is for.
pub fn list<'c>(function: Op<'c>) -> Vec<(Op<'c>, Sizes)> {
    let names = ir::array(function, marks::VERSIONS.name).into_iter();
    let versions = names.filter_map(|name| ir::lookup_symbol(function, ir::symbol(name)?));
    let sized = versions.filter_map(|version| {
        let text = marks::SIZES.text(version)?;
        Some((version, Sizes::of_text(text)?))
    });
    sized.collect()
}

/// Sets the versions of a function: names, and sizes that it is wanted for.
pub fn set(function: Op, all: &[Attribute]) {
    match all.is_empty() {
        true => ir::remove_attribute(function, marks::VERSIONS.name),
        false => {
            let array = ArrayAttribute::new(ir::context_of(function), all).into();
            ir::set_attribute(function, marks::VERSIONS.name, array);
        }
    }
}

/// The types of a function's arguments.
pub fn argument_types<'c>(function: Op<'c>) -> Vec<Type<'c>> {
    let block = ir::region(function, 0).first_block();
    let arguments = block.map_or(Vec::new(), mdh_dialect::code::arguments);
    arguments.iter().map(|value| value.r#type()).collect()
}

#[cfg(test)]
mod tests {
    use super::Sizes;

    #[test]
    fn sizes_are_what_their_text_says() {
        for text in ["64x32, 32x?, 7", "?", "0, -3"] {
            let sizes = Sizes::of_text(text).expect("they are sizes");
            assert_eq!(sizes.text(), text);
        }
        for text in ["", "64 x 32", "a", "1,2"] {
            assert_eq!(Sizes::of_text(text), None, "{text}");
        }
    }
}
