//! Random sizes for functions whose memory goes by them: small ones give the right sums, and such as make more bytes than
//! can be addressed are refused, by the status of the C function and the exit code of the command, however the bytes
//! are modulo 2^64.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use mdh_compiler::cli::{Binding, CheckHow, RunArguments};
use mdh_compiler::error::{Error, Result};
use mdh_compiler::output;
use mdh_compiler::source::Source;

use crate::choices::Choices;
use crate::environment;
use crate::print::code::list;
use crate::run::{self, Ending};

/// The arguments, by which extents go.
const NAMES: [&str; 3] = ["m", "n", "o"];
/// So many elements at most are computed.
const FEW: u128 = 10_000;
/// No machine has so many bytes; what is between this and [`FEW`] elements it may have.
const MUCH: u128 = 1 << 48;
/// The status, and the exit code, of want of memory.
const NO_MEMORY: i32 = 4;
/// The types of elements, their bytes, and what makes a float of one.
const TYPES: [(&str, u128, &str); 6] = [
    ("f64", 8, ""),
    ("f32", 4, "arith.extf"),
    ("i64", 8, "arith.sitofp"),
    ("i32", 4, "arith.sitofp"),
    ("i16", 2, "arith.sitofp"),
    ("i8", 1, "arith.sitofp"),
];

/// Of `f(m, n, o, &first sum, &second sum)`; its status.
type Function = unsafe extern "C" fn(i64, i64, i64, *mut f64, *mut f64) -> i32;

/// An extent: a number, or an argument by its position.
#[derive(Clone, Copy)]
enum Extent {
    Number(i64),
    Argument(usize),
}

/// A tensor of the function: ones, summed along some axes.
struct Temporary {
    ty: (&'static str, u128, &'static str),
    /// Each axis, and whether its elements are sums of those before.
    axes: Vec<(Extent, bool)>,
}

/// A function of two such tensors, whose results are the sums of all their elements, and what it is called with.
pub struct Case {
    temporaries: [Temporary; 2],
    calls: Vec<[i64; 3]>,
}

/// The right end of a call.
#[derive(Clone, Copy, PartialEq)]
enum Expected {
    Sums([f64; 2]),
    NoMemory,
}

/// The case of a seed's choices.
pub fn case(c: &mut Choices) -> Case {
    let temporaries = [0, 1].map(|n| c.scope(format!("t{n}"), temporary));
    let calls = (0..8).map(|n| c.scope(format!("call{n}"), sizes));
    let calls = calls.collect();
    Case { temporaries, calls }
}

fn temporary(c: &mut Choices) -> Temporary {
    let rank = 1 + c.weighted("rank", &[30, 40, 30]);
    let axis = |n| {
        c.scope(format!("axis{n}"), |c| {
            // What is combined nowhere might need no memory.
            let is_sum = n == 0 || c.chance("sum", 40);
            match is_sum || c.chance("argument", 60) {
                true => (Extent::Argument(c.below("which", 3) as usize), is_sum),
                false => (Extent::Number(1 + c.below("number", 4) as i64), is_sum),
            }
        })
    };
    let axes: Vec<(Extent, bool)> = (0..rank).map(axis).collect();
    Temporary {
        ty: c.pick("type", &TYPES),
        axes,
    }
}

/// Sizes around powers of two, at which the bytes of one or several axes are none, or few, modulo 2^64.
fn sizes(c: &mut Choices) -> [i64; 3] {
    NAMES.map(|name| {
        c.scope(name, |c| match c.chance("large", 45) {
            false => c.below("small", 6) as i64,
            true => {
                let power = c.pick("power", &[31, 32, 33, 40, 48, 58, 59, 60, 61, 62]);
                let beside = [0, -1, 1, -8, 8, 3];
                (1 << power) + beside[c.weighted("beside", &[40, 15, 15, 10, 10, 10])]
            }
        })
    })
}

impl Temporary {
    fn extents(&self, sizes: &[i64; 3]) -> Vec<u128> {
        let extent = |(extent, _): &(Extent, bool)| match extent {
            Extent::Number(number) => *number as u128,
            Extent::Argument(n) => sizes[*n] as u128,
        };
        self.axes.iter().map(extent).collect()
    }

    fn count(&self, sizes: &[i64; 3]) -> u128 {
        let extents = self.extents(sizes);
        // None of many are none.
        if extents.contains(&0) {
            return 0;
        }
        extents.into_iter().fold(1, u128::saturating_mul)
    }

    /// The sum of all elements: each is the product of its places, from 1, along the axes that are summed.
    fn sum(&self, sizes: &[i64; 3]) -> f64 {
        let extents = self.extents(sizes).into_iter().zip(&self.axes);
        let along = extents.map(|(extent, (_, is_sum))| match is_sum {
            true => extent * (extent + 1) / 2,
            false => extent,
        });
        along.product::<u128>() as f64
    }

    /// The statements that make it, and the sum of it: `%t{n}`.
    fn text(&self, n: usize) -> String {
        let (ty, _, convert) = self.ty;
        let name = |extent: &Extent| match extent {
            Extent::Number(number) => number.to_string(),
            Extent::Argument(n) => format!("%{}", NAMES[*n]),
        };
        let is_float = ty.starts_with('f');
        let (one, add) = if is_float {
            ("1.0", "addf")
        } else {
            ("1", "addi")
        };
        let open = self.axes.iter().map(|(extent, _)| extent);
        let open = open.filter(|extent| matches!(extent, Extent::Argument(_)));
        let shape: String = (self.axes.iter())
            .map(|(extent, _)| match extent {
                Extent::Number(number) => format!("{number}x"),
                Extent::Argument(_) => "?x".into(),
            })
            .collect();
        let dims = list(
            ["a", "b", "c"]
                .iter()
                .zip(&self.axes)
                .map(|(dim, (extent, _))| format!("{dim} = {}", name(extent))),
        );
        let place = list(&["a", "b", "c"][..self.axes.len()]);
        let combine = |is_sum: &bool| match is_sum {
            true => format!("ps({add})"),
            false => "cc".into(),
        };
        let combine = list(self.axes.iter().map(|(_, is_sum)| combine(is_sum)));
        let whole = list(self.axes.iter().map(|_| "pw(addf)"));
        let (convert, float) = match convert {
            "" => (String::new(), "%v"),
            op => (format!("%w = {op} %v : {ty} to f64\n      "), "%w"),
        };
        format!(
            "  %e{n} = tensor.empty({}) : tensor<{shape}{ty}>\n  \
             %r{n} = mdh.compute ({dims})\n    \
             out_view(r{n} = %e{n}[{place}] : tensor<{shape}{ty}>)\n    \
             md_hom(() {{\n      %one = arith.constant {one} : {ty}\n      mdh.yield %one : {ty}\n    }}, ({combine}))\n    \
             inp_view()\n  \
             %y{n} = tensor.empty() : tensor<f64>\n  \
             %t{n} = mdh.compute ({dims})\n    \
             out_view(t{n} = %y{n}[] : tensor<f64>)\n    \
             md_hom((%v: {ty}) {{\n      {convert}mdh.yield {float} : f64\n    }}, ({whole}))\n    \
             inp_view(r{n} = %r{n}[{place}] : tensor<{shape}{ty}>)\n",
            list(open.map(name)),
        )
    }
}

impl Case {
    fn program(&self) -> String {
        let arguments = list(NAMES.map(|name| format!("%{name}: index")));
        let [first, second] = [0, 1].map(|n| self.temporaries[n].text(n));
        format!(
            "func.func @f({arguments}) -> (tensor<f64>, tensor<f64>) {{\n{first}{second}  \
             return %t0, %t1 : tensor<f64>, tensor<f64>\n}}\n"
        )
    }

    /// The right end of a call, if it does not depend on the machine's memory.
    fn expected(&self, sizes: &[i64; 3]) -> Option<Expected> {
        let counts = self
            .temporaries
            .each_ref()
            .map(|temporary| temporary.count(sizes));
        let bytes = |n: usize| counts[n].saturating_mul(self.temporaries[n].ty.1);
        let is_much = bytes(0) >= MUCH || bytes(1) >= MUCH;
        if is_much && !counts.contains(&0) {
            return Some(Expected::NoMemory);
        }
        // Loops around nothing may still be long.
        let extents = self.temporaries.iter();
        let mut extents = extents.flat_map(|temporary| temporary.extents(sizes));
        let is_short = extents.all(|extent| extent <= FEW);
        let is_few = is_short && counts.iter().all(|count| *count <= FEW);
        is_few.then(|| {
            Expected::Sums(
                self.temporaries
                    .each_ref()
                    .map(|temporary| temporary.sum(sizes)),
            )
        })
    }

    fn expectations(&self) -> impl Iterator<Item = ([i64; 3], Expected)> {
        let known = |sizes: &[i64; 3]| Some((*sizes, self.expected(sizes)?));
        self.calls.iter().filter_map(known)
    }

    /// Calls the C function.
    fn called(&self, folder: &Path) -> Result<Ending> {
        let function = function(&self.program(), folder)?;
        for (sizes, expected) in self.expectations() {
            let [m, n, o] = sizes;
            let mut sums = [f64::NAN; 2];
            let [first, second] = &mut sums;
            // SAFETY: it is the function of the library, with its arguments.
            let status = unsafe { function(m, n, o, first, second) };
            let is_right = match expected {
                Expected::NoMemory => status == NO_MEMORY,
                Expected::Sums(right) => status == 0 && sums == right,
            };
            if !is_right {
                let right = match expected {
                    Expected::NoMemory => format!("status {NO_MEMORY}"),
                    Expected::Sums(right) => format!("status 0 and {right:?}"),
                };
                let sizes = list(sizes);
                eprintln!(
                    "error: wrong status or sums: f({sizes}) gave {status} and {sums:?}, expected {right}"
                );
                return Ok(Ending::Wrong);
            }
        }
        Ok(Ending::Right)
    }

    /// The first sizes with an end of a kind.
    fn first(&self, is_much: bool) -> Option<[i64; 3]> {
        let is_wanted = |expected: &Expected| (*expected == Expected::NoMemory) == is_much;
        let mut expectations = self.expectations();
        let (sizes, _) = expectations.find(|(_, expected)| is_wanted(expected))?;
        Some(sizes)
    }

    /// Runs the command on sizes of too many bytes, which ends the process; without the definition, which would take
    /// years for so many points.
    fn is_refused(&self, folder: &Path) -> Result<Ending> {
        let Some(sizes) = self.first(true) else {
            return Ok(Ending::Right);
        };
        let mut command = Command::new(environment::mdh());
        command.arg("run").arg(folder.join("f.mlir")).arg("--in");
        let named = NAMES.into_iter().zip(sizes);
        command.args(named.map(|(name, size)| format!("{name}={size}")));
        let output = command.output();
        let output = output.map_err(|error| Error::input(format!("mdh cannot be run: {error}")))?;
        if output.status.code() == Some(NO_MEMORY) {
            return Ok(Ending::Right);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let status = output.status;
        eprintln!("error: not for want of memory: {status} with {sizes:?}\n{said}");
        Ok(Ending::Wrong)
    }

    /// Runs the command on sizes of few points, with the check.
    fn is_checked(&self) -> Ending {
        let Some(sizes) = self.first(false) else {
            return Ending::Right;
        };
        let binding = |(name, size): (&str, i64)| Binding {
            name: Some(name.into()),
            value: size.to_string(),
        };
        let arguments = RunArguments {
            inputs: NAMES.into_iter().zip(sizes).map(binding).collect(),
            check: Some(CheckHow::All),
            ..RunArguments::new("f.mlir".as_ref())
        };
        let source = Source::from_text("f.mlir", &self.program());
        run::ending(run::run_source(&source, &arguments))
    }
}

/// Compiles a program to a library of a name of its own; its function.
fn function(program: &str, folder: &Path) -> Result<Function> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let file = folder.join("f.mlir");
    let library = folder.join(format!("f{number}.so"));
    output::write(&file, program.as_bytes())?;
    let mut command = Command::new(environment::mdh());
    command
        .arg("compile")
        .arg(&file)
        .args(["--emit", "shared", "-o"]);
    let status = command.arg(&library).status();
    if !status.is_ok_and(|status| status.success()) {
        return Err(Error::input("it cannot be compiled to a library"));
    }
    let bug = || Error::bug("its library has no function");
    let path = CString::new(library.as_os_str().as_bytes()).map_err(|_| bug())?;
    // SAFETY: the library is ours, and stays loaded; the symbol is a function of this type.
    unsafe {
        let handle = libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        if handle.is_null() {
            return Err(bug());
        }
        let symbol = libc::dlsym(handle, c"f".as_ptr());
        if symbol.is_null() {
            return Err(bug());
        }
        Ok(std::mem::transmute::<*mut libc::c_void, Function>(symbol))
    }
}

impl crate::case::Case for Case {
    fn text(&self) -> String {
        format!("{}{:?}", self.program(), self.calls)
    }

    fn run(&self, folder: &Path) -> Ending {
        let steps = [Case::called, Case::is_refused];
        for step in steps {
            match step(self, folder) {
                Ok(Ending::Right) => {}
                Ok(end) => return end,
                Err(error) => return run::ended(&error),
            }
        }
        self.is_checked()
    }

    fn write(&self, folder: &Path) -> Result<String> {
        let file = folder.join("f.mlir");
        output::write(&file, self.program().as_bytes())?;
        let sizes = self.expectations().map(|(sizes, _)| {
            let bindings = NAMES
                .iter()
                .zip(sizes)
                .map(|(name, size)| format!("{name}={size}"));
            bindings.collect::<Vec<_>>().join(" ")
        });
        let sizes: Vec<String> = sizes.collect();
        Ok(format!(
            "mdh run {} --check --in SIZES, or its C function, with {}",
            file.display(),
            sizes.join(", ")
        ))
    }
}
