//! Kernels that do one thing as fast as the machine can: multiply and add, read, copy. They are
//! programs in MLIR, as everything that is measured is, and run on the same threads.

use std::time::Instant;

use mdh_dialect::context;
use mdh_jit::descriptor::byte_size;
use mdh_jit::{Arguments, Level};
use mdh_passes::pipelines;
use mdh_schedule::asm::Asm;
use minijinja::{Environment, UndefinedBehavior, context as values};

use mdh_algebra::scalar::ScalarType;

use mdh_compiler::error::{Error, Result};
use mdh_compiler::source::Source;
use mdh_compiler::values::Tensor;
use mdh_compiler::{compile, diagnostics};

/// Kernel that measures memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// A buffer is added up.
    Read,
    /// One buffer is copied into another.
    Copy,
    /// The same, non-temporally.
    Stream,
}

/// Chains of operations that do not wait for each other: more than the latency of one, times the
/// units that there are, and as many as registers hold with 16 of them.
const CHAINS: u64 = 10;

/// Loads or stores of a step.
const UNROLLED: u64 = 8;

/// So long is a measured call at least, in seconds: short enough to fall between two turns of
/// others on a busy machine.
const LONG: f64 = 0.001;

/// Calls are measured for so long, in seconds; the fastest counts.
const WATCHED: f64 = 0.4;

/// An instruction, or two, that multiply and add.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Products {
    /// The type of what is multiplied.
    pub factor: &'static str,
    /// Type of the sums.
    pub sum: &'static str,
    /// Number of products added to a sum at once.
    pub group: u64,
    /// Its usual name.
    pub name: &'static str,
    /// `fma`, `multiply-add`, or the start of an intrinsic's name.
    by: &'static str,
}

/// Returns this machine's instructions that multiply and add, by the type of the factors.
pub fn products() -> Vec<Products> {
    let plain = |ty, name, by| Products {
        factor: ty,
        sum: ty,
        group: 1,
        name,
        by,
    };
    let mut products = vec![
        plain("f32", "FMA", "fma"),
        plain("f64", "FMA", "fma"),
        plain("i32", "i32 multiply-add", "multiply-add"),
        plain("i64", "i64 multiply-add", "multiply-add"),
    ];
    if mdh_machine::has_dot_products("i8") {
        products.push(Products {
            factor: "i8",
            sum: "i32",
            group: 4,
            name: "VNNI",
            by: "llvm.x86.avx512.vpdpbusd",
        });
    }
    if mdh_machine::has_dot_products("bf16") {
        products.push(Products {
            factor: "bf16",
            sum: "f32",
            group: 2,
            name: "AVX512-BF16",
            by: "vdpbf16ps",
        });
    }
    products
}

/// Operations in a second.
pub fn flops(asm: &Asm, products: &Products, cores: u64) -> Result<f64> {
    let element = |name: &str| {
        let element = ScalarType::ALL.into_iter().find(|ty| ty.name() == name);
        element.ok_or_else(|| Error::bug(format!("there is no type '{name}'")))
    };
    let (factor, sum) = (element(products.factor)?, element(products.sum)?);
    let vector = mdh_machine::vector_bytes();
    let lanes = (vector / sum.byte_width() as u64).max(1);
    let by = match products.by.starts_with("llvm.") {
        true => format!("{}.{}", products.by, 8 * vector),
        false => products.by.to_string(),
    };
    let group = products.group;
    let program = render(
        include_str!("../machine/fma.mlir"),
        values! {
            factor => products.factor, sum => products.sum, by => by, group => group,
            cores => cores, lanes => lanes, chains => CHAINS
        },
    )?;
    let shape = |elements: u64| [(cores * 3 * elements) as i64];
    let mut arrays = [
        Tensor::random(factor, &shape(lanes * group), 0, 0)?,
        Tensor::random(sum, &shape(lanes), 0, 1)?,
    ];
    let seconds = fastest(asm, "fma", &program, &mut arrays, 1000.0)?;
    Ok((cores * CHAINS * lanes * group * 2) as f64 / seconds)
}

/// Bytes in a second, of `bytes` bytes of memory in all.
pub fn bandwidth(asm: &Asm, kernel: Kernel, bytes: u64, cores: u64) -> Result<f64> {
    let lanes = (mdh_machine::vector_bytes() / 4).max(1);
    let step = cores * UNROLLED * lanes;
    let buffers = if kernel == Kernel::Read { 1 } else { 2 };
    let elements = (bytes / 4 / buffers / step).max(1) * step;
    let (name, text) = match kernel {
        Kernel::Read => ("read", include_str!("../machine/read.mlir")),
        Kernel::Copy | Kernel::Stream => ("copy", include_str!("../machine/copy.mlir")),
    };
    let streams = kernel == Kernel::Stream;
    let program = render(
        text,
        values! { cores => cores, lanes => lanes, chains => UNROLLED, elements => elements, streams => streams },
    )?;
    let second = if kernel == Kernel::Read {
        cores * 3 * lanes
    } else {
        elements
    };
    let mut arrays = [array(elements)?, array(second)?];
    let seconds = fastest(asm, name, &program, &mut arrays, 1.0)?;
    Ok((4 * elements * buffers) as f64 / seconds)
}

/// Numbers of which every page has been written.
fn array(elements: u64) -> Result<Tensor> {
    let shape = [elements as i64];
    byte_size(&shape, 4)?;
    let mut tensor = Tensor::zeroed(ScalarType::F32, &shape)?;
    tensor.bytes_mut().fill(0x3c);
    Ok(tensor)
}

fn render(text: &str, values: minijinja::Value) -> Result<String> {
    let wrong = |error: minijinja::Error| Error::bug(format!("a kernel's template: {error:#}"));
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.render_str(text, values).map_err(wrong)
}

/// Seconds of one of the `n` rounds that a kernel does in a call, in the fastest of some calls.
fn fastest(
    asm: &Asm,
    name: &str,
    program: &str,
    arrays: &mut [Tensor],
    rounds: f64,
) -> Result<f64> {
    let source = Source::from_text(name, program);
    let context = context::program_context();
    diagnostics::show(&context, &source);
    let mut module = source.parse(&context)?;
    compile::expose(&context, &module, name);
    for pipeline in [&pipelines::PARALLEL, &pipelines::LLVM] {
        compile::run(asm, &context, &mut module, pipeline)?;
    }
    let mut llvm = compile::to_llvm(&module)?;
    llvm.add_entry(name)?;
    let jit = llvm.optimise(Level::Full)?.load()?;
    let function = jit.function(name)?;
    let mut run = |rounds: f64| -> Result<f64> {
        let mut passed = Arguments::new();
        for tensor in arrays.iter_mut() {
            passed.memref(tensor.descriptor());
        }
        passed.scalar(rounds as u64);
        let started = Instant::now();
        // SAFETY: the arguments are those of the kernel, whose arrays are as large as it says.
        unsafe { function.call_with(&mut passed)? };
        Ok(started.elapsed().as_secs_f64())
    };
    let mut rounds = rounds;
    while run(rounds)? < LONG {
        rounds *= 2.0;
    }
    let mut best = f64::INFINITY;
    let started = Instant::now();
    while best.is_infinite() || started.elapsed().as_secs_f64() < WATCHED {
        best = best.min(run(rounds)? / rounds);
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_run() {
        mdh_passes::register_all();
        for products in products() {
            assert!(
                flops(&mdh_machine::this().unwrap(), &products, 2).unwrap() > 0.0,
                "{products:?}"
            );
        }
        for kernel in [Kernel::Read, Kernel::Copy, Kernel::Stream] {
            assert!(
                bandwidth(&mdh_machine::this().unwrap(), kernel, 1 << 16, 2).unwrap() > 0.0,
                "{kernel:?}"
            );
        }
    }
}
