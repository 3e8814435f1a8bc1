//! Words of a call, made of arrays and numbers that are checked against the interface of the code.
//!
//! ```text
//! arrays --Words--> addresses, extents, strides --Loaded::call--> results
//! ```

use mdh_jit::interface::{Access, Buffer, BufferLayout, Extent, Interface, ParameterKind, Term};

use crate::library::arrays::{Array, ArrayPlace};

/// Mistake in an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// Extents or strides.
    Shape,
    /// The memory is elsewhere.
    Device,
}

/// A wrong argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The part of it that is wrong.
    pub mistake: Mistake,
    /// The message: found, expected, where.
    pub message: String,
}

/// Words of a call, as far as they are known: of the parameters in their order.
pub struct Words<'f> {
    interface: &'f Interface,
    words: Vec<u64>,
    /// The position of each parameter's first word.
    starts: Vec<usize>,
    /// The place of the arrays.
    place: Option<ArrayPlace>,
}

impl<'f> Words<'f> {
    /// No words yet.
    pub fn new(interface: &'f Interface) -> Words<'f> {
        Words {
            interface,
            words: Vec::with_capacity(4 * interface.parameters.len()),
            starts: Vec::with_capacity(interface.parameters.len()),
            place: None,
        }
    }

    /// The words: all of a call, if each parameter has been given.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The place of the arrays, if there has been one.
    pub fn place(&self) -> Option<ArrayPlace> {
        self.place
    }

    /// A parameter in messages: `f: argument 2 ('x')`.
    pub fn position(&self, number: usize) -> String {
        let interface = self.interface;
        let name = &interface.parameters[number].name;
        let what = match number < interface.inputs() {
            true => format!("argument {}", number + 1),
            false => format!("result {}", number + 1 - interface.inputs()),
        };
        format!("{}: {what} ('{name}')", interface.name)
    }

    /// Checks that a parameter's array is where the others are.
    ///
    /// # Errors
    /// If it is elsewhere.
    pub fn expect_place(&mut self, number: usize, array: &Array) -> Result<(), Wrong> {
        let place = *self.place.get_or_insert(array.place);
        match array.place == place {
            true => Ok(()),
            false => Err(Wrong {
                mistake: Mistake::Device,
                message: format!(
                    "{}: found an array in {}, expected one in {place}, where the first one is",
                    self.position(number),
                    array.place
                ),
            }),
        }
    }

    /// Gives the next parameter a word: a scalar's value, or the address of a scalar result.
    pub fn value(&mut self, word: u64) {
        self.starts.push(self.words.len());
        self.words.push(word);
    }

    /// Gives the next parameter, whose buffer this is, an array.
    ///
    /// # Errors
    /// If its extents or strides are others.
    pub fn array(&mut self, buffer: &Buffer, array: &Array) -> Result<(), Wrong> {
        let number = self.starts.len();
        let checked = expect_shape(buffer, array);
        let checked = checked.and_then(|()| expect_strides(buffer, array));
        checked.map_err(|message| Wrong {
            mistake: Mistake::Shape,
            message: format!("{}: {message}", self.position(number)),
        })?;
        self.value(array.address);
        for (extent, given) in buffer.extents.iter().zip(array.shape.numbers()) {
            if matches!(extent, Extent::Given(_)) {
                self.words.push(*given as u64);
            }
        }
        if let BufferLayout::Strided { strides, .. } = &buffer.layout {
            for (stride, given) in strides.iter().zip(array.strides.numbers()) {
                if stride.is_none() {
                    self.words.push(*given as u64);
                }
            }
        }
        Ok(())
    }

    /// The shape of a result, which may follow from the arguments; none where it does not.
    pub fn shape(&self, buffer: &Buffer) -> Option<Vec<i64>> {
        let term = |term: Term| match term {
            Term::Extent { parameter, axis } => self.extent(parameter, axis),
            Term::Value(parameter) => {
                let word = *self.words.get(*self.starts.get(parameter)?)?;
                Some(word as i64)
            }
            Term::Number(n) => Some(n),
            Term::Operation(_) => None,
        };
        let extent = |extent: &Extent| match extent {
            Extent::Fixed(n) => Some(*n as i64),
            Extent::Given(Some(formula)) => formula.value(term),
            Extent::Given(None) => None,
        };
        buffer.extents.iter().map(extent).collect()
    }

    /// An extent of a parameter that has its words.
    fn extent(&self, number: usize, axis: usize) -> Option<i64> {
        let parameter = self.interface.parameters.get(number)?;
        let ParameterKind::Buffer(buffer) = &parameter.kind else {
            return None;
        };
        match buffer.extents.get(axis)? {
            Extent::Fixed(n) => Some(*n as i64),
            Extent::Given(_) => {
                let is_given = |extent: &&Extent| matches!(extent, Extent::Given(_));
                let before = buffer.extents[..axis].iter().filter(is_given).count();
                let word = self.words.get(self.starts.get(number)? + 1 + before)?;
                Some(*word as i64)
            }
        }
    }
}

/// Checks that an array's extents are a buffer's.
fn expect_shape(buffer: &Buffer, array: &Array) -> Result<(), String> {
    let shape = array.shape.numbers();
    let is_fixed = |(extent, given): (&Extent, &i64)| match extent {
        Extent::Fixed(n) => *given as u64 == *n,
        Extent::Given(_) => true,
    };
    let is_right =
        shape.len() == buffer.extents.len() && buffer.extents.iter().zip(shape).all(is_fixed);
    if is_right {
        return Ok(());
    }
    let extents = buffer.extents.iter().map(|extent| match extent {
        Extent::Fixed(n) => n.to_string(),
        Extent::Given(_) => "?".to_string(),
    });
    Err(format!(
        "found shape {}, expected {}",
        shape_text(shape.iter()),
        shape_text(extents)
    ))
}

/// Checks that an array's elements lie as a buffer's do, which has as many axes.
fn expect_strides(buffer: &Buffer, array: &Array) -> Result<(), String> {
    let given = array.strides.numbers();
    match &buffer.layout {
        BufferLayout::Rows if array.is_row_major() => Ok(()),
        BufferLayout::Rows => {
            let why = match buffer.access {
                Access::Read => "",
                Access::Written | Access::Changed => ", since it is written in place",
            };
            Err(format!(
                "found strides {given:?} (in elements), expected an array in row-major order{why}"
            ))
        }
        BufferLayout::Strided { strides, .. } => {
            let shape = array.shape.numbers();
            let mut fixed = strides.iter().enumerate();
            let wrong = fixed.find_map(|(axis, stride)| {
                let expected = (*stride)?;
                let is_other = expected != given[axis] && shape[axis] > 1;
                is_other.then_some((axis, expected))
            });
            wrong.map_or(Ok(()), |(axis, expected)| {
                let steps = given[axis];
                Err(format!(
                    "found stride {steps} (in elements) along axis {axis}, expected {expected}"
                ))
            })
        }
    }
}

/// A shape as Python writes it.
fn shape_text<T: ToString>(extents: impl Iterator<Item = T>) -> String {
    let extents: Vec<String> = extents.map(|extent| extent.to_string()).collect();
    match &extents[..] {
        [only] => format!("({only},)"),
        several => format!("({})", several.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::arrays::{Axes, NumberType};

    const TEXT: &str = "f 1\nbuffer x f32 read ? 8 rows\nvalue n i64\nbuffer m f32 changed 4 2 strides 0 ? 2\n\
                        buffer w f32 written ?=0.0,v1,mul rows";

    fn array(shape: &[i64], strides: &[i64], place: ArrayPlace) -> Array {
        Array {
            address: 64,
            number: NumberType::OTHER,
            shape: Axes::new(shape.len(), |axis| shape[axis]),
            strides: Axes::new(strides.len(), |axis| strides[axis]),
            place,
        }
    }

    fn buffer(interface: &Interface, number: usize) -> &Buffer {
        match &interface.parameters[number].kind {
            ParameterKind::Buffer(buffer) => buffer,
            kind => panic!("{kind:?} is no buffer"),
        }
    }

    #[test]
    fn words_and_shapes() {
        let interface: Interface = TEXT.parse().unwrap();
        let mut words = Words::new(&interface);
        let x = array(&[5, 8], &[8, 1], ArrayPlace::Host);
        words.expect_place(0, &x).unwrap();
        words.array(buffer(&interface, 0), &x).unwrap();
        words.value(3);
        let m = array(&[4, 2], &[7, 2], ArrayPlace::Host);
        words.array(buffer(&interface, 2), &m).unwrap();
        assert_eq!(words.words(), [64, 5, 3, 64, 7]);
        assert_eq!(words.shape(buffer(&interface, 3)), Some(vec![15]));
        assert_eq!(words.place(), Some(ArrayPlace::Host));
    }

    #[test]
    fn wrong_arrays() {
        let interface: Interface = TEXT.parse().unwrap();
        let mut words = Words::new(&interface);
        let mut wrong = |number: usize, shape: &[i64], strides: &[i64]| {
            let array = array(shape, strides, ArrayPlace::Host);
            let wrong = words.array(buffer(&interface, number), &array).unwrap_err();
            assert_eq!(wrong.mistake, Mistake::Shape);
            wrong.message
        };
        assert_eq!(
            wrong(0, &[5, 7], &[7, 1]),
            "f: argument 1 ('x'): found shape (5, 7), expected (?, 8)"
        );
        assert_eq!(
            wrong(0, &[5, 8], &[1, 5]),
            "f: argument 1 ('x'): found strides [1, 5] (in elements), expected an array in row-major order"
        );
        assert_eq!(
            wrong(2, &[4, 2], &[2, 1]),
            "f: argument 1 ('x'): found stride 1 (in elements) along axis 1, expected 2"
        );
        let [host, gpu] = [ArrayPlace::Host, ArrayPlace::Cuda(1)].map(|at| array(&[], &[], at));
        words.expect_place(0, &host).unwrap();
        let wrong = words.expect_place(2, &gpu).unwrap_err();
        assert_eq!(wrong.mistake, Mistake::Device);
        assert_eq!(
            wrong.message,
            "f: argument 3 ('m'): found an array in the memory of GPU 1, expected one in the processor's memory, \
             where the first one is"
        );
    }
}
