//! Arrays of other programs, as they show their memory: DLPack's description of a tensor, and types of elements.
//!
//! Compiled code has integers without a sign: what a program means by one is in its operations, so that arrays of both
//! kinds are taken, unless who compiles says which it is. Truth values are bytes of 0 and 1.

use std::ffi::c_void;
use std::fmt;
use std::slice;

use mdh_jit::interface::Element;

use crate::library::words::{Mistake, Wrong};

/// DLPack's `DLTensor`.
#[repr(C)]
pub struct DlTensor {
    /// The address that `byte_offset` counts from.
    pub data: *mut c_void,
    /// The kind of device whose memory it is.
    pub device_kind: i32,
    /// The number of the device.
    pub device: i32,
    /// The number of axes.
    pub rank: i32,
    /// The kind of numbers.
    pub code: u8,
    /// Bits of an element.
    pub bits: u8,
    /// Numbers in an element.
    pub lanes: u16,
    /// Extents, one for each axis.
    pub shape: *const i64,
    /// Elements between neighbours, one for each axis; null where the elements are in row-major order.
    pub strides: *const i64,
    /// The place of the first element.
    pub byte_offset: u64,
}

/// The processor's memory, among DLPack's kinds of devices.
pub const DL_CPU: i32 = 1;
/// Memory of an NVIDIA GPU.
pub const DL_CUDA: i32 = 2;
/// Memory of the processor that an NVIDIA GPU sees, too.
const DL_CUDA_HOST: i32 = 3;
/// Memory of both.
pub const DL_CUDA_MANAGED: i32 = 13;

/// The most axes of an array that is looked at without memory of its own.
const USUAL_RANK: usize = 8;

/// Extents or strides: on the stack for arrays of a usual rank.
#[derive(Clone, Debug)]
pub struct Axes {
    few: [i64; USUAL_RANK],
    many: Vec<i64>,
    rank: usize,
}

impl Axes {
    /// A number for each of so many axes.
    pub fn new(rank: usize, value: impl Fn(usize) -> i64) -> Axes {
        let mut axes = Axes {
            few: [0; USUAL_RANK],
            many: Vec::new(),
            rank,
        };
        match axes.few.get_mut(..rank) {
            Some(few) => few.iter_mut().enumerate().for_each(|(i, n)| *n = value(i)),
            None => axes.many = (0..rank).map(value).collect(),
        }
        axes
    }

    /// The strides of elements in row-major order.
    pub fn row_major(shape: &[i64]) -> Axes {
        Axes::new(shape.len(), |axis| {
            let inner = shape[axis + 1..].iter();
            inner.fold(1, |stride: i64, extent| stride.wrapping_mul(*extent))
        })
    }

    /// The numbers, one for each axis.
    pub fn numbers(&self) -> &[i64] {
        match self.rank <= USUAL_RANK {
            true => &self.few[..self.rank],
            false => &self.many,
        }
    }
}

/// Memory that an array is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ArrayPlace {
    /// The processor's memory.
    Host,
    /// That of an NVIDIA GPU, by its number.
    Cuda(u32),
}

impl ArrayPlace {
    /// The number of the GPU whose memory it is.
    pub fn gpu(self) -> Option<u32> {
        match self {
            ArrayPlace::Host => None,
            ArrayPlace::Cuda(number) => Some(number),
        }
    }
}

impl fmt::Display for ArrayPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArrayPlace::Host => f.write_str("the processor's memory"),
            ArrayPlace::Cuda(number) => write!(f, "the memory of GPU {number}"),
        }
    }
}

/// The memory of an array.
#[derive(Clone, Debug)]
pub struct Array {
    /// The address of its first element.
    pub address: u64,
    /// The type of its elements.
    pub number: NumberType,
    /// Its extents.
    pub shape: Axes,
    /// Elements between neighbours along each axis.
    pub strides: Axes,
    /// Its place.
    pub place: ArrayPlace,
}

impl Array {
    /// The memory that a tensor of DLPack describes.
    ///
    /// # Errors
    /// If it is on a device whose memory compiled code does not reach.
    ///
    /// # Safety
    /// The tensor's shape and strides are null or have a number for each axis.
    pub unsafe fn of_dlpack(tensor: &DlTensor) -> Result<Array, Wrong> {
        let place = match tensor.device_kind {
            DL_CPU | DL_CUDA_HOST => ArrayPlace::Host,
            DL_CUDA | DL_CUDA_MANAGED => ArrayPlace::Cuda(tensor.device.max(0) as u32),
            kind => {
                return Err(Wrong {
                    mistake: Mistake::Device,
                    message: format!(
                        "found an array on a device of DLPack's kind {kind}, expected one in the processor's memory or \
                         on an NVIDIA GPU"
                    ),
                });
            }
        };
        let rank = tensor.rank.max(0) as usize;
        // SAFETY: by this function's contract.
        let (shape, strides) = unsafe { (parts(tensor.shape, rank), parts(tensor.strides, rank)) };
        let shape = Axes::new(shape.len(), |axis| shape[axis]);
        let strides = match strides {
            [] => Axes::row_major(shape.numbers()),
            given => Axes::new(given.len(), |axis| given[axis]),
        };
        Ok(Array {
            address: (tensor.data as u64).wrapping_add(tensor.byte_offset),
            number: NumberType::of_dlpack(tensor.code, tensor.bits, tensor.lanes),
            shape,
            strides,
            place,
        })
    }

    /// Returns whether the elements lie in row-major order without gaps.
    pub fn is_row_major(&self) -> bool {
        let mut expected: i64 = 1;
        let axes = self.shape.numbers().iter().zip(self.strides.numbers());
        let mut is_so = true;
        for (extent, stride) in axes.rev() {
            // No step is ever made along an axis of one element.
            is_so &= *stride == expected || *extent == 1;
            expected = expected.wrapping_mul(*extent);
        }
        is_so || self.shape.numbers().contains(&0)
    }
}

/// Extents or strides; none where the pointer is null.
///
/// # Safety
/// The pointer is null or to so many numbers.
pub unsafe fn parts<'a, T>(start: *const T, rank: usize) -> &'a [T] {
    match start.is_null() || rank == 0 {
        true => &[],
        // SAFETY: by this function's contract.
        false => unsafe { slice::from_raw_parts(start, rank) },
    }
}

/// Kind of numbers, by DLPack's codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberKind {
    /// Integers with a sign.
    Signed,
    /// Integers without.
    Unsigned,
    /// IEEE's floats.
    Float,
    /// bfloat16.
    Brain,
    /// Truth values.
    Truth,
    /// Something that compiled code does not take.
    Other,
}

impl NumberKind {
    /// The kinds that DLPack has a code for.
    const CODES: [(NumberKind, u8, &'static str); 5] = [
        (NumberKind::Signed, 0, "int"),
        (NumberKind::Unsigned, 1, "uint"),
        (NumberKind::Float, 2, "float"),
        (NumberKind::Brain, 4, "bfloat"),
        (NumberKind::Truth, 6, "bool"),
    ];
}

/// A type of elements as an array says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberType {
    /// The kind.
    pub kind: NumberKind,
    /// The size, in bytes.
    pub bytes: usize,
}

impl NumberType {
    /// Elements that compiled code does not take.
    pub const OTHER: NumberType = NumberType {
        kind: NumberKind::Other,
        bytes: 0,
    };

    /// DLPack's type, of one lane.
    pub fn of_dlpack(code: u8, bits: u8, lanes: u16) -> NumberType {
        let mut known = NumberKind::CODES.into_iter();
        match known.find(|row| row.1 == code && lanes == 1) {
            Some((kind, ..)) => NumberType {
                kind,
                bytes: usize::from(bits) / 8,
            },
            None => NumberType::OTHER,
        }
    }

    /// DLPack's code and bits.
    pub fn dlpack(self) -> (u8, u8) {
        let code = NumberKind::CODES.into_iter().find(|row| row.0 == self.kind);
        (code.map_or(u8::MAX, |row| row.1), 8 * self.bytes as u8)
    }

    /// The type of compiled code's elements; of its integers, that with a sign.
    pub fn of_element(element: Element) -> NumberType {
        NumberType {
            kind: match element {
                Element::I1 => NumberKind::Truth,
                Element::I8 | Element::I16 | Element::I32 | Element::I64 => NumberKind::Signed,
                Element::F16 | Element::F32 | Element::F64 => NumberKind::Float,
                Element::BF16 => NumberKind::Brain,
            },
            bytes: element.bytes(),
        }
    }

    /// Returns whether compiled code that expects such elements can read these; integers are of one kind alone if it is
    /// given.
    pub fn is(self, element: Element, sign: Option<NumberKind>) -> bool {
        let expected = NumberType::of_element(element);
        let is_unsigned = self.kind == NumberKind::Unsigned && expected.kind == NumberKind::Signed;
        let is_other = sign.is_some_and(|sign| sign != self.kind);
        (self.kind == expected.kind || is_unsigned) && !is_other && self.bytes == expected.bytes
    }
}

/// The name that numpy, torch and jax share.
impl fmt::Display for NumberType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut known = NumberKind::CODES.into_iter();
        match known.find(|row| row.0 == self.kind) {
            None => f.write_str("another type"),
            Some((NumberKind::Truth, _, name)) => f.write_str(name),
            Some((_, _, name)) => write!(f, "{name}{}", 8 * self.bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(tensor: &DlTensor) -> Array {
        // SAFETY: the tests' shapes and strides are whole.
        unsafe { Array::of_dlpack(tensor) }.unwrap()
    }

    #[test]
    fn tensors_of_dlpack() {
        let (shape, strides) = ([2, 3, 4], [12, 4, 1]);
        let mut tensor = DlTensor {
            data: std::ptr::without_provenance_mut(4096),
            device_kind: DL_CPU,
            device: 0,
            rank: 3,
            code: 2,
            bits: 32,
            lanes: 1,
            shape: shape.as_ptr(),
            strides: std::ptr::null(),
            byte_offset: 16,
        };
        let array = seen(&tensor);
        assert_eq!((array.address, array.place), (4112, ArrayPlace::Host));
        assert_eq!(array.strides.numbers(), strides);
        assert!(array.is_row_major());
        assert_eq!(array.number.to_string(), "float32");
        let columns = [1, 2, 6];
        tensor.strides = columns.as_ptr();
        (tensor.device_kind, tensor.device) = (DL_CUDA, 1);
        let array = seen(&tensor);
        assert!(!array.is_row_major());
        assert_eq!(array.place, ArrayPlace::Cuda(1));
        tensor.device_kind = 7;
        // SAFETY: as above.
        let wrong = unsafe { Array::of_dlpack(&tensor) }.unwrap_err();
        assert_eq!(wrong.mistake, Mistake::Device);
        assert!(
            wrong.message.contains("DLPack's kind 7"),
            "{}",
            wrong.message
        );
    }

    #[test]
    fn elements_that_code_reads() {
        let unsigned = NumberType::of_dlpack(1, 8, 1);
        assert!(unsigned.is(Element::I8, None) && unsigned.is(Element::I8, Some(unsigned.kind)));
        assert!(!unsigned.is(Element::I8, Some(NumberKind::Signed)));
        assert!(!unsigned.is(Element::I1, None) && !unsigned.is(Element::I16, None));
        assert!(!NumberType::of_dlpack(2, 32, 4).is(Element::F32, None));
        let names = [Element::I1, Element::I64, Element::BF16, Element::F16];
        let names = names.map(|element| NumberType::of_element(element).to_string());
        assert_eq!(names, ["bool", "int64", "bfloat16", "float16"]);
        assert_eq!(NumberType::of_element(Element::BF16).dlpack(), (4, 16));
    }
}
