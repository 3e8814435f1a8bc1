//! Arrays in files: NumPy's `.npy`.
//!
//! | element | read from | written as |
//! |---|---|---|
//! | `i1` | bool | bool |
//! | `i8` `i16` `i32` `i64` | int and uint of that many bits | int |
//! | `index` | int64, uint64 | int64 |
//! | `f16` `f32` `f64` | float of that many bits | float |
//! | `f32` `f64`, with a last axis of 2 | complex of twice as many bits, too | float |
//! | `bf16` | uint16, or 2 raw bytes (`V2`, as ml_dtypes saves bfloat16) | uint16 |
//!
//! NumPy has no bfloat16 of its own: `a.view(ml_dtypes.bfloat16)` reads such a uint16 array, and
//! without ml_dtypes `(a.astype('uint32') << 16).view('float32')`. Both byte orders and both
//! memory orders are read; arrays are written little-endian in C order. Any other type is an
//! error rather than a conversion: what the program computes with is what the file holds.

mod header;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use mdh_algebra::scalar::ScalarType;
use mdh_jit::descriptor::byte_size;
use npyz::{DType, Endianness, NpyFile, Order, TypeChar, TypeStr, WriterBuilder};

use crate::error::{Error, Result};
use crate::output;
use crate::values::Tensor;

/// Requirements on an argument.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// The argument's name, for messages.
    pub argument: &'a str,
    /// Its element type.
    pub element: ScalarType,
    /// Its extents, `None` for one that may be anything.
    pub shape: &'a [Option<i64>],
}

/// Reads an argument from a file, checking type and shape first.
pub fn read(path: &Path, expected: &Expected) -> Result<Tensor> {
    let file = Npy::open(path)?;
    file.check(expected)?;
    file.data(expected.element)
}

/// Elements of an array in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// Those of the array.
    Same,
    /// Integers without a sign.
    Unsigned,
    /// Complex numbers, of which the array's last axis has the two parts.
    Complex,
}

/// Writes an array to a file, which is there in full or not at all.
pub fn write(path: &Path, tensor: &Tensor) -> Result<()> {
    write_as(path, tensor, Written::Same)
}

/// Writes an array to a file as elements that it stands for.
pub fn write_as(path: &Path, tensor: &Tensor, written: Written) -> Result<()> {
    output::write_with(path, |mut file| {
        let descr = match (written, tensor.element()) {
            (Written::Complex, ScalarType::F32) => "<c8".to_string(),
            (Written::Complex, _) => "<c16".to_string(),
            (Written::Unsigned, element) => written_as(element).replace('i', "u"),
            (Written::Same, element) => written_as(element).to_string(),
        };
        let descr: TypeStr = descr
            .parse()
            .map_err(|_| io::Error::other("a wrong dtype"))?;
        let mut shape: Vec<u64> = tensor.shape().iter().map(|&extent| extent as u64).collect();
        if written == Written::Complex {
            shape.pop();
        }
        npyz::WriteOptions::new_header_only()
            .dtype(DType::Plain(descr))
            .shape(&shape)
            .writer(&mut file)
            .write_header_only()?;
        file.write_all(tensor.bytes())
    })
}

/// Items of a file's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Items {
    /// Each element is one.
    Elements,
    /// The last axis has the two parts of a complex number, which are together in any order.
    Pairs,
}

/// An open file, of which the header has been read.
pub struct Npy {
    path: PathBuf,
    file: File,
    dtype: DType,
    order: Order,
    shape: Vec<i64>,
    items: Items,
    header_bytes: u64,
}

impl Npy {
    /// Opens a file and reads its header.
    pub fn open(path: &Path) -> Result<Npy> {
        let failed =
            |error: io::Error| Error::input(format!("cannot read '{}': {error}", path.display()));
        let mut file = File::open(path).map_err(failed)?;
        let header = header::read(&mut file).map_err(failed)?;
        let parsed = NpyFile::with_header(header::parse(&header).map_err(failed)?, io::empty());
        let extents = parsed.shape().iter().map(|&extent| i64::try_from(extent));
        let shape: std::result::Result<Vec<i64>, _> = extents.collect();
        let too_large = |_| failed(io::Error::other("an extent of its shape is above 2^63"));
        Ok(Npy {
            path: path.to_path_buf(),
            dtype: parsed.dtype(),
            order: parsed.order(),
            shape: shape.map_err(too_large)?,
            items: Items::Elements,
            header_bytes: header.len() as u64,
            file,
        })
    }

    /// The file's name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The bytes of an element, if it is no record.
    pub fn element_bytes(&self) -> Option<usize> {
        match &self.dtype {
            DType::Plain(ty) => ty.num_bytes(),
            DType::Array(..) | DType::Record(_) => None,
        }
    }

    /// The same as floats with a last axis of 2, if it holds complex numbers and such are expected.
    pub fn for_argument(mut self, expected: &Expected) -> Npy {
        let DType::Plain(ty) = &self.dtype else {
            return self;
        };
        let bytes = ty.num_bytes().unwrap_or_default();
        let are_parts = ty.type_char() == TypeChar::Complex
            && expected.element.is_float()
            && 2 * expected.element.byte_width() == bytes;
        let has_parts =
            expected.shape.last() == Some(&Some(2)) && expected.shape.len() == self.shape.len() + 1;
        let order = match ty.endianness() {
            Endianness::Big => '>',
            _ => '<',
        };
        let part = format!("{order}f{}", bytes / 2).parse::<TypeStr>();
        if let (true, true, Ok(part)) = (are_parts, has_parts, part) {
            self.dtype = DType::Plain(part);
            self.shape.push(2);
            self.items = Items::Pairs;
        }
        self
    }

    /// The array's extents.
    pub fn shape(&self) -> &[i64] {
        &self.shape
    }

    /// The array's type, by NumPy's name (`float32`).
    pub fn dtype(&self) -> String {
        match &self.dtype {
            DType::Plain(ty) => numpy_name(ty),
            DType::Array(..) | DType::Record(_) => "a structured type".to_string(),
        }
    }

    /// Fails unless the file holds the expected array, as far as its header and length say.
    pub fn check(&self, expected: &Expected) -> Result<()> {
        self.check_type(expected)?;
        self.check_shape(expected)?;
        self.check_length(expected.element).map(drop)
    }

    /// Fails unless the file is as long as its header says: before memory is asked for. How long
    /// a pipe is shows when it is read.
    fn check_length(&self, element: ScalarType) -> Result<usize> {
        let available = match self.file.metadata() {
            Ok(file) if file.is_file() => Some(file.len().saturating_sub(self.header_bytes)),
            _ => None,
        };
        match (byte_size(&self.shape, element.byte_width()), available) {
            (Ok(bytes), Some(available)) if available < bytes as u64 => {
                Err(self.truncated(available, &bytes.to_string()))
            }
            (Ok(bytes), Some(available)) if available > bytes as u64 => {
                Err(self.too_long(&available.to_string(), bytes))
            }
            (Ok(bytes), _) => Ok(bytes),
            (Err(_), available) => {
                Err(self.truncated(available.unwrap_or(u64::MAX), "2^63 or more"))
            }
        }
    }

    /// Fails unless the file holds elements of the expected type.
    pub fn check_type(&self, expected: &Expected) -> Result<()> {
        if matches!(&self.dtype, DType::Plain(ty) if is_readable_as(ty, expected.element)) {
            return Ok(());
        }
        let name = numpy_name_of(expected.element);
        let is_number = matches!(&self.dtype, DType::Plain(ty) if is_number(ty));
        let message = format!(
            "'{}' holds {}, expected {name} for the argument '{}' of type {}",
            self.path.display(),
            self.dtype(),
            expected.argument,
            expected.element,
        );
        let error = Error::input(message);
        Err(match is_number && expected.element != ScalarType::BF16 {
            true => error.help(format!("in Python, `a.astype('{name}')` converts it")),
            false => error,
        })
    }

    /// Fails unless the file's shape fits the expected one.
    pub fn check_shape(&self, expected: &Expected) -> Result<()> {
        let fits = |(found, expected): (&i64, &Option<i64>)| expected.is_none_or(|e| e == *found);
        let same_rank = self.shape.len() == expected.shape.len();
        if same_rank && self.shape.iter().zip(expected.shape).all(fits) {
            return Ok(());
        }
        let extents: Vec<Option<i64>> = self.shape.iter().copied().map(Some).collect();
        Err(Error::input(format!(
            "'{}' has shape {}, expected {} for the argument '{}'",
            self.path.display(),
            shape_text(&extents),
            shape_text(expected.shape),
            expected.argument,
        )))
    }

    /// The elements, as `element`, which [`Npy::check_type`] has accepted.
    pub fn data(mut self, element: ScalarType) -> Result<Tensor> {
        let bytes = self.check_length(element)?;
        let mut tensor = Tensor::zeroed(element, &self.shape)?;
        let path = self.path.display().to_string();
        let failed = |error| Error::input(format!("cannot read '{path}': {error}"));
        let read = read_fully(&mut self.file, tensor.bytes_mut()).map_err(failed)?;
        if read < bytes {
            return Err(self.truncated(read as u64, &bytes.to_string()));
        }
        if read_fully(&mut self.file, &mut [0]).map_err(failed)? > 0 {
            return Err(self.too_long(&format!("more than {bytes}"), bytes));
        }
        let big = matches!(&self.dtype, DType::Plain(ty) if ty.endianness() == Endianness::Big);
        if big && element.byte_width() > 1 {
            let elements = tensor.bytes_mut().chunks_exact_mut(element.byte_width());
            elements.for_each(<[u8]>::reverse);
        }
        if element == ScalarType::I1 {
            tensor
                .bytes_mut()
                .iter_mut()
                .for_each(|byte| *byte = u8::from(*byte != 0));
        }
        match self.order {
            Order::Fortran if self.shape.len() > 1 => row_major(&tensor, self.items),
            _ => Ok(tensor),
        }
    }

    fn truncated(&self, found: u64, expected: &str) -> Error {
        Error::input(format!(
            "'{}' is truncated: found {found} bytes of data, expected {expected} ({})",
            self.path.display(),
            self.contents(),
        ))
    }

    fn too_long(&self, found: &str, expected: usize) -> Error {
        let message = format!(
            "'{}' goes on behind its array: found {found} bytes of data, expected {expected} ({})",
            self.path.display(),
            self.contents(),
        );
        Error::input(message).help(
            "save each array in a file of its own; if this is one array, its header does not \
             belong to it",
        )
    }

    /// Shape and type, for messages.
    fn contents(&self) -> String {
        let shape: Vec<Option<i64>> = self.shape.iter().copied().map(Some).collect();
        format!("{} of {}", shape_text(&shape), self.dtype())
    }
}

/// Fills `bytes` from `reader` until its end; how many bytes there were.
fn read_fully(reader: &mut impl Read, bytes: &mut [u8]) -> io::Result<usize> {
    let mut total = 0;
    while total < bytes.len() {
        match reader.read(&mut bytes[total..]) {
            Ok(0) => break,
            Ok(more) => total += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(total)
}

/// The type string an element is written with.
fn written_as(element: ScalarType) -> &'static str {
    match element {
        ScalarType::I1 => "|b1",
        ScalarType::I8 => "|i1",
        ScalarType::I16 => "<i2",
        ScalarType::I32 => "<i4",
        ScalarType::I64 | ScalarType::Index => "<i8",
        ScalarType::F16 => "<f2",
        ScalarType::BF16 => "<u2",
        ScalarType::F32 => "<f4",
        ScalarType::F64 => "<f8",
    }
}

/// Returns whether elements of a file's type are `element`s.
fn is_readable_as(found: &TypeStr, element: ScalarType) -> bool {
    let kind = match element {
        ScalarType::I1 => found.type_char() == TypeChar::Bool,
        ScalarType::BF16 => matches!(found.type_char(), TypeChar::Uint | TypeChar::RawData),
        _ if element.is_float() => found.type_char() == TypeChar::Float,
        _ => matches!(found.type_char(), TypeChar::Int | TypeChar::Uint),
    };
    kind && found.num_bytes() == Some(element.byte_width())
}

/// Returns whether NumPy converts it into any other number.
fn is_number(ty: &TypeStr) -> bool {
    use TypeChar::{Bool, Float, Int, Uint};
    matches!(ty.type_char(), Bool | Int | Uint | Float)
}

/// NumPy's name of what an element is read from.
fn numpy_name_of(element: ScalarType) -> String {
    match written_as(element).parse() {
        Ok(ty) => numpy_name(&ty),
        Err(_) => element.to_string(),
    }
}

/// NumPy's name of a type: `float32`, `big-endian int64`.
fn numpy_name(ty: &TypeStr) -> String {
    let name = match ty.type_char() {
        TypeChar::Bool => return "bool".to_string(),
        TypeChar::Int => "int",
        TypeChar::Uint => "uint",
        TypeChar::Float => "float",
        TypeChar::Complex => "complex",
        TypeChar::Object => return "Python objects".to_string(),
        TypeChar::ByteStr | TypeChar::UnicodeStr => return "strings".to_string(),
        TypeChar::TimeDelta | TypeChar::DateTime => return "times".to_string(),
        _ => return format!("raw data ({ty})"),
    };
    let order = match ty.endianness() {
        Endianness::Big => "big-endian ",
        _ => "",
    };
    format!("{order}{name}{}", ty.num_bytes().unwrap_or(0) * 8)
}

/// `8x5`, with `?` for an extent that may be anything; a scalar is `()`.
fn shape_text(shape: &[Option<i64>]) -> String {
    if shape.is_empty() {
        return "()".to_string();
    }
    let extent = |extent: &Option<i64>| extent.map_or("?".to_string(), |e| e.to_string());
    shape.iter().map(extent).collect::<Vec<_>>().join("x")
}

/// The array whose elements `fortran` holds in column-major order.
fn row_major(fortran: &Tensor, items: Items) -> Result<Tensor> {
    let mut tensor = Tensor::zeroed(fortran.element(), fortran.shape())?;
    let mut shape: Vec<usize> = fortran
        .shape()
        .iter()
        .map(|&extent| extent as usize)
        .collect();
    let mut width = fortran.element().byte_width();
    let (source, target) = (fortran.bytes(), tensor.bytes_mut());
    if items == Items::Pairs {
        shape.pop();
        width *= 2;
        if shape.len() < 2 {
            target.copy_from_slice(source);
            return Ok(tensor);
        }
    }
    match width {
        1 => reorder::<1>(source, target, &shape),
        2 => reorder::<2>(source, target, &shape),
        4 => reorder::<4>(source, target, &shape),
        16 => reorder::<16>(source, target, &shape),
        _ => reorder::<8>(source, target, &shape),
    }
    Ok(tensor)
}

/// Column-major to row-major, elements of `N` bytes, at least two dimensions.
///
/// For each index of the middle dimensions this transposes a matrix of the first (contiguous in
/// the source) and the last (contiguous in the target), in blocks that fit the cache.
fn reorder<const N: usize>(source: &[u8], target: &mut [u8], shape: &[usize]) {
    const BLOCK: usize = 16;
    let (source, target) = (source.as_chunks::<N>().0, target.as_chunks_mut::<N>().0);
    if source.is_empty() {
        return;
    }
    let (first, last) = (shape[0], shape[shape.len() - 1]);
    let (rows, columns) = (source.len() / first, source.len() / last);
    let middle = &shape[1..shape.len() - 1];
    for m in 0..middle.iter().product() {
        let (from, to) = middle_offsets(m, middle, first, last);
        for i0 in (0..first).step_by(BLOCK) {
            for j0 in (0..last).step_by(BLOCK) {
                for i in i0..first.min(i0 + BLOCK) {
                    for j in j0..last.min(j0 + BLOCK) {
                        target[to + i * rows + j] = source[from + i + j * columns];
                    }
                }
            }
        }
    }
}

/// Returns the offsets of the `m`-th index of the middle dimensions in column-major and in
/// row-major order.
fn middle_offsets(m: usize, middle: &[usize], first: usize, last: usize) -> (usize, usize) {
    let mut rest = m;
    let (mut from, mut to) = (0, 0);
    let mut row_major_stride = last;
    let mut column_major_stride = first * middle.iter().product::<usize>();
    for &extent in middle.iter().rev() {
        column_major_stride /= extent;
        from += rest % extent * column_major_stride;
        to += rest % extent * row_major_stride;
        rest /= extent;
        row_major_stride *= extent;
    }
    (from, to)
}

#[cfg(test)]
#[path = "npy_tests.rs"]
mod tests;
