//! Libraries with the C interface of the BLAS: OpenBLAS and Intel's MKL.

use std::ffi::c_int;
use std::path::PathBuf;

use libloading::Symbol;
use mdh_algebra::scalar::ScalarType;

use super::library::{Library, Runs, Task};
use super::peers;

/// A library and its path.
#[derive(Clone, Copy)]
pub struct Which {
    /// Its file, as the system's loader finds it.
    file: &'static str,
    /// Pattern of its path in the peers' environment.
    pattern: &'static str,
    /// The function that copies a matrix transposed, and how it wants its first arguments.
    transpose: (&'static [u8], Marks),
    /// A function for a batch of products, if there is one.
    batch: Option<&'static [u8]>,
}

/// Convention for the order of a matrix, and for its transposition.
#[derive(Clone, Copy)]
enum Marks {
    /// Numbers, as in the rest of the interface.
    Numbers,
    /// Letters.
    Letters,
}

/// Debian's OpenBLAS.
pub const OPENBLAS: Which = Which {
    file: "libopenblas.so.0",
    pattern: "libopenblas.so",
    transpose: (b"cblas_somatcopy\0", Marks::Numbers),
    batch: None,
};

/// Intel's MKL.
pub const MKL: Which = Which {
    file: "libmkl_rt.so",
    pattern: "libmkl_rt.so",
    transpose: (b"MKL_Somatcopy\0", Marks::Letters),
    batch: Some(b"cblas_sgemm_batch_strided\0"),
};

/// A loaded library.
pub struct Blas {
    library: libloading::Library,
    which: Which,
}

/// Loads a library; the text says why it is not to be had.
pub fn open(which: Which) -> Result<Blas, String> {
    let library = load(which.file, which.pattern)?;
    Ok(Blas { library, which })
}

/// Loads a library by its file's name, from the system or from the peers' environment.
pub fn load(file: &str, pattern: &str) -> Result<libloading::Library, String> {
    let candidates = [Some(PathBuf::from(file)), in_environment(pattern)];
    let mut why = String::new();
    for candidate in candidates.into_iter().flatten() {
        // SAFETY: these libraries do nothing but prepare themselves when they are loaded.
        match unsafe { libloading::Library::new(&candidate) } {
            Ok(library) => return Ok(library),
            Err(error) => why = format!("{} cannot be loaded: {error}", candidate.display()),
        }
    }
    Err(why)
}

/// The newest library of the peers' environment whose name begins so.
fn in_environment(pattern: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(peers::environment().join("lib")).ok()?;
    let paths = entries.flatten().map(|entry| entry.path());
    let is_it = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with(pattern))
    };
    paths.filter(is_it).max()
}

const ROW_MAJOR: c_int = 101;
const PLAIN: c_int = 111;
const TRANSPOSED: c_int = 112;

type Dot = unsafe extern "C" fn(c_int, *const f32, c_int, *const f32, c_int) -> f32;
type Gemv = unsafe extern "C" fn(
    c_int,
    c_int,
    c_int,
    c_int,
    f32,
    *const f32,
    c_int,
    *const f32,
    c_int,
    f32,
    *mut f32,
    c_int,
);
type Gemm<T> = unsafe extern "C" fn(
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    T,
    *const T,
    c_int,
    *const T,
    c_int,
    T,
    *mut T,
    c_int,
);
type Batch = unsafe extern "C" fn(
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    f32,
    *const f32,
    c_int,
    c_int,
    *const f32,
    c_int,
    c_int,
    f32,
    *mut f32,
    c_int,
    c_int,
    c_int,
);
type ByNumbers =
    unsafe extern "C" fn(c_int, c_int, c_int, c_int, f32, *const f32, c_int, *mut f32, c_int);
type ByLetters =
    unsafe extern "C" fn(i8, i8, usize, usize, f32, *const f32, usize, *mut f32, usize);

/// A type that there are products for.
trait Number: Copy + 'static {
    const GEMM: &'static [u8];
    const ONE: Self;
    const ZERO: Self;
}

impl Number for f32 {
    const GEMM: &'static [u8] = b"cblas_sgemm\0";
    const ONE: f32 = 1.0;
    const ZERO: f32 = 0.0;
}

impl Number for f64 {
    const GEMM: &'static [u8] = b"cblas_dgemm\0";
    const ONE: f64 = 1.0;
    const ZERO: f64 = 0.0;
}

impl Blas {
    /// A function of the library.
    ///
    /// # Safety
    /// The function of that name has the type `F`.
    unsafe fn function<F: Copy>(&self, name: &[u8]) -> Option<F> {
        // SAFETY: by this function's contract; the library is never closed while it is used.
        let symbol: Symbol<F> = unsafe { self.library.get(name) }.ok()?;
        Some(*symbol)
    }

    /// `C = A * B` for matrices in row-major order.
    ///
    /// # Safety
    /// As for [`Library::prepare`].
    unsafe fn product<T: Number>(
        &self,
        [m, n, k]: [c_int; 3],
        [a, b]: [*const T; 2],
        c: *mut T,
    ) -> Option<Runs<'_>> {
        // SAFETY: this is the type of the C interface.
        let gemm: Gemm<T> = unsafe { self.function(T::GEMM)? };
        let (one, zero) = (T::ONE, T::ZERO);
        Some(Box::new(move || {
            // SAFETY: the arrays are as large as the numbers say.
            unsafe {
                gemm(
                    ROW_MAJOR, PLAIN, PLAIN, m, n, k, one, a, k, b, n, zero, c, n,
                )
            };
        }))
    }

    /// The products of a batch.
    ///
    /// # Safety
    /// As for [`Library::prepare`].
    unsafe fn batch(
        &self,
        batch: c_int,
        [m, n, k]: [c_int; 3],
        at: [*const f32; 2],
        c: *mut f32,
    ) -> Option<Runs<'_>> {
        let [a, b] = at;
        if let Some(name) = self.which.batch {
            // SAFETY: this is the type of the C interface.
            let all: Batch = unsafe { self.function(name)? };
            return Some(Box::new(move || {
                // SAFETY: the arrays are as large as the numbers say.
                unsafe {
                    all(
                        ROW_MAJOR,
                        PLAIN,
                        PLAIN,
                        m,
                        n,
                        k,
                        1.0,
                        a,
                        k,
                        m * k,
                        b,
                        n,
                        k * n,
                        0.0,
                        c,
                        n,
                        m * n,
                        batch,
                    );
                }
            }));
        }
        // SAFETY: this is the type of the C interface.
        let gemm: Gemm<f32> = unsafe { self.function(f32::GEMM)? };
        Some(Box::new(move || {
            for i in 0..batch as usize {
                let (m1, n1, k1) = (m as usize, n as usize, k as usize);
                // SAFETY: the arrays are as large as the numbers say.
                unsafe {
                    let (a, b, c) = (a.add(i * m1 * k1), b.add(i * k1 * n1), c.add(i * m1 * n1));
                    gemm(ROW_MAJOR, PLAIN, PLAIN, m, n, k, 1.0, a, k, b, n, 0.0, c, n);
                }
            }
        }))
    }

    /// A matrix of `rows` x `columns`, copied transposed.
    ///
    /// # Safety
    /// As for [`Library::prepare`].
    unsafe fn transpose(
        &self,
        [rows, columns]: [c_int; 2],
        x: *const f32,
        y: *mut f32,
    ) -> Option<Runs<'_>> {
        let (name, marks) = self.which.transpose;
        match marks {
            Marks::Numbers => {
                // SAFETY: this is the type of OpenBLAS' function.
                let copy: ByNumbers = unsafe { self.function(name)? };
                Some(Box::new(move || {
                    // SAFETY: the arrays are as large as the numbers say.
                    unsafe {
                        copy(
                            ROW_MAJOR, TRANSPOSED, rows, columns, 1.0, x, columns, y, rows,
                        )
                    };
                }))
            }
            Marks::Letters => {
                // SAFETY: this is the type of MKL's function.
                let copy: ByLetters = unsafe { self.function(name)? };
                let (rows, columns) = (rows as usize, columns as usize);
                Some(Box::new(move || {
                    // SAFETY: the arrays are as large as the numbers say.
                    unsafe {
                        copy(
                            b'R' as i8, b'T' as i8, rows, columns, 1.0, x, columns, y, rows,
                        )
                    };
                }))
            }
        }
    }
}

impl Library for Blas {
    unsafe fn prepare(&self, task: &Task) -> Option<Runs<'_>> {
        let dim = |name: &str| c_int::try_from(task.dim(name)).ok();
        let (first, last) = (*task.inputs.first()?, *task.inputs.last()?);
        let out = *task.outputs.first()?;
        if task.element == ScalarType::F64 && task.workload == "matmul" {
            let (sizes, at) = (
                [dim("i")?, dim("j")?, dim("k")?],
                [first.cast(), last.cast()],
            );
            // SAFETY: by this function's contract.
            return unsafe { self.product::<f64>(sizes, at, out.cast()) };
        }
        if task.element != ScalarType::F32 {
            return None;
        }
        // SAFETY: by this function's contract; the types are those of the C interface.
        unsafe {
            match task.workload {
                "dot" => {
                    let (n, dot) = (dim("i")?, self.function::<Dot>(b"cblas_sdot\0")?);
                    Some(Box::new(move || *out = dot(n, first, 1, last, 1)))
                }
                "matvec" => {
                    let (m, k, gemv) = (
                        dim("i")?,
                        dim("k")?,
                        self.function::<Gemv>(b"cblas_sgemv\0")?,
                    );
                    Some(Box::new(move || {
                        gemv(ROW_MAJOR, PLAIN, m, k, 1.0, first, k, last, 1, 0.0, out, 1)
                    }))
                }
                "matmul" => self.product([dim("i")?, dim("j")?, dim("k")?], [first, last], out),
                // The transposed product is the product of the transposed ones in the other order.
                "matmul_t" => self.product([dim("j")?, dim("i")?, dim("k")?], [last, first], out),
                "bmatmul" => self.batch(
                    dim("b")?,
                    [dim("i")?, dim("j")?, dim("k")?],
                    [first, last],
                    out,
                ),
                "transpose" => self.transpose([dim("i")?, dim("j")?], first, out),
                _ => None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn libraries_that_are_missing_are_named() {
        let missing = Which {
            file: "libno-such-blas.so.7",
            pattern: "libno-such-blas.so",
            ..OPENBLAS
        };
        let why = open(missing).err().unwrap();
        assert!(why.contains("libno-such-blas.so.7"), "{why}");
    }

    /// Checks: where OpenBLAS is installed: products and a transposition, by their definition.
    #[test]
    fn an_installed_library_computes() {
        let Ok(blas) = open(OPENBLAS) else { return };
        let (a, b): (Vec<f32>, Vec<f32>) = (
            (0..6).map(|n| n as f32).collect(),
            (0..12).map(|n| n as f32).collect(),
        );
        let mut c = vec![0f32; 12];
        let run = |workload: &str, dims: &[(&str, i64)], out: &mut Vec<f32>| {
            let task = Task {
                workload,
                dims: &dims
                    .iter()
                    .map(|(name, n)| (name.to_string(), *n))
                    .collect::<BTreeMap<_, _>>(),
                texts: &BTreeMap::new(),
                element: ScalarType::F32,
                inputs: vec![a.as_ptr(), b.as_ptr()],
                outputs: vec![out.as_mut_ptr()],
            };
            // SAFETY: the arrays are as large as the dimensions say.
            let mut runs = unsafe { blas.prepare(&task) }.unwrap();
            runs();
        };
        run("matmul", &[("i", 2), ("j", 4), ("k", 3)], &mut c);
        let at = |i: usize, j: usize| (0..3).map(|k| a[i * 3 + k] * b[k * 4 + j]).sum::<f32>();
        let expected: Vec<f32> = (0..8).map(|n| at(n / 4, n % 4)).collect();
        assert_eq!(c[..8], expected);
        run("matmul_t", &[("i", 2), ("j", 4), ("k", 3)], &mut c);
        let at = |j: usize, i: usize| (0..3).map(|k| a[k * 2 + i] * b[j * 3 + k]).sum::<f32>();
        let expected: Vec<f32> = (0..8).map(|n| at(n / 2, n % 2)).collect();
        assert_eq!(c[..8], expected);
        run("transpose", &[("i", 2), ("j", 3)], &mut c);
        assert_eq!(c[..6], [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
        run("dot", &[("i", 6)], &mut c);
        assert_eq!(c[0], 55.0);
    }
}
