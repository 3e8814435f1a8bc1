//! Signatures of functions, for programs that are to compute the same from the same arrays.

use mdh_algebra::amounts::counted;
use mdh_compiler::cli::Size;
use mdh_compiler::entry::{Entry, Parameter};
use mdh_compiler::error::Result;
use mdh_compiler::sizes::{self, Open, Sizes};

use super::protocol::Array;

/// An array that goes into a function or comes out of it, as far as it is known before a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its name, for messages: two signatures are the same with other names.
    pub name: String,
    /// Its element type, by MLIR's name.
    pub dtype: String,
    /// Its extents; `None` for one that may be anything.
    pub shape: Vec<Option<i64>>,
}

/// The arrays of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Arguments whose contents matter, in order.
    pub inputs: Vec<Port>,
    /// Arguments that are written, then results.
    pub outputs: Vec<Port>,
}

impl Signature {
    /// The signature of a function, for sizes of dimensions that it leaves open.
    ///
    /// # Errors
    /// If it has no such dimensions.
    pub fn new(entry: &Entry, given: &[Size]) -> Result<Signature> {
        let sizes = sizes::infer(entry, given, Sizes::declared(entry), Open::Kept)?;
        let arguments = entry.arguments.iter().zip(&sizes.shapes);
        let port = |name: &str, dtype: String, shape: &[Option<i64>]| Port {
            name: name.to_string(),
            dtype,
            shape: shape.to_vec(),
        };
        let argument = |(parameter, shape): (&Parameter, &Vec<_>)| {
            port(&parameter.name, parameter.ty.element.to_string(), shape)
        };
        let read = arguments.clone().filter(|(p, _)| p.is_read());
        let written = arguments.filter(|(p, _)| p.is_written()).map(argument);
        let results = entry.results.iter();
        let results = results.map(|r| port(&r.name, r.ty.element.to_string(), &r.ty.shape));
        Ok(Signature {
            inputs: read.map(argument).collect(),
            outputs: written.chain(results).collect(),
        })
    }
}

impl From<&Array> for Port {
    fn from(array: &Array) -> Port {
        Port {
            name: array.name.clone(),
            dtype: array.dtype.clone(),
            shape: array.shape.iter().copied().map(Some).collect(),
        }
    }
}

impl Port {
    /// Its type: `64x?xf32`.
    fn text(&self) -> String {
        let extents = self.shape.iter();
        let extents = extents.map(|extent| extent.map_or("?x".into(), |n| format!("{n}x")));
        extents.collect::<String>() + &self.dtype
    }

    /// Returns whether it may be the same array as another one.
    fn fits(&self, other: &Port) -> bool {
        let mut extents = self.shape.iter().zip(&other.shape);
        self.dtype == other.dtype
            && self.shape.len() == other.shape.len()
            && extents.all(|(a, b)| a.is_none() || b.is_none() || a == b)
    }
}

/// Returns the first difference of arrays from those of ours: `kind` is a word for such an array.
pub fn difference(kind: &str, ours: &[Port], theirs: &[Port]) -> Option<String> {
    if ours.len() != theirs.len() {
        let listed = |ports: &[Port]| {
            let names: Vec<&str> = ports.iter().map(|port| port.name.as_str()).collect();
            match names.is_empty() {
                true => String::new(),
                false => format!(" ({})", names.join(", ")),
            }
        };
        return Some(format!(
            "found {}{}, expected {}{} as of ours",
            counted(theirs.len(), kind),
            listed(theirs),
            ours.len(),
            listed(ours)
        ));
    }
    let mut pairs = ours.iter().zip(theirs);
    let (ours, theirs) = pairs.find(|(ours, theirs)| !ours.fits(theirs))?;
    Some(format!(
        "found the {kind} '{}' of type {}, expected {} as '{}' of ours",
        theirs.name,
        theirs.text(),
        ours.text(),
        ours.name
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(name: &str, dtype: &str, shape: &[Option<i64>]) -> Port {
        Port {
            name: name.to_string(),
            dtype: dtype.to_string(),
            shape: shape.to_vec(),
        }
    }

    #[test]
    fn differences_are_named() {
        let matrix = port("A", "f32", &[Some(64), None]);
        let vector = port("v", "f32", &[Some(64)]);
        let ours = [matrix.clone(), vector.clone()];
        let renamed = [port("x", "f32", &[None, Some(7)]), vector.clone()];
        assert_eq!(difference("input", &ours, &renamed), None);
        let wrong = [
            vec![matrix.clone()],
            vec![matrix.clone(), port("w", "f64", &[Some(64)])],
            vec![port("B", "f32", &[Some(63), None]), vector],
            vec![matrix, port("s", "f32", &[])],
            Vec::new(),
        ];
        let texts = wrong.map(|theirs| difference("input", &ours, &theirs).unwrap());
        insta::assert_snapshot!(texts.join("\n"), @r"
        found 1 input (A), expected 2 (A, v) as of ours
        found the input 'w' of type 64xf64, expected 64xf32 as 'v' of ours
        found the input 'B' of type 63x?xf32, expected 64x?xf32 as 'A' of ours
        found the input 's' of type f32, expected 64xf32 as 'v' of ours
        found 0 inputs, expected 2 (A, v) as of ours
        ");
    }
}
