//! Random einsums of small integral numbers, in all types, held against their definition: the scalar operator at each
//! point of all indices, combined one after the other.

use std::collections::BTreeMap;
use std::path::Path;

use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_compiler::cli::{Binding, CheckHow, RunArguments};
use mdh_compiler::error::{Error, Result};
use mdh_compiler::host::Host;
use mdh_compiler::npy::{self, Written};
use mdh_compiler::run_command;
use mdh_compiler::source::Source;
use mdh_compiler::values::Tensor;
use mdh_frontend::einsum::{Element, Name, Operand, Operator, Path as Order, Request};
use mdh_frontend::einsum::{argument, path_text, translate};

use crate::choices::Choices;
use crate::run::{self, Ending};

const LETTERS: [char; 7] = ['i', 'j', 'k', 'l', 'A', 'é', '×'];
/// Extents of letters.
const SIZES: [u64; 7] = [2, 3, 1, 5, 4, 9, 0];
/// So many points at most are evaluated.
const MOST_POINTS: u64 = 40_000;
/// So many of [`PAIRS`] are semirings, in which an order may be given.
const SEMIRINGS: usize = 8;
/// The operators of a case, and their weights: semirings first.
const PAIRS: [(Name, Name, u64); 14] = [
    (Name::Add, Name::Mul, 50),
    (Name::Min, Name::Add, 6),
    (Name::Max, Name::Add, 6),
    (Name::Max, Name::Min, 5),
    (Name::Min, Name::Max, 4),
    (Name::Or, Name::And, 4),
    (Name::And, Name::Or, 4),
    (Name::Xor, Name::And, 4),
    (Name::Max, Name::Mul, 4),
    (Name::Add, Name::Add, 3),
    (Name::Min, Name::Sub, 3),
    (Name::Mul, Name::Max, 3),
    (Name::Add, Name::First, 2),
    (Name::Or, Name::Xor, 2),
];

/// An operand: its shape, the letters of its axes, of which `None` are of the ellipsis, and its values.
struct Factor {
    shape: Vec<u64>,
    axes: Vec<usize>,
    element: Element,
    values: Vec<i64>,
}

/// An einsum and its arrays.
pub struct Case {
    spec: String,
    /// The size of each index: those of the ellipsis behind the letters.
    sizes: Vec<u64>,
    factors: Vec<Factor>,
    result: Vec<usize>,
    combine: Name,
    scalar: Name,
    path: Option<Order>,
}

/// The case of a seed's choices.
pub fn case(c: &mut Choices) -> Case {
    let ellipsis = c.weighted("ellipsis", &[70, 15, 15]);
    let letters = 1 + c.below("letters", LETTERS.len() as u64) as usize;
    let count = match c.weighted("count", &[25, 40, 20, 10, 5]) {
        4 => 5 + c.below("many", 9) as usize,
        few => few + 1,
    };
    let most = if count > 4 { 3 } else { SIZES.len() as u64 };
    let total = letters + ellipsis;
    let mut sizes: Vec<u64> = (0..total)
        .map(|n| SIZES[c.below(&format!("size{n}"), most) as usize])
        .collect();
    let pair = c.weighted("operators", &PAIRS.map(|row| row.2));
    let (combine, scalar, _) = PAIRS[pair];
    let mut terms = Vec::new();
    let mut factors: Vec<Factor> = Vec::new();
    for n in 0..count {
        let (term, factor) = c.scope(format!("operand{n}"), |c| {
            operand(c, letters, ellipsis, &sizes)
        });
        terms.push(term);
        factors.push(factor);
    }
    // Indices are as large as an operand says.
    for (index, size) in sizes.iter_mut().enumerate() {
        let extents_in = |factor: &Factor| {
            let axes = factor.axes.iter().zip(&factor.shape);
            axes.filter(|(axis, _)| **axis == index)
                .map(|(_, extent)| *extent)
                .collect::<Vec<_>>()
        };
        let extents: Vec<u64> = factors.iter().flat_map(extents_in).collect();
        *size = extents
            .iter()
            .copied()
            .find(|extent| *extent != 1)
            .unwrap_or(1);
    }
    let (text, result) = result(c, letters, &factors);
    let mut case = Case {
        spec: format!("{}{text}", terms.join(",")),
        sizes,
        factors,
        result,
        combine,
        scalar,
        path: None,
    };
    case.elements(c);
    case.path = path(c, count).filter(|_| pair < SEMIRINGS);
    case
}

/// The term of an operand, and the operand.
fn operand(c: &mut Choices, letters: usize, ellipsis: usize, sizes: &[u64]) -> (String, Factor) {
    let rank = c.weighted("rank", &[8, 22, 35, 25, 10]);
    let has_ellipsis = ellipsis > 0 && c.chance("has", 70);
    let place = c.below("place", rank as u64 + 1) as usize;
    let (mut term, mut axes) = (String::new(), Vec::new());
    for n in 0..=rank {
        if n == place && has_ellipsis {
            let first = c.below("first", ellipsis as u64 + 1) as usize;
            axes.extend(letters + first..letters + ellipsis);
            term += "...";
        }
        if n < rank {
            let letter = c.below(&format!("letter{n}"), letters as u64) as usize;
            axes.push(letter);
            term.push(LETTERS[letter]);
            if c.chance("blank", 5) {
                term.push(' ');
            }
        }
    }
    let ones: Vec<bool> = (0..sizes.len())
        .map(|n| c.chance(&format!("one{n}"), 10))
        .collect();
    let extent = |axis: &usize| if ones[*axis] { 1 } else { sizes[*axis] };
    let factor = Factor {
        shape: axes.iter().map(extent).collect(),
        axes,
        element: Element::F32,
        values: Vec::new(),
    };
    (term, factor)
}

/// The text of the result, and its axes.
fn result(c: &mut Choices, letters: usize, factors: &[Factor]) -> (String, Vec<usize>) {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for axis in factors.iter().flat_map(|factor| &factor.axes) {
        *counts.entry(*axis).or_default() += 1;
    }
    let ellipsis: Vec<usize> = counts
        .keys()
        .copied()
        .filter(|axis| *axis >= letters)
        .collect();
    if c.chance("implicit", 25) {
        let mut once: Vec<usize> = counts
            .iter()
            .filter(|(axis, count)| **axis < letters && **count == 1)
            .map(|(axis, _)| *axis)
            .collect();
        once.sort_by_key(|letter| LETTERS[*letter]);
        return (String::new(), [ellipsis, once].concat());
    }
    let mut letters_kept: Vec<usize> = Vec::new();
    for axis in counts.into_keys().filter(|axis| *axis < letters) {
        if c.chance(&format!("kept{axis}"), 45) {
            let place = c.below(&format!("at{axis}"), letters_kept.len() as u64 + 1) as usize;
            letters_kept.insert(place, axis);
        }
    }
    let place = c.below("dots", letters_kept.len() as u64 + 1) as usize;
    let mut text = "->".to_string();
    let mut axes = Vec::new();
    for n in 0..=letters_kept.len() {
        if n == place && !ellipsis.is_empty() {
            text += "...";
            axes.extend(&ellipsis);
        }
        if let Some(axis) = letters_kept.get(n) {
            text.push(LETTERS[*axis]);
            axes.push(*axis);
        }
    }
    (text, axes)
}

/// An order, or none.
fn path(c: &mut Choices, count: usize) -> Option<Order> {
    if !c.chance("path", 20) {
        return None;
    }
    let (mut left, mut path) = (count, Order::new());
    while left > 1 || path.is_empty() {
        let taken = (1 + c.weighted(&format!("taken{}", path.len()), &[10, 75, 15])).min(left);
        let mut positions: Vec<usize> = Vec::new();
        for n in 0..taken {
            let name = format!("position{}.{n}", path.len());
            let place = c.below(&name, (left - n) as u64) as usize;
            let free = (0..left)
                .filter(|position| !positions.contains(position))
                .nth(place);
            positions.extend(free);
        }
        left = left + 1 - taken;
        path.push(positions);
        if path.len() > 3 * count {
            return None;
        }
    }
    Some(path)
}

impl Case {
    /// Chooses types and values: so that no float of a type is rounded, which is decided by the largest sum.
    fn elements(&mut self, c: &mut Choices) {
        let bits = [self.combine, self.scalar]
            .iter()
            .any(|name| matches!(name, Name::And | Name::Or | Name::Xor));
        let subtracts = self.scalar == Name::Sub;
        let is_fit = |element: &Element| {
            let is_refused = element.is_complex()
                || bits && is_float(*element)
                || subtracts && *element == Element::Bool;
            !is_refused
        };
        let elements: Vec<Element> = Element::all().filter(is_fit).collect();
        let first = c.pick("element", &elements);
        let is_mixed = c.chance("mixed", 25);
        let points = self.points().min(1 << 20);
        let product =
            self.combine == Name::Mul || self.combine == Name::Add && self.scalar == Name::Mul;
        let count = self.factors.len() as u32;
        for (n, factor) in self.factors.iter_mut().enumerate() {
            let other = c.pick(&format!("element{n}"), &elements);
            factor.element = if is_mixed { other } else { first };
            let length = factor.shape.iter().product::<u64>();
            let largest = 2u64.saturating_pow(count).saturating_mul(points);
            // Products of many, and all that 16 bits hold, are of units.
            let units =
                factor.element.bytes() <= 2 && largest > 200 || product && largest > 1 << 22;
            let values = c.scope(format!("values{n}"), |c| {
                let value = |n| c.below(&format!("value{n}"), 4) as i64 - 1;
                (0..length).map(value).collect::<Vec<i64>>()
            });
            // Without a sign -1 is large, which floats may not hold, and of which no sums are compared.
            let is_compared =
                matches!(self.combine, Name::Min | Name::Max) && self.scalar == Name::Add;
            let is_positive = factor.element.is_unsigned() && (is_mixed || is_compared);
            let values = values.into_iter().map(|value| match (units, is_positive) {
                (true, _) => value.clamp(0, 1),
                (false, true) => value.abs(),
                (false, false) => value,
            });
            factor.values = values
                .map(|value| normalized(value, factor.element))
                .collect();
        }
        if bits && is_float(self.result_element()) {
            self.factors
                .iter_mut()
                .for_each(|factor| factor.element = Element::I64);
        }
        self.widen();
    }

    /// Takes other types where those of the case cannot count as far as its largest sum, or would round a product.
    fn widen(&mut self) {
        let holds = match self.result_element() {
            Element::F16 => 2048,
            Element::Bf16 => 256,
            Element::F32 => 1 << 24,
            _ => u64::MAX,
        };
        let count = self.factors.len() as u32;
        let largest = 2u64.saturating_pow(count).saturating_mul(self.points());
        if largest > holds {
            for factor in self
                .factors
                .iter_mut()
                .filter(|factor| is_float(factor.element))
            {
                factor.element = Element::F64;
            }
        }
        if self.combine == Name::Mul && is_float(self.result_element()) {
            for factor in &mut self.factors {
                factor
                    .values
                    .iter_mut()
                    .for_each(|value| *value = (*value).clamp(0, 1));
            }
        }
    }

    fn points(&self) -> u64 {
        self.sizes.iter().fold(1, |n, size| n.saturating_mul(*size))
    }

    fn result_element(&self) -> Element {
        let elements = self.factors.iter().map(|factor| factor.element);
        elements.reduce(Element::promoted).unwrap_or(Element::F64)
    }

    fn request(&self) -> Request {
        let operands = self.factors.iter();
        let operands = operands.map(|factor| Operand::new(&factor.shape, factor.element));
        let mut request = Request::new(&self.spec, operands.collect());
        request.combine = Operator::Named(self.combine);
        request.scalar = Operator::Named(self.scalar);
        request.path = self.path.clone();
        request
    }

    /// The result by definition; none where nothing is combined by an operator without a neutral element here, or
    /// where it takes too long.
    fn defined(&self) -> Option<Vec<i64>> {
        let element = self.result_element();
        let shape: Vec<u64> = self.result.iter().map(|axis| self.sizes[*axis]).collect();
        let length = shape.iter().product::<u64>() as usize;
        if self.points() > MOST_POINTS {
            return None;
        }
        let mut result: Vec<Option<i64>> = vec![None; length];
        for point in 0..self.points() {
            let mut rest = point;
            let mut index = vec![0; self.sizes.len()];
            for (place, size) in index.iter_mut().zip(&self.sizes).rev() {
                *place = rest % size;
                rest /= size;
            }
            let values = self.factors.iter().map(|factor| {
                let axes = factor.axes.iter().zip(&factor.shape);
                let flat = axes.fold(0, |n, (axis, extent)| {
                    n * extent + if *extent == 1 { 0 } else { index[*axis] }
                });
                normalized(factor.values[flat as usize], element)
            });
            let value = values.reduce(|a, b| applied(self.scalar, a, b, element))?;
            let at = self
                .result
                .iter()
                .fold(0, |n, axis| n * self.sizes[*axis] + index[*axis]);
            let old = &mut result[at as usize];
            *old = Some(old.map_or(value, |old| applied(self.combine, old, value, element)));
        }
        let neutral = match self.combine {
            Name::Add | Name::Or | Name::Xor => Some(0),
            Name::Mul => Some(1),
            _ => None,
        };
        result.into_iter().map(|value| value.or(neutral)).collect()
    }

    fn arrays(&self, folder: &Path) -> Result<Vec<Binding>> {
        let mut bindings = Vec::new();
        for (n, factor) in self.factors.iter().enumerate() {
            let ty =
                ScalarType::parse(factor.element.mlir()).ok_or_else(|| Error::bug("a type"))?;
            let shape: Vec<i64> = factor.shape.iter().map(|extent| *extent as i64).collect();
            let mut tensor = Tensor::zeroed(ty, &shape)?;
            for (n, value) in factor.values.iter().enumerate() {
                let value = match ty.is_float() {
                    true => Scalar::from_f64(ty, *value as f64),
                    false => Scalar::from_i64(ty, *value),
                };
                tensor.set(n, value);
            }
            let file = folder.join(format!("{}.npy", argument(n)));
            let written = match factor.element.is_unsigned() {
                true => Written::Unsigned,
                false => Written::Same,
            };
            npy::write_as(&file, &tensor, written)?;
            bindings.push(Binding {
                name: Some(argument(n)),
                value: file.display().to_string(),
            });
        }
        Ok(bindings)
    }

    fn run_in(&self, folder: &Path) -> Result<Ending> {
        let translated = translate(&self.request()).map_err(|wrong| {
            let shown = wrong.iter().map(|mistake| mistake.render(&self.request()));
            Error::input(shown.collect::<String>())
        })?;
        let arguments = RunArguments {
            inputs: self.arrays(folder)?,
            check: Some(CheckHow::All),
            ..RunArguments::new("einsum".as_ref())
        };
        let source = Source::from_text("einsum", &translated.text);
        let mut numbers: Vec<i64> = Vec::new();
        let is_unsigned = translated.element.is_unsigned();
        let report = run_command::run_and(&Host::this()?, &source, &arguments, |_, call| {
            if let [result] = &call.results[..] {
                let value = |n: usize| match result.get(n) {
                    value if value.ty.is_float() => value.as_f64() as i64,
                    value if is_unsigned || value.ty == ScalarType::I1 => value.as_u64() as i64,
                    value => value.as_i64(),
                };
                numbers = (0..result.len()).map(value).collect();
            }
        });
        let ending = run::ending(report);
        match self.defined() {
            Some(defined) if ending == Ending::Right && numbers != defined => {
                eprintln!("error: wrong result: found {numbers:?}, expected {defined:?}");
                Ok(Ending::Wrong)
            }
            _ => Ok(ending),
        }
    }
}

fn is_float(element: Element) -> bool {
    matches!(
        element,
        Element::F16 | Element::Bf16 | Element::F32 | Element::F64
    )
}

/// A number in a type: modulo 2^n in integers.
fn normalized(value: i64, element: Element) -> i64 {
    match element {
        Element::Bool => i64::from(value != 0),
        Element::I8 => i64::from(value as i8),
        Element::I16 => i64::from(value as i16),
        Element::I32 => i64::from(value as i32),
        Element::U8 => i64::from(value as u8),
        Element::U16 => i64::from(value as u16),
        Element::U32 => i64::from(value as u32),
        _ => value,
    }
}

fn applied(name: Name, a: i64, b: i64, element: Element) -> i64 {
    let (low, high) = match element {
        Element::U64 => (
            a.cast_unsigned().min(b.cast_unsigned()),
            a.cast_unsigned().max(b.cast_unsigned()),
        ),
        _ => (a.min(b).cast_unsigned(), a.max(b).cast_unsigned()),
    };
    let value = match name {
        Name::Add => a.wrapping_add(b),
        Name::Sub => a.wrapping_sub(b),
        Name::Mul => a.wrapping_mul(b),
        Name::Min => low.cast_signed(),
        Name::Max => high.cast_signed(),
        Name::And => a & b,
        Name::Or => a | b,
        Name::Xor => a ^ b,
        _ => a,
    };
    normalized(value, element)
}

impl crate::case::Case for Case {
    fn text(&self) -> String {
        let arrays = self.factors.iter().map(|factor| {
            format!(
                "{:?} of {}: {:?}\n",
                factor.shape, factor.element, factor.values
            )
        });
        format!("{}\n{}", self.command(), arrays.collect::<String>())
    }

    fn run(&self, folder: &Path) -> Ending {
        self.run_in(folder)
            .unwrap_or_else(|error| run::ended(&error))
    }

    fn write(&self, folder: &Path) -> Result<String> {
        let arrays = self.arrays(folder)?;
        let files: Vec<String> = arrays.into_iter().map(|binding| binding.value).collect();
        Ok(format!(
            "{} --in {} --check=all",
            self.command(),
            files.join(" ")
        ))
    }
}

impl Case {
    fn command(&self) -> String {
        let path = self
            .path
            .as_ref()
            .map(|path| format!(" --path '{}'", path_text(path)));
        let (combine, scalar) = (self.combine, self.scalar);
        format!(
            "mdh einsum '{}' --combine {combine} --scalar {scalar}{}",
            self.spec,
            path.unwrap_or_default()
        )
    }
}
