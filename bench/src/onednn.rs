//! oneDNN, called directly: products, convolutions, softmax and transposition.
//!
//! Inputs and results stay in the program's own formats. Only the weights of a convolution are
//! brought into the format that the library likes best for them, before anything is timed: who
//! applies a network does so once. Torch's convolutions have the same kernels, but pay for it in
//! every call.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::rc::Rc;

use mdh_algebra::scalar::ScalarType;

use super::dnnl::*;
use super::library::{Library, Runs, Task};

/// Operand of a primitive: its role, its layout and its address.
struct Operand {
    role: c_int,
    layout: Object,
    at: *mut c_void,
}

/// Parameters of a convolution.
struct Convolution {
    images: i64,
    /// Filters, and channels that each of them reads.
    channels: [i64; 2],
    /// Height and width of the result.
    size: [i64; 2],
    /// Height and width of a filter.
    window: [i64; 2],
    stride: i64,
    /// Zeros above an image and left of it. Around an image that has some, there are as many below it and right
    /// of it as it takes with an image that is `stride` times as large as the result.
    around: [i64; 2],
    /// The order of an image's dimensions (image, channel, row, column) in memory; that of the
    /// filters is the same.
    order: [usize; 4],
}

/// The orders of an image's dimensions.
const CHANNELS_FIRST: [usize; 4] = [0, 1, 2, 3];
const CHANNELS_LAST: [usize; 4] = [0, 2, 3, 1];

// SAFETY of the functions below: the types are those of the C interface, and addresses are those
// of arrays as large as the layouts say, by the contract of `Library::prepare`.
impl OneDnn {
    /// The same, on operands.
    unsafe fn runs_on(&self, described: &Object, operands: &[Operand]) -> Option<Runs<'_>> {
        // SAFETY: as said above.
        unsafe {
            let memory = |o: &Operand| Some((o.role, self.memory(o.layout.handle(), o.at)?));
            let on = operands.iter().map(memory).collect::<Option<_>>()?;
            self.runs(described, on)
        }
    }

    /// An operand whose dimensions lie in memory in this order.
    unsafe fn operand(
        &self,
        role: c_int,
        at: *const f32,
        dims: &[i64],
        order: &[usize],
    ) -> Option<Operand> {
        // SAFETY: as said above.
        let layout = unsafe { self.layout(dims, order)? };
        let at = at.cast_mut().cast();
        Some(Operand { role, layout, at })
    }

    /// `C = A * B` for matrices in row-major order, each of them `batch` times.
    unsafe fn product(
        &self,
        batch: &[i64],
        [m, n, k]: [i64; 3],
        [a, b, c]: [*const f32; 3],
    ) -> Option<Runs<'_>> {
        let order: Vec<usize> = (0..batch.len() + 2).collect();
        let dims = |last: [i64; 2]| [batch, &last].concat();
        // SAFETY: as said above.
        unsafe {
            let operands = [
                self.operand(SOURCE, a, &dims([m, k]), &order)?,
                self.operand(WEIGHTS, b, &dims([k, n]), &order)?,
                self.operand(RESULT, c, &dims([m, n]), &order)?,
            ];
            let [a, b, c] = operands.each_ref().map(|o| o.layout.handle());
            let name = b"dnnl_matmul_primitive_desc_create\0";
            let described = self.described(name, |create: MakeMatmul, at| {
                create(at, self.engine.handle(), a, b, null_mut(), c, null_mut())
            })?;
            self.runs_on(&described, &operands)
        }
    }

    /// A copy in another layout.
    unsafe fn copy(&self, [from, to]: [Handle; 2], [x, y]: [Rc<Object>; 2]) -> Option<Runs<'_>> {
        let engine = self.engine.handle();
        // SAFETY: as said above.
        unsafe {
            let name = b"dnnl_reorder_primitive_desc_create\0";
            let described = self.described(name, |create: MakeReorder, at| {
                create(at, from, engine, to, engine, null_mut())
            })?;
            self.runs(&described, vec![(SOURCE, x), (RESULT, y)])
        }
    }

    /// A matrix, copied transposed.
    unsafe fn transpose(&self, dims: &[i64; 2], x: *const f32, y: *const f32) -> Option<Runs<'_>> {
        // SAFETY: as said above.
        unsafe {
            let (from, to) = (self.layout(dims, &[0, 1])?, self.layout(dims, &[1, 0])?);
            let arrays = [
                self.memory(from.handle(), x.cast_mut().cast())?,
                self.memory(to.handle(), y.cast_mut().cast())?,
            ];
            self.copy([from.handle(), to.handle()], arrays)
        }
    }

    /// The softmax of each row.
    unsafe fn softmax(&self, dims: &[i64; 2], x: *const f32, y: *const f32) -> Option<Runs<'_>> {
        // SAFETY: as said above.
        unsafe {
            let operands = [
                self.operand(SOURCE, x, dims, &[0, 1])?,
                self.operand(RESULT, y, dims, &[0, 1])?,
            ];
            let [x, y] = operands.each_ref().map(|o| o.layout.handle());
            let (engine, none) = (self.engine.handle(), null_mut());
            let name = b"dnnl_softmax_forward_primitive_desc_create\0";
            let described = self.described(name, |create: MakeSoftmax, at| {
                create(at, engine, INFERENCE, ACCURATE, x, y, 1, none)
            })?;
            self.runs_on(&described, &operands)
        }
    }

    /// A convolution; its weights are reordered here, before it runs.
    unsafe fn convolution(
        &self,
        case: &Convolution,
        [image, filter, out]: [*const f32; 3],
    ) -> Option<Runs<'_>> {
        let Convolution {
            images,
            channels: [k, c],
            size: [p, q],
            window: [r, s],
            around: [above, left],
            ..
        } = *case;
        let (t, order) = (case.stride, &case.order);
        let (high, wide) = ((p - 1) * t + r, (q - 1) * t + s);
        let [rows, columns] = match case.around {
            [0, 0] => [high, wide],
            _ => [t * p, t * q],
        };
        let extents = [images, c, rows, columns];
        let behind = [high - above - rows, wide - left - columns];
        // SAFETY: as said above.
        unsafe {
            let image = self.operand(SOURCE, image, &extents, order)?;
            let out = self.operand(RESULT, out, &[images, k, p, q], order)?;
            let filter = self.operand(SOURCE, filter, &[k, c, r, s], order)?;
            let best = self.any_layout(&[k, c, r, s])?;
            let (x, w, y) = (image.layout.handle(), best.handle(), out.layout.handle());
            let (engine, none) = (self.engine.handle(), null_mut());
            let (strides, zeros) = ([t, t], [0i64, 0]);
            let (by, zero) = (strides.as_ptr(), zeros.as_ptr());
            let (before, behind) = (case.around.as_ptr(), behind.as_ptr());
            let name = b"dnnl_convolution_forward_primitive_desc_create\0";
            let described = self.described(name, |create: MakeConvolution, at| {
                create(
                    at, engine, INFERENCE, DIRECT, x, w, none, y, by, zero, before, behind, none,
                )
            })?;
            let chosen = self.weights(&described)?;
            let weights = self.memory(chosen, ALLOCATE)?;
            let plain = self.memory(filter.layout.handle(), filter.at)?;
            self.copy(
                [filter.layout.handle(), chosen],
                [plain, Rc::clone(&weights)],
            )?();
            let on = vec![
                (SOURCE, self.memory(x, image.at)?),
                (WEIGHTS, weights),
                (RESULT, self.memory(y, out.at)?),
            ];
            self.runs(&described, on)
        }
    }
}

impl Library for OneDnn {
    unsafe fn prepare(&self, task: &Task) -> Option<Runs<'_>> {
        if task.element != ScalarType::F32 {
            return None;
        }
        let dim = |name: &str| task.dim(name);
        let (first, last) = (*task.inputs.first()?, *task.inputs.last()?);
        let out = task.outputs.first()?.cast_const();
        // SAFETY: by this function's contract.
        unsafe {
            match task.workload {
                "matvec" => self.product(&[], [dim("i"), 1, dim("k")], [first, last, out]),
                "matmul" => self.product(&[], [dim("i"), dim("j"), dim("k")], [first, last, out]),
                // The transposed product is the product of the transposed ones in the other order.
                "matmul_t" => self.product(&[], [dim("j"), dim("i"), dim("k")], [last, first, out]),
                "bmatmul" => {
                    let size = [dim("i"), dim("j"), dim("k")];
                    self.product(&[dim("b")], size, [first, last, out])
                }
                "conv2d" | "conv2d_padded" | "mcc" | "mcc_padded" => {
                    self.convolution(&Convolution::of(task), [first, last, out])
                }
                "softmax" => self.softmax(&[dim("i"), dim("j")], first, out),
                "transpose" => self.transpose(&[dim("i"), dim("j")], first, out),
                _ => None,
            }
        }
    }
}

impl Convolution {
    /// The convolution of a case; what it has no dimension for is 1.
    fn of(task: &Task) -> Convolution {
        let dim = |name: &str| task.dim(name);
        let layout = task.texts.get("layout").map(String::as_str);
        Convolution {
            images: dim("n"),
            channels: [dim("k"), dim("c")],
            size: [dim("p"), dim("q")],
            window: [dim("r"), dim("s")],
            stride: dim("t"),
            around: match task.workload.ends_with("_padded") {
                true => [dim("r") / 2, dim("s") / 2],
                false => [0, 0],
            },
            order: match layout {
                Some("nchw") => CHANNELS_FIRST,
                _ => CHANNELS_LAST,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Runs a workload on small whole numbers, on which single precision is exact.
    fn run(
        library: &OneDnn,
        workload: &str,
        dims: &[(&str, i64)],
        sizes: [usize; 3],
    ) -> [Vec<f32>; 3] {
        let numbers = |count: usize| (0..count).map(|n| (n % 7) as f32 - 3.0).collect::<Vec<_>>();
        let (a, b, mut out) = (
            numbers(sizes[0]),
            numbers(sizes[1]),
            vec![f32::NAN; sizes[2]],
        );
        let task = Task {
            workload,
            dims: &dims
                .iter()
                .map(|(name, n)| (name.to_string(), *n))
                .collect(),
            texts: &BTreeMap::new(),
            element: ScalarType::F32,
            inputs: vec![a.as_ptr(), b.as_ptr()],
            outputs: vec![out.as_mut_ptr()],
        };
        // SAFETY: the arrays are as large as the dimensions say.
        let mut runs = unsafe { library.prepare(&task) }.unwrap();
        runs();
        drop(runs);
        [a, b, out]
    }

    /// Checks: where oneDNN is installed: each kind of workload, by its definition.
    #[test]
    fn an_installed_library_computes() {
        let Ok(library) = open() else { return };
        let dims = [("b", 2), ("i", 3), ("j", 4), ("k", 5)];
        let [a, b, out] = run(&library, "bmatmul", &dims, [30, 40, 24]);
        for (at, found) in out.iter().enumerate() {
            let (n, i, j) = (at / 12, at / 4 % 3, at % 4);
            let sum: f32 = (0..5)
                .map(|k| a[n * 15 + i * 5 + k] * b[n * 20 + k * 4 + j])
                .sum();
            assert_eq!(*found, sum, "{n}, {i}, {j}");
        }
        let dims = [
            ("p", 2),
            ("q", 3),
            ("k", 2),
            ("r", 2),
            ("s", 3),
            ("c", 3),
            ("t", 2),
        ];
        let [image, filter, out] = run(&library, "mcc", &dims, [4 * 7 * 3, 2 * 2 * 3 * 3, 12]);
        for (at, found) in out.iter().enumerate() {
            let (p, q, k) = (at / 6, at / 2 % 3, at % 2);
            let term = |n: usize| {
                let (r, s, c) = (n / 9, n / 3 % 3, n % 3);
                let point = image[((2 * p + r) * 7 + 2 * q + s) * 3 + c];
                point * filter[((k * 2 + r) * 3 + s) * 3 + c]
            };
            assert_eq!(*found, (0..18).map(term).sum::<f32>(), "{p}, {q}, {k}");
        }
        let dims = [("p", 3), ("q", 4), ("r", 3), ("s", 5)];
        let [image, filter, out] = run(&library, "conv2d_padded", &dims, [12, 15, 12]);
        for (at, found) in out.iter().enumerate() {
            let term = |n: usize| {
                let (p, q) = (
                    (at / 4 + n / 5).checked_sub(1),
                    (at % 4 + n % 5).checked_sub(2),
                );
                let inside = p.zip(q).filter(|(p, q)| *p < 3 && *q < 4);
                inside.map_or(0.0, |(p, q)| image[p * 4 + q] * filter[n])
            };
            assert_eq!(*found, (0..15).map(term).sum::<f32>(), "{at}");
        }
        let [x, _, y] = run(&library, "transpose", &[("i", 2), ("j", 3)], [6, 0, 6]);
        assert_eq!(y, [x[0], x[3], x[1], x[4], x[2], x[5]]);
        let [_, _, y] = run(&library, "softmax", &[("i", 3), ("j", 5)], [15, 0, 15]);
        let totals: Vec<f32> = y.chunks(5).map(|row| row.iter().sum()).collect();
        assert!(
            totals.iter().all(|total| (total - 1.0).abs() < 1e-5),
            "{totals:?}"
        );
    }
}
