//! Words that a call passes to compiled code, made of the arguments of a C function and checked.
//!
//! Everything stands in one list of words:
//!
//! ```text
//! | scalar results | a value, or a descriptor, for each parameter | addresses | pointers |
//! ```
//!
//! Compiled code is given the pointers: to a scalar's value, to the address of a descriptor, and
//! to where scalar results go.

use std::ffi::c_void;
use std::{ptr, slice};

use crate::elements::Elements;
use crate::failure::Failure;
use crate::interface::{
    Access, Buffer, BufferLayout, Extent, Formula, Interface, Parameter, ParameterKind,
    ParameterPart, Term,
};

/// Words of a descriptor before the sizes: two pointers, and the offset.
const HEADER: usize = 3;

/// A function, and where everything is that its calls take.
pub struct CallPlan {
    interface: Interface,
    slots: Vec<Slot>,
    /// Scalar results that are returned in a struct: the parameter's number, and the byte.
    results: Vec<(usize, usize)>,
    places: Vec<Pointee>,
    /// The first one of the addresses.
    addresses: usize,
    arguments: usize,
}

/// Position of a parameter.
struct Slot {
    /// Among the arguments: the first of its own.
    argument: usize,
    /// Among the words.
    word: usize,
}

/// Target of a pointer that is passed.
enum Pointee {
    /// A word.
    Word(usize),
    /// A word that holds the address of one.
    Address(usize),
    /// The memory that an argument points to.
    Argument(usize),
}

impl CallPlan {
    pub fn new(interface: Interface) -> CallPlan {
        let is_result = |parameter: &&Parameter| parameter.kind == ParameterKind::Result;
        let scalars = interface.parameters.iter().filter(is_result).count();
        let mut results = Vec::new();
        let mut places = Vec::new();
        let (mut bytes, mut argument) = (0usize, 0);
        if scalars > 1 {
            places.push(Pointee::Address(0));
            for (number, parameter) in interface.parameters.iter().enumerate() {
                if parameter.kind == ParameterKind::Result {
                    let size = parameter.element.bytes();
                    bytes = bytes.next_multiple_of(size);
                    results.push((number, bytes));
                    bytes += size;
                }
            }
        }
        let mut word = bytes.div_ceil(8);
        let mut slots = Vec::new();
        let mut only = None;
        for parameter in &interface.parameters {
            slots.push(Slot { argument, word });
            match &parameter.kind {
                ParameterKind::Value => {
                    places.push(Pointee::Word(word));
                    word += 1;
                }
                ParameterKind::Result => only = Some(Pointee::Argument(argument)),
                ParameterKind::Buffer(buffer) => {
                    places.push(Pointee::Address(word));
                    word += HEADER + 2 * buffer.extents.len();
                }
            }
            argument += parameter.parts().len();
        }
        places.extend(only.filter(|_| scalars == 1));
        CallPlan {
            interface,
            slots,
            results,
            places,
            addresses: word,
            arguments: argument,
        }
    }

    /// Returns the number of the C function's arguments.
    pub fn arguments(&self) -> usize {
        self.arguments
    }

    /// Returns the number of a call's words.
    pub fn words(&self) -> usize {
        self.addresses + 2 * self.places.len()
    }

    /// Fills the words with what a call passes, unless something is wrong with it.
    pub fn fill(&self, values: &[u64], words: &mut [u64]) -> Result<*mut *mut c_void, Failure> {
        let checked = self.fill_parameters(values, words);
        let checked = checked.and_then(|()| self.check_formulas(values, words));
        let checked = checked.and_then(|()| self.check_overlaps(values, words));
        checked.map_err(|message| {
            Failure::new(format!("error: {}: {message}", self.interface.name))
        })?;
        let start = words.as_mut_ptr();
        let address = |word: usize| start.wrapping_add(word).expose_provenance() as u64;
        let pointers = self.addresses + self.places.len();
        for (i, place) in self.places.iter().enumerate() {
            words[pointers + i] = match *place {
                Pointee::Word(word) => address(word),
                Pointee::Address(word) => {
                    words[self.addresses + i] = address(word);
                    address(self.addresses + i)
                }
                Pointee::Argument(argument) => values[argument],
            };
        }
        Ok(start.wrapping_add(pointers).cast())
    }

    fn parameters(&self) -> impl Iterator<Item = (usize, &Parameter, &Slot)> {
        let parameters = self.interface.parameters.iter().zip(&self.slots);
        parameters
            .enumerate()
            .map(|(number, (parameter, slot))| (number, parameter, slot))
    }

    fn fill_parameters(&self, values: &[u64], words: &mut [u64]) -> Result<(), String> {
        for (_, parameter, slot) in self.parameters() {
            let values = &values[slot.argument..];
            let wrong = |message: String| format!("'{}' {message}", parameter.name);
            match &parameter.kind {
                ParameterKind::Value => words[slot.word] = values[0],
                ParameterKind::Result if values[0] == 0 => {
                    return Err(wrong("is a null pointer".into()));
                }
                ParameterKind::Result => {
                    check_alignment(values[0], parameter.element.bytes()).map_err(wrong)?;
                }
                ParameterKind::Buffer(buffer) => {
                    let words = &mut words[slot.word..];
                    fill_buffer(buffer, parameter.element.bytes(), values, words).map_err(wrong)?;
                }
            }
        }
        Ok(())
    }

    /// The sizes of a buffer.
    fn shape<'w>(&self, number: usize, words: &'w [u64]) -> &'w [u64] {
        match &self.interface.parameters[number].kind {
            ParameterKind::Buffer(buffer) => {
                let first = self.slots[number].word + HEADER;
                &words[first..first + buffer.extents.len()]
            }
            ParameterKind::Value | ParameterKind::Result => &[],
        }
    }

    /// Results have the sizes that follow from the other arguments.
    fn check_formulas(&self, values: &[u64], words: &[u64]) -> Result<(), String> {
        for (number, parameter, _) in self.parameters() {
            let ParameterKind::Buffer(buffer) = &parameter.kind else {
                continue;
            };
            for (axis, extent) in buffer.extents.iter().enumerate() {
                if let Extent::Given(Some(formula)) = extent {
                    self.check_formula((number, axis), formula, values, words)?;
                }
            }
        }
        Ok(())
    }

    fn check_formula(
        &self,
        (number, axis): (usize, usize),
        formula: &Formula,
        values: &[u64],
        words: &[u64],
    ) -> Result<(), String> {
        let value_of = |term| match term {
            Term::Extent { parameter, axis } => {
                Some(*self.shape(parameter, words).get(axis)? as i64)
            }
            Term::Value(parameter) => {
                let bytes = self.interface.parameters[parameter].element.bytes();
                let unused = 64 - 8 * bytes;
                Some((values[self.slots[parameter].argument] as i64) << unused >> unused)
            }
            Term::Number(_) | Term::Operation(_) => None,
        };
        let (found, wanted) = (
            self.shape(number, words)[axis] as i64,
            formula.value(value_of),
        );
        if wanted.is_some_and(|n| n.max(0) == found) {
            return Ok(());
        }
        let wanted = wanted.map_or("none that fits".to_string(), |n| n.to_string());
        Err(format!(
            "{} is {found}, expected {wanted}, which is {}",
            self.interface.name_of(number, ParameterPart::Extent(axis)),
            self.interface.formula(formula)
        ))
    }

    /// Checks that memory which is written is shared with nothing else.
    fn check_overlaps(&self, values: &[u64], words: &[u64]) -> Result<(), String> {
        for (a, written, _) in self.parameters() {
            let is_written = match &written.kind {
                ParameterKind::Value => false,
                ParameterKind::Result => true,
                ParameterKind::Buffer(buffer) => buffer.access != Access::Read,
            };
            let Some(place) = self.elements(a, values, words).filter(|_| is_written) else {
                continue;
            };
            for (b, other, _) in self.parameters().filter(|(b, ..)| *b != a) {
                let other_place = self.elements(b, values, words);
                if other_place.is_some_and(|other| place.overlap(&other)) {
                    return Err(format!(
                        "'{}', which is written, overlaps '{}' in memory: pass memory of its own \
                         for one of the two",
                        written.name, other.name
                    ));
                }
            }
        }
        Ok(())
    }

    /// Returns the address of a buffer's elements, or of a scalar result.
    fn elements<'w>(
        &self,
        number: usize,
        values: &[u64],
        words: &'w [u64],
    ) -> Option<Elements<'w>> {
        let (parameter, slot) = (&self.interface.parameters[number], &self.slots[number]);
        let size = parameter.element.bytes();
        match &parameter.kind {
            ParameterKind::Value => None,
            ParameterKind::Result => Some(Elements {
                start: values[slot.argument].into(),
                size: size as u64,
                extents: &[],
                strides: &[],
            }),
            ParameterKind::Buffer(buffer) => Some(elements(&words[slot.word..], buffer, size)),
        }
    }

    /// Stores the scalar results that compiled code left in a struct where C wants them.
    ///
    /// # Safety
    /// The values are pointers to as much as the results take.
    pub unsafe fn store_results(&self, values: &[u64], words: &[u64]) {
        for &(number, offset) in &self.results {
            let bytes = self.interface.parameters[number].element.bytes();
            let target = values[self.slots[number].argument] as usize;
            // SAFETY: the struct comes first in the words; by this function's contract.
            unsafe {
                let source = words.as_ptr().cast::<u8>().add(offset);
                let target = ptr::with_exposed_provenance_mut(target);
                ptr::copy_nonoverlapping(source, target, bytes);
            }
        }
    }
}

/// Writes the descriptor of a buffer: `values` are its pointer, its open extents, its open strides.
fn fill_buffer(
    buffer: &Buffer,
    element: usize,
    values: &[u64],
    words: &mut [u64],
) -> Result<(), String> {
    let rank = buffer.extents.len();
    let (pointer, mut open) = (values[0], values[1..].iter().copied());
    let mut next = || open.next().unwrap_or_default();
    words[0] = pointer;
    words[1] = pointer;
    let mut is_empty = false;
    for (axis, extent) in buffer.extents.iter().enumerate() {
        let size = match extent {
            Extent::Fixed(n) => *n,
            Extent::Given(_) => next(),
        };
        if (size as i64) < 0 {
            let count = size as i64;
            return Err(format!(
                "has the extent {count} along axis {axis}, expected at least 0"
            ));
        }
        words[HEADER + axis] = size;
        is_empty |= size == 0;
    }
    if !is_empty && pointer == 0 {
        return Err("is a null pointer".to_string());
    }
    check_alignment(pointer, element)?;
    place(&buffer.layout, rank, next, words);
    check_elements(buffer, element, words)
}

fn check_alignment(pointer: u64, element: usize) -> Result<(), String> {
    // Sizes of elements are powers of two; a division would be most of a small call.
    if pointer & (element as u64 - 1) != 0 {
        return Err(format!(
            "is at an address that is no multiple of {element}, the size of its elements"
        ));
    }
    Ok(())
}

/// The elements of a descriptor.
fn elements<'w>(words: &'w [u64], buffer: &Buffer, size: usize) -> Elements<'w> {
    let (rank, size) = (buffer.extents.len(), size as i128);
    let (extents, strides) = words[HEADER..HEADER + 2 * rank].split_at(rank);
    // SAFETY: numbers of the same size, alignment and validity.
    let strides = unsafe { slice::from_raw_parts(strides.as_ptr().cast::<i64>(), rank) };
    Elements {
        start: i128::from(words[1]) + i128::from(words[2] as i64) * size,
        size: size as u64,
        extents,
        strides,
    }
}

/// Elements are where memory can be, and those that are written each in a place of its own.
fn check_elements(buffer: &Buffer, size: usize, words: &[u64]) -> Result<(), String> {
    let elements = elements(words, buffer, size);
    let has_strides = matches!(buffer.layout, BufferLayout::Strided { .. });
    let message = || {
        let list =
            |numbers: &mut dyn Iterator<Item = String>| numbers.collect::<Vec<String>>().join(", ");
        format!(
            "extents [{}] and strides [{}]",
            list(&mut elements.extents.iter().map(u64::to_string)),
            list(&mut elements.strides.iter().map(i64::to_string))
        )
    };
    // Compiled code adds offsets to addresses as numbers without a sign.
    let mut axes = elements.extents.iter().zip(elements.strides);
    if has_strides && let Some(axis) = axes.position(|(n, stride)| *n > 1 && *stride < 0) {
        return Err(format!(
            "has the stride {} along axis {axis}, expected at least 0: pass a copy with its \
             elements in order, or take the indices backwards in the program",
            elements.strides[axis]
        ));
    }
    if !elements.are_addressable() {
        return Err(match has_strides {
            true => format!(
                "reaches beyond all memory with its {}, expected strides, in elements, within the \
                 memory that its pointer points to",
                message()
            ),
            false => "is larger than memory can be".to_string(),
        });
    }
    if has_strides && buffer.access != Access::Read && !elements.are_apart() {
        return Err(format!(
            "is written and has several elements in one place with its {}, expected strides that \
             keep elements apart",
            message()
        ));
    }
    Ok(())
}

/// Writes the offset and the strides of a descriptor that has its sizes.
fn place(layout: &BufferLayout, rank: usize, mut next: impl FnMut() -> u64, words: &mut [u64]) {
    let (header, sizes) = words.split_at_mut(HEADER);
    let (sizes, strides) = sizes.split_at_mut(rank);
    match layout {
        BufferLayout::Rows => {
            header[2] = 0;
            let mut stride = 1u64;
            for axis in (0..rank).rev() {
                strides[axis] = stride;
                stride = stride.wrapping_mul(sizes[axis].max(1));
            }
        }
        BufferLayout::Strided {
            offset,
            strides: given,
        } => {
            header[2] = *offset as u64;
            for (axis, stride) in given.iter().enumerate() {
                strides[axis] = stride.map_or_else(&mut next, |stride| stride as u64);
            }
        }
    }
}
