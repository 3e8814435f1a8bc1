//! Arrays as values: zeros, random numbers, elements, digests.

use half::{bf16, f16};
use mdh_algebra::scalar::{Scalar, ScalarType};
use xxhash_rust::xxh3::xxh3_64;

use crate::descriptor::byte_size;
use crate::{Buffer, Descriptor, Error, Result};

/// An array in row-major order, or, with an empty shape, a scalar.
///
/// An element has the size of its type in memory (an `i1` is one byte, 0 or 1), lowest byte
/// first, as every machine this runs on has it.
pub struct Tensor {
    element: ScalarType,
    shape: Vec<i64>,
    data: Buffer,
}

impl Tensor {
    /// An array of zeros. Fails if the size overflows or memory does not suffice.
    pub fn zeroed(element: ScalarType, shape: &[i64]) -> Result<Tensor> {
        let data = Buffer::zeroed(byte_size(shape, element.byte_width())?)?;
        let shape = shape.to_vec();
        Ok(Tensor {
            element,
            shape,
            data,
        })
    }

    /// An array of these bytes, of which there are as many as the shape needs.
    pub fn from_bytes(element: ScalarType, shape: &[i64], bytes: &[u8]) -> Result<Tensor> {
        let mut tensor = Tensor::zeroed(element, shape)?;
        if bytes.len() != tensor.bytes().len() {
            let (found, expected) = (bytes.len(), tensor.bytes().len());
            return Err(Error::Bytes { found, expected });
        }
        tensor.bytes_mut().copy_from_slice(bytes);
        Ok(tensor)
    }

    /// An array without dimensions.
    pub fn from_scalar(value: Scalar) -> Result<Tensor> {
        let bytes = value.bits.to_le_bytes();
        Tensor::from_bytes(value.ty, &[], &bytes[..value.ty.byte_width()])
    }

    /// An array of random numbers, the same on every machine for the same `seed` and `stream`
    /// (one stream for each argument, so that arguments of equal shape differ).
    ///
    /// Floats are the multiples of the type's own precision in `[-1, 1)`, so that sums round;
    /// integers are in `-8..8`, indices in `0..8`, bits are fair.
    pub fn random(element: ScalarType, shape: &[i64], seed: u64, stream: u64) -> Result<Tensor> {
        let mut tensor = Tensor::zeroed(element, shape)?;
        let random = Random::new(seed, stream);
        let bytes = tensor.bytes_mut();
        match element {
            ScalarType::I1 => fill(bytes, random, |r| [(r >> 63) as u8]),
            ScalarType::I8 => fill(bytes, random, |r| (small(r) as i8).to_le_bytes()),
            ScalarType::I16 => fill(bytes, random, |r| (small(r) as i16).to_le_bytes()),
            ScalarType::I32 => fill(bytes, random, |r| (small(r) as i32).to_le_bytes()),
            ScalarType::I64 => fill(bytes, random, |r| small(r).to_le_bytes()),
            ScalarType::Index => fill(bytes, random, |r| (r >> 61).to_le_bytes()),
            ScalarType::F16 => fill(bytes, random, |r| f16::from_f64(unit(r, 11)).to_le_bytes()),
            ScalarType::BF16 => fill(bytes, random, |r| bf16::from_f64(unit(r, 8)).to_le_bytes()),
            ScalarType::F32 => fill(bytes, random, |r| (unit(r, 24) as f32).to_le_bytes()),
            ScalarType::F64 => fill(bytes, random, |r| unit(r, 53).to_le_bytes()),
        }
        Ok(tensor)
    }

    /// An array of random numbers from `low` to below `high`, the same for the same seed and stream;
    /// integers lie evenly, floats on the multiples of a millionth of the range.
    pub fn uniform(
        element: ScalarType,
        shape: &[i64],
        [low, high]: [f64; 2],
        (seed, stream): (u64, u64),
    ) -> Result<Tensor> {
        let mut tensor = Tensor::zeroed(element, shape)?;
        let random = Random::new(seed, stream);
        let steps = if element.is_float() { 1e6 } else { high - low };
        for i in 0..tensor.len() {
            // The highest bits, as a fraction in [0, 1) of 53 bits.
            let fraction = (random.number(i as u64) >> 11) as f64 / (1u64 << 53) as f64;
            let value = low + (fraction * steps).floor() * ((high - low) / steps);
            let value = match element.is_float() {
                true => Scalar::from_f64(element, value),
                false => Scalar::from_i64(element, value as i64),
            };
            tensor.set(i, value);
        }
        Ok(tensor)
    }

    /// Its element type.
    pub fn element(&self) -> ScalarType {
        self.element
    }

    /// Its extents.
    pub fn shape(&self) -> &[i64] {
        &self.shape
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.bytes().len() / self.element.byte_width()
    }

    /// Returns whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its elements' bytes.
    pub fn bytes(&self) -> &[u8] {
        self.data.bytes()
    }

    /// Its elements' bytes, to be changed.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.data.bytes_mut()
    }

    /// The `i`-th element in row-major order; `i` is less than [`Tensor::len`].
    pub fn get(&self, i: usize) -> Scalar {
        let width = self.element.byte_width();
        let mut bits = [0; 8];
        bits[..width].copy_from_slice(&self.bytes()[i * width..(i + 1) * width]);
        Scalar::from_bits(self.element, u64::from_le_bytes(bits))
    }

    /// Sets the `i`-th element; `value` has the element's type.
    pub fn set(&mut self, i: usize, value: Scalar) {
        let width = self.element.byte_width();
        let bytes = &value.bits.to_le_bytes()[..width];
        self.bytes_mut()[i * width..(i + 1) * width].copy_from_slice(bytes);
    }

    /// Returns its descriptor for compiled code. The memory is this array's: it must outlive the
    /// call.
    pub fn descriptor(&mut self) -> Descriptor {
        Descriptor::dense(self.data.as_mut_ptr(), &self.shape)
    }

    /// Fills it with bytes that no computation gives, before a run that must overwrite them;
    /// truth values, of which there are but two, become true.
    pub fn poison(&mut self) {
        self.data.poison();
        if self.element == ScalarType::I1 {
            self.bytes_mut().fill(1);
        }
    }

    /// Returns whether nothing was ever written beyond its ends.
    pub fn is_intact(&self) -> bool {
        self.data.is_intact()
    }

    /// A copy, which needs as much memory again.
    pub fn try_clone(&self) -> Result<Tensor> {
        Ok(Tensor {
            element: self.element,
            shape: self.shape.clone(),
            data: Buffer::copy_of(self.bytes())?,
        })
    }

    /// A fingerprint of its elements: XXH3 (64 bits, seed 0) of [`Tensor::bytes`], in
    /// hexadecimal. In Python: `xxhash.xxh3_64_hexdigest(numpy.ascontiguousarray(a))`.
    pub fn digest(&self) -> String {
        format!("{:016x}", xxh3_64(self.bytes()))
    }

    /// Shape and type as MLIR writes them: `8x5xf32`.
    pub fn type_text(&self) -> String {
        type_text(&self.shape, self.element)
    }
}

/// Shape and type as MLIR writes them: `8x5xf32`, and `f32` for a scalar.
pub fn type_text(shape: &[i64], element: ScalarType) -> String {
    let extents: String = shape.iter().map(|extent| format!("{extent}x")).collect();
    format!("{extents}{element}")
}

/// SplitMix64 by position: number `i` of a stream can be had without those before it.
#[derive(Clone, Copy)]
struct Random {
    start: u64,
}

/// The odd number nearest 2^64 divided by the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    fn new(seed: u64, stream: u64) -> Random {
        let stream = mix(stream.wrapping_add(1).wrapping_mul(GOLDEN));
        Random {
            start: mix(seed.wrapping_add(GOLDEN)) ^ stream,
        }
    }

    fn number(self, i: u64) -> u64 {
        mix(self.start.wrapping_add((i + 1).wrapping_mul(GOLDEN)))
    }
}

/// SplitMix64's finaliser (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014).
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Fills `bytes` with elements of `N` bytes.
fn fill<const N: usize>(bytes: &mut [u8], random: Random, element: impl Fn(u64) -> [u8; N]) {
    for (i, chunk) in bytes.as_chunks_mut::<N>().0.iter_mut().enumerate() {
        *chunk = element(random.number(i as u64));
    }
}

/// An integer in `-8..8` from the highest bits.
fn small(random: u64) -> i64 {
    (random >> 60) as i64 - 8
}

/// A multiple of `2^(1-precision)` in `[-1, 1)` from the highest bits.
fn unit(random: u64, precision: u32) -> f64 {
    let steps = (random as i64) >> (64 - precision);
    steps as f64 / (1i64 << (precision - 1)) as f64
}

#[cfg(test)]
#[path = "tensor_tests.rs"]
mod tests;
