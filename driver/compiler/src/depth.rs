//! Depth of the combine trees that a function is lowered to: the error bounds of its results depend
//! on it, and not on the number of elements that are combined.
//!
//! The function is lowered once more, up to its code on vectors. In between, where every computation
//! has its schedule, the depths of all trees in which something rounds are added: so many combinations at
//! most lie between an element and the result of any one computation of the function, however the
//! passes before have taken that apart or put it together.

use melior::Context;
use melior::ir::Module;

use mdh_algebra::computation::Computation;
use mdh_algebra::operator::Operator;
use mdh_algebra::oracle::Errors;
use mdh_algebra::program::Program;
use mdh_dialect::function;
use mdh_dialect::ir::{Op, find_all};
use mdh_dialect::schedule;
use mdh_dialect::translate::Depth;
use mdh_passes::pipelines::{Pipeline, SCHEDULE, SCHEDULE_KERNELS, VECTORS};
use mdh_schedule::asm::Asm;
use mdh_schedule::{Leaves, Resolved};

use crate::compile;
use crate::entry::Entry;
use crate::functions::symbol_name;
use crate::plan::shapes_only;
use crate::values::Tensor;

/// Depths of all trees of a function together, by what becomes of registers and lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Depths {
    vector: u64,
    scalar: u64,
}

/// A function before its lowering, with its pipelines and its machine.
pub struct Lowering<'a, 'c> {
    /// The module.
    pub module: &'a Module<'c>,
    /// The function.
    pub entry: &'a Entry<'c>,
    /// All pipelines to machine code.
    pub pipelines: &'a [&'static Pipeline],
    /// The machine that passes are told of.
    pub asm: &'a Asm,
}

impl Lowering<'_, '_> {
    /// Bounds for results of the function on these arguments, with results of these shapes: those
    /// of any order where the depth is not known.
    pub fn errors(&self, context: &Context, arguments: &[Tensor], shapes: &[Vec<i64>]) -> Errors {
        // Whatever is wrong is said when the function is lowered to be run.
        let silence = context.attach_diagnostic_handler(|_| true);
        let depth = self.depth(context, arguments, shapes);
        context.detach_diagnostic_handler(silence);
        depth.map_or(Errors::Bounded, Errors::OfDepth)
    }

    fn depth(&self, context: &Context, arguments: &[Tensor], shapes: &[Vec<i64>]) -> Option<u64> {
        let mut module = compile::copy(self.module);
        let loops = loops(
            &function::translate(self.function(&module)?, Depth::Code)
                .ok()?
                .program,
        );
        let mut depths = None;
        for pipeline in self.pipelines {
            compile::run(self.asm, context, &mut module, pipeline).ok()?;
            if [SCHEDULE.name, SCHEDULE_KERNELS.name].contains(&pipeline.name) {
                let function = self.function(&module)?;
                depths = Some(self.depths(function, loops, arguments, shapes)?);
            }
            if pipeline.name == VECTORS.name {
                break;
            }
        }
        // What has a schedule yet has found no form on vectors.
        let left = find_all(compile::operation(&module), &["mdh.compute"]);
        let depths = depths?;
        Some(match left.into_iter().any(schedule::has_schedule) {
            true => depths.scalar,
            false => depths.vector,
        })
    }

    fn function<'m>(&self, module: &Module<'m>) -> Option<Op<'m>> {
        let functions = find_all(compile::operation(module), &["func.func"]);
        let mut own = functions.into_iter();
        own.find(|f| symbol_name(*f) == self.entry.name)
    }

    /// The sum over all computations of a scheduled function; `None` if some have become loops.
    fn depths(
        &self,
        function: Op,
        loops_before: usize,
        arguments: &[Tensor],
        shapes: &[Vec<i64>],
    ) -> Option<Depths> {
        // The code of operators says how often they round.
        let translated = function::translate(function, Depth::Code).ok()?;
        if loops(&translated.program) > loops_before {
            return None;
        }
        let arguments = shapes_only(self.entry, arguments, shapes, &translated.program);
        let instance = translated.program.instantiate(&arguments).ok()?;
        // What is left to others to lower has no depth that is known.
        if instance.has_reordered_nests() {
            return None;
        }
        let mut all = Depths::default();
        for (statement, computation) in instance.bound_computations() {
            // Coupled with others, a sum is a component of a user's operator.
            let roundings = computation
                .operator()
                .map_or(Some(0), Operator::roundings)?;
            if roundings == 0 {
                continue;
            }
            let own = of_computation(*translated.origins.get(statement)?, computation)?;
            let with = |all: u64, own: u64| all.saturating_add(own.saturating_mul(roundings));
            all.vector = with(all.vector, own.vector);
            all.scalar = with(all.scalar, own.scalar);
        }
        Some(all)
    }
}

/// Returns the number of a program's loops and branches.
fn loops(program: &Program) -> usize {
    let all = program.all_statements();
    all.into_iter().filter(|s| !s.bodies().is_empty()).count()
}

fn of_computation(op: Op, computation: &Computation) -> Option<Depths> {
    let Some(plan) = schedule::read(op).ok()? else {
        let combined = computation.dimensions.iter();
        let combined = combined.filter(|d| d.combine.operator().is_some());
        let counts: Option<Vec<i64>> = combined.map(|d| d.count()).collect();
        let chain = counts?.into_iter().fold(1u64, |all, n| {
            all.saturating_mul(u64::try_from(n).unwrap_or(u64::MAX))
        });
        return Some(Depths {
            vector: chain,
            scalar: chain,
        });
    };
    let asm = Asm::builtin(plan.asm.as_deref().unwrap_or("cpu"))?;
    let resolved = Resolved::new(&plan, computation, &asm).ok()?;
    Some(Depths {
        vector: resolved.depth(computation, Leaves::Vector)?,
        scalar: resolved.depth(computation, Leaves::Scalar)?,
    })
}
