//! What a C function made of a compiled one does: it checks its arguments as far as they can be,
//! hands them on as compiled code takes them, and turns failures into a status.
//!
//! ```c
//! int f(const float *x, int64_t x_n0, float *y, int64_t y_n0)
//! {
//!     uint64_t values[] = {x, x_n0, y, y_n0};
//!     return mdh_call(code_of_f, &about_f, values);
//! }
//! ```
//!
//! Compiled code takes a pointer to each of its parameters (a memref's is a pointer to a pointer
//! to its descriptor), and then one to where its scalar result goes; several scalar results go
//! into a struct, a pointer to which comes first.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::failure::{self, Failure, Status, catch};
use crate::interface::{Access, Buffer, Extent, Interface, Kind, Layout, Parameter, Part, Term};

/// A compiled function behind a wrapper that takes pointers to its arguments.
pub type Code = unsafe extern "C-unwind" fn(*mut *mut c_void);

/// What compiled code says of a function: its [`Interface`] as text, and room for the same as it
/// is used, which the first call fills in.
#[repr(C)]
pub struct About {
    known: AtomicPtr<Known>,
    text: *const u8,
    length: usize,
}

/// A function as calls use it.
struct Known {
    interface: Interface,
    /// The number of each parameter's first argument.
    first: Vec<usize>,
    /// How many arguments there are.
    count: usize,
}

impl Known {
    fn new(interface: Interface) -> Known {
        let arguments = interface.arguments();
        let parameters = 0..interface.parameters.len();
        let first = |number| arguments.iter().position(|a| a.parameter == number);
        Known {
            first: parameters.filter_map(first).collect(),
            count: arguments.len(),
            interface,
        }
    }

    fn parameters(&self) -> impl Iterator<Item = (usize, &Parameter)> {
        self.interface.parameters.iter().enumerate()
    }
}

impl About {
    /// # Safety
    /// The text is that of an interface.
    unsafe fn known(&self) -> Result<&Known, Failure> {
        let known = self.known.load(Ordering::Acquire);
        // SAFETY: what is stored is never freed.
        if let Some(known) = unsafe { known.as_ref() } {
            return Ok(known);
        }
        // SAFETY: by this function's contract.
        let text = unsafe { slice::from_raw_parts(self.text, self.length) };
        let text = std::str::from_utf8(text).unwrap_or_default();
        let parsed = text.parse::<Interface>();
        let parsed = parsed.map_err(|_| {
            Failure::new("error: libmdhrt is of another version than the code that calls it")
        })?;
        let known = Box::into_raw(Box::new(Known::new(parsed)));
        // Two threads may come here first; both copies stay.
        self.known.store(known, Ordering::Release);
        // SAFETY: it is never freed.
        Ok(unsafe { &*known })
    }
}

/// Calls compiled code with the arguments of a C function: each a word, in their order. Gives a
/// [`Status`].
///
/// # Safety
/// `about` describes `code`, there are as many values as it has arguments, and the pointers among
/// them point to as much memory as the numbers say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdh_call(code: Code, about: *const About, values: *const u64) -> c_int {
    // SAFETY: by this function's contract.
    let done = unsafe {
        (*about).known().and_then(|known| {
            let values = slice::from_raw_parts(values, known.count);
            call(code, known, values)
        })
    };
    match done {
        Ok(()) => Status::Done as c_int,
        Err(failure) => failure::report(failure) as c_int,
    }
}

/// # Safety
/// As for [`mdh_call`].
unsafe fn call(code: Code, known: &Known, values: &[u64]) -> Result<(), Failure> {
    let arrays = checked(known, values)?;
    let mut frame = Frame::new(known, values, &arrays);
    // SAFETY: by this function's contract, and what has been checked.
    catch(|| unsafe { code(frame.pointers.as_mut_ptr()) })?;
    // SAFETY: likewise.
    unsafe { frame.store(known, values) };
    Ok(())
}

/// The shape, strides and offset of a parameter; empty for a scalar.
#[derive(Default)]
struct Array {
    shape: Vec<i64>,
    strides: Vec<i64>,
    offset: i64,
    /// The first byte of its elements and how many there are, where they lie one after the other.
    bytes: Option<(u64, u64)>,
}

/// Reads the arguments of all parameters, and fails if something is wrong with them.
fn checked(known: &Known, values: &[u64]) -> Result<Vec<Array>, Failure> {
    let name = &known.interface.name;
    let wrong = |message: String| Failure::new(format!("error: {name}: {message}"));
    let mut arrays = Vec::new();
    let mut values_left = values.iter().copied();
    for (_, parameter) in known.parameters() {
        let value = values_left.next().unwrap_or_default();
        let array = match &parameter.kind {
            Kind::Buffer(buffer) => {
                let open = &mut || values_left.next().unwrap_or_default() as i64;
                let array = Array::new(buffer, parameter.element.bytes(), value, open);
                array.map_err(|message| wrong(format!("'{}' {message}", parameter.name)))?
            }
            Kind::Value => Array::default(),
            Kind::Result if value == 0 => {
                return Err(wrong(format!("'{}' is a null pointer", parameter.name)));
            }
            Kind::Result => Array::default(),
        };
        arrays.push(array);
    }
    check_formulas(known, values, &arrays).map_err(wrong)?;
    check_overlaps(known, &arrays).map_err(wrong)?;
    Ok(arrays)
}

impl Array {
    /// A buffer whose open extents and strides are the next numbers.
    fn new(
        buffer: &Buffer,
        element: usize,
        pointer: u64,
        next: &mut dyn FnMut() -> i64,
    ) -> Result<Array, String> {
        let extents = buffer.extents.iter();
        let extents = extents.map(|extent| match extent {
            Extent::Fixed(n) => *n as i64,
            Extent::Given(_) => next(),
        });
        let shape: Vec<i64> = extents.collect();
        if let Some(axis) = shape.iter().position(|n| *n < 0) {
            let found = shape[axis];
            return Err(format!(
                "has the extent {found} along axis {axis}, expected at least 0"
            ));
        }
        let count = match shape.contains(&0) {
            true => Some(0),
            false => shape.iter().try_fold(1i64, |all, n| all.checked_mul(*n)),
        };
        let bytes = count.and_then(|count| count.checked_mul(element as i64));
        let bytes = bytes.ok_or("is larger than memory can be")?;
        if bytes > 0 && pointer == 0 {
            return Err("is a null pointer".to_string());
        }
        if !pointer.is_multiple_of(element as u64) {
            return Err(format!(
                "is at an address that is no multiple of {element}, the size of its elements"
            ));
        }
        let (strides, offset, bytes) = match &buffer.layout {
            Layout::Rows => (rows(&shape), 0, Some((pointer, bytes as u64))),
            Layout::Strided { offset, strides } => {
                let strides = strides
                    .iter()
                    .map(|stride| stride.unwrap_or_else(&mut *next));
                (strides.collect(), *offset, None)
            }
        };
        Ok(Array {
            shape,
            strides,
            offset,
            bytes,
        })
    }
}

/// The strides of elements that lie one after the other.
fn rows(shape: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; shape.len()];
    for d in (1..shape.len()).rev() {
        strides[d - 1] = shape[d].max(1).wrapping_mul(strides[d]);
    }
    strides
}

/// Results have the sizes that follow from the other arguments.
fn check_formulas(known: &Known, values: &[u64], arrays: &[Array]) -> Result<(), String> {
    let interface = &known.interface;
    for (number, parameter) in known.parameters() {
        let Kind::Buffer(buffer) = &parameter.kind else {
            continue;
        };
        for (axis, extent) in buffer.extents.iter().enumerate() {
            let Extent::Given(Some(formula)) = extent else {
                continue;
            };
            let of = |term| match term {
                Term::Extent { parameter, axis } => arrays.get(parameter)?.shape.get(axis).copied(),
                Term::Value(parameter) => value_of(known, parameter, values),
                Term::Number(_) | Term::Operation(_) => None,
            };
            let found = arrays[number].shape[axis];
            if formula.value(of).map(|n| n.max(0)) != Some(found) {
                let wanted = formula
                    .value(of)
                    .map_or("none that fits".into(), |n| n.to_string());
                return Err(format!(
                    "{} is {found}, expected {wanted}, which is {}",
                    interface.name_of(number, Part::Extent(axis)),
                    interface.formula(formula)
                ));
            }
        }
    }
    Ok(())
}

/// The value of an integer parameter.
fn value_of(known: &Known, parameter: usize, values: &[u64]) -> Option<i64> {
    let unused = 64 - 8 * known.interface.parameters.get(parameter)?.element.bytes();
    Some((values[known.first[parameter]] as i64) << unused >> unused)
}

/// What is written shares no memory with anything else. (Elements with other strides may be
/// interleaved, and are not looked at.)
fn check_overlaps(known: &Known, arrays: &[Array]) -> Result<(), String> {
    for (a, written) in known.parameters() {
        let is_written = matches!(&written.kind, Kind::Buffer(b) if b.access != Access::Read);
        let Some((start, bytes)) = arrays[a].bytes.filter(|_| is_written) else {
            continue;
        };
        for (b, other) in known.parameters() {
            let shares = |(from, many): (u64, u64)| {
                from < start.saturating_add(bytes) && start < from.saturating_add(many)
            };
            if a != b && arrays[b].bytes.is_some_and(shares) {
                return Err(format!(
                    "'{}', which is written, overlaps '{}' in memory",
                    written.name, other.name
                ));
            }
        }
    }
    Ok(())
}

/// What a call passes to compiled code, and everything that its pointers point to.
struct Frame {
    /// Scalars, and descriptors: words that stay where they are.
    words: Vec<u64>,
    pointers: Vec<*mut c_void>,
    /// Where each scalar result is in the words, by its offset in bytes, if there are several.
    results: Vec<(usize, usize)>,
}

impl Frame {
    fn new(known: &Known, values: &[u64], arrays: &[Array]) -> Frame {
        let value = |parameter: usize| values[known.first[parameter]];
        let scalars = known.parameters().filter(|(_, p)| p.kind == Kind::Result);
        let scalars: Vec<usize> = scalars.map(|(number, _)| number).collect();
        let mut words: Vec<u64> = Vec::new();
        // The words move while they grow: first where each is, then their addresses.
        let mut places: Vec<Place> = Vec::new();
        let mut results = Vec::new();
        if scalars.len() > 1 {
            let mut offset = 0usize;
            for &number in &scalars {
                let bytes = known.interface.parameters[number].element.bytes();
                offset = offset.next_multiple_of(bytes);
                results.push((number, offset));
                offset += bytes;
            }
            places.push(Place::Address(0));
            words.resize(offset.div_ceil(8), 0);
        }
        for (number, parameter) in known.parameters() {
            match &parameter.kind {
                Kind::Result => {}
                Kind::Value => {
                    places.push(Place::Here(words.len()));
                    words.push(value(number));
                }
                Kind::Buffer(_) => {
                    let array = &arrays[number];
                    places.push(Place::Address(words.len()));
                    words.extend([value(number), value(number), array.offset as u64]);
                    words.extend(array.shape.iter().map(|n| *n as u64));
                    words.extend(array.strides.iter().map(|n| *n as u64));
                }
            }
        }
        if let [only] = scalars[..] {
            places.push(Place::Elsewhere(value(only)));
        }
        Frame::of(words, &places, results)
    }

    fn of(mut words: Vec<u64>, places: &[Place], results: Vec<(usize, usize)>) -> Frame {
        // Pointers to pointers need words of their own, behind the others.
        let mut indirect = words.len();
        words.resize(indirect + places.len(), 0);
        let start = words.as_mut_ptr();
        let pointers = places.iter().map(|place| match *place {
            Place::Here(at) => start.wrapping_add(at).cast(),
            Place::Elsewhere(address) => ptr::with_exposed_provenance_mut(address as usize),
            Place::Address(at) => {
                words[indirect] = start.wrapping_add(at).expose_provenance() as u64;
                indirect += 1;
                start.wrapping_add(indirect - 1).cast()
            }
        });
        let pointers = pointers.collect();
        Frame {
            words,
            pointers,
            results,
        }
    }

    /// Stores the scalar results that compiled code left in a struct where C wants them.
    ///
    /// # Safety
    /// The values are pointers to as much as the results take.
    unsafe fn store(&self, known: &Known, values: &[u64]) {
        for &(number, offset) in &self.results {
            let bytes = known.interface.parameters[number].element.bytes();
            let target = values[known.first[number]] as usize;
            // SAFETY: the struct lies in the words; by this function's contract.
            unsafe {
                let source = self.words.as_ptr().cast::<u8>().add(offset);
                let target = ptr::with_exposed_provenance_mut(target);
                ptr::copy_nonoverlapping(source, target, bytes);
            }
        }
    }
}

/// What a pointer that is passed points to.
enum Place {
    /// A word of the frame.
    Here(usize),
    /// A word that holds the address of one of the frame.
    Address(usize),
    /// Memory of the caller.
    Elsewhere(u64),
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;
    use crate::memory::mdh_allocate;
    use crate::pool::mdh_parallel_for;

    const SCALE: &str = "\
scale
value factor i16
buffer x f32 read ? rows
buffer y f32 written ?=1.0 rows
result sum f32
result count i64";

    /// The words of a descriptor of one dimension that a pointer's pointer points to.
    unsafe fn words<'a>(pointer: *mut c_void) -> &'a [u64] {
        // SAFETY: by contract.
        unsafe { slice::from_raw_parts(*pointer.cast::<*const u64>(), 5) }
    }

    /// `y[i] = factor * x[i]`, in parallel; fails at a negative element.
    unsafe extern "C-unwind" fn scale(pointers: *mut *mut c_void) {
        unsafe extern "C-unwind" fn part(pointers: *mut c_void, i: i64) {
            // SAFETY: the pointers are those of a call, which lives on.
            unsafe {
                let pointers = pointers.cast::<*mut c_void>();
                let factor = *(*pointers.add(1)).cast::<i16>();
                let (x, y) = (words(*pointers.add(2)), words(*pointers.add(3)));
                let x = *(x[1] as *const f32).add(i as usize);
                mdh_allocate(100);
                if x < 0.0 {
                    failure::mdh_say(c"a.mlir:1:2: error: negative".as_ptr());
                    failure::mdh_stop();
                }
                *(y[1] as *mut f32).add(i as usize) = f32::from(factor) * x;
            }
        }
        // SAFETY: the call has these pointers.
        unsafe {
            let (x, y) = (words(*pointers.add(2)), words(*pointers.add(3)));
            mdh_parallel_for(part, pointers.cast(), x[3] as i64);
            let sum = (0..y[3] as usize)
                .map(|i| *(y[1] as *const f32).add(i))
                .sum();
            let area = *(*pointers).cast::<*mut c_void>();
            *area.cast::<f32>() = sum;
            *area.cast::<i64>().add(1) = x[3] as i64;
        }
    }

    /// The status, the message and the results of a call.
    fn call_scale(values: &mut [u64; 7]) -> (c_int, String, f32, i64) {
        let (mut sum, mut count) = (0f32, 0i64);
        if values[5] != 0 {
            values[5] = (&raw mut sum).expose_provenance() as u64;
        }
        values[6] = (&raw mut count).expose_provenance() as u64;
        let about = About {
            known: AtomicPtr::default(),
            text: SCALE.as_ptr(),
            length: SCALE.len(),
        };
        // SAFETY: what is wrong with the arguments is found out.
        let status = unsafe { mdh_call(scale, &about, values.as_ptr()) };
        // SAFETY: the message stays until the next failure.
        let message = unsafe { CStr::from_ptr(failure::mdh_error()) };
        let message = match status {
            0 => String::new(),
            _ => message.to_string_lossy().into_owned(),
        };
        (status, message, sum, count)
    }

    fn address<T>(slice: &mut [T]) -> u64 {
        slice.as_mut_ptr().expose_provenance() as u64
    }

    #[test]
    fn arguments_arrive_and_results_come_back() {
        let (mut x, mut y) = ([1f32, 2.0, 3.0], [0f32; 3]);
        // What stands above an argument's bits is of no account.
        let factor = 0xabcd_0000 | u64::from((-2i16) as u16);
        let mut values = [factor, address(&mut x), 3, address(&mut y), 3, 1, 1];
        let found = call_scale(&mut values);
        assert_eq!(found, (0, String::new(), -12.0, 3));
        assert_eq!(y, [-2.0, -4.0, -6.0]);
    }

    #[test]
    fn a_check_that_fails_on_a_thread_is_a_status() {
        for n in [1, 2, 1000] {
            let (mut x, mut y) = (vec![1f32; n], vec![0f32; n]);
            x[n - 1] = -1.0;
            let n = n as u64;
            let mut values = [1, address(&mut x), n, address(&mut y), n, 1, 1];
            for _ in 0..3 {
                let (status, message, sum, _) = call_scale(&mut values);
                assert_eq!((status, sum), (1, 0.0));
                assert_eq!(message, "a.mlir:1:2: error: negative");
            }
        }
    }

    #[test]
    fn wrong_arguments() {
        let (mut x, mut y) = ([1f32; 4], [0f32; 4]);
        let right = [1, address(&mut x), 4, address(&mut y), 4, 1, 1];
        let with = |changes: &[(usize, u64)]| {
            let mut values = right;
            changes.iter().for_each(|&(at, value)| values[at] = value);
            let (status, message, ..) = call_scale(&mut values);
            assert_eq!(status, c_int::from(!message.is_empty()));
            message
        };
        assert_eq!(with(&[]), "");
        assert_eq!(with(&[(1, 0)]), "error: scale: 'x' is a null pointer");
        assert_eq!(with(&[(5, 0)]), "error: scale: 'sum' is a null pointer");
        assert_eq!(
            with(&[(4, 3)]),
            "error: scale: y_n0 is 3, expected 4, which is x_n0"
        );
        assert_eq!(
            with(&[(2, u64::MAX)]),
            "error: scale: 'x' has the extent -1 along axis 0, expected at least 0"
        );
        assert_eq!(
            with(&[(2, 1 << 62)]),
            "error: scale: 'x' is larger than memory can be"
        );
        assert_eq!(
            with(&[(3, right[1] + 4)]),
            "error: scale: 'y', which is written, overlaps 'x' in memory"
        );
        assert_eq!(
            with(&[(3, right[3] + 2)]),
            "error: scale: 'y' is at an address that is no multiple of 4, the size of its elements"
        );
        assert_eq!(with(&[(1, 0), (2, 0), (3, 0), (4, 0)]), "");
    }

    #[test]
    fn code_of_another_version() {
        let about = About {
            known: AtomicPtr::default(),
            text: c"f\nsomething new".as_ptr().cast(),
            length: 15,
        };
        // SAFETY: no value is looked at.
        let status = unsafe { mdh_call(scale, &about, ptr::null()) };
        assert_eq!(status, 1);
    }
}
